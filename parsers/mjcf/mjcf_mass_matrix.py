"""What joints have to move in the reference configuration, by which MuJoCo chooses dampers and springs.

The mass matrix M is the sum over all bodies of S' G S: the columns of S are the motions of World's axes that the
coordinates give a body, G is its inertia about World's origin. A coordinate k, the others free, moves 1 / (M^-1)_kk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.geometry_inertia import matrix_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mbcli.parsers.spec import InertialSpec, JointSpec, LinkSpec

    from mbcli.math.array_types import Matrix4, Matrix6, Vector3, Vector6

MAX_VELOCITIES = 2000  # the time grows with the third power


def reflected_inertias(
    links: Mapping[str, LinkSpec], joints: Mapping[str, JointSpec], armatures: Mapping[str, float]
) -> dict[str, float] | None:
    """{joint: [kg m^2 or kg]} of the joints of one coordinate, None for a model that is too large or has a coordinate
    that moves no mass.

    links, joints: dicts by name, joints from the root outwards; armatures: {joint: [kg m^2 or kg]}.
    """
    columns: list[Vector6] = []
    moved_by: dict[str, list[int]] = {WORLD: []}
    numbers = {}
    held = {joint.child for joint in joints.values()}
    for link in links.values():
        if link.name not in held and link.name != WORLD:
            moved_by[link.name] = list(range(len(columns), len(columns) + 6))
            columns += list(np.eye(6))
    for joint in joints.values():
        motions = _motions(joint, links)
        own = list(range(len(columns), len(columns) + len(motions)))
        moved_by[joint.child] = moved_by[joint.parent] + own
        columns += motions
        if len(own) == 1 or joint.kind.is_ball:
            numbers[joint.name] = own
    if len(columns) > MAX_VELOCITIES:
        return None
    S = np.reshape(columns, (-1, 6)).T
    M = np.zeros((len(columns), len(columns)))
    for name, dofs in moved_by.items():
        inertial = links[name].inertial if name in links else None
        if inertial is not None and dofs:
            M[np.ix_(dofs, dofs)] += S[:, dofs].T @ _about_origin(inertial, links[name].X_ModelL) @ S[:, dofs]
    for joint in joints.values():
        own = moved_by[joint.child][len(moved_by[joint.parent]) :]
        M[own, own] += armatures.get(joint.name, 0.0)
    try:
        inverse = np.diag(np.linalg.inv(M))
    except np.linalg.LinAlgError:
        return None
    means = {name: float(inverse[own].mean()) for name, own in numbers.items()}  # of a ball joint over its three axes
    return {name: 1.0 / mean for name, mean in means.items() if mean > 0.0}


def _motions(joint: JointSpec, links: Mapping[str, LinkSpec]) -> list[Vector6]:
    """The columns of S that a joint adds: angular, then linear, of World's origin, in World."""
    X_WP = links[joint.parent].X_ModelL if joint.parent in links else np.eye(4)
    X_WF = X_WP @ joint.X_PF
    if joint.kind.is_floating:
        return list(np.eye(6))
    if joint.kind.is_ball:
        axes: Iterable[Vector3] = X_WF[:3, :3].T
    else:
        axes = [X_WF[:3, :3] @ axis.xyz for axis in joint.axes]
    if joint.kind.slides:
        return [np.concatenate([np.zeros(3), axis]) for axis in axes]
    return [np.concatenate([axis, np.cross(X_WF[:3, 3], axis)]) for axis in axes]


def _about_origin(inertial: InertialSpec, X_WL: Matrix4) -> Matrix6:
    """The spatial inertia (6, 6) about World's origin in World."""
    X_WI = X_WL @ inertial.X_LI
    R, c, m = X_WI[:3, :3], X_WI[:3, 3], inertial.mass
    C = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    return np.block([[R @ matrix_of(inertial.inertia) @ R.T - m * C @ C, m * C], [-m * C, m * np.eye(3)]])
