"""Distributions of the random positions of a joint: specifications in place of the reference's symbolic expressions.

A specification of n numbers is one of:
    a callable `f(generator)` that returns n numbers (or one, if n is 1), for numbers that depend on each other;
    a sequence of n single ones, each a number, which is constant, or an object with `Sample(generator)`, as
    Uniform, Gaussian, UniformDiscrete and Deterministic of mbcli.common.schema; for n = 1 without a sequence too.
The generator is a numpy.random.Generator: the same seed gives the same numbers.
"""

import numbers

import numpy as np


def checked_distributions(specifications, size, where):
    """A specification of `size` numbers as a callable or a list of single ones; RuntimeError if it is neither."""
    if callable(specifications):
        return specifications
    single = isinstance(specifications, numbers.Real) or hasattr(specifications, "Sample")
    distributions = [specifications] if single else list(specifications)
    if len(distributions) != size:
        raise RuntimeError(f"{where} needs {size} distributions here, not {len(distributions)}")
    for distribution in distributions:
        if not (isinstance(distribution, numbers.Real) or hasattr(distribution, "Sample")):
            raise RuntimeError(f"{where}: {distribution!r} is neither a number nor a distribution")
    return distributions


def draw(distributions, size, generator, where):
    """`size` numbers; RuntimeError if the specification gives others than these."""
    if callable(distributions):
        values = np.array(distributions(generator), dtype=float, ndmin=1)
    else:
        values = np.array([d if isinstance(d, numbers.Real) else d.Sample(generator) for d in distributions], float)
    if values.shape != (size,) or not np.isfinite(values).all():
        raise RuntimeError(f"{where}: its random positions are {values}, not {size} finite numbers")
    return values
