"""Velocities after an impact, by three methods.

All return QDotPlus (nv,), with G QDotPlus = CS.v_plus, and leave the impulses in CS.impulse: H (QDotPlus -
QDotMinus) = G^T impulse. The sign is that of the forces: an impulse of a contact pushes the body along the normal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.multibody.compilation.constrained_model import DEPENDENT
from mbcli.multibody.constraints.linear_systems import (
    check_factor,
    check_rows,
    finish_range_space,
    require_finite_numbers,
    shortest_multipliers,
    solve_direct,
    solve_null_space,
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
    _, wanted, _, _ = _evaluate(model, Q, QDotMinus, CS)
    change, impulse = solve_direct(CS.H, CS.G, np.zeros(CS.nv), wanted, CS.linear_solver, CS.calls.dense)
    return _keep(CS, change, impulse)


def ComputeConstraintImpulsesRangeSpaceSparse(
    model: MultibodyPlant, Q: ArrayLike, QDotMinus: ArrayLike, CS: ConstraintSet
) -> Vector:
    """First the impulses, with the sparse factor of H; dependent rows as for the forward dynamics."""
    answer, wanted, change, impulse = _evaluate(model, Q, QDotMinus, CS, solve=1)
    CS.independent, impulse = finish_range_space(CS.constrained, answer, CS.H, change, wanted, impulse)
    return _keep(CS, change, impulse)


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
    _, wanted, _, _ = _evaluate(model, Q, QDotMinus, CS)
    change, impulse = solve_null_space(CS.H, CS.G, np.zeros(CS.nv), wanted, CS.calls.dense)
    return _keep(CS, change, impulse)


def _evaluate(model, Q, QDotMinus, CS, solve=0):
    """H, G, err and errd of the set; the kernel's answer and the wanted change of the velocity errors.

    Also, if it is to `solve`, the change of the velocities and the impulses.
    """
    CS.require_bound(model)
    nrow = CS.calls.nrow
    v_plus = np.ascontiguousarray(CS.v_plus, dtype=float)
    if v_plus.shape != (nrow,) or not np.isfinite(v_plus).all():
        CS.set_state(model, Q, QDotMinus)  # whose errors come first
        if v_plus.shape != (nrow,):
            raise ValueError(f"v_plus must have {nrow} elements, it has shape {v_plus.shape}")
        require_finite_numbers(v_plus=v_plus)
    answer, results = CS.calculate(model, "impulses", {"Q": Q, "QDot": QDotMinus}, v_plus, solve)
    CS.H, CS.G, CS.err, CS.errd, change, impulse = results
    return answer, v_plus - CS.errd, change, impulse


def _keep(CS, change, impulse):
    CS.keep_impulse(impulse)
    return CS.constrained.data.v + change
