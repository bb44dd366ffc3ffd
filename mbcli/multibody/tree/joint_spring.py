"""Springs on the coordinate of a joint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.tree.checked_numbers import finite, non_negative
from mbcli.multibody.tree.force_element import ForceElement
from mbcli.multibody.tree.joints import PrismaticJoint, RevoluteJoint

if TYPE_CHECKING:
    from mbcli.math.array_types import Scalar
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.multibody_forces import MultibodyForces


class JointSpring(ForceElement):
    """-stiffness * (q - nominal) along the one coordinate q of a joint; both are parameters of a context."""

    _joint_type: Any = None

    def __init__(self, joint, nominal, stiffness):
        if not isinstance(joint, self._joint_type):
            raise TypeError(f"{type(self).__name__} needs a {self._joint_type.__name__}, not {joint!r}")
        self._joint = joint
        self._nominal = self._checked_nominal(nominal)
        self._stiffness = self._checked_stiffness(stiffness)
        super().__init__(joint.instance_index)

    def _checked_nominal(self, value, scalar=FLOAT):
        return finite(value, f"spring of joint '{self._joint.name()}': its position at rest", scalar)

    def _checked_stiffness(self, value, scalar=FLOAT):
        return non_negative(value, f"spring of joint '{self._joint.name()}': its stiffness", scalar)

    def tied_elements(self) -> Any:
        """The elements of the plant that it acts on."""
        return (self._joint,)

    def joint(self) -> Joint:
        """RuntimeError before the spring is part of a plant."""
        self.GetParentPlant()
        return self._joint

    def default_stiffness(self) -> float:
        """[N m/rad or N/m]"""
        return self._stiffness

    stiffness = default_stiffness

    def GetStiffness(self, context: Context) -> Scalar:
        """[N m/rad or N/m] as the context has it"""
        self.check_context(context)
        return context.state.parameters.values.get((self, "stiffness"), self._stiffness)

    def SetStiffness(self, context: Context, stiffness: float) -> None:
        """Another stiffness [N m/rad or N/m] in one context; RuntimeError if it is negative."""
        self.check_context(context)
        state = context.state
        state.set_parameter(self, "stiffness", self._checked_stiffness(stiffness, state.scalar))

    def _get_nominal(self, context):
        self.check_context(context)
        return context.state.parameters.values.get((self, "nominal"), self._nominal)

    def _set_nominal(self, context, value):
        self.check_context(context)
        state = context.state
        state.set_parameter(self, "nominal", self._checked_nominal(value, state.scalar))

    def _force(self, context):
        """Stiffness, stretch, and rate of the coordinate."""
        self.check_context(context)
        state = context.state
        number = state.scalar.number
        stretch = state.q[self._joint.position_start()] - state.parameters.values.get((self, "nominal"), self._nominal)
        rate = state.v[self._joint.velocity_start()]
        return state.parameters.values.get((self, "stiffness"), self._stiffness), number(stretch), number(rate)

    def CalcAndAddForceContribution(self, context: Context, forces: MultibodyForces) -> None:
        k, stretch, _ = self._force(context)
        forces.mutable_generalized_forces()[self._joint.velocity_start()] -= k * stretch

    def CalcPotentialEnergy(self, context: Context) -> Scalar:
        k, stretch, _ = self._force(context)
        return 0.5 * k * stretch**2

    def CalcConservativePower(self, context: Context) -> Scalar:
        k, stretch, rate = self._force(context)
        return -k * stretch * rate

    def CalcNonConservativePower(self, context: Context) -> Scalar:
        self.check_context(context)
        return 0.0


class RevoluteSpring(JointSpring):
    """Torque -stiffness [N m/rad] * (angle - nominal_angle [rad]) on a revolute joint."""

    _joint_type = RevoluteJoint

    def __init__(self, joint: RevoluteJoint, nominal_angle: float, stiffness: float) -> None:
        super().__init__(joint, nominal_angle, stiffness)

    def default_nominal_angle(self) -> Scalar:
        """[rad]"""
        return self._nominal

    nominal_angle = default_nominal_angle

    def GetNominalAngle(self, context: Context) -> Scalar:
        """[rad] as the context has it"""
        return self._get_nominal(context)

    def SetNominalAngle(self, context: Context, nominal_angle: float) -> None:
        """Another angle at rest [rad] in one context."""
        self._set_nominal(context, nominal_angle)


class PrismaticSpring(JointSpring):
    """Force -stiffness [N/m] * (translation - nominal_position [m]) on a prismatic joint."""

    _joint_type = PrismaticJoint

    def __init__(self, joint: PrismaticJoint, nominal_position: float, stiffness: float) -> None:
        super().__init__(joint, nominal_position, stiffness)

    def default_nominal_position(self) -> Scalar:
        """[m]"""
        return self._nominal

    nominal_position = default_nominal_position

    def GetNominalPosition(self, context: Context) -> Scalar:
        """[m] as the context has it"""
        return self._get_nominal(context)

    def SetNominalPosition(self, context: Context, nominal_position: float) -> None:
        """Another position at rest [m] in one context."""
        self._set_nominal(context, nominal_position)
