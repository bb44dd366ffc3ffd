"""Motions whose states and inputs are variables: closed forms, exact slopes, simulations, and pydrake's results."""

from importlib import import_module

import numpy as np
import pytest
from repository import ROOT

pytest.importorskip("sympy")


def cart_pole():
    from mbcli.multibody.parsing import Parser
    from mbcli.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(ROOT / "sample_models" / "cart_pole.sdf"))
    plant.Finalize()
    return plant


def double_integrator(library="mbcli"):
    return import_module(f"{library}.systems.primitives").LinearSystem(
        [[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], np.eye(2), np.zeros((2, 1))
    )


def swing_up(library="mbcli"):
    planning, trajectories = (import_module(f"{library}.{name}") for name in ("planning", "trajectories"))
    system = import_module(f"{library}.examples").PendulumPlant()
    context = system.CreateDefaultContext()
    sought = planning.DirectCollocation(system, context, 21, 0.2, 0.5)
    sought.AddEqualTimeIntervalsConstraints()
    u, prog = sought.input(), sought.prog()
    sought.AddConstraintToAllKnotPoints(u[0] <= 3.0)
    sought.AddConstraintToAllKnotPoints(u[0] >= -3.0)
    prog.AddBoundingBoxConstraint([0.0, 0.0], [0.0, 0.0], sought.initial_state())
    prog.AddBoundingBoxConstraint([np.pi, 0.0], [np.pi, 0.0], sought.final_state())
    sought.AddRunningCost(10.0 * u[0] ** 2)
    guess = trajectories.PiecewisePolynomial.FirstOrderHold([0.0, 4.0], [[0.0, np.pi], [0.0, 0.0]])
    sought.SetInitialTrajectory(trajectories.PiecewisePolynomial(), guess)
    result = import_module(f"{library}.solvers").Solve(prog)
    assert result.is_success()
    return system, sought, result


def test_the_fastest_double_integrator_is_bang_bang():
    """From rest over a distance d with |u| <= 1: 2 sqrt(d), of which a step of the grid is lost at most."""
    from mbcli.planning import DirectCollocation
    from mbcli.solvers import Solve

    system = double_integrator()
    sought = DirectCollocation(system, system.CreateDefaultContext(), 12, 0.01, 0.5)
    sought.AddEqualTimeIntervalsConstraints()
    sought.AddConstraintToAllKnotPoints(sought.input()[0] <= 1.0)
    sought.AddConstraintToAllKnotPoints(sought.input()[0] >= -1.0)
    sought.prog().AddBoundingBoxConstraint([0.0, 0.0], [0.0, 0.0], sought.initial_state())
    sought.prog().AddBoundingBoxConstraint([1.0, 0.0], [1.0, 0.0], sought.final_state())
    sought.prog().SetInitialGuessForAllVariables(np.full(sought.prog().num_vars(), 0.1))
    sought.AddFinalCost(sought.time()[0])
    result = Solve(sought.prog())
    assert result.is_success()
    assert 2.0 <= result.get_optimal_cost() <= 2.0 * (1.0 + 1.0 / 11)
    u = sought.GetInputSamples(result)[0]
    assert u[0] == pytest.approx(1.0, abs=1e-4) and u[-1] == pytest.approx(-1.0, abs=1e-4)
    assert sought.GetSampleTimes(result)[-1] == pytest.approx(result.get_optimal_cost())


def test_a_swing_up_is_a_motion_of_the_pendulum():
    """From each sample an integrator gets to the next one (m = 1 kg, l = 0.5 m, b = 0.1 N m s)."""
    from scipy.integrate import solve_ivp

    _, sought, result = swing_up()
    x, u = sought.ReconstructStateTrajectory(result), sought.ReconstructInputTrajectory(result)

    def motion(t, y):
        return [y[1], (u.value(t)[0, 0] - 9.81 * 0.5 * np.sin(y[0]) - 0.1 * y[1]) / 0.25]

    times = sought.GetSampleTimes(result)
    for start, end in zip(times[:-1], times[1:], strict=True):
        found = solve_ivp(motion, (start, end), x.value(start)[:, 0], rtol=1e-8, atol=1e-8).y[:, -1]
        np.testing.assert_allclose(found, x.value(end)[:, 0], atol=0.03)  # a step is 0.2 s, an error its fifth power
    np.testing.assert_allclose(x.value(times[-1])[:, 0], [np.pi, 0.0], atol=1e-6)
    assert np.abs(sought.GetInputSamples(result)).max() <= 3.0 + 1e-6


@pytest.mark.parametrize("kind", ["plant", "leaf"])
def test_slopes_of_defects_are_derivatives(kind):
    from mbcli.examples import AcrobotPlant
    from mbcli.planning import DirectCollocationConstraint

    system = cart_pole() if kind == "plant" else AcrobotPlant()
    port = system.get_actuation_input_port().get_index() if kind == "plant" else 0
    made = DirectCollocationConstraint(system, system.CreateDefaultContext(), port)
    x = np.random.default_rng(3).uniform(0.1, 1.0, made.num_vars())
    steps = 1e-6 * np.eye(x.size)
    columns = [(made.Eval(x + e) - made.Eval(x - e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(made.jacobian(x), np.array(columns).T, atol=1e-6, rtol=1e-6)


def test_a_plant_moves_as_its_linearization_says():
    """By closed forms, and by Linearize()'s derivatives, which other plants take."""
    from mbcli.systems import motion_slopes

    plant, z = cart_pole(), np.random.default_rng(4).normal(size=5)
    context = plant.CreateDefaultContext()
    closed = motion_slopes.MotionSlopes(plant, context, plant.get_actuation_input_port().get_index())
    other = motion_slopes._Plant(plant, context.Clone(), "actuation")
    for one, two in zip(closed.slopes(z), other.slopes(z), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-10)
    np.testing.assert_allclose(closed.values(z), other.values(z), atol=1e-12)


def test_transcription_of_a_linear_system_is_a_quadratic_program():
    """Two steps of a discrete double integrator to rest are given by the states: u = (-x, x) / h^2."""
    from mbcli.planning import DirectTranscription
    from mbcli.solvers import Solve
    from mbcli.systems.primitives import LinearSystem

    h = 0.5
    system = LinearSystem([[1.0, h], [0.0, 1.0]], [[0.0], [h]], np.eye(2), np.zeros((2, 1)), h)
    sought = DirectTranscription(system, system.CreateDefaultContext(), 4)
    sought.prog().AddBoundingBoxConstraint([1.0, 0.0], [1.0, 0.0], sought.initial_state())
    sought.prog().AddBoundingBoxConstraint([0.0, 0.0], [0.0, 0.0], sought.state(2))
    sought.AddRunningCost(sought.input()[0] ** 2)
    result = Solve(sought.prog())
    assert result.is_success()
    np.testing.assert_allclose(sought.GetInputSamples(result)[0], [-4.0, 4.0, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(sought.ReconstructStateTrajectory(result).value(0.7)[:, 0], [1.0, -2.0], atol=1e-6)


def test_what_is_asked_for_wrongly_is_refused():
    from mbcli.planning import DirectCollocation, DirectTranscription
    from mbcli.trajectories import PiecewisePolynomial

    system = double_integrator()
    context = system.CreateDefaultContext()
    with pytest.raises(RuntimeError, match="discrete"):
        DirectTranscription(system, context, 5)
    fixed = DirectTranscription(system, context, 5, DirectTranscription.TimeStep(0.1))
    for call in (lambda: fixed.time_step(0), lambda: fixed.AddDurationBounds(0.0, 1.0)):
        with pytest.raises(RuntimeError, match="fixed"):
            call()
    sought = DirectCollocation(system, context, 5, 0.1, 0.2)
    with pytest.raises(RuntimeError, match="no variable"):
        sought.AddFinalCost(fixed.state()[0])
    with pytest.raises(RuntimeError, match="trajectory"):
        sought.SetInitialTrajectory(PiecewisePolynomial(), PiecewisePolynomial())
    with pytest.raises(RuntimeError, match="sequence"):
        sought.GetSequentialVariableAtIndex("force", 0)


def test_sequences_and_callbacks_have_the_samples():
    from mbcli.planning import DirectCollocation
    from mbcli.solvers import Solve

    system, seen = double_integrator(), []
    sought = DirectCollocation(system, system.CreateDefaultContext(), 4, 0.1, 0.2)
    extra = sought.NewSequentialVariable(2, "force")
    sought.AddRunningCost(extra[0] ** 2 + (extra[1] - 1.0) ** 2 + sought.input()[0] ** 2)
    sought.AddCompleteTrajectoryCallback(lambda t, x, u, others: seen.append((t, x, u, others)), ["force"])
    result = Solve(sought.prog())
    assert result.is_success() and seen
    t, x, u, others = seen[-1]
    assert (t.shape, x.shape, u.shape, others[0].shape) == ((4,), (2, 4), (1, 4), (2, 4))
    np.testing.assert_allclose(sought.GetSequentialVariableSamples(result, "force"), [[0.0] * 4, [1.0] * 4], atol=1e-4)


def test_ipopt_finds_what_slsqp_finds():
    pytest.importorskip("casadi")
    from mbcli.solvers import IpoptSolver, MathematicalProgram, Solve

    prog = MathematicalProgram()
    x = prog.NewContinuousVariables(3)
    prog.AddCost(lambda z: (z[0] - 1.0) ** 2 + (z[1] - 2.0) ** 2 + z[2] ** 4, x)
    prog.AddConstraint(lambda z: [z @ z, z[0] * z[1]], [1.0, -np.inf], [1.0, 0.3], x)
    prog.SetInitialGuess(x, [1.0, 0.2, 0.3])
    one, two = IpoptSolver().Solve(prog), Solve(prog)
    assert one.is_success() and one.get_solver_id().name() == "Ipopt" and two.get_solver_id().name() == "SLSQP"
    assert one.get_optimal_cost() == pytest.approx(two.get_optimal_cost(), rel=1e-6)

    def failing(z):
        raise ValueError("of the user")

    prog.AddCost(failing, x)
    with pytest.raises(ValueError, match="of the user"):
        IpoptSolver().Solve(prog)


@pytest.mark.peers("pydrake")
def test_a_swing_up_costs_what_it_costs_in_pydrake():
    ours, theirs = swing_up(), swing_up("pydrake")
    costs = [result.get_optimal_cost() for _, _, result in (ours, theirs)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-4)
    found = [[b.evaluator() for b in sought.prog().GetAllConstraints()] for _, sought, _ in (ours, theirs)]
    made = [next(c for c in constraints if c.num_vars() == 7) for constraints in found]
    x = np.random.default_rng(5).uniform(0.1, 1.0, 7)
    np.testing.assert_allclose(made[0].Eval(x), made[1].Eval(x), atol=1e-12)
