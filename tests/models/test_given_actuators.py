"""--actuators: motors and servos for joints whose file has none, or others."""

import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.errors import ArgumentError
from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.models.servo_gains import DRIVE_RATE, FULL_EFFORT
from mbcli.simulation import simulate

ARM = """<robot name="arm"><link name="base"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial></link>{links}</robot>"""
LINK = """<link name="l{k}"><inertial><origin xyz=".2 0 0"/><mass value="1"/><inertia ixx=".01" iyy=".02" izz=".02"
ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j{k}" type="{kind}"><parent link="{parent}"/><child link="l{k}"/>
<origin xyz=".3 0 0"/><axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="{effort}" velocity="9"/>{more}</joint>"""


def arm(*, mimic=False, effort=20.0):
    """Two hinges about the vertical and a slide along it, none of which has a transmission."""
    kinds = ("revolute", "revolute", "prismatic")
    more = ("", '<mimic joint="j0" multiplier="2"/>' if mimic else "", "")
    parts = [
        LINK.format(k=k, kind=kind, parent=f"l{k - 1}" if k else "base", effort=effort, more=more[k])
        for k, kind in enumerate(kinds)
    ]
    return ModelText(ARM.format(links="".join(parts)).encode(), "arm.urdf")


SERVOS = """<mujoco><compiler angle="radian"/><worldbody><body name="b"><joint name="a" axis="0 0 1"/><geom size=".1"/>
<body pos=".3 0 0"><joint name="c" axis="0 0 1"/><geom size=".05"/></body></body></worldbody>
<actuator><motor name="m" joint="a" ctrlrange="-3 3" ctrllimited="true"/>
<position name="p" joint="c" kp="7"/></actuator></mujoco>"""


def actuators(kind, model=None, **settings):
    """{joint: actuator} of a model that was loaded with it, and the plant."""
    plant = load_model(arm() if model is None else model, weld_base=True, actuators=kind, **settings).plant
    return {a.joint().name(): a for a in plant.elements.actuators}, plant


def test_a_motor_moves_a_joint_by_its_effort():
    found, plant = actuators("motor")
    assert list(found) == ["j0", "j1", "j2"] and not any(a.has_controller() for a in found.values())
    assert [a.effort_limit() for a in found.values()] == [20.0] * 3
    log = simulate(plant, 1e-3, inputs={"j2": 2.0 + 9.81}, log_rate=0.0, warn=lambda line: None)
    assert log["j2_v"][-1] == pytest.approx(2.0 * 1e-3, rel=1e-9)  # 1 kg


@pytest.mark.parametrize(("kind", "aim", "unit"), [("position", 0.4, "q"), ("velocity", 0.4, "w")])
def test_an_input_of_a_servo_is_its_aim(kind, aim, unit):
    model = load_model(arm(), weld_base=True, actuators=kind)
    log = simulate(model, 1.0, inputs={"j0": aim, "j1": -aim}, warn=lambda line: None)
    assert [log[f"j0_{unit}"][-1], log[f"j1_{unit}"][-1]] == pytest.approx([aim, -aim], abs=2e-3)


def test_gains_follow_from_masses_and_effort_limits_or_are_given():
    found, plant = actuators("position")
    gains = {name: a.get_controller_gains() for name, a in found.items()}
    M = plant.CalcMassMatrix(plant.CreateDefaultContext())
    assert gains["j1"].p == pytest.approx(min(M[1, 1] * (20.0 * np.pi) ** 2, 20.0 / FULL_EFFORT), rel=1e-12)
    assert gains["j1"].d == pytest.approx(2.0 * np.sqrt(gains["j1"].p * M[1, 1]), rel=1e-12)
    weak, _ = actuators("position", arm(effort=1.0))
    assert weak["j0"].get_controller_gains().p == 1.0 / FULL_EFFORT
    given, _ = actuators("position", kp=5.0, kd=0.5)
    assert {(a.get_controller_gains().p, a.get_controller_gains().d) for a in given.values()} == {(5.0, 0.5)}
    drives, _ = actuators("velocity")
    assert drives["j1"].get_controller_gains().d == pytest.approx(DRIVE_RATE * M[1, 1], rel=1e-12)
    assert drives["j1"].get_controller_gains().p == 0.0


def test_aims_are_cut_at_limits_of_the_joint():
    model = load_model(arm(), weld_base=True, actuators="position")
    said = []
    log = simulate(model, 3.0, inputs={"j0": 9.0}, warn=said.append)  # it comes back from its stop
    assert log["j0_q"][-1] == pytest.approx(2.0, abs=1e-3)
    assert any("j0" in line and "2" in line for line in said)


def test_followers_get_none():
    found, _ = actuators("motor", arm(mimic=True))
    assert list(found) == ["j0", "j2"]


@pytest.mark.parametrize("kind", ["motor", "position", "velocity"])
def test_what_a_file_has_becomes_of_the_kind_too(kind):
    found, _ = actuators(kind, ModelText(SERVOS.encode(), "s.xml"))
    assert [a.name() for a in found.values()] == ["m", "p"]
    assert [a.has_controller() for a in found.values()] == [kind != "motor"] * 2
    assert found["a"].effort_limit() == 3.0


def test_a_passive_hinge_gets_one_and_a_planar_base_does_not():
    """An acrobot's shoulder may be held; the slides of a robot in a plane are no joints of it."""
    assert set(actuators("motor", SAMPLES / "double_pendulum.urdf")[0]) == {"shoulder", "elbow"}
    slides = SERVOS.replace('<body name="b">', '<body name="b"><joint name="x" type="slide" axis="1 0 0"/>')
    assert set(actuators("motor", ModelText(slides.encode(), "s.xml"))[0]) == {"a", "c"}


def test_none_takes_them_away():
    found, plant = actuators("none", ModelText(SERVOS.encode(), "s.xml"))
    assert not found and plant.num_actuators() == 0
    assert actuators("none", SAMPLES / "quadruped.urdf")[1].num_actuators() == 0


def test_an_unknown_kind_is_refused():
    with pytest.raises(ArgumentError, match="actuators"):
        load_model(arm(), actuators="engine")


def test_the_shell_says_what_gives_a_model_actuators(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_bytes(arm().content)
    for words in (("--u", "j0=1"), ("--u", "1 2 3")):
        done = cli("simulate", path, "--weld-base", "-t", "0.01", "--no-log", *words)
        assert done.code == 2 and "--actuators motor gives all joints one" in done.err
    done = succeed(
        "simulate", path, "--weld-base", "-t", "0.01", "-o", tmp_path / "r.h5", "--actuators", "motor", "--u", "j0=1"
    )
    assert cli("log", "verify", tmp_path / "r.h5").code == 0
    done = cli("simulate", path, "--weld-base", "-t", "0.01", "--no-log", "--actuators", "position")
    assert "servos aim at the default positions: j0, j1, j2" in done.err


def test_servos_without_steps_are_refused():
    with pytest.raises(ArgumentError, match="controllers of actuators do not act in continuous time"):
        simulate(load_model(arm(), weld_base=True, actuators="position", dt=0.0), 0.01)


def test_a_joint_without_an_actuator_beside_others_that_have_one_is_told_how_it_gets_one():
    """As a URDF with a <transmission> for some joints: the one that is named is there, its motor is not."""
    refused = cli("simulate", SAMPLES / "double_pendulum.urdf", "--u", "shoulder=2", "--no-log")
    assert refused.code == 2
    assert "'shoulder' is a joint without an actuator: --actuators motor gives all joints one" in refused.err
    run = ("--u", "shoulder=2", "--actuators", "motor", "-t", 0.01, "--no-log")
    assert cli("simulate", SAMPLES / "double_pendulum.urdf", *run).code == 0
