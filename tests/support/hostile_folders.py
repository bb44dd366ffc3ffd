"""Folders that act if they can: modules, programs, links, settings beside a robot; and commands there, watched."""

import inspect
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from outside_watch import watch
from repository import SAMPLES

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


def run(folder, number, good_log):
    """The faults of one command in a folder that is made for it: a list of texts, empty if there are none."""
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
    entries = [str(hooks)]
    command = [sys.executable, "-c", "import sys; sys.path[:1] = []; from mbcli.__main__ import main; main()"]
    words = [word.format(robot="robot.urdf") for word in draw.choice(COMMANDS)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entries), "MBCLI_JIT": "0", "TMPDIR": str(own)}
    environment |= {"HOME": str(own), "PATH": os.environ["PATH"] + draw.choice(("", os.pathsep, f"{os.pathsep}."))}
    before = {path.name for path in work.iterdir()}
    try:
        done = subprocess.run(
            [*command, *words], cwd=work, env=environment, capture_output=True, text=True, errors="replace", timeout=120
        )
    except subprocess.TimeoutExpired:
        return [f"{words}: took more than 120 s"]
    faults = log.read_text().splitlines() if log.exists() else ["nothing was watched"]
    if done.returncode not in (0, 1, 2, 3, 4, 5, 6):
        faults.append(f"ended with {done.returncode}")
    if "RAN" in done.stdout + done.stderr or "secret" in done.stdout + done.stderr:
        faults.append("ran or told: " + (done.stdout + done.stderr)[-300:])
    faults += [
        str(victim) for victim, text in victims.items() if (victim.read_bytes() if victim.exists() else None) != text
    ]
    left = {path.name for path in work.iterdir()} - before - {*OUTPUTS, "s.csv.journal"}
    faults += [f"left {left}"] if left else []
    return [f"{number} {' '.join(words)}: {fault}" for fault in faults]


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]).read_bytes()), indent=1))
