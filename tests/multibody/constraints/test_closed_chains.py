"""Closed chains in motion: known answers of classic mechanisms, energy, errors of constraints, singular positions."""

import json
import math

import numpy as np
import pytest
from command_line import cli, succeed
from constraint_scenes import GRAVITY, Z, bar, end_of
from repository import SAMPLES
from scipy.integrate import solve_ivp

from mbcli.common.json_text import plain
from mbcli.config.simulator_config import SimulatorConfig
from mbcli.errors import ArgumentError, NumericalError
from mbcli.models import assemble
from mbcli.multibody.assembly.closed_chains import ClosedChains, assemble_context
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.inputs import constant_input
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import RevoluteJoint

CHAINS = SAMPLES / "closed_chains"
G = 9.81
ERROR_BY_ACCURACY = 20.0  # of runs of some seconds, see docs/explanation/architecture.md
# mechanism: velocity of its first coordinate at the start
CONSERVATIVE = {"four_bar": 1.0, "slider_crank": 2.0, "bricard": 0.0}
MOBILITY_ONE = {"four_bar": 2, "slider_crank": 2, "four_bar_chain": 8, "andrews": 6, "bricard": 4}


def load(name, time_step=0.0):
    plant = MultibodyPlant(time_step)
    Parser(plant).AddModels(str(CHAINS / f"{name}.urdf"))
    plant.Finalize()
    return plant, plant.CreateDefaultContext()


def put(plant, context, **positions):
    for joint, value in positions.items():
        plant.GetJointByName(joint).set_angle(context, value)


def start_moving(context, first):
    """Velocities that satisfy the constraints, of which the first one is given."""
    chains = ClosedChains(context)
    _, G = chains.velocity_errors(context.state.q, context.state.v)
    null = np.linalg.svd(G)[2][-1]
    context.state.set_v(null * (first / null[0]))


def run(plant, context, until, accuracy=1e-9, scheme="runge_kutta5", sample_period=0.01, **options):
    config = SimulatorConfig(integration_scheme=scheme, accuracy=accuracy)
    blocks = list(Run(plant, context, until, config=config, sample_period=sample_period, **options).blocks())
    fields = ("time", "q", "v", "energy", "constraint_error")
    return {name: np.concatenate([getattr(block, name) for block in blocks]) for name in fields}


@pytest.mark.parametrize("name", MOBILITY_ONE)
def test_mechanisms_have_mobility_one_whatever_counting_says(name):
    plant, context = load(name)
    chains = ClosedChains(context)
    found = chains.assemble(context.state.q)
    assert found.converged
    rank = chains.rank_nearby(found.q)
    assert (rank, plant.num_velocities() - rank) == (MOBILITY_ONE[name], 1)


def test_andrews_mechanism_is_where_the_published_solution_is():
    """Mazzia and Magherini, Test Set for Initial Value Problem Solvers, 2008: PSIDE with tolerance 1e-14."""
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(CHAINS / "andrews.urdf"))
    plant.mutable_gravity_field().set_gravity_vector([0, 0, 0])
    plant.Finalize()
    context = plant.CreateDefaultContext()
    start = {
        "beta": -0.0617138900142764496358948458001,
        "theta": 0.0,
        "gamma": 0.455279819163070380255912382449,
        "phi": 0.222668390165885884674473185609,
        "delta": 0.487364979543842550225598953530,
        "omega": -0.222668390165885884674473185609,
        "epsilon": 1.23054744454982119249735015568,
    }
    end = {
        "beta": 15.81077119629904,
        "theta": -15.75637105984298,
        "gamma": 0.04082224013073101,
        "phi": -0.5347301163226948,
        "delta": 0.5244099658805304,
        "omega": 0.5347301163226948,
        "epsilon": 1.048080741042263,
    }
    put(plant, context, **start)
    assert np.linalg.norm(ClosedChains(context).position_errors(context.state.q)[0]) < 1e-15
    rows = run(plant, context, 0.03, accuracy=1e-10, actuation=constant_input([0.033]))
    for joint, angle in end.items():
        assert plant.GetJointByName(joint).get_angle(context) == pytest.approx(angle, rel=1e-7, abs=1e-7), joint
    assert rows["constraint_error"].max() <= 1e-10


def test_a_model_without_constraints_is_assembled_without_the_algebra_of_constraints(monkeypatch):
    """That of a chain of 3,000 links took minutes, and a gigabyte."""

    def refuse(*_, **__):
        raise AssertionError("there is nothing to solve")

    monkeypatch.setattr(np.linalg, "lstsq", refuse)
    monkeypatch.setattr(ClosedChains, "_factorize", refuse)
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(SAMPLES / "double_pendulum.urdf"))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    context.state.set_v([0.5, -2.0])
    found = assemble(context)
    assert (found["rank"], found["mobility"], found["v"].tolist()) == (0, 2, [0.5, -2.0])


@pytest.mark.parametrize("name", CONSERVATIVE)
def test_energy_stays_and_constraints_hold_over_ten_seconds(name):
    plant, context = load(name)
    assemble_context(context, 1e-10)
    if name == "slider_crank":
        put(plant, context, pivot=0.4)
        assemble_context(context, 1e-10)
    start_moving(context, CONSERVATIVE[name])
    rows = run(plant, context, 10.0, accuracy=1e-10)
    energy = rows["energy"].sum(axis=1)
    scale = np.abs(rows["energy"]).max()
    assert np.ptp(rows["energy"][:, 0]) > 0.1 * scale
    assert np.abs(energy - energy[0]).max() < 1e-6 * scale
    assert rows["constraint_error"].max() <= 1e-10


def test_a_chain_of_four_bars_passes_its_singular_position_as_one_pendulum():
    plant, context = load("four_bar_chain")
    start_moving(context, -1.0)
    n = 4
    inertia, weight = (n + 1) / 3 + n, (n + 1) / 2 + n

    def pendulum(t, y):
        return [y[1], G * weight / inertia * math.sin(y[0])]

    rows = run(plant, context, 1.2, accuracy=1e-11)
    exact = solve_ivp(pendulum, (0, 1.2), [0.0, -1.0], t_eval=rows["time"], rtol=1e-12, atol=1e-13, method="DOP853").y
    foot = plant.GetJointByName("foot_0").position_start()
    assert np.abs(exact[0]).max() > 0.6 * math.pi  # beyond the horizontal position
    np.testing.assert_allclose(rows["q"][:, foot], exact[0], atol=1e-6)
    bars = [plant.GetJointByName(f"head_{k}").position_start() for k in range(n)]
    np.testing.assert_allclose(rows["q"][:, bars], -exact[0][:, None] @ np.ones((1, n)), atol=1e-6)


def test_a_slider_crank_moves_as_in_minimal_coordinates():
    """Lagrange's equation of the crank's angle, with derivatives by differences of closed-form positions."""
    plant, context = load("slider_crank")
    put(plant, context, pivot=0.4)
    assemble_context(context, 1e-10)
    crank, rod = plant.GetJointByName("pivot"), plant.GetJointByName("pin")
    put(plant, context, pivot=0.4, pin=-0.4 - math.asin(math.sin(0.4) / 3))
    x = 0.5 * math.cos(0.4) + 1.5 * math.sqrt(1 - math.sin(0.4) ** 2 / 9)
    plant.GetJointByName("guide").set_translation(context, x - 2.0)
    assert np.linalg.norm(ClosedChains(context).position_errors(context.state.q)[0]) < 1e-14
    start_moving(context, 0.0 * context.state.v[0] + 2.0)
    rate = crank.get_angular_rate(context)

    def mass(a):
        """Of the motion of the angle a; positive angles about y turn x towards -z."""
        s, c = math.sin(a), math.cos(a)
        cos_b = math.sqrt(1 - s * s / 9)
        b_rate, x_rate = -c / (3 * cos_b), -0.5 * s - s * c / (6 * cos_b)
        z_rate = -0.5 * c / 2  # of the rod's centre, half way between crank pin and slider
        center = (-0.5 * s + x_rate) / 2
        return 0.25 / 3 + 2 * (center**2 + z_rate**2) + 2 * 2.25 / 12 * b_rate**2 + 3 * x_rate**2

    def potential(a):
        return -G * (1 * 0.25 + 2 * 0.25) * math.sin(a)

    def lagrange(t, y):
        e = 1e-5
        dm = (mass(y[0] + e) - mass(y[0] - e)) / (2 * e)
        dV = (potential(y[0] + e) - potential(y[0] - e)) / (2 * e)
        return [y[1], -(0.5 * dm * y[1] ** 2 + dV) / mass(y[0])]

    rows = run(plant, context, 2.0, accuracy=1e-10)
    exact = solve_ivp(lagrange, (0, 2.0), [0.4, rate], t_eval=rows["time"], rtol=1e-11, atol=1e-12, method="DOP853").y
    np.testing.assert_allclose(rows["q"][:, crank.position_start()], exact[0], atol=1e-6)
    assert rod.position_start() != crank.position_start()


@pytest.mark.parametrize("accuracy", [1e-6, 1e-8, 1e-9, 1e-10, 1e-11])
@pytest.mark.parametrize("speed", [-0.3, -1.0, -2.0])
def test_singular_positions_are_passed_at_all_accuracies(accuracy, speed):
    """Twice each turn, several times in ten seconds; samples between the steps are as good as these."""
    for sample_period in (0.01, 0.5):
        plant, context = load("four_bar_chain")
        start_moving(context, speed)
        rows = run(plant, context, 10.0, accuracy=accuracy, sample_period=sample_period)
        energy = rows["energy"].sum(axis=1)
        assert np.abs(energy - energy[0]).max() < ERROR_BY_ACCURACY * accuracy * np.abs(rows["energy"]).max()
        assert rows["constraint_error"].max() < 1e-10
        foot = rows["q"][:, plant.GetJointByName("foot_0").position_start()]
        assert np.ptp(foot) > math.pi
        np.testing.assert_allclose(np.abs(rows["q"]), np.abs(foot)[:, None] * np.ones(9), atol=1e-6)


def lay_flat(plant, context, rate):
    """Puts the chain of four-bars into its singular position, moving as one pendulum."""
    for joint in plant.moving_joints():
        sign = 1.0 if "foot" in joint.name() else -1.0
        joint.set_angle(context, sign * math.pi / 2)
        joint.set_angular_rate(context, sign * rate)
    assert np.linalg.norm(ClosedChains(context).position_errors(context.state.q)[0]) < 1e-14


def test_a_run_that_rests_in_a_singular_position_says_so():
    plant, context = load("four_bar_chain")
    lay_flat(plant, context, 0.0)
    with pytest.raises(NumericalError, match="constraints are singular, with rank 4 in place of 8"):
        run(plant, context, 0.1)
    plant, context = load("four_bar_chain", 1e-3)
    lay_flat(plant, context, 0.0)
    with pytest.raises(NumericalError, match="constraints are singular, with rank 4 in place of 8"):
        list(Run(plant, context, 0.1).blocks())
    assert context.get_time() == 0.0
    np.testing.assert_array_equal(context.state.v, 0.0)


@pytest.mark.parametrize("time_step", [0.0, 1e-3])
def test_accelerations_in_a_singular_position_are_those_of_the_motion_or_none(time_step):
    plant, context = load("four_bar_chain", time_step)
    lay_flat(plant, context, 2.0)
    n = 4
    expected = G * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    signs = np.sign(context.state.v)
    np.testing.assert_allclose(plant.CalcForwardDynamics(context), expected * signs, atol=1e-9)
    X = plant.GetBodyByName("rod_0").EvalPoseInWorld(context)
    np.testing.assert_allclose(X.rotation().matrix()[:, 2], [1, 0, 0], atol=1e-15)  # of the position itself
    np.testing.assert_array_equal(context.state.v, 2.0 * signs)
    lay_flat(plant, context, 0.0)
    with pytest.raises(NumericalError, match="constraints are singular, with rank 4 in place of 8"):
        plant.CalcForwardDynamics(context)


def test_accelerations_far_off_redundant_constraints_are_refused():
    plant, context = load("bricard")
    assemble_context(context, 1e-10)
    plant.CalcForwardDynamics(context)
    context.state.set_q(context.state.q + 0.1 * np.random.default_rng(0).normal(size=5))
    with pytest.raises(NumericalError, match="5 equations of the constraints are independent at these positions, 4"):
        plant.CalcForwardDynamics(context)


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_an_equation_that_vanishes_in_a_singular_position_is_passed(start):
    """Two rods of 1 m with 2 m between their pivots, as between their ends: flat, the distance does not change."""
    plant, joints = MultibodyPlant(0.0), []
    plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
    for k in range(2):
        rod = bar(plant, f"rod{k}", 1.0)
        ground = end_of(plant, plant.world_body(), 2.0 * k, f"ground{k}")
        joints.append(plant.AddJoint(RevoluteJoint(f"joint{k}", ground, rod.body_frame(), Z)))
    rods = [joint.child_body() for joint in joints]
    plant.AddDistanceConstraint(rods[0], [1, 0, 0], rods[1], [1, 0, 0], 2.0)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for joint in joints:
        joint.set_angle(context, start)
        joint.set_angular_rate(context, 3.0)
    rows = run(plant, context, 5.0, accuracy=1e-10)
    energy = rows["energy"].sum(axis=1)
    assert np.ptp(rows["q"][:, 0]) > math.pi
    np.testing.assert_allclose(rows["q"][:, 1], rows["q"][:, 0], atol=1e-8)
    assert np.abs(energy - energy[0]).max() < 1e-8 * np.abs(rows["energy"]).max()


def test_discrete_steps_with_redundant_constraints_converge():
    """Off the constraints all equations of the Bricard linkage are independent, and would hold it."""
    drifts = []
    for h in (2e-3, 1e-3):
        plant, context = load("bricard", h)
        assemble_context(context, 1e-10)
        start_moving(context, 1.0)
        energies = np.concatenate([block.energy for block in Run(plant, context, 3.0).blocks()])
        total = energies.sum(axis=1)
        drifts.append(np.abs(total - total[0]).max() / np.abs(energies).max())
    assert drifts[1] < 1e-5
    assert 3.0 < drifts[0] / drifts[1] < 6.0


def test_discrete_steps_pass_singular_positions():
    """Damping in some of the joints pulls at the loops; positions converge to those of a continuous run."""
    ends = []
    for h in (0.0, 2e-3, 1e-3):
        plant = MultibodyPlant(h)
        Parser(plant).AddModels(str(CHAINS / "four_bar_chain.urdf"))
        plant.GetJointByName("foot_1").set_default_damping_vector([0.5])
        plant.GetJointByName("head_2").set_default_damping_vector([1.5])
        plant.Finalize()
        context = plant.CreateDefaultContext()
        start_moving(context, -3.0)
        rows = run(plant, context, 2.0, accuracy=1e-10)["q"]
        np.testing.assert_allclose(np.abs(rows), np.abs(rows[:, :1]) * np.ones(9), atol=1e-9)
        ends.append(rows[-1, 0])
    exact, coarse, fine = ends
    assert 3.8 < (coarse - exact) / (fine - exact) < 4.2
    assert fine == pytest.approx(exact, abs=5e-6)


def test_discrete_runs_say_where_they_start_off_the_constraints():
    plant, context = load("four_bar", 1e-3)
    with pytest.warns(UserWarning, match="do not satisfy the constraints: their error is"):
        Run(plant, context, 0.1)


def test_a_run_needs_a_start_that_satisfies_the_constraints():
    plant, context = load("four_bar")
    with pytest.raises(NumericalError, match="positions from which a run starts do not satisfy the constraints"):
        run(plant, context, 0.1)
    lines = assemble_context(context, 1e-10)
    assert lines[0].startswith("assembled the start")
    context.state.set_v([1.0, 0.0, 0.0])
    with pytest.raises(NumericalError, match="velocities from which a run starts"):
        run(plant, context, 0.1)


def test_discrete_steps_keep_a_closed_chain_closed():
    for h in (2e-2, 1e-3):
        plant, context = load("four_bar", h)
        assemble_context(context, 1e-10)
        blocks = list(Run(plant, context, 2.0).blocks())
        assert max(block.constraint_error.max() for block in blocks) < 1e-10


def test_reactions_of_a_closed_chain_balance_its_weight():
    """At rest the pivots in the ground carry all: found once in the tree and once behind the cut joint."""
    plant, context = load("four_bar")
    assemble_context(context, 1e-10)
    u = -plant.CalcGravityGeneralizedForces(context)
    plant.get_applied_generalized_force_input_port().FixValue(context, u)
    assert np.abs(plant.CalcForwardDynamics(context)).max() < 1e-9
    reactions = plant.get_reaction_forces_output_port().Eval(context)
    total = np.zeros(3)
    for name in ("left", "right"):
        joint = plant.GetJointByName(name)
        frame = joint.frame_on_child()
        R = plant.CalcRelativeTransform(context, plant.world_frame(), frame).rotation().matrix()
        total += R @ reactions[int(joint.index())].translational()
    np.testing.assert_allclose(total, [0, 0, 4 * G], atol=1e-9)


def test_derivatives_of_accelerations_under_constraints_are_those_of_differences():
    plant, context = load("four_bar")
    assemble_context(context, 1e-10)
    start_moving(context, 1.0)
    derivatives = plant.CalcDerivatives(context, "forward_dynamics", ("v", "tau"))
    v, step = context.state.v.copy(), 1e-6

    def vdot(dv, dtau):
        plant.SetVelocities(context, v + dv)
        return plant.CalcAccelerations(context, dtau, None)

    zero = np.zeros(3)
    for k, e in enumerate(np.eye(3)):
        by_v = (vdot(step * e, zero) - vdot(-step * e, zero)) / (2 * step)
        by_tau = (vdot(zero, e) - vdot(zero, -e)) / 2
        np.testing.assert_allclose(derivatives["v"][:, k], by_v, atol=1e-7)
        np.testing.assert_allclose(derivatives["tau"][:, k], by_tau, atol=1e-10)


# -------------------------------------------------------------------------------------------- from the shell


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


FOUR_BAR = CHAINS / "four_bar.urdf"


@pytest.mark.usefixtures("interpreted")
def test_assemble_finds_a_state_that_simulate_starts_from(tmp_path):
    result = succeed("assemble", FOUR_BAR, "--at", "left=0.3", "--v", "1 0 0", "--json")
    document = result.json()
    assert document["converged"]
    assert document["position_error"] <= 1e-12
    assert document["velocity_error"] <= 1e-12
    assert (document["rank"], document["redundant"], document["mobility"], document["singular"]) == (2, 3, 1, False)
    state = tmp_path / "state.json"
    state.write_text(json.dumps(document))
    run = succeed(
        "simulate", FOUR_BAR, "--state", state, "--integrator", "runge_kutta3", "-t", 0.05, "--no-log", "--json"
    )
    assert "assembled" not in run.err
    assert run.json()["constraint_error"] <= 1e-10


@pytest.mark.usefixtures("interpreted")
def test_simulate_assembles_first_says_so_and_logs_the_error(tmp_path):
    log = tmp_path / "run.h5"
    options = ("--integrator", "runge_kutta3", "--constraint-tolerance", 1e-8, "-t", 0.05, "-o", log)
    run = succeed("simulate", FOUR_BAR, *options)
    assert "mbcli: assembled the start: the constraints had an error of" in run.err
    rows = succeed("log", "export", log, "--to", "jsonl").out.splitlines()
    assert max(json.loads(row)["derived/constraint_error"] for row in rows) <= 1e-8


@pytest.mark.usefixtures("interpreted")
def test_a_mechanism_that_cannot_be_assembled_is_a_numerical_failure():
    text = FOUR_BAR.read_text().replace('xyz="2 0 0"', 'xyz="20 0 0"')
    for command in (["assemble", "-"], ["simulate", "-", "-t", 0.1, "--no-log"]):
        result = cli(*command, stdin=text)
        assert result.code == 5
        assert "no assembly was found" in result.err


@pytest.mark.usefixtures("interpreted")
def test_inspect_says_rank_redundancy_and_mobility():
    mobility = succeed("inspect", FOUR_BAR, "--json").json()["mobility"]
    assert (mobility["rows"], mobility["rank"], mobility["mobility"]) == (5, 2, 1)
    assert mobility["redundant"] == [{"type": "loop", "name": "coupler_rocker", "rows": 3}]
    text = succeed("inspect", CHAINS / "bricard.urdf").out
    assert "constraints: 5 equations of rank 4, mobility 1; redundant: 1 of hinge_5" in text


@pytest.mark.usefixtures("interpreted")
def test_constrained_dynamics_balance(tmp_path):
    state = tmp_path / "state.json"
    state.write_text(succeed("assemble", FOUR_BAR, "--v", "1 0 0", "--json").out)
    document = succeed("constrained-dynamics", FOUR_BAR, "--state", state, "--tau", "1 2 3", "--json").json()
    plant, context = load("four_bar")
    plant.SetPositions(context, document["q"])
    plant.SetVelocities(context, document["v"])
    G_ = ClosedChains(context).velocity_errors(context.state.q, context.state.v)[1]
    M, tau_g = plant.CalcMassMatrix(context), plant.CalcGravityGeneralizedForces(context)
    left = M @ document["vdot"] + plant.CalcBiasTerm(context)
    right = np.array([1, 2, 3]) + tau_g + G_.T @ document["lambda"]
    np.testing.assert_allclose(left, right, atol=1e-9)
    np.testing.assert_allclose(document["v_plus"], document["v"], atol=1e-10)


@pytest.mark.usefixtures("interpreted")
def test_the_library_assembles_as_the_command_does():
    plant, context = load("four_bar")
    plant.SetVelocities(context, [1.0, 0.0, 0.0])
    plant.SetPositions(context, [0.3, 0.0, 0.0])
    printed = succeed("assemble", FOUR_BAR, "--q", "0.3 0 0", "--v", "1 0 0", "--weights", "1 2 0.5", "--json").json()
    found = assemble(context, [1.0, 2.0, 0.5])
    assert plain(found) == {key: printed[key] for key in found}
    np.testing.assert_array_equal(plant.GetPositionsAndVelocities(context), [*found["q"], *found["v"]])
    assert (found["rank"], found["redundant"], found["mobility"]) == (2, 3, 1) and found["position_error"] < 1e-12
    for weights, message in (([1.0, 2.0], "must have 3 numbers"), ([1.0, -1.0, 0.0], "must not be negative")):
        with pytest.raises(ArgumentError, match=f"weights {message}"):
            assemble(context, weights)
