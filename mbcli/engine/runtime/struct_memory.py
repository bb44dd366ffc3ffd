"""The structs that compiled kernels see, laid out as numbers of 8 bytes, so that numba need not be there to make them.

A struct is one array after another as numba has it: owner, parent, number of elements, size of one, address, shape,
strides. structs.py reads it.
"""

import math

import numpy as np

from mbcli.engine.runtime.lane_memory import WIDTH

ADDRESS = 4  # the number of the address among those of an array


def strides_of(shape, itemsize):
    """[bytes] in C order."""
    return tuple(itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape)))


def array_words(shape, strides, itemsize, address):
    """The numbers of one array."""
    return (0, 0, math.prod(shape), itemsize, address, *shape, *strides)


def struct_words(arrays):
    """The struct of arrays (float64 or int64, in C order), as int64: its address is what kernels take.

    arrays: pairs of an array and whether it is one of lanes: then its last axis is one element.
    """
    words = []
    for array, is_of_lanes in arrays:
        shape, strides, size = array.shape, array.strides, array.itemsize
        if is_of_lanes:
            size, shape, strides = 8 * WIDTH, shape[:-1], strides[:-1]
        words += array_words(shape, strides, size, array.__array_interface__["data"][0])
    return np.array(words, dtype=np.int64)
