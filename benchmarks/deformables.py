"""Deformable bodies of mbcli and pydrake: `python -m benchmarks.deformables [SCENE...]`.

Each scene runs in both programs with the same mesh, material and steps, on one core; processor time a step, alternated,
medians. `growth` draws the time of a step by the number of elements; `threads` compares two threads with one, by the
clock.
"""

import argparse
import logging
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # read when the libraries are loaded
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

import mbcli.all  # noqa: E402

STEP = 0.01  # [s]
ROUNDS = 5
TURN = 1.0  # [s] that the steps of a turn of pydrake take, about
CELLS = ((4, 4, 4), (5, 5, 7), (9, 9, 10), (15, 15, 15))  # of six elements each: 384, 1 050, 4 860, 20 250
GROWTH = (2, 3, 4, 5, 7, 9, 12, 15)  # cells along each edge
WIDTH = 0.2  # [m]


@dataclass(frozen=True)
class Scene:
    """A box of rubber. height [m]: of its centre; ground: whether there is one; held: whether its top is."""

    height: float = 0.5 * WIDTH
    ground: bool = False
    held: bool = False
    approximation: str = "lagged"


SCENES = {
    "free": Scene(),  # falls
    "held": Scene(held=True),  # hangs by its top, and swings up and down
    "rest": Scene(ground=True),
    "rest-sap": Scene(ground=True, approximation="sap"),
}
OTHERS = ("growth", "threads")


def box_file(cells, folder):
    """A `.vtk` file of a box of cells, each cut into the six tetrahedra about its diagonal."""
    path = Path(folder) / "{}x{}x{}.vtk".format(*cells)
    if path.exists():
        return str(path)
    axes = [np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, n + 1) for n in cells]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(points)).reshape([n + 1 for n in cells])
    unit, tets = np.eye(3, dtype=int), []
    corners = np.stack(np.meshgrid(*map(np.arange, cells), indexing="ij"), axis=-1).reshape(-1, 3)
    for first in range(3):
        for second in {0, 1, 2} - {first}:
            path_of = [0 * unit[0], unit[first], unit[first] + unit[second], np.ones(3, dtype=int)]
            if (second - first) % 3 == 2:  # counterclockwise
                path_of[1:3] = path_of[2:0:-1]
            tets.append(np.stack([number[tuple((corners + shift).T)] for shift in path_of], axis=1))
    tets = np.concatenate(tets)
    lines = ["# vtk DataFile Version 3.0", "box", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines += [f"POINTS {len(points)} double", *(" ".join(map(repr, map(float, p))) for p in points)]
    lines += [f"CELLS {len(tets)} {5 * len(tets)}", *(f"4 {a} {b} {c} {d}" for a, b, c, d in tets)]
    lines += [f"CELL_TYPES {len(tets)}", *("10" for _ in tets)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


class World:
    """A scene in one program, by the module of all its names, with its Simulator."""

    def __init__(self, modules, scene, mesh):
        m = modules
        config = m.MultibodyPlantConfig(time_step=STEP)
        config.discrete_contact_approximation = scene.approximation
        builder = m.DiagramBuilder()
        self.plant, _ = m.AddMultibodyPlant(config, builder)
        friction = m.ProximityProperties()
        m.AddContactMaterial(friction=m.CoulombFriction(0.5, 0.5), properties=friction)
        if scene.ground:
            X = m.RigidTransform([0.0, 0.0, -0.5])
            self.plant.RegisterCollisionGeometry(self.plant.world_body(), X, m.Box(10.0, 10.0, 1.0), "ground", friction)
        self.model = self.plant.mutable_deformable_model()
        instance = m.GeometryInstance(m.RigidTransform([0.0, 0.0, scene.height]), m.Mesh(mesh), "box")
        instance.set_proximity_properties(friction)
        rubber = m.DeformableBodyConfig()
        rubber.set_youngs_modulus(1e5)
        rubber.set_poissons_ratio(0.3)
        rubber.set_mass_density(1000.0)
        rubber.set_stiffness_damping_coefficient(0.01)
        rubber.set_material_model(m.MaterialModel.kLinearCorotated)
        self.body = self.model.RegisterDeformableBody(instance, rubber, 1.0)
        if scene.held:
            top = [0.0, 0.0, scene.height + 0.499 * WIDTH]
            self.model.SetWallBoundaryCondition(self.body, top, [0.0, 0.0, -1.0])
        self.plant.Finalize()
        self.diagram = builder.Build()
        self.simulator = m.Simulator(self.diagram)
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        self.steps = 0

    def set_threads(self, count):
        self.model.SetParallelism(count)

    def advance(self, steps, clock=time.process_time):
        """Time of a step [s]."""
        self.steps += steps
        start = clock()
        self.simulator.AdvanceTo((self.steps - 0.5) * STEP)
        return (clock() - start) / steps

    def positions(self):
        return np.array(self.model.GetPositions(self.context, self.body))


def compared(programs, scene, mesh, rounds=ROUNDS):
    """(seconds of a step of each program, ratio of the second to the first, largest difference of positions [m])."""
    worlds = [World(modules, scene, mesh) for modules in programs]
    for world in worlds:
        world.advance(2)
    steps = max(1, min(50, round(TURN / worlds[-1].advance(1))))
    for world in worlds[:-1]:
        world.advance(1)
    times = [[world.advance(steps) for world in worlds] for _ in range(rounds)]
    seconds = [statistics.median(column) for column in zip(*times, strict=True)]
    ratio = statistics.median(row[-1] / row[0] for row in times)
    apart = max(abs(world.positions() - worlds[0].positions()).max() for world in worlds)
    return seconds, ratio, apart


def show_scenes(programs, names, folder):
    ratios = []
    print(f"{'scene':9} {'elements':>8} {'mbcli ms':>10} {'pydrake ms':>11} {'ratio':>7}  apart mm")
    for name in names:
        for cells in CELLS:
            seconds, ratio, apart = compared(programs, SCENES[name], box_file(cells, folder))
            ratios.append(ratio)
            print(
                f"{name:9} {6 * np.prod(cells):8d} {seconds[0] * 1e3:10.2f} {seconds[-1] * 1e3:11.2f} {ratio:7.2f}  "
                f"{apart * 1e3:.2g}",
                flush=True,
            )
    print(f"least ratio {min(ratios):.2f}, median {statistics.median(ratios):.2f}")


def show_growth(programs, folder):
    print("\na box at rest, lagged: time of a step by the number of elements")
    for n in GROWTH:
        seconds, ratio, _ = compared(programs, SCENES["rest"], box_file((n, n, n), folder), rounds=3)
        print(
            f"{6 * n**3:6d} elements {seconds[0] * 1e3:10.2f} ms {seconds[-1] * 1e3:11.2f} ms {ratio:7.2f}  "
            + "#" * max(1, round(4 * np.log2(seconds[0] * 1e4))),
            flush=True,
        )


def show_threads(folder):
    """Two threads beside one, by the clock: other programs on the machine slow two threads down more than one."""
    print(f"\n{'scene':9} {'elements':>8} {'one ms':>10} {'two ms':>10} {'ratio':>7}  equal")
    for name in SCENES:
        for cells in CELLS[1:]:
            worlds = [World(mbcli.all, SCENES[name], box_file(cells, folder)) for _ in (1, 2)]
            for count, world in enumerate(worlds, 1):
                world.set_threads(count)
                world.advance(3)
            steps = max(1, min(50, round(0.2 * TURN / worlds[0].advance(1))))
            worlds[1].advance(1)
            times = [[world.advance(steps, time.perf_counter) for world in worlds] for _ in range(4 * ROUNDS)]
            one, two = (statistics.median(column) for column in zip(*times, strict=True))
            ratio = statistics.median(a / b for a, b in times)
            equal = (worlds[0].positions() == worlds[1].positions()).all()
            print(
                f"{name:9} {6 * np.prod(cells):8d} {one * 1e3:10.2f} {two * 1e3:10.2f} {ratio:7.2f}  "
                f"{'yes' if equal else 'no'}",
                flush=True,
            )


def main(words=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deformables", description=__doc__)
    parser.add_argument("scenes", nargs="*", help=f"some of {', '.join((*SCENES, *OTHERS))}; default: all")
    names = parser.parse_args(words).scenes or [*SCENES, *OTHERS]
    unknown = set(names) - {*SCENES, *OTHERS}
    if unknown:
        parser.error(f"not scenes: {', '.join(sorted(unknown))}")
    programs = [mbcli.all]
    try:
        import pydrake.all

        programs.append(pydrake.all)
    except ImportError:
        print("pydrake is not installed: mbcli alone", file=sys.stderr)
    logging.getLogger("drake").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        scenes = [name for name in names if name in SCENES]
        if scenes:
            show_scenes(programs, scenes, folder)
        if "growth" in names:
            show_growth(programs, folder)
        if "threads" in names:
            show_threads(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
