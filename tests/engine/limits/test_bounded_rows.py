"""Newton's method for limits of joints ends with an answer: at kinks, by rounding, and when its steps run out."""

import numpy as np
import pytest
from limited_trees import random_limited_urdf, state_at_limits
from real_robots import LIMIT_CASES, at_limits

import mbcli.multibody.parsing
import mbcli.multibody.plant
from mbcli.engine import load_kernels
from mbcli.engine.fields.model_fields import ROW_OFFSET
from mbcli.engine.limits import limited_dynamics
from mbcli.engine.limits.bounded_rows import remaining_change
from mbcli.engine.runtime.model import Data
from mbcli.errors import NumericalError
from mbcli.multibody.stepping.run import Run

H = 1e-3


def limited_plant(text=None, path=None):
    plant = mbcli.multibody.plant.MultibodyPlant(H)
    parser = mbcli.multibody.parsing.Parser(plant)
    if path is None:
        parser.AddModelsFromString(text, "urdf")
    else:
        parser.AddModels(str(path))
    plant.Finalize()
    return plant


def dynamics(plant, kernels, q, v):
    """Model and Data after the dynamics of a step."""
    model = plant.model
    data = Data(model.sizes)
    data.q[:], data.v[:] = q, v
    kernels.at_velocities(model, data)
    kernels.clear_applied_forces(data)
    kernels.gather_forces(model, data, H, 1)
    kernels.limited_dynamics(model, data, H)
    return model, data


def falling_robot(seed):
    """A robot whose joints are at their limits, in motion: plant, q, v."""
    text, limits = random_limited_urdf(seed, floating=True, damped=True)
    plant, rng = limited_plant(text), np.random.default_rng(seed)
    q = np.array(plant.GetDefaultPositions())
    for name, value in state_at_limits(limits, rng, inside=0.0).items():
        q[plant.GetJointByName(name).position_start()] = value
    return plant, q, rng.normal(size=plant.num_velocities())


def test_what_is_left_of_a_robot_at_rest_without_weight_is_nothing():
    """Its accelerations are rounding, whatever part of them another step would change."""
    plant, _, _ = falling_robot(0)
    model = plant.model.replace()
    model.gravity = np.zeros(3)
    data = Data(model.sizes)
    data.vdot_point[:] = 2.3e-16
    data.vdot[:] = data.vdot_point + 7e-19
    assert remaining_change(model, data) < 1e-15
    data.vdot[0] += 1.0
    assert remaining_change(model, data) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", [0, 2])
def test_when_steps_run_out_the_best_point_comes_with_what_is_left(seed, monkeypatch):
    plant, q, v = falling_robot(seed)
    _, solved = dynamics(plant, load_kernels(False), q, v)
    assert solved.row_residual[0] == 0.0
    monkeypatch.setattr(limited_dynamics, "MOST_NEWTON_STEPS", 1)
    _, data = dynamics(plant, load_kernels(False), q, v)
    assert data.row_residual[0] > 1e-12
    assert np.isfinite(data.vdot).all()


def test_a_run_whose_lines_are_not_solved_says_so(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    monkeypatch.setattr(limited_dynamics, "MOST_NEWTON_STEPS", 1)
    plant, q, v = falling_robot(0)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    with pytest.raises(NumericalError, match=r"no common solution in step 1 from t = 0 s: .* smaller step"):
        for _ in Run(plant, context, 3 * H).blocks():
            pass
    np.testing.assert_array_equal(plant.GetPositions(context), q)


@pytest.mark.parametrize("path", LIMIT_CASES, ids=lambda path: path.stem)
def test_robots_of_others_fall_from_rest_at_their_stops_without_moving_in_themselves(path):
    """Rounding alone says which stops act: each has an answer, and it is free fall."""
    plant = limited_plant(path=path)
    kernels = load_kernels(False)
    for q in at_limits(plant, 8):
        model, data = dynamics(plant, kernels, q, np.zeros(plant.num_velocities()))
        assert data.row_residual[0] == 0.0
        expected = np.zeros(plant.num_velocities())
        expected[5] = -9.81
        np.testing.assert_allclose(data.vdot, expected, atol=1e-10)


@pytest.mark.parametrize("path", LIMIT_CASES, ids=lambda path: path.stem)
def test_efforts_solve_the_equations_that_they_stand_in(path):
    """M vdot = tau + what lines give at vdot, in motion at limits, by a mass matrix that the method does not have."""
    plant = limited_plant(path=path)
    kernels, rng = load_kernels(False), np.random.default_rng(1)
    context = plant.CreateDefaultContext()
    for q in at_limits(plant, 8):
        v = rng.normal(scale=3.0, size=plant.num_velocities())
        model, data = dynamics(plant, kernels, q, v)
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        M = plant.CalcMassMatrix(context)
        x = H * model.dof_damping / np.diag(M)
        M += np.diag(H * model.dof_damping * (1.0 + x) / (2.0 + x))
        forces = plant.CalcGravityGeneralizedForces(context) - plant.CalcBiasTerm(context) - model.dof_damping * v
        cancels = np.zeros(len(v))
        for i in range(len(data.bounded_row)):
            d = kernels.dof_of_row(model, i)
            forces[d] += kernels.clamped_effort(data, i, data.vdot[d])
            cancels[d] += abs(data.bounded_row[i, ROW_OFFSET])
        residual = abs(M @ data.vdot - forces)
        assert (residual <= 1e-12 * cancels + 1e-11 * abs(M @ data.vdot).max()).all()
