"""Humanoids that others made stand on one leg: their centre of mass over the sole, all joints locked, for a minute.

python -m benchmarks.one_leg FILE... [--time 60] [--approximations lagged sap ...]

One foot stays where the file's pose has it, the other one is lifted, and the centre of mass is brought over the middle
of the sole within the limits of the joints. Files without such a pose are named, as are those that fall.
"""

import argparse
import warnings
from math import acos, degrees, inf
from pathlib import Path

import numpy as np
from mbcli.parsers.package_map import PackageMap
from scipy.optimize import minimize

from benchmarks.standing import APPROXIMATIONS
from mbcli.errors import MbcliError
from mbcli.math import RigidTransform
from mbcli.models.loading import load_model
from mbcli.multibody.compilation.compile_collision import pieces_of
from mbcli.systems.analysis import Simulator

UPRIGHT = 0.5  # [degrees]
LIFT = 0.03  # [m] of the foot in the air
SOLE = 3e-3  # [m]: points so near to the lowest one of a foot are of its sole
CLOSE = 2e-3  # [m] of the centre of mass to the middle of the sole


def loaded_plant(file, approximation=None, ground=None):
    packages = PackageMap(allow_outside=True, missing_meshes="ignore")
    return load_model(
        str(file), packages=packages, contact=True, dt=1e-3, ground=ground, contact_approximation=approximation
    ).plant


def only(bodies):
    """The floating base of a robot; ValueError if there is none, or another one."""
    if len(bodies) != 1:
        raise ValueError(f"it has {len(bodies)} floating bases")
    return bodies[0]


class Pose:
    """The search for a pose on one leg. ValueError for a robot without one floating base, or that nothing touches."""

    def __init__(self, plant):
        self.plant, self.context = plant, plant.CreateDefaultContext()
        self.base = only([plant.get_body(i) for i in plant.GetFloatingBaseBodies()])
        solids, registry = plant.compiled_geometries().ids, plant.scene_graph.registry  # whose meshes are read then
        self.points = {}  # of each link, in its frame
        for own in pieces_of(solids, registry.geometries, plant).values():
            for piece in own:
                ends = np.vstack([piece.points + [0, 0, piece.rounding * s] for s in (-1.0, 1.0)])
                self.points.setdefault(piece.link, []).append(ends)
        self.points = {link: np.vstack(rows) for link, rows in self.points.items()}
        if len(self.points) < 2:
            raise ValueError("fewer than two of its links collide")
        self.stance = min(self.points, key=lambda link: self._placed(link)[:, 2].min())
        X_WF = self._pose(self.stance)
        sole = self._placed(self.stance)
        sole = sole[sole[:, 2] < sole[:, 2].min() + SOLE]
        self.height, self.middle = sole[:, 2].min(), 0.5 * (sole[:, :2].min(axis=0) + sole[:, :2].max(axis=0))
        self.X_WF = RigidTransform(X_WF.rotation(), X_WF.translation() - [0.0, 0.0, self.height])
        joints = [j for j in plant.elements.joints if j.num_velocities() == 1]
        self.places = np.array([j.position_start() for j in joints])
        self.q = plant.GetDefaultPositions()
        lower, upper = plant.GetPositionLowerLimits()[self.places], plant.GetPositionUpperLimits()[self.places]
        self.bounds = [(max(a, -3.0), min(b, 3.0)) for a, b in zip(lower, upper, strict=True)]

    def _pose(self, link):
        return self.plant.elements.bodies[link].EvalPoseInWorld(self.context)

    def _placed(self, link):
        X = self._pose(link)
        return self.points[link] @ X.rotation().matrix().T + X.translation()

    def set(self, x):
        """Joints at x, the base where it has the foot on the ground."""
        plant, q = self.plant, self.q.copy()
        q[self.places] = x
        plant.SetPositions(self.context, q)
        X_BF = self._pose(self.base.index()).inverse().multiply(self._pose(self.stance))
        plant.SetFreeBodyPose(self.context, self.base, self.X_WF.multiply(X_BF.inverse()))

    def cost(self, x):
        self.set(x)
        off = self.plant.CalcCenterOfMassPositionInWorld(self.context)[:2] - self.middle
        lacking = max(0.0, 1.5 * LIFT - min(self._placed(k)[:, 2].min() for k in self.points if k != self.stance))
        return 1e3 * (off @ off) + 1e2 * lacking**2 + 1e-3 * ((x - self.q[self.places]) ** 2).sum()

    def find(self):
        """(distance of the centre of mass from the middle of the sole, height of what else is lowest) [m]."""
        x0 = np.clip(self.q[self.places], *np.transpose(self.bounds))
        best, rng = None, np.random.default_rng(0)
        for attempt in range(6):
            start = (
                x0 if attempt == 0 else np.clip(x0 + rng.normal(scale=0.3, size=x0.size), *np.transpose(self.bounds))
            )
            found = minimize(self.cost, start, bounds=self.bounds, method="L-BFGS-B", options={"maxiter": 60})
            best = found if best is None or found.fun < best.fun else best
            self.set(best.x)
            off = np.linalg.norm(self.plant.CalcCenterOfMassPositionInWorld(self.context)[:2] - self.middle)
            lift = min(self._placed(k)[:, 2].min() for k in self.points if k != self.stance)
            if off < CLOSE and lift > 0.3 * LIFT:
                break
        return off, lift


def stand(file, q, seconds, approximation):
    """[degrees] by which it turned in so long, on its ground."""
    plant = loaded_plant(file, approximation, ground=0.0)
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    plant.SetPositions(context, q)
    for joint in plant.elements.joints:
        if 0 < joint.num_velocities() < 6:
            joint.Lock(context)
    base = only([plant.get_body(i) for i in plant.GetFloatingBaseBodies()])
    before, t, angle = base.EvalPoseInWorld(context).rotation().matrix(), 0.0, 0.0
    while t < seconds and angle < 20.0:
        t += 1.0
        simulator.AdvanceTo(t)
        R = base.EvalPoseInWorld(context).rotation().matrix()
        angle = degrees(acos(min(1.0, (np.trace(before.T @ R) - 1.0) / 2.0)))
    return angle if t >= seconds else inf


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_leg", description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--time", type=float, default=60.0, help="[s] that they stand")
    parser.add_argument("--approximations", nargs="+", choices=APPROXIMATIONS, default=APPROXIMATIONS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for file in options.files:
        name = "/".join(Path(file).parts[-3:])
        try:
            pose = Pose(loaded_plant(file))
        except (MbcliError, ValueError) as error:
            print(f"{name:60} {error}"[:200])
            continue
        off, lift = pose.find()
        if off > CLOSE or lift < 0.3 * LIFT:
            print(f"{name:60} no pose: the centre of mass is {off:.3f} m off the middle of the sole, lift {lift:.3f} m")
            continue
        q = pose.plant.GetPositions(pose.context)
        kinds = [a for a in options.approximations if a != "tamsi" or not pose.plant.elements.constraints]
        angles = [stand(file, q, options.time, a) for a in kinds]
        print(f"{name:60}", *(f"{angle:8.4f}" for angle in angles), "fell" * (max(angles) > UPRIGHT), flush=True)


if __name__ == "__main__":
    main()
