"""Finding elements by index and by name, and counting them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.suggestions import closest
from mbcli.multibody.core.plant_part import PlantPart
from mbcli.multibody.tree.index import ModelInstanceIndex, TypeSafeIndex

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn, TypeVar

    from mbcli.multibody.tree.element import MultibodyElement, NamedElement
    from mbcli.multibody.tree.force_element import ForceElement
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.index import BodyIndex, ForceElementIndex, FrameIndex, JointActuatorIndex, JointIndex
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.multibody.tree.rigid_body import RigidBody

    AnyElement = TypeVar("AnyElement", bound=MultibodyElement)
    AnyNamed = TypeVar("AnyNamed", bound=NamedElement)


class Lookup(PlantPart):
    """The part of MultibodyPlant that finds elements."""

    _taken_names: set[tuple[Any, ...]]  # MultibodyElement.key() of each

    # counts

    def num_bodies(self) -> int:
        """World counts."""
        return len(self.elements.bodies)

    def num_frames(self) -> int:
        """The number of frames, World's among them."""
        return len(self.elements.frames)

    def num_joints(self) -> int:
        """The number of joints."""
        return len(self.elements.joints)

    def num_force_elements(self) -> int:
        """The number of force elements, the gravity field among them."""
        return len(self.elements.force_elements)

    def num_model_instances(self) -> int:
        """The number of model instances, World's and the default one among them."""
        return len(self.elements.instance_names)

    def num_actuators(self, model_instance: ModelInstanceIndex | None = None) -> int:
        """Of the plant at any time, of a model instance after Finalize()."""
        if model_instance is not None:
            self.require_finalized("num_actuators of a model instance")
        return len(self._of_instance(self.elements.actuators, model_instance))

    num_actuated_dofs = num_actuators

    # by index

    def world_body(self) -> RigidBody:
        """World as a body."""
        return self.elements.bodies[0]

    def world_frame(self) -> Frame:
        """World's frame."""
        return self.elements.frames[0]

    def get_body(self, body_index: BodyIndex) -> RigidBody:
        """The body with an index. RuntimeError if there is none."""
        return self._at(self.elements.bodies, body_index, "body")

    def get_frame(self, frame_index: FrameIndex) -> Frame:
        """The frame with an index. RuntimeError if there is none."""
        return self._at(self.elements.frames, frame_index, "frame")

    def get_joint(self, joint_index: JointIndex) -> Joint:
        """The joint with an index. RuntimeError if there is none."""
        return self._at(self.elements.joints, joint_index, "joint")

    get_mutable_joint = get_joint

    def get_joint_actuator(self, actuator_index: JointActuatorIndex) -> JointActuator:
        """The actuator with an index. RuntimeError if there is none."""
        return self._at(self.elements.actuators, actuator_index, "actuator")

    get_mutable_joint_actuator = get_joint_actuator

    def get_force_element(self, force_element_index: ForceElementIndex) -> ForceElement:
        """The force element with an index. RuntimeError if there is none."""
        return self._at(self.elements.force_elements, force_element_index, "force element")

    def has_joint(self, joint_index: JointIndex) -> bool:
        """Whether there is a joint with this index."""
        return any(int(joint.index()) == int(joint_index) for joint in self.elements.joints)

    def has_joint_actuator(self, actuator_index: JointActuatorIndex) -> bool:
        """Whether there is an actuator with this index."""
        return any(int(actuator.index()) == int(actuator_index) for actuator in self.elements.actuators)

    @staticmethod
    def _at(elements: Sequence[AnyElement], index: TypeSafeIndex | int, kind: str) -> AnyElement:
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

    def _named(
        self, elements: Sequence[AnyNamed], name: str, model_instance: ModelInstanceIndex | None
    ) -> list[AnyNamed]:
        if model_instance is not None:
            self.check_instance(model_instance)
        return [
            e for e in elements if e.name() == name and (model_instance is None or e.model_instance() == model_instance)
        ]

    def _is_taken(self, index_type: type[TypeSafeIndex], name: str, model_instance: ModelInstanceIndex) -> bool:
        number = model_instance.number if isinstance(model_instance, TypeSafeIndex) else int(model_instance)
        return (index_type, number, name) in self._taken_names

    def _has(
        self, kind: str, elements: Sequence[AnyNamed], name: str, model_instance: ModelInstanceIndex | None
    ) -> bool:
        if model_instance is not None and elements:
            self.check_instance(model_instance)
            return self._is_taken(type(elements[0].index()), name, model_instance)
        found = self._named(elements, name, model_instance)
        if len(found) > 1:
            self._raise_ambiguous(kind, name, found)
        return bool(found)

    def _get(
        self, kind: str, elements: Sequence[AnyNamed], name: str, model_instance: ModelInstanceIndex | None
    ) -> AnyNamed:
        found = self._named(elements, name, model_instance)
        if len(found) > 1:
            self._raise_ambiguous(kind, name, found)
        if not found:
            where = "" if model_instance is None else f" in '{self.GetModelInstanceName(model_instance)}'"
            raise RuntimeError(f"there is no {kind} named '{name}'{where}" + self._suggest(name, elements))
        return found[0]

    def _raise_ambiguous(self, kind: str, name: str, found: Sequence[NamedElement]) -> NoReturn:
        instances = ", ".join(f"'{self.GetModelInstanceName(e.model_instance())}'" for e in found)
        raise RuntimeError(f"several {kind}s are named '{name}' (in {instances}): name the model instance")

    @staticmethod
    def _suggest(name: str, elements: Sequence[NamedElement]) -> str:
        likely = closest(name, [e.name() for e in elements if e.name()])
        return f"; did you mean '{likely}'?" if likely else ""

    def HasBodyNamed(self, name: str, model_instance: ModelInstanceIndex | None = None) -> bool:
        """Whether a body has that name, in the plant or in a model instance."""
        return self._has("body", self.elements.bodies, name, model_instance)

    def HasFrameNamed(self, name: str, model_instance: ModelInstanceIndex | None = None) -> bool:
        """Whether a frame has that name, in the plant or in a model instance."""
        return self._has("frame", self.elements.frames, name, model_instance)

    def HasJointNamed(self, name: str, model_instance: ModelInstanceIndex | None = None) -> bool:
        """Whether a joint has that name, in the plant or in a model instance."""
        return self._has("joint", self.elements.joints, name, model_instance)

    def HasJointActuatorNamed(self, name: str, model_instance: ModelInstanceIndex | None = None) -> bool:
        """Whether an actuator has that name, in the plant or in a model instance."""
        return self._has("actuator", self.elements.actuators, name, model_instance)

    def GetBodyByName(self, name: str, model_instance: ModelInstanceIndex | None = None) -> RigidBody:
        """The body of that name. RuntimeError if there is none or, without a model instance, more than one."""
        return self._get("body", self.elements.bodies, name, model_instance)

    GetRigidBodyByName = GetBodyByName

    def GetFrameByName(self, name: str, model_instance: ModelInstanceIndex | None = None) -> Frame:
        """The frame of that name. RuntimeError if there is none or, without a model instance, more than one."""
        return self._get("frame", self.elements.frames, name, model_instance)

    def GetJointByName(self, name: str, model_instance: ModelInstanceIndex | None = None) -> Joint:
        """The joint of that name. RuntimeError if there is none or, without a model instance, more than one."""
        return self._get("joint", self.elements.joints, name, model_instance)

    GetMutableJointByName = GetJointByName

    def GetJointActuatorByName(self, name: str, model_instance: ModelInstanceIndex | None = None) -> JointActuator:
        """The actuator of that name. RuntimeError if there is none or, without a model instance, more than one."""
        return self._get("actuator", self.elements.actuators, name, model_instance)

    def NumBodiesWithName(self, name: str) -> int:
        """The number of bodies of that name in all model instances."""
        return len(self._named(self.elements.bodies, name, None))

    # model instances

    def check_instance(self, model_instance: ModelInstanceIndex | int) -> None:
        """RuntimeError for a model instance that the plant does not have."""
        if isinstance(model_instance, TypeSafeIndex) and type(model_instance) is not ModelInstanceIndex:
            model_instance = ModelInstanceIndex(model_instance)  # TypeError for an index of another kind
        number = int(model_instance)
        if not 0 <= number < len(self.elements.instance_names):
            raise RuntimeError(
                f"there is no model instance {number}: the plant has {len(self.elements.instance_names)}"
            )

    def HasModelInstanceNamed(self, name: str) -> bool:
        """Whether a model instance has that name."""
        return name in self.elements.instance_names

    def GetModelInstanceByName(self, name: str) -> ModelInstanceIndex:
        """The model instance of that name. RuntimeError if there is none."""
        if name not in self.elements.instance_names:
            known = ", ".join(f"'{instance}'" for instance in self.elements.instance_names)
            raise RuntimeError(f"there is no model instance named '{name}'; there are {known}")
        return ModelInstanceIndex(self.elements.instance_names.index(name))

    def GetModelInstanceName(self, model_instance: ModelInstanceIndex) -> str:
        """The name of a model instance."""
        self.check_instance(model_instance)
        return self.elements.instance_names[int(model_instance)]

    def _of_instance(
        self, elements: Sequence[AnyElement], model_instance: ModelInstanceIndex | int | None
    ) -> list[AnyElement]:
        if model_instance is None:
            return list(elements)
        self.check_instance(model_instance)
        return [e for e in elements if e.model_instance() == model_instance]

    def GetBodyIndices(self, model_instance: ModelInstanceIndex) -> list[BodyIndex]:
        """Indices of the bodies of a model instance."""
        return [e.index() for e in self._of_instance(self.elements.bodies, model_instance)]

    def GetFrameIndices(self, model_instance: ModelInstanceIndex) -> list[FrameIndex]:
        """Indices of the frames of a model instance."""
        return [e.index() for e in self._of_instance(self.elements.frames, model_instance)]

    def GetJointIndices(self, model_instance: ModelInstanceIndex | None = None) -> list[JointIndex]:
        """Indices of the joints of the plant or of a model instance."""
        return [e.index() for e in self._of_instance(self.elements.joints, model_instance)]

    def GetJointActuatorIndices(self, model_instance: ModelInstanceIndex | None = None) -> list[JointActuatorIndex]:
        """Indices of the actuators of the plant or of a model instance."""
        return [e.index() for e in self._of_instance(self.elements.actuators, model_instance)]

    def GetActuatedJointIndices(self, model_instance: ModelInstanceIndex) -> list[JointIndex]:
        """Indices of the joints of a model instance that have actuators."""
        return [e.joint().index() for e in self._of_instance(self.elements.actuators, model_instance)]

    # topology

    def free_joint_of(self, body: RigidBody) -> Any:
        """The joint of six degrees of freedom that moves a body; None if there is none."""
        self.require_finalized("queries about free bodies")
        return self.free_joints.get(int(body.index()))
