"""The bundle of a sweep: a worker that has nothing but mbcli and the bundle gives the same rows."""

import os
import shutil
import sys

import pytest
from mbcli.parsers.package_map import PackageMap

from mbcli.errors import ModelError, ResourceError
from mbcli.models import load_model
from mbcli.sweeps.bundle import Bundle, pack, unpack
from mbcli.sweeps.carried_files import CarriedFiles, carried_path, original_path
from mbcli.sweeps.point_run import PointRunner
from mbcli.sweeps.sweeping import prepare_sweep

FOOT = "v 0 0 -.1\nv .1 0 0\nv 0 .1 0\nv -.1 -.1 0\nf 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n"
URDF = """<robot name="hopper"><link name="world"/>
<link name="leg"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="file://{folder}/shells/shell.obj"/></geometry></visual>
<collision><geometry><mesh filename="package://feet/meshes/foot.obj"/></geometry></collision></link>
<joint name="up" type="prismatic"><parent link="world"/><child link="leg"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="50" velocity="9"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="up"/>
<actuator name="up"/></transmission></robot>"""
CONTROLLER = """
import os
from gains import stiffness
with open(os.path.join(os.path.dirname(__file__), "data", "target.txt")) as file:
    TARGET = float(file.read())
def controller(q):
    return [9.81 + stiffness() * (TARGET - q[0])]
"""
MEASURES = ["min(up)", "max(contact_force)"]


@pytest.fixture
def robot(tmp_path, monkeypatch):
    """The folder of a robot whose files lie in two packages, with a controller of three files."""
    monkeypatch.delitem(sys.modules, "gains", raising=False)
    folder = tmp_path / "first machine"
    for name, text in {
        "robots/hopper.urdf": URDF.format(folder=folder),
        "shells/shell.obj": "mtllib shell.mtl\n" + FOOT,
        "shells/shell.mtl": "newmtl a\nKd 1 0 0\n",
        "feet/package.xml": "<package><name>feet</name></package>",
        "feet/meshes/foot.obj": FOOT,
        "control/hop.py": CONTROLLER,
        "control/gains.py": "def stiffness():\n    return 40.0\n",
        "control/data/target.txt": "0.05",
        "plan.csv": "time,up\n0,0\n1,0.1\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def prepared_of(robot, vary=None, **run):
    packages = PackageMap(allow_outside=True)
    packages.add("feet", robot / "feet")
    loading = {"contact": True, "ground": -0.1, "packages": packages}
    model = str(robot / "robots" / "hopper.urdf")
    arguments = {"duration": 0.1, "controller": str(robot / "control" / "hop.py"), **run}
    vary = vary or {"state.up": [-0.005, 0.1], "body.leg.mass": ["*1", "*1.2"]}
    return prepare_sweep(load_model(model, **loading), (model,), loading, arguments, vary, measures=MEASURES)


def rows_of(job, points):
    runner = PointRunner(job)
    return [{name: value for name, value in runner.row(p).items() if name != "wall_time"} for p in points]


@pytest.fixture
def worker(tmp_path, monkeypatch):
    """The cache of another machine."""
    monkeypatch.setenv("MBCLI_CACHE_DIR", str(tmp_path / "second machine"))
    return tmp_path / "second machine" / "sweep_bundles"


def test_rows_of_a_bundle_are_those_of_the_files_which_are_gone(robot, worker):
    prepared = prepared_of(robot)
    bundle = pack(prepared.job, prepared.points[0])
    assert pack(prepared.job, prepared.points[1]).digest == bundle.digest
    here = rows_of(prepared.job, prepared.points)
    assert [row["status"] for row in here] == ["ok"] * 4 and here[0]["max(contact_force)"] > 0.0
    shutil.rmtree(robot)
    unpacked = unpack(bundle)
    assert unpacked.top == str(worker / bundle.digest / "files")
    there = sorted(
        os.path.relpath(os.path.join(root, name), unpacked.top + str(robot))
        for root, _, names in os.walk(unpacked.top)
        for name in names
    )
    assert there == [
        "control/data/target.txt",
        "control/gains.py",
        "control/hop.py",
        "feet/meshes/foot.obj",
        "robots/hopper.urdf",
        "shells/shell.mtl",
        "shells/shell.obj",
    ]
    assert rows_of(unpacked.job, prepared.points) == here


def test_messages_of_a_bundle_have_the_paths_of_the_first_machine(robot, worker):
    (robot / "control" / "hop.py").write_text("def controller(q):\n    return [1.0 / (q[0] != 0.1)]\n")
    prepared = prepared_of(robot, {"state.up": [0.0, 0.1]})
    here = rows_of(prepared.job, prepared.points)
    assert f"{robot}/control/hop.py" in here[1]["message"]
    unpacked = unpack(pack(prepared.job, prepared.points[0]))
    there = rows_of(unpacked.job, prepared.points)
    for row in there:
        row["message"] = row["message"].replace(unpacked.top, "")
    assert there == here


def test_a_bundle_is_checked_mended_and_never_written_outside_of_its_folder(robot, worker):
    prepared = prepared_of(robot)
    bundle = pack(prepared.job, prepared.points[0])
    unpacked = unpack(bundle)
    foot = unpacked.top + str(robot / "feet/meshes/foot.obj")
    for damaged in (foot, str(worker / bundle.digest / "bundle.h5")):
        with open(damaged, "r+b") as file:
            file.seek(20)
            file.write(b"9" * 50)
        unpack(bundle)
        with open(foot) as file:
            assert file.read() == FOOT
    with pytest.raises(ModelError, match="is not the one of its digest"):
        unpack(Bundle("0" * 64, bundle.content))
    with pytest.raises(ModelError, match="is not an HDF5 file"):
        unpack(Bundle("1" * 64, b"nothing"))
    for path in ("/a/../../b", "a", "/a//b", "/a/\0"):
        with pytest.raises(ModelError, match="is no path of a file"):
            carried_path("/top", path)
    assert original_path("/top", carried_path("/top", "/a/b")) == "/a/b"


def test_a_file_that_was_not_asked_for_is_not_looked_for(robot):
    packages = PackageMap()
    packages.add("feet", robot / "feet")
    first = CarriedFiles(packages)
    assert first.resolve("package://feet/meshes/foot.obj", robot) == str(robot / "feet/meshes/foot.obj")
    with pytest.raises(ResourceError, match='no package "arms"') as error:
        first.resolve("package://arms/a.obj", robot)
    second = CarriedFiles(document=first.document() | {"top": "/top"})
    assert second.resolve("package://feet/meshes/foot.obj", f"/top{robot}") == f"/top{robot}/feet/meshes/foot.obj"
    with pytest.raises(ResourceError) as again:
        second.resolve("package://arms/a.obj", f"/top{robot}")
    assert str(again.value) == str(error.value)
    with pytest.raises(ResourceError, match="is not in the bundle of the sweep"):
        second.resolve("package://feet/package.xml", f"/top{robot}")


def test_another_weight_of_a_controller_is_another_sweep(robot):
    files = prepared_of(robot).job.files
    assert {os.path.basename(path) for path in files} == {"hop.py", "gains.py", "target.txt"}
    (robot / "control/data/target.txt").write_text("0.06")
    assert prepared_of(robot).job.files != files
