"""Poses as arrays (4, 4) that cannot be written to, and directions."""

import numpy as np
from mbcli.parsers.spec import IDENTITY, pose


def compose(X_AB, X_BC):
    """X_AC of two poses (4, 4)."""
    if X_AB is IDENTITY:
        return X_BC
    if X_BC is IDENTITY:
        return X_AB
    X_AC = X_AB @ X_BC
    X_AC.flags.writeable = False
    return X_AC


def inverse(X_AB):
    """X_BA of a pose (4, 4)."""
    if X_AB is IDENTITY:
        return IDENTITY
    return pose(X_AB[:3, :3].T, -(X_AB[:3, :3].T @ X_AB[:3, 3]))


def half_space_pose(normal):
    """The pose of the half space under a plane through the origin, z pointing out of it; normal: unit vector (3,)."""
    if normal[2] == 1:
        return IDENTITY
    y = np.cross(normal, np.eye(3)[np.argmin(abs(normal))])
    y /= np.linalg.norm(y)
    return pose(np.column_stack([np.cross(y, normal), y, normal]))


def unit_vector(values):
    """Array of length 1, or None for the zero vector."""
    largest = max(map(abs, values))
    if largest == 0:
        return None
    vector = np.array(values) / largest  # whose square neither overflows nor vanishes
    return vector / np.linalg.norm(vector)
