"""Runs over time: the discrete step, its clock, going on after a stop, states that are not finite, the Simulator."""

import math
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from naive import Oracle
from random_trees import random_context, random_inertia, random_plant

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.engine.runtime.kernel import compiled_by_default
from mbcli.errors import ModelError, NumericalError
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.inputs import Input, constant_input
from mbcli.multibody.stepping.run import BLOCK_ROWS, Run
from mbcli.multibody.tree import (
    BallRpyJoint,
    PrismaticJoint,
    RevoluteJoint,
    RpyFloatingJoint,
    SpatialInertia,
    UnitInertia,
)
from mbcli.systems.analysis import ApplySimulatorConfig, Simulator

only_compiled = pytest.mark.skipif(not compiled_by_default(), reason="takes minutes interpreted")


def pendulum(time_step, *, damping=0.0, gravity=9.81, actuated=False, scheme="midpoint"):
    """A kilogram half a metre below a horizontal axis; its inertia about the axis is 0.3 kg m^2."""
    plant = MultibodyPlant(time_step)
    plant.set_step_scheme(scheme)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -gravity])
    body = plant.AddRigidBody("rod", SpatialInertia(1.0, [0.0, 0.0, -0.5], UnitInertia(0.3, 0.3, 0.1)))
    joint = RevoluteJoint("pin", plant.world_frame(), body.body_frame(), [0.0, 1.0, 0.0], damping=damping)
    plant.AddJoint(joint)
    if actuated:
        plant.AddJointActuator("motor", joint)
    plant.Finalize()
    return plant


INERTIA = 0.3


def started(plant, q=None, v=None):
    context = plant.CreateDefaultContext()
    if q is not None:
        plant.SetPositions(context, q)
    if v is not None:
        plant.SetVelocities(context, v)
    return context


def rows_of(run, **callbacks):
    """All samples of a run, each column as one array."""
    blocks = list(run.blocks(**callbacks))
    return {n: np.concatenate([getattr(b, n) for b in blocks]) for n in ("time", "q", "v", "energy", "u")}


def state(plant, context):
    return plant.GetPositionsAndVelocities(context)


# the step of a discrete plant

QUATERNIONS = ("quaternion_floating", "ball_quaternion")


def turned(joints, q, dq):
    """q + dq, where quaternions turn by the angle of dq about its axis."""
    result = q + dq
    for joint in joints:
        if joint.type_name() in QUATERNIONS:
            i = joint.position_start()
            half = np.linalg.norm(dq[i : i + 4])
            result[i : i + 4] = np.cos(half) * q[i : i + 4] + np.sinc(half / np.pi) * dq[i : i + 4]
    return result


@pytest.mark.parametrize("approximation", ["lagged", "tamsi"])
@pytest.mark.parametrize("scheme", ["midpoint", "drake"])
@pytest.mark.parametrize("seed", range(4))
def test_a_discrete_step_is_its_definition(seed, scheme, approximation):
    """M (v' - v) / h = tau + tau_g + springs - C v - D v', where tamsi has v for v'; q' = q + h N(q) v'.

    Of midpoint M, tau_g, springs and N are those at q + h/2 N v, springs K add h^2 K / 4 to M, C v is that of
    v + h/2 vdot by three substitutions, and q' = q + h N (v + v') / 2. Damping is that at v + theta h vdot, with
    theta = (1 + x) / (2 + x), x = h D / M along each velocity.
    """
    h = 0.02
    plant = random_plant(seed, time_step=h, floating_bases=1, finalize=False)
    plant.set_step_scheme(scheme)
    plant.Finalize()
    plant.settings.discrete_contact_approximation = approximation
    oracle, rng = Oracle(plant), np.random.default_rng(seed)
    context = random_context(plant, rng)
    q, v, u = plant.GetPositions(context), plant.GetVelocities(context), rng.normal(size=plant.num_actuators())
    implicit = h * oracle.damping if approximation == "lagged" else 0.0
    tau = plant.MakeActuationMatrix() @ u
    if scheme == "midpoint":
        q_m = turned(oracle.joints, q, 0.5 * h * oracle.rates_map(q) @ v)
        forces = tau + oracle.conservative_forces(q_m) - oracle.damping * v
        M = oracle.mass_matrix(q_m)
        x = implicit / np.diag(M)
        M = M + np.diag(np.broadcast_to(implicit * (1.0 + x) / (2.0 + x), v.size))
        for spring in oracle.springs:
            d = spring.joint().velocity_start()
            M[d, d] += 0.25 * h**2 * spring.default_stiffness()
        v_m = v
        for _ in range(3):
            expected_v = v + h * np.linalg.solve(M, forces - oracle.bias(q_m, v_m))
            v_m = 0.5 * (v + expected_v)
        rates = oracle.rates_map(q_m) @ v_m
        for joint in oracle.joints:  # N of a quaternion is that of the start: w stands, and turns it exactly
            if joint.type_name() in QUATERNIONS:
                at = slice(joint.position_start(), joint.position_start() + 4)
                rates[at] = (oracle.rates_map(q) @ v_m)[at]
        expected_q = turned(oracle.joints, q, h * rates)
    else:
        expected_v = v + h * oracle.forward_dynamics(q, v, tau, implicit)
        expected_q = q + h * oracle.rates_map(q) @ expected_v
        for joint in oracle.joints:
            if joint.type_name() in QUATERNIONS:
                at = slice(joint.position_start(), joint.position_start() + 4)
                expected_q[at] /= np.linalg.norm(expected_q[at])
    for _ in Run(plant, context, h, actuation=constant_input(u)).blocks():
        pass
    np.testing.assert_allclose(plant.GetVelocities(context), expected_v, rtol=0.0, atol=1e-10 * abs(expected_v).max())
    np.testing.assert_allclose(plant.GetPositions(context), expected_q, rtol=0.0, atol=1e-10 * abs(expected_q).max())


@pytest.mark.parametrize("scheme", ["midpoint", "drake"])
@pytest.mark.parametrize("approximation", ["lagged", "sap", "tamsi"])
def test_joint_damping_is_implicit_except_under_tamsi(approximation, scheme):
    """With x = h d / I = 1.25: v' = 2 v / (2 + 2 x + x^2), of Drake v / (1 + x), under tamsi v (1 - x) = -0.25."""
    h, x = 0.1, 1.25
    expected = 1.0 - x if approximation == "tamsi" else 1.0 / (1.0 + x)
    if scheme == "midpoint" and approximation != "tamsi":
        expected = 2.0 / (2.0 + 2.0 * x + x * x)
    plant = pendulum(h, damping=x * INERTIA / h, gravity=0.0, scheme=scheme)
    plant.settings.discrete_contact_approximation = approximation
    context = started(plant, v=[1.0])
    Simulator(plant, context).AdvanceTo(h)
    assert plant.GetVelocities(context)[0] == pytest.approx(expected, rel=1e-14)
    moved = h * (1.0 + expected) / 2.0 if scheme == "midpoint" else h * expected
    assert plant.GetPositions(context)[0] == pytest.approx(moved, rel=1e-14)


@pytest.mark.parametrize(("scheme", "more"), [("midpoint", 0), ("drake", 1)])
def test_positions_move_with_the_mean_velocity_or_drakes_with_the_new_one(scheme, more):
    """Free fall: after n steps the height is -g (h n)^2 / 2, or -g h^2 n (n + 1) / 2, not n (n - 1) / 2."""
    h, n = 0.01, 50
    plant = MultibodyPlant(h)
    plant.set_step_scheme(scheme)
    body = plant.AddRigidBody("stone", random_inertia(np.random.default_rng(0)))
    plant.AddJoint(PrismaticJoint("fall", plant.world_frame(), body.body_frame(), [0.0, 0.0, 1.0]))
    plant.Finalize()
    context = started(plant)
    Simulator(plant, context).AdvanceTo(n * h)
    np.testing.assert_allclose(state(plant, context), [-9.81 * h**2 * n * (n + more) / 2, -9.81 * n * h], rtol=1e-13)


# time and samples


def test_time_is_a_multiple_of_the_step_without_accumulation():
    h = 0.001  # adding it up 3000 times is off by 6e-13
    plant = pendulum(h)
    context = started(plant, q=[1.0])
    rows = rows_of(Run(plant, context, 3.0))
    np.testing.assert_array_equal(rows["time"], np.arange(3001) * h)
    assert context.get_time() == 3000 * h


def test_blocks_larger_than_the_buffer_lose_nothing():
    """Every step is sampled, over several buffers: each row is one step from the row before."""
    h = 0.01
    plant = pendulum(h)
    rows = rows_of(Run(plant, started(plant, q=[1.0]), 12.0))
    assert rows["time"].size == 1201 > 2 * BLOCK_ROWS
    q, v = rows["q"][:, 0], rows["v"][:, 0]
    middle = q[:-1] + 0.5 * h * v[:-1]
    np.testing.assert_allclose(v[1:], v[:-1] - h * 9.81 * 0.5 / INERTIA * np.sin(middle), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(q[1:], q[:-1] + 0.5 * h * (v[:-1] + v[1:]), rtol=0.0, atol=1e-14)


def test_blocks_of_a_continuous_run_larger_than_the_buffer_lose_nothing():
    plant = pendulum(0.0)
    rows = rows_of(Run(plant, started(plant, q=[1.0]), 1.2, sample_period=0.001))
    np.testing.assert_array_equal(rows["time"], [*(np.arange(1200) * 0.001), 1.2])
    energy = rows["energy"].sum(axis=1)
    assert np.ptp(energy) < 1e-3


@pytest.mark.parametrize("period", [0.02, 0.03])
def test_samples_of_a_discrete_plant_are_whole_steps_and_the_end(period):
    h = 0.01
    plant = pendulum(h)
    every = rows_of(Run(plant, started(plant, q=[1.0]), 0.2))
    some = rows_of(Run(plant, started(plant, q=[1.0]), 0.2, sample_period=period))
    chosen = sorted({*range(0, 21, round(period / h)), 20})
    for name, column in some.items():
        np.testing.assert_array_equal(column, every[name][chosen], err_msg=name)


def test_a_run_to_the_present_samples_it_once():
    for h in (0.0, 0.01):
        plant = pendulum(h)
        run = Run(plant, started(plant, q=[1.0]), 0.0)
        assert rows_of(run)["time"].tolist() == [0.0]
        assert run.steps == 0


def test_a_discrete_run_goes_to_the_first_whole_step_at_or_after_its_end():
    plant = pendulum(0.01)
    for until, end in ((0.035, 0.04), (0.03, 0.03), (3 * 0.01, 3 * 0.01), (0.3, 0.3)):
        context = started(plant)
        rows = rows_of(Run(plant, context, until))
        assert rows["time"][-1] == pytest.approx(end, rel=1e-15)


@pytest.mark.parametrize("h", [0.0, 0.01])
def test_the_end_of_a_run_must_be_a_time_not_before_its_start(h):
    plant = pendulum(h)
    context = started(plant)
    context.SetTime(0.5)
    with pytest.raises(ModelError, match=r"the run would end at 0.2 s, before the time 0.5 s of its state"):
        Run(plant, context, 0.2)
    for until in (math.inf, math.nan):
        with pytest.raises(ModelError, match="finite"):
            Run(plant, context, until)


# going on


def test_a_discrete_run_in_two_parts_is_the_whole():
    h = 0.01
    plant = random_plant(5, time_step=h, floating_bases=1)
    whole, parts = (random_context(plant, np.random.default_rng(0)) for _ in range(2))
    u = np.random.default_rng(1).normal(size=(40, plant.num_actuators()))
    actuation = Input(0.013 * np.arange(40), u)
    rows = rows_of(Run(plant, whole, 0.5, actuation=actuation))
    first = rows_of(Run(plant, parts, 0.2, actuation=actuation))
    second = rows_of(Run(plant, parts, 0.5, actuation=actuation))
    np.testing.assert_array_equal(state(plant, parts), state(plant, whole))
    for name, column in rows.items():  # the state between the two is the last of one and the first of the other
        np.testing.assert_array_equal(np.concatenate([first[name], second[name][1:]]), column, err_msg=name)


@pytest.mark.parametrize("scheme", ["runge_kutta3", "runge_kutta5", "radau3", "semi_explicit_euler"])
def test_a_continuous_run_in_two_parts_is_the_whole(scheme):
    plant = random_plant(6, (*("revolute", "universal", "ball_rpy"),), num_bodies=3)
    whole, parts = (random_context(plant, np.random.default_rng(0)) for _ in range(2))
    options = {
        "config": SimulatorConfig(integration_scheme=scheme, max_step_size=0.02),
        "actuation": Input(0.013 * np.arange(40), np.random.default_rng(1).normal(size=(40, plant.num_actuators()))),
        "sample_period": 0.05,
    }
    rows = rows_of(Run(plant, whole, 0.5, **options))
    start = Run(plant, parts, 0.2, **options)
    first, here = rows_of(start), start.checkpoint()
    parts.SetTime(here["time"])
    plant.SetPositionsAndVelocities(parts, np.concatenate([here["q"], here["v"]]))
    second = rows_of(Run(plant, parts, 0.5, going_on={"next_step": here["next_step"]}, **options))
    np.testing.assert_array_equal(state(plant, parts), state(plant, whole))
    for name, column in rows.items():
        until = first["time"] <= here["time"]
        np.testing.assert_array_equal(np.concatenate([first[name][until], second[name][1:]]), column, err_msg=name)


def test_a_run_stops_when_asked_and_another_goes_on_from_there():
    h = 0.01
    plant = pendulum(h)
    whole, context = started(plant, q=[1.0]), started(plant, q=[1.0])
    rows = rows_of(Run(plant, whole, 20.0))
    times = []
    run = Run(plant, context, 20.0)
    first = rows_of(run, should_stop=lambda: bool(times), on_progress=times.append)
    assert 0.0 < context.get_time() < 20.0
    assert times[-1] == context.get_time()
    assert run.steps == round(context.get_time() / h)
    second = rows_of(Run(plant, context, 20.0))
    together = np.unique(np.concatenate([first["time"], second["time"]]))
    np.testing.assert_array_equal(together, rows["time"])
    np.testing.assert_array_equal(state(plant, context), state(plant, whole))


@pytest.mark.parametrize("h", [0.0, 0.01])
def test_compiling_in_advance_changes_nothing(h):
    plant = pendulum(h)
    contexts = [started(plant, q=[1.0]) for _ in range(2)]
    runs = [Run(plant, context, 0.3, sample_period=0.05) for context in contexts]
    runs[0].compile()
    first, second = (rows_of(run) for run in runs)
    for name, column in first.items():
        np.testing.assert_array_equal(column, second[name], err_msg=name)
    assert runs[0].steps == runs[1].steps


# states that are not finite


def diverging(h):
    """Explicit damping of a thousand times what the step bears: v grows by -999 a step, until its square overflows."""
    plant = pendulum(h, damping=1000.0 * INERTIA / h, gravity=0.0)
    plant.settings.discrete_contact_approximation = "tamsi"
    return plant


def test_a_state_that_is_not_finite_is_an_error_that_names_the_coordinate_and_keeps_the_last_good_state():
    h = 0.01
    plant = diverging(h)
    context = started(plant, v=[1.0])
    rows = []
    with np.errstate(over="ignore"), pytest.raises(NumericalError) as error:
        for samples in Run(plant, context, 5.0).blocks():
            rows.append(samples)
    assert error.value.exit_code == 5
    v = np.concatenate([s.v for s in rows])[:, 0]
    good = v.size - 1
    np.testing.assert_allclose(v[:5], [1.0, -999.0, 998001.0, -997002999.0, 996005996001.0], rtol=1e-10)
    assert np.isfinite(v).all()
    assert (
        good == 51
    )  # 999^51 is 9.5e152: the bias term needs the square of -499 times that, the velocity in the middle
    assert str(error.value) == (
        f"position 'DefaultModelInstance_pin_q' is not finite in step {good + 1} from t = {good * h:.9g} s: the "
        f"velocity 'DefaultModelInstance_pin_w' had grown to {v[-1]:.3g} before; springs and dampers are too "
        "stiff for steps of 0.01 s, at the default positions their rate is 1e+05 rad/s: try dt=4.88281e-06, or less"
    )
    assert context.get_time() == good * h
    np.testing.assert_array_equal(plant.GetVelocities(context), v[-1:])
    np.testing.assert_array_equal(plant.GetPositions(context), rows[-1].q[-1])


@pytest.mark.parametrize("h", [0.0, 0.01])
def test_the_first_coordinate_that_is_not_finite_is_named(h):
    """A motor that is told NaN is the cause that is named, not stiff forces."""
    plant = random_plant(2, time_step=h)
    context = random_context(plant, np.random.default_rng(0))
    before = state(plant, context)
    actuation = Input([0.0, 0.05], [np.zeros(plant.num_actuators()), np.full(plant.num_actuators(), np.nan)])
    with pytest.raises(
        NumericalError,
        match=r"^position '\w+_joint\d+_\w+' is not finite in step \d+ from t = 0.05 s: the actuation of '\w+' is not$",
    ):
        for _ in Run(plant, context, 1.0, actuation=actuation).blocks():
            pass
    assert np.isfinite(state(plant, context)).all()
    assert context.get_time() == pytest.approx(0.05, rel=1e-14)
    assert (state(plant, context) != before).any()


@pytest.mark.parametrize("wx", [0.0, 2e-3])
@pytest.mark.parametrize("kind", [BallRpyJoint, RpyFloatingJoint])
@pytest.mark.parametrize("h, period", [(0.0, 0.1), (1e-3, 0.1), (1e-3, 1e-3)])
def test_a_run_into_gimbal_lock_stops_and_names_the_joint(h, period, kind, wx):
    """Beyond it roll and yaw would leap: w . rates is not integrated where the cosine of the pitch is below 0.008."""
    plant = MultibodyPlant(h)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, 0.0])
    ball = plant.AddRigidBody("ball", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    joint = plant.AddJoint(kind("socket", plant.world_frame(), ball.body_frame()))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joint.set_angular_velocity(context, [wx, 1.0, 0.0])
    rows = []
    with pytest.raises(NumericalError) as error:
        config = SimulatorConfig(max_step_size=1e-3)
        for samples in Run(plant, context, 3.0, config=config, sample_period=period).blocks():
            rows += [*samples.time]
    assert error.value.exit_code == 5
    t, pitch = context.get_time(), joint.get_angles(context)[1]
    assert str(error.value).startswith(f"joint 'socket' is at gimbal lock: its pitch is {pitch:.6g} rad, in step ")
    assert str(error.value).endswith(f"from t = {t:.9g} s")
    assert abs(np.cos(pitch)) < 0.008
    assert np.pi / 2.0 - 0.008 - 2e-3 < t < np.pi / 2.0
    assert rows == pytest.approx(period * np.arange(int(t / period + 1e-9) + 1))  # that of the last state among them
    with pytest.raises(NumericalError, match="joint 'socket' is at gimbal lock"):
        plant.MapVelocityToQDot(context, plant.GetVelocities(context))


def test_a_joint_beyond_gimbal_lock_runs():
    """A pitch of 2 rad is a rotation like any other: only the band around the singularity is refused."""
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, 0.0])
    ball = plant.AddRigidBody("ball", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    joint = plant.AddJoint(BallRpyJoint("socket", plant.world_frame(), ball.body_frame()))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joint.set_angles(context, [0.0, 2.0, 0.0])
    joint.set_angular_velocity(context, [0.0, 1.0, 0.0])
    rows_of(Run(plant, context, 1.0))
    np.testing.assert_allclose(joint.get_angles(context), [0.0, 3.0, 0.0], atol=1e-9)


def test_times_of_samples_are_made_when_they_are_reached():
    """A thousand million samples are asked for; the run is left after the first of them."""
    plant = pendulum(0.0)
    tracemalloc.start()
    first = next(Run(plant, started(plant, [0.3]), 1e6, sample_period=1e-3).blocks())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert first.time[0] == 0.0
    assert peak < 20e6


@pytest.mark.parametrize("count", [1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, BLOCK_ROWS + 2, 3 * BLOCK_ROWS + 1])
def test_any_number_of_samples_is_complete(count):
    """At the multiples of the period and at the end, each once, however they fall into blocks."""
    plant, period = pendulum(0.0), 1e-3
    rows = rows_of(Run(plant, started(plant, [0.3]), count * period, sample_period=period))
    np.testing.assert_allclose(rows["time"], np.arange(count + 1) * period, atol=1e-12)
    assert rows["q"].shape == (count + 1, 1)


def test_a_continuous_run_that_diverges_keeps_the_last_good_state():
    plant = pendulum(0.0, damping=1000.0 * INERTIA / 0.01, gravity=0.0)
    context = started(plant, v=[1.0])
    settings = SimulatorConfig(integration_scheme="explicit_euler", max_step_size=0.01)
    run = Run(plant, context, 5.0, config=settings)
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(NumericalError, match="velocity .*pin_w"):
        rows_of(run)
    assert np.isfinite(state(plant, context)).all()
    assert abs(plant.GetVelocities(context)[0]) == pytest.approx(999.0**52, rel=1e-10)
    assert run.steps == 52
    assert context.get_time() == pytest.approx(0.52, rel=1e-13)


# inputs


@pytest.mark.parametrize(
    ("times", "values", "message"),
    [
        ([], np.zeros((0, 1)), "must increase"),
        ([0.0, 0.0], [[1.0], [2.0]], "must increase"),
        ([0.0, -1.0], [[1.0], [2.0]], "must increase"),
        ([0.0, math.nan], [[1.0], [2.0]], "must increase"),
        ([math.nan], [[1.0]], "must increase"),
        ([0.0, 1.0], [[1.0]], r"2 times has values of shape \(1, 1\)"),
        ([0.0], [1.0], r"1 times has values of shape \(1,\)"),
    ],
)
def test_a_bad_input_series_is_refused(times, values, message):
    with pytest.raises(ModelError, match=message):
        Input(times, values)


def test_an_input_of_the_wrong_width_is_refused():
    plant = pendulum(0.01, actuated=True)
    with pytest.raises(ModelError, match="the input has 2 columns, the plant 1 actuators"):
        Run(plant, started(plant), 1.0, actuation=constant_input([1.0, 2.0]))


def test_a_discrete_plant_holds_an_input_from_the_first_step_at_or_after_its_time():
    h = 0.1
    plant = pendulum(h, gravity=0.0, actuated=True)
    rows = rows_of(Run(plant, started(plant), 0.6, actuation=Input([0.15, 3 * h], [[3.0], [-6.0]])))
    np.testing.assert_array_equal(rows["u"][:, 0], [0.0, 0.0, 3.0, -6.0, -6.0, -6.0, -6.0])
    gained = np.concatenate([[0.0], np.cumsum(h * rows["u"][:-1, 0] / INERTIA)])
    np.testing.assert_allclose(rows["v"][:, 0], gained, rtol=0.0, atol=1e-14)


def test_without_a_series_the_actuation_of_the_context_is_held():
    h = 0.1
    plant = pendulum(h, gravity=0.0, actuated=True)
    context = started(plant)
    plant.get_actuation_input_port().FixValue(context, [3.0])
    rows = rows_of(Run(plant, context, 0.2))
    np.testing.assert_array_equal(rows["u"], [[3.0]] * 3)
    np.testing.assert_allclose(rows["v"][:, 0], [0.0, 1.0, 2.0], rtol=1e-14)


# memory


@only_compiled
@pytest.mark.parametrize("h", [0.0, 1e-3])
def test_memory_does_not_grow_with_the_steps(h):
    """A million discrete steps, or ten thousand continuous ones, sampled rarely: nothing is kept from step to step."""
    plant = pendulum(h)
    context = started(plant, q=[1.0])
    settings = SimulatorConfig(max_step_size=1e-3, use_error_control=False)
    until, period = (1000.0, 10.0) if h else (20.0, 0.1)
    Run(plant, context, until, config=settings, sample_period=period).compile()
    run = Run(plant, context, until, config=settings, sample_period=period)
    tracemalloc.start()
    try:
        peak = []
        for _ in run.blocks(on_progress=lambda time: peak.append(tracemalloc.get_traced_memory()[0])):
            pass
    finally:
        tracemalloc.stop()
    assert run.steps == pytest.approx(1_000_000 if h else 20_000, rel=0.01)
    assert len(peak) > 1
    assert max(peak[1:]) - peak[0] < 200_000


# Simulator, as in pydrake.systems.analysis


@pytest.mark.parametrize("h", [0.0, 0.01])
def test_a_simulator_advances_its_context(h):
    plant = pendulum(h)
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    assert simulator.get_context() is context
    assert simulator.get_system() is plant
    plant.SetPositions(context, [1.0])
    simulator.Initialize()
    simulator.AdvanceTo(0.1)
    simulator.AdvanceTo(0.5)
    other = started(plant, q=[1.0])
    for _ in Run(plant, other, 0.5).blocks():
        pass
    assert context.get_time() == 0.5
    np.testing.assert_allclose(state(plant, context), state(plant, other), rtol=0.0, atol=1e-3)
    steps = simulator.get_num_steps_taken()
    assert steps == 50 if h else steps > 5
    with pytest.raises(RuntimeError, match="time 0.2 is before the context's time 0.5"):
        simulator.AdvanceTo(0.2)


def test_a_discrete_simulator_between_steps_keeps_its_steps():
    """Times between steps are reached as the state after the step before them, and the next call goes on from it."""
    plant = pendulum(0.01)
    simulator, whole = Simulator(plant), started(plant, q=[1.0])
    context = simulator.get_mutable_context()
    plant.SetPositions(context, [1.0])
    for time in (0.005, 0.015, 0.02, 0.031, 0.039, 0.06):
        simulator.AdvanceTo(time)
        assert context.get_time() == time
    for _ in Run(plant, whole, 0.06).blocks():
        pass
    np.testing.assert_array_equal(state(plant, context), state(plant, whole))
    assert simulator.get_num_steps_taken() == 10  # advances from time to time: to 6 updates and 4 times between
    assert simulator.get_num_unrestricted_updates() == 6


def test_what_was_computed_before_an_advance_is_forgotten():
    plant = pendulum(0.01)
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    plant.SetPositions(context, [1.0])
    body = plant.GetBodyByName("rod")
    before = plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4()
    simulator.AdvanceTo(0.1)
    after = plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4()
    q = plant.GetPositions(context)[0]
    assert abs(after - before).max() > 0.01
    np.testing.assert_allclose(after[0, :3], [np.cos(q), 0.0, np.sin(q)], rtol=0.0, atol=1e-14)


def test_a_simulator_uses_the_settings_it_is_given():
    plant = pendulum(0.0)
    simulator = Simulator(plant)
    settings = SimulatorConfig(integration_scheme="explicit_euler", max_step_size=0.25)
    ApplySimulatorConfig(settings, simulator)
    plant.SetPositions(simulator.get_mutable_context(), [1.0])
    simulator.AdvanceTo(0.25)
    v = -0.25 * 9.81 * 0.5 / INERTIA * math.sin(1.0)
    np.testing.assert_allclose(state(plant, simulator.get_context()), [1.0, v], rtol=1e-14)
    assert simulator.get_num_steps_taken() == 1


def test_what_a_simulator_cannot_do_it_says():
    simulator = Simulator(pendulum(0.01))
    with pytest.raises(RuntimeError, match="realtime rate must be finite and not negative, it is -1.0"):
        simulator.set_target_realtime_rate(-1.0)
    with pytest.raises(ModelError, match="'cenic' is not supported"):
        ApplySimulatorConfig(SimulatorConfig(integration_scheme="cenic"), simulator)


def test_a_simulation_that_is_interpreted_imports_no_numba():
    code = (
        "import sys; from mbcli.multibody.plant import MultibodyPlant; from mbcli.systems.analysis import Simulator;"
        "plant = MultibodyPlant(0.01); plant.AddRigidBody('body'); plant.WeldFrames(plant.world_frame(),"
        "plant.GetFrameByName('body')); plant.Finalize(); Simulator(plant).AdvanceTo(0.1);"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"MBCLI_JIT": "0"})
