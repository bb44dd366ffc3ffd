"""The runner: measures scenes and prints one line per comparison. `python -m benchmarks --help`."""

import argparse
import json
import statistics
import sys
import time
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from benchmarks import constrained, contact, loading, own, processes
from benchmarks.measure import BRIEF, QUICK, THOROUGH, median_ratio, seconds_per_call
from benchmarks.peers import ADAPTERS, installed, urdf_without_geometry
from benchmarks.plot import growth_svg
from benchmarks.scenes import (
    ASLEEP,
    ASSEMBLY_STARTS,
    BATCH_STATES,
    BODIES,
    CHAIN_LENGTHS,
    DRAKE_BODIES,
    FEET,
    LOADED_CHAINS,
    LOADED_CONSTRAINTS,
    LOOPS,
    MODELS,
    ROOT,
    SCENES,
    TIME_STEP,
    TREE_SIZES,
    WORLDS,
    chain_urdf,
)
from mbcli.errors import NumericalError

AGREEMENT = 1e-9  # relative to the largest element; programs that differ by more do not compute the same
PINOCCHIO_LINKS = 100  # its Data grows with the cube of the length: 1.7 GiB for 300 links
KERNEL_REPEATS = 100
START_ROUNDS = 9
CONTACT_STEPS = 50  # a call
STEPPED_BODIES = 5000  # bodies times steps of a call, where there are few


@dataclass
class Line:
    """One line of the report; processor time in seconds per call, step, state or process, as the scene says."""

    scene: str
    seconds: float
    peer: str = ""
    peer_seconds: float | None = None
    ratio: float | None = None  # how many times as fast as the peer, median over rounds
    goal: str = ""
    met: bool | None = None
    note: str = ""


class Skipped(Exception):
    """Why a scene cannot be measured here."""


class Disagreement(Exception):
    """Two programs computed different things."""


# ---------------------------------------------------------------------------------------- comparing calls


def check_agreement(scene, calls):
    """Raises Disagreement unless all calls give what mbcli gives."""
    results = {name: np.asarray(call.read(call.run())) for name, call in calls.items()}
    expected = results["mbcli"]
    for name, found in results.items():
        if found.shape != expected.shape:
            raise Disagreement(f"{scene.name}: {name} gives shape {found.shape}, mbcli {expected.shape}")
        error = abs(found - expected).max(initial=0.0) / max(1.0, abs(expected).max(initial=0.0))
        if not error <= AGREEMENT:
            raise Disagreement(f"{scene.name}: {name} differs from mbcli by {error:.2e}")


def compare(scene, calls, effort, per_call=1, note=""):
    """Lines of mbcli against each other contestant; per_call is what one call counts for."""
    seconds = seconds_per_call({name: call.run for name, call in calls.items()}, effort)
    medians = {name: statistics.median(times) / per_call for name, times in seconds.items()}
    peers = [name for name in calls if name != "mbcli"]
    if not peers:
        return [Line(scene.name, medians["mbcli"], note=note)]
    lines = []
    for peer in peers:
        line = Line(scene.name, medians["mbcli"], peer, medians[peer], median_ratio(seconds, "mbcli", peer), note=note)
        if peer in scene.goals:
            line.goal = f">= {scene.goals[peer]:g} x"
            line.met = line.ratio >= scene.goals[peer]
        lines.append(line)
    return lines


@cache
def case_of(name):
    """The case of a model; Skipped where its file is absent."""
    model = MODELS[name]
    if not model.path.exists():
        raise Skipped(f"{name}: its file {model.path.name} is absent; MBCLI_MODELS names the folder of the models")
    return own.Case(model.path, model.weld)


def adapters(case, model, *names):
    """The adapters of those peers that are installed."""
    return {name: adapter(name, case, model) for name in names if installed(name)}


@cache
def adapter(name, case, model):
    return ADAPTERS[name](case, urdf_without_geometry(model.path), model.weld)


# ------------------------------------------------------------------------- one function per kind of scene


def calls_of(scene):
    """The calls that a scene of kind engine, plant or batch compares."""
    case, model = case_of(scene.model), MODELS[scene.model]
    if scene.kind == "engine":
        calls = {"mbcli": own.engine_call(case, scene.calculation)}
        for name, peer in adapters(case, model, "Pinocchio", "Drake").items():
            calls[name] = peer.engine_call(scene.calculation)
    elif scene.kind == "plant":
        calls = {"mbcli": own.plant_call(own.own_plant_side(case), scene.calculation, scene.new_state)}
        for name, peer in adapters(case, model, "Drake").items():
            calls[name] = peer.plant_call(scene.calculation, scene.new_state)
    elif scene.kind == "constrained":
        standing = constrained.Standing(case, FEET[scene.model])
        calls = {"mbcli": standing.call()}
        for name, peer in adapters(case, model, "Pinocchio").items():
            calls[name] = peer.constrained_call(standing)
    else:
        calls = {
            "mbcli": own.inverse_dynamics_of_states(case, BATCH_STATES, lanes=True),
            "one by one": own.inverse_dynamics_of_states(case, BATCH_STATES, lanes=False),
        }
        for name, peer in adapters(case, model, "Pinocchio").items():
            calls[name] = peer.inverse_dynamics_of_states(BATCH_STATES)
    return {name: call for name, call in calls.items() if call is not None}


def measure_engine(scene, effort):
    calls = calls_of(scene)
    check_agreement(scene, calls)
    case = case_of(scene.model)
    variants = {
        "written": own.written_engine_call(case, scene.calculation).run,
        "loop": own.repeated_engine_call(case, scene.calculation, KERNEL_REPEATS).run,
    }
    seconds = {name: statistics.median(times) for name, times in seconds_per_call(variants, effort).items()}
    note = f"{formatted(seconds['written'])} with its inputs copied in"
    note += f", {formatted(seconds['loop'] / KERNEL_REPEATS)} in a compiled loop"
    return compare(scene, calls, effort, note=note)


def measure_plant(scene, effort):
    calls = calls_of(scene)
    check_agreement(scene, calls)
    return compare(scene, calls, BRIEF if effort is THOROUGH else effort)


def measure_constrained(scene, effort):
    calls = calls_of(scene)
    check_agreement(scene, calls)
    return compare(scene, calls, effort)


def measure_batch(scene, effort):
    calls = calls_of(scene)
    check_agreement(scene, calls)
    lines = compare(scene, calls, effort, per_call=BATCH_STATES)
    lines[0].note = f"{1.0 / lines[0].seconds:,.0f} states per second"
    return lines


def measure_steps(scene, effort):
    steps = 1000 if effort is THOROUGH else 20
    case = case_of(scene.model)
    peers = adapters(case, MODELS[scene.model], "MuJoCo", "Drake")
    check_steps_agree(scene, case, peers)
    calls = {"mbcli": own.steps_call(case, TIME_STEP, steps)}
    calls.update((name, peer.steps_call(TIME_STEP, steps)) for name, peer in peers.items())
    return compare(scene, calls, effort, per_call=steps)


def check_steps_agree(scene, case, peers):
    """Drake shall reach the same state in one step; MuJoCo, whose velocities differ, have the same accelerations.

    By the scheme and the rotations that both have: quaternions grow in Drake.
    """
    if "Drake" in peers:
        calls = {"mbcli": own.steps_call(case, TIME_STEP, 1, "drake"), "Drake": peers["Drake"].steps_call(TIME_STEP, 1)}
        check_agreement(scene, {name: own.Call(call.run, _unit(case, call.read)) for name, call in calls.items()})
    if "MuJoCo" in peers:
        check_agreement(scene, {"mbcli": own.acceleration_call(case), "MuJoCo": peers["MuJoCo"].acceleration_call()})


def _unit(case, read):
    """As read, with quaternions of unit length."""

    def with_unit_quaternions(result):
        q_v = np.array(read(result))
        for start in case.quaternion_starts:
            q_v[start : start + 4] /= np.linalg.norm(q_v[start : start + 4])
        return q_v

    return with_unit_quaternions


def measure_command(scene, effort):
    """The batch command in a process of its own, from a file of states to a file of results; start-up counts."""
    rounds = 5 if effort is THOROUGH else 1
    case, model = case_of(scene.model), MODELS[scene.model]
    fields = {"q": case.q, "v": case.v, "vdot": np.resize(case.vdot, case.v.shape)}
    states = {name: np.resize(rows, (BATCH_STATES, rows.shape[1])) for name, rows in fields.items()}
    seconds = processes.batch_command_seconds(scene.calculation, model.path, states, rounds)
    processor, wall = medians(seconds)
    line = Line(scene.name, processor / BATCH_STATES)
    line.note = f"{BATCH_STATES / wall:,.0f} states per second, with start-up, NPZ to NPZ"
    return [line]


def measure_growth(scene, effort):
    """Seconds per call over the length of a chain, and the exponent of the growth."""
    lines, times = [], []
    lengths = CHAIN_LENGTHS if effort is THOROUGH else CHAIN_LENGTHS[:3]
    for links in lengths:
        text = chain_urdf(links)
        case = own.Case(text=text)
        calls = {"mbcli": own.engine_call(case, scene.calculation)}
        if installed("Pinocchio") and links <= PINOCCHIO_LINKS:
            calls["Pinocchio"] = ADAPTERS["Pinocchio"](case, text).engine_call(scene.calculation)
        check_agreement(scene, calls)
        for line in compare(scene, calls, effort):
            line.scene = f"{scene.name}.{links}"
            line.note = f"{formatted(line.seconds / links)} a link"
            lines.append(line)
        times.append(lines[-1].seconds)
    exponents = np.diff(np.log(times)) / np.diff(np.log(lengths))
    lines[-1].note += f"; grows as n^{exponents[-1]:.2f} from {lengths[-2]} to {lengths[-1]} links"
    if scene.calculation == "aba" and effort is THOROUGH:
        lines[-1].goal, lines[-1].met = "linear: n^1.1 at most", bool(exponents[-1] <= 1.1)
    return lines


def measure_load(scene, effort):
    """From the text of a file to a finalized plant; a tree of several sizes, with the exponent of the growth."""
    if scene.model:
        texts = {scene.model: urdf_without_geometry(MODELS[scene.model].path)}
    else:
        sizes = TREE_SIZES if effort is THOROUGH else (100, 300)
        texts = {links: loading.tree_urdf(links) for links in sizes}
    if scene.calculation == "sdf":
        texts = {size: loading.as_sdf(text) for size, text in texts.items()}
    lines, own_seconds = [], {}
    for size, text in texts.items():
        times, counts = loading.seconds_to_load(text, scene.calculation, 9 if scene.model and effort is THOROUGH else 2)
        if len(set(counts.values())) > 1:
            raise Disagreement(f"velocities of {size}: {counts}")
        name = scene.name if scene.model else f"{scene.name}.{size}"
        own_seconds[size] = statistics.median(times["mbcli"])
        for peer, seconds in times.items():
            if peer != "mbcli":
                ratio = median_ratio(times, "mbcli", peer)
                lines.append(Line(name, own_seconds[size], peer, statistics.median(seconds), ratio))
        if not lines or lines[-1].scene != name:
            lines.append(Line(name, own_seconds[size]))
        lines[-1].note = f"{formatted(own_seconds[size] / len(text) * 1e6)} a megabyte, {counts['mbcli']} velocities"
    lines[-1].goal, lines[-1].met = f"<= {scene.at_most:g} s", lines[-1].seconds <= scene.at_most
    if not scene.model:
        (small, before), (large, last) = list(own_seconds.items())[-2:]
        exponent = np.log(last / before) / np.log(large / small)
        lines[-1].note += f"; grows as n^{exponent:.2f} from {small} to {large} links"
    return lines


def measure_load_chain(scene, effort):
    """The same of chains as real files state them, beside pydrake; the growth as bars, and the memory that it takes."""
    lines = []
    for links, rounds in LOADED_CHAINS.items() if effort is THOROUGH else ((30, 1), (100, 1)):
        text = loading.chain_urdf(links)
        times, counts = loading.seconds_to_load(text, "urdf", rounds, only=("mbcli", "Drake"))
        if len(set(counts.values())) > 1:
            raise Disagreement(f"velocities of {links}: {counts}")
        line = Line(f"{scene.name}.{links}", statistics.median(times["mbcli"]))
        bars = {name: "#" * round(8 * np.log10(statistics.median(seconds) / 1e-3)) for name, seconds in times.items()}
        memory = {name: processes.memory_of_load(text, name) / len(text) for name in times}
        line.note = ", ".join(f"{name} {bars[name]} {memory[name]:.1f} bytes a byte of the file" for name in times)
        if "Drake" in times:
            line.peer, line.peer_seconds = "Drake", statistics.median(times["Drake"])
            line.ratio = median_ratio(times, "mbcli", "Drake")
            line.goal = f">= {scene.goals['Drake']:.2f} x"
            line.met = line.ratio >= scene.goals["Drake"]
        lines.append(line)
    return lines


def measure_load_constraints(scene, effort):
    """From the text of a file with many joints that follow others, or many loops, to a context."""
    count = LOADED_CONSTRAINTS[scene.calculation] if effort is THOROUGH else 30
    text = {"mimics": loading.hand_urdf, "loops": loading.loops_urdf}[scene.calculation](count)
    first, following = loading.seconds_to_first_and_next_context(text)
    note = f"{count} {scene.calculation}; a further context {formatted(following)}"
    return [Line(scene.name, first, goal=f"<= {scene.at_most:g} s", met=first <= scene.at_most, note=note)]


def measure_loops(scene, effort):
    """Seconds per evaluation of accelerations over the number of loops, and the exponent of the growth."""
    lines, counts = [], LOOPS if effort is THOROUGH else LOOPS[:3]
    for loops in counts:
        (line,) = compare(scene, {"mbcli": constrained.loops_call(loops)}, effort)
        line.scene, line.note = f"{scene.name}.{loops}", f"{formatted(line.seconds / loops)} a loop of 5 equations"
        lines.append(line)
    times = [line.seconds for line in lines]
    exponents = np.diff(np.log(times)) / np.diff(np.log(counts))
    lines[-1].note += f"; grows as n^{exponents[-1]:.2f} from {counts[-2]} to {counts[-1]} loops"
    if effort is THOROUGH:
        lines[-1].goal, lines[-1].met = "linear: n^1.1 at most", bool(exponents[-1] <= 1.1)
    return lines


def measure_assembly(scene, effort):
    """Seconds per assembly, and how many of the random starts were assembled: all is the goal."""
    starts = ASSEMBLY_STARTS if effort is THOROUGH else 20
    started = time.process_time()
    found = constrained.assemble_from_random_starts(scene.calculation, starts)
    line = Line(scene.name, (time.process_time() - started) / starts, goal="all", met=found["rate"] == 1.0)
    line.note = f"{found['rate']:.1%} of {starts} starts, steps: median {found['median']:g}, most {found['largest']}"
    line.note += f"; {found['restarted']} went on from another start"
    return [line]


def measure_contact(scene, effort):
    """Seconds per step of a world at rest; contacts, of each program its own, are in the notes."""
    steps = CONTACT_STEPS if effort is THOROUGH else 2
    try:
        world = WORLDS[scene.model]()
    except OSError as reason:
        raise Skipped(f"{reason}; MBCLI_MODELS names the folder of the models") from reason
    if effort is not THOROUGH:
        world = replace(world, settling=0.0)
    try:
        contest = contact.Contest(world, TIME_STEP, scene.calculation)
    except NumericalError as reason:
        return [Line(scene.name, float("nan"), goal="a solution", met=False, note=str(reason))]
    lines = compare(scene, contest_calls(contest, steps), effort, per_call=steps)
    for line in lines:
        line.note = contact_counts(contest, line.peer)
    lines[-1].note += "".join(f"; {name} finds no solution" for name in contest.failed)
    return lines


def contest_calls(contest, steps):
    return {name: own.Call(call) for name, call in contest.calls(steps).items()}


def contact_counts(contest, peer):
    note = f"contact points: {contest.contacts['mbcli']}"
    return f"{note}, {peer} {contest.contacts[peer]}" if peer else note


def measure_many(scene, effort):
    """Seconds per step and memory over the number of bodies."""
    lines, own_seconds = [], {}
    for bodies in BODIES[scene.model] if effort is THOROUGH else BODIES[scene.model][:1]:
        name, steps = f"{scene.name}.{bodies}", max(CONTACT_STEPS, STEPPED_BODIES // bodies)
        peers = ("MuJoCo", "Drake") if bodies <= DRAKE_BODIES else ("MuJoCo",)
        try:
            contest = contact.Contest(contact.MANY[scene.model](bodies), TIME_STEP, scene.calculation, peers)
        except MemoryError as reason:
            lines.append(Line(name, float("nan"), goal="fits", met=False, note=str(reason)))
            continue
        found = compare(scene, contest_calls(contest, steps), effort, per_call=steps)
        sizes = {peer: processes.memory_of_many(scene.model, peer, bodies, TIME_STEP) for peer in contest.steppers}
        own_seconds[bodies] = found[0].seconds
        for line in found:
            line.scene = name
            line.note = f"{formatted(line.seconds / bodies)} and {sizes['mbcli'] / bodies:,.0f} B a body"
            line.note += f", {line.peer} {sizes[line.peer] / bodies:,.0f} B; " if line.peer else "; "
            line.note += contact_counts(contest, line.peer)
        lines.extend(found)
    if len(own_seconds) > 1:
        (small, before), (large, last) = list(own_seconds.items())[-2:]
        lines[-1].note += f"; grows as n^{np.log(last / before) / np.log(large / small):.2f} from {small} to {large}"
    return lines


def measure_asleep(scene, effort):
    """Seconds per step of worlds in which everything sleeps."""
    lines = []
    for bodies in ASLEEP if effort is THOROUGH else BODIES[scene.model][:1]:
        contest = contact.ContestAsleep(contact.MANY[scene.model](bodies), TIME_STEP, scene.calculation)
        found = compare(scene, contest_calls(contest, CONTACT_STEPS), effort, per_call=CONTACT_STEPS)
        for line in found:
            line.scene = f"{scene.name}.{bodies}"
            line.note = f"{formatted(line.seconds / bodies)} a body"
        lines.extend(found)
    return lines


def measure_start(scene, effort):
    path = MODELS[scene.model].path if scene.model else None
    arguments = [f"--{scene.calculation}"] if path is None else [scene.calculation, str(path)]
    rounds = START_ROUNDS if effort is THOROUGH else 2
    seconds = processes.command_seconds(arguments, rounds)
    heavy = processes.heavy_imports(arguments)
    empty = medians(seconds["python"])[0]
    note = f"an empty Python process takes {formatted(empty)}; "
    note += f"imports {', '.join(heavy)}" if heavy else f"no import of {', '.join(processes.HEAVY_PACKAGES)}"
    line = against_limit(scene, medians(seconds["mbcli"]), note, empty)
    line.met = line.met and not heavy
    return [line]


@cache
def compile_seconds(path):
    return processes.compile_seconds(path, 5)


def measure_compile(scene, effort):
    if effort is QUICK:
        raise Skipped("compiling takes long: not with --quick")
    first, cached = compile_seconds(MODELS[scene.model].path)
    if scene.calculation == "first":
        return [against_limit(scene, first, "first step with an empty cache, import of numba counted")]
    return [against_limit(scene, medians(cached), "first step from the cache, import of numba counted")]


def medians(times):
    """The medians of processor times and of wall-clock times."""
    return tuple(statistics.median(column) for column in zip(*times, strict=True))


def against_limit(scene, times, note, empty=0.0):
    """A line whose goal is scene.at_most, beside the time that an empty process takes."""
    processor, wall = times
    goal = f"<= {scene.at_most:g} s" + (f" + {formatted(empty)}" if empty else "")
    note = f"{formatted(wall)} by the clock; {note}"
    return Line(scene.name, processor, goal=goal, met=processor <= scene.at_most + empty, note=note)


MEASURES = {
    "engine": measure_engine,
    "plant": measure_plant,
    "steps": measure_steps,
    "growth": measure_growth,
    "load": measure_load,
    "load-chain": measure_load_chain,
    "load-constraints": measure_load_constraints,
    "batch": measure_batch,
    "constrained": measure_constrained,
    "loops": measure_loops,
    "assembly": measure_assembly,
    "contact": measure_contact,
    "many": measure_many,
    "asleep": measure_asleep,
    "command": measure_command,
    "start": measure_start,
    "compile": measure_compile,
}


# ------------------------------------------------------------------------------------------------ report


def formatted(seconds):
    """A time with three digits and a unit."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def print_line(line):
    peer = f"{line.peer} {formatted(line.peer_seconds)}" if line.peer else ""
    ratio = f"{line.ratio:.2f} x" if line.ratio is not None else ""
    verdict = "" if line.met is None else ("met" if line.met else "MISSED")
    text = f"{line.scene:56} {formatted(line.seconds):>8}  {peer:20} {ratio:>8}  {line.goal:10} {verdict:6} {line.note}"
    print(text.rstrip(), flush=True)


def print_growth(lines):
    """The times of a chain as bars, both axes logarithmic: equal steps upwards mean a power of the length."""
    own_lines = list({line.scene: line for line in lines}.values())
    shortest = min(line.seconds for line in own_lines)
    for line in own_lines:
        bar = "#" * (1 + round(10 * np.log10(line.seconds / shortest)))
        print(f"    {line.scene.rsplit('.', 1)[1]:>5} links |{bar} {formatted(line.seconds)}")


PLOTTED = {  # scenes: titles, and what is counted
    "loops": ("Accelerations of a chain of four-bars, five equations a loop", "loops"),
    "stacks": ("A step of boxes at rest in stacks of five", "bodies"),
    "falling": ("A step of bodies that fall apart from each other", "bodies"),
}


def scene_svg(name, lines):
    """The lines of a scene of PLOTTED as a curve, of mbcli."""
    measured = {int(x.scene.rsplit(".", 1)[1]): x.seconds for x in lines if x.scene.startswith(name + ".")}
    return growth_svg(list(measured), list(measured.values()), *PLOTTED[name], formatted)


def surroundings():
    """Processor and versions, for the head of a report."""
    from mbcli.log.provenance import collect_provenance

    found = collect_provenance()
    packages = {}
    for package in ("numpy", "numba", "drake", "pin", "mujoco"):
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            packages[package] = "not installed"
    return {"cpu": found["cpu"], "python": found["python"], "mbcli": found["mbcli_version"], **packages}


def selected(names):
    """Scenes whose name is one of those given, or begins with one and a dot or a hyphen."""
    if not names:
        return SCENES
    scenes = [s for s in SCENES if any(s.name == n or s.name.startswith((n + ".", n + "-")) for n in names)]
    if not scenes:
        raise SystemExit(f"no scene is named {', '.join(names)}; --list shows them")
    return scenes


def run(scenes, effort):
    """Measures scenes and prints their lines; returns the lines and whether something failed."""
    lines, failed = [], False
    for scene in scenes:
        try:
            found = MEASURES[scene.kind](scene, effort)
        except (Skipped, processes.NotAvailable) as reason:
            print(f"{scene.name:56} skipped: {reason}", flush=True)
            continue
        except Disagreement as reason:
            print(f"{scene.name:56} FAILED: {reason}", flush=True)
            failed = True
            continue
        for line in found:
            print_line(line)
        if scene.kind == "growth":
            print_growth(found)
        lines.extend(found)
    return lines, failed


def print_memory(steps):
    try:
        found = processes.memory_of_a_long_run(ROOT / "sample_models" / "pendulum.urdf", steps)
    except processes.NotAvailable as reason:
        print(f"memory: skipped: {reason}")
        return
    for step, size in found["resident"]:
        print(f"memory: {size / 2**20:8.1f} MiB after {step:,} steps")
    print(f"memory: the log has {found['log_bytes'] / 2**20:.0f} MiB")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--scene", nargs="+", default=[], metavar="NAME", help="only scenes with these names or prefixes"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the scenes")
    parser.add_argument("--json", metavar="FILE", help="also write the lines to a JSON file")
    parser.add_argument("--plot", metavar="FILE", help="also write the times over the count of a scene as SVG")
    parser.add_argument("--quick", action="store_true", help="few and short rounds: does it run, not how fast is it")
    parser.add_argument("--memory", type=int, metavar="STEPS", help="only the memory of a run of so many logged steps")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(scene.name for scene in SCENES))
        return 0
    plotted = [scene.name for scene in selected(options.scene) if scene.name in PLOTTED]
    if options.plot and len(plotted) != 1:
        parser.error(f"--plot shows one scene of {', '.join(PLOTTED)}; --scene names it")
    where = surroundings()
    print(", ".join(f"{name} {value}" for name, value in where.items()))
    if options.memory is not None:
        print_memory(options.memory)
        return 0
    lines, failed = run(selected(options.scene), QUICK if options.quick else THOROUGH)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"surroundings": where, "lines": [asdict(line) for line in lines]}, file, indent=1)
    if options.plot:
        with open(options.plot, "w") as file:
            file.write(scene_svg(plotted[0], lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
