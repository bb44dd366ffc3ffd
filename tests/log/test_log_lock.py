"""A log has one writer: a second run or a resume is refused while it lives, and free when it is dead."""

import signal
import subprocess
import sys
import threading
import time

import h5py
import numpy as np
import pytest
from command_line import cli, end_started, start, started, succeed
from repository import SAMPLES, SUPPORT
from test_log_writer import arm_header, rows

from mbcli.errors import OutputError
from mbcli.log.reader import Log
from mbcli.log.running import is_written
from mbcli.log.write_lock import WriteLock
from mbcli.log.writer import LogWriter

TWO_LINKS = SAMPLES / "double_pendulum.urdf"
SECONDS = 60.0
INTERPRETED = {"MBCLI_JIT": "0"}


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.fixture
def running(tmp_path):
    """A run that writes run.h5.partial, with rows in it, and its process."""
    process = start("-q", "simulate", TWO_LINKS, "-t", 1000, "-o", tmp_path / "run.h5", env=INTERPRETED)
    partial, end = tmp_path / "run.h5.partial", time.monotonic() + SECONDS
    while not has_rows(partial):
        assert time.monotonic() < end and process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    return process, partial


def has_rows(partial):
    try:
        with Log(partial) as log:
            return log.row_count > 1
    except RuntimeError:
        return False


def test_a_log_that_is_being_written_is_nobody_elses(running, tmp_path):
    process, partial = running
    again = ("simulate", TWO_LINKS, "-t", 0.01, "-o", tmp_path / "run.h5")
    for command in (again, (*again, "--force"), ("simulate", "--resume", partial, "-t", 0.01)):
        result = cli(*command)
        assert result.code == 6 and f"{partial}: error: is being written by another process" in result.err
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(SECONDS) == 130
    with Log(tmp_path / "run.h5") as log:  # nothing of it was taken or replaced
        assert log.status == "interrupted" and log.damage() == []


def test_a_log_is_read_while_its_writer_has_it_locked(running):
    _, partial = running
    with h5py.File(partial, "r", swmr=True) as log:
        assert len(log["time"]) > 1
    assert cli("log", "info", partial).code == 0


def test_the_lock_of_a_killed_run_is_stale(running, tmp_path):
    process, partial = running
    process.kill()
    process.wait()
    with Log(partial) as log:
        count = log.row_count
    refused = cli("simulate", TWO_LINKS, "-t", 0.01, "-o", tmp_path / "run.h5")
    assert refused.code == 6 and "is left from a run that did not finish; --resume goes on with it" in refused.err
    succeed("-q", "simulate", "--resume", partial, "-t", 0.01 * (count + 5))
    with Log(tmp_path / "run.h5") as log:
        assert log.status == "complete" and log.row_count >= count


def test_two_resumes_of_one_log_do_not_both_go_on(running):
    process, partial = running
    process.kill()
    process.wait()
    first = WriteLock(partial)
    result = cli("-q", "simulate", "--resume", partial, "-t", 1)
    assert result.code == 6 and "is being written by another process" in result.err
    first.release()


def test_a_writer_holds_the_lock_until_its_log_has_its_name(tmp_path):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    log.append(**rows(0, 3))
    with Log(tmp_path / "a.h5.partial"):  # opening and closing it elsewhere in the process does not free it
        pass
    for attempt in (lambda: WriteLock(tmp_path / "a.h5.partial"), lambda: LogWriter(tmp_path / "a.h5", arm_header())):
        with pytest.raises(OutputError, match=r"a\.h5\.partial: error: is being written by another process"):
            attempt()
    with pytest.raises(OutputError, match="is being written by another process"):
        LogWriter(tmp_path / "a.h5", arm_header(), force=True)
    log.append(**rows(3, 3))
    log.finish("complete", 0)
    WriteLock(tmp_path / "a.h5").release()
    with Log(tmp_path / "a.h5") as read:
        np.testing.assert_array_equal(read.times, np.arange(6.0))


def test_a_log_that_may_only_be_read_is_locked_too(tmp_path):
    with LogWriter(tmp_path / "a.h5", arm_header()) as log:
        log.finish("complete", 0)
    (tmp_path / "a.h5").chmod(0o400)
    WriteLock(tmp_path / "a.h5").release()


# ------------------------------------------------------------------------------------ processes of tests


def test_readers_that_look_for_the_writer_never_refuse_one(tmp_path):
    path = str(tmp_path / "a.h5")
    (tmp_path / "a.h5").touch()
    end = threading.Event()

    def look():
        while not end.is_set():
            is_written(path)

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # the threads meet at every place
    try:
        for _ in range(3000):
            WriteLock(path).release()
    finally:
        sys.setswitchinterval(before)
        end.set()
        for reader in readers:
            reader.join()
    assert not is_written(path) and not is_written(str(tmp_path / "gone.h5"))
    lock = WriteLock(path)
    assert is_written(path)
    lock.release()


def test_a_test_that_fails_leaves_no_process():
    process = start("simulate", TWO_LINKS, "-t", 1e5, "--no-log", env=INTERPRETED)
    end_started()
    assert process.poll() == -signal.SIGKILL and not started


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux to end a process with its parent")
def test_a_killed_test_leaves_no_process(tmp_path):
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); from command_line import start\n"
        "process = start('simulate', sys.argv[2], '-t', '1e5', '--no-log', env={'MBCLI_JIT': '0'})\n"
        "print(process.pid, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", program, str(SUPPORT), str(TWO_LINKS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    end = time.monotonic() + SECONDS
    while is_running(child):
        assert time.monotonic() < end, "the simulation goes on"
        time.sleep(0.05)


def is_running(pid):
    """Whether a process is there that has not ended; one that nobody has waited for has."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
