"""Matrices and slices between the vectors of a plant and those of a user or of a model instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.core.coordinates import Coordinates
from mbcli.multibody.tree.index import JointIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.tree.index import JointActuatorIndex, ModelInstanceIndex
    from mbcli.multibody.tree.joint_actuator import JointActuator


class Selectors(Coordinates):
    """The part of MultibodyPlant that selects from q, v and u."""

    def MakeStateSelectorMatrix(self, user_to_joint_index_map: Iterable[JointIndex]) -> Matrix:
        """Sx with x_s = Sx x: positions of the listed joints in their order, then their velocities."""
        self.require_finalized("MakeStateSelectorMatrix")
        joints = [self.get_joint(index) for index in user_to_joint_index_map]
        if len(set(joints)) != len(joints):
            repeated = next(joint for k, joint in enumerate(joints) if joint in joints[:k])
            raise RuntimeError(f"MakeStateSelectorMatrix: joint '{repeated.name()}' is listed twice")
        nq = self.num_positions()
        columns = [joint.position_start() + k for joint in joints for k in range(joint.num_positions())]
        columns += [nq + joint.velocity_start() + k for joint in joints for k in range(joint.num_velocities())]
        Sx = np.zeros((len(columns), nq + self.num_velocities()))
        Sx[np.arange(len(columns)), columns] = 1.0
        return Sx

    def MakeStateSelectorMatrixFromJointNames(self, joint_names: Iterable[str]) -> Matrix:
        """MakeStateSelectorMatrix for joints by name."""
        return self.MakeStateSelectorMatrix([self.GetJointByName(name).index() for name in joint_names])

    def MakeActuatorSelectorMatrix(
        self,
        user_to_actuator_index_map: Iterable[JointActuatorIndex] | None = None,
        *,
        user_to_joint_index_map: Iterable[JointIndex] | None = None,
    ) -> Matrix:
        """Su with u = Su u_s, for a list of JointActuatorIndex, or of JointIndex whose joints have actuators."""
        self.require_finalized("MakeActuatorSelectorMatrix")
        given = [each for each in (user_to_actuator_index_map, user_to_joint_index_map) if each is not None]
        if len(given) != 1:
            raise TypeError("MakeActuatorSelectorMatrix takes a list of actuators or one of joints")
        actuators = [self._actuator_for(index) for index in given[0]]
        if len(set(actuators)) != len(actuators):
            raise RuntimeError("MakeActuatorSelectorMatrix: an actuator is listed twice")
        Su = np.zeros((self.num_actuators(), len(actuators)))
        for k, actuator in enumerate(actuators):
            Su[actuator.input_start(), k] = 1.0
        return Su

    def _actuator_for(self, index: JointActuatorIndex | JointIndex) -> JointActuator:
        if not isinstance(index, JointIndex):
            return self.get_joint_actuator(index)
        joint = self.get_joint(index)
        for actuator in self.elements.actuators:
            if actuator.joint() is joint:
                return actuator
        raise RuntimeError(f"MakeActuatorSelectorMatrix: joint '{joint.name()}' has no actuator")

    def MakeActuationMatrix(self) -> Matrix:
        """B (nv, nu): tau_u = B u."""
        self.require_finalized("MakeActuationMatrix")
        B = np.zeros((self.model.sizes["nv"], self.model.sizes["nu"]))
        B[self.model.actuator_dof, np.arange(B.shape[1])] = 1.0
        return B

    def MakeActuationMatrixPseudoinverse(self) -> Any:
        """B+ (nu, nv) as a sparse matrix; u = B+ tau_u exactly if tau_u lies in the range of B."""
        from scipy.sparse import csc_matrix

        return csc_matrix(self.MakeActuationMatrix().T)

    def u_indices(self, model_instance: ModelInstanceIndex | int | None) -> list[int]:
        """Places in u of the actuators of a model instance."""
        self.require_finalized("actuation of a model instance")
        return [actuator.input_start() for actuator in self._of_instance(self.elements.actuators, model_instance)]

    def GetActuationFromArray(self, model_instance: ModelInstanceIndex, u: ArrayLike) -> Vector:
        """The actuation of an instance, by increasing actuator index, from u (nu,)."""
        return self.vector(u, self.num_actuators(), "u")[self.u_indices(model_instance)]

    def SetActuationInArray(self, model_instance: ModelInstanceIndex, u_instance: ArrayLike, u: Vector) -> None:
        """Writes the actuation of an instance into u (nu,); other entries stay."""
        indices = self.u_indices(model_instance)
        self._write(u, self.num_actuators(), "u", indices, u_instance)
