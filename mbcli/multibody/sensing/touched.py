"""The contacts of some bodies among those of the samples of a run, and what contact and touch sensors make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.engine.collision import touch_volumes
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


VOLUMES = {
    "box": (touch_volumes.BOX_VOLUME, 3),
    "sphere": (touch_volumes.ELLIPSOID_VOLUME, 1),
    "ellipsoid": (touch_volumes.ELLIPSOID_VOLUME, 3),
    "cylinder": (touch_volumes.CYLINDER_VOLUME, 2),
    "capsule": (touch_volumes.CAPSULE_VOLUME, 2),
}
"""{word of a shape: (its number, how many sizes it has)}"""


def contact_sums(sensing: PlantSensing, sampled: Any, count: int, body: Any, names: Sequence[str] | None) -> FloatArray:
    """(count, 4): how many contacts a body has with others in each row, and their force on it [N], in World.

    sampled: SampledContacts of so many rows, None if nothing can touch. names: of its geometries that count; None: all.
    """
    sums = np.zeros((count, 4))
    if sampled is not None and len(sampled.contacts):
        record, call = sampled.contacts, sensing.kernel("contact_sums", len(sampled.contacts))
        call(record.solid, sampled.rows(), record.force, sensing.own_solids(body, names), sums)
    return sums


class Volume(NamedTuple):
    """A shape as kernels take it: its number and sizes (3,), half ones, semi-axes, or a radius and a half length."""

    number: int
    sizes: FloatArray


def volume_of(shape: tuple[str, Any]) -> Volume:
    """Of a shape as rays take it."""
    number, count = VOLUMES[shape[0]]
    return Volume(number, np.resize(np.array(shape[1], dtype=float)[:count], 3))


def pressures(sensing: PlantSensing, sampled: Any, body: Any, volume: Volume, poses: FloatArray) -> FloatArray:
    """(n, 1) [N]: normal forces of the contacts of a body from which the normal meets a volume of it.

    sampled: of n rows. poses (n, 12): R row by row, and origin of the volume in World.
    """
    sums = np.zeros((len(poses), 1))
    if sampled is not None and len(sampled.contacts):
        record, own = sampled.contacts, sensing.own_solids(body, None)
        call = sensing.kernel("pressure_sums", len(sampled.contacts))
        points = record.position, record.force, record.normal
        call(record.solid, sampled.rows(), *points, own, poses, *volume, sums)
    return sums


def contacts_of_bodies(sensing: PlantSensing, sampled: Any, bodies: Sequence[Any]) -> ContactForces:
    """Of SampledContacts, None if nothing can touch: those between one of the bodies and another one that is not among
    them."""
    if sampled is None or not len(sampled.contacts):
        return NONE
    record = sampled.contacts
    is_own = np.zeros(sensing.plant.num_bodies(), dtype=bool)
    is_own[[body.index_number for body in bodies]] = True
    own = is_own[sensing.body_of_solid]
    if not own[record.solid].any():
        return NONE
    row = sampled.rows()
    found = []
    for side, sign in ((0, 1.0), (1, -1.0)):  # the force is on A, the normal out of B into A
        kept = np.flatnonzero(own[record.solid[:, side]] & ~own[record.solid[:, 1 - side]])
        if not len(kept):
            continue
        force, moment = sign * record.force[kept], sign * record.moment[kept]
        normal = -sign * record.normal[kept]
        pressing = -np.einsum("ki,ki->k", force, normal)
        found.append((row[kept], record.position[kept], force, moment, normal, pressing))
    if len(found) < 2:
        return ContactForces(*found[0]) if found else NONE
    return ContactForces(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
