"""Inputs and outputs of a plant as small objects with the reference's names."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.tree.checked_numbers import require_finite

if TYPE_CHECKING:
    from collections.abc import Callable


class InputValues:
    """The values of the input ports of one system, by their names. A fixed value goes before a source.

    Attributes:
        fixed: {name: value}; followed: {name: function of the context}.

    Args:
        forget: called without arguments when a value changes.
    """

    def __init__(self, forget=lambda: None):
        self.fixed, self.followed, self._forget = {}, {}, forget

    def fix(self, name, value):
        self.fixed[name] = value
        self._forget()

    def follow(self, name, source):
        """Takes the value from source(context) at every evaluation, in place of a fixed one."""
        self.fixed.pop(name, None)
        self.followed[name] = source
        self._forget()

    def value(self, name, context):
        """The value of an input port of the system whose context it is; None if it has none."""
        if name in self.fixed:
            return self.fixed[name]
        return self.followed[name](context) if name in self.followed else None

    def has(self, name):
        return name in self.fixed or name in self.followed

    def names(self):
        """A set of the ports that have a value."""
        return {*self.fixed, *self.followed}

    def take(self, fixed):
        """Fixed values in place of those it had."""
        self.fixed = dict(fixed)
        self._forget()

    def take_from(self, other):
        """All that another one has."""
        self.followed = dict(other.followed)
        self.take(other.fixed)


class InputPort:
    """A value that a context holds for a system, or takes from elsewhere.

    Args:
        system: whose port it is.
        name: by which the system finds it.
        index: in the system's list of ports.
        size: number of elements; None for a port of objects.
        check: function of a value of a port of objects that raises if it is of the wrong kind.
    """

    def __init__(
        self,
        system: Any,
        name: str,
        index: int = 0,
        size: int | None = None,
        check: Callable[[Any], object] = lambda value: None,
    ) -> None:
        self._system, self._name, self._size, self._index, self._check = system, name, size, index, check

    def get_name(self) -> str:
        """The name."""
        return self._name

    def get_index(self) -> int:
        """The index in the system's list of input ports."""
        return self._index

    def get_system(self) -> Any:
        """The system whose port it is."""
        return self._system

    def size(self) -> int:
        """Number of elements, 0 for a port of objects."""
        return self._size or 0

    def FixValue(self, context: Any, value: Any) -> None:
        """Keeps a copy of a constant value in the context, in place of a connected source.

        RuntimeError for a wrong size, and numbers that are not finite.
        """
        self._system.check_context(context)
        value = self._checked(value)
        context.inputs.fix(self._name, _own(value) if self._size is None else value)

    def Follow(self, context: Any, source: Callable[[Any], Any]) -> None:
        """Takes the value from source(context), anew at every evaluation and step."""
        self._system.check_context(context)
        context.inputs.follow(self._name, lambda c: self._checked(source(c)))

    def HasValue(self, context: Any) -> bool:
        """Whether the port is fixed or connected in a context."""
        self._system.check_context(context)
        return context.inputs.has(self._name)

    def Eval(self, context: Any) -> Any:
        """The value, (size,) or an object. RuntimeError if there is none."""
        if not self.HasValue(context):
            raise RuntimeError(f"input '{self._name}' has no value: fix or connect it")
        value = context.inputs.value(self._name, context)
        return _own(value)

    def _checked(self, value):
        if self._size is None:
            self._check(value)
            return value
        value = np.atleast_1d(getattr(self._system, "scalar", FLOAT).array(value, f"input '{self._name}'"))
        if value.shape != (self._size,):
            raise RuntimeError(f"input '{self._name}' has {self._size} elements, not {value.size}")
        require_finite(value, f"input '{self._name}'")
        return value


def _own(value):
    """A copy of a port's value: an array, or a list of objects that may change."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (list, tuple)):
        return [copy(x) for x in value]
    return value


class OutputPort:
    """A value computed from a context.

    Args:
        system: whose port it is.
        name: of the port.
        evaluate: context -> value.
        index: in the system's list of ports.
        size: number of elements; None for a port of objects.
    """

    def __init__(
        self, system: Any, name: str, evaluate: Callable[[Any], Any], index: int = 0, size: int | None = None
    ) -> None:
        self._system, self._name, self._evaluate, self._index, self._size = system, name, evaluate, index, size

    def get_name(self) -> str:
        """The name."""
        return self._name

    def get_index(self) -> int:
        """The index in the system's list of output ports."""
        return self._index

    def get_system(self) -> Any:
        """The system whose port it is."""
        return self._system

    def size(self) -> int:
        """Number of elements, 0 for a port of objects."""
        return self._size or 0

    def Eval(self, context: Any) -> Any:
        """The value at a context: (size,) or an object."""
        return self._evaluate(context)


def port_named(ports, name, kind):
    """The port of that name; RuntimeError that lists the names there are."""
    for port in ports:
        if port.get_name() == name:
            return port
    raise RuntimeError(f"there is no {kind} port named '{name}'; there are {', '.join(p.get_name() for p in ports)}")


def port_at(ports, index, kind):
    """The port of that index; RuntimeError if there is none."""
    if not 0 <= int(index) < len(ports):
        raise RuntimeError(f"there is no {kind} port {int(index)}, there are {len(ports)}")
    return ports[int(index)]
