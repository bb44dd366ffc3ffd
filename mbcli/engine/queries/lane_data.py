"""Data and ConstraintWork for eight states at once, and the kernels that take them."""

import numpy as np

from mbcli.engine.runtime.lane_memory import WIDTH, LaneAddress, aligned_zeros
from mbcli.engine.runtime.linking import load_kernels
from mbcli.engine.runtime.model import ConstraintWork, Data
from mbcli.engine.runtime.struct_memory import struct_words

GAP = 5  # [cache lines] between fields, so that their rows for one body do not compete for a place in the cache


def load_lane_kernels():
    """All kernels by name, for Data and ConstraintWork of lanes."""
    return load_kernels(True, "lanes")


class LaneArrays:
    """As writable arrays, for WIDTH states at once: each attribute has a last axis of WIDTH.

    Args:
        one: the same for one state; its numbers are those of all lanes at first.

    Attributes:
        handle: what kernels take.
    """

    def __init__(self, one):
        fields = one.fields
        memory = aligned_zeros(sum(getattr(one, field.name).size + GAP for field in fields))
        start = 0
        for field in fields:
            initial = getattr(one, field.name)
            array = memory[start : start + initial.size].reshape(*initial.shape, WIDTH)
            array[...] = initial[..., np.newaxis]
            setattr(self, field.name, array)
            start += initial.size + GAP
        self._struct = struct_words([(getattr(self, field.name), True) for field in fields])
        self.handle = LaneAddress(self._struct.ctypes.data)


class LaneData(LaneArrays):
    """Data of lanes, for a model of the given sizes."""

    def __init__(self, sizes):
        super().__init__(Data(sizes))


class LaneWork(LaneArrays):
    """ConstraintWork of lanes, for constraints of the given sizes."""

    def __init__(self, sizes):
        super().__init__(ConstraintWork(sizes))
