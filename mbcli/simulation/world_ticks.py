"""What is called at ticks that all worlds have together: a controller of all of them, or actors world by world."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.errors import MbcliError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.stepping.ticks import Controller
    from mbcli.simulation.effort_limits import Exceeded


class World(NamedTuple):
    """One of many worlds, as an actor is made for it.

    Attributes:
        number: of the world.
        context: with its parameters, of which state and inputs are not its own.
        q: (nq,) where it is when the actor begins.
        input_at: time [s] -> (nu,) what it is given.
    """

    number: int
    context: Context
    q: Vector
    input_at: Callable[[float], FloatArray]


class OneByOne:
    """Controllers of single runs, one for each world, made when they are called first.

    Args:
        worlds: Any. period: [s] between two calls. make: World -> Controller, whose forces the world has.
    """

    def __init__(self, worlds: Any, period: float, make: Callable[[World], Controller]) -> None:
        self._worlds, self.period, self._make = worlds, period, make
        self._of: list[Any] = [None] * len(worlds)
        self.with_forces = False  # whether some have any

    def call(self, time: Vector, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """A tick of all worlds that run: reads q (n, nq) and v (n, nv), writes u (n, nu) and desired (n, npd, 2)."""
        self._call(np.flatnonzero(self._worlds.status == 0).tolist(), time, q, v, u, desired)

    def call_new(self, time: Vector, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """As call(), of worlds alone that began anew after it."""
        new = [int(k) for k in np.flatnonzero(self._worlds.status == 0) if self._of[k] is None]
        self._call(new, time, q, v, u, desired)

    def _call(
        self, which: Sequence[int], time: Vector, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray
    ) -> None:
        new = [int(k) for k in which if self._of[k] is None]
        if new:
            self._begin(new)
        for k in which:
            try:
                self._of[k].call(float(time[k]), q[k], v[k], u[k], desired[k])
            except MbcliError as error:
                raise type(error)(f"world {k}: {error}") from None
        if self.with_forces:
            self._worlds.pushes.refresh()

    def _begin(self, new: Sequence[int]) -> None:
        """Makes the controllers of worlds of these numbers, all at once: what they share is made once."""
        worlds, contexts = self._worlds, self._worlds.context_of_each()
        for k in new:
            self._of[k] = self._make(World(k, contexts[k], worlds.q[k].copy(), partial(_given, worlds, k)))
        forces = {k: getattr(self._of[k], "forces", []) for k in new}
        if any(forces.values()):
            self.with_forces = True
            for k in new:
                worlds.pushes.of_actors[k] = forces[k]
            worlds.took_pushes()

    def begin_again(self, which: Iterable[int]) -> None:
        """Worlds of these numbers start anew."""
        for k in which:
            self._of[k] = None

    def save(self) -> dict[str, FloatArray]:
        """{name: (n, ...)} what the controllers have to go on with; nothing before the first call."""
        each = [made.save() for made in self._of if made is not None]
        if len(each) < len(self._of):
            return {}
        return {name: np.stack([saved[name] for saved in each]) for name in each[0]}

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """The contrary of save(), of worlds that are at their starts. KeyError or ValueError for what is of others."""
        self._begin(range(len(self._of)))
        for k, made in enumerate(self._of):
            own = {
                name: values[k] for name, values in saved.items() if np.ndim(values) and len(values) == len(self._of)
            }
            made.load(own)
        if self.with_forces:
            self._worlds.pushes.refresh()

    def exceeded(self) -> list[Exceeded]:
        """The actuators of which more was asked than their effort limits, for the longest time of a world."""
        found: dict[str, Exceeded] = {}
        for made in self._of:
            for each in made.commands.exceeded() if made is not None else ():
                if each.actuator not in found or abs(each.most) > abs(found[each.actuator].most):
                    found[each.actuator] = each
        return list(found.values())


def _given(worlds: Any, k: int, time: float) -> FloatArray:
    """(nu,) what world k is given."""
    u: FloatArray = worlds.u[k]
    return u


class WorldTicks:
    """Calls a controller of worlds when that is due, counted in steps from the first one under it.

    Args:
        worlds: Any, whose desired it changes.
        controller: made for so many worlds.
        u: (n, nu), which it changes.

    Attributes:
        last: the step of the last call, -1 before the first.
    """

    def __init__(self, worlds: Any, controller: Any, u: FloatArray) -> None:
        self._worlds, self.controller, self._u = worlds, controller, u
        self._every = max(1, round(controller.period / worlds.plant.time_step()))
        self._step, self.last, self._some_are_new = 0, -1, False

    def call_if_due(self) -> None:
        """The call of this step, unless there is none or it has been. ControlError."""
        worlds, is_new = self._worlds, not (self._step % self._every or self._step == self.last)
        if not is_new and not self._some_are_new:
            return
        call = self.controller.call if is_new else self.controller.call_new
        with redirect_stdout(sys.stderr):
            call(worlds.time, worlds.q.copy(), worlds.v.copy(), self._u, worlds.desired)
        self.last, self._some_are_new = self._step if is_new else self.last, False

    def left(self) -> int:
        """Steps until the next call."""
        return self._every - self._step % self._every

    def go_on(self, steps: int) -> None:
        """So many steps were taken."""
        self._step += steps

    def save(self) -> dict[str, Any]:
        """{name: array} of what a controller of all worlds needs to go on."""
        return {"tick": np.array([self.last]), **self.controller.save()}

    def load(self, saved: Mapping[str, Any], steps: int) -> None:
        """The contrary of save(), after so many steps. KeyError or ValueError for what is of another one."""
        self.last, self._step = int(saved["tick"][0]), steps
        self.controller.load({name: values for name, values in saved.items() if name != "tick"})

    def begin_again(self, which: Iterable[int]) -> None:
        """Worlds of these numbers start anew; what is called for each alone begins anew with them."""
        if isinstance(self.controller, OneByOne):
            self.controller.begin_again(which)
            self._some_are_new = True

    def exceeded(self) -> list[Exceeded]:
        """The actuators of which more was asked in some world than their effort limits."""
        if isinstance(self.controller, OneByOne):
            return self.controller.exceeded()
        found: list[Exceeded] = self.controller.commands.exceeded()
        return found
