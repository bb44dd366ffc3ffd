"""Ranges of ball joints, which are the most that they may be turned about any axis, and their dry friction."""

import numpy as np
import pytest
from command_line import cli
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models

from mbcli import load_model, simulate
from mbcli.engine import load_kernels
from mbcli.geometry import SceneGraph
from mbcli.multibody.core.finalize import unused_properties
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.systems.analysis import Simulator

H = 1e-3
ROD = '<geom type="capsule" size=".02" fromto="0 0 0 {end}" mass="1"/>'
LIMITED = 'type="ball" range="0 {most}"'


def model(joint, end=".3 0 0", before="", option=""):
    """A rod on a ball joint, as MJCF in radians."""
    return (
        f'<mujoco><compiler angle="radian"/><option timestep="{H}">{option}</option><worldbody>'
        f'{before}<body pos="0 0 1"><joint name="b" {joint}/>{ROD.format(end=end)}</body></worldbody></mujoco>'
    )


def plant_of_text(text, time_step=H):
    plant = MultibodyPlant(time_step)
    plant.RegisterAsSourceForSceneGraph(SceneGraph())
    Parser(plant).AddModelsFromString(text, "mjcf")
    plant.Finalize()
    return plant


def turn(plant, context):
    """[rad] of the ball joint."""
    joint = plant.GetJointByName("b")
    w, *vector = joint.GetPositions(context)
    return 2.0 * np.arctan2(np.linalg.norm(vector), abs(w))


def energy(plant, context):
    return plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context)


@pytest.mark.parametrize("end", [".3 0 0", ".2 .1 .05", "0 -.3 .1"])
@pytest.mark.parametrize("most", [0.3, 0.8, 1.5])
def test_a_rod_falls_onto_the_range_of_its_ball_joint_and_rests_there(end, most):
    plant = plant_of_text(model(LIMITED.format(most=most), end))
    context = plant.CreateDefaultContext()
    simulator, start, largest = Simulator(plant, context), energy(plant, context), 0.0
    for k in range(1, 101):
        simulator.AdvanceTo(0.01 * k)
        assert energy(plant, context) <= start + 1e-3
        largest = max(largest, turn(plant, context))
    assert largest <= most + 0.02  # of the step in which it comes there
    assert turn(plant, context) == pytest.approx(most, abs=1e-5)
    assert np.abs(plant.GetVelocities(context)).max() < 1e-4


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.6, 0.0, 0.8), (-2.0, 1.0, 2.0)])
@pytest.mark.parametrize("speed", [1.0, 30.0])
def test_a_turn_about_any_axis_ends_at_the_range_and_turns_back_nowhere(axis, speed):
    """A sphere without weight, whose axis stays."""
    sphere = '<inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/>'
    text = model(LIMITED.format(most=1.0)).replace(ROD.format(end=".3 0 0"), sphere)
    plant = plant_of_text(text)
    context, axis = plant.CreateDefaultContext(), np.array(axis) / np.linalg.norm(axis)
    plant.SetVelocities(context, speed * axis)
    simulator = Simulator(plant, context)
    simulator.AdvanceTo(0.5 / speed)
    np.testing.assert_allclose(plant.GetVelocities(context), speed * axis, rtol=1e-9, atol=1e-12)
    simulator.AdvanceTo(1.5 / speed + 0.1)
    assert turn(plant, context) == pytest.approx(1.0, abs=0.5 * speed * H)
    rate = axis @ plant.GetVelocities(context)
    assert -2e-3 < rate <= 1e-9


def test_the_range_holds_behind_other_joints_on_a_free_base_and_beside_contact():
    ground = '<geom type="plane" size="1 1 1"/>'
    limited = model(LIMITED.format(most=0.5))
    turning = '<body pos="0 0 1"><joint axis="0 0 1" damping=".1"/><geom size=".05" mass="1"/><body>'
    standing = f'{ground}<body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .2 .1" mass="20"/><body pos="0 0 .5">'
    for text in (
        model(LIMITED.format(most=0.5), before=ground),
        limited.replace('<body pos="0 0 1">', turning).replace("</body></world", "</body></body></world"),
        limited.replace('<body pos="0 0 1">', standing).replace("</body></world", "</body></body></world"),
    ):
        plant = plant_of_text(text)
        context = plant.CreateDefaultContext()
        Simulator(plant, context).AdvanceTo(1.0)
        assert turn(plant, context) == pytest.approx(0.5, abs=1e-4)


def test_a_load_beyond_its_range_comes_back_slowly():
    plant = plant_of_text(model(LIMITED.format(most=0.5), option='<flag gravity="disable"/>'))
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [np.cos(0.4), 0.0, np.sin(0.4), 0.0])
    Simulator(plant, context).AdvanceTo(1.0)
    assert turn(plant, context) == pytest.approx(0.8 - 1e-3, rel=1e-4)


def test_the_balance_of_a_run_books_the_range_as_a_limit(tmp_path):
    path = tmp_path / "rod.xml"
    path.write_text(model(LIMITED.format(most=0.5)))
    balance = simulate(load_model(path), 1.0, balance=True).summary.balance
    assert balance["limits"] < -0.05
    assert abs(balance["unexplained"]) < 1e-9


def test_a_continuous_plant_says_that_it_enforces_no_range():
    with pytest.warns(UserWarning, match="does not enforce the range"):
        plant = plant_of_text(model(LIMITED.format(most=0.5)), 0.0)
    (line,) = unused_properties(plant)
    assert line == "a continuous plant does not enforce the range of 1 ball joint: b"


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("friction", [0.01, 0.2])
def test_dry_friction_of_a_ball_joint_stops_a_turn_when_the_closed_form_does(axis, friction):
    """I dw/dt = -f until t = I w / f, and at rest then."""
    inertia, speed = 0.1, 2.0
    sphere = f'<inertial pos="0 0 0" mass="1" diaginertia="{inertia} {inertia} {inertia}"/>'
    text = model(f'type="ball" frictionloss="{friction}"').replace(ROD.format(end=".3 0 0"), sphere)
    plant = plant_of_text(text)
    context = plant.CreateDefaultContext()
    plant.SetVelocities(context, speed * np.eye(3)[axis])
    simulator, stops = Simulator(plant, context), inertia * speed / friction
    simulator.AdvanceTo(0.5 * stops)
    np.testing.assert_allclose(plant.GetVelocities(context), 0.5 * speed * np.eye(3)[axis], atol=1e-9)
    simulator.AdvanceTo(stops + 0.01)
    assert np.abs(plant.GetVelocities(context)).max() < 1e-5


def test_dry_friction_of_a_ball_joint_holds_what_is_less_and_lets_go_what_is_more():
    for friction, holds in ((1.6, True), (1.4, False)):  # 1 kg, 0.15 m: 1.47 N m
        plant = plant_of_text(model(f'type="ball" frictionloss="{friction}"'))
        context = plant.CreateDefaultContext()
        Simulator(plant, context).AdvanceTo(1.0)
        assert bool(turn(plant, context) < 1e-4) is holds


def test_a_copy_in_mjcf_has_range_and_friction(tmp_path):
    source = tmp_path / "rod.xml"
    source.write_text(model(LIMITED.format(most=0.5) + ' frictionloss=".25"'))
    assert cli("convert", source, "-o", tmp_path / "copy.xml").code == 0
    (copy,) = load_models(tmp_path / "copy.xml", diagnostics=Diagnostics())
    (joint,) = copy.joints
    assert (joint.turn_limit, joint.friction) == (0.5, 0.25)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("end", [".3 0 0", ".2 .1 .05"])
def test_a_rod_rests_at_its_range_where_mujocos_does(end):
    import mujoco

    text = model(LIMITED.format(most=0.5) + ' solreflimit=".002 1" solimplimit=".9999 .9999 .001" damping=".1"', end)
    plant, there = plant_of_text(text), mujoco.MjModel.from_xml_string(text)
    context, data = plant.CreateDefaultContext(), mujoco.MjData(there)
    Simulator(plant, context).AdvanceTo(3.0)
    while data.time < 3.0 - H / 2:
        mujoco.mj_step(there, data)
    np.testing.assert_allclose(plant.GetPositions(context), data.qpos, atol=2e-4)


@pytest.mark.peers("mujoco")
def test_a_rod_that_its_friction_brakes_goes_where_mujocos_does():
    import mujoco

    text = model('type="ball" frictionloss=".3"', option='<flag gravity="disable"/>')
    plant, there = plant_of_text(text), mujoco.MjModel.from_xml_string(text)
    context, data = plant.CreateDefaultContext(), mujoco.MjData(there)
    plant.SetVelocities(context, [0.0, 8.0, 0.0])
    data.qvel[:] = 0.0, 8.0, 0.0
    Simulator(plant, context).AdvanceTo(0.5)
    while data.time < 0.5 - H / 2:
        mujoco.mj_step(there, data)
    assert abs(data.qvel[1]) > 1.0
    np.testing.assert_allclose(plant.GetVelocities(context), data.qvel, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_the_rate_of_a_turn_is_the_angular_velocity_about_its_axis(seed):
    """By complex steps, of the gap along the motion of the quaternion."""
    rng, plant = np.random.default_rng(seed), plant_of_text(model(LIMITED.format(most=0.5)))
    context, kernels = plant.CreateDefaultContext(), load_kernels(False)
    q, w = rng.normal(size=4), rng.normal(size=3)
    q /= np.linalg.norm(q)
    plant.SetPositions(context, q)
    rates = plant.MapVelocityToQDot(context, w)
    gap, axis = kernels.turn_of_ball(plant.model, q + 1e-30j * rates, 0)
    assert gap.imag / 1e-30 == pytest.approx(-np.real(axis) @ w, rel=1e-12)
    assert gap.real == pytest.approx(0.5 - 2.0 * np.arctan2(np.linalg.norm(q[1:]), abs(q[0])), abs=1e-14)
