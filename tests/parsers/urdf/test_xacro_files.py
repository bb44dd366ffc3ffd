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


def test_what_xacro_refuses_is_one_line_with_the_file(path):
    pytest.importorskip("xacro")
    path.write_text(XACRO.replace("<xacro:part ", "<xacro:port "))
    result = cli("-q", "inspect", path, "--xacro", "--package", f"parts={path.parent / 'parts'}")
    assert result.code == 3
    (line,) = result.err.splitlines()
    assert line.startswith(f"{path}: error: xacro: unknown macro name: xacro:port")


def test_a_missing_package_is_named(path):
    pytest.importorskip("xacro")
    result = cli("-q", "inspect", path, "--xacro")
    assert result.code == 4
    assert 'xacro: no package "parts"' in result.err and "<class" not in result.err


def test_findings_name_the_expanded_document(path):
    pytest.importorskip("xacro")
    path.write_text(XACRO.replace('child link="b"', 'child link="c"'))
    result = cli("inspect", path, "--xacro", "--package", f"parts={path.parent / 'parts'}")
    assert result.code == 3
    assert "arm.urdf.xacro (expanded by xacro):" in result.err
