"""Errors, Jacobian and the terms of the equations of motion of a constraint set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.constraints.constraint_set import ConstraintSet
    from mbcli.multibody.math import SpatialForce
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


def CalcConstraintsPositionError(
    model: MultibodyPlant, Q: ArrayLike, CS: ConstraintSet, update_kinematics: bool = True
) -> Vector:
    """phi (size,) [m; rotations 2 sin(angle / 2), which is the angle in rad to the third order]; 0 for contacts."""
    return CS.errors_at(model, Q)[0]


def CalcConstraintsJacobian(
    model: MultibodyPlant, Q: ArrayLike, CS: ConstraintSet, update_kinematics: bool = True
) -> Matrix:
    """G (size, nv): the velocity error is G v, of custom constraints but for the terms without v."""
    return CS.errors_at(model, Q)[1]


def CalcConstraintsVelocityError(
    model: MultibodyPlant, Q: ArrayLike, QDot: ArrayLike, CS: ConstraintSet, update_kinematics: bool = True
) -> Vector:
    """G QDot (size,); of custom constraints, what they say."""
    return CS.velocity_errors_at(model, Q, QDot)[0]


def CalcConstrainedSystemVariables(
    model: MultibodyPlant,
    Q: ArrayLike,
    QDot: ArrayLike,
    Tau: ArrayLike,
    CS: ConstraintSet,
    update_kinematics: bool = True,
    f_ext: Sequence[SpatialForce] | ArrayLike | None = None,
) -> None:
    """Computes H, C, G, gamma (with stabilization), err and errd of the set, as the dynamics functions do.

    f_ext: spatial forces (num_bodies, 6) on the bodies, moment about World's origin first, in World; they are in C.
    ValueError for other shapes.
    """
    evaluate_system(model, Q, QDot, Tau, CS, f_ext)


def evaluate_system(model, Q, QDot, Tau, CS, f_ext, solve=0):
    """CalcConstrainedSystemVariables(); returns the answer of its kernel, and QDDot and force if it is to `solve`."""
    CS.require_bound(model)
    forces = NO_FORCES if f_ext is None else external_forces(model, f_ext)
    given = {"Q": Q, "QDot": QDot, "Tau": Tau}
    answer, results = CS.calculate(model, "system", given, forces, solve)
    CS.H, CS.C, CS.G, CS.err, CS.errd, CS.gamma, qddot, force = results
    return answer, qddot, force


NO_FORCES = np.zeros((0, 6))


def external_forces(model, f_ext):
    """f_ext as an array (num_bodies, 6). ValueError for other shapes and numbers that are not finite."""
    forces = np.ascontiguousarray(f_ext, dtype=float)
    if forces.shape != (model.num_bodies(), 6) or not np.isfinite(forces).all():
        raise ValueError(
            f"f_ext must be finite and ({model.num_bodies()}, 6), a row for each body; it is {forces.shape}"
        )
    return forces
