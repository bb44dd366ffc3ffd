"""Ports of systems, and the values of their inputs in a context."""

from __future__ import annotations

from copy import copy
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.value import AbstractValue, held
from mbcli.numbered_enum import NumberedEnum
from mbcli.systems.vectors import BasicVector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FLOAT = np.dtype(float)


class PortDataType(NumberedEnum):
    """What a port holds: a vector of numbers, or an object."""

    kVectorValued = 0
    kAbstractValued = 1


class NoValueError(LookupError):
    """An input port is neither fixed nor connected."""


class InputValues:
    """The values of the input ports of one system, by their names. A fixed value goes before a source.

    Attributes:
        fixed: {name: value}; followed: {name: function of the context}.

    Args:
        forget: called without arguments when a value changes.
    """

    def __init__(self, forget: Callable[[], object] = lambda: None) -> None:
        self.fixed: dict[str, Any] = {}
        self.followed: dict[str, Callable[[Any], Any]] = {}
        self._forget = forget
        self._before: tuple[Any, Any] = ({}, {})  # while values are held

    def fix(self, name: str, value: Any) -> None:
        self.fixed[name] = value
        self._forget()

    def follow(self, name: str, source: Callable[[Any], Any]) -> None:
        """Takes the value from source(context) at every evaluation, a new one each time, in place of a fixed one."""
        self.fixed.pop(name, None)
        self.followed[name] = source
        self._forget()

    def value(self, name: str, context: Any) -> Any:
        """The value of an input port of the system whose context it is; None if it has none."""
        if name in self.fixed:
            return self.fixed[name]
        return self.followed[name](context) if name in self.followed else None

    def own_value(self, name: str, context: Any) -> Any:
        """The value, which the caller may change: sources give new ones. NoValueError if there is none."""
        if name in self.fixed:
            return _own(self.fixed[name])
        source = self.followed.get(name)
        if source is None:
            raise NoValueError(name)
        return source(context)

    def has(self, name: str) -> bool:
        return name in self.fixed or name in self.followed

    def names(self) -> set[str]:
        """A set of the ports that have a value."""
        return {*self.fixed, *self.followed}

    def take(self, fixed: dict[str, Any]) -> None:
        """Fixed values in place of those it had."""
        self.fixed = dict(fixed)
        self._forget()

    def take_from(self, other: InputValues) -> None:
        """All that another one has."""
        self.followed = dict(other.followed)
        self.take(other.fixed)

    def hold(self, values: dict[str, Any] | None) -> None:
        """Holds values in place of sources, which come back with None."""
        if values is None:
            self.fixed, self.followed = self._before
        else:
            self._before = self.fixed, self.followed
            self.fixed, self.followed = {**values, **self.fixed}, {}


class Port:
    """What input and output ports share.

    Args:
        system: whose port it is.
        name: by which the system finds it.
        index: in the system's list of ports of its kind, of a type of its own where the system says so.
        size: number of elements; None for a port of objects.
    """

    KIND = ""  # "input" or "output"

    def __init__(self, system: Any, name: str, index: Any, size: int | None) -> None:
        self._system, self._name, self._index, self._size = system, name, index, size

    def get_name(self) -> str:
        """The name."""
        return self._name

    def get_index(self) -> Any:
        """The index in the system's list of ports of its kind."""
        return self._index

    def get_system(self) -> Any:
        """The system whose port it is."""
        return self._system

    def get_data_type(self) -> PortDataType:
        """Whether its value is a vector or an object."""
        return PortDataType.kAbstractValued if self._size is None else PortDataType.kVectorValued

    def size(self) -> int:
        """Number of elements, 0 for a port of objects."""
        return self._size or 0

    def ticket(self) -> str:
        """What names this port as a prerequisite of an output."""
        return f"{self.KIND} {int(self._index)}"

    def GetFullDescription(self) -> str:
        """The port and its system in words."""
        return f"{self.KIND.title()}Port[{int(self._index)}] ({self._name}) of System {self._system.get_name()}"

    def Eval(self, context: Any) -> Any:
        """The value at a context: (size,) or an object."""
        raise NotImplementedError

    def EvalBasicVector(self, context: Any) -> Any:
        """The value as a BasicVector. RuntimeError for a port of objects."""
        if self._size is None:
            raise RuntimeError(f"{self.KIND} '{self._name}' is not a vector")
        return BasicVector(self.Eval(context))

    def EvalAbstract(self, context: Any) -> AbstractValue:
        """The value as an AbstractValue."""
        return AbstractValue.Make(self.EvalBasicVector(context) if self._size is not None else self.Eval(context))

    allocator: Callable[[], Any] | None = None  # of objects, where the port's system says how they are made

    def Allocate(self) -> AbstractValue:
        """A value that fits: a BasicVector, an object that its system makes, else None."""
        if self._size is not None:
            return AbstractValue.Make(BasicVector(self._size))
        made = None if self.allocator is None else self.allocator()
        return made if isinstance(made, AbstractValue) else AbstractValue.Make(made)


def _any_value(value: Any) -> None:
    """The check of a port that takes every value; not a lambda, which does not pickle."""


class InputPort(Port):
    """A value that a context holds for a system, or takes from elsewhere.

    Args:
        system: whose port it is.
        name: by which the system finds it.
        index: in the system's list of ports.
        size: number of elements; None for a port of objects.
        check: function of a value of a port of objects that raises if it is of the wrong kind.
    """

    KIND = "input"

    def __init__(
        self,
        system: Any,
        name: str,
        index: Any = 0,
        size: int | None = None,
        check: Callable[[Any], object] = _any_value,
    ) -> None:
        super().__init__(system, name, index, size)
        self._check = check

    def FixValue(self, context: Any, value: Any) -> None:
        """Keeps a copy of a constant value in the context, in place of a connected source.

        Args:
          context: of the system of this port.
          value: (size,) in [unit of the port], or an object.

        Raises:
          RuntimeError: the context is another system's; another size; a number is not finite.

        Example:
          >>> gain = Gain(2.0, 1)
          >>> at = gain.CreateDefaultContext()
          >>> gain.get_input_port().FixValue(at, [1.5])
          >>> gain.get_output_port().Eval(at)
          array([3.])
        """
        self._system.check_context(context)
        context.inputs.fix(self._name, _own(self.checked(held(value))))

    def Follow(self, context: Any, source: Callable[[Any], Any]) -> None:
        """Takes the value from source(context), anew at every evaluation and step."""
        self._system.check_context(context)
        self.connect(context, lambda c: _own(source(c)))

    def connect(self, context: Any, source: Callable[[Any], Any]) -> None:
        """Takes the value from source(context), which gives a new one each time."""
        checked = self.checked
        context.inputs.follow(self._name, lambda c: checked(source(c)))

    def HasValue(self, context: Any) -> bool:
        """Whether the port is fixed or connected in a context."""
        self._system.check_context(context)
        return context.inputs.has(self._name)

    def Eval(self, context: Any) -> Any:
        """The value at a context.

        Args:
          context: of the system of this port.

        Returns:
          (size,) in [unit of the port], or an object.

        Raises:
          RuntimeError: the context is another system's; the port has no value.

        Example:
          >>> plant.get_actuation_input_port().FixValue(context, [1.5])
          >>> plant.get_actuation_input_port().Eval(context)
          array([1.5])
        """
        self._system.check_context(context)
        try:
            return context.inputs.own_value(self._name, context)
        except NoValueError:
            system = self._system.get_name() or type(self._system).__name__
            raise RuntimeError(
                f"input '{self._name}' has no value: fix or connect it (it is of system '{system}')"
            ) from None

    def checked(self, value: Any) -> Any:
        """A value as the port takes it: of its kind and size, with finite numbers."""
        if self._size is None:
            self._check(value)
            return value
        if type(value) is np.ndarray:
            # the square of its length is finite where all elements are, or soon found out not to be
            if value.dtype is _FLOAT and value.shape == (self._size,) and isfinite(value.dot(value)):
                return value
        elif hasattr(value, "CopyToVector"):
            value = value.CopyToVector()
        value = np.atleast_1d(self._system.port_array(value, f"input '{self._name}'"))
        if value.ndim == 2 and value.shape[1] == 1:
            value = value[:, 0]
        if value.shape != (self._size,):
            raise RuntimeError(f"input '{self._name}' has {self._size} elements, not {value.size}")
        return value


def _own(value: Any) -> Any:
    """A copy of a port's value: an array, or a list of objects that may change."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (list, tuple)):
        return [copy(x) for x in value]
    return value


class OutputPort(Port):
    """A value computed from a context.

    Args:
        system: whose port it is.
        name: of the port.
        evaluate: context -> value.
        index: in the system's list of ports.
        size: number of elements; None for a port of objects.
        inputs: names of the input ports that it follows from; None: all of them.
    """

    KIND = "output"

    def __init__(
        self,
        system: Any,
        name: str,
        evaluate: Callable[[Any], Any],
        index: Any = 0,
        size: int | None = None,
        inputs: Sequence[str] | None = None,
    ) -> None:
        super().__init__(system, name, index, size)
        self._evaluate = evaluate
        self.follows = inputs
        self.remembers = True  # whether a LeafSystem keeps the value until something changes that it follows from

    def disable_caching_by_default(self) -> None:
        """Lets a LeafSystem compute the value whenever it is asked for."""
        self.remembers = False

    def Eval(self, context: Any) -> Any:
        """The value at a context.

        Args:
          context: of the system of this port.

        Returns:
          (size,) in [unit of the port], or an object.

        Raises:
          RuntimeError: the context is another system's; an input that it follows from has no value.

        Example:
          >>> plant.get_state_output_port().Eval(context)
          array([ 0.4, -0.9,  1.1, -0.6])
        """
        return self._evaluate(context)

    def evaluator(self) -> Callable[[Any], Any]:
        """What Eval() calls."""
        return self._evaluate


class NoPortError(IndexError, RuntimeError):
    """No port has that index."""


def port_named(ports: Sequence[Any], name: str, kind: str) -> Any:
    """The port of that name; RuntimeError that lists the names there are."""
    for port in ports:
        if port.get_name() == name:
            return port
    raise RuntimeError(f"there is no {kind} port named '{name}'; there are {', '.join(p.get_name() for p in ports)}")


def port_at(ports: Sequence[Any], index: int | None, kind: str) -> Any:
    """The port of that index, or the only one; RuntimeError if there is none, or if there are several."""
    if index is None:
        if len(ports) != 1:
            raise RuntimeError(f"there are {len(ports)} {kind} ports, not one: say which one is meant")
        return ports[0]
    if not 0 <= int(index) < len(ports):
        raise NoPortError(f"there is no {kind} port {int(index)}, there are {len(ports)}")
    return ports[int(index)]
