"""Keyframes of MJCF files as postures: qpos and qvel by joints, in the coordinates that they have here.

A ball joint has a quaternion and the angular velocity in the axes of its body, here the velocity in the axes of the
parent. A free joint has position and quaternion, the velocity of the origin in World and the angular
one in the axes of the body.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import generated_name, report_duplicate
from mbcli.parsers.joint_kinds import FREE, SIZES
from mbcli.parsers.spec import PostureSpec, pose

from mbcli.math.rotation_array import matrix_from_quaternion, quaternion_from_matrix

if TYPE_CHECKING:
    from typing import Any

    from mbcli.parsers.mjcf.mjcf_bodies import BodyReader
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Vector

_SIZES = {**SIZES, "floating": SIZES[FREE]}  # numbers of qpos and qvel


def read_keyframes(root: Node, bodies: BodyReader) -> tuple[PostureSpec, ...]:
    """The `PostureSpec`s of a file; a keyframe of the wrong size is left out with a warning."""
    sizes = np.array([_SIZES[kind] for kind, _ in bodies.coordinates]).reshape(-1, 2).sum(axis=0)
    nodes = [node for section in root.children("keyframe") for node in section.children("key")]
    stated = {node.raw("name") for node in nodes}
    postures: dict[str, PostureSpec] = {}
    for node in nodes:
        name = node.attribute("name") or generated_name(f"key{len(postures)}", stated)
        if name in postures:
            report_duplicate(node, "keyframe", name, postures[name].place)
        qpos, qvel = _numbers(node, "qpos", sizes[0]), _numbers(node, "qvel", sizes[1])
        if qpos is not None and qvel is not None:
            postures[name] = _posture(name, node, qpos, qvel, bodies)
    return tuple(postures.values())


def _numbers(node: Node, attribute: str, size: int) -> tuple[float, ...] | None:
    """The numbers of a vector, none if it is not stated; None after a warning."""
    count = len(node.attribute(attribute, "").split())
    if count in (0, size):
        return node.vector(attribute, size, ()) if count else ()
    problem = f"{attribute} of a model with these joints has {size} numbers, found {count}: the keyframe is left out"
    node.diagnostics.warning("KEYFRAME_SIZE", problem, node, attribute=attribute)
    return None


def _posture(
    name: str, node: Node, qpos: tuple[float, ...], qvel: tuple[float, ...], bodies: BodyReader
) -> PostureSpec:
    """The `PostureSpec` of vectors that are whole or empty."""
    posture = PostureSpec(name, (), (), node.place)
    i = d = 0
    for kind, element in bodies.coordinates:
        nq, nv = _SIZES[kind]
        q, v = np.array(qpos[i : i + nq]), np.array(qvel[d : d + nv])
        i, d = i + nq, d + nv
        posture = _with_coordinates(posture, kind, element, q, v)
    return posture


def _with_coordinates(posture: PostureSpec, kind: str, element: str, q: Vector, v: Vector) -> PostureSpec:
    """A posture with the coordinates that one joint has in MuJoCo, or none."""
    R = matrix_from_quaternion(q[-4:] / abs(q[-4:]).max()) if len(q) > 1 and q[-4:].any() else np.eye(3)
    if kind in ("free", "floating"):
        v = np.concatenate([R @ v[3:], v[:3]]) if len(v) else v
    if kind == "free":
        return replace(
            posture,
            poses=(*posture.poses, (element, pose(R, q[:3]))) if len(q) else posture.poses,
            spatial_velocities=_added(posture.spatial_velocities, element, v),
        )
    if kind == "floating":
        q = np.concatenate([quaternion_from_matrix(R), q[:3]]) if len(q) else q
    if kind == "ball":
        v = R @ v if len(v) else v
        q = quaternion_from_matrix(R) if len(q) else q
    return replace(
        posture,
        positions=_added(posture.positions, element, q),
        velocities=_added(posture.velocities, element, v),
    )


def _added(stated: tuple[tuple[str, Any], ...], element: str, values: Vector) -> tuple[tuple[str, Any], ...]:
    return (*stated, (element, tuple(map(float, values)))) if len(values) else stated
