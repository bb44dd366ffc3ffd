"""Commands that a signal ends at a random moment: in time, by its code, with nothing half-written.

After kill -9 the next run removes what was left. MBCLI_SIGNALS: how many moments of each command and signal (1).
"""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from command_line import cli, start, succeed
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from repository import ROOT, SAMPLES

from mbcli.cli import run
from mbcli.common import kept_files, left_behind
from mbcli.common.left_behind import folder_prefix, maker
from mbcli.common.output_files import write_in_place
from mbcli.log.reader import Log

MOMENTS = int(os.environ.get("MBCLI_SIGNALS", "1"))
LONGEST = 5.0 if MOMENTS > 1 else 20.0  # [s] from a signal to the end; the quick form runs beside others
PENDULUM = str(SAMPLES / "pendulum.urdf")
COMMANDS = {  # words, outputs, [s] that it takes
    "simulate": (("simulate", PENDULUM, "-t", "1", "--log-rate", "0", "-o", "run.h5"), ("run.h5",), 2.0),
    "recover": (("log", "recover", "../long.h5", "-o", "r.h5"), ("r.h5",), 1.5),
    "convert": (("convert", str(SAMPLES / "quadruped.urdf"), "-o", "m.sdf"), ("m.sdf",), 2.0),
    "mjcf": (("convert", PENDULUM, "--to", "mjcf", "-o", "m.xml"), ("m.xml",), 2.5),
    "sweep": (
        ("sweep", PENDULUM, "--vary", "body.rod.mass=1,2,3", "-t", "0.2", "--jobs", "2", "-o", "s.csv"),
        ("s.csv", "s.csv.journal"),
        3.0,
    ),
    "serve": (("serve", PENDULUM), (), 1.0),
}


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A folder with a log of some thousand rows."""
    folder = tmp_path_factory.mktemp("moments")
    succeed("-q", "simulate", SAMPLES / "double_pendulum.urdf", "-t", "8", "--log-rate", "0", "-o", folder / "long.h5")
    return folder


def ended(name, beside, number, moment):
    """(exit code, [s] it took to end, stderr, folder) of a command to which a signal is sent at a moment."""
    words, _, seconds = COMMANDS[name]
    draw = random.Random(f"{name} {number} {moment}")
    work = beside / f"{name}_{int(number)}_{moment}"
    work.mkdir()
    (work / "tmp").mkdir()
    environment = {"MBCLI_JIT": "0", "TMPDIR": str(work / "tmp")}
    process = start("-q", *words, cwd=work, env=environment, stdin=subprocess.PIPE, start_new_session=True)
    time.sleep(draw.uniform(0.0, seconds))
    process.send_signal(number)
    began = time.monotonic()
    try:
        _, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, LONGEST, "did not end", work
    return process.returncode, time.monotonic() - began, err, work


@pytest.mark.parametrize("moment", range(MOMENTS))
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_signal_ends_a_command_at_any_moment(beside, name, number, moment):
    code, _, err, work = ended(name, beside, number, moment)
    of_python = number == signal.SIGINT and "KeyboardInterrupt" in err and f"{os.sep}mbcli{os.sep}" not in err
    assert code in (128 + number, -number, 0) or (code == 1 and of_python), err
    assert "Traceback" not in err or of_python, err  # while the interpreter itself starts
    assert {path.name for path in work.iterdir()} <= {"tmp", *COMMANDS[name][1]}
    assert not list((work / "tmp").iterdir())
    read_outputs(work)


def read_outputs(work):
    """Whatever is there is whole."""
    for path in work.iterdir():
        if path.suffix == ".h5":
            with Log(path) as log:
                assert log.status in ("complete", "interrupted") and len(log.times) == log.row_count
        elif path.suffix in (".sdf", ".xml"):
            assert load_models(str(path), diagnostics=Diagnostics())
        elif path.suffix == ".csv":
            assert path.read_text().count("\n") == 4


@pytest.mark.parametrize("moment", range(2 * MOMENTS))
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "serve"])
def test_what_kill_9_leaves_is_removed_by_the_next_run_or_named(beside, name, moment):
    code, _, err, work = ended(name, beside, signal.SIGKILL, moment)
    assert code in (-signal.SIGKILL, 0), err
    words, outputs, _ = COMMANDS[name]
    read_outputs(work)
    environment = {"MBCLI_JIT": "0", "TMPDIR": str(work / "tmp")}
    again = start("-q", *words, cwd=work, env=environment)
    out, err = again.communicate(timeout=200)
    if again.returncode == 6:
        assert any(f"{name}" in err for name in (*outputs, "run.h5.partial")), err
        again = start("-q", *words, "--force", cwd=work, env=environment)
        out, err = again.communicate(timeout=200)
    assert again.returncode == 0, out + err
    assert {path.name for path in work.iterdir()} | {"s.csv.journal"} == {"tmp", "s.csv.journal", *outputs}
    assert not list((work / "tmp").iterdir())
    read_outputs(work)


def of_a_dead_process():
    """What the names of a process that has ended have in them."""
    child = subprocess.Popen(["true"])
    child.wait()
    return maker().replace(f"-{os.getpid()}-", f"-{child.pid}-")


def test_only_what_is_our_own_and_of_a_process_that_ended_is_removed(tmp_path, monkeypatch):
    dead, precious = of_a_dead_process(), tmp_path / "precious"
    precious.write_text("precious")
    place = tmp_path / "work"
    place.mkdir()
    kept = [f".a.txt.{maker()}00.partial", f".a.txt.00000000-{os.getpid()}-00.partial", f".b.txt.{dead}00.partial"]
    kept += [".a.txt.partial", f"a.txt.{dead}00.partial", f".a.txt.{dead[:9]}1-00.partial"]  # 1 is always there
    for name in kept:
        (place / name).write_text("")
    (place / f".a.txt.{dead}01.partial").write_text("")
    os.symlink(precious, place / f".a.txt.{dead}02.partial")
    write_in_place(place / "a.txt", b"x")
    assert {path.name for path in place.iterdir()} == {*kept, "a.txt", f".a.txt.{dead}02.partial"}
    assert precious.read_text() == "precious"
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    (place / f".a.txt.{dead}03.partial").write_text("")
    left_behind._left_in.cache_clear()  # as in another process
    write_in_place(place / "a.txt", b"y")
    assert (place / f".a.txt.{dead}03.partial").exists()


def test_temporary_folders_of_processes_that_ended_go_and_links_to_others_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead, elsewhere = of_a_dead_process(), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("")
    left = tmp_path / f"mbcli-proof-{dead}ab"
    left.mkdir()
    os.symlink(elsewhere, left / "inner")
    os.symlink(elsewhere, tmp_path / f"mbcli-child-{dead}cd")
    (tmp_path / f"mbcli-child-{maker()}ef").mkdir()
    assert folder_prefix("page").startswith("mbcli-page-")
    assert {path.name for path in tmp_path.iterdir()} == {
        "elsewhere", f"mbcli-child-{dead}cd", f"mbcli-child-{maker()}ef"
    }  # fmt: skip
    assert (elsewhere / "precious").exists()


def test_every_temporary_folder_has_such_a_name():
    for path in (*(ROOT / "mbcli").rglob("*.py"), *(ROOT / "parsers").rglob("*.py")):
        text = path.read_text()
        calls = text.count("TemporaryDirectory(") + text.count("mkdtemp(")
        if path.name != "temporary_directories.py":  # what pydrake's scripts ask for is theirs
            assert calls == text.count("(prefix=folder_prefix("), path


def test_who_runs_a_command_in_its_own_process_has_its_handlers_back(monkeypatch, tmp_path):
    def own(*_):
        pass

    def hook(*_):
        pass

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, own) for number in numbers]
    monkeypatch.setattr("sys.unraisablehook", hook)
    tell = kept_files.tell
    try:
        for words in (["-q", "inspect", PENDULUM, "-o", str(tmp_path / "a")], ["no-such"], ["inspect", "nothing.urdf"]):
            run(words)
            assert [signal.getsignal(number) for number in numbers] == [own, own]
            assert sys.unraisablehook is hook and kept_files.tell is tell
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def test_names_tell_of_this_machine(monkeypatch):
    assert left_behind._is_left(of_a_dead_process()) and not left_behind._is_left(maker())
    assert not left_behind._is_left("0123abcd-99999999999-")
    assert cli("--version").code == 0
