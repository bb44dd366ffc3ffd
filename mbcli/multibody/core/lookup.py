"""Finding elements by index and by name, and counting them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.suggestions import closest
from mbcli.multibody.tree.index import ModelInstanceIndex, TypeSafeIndex

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn, TypeVar

    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.element import MultibodyElement, NamedElement
    from mbcli.multibody.tree.force_element import ForceElement
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.index import BodyIndex, ForceElementIndex, FrameIndex, JointActuatorIndex, JointIndex
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.multibody.tree.transmission_actuator import TransmissionActuator

    AnyElement = TypeVar("AnyElement", bound=MultibodyElement)
    AnyNamed = TypeVar("AnyNamed", bound=NamedElement)


# counts


def num_bodies(plant: PlantData) -> int:
    """World counts."""
    return len(plant.elements.bodies)


def num_frames(plant: PlantData) -> int:
    """The number of frames, World's among them."""
    return len(plant.elements.frames)


def num_joints(plant: PlantData) -> int:
    """The number of joints."""
    return len(plant.elements.joints)


def num_force_elements(plant: PlantData) -> int:
    """The number of force elements, the gravity field among them."""
    return len(plant.elements.force_elements)


def num_model_instances(plant: PlantData) -> int:
    """The number of model instances, World's and the default one among them.

    Returns:
      2 or more.

    Example:
      >>> plant.num_model_instances()
      3
    """
    return len(plant.elements.instance_names)


def num_actuators(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> int:
    """Of the plant at any time, of a model instance after Finalize(); with those that act through transmissions.

    Args:
      model_instance: default: the whole plant.

    Returns:
      nu, the size of u.

    Raises:
      RuntimeError: of a model instance before Finalize().

    Example:
      >>> plant.num_actuators(), robot.num_actuators()
      (1, 12)
    """
    if model_instance is not None:
        plant.require_finalized("num_actuators of a model instance")
    return len(all_actuators(plant, model_instance))


def all_actuators(
    plant: PlantData, model_instance: ModelInstanceIndex | int | None = None
) -> list[JointActuator | TransmissionActuator]:
    """In the order of u: those on joints, then those that act through transmissions."""
    own: list[Any] = of_instance(plant, plant.elements.actuators, model_instance)
    return own + of_instance(plant, plant.elements.transmission_actuators, model_instance)


# by index


def world_body(plant: PlantData) -> RigidBody:
    """World as a body, whose frame is W.

    Returns:
      The RigidBody with index 0.

    Example:
      >>> plant.world_body().name()
      'world'
    """
    return plant.elements.bodies[0]


def world_frame(plant: PlantData) -> Frame:
    """World's frame W, in which gravity points along -z unless it is set otherwise.

    Returns:
      The Frame with index 0.

    Example:
      >>> plant.world_frame().name()
      'world'
    """
    return plant.elements.frames[0]


def get_body(plant: PlantData, body_index: BodyIndex) -> RigidBody:
    """The body with an index.

    Args:
      body_index: 0 is World.

    Returns:
      The RigidBody.

    Raises:
      RuntimeError: there is none.

    Example:
      >>> plant.get_body(BodyIndex(1)).name()
      'upper'
    """
    return element_at(plant.elements.bodies, body_index, "body")


def get_frame(plant: PlantData, frame_index: FrameIndex) -> Frame:
    """The frame with an index. RuntimeError if there is none."""
    return element_at(plant.elements.frames, frame_index, "frame")


def get_joint(plant: PlantData, joint_index: JointIndex) -> Joint:
    """The joint with an index.

    Args:
      joint_index: from 0, in the order of adding.

    Returns:
      The Joint, of its own class.

    Raises:
      RuntimeError: there is none.

    Example:
      >>> plant.get_joint(JointIndex(1)).name()
      'elbow'
    """
    return element_at(plant.elements.joints, joint_index, "joint")


def get_joint_actuator(plant: PlantData, actuator_index: JointActuatorIndex) -> JointActuator:
    """The actuator with an index. RuntimeError if there is none."""
    return element_at(plant.elements.actuators, actuator_index, "actuator")


def get_force_element(plant: PlantData, force_element_index: ForceElementIndex) -> ForceElement:
    """The force element with an index. RuntimeError if there is none."""
    return element_at(plant.elements.force_elements, force_element_index, "force element")


def has_joint(plant: PlantData, joint_index: JointIndex) -> bool:
    """Whether there is a joint with this index."""
    return any(int(joint.index()) == int(joint_index) for joint in plant.elements.joints)


def has_joint_actuator(plant: PlantData, actuator_index: JointActuatorIndex) -> bool:
    """Whether there is an actuator with this index."""
    return any(int(actuator.index()) == int(actuator_index) for actuator in plant.elements.actuators)


def element_at(elements: Sequence[AnyElement], index: TypeSafeIndex | int, kind: str) -> AnyElement:
    if elements and isinstance(index, TypeSafeIndex):
        index = type(elements[0].index())(index)  # TypeError for the index of another kind
    k = int(index)
    if 0 <= k < len(elements) and int(elements[k].index()) == k:
        return elements[k]
    for element in elements:  # after a removal, indices run ahead of places
        if int(element.index()) == k:
            return element
    raise RuntimeError(f"there is no {kind} with index {k}: the plant has {len(elements)}")


# by name


def elements_named(
    plant: PlantData, elements: Sequence[AnyNamed], name: str, model_instance: ModelInstanceIndex | None
) -> list[AnyNamed]:
    if model_instance is not None:
        check_instance(plant, model_instance)
    return [
        e for e in elements if e.name() == name and (model_instance is None or e.model_instance() == model_instance)
    ]


def is_taken(plant: PlantData, index_type: type[TypeSafeIndex], name: str, model_instance: ModelInstanceIndex) -> bool:
    number = model_instance.number if isinstance(model_instance, TypeSafeIndex) else int(model_instance)
    return (index_type, number, name) in plant.taken_names


def _has(
    plant: PlantData, kind: str, elements: Sequence[AnyNamed], name: str, model_instance: ModelInstanceIndex | None
) -> bool:
    if model_instance is not None and elements:
        check_instance(plant, model_instance)
        return is_taken(plant, type(elements[0].index()), name, model_instance)
    found = elements_named(plant, elements, name, model_instance)
    if len(found) > 1:
        _raise_ambiguous(plant, kind, name, found)
    return bool(found)


def element_named(
    plant: PlantData, kind: str, elements: Sequence[AnyNamed], name: str, model_instance: ModelInstanceIndex | None
) -> AnyNamed:
    found = elements_named(plant, elements, name, model_instance)
    if len(found) > 1:
        _raise_ambiguous(plant, kind, name, found)
    if not found:
        where = "" if model_instance is None else f" in '{GetModelInstanceName(plant, model_instance)}'"
        raise RuntimeError(f"there is no {kind} named '{name}'{where}" + _suggest(name, elements))
    return found[0]


def _raise_ambiguous(plant: PlantData, kind: str, name: str, found: Sequence[NamedElement]) -> NoReturn:
    instances = ", ".join(f"'{GetModelInstanceName(plant, e.model_instance())}'" for e in found)
    raise RuntimeError(f"several {kind}s are named '{name}' (in {instances}): name the model instance")


def _suggest(name: str, elements: Sequence[NamedElement]) -> str:
    likely = closest(name, [e.name() for e in elements if e.name()])
    return f"; did you mean '{likely}'?" if likely else ""


def HasBodyNamed(plant: PlantData, name: str, model_instance: ModelInstanceIndex | None = None) -> bool:
    """Whether a body has that name, in the plant or in a model instance."""
    return _has(plant, "body", plant.elements.bodies, name, model_instance)


def HasFrameNamed(plant: PlantData, name: str, model_instance: ModelInstanceIndex | None = None) -> bool:
    """Whether a frame has that name, in the plant or in a model instance."""
    return _has(plant, "frame", plant.elements.frames, name, model_instance)


def HasJointNamed(plant: PlantData, name: str, model_instance: ModelInstanceIndex | None = None) -> bool:
    """Whether a joint has that name, in the plant or in a model instance."""
    return _has(plant, "joint", plant.elements.joints, name, model_instance)


def HasJointActuatorNamed(plant: PlantData, name: str, model_instance: ModelInstanceIndex | None = None) -> bool:
    """Whether an actuator has that name, in the plant or in a model instance."""
    return _has(plant, "actuator", plant.elements.actuators, name, model_instance)


def GetBodyByName(plant: PlantData, name: str, model_instance: ModelInstanceIndex | None = None) -> RigidBody:
    """The body of that name.

    Args:
      name: without the name of the instance.
      model_instance: where the name is looked for; default: the whole plant.

    Returns:
      The RigidBody.

    Raises:
      RuntimeError: there is none or, without a model instance, more than one.

    Example:
      >>> plant.GetBodyByName("lower").default_mass()
      0.6
    """
    return element_named(plant, "body", plant.elements.bodies, name, model_instance)


def GetFrameByName(plant: PlantData, name: str, model_instance: ModelInstanceIndex | None = None) -> Frame:
    """The frame of that name; every body has a frame of its own name.

    Args:
      name: without the name of the instance.
      model_instance: where the name is looked for; default: the whole plant.

    Returns:
      The Frame.

    Raises:
      RuntimeError: there is none or, without a model instance, more than one.

    Example:
      >>> plant.GetFrameByName("lower")
      <RigidBodyFrame name='lower' index=2 model_instance=2>
    """
    return element_named(plant, "frame", plant.elements.frames, name, model_instance)


def GetJointByName(plant: PlantData, name: str, model_instance: ModelInstanceIndex | None = None) -> Joint:
    """The joint of that name.

    Args:
      name: without the name of the instance.
      model_instance: where the name is looked for; default: the whole plant.

    Returns:
      The Joint, of its own class.

    Raises:
      RuntimeError: there is none or, without a model instance, more than one.

    Example:
      >>> plant.GetJointByName("elbow").position_start()
      1
    """
    return element_named(plant, "joint", plant.elements.joints, name, model_instance)


def GetJointActuatorByName(
    plant: PlantData, name: str, model_instance: ModelInstanceIndex | None = None
) -> JointActuator:
    """The actuator of that name.

    Args:
      name: without the name of the instance.
      model_instance: where the name is looked for; default: the whole plant.

    Returns:
      The JointActuator.

    Raises:
      RuntimeError: there is none or, without a model instance, more than one.

    Example:
      >>> plant.GetJointActuatorByName("elbow").effort_limit()  # [N m]
      10.0
    """
    return element_named(plant, "actuator", plant.elements.actuators, name, model_instance)


def NumBodiesWithName(plant: PlantData, name: str) -> int:
    """The number of bodies of that name in all model instances."""
    return len(elements_named(plant, plant.elements.bodies, name, None))


# model instances


def check_instance(plant: PlantData, model_instance: ModelInstanceIndex | int) -> None:
    """RuntimeError for a model instance that the plant does not have."""
    if isinstance(model_instance, TypeSafeIndex) and type(model_instance) is not ModelInstanceIndex:
        model_instance = ModelInstanceIndex(model_instance)  # TypeError for an index of another kind
    number = int(model_instance)
    if not 0 <= number < len(plant.elements.instance_names):
        raise RuntimeError(f"there is no model instance {number}: the plant has {len(plant.elements.instance_names)}")


def HasModelInstanceNamed(plant: PlantData, name: str) -> bool:
    """Whether a model instance has that name.

    Args:
      name: as GetModelInstanceByName() takes it.

    Returns:
      True or False.

    Example:
      >>> plant.HasModelInstanceNamed("double_pendulum"), plant.HasModelInstanceNamed("gripper")
      (True, False)
    """
    return name in plant.elements.instance_names


def GetModelInstanceByName(plant: PlantData, name: str) -> ModelInstanceIndex:
    """The model instance of that name.

    Args:
      name: of a file's model, or as it was added.

    Returns:
      Its index.

    Raises:
      RuntimeError: there is none; the message lists all names.

    Example:
      >>> int(plant.GetModelInstanceByName("double_pendulum"))  # after World's and the default one
      2
    """
    if name not in plant.elements.instance_names:
        known = ", ".join(f"'{instance}'" for instance in plant.elements.instance_names)
        raise RuntimeError(f"there is no model instance named '{name}'; there are {known}")
    return ModelInstanceIndex(plant.elements.instance_names.index(name))


def GetModelInstanceName(plant: PlantData, model_instance: ModelInstanceIndex) -> str:
    """The name of a model instance."""
    check_instance(plant, model_instance)
    return plant.elements.instance_names[int(model_instance)]


def of_instance(
    plant: PlantData, elements: Sequence[AnyElement], model_instance: ModelInstanceIndex | int | None
) -> list[AnyElement]:
    if model_instance is None:
        return list(elements)
    check_instance(plant, model_instance)
    return [e for e in elements if e.model_instance() == model_instance]


def GetBodyIndices(plant: PlantData, model_instance: ModelInstanceIndex) -> list[BodyIndex]:
    """Indices of the bodies of a model instance.

    Args:
      model_instance: of this plant.

    Returns:
      In increasing order.

    Raises:
      RuntimeError: there is no such model instance.

    Example:
      >>> [plant.get_body(k).name() for k in plant.GetBodyIndices(plant.GetModelInstanceByName("double_pendulum"))]
      ['upper', 'lower']
    """
    return [e.index() for e in of_instance(plant, plant.elements.bodies, model_instance)]


def GetFrameIndices(plant: PlantData, model_instance: ModelInstanceIndex) -> list[FrameIndex]:
    """Indices of the frames of a model instance."""
    return [e.index() for e in of_instance(plant, plant.elements.frames, model_instance)]


def GetJointIndices(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> list[JointIndex]:
    """Indices of the joints of the plant or of a model instance.

    Args:
      model_instance: default: the whole plant.

    Returns:
      In increasing order; after Finalize() with the floating joints that it adds.

    Raises:
      RuntimeError: there is no such model instance.

    Example:
      >>> [plant.get_joint(k).name() for k in plant.GetJointIndices()]
      ['shoulder', 'elbow']
    """
    return [e.index() for e in of_instance(plant, plant.elements.joints, model_instance)]


def GetJointActuatorIndices(
    plant: PlantData, model_instance: ModelInstanceIndex | None = None
) -> list[JointActuatorIndex]:
    """Indices of the actuators of the plant or of a model instance."""
    return [e.index() for e in of_instance(plant, plant.elements.actuators, model_instance)]


def GetActuatedJointIndices(plant: PlantData, model_instance: ModelInstanceIndex) -> list[JointIndex]:
    """Indices of the joints of a model instance that have actuators."""
    return [e.joint().index() for e in of_instance(plant, plant.elements.actuators, model_instance)]


# topology


def free_joint_of(plant: PlantData, body: RigidBody) -> Any:
    """The joint of six degrees of freedom that moves a body; None if there is none."""
    plant.require_finalized("queries about free bodies")
    return plant.free_joints.get(int(body.index()))
