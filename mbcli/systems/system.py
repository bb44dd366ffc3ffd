"""What plants, leaf systems and diagrams share: ports, the values of inputs, contexts and the names of systems."""

from __future__ import annotations

import enum
from copy import copy
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.value import AbstractValue, held
from mbcli.math.array_arguments import as_numbers
from mbcli.systems.vectors import AbstractValues, BasicVector, ContinuousState, DiscreteValues, Parameters, State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array

_FLOAT = np.dtype(float)
SEEN = "seen by the diagram"  # among the results that a plant remembers, until what they follow from changes


class PortDataType(enum.Enum):
    """What a port holds: a vector of numbers, or an object."""

    kVectorValued = 0
    kAbstractValued = 1


class Tree:
    """What all contexts below one root share: the time, and a number that changes with anything in any of them.

    Attributes:
        time: [s]
        plants: the context of each plant, which keeps its own time and tells of changes by forgetting SEEN.
    """

    __slots__ = ("time", "plants", "_changes")

    def __init__(self) -> None:
        self.time = 0.0
        self.plants: list[Any] = []
        self._changes = 0

    def stamp(self) -> int:
        """A number that is another one after every change."""
        for context in self.plants:
            results = context.state.input_cache
            if SEEN not in results:
                results[SEEN] = True
                self._changes += 1
        return self._changes

    def note_change(self) -> None:
        """Something beside the plants has changed; what they remember may follow from it."""
        self._changes += 1
        for context in self.plants:
            context.state.input_cache.clear()

    def go_to(self, time: float) -> None:
        """Replaces the time [s] of all contexts by one that is finite."""
        self.time = time
        self._changes += 1
        for context in self.plants:
            state = context.state
            state.time = time
            state.input_cache.clear()


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
        index: in the system's list of ports of its kind.
        size: number of elements; None for a port of objects.
    """

    KIND = ""  # "input" or "output"

    def __init__(self, system: Any, name: str, index: int, size: int | None) -> None:
        self._system, self._name, self._index, self._size = system, name, index, size

    def get_name(self) -> str:
        """The name."""
        return self._name

    def get_index(self) -> int:
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
        return f"{self.KIND} {self._index}"

    def GetFullDescription(self) -> str:
        """The port and its system in words."""
        return f"{self.KIND.title()}Port[{self._index}] ({self._name}) of System {self._system.get_name()}"

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
        index: int = 0,
        size: int | None = None,
        check: Callable[[Any], object] = lambda value: None,
    ) -> None:
        super().__init__(system, name, index, size)
        self._check = check

    def FixValue(self, context: Any, value: Any) -> None:
        """Keeps a copy of a constant value in the context, in place of a connected source.

        RuntimeError for a wrong size, and numbers that are not finite.
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
        """The value, (size,) or an object. RuntimeError if there is none."""
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
        index: int = 0,
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
        """The value at a context: (size,) or an object."""
        return self._evaluate(context)

    def evaluator(self) -> Callable[[Any], Any]:
        """What Eval() calls."""
        return self._evaluate


class Context:
    """Time, state, parameters and inputs of a system, under the names of pydrake.systems.framework.

    A kind of context says where its state is by the methods that begin with an underscore; `inputs` are InputValues.
    """

    __slots__ = ()

    inputs: InputValues

    def _continuous(self) -> ContinuousState:
        raise NotImplementedError

    def _discrete(self) -> list[Any]:
        raise NotImplementedError

    def _abstract(self) -> list[AbstractValue]:
        return []

    def _parameters(self) -> Parameters:
        return Parameters()

    def text(self, path: str) -> str:
        """What it holds. path: the name of its system after those of the diagrams that this is part of."""
        from mbcli.systems.context_text import text_of  # few scripts print contexts, every start imports this file

        return text_of(self, path)

    def __str__(self) -> str:
        return self.text(f"::{self._owner().get_name() or '_'}")

    def note_change(self) -> None:
        """Before a part of the context is changed: results that follow from it are forgotten."""

    def get_time(self) -> float:
        """[s]"""
        raise NotImplementedError

    def SetTime(self, time_sec: float) -> None:
        """Replaces the time [s]."""
        raise NotImplementedError

    # state

    def get_state(self) -> State:
        """The State."""
        return State(self._continuous(), DiscreteValues(self._discrete()), AbstractValues(self._abstract()))

    def get_mutable_state(self) -> State:
        """The State, to be changed."""
        self.note_change()
        return self.get_state()

    def get_continuous_state(self) -> ContinuousState:
        """The ContinuousState."""
        return self._continuous()

    def get_mutable_continuous_state(self) -> ContinuousState:
        """The ContinuousState, to be changed."""
        self.note_change()
        return self._continuous()

    def get_continuous_state_vector(self) -> Any:
        """The continuous state as a vector."""
        return self._continuous().get_vector()

    def get_mutable_continuous_state_vector(self) -> Any:
        """The continuous state as a vector, to be changed."""
        return self.get_mutable_continuous_state().get_vector()

    def get_discrete_state(self, index: int | None = None) -> Any:
        """All groups of discrete state, as DiscreteValues, or one of them. RuntimeError if there is none."""
        values = DiscreteValues(self._discrete())
        return values if index is None else values.get_vector(index)

    def get_mutable_discrete_state(self, index: int | None = None) -> Any:
        """All groups of discrete state, or one of them, to be changed."""
        self.note_change()
        return self.get_discrete_state(index)

    def get_discrete_state_vector(self) -> Any:
        """The only group of discrete state. RuntimeError if there is another number of them."""
        groups = self._discrete()
        if len(groups) != 1:
            raise RuntimeError(f"the discrete state has {len(groups)} groups, not one")
        return groups[0]

    def get_mutable_discrete_state_vector(self) -> Any:
        """The only group of discrete state, to be changed."""
        self.note_change()
        return self.get_discrete_state_vector()

    def get_abstract_state(self, index: int | None = None) -> Any:
        """All abstract states, as AbstractValues, or the AbstractValue of one."""
        values = AbstractValues(self._abstract())
        return values if index is None else values.get_value(index)

    def get_mutable_abstract_state(self, index: int | None = None) -> Any:
        """All abstract states, or the AbstractValue of one, to be changed."""
        self.note_change()
        return self.get_abstract_state(index)

    def SetContinuousState(self, xc: ArrayLike) -> None:
        """Replaces the continuous state. RuntimeError for another number of elements."""
        self.get_mutable_continuous_state_vector().SetFromVector(xc)

    def SetDiscreteState(self, *group_and_value: Any, group_index: Any = None, xd: ArrayLike | None = None) -> None:
        """SetDiscreteState(xd) of the only group, or SetDiscreteState(group_index, xd)."""
        *group, value = group_and_value if xd is None else (*group_and_value, xd)
        group = group if group_index is None else [group_index]
        if hasattr(value, "get_data"):
            self.get_mutable_discrete_state().SetFrom(value)
        elif group:
            self.get_mutable_discrete_state(group[0]).SetFromVector(value)
        else:
            self.get_mutable_discrete_state_vector().SetFromVector(value)

    def SetAbstractState(self, index: int, value: Any) -> None:
        """Replaces the object of an abstract state."""
        self.get_mutable_abstract_state(index).set_value(held(value))

    def SetTimeAndContinuousState(self, time_sec: float, xc: ArrayLike) -> None:
        """Replaces both."""
        self.SetTime(time_sec)
        self.SetContinuousState(xc)

    def num_continuous_states(self) -> int:
        """The number of continuous states."""
        return self._continuous().size()

    def num_discrete_state_groups(self) -> int:
        """The number of groups of discrete state."""
        return len(self._discrete())

    def num_abstract_states(self) -> int:
        """The number of abstract states."""
        return len(self._abstract())

    def num_total_states(self) -> int:
        """The number of continuous and discrete states. RuntimeError where there are abstract ones."""
        if self._abstract():
            raise RuntimeError("abstract states are not counted")
        return self.num_continuous_states() + sum(group.size() for group in self._discrete())

    def is_stateless(self) -> bool:
        """Whether there is no state."""
        return not (self.num_continuous_states() or self._discrete() or self._abstract())

    def has_only_continuous_state(self) -> bool:
        """Whether there is continuous state and no other."""
        return bool(self.num_continuous_states()) and not self._discrete() and not self._abstract()

    def has_only_discrete_state(self) -> bool:
        """Whether there is discrete state and no other."""
        return bool(self._discrete()) and not self.num_continuous_states() and not self._abstract()

    # parameters

    def get_parameters(self) -> Parameters:
        """The Parameters."""
        return self._parameters()

    def get_mutable_parameters(self) -> Parameters:
        """The Parameters, to be changed."""
        self.note_change()
        return self._parameters()

    def num_numeric_parameter_groups(self) -> int:
        """The number of vectors of parameters."""
        return self._parameters().num_numeric_parameter_groups()

    def num_abstract_parameters(self) -> int:
        """The number of other parameters."""
        return self._parameters().num_abstract_parameters()

    def get_numeric_parameter(self, index: int) -> Any:
        """A vector of parameters. RuntimeError if there is none."""
        return self._parameters().get_numeric_parameter(index)

    def get_mutable_numeric_parameter(self, index: int) -> Any:
        """A vector of parameters, to be changed."""
        return self.get_mutable_parameters().get_numeric_parameter(index)

    def get_abstract_parameter(self, index: int) -> AbstractValue:
        """An abstract parameter. RuntimeError if there is none."""
        return self._parameters().get_abstract_parameter(index)

    def get_mutable_abstract_parameter(self, index: int) -> AbstractValue:
        """An abstract parameter, to be changed."""
        return self.get_mutable_parameters().get_abstract_parameter(index)

    def SetStateAndParametersFrom(self, source: Any) -> None:
        """Takes them from a context of the same system; the time stays."""
        time = self.get_time()
        self.SetTimeStateAndParametersFrom(source)
        self.SetTime(time)

    def SetTimeStateAndParametersFrom(self, source: Any) -> None:
        """Takes them from a context of the same system; inputs stay."""
        self.SetTime(source.get_time())
        self.get_mutable_state().SetFrom(source.get_state())
        self.get_mutable_parameters().SetFrom(source.get_parameters())

    def SetAccuracy(self, accuracy: float | None) -> None:
        """Takes note of nothing: results here are computed as precisely as numbers allow."""

    def get_accuracy(self) -> float | None:
        """None: see SetAccuracy()."""
        return None

    def num_input_ports(self) -> int:
        """The number of input ports."""
        return self._owner().num_input_ports()

    def num_output_ports(self) -> int:
        """The number of output ports."""
        return self._owner().num_output_ports()

    def _owner(self) -> System:
        raise NotImplementedError


class TreeContext(Context):
    """The context of a system whose time is that of a root: what signals, leaf systems and diagrams share."""

    __slots__ = ("system", "tree", "inputs")

    def __init__(self, system: Any, tree: Tree) -> None:
        self.system, self.tree, self.inputs = system, tree, InputValues(tree.note_change)

    def _owner(self) -> System:
        return self.system

    def note_change(self) -> None:
        """Results that follow from the context are forgotten."""
        self.tree.note_change()

    def get_time(self) -> float:
        """[s]"""
        return self.tree.time

    def SetTime(self, time_sec: float) -> None:
        """[s]; RuntimeError if it is not finite."""
        self.tree.go_to(finite_time(time_sec))


class StatelessContext(TreeContext):
    """The inputs of a system whose outputs follow from these and the time."""

    __slots__ = ()

    def _continuous(self) -> ContinuousState:
        return ContinuousState()

    def _discrete(self) -> list[Any]:
        return []


def finite_time(time_sec: float) -> float:
    """A time [s]; RuntimeError if it is not finite."""
    time = float(time_sec)
    if not isfinite(time):
        raise RuntimeError(f"a context's time must be finite, it is {time}")
    return time


class _Conversions:
    """system.ToScalarType"""

    def __init__(self, system: Any) -> None:
        self._system = system

    def __getitem__(self, scalar: Any) -> Callable[[], Any]:
        name = scalar if isinstance(scalar, str) else scalar.__name__
        if name == "float":
            return self._system.Clone
        made = {"AutoDiffXd": self._system.ToAutoDiffXd, "Expression": self._system.ToSymbolic}
        return made["Expression" if name == "Expr" else name]


class System:
    """Input and output ports with a name; the base of plants, leaf systems and diagrams."""

    _name = ""

    def input_ports(self) -> list[Any]:
        """All input ports, by index."""
        raise NotImplementedError

    def output_ports(self) -> list[Any]:
        """All output ports, by index."""
        raise NotImplementedError

    def check_context(self, context: Any) -> None:
        """RuntimeError for a context that belongs elsewhere."""
        raise NotImplementedError

    def CreateDefaultContext(self) -> Any:
        """A context with default state and parameters."""
        raise NotImplementedError

    def make_context(self, tree: Tree) -> Any:
        """A context below a root."""
        raise NotImplementedError

    def port_array(self, value: Any, what: str) -> Array:
        """A new array of the numbers of a port; RuntimeError if one is not finite."""
        array = np.array(as_numbers(value, what))
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise RuntimeError(f"{what} must be finite, it is {array}")
        return array

    # names

    def get_name(self) -> str:
        """Name of the system in its diagram."""
        return self._name

    def set_name(self, name: str) -> None:
        """Replaces the name."""
        self._name = str(name)

    def GetSystemName(self) -> str:
        """The name, "_" if there is none."""
        return self._name or "_"

    def GetSystemPathname(self) -> str:
        """The name after those of the diagrams that the system is part of."""
        return f"::{self.GetSystemName()}"

    def GetSystemType(self) -> str:
        """The name of the class."""
        return f"{type(self).__module__}.{type(self).__qualname__}"

    # ports

    def num_input_ports(self) -> int:
        """The number of input ports."""
        return len(self.input_ports())

    def get_input_port(self, port_index: int | None = None) -> Any:
        """The input port with an index, or the only one. RuntimeError if there is none, or several without index."""
        return port_at(self.input_ports(), port_index, "input")

    def GetInputPort(self, port_name: str) -> Any:
        """The input port of that name. RuntimeError that lists all names if there is none."""
        return port_named(self.input_ports(), port_name, "input")

    def HasInputPort(self, port_name: str) -> bool:
        """Whether there is an input port of that name."""
        return any(port.get_name() == port_name for port in self.input_ports())

    def num_output_ports(self) -> int:
        """The number of output ports."""
        return len(self.output_ports())

    def get_output_port(self, port_index: int | None = None) -> Any:
        """The output port with an index, or the only one. RuntimeError if there is none, or several without index."""
        return port_at(self.output_ports(), port_index, "output")

    def GetOutputPort(self, port_name: str) -> Any:
        """The output port of that name. RuntimeError that lists all names if there is none."""
        return port_named(self.output_ports(), port_name, "output")

    def HasOutputPort(self, port_name: str) -> bool:
        """Whether there is an output port of that name."""
        return any(port.get_name() == port_name for port in self.output_ports())

    def EvalVectorInput(self, context: Any, port_index: int) -> Any:
        """The value of an input port as a BasicVector; None if it has none."""
        port = self.get_input_port(port_index)
        return port.EvalBasicVector(context) if port.HasValue(context) else None

    def EvalAbstractInput(self, context: Any, port_index: int) -> AbstractValue | None:
        """The value of an input port as an AbstractValue; None if it has none."""
        port = self.get_input_port(port_index)
        return port.EvalAbstract(context) if port.HasValue(context) else None

    def FixInputPortsFrom(self, other_system: System, other_context: Any, target_context: Any) -> None:
        """Fixes each input port to the value that the port of that index has elsewhere."""
        for own, other in zip(self.input_ports(), other_system.input_ports(), strict=True):
            if other.HasValue(other_context):
                own.FixValue(target_context, other.Eval(other_context))

    def HasDirectFeedthrough(self, *ports: int, input_port: Any = None, output_port: Any = None) -> bool:
        """HasDirectFeedthrough(output_port), or (input_port, output_port): whether inputs reach it at once."""
        given: list[Any] = [*ports, *(port for port in (input_port, output_port) if port is not None)]
        *inputs, output = given
        names = self.get_output_port(output).follows
        if names is None:
            return self.num_input_ports() > 0
        return bool(names) if not inputs else self.get_input_port(inputs[0]).get_name() in names

    def HasAnyDirectFeedthrough(self) -> bool:
        """Whether an output follows at once from an input."""
        return any(self.HasDirectFeedthrough(k) for k in range(self.num_output_ports()))

    # contexts

    def AllocateContext(self) -> Any:
        """A new context."""
        return self.CreateDefaultContext()

    def ValidateContext(self, context: Any) -> None:
        """RuntimeError for a context that belongs elsewhere."""
        self.check_context(context)

    def SetDefaultContext(self, context: Any) -> None:
        """Gives a context the default state and parameters."""
        self.check_context(context)
        context.SetTimeStateAndParametersFrom(self.CreateDefaultContext())

    def GetMyContextFromRoot(self, root_context: Any) -> Any:
        """The part of the context of a diagram that is this system's; its own context comes back.

        RuntimeError if the system has no part in it.
        """
        find = getattr(root_context, "find", None)
        found = root_context if find is None else find(self)
        self.check_context(found)
        return found

    GetMyMutableContextFromRoot = GetMyContextFromRoot

    def num_continuous_states(self) -> int:
        """The number of continuous states."""
        return self.CreateDefaultContext().num_continuous_states()

    def num_discrete_state_groups(self) -> int:
        """The number of groups of discrete state."""
        return self.CreateDefaultContext().num_discrete_state_groups()

    def num_abstract_states(self) -> int:
        """The number of abstract states."""
        return self.CreateDefaultContext().num_abstract_states()

    def num_misc_continuous_states(self) -> int:
        """The number of continuous states that are neither positions nor velocities."""
        return self.CreateDefaultContext().get_continuous_state().num_z()

    def num_numeric_parameter_groups(self) -> int:
        """The number of vectors of parameters."""
        return self.CreateDefaultContext().num_numeric_parameter_groups()

    def num_abstract_parameters(self) -> int:
        """The number of other parameters."""
        return self.CreateDefaultContext().num_abstract_parameters()

    def IsDifferentialEquationSystem(self) -> bool:
        """Whether all state is continuous, and there is some, and inputs are vectors."""
        context = self.CreateDefaultContext()
        return context.has_only_continuous_state() and all(
            port.get_data_type() is PortDataType.kVectorValued for port in self.input_ports()
        )

    def AllocateTimeDerivatives(self) -> ContinuousState:
        """A ContinuousState for derivatives, of zeros."""
        derivatives = self.CreateDefaultContext().get_continuous_state().Clone()
        derivatives.SetFromVector(np.zeros(derivatives.size()))
        return derivatives

    def AllocateDiscreteVariables(self) -> DiscreteValues:
        """DiscreteValues for an update."""
        return self.CreateDefaultContext().get_discrete_state().Clone()

    def EvalTimeDerivatives(self, context: Any) -> Any:
        """The ContinuousState of derivatives."""
        derivatives = context.get_continuous_state().Clone()
        derivatives.SetFromVector(np.zeros(derivatives.size()))
        self.CalcTimeDerivatives(context, derivatives)
        return derivatives

    def CalcTimeDerivatives(self, context: Any, derivatives: ContinuousState) -> None:
        """Sets the derivatives of the continuous state."""
        self.check_context(context)
        if derivatives.size():
            derivatives.SetFromVector(self.EvalTimeDerivatives(context).CopyToVector())

    def AllocateOutput(self) -> SystemOutput:
        """A place for the values of all output ports."""
        return SystemOutput(self)

    def CalcOutput(self, context: Any, outputs: SystemOutput) -> None:
        """Computes all output ports."""
        for k, port in enumerate(self.output_ports()):
            outputs.values[k] = port.EvalAbstract(context)

    def ForcedPublish(self, context: Any) -> None:
        """Calls what is published when it is asked for."""
        self.check_context(context)

    def ToSymbolic(self) -> Any:
        """The system of expressions. RuntimeError if there is none."""
        return self._converted("Expression")

    def ToAutoDiffXd(self) -> Any:
        """The system of AutoDiffXd. RuntimeError if there is none."""
        return self._converted("AutoDiffXd")

    @property
    def ToScalarType(self) -> Any:
        """ToScalarType[T]() is a copy for the scalar type T: float, AutoDiffXd or Expression.

        RuntimeError if the system has none.
        """
        return _Conversions(self)

    def ToAutoDiffXdMaybe(self) -> Any:
        """The system of AutoDiffXd; None if there is none."""
        try:
            return self.ToAutoDiffXd()
        except RuntimeError:
            return None

    def _converted(self, scalar: str) -> Any:
        raise RuntimeError(f"{self.GetSystemType()} cannot be converted to {scalar}")

    def GetGraphvizString(self, max_depth: int | None = None, options: dict[str, str] | None = None) -> str:
        """The system with its ports and parts as text for Graphviz."""
        from mbcli.systems.graphviz import graphviz_of  # late: few programs draw

        return graphviz_of(self, max_depth)

    # what outputs follow from

    @staticmethod
    def nothing_ticket() -> str:
        """A prerequisite: nothing."""
        return "nothing"

    @staticmethod
    def time_ticket() -> str:
        """A prerequisite: the time."""
        return "time"

    @staticmethod
    def all_sources_ticket() -> str:
        """A prerequisite: everything."""
        return "all"

    @staticmethod
    def all_input_ports_ticket() -> str:
        """A prerequisite: all inputs."""
        return "all"

    def input_port_ticket(self, index: int) -> str:
        """A prerequisite: one input."""
        return f"input {int(index)}"

    @staticmethod
    def all_state_ticket() -> str:
        """A prerequisite: the state."""
        return "state"

    def discrete_state_ticket(self, index: int) -> str:
        """A prerequisite: a group of discrete state."""
        return "state"

    def abstract_state_ticket(self, index: int) -> str:
        """A prerequisite: an abstract state."""
        return "state"

    def numeric_parameter_ticket(self, index: int) -> str:
        """A prerequisite: a vector of parameters."""
        return "parameters"

    xc_ticket = xd_ticket = xa_ticket = q_ticket = v_ticket = z_ticket = all_state_ticket
    all_sources_except_input_ports_ticket = all_parameters_ticket = accuracy_ticket = all_state_ticket
    kinematics_ticket = configuration_ticket = all_state_ticket


class SystemOutput:
    """The values of all output ports of a system, as CalcOutput() leaves them."""

    def __init__(self, system: System) -> None:
        self.values = [port.Allocate() for port in system.output_ports()]

    def num_ports(self) -> int:
        """The number of values."""
        return len(self.values)

    def get_data(self, index: int) -> AbstractValue:
        """The value of a port."""
        return self.values[int(index)]

    def get_vector_data(self, index: int) -> Any:
        """The BasicVector of a port."""
        return self.values[int(index)].get_value()


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
