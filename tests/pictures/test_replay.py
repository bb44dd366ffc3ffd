"""`mbcli replay` without a browser: the poses of logs, what a page has in it, images by matplotlib, refusals."""

import base64
import dataclasses
import json
import os
import re
import shutil
import struct
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import cli, hinge, one_robot, succeed
from repository import SAMPLES
from test_log_recovery import spoil_chunk

from mbcli.common.json_text import to_json
from mbcli.errors import ModelError, OutputError, ResourceError
from mbcli.log import open_log
from mbcli.log.format import FORMAT_VERSION
from mbcli.models.description import describe
from mbcli.models.loading import load_model
from mbcli.pictures.drawn_images import drawn_images
from mbcli.pictures.html import replay_page
from mbcli.pictures.images import image_times, require_ffmpeg, write_images
from mbcli.pictures.log_scene import logged_surfaces, scene_and_motion
from mbcli.pictures.model_scene import poses_over_time
from mbcli.pictures.packing import pack_motion, unpack_mesh, unpack_motion
from mbcli.pictures.resolved_plant import plant_of_resolved_model
from mbcli.pictures.scene import ContactPoints, ContactSurfaces, Motion
from mbcli.simulation import simulate

QUADRUPED = SAMPLES / "quadruped.urdf"


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A quadruped that falls for 0.4 s: a log with poses, and one without."""
    folder = tmp_path_factory.mktemp("logs")
    for name, fields in (("poses.h5", "poses,contact"), ("plain.h5", "contact")):
        start = {"quadruped_trunk_z": 0.5, "quadruped_trunk_qx": 0.1}
        simulate(QUADRUPED, 0.4, log=folder / name, ground=0.0, start=start, fields=fields, warn=str).close()
    return folder


def expected_poses(path):
    plant = load_model(QUADRUPED, contact=True, ground=0.0).plant
    with open_log(path) as log:
        assert list(log.position_names) == plant.GetPositionNames()
        return poses_over_time(plant, log.q)


def same_poses(X, Y, atol):
    np.testing.assert_allclose(X[..., 4:], Y[..., 4:], rtol=0, atol=atol)
    along = np.abs(np.einsum("nbi,nbi->nb", X[..., :4], Y[..., :4]))
    np.testing.assert_allclose(along, 1.0, atol=max(atol, 1e-12))


# ---------------------------------------------------------------------------------------------- logs


@pytest.mark.parametrize("name", ["poses.h5", "plain.h5"])
def test_poses_of_a_replay_are_those_of_kinematics(logs, name):
    scene, motion = scene_and_motion(logs / name)
    same_poses(motion.X_WB, expected_poses(logs / name), 1e-12)
    assert [body.name for body in scene.bodies][:2] == ["world", "quadruped::trunk"]
    assert [shape.kind for shape in scene.shapes if shape.body == 1] == ["box", "box"]


def test_a_replay_needs_no_file_of_the_model(logs, tmp_path, monkeypatch):
    both = []
    for name in ("poses.h5", "plain.h5"):
        shutil.copy(logs / name, tmp_path / name)
        monkeypatch.setattr("mbcli.models.loading.load_model", None)
        both.append(scene_and_motion(tmp_path / name)[0])
    assert len(both[0].shapes) == len(both[1].shapes)


@pytest.mark.parametrize("model", ["all_joints.sdf", "herd.dmd.yaml", "cart_pole.sdf"])
def test_a_plant_of_a_resolved_model_stands_where_the_model_stands(model, tmp_path):
    loaded = load_model(SAMPLES / model, contact=True)
    log = simulate(loaded, 0.05, log=tmp_path / "a.h5", start=random_state(loaded.plant), warn=str)
    X_WB = scene_and_motion(tmp_path / "a.h5")[1].X_WB
    same_poses(X_WB, poses_over_time(loaded.plant, log.q), 1e-12)


def random_state(plant):
    rng = np.random.default_rng(4)
    return plant.GetDefaultPositions() + 0.02 * rng.normal(size=plant.num_positions()), np.zeros(plant.num_velocities())


def test_a_weld_with_a_pose_is_in_the_resolved_model(tmp_path):
    (tmp_path / "r.urdf").write_text(one_robot(["base", "arm"], hinge("elbow", "base", "arm")))
    (tmp_path / "two.dmd.yaml").write_text("""directives:
- add_model: {name: first, file: r.urdf}
- add_model: {name: second, file: r.urdf}
- add_weld: {parent: world, child: first::base, X_PC: {translation: [1, 2, 3]}}
- add_weld: {parent: first::arm, child: second::base, X_PC: {translation: [0, 0, 1]}}
""")
    loaded = load_model(tmp_path / "two.dmd.yaml", contact=True)
    text = to_json(describe(loaded, measured=False))
    with pytest.raises(ModelError, match="2 bodies are named 'base'.*--fields poses"):  # as logs of 1.3 have it
        plant_of_resolved_model(text.replace("parent_model_instance", "other"), "x.h5")
    plant = plant_of_resolved_model(text, "x.h5")
    q = np.array([[0.3, -0.4]])
    X_WB = poses_over_time(plant, q)
    same_poses(X_WB, poses_over_time(loaded.plant, q), 1e-14)
    np.testing.assert_allclose(X_WB[0, 1, 4:], [1, 2, 3])


def test_the_forces_of_contacts_hold_what_stands_on_the_ground(logs):
    scene, motion = scene_and_motion(logs / "plain.h5")
    contacts = motion.contacts
    touching = np.diff(contacts.offset) > 0
    assert touching.any() and not touching[0]
    on_ground = (contacts.body_a == 0) | (contacts.body_b == 0)
    assert on_ground.any() and (contacts.force[on_ground, 2] >= 0.0).all()


def test_poses_in_a_log_have_names_and_units(logs):
    with open_log(logs / "poses.h5") as log:
        names, units = log.names["derived/poses"], log.units["derived/poses"]
        assert names[7:11] == tuple(f"quadruped::trunk:q{part}" for part in "wxyz")
        assert units[:7] == ("1",) * 4 + ("m",) * 3
        assert log.attrs["format_version"] == FORMAT_VERSION
        np.testing.assert_allclose(log.field("derived/poses")[:, 11:14], log.q[:, 4:7], atol=1e-12)


def test_meshes_are_in_a_log_with_poses(tmp_path):
    mesh = tmp_path / "part.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    inertial = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    model = tmp_path / "part.urdf"
    model.write_text(
        f'<robot name="part"><link name="part"><inertial>{inertial}</inertial><visual><geometry>'
        '<mesh filename="part.obj" scale="2 2 2"/></geometry></visual></link></robot>'
    )
    for fields in ("poses", "energy"):
        simulate(model, 0.02, log=tmp_path / f"{fields}.h5", fields=fields, warn=str).close()
    mesh.unlink()
    scene, _ = scene_and_motion(tmp_path / "poses.h5")
    (triangles,) = scene.meshes.values()
    assert np.ptp(triangles.vertices, axis=0).tolist() == pytest.approx([2, 2, 2], abs=1e-4) and not scene.notes
    scene, _ = scene_and_motion(tmp_path / "energy.h5")
    assert scene.shapes == [] and "part.obj" in scene.notes[0]


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda d: d["joints"][0].update(parent="nobody"), "cannot be drawn"),
        (lambda d: d["joints"][0].update(type="knuckle"), "knuckle"),
        (lambda d: d.pop("bodies"), "bodies"),
        (lambda d: d["bodies"][0].update(com=[1]), "cannot be drawn"),
        (lambda d: d["geometries"][0].update(X_BG=[[1]]), "RigidTransform"),
    ],
)
def test_a_resolved_model_that_is_damaged_is_refused_in_one_line(logs, damage, message):
    with open_log(logs / "plain.h5") as log:
        document = json.loads(log.model)
    damage(document)
    with pytest.raises(ModelError, match=f"^x.h5: error: [^\n]*({message})[^\n]*$"):
        plant_of_resolved_model(json.dumps(document), "x.h5")


# ---------------------------------------------------------------------------------------------- motions


def made_up_motion(n=40, nbody=3):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(n, nbody, 7))
    X[..., :4] /= np.linalg.norm(X[..., :4], axis=-1, keepdims=True)
    offset = np.concatenate([[0], np.cumsum(rng.integers(0, 4, size=n))])
    k = offset[-1]
    contacts = ContactPoints(offset, rng.normal(size=(k, 3)), 1e3 * rng.normal(size=(k, 3)), np.ones(k), np.zeros(k))
    surfaces = ContactSurfaces(offset, rng.normal(size=(k, 3, 3)), 1e5 * rng.random(size=(k, 3)))
    return Motion("made up", np.arange(n) * 0.01, X, contacts, surfaces)


def test_a_packed_motion_comes_back_with_contacts_and_surfaces():
    motion = made_up_motion()
    back = unpack_motion(pack_motion(motion), "made up")
    same_poses(back.X_WB / 1.0, motion.X_WB, 2e-5)
    np.testing.assert_allclose(back.times, motion.times, atol=1e-6)
    np.testing.assert_array_equal(back.contacts.offset, motion.contacts.offset)
    np.testing.assert_allclose(back.contacts.point, motion.contacts.point, atol=1e-4)
    np.testing.assert_allclose(back.contacts.force, motion.contacts.force, atol=0.1)
    np.testing.assert_allclose(back.surfaces.vertices, motion.surfaces.vertices, atol=1e-5)
    np.testing.assert_allclose(back.surfaces.values, motion.surfaces.values, atol=100.0)


def test_a_run_of_a_day_and_a_fall_from_space_are_packed():
    motion = made_up_motion()
    X_WB = motion.X_WB.copy()
    X_WB[:, -1, 6] = -0.5 * 9.81 * np.linspace(0.0, 200.0, len(X_WB)) ** 2
    long = dataclasses.replace(motion, times=np.linspace(0.0, 86_400.0, len(X_WB)), X_WB=X_WB)
    back = unpack_motion(pack_motion(long), "long")
    np.testing.assert_allclose(back.times, long.times, atol=1e-4)
    same_poses(back.X_WB, X_WB, 1e-4)


def test_chosen_rows_keep_their_contacts_and_surfaces():
    motion = made_up_motion()
    chosen = motion.rows(np.array([3, 17, 39]))
    for k, row in enumerate((3, 17, 39)):
        for part, name in (("contacts", "force"), ("surfaces", "values")):
            few, all_rows = getattr(chosen, part), getattr(motion, part)
            np.testing.assert_array_equal(
                getattr(few, name)[few.offset[k] : few.offset[k + 1]],
                getattr(all_rows, name)[all_rows.offset[row] : all_rows.offset[row + 1]],
            )


def test_a_lower_rate_takes_rows_of_the_log_with_both_ends():
    motion = made_up_motion(101)
    few = motion.at_rate(10.0)
    np.testing.assert_allclose(few.times, np.arange(11) * 0.1)
    assert motion.at_rate(1000.0) is motion
    uneven = dataclasses.replace(motion, times=np.sort(np.random.default_rng(1).random(101)))
    assert {uneven.times[0], uneven.times[-1]} <= set(uneven.at_rate(7.0).times) <= set(uneven.times)


# ---------------------------------------------------------------------------------------------- pages


def page_data(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_a_page_of_a_quadruped_of_five_seconds_is_small_and_alone(logs):
    scene, motion = scene_and_motion(logs / "poses.h5")
    long = motion.rows(np.arange(500) % len(motion.times))
    text = replay_page([(scene, dataclasses.replace(long, times=np.arange(500) * 0.01))], "run")
    assert len(text.encode()) < 1_000_000
    tags = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert re.findall(r"""(?:src|href)\s*=\s*(\S+)""", tags) == ['"data:,">']
    assert "default-src 'none'" in text and "connect-src 'none'" in text


def test_the_data_of_a_page_are_those_of_the_log(logs):
    scene, motion = scene_and_motion(logs / "poses.h5")
    data = page_data(replay_page([(scene, motion)], "run", traces=["trunk"]))
    back = unpack_motion(base64.b64decode(data["runs"][0]["motion"]), "run")
    same_poses(back.X_WB, motion.X_WB, 2e-5)
    assert data["traces"] == ["trunk"] and data["runs"][0]["name"] == "poses.h5"
    assert all(unpack_mesh(base64.b64decode(mesh)) for mesh in data["meshes"].values())


def test_names_cannot_end_the_data_of_a_page(logs):
    scene, motion = scene_and_motion(logs / "poses.h5")
    bad = "</script><script>alert(1)</script><!--"
    text = replay_page([(dataclasses.replace(scene, name=bad), dataclasses.replace(motion, name=bad))], bad)
    assert "<script>alert" not in text
    assert page_data(text)["runs"][0]["name"] == bad


# ---------------------------------------------------------------------------------------------- images


def png_size(content):
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", content[16:24])


def test_images_without_chromium_are_drawn_by_matplotlib(logs, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MBCLI_CHROMIUM", "")
    options = ["--frames", tmp_path / "f", "--fps", "5", "--size", "320x240", "--trace", "trunk"]
    succeed("replay", logs / "poses.h5", logs / "plain.h5", *options)
    images = [path.read_bytes() for path in sorted((tmp_path / "f").iterdir())]
    assert [png_size(image) for image in images] == [(320, 240)] * 3 and images[0] != images[2]
    again = cli("replay", logs / "poses.h5", *options)
    assert again.code == 6 and "PNG files" in again.err


def test_times_of_images_follow_rate_and_speed():
    motion = made_up_motion(101)
    np.testing.assert_allclose(image_times([(None, motion)], 10.0), np.arange(11) * 0.1)
    np.testing.assert_allclose(image_times([(None, motion)], 10.0, 0.5), np.arange(21) * 0.05)
    with pytest.raises(OutputError, match="--fps"):
        image_times([(None, motion)], 1e7)


def test_images_of_an_earlier_series_go_and_other_files_stay(tmp_path):
    for name in ("0000.png", "0007.png", "mine.png", "notes.txt"):
        (tmp_path / name).write_bytes(b"x")
    write_images(str(tmp_path), iter([b"a", b"b"]), 2, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0000.png", "0001.png", "mine.png", "notes.txt"]


# ---------------------------------------------------------------------------------------------- command


def test_replay_writes_a_page_and_never_replaces_one(logs, tmp_path):
    target = tmp_path / "run.html"
    result = succeed("replay", logs / "poses.h5", logs / "plain.h5", "-o", target, "--trace", "front_left_shank")
    runs = page_data(target.read_text())["runs"]
    assert "MB" in result.out and [run["name"] for run in runs] == ["poses.h5", "plain.h5"]
    again = cli("replay", logs / "poses.h5", "-o", target)
    assert again.code == 6 and "exists already" in again.err
    succeed("replay", logs / "poses.h5", "-o", target, "--force")


def test_the_end_of_a_name_is_enough_for_a_trace(logs, tmp_path):
    target = tmp_path / "run.html"
    succeed("simulate", SAMPLES / "arm7.urdf", "-t", "0.01", "--no-contact", "-o", tmp_path / "arm.h5")
    words = (logs / "poses.h5", tmp_path / "arm.h5", "-o", target, "--trace", "arm", "--trace", "trunk")
    succeed("replay", *words)
    assert page_data(target.read_text())["traces"] == ["upper_arm", "trunk"]
    ambiguous = cli("replay", logs / "poses.h5", "-o", target, "--force", "--trace", "shank")
    assert ambiguous.code == 2 and "--trace: body or frame 'shank' can mean" in ambiguous.err


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["nowhere.h5", "-o", "x.html"], 4, "nowhere.h5"),
        ([str(QUADRUPED), "-o", "x.html"], 3, "not an HDF5 file"),
        (["LOG", "-o", "x.pdf"], 2, ".html"),
        (["LOG", "-o", "/nowhere/x.html"], 6, "no folder"),
        (["LOG", "-o", "LOG"], 2, "ends in"),
        (["LOG", "--trace", "front_left_shark"], 2, "did you mean"),
        (["LOG", "--size", "0x5"], 2, "WIDTHxHEIGHT"),
        (["LOG", "--fps", "0"], 2, "--fps"),
        ([], 2, "LOG"),
    ],
)
def test_replay_refuses_in_one_line(logs, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    words = [str(logs / "poses.h5") if word == "LOG" else word for word in arguments]
    result = cli("replay", *words)
    assert result.code == code and message in result.err and result.err.count("\n") == 1


def test_a_log_without_rows_is_refused(tmp_path, logs):
    from test_log_writer import arm_header

    from mbcli.log.writer import LogWriter

    LogWriter(tmp_path / "a.h5", arm_header()).finish("complete", 0)
    assert "no rows" in cli("replay", tmp_path / "a.h5", "-o", tmp_path / "x.html").err


def test_a_log_whose_name_is_no_text_is_shown(logs, tmp_path):
    name = os.fsdecode(b"run\xff.h5")
    shutil.copy(logs / "poses.h5", tmp_path / name)
    succeed("replay", tmp_path / name, "-o", tmp_path / "run.html")
    assert page_data((tmp_path / "run.html").read_text())["title"] == r"run\udcff.h5"


# ---------------------------------------------------------------------------------------------- logs of other commands


@pytest.mark.parametrize("fields", ["poses,contact", "contact"])
def test_what_recover_could_not_read_stands_still_in_a_replay(tmp_path, fields):
    settings = {"log_rate": 0, "ground": 0.0, "start": {"quadruped_trunk_z": 0.4}, "fields": fields, "warn": str}
    simulate(QUADRUPED, 1.3, log=tmp_path / "a.h5", **settings).close()
    _, whole = scene_and_motion(tmp_path / "a.h5")
    for name in ("derived/poses" if "poses" in fields else "state/q", "contact/point"):
        spoil_chunk(tmp_path / "a.h5", name, 1)
    told = succeed("log", "recover", tmp_path / "a.h5", "--json").json()
    assert len(told["damage"]) == 2
    result = succeed("replay", tmp_path / "a.recovered.h5", "-o", tmp_path / "a.html")
    assert "rows are not finite: the picture stands still there" in result.err
    _, motion = scene_and_motion(tmp_path / "a.recovered.h5")
    with open_log(tmp_path / "a.recovered.h5") as log:
        rows = log.field("derived/poses" if "poses" in fields else "state/q")
    lost = np.isnan(rows).any(axis=1)
    first = int(np.argmax(lost))
    assert first > 0 and lost.sum() > 100
    np.testing.assert_array_equal(motion.X_WB[~lost], whole.X_WB[~lost])
    assert (motion.X_WB[lost] == whole.X_WB[first - 1]).all()
    dropped = np.diff(whole.contacts.offset) - np.diff(motion.contacts.offset)
    assert dropped.sum() == 512 and (dropped >= 0).all() and np.isfinite(motion.contacts.point).all()


def test_a_run_that_goes_on_keeps_its_poses_and_shapes(tmp_path):
    pendulum, both = SAMPLES / "double_pendulum.urdf", ["--at", "elbow=1", "--fields", "poses"]
    succeed("simulate", pendulum, *both, "-t", "0.2", "-o", tmp_path / "a.h5")
    succeed("simulate", "--resume", tmp_path / "a.h5", "-t", "0.4", "--force")
    succeed("simulate", pendulum, *both, "-t", "0.4", "-o", tmp_path / "whole.h5")
    succeed("log", "recover", tmp_path / "a.h5", "-o", tmp_path / "recovered.h5")
    (scene, motion), *others = (scene_and_motion(tmp_path / f"{name}.h5") for name in ("whole", "a", "recovered"))
    for other_scene, other in others:
        np.testing.assert_array_equal(other.X_WB, motion.X_WB)
        assert other_scene.shapes == scene.shapes


# --------------------------------------------------------------------------------------- contact surfaces

SOFT = """
scene_graph_config:
  default_proximity_properties:
    {compliance_type: compliant, hydroelastic_modulus: 5.0e+5, resolution_hint: 0.01, hunt_crossley_dissipation: 20.0}
"""


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    """Logs of a quadruped on soft feet: with faces, and without."""
    folder = tmp_path_factory.mktemp("soft")
    (folder / "soft.yaml").write_text(SOFT)
    settings = ("--ground", "--hold", "--config", folder / "soft.yaml", "-t", 0.3, "--log-rate", 200)
    for name, fields in (("faces.h5", "poses,faces"), ("plain.h5", "poses,contact")):
        succeed("simulate", QUADRUPED, *settings, "--fields", fields, "-o", folder / name)
    return folder


def test_triangles_of_a_replay_carry_the_forces_of_the_log(standing):
    """Their pressure over their area is the weight, as it is in the log."""
    scene, motion = scene_and_motion(standing / "faces.h5")
    with open_log(standing / "faces.h5") as log:
        contacts = log.contacts()
    surfaces = motion.surfaces
    a, b, c = (surfaces.vertices[:, k] for k in range(3))
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    loads = areas * surfaces.values.mean(axis=1)
    for row in (10, 30, 60):
        part, of_row = slice(*surfaces.offset[row : row + 2]), slice(*contacts["offset"][row : row + 2])
        assert areas[part].sum() == pytest.approx(contacts["contact/area"][of_row].sum(), rel=1e-9)
        mean = contacts["contact/area"] * contacts["contact/mean_pressure"]
        assert loads[part].sum() == pytest.approx(mean[of_row].sum(), rel=1e-9)
    assert loads[slice(*surfaces.offset[60:62])].sum() == pytest.approx(scene.weight, rel=0.02)


def test_surfaces_of_chosen_rows_are_those_of_all(standing):
    _, motion = scene_and_motion(standing / "faces.h5")
    rows = np.array([0, 20, 41])
    few = logged_surfaces(standing / "faces.h5", rows)
    whole = motion.surfaces
    assert few.offset[-1] == sum(whole.offset[rows + 1] - whole.offset[rows]) > 0
    for row in rows:
        here, there = slice(*few.offset[row : row + 2]), slice(*whole.offset[row : row + 2])
        np.testing.assert_array_equal(few.vertices[here], whole.vertices[there])
        np.testing.assert_array_equal(few.values[here], whole.values[there])
    assert logged_surfaces(standing / "plain.h5", rows) is None
    assert scene_and_motion(standing / "faces.h5", surfaces=False)[1].surfaces is None


def test_surfaces_make_a_page_little_longer(standing, tmp_path):
    """By less than 1 kB a row of 112 faces, which are 18 kB of doubles, in a robot that comes to rest."""
    sizes = []
    for name in ("faces.h5", "plain.h5"):
        page = tmp_path / f"{name}.html"
        succeed("replay", standing / name, "-o", page)
        sizes.append(page.stat().st_size)
    rows = 0.3 * 60 + 1
    assert 0 < sizes[0] - sizes[1] < 1000 * rows


def test_images_without_chromium_show_surfaces_and_a_legend(standing):
    pytest.importorskip("matplotlib")
    pictures = []
    for name in ("faces.h5", "plain.h5"):
        run = scene_and_motion(standing / name)
        pictures.append(next(drawn_images([run], np.array([0.3]), (320, 240))))
    assert png_size(pictures[0]) == (320, 240) and pictures[0] != pictures[1]


def test_a_video_is_made_by_the_ffmpeg_of_the_machine_or_of_a_package(monkeypatch):
    monkeypatch.setattr("mbcli.common.child_processes.find_program", lambda name: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ResourceError, match="pip install imageio-ffmpeg"):
        require_ffmpeg()
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", SimpleNamespace(get_ffmpeg_exe=lambda: "/packaged/ffmpeg"))
    assert require_ffmpeg() == "/packaged/ffmpeg"
    monkeypatch.setattr("mbcli.common.child_processes.find_program", lambda name: f"/usr/bin/{name}")
    assert require_ffmpeg() == "/usr/bin/ffmpeg"
