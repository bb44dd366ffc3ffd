"""Y pi are the forces, energies and momenta of the equations of motion, for all joints and all kinds of trees."""

import numpy as np
import pytest
from random_trees import ALL, MOVING, random_plant, random_state

from mbcli.errors import ModelError
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.inertia.inertial_parameters import (
    central_inertia,
    in_frame,
    of_central_inertia,
    parameters_of,
    pseudo_inertia,
)
from mbcli.multibody.plant import BatchFunctions, MultibodyPlant
from mbcli.multibody.tree import RevoluteJoint, SpatialInertia

ROUNDING = 1e-12


def states(plant, count, seed):
    rng = np.random.default_rng(seed)
    q, v = map(np.array, zip(*(random_state(plant, rng) for _ in range(count)), strict=True))
    return q, v, rng.normal(size=v.shape)


def plant_of(seed):
    """Of bodies that are welded together gravity acts on all or on none."""
    weightless = seed % 5 == 4
    kinds = MOVING if weightless else ALL
    return random_plant(
        seed, kinds, num_bodies=9, trees=1 + seed % 2, floating_bases=seed % 3, weightless=weightless, sprung=False
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_regressor_times_the_parameters_is_the_inverse_dynamics(seed):
    plant = plant_of(seed)
    q, v, vdot = states(plant, 3, seed)
    batch = BatchFunctions(plant)
    Y, pi = batch.inverse_dynamics_regressor(q, v, vdot), batch.inertial_parameters()
    context = plant.CreateDefaultContext()
    tau = []
    for row in zip(q, v, vdot, strict=True):
        plant.SetPositions(context, row[0])
        plant.SetVelocities(context, row[1])
        tau.append(plant.CalcRequiredForces(context, row[2], springs=False, damping=False))
    tau = np.array(tau) - plant.model.dof_armature * vdot
    assert Y.shape == (3, plant.num_velocities(), 10 * len(batch.regressor_bodies()))
    assert np.abs(Y @ pi - tau).max() < ROUNDING * np.abs(tau).max()


@pytest.mark.parametrize("seed", range(4))
def test_regressors_of_energy_and_momentum(seed):
    plant = random_plant(seed, num_bodies=7, floating_bases=seed % 2, actuated=False, sprung=False)
    q, v, _ = states(plant, 4, seed)
    batch = BatchFunctions(plant)
    pi, point = batch.inertial_parameters(), [0.3, -0.2, 0.5]
    energies, momenta = batch.energies(q, v), batch.momentum(q, v, point)
    assert np.abs(batch.energy_regressor(q, v) @ pi - energies).max() < ROUNDING * np.abs(energies).max()
    assert np.abs(batch.momentum_regressor(q, v, point) @ pi - momenta).max() < ROUNDING * np.abs(momenta).max()


def test_a_row_does_not_depend_on_the_rows_beside_it():
    plant = plant_of(1)
    q, v, vdot = states(plant, 11, 1)
    batch = BatchFunctions(plant)
    whole = batch.inverse_dynamics_regressor(q, v, vdot)
    alone = [batch.inverse_dynamics_regressor(q[k : k + 1], v[k : k + 1], vdot[k : k + 1])[0] for k in range(11)]
    assert np.array_equal(whole, alone)


def welded_pair(weighs=True):
    """A link on a hinge to which another is welded."""
    plant = MultibodyPlant(0.0)
    M = SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3).Shift([-0.3, 0.1, 0.2])
    first, second = plant.AddRigidBody("first", M), plant.AddRigidBody("second", M)
    plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), first.body_frame(), [0, 1, 0]))
    X = RigidTransform(RollPitchYaw(0.1, 0.2, 0.3), [0.4, 0.5, 0.6])
    plant.WeldFrames(first.body_frame(), second.body_frame(), X)
    second.has_weight = weighs
    plant.Finalize()
    return plant


def test_links_that_are_welded_together_are_one_body():
    plant = welded_pair()
    batch = BatchFunctions(plant)
    assert batch.regressor_bodies() == ["first"]
    pi = batch.inertial_parameters()
    assert pi.shape == (10,) and pi[0] == pytest.approx(4.0)
    q, v, vdot = np.array([[0.3]]), np.array([[1.0]]), np.array([[2.0]])
    assert batch.inverse_dynamics_regressor(q, v, vdot) @ pi == pytest.approx(batch.inverse_dynamics(q, v, vdot))


def test_a_body_of_which_a_part_has_no_weight_has_no_regressor():
    with pytest.raises(ModelError, match="first and second"):
        BatchFunctions(welded_pair(weighs=False)).inertial_parameters()


def test_pseudo_inertias_change_frames_as_inertias_do():
    rng = np.random.default_rng(5)
    R, p = RollPitchYaw(0.4, -0.3, 1.2).ToRotationMatrix().matrix(), rng.normal(size=3)
    mass, center, inertia = 2.5, rng.normal(size=3), np.diag([0.3, 0.4, 0.5])
    pi = of_central_inertia(mass, center, inertia)
    m, c, central = central_inertia(in_frame(pi, R, p))
    assert m == pytest.approx(mass)
    np.testing.assert_allclose(c, R @ center + p)
    np.testing.assert_allclose(central, R @ inertia @ R.T, atol=1e-14)
    np.testing.assert_allclose(parameters_of(pseudo_inertia(pi)), pi, atol=1e-14)


def test_a_pseudo_inertia_is_positive_where_principal_moments_fit_a_triangle():
    for moments, possible in (((0.3, 0.4, 0.5), True), ((0.1, 0.2, 0.5), False), ((0.1, 0.4, 0.6), False)):
        values = np.linalg.eigvalsh(pseudo_inertia(of_central_inertia(1.0, np.zeros(3), np.diag(moments))))
        assert bool(values.min() > 0.0) is possible
