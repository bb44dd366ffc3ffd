"""Addresses, which arrays of the engine have as numbers, as pointers of compiled functions. Imports numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import types
from numba.extending import intrinsic

from mbcli.engine.runtime.numba_parts import cgutils

if TYPE_CHECKING:
    from typing import Any


@intrinsic
def pointer(typing_context: Any, address: Any) -> tuple[Any, Any]:
    """A float64 that is an address -> a pointer to float64."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = builder.fptoui(arguments[0], cgutils.intp_t)
        return builder.inttoptr(whole, context.get_value_type(types.float64).as_pointer())

    return types.CPointer(types.float64)(types.float64), codegen
