"""Flies sample_models/worlds/quadrotor.sdf up to 1 m and around a square by the speeds of its rotors."""

import numpy as np

MASS, GRAVITY, THRUST, MOMENT = 1.52, 9.81, 8.54858e-06, 0.016
INERTIA = np.array([0.0357, 0.0710, 0.0989])
ROTORS = ((0.13, -0.22, 1.0), (-0.13, 0.2, 1.0), (0.13, 0.22, -1.0), (-0.13, -0.2, -1.0))  # x, y, ccw
FROM_THRUSTS = np.array([[1.0, y, -x, -turns * MOMENT] for x, y, turns in ROTORS]).T  # force and moments
CORNERS = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
RATE = 500.0


def rotation(w, x, y, z):
    """The axes of the body in World, from its quaternion."""
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def controller(time, q, v):
    """Speeds of rotors: a wanted acceleration gives a wanted attitude, and that the moments."""
    R, w = rotation(*q[:4]), v[:3]
    corner = CORNERS[int(time / 2.0) % 4]
    aim = np.array([*corner, 1.0]) - q[4:7]
    wanted = np.clip(4.0 * aim, -2.0, 2.0) - 3.2 * v[3:6] + [0.0, 0.0, GRAVITY]
    up = wanted / np.linalg.norm(wanted)
    tilt = R.T @ np.cross(R[:, 2], up)
    yaw = np.arctan2(R[1, 0], R[0, 0])
    rates = R.T @ w
    moments = INERTIA * (np.array([120.0, 120.0, 0.0]) * tilt - [20.0, 20.0, 4.0] * rates - [0.0, 0.0, 4.0 * yaw])
    thrusts = np.linalg.solve(FROM_THRUSTS, [MASS * wanted @ R[:, 2], *moments])
    speeds = np.sqrt(np.clip(thrusts, 0.0, None) / THRUST)
    return {f"rotor_{k}_joint.speed": speed for k, speed in enumerate(speeds)}


controller.rate = RATE
