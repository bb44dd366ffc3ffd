"""Errors and Jacobian of the rows of a constraint set, at states of the plant that it is bound to."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.queries.constrained_calls import REFUSED
from mbcli.multibody.assembly.nearest_positions import AssemblySearch
from mbcli.multibody.compilation.constrained_model import ConstrainedModel
from mbcli.multibody.constraints.constrained_batch import ConstrainedBatch
from mbcli.multibody.constraints.entries import Entry, Group, coordinates_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.constraints.constrained_calls import ConstrainedCall, ConstrainedCalls
    from mbcli.multibody.constraints.custom import Constraint
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


class Evaluation:
    """The part of ConstraintSet that computes with the plant it is bound to, for the functions of this package.

    Attributes:
        entries: Entry of each call of Add...Constraint(), in their order.
        groups: the Group of entries, in the order of their first ones.
        bound: whether Bind() was called; the rest is there from then on.
        constrained: ConstrainedModel of the plant and the rows. It keeps the state that was set last.
        calls: ConstrainedCalls of that.
        nv: number of velocities of the plant.
    """

    entries: list[Entry]
    groups: list[Group]
    bound: bool
    constrained: ConstrainedModel
    calls: ConstrainedCalls
    nv: int
    _customs: list[tuple[list[int], Constraint]]
    _searches: dict[int, list[AssemblySearch]]
    _batches: list[ConstrainedBatch]
    _plant: MultibodyPlant | None
    _position_names: list[str]
    _velocity_names: list[str]

    def require_bound(self, model: MultibodyPlant) -> None:
        """RuntimeError if the set is not bound to this plant."""
        if not self.bound:
            raise RuntimeError("the constraint set is not bound: call Bind(model) first")
        if self._plant is not model:
            raise RuntimeError("the constraint set is bound to another model")

    def set_state(self, model: MultibodyPlant, Q: ArrayLike, QDot: ArrayLike | None = None) -> None:
        """Positions (nq,) and, if they are given, velocities (nv,) of `constrained`. ValueError for bad ones."""
        self.require_bound(model)
        data = self.constrained.data
        data.q[:] = coordinates_of(model, Q, self._position_names, "Q")
        if QDot is not None:
            data.v[:] = coordinates_of(model, QDot, self._velocity_names, "QDot")

    def velocity_sized(self, model: MultibodyPlant, values: ArrayLike, what: str) -> Vector:
        """(nv,) finite numbers, one for each velocity. ValueError, which says what they are, for others."""
        self.require_bound(model)
        return coordinates_of(model, values, self._velocity_names, what)

    def calculate(
        self, model: MultibodyPlant, name: str, given: dict[str, ArrayLike], *rest: Any
    ) -> tuple[int, list[Any]]:
        """What one of `calls` answers to a state, and its results.

        given: Q, and QDot and Tau where they are wanted, by name in that order. What is an array of finite doubles goes
        straight to the kernel, else it is checked and converted. ValueError that names what does not fit.
        """
        if self._plant is model and self.bound:
            call: ConstrainedCall = getattr(self.calls, name)
            results = np.empty(call.size)
            if not self._customs:
                try:
                    answer = call.run(*given.values(), *rest, results)
                    if answer != REFUSED:
                        return answer, call.parts(results)
                except TypeError:  # a list, or an array of other numbers
                    pass
        self.require_bound(model)
        arrays = [
            np.ascontiguousarray(
                coordinates_of(model, value, self._position_names if key == "Q" else self._velocity_names, key),
                dtype=float,
            )
            for key, value in given.items()
        ]
        self.evaluate_customs(model, *list(given.values())[:2])
        return call.run(*arrays, *rest, results), call.parts(results)

    def errors_at(self, model: MultibodyPlant, Q: ArrayLike) -> tuple[Vector, Matrix]:
        """phi (size,) and G (size, nv)."""
        _, (err, G) = self.calculate(model, "positions", {"Q": Q})
        return err, G

    def batches(self, count: int) -> list[ConstrainedBatch]:
        """So many ConstrainedBatch, which may run at once."""
        while len(self._batches) < count:
            self._batches.append(ConstrainedBatch(self.constrained))
        for batch in self._batches[:count]:
            batch.take_stabilization()
        return self._batches[:count]

    def searches_of_positions(self, model: MultibodyPlant, restarts: int, count: int = 1) -> list[AssemblySearch]:
        """So many searches for positions that satisfy the constraints, which may run at once, with other starts.

        One if there are custom constraints.
        """
        self.require_bound(model)
        searches = self._searches.setdefault(restarts, [])
        take_rows = partial(self.evaluate_customs, model) if self._customs else None
        while len(searches) < (1 if self._customs else count):
            constrained = self.constrained
            if searches:
                constrained = ConstrainedModel(constrained.model, constrained.constraints, constrained.compiled)
            searches.append(AssemblySearch(constrained, restarts, take_rows))
        return searches[:count]

    def velocity_errors_at(self, model: MultibodyPlant, Q: ArrayLike, QDot: ArrayLike) -> tuple[Vector, Matrix]:
        """The velocity errors (size,) and G (size, nv)."""
        _, (errd, G) = self.calculate(model, "velocities", {"Q": Q, "QDot": QDot})
        return errd, G

    def evaluate_customs(self, model: MultibodyPlant, Q: ArrayLike, QDot: ArrayLike | None = None) -> None:
        """Writes the rows of custom constraints into the arrays of `constrained`."""
        if not self._customs:
            return
        values = {name: self.constrained.rows(name) for name in ("err", "errd", "gamma")}
        for rows, custom in self._customs:
            shape = (custom.size, model.num_velocities())
            G = _answer(custom, "jacobian", shape, model, 0.0, Q, QDot)
            self.constrained.set_dense(rows, G)
            values["err"][rows] = _answer(custom, "position_error", shape[:1], model, 0.0, Q)
            if QDot is not None:
                values["errd"][rows] = _answer(custom, "velocity_error", shape[:1], model, 0.0, Q, QDot, G)
                values["gamma"][rows] = _answer(custom, "gamma", shape[:1], model, 0.0, Q, QDot, G)
        for name, rows in values.items():
            self.constrained.set_rows(name, rows)

    def customs(self) -> list[tuple[list[int], Constraint]]:
        """Rows and Constraint of each custom constraint."""
        return [(list(e.rows), e.custom) for e in self.entries if e.custom is not None]


def _answer(custom: Constraint, name: str, shape: tuple[int, ...], *arguments: Any) -> Any:
    value = np.asarray(getattr(custom, name)(*arguments), dtype=float)
    if value.shape != shape:
        raise ValueError(f"{name}() of custom constraint {custom.name!r} gives {value.shape}, not {shape}")
    if not np.isfinite(value).all():
        raise ValueError(f"{name}() of custom constraint {custom.name!r} gives numbers that are not finite")
    return value
