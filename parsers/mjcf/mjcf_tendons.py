"""<tendon> of MJCF files. A fixed tendon is a sum of joint coordinates, a spatial one a path through sites.

What acts here: the limits, the spring and the damping of a fixed tendon, and those of a spatial tendon that is a
straight line between two sites; along other paths the spring and the damping. The rest of what a tendon does by itself
is reported.
"""

from __future__ import annotations

from dataclasses import field
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import report_duplicate
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.mjcf.mjcf_joints import read_force_range, read_linear, read_stops
from mbcli.parsers.mjcf.mjcf_values import find_named
from mbcli.parsers.poses import rotation_about
from mbcli.parsers.spec import (
    ActuatorLaw,
    Cylinder,
    DistanceConstraintSpec,
    PathPoint,
    Sphere,
    SpringDamperSpec,
    TendonConstraintSpec,
    TendonSpringSpec,
    TransmissionSpec,
    pose,
)

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mbcli.parsers.mjcf.mjcf_bodies import BodyReader
    from mbcli.parsers.mjcf.mjcf_values import Reading, WithDefaults
    from mbcli.parsers.spec import JointSpec, SourceLocation
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix4

_FROM_REFERENCE = -1.0  # as springlength: the length at the rest positions of the joints' springs


@dataclass(frozen=True, slots=True)
class FixedTendon:
    """length = sum of coefficient * position; reference: its value at the reference positions."""

    terms: dict[str, float]
    reference: float


@dataclass(slots=True)
class Tendons:
    """The tendons of a file and what they become."""

    names: dict[str, SourceLocation] = field(default_factory=dict)
    fixed: dict[str, FixedTendon] = field(default_factory=dict)
    paths: dict[str, tuple[PathPoint, ...]] = field(default_factory=dict)  # of spatial ones
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)  # [m] lengths
    forces: dict[str, tuple[float, float]] = field(default_factory=dict)  # limits of all actuators together
    elements: dict[str, WithDefaults] = field(default_factory=dict)
    constraints: list[TendonConstraintSpec | DistanceConstraintSpec] = field(default_factory=list)
    force_elements: list[SpringDamperSpec] = field(default_factory=list)
    springs: list[TendonSpringSpec] = field(default_factory=list)  # along other paths


@dataclass(frozen=True, slots=True)
class _Forces:
    """What a tendon does by itself."""

    lower: float
    upper: float
    stiffness: float
    damping: float
    rest: tuple[float, float]  # [m] lengths without spring force


def read_tendons(root: Node, reading: Reading, bodies: BodyReader) -> Tendons:
    """The `Tendons` of a file."""
    tendons = Tendons()
    for section in root.children("tendon"):
        for node in section.children("fixed", "spatial"):
            name = node.attribute("name")
            if name is not None and name in tendons.names:
                report_duplicate(node, "tendon", name, tendons.names[name])
                continue
            element = reading.defaults.of(node, None, "tendon")
            forces = _read_forces(element, reading)
            if name:  # nothing refers to others
                tendons.names[name] = node.place
                tendons.elements[name] = element
                tendons.limits[name] = forces.lower, forces.upper
                limits = read_force_range(element, reading)
                if limits != (-inf, inf):
                    tendons.forces[name] = limits
            (_read_fixed if node.tag == "fixed" else _read_spatial)(node, element, forces, reading, bodies, tendons)
    return tendons


def _read_forces(element: WithDefaults, reading: Reading) -> _Forces:
    lower, upper = read_stops(element, reading, 1.0)
    stiffness, damping = (read_linear(reading, element, name) for name in ("stiffness", "damping"))
    rest = element.vector("springlength", 2, (_FROM_REFERENCE,), least=1)
    if reading.options.has("frictionloss"):
        _warn_if(reading, element, "frictionloss", "a tendon has no dry friction here")
    _warn_if(reading, element, "armature", "a tendon has no inertia here")
    return _Forces(lower, upper, stiffness, damping, (rest[0], rest[-1]))


def _warn_if(reading: Reading, element: WithDefaults, name: str, consequence: str) -> None:
    if element.number(name, 0.0):
        reading.unused.add(element, name, consequence)


# ------------------------------------------------------------------------------------- fixed tendons


def _read_fixed(
    node: Node, element: WithDefaults, forces: _Forces, reading: Reading, bodies: BodyReader, tendons: Tendons
) -> None:
    terms, reference, rest, known = {}, 0.0, 0.0, True
    for term in node.children("joint"):
        term.attribute("joint", required=True)
        name: Any = find_named(term, "joint", "joint", bodies.all_joints)
        coefficient = term.number("coef", 0.0, required=True)
        joint: Any = bodies.joints.get(name)
        known = known and joint is not None and len(joint.axes) == 1
        if known and name in terms:
            problem = f'the joint "{name}" is in the tendon twice'
            term.diagnostics.error("ELEMENT_INVALID", problem, term, attribute="joint", value=name)
        if known:
            terms[name] = coefficient
            reference += coefficient * joint.axes[0].default_position
            rest += coefficient * joint.axes[0].spring_reference
    if not known:
        reading.unused.add_element(node, "a tendon of joints of several coordinates is not supported")
        return
    terms = {name: coefficient for name, coefficient in terms.items() if coefficient}
    name = node.attribute("name")
    if name is not None:
        tendons.fixed[name] = FixedTendon(terms, reference)
    if not terms:
        return
    sum_of = tuple(terms), tuple(terms.values()), node.place
    if forces.lower > -inf or forces.upper < inf:
        limits: dict[str, Any] = {"lower": forces.lower, "upper": forces.upper}
        tendons.constraints.append(TendonConstraintSpec(*sum_of, name=name, **limits))
    if forces.stiffness:
        length = rest if forces.rest == (_FROM_REFERENCE,) * 2 else forces.rest[0]
        upper = length if forces.rest[0] == forces.rest[1] else forces.rest[1]
        band: dict[str, Any] = {"lower": length, "upper": upper, "stiffness": forces.stiffness}
        if upper == length:  # else damping acts where the spring does not, too
            tendons.constraints.append(TendonConstraintSpec(*sum_of, damping=forces.damping, **band))
            return
        tendons.constraints.append(TendonConstraintSpec(*sum_of, **band))
    if forces.damping:
        damper: dict[str, Any] = {"lower": 0.0, "upper": 0.0, "stiffness": 0.0, "damping": forces.damping}
        tendons.constraints.append(TendonConstraintSpec(*sum_of, **damper))


# ----------------------------------------------------------------------------------- spatial tendons


def _read_spatial(
    node: Node, element: WithDefaults, forces: _Forces, reading: Reading, bodies: BodyReader, tendons: Tendons
) -> None:
    path = node.children("site", "geom", "pulley")
    parts = [_path_point(part, reading, bodies) for part in path]
    if None in parts:
        return
    name = node.attribute("name")
    if name:
        tendons.paths[name] = tuple(part for part in parts if part is not None)
    ends = [(part.link, part.X_LP) for part in parts if part is not None and part.kind == "point"]
    straight = len(ends) == 2 and len(path) == 2
    acts = forces.stiffness or forces.damping
    if forces.lower > -inf or forces.upper < inf:
        if straight and 0.0 < forces.upper < inf:
            _add_limits(node, ends, (forces.lower, forces.upper), inf, tendons, name)
        else:
            reading.unused.add(element, "range", "only a straight line between two sites has limits here")
    if not acts:
        return
    if not straight:
        _add_path_spring(node, tuple(part for part in parts if part is not None), forces, bodies, tendons)
    else:
        _add_spring(node, element, forces, ends, reading, bodies, tendons)


_LEFT_OUT = "it is left out"


def _path_point(part: Node, reading: Reading, bodies: BodyReader) -> PathPoint | None:
    """A part of the path of a spatial tendon; None after a finding."""
    if part.tag == "pulley":
        return PathPoint("pulley", WORLD, size=part.number("divisor", 1.0, required=True))
    part.attribute(part.tag, required=True)
    if part.tag == "site":
        site: Any = find_named(part, "site", "site", bodies.sites)
        return PathPoint("point", *bodies.sites[site]) if site in bodies.sites else None
    name: Any = find_named(part, "geom", "geom", bodies.geom_names)
    side = find_named(part, "sidesite", "site", bodies.sites) if part.attribute("sidesite") is not None else None
    if name not in bodies.geoms or (part.attribute("sidesite") is not None and side is None):
        return None
    link, geom = bodies.geoms[name]
    shape = None if geom.geometry is None else geom.geometry.shape
    if not isinstance(shape, (Sphere, Cylinder)):
        problem = f'the geom "{name}" is no sphere and no cylinder: a tendon cannot wrap it'
        part.diagnostics.error("ELEMENT_INVALID", problem, part, attribute="geom", value=name)
        return None
    kind = "sphere" if isinstance(shape, Sphere) else "cylinder"
    return PathPoint(kind, link, geom.X_BG, shape.radius, None if side is None else bodies.sites[side])


def _add_spring(
    node: Node,
    element: WithDefaults,
    forces: _Forces,
    ends: Sequence[tuple[str, Matrix4]],
    reading: Reading,
    bodies: BodyReader,
    tendons: Tendons,
) -> None:
    (link_A, X_AP), (link_B, X_BQ) = ends
    if link_A == link_B:
        return
    length, stiffness = forces.rest[0], forces.stiffness
    if forces.rest[0] != forces.rest[1] and stiffness:
        _add_limits(node, ends, forces.rest, stiffness, tendons)
        length, stiffness = forces.rest[1], 0.0  # of the damper, which acts at any length
        if not forces.damping:
            return
    if length == _FROM_REFERENCE:
        p_WP, p_WQ = (_place_at_rest(bodies, link) @ X[:, 3] for link, X in ((link_A, X_AP), (link_B, X_BQ)))
        length = float(np.linalg.norm((p_WP - p_WQ)[:3]))
    if length <= 0.0:
        reading.unused.add(element, "springlength", f"a spring of the length 0 is not supported: {_LEFT_OUT}")
        return
    p_AP, p_BQ = tuple(X_AP[:3, 3].tolist()), tuple(X_BQ[:3, 3].tolist())
    spring = SpringDamperSpec(link_A, p_AP, link_B, p_BQ, length, stiffness, forces.damping, node.place)
    tendons.force_elements.append(spring)


def _add_limits(
    node: Node,
    ends: Sequence[tuple[str, Matrix4]],
    limits: tuple[float, float],
    stiffness: float,
    tendons: Tendons,
    name: str | None = None,
) -> None:
    """Between two lengths a straight line is slack."""
    (link_A, X_AP), (link_B, X_BQ) = ends
    if link_A != link_B:
        p_AP, p_BQ = tuple(X_AP[:3, 3].tolist()), tuple(X_BQ[:3, 3].tolist())
        numbers: dict[str, Any] = {"stiffness": stiffness, "least": max(limits[0], 0.0), "name": name}
        tendons.constraints.append(DistanceConstraintSpec(link_A, p_AP, link_B, p_BQ, limits[1], node.place, **numbers))


def _add_path_spring(
    node: Node, path: tuple[PathPoint, ...], forces: _Forces, bodies: BodyReader, tendons: Tendons
) -> None:
    """Over solids, pulleys or more than two sites. Without a length it has that where all joints are at `springref`."""
    name = node.attribute("name") or f"tendon{len(tendons.springs)}"
    is_known = forces.rest != (_FROM_REFERENCE,) * 2
    law = ActuatorLaw(
        gain=(0.0,),
        bias=(forces.stiffness, forces.damping, *(forces.rest if is_known else (0.0, 0.0))),
        bias_kind="spring",
        lengths=(0.0, 0.0) if is_known or not forces.stiffness else None,
    )
    hinges = {key: joint.axes[0].spring_reference for key, joint in bodies.joints.items() if len(joint.axes) == 1}
    rest = (tuple(hinges), tuple(hinges.values())) if law.lengths is None else ((), ())
    one = (1.0, *(0.0,) * 5)
    tendons.springs.append(TendonSpringSpec(name, TransmissionSpec("path", one, path=path), law, node.place, *rest))


def _place_at_rest(bodies: BodyReader, link: str) -> Matrix4:
    """X_WL (4, 4) of a link where the springs of all joints are at rest."""
    inboard = {joint.child: joint for joint in bodies.joints.values()}
    X_PL = np.eye(4)
    while link in inboard:
        joint = inboard[link]
        X_PL = joint.X_PF @ _motion_at_rest(joint) @ np.linalg.inv(joint.X_CM) @ X_PL
        link = joint.parent
    return X_PL if link == WORLD else bodies.links[link].X_ModelL @ X_PL


def _motion_at_rest(joint: JointSpec) -> Matrix4:
    """X_FM (4, 4) of a joint where its spring is at rest."""
    if not joint.axes:
        return np.eye(4)
    axis, position = np.array(joint.axes[0].xyz), joint.axes[0].spring_reference
    if joint.kind.slides:
        return pose(None, position * axis)
    return pose(rotation_about(axis, position) if position else None)
