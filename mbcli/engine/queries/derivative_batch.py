"""Derivatives at many states: rows in, rows out, as batch.py.

By q along each velocity (n, nv * nv); if `by_positions` is 1, not 0, by each position (n, nv * nq).
"""

from mbcli.engine.queries.batch import put_table, states_at_once, take
from mbcli.engine.runtime.handles import data_at, model_at
from mbcli.engine.runtime.kernel import Handle, Int, Matrix, OutMatrix, kernel, unlocked
from mbcli.engine.smooth.dynamics_derivatives import (
    add_joint_force_derivatives,
    clear_matrix,
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
)
from mbcli.engine.smooth.force_elements import add_element_forces
from mbcli.engine.smooth.forward_dynamics import apply_joint_locks
from mbcli.engine.smooth.inverse_dynamics import clear_applied_forces
from mbcli.engine.smooth.jacobians import jacobian_by_qdot
from mbcli.engine.smooth.joint_forces import add_joint_forces
from mbcli.engine.smooth.state import at_velocities


@unlocked
def inverse_dynamics_derivatives_of_states(
    model: Handle,
    data: Handle,
    q: Matrix,
    v: Matrix,
    vdot: Matrix,
    by_positions: Int,
    dtau_dq: OutMatrix,
    dtau_dv: OutMatrix,
    M: OutMatrix,
):
    """q (n, nq), v, vdot (n, nv) -> dtau_dq, dtau_dv, M, as evaluate_inverse_dynamics_derivatives()."""
    m, d = model_at(model), data_at(data)
    clear_applied_forces(d)
    clear_matrix(d.dtau_dq)
    clear_matrix(d.dtau_dv)
    clear_matrix(d.M)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        take(vdot, k, d.vdot)
        at_velocities(m, d)
        inverse_dynamics_derivatives(m, d, d.dtau_dq, d.dtau_dv, d.M)
        add_joint_force_derivatives(m, d, d.dtau_dq, d.dtau_dv)
        put_by_q(m, d, by_positions, dtau_dq, k)
        put_table(d.dtau_dv, dtau_dv, k)
        put_table(d.M, M, k)


@unlocked
def forward_dynamics_derivatives_of_states(
    model: Handle,
    data: Handle,
    q: Matrix,
    v: Matrix,
    tau: Matrix,
    by_positions: Int,
    dvdot_dq: OutMatrix,
    dvdot_dv: OutMatrix,
    Minv: OutMatrix,
):
    """q (n, nq), v, tau (n, nv) -> dvdot_dq, dvdot_dv, Minv."""
    m, d = model_at(model), data_at(data)
    for i in range(d.v.shape[0]):
        d.diagonal[i] = m.dof_armature[i]
    apply_joint_locks(m, d)
    for k in range(0, q.shape[0], states_at_once(d.q)):
        take(q, k, d.q)
        take(v, k, d.v)
        take(tau, k, d.tau)
        at_velocities(m, d)
        add_joint_forces(m, d)
        clear_applied_forces(d)
        add_element_forces(m, d, d.F_applied, 0)
        clear_matrix(d.dtau_dq)
        clear_matrix(d.dtau_dv)
        clear_matrix(d.dvdot_dtau)
        forward_dynamics_derivatives(m, d, d.dtau_dq, d.dtau_dv, d.dvdot_dtau)
        put_by_q(m, d, by_positions, dvdot_dq, k)
        put_table(d.dtau_dv, dvdot_dv, k)
        put_table(d.dvdot_dtau, Minv, k)


@kernel
def put_by_q(model, data, by_positions, rows, k):
    """dtau_dq -> row k."""
    if by_positions == 1:
        jacobian_by_qdot(model, data, data.dtau_dq, data.by_position)
        put_table(data.by_position, rows, k)
    else:
        put_table(data.dtau_dq, rows, k)
