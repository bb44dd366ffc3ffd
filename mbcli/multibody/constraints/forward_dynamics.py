"""Accelerations under constraints, by four methods that agree if all of them apply.

All return QDDot (nv,) and leave the multipliers in CS.force: H QDDot + C = Tau + G^T force, G QDDot = gamma. f_ext:
spatial forces (num_bodies, 6) on the bodies about World's origin, in World.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.multibody.constraints.entries import ConstraintType
from mbcli.multibody.constraints.kinematics import evaluate_system
from mbcli.multibody.constraints.linear_systems import (
    LinearSolver,
    finish_range_space,
    solve_dense,
    solve_direct,
    solve_null_space,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.multibody.constraints.constraint_set import ConstraintSet
    from mbcli.multibody.math import SpatialForce
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


def ForwardDynamicsConstraintsDirect(
    model: MultibodyPlant,
    Q: ArrayLike,
    QDot: ArrayLike,
    Tau: ArrayLike,
    CS: ConstraintSet,
    update_kinematics: bool = True,
    f_ext: Sequence[SpatialForce] | ArrayLike | None = None,
) -> Vector:
    """From the system of all unknowns (nv + size), by CS.linear_solver.

    NumericalError if it is singular (dependent constraints), unless by least squares: then the shortest multipliers.
    """
    evaluate_system(model, Q, QDot, Tau, CS, f_ext)
    c = CS.constrained.data.tau - CS.C
    return _keep(CS, *solve_direct(CS.H, CS.G, c, CS.gamma, CS.linear_solver, CS.calls.dense))


def ForwardDynamicsConstraintsRangeSpaceSparse(
    model: MultibodyPlant,
    Q: ArrayLike,
    QDot: ArrayLike,
    Tau: ArrayLike,
    CS: ConstraintSet,
    update_kinematics: bool = True,
    f_ext: Sequence[SpatialForce] | ArrayLike | None = None,
) -> Vector:
    """First the multipliers, with a factor of H that has the sparsity of the tree; all of it in one compiled kernel.

    Dependent constraints are found by their pivots (CS.independent) and get the shortest multipliers. NumericalError:
    H is singular, constraints contradict one another.
    """
    answer, qddot, force = evaluate_system(model, Q, QDot, Tau, CS, f_ext, solve=1)
    CS.independent, force = finish_range_space(CS.constrained, answer, CS.H, qddot, CS.gamma, force)
    return _keep(CS, qddot, force)


def ForwardDynamicsConstraintsNullSpace(
    model: MultibodyPlant,
    Q: ArrayLike,
    QDot: ArrayLike,
    Tau: ArrayLike,
    CS: ConstraintSet,
    update_kinematics: bool = True,
    f_ext: Sequence[SpatialForce] | ArrayLike | None = None,
) -> Vector:
    """First the accelerations, in the range of G^T and the null space of G; H may be singular outside of the latter.

    Dependent constraints get the shortest multipliers. NumericalError: H is not positive definite on the null space,
    constraints contradict one another.
    """
    evaluate_system(model, Q, QDot, Tau, CS, f_ext)
    c = CS.constrained.data.tau - CS.C
    return _keep(CS, *solve_null_space(CS.H, CS.G, c, CS.gamma, CS.calls.dense))


def ForwardDynamicsContactsKokkevis(
    model: MultibodyPlant, Q: ArrayLike, QDot: ArrayLike, Tau: ArrayLike, CS: ConstraintSet
) -> Vector:
    """For contacts alone, by the articulated-body algorithm and test forces; H, C and G are not computed.

    The system of the multipliers is solved by CS.linear_solver. ValueError for other constraints; NumericalError for
    dependent ones, unless by least squares. There is no f_ext.
    """
    CS.require_bound(model)
    if any(entry.kind is not ConstraintType.ConstraintTypeContact for entry in CS.entries):
        CS.set_state(model, Q, QDot)  # whose errors come first
        raise ValueError("ForwardDynamicsContactsKokkevis takes contact constraints only")
    responses, qddot = np.empty((CS.calls.nrow, CS.calls.nrow)), np.empty(CS.nv)
    _, (CS.K, CS.a) = CS.calculate(model, "contact_responses", {"Q": Q, "QDot": QDot, "Tau": Tau}, responses)
    dense, found = CS.calls.dense_contacts, None
    if dense is not None and CS.linear_solver is LinearSolver.LinearSolverColPivHouseholderQR:
        found = dense.solve_directly(CS.K, np.empty((0, CS.calls.nrow)), CS.a, np.empty(0))
    force = found[0] if found else solve_dense(CS.K, CS.a, CS.linear_solver, "the system of the contacts")
    CS.calls.contact_dynamics.run(force, qddot)
    return _keep(CS, qddot, force)


def solve_contacts(constrained, linear_solver):
    """Accelerations, multipliers, responses (nrow, nrow) in the engine's order, from a ConstrainedModel.

    That is q, v, tau, F_applied; all of its rows are contacts.
    """
    responses = np.zeros((len(constrained.row_number),) * 2)
    constrained.run("calc_contact_responses", responses)
    constrained.work.force[:] = solve_dense(
        responses, constrained.work.gamma, linear_solver, "the system of the contacts"
    )
    constrained.run("calc_dynamics_with_contacts")
    return constrained.data.vdot.copy(), constrained.rows("force"), responses


def _keep(CS, qddot, force):
    CS.keep_force(force)
    return qddot
