"""Work and precision: the error of a motion against the processor time that it took, beside other programs.

    python -m benchmarks.work_precision [NAME...] [--json FILE] [--plot FILE]

NAME: chain2, chain6, arm7, iiwa, quadruped, atlas (those with models). Each moves freely from one state, without
contact, limits and dry friction, for 4 s (chain6: 2 s). Contestants: steps of the discrete plant and continuous
integrators of mbcli; MuJoCo's Euler, implicit, implicitfast and RK4; Drake's discrete plant and its Runge-Kutta method
of third order with error control; Pinocchio's accelerations in a Runge-Kutta method of fourth order, called from
Python. mbcli's times have the start of a run in them, 0.15 ms; those of others have none.

The error is the largest difference of a position at the end from the most precise result of mbcli; that it is small for
the peers too shows that they mean the same motion. The table has the least time by which each falls below an error.
"""

import argparse
import json
import sys
import time

import numpy as np

from benchmarks import own
from benchmarks.peers import ADAPTERS, installed, urdf_without_geometry
from benchmarks.scenes import MODELS
from mbcli.errors import MbcliError
from mbcli.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig

STEPS = [0.02 / 2**k for k in range(12)]  # [s]
ACCURACIES = [10.0**-k for k in range(1, 15)]
ERRORS = [10.0**-k for k in range(1, 11)]
OWN = ("runge_kutta3", "bogacki_shampine3", "runge_kutta5")
MUJOCO = {"Euler": 0, "RK4": 1, "implicit": 2, "implicitfast": 3}
LONGEST = 2.0  # [s] of processor time for one motion
REFERENCE = ("runge_kutta5", 1e-13)


def chain(count):
    """URDF of `count` slender links of 0.3 m and 1 kg, on hinges whose axes alternate."""
    links = ['<link name="base"/>']
    for k in range(count):
        inertial = '<origin xyz="0 0 -0.15"/><mass value="1"/>'
        inertial += '<inertia ixx="0.0075" iyy="0.0075" izz="0.0001" ixy="0" ixz="0" iyz="0"/>'
        parent, start = ("base", "0 0 0") if k == 0 else (f"link{k - 1}", "0 0 -0.3")
        links.append(f'<link name="link{k}"><inertial>{inertial}</inertial></link>')
        links.append(
            f'<joint name="hinge{k}" type="continuous"><parent link="{parent}"/><child link="link{k}"/>'
            f'<origin xyz="{start}"/><axis xyz="{"0 1 0" if k % 2 == 0 else "1 0 0"}"/></joint>'
        )
    return f'<robot name="chain{count}">{"".join(links)}</robot>'


def subject(name):
    """(Case, URDF text, body that is welded, duration [s]); None where the file is absent."""
    if name.startswith("chain"):
        text = chain(int(name.removeprefix("chain")))
        return own.Case(text=text, weld="base"), text, "base", 2.0 if name == "chain6" else 4.0
    file = MODELS[name]
    if not file.path.exists():
        return None
    return own.Case(file.path, file.weld), urdf_without_geometry(file.path), file.weld, 4.0


def timed(run, repeats=3):
    """(least processor time [s], result) of a few runs, after one that compiles."""
    result = run()
    times = []
    for _ in range(repeats):
        started = time.process_time()
        result = run()
        times.append(time.process_time() - started)
        if sum(times) > LONGEST:
            break
    return min(times), result


def own_motions(case, duration):
    """Yields (contestant, setting, function to the positions at the end)."""
    for h in STEPS:
        yield "mbcli discrete", h, own.steps_call(case, h, round(duration / h)).run
    for scheme in OWN:
        for accuracy in ACCURACIES:
            yield f"mbcli {scheme}", accuracy, continuous(case, duration, scheme, accuracy)


def continuous(case, duration, scheme, accuracy):
    plant = case.plant
    context, q_v = plant.CreateDefaultContext(), np.concatenate([case.q[0], case.v[0]])
    config = SimulatorConfig(integration_scheme=scheme, accuracy=accuracy, max_step_size=1.0)

    def run():
        context.SetTime(0.0)
        plant.SetPositionsAndVelocities(context, q_v)
        simulator = Simulator(plant, context)
        ApplySimulatorConfig(config, simulator)
        simulator.AdvanceTo(duration)
        return plant.GetPositionsAndVelocities(context)

    return run


def peer_motions(case, text, weld, duration):
    """As own_motions(), of the peers that are installed."""
    peers = {name: make(case, text, weld) for name, make in ADAPTERS.items() if installed(name)}
    if "MuJoCo" in peers:
        for name, number in MUJOCO.items():
            for h in STEPS:
                yield f"MuJoCo {name}", h, peers["MuJoCo"].motion(h, round(duration / h), number)
    if "Drake" in peers:
        for h in STEPS[3:]:
            yield "Drake discrete", h, peers["Drake"].steps_call(h, round(duration / h)).run
        for accuracy in ACCURACIES:
            yield "Drake runge_kutta3", accuracy, peers["Drake"].continuous_motion(accuracy, duration)
    if "Pinocchio" in peers:
        for h in STEPS:
            yield "Pinocchio RK4", h, peers["Pinocchio"].motion(h, round(duration / h))


def error_of(case, result, reference):
    """The largest difference of a position; of quaternions that of the nearer sign."""
    q, expected = (np.array(x[: case.plant.num_positions()]) for x in (result, reference))
    for start in case.quaternion_starts:
        part = slice(start, start + 4)
        q[part] *= np.sign(q[part] @ expected[part])
    return float(np.abs(q - expected).max())


def measure(case, text, weld, duration):
    """{contestant: [(setting, seconds, error)]}, of those that end in time."""
    reference = continuous(case, duration, *REFERENCE)()
    found = {}
    for motions in (own_motions(case, duration), peer_motions(case, text, weld, duration)):
        for name, setting, run in motions:
            rows = found.setdefault(name, [])
            if rows and (rows[-1][1] > 0.5 * LONGEST):
                continue
            try:
                seconds, result = timed(run)
            except (MbcliError, RuntimeError) as error:  # an accuracy below rounding: the step becomes too small
                print(f"  {name} {setting:g}: {str(error).splitlines()[0][:90]}", file=sys.stderr)
                continue
            rows.append((setting, seconds, error_of(case, result, reference)))
    return found


def least_times(found):
    """{program: least seconds and contestant for each of ERRORS, or None}."""
    programs = {}
    for name, rows in found.items():
        best = programs.setdefault(name.split()[0], [None] * len(ERRORS))
        for k, bound in enumerate(ERRORS):
            fits = [(seconds, name) for _, seconds, error in rows if error <= bound]
            if fits and (best[k] is None or min(fits) < best[k]):
                best[k] = min(fits)
    return programs


def tell(name, found):
    """Prints the table of one subject."""
    programs = least_times(found)
    print(f"\n{name}: least time [ms] for an error of at most ...; the best peer's time over that of mbcli")
    print("error   " + "  ".join(f"{program:>28}" for program in programs) + "   ratio")
    for k, bound in enumerate(ERRORS):
        cells, peers = [], []
        for program, best in programs.items():
            cell = "-" if best[k] is None else f"{1e3 * best[k][0]:.3g} {best[k][1].split()[1]}"
            cells.append(f"{cell:>28}")
            if program != "mbcli" and best[k] is not None:
                peers.append(best[k][0])
        mine = programs["mbcli"][k]
        ratio = f"{min(peers) / mine[0]:.2f}" if peers and mine else "-"
        print(f"{bound:.0e} " + "  ".join(cells) + f"   {ratio}")
    sys.stdout.flush()


def draw(results, path):
    """A diagram of each subject: processor time over error."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.2 * -(-len(results) // 3)), layout="constrained")
    axes = np.ravel(figure.subplots(-(-len(results) // 3), min(3, len(results)), squeeze=False))
    colors = {"mbcli": "#1f6fb4", "MuJoCo": "#c44e00", "Drake": "#3a9a3a", "Pinocchio": "#7a3ab4"}
    marks = "osv^Dx"
    for axis, (name, found) in zip(axes, results.items(), strict=False):
        seen = {}
        for contestant, rows in found.items():
            program = contestant.split()[0]
            mark = marks[seen.setdefault(program, 0) % len(marks)]
            seen[program] += 1
            points = [(e, 1e3 * s) for _, s, e in rows if 1e-13 < e < 10.0]
            if points:
                axis.loglog(
                    *zip(*points, strict=True), marker=mark, ms=3, lw=1, color=colors[program], label=contestant
                )
        axis.set(title=name, xlabel="error of the positions at the end [rad, m]", ylabel="processor time [ms]")
        axis.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8)
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=["chain2", "chain6", "arm7", "iiwa", "quadruped", "atlas"])
    parser.add_argument("--json")
    parser.add_argument("--plot")
    options = parser.parse_args()
    results = {}
    for name in options.names:
        found = subject(name)
        if found is None:
            print(f"{name}: its file is not there", file=sys.stderr)
            continue
        results[name] = measure(*found)
        tell(name, results[name])
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
    if options.plot:
        draw(results, options.plot)


if __name__ == "__main__":
    main()
