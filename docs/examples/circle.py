"""An arm draws a circle: computed torque in the space of its hand.

    mbcli simulate sample_models/arm7.urdf --no-contact --controller docs/examples/circle.py -t 4 \
        --at joint_2=0.6 --at joint_4=-1.2 --at joint_6=0.6

The hand starts at rest, at a point of the circle, and goes round once in 4 s. What the task leaves free, the posture,
stays near that of the start.
"""

import numpy as np

from mbcli.multibody.tree import JacobianWrtVariable, MultibodyForces

RADIUS, DURATION = 0.1, 4.0  # [m], [s]
STIFFNESS = 60.0  # [rad/s] of errors, critically damped
POSTURE = 5.0  # [rad/s] of the posture


class Controller:
    """Accelerations of the hand along the circle become accelerations of the joints, and these become torques."""

    def __init__(self, plant):
        self.plant, self.context = plant, plant.CreateDefaultContext()
        self.hand, self.world = plant.GetFrameByName("flange"), plant.world_frame()
        self.forces = MultibodyForces(plant)

    def reset(self, q):
        """Notes where the run starts."""
        self.q_start = q
        self.plant.SetPositions(self.context, q)
        self.start = self.hand.CalcPoseInWorld(self.context).translation()

    def wanted(self, time):
        """Place, velocity and acceleration (3,) of the hand on the circle, from rest to rest."""
        s = min(time / DURATION, 1.0)
        angle = 2.0 * np.pi * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)
        rate = 2.0 * np.pi / DURATION * 30.0 * (s**2 - 2.0 * s**3 + s**4)
        change = 2.0 * np.pi / DURATION**2 * (60.0 * s - 180.0 * s**2 + 120.0 * s**3)
        out, along = np.array([0.0, np.cos(angle), np.sin(angle)]), np.array([0.0, -np.sin(angle), np.cos(angle)])
        return (
            self.start + RADIUS * (out - [0.0, 1.0, 0.0]),
            RADIUS * rate * along,
            RADIUS * (change * along - rate**2 * out),
        )

    def __call__(self, time, q, v):
        plant, context = self.plant, self.context
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        of_point = (self.hand, np.zeros(3), self.world, self.world)
        J = plant.CalcJacobianTranslationalVelocity(context, JacobianWrtVariable.kV, *of_point)
        bias = plant.CalcBiasTranslationalAcceleration(context, JacobianWrtVariable.kV, *of_point).ravel()
        p, p_dot, p_ddot = self.wanted(time)
        errors = p - self.hand.CalcPoseInWorld(context).translation(), p_dot - J @ v
        hand = p_ddot + 2.0 * STIFFNESS * errors[1] + STIFFNESS**2 * errors[0] - bias
        posture = POSTURE**2 * (self.q_start - q) - 2.0 * POSTURE * v
        inverse = np.linalg.pinv(J)
        vdot = inverse @ hand + posture - inverse @ (J @ posture)
        plant.CalcForceElementsContribution(context, self.forces)
        return plant.CalcInverseDynamics(context, vdot, self.forces)

    def save(self):
        """For a run that goes on."""
        return {"q_start": list(self.q_start), "start": list(self.start)}

    def load(self, kept):
        """The contrary of save()."""
        self.q_start, self.start = np.array(kept["q_start"]), np.array(kept["start"])
