"""The contacts of samples as a log has them: points, and contact surfaces as one contact each."""

import numpy as np

from mbcli.log.format import CORNERS_OFFSET, FACES_OFFSET
from mbcli.multibody.stepping.contact_groups import grouped_contacts


def contact_columns(sampled, chosen, body_of_solid, names):
    """The contacts of the chosen rows, as LogWriter.append() takes them.

    Args:
        sampled: SampledContacts.
        chosen: mask of its rows.
        body_of_solid: index of the body of each solid.
        names: ContactNames of the log.
    """
    counts, record = np.diff(sampled.offset), sampled.contacts
    if not names.surfaces:
        kept = np.repeat(chosen, counts)
        columns = _columns(record, kept, np.cumsum(counts[chosen]), body_of_solid)
        return columns | ({"contact/moment": -record.moment[kept]} if names.moments else {})
    row = np.repeat(np.arange(len(counts)), counts)
    groups = grouped_contacts(record, row)
    kept = chosen[groups.row]
    ends = np.cumsum(np.bincount(groups.row[kept], minlength=len(counts))[chosen])
    columns = _columns(groups, kept, ends, body_of_solid) | {
        "contact/faces": groups.faces[kept],
        "contact/area": groups.area[kept],
        "contact/moment": -groups.moment[kept],
        "contact/mean_pressure": groups.mean_pressure[kept],
        "contact/largest_pressure": groups.largest_pressure[kept],
    }
    return columns | _faces(record, (record.area > 0.0) & chosen[row], groups.faces[kept]) if names.faces else columns


def _faces(record, kept, counts):
    """The kept faces of a ContactRecord, of which so many belong to each contact in turn."""
    corners = np.where(kept, np.diff(record.corner_start), 0)
    places = np.repeat(record.corner_start[:-1] - (np.cumsum(corners) - corners), corners)
    chosen = record.corners[places + np.arange(len(places))]
    return {
        FACES_OFFSET: np.concatenate([[0], np.cumsum(counts)]),
        CORNERS_OFFSET: np.concatenate([[0], np.cumsum(corners[kept])]),
        "faces/corner": chosen[:, :3],
        "faces/pressure": chosen[:, 3],
    }


def _columns(contacts, kept, ends, body_of_solid):
    """Of the kept contacts of a ContactRecord or of ContactGroups; ends: of those of each row."""
    A, B = contacts.solid[kept].T
    return {
        "offset": np.concatenate([[0], ends]),
        "contact/body_a": body_of_solid[A],
        "contact/body_b": body_of_solid[B],
        "contact/geometry_a": A,
        "contact/geometry_b": B,
        "contact/point": contacts.position[kept],
        "contact/normal": contacts.normal[kept],
        "contact/depth": -contacts.distance[kept],
        "contact/force": -contacts.force[kept],
        "contact/slip_speed": contacts.slip[kept],
        "contact/separation_speed": contacts.separation[kept],
    }
