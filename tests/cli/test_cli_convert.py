"""`mbcli convert`: several files at once, and what is asked for beside a conversion."""

import json
import shutil

import numpy as np
import pytest
from command_line import SAMPLES, cli
from lxml import etree

from mbcli.conversion import mujoco_proof
from mbcli.models.loading import load_model

PENDULUM, QUADRUPED, ARM = (SAMPLES / f"{name}.urdf" for name in ("double_pendulum", "quadruped", "arm7"))


@pytest.fixture(autouse=True)
def without_mujoco(monkeypatch):
    """Its process takes a second each; tests of the proof start it."""
    monkeypatch.setattr(mujoco_proof, "find_spec", lambda name: None)


def test_several_files_go_to_a_folder_with_a_table_and_the_largest_exit_code(tmp_path):
    broken = tmp_path / "broken.urdf"
    broken.write_text('<robot name="r"><link name="a">')
    spring = '<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><dynamics><spring_stiffness>2'
    (tmp_path / "spring.sdf").write_text(
        f'<sdf version="1.9"><model name="m"><link name="a"/>{spring}</spring_stiffness></dynamics></axis></joint>'
        "</model></sdf>"
    )
    files = [str(PENDULUM), str(broken), str(tmp_path / "spring.sdf"), str(tmp_path / "gone.urdf")]
    done = cli("convert", *files, "--to", "urdf", "-o", str(tmp_path / "out"))
    assert done.code == 4
    rows = [line.split(maxsplit=2) for line in done.out.splitlines()]
    assert [row[0] for row in rows[:4]] == files
    assert [row[1] for row in rows[:4]] == ["equal", "refused", "refused", "missing"]
    assert done.out.splitlines()[-1].startswith("4 models: ")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["double_pendulum.urdf"]


def test_each_file_has_its_losses_and_proof_in_the_document(tmp_path):
    done = cli("convert", str(PENDULUM), str(QUADRUPED), "--to", "mjcf", "-o", f"{tmp_path}/", "--json")
    document = json.loads(done.out)
    assert done.code == 0 and document["schema"] == "mbcli/convert"
    names = ("double_pendulum", "quadruped")
    assert [row["output"] for row in document["files"]] == [str(tmp_path / f"{name}.xml") for name in names]
    for row in document["files"]:
        assert row["proof"]["engines"] == ["mbcli"] and max(row["proof"]["deviations"].values()) < 1e-9
        assert {loss["code"] for loss in row["losses"]} == {"JOINT_VELOCITY", "NAME"}


def test_files_of_one_name_do_not_replace_each_other(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        shutil.copy(PENDULUM, tmp_path / folder / "robot.urdf")
    out = tmp_path / "out"
    files = [str(tmp_path / folder / "robot.urdf") for folder in ("one", "two")]
    assert cli("convert", *files, "--to", "mjcf", "-o", str(out)).code == 0
    assert sorted(path.name for path in out.iterdir()) == ["robot.xml", "two_robot.xml"]
    again = cli("convert", *files, "--to", "mjcf", "-o", str(out))
    assert again.code == 6 and again.out.count("not written") == 3  # and the total
    assert cli("convert", *files, "--to", "mjcf", "-o", str(out), "--force").code == 0


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "x").write_text("kept")
    done = cli("convert", str(PENDULUM), str(QUADRUPED), "--to", "mjcf", "-o", str(tmp_path / "x"))
    assert done.code == 2 and "is a file" in done.err and (tmp_path / "x").read_text() == "kept"


def test_xml_is_mjcf(tmp_path):
    assert cli("convert", str(PENDULUM), "-o", str(tmp_path / "p.xml")).code == 0
    assert etree.parse(tmp_path / "p.xml").getroot().tag == "mujoco"


# -------------------------------------------------------------------------------- what is asked for


def converted(tmp_path, model, *words):
    output = tmp_path / "out.xml"
    done = cli("convert", str(model), "-o", str(output), *words)
    assert done.code == 0, done.err
    return etree.parse(output).getroot(), output


def test_servos_have_gains_from_the_masses_or_those_that_are_given(tmp_path):
    root, output = converted(tmp_path, QUADRUPED, "--actuators", "position")
    gains = [a.get_controller_gains() for a in load_model(output).plant.elements.actuators]
    assert len(gains) == 12 and all(g.p > 0 and g.d > 0 for g in gains)
    knees = {g.p for g, a in zip(gains, root.iter("position"), strict=False) if a.get("name", "").endswith("knee")}
    assert len(knees) == 1  # all legs are alike
    _, output = converted(tmp_path, QUADRUPED, "--actuators", "position", "--kp", "80", "--kd", "2", "--force")
    assert {(g.p, g.d) for g in (a.get_controller_gains() for a in load_model(output).plant.elements.actuators)} == {
        (80.0, 2.0)
    }


def test_motors_for_all_joints_and_none(tmp_path):
    root, _ = converted(tmp_path, ARM, "--actuators", "motor")
    assert len([node for node in root.iter("motor") if node.get("joint")]) == 7
    root, _ = converted(tmp_path, ARM, "--actuators", "none", "--force")
    assert root.find("actuator") is None


def test_a_floor_and_a_base_that_floats_or_is_welded(tmp_path):
    root, _ = converted(tmp_path, ARM, "--float-base", "--floor")
    assert len(root.findall(".//freejoint")) == 1 and root.find("worldbody/light") is not None
    assert [node.get("type") for node in root.findall("worldbody/geom")] == ["plane"]
    root, _ = converted(tmp_path, QUADRUPED, "--weld-base", "--force")
    assert root.findall(".//freejoint") == []


CORNER = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="0.5"/></asset><library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="f" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
<technique_common><accessor source="#f" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node id="n">
<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def test_a_mesh_that_cannot_be_converted_is_a_loss(tmp_path):
    (tmp_path / "empty.dae").write_text(
        CORNER.replace("0 2 1 0 1 3 0 3 2 1 2 3", "").replace('count="4">', 'count="0">', 1)
    )
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    shape = '<geometry><mesh filename="empty.dae"/></geometry>'
    robot = tmp_path / "r.urdf"
    robot.write_text(f'<robot name="r"><link name="a">{inertial}<visual>{shape}</visual></link></robot>')
    done = cli("convert", str(robot), "-o", str(tmp_path / "out.xml"), "--bundle")
    assert done.code == 0 and "lost: the mesh empty.dae, which cannot be converted" in done.err
    assert not (tmp_path / "meshes").exists()


def test_meshes_that_mujoco_does_not_read_are_copied_as_obj(tmp_path):
    (tmp_path / "corner.dae").write_text(CORNER)
    shape = '<geometry><mesh filename="corner.dae"/></geometry>'
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    robot = tmp_path / "r.urdf"
    parts = f"{inertial}<visual>{shape}</visual><collision>{shape}</collision>"
    robot.write_text(f'<robot name="r"><link name="a">{parts}</link></robot>')
    alone = cli("convert", str(robot), "-o", str(tmp_path / "alone.xml"))
    assert alone.code == 3 and "which MuJoCo does not read (--bundle converts it)" in alone.err
    root, output = converted(tmp_path, robot, "--bundle")
    assert root.find("asset/mesh").get("file") == "meshes/corner.obj"
    lines = (tmp_path / "meshes" / "corner.obj").read_text().splitlines()
    vertices = [[float(x) for x in line.split()[1:]] for line in lines if line.startswith("v ")]
    np.testing.assert_allclose(sorted(vertices), [[0, 0, 0], [0, 0, 0.5], [0, 0.5, 0], [0.5, 0, 0]])
    assert sum(line.startswith("f ") for line in lines) == 4
    assert len(load_model(output, contact=True).plant.compiled_geometries().notes) == 0
