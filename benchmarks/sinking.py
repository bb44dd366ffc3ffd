"""How deep what carries sinks: twenty stacks, walls, arches and loads, beside MuJoCo and pydrake with their defaults.

python -m benchmarks.sinking [--time 3] [WORLD...]

A row says by how much the lowest contact of a world, and the highest body, have sunk after that time [mm], and what
fell. pydrake reads the same MJCF (but not meshes of vertices), with the stiffness that it gives geometries by default.
"""

import argparse
import os
import tempfile
from math import cos, pi, sin

import numpy as np

from mbcli.simulation import simulate

APPROXIMATIONS = ("lagged", "similar", "sap", "tamsi")
H = 1e-3
FALLEN = 0.2  # [rad] by which what has fallen has turned


def body(position, geom, name):
    x, y, z = position
    return f'<body name="{name}" pos="{x:.12g} {y:.12g} {z:.12g}"><freejoint/>{geom}</body>'


def box(size, mass):
    half = " ".join(f"{0.5 * s:.12g}" for s in size)
    return f'<geom type="box" size="{half}" mass="{mass}" friction="1"/>'


def world(bodies, assets=""):
    return (
        f'<mujoco model="w"><asset>{assets}</asset><worldbody>'
        f'<geom type="plane" size="5 5 1" friction="1"/>{"".join(bodies)}</worldbody></mujoco>'
    )


def stack(count, size, masses):
    """Boxes on each other; masses: one of all, or of each from below."""
    masses = [masses] * count if np.isscalar(masses) else masses
    return world(
        [body((0, 0, (i + 0.5) * size[2]), box(size, masses[i]), f"b{i}") for i in range(count)],
    )


def wall(columns, rows, size, mass):
    """A wall of bricks, each over the joint of two, with halves at the ends of every second row."""
    found, half = [], (0.5 * size[0], *size[1:])
    for r in range(rows):
        z, odd = (r + 0.5) * size[2], r % 2
        for c in range(columns - odd):
            found.append(body(((c + 0.5 * odd) * size[0] * 1.001, 0, z), box(size, mass), f"b{r}_{c}"))
        for c in (-0.25, columns - 0.75) if odd else ():
            found.append(body((c * size[0] * 1.001, 0, z), box(half, 0.5 * mass), f"h{r}_{c}"))
    return world(found)


def pyramid(base, size, mass):
    found = []
    for r in range(base):
        for c in range(base - r):
            x = (c + 0.5 * r) * size[0] * 1.001
            found.append(body((x, 0, (r + 0.5) * size[2]), box(size, mass), f"b{r}_{c}"))
    return world(found)


def table(load):
    """A plate on four posts, with a load on it."""
    posts = [
        body((x, y, 0.25), box((0.05, 0.05, 0.5), 1.0), f"post{k}")
        for k, (x, y) in enumerate([(-0.4, -0.4), (-0.4, 0.4), (0.4, -0.4), (0.4, 0.4)])
    ]
    plate = body((0, 0, 0.52), box((1.0, 1.0, 0.04), 5.0), "plate")
    return world([*posts, plate, body((0, 0, 0.64), box((0.2, 0.2, 0.2), load), "load")])


def arch(count, thickness):
    """Half a circle of radius 1 m of wedges; 0.11 m is about the thinnest that stands (Milankovitch)."""
    step, assets, bodies = pi / count, [], []
    for i in range(count):
        a = pi - (i + 0.5) * step
        center = np.array([cos(a), 0.0, sin(a)])
        corners = [
            np.array([r * cos(e), y, r * sin(e)]) - center
            for r in (1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness)
            for e in (a - 0.5 * step, a + 0.5 * step)
            for y in (-0.15, 0.15)
        ]
        vertices = " ".join(f"{number:.12g}" for corner in corners for number in corner)
        assets.append(f'<mesh name="m{i}" vertex="{vertices}"/>')
        bodies.append(body(center, f'<geom type="mesh" mesh="m{i}" density="2400" friction="1"/>', f"b{i}"))
    return world(bodies, "".join(assets))


WORLDS = {
    "one cube of 0.1 m": stack(1, (0.1, 0.1, 0.1), 1.0),
    "two cubes": stack(2, (0.1, 0.1, 0.1), 1.0),
    "five cubes": stack(5, (0.1, 0.1, 0.1), 1.0),
    "ten cubes": stack(10, (0.1, 0.1, 0.1), 1.0),
    "twenty cubes of 50 mm": stack(20, (0.05, 0.05, 0.05), 0.2),
    "ten plates": stack(10, (0.4, 0.4, 0.02), 2.0),
    "ten cubes of 20 mm": stack(10, (0.02, 0.02, 0.02), 0.01),
    "ten cubes of 1 m": stack(10, (1.0, 1.0, 1.0), 1000.0),
    "1000 kg on 1 kg": stack(2, (0.2, 0.2, 0.2), [1.0, 1000.0]),
    "100 kg on 1 kg": stack(2, (0.2, 0.2, 0.2), [1.0, 100.0]),
    "1 kg on 1000 kg": stack(2, (0.2, 0.2, 0.2), [1000.0, 1.0]),
    "1000 kg on 1 kg on 1000 kg": stack(3, (0.2, 0.2, 0.2), [1000.0, 1.0, 1000.0]),
    "heavier upwards": stack(6, (0.2, 0.2, 0.2), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]),
    "lighter upwards": stack(6, (0.2, 0.2, 0.2), [32.0, 16.0, 8.0, 4.0, 2.0, 1.0]),
    "wall of five by five": wall(5, 5, (0.2, 0.1, 0.1), 2.0),
    "pyramid of six": pyramid(6, (0.1, 0.1, 0.1), 1.0),
    "table with 10 kg": table(10.0),
    "table with 500 kg": table(500.0),
    "arch of nine": arch(9, 0.3),
    "arch of fifteen": arch(15, 0.2),
}


def ours(path, approximation, time):
    """Poses (n, 7) of the bodies at the start and at the end, quaternion and position, and iterations a step."""
    log = simulate(path, time, log_rate=10, contact_approximation=approximation, warn=lambda message: None)
    poses = log.q.reshape(len(log.q), -1, 7)
    return poses[0], poses[-1], log.summary.contact["mean_iterations"]


def mujocos(path, time):
    import mujoco

    model = mujoco.MjModel.from_xml_path(path)
    model.opt.timestep = H
    data = mujoco.MjData(model)
    start = data.qpos.reshape(-1, 7)[:, [3, 4, 5, 6, 0, 1, 2]]
    for _ in range(round(time / H)):
        mujoco.mj_step(model, data)
    return start, data.qpos.reshape(-1, 7)[:, [3, 4, 5, 6, 0, 1, 2]]


def drakes(path, time):
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
    from pydrake.systems.analysis import Simulator
    from pydrake.systems.framework import DiagramBuilder

    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, H)
    Parser(plant).AddModels(path)
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    context = plant.GetMyContextFromRoot(simulator.get_context())
    start = plant.GetPositions(context).reshape(-1, 7).copy()
    simulator.AdvanceTo(time)
    return start, plant.GetPositions(context).reshape(-1, 7)


def sunk(start, end):
    """Most that a body sank [mm], or 'fell'."""
    turned = 2.0 * np.arccos(np.clip(np.abs((start[:, :4] * end[:, :4]).sum(axis=1)), 0.0, 1.0))
    return "    fell" if turned.max() > FALLEN else f"{1e3 * float((start - end)[:, 6].max()):8.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worlds", nargs="*", help="names or beginnings of names; default: all")
    parser.add_argument("--time", type=float, default=3.0, help="[s] default 3")
    options = parser.parse_args()
    columns = [*APPROXIMATIONS, "mujoco", "pydrake", "iterations a step of lagged"]
    print(f"{'most that a body sinks [mm]':28}", *(f"{name:>8}" for name in columns))
    with tempfile.TemporaryDirectory() as folder:
        for k, (name, text) in enumerate(WORLDS.items()):
            if options.worlds and not name.startswith(tuple(options.worlds)):
                continue
            path = os.path.join(folder, f"w{k}.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            found, iterations = [], []
            for approximation in APPROXIMATIONS:
                start, end, mean = ours(path, approximation, options.time)
                found.append(sunk(start, end))
                iterations.append(mean)
            for peer in (mujocos, drakes):
                try:
                    found.append("       -" if peer is drakes and "mesh" in text else sunk(*peer(path, options.time)))
                except ImportError:
                    found.append("       -")
            print(f"{name:28}", *found, f"{iterations[0]:8.2f}", flush=True)


if __name__ == "__main__":
    main()
