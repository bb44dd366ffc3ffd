"""MOTION_UNDETERMINED of `mbcli check`: what a run refuses because masses leave a motion open, and what helps."""

import pytest
from command_line import cli

from mbcli.checks.file_check import check_file

MASS = '<inertial><mass value="20"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
FOOTPRINT = """<robot name="r"><link name="base_footprint"/><joint name="drive" type="{kind}">
<parent link="base_footprint"/><child link="base_link"/><axis xyz="0 0 1"/></joint>
<link name="base_link">{inertial}</link>{more}</robot>"""
NEEDLE = '<inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>'
ARM = (
    '<joint name="k" type="continuous"><parent link="base_link"/><child link="l"/><axis xyz="0 1 0"/></joint>'
    '<link name="l">{}</link>'
)


def found(kind="planar", inertial=MASS, more=""):
    """(the text, its findings beside notes)"""
    text = FOOTPRINT.format(kind=kind, inertial=inertial, more=more)
    found = check_file(text.encode(), name="r.urdf", input_format="urdf").findings
    return text, [finding for finding in found if finding.severity != "note"]


def test_a_free_link_without_mass_before_a_planar_joint_is_named_with_what_helps():
    _, (finding,) = found()
    assert (finding.severity, finding.code, str(finding.place)) == ("warning", "MOTION_UNDETERMINED", "r.urdf:1:17")
    assert "link 'base_footprint' has no mass, so that 3 of 9 velocities have no inertia" in finding.message
    assert "--weld-base" in finding.hint


def test_welding_is_not_named_where_it_does_not_help():
    more = ARM.format(NEEDLE)  # a point mass turns about itself, whatever the base
    text, findings = found("fixed", more=more)
    assert [f.code for f in findings] == ["MOTION_UNDETERMINED"], findings
    assert "--weld-base" not in findings[0].hint


@pytest.mark.parametrize(
    "case",
    [("fixed", MASS, ""), ("planar", MASS, ""), ("revolute_free", MASS, ""), ("fixed", MASS, ARM.format(NEEDLE))],
    ids=lambda case: case[0],
)
def test_it_is_found_where_runs_are_refused_and_only_there(tmp_path, case):
    kind, inertial, more = case
    text, findings = found(kind.replace("revolute_free", "continuous"), inertial, more)
    (tmp_path / "r.urdf").write_text(text)
    refused = "MOTION_UNDETERMINED" in [f.code for f in findings]
    run = cli("simulate", str(tmp_path / "r.urdf"), "-t", "0.002", "--no-log")
    assert run.code == (5 if refused else 0)
    if refused and "--weld-base" in next(f for f in findings if f.code == "MOTION_UNDETERMINED").hint:
        assert cli("simulate", str(tmp_path / "r.urdf"), "-t", "0.002", "--no-log", "--weld-base").code == 0


def test_what_other_findings_say_is_not_said_twice():
    _, findings = found("continuous", inertial="")
    assert "MOTION_UNDETERMINED" not in [f.code for f in findings]
    _, findings = found("continuous", inertial=MASS, more=ARM.format(""))
    assert [f.code for f in findings] == ["MOVING_MASS_MISSING"]
