"""UNITS_IMPLAUSIBLE of `mbcli check`: models in grams or millimetres, and hints at limits and numbers."""

from math import inf

import pytest

from mbcli.checks.file_check import check_file

ROBOT = """<robot name="r"><link name="w"/><joint name="j" type="{kind}"><origin rpy="{rpy}"/><parent link="w"/>
<child link="a"/><axis xyz="0 1 0"/><limit {limit}/></joint><link name="a"><inertial><mass value="{mass}"/>
<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="{size}"/></geometry></collision></link></robot>"""


def found(mass=250.0, size=50.0, kind="revolute", limit='lower="-1" upper="1"', rpy="0 0 0", base="w"):
    text = ROBOT.format(mass=mass, size=f"{size} {size} {size}", i=mass * size**2 / 6, kind=kind, limit=limit, rpy=rpy)
    text = text.replace('"w"', f'"{base}"')
    return {f.code: f for f in check_file(text.encode(), name="r", input_format="urdf").findings}


@pytest.mark.parametrize(
    ("mass", "size", "units"),
    [
        (250, 50, "grams and millimetres"),  # a box of 5 cm and 250 g
        (0.5 * 1e3, 100, "grams and millimetres"),
        (30, 400, "kilograms and millimetres"),
        (30, 40, "kilograms and centimetres"),
    ],
)
def test_a_model_lighter_than_air_is_one_finding_with_the_likely_units(mass, size, units):
    finding = found(mass, size)["UNITS_IMPLAUSIBLE"]
    assert finding.severity == "warning"
    assert units in finding.hint


@pytest.mark.parametrize(
    ("mass", "size"),
    [(0.25, 0.05), (1000, 1), (10, 2.5), (1, 100), (1e5, 50)],
    ids=["small", "water", "light", "placeholder", "ship"],
)
def test_what_is_possible_is_not_a_finding(mass, size):
    assert "UNITS_IMPLAUSIBLE" not in found(mass, size)


def test_things_beside_each_other_do_not_count():
    text = ROBOT.format(mass=250, size="50 50 50", i=1e5, kind="revolute", limit='lower="-1" upper="1"', rpy="0 0 0")
    several = text.replace("</robot>", '<link name="another"/></robot>')
    for document, count in ((text, 1), (several, 0)):
        found = check_file(document.encode(), name="r", input_format="urdf").findings
        assert [f.code for f in found].count("UNITS_IMPLAUSIBLE") == count


def test_what_is_fixed_to_the_world_does_not_count():
    assert "UNITS_IMPLAUSIBLE" in found(kind="revolute", base="world")
    assert "UNITS_IMPLAUSIBLE" not in found(kind="fixed", base="world")


def test_the_hint_at_one_number_of_three_says_what_to_write():
    assert found(rpy="0.0")["ATTRIBUTE_INVALID"].hint == 'write "0 0 0"'
    assert found(rpy="0.5")["ATTRIBUTE_INVALID"].hint is None
    assert found(rpy="1e101 0 0")["ATTRIBUTE_INVALID"].hint == "the largest number that is read is 1e+100"
    assert "decimal sign" in found(rpy="0,5 0 0")["ATTRIBUTE_INVALID"].hint


def test_limits_of_continuous_joints_are_told_with_what_to_do():
    zero = found(kind="continuous", limit='lower="0" upper="0" effort="0" velocity="0"')
    assert "JOINT_RANGE_ZERO" not in zero
    assert zero["JOINT_LIMIT_INVALID"].severity == "note"
    stated = found(kind="continuous", limit='lower="-1" upper="1"')["JOINT_LIMIT_INVALID"]
    assert (stated.severity, "[-1, 1] do not act" in stated.message) == ("warning", True)
    assert 'state type="revolute"' in stated.hint
    assert "JOINT_LIMIT_INVALID" not in found(kind="continuous", limit='effort="1" velocity="2"')
    assert found(limit='lower="0" upper="0"')["JOINT_RANGE_ZERO"].hint == "a fixed joint states that directly"


@pytest.mark.parametrize("target", ["urdf", "sdf"])
def test_a_continuous_joint_stays_one_in_convert(target, tmp_path):
    from command_line import cli
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.load import load_models

    limit = 'lower="-1" upper="1" effort="7" velocity="3"'
    text = ROBOT.format(mass=1, size="1 1 1", i=0.2, kind="continuous", limit=limit, rpy="0 0 0")
    (tmp_path / "r.urdf").write_text(text)
    output = tmp_path / f"out.{target}"
    assert cli("convert", str(tmp_path / "r.urdf"), "-o", str(output)).code == 0
    (model,) = load_models(str(output), diagnostics=Diagnostics())
    axis = model.joints[0].axes[0]
    assert (model.joints[0].type, axis.lower, axis.upper) == ("continuous", -inf, inf)
    assert (axis.effort, axis.velocity) == (7, 3)
