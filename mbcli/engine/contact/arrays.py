"""The arrays of contact points, of a contact problem and of the contacts of a run, as objects that kernels take."""

import math

import numpy as np

from mbcli.engine.fields.collision_fields import WORD
from mbcli.engine.fields.contact_fields import (
    FACE_CORNERS,
    POINT_FIELDS,
    SAMPLE_FIELDS,
    SETTING_APPROXIMATION,
    SETTING_FRICTION_SOFTNESS,
    SETTING_MOST_ITERATIONS,
    SETTING_TOLERANCE,
    SOLVER_FIELDS,
    TAMSI,
    VECTORS,
)
from mbcli.engine.fields.model_fields import shape_of
from mbcli.engine.fields.sleep_fields import SLEEP_FIELDS
from mbcli.engine.runtime.lane_memory import WIDTH, aligned_zeros
from mbcli.engine.runtime.model import Arrays

DEFAULT_TOLERANCE = 1e-6  # relative, of momenta
DEFAULT_ITERATIONS = 100
FRICTION_SOFTNESS = 1e-3  # of friction's regularization, of the contact's compliance (Castro et al. 2022)


def _allocate(owner, fields, sizes):
    """Zeros for every field. Fields of the kind "lanes" share the memory of the field whose name they carry."""
    names = {field.name for field in fields}
    for field in fields:
        if field.kind == "lanes":
            numbers = getattr(owner, field.name[:-1])
            setattr(owner, field.name, numbers.reshape(*numbers.shape[:-1], -1, WIDTH))
        elif field.name + "8" in names:
            shape = shape_of(field, sizes)
            setattr(owner, field.name, aligned_zeros(math.prod(shape) // WIDTH).reshape(shape))
        else:
            kind = np.int64 if field.kind == "int" else np.float64
            setattr(owner, field.name, np.zeros(shape_of(field, sizes), dtype=kind))


class ContactPoints(Arrays):
    """Room for the contact points of one state."""

    fields = POINT_FIELDS

    def __init__(self, capacity):
        self.capacity = capacity
        _allocate(self, POINT_FIELDS, {"npoint": capacity, "npoint1": capacity + 1, "ncorner": FACE_CORNERS * capacity})


class ContactSamples(Arrays):
    """Room for the contacts of a block of samples.

    Args:
        rows: samples.
        contacts: of all of them together.
    """

    fields = SAMPLE_FIELDS

    def __init__(self, rows, contacts):
        self.rows, self.capacity = rows, contacts
        sizes = {"nrow": rows, "nrow1": rows + 1, "nkept": contacts, "nkept1": contacts + 1}
        _allocate(self, SAMPLE_FIELDS, sizes | {"ncorner": FACE_CORNERS * contacts})


class SleepArrays(Arrays):
    """Room for what sleeps of one model.

    Args:
        sizes: of the model.
        trees: how many can move.
        contacts: of all that sleep together.
    """

    fields = SLEEP_FIELDS

    def __init__(self, sizes, trees, contacts):
        _allocate(self, SLEEP_FIELDS, {**sizes, "ntree": trees, "nkept": contacts})


class ContactSolver(Arrays):
    """Room for the contact problems of one model.

    Args:
        model: engine Model.
        constraints: how many there may be; their Jacobians grow with it.
        approximation: the kind of contact constraints, as in problem.py.
        elastic: velocities of each elastic body that take part: trees behind those of the model.
    """

    fields = SOLVER_FIELDS

    def __init__(self, model, constraints, approximation, blocks_per_tree=8, elastic=()):
        tree_v, dof_tree = trees_of(model)
        rigid = len(tree_v) - 1
        tree_v = np.concatenate([tree_v, tree_v[-1] + np.cumsum(elastic, dtype=np.int64)])
        dof_tree = np.concatenate([dof_tree, np.repeat(rigid + np.arange(len(elastic)), elastic)]).astype(np.int64)
        size = np.diff(tree_v)
        width = -(-size // WIDTH) * WIDTH
        tree_slot = np.concatenate([[0], np.cumsum(width)])
        ntree, nv, widest = len(size), int(tree_v[-1]), int(width[:rigid].max(initial=0))
        second, first = np.sort([0, 0, *width])[-2:]  # widths of the largest block of two trees
        dof_slot = np.arange(nv) + (tree_slot[:-1] - tree_v[:-1])[dof_tree]
        paths = paths_of(model, dof_slot)
        nblock = ntree * (1 + min(ntree, blocks_per_tree)) + 1
        halves = 2 if approximation == TAMSI else 1
        npiece = constraints * (2 * min(widest // WIDTH, _longest_path(model)) + (12 if len(elastic) else 0))
        sizes = {
            "ntree": ntree,
            "ntree1": ntree + 1,
            "nv": nv,
            "nslot": int(tree_slot[-1]),
            "nvector": VECTORS,
            "ncon": constraints,
            "ncon1": constraints + 1,
            "npiece": npiece,
            "njacobian": 3 * WIDTH * npiece,
            "nblock": nblock,
            "nvalue": halves * int((size * width).sum() + (nblock - ntree) * second * first),
            "nmass": int((size * width).sum()),
            "nword": ntree * -(-ntree // WORD),
            "nbody1": len(paths[0]),
            "npath": len(paths[1]),
            "nmask": len(paths[2]),
            "naxis": 6,
        }
        self.capacity = constraints
        self.blocks_per_tree = blocks_per_tree
        _allocate(self, SOLVER_FIELDS, sizes)
        self.tree_v[:] = tree_v
        self.tree_slot[:] = tree_slot
        self.dof_tree[:] = dof_tree
        self.dof_slot[:] = dof_slot
        rows = np.concatenate([[0], np.cumsum(size * width)])
        self.dof_row[:] = rows[dof_tree] + (np.arange(nv) - tree_v[dof_tree]) * width[dof_tree] - tree_v[dof_tree]
        self.body_path[:], self.path_vector[:], self.path_mask[:] = paths
        self.settings[SETTING_APPROXIMATION] = approximation
        self.settings[SETTING_TOLERANCE] = DEFAULT_TOLERANCE
        self.settings[SETTING_MOST_ITERATIONS] = DEFAULT_ITERATIONS
        self.settings[SETTING_FRICTION_SOFTNESS] = FRICTION_SOFTNESS


def trees_of(model):
    """(first velocity of each tree that moves, in the end nv; tree of each velocity)."""
    starts = [d for d, parent in enumerate(model.dof_parent) if parent < 0]
    roots = model.body_root[model.dof_body]
    first = [d for d in starts if d == 0 or roots[d] != roots[d - 1]]
    nv = len(model.dof_parent)
    tree_v = np.array([*first, nv])
    return tree_v, np.repeat(np.arange(len(first)), np.diff(tree_v))


def paths_of(model, dof_slot):
    """Which slots move a body, in pieces of eight: (first piece of each body, vector of each piece, masks).

    Pieces of a body stand from the outermost inwards.
    """
    paths = [[]]  # of bodies: (vector, bits) from World outwards
    for b in range(1, len(model.body_parent)):
        path = list(paths[model.body_parent[b]])
        for d in range(model.body_v[b], model.body_v[b] + model.body_nv[b]):
            vector, lane = divmod(int(dof_slot[d]), WIDTH)
            if path and path[-1][0] == vector:
                path[-1] = vector, path[-1][1] | 1 << lane
            else:
                path.append((vector, 1 << lane))
        paths.append(path)
    pieces = [piece for path in paths for piece in reversed(path)]
    masks = np.unpackbits(np.array([bits for _, bits in pieces], dtype=np.uint8), bitorder="little")
    return np.cumsum([0, *map(len, paths)]), [vector for vector, _ in pieces], masks


def _longest_path(model):
    depth = np.zeros(len(model.dof_parent), dtype=np.int64)
    for d, parent in enumerate(model.dof_parent):
        depth[d] = 1 if parent < 0 else depth[parent] + 1
    return int(depth.max(initial=1))
