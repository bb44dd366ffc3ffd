"""Calls of compiled functions by their address, so that what calls them is compiled without them.

numba compiles a function together with all that it calls, and again with each function that calls it. What is large and
called far inside of others is passed as an address instead, which is a number in an array. Interpreted, the address is
the function itself.
"""

import functools


def call_by_address(function, model, data, constraints, work, number):
    """function(model, data, constraints, work, number) -> a number. structs.py has the compiled meaning."""
    return function(model, data, constraints, work, number)


@functools.cache
def address_of_function(kernel):
    """The address of a compiled kernel of these arguments, all numbers; kept on disk as the kernel itself."""
    import numba

    from mbcli.engine.structs import CALLED

    folder = kernel._cache.cache_path
    previous, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
    try:
        return numba.cfunc(CALLED, cache=True)(kernel.py_func).address
    finally:
        numba.config.CACHE_DIR = previous
