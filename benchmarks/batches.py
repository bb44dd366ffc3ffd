"""Batches of states through the shell beside a Pinocchio script: `python -m benchmarks.batches [ROWS...]`.

`mbcli COMMAND MODEL --states FILE -o FILE` and a script of ten lines read the same states and write the same results;
the processor time of each whole process, in turn, medians. `latency`: states come one by one through a pipe, and each
row's result is waited for.
"""

import argparse
import contextlib
import io
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from lxml import etree

from mbcli.all import MultibodyPlant, Parser

MODEL = Path(__file__).parents[1] / "sample_models" / "arm7.urdf"
ROUNDS = 3
SCRIPT = """
import json, sys
import numpy as np, pinocchio as pin
model = pin.buildModelFromUrdf(sys.argv[2])
data, n = model.createData(), model.nv
frame, aligned = model.getFrameId("flange"), pin.LOCAL_WORLD_ALIGNED
weightless = pin.buildModelFromUrdf(sys.argv[2])
weightless.gravity.linear = np.zeros(3)

def energy(s):
    return [pin.computeKineticEnergy(model, data, s[:n], s[n : 2 * n]), pin.computePotentialEnergy(model, data, s[:n])]

def com(s):
    pin.centerOfMass(model, data, s[:n], s[n : 2 * n])
    return np.concatenate([data.com[0], data.vcom[0]])

def momentum(s):
    pin.computeCentroidalMomentum(model, data, s[:n], s[n : 2 * n])
    h, L = data.hg.linear, data.hg.angular
    return np.concatenate([L + np.cross(data.com[0], h), h])

def kinematics(s):
    pin.forwardKinematics(model, data, s[:n], s[n : 2 * n])
    X = pin.updateFramePlacement(model, data, frame)
    V = pin.getFrameVelocity(model, data, frame, aligned)
    return np.concatenate([X.translation, np.roll(pin.Quaternion(X.rotation).coeffs(), 1), V.angular, V.linear])

def jacobian(s):
    J = pin.computeFrameJacobian(model, data, s[:n], frame, aligned)
    return np.vstack([J[3:], J[:3]]).ravel()

calls = {
    "inverse-dynamics": lambda s: pin.rnea(model, data, s[:n], s[n : 2 * n], s[2 * n :]),
    "forward-dynamics": lambda s: pin.aba(model, data, s[:n], s[n : 2 * n], s[2 * n :]),
    "mass-matrix": lambda s: np.triu(pin.crba(model, data, s[:n])).ravel(),
    "bias": lambda s: pin.nonLinearEffects(weightless, data, s[:n], s[n : 2 * n]),
    "gravity": lambda s: -pin.computeGeneralizedGravity(model, data, s[:n]),
    "energy": energy, "com": com, "momentum": momentum, "kinematics": kinematics, "jacobian": jacobian,
}
call, source, target = calls[sys.argv[1]], sys.argv[3], sys.argv[4]
if source.endswith("csv"):
    rows = np.loadtxt(source, delimiter=",", skiprows=1)
    np.savetxt(target, [call(row) for row in rows], delimiter=",")
elif source.endswith("npz"):
    rows = np.hstack(list(np.load(source).values()))
    np.savez(target, result=np.array([call(row) for row in rows]))
elif source.endswith("h5"):
    import h5py
    with h5py.File(source) as states:
        rows = np.hstack([states["state/q"][:], states["state/v"][:]])
        rows = np.hstack([rows, np.zeros((len(rows), n))])
    with h5py.File(target, "w") as results:
        results["result"] = [call(row) for row in rows]
elif source.endswith("parquet"):
    import pyarrow as pa, pyarrow.parquet as pq
    rows = np.column_stack([column.to_numpy() for column in pq.read_table(source).columns])
    results = np.array([call(row) for row in rows]).T
    pq.write_table(pa.table({str(k): column for k, column in enumerate(results)}), target)
elif source.endswith("arrow"):
    import pyarrow as pa
    rows = np.column_stack([column.to_numpy() for column in pa.ipc.open_stream(source).read_all().columns])
    results = np.array([call(row) for row in rows]).T
    table = pa.table({str(k): column for k, column in enumerate(results)})
    with pa.ipc.new_stream(target, table.schema) as stream:
        stream.write_table(table)
else:
    with open(source) as lines, open(target, "w") as out:
        for line in lines:
            result = call(np.hstack(list(json.loads(line).values())))
            out.write(json.dumps(np.asarray(result).tolist()) + "\\n")
"""
# a small process starts the one that is measured: the memory of who starts one counts as its own
WATCH = """
import json, os, sys, time
start, null = time.perf_counter(), os.open(os.devnull, os.O_WRONLY)
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
_, status, used = os.wait4(process, 0)
print(json.dumps([used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss << 10]))
sys.exit(os.waitstatus_to_exitcode(status) != 0)
"""
INPUT = {"inverse-dynamics": "vdot", "forward-dynamics": "tau"}  # beside q and v
OPTIONS = {"kinematics": ("--frame", "flange"), "jacobian": ("--frame", "flange")}
LEFT_OUT = ("transmission", "dynamics")  # reflected inertias and damping, which Pinocchio does not read
KINDS = ("csv", "jsonl", "npz", "h5", "parquet", "arrow")
COMMANDS = (
    *("inverse-dynamics", "forward-dynamics", "mass-matrix", "bias", "gravity"),
    *("energy", "com", "momentum", "kinematics", "jacobian"),
)


def write_states(folder, count, third, kinds):
    """The sample arm, and states of it in files of several kinds; third: the name of the third field, or None."""
    tree = etree.parse(str(MODEL))
    etree.strip_elements(tree, *LEFT_OUT)
    for inertial in tree.xpath("/robot/link[@name='base']/inertial"):  # Pinocchio does not count what does not move
        inertial.getparent().remove(inertial)
    tree.write(str(folder / MODEL.name))
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(MODEL))
    plant.Finalize()
    n, rng = plant.num_velocities(), np.random.default_rng(1)
    fields = {name: rng.uniform(-1.0, 1.0, (count, n)) for name in ("q", "v", third) if name}
    columns = {f"{field}:{name}": k for field in fields for k, name in enumerate(_names(plant, field))}
    if "npz" in kinds:
        np.savez(folder / "states.npz", **fields)
    if "csv" in kinds:
        header = ",".join(columns)
        np.savetxt(folder / "states.csv", np.hstack(list(fields.values())), delimiter=",", header=header, comments="")
    if "jsonl" in kinds:
        with open(folder / "states.jsonl", "w") as out:
            for row in zip(*fields.values(), strict=True):
                out.write(json.dumps(dict(zip(fields, map(np.ndarray.tolist, row), strict=True))) + "\n")
    if "h5" in kinds:
        write_log(folder / "states.h5", plant, fields)
    if "parquet" in kinds or "arrow" in kinds:
        import pyarrow
        from pyarrow import ipc, parquet

        table = pyarrow.table({name: fields[name.partition(":")[0]][:, k] for name, k in columns.items()})
        parquet.write_table(table, folder / "states.parquet")
        with ipc.new_stream(folder / "states.arrow", table.schema) as stream:
            stream.write_table(table)


def write_log(path, plant, fields):
    """A log of q and v, as `simulate` writes it."""
    from mbcli.log.format import LogHeader
    from mbcli.log.writer import LogWriter

    q, v = fields["q"], fields["v"]
    header = LogHeader(
        model_name="arm7",
        position_names=tuple(plant.GetPositionNames()),
        position_units=("rad",) * q.shape[1],
        velocity_names=tuple(plant.GetVelocityNames()),
        velocity_units=("rad/s",) * v.shape[1],
    )
    with LogWriter(path, header) as log:
        log.append(time=np.arange(len(q)) * 1e-3, q=q, v=v)
        log.finish("complete", 0)


def _names(plant, field):
    return plant.GetPositionNames() if field == "q" else plant.GetVelocityNames()


def cost_of(command):
    """Processor time of a process, the time by the clock, and the most memory that it had [bytes]."""
    done = subprocess.run([sys.executable, "-S", "-c", WATCH, *command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:6])} failed: {done.stderr}")
    return json.loads(done.stdout)


def compare(command, kind, folder, num_rounds):
    """(processor time, time by the clock) of mbcli and of the script, medians of the rounds; memory of mbcli."""
    source = folder / f"states.{kind}"
    model = str(folder / MODEL.name)
    ours = [sys.executable, "-m", "mbcli", command, model, "--states", str(source)]
    ours += ["-o", str(folder / f"ours.{kind}"), "--force", *OPTIONS.get(command, ())]
    script = [sys.executable, "-c", SCRIPT, command, model, str(source), str(folder / f"theirs.{kind}")]
    cost_of(ours)  # what it compiles is kept
    rounds = [(cost_of(ours), cost_of(script)) for _ in range(num_rounds)]
    check_equal(folder, kind, command)
    costs = [[statistics.median(turn[who][k] for turn in rounds) for k in (0, 1)] for who in (0, 1)]
    return *costs, max(turn[0][2] for turn in rounds)


def check_equal(folder, kind, command):
    """The first rows of both results are equal to 1e-9, as far as the script has columns."""
    ours, theirs = (_first_rows(folder / f"{who}.{kind}") for who in ("ours", "theirs"))
    if command == "mass-matrix":  # Pinocchio fills the upper triangle
        n = round(ours.shape[1] ** 0.5)
        ours = np.triu(ours.reshape(-1, n, n)).reshape(len(ours), -1)
    if command == "kinematics":  # a quaternion and its negative are the same rotation
        ours[:, 3:7] *= np.sign(np.sum(ours[:, 3:7] * theirs[:, 3:7], axis=1, keepdims=True))
    np.testing.assert_allclose(ours[:, : theirs.shape[1]], theirs, atol=1e-9)


def _first_rows(path, count=100):
    """The first rows of results as a table; times of logs are left out."""
    if path.suffix == ".csv":
        with open(path) as file:
            lines = [line for line in itertools.islice(file, count + 1) if line[0] in "-0123456789"][:count]
        return np.array([[float(cell) for cell in line.split(",")] for line in lines])
    if path.suffix == ".jsonl":
        with open(path) as file:
            rows = [json.loads(line) for line in itertools.islice(file, count)]
        return np.array([np.hstack([np.ravel(x) for x in (r.values() if isinstance(r, dict) else [r])]) for r in rows])
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            columns = [array[:count] for name, array in arrays.items() if name != "metadata"]
    elif path.suffix == ".h5":
        import h5py

        with h5py.File(path) as file:
            group = file.get("results", file)
            columns = [group[name][:count] for name in _in_order(group) if name != "time"]
    else:
        from pyarrow import ipc, parquet

        table = parquet.read_table(path) if path.suffix == ".parquet" else ipc.open_stream(path).read_all()
        columns = [column.slice(0, count).to_numpy() for column in table.columns]
    return np.hstack([np.reshape(column, (len(column), -1)) for column in columns])


def _in_order(group):
    """Names of the datasets of a group in the order in which they were written."""
    return sorted(group, key=lambda name: group[name].id.get_offset() or 0)


def latencies(count=200):
    """Seconds from a row into the pipe to its result out of it: the first, the median and the largest of others."""
    command = [
        sys.executable,
        "-m",
        "mbcli",
        "inverse-dynamics",
        str(MODEL),
        "--states",
        "-",
        "--states-format",
        "jsonl",
    ]
    row = json.dumps({"q": [0.1] * 7, "v": [0.2] * 7, "vdot": [0.3] * 7}).encode() + b"\n"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        seconds = []
        for _ in range(count):
            start = time.perf_counter()
            process.stdin.write(row)
            process.stdin.flush()
            process.stdout.readline()
            seconds.append(time.perf_counter() - start)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    return seconds[0], statistics.median(seconds[1:]), max(seconds[1:])


def seconds_of_a_number(rows=20_000, width=21):
    """Processor time to read one number of CSV as `numpy.savetxt` writes it, 19 digits; the least of five times."""
    from mbcli.batch.state_layout import StateLayout
    from mbcli.batch.state_reader import open_states

    text, names = io.BytesIO(), [f"q{k}" for k in range(width)]
    numbers = np.random.default_rng(2).uniform(-1.0, 1.0, (rows, width))
    np.savetxt(text, numbers, delimiter=",", header=",".join(names), comments="")
    layout, seconds = StateLayout(names, (), (), np.zeros(width), ()), []
    for _ in range(5):
        text.seek(0)
        start = time.process_time()
        count = sum(len(chunk) for chunk in open_states(text, layout, input_format="csv"))
        seconds.append((time.process_time() - start) / (count * width))
    return min(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=int, default=[100_000])
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=["inverse-dynamics"])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    first, median, largest = latencies()
    print(
        f"latency: first row {first:.2f} s with the start, then {median * 1e3:.2f} ms, {largest * 1e3:.1f} ms at most"
    )
    print(f"reading: {seconds_of_a_number() * 1e9:.0f} ns a number")
    print("processor time (by the clock)                  mbcli  Pinocchio script  ratio of both  memory of mbcli")
    for count, command in itertools.product(arguments.rows, arguments.commands):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_states(folder, count, INPUT.get(command), arguments.kinds)
            for kind in arguments.kinds:
                ours, theirs, memory = compare(command, kind, folder, arguments.rounds)
                pair = "".join(f"{processor:9.2f} ({clock:5.2f}) s" for processor, clock in (ours, theirs))
                ratios = f"{theirs[0] / ours[0]:6.1f} ({theirs[1] / ours[1]:5.1f})"
                print(f"{command:17} {kind:7} {count:8} {pair} {ratios} {memory >> 20:8} MiB", flush=True)


if __name__ == "__main__":
    main()
