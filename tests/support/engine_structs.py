"""Structs for compiled kernels that take the arrays themselves, not handles."""

from operator import attrgetter


def struct_of(arrays):
    """The struct of numba over a Model, Data and the like."""
    from mbcli.engine.runtime.structs import make_struct

    return make_struct(type(arrays).__name__, attrgetter(*(field.name for field in arrays.fields))(arrays))
