"""Adding elements to a plant, before Finalize()."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.core.geometry import register_frame_of
from mbcli.multibody.core.lookup import GetModelInstanceName, check_instance, is_taken
from mbcli.multibody.inertia.spatial_inertia import SpatialInertia
from mbcli.multibody.tree.frame import FixedOffsetFrame
from mbcli.multibody.tree.index import (
    BodyIndex,
    ForceElementIndex,
    FrameIndex,
    JointActuatorIndex,
    JointIndex,
    ModelInstanceIndex,
    default_model_instance,
    world_model_instance,
)
from mbcli.multibody.tree.joint_actuator import JointActuator
from mbcli.multibody.tree.joints import WeldJoint
from mbcli.multibody.tree.rigid_body import RigidBody
from mbcli.multibody.tree.uniform_gravity import UniformGravityFieldElement

if TYPE_CHECKING:
    from typing import TypeVar

    from mbcli.math.rigid_transform import RigidTransform
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.deformable.deformable_model import DeformableModel
    from mbcli.multibody.tree.element import MultibodyElement
    from mbcli.multibody.tree.force_element import ForceElement
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.index import TypeSafeIndex
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.plugin import Plugin
    from mbcli.multibody.tree.sensor import Sensor
    from mbcli.multibody.tree.transmission_actuator import TransmissionActuator

    AnyElement = TypeVar("AnyElement", bound=MultibodyElement)
    AnyFrame = TypeVar("AnyFrame", bound=FixedOffsetFrame)
    AnyJoint = TypeVar("AnyJoint", bound=Joint)
    AnyForceElement = TypeVar("AnyForceElement", bound=ForceElement)


def add_world(plant: PlantData) -> None:
    """What every plant has: World, its two model instances, gravity."""
    AddModelInstance(plant, "WorldModelInstance")
    AddModelInstance(plant, "DefaultModelInstance")
    add_body(plant, "world", world_model_instance(), None)
    plant.gravity = AddForceElement(plant, UniformGravityFieldElement())


def register(
    plant: PlantData,
    element: AnyElement,
    elements: list[Any],
    index_type: type[TypeSafeIndex],
    model_instance: ModelInstanceIndex,
) -> AnyElement:
    if plant.model is not None:
        plant.require_not_finalized(f"adding {element!r}")
    if element.parent_plant is not None:
        raise RuntimeError(f"{element!r} is part of a plant already")
    k = plant.next_index.get(index_type, 0)  # an index is never used again, even after a removal
    plant.next_index[index_type] = k + 1
    element.join(plant, index_type(k), model_instance)
    elements.append(element)
    plant.taken_names.add(element.key())
    return element


def unregister(plant: PlantData, element: AnyElement, elements: list[AnyElement]) -> None:
    elements.remove(element)
    plant.taken_names.discard(element.key())
    element.parent_plant = None


def _refuse_duplicate(
    plant: PlantData, kind: str, index_type: type[TypeSafeIndex], name: str, model_instance: ModelInstanceIndex
) -> None:
    if is_taken(plant, index_type, name, model_instance):
        raise RuntimeError(
            f"model instance '{GetModelInstanceName(plant, model_instance)}' already has a {kind} named '{name}'"
        )


def AddModelInstance(plant: PlantData, name: str) -> ModelInstanceIndex:
    """A new model instance; its name must be new.

    Args:
      name: of it.

    Returns:
      Its index.

    Raises:
      RuntimeError: there is one of that name; after Finalize().

    Example:
      >>> int(MultibodyPlant(0.0).AddModelInstance("gripper"))
      2
    """
    plant.require_not_finalized("AddModelInstance")
    if name in plant.elements.instance_names:
        raise RuntimeError(f"model instance names must be unique, there is '{name}' already")
    plant.elements.instance_names.append(name)
    return ModelInstanceIndex(len(plant.elements.instance_names) - 1)


def RenameModelInstance(plant: PlantData, model_instance: ModelInstanceIndex, name: str) -> None:
    """Gives a model instance another name, before Finalize(). RuntimeError if it is taken."""
    plant.require_not_finalized("RenameModelInstance")
    check_instance(plant, model_instance)
    if name in plant.elements.instance_names and plant.elements.instance_names[int(model_instance)] != name:
        raise RuntimeError(f"model instance names must be unique, there is '{name}' already")
    plant.elements.instance_names[int(model_instance)] = name


def AddRigidBody(
    plant: PlantData,
    name: str,
    model_instance: ModelInstanceIndex | SpatialInertia | None = None,
    M_BBo_B: SpatialInertia | None = None,
) -> RigidBody:
    """A rigid body: AddRigidBody(name, M_BBo_B) or AddRigidBody(name, model_instance, M_BBo_B).

    Without a model instance the body goes to the default one, which is allowed only as long as no other was added.

    Args:
      name: new in its model instance.
      model_instance: of this plant.
      M_BBo_B: inertia about the body's origin Bo, in its frame B [kg, m, kg m^2]; default: none.

    Returns:
      The RigidBody.

    Raises:
      RuntimeError: the name is there, the model instance is missing; after Finalize().
      TypeError: model_instance is a SpatialInertia, and M_BBo_B is given.

    Example:
      >>> MultibodyPlant(0.0).AddRigidBody("box", SpatialInertia.SolidCubeWithMass(2.0, 0.1)).default_mass()
      2.0
    """
    if type(model_instance) is ModelInstanceIndex:
        instance = model_instance
    else:
        if M_BBo_B is None:
            model_instance, M_BBo_B = None, model_instance
        if isinstance(model_instance, SpatialInertia):
            raise TypeError(f"body '{name}': expected a ModelInstanceIndex, not {model_instance!r}")
        if model_instance is None and len(plant.elements.instance_names) > 2:
            raise RuntimeError(f"body '{name}': name its model instance, the plant has more than the default one")
        instance = default_model_instance() if model_instance is None else ModelInstanceIndex(model_instance)
    check_instance(plant, instance)
    return add_body(plant, name, instance, M_BBo_B)


def add_body(
    plant: PlantData, name: str, model_instance: ModelInstanceIndex, M_BBo_B: SpatialInertia | None
) -> RigidBody:
    _refuse_duplicate(plant, "body", BodyIndex, name, model_instance)
    body = register(plant, RigidBody(name, M_BBo_B), plant.elements.bodies, BodyIndex, model_instance)
    register(plant, body.body_frame(), plant.elements.frames, FrameIndex, model_instance)
    register_frame_of(plant, body)
    return body


def AddFrame(plant: PlantData, frame: AnyFrame) -> AnyFrame:
    """Adds a FixedOffsetFrame; returns it.

    Args:
      frame: on a frame of this plant; its name new in its model instance.

    Returns:
      The frame.

    Raises:
      RuntimeError: its parent is another plant's, the name is there; after Finalize().

    Example:
      >>> box = MultibodyPlant(0.0)
      >>> box.AddFrame(FixedOffsetFrame("shelf", box.world_frame(), RigidTransform([0, 0, 1.2]))).name()
      'shelf'
    """
    if frame.parent_frame().parent_plant is not plant:
        plant.require_own(frame.parent_frame(), f"frame '{frame.name()}'")
    if frame.instance_index is None:  # of a body that was added since
        frame.instance_index = frame.body().model_instance()
    if frame.name():
        _refuse_duplicate(plant, "frame", FrameIndex, frame.name(), frame.instance_index)
    return register(plant, frame, plant.elements.frames, FrameIndex, frame.instance_index)


def AddJoint(
    plant: PlantData,
    joint: AnyJoint | type[AnyJoint],
    name: str | None = None,
    parent: RigidBody | None = None,
    X_PF: RigidTransform | None = None,
    child: RigidBody | None = None,
    X_BM: RigidTransform | None = None,
    *arguments: Any,
    **named: Any,
) -> AnyJoint:
    """Adds a joint; returns it. It belongs to the model instance of its child's frame.

    AddJoint(RevoluteJoint, name, parent, X_PF, child, X_BM, axis, ...) makes the joint, and frames NAME_parent and
    NAME_child where X_PF and X_BM are given: where they are None, the frames are those of the bodies.

    Args:
      joint: a Joint, or its class.
      name: with a class; new in its model instance.
      parent: P.
      X_PF: pose of the frame F on the parent [m]; None: P.
      child: B.
      X_BM: pose of the frame M on the child [m]; None: B.
      arguments: further ones of the class, as axis (3,) [1].
      named: the same by name.

    Returns:
      The joint.

    Raises:
      RuntimeError: a frame is another plant's, a body is connected with itself, the name is there; after
        Finalize().
      TypeError: a joint with a name, or a class without name and bodies.

    Example:
      >>> arm = MultibodyPlant(0.0)
      >>> link = arm.AddRigidBody("link", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
      >>> arm.AddJoint(RevoluteJoint("hinge", arm.world_frame(), link.body_frame(), [0, 0, 1])).name()
      'hinge'
    """
    if isinstance(joint, type):
        if name is None or parent is None or child is None:
            raise TypeError("AddJoint of a type takes a name, a parent, X_PF or None, a child, X_BM or None")
        F, M = (
            body.body_frame()
            if X is None
            else AddFrame(plant, FixedOffsetFrame(f"{name}_{which}", body.body_frame(), X))
            for which, body, X in (("parent", parent, X_PF), ("child", child, X_BM))
        )
        return AddJoint(plant, joint(name, F, M, *arguments, **named))
    if name is not None:
        raise TypeError(f"AddJoint takes a joint alone, or a type with a name and bodies, not {joint!r} with them")
    instance = joint.frame_on_child().model_instance()
    for frame in (joint.frame_on_parent(), joint.frame_on_child()):
        if frame.parent_plant is not plant:
            plant.require_own(frame, f"joint '{joint.name()}'")
    if joint.parent_body() is joint.child_body():
        raise RuntimeError(f"joint '{joint.name()}' connects body '{joint.child_body().name()}' with itself")
    _refuse_duplicate(plant, "joint", JointIndex, joint.name(), instance)
    return register(plant, joint, plant.elements.joints, JointIndex, instance)


def WeldFrames(
    plant: PlantData, frame_on_parent_F: Frame, frame_on_child_M: Frame, X_FM: RigidTransform | None = None
) -> WeldJoint:
    """Welds M to F by a joint named `F_welds_to_M`.

    Args:
      frame_on_parent_F: of this plant.
      frame_on_child_M: of this plant.
      X_FM: pose of M in F [m]; default: identity.

    Returns:
      The WeldJoint.

    Raises:
      RuntimeError: a frame is another plant's, both are of one body, they are welded already; after Finalize().

    Example:
      >>> arm = MultibodyPlant(0.0)
      >>> base = arm.AddRigidBody("base", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
      >>> arm.WeldFrames(arm.world_frame(), base.body_frame(), RigidTransform([0, 0, 0.5])).name()
      'world_welds_to_base'
    """
    name = f"{frame_on_parent_F.name()}_welds_to_{frame_on_child_M.name()}"
    return AddJoint(plant, WeldJoint(name, frame_on_parent_F, frame_on_child_M, X_FM))


def AddJointActuator(plant: PlantData, name: str, joint: Joint, effort_limit: float = np.inf) -> JointActuator:
    """An actuator for a joint of one degree of freedom.

    Args:
      name: new in the model instance of the joint.
      joint: of this plant.
      effort_limit: greater than 0 [N m or N].

    Returns:
      The JointActuator.

    Raises:
      RuntimeError: the joint is another plant's or has another number of freedoms, the limit is not positive, the
        name is there; after Finalize().

    Example:
      >>> arm = MultibodyPlant(0.0)
      >>> link = arm.AddRigidBody("link", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
      >>> hinge = arm.AddJoint(RevoluteJoint("hinge", arm.world_frame(), link.body_frame(), [0, 0, 1]))
      >>> arm.AddJointActuator("motor", hinge, effort_limit=20.0).effort_limit()
      20.0
    """
    if joint.parent_plant is not plant:
        plant.require_own(joint, f"actuator '{name}'")
    actuator = JointActuator(name, joint, effort_limit)
    _refuse_duplicate(plant, "actuator", JointActuatorIndex, name, joint.model_instance())
    return register(plant, actuator, plant.elements.actuators, JointActuatorIndex, joint.model_instance())


def RemoveAllJointActuatorEffortLimits(plant: PlantData) -> None:
    """Every actuator on a joint may act with any effort from now on."""
    for actuator in plant.elements.actuators:
        actuator.set_effort_limit(np.inf)


def add_transmission_actuator(
    plant: PlantData, actuator: TransmissionActuator, model_instance: ModelInstanceIndex
) -> TransmissionActuator:
    """Adds an actuator that acts through a transmission; its input comes after those of actuators on joints."""
    plant.require_not_finalized(f"adding {actuator!r}")
    check_instance(plant, model_instance)
    for part in actuator.tied_elements():
        plant.require_own(part, f"actuator '{actuator.name()}'")
    taken = [a.name() for a in plant.elements.transmission_actuators if a.model_instance() == model_instance]
    if actuator.name() in taken:
        raise RuntimeError(
            f"model instance '{GetModelInstanceName(plant, model_instance)}' already has an actuator named "
            f"'{actuator.name()}'"
        )
    _refuse_duplicate(plant, "actuator", JointActuatorIndex, actuator.name(), model_instance)
    actuator.parent_plant, actuator.instance_index = plant, model_instance
    plant.elements.transmission_actuators.append(actuator)
    return actuator


def add_tendon_spring(
    plant: PlantData, spring: TransmissionActuator, model_instance: ModelInstanceIndex
) -> TransmissionActuator:
    """Adds what acts through a transmission like an actuator and has no input."""
    plant.require_not_finalized(f"adding {spring!r}")
    check_instance(plant, model_instance)
    for part in spring.tied_elements():
        plant.require_own(part, f"the spring '{spring.name()}'")
    spring.parent_plant, spring.instance_index = plant, model_instance
    plant.elements.tendon_springs.append(spring)
    return spring


def AddForceElement(plant: PlantData, force_element: AnyForceElement) -> AnyForceElement:
    """Adds a force element; returns it. A plant has exactly one gravity field from the start.

    Args:
      force_element: of elements of this plant, as a LinearSpringDamper.

    Returns:
      The force element.

    Raises:
      RuntimeError: a second gravity field, an element of another plant; after Finalize().

    Example:
      >>> box = MultibodyPlant(0.0)
      >>> body = box.AddRigidBody("box", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
      >>> spring = LinearSpringDamper(box.world_body(), [0, 0, 1], body, [0, 0, 0], 0.5, 100.0, 1.0)
      >>> box.AddForceElement(spring).stiffness()  # [N/m]
      100.0
    """
    if isinstance(force_element, UniformGravityFieldElement) and plant.elements.force_elements:
        raise RuntimeError("the plant has a gravity field already: change it through mutable_gravity_field()")
    for part in force_element.tied_elements():
        plant.require_own(part, type(force_element).__name__)
    instance = force_element.instance_index
    if instance is None:
        instance = world_model_instance()
    check_instance(plant, instance)
    return register(plant, force_element, plant.elements.force_elements, ForceElementIndex, instance)


# sensors


def add_sensor(plant: PlantData, sensor: Sensor, model_instance: ModelInstanceIndex) -> Sensor:
    """Adds a sensor, which a log has then; returns it."""
    plant.require_not_finalized(f"adding {sensor!r}")
    check_instance(plant, model_instance)
    sensor.parent_plant, sensor.instance_index = plant, model_instance
    plant.elements.sensors.append(sensor)
    return sensor


def add_plugin(plant: PlantData, plugin: Plugin) -> None:
    """Adds a plugin, which acts in runs."""
    plant.require_not_finalized("adding a plugin")
    plant.elements.plugins.append(plugin)


# deformable bodies


def deformable_model(plant: PlantData) -> DeformableModel:
    """The deformable bodies of the plant."""
    if plant.deformables is None:
        from mbcli.multibody.deformable.deformable_model import DeformableModel  # late: few plants have some

        plant.deformables = DeformableModel(plant.whole_plant())
    return plant.deformables


def mutable_deformable_model(plant: PlantData) -> DeformableModel:
    """The deformable bodies of the plant, to add some. RuntimeError after Finalize()."""
    plant.require_not_finalized("mutable_deformable_model")
    return deformable_model(plant)
