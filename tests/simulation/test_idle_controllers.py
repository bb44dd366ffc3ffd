"""Controllers of a file that do not act in a plant are refused by name, and can be taken out."""

import pytest
from command_line import cli, succeed

SERVO = """<robot name="s" xmlns:drake="http://drake.mit.edu"><link name="world"/><link name="a"><inertial>
<origin xyz="0.3 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="h" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 1 0"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="h">
<hardwareInterface>effort</hardwareInterface></joint><actuator name="h"><drake:controller_gains p="1000" d="20"/>
</actuator></transmission></robot>"""
MJCF_SERVO = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size=".05" mass="1" pos=".3 0 0"/></body>
</worldbody><actuator><position name="h" joint="j" kp="1000" kv="20"/></actuator></mujoco>"""


@pytest.fixture(params=["urdf", "xml"])
def servo(request, tmp_path):
    path = tmp_path / f"servo.{request.param}"
    path.write_text(SERVO if request.param == "urdf" else MJCF_SERVO)
    return path


@pytest.mark.parametrize(
    ("options", "where"),
    [
        (("simulate", "--dt", 0, "--no-log"), "in continuous time: h; give --dt a step"),
        (("simulate", "--integrator", "radau3", "--no-log"), "in continuous time: h"),
        (("simulate", "--contact-approximation", "tamsi", "--no-log"), "in steps of the approximation tamsi: h"),
        (("linearize", "--set", "plant_config.time_step=0"), "in continuous time: h"),
    ],
)
def test_a_run_whose_controllers_would_not_act_is_refused(servo, options, where):
    command, *more = options
    result = cli(command, servo, *more)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert where in result.err and "--set 'actuator.*.kp=0'" in result.err


@pytest.mark.parametrize("options", [("--dt", 0), ("--contact-approximation", "tamsi"), ()])
def test_with_gains_of_zero_the_arm_falls(servo, options):
    words = ("--set", "actuator.*.kp=0", "--set", "actuator.*.kd=0", "--no-log", "--json", *options)
    fallen = succeed("simulate", servo, "-t", 0.2, *words).json()["q"][0]
    assert fallen > 0.3
    held = succeed("simulate", servo, "-t", 0.2, "--no-log", "--json").json()["q"][0]
    assert 0.0 < held < 0.01
