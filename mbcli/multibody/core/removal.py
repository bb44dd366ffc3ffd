"""Removing joints and actuators before Finalize(); the indices of the others stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.multibody.core.constraints import Constraints
from mbcli.multibody.core.elements import Elements

if TYPE_CHECKING:
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator


class Removal(Elements, Constraints):
    """The part of MultibodyPlant that takes elements out again."""

    def RemoveJoint(self, joint: Joint) -> None:
        """Removes a joint that nothing depends on. Its index is not used again, so indices may have gaps.

        RuntimeError: after Finalize(); the plant has force elements beside gravity or constraints, whose dependence is
        not tracked; an actuator drives the joint.
        """
        self.require_not_finalized(f"RemoveJoint of '{joint.name()}'")
        self._require_own(joint, "RemoveJoint")
        if len(self.elements.force_elements) > 1 or self.num_constraints():
            raise RuntimeError(
                f"joint '{joint.name()}' cannot be removed: the plant has force elements or constraints, "
                "which might depend on it"
            )
        for actuator in self.elements.actuators:
            if actuator.joint() is joint:
                raise RuntimeError(f"joint '{joint.name()}' cannot be removed: actuator '{actuator.name()}' drives it")
        self._unregister(joint, self.elements.joints)

    def RemoveJointActuator(self, actuator: JointActuator) -> None:
        """Removes an actuator. Its index is not used again. RuntimeError after Finalize()."""
        self.require_not_finalized(f"RemoveJointActuator of '{actuator.name()}'")
        self._require_own(actuator, "RemoveJointActuator")
        self._unregister(actuator, self.elements.actuators)
