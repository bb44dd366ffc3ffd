"""Joints that PD controllers hold or drive in a run: gains, actuators that files lack, logs that are gone on with."""

import json

import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.scenes.plant_config import HoldConfig
from repository import SAMPLES

from mbcli.errors import ArgumentError, ModelError
from mbcli.log.reader import Log
from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.models.servo_gains import FREQUENCY, FULL_EFFORT, gains, joint_inertias
from mbcli.multibody.core.inputs import controlled_actuators, has_controllers
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import PrismaticJoint, RevoluteJoint, SpatialInertia
from mbcli.simulation import Worlds, context_that_holds, resume, simulate
from mbcli.simulation.holding import choose_holding
from mbcli.systems.simulator import Simulator

QUADRUPED = SAMPLES / "quadruped.urdf"
OMEGA = 2.0 * np.pi * FREQUENCY
G = 9.81


def link(name, mass=1.0, xyz="0 0 0", content=""):
    inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    inertial = f'<inertial><origin xyz="{xyz}"/><mass value="{mass}"/>{inertia}</inertial>'
    return f'<link name="{name}">{inertial}{content}</link>'


def joint(name, parent, child, kind="revolute", axis="0 1 0", xyz="0 0 0", effort=0, limits=(-3, 3), more=""):
    limit = f'<limit lower="{limits[0]}" upper="{limits[1]}" effort="{effort}" velocity="9"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
        f'<axis xyz="{axis}"/>{limit}{more}</joint>'
    )


def motor(name):
    return (
        f'<transmission name="{name}_t"><type>transmission_interface/SimpleTransmission</type><joint name="{name}"/>'
        f'<actuator name="{name}_motor"/></transmission>'
    )


def robot(*parts):
    return ModelText(f'<robot name="arm">{"".join(parts)}</robot>'.encode(), "arm.urdf")


ARM = robot(link("base"), link("bar", 2.0, "0.5 0 0"), joint("hinge", "base", "bar"))
ARM_INERTIA = 2.0 * 0.5**2 + 0.01
WELDED = {"weld": ["base"], "contact": False}


# ------------------------------------------------------------------------------------------------ gains


@pytest.mark.parametrize("dt", [0.001, 0.0])
def test_a_held_joint_stays_and_its_effort_is_the_moment_of_its_load(dt):
    log = simulate(ARM, 0.3, start={"hinge": 0.3}, hold=True, dt=dt, **WELDED)
    assert np.abs(log.q - 0.3).max() < 1e-12
    moment = -2.0 * G * 0.5 * np.cos(0.3)
    assert log.field("derived/effort") == pytest.approx(np.full((len(log.times), 1), moment), rel=1e-9)
    (effort,) = log.summary.efforts
    assert effort["most"] == pytest.approx(moment) and effort["limit"] is None and effort["time_at_limit"] == 0.0


@pytest.mark.parametrize("dt", [0.001, 0.0])
def test_a_load_that_comes_later_is_carried_without_an_error_that_lasts(dt):
    push = "bar=0,0,-40@1,0,0 from 0.1"
    log = simulate(ARM, 1.5, hold=True, pushes=push, dt=dt, **WELDED)
    assert 1e-3 < np.abs(log.q).max() < 40.0 / (ARM_INERTIA * OMEGA**2)  # at first it gives way, less than without it
    assert np.abs(log.q[-1]).max() < 1e-5
    assert log.field("derived/effort")[-1, 0] == pytest.approx(-2.0 * G * 0.5 - 40.0, rel=1e-3)


@pytest.mark.parametrize("dt", [0.001, 0.0])
@pytest.mark.parametrize("speed", [0.0, 0.01, 0.6])
def test_a_lift_goes_at_its_speed_under_its_load(dt, speed):
    lift = robot(link("base"), link("load", 3.0), joint("lift", "base", "load", "prismatic", "0 0 1", limits=(-1, 1)))
    log = simulate(lift, 1.0, drive={"lift": speed}, dt=dt, **WELDED)
    assert np.abs(log.v[10:] - speed).max() <= 1e-3 * speed + 1e-12
    assert log.q[-1, 0] == pytest.approx(speed, rel=2e-3, abs=1e-12)  # the first steps have to reach it
    assert log.field("derived/effort")[-1, 0] == pytest.approx(3.0 * G, rel=1e-6)


def test_a_joint_of_given_gains_gives_way_by_the_moment_of_its_load():
    log = simulate(ARM, 1.0, start={"hinge": 0.3}, hold=True, kp=ARM_INERTIA * OMEGA**2, **WELDED)
    q = log.q[-1, 0]
    assert ARM_INERTIA * OMEGA**2 * (q - 0.3) == pytest.approx(2.0 * G * 0.5 * np.cos(q), rel=1e-6)
    assert np.abs(log.v[-1]).max() < 1e-9
    assert log.q[:, 0].max() < q + 1e-5  # critically damped


def test_joints_are_held_from_a_given_context_beside_its_forces():
    model = load_model(ARM, weld=["base"], hold=True)
    plant = model.plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [0.3])
    plant.get_applied_generalized_force_input_port().FixValue(context, [-7.0])
    log = simulate(model, 1.0, start=context)
    assert context.get_time() == pytest.approx(1.0) and plant.GetPositions(context) == pytest.approx([0.3], abs=1e-5)
    assert log.field("derived/effort")[-1, 0] == pytest.approx(7.0 - 2.0 * G * 0.5 * np.cos(0.3), rel=1e-3)


def test_gains_that_are_given_replace_those_of_the_masses():
    assert gains(0.5, np.inf) == pytest.approx((0.5 * OMEGA**2, 2.0 * 0.5 * OMEGA))
    assert gains(0.5, np.inf, 40.0) == pytest.approx((40.0, 2.0 * np.sqrt(40.0 * 0.5)))
    assert gains(0.5, np.inf, 40.0, 3.0) == (40.0, 3.0)
    assert gains(0.5, np.inf, None, 3.0) == (0.5 * OMEGA**2, 3.0)
    log = simulate(ARM, 0.05, hold=True, kp=1000.0, kd=20.0, log_rate=0, **WELDED)
    q, v, h = log.q[:, 0], log.v[:, 0], 0.001
    z, x, change = h * h * 1000.0 / ARM_INERTIA, h * 20.0 / ARM_INERTIA, np.diff(v)
    theta, beta, gamma = (1.0 + x) / (2.0 + x), 0.25 - 1.0 / (6.0 + z), 0.5 * z**2 / (z**2 + 64.0)
    at = q[:-1] + (0.5 + gamma) * h * v[:-1] + (beta + gamma) * h * change  # the controller acts about the middle
    tau = -1000.0 * at - 20.0 * (v[:-1] + theta * change) + 2.0 * G * 0.5 * np.cos(q[:-1] + 0.5 * h * v[:-1])
    assert ARM_INERTIA * change / h == pytest.approx(tau, abs=1e-9)


def test_effort_limits_are_kept_and_gains_do_not_ask_for_more():
    limited = robot(link("base"), link("bar", 2.0, "0.5 0 0"), joint("hinge", "base", "bar", effort=12))
    assert gains(ARM_INERTIA, 12.0)[0] == 12.0 / FULL_EFFORT < ARM_INERTIA * OMEGA**2
    log = simulate(limited, 0.2, hold=True, **WELDED)
    assert np.abs(log.q).max() < 1e-12
    weak = robot(link("base"), link("bar", 2.0, "0.5 0 0"), joint("hinge", "base", "bar", effort=5))
    log = simulate(weak, 0.2, hold=True, log_rate=0, **WELDED)
    # in full effort from the first step on; the bar turns with the rest of the moment
    moment = 2.0 * G * 0.5 * np.cos(log.q[:-1, 0] + 0.0005 * log.v[:-1, 0]) - 5.0
    late = log.q[:-1, 0] > 2 * FULL_EFFORT
    assert late.sum() > 50
    assert ARM_INERTIA * np.diff(log.v[:, 0])[late] / 0.001 == pytest.approx(moment[late], abs=1e-6)


def two_bodies(joint_type, *arguments):
    plant = MultibodyPlant(0.001)
    heavy = plant.AddRigidBody("heavy", SpatialInertia.SolidCubeWithMass(10.0, 0.2))
    light = plant.AddRigidBody("light", SpatialInertia.PointMass(0.5, [0.0, 0.0, -0.3]))
    from mbcli.math import RigidTransform
    from mbcli.multibody.tree import FixedOffsetFrame

    hip = plant.AddFrame(FixedOffsetFrame("hip", heavy.body_frame(), RigidTransform([0.4, 0.0, 0.0])))
    plant.AddJoint(joint_type("hip", hip, light.body_frame(), *arguments))
    plant.Finalize()
    return plant


def test_a_leg_carries_the_body_if_that_is_more():
    """The larger of what is outboard of a joint and, in a robot that floats, of all the rest about its axis."""
    turning = two_bodies(RevoluteJoint, [0.0, 1.0, 0.0])
    q = turning.GetDefaultPositions()
    q[4:7] = [3.0, -2.0, 5.0]
    inertia = joint_inertias(turning, q)
    assert inertia[:6] == pytest.approx(np.full(6, inertia[:6]))  # of the floating joint, nobody's business
    assert inertia[6] == pytest.approx(10.0 * 0.4**2 + 10.0 * 0.2**2 / 6.0, rel=1e-12)
    sliding = two_bodies(PrismaticJoint, [0.0, 0.0, 1.0])
    assert joint_inertias(sliding, sliding.GetDefaultPositions())[6] == pytest.approx(10.0, rel=1e-12)


def test_a_joint_that_leads_others_carries_them_too():
    follow = '<mimic joint="a" multiplier="-2"/>'
    text = robot(
        *(link("base"), link("one", 1.0, "0.3 0 0"), link("two", 1.0, "0.3 0 0")),
        *(joint("a", "base", "one"), joint("b", "base", "two", more=follow)),
    )
    model = load_model(text, weld=["base"], hold=True)
    own = 1.0 * 0.3**2 + 0.01
    assert joint_inertias(model.plant, np.zeros(2))[0] == pytest.approx(own + 4.0 * own)
    assert model.added_actuators == ["a"]


def test_controllers_of_a_file_keep_their_gains():
    text = (
        '<mujoco><worldbody><body name="base"><geom size="0.1"/><body name="bar"><joint name="hinge" axis="0 1 0"/>'
        '<inertial pos="0.5 0 0" mass="2" diaginertia="0.01 0.01 0.01"/></body></body></worldbody>'
        '<actuator><position name="servo" joint="hinge" kp="300" kv="20"/></actuator></mujoco>'
    )
    model = load_model(ModelText(text.encode(), "arm.xml"), file_type="mjcf", hold=True)
    plant, q = model.plant, np.zeros(1)
    (own,) = choose_holding(plant, q, q, HoldConfig(enabled=True), {}).values()
    assert (own.p, own.d) == (300.0, 20.0) and not model.added_actuators
    (other,) = choose_holding(plant, q, q, HoldConfig(kp=50.0), {}).values()
    assert other.p == 50.0 and other.d != 20.0


def test_servos_and_motors_of_one_model_are_held_together():
    body = '<body name="{0}" pos="{1} 0 1"><joint name="{0}" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body>'
    text = (
        f"<mujoco><worldbody>{body.format('a', 0)}{body.format('b', 2)}</worldbody><actuator>"
        '<position name="servo" joint="a" kp="3000" kv="200"/><motor name="motor" joint="b"/></actuator></mujoco>'
    )
    model = ModelText(text.encode(), "pair.xml")
    log = simulate(model, 0.5, hold=True, file_type="mjcf", contact=False)
    assert log.q[-1] == pytest.approx([0.0, 0.0], abs=0.01) and np.abs(log.v[-1]).max() < 1e-3
    driven = simulate(model, 0.5, drive={"b": 1.0}, file_type="mjcf", contact=False)
    assert driven.q[-1, 0] == pytest.approx(0.0, abs=0.01) and driven.v[-1, 1] == pytest.approx(1.0, abs=0.05)


def test_targets_stay_within_limits():
    model = load_model(robot(link("base"), link("bar"), joint("hinge", "base", "bar", limits=(0.2, 1))), hold=True)
    q = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0])
    (held,) = choose_holding(model.plant, q, q, HoldConfig(enabled=True), {}).values()
    assert held.position == 1.0


# -------------------------------------------------------------------------------------- added actuators


def test_joints_without_actuators_get_one_with_the_effort_of_their_file():
    text = robot(
        *(link(name) for name in ("base", "a", "b", "c", "d")),
        joint("ja", "base", "a", effort=7),
        joint("jb", "a", "b", effort=7),
        joint("jc", "b", "c"),
        joint("jd", "c", "d", "fixed"),
        motor("ja"),
    )
    model = load_model(text, hold=True)
    assert model.added_actuators == ["jb", "jc"]
    assert model.plant.GetActuatorNames() == ["arm_ja_motor", "arm_jb", "arm_jc"]
    assert model.plant.GetEffortUpperLimits().tolist() == [7.0, 7.0, np.inf]
    assert not load_model(text).added_actuators


def test_slides_that_carry_a_robot_of_the_plane_are_left_free():
    text = (
        '<mujoco><worldbody><body name="torso"><joint name="x" type="slide" axis="1 0 0"/>'
        '<joint name="z" type="slide" axis="0 0 1"/><joint name="pitch" axis="0 1 0"/><geom size="0.1"/>'
        '<body name="leg" pos="0 0 -0.2"><joint name="hip" axis="0 1 0"/><geom size="0.1"/>'
        '<body name="foot" pos="0 0 -0.2"><joint name="ankle" axis="0 1 0"/><geom size="0.1"/></body></body></body>'
        '</worldbody><actuator><motor joint="hip" name="hip"/></actuator></mujoco>'
    )
    model = load_model(ModelText(text.encode(), "hopper.xml"), file_type="mjcf", hold=True)
    assert model.added_actuators == ["ankle"]


def test_joints_that_close_loops_are_left_alone():
    closed = 0
    for path in sorted((SAMPLES / "closed_chains").iterdir()):
        if path.suffix not in (".urdf", ".sdf", ".xml"):
            continue
        plain, held = load_model(path), load_model(path, hold=True)
        loops = [joint.name() for joint in plain.plant.elements.loop_joints]
        closed += len(loops)
        assert [joint.name() for joint in held.plant.elements.loop_joints] == loops
        assert held.plant.GetPositionNames() == plain.plant.GetPositionNames()
        assert not set(loops) & set(held.added_actuators)
    assert closed


# ------------------------------------------------------------------------------------------ standing


def test_a_quadruped_stands_with_one_command(tmp_path):
    log = tmp_path / "stand.h5"
    shown = succeed("simulate", QUADRUPED, "--ground", "--hold", "-t", 2, "-o", log)
    assert "put on the ground: 'quadruped::trunk' starts at z = 0.462 m" in shown.err
    assert "holds 12 joints where they start" in shown.err and "warning" not in shown.err
    with Log(log) as opened:
        z, q, v = opened.column("quadruped_trunk_z"), opened.q, opened.v
        force = opened.contacts(opened.row_count - 1, opened.row_count)["contact/force"]
    assert z[0] == pytest.approx(0.462, abs=1e-12)  # legs of 0.44 m and a foot of 22 mm
    assert z[0] - 0.003 < z[-1] < z[0] and q[-1, 0] > 0.99999
    assert np.abs(v[-1]).max() < 1e-3
    assert np.abs(force[:, 2]).sum() == pytest.approx(17.0 * G, rel=1e-3)


def test_without_hold_it_falls():
    log = simulate(QUADRUPED, 1.0, ground=0.0, start={"front_left_knee": -0.3, "rear_right_knee": -0.3})
    assert log.q[-1, 6] < 0.2


def test_a_held_robot_that_falls_over_is_named_at_the_end():
    foot = '<collision><geometry><box size=".1 .1 .1"/></geometry></collision>'
    tall = robot(
        link("foot").replace("</link>", f"{foot}</link>"), link("mast", 5.0, "0.3 0 1"), joint("hinge", "foot", "mast")
    )
    said = []
    simulate(tall, 2.0, ground=0.0, hold=True, warn=said.append)
    (line,) = said
    assert "foot (" in line and line.startswith("fell over: ")
    assert line.endswith(" degrees); weld_base holds bases that float")


def test_legs_bent_by_the_start_are_held_bent():
    legs = [f"{end}_{side}" for end in ("front", "rear") for side in ("left", "right")]
    bent = {f"{leg}_hip_pitch": 0.7 for leg in legs} | {f"{leg}_knee": -1.4 for leg in legs}
    log = simulate(QUADRUPED, 1.0, ground=0.0, hold=True, start=bent)
    assert log.q[0, 6] == pytest.approx(0.3585305624, abs=1e-9)  # see the file
    assert log.q[-1, 6] == pytest.approx(0.3585305624, abs=0.004) and np.abs(log.v[-1]).max() < 1e-3


def test_positions_outside_of_limits_are_clamped_where_joints_are_held():
    bar = robot(link("base"), link("bar", 2.0, "0.5 0 0"), joint("hinge", "base", "bar", limits=(0.5, 1)))
    said = []
    log = simulate(bar, 0.01, hold=True, warn=said.append, **WELDED)
    assert log.q[0, 0] == 0.5 and not said
    log = simulate(bar, 0.01, hold=True, start_limits="warn", warn=said.append, **WELDED)
    assert log.q[0, 0] == 0.0 and "outside of limits" in said[0]


# -------------------------------------------------------------------------------------------- driving

CAR = robot(
    link("base", 5.0),
    *(
        part
        for side, y in (("left", 0.2), ("right", -0.2))
        for end, x in (("front", 0.2), ("rear", -0.2))
        for part in (
            link(f"{end}_{side}", 0.5, content='<collision><geometry><sphere radius="0.1"/></geometry></collision>'),
            joint(
                f"{end}_{side}_wheel", "base", f"{end}_{side}", "continuous", "0 1 0", f"{x} {y} 0", limits=(-99, 99)
            ),
        )
    ),
)
WHEELS = {f"{end}_{side}_wheel": 2.0 for end in ("front", "rear") for side in ("left", "right")}


def test_wheels_drive_a_car():
    log = simulate(CAR, 2.0, ground=0.0, drive=WHEELS)
    x = log.column("arm_base_x")
    assert log.v[-1, 6:] == pytest.approx(np.full(4, 2.0), abs=1e-3)
    assert (x[-1] - x[100]) / (log.times[-1] - log.times[100]) == pytest.approx(2.0 * 0.1, rel=0.02)


def test_a_joint_is_driven_beside_others_that_are_held_or_free():
    text = robot(
        *(link("base"), link("a", 1.0, "0.2 0 0"), link("b", 1.0, "0.2 0 0")),
        *(joint("ja", "base", "a", limits=(-9, 9)), joint("jb", "base", "b", limits=(-9, 9))),
    )
    quick = {**WELDED, "overrides": []}
    held = simulate(text, 0.5, drive={"ja": 1.0}, hold=True, **quick)
    free = simulate(text, 0.5, drive={"ja": 1.0}, **quick)
    for log in (held, free):
        assert log.v[-1, 0] == pytest.approx(1.0, abs=0.1)  # the weight slows it down by m g l / Kd
    assert abs(held.q[-1, 1]) < 0.02 < 0.5 < free.q[-1, 1]


def test_names_of_driven_joints():
    for given, message in (
        ({"whel": 1.0}, "no joint that can be driven named 'whel'"),
        ({"wheel": 1.0}, "'wheel' can mean arm_front_left_wheel"),
        ({"front_left_wheel": 1.0, "arm_front_left_wheel": 1.0}, "mean the same joint"),
        ({"front_left_wheel": np.nan}, "must be a finite number"),
    ):
        with pytest.raises(ArgumentError, match=message):
            simulate(CAR, 0.01, drive=given)


# ---------------------------------------------------------------------------------- where it can be said


def test_settings_of_a_file(tmp_path):
    arm, scenario = tmp_path / "arm.urdf", tmp_path / "run.yaml"
    arm.write_bytes(ARM.content)
    scenario.write_text("hold: {kp: 500, kd: 30}\ndrive: {}\nplant_config: {time_step: 0.002}\n")
    log = tmp_path / "run.h5"
    succeed("simulate", arm, "--weld", "base", "--config", scenario, "-t", 0.01, "-o", log)
    with Log(log) as opened:
        resolved = json.loads(opened.model)
        assert "kp: 500.0" in opened.config
    assert [a["controller_gains"] for a in resolved["actuators"]] == [[500.0, 30.0]]
    assert resolved["hold"][0]["position"] == 0.0
    plain = simulate(arm, 0.01, config=scenario, weld=["base"])
    assert plain.q[-1] == pytest.approx(simulate(arm, 0.01, hold=True, kp=500, kd=30, dt=0.002, weld=["base"]).q[-1])
    off = simulate(arm, 0.01, config=scenario, weld=["base"], hold=False)
    assert off.q[-1, 0] > plain.q[-1, 0]
    on = simulate(arm, 0.01, overrides=["hold.enabled=true"], weld=["base"])
    assert on.q[-1, 0] == pytest.approx(simulate(arm, 0.01, hold=True, weld=["base"]).q[-1, 0])
    scenario.write_text("drive: {hinge: fast}\n")
    with pytest.raises(ModelError, match="run.yaml:1:16: error: drive.hinge must be a number"):
        load_model(arm, config=scenario)


def test_the_word_after_hold(tmp_path):
    arm = tmp_path / "arm.urdf"
    arm.write_bytes(ARM.content)
    run = ("--weld", "base", "-t", 0.002, "--no-log")
    for words in (("--hold", arm, *run), (arm, *run, "--hold"), (arm, "--hold", *run)):
        assert "holds 1 joint where they start" in succeed("simulate", *words).err
    refused = cli("simulate", arm, *run, "--hold", "home")
    assert refused.code == 2 and "--hold: there is no posture named 'home'; there are none" in refused.err


@pytest.mark.parametrize("options", [{"dt": 0.0}, {"contact_approximation": "tamsi"}])
def test_joints_are_held_in_plants_whose_steps_have_no_controllers(options):
    log = simulate(ARM, 0.05, start={"hinge": 0.3}, hold=True, weld=["base"], **options)
    assert np.abs(log.q - 0.3).max() < 1e-12


def test_a_plant_of_the_caller_keeps_its_controllers():
    plant = load_model(ARM, weld=["base"], hold=True).plant
    held = simulate(plant, 0.1, hold=True)
    assert not controlled_actuators(plant) and not has_controllers(plant)
    free = simulate(plant, 0.1)
    assert free.q[-1, 0] > 0.04 > held.q[-1, 0]


def test_worlds_hold_each_at_its_own_start():
    model = load_model(ARM, weld=["base"], hold=True)
    worlds = Worlds(model, 3)
    starts = np.array([[0.1], [0.5], [-0.7]])
    worlds.q = starts
    worlds.hold_here()
    worlds.step(300)
    assert np.abs(worlds.q - starts).max() < 1e-9


def test_a_simulator_holds_from_a_context_that_holds_and_says_where_nothing_does():
    model = load_model(ARM, weld=["base"], hold=True)
    with pytest.warns(UserWarning, match="context_that_holds"):
        Simulator(model.plant)
    context = model.plant.CreateDefaultContext()
    model.plant.SetPositions(context, [0.4])
    simulator = Simulator(model.plant, context_that_holds(model, context))
    simulator.AdvanceTo(0.2)
    assert model.plant.GetPositions(simulator.get_context()) == pytest.approx([0.4], abs=1e-12)
    with pytest.raises(ArgumentError, match="loaded without hold"):
        context_that_holds(load_model(ARM, weld=["base"]))


# ------------------------------------------------------------------------------------------- going on


def test_a_run_that_goes_on_holds_on(tmp_path):
    whole, parts = tmp_path / "whole.h5", tmp_path / "parts.h5"
    run = ("-q", "simulate", QUADRUPED, "--ground", "--hold", "--drive", "front_left_knee=-0.5")
    start = ("--at", "front_left_hip_pitch=0.1")
    succeed(*run, *start, "-t", 0.04, "-o", whole)
    succeed(*run, *start, "-t", 0.02, "-o", parts)
    succeed("-q", "simulate", "--resume", parts, "-t", 0.04)
    with Log(whole) as a, Log(parts) as b:
        assert a.q.tobytes() == b.q.tobytes() and a.v.tobytes() == b.v.tobytes()
        assert json.loads(a.model)["hold"] == json.loads(b.model)["hold"]
    refused = cli("simulate", QUADRUPED, "--ground", "--resume", parts, "-t", 0.05)
    assert refused.code == 3 and "give the same options" in refused.err
    refused = cli(*run[:-1], "front_left_knee=0.5", "--resume", parts, "-t", 0.05)
    assert refused.code == 3 and "was run with drive.front_left_knee = -0.5, now it is 0.5" in refused.err


def test_a_run_of_the_library_goes_on_too(tmp_path):
    arm = tmp_path / "arm.urdf"
    arm.write_bytes(ARM.content)
    log = simulate(arm, 0.02, hold=True, start={"hinge": 0.4}, log=tmp_path / "run.h5", **WELDED)
    went_on = resume(log, until=0.04)
    whole = simulate(arm, 0.04, hold=True, start={"hinge": 0.4}, **WELDED)
    assert went_on.q.tobytes() == whole.q.tobytes()
    plain = simulate(arm, 0.02, log=tmp_path / "plain.h5", **WELDED)
    plain.close()
    with pytest.raises(ModelError, match="was not run with the same hold and drive"):
        resume(tmp_path / "plain.h5", arm, 0.04, hold=True, **WELDED)
