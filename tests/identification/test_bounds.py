"""Numbers that cannot be negative: their standard errors hold where noise drives them to zero."""

import numpy as np
import pytest

from mbcli.identification.estimation import Weighted, least_squares
from mbcli.identification.possible_bodies import estimate
from mbcli.identification.unknowns import COULOMB, OFFSET, VISCOUS, Parameter

DRAWS = 400
KINDS = (VISCOUS, COULOMB, OFFSET)
PARAMETERS = [Parameter(kind, kind, "N m", 0, 0, 0.0, 1.0) for kind in KINDS]


def fitted(truth, seed, alike=0.6):
    """Estimate of frictions (3,), in units of the noise of each, from equations in which they are alike."""
    rng = np.random.default_rng(seed)
    A = (
        np.linalg.qr(rng.normal(size=(60, 3)))[0]
        @ np.linalg.cholesky(np.full((3, 3), alike) + (1 - alike) * np.eye(3)).T
    )
    y = A @ truth + rng.normal(size=60)
    Q, R = np.linalg.qr(A)
    weighted = Weighted(np.ones(1), [], R, Q.T @ y, 1.0, 0)
    return estimate(weighted, PARAMETERS, np.zeros((0, 10)), least_squares(R, Q.T @ y, np.ones(3)))


@pytest.mark.parametrize("size", [0.0, 0.5, 1.5])
def test_truths_are_within_two_standard_errors_where_bounds_act(size):
    truth = np.array([size, 4.0, 0.3])
    found = [fitted(truth, seed) for seed in range(DRAWS)]
    off = np.array([np.abs(e.x - truth) / e.errors for e in found])
    inside = (off < 2.0).mean(axis=0)
    assert inside.min() > 0.93, inside  # 95 % of normal errors, with a spread of 1.1 %
    assert off[:, 0].max() < 6.0  # what keeps a number positive passed for a measurement of it


def test_a_number_far_below_its_bound_is_not_known_better_than_to_that_distance():
    """Data that ask for a negative friction are off by as much at least."""
    found = fitted(np.array([-8.0, 4.0, 0.3]), 1)
    assert found.x[0] < 0.1 and 2.0 < found.errors[0] < 20.0


def test_numbers_that_data_show_have_the_errors_of_least_squares():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(400, 3))
    R = np.linalg.qr(A)[1]
    truth = np.array([20.0, 30.0, 10.0])
    weighted = Weighted(np.ones(1), [], R, R @ truth, 1.0, 0)
    errors = estimate(weighted, PARAMETERS, np.zeros((0, 10)), truth).errors
    np.testing.assert_allclose(errors, np.linalg.norm(np.linalg.inv(R), axis=1), rtol=1e-3)
