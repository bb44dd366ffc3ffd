"""What Linux and macOS alone have stands behind one module each: without it everything is imported, and runs."""

import re
import subprocess
import sys
from pathlib import Path

import mbcli

PACKAGE = Path(mbcli.__file__).parent
SAMPLES = PACKAGE.parent / "sample_models"

# Run in a process of its own: the parts of the standard library that Windows does not have are taken away from it after
# the library itself and the packages that mbcli needs have been imported. The library's Popen.kill needs SIGKILL here.
WITHOUT_UNIX = """
import importlib, mmap, os, signal, socket, socketserver, subprocess, sys, tempfile, threading
import click, h5py, lxml.etree, numba, numpy, orjson, scipy, yaml

for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "syslog"):
    sys.modules[name] = None
for name in (
    "chown fchmod fchown fork forkpty geteuid getuid getegid getgid getpgid killpg mkfifo nice openpty "
    "posix_fallocate posix_spawn pread pwrite register_at_fork sched_getaffinity sched_setaffinity sendfile "
    "setsid sysconf uname wait3 wait4 O_NONBLOCK O_CLOEXEC O_DIRECTORY O_NOFOLLOW"
).split():
    if hasattr(os, name):
        delattr(os, name)
for name in [name for name in dir(signal) if name.startswith("SIG") and name not in
             "SIGABRT SIGFPE SIGILL SIGINT SIGKILL SIGSEGV SIGTERM SIG_DFL SIG_IGN".split()]:
    delattr(signal, name)
for name in [name for name in dir(mmap) if name.startswith(("MAP_", "PROT_", "MADV_"))]:
    delattr(mmap, name)
del socket.AF_UNIX, socketserver.UnixStreamServer, socketserver.ThreadingUnixStreamServer
"""
EVERY_MODULE = """
from mbcli.errors import ResourceError as MissingPackage
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pydrake", "pinocchio", "mujoco", "coal", "pybullet", *EXTRAS):
            raise
    except MissingPackage as error:  # a module that is nothing without the package of an extra
        if "pip install 'mbcli[" not in str(error):
            raise
"""
EXTRAS = (
    "sympy",
    "clarabel",
    "xacro",
    "coacd",
    "pyarrow",
    "mcap",
    "rosbags",
    "rerun",
    "matplotlib",
    "distributed",
    "pxr",
    "gymnasium",
    "stable_baselines3",
)
# imported as programs alone, or where their package is
LEFT_OUT = ("mbcli.__main__", "mbcli.engine.__main__")


def every_module():
    for folder, package in ((PACKAGE, "mbcli"), (PACKAGE.parent / "parsers", "mbcli.parsers")):
        for path in sorted(folder.rglob("*.py")):
            name = ".".join((package, *path.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__")
            if name not in LEFT_OUT:
                yield name


def without_unix(program, *arguments, cwd=None):
    command = [sys.executable, "-c", WITHOUT_UNIX + program, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def test_every_module_is_imported_without_what_unix_alone_has():
    names = list(every_module())
    assert len(names) > 400
    done = without_unix(f"EXTRAS = {EXTRAS}" + EVERY_MODULE, *names)
    assert done.returncode == 0, done.stderr


def test_a_run_its_log_and_batches_need_nothing_that_unix_alone_has(tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    program = """
from mbcli.cli import run
model = sys.argv[1]
for words in (
    ["-q", "simulate", model, "-t", "0.02", "--at", "elbow=1", "-o", "run.h5"],
    ["log", "info", "run.h5"],
    ["log", "verify", "run.h5"],
    ["log", "export", "run.h5", "-o", "run.csv"],
    ["-q", "simulate", "--resume", "run.h5", "-t", "0.04"],
    ["-q", "sweep", model, "--vary", "state.elbow=0,1", "-t", "0.01", "-o", "sweep.csv", "-j", "1"],
    ["kinematics", model, "--states", "run.csv", "-o", "poses.csv"],
    ["mass-matrix", model],
    ["doctor"],
):
    code = run(words)
    if code:
        sys.exit(f"{words}: exit code {code}")
"""
    done = without_unix(program, SAMPLES / "double_pendulum.urdf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} >= {"run.h5", "run.csv", "sweep.csv", "poses.csv"}


def test_each_part_of_unix_stands_in_one_module():
    """Locks, processors, forks: who needs one asks the module that knows what to do where there is none."""
    homes = {
        r"^ *import fcntl$": {"common/file_locks.py"},
        r"os\.sched_getaffinity": {"common/processors.py"},
        r"os\.register_at_fork": {"common/turns.py"},
        r"os\.killpg|signal\.SIGKILL": {"pictures/chromium.py"},  # which no program is found for elsewhere
        r"signal\.SIGHUP": {"cli/signals.py"},
    }
    for pattern, home in homes.items():
        found = {
            path.relative_to(PACKAGE).as_posix()
            for path in PACKAGE.rglob("*.py")
            if re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
        }
        assert found == home, pattern
