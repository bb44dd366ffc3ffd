"""Kernels that another process compiles: which, and what happens where it cannot."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from mbcli.engine import calls_by_address, load_kernels
from mbcli.engine.calls_by_address import COMPILE, compile_elsewhere


@pytest.fixture
def started(monkeypatch):
    """The commands that were started, none of which runs."""
    commands = []
    monkeypatch.setattr(calls_by_address, "_processes", {})
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: commands.append(command))
    monkeypatch.setattr(calls_by_address.os, "cpu_count", lambda: 2)
    return commands


class Kernel:
    def __init__(self, name, folder):
        self.__name__, self._cache = name, SimpleNamespace(cache_path=str(folder))


def kernels_in(folder):
    names = ("search", "solve")
    return SimpleNamespace(kind="contact", **{name: Kernel(name, folder) for name in names})


def test_what_is_on_disk_is_not_compiled_again(tmp_path, started):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "find_contacts.search-12.py311.nbi").touch()
    compile_elsewhere(kernels_in(tmp_path), "search")
    assert started == []


def test_what_is_missing_is_compiled_by_one_process_once(tmp_path, started):
    kernels = kernels_in(tmp_path / "not_there")
    compile_elsewhere(kernels, "search", "solve")
    compile_elsewhere(kernels, "search", "solve")
    assert [command[-3:] for command in started] == [["contact", "search", "solve"]]


def test_one_processor_compiles_all_itself(tmp_path, started, monkeypatch):
    monkeypatch.setattr(calls_by_address.os, "cpu_count", lambda: 1)
    compile_elsewhere(kernels_in(tmp_path), "search")
    assert started == []


def test_the_command_finds_the_kernels_of_a_kind():
    """The program that the other process runs, with nothing to compile."""
    subprocess.run([sys.executable, "-P", "-c", COMPILE, "contact-plain"], check=True, timeout=120)
    assert hasattr(load_kernels(True, "contact-plain"), "find_contacts_called")
