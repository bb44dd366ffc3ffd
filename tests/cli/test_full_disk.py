"""A disk that fills while a command writes its result: exit code 6, one line that names the file, nothing left."""

import contextlib
import os
import shlex
import shutil

import pytest
from command_cases import TRIALS, material
from command_line import cli, commands

from mbcli.cli import mbcli

resource = pytest.importorskip("resource")

OTHERS = {
    "simulate": "m.urdf --states rows.csv --each -t 0.1 -o gone/x.h5",
    "check": "broken.urdf -o gone/x.txt",
    "sweep": "m.urdf --vary state.elbow=1,2 -t 0.1 -o gone/x.csv",
    "convert": "m.urdf --to mjcf --bundle -o gone/x",
    "identify": "m.urdf --data measured.csv --force -o gone/x.urdf",
    "log plot": "run.h5 -o gone/x.svg",
    "log export": "run.h5 -o gone/x.npz",
    "linearize": "m.urdf -o gone/x.npz",
    "mass-matrix": "m.urdf --states rows.csv -o gone/x.csv",
}
EMPTY = ("serve", "check m.urdf -o gone/x.txt")  # no file, an empty file
GO_ON = {".partial": "simulate", ".journal": "sweep"}  # files from which a run can go on


def writers():
    """Words of commands that write a file: those of a trial that name a folder which is not there, and OTHERS."""
    for name, command in commands(mbcli):
        words = [f.words for f in TRIALS[name].faults if f.kind == "unwritable output" and "gone/" in f.words][-1:]
        words += [OTHERS[name]] if name in OTHERS else []
        assert words or not any("--output" in param.opts for param in command.params), name
        yield from (f"{name} {some}" for some in words if not {name, f"{name} {some}"} & set(EMPTY))


@contextlib.contextmanager
def room_for(size):
    """A bound on the size of files fails as a full disk does."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("material")
    material(folder)
    return folder


@pytest.mark.parametrize("words", list(writers()))
def test_a_full_disk_ends_a_command_by_code_6_and_leaves_nothing(words, files, tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    before = set(os.listdir())
    words = ["-q", *shlex.split(words.replace("gone/", ""))]
    output = tmp_path / words[words.index("-o") + 1]
    usual = cli(*words).code
    written = [output] if output.is_file() else [path for path in output.rglob("*") if path.is_file()]
    size = max(path.stat().st_size for path in written)
    for part in (0.0, 0.6):
        if output.exists():
            shutil.rmtree(output) if output.is_dir() else output.unlink()
        for rest in set(os.listdir()) - before:
            os.remove(rest)
        with room_for(int(part * (size - 1))):
            result = cli(*words)
        assert (result.code, result.err.count("\n")) == (6, 1), result.err
        assert output.name in result.err and "cannot be written: File too large" in result.err
        left = set(os.listdir()) - before
        assert left <= {output.name + ending for ending, command in GO_ON.items() if command in words}
    assert cli(*words, *(["--force"] if left else [])).code == usual
