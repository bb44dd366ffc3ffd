"""A flat `ModelSpec` as an MJCF document.

The model must be one that `arranged_for_mjcf` made. Angles are radians, rotations roll, pitch, yaw about fixed axes, as
in URDF, so that the numbers of the source stay.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from lxml import etree
from mbcli.parsers.diagnostics import printable
from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.joint_kinds import FREE, HINGE, SLIDE
from mbcli.parsers.poses import compose, inverse, rotation_about
from mbcli.parsers.proximity_properties import SOFTNESS
from mbcli.parsers.spec import (
    IDENTITY,
    AxisSpec,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    JointSpec,
    Mesh,
    MimicSpec,
    Sphere,
    pose,
)
from mbcli.parsers.writing.arrange_mjcf import principal_moments, reference_motion
from mbcli.parsers.writing.format_capabilities import EARTH
from mbcli.parsers.writing.mjcf_actuators import add_actuators
from mbcli.parsers.writing.mjcf_chains import carried_through, end_of, names_as_read
from mbcli.parsers.writing.mjcf_classes import share_classes
from mbcli.parsers.writing.mjcf_filters import excluded_pairs
from mbcli.parsers.writing.mjcf_keyframes import add_keyframes
from mbcli.parsers.writing.mjcf_relations import add_relations
from mbcli.parsers.writing.mjcf_sensors import add_sensors, magnetic_field, sensors_as_read, site_shapes
from mbcli.parsers.writing.mjcf_transmissions import TransmissionWriter
from mbcli.parsers.writing.simple_joints import Part, parts_of
from mbcli.parsers.writing.target import Document
from mbcli.parsers.writing.write_xml import add, numbers, start, tidy, xyz_rpy

from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from mbcli.parsers.spec import ConstraintSpec, GeometrySpec, InertialSpec, LinkSpec, ModelSpec, Shape
    from mbcli.parsers.xml_document import XmlElement

    from mbcli.math.array_types import Matrix

VISUAL, COLLISION, BOTH, FRAME = "visual", "collision", "both", "frame"  # roles of geoms, default classes
WRAPPED = "wrapped"  # class of solids that tendons wrap, which are neither
_CLASSES = {
    VISUAL: {"geom": {"group": "2", "contype": "0", "conaffinity": "0"}},
    COLLISION: {"geom": {"group": "3"}},
    FRAME: {"site": {"group": "4"}},
    WRAPPED: {"geom": {"group": "4", "contype": "0", "conaffinity": "0"}},
}
FRICTION = (1.0, 0.005, 0.0001)  # of MuJoCo's geoms
_CONTACT = {"contype": 1, "conaffinity": 1, "condim": 3, "priority": 0, "margin": 0.0}  # and their defaults
MOST_NESTED = 496  # bodies in each other: the XML reader of MuJoCo takes no elements that are nested deeper than that
LEAST_OF_FULL = 1e-12  # [kg m^2] of a principal moment in a fullinertia, where MuJoCo refuses 1e-14


def write_mjcf(spec: ModelSpec, loops: Container[str] = ()) -> Document:
    """The `Document`."""
    return _Writer(spec).document()


@dataclass
class _Writer:
    spec: Any
    parts: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    order: list[tuple[str, str, Part | None]] = field(default_factory=list)  # (joint, link, Part) as qpos has them
    through: dict[str, str] = field(default_factory=dict)  # links that are left out, see mjcf_chains
    unnamed: dict[str, str] = field(default_factory=dict)  # joint that has no name, or none of its own: its link
    meshes: dict[tuple[str, tuple[float, ...]], str] = field(default_factory=dict)  # (file, scale): its name
    mesh_names: set[str] = field(default_factory=set)
    materials: dict[tuple[float, ...], str] = field(default_factory=dict)
    transmissions: Any = None  # TransmissionWriter
    at_rest: frozenset[str] = frozenset()  # joints whose springref says where a spring of a tendon is at rest

    def document(self) -> Document:
        spec = self.spec
        self.parts, self.transmissions = parts_of(spec.joints), TransmissionWriter(spec)
        self.at_rest = frozenset(name for spring in spec.tendon_springs for name in spring.joints)
        self.through = carried_through(spec)
        root = start("mujoco", {"model": spec.name})
        source = printable(os.path.basename(spec.place.file)).replace("--", "-_")
        root.append(etree.Comment(f" {source} by mbcli convert: metres, kilograms, radians "))
        add(root, "compiler", angle="radian", eulerseq="XYZ", inertiafromgeom="false")
        pairs, parents_apart = excluded_pairs(spec)
        self._add_options(root, parents_apart)
        default, asset = etree.SubElement(root, "default"), etree.SubElement(root, "asset")
        for name, values in _CLASSES.items():
            for tag, attributes in values.items():
                add(add(default, "default", **{"class": name}), tag, **attributes)
        self._add_bodies(etree.SubElement(root, "worldbody"), asset)
        self._add_contact(root, pairs)
        constraints = add_relations(root, spec, self.parts)
        add_actuators(root, spec)
        self.transmissions.add_to(root)
        add_sensors(root, spec, self.parts)
        add_keyframes(root, spec, self.order)
        share_classes(root, default)
        _drop_unused_classes(root, default)
        for section in (default, asset):
            if len(section) == 0:
                root.remove(section)
        return Document(root, self._expected(constraints), self.parts, self._renamed(), self.unnamed)

    def _renamed(self) -> dict[str, tuple[str, Matrix]]:
        poses = {link.name: link.X_ModelL for link in self.spec.links}
        return {
            link: (name, compose(inverse(poses[end_of(link, self.through)]), poses[link]))
            for link, name in names_as_read(self.spec, self.through).items()
        }

    def _add_options(self, root: XmlElement, parents_apart: bool) -> None:
        gravity = self.spec.gravity
        gravity = None if gravity is None or tuple(gravity) == EARTH else tuple(gravity)
        magnetic = magnetic_field(self.spec)
        ratio = _impratio(self.spec)
        if gravity is None and magnetic is None and parents_apart and ratio == -1.0:
            return
        option = add(root, "option", gravity=gravity, magnetic=magnetic)
        if ratio > 0.0:
            option.set("cone", "elliptic")
        if abs(ratio) != 1.0:
            option.set("impratio", numbers(abs(ratio)))
        if not parents_apart:
            add(option, "flag", filterparent="disable")

    # ---------------------------------------------------------------------------------------- bodies

    def _add_bodies(self, worldbody: XmlElement, asset: XmlElement) -> None:
        spec, links = self.spec, {link.name: link for link in self.spec.links}
        holder = {joint.child: joint for joint in spec.joints}
        carried, sites, shapes = defaultdict(list), defaultdict(list), site_shapes(spec)
        for joint in spec.joints:
            carried[joint.parent].append(joint.child)
        carried[WORLD] += [link.name for link in spec.links if link.name != WORLD and link.name not in holder]
        for frame in spec.frames:
            sites[frame.link].append(frame)
        names = {part.name for parts in self.parts.values() for part in parts}
        pending = [(WORLD, worldbody, 0)]
        while pending:
            name, node, depth = pending.pop()
            if depth > MOST_NESTED:
                raise ModelError(
                    f"{links[name].place}: error: link '{name}' hangs on {depth - 1} others: MuJoCo reads no MJCF "
                    f"file with more than {MOST_NESTED} bodies in each other"
                )
            if name != WORLD:
                chain = [holder[name]] if name in holder else []
                while chain and chain[0].parent in self.through:
                    chain.insert(0, holder[chain[0].parent])
                node = self._add_body(node, links, links[name], chain, names)
            elif any(isinstance(visual.shape, HalfSpace) for visual in getattr(links.get(WORLD), "visuals", ())):
                add(node, "light", pos="0 0 4", dir="0 0 -1", directional="true")
            for frame in sites[name]:
                shape = shapes.get(frame.name, {})
                add(node, "site", **{"class": FRAME}, name=frame.name, **shape, **_place(frame.X_LF))
            for solid, part in self.transmissions.solids[name]:
                size = part.size if part.kind == "sphere" else (part.size, part.size)
                solid_class = {"class": WRAPPED}
                add(node, "geom", **solid_class, name=solid, type=part.kind, size=size, **_place(part.X_LP))
            if name in links:
                self._add_geoms(node, links[name], asset)
            pending += [(end_of(child, self.through), node, depth + 1) for child in reversed(carried[name])]

    def _add_body(
        self,
        parent: XmlElement,
        links: Mapping[str, LinkSpec],
        link: LinkSpec,
        chain: Sequence[JointSpec],
        names: set[str],
    ) -> XmlElement:
        joint = chain[0] if chain else None
        if joint is None or joint.kind.is_floating:
            place = _place(link.X_ModelL)
        elif len(chain) > 1:
            X_WP = IDENTITY if joint.parent == WORLD else links[joint.parent].X_ModelL
            place = _place(compose(inverse(X_WP), link.X_ModelL), computed=True)
        elif np.array_equal(joint.X_CM, IDENTITY) and reference_motion(joint) is IDENTITY:
            place = _place(joint.X_PF)
        else:
            place = _place(compose(compose(joint.X_PF, reference_motion(joint)), inverse(joint.X_CM)), computed=True)
        node = add(parent, "body", name=link.name, **place, gravcomp=None if link.gravity else 1.0)
        if joint is None:
            free = generated_name(link.name, names)
            names.add(free)
            add(node, "freejoint", name=free)
            self.order.append(("", link.name, None))
        else:
            for each in chain:
                X_BL = IDENTITY
                if each.child != link.name:
                    X_BL = compose(inverse(link.X_ModelL), links[each.child].X_ModelL)
                self._add_joints(node, link, each, compose(X_BL, each.X_CM))
        if link.inertial is not None and link.inertial.mass:
            _add_inertial(node, link.inertial)
        return node

    def _add_joints(self, node: XmlElement, link: LinkSpec, joint: JointSpec, X_BM: Matrix) -> None:
        parts = self.parts[joint.name]
        if not parts or parts[0].kind == FREE:
            self.unnamed[joint.name] = link.name
        directions = _directions(X_BM[:3, :3], parts)
        for part, direction in zip(parts, directions, strict=True):
            self.order.append((joint.name, link.name, part))
            if part.kind == FREE and not (part.damping or part.armature):
                add(node, "freejoint", name=part.name)
                continue
            kind = None if part.kind == HINGE else part.kind
            p = None if part.kind == FREE or not X_BM[:3, 3].any() else tidy(X_BM[:3, 3])
            element = add(node, "joint", name=part.name, type=kind, pos=None if part.kind == SLIDE else p)
            if part.axis is None or direction is None:
                _set(element, damping=part.damping, armature=part.armature, stiffness=part.stiffness)
                _set(element, frictionloss=part.friction)
                if part.turn_limit < inf:
                    element.set("range", numbers(0.0, part.turn_limit))
                continue
            axis = part.axis
            element.set("axis", numbers(*direction))
            if (axis.lower, axis.upper) != (-inf, inf):
                element.set("range", numbers(axis.lower, axis.upper))
            _set(
                element,
                ref=axis.default_position,
                damping=axis.damping,
                frictionloss=axis.friction,
                armature=part.armature,
                stiffness=axis.spring_stiffness,
                springref=axis.spring_reference if axis.spring_stiffness or part.name in self.at_rest else 0.0,
            )
            if axis.softness is not None:
                _set_softness(element, "limit", axis.softness)
                _set(element, margin=axis.softness[-1])
            if axis.effort != inf and axis.effort > 0.0:
                element.set("actuatorfrcrange", numbers(-axis.effort, axis.effort))

    # ----------------------------------------------------------------------------------------- geoms

    def _add_geoms(self, node: XmlElement, link: LinkSpec, asset: XmlElement) -> None:
        for geometry, role in geoms_of(link):
            element = add(node, "geom", **{"class": role if role in _CLASSES else None}, name=geometry.name)
            kind, attributes = self._shape(geometry.shape, asset)
            _set_text(element, type=kind, **attributes)
            _set_text(element, **_place(geometry.X_LG))
            if geometry.color is not None:
                element.set("material", self._material(geometry.color, asset))
            if role == VISUAL:
                continue
            friction = friction_of(geometry)
            if friction != FRICTION:
                element.set("friction", numbers(*(friction if friction[1:] != FRICTION[1:] else friction[:1])))
            for name, usual in _CONTACT.items():
                value = geometry.properties.get(("mujoco", name), usual)
                if value != usual:
                    element.set(name, numbers(value))
            if (softness := geometry.properties.get(SOFTNESS)) is not None:
                _set_softness(element, "", softness)
            if (share := geometry.properties.get(("mujoco", "solmix"))) is not None:
                element.set("solmix", numbers(share))

    def _shape(self, shape: Shape, asset: XmlElement) -> tuple[str, dict[str, Any]]:
        if isinstance(shape, HeightField):
            return "hfield", {"hfield": self._height_field(shape, asset)}
        if not isinstance(shape, Mesh):
            of_kind: Any = SHAPES[type(shape)]
            return of_kind(shape)
        key = shape.uri, tuple(shape.scale)
        if key not in self.meshes:
            stem = shape.uri.replace("\\", "/").rpartition("/")[2].rpartition(".")[0] or "mesh"
            self.meshes[key] = generated_name(stem, self.mesh_names)
            self.mesh_names.add(self.meshes[key])
            scale = shape.scale if tuple(shape.scale) != (1.0, 1.0, 1.0) else None
            add(asset, "mesh", name=self.meshes[key], file=shape.uri, scale=scale, inertia="shell")
        return "mesh", {"mesh": self.meshes[key]}

    def _height_field(self, shape: HeightField, asset: XmlElement) -> str:
        """The name of an <hfield> of a shape whose lowest height is 0; MuJoCo's first row is at +y."""
        rows, columns = shape.heights.shape
        top = float(shape.heights.max())
        name = generated_name("heights", self.mesh_names)
        self.mesh_names.add(name)
        element = add(
            asset, "hfield", name=name, nrow=rows, ncol=columns, size=(shape.x, shape.y, top or 1.0, shape.base)
        )
        element.set("elevation", numbers(*(shape.heights[::-1] / (top or 1.0)).ravel().tolist()))
        return name

    def _material(self, color: tuple[float, float, float, float], asset: XmlElement) -> str:
        if color not in self.materials:
            self.materials[color] = f"color_{len(self.materials) + 1}"
            asset.insert(len(self.materials) - 1, _element("material", name=self.materials[color], rgba=color))
        return self.materials[color]

    def _add_contact(self, root: XmlElement, pairs: Sequence[tuple[str, str]]) -> None:
        if not pairs and not self.spec.contact_pairs:
            return
        contact = etree.SubElement(root, "contact")
        for first, second in pairs:
            add(contact, "exclude", body1=first, body2=second)
        collisions = {link.name: link.collisions for link in self.spec.links}
        for pair in self.spec.contact_pairs:
            ends = [collisions[link][index].name for link, index in (pair.collision_A, pair.collision_B)]
            condim = (
                6
                if pair.rolling_friction
                else 4
                if pair.torsional_friction
                else 3
                if pair.friction or pair.friction_across
                else 1
            )
            across = pair.friction if pair.friction_across is None else pair.friction_across
            friction = (pair.friction, across, pair.torsional_friction, *(pair.rolling_friction,) * 2)
            node = add(contact, "pair", geom1=ends[0], geom2=ends[1], condim=condim, friction=friction)
            _set(node, margin=pair.margin)
            if pair.softness is not None:
                _set_softness(node, "", pair.softness)

    # --------------------------------------------------------------------------------- as it is read

    def _expected(self, constraints: Sequence[ConstraintSpec]) -> ModelSpec:
        """The spec as the document is read, as far as the proof compares it by itself."""
        leaders = {
            axis.mimic.leader: self.parts[axis.mimic.leader][axis.mimic.leader_axis].name
            for joint in self.spec.joints
            for axis in joint.axes
            if axis.mimic is not None
        }
        joints = []
        for joint in self.spec.joints:
            for k, part in enumerate(self.parts[joint.name]):
                mimic = joint.axes[k].mimic if k < len(joint.axes) else None
                if part.follows is not None:
                    mimic = MimicSpec(*part.follows, 0.0, joint.place)
                elif mimic is not None:
                    mimic = replace(mimic, leader=leaders[mimic.leader], leader_axis=0)
                axes = () if mimic is None else (AxisSpec((0.0, 0.0, 1.0), joint.place, mimic=mimic),)
                ends = joint.parent, joint.child, IDENTITY, IDENTITY, joint.place
                joints.append(JointSpec(part.name, joint.type, *ends, axes))
        return replace(
            self.spec,
            links=tuple(_link_as_read(link, _impratio(self.spec)) for link in self.spec.links),
            joints=tuple(joints),
            constraints=tuple(constraints),
            filter_groups=None,
            sensors=tuple(sensors_as_read(self.spec, self.parts)),
        )


def geoms_of(link: LinkSpec) -> list[tuple[GeometrySpec, str]]:
    """[(GeometrySpec, role)] of a LinkSpec: what is seen and collides alike is one geom."""
    solid = {geometry.name: geometry for geometry in link.collisions}
    found = []
    for visual in link.visuals:
        twin = solid.get(visual.name)
        if twin is not None and twin.shape == visual.shape and np.array_equal(twin.X_LG, visual.X_LG):
            found.append((replace(twin, color=visual.color), BOTH))
            del solid[visual.name]
        else:
            found.append((visual, VISUAL))
    return [*found, *((geometry, COLLISION) for geometry in link.collisions if geometry.name in solid)]


def friction_of(geometry: GeometrySpec) -> tuple[float, float, float]:
    """The three coefficients of a geom."""
    slide = geometry.properties.get(("material", "coulomb_friction"), FRICTION[:1] * 2)[1]
    others = (
        geometry.properties.get(("material", name), usual)
        for name, usual in zip(("torsional_friction", "rolling_friction"), FRICTION[1:], strict=True)
    )
    return (slide, *others)


def _impratio(spec: ModelSpec) -> float:
    """That of the contacts of a model, negative of a pyramidal cone; of several the first."""
    geometries = (geometry for link in spec.links for geometry in link.collisions)
    return next(
        (g.properties["mujoco", "impratio"] for g in geometries if ("mujoco", "impratio") in g.properties), -1.0
    )


def _set_softness(element: XmlElement, ending: str, softness: Sequence[float]) -> None:
    element.set(f"solref{ending}", numbers(*softness[:2]))
    element.set(f"solimp{ending}", numbers(*softness[2:7]))


def _link_as_read(link: LinkSpec, impratio: float) -> LinkSpec:
    seen, solid = [], []
    for geometry, role in geoms_of(link):
        collides = role != VISUAL
        slide, torsional, rolling = friction_of(geometry) if collides else FRICTION
        properties = {
            ("material", "coulomb_friction"): (slide, slide),
            ("material", "torsional_friction"): torsional,
            ("material", "rolling_friction"): rolling,
        }
        for name, usual in _CONTACT.items():
            value = geometry.properties.get(("mujoco", name), usual) if collides else usual
            properties["mujoco", name] = value
        if not collides:
            properties |= {("mujoco", "contype"): 0, ("mujoco", "conaffinity"): 0}
        kept = (SOFTNESS, ("mujoco", "solmix")) if collides else ()
        properties |= {key: geometry.properties[key] for key in kept if key in geometry.properties}
        if impratio != -1.0:
            properties["mujoco", "impratio"] = impratio
        shape = geometry.shape
        shape = replace(shape, convex=False) if isinstance(shape, Mesh) else shape
        read = replace(geometry, shape=shape, properties=properties)
        if role != COLLISION:
            seen.append(read)
        if collides:
            solid.append(read)
    return replace(link, visuals=tuple(seen), collisions=tuple(solid))


def _drop_unused_classes(root: XmlElement, default: XmlElement) -> None:
    used = {node.get("class") for node in root.iter("*") if node.tag != "default"}
    for node in list(default):
        if node.get("class") not in used:
            default.remove(node)


def _directions(R_BM: Matrix, parts: tuple[Part, ...]) -> list[tuple[float, ...] | None]:
    """The axes of the parts of a joint in the frame of the body, in the reference configuration."""
    plain = np.array_equal(R_BM, np.eye(3))
    found: list[tuple[float, ...] | None] = []
    R_after = np.eye(3)  # the turn by the parts that follow
    for part in reversed(parts):
        if part.axis is None:
            found.append(None)
            continue
        direction = tuple(part.axis.xyz)
        if not plain or not np.array_equal(R_after, np.eye(3)):
            direction = tidy(R_BM @ (R_after.T @ np.array(direction)))
        found.append(direction)
        if part.kind == HINGE and part.axis.default_position:
            R_after = rotation_about(part.axis.xyz, part.axis.default_position) @ R_after
    return found[::-1]


def _add_inertial(node: XmlElement, inertial: InertialSpec) -> None:
    X, values = inertial.X_LI, inertial.inertia
    products = any(values[3:])
    if products and min(principal_moments(inertial)) < LEAST_OF_FULL:
        xx, yy, zz, xy, xz, yz = values
        moments, R_IP = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        X = compose(X, pose(R_IP * np.linalg.det(R_IP)))
        values, products = (*moments.tolist(), 0.0, 0.0, 0.0), False
    if products and not np.array_equal(X[:3, :3], np.eye(3)):
        xx, yy, zz, xy, xz, yz = values
        R = X[:3, :3]
        turned = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        turned = (turned + turned.T) / 2.0
        values = (*np.diag(turned).tolist(), turned[0, 1], turned[0, 2], turned[1, 2])
        X = pose(None, X[:3, 3])
    element = add(node, "inertial", pos=tuple(X[:3, 3].tolist()), mass=inertial.mass)
    if products:
        element.set("fullinertia", numbers(*values))
        return
    euler = xyz_rpy(X)[1]
    if any(euler):
        element.set("euler", numbers(*euler))
    element.set("diaginertia", numbers(*values[:3]))


def _place(X: Matrix, computed: bool = False) -> dict[str, Any]:
    """{attribute: numbers} of a pose."""
    xyz: Sequence[float]
    rpy: Sequence[float]
    xyz, rpy = xyz_rpy(X)
    if computed:
        xyz, rpy = tidy(xyz), tidy(rpy)
    return {name: values for name, values in (("pos", xyz), ("euler", rpy)) if any(values)}


def _set(element: XmlElement, **values: Any) -> None:
    """Sets numbers that are not zero."""
    for name, value in values.items():
        if value:
            element.set(name, numbers(value))


def _set_text(element: XmlElement, **values: Any) -> None:
    for name, value in values.items():
        element.set(name, value if isinstance(value, str) else numbers(*value))


def _element(tag: str, **attributes: Any) -> XmlElement:
    element = etree.Element(tag)
    _set_text(element, **attributes)
    return element


def _halves(*lengths: float) -> tuple[float, ...]:
    return tuple(length / 2.0 for length in lengths)


SHAPES = {
    Box: lambda shape: ("box", {"size": _halves(*shape.size)}),
    Sphere: lambda shape: ("sphere", {"size": (shape.radius,)}),
    Cylinder: lambda shape: ("cylinder", {"size": (shape.radius, *_halves(shape.length))}),
    Capsule: lambda shape: ("capsule", {"size": (shape.radius, *_halves(shape.length))}),
    Ellipsoid: lambda shape: ("ellipsoid", {"size": shape.radii}),
    HalfSpace: lambda shape: ("plane", {"size": (0.0, 0.0, 0.05)}),
}
