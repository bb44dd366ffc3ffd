"""The energy balance of runs: work of each cause as it follows from the motion, nothing unexplained, and its watch."""

import numpy as np
import pytest
from command_line import succeed
from contact_scenes import Scene, own_library
from energy_watch import EnergyWatch
from random_trees import random_plant, random_state
from repository import SAMPLES
from test_closed_chains import load, start_moving
from test_integrators import config, double_pendulum, slider

from mbcli.multibody.assembly.closed_chains import assemble_context
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.energy_balance import EnergyBalance
from mbcli.multibody.stepping.inputs import constant_input
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import PrismaticJoint, SpatialInertia, UnitInertia


def balance_of(plant, until, q, v, **options):
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    run = Run(plant, context, until, keep=("balance",), **options)
    for _ in run.blocks():
        pass
    return run.energy_balance(), context


def rail(h, damping=0.0, limits=(-np.inf, np.inf)):
    """Two kilograms on a rail, without gravity, with a motor."""
    plant = MultibodyPlant(h)
    plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
    body = plant.AddRigidBody("body", SpatialInertia(2.0, np.zeros(3), UnitInertia(1.0, 1.0, 1.0)))
    joint = PrismaticJoint("rail", plant.world_frame(), body.body_frame(), [1.0, 0.0, 0.0], *limits, damping=damping)
    plant.AddJointActuator("motor", plant.AddJoint(joint))
    plant.Finalize()
    return plant


def test_works_of_a_motor_and_of_damping_in_steps_are_their_sums():
    """m v' = m v + h (u - d v_d), v_d = v + theta (v' - v): the kinetic energy is what both did, to rounding."""
    m, d, u, h, v = 2.0, 3.0, 4.0, 0.05, 1.0
    theta = (m + h * d) / (2.0 * m + h * d)
    motor = damping = 0.0
    for _ in range(10):
        after = v + h * (u - d * v) / (m + h * theta * d)
        motor += h * u * 0.5 * (v + after)
        damping -= h * d * (v + theta * (after - v)) * 0.5 * (v + after)
        v = after
    balance, _ = balance_of(rail(h, d), 0.5, [0.0], [1.0], actuation=constant_input([u]))
    assert balance.actuators == pytest.approx(motor, rel=1e-12)
    assert balance.joint_damping == pytest.approx(damping, rel=1e-12)
    assert balance.energy_change == pytest.approx(0.5 * m * (v * v - 1.0), rel=1e-12)
    assert abs(balance.rest) < 1e-12 and abs(balance.unexplained) < 1e-12


def test_a_stop_takes_what_the_motion_loses():
    balance, context = balance_of(rail(1e-3, limits=(-1.0, 0.01)), 0.05, [0.0], [1.0])
    assert abs(context.state.v[0]) < 0.9
    assert balance.limits == pytest.approx(context.state.v[0] ** 2 - 1.0, rel=1e-9)
    assert abs(balance.rest) < 1e-12


@pytest.mark.parametrize("scheme", ["runge_kutta3", "runge_kutta5", "radau1", "radau3"])
def test_works_in_continuous_time_follow_from_the_exact_motion(scheme):
    """m v' = u - d v."""
    m, d, u, T = 2.0, 3.0, 4.0, 0.8
    end, k = u / d, d / m
    decay = (1.0 - end) * (1.0 - np.exp(-k * T)) / k
    squares = (1.0 - end) ** 2 * (1.0 - np.exp(-2.0 * k * T)) / (2.0 * k)
    plant = slider(damping=d)
    settings = config(scheme, accuracy=1e-6)
    balance, _ = balance_of(plant, T, [0.0], [1.0], config=settings, actuation=constant_input([u]))
    assert balance.actuators == pytest.approx(u * (end * T + decay), rel=1e-4)
    assert balance.joint_damping == pytest.approx(-d * (end**2 * T + 2.0 * end * decay + squares), rel=1e-4)
    assert abs(balance.rest) < 1e-4


@pytest.mark.parametrize("approximation", ["lagged", "similar", "sap", "tamsi"])
def test_what_friction_takes_from_a_sliding_box_is_the_work_of_contact(approximation):
    scene = Scene(own_library(), 1e-3, approximation, stiffness=1e5)
    scene.ground()
    scene.box("box", 2.0, (0.2, 0.2, 0.2))
    scene.start()
    scene.place("box", [0.0, 0.0, 0.1], velocity=[1.0, 0.0, 0.0])
    run = Run(scene.plant, scene.context, 0.1, keep=("balance",))
    list(run.blocks())
    balance = run.energy_balance()
    v = scene.velocity("box")[0]
    assert v < 0.7
    # the friction of sap also lifts what slides
    assert balance.contact == pytest.approx(v * v - 1.0, rel=0.06 if approximation == "sap" else 0.02)
    assert abs(balance.unexplained) < 1e-5 * balance.flow
    assert abs(balance.rest) < 0.01 * balance.flow


@pytest.mark.parametrize("seed", range(4))
def test_forces_of_a_step_are_all_explained(seed):
    """Random trees with force elements: M (v' - v) is what gravity, springs and the causes by name gave."""
    plant = random_plant(seed, elements=True, time_step=1e-3, floating_bases=1)
    q, v = random_state(plant, np.random.default_rng(seed))
    u = np.random.default_rng(1).normal(size=plant.num_actuators())
    balance, _ = balance_of(plant, 0.01, q, v, actuation=constant_input(u))
    assert abs(balance.unexplained) < 1e-9 * balance.flow
    assert balance.joint_damping < 0.0 and balance.actuators != 0.0


@pytest.mark.parametrize(("scheme", "ratio"), [("midpoint", 4.0), ("drake", 2.0)])
def test_the_rest_of_a_discrete_run_goes_with_the_step(scheme, ratio):
    """In a motion without jumps: where the curvature of a curve jumps, so does the energy of what turns along it."""
    rests = []
    for h in (2e-3, 1e-3):
        plant = random_plant(5, time_step=h, floating_bases=1, finalize=False)
        plant.set_step_scheme(scheme)
        plant.Finalize()
        q, v = random_state(plant, np.random.default_rng(5))
        rests.append(balance_of(plant, 0.05, q, v)[0].rest)
    assert rests[0] / rests[1] == pytest.approx(ratio, rel=0.1)


def test_projections_of_a_closed_chain_are_counted():
    plant, context = load("four_bar")
    assemble_context(context, 1e-11)
    start_moving(context, 1.5)
    q, v = context.state.q.copy(), context.state.v.copy()
    loose, _ = balance_of(plant, 0.3, q, v, config=config("runge_kutta3", accuracy=1e-3))
    tight, _ = balance_of(plant, 0.3, q, v, config=config("runge_kutta3", accuracy=1e-6))
    assert loose.constraints != 0.0
    assert abs(tight.constraints) < 0.1 * abs(loose.constraints)
    assert abs(tight.rest) < 0.1 * abs(loose.rest)


def test_equations_do_no_work_in_discrete_steps():
    context = load("four_bar")[1]
    assemble_context(context, 1e-11)
    start_moving(context, 4.0)
    q, v = context.state.q.copy(), context.state.v.copy()
    balance, _ = balance_of(load("four_bar", time_step=1e-3)[0], 1.0, q, v)
    assert balance.constraints == 0.0
    assert balance.rest == pytest.approx(balance.energy_change - balance.joint_damping, abs=1e-9 * balance.flow)
    assert abs(balance.rest) < 1e-3 * balance.flow
    assert not balance.is_considerable(ideal=False, kinetic=balance.flow)


def test_an_error_of_two_percent_is_considerable_and_what_projections_took_back_is_not():
    def balance(rest, constraints):
        return EnergyBalance(0, 0, 0, 0, 0, constraints, 0, 0, 0, 0, energy_change=0, flow=100.0, rest=rest)

    assert balance(2.0, 0.0).is_considerable(ideal=True)
    assert not balance(2.0, -2.0).is_considerable(ideal=True)
    assert balance(2.0, -2.0).is_considerable(ideal=False)
    assert balance(float("nan"), 0.0).is_considerable(ideal=False)


def test_keeping_the_balance_changes_nothing():
    for plant in (double_pendulum(), random_plant(2, time_step=1e-3, elements=True)):
        q, v = random_state(plant, np.random.default_rng(2))
        ends = []
        for keep in (False, True):
            context = plant.CreateDefaultContext()
            plant.SetPositionsAndVelocities(context, np.concatenate([q, v]))
            for _ in Run(plant, context, 0.02, keep=("balance",) if keep else ()).blocks():
                pass
            ends.append(plant.GetPositionsAndVelocities(context).tobytes())
        assert ends[0] == ends[1]


# the watch over the runs of all tests


def test_the_watch_sees_what_nothing_explains():
    plant = rail(1e-3)
    context = plant.CreateDefaultContext()
    plant.SetVelocities(context, [1.0])
    run = Run(plant, context, 0.05, keep=("balance",))
    watch = EnergyWatch(run)
    for _ in Run.blocks(run):
        pass
    watch.check()
    run.balance.arrays.work[6] += 1e-3
    with pytest.raises(AssertionError, match="unexplained"):
        watch.check()


def test_the_watch_sees_a_gain_of_energy():
    plant = rail(1e-3)
    context = plant.CreateDefaultContext()
    plant.SetVelocities(context, [1.0])
    run = Run(plant, context, 0.05, keep=("balance",))
    watch = EnergyWatch(run)
    for _ in Run.blocks(run):
        pass
    plant.SetVelocities(context, [2.0])
    with pytest.raises(AssertionError, match="rest"):
        watch.check()


# the command


def test_the_command_gives_the_balance_and_says_what_is_not_small(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    model = SAMPLES / "double_pendulum.urdf"
    run = ("simulate", model, "--at", "elbow=2", "-t", 0.5, "--no-log", "--u", "0.1")
    coarse = succeed(*run, "--balance", "--json", "--dt", 0.1)
    balance = coarse.json()["balance"]
    work = [balance[k] for k in ("actuators", "joint_damping", "force_elements", "contact", "limits", "constraints")]
    assert balance["energy_change"] == pytest.approx(sum(work) + balance["unexplained"] + balance["rest"])
    assert balance["energy_change"] == pytest.approx(coarse.json()["energy_drift"], rel=1e-9)
    assert "the error of the integration is" in coarse.err and "a smaller --dt makes it smaller" in coarse.err
    fine = succeed(*run, "--balance", "--dt", 0.0005)
    assert "error of the integration" not in fine.err and "work of actuators" in fine.out
    assert succeed("-q", *run, "--json").json()["balance"] is None
