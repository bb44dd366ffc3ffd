"""Kernels as functions of Python that refuse arrays of other numbers, dimensions or order, however they run."""

import numpy as np

from mbcli.engine.runtime.precompiled import PrecompiledKernels


def strict_call(kernels, name, handles, examples):
    """The kernel of that name as a function of what comes after the handles; TypeError for what is not like examples.

    Args:
        kernels: as load_kernels() gives them.
        handles: what the kernel takes first.
        examples: arguments for which it is called once, so that it is compiled.
    """
    if isinstance(kernels, PrecompiledKernels):
        bound = kernels.bound(name, handles)
        if bound is not None:
            return bound
    kernel = getattr(kernels, name)
    kernel(*handles, *examples)
    if hasattr(kernel, "get_overload"):
        from mbcli.engine.runtime.native_calls import native_call

        signature = tuple(kernel.typeof_pyval(argument) for argument in (*handles, *examples))
        native = native_call(kernel, signature, handles)
        if native is not None:
            return native

    def checked(*arguments):
        for argument, example in zip(arguments, examples, strict=True):
            if isinstance(example, np.ndarray):
                fits = isinstance(argument, np.ndarray) and argument.flags.c_contiguous
                if not fits or argument.dtype != example.dtype or argument.ndim != example.ndim:
                    raise TypeError("an argument of a kernel is not the array it takes")
        return kernel(*handles, *arguments)

    return checked
