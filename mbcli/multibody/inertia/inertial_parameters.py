"""The ten inertial parameters of a body, and its pseudo-inertia.

Parameters are about the origin of a frame and along its axes, in Pinocchio's order: m [kg], m c_x, m c_y, m c_z [kg m],
I_xx, I_xy, I_yy, I_xz, I_yz, I_zz [kg m^2], products with the minus sign as in URDF files.

The pseudo-inertia J (4, 4) is the second moment of the mass about the origin, [[sum p p^T dm, m c], [m c^T, m]]. A body
can exist if and only if it is positive definite (Wensing, Kim and Slotine 2018), and it changes frames as X J X^T.
"""

import numpy as np

PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
UNITS = ("kg", "kg m", "kg m", "kg m", *("kg m^2",) * 6)
# places of parameters 4 to 9 in a symmetric matrix
ROWS, COLUMNS = np.array((0, 0, 1, 0, 1, 2)), np.array((0, 1, 1, 2, 2, 2))


def rotational_inertia(parameters: np.ndarray) -> np.ndarray:
    """I (..., 3, 3) about the origin, of parameters (..., 10)."""
    inertia = np.empty((*parameters.shape[:-1], 3, 3))
    inertia[..., ROWS, COLUMNS] = parameters[..., 4:]
    inertia[..., COLUMNS, ROWS] = parameters[..., 4:]
    return inertia


def pseudo_inertia(parameters: np.ndarray) -> np.ndarray:
    """J (..., 4, 4) of parameters (..., 10)."""
    inertia = rotational_inertia(parameters)
    half_trace = 0.5 * np.trace(inertia, axis1=-2, axis2=-1)[..., None, None]
    J = np.empty((*parameters.shape[:-1], 4, 4))
    J[..., :3, :3] = half_trace * np.eye(3) - inertia
    J[..., :3, 3] = J[..., 3, :3] = parameters[..., 1:4]
    J[..., 3, 3] = parameters[..., 0]
    return J


def parameters_of(J: np.ndarray) -> np.ndarray:
    """Parameters (..., 10) of a pseudo-inertia J (..., 4, 4)."""
    moments = J[..., :3, :3]
    inertia = np.trace(moments, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - moments
    parameters = np.empty((*J.shape[:-2], 10))
    parameters[..., 0], parameters[..., 1:4] = J[..., 3, 3], J[..., :3, 3]
    parameters[..., 4:] = inertia[..., ROWS, COLUMNS]
    return parameters


def in_frame(parameters: np.ndarray, R_FB: np.ndarray, p_FB: np.ndarray) -> np.ndarray:
    """Parameters (10,) of a body in a frame F, of those in its frame B at the pose R_FB (3, 3), p_FB (3,)."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R_FB, p_FB
    return parameters_of(X @ pseudo_inertia(parameters) @ X.T)


def of_central_inertia(mass: float, p_BoBcm: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Parameters (10,) of a mass [kg], its centre [m] and its inertia (3, 3) [kg m^2] about that."""
    c = np.asarray(p_BoBcm, dtype=float)
    about_origin = np.asarray(inertia) + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([mass, *(mass * c), *about_origin[ROWS, COLUMNS]])


def central_inertia(parameters: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre (3,), and inertia (3, 3) about the centre, of parameters (10,); without mass the centre is 0."""
    mass = float(parameters[0])
    c = parameters[1:4] / mass if mass != 0.0 else np.zeros(3)
    return mass, c, rotational_inertia(parameters) - mass * (c @ c * np.eye(3) - np.outer(c, c))
