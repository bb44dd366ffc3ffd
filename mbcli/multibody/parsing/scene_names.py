"""The names that a plant has, and those that models to be added will give it, for the checks of directives."""

from mbcli.common.suggestions import closest
from mbcli.multibody.parsing.model_instances import instance_of_element, joint_frame_names, model_instances
from mbcli.multibody.tree.joint_kinds import joint_class
from mbcli.multibody.tree.scoped_name import ScopedName
from mbcli.parsers.joint_kinds import JOINT_KINDS

WORLD = "WorldModelInstance"


class NotLoaded(LookupError):
    """A name that a file may define which could not be read."""


class SceneNames:
    """Model instances with their frames, bodies and joints, by name; a body is the pair (instance, name).

    Look-ups raise LookupError with a message that lists the names, or NotLoaded.
    """

    def __init__(self, plant):
        self.not_loaded = set()  # instances of models that could not be read; "" for directives
        self.frames = {}  # instance -> {frame name: body}
        self.bodies = {}  # instance -> [body name]
        self._joints = {}  # instance -> {joint name: number of positions}
        self._ball_joints = plant.settings.ball_joints
        self.holders = {}  # body -> name of the joint that it is the child of
        for name in plant.elements.instance_names:
            self.add_instance(name)
        for frame in plant.elements.frames:
            self.frames[self._instance_of(plant, frame)][frame.name()] = self._body_of(plant, frame.body())
        for body in plant.elements.bodies:
            self.bodies[self._instance_of(plant, body)].append(body.name())
        for joint in plant.elements.joints:
            self.add_joint(
                self._instance_of(plant, joint),
                joint.name(),
                joint.num_positions(),
                self._body_of(plant, joint.child_body()),
            )

    @staticmethod
    def _instance_of(plant, element):
        return plant.GetModelInstanceName(element.model_instance())

    def _body_of(self, plant, body):
        return (self._instance_of(plant, body), body.name())

    # what comes

    def add_instance(self, name):
        self.frames[name], self.bodies[name], self._joints[name] = {}, [], {}

    def add_joint(self, instance, name, num_positions, child):
        self._joints[instance][name] = num_positions
        self.holders.setdefault(child, name)

    def add_model(self, instance, spec):
        """The names that `add_model` makes of a ModelSpec and of those nested in it."""
        for name, _ in model_instances(spec, instance):
            self.add_instance(name)
        self._add_elements(instance, spec)

    def _add_elements(self, instance, spec):
        """Returns its bodies by the names that it knows them by: those of a nested model are MODEL::NAME."""
        bodies = {"world": (WORLD, "world")}
        for inner in spec.models:
            nested = self._add_elements(f"{instance}::{inner.name}", inner)
            bodies.update((f"{inner.name}::{name}", body) for name, body in nested.items() if name != "world")
        for link in spec.links:
            if link.name != "world":
                bodies[link.name] = self.frames[instance][link.name] = (instance, link.name)
                self.bodies[instance].append(link.name)
        if spec.X_LinkModel is not None:
            self.frames[instance]["__model__"] = bodies[spec.X_LinkModel[0]]
        for frame in spec.frames:
            body = bodies[frame.link]
            owner = instance_of_element(_instance_of(body, instance), instance, [frame.name], self._has_frame)
            self.frames[owner][frame.name] = body
        frame_names = joint_frame_names(spec)
        for joint in spec.joints:
            child = bodies[joint.child]
            names = {end: frame_names.get((joint.name, end)) for end in ("parent", "child")}
            where = instance_of_element(_instance_of(child, instance), instance, [joint.name], self._has_joint)
            where = instance_of_element(where, instance, filter(None, names.values()), self._has_frame)
            self.add_joint(where, joint.name, self._size(joint), child)
            for end, link in (("parent", joint.parent), ("child", joint.child)):
                if names[end]:
                    self.frames[where].setdefault(names[end], bodies[link])
        if spec.static:
            for name, body in bodies.items():
                if "::" not in name:
                    self.holders.setdefault(body, "that makes its model static")
        return bodies

    def _size(self, joint):
        return joint_class(joint.kind.type_in_plants(self._ball_joints)).kinematics.NUM_POSITIONS

    def _has_frame(self, name, instance):
        return name in self.frames[instance]

    def _has_joint(self, name, instance):
        return name in self._joints[instance]

    # look-ups

    def frame(self, full_name):
        """(instance, name) of a frame; without a scope its name must be the only one of its kind."""
        instance, name = _split(full_name)
        if instance:
            self.require_instance(instance)
            if name not in self.frames[instance]:
                self._check_loaded(instance)
                hint = _hint(name, self.frames[instance])
                raise LookupError(f'there is no frame "{name}" in model instance "{instance}"; {hint}')
            return instance, name
        found = [where for where, frames in self.frames.items() if name in frames]
        if not found:
            self._check_loaded()
            everything = [_joined(where, known) for where, frames in self.frames.items() for known in frames]
            hint = _hint(full_name, everything)
            raise LookupError(f'there is no frame "{full_name}"; {hint}')
        if len(found) > 1:
            choices = " or ".join(_joined(where, name) for where in found)
            raise LookupError(f'several frames are named "{name}"; use {choices}')
        return found[0], name

    def body_of(self, frame):
        """The body of a frame that frame() gave."""
        return self.frames[frame[0]][frame[1]]

    def body(self, full_name):
        """(instance, name) of a body, found as frame() finds frames."""
        found = self.frame(full_name)
        if found[1] not in self.bodies[found[0]]:
            raise LookupError(f'"{full_name}" is a frame of body "{self.body_of(found)[1]}", not a body')
        return found

    def joint(self, full_name):
        """(instance, name) of a joint, found as frame() finds frames."""
        instance, name = _split(full_name)
        if instance:
            self.num_positions(self.require_instance(instance), name)
            return instance, name
        found = [where for where, joints in self._joints.items() if name in joints]
        if not found:
            self._check_loaded()
            everything = [_joined(where, known) for where, joints in self._joints.items() for known in joints]
            raise LookupError(f'there is no joint "{full_name}"; {_hint(full_name, everything)}')
        if len(found) > 1:
            choices = " or ".join(_joined(where, name) for where in found)
            raise LookupError(f'several joints are named "{name}"; use {choices}')
        return found[0], name

    def num_positions(self, instance, joint):
        joints = self._joints[instance]
        if joint not in joints:
            self._check_loaded(instance)
            hint = _hint(joint, joints)
            raise LookupError(f'there is no joint "{joint}" in model instance "{instance}"; {hint}')
        return joints[joint]

    def has_joint(self, instance, name):
        return name in self._joints[instance]

    def require_instance(self, name):
        """The name of a model instance that is there."""
        if name not in self.frames:
            self._check_loaded()
            hint = _hint(name, list(self.frames)[2:])
            raise LookupError(f'there is no model instance "{name}"; {hint}')
        return name

    def _check_loaded(self, instance=None):
        """NotLoaded if what is missing in an instance, or anywhere, may be in a file that could not be read."""
        if self.not_loaded if instance is None else instance in self.not_loaded:
            raise NotLoaded


def takes(size, count):
    """Whether a joint with so many positions takes so many numbers; a quaternion takes roll, pitch, yaw too."""
    return count == size or (size, count) == (JOINT_KINDS["ball"].num_positions, 3)


def _split(full_name):
    scoped = ScopedName.Parse(full_name)
    return scoped.get_namespace(), scoped.get_element()


def _joined(instance, name):
    return name if instance == WORLD else f"{instance}::{name}"


def _instance_of(body, instance):
    """The model instance of an element that is fixed to a body: the body's, in place of the world's the given one."""
    return instance if body[0] == WORLD else body[0]


def _hint(name, known, most=8):
    """The likely name, or the names that there are."""
    names = list(known)
    if not names:
        return "there are none"
    listed = ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
    likely = closest(name, names) or closest(name, elements := {known.rpartition("::")[2]: known for known in names})
    if likely:
        return f'did you mean "{likely if likely in names else elements[likely]}"?'
    return f"there {'are' if len(names) > 1 else 'is only'} {listed}"
