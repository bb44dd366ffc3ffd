"""A sensor of the distance to a limit: below, inside and above it."""

import types

import numpy as np
import pytest

from mbcli.sensors import SENSORS


@pytest.mark.parametrize(("q", "distance"), [(-1.5, -0.5), (-1.0, 0.0), (0.3, 0.0), (2.0, 0.0), (2.25, -0.25)])
def test_it_is_negative_beyond_either_limit_and_zero_between_them(q, distance):
    rows = types.SimpleNamespace(coordinate=lambda sensor: np.array([q, 0.0]))
    sensor = types.SimpleNamespace(settings={"limits": (-1.0, 2.0)})
    np.testing.assert_array_equal(SENSORS["limit_distance"].values(sensor, rows), [[distance], [0.0]])
