"""Actuators of joints that <ros2_control> commands: in commands and load_model(), not in scripts of Parser."""

import math

import pytest
from command_line import cli, succeed

from mbcli.models import load_model
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

INERTIAL = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
JOINTS = {"a": 'effort="20" velocity="2"', "b": 'effort="0" velocity="3"', "c": 'effort="5" velocity="1"'}
TRANSMISSION = (
    '<transmission name="t"><type>SimpleTransmission</type><joint name="c"/><actuator name="m"/></transmission>'
)


def robot(control, more=""):
    links = "".join(
        f'<link name="{name}">{INERTIAL}</link><joint name="{name}" type="revolute"><parent link="base"/>'
        f'<child link="{name}"/><axis xyz="0 1 0"/><limit lower="-1" upper="1.5" {limit}/></joint>'
        for name, limit in JOINTS.items()
    )
    return f'<robot name="r"><link name="base">{INERTIAL}</link>{links}{control}{more}</robot>'


def control(**interfaces):
    joints = "".join(
        f'<joint name="{name}">{"".join(f"""<command_interface name="{kind}"/>""" for kind in kinds.split())}'
        '<state_interface name="position"/></joint>'
        for name, kinds in interfaces.items()
    )
    return f'<ros2_control name="s" type="system"><hardware/>{joints}</ros2_control>'


def loaded(text, tmp_path, **settings):
    path = tmp_path / "r.urdf"
    path.write_text(text)
    return load_model(path, weld_base=True, **settings)


def test_interfaces_of_efforts_positions_and_velocities_are_motors_and_servos(tmp_path):
    model = loaded(robot(control(a="effort", b="velocity", c="position")), tmp_path, dt=1e-3, kp=30.0, kd=2.0)
    found = {actuator.joint().name(): actuator for actuator in model.plant.elements.actuators}
    assert list(found) == list(JOINTS) and [a.effort_limit() for a in found.values()] == [20.0, math.inf, 5.0]
    gains = {name: found[name].get_controller_gains() for name in "bc"}
    assert {name: (g.p, g.d) for name, g in gains.items()} == {"b": (0.0, 2.0), "c": (30.0, 2.0)}
    assert not found["a"].has_controller() and found["a"].control is None
    assert found["b"].control.limits == (-3.0, 3.0) and found["c"].control.limits == (-1.0, 1.5)
    (note,) = [f for f in model.diagnostics.findings if f.code == "COMMAND_INTERFACE"]
    assert note.message.startswith("<ros2_control> gives 1 motor, 1 velocity servo, 1 position servo")


def test_of_several_interfaces_an_effort_counts_and_of_two_systems_both(tmp_path):
    both = control(a="position velocity effort") + control(a="gripper", b="position") + control(gone="effort", c="")
    plant = loaded(robot(both), tmp_path).plant
    assert plant.GetActuatorNames() == ["r_a", "r_b"]
    assert [a.control is None for a in plant.elements.actuators] == [True, False]


def test_files_with_a_transmission_and_scripts_of_the_parser_stay_as_they_are(tmp_path):
    text = robot(control(a="effort"), TRANSMISSION)
    assert [a.name() for a in loaded(text, tmp_path).plant.elements.actuators] == ["m"]
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(file_contents=robot(control(a="effort")), file_type="urdf")
    assert plant.num_actuators() == 0


@pytest.mark.parametrize(("kind", "count"), [("none", 0), ("motor", 3)])
def test_what_is_asked_for_comes_before(tmp_path, kind, count):
    plant = loaded(robot(control(a="position")), tmp_path, actuators=kind).plant
    assert plant.num_actuators() == count and all(a.control is None for a in plant.elements.actuators)


def test_commands_take_efforts_and_aims(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(robot(control(a="effort", c="position")))
    rates = succeed("forward-dynamics", path, "--weld-base", "--gravity", 0, 0, 0, "--u", "a=0.5", "--json").json()
    assert rates["vdot"][0] == pytest.approx(5.0)
    run = succeed(
        "simulate", path, "--weld-base", "--u", "c=0.4", "-t", "3", "--gravity", 0, 0, 0, "--no-log", "--json"
    )
    assert run.json()["q"] == pytest.approx([0.0, 0.0, 0.4], abs=1e-3)
    assert cli("simulate", path, "--weld-base", "--u", "b=1", "-t", "0.1", "--no-log").code == 2


def test_a_file_that_is_converted_states_them_as_its_format_does(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(robot(control(a="effort")))
    for name in ("out.urdf", "out.sdf", "out.xml"):
        succeed("convert", path, "-o", tmp_path / name)
        (actuator,) = load_model(tmp_path / name).plant.elements.actuators
        assert (actuator.joint().child_body().name(), actuator.effort_limit()) == ("a", 20.0), name


def test_nothing_says_that_interfaces_which_give_actuators_are_not_used(tmp_path):
    """<ros2_control> was for another program and not used, one line above the one on its actuators."""
    uses = "commands and load_model() use its command interfaces alone"
    for text, is_used in (
        (control(a="effort"), True),
        (control(a=""), False),
        (control(a="effort") + TRANSMISSION, False),
    ):
        findings = loaded(robot(text), tmp_path).diagnostics.findings
        (message,) = [f.message for f in findings if f.code == "ELEMENT_FOREIGN"]
        assert message.startswith("<ros2_control> in <robot> is for another program and not used")
        assert message.endswith(uses) == is_used
        assert any(f.code == "COMMAND_INTERFACE" for f in findings) == is_used
