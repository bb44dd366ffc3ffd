"""Random numbers by specification, under the names of pydrake.common.schema."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Deterministic:
    """Always the same number."""

    value: float = 0.0

    def Sample(self, generator):
        """One number, drawn by a numpy.random.Generator."""
        return float(self.value)

    def Mean(self):
        return float(self.value)


@dataclass(frozen=True)
class Gaussian:
    """A normal distribution."""

    mean: float = 0.0
    stddev: float = 0.0

    def __post_init__(self):
        if not self.stddev >= 0.0:
            raise RuntimeError(f"Gaussian: stddev must not be negative, it is {self.stddev}")

    def Sample(self, generator):
        """One number, drawn by a numpy.random.Generator."""
        return float(generator.normal(self.mean, self.stddev))

    def Mean(self):
        return float(self.mean)


@dataclass(frozen=True)
class Uniform:
    """Any number from min to max, all with the same probability."""

    min: float = 0.0
    max: float = 0.0

    def __post_init__(self):
        if not self.min <= self.max:
            raise RuntimeError(f"Uniform: min {self.min} is above max {self.max}")

    def Sample(self, generator):
        """One number, drawn by a numpy.random.Generator."""
        return float(generator.uniform(self.min, self.max))

    def Mean(self):
        return 0.5 * (self.min + self.max)


@dataclass(frozen=True)
class UniformDiscrete:
    """One of some numbers, all with the same probability."""

    values: list = field(default_factory=list)

    def Sample(self, generator):
        """One number, drawn by a numpy.random.Generator; RuntimeError where there is none."""
        self._require_values()
        return float(self.values[generator.integers(len(self.values))])

    def Mean(self):
        self._require_values()
        return float(sum(self.values) / len(self.values))

    def _require_values(self):
        if not self.values:
            raise RuntimeError("UniformDiscrete: there are no values to draw from")


__all__ = ["Deterministic", "Gaussian", "Uniform", "UniformDiscrete"]
