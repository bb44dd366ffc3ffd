"""What is measured from outside, in processes of their own: start-up, compilation, memory of a long run.

Times are (processor time, wall-clock time) in seconds: on a busy machine the second says more about the others.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

HEAVY_PACKAGES = ("numba", "scipy", "h5py")


class NotAvailable(Exception):
    """A command that this version of mbcli does not have yet."""


def _run(arguments, **variables):
    environment = {**os.environ, **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what users have is compiled bytecode
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, timeout=600)


def _checked(arguments, **variables):
    result = _run(arguments, **variables)
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
        raise NotAvailable(f"`{' '.join(arguments[1:3])}`: {lines[-1]}")
    return result


def _timed(arguments):
    """Processor time and wall-clock time of a process."""
    before, started = os.times(), time.perf_counter()
    _checked(arguments)
    wall, after = time.perf_counter() - started, os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system, wall


def command_seconds(arguments, rounds):
    """Times of `mbcli ARGUMENTS` and of an empty Python process, by round."""
    commands = {"mbcli": ["-m", "mbcli", *arguments], "python": ["-c", "pass"]}
    _checked(commands["mbcli"])  # what it caches is there now
    seconds = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            seconds[name].append(_timed(command))
    return seconds


def heavy_imports(arguments):
    """Which of numba, scipy and h5py `mbcli ARGUMENTS` imports."""
    lines = _checked(["-X", "importtime", "-m", "mbcli", *arguments]).stderr.splitlines()
    imported = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in lines if line.startswith("import time:")}
    return sorted(imported.intersection(HEAVY_PACKAGES))


def batch_command_seconds(command, path, states, rounds):
    """Times of `mbcli COMMAND MODEL --states FILE -o FILE`, by round; states: arrays of a batch by name."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "states.npz"), os.path.join(folder, "result.npz")
        np.savez(source, **states)
        arguments = ["-m", "mbcli", command, str(path), "--states", source, "-o", result, "--force"]
        _checked(arguments)  # what it compiles is in the cache now
        return [_timed(arguments) for _ in range(rounds)]


_FIRST_STEP = """
import sys, time
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.systems.analysis import Simulator
plant = MultibodyPlant(1e-3)
Parser(plant).AddModels(sys.argv[1])
plant.Finalize()
started, processor = time.perf_counter(), time.process_time()
Simulator(plant).AdvanceTo(1e-3)
print(time.process_time() - processor, time.perf_counter() - started)
"""


def compile_seconds(path, rounds):
    """Times to the end of the first step with an empty cache, and a list of them with a full one.

    The import of numba counts, reading the model does not.
    """
    with tempfile.TemporaryDirectory() as folder:
        cache = {"MBCLI_CACHE_DIR": folder, "NUMBA_CACHE_DIR": folder, "MBCLI_JIT": "1"}
        outputs = [_checked(["-c", _FIRST_STEP, str(path)], **cache).stdout for _ in range(1 + rounds)]
    first, *cached = (tuple(map(float, output.split())) for output in outputs)
    return first, cached


_LOAD = """
import resource, sys
from benchmarks.loading import LOADERS, tree_urdf

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

LOADERS[sys.argv[2]](tree_urdf(3), "urdf")
before = most()
with open(sys.argv[1]) as file:
    LOADERS[sys.argv[2]](file.read(), "urdf")
print(most() - before)
"""


def memory_of_load(text, contestant):
    """Bytes by which the most memory of a process grows while it makes a plant of a URDF text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.urdf")
        with open(path, "w") as file:
            file.write(text)
        return int(_checked(["-c", _LOAD, path, contestant]).stdout)


_LONG_RUN = """
import json, os, sys
from mbcli.log.format import LogHeader
from mbcli.log.writer import LogWriter
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.simulation import Run

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

path, log, steps, step = sys.argv[1], sys.argv[2], int(sys.argv[3]), 1e-3
plant = MultibodyPlant(step)
Parser(plant).AddModels(path)
plant.Finalize()
context = plant.CreateDefaultContext()
plant.SetPositions(context, [0.5] * plant.num_positions())
q_names, v_names = tuple(plant.GetPositionNames()), tuple(plant.GetVelocityNames())
header = LogHeader(
    model_name="benchmark",
    position_names=q_names,
    position_units=("rad",) * len(q_names),
    velocity_names=v_names,
    velocity_units=("rad/s",) * len(v_names),
)
marks, found = [steps // 100, steps // 10, steps // 2, steps], []
with LogWriter(log, header) as writer:
    run = Run(plant, context, steps * step)
    for block in run.blocks():
        writer.append(time=block.time, q=block.q, v=block.v)
        while marks and run.steps >= marks[0]:
            found.append((marks.pop(0), resident()))
    writer.finish("complete", 0)
print(json.dumps({"resident": found, "log_bytes": os.path.getsize(log)}))
"""


def memory_of_many(world_name, contestant, bodies, time_step):
    """Bytes that a world of many bodies takes in a process of its own."""
    if not os.path.exists("/proc/self/statm"):
        raise NotAvailable("the size of a process is read from /proc, which this system does not have")
    return json.loads(
        _checked(["-m", "benchmarks.contact", world_name, contestant, str(bodies), str(time_step)]).stdout
    )


def memory_of_a_long_run(path, steps):
    """{"resident": [(step, bytes)], "log_bytes"} of a run whose every step goes to a log in a temporary folder."""
    if not os.path.exists("/proc/self/statm"):
        raise NotAvailable("the size of a process is read from /proc, which this system does not have")
    with tempfile.TemporaryDirectory() as folder:
        result = _checked(["-c", _LONG_RUN, str(path), os.path.join(folder, "run.h5"), str(steps)])
        return json.loads(result.stdout)
