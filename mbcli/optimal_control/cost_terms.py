"""The terms of costs by name: what is squared, summed and weighed.

A term of a file is a mapping whose `term` is the name of a function here; its other keys are the keyword-only
parameters, as in tasks of environments (mbcli/environments/term_registry.py). The function gives residuals (n, k) of n
states and efforts; `by` are those of "q", "v" and "u" that they depend on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mbcli.config.config_fields import ValueProblem, accept
from mbcli.environments.term_kinds import KINDS, found_under, name_of
from mbcli.environments.term_registry import Term, term_of
from mbcli.math.roll_pitch_yaw import RollPitchYaw
from mbcli.models.loading import find_frame
from mbcli.optimal_control.costs import BOTH, END, RUN

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.environments.term_kinds import Actuators, Positions, Velocities
    from mbcli.math.array_types import FloatArray
    from mbcli.optimal_control.costs import Motion
    from mbcli.parsers.yaml_source import YamlNode

    FrameIndex: TypeAlias = int
    Three: TypeAlias = FloatArray  # (3,)
    Targets: TypeAlias = FloatArray  # (1,) for all, or one each

COSTS: dict[str, Term] = {}
BY: dict[str, str] = {}  # {name of a term: those of q, v, u that it depends on}
EXTRA = {"weight": ("NotNegative", True), "at": ("When", False)}


def _cost(by: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        BY[function.__name__] = by
        return term_of(COSTS)(function)

    return add


@_cost("q")
def positions(motion: Motion, *, of: Positions, target: Targets) -> FloatArray:
    """Positions less their targets [rad or m]."""
    return motion.q[:, of] - _each(target, of)


@_cost("q")
def angles(motion: Motion, *, of: Positions, target: Targets) -> FloatArray:
    """2 sin of half of the angle between positions [rad] and their targets: whole turns do not count."""
    return 2.0 * np.sin(0.5 * (motion.q[:, of] - _each(target, of)))


@_cost("q")
def posture(motion: Motion, *, of: Velocities) -> FloatArray:
    """The way along velocities from the positions of the start, to first order; of a turn by a: 2 sin(a / 2)."""
    return motion.from_start()[:, of]


@_cost("v")
def velocities(motion: Motion, *, of: Velocities, target: Targets) -> FloatArray:
    """Velocities less their targets [rad/s or m/s]."""
    return motion.v[:, of] - _each(target, of)


@_cost("u")
def efforts(motion: Motion, *, of: Actuators, target: Targets) -> FloatArray:
    """Efforts less their targets [N m or N]."""
    return motion.u[:, of] - _each(target, of)


@_cost("q")
def place(motion: Motion, *, frame: FrameIndex, target: Three) -> FloatArray:
    """The origin of a frame or body less a point [m] of World."""
    return motion.frame(frame)[1] - target


@_cost("q")
def orientation(motion: Motion, *, frame: FrameIndex, target: Three) -> FloatArray:
    """What turns a frame from a wanted orientation to its own: the axis in World times 2 sin(angle / 2).

    target: roll, pitch and yaw [rad] in World.
    """
    R, wanted = motion.frame(frame)[0], RollPitchYaw(target).ToRotationMatrix().matrix()
    away = R @ wanted.T
    cosine = 0.5 * (np.trace(away, axis1=1, axis2=2) - 1.0)
    twice_sine = np.stack([away[:, 2, 1] - away[:, 1, 2], away[:, 0, 2] - away[:, 2, 0], away[:, 1, 0] - away[:, 0, 1]])
    return (twice_sine / np.sqrt(np.maximum(2.0 * (1.0 + cosine), 1e-12))).T  # sin a / cos(a / 2) = 2 sin(a / 2)


@_cost("qv")
def velocity(motion: Motion, *, frame: FrameIndex, target: Three) -> FloatArray:
    """The velocity of the origin of a frame in World less a wanted one [m/s]."""
    return motion.frame(frame)[2][:, 3:] - target


@_cost("qv")
def spin(motion: Motion, *, frame: FrameIndex, target: Three) -> FloatArray:
    """The angular velocity of a frame in World less a wanted one [rad/s]."""
    return motion.frame(frame)[2][:, :3] - target


def _each(target: FloatArray, of: Any) -> FloatArray:
    if len(target) not in (1, len(of)):
        raise ValueProblem("VALUE_TYPE", f"target has {len(target)} numbers for {len(of)} names: one, or one each")
    return target


def _numbers(node: YamlNode) -> FloatArray:
    items = list(node) if node.kind == "sequence" else [node]
    if not items or any(item.kind != "scalar" for item in items):
        raise ValueProblem("VALUE_TYPE", f"is a number or a list of numbers; found {node.describe()}")
    return np.array([accept(float, item.value, {}) for item in items])


def _three(node: YamlNode, worlds: Any) -> FloatArray:
    values = _numbers(node)
    if values.shape != (3,):
        raise ValueProblem("VALUE_TYPE", f"is a list of 3 numbers; found {len(values)}")
    return values


def _frame(node: YamlNode, worlds: Any) -> int:
    return int(found_under(lambda name: find_frame(worlds.plant, name, "frame"), name_of(node)).index())


def _when(node: YamlNode, worlds: Any) -> str:
    return accept(str, name_of(node), {"choices": (RUN, END, BOTH)})


def _not_negative(node: YamlNode, worlds: Any) -> float:
    if node.kind != "scalar":
        raise ValueProblem("VALUE_TYPE", f"takes one number; found {node.describe()}")
    return accept(float, node.value, {"minimum": 0.0})


KINDS_OF_COSTS = KINDS | {
    "Targets": lambda node, worlds: _numbers(node),
    "Three": _three,
    "FrameIndex": _frame,
    "When": _when,
    "NotNegative": _not_negative,
}
