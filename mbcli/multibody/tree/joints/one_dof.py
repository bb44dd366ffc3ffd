"""The common base of joints of one degree of freedom: limits and damping as plain numbers, and axes."""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mbcli.multibody.tree.joint import Joint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.math.array_types import Scalar, Vector3
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame
    from mbcli.parsers.spec import JointSpec

SMALLEST_AXIS = float(np.sqrt(np.finfo(float).eps))  # a shorter vector has no direction


class OneDofJoint(Joint):
    """A joint of one position and one velocity, its rate."""

    def default_damping(self) -> float:
        """[N m s or N s/m]"""
        return float(self._damping[0])

    damping = default_damping  # its name in earlier releases

    def set_default_damping(self, damping: float) -> None:
        """Damping in new contexts, not negative. Before Finalize()."""
        self.set_default_damping_vector([damping])

    def GetDamping(self, context: Context) -> Scalar:
        """[N m s or N s/m], as the context has it."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return state.parameters.values.get((self, "damping"), self._damping).item(0)

    def SetDamping(self, context: Context, damping: float) -> None:
        """Another damping in one context, not negative; the default stays."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        if type(damping) is float and 0.0 <= damping < inf:
            checked = np.empty(1, state.dtype)
            checked[0] = damping
        else:
            checked = self._checked_damping([damping], state.scalar)
        state.set_parameter(self, "damping", checked)

    def position_lower_limit(self) -> float:
        """[rad or m]"""
        return float(self.limits["position"][0][0])

    def position_upper_limit(self) -> float:
        """[rad or m]"""
        return float(self.limits["position"][1][0])

    def velocity_lower_limit(self) -> float:
        """[rad/s or m/s]"""
        return float(self.limits["velocity"][0][0])

    def velocity_upper_limit(self) -> float:
        """[rad/s or m/s]"""
        return float(self.limits["velocity"][1][0])

    def acceleration_lower_limit(self) -> float:
        """[rad/s^2 or m/s^2]"""
        return float(self.limits["acceleration"][0][0])

    def acceleration_upper_limit(self) -> float:
        """[rad/s^2 or m/s^2]"""
        return float(self.limits["acceleration"][1][0])

    def GetOnePosition(self, context: Context) -> Scalar:
        """The position [rad or m]."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return state.q.item(self.first_position if self.first_position is not None else self.position_start())

    def GetOneVelocity(self, context: Context) -> Scalar:
        """The velocity [rad/s or m/s]."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return state.v.item(self.first_velocity if self.first_velocity is not None else self.velocity_start())

    def _set_position(self, context, value):
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        state.data.q[self.position_start()] = self._number(context, value)
        state.forget_positions()
        return self

    def _set_velocity(self, context, value):
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        state.data.v[self.velocity_start()] = self._number(context, value)
        state.forget_velocities()
        return self

    def _number(self, context, value):
        return value if type(value) is float and isfinite(value) else self._sized(value, 1, context).item()

    def _default_position(self):
        return float(self._default_positions[0])


class AxisJoint(OneDofJoint):
    """A joint about or along one axis, which has the same components in F and in M."""

    def __init__(self, name, frame_on_parent, frame_on_child, axis, lower, upper, damping):
        self._axis = unit_axis(axis, name)
        super().__init__(name, frame_on_parent, frame_on_child, damping, lower, upper)

    @classmethod
    def from_spec(cls, spec: JointSpec, frame_on_parent: Frame, frame_on_child: Frame) -> Self:
        """The joint of a JointSpec, by its one axis with limits and damping."""
        axis = spec.axes[0]
        return cls(spec.name, frame_on_parent, frame_on_child, axis.xyz, axis.lower, axis.upper, axis.damping)

    @classmethod
    def from_description(
        cls, name: str, frame_on_parent: Frame, frame_on_child: Frame, stated: Mapping[str, Any]
    ) -> Self:
        """The joint that an entry of `mbcli inspect --json` states, by its axis."""
        return cls(name, frame_on_parent, frame_on_child, stated["axis"], -inf, inf, 0.0)

    def axis(self) -> Vector3:
        """Unit vector (3,), in F and in M."""
        return self._axis.copy()


def unit_axis(axis, joint_name):
    """The direction of an axis as a unit vector (3,); RuntimeError if it has none."""
    axis = np.array(axis, dtype=float)
    length = sqrt(axis.dot(axis)) if axis.shape == (3,) else 0.0
    if not SMALLEST_AXIS < length < np.inf:
        raise RuntimeError(f"joint '{joint_name}': axis {axis} is not a direction")
    return axis / length


def limits_and_damping(arguments, lower, upper, damping):
    """Sorts (damping,) and (lower, upper[, damping]), as far as given by position; the rest was given by name."""
    if len(arguments) == 3 and lower is upper is damping is None:
        return arguments
    values = {"lower": lower, "upper": upper, "damping": damping}
    names = ("damping",) if len(arguments) == 1 and upper is None else tuple(values)
    if len(arguments) > len(names) or any(values[name] is not None for name in names[: len(arguments)]):
        raise TypeError("expected limits and damping, or damping alone, each once")
    values |= zip(names, arguments, strict=False)
    defaults = (-np.inf, np.inf, 0.0)
    return tuple(default if x is None else x for x, default in zip(values.values(), defaults, strict=True))
