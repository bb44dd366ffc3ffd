"""qdot = N(q) v and v = N+(q) qdot, joint by joint."""

from mbcli.engine.fields.joint_types import BALL_RPY, QUATERNION_FLOATING, RPY_FLOATING
from mbcli.engine.fields.model_fields import SCHEME_EXACT
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.joints.ball_rpy import rpy_rates_from_velocity, velocity_from_rpy_rates
from mbcli.engine.smooth.joints.quaternion_floating import (
    quaternion_rates_from_velocity,
    velocity_from_quaternion_rates,
)
from mbcli.engine.smooth.trigonometry import square_root


@kernel
def velocity_to_qdot(model, data, v, qdot):
    """v (nv,) -> qdot (nq,) at q; sin_q and cos_q must be those of q."""
    for b in range(1, model.body_parent.shape[0]):
        rates_of_joint(model, data, b, v, qdot)


@kernel
def rates_of_joint(model, data, b, v, qdot):
    """As velocity_to_qdot(), for the joint of body b."""
    q, sin_q, cos_q = data.q, data.sin_q, data.cos_q
    t, i, d = model.body_joint_type[b], model.body_q[b], model.body_v[b]
    if t == QUATERNION_FLOATING:
        quaternion_rates_from_velocity(q, i, v, d, qdot)
        copy3(v, d + 3, qdot, i + 4)
    elif t == BALL_RPY:
        rpy_rates_from_velocity(sin_q, cos_q, i, v, d, qdot)
    elif t == RPY_FLOATING:
        rpy_rates_from_velocity(sin_q, cos_q, i, v, d, qdot)
        copy3(v, d + 3, qdot, i + 3)
    else:
        for k in range(model.body_nv[b]):
            qdot[i + k] = v[d + k]


@kernel
def advance_positions(model, data, v, h):
    """q at the start -> q after the time h with velocities v; sin_q and cos_q say where N(q) is taken. Changes qdot."""
    for b in range(1, model.body_parent.shape[0]):
        advance_joint(model, data, b, v, h)


@kernel
def advance_joint(model, data, b, v, h):
    """As advance_positions(), for the joint of body b. Its quaternion has unit length then; what is locked stays."""
    for k in range(model.locked_dof.shape[0]):
        if model.locked_dof[k] == model.body_v[b]:  # scaled again, a quaternion of unit length may change by rounding
            return
    q, qdot = data.q, data.qdot
    rates_of_joint(model, data, b, v, qdot)
    i, n = model.body_q[b], model.body_nv[b]
    if model.body_joint_type[b] == QUATERNION_FLOATING:
        old, turned = 1.0, h
        if model.step_scheme[SCHEME_EXACT] == 1:
            d = model.body_v[b]
            old, turned = cosine_and_quotient(0.25 * h * h * (v[d] * v[d] + v[d + 1] * v[d + 1] + v[d + 2] * v[d + 2]))
            turned = h * turned
        for k in range(i, i + 4):
            q[k] = old * q[k] + turned * qdot[k]
        normalize_quaternion(q, i)
        i, n = i + 4, 3
    for k in range(i, i + n):
        q[k] += h * qdot[k]


@kernel
def cosine_and_quotient(y):
    """cos(x) and sin(x) / x of x^2 = y, half the angle [rad] of a step: 1e-15 up to x = 1, 1e-4 up to x = 3."""
    cosine = 1.0 - y / 182.0
    quotient = 1.0 - y / 210.0
    cosine, quotient = 1.0 - y / 132.0 * cosine, 1.0 - y / 156.0 * quotient
    cosine, quotient = 1.0 - y / 90.0 * cosine, 1.0 - y / 110.0 * quotient
    cosine, quotient = 1.0 - y / 56.0 * cosine, 1.0 - y / 72.0 * quotient
    cosine, quotient = 1.0 - y / 30.0 * cosine, 1.0 - y / 42.0 * quotient
    cosine, quotient = 1.0 - y / 12.0 * cosine, 1.0 - y / 20.0 * quotient
    return 1.0 - y / 2.0 * cosine, 1.0 - y / 6.0 * quotient


@kernel
def qdot_to_velocity(model, data, qdot, v):
    """qdot (nq,) -> v (nv,) at q, by the left inverse of N; sin_q and cos_q must be those of q."""
    q, sin_q, cos_q = data.q, data.sin_q, data.cos_q
    for b in range(1, model.body_parent.shape[0]):
        t, i, d = model.body_joint_type[b], model.body_q[b], model.body_v[b]
        if t == QUATERNION_FLOATING:
            velocity_from_quaternion_rates(q, i, qdot, d, v)
            copy3(qdot, i + 4, v, d + 3)
        elif t == BALL_RPY:
            velocity_from_rpy_rates(sin_q, cos_q, i, qdot, d, v)
        elif t == RPY_FLOATING:
            velocity_from_rpy_rates(sin_q, cos_q, i, qdot, d, v)
            copy3(qdot, i + 3, v, d + 3)
        else:
            for k in range(model.body_nv[b]):
                v[d + k] = qdot[i + k]


@kernel
def copy3(a, i, b, j):
    for k in range(3):
        b[j + k] = a[i + k]


@kernel
def normalize_quaternions(model, q):
    """Scales the quaternions in q to unit length."""
    for b in range(1, model.body_parent.shape[0]):
        if model.body_joint_type[b] == QUATERNION_FLOATING:
            normalize_quaternion(q, model.body_q[b])


@kernel
def normalize_quaternion(q, i):
    """Scales the quaternion q[i:i+4] to unit length."""
    s = 1.0 / square_root(q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3])
    for k in range(4):
        q[i + k] = s * q[i + k]
