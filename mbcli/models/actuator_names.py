"""ActuatorNames: actuators by name, with a hint where somebody names a joint, or the model has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import NamedCoordinates

if TYPE_CHECKING:
    from mbcli.multibody.plant import MultibodyPlant


def no_actuators() -> str:
    """Where actuators come from, and what gives a model some."""
    return (
        "the model has no actuators: URDF has a <transmission> for each, MJCF an <actuator>, SDFormat gives one to "
        f"every joint whose <effort> is not 0; {argument('actuators', 'motor')} gives all joints one"
    )


class ActuatorNames(NamedCoordinates):
    """The names of the actuators of a plant."""

    def __init__(self, plant: MultibodyPlant) -> None:
        super().__init__(plant.GetActuatorNames(), "actuator")
        self._of_joint = {a.joint().name(): a.name() for a in plant.elements.actuators}
        self._joints = {joint.name() for joint in plant.moving_joints()}

    def hint(self, name: str) -> str:
        if not self.names:
            return f"; {no_actuators()}"
        if name in self._of_joint:
            return f"; '{name}' is a joint, and its actuator is '{self._of_joint[name]}'"
        if name in self._joints:
            return f"; '{name}' is a joint without an actuator: {argument('actuators', 'motor')} gives all joints one"
        return super().hint(name)
