"""Constraints at many states of one plant: arrays of rows in and out, eight at once in one compiled call."""

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


ROWS_OF_A_CALL = 1024  # between calls Python sees signals


def CalcConstraintsJacobianOfStates(
    model: MultibodyPlant, Q: ArrayLike, CS: ConstraintSet, *, threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """phi (n, size) and G (n, size, nv) at each row of Q (n, nq), eight rows at once.

    As the functions of one state to 1e-12, and to the last bit the same whatever other rows there are and on how many
    threads.

    ValueError for rows that are not nq finite numbers, and for custom constraints, which know one state at a time.
    """
    (q,) = _rows(model, CS, Q=Q)
    nrow, nv = CS.calls.nrow, CS.nv
    errors, G = np.empty((len(q), nrow)), np.zeros((len(q), nrow * nv))
    _in_parts(CS, threads, "evaluate_positions_of_states", [q, errors, G])
    return errors, G.reshape(len(q), nrow, nv)


def ForwardDynamicsConstraintsOfStates(
    model: MultibodyPlant, Q: ArrayLike, QDot: ArrayLike, Tau: ArrayLike, CS: ConstraintSet, *, threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """QDDot (n, nv) and the multipliers (n, size) at each row of Q (n, nq), QDot and Tau (n, nv).

    Eight rows at once, as ForwardDynamicsConstraintsRangeSpaceSparse() to 1e-12 and where rows of G depend on others to
    the last bit, whatever other rows there are and on how many threads; CS.force is left as it is. NumericalError as
    there. ValueError as CalcConstraintsJacobianOfStates().
    """
    q, v, tau = _rows(model, CS, Q=Q, QDot=QDot, Tau=Tau)
    n = len(q)
    vdot, force, answers = np.empty((n, CS.nv)), np.empty((n, CS.calls.nrow)), np.zeros(n, dtype=int)
    _in_parts(CS, threads, "evaluate_dynamics_of_states", [q, v, tau, vdot, force, answers])
    doubtful = np.flatnonzero(answers)
    if len(doubtful):  # dependent rows: the shortest multipliers are sought state by state, in a set of their own
        own = CS.Copy()
        own.Bind(model)
        for k in doubtful:
            state = q[k], v[k], tau[k]
            vdot[k] = ForwardDynamicsConstraintsRangeSpaceSparse(model, *state, own)
            force[k] = own.force
    return vdot, force


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
        if not np.isfinite(array.sum()):  # as every number is, but for sums that overflow
            for row in array[~np.isfinite(array).all(axis=1)]:
                coordinates_of(model, row, model.GetPositionNames() if name == "Q" else model.GetVelocityNames(), name)
        rows.append(array)
    return rows


def _in_parts(CS, threads, name, rows):
    """Runs a kernel on equal parts of the rows, one for each thread."""
    count = max(1, min(threads, len(rows[0])))
    bounds = np.linspace(0, len(rows[0]), count + 1).astype(int)

    ended: list[bool] = []  # not empty: nobody wants the rest

    def run(batch, start, end):
        for first in range(start, end, ROWS_OF_A_CALL):
            if ended:
                return
            batch.run(name, *(row[first : min(first + ROWS_OF_A_CALL, end)] for row in rows))

    with CS.turn:
        parts = list(zip(CS.batches(count), bounds[:-1], bounds[1:], strict=True))
        if count == 1:
            run(*parts[0])
            return
        with ThreadPoolExecutor(count) as pool:
            try:
                list(pool.map(run, *zip(*parts, strict=True)))
            except BaseException:
                ended.append(True)
                raise
