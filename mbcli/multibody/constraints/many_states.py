"""Constraints at many states of one plant: arrays of rows in and out, each part of them in one compiled call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.constraints.entries import coordinates_of
from mbcli.multibody.constraints.forward_dynamics import ForwardDynamicsConstraintsRangeSpaceSparse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.multibody.constraints.constraint_set import ConstraintSet
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


def CalcConstraintsJacobianOfStates(
    model: MultibodyPlant, Q: ArrayLike, CS: ConstraintSet, *, threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """phi (n, size) and G (n, size, nv) at each row of Q (n, nq), as the functions of one state to the last bit.

    ValueError for rows that are not nq finite numbers, and for custom constraints, which know one state at a time.
    """
    (q,) = _rows(model, CS, Q=Q)
    nrow, nv = CS.calls.nrow, CS.nv
    results = np.empty((len(q), nrow * (1 + nv)))
    _in_parts(CS, threads, "evaluate_positions_of_states", [q], lambda part: [results[part].reshape(-1)])
    return results[:, :nrow], results[:, nrow:].reshape(len(q), nrow, nv)


def ForwardDynamicsConstraintsOfStates(
    model: MultibodyPlant, Q: ArrayLike, QDot: ArrayLike, Tau: ArrayLike, CS: ConstraintSet, *, threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """QDDot (n, nv) and the multipliers (n, size) at each row of Q (n, nq), QDot and Tau (n, nv).

    As ForwardDynamicsConstraintsRangeSpaceSparse() to the last bit, whatever other rows there are and on how many
    threads; CS.force is left as it is. NumericalError as there. ValueError as CalcConstraintsJacobianOfStates().
    """
    q, v, tau = _rows(model, CS, Q=Q, QDot=QDot, Tau=Tau)
    nv, n = CS.nv, len(q)
    results, answers = np.empty((n, nv + CS.calls.nrow)), np.zeros(n, dtype=int)
    outputs = lambda part: [results[part].reshape(-1), answers[part]]  # noqa: E731
    _in_parts(CS, threads, "evaluate_dynamics_of_states", [q, v, tau], outputs)
    doubtful = np.flatnonzero(answers)
    if len(doubtful):  # dependent rows: the shortest multipliers are sought state by state, in a set of their own
        own = CS.Copy()
        own.Bind(model)
        for k in doubtful:
            state = q[k], v[k], tau[k]
            results[k, :nv] = ForwardDynamicsConstraintsRangeSpaceSparse(model, *state, own)
            results[k, nv:] = own.force
    return results[:, :nv], results[:, nv:]


def _rows(model, CS, **given):
    """Arrays of doubles in C order, each with a row for each state."""
    CS.require_bound(model)
    if CS.customs():
        raise ValueError("custom constraints know one state at a time: use the functions of one state")
    rows: list[Any] = []
    for name, value in given.items():
        array = np.ascontiguousarray(value, dtype=float)
        width = model.num_positions() if name == "Q" else CS.nv
        count = len(rows[0]) if rows else len(np.atleast_1d(array))
        if array.shape != (count, width):
            raise ValueError(f"{name} must be {count} rows of {width} numbers, it has shape {array.shape}")
        for row in array[~np.isfinite(array).all(axis=1)]:
            coordinates_of(model, row, model.GetPositionNames() if name == "Q" else model.GetVelocityNames(), name)
        rows.append(array)
    return rows


def _in_parts(CS, threads, name, rows, outputs):
    """Runs a kernel on equal parts of the rows, one for each thread; outputs(part): where its results go."""
    count = max(1, min(threads, len(rows[0])))
    bounds = np.linspace(0, len(rows[0]), count + 1).astype(int)

    def run(models):
        constrained, start, end = models
        part = slice(start, end)
        constrained.run(name, *(row[part] for row in rows), *outputs(part))

    models = zip(CS.constrained_models(count), bounds[:-1], bounds[1:], strict=True)
    if count == 1:
        run(next(models))
    else:
        with ThreadPoolExecutor(count) as pool:
            list(pool.map(run, models))
