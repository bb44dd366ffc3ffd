"""Kernels of models without force elements and curves give what the whole kernels give."""

import numpy as np
import pytest
from random_trees import random_plant, random_state

from mbcli.engine import load_kernels
from mbcli.engine.runtime.model import Data
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import LinearSpringDamper, SpatialInertia

PLAIN_KINDS = ["weld", "revolute", "prismatic", "universal", "ball_rpy", "planar", "quaternion_floating"]


@pytest.mark.parametrize("seed", [1, 2])
def test_plain_kernels_step_to_the_same_bits(seed):
    plant = random_plant(seed, kinds=PLAIN_KINDS, time_step=0.01)
    assert plant.model.is_plain
    results = []
    for plain in (False, True):
        kernels, data = load_kernels(True, "plain" if plain else ""), Data(plant.model.sizes)
        data.q[:], data.v[:] = random_state(plant, np.random.default_rng(seed))
        handles = plant.model.handle(True), data.handle(True)
        kernels.position_stage(*handles)
        kernels.velocity_stage(*handles)
        power = kernels.calc_energy(*handles)
        kernels.calc_forward_dynamics(*handles, np.zeros((plant.num_bodies(), 6)))
        results.append(np.concatenate([data.vdot, data.energy, [power]]))
    assert np.array_equal(*results)


def test_a_model_with_a_spring_damper_is_not_plain():
    plant = MultibodyPlant(0.01)
    body = plant.AddRigidBody("body", SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.2, 0.3))
    plant.AddForceElement(LinearSpringDamper(plant.world_body(), [0, 0, 0], body, [0, 0, 0.1], 0.5, 10.0, 1.0))
    plant.Finalize()
    assert not plant.model.is_plain
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [1, 0, 0, 0, 0, 0, -1.0])
    assert plant.CalcForwardDynamics(context)[5] == pytest.approx(-9.81 + 10.0 * 0.4)
