"""One damaged token in a sound URDF file: `mbcli check` finds it, names it and says where it is.

The faults are those that were tried on Drake, Pinocchio, MuJoCo, PyBullet and check_urdf, none of which found all.
"""

import pytest
from command_line import MODELS, cli

from mbcli.checks.file_check import check_file

ROBOT = """\
<?xml version="1.0"?>
<robot name="arm">
  <link name="base">
    <inertial>
      <mass value="4"/>
      <inertia ixx="0.05" iyy="0.06" izz="0.04" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision>
      <geometry><box size="0.3 0.2 0.4"/></geometry>
    </collision>
  </link>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.25" rpy="0 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.0417" iyy="0.0419" izz="0.0016" ixy="0.0002" ixz="0" iyz="0.001"/>
    </inertial>
    <collision>
      <origin xyz="0 0 0.25"/>
      <geometry><cylinder radius="0.04" length="0.5"/></geometry>
    </collision>
  </link>
  <link name="lower">
    <inertial>
      <origin xyz="0 0 0.2" rpy="0 0 0"/>
      <mass value="1"/>
      <inertia ixx="0.0136" iyy="0.0136" izz="0.0005" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision>
      <origin xyz="0 0 0.2"/>
      <geometry><cylinder radius="0.03" length="0.4"/></geometry>
    </collision>
  </link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <origin xyz="0 0 0.2"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="2" velocity="3" effort="40"/>
    <dynamics damping="0.5" friction="0.1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/>
    <child link="lower"/>
    <origin xyz="0 0 0.5"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2.5" upper="2.5" velocity="3" effort="20"/>
  </joint>
  <joint name="flange" type="fixed">
    <parent link="lower"/>
    <child link="tool"/>
  </joint>
  <transmission name="elbow_drive">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="elbow"/>
    <actuator name="elbow_motor"/>
  </transmission>
</robot>
"""

LOWER_INERTIAL = ROBOT[
    ROBOT.index('    <inertial>\n      <origin xyz="0 0 0.2" rpy') : ROBOT.index(
        '    <collision>\n      <origin xyz="0 0 0.2"/>'
    )
]
ELBOW_LIMIT = '    <limit lower="-2.5" upper="2.5" velocity="3" effort="20"/>\n'
STRAY = '<link name="stray"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
MESH = '<mesh filename="package://nowhere/x.stl"/>'


def after_flange(text):
    return '</joint>\n  <transmission name="elbow_drive">', f'</joint>\n  {text}\n  <transmission name="elbow_drive">'


# name of the fault: (old, new, code, severity, what stands where the finding is)
FAULTS = {
    "inertia breaks triangle": ('izz="0.0005"', 'izz="0.05"', "LINK_INERTIA_INVALID", "error", '<inertial>@3'),
    "inertia not positive": ('iyz="0.001"', 'iyz="0.1"', "LINK_INERTIA_INVALID", "error", "<inertial>@2"),
    "negative mass": ('<mass value="1"', '<mass value="-1"', "LINK_MASS_INVALID", "error", '<mass value="-1"'),
    "mass nan": ('<mass value="1"', '<mass value="nan"', "ATTRIBUTE_INVALID", "error", 'value="nan"'),
    "moving leaf without inertial": (LOWER_INERTIAL, "", "MOVING_MASS_MISSING", "warning", '<joint name="elbow" t'),
    "nested damping": (
        '<dynamics damping="0.5" friction="0.1"/>', '<dynamics friction="0.1"><damping>0.5</damping></dynamics>',
        "ELEMENT_UNKNOWN", "warning", "<damping>",
    ),
    "element typo": ("<dynamics ", "<dynamic ", "ELEMENT_UNKNOWN", "warning", "<dynamic "),
    "attribute typo": ("damping=", "dampng=", "ATTRIBUTE_UNKNOWN", "warning", "dampng="),
    "lower above upper": ('lower="-1.5"', 'lower="2.5"', "JOINT_LIMIT_INVALID", "error", '<limit lower="2.5"'),
    "limits in degrees": (
        'lower="-2.5" upper="2.5"', 'lower="-170" upper="170"', "JOINT_LIMIT_UNIT", "warning", '<limit lower="-170"',
    ),
    "revolute without limit": (ELBOW_LIMIT, "", "JOINT_LIMIT_MISSING", "warning", '<joint name="elbow" t'),
    "non-unit axis": (
        '<axis xyz="0 1 0"/>\n    <limit lower="-1.5"', '<axis xyz="0 2 0"/>\n    <limit lower="-1.5"',
        "AXIS_NOT_UNIT", "warning", 'xyz="0 2 0"',
    ),
    "mimic": (ELBOW_LIMIT, ELBOW_LIMIT + '<mimic joint="shoulder"/>', "JOINT_COUPLED", "note", "<mimic "),
    "mimic target missing": (
        ELBOW_LIMIT, ELBOW_LIMIT + '<mimic joint="sholder"/>', "JOINT_AXIS_MIMIC_INVALID", "error", "<mimic ",
    ),
    "two roots": (*after_flange(STRAY), "MODEL_SEVERAL_TREES", "warning", "<link name=\"stray\""),
    "cycle, no root": (
        *after_flange('<joint name="back" type="fixed"><parent link="tool"/><child link="base"/></joint>'),
        "JOINT_CYCLE", "error", '<joint name="shoulder"',
    ),
    "duplicate joint name": (
        '<joint name="flange"', '<joint name="elbow"', "DUPLICATE_NAME", "error", 'name="elbow" type="f',
    ),
    "unknown package, visual": (
        '  <link name="tool"/>', f'  <link name="tool"><visual><geometry>{MESH}</geometry></visual></link>',
        "URI_LOOKUP", "warning", "<mesh ",
    ),
    "unknown package, collision": (
        '  <link name="tool"/>', f'  <link name="tool"><collision><geometry>{MESH}</geometry></collision></link>',
        "URI_LOOKUP", "warning", "<mesh ",
    ),
    "undeclared prefix": (
        '<actuator name="elbow_motor"/>',
        '<actuator name="elbow_motor"><drake:gear_ratio value="9"/></actuator>', "XML_ERROR", "note", "drake:gear",
    ),
    "unexpanded xacro": ('<mass value="1"', '<mass value="${m}"', "ATTRIBUTE_INVALID", "error", 'value="${m}"'),
    "four numbers": (
        '<origin xyz="0 0 0.5"/>', '<origin xyz="0 0 0.5 0"/>', "ATTRIBUTE_INVALID", "error", 'xyz="0 0 0.5 0"',
    ),
    "number with a unit": (
        '<origin xyz="0 0 0.5"/>', '<origin xyz="0 0 0.5m"/>', "ATTRIBUTE_INVALID", "error", 'xyz="0 0 0.5m"',
    ),
    "decimal comma": ('<mass value="1"', '<mass value="1,5"', "ATTRIBUTE_INVALID", "error", 'value="1,5"'),
    "URDF 1.2, jerk": (
        'velocity="3" effort="20"', 'velocity="3" effort="20" jerk="9"', "VERSION_FEATURE", "note", "jerk=",
    ),
    "radius of gyration 31 m": (
        'ixx="0.05" iyy="0.06" izz="0.04"', 'ixx="3844" iyy="3844" izz="3844"',
        "INERTIA_IMPLAUSIBLE", "warning", "<inertial>@1",
    ),
    "loop: child with two parents": (
        *after_flange('<joint name="second" type="fixed"><parent link="base"/><child link="tool"/></joint>'),
        "LOOP_CUT", "note", '<joint name="second"',
    ),
    "planar and floating joints": (
        '<joint name="flange" type="fixed">', '<joint name="flange" type="floating">', "MOVING_MASS_MISSING", "warning",
        '<joint name="flange"',
    ),
    "external entity": (
        '<robot name="arm">', '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="arm">',
        "XML_ERROR", "error", "<!DOCTYPE",
    ),
    "safety controller": (
        ELBOW_LIMIT, ELBOW_LIMIT + '<safety_controller k_velocity="1"/>', "ELEMENT_FOREIGN", "note", "<safety_",
    ),
    "transmission of another kind": (
        "SimpleTransmission", "FourBarLinkage", "ELEMENT_UNSUPPORTED", "warning", "<transmission ",
    ),
}  # fmt: skip


def place_of(text, marker):
    """Line and column of a piece of text; `marker@2` is its second occurrence."""
    marker, _, count = marker.partition("@")
    at = -1
    for _ in range(int(count or 1)):
        at = text.index(marker, at + 1)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def check(text):
    return check_file(text.encode(), name="arm.urdf").findings


def test_there_are_31_faults():
    assert len(FAULTS) == 31


def test_the_sound_file_has_no_finding_at_all():
    assert [str(finding) for finding in check(ROBOT)] == []


@pytest.mark.parametrize("fault", FAULTS)
def test_one_damaged_token_is_found_named_and_located(fault):
    old, new, code, severity, marker = FAULTS[fault]
    assert ROBOT.count(old) == 1
    text = ROBOT.replace(old, new)
    findings = check(text)
    assert [(f.code, f.severity) for f in findings] == [(code, severity)], [str(f) for f in findings]
    assert (findings[0].place.line, findings[0].place.column) == place_of(text, marker)
    result = cli("check", "-", "--input-format", "urdf", "--json", stdin=text)
    assert result.code == int(severity == "error")
    assert [f["code"] for f in result.json()["findings"]] == [code]


MECHANISM = """\
<robot name="r" version="{version}">
  <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="{type}"><parent link="a"/><child link="b"/><origin {origin}/></joint>
</robot>
"""


@pytest.mark.parametrize(
    ("version", "type_", "origin"),
    [("1.0", "planar", 'xyz="1 0 0"'), ("1.0", "floating", 'xyz="1 0 0"'), ("1.1", "fixed", 'quat_xyzw="0 0 1 1"')],
)
def test_what_other_tools_refuse_or_drop_is_no_fault(version, type_, origin):
    text = MECHANISM.format(version=version, type=type_, origin=origin)
    assert check(text) == []


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_sample_models_have_no_warning(path):
    assert [str(f) for f in check_file(str(path)).findings if f.severity != "note"] == []


@pytest.mark.parametrize("input_format", ["urdf", None])
def test_bytes_without_a_name_are_called_a_string(input_format):
    """Their findings had the bytes themselves for a file name, and could not be printed."""
    checked = check_file(b"<robot name='r'><link name='a'><inertial/></link></robot>", input_format=input_format)
    assert checked.name == "<string>" and [source["path"] for source in checked.sources] == ["<string>"]
    assert all(str(finding).startswith("<string>:1:") for finding in checked.findings) and checked.findings
