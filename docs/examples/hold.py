"""Holds the posture in which a run starts against gravity: for a fixed robot with one actuator for each joint.

mbcli simulate arm7.urdf --no-contact --controller hold.py --controller-rate 500 -t 2
"""

KP, KD = 400.0, 40.0  # [N m/rad, N m s/rad]


class Controller:
    def __init__(self, plant):
        self.plant, self.context, self.goal = plant, plant.CreateDefaultContext(), None

    def __call__(self, q, v):
        if self.goal is None:
            self.goal = q
        self.plant.SetPositions(self.context, q)
        gravity = self.plant.CalcGravityGeneralizedForces(self.context)  # what gravity does at the joints
        return KP * (self.goal - q) - KD * v - gravity
