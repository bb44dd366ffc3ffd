"""Two versions of mbcli, turn by turn: what a step takes in the one and in the other.

    python -m benchmarks.versions BEFORE AFTER [SCENE...] [--seconds 60] [--processes 3]

BEFORE and AFTER are folders of checkouts that can be imported as they are; scenes are `steps-MODEL` and
`contact-WORLD.APPROXIMATION` of `python -m benchmarks --list`, by name or beginning of a name; default: all.

Each version runs in a process of its own, whose kernels are its own; their turns of a few milliseconds alternate, and
which begins does too: the second of two turns is slower by a percent. A time is processor time, the least of a turn; a
ratio is the median over turns. Where arrays come to lie in memory is worth some percent too, so that processes are
started more than once, and the median of their ratios is printed with the least and the largest.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

STEPS = 1000  # of a call without contact
CALLS, CALLS_IN_CONTACT = 2, 8  # of a turn


def serve(names):
    """In a process of one version: a line with the name of a scene in, the time of a step [us] out."""
    from benchmarks import contact, own
    from benchmarks.run import CONTACT_STEPS, TIME_STEP, case_of
    from benchmarks.scenes import WORLDS

    calls = {}
    for name in names:
        kind, _, rest = name.partition("-")
        if kind == "steps":
            calls[name] = own.steps_call(case_of(rest), TIME_STEP, STEPS).run, STEPS, CALLS
        else:
            world, approximation = rest.split(".")
            contest = contact.Contest(WORLDS[world](), TIME_STEP, approximation, ())
            calls[name] = contest.calls(CONTACT_STEPS)["mbcli"], CONTACT_STEPS, CALLS_IN_CONTACT
        calls[name][0]()
    print("ready", flush=True)
    for line in sys.stdin:
        call, steps, count = calls[line.strip()]
        print(min(_seconds(call) for _ in range(count)) / steps * 1e6, flush=True)


def _seconds(call):
    start = time.thread_time()
    call()
    return time.thread_time() - start


def start(folder, names):
    """The process of a version."""
    folder = Path(folder).resolve()
    environment = dict(os.environ, PYTHONPATH=str(folder))
    command = [sys.executable, "-P", __file__, "--serve", *names]  # this file, whose version may have none
    return subprocess.Popen(command, cwd=folder, env=environment, stdin=-1, stdout=-1, text=True)


def turns(folders, names, seconds):
    """{scene: [(before, after) in us for each turn]} of two processes."""
    processes = [start(folder, names) for folder in folders]
    try:
        for process in processes:
            if process.stdout.readline().strip() != "ready":
                raise SystemExit("a version does not run these scenes, see above")
        times = {name: [] for name in names}
        end, turn = time.monotonic() + seconds, 0
        while time.monotonic() < end or turn < 2:
            for name in names:
                found = [0.0, 0.0]
                for k in (turn % 2, 1 - turn % 2):
                    processes[k].stdin.write(f"{name}\n")
                    processes[k].stdin.flush()
                    found[k] = float(processes[k].stdout.readline())
                times[name].append(found)
            turn += 1
        return times
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("scenes", nargs="*", default=["steps-", "contact-"])
    parser.add_argument("--seconds", type=float, default=60.0, help="of the turns of two processes")
    parser.add_argument("--processes", type=int, default=3, help="of each version")
    options = parser.parse_args(arguments)
    from benchmarks.scenes import SCENES

    known = [scene.name for scene in SCENES if scene.name.startswith(("steps-", "contact-"))]
    names = [name for name in known if name.startswith(tuple(options.scenes))]
    if not names:
        parser.error(f"no scene of steps or contact begins with {', '.join(options.scenes)}")
    ratios = {name: [] for name in names}
    least = {name: [float("inf")] * 2 for name in names}
    for _ in range(options.processes):
        for name, times in turns((options.before, options.after), names, options.seconds).items():
            ratios[name].append(statistics.median(after / before for before, after in times))
            least[name] = [min(least[name][k], *(pair[k] for pair in times)) for k in (0, 1)]
    for name in names:
        (before, after), found = least[name], ratios[name]
        spread = f"{min(found):.3f} to {max(found):.3f}"
        print(f"{name:34} {before:8.2f} us {after:8.2f} us  {statistics.median(found):.3f} ({spread})")
    for kind in ("steps-", "contact-"):
        middle = [statistics.median(ratios[name]) for name in names if name.startswith(kind)]
        if middle:
            print(f"{kind}: median {statistics.median(middle):.3f}, {min(middle):.3f} to {max(middle):.3f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2:])
    else:
        main()
