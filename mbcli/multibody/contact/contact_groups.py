"""The contacts of a ContactRecord pair by pair: its points as they are, the faces of each contact surface as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray


@dataclass(frozen=True)
class ContactGroups:
    """Points and surfaces, n together.

    row (n,): as it was given; first (n,): contact of the record, of a surface its first face, whose others follow;
    faces (n,): of a surface, 0 of a point; area (n,) [m^2], 0 of a point; solid (n, 2), distance (n,) [m] and force
    (n, 3) on A in W [N] as in the record, of a surface the least distance. position (n, 3) in W [m]: C or the centroid;
    moment (n, 3) on A about it in W [N m]; normal (n, 3), separation (n,) and slip (n,) [m/s], mean_pressure (n,)
    [Pa] of a surface weighted with areas; largest_pressure (n,) [Pa].
    """

    row: IntArray
    first: IntArray
    faces: IntArray
    area: FloatArray
    solid: IntArray
    position: FloatArray
    normal: FloatArray
    distance: FloatArray
    force: FloatArray
    moment: FloatArray
    separation: FloatArray
    slip: FloatArray
    mean_pressure: FloatArray
    largest_pressure: FloatArray

    def __len__(self) -> int:
        return len(self.first)


def grouped_contacts(record: Any, row: IntArray | None = None) -> ContactGroups:
    """ContactGroups of a ContactRecord.

    Args:
        record: the faces of a pair of solids follow each other.
        row: (number of contacts,), different where the same pair comes again in another state. None: all of one.
    """
    row = np.zeros(len(record), dtype=int) if row is None else row
    is_face = record.area > 0.0
    goes_on = is_face[1:] & is_face[:-1] & (row[1:] == row[:-1]) & (record.solid[1:] == record.solid[:-1]).all(axis=1)
    first = np.flatnonzero(np.concatenate([[True], ~goes_on])[: len(row)])
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(row))))
    weight = np.where(is_face, record.area, 1.0)
    total = _sums(weight, first)

    def mean(values: FloatArray) -> FloatArray:
        columns = (slice(None),) + (None,) * (values.ndim - 1)
        result = values[first].copy()
        averaged = _sums(weight[columns] * values, first) / total[columns]
        result[is_face[first]] = averaged[is_face[first]]
        return result

    position, normal = mean(record.position), mean(record.normal)
    size = np.linalg.norm(normal, axis=1)
    turned = is_face[first] & (size > 0.0)
    normal[turned] /= size[turned, None]
    moment = record.moment + np.cross(record.position - position[group], record.force)
    moment[~is_face] = record.moment[~is_face]
    return ContactGroups(
        row=row[first],
        first=first,
        faces=_sums(is_face.astype(int), first),
        area=_sums(record.area, first),
        solid=record.solid[first],
        position=position,
        normal=normal,
        distance=np.minimum.reduceat(record.distance, first) if len(first) else record.distance[:0],
        force=_sums(record.force, first),
        moment=_sums(moment, first),
        separation=mean(record.separation),
        slip=mean(record.slip),
        mean_pressure=np.where(is_face[first], mean(record.pressure), 0.0),
        largest_pressure=_largest_pressures(record, is_face, first),
    )


def _sums(values: Any, first: IntArray) -> Any:
    """Of the values from each of the first ones to the next."""
    return np.add.reduceat(values, first) if len(first) else values[:0]


def _largest_pressures(record: Any, is_face: Any, first: IntArray) -> FloatArray:
    largest = np.zeros(len(is_face))
    if is_face.any():  # points have no corners
        largest[is_face] = np.maximum.reduceat(record.corners[:, 3], record.corner_start[:-1][is_face])
    return np.maximum.reduceat(largest, first) if len(first) else largest
