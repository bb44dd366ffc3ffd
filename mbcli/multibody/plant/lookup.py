"""Finding elements by index and by name, and counting them."""

from mbcli.common.suggestions import closest
from mbcli.multibody.tree.index import ModelInstanceIndex, TypeSafeIndex


class Lookup:
    """The part of MultibodyPlant that finds elements."""

    # counts

    def num_bodies(self):
        """World counts."""
        return len(self._bodies)

    def num_frames(self):
        return len(self._frames)

    def num_joints(self):
        return len(self._joints)

    def num_force_elements(self):
        return len(self._force_elements)

    def num_model_instances(self):
        return len(self._instances)

    def num_actuators(self, model_instance=None):
        """Of the plant at any time, of a model instance after Finalize()."""
        if model_instance is not None:
            self._require_finalized("num_actuators of a model instance")
        return len(self._of_instance(self._actuators, model_instance))

    num_actuated_dofs = num_actuators

    def num_positions(self, model_instance=None):
        self._require_finalized("num_positions")
        if model_instance is None:
            return self._model.sizes["nq"]
        return len(self._q_indices(model_instance))

    def num_velocities(self, model_instance=None):
        self._require_finalized("num_velocities")
        if model_instance is None:
            return self._model.sizes["nv"]
        return len(self._v_indices(model_instance))

    def num_multibody_states(self, model_instance=None):
        return self.num_positions(model_instance) + self.num_velocities(model_instance)

    # by index

    def world_body(self):
        return self._bodies[0]

    def world_frame(self):
        return self._frames[0]

    def get_body(self, body_index):
        return self._at(self._bodies, body_index, "body")

    def get_frame(self, frame_index):
        return self._at(self._frames, frame_index, "frame")

    def get_joint(self, joint_index):
        return self._at(self._joints, joint_index, "joint")

    get_mutable_joint = get_joint

    def get_joint_actuator(self, actuator_index):
        return self._at(self._actuators, actuator_index, "actuator")

    get_mutable_joint_actuator = get_joint_actuator

    def get_force_element(self, force_element_index):
        return self._at(self._force_elements, force_element_index, "force element")

    def has_joint(self, joint_index):
        return any(int(joint.index()) == int(joint_index) for joint in self._joints)

    def has_joint_actuator(self, actuator_index):
        return any(int(actuator.index()) == int(actuator_index) for actuator in self._actuators)

    @staticmethod
    def _at(elements, index, kind):
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

    def _named(self, elements, name, model_instance):
        if model_instance is not None:
            self._check_instance(model_instance)
        return [
            e for e in elements if e.name() == name and (model_instance is None or e.model_instance() == model_instance)
        ]

    def _has(self, kind, elements, name, model_instance):
        found = self._named(elements, name, model_instance)
        if len(found) > 1:
            self._raise_ambiguous(kind, name, found)
        return bool(found)

    def _get(self, kind, elements, name, model_instance):
        found = self._named(elements, name, model_instance)
        if len(found) > 1:
            self._raise_ambiguous(kind, name, found)
        if not found:
            where = "" if model_instance is None else f" in '{self.GetModelInstanceName(model_instance)}'"
            raise RuntimeError(f"there is no {kind} named '{name}'{where}" + self._suggest(name, elements))
        return found[0]

    def _raise_ambiguous(self, kind, name, found):
        instances = ", ".join(f"'{self.GetModelInstanceName(e.model_instance())}'" for e in found)
        raise RuntimeError(f"several {kind}s are named '{name}' (in {instances}): name the model instance")

    @staticmethod
    def _suggest(name, elements):
        likely = closest(name, [e.name() for e in elements if e.name()])
        return f"; did you mean '{likely}'?" if likely else ""

    def HasBodyNamed(self, name, model_instance=None):
        return self._has("body", self._bodies, name, model_instance)

    def HasFrameNamed(self, name, model_instance=None):
        return self._has("frame", self._frames, name, model_instance)

    def HasJointNamed(self, name, model_instance=None):
        return self._has("joint", self._joints, name, model_instance)

    def HasJointActuatorNamed(self, name, model_instance=None):
        return self._has("actuator", self._actuators, name, model_instance)

    def GetBodyByName(self, name, model_instance=None):
        return self._get("body", self._bodies, name, model_instance)

    GetRigidBodyByName = GetBodyByName

    def GetFrameByName(self, name, model_instance=None):
        return self._get("frame", self._frames, name, model_instance)

    def GetJointByName(self, name, model_instance=None):
        return self._get("joint", self._joints, name, model_instance)

    GetMutableJointByName = GetJointByName

    def GetJointActuatorByName(self, name, model_instance=None):
        return self._get("actuator", self._actuators, name, model_instance)

    def NumBodiesWithName(self, name):
        return len(self._named(self._bodies, name, None))

    # model instances

    def _check_instance(self, model_instance):
        if isinstance(model_instance, TypeSafeIndex):
            model_instance = ModelInstanceIndex(model_instance)  # TypeError for an index of another kind
        number = int(model_instance)
        if not 0 <= number < len(self._instances):
            raise RuntimeError(f"there is no model instance {number}: the plant has {len(self._instances)}")

    def HasModelInstanceNamed(self, name):
        return name in self._instances

    def GetModelInstanceByName(self, name):
        if name not in self._instances:
            known = ", ".join(f"'{instance}'" for instance in self._instances)
            raise RuntimeError(f"there is no model instance named '{name}'; there are {known}")
        return ModelInstanceIndex(self._instances.index(name))

    def GetModelInstanceName(self, model_instance):
        self._check_instance(model_instance)
        return self._instances[int(model_instance)]

    def _of_instance(self, elements, model_instance):
        if model_instance is None:
            return list(elements)
        self._check_instance(model_instance)
        return [e for e in elements if e.model_instance() == model_instance]

    def GetBodyIndices(self, model_instance):
        return [e.index() for e in self._of_instance(self._bodies, model_instance)]

    def GetFrameIndices(self, model_instance):
        return [e.index() for e in self._of_instance(self._frames, model_instance)]

    def GetJointIndices(self, model_instance=None):
        return [e.index() for e in self._of_instance(self._joints, model_instance)]

    def GetJointActuatorIndices(self, model_instance=None):
        return [e.index() for e in self._of_instance(self._actuators, model_instance)]

    def GetActuatedJointIndices(self, model_instance):
        return [e.joint().index() for e in self._of_instance(self._actuators, model_instance)]

    # topology

    def _free_joint_of(self, body):
        self._require_finalized("queries about free bodies")
        return self._free_joints.get(int(body.index()))
