"""Kernels as functions of the arguments after the handles of one model, its data and others."""

from mbcli.engine.runtime.precompiled import PrecompiledKernels


class BoundKernels:
    """Kernels by name.

    Machine code that reads its arguments in place is called at once. numba takes 0.15 us for a call of a compiled
    kernel of other scalars, and 0.04 us for each array, to find out which types it has; after the first call its
    compiled function is called, which takes half of that. So arguments must have the same numbers of dimensions at
    every call, and arrays the scalar type of the data and C order.

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
            setattr(self, name, self._bound(kernel, handles, arguments))
            return result

        return first_call

    def _bound(self, kernel, handles, arguments):
        """The function for arguments of these types: numba's compiled function, or the kernel itself if interpreted."""
        if hasattr(kernel, "get_overload"):
            kernel = kernel.get_overload(tuple(kernel.typeof_pyval(argument) for argument in (*handles, *arguments)))

        def call(*arguments):
            return kernel(*handles, *arguments)

        call.owners = self._owners
        return call
