"""ActuatorNames: actuators by name, with a hint where somebody names a joint, or the model has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.common.coordinate_names import NamedCoordinates

if TYPE_CHECKING:
    from mbcli.multibody.plant import MultibodyPlant

NONE = (
    "; the model has no actuators: URDF has a <transmission> for each, MJCF an <actuator>, SDFormat gives one to every "
    "joint whose <effort> is not 0"
)


class ActuatorNames(NamedCoordinates):
    """The names of the actuators of a plant."""

    def __init__(self, plant: MultibodyPlant) -> None:
        super().__init__(plant.GetActuatorNames(), "actuator")
        self._of_joint = {a.joint().name(): a.name() for a in plant.elements.actuators}

    def hint(self, name: str) -> str:
        if not self.names:
            return NONE
        if name in self._of_joint:
            return f"; '{name}' is a joint, and its actuator is '{self._of_joint[name]}'"
        return super().hint(name)
