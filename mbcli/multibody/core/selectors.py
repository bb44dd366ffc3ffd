"""Matrices and slices between the vectors of a plant and those of a user or of a model instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.core.coordinates import num_positions, num_velocities, vector, write_part
from mbcli.multibody.core.lookup import GetJointByName, all_actuators, get_joint, get_joint_actuator, num_actuators
from mbcli.multibody.tree.index import JointIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.index import JointActuatorIndex, ModelInstanceIndex
    from mbcli.multibody.tree.joint_actuator import JointActuator


def MakeStateSelectorMatrix(plant: PlantData, user_to_joint_index_map: Iterable[JointIndex]) -> Matrix:
    """Sx with x_s = Sx x: positions of the listed joints in their order, then their velocities.

    Args:
      user_to_joint_index_map: JointIndex, each once.

    Returns:
      (n, nq + nv) [1], for n positions and velocities of the listed joints.

    Raises:
      RuntimeError: a joint is listed twice; before Finalize().

    Example:
      >>> plant.MakeStateSelectorMatrix([plant.GetJointByName("elbow").index()])
      array([[0., 1., 0., 0.],
             [0., 0., 0., 1.]])
    """
    plant.require_finalized("MakeStateSelectorMatrix")
    joints = [get_joint(plant, index) for index in user_to_joint_index_map]
    if len(set(joints)) != len(joints):
        repeated = next(joint for k, joint in enumerate(joints) if joint in joints[:k])
        raise RuntimeError(f"MakeStateSelectorMatrix: joint '{repeated.name()}' is listed twice")
    nq = num_positions(plant)
    columns = [joint.position_start() + k for joint in joints for k in range(joint.num_positions())]
    columns += [nq + joint.velocity_start() + k for joint in joints for k in range(joint.num_velocities())]
    Sx = np.zeros((len(columns), nq + num_velocities(plant)))
    Sx[np.arange(len(columns)), columns] = 1.0
    return Sx


def MakeStateSelectorMatrixFromJointNames(plant: PlantData, joint_names: Iterable[str]) -> Matrix:
    """MakeStateSelectorMatrix for joints by name, (n, nq + nv) [1]."""
    return MakeStateSelectorMatrix(plant, [GetJointByName(plant, name).index() for name in joint_names])


def MakeActuatorSelectorMatrix(
    plant: PlantData,
    user_to_actuator_index_map: Iterable[JointActuatorIndex] | None = None,
    *,
    user_to_joint_index_map: Iterable[JointIndex] | None = None,
) -> Matrix:
    """Su with u = Su u_s, for a list of JointActuatorIndex, or of JointIndex whose joints have actuators.

    Args:
      user_to_actuator_index_map: of the entries of u_s.
      user_to_joint_index_map: instead of it.

    Returns:
      (nu, n) [1], for n listed actuators.

    Raises:
      RuntimeError: an actuator is listed twice, or a joint has none; before Finalize().
      TypeError: not one of the two lists is given.

    Example:
      >>> plant.MakeActuatorSelectorMatrix([JointActuatorIndex(0)])
      array([[1.]])
    """
    plant.require_finalized("MakeActuatorSelectorMatrix")
    given = [each for each in (user_to_actuator_index_map, user_to_joint_index_map) if each is not None]
    if len(given) != 1:
        raise TypeError("MakeActuatorSelectorMatrix takes a list of actuators or one of joints")
    actuators = [_actuator_for(plant, index) for index in given[0]]
    if len(set(actuators)) != len(actuators):
        raise RuntimeError("MakeActuatorSelectorMatrix: an actuator is listed twice")
    Su = np.zeros((num_actuators(plant), len(actuators)))
    for k, actuator in enumerate(actuators):
        Su[actuator.input_start(), k] = 1.0
    return Su


def _actuator_for(plant: PlantData, index: JointActuatorIndex | JointIndex) -> JointActuator:
    if not isinstance(index, JointIndex):
        return get_joint_actuator(plant, index)
    joint = get_joint(plant, index)
    for actuator in plant.elements.actuators:
        if actuator.joint() is joint:
            return actuator
    raise RuntimeError(f"MakeActuatorSelectorMatrix: joint '{joint.name()}' has no actuator")


def MakeActuationMatrix(plant: PlantData) -> Matrix:
    """B with tau_u = B u. Columns of actuators that act through transmissions are zero: see transmissions_at().

    Returns:
      (nv, nu) [1].

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.MakeActuationMatrix()
      array([[0.],
             [1.]])
    """
    plant.require_finalized("MakeActuationMatrix")
    B = np.zeros((plant.model.sizes["nv"], plant.model.sizes["nu"]))
    B[plant.model.actuator_dof, np.arange(len(plant.model.actuator_dof))] = 1.0
    return B


def MakeActuationMatrixPseudoinverse(plant: PlantData) -> Any:
    """B+ (nu, nv) as a sparse matrix; u = B+ tau_u exactly if tau_u lies in the range of B."""
    from scipy.sparse import csc_matrix

    return csc_matrix(MakeActuationMatrix(plant).T)


def u_indices(plant: PlantData, model_instance: ModelInstanceIndex | int | None) -> list[int]:
    """Places in u of the actuators of a model instance."""
    plant.require_finalized("actuation of a model instance")
    return [actuator.input_start() for actuator in all_actuators(plant, model_instance)]


def GetActuationFromArray(plant: PlantData, model_instance: ModelInstanceIndex, u: ArrayLike) -> Vector:
    """The actuation of an instance, by increasing actuator index.

    Args:
      model_instance: of this plant.
      u: (nu,) [N m or N].

    Returns:
      (n,) [N m or N], for n actuators of the instance.

    Raises:
      RuntimeError: u has another size; there is no such model instance.

    Example:
      >>> plant.GetActuationFromArray(plant.GetModelInstanceByName("double_pendulum"), [2.5])
      array([2.5])
    """
    return vector(u, num_actuators(plant), "u")[u_indices(plant, model_instance)]


def SetActuationInArray(plant: PlantData, model_instance: ModelInstanceIndex, u_instance: ArrayLike, u: Vector) -> None:
    """Writes the actuation of an instance into u (nu,) [N m or N]; other entries stay."""
    indices = u_indices(plant, model_instance)
    write_part(u, num_actuators(plant), "u", indices, u_instance)
