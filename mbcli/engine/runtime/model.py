"""Model: the read-only arrays of one finalized plant, and Data: the writable arrays of one computation.

Constraints and ConstraintWork are the same for a set of constraints on a model. All are plain objects whose attributes
are the arrays of fields.py. `handle` is the argument of the stages: the object itself when they are interpreted,
the address of a numba struct over the same memory when they are compiled.
"""

import functools
import math
import mmap
import sys
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from mbcli.engine.fields.assembly_fields import ASSEMBLY_FIELDS, SPARE_ROWS
from mbcli.engine.fields.model_fields import (
    CONSTRAINT_FIELDS,
    CONSTRAINT_WORK_FIELDS,
    DATA_FIELDS,
    MODEL_FIELDS,
    shape_of,
)
from mbcli.engine.runtime.lane_memory import ALIGNMENT, WIDTH
from mbcli.engine.runtime.struct_memory import ADDRESS, array_words, strides_of, struct_words

FLOAT = np.dtype(np.float64)


class Arrays:
    """An attribute for each entry of `fields`, and the struct that compiled kernels see."""

    fields = ()
    dtype = FLOAT
    _handle = None

    def __getstate__(self):
        """Copies, and those of other processes, have a struct of their own."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_handle", "_struct", "_own")}

    def handle(self, compiled):
        """The argument of kernels for these arrays, as long as they live."""
        if not compiled:
            return self
        if self._handle is None:
            arrays = attrgetter(*(f.name for f in self.fields))(self)
            if self.dtype == FLOAT:
                self._struct = self.words_of(arrays), arrays  # which others may replace
                self._handle = self._struct[0].ctypes.data
            else:
                from mbcli.engine.runtime.structs import make_struct

                self._handle = make_struct(type(self).__name__, arrays)
        return self._handle

    def words_of(self, arrays):
        return struct_words((array, field.kind == "lanes") for array, field in zip(arrays, self.fields, strict=True))


class ReadOnlyArrays(Arrays):
    """Arrays that are given, and the sizes that they share.

    Args:
        sizes: numbers by name.
        arrays: value of each field by name; copied, checked against the declared shape.
        dtype: scalar type of the real fields.
    """

    def __init__(self, sizes, arrays, dtype=np.float64):
        self.sizes = dict(sizes)
        self.dtype = np.dtype(dtype)
        unknown = set(arrays) - {field.name for field in self.fields}
        if unknown:
            raise ValueError(f"not fields of {type(self).__name__}: {sorted(unknown)}")
        for field in self.fields:
            kind = self.dtype if field.kind == "real" else np.int64
            value = np.array(arrays[field.name], dtype=kind, order="C")
            if value.shape != shape_of(field, sizes):
                raise ValueError(f"{field.name} has shape {value.shape}, not {shape_of(field, sizes)}")
            value.flags.writeable = False
            setattr(self, field.name, value)

    def replace(self, dtype=None, **arrays):
        """A copy in which the given fields have other values (and the real fields another scalar type)."""
        values = {field.name: getattr(self, field.name) for field in self.fields}
        return type(self)(self.sizes, {**values, **arrays}, dtype or self.dtype)


class Model(ReadOnlyArrays):
    """One attribute per entry of MODEL_FIELDS; sizes: nbody, nlink, nframe, nq, nv, nu and those of force elements."""

    fields = MODEL_FIELDS

    @functools.cached_property
    def is_plain(self):
        """Whether it has none of the elements that few models have, see smooth/plain.py."""
        arrays = (self.spring_damper_link, self.bushing_link, self.hinge_dof, self.cut_link, self.curves)
        arrays += (self.transmission_kinds,)
        return not self.sizes["nelement"] and not any(len(array) for array in arrays)

    @functools.cached_property
    def bodies_have_inertia(self):
        """Whether every body has mass and moments of inertia about all axes: the mass matrix is positive then."""
        inertia = self.body_inertia[1:]
        return self.dtype == FLOAT and bool((inertia[:, 0] > 0.0).all() and not lacks_moment(inertia).any())


LEAST_MOMENT = 1e-15  # of the largest moment of inertia: less is 0 with rounding


def lacks_moment(inertias):
    """(n,) whether central inertias, as in rows (n, 10) of body_inertia, have no moment about some axis."""
    tensors = np.asarray(inertias)[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
    moments = np.linalg.eigvalsh(tensors)
    return moments[:, 0] <= LEAST_MOMENT * moments[:, 2]


class Constraints(ReadOnlyArrays):
    """One attribute per entry of CONSTRAINT_FIELDS: constraints on a model, whose sizes are among these."""

    fields = CONSTRAINT_FIELDS


class WritableArrays(Arrays):
    """Arrays of a scalar type, zero at first: of numbers in one piece of memory, each from a cache line on."""

    _own = None  # the arrays as they were made, and where in memory the piece begins

    def __init__(self, sizes, dtype=np.float64):
        self.dtype = dtype = np.dtype(dtype)
        if dtype.hasobject:
            shapes = _shapes(type(self), tuple(sizes.items()))
            self.__dict__.update(
                (name, np.zeros(shape, INTEGER if is_int else dtype)) for name, shape, is_int in shapes
            )
            return
        layout = _layout(type(self), tuple(sizes.items()), dtype)
        memory, start = _zeroed_memory(layout.size)
        arrays = [np.ndarray(shape, kind, memory, start + at) for shape, kind, at in layout.places]
        self.__dict__.update(zip(layout.names, arrays, strict=True))
        self._own = layout, arrays, memory.__array_interface__["data"][0] + start

    def words_of(self, arrays):
        """As struct_words(): what was not replaced is where the piece of memory has it."""
        if self._own is None:
            return super().words_of(arrays)
        layout, own, start = self._own
        words = layout.words.copy()
        words[layout.addresses] += start
        for k, array in enumerate(arrays):
            if array is not own[k]:
                first = layout.addresses[k] - ADDRESS
                words[first : first + ADDRESS + 1 + 2 * array.ndim] = struct_words([(array, False)])
        return words


INTEGER = np.dtype(np.int64)
LARGE = 1 << 28  # [bytes]
# [bytes] between arrays: of lengths that are powers of two, their rows would share sets of a cache
APART = 2 * ALIGNMENT
MAP_NORESERVE = 0x4000  # of Linux; Python names it from 3.13 on


def _zeroed_memory(size):
    """Bytes that are 0, as an array, and where in it a cache line begins from which on there are so many.

    A large piece takes no memory before it is written: few who have 10 000 bodies ask for M.
    """
    if size >= LARGE and sys.platform == "linux":
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        return np.frombuffer(mmap.mmap(-1, size, flags=flags), np.uint8), 0
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    return memory, -memory.__array_interface__["data"][0] % ALIGNMENT


@functools.cache
def _shapes(kind, sizes):
    """Name, shape and whether it is of integers, of each field of a class."""
    sizes = dict(sizes)
    return [(field.name, shape_of(field, sizes), field.kind == "int") for field in kind.fields]


class Layout(NamedTuple):
    """Where the arrays of a class lie in one piece of memory, and their struct, with addresses from its start."""

    names: tuple[str, ...]
    places: tuple[tuple, ...]  # shape, dtype, first byte
    size: int
    words: np.ndarray
    addresses: np.ndarray  # where in words


@functools.lru_cache(maxsize=256)
def _layout(kind, sizes, dtype):
    """The Layout of a class for sizes: pairs of name and number."""
    places, words, addresses, end = [], [], [], 0
    shapes = _shapes(kind, sizes)
    for _, shape, is_int in shapes:
        scalar = INTEGER if is_int else dtype
        places.append((shape, scalar, end))
        addresses.append(len(words) + ADDRESS)
        words += array_words(shape, strides_of(shape, scalar.itemsize), scalar.itemsize, end)
        end += -(-math.prod(shape) * scalar.itemsize // ALIGNMENT) * ALIGNMENT + APART
    names = tuple(name for name, _, _ in shapes)
    return Layout(names, tuple(places), end, np.array(words, dtype=np.int64), np.array(addresses, dtype=np.int64))


class Data(WritableArrays):
    """One attribute per entry of DATA_FIELDS, for a model of the given sizes. q and v are parts of x."""

    fields = DATA_FIELDS

    def __init__(self, sizes, dtype=np.float64):
        super().__init__(sizes, dtype)
        self.x = np.zeros(sizes["nq"] + sizes["nv"], dtype=dtype)
        self.q, self.v = self.x[: sizes["nq"]], self.x[sizes["nq"] :]
        for X in (self.X_WB, self.X_FM, self.X_WL):
            X[:, 0:9:4] = 1.0


class ConstraintWork(WritableArrays):
    """One attribute per entry of CONSTRAINT_WORK_FIELDS, for constraints of the given sizes."""

    fields = CONSTRAINT_WORK_FIELDS


class AssemblyArrays(WritableArrays):
    """One attribute per entry of ASSEMBLY_FIELDS, for a model of the given sizes, that many equations and bounds."""

    fields = ASSEMBLY_FIELDS

    def __init__(self, sizes, num_equations, attempts, num_bounds=0):
        num_equations += num_bounds
        own = {"nequation": num_equations, "nwide": max(num_equations, sizes["nv"]), "nattempt": attempts}
        own["nbound"] = num_bounds
        own["npanel"] = (sizes["nv"] + SPARE_ROWS) * WIDTH * (num_equations // WIDTH + 1)
        super().__init__({**sizes, **own})
