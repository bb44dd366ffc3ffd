"""Which trees of an island meet: rows of bits, of several words where more trees stand in it than a word has bits."""

from types import SimpleNamespace

import numpy as np
import pytest

from mbcli.engine import load_kernels
from mbcli.engine.contact.islands import WORD

kernels = load_kernels(False)


def bits(neighbors, n, words):
    """The adjacency (n, n) that rows of words hold."""
    rows = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            rows[i, j] = neighbors[i * words + j // WORD] >> (j % WORD) & 1
    return rows


@pytest.mark.parametrize("n", [3, WORD, WORD + 1, 3 * WORD - 1])
def test_neighbors_of_trees_are_those_that_a_constraint_joins(n):
    rng = np.random.default_rng(n)
    words, before = -(-n // WORD), 5  # trees of an island that stands before
    pairs = np.stack([rng.permutation(n)[:2] for _ in range(2 * n)])
    alone = np.column_stack([rng.integers(0, n, size=4), np.full(4, -1)])  # with World
    con = np.concatenate([pairs, alone])[rng.permutation(2 * n + 4)]
    order = rng.permutation(n)  # number in the island -> tree
    solver = SimpleNamespace(
        neighbors=np.full(n * words, -1),
        order=np.concatenate([np.arange(n, n + before), order]),
        tree_position=np.full(n + before, -1),
        island_con=np.array([0, 0, len(con)]),
        con_order=np.arange(len(con)),
        con_tree=con,
    )
    kernels.connect(solver, 1, before, n, words)
    expected = np.zeros((n, n), dtype=bool)
    number = np.argsort(order)
    for a, b in con:
        if b >= 0:
            expected[number[a], number[b]] = expected[number[b], number[a]] = True
    np.testing.assert_array_equal(bits(solver.neighbors, n, words), expected)
    counts = [kernels.count_neighbors(solver.neighbors, i, words) for i in range(n)]
    np.testing.assert_array_equal(counts, expected.sum(axis=1))
