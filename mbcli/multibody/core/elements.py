"""Adding elements to a plant, before Finalize()."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.core.geometry import Geometry
from mbcli.multibody.core.plant_elements import PlantElements
from mbcli.multibody.inertia.spatial_inertia import SpatialInertia
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
    from mbcli.multibody.deformable.deformable_model import DeformableModel
    from mbcli.multibody.tree.element import MultibodyElement
    from mbcli.multibody.tree.force_element import ForceElement
    from mbcli.multibody.tree.frame import FixedOffsetFrame, Frame
    from mbcli.multibody.tree.index import TypeSafeIndex
    from mbcli.multibody.tree.joint import Joint

    AnyElement = TypeVar("AnyElement", bound=MultibodyElement)
    AnyFrame = TypeVar("AnyFrame", bound=FixedOffsetFrame)
    AnyJoint = TypeVar("AnyJoint", bound=Joint)
    AnyForceElement = TypeVar("AnyForceElement", bound=ForceElement)


class Elements(Geometry):
    """The part of MultibodyPlant that adds elements."""

    def _start_elements(self) -> None:
        self.elements = PlantElements()
        self._deformables: DeformableModel | None = None
        self._next_index: dict[type[TypeSafeIndex], int] = {}
        self._taken_names = set()
        self.AddModelInstance("WorldModelInstance")
        self.AddModelInstance("DefaultModelInstance")
        self._add_body("world", world_model_instance(), None)
        self._gravity = self.AddForceElement(UniformGravityFieldElement())

    def _register(
        self,
        element: AnyElement,
        elements: list[Any],
        index_type: type[TypeSafeIndex],
        model_instance: ModelInstanceIndex,
    ) -> AnyElement:
        if self.model is not None:
            self.require_not_finalized(f"adding {element!r}")
        if element.parent_plant is not None:
            raise RuntimeError(f"{element!r} is part of a plant already")
        k = self._next_index.get(index_type, 0)  # an index is never used again, even after a removal
        self._next_index[index_type] = k + 1
        element.join(self, index_type(k), model_instance)
        elements.append(element)
        self._taken_names.add(element.key())
        return element

    def _unregister(self, element: AnyElement, elements: list[AnyElement]) -> None:
        elements.remove(element)
        self._taken_names.discard(element.key())
        element.parent_plant = None

    def _refuse_duplicate(
        self, kind: str, index_type: type[TypeSafeIndex], name: str, model_instance: ModelInstanceIndex
    ) -> None:
        if self._is_taken(index_type, name, model_instance):
            raise RuntimeError(
                f"model instance '{self.GetModelInstanceName(model_instance)}' already has a {kind} named '{name}'"
            )

    def AddModelInstance(self, name: str) -> ModelInstanceIndex:
        """A new model instance; its name must be new."""
        self.require_not_finalized("AddModelInstance")
        if name in self.elements.instance_names:
            raise RuntimeError(f"there is a model instance named '{name}' already")
        self.elements.instance_names.append(name)
        return ModelInstanceIndex(len(self.elements.instance_names) - 1)

    def RenameModelInstance(self, model_instance: ModelInstanceIndex, name: str) -> None:
        """Gives a model instance another name, before Finalize(). RuntimeError if it is taken."""
        self.require_not_finalized("RenameModelInstance")
        self.check_instance(model_instance)
        if name in self.elements.instance_names and self.elements.instance_names[int(model_instance)] != name:
            raise RuntimeError(f"there is a model instance named '{name}' already")
        self.elements.instance_names[int(model_instance)] = name

    def AddRigidBody(
        self,
        name: str,
        model_instance: ModelInstanceIndex | SpatialInertia | None = None,
        M_BBo_B: SpatialInertia | None = None,
    ) -> RigidBody:
        """A rigid body: AddRigidBody(name, M_BBo_B) or AddRigidBody(name, model_instance, M_BBo_B).

        Without a model instance the body goes to the default one, which is allowed only as long as no other was added.
        """
        if type(model_instance) is ModelInstanceIndex:
            instance = model_instance
        else:
            if M_BBo_B is None:
                model_instance, M_BBo_B = None, model_instance
            if isinstance(model_instance, SpatialInertia):
                raise TypeError(f"body '{name}': expected a ModelInstanceIndex, not {model_instance!r}")
            if model_instance is None and len(self.elements.instance_names) > 2:
                raise RuntimeError(f"body '{name}': name its model instance, the plant has more than the default one")
            instance = default_model_instance() if model_instance is None else ModelInstanceIndex(model_instance)
        self.check_instance(instance)
        return self._add_body(name, instance, M_BBo_B)

    def _add_body(self, name: str, model_instance: ModelInstanceIndex, M_BBo_B: SpatialInertia | None) -> RigidBody:
        self._refuse_duplicate("body", BodyIndex, name, model_instance)
        body = self._register(RigidBody(name, M_BBo_B), self.elements.bodies, BodyIndex, model_instance)
        self._register(body.body_frame(), self.elements.frames, FrameIndex, model_instance)
        self._register_frame_of(body)
        return body

    def AddFrame(self, frame: AnyFrame) -> AnyFrame:
        """Adds a FixedOffsetFrame; returns it."""
        if frame.parent_frame().parent_plant is not self:
            self._require_own(frame.parent_frame(), f"frame '{frame.name()}'")
        if frame.name():
            self._refuse_duplicate("frame", FrameIndex, frame.name(), frame.instance_index)
        return self._register(frame, self.elements.frames, FrameIndex, frame.instance_index)

    def AddJoint(self, joint: AnyJoint) -> AnyJoint:
        """Adds a joint; returns it. It belongs to the model instance of its child's frame."""
        instance = joint.frame_on_child().model_instance()
        for frame in (joint.frame_on_parent(), joint.frame_on_child()):
            if frame.parent_plant is not self:
                self._require_own(frame, f"joint '{joint.name()}'")
        if joint.parent_body() is joint.child_body():
            raise RuntimeError(f"joint '{joint.name()}' connects body '{joint.child_body().name()}' with itself")
        self._refuse_duplicate("joint", JointIndex, joint.name(), instance)
        return self._register(joint, self.elements.joints, JointIndex, instance)

    def WeldFrames(
        self, frame_on_parent_F: Frame, frame_on_child_M: Frame, X_FM: RigidTransform | None = None
    ) -> WeldJoint:
        """Welds M to F at X_FM (identity if not given) by a joint named `F_welds_to_M`."""
        name = f"{frame_on_parent_F.name()}_welds_to_{frame_on_child_M.name()}"
        return self.AddJoint(WeldJoint(name, frame_on_parent_F, frame_on_child_M, X_FM))

    def AddJointActuator(self, name: str, joint: Joint, effort_limit: float = np.inf) -> JointActuator:
        """An actuator for a joint of one degree of freedom; effort_limit [N m or N] is greater than 0."""
        if joint.parent_plant is not self:
            self._require_own(joint, f"actuator '{name}'")
        actuator = JointActuator(name, joint, effort_limit)
        self._refuse_duplicate("actuator", JointActuatorIndex, name, joint.model_instance())
        return self._register(actuator, self.elements.actuators, JointActuatorIndex, joint.model_instance())

    def AddForceElement(self, force_element: AnyForceElement) -> AnyForceElement:
        """Adds a force element; returns it. A plant has exactly one gravity field from the start."""
        if isinstance(force_element, UniformGravityFieldElement) and self.elements.force_elements:
            raise RuntimeError("the plant has a gravity field already: change it through mutable_gravity_field()")
        for part in force_element.tied_elements():
            self._require_own(part, type(force_element).__name__)
        instance = force_element.instance_index
        if instance is None:
            instance = world_model_instance()
        self.check_instance(instance)
        return self._register(force_element, self.elements.force_elements, ForceElementIndex, instance)

    # deformable bodies

    def deformable_model(self) -> DeformableModel:
        """The deformable bodies of the plant."""
        if self._deformables is None:
            from mbcli.multibody.deformable.deformable_model import DeformableModel  # late: few plants have some

            self._deformables = DeformableModel(self.whole_plant())
        return self._deformables

    def mutable_deformable_model(self) -> DeformableModel:
        """The deformable bodies of the plant, to add some. RuntimeError after Finalize()."""
        self.require_not_finalized("mutable_deformable_model")
        return self.deformable_model()
