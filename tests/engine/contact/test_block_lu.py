"""TAMSI's factorization by blocks of trees against dense matrices, also where rows have to be exchanged."""

from types import SimpleNamespace

import numpy as np
import pytest

from mbcli.engine import load_kernels
from mbcli.engine.fields.contact_fields import COUNT_STATUS, COUNT_VALUES, PROBLEM_SINGULAR, PROBLEM_SOLVED
from mbcli.engine.runtime.lane_memory import WIDTH

SIZES = (6, 3, 9, 6, 1)  # velocities of the trees
ARROW = tuple((p, 4) for p in range(5)) + tuple((p, p) for p in range(4))  # all meet the last tree only
FULL = tuple((p, r) for p in range(5) for r in range(p, 5))


def padded(size):
    return -(-size // WIDTH) * WIDTH


def random_matrix(pattern, seed):
    """With the blocks of a symmetric pattern, their places in velocities."""
    ends = np.cumsum([0, *SIZES])
    matrix, rng = np.zeros((ends[-1],) * 2), np.random.default_rng(seed)
    for p, r in pattern:
        for a, b in ((p, r), (r, p)):
            matrix[ends[a] : ends[a + 1], ends[b] : ends[b + 1]] = rng.normal(size=(SIZES[a], SIZES[b]))
    return matrix, ends


def solver_of(pattern, matrix, ends, right):
    """What the kernels read of a solver: the matrix in two halves, and one vector."""
    blocks = [sorted(r for q, r in pattern if q == p) for p in range(len(SIZES))]
    columns = [np.cumsum([0, *(padded(SIZES[r]) for r in row)]) for row in blocks]
    widths = [int(c[-1]) for c in columns]
    starts = np.cumsum([0, *(padded(size) * width for size, width in zip(SIZES, widths, strict=True))])
    slots = np.cumsum([0, *map(padded, SIZES)])
    values = np.zeros(2 * starts[-1])
    vectors = np.zeros((1, slots[-1]))
    for p, row in enumerate(blocks):
        for r, column in zip(row, columns[p], strict=False):
            for i in range(SIZES[p]):
                at = starts[p] + i * widths[p] + column
                values[at : at + SIZES[r]] = matrix[ends[p] + i, ends[r] : ends[r + 1]]
                if r > p:
                    values[starts[-1] + at :][: SIZES[r]] = matrix[ends[r] : ends[r + 1], ends[p] + i]
        vectors[0, slots[p] : slots[p] + SIZES[p]] = right[ends[p] : ends[p + 1]]
    counts = np.zeros(32, dtype=int)
    counts[COUNT_STATUS], counts[COUNT_VALUES] = PROBLEM_SOLVED, starts[-1]
    places = [r for row in blocks for r in row]
    return SimpleNamespace(
        counts=counts,
        values=values,
        values8=values.reshape(-1, WIDTH),
        vectors=vectors,
        vectors8=vectors.reshape(1, -1, WIDTH),
        gathered8=np.zeros((len(slots) * 2, WIDTH)),
        order=np.arange(len(SIZES)),
        tree_v=ends,
        tree_slot=slots,
        panel_start=starts,
        panel_width=widths,
        panel_block=np.cumsum([0, *map(len, blocks)]),
        block_place=np.array(places),
        block_column=np.concatenate([c[:-1] for c in columns]),
        block_size=np.array([SIZES[r] for r in places]),
        block_slot=np.array([slots[r] for r in places]),
        pivot=np.zeros(ends[-1]),
        exchange=np.zeros(ends[-1], dtype=int),
    )


def solve(pattern, matrix, ends, right):
    solver = solver_of(pattern, matrix, ends, right)
    kernels = load_kernels(False)
    kernels.factorize_halves(solver, 0, len(SIZES))
    if solver.counts[COUNT_STATUS] == PROBLEM_SOLVED:
        kernels.solve_halves(solver, 0, 0, len(SIZES))
    slots = zip(solver.tree_slot, SIZES, strict=False)
    return solver, np.concatenate([solver.vectors[0, slot : slot + size] for slot, size in slots])


def exchanged(solver):
    """How many rows were exchanged."""
    own = np.concatenate([np.arange(size) for size in SIZES])
    return int((solver.exchange != own).sum())


@pytest.mark.parametrize("pattern", [ARROW, FULL], ids=["arrow", "full"])
@pytest.mark.parametrize("seed", range(3))
def test_a_matrix_with_a_strong_diagonal_is_solved_without_exchange(pattern, seed):
    matrix, ends = random_matrix(pattern, seed)
    matrix += 30.0 * np.eye(len(matrix))
    right = np.random.default_rng(seed + 10).normal(size=len(matrix))
    solver, x = solve(pattern, matrix, ends, right)
    assert exchanged(solver) == 0
    assert np.allclose(matrix @ x, right, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("pattern", [ARROW, FULL], ids=["arrow", "full"])
@pytest.mark.parametrize("seed", range(3))
def test_rows_of_a_tree_are_exchanged_where_elimination_leaves_a_small_pivot(pattern, seed):
    """A row of each tree turns into zero on the diagonal after one step of elimination, in the first tree exactly."""
    matrix, ends = random_matrix(pattern, seed)
    for p, size in enumerate(SIZES):
        if size > 1:
            k = ends[p + 1] - 2
            matrix[k, k] = matrix[k, k + 1] * matrix[k + 1, k] / matrix[k + 1, k + 1]
    right = np.random.default_rng(seed + 10).normal(size=len(matrix))
    solver, x = solve(pattern, matrix, ends, right)
    assert exchanged(solver) > 0
    assert np.allclose(matrix @ x, right, rtol=0.0, atol=1e-9)


def test_a_tree_without_a_pivot_is_singular():
    matrix, ends = random_matrix(FULL, 0)
    matrix += 30.0 * np.eye(len(matrix))
    matrix[ends[0] : ends[1], 2] = 0.0
    solver, _ = solve(FULL, matrix, ends, np.ones(len(matrix)))
    assert solver.counts[COUNT_STATUS] == PROBLEM_SINGULAR
