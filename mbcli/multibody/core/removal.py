"""Removing joints and actuators before Finalize(); the indices of the others stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.multibody.core.constraints import num_constraints
from mbcli.multibody.core.elements import unregister

if TYPE_CHECKING:
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator


def RemoveJoint(plant: PlantData, joint: Joint) -> None:
    """Removes a joint that nothing depends on. Its index is not used again, so indices may have gaps.

    RuntimeError: after Finalize(); the plant has force elements beside gravity or constraints, whose dependence is
    not tracked; an actuator drives the joint.
    """
    plant.require_not_finalized(f"RemoveJoint of '{joint.name()}'")
    plant.require_own(joint, "RemoveJoint")
    if len(plant.elements.force_elements) > 1 or num_constraints(plant):
        raise RuntimeError(
            f"joint '{joint.name()}' cannot be removed: the plant has force elements or constraints, "
            "which might depend on it"
        )
    for actuator in plant.elements.actuators:
        if actuator.joint() is joint:
            raise RuntimeError(f"joint '{joint.name()}' cannot be removed: actuator '{actuator.name()}' drives it")
    unregister(plant, joint, plant.elements.joints)


def RemoveJointActuator(plant: PlantData, actuator: JointActuator) -> None:
    """Removes an actuator. Its index is not used again. RuntimeError after Finalize()."""
    plant.require_not_finalized(f"RemoveJointActuator of '{actuator.name()}'")
    plant.require_own(actuator, "RemoveJointActuator")
    unregister(plant, actuator, plant.elements.actuators)
