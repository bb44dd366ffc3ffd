"""KeptContacts: the contacts of some samples as a log has them: points, and contact surfaces as one contact each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.contact.contact_groups import grouped_contacts

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, IntArray


class KeptContacts:
    """The contacts of the chosen rows of SampledContacts.

    Args:
        sampled: SampledContacts.
        chosen: mask of its rows.
        surfaces: whether contacts may be surfaces, whose faces become one contact.

    Attributes:
        offset: (rows + 1,) first contact of each row, and the end of the last.
    """

    def __init__(self, sampled: Any, chosen: BoolArray, surfaces: bool) -> None:
        self._record = sampled.contacts
        counts = np.diff(sampled.offset)
        if surfaces:
            row = np.repeat(np.arange(len(counts)), counts)
            self._contacts: Any = grouped_contacts(self._record, row)
            self._kept = chosen[self._contacts.row]
            counts = np.bincount(self._contacts.row[self._kept], minlength=len(counts))
            self._is_kept_face = (self._record.area > 0.0) & chosen[row]
        else:
            self._contacts, self._kept = self._record, np.repeat(chosen, counts)
        self.offset = np.concatenate([[0], np.cumsum(counts[chosen])])

    def values(self, name: str) -> Any:
        """An attribute of a ContactRecord or of ContactGroups, of these contacts."""
        return getattr(self._contacts, name)[self._kept]

    def face_offsets(self) -> IntArray:
        """(contacts + 1,): first face of each contact, and the end of the last one's."""
        return np.concatenate([[0], np.cumsum(self.values("faces"))])

    def corners(self) -> tuple[IntArray, Any]:
        """First corner of each face, and the end of the last one's (faces + 1,); corners (k, 4): place and pressure."""
        record, kept = self._record, self._is_kept_face
        counts = np.where(kept, np.diff(record.corner_start), 0)
        places = np.repeat(record.corner_start[:-1] - (np.cumsum(counts) - counts), counts)
        return np.concatenate([[0], np.cumsum(counts[kept])]), record.corners[places + np.arange(len(places))]
