"""The structs that compiled kernels see, laid out as numbers of 8 bytes, so that numba need not be there to make them.

A struct is one array after another as numba has it: owner, parent, number of elements, size of one, address, shape,
strides. structs.py reads it.
"""

import math

import numpy as np

from mbcli.engine.runtime.lane_memory import WIDTH


def struct_words(arrays):
    """The struct of arrays (float64 or int64, in C order), as int64: its address is what kernels take.

    arrays: pairs of an array and whether it is one of lanes: then its last axis is one element.
    """
    words = []
    for array, is_of_lanes in arrays:
        shape, strides, size = array.shape, array.strides, array.itemsize
        if is_of_lanes:
            size, shape, strides = 8 * WIDTH, shape[:-1], strides[:-1]
        address = array.__array_interface__["data"][0]
        words += (0, 0, math.prod(shape), size, address, *shape, *strides)
    return np.array(words, dtype=np.int64)
