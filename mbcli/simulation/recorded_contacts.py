"""The contacts of samples as a log has them: points, and contact surfaces as one contact each."""

import numpy as np

from mbcli.multibody.stepping.contact_groups import grouped_contacts


def contact_columns(sampled, chosen, body_of_solid, with_surfaces):
    """The contacts of the chosen rows, as LogWriter.append() takes them.

    Args:
        sampled: SampledContacts.
        chosen: mask of its rows.
        body_of_solid: index of the body of each solid.
        with_surfaces: whether some contacts may be faces of surfaces.
    """
    counts, record = np.diff(sampled.offset), sampled.contacts
    if not with_surfaces:
        kept = np.repeat(chosen, counts)
        return _columns(record, kept, np.cumsum(counts[chosen]), body_of_solid)
    groups = grouped_contacts(record, np.repeat(np.arange(len(counts)), counts))
    kept = chosen[groups.row]
    ends = np.cumsum(np.bincount(groups.row[kept], minlength=len(counts))[chosen])
    return _columns(groups, kept, ends, body_of_solid) | {
        "contact/faces": groups.faces[kept],
        "contact/area": groups.area[kept],
        "contact/moment": -groups.moment[kept],
        "contact/mean_pressure": groups.mean_pressure[kept],
        "contact/largest_pressure": groups.largest_pressure[kept],
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
