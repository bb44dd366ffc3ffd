"""Actuators of MJCF files that drive one joint of one coordinate.

Each kind is a case of: force = gain * ctrl + bias0 + bias1 * length + bias2 * velocity, limited, times gear. Without
bias it is an actuator of the plant, whose input is the force on the joint; with the bias of a servo it has a
controller. The plant's input is the output of the gear, so that limits and gains are those at the joint.
"""

from dataclasses import dataclass, replace
from math import inf

from mbcli.parsers.duplicate_names import made_up, report_duplicate
from mbcli.parsers.mjcf.mjcf_joints import read_limits
from mbcli.parsers.mjcf.mjcf_known import ACTUATORS, OTHER_ACTUATORS
from mbcli.parsers.mjcf.mjcf_values import AS_IF_ABSENT, WithDefaults, find_named
from mbcli.parsers.spec import ActuatorSpec

_OTHER_TRANSMISSIONS = ("tendon", "site", "slidersite", "cranksite", "refsite", "body")


@dataclass(frozen=True, slots=True)
class _Law:
    """gain * ctrl + bias[0] + bias[1] * length + bias[2] * velocity."""

    kind: str = "general"  # the element that stated it last
    gain: float = 1.0
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    affine: bool = False  # whether the bias counts
    linear: bool = True  # no other gain, bias or dynamics


def read_actuators(root, reading, bodies):
    """The `ActuatorSpec`s of a file in its order; joints whose reflected inertia they take are changed in `bodies`."""
    actuators: dict[str, ActuatorSpec] = {}
    stated = {node.raw("name") for section in root.children("actuator") for node in section.child_nodes}
    for section in root.children("actuator"):
        for node in section.children(*OTHER_ACTUATORS.split()):
            node.unsupported(AS_IF_ABSENT)
        for node in section.children(*ACTUATORS.split()):
            default = made_up(f"motor{len(actuators)}", stated)  # as Drake calls it
            actuator = _read_actuator(node, reading, bodies, default)
            if actuator is None:
                continue
            if actuator.name in actuators:
                report_duplicate(node, "actuator", actuator.name, actuators[actuator.name].place)
            actuators[actuator.name] = actuator
    return tuple(actuators.values())


def _read_actuator(node, reading, bodies, default_name):
    """An `ActuatorSpec`, or None after a finding."""
    element = reading.defaults.of_actuator(node)
    name = node.attribute("name") or default_name
    law = _Law()
    for stated in (*element.defaults, node):
        law = _law_after(law, stated)
    gear = element.vector("gear", 6, (1.0,), least=1)[0]
    control = read_limits(element, "ctrllimited", "ctrlrange", reading.settings.autolimits, 1.0)
    force = read_limits(element, "forcelimited", "forcerange", reading.settings.autolimits, 1.0)
    force = _largest(element, force, "forcerange", reading)
    joint = _driven_joint(node, reading, bodies)
    if joint is None:
        return None
    gains = _controller_gains(law, gear)
    if not (law.linear and law.gain and 0 < gear * gear < inf) or gains is None:
        reading.unused.add_element(node, f"an actuator of this kind is not supported: {AS_IF_ABSENT}")
        return None
    if not law.affine:
        force = min(force, abs(law.gain) * _largest(element, control, "ctrlrange", reading))
    bodies.joints[joint.name] = replace(joint, reflected_inertia=0.0)
    return ActuatorSpec(
        name=name,
        joint=joint.name,
        place=node.place,
        effort_limit=min(abs(gear) * force, joint.axes[0].effort),
        rotor_inertia=joint.reflected_inertia / (gear * gear),
        gear_ratio=gear,
        controller_gains=gains if any(gains) else None,
    )


def _law_after(law, node):
    """The law of an element, or of one in a default class, from the law of the classes around it."""
    same = law.kind in ("general", node.tag)
    if node.tag == "motor":
        return _Law("motor")
    if node.tag == "position":
        kp = node.number("kp", law.gain if same else 1.0)
        kv = node.number("kv", -law.bias[2] if same else 0.0)
        return _Law("position", kp, (0.0, -kp, -kv), affine=True)
    if node.tag == "velocity":
        kv = node.number("kv", law.gain if same else 1.0)
        return _Law("velocity", kv, (0.0, 0.0, -kv), affine=True)
    own = WithDefaults(node)
    gain = own.vector("gainprm", 10, (law.gain,), least=1)[0]
    bias = own.vector("biasprm", 10, law.bias, least=1)[:3]
    bias = (*bias, *law.bias[len(bias) :])
    kinds = {name: node.attribute(name) for name in ("gaintype", "biastype", "dyntype")}
    linear = law.linear and kinds["gaintype"] in (None, "fixed") and kinds["dyntype"] in (None, "none")
    linear = linear and kinds["biastype"] in (None, "none", "affine")
    affine = law.affine if kinds["biastype"] is None else kinds["biastype"] == "affine"
    return _Law("general", gain, bias, affine, linear)


def _controller_gains(law, gear):
    """(p, d) at the joint, zeros for a plain motor; None if the law is neither that nor a servo."""
    if not law.affine or not any(law.bias):
        return 0.0, 0.0
    constant, p, d = (-value + 0.0 for value in law.bias)
    is_servo = constant == 0 and p >= 0 and d >= 0 and law.gain == (p or d)
    return (gear * gear * p, gear * gear * d) if is_servo else None


def _largest(element, limits, attribute, reading):
    """The larger side of a range: an effort limit is the same both ways."""
    lower, upper = limits
    if lower != -upper:
        reading.unused.add(element, attribute, "a limit is the same both ways, the larger side is taken")
    return max(abs(lower), abs(upper))


def _driven_joint(node, reading, bodies):
    """The JointSpec of the joint that an actuator drives; None after a finding."""
    other = [name for name in _OTHER_TRANSMISSIONS if node.attribute(name) is not None]
    if other:
        reading.unused.add_element(node, f"an actuator on a {other[0]} is not supported: {AS_IF_ABSENT}")
        return None
    stated = [name for name in ("joint", "jointinparent") if node.attribute(name) is not None]
    if not stated:
        node.diagnostics.error("ATTRIBUTE_MISSING", f'<{node.tag}> must have the attribute "joint"', node)
        return None
    name = find_named(node, stated[0], "joint", bodies.all_joints)
    joint = bodies.joints.get(name)
    if name is not None and (joint is None or len(joint.axes) != 1):
        reading.unused.add_element(
            node, f"an actuator on a joint of several coordinates is not supported: {AS_IF_ABSENT}"
        )
        return None
    return joint
