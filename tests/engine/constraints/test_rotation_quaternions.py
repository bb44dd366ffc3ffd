"""The quaternion of a rotation matrix, as constraints take it: right to rounding, whichever of its elements vanish."""

import itertools

import numpy as np
import pytest

from mbcli.engine import load_kernels
from mbcli.math import Quaternion, RotationMatrix

kernels = load_kernels(False)
ROUNDING = 4e-15


def quaternions():
    """Unit quaternions with none, one, two or three vanishing elements, of all signs, near and far from each other."""
    rng = np.random.default_rng(0)
    for kept in itertools.chain.from_iterable(itertools.combinations(range(4), n) for n in range(1, 5)):
        for _ in range(500):
            wxyz = np.zeros(4)
            wxyz[list(kept)] = rng.normal(size=len(kept))
            yield wxyz / np.linalg.norm(wxyz)


@pytest.mark.parametrize("turned", [False, True], ids=["exact", "nearly"])
def test_a_rotation_gives_its_quaternion_with_a_scalar_that_is_not_negative(turned):
    for wxyz in quaternions():
        if turned:
            wxyz = wxyz + 1e-9 * np.array([0.3, -0.4, 0.5, 0.6])
            wxyz /= np.linalg.norm(wxyz)
        R = RotationMatrix(Quaternion(wxyz=wxyz)).matrix()
        w, vector = kernels.rotation_quaternion(*(tuple(column) for column in R.T))
        found = np.array([w, *vector])
        assert w >= 0.0 or abs(w) < ROUNDING
        error = min(abs(found - wxyz).max(), abs(found + wxyz).max())
        assert error < ROUNDING, (wxyz, found)
