"""Kernels as functions of what comes after the handles of one model, its data and whatever else they take."""

from functools import partial


class BoundKernels:
    """Kernels by name.

    A call of a compiled kernel takes numba 0.15 us and 0.04 us for each array to find out which types it has. After the
    first call of a kernel its compiled function is called at once, which takes half of that. So arguments must have the
    same numbers of dimensions at every call, and arrays the scalar type of the data and C order.
    """

    def __init__(self, kernels, *handles):
        self._unbound = kernels, *handles

    def __getattr__(self, name):
        kernels, *handles = self._unbound
        kernel = getattr(kernels, name)

        def first_call(*arguments):
            result = kernel(*handles, *arguments)
            setattr(self, name, partial(_compiled_function(kernel, (*handles, *arguments)), *handles))
            return result

        return first_call


def _compiled_function(kernel, arguments):
    """What runs for arguments of these types: numba's compiled function, or the kernel itself if it is interpreted."""
    if not hasattr(kernel, "get_overload"):
        return kernel
    return kernel.get_overload(tuple(kernel.typeof_pyval(argument) for argument in arguments))
