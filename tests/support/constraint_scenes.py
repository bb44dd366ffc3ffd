"""Constraints for tests: random ones on random plants, and the mechanisms of the benchmarks."""

import sys

import numpy as np
from random_trees import joints_of, random_plant, random_pose, random_rotation, random_state
from repository import ROOT

sys.path.insert(0, str(ROOT))  # the benchmarks are not installed
from benchmarks.mechanisms import (  # noqa: F401
    GRAVITY,
    bar,
    bennett,
    bricard,
    chain_of_bars,
    chain_of_four_bars,
    end_of,
    four_bar,
    spatial_loop,
)
from mbcli.multibody.compilation.compile_constraints import (
    Coupling,
    Tie,
    alignments,
    compile_constraints,
    contact,
    distance,
    perpendicular,
    slides,
    threads,
    twists,
)
from mbcli.multibody.compilation.constrained_model import DEPENDENT, ConstrainedModel
from mbcli.multibody.constraints import ConstraintSet

X, Y, Z = np.eye(3)


def moving_links(plant, rng, count, among=()):
    """Links of different bodies of the engine, none of them welded to World."""
    link_body = plant.model.link_body
    chosen, taken = [], {0, *(link_body[n] for n in among)}
    for n in rng.permutation(plant.num_bodies()):
        if link_body[n] not in taken and len(chosen) < count:
            chosen.append(int(n))
            taken.add(link_body[n])
    assert len(chosen) == count
    return chosen


def rows_of_all_kinds(plant, seed):
    """Constraints of the engine with rows of every kind, numbered out of order."""
    rng = np.random.default_rng(seed)
    R = random_rotation(rng).matrix()
    kinds = {
        "slide": slides(*R),
        "mixed": slides(R[0]) + twists(R[1]),
        "twist": twists(*np.eye(3)),
        "align": alignments(R[:2], R[2]),
        "thread": threads(R[2], 0.3),
        "perpendicular": perpendicular(R[0], R[1]),
        "distance": distance(0.7),
    }
    found = []
    for name, rows in kinds.items():
        ends = moving_links(plant, rng, 2) if name != "mixed" else [0, *moving_links(plant, rng, 1)]
        poses = [random_pose(rng).GetAsMatrix4() for _ in ends]
        found.append((rows, lambda numbers, e=ends, p=poses, r=rows: Tie(e[0], p[0], e[1], p[1], r, numbers)))
    normals = contact(R[0]) + contact(R[1])
    end, pose = moving_links(plant, rng, 1)[0], random_pose(rng).GetAsMatrix4()
    found.append((normals, lambda numbers: Tie(0, np.eye(4), end, pose, normals, numbers)))
    terms = [(j.position_start(), j.velocity_start()) for j in joints_of(plant) if j.num_velocities() == 1][:3]
    terms = tuple((*term, factor) for term, factor in zip(terms, (1.0, -2.0, 0.5), strict=False))
    found.append(((None,), lambda numbers: Coupling(terms, 0.4, numbers)))
    numbers = iter(rng.permutation(sum(len(rows) for rows, _ in found)).tolist())
    return [make(tuple(next(numbers) for _ in rows)) for rows, make in found]


def random_scene(seed, **options):
    """Plant with all types of joints and constraints of all kinds, fixed for even seeds, floating for odd ones."""
    options = {"num_bodies": 14, "trees": 1 + seed % 3, "floating_bases": seed % 2} | options
    plant = random_plant(seed, **options)
    return plant, rows_of_all_kinds(plant, seed)


def constrained_scene(seed, compiled=False, dtype=float, **options):
    """ConstrainedModel of a random scene in a random state."""
    plant, constraints = random_scene(seed, **options)
    model = plant.model.replace(dtype=dtype)
    scene = ConstrainedModel(model, compile_constraints(model, constraints), compiled)
    rng = np.random.default_rng(seed)
    scene.data.q[:], scene.data.v[:] = random_state(plant, rng)
    scene.data.tau[:] = rng.normal(size=plant.num_velocities())
    return plant, scene


def random_constraint_set(plant, seed, contacts=2, loops=3):
    """A bound ConstraintSet of contacts and loop constraints of one to four axes on different bodies."""
    rng = np.random.default_rng(seed)
    cs = ConstraintSet()
    for link in moving_links(plant, rng, contacts):
        point, R = rng.uniform(-0.5, 0.5, 3), random_rotation(rng).matrix()
        for normal in R[: rng.integers(1, 3)]:
            cs.AddContactConstraint(plant.get_body(link), point, normal)
    for _ in range(loops):
        P, S = (plant.get_body(n) for n in moving_links(plant, rng, 2))
        frames = random_pose(rng), random_pose(rng)
        for k in rng.choice(6, rng.integers(1, 4), replace=False):
            cs.AddLoopConstraint(P, S, *frames, np.eye(6)[k], True, 0.1)
    cs.Bind(plant)
    return cs


def run_derivatives(scene):
    """Runs what evaluate_constrained_derivatives() does after calc_constrained_dynamics, of any numbers."""
    nv, nrow = scene.model.sizes["nv"], len(scene.row_number)
    by_x, rows = np.empty((3, nv, nv), scene.model.dtype), np.empty((4, nrow, nv), scene.model.dtype)
    handles = scene.model, scene.data, scene.constraints, scene.work
    scene.kernels.differentiate_equations(*handles, *by_x, rows[0], rows[1], rows[3])
    scene.kernels.solve_derivatives(scene.model, scene.constraints, scene.work, *by_x, *rows[:3])


def run_every_kernel(scene):
    """Runs all kernels of constraints that smooth ones are called by."""
    responses = np.zeros((len(scene.row_number),) * 2, scene.model.dtype)
    scene.run("calc_constraint_velocities")
    scene.run("calc_constrained_dynamics", DEPENDENT)
    run_derivatives(scene)
    scene.run("calc_constraint_positions", 1)
    scene.run("project_velocities", DEPENDENT)
    scene.run("calc_contact_responses", responses)
    scene.run("calc_dynamics_with_contacts")
