"""Velocities after an impact, by three methods.

All return QDotPlus (nv,), with G QDotPlus = CS.v_plus, and leave the impulses in CS.impulse: H (QDotPlus -
QDotMinus) = G^T impulse. The sign is that of the forces: an impulse of a contact pushes the body along the normal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.multibody.compilation.constrained_model import DEPENDENT
from mbcli.multibody.constraints.linear_systems import (
    SolveConstrainedSystemDirect,
    SolveConstrainedSystemNullSpace,
    check_factor,
    check_rows,
    require_finite_numbers,
    shortest_multipliers,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.multibody.constraints.constraint_set import ConstraintSet
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


def ComputeConstraintImpulsesDirect(
    model: MultibodyPlant, Q: ArrayLike, QDotMinus: ArrayLike, CS: ConstraintSet
) -> Vector:
    """From the system of all unknowns, by CS.linear_solver. NumericalError as for the forward dynamics."""
    H, G, v, wanted = _system(model, Q, QDotMinus, CS)
    change, impulse = SolveConstrainedSystemDirect(H, G, np.zeros(len(v)), wanted, CS.linear_solver)
    return _keep(CS, v + change, impulse)


def ComputeConstraintImpulsesRangeSpaceSparse(
    model: MultibodyPlant, Q: ArrayLike, QDotMinus: ArrayLike, CS: ConstraintSet
) -> Vector:
    """First the impulses, with the sparse factor of H; dependent rows as for the forward dynamics."""
    H, _, v, wanted = _system(model, Q, QDotMinus, CS)
    change, impulse = range_space_impulses(CS.constrained, np.diag(H), wanted)
    CS.independent = CS.constrained.independent()
    return _keep(CS, v + change, impulse)


def range_space_impulses(constrained, diagonal_of_H, wanted):
    """Change of the velocities (nv,) and impulses (nrow,) from the contents of a ConstrainedModel: q, v, v_plus."""
    constrained.run("calc_constraint_impulses", DEPENDENT)
    check_factor(constrained, diagonal_of_H)
    change = constrained.work.dv.copy()
    check_rows(constrained, change, wanted)
    return change, shortest_multipliers(constrained, constrained.rows("impulse"))


def ComputeConstraintImpulsesNullSpace(
    model: MultibodyPlant, Q: ArrayLike, QDotMinus: ArrayLike, CS: ConstraintSet
) -> Vector:
    """First the velocities; H may be singular outside of the null space of G."""
    H, G, v, wanted = _system(model, Q, QDotMinus, CS)
    change, impulse = SolveConstrainedSystemNullSpace(H, G, np.zeros(len(v)), wanted)
    return _keep(CS, v + change, impulse)


def _system(model, Q, QDotMinus, CS):
    """H, G, QDotMinus and the wanted change of the velocity errors."""
    CS.set_state(model, Q, QDotMinus)
    v_plus = np.asarray(CS.v_plus, dtype=float)
    if v_plus.shape != (CS.size(),):
        raise ValueError(f"v_plus must have {CS.size()} elements, it has shape {v_plus.shape}")
    require_finite_numbers(v_plus=v_plus)
    constrained = CS.constrained
    CS.evaluate_customs(model, Q, QDotMinus)
    constrained.set_rows("v_plus", v_plus)
    constrained.run_stage("full_mass_matrix")
    constrained.run("calc_constraint_velocities")
    CS.H, CS.G = constrained.data.M.copy(), constrained.dense("G")
    CS.err, CS.errd = constrained.rows("err"), constrained.rows("errd")
    return CS.H, CS.G, constrained.data.v.copy(), v_plus - CS.errd


def _keep(CS, qdot_plus, impulse):
    CS.keep_impulse(impulse)
    return qdot_plus
