"""States on the constraints of a continuous plant, and their projection onto these, for derivatives of motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import NumericalError
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.core.dynamics import run_forward_dynamics

if TYPE_CHECKING:
    from mbcli.math.array_types import Matrix
    from mbcli.multibody.state.context import Context

DEPENDENT_ROWS = 1e-9  # singular value of the constraints, relative to the largest, that counts as zero
ON_CONSTRAINTS = 1e-8  # norm of their errors with which a state can be linearized about


def require_motion_on_constraints(context: Context, discrete: bool = False) -> None:
    """NumericalError if the motion from a context has no derivatives; discrete: of steps, which may start off them."""
    state = context.state
    state.ready_constraints()
    chains = state.constraints.chains(context)
    if chains.nrow == 0:
        return
    errors = (chains.position_errors(state.q)[0], chains.velocity_errors(state.q, state.v)[0])
    size = max(np.linalg.norm(e) for e in errors)
    if not discrete and not size <= ON_CONSTRAINTS * max(1.0, np.abs(state.v).max(initial=0.0)):
        raise NumericalError(
            f"the state does not satisfy the constraints, their error is {size:.3g}: there is no motion to "
            "linearize (mbcli assemble finds a state nearby)"
        )
    plant = state.plant
    run_forward_dynamics(plant, context, plant.actuation(context), None, 0.0)
    if state.constraints.is_crossed:
        raise NumericalError("the state is so close to a singular position that the motion has no derivatives")


def projection_onto_constraints(context: Context, errd_by_q: Matrix) -> Matrix:
    """The derivative of the projection of states [q; v] onto the constraints (n, n), about one that is on them.

    As steps of continuous runs are projected: by the least kinetic energy. errd_by_q (nrow, nq): what the velocity
    errors change by.
    """
    state, plant = context.state, context.state.plant
    nq, nv = state.q.size, state.v.size
    _, G = ClosedChains(context).velocity_errors(state.q, state.v)
    root = np.linalg.inv(np.linalg.cholesky(plant.CalcMassMatrix(context)))
    back = root.T @ np.linalg.pinv(G @ root.T, rcond=DEPENDENT_ROWS)
    N = plant.MakeVelocityToQDotMap(context).toarray()
    N_inverse = plant.MakeQDotToVelocityMap(context).toarray()
    result = np.eye(nq + nv)
    result[:nq, :nq] -= N @ back @ G @ N_inverse
    result[nq:, :nq] = -back @ errd_by_q @ result[:nq, :nq]
    result[nq:, nq:] -= back @ G
    return result
