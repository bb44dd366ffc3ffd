"""The work of constraints in a continuous run has the energy by which a projection changes the end of a step."""

import numpy as np
import pytest
from random_trees import random_plant, random_state

from mbcli.engine import load_kernels
from mbcli.engine.runtime.model import Data
from mbcli.engine.stepping.balance import AFTER_PROJECTION, BEFORE_PROJECTION
from mbcli.engine.stepping.integrators import METHODS, Integration
from mbcli.engine.stepping.run_arrays import Balance


@pytest.mark.parametrize("seed", range(3))
def test_a_projection_gives_constraints_the_energy_between_before_and_after(seed):
    plant, rng = random_plant(seed), np.random.default_rng(seed)
    kernels, model = load_kernels(False), plant.model
    context, data, balance = plant.CreateDefaultContext(), Data(model.sizes), Balance(model.sizes)
    energies = []
    states = [random_state(plant, rng) for _ in range(2)]
    run = Integration(METHODS["runge_kutta3"], np.concatenate(states[0]), 0.0, 0.01)
    for (q, v), when in zip(states, (BEFORE_PROJECTION, AFTER_PROJECTION), strict=True):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        energies.append(plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context))
        run.y_end[:] = np.concatenate([q, v])
        assert kernels.balance_motion(model, data, balance, run, when) == 0.0
    assert abs(energies[1] - energies[0]) > 0.1
    change, rounding = energies[1] - energies[0], 1e-12 * max(map(abs, energies))
    assert balance.projection[0] == pytest.approx(change, rel=1e-12, abs=rounding)
    assert not balance.work.any()
