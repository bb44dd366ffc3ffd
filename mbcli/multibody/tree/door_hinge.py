"""The torques of a door's hinge: spring, catch and friction."""

from __future__ import annotations

import numbers
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.engine import load_kernels
from mbcli.multibody.tree.checked_numbers import finite, non_negative
from mbcli.multibody.tree.force_element import ForceElement
from mbcli.multibody.tree.joints import RevoluteJoint

if TYPE_CHECKING:
    from mbcli.math.array_types import Scalar
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.multibody_forces import MultibodyForces


@dataclass(kw_only=True)
class DoorHingeConfig:
    """The constants of a DoorHinge; the defaults are about those of a dishwasher's door. All but the first: >= 0."""

    spring_zero_angle_rad: float = -1.5
    """Angle at which the spring is at rest [rad]."""
    spring_constant: float = 1.5
    """[N m/rad]"""
    dynamic_friction_torque: float = 3.0
    """[N m]"""
    static_friction_torque: float = 2.0
    """Friction about the threshold of motion, on top of the dynamic one [N m]; its peak is 0.77 of this."""
    viscous_friction: float = 1.0
    """[N m s/rad]"""
    catch_width: float = 0.02
    """Angle from the closed door over which the catch acts [rad]; with 0 there is no catch."""
    catch_torque: float = 15.0
    """[N m]; the peak of the catch's torque is 0.77 of this."""
    motion_threshold: float = 0.001
    """Rate at which friction is about its full size [rad/s]; with 0 only the viscous friction acts."""


class DoorHinge(ForceElement):
    """Torques on a revolute joint whose door is closed at angle q = 0 and opens towards positive q.

    With s(t, x) = tanh(x/t) and d(t, x) = 2 s (1 - s^2), rate w, spring at rest at q0, half width h of the catch:
    tau = -spring (q - q0) + catch d(h, q - h) - dynamic s(threshold, w) - static d(threshold, w) - viscous w.
    Damping of the joint itself acts besides.

    Args:
        joint: RevoluteJoint.
        config: DoorHingeConfig; RuntimeError if a number in it is negative that must not be, or not finite.
    """

    def __init__(self, joint: RevoluteJoint, config: DoorHingeConfig) -> None:
        if not isinstance(joint, RevoluteJoint):
            raise TypeError(f"DoorHinge needs a RevoluteJoint, not {joint!r}")
        values = {}
        for field in fields(DoorHingeConfig):
            check = finite if field.name == "spring_zero_angle_rad" else non_negative
            values[field.name] = check(getattr(config, field.name), f"hinge of joint '{joint.name()}': {field.name}")
        self._joint, self._config = joint, DoorHingeConfig(**values)
        self.constants = _constants(self._config)
        super().__init__(joint.instance_index)

    def tied_elements(self) -> Any:
        """The elements of the plant that it acts on."""
        return (self._joint,)

    def joint(self) -> RevoluteJoint:
        """RuntimeError before the hinge is part of a plant."""
        self.GetParentPlant()
        return self._joint

    def config(self) -> DoorHingeConfig:
        """A copy of the constants."""
        return replace(self._config)

    def CalcHingeSpringTorque(self, angle: float) -> Scalar:
        """Torque [N m] of spring and catch at an angle [rad]."""
        return self._evaluate("hinge_spring_torque", angle)

    def CalcHingeFrictionalTorque(self, angular_rate: float) -> Scalar:
        """Torque [N m] of dynamic, static and viscous friction at a rate [rad/s]."""
        return self._evaluate("hinge_friction_torque", angular_rate)

    def CalcHingeTorque(self, angle: float, angular_rate: float) -> Scalar:
        """The sum of both [N m]."""
        return self.CalcHingeSpringTorque(angle) + self.CalcHingeFrictionalTorque(angular_rate)

    def CalcHingeStoredEnergy(self, angle: float) -> Scalar:
        """Energy [J] of spring and catch at an angle [rad], zero at the closed door."""
        return self._evaluate("hinge_energy", angle)

    def _evaluate(self, kernel, x):
        """A function of the engine at one number: a real one, or one of the plant's scalar type."""
        constants = self.constants[np.newaxis]
        if isinstance(x, numbers.Real):
            return float(getattr(load_kernels(False), kernel)(constants, 0, np.float64(x)))
        return getattr(self.GetParentPlant().scalar.load_kernels(False, None), kernel)(constants, 0, x)

    def _state(self, context):
        self.check_context(context)
        state = context.state
        return state.q[self._joint.position_start()], state.v[self._joint.velocity_start()]

    def CalcAndAddForceContribution(self, context: Context, forces: MultibodyForces) -> None:
        torque = self.CalcHingeTorque(*self._state(context))
        forces.mutable_generalized_forces()[self._joint.velocity_start()] += torque

    def CalcPotentialEnergy(self, context: Context) -> Scalar:
        angle, _ = self._state(context)
        return self.CalcHingeStoredEnergy(angle)

    def CalcConservativePower(self, context: Context) -> Scalar:
        angle, rate = self._state(context)
        return context.state.scalar.number(self.CalcHingeSpringTorque(angle) * rate)

    def CalcNonConservativePower(self, context: Context) -> Scalar:
        _, rate = self._state(context)
        return context.state.scalar.number(self.CalcHingeFrictionalTorque(rate) * rate)


def _constants(config):
    """A row of the engine's hinge_constants; where a width is zero, what it belongs to is without torque."""
    catch, width = config.catch_torque, config.catch_width
    dynamic, static, threshold = config.dynamic_friction_torque, config.static_friction_torque, config.motion_threshold
    if width == 0.0:
        catch, width = 0.0, 2.0
    if threshold == 0.0:
        dynamic, static, threshold = 0.0, 0.0, 1.0
    return np.array(
        [
            config.spring_zero_angle_rad,
            config.spring_constant,
            catch,
            0.5 * width,
            dynamic,
            static,
            config.viscous_friction,
            threshold,
        ]
    )
