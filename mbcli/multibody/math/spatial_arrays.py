"""Algebra of spatial vectors on arrays (..., 6): rotational part first, both parts in the same frame E.

These functions hold the formulas; SpatialVelocity and its relatives are one vector each and call them. Every
argument may carry leading axes, which broadcast: velocities (N, 6) with one offset (3,), or one velocity (6,)
with offsets (N, 3). Scalars may be float, complex or object; nothing is conjugated.

Names: M is the frame measured in, B and C are moving frames with origins Bo and Co, E is the frame expressed
in. An acceleration is classical: the time derivative in M of the velocity, so that its lower part is the
acceleration of the point Bo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.math.cross_product import cross

if TYPE_CHECKING:
    from mbcli.math.array_types import Array, Scalar


def join(rotational: np.ndarray, translational: np.ndarray) -> Array:
    """Return (..., 6) from its two parts (..., 3)."""
    if rotational.shape != translational.shape:
        rotational, translational = np.broadcast_arrays(rotational, translational)
    return np.concatenate((rotational, translational), axis=-1)


def rotate(vector: np.ndarray, R_FE: np.ndarray) -> Array:
    """Return spatial vectors (..., 6) expressed in F from those expressed in E; R_FE is (3, 3)."""
    R_EF = R_FE.T
    return join(vector[..., :3].dot(R_EF), vector[..., 3:].dot(R_EF))


def shift_velocity(V_MB: np.ndarray, p_BoCo: np.ndarray) -> Array:
    """Return V_MC of a frame C fixed to B at an offset p_BoCo (..., 3) [m] from Bo."""
    w_MB = V_MB[..., :3]
    return join(w_MB, V_MB[..., 3:] + cross(w_MB, p_BoCo))


def shift_force(F_Bp: np.ndarray, p_BpBq: np.ndarray) -> Array:
    """Return the same force at Bq, at an offset p_BpBq (..., 3) [m] from Bp: the torque loses p x f.

    Momenta shift by the same rule.
    """
    f = F_Bp[..., 3:]
    return join(F_Bp[..., :3] - cross(p_BpBq, f), f)


def shift_acceleration(A_MB: np.ndarray, p_BoCo: np.ndarray, w_MB: np.ndarray) -> Array:
    """Return A_MC of a frame C fixed to B at p_BoCo (..., 3) [m], given w_MB (..., 3) [rad/s]."""
    alpha_MB = A_MB[..., :3]
    centripetal = cross(w_MB, cross(w_MB, p_BoCo))
    return join(alpha_MB, A_MB[..., 3:] + cross(alpha_MB, p_BoCo) + centripetal)


def shift_acceleration_without_rotation(A_MB: np.ndarray, p_BoCo: np.ndarray) -> Array:
    """Return A_MC of a frame C fixed to B at p_BoCo (..., 3) [m] at an instant at which w_MB is zero."""
    alpha_MB = A_MB[..., :3]
    return join(alpha_MB, A_MB[..., 3:] + cross(alpha_MB, p_BoCo))


def compose_velocity(V_MB: np.ndarray, p_BoCo: np.ndarray, V_BC: np.ndarray) -> Array:
    """Return V_MC from V_MB and the velocity V_BC of C measured in B."""
    return shift_velocity(V_MB, p_BoCo) + V_BC


def compose_acceleration(
    A_MB: np.ndarray, p_BoCo: np.ndarray, w_MB: np.ndarray, V_BC: np.ndarray, A_BC: np.ndarray
) -> Array:
    """Return A_MC from A_MB and the velocity and acceleration of C measured in B.

    To the acceleration of the point of B that coincides with Co come A_BC, the gyroscopic term w_MB x w_BC and
    the Coriolis term 2 w_MB x v_BCo.
    """
    coupling = join(cross(w_MB, V_BC[..., :3]), 2.0 * cross(w_MB, V_BC[..., 3:]))
    return shift_acceleration(A_MB, p_BoCo, w_MB) + A_BC + coupling


def dot(a: np.ndarray, b: np.ndarray) -> Scalar:
    """Return the product of a motion (..., 6) and a force or momentum (..., 6), summed over the six elements."""
    if a.ndim == 1 and b.ndim == 1:
        return a.dot(b)
    return (a * b).sum(axis=-1)
