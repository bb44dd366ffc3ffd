"""Deformable bodies in logs and pictures: places of vertices over time, the scene that has their surfaces, replays."""

import csv
import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import cli
from repository import SAMPLES

from mbcli.log import open_log
from mbcli.log.fields.vertices import VERTICES
from mbcli.log.writer import LogWriter
from mbcli.models.loading import load_model
from mbcli.multibody.contact import elastic_solution, elastic_step
from mbcli.multibody.deformable.deformable_model import DeformableModel
from mbcli.pictures.chromium import Chromium, find_chromium
from mbcli.pictures.drawn_images import drawn_images
from mbcli.pictures.html import replay_page
from mbcli.pictures.log_scene import scene_and_motion
from mbcli.pictures.model_scene import scene_of
from mbcli.pictures.packing import pack_motion, scene_from_text, scene_text, unpack_motion
from mbcli.simulation.recording import RowMaker, chosen_fields, log_header

SPONGE = SAMPLES / "deformable" / "sponge.sdf"
TIMES = np.linspace(0.0, 0.4, 5)


@pytest.fixture(scope="module")
def loaded():
    return load_model(SPONGE, contact=True)


def places(body):
    """(n, vertices, 3) of a body that falls and becomes flatter."""
    reference = body.reference
    return np.array([reference * [1.0 + t, 1.0 + t, 1.0 - t] - [0.0, 0.0, t * t] for t in TIMES])


@pytest.fixture(scope="module")
def log_path(loaded, tmp_path_factory):
    """A log of rows as a run would sample them."""
    path = tmp_path_factory.mktemp("logs") / "run.h5"
    fields = chosen_fields(["vertices"], loaded.plant)
    (body,) = loaded.plant.elements.deformable_bodies
    n = len(TIMES)
    samples = SimpleNamespace(
        time=TIMES,
        q=np.zeros((n, 0)),
        v=np.zeros((n, 0)),
        energy=np.zeros((n, 2)),
        u=np.zeros((n, 0)),
        constraint_error=np.zeros(n),
        contacts=None,
        deformables=(places(body),),
    )
    with LogWriter(path, log_header(loaded, fields, {})) as log:
        log.append(**RowMaker(loaded.plant, fields).rows(samples, np.ones(n, dtype=bool)))
        log.finish("complete", 0)
    return path


def test_vertices_bring_poses_and_are_logged_by_default_where_there_are_some(loaded):
    assert chosen_fields(["vertices"], loaded.plant) == ["poses", "vertices"]
    assert "vertices" in chosen_fields(None, loaded.plant)
    assert "vertices" not in chosen_fields(None, load_model(SAMPLES / "pendulum.sdf").plant)


def test_a_log_has_the_places_of_vertices_as_single_precision_numbers(loaded, log_path):
    (body,) = loaded.plant.elements.deformable_bodies
    with open_log(log_path) as log:
        assert log.dtype(VERTICES) == np.dtype("f4") and log.units[VERTICES][0] == "m"
        assert log.names[VERTICES][:3] == ("sponge::cube:0:x", "sponge::cube:0:y", "sponge::cube:0:z")
        read = log.field(VERTICES).reshape(len(TIMES), -1, 3)
        np.testing.assert_allclose(read, places(body), atol=1e-7)
        assert not log.damage()


def test_the_scene_of_a_log_has_the_surface_and_its_motion(loaded, log_path):
    (body,) = loaded.plant.elements.deformable_bodies
    scene, motion = scene_and_motion(log_path)
    (shape,) = [shape for shape in scene.shapes if shape.vertex_start is not None]
    mesh = scene.meshes[shape.mesh]
    assert shape.vertex_start == 0 and shape.name == "sponge::cube"
    np.testing.assert_array_equal(mesh.triangles, body.mesh.outer_triangles)
    np.testing.assert_allclose(mesh.vertices, body.reference, atol=1e-5)
    np.testing.assert_allclose(motion.vertices, places(body), atol=1e-6)
    np.testing.assert_allclose(motion.rows(np.array([4])).vertices, places(body)[4:], atol=1e-6)
    assert scene.weight == pytest.approx(9.81 * 8.0)


def test_scene_and_motion_survive_packing(loaded, log_path):
    scene = scene_of(loaded)
    again = scene_from_text(scene_text(scene), "x")
    assert [shape.vertex_start for shape in again.shapes] == [0]
    _, motion = scene_and_motion(log_path)
    np.testing.assert_allclose(unpack_motion(pack_motion(motion), "x").vertices, motion.vertices, atol=1e-5)


def test_images_show_the_surface_where_it_is_at_their_time(log_path):
    matplotlib = pytest.importorskip("matplotlib.image")
    run = scene_and_motion(log_path)
    first, last = (matplotlib.imread(io.BytesIO(png)) for png in drawn_images([run], TIMES[[0, -1]], (300, 200)))
    green = [(image[..., 1] > image[..., 0] + 0.1).any(axis=1) for image in (first, last)]
    heights = [np.flatnonzero(rows).mean() for rows in green]
    assert heights[1] > heights[0]  # rows of an image count downwards: it has fallen


@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
def test_a_page_moves_the_vertices_along_straight_lines_between_rows(loaded, log_path, tmp_path):
    (body,) = loaded.plant.elements.deformable_bodies
    page = tmp_path / "replay.html"
    page.write_text(replay_page([scene_and_motion(log_path)], "run"), encoding="utf-8")
    corners = body.mesh.outer_triangles.ravel()
    with Chromium(320, 240) as browser:
        browser.open(page.as_uri())
        assert browser.evaluate("mbcli.ready") is True
        for time, expected in ((0.1, places(body)[1]), (0.15, places(body)[1:3].mean(axis=0))):
            browser.evaluate(f"mbcli.setTime({time})")
            drawn = browser.evaluate("Array.from(mbcli.robots[0].deformables[0].geometry.attributes.position.array)")
            np.testing.assert_allclose(np.reshape(drawn, (-1, 3)), expected[corners], atol=1e-5)
        assert not browser.problems


def test_a_bar_of_a_file_hangs_longer_by_its_weight_in_the_log_of_its_run(tmp_path):
    log = tmp_path / "bar.h5"
    options = ("-t", "1", "--set", "plant_config.time_step=0.02", "--log-rate", "10", "-o", log)
    assert cli("simulate", SAMPLES / "deformable" / "hanging_bar.sdf", *options).code == 0
    with open_log(log) as read:
        start, *_, end = read.field(VERTICES).reshape(read.row_count, -1, 3)
        assert read.row_count == 11 and read.finished
    low, held = start[:, 2] < 1.0 + 1e-6, start[:, 2] > 1.999
    longer = (start - end)[low, 2].mean()
    assert longer == pytest.approx(1000.0 * 9.81 * 1.0**2 / (2.0 * 1e6), rel=0.02)
    np.testing.assert_array_equal(start[held], end[held])
    resumed = tmp_path / "resumed.h5"
    short = ("-t", "0.5", *options[2:6], "-o", resumed)
    model = SAMPLES / "deformable" / "hanging_bar.sdf"
    assert cli("simulate", model, *short).code == 0
    result = cli("simulate", model, "--resume", resumed, *options[2:6], "-t", "1", "-o", resumed, "--force")
    assert result.code == 0, result.err
    with open_log(resumed) as read:
        assert read.row_count == 11
        again = read.field(VERTICES)[-1].reshape(-1, 3)
    np.testing.assert_allclose(again, end, atol=1e-7)


def test_a_run_starts_from_the_state_at_the_end_of_a_log(tmp_path):
    model = SAMPLES / "deformable" / "sponge.sdf"
    options = ("--ground", "0", "--set", "plant_config.time_step=0.01")
    whole, first, second = (tmp_path / f"{name}.h5" for name in ("whole", "first", "second"))
    assert cli("simulate", model, *options, "-t", "0.2", "--log-rate", "10", "-o", whole).code == 0
    assert cli("simulate", model, *options, "-t", "0.1", "--log-rate", "10", "-o", first).code == 0
    result = cli("simulate", model, *options, "-t", "0.1", "--log-rate", "10", "--state", first, "-o", second)
    assert result.code == 0, result.err
    with open_log(whole) as long, open_log(second) as short:
        np.testing.assert_allclose(long.field(VERTICES)[-2:], short.field(VERTICES), atol=1e-7)
    result = cli("simulate", model, *options, "-t", "0.1", "--state", first, "--time", "0")
    assert result.code == 3 and "at 0.1 s alone, not at 0 s" in result.err
    verified = cli("log", "verify", second, "--trust")  # the state of another log
    assert verified.code == 0, verified.err


def test_two_threads_write_the_log_of_one(tmp_path, monkeypatch):
    monkeypatch.setattr(elastic_step, "WORTH_TWO", 0)
    monkeypatch.setattr(elastic_step, "has_two_cores", lambda: True)
    given, set_parallelism = [], DeformableModel.SetParallelism
    monkeypatch.setattr(
        DeformableModel, "SetParallelism", lambda *args: given.append(args[1]) or set_parallelism(*args)
    )
    logs = []
    for words in ((), ("--threads", "2")):
        logs.append(tmp_path / f"{len(words)}.h5")
        options = ("--ground", "0", "--dt", "0.01", "-t", "0.3", "--log-rate", "0", *words, "-o", logs[-1])
        assert cli("simulate", SPONGE, *options).code == 0
    assert given == [2]
    with open_log(logs[0]) as one, open_log(logs[1]) as two:
        assert one.row_count == 31
        np.testing.assert_array_equal(one.field(VERTICES), two.field(VERTICES))


def test_the_summary_of_a_run_has_the_contacts_and_steps_that_did_not_settle(monkeypatch):
    options = ("simulate", SPONGE, "--ground", "0", "--dt", "0.01", "-t", "0.3", "--no-log")
    result = cli(*options, "--json")
    contact = json.loads(result.out)["contact"]
    assert contact["most_contacts"] == 9 and contact["problems"] > 29
    assert contact["unsettled_steps"] == 0 and "shorter steps" not in result.err
    assert "up to 9 contact points" in cli(*options).out
    monkeypatch.setattr(elastic_solution, "MOST_ITERATIONS", 2)
    result = cli(*options, "--json")
    count = json.loads(result.out)["contact"]["unsettled_steps"]
    assert count > 1 and f"the iterations of {count} steps of deformable bodies" in result.err


def test_threads_of_a_model_without_deformable_bodies_are_refused():
    result = cli("simulate", SAMPLES / "pendulum.sdf", "--threads", "2", "--no-log")
    assert result.code == 2 and "for models with deformable bodies" in result.err
    assert cli("simulate", SPONGE, "--threads", "0", "--no-log").code == 2


def test_logs_of_deformable_bodies_are_compared_recovered_and_exported(log_path, tmp_path):
    copied = tmp_path / "copied.h5"
    assert cli("log", "recover", log_path, "-o", copied).code == 0
    assert cli("log", "diff", log_path, copied).code == 0
    table = tmp_path / "run.npz"
    assert cli("log", "export", copied, "-o", table).code == 0
    exported = np.load(table)
    names = [name for name in exported.files if "vertices" in name]
    with open_log(log_path) as log:
        np.testing.assert_array_equal(exported[names[0]].reshape(len(TIMES), -1), log.field(VERTICES))


def test_a_sweep_measures_where_deformable_bodies_are(tmp_path):
    model, table = SAMPLES / "deformable" / "sponge.sdf", tmp_path / "table.csv"
    options = ("--vary", "plant_config.time_step=0.01,0.005", "-t", "0.1", "-j", "1", "--log-rate", "100", "-o", table)
    measures = [f"{name}={of}" for name, of in (("z", "final(cube.z)"), ("low", "min(cube.low)"), ("x", "max(cube.x)"))]
    result = cli("sweep", model, *options, *(word for m in measures for word in ("--measure", m)))
    assert result.code == 0, result.err
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    fallen = 0.5 * 9.81 * 0.1**2
    for row in rows:
        assert float(row["z"]) == pytest.approx(0.2 - fallen, abs=1e-6)
        assert float(row["low"]) == pytest.approx(0.1 - fallen, abs=1e-6) and abs(float(row["x"])) < 1e-7
    wrong = cli("sweep", model, *options, "--force", "--measure", "max(com_z)")
    assert wrong.code == 2 and "cube.z is of a deformable one" in wrong.err
