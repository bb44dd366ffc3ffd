"""Worlds beside the single runs from the same starts, and force-torque sensors beside the reactions of rows."""

import numpy as np

from benchmarks.newton_euler.balance import DT, run
from mbcli.simulation.worlds import Worlds

STEPS = 10


def differences(model, *, seed=0, steps=STEPS, **options):
    """(of states, of wrenches, of sensors and reactions): the worst of two worlds less the runs from their starts.

    The last two are parts of the largest wrench; the model has sensors as mechanisms.mechanism() makes them.
    """
    runs = [run(model, steps * DT, seed=seed + k, **{**options, "loading": dict(options["loading"])}) for k in range(2)]
    logs, plant = [one.log for one in runs], runs[0].plant
    worlds = Worlds(runs[0].loaded, 2)
    worlds.reset(slice(None), *(np.array([getattr(log, part)[0] for log in logs]) for part in "qv"))
    if options.get("pushes"):
        worlds.push(options["pushes"])
    measured, of_states, of_wrenches, largest = worlds.sensors(), 0.0, 0.0, 1.0
    for row in range(steps):
        expected = [np.hstack([log.q[row], log.v[row]]) for log in logs]
        of_states = max(of_states, abs(np.hstack([worlds.q, worlds.v]) - expected).max())
        for name, values in measured.exact().items():
            expected = np.array([log.field(f"sensors/{name}")[row] for log in logs])
            largest = max(largest, abs(expected).max())
            of_wrenches = max(of_wrenches, abs(values - expected).max())
        worlds.step()
    of_sensors = max(_sensors_less_reactions(plant, log) for log in logs)
    return of_states, of_wrenches / largest, of_sensors / largest


def _sensors_less_reactions(plant, log):
    """The worst over the rows: both are what the parent does to the child, by link and by joint axes."""
    worst, reactions = 0.0, log.field("derived/reactions").reshape(len(log.times), -1, 6)
    for joint, F in zip(plant.elements.joints, reactions.swapaxes(0, 1), strict=True):
        if f"s_{joint.name()}" in {sensor.path.rpartition("/")[2] for sensor in plant.elements.sensors}:
            R = joint.frame_on_child().GetFixedPoseInBodyFrame().rotation().matrix()
            sensed = log.field(f"sensors/s_{joint.name()}")  # force, then torque
            worst = max(worst, abs(sensed - np.hstack([F[:, 3:] @ R.T, F[:, :3] @ R.T])).max())
    return worst
