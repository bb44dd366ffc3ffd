"""Numbers, rotations and poses by specification, fixed or random, under the names of pydrake.common.schema."""

import copy
import numbers
from collections.abc import Callable
from dataclasses import field, fields
from functools import cache
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.math import (
    AngleAxis,
    Quaternion,
    RigidTransform,
    RollPitchYaw,
    RotationMatrix,
    UniformlyRandomRotationMatrix,
    cos,
    sin,
    sqrt,
)
from mbcli.other_names import also_named


class Distribution:
    """A number that may be random."""

    def ToSymbolic(self) -> Any:
        """The number as an expression of variables that are random; needs SymPy."""
        return _symbolic(self)


class DistributionVector(Distribution):
    """Numbers that may be random, by Sample() and Mean() (n,); `SomeVector[3]` has three, `SomeVectorX` any count."""

    SIZE: int | None = None

    def __class_getitem__(cls, size: int | None) -> Any:
        return cls if size is None else _sized(cls, size)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        if self.SIZE not in (None, size := len(Mean(self))):
            raise RuntimeError(f"{type(self).__name__}: {self.SIZE} numbers are wanted, there are {size}")


@cache
def _sized(cls: Any, size: int) -> Any:
    return type(cls.__name__, (cls,), {"SIZE": size, "__doc__": cls.__doc__, "__module__": cls.__module__})


class _Symbols:
    """Draws expressions of random variables in place of numbers; all variables are independent."""

    numbers = count()  # as variables of one name are one

    def _variable(self, kind: str) -> Any:
        from mbcli.symbolic import Variable  # SymPy is an extra

        return Variable(f"{kind.lower()}_{next(self.numbers)}", getattr(Variable.Type, kind))

    def _each(self, kind: str, places: Any, scales: Any) -> Any:
        pairs = zip(*np.broadcast_arrays(np.atleast_1d(places), scales), strict=True)
        found = np.array([place + scale * self._variable(kind) for place, scale in pairs], dtype=object)
        return found if np.ndim(places) else found[0]

    def normal(self, mean: Any, stddev: Any) -> Any:
        return self._each("RANDOM_GAUSSIAN", mean, stddev)

    def uniform(self, low: Any, high: Any) -> Any:
        return self._each("RANDOM_UNIFORM", low, np.subtract(high, low))

    def choice(self, values: Any) -> Any:
        from mbcli.symbolic import if_then_else

        u, found = self.uniform(0.0, 1.0), values[-1]
        for k in range(len(values) - 2, -1, -1):
            found = if_then_else(u < (k + 1) / len(values), values[k], found)
        return found


def _symbolic(specification: Any) -> Any:
    from mbcli.symbolic import Expression

    drawn = Sample(specification, _Symbols())  # type: ignore[arg-type]
    return np.array([Expression(x) for x in drawn], dtype=object) if np.ndim(drawn) else Expression(drawn)


@dataclass
class Deterministic(Distribution):
    """Always the same number."""

    value: float = 0.0

    def Sample(self, generator: "np.random.Generator") -> float:
        """One number, drawn by a numpy.random.Generator."""
        return float(self.value)

    def Mean(self) -> float:
        """The expected value."""
        return float(self.value)


@dataclass
class Gaussian(Distribution):
    """A normal distribution."""

    mean: float = 0.0
    stddev: float = 0.0

    def __post_init__(self) -> None:
        if not self.stddev >= 0.0:
            raise RuntimeError(f"Gaussian: stddev must not be negative, it is {self.stddev}")

    def Sample(self, generator: "np.random.Generator") -> float:
        """One number, drawn by a numpy.random.Generator."""
        return generator.normal(self.mean, self.stddev)

    def Mean(self) -> float:
        """The expected value."""
        return float(self.mean)


@dataclass
class Uniform(Distribution):
    """Any number from min to max, all with the same probability."""

    min: float = 0.0
    max: float = 0.0

    def __post_init__(self) -> None:
        if not self.min <= self.max:
            raise RuntimeError(f"Uniform: min {self.min} is above max {self.max}")

    def Sample(self, generator: "np.random.Generator") -> float:
        """One number, drawn by a numpy.random.Generator."""
        return generator.uniform(self.min, self.max)

    def Mean(self) -> float:
        """The expected value."""
        return 0.5 * (self.min + self.max)


@dataclass
class UniformDiscrete(Distribution):
    """One of some numbers, all with the same probability."""

    values: list[float] = field(default_factory=list)

    def Sample(self, generator: "np.random.Generator") -> float:
        """One number, drawn by a numpy.random.Generator; RuntimeError if there is none."""
        self._require_values()
        return generator.choice(np.array(self.values, float))

    def Mean(self) -> float:
        """The expected value; RuntimeError if there are no values."""
        self._require_values()
        return float(sum(self.values) / len(self.values))

    def _require_values(self) -> None:
        if not self.values:
            raise RuntimeError("UniformDiscrete: there are no values to draw from")


@dataclass
class DeterministicVector(DistributionVector):
    """Always the same numbers."""

    value: list[float] = field(default_factory=list)

    def Sample(self, generator: "np.random.Generator") -> np.ndarray:
        """The numbers, (n,)."""
        return np.array(self.value, float)

    def Mean(self) -> np.ndarray:
        """The expected values, (n,)."""
        return np.array(self.value, float)


@dataclass
class GaussianVector(DistributionVector):
    """Independent normal distributions, of one standard deviation or of one for each."""

    mean: list[float] = field(default_factory=list)
    stddev: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
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


@dataclass
class UniformVector(DistributionVector):
    """Independent numbers, each from its min to its max, all with the same probability."""

    min: list[float] = field(default_factory=list)
    max: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
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


DeterministicVectorX, GaussianVectorX, UniformVectorX = DeterministicVector, GaussianVector, UniformVector
Number: TypeAlias = float | Deterministic | Gaussian | Uniform | UniformDiscrete
Triple: TypeAlias = tuple[float, float, float] | DeterministicVector | GaussianVector | UniformVector


@also_named(vec="var")
def IsDeterministic(var: Any) -> bool:
    """Whether a number, a vector or a distribution of one of them always gives the same."""
    random = isinstance(var, (Gaussian, Uniform, UniformDiscrete, GaussianVector, UniformVector))
    return not random


def Sample(var: Any, generator: "np.random.Generator") -> Any:
    """A number, or numbers (n,), drawn by a numpy.random.Generator; other values are returned as they are."""
    return var.Sample(generator) if hasattr(var, "Sample") else _fixed(var)


def Mean(var: Any) -> Any:
    """The mean of a distribution; other values are returned as they are."""
    return var.Mean() if hasattr(var, "Mean") else _fixed(var)


@also_named(vec="var")
def GetDeterministicValue(var: Any) -> Any:
    """The number or numbers (n,) of a value that is not random; RuntimeError if it is."""
    if not IsDeterministic(var):
        raise RuntimeError(f"{type(var).__name__} is random, it has no single value")
    return Mean(var)


def ToDistribution(var: Any) -> Distribution:
    """A distribution of its own, Deterministic for a number."""
    return copy.deepcopy(var) if isinstance(var, Distribution) else Deterministic(float(var))


def ToDistributionVector(vec: Any) -> DistributionVector:
    """A distribution of its own, DeterministicVector for numbers."""
    if isinstance(vec, DistributionVector):
        return copy.deepcopy(vec)
    return DeterministicVector([float(value) for value in vec])


def ToSymbolic(var: Any) -> Any:
    """The expression of a number or of a distribution; needs SymPy."""
    return _symbolic(var)


def _fixed(specification: Any) -> Any:
    return float(specification) if isinstance(specification, numbers.Real) else np.array(specification, float)


# ------------------------------------------------------------------------------------------ rotations and poses


def _of_another(cls: Any) -> Any:
    """A class decorator: `other` is an object of the class whose values a new one takes."""
    init = [cls.__init__]

    def __init__(self: Any, *given: Any, other: Any = None, **named: Any) -> None:
        if other is not None:
            given = tuple(copy.deepcopy(getattr(other, place.name)) for place in fields(other))
        init[0](self, *given, **named)
        if cls.__init__ is not __init__:  # the first object has made the compiled one
            init[0], cls.__init__ = cls.__init__, __init__

    cls.__init__ = __init__
    return cls


class RotationKind:
    """What is common to the kinds of a Rotation: its parameters are numbers or distributions, or it is uniform."""

    @property
    def value(self) -> "RotationKind":
        """Itself, as that of a Rotation."""
        return self

    def parameters(self) -> tuple[Any, ...]:
        """Numbers or distributions."""
        return ()

    def rotation_with(self, pick: Callable[[Any], Any]) -> RotationMatrix:
        """The rotation of the numbers that pick() makes of the parameters."""
        return RotationMatrix()

    def IsDeterministic(self) -> bool:
        """Whether it is one rotation."""
        return all(IsDeterministic(part) for part in self.parameters())

    def GetDeterministicValue(self) -> RotationMatrix:
        """The RotationMatrix; RuntimeError if it is random."""
        if not self.IsDeterministic():
            raise RuntimeError("the rotation is random, it has no single value")
        return self.rotation_with(Mean)

    def Mean(self) -> RotationMatrix:
        """The rotation of the means of its parameters; the identity for a uniform one, which has no mean."""
        return self.rotation_with(Mean)

    def Sample(self, generator: "np.random.Generator") -> RotationMatrix:
        """A RotationMatrix, drawn by a numpy.random.Generator."""
        return self.rotation_with(lambda part: Sample(part, generator))

    def ToSymbolic(self) -> RotationMatrix:
        """The RotationMatrix of expressions; needs SymPy."""
        return self.rotation_with(_symbolic)


@_of_another
@dataclass
class Rotation:
    """A rotation, or a distribution of rotations: `value` is one of Identity, Rpy, AngleAxis and Uniform.

    It is made of one of these, of a RotationMatrix or of a RollPitchYaw.
    """

    @_of_another
    @dataclass
    class Identity(RotationKind):
        """No rotation."""

    @_of_another
    @dataclass
    class Rpy(RotationKind):
        """Roll, pitch, yaw: rotations about fixed x, then y, then z."""

        deg: Triple = (0.0, 0.0, 0.0)

        def __post_init__(self) -> None:
            _require_three(self.deg, "deg")

        def parameters(self) -> tuple[Any, ...]:
            return (self.deg,)

        def rotation_with(self, pick: Callable[[Any], Any]) -> RotationMatrix:
            return RotationMatrix(RollPitchYaw(np.pi / 180 * pick(self.deg)))

    @_of_another
    @dataclass
    class AngleAxis(RotationKind):
        """A rotation about an axis, of any length but zero."""

        angle_deg: Number = 0.0
        axis: Triple = (0.0, 0.0, 1.0)

        def __post_init__(self) -> None:
            _require_three(self.axis, "axis")
            if IsDeterministic(self.axis) and not np.linalg.norm(GetDeterministicValue(self.axis)) > 0.0:
                raise RuntimeError("AngleAxis: the axis has no length")

        def parameters(self) -> tuple[Any, ...]:
            return (self.angle_deg, self.axis)

        def rotation_with(self, pick: Callable[[Any], Any]) -> RotationMatrix:
            angle, axis = np.pi / 180 * pick(self.angle_deg), pick(self.axis)
            length = sqrt(axis @ axis)
            if isinstance(length, float) and not length > 0.0:  # an expression has no size
                raise RuntimeError("AngleAxis: the axis has no length")
            return RotationMatrix(AngleAxis(angle, axis / length))

    @_of_another
    @dataclass
    class Uniform(RotationKind):
        """Any rotation, all with the same probability."""

        def IsDeterministic(self) -> bool:
            return False

        def Sample(self, generator: "np.random.Generator") -> RotationMatrix:
            return UniformlyRandomRotationMatrix(generator)

        def ToSymbolic(self) -> RotationMatrix:
            """By the quaternion of three variables from 0 to 1 (Shoemake 1992)."""
            a, b, c = UniformVector([0.0] * 3, [1.0, 2 * np.pi, 2 * np.pi]).ToSymbolic()
            r, s = sqrt(1 - a), sqrt(a)
            return RotationMatrix(Quaternion(r * sin(b), r * cos(b), s * sin(c), s * cos(c)))

    value: Identity | Rpy | AngleAxis | Uniform = field(default_factory=Identity)

    def __post_init__(self) -> None:
        self.value = _kind(self.value)

    def set_rpy_deg(self, rpy_deg: Any) -> None:
        """Makes it a rotation of roll, pitch and yaw (3,) [degrees]."""
        self.value = Rotation.Rpy(DeterministicVector(rpy_deg).Mean().tolist())

    def IsDeterministic(self) -> bool:
        """Whether it is one rotation."""
        return self.value.IsDeterministic()

    def GetDeterministicValue(self) -> RotationMatrix:
        """The RotationMatrix; RuntimeError if it is random."""
        return self.value.GetDeterministicValue()

    def Mean(self) -> RotationMatrix:
        """The rotation of the means of its parameters; the identity for a uniform one, which has no mean."""
        return self.value.Mean()

    def Sample(self, generator: "np.random.Generator") -> RotationMatrix:
        """A RotationMatrix, drawn by a numpy.random.Generator."""
        return self.value.Sample(generator)

    def ToSymbolic(self) -> RotationMatrix:
        """The RotationMatrix of expressions; needs SymPy."""
        return self.value.ToSymbolic()


def _kind(value: Any) -> Any:
    """One of Rotation.Identity and so on, of itself, of a Rotation, a RotationMatrix or a RollPitchYaw."""
    if isinstance(value, RotationMatrix):
        value = RollPitchYaw(value)
    if isinstance(value, RollPitchYaw):
        return Rotation.Rpy(tuple(np.degrees(value.vector()).tolist()))
    return value.value


@_of_another
@dataclass
class Transform:
    """A pose in a base frame, None for the world: a translation [m] and a rotation, each fixed or random.

    Transform(X) is that of a RigidTransform.
    """

    base_frame: str | None = None
    translation: Triple = (0.0, 0.0, 0.0)
    rotation: Rotation.Identity | Rotation.Rpy | Rotation.AngleAxis | Rotation.Uniform = field(
        default_factory=Rotation.Identity
    )

    def __post_init__(self) -> None:
        if isinstance(self.base_frame, RigidTransform):
            X, self.base_frame = self.base_frame, None
            self.translation, self.rotation = tuple(X.translation().tolist()), _kind(X.rotation())
        _require_three(self.translation, "translation")
        self.rotation = _kind(self.rotation)

    def set_rotation_rpy_deg(self, rpy_deg: Any) -> None:
        """Makes the rotation one of roll, pitch and yaw (3,) [degrees]."""
        self.rotation = Rotation.Rpy(DeterministicVector(rpy_deg).Mean().tolist())

    def IsDeterministic(self) -> bool:
        """Whether it is one pose."""
        return IsDeterministic(self.translation) and self.rotation.IsDeterministic()

    def GetDeterministicValue(self) -> RigidTransform:
        """The RigidTransform; RuntimeError if it is random."""
        translation = GetDeterministicValue(self.translation)
        return RigidTransform(self.rotation.GetDeterministicValue(), translation)

    def Mean(self) -> RigidTransform:
        """The RigidTransform of the mean translation and of Rotation.Mean()."""
        return RigidTransform(self.rotation.Mean(), Mean(self.translation))

    def Sample(self, generator: "np.random.Generator") -> RigidTransform:
        """A RigidTransform, drawn by a numpy.random.Generator: the translation first."""
        translation = Sample(self.translation, generator)
        return RigidTransform(self.rotation.Sample(generator), translation)

    def ToSymbolic(self) -> RigidTransform:
        """The RigidTransform of expressions; needs SymPy."""
        return RigidTransform(self.rotation.ToSymbolic(), _symbolic(self.translation))


def _require_three(specification: Any, name: str) -> None:
    size = len(Mean(specification))
    if size != 3:
        raise RuntimeError(f"{name} must have 3 numbers, it has {size}")


__all__ = [
    "Deterministic",
    "DeterministicVector",
    "DeterministicVectorX",
    "Distribution",
    "DistributionVector",
    "Gaussian",
    "GaussianVector",
    "GaussianVectorX",
    "GetDeterministicValue",
    "IsDeterministic",
    "Mean",
    "Rotation",
    "Sample",
    "ToDistribution",
    "ToDistributionVector",
    "ToSymbolic",
    "Transform",
    "Uniform",
    "UniformDiscrete",
    "UniformVector",
    "UniformVectorX",
]
