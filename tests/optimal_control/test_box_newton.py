"""Least values within bounds: the conditions that they satisfy, and those of another solver."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from mbcli.optimal_control.box_newton import least_in_box


@pytest.mark.parametrize("seed", range(40))
def test_no_feasible_change_decreases_the_value(seed):
    random = np.random.default_rng(seed)
    m = int(random.integers(1, 9))
    root = random.normal(size=(m + 1, m)) * 10.0 ** random.uniform(-2, 2, m)
    H, g = root.T @ root + 1e-6 * np.eye(m), random.normal(size=m) * 10.0 ** random.uniform(-2, 2)
    low, high = -random.uniform(0.0, 1.0, m), random.uniform(0.0, 1.0, m)
    x, free = least_in_box(H, g, low, high, random.uniform(low, high))
    slope, size = H @ x + g, np.abs(g).max() + np.abs(H).max()
    assert (x >= low).all() and (x <= high).all()
    assert np.abs(slope[free]).max(initial=0.0) <= 1e-9 * size
    held = ~free
    assert (np.where(x == low, slope, -slope)[held] >= 0.0).all()  # a bound holds it, and pushes back
    assert ((x == low) | (x == high))[held].all()


def test_the_value_is_that_of_least_squares_within_bounds():
    random = np.random.default_rng(7)
    A, b = random.normal(size=(8, 5)), random.normal(size=8)
    low, high = -0.2 * np.ones(5), 0.1 * np.ones(5)
    x, _ = least_in_box(A.T @ A, -A.T @ b, low, high, np.zeros(5))
    assert x == pytest.approx(lsq_linear(A, b, (low, high), tol=1e-14).x, abs=1e-8)


def test_a_value_that_no_bound_meets_is_that_of_newton():
    H = np.array([[2.0, 0.5], [0.5, 1.0]])
    x, free = least_in_box(H, np.array([-1.0, 1.0]), -np.full(2, np.inf), np.full(2, np.inf), np.zeros(2))
    assert x == pytest.approx(np.linalg.solve(H, [1.0, -1.0]), abs=1e-14)
    assert free.all()
