"""The contacts of some bodies among those of the samples of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.math.cross_product import cross

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray, IntArray
    from mbcli.multibody.sensing.plant_sensing import PlantSensing


class ContactForces(NamedTuple):
    """Contacts of some bodies with others, k of them.

    row: (k,) of the state. point, force, moment: (k, 3) where it touches, force on these bodies there, and moment, in
    World. normal: (k, 3) unit vector out of these bodies. pressing: (k,) [N] along the normal.
    """

    row: IntArray
    point: FloatArray
    force: FloatArray
    moment: FloatArray
    normal: FloatArray
    pressing: FloatArray

    def moment_about_world(self) -> FloatArray:
        """(k, 3) about World's origin."""
        return self.moment + cross(self.point, self.force)


_NO_VECTORS: FloatArray = np.zeros((0, 3))
NONE = ContactForces(np.zeros(0, dtype=int), _NO_VECTORS, _NO_VECTORS, _NO_VECTORS, _NO_VECTORS, np.zeros(0))


def contacts_of_bodies(
    sensing: PlantSensing, sampled: Any, bodies: Sequence[Any], geometries: Sequence[str] | None
) -> ContactForces:
    """Of SampledContacts, None if nothing can touch: those between one of the bodies and another one that is not among
    them; geometries: names of those of the bodies that count, None for all."""
    if sampled is None or not len(sampled.contacts):
        return NONE
    record = sampled.contacts
    is_own = np.zeros(sensing.plant.num_bodies(), dtype=bool)
    is_own[[body.index_number for body in bodies]] = True
    own = is_own[sensing.body_of_solid]
    if not own[record.solid].any():
        return NONE
    counts = own if geometries is None else own & np.isin(sensing.name_of_solid, list(geometries))
    row = np.repeat(np.arange(len(sampled.offset) - 1), np.diff(sampled.offset))
    found = []
    for side, sign in ((0, 1.0), (1, -1.0)):  # the force is on A, the normal out of B into A
        kept = np.flatnonzero(counts[record.solid[:, side]] & ~own[record.solid[:, 1 - side]])
        if not len(kept):
            continue
        force, moment = sign * record.force[kept], sign * record.moment[kept]
        normal = -sign * record.normal[kept]
        pressing = -np.einsum("ki,ki->k", force, normal)
        found.append((row[kept], record.position[kept], force, moment, normal, pressing))
    if len(found) < 2:
        return ContactForces(*found[0]) if found else NONE
    return ContactForces(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
