"""Integration of continuous plants: order of each method, energy, error control, stiffness, samples and inputs."""

import functools

import numpy as np
import pytest
from random_trees import random_inertia, random_plant, random_state
from repository import SAMPLES
from scipy.integrate import solve_ivp

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.engine import load_kernels
from mbcli.engine.runtime.kernel import compiled_by_default
from mbcli.engine.stepping.integrators import METHODS
from mbcli.errors import ModelError, NumericalError
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.continuous_steps import SCHEMES
from mbcli.multibody.stepping.inputs import Input, constant_input
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import BallRpyJoint, PrismaticJoint, RevoluteJoint, SpatialInertia, UnitInertia

SAMPLE_MODELS = SAMPLES
ORDERS = {name: method.order for name, method in METHODS.items()} | {"semi_explicit_euler": 1}
WITH_ERROR_CONTROL = [name for name, method in METHODS.items() if method.error_order]

only_compiled = pytest.mark.skipif(not compiled_by_default(), reason="takes minutes interpreted")


def config(scheme, **settings):
    return SimulatorConfig(integration_scheme=scheme, **settings)


def finished(plant, until, *, q=None, v=None, **options):
    """A run after its end, its context, and its samples as one array for each column."""
    context = plant.CreateDefaultContext()
    if q is not None:
        plant.SetPositions(context, q)
    if v is not None:
        plant.SetVelocities(context, v)
    run = Run(plant, context, until, **options)
    blocks = list(run.blocks())
    columns = ("time", "q", "v", "energy", "u")
    return run, context, {name: np.concatenate([getattr(b, name) for b in blocks]) for name in columns}


# a double pendulum, whose equations are in its file


@functools.cache
def double_pendulum():
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(SAMPLE_MODELS / "double_pendulum.urdf")
    plant.Finalize()
    return plant


START = np.array([2.0, -1.0, 0.5, 0.3])
GENTLE = np.array([1.0, 0.5, 0.0, 0.0])


def double_pendulum_derivative(t, y):
    """As the comment in the file states it."""
    m1, m2, L1, c1, c2, J1, J2, g = 1.2, 0.6, 1.0, 0.5, 0.4, 0.10012, 0.03206, 9.81
    q1, q2, v1, v2 = y
    b = m2 * L1 * c2
    M11 = J1 + m1 * c1**2 + J2 + m2 * (L1**2 + c2**2) + 2.0 * b * np.cos(q2)
    M12, M22 = J2 + m2 * c2**2 + b * np.cos(q2), J2 + m2 * c2**2
    bias = np.array([-b * np.sin(q2) * (2.0 * v1 * v2 + v2**2), b * np.sin(q2) * v1**2])
    lower = -m2 * c2 * g * np.sin(q1 + q2)
    tau_g = np.array([-(m1 * c1 + m2 * L1) * g * np.sin(q1) + lower, lower])
    return np.concatenate([[v1, v2], np.linalg.solve([[M11, M12], [M12, M22]], tau_g - bias)])


@functools.cache
def exact_double_pendulum(t, start):
    return solve_ivp(double_pendulum_derivative, (0.0, t), start, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


def error_of_double_pendulum(start=START, **settings):
    """The run over one second, and its largest error."""
    run, context, _ = finished(double_pendulum(), 1.0, q=start[:2], v=start[2:], config=config(**settings))
    y = double_pendulum().GetPositionsAndVelocities(context)
    return run, abs(y - exact_double_pendulum(1.0, tuple(start))).max()


def test_every_scheme_has_a_measured_order():
    assert set(ORDERS) == set(SCHEMES)


STEPS_PER_SECOND = {1: 800, 2: 200, 3: 100, 5: 128}  # enough for the leading term of the error to prevail


@pytest.mark.parametrize("scheme", SCHEMES)
def test_halving_the_step_divides_the_error_by_two_to_the_order(scheme):
    n = STEPS_PER_SECOND[ORDERS[scheme]]
    errors = []
    for steps in (n, 2 * n):
        run, error = error_of_double_pendulum(GENTLE, scheme=scheme, max_step_size=1.0 / steps, use_error_control=False)
        assert run.steps == steps
        errors.append(error)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[scheme], abs=0.15)


@functools.cache
def spinning():
    """A free body with another on a ball joint: rates of positions are not velocities."""
    plant = MultibodyPlant(0.0)
    rng = np.random.default_rng(5)
    base, arm = (plant.AddRigidBody(name, random_inertia(rng)) for name in ("base", "arm"))
    plant.AddJoint(BallRpyJoint("shoulder", base.body_frame(), arm.body_frame()))
    plant.Finalize()
    q, v = random_state(plant, np.random.default_rng(1))
    q[7:], v = 0.0, 6.0 * v / np.linalg.norm(v)

    def derivative(t, y):
        context = plant.CreateDefaultContext()
        plant.SetPositionsAndVelocities(context, y)
        return plant.EvalTimeDerivatives(context).CopyToVector()

    start = np.concatenate([q, v])
    exact = solve_ivp(derivative, (0.0, 0.5), start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return plant, q, v, exact


@pytest.mark.parametrize(
    "scheme", ["semi_explicit_euler", "runge_kutta2", "runge_kutta3", "bogacki_shampine3", "radau3"]
)
def test_the_order_holds_where_rates_of_positions_are_not_velocities(scheme):
    plant, q, v, exact = spinning()
    n = {1: 800, 2: 200, 3: 100}[ORDERS[scheme]]
    errors = []
    for steps in (n, 2 * n):
        settings = config(scheme, max_step_size=0.5 / steps, use_error_control=False)
        _, context, _ = finished(plant, 0.5, q=q, v=v, config=settings)
        errors.append(abs(plant.GetPositionsAndVelocities(context) - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[scheme], abs=0.15)


@only_compiled
@pytest.mark.parametrize(("scheme", "accuracy"), [("runge_kutta5", 1e-13), ("runge_kutta3", 1e-12)])
def test_energy_of_an_undamped_double_pendulum_is_conserved(scheme, accuracy):
    settings = config(scheme, accuracy=accuracy)
    _, _, rows = finished(double_pendulum(), 10.0, q=START[:2], v=START[2:], config=settings, sample_period=0.1)
    energy = rows["energy"].sum(axis=1)
    assert np.ptp(rows["energy"][:, 0]) > 5.0  # it goes to and fro between the two
    assert np.ptp(energy) <= 1e-9 * abs(energy[0])


# error control


@pytest.mark.parametrize("scheme", WITH_ERROR_CONTROL)
@pytest.mark.parametrize("accuracy", [1e-3, 1e-5])
def test_error_control_meets_the_accuracy_roughly(scheme, accuracy):
    """The error of each step is held to the accuracy; over a second they add up, or partly cancel."""
    run, error = error_of_double_pendulum(scheme=scheme, accuracy=accuracy)
    assert 0.1 * accuracy < error < 2.0 * accuracy * run.steps


@only_compiled
@pytest.mark.parametrize("scheme", WITH_ERROR_CONTROL)
def test_a_tighter_accuracy_takes_more_steps_in_the_proportion_of_the_order(scheme):
    """The error of a step goes with h to the power of one more than the order of the estimate."""
    loose, tight = (error_of_double_pendulum(scheme=scheme, accuracy=a)[0].steps for a in (1e-5, 1e-7))
    assert tight / loose == pytest.approx(100.0 ** (1.0 / (METHODS[scheme].error_order + 1.0)), rel=0.3)


def test_without_error_control_the_step_is_the_largest():
    run, _ = error_of_double_pendulum(scheme="runge_kutta3", max_step_size=0.01, use_error_control=False)
    assert (run.steps, run.refused_steps) == (100, 0)


def test_the_step_never_exceeds_the_largest():
    plant = MultibodyPlant(0.0)  # a body that falls: the error of any step is zero
    plant.AddRigidBody("body", SpatialInertia(1.0, np.zeros(3), UnitInertia(1.0, 1.0, 1.0)))
    plant.Finalize()
    run, _, _ = finished(plant, 1.0, config=config("runge_kutta3", max_step_size=0.01))
    assert run.steps == 100


# stiffness


def stiff_pendulum():
    """A pendulum in a viscous bearing: a fast mode of rate d / I = 1e4 / s, a slow one of m g l / d = 1e-2 / s."""
    plant = MultibodyPlant(0.0)
    inertia = SpatialInertia(1.0, [0.0, 0.0, -0.1], UnitInertia(0.1, 0.1, 0.1))
    body = plant.AddRigidBody("body", inertia)
    plant.AddJoint(RevoluteJoint("bearing", plant.world_frame(), body.body_frame(), [0.0, 1.0, 0.0], damping=1e3))
    plant.Finalize()
    return plant


def test_radau_takes_far_fewer_steps_on_a_stiff_system_and_is_right():
    plant = stiff_pendulum()
    steps, angles = {}, {}
    for scheme in ("runge_kutta3", "radau3", "radau1"):
        run, context, _ = finished(plant, 0.5, q=[1.0], v=[1.0], config=config(scheme))
        steps[scheme] = run.steps + run.refused_steps
        angles[scheme] = plant.GetPositions(context)[0]
    assert steps["runge_kutta3"] > 1000
    assert steps["radau3"] < 0.05 * steps["runge_kutta3"]
    # the fast mode leaves v0 I / d = 1e-4 rad behind, then sin q' = -m g l / d sin q
    start = 1.0 + 1e-4
    slow = 2.0 * np.arctan(np.tan(start / 2.0) * np.exp(-9.81 * 0.1 / 1e3 * 0.5))
    for angle in angles.values():
        assert angle == pytest.approx(slow, abs=1e-5)


def test_one_step_of_implicit_euler_is_its_definition():
    """m v' = m v + h (u - d v'), x' = x + h v'."""
    plant = slider(damping=3.0)
    settings = config("implicit_euler", max_step_size=0.1, use_error_control=False)
    _, context, _ = finished(plant, 0.1, q=[0.5], v=[1.0], config=settings, actuation=constant_input([4.0]))
    v = (2.0 * 1.0 + 0.1 * 4.0) / (2.0 + 0.1 * 3.0)
    np.testing.assert_allclose(plant.GetPositionsAndVelocities(context), [0.5 + 0.1 * v, v], rtol=1e-12)


def test_a_step_that_must_become_too_small_is_an_error_that_names_the_scheme():
    """A spring of 1e40 N/m oscillates faster than time can be told apart."""
    from mbcli.multibody.tree import PrismaticSpring

    plant = slider(finalize=False)
    plant.AddForceElement(PrismaticSpring(plant.GetJointByName("slider"), 0.0, 1e40))
    plant.Finalize()
    with pytest.raises(NumericalError, match="step of runge_kutta3 became too small at t = 0 s"):
        finished(plant, 1.0, q=[1.0], config=config("runge_kutta3"))


# coordinates


@pytest.mark.parametrize("scheme", ["runge_kutta3", "radau3", "semi_explicit_euler"])
def test_quaternions_stay_unit(scheme):
    """tree (c) 25"""
    plant, q, v, _ = spinning()
    settings = config(scheme, max_step_size=0.02)
    _, _, rows = finished(plant, 1.0, q=q, v=v, config=settings, sample_period=0.05)
    assert abs(np.linalg.norm(rows["q"][:, :4], axis=1) - 1.0).max() < 1e-15
    assert np.ptp(rows["q"][:, 0]) > 0.5


def test_a_random_tree_of_every_joint_type_conserves_its_energy():
    """plant (c) 8: No damping; gravity, springs and rotors store it. Two seconds of all joint types at once."""
    plant = random_plant(5, damped=False, floating_bases=1)
    q, v = random_state(plant, np.random.default_rng(5))
    settings = config("runge_kutta5", accuracy=1e-10)
    _, _, rows = finished(plant, 0.5, q=q, v=0.3 * v, config=settings, sample_period=0.05)
    energy = rows["energy"].sum(axis=1)
    assert np.ptp(rows["energy"][:, 0]) > 1.0
    assert np.ptp(energy) <= 1e-7 * abs(energy[0])


# samples


@pytest.mark.parametrize("scheme", ["runge_kutta3", "radau3", "explicit_euler"])
def test_samples_lie_exactly_on_their_times(scheme):
    settings = config(scheme, max_step_size=0.013)
    _, context, rows = finished(double_pendulum(), 0.52, q=START[:2], config=settings, sample_period=0.05)
    expected = [*(np.arange(11) * 0.05), 0.52]
    np.testing.assert_array_equal(rows["time"], expected)
    assert context.get_time() == 0.52
    np.testing.assert_array_equal(rows["q"][-1], double_pendulum().GetPositions(context))


def test_samples_start_at_the_time_of_the_context():
    plant, context = double_pendulum(), double_pendulum().CreateDefaultContext()
    context.SetTime(0.12)
    rows = list(Run(plant, context, 0.3, sample_period=0.1).blocks())
    np.testing.assert_array_equal(np.concatenate([r.time for r in rows]), [0.12, 2 * 0.1, 0.3])


def test_samples_do_not_change_the_result_beyond_the_accuracy():
    settings = config("runge_kutta3", accuracy=1e-8)
    ends = []
    for period in (None, 0.007):
        _, context, _ = finished(
            double_pendulum(), 1.0, q=START[:2], v=START[2:], config=settings, sample_period=period
        )
        ends.append(double_pendulum().GetPositionsAndVelocities(context))
    np.testing.assert_allclose(ends[0], ends[1], rtol=0.0, atol=1e-6)


def test_the_energy_in_a_sample_is_that_of_its_state():
    plant = double_pendulum()
    _, _, rows = finished(plant, 0.3, q=START[:2], v=START[2:], sample_period=0.1)
    for q, v, energy in zip(rows["q"], rows["v"], rows["energy"], strict=True):
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        assert energy[0] == pytest.approx(plant.CalcKineticEnergy(context), rel=1e-14)
        assert energy[1] == pytest.approx(plant.CalcPotentialEnergy(context), rel=1e-14)


# inputs


def slider(damping=0.0, finalize=True):
    """Two kilograms on a rail, with a motor."""
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
    body = plant.AddRigidBody("body", SpatialInertia(2.0, np.zeros(3), UnitInertia(1.0, 1.0, 1.0)))
    rail = PrismaticJoint("slider", plant.world_frame(), body.body_frame(), [1.0, 0.0, 0.0], damping=damping)
    plant.AddJointActuator("motor", plant.AddJoint(rail))
    if finalize:
        plant.Finalize()
    return plant


TIMES = np.array([0.1, 0.237, 0.31, 0.3101, 0.9])
FORCES = np.array([5.0, -20.0, 300.0, 0.0, 7.0])


def position_and_velocity(t):
    """Of the slider that starts at rest, under forces that hold from their time to the next; none before the first."""
    x = v = 0.0
    ends = np.append(TIMES[1:], np.inf)
    for start, end, force in zip(TIMES, ends, FORCES, strict=True):
        dt = min(t, end) - start
        if dt > 0.0:
            x, v = x + v * dt + 0.5 * force / 2.0 * dt**2, v + force / 2.0 * dt
    return x, v


@pytest.mark.parametrize("scheme", ["runge_kutta2", "runge_kutta3", "bogacki_shampine3", "runge_kutta5", "radau3"])
def test_inputs_change_exactly_at_their_times(scheme):
    """Constant forces move the slider along parabolas, which these methods follow exactly unless a step straddles."""
    settings = config(scheme, max_step_size=0.05)
    actuation = Input(TIMES, FORCES[:, None])
    _, _, rows = finished(slider(), 1.0, config=settings, actuation=actuation, sample_period=0.1)
    expected = np.array([position_and_velocity(t) for t in rows["time"]])
    np.testing.assert_allclose(np.column_stack([rows["q"], rows["v"]]), expected, rtol=0.0, atol=1e-13)


def test_samples_hold_the_input_of_their_time():
    """At the time of a change it is the new one; before the first time it is zero."""
    period = 0.1
    _, _, rows = finished(slider(), 1.0, actuation=Input(TIMES, FORCES[:, None]), sample_period=period)
    known = np.searchsorted(TIMES, rows["time"], side="right")
    expected = np.concatenate([[0.0], FORCES])[known]
    np.testing.assert_array_equal(rows["u"][:, 0], expected)
    assert rows["u"][1, 0] == 5.0  # 1 * 0.1 is the time of the first change


def test_an_unknown_scheme_is_refused():
    settings = SimulatorConfig(integration_scheme="cenic")
    with pytest.raises(ModelError, match="integration scheme 'cenic' is not supported; there are semi_explicit_euler"):
        finished(slider(), 1.0, config=settings)


@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_factors_with_row_exchanges_solve_random_systems(n):
    """Exchanges in every step, also of rows that were eliminated with before."""
    kernels, rng = load_kernels(False), np.random.default_rng(n)
    for _ in range(20):
        M, x = rng.normal(size=(n, n)), rng.normal(size=n)
        factors, pivots, solution = M.copy(), np.zeros(n, dtype=np.int64), M @ x
        assert kernels.factorize(factors, pivots)
        kernels.solve_factorized(factors, pivots, solution)
        np.testing.assert_allclose(solution, x, rtol=1e-8, atol=1e-8)
    assert not kernels.factorize(np.zeros((n, n)), pivots)
