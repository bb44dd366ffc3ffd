"""Position limits in runs of continuous plants: compliant stops that are met by event, as their law says."""

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import succeed
from random_trees import random_plant, random_state

from mbcli.models.loading import load_model
from mbcli.multibody.core.position_stops import DISSIPATION, PERIOD, position_stops
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.plant.state_functions import StateFunctions
from mbcli.simulation import simulate
from mbcli.simulation.actors.stops import PositionStops

INERTIA, MASS, ARM, LIMIT = 0.6, 2.0, 0.5, 0.5  # about the hinge [kg m^2], [kg], [m], [rad]
PENDULUM = f"""<sdf version="1.9"><model name="m">
<link name="base"/>
<link name="arm"><pose>0 0 -{ARM} 0 0 0</pose><inertial><mass>{MASS}</mass>
<inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
<joint name="weld" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="hinge" type="revolute"><pose>0 0 {ARM} 0 0 0</pose><parent>base</parent><child>arm</child>
<axis><xyz>0 1 0</xyz><limit><lower>-{LIMIT}</lower><upper>{LIMIT}</upper>LAW</limit></axis></joint>
</model></sdf>"""
WEIGHTLESS = {"gravity": (0.0, 0.0, 0.0)}


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.fixture
def pendulum(tmp_path):
    """law -> the file of the pendulum whose limit has these elements."""

    def write(stiffness=None, dissipation=None):
        law = "" if stiffness is None else f"<stiffness>{stiffness}</stiffness>"
        law += "" if dissipation is None else f"<dissipation>{dissipation}</dissipation>"
        path = tmp_path / "pendulum.sdf"
        path.write_text(PENDULUM.replace("LAW", law))
        return path

    return write


def run(path, until, speed=0.0, **settings):
    start = settings.pop("start", {"hinge_w": speed})
    return simulate(path, until, dt=0.0, start=start, **settings)


@pytest.mark.parametrize(("integrator", "accuracy"), [("runge_kutta5", 1e-5), ("runge_kutta3", 1e-6), ("radau3", 1e-6)])
def test_elastic_bounces_between_stops_keep_the_energy_to_the_tolerance(pendulum, integrator, accuracy):
    path = pendulum(1e4, 0)
    log = run(path, 5.0, 2.0, integrator=integrator, accuracy=accuracy, log_rate=1000, **WEIGHTLESS)
    q, v = log.field("state/q")[:, 0], log.field("state/v")[:, 0]
    bounces = np.count_nonzero(np.diff(np.sign(v)))
    depth = 2.0 * math.sqrt(INERTIA / 1e4)
    assert bounces >= 9 and abs(q).max() == pytest.approx(LIMIT + depth, rel=1e-2)
    error = abs(log.summary.energy_error) / log.summary.energy_start
    assert error < 10 * bounces * accuracy  # without steps that end at the stops it is 100 times that with runge_kutta5


@pytest.mark.parametrize("dissipation", [0.1, 0.5, 2.0, 10.0])
def test_the_restitution_is_that_of_the_law(pendulum, dissipation):
    log = run(pendulum(1e4, dissipation), 0.8, 1.0, accuracy=1e-6, **WEIGHTLESS)
    e = -log.field("state/v")[-1, 0]
    # m x'' = -k x (1 + c x'), integrated over x from the way in to the way out
    assert dissipation * (1 + e) == pytest.approx(math.log((1 + dissipation) / (1 - dissipation * e)), rel=1e-3)


def test_a_pendulum_rests_at_the_depth_of_its_load(pendulum):
    log = run(pendulum(2000, 20), 4.0, gravity=(9.81, 0.0, 0.0), start={"hinge": -0.4})
    q, v = log.field("state/q")[-1, 0], log.field("state/v")[-1, 0]
    load = MASS * 9.81 * ARM * math.cos(q)  # the pendulum is pushed beyond its lower limit
    assert q == pytest.approx(-LIMIT - load / 2000, abs=1e-6) and abs(v) < 1e-4


def test_without_a_law_of_the_file_stiffness_follows_from_the_inertia(pendulum):
    plant = load_model(pendulum(), dt=0.0).plant
    lower, upper = position_stops(plant)
    assert (lower.side, lower.limit, upper.side, upper.limit) == (1.0, -LIMIT, -1.0, LIMIT)
    assert lower.stiffness == pytest.approx(INERTIA * (2 * math.pi / PERIOD) ** 2) and lower.dissipation == DISSIPATION
    log = run(pendulum(), 0.6, 4.0, accuracy=1e-6, balance=True, log_rate=1000, **WEIGHTLESS)
    v = log.field("state/v")[:, 0]
    assert v[-1] == pytest.approx(-1.0 / DISSIPATION, rel=1e-2)  # whatever the speed was
    balance = log.summary.balance
    assert balance["limits"] == pytest.approx(balance["energy_change"], rel=1e-4) and balance["limits"] < -4.0


def test_a_start_beyond_a_limit_is_not_thrown_about(pendulum):
    with pytest.warns(UserWarning, match="the stops push them back"):
        log = run(pendulum(), 1.0, start={"hinge": 0.7}, log_rate=1000, **WEIGHTLESS)
    assert abs(log.field("state/v")).max() == pytest.approx(1.0 / DISSIPATION, rel=1e-3)


def test_the_stiffness_of_the_format_is_a_rigid_limit_and_discrete_steps_are_without_any(pendulum):
    for law in ((1e8, 1.0), (None, 3.0)):
        assert load_model(pendulum(*law), dt=0.0).plant.GetJointByName("hinge").stop_law is None
    soft = pendulum(300)
    assert load_model(soft, dt=0.0).plant.GetJointByName("hinge").stop_law == (300.0, 1.0)
    discrete = succeed("simulate", soft, "-t", 0.01, "--no-log")
    assert "steps have rigid stops, without the stiffness of limits of 1 joint: hinge" in discrete.err
    assert succeed("simulate", soft, "-t", 0.01, "--dt", 0, "--no-log").err == ""


@pytest.mark.parametrize("law", ["<stiffness>-3</stiffness>", "<stiffness>0</stiffness>"])
def test_a_stiffness_that_is_not_positive_is_a_finding(pendulum, law):
    path = pendulum()
    path.write_text(PENDULUM.replace("LAW", law))
    assert "<stiffness> must be positive" in succeed("check", path).out
    assert load_model(path, dt=0.0).plant.GetJointByName("hinge").stop_law is None


# ------------------------------------------------------------------------- what has stops, and what has not


def test_stops_act_in_runs_alone(pendulum):
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(pendulum()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(context, [0.8, 3.0])
    before = plant.EvalTimeDerivatives(context).CopyToVector()
    with pytest.warns(UserWarning, match="the stops push them back"):
        log = simulate(plant, 0.1, start=context, log_rate=1000)
    assert log.field("state/v")[-1, 0] < 0.0 and plant.position_stops == ()
    again = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(again, [0.8, 3.0])
    np.testing.assert_array_equal(plant.EvalTimeDerivatives(again).CopyToVector(), before)
    # the context has the end of the run
    assert plant.GetVelocities(context)[0] == log.field("state/v")[-1, 0]


def test_accelerations_in_the_log_are_those_under_stops(pendulum):
    log = run(pendulum(1e4, 0.5), 0.35, 2.0, fields="reactions sensors", log_rate=2000, accuracy=1e-8, **WEIGHTLESS)
    q, v = log.field("state/q")[:, 0], log.field("state/v")[:, 0]
    expected = -1e4 * (q - LIMIT) * (1 + 0.5 * v) / INERTIA
    slope = np.gradient(v, log.field("time"))
    inside = (q > LIMIT + 1e-3)[1:-1]
    assert inside.sum() > 30
    np.testing.assert_allclose(slope[1:-1][inside], expected[1:-1][inside], rtol=0.01, atol=1.0)


def test_derivatives_of_forward_dynamics_count_the_stops():
    plant = random_plant(5, stopped=True)
    q, v = random_state(plant, np.random.default_rng(3))
    tau = np.random.default_rng(1).normal(size=plant.num_velocities())
    one = [j for j in plant.moving_joints() if j.num_velocities() == 1]
    context = plant.CreateDefaultContext()

    def vdot(q, v):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        return plant.CalcAccelerations(context, tau=tau)

    without = random_plant(5)
    bare = without.CreateDefaultContext()
    without.SetPositions(bare, q)
    without.SetVelocities(bare, v)
    assert abs(vdot(q, v) - without.CalcAccelerations(bare, tau=tau)).max() > 1.0
    by_q = StateFunctions(plant).forward_dynamics_derivatives(q, v, tau)
    for joint in one:
        d, i, h = joint.velocity_start(), joint.position_start(), 1e-5
        dq, dv = np.zeros(q.size), np.zeros(v.size)
        dq[i], dv[d] = h, h
        np.testing.assert_allclose((vdot(q + dq, v) - vdot(q - dq, v)) / (2 * h), by_q[0][:, d], rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose((vdot(q, v + dv) - vdot(q, v - dv)) / (2 * h), by_q[1][:, d], rtol=1e-5, atol=1e-4)


def test_a_plant_without_limits_and_a_discrete_one_have_no_stops():
    for plant in (random_plant(2, ("quaternion_floating",), num_bodies=2), random_plant(2, time_step=0.01)):
        assert PositionStops(SimpleNamespace(plant=plant)).of_plant() == {}
