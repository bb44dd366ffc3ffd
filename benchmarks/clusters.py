"""Sweeps on a Dask cluster whose workers see no file of the client: are all rows there, and what does it cost?

    python -m benchmarks.clusters faults [CASES]      # all goes wrong: the table against that of -j
    python -m benchmarks.clusters files FOLDER...     # `check --meshes` and `convert` of robots: texts and files too
    python -m benchmarks.clusters cost [CASES...]     # time a case and memory of the client, beside plain Dask

`faults` runs Upkie (extra `robots`) with its meshes, on a ground, under a controller of two files. Workers have a mount
namespace of their own (root is needed) in which the folders of the robot are empty. Again and again they are killed,
paused, and left without memory, and the client is killed; one is slow, two have another version and a full disk. `cost`
runs the double pendulum for 0.01 s: by `mbcli sweep` on two processes of this machine, by `mbcli sweep --dask` on two
workers, by a function of three lines that plain Dask maps over the same starts on the same workers, and, where it is
installed, by GNU parallel, which starts `mbcli simulate` for each of up to 1,000 cases, two at a time. More cases than
100,000 run on the cluster alone, whose table is to begin as that of the processes. Bytes are all that goes over the
loopback: of the cluster alone under
`unshare -n sh -c 'ip link set lo up && python -m benchmarks.clusters cost'`.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from benchmarks.bare_cluster import ROOT, BareCluster, can_hide_folders

PENDULUM = ROOT / "sample_models" / "double_pendulum.urdf"
JOINTS = [f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee", "wheel")]
TRANSMISSION = """<transmission name="{0}"><type>transmission_interface/SimpleTransmission</type><joint name="{0}"/>
<actuator name="{0}"/></transmission>"""
CONTROLLER = "from gains import damped\n\n\ndef controller(v):\n    return [damped(x) for x in v[6:]]\n"
GAINS = "def damped(speed):\n    return -0.5 * speed\n"
MEASURES = ("min(base_z)", "max(contact_force_sum)", "energy_lost=first(energy)-final(energy)")
MOST_PLAIN = 10_000  # cases for plain Dask, which takes 30 ms for each
MOST_LOCAL = 100_000
MOST_EACH = 1000  # cases that have a process each
SECONDS = 0.01  # simulated, of a case of `cost`
SMALL_DISK = "600k"  # of a bad worker
PAUSE = 6.0  # [s]


def mbcli(*words, folder, **options):
    """A process of `mbcli sweep`, and the most memory that it took [bytes]."""
    program = "import resource, sys\nfrom mbcli.cli import run\nsys.argv[0] = 'mbcli'\ncode = run(sys.argv[1:])\n"
    program += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, file=sys.stderr)\nsys.exit(code)\n"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", program, "sweep", *map(str, words)],
        cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def loopback():
    """Bytes that the loopback has carried, None where that is not known."""
    try:
        lines = Path("/proc/net/dev").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.split()[0] == "lo:")
    except (OSError, StopIteration):
        return None


def finished(process):
    """(wall-clock seconds, most memory [bytes]) of such a process from now on."""
    began = time.perf_counter()
    err = process.communicate()[1]
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode}: {err}")
    return time.perf_counter() - began, int(err.strip().splitlines()[-1])


def robot_in(folder):
    """Words of a sweep of Upkie, whose files are copied into a folder."""
    spec = find_spec("upkie_description")
    if spec is None or spec.origin is None:
        sys.exit("benchmarks: error: upkie_description is missing: pip install 'mbcli[robots]'")
    source = Path(spec.origin).parent
    shutil.copytree(source, folder / "upkie_description")
    model = folder / "upkie_description" / "urdf" / "upkie.urdf"
    text = model.read_text().replace("</robot>", "".join(map(TRANSMISSION.format, JOINTS)) + "</robot>")
    model.write_text(text)
    (folder / "control").mkdir()
    (folder / "control" / "brake.py").write_text(CONTROLLER)
    (folder / "control" / "gains.py").write_text(GAINS)
    words = [model, "--ground", "--controller", folder / "control" / "brake.py", "-t", "0.2", "--at", "base_z=0.6"]
    words += ["--vary", "body.torso.mass=*uniform(0.7, 1.3)", "--vary", "geometry.*.friction=uniform(0.3, 1)"]
    return [*words, *(f"--measure={text}" for text in MEASURES)], source


def bad_workers(cluster):
    """Starts those that cannot run a case, which nobody kills, and a slow one."""
    cluster.add(MBCLI_JIT="0")  # kernels that are not compiled: another program
    cluster.add(before=f'mount -t tmpfs -o size={SMALL_DISK} none "$HOME" && cd "$HOME" &&')
    cluster.bystanders += cluster.workers[-2:]
    del cluster.workers[-2:]
    cluster.add(before="renice -n 19 $$ > /dev/null &&")


def faults(count, seed=1):
    """Kills and pauses workers, and kills the client of a sweep, at random moments, until it is done."""
    if not can_hide_folders():
        sys.exit("benchmarks: error: workers that see no file need mount namespaces: run it as root")
    moments = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        client = folder / "client"
        client.mkdir()
        words, source = robot_in(client)
        words += ["--samples", count]
        seconds, _ = finished(mbcli(*words, "-o", "here.csv", "-j", "2", folder=client))
        print(f"{count} cases on this machine: {seconds:.1f} s")
        killed = clients = paused = starved = 0
        said = ""
        began = time.perf_counter()
        with BareCluster(folder / "cluster", 2, hidden=[client, source]) as cluster:
            bad_workers(cluster)
            on_cluster = [*words, "-o", "there.csv", "--dask", cluster.address]
            running = mbcli(*on_cluster, folder=client)
            while running.poll() is None:
                time.sleep(moments.uniform(4.0, 8.0))
                if running.poll() is not None:
                    break
                choice = moments.random()
                if choice < 0.2:
                    cluster.starve()
                    starved += 1
                elif choice < 0.5:
                    cluster.kill()
                    cluster.add()
                    killed += 1
                elif choice < 0.75:
                    cluster.pause()
                    time.sleep(PAUSE)
                    cluster.pause(is_paused=False)
                    paused += 1
                elif (client / "there.csv.journal").exists():
                    running.kill()
                    said += running.communicate()[1]
                    clients += 1
                    running = mbcli(*on_cluster, "--resume", folder=client)
            said += running.communicate()[1]
            if running.returncode != 0:
                sys.exit(f"exit code {running.returncode}: {said}")
        seconds = time.perf_counter() - began
        print(f"on workers without files: {seconds:.1f} s; times that workers were killed: {killed}, paused: {paused},")
        print(f"without memory: {starved}; the client was killed {clients} times; of workers it said:")
        print(*dict.fromkeys(line for line in said.splitlines() if "it gets no more runs" in line), sep="\n")
        lines = (client / "there.csv.journal").read_bytes().splitlines()[1:]
        points = [json.loads(line.rpartition(b"\t")[0])["point"] for line in lines]
        same = (client / "there.csv").read_bytes() == (client / "here.csv").read_bytes()
        print(f"rows: {len(points)}, points: {len(set(points))}; table of the same bytes: {'yes' if same else 'NO'}")
        return 0 if same and sorted(points) == list(range(count)) else 1


def cost(counts):
    """Time a case and memory of the client."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(
            f"{'cases':>7}  {'by':<22}  {'wall [s]':>8}  {'a case [ms]':>11}  {'client [MB]':>11}  {'bytes a case':>12}"
        )
        for count in counts:
            words = [PENDULUM, "--vary", "state.elbow=uniform(-1, 1)", "--samples", count, "-t", SECONDS, "--force"]
            ways = {"mbcli sweep -j 2": [*words, "-j", "2", "-o", "here.csv"]} if count <= MOST_LOCAL else {}
            with BareCluster(folder / f"cluster{count}", 2) as cluster:
                ways["mbcli sweep --dask"] = [*words, "--dask", cluster.address, "-o", "there.csv"]
                for way, own in ways.items():
                    carried = loopback()
                    report(count, way, *finished(mbcli(*own, folder=folder)), carried)
                here = (folder / "here.csv").read_bytes() if (folder / "here.csv").exists() else b""
                there = (folder / "there.csv").read_bytes()
                same = there == here if ways.keys() != {"mbcli sweep --dask"} else there.startswith(here)
                rows = f"the same bytes in {here.count(10)} lines of {there.count(10)}: {'yes' if same else 'NO'}"
                print(f"{'':>7}  {rows}; {memories(cluster)}", flush=True)
            if count <= MOST_EACH and shutil.which("parallel"):
                each_its_process(count, folder)
            if count > MOST_PLAIN:
                continue
            with BareCluster(folder / f"plain{count}", 2) as cluster:
                command = [sys.executable, "-m", "benchmarks.plain_dask", cluster.address, PENDULUM, count, SECONDS]
                environment = {**os.environ, "PYTHONPATH": str(ROOT)}
                carried = loopback()
                process = subprocess.Popen(
                    list(map(str, command)), env=environment, stderr=subprocess.PIPE, text=True, cwd=ROOT
                )
                report(count, "plain Dask", *finished(process), carried)
                print(f"{'':>7}  {memories(cluster)}", flush=True)


def each_its_process(count, folder):
    """GNU parallel with `mbcli simulate` for each case."""
    random.seed(0)
    starts = "".join(f"{random.uniform(-1.0, 1.0)!r}\n" for _ in range(count))
    own = [sys.executable, "-m", "mbcli", "-q", "simulate", PENDULUM, "--at", "elbow={}", "-t", SECONDS]
    command = ["parallel", "-j", "2", "--will-cite", *own, "--json", "--no-log"]
    environment, began = {**os.environ, "PYTHONPATH": str(ROOT)}, time.perf_counter()
    with open(folder / "each.jsonl", "wb") as output:
        words = list(map(str, command))
        subprocess.run(words, input=starts.encode(), stdout=output, cwd=folder, env=environment, check=True)
    report(count, "GNU parallel", time.perf_counter() - began, None, None)


def files(folders):
    """`check` and `convert` over models that workers do not see, beside one process and two."""
    if not can_hide_folders():
        sys.exit("benchmarks: error: workers that see no file need mount namespaces: run it as root")
    commands = {"check": ["check", *folders, "--meshes"], "convert": ["convert", *folders, "--to", "mjcf", "--bundle"]}
    with tempfile.TemporaryDirectory() as name, BareCluster(Path(name) / "cluster", 2, hidden=folders) as cluster:
        for command, words in commands.items():
            found = []
            for way in ([], ["-j", "2"], ["--dask", cluster.address]):
                folder = Path(name) / f"{command}{len(found)}"
                folder.mkdir()
                output = ["-o", "out/"] if command == "convert" else []
                carried, began = loopback(), time.perf_counter()
                process = [sys.executable, "-m", "mbcli", *map(str, words), *output, *way]
                environment = {**os.environ, "PYTHONPATH": str(ROOT)}
                done = subprocess.run(process, capture_output=True, cwd=folder, env=environment)
                sent = "" if carried is None else f"; {(loopback() - carried) / 1e6:.0f} MB over the loopback"
                print(f"{command} {' '.join(way)}: {time.perf_counter() - began:.1f} s{sent}", flush=True)
                written = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
                found.append((done.returncode, done.stdout, done.stderr, written))
            same = [other == found[0] for other in found[1:]]
            last = done.stdout.decode().strip().splitlines()[-1]
            print(f"{command}: exit code {done.returncode}, {len(written)} files, the same: {same}; {last}", flush=True)
    return 0


def memories(cluster):
    """The most memory of the scheduler, of a worker, and of the process in which that runs cases, and their processor
    time, as text."""
    worker = cluster.workers[0].pid
    started = [Path(f"/proc/{worker}/task/{task}/children").read_text() for task in os.listdir(f"/proc/{worker}/task")]
    named = {"scheduler": cluster.scheduler.pid, "a worker of Dask": worker}
    named |= {f"process {pid} for cases": int(pid) for pid in " ".join(started).split()}
    found = []
    for name, pid in named.items():
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        memory = next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM:"))
        ticks = sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
        found.append(f"{name} {memory:.0f} MB, {ticks / os.sysconf('SC_CLK_TCK'):.0f} s")
    return "; ".join(found)


def report(count, way, seconds, memory, carried):
    """A line. carried: what loopback() gave before."""
    each = "" if carried is None else round((loopback() - carried) / count)
    times = f"{seconds:>8.2f}  {1e3 * seconds / count:>11.2f}"
    megabytes = "" if memory is None else f"{memory / 1e6:.0f}"
    print(f"{count:>7}  {way:<22}  {times}  {megabytes:>11}  {each:>12}", flush=True)


def main(words):
    """The command."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if words[:1] == ["faults"]:
        return faults(int(words[1]) if len(words) > 1 else 300)
    if words[:1] == ["files"]:
        return files([Path(word).resolve() for word in words[1:]])
    if words[:1] == ["cost"]:
        return cost([int(word) for word in words[1:]] or [10, 1000, 10_000])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
