"""Calls of compiled functions by their address, so that their callers are compiled without them.

numba compiles a function together with all that it calls, and again with each function that calls it. What is large and
called far inside of others is passed as an address instead, which is a number in an array. Interpreted, the address is
the function itself.
"""

NOT_MADE = float("nan")  # the answer of the address 0: no function has been made


def call_by_address(function, model, data, constraints, work, number):
    """function(model, data, constraints, work, number) -> a number. structs.py has the compiled meaning."""
    return NOT_MADE if isinstance(function, float) else function(model, data, constraints, work, number)
