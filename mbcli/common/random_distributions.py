"""Kinds of random numbers."""

from mbcli.numbered_enum import NumberedEnum


class RandomDistribution(NumberedEnum):
    """Uniform on [0, 1), Gaussian of mean 0 and deviation 1, exponential of mean 1."""

    kUniform = 0
    kGaussian = 1
    kExponential = 2
