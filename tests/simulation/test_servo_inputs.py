"""What a number means that a run gives to a servo: the control of an MJCF file, a target of any controller."""

import json

import numpy as np
import pytest
from command_line import cli, succeed

from mbcli.models.loading import load_model
from mbcli.simulation.input_series import as_input

ARM = """<mujoco><worldbody><body><joint name="h" type="hinge" axis="0 1 0"/>
<geom type="sphere" size="0.05" mass="1" pos="0.3 0 0"/></body></worldbody><actuator>{}</actuator></mujoco>"""
URDF = """<robot name="s" xmlns:drake="http://drake.mit.edu"><link name="world"/><link name="a"><inertial>
<origin xyz="0.3 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="h" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 1 0"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="h"><hardwareInterface>effort
</hardwareInterface></joint><actuator name="h"><drake:controller_gains p="1000" d="20"/></actuator></transmission>
</robot>"""
TURNED = 0.502579  # where MuJoCo's control of 0.5 moves it: m g l cos(q) = kp (q - 0.5)


def servo(tmp_path, text='<position name="p" joint="h" kp="1000" kv="20"/>'):
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(text))
    return path


def angle(model, *options):
    return json.loads(succeed("simulate", model, "-t", 2, "--no-log", "--json", *options).out)["q"][0]


@pytest.mark.parametrize("given", ["p=0.5", "0.5", "p.target=0.5"])
def test_an_input_of_a_position_servo_is_its_control(tmp_path, given):
    assert angle(servo(tmp_path), "--u", given) == pytest.approx(TURNED, abs=1e-6)


def test_a_file_moves_a_servo(tmp_path):
    series = tmp_path / "u.csv"
    series.write_text("time,p\n0,0.1\n0.5,0.5\n")
    assert angle(servo(tmp_path), "--input", series) == pytest.approx(TURNED, abs=1e-6)


def test_a_target_moves_a_controller_of_a_urdf_file_and_a_plain_input_is_a_torque(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    assert angle(path, "--u", "h.target=0.5") == pytest.approx(TURNED, abs=1e-6)
    assert angle(path, "--u", "h=0.5") == pytest.approx(0.003443, abs=1e-5)
    series = tmp_path / "u.csv"
    series.write_text("time,h.target\n0,0.5\n")
    assert angle(path, "--input", series) == pytest.approx(TURNED, abs=1e-6)


def test_a_control_is_kept_within_its_range_and_goes_through_the_gear(tmp_path):
    model = servo(tmp_path, '<position name="p" joint="h" kp="10" gear="10" ctrlrange="-2 2"/>')
    plant = load_model(model).plant
    np.testing.assert_allclose(as_input(plant, {"p": 1.0}).values, [[100.0]])
    np.testing.assert_allclose(as_input(plant, [5.0]).values, [[200.0]])
    np.testing.assert_allclose(as_input(plant, {"p.target": 0.1}).values, [[100.0]])
    np.testing.assert_allclose(as_input(plant, [5.0], aims=False).values, [[5.0]])


def test_controls_start_at_the_one_that_rests(tmp_path):
    plant = load_model(servo(tmp_path, '<position name="p" joint="h" kp="10" ctrlrange="0.5 2"/>')).plant
    np.testing.assert_allclose(as_input(plant, [1.5]).values, [[10.0]])
    np.testing.assert_allclose(as_input(plant, None).values, [[0.0]])


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ('<motor name="p" joint="h"/>', "p.target=1", "has no controller of positions"),
        ('<velocity name="p" joint="h" kv="2"/>', "p.target=1", "has no controller of positions"),
        ('<position name="p" joint="h" kp="2"/>', "q.target=1", "no actuator named"),
    ],
)
def test_a_target_is_refused_where_there_is_none(tmp_path, text, given, said):
    run = cli("simulate", servo(tmp_path, text), "--no-log", "--u", given)
    assert run.code == 2
    assert said in run.err


@pytest.mark.parametrize("option", [("--dt", 0), ("--contact-approximation", "tamsi")])
def test_a_control_is_refused_where_controllers_do_not_act(tmp_path, option):
    run = cli("simulate", servo(tmp_path), "--no-log", *option, "--u", "p=0.5")
    assert run.code == 2
    assert "the controllers of actuators do not act in" in run.err


AIMS = "controllers of the file aim at the default positions"


@pytest.mark.parametrize(
    ("options", "said"),
    [((), True), (("--u", "p=0.5"), False), (("--u", "0.5"), False), (("--u", "p.target=0.5"), False)],
)
def test_only_controllers_that_no_input_aims_are_said_to_aim_at_the_default_positions(tmp_path, options, said):
    found = succeed("simulate", servo(tmp_path), "-t", 0.01, "--no-log", *options)
    assert (AIMS in found.err) == said


@pytest.mark.parametrize(("given", "said"), [("h=1", True), ("h.target=0.5", False)])
def test_a_force_beside_a_controller_does_not_aim_it(tmp_path, given, said):
    path = tmp_path / "s.urdf"
    path.write_text(URDF)
    assert (AIMS in succeed("simulate", path, "-t", 0.01, "--no-log", "--u", given).err) == said


def test_of_two_controllers_the_one_without_an_input_is_named(tmp_path):
    second = '<body pos="0 1 0"><joint name="k" axis="0 1 0"/><geom type="sphere" size="0.05" mass="1"/></body>'
    text = ARM.replace("</worldbody>", f"{second}</worldbody>")
    path = tmp_path / "two.xml"
    path.write_text(text.format('<position name="p" joint="h" kp="9"/><position name="r" joint="k" kp="9"/>'))
    assert f"{AIMS}: r\n" in succeed("simulate", path, "-t", 0.01, "--no-log", "--u", "p=0.5").err


CUT = "inputs beyond the control range of their actuators are cut there: arm_p (given "


@pytest.mark.parametrize(
    ("actuator", "given", "words"),
    [
        ('<position name="p" joint="h" kp="9" ctrlrange="-1 1"/>', "3", "3, the range ends at 1)"),
        ('<position name="p" joint="h" kp="9" ctrlrange="-1 1"/>', "-3", "-3, the range ends at -1)"),
        ('<general name="p" site="s" gear="0 0 1 0 0 0" ctrlrange="-1 2"/>', "2.5", "2.5, the range ends at 2)"),
        ('<position name="p" joint="h" kp="9" ctrlrange="-1 1"/>', "1", None),
        ('<general name="p" site="s" gear="0 0 1 0 0 0" ctrlrange="-1 2"/>', "-1", None),
    ],
)
def test_an_input_beyond_the_range_of_a_control_is_cut_with_a_word(tmp_path, actuator, given, words):
    path = tmp_path / "arm.xml"
    path.write_text(ARM.replace('pos="0.3 0 0"/>', 'pos="0.3 0 0"/><site name="s" pos="0.3 0 0"/>').format(actuator))
    common = ("simulate", path, "-t", 0.01, "--no-log", "--u", f"p={given}")
    starts = tmp_path / "starts.csv"
    starts.write_text("h,h_w\n0,0\n0.1,0\n")
    for options in ((), ("--states", starts, "--each")):
        found = succeed(*common, *options)
        assert (CUT in found.err) == (words is not None)
        assert words is None or words in found.err
