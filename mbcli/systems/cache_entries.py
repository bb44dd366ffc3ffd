"""Values that a LeafSystem computes once until anything changes, under the names of pydrake.systems.framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.value import AbstractValue

if TYPE_CHECKING:
    from collections.abc import Callable


class ValueProducer:
    """How a value is made and computed.

    Args:
        allocate: () -> AbstractValue, or the object that one holds.
        calc: (context, AbstractValue) sets it; or (context, object) where the object can be changed itself.
    """

    def __init__(self, allocate: Callable[[], Any], calc: Callable[[Any, Any], object]) -> None:
        self.allocate, self.calc = allocate, calc

    @staticmethod
    def NoopCalc(context: Any, value: AbstractValue) -> None:
        """Leaves the value as it was made."""


class CacheEntry:
    """A value of a LeafSystem, which DeclareCacheEntry() makes."""

    def __init__(self, system: Any, index: int, description: str, producer: ValueProducer) -> None:
        self._system, self._index, self._description, self._producer = system, index, description, producer

    def description(self) -> str:
        """What it is."""
        return self._description

    def cache_index(self) -> int:
        """By which get_cache_entry() finds it."""
        return self._index

    def ticket(self) -> str:
        """What names it as a prerequisite: of everything, as it is computed anew when anything changes."""
        return "all"

    def Allocate(self) -> AbstractValue:
        """A new value, not computed."""
        made = self._producer.allocate()
        return made if isinstance(made, AbstractValue) else AbstractValue.Make(made)

    def Calc(self, context: Any, value: AbstractValue) -> None:
        """Computes a value anew."""
        self._producer.calc(context, value)

    def EvalAbstract(self, context: Any) -> AbstractValue:
        """The value at a context, computed if anything has changed since the last time."""
        self._system.check_context(context)
        return context.remembered(self, self._computed)

    def _computed(self, context: Any) -> AbstractValue:
        value = self.Allocate()
        self.Calc(context, value)
        return value

    def Eval(self, context: Any) -> Any:
        """What EvalAbstract() holds."""
        return self.EvalAbstract(context).get_value()
