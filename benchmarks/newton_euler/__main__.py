"""Whether the rows of runs obey Newton and Euler: random mechanisms, files of others, worlds, loads.

    python -m benchmarks.newton_euler [--count 100] [--first 1]      # mechanisms of SDFormat and MJCF
    python -m benchmarks.newton_euler --worlds [--count 100]         # worlds and sensors beside single runs
    python -m benchmarks.newton_euler --loads FILE...                # loads at 1 ms beside those at 0.05 ms
    python -m benchmarks.newton_euler FOLDER-OR-FILE...              # files of others, in the air and on the ground

Each mechanism has its own kinds of joints and of what acts (mechanisms.py), scheme, contact approximation and pushes,
drawn by its number. The first figure is the largest sum of forces or moments on a body less its rate of momentum; the
second what axes carry beside efforts, damping, springs, dry friction and stops; both are parts of the largest force or
moment in the run. A line is printed for whatever is beyond 1e-9, and the exit code is 1 then.
"""

import argparse
import sys
import warnings
from collections import Counter

import numpy as np

from benchmarks.newton_euler.balance import residuals, run
from benchmarks.newton_euler.files import files_of, packages_of
from benchmarks.newton_euler.loads import table
from benchmarks.newton_euler.mechanisms import mechanism, mjcf_mechanism
from benchmarks.newton_euler.worlds import differences
from mbcli.errors import MbcliError

KINDS = ("floating", "rubs", "limited", "loop", "plugins", "struts", "balls", "mimics", "servos", "ties")
SCHEMES = ("midpoint", "drake", "continuous")
LAWS = ("sap", "lagged", "similar", "tamsi")
NOT_TAMSI = ("loop", "mimics", "ties", "servos")  # what tamsi has no solution for
PUSH = "l3=3,-2,5 from 0.005"
SOLVED = 1e-9


def case(seed, *, worlds=False):
    """(kinds, whether in contact, settings of loading, pushes, in words) of the mechanism of this number."""
    rng = np.random.default_rng(seed)
    kinds = {kind: bool(rng.random() < 0.4) for kind in KINDS}
    scheme, law, contact = SCHEMES[seed % (2 if worlds else 3)], LAWS[rng.integers(4)], rng.random() < 0.4
    pushes = PUSH if rng.random() < 0.5 else ()
    loading = {"overrides": {"plant_config.step_scheme": scheme}}
    if worlds:
        kinds["plugins"] = False  # worlds have none
    if scheme == "continuous":
        kinds["servos"], pushes, loading = False, (), {"dt": 0.0}
        contact = contact and not kinds["loop"]
    if contact:
        loading |= {"ground": 1.1, "contact_approximation": law}
        if law == "tamsi":
            kinds |= dict.fromkeys(NOT_TAMSI, False)
    held = not contact and scheme != "continuous" and not kinds["servos"] and rng.random() < 0.3
    loading |= {"hold": True} if held else {}
    words = [scheme, *([law] if contact else []), *(["pushed"] if pushes else []), *(["held"] if held else [])]
    return kinds, bool(contact), loading, pushes, " ".join([*words, *(kind for kind in kinds if kinds[kind])])


def check_mechanisms(first, count):
    """Whether all are within SOLVED; prints those that are not and the worst."""
    worst, beyond, unsolved = np.zeros((2, 2)), 0, 0
    for seed in range(first, first + count):
        kinds, contact, loading, pushes, words = case(seed)
        servos = loading.get("dt") != 0.0
        models = {"SDFormat": mechanism(seed, ground=contact, **kinds)}
        if loading.get("contact_approximation") != "tamsi":
            models["MJCF"] = mjcf_mechanism(seed, ground=contact, servos=servos)
        for name, model in models.items():
            given = {"contact": contact, "seed": seed, "loading": dict(loading), "warn": lambda line: None}
            try:
                found = residuals(run(model, 0.01, pushes=pushes if name == "SDFormat" else (), **given))
            except MbcliError as error:
                unsolved += 1
                print(f"{seed} {name}, {words}: {str(error).splitlines()[0][:150]}", flush=True)
                continue
            worst[int(contact)] = np.maximum(worst[int(contact)], found)
            if max(found) > SOLVED:
                beyond += 1
                print(f"{seed} {name}, {words}: bodies {found[0]:.1e}, axes {found[1]:.1e}", flush=True)
    for place, pair in zip(("in the air", "in contact"), worst, strict=True):
        print(f"{place}: bodies {pair[0]:.1e}, axes {pair[1]:.1e}")
    print(f"{count} mechanisms, {beyond} runs beyond {SOLVED:g}, {unsolved} that ended with an error")
    return beyond == 0 and unsolved == 0


def check_worlds(first, count):
    """As check_mechanisms(), of worlds."""
    worst, beyond = np.zeros(3), 0
    for seed in range(first, first + count):
        kinds, contact, loading, pushes, words = case(seed, worlds=True)
        model = mechanism(seed, ground=contact, sensors=True, **kinds)
        given = {"contact": contact, "loading": loading, "pushes": pushes, "warn": lambda line: None}
        try:
            found = np.array(differences(model, seed=seed, **given))
        except MbcliError as error:
            beyond += 1
            print(f"{seed}, {words}: {str(error).splitlines()[0][:150]}", flush=True)
            continue
        worst = np.maximum(worst, found)
        if found.max() > SOLVED:
            beyond += 1
            print(
                f"{seed}, {words}: states {found[0]:.1e}, wrenches {found[1]:.1e}, sensors {found[2]:.1e}", flush=True
            )
    print(f"{count} mechanisms, {beyond} beyond {SOLVED:g}: states of worlds less those of runs {worst[0]:.1e},")
    print(f"wrenches of their sensors {worst[1]:.1e}, sensors of runs less reactions {worst[2]:.1e}")
    return beyond == 0


def check_files(names):
    """As check_mechanisms(), of robot files; what is not read or does not run is named."""
    worst, counts = np.zeros((2, 2)), Counter()
    files = files_of(names)
    for name in files:
        for ground in (False, True):
            loading = {"packages": packages_of(name), **({"ground": 0.0} if ground else {})}
            try:
                found = residuals(run(name, 0.005, contact=ground, loading=loading, warn=lambda line: None))
            except (MbcliError, RuntimeError) as error:
                counts["refused"] += 1
                print(f"{name}: {str(error).splitlines()[0][:150]}", flush=True)
                continue
            counts["runs"] += 1
            worst[int(ground)] = np.maximum(worst[int(ground)], found)
            if max(found) > SOLVED:
                counts["beyond"] += 1
                words = "on the ground" if ground else "in the air"
                print(f"{name} {words}: bodies {found[0]:.1e}, axes {found[1]:.1e}", flush=True)
    for place, pair in zip(("in the air", "on the ground"), worst, strict=True):
        print(f"{place}: bodies {pair[0]:.1e}, axes {pair[1]:.1e}")
    print(f"{len(files)} files, {counts['runs']} runs, {counts['refused']} refused, {counts['beyond']} beyond")
    return counts["beyond"] == 0


def main(arguments):
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.newton_euler")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--worlds", action="store_true")
    parser.add_argument("--loads", action="store_true")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if given.loads:
        return 0 if table(given.files) else 1
    if given.files:
        return 0 if check_files(given.files) else 1
    check = check_worlds if given.worlds else check_mechanisms
    return 0 if check(given.first, given.count) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
