"""<equality> of MJCF files: constraints between bodies, joints and fixed tendons."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.cycles import find_cycles
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.mjcf.mjcf_values import AS_IF_ABSENT, WithDefaults, find_named
from mbcli.parsers.spec import BallConstraintSpec, MimicSpec, TendonConstraintSpec, WeldConstraintSpec, pose

from mbcli.math.rotation_array import matrix_from_quaternion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from mbcli.parsers.mjcf.mjcf_bodies import BodyReader
    from mbcli.parsers.mjcf.mjcf_tendons import Tendons
    from mbcli.parsers.mjcf.mjcf_values import Reading
    from mbcli.parsers.spec import ConstraintSpec
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix4

_OTHER_EQUALITIES = ("flex", "flexstrain", "flexvert", "distance")


def read_equalities(root: Node, reading: Reading, bodies: BodyReader, tendons: Tendons) -> tuple[ConstraintSpec, ...]:
    """The constraints of a file; joints that follow others are changed in `bodies`, a `BodyReader`.

    tendons: `Tendons`.
    """
    constraints = []
    leaders: dict[str, str] = {}
    for section in root.children("equality"):
        for node in section.children("connect", "weld", "joint", "tendon", *_OTHER_EQUALITIES):
            element = reading.defaults.of(node, None, "equality")
            if node.tag in _OTHER_EQUALITIES:
                node.unsupported(AS_IF_ABSENT)
            elif not element.flag("active", True) or not reading.options.has("equality"):
                node.ignore("settled")
                node.diagnostics.note("EQUALITY_INACTIVE", f"<{node.tag}> is not active and not used", node)
            else:
                constraints.append(_read_equality(node, reading, bodies, tendons, leaders))
    return tuple(constraint for constraint in constraints if constraint is not None)


def _read_equality(
    node: Node, reading: Reading, bodies: BodyReader, tendons: Tendons, leaders: dict[str, str]
) -> ConstraintSpec | None:
    """The constraint that an element makes; None after a finding, or for a joint that follows another."""
    if node.tag == "joint":
        return _read_joint(node, reading, bodies, leaders)
    if node.tag == "tendon":
        return _read_tendon(node, reading, tendons)
    constraint = (_read_connect if node.tag == "connect" else _read_weld)(node, bodies)
    if constraint is not None and constraint.link_A == constraint.link_B:
        problem = f'<{node.tag}> is between two bodies, not within "{constraint.link_A}"'
        node.diagnostics.error("ELEMENT_INVALID", problem, node)
    return constraint


# ------------------------------------------------------------------------------------- between bodies


def _read_connect(node: Node, bodies: BodyReader) -> BallConstraintSpec | None:
    """A point of each body; they meet at the anchor in the reference configuration."""
    link_A: str | None
    link_B: str | None
    if node.attribute("site1") is not None or node.attribute("site2") is not None:
        ends = _read_sites(node, bodies)
        if ends is None:
            return None
        (link_A, X_AP), (link_B, X_BQ) = ends
        p_AP, p_BQ = X_AP[:3, 3], X_BQ[:3, 3]
    else:
        link_A, link_B = _read_bodies(node, bodies)
        p_AP = node.vector("anchor", 3, required=True)
        if link_A is None or link_B is None or p_AP is None:
            return None
        X_BA = np.linalg.inv(_pose_of(bodies, link_B)) @ _pose_of(bodies, link_A)
        p_BQ = X_BA[:3, :3] @ p_AP + X_BA[:3, 3]
    return BallConstraintSpec(link_A, _floats(p_AP), link_B, _floats(p_BQ), node.place, node.attribute("name"))


def _floats(point: Iterable[float]) -> tuple[float, float, float]:
    x, y, z = point
    return float(x), float(y), float(z)


def _read_weld(node: Node, bodies: BodyReader) -> BallConstraintSpec | WeldConstraintSpec | None:
    """Frame Q of the second body, its axes at the anchor, is at the stated pose P in the first, or at that of the
    reference configuration."""
    link_A: str | None
    link_B: str | None
    if node.attribute("site1") is not None or node.attribute("site2") is not None:
        ends = _read_sites(node, bodies)
        if ends is None:
            return None
        (link_A, X_AP), (link_B, X_BQ) = ends
    else:
        link_A, link_B = _read_bodies(node, bodies)
        X_BQ = pose(None, node.vector("anchor", 3, (0.0, 0.0, 0.0)))
        relative = np.array(node.vector("relpose", 7, (0.0,) * 7))
        if link_A is None or link_B is None:
            return None
        if relative[3:].any():
            X_AP = pose(matrix_from_quaternion(relative[3:] / abs(relative[3:]).max()), relative[:3])
        else:
            X_AP = np.linalg.inv(_pose_of(bodies, link_A)) @ _pose_of(bodies, link_B) @ X_BQ
    if node.number("torquescale", 1.0) == 0:
        return BallConstraintSpec(
            link_A, tuple(X_AP[:3, 3].tolist()), link_B, tuple(X_BQ[:3, 3].tolist()), node.place, node.attribute("name")
        )
    return WeldConstraintSpec(
        link_A,
        pose(X_AP[:3, :3], X_AP[:3, 3]),
        link_B,
        pose(X_BQ[:3, :3], X_BQ[:3, 3]),
        node.place,
        node.attribute("name"),
    )


def _read_bodies(node: Node, bodies: BodyReader) -> tuple[str | None, str | None]:
    node.attribute("body1", required=True)
    known = bodies.all_links
    return find_named(node, "body1", "body", known), find_named(node, "body2", "body", known, default=WORLD)


def _read_sites(node: Node, bodies: BodyReader) -> list[tuple[str, Matrix4]] | None:
    ends: list[Any] = []
    for name in ("site1", "site2"):
        node.attribute(name, required=True)
        site: Any = find_named(node, name, "site", bodies.sites)
        ends.append(bodies.sites.get(site))
    return None if None in ends else ends


def _pose_of(bodies: BodyReader, link: str) -> Matrix4:
    return np.eye(4) if link == WORLD else bodies.links[link].X_ModelL


# ------------------------------------------------------------------------ between joints and tendons


def _read_coefficients(node: Node) -> tuple[float, ...]:
    """The five coefficients of polycoef."""
    coefficients = WithDefaults(node).vector("polycoef", 5, (0.0, 1.0), least=1)
    return (*coefficients, *(0.0, 1.0, 0.0, 0.0, 0.0)[len(coefficients) :])


def _read_joint(
    node: Node, reading: Reading, bodies: BodyReader, leaders: dict[str, str]
) -> TendonConstraintSpec | None:
    """q1 - ref1 = c0 + c1 (q2 - ref2): joint 1 follows joint 2, or a constraint if it follows another already."""
    name = find_named(node, "joint1", "joint", bodies.all_joints) if node.attribute("joint1", required=True) else None
    leader = find_named(node, "joint2", "joint", bodies.all_joints)
    coefficients = _read_coefficients(node)
    if name is None or (leader is None and node.attribute("joint2") is not None):
        return None
    joints: list[Any] = [bodies.joints.get(joint) for joint in (name, leader) if joint is not None]
    problem = None
    if leader is not None and any(coefficients[2:]):
        problem = "a joint that follows another by a polynomial of higher degree than 1 is not supported"
    elif not all(joint is not None and len(joint.axes) == 1 for joint in joints):
        problem = "only a joint of one coordinate can follow another"
    if problem:
        reading.unused.add_element(node, f"{problem}: {AS_IF_ABSENT}")
        return None
    if leader == name:
        problem = f'joint "{name}" follows itself'
        node.diagnostics.error("JOINT_AXIS_MIMIC_INVALID", problem, node, attribute="joint2", value=leader)
        return None
    references = [joint.axes[0].default_position for joint in joints]
    if leader is None:
        return _sum_of_joints({name: 1.0}, references[0] + coefficients[0], node)
    offset = references[0] + coefficients[0] - coefficients[1] * references[1]
    if name in leaders or find_cycles(leaders | {name: leader}):
        return _sum_of_joints({name: 1.0, leader: -coefficients[1]}, offset, node)
    leaders[name] = leader
    node.attribute("name")  # which nothing refers to: the joint says it by itself
    mimic = MimicSpec(leader, coefficients[1], offset, node.place)
    bodies.joints[name] = replace(joints[0], axes=(replace(joints[0].axes[0], mimic=mimic),))
    return None


def _sum_of_joints(terms: Mapping[str, float], value: float, node: Node) -> TendonConstraintSpec:
    """The constraint that a sum of coordinates has a value; terms: {joint: coefficient}."""
    return TendonConstraintSpec(
        tuple(terms), tuple(terms.values()), node.place, lower=value, upper=value, name=node.attribute("name")
    )


def _read_tendon(node: Node, reading: Reading, tendons: Tendons) -> TendonConstraintSpec | None:
    """L1 - L1(ref) = c0 + c1 (L2 - L2(ref)) for fixed tendons."""
    node.attribute("tendon1", required=True)
    names = [find_named(node, name, "tendon", tendons.names) for name in ("tendon1", "tendon2")]
    coefficients = _read_coefficients(node)
    if names[0] is None or (names[1] is None and node.attribute("tendon2") is not None):
        return None
    fixed: list[Any] = [tendons.fixed.get(name) for name in names if name is not None]
    problem = None
    if None in fixed:
        problem = "only fixed tendons can keep a length"
    elif len(fixed) == 2 and any(coefficients[2:]):
        problem = "a tendon that follows another by a polynomial of higher degree than 1 is not supported"
    if problem:
        reading.unused.add_element(node, f"{problem}: {AS_IF_ABSENT}")
        return None
    terms, value = dict(fixed[0].terms), fixed[0].reference + coefficients[0]
    for other in fixed[1:]:
        value -= coefficients[1] * other.reference
        for joint, coefficient in other.terms.items():
            terms[joint] = terms.get(joint, 0.0) - coefficients[1] * coefficient
    return _sum_of_joints(terms, value, node)
