"""Poses as arrays (4, 4) that cannot be written to, and directions."""

from __future__ import annotations

from math import cos, sin
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.spec import IDENTITY, pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Matrix3, Matrix4, Vector3


def compose(X_AB: Matrix4, X_BC: Matrix4) -> Matrix4:
    """X_AC of two poses (4, 4)."""
    if X_AB is IDENTITY:
        return X_BC
    if X_BC is IDENTITY:
        return X_AB
    X_AC = X_AB @ X_BC
    X_AC.flags.writeable = False
    return X_AC


def inverse(X_AB: Matrix4) -> Matrix4:
    """X_BA of a pose (4, 4)."""
    if X_AB is IDENTITY:
        return IDENTITY
    return pose(X_AB[:3, :3].T, -(X_AB[:3, :3].T @ X_AB[:3, 3]))


def half_space_pose(normal: Vector3) -> Matrix4:
    """The pose of the half space under a plane through the origin, z pointing out of it; normal: unit vector (3,)."""
    if normal[2] == 1:
        return IDENTITY
    y = np.cross(normal, np.eye(3)[np.argmin(abs(normal))])
    y /= np.linalg.norm(y)
    return pose(np.column_stack([np.cross(y, normal), y, normal]))


def unit_vector(values: Sequence[float] | Vector3) -> Vector3 | None:
    """Array of length 1, or None for the zero vector."""
    largest = max(map(abs, values))
    if largest == 0:
        return None
    vector = np.array(values) / largest  # whose square neither overflows nor vanishes
    return vector / np.linalg.norm(vector)


def _direction(values: Sequence[float] | Vector3) -> Vector3:
    """The unit vector; whoever reads numbers of a file has refused the zero vector."""
    unit = unit_vector(values)
    if unit is None:
        raise ValueError("the zero vector has no direction")
    return unit


def rotation_about(axis: Sequence[float] | Vector3, angle: float) -> Matrix3:
    """The rotation matrix by an angle [rad] about an axis of any length."""
    x, y, z = _direction(axis)
    c, s = cos(angle), sin(angle)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + s * K + (1.0 - c) * (K @ K)


def turn_z_to(direction: Sequence[float] | Vector3) -> Matrix3:
    """The smallest rotation that takes the z axis to a direction; half a turn about x to the opposite one."""
    x, y, z = _direction(direction)
    sine = np.hypot(x, y)
    if sine == 0.0:
        return np.diag([1.0, 1.0, 1.0]) if z > 0 else np.diag([1.0, -1.0, -1.0])
    return rotation_about(np.array([-y, x, 0.0]), np.arctan2(sine, z))
