"""Data for eight states at once, and the kernels that take it."""

import numpy as np

from mbcli.engine.fields.model_fields import DATA_FIELDS
from mbcli.engine.runtime.lane_memory import WIDTH, LaneAddress, aligned_zeros
from mbcli.engine.runtime.linking import load_kernels
from mbcli.engine.runtime.model import Data
from mbcli.engine.runtime.struct_memory import struct_words

GAP = 5  # [cache lines] between fields, so that their rows for one body do not compete for a place in the cache


def load_lane_kernels():
    """All kernels by name, for Data of lanes."""
    return load_kernels(True, "lanes")


class LaneData:
    """As Data for WIDTH states at once: each attribute has a last axis of WIDTH. `handle` is what kernels take."""

    def __init__(self, sizes):
        one = Data(sizes)
        memory = aligned_zeros(sum(getattr(one, field.name).size + GAP for field in DATA_FIELDS))
        start = 0
        for field in DATA_FIELDS:
            initial = getattr(one, field.name)
            array = memory[start : start + initial.size].reshape(*initial.shape, WIDTH)
            array[...] = initial[..., np.newaxis]
            setattr(self, field.name, array)
            start += initial.size + GAP
        self._struct = struct_words([(getattr(self, field.name), True) for field in DATA_FIELDS])
        self.handle = LaneAddress(self._struct.ctypes.data)
