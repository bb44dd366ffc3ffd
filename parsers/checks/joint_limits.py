"""Whether the limits of joints are ones that a joint can have: units, empty ranges, speeds, efforts."""

from __future__ import annotations

from math import inf, isfinite, pi
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.parsers.checks.flat_model import FlatModel
    from mbcli.parsers.checks.report import Report
    from mbcli.parsers.spec import AxisSpec, JointSpec

# A limit of a rotation in this range [rad] was probably meant in degrees; beyond it, as no limit.
SUSPICIOUS_ANGLE = (8 * pi, 3600.0)
SUSPICIOUS_LENGTH = (50.0, 1e5)  # [m] of a sliding joint: probably millimetres
ROUNDED = 1e-4  # relative, of 31.415 for 10 pi
LARGEST_EFFORT = 1e6  # [N m or N] of an actuator that exists; more is meant as no limit
LARGEST_SPEED = 1e4  # [rad/s or m/s]


def _axes(model: FlatModel, report: Report) -> Iterator[tuple[JointSpec, AxisSpec]]:
    """(joint, axis) of every axis that was read without an error."""
    for joint in model.joints.values():
        for axis in joint.axes:
            if report.is_sound(joint) and report.is_sound(axis):
                yield joint, axis


def check_limit_units(model: FlatModel, report: Report) -> None:
    """JOINT_LIMIT_UNIT: angles that look like degrees; JOINT_LIMIT_LONG: lengths that look like millimetres."""
    for joint, axis in _axes(model, report):
        bounds = (axis.lower, axis.upper)
        may_stop = joint.kind.turns and not joint.kind.endless
        if may_stop and not all(map(_is_in_turns, bounds)) and _any_within(bounds, SUSPICIOUS_ANGLE):
            low, high = (f"{bound * pi / 180:.4g}" for bound in bounds)
            message = f"the limits [{axis.lower:.6g}, {axis.upper:.6g}] rad are more than four turns"
            hint = f"are they in degrees? In radians they would be [{low}, {high}]"
            report("JOINT_LIMIT_UNIT", message, axis.place, "limit", hint=hint)
        elif joint.kind.slides and _any_within(bounds, SUSPICIOUS_LENGTH):
            message = f"the limits [{axis.lower:.6g}, {axis.upper:.6g}] m are very long"
            report("JOINT_LIMIT_LONG", message, axis.place, "limit", hint="are they in millimetres?")


def _is_in_turns(angle: float) -> bool:
    """Whether an angle is 0 or a multiple of pi, to the digits that files give it: not one of degrees, if not a whole
    number of these."""
    if not isfinite(angle) or angle == 0.0:
        return angle == 0.0
    halves = round(angle / pi)
    return angle != round(angle) and abs(angle - halves * pi) < ROUNDED * abs(angle)


def _any_within(bounds: tuple[float, float], range_: tuple[float, float]) -> bool:
    smallest, largest = range_
    return any(smallest < abs(bound) <= largest for bound in bounds)


def check_ranges(model: FlatModel, report: Report) -> None:
    """JOINT_RANGE_ZERO, JOINT_DEFAULT_OUTSIDE_LIMITS."""
    for joint, axis in _axes(model, report):
        if axis.lower == axis.upper:
            message = f'joint "{joint.name}" cannot move: both its limits are {axis.lower:.6g}'
            hint = "a fixed joint states that directly"
            report("JOINT_RANGE_ZERO", message, axis.place, "limit", hint=hint)
        elif not axis.lower <= 0 <= axis.upper:
            unit = _unit(joint)
            message = (
                f'joint "{joint.name}": its zero position is outside of its limits '
                f"[{axis.lower:.6g}, {axis.upper:.6g}] {unit}"
            )
            report("JOINT_DEFAULT_OUTSIDE_LIMITS", message, axis.place, "limit")


def _unit(joint: JointSpec) -> str:
    return "m" if joint.kind.slides else "rad"


def check_efforts_and_speeds(model: FlatModel, report: Report) -> None:
    """JOINT_LIMIT_ZERO, JOINT_LIMIT_IMPLAUSIBLE."""
    for joint, axis in _axes(model, report):
        if axis.velocity == 0:
            message = f'joint "{joint.name}" has the velocity limit 0: nothing may move it'
            report("JOINT_LIMIT_ZERO", message, axis.place, "limit")
        if axis.effort == 0:
            message = f'joint "{joint.name}" has the effort limit 0: nothing can drive it'
            report("JOINT_LIMIT_ZERO", message, axis.place, "limit")
        for kind, value, largest in (
            ("effort", axis.effort, LARGEST_EFFORT),
            ("velocity", axis.velocity, LARGEST_SPEED),
        ):
            if largest < value < inf:
                message = f'joint "{joint.name}": the {kind} limit {value:.6g} is more than any joint has'
                report("JOINT_LIMIT_IMPLAUSIBLE", message, axis.place, "limit", hint="leave it out for no limit")
