"""The range of a muscle's length whose file states none: the ends that the limits of joints let it reach.

From the default positions the length is led downhill, and uphill, within the limits of joints and of fixed tendons and
along the constraints that are equations, by sequential quadratic programming (scipy's SLSQP), to extremes next to them.
MuJoCo's compiler drives the model there by a force along the muscle, without gravity, contacts and passive forces, and
stops at soft limits: https://mujoco.readthedocs.io/en/stable/modeling.html#length-range
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.assembly.position_manifold import PositionManifold
from mbcli.multibody.core.coordinate_limits import GetPositionLowerLimits, GetPositionUpperLimits
from mbcli.multibody.core.rates import MakeQDotToVelocityMap
from mbcli.multibody.tree.constraints import TendonConstraint

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mbcli.math.array_types import IntArray, Matrix, Vector
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.transmission_actuator import TransmissionActuator

MOST_STEPS = 300
FIRST_STEP = 0.1  # [rad or m] of the coordinates together
TOLERANCE = 1e-12  # of the length, as part of what the first step would change if it were as long as 10
FAR = 1e3  # [rad or m]: coordinates that go so far without reaching an end have none
NEARBY = 0.1  # [rad or m] from the default positions, where derivatives show what depends on what
LEAST = 1e-12  # of the largest derivative


class LengthRanges:
    """Finds the ranges of actuators of a plant.

    Args:
        plant: of floats, finalized.
        context: of it, at the default positions, where it is left.
        derive: () -> (lengths (n,), moments (n, nv)) of all actuators in it, times their gears.
    """

    def __init__(self, plant: PlantData, context: Context, derive: Callable[[], tuple[Vector, Matrix]]) -> None:
        self._plant, self._context, self._derive = plant, context, derive
        self._chains = ClosedChains(context, held={})
        self._manifold = PositionManifold(plant.model)
        self._lower, self._upper = GetPositionLowerLimits(plant), GetPositionUpperLimits(plant)
        locked = plant.model.locked_dof
        self._start: Vector = np.array(context.state.q)
        moves = np.random.default_rng(0).uniform(-NEARBY, NEARBY, plant.model.sizes["nv"])
        moves[locked] = 0.0
        self._starts = [self._start, *(self._manifold.moved(self._start, move) for move in (moves, -moves))]
        self._nearby = self._starts[1]
        self._sums = [c for c in plant.elements.constraints if isinstance(c, TendonConstraint) and c.stiffness == inf]

    def of(self, actuator: TransmissionActuator, row: int) -> tuple[float, float]:
        """(shortest, longest) [m or rad] of the actuator in a row of `derive`.

        ModelError if one of them is without end, or if no end was found.
        """
        try:
            free = self._free_coordinates(row)
            ends = [self._end(actuator, row, free, sign) for sign in (1.0, -1.0)]
        finally:
            self._context.state.set_q(self._start)
        lowest, highest = actuator.law().within
        shortest, longest = max(ends[0], lowest), min(ends[1], highest)
        if not -inf < shortest < longest < inf:
            self._refuse(actuator, "the joints let its length grow or fall without end, or not change")
        return shortest, longest

    def _refuse(self, actuator: TransmissionActuator, problem: str) -> None:
        place = f"{actuator.place}: error: " if actuator.place else ""
        raise ModelError(f"{place}muscle '{actuator.name()}' states no lengthrange, and none is found: {problem}")

    def _slopes(self, q: Vector) -> tuple[Vector, Matrix]:
        """Lengths (n,) of all actuators, and their derivatives by q (n, nq)."""
        self._context.state.set_q(q)
        lengths, moments = self._derive()
        return lengths, moments @ self._velocities_by_q()

    def _velocities_by_q(self) -> Matrix:
        return MakeQDotToVelocityMap(self._plant, self._context).toarray()

    def _errors(self, q: Vector) -> tuple[Vector, Matrix]:
        """Of the constraints that are equations, and their derivatives by q."""
        self._context.state.set_q(q)
        phi, G = self._chains.position_errors(q)
        return phi.copy(), G @ self._velocities_by_q()

    def _free_coordinates(self, row: int) -> IntArray:
        """Indices in q of what moves the length, or is tied to what moves it."""
        slopes = np.array([self._slopes(q)[1][row] for q in (self._start, self._nearby)])
        free = np.abs(slopes).max(axis=0) > LEAST * np.abs(slopes).max()
        ties = [np.abs(self._errors(self._nearby)[1]) > LEAST] if self._chains.nrow else []
        for sum_ in self._sums:
            tie = np.zeros((1, len(self._start)), dtype=bool)
            tie[0, [joint.position_start() for joint in sum_.joints()]] = True
            ties.append(tie)
        tied = np.concatenate(ties) if ties else np.zeros((0, len(free)), dtype=bool)
        while True:
            more = free | tied[tied[:, free].any(axis=1)].any(axis=0)
            if (more == free).all():
                return np.flatnonzero(free & ~self._locked())
            free = more

    def _locked(self) -> Vector:
        """(nq,) whether a coordinate is that of a locked joint."""
        model = self._plant.model
        moved = np.ones(model.sizes["nv"])
        moved[model.locked_dof] = 0.0
        self._context.state.set_q(self._start)
        return ~(moved @ np.abs(self._velocities_by_q())).astype(bool)

    def _end(self, actuator: TransmissionActuator, row: int, free: IntArray, sign: float) -> float:
        """The shortest length for sign 1, the longest for -1; infinite if there is none."""
        from scipy.optimize import minimize  # late: few models have muscles without a range

        lower, upper = (values[free].clip(-FAR, FAR) for values in (self._lower, self._upper))
        constraints, bounds = self._constraints(free), list(zip(lower, upper, strict=True))
        options = {"maxiter": MOST_STEPS, "ftol": TOLERANCE}
        best, problem = inf, "nothing moves it"
        for place in self._starts:
            start = place[free].clip(lower, upper)
            slope = float(np.linalg.norm(self._slopes(self._with(free, start))[1][row, free]))
            if not slope:
                continue
            scale = sign * FIRST_STEP / slope

            def length(x: Vector, scale: float = scale) -> tuple[float, Vector]:
                lengths, slopes = self._slopes(self._with(free, x))
                return scale * float(lengths[row]), scale * slopes[row, free]

            found = minimize(
                length, start, jac=True, method="SLSQP", bounds=bounds, constraints=constraints, options=options
            )
            if not np.isfinite(found.x).all() or (np.abs(found.x) > 0.99 * FAR).any():
                return -sign * inf
            if found.success or found.status == 8:  # no step is better by more than rounding
                best = min(best, sign * float(found.fun) / scale)
            else:
                problem = f"the search ended with: {found.message}"
        if best == inf:
            self._refuse(actuator, problem)
        return sign * best

    def _with(self, free: IntArray, x: Vector) -> Vector:
        q = self._start.copy()
        q[free] = x
        return self._manifold.normalized(q)

    def _constraints(self, free: IntArray) -> list[dict[str, Any]]:
        """Those on the free coordinates, as scipy has them."""
        if self._chains.nrow:
            G = self._errors(self._nearby)[1]
            rows = np.flatnonzero((np.abs(G[:, free]) > LEAST).any(axis=1))
        else:
            rows = np.zeros(0, dtype=int)
        constraints: list[dict[str, Any]] = []
        if len(rows):

            def errors(x: Vector) -> Vector:
                return self._errors(self._with(free, x))[0][rows]

            def derivative(x: Vector) -> Matrix:
                return self._errors(self._with(free, x))[1][np.ix_(rows, free)]

            constraints.append({"type": "eq", "fun": errors, "jac": derivative})
        for sum_ in self._sums:
            a = np.zeros(len(self._start))
            a[[joint.position_start() for joint in sum_.joints()]] = sum_.a
            if not a[free].any():
                continue
            held = sum_.offset + a @ self._start - a[free] @ self._start[free]
            limits = (1.0, sum_.lower_limit), (-1.0, sum_.upper_limit)
            for side, limit in ((side, limit) for side, limit in limits if abs(limit) < inf):
                constraints.append(_above(side * a[free], side * (held - limit)))
        return constraints


def _above(a: Vector, constant: float) -> dict[str, Any]:
    """a . x + constant >= 0."""
    return {"type": "ineq", "fun": lambda x: a @ x + constant, "jac": lambda x: a}
