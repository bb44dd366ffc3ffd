"""A humanoid that keeps its balance when it is pushed, by its joint angles, an inertial unit, and what its feet feel.

The capture point is where the robot would come to rest over one foot (Pratt et al. 2006, Capture Point: A Step toward
Humanoid Push Recovery). The centre of mass is accelerated so that this point goes back to the middle of the feet.
Accelerations of the joints and forces at the corners of the soles come from one least-squares problem, in which the
forces stay in friction pyramids and the equations of motion of the pelvis hold (as in Herzog et al. 2014, Balancing
Experiments on a Torque-Controlled Humanoid with Hierarchical Inverse Dynamics, but with weights in place of a
hierarchy). Where the forces do not suffice, trunk and arms give way before the centre of mass does.
"""

import numpy as np
from scipy.optimize import nnls

from mbcli.math import Quaternion, RotationMatrix
from mbcli.multibody.tree import JacobianWrtVariable

HEIGHT, FREQUENCY = 0.9288, np.sqrt(9.81 / 0.9288)  # [m] of the centre of mass, [rad/s] of its pendulum
GAIN, FRICTION = 1.5, 0.6  # of the capture point; of the soles
SOLE = np.array([0.055, 0.0, -0.08])  # middle of a sole in the frame of the foot
CORNERS = [[x, y, 0.0] for x in (-0.128, 0.128) for y in (-0.038, 0.038)]
EDGES = [[x, y, 1.0] for x in (-FRICTION, FRICTION) for y in (-FRICTION, FRICTION)]
PUSHES = np.array([[np.cross(corner, edge), edge] for corner in CORNERS for edge in EDGES])  # moments about SOLE first
STAND = np.array([0, 0, 0, 0.2, 0.1, -0.4, 0.2, -0.1, -0.4] + 2 * [0, 0, -0.24684, 0.6, -0.35316, 0])
COM, FEET, TORSO, POSTURE = 80.0, 100.0, 2.0, 1.0  # how much accelerations matter


class Controller:
    rate = 500.0

    def __init__(self, plant):
        self.plant, self.context, self.world = plant, plant.CreateDefaultContext(), plant.world_frame()
        self.feet = [plant.GetFrameByName(name) for name in ("left_foot", "right_foot")]
        self.torso = plant.GetFrameByName("torso")

    def __call__(self, time, q, v, sensors):
        plant, context = self.plant, self.context
        R = RotationMatrix(Quaternion(sensors["orientation"])).matrix()
        plant.SetPositions(context, np.concatenate([sensors["orientation"], np.zeros(3), q[7:]]))
        v = np.concatenate([R @ sensors["gyro"], np.zeros(3), v[6:]])
        J = [self.jacobian(foot, SOLE) for foot in self.feet]
        load = np.array([sensors["left"], sensors["right"]]) + 1.0
        v[3:6] = -load @ [(each @ v)[3:] for each in J] / load.sum()  # soles that carry do not move
        plant.SetVelocities(context, v)
        poses = [foot.CalcPoseInWorld(context) for foot in self.feet]
        pushes = [(PUSHES @ X.rotation().matrix().T).reshape(-1, 6) for X in poses]
        ground = np.vstack([pushes[0] @ J[0], pushes[1] @ J[1]]).T  # of each edge of each friction pyramid, on v
        A, b = self.tasks(J, poses, q[7:], v)
        M = plant.CalcMassMatrix(context)
        h = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)

        # vdot = free x + pushed f + falls, for any x and f, fulfils the six equations of the pelvis
        base, none = np.linalg.inv(M[:6, :6]), np.zeros((len(v) - 6, ground.shape[1]))
        free = np.vstack([-base @ M[:6, 6:], np.eye(len(v) - 6)])
        pushed, falls = np.vstack([base @ ground[:6], none]), np.concatenate([-base @ h[:6], none[:, 0]])
        Q, r = np.linalg.qr(A @ free)
        C, d = A @ pushed, b - A @ falls
        left, small = np.eye(len(A)) - Q @ Q.T, 0.002 * np.eye(len(C.T))  # what x cannot mend; small forces
        f = nnls(np.vstack([left @ C, small]), np.concatenate([left @ d, np.zeros(len(small))]))[0]
        vdot = free @ np.linalg.solve(r, Q.T @ (d - C @ f)) + pushed @ f + falls
        return (M @ vdot + h - ground @ f)[6:]

    def tasks(self, J, poses, angles, v):
        """Rows A vdot = b, each as heavy as it matters: centre of mass, feet, trunk, posture."""
        plant, at = self.plant, (self.context, JacobianWrtVariable.kV, self.world, self.world)
        away = plant.CalcCenterOfMassPositionInWorld(self.context) - np.mean([X.multiply(SOLE) for X in poses], axis=0)
        com = plant.CalcJacobianCenterOfMassTranslationalVelocity(*at)
        # capture point: away + rate / FREQUENCY; the soles press GAIN times its distance beyond it
        stiffness = np.array([GAIN * FREQUENCY**2, GAIN * FREQUENCY**2, 100.0])
        damping = np.array([(1.0 + GAIN) * FREQUENCY, (1.0 + GAIN) * FREQUENCY, 20.0])
        pull = -stiffness * (away - [0.0, 0.0, HEIGHT]) - damping * (com @ v)
        A = [COM * com]
        b = [COM * (pull - plant.CalcBiasCenterOfMassTranslationalAcceleration(*at))]
        for foot, each in zip(self.feet, J, strict=True):
            bias = plant.CalcBiasSpatialAcceleration(*at[:2], foot, SOLE, self.world, self.world).get_coeffs()
            A, b = [*A, FEET * each], [*b, FEET * (-bias - 30.0 * (each @ v))]
        tilt, turn = self.torso.CalcPoseInWorld(self.context).rotation().ToAngleAxis(), self.jacobian(self.torso)[:3]
        A = [*A, TORSO * turn, POSTURE * np.eye(len(v))[6:]]
        b = [
            *b,
            TORSO * (-60.0 * tilt.angle() * tilt.axis() - 15.0 * (turn @ v)),
            POSTURE * (60.0 * (STAND - angles) - 15.0 * v[6:]),
        ]
        return np.vstack(A), np.concatenate(b)

    def jacobian(self, frame, point=(0.0, 0.0, 0.0)):
        at = self.world, self.world
        return self.plant.CalcJacobianSpatialVelocity(self.context, JacobianWrtVariable.kV, frame, point, *at)
