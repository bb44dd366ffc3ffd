"""Kinds of random numbers."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from mbcli.numbered_enum import NumberedEnum


class RandomDistribution(NumberedEnum):
    """Uniform on [0, 1), Gaussian of mean 0 and deviation 1, exponential of mean 1."""

    kUniform = 0
    kGaussian = 1
    kExponential = 2


def CalcProbabilityDensity(distribution: RandomDistribution, x: Any) -> Any:
    """The density of independent numbers x (n,): the product of the densities of each. AutoDiffXd keep derivatives."""
    from mbcli import math  # this module is imported without numpy

    density: Any = 1.0
    for value in x:
        if distribution is RandomDistribution.kGaussian:
            density = density * math.exp(-0.5 * value * value) / sqrt(2.0 * pi)
        elif distribution is RandomDistribution.kExponential:
            density = density * (math.exp(-value) if value >= 0.0 else 0.0)
        else:
            density = density * (1.0 if 0.0 <= value < 1.0 else 0.0)
    return density
