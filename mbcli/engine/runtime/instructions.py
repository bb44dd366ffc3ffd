"""Calls of Python functions that are instructions in compiled kernels, not functions to be compiled."""

from numba import types

from mbcli.engine.runtime.numba_parts import infer, infer_global, make_intrinsic_template


def instructions_of(function):
    """Marks a definition of what a function is in compiled kernels, as @intrinsic takes it.

    @overload would do, but compiles a small function for each combination of types: 3 % of a first run with contact.
    """

    def mark(definition):
        template = make_intrinsic_template(function, definition, function.__name__)
        infer(template)
        infer_global(function, types.Function(template))
        return definition

    return mark
