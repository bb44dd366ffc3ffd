"""After any question a second one has the answer that it has alone: no call leaves what another takes for its own."""

import numpy as np
import pytest
from random_trees import random_plant, random_state

from mbcli.multibody.tree import BodyIndex, JacobianWrtVariable, MultibodyForces

QUESTIONS = {
    "mass matrix": lambda plant, context: plant.CalcMassMatrix(context),
    "mass matrix by inverse dynamics": lambda plant, context: plant.CalcMassMatrixViaInverseDynamics(context),
    "bias": lambda plant, context: plant.CalcBiasTerm(context),
    "gravity": lambda plant, context: plant.CalcGravityGeneralizedForces(context),
    "derivatives": lambda plant, context: plant.EvalTimeDerivatives(context).CopyToVector(),
    "energies": lambda plant, context: [plant.CalcKineticEnergy(context), plant.CalcPotentialEnergy(context)],
    "velocity of the centre of mass": lambda plant, context: plant.CalcCenterOfMassTranslationalVelocityInWorld(
        context
    ),
    "momentum": lambda plant, context: plant.CalcSpatialMomentumInWorldAboutPoint(
        context, [0.1, 0.2, 0.3]
    ).get_coeffs(),
    "pose": lambda plant, context: last_body(plant).EvalPoseInWorld(context).GetAsMatrix34(),
    "velocity": lambda plant, context: last_body(plant).EvalSpatialVelocityInWorld(context).get_coeffs(),
    "acceleration": lambda plant, context: last_body(plant).EvalSpatialAccelerationInWorld(context).get_coeffs(),
    "jacobian": lambda plant, context: jacobian(plant, context),
    "inverse dynamics": lambda plant, context: plant.CalcInverseDynamics(
        context, np.arange(1.0, plant.num_velocities() + 1.0), applied_forces(plant)
    ),
}


def last_body(plant):
    return plant.get_body(BodyIndex(plant.num_bodies() - 1))


def jacobian(plant, context):
    world = plant.world_frame()
    frame = last_body(plant).body_frame()
    return plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, frame, np.zeros(3), world, world)


def applied_forces(plant):
    forces = MultibodyForces(plant)
    forces.mutable_generalized_forces()[:] = 0.5
    return forces


@pytest.fixture(scope="module")
def asked():
    """(questions in turn) -> the answer to the last, in a new context."""
    plant = random_plant(4, num_bodies=5)
    q, v = random_state(plant, np.random.default_rng(4))

    def answer(*names):
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        return [np.array(QUESTIONS[name](plant, context)) for name in names][-1]

    return answer


@pytest.mark.parametrize("first", QUESTIONS)
def test_a_question_has_the_answer_that_it_has_alone(asked, first):
    for second in QUESTIONS:
        for before in (first,), (second, first):
            np.testing.assert_allclose(asked(*before, second), asked(second), rtol=1e-12, atol=1e-12, err_msg=second)


def test_answers_to_different_states_differ(asked):
    """None of them is always zero: the comparison sees what is missing."""
    for name in QUESTIONS:
        assert np.abs(asked(name)).max() > 1e-3, name
