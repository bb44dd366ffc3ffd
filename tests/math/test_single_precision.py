"""The shortest decimals of numbers of single precision, beside numpy's text of them."""

import numpy as np

from mbcli.math.single_precision import shortest_decimals


def test_shortest_decimals_are_those_of_the_text():
    random = np.random.default_rng(3)
    sizes = 10.0 ** random.integers(-44, 38, size=20_000)
    numbers = (random.normal(size=sizes.shape) * sizes).astype(np.float32)
    numbers[::2] = random.normal(size=numbers[::2].shape)
    numbers[::3] = np.round(numbers[::3] * 1e4) / 1e4
    numbers[:8] = 0.0, -0.0, np.inf, -np.inf, np.nan, 0.1, 1e-45, 3.4028235e38
    expected = np.array([float(text) for text in numbers.astype(str)])
    found = shortest_decimals(numbers.reshape(-1, 4))
    assert found.shape == (5000, 4)
    np.testing.assert_array_equal(found.ravel(), expected)
    assert np.signbit(found[0, 1])
