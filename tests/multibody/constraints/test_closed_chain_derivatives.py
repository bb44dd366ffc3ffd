"""Linearization and derivatives of closed chains, redundant ones too."""

import math

import numpy as np
import pytest
from command_line import succeed
from random_trees import bodies_of, joints_of, random_context, random_plant
from test_closed_chains import CHAINS, G, lay_flat, load, put, start_moving

from mbcli.autodiffutils import ExtractGradient, InitializeAutoDiff
from mbcli.errors import NumericalError
from mbcli.multibody.assembly.closed_chains import ClosedChains, assemble_context
from mbcli.multibody.compilation.constrained_model import DEPENDENT
from mbcli.multibody.core import closed_form_derivatives, derivatives
from mbcli.multibody.linearization import motion_derivatives
from mbcli.multibody.linearization.motion_derivatives import PlantMotion, plant_derivatives, values_at
from mbcli.multibody.stepping.run import Run

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def moving(name):
    plant, context = load(name)
    if name == "slider_crank":
        put(plant, context, pivot=0.4)
    assemble_context(context, 1e-12)
    start_moving(context, 1.3)
    return plant, context


@pytest.mark.parametrize("upright", [True, False])
def test_a_chain_of_four_bars_is_linearized_as_one_pendulum(upright):
    plant, context = load("four_bar_chain")
    if not upright:
        for joint in plant.moving_joints():
            joint.set_angle(context, math.pi if "foot" in joint.name() else -math.pi)
    n = 4
    rate = math.sqrt(G * ((n + 1) / 2 + n) / ((n + 1) / 3 + n))
    A = plant_derivatives(plant, context, "actuation", "state")[0]
    values = sorted(np.linalg.eigvals(A), key=abs)
    np.testing.assert_allclose(
        np.sort_complex(values[-2:]), np.array([-rate, rate]) * (1 if upright else 1j), atol=1e-8
    )
    np.testing.assert_allclose(values[:-2], 0.0, atol=1e-6)


def projected(chains, q, v):
    """The state on the constraints nearest to another one, by the steps of the engine."""
    constrained = chains._constrained
    constrained.data.q[:], constrained.data.v[:] = q, v
    assert constrained.run("project_positions", 1e-13, 100) >= 0
    constrained.work.v_plus[:] = 0.0
    constrained.run("project_velocities", DEPENDENT)
    return constrained.data.q.copy(), constrained.data.v.copy()


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bricard", "four_bar_chain"])
def test_a_linearization_is_that_of_the_motion_from_projected_states(name):
    plant, context = moving(name)
    chains = ClosedChains(context)
    q, v, nq = context.state.q.copy(), context.state.v.copy(), context.state.q.size
    A, _, _, _, f, _, _ = plant_derivatives(plant, context, "actuation", "state")
    np.testing.assert_allclose(f, [*v, *plant.CalcForwardDynamics(context)], atol=1e-10)
    rng = np.random.default_rng(0)
    onto = PlantMotion(plant, context, False, values_at(plant, context)).projection(context)
    np.testing.assert_allclose(onto @ onto, onto, atol=1e-9)
    np.testing.assert_allclose(A @ onto, A, atol=1e-8 * np.abs(A).max())
    for _ in range(3):
        direction, step = rng.normal(size=2 * nq), 1e-5
        if name == "bricard":  # off the constraints its dependent equation is none, and the steps go along the motion
            direction = onto @ direction
        ends = []
        for sign in (1.0, -1.0):
            x = np.concatenate([q, v]) + sign * step * direction
            context.state.set_q(q)
            q_end, v_end = projected(chains, x[:nq], x[nq:])
            context.state.set_q(q_end)
            context.state.set_v(v_end)
            ends.append(np.concatenate([v_end, plant.CalcForwardDynamics(context)]))
        found = (ends[0] - ends[1]) / (2.0 * step)
        np.testing.assert_allclose(A @ direction, found, atol=1e-5 * np.abs(found).max())


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bricard", "four_bar_chain"])
def test_closed_forms_of_a_linearization_are_complex_steps(name, monkeypatch):
    plant, context = moving(name)
    with monkeypatch.context() as only_closed:
        only_closed.setattr(motion_derivatives, "derivatives_by_complex_steps", None)
        found = plant_derivatives(plant, context, "actuation", "state")
    monkeypatch.setattr(motion_derivatives, "closed_form_motion", lambda *arguments: None)
    expected = plant_derivatives(plant, context, "actuation", "state")
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9 * max(1.0, np.abs(theirs).max(initial=0.0)))


@pytest.mark.parametrize("seed", range(3))
def test_closed_forms_know_springs_damping_gravity_and_locked_joints(seed, monkeypatch):
    plant = random_plant(
        seed, trees=2, floating_bases=1, weightless=seed == 1, time_step=0.01 * (seed == 2), finalize=False
    )
    bodies = bodies_of(plant)
    plant.AddBallConstraint(bodies[3], [0.1, 0.2, 0.3], bodies[7], [0.3, 0.1, -0.2])
    plant.AddDistanceConstraint(bodies[4], np.zeros(3), bodies[9], np.ones(3), 0.7)
    plant.Finalize()
    context = random_context(plant, np.random.default_rng(seed))
    if plant.is_discrete():
        next(j for j in joints_of(plant) if j.type_name() == "prismatic").Lock(context)
    rng = np.random.default_rng(1)
    inputs = {"tau": rng.normal(size=plant.num_velocities()), "u": rng.normal(size=plant.num_actuators())}
    found = plant.CalcDerivatives(context, "forward_dynamics", **inputs)
    names = ("q", "tangent", "v", "tau", "u")
    monkeypatch.setattr(closed_form_derivatives, "has_constrained_closed_form", lambda *arguments: False)
    expected = plant.CalcDerivatives(context, "forward_dynamics", names, **inputs)
    monkeypatch.undo()
    monkeypatch.setattr(derivatives, "Context", None)  # no complex steps
    found |= plant.CalcDerivatives(context, "forward_dynamics", "tangent", **inputs)
    for name in names:
        scale = max(1.0, np.abs(expected[name]).max(initial=0.0))
        np.testing.assert_allclose(found[name], expected[name], atol=1e-10 * scale, err_msg=name)


def test_actuation_reaches_all_of_a_loop():
    plant, context = load("andrews")
    assemble_context(context, 1e-12)
    _, B, _, _, f, _, _ = plant_derivatives(plant, context, "actuation", "state")
    vdot = [plant.CalcAccelerations(context, None, [u]) for u in (0.0, 1.0)]
    np.testing.assert_allclose(B[7:, 0], vdot[1] - vdot[0], rtol=1e-8)
    np.testing.assert_allclose(f[7:], vdot[0], rtol=1e-10)


def test_a_state_off_the_constraints_or_singular_is_not_linearized_about():
    plant, context = load("four_bar")
    with pytest.raises(NumericalError, match="does not satisfy the constraints"):
        plant_derivatives(plant, context, "actuation", "state")
    plant, context = load("four_bar_chain")
    lay_flat(plant, context, 1.0)
    with pytest.raises(NumericalError, match="so close to a singular position"):
        plant_derivatives(plant, context, "actuation", "state")


def test_a_step_of_a_discrete_closed_chain_is_linearized():
    plant, context = load("four_bar", 1e-3)
    assemble_context(context, 1e-12)
    start_moving(context, 1.0)
    A = plant_derivatives(plant, context, "actuation", "state", True)[0]
    x, step = np.concatenate([context.state.q, context.state.v]), 1e-6

    def after(x):
        other = context.Clone()
        other.state.set_q(x[:3])
        other.state.set_v(x[3:])
        list(Run(plant, other, 1e-3).blocks())
        return np.concatenate([other.state.q, other.state.v])

    for k, e in enumerate(np.eye(6)):
        np.testing.assert_allclose(A[:, k], (after(x + step * e) - after(x - step * e)) / (2 * step), atol=1e-5)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bricard"])
def test_automatic_differentiation_agrees_with_complex_steps(name):
    plant, context = moving(name)
    by = plant.CalcDerivatives(context, "forward_dynamics", ("q", "v"))
    other = plant.ToAutoDiffXd()
    dual = other.CreateDefaultContext()
    x = InitializeAutoDiff(np.concatenate([context.state.q, context.state.v])).ravel()
    other.SetPositionsAndVelocities(dual, x)
    gradient = ExtractGradient(other.CalcForwardDynamics(dual))
    np.testing.assert_allclose(gradient, np.hstack([by["q"], by["v"]]), atol=1e-9)


def test_the_shell_linearizes_closed_chains(tmp_path):
    state = tmp_path / "state.json"
    state.write_text(succeed("assemble", CHAINS / "four_bar.urdf", "--v", "1 0 0", "--json").out)
    document = succeed("linearize", CHAINS / "four_bar.urdf", "--state", state, "--json").json()
    assert np.shape(document["A"]) == (6, 6)
    found = succeed("forward-dynamics", CHAINS / "four_bar.urdf", "--state", state, "--derivatives", "--json").json()
    plant, context = load("four_bar")
    plant.SetPositions(context, found["q"])
    plant.SetVelocities(context, found["v"])
    by = plant.CalcDerivatives(context, "forward_dynamics", "q")["q"]
    np.testing.assert_allclose(found["dvdot_dq"], by, atol=1e-9)
