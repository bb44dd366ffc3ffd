"""Folders that act if they can: modules, programs, links, settings beside a robot; and commands there, watched."""

import inspect
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from outside_watch import watch
from repository import SAMPLES

import mbcli

TREE = str(Path(mbcli.__file__).parent.parent)  # commands are of the program that the tests import
MODULES = """
json queue random secrets tempfile subprocess shutil logging socket threading decimal fractions statistics csv gzip
zipfile hashlib pickle copy calendar datetime inspect ast textwrap uuid select shlex string click numpy scipy h5py numba
lxml yaml matplotlib mujoco pxr xacro mbcli parsers dask distributed pyarrow sitecustomize usercustomize
""".split()  # noqa: SIM905
PROGRAMS = """
dot ffmpeg chromium chromium-browser google-chrome cc gcc python python3 uname xdg-open ldconfig
""".split()  # noqa: SIM905
SYSTEM = ("uname", "fc-list")  # that Python's module platform and matplotlib, for its fonts, ask for
SETTINGS = {
    "matplotlibrc": "text.usetex: True\nno.such.key: 1\n",
    ".numba_config.yaml": "disable_jit: 1\n",
    "pyvenv.cfg": "home = .\n",
    "package.xml": "<package><name>{name}</name></package>",
}
MEMORY = 1e9  # [bytes] of a command and of the processes that it waited for
SECONDS = 20.0  # [s] of their processor time: a busy machine takes more of the clock
PATIENCE = 120.0  # [s] of the clock
LINKS = ("{}.partial.packed", "{}.new", ".{}.recovering", "{}.partial.png", "{}.partial", ".mbcli-{}.tmp")
OUTPUTS = ("run.h5", "p.png", "s.csv", "m.xml", "m.sdf", "t.txt")
COMMANDS = (
    ("simulate", "{robot}", "-t", "0.01", "-o", "run.h5"),
    ("simulate", "{robot}", "-t", "0.01", "-o", "run.h5", "--force"),
    ("inspect", "{robot}", "-o", "t.txt", "--force"),
    ("inspect", "leads.xml"),
    ("inspect", "leads.sdf"),
    ("inspect", "leads.dmd.yaml"),
    ("check", "leads.urdf", "--meshes"),
    ("convert", "{robot}", "-o", "m.sdf"),
    ("convert", "{robot}", "--to", "mjcf", "-o", "m.xml", "--force"),
    ("compare", "{robot}", "{robot}"),
    ("log", "info", "good.h5"),
    ("log", "verify", "good.h5"),
    ("log", "plot", "good.h5", "-o", "p.png", "--force"),
    ("log", "recover", "good.h5", "-o", "s.csv", "--force"),
    ("mass-matrix", "{robot}"),
    ("energy", "{robot}"),
    ("sweep", "{robot}", "--vary", "body.rod.mass=1,2", "-t", "0.01", "--jobs", "1", "-o", "s.csv"),
    ("doctor",),
    ("schema", "log"),
)


def plant(work, outside, draw, good_log):
    """Fills a folder; returns the names of files whose reading is a fault, and {what links lead to: its content}."""
    action = "import os\nos.write(2, b'RAN')\n"
    modules = draw.sample(MODULES, draw.randint(3, len(MODULES)))
    names = []
    for name in modules:
        if draw.random() < 0.2:
            (work / name).mkdir()
            for part in ("__init__", "__main__"):
                (work / name / f"{part}.py").write_text(action)
        else:
            (work / f"{name}.py").write_text(action)
            names.append(f"{name}.py")
    for name in draw.sample(PROGRAMS, 5):
        (work / name).write_text("#!/bin/sh\necho RAN >&2\n")
        (work / name).chmod(0o755)
        names.append(name)
    for name, text in SETTINGS.items():
        if draw.random() < 0.7:
            (work / name).write_text(text.format(name="other"))
            names += [name] if name != "package.xml" else []
    victims = {}
    for k, name in enumerate(draw.sample(OUTPUTS, 4)):
        for pattern in (*draw.sample(LINKS, 3), "{}") if k % 2 else draw.sample(LINKS, 3):
            victim = outside / f"victim{len(victims)}"
            if draw.random() < 0.8:
                victim.write_text("precious")
            victims[victim] = victim.read_bytes() if victim.exists() else None
            os.symlink(victim, work / pattern.format(name))
    (outside / "notes.txt").write_text("secret-token line\n")
    (outside / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (work / "robot.urdf").write_bytes((SAMPLES / "pendulum.urdf").read_bytes())
    (work / "good.h5").write_bytes(good_log)
    above = draw.choice((outside.parent.name, outside.name))
    for uri in [f"package://{above}/outside/notes.txt"]:
        uri = draw.choice((uri, "../outside/notes.txt", f"file://{outside}/notes.txt", "link.txt"))
        (work / "leads.xml").write_text(f'<mujoco><include file="{uri}"/></mujoco>')
        text = f'<sdf version="1.10"><model name="m"><include><uri>{uri}</uri></include></model></sdf>'
        (work / "leads.sdf").write_text(text)
        (work / "leads.dmd.yaml").write_text(f"directives:\n- add_directives:\n    file: {uri}\n")
    os.symlink(outside / "notes.txt", work / "link.txt")
    os.symlink(outside / "part.obj", work / "link.obj")
    mesh = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    shapes = mesh.format("link.obj") + mesh.format(f"file://{outside}/part.obj")
    (work / "leads.urdf").write_text(f'<robot name="r"><link name="b">{shapes}</link></robot>')
    return names, victims


# runs a command: the largest memory of a process counts what it was forked from, here perhaps a session of tests
LAUNCH = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    file.write(f"{code} {used.ru_utime + used.ru_stime} {used.ru_maxrss}")
"""


def _ended(command, folder, environment, hooks):
    """(exit code, text, processor time [s], time of the clock [s], largest memory [bytes]) of a command."""
    start, told, figures = time.monotonic(), hooks / "told", hooks / "figures"
    launched = [sys.executable, "-I", "-S", "-c", LAUNCH, str(figures), *command]
    with told.open("w+b") as text:
        process = subprocess.Popen(
            launched, cwd=folder, env=environment, stdout=text, stderr=subprocess.STDOUT, start_new_session=True
        )
        timer = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        process.wait()
        timer.cancel()
        text.seek(0)
        words = text.read().decode(errors="replace")
    clock = time.monotonic() - start
    if not figures.exists():  # killed
        return -signal.SIGKILL, words, clock, clock, 0
    code, seconds, memory = figures.read_text().split()
    scale = 1 if sys.platform == "darwin" else 1024
    return int(code), words, float(seconds), clock, int(memory) * scale


def tried(folder, number, good_log):
    """A command in a folder that is made for it: its words, its faults (texts), what `_ended()` returned."""
    draw = random.Random(number)
    work, outside, hooks, own = (Path(folder, name) for name in ("work", "outside", "hooks", "own"))
    for each in (work, outside, hooks, own):
        each.mkdir()
    names, victims = plant(work, outside, draw, good_log)
    log = hooks / "log"
    allowed = [str(own), os.environ.get("MBCLI_CACHE_DIR", str(own)), "/dev/", "/proc/"]
    settings = {"planted": tuple(names), "system": SYSTEM, "reads": (str(outside),)}
    call = f"watch({str(log)!r}, {str(work)!r}, {tuple(allowed)!r}, **{settings!r})\n"
    (hooks / "sitecustomize.py").write_text(inspect.getsource(watch) + call)
    command = [sys.executable, "-c", "import sys; sys.path[:1] = []; from mbcli.__main__ import main; main()"]
    words = [word.format(robot="robot.urdf") for word in draw.choice(COMMANDS)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(hooks), TREE)),
        "MBCLI_JIT": "0",
        "TMPDIR": str(own),
    }
    environment |= {"HOME": str(own), "PATH": os.environ["PATH"] + draw.choice(("", os.pathsep, f"{os.pathsep}."))}
    before = {path.name for path in work.iterdir()}
    code, text, seconds, clock, memory = ended = _ended([*command, *words], work, environment, hooks)
    faults = log.read_text().splitlines() if log.exists() else ["nothing was watched"]
    if code not in range(7):
        faults.append(f"ended with {code} after {clock:.0f} s")
    if seconds > SECONDS or memory > MEMORY:
        faults.append(f"took {seconds:.1f} s of processor time and {memory / 1e6:.0f} MB")
    if "RAN" in text or "secret" in text:
        faults.append("ran or told: " + text[-300:])
    faults += [
        str(victim) for victim, text in victims.items() if (victim.read_bytes() if victim.exists() else None) != text
    ]
    left = {path.name for path in work.iterdir()} - before - {*OUTPUTS, "s.csv.journal"}
    faults += [f"left {left}"] if left else []
    return words, faults, ended


def run(folder, number, good_log):
    """The faults of one command in a folder that is made for it: a list of texts, empty if there are none."""
    words, faults, _ = tried(folder, number, good_log)
    return [f"{number} {' '.join(words)}: {fault}" for fault in faults]


def count(numbers, good_log):
    """Prints the faults of many folders, how often each exit code came, and the largest of time and memory."""
    codes, faults, most = Counter(), 0, [0.0, 0.0, 0]
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            words, found, (code, _, *used) = tried(folder, number, good_log)
        codes[code] += 1
        faults += len(found)
        for fault in found:
            print(number, *words, fault, flush=True)
        most = [max(pair) for pair in zip(most, used, strict=True)]
    seconds, clock, memory = most
    told = f"at most {seconds:.1f} s of processor time, {clock:.1f} s of the clock, {memory / 1e6:.0f} MB"
    print(codes.total(), "folders from", numbers[0], "exit codes", dict(sorted(codes.items())), faults, "faults,", told)


if __name__ == "__main__":  # FIRST COUNT LOG: folders of these numbers, with a log of the sample's pendulum
    first, many = int(sys.argv[1]), int(sys.argv[2])
    count(range(first, first + many), Path(sys.argv[3]).read_bytes())
