"""Choosing the constants of a LinearBushingRollPitchYaw, by one axis at a time.

Each axis is the linear oscillator m x'' + d x' + k x = 0, or the same with a moment of inertia and an angle: undamped
frequency wn = sqrt(k/m) [rad/s], damping ratio zeta = d / (2 sqrt(k m)). The functions take either kind: a stiffness
in N/m or N m/rad, an inertia in kg or kg m^2. The formulas are those of the documentation of the bushing in the
reference; wn_from_settling_time() solves the exact response where the reference approximates it.
"""

import math

import numpy as np
from scipy.optimize import brentq

from mbcli.multibody.tree.checked_numbers import non_negative


def stiffness_from_load(load, displacement):
    """k = load / displacement, of a measurement, or of the largest load and the largest displacement allowed.

    Args:
        load: [N or N m]
        displacement: [m or rad], positive.
    """
    return non_negative(load, "load") / _positive(displacement, "displacement")


def stiffness_from_frequency(inertia, wn):
    """k = inertia * wn^2 for a mass [kg] or moment of inertia [kg m^2] and a frequency wn [rad/s]."""
    return _positive(inertia, "inertia") * _positive(wn, "frequency") ** 2


def damping_from_frequency(stiffness, wn, zeta=1.0):
    """d = 2 zeta k / wn"""
    return 2.0 * non_negative(zeta, "damping ratio") * non_negative(stiffness, "stiffness") / _positive(wn, "frequency")


def damping_from_inertia(stiffness, inertia, zeta=1.0):
    """d = 2 zeta sqrt(inertia * k)"""
    product = _positive(inertia, "inertia") * non_negative(stiffness, "stiffness")
    return 2.0 * non_negative(zeta, "damping ratio") * math.sqrt(product)


def damping_ratio_from_decay(decay_ratio):
    """zeta = delta / sqrt(4 pi^2 + delta^2) with delta = ln(decay_ratio), the ratio of a peak to the one after it."""
    decrement = math.log(_positive(decay_ratio, "decay ratio"))
    if decrement < 0.0:
        raise RuntimeError(f"decay ratio must be at least 1 (a peak over the next one), it is {decay_ratio}")
    return decrement / math.hypot(2.0 * math.pi, decrement)


def response(zeta, wn_t):
    """x(t)/x(0) after a release from rest, at the dimensionless time wn * t."""
    zeta = non_negative(zeta, "damping ratio")
    if zeta < 1.0:
        s = math.sqrt(1.0 - zeta * zeta)
        return math.exp(-zeta * wn_t) * (math.cos(s * wn_t) + zeta / s * math.sin(s * wn_t))
    if zeta == 1.0:
        return (1.0 + wn_t) * math.exp(-wn_t)
    sz = math.sqrt(zeta * zeta - 1.0)
    s2 = zeta + sz
    s1 = 1.0 / s2  # zeta - sz, without the cancellation
    return (s2 * math.exp(-s1 * wn_t) - s1 * math.exp(-s2 * wn_t)) / (s2 - s1)


def wn_from_settling_time(settling_time, zeta=1.0, settling_ratio=0.01):
    """Frequency wn [rad/s] at which the response has settled to a ratio of its start after a time [s].

    zeta >= 1: exact; there the response falls steadily. zeta < 1: by the envelope of the vibration,
    wn = -ln(settling_ratio sqrt(1 - zeta^2)) / (zeta settling_time), from where on the response never leaves the ratio.
    """
    ratio, t = _ratio(settling_ratio), _positive(settling_time, "settling time")
    if _positive(zeta, "damping ratio") < 1.0:
        return -math.log(ratio * math.sqrt(1.0 - zeta * zeta)) / (zeta * t)
    upper = 1.0
    while response(zeta, upper) > ratio:
        upper *= 2.0
    return brentq(lambda wn_t: response(zeta, wn_t) - ratio, 0.0, upper, xtol=1e-13, rtol=1e-14) / t


def approximate_wn_from_settling_time(settling_time, zeta=1.0, settling_ratio=0.01):
    """The estimate of the reference: -ln(ratio)/(zeta t) below zeta = 0.7, the dominant pole from zeta = 1.01 on."""
    ratio, t = _ratio(settling_ratio), _positive(settling_time, "settling time")
    if _positive(zeta, "damping ratio") < 0.7:
        return -math.log(ratio) / (zeta * t)
    if zeta < 1.01:
        return wn_from_settling_time(t, 1.0, ratio)
    sz = math.sqrt(zeta * zeta - 1.0)
    s2 = zeta + sz
    return -math.log(2.0 * ratio * sz / s2) * s2 / t


JOINTS = ("weld", "revolute", "prismatic", "ball")


def hinge_spring_from_torques(angles, torques):
    """(spring_constant [N m/rad], spring_zero_angle_rad) of a DoorHingeConfig: the line -k (q - q0) nearest to torques.

    Args:
        angles: (n,) [rad], at least two different ones, outside of the catch and at rest or free of friction.
        torques: (n,) [N m] of the spring on the door.

    Raises:
        RuntimeError: the angles are all the same, or the torques push outwards: that is no spring.
    """
    q, tau = np.asarray(angles, dtype=float), np.asarray(torques, dtype=float)
    about = q - q.mean() if q.size else q
    if not about @ about > 0.0:
        raise RuntimeError("a spring needs torques at two different angles")
    k = -(about @ tau) / (about @ about)
    if not k > 0.0:
        raise RuntimeError(f"the torques are those of no spring: its constant would be {k:g} N m/rad")
    return float(k), float(q.mean() + tau.mean() / k)


def constants_of_joint(joint, torque_stiffness, torque_damping, force_stiffness, force_damping, axis=None):
    """The four triples of constants with which a bushing stands for a joint, as keyword arguments of its constructor.

    Args:
        joint: weld, revolute (free about `axis`), prismatic (free along it), or ball (free about all axes).
        torque_stiffness, torque_damping: [N m/rad], [N m s/rad] of what the joint holds.
        force_stiffness, force_damping: [N/m], [N s/m] of what the joint holds.
        axis: 0, 1 or 2 for roll and x, pitch and y, yaw and z; 2 for revolute and 0 for prismatic if not given.
            A revolute joint that turns far should have axis 2 or 0: pitch ends at gimbal lock.
    """
    if joint not in JOINTS:
        raise RuntimeError(f"no bushing stands for a joint '{joint}'; there are {', '.join(JOINTS)}")
    axis = {"revolute": 2, "prismatic": 0}.get(joint) if axis is None else axis
    if joint in ("revolute", "prismatic") and axis not in (0, 1, 2):
        raise RuntimeError(f"the axis of a {joint} joint must be 0, 1 or 2, it is {axis}")
    torque, force = [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]
    if joint == "revolute":
        torque[axis] = 0.0
    elif joint == "prismatic":
        force[axis] = 0.0
    elif joint == "ball":
        torque = [0.0, 0.0, 0.0]
    values = {
        "torque_stiffness_constants": (torque, torque_stiffness),
        "torque_damping_constants": (torque, torque_damping),
        "force_stiffness_constants": (force, force_stiffness),
        "force_damping_constants": (force, force_damping),
    }
    return {name: [held * non_negative(value, name) for held in which] for name, (which, value) in values.items()}


def _positive(value, what):
    if non_negative(value, what) == 0.0:
        raise RuntimeError(f"{what} must be greater than 0")
    return float(value)


def _ratio(value):
    if not 0.0 < value < 1.0:
        raise RuntimeError(f"settling ratio must be between 0 and 1, it is {value}")
    return float(value)
