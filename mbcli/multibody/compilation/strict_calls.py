"""Kernels as functions of Python that refuse arrays they cannot read or may not write, however they run."""

from copy import copy

import numpy as np

from mbcli.engine.runtime.kernel import Int, Matrix, Real, Vector, argument_types, written_arguments
from mbcli.engine.runtime.precompiled import PrecompiledKernels

EXAMPLES = {Int: 0, Real: 0.0, Vector: np.ones(1), Matrix: np.ones((1, 1))}


def strict_call(kernels, name, handles, examples=None):
    """The kernel of that name as a function of what comes after the handles; TypeError for what is not like examples.

    Args:
        kernels: as load_kernels() gives them.
        handles: what the kernel takes first.
        examples: arguments for which it is called once, so that it is compiled; None: of the types that it is annotated
            with, for a kernel that refuses arrays of other lengths than it takes.
    """
    if isinstance(kernels, PrecompiledKernels):
        bound = kernels.bound(name, handles)
        if bound is not None:
            return bound
    kernel = getattr(kernels, name)
    function = getattr(kernel, "py_func", kernel)
    if examples is None:
        types, count = argument_types(function)
        examples = [copy(EXAMPLES[kind]) for kind in types[count:]]
    kernel(*handles, *examples)
    written = [k - len(handles) for k in written_arguments(function)]

    def checked(*arguments):
        for argument, example in zip(arguments, examples, strict=True):
            if isinstance(example, np.ndarray):
                fits = isinstance(argument, np.ndarray) and argument.flags.c_contiguous and argument.flags.aligned
                if not fits or argument.dtype != example.dtype or argument.ndim != example.ndim:
                    raise TypeError("an argument of a kernel is not the array it takes")
        refuse_unwritable([arguments[k] for k in written], arguments)
        return kernel(*handles, *arguments)

    return checked


def refuse_unwritable(results, arguments):
    """TypeError if an array that a kernel is to write is read-only or shares memory with another argument."""
    for result in results:
        if not result.flags.writeable:
            raise TypeError("an array that a kernel writes is read-only")
        for other in arguments:
            if other is not result and isinstance(other, np.ndarray) and np.may_share_memory(result, other):
                raise TypeError("an array that a kernel writes shares memory with another one")
    if len({id(result) for result in results}) < len(results):
        raise TypeError("an array is to take two results of a kernel")
