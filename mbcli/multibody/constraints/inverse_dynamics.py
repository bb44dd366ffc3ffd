"""Generalized forces of the actuated velocities for wanted accelerations, under constraints (Koch 2015, Kudruss).

ConstraintSet.SetActuationMap() defines the actuated velocities: u = S vdot, and v = P vdot are the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import UnsolvableError
from mbcli.multibody.assembly.orthogonal_factors import OrthogonalFactors
from mbcli.multibody.constraints.kinematics import evaluate_system
from mbcli.multibody.constraints.linear_systems import (
    RANK_TOLERANCE,
    require_fulfilled,
    solve_null_space,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.multibody.constraints.constraint_set import ConstraintSet
    from mbcli.multibody.math import SpatialForce
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

WEIGHT = 100.0  # of the relaxed inverse dynamics: that many times the largest element of H


def isConstrainedSystemFullyActuated(
    model: MultibodyPlant,
    Q: ArrayLike,
    QDot: ArrayLike,
    CS: ConstraintSet,
    update_kinematics: bool = True,
    f_ext: Sequence[SpatialForce] | ArrayLike | None = None,
) -> bool:
    """Whether the constraints determine the velocities without actuator: rank(G P^T) is their number.

    The rank is that of the singular values above 1e-9 of the largest. RuntimeError without an actuation map.
    """
    _require_actuation(CS)
    _, G = CS.velocity_errors_at(model, Q, QDot)
    GP = G[:, CS.P.any(axis=0)]
    return OrthogonalFactors(GP).is_clear or _rank(GP) == len(CS.P)


def InverseDynamicsConstraints(
    model: MultibodyPlant,
    Q: ArrayLike,
    QDot: ArrayLike,
    QDDotDesired: ArrayLike,
    CS: ConstraintSet,
    update_kinematics: bool = True,
    f_ext: Sequence[SpatialForce] | ArrayLike | None = None,
) -> tuple[Vector, Vector]:
    """(QDDot, Tau) for a fully actuated system: S QDDot = S QDDotDesired, Tau (nv,) is zero without an actuator.

    If there are more constraints than velocities without actuator, the multipliers are the shortest ones.
    NumericalError: the system is not fully actuated (use InverseDynamicsConstraintsRelaxed); the desired accelerations
    violate the constraints. RuntimeError without an actuation map.
    """
    _require_actuation(CS)
    wanted = CS.velocity_sized(model, QDDotDesired, "QDDotDesired")
    evaluate_system(model, Q, QDot, np.zeros(CS.nv), CS, f_ext)
    return _keep(CS, *exact_inverse_dynamics(CS.H, CS.C, CS.G, CS.gamma, CS.S, CS.P, wanted, CS.calls.dense))


def exact_inverse_dynamics(H, C, G, gamma, S, P, wanted, dense=None):
    """QDDot, Tau and the multipliers of InverseDynamicsConstraints(); dense: DenseSolver, if there is one."""
    found = None if dense is None else dense.find_actuation(H, C, G, gamma, P.argmax(axis=1), wanted)
    if found is not None:
        return found
    actuated, free = S.any(axis=0), P.any(axis=0)
    GP = G[:, free]
    factors = OrthogonalFactors(GP)
    if factors.is_clear:
        qddot = wanted.copy()
        qddot[free] = factors.least_squares(gamma - G[:, actuated] @ wanted[actuated])
        require_fulfilled(G, qddot, gamma)
        required = H @ qddot + C
        force = factors.shortest(required[free])
        return qddot, np.where(actuated, required - force @ G, 0.0), force
    if _rank(GP) < len(P):
        raise UnsolvableError(
            f"the constrained system is not fully actuated: rank(G P^T) is {_rank(GP)}, not {len(P)}",
            "use InverseDynamicsConstraintsRelaxed",
        )
    u = S @ wanted
    v = np.linalg.lstsq(GP, gamma - G @ S.T @ u, rcond=RANK_TOLERANCE)[0]
    qddot = S.T @ u + P.T @ v
    require_fulfilled(G, qddot, gamma)
    force = np.linalg.lstsq(GP.T, P @ (C + H @ qddot), rcond=RANK_TOLERANCE)[0]
    return qddot, S.T @ (S @ (H @ qddot + C - G.T @ force)), force


def InverseDynamicsConstraintsRelaxed(
    model: MultibodyPlant,
    Q: ArrayLike,
    QDot: ArrayLike,
    QDDotControls: ArrayLike,
    CS: ConstraintSet,
    update_kinematics: bool = True,
    f_ext: Sequence[SpatialForce] | ArrayLike | None = None,
) -> tuple[Vector, Vector]:
    """(QDDot, Tau) that come close to the controls x on the actuated velocities, for any actuation.

    Minimizes vdot^T H vdot / 2 + C^T vdot + (u* - S vdot)^T W (u* - S vdot) / 2 under G vdot = gamma, with W = 100
    max(H) and u* = S x + W^-1 S C, which compensates C: then Tau = S^T W (u* - S vdot) fulfils the equations of motion
    exactly and is zero without an actuator. The accelerations reached are not exactly the controls. CS.W is W.
    RuntimeError without an actuation map; NumericalError: constraints contradict one another.
    """
    _require_actuation(CS)
    controls = CS.velocity_sized(model, QDDotControls, "QDDotControls")
    evaluate_system(model, Q, QDot, np.zeros(CS.nv), CS, f_ext)
    CS.W = tracking_weights(CS.H, CS.S)
    return _keep(CS, *relaxed_inverse_dynamics(CS.H, CS.C, CS.G, CS.gamma, CS.S, CS.W, controls, CS.calls.dense))


def tracking_weights(H, S):
    """W of InverseDynamicsConstraintsRelaxed()."""
    W = np.zeros((len(S), len(S)))
    W.reshape(-1)[:: len(S) + 1] = WEIGHT * np.abs(H).max(initial=0.0)
    return W


def relaxed_inverse_dynamics(H, C, G, gamma, S, W, controls, dense=None):
    """QDDot, Tau and the multipliers of InverseDynamicsConstraintsRelaxed(); W is diagonal, dense as above."""
    actuated, w = S.argmax(axis=1), W.diagonal()
    u = controls[actuated] + C[actuated] / w
    weighted, c, tau = H.copy(), -C, np.zeros(len(C))
    weighted.reshape(-1)[:: len(C) + 1][actuated] += w
    c[actuated] += w * u
    qddot, force = solve_null_space(weighted, G, c, gamma, dense)
    tau[actuated] = w * (u - qddot[actuated])
    return qddot, tau, force


def _rank(A):
    singular = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(0)
    return int(np.sum(singular > RANK_TOLERANCE * singular.max(initial=0.0)))


def _require_actuation(CS):
    if CS.S is None:
        raise RuntimeError("the constraint set has no actuation map: call SetActuationMap(model, actuatedDof) first")


def _keep(CS, qddot, tau, force):
    CS.keep_force(force)
    return qddot, tau
