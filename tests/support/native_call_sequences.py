"""Random sequences of native calls on random plants; run as a program, for checks of memory
(test_engine_native_calls.py).

usage: python tests/support/native_call_sequences.py SEED SEQUENCES CALLS
"""

import sys
import warnings

import numpy as np
from random_trees import random_plant, random_state

from mbcli.multibody.tree import BodyIndex, ForceElement, JacobianWrtVariable, MultibodyForces
from mbcli.systems.analysis import Simulator


class Wind(ForceElement):
    """A force of a user, computed in Python at every step."""

    def CalcAndAddForceContribution(self, context, forces):
        forces.mutable_generalized_forces()[:] += 0.01 * context.get_time()

    def CalcPotentialEnergy(self, context):
        return 0.0

    CalcConservativePower = CalcNonConservativePower = CalcPotentialEnergy


def plant_of(rng):
    plant = random_plant(
        int(rng.integers(1 << 30)),
        num_bodies=6,
        time_step=float(rng.choice([0.0, 0.01])),
        floating_bases=int(rng.integers(2)),
        elements=bool(rng.integers(2)),
        finalize=False,
    )
    if rng.integers(2):
        plant.AddForceElement(Wind(plant.world_body().model_instance()))
    bodies = [plant.get_body(BodyIndex(n)) for n in (1, plant.num_bodies() - 1)]
    if rng.integers(2):
        plant.AddDistanceConstraint(bodies[0], np.zeros(3), bodies[1], 0.1 * np.ones(3), 1.0)
    plant.Finalize()
    return plant


def calls_of(plant, context, rng):
    """One random call."""
    body = plant.get_body(BodyIndex(int(rng.integers(1, plant.num_bodies()))))
    frame, world, forces = body.body_frame(), plant.world_frame(), MultibodyForces(plant)
    nv = plant.num_velocities()
    return rng.choice(
        [
            lambda: plant.SetPositionsAndVelocities(context, np.concatenate(random_state(plant, rng))),
            lambda: body.SetMass(context, float(rng.uniform(0.5, 2.0))),
            lambda: plant.CalcMassMatrix(context),
            lambda: plant.CalcForceElementsContribution(context, forces),
            lambda: plant.CalcInverseDynamics(context, rng.normal(size=nv), forces),
            lambda: plant.CalcJacobianSpatialVelocity(
                context, JacobianWrtVariable.kV, frame, np.zeros(3), world, world
            ),
            lambda: plant.CalcCenterOfMassPositionInWorld(context),
            lambda: plant.EvalBodySpatialVelocityInWorld(context, body),
            lambda: context.state.constraint_error(),
            lambda: context.Clone(),
            lambda: plant.get_reaction_forces_output_port().Eval(context),
            lambda: Simulator(plant, context).AdvanceTo(context.get_time() + 0.02),
        ]
    )


def main(seed, sequences, calls):
    warnings.simplefilter("ignore")
    for k in range(sequences):
        rng = np.random.default_rng((seed, k))
        plant = plant_of(rng)
        context = plant.CreateDefaultContext()
        for _ in range(calls):
            try:
                calls_of(plant, context, rng)()
            except (RuntimeError, ValueError) as error:  # of states that have no answer
                print(f"sequence {k}: {error}", file=sys.stderr)
    print("done", sequences)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
