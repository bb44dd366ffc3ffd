"""What needs a package of an extra says so in one line, with the command that installs it."""

import re
import sys
import tomllib
from importlib import metadata

import pytest
from command_line import cli, succeed
from repository import ROOT, SAMPLES

PENDULUM = SAMPLES / "double_pendulum.urdf"
SWEEP = ("sweep", PENDULUM, "--vary", "state.elbow=0,1", "-t", "0.01", "-j", "1")
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.2 0.2 0.2\nf 1 3 2\nf 1 2 5\nf 2 3 5\nf 1 5 3\n"
BRICK = """<robot name="r"><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="b.obj"/></geometry></collision></link></robot>"""
XACRO = """<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro"><xacro:property name="n" value="b"/>
<link name="${n}"/></robot>"""


def no_version(name):
    raise metadata.PackageNotFoundError(name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    monkeypatch.setenv("MBCLI_CHROMIUM", "")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.obj").write_text(TETRAHEDRON)
    (tmp_path / "b.urdf").write_text(BRICK)
    (tmp_path / "m.urdf.xacro").write_text(XACRO)
    succeed("-q", "simulate", PENDULUM, "--no-contact", "-t", "0.02", "-o", "run.h5")
    return tmp_path


@pytest.mark.parametrize(
    ("package", "extra", "words"),
    [
        ("matplotlib", "plot", ("log", "plot", "run.h5", "-o", "x.png")),
        ("matplotlib", "plot", ("replay", "run.h5", "--frames", "images")),
        ("matplotlib", "plot", (*SWEEP, "--measure", "max(elbow)", "--plot", "x.png")),
        ("pyarrow", "parquet", (*SWEEP, "-o", "x.parquet")),
        ("pyarrow", "parquet", ("log", "export", "run.h5", "-o", "x.parquet")),
        ("distributed", "dask", (*SWEEP, "--dask", "tcp://127.0.0.1:9")),
        ("ray", "ray", (*SWEEP, "--ray", "127.0.0.1:9")),
        ("mcap", "mcap", ("log", "export", "run.h5", "-o", "x.mcap")),
        ("rosbags", "ros", ("log", "export", "run.h5", "--to", "ros", "-o", "x.mcap")),
        ("rerun", "rerun", ("log", "export", "run.h5", "-o", "x.rrd")),
        ("xacro", "xacro", ("inspect", "m.urdf.xacro", "--xacro")),
        ("sympy", "symbolic", ("symbolic", PENDULUM)),
        ("coacd", "decompose", ("contact", "b.urdf", "--decompose")),
    ],
)
def test_a_missing_package_is_a_line_with_its_extra(folder, monkeypatch, package, extra, words):
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(metadata, "version", lambda name: no_version(name) if name == package else "1")
    result = cli(*words)
    assert result.code == 4 and result.err.count("\n") == 1, result.err
    assert result.err.endswith(f" needs the package {package}, which is not installed: pip install 'mbcli[{extra}]'\n")
    assert not list(folder.glob("x.*"))


def test_every_extra_that_is_named_is_one():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    sources = [path for folder in ("mbcli", "parsers", "docs") for path in (ROOT / folder).rglob("*.*")]
    named = set()
    for path in sources:
        if path.suffix in (".py", ".md"):
            text = path.read_text()
            named |= set(re.findall(r"mbcli\[(\w+)\]", text))
            named |= set(re.findall(r"""(?:import_extra|require_extra|missing_package)\("[\w.]+", "(\w+)\"""", text))
    assert {"parquet", "decompose", "dask", "xacro"} <= named <= extras.keys()
