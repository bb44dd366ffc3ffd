"""Generalized forces of the actuated velocities for wanted accelerations, under constraints (Koch 2015, Kudruss).

ConstraintSet.SetActuationMap() defines the actuated velocities: u = S vdot, and v = P vdot are the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import UnsolvableError
from mbcli.multibody.constraints.kinematics import CalcConstrainedSystemVariables
from mbcli.multibody.constraints.linear_systems import (
    RANK_TOLERANCE,
    SolveConstrainedSystemNullSpace,
    require_fulfilled,
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
    CS.run_velocities(model, Q, QDot)
    return _rank(CS.constrained.dense("G") @ CS.P.T) == len(CS.P)


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
    CalcConstrainedSystemVariables(model, Q, QDot, np.zeros(model.num_velocities()), CS, f_ext=f_ext)
    return _keep(CS, *exact_inverse_dynamics(CS.H, CS.C, CS.G, CS.gamma, CS.S, CS.P, wanted))


def exact_inverse_dynamics(H, C, G, gamma, S, P, wanted):
    """QDDot, Tau and the multipliers of InverseDynamicsConstraints()."""
    GP = G @ P.T
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
    CalcConstrainedSystemVariables(model, Q, QDot, np.zeros(model.num_velocities()), CS, f_ext=f_ext)
    CS.W = tracking_weights(CS.H, CS.S)
    return _keep(CS, *relaxed_inverse_dynamics(CS.H, CS.C, CS.G, CS.gamma, CS.S, CS.W, controls))


def tracking_weights(H, S):
    """W of InverseDynamicsConstraintsRelaxed()."""
    return WEIGHT * np.abs(H).max(initial=0.0) * np.eye(len(S))


def relaxed_inverse_dynamics(H, C, G, gamma, S, W, controls):
    """QDDot, Tau and the multipliers of InverseDynamicsConstraintsRelaxed(); W is diagonal."""
    u = S @ controls + S @ C / np.diag(W)
    qddot, force = SolveConstrainedSystemNullSpace(H + S.T @ W @ S, G, S.T @ W @ u - C, gamma)
    return qddot, S.T @ W @ (u - S @ qddot), force


def _rank(A):
    singular = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(0)
    return int(np.sum(singular > RANK_TOLERANCE * singular.max(initial=0.0)))


def _require_actuation(CS):
    if CS.S is None:
        raise RuntimeError("the constraint set has no actuation map: call SetActuationMap(model, actuatedDof) first")


def _keep(CS, qddot, tau, force):
    CS.keep_force(force)
    return qddot, tau
