"""Actuators: which joint a number of the actuation vector drives, through which rotor and gear, and PD control."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.math.array_arguments import as_numbers
from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.tree.checked_numbers import finite, non_negative
from mbcli.multibody.tree.element import NamedElement
from mbcli.multibody.tree.pd_law import PdControllerGains, PdLaw, checked_gains

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint import Joint
    from mbcli.parsers.spec import ServoControl


class JointActuator(NamedElement):
    """Drives the one velocity of a joint.

    Args:
        name: unique in the joint's model instance.
        joint: has one velocity.
        effort_limit: [N m or N], greater than 0.
    """

    def __init__(self, name: str, joint: Joint, effort_limit: float = np.inf) -> None:
        self._name = name
        self._joint = joint
        if joint.num_velocities() != 1:
            raise RuntimeError(
                f"actuator '{name}': joint '{joint.name()}' has {joint.num_velocities()} degrees of freedom, not one"
            )
        self.set_effort_limit(effort_limit)
        self._rotor_inertia = 0.0
        self._gear_ratio = 1.0
        self._gains = PdControllerGains()
        self.control: ServoControl | None = None  # of a servo whose input in a run is a control; None: a force
        # position [rad or m] and velocity [rad/s or m/s] at which its controller aims in a run that asks nothing of it;
        # None: the joint's default position, at rest
        self.rest: tuple[float, float] | None = None
        self.first_input: int | None = None  # after Finalize()

    def joint(self) -> Joint:
        """The joint that is driven."""
        return self._joint

    def effort_limit(self) -> float:
        """[N m or N]; infinite for none"""
        return self._effort_limit

    def set_effort_limit(self, effort_limit: float) -> None:
        """Replaces the effort limit [N m or N], inf for none. RuntimeError if it is not positive."""
        if not effort_limit > 0.0:
            raise RuntimeError(f"actuator '{self._name}': effort limit must be greater than 0, it is {effort_limit}")
        self._effort_limit = float(effort_limit)

    # rotor and gear

    def default_rotor_inertia(self) -> float:
        """[kg m^2]"""
        return self._rotor_inertia

    def set_default_rotor_inertia(self, rotor_inertia: float) -> None:
        """Rotor inertia in new contexts, not negative. Before Finalize()."""
        self._require_not_finalized("SetRotorInertia")
        self._rotor_inertia = self._checked_rotor_inertia(rotor_inertia)

    def rotor_inertia(self, context: Context) -> Scalar:
        """[kg m^2], as the context has it."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return state.parameters.values.get((self, "rotor_inertia"), self._rotor_inertia)

    def SetRotorInertia(self, context: Context, rotor_inertia: float) -> None:
        """Another rotor inertia in one context; the default stays."""
        self._set_parameter(context, "rotor_inertia", self._checked_rotor_inertia(rotor_inertia, context.state.scalar))

    def default_gear_ratio(self) -> float:
        """Rotor speed over joint speed [1 or 1/m]."""
        return self._gear_ratio

    def set_default_gear_ratio(self, gear_ratio: float) -> None:
        """Gear ratio in new contexts. Before Finalize()."""
        self._require_not_finalized("SetGearRatio")
        self._gear_ratio = self._checked_gear_ratio(gear_ratio)

    def gear_ratio(self, context: Context) -> Scalar:
        """Rotor speed over joint speed [1 or 1/m], as the context has it."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return state.parameters.values.get((self, "gear_ratio"), self._gear_ratio)

    def SetGearRatio(self, context: Context, gear_ratio: float) -> None:
        """Another gear ratio in one context; the default stays."""
        self._set_parameter(context, "gear_ratio", self._checked_gear_ratio(gear_ratio, context.state.scalar))

    def default_reflected_inertia(self) -> float:
        """The rotor's share in the joint's diagonal of the mass matrix: gear ratio squared times rotor inertia."""
        return self._gear_ratio**2 * self._rotor_inertia

    def calc_reflected_inertia(self, context: Context) -> Scalar:
        """As default_reflected_inertia(), as the context has rotor and gear."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        values = state.parameters.values
        gear_ratio = values.get((self, "gear_ratio"), self._gear_ratio)
        return gear_ratio * gear_ratio * values.get((self, "rotor_inertia"), self._rotor_inertia)

    def _require_not_finalized(self, instead):
        if self.first_input is not None:
            raise RuntimeError(f"actuator '{self._name}': the plant is finalized; {instead}() changes a context")

    def _checked_rotor_inertia(self, rotor_inertia, scalar=FLOAT):
        return non_negative(rotor_inertia, f"actuator '{self._name}': rotor inertia", scalar)

    def _checked_gear_ratio(self, gear_ratio, scalar=FLOAT):
        return finite(gear_ratio, f"actuator '{self._name}': gear ratio", scalar)

    def _set_parameter(self, context, name, value):
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        state.set_parameter(self, name, value)

    # PD control

    def set_controller_gains(self, gains: PdControllerGains) -> None:
        """PdControllerGains, finite and not negative; both 0 remove the controller. Discrete plants only obey it."""
        if self.parent_plant is not None and self.parent_plant.is_finalized():
            raise RuntimeError(f"actuator '{self._name}': the plant is finalized, gains cannot be changed")
        self.replace_gains(gains)

    def replace_gains(self, gains: PdControllerGains) -> None:
        """As set_controller_gains(), for a plant that makes its arrays anew."""
        self._gains = checked_gains(gains, self._name)

    def has_controller(self) -> bool:
        """Whether one of the gains is not 0."""
        return self._gains.p != 0.0 or self._gains.d != 0.0

    def get_controller_gains(self) -> PdControllerGains:
        """The gains (a copy); RuntimeError if there is no controller."""
        if not self.has_controller():
            raise RuntimeError(f"actuator '{self._name}' has no controller")
        return PdControllerGains(p=self._gains.p, d=self._gains.d)

    def pd_law(self) -> PdLaw | None:
        """Of its controller; None if it has none."""
        return PdLaw(self._gains.p, self._gains.d, self._effort_limit) if self.has_controller() else None

    # its part of the actuation vector

    def num_inputs(self) -> int:
        """1: joints of one degree of freedom are driven."""
        return 1

    def input_start(self) -> int:
        """Index in the actuation vector u of the plant; -1 before the actuator is part of a plant."""
        if self.parent_plant is None:
            return -1
        if self.first_input is not None:
            return self.first_input
        return [int(index) for index in self.parent_plant.GetJointActuatorIndices()].index(int(self.index()))

    def get_actuation_vector(self, u: ArrayLike) -> Vector:
        """This actuator's part (1,) of the actuation vector (nu,) of the plant."""
        start = self._start_in(u)
        return np.array(as_numbers(u, "u")[start : start + 1])

    def set_actuation_vector(
        self,
        u_actuator: ArrayLike | None = None,
        u: Vector | None = None,
        *,
        u_instance: ArrayLike | None = None,
    ) -> None:
        """Writes this actuator's part (1,) of the actuation vector u (nu,) of the plant; nothing else in u changes.

        `u_instance` is an earlier name of u_actuator.
        """
        value = np.atleast_1d(as_numbers(u_instance if u_actuator is None else u_actuator, "u_actuator"))
        if value.shape != (self.num_inputs(),):
            raise RuntimeError(f"actuator '{self._name}' has {self.num_inputs()} input, not {value.size}")
        start = self._start_in(u)
        u[start] = value[0]  # type: ignore[index]  # _start_in() refuses None

    def _start_in(self, u):
        size = self.GetParentPlant().num_actuators()
        if u is None or np.shape(u) != (size,):
            given = "none" if u is None else f"one of shape {np.shape(u)}"
            raise RuntimeError(f"actuator '{self._name}' needs an actuation vector of {size} elements, not {given}")
        return self.input_start()
