"""Time of calculations against the number of bodies: linear recursions, and a mass matrix no worse than its size."""

import time

import numpy as np
import pytest

from mbcli.engine import load_kernels
from mbcli.engine.runtime.kernel import MANY_VELOCITIES, compiled_by_default
from mbcli.multibody.core import closed_form_derivatives
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import MultibodyForces, RevoluteJoint, SpatialInertia

SHORT, LONG = 100, 800

only_compiled = pytest.mark.skipif(not compiled_by_default(), reason="measures compiled kernels")


def chain(num_bodies):
    plant = MultibodyPlant(0.0)
    inertia = SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.1, 0.3).Shift([0.0, 0.0, 0.15])
    inboard = plant.world_frame()
    for n in range(num_bodies):
        body = plant.AddRigidBody(f"link{n}", inertia)
        plant.AddJoint(RevoluteJoint(f"pin{n}", inboard, body.body_frame(), [1.0, float(n % 2), 0.0]))
        inboard = body.body_frame()
    plant.Finalize()
    context = plant.CreateDefaultContext()
    rng = np.random.default_rng(num_bodies)
    plant.SetPositionsAndVelocities(context, rng.normal(size=2 * num_bodies))
    return plant, context


@pytest.fixture(scope="module")
def chains():
    return [chain(SHORT), chain(LONG)]


def fastest(calculate, plant, context, repeats=15):
    """[s] of one evaluation with nothing kept from the one before."""
    q, best = plant.GetPositions(context), np.inf
    calculate(plant, context)
    for _ in range(repeats):
        plant.SetPositions(context, q)
        start = time.perf_counter()
        calculate(plant, context)
        best = min(best, time.perf_counter() - start)
    return best


def inverse_dynamics(plant, context):
    plant.CalcInverseDynamics(context, np.ones(plant.num_velocities()), MultibodyForces(plant))


CALCULATIONS = {
    "inverse dynamics": (inverse_dynamics, 1),
    "bias": (lambda plant, context: plant.CalcBiasTerm(context), 1),
    "gravity": (lambda plant, context: plant.CalcGravityGeneralizedForces(context), 1),
    "forward dynamics": (lambda plant, context: plant.CalcForwardDynamics(context), 1),
    "energy": (lambda plant, context: plant.CalcKineticEnergy(context), 1),
    "mass matrix": (lambda plant, context: plant.CalcMassMatrix(context), 2),
}


@only_compiled
@pytest.mark.parametrize("name", CALCULATIONS)
def test_time_grows_with_the_number_of_bodies_to_the_power_of_the_algorithm(chains, name):
    """plant (c) 2, multibody_tree (c) 5, 18: the next higher power would take eight times as long as allowed for."""
    calculate, power = CALCULATIONS[name]
    short, long = (fastest(calculate, *pair) for pair in chains)
    assert long < 2.5 * short * (LONG / SHORT) ** power


@only_compiled
@pytest.mark.parametrize(("num_bodies", "compiled"), [(MANY_VELOCITIES - 1, False), (MANY_VELOCITIES, True)])
def test_derivatives_of_many_velocities_are_compiled_and_those_of_few_are_not_waited_for(
    monkeypatch, num_bodies, compiled
):
    """Interpreted, those of 400 velocities took 54 s, and their kernel is compiled in 9 s, once on a machine."""
    monkeypatch.setattr(closed_form_derivatives, "is_compiled", lambda kernel: False)
    state, name = chain(num_bodies)[1].state, "evaluate_forward_dynamics_derivatives"
    state.ready_parameters()
    kernel, _, _ = closed_form_derivatives._kernel(state, name)
    assert (kernel is not getattr(load_kernels(False), name)) == compiled
