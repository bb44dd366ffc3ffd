"""Actuators of joints whose limits differ between the two ways, for formats where a limit is the same both ways."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from mbcli.parsers.spec import ActuatorSpec, ServoControl

if TYPE_CHECKING:
    from mbcli.parsers.spec import TransmissionActuatorSpec


def with_equal_limits(actuator: TransmissionActuatorSpec) -> ActuatorSpec | None:
    """A motor or servo of one joint with the larger of both limits; None of any other actuator."""
    given, law, gear = actuator.transmission, actuator.law, actuator.transmission.gear[0]
    b0, b1, b2 = (*law.bias, 0.0, 0.0, 0.0)[:3]
    is_of_joint = given.kind == "sum" and given.coefficients == (1.0,) and gear != 0.0 and law.dynamics == "none"
    is_affine = law.gain_kind == "affine" and not any(law.gain[1:]) and law.bias_kind in ("none", "affine")
    if not is_of_joint or not is_affine or law.bears_weight or b1 > 0.0 or b2 > 0.0:
        return None
    is_servo, limits = bool(b1 or b2), [law.force, law.together]
    force, most = gear * law.gain[0], abs(gear) * _larger(law.force)
    if not is_servo:
        limits.append(law.control)
        most = min(most, abs(force) * _larger(law.control))
    if not force or all(low == -high for low, high in limits):
        return None
    at_rest = min(max(0.0, law.control[0]), law.control[1])
    push = b0 + law.gain[0] * at_rest
    return ActuatorSpec(
        actuator.name,
        given.joints[0],
        actuator.place,
        effort_limit=min(most, _larger(law.together)),
        gear_ratio=gear,
        controller_gains=(-b1 * gear * gear + 0.0, -b2 * gear * gear + 0.0) if is_servo else None,
        rest=(-push / b1 / gear, 0.0) if b1 else None,
        control=ServoControl(force, at_rest, law.control) if is_servo else None,
    )


def _larger(limits: tuple[float, float]) -> float:
    return max(abs(bound) for bound in limits) if limits != (-inf, inf) else inf
