"""Contacts in logs: as many a row as there are, whatever the blocks; unfinished, damaged, equal and exported."""

import csv
import io
import json
import time
from dataclasses import replace

import h5py
import numpy as np
import pytest
from command_line import cli, succeed

from mbcli.errors import ModelError
from mbcli.log import provenance, writer
from mbcli.log.description import describe
from mbcli.log.fields.contact import CONTACT_FIELDS, SURFACE_FIELDS
from mbcli.log.format import ContactNames, LogHeader
from mbcli.log.reader import Log
from mbcli.log.writer import LogWriter

NAMES = ContactNames(("world", "robot::foot_é"), ("ground", "robot::sole", "robot::heel"))
COUNTS = np.random.default_rng(1).integers(0, 4, 3000)
COUNTS[700:1900] = 0
COUNTS[2000] = 1500  # more than a chunk


def header(**changes):
    values = {
        "model_name": "robot",
        "position_names": ("z",),
        "position_units": ("m",),
        "velocity_names": ("vz",),
        "velocity_units": ("m s-1",),
        "contact": NAMES,
    }
    return LogHeader(**(values | changes))


def block(first, count, fields=CONTACT_FIELDS):
    """Rows whose contacts follow from their number."""
    t = np.arange(first, first + count, dtype=float)
    start = int(COUNTS[:first].sum())
    offset = np.concatenate([[0], np.cumsum(COUNTS[first : first + count])])
    k = np.arange(start, start + offset[-1], dtype=float)
    contact = {"offset": offset}
    for n, field in enumerate(fields):
        if field.dtype == "i8":
            contact[field.path] = (k + n).astype(int) % (2 if "body" in field.path else 3)
        else:
            contact[field.path] = (k + 0.125 * n)[:, None] * [1.0, -1.0, 0.5] if field.row_shape else k + 0.125 * n
    return {"time": t, "q": t[:, None], "v": -t[:, None], "contact": contact}


def write(path, blocks, flush_every=10**9, **changes):
    done = 0
    with LogWriter(path, header(**changes)) as log:
        for number, count in enumerate(blocks):
            log.append(**block(done, count))
            done += count
            if number % flush_every == 0:
                log.flush()
        log.finish("complete", 0)


def assert_holds(log, rows, start=0):
    found, expected = log.contacts(start, start + rows), block(start, rows)["contact"]
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


def test_round_trip(tmp_path):
    write(tmp_path / "a.h5", [700, 1, 1299, 1000])
    with Log(tmp_path / "a.h5") as log:
        assert log.has_contacts and log.row_count == 3000 and log.contact_count == COUNTS.sum()
        assert log.contact_names() == NAMES
        assert_holds(log, 3000)
        assert_holds(log, 5, start=1998)
        assert log.fields() == ("time", "state/q", "state/v")
        shapes = {field["path"]: field["shape"] for field in describe(log)["fields"]}
        assert shapes["contact/force"] == [COUNTS.sum(), 3] and shapes["time"] == [3000]
    with h5py.File(tmp_path / "a.h5") as file:  # as docs/reference/log_format.md says
        offset = file["contact/offset"][:]
        assert len(offset) == 3001 and (np.diff(offset) == COUNTS).all()
        assert [name.decode() for name in file["contact"].attrs["body_names"]] == list(NAMES.body_names)


def test_contact_surfaces_have_more_datasets(tmp_path):
    path, names = tmp_path / "a.h5", replace(NAMES, surfaces=True)
    rows = block(0, 700, CONTACT_FIELDS + SURFACE_FIELDS)
    with LogWriter(path, header(contact=names)) as log:
        with pytest.raises(ValueError, match="contact/area"):
            log.append(**block(0, 700))
        log.append(**rows)
        log.finish("complete", 0)
    with Log(path) as log:
        assert log.contact_names() == names and log.contact_fields == CONTACT_FIELDS + SURFACE_FIELDS
        found = log.contacts()
        assert found.keys() == rows["contact"].keys()
        for name, values in rows["contact"].items():
            np.testing.assert_array_equal(found[name], values, err_msg=name)
        units = {field["path"]: field["units"] for field in describe(log)["fields"]}
        assert units["contact/moment"] == ["N m"] * 3 and units["contact/area"] == ["m2"]
    table = list(csv.DictReader(io.StringIO(succeed("log", "export", path, "--to", "csv", "--fields", "contact").out)))
    assert float(table[3]["area"]) == rows["contact"]["contact/area"][3] and "moment:y" in table[0]
    line = json.loads(succeed("log", "export", path, "--to", "jsonl", "--fields", "contact").out.splitlines()[0])
    assert line["contact"] == [] or "largest_pressure" in line["contact"][0]
    succeed("log", "export", path, "--to", "npz", "--fields", "contact", "-o", tmp_path / "c.npz")
    np.testing.assert_array_equal(np.load(tmp_path / "c.npz")["contact/faces"], rows["contact"]["contact/faces"])


def test_runs_without_contacts_have_none(tmp_path):
    with LogWriter(tmp_path / "a.h5", header(contact=None)) as log:
        with pytest.raises(ValueError, match="if and only if"):
            log.append(**block(0, 1))
        log.append(**{key: value for key, value in block(0, 2).items() if key != "contact"})
        log.finish("complete", 0)
    with Log(tmp_path / "a.h5") as log:
        assert not log.has_contacts and log.contact_count == 0
    assert cli("log", "export", tmp_path / "a.h5", "--to", "csv", "--fields", "contact").code == 2


@pytest.mark.parametrize("damage", ["missing", "unknown", "offset", "falling", "length", "numbers"])
def test_a_wrong_block_is_refused_whole(tmp_path, damage):
    rows = block(0, 5)
    contact = rows["contact"]
    if damage == "missing":
        del contact["contact/depth"]
    elif damage == "unknown":
        contact["contact/mood"] = contact["contact/depth"]
    elif damage == "offset":
        contact["offset"] = contact["offset"][1:]
    elif damage == "falling":
        contact["offset"] = contact["offset"][::-1]
    elif damage == "length":
        contact["contact/force"] = contact["contact/force"][1:]
    else:
        contact["contact/body_a"] = contact["contact/body_a"] + 0.5
    with LogWriter(tmp_path / "a.h5", header()) as log:
        with pytest.raises((ValueError, TypeError)):
            log.append(**rows)
        log.append(**block(0, 5))
        log.finish("complete", 0)
    with Log(tmp_path / "a.h5") as log:
        assert_holds(log, 5)


def test_equal_runs_give_equal_files_however_they_cut_the_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "FLUSH_SECONDS", 1e9)
    for module in (provenance, writer):
        monkeypatch.setattr(module, "utc_now", lambda: "2026-01-01T00:00:00Z")
    cuts = {"a": [3000], "b": [1] * 1100 + [950] + [3] * 310 + [20], "c": [512] * 5 + [440]}
    contents = {}
    for number, (name, blocks) in enumerate(cuts.items()):
        assert sum(blocks) == 3000
        write(tmp_path / f"{name}.h5", blocks, flush_every=3 + 4 * number)
        content = np.frombuffer((tmp_path / f"{name}.h5").read_bytes(), dtype="u1").copy()
        with h5py.File(tmp_path / f"{name}.h5") as file:
            clock = file["run/wall_time"]
            content[clock.id.get_offset() : clock.id.get_offset() + 8] = 0
        contents[name] = content
    assert len(contents["a"]) == len(contents["b"]) == len(contents["c"])
    np.testing.assert_array_equal(np.flatnonzero(contents["a"] != contents["b"]), [])
    np.testing.assert_array_equal(np.flatnonzero(contents["a"] != contents["c"]), [])


def test_an_unfinished_log_has_whole_rows(tmp_path, monkeypatch):
    """Between any two writes of a row the log reads as the rows before it."""
    log = LogWriter(tmp_path / "a.h5", header())
    log.append(**block(0, 3))
    log.flush()
    write_rows = LogWriter._write_rows
    monkeypatch.setattr(LogWriter, "_write_rows", lambda self, *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):  # the contacts of the fourth row are there, the row is not
        log.append(**block(3, 1))
    log.flush()
    with Log(tmp_path / "a.h5.partial") as read:
        assert read.row_count == 3
        assert_holds(read, 3)
    monkeypatch.setattr(LogWriter, "_write_rows", write_rows)
    log.finish("interrupted", 130)
    with Log(tmp_path / "a.h5") as read:
        assert read.row_count == 3 and read.contact_count == COUNTS[:3].sum()
        assert_holds(read, 3)
    with h5py.File(tmp_path / "a.h5") as file:
        assert len(file["contact/depth"]) == COUNTS[:3].sum()


def test_damaged_offsets_are_said(tmp_path):
    write(tmp_path / "a.h5", [100])
    for values in ([0, 5, 2, 8], [-3, 1, 2, 3], [0, 10**12, 10**12, 10**12]):
        with h5py.File(tmp_path / "a.h5", "r+") as file:
            file["contact/offset"][:4] = values
        with pytest.raises(ModelError, match="does not fit"), Log(tmp_path / "a.h5") as log:
            assert log.row_count in (0, 100)
            log.contacts(0, 3)


def test_a_time_is_no_row_of_contacts(tmp_path):
    write(tmp_path / "a.h5", [30])
    with Log(tmp_path / "a.h5") as log:
        for ask in (log.contacts, log.faces):
            with pytest.raises(TypeError, match="float"):
                ask(2.0)


def test_csv_has_a_line_for_each_contact(tmp_path):
    write(tmp_path / "a.h5", [30])
    out = succeed("log", "export", tmp_path / "a.h5", "--to", "csv", "--fields", "contact", "--every", "2").out
    table = list(csv.DictReader(io.StringIO(out)))
    assert len(table) == COUNTS[0:30:2].sum()
    assert list(table[0])[:6] == ["time", "body_a", "body_b", "geometry_a", "geometry_b", "point:x"]
    row = next(t for t in range(0, 30, 2) if COUNTS[t])
    first, expected = table[0], block(row, 1)["contact"]
    assert float(first["time"]) == row and first["body_b"] in NAMES.body_names
    assert float(first["depth"]) == expected["contact/depth"][0]
    assert [float(first[f"force:{axis}"]) for axis in "xyz"] == expected["contact/force"][0].tolist()
    assert first["geometry_a"] == NAMES.geometry_names[expected["contact/geometry_a"][0]]
    refused = cli("log", "export", tmp_path / "a.h5", "--to", "csv", "--fields", "q,contact")
    assert refused.code == 2 and "give contact alone" in refused.err
    assert "contact" not in succeed("log", "export", tmp_path / "a.h5", "--to", "csv").out.splitlines()[0]


def test_json_lines_have_a_list_in_each_row(tmp_path):
    write(tmp_path / "a.h5", [20])
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file["contact/force"][0] = np.nan
    out = succeed("log", "export", tmp_path / "a.h5", "--to", "jsonl", "--fields", "q,contact").out
    lines = [json.loads(line) for line in out.splitlines()]
    assert [len(line["contact"]) for line in lines] == COUNTS[:20].tolist()
    some = [contact for line in lines for contact in line["contact"]]
    assert some[0]["force"] == [None, None, None] and some[1]["force"] == [1.875, -1.875, 0.9375]
    assert set(some[1]) == {field.path.removeprefix("contact/") for field in CONTACT_FIELDS}


def test_npz_has_the_datasets_and_the_names(tmp_path):
    write(tmp_path / "a.h5", [2500])
    succeed(
        "log", "export", tmp_path / "a.h5", "--to", "npz", "--fields", "contact", "--every", 3, "-o", tmp_path / "c.npz"
    )
    arrays = np.load(tmp_path / "c.npz")
    counts = COUNTS[:2500:3]
    np.testing.assert_array_equal(np.diff(arrays["contact/offset"]), counts)
    kept = np.repeat(np.arange(2500) % 3 == 0, COUNTS[:2500])
    np.testing.assert_array_equal(arrays["contact/point"], block(0, 2500)["contact"]["contact/point"][kept])
    assert arrays["contact/body_names"].tolist() == list(NAMES.body_names) and len(arrays["time"]) == len(counts)


def test_thousands_of_names_fit(tmp_path):
    names = ContactNames(tuple(f"pile::body_{n:05d}" for n in range(9000)), ("ground",))
    write(tmp_path / "a.h5", [10], contact=names)
    with Log(tmp_path / "a.h5") as log:
        assert log.contact_names() == names


def test_memory_stays_flat(tmp_path):
    """A long run is written and exported in pieces."""
    import tracemalloc

    rows = block(0, 500)
    with LogWriter(tmp_path / "a.h5", header()) as log:
        for n in range(40):
            log.append(**(rows | {"time": rows["time"] + 500 * n}))
        log.finish("complete", 0)
    began = time.monotonic()
    tracemalloc.start()
    succeed("log", "export", tmp_path / "a.h5", "--to", "npz", "--fields", "contact", "-o", tmp_path / "c.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6 and time.monotonic() - began < 60.0
