"""`python -m benchmarks.robots`: which files it finds, what it says of each, and that a crash costs one file."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import hinge, one_robot
from repository import ROOT, SAMPLES

sys.path.insert(0, str(ROOT))  # the benchmarks are not installed
from benchmarks.robots import standing
from benchmarks.robots.__main__ import main
from benchmarks.robots.count import count, differences
from benchmarks.robots.files import robot_files
from benchmarks.robots.table import cause, table
from benchmarks.robots.worker import Worker

ROBOT = one_robot("ab", hinge("j", "a", "b"))
COUNTS = {"mass": 2.0, "positions": 8, "velocities": 7, "actuators": 0, "links": 2, "joints": 2}


@pytest.fixture
def folder(tmp_path):
    """Files of one maker: a robot twice, one refused, one with macros, one that includes a file outside, no robot."""
    folder = tmp_path / "maker"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.urdf").write_text(ROBOT.replace("<link", "<!-- <xacro:box/> --><link", 1))
    shutil.copy(folder / "a.urdf", folder / "inner" / "copy.urdf")
    (folder / "faulty.urdf").write_text(ROBOT.replace('<mass value="1"/>', '<mass value="1,5"/>', 1))
    (folder / "macros.urdf").write_text(ROBOT.replace("<link", "<xacro:box/><link", 1))
    (folder / "robot.xml").write_text("<?xml version='1.0'?><mujoco><worldbody/></mujoco>")
    (folder / "build.xml").write_text("<project/>")
    (folder / "inner" / "outside.xml").write_text('<mujoco><include file="../robot.xml"/></mujoco>')
    return folder


def answered(files, **changes):
    """{(format, sha256): record} as if Drake had read every file and found COUNTS."""
    answer = {"read": True, "seconds": 0.1, **COUNTS, **changes}
    return {(file.format, file.sha256): {"peers": {"Drake": answer}} for file in files}


def test_every_content_is_one_robot(folder):
    files, found = robot_files([folder])
    assert found == {"maker": 6}
    assert [(file.name, file.format) for file in files] == [
        ("maker/a.urdf", "urdf"),
        ("maker/faulty.urdf", "urdf"),
        ("maker/inner/outside.xml", "mjcf"),
        ("maker/macros.urdf", "xacro"),
        ("maker/robot.xml", "mjcf"),
    ]
    assert [file.name for file in robot_files([folder], ["urdf"], "maker/", ["faulty"])[0]] == ["maker/a.urdf"]


def test_what_is_read_refused_and_different(folder):
    files, found = robot_files([folder], ["urdf", "mjcf"])
    known = answered(files) | answered([files[2]], mass=1.0, positions=0, velocities=0, links=0, joints=0)
    sound, faulty, outside, empty = count(files, known=known)
    assert sound["mbcli"]["read"] and sound["differences"] == {}
    assert sound["check"]["severities"] == {}
    assert not faulty["mbcli"]["read"] and not faulty["mbcli"]["options"] and faulty["differences"] == {}
    assert "must be a finite number" in faulty["mbcli"]["error"]
    assert faulty["check"]["codes"]["error ATTRIBUTE_INVALID"] == 1
    assert not outside["mbcli"]["read"] and outside["mbcli"]["options"]
    assert empty["differences"]["links"] == [0, 2] and empty["differences"]["mass"] == [0, 2.0]
    lines = table([sound, faulty, outside, empty], found).splitlines()
    assert any(line.split() == ["urdf", "2", "2", "1", "50.0%", "0"] for line in lines)
    assert any(line.split() == ["mjcf", "2", "2", "1", "50.0%", "1"] for line in lines)
    assert "2 files that a peer reads and mbcli refuses, by cause" in lines
    assert "1 files with other numbers than the peer has (mbcli, peer)" in lines


def test_files_without_findings_are_counted_of_all_and_of_those_without_a_fault(folder):
    files, found = robot_files([folder], ["urdf"], "maker/a")
    (sound,) = count(files, known=answered(files))
    unfollowed, faulty = (
        sound | {"check": {"read": True, "severities": {"warning": 1}, "codes": {f"warning {code}": 1}}}
        for code in ("ELEMENT_UNSUPPORTED", "INERTIA_IMPLAUSIBLE")
    )
    lines = table([sound, sound, unfollowed, faulty], found).splitlines()
    assert "urdf: 2 without errors and warnings, 50% of all, 67% of the 3 without a fault" in lines


def test_a_file_that_no_peer_reads_is_not_read_here(folder):
    files, found = robot_files([folder], ["urdf"])
    (record, _) = count(files, known=answered(files, read=False))
    assert "mbcli" not in record
    assert "0 files that a peer reads and mbcli refuses, by cause" in table([record], found)


def test_a_mass_is_that_of_some_peer():
    peers = {"Drake": {"read": True, **COUNTS, "mass": 3.0}, "Pinocchio": {"read": True, "mass": 2.0}}
    record = {"mbcli": {"read": True, **COUNTS}, "peers": peers}
    assert differences(record) == {}
    record["mbcli"]["mass"] = 2.0 + 1e-9
    assert differences(record) == {"mass": [2.0 + 1e-9, 3.0]}


def test_causes_are_the_same_for_all_names_and_numbers():
    line = 'maker/faulty.urdf:12:5: error: "{}" of <mass> must be {} numbers [ATTRIBUTE_INVALID]'
    assert (
        cause(line.format("a/b.stl", 3))
        == cause(line.format("c", 4))
        == (
            "ATTRIBUTE_INVALID",
            "... of ... must be N numbers",
        )
    )
    assert cause("no place and no code") == ("", "no place and no code")


def test_a_worker_that_dies_or_takes_too_long_is_started_again(folder):
    worker = Worker("mbcli", limit=60.0)
    asked = (folder / "a.urdf", folder, "urdf")
    assert worker.ask(*asked)["read"]
    worker._process.kill()
    assert worker.ask(*asked) == {"read": False, "died": True, "error": "died of SIGKILL"}
    worker.limit = 0.0
    assert worker.ask(*asked) == {"read": False, "died": True, "error": "longer than 0 s"}
    worker.limit = 60.0
    assert worker.ask(*asked)["mass"] == 2.0
    worker.close()


@pytest.mark.peers("pydrake", "pinocchio", "mujoco")
def test_the_sample_models_are_read_as_their_peers_read_them(tmp_path, capsys):
    result = tmp_path / "result.json"
    samples = shutil.copytree(SAMPLES, tmp_path / "samples")
    assert main([str(samples), "--json", str(result)]) == 0
    records = json.loads(result.read_text())["files"]
    by_peer = [record for record in records if any(answer["read"] for answer in record["peers"].values())]
    assert len(by_peer) == 22  # pydrake reads no SDFormat file with a loop
    assert all(record["mbcli"]["read"] and not record["differences"] for record in by_peer)
    printed = capsys.readouterr().out
    assert main([str(samples), "--known", str(result)]) == 0
    assert capsys.readouterr().out.splitlines()[:6] == printed.splitlines()[:6]


def test_robots_that_rest_and_are_refused(folder):
    """A box on the ground, a file with an error and a package that is not installed."""
    box = '<geometry><box size="0.1 0.1 0.1"/></geometry>'
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    shape = f'<collision><origin xyz="0 0 0.05"/>{box}</collision>'
    (folder / "box.urdf").write_text(f'<robot name="r"><link name="box">{inertial}{shape}</link></robot>')
    robots = [("box", "maker", name) for name in ("box.urdf", "faulty.urdf", "none.urdf")]
    rest, refused, missing = standing.stand(robots, [folder.parent], ("--ground", "-t", "0.5"))
    assert rest.verdict == "at rest" and rest.finite and rest.cold > 0.0 and rest.processor > 0.0
    assert refused.verdict.startswith("exit code 3: faulty.urdf:1:") and refused.warm is None
    assert missing.verdict == "not found: pip install maker"
    falls = replace(rest, speed=1.0)
    assert falls.verdict == "moves" and replace(rest, finite=False).verdict == "not finite"
    assert standing.summary([rest, falls, refused, missing]) == "4 robots: 1 at rest, 1 moving, 2 refused"
    assert standing.line(rest).split() == [
        "box",
        "box.urdf",
        *(text for seconds in (rest.cold, rest.warm, rest.processor) for text in (f"{seconds:.1f}", "s")),
        f"{rest.speed:.2g}",
        "at",
        "rest",
    ]


def test_robots_on_the_ground_are_of_three_formats_and_differ():
    assert len(set(standing.ROBOTS)) == 30
    assert {Path(path).suffix for _, _, path in standing.ROBOTS} == {".urdf", ".sdf", ".xml"}


@pytest.mark.peers("mujoco")
def test_motion_of_mjcf_files_is_compared_with_mujoco(tmp_path, capsys, monkeypatch):
    """One that moves the same, one whose tendon is not followed, one that starts beyond a limit."""
    from benchmarks.robots import motion

    monkeypatch.chdir(tmp_path)
    arm = """<mujoco><worldbody><geom name="g" size=".1" pos="0 0 -2"/><site name="s" pos="0 0 1"/><body name="a">
      <joint axis="0 1 0" {joint}/><geom name="a" type="capsule" size=".1" fromto="0 0 0 1 0 0" friction=".5"/>
      <site name="t" pos="1 0 0"/></body></worldbody>{tail}</mujoco>"""
    rope = '<tendon><spatial range="0 1.42"><site site="s"/><geom geom="g"/><site site="t"/></spatial></tendon>'
    for name, joint, tail in (("same", "", ""), ("rope", "", rope), ("beyond", 'range="10 20"', "")):
        (tmp_path / f"{name}.xml").write_text(arm.format(joint=joint, tail=tail))
    assert motion.main([str(tmp_path), "--json", str(tmp_path / "found.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("3 with geoms that may touch: the pairs differ in 0, friction or margin in 0")
    assert "1 within 1e-10 m" in lines[1] and "1 within 0.01 m" in lines[1]
    assert lines[2] == "1 not moved: it starts beyond a limit"
    assert 'rope.xml: attribute "range" in <spatial> is not followed' in lines[3]
    found = json.loads((tmp_path / "found.json").read_text())
    assert sorted(name.rpartition("/")[2] for name, record in found.items() if "apart" in record) == [
        "rope.xml",
        "same.xml",
    ]
