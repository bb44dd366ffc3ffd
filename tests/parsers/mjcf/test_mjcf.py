"""MJCF files to ModelSpec: what each element becomes, one damaged token at a time, includes, meshes, names of Drake."""

import re
from math import inf, radians

import numpy as np
import pytest
from command_line import cli
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.mjcf.read_mjcf import read_mjcf
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.spec import Box, Capsule, HalfSpace, Mesh, Sphere

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.simulation.controllers import hold_default_positions
from mbcli.systems.simulator import Simulator

ROBOT = """<mujoco model="r">
  <compiler angle="degree"/>
  <option timestep="0.01" gravity="0 0 -3"/>
  <default>
    <joint damping="0.5"/>
    <geom rgba="1 0 0 1" solref="0.01 1"/>
    <default class="strong"><motor gear="5" ctrlrange="-2 2"/></default>
  </default>
  <asset><material name="steel" rgba=".5 .5 .5 1" specular="1"/></asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1" material="steel" friction=".7 .1"/>
    <site name="goal" pos="1 2 3"/>
    <body name="base" pos="0 0 1">
      <freejoint name="root"/>
      <geom name="trunk" type="box" size=".1 .2 .3"/>
      <body name="arm" pos="0 .5 0">
        <joint name="shoulder" axis="0 2 0" range="-90 45" armature="2" actuatorfrcrange="-8 8"/>
        <joint name="reach" type="slide" axis="1 0 0" range="-1 1" stiffness="3" springref=".1"/>
        <geom type="capsule" size=".05 .4" contype="0" conaffinity="0"/>
        <site name="tip" pos="0 0 .4" size=".01"/>
        <body>
          <joint type="ball" damping=".1"/>
          <geom size=".1" mass="2"/>
        </body>
      </body>
    </body>
    <body name="post" pos="3 0 0"><geom size=".2"/></body>
  </worldbody>
  <actuator>
    <motor name="m" joint="shoulder" class="strong"/>
    <position joint="reach" kp="40" kv="2" forcerange="-9 9"/>
  </actuator>
  <contact><exclude body1="base" body2="arm"/></contact>
  <sensor><jointpos joint="shoulder"/></sensor>
</mujoco>"""


def read(text, **options):
    """(model or None, Diagnostics) of a document."""
    diagnostics = Diagnostics()
    models = load_models(text.encode(), input_format="mjcf", diagnostics=diagnostics, name="m.xml", **options)
    return (models[0] if models else None), diagnostics


def body(content, head=""):
    return f"<mujoco>{head}<worldbody>{content}</worldbody></mujoco>"


def model_of(text, **options):
    model, diagnostics = read(text, **options)
    assert diagnostics.errors == []
    return model


def place_of(text, token, occurrence=1):
    """line:column of a token of a document."""
    at = -1
    for _ in range(occurrence):
        at = text.index(token, at + 1)
    return f"{text.count(chr(10), 0, at) + 1}:{at - text.rfind(chr(10), 0, at)}"


def plant_of(text, ball_joints="quaternion"):
    plant = MultibodyPlant(0.0)
    plant.settings.ball_joints = ball_joints
    Parser(plant).AddModelsFromString(text, "mjcf")
    plant.Finalize()
    return plant


# ------------------------------------------------------------------------------------------ the model


def test_links_are_bodies_and_massless_links_between_joints_of_one_body():
    model = model_of(ROBOT)
    assert [link.name for link in model.links] == ["world", "base", "arm", "arm0", "body4", "post"]
    links = {link.name: link for link in model.links}
    assert links["arm0"].inertial is None
    assert links["base"].inertial.mass == pytest.approx(1000 * 0.2 * 0.4 * 0.6)
    assert links["body4"].inertial.mass == 2.0
    assert links["body4"].X_ModelL[:3, 3].tolist() == [0, 0.5, 1]
    assert model.gravity == (0, 0, -3)


def test_joints_have_types_limits_and_names_of_drake():
    joints = {joint.name: joint for joint in model_of(ROBOT).joints}
    assert [(name, joint.type, joint.parent, joint.child) for name, joint in joints.items()] == [
        ("shoulder", "revolute", "base", "arm0"),
        ("reach", "prismatic", "arm0", "arm"),
        ("arm-body4", "ball", "arm", "body4"),
        ("world_welds_to_post", "fixed", "world", "post"),
    ]
    (shoulder,), (reach,) = joints["shoulder"].axes, joints["reach"].axes
    assert (shoulder.xyz, shoulder.lower, shoulder.upper) == ((0, 1, 0), radians(-90), radians(45))
    assert (shoulder.damping, shoulder.effort) == (0.5, 8)
    assert (reach.lower, reach.upper, reach.spring_stiffness, reach.spring_reference) == (-1, 1, 3, 0.1)
    assert joints["arm-body4"].damping == (0.1,)
    assert joints["shoulder"].X_PF[:3, 3].tolist() == [0, 0.5, 0]
    assert joints["world_welds_to_post"].X_PF[:3, 3].tolist() == [3, 0, 0]


def test_actuators_have_limits_and_gains_at_the_joint_and_its_armature():
    motor, servo = model_of(ROBOT).actuators
    assert (motor.name, motor.joint, motor.effort_limit, motor.gear_ratio) == ("m", "shoulder", 8, 5)
    assert motor.rotor_inertia * motor.gear_ratio**2 == pytest.approx(2)
    assert (servo.name, servo.joint, servo.effort_limit, servo.controller_gains) == ("motor1", "reach", 9, (40, 2))


def test_geoms_are_visuals_and_those_that_collide_collisions():
    links = {link.name: link for link in model_of(ROBOT).links}
    (floor,) = links["world"].collisions
    assert (floor.name, floor.shape, floor.color) == ("floor", HalfSpace(), (1, 0, 0, 1))
    assert floor.properties[("material", "coulomb_friction")] == (0.7, 0.7)
    assert links["base"].visuals[0].shape == Box((0.2, 0.4, 0.6))
    assert [(shape.name, shape.shape) for shape in links["arm"].visuals] == [("geom0", Capsule(0.05, 0.8))]
    assert links["arm"].collisions == ()
    assert links["body4"].collisions[0].shape == Sphere(0.1)


def test_colour_comes_from_the_material_where_no_rgba_is_stated():
    text = ROBOT.replace(' rgba="1 0 0 1"', "")
    assert model_of(text).links[0].visuals[0].color == (0.5, 0.5, 0.5, 1)


def test_sites_are_frames():
    frames = {frame.name: frame for frame in model_of(ROBOT).frames}
    assert (frames["goal"].link, frames["goal"].X_LF[:3, 3].tolist()) == ("world", [1, 2, 3])
    assert (frames["tip"].link, frames["tip"].X_LF[:3, 3].tolist()) == ("arm", [0, 0, 0.4])


def test_excluded_bodies_are_two_filter_groups():
    first, second = model_of(ROBOT).filter_groups
    assert (first.members, first.ignores, second.members) == (("base",), (second.name,), ("arm",))


def test_foreign_parts_are_notes_and_nothing_is_a_warning():
    _, diagnostics = read(ROBOT.replace(' solref="0.01 1"', ' castshadow="false"'))
    assert diagnostics.warnings == []
    found = " ".join(note.message for note in diagnostics.findings)
    for name in ("castshadow", "specular", "<light>", '"size" in <site>'):
        assert name in found


def test_plant_of_a_file_has_its_gravity_springs_and_starts_at_references():
    plant = plant_of(ROBOT.replace('stiffness="3"', 'ref=".25" stiffness="3"'))
    assert plant.gravity_field().gravity_vector().tolist() == [0, 0, -3]
    assert (plant.num_positions(), plant.num_velocities(), plant.num_actuators()) == (13, 11, 2)
    context = plant.CreateDefaultContext()
    assert plant.GetJointByName("reach").GetOnePosition(context) == 0.25
    arm = plant.GetBodyByName("arm").EvalPoseInWorld(context)
    assert arm.translation() == pytest.approx([0, 0.5, 1], abs=1e-15)


def test_gravity_of_the_plant_is_set_with_a_note():
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    parser.AddModelsFromString(ROBOT, ".xml")
    (note,) = [finding for finding in parser.diagnostics.findings if finding.code == "GRAVITY_SET"]
    assert note.severity == "note" and "to [0.0, 0.0, -3.0], which was [0.0, 0.0, -9.81]" in note.message


def test_name_of_the_model_is_that_of_the_file_where_it_states_none(tmp_path):
    path = tmp_path / "walker.xml"
    path.write_text(ROBOT.replace(' model="r"', ""))
    (model,) = load_models(path, diagnostics=Diagnostics())
    assert (model.name, model.format) == ("walker", "mjcf")


def test_dry_friction_spring_and_range_of_ball_joints_act():
    text = body(
        '<body><joint type="ball" stiffness="3" frictionloss="1"/><geom size="1"/><body><joint frictionloss="2"/>'
        '<geom size="1"/></body><body><joint type="ball" range="0 40"/><geom size="1"/></body></body>'
    )
    model, diagnostics = read(text)
    assert [axis.friction for joint in model.joints for axis in joint.axes] == [2.0]
    balls = [joint for joint in model.joints if joint.type == "ball"]
    assert [(joint.stiffness, joint.friction) for joint in balls] == [(3.0, 1.0), (0.0, 0.0)]
    assert [joint.turn_limit for joint in balls] == [inf, pytest.approx(np.radians(40.0))]
    assert diagnostics.warnings == []


def test_attributes_without_meaning_for_a_joint_are_passed_over():
    text = body(
        '<body><joint type="free" pos="1 2 3" axis="1 0 0" limited="false" range="0 1" margin=".1"/><geom size="1"/>'
        '<body><joint type="ball" axis="1 0 0" ref="2"/><geom size="1"/></body></body>'
    )
    assert read(text)[1].findings == []


# ---------------------------------------------------------------------------------------- equalities

PAIR = """<body name="a" pos="1 0 0" euler="0 0 90"><joint name="ja" ref="30"/><geom size=".1"/>
  <site name="sa" pos="0 0 1"/></body>
  <body name="b" pos="1 2 0"><joint name="jb" type="slide" ref=".5"/><geom size=".1"/></body>"""


def with_equality(equality, head=""):
    return f"<mujoco>{head}<worldbody>{PAIR}<site name='sw'/></worldbody><equality>{equality}</equality></mujoco>"


def test_connect_is_a_ball_constraint_at_the_anchor_of_the_reference_configuration():
    (ball,) = model_of(with_equality('<connect name="c" body1="a" body2="b" anchor="1 0 0"/>')).constraints
    assert (ball.name, ball.link_A, ball.p_AP, ball.link_B) == ("c", "a", (1, 0, 0), "b")
    assert ball.p_BQ == pytest.approx((0, -1, 0), abs=1e-15)
    (ball,) = model_of(with_equality('<connect body1="b" anchor="0 0 1"/>')).constraints
    assert (ball.link_B, ball.p_BQ) == ("world", (1, 2, 1))
    (ball,) = model_of(with_equality('<connect site1="sa" site2="sw"/>')).constraints
    assert (ball.link_A, ball.p_AP, ball.link_B, ball.p_BQ) == ("a", (0, 0, 1), "world", (0, 0, 0))


def test_weld_keeps_the_stated_pose_or_that_of_the_reference_configuration():
    (weld,) = model_of(with_equality('<weld body1="b" body2="a"/>')).constraints
    assert pytest.approx(np.array([[0, -1, 0, 0], [1, 0, 0, -2], [0, 0, 1, 0], [0, 0, 0, 1]]), abs=1e-15) == weld.X_AP
    assert weld.X_BQ.tolist() == np.eye(4).tolist()
    (weld,) = model_of(with_equality('<weld body1="b" body2="a" relpose="1 2 3 2 0 0 0"/>')).constraints
    assert weld.X_AP[:3].tolist() == [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3]]
    (weld,) = model_of(with_equality('<weld body1="b" body2="a" relpose="1 2 3 2 0 0 0" anchor="4 5 6"/>')).constraints
    assert (weld.X_AP[:3, 3].tolist(), weld.X_BQ[:3, 3].tolist()) == ([1, 2, 3], [4, 5, 6])
    (ball,) = model_of(with_equality('<weld body1="b" body2="a" anchor="0 0 1" torquescale="0"/>')).constraints
    assert ball.p_AP == pytest.approx((0, -2, 1), abs=1e-15) and ball.p_BQ == (0, 0, 1)


def test_joint_equality_makes_a_follower_about_the_references():
    text = with_equality('<joint joint1="ja" joint2="jb" polycoef=".1 2"/>', '<compiler angle="radian"/>')
    joint = next(joint for joint in model_of(text).joints if joint.name == "ja")
    (axis,) = joint.axes
    assert (axis.mimic.leader, axis.mimic.multiplier) == ("jb", 2)
    assert axis.mimic.offset == pytest.approx(30 + 0.1 - 2 * 0.5)


@pytest.mark.parametrize(
    "equality, message",
    [
        ('<joint joint1="ja" joint2="jb" polycoef="0 1 2"/>', "polynomial of higher degree"),
        ('<flex flex="t"/>', "<flex> in <equality> is not supported"),
    ],
)
def test_equalities_without_a_counterpart_are_warned_of(equality, message):
    model, diagnostics = read(with_equality(equality))
    assert model is not None and model.constraints == ()
    (finding,) = diagnostics.warnings
    assert message in finding.message and "as if it were not there" in finding.message


def test_inactive_equality_is_a_note():
    model, diagnostics = read(with_equality('<connect body1="a" anchor="0 0 0" active="false"/>'))
    assert model.constraints == () and diagnostics.warnings == []
    assert "not active" in diagnostics.findings[-1].message


def test_joint_that_follows_a_second_one_or_its_follower_is_a_sum_of_coordinates():
    text = with_equality('<joint joint1="ja" joint2="jb"/><joint joint1="jb" joint2="ja" polycoef=".1 .5"/>')
    model = model_of(text)
    assert [joint.axes[0].mimic is not None for joint in model.joints] == [True, False]
    (tendon,) = model.constraints
    assert (tendon.joints, tendon.a) == (("jb", "ja"), (1.0, -0.5))
    assert tendon.lower == tendon.upper == pytest.approx(0.5 + 0.1 - 0.5 * radians(30))


def test_joint_without_a_leader_is_held_in_its_place():
    (tendon,) = model_of(with_equality('<joint joint1="jb" polycoef=".2"/>')).constraints
    assert (tendon.joints, tendon.a, tendon.lower, tendon.upper) == (("jb",), (1.0,), 0.7, 0.7)


def test_joint_that_follows_itself_is_an_error():
    model, diagnostics = read(with_equality('<joint joint1="jb" joint2="jb"/>'))
    assert model is None
    assert "follows itself" in diagnostics.errors[0].message


# ----------------------------------------------------------------------------------------- actuators


def actuators_of(actuator, default="", joint='<joint name="j"/>'):
    text = f"""<mujoco><default>{default}</default><worldbody><body>{joint}<geom size="1"/></body></worldbody>
    <actuator>{actuator}</actuator></mujoco>"""
    model, diagnostics = read(text)
    assert diagnostics.errors == []
    return model.actuators, [finding.message for finding in diagnostics.warnings]


@pytest.mark.parametrize(
    "actuator, effort, gains",
    [
        ('<motor joint="j"/>', inf, None),
        ('<motor joint="j" gear="-3" ctrlrange="-2 2" forcerange="-9 9"/>', 6, None),
        ('<motor joint="j" gear="3" ctrlrange="-2 2" ctrllimited="false"/>', inf, None),
        ('<general joint="j" gainprm="5" ctrlrange="-2 2"/>', 10, None),
        ('<general joint="j" gainprm="5" biastype="affine" biasprm="0 -5 -1"/>', inf, (5, 1)),
        ('<position joint="j" kp="5" gear="2" forcerange="-1 1"/>', 2, (20, 0)),
        ('<velocity joint="j" kv="5"/>', inf, (0, 5)),
    ],
)
def test_actuator_laws_become_limits_and_gains(actuator, effort, gains):
    (spec,), warnings = actuators_of(actuator)
    assert (spec.effort_limit, spec.controller_gains) == (effort, gains)
    assert warnings == []


def test_defaults_of_one_kind_of_actuator_reach_the_others():
    default = '<general gainprm="7" biastype="affine" biasprm="0 -7 -1" forcerange="-4 4"/>'
    (motor, servo), _ = actuators_of('<motor joint="j"/><position joint="j" name="p"/>', default)
    assert (motor.effort_limit, motor.controller_gains) == (4, None)
    assert (servo.effort_limit, servo.controller_gains) == (4, (7, 1))


@pytest.mark.parametrize(
    "actuator, message",
    [
        ('<general joint="j" gaintype="user"/>', "an actuator of this kind"),
        ('<general joint="j" gainprm="0"/>', "without gain"),
        ('<motor joint="j" gear="0"/>', "without gear"),
        ('<orientation joint="j" kp="1"/>', "<orientation> in <actuator>"),
        ('<general body="b" biastype="affine" biasprm="0 0 -1"/>', "a pull at contacts that depends on the motion"),
    ],
)
def test_other_actuators_are_warned_of_and_left_out(actuator, message):
    joint = '<freejoint name="free"/><geom size="1"/></body><body name="b"><joint name="j"/>'
    actuators, warnings = actuators_of(actuator, joint=joint)
    assert actuators == ()
    assert len(warnings) == 1 and message in warnings[0] and "as if it were not there" in warnings[0]


AIMS = {  # actuator: (gains, where it aims by itself, part of the only warning)
    '<position joint="j" kp="4" kv="2"/>': ((4, 2), None, None),
    '<position joint="j" kp="4" ctrlrange="1 2" gear="5"/>': ((100, 0), (0.2, 0), None),
    '<position joint="j" kp="4" inheritrange="1"/>': ((4, 0), (0.5, 0), None),
    '<general joint="j" gainprm="7" biastype="affine" biasprm="3 -2 -5"/>': ((2, 5), (1.5, 0), None),
    '<velocity joint="j" kv="4" ctrlrange="3 9"/>': ((0, 4), (0, 3), None),
    '<pid joint="j" kp="4" kv="2"/>': ((4, 2), None, None),
    '<pid joint="j" kp="4" kv="2" ki="1"/>': ((4, 2), None, '"ki" in <pid> is not followed'),
}


@pytest.mark.parametrize("actuator", AIMS)
def test_servos_aim_where_no_control_lets_them(actuator):
    gains, aim, message = AIMS[actuator]
    joint = '<joint name="j" range="0.5 1.5" type="slide"/>'
    (spec,), warnings = actuators_of(actuator, joint=joint)
    assert (spec.controller_gains, spec.rest) == (gains, aim)
    assert len(warnings) == (message is not None) and (message or "") in "".join(warnings)


INHERITED = {  # actuator: the range of its control, in a class that lets servos inherit that of the joint, 0.5 to 1.5
    '<motor joint="j" ctrlrange="-3 3"/>': (-3, 3),
    '<position joint="j" kp="4" ctrlrange="0 1"/>': (0, 1),
    '<velocity joint="j" kv="2" ctrlrange="-3 3"/>': (-3, 3),
    '<general joint="j" gainprm="7" biastype="affine" biasprm="0 -7 0" ctrlrange="-3 3"/>': (0.5, 1.5),
    '<general joint="j" gainprm="7" biastype="affine" biasprm="0 -5 0" ctrlrange="-3 3"/>': (-3, 3),
}


@pytest.mark.parametrize("actuator", INHERITED)
def test_only_servos_of_a_position_inherit_the_range_of_their_joint(actuator):
    """A motor has as much effort as its own range says; a servo aims at the control next to 0."""
    joint, lower = '<joint name="j" range="0.5 1.5" type="slide"/>', INHERITED[actuator][0]
    (spec,), _ = actuators_of(actuator, '<position inheritrange="1"/>', joint)
    if spec.controller_gains is None:
        assert spec.effort_limit == 3
    else:
        assert spec.rest == ((lower, 0) if lower > 0 else None)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("actuator", INHERITED)
def test_mujoco_has_the_same_ranges(actuator):
    import mujoco

    head = '<mujoco><default><position inheritrange="1"/></default><worldbody><body><geom size="1"/>'
    joint = '<joint name="j" range="0.5 1.5" type="slide"/></body></worldbody>'
    model = mujoco.MjModel.from_xml_string(f"{head}{joint}<actuator>{actuator}</actuator></mujoco>")
    assert tuple(model.actuator_ctrlrange[0]) == INHERITED[actuator]


@pytest.mark.parametrize("fluid, severity", [("1.2 2e-5", "note"), ("1000 9e-4", "warning"), ("0.001 2e-4", "warning")])
def test_a_fluid_as_thin_as_air_is_a_note(fluid, severity):
    density, viscosity = fluid.split()
    stated = f'timestep="0.01" density="{density}" viscosity="{viscosity}"'
    _, diagnostics = read(ROBOT.replace('timestep="0.01"', stated))
    found = [finding.severity for finding in diagnostics.findings if "forces of a fluid" in finding.message]
    assert found == [severity, severity]


@pytest.mark.parametrize("loss, severity", [(0.09, "note"), (0.11, "warning")])
def test_dry_friction_of_a_free_joint_below_a_thousandth_of_the_weight_is_a_note(loss, severity):
    joint = f'<body><joint type="free" frictionloss="{loss}"/><geom size=".1" mass="10"/></body>'
    _, diagnostics = read(body(joint))
    assert [f.severity for f in diagnostics.findings if "a free joint has none here" in f.message] == [severity]


def test_the_name_of_a_coupling_is_no_statement():
    _, diagnostics = read(GRIPPER.replace("ACTUATOR", "").replace("<joint joint1", '<joint name="n" joint1'))
    assert diagnostics.warnings == []


def test_servo_that_aims_at_the_default_position_has_nothing_to_state():
    (spec,), _ = actuators_of('<position joint="j" ctrlrange="-90 90"/>', joint='<joint name="j" ref="30"/>')
    assert spec.rest == (0, 0)
    default = '<position ctrlrange=".5 .9"/>'
    (spec,), _ = actuators_of('<position joint="j"/>', default, '<joint name="j" ref=".5" type="slide"/>')
    assert spec.rest is None


GRIPPER = """<mujoco><worldbody><body><joint name="a" type="slide"/><geom size=".1"/></body>
<body pos="1 0 0"><joint name="b" type="slide" ref=".2"/><geom size=".1"/></body>
<body pos="2 0 0"><joint name="c" type="slide"/><geom size=".1"/></body></worldbody>
<tendon><fixed name="t"><joint joint="a" coef=".5"/><joint joint="b" coef="3"/></fixed>
  <fixed name="u"><joint joint="a" coef=".5"/><joint joint="c" coef="3"/></fixed></tendon>
<equality><joint joint1="b" joint2="a" polycoef=".1 2"/></equality><actuator>ACTUATOR</actuator></mujoco>"""


def test_tendon_of_joints_that_follow_one_drives_that_one():
    """b = 0.3 + 2 a: the length of the tendon is 6.5 a + 0.9."""
    (servo,) = model_of(GRIPPER.replace("ACTUATOR", '<position tendon="t" kp="4" kv="3" gear="2"/>')).actuators
    assert (servo.joint, servo.gear_ratio) == ("a", 13)
    assert servo.controller_gains == pytest.approx((4 * 169, 3 * 169))
    assert servo.rest == (pytest.approx(-0.9 / 6.5), 0.0)
    (motor,) = model_of(GRIPPER.replace("ACTUATOR", '<motor tendon="t" ctrlrange="-2 2"/>')).actuators
    assert (motor.joint, motor.effort_limit) == ("a", 13)
    model, diagnostics = read(GRIPPER.replace("ACTUATOR", '<motor tendon="u"/>'))
    assert model.actuators == () and diagnostics.warnings == []
    assert [actuator.transmission.kind for actuator in model.transmission_actuators] == ["sum"]
    assert 'there is no tendon "x"' in read(GRIPPER.replace("ACTUATOR", '<motor tendon="x"/>'))[1].errors[0].message


def test_damping_and_inertia_of_an_actuator_go_to_its_joint():
    text = body('<body><joint name="j" damping="1" armature="2"/><geom size="1"/></body>').replace(
        "</mujoco>", '<actuator><motor joint="j" gear="2" armature=".5" damping="3"/></actuator></mujoco>'
    )
    model = model_of(text)
    assert model.joints[0].axes[0].damping == 13
    assert model.actuators[0].rotor_inertia * 4 == 4


def test_motors_and_servos_stand_in_one_model():
    text = """<mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom size=".1" mass="1" pos=".2 0 0"/>
    <body pos=".5 0 0"><joint name="b" axis="0 1 0" damping="1"/><geom size=".1" mass="1" pos=".2 0 0"/></body></body>
    </worldbody><actuator><position name="s" joint="a" kp="500" kv="50" ctrlrange=".4 1"/><motor joint="b"/></actuator>
    </mujoco>"""
    plant = MultibodyPlant(0.01)
    Parser(plant).AddModelsFromString(text, "mjcf")
    plant.Finalize()
    simulator = Simulator(plant)
    context = simulator.get_context()
    assert hold_default_positions(plant, context) == ["s"]
    simulator.AdvanceTo(20.0)
    a, b = plant.GetPositions(context)
    assert a + b == pytest.approx(np.pi / 2, abs=1e-6)
    assert 500 * (a - 0.4) == pytest.approx(9.81 * 0.7 * np.cos(a), rel=1e-6)


# ----------------------------------------------------------------------------------- damaged documents

DAMAGES = [  # (old, new, token that the finding is at, part of the message)
    ('size=".1 .2 .3"', 'size=".1 .2"', 'size=".1 .2"', "a geom of type box needs 3 positive sizes, found 0.1 0.2"),
    ('size=".1 .2 .3"', 'size=".1 .2 -.3"', 'size=".1 .2 -', "needs 3 positive sizes"),
    ('size=".1 .2 .3"', 'size=".1 .2 x"', 'size=".1 .2 x"', 'found "x"'),
    ('type="box"', 'type="bxo"', 'type="bxo"', 'found "bxo"; did you mean "box"?'),
    ('type="slide"', 'type="slid"', 'type="slid"', 'did you mean "slide"?'),
    ('axis="0 2 0"', 'axis="0 0 0"', 'axis="0 0 0"', "must not be zero"),
    ('mass="2"', 'mass="-2"', 'mass="-2"', "must not be negative, found -2.0"),
    ('damping=".1"', 'damping="-.1"', 'damping="-.1"', "must not be negative"),
    ('joint="shoulder" class', 'joint="sholder" class', 'joint="sholder"', 'did you mean "shoulder"?'),
    ('class="strong"/>\n', 'class="string"/>\n', 'class="string"', 'no default class "string"'),
    ('body2="arm"', 'body2="amr"', 'body2="amr"', 'there is no body "amr"'),
    ('name="post"', 'name="arm"', 'name="arm" pos="3', 'the body name "arm" is taken already, at m.xml:17:7'),
    ('name="reach"', 'name="shoulder"', 'name="shoulder" type', "the joint name"),
    ('name="tip"', 'name="goal"', 'name="goal" pos="0', "the site name"),
    ('pos="0 .5 0"', 'pos="0 .5 0" euler="0 0 9" quat="1 0 0 0"', 'euler="0', "quat and euler: only one"),
    ('pos="0 .5 0"', 'quat="0 0 0 0"', 'quat="0', "has no direction"),
    ('angle="degree"', 'angle="degrees"', 'angle="degrees"', 'did you mean "degree"?'),
    ('angle="degree"', 'coordinate="global"', 'coordinate="global"', "global coordinates are not supported"),
    ('angle="degree"', 'eulerseq="xyw"', 'eulerseq="xyw"', "three letters"),
    ('range="-1 1"', 'limited="true"', 'limited="true"', "needs a range"),
    ('<joint type="ball"', '<freejoint name="f"/><joint type="ball"', '<freejoint name="f"', "the only joint"),
    ('<joint type="ball"', '<joint type="free"', '<joint type="free"', "for children of the world"),
    ("<freejoint", '<composite type="grid"/><freejoint', "<composite", "the bodies that it makes would be missing"),
]  # fmt: skip


@pytest.mark.parametrize("old, new, token, message", DAMAGES)
def test_one_damaged_token_is_found_where_it_stands(old, new, token, message):
    assert ROBOT.count(old) == 1
    text = ROBOT.replace(old, new)
    model, diagnostics = read(text)
    assert model is None
    found = [str(finding) for finding in diagnostics.errors]
    assert any(f"m.xml:{place_of(text, token)}: error" in line and message in line for line in found), found


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            'damping="0.5"',
            'dampng="0.5"',
            'attribute "dampng" in <joint> is unknown and not used; did you mean "damp',
        ),
        ("<contact>", "<contct/><contact>", '<contct> in <mujoco> is unknown and not used; did you mean "contact"'),
        ('stiffness="3"', 'stiffness="1 2"', "its force is linear"),
        ('range="-1 1"', 'range="1 -1"', "range is reversed: it sets no limits"),
        ('angle="degree"', 'alignfree="true"', "alignfree is not supported"),
        ('material="steel"', 'material="stel"', 'attribute "material" in <geom> is not followed: there is no "stel"'),
        ('timestep="0.01"', 'viscosity="0.01"', "there are no forces of a fluid"),
        ('gravity="0 0 -3"/>', 'gravity="0 0 -3"><flag clampctrl="disable"/></option>', "limits the effort"),
    ],
)
def test_what_is_not_used_is_warned_of_by_name(old, new, message):
    model, diagnostics = read(ROBOT.replace(old, new, 1))
    assert model is not None
    assert any(message in str(finding) for finding in diagnostics.warnings), diagnostics.findings


def test_a_class_has_what_the_outer_one_states_before_it_alone():
    """As in MuJoCo: a class begins as a copy of the outer one, after what stands in the same <default>."""
    text = body(
        '<body><joint damping="1"/><geom class="a" size="1" mass="1"/><geom class="b" size="1" mass="1"/></body>',
        '<default><default class="a"><geom condim="1"/></default><geom priority="1"/></default>'
        '<default><geom priority="2" margin="3"/><default class="b"/></default>',
    )
    collisions = model_of(text).links[-1].collisions
    found = [[c.properties["mujoco", name] for name in ("condim", "priority", "margin")] for c in collisions]
    assert found == [[1, 1, 0.0], [3, 2, 3.0]]


def test_springdamper_may_stand_in_a_class():
    text = '<body><joint name="j" {}/><geom size=".1" pos="1 0 0"/></body>'
    own, inherited = (
        model_of(body(text.format(stated), head)).joints[0].axes[0]
        for stated, head in [
            ('springdamper=".1 .7"', ""),
            ("", '<default><joint springdamper=".1 .7"/></default>'),
        ]
    )
    assert own.spring_stiffness > 0 and own.damping > 0
    assert (own.spring_stiffness, own.damping) == (inherited.spring_stiffness, inherited.damping)


@pytest.mark.parametrize("condim", [3, 4, 6])
def test_torsional_and_rolling_friction_are_read_without_a_finding(condim):
    _, diagnostics = read(ROBOT.replace('contype="0"', f'condim="{condim}" friction="1 .02 .001"', 1))
    assert not [finding for finding in diagnostics.findings if "friction" in finding.message]


def test_every_error_of_a_file_is_found_at_once():
    text = ROBOT
    for old, new, _, _ in DAMAGES[3:7]:
        text = text.replace(old, new)
    _, diagnostics = read(text)
    assert len(diagnostics.errors) == 4


KEYED = """<mujoco><worldbody>
<body name="a"><joint name="ja" ref="30"/><joint name="jb" type="slide"/><geom size=".1"/>
  <body name="b"><joint name="jc" type="ball"/><geom size=".1"/></body></body>
<body name="c" pos="0 0 1"><freejoint/><geom size=".1"/></body>
<body name="d" pos="0 0 2"><joint name="jd" type="free" damping="3"/><geom size=".1"/></body></worldbody>
<keyframe><key name="home" qpos="1 2 .6 .8 0 0 1 2 3 0 0 1 0 4 5 6 0 2 0 0"/><key qvel="QVEL"/><key qpos="1 2"/>
<key name="all" qpos="QPOS" qvel="QVEL" ctrl="1" time="3"/></keyframe></mujoco>"""
KEYED = KEYED.replace("QVEL", " ".join(f".{k}" for k in range(10, 27)))
KEYED = KEYED.replace("QPOS", "1 2 .5 .5 .5 .5 1 2 3 .5 .5 .5 -.5 4 5 6 1 0 0 0")


def test_keyframes_are_postures():
    model, diagnostics = read(KEYED)
    assert [finding.code for finding in diagnostics.warnings] == ["KEYFRAME_SIZE"]
    home, velocities, everything = model.postures
    assert (home.name, velocities.name, everything.name) == ("home", "key1", "all")
    assert dict(home.positions) == {
        "ja": (1.0,),
        "jb": (2.0,),
        "jc": pytest.approx((0.6, 0.8, 0.0, 0.0)),
        "jd": (0.0, 1.0, 0.0, 0.0, 4.0, 5.0, 6.0),
    }
    ((link, X),) = home.poses
    assert link == "c" and X[:3, 3].tolist() == [1, 2, 3] and np.diag(X).tolist() == [-1, 1, -1, 1]
    assert home.velocities == home.spatial_velocities == velocities.positions == velocities.poses == ()


def test_text_between_elements_is_passed_over():
    assert read(body("words<body/>more"))[1].findings == []


# ---------------------------------------------------------------------------------------- compiler


def mass_of(text):
    model, diagnostics = read(text)
    assert diagnostics.errors == []
    return sum(link.inertial.mass for link in model.links if link.inertial), [w.message for w in diagnostics.warnings]


def test_part_of_a_vector_keeps_what_the_class_had_in_the_rest():
    model = model_of(
        body(
            """<body childclass="c"><joint/><geom size=".5"/><body><joint range="-inf inf" damping="2"/>
            <geom class="d" size=".7"/></body></body>""",
            """<default><geom type="box" size=".1 .2 .3"/><default class="c"><geom size=".3"/></default>
            <default class="d"><geom size=".4 .6"/></default></default>""",
        )
    )
    assert [link.visuals[0].shape for link in model.links] == [Box((1.0, 0.4, 0.6)), Box((1.4, 1.2, 0.6))]
    assert model.joints[1].axes[0].lower == -inf


def test_actuators_keep_the_rest_of_a_class():
    default = '<general gaintype="fixed" biastype="affine" gainprm="100" biasprm="0 -100 -10" gear="2"/>'
    (servo,) = actuators_of('<general joint="j" biasprm="0 -100"/>', default)[0]
    assert (servo.controller_gains, servo.gear_ratio) == ((400, 40), 2)


def test_fromto_places_a_geom_that_has_pos_too():
    content = '<body><joint/><geom type="capsule" size=".1" {} fromto="0 0 0 0 0 2"/></body>'
    _, diagnostics = read(body(content.format('pos="0 0 0"')))
    assert diagnostics.findings == []
    model, diagnostics = read(body(content.format('pos="1 0 0"')))
    assert model.links[0].visuals[0].X_LG[:3, 3].tolist() == [0, 0, 1]
    assert '"pos" in <geom> is not followed: fromto places the geom' in diagnostics.warnings[0].message


def test_changes_of_inertias_are_noted():
    arm = '<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>'
    model, diagnostics = read(body(arm, '<compiler boundmass="2" balanceinertia="true" settotalmass="8"/>'))
    assert model.links[0].inertial.mass == 8
    assert [finding.message.partition(" ")[0] for finding in diagnostics.findings] == [
        "boundmass",
        "balanceinertia",
        "settotalmass",
    ]
    assert diagnostics.warnings == []


def test_last_compiler_attribute_holds():
    text = body('<body><joint range="-1 1"/><geom size="1"/></body>', '<compiler angle="degree"/>')
    text = text.replace("</mujoco>", '<compiler angle="radian"/></mujoco>')
    assert model_of(text).joints[0].axes[0].upper == 1


# ----------------------------------------------------------------------------------------- includes


@pytest.fixture
def included(tmp_path):
    """A main file that includes a body file, which includes another; returns its path."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "main.xml").write_text(
        '<mujoco model="m">\n  <worldbody>\n    <include file="parts/arm.xml"/>\n  </worldbody>\n'
        '  <include file="parts/motors.xml"/>\n</mujoco>'
    )
    (tmp_path / "parts" / "arm.xml").write_text(
        '<mujocoinclude>\n  <body name="a">\n    <joint name="j"/>\n    <geom size="1"/>\n'
        '    <include file="parts/hand.xml"/>\n  </body>\n</mujocoinclude>'
    )
    (tmp_path / "parts" / "hand.xml").write_text(
        '<mujoco>\n  <body name="h">\n    <geom size="1"/>\n  </body>\n</mujoco>'
    )
    (tmp_path / "parts" / "motors.xml").write_text('<mujoco><actuator><motor joint="j"/></actuator></mujoco>')
    return tmp_path / "main.xml"


def load(path, **options):
    diagnostics = Diagnostics()
    return load_models(path, diagnostics=diagnostics, **options), diagnostics


def test_includes_at_any_depth_are_one_model(included):
    (model,), diagnostics = load(included)
    assert diagnostics.findings == []
    assert [link.name for link in model.links] == ["a", "h"]
    assert [actuator.joint for actuator in model.actuators] == ["j"]
    assert [source.path.rpartition("/")[2] for source in model.sources] == [
        "main.xml", "arm.xml", "motors.xml", "hand.xml",
    ]  # fmt: skip


def test_finding_in_an_included_file_has_its_name_and_line(included):
    hand = included.parent / "parts" / "hand.xml"
    hand.write_text(hand.read_text().replace('size="1"', 'size="x"'))
    models, diagnostics = load(included)
    assert models == ()
    assert str(diagnostics.errors[0]).startswith(f"{hand}:3:11: error: ")


def test_file_that_includes_itself_is_an_error(included):
    hand = included.parent / "parts" / "hand.xml"
    hand.write_text('<mujoco>\n<include file="parts/arm.xml"/></mujoco>')
    _, diagnostics = load(included)
    (error,) = diagnostics.errors
    assert str(error).startswith(f"{hand}:2:10: error") and "includes itself" in error.message
    included.write_text('<mujoco><include file="main.xml"/></mujoco>')
    assert "includes itself" in load(included)[1].errors[0].message


def test_included_file_outside_of_the_directory_is_refused(included):
    (included.parent.parent / "outside.xml").write_text("<mujoco/>")
    included.write_text('<mujoco><include file="../outside.xml"/></mujoco>')
    assert "which is not allowed" in load(included)[1].errors[0].message
    assert load(included, packages=PackageMap(allow_outside=True))[1].errors == []


def test_files_are_looked_for_beside_the_main_file_and_then_beside_the_one_that_names_them(included):
    hand = included.parent / "parts" / "hand.xml"
    arm = included.parent / "parts" / "arm.xml"
    arm.write_text(arm.read_text().replace("parts/hand.xml", "hand.xml"))
    hand.write_text('<mujoco><body name="h"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></mujoco>')
    assert [link.name for link in load(included)[0][0].links] == ["a", "h"]
    (included.parent / "hand.xml").write_text('<mujoco><body name="other"/></mujoco>')
    assert [link.name for link in load(included)[0][0].links] == ["a", "other"]
    arm.write_text(
        '<mujoco><asset><mesh file="cube.obj"/></asset><worldbody><body name="a"><joint name="j"/><geom type="mesh" '
        'mesh="cube"/></body></worldbody></mujoco>'
    )
    included.write_text('<mujoco><compiler meshdir="nowhere"/><include file="parts/arm.xml"/></mujoco>')
    (included.parent / "parts" / "cube.obj").write_text(CUBE_OBJ)
    assert load(included)[0][0].links[0].inertial.mass == pytest.approx(1000)


def test_missing_included_file_is_an_error_at_the_include(included):
    (included.parent / "parts" / "hand.xml").unlink()
    (error,) = load(included)[1].errors
    assert error.code == "URI_LOOKUP" and "parts/hand.xml does not exist" in error.message
    assert error.place.line == 5


def test_too_deep_include_is_refused(included):
    deep = "<body>" * 70 + '<include file="parts/hand.xml"/>' + "</body>" * 70
    included.write_text(body(deep))
    assert "must not be deeper than 64" in load(included)[1].errors[0].message


# ------------------------------------------------------------------------------------------ replicas

ROW = """<mujoco><worldbody><replicate count="COUNT" offset="1 0 0"><body name="a"><joint name="j"/>
<joint name="k"/><geom name="g" size=".1"/><site name="s"/></body></replicate></worldbody>
<tendon><fixed name="t" range="0 1"><joint joint="j" coef="1"/><joint joint="k" coef="2"/></fixed></tendon>
<equality><joint joint1="k" joint2="j"/></equality><contact><exclude name="x" body1="a" body2="world"/></contact>
<actuator><motor name="m" tendon="t"/></actuator></mujoco>"""


def test_replicas_have_copies_of_all_that_refers_to_them():
    model = model_of(ROW.replace("COUNT", "2"))
    assert [link.name for link in model.links] == ["a0", "a00", "a1", "a10"]
    assert [link.X_ModelL[0, 3] for link in model.links] == [0, 0, 1, 1]
    assert [joint.name for joint in model.joints] == ["j0", "k0", "j1", "k1"]
    assert [joint.axes[0].mimic.leader for joint in model.joints[1::2]] == ["j0", "j1"]
    assert [constraint.joints for constraint in model.constraints] == [("j0", "k0"), ("j1", "k1")]
    assert [(actuator.name, actuator.joint, actuator.gear_ratio) for actuator in model.actuators] == [
        ("m0", "j0", 3),
        ("m1", "j1", 3),
    ]
    assert [group.members for group in model.filter_groups[::2]] == [("a0",), ("a1",)]
    assert list(model.frames) and [frame.name for frame in model.frames] == ["s0", "s1"]


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("COUNT", "0", "must be positive, found 0"),
        ("COUNT", "x", "must be an integer"),
        ("COUNT", "100000000", "more than 50000 elements with all its replicas"),
        ('<body name="a"><joint name="j"/>', '<joint name="j"/><body name="a">', "a joint must not stand in"),
        ('body2="world"', 'body2="b"', 'there is no body "b"'),
    ],
)
def test_faults_of_replicas_are_errors(old, new, message):
    _, diagnostics = read(ROW.replace(old, new).replace("COUNT", "2"))
    assert any(message in str(error) for error in diagnostics.errors), diagnostics.findings
    assert "replicate> in <" not in str(diagnostics.findings)  # it is not unknown: it says what is wrong with it


# ------------------------------------------------------------------------------------------- meshes

CUBE_OBJ = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {a} {b} {c}\n"
    for a, b, c in [(1, 2, 4), (1, 4, 3), (5, 7, 8), (5, 8, 6), (1, 5, 6), (1, 6, 2),
                    (3, 4, 8), (3, 8, 7), (1, 3, 7), (1, 7, 5), (2, 6, 8), (2, 8, 4)]
)  # fmt: skip

MESH_ROBOT = """<mujoco><compiler meshdir="meshes"/><asset>
<mesh file="cube.obj" scale="1 2 3" refpos=".5 .5 .5"/></asset>
<worldbody><body name="a"><joint/>INERTIAL<geom type="mesh" mesh="cube" pos="1 0 0"/></body></worldbody></mujoco>"""
INERTIAL = '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>'


@pytest.fixture
def mesh_robot(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "cube.obj").write_text(CUBE_OBJ)
    (tmp_path / "robot.xml").write_text(MESH_ROBOT.replace("INERTIAL", ""))
    return tmp_path / "robot.xml"


def test_mesh_gives_its_body_the_inertia_of_what_it_encloses(mesh_robot):
    (model,), diagnostics = load(mesh_robot)
    (link,) = model.links
    assert diagnostics.warnings == []
    assert link.inertial.mass == pytest.approx(6000)
    assert link.inertial.X_LI[:3, 3] == pytest.approx([1, 0, 0], abs=1e-12)
    assert link.inertial.inertia[:3] == pytest.approx((500 * 13, 500 * 10, 500 * 5))
    (geometry,) = link.collisions
    assert isinstance(geometry.shape, Mesh) and geometry.shape.scale == (1, 2, 3)
    assert geometry.X_LG[:3, 3].tolist() == [0.5, -1, -1.5]


def test_missing_mesh_is_a_warning_unless_the_inertia_needs_it(mesh_robot):
    (mesh_robot.parent / "meshes" / "cube.obj").unlink()
    models, diagnostics = load(mesh_robot)
    assert models == ()
    (error,) = diagnostics.errors
    assert "the inertia of the body needs the mass of this geom" in error.message
    assert error.place.line == 3
    mesh_robot.write_text(MESH_ROBOT.replace("INERTIAL", INERTIAL))
    (model,), diagnostics = load(mesh_robot)
    assert diagnostics.errors == [] and "1 collision mesh not found" in diagnostics.warnings[0].message


def test_stated_inertia_opens_no_mesh(mesh_robot):
    mesh_robot.write_text(MESH_ROBOT.replace("INERTIAL", INERTIAL))
    (mesh_robot.parent / "meshes" / "cube.obj").write_text("this is no mesh")
    (model,), diagnostics = load(mesh_robot)
    assert diagnostics.findings == [] and model.links[0].inertial.mass == 2


# ----------------------------------------------------------------------------------------- the reader


def test_root_element_chooses_the_reader(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(ROBOT)
    (model,) = load_models(path, diagnostics=Diagnostics())
    assert model.format == "mjcf"
    diagnostics = Diagnostics()
    assert read_mjcf(b"<robot/>", diagnostics) is None
    assert "starts with <mujoco>" in diagnostics.errors[0].message


# -------------------------------------------------------------------------------------------- pydrake


@pytest.mark.peers("pydrake")
def test_names_limits_and_numbers_are_those_of_pydrake():
    from pydrake.multibody import parsing, plant

    theirs = plant.MultibodyPlant(0.0)
    parsing.Parser(theirs).AddModelsFromString(ROBOT, "xml")
    theirs.Finalize()
    ours = plant_of(ROBOT, "drake")
    assert ours.GetPositionNames() == theirs.GetPositionNames()
    assert ours.GetVelocityNames() == theirs.GetVelocityNames()
    assert ours.GetActuatorNames() == theirs.GetActuatorNames()
    for end in ("Lower", "Upper"):
        limits = [getattr(plant, f"GetPosition{end}Limits")() for plant in (ours, theirs)]
        assert limits[0] == pytest.approx(limits[1], rel=1e-15)
    assert ours.gravity_field().gravity_vector().tolist() == theirs.gravity_field().gravity_vector().tolist()
    for body in ("base", "arm", "arm0", "body4", "post"):
        masses = [plant.GetBodyByName(body).default_mass() for plant in (ours, theirs)]
        assert masses[0] == pytest.approx(masses[1], rel=1e-14)
    for joint in ("shoulder", "reach", "arm-body4", "world_welds_to_post", "base"):
        assert ours.GetJointByName(joint).type_name() == theirs.GetJointByName(joint).type_name()
        mine, other = (plant.GetJointByName(joint).default_damping_vector() for plant in (ours, theirs))
        assert list(mine) == list(other)


def test_damaged_documents_give_findings_and_no_other_exception():
    values = [
        "0",
        "-1",
        "1e308",
        "1e-320",
        "",
        "x",
        "0 0 0",
        "1 2 3",
        "inf",
        "true",
        "free",
        "mesh",
        "plane",
        "main",
        "arm",
    ]
    random = np.random.default_rng(7)
    attributes = list(re.finditer(r'[a-z]+="[^"]*"', ROBOT))
    refused = 0
    for _ in range(200):
        text = ROBOT
        for at in sorted(random.choice(len(attributes), size=2, replace=False))[::-1]:
            match = attributes[at]
            name = attributes[random.integers(len(attributes))][0].partition("=")[0] if random.random() < 0.2 else None
            name = name or match[0].partition("=")[0]
            text = text[: match.start()] + f'{name}="{random.choice(values)}"' + text[match.end() :]
        model, diagnostics = read(text)
        assert (model is None) == bool(diagnostics.errors)
        refused += model is None
    assert 100 < refused < 200


def test_commands_take_mjcf_from_a_file_and_from_stdin(tmp_path):
    path = tmp_path / "r.xml"
    path.write_text(body('<body name="a" pos="0 0 1"><joint name="j"/><geom size="1" mass="5" pos="1 0 0"/></body>'))
    assert cli("inspect", path).out.startswith("r (MJCF)\n")
    M = cli("mass-matrix", "-", "--input-format", "mjcf", "--json", stdin=path.read_text())
    assert M.json()["M"] == [[pytest.approx(5 * 1.4)]]


DEEP = 1500  # beyond libxml2's bound of 256 and Python's of 1000


@pytest.mark.parametrize(
    ("classes", "bodies", "links"),
    [
        ("", "".join(f'<body name="b{i}"><geom size="1"/>' for i in range(DEEP)) + "</body>" * DEEP, DEEP),
        ("", "<frame>" * DEEP + '<body><geom size="1"/></body>' + "</frame>" * DEEP, 1),
        (
            "<default>" + "".join(f'<default class="c{i}">' for i in range(DEEP)) + '<geom size="1"/>'
            "</default>" * DEEP + "</default>",
            f'<body><geom class="c{DEEP - 1}"/></body>',
            1,
        ),
    ],
    ids=["bodies", "frames", "defaults"],
)  # fmt: skip
def test_what_nests_far_beyond_256_is_read(classes, bodies, links):
    model, diagnostics = read(f"<mujoco>{classes}<worldbody>{bodies}</worldbody></mujoco>")
    assert diagnostics.findings == []
    assert len(model.links) == links
    assert model.links[-1].collisions[0].shape == Sphere(1.0)
