"""What contexts of all systems share: time, state, parameters and inputs."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from mbcli.common.value import held
from mbcli.systems.ports import InputValues
from mbcli.systems.vectors import AbstractValues, ContinuousState, DiscreteValues, Parameters, State

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.common.value import AbstractValue

SEEN = "seen by the diagram"  # among the results that a plant remembers, until what they follow from changes


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


class TreeOfPlant(Tree):
    """That of the context of a plant which is no part of a diagram."""

    __slots__ = ()

    def __init__(self, context: Any) -> None:
        self.plants, self._changes = [context], 0

    @property
    def time(self) -> float:
        """[s]"""
        return float(self.plants[0].state.time)

    @time.setter
    def time(self, time: float) -> None:
        self.plants[0].state.time = time


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
        """The time of the context.

        Returns:
          [s].

        Example:
          >>> context.get_time()
          0.0
        """
        raise NotImplementedError

    def SetTime(self, time_sec: float) -> None:
        """Replaces the time.

        Args:
          time_sec: [s].

        Example:
          >>> context.SetTime(0.5)
          >>> context.get_time()
          0.5
        """
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
        """The continuous state as a vector.

        Returns:
          (n,) numbers; [q; v] of a plant with time step 0.

        Example:
          >>> context.get_continuous_state_vector().CopyToVector()
          array([ 0.4, -0.9,  1.1, -0.6])
        """
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
        """Replaces the continuous state.

        Args:
          xc: (n,) in [unit of each element]; [q; v] of a plant with time step 0.

        Raises:
          RuntimeError: another number of elements, or a plant whose state is discrete.

        Example:
          >>> context.SetContinuousState([0.1, 0.2, 0.0, 0.0])
          >>> plant.GetPositions(context)
          array([0.1, 0.2])
        """
        self.get_mutable_continuous_state_vector().SetFromVector(xc)

    def SetDiscreteState(self, *group_and_value: Any, group_index: Any = None, xd: ArrayLike | None = None) -> None:
        """SetDiscreteState(xd) of the only group, or SetDiscreteState(group_index, xd).

        Args:
          group_and_value: these, by position.
          group_index: from 0.
          xd: (n,) in [unit of each element]; [q; v] of a plant that steps.

        Raises:
          RuntimeError: another number of elements, several groups without an index, or a plant with time step 0.

        Example:
          >>> stance.SetDiscreteState(np.concatenate([robot.GetPositions(stance), np.ones(18)]))
          >>> robot.GetVelocities(stance)[:3]
          array([1., 1., 1.])
        """
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

    def Clone(self) -> Any:
        """An independent copy, with its fixed inputs."""
        raise NotImplementedError

    def DisableCaching(self) -> None:
        """Does nothing: results are the same, and are kept."""

    EnableCaching = DisableCaching

    def SetAllCacheEntriesOutOfDate(self) -> None:
        """Results are computed anew when they are asked for."""
        self.note_change()

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

    def _owner(self) -> Any:
        raise NotImplementedError


class TreeContext(Context):
    """The context of a system whose time is that of a root: what signals, leaf systems and diagrams share."""

    __slots__ = ("system", "tree", "inputs")

    def __init__(self, system: Any, tree: Tree) -> None:
        self.system, self.tree, self.inputs = system, tree, InputValues(tree.note_change)

    def _owner(self) -> Any:
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

    def Clone(self) -> StatelessContext:
        """An independent copy, with its fixed inputs."""
        other: StatelessContext = self.system.CreateDefaultContext()
        other.tree.time = self.tree.time
        other.inputs.take(self.inputs.fixed)
        return other

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
