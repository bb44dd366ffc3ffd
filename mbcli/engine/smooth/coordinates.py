"""qdot = N(q) v and v = N+(q) qdot, joint by joint: a rotation first, then coordinates whose rates are velocities."""

from mbcli.engine.fields.model_fields import SCHEME_MIDDLE, SCHEME_SINES
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.middle import is_in_middle
from mbcli.engine.smooth.rotations.registry import (
    NO_ROTATION,
    NUM_VELOCITIES,
    rotation_advance,
    rotation_normalize,
    rotation_rates,
    rotation_velocity,
)
from mbcli.engine.smooth.trigonometry import sine_and_cosine


@kernel
def velocity_to_qdot(model, data, v, qdot):
    """v (nv,) -> qdot (nq,) at q; sin_q and cos_q must be those of q."""
    for b in range(1, model.body_parent.shape[0]):
        rates_of_joint(model, data, b, v, qdot)


@kernel
def rates_of_joint(model, data, b, v, qdot):
    """As velocity_to_qdot(), for the joint of body b."""
    i, d, turning = model.body_q[b], model.body_v[b], model.body_rotation[b]
    end = d + model.body_nv[b]
    if turning != NO_ROTATION:
        rotation_rates(turning, data.q, data.sin_q, data.cos_q, i, v, d, qdot)
        i, d = i + model.body_rotation_nq[b], d + NUM_VELOCITIES
    for k in range(end - d):
        qdot[i + k] = v[d + k]


@kernel
def sines_of_rates(model, data):
    """q -> sin_q and cos_q, if N(q) is taken by them."""
    if model.step_scheme[SCHEME_SINES] == 1:
        sine_and_cosine(data.q, data.sin_q, data.cos_q)


@kernel
def advance_positions(model, data, v, h):
    """q at the start -> q after the time h with velocities v; sin_q and cos_q say where N(q) is taken. Changes qdot."""
    advance_trees(model, data, v, h, 0)


@kernel
def advance_trees(model, data, v, h, in_middle):
    """As advance_positions(); in_middle: 1 for the trees alone that have a step of second order."""
    for b in range(1, model.body_parent.shape[0]):
        if in_middle == 0 or is_in_middle(model, data, b):
            advance_joint(model, data, b, v, h)


@kernel
def advance_joint(model, data, b, v, h):
    """As advance_positions(), for the joint of body b. Its quaternion has unit length then; what is locked stays."""
    for k in range(model.locked_dof.shape[0]):
        if model.locked_dof[k] == model.body_v[b]:  # scaled again, a quaternion of unit length may change by rounding
            return
    q, qdot = data.q, data.qdot
    i, n, turning = model.body_q[b], model.body_nv[b], model.body_rotation[b]
    if turning == NO_ROTATION:
        for k in range(n):
            qdot[i + k] = v[model.body_v[b] + k]
            q[i + k] += h * qdot[i + k]
    else:
        rates_of_joint(model, data, b, v, qdot)
        rotation_advance(turning, q, i, qdot, v, model.body_v[b], h, model.step_scheme[SCHEME_MIDDLE])
        for k in range(i + model.body_rotation_nq[b], i + model.body_rotation_nq[b] + n - NUM_VELOCITIES):
            q[k] += h * qdot[k]


@kernel
def qdot_to_velocity(model, data, qdot, v):
    """qdot (nq,) -> v (nv,) at q, by the left inverse of N; sin_q and cos_q must be those of q."""
    for b in range(1, model.body_parent.shape[0]):
        i, d, turning = model.body_q[b], model.body_v[b], model.body_rotation[b]
        end = d + model.body_nv[b]
        if turning != NO_ROTATION:
            rotation_velocity(turning, data.q, data.sin_q, data.cos_q, i, qdot, d, v)
            i, d = i + model.body_rotation_nq[b], d + NUM_VELOCITIES
        for k in range(end - d):
            v[d + k] = qdot[i + k]


@kernel
def normalize_quaternions(model, q):
    """Scales the quaternions in q to unit length."""
    for b in range(1, model.body_parent.shape[0]):
        if model.body_rotation[b] != NO_ROTATION:
            rotation_normalize(model.body_rotation[b], q, model.body_q[b])
