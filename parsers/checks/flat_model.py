"""A model and the models nested in it as one list of links and joints under their full names."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from mbcli.common.quick_dataclass import dataclass

if TYPE_CHECKING:
    from mbcli.parsers.spec import JointSpec, LinkSpec

WORLD = "world"


@dataclass(frozen=True)
class FlatModel:
    links: dict  # full name -> LinkSpec
    joints: dict  # full name -> JointSpec, its parent and child by full names
    place: object
    static_links: list  # full names of the links of static models: fixed to the world
    needed_joints: set  # full names of the joints whose coordinates actuators, mimic joints and tendons need
    driven_joints: set  # full names of the joints that a rotor's inertia acts on
    mesh_bounds: dict = field(default_factory=dict)  # path of a mesh file -> (lower, upper) corner, of those opened


def flatten(model):
    """The `FlatModel` of a ModelSpec: elements of a nested model are MODEL::NAME."""
    links: dict[str, LinkSpec] = {}
    joints: dict[str, JointSpec] = {}
    static: list[str] = []
    needed: set[str] = set()
    driven: set[str] = set()
    pending = [(model, "")]
    for inner, prefix in pending:
        links.update((prefix + link.name, link) for link in inner.links if link.name is not None)
        if inner.static:
            static += [prefix + link.name for link in inner.links if link.name is not None]
        for joint in inner.joints:
            ends = {end: _scoped(prefix, getattr(joint, end)) for end in ("parent", "child")}
            joints[prefix + joint.name] = replace(joint, **ends) if prefix else joint
        driven.update(prefix + a.joint for a in inner.actuators if a.rotor_inertia * a.gear_ratio != 0)
        needed.update(prefix + name for name in _needed_joints(inner))
        pending += [(nested, f"{prefix}{nested.name}::") for nested in inner.models]
    return FlatModel(links, joints, model.place, static, needed, driven)


def _needed_joints(model):
    """Names of joints that have to keep their coordinates because other elements of the ModelSpec refer to them."""
    yield from (actuator.joint for actuator in model.actuators)
    for joint in model.joints:
        for axis in joint.axes:
            if axis.mimic is not None:
                yield from (joint.name, axis.mimic.leader)
    for constraint in model.constraints:
        yield from getattr(constraint, "joints", ())


def _scoped(prefix, name):
    return name if name == WORLD else prefix + name
