"""Queries about collisions and distances at random states: the same calls of QueryObject here and in pydrake.

    python -m benchmarks.collision_queries [URDF ...]

A line gives microseconds a call, each with the positions set anew: the median over turns of 64 states drawn within the
limits, in which both libraries alternate; and the largest difference of what they answer. Adjacent bodies do not
collide, as both libraries have it.
"""

from __future__ import annotations

import argparse
import os
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
from lxml import etree

from benchmarks.measure import THOROUGH, median_ratio, seconds_per_call

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("MBCLI_MODELS", ROOT.parent / "shared" / "models"))
FILES = (
    SHARED / "iiwa14" / "iiwa14_spheres_collision.urdf",
    SHARED / "ur3e" / "ur3e_cylinders_collision.urdf",
    SHARED / "atlas" / "atlas_minimal_contact.urdf",
    ROOT / "sample_models" / "quadruped.urdf",
)
STATES = 64
NEAR = 0.1  # [m]
CALLS = {
    "HasCollisions": lambda query: query.HasCollisions(),
    "ComputePointPairPenetration": lambda query: query.ComputePointPairPenetration(),
    "ComputeSignedDistancePairwiseClosestPoints(0.1)": lambda query: query.ComputeSignedDistancePairwiseClosestPoints(
        NEAR
    ),
    "ComputeSignedDistanceToPoint": lambda query: query.ComputeSignedDistanceToPoint([0.3, 0.1, 0.4], NEAR),
}


def without_visuals(file):
    """A URDF without what is only seen, whose meshes may lie elsewhere."""
    tree = etree.parse(file)
    for visual in list(tree.iter("visual")):
        visual.getparent().remove(visual)
    return etree.tostring(tree, encoding="unicode")


class Robot:
    """A robot and its geometries in one of the libraries."""

    def __init__(self, root: str, file: Path) -> None:
        builder = import_module(f"{root}.systems.framework").DiagramBuilder()
        self.plant, scene = import_module(f"{root}.multibody.plant").AddMultibodyPlantSceneGraph(builder, 0.0)
        import_module(f"{root}.multibody.parsing").Parser(self.plant).AddModelsFromString(without_visuals(file), "urdf")
        self.plant.Finalize()
        diagram = builder.Build()
        self._diagram_context = diagram.CreateDefaultContext()
        self.context = self.plant.GetMyContextFromRoot(self._diagram_context)
        self.port = self.plant.get_geometry_query_input_port()

    def ask(self, call, q):
        """What a query answers at positions."""
        self.plant.SetPositions(self.context, q)
        return call(self.port.Eval(self.context))

    def turns(self, call, states):
        """A function that asks at all states."""
        return lambda: [self.ask(call, q) for q in states]


def states_of(plant, rng):
    """Positions (STATES, nq) within limits; those without limits are at most 1 m or rad from the default."""
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    default = plant.GetPositions(plant.CreateDefaultContext())
    low, high = np.maximum(lower, default - 1.0), np.minimum(upper, default + 1.0)
    states = rng.uniform(low, np.maximum(low, high), (STATES, len(low)))
    for body in plant.GetFloatingBaseBodies():
        start = plant.get_body(body).floating_positions_start()
        states[:, start : start + 4] /= np.linalg.norm(states[:, start : start + 4], axis=1)[:, None]
    return states


def numbers_of(answer):
    """An answer as sorted numbers that the libraries can be compared by."""
    if isinstance(answer, bool):
        return np.array([float(answer)])
    return np.sort([-one.depth if hasattr(one, "depth") else one.distance for one in answer])


def difference(robots, call, states):
    """The largest difference of distances [m]; inf if they find other numbers of pairs."""
    largest = 0.0
    for q in states:
        a, b = (numbers_of(robot.ask(call, q)) for robot in robots.values())
        if len(a) != len(b):
            return np.inf
        largest = max(largest, float(np.abs(a - b).max(initial=0.0)))
    return largest


def main(arguments=None):
    """Prints a line for each file and call."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.collision_queries")
    parser.add_argument("files", nargs="*", type=Path)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for file in given.files or FILES:
        robots = {root: Robot(root, file) for root in ("mbcli", "pydrake")}
        states = states_of(robots["mbcli"].plant, np.random.default_rng(0))
        print(f"{file.name}: {robots['mbcli'].plant.num_collision_geometries()} geometries")
        for name, call in CALLS.items():
            apart = difference(robots, call, states[:16])
            seconds = seconds_per_call({root: robot.turns(call, states) for root, robot in robots.items()}, THOROUGH)
            micro = {root: 1e6 * float(np.median(values)) / STATES for root, values in seconds.items()}
            ratio = median_ratio(seconds, "mbcli", "pydrake")
            print(f"  {name:48} {micro['mbcli']:8.1f} us, pydrake {micro['pydrake']:8.1f} us: {ratio:.2f} times;"
                  f" differ by {apart:.1g}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
