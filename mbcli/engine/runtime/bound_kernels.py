"""Kernels as functions of the arguments after the handles of one model, its data and others."""

from functools import partial
from itertools import count

from mbcli.engine.runtime.precompiled import PrecompiledKernels

FEW_CALLS = 1000  # after so many, a kernel is worth a call of its own (native_calls.py)


class BoundKernels:
    """Kernels by name.

    numba takes 0.15 us for a call of a compiled kernel, and 0.04 us for each array, to find out which types it has.
    After the first call of a kernel its compiled function is called at once, which takes half of that, and after
    FEW_CALLS one that takes a fifth; a precompiled kernel has no other. So arguments must have the same numbers of
    dimensions at every call, and arrays the scalar type of the data and C order.

    Args:
        kernels: of a kind.
        handles: the first arguments of all of them.
        owners: of the arrays to which handles lead. They live as long as a call: another thread may give a context
            other arrays meanwhile.
    """

    def __init__(self, kernels, *handles, owners=()):
        self._unbound, self._owners = (kernels, *handles), owners

    def __getattr__(self, name):
        kernels, *handles = self._unbound
        bound = kernels.bound(name, handles, self._owners) if isinstance(kernels, PrecompiledKernels) else None
        if bound is not None:
            setattr(self, name, bound)
            return bound
        kernel = getattr(kernels, name)

        def first_call(*arguments):
            result = kernel(*handles, *arguments)
            setattr(self, name, self._bound(name, kernel, handles, arguments))
            return result

        return first_call

    def _bound(self, name, kernel, handles, arguments):
        """The function for arguments of these types: numba's compiled function, or the kernel itself if interpreted."""
        if not hasattr(kernel, "get_overload"):
            return partial(kernel, *handles)
        signature = tuple(kernel.typeof_pyval(argument) for argument in (*handles, *arguments))
        function, calls = kernel.get_overload(signature), count(1)

        def counted(*arguments):
            if next(calls) == FEW_CALLS:
                from mbcli.engine.runtime.native_calls import native_call

                native = native_call(kernel, signature, handles, self._owners)
                if native is not None:
                    setattr(self, name, native)
            return function(*handles, *arguments)

        return counted
