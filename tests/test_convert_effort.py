"""Effort limits of joints without transmissions in written SDFormat files, where they stand for actuators."""

from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.sdf.read_sdf import read_sdf
from mbcli.parsers.urdf.read_urdf import read_urdf
from mbcli.parsers.writing.conversion import converted

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def robot(*efforts):
    """Joints j0, j1, ... with these effort limits, that of j1 with a transmission."""
    text = f'<robot name="r"><link name="w">{INERTIAL}</link>'
    for k, effort in enumerate(efforts):
        text += (
            f'<link name="l{k}">{INERTIAL}</link><joint name="j{k}" type="revolute"><parent link="w"/>'
            f'<child link="l{k}"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="{effort}"/></joint>'
        )
    driven = '<joint name="j1"/><actuator name="m"/>'
    text += f'<transmission name="t"><type>SimpleTransmission</type>{driven}</transmission></robot>'
    return read_urdf(text.encode(), Diagnostics())


def test_effort_limits_survive_and_the_actuators_that_they_stand_for_are_named():
    conversion = converted(robot(7, 9, 0), "sdf", packages=PackageMap(), folder=".")
    (model,) = read_sdf(conversion.text, Diagnostics())
    assert [joint.axes[0].effort for joint in model.joints] == [7, 9, 0]
    assert {actuator.joint: actuator.effort_limit for actuator in model.actuators} == {"j0": 7, "j1": 9}
    (loss,) = (loss for loss in conversion.losses if loss.code == "JOINT_EFFORT")
    assert (loss.kind, "joint 'j0' has an actuator" in loss.message) == ("changed", True)
    assert not conversion.changes_motion


def test_they_are_limits_alone_in_urdf():
    conversion = converted(robot(7, 9, 0), "urdf", packages=PackageMap(), folder=".")
    model = read_urdf(conversion.text, Diagnostics())
    assert [joint.axes[0].effort for joint in model.joints] == [7, 9, 0]
    assert [actuator.joint for actuator in model.actuators] == ["j1"]
