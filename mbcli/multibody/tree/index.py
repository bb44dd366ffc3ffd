"""Indices that cannot be mistaken for one another: BodyIndex(2) is not FrameIndex(2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import SupportsInt


class TypeSafeIndex:
    """A non-negative integer that names one element of its kind; default constructed it is invalid.

    Compares with its own type and with plain integers, hashes like the integer and can index a sequence.
    `number` is the integer, None if the index is invalid: it is had sooner than int() of the index.
    """

    __slots__ = ("number",)

    number: int | None

    def __init__(self, i: SupportsInt | None = None) -> None:
        if type(i) is int and i >= 0:
            self.number = i
            return
        if isinstance(i, TypeSafeIndex) and type(i) is not type(self):
            raise TypeError(f"{type(i).__name__}({i.number}) is not a {type(self).__name__}")
        self.number = None if i is None else int(i)
        if self.number is not None and self.number < 0:
            raise ValueError(f"{type(self).__name__} cannot be negative: {i}")

    def is_valid(self) -> bool:
        """Whether it has a number."""
        return self.number is not None

    def __index__(self):
        if self.number is None:
            raise RuntimeError(f"this {type(self).__name__} is invalid")
        return self.number

    __int__ = __index__

    def __eq__(self, other):
        if type(other) is type(self) and self.number is not None is not other.number:
            return self.number == other.number
        if isinstance(other, TypeSafeIndex):
            if type(other) is not type(self):
                raise TypeError(f"cannot compare {type(self).__name__} with {type(other).__name__}")
            return int(self) == int(other)
        return isinstance(other, int) and int(self) == other

    def __lt__(self, other):
        if isinstance(other, TypeSafeIndex) and type(other) is not type(self):
            raise TypeError(f"cannot compare {type(self).__name__} with {type(other).__name__}")
        return int(self) < int(other)

    def __le__(self, other):
        return self == other or self < other

    def __gt__(self, other):
        return not self <= other

    def __ge__(self, other):
        return not self < other

    def __hash__(self):
        return int(self) if self.number is None else self.number  # the hash of such a number is itself

    def __repr__(self):
        return f"{type(self).__name__}({'' if self.number is None else self.number})"


class BodyIndex(TypeSafeIndex):
    """Index of a body; World is 0."""

    __slots__ = ()


class FrameIndex(TypeSafeIndex):
    """Index of a frame; World's is 0."""

    __slots__ = ()


class JointIndex(TypeSafeIndex):
    """Index of a joint."""

    __slots__ = ()


class JointActuatorIndex(TypeSafeIndex):
    """Index of an actuator."""

    __slots__ = ()


class ForceElementIndex(TypeSafeIndex):
    """Index of a force element; the gravity field is 0."""

    __slots__ = ()


class ModelInstanceIndex(TypeSafeIndex):
    """Index of a model instance; World's is 0, the default one 1."""

    __slots__ = ()


class DeformableBodyIndex(TypeSafeIndex):
    """Index of a deformable body."""

    __slots__ = ()


class AbstractParameterIndex(TypeSafeIndex):
    """Index of a parameter that is not a vector."""

    __slots__ = ()


class DiscreteStateIndex(TypeSafeIndex):
    """Index of a group of the discrete state: 0 has [q; v] of the rigid bodies, each deformable body one more."""

    __slots__ = ()


def world_index() -> BodyIndex:
    """The index of World, 0."""
    return BodyIndex(0)


def world_frame_index() -> FrameIndex:
    """The index of World's frame, 0."""
    return FrameIndex(0)


def world_model_instance() -> ModelInstanceIndex:
    """The model instance of World, 0."""
    return ModelInstanceIndex(0)


def default_model_instance() -> ModelInstanceIndex:
    """The model instance of elements that are added without one."""
    return ModelInstanceIndex(1)
