"""The poses of all bodies as rows of numbers, for logs and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math.rotation_array import quaternions_from_matrices

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray


def body_poses(plant: Any, context: Any) -> FloatArray:
    """X_WB (nbody, 7) of all bodies, World's first, at the positions of a context: w, x, y, z, then p_WBo_W [m]."""
    poses = [plant.EvalBodyPoseInWorld(context, body) for body in plant.elements.bodies]
    R_WB = np.array([X.rotation().matrix() for X in poses])
    return np.concatenate([quaternions_from_matrices(R_WB), np.array([X.translation() for X in poses])], axis=-1)
