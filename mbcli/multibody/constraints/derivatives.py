"""Derivatives of accelerations and multipliers under constraints, in closed form and in one compiled call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbcli.multibody.constraints.linear_systems import check_factor, check_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.constraints.constraint_set import ConstraintSet
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

WITHOUT_JOINT_FORCES = 0


class ConstrainedDerivatives(NamedTuple):
    """Accelerations QDDot (nv,), multipliers force (size,), and what both change by (nv or size, nv).

    Where rows depend on others the multipliers are those of ForwardDynamicsConstraintsDirect() only up to changes that
    act on nothing: force and its derivatives are None then.
    """

    QDDot: Vector
    force: Vector | None
    dQDDot_dQ: Matrix
    dQDDot_dQDot: Matrix
    dQDDot_dTau: Matrix
    dforce_dQ: Matrix | None
    dforce_dQDot: Matrix | None
    dforce_dTau: Matrix | None


def ForwardDynamicsConstraintsDerivatives(
    model: MultibodyPlant, Q: ArrayLike, QDot: ArrayLike, Tau: ArrayLike, CS: ConstraintSet
) -> ConstrainedDerivatives:
    """Derivatives of QDDot and of the multipliers of ForwardDynamicsConstraintsRangeSpaceSparse().

    By Q along the motion that one unit of each velocity causes, as StateFunctions.forward_dynamics_derivatives(): where
    velocities are rates of positions, the derivative by Q. By QDot and by Tau element by element. Stabilization is
    part of what is differentiated. CS.force is left as it is.

    Exact to rounding, also at a Q off the constraints. If rows depend on each other on the constraints alone, as those
    of a mechanism with redundant equations, only derivatives along motions that satisfy the constraints have a meaning.

    The equations of motion and those of the constraints are differentiated at the solution, and solved with the factors
    that gave it: H dQDDot = G^T dforce - d(H QDDot + C - Tau - G^T force), G dQDDot = d(gamma - G QDDot).

    NumericalError as of ForwardDynamicsConstraintsRangeSpaceSparse(); ValueError for custom constraints, whose
    derivatives are not known.
    """
    CS.require_bound(model)
    if CS.customs():
        raise ValueError("custom constraints say no derivatives: these functions are for contacts and loops")
    nv, size = CS.nv, CS.calls.nrow
    found = np.empty((3 * nv + 4 * size, nv))
    given = {"Q": Q, "QDot": QDot, "Tau": Tau}
    answer, (vdot, force, diagonal, gamma) = CS.calculate(model, "derivatives", given, WITHOUT_JOINT_FORCES, found)
    by_q, by_v, by_tau = found[: 3 * nv].reshape(3, nv, nv)
    if answer == 0:
        return ConstrainedDerivatives(vdot, force, by_q, by_v, by_tau, *found[3 * nv :].reshape(4, size, nv)[:3])
    check_factor(CS.constrained, diagonal)
    check_rows(CS.constrained, vdot, gamma)
    return ConstrainedDerivatives(vdot, None, by_q, by_v, by_tau, None, None, None)
