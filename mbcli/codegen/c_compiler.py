"""A C compiler of this machine, or of the wheel ziglang, and programs made by it."""

from __future__ import annotations

import os
import shlex
import sys
import time
from dataclasses import dataclass, field
from importlib.util import find_spec

from mbcli.common import child_processes
from mbcli.errors import NumericalError

FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra")
KINDS = {  # what is compiled: its suffix, and flags
    "program": (".exe" if os.name == "nt" else "", ()),
    "library": ({"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so"), ("-shared", "-fPIC")),
    "object": (".o", ("-c", "-fPIC", "-fvisibility=hidden")),
}
PATIENCE = 1800.0  # [s] for one compilation


@dataclass
class Program:
    """A compiled program: its path, by what, in which time [s], and bytes of the stack of functions, where known."""

    path: str
    words: str
    seconds: float
    stack: dict[str, int] = field(default_factory=dict)


def find_compiler() -> list[str] | None:
    """The command of a C compiler: that of CC, of the machine, or of ziglang; None if there is none."""
    named = shlex.split(os.environ.get("CC", ""))
    if named and child_processes.find_program(named[0]):
        return named
    for name in ("cc", "gcc", "clang"):
        if child_processes.find_program(name):
            return [name]
    if find_spec("ziglang") is not None:
        return child_processes.python("-m", "ziglang", "cc")
    return None


def compile_program(folder: str, sources: list[str], name: str, kind: str = "program") -> Program | None:
    """A program of the sources in a folder, or another of KINDS; None without a compiler.

    NumericalError with the words of a compiler that refuses.
    """
    compiler = find_compiler()
    if compiler is None:
        return None
    path = os.path.join(folder, name + KINDS[kind][0])
    tells_stack = os.path.basename(compiler[0]) in ("cc", "gcc")
    extra = ["-fstack-usage"] if tells_stack else []
    ends = [] if os.name == "nt" or kind == "object" else ["-lm"]
    command = [*compiler, *FLAGS, *KINDS[kind][1], *extra, *sources, "-o", os.path.basename(path), *ends]
    start = time.perf_counter()
    done = child_processes.run(command, folder=folder, capture_output=True, text=True, timeout=PATIENCE)
    seconds = time.perf_counter() - start
    if done.returncode and tells_stack:  # `cc` of another maker does not know the flag
        command.remove("-fstack-usage")
        done = child_processes.run(command, folder=folder, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise NumericalError(f"the C compiler refuses the code: {lines[0] if lines else done.returncode}")
    version = child_processes.run([*compiler, "--version"], capture_output=True, text=True).stdout.splitlines()
    words = f"{version[0] if version else compiler[0]}, {' '.join(FLAGS[:2])}"
    return Program(path, words, seconds, stack_of(folder))


def stack_of(folder: str) -> dict[str, int]:
    """Bytes of the stack of each function, as gcc writes them to files *.su in a folder."""
    found = {}
    for name in os.listdir(folder):
        if name.endswith(".su"):
            with open(os.path.join(folder, name)) as file:
                for line in file:
                    place, size, *_ = line.split("\t")
                    found[place.rpartition(":")[2]] = int(size)
    return found
