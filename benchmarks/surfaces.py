"""Hydroelastic contact of mbcli and pydrake: `python -m benchmarks.surfaces [SCENE...]`.

Each scene runs in both programs with the same shapes, properties and steps; processor time a step, alternated, medians.
`growth` has a sphere in a half space with more and more faces; `mesh` the tetrahedra of a surface of 10,000 triangles.
"""

import argparse
import logging
import statistics
import sys
import time
import warnings
from dataclasses import dataclass

import numpy as np

import mbcli.all
from benchmarks.contact import APPROXIMATIONS

STEP = 1e-3  # [s]
ROUNDS, STEPS = 5, 500  # calls of each program in turn; half a second a call, of which the call itself is little
GROWTH_HINTS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.0025, 0.00125)  # [m] of a sphere of 0.1 m
RIGID = "rigid"


@dataclass(frozen=True)
class Part:
    """A body, or a fixed geometry if its mass is 0: shape, its measures, modulus [Pa] or RIGID, hint, place, motion."""

    shape: str
    measures: tuple
    modulus: float | str
    position: tuple = (0.0, 0.0, 0.0)
    mass: float = 1.0
    hint: float = 0.02
    v: tuple = (0.0, 0.0, 0.0)
    w: tuple = (0.0, 0.0, 0.0)


GROUND = Part("HalfSpace", (), RIGID, mass=0.0)
FLOOR = Part("Box", (1.0, 1.0, 0.1), RIGID, (0.0, 0.0, -0.05), 0.0)
SCENES = {
    "box": (Part("Box", (0.1, 0.1, 0.1), 1e5, (0.0, 0.0, 0.0495)), GROUND),
    "sphere": (Part("Sphere", (0.05,), 1e5, (0.0, 0.0, 0.0438), hint=0.01), GROUND),
    "disc": (Part("Cylinder", (0.05, 0.04), 1e6, (0.0, 0.0, 0.01998), hint=0.005, w=(0.0, 0.0, 20.0)), GROUND),
    "slide": (Part("Cylinder", (0.05, 0.04), 1e6, (0.0, 0.0, 0.01998), hint=0.01, v=(1.0, 0.0, 0.0)), GROUND),
    "stack": (*(Part("Box", (0.1, 0.1, 0.1), 1e6, (0.0, 0.0, 0.05 + 0.0999 * k)) for k in range(5)), FLOOR),
    "grasp": (
        Part("Box", (0.06, 0.06, 0.06), RIGID, (0.0, 0.0, 0.3), 0.1),
        Part("Sphere", (0.02,), 1e6, (-0.049, 0.0, 0.3), 0.0, 0.005),
        Part("Sphere", (0.02,), 1e6, (0.049, 0.0, 0.3), 0.0, 0.005),
    ),
    "balls": (
        *(Part("Sphere", (0.05,), 1e6, (0.099 * i, 0.099 * j, 0.0495), hint=0.03) for i in range(3) for j in range(3)),
        GROUND,
    ),
}


class World:
    """A scene in one program, by the module of all its names, with its Simulator."""

    def __init__(self, modules, parts, approximation, representation):
        m = modules
        config = m.MultibodyPlantConfig(time_step=STEP)
        config.contact_model, config.discrete_contact_approximation = "hydroelastic_with_fallback", approximation
        config.contact_surface_representation, config.stiction_tolerance = representation, 1e-4
        builder = m.DiagramBuilder()
        self.plant, graph = m.AddMultibodyPlant(config, builder)
        bodies = []
        for k, part in enumerate(parts):
            properties, shape = _properties(m, part), getattr(m, part.shape)(*part.measures)
            if part.mass == 0.0:
                X = m.RigidTransform(list(part.position))
                self.plant.RegisterCollisionGeometry(self.plant.world_body(), X, shape, f"g{k}", properties)
                continue
            inertia = m.SpatialInertia.SolidSphereWithMass(part.mass, 0.05)
            body = self.plant.AddRigidBody(f"b{k}", inertia)
            self.plant.RegisterCollisionGeometry(body, m.RigidTransform(), shape, f"g{k}", properties)
            bodies.append((body, part))
        self.plant.Finalize()
        self.diagram = builder.Build()
        self.simulator = m.Simulator(self.diagram)
        context = self.simulator.get_mutable_context()
        self.context = self.plant.GetMyMutableContextFromRoot(context)
        for body, part in bodies:
            self.plant.SetFreeBodyPose(self.context, body, m.RigidTransform(list(part.position)))
            V = m.SpatialVelocity(w=np.array(part.w), v=np.array(part.v))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.plant.SetFreeBodySpatialVelocity(context=self.context, body=body, V_PB=V)
        self.steps = 0

    def advance(self, steps):
        """Processor time of a step [s]."""
        self.steps += steps
        start = time.process_time()
        self.simulator.AdvanceTo((self.steps - 0.5) * STEP)
        return (time.process_time() - start) / steps

    def faces(self):
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        infos = [results.hydroelastic_contact_info(k) for k in range(results.num_hydroelastic_contacts())]
        return sum(info.contact_surface().num_faces() for info in infos)

    def state(self):
        return self.plant.GetPositions(self.context)


def _properties(m, part):
    p = m.ProximityProperties()
    m.AddContactMaterial(dissipation=10.0, friction=m.CoulombFriction(0.5, 0.5), properties=p)
    p.AddProperty("material", "relaxation_time", 0.01)
    if part.modulus == RIGID:
        m.AddRigidHydroelasticProperties(resolution_hint=part.hint, properties=p)
    else:
        m.AddCompliantHydroelasticProperties(resolution_hint=part.hint, hydroelastic_modulus=part.modulus, properties=p)
    return p


def compared(programs, parts, approximation, representation, steps=STEPS):
    """(seconds of each program, ratio of the second to the first, faces, largest difference of positions)."""
    worlds = [World(modules, parts, approximation, representation) for modules in programs]
    for world in worlds:
        world.advance(3)
    times = [[world.advance(steps) for world in worlds] for _ in range(ROUNDS)]
    seconds = [statistics.median(column) for column in zip(*times, strict=True)]
    ratio = statistics.median(row[-1] / row[0] for row in times)
    apart = max(abs(world.state() - worlds[0].state()).max() for world in worlds)
    return seconds, ratio, worlds[0].faces(), apart


def show_scenes(programs, names):
    ratios = []
    print(f"{'scene':8} {'law':8} {'faces as':9} {'faces':>6} {'mbcli us':>10} {'pydrake us':>11} {'ratio':>7}  apart")
    for name in names:
        for approximation in APPROXIMATIONS:
            for representation in ("polygon", "triangle"):
                seconds, ratio, faces, apart = compared(programs, SCENES[name], approximation, representation)
                ratios.append(ratio)
                print(
                    f"{name:8} {approximation:8} {representation:9} {faces:6d} {seconds[0] * 1e6:10.1f} "
                    f"{seconds[-1] * 1e6:11.1f} {ratio:7.2f}  {apart:.1e}",
                    flush=True,
                )
    print(f"least ratio {min(ratios):.2f}, median {statistics.median(ratios):.2f}")


def show_growth(programs):
    print("\nsphere in a half space, lagged, polygons: time of a step by the number of faces")
    for hint in GROWTH_HINTS:
        parts = (Part("Sphere", (0.1,), 1e5, (0.0, 0.0, 0.09), hint=hint, mass=20.0), GROUND)
        seconds, ratio, faces, _ = compared(programs, parts, "lagged", "polygon", max(5, round(200 * hint)))
        print(
            f"{faces:6d} faces {seconds[0] * 1e6:10.1f} us {seconds[-1] * 1e6:11.1f} us {ratio:7.2f}  "
            + "#" * max(1, round(4 * np.log2(seconds[0] * 1e6))),
            flush=True,
        )


def show_mesh():
    from mbcli.meshes.soft_mesh import soft_surface  # which keeps no results for the next run

    rows, columns = 100, 50  # of a torus with bumps, which is not convex
    u, v = np.meshgrid(np.arange(rows) * 2 * np.pi / rows, np.arange(columns) * 2 * np.pi / columns, indexing="ij")
    r = 0.03 + 0.004 * np.sin(5 * u) * np.sin(3 * v)
    vertices = np.stack([(0.1 + r * np.cos(v)) * np.cos(u), (0.1 + r * np.cos(v)) * np.sin(u), r * np.sin(v)], -1)
    k = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = k, np.roll(k, -1, 0), np.roll(np.roll(k, -1, 0), -1, 1), np.roll(k, -1, 1)
    triangles = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    seconds = []
    for _ in range(3):
        start = time.process_time()
        solid = soft_surface(vertices.reshape(-1, 3), triangles, "torus")
        seconds.append(time.process_time() - start)
    middle = statistics.median(seconds)
    print(f"\n{len(triangles)} triangles: {len(solid.tetrahedra)} tetrahedra in {middle:.2f} s (goal 2 s)")


def main(words=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.surfaces", description=__doc__)
    parser.add_argument("scenes", nargs="*", help=f"some of {', '.join(SCENES)}, growth, mesh; default: all")
    names = parser.parse_args(words).scenes or [*SCENES, "growth", "mesh"]
    unknown = set(names) - {*SCENES, "growth", "mesh"}
    if unknown:
        parser.error(f"not scenes: {', '.join(sorted(unknown))}")
    programs = [mbcli.all]
    try:
        import pydrake.all

        programs.append(pydrake.all)
    except ImportError:
        print("pydrake is not installed: mbcli alone", file=sys.stderr)
    logging.getLogger("drake").setLevel(logging.ERROR)
    scenes = [name for name in names if name in SCENES]
    if scenes:
        show_scenes(programs, scenes)
    if "growth" in names:
        show_growth(programs)
    if "mesh" in names:
        show_mesh()
    return 0


if __name__ == "__main__":
    sys.exit(main())
