"""A model and the models nested in it as one list of links and joints under their full names."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from mbcli.parsers.checks.inertia import principal_moments
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.spanning_tree import cut_of, needed_joints
from mbcli.parsers.spec import IDENTITY

from mbcli.common.fast_dataclass import dataclass
from mbcli.common.topology import forest_by_loss

if TYPE_CHECKING:
    from typing import TypeAlias

    from mbcli.parsers.spec import JointSpec, LinkSpec, ModelSpec, SourceLocation

    from mbcli.common.topology import Mobod
    from mbcli.math.array_types import Matrix4, Vector3

    MeshBounds: TypeAlias = dict[str, "MeshExtent"]

WORLD = "world"


class MeshExtent(NamedTuple):
    """Of a mesh file, not scaled."""

    lower: Vector3  # [m] corners of the box around it
    upper: Vector3
    volume: float | None  # [m^3] that it encloses, None of an open surface


@dataclass(frozen=True)
class FlatModel:
    links: dict[str, LinkSpec]  # by full names
    joints: dict[str, JointSpec]  # by full names, as their parents and children
    place: SourceLocation
    static_links: list[str]  # full names of the links of static models: fixed to the world
    needed_joints: set[str]  # full names of the joints whose coordinates actuators, mimic joints and tendons need
    driven_joints: set[str]  # full names of the joints that a rotor's inertia acts on
    mesh_bounds: MeshBounds = field(default_factory=dict)  # path of a mesh file -> its extent, of those opened

    @cached_property
    def forest(self) -> tuple[list[Mobod], list[int], list[str], list[JointSpec]]:
        """Of the plant to be: mobilized bodies, indices of the joints that close loops, names of links, joints."""
        names = [WORLD, *(name for name in self.links if name != WORLD)]
        index = {name: k for k, name in enumerate(names)}
        named = {name: joint for name, joint in self.joints.items() if joint.parent in index and joint.child in index}
        ends = [(index[joint.parent], index[joint.child]) for joint in named.values()]
        mobods, loops = forest_by_loss(
            len(names), ends, lambda: (cut_of(joint, name in self.needed_joints) for name, joint in named.items())
        )
        return mobods, loops, names, list(named.values())

    @cached_property
    def inboard(self) -> dict[str, JointSpec]:
        """{link: the joint of the tree that holds it}; links that float have none."""
        mobods, _, names, joints = self.forest
        return {names[mobod.link]: joints[mobod.joint] for mobod in mobods if mobod.joint is not None}

    @cached_property
    def poses(self) -> dict[str, Matrix4]:
        """{link: X_WL (4, 4) with all coordinates zero}; links that float are where the file puts them."""
        X_W = {WORLD: IDENTITY}
        mobods, _, names, joints = self.forest
        for mobod in mobods:
            link = names[mobod.link]
            if link == WORLD:
                continue
            if mobod.joint is None:
                X_W[link] = self.links[link].X_ModelL
                continue
            joint = joints[mobod.joint]
            X_PC = compose(joint.X_PF, inverse(joint.X_CM))
            X_W[link] = compose(X_W[names[mobod.inboard]], X_PC if joint.child == link else inverse(X_PC))
        return X_W

    @cached_property
    def principal_moments(self) -> dict[str, list[float]]:
        """{full name: ascending principal moments [kg m^2], a list of three} of the links with an inertial."""
        inertias = {name: link.inertial.inertia for name, link in self.links.items() if link.inertial is not None}
        return dict(zip(inertias, principal_moments(list(inertias.values())), strict=True))


def flatten(model: ModelSpec) -> FlatModel:
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
            joints[prefix + joint.name] = _rescoped(joint, prefix) if prefix else joint
        driven.update([prefix + a.joint for a in inner.actuators if a.rotor_inertia * a.gear_ratio != 0])
        needed.update([prefix + name for name in needed_joints(inner)])
        pending += [(nested, f"{prefix}{nested.name}::") for nested in inner.models]
    return FlatModel(links, joints, model.place, static, needed, driven)


def _rescoped(joint: JointSpec, prefix: str) -> JointSpec:
    return replace(joint, parent=_scoped(prefix, joint.parent), child=_scoped(prefix, joint.child))


def _scoped(prefix: str, name: str) -> str:
    return name if name == WORLD else prefix + name
