"""Errors and Jacobian of the rows of a constraint set, at states of the plant that it is bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.constraints.entries import Entry, Group, coordinates_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.compilation.constrained_model import ConstrainedModel
    from mbcli.multibody.constraints.custom import Constraint
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


class Evaluation:
    """The part of ConstraintSet that computes with the plant it is bound to, for the functions of this package.

    Attributes:
        entries: Entry of each call of Add...Constraint(), in their order.
        groups: the Group of entries, in the order of their first ones.
        bound: whether Bind() was called; the rest is there from then on.
        constrained: ConstrainedModel of the plant and the rows. It keeps the state that was set last.
    """

    entries: list[Entry]
    groups: list[Group]
    bound: bool
    constrained: ConstrainedModel
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

    def errors_at(self, model: MultibodyPlant, Q: ArrayLike, exact: int = 0) -> tuple[Vector, Matrix]:
        """phi (size,) and G (size, nv), with `exact` 1 the derivative of phi."""
        self.set_state(model, Q)
        return self.errors_here(model, Q, exact)

    def errors_here(self, model: MultibodyPlant, Q: ArrayLike, exact: int) -> tuple[Vector, Matrix]:
        """errors_at() with Q set."""
        self.evaluate_customs(model, Q)
        self.constrained.run("calc_constraint_positions", exact)
        return self.constrained.rows("err"), self.constrained.dense("G")

    def run_velocities(self, model: MultibodyPlant, Q: ArrayLike, QDot: ArrayLike) -> None:
        """Sets a state and computes G and the velocity errors in `constrained`."""
        self.set_state(model, Q, QDot)
        self.evaluate_customs(model, Q, QDot)
        self.constrained.run("calc_constraint_velocities")

    def evaluate_customs(self, model: MultibodyPlant, Q: ArrayLike, QDot: ArrayLike | None = None) -> None:
        """Writes the rows of custom constraints into the arrays of `constrained`."""
        customs = self.customs()
        if not customs:
            return
        values = {name: self.constrained.rows(name) for name in ("err", "errd", "gamma")}
        for rows, custom in customs:
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
