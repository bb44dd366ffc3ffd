"""What actuators and joints bear over a run: figures by which motors, gears and bearings are chosen."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.errors import ModelError
from mbcli.log.fields.effort import EFFORT, require_efforts
from mbcli.log.fields.reactions import REACTIONS
from mbcli.log.fields.u import INPUT
from mbcli.multibody.tree.joint_kinds import has_angular_rate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.log.memory import MemoryLog
    from mbcli.log.reader import Log
    from mbcli.math.array_types import FloatArray

HALF = 0.5  # of the limit, or of the largest effort: beyond it a motor is on duty
PERCENTILES = (50.0, 95.0, 99.0)
BEARING_LIFE = 3.0  # exponent of the load in the life of a ball bearing


@dataclass(frozen=True)
class ActuatorLoad:
    """Figures of an actuator over a run.

    Attributes:
        actuator, joint: names, with those of their models.
        effort_unit: "N m" or "N".
        peak_effort: [N m or N] the largest by size, with its sign; peak_time: [s] when.
        rms_effort, rms_speed, peak_speed: root mean squares over time, and the largest by size.
        peak_power: [W] the largest by size, effort times speed of the joint; mean_power: over time.
        energy, energy_back: [J] that it gives, and takes.
        effort_limit: None without one; duty: part of the time with an effort beyond half of it, or of the peak.
    """

    actuator: str
    joint: str
    effort_unit: str
    peak_effort: float
    peak_time: float
    rms_effort: float
    peak_speed: float
    rms_speed: float
    peak_power: float
    mean_power: float
    energy: float
    energy_back: float
    effort_limit: float | None
    duty: float


@dataclass(frozen=True)
class JointLoad:
    """Figures of the spatial force that a joint transmits, F_CJc_Jc, over a run.

    Attributes:
        joint, type, body, frame: names; the force acts on this body at the origin of this frame, along its axes.
        peak_force, peak_moment: [N], [N m] the largest sizes; with peak_time: [s] of the force.
        axial_force, radial_force: [N] largest along and across the axis; None of a joint without one axis.
        bending_moment: [N m] largest across the axis; None of a joint without one.
        force_percentiles, moment_percentiles: of their sizes, of the time: 50, 95, 99 %.
        bearing_force: [N] the constant one of the same life of a ball bearing: (mean of F^3)^(1/3).
    """

    joint: str
    type: str
    body: str
    frame: str
    peak_force: float
    peak_time: float
    peak_moment: float
    axial_force: float | None
    radial_force: float | None
    bending_moment: float | None
    force_percentiles: list[float]
    moment_percentiles: list[float]
    bearing_force: float


@dataclass(frozen=True)
class Loads:
    """Loads of a run: from start to end [s], of actuators and, if the log has reactions, of joints."""

    start_time: float
    end_time: float
    actuators: list[ActuatorLoad]
    joints: list[JointLoad]

    def as_dict(self) -> dict[str, Any]:
        """The keys of `mbcli loads --json`."""
        return asdict(self)


def loads_of_log(log: Log | MemoryLog) -> Loads:
    """The Loads of a log. ModelError if it has neither efforts nor reactions, or fewer than two rows."""
    if log.row_count < 2:
        raise ModelError(f"{log.path}: error: loads are over time: the log has {log.row_count} rows")
    fields, times = log.fields(), np.asarray(log.times)
    if not {EFFORT, INPUT, REACTIONS} & set(fields):
        raise ModelError(
            f"{log.path}: error: has no efforts of actuators and no reactions: run with --fields reactions"
        )
    model = json.loads(log.model)
    actuators = []
    if EFFORT in fields or INPUT in fields:
        require_efforts(log, log.path)
        efforts = np.asarray(log.field(EFFORT if EFFORT in fields else INPUT))
        actuators = _actuators(log, model, times, efforts)
    joints = _joints(model, times, np.asarray(log.field(REACTIONS))) if REACTIONS in fields else []
    return Loads(float(times[0]), float(times[-1]), actuators, joints)


def _shares(times: FloatArray) -> FloatArray:
    """(rows,) weights of the rows in means over time, by the trapezoidal rule."""
    lasts = np.diff(times)
    weights = np.zeros(len(times))
    weights[:-1] += 0.5 * lasts
    weights[1:] += 0.5 * lasts
    return weights / weights.sum()


def _actuators(
    log: Log | MemoryLog, model: Mapping[str, Any], times: FloatArray, efforts: FloatArray
) -> list[ActuatorLoad]:
    joints = {(joint["name"], joint["model_instance"]): joint for joint in model["joints"]}
    entries = {f"{each['model_instance']}_{each['name']}": each for each in model["actuators"]}
    share, duration, speeds = _shares(times), times[-1] - times[0], np.asarray(log.v)
    found = []
    for k, name in enumerate(log.actuator_names):
        entry = entries[name]
        joint = joints[entry["joint"], entry["model_instance"]]
        effort, speed = efforts[:, k], speeds[:, joint["velocity_start"]]
        power, row = effort * speed, int(np.abs(effort).argmax())
        limit = entry["effort_limit"]
        most = abs(effort[row]) if limit is None else limit
        found.append(
            ActuatorLoad(
                actuator=name,
                joint=f"{entry['model_instance']}_{entry['joint']}",
                effort_unit="N m" if has_angular_rate(joint["type"]) else "N",
                peak_effort=float(effort[row]),
                peak_time=float(times[row]),
                rms_effort=float(np.sqrt(share @ effort**2)),
                peak_speed=_largest(speed),
                rms_speed=float(np.sqrt(share @ speed**2)),
                peak_power=_largest(power),
                mean_power=float(share @ power),
                energy=float(duration * (share @ np.maximum(power, 0.0))),
                energy_back=float(-duration * (share @ np.minimum(power, 0.0))),
                effort_limit=limit,
                duty=float(share @ (np.abs(effort) > HALF * most)) if most > 0.0 else 0.0,
            )
        )
    return found


def _joints(model: Mapping[str, Any], times: FloatArray, reactions: FloatArray) -> list[JointLoad]:
    share, found = _shares(times), []
    for k, joint in enumerate(model["joints"]):
        moment, force = reactions[:, 6 * k : 6 * k + 3], reactions[:, 6 * k + 3 : 6 * k + 6]
        size, turn = np.linalg.norm(force, axis=1), np.linalg.norm(moment, axis=1)
        axial = radial = bending = None
        if joint.get("axis") is not None:
            axis = np.array(joint["axis"]) / np.linalg.norm(joint["axis"])
            along = force @ axis
            axial = float(np.abs(along).max())
            radial = float(np.linalg.norm(force - np.outer(along, axis), axis=1).max())
            bending = float(np.linalg.norm(moment - np.outer(moment @ axis, axis), axis=1).max())
        found.append(
            JointLoad(
                joint=f"{joint['model_instance']}_{joint['name']}",
                type=joint["type"],
                body=joint["child"],
                frame=f"{joint['name']}: on {joint['child']}",
                peak_force=float(size.max()),
                peak_time=float(times[size.argmax()]),
                peak_moment=float(turn.max()),
                axial_force=axial,
                radial_force=radial,
                bending_moment=bending,
                force_percentiles=_percentiles(size, share),
                moment_percentiles=_percentiles(turn, share),
                bearing_force=float((share @ size**BEARING_LIFE) ** (1.0 / BEARING_LIFE)),
            )
        )
    return found


def _largest(values: FloatArray) -> float:
    """The largest by size, with its sign."""
    return float(values[np.abs(values).argmax()])


def _percentiles(values: FloatArray, share: FloatArray) -> list[float]:
    """Sizes below which values are for so many percent of the time."""
    order = np.argsort(values)
    reached = np.cumsum(share[order])
    rows = np.minimum(np.searchsorted(reached, np.array(PERCENTILES) / 100.0), len(values) - 1)
    return [float(value) for value in values[order][rows]]
