"""Small systems with known motions, under the names of pydrake.multibody.benchmarks."""

from mbcli.multibody.benchmarks.mass_damper_spring import MassDamperSpringAnalyticalSolution

__all__ = ["MassDamperSpringAnalyticalSolution"]
