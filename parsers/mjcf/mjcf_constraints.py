"""<equality> and <contact> of MJCF files: constraints between bodies and joints, and pairs that do not collide."""

from dataclasses import replace
from typing import Any

import numpy as np
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.mimics import check_mimics
from mbcli.parsers.mjcf.mjcf_values import AS_IF_ABSENT, WithDefaults, find_named
from mbcli.parsers.spec import BallConstraintSpec, CollisionFilterGroupSpec, MimicSpec, WeldConstraintSpec, pose

from mbcli.math.rotation_array import matrix_from_quaternion

_OTHER_EQUALITIES = ("tendon", "flex", "flexstrain", "flexvert", "distance")


def read_equalities(root, reading, bodies):
    """The constraints of a file; joints that follow others are changed in `bodies`, a `BodyReader`."""
    constraints = []
    followers: dict[str, Any] = {}
    readers = {"connect": _read_connect, "weld": _read_weld}
    for section in root.children("equality"):
        for node in section.children("connect", "weld", "joint", *_OTHER_EQUALITIES):
            element = reading.defaults.of(node, None, "equality")
            if node.tag in _OTHER_EQUALITIES:
                node.unsupported(AS_IF_ABSENT)
            elif not element.flag("active", True):
                node.ignore("settled")
                node.diagnostics.note("EQUALITY_INACTIVE", f"<{node.tag}> is not active and not used", node)
            elif node.tag == "joint":
                _read_joint(node, reading, bodies, followers)
            else:
                constraint = readers[node.tag](node, bodies)
                if constraint is not None and constraint.link_A == constraint.link_B:
                    problem = f'<{node.tag}> is between two bodies, not within "{constraint.link_A}"'
                    node.diagnostics.error("ELEMENT_INVALID", problem, node)
                elif constraint is not None:
                    constraints.append(constraint)
    for cycle in check_mimics(followers, bodies.joints, lambda name, leader: None):
        chain = " -> ".join([*cycle, cycle[0]])
        _, node = followers[cycle[0]]
        node.diagnostics.error("JOINT_AXIS_MIMIC_INVALID", f"joints follow each other: {chain}", node)
    return tuple(constraints)


# ------------------------------------------------------------------------------------- between bodies


def _read_connect(node, bodies):
    """A point of each body; they meet at the anchor in the reference configuration."""
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


def _floats(point):
    x, y, z = point
    return float(x), float(y), float(z)


def _read_weld(node, bodies):
    """The pose of the second body in the first, as stated or that of the reference configuration."""
    if node.attribute("site1") is not None or node.attribute("site2") is not None:
        ends = _read_sites(node, bodies)
        if ends is None:
            return None
        (link_A, X_AP), (link_B, X_BQ) = ends
    else:
        link_A, link_B = _read_bodies(node, bodies)
        node.vector("anchor", 3)  # where the error is measured: the same constraint
        relative = np.array(node.vector("relpose", 7, (0.0,) * 7))
        if link_A is None or link_B is None:
            return None
        if relative[3:].any():
            X_AP = pose(matrix_from_quaternion(relative[3:] / abs(relative[3:]).max()), relative[:3])
        else:
            X_AP = np.linalg.inv(_pose_of(bodies, link_A)) @ _pose_of(bodies, link_B)
        X_BQ = np.eye(4)
    return WeldConstraintSpec(
        link_A,
        pose(X_AP[:3, :3], X_AP[:3, 3]),
        link_B,
        pose(X_BQ[:3, :3], X_BQ[:3, 3]),
        node.place,
        node.attribute("name"),
    )


def _read_bodies(node, bodies):
    node.attribute("body1", required=True)
    known = bodies.all_links
    return find_named(node, "body1", "body", known), find_named(node, "body2", "body", known, default=WORLD)


def _read_sites(node, bodies):
    ends = []
    for name in ("site1", "site2"):
        node.attribute(name, required=True)
        ends.append(bodies.sites.get(find_named(node, name, "site", bodies.sites)))
    return None if None in ends else ends


def _pose_of(bodies, link):
    return np.eye(4) if link == WORLD else bodies.links[link].X_ModelL


# -------------------------------------------------------------------------------------- between joints


def _read_joint(node, reading, bodies, followers):
    """q1 - ref1 = c0 + c1 (q2 - ref2) makes joint 1 a follower of joint 2."""
    name = find_named(node, "joint1", "joint", bodies.joints) if node.attribute("joint1", required=True) else None
    leader = find_named(node, "joint2", "joint", bodies.joints)
    coefficients = WithDefaults(node).vector("polycoef", 5, (0.0, 1.0), least=1)
    coefficients = (*coefficients, *(0.0, 1.0, 0.0, 0.0, 0.0)[len(coefficients) :])
    if name is None or (leader is None and node.attribute("joint2") is not None):
        return
    problem = None
    if leader is None:
        problem = "a joint held in its place is not supported"
    elif any(coefficients[2:]):
        problem = "a joint that follows another by a polynomial of higher degree than 1 is not supported"
    elif not all(len(bodies.joints[joint].axes) == 1 for joint in (name, leader)):
        problem = "only a joint of one coordinate can follow another"
    elif name in followers:
        problem = "a joint that follows two others is not supported"
    if problem:
        reading.unused.add_element(node, f"{problem}: {AS_IF_ABSENT}")
        return
    joint = bodies.joints[name]
    axis, leading = joint.axes[0], bodies.joints[leader].axes[0]
    offset = axis.default_position + coefficients[0] - coefficients[1] * leading.default_position
    mimic = MimicSpec(leader, coefficients[1], offset, node.place)
    bodies.joints[name] = replace(joint, axes=(replace(axis, mimic=mimic),))
    followers[name] = leader, node


# --------------------------------------------------------------------------------------------- contact


def read_excludes(root, bodies):
    """Each pair of bodies that do not collide as two filter groups, of which one ignores the other."""
    groups: list[CollisionFilterGroupSpec] = []
    for section in root.children("contact"):
        for node in section.children("pair"):
            node.unsupported("contact is between all bodies")
        for node in section.children("exclude"):
            pair = []
            for attribute in ("body1", "body2"):
                node.attribute(attribute, required=True)
                pair.append(find_named(node, attribute, "body", bodies.all_links))
            if None in pair:
                continue
            name = node.attribute("name") or f"exclude{len(groups) // 2}"
            first, second = f"{name}/{pair[0]}", f"{name}/{pair[1]}"
            groups.append(CollisionFilterGroupSpec(first, (pair[0],), (second,), node.place))
            groups.append(CollisionFilterGroupSpec(second, (pair[1],), (), node.place))
    return tuple(groups)
