"""Memory for vector registers: rows of eight doubles, each on a cache line."""

import numpy as np

WIDTH = 8
ALIGNMENT = 64  # [bytes]: a cache line, and one register of AVX-512


class LaneAddress(int):
    """The address of a struct of lanes, as kernels take it."""


def aligned_zeros(count):
    """Zeros (count, WIDTH), each row on one cache line."""
    buffer = np.zeros(WIDTH * count + ALIGNMENT // 8)
    start = -buffer.ctypes.data % ALIGNMENT // 8
    return buffer[start : start + WIDTH * count].reshape(count, WIDTH)


def sum_of_lanes(x):
    """The sum of the numbers in a vector register."""
    return x.sum()


def element(array, k):
    """array[k] for k >= 0: compiled, without the test for indices that count from the end."""
    return array[k]


def set_element(array, k, value):
    """array[k] = value for k >= 0."""
    array[k] = value


def add_product(total, a, b):
    """total + a b, for registers by one instruction that rounds once."""
    return total + a * b


def subtract_product(total, a, b):
    """total - a b, for registers by one instruction that rounds once."""
    return total - a * b


def lanes_of(vector):
    """The same memory as registers; the length of the vector is a multiple of WIDTH."""
    return vector.reshape(-1, WIDTH)


def where_positive(x, a, b):
    """a where x > 0, b elsewhere."""
    return np.where(x > 0.0, a, b) if isinstance(x, np.ndarray) else (a if x > 0.0 else b)


def where_at_most(x, limit, a, b):
    """a where x <= limit, b elsewhere; b where one of them is not a number."""
    return a if x <= limit else b


def any_positive(x):
    """Whether x > 0 in some lane."""
    return bool(np.any(x > 0.0))
