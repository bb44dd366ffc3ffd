"""Positions and velocities that satisfy constraints."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.assembly.nearest_velocities import nearest_velocities
from mbcli.multibody.assembly.position_manifold import PositionManifold

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.multibody.constraints.constraint_set import ConstraintSet
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


@dataclass(frozen=True)
class AssemblyResult:
    """Positions of an assembly and how they were found; true if it converged.

    Attributes:
        q: positions (nq,); if it did not converge, those with the smallest error that were seen.
        converged: whether the position error is within the tolerance.
        iterations: steps, those of all starts and of the minimization counted.
        position_error: norm of phi.
        rank: of the derivative of phi, contact rows counted; redundant: rows above that.
        stationarity: norm of W (q - Q0) + G^T mu, about 1e-8 of W (q - Q0) and 1 at a minimum that was reached.
        restarts: how many starts beside QInit were tried.
    """

    q: np.ndarray
    converged: bool
    iterations: int
    position_error: float
    rank: int
    redundant: int
    stationarity: float
    restarts: int

    def __bool__(self):
        return self.converged


def CalcAssemblyQ(
    model: MultibodyPlant,
    QInit: ArrayLike,
    CS: ConstraintSet,
    weights: ArrayLike,
    tolerance: float = 1e-12,
    max_iter: int = 100,
    *,
    minimize: bool = True,
    restarts: int = 20,
) -> AssemblyResult:
    """Positions that satisfy phi(q) = 0, nearest to QInit: AssemblyResult.

    Solved is min (q - Q0)^T W (q - Q0) / 2 under phi(q) = 0, with W = diag(weights), to a local minimum: first a
    feasible point by weighted Levenberg-Marquardt steps, then Newton steps along the constraints. Q0 is QInit, q - Q0
    the difference of coordinates, for rotations by quaternions or roll-pitch-yaw
    angles the rotation vector. With minimize=False the first feasible point
    is taken: the plain projection, whose steps are each smallest in the weights but whose sum is not. Contacts, which
    have no position error, keep the distance of their point along the normal from its place at QInit.

    Args:
        QInit: (nq,); quaternions are normalised.
        weights: (nv,), not negative; a larger one moves less, 0 is free to move.
        tolerance: of the norm of phi.
        max_iter: Newton steps of each start.
        restarts: how many other starts, random ones around QInit with a fixed seed, are tried if steps get stuck.

    Dependent rows and singular starts are taken. An unreachable position gives a result that did not converge.
    """
    CS.set_state(model, QInit)
    W: Any = checked_weights(model, weights)
    start = PositionManifold(CS.constrained.model).normalized(QInit)
    (search,) = CS.searches_of_positions(model, restarts)
    return AssemblyResult(**vars(search.nearest(start, W, tolerance, max_iter, minimize)))


def CalcAssemblyQOfStates(
    model: MultibodyPlant,
    QInit: ArrayLike,
    CS: ConstraintSet,
    weights: ArrayLike,
    tolerance: float = 1e-12,
    max_iter: int = 100,
    *,
    minimize: bool = True,
    restarts: int = 20,
    threads: int = 1,
) -> list[AssemblyResult]:
    """CalcAssemblyQ() from each row of QInit (n, nq): n results, in one compiled call for each thread.

    A result is the same to the last bit whatever other rows there are, and on how many threads.
    """
    CS.require_bound(model)
    W: Any = checked_weights(model, weights)
    given = np.asarray(QInit, dtype=float)
    if given.ndim != 2:
        raise ValueError(f"QInit must have a row for each state, it has shape {given.shape}")
    if given.shape[1] != model.num_positions() or not np.isfinite(given).all():
        for q in given:
            CS.set_state(model, q)  # which refuses it by name
    given = given.reshape(len(given), model.num_positions())
    starts = PositionManifold(CS.constrained.model).normalized(given)
    searches = CS.searches_of_positions(model, restarts, max(1, min(threads, len(starts))))
    parts = np.array_split(starts, len(searches))
    settings = W, tolerance, max_iter, minimize
    if len(searches) == 1:
        found = [searches[0].nearest_of_all(starts, *settings)]
    else:
        with ThreadPoolExecutor(len(searches)) as pool:
            run = [pool.submit(s.nearest_of_all, part, *settings) for s, part in zip(searches, parts, strict=True)]
            found = [future.result() for future in run]
    return [AssemblyResult(**vars(nearest)) for part in found for nearest in part]


def CalcAssemblyQDot(
    model: MultibodyPlant, Q: ArrayLike, QDotInit: ArrayLike, CS: ConstraintSet, weights: ArrayLike
) -> Vector:
    """QDot (nv,) with G QDot = 0 (of custom constraints, a velocity error of zero), nearest to QDotInit.

    Solved exactly: min (QDot - QDot0)^T diag(weights) (QDot - QDot0) under that; if weights are 0 and leave a
    choice, the solution of the shortest change. Q should satisfy the constraints.
    """
    weights = checked_weights(model, weights)
    errd, G = CS.velocity_errors_at(model, Q, QDotInit)
    return nearest_velocities(G, errd, CS.constrained.data.v.copy(), weights, CS.calls.dense)


def checked_weights(model, weights):
    values = np.ascontiguousarray(weights, dtype=float)
    if values.shape != (model.num_velocities(),) or not (
        values.min(initial=0.0) >= 0.0 and values.max(initial=0.0) < np.inf
    ):
        raise ValueError(f"weights must be {model.num_velocities()} finite numbers that are not negative")
    return values
