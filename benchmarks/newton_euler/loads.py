"""Loads of joints and actuators at 1 ms beside those of a run with steps so short that it has converged."""

import numpy as np

from benchmarks.newton_euler.files import files_of, packages_of
from mbcli.errors import MbcliError
from mbcli.models import load_model
from mbcli.simulation import simulate

DURATION = 0.3  # [s]
STEP, SHORT = 1e-3, 5e-5  # [s]
NEAR = 0.01
SMALL = 0.02  # of the largest load of the robot: smaller ones are compared with that


def peaks(name, dt):
    """(2 * joints,): peaks of the forces and moments of a robot that moves from random speeds, without contact."""
    loaded = load_model(name, contact=False, dt=dt, packages=packages_of(name), weld_base=True)
    rng, plant = np.random.default_rng(1), loaded.plant
    start = dict(zip(plant.GetVelocityNames(), 0.5 * rng.normal(size=plant.num_velocities()), strict=True))
    quiet = {"warn": lambda line: None, "log_rate": 1.0 / STEP}
    log = simulate(loaded, DURATION, fields="reactions effort", start=start, **quiet)
    reactions = log.field("derived/reactions").reshape(len(log.times), -1, 2, 3)
    return np.linalg.norm(reactions, axis=3).max(axis=0)


def table(files):
    """Prints a line a robot; whether all are within NEAR."""
    good = True
    for name in files_of(files):
        try:
            found, converged = peaks(name, STEP), peaks(name, SHORT)
        except MbcliError as error:
            print(f"{name}: {str(error)[:120]}")
            continue
        scale = np.maximum(converged, SMALL * converged.max(axis=0))
        off = (abs(found - converged) / (scale + 1e-300)).max(axis=0)
        good = good and off.max() <= NEAR
        print(f"{name}: {len(found)} joints, moments off by {off[0]:.2%}, forces by {off[1]:.2%}", flush=True)
    return good
