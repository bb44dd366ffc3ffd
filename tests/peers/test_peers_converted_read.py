"""Files that `mbcli convert` writes, as pydrake and Pinocchio read them: masses and mass matrices as in mbcli."""

import sys
from importlib.util import find_spec

import pytest
from command_line import succeed
from repository import ROOT, SAMPLES

sys.path.insert(0, str(ROOT))  # the benchmarks are not installed
from benchmarks.robots import by_engines

pytestmark = pytest.mark.peers
ENGINES = {"pydrake": "pydrake", "pinocchio": "pinocchio"}


@pytest.mark.parametrize("target", ["urdf", "sdf"])
@pytest.mark.parametrize("name", ["arm7.urdf", "quadruped.urdf", "double_pendulum.xml", "cart_pole.sdf"])
def test_other_programs_read_what_mbcli_reads(tmp_path, name, target):
    out = tmp_path / f"r.{target}"
    succeed("convert", SAMPLES / name, "-o", out, "--lossy")
    wanted = [engine for engine in by_engines.ENGINES[target] if find_spec(ENGINES[engine]) is not None]
    if not wanted:
        pytest.skip("neither pydrake nor Pinocchio is installed")
    found = by_engines.read_by_engines(str(out), target, [SAMPLES])
    assert {engine: found[engine][0] for engine in wanted} == dict.fromkeys(wanted, by_engines.EQUAL), found


def test_a_mass_that_differs_is_found(tmp_path, monkeypatch):
    pytest.importorskip("pydrake")
    pytest.importorskip("pinocchio")
    text = (SAMPLES / "arm7.urdf").read_text()
    (tmp_path / "arm.urdf").write_text(text)
    (tmp_path / "heavy.urdf").write_text(text.replace('<mass value="', '<mass value="1', 1))
    own = by_engines.own_plant
    monkeypatch.setattr(by_engines, "own_plant", lambda path, *more: own(str(tmp_path / "heavy.urdf"), *more))
    found = by_engines.read_by_engines(str(tmp_path / "arm.urdf"), "urdf", [tmp_path])
    assert {engine: word for engine, (word, _) in found.items()} == dict.fromkeys(ENGINES, by_engines.DIFFERS)


def test_a_file_that_is_refused_is_told(tmp_path):
    """urdfdom wants effort and velocity of a limit; mbcli does not."""
    pytest.importorskip("pinocchio")
    text = '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/></inertial></link>'
    text += '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1" upper="1"/></joint>'
    (tmp_path / "r.urdf").write_text(f"{text}</robot>")
    found = by_engines.read_by_engines(str(tmp_path / "r.urdf"), "urdf", [tmp_path])
    assert found["pinocchio"][0] == by_engines.REFUSES


@pytest.mark.parametrize("mass, moments", [(2.0, (0.3, 0.01, 0.01)), (0.0, (0.1, 0.1, 0.1))])
def test_an_inertia_that_no_body_has_is_named_and_the_rest_is_equal(tmp_path, mass, moments):
    """pydrake reads another inertia of that link, whoever wrote the file."""
    pytest.importorskip("pydrake")
    ixx, iyy, izz = moments
    link = """<link name="{}"><inertial><mass value="{}"/>
        <inertia ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    joint = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{0}"/><axis xyz="1 0 0"/></joint>'
    parts = link.format("base", 1, 1, 1, 1), link.format("odd", mass, ixx, iyy, izz), link.format("end", 1, 1, 1, 1)
    text = f'<robot name="r">{"".join(parts)}{joint.format("odd", "base")}{joint.format("end", "odd")}</robot>'
    (tmp_path / "r.urdf").write_text(text)
    word, said = by_engines.read_by_engines(str(tmp_path / "r.urdf"), "urdf", [tmp_path])["pydrake"]
    assert (word, said.partition(";")[0]) == (by_engines.REPLACES, "odd")
