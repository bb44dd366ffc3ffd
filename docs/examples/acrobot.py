"""An acrobot swings up and balances.

    mbcli simulate docs/examples/acrobot.urdf --controller docs/examples/acrobot.py -t 15 --at shoulder=0.1

Far from the top the elbow is accelerated so that the energy grows to that of the top (partial feedback linearization
with a term of the energy, Spong 1995); near it a linear-quadratic regulator balances.
"""

import numpy as np

from mbcli.multibody.tree import MultibodyForces

TOP = np.array([np.pi, 0.0])
K_P, K_D, K_E = 16.0, 8.0, 5.0  # of the swing
NEAR = 12.0  # of x^T S x: the regulator takes over
LIMIT = 25.0  # [N m] of the motor in the swing


class Controller:
    """Swings, then balances."""

    rate = 500.0

    def __init__(self, plant):
        self.plant, self.context = plant, plant.CreateDefaultContext()
        self.forces = MultibodyForces(plant)
        self.K, self.S = regulator(plant)
        plant.SetPositions(self.context, TOP)
        self.energy_at_top = plant.CalcPotentialEnergy(self.context)

    def __call__(self, q, v):
        turned = np.array([q[0] - TOP[0], q[1]])
        turned = (turned + np.pi) % (2.0 * np.pi) - np.pi
        x = np.concatenate([turned, v])
        if x @ self.S @ x < NEAR:
            return -self.K @ x
        plant, context = self.plant, self.context
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        energy = plant.CalcPotentialEnergy(context) + plant.CalcKineticEnergy(context)
        pumped = K_E * (energy - self.energy_at_top) * v[0]
        elbow = -K_P * turned[1] - K_D * v[1] + pumped
        M = plant.CalcMassMatrix(context)
        plant.CalcForceElementsContribution(context, self.forces)
        bias = plant.CalcInverseDynamics(context, np.zeros(2), self.forces)
        shoulder = -(bias[0] + M[0, 1] * elbow) / M[0, 0]
        torque = M[1, 0] * shoulder + M[1, 1] * elbow + bias[1]
        return [np.clip(torque, -LIMIT, LIMIT)]

    def save(self):
        """It keeps nothing."""

    def load(self, kept):
        """Nothing is kept."""


def regulator(plant):
    """Gains K (1, 4) about the top, and S of the cost-to-go x^T S x."""
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, TOP)
    A, B = continuous(plant, context)
    Q, R = np.diag([10.0, 10.0, 1.0, 1.0]), np.array([[1.0]])
    hamiltonian = np.block([[A, -B @ np.linalg.solve(R, B.T)], [-Q, -A.T]])
    values, vectors = np.linalg.eig(hamiltonian)
    stable = vectors[:, values.real < 0.0]
    S = np.real(stable[4:] @ np.linalg.inv(stable[:4]))
    return np.linalg.solve(R, B.T @ S), S


def continuous(plant, context):
    """A and B of x' = A x + B u at rest, by differences of the accelerations."""
    M = plant.CalcMassMatrix(context)
    q, h, stiffness = plant.GetPositions(context), 1e-6, np.empty((2, 2))
    for k in range(2):
        tau = []
        for step in (h, -h):
            moved = q.copy()
            moved[k] += step
            plant.SetPositions(context, moved)
            tau.append(plant.CalcGravityGeneralizedForces(context))
        stiffness[:, k] = (tau[0] - tau[1]) / (2.0 * h)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [np.linalg.solve(M, stiffness), np.zeros((2, 2))]])
    B = np.vstack([np.zeros((2, 1)), np.linalg.solve(M, [[0.0], [1.0]])])
    return A, B
