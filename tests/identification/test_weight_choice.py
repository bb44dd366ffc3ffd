"""Weights of equations by evidence: the usual ones unless parts of the data that are left out are predicted better."""

import numpy as np
import pytest

from mbcli.errors import NumericalError
from mbcli.identification.estimation import (
    Equations,
    all_alone,
    base_parameters,
    least_squares,
    weigh,
)
from mbcli.identification.weight_choice import choose_weights

ROWS = 2000


def equations(A, y):
    """Of one run, all of which may be used."""
    there = np.ones(y.shape, dtype=bool)
    return [Equations(A, y, there, y, y, 0.01 * np.arange(len(y)), "run.csv", 100.0, there)]


def chosen(own):
    p = own[0].A.shape[2]
    sizes, base = np.ones(p), all_alone(p)
    weighted = weigh(own, sizes, *base)
    return choose_weights(own, own[0].judged, weighted, sizes, base, lambda R, c: least_squares(R, c, sizes))


def test_white_noise_and_gross_outliers_leave_the_usual_weights():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(ROWS, 2, 4))
    y = A @ [1.0, 2.0, -1.0, 0.5] + rng.normal(size=(ROWS, 2)) * [0.3, 0.1]
    assert chosen(equations(A, y)).near is False
    y[rng.integers(ROWS, size=60), 0] += 20.0
    assert chosen(equations(A, y)).near is False


def test_a_joint_with_small_errors_does_not_bend_what_a_large_one_shows_better():
    """Both joints show one number; the small one has little noise, and shows it a tenth too large."""
    rng = np.random.default_rng(2)
    A = rng.normal(size=(ROWS, 2, 1)) * np.array([1.0, 0.02])[:, None]
    y = A[:, :, 0] * [1.0, 1.1] + rng.normal(size=(ROWS, 2)) * [0.05, 0.0003]
    found = chosen(equations(A, y))
    assert found.near and found.error < found.usual
    finding = found.finding("run.csv")
    assert finding.severity == "note" and "small errors count for less" in finding.message


def test_data_that_are_explained_and_those_without_possible_bodies_keep_the_usual_weights():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(ROWS, 1, 2))
    y = A @ [1.0, 2.0] + 0.01 * rng.normal(size=(ROWS, 1))
    assert chosen(equations(A, y)) == (False, None, None)
    own, sizes, base = equations(A, y + rng.normal(size=y.shape)), np.ones(2), all_alone(2)

    def none_at_all(R, c):
        raise NumericalError("no possible bodies")

    assert choose_weights(own, own[0].judged, weigh(own, sizes, *base), sizes, base, none_at_all) == (False, None, None)


@pytest.mark.parametrize("near", [False, True])
def test_standard_errors_are_those_of_the_errors_whatever_the_weights(near):
    """Over 200 draws the spread of what is found is its standard error."""
    rng, ratios = np.random.default_rng(4), []
    A, truth, sizes = rng.normal(size=(300, 2, 3)), np.array([1.0, -2.0, 0.5]), np.ones(3)
    for _ in range(200):
        own = equations(A, A @ truth + rng.normal(size=(300, 2)) * [0.5, 0.05])
        weighted = weigh(own, sizes, *all_alone(3), near)
        base = base_parameters(weighted, sizes, own, *all_alone(3))
        ratios.append((base.values - truth) / base.errors)
    assert 0.85 < np.std(ratios) < 1.15
