"""Steps that springs and dampers allow: those in which their fastest vibration turns by 0.75 rad at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.engine.fields.model_fields import SCHEME_MIDDLE
from mbcli.multibody.core.dynamics import implicit_damping

if TYPE_CHECKING:
    from mbcli.multibody.core.plant_core import PlantCore
    from mbcli.multibody.state.context import Context

ANGLE = 0.75  # [rad] of a vibration in a step: steps with explicit forces gain energy from 2 on, bent chains before
MOST_HALVINGS = 60


class Stiffness(NamedTuple):
    """The fastest vibration, or decay, at the default positions [rad/s], and a step that follows it [s]."""

    rate: float
    step: float


def too_stiff(plant: PlantCore, context: Context) -> Stiffness | None:
    """What springs and dampers ask of a discrete plant at its default positions and the context's parameters.

    None if its step follows them, as the default scheme does at any stiffness, and where derivatives are not known, as
    with forces of users. Damping of joints, which steps take at their end, stands in for mass; under tamsi they take it
    at their start, in the default scheme too, and nothing else. Constraints, which only slow vibrations down, are left
    out.
    """
    only_in_joints = plant.model.step_scheme[SCHEME_MIDDLE] == 1
    if only_in_joints and implicit_damping(plant):
        return None
    rest = context.Clone()
    plant.SetPositionsAndVelocities(rest, plant.GetPositionsAndVelocities(plant.CreateDefaultContext()))
    plant.SetVelocities(rest, np.zeros(plant.num_velocities()))
    model = rest.state.model
    moves = np.ones(plant.num_velocities(), dtype=bool)
    moves[model.locked_dof] = False
    if plant.user_force_elements or not moves.any():
        return None
    held = np.ix_(moves, moves)
    inertia, in_joints = plant.CalcMassMatrix(rest)[held], np.diag(model.dof_damping)[held]
    if only_in_joints:
        stiffness, damping = np.zeros_like(in_joints), in_joints
    else:
        variables: Any = ("tangent", "v")
        try:
            found = plant.CalcDerivatives(rest, "inverse_dynamics", variables)
        except RuntimeError:  # no advice beside the error that asks for it, as where default positions are singular
            return None
        stiffness, damping = found["tangent"][held], found["v"][held]
    if not implicit_damping(plant):
        in_joints = np.zeros_like(in_joints)

    def rate(step):
        try:
            forces = np.linalg.solve(inertia + step * in_joints, np.hstack([stiffness, damping - in_joints]))
        except np.linalg.LinAlgError:
            return np.inf
        size = len(inertia)
        motion = np.block([[np.zeros((size, size)), np.eye(size)], [-forces[:, :size], -forces[:, size:]]])
        return float(np.abs(np.linalg.eigvals(motion)).max()) if np.isfinite(motion).all() else np.inf

    step = plant.time_step()
    fastest = rate(step)
    if not ANGLE < fastest * step < np.inf:
        return None
    for _ in range(MOST_HALVINGS):
        step /= 2.0
        if rate(step) * step <= ANGLE:
            return Stiffness(fastest, step)
    return None
