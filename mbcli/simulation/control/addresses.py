"""Addresses, which arrays of the engine have as numbers, as pointers of compiled functions. Imports numba."""

from numba import types
from numba.extending import intrinsic

from mbcli.engine.runtime.numba_parts import cgutils


@intrinsic
def pointer(typing_context, address):
    """A float64 that is an address -> a pointer to float64."""

    def codegen(context, builder, signature, arguments):
        whole = builder.fptoui(arguments[0], cgutils.intp_t)
        return builder.inttoptr(whole, context.get_value_type(types.float64).as_pointer())

    return types.CPointer(types.float64)(types.float64), codegen
