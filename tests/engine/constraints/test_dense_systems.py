"""The compiled solutions of dense systems with constraints, against numpy's and against their own source."""

import numpy as np
import pytest

from mbcli.engine import load_kernels
from mbcli.multibody.constraints.dense_solver import DenseSolver

SIZES = [(1, 0), (1, 1), (5, 2), (7, 7), (8, 3), (15, 4), (16, 15), (36, 12), (41, 20)]
sizes = pytest.mark.parametrize(("n", "m"), SIZES)


def system(n, m, rng):
    """H, G, c, gamma; masses of a robot: from grams to tons, and other units for each row."""
    R = rng.normal(size=(n, n))
    scale = 10.0 ** rng.uniform(-1.5, 1.5, n)
    H = (R @ R.T + 0.1 * np.eye(n)) * np.outer(scale, scale)
    G = np.ascontiguousarray(10.0 ** rng.uniform(-0.5, 0.5, (m, 1)) * rng.normal(size=(m, n)))
    return H, G, rng.normal(size=n), rng.normal(size=m)


def by_numpy(H, G, c, gamma):
    """x and y, equilibrated and refined."""
    n, m = len(c), len(gamma)
    A, b = np.block([[H, G.T], [G, np.zeros((m, m))]]), np.concatenate([c, gamma])
    s = 1.0 / np.sqrt(abs(A).max(axis=0))
    solution = np.zeros(n + m)
    for _ in range(3):
        solution += s * np.linalg.solve(s[:, None] * A * s, s * (b - A @ solution))
    return solution[:n], -solution[n:]


def close(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * max(1.0, abs(expected).max(initial=0.0)))


@pytest.mark.parametrize("method", ["solve_in_null_space", "solve_directly"])  # the quick set has the first
@sizes
def test_both_methods_solve_the_system(method, n, m):
    given = system(n, m, np.random.default_rng(n + 100 * m))
    expected = by_numpy(*given)
    before = [np.array(a) for a in given]
    found = [getattr(DenseSolver(load_kernels(compiled), n, m), method)(*given) for compiled in (True, False)]
    for values, interpreted, numbers in zip(*found, expected, strict=True):
        close(values, numbers)
        close(values, interpreted)
    for array, same in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, same)


@pytest.mark.parametrize("compiled", [True, False])
@sizes
def test_a_solver_that_was_used_before_gives_the_same_bits(compiled, n, m):
    rng = np.random.default_rng(n)
    first, second = system(n, m, rng), system(n, m, rng)
    used, new = (DenseSolver(load_kernels(compiled), n, m) for _ in range(2))
    for method in ("solve_in_null_space", "solve_directly"):
        getattr(used, method)(*first)
        for a, b in zip(getattr(used, method)(*second), getattr(new, method)(*second), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("compiled", [True, False])
def test_dependent_rows_and_a_singular_matrix_are_left_to_others(compiled):
    H, G, c, gamma = system(8, 3, np.random.default_rng(2))
    solver = DenseSolver(load_kernels(compiled), 8, 3)
    twice = np.vstack([G[:2], G[0] - 2.0 * G[1]])
    nearly = twice + 1e-15
    for rows in (twice, nearly, 0.0 * G):
        assert solver.solve_directly(H, rows, c, gamma) is None
        assert solver.solve_in_null_space(H, rows, c, gamma) is None
        assert solver.find_shortest_change(rows, gamma, np.ones(8)) is None
    flat = np.diag([1.0] * 4 + [0.0] * 4)
    assert solver.solve_directly(flat, G, c, gamma) is None
    assert solver.solve_in_null_space(flat, G, c, gamma) is None
    assert solver.solve_in_null_space(-H, G, c, gamma) is None
    assert solver.solve_in_null_space(H * np.nan, G, c, gamma) is None
    assert solver.solve_directly(H * np.nan, G, c, gamma) is None
    assert solver.find_shortest_change(G, gamma, np.array([1.0] * 7 + [0.0])) is None


@sizes
def test_the_null_space_method_needs_h_to_be_definite_there_only(n, m):
    rng = np.random.default_rng(n + m)
    _, G, c, gamma = system(n, m, rng)
    Q = np.linalg.qr(G.T, mode="complete")[0]
    H = np.ascontiguousarray(Q[:, m:] @ Q[:, m:].T)  # zero along the constraints
    x, y = DenseSolver(load_kernels(True), n, m).solve_in_null_space(H, G, c, gamma)
    close(G @ x, gamma, 1e-12)
    close(H @ x - G.T @ y, c, 1e-11)


@sizes
def test_the_shortest_change_is_orthogonal_to_all_that_keep_the_constraints(n, m):
    rng = np.random.default_rng(7)
    _, G, _, errors = system(n, m, rng)
    weights = rng.uniform(0.5, 2.0, n)
    x = DenseSolver(load_kernels(True), n, m).find_shortest_change(G, errors, weights)
    close(G @ x, errors, 1e-12)
    Z = np.linalg.qr(G.T, mode="complete")[0][:, m:]
    close(Z.T @ (weights * x), np.zeros(n - m), 1e-12)


@pytest.mark.parametrize("compiled", [True, False])
def test_actuation_gives_the_wanted_accelerations_without_force_on_what_is_free(compiled):
    rng = np.random.default_rng(3)
    H, G, C, gamma = system(12, 5, rng)
    free = np.array([0, 3, 7])
    solver = DenseSolver(load_kernels(compiled), 12, 5)
    wanted = np.linalg.lstsq(G, gamma)[0]
    begun = wanted.copy()
    begun[free] = 5.0  # not read
    vdot, tau, force = solver.find_actuation(H, C, G, gamma, free, begun)
    close(vdot, wanted, 1e-11)
    close(H @ vdot + C, tau + G.T @ force, 1e-11)
    assert not tau[free].any()
    begun[1] += 1.0
    assert solver.find_actuation(H, C, G, gamma, free, begun) is None  # contradicts the constraints
