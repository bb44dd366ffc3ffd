"""Indices of parts of systems that cannot be mistaken for one another."""

from mbcli.multibody.tree.index import AbstractParameterIndex, TypeSafeIndex

__all__ = [
    "AbstractParameterIndex",
    "AbstractStateIndex",
    "ContinuousStateIndex",
    "InputPortIndex",
    "NumericParameterIndex",
    "OutputPortIndex",
    "SubsystemIndex",
]


class ContinuousStateIndex(TypeSafeIndex):
    """Index of the continuous state: 0."""

    __slots__ = ()


class AbstractStateIndex(TypeSafeIndex):
    """Index of an abstract state."""

    __slots__ = ()


class NumericParameterIndex(TypeSafeIndex):
    """Index of a vector of parameters."""

    __slots__ = ()


class InputPortIndex(TypeSafeIndex):
    """Index of an input port."""

    __slots__ = ()


class OutputPortIndex(TypeSafeIndex):
    """Index of an output port."""

    __slots__ = ()


class SubsystemIndex(TypeSafeIndex):
    """Index of a system in its diagram."""

    __slots__ = ()
