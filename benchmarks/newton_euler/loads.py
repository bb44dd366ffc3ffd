"""Loads of joints at 1 ms beside those of a run with steps so short that it has converged.

Robots fall from rest, within their limits. A row has the mean of a step, so that those of shorter steps are averaged
over as long a time: what begins and ends in less than a step, as the motion of a light link with much damping, has its
mean. Where damping takes a large part of a velocity in a step, loads while joints come to their speeds are not known to
1 % at 1 ms, and the line of the robot says so.
"""

import numpy as np

from benchmarks.newton_euler.files import files_of, packages_of
from mbcli.errors import MbcliError
from mbcli.models import load_model
from mbcli.simulation import simulate

DURATION = 0.1  # [s], in which few joints reach a limit
STEP, SHORT = 1e-3, 5e-5  # [s]
NEAR = 0.01
SMALL = 0.02  # of the largest load of the robot: smaller ones are compared with that
MOST_TOLD = 10
INSIDE = 0.2  # of its range that a joint begins within its limits


def posture(plant):
    """{position: value} of joints whose default is near a limit or beyond, or that have one: inside of it."""
    found = {}
    for joint in plant.elements.joints:
        if joint.num_positions() != 1 or joint in plant.elements.loop_joints:
            continue
        low, high = joint.position_lower_limits()[0], joint.position_upper_limits()[0]
        if np.isfinite(high - low):
            room, q = INSIDE * (high - low), joint.default_positions()[0]
            found[plant.GetPositionNames()[joint.position_start()]] = min(max(q, low + room), high - room)
    return found


def peaks(name, dt):
    """(names of joints, their times [s] and peaks (joints, 2) of moments and forces, what meets stops), falling from
    rest.
    """
    given = {"contact": False, "packages": packages_of(name), "weld_base": True}
    loaded = load_model(name, dt=dt, **given)
    plant = loaded.plant
    quiet = {"warn": lambda line: None, "log_rate": 0.0}
    log = simulate(loaded, DURATION, fields="reactions effort", start=posture(plant), **quiet)
    steps = round(STEP / dt)
    reactions = log.field("derived/reactions")[:-1].reshape(round(DURATION / STEP), steps, -1, 2, 3).mean(axis=1)
    reactions = np.linalg.norm(reactions, axis=3)
    names = [joint.name() for joint in plant.elements.joints]
    return names, STEP * reactions.argmax(axis=0), reactions.max(axis=0), at_stops(plant, log.field("state/q"))


def at_stops(plant, q):
    """Names of positions that come to a limit in a run (rows, nq): their stops give impulses, whose mean over a step
    is no load that a shorter step has, too.
    """
    low, high = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    met = ((q <= low) | (q >= high)).any(axis=0)
    return [name for name, meets in zip(plant.GetPositionNames(), met, strict=True) if meets]


def unresolved(name):
    """What damping keeps steps of 1 ms from knowing to 1 %, in words; "" if nothing.

    A step of second order leaves 2 / (2 + 2 x + x^2) of a velocity with the decay rate x / h for exp(-x), so that its
    mean acceleration is off by about x^2 / 6.
    """
    plant = load_model(name, dt=STEP, contact=False, packages=packages_of(name), weld_base=True).plant
    context = plant.CreateDefaultContext()
    for position, value in posture(plant).items():
        q = plant.GetPositions(context)
        q[plant.GetPositionNames().index(position)] = value
        plant.SetPositions(context, q)
    ease = np.diag(np.linalg.pinv(plant.CalcMassMatrix(context)))
    parts = STEP * ease * np.array(plant.model.dof_damping)
    most = [k for k in np.argsort(-parts) if parts[k] ** 2 > 6.0 * NEAR]
    names = plant.GetVelocityNames()
    told = ", ".join(f"{names[k]} {parts[k]:.0%}" for k in most[:MOST_TOLD])
    more = f" and {len(most) - MOST_TOLD} more" if len(most) > MOST_TOLD else ""
    return f"what damping takes of velocities, at rates of so much a step: {told}{more}" if most else ""


def table(files):
    """Prints a line a robot, with the joint that is farthest off and when; whether all are within NEAR."""
    robots = within = stiff = struck = 0
    for name in files_of(files):
        try:
            (joints, times, found, _), (_, _, converged, stopped) = peaks(name, STEP), peaks(name, SHORT)
        except (MbcliError, RuntimeError, ValueError) as error:
            print(f"{name}: {str(error).splitlines()[0][:120]}", flush=True)
            continue
        scale = np.maximum(converged, SMALL * converged.max(axis=0))
        off = abs(found - converged) / (scale + 1e-300)
        joint, kind = np.unravel_index(off.argmax(), off.shape)
        robots, within = robots + 1, within + int(off.max() <= NEAR)
        where = f"most in {joints[joint]} at {times[joint, kind]:.3f} s" if off.max() > 0.0 else ""
        print(f"{name}: {len(joints)} joints, {off[:, 0].max():.2%}, {off[:, 1].max():.2%}, {where}", flush=True)
        if off.max() > NEAR and (why := unresolved(name)):
            stiff += 1
            print(f"  1 ms does not resolve {why}", flush=True)
        elif off.max() > NEAR and stopped:
            struck += 1
            print(f"  come to their stops: {', '.join(stopped[:MOST_TOLD])}", flush=True)
    print(
        f"{robots} robots, {within} within {NEAR:.0%}; of the others {stiff} have damping that steps do not resolve, "
        f"{struck} come to stops"
    )
    return within == robots
