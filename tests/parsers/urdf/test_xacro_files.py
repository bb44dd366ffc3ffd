"""xacro files: refused unless expansion is asked for, then expanded with arguments and packages."""

import sys

import pytest
from command_line import cli, succeed
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.package_map import PackageMap

XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="2"/>
  <xacro:include filename="$(find parts)/link.xacro"/>
  <xacro:part name="a"/>
  <xacro:part name="b"/>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
</robot>
"""
PART = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="part" params="name"><link name="${name}"><inertial>
    <mass value="${2 * float('$(arg mass)')}"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link></xacro:macro>
</robot>
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "link.xacro").write_text(PART)
    (tmp_path / "arm.urdf.xacro").write_text(XACRO)
    return tmp_path / "arm.urdf.xacro"


def masses(path, **arguments):
    packages = PackageMap(environment={})
    packages.add("parts", path.parent / "parts")
    packages.xacro_arguments = arguments
    diagnostics = Diagnostics()
    (model,) = load_models(path, packages=packages, diagnostics=diagnostics)
    assert [str(finding) for finding in diagnostics.findings] == []
    return [link.inertial.mass for link in model.links]


def test_nothing_of_a_xacro_file_runs_unless_asked_for(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)  # an import would fail
    result = cli("inspect", path)
    assert result.code == 3
    assert f"{path}:1:1: error: the file contains xacro: run xacro on it first; --xacro does it" in result.err
    path.rename(path.with_suffix(".urdf"))
    assert "--xacro does it; xacro runs code of the file" in cli("inspect", path.with_suffix(".urdf")).err


def test_without_the_package_the_extra_is_named(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    result = cli("inspect", path, "--xacro")
    assert result.code == 4
    assert "pip install 'mbcli[xacro]'" in result.err


def test_a_text_cannot_be_expanded():
    result = cli("inspect", "-", "--xacro", stdin=XACRO)
    assert result.code == 3
    assert "it must be a file, not a text" in result.err


def test_options_of_xacro_are_checked(path):
    assert "--xacro-arg needs --xacro" in cli("inspect", path, "--xacro-arg", "mass:=3").err
    assert "--xacro-arg takes NAME:=VALUE, not 'mass=3'" in cli("inspect", path, "--xacro", "--xacro-arg", "mass=3").err


def test_a_plain_file_is_read_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    (tmp_path / "r.urdf").write_text('<robot name="r"><link name="a"/></robot>')
    assert succeed("inspect", tmp_path / "r.urdf", "--xacro", "--json").json()["counts"]["bodies"] == 1


def test_arguments_and_packages_reach_the_file(path):
    pytest.importorskip("xacro")
    assert masses(path) == [4, 4]
    assert masses(path, mass="3") == [6, 6]
    options = ("--xacro", "--xacro-arg", "mass:=3", "--package", f"parts={path.parent / 'parts'}")
    assert succeed("inspect", path, *options, "--json").json()["total_mass"] == 12
    assert "ament_index_python" not in sys.modules


def parts(path):
    return "--package", f"parts={path.parent / 'parts'}"


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ('<xacro:part name="b"', '<xacro:port name="b"', "arm.urdf.xacro:5:3", "unknown macro name: xacro:port"),
        ('<xacro:part name="b"/>', "<xacro:part/>", "arm.urdf.xacro:5:3", "Undefined parameters [name]"),
        ('type="continuous"', 'type="${kind}"', "arm.urdf.xacro:6:3", "name 'kind' is not defined"),
        ("parts)/link", "parts)/lnk", "arm.urdf.xacro:3:3", "No such file or directory"),
    ],
)
def test_what_xacro_refuses_is_one_line_with_the_line_of_the_file(path, old, new, place, message):
    pytest.importorskip("xacro")
    path.write_text(XACRO.replace(old, new))
    result = cli("-q", "inspect", path, "--xacro", *parts(path))
    assert result.code == 3
    (line,) = result.err.splitlines()
    assert line.startswith(f"{path.parent}/{place}: error: ") and message in line
    checked = cli("check", path, "--xacro", *parts(path), "--json").json()["findings"]
    assert [f"{found['file']}:{found['line']}:{found['column']}" for found in checked] == [f"{path.parent}/{place}"]


def test_a_fault_in_a_macro_names_its_file_and_who_calls_it(path):
    pytest.importorskip("xacro")
    (path.parent / "parts" / "link.xacro").write_text(PART.replace('ixx="1"', 'ixx="${lenght}"'))
    (line,) = cli("-q", "inspect", path, "--xacro", *parts(path)).err.splitlines()
    there = path.parent / "parts" / "link.xacro"
    assert line.startswith(f"{there}:3:") and "name 'lenght' is not defined" in line
    assert f"(called at {path}:4:3)" in line and "[XACRO_FAULT]" in line


def test_a_file_that_is_included_and_no_xml_is_named_with_its_line(path):
    pytest.importorskip("xacro")
    there = path.parent / "parts" / "link.xacro"
    there.write_text(PART.replace("<mass ", "<mass <"))
    (line,) = cli("-q", "inspect", path, "--xacro", *parts(path)).err.splitlines()
    assert line == f"{there}:3:11: error: xacro: not well-formed (invalid token) [XACRO_FAULT]"


@pytest.mark.parametrize("old", ["<xacro:part ", "<xacro:port "])
def test_an_argument_that_no_file_takes_is_an_error_with_those_that_there_are(path, old):
    pytest.importorskip("xacro")
    path.write_text(XACRO.replace("<xacro:part ", old))
    result = cli("-q", "inspect", path, "--xacro", "--xacro-arg", "mas:=3", *parts(path))
    assert result.code == 3 and 'the file has no argument "mas"; it has mass: did you mean "mass"?' in result.err


def test_arguments_of_parts_that_are_left_out_and_those_of_other_files_are_known(path):
    pytest.importorskip("xacro")
    left_out = '<xacro:if value="false"><xacro:arg name="hand" default="1"/></xacro:if>'
    path.write_text(XACRO.replace("<xacro:include", left_out + "<xacro:include"))
    assert cli("inspect", path, "--xacro", "--xacro-arg", "hand:=2", *parts(path)).code == 0
    other = path.with_name("other.urdf.xacro")
    other.write_text(
        XACRO.replace('name="mass"', 'name="weight"')
        .replace("arg mass", "arg weight")
        .replace("<xacro:include", "<!-- <xacro:include")
        .replace(
            'xacro"/>\n  <xacro:part name="a"/>\n  <xacro:part name="b"/>',
            'xacro"/> --><link name="a"/><link name="b"/>',
        )
    )
    both = cli("inspect", path, other, "--xacro", "--xacro-arg", "mass:=2", *parts(path))
    assert both.code == 0 and f'{other}: warning: xacro: the file has no argument "mass"' in both.err


@pytest.mark.parametrize("command", ["inspect", "check"])
def test_expand_prints_what_xacro_makes_of_the_file(path, command, tmp_path):
    pytest.importorskip("xacro")
    result = succeed(command, path, "--expand", "--xacro-arg", "mass:=3", *parts(path))
    assert result.out.startswith("<?xml") and '<mass value="6.0"/>' in result.out and "xacro:" not in result.out
    out = tmp_path / "arm.urdf"
    assert succeed(command, path, "--expand", "-o", out, *parts(path)).out == "" and cli("check", out).code == 0
    assert cli(command, path, path, "--expand").code == 2


def test_a_missing_package_is_named(path):
    pytest.importorskip("xacro")
    result = cli("-q", "inspect", path, "--xacro")
    assert result.code == 4
    assert 'xacro: no package "parts"' in result.err and "<class" not in result.err


def test_findings_on_the_expanded_document_name_the_lines_of_the_files(path):
    pytest.importorskip("xacro")
    path.write_text(XACRO.replace('child link="b"', 'child link="c"'))
    result = cli("inspect", path, "--xacro", *parts(path))
    assert result.code == 3 and f"{path}:6:" in result.err and "(expanded by xacro)" not in result.err


def test_findings_in_an_included_macro_name_its_file(path):
    pytest.importorskip("xacro")
    there = path.parent / "parts" / "link.xacro"
    there.write_text(PART.replace('izz="1"', 'izz="5"'))
    found = cli("check", path, "--xacro", *parts(path), "--json").json()["findings"]
    places = {(finding["file"], finding["line"]) for finding in found if finding["code"] == "LINK_INERTIA_INVALID"}
    assert places == {(str(there), 2)}, found
