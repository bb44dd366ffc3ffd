"""Damage inside of a log: checksums find it wherever it is, and the message names the part."""

import os

import h5py
import numpy as np
import pytest
from command_line import cli
from test_log_writer import ENERGY, arm_header, rows

from mbcli.errors import ModelError
from mbcli.log.fields.contact import CONTACT_FIELDS, OFFSET
from mbcli.log.format import ContactNames
from mbcli.log.reader import Log
from mbcli.log.writer import LogWriter

ROWS = 2500
UNCHECKED = {"run/created_utc", "run/finished_utc", "run/wall_time"}  # one number or time of day each


def contacts(first, count):
    """One contact a row, of numbers that follow from the row."""
    t = np.arange(first, first + count, dtype=float)
    values = {
        field.path: np.multiply.outer(t, np.ones(field.row_shape)).astype(field.dtype) for field in CONTACT_FIELDS
    }
    return {"offset": np.arange(count + 1), **values}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.h5"
    with LogWriter(path, arm_header(contact=ContactNames(("world", "arm"), ("floor", "hand")))) as log:
        log.append(**rows(0, ROWS), contact=contacts(0, ROWS))
        log.event(0.1, 1, "warning", "CONTACT_OVERFLOW", "too many contacts")
        log.checkpoint({"q": [1.0, 2.0], "row": 7})
        log.finish("complete", 0)
    return path


def stored_parts(path):
    """{dataset: [(first byte, size)]} of all that a log stores outside of HDF5's own metadata."""
    with h5py.File(path) as file:
        found = {}

        def add(name, item):
            if isinstance(item, h5py.Dataset) and item.size:
                if item.chunks:
                    infos = [item.id.get_chunk_info(k) for k in range(item.id.get_num_chunks())]
                    found[name] = [(info.byte_offset, info.size) for info in infos]
                else:
                    found[name] = [(item.id.get_offset(), item.id.get_storage_size())]

        file.visititems(add)
    return found


def spoil(path, start, size, seed=0):
    """Other bytes in a piece of the file."""
    with open(path, "r+b") as file:
        file.seek(start)
        content = np.frombuffer(file.read(size), dtype="u1")
        file.seek(start)
        file.write((content ^ np.random.default_rng(seed).integers(1, 256, size, dtype="u1")).tobytes())


def test_damage_in_every_part_of_every_dataset_is_named(path):
    untouched = path.read_bytes()
    parts = stored_parts(path)
    assert {"time", "state/q", "state/v", ENERGY, "events", "model/resolved", "config/resolved", OFFSET} <= set(parts)
    for name, pieces in parts.items():
        for start, size in pieces:
            path.write_bytes(untouched)
            spoil(path, start + size // 3, max(1, size // 3))
            info = cli("log", "info", path)
            if name in UNCHECKED and info.code == 0:
                continue
            expected = "time" if name == "time" else name
            if name in ("checkpoint/q", "checkpoint/row", "checkpoint/sequence"):
                if info.code == 0:  # the slot that is not the newest
                    continue
                expected = "checkpoint/"
            assert info.code == 3 and expected in info.err and "damaged" in info.err, (name, info.err)


def test_damaged_rows_are_named_and_the_rest_is_read(path):
    start, size = stored_parts(path)["state/q"][1]
    spoil(path, start, size)
    info = cli("log", "info", path)
    assert info.code == 3 and info.err == f"{path}: error: is damaged: state/q, rows 1024 to 2047: wrong checksum\n"
    assert "complete log of arm" in info.out
    exported = cli("log", "export", path, "--to", "csv", "--fields", "q")
    assert exported.code == 3 and "state/q, rows 1024 to 2047: wrong checksum" in exported.err
    assert cli("log", "export", path, "--to", "csv", "--fields", "v").code == 0
    with Log(path) as log, pytest.raises(ModelError, match="state/q, rows 1024 to 2047"):
        _ = log.q


def test_many_random_bytes_never_pass(path):
    """200 kB in the middle of a larger log, as a bad disk leaves them."""
    large = path.with_name("large.h5")
    with LogWriter(large, arm_header()) as log:
        log.append(**rows(0, 40_000) | {"q": np.random.default_rng(1).normal(size=(40_000, 2))})
        log.finish("complete", 0)
    spoil(large, os.path.getsize(large) // 2, 200_000)
    for command in (("info", large), ("export", large, "--to", "csv"), ("export", large, "--to", "jsonl")):
        result = cli("log", *command)
        assert result.code == 3 and "is damaged" in result.err


@pytest.mark.parametrize("wrong", [[0.0, 2.0, 1.0, 3.0], [0.0, 1.0, 1.0, 2.0], [0.0, np.inf, np.inf, np.inf]])
def test_times_that_do_not_increase_are_damage(path, wrong):
    with h5py.File(path, "r+") as file:
        file["time"][500:504] = 500.0 + np.array(wrong)
    with pytest.raises(ModelError, match=r"a\.h5: error: is damaged: the time of row 50\d does not increase"):
        Log(path)


def test_a_finished_log_has_all_datasets_to_the_last_row(path):
    with h5py.File(path, "r+") as file:
        file["state/v"].resize(2000, axis=0)
    info = cli("log", "info", path)
    assert info.code == 3 and "time has 2500 rows, the log 2000" in info.err


def test_a_log_without_checksums_is_read(path, tmp_path):
    """As earlier versions wrote them."""
    with h5py.File(path) as new, h5py.File(tmp_path / "old.h5", "w") as old:
        for name in new:
            new.copy(name, old)
        del old["state/q"]
        old.create_dataset("state/q", data=new["state/q"][:])
        for place in ("/", "state/q"):
            old[place].attrs.update(new[place].attrs)
    with Log(tmp_path / "old.h5") as log, Log(path) as expected:
        np.testing.assert_array_equal(log.q, expected.q)
        assert log.damage() == []


@pytest.mark.parametrize("name", ["time", "state/q", "state/v", ENERGY])
def test_a_last_chunk_half_replaced_by_a_killed_writer_is_read(tmp_path, name):
    """The older rows are the same before and after; the checksum is of one of the two."""
    log = LogWriter(tmp_path / "a.h5", arm_header())
    log.append(**rows(0, 1500))
    log.flush()
    partial = tmp_path / "a.h5.partial"
    before = partial.read_bytes()
    start, size = stored_parts_of_running(partial)[name]
    log.append(**rows(1500, 300))
    log.flush()
    after = partial.read_bytes()
    half = start + size // 2
    (tmp_path / "killed.h5").write_bytes(before[:start] + after[start:half] + before[half:])
    log.finish("complete", 0)
    with Log(tmp_path / "killed.h5") as killed:
        expected = rows(0, killed.row_count)
        assert killed.row_count == 1500
        for path, values in (("time", "time"), ("state/q", "q"), ("state/v", "v"), (ENERGY, ENERGY)):
            np.testing.assert_array_equal(killed.field(path), expected[values])
        assert killed.damage() == []


def stored_parts_of_running(path):
    """{dataset: (first byte, size)} of the last chunk of each."""
    with h5py.File(path, "r", swmr=True) as file:
        found = {}
        for name in ("time", "state/q", "state/v", ENERGY):
            item = file[name].id
            info = item.get_chunk_info(item.get_num_chunks() - 1)
            found[name] = (info.byte_offset, info.size)
    return found
