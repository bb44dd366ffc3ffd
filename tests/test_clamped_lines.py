"""Newton's method for limits of joints: the sizes by which it measures agreement, and its end without a solution."""

import numpy as np
import pytest
from limited_trees import state_at_limits
from test_joints_at_limits import H, Robot

from mbcli.engine import load_kernels
from mbcli.engine.limits import clamped_lines
from mbcli.engine.runtime.linking import link_interpreted
from mbcli.engine.runtime.model import Data


def step_at_limits(kernels, seed):
    """Model and Data after the dynamics of a step of a falling robot whose joints are at their limits."""
    robot = Robot(seed, floating=True, damped=True)
    rng = np.random.default_rng(seed)
    context = robot.context(
        state_at_limits(robot.limits, rng, inside=0.0), rng.normal(size=robot.plant.num_velocities())
    )
    model = robot.plant.model
    data = Data(model.sizes)
    data.q[:], data.v[:] = robot.plant.GetPositions(context), robot.plant.GetVelocities(context)
    kernels.at_velocities(model, data)
    kernels.clear_applied_forces(data)
    kernels.gather_forces(model, data, H, 1)
    kernels.limited_dynamics(model, data, H)
    return model, data


@pytest.mark.parametrize("seed", range(3))
def test_without_a_solution_no_acceleration_of_a_line_is_a_number(seed):
    kernels = link_interpreted({"numbers"}, {clamped_lines.count_disagreements: lambda model, data, step: 1})
    model, data = step_at_limits(kernels, seed)
    lines = [kernels.dof_of_line(model, i) for i in range(len(data.line))]
    assert len(lines) == 14  # two for each of seven limited joints
    assert np.isnan(data.vdot[lines]).all()
    assert np.isfinite(step_at_limits(load_kernels(False), seed)[1].vdot).all()


@pytest.mark.parametrize("seed", range(3))
def test_sizes_of_accelerations_begin_with_gravity_and_grow_outwards(seed):
    kernels = load_kernels(False)
    model, data = step_at_limits(kernels, seed)
    data.A_size[:] = np.nan
    kernels.size_accelerations(model, data)
    np.testing.assert_array_equal(data.A_size[0], [0.0, 0.0, 0.0, *abs(model.gravity)])
    for b in range(1, model.body_parent.size):
        dofs = range(model.body_v[b], model.body_v[b] + model.body_nv[b])
        across = sum(abs(data.S[d] * data.vdot[d]) for d in dofs)
        expected = data.A_size[model.body_parent[b]] + abs(data.A_bias[b]) + across
        np.testing.assert_allclose(data.A_size[b], expected, rtol=1e-14)
