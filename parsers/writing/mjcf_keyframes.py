"""Postures as keyframes of an MJCF document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from lxml import etree
from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.joint_kinds import BALL, FREE
from mbcli.parsers.writing.write_xml import add, numbers, tidy

from mbcli.math.rotation_array import matrix_from_quaternion, quaternion_from_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.parsers.spec import LinkSpec, ModelSpec
    from mbcli.parsers.writing.simple_joints import Part
    from mbcli.parsers.xml_document import XmlElement

    from mbcli.math.array_types import Matrix


def add_keyframes(root: XmlElement, spec: ModelSpec, order: Sequence[tuple[str, str, Part | None]]) -> None:
    """Adds <keyframe>. order: (joint, link, Part or None) as MuJoCo has them in qpos; None: the link floats."""
    if not spec.postures:
        return
    section = etree.SubElement(root, "keyframe")
    names: set[str] = set()
    links = {link.name: link for link in spec.links}
    for posture in spec.postures:
        positions, velocities = dict(posture.positions), dict(posture.velocities)
        poses, rates = dict(posture.poses), dict(posture.spatial_velocities)
        q: list[float] = []
        v: list[float] = []
        counted: dict[str, int] = {}
        for joint, link, part in order:
            if part is None or part.kind == FREE:
                q += _free_positions(part, joint, links[link], positions, poses)
                v += _free_velocities(part, joint, link, velocities, rates, q[-7:])
            elif part.kind == BALL:
                quaternion = positions.get(joint, (1.0, 0.0, 0.0, 0.0))
                q += quaternion
                v += _in_body(quaternion, velocities.get(joint, (0.0, 0.0, 0.0)))
            else:
                k = counted[joint] = counted.get(joint, -1) + 1
                stated, rate = positions.get(joint), velocities.get(joint)
                rest = 0.0 if part.axis is None else part.axis.default_position
                q.append(rest if stated is None else _along(part, stated, k))
                v.append(0.0 if rate is None else _along(part, rate, k))
        name = generated_name(posture.name, names)
        names.add(name)
        node = add(section, "key", name=name, qpos=numbers(*q))
        if any(v):
            node.set("qvel", numbers(*v))


def _along(part: Part, values: Sequence[float], k: int) -> float:
    return values[k] if len(values) == len(part.row) and len(part.row) > 1 else values[0] * part.row[0]


def _free_positions(
    part: Part | None,
    joint: str,
    link: LinkSpec,
    positions: Mapping[str, tuple[float, ...]],
    poses: Mapping[str, Matrix],
) -> list[float]:
    if part is not None and joint in positions:
        w, x, y, z, *p = positions[joint]
        return [*p, w, x, y, z]
    X = poses.get(link.name, link.X_ModelL)
    return [*tidy(X[:3, 3]), *tidy(quaternion_from_matrix(X[:3, :3]))]


def _free_velocities(
    part: Part | None,
    joint: str,
    link: str,
    velocities: Mapping[str, tuple[float, ...]],
    rates: Mapping[str, tuple[float, ...]],
    q: Sequence[float],
) -> list[float]:
    """The velocity of the origin in World, the angular one in the axes of the body."""
    V = rates.get(link) if part is None else velocities.get(joint)
    if V is None:
        return [0.0] * 6
    return [*V[3:], *_in_body(q[3:], V[:3])]


def _in_body(quaternion: Sequence[float], w: Sequence[float]) -> Sequence[float]:
    return tidy(matrix_from_quaternion(np.array(quaternion)).T @ np.array(w)) if any(w) else [0.0] * 3
