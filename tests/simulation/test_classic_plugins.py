"""Plugins of Gazebo classic and ROS that act: wheels of two sides, and joints that follow others."""

import numpy as np
import pytest

from mbcli.models.loading import ModelText, load_model
from mbcli.simulation import simulate

SPEED, TURN, SEPARATION, RADIUS = 0.5, 0.4, 0.4, 0.1
INERTIA = '<inertia ixx="{0}" iyy="{0}" izz="{0}" ixy="0" ixz="0" iyz="0"/>'
WHEEL = """<link name="{0}"><inertial><mass value="0.5"/>{1}</inertial><collision><geometry><sphere radius="0.1"/>
</geometry></collision></link><joint name="{0}_joint" type="continuous"><parent link="base"/><child link="{0}"/>
<origin xyz="{2} {3} 0"/><axis xyz="0 1 0"/></joint>"""
CASTERS = "".join(
    f'<collision><origin xyz="{x} 0 -0.07"/><geometry><sphere radius="0.03"/></geometry></collision>'
    for x in (0.15, -0.15)
)


def cart(plugin, wheels=((0.0, "left", 0.2), (0.0, "right", -0.2)), casters=CASTERS):
    inertia = INERTIA.format(0.001)
    return ModelText(
        f"""<robot name="cart"><link name="base"><inertial><mass value="5"/>{INERTIA.format(0.1)}</inertial>
        {casters}</link>
        {"".join(WHEEL.format(name, inertia, x, y) for x, name, y in wheels)}
        <gazebo reference="base"><mu1>0</mu1><mu2>0</mu2></gazebo><gazebo>{plugin}</gazebo></robot>""".encode(),
        "cart.urdf",
    )


def velocity_after(model, **asked):
    """Forward velocity [m/s] and turning rate [rad/s] of the base after 2 s."""
    log = simulate(model, 2.0, ground=0.0, inputs={f"cart.{name}": value for name, value in asked.items()}, log_rate=10)
    q, v = log.q[-1], log.v[-1]
    yaw = 2.0 * np.arctan2(q[3], q[0])
    return np.cos(yaw) * v[3] + np.sin(yaw) * v[4], v[2]


ROS_1 = """<plugin name="drive" filename="libgazebo_ros_diff_drive.so"><alwaysOn>true</alwaysOn>
<updateRate>20</updateRate><leftJoint>left_joint</leftJoint><rightJoint>right_joint</rightJoint><wheelSeparation>0.4</wheelSeparation>
<wheelDiameter>0.2</wheelDiameter><commandTopic>cmd_vel</commandTopic><robotBaseFrame>base</robotBaseFrame></plugin>"""
ROS_2 = """<plugin name="drive" filename="libgazebo_ros_diff_drive.so"><ros><namespace>/x</namespace></ros>
<left_joint>left_joint</left_joint><right_joint>right_joint</right_joint><wheel_separation>0.4</wheel_separation>
<wheel_diameter>0.2</wheel_diameter><odometry_topic>odom</odometry_topic></plugin>"""


@pytest.mark.parametrize("plugin", [ROS_1, ROS_2], ids=["ros_1", "ros_2"])
def test_differential_drive_of_ros_moves_and_turns_as_it_is_told(plugin):
    findings = []
    load_model(cart(plugin), on_findings=findings.extend)
    assert [str(finding) for finding in findings if finding.severity != "note"] == []
    forward, turning = velocity_after(cart(plugin), linear_x=SPEED, angular_z=TURN)
    assert forward == pytest.approx(SPEED, rel=0.01)
    assert turning == pytest.approx(TURN, rel=0.03)


def test_skid_steering_drives_four_wheels():
    names = [f"{side}{end}" for end in ("Front", "Rear") for side in ("left", "right")]
    tags = "".join(f"<{name}Joint>{name}_joint</{name}Joint>" for name in names)
    plugin = f"""<plugin name="skid" filename="libgazebo_ros_skid_steer_drive.so">{tags}
        <wheelSeparation>0.4</wheelSeparation><wheelDiameter>0.2</wheelDiameter></plugin>"""
    wheels = [(x, f"{side}{end}", y) for x, end in ((0.2, "Front"), (-0.2, "Rear")) for side, y in SIDES]
    forward, turning = velocity_after(cart(plugin, wheels, casters=""), linear_x=SPEED)
    assert forward == pytest.approx(SPEED, rel=0.01) and abs(turning) < 1e-3


SIDES = (("left", 0.2), ("right", -0.2))


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (ROS_1.replace("<leftJoint>left_joint</leftJoint>", ""), "no wheel on the left"),
        (ROS_1.replace(">left_joint<", ">left_wheel<"), 'no joint "left_wheel"'),
        (ROS_1.replace("<wheelDiameter>0.2", "<wheelDiameter>0"), "diameter of wheels must be positive"),
        (ROS_1.replace("</plugin>", "<wheelTorque>5</wheelTorque></plugin>"), "wheelTorque"),
    ],
)
def test_what_a_drive_does_not_take_is_a_warning(plugin, message):
    findings = []
    load_model(cart(plugin), on_findings=findings.extend)
    assert any(message in str(finding) and finding.severity == "warning" for finding in findings), findings


MIMIC = """<plugin name="p" filename="libroboticsgroup_upatras_gazebo_mimic_joint_plugin.so"><joint>left_joint</joint>
<mimicJoint>right_joint</mimicJoint>{}</plugin>"""


@pytest.mark.parametrize(
    ("more", "multiplier", "offset"),
    [
        ("", 1.0, 0.0),
        ("<multiplier>-1</multiplier>", -1.0, 0.0),
        ("<multiplier>0.5</multiplier><offset>0.2</offset><hasPID/><maxEffort>5</maxEffort>", 0.5, 0.2),
    ],
)
def test_a_joint_follows_another_by_a_plugin(more, multiplier, offset):
    """As by <mimic>: no findings that move something, and one coordinate follows the other in a run."""
    findings = []
    model = cart(MIMIC.format(more))
    load_model(model, on_findings=findings.extend)
    assert [str(finding) for finding in findings if finding.severity != "note"] == []
    log = simulate(
        model, 0.2, weld_base=True, inputs=None, start={"left_joint_w": 2.0, "right_joint_w": 2.0 * multiplier}
    )
    assert abs(log.q[-1, 0]) > 0.1
    assert log.q[-1, 1] == pytest.approx(multiplier * log.q[-1, 0] + offset, abs=1e-6)


@pytest.mark.parametrize(
    "plugin",
    [
        MIMIC.format("").replace(">left_joint<", ">nothing<"),
        MIMIC.format("").replace(">right_joint<", ">left_joint<"),
        MIMIC.format("") + MIMIC.format("").replace("left", "x").replace("right", "left").replace("x_", "right_"),
    ],
)
def test_a_plugin_that_cannot_couple_joints_warns(plugin):
    findings = []
    load_model(cart(plugin), on_findings=findings.extend)
    assert any("mimic_joint_plugin.so" in str(f) and f.severity == "warning" for f in findings), findings


@pytest.mark.parametrize(("stated", "warns"), [("1", False), ("2", True)])
def test_a_plugin_that_says_what_the_joint_says_is_no_warning(stated, warns):
    mimic = f'<mimic joint="left_joint" multiplier="{stated}"/></joint>\n        <gazebo ref'.encode()
    text = cart(MIMIC.format("")).content.replace(b"</joint>\n        <gazebo ref", mimic)
    findings = []
    load_model(ModelText(text, "cart.urdf"), on_findings=findings.extend)
    assert any(finding.severity == "warning" for finding in findings) == warns
