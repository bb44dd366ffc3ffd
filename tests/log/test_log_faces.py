"""Faces of contact surfaces in logs: whatever the blocks; unfinished, damaged, compared, exported, resumed."""

import csv
import io
import json

import h5py
import numpy as np
import pytest
from command_line import cli, succeed
from test_hydroelastic_results import scene  # noqa: F401 - a fixture
from test_log_contacts import header

from mbcli.errors import ModelError
from mbcli.log import provenance, writer
from mbcli.log.description import describe
from mbcli.log.fields.contact import CONTACT_FIELDS, SURFACE_FIELDS
from mbcli.log.fields.faces import FACE_FIELDS
from mbcli.log.format import ContactNames
from mbcli.log.memory import MemoryLog
from mbcli.log.reader import Log
from mbcli.log.recovery import recover
from mbcli.log.writer import LogWriter
from mbcli.meshes.surfaces import triangles_of_faces

NAMES = ContactNames(("world", "robot::foot"), ("ground", "robot::sole", "robot::heel"), surfaces=True, faces=True)
ROWS = 600
RANDOM = np.random.default_rng(5)
CONTACTS = RANDOM.integers(0, 3, ROWS)
FACES = RANDOM.integers(0, 5, CONTACTS.sum())  # of each contact
FACES[40] = 5000  # more than a chunk
CORNERS = RANDOM.integers(3, 8, FACES.sum())  # of each face
PLACES = RANDOM.normal(size=(CORNERS.sum(), 3))
PRESSURES = 1e5 * RANDOM.random(CORNERS.sum())


def starts(counts):
    return np.concatenate([[0], np.cumsum(counts)])


def block(first, count):
    """Rows whose contacts and faces follow from their number."""
    rows = slice(first, first + count)
    k = slice(*starts(CONTACTS)[[first, first + count]])
    f = slice(*starts(FACES)[[k.start, k.stop]])
    c = slice(*starts(CORNERS)[[f.start, f.stop]])
    number = np.arange(k.start, k.stop, dtype=float)
    contact = {"offset": starts(CONTACTS[rows])}
    for n, field in enumerate(CONTACT_FIELDS + SURFACE_FIELDS):
        if field.dtype == "i8":
            contact[field.path] = (number + n).astype(int) % 2
        else:
            contact[field.path] = number[:, None] * [1.0, -1.0, 0.5] if field.row_shape else number + 0.125 * n
    contact["contact/faces"] = FACES[k]
    contact |= {"faces/offset": starts(FACES[k]), "faces/corner_offset": starts(CORNERS[f])}
    contact |= {"faces/corner": PLACES[c], "faces/pressure": PRESSURES[c]}
    t = np.arange(first, first + count, dtype=float)
    return {"time": t, "q": t[:, None], "v": -t[:, None], "contact": contact}


def write(path, blocks, flush_every=10**9):
    done = 0
    with LogWriter(path, header(contact=NAMES)) as log:
        for number, count in enumerate(blocks):
            log.append(**block(done, count))
            done += count
            if number % flush_every == 0:
                log.flush()
        log.finish("complete", 0)


def assert_holds(log, rows, start=0):
    found, expected = log.contacts(start, start + rows) | log.faces(start, start + rows), block(start, rows)["contact"]
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


def test_round_trip(tmp_path):
    path = tmp_path / "a.h5"
    write(path, [100, 1, 299, 200])
    with Log(path) as log:
        assert log.has_faces and log.row_count == ROWS and log.contact_names() == NAMES
        assert_holds(log, ROWS)
        assert_holds(log, 5, start=300)
        assert_holds(log, 0, start=ROWS)
        shapes = {field["path"]: field["shape"] for field in describe(log)["fields"]}
        assert shapes["faces/corner"] == [CORNERS.sum(), 3] and shapes["faces/offset"] == [len(FACES) + 1]
        assert not log.damage()
    with h5py.File(path) as file:  # compressed, with units, as docs/reference/log_format.md says
        for field in FACE_FIELDS:
            dataset = file[field.path]
            assert dataset.compression == "gzip" and dataset.fletcher32
            assert [np.atleast_1d(dataset.attrs["units"])[0].decode()] == list(field.units)[:1]
    assert "faces/corner" in succeed("log", "info", path).out


def test_a_log_in_memory_gives_the_same():
    log = MemoryLog(header(contact=NAMES))
    for first, count in ((0, 100), (100, 1), (101, 499)):
        log.append(**block(first, count))
    assert_holds(log, ROWS)
    assert_holds(log, 5, start=98)


def test_surfaces_have_names_and_polygons(tmp_path):
    path = tmp_path / "a.h5"
    write(path, [ROWS])
    with Log(path) as log:
        row = next(k for k in range(ROWS) if (FACES[starts(CONTACTS)[k] : starts(CONTACTS)[k + 1]] > 0).sum() == 2)
        expected = block(row, 1)["contact"]
        surfaces = log.surfaces(float(row))
        assert len(surfaces) == 2
        for k, surface in enumerate(surfaces):
            assert surface.body_a == NAMES.body_names[expected["contact/body_a"][k]]
            assert surface.area == expected["contact/area"][k]
            np.testing.assert_array_equal(surface.force, expected["contact/force"][k])
            assert len(surface.polygons) == len(surface.pressures) == expected["contact/faces"][k]
        everything = [corner for surface in surfaces for polygon in surface.polygons for corner in polygon]
        np.testing.assert_array_equal(everything, expected["faces/corner"])
        corners, pressures = surfaces[0].triangles()
        assert corners.shape == (sum(len(polygon) - 2 for polygon in surfaces[0].polygons), 3, 3)
        np.testing.assert_array_equal(corners[0], surfaces[0].polygons[0][:3])
        np.testing.assert_array_equal(pressures[0], surfaces[0].pressures[0][:3])


def test_triangles_cover_polygons():
    """The areas of the triangles of a regular polygon add up to its own; faces of two corners have none."""
    counts = np.array([5, 2, 3, 7, 0])
    corners = np.concatenate([np.exp(2j * np.pi * np.arange(n) / max(n, 1)) for n in counts])
    index, face = triangles_of_faces(starts(counts))
    a, b, c = corners[index].T
    areas = 0.5 * ((b - a).conj() * (c - a)).imag
    assert (areas > 0.0).all()
    np.testing.assert_allclose(
        np.bincount(face, areas, minlength=5), [n / 2 * np.sin(2 * np.pi / n) if n > 2 else 0.0 for n in counts]
    )


def test_equal_runs_give_equal_files_however_they_cut_the_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "FLUSH_SECONDS", 1e9)
    for module in (provenance, writer):
        monkeypatch.setattr(module, "utc_now", lambda: "2026-01-01T00:00:00Z")
    monkeypatch.setattr(LogWriter, "_pack", lambda self: None)  # as written
    contents = []
    for number, blocks in enumerate(([ROWS], [1] * 110 + [190] + [3] * 100, [64] * 9 + [24])):
        path = tmp_path / f"{number}.h5"
        assert sum(blocks) == ROWS
        write(path, blocks, flush_every=3 + 4 * number)
        content = np.frombuffer(path.read_bytes(), dtype="u1").copy()
        with h5py.File(path) as file:
            clock = file["run/wall_time"]
            content[clock.id.get_offset() : clock.id.get_offset() + 8] = 0
        contents.append(content)
    np.testing.assert_array_equal(contents[0], contents[1])
    np.testing.assert_array_equal(contents[0], contents[2])


@pytest.mark.parametrize("damage", ["missing", "offset", "falling", "length"])
def test_a_wrong_block_is_refused_whole(tmp_path, damage):
    rows = block(0, 5)
    contact = rows["contact"]
    if damage == "missing":
        del contact["faces/pressure"]
    elif damage == "offset":
        contact["faces/offset"] = contact["faces/offset"][1:]
    elif damage == "falling":
        contact["faces/corner_offset"] = contact["faces/corner_offset"][::-1]
    else:
        contact["faces/corner"] = contact["faces/corner"][1:]
    with LogWriter(tmp_path / "a.h5", header(contact=NAMES)) as log:
        with pytest.raises(ValueError, match="append: .*faces/"):
            log.append(**rows)
        log.append(**block(0, 5))
        log.finish("complete", 0)
    with Log(tmp_path / "a.h5") as log:
        assert_holds(log, 5)


def killed(path, rows, monkeypatch):
    """A log whose process died before the time of the row after these was there."""
    log = LogWriter(path, header(contact=NAMES))
    log.append(**block(0, rows))
    log.flush()
    with monkeypatch.context() as patch:
        patch.setattr(LogWriter, "_write_rows", lambda self, *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            log.append(**block(rows, 3))
    log.flush()
    return log


def test_an_unfinished_log_has_whole_rows(tmp_path, monkeypatch):
    path = tmp_path / "a.h5"
    log = killed(path, 40, monkeypatch)
    with Log(f"{path}.partial") as read:
        assert read.row_count == 40
        assert_holds(read, 40)
    log.finish("interrupted", 130)
    with Log(path) as read:
        assert read.row_count == 40
        assert_holds(read, 40)
    with h5py.File(path) as file:
        assert len(file["faces/corner"]) == block(0, 40)["contact"]["faces/corner_offset"][-1]


def test_corners_that_are_not_there_end_an_unfinished_log(tmp_path):
    path = tmp_path / "a.h5"
    write(path, [40])
    keep = block(0, 30)["contact"]["faces/corner_offset"][-1]
    with h5py.File(path, "r+") as file:
        file["faces/pressure"].resize(keep, axis=0)
        file.attrs.modify("status", np.bytes_(b"running"))
    rows = int(np.flatnonzero(starts(CORNERS)[starts(FACES)[starts(CONTACTS)]] <= keep).max())
    with Log(path) as read:
        assert read.row_count == rows >= 30
        assert_holds(read, rows)
    recovered = recover(path, tmp_path / "b.h5")
    assert recovered.rows == rows and not recovered.damage
    with Log(tmp_path / "b.h5") as read:
        assert_holds(read, rows)


def test_recovery_keeps_faces_of_the_rows_that_it_keeps(tmp_path):
    path = tmp_path / "a.h5"
    write(path, [200])
    with h5py.File(path, "r+") as file:
        file["time"][50:60] = np.nan
    assert recover(path, tmp_path / "b.h5").dropped == 10
    with Log(tmp_path / "b.h5") as log:
        assert log.row_count == 190 and not log.damage()
        assert_holds(log, 50)
        first, second = log.faces(50, 190), block(60, 140)["contact"]
        for name in first:
            np.testing.assert_array_equal(first[name], second[name], err_msg=name)


@pytest.mark.parametrize("name", ["faces/offset", "faces/corner_offset"])
def test_damaged_offsets_are_said(tmp_path, name):
    write(tmp_path / "a.h5", [100])
    for values in ([0, 5, 2, 8], [-3, 1, 2, 3], [0, 10**12, 10**12, 10**12]):
        with h5py.File(tmp_path / "a.h5", "r+") as file:
            file[name][:4] = values
        with Log(tmp_path / "a.h5") as log:
            if log.row_count < 100:  # what does not fit counts as not written
                assert any("rows, the log" in line for line in log.damage())
            else:
                with pytest.raises(ModelError, match=r"does not fit|expected"):
                    log.faces(0, 8)


def test_logs_without_faces_say_so(tmp_path):
    with LogWriter(tmp_path / "a.h5", header(contact=None)) as log:
        log.append(time=[0.0], q=[[0.0]], v=[[0.0]])
        log.finish("complete", 0)
    with Log(tmp_path / "a.h5") as log:
        assert not log.has_faces
        for ask in (log.faces, lambda: log.surfaces(0.0)):
            with pytest.raises(KeyError, match="were not logged"):
                ask()


# ------------------------------------------------------------------------------------- exports and comparison


def test_exports_have_the_faces(tmp_path):
    path = tmp_path / "a.h5"
    write(path, [30])
    chosen = range(0, 30, 2)
    expected = [block(row, 1)["contact"] for row in chosen]
    options = ("log", "export", path, "--every", 2)
    table = list(csv.DictReader(io.StringIO(succeed(*options, "--to", "csv", "--fields", "faces").out)))
    corners = np.concatenate([part["faces/corner"] for part in expected])
    assert list(table[0])[:6] == ["time", "body_a", "body_b", "geometry_a", "geometry_b", "face"]
    np.testing.assert_array_equal([[float(line[f"corner:{axis}"]) for axis in "xyz"] for line in table], corners)
    np.testing.assert_array_equal(
        [float(line["pressure"]) for line in table], np.concatenate([part["faces/pressure"] for part in expected])
    )
    lines = succeed(*options, "--to", "jsonl", "--fields", "q,faces").out.splitlines()
    found = [face for line in lines for face in json.loads(line)["faces"]]
    np.testing.assert_array_equal(np.concatenate([face["corners"] for face in found]), corners)
    assert len(lines) == 15 and {"body_a", "geometry_b", "pressures"} <= found[0].keys()
    succeed(*options, "--to", "npz", "--fields", "faces", "-o", tmp_path / "c.npz")
    arrays = np.load(tmp_path / "c.npz")
    np.testing.assert_array_equal(arrays["faces/corner"], corners)
    np.testing.assert_array_equal(
        np.diff(arrays["faces/corner_offset"]), np.concatenate([np.diff(e["faces/corner_offset"]) for e in expected])
    )
    assert len(arrays["faces/offset"]) == len(arrays["contact/depth"]) + 1
    assert arrays["faces/offset"][-1] == len(arrays["faces/corner_offset"]) - 1


def test_what_has_a_row_a_sample_alone_refuses_faces(tmp_path):
    path = tmp_path / "a.h5"
    write(path, [5])
    refused = cli("log", "export", path, "--to", "csv", "--fields", "q,faces")
    assert refused.code == 2 and "give faces alone" in refused.err
    refused = cli("log", "export", path, "--to", "mat", "--fields", "faces", "-o", tmp_path / "a.mat")
    assert refused.code == 2 and "faces of contact surfaces have no row a sample" in refused.err
    assert not (tmp_path / "a.mat").exists()
    for command in ("show", "tail"):
        refused = cli("log", command, path, "--fields", "faces")
        assert refused.code == 2 and "have no row a sample" in refused.err, command
    succeed("log", "export", path, "-o", tmp_path / "a.mat")


def test_faces_are_compared(tmp_path):
    for name in ("a.h5", "b.h5"):
        write(tmp_path / name, [50])
    same = cli("log", "diff", tmp_path / "a.h5", tmp_path / "b.h5")
    assert same.code == 0, same.out
    place = int(starts(CORNERS)[starts(FACES)[starts(CONTACTS)[20]]])
    row = int(np.searchsorted(starts(CORNERS)[starts(FACES)[starts(CONTACTS)]], place, side="right")) - 1
    with h5py.File(tmp_path / "b.h5", "r+") as file:
        file["faces/pressure"][place] += 7.0
    result = cli("log", "diff", tmp_path / "a.h5", tmp_path / "b.h5", "--fields", "faces")
    assert result.code == 1 and f"first divergence at {row} s: faces/pressure" in result.out, result.out
    assert cli("log", "diff", tmp_path / "a.h5", tmp_path / "b.h5", "--fields", "q").code == 0


# ------------------------------------------------------------------------------------- of runs


@pytest.fixture
def run(scene):  # noqa: F811
    return ("simulate", *scene, "--duration", "0.004", "--log-rate", "1000")


def test_a_run_logs_the_faces_that_the_command_contact_gives(run, scene, tmp_path):  # noqa: F811
    path = tmp_path / "run.h5"
    succeed(*run, "--fields", "faces", "-o", path)
    (expected,) = succeed("contact", *scene, "--json", "--faces").json()["surfaces"]
    with Log(path) as log:
        (surface,) = log.surfaces(0.0)
        faces, counts = log.faces(), log.contacts()["contact/faces"]
        assert log.row_count == 5 and (np.diff(faces["faces/offset"]) == counts).all()
    assert len(surface.polygons) == expected["faces"] == max(counts)
    theirs = [np.array(polygon) for polygon in expected["polygons"]]
    for polygon, pressures, other in zip(surface.polygons, surface.pressures, theirs, strict=True):
        order = slice(None) if surface.body_a == expected["body_a"] else slice(None, None, -1)
        np.testing.assert_allclose(np.column_stack([polygon, pressures])[order], other, atol=1e-9)
    corners, pressures = surface.triangles()
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (across @ surface.normal > 0.0).all()  # counterclockwise about the normal
    areas = 0.5 * np.linalg.norm(across, axis=1)
    assert areas.sum() == pytest.approx(surface.area, rel=1e-12)
    assert areas @ pressures.mean(axis=1) / areas.sum() == pytest.approx(surface.mean_pressure, rel=1e-9)
    assert pressures.max() == surface.largest_pressure


def test_verified_and_resumed_runs_have_the_same_faces(run, scene, tmp_path):  # noqa: F811
    whole, part = tmp_path / "whole.h5", tmp_path / "part.h5"
    succeed(*run, "--fields", "poses,faces", "-o", whole)
    succeed("log", "verify", whole)
    begun = ("simulate", *scene, "--duration", "0.002", "--log-rate", "1000", "--fields", "poses,faces")
    succeed(*begun, "-o", part)
    again = (*scene[:3], *scene[-2:])
    options = [*again, "--duration", "0.004", "--log-rate", "1000", "--resume", part, "-o", tmp_path / "rest.h5"]
    refused = cli("simulate", *options, "--fields", "poses,contact")
    assert refused.code == 3 and "give the same --fields" in refused.err
    succeed("simulate", *options, "--fields", "poses,faces")
    result = cli("log", "diff", whole, tmp_path / "rest.h5")
    assert result.code == 0, result.out


def test_a_model_without_surfaces_has_no_faces(scene, tmp_path):  # noqa: F811
    succeed("simulate", scene[1], "--ground", "--duration", "0.002", "--fields", "faces", "-o", tmp_path / "a.h5")
    with Log(tmp_path / "a.h5") as log:
        assert log.has_contacts and not log.has_faces
