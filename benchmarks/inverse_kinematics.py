"""Inverse kinematics: programs of positions beside pydrake, and places of a frame: which are solved, and the time.

    python -m benchmarks.inverse_kinematics [--programs 30] [--places 100]

A program is InverseKinematics and Solve, with the time to make it: a box for the last link's origin (1 mm), by turns an
orientation (0.05 rad), a gaze, a distance from a point and a cost that keeps near zero. All hold at
positions drawn within 0.8 of the limits; guesses are drawn within 0.3. Both programs take turns with the same numbers,
times are processor times. Solutions are judged by what the solver says. Places are those of the last link at drawn
positions, from the default positions; pydrake has no such call.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np

from mbcli.errors import NumericalError
from mbcli.models.frame_places import PATIENCE, PlaceSearch

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("MBCLI_MODELS", ROOT.parent / "shared" / "models"))
ROBOTS = {  # file, what stands on World, last link
    "iiwa14": (SHARED / "iiwa14" / "iiwa14_no_collision.urdf", "base", "iiwa_link_7"),
    "ur3e": (SHARED / "ur3e" / "ur3e_cylinders_collision.urdf", "ur_base_link", "ur_ee_link"),
    "arm7": (ROOT / "sample_models" / "arm7.urdf", None, "flange"),
}
MORE_ROBOTS = {  # for places alone
    "pr2": (SHARED / "pr2" / "pr2_simplified.urdf", None, "r_gripper_palm_link"),
    "atlas": (SHARED / "atlas" / "atlas_minimal_contact.urdf", "pelvis", "l_hand"),
}


WARM_UP = PATIENCE + 2  # searches, until their kernels are compiled


class Robot:
    """A robot in one of the libraries."""

    def __init__(self, root: str, file: Path, base: str | None, tip: str) -> None:
        self.ik = import_module(f"{root}.multibody.inverse_kinematics")
        self.solvers = import_module(f"{root}.solvers")
        self.math = import_module(f"{root}.math")
        self.plant = import_module(f"{root}.multibody.plant").MultibodyPlant(0.0)
        import_module(f"{root}.multibody.parsing").Parser(self.plant).AddModels(str(file))
        if base is not None:
            self.plant.WeldFrames(self.plant.world_frame(), self.plant.GetFrameByName(base))
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.tip, self.world = self.plant.GetFrameByName(tip), self.plant.world_frame()

    def solve(self, kind: int, q: np.ndarray, guess: np.ndarray) -> tuple[bool, float]:
        """Whether a program that holds at q was solved, and the seconds."""
        plant, context, tip, world = self.plant, self.context, self.tip, self.world
        plant.SetPositions(context, q)
        X = tip.CalcPoseInWorld(context)
        p = np.array(X.translation())
        started = time.process_time()
        ik = self.ik.InverseKinematics(plant, context)
        ik.AddPositionConstraint(tip, np.zeros(3), world, p - 1e-3, p + 1e-3)
        if kind % 3 == 0:
            ik.AddOrientationConstraint(world, X.rotation(), tip, self.math.RotationMatrix(), 0.05)
        if kind % 3 == 1:
            ik.AddGazeTargetConstraint(tip, np.zeros(3), [0.0, 0.0, 1.0], world, X @ np.array([0.0, 0.0, 0.5]), 0.1)
        if kind % 5 == 2:
            far = float(np.linalg.norm(p))
            ik.AddPointToPointDistanceConstraint(world, np.zeros(3), tip, np.zeros(3), far - 0.01, far + 0.01)
        if kind % 2:
            ik.prog().AddQuadraticErrorCost(np.eye(q.size), np.zeros(q.size), ik.q())
        ik.prog().SetInitialGuess(ik.q(), guess)
        found = self.solvers.Solve(ik.prog())
        return found.is_success(), time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=30)
    parser.add_argument("--places", type=int, default=100)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, robot in (ROBOTS | MORE_ROBOTS).items():
        if not robot[0].exists():
            print(f"{name}: {robot[0]} is not there")
            continue
        if name in MORE_ROBOTS:
            own, rng = Robot("mbcli", *robot), np.random.default_rng(0)
            report(f"{name} places mbcli", places(own, robot[2], rng, given.places))
            continue
        libraries = {root: Robot(root, *robot) for root in ("mbcli", "pydrake")}
        own, rng = libraries["mbcli"], np.random.default_rng(0)
        lower, upper = own.plant.GetPositionLowerLimits(), own.plant.GetPositionUpperLimits()
        results: dict[str, list[tuple[bool, float]]] = {root: [] for root in libraries}
        for kind in range(-2, given.programs):  # two that warm up
            q, guess = rng.uniform(0.8 * lower, 0.8 * upper), rng.uniform(0.3 * lower, 0.3 * upper)
            for root, library in libraries.items():
                results[root].append(library.solve(kind, q, guess))
        for root, pairs in results.items():
            report(f"{name} programs {root}", pairs[2:])
        report(f"{name} places mbcli", places(own, robot[2], rng, given.places))


def places(own: Robot, tip: str, rng: np.random.Generator, count: int) -> list[tuple[bool, float]]:
    """Whether each place was reached, and the seconds; a joint without limits is drawn within half a turn."""
    pairs = []
    lower, upper = (
        np.clip(x, -np.pi, np.pi) for x in (own.plant.GetPositionLowerLimits(), own.plant.GetPositionUpperLimits())
    )
    default, search = own.plant.GetDefaultPositions(), None
    for _ in range(count + WARM_UP):
        own.plant.SetPositions(own.context, rng.uniform(lower, upper))
        X = own.tip.CalcPoseInWorld(own.context)
        place = {tip: [*X.translation(), *X.rotation().ToQuaternion().wxyz()]}
        own.plant.SetPositions(own.context, default)
        search = search or PlaceSearch(own.plant, own.context, place)
        started, reached = time.process_time(), True
        try:
            search.solve(place)
        except NumericalError:
            reached = False
        pairs.append((reached, time.process_time() - started))
    return pairs[WARM_UP:]


def report(label: str, pairs: list[tuple[bool, float]]) -> None:
    seconds = [1e3 * spent for _, spent in pairs]
    solved = sum(success for success, _ in pairs)
    median, mean = statistics.median(seconds), statistics.fmean(seconds)
    print(f"{label:24s} {solved} of {len(pairs)}, median {median:.2f} ms, mean {mean:.2f} ms", flush=True)


if __name__ == "__main__":
    main()
