"""Kernels that another process compiles: which, and what happens where it cannot."""

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from mbcli.common import child_processes
from mbcli.engine import load_kernels
from mbcli.engine.runtime import addresses
from mbcli.engine.runtime.addresses import COMPILE, compile_elsewhere

pytestmark = pytest.mark.usefixtures("compiled_here")


@pytest.fixture
def started(monkeypatch):
    """The commands that were started, none of which runs."""
    commands = []
    monkeypatch.setattr(addresses, "_processes", {})
    monkeypatch.setattr(child_processes, "start", lambda command, **_: commands.append(command))
    monkeypatch.setattr(addresses.os, "cpu_count", lambda: 2)
    return commands


@pytest.fixture
def kernels(monkeypatch):
    """Two kernels, of which none is on disk but those whose names are in `on_disk`."""
    on_disk = set()
    monkeypatch.setattr(addresses, "is_compiled", lambda kernel, called: kernel in on_disk)
    monkeypatch.setattr(addresses, "_found", set())
    return SimpleNamespace(kind="contact", search="search", solve="solve", on_disk=on_disk)


def test_what_is_on_disk_is_not_compiled_again(kernels, started):
    kernels.on_disk.add("search")
    compile_elsewhere(kernels, ["search"])
    assert started == []


def test_what_is_missing_is_compiled_by_a_process_for_each_group_once(kernels, started, monkeypatch):
    monkeypatch.setattr(addresses.os, "cpu_count", lambda: 3)
    kernels.keep, kernels.find = "keep", "find"
    kernels.on_disk.add("find")
    assert compile_elsewhere(kernels, ["search"], ["solve", "keep"], ["find"])
    assert not compile_elsewhere(kernels, ["search"], ["solve", "keep"], ["find"])
    assert [command[command.index("contact") :] for command in started] == [
        ["contact", "search"],
        ["contact", "solve", "keep"],
    ]


def test_few_processors_have_one_process_for_several_groups(kernels, started):
    kernels.keep = "keep"
    assert compile_elsewhere(kernels, ["search"], ["solve", "keep"])
    assert [command[command.index("contact") :] for command in started] == [["contact", "search", "solve", "keep"]]


def test_one_processor_compiles_all_itself(kernels, started, monkeypatch):
    monkeypatch.setattr(addresses.os, "cpu_count", lambda: 1)
    compile_elsewhere(kernels, ["search"])
    assert started == []


def test_the_command_finds_the_kernels_of_a_kind():
    """The program that the other process runs, with nothing to compile."""
    command = [sys.executable, "-P", "-c", COMPILE, "contact-plain"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.wait(120) == 0
    assert hasattr(load_kernels(True, "contact-plain"), "find_contacts_called")


PARENT = """
import os, signal, time
from mbcli.common import child_processes
from mbcli.engine import load_kernels
from mbcli.engine.runtime import addresses

os.cpu_count = lambda: 2
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts in the background ignore it
kernels = load_kernels(True, "contact-plain")
assert addresses.compile_elsewhere(kernels, ["find_contacts_called"])
(process,) = addresses._processes.values()
print(process.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_a_process_that_is_ended_does_not_leave_the_one_that_compiles_for_it(tmp_path, ended_by):
    environment = os.environ | {"MBCLI_CACHE_DIR": str(tmp_path)}  # empty: there is a minute of work
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, env=environment) as parent:
        child = int(parent.stdout.readline())
        parent.send_signal(ended_by)
    end = time.monotonic() + 60.0
    while is_running(child):
        assert time.monotonic() < end, "it still compiles"
        time.sleep(0.05)


def is_running(pid):
    """Whether a process is there that has not ended; one that nobody has waited for has."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
