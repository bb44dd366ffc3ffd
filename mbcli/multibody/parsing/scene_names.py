"""The names that a plant has, and those that models to be added will give it: what directives are checked against."""

import numpy as np

from mbcli.multibody.tree.scoped_name import ScopedName
from mbcli.suggestions import did_you_mean

WORLD = "WorldModelInstance"

NUM_POSITIONS = {
    "fixed": 0,
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "screw": 1,
    "universal": 2,
    "planar": 3,
    "ball": 3,
    "quaternion_floating": 7,
    "rpy_floating": 6,
}


class NotLoaded(LookupError):
    """A name that a file may define which could not be read."""


class SceneNames:
    """Model instances with their frames, bodies and joints, by name; a body is the pair (instance, name).

    Look-ups raise LookupError with a message that says what is there, or NotLoaded.
    """

    def __init__(self, plant):
        self.not_loaded = set()  # instances of models that could not be read; "" for directives
        self.frames = {}  # instance -> {frame name: body}
        self.bodies = {}  # instance -> [body name]
        self._joints = {}  # instance -> {joint name: number of positions}
        self.holders = {}  # body -> name of the joint that it is the child of
        for name in plant._instances:
            self.add_instance(name)
        for frame in plant._frames:
            self.frames[self._instance_of(plant, frame)][frame.name()] = self._body_of(plant, frame.body())
        for body in plant._bodies:
            self.bodies[self._instance_of(plant, body)].append(body.name())
        for joint in plant._joints:
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
        """What `add_model` makes of a ModelSpec; its nested models are named MODEL::NAME in it."""
        for name in _nested_instances(instance, spec):
            self.add_instance(name)
        bodies = {"world": (WORLD, "world")}
        for link in spec.links:
            if link.name != "world":
                where, name = _split(f"{instance}::{link.name}")
                bodies[link.name] = (where, name)
                self.bodies[where].append(name)
                self.frames[where][name] = (where, name)
        if spec.X_LinkModel is not None:
            self.frames[instance]["__model__"] = bodies[spec.X_LinkModel[0]]
        for frame in spec.frames:
            where, name = _split(f"{instance}::{frame.name}")
            self.frames[where][name] = bodies[frame.link]
        for joint in spec.joints:
            where, name = _split(f"{instance}::{joint.name}")
            self.add_joint(where, name, NUM_POSITIONS[joint.type], bodies[joint.child])
            for end, link, X in (("parent", joint.parent, joint.X_PF), ("child", joint.child, joint.X_CM)):
                if not np.array_equal(X, np.eye(4)):
                    self.frames[where].setdefault(f"{name}_{end}", bodies[link])
        if spec.static:
            for body in bodies.values():
                self.holders.setdefault(body, "that makes its model static")

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
            raise LookupError(f'several frames are named "{name}"; say {choices}')
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


def _split(full_name):
    scoped = ScopedName.Parse(full_name)
    return scoped.get_namespace(), scoped.get_element()


def _joined(instance, name):
    return name if instance == WORLD else f"{instance}::{name}"


def _nested_instances(instance, spec):
    """The instance of a model and of every model nested in it, outer ones first."""
    yield instance
    for model in spec.models:
        yield from _nested_instances(f"{instance}::{model.name}", model)


def _hint(name, known, most=8):
    """The likely name, or what there is."""
    names = list(known)
    if not names:
        return "there are none"
    listed = ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
    return did_you_mean(name, names) or f"there {'are' if len(names) > 1 else 'is only'} {listed}"
