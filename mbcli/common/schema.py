"""Numbers, rotations and poses by specification, fixed or random, under the names of pydrake.common.schema."""

import numbers
from collections.abc import Callable
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.math import AngleAxis, RigidTransform, RollPitchYaw, RotationMatrix, UniformlyRandomRotationMatrix


@dataclass(frozen=True)
class Deterministic:
    """Always the same number."""

    value: float = 0.0

    def Sample(self, generator: "np.random.Generator") -> float:
        """One number, drawn by a numpy.random.Generator."""
        return float(self.value)

    def Mean(self) -> float:
        """The expected value."""
        return float(self.value)


@dataclass(frozen=True)
class Gaussian:
    """A normal distribution."""

    mean: float = 0.0
    stddev: float = 0.0

    def __post_init__(self) -> None:
        if not self.stddev >= 0.0:
            raise RuntimeError(f"Gaussian: stddev must not be negative, it is {self.stddev}")

    def Sample(self, generator: "np.random.Generator") -> float:
        """One number, drawn by a numpy.random.Generator."""
        return float(generator.normal(self.mean, self.stddev))

    def Mean(self) -> float:
        """The expected value."""
        return float(self.mean)


@dataclass(frozen=True)
class Uniform:
    """Any number from min to max, all with the same probability."""

    min: float = 0.0
    max: float = 0.0

    def __post_init__(self) -> None:
        if not self.min <= self.max:
            raise RuntimeError(f"Uniform: min {self.min} is above max {self.max}")

    def Sample(self, generator: "np.random.Generator") -> float:
        """One number, drawn by a numpy.random.Generator."""
        return float(generator.uniform(self.min, self.max))

    def Mean(self) -> float:
        """The expected value."""
        return 0.5 * (self.min + self.max)


@dataclass(frozen=True)
class UniformDiscrete:
    """One of some numbers, all with the same probability."""

    values: list[float] = field(default_factory=list)

    def Sample(self, generator: "np.random.Generator") -> float:
        """One number, drawn by a numpy.random.Generator; RuntimeError if there is none."""
        self._require_values()
        return float(self.values[generator.integers(len(self.values))])

    def Mean(self) -> float:
        """The expected value; RuntimeError if there are no values."""
        self._require_values()
        return float(sum(self.values) / len(self.values))

    def _require_values(self) -> None:
        if not self.values:
            raise RuntimeError("UniformDiscrete: there are no values to draw from")


@dataclass(frozen=True)
class DeterministicVector:
    """Always the same numbers."""

    value: list[float] = field(default_factory=list)

    def Sample(self, generator: "np.random.Generator") -> np.ndarray:
        """The numbers, (n,)."""
        return np.array(self.value, float)

    def Mean(self) -> np.ndarray:
        """The expected values, (n,)."""
        return np.array(self.value, float)


@dataclass(frozen=True)
class GaussianVector:
    """Independent normal distributions, of one standard deviation or of one for each."""

    mean: list[float] = field(default_factory=list)
    stddev: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(self.stddev) not in (1, len(self.mean)):
            raise RuntimeError(f"GaussianVector: {len(self.stddev)} stddev for {len(self.mean)} numbers in mean")
        if not all(s >= 0.0 for s in self.stddev):
            raise RuntimeError(f"GaussianVector: stddev must not be negative, it is {list(self.stddev)}")

    def Sample(self, generator: "np.random.Generator") -> np.ndarray:
        """n numbers, drawn by a numpy.random.Generator."""
        return generator.normal(self.mean, self.stddev)

    def Mean(self) -> np.ndarray:
        """The expected values, (n,)."""
        return np.array(self.mean, float)


@dataclass(frozen=True)
class UniformVector:
    """Independent numbers, each from its min to its max, all with the same probability."""

    min: list[float] = field(default_factory=list)
    max: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(self.min) != len(self.max):
            raise RuntimeError(f"UniformVector: {len(self.min)} numbers in min, {len(self.max)} in max")
        if not all(low <= high for low, high in zip(self.min, self.max, strict=True)):
            raise RuntimeError(f"UniformVector: min {list(self.min)} is above max {list(self.max)}")

    def Sample(self, generator: "np.random.Generator") -> np.ndarray:
        """n numbers, drawn by a numpy.random.Generator."""
        return generator.uniform(self.min, self.max)

    def Mean(self) -> np.ndarray:
        """The expected values, (n,)."""
        return 0.5 * (np.array(self.min, float) + np.array(self.max, float))


Distribution: TypeAlias = float | Deterministic | Gaussian | Uniform | UniformDiscrete
Triple: TypeAlias = tuple[float, float, float] | DeterministicVector | GaussianVector | UniformVector


def IsDeterministic(specification: Any) -> bool:
    """Whether a number, a vector or a distribution of one of them always gives the same."""
    random = isinstance(specification, (Gaussian, Uniform, UniformDiscrete, GaussianVector, UniformVector))
    return not random


def Sample(specification: Any, generator: "np.random.Generator") -> Any:
    """A number, or numbers (n,), drawn by a numpy.random.Generator; other values are returned as they are."""
    return specification.Sample(generator) if hasattr(specification, "Sample") else _fixed(specification)


def Mean(specification: Any) -> Any:
    """The mean of a distribution; other values are returned as they are."""
    return specification.Mean() if hasattr(specification, "Mean") else _fixed(specification)


def GetDeterministicValue(specification: Any) -> Any:
    """The number or numbers (n,) of a value that is not random; RuntimeError if it is."""
    if not IsDeterministic(specification):
        raise RuntimeError(f"{type(specification).__name__} is random, it has no single value")
    return Mean(specification)


def _fixed(specification: Any) -> Any:
    return float(specification) if isinstance(specification, numbers.Real) else np.array(specification, float)


# ------------------------------------------------------------------------------------------ rotations and poses


@dataclass(frozen=True)
class Rotation:
    """A rotation, or a distribution of rotations: `value` is one of Identity, Rpy, AngleAxis and Uniform.

    All but Uniform have parameters(), numbers or distributions of them, and rotation_with(pick), which takes the
    numbers that pick() makes of these.
    """

    @dataclass(frozen=True)
    class Identity:
        """No rotation."""

        def parameters(self) -> tuple[Any, ...]:
            return ()

        def rotation_with(self, pick: Callable[[Any], Any]) -> RotationMatrix:
            return RotationMatrix()

    @dataclass(frozen=True)
    class Rpy:
        """Roll, pitch, yaw: rotations about fixed x, then y, then z."""

        deg: Triple = (0.0, 0.0, 0.0)

        def __post_init__(self) -> None:
            _require_three(self.deg, "deg")

        def parameters(self) -> tuple[Any, ...]:
            return (self.deg,)

        def rotation_with(self, pick: Callable[[Any], Any]) -> RotationMatrix:
            return RotationMatrix(RollPitchYaw(np.radians(pick(self.deg))))

    @dataclass(frozen=True)
    class AngleAxis:
        """A rotation about an axis, of any length but zero."""

        angle_deg: Distribution = 0.0
        axis: Triple = (0.0, 0.0, 1.0)

        def __post_init__(self) -> None:
            _require_three(self.axis, "axis")
            if IsDeterministic(self.axis) and not np.linalg.norm(GetDeterministicValue(self.axis)) > 0.0:
                raise RuntimeError("AngleAxis: the axis has no length")

        def parameters(self) -> tuple[Any, ...]:
            return (self.angle_deg, self.axis)

        def rotation_with(self, pick: Callable[[Any], Any]) -> RotationMatrix:
            angle, axis = np.radians(pick(self.angle_deg)), pick(self.axis)
            length = np.linalg.norm(axis)
            if not length > 0.0:
                raise RuntimeError("AngleAxis: the axis has no length")
            return RotationMatrix(AngleAxis(angle, axis / length))

    @dataclass(frozen=True)
    class Uniform:
        """Any rotation, all with the same probability."""

    value: Identity | Rpy | AngleAxis | Uniform = Identity()

    def IsDeterministic(self) -> bool:
        """Whether it is one rotation."""
        if isinstance(self.value, Rotation.Uniform):
            return False
        return all(IsDeterministic(part) for part in self.value.parameters())

    def GetDeterministicValue(self) -> RotationMatrix:
        """The RotationMatrix; RuntimeError if it is random."""
        if isinstance(self.value, Rotation.Uniform) or not self.IsDeterministic():
            raise RuntimeError("the rotation is random, it has no single value")
        return self.value.rotation_with(Mean)

    def Mean(self) -> RotationMatrix:
        """The rotation of the means of its parameters; the identity for a uniform one, which has no mean."""
        return RotationMatrix() if isinstance(self.value, Rotation.Uniform) else self.value.rotation_with(Mean)

    def Sample(self, generator: "np.random.Generator") -> RotationMatrix:
        """A RotationMatrix, drawn by a numpy.random.Generator."""
        if isinstance(self.value, Rotation.Uniform):
            return UniformlyRandomRotationMatrix(generator)
        return self.value.rotation_with(lambda part: Sample(part, generator))


@dataclass(frozen=True)
class Transform:
    """A pose in a base frame, None for the world: a translation [m] and a rotation, each fixed or random."""

    base_frame: str | None = None
    translation: Triple = (0.0, 0.0, 0.0)
    rotation: Rotation.Identity | Rotation.Rpy | Rotation.AngleAxis | Rotation.Uniform = Rotation.Identity()

    def __post_init__(self) -> None:
        _require_three(self.translation, "translation")
        if isinstance(self.rotation, Rotation):
            object.__setattr__(self, "rotation", self.rotation.value)

    def IsDeterministic(self) -> bool:
        """Whether it is one pose."""
        return IsDeterministic(self.translation) and Rotation(self.rotation).IsDeterministic()

    def GetDeterministicValue(self) -> RigidTransform:
        """The RigidTransform; RuntimeError if it is random."""
        translation = GetDeterministicValue(self.translation)
        return RigidTransform(Rotation(self.rotation).GetDeterministicValue(), translation)

    def Mean(self) -> RigidTransform:
        """The RigidTransform of the mean translation and of Rotation.Mean()."""
        return RigidTransform(Rotation(self.rotation).Mean(), Mean(self.translation))

    def Sample(self, generator: "np.random.Generator") -> RigidTransform:
        """A RigidTransform, drawn by a numpy.random.Generator: the translation first."""
        translation = Sample(self.translation, generator)
        return RigidTransform(Rotation(self.rotation).Sample(generator), translation)


def _require_three(specification: Any, name: str) -> None:
    size = len(Mean(specification))
    if size != 3:
        raise RuntimeError(f"{name} must have 3 numbers, it has {size}")


__all__ = [
    "Deterministic",
    "DeterministicVector",
    "Gaussian",
    "GaussianVector",
    "GetDeterministicValue",
    "IsDeterministic",
    "Mean",
    "Rotation",
    "Sample",
    "Transform",
    "Uniform",
    "UniformDiscrete",
    "UniformVector",
]
