"""Calculations with constraints at many states: rows in, rows out, as batch.py.

Rows of constraints are in the caller's order. Constraints that the caller gives (CUSTOM) are not for these.
"""

from mbcli.engine.constraints.constrained_motion import DEPENDENT
from mbcli.engine.constraints.constraint_stages import (
    calc_constrained_system,
    calc_constraint_positions,
    solve_constrained_system,
)
from mbcli.engine.queries.batch import number_in, put, put_number, states_at_once, take
from mbcli.engine.queries.constrained_calls import DEPENDENT_ROWS, LARGEST, LEAST_PIVOT, SINGULAR_MASS, TINY
from mbcli.engine.runtime.handles import constraints_at, data_at, work_at
from mbcli.engine.runtime.kernel import Handle, Matrix, OutIndices, OutMatrix, kernel, unlocked
from mbcli.engine.smooth.inverse_dynamics import clear_applied_forces


@kernel
def put_rows(cons, values, rows, k):
    """A number for each row of the constraints -> row k."""
    for i in range(values.shape[0]):
        put_number(values[i], rows, k, cons.row_number[i])


@kernel
def put_jacobian(cons, work, nv, rows, k):
    """G -> row k of nrow * nv numbers, which are zero where it has no element."""
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        entry = cons.constraint_entry[c]
        for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
            for i in range(first, end):
                put_number(work.G[entry + i - first], rows, k, nv * cons.row_number[i] + cons.support_dof[j])
            entry += end - first


@unlocked
def evaluate_positions_of_states(
    model: Handle, data: Handle, cons: Handle, work: Handle, q: Matrix, err: OutMatrix, G: OutMatrix
):
    """q (n, nq) -> err (n, nrow), G (n, nrow * nv), which is zero before."""
    d, c, w = data_at(data), constraints_at(cons), work_at(work)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        calc_constraint_positions(model, data, cons, work, 0)
        put_rows(c, w.err, err, k)
        put_jacobian(c, w, d.v.shape[0], G, k)


@unlocked
def evaluate_dynamics_of_states(
    model: Handle,
    data: Handle,
    cons: Handle,
    work: Handle,
    q: Matrix,
    v: Matrix,
    tau: Matrix,
    vdot: OutMatrix,
    force: OutMatrix,
    answers: OutIndices,
):
    """q (n, nq), v, tau (n, nv) -> vdot (n, nv), force (n, nrow), and the answers of evaluate_constrained_system()."""
    d, c, w = data_at(data), constraints_at(cons), work_at(work)
    clear_applied_forces(d)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        take(tau, k, d.tau)
        calc_constrained_system(model, data, cons, work)
        for i in range(d.v.shape[0]):
            w.dv[i] = w.packed_H[c.dof_packed[i] + c.dof_level[i]]
        solve_constrained_system(model, data, cons, work, DEPENDENT)
        put(d.vdot, vdot, k)
        put_rows(c, w.force, force, k)
        for lane in range(min(states_at_once(d.q), q.shape[0] - k)):
            answers[k + lane] = state_of_lane(w, lane)


@kernel
def state_of_lane(work, lane):
    """As constrained_calls.state_of_solution() of one state, after a factorization; dv has the diagonal of H."""
    for k in range(work.dv.shape[0]):
        inverse = number_in(work.L_inverse, k, lane)
        pivot = 1.0 / (inverse * inverse)
        if not LEAST_PIVOT * max(number_in(work.dv, k, lane), TINY) < pivot <= LARGEST:
            return SINGULAR_MASS
    for i in range(work.pivot_inverse.shape[0]):
        if number_in(work.pivot_inverse, i, lane) == 0.0:
            return DEPENDENT_ROWS
    return 0
