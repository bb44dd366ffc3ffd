"""Derivatives of a plant's motion without complex steps: in closed form, and of steps in contact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine import load_kernels
from mbcli.engine.fields.model_fields import SCHEME_MIDDLE
from mbcli.engine.queries.state_batch import has_dynamics_derivatives
from mbcli.engine.runtime.model import Data
from mbcli.engine.smooth.rotations.registry import NO_ROTATION, ROTATIONS
from mbcli.multibody.core.closed_form_derivatives import closed_form_derivatives, constrained_derivatives
from mbcli.multibody.core.dynamics import implicit_damping
from mbcli.multibody.linearization.contact_motion import velocities_after_contact
from mbcli.multibody.linearization.differences import by_differences
from mbcli.multibody.linearization.plant_values import STEP, unlocked
from mbcli.multibody.scalars import FLOAT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.linearization.plant_values import PlantValues
    from mbcli.multibody.linearization.step_of_run import StepOfRun
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.evaluated_state import EvaluatedState

NEAR = 1e-5  # [rad or m] of what a limit would have to be nearer to act, for it to count as one that may


@dataclass
class ClosedFormMotion:
    """A motion f, [qdot; vdot] or [q; v] after a step, its vdot, and what both change by.

    f_by, vdot_by: {"q", "v", "u", "tau", "desired": one column for each element}
    errd_by_q: of a motion under constraints, what their velocity errors change by, (nrow, nq)
    """

    f: np.ndarray
    vdot: np.ndarray
    f_by: dict[str, Matrix]
    vdot_by: dict[str, Matrix]
    errd_by_q: np.ndarray | None = None


def closed_form_motion(
    plant: MultibodyPlant, context: Context, discrete: bool, start: PlantValues
) -> ClosedFormMotion | None:
    """The ClosedFormMotion at a context with its PlantValues; None where there is no closed form."""
    model = context.state.model
    if plant.scalar is not FLOAT or not has_dynamics_derivatives(model):
        return None
    if plant.elements.constraints and discrete:
        return None
    if context.inputs.value("applied_spatial_force", context):
        return None
    if discrete and (model.sizes["npd"] or model.sizes["nfriction"] or model.step_scheme[SCHEME_MIDDLE]):
        return None
    v = start.v.copy()
    h = plant.time_step() if discrete else 0.0
    if discrete:
        v[model.locked_dof] = 0.0  # they come to rest
    tau = start.tau.copy()
    np.add.at(tau, model.actuator_dof, start.u[: len(model.actuator_dof)])
    if plant.elements.constraints:
        return _motion_under_constraints(context, start, tau)
    damping_time = h * implicit_damping(plant) if discrete else 0.0
    found, vdot = closed_form_derivatives(context, "forward_dynamics", tau, damping_time=damping_time, v=v)
    assert vdot is not None  # as of inverse dynamics
    found["desired"] = np.zeros((v.size, start.desired.size))
    if not discrete:
        return _motion_in_time(context.state, start, vdot, found)
    if _limits_act(model, start.q, v, v + h * vdot, h):
        return None
    still = unlocked(context.state)
    v_by = {name: h * value for name, value in found.items()}
    v_by["v"] = v_by["v"] * still + np.diag(still)
    return motion_of_step(context.state, start, h, v + h * vdot, v_by)


def _motion_under_constraints(context: Context, start: PlantValues, tau: Vector) -> ClosedFormMotion | None:
    found = constrained_derivatives(context, tau)
    if found is None:
        return None
    vdot_by, vdot, errd_along = found
    vdot_by["desired"] = np.zeros((vdot.size, start.desired.size))
    motion = _motion_in_time(context.state, start, vdot, vdot_by)
    motion.errd_by_q = errd_along @ qdot_to_velocity_map(context.state)
    return motion


def motion_in_contact(plant: MultibodyPlant, context: Context, start: PlantValues) -> ClosedFormMotion | None:
    """The ClosedFormMotion of a step in contact; None if it is none.

    Errors as of velocities_after_contact().
    """
    state = context.state
    found = velocities_after_contact(plant, context, start, velocity_to_qdot_map(state), qdot_to_velocity_map(state))
    return None if found is None else motion_of_step(state, start, plant.time_step(), *found)


def motion_by_differences(
    context: Context, step: StepOfRun, start: PlantValues, directions: Sequence[tuple[str, int]]
) -> ClosedFormMotion:
    """The ClosedFormMotion of a step by differences of that very step, with derivatives by what is in `directions`."""
    state, nq, h = context.state, start.q.size, context.state.plant.time_step()
    f, still = step(start), unlocked(state)
    f_by = {}
    for name in {name for name, _ in directions}:
        along = velocity_to_qdot_map(state).T if name == "q" else np.eye(getattr(start, name).size)
        f_by[name] = by_differences(step, start, name, along)
    if "q" in f_by:
        f_by["q"] = f_by["q"] @ qdot_to_velocity_map(state)
    vdot_by = {name: value[nq:] / h for name, value in f_by.items()}
    if "v" in vdot_by:
        vdot_by["v"] = vdot_by["v"] - np.diag(still) / h
    return ClosedFormMotion(f, (f[nq:] - start.v * still) / h, f_by, vdot_by)


def _motion_in_time(
    state: EvaluatedState, start: PlantValues, vdot: Vector, vdot_by: dict[str, Matrix]
) -> ClosedFormMotion:
    nq, N = start.q.size, velocity_to_qdot_map(state)
    f_by = {name: np.vstack([np.zeros((nq, value.shape[1])), value]) for name, value in vdot_by.items()}
    f_by["q"][:nq] = _qdot_by_position(state.model, start.q, start.v)
    f_by["v"][:nq] = N
    return ClosedFormMotion(np.concatenate([N @ start.v, vdot]), vdot, f_by, vdot_by)


def motion_of_step(
    state: EvaluatedState, start: PlantValues, h: float, after: Vector, after_by: dict[str, Matrix]
) -> ClosedFormMotion:
    """The ClosedFormMotion of a step to the velocities v' = after: q' = q + h N(q) v', of unit quaternions."""
    nq = start.q.size
    q_after, by_q, by_v = _positions_after(state, start.q, after, h)
    f_by = {name: np.vstack([by_v @ value, value]) for name, value in after_by.items()}
    f_by["q"][:nq] += by_q
    still = unlocked(state)
    vdot_by = {name: value / h for name, value in after_by.items()}
    vdot_by["v"] = (after_by["v"] - np.diag(still)) / h
    vdot = (after - start.v * still) / h
    return ClosedFormMotion(np.concatenate([q_after, after]), vdot, f_by, vdot_by)


def _positions_after(state: EvaluatedState, q: Vector, v: Vector, h: float) -> tuple[Vector, Matrix, Matrix]:
    """Positions after a step h with velocities v at its end, and their derivatives by q (nq, nq) and v (nq, nv)."""
    model, N = state.model, velocity_to_qdot_map(state)
    rotations = [ROTATIONS[kind] for kind in set(model.body_rotation.tolist()) - {NO_ROTATION}]
    if all(rotation.ADVANCES_BY_RATES for rotation in rotations):
        return q + h * (N @ v), np.eye(q.size) + h * _qdot_by_position(model, q, v), h * N
    data: Any
    interpreted, data = load_kernels(False), Data(model.sizes, complex)

    def after(k: int) -> Vector:
        """With a small imaginary part in element k of [q; v]."""
        x = np.concatenate([q, v]).astype(complex)
        x[k] += 1j * STEP
        data.q[:] = x[: q.size]
        interpreted.sine_and_cosine(data.q, data.sin_q, data.cos_q)
        interpreted.advance_positions(model, data, x[q.size :], h)
        return data.q.copy()

    columns = np.array([after(k) for k in range(q.size + v.size)]).T
    by = columns.imag / STEP
    return columns[:, 0].real, by[:, : q.size], by[:, q.size :]


def may_switch(plant: MultibodyPlant, context: Context, start: PlantValues, after: Vector) -> bool:
    """Whether a step without contact, to the state `after`, has parts at which a bound, stop or sign decides."""
    model, sizes = context.state.model, context.state.model.sizes
    if sizes["npd"] or sizes["nfriction"] or sizes["ntransmission"]:
        return True
    return _limits_act(model, start.q, start.v, after[start.q.size :], plant.time_step())


def _limits_act(model: Any, q: Vector, v: Vector, v_after: Vector, h: float) -> bool:
    """Whether a limit of a joint can act in a step, or nearly."""
    interpreted = load_kernels(False)
    locked = set(model.locked_dof.tolist())
    for k, d in enumerate(model.limit_dof):
        gap = interpreted.limit_gap(model, q, k, h) - NEAR
        if d not in locked and interpreted.can_meet_limit(gap, v[d], v_after[d], h):
            return True
    return False


def velocity_to_qdot_map(state: EvaluatedState) -> Matrix:
    """N (nq, nv)."""
    N = np.empty((state.v.size, state.q.size))
    state.at_positions().query_qdot_map(N)
    return N.T


def qdot_to_velocity_map(state: EvaluatedState) -> Matrix:
    """N+ (nv, nq)."""
    N_inverse = np.empty((state.q.size, state.v.size))
    state.at_positions().query_velocity_map(N_inverse)
    return N_inverse.T


def _qdot_by_position(model: Any, q: Vector, v: Vector) -> Matrix:
    """The derivative of N(q) v by q (nq, nq): it is not zero for angles and quaternions of joints that turn freely."""
    result = np.zeros((q.size, q.size))
    columns = [i + k for i, n in zip(model.body_q, model.body_rotation_nq, strict=True) for k in range(n)]
    if not columns:
        return result
    data: Any
    interpreted, data = load_kernels(False), Data(model.sizes, complex)
    for k in columns:
        data.q[:] = q
        data.q[k] += 1j * STEP
        interpreted.sine_and_cosine(data.q, data.sin_q, data.cos_q)
        interpreted.velocity_to_qdot(model, data, v, data.qdot)
        result[:, k] = data.qdot.imag / STEP
    return result
