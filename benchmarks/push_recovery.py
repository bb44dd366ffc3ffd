"""Pushes against the humanoid of docs/examples/humanoid.xml with the controller balance.py, all around it.

python -m benchmarks.push_recovery [--impulse 30] [--directions 10] [--controller FILE.py]

Each run begins in the posture "stand"; from 0.5 s to 0.6 s a force acts on the torso. At 4 s the robot has recovered if
its torso is as high as before to 10 % and tilted by less than 0.2 rad, its base is slower than 0.1 m/s, and in no row
anything but its feet touched the ground.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mbcli.models.loading import load_model
from mbcli.simulation import simulate
from mbcli.simulation.running import SimulationWarning

EXAMPLES = Path(__file__).resolve().parent.parent / "docs" / "examples"
MODEL, CONTROLLER = EXAMPLES / "humanoid.xml", EXAMPLES / "balance.py"
FEET = ("left_foot", "right_foot")


class Outcome(NamedTuple):
    height: float  # of the torso at the end, by that at the start
    tilt: float  # [rad] of the torso at the end
    most_tilt: float  # [rad]
    speed: float  # [m/s] of the base at the end
    fallen: bool  # something other than the feet touched

    @property
    def recovered(self):
        return abs(self.height - 1.0) < 0.1 and self.tilt < 0.2 and self.speed < 0.1 and not self.fallen


def push(degrees, impulse=30.0):
    """The text of --push, for a tenth of a second, in a direction from x towards y."""
    x, y = 10.0 * impulse * np.cos(np.radians(degrees)), 10.0 * impulse * np.sin(np.radians(degrees))
    return f"torso={x:.6f},{y:.6f},0 from 0.5 to 0.6"


def outcome(log):
    """How a run in a log ended."""
    plant = load_model(MODEL).plant
    context, torso = plant.CreateDefaultContext(), plant.GetFrameByName("torso")
    heights, tilts = [], []
    for q in log.q:
        plant.SetPositions(context, q)
        X = torso.CalcPoseInWorld(context)
        heights.append(X.translation()[2])
        tilts.append(np.arccos(np.clip(X.rotation().matrix()[2, 2], -1.0, 1.0)))
    rows, names = log.contacts(), np.array(log.contact_names().body_names)
    touching = {
        str(name).rpartition("::")[2] for name in names[np.unique([rows["contact/body_a"], rows["contact/body_b"]])]
    }
    fallen = bool(touching - {"world", *FEET})
    return Outcome(heights[-1] / heights[0], tilts[-1], max(tilts), np.linalg.norm(log.v[-1, 3:6]), fallen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--impulse", type=float, default=30.0, help="[N s]")
    parser.add_argument("--directions", type=int, default=10)
    parser.add_argument("--controller", default=str(CONTROLLER))
    options = parser.parse_args()
    warnings.simplefilter("ignore", SimulationWarning)
    count = 0
    print("direction  recovered  height  tilt [rad]  most tilt [rad]  speed [m/s]  processor time [s]")
    for degrees in np.arange(options.directions) * 360.0 / options.directions:
        start = time.process_time()
        pushes = [push(degrees, options.impulse)]
        with simulate(MODEL, 4.0, pose="stand", controller=options.controller, pushes=pushes) as log:
            took, end = time.process_time() - start, outcome(log)
        count += end.recovered
        word = "yes" if end.recovered else "no"
        print(
            f"{degrees:9.0f}  {word:9}  {end.height:6.3f}  {end.tilt:10.4f}  {end.most_tilt:15.3f}  {end.speed:11.5f}"
            f"  {took:18.1f}",
            flush=True,
        )
    print(f"{count} of {options.directions}")


if __name__ == "__main__":
    main()
