"""The order of discrete steps, measured: random mechanisms with all that acts, robots of others with damping and PD.

    python -m benchmarks.orders [--count 30]          # random trees: joints, damping, springs, servos, struts, balls
    python -m benchmarks.orders FILE...               # robots, held by their controllers or falling from rest
    python -m benchmarks.orders --scheme drake ...    # another scheme

A line says how much the state at the end (0.128 s) changes from steps of 2 ms to 1 ms, from there to 0.5 ms, and so on
down to 1/16 ms; the order is the power of two between the last two changes, and the error at 1 ms that of the state
beside the extrapolated one. Motions that start with a jump (a stiff damper, an effort that its limit cuts) have their
order where steps resolve them.
"""

import argparse
import sys

import numpy as np

from benchmarks.newton_euler.files import files_of, packages_of
from benchmarks.newton_euler.loads import posture
from benchmarks.newton_euler.mechanisms import mechanism
from mbcli.errors import MbcliError
from mbcli.models import load_model
from mbcli.simulation import simulate

DURATION = 0.128  # [s]
STEPS = [2e-3 / 2**k for k in range(6)]
LEAST_ORDER = 1.9
ROUNDING = 1e-11  # of changes, relative to the state: no order can be told below
KINDS = {
    "struts": 0.4,
    "balls": 0.4,
    "servos": 0.6,
    "floating": 0.3,
    "mimics": 0.3,
    "loop": 0.25,
    "ties": 0.2,
    "rubs": 0.2,
}


def ends(model, scheme, start, **loading):
    """[q; v] at the end for each step, scaled to 1 at most where a number is larger."""
    found = []
    for h in STEPS:
        loaded = load_model(model, dt=h, overrides={"plant_config.step_scheme": scheme}, **loading)
        begin = start(loaded.plant)
        log = simulate(loaded, DURATION, start=begin, log_rate=0.0, warn=lambda line: None)
        found.append(np.concatenate([log.field("state/q")[-1], log.field("state/v")[-1]]))
    scale = np.maximum(1.0, np.abs(found[-1]))
    return [end / scale for end in found]


def figures(found):
    """(order of the last changes, error at 1 ms, changes): of a second order, or of the first if that is nearer."""
    changes = [float(np.abs(a - b).max()) for a, b in zip(found, found[1:], strict=False)]
    order = float(np.log2(changes[-2] / changes[-1])) if changes[-1] > 0.0 else np.inf
    p = 2.0 if order > 1.5 else 1.0
    limit = found[-1] + (found[-1] - found[-2]) / (2.0**p - 1.0)
    return order, float(np.abs(found[1] - limit).max()), changes


def tell(name, words, found):
    """Prints a line; whether the order is at least LEAST_ORDER, or changes are rounding."""
    order, error, changes = figures(found)
    good = order > LEAST_ORDER or changes[-1] < ROUNDING
    print(f"{name} {words}: order {order:.2f}, error at 1 ms {error:.2e}; {' '.join(f'{c:.1e}' for c in changes)}")
    sys.stdout.flush()
    return good


def of_trees(count, scheme):
    """The orders of random mechanisms; whether all are of second order."""
    good = trees = 0
    for seed in range(1, count + 1):
        rng = np.random.default_rng(seed)
        kinds = {kind: bool(rng.random() < chance) for kind, chance in KINDS.items()}

        def start(plant, seed=seed):
            draw = np.random.default_rng(seed)
            return dict(zip(plant.GetVelocityNames(), 0.5 * draw.normal(size=plant.num_velocities()), strict=True))

        words = " ".join(kind for kind in kinds if kinds[kind])
        try:
            good += tell(seed, words, ends(mechanism(seed, **kinds), scheme, start, contact=False))
            trees += 1
        except MbcliError as error:
            print(f"{seed} {words}: {str(error).splitlines()[0][:150]}", flush=True)
    print(f"{scheme}: {good} of {trees} of second order")
    return good == trees


def moving(plant):
    """As posture(), with a velocity of every joint, from which controllers bring it back."""
    draw = np.random.default_rng(1)
    speeds = 0.5 * draw.normal(size=plant.num_velocities())
    return posture(plant) | dict(zip(plant.GetVelocityNames(), speeds, strict=True))


def of_robots(files, scheme, hold):
    """The orders of robots that fall, or are held, welded at their base."""
    good = robots = 0
    for name in files_of(files):
        given = {"packages": packages_of(name), "weld_base": True, "hold": hold}
        try:
            good += tell(name, "held" if hold else "", ends(name, scheme, moving if hold else posture, **given))
            robots += 1
        except (MbcliError, RuntimeError, ValueError) as error:
            print(f"{name}: {str(error).splitlines()[0][:120]}", flush=True)
    print(f"{scheme}: {good} of {robots} of second order")
    return good == robots


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--scheme", default="midpoint")
    parser.add_argument("--hold", action="store_true", help="robots are held by controllers")
    arguments = parser.parse_args()
    if arguments.files:
        return 0 if of_robots(arguments.files, arguments.scheme, arguments.hold) else 1
    return 0 if of_trees(arguments.count, arguments.scheme) else 1


if __name__ == "__main__":
    sys.exit(main())
