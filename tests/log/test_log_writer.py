"""The log writer: what it refuses, what survives, and that equal runs give equal files."""

import gc
import hashlib
import os
import resource
import signal
import subprocess
import sys
import time
import tracemalloc

import h5py
import numpy as np
import pytest
from mbcli.parsers.spec import SourceFile

from mbcli.errors import NumericalError, OutputError
from mbcli.log import provenance, writer
from mbcli.log.datasets import Field
from mbcli.log.fields import STANDARD_FIELDS
from mbcli.log.format import LogHeader
from mbcli.log.reader import Log
from mbcli.log.writer import LogWriter

ENERGY = "derived/energy_kinetic"
URDF = b"<robot name='arm'/>"


def arm_header(**changes):
    values = {
        "model_name": "arm",
        "position_names": ("shoulder_q", "elbow_q"),
        "position_units": ("rad", "rad"),
        "velocity_names": ("shoulder_w", "elbow_w"),
        "velocity_units": ("rad s-1", "rad s-1"),
        "fields": (STANDARD_FIELDS[ENERGY],),
        "sources": (SourceFile("models/arm.urdf", hashlib.sha256(URDF).hexdigest(), URDF),),
        "config": "time_step: 0.001\n",
        "model": '{"name": "arm"}',
        "argv": ("mbcli", "simulate", "arm.urdf"),
        "checkpoint": {"q": np.zeros(2), "row": 0},
    }
    return LogHeader(**(values | changes))


def rows(first, count):
    """Rows whose every number follows from the row number."""
    t = np.arange(first, first + count, dtype=float)
    return {"time": t, "q": np.outer(t, [1.0, 2.0]), "v": np.outer(t, [-1.0, -2.0]), ENERGY: 0.5 * t}


def test_round_trip_is_exact(tmp_path):
    rng = np.random.default_rng(4)
    count = 3000
    q, v = rng.normal(size=(count, 2)), rng.normal(size=(count, 2))
    t, energy = np.cumsum(rng.uniform(1e-6, 1.0, count)), rng.normal(size=count)
    with LogWriter(tmp_path / "a.h5", arm_header()) as log:
        for start in range(0, count, 700):
            block = slice(start, start + 700)
            log.append(time=t[block], q=q[block], v=v[block], **{ENERGY: energy[block]})
        log.finish("complete", 0)
    with Log(tmp_path / "a.h5") as log:
        np.testing.assert_array_equal(log.times, t)
        np.testing.assert_array_equal(log.q, q)
        np.testing.assert_array_equal(log.v, v)
        np.testing.assert_array_equal(log.field(ENERGY), energy)
    assert not (tmp_path / "a.h5.partial").exists()


def test_an_ordinary_h5py_file_with_dimension_scale_units_and_names(tmp_path):
    with LogWriter(tmp_path / "a.h5", arm_header()) as log:
        log.append(**rows(0, 5))
        log.finish("complete", 0)
    with h5py.File(tmp_path / "a.h5") as file:
        assert file.attrs["status"] == b"complete"
        q = file["state/q"]
        assert q.dtype == np.float64
        assert [name.decode() for name in q.attrs["names"]] == ["shoulder_q", "elbow_q"]
        assert [unit.decode() for unit in q.attrs["units"]] == ["rad", "rad"]
        assert q.dims[0]["time"] == file["time"]
        assert file["config/resolved"][()] == b"time_step: 0.001\n"


@pytest.mark.parametrize("status, code", [("complete", 0), ("interrupted", 130), ("failed", 5)])
def test_every_end_closes_and_renames(tmp_path, status, code):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    log.append(**rows(0, 3))
    log.finish(status, code, "because")
    assert os.listdir(tmp_path) == ["a.h5"]
    with Log(tmp_path / "a.h5") as read:
        assert (read.status, read.attrs["exit_code"], read.attrs["message"]) == (status, code, "because")
        assert read.row_count == 3
    with pytest.raises(ValueError, match="closed"):
        log.append(**rows(3, 1))


@pytest.mark.parametrize(
    "error, status, code",
    [
        (NumericalError("q is nan"), "failed", 5),
        (KeyboardInterrupt(), "interrupted", 130),
        (ZeroDivisionError("division by zero"), "failed", 70),
        (SystemExit(), "interrupted", 143),  # stands for every exception that is no Exception, as of SIGTERM
    ],
)
def test_an_exception_ends_the_log(tmp_path, error, status, code):
    with pytest.raises(type(error)), LogWriter(tmp_path / "a.h5", arm_header()) as log:
        log.append(**rows(0, 3))
        raise error
    with Log(tmp_path / "a.h5") as read:
        assert (read.status, read.attrs["exit_code"], read.row_count) == (status, code, 3)


def test_an_interrupt_between_two_datasets_leaves_no_half_row(tmp_path, monkeypatch):
    def interrupted(self, rows, start, count):
        self._datasets["state/q"].resize(self.row_count + count, axis=0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), LogWriter(tmp_path / "a.h5", arm_header()) as log:
        log.append(**rows(0, 3))
        monkeypatch.setattr(LogWriter, "_write_rows", interrupted)
        log.append(**rows(3, 3))
    with h5py.File(tmp_path / "a.h5") as file:
        assert {len(file[path]) for path in ("time", "state/q", "state/v", ENERGY)} == {3}


def test_a_log_without_end_is_failed(tmp_path):
    with LogWriter(tmp_path / "a.h5", arm_header()):
        pass
    with Log(tmp_path / "a.h5") as read:
        assert (read.status, read.attrs["exit_code"]) == ("failed", 70)


# ------------------------------------------------------------------------------------------- refusals


def without(name, block):
    return {key: value for key, value in block.items() if key != name}


@pytest.mark.parametrize(
    "block, message",
    [
        (rows(2, 3) | {"q": np.zeros((2, 2))}, r"state/q has shape \(2, 2\), expected \(3, 2\)"),
        (rows(2, 3) | {"v": np.zeros((3, 3))}, r"state/v has shape \(3, 3\), expected \(3, 2\)"),
        (rows(2, 3) | {ENERGY: np.zeros((3, 1))}, r"energy_kinetic has shape \(3, 1\), expected \(3,\)"),
        (without(ENERGY, rows(2, 3)), "missing derived/energy_kinetic"),
        (rows(2, 3) | {"solver/step_size": np.zeros(3)}, "not declared solver/step_size"),
        (rows(1, 3), "time 1.0 of row 2 does not increase"),
        (rows(2, 3) | {"time": [2.0, 4.0, 4.0]}, "time 4.0 of row 4 does not increase"),
        (rows(2, 3) | {"time": [2.0, np.nan, 4.0]}, "time nan of row 3 does not increase"),
        (rows(2, 3) | {"time": [2.0, 3.0, np.inf]}, "time inf of row 4 does not increase"),
        (rows(2, 3) | {"time": [[2.0], [3.0], [4.0]]}, "time has shape"),
    ],
)
def test_a_wrong_block_is_refused_whole(tmp_path, block, message):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    log.append(**rows(0, 2))
    with pytest.raises(ValueError, match=message):
        log.append(**block)
    log.append(**rows(2, 2))
    log.finish("complete", 0)
    with h5py.File(tmp_path / "a.h5") as file:
        assert {len(file[path]) for path in ("time", "state/q", "state/v", ENERGY)} == {4}
        np.testing.assert_array_equal(file["time"], [0.0, 1.0, 2.0, 3.0])


def test_complex_numbers_are_not_cut_to_reals(tmp_path):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    with pytest.raises(TypeError, match="Cannot cast"):
        log.append(**(rows(0, 2) | {"q": np.full((2, 2), 1j)}))
    log.finish("complete", 0)


def test_an_existing_log_is_refused_and_kept_without_force(tmp_path):
    path = tmp_path / "a.h5"
    path.write_bytes(b"precious")
    with pytest.raises(OutputError, match="a.h5: error: exists already; force=True") as error:
        LogWriter(path, arm_header())
    assert error.value.exit_code == 6
    assert path.read_bytes() == b"precious"
    LogWriter(path, arm_header(), force=True).finish("complete", 0)
    with Log(path) as log:
        assert log.status == "complete"


def test_what_an_earlier_run_left_is_refused_and_kept_without_force(tmp_path):
    partial = tmp_path / "a.h5.partial"
    partial.write_bytes(b"precious")
    with pytest.raises(OutputError, match="did not finish"):
        LogWriter(tmp_path / "a.h5", arm_header())
    assert partial.read_bytes() == b"precious"
    LogWriter(tmp_path / "a.h5", arm_header(), force=True).finish("complete", 0)
    assert os.listdir(tmp_path) == ["a.h5"]


def test_a_file_created_meanwhile_is_not_overwritten(tmp_path):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    log.append(**rows(0, 3))
    (tmp_path / "a.h5").write_bytes(b"precious")
    with pytest.raises(OutputError, match="created by another program; this log is .*a.h5.partial"):
        log.finish("complete", 0)
    assert (tmp_path / "a.h5").read_bytes() == b"precious"
    with Log(tmp_path / "a.h5.partial") as read:
        assert read.row_count == 3


def test_a_folder_is_no_log(tmp_path):
    with pytest.raises(OutputError, match="is a folder"):
        LogWriter(tmp_path, arm_header(), force=True)


def test_a_missing_folder_is_an_output_error_of_one_line(tmp_path):
    with pytest.raises(OutputError, match="cannot be written: No such file or directory") as error:
        LogWriter(tmp_path / "no" / "a.h5", arm_header())
    assert "\n" not in str(error.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_is_an_output_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="cannot be written: Permission denied"):
        LogWriter(tmp_path / "a.h5", arm_header())


def test_a_folder_that_nobody_can_write_is_an_output_error():
    with pytest.raises(OutputError, match="cannot be written"):
        LogWriter("/proc/a.h5", arm_header())


def test_a_header_that_does_not_fit_leaves_no_file(tmp_path):
    for header in (
        lambda: arm_header(position_units=("rad",)),
        lambda: arm_header(fields=(STANDARD_FIELDS[ENERGY],) * 2),
        lambda: arm_header(checkpoint={"sequence": 0}),
        lambda: arm_header(checkpoint={"name": "text"}),
        lambda: arm_header(fields=(Field("contact/depth", "m"),)),
        lambda: arm_header(fields=(Field("derived/../x", "m"),)),
        lambda: arm_header(fields=(Field("derived/x", ""),)),
        lambda: arm_header(fields=(Field("derived/x", "m", dtype="f2"),)),
    ):
        with pytest.raises(ValueError):
            LogWriter(tmp_path / "a.h5", header())
    assert os.listdir(tmp_path) == []


def test_a_final_status_and_a_severity_are_of_the_list(tmp_path):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    with pytest.raises(ValueError, match="status 'running'"):
        log.finish("running", 0)
    with pytest.raises(ValueError, match="severity 'fatal'"):
        log.event(0.0, 0, "fatal", "X", "")
    log.finish("complete", 0)


# ------------------------------------------------------------------------------------ unusual contents


def test_a_log_without_rows_is_valid(tmp_path):
    LogWriter(tmp_path / "a.h5", arm_header()).finish("failed", 5)
    with Log(tmp_path / "a.h5") as log:
        assert log.row_count == 0
        assert log.q.shape == (0, 2)
        assert list(log.chunks()) == []


def test_a_model_without_coordinates_has_rows_of_width_zero(tmp_path):
    empty = dict.fromkeys(("position_names", "position_units", "velocity_names", "velocity_units"), ())
    header = arm_header(**empty, checkpoint={"q": np.zeros(0)})
    with LogWriter(tmp_path / "a.h5", header) as log:
        log.append(**(rows(0, 3) | {"q": np.zeros((3, 0)), "v": np.zeros((3, 0))}))
        log.checkpoint({"q": np.zeros(0)})
        log.finish("complete", 0)
    with Log(tmp_path / "a.h5") as log:
        assert log.q.shape == (3, 0)
        assert log.position_names == ()


def test_unicode_names_and_paths(tmp_path):
    header = arm_header(
        model_name="Arm №1",
        position_names=("плечо_q", "肘_q"),
        sources=(SourceFile("/дом/рука с пробелом.urdf", hashlib.sha256(URDF).hexdigest(), URDF),),
        config="# größe\n",
        actuator_names=("мотор",),
        actuator_units=("N m",),
    )
    with LogWriter(tmp_path / "größe.h5", header) as log:
        log.event(0.0, 0, "info", "ГОТОВО", "é" * 1000)
        log.finish("complete", 0, "конец" * 100)
    with Log(tmp_path / "größe.h5") as log:
        assert log.position_names == ("плечо_q", "肘_q")
        assert log.actuator_names == ("мотор",)
        assert log.attrs["model_name"] == "Arm №1"
        assert log.config == "# größe\n"
        assert log.read_sources()[0].path == "/дом/рука с пробелом.urdf"
        assert log.events()[0]["message"] == "é" * 120  # cut to 240 bytes, between characters
        assert ("конец" * 100).startswith(log.attrs["message"])
        assert len(log.attrs["message"]) == 120


def test_long_lists_of_names_fit(tmp_path):
    count = 3000
    names = tuple(f"a_joint_with_a_long_name_{i}_q" for i in range(count))
    header = arm_header(
        position_names=names,
        position_units=("rad",) * count,
        argv=("mbcli", *names),
        checkpoint={},
    )
    LogWriter(tmp_path / "a.h5", header).finish("complete", 0)
    with Log(tmp_path / "a.h5") as log:
        assert log.position_names == names
        assert log.attrs["argv"] == ["mbcli", *names]


@pytest.mark.parametrize("name", ["../../etc/passwd", "a b\n\x1b[31m.urdf", ".", "..", "", "x" * 400, "-rf"])
def test_source_files_get_harmless_names_and_keep_their_paths(tmp_path, name):
    digest = hashlib.sha256(URDF).hexdigest()
    header = arm_header(sources=(SourceFile(name, digest, URDF), SourceFile(name, digest, URDF)))
    LogWriter(tmp_path / "a.h5", header).finish("complete", 0)
    with h5py.File(tmp_path / "a.h5") as file:
        stored = list(file["model/source"])
    assert len(set(stored)) == 2
    assert all(len(s) <= 110 and s[0].isdigit() and set(s).isdisjoint("/ \n\x1b") for s in stored)
    with Log(tmp_path / "a.h5") as log:
        assert [(s.path, s.content) for s in log.read_sources()] == [(name, URDF)] * 2


def test_an_empty_source_file_is_kept(tmp_path):
    header = arm_header(sources=(SourceFile("a", hashlib.sha256(b"").hexdigest(), b""),), config="")
    LogWriter(tmp_path / "a.h5", header).finish("complete", 0)
    with Log(tmp_path / "a.h5") as log:
        assert log.read_sources()[0].content == b""
        assert log.config == ""


# --------------------------------------------------------------------------------------- checkpoints


def test_the_newest_checkpoint_is_read(tmp_path):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    with Log(tmp_path / "a.h5.partial") as read:
        assert read.read_checkpoint() is None
    for row in range(1, 6):
        log.checkpoint({"q": [row, row], "row": row})
        with Log(tmp_path / "a.h5.partial") as read:
            checkpoint = read.read_checkpoint()
            assert checkpoint["row"] == row
            np.testing.assert_array_equal(checkpoint["q"], [row, row])
    log.finish("complete", 0)


def test_a_half_written_checkpoint_is_not_read(tmp_path, monkeypatch):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    for row in (1, 2):
        log.checkpoint({"q": [row, row], "row": row})

    def killed():
        raise KeyboardInterrupt

    monkeypatch.setattr(log, "_flush", killed)
    with pytest.raises(KeyboardInterrupt):
        log.checkpoint({"q": [3, 3], "row": 3})
    monkeypatch.undo()
    log.flush()
    with Log(tmp_path / "a.h5.partial") as read:
        assert read.read_checkpoint()["row"] == 2
    log.finish("interrupted", 130)


def test_a_checkpoint_of_other_names_or_shapes_is_refused(tmp_path):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    with pytest.raises(ValueError, match="missing row"):
        log.checkpoint({"q": [0, 0]})
    with pytest.raises(ValueError, match=r"checkpoint q: shape \(3,\), expected \(2,\)"):
        log.checkpoint({"q": [0, 0, 0], "row": 1})
    log.finish("complete", 0)
    log = LogWriter(tmp_path / "b.h5", arm_header(checkpoint={}))
    with pytest.raises(ValueError, match="declares no checkpoint"):
        log.checkpoint({})
    log.finish("complete", 0)


# ---------------------------------------------------------------------------------------- equal files


def write_run(path, monkeypatch, *, flush_every, blocks, created):
    """The same rows, in other blocks, flushed at other times, on another day."""
    monkeypatch.setattr(provenance, "utc_now", lambda: created)
    monkeypatch.setattr(writer, "utc_now", lambda: created)
    monkeypatch.setattr(writer, "FLUSH_SECONDS", 1e9)
    done = 0
    with LogWriter(path, arm_header(seed=3)) as log:
        for number, count in enumerate(blocks):
            log.append(**rows(done, count))
            done += count
            if number % flush_every == 0:
                log.flush()
            if done % 1000 == 0:
                log.checkpoint({"q": [done, done], "row": done})
                log.event(float(done), done, "info", "MARK", f"row {done}")
        log.finish("complete", 0)


def test_equal_runs_differ_only_in_the_clock_of_run(tmp_path, monkeypatch):
    write_run(
        tmp_path / "a.h5",
        monkeypatch,
        flush_every=1,
        blocks=[1000] * 10,
        created="2026-01-01T00:00:00Z",
    )
    time.sleep(1.1)  # HDF5 would store modification times in seconds
    write_run(tmp_path / "b.h5", monkeypatch, flush_every=7, blocks=[200] * 50, created="2031-12-24T18:30:00Z")
    a, b = (np.frombuffer((tmp_path / name).read_bytes(), dtype="u1").copy() for name in ("a.h5", "b.h5"))
    assert len(a) == len(b)
    assert np.any(a != b)
    with h5py.File(tmp_path / "a.h5") as file:
        for dataset in file["run"].values():
            start = dataset.id.get_offset()
            a[start : start + dataset.id.get_storage_size()] = 0
            b[start : start + dataset.id.get_storage_size()] = 0
    np.testing.assert_array_equal(np.flatnonzero(a != b), [])


def test_short_runs_give_small_files(tmp_path):
    for name, expected in (("known.h5", 10), ("unknown.h5", None)):
        with LogWriter(tmp_path / name, arm_header(expected_rows=expected)) as log:
            log.append(**rows(0, 10))
            log.finish("complete", 0)
    known, unknown = (os.path.getsize(tmp_path / name) for name in ("known.h5", "unknown.h5"))
    assert known <= unknown < 20_000
    with Log(tmp_path / "known.h5") as log:
        np.testing.assert_array_equal(log.times, np.arange(10))


# -------------------------------------------------------------------------------- death of the process

WRITE_UNTIL_KILLED = """
import itertools, sys
from test_log_writer import LogWriter, arm_header, rows

log = LogWriter(sys.argv[1], arm_header(), force=True)
done = 0
for block in itertools.count():
    count = 1 + 97 * block % 1024
    log.append(**rows(done, count))
    done += count
    if block % 5 == 0:
        log.flush()
        print(done, flush=True)
    if block % 8 == 0:
        log.checkpoint({"q": [done, done], "row": done})
"""


def start(program, path):
    here = os.path.dirname(__file__)
    return subprocess.Popen(
        [sys.executable, "-c", program, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=here
    )


def test_kill_9_leaves_a_log_that_opens_with_every_flushed_row(tmp_path):
    rng = np.random.default_rng(9)
    for _ in range(5):
        process = start(WRITE_UNTIL_KILLED, str(tmp_path / "a.h5"))
        process.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.2))
        process.kill()
        told, _ = process.communicate()
        flushed = int(told.split()[-1]) if told else 1
        with Log(tmp_path / "a.h5.partial") as log:
            assert log.status == "running"
            assert not log.finished
            assert log.row_count >= flushed
            expected = rows(0, log.row_count)
            np.testing.assert_array_equal(log.times, expected["time"])
            np.testing.assert_array_equal(log.q, expected["q"])
            np.testing.assert_array_equal(log.v, expected["v"])
            np.testing.assert_array_equal(log.field(ENERGY), expected[ENERGY])
            checkpoint = log.read_checkpoint()
            assert checkpoint is not None
            np.testing.assert_array_equal(checkpoint["q"], [checkpoint["row"]] * 2)
            assert 0 < checkpoint["row"] <= log.row_count


def test_rows_are_on_disk_after_half_a_second_without_a_flush_by_the_caller(tmp_path):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    log.append(**rows(0, 1))
    time.sleep(writer.FLUSH_SECONDS + 0.05)
    log.flush_if_due()
    with Log(tmp_path / "a.h5.partial") as read:
        assert read.row_count == 1
    log.finish("complete", 0)


def test_many_rows_are_flushed_without_waiting(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "FLUSH_SECONDS", 1e9)
    log = LogWriter(tmp_path / "a.h5", arm_header())
    log.append(**rows(0, writer.FLUSH_ROWS))
    with Log(tmp_path / "a.h5.partial") as read:
        assert read.row_count == writer.FLUSH_ROWS
    log.finish("complete", 0)


# The handler only takes a note: an exception raised inside of h5py can get lost in its compiled code.
WRITE_UNTIL_INTERRUPTED = """
import itertools, signal, sys
from test_log_writer import LogWriter, arm_header, rows

seen = []
signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
with LogWriter(sys.argv[1], arm_header()) as log:
    print("started", flush=True)
    for block in itertools.count():
        log.append(**rows(100 * block, 100))
        if seen:
            raise KeyboardInterrupt
"""


def test_ctrl_c_closes_the_log_as_interrupted(tmp_path):
    process = start(WRITE_UNTIL_INTERRUPTED, str(tmp_path / "a.h5"))
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert os.listdir(tmp_path) == ["a.h5"]
    with Log(tmp_path / "a.h5") as log:
        assert (log.status, log.attrs["exit_code"]) == ("interrupted", 130)
        assert log.row_count > 0
        np.testing.assert_array_equal(log.q, rows(0, log.row_count)["q"])


WRITE_UNTIL_FULL = """
import itertools, resource, signal, sys
from mbcli.errors import OutputError
from test_log_writer import LogWriter, arm_header, rows

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))  # the system refuses to write more
try:
    with LogWriter(sys.argv[1], arm_header()) as log:
        for block in itertools.count():
            log.append(**rows(100 * block, 100))
            log.flush()
except OutputError as error:
    print(error)
    raise SystemExit(error.exit_code)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit on the size of files")
def test_a_full_disk_is_an_output_error_that_keeps_the_rows(tmp_path):
    process = start(WRITE_UNTIL_FULL, str(tmp_path / "a.h5"))
    said, complaints = process.communicate()
    assert process.returncode == 6
    assert complaints == ""
    assert "cannot be written: File too large" in said
    assert said.count("\n") == 1
    assert os.listdir(tmp_path) == ["a.h5.partial"]
    with Log(tmp_path / "a.h5.partial") as log:
        assert log.row_count > 1000
        np.testing.assert_array_equal(log.q, rows(0, log.row_count)["q"])


# ------------------------------------------------------------------------------------------- memory


def test_memory_stays_flat_over_many_rows(tmp_path):
    with LogWriter(tmp_path / "a.h5", arm_header()) as log:
        log.append(**rows(0, 1024))
        block = rows(0, 1024)
        used = np.zeros((400, 2), dtype=np.int64)  # a list would be measured with the rest
        tracemalloc.start()
        try:
            for number in range(1, 401):
                log.append(**(block | {"time": block["time"] + 1024 * number}))
                if number in (101, 400):
                    gc.collect()
                used[number - 1] = tracemalloc.get_traced_memory()[0], _resident_bytes()
        finally:
            tracemalloc.stop()
        log.finish("complete", 0)
    traced, resident = used.T
    written = 300 * 1024 * 8 * 6
    assert traced[-1] - traced[100] < 0.01 * written
    assert resident[-1] - resident[100] < 0.2 * written


def _resident_bytes():
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


# --------------------------------------------------------------------------------------- provenance


def test_provenance_names_the_software(tmp_path):
    found = provenance.collect_provenance()
    assert found["packages"]["h5py"] == h5py.__version__
    assert found["packages"]["numpy"] == np.__version__
    assert found["blas"]["name"]
    assert found == provenance.collect_provenance()
    LogWriter(tmp_path / "a.h5", arm_header(seed=7, deterministic=True)).finish("complete", 0)
    with Log(tmp_path / "a.h5") as log:
        assert {name: log.attrs[name] for name in found} == found
        assert log.attrs["seed"] == 7
        assert log.attrs["deterministic"] is True
        assert log.run_clock()["wall_time"] > 0.0
        assert log.run_clock()["created_utc"].endswith("Z")
