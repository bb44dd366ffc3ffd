"""Actuators of an MJCF document: motors, servos, or laws that have neither form."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from lxml import etree
from mbcli.parsers.formats import FORMATS
from mbcli.parsers.writing.write_xml import add, numbers

if TYPE_CHECKING:
    from mbcli.parsers.spec import ActuatorSpec, AxisSpec, ModelSpec
    from mbcli.parsers.xml_document import XmlElement


def add_actuators(root: XmlElement, spec: ModelSpec) -> None:
    """Adds <actuator> of a ModelSpec."""
    if not spec.actuators:
        return
    section = etree.SubElement(root, "actuator")
    joints = {joint.name: joint for joint in spec.joints}
    gears_scale = FORMATS[spec.format].MIXES_DRIVES  # of the control, and not of the rotor's inertia alone
    for actuator in spec.actuators:
        if actuator.controller_gains is None:
            _add_motor(section, actuator, actuator.gear_ratio if gears_scale else 1.0)
        else:
            _add_servo(section, actuator, joints[actuator.joint].axes[0])


def _add_motor(section: XmlElement, actuator: ActuatorSpec, gear: float) -> None:
    node = add(section, "motor", name=actuator.name, joint=actuator.joint, gear=gear if gear != 1.0 else None)
    if actuator.effort_limit != inf:
        limit = actuator.effort_limit / abs(gear)
        node.set("ctrlrange", numbers(-limit, limit))


def _add_servo(section: XmlElement, actuator: ActuatorSpec, axis: AxisSpec) -> None:
    """force = gain control + b0 - p q - d v."""
    assert actuator.controller_gains is not None  # a servo has some
    p, d = actuator.controller_gains
    control = actuator.control
    gain, limits, b0 = p or d, (axis.lower, axis.upper) if p else (-inf, inf), 0.0
    if control is not None and control.force is not None:
        position, velocity = (axis.default_position, 0.0) if actuator.rest is None else actuator.rest
        gain, limits = control.force, control.limits
        b0 = p * position + d * velocity - gain * control.rest
        b0 = 0.0 if abs(b0) <= 1e-14 * abs(gain * control.rest) else b0
    names = {"name": actuator.name, "joint": actuator.joint}
    if p and gain == p and not b0:
        node = add(section, "position", **names, kp=p, kv=d or None)
    elif not p and gain == d and not b0:
        node = add(section, "velocity", **names, kv=d)
    else:
        bias = (b0, -p, -d)
        node = add(section, "general", **names, biastype="affine", gainprm=gain, biasprm=bias)
    if -inf < limits[0] < limits[1] < inf:
        node.set("ctrlrange", numbers(*limits))
    if actuator.effort_limit != inf:
        node.set("forcerange", numbers(-actuator.effort_limit, actuator.effort_limit))
