"""Temperatures of joints, of which viscous friction depends: a column of all, or one of each joint."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.identification.records import TEMPERATURE, given

if TYPE_CHECKING:
    from mbcli.identification.records import Record
    from mbcli.identification.signals import Run
    from mbcli.math.array_types import FloatArray


def temperatures(record: Record, plant: Any) -> FloatArray | None:
    """(n, nv) of the joint of each velocity, of the rows of a record of read_record(); None: it has none.

    ModelError if it has those of some joints alone.
    """
    if not record.is_text:
        return None
    joints = [joint for joint in plant.moving_joints() if joint.num_velocities() == 1]
    columns = record.u[:, -1 - len(joints) :]
    known = given(columns)
    if not known.any():
        return None
    found = np.zeros_like(record.v)
    for k, joint in enumerate(joints, start=1):
        if not known[k] and not known[0]:
            name = joint.name()
            raise ModelError(
                f"{record.source}: error: no temperature of joint {name}: columns u:{name}.{TEMPERATURE}, or "
                f"u:{TEMPERATURE} of all"
            )
        found[:, joint.velocity_start()] = columns[:, k if known[k] else 0]
    return found


def with_temperatures(run: Run, record: Record, values: FloatArray | None) -> Run:
    """A run with those (n, nv) of the rows of its record."""
    return run if values is None else replace(run, warmth=values[np.searchsorted(record.rows, run.rows)])
