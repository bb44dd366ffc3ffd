"""What kill -9, full disks and damage leave of a log: `log recover` has every flushed sample, and a run can go on."""

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from contextlib import suppress

import h5py
import numpy as np
import pytest
from command_line import cli, start, succeed
from repository import SAMPLES
from test_log_writer import ENERGY, arm_header, rows

from mbcli.errors import MbcliError, ResourceError
from mbcli.log.reader import Log
from mbcli.log.recovery import recover
from mbcli.log.running import read_rows
from mbcli.log.writer import LogWriter

RUN = ("-q", "simulate", SAMPLES / "double_pendulum.urdf", "--no-contact", "--at", "elbow=1", "--log-rate", 0)
END = 20  # [s] of the runs: 20 thousand rows
KILLS = int(os.environ.get("MBCLI_KILLS", "2"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The log of a run without a break."""
    path = tmp_path_factory.mktemp("whole") / "whole.h5"
    succeed(*RUN, "-t", END, "-o", path)
    return path


def rows_on_disk(path):
    with suppress(MbcliError), Log(path) as log:
        return log.row_count
    return 0


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_run_killed_at_a_random_moment_loses_no_flushed_sample_and_goes_on_to_the_same_rows(tmp_path, whole, seed):
    """MBCLI_KILLS: how many moments."""
    partial, log = tmp_path / "run.h5.partial", tmp_path / "run.recovered.h5"
    process = start(*RUN, "-t", 1e6, "-o", tmp_path / "run.h5")
    until = time.monotonic() + 60
    while not rows_on_disk(partial) and time.monotonic() < until:
        time.sleep(0.005)
    time.sleep(random.Random(seed).uniform(0.0, 0.01))
    flushed = rows_on_disk(partial)
    process.kill()
    process.communicate()
    told = succeed("log", "recover", partial, "--json").json()
    assert told["rows"] >= flushed > 0 and told["damage"] == [] and told["dropped_rows"] == 0
    with Log(log) as recovered:
        assert (recovered.status, recovered.row_count, recovered.damage()) == ("interrupted", told["rows"], [])
        end = float(recovered.times[-1])
    assert succeed("log", "diff", log, whole, "--common-rows").out.startswith("same")
    if end < END:
        succeed("-q", "simulate", "--resume", log, "-t", END)
        assert succeed("log", "diff", log, whole).out.startswith("same")


def test_two_readers_follow_a_running_log_to_its_end(tmp_path):
    log = tmp_path / "run.h5"
    process = start(*RUN[:-1], 100, "-t", 300, "-o", log)
    while not (tmp_path / "run.h5.partial").exists() and process.poll() is None:
        time.sleep(0.01)
    follow = ("log", "tail", log, "--follow", "-n", 100_000_000, "--json", "--fields", "q")
    outputs = [tmp_path / f"reader{k}" for k in range(2)]
    with open(outputs[0], "w") as first, open(outputs[1], "w") as second:
        readers = [start(*follow, stdout=stream) for stream in (first, second)]
        assert process.wait(60) == 0
        for reader in readers:
            _, complaints = reader.communicate(timeout=60)
            assert (reader.returncode, complaints) == (0, "")
    with Log(log) as written:
        q = written.q
    for output in outputs:
        seen = np.array([json.loads(line)["q"] for line in output.read_text().splitlines()])
        np.testing.assert_array_equal(seen, q)


def test_a_log_whose_run_ends_while_it_is_opened_is_read_under_its_new_name(tmp_path, whole):
    log, partial = tmp_path / "run.h5", tmp_path / "run.h5.partial"
    shutil.copy(whole, partial)

    def row_count(paths):
        if partial.exists():
            partial.rename(log)
        with Log(paths[0]) as rows:
            return rows.row_count

    with Log(whole) as rows:
        assert read_rows([str(log)], row_count) == rows.row_count
    log.unlink()
    with pytest.raises(ResourceError, match="No such file"):
        read_rows([str(log)], row_count)


FULL_FILE_SYSTEMS = """
import os, shutil, subprocess, sys
from mbcli.cli import run

arguments, target, sizes = sys.argv[1:-2], sys.argv[-2], map(int, sys.argv[-1].split(","))
disk = os.path.join(target, "disk")
for number, size in enumerate(sizes):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], check=True)
    code = run([*arguments, "-o", f"{disk}/{number}.h5"])
    for name in os.listdir(disk):
        shutil.copy(os.path.join(disk, name), target)
    subprocess.run(["umount", disk], check=True)
    print(f"code {code}", flush=True)
"""
IN_A_NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]  # where anybody may mount
FULL_DISKS = """
import random, resource, sys
from mbcli.cli import run

arguments, target, sizes = sys.argv[1:-2], sys.argv[-2], map(int, sys.argv[-1].split(","))
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
for number, size in enumerate(sizes):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    code = run([*arguments, "-o", f"{target}/{number}.h5"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    print(f"code {code}", flush=True)
"""


def can_mount():
    try:
        mounts = [*IN_A_NAMESPACE, "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
        return subprocess.run(mounts, capture_output=True).returncode == 0
    except OSError:
        return False


@pytest.mark.parametrize(
    ("script", "before", "reason"),
    [
        pytest.param(
            FULL_DISKS,
            [],
            "File too large",
            marks=pytest.mark.skipif(
                not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit on the size of files"
            ),
            id="limit",
        ),
        pytest.param(
            FULL_FILE_SYSTEMS,
            IN_A_NAMESPACE,
            "No space left on device",
            marks=pytest.mark.skipif(not can_mount(), reason="may not mount a file system"),
            id="tmpfs",
        ),
    ],
)
def test_a_disk_that_fills_at_twenty_random_moments_leaves_the_rows_before(tmp_path, whole, script, before, reason):
    (tmp_path / "disk").mkdir()
    sizes = [random.Random(k).randrange(60_000, 1_300_000) for k in range(20)]
    words = [*map(str, RUN), "-t", str(END), str(tmp_path), ",".join(map(str, sizes))]
    done = subprocess.run([*before, sys.executable, "-c", script, *words], capture_output=True, text=True, check=True)
    assert done.stdout == "code 6\n" * 20
    assert done.stderr.count(f"cannot be written: {reason}") == done.stderr.count("\n") == 20, done.stderr
    total = 0
    for number in range(20):
        left = tmp_path / f"{number}.h5.partial"
        if not left.exists():  # full before the first row
            continue
        total += recover(left, tmp_path / "left.h5", force=True).rows
        assert succeed("log", "diff", tmp_path / "left.h5", whole, "--common-rows").out.startswith("same")
    assert total > 50_000
    succeed("-q", "simulate", "--resume", tmp_path / "19.h5.partial", "-t", END)
    assert succeed("log", "diff", tmp_path / "19.h5", whole).out.startswith("same")


# ------------------------------------------------------------------------------------------- damage


@pytest.fixture
def path(tmp_path):
    with LogWriter(tmp_path / "a.h5", arm_header()) as log:
        log.append(**rows(0, 5000))
        log.event(3.0, 3, "warning", "SLOW", "it was slow")
        log.checkpoint({"q": np.ones(2), "row": 4999})
        log.finish("complete", 0)
    return tmp_path / "a.h5"


def spoil_chunk(path, name, number):
    """Changes one byte of a chunk of a dataset."""
    with h5py.File(path) as file:
        place = file[name].id.get_chunk_info(number).byte_offset
    with open(path, "r+b") as file:
        file.seek(place + 9)
        byte = file.read(1)[0]
        file.seek(place + 9)
        file.write(bytes([byte ^ 1]))


def test_numbers_whose_checksum_is_wrong_become_nan_and_the_others_stay(path, tmp_path):
    spoil_chunk(path, ENERGY, 2)
    told = succeed("log", "recover", path, "--json").json()
    assert told["damage"] == [f"{ENERGY}, rows 2048 to 3071: wrong checksum"]
    with Log(tmp_path / "a.recovered.h5") as log:
        energy = log.field(ENERGY)
        assert np.isnan(energy[2048:3072]).all() and log.damage() == []
        kept = np.r_[0:2048, 3072:5000]
        np.testing.assert_array_equal(energy[kept], rows(0, 5000)[ENERGY][kept])
        np.testing.assert_array_equal(log.q, rows(0, 5000)["q"])
        assert log.status == "complete" and log.events()[0]["code"] == "SLOW"
        assert log.read_checkpoint()["row"] == 4999


@pytest.mark.parametrize("fault", ["one number where rows are", "it is missing"])
def test_a_field_that_is_lost_is_told_and_the_new_log_is_read_without_it(path, fault):
    """The first one ended in an internal error, and what was recovered could not be read."""
    with h5py.File(path, "r+") as file:
        del file[ENERGY]
        if fault.startswith("one"):
            file[ENERGY] = 1.0
    told = succeed("log", "recover", path, "--json").json()
    assert told["damage"] == [f"{ENERGY}: is lost: {'has no rows' if fault.startswith('one') else fault}"]
    with Log(path.with_name("a.recovered.h5")) as log:
        assert ENERGY not in log.attrs["fields"] and log.damage() == []
        np.testing.assert_array_equal(log.q, rows(0, 5000)["q"])


def test_rows_whose_time_is_lost_are_left_out(path, tmp_path):
    spoil_chunk(path, "time", 1)
    assert cli("log", "info", path).code == 3
    result = recover(path, tmp_path / "b.h5")
    assert (result.rows, result.dropped) == (5000 - 1024, 1024)
    with Log(tmp_path / "b.h5") as log:
        np.testing.assert_array_equal(log.times, np.r_[0:1024, 2048:5000])
        np.testing.assert_array_equal(log.v[1024], [-2048.0, -4096.0])


def test_a_log_that_was_cut_off_gives_what_stands_before(tmp_path):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    for k in range(5):
        log.append(**rows(1024 * k, 1024))
    log.flush()
    content = (tmp_path / "a.h5.partial").read_bytes()
    log.finish("complete", 0)
    cut = tmp_path / "cut.h5.partial"
    cut.write_bytes(content[: int(0.7 * len(content))])
    result = recover(cut, tmp_path / "b.h5")
    assert result.missing_bytes > 0 and result.rows >= 2048
    with Log(tmp_path / "b.h5") as read:
        t = read.times
        np.testing.assert_array_equal(read.q[~np.isnan(read.q[:, 0])], np.outer(t, [1.0, 2.0])[~np.isnan(read.q[:, 0])])


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("nothing.h5",), 4, "nothing.h5: error: no such file"),
        ((".",), 4, ".: error: cannot be read: is not a file"),
        (("text.h5",), 3, "text.h5: error: is not an HDF5 file"),
        (("other.h5",), 3, "other.h5: error: is not an mbcli log"),
        (("a.h5", "-o", "a.h5"), 6, "is the log to recover"),
        (("a.h5", "-o", "other.h5"), 6, "exists already"),
        (("a.h5", "-o", "nowhere/b.h5"), 6, "cannot be written"),
    ],
)
def test_what_cannot_be_recovered_is_one_line(path, tmp_path, monkeypatch, words, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.h5").write_text("no log\n" * 10)
    h5py.File(tmp_path / "other.h5", "w").close()
    result = cli("log", "recover", *words)
    assert (result.code, result.err.count("\n")) == (code, 1) and message in result.err, result.err


def test_a_log_that_is_being_written_is_left_to_its_writer(tmp_path):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    log.append(**rows(0, 10))
    log.flush()
    result = cli("log", "recover", tmp_path / "a.h5.partial")
    assert result.code == 6 and "is being written by another process" in result.err
    log.finish("complete", 0)
