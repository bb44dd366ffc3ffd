"""Effort limits of joints without transmissions in written SDFormat files, where they would stand for actuators."""

from command_line import cli
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.sdf.read_sdf import read_sdf
from mbcli.parsers.urdf.read_urdf import read_urdf
from mbcli.parsers.writing.conversion import converted

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'

TEXT = (
    f'<robot name="r"><link name="w">{INERTIAL}</link><link name="l">{INERTIAL}</link><joint name="j" type="revolute">'
    '<parent link="w"/><child link="l"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="{}"/></joint></robot>'
)


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


def test_effort_limits_survive_and_make_no_actuators():
    conversion = converted(robot(7, 9, 0), "sdf", packages=PackageMap(), folder=".")
    (model,) = read_sdf(conversion.text, Diagnostics())
    assert [joint.axes[0].effort for joint in model.joints] == [7, 9, 0]
    assert [(actuator.joint, actuator.effort_limit) for actuator in model.actuators] == [("j1", 9)]
    assert "<mbcli:no_actuator>: no other program reads it" in [loss.message for loss in conversion.losses]


def test_the_command_proves_it_and_the_way_back_is_the_same(tmp_path):
    text = TEXT.format(7)
    (tmp_path / "r.urdf").write_text(text)
    for source, target in (("r.urdf", "r.sdf"), ("r.sdf", "back.urdf")):
        assert cli("convert", str(tmp_path / source), "-o", str(tmp_path / target)).code == 0
    back = read_urdf(str(tmp_path / "back.urdf"), Diagnostics())
    assert ([joint.axes[0].effort for joint in back.joints], back.actuators) == ([7], ())


def test_they_are_limits_alone_in_urdf():
    conversion = converted(robot(7, 9, 0), "urdf", packages=PackageMap(), folder=".")
    model = read_urdf(conversion.text, Diagnostics())
    assert [joint.axes[0].effort for joint in model.joints] == [7, 9, 0]
    assert [actuator.joint for actuator in model.actuators] == ["j1"]
