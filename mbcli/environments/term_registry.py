"""The terms of tasks by name, and what a term is.

A term of a task file is a mapping whose `term` is the name of a function here. Its other keys are the keyword-only
parameters of the function: those without a default must be there. The annotation of a parameter is a kind of
`term_kinds.py`, which says what the file may have there and what the function gets. So a new term is a new function.

    observations  (worlds, ...) -> (n, k)
    rewards       (worlds, ...) -> (n,), which a task multiplies by `weight` and adds
    ends          (worlds, ...) -> (n,), whether an episode has come to its end
    starts        (start, ...), which changes the states of worlds that begin
    actions       (worlds, ...) -> Action
    commands      (worlds, ...) -> (n, k), what the task asks of the policy
    events        (worlds, ...), which happens before a period

Observations, rewards, ends and starts are in terms.py, the others in acting_terms.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbcli.environments.task_worlds import TaskWorlds
    from mbcli.environments.world_random import WorldRandom
    from mbcli.math.array_types import FloatArray, Matrix


@dataclass(frozen=True)
class Action:
    """What a policy chooses: how many numbers from -1 to 1, and what they do to worlds, (worlds, action (n, size))."""

    size: int
    apply: Callable[[TaskWorlds, FloatArray], None]


@dataclass
class Start:
    """The states of m worlds that begin: q (m, nq), v (m, nv), which terms change, their random numbers, all worlds."""

    q: Matrix
    v: Matrix
    random: WorldRandom
    worlds: TaskWorlds


@dataclass(frozen=True)
class Parameter:
    """A key of a term: its kind by name, and whether it must be there."""

    kind: str
    is_required: bool


@dataclass(frozen=True)
class Term:
    """A function of a registry, with the keys that it takes."""

    function: Callable[..., Any]
    parameters: dict[str, Parameter]

    @property
    def summary(self) -> str:
        """One line that says what it is."""
        return (self.function.__doc__ or "").partition("\n")[0]


OBSERVATIONS: dict[str, Term] = {}
REWARDS: dict[str, Term] = {}
ENDS: dict[str, Term] = {}
STARTS: dict[str, Term] = {}
ACTIONS: dict[str, Term] = {}
COMMANDS: dict[str, Term] = {}
EVENTS: dict[str, Term] = {}


def term_of(registry: dict[str, Term]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that puts a function into a registry under its name."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = {
            name: Parameter(str(parameter.annotation), parameter.default is inspect.Parameter.empty)
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        registry[function.__name__] = Term(function, parameters)
        return function

    return add
