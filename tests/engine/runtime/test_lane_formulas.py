"""What lanes compute without branches is, in one lane, what kernels of one state compute with them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbcli.engine.constraints import constraint_errors
from mbcli.engine.queries import lanes
from mbcli.engine.runtime.lane_memory import where_at_most, where_positive


def rotations():
    """Random ones, and turns by nearly half a circle about each axis, whose largest element differs."""
    turns = [np.pi * (1.0 - share) * axis for axis in np.eye(3) for share in (0.0, 1e-9, 0.1)]
    return [*Rotation.random(40, random_state=3).as_matrix(), *Rotation.from_rotvec(turns).as_matrix(), np.eye(3)]


def test_quaternions_of_rotations():
    for R in rotations():
        (w, u), (expected_w, expected_u) = lanes.rotation_quaternion(*R.T), constraint_errors.rotation_quaternion(*R.T)
        np.testing.assert_allclose([w, *u], [expected_w, *expected_u], atol=1e-15)
        assert w >= 0.0 and np.linalg.norm([w, *u]) == pytest.approx(1.0, abs=1e-14)


def test_directions_between_two_others():
    units = np.random.default_rng(5).normal(size=(40, 3))
    units /= np.linalg.norm(units, axis=1)[:, None]
    pairs = [*zip(units[::2], units[1::2], strict=True), *((c, -c) for c in (*units[:5], *np.eye(3)))]
    for c, d in pairs:
        (h, per_length), (expected, expected_length) = lanes.half_way(c, d), constraint_errors.half_way(c, d)
        np.testing.assert_allclose([*h, per_length], [*expected, expected_length], rtol=1e-14, atol=1e-15)


def test_choices_are_those_of_each_lane():
    x = np.array([-1.0, 0.0, 2.0, np.nan])
    assert where_positive(x, np.full(4, 5.0), np.arange(4.0)).tolist() == [0.0, 1.0, 5.0, 3.0]
    assert (where_positive(0.1, 5.0, 6.0), where_positive(0.0, 5.0, 6.0)) == (5.0, 6.0)
    assert [where_at_most(*case, 5.0, 6.0) for case in ((1.0, 1.0), (1.1, 1.0), (np.nan, 1.0))] == [5.0, 6.0, 6.0]
