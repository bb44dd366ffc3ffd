"""Positions and rates of followers (mimic joints) that data do not give: those of the joints that they follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mbcli.identification.records import Record
    from mbcli.math.array_types import FloatArray


def follow(plant: Any, q: FloatArray, v: FloatArray, vdot: FloatArray) -> None:
    """Gives q0 = gear_ratio q1 + offset, and its rates, in columns (n, nq), (n, nv) that are NaN."""
    for _ in plant.elements.constraints:  # followers of followers
        for constraint in plant.elements.constraints:
            if constraint.kind == "coupler":
                _follow_one(constraint, q, v, vdot)


def with_followers(record: Record, plant: Any) -> Record:
    """A record in which followers have positions, and rates where those that they follow do."""
    q, v, vdot = record.q.copy(), record.v.copy(), record.vdot.copy()
    follow(plant, q, v, vdot)
    return replace(record, q=q, v=v, vdot=vdot)


def _follow_one(constraint: Any, q: FloatArray, v: FloatArray, vdot: FloatArray) -> None:
    ratio, offset = constraint.gear_ratio, constraint.offset
    i, j = constraint.joint0, constraint.joint1
    (a, b), (k, l) = (i.position_start(), j.position_start()), (i.velocity_start(), j.velocity_start())
    if np.isnan(q[0, a]) and not np.isnan(q[0, b]):
        q[:, a] = ratio * q[:, b] + offset
    for values in (v, vdot):
        if np.isnan(values[0, k]) and not np.isnan(values[0, l]):
            values[:, k] = ratio * values[:, l]
