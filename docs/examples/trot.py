"""A trot by what a robot knows itself: the angles of its joints, an inertial unit, and which feet touch the ground.

Feet that stand push the trunk towards its speed, height and attitude; feet that swing go to where the next step of that
speed begins (Raibert 1986, Legged Robots That Balance).
"""

import numpy as np

from mbcli.math import Quaternion, RollPitchYaw, VectorToSkewSymmetric
from mbcli.multibody.tree import JacobianWrtVariable

SPEED, HEIGHT, PERIOD, LIFT, SOLE = 0.4, 0.3, 0.3, 0.06, 0.02  # [m/s], [m], [s] of two steps, [m], [m]
WEIGHT, FRICTION = 15.0 * 9.81, 0.6  # [N]
FEET = ("front_left", "front_right", "rear_left", "rear_right")
FIRST = np.array([True, False, False, True])  # feet that stand in the first half of a period
UNDER_HIPS = np.array([[x, y, 0.0] for x in (0.2, -0.2) for y in (0.15, -0.15)])
LEVEL = np.array([1.0, 1.0, 0.0])


class Controller:
    rate = 500.0

    def __init__(self, plant):
        self.plant, self.context = plant, plant.CreateDefaultContext()
        self.trunk = plant.GetFrameByName("trunk")
        self.feet = [plant.GetFrameByName(f"{name}_foot") for name in FEET]
        self.velocity = np.zeros(3)  # of the trunk, in its axes

    def __call__(self, time, q, v, sensors):
        p, J = self.kinematics(q[7:])
        attitude, w = RollPitchYaw(Quaternion(sensors["orientation"])), sensors["gyro"]
        R = attitude.ToRotationMatrix().matrix()
        swings = ((time / PERIOD) % 1.0 < 0.5) != FIRST
        stands = ~swings & np.array([sensors[name] > 2.0 for name in FEET])
        rates = J @ v[6:]
        if stands.any():  # feet that stand do not move
            seen = -(rates + np.cross(w, p))[stands].mean(axis=0)
            self.velocity += 0.1 * (seen - self.velocity)
        error = self.velocity - [SPEED * min(1.0, 0.5 * time), 0.0, 0.0]
        forces = np.zeros((4, 3))
        if stands.any():
            height = SOLE - (p[stands] @ R.T)[:, 2].mean()
            up = WEIGHT + 1500.0 * (HEIGHT - height) - 100.0 * (R @ self.velocity)[2]
            torque = -np.array([80.0, 80.0, 30.0]) * attitude.vector() - np.array([4.0, 4.0, 3.0]) * w
            forces[stands] = -shared(R.T @ [0.0, 0.0, up] - 100.0 * error * LEVEL, torque, p[stands], R)
        lift = LIFT * np.sin(np.pi * ((2.0 * time / PERIOD) % 1.0)) * swings
        aims = UNDER_HIPS + (0.25 * PERIOD * self.velocity + 0.08 * error) * LEVEL
        aims = aims + (lift[:, None] + SOLE - HEIGHT) * R[2]
        pulls = 700.0 * (aims - p) - 20.0 * (rates + self.velocity * LEVEL)
        return np.einsum("kij,ki->j", J, np.where(stands[:, None], forces, pulls))

    def kinematics(self, angles):
        """p (4, 3) of the feet in the trunk, and their Jacobians (4, 3, 12)."""
        plant, wrt = self.plant, JacobianWrtVariable.kV
        plant.SetPositions(self.context, np.concatenate([[1.0, 0, 0, 0, 0, 0, 0], angles]))
        at = self.context, np.zeros(3), self.trunk
        p = [plant.CalcPointsPositions(at[0], foot, at[1], at[2])[:, 0] for foot in self.feet]
        J = [plant.CalcJacobianTranslationalVelocity(at[0], wrt, f, at[1], at[2], at[2]) for f in self.feet]
        return np.array(p), np.array(J)[:, :, 6:]


def shared(force, torque, p, R):
    """Forces (k, 3) of the ground on feet at p (k, 3) that come close to a force and torque on the trunk."""
    A = np.vstack([np.hstack([np.eye(3)] * len(p)), 2.0 * np.hstack([VectorToSkewSymmetric(each) for each in p])])
    b = np.concatenate([force, 2.0 * torque, np.zeros(3 * len(p))])
    f = np.linalg.lstsq(np.vstack([A, 0.2 * np.eye(3 * len(p))]), b, rcond=None)[0].reshape(-1, 3) @ R.T
    f[:, 2] = np.clip(f[:, 2], 5.0, 200.0)
    most = FRICTION * f[:, 2:]
    f[:, :2] = np.clip(f[:, :2], -most, most)
    return f @ R
