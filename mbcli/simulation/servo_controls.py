"""What numbers given to actuators in a run mean: forces, controls of a file's servos, or targets of controllers.

In a run controllers of files aim at rest (controllers.py). An input that moves the aim is a force beside theirs:
p (target - rest), and of a servo of MJCF what its law says of the control.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError
from mbcli.models.actuator_names import ActuatorNames
from mbcli.multibody.core.inputs import has_controllers
from mbcli.multibody.tree.joint_kinds import slides_along_axis
from mbcli.simulation.controllers import aim_at_rest

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant import MultibodyPlant
    from mbcli.multibody.tree.joint_actuator import JointActuator

TARGET = ".target"


class ServoControls:
    """The inputs of a plant by name: its actuators, and the targets `NAME.target` of those with a controller.

    aims: whether the run lets controllers aim at rest; else all inputs are forces.

    `find` gives the index of a name: below nu that of an actuator, from nu on nu more than that of the one whose target
    it is. LookupError if a name means none, or several.
    """

    def __init__(self, plant: MultibodyPlant, aims: bool = True) -> None:
        self._acting = has_controllers(plant)
        self._aims = aims
        self._actuators = [plant.get_joint_actuator(k) for k in plant.GetJointActuatorIndices()]
        self._transmissions = plant.elements.transmission_actuators
        self._names = ActuatorNames(plant)
        self._default = plant.GetDefaultPositions()
        self._nu = plant.num_actuators()  # with those that act through transmissions: their inputs are their controls
        self.size = 2 * self._nu

    def find(self, name: str) -> int:
        """Index of a name."""
        if not name.endswith(TARGET) or self._names.whole(name):
            return self._names.find(name)
        k = self._names.find(name.removesuffix(TARGET))
        actuator = self._at(k)
        if (
            actuator is None
            or not self._aims
            or not actuator.has_controller()
            or actuator.get_controller_gains().p == 0.0
        ):
            raise LookupError(f"actuator '{self._names.names[k]}' has no controller of positions: it takes no target")
        return k + self._nu

    def unit(self, index: int) -> str | None:
        """The unit of an input, None of a servo's control, which may be of a position or a velocity."""
        nu = self._nu
        actuator = self._at(index % nu)
        if actuator is None:
            return None
        slides = slides_along_axis(actuator.joint())
        if index >= nu:
            return "m" if slides else "rad"
        if self._aims and actuator.control is not None:
            return None
        return "N" if slides else "N m"

    def _at(self, k: int) -> JointActuator | None:
        """The actuator on a joint that has the input k."""
        return next((actuator for actuator in self._actuators if actuator.input_start() == k), None)

    def aimed(self, values: FloatArray) -> frozenset[str]:
        """Names of the actuators whose controllers values (k, 2 nu), or (k, nu) of actuators alone, aim."""
        given, nu = set(np.flatnonzero(np.isfinite(values).any(axis=0)).tolist()), self._nu
        found = set()
        for actuator in self._actuators if self._aims else ():
            k = actuator.input_start()
            if (actuator.control is not None and k in given) or nu + k in given:
                found.add(actuator.name())
        return frozenset(found)

    def cut(self, values: FloatArray) -> tuple[tuple[str, float, float], ...]:
        """(name of an actuator, the most beyond its range of controls, the end of that) of values as in aimed()."""
        limits = {a.input_start(): a.control.limits for a in self._actuators if self._aims and a.control is not None}
        limits |= {a.input_start(): a.law().control for a in self._transmissions}
        found = []
        for k, (low, high) in limits.items():
            given = values[np.isfinite(values[:, k]), k]
            beyond = np.maximum(given - high, low - given)
            if beyond.size and beyond.max() > 0.0:
                most = float(given[beyond.argmax()])
                found.append((self._names.names[k], most, float(high if most > high else low)))
        return tuple(found)

    def forces(self, values: FloatArray) -> FloatArray:
        """(..., nu) [N m or N] of values (..., 2 nu), or of the actuators alone (..., nu); NaN where none is given.

        ArgumentError for what moves the aim of a controller that does not act, or by how much depends on the motion.
        """
        nu = self._nu
        given = np.isfinite(values)
        u = np.where(given, values, 0.0)[..., :nu]
        for actuator in self._actuators if self._aims else ():
            k = actuator.input_start()
            if actuator.control is not None:
                shift = np.clip(values[..., k], *actuator.control.limits) - actuator.control.rest
                shift = np.where(given[..., k], shift, 0.0)
                if shift.any():
                    self._require_force(actuator)
                u[..., k] = (actuator.control.force or 0.0) * shift
            if values.shape[-1] > nu and given[..., nu + k].any():
                self._require_acting(actuator)
                target, (rest, _) = values[..., nu + k], aim_at_rest(actuator, self._default)
                p = actuator.get_controller_gains().p
                u[..., k] += np.where(given[..., nu + k], p * (target - rest), 0.0)
        return u

    def slopes(self, values: FloatArray) -> FloatArray:
        """(nu,) by what forces() changes with each of the values (nu,) of the actuators.

        1 for a force; at a limit of a control from within; 0 of a control that stays at rest, whose gain depends on the
        motion.
        """
        found = np.ones(self._nu)
        for actuator in self._actuators if self._aims else ():
            control, k = actuator.control, actuator.input_start()
            if control is not None:
                low, high = control.limits
                moves = not np.isfinite(values[k]) or low <= values[k] <= high
                found[k] = (control.force or 0.0) * moves
        return found

    def _require_force(self, actuator: JointActuator) -> None:
        self._require_acting(actuator)
        assert actuator.control is not None
        if actuator.control.force is None:
            raise ArgumentError(
                f"{argument('inputs')}: the gain of servo '{actuator.name()}' depends on the motion: it stays at its "
                "control of rest"
            )

    def _require_acting(self, actuator: JointActuator) -> None:
        if not self._acting:
            raise ArgumentError(
                f"{argument('inputs')}: servo '{actuator.name()}' has no effect in this run: controllers act in "
                "discrete steps, and not under tamsi"
            )
