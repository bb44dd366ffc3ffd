"""Actuators of MJCF files.

Each kind but muscles is a case of: force = (g0 + g1 l + g2 ldot) x + b0 + b1 l + b2 ldot, limited, with l = gear q, and
the joint feels gear times this force; x is the control or the activation. What drives one joint of one coordinate by
its control is an actuator on that joint, all else one that acts through a transmission: mjcf_transmissions.py. On a
joint, without the b it is an actuator of the plant, whose input is the force on the joint; with b1 and b2 that are not
positive it is a PD controller, which aims where its force is 0. The plant's input is the output of the gear, so that
limits and gains are those at the joint. A control that nobody sets is 0, or the limit next to it: there such a
controller aims.

Formulas: https://mujoco.readthedocs.io/en/stable/computation/index.html#actuation-model
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, sqrt
from typing import TYPE_CHECKING

from mbcli.parsers.duplicate_names import generated_name, report_duplicate
from mbcli.parsers.mjcf.mjcf_joints import read_limits
from mbcli.parsers.mjcf.mjcf_known import ACTUATORS, OTHER_ACTUATORS
from mbcli.parsers.mjcf.mjcf_mass_matrix import reflected_inertias
from mbcli.parsers.mjcf.mjcf_transmissions import Driven, TransmissionReader, is_lopsided
from mbcli.parsers.mjcf.mjcf_values import AS_IF_ABSENT, WithDefaults, read_unsigned
from mbcli.parsers.spec import ActuatorLaw, ActuatorSpec, ServoControl, TransmissionActuatorSpec

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from mbcli.parsers.mjcf.mjcf_bodies import BodyReader
    from mbcli.parsers.mjcf.mjcf_tendons import FixedTendon, Tendons
    from mbcli.parsers.mjcf.mjcf_values import Reading
    from mbcli.parsers.spec import AxisSpec, JointSpec
    from mbcli.parsers.xml_node import Node

_NONE = (0.0, 0.0, 0.0)
_NO_LIMITS = -inf, inf
# range, force, scale, lmin, lmax, vmax, fpmax, fvmax of a muscle
_MUSCLE = (0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2)
_MUSCLE_TIMES = (0.01, 0.04, 0.0)
_SERVOS = ("position", "intvelocity", "pid")


@dataclass(frozen=True, slots=True)
class _Law:
    """gain . (1, l, ldot) control + bias . (1, l, ldot)."""

    kind: str = "general"  # the element that stated it last
    gain: tuple[float, float, float] = (1.0, 0.0, 0.0)
    bias: tuple[float, float, float] = _NONE
    gaintype: str = "fixed"
    biastype: str = "none"
    dyntype: str = "none"
    dampratio: float = 0.0
    more_gain: tuple[float, ...] = (0.0,) * 6  # numbers of a muscle behind the first three
    more_bias: tuple[float, ...] = (0.0,) * 6
    dynamics: tuple[float, ...] = (1.0, 0.0, 0.0)  # time constants

    def with_ratio(self) -> _Law:
        """A general position servo states its damping ratio as a b2 that is positive."""
        is_servo = self.gaintype == "fixed" and self.biastype == "affine" and self.gain[0] == -self.bias[1] != 0.0
        if not is_servo or self.bias[2] <= 0.0:
            return self
        return replace(self, bias=(*self.bias[:2], 0.0), dampratio=self.bias[2])

    def at(self, control: float) -> tuple[float, ...]:
        """b0, b1, b2 with the force of a control in them."""
        return tuple(g * control + b for g, b in zip(self.affine_gain(), self.affine_bias(), strict=True))

    def affine_gain(self) -> tuple[float, ...]:
        """g0, g1, g2."""
        return self.gain if self.gaintype == "affine" else (self.gain[0], 0.0, 0.0)

    def affine_bias(self) -> tuple[float, ...]:
        """b0, b1, b2."""
        return self.bias if self.biastype == "affine" else _NONE


def read_actuators(
    root: Node, reading: Reading, bodies: BodyReader, tendons: Tendons
) -> tuple[tuple[ActuatorSpec, ...], tuple[TransmissionActuatorSpec, ...]]:
    """The `ActuatorSpec`s of a file in its order, and the others. Joints whose reflected inertia they take are changed
    in `bodies`.

    tendons: `Tendons`, read after the equalities by which joints follow others.
    """
    reader = _ActuatorReader(root, reading, bodies, tendons)
    for section in root.children("actuator"):
        reading.actuator_nodes.update({node.raw("name"): node for node in section.child_nodes if node.raw("name")})
        for node in section.children(*OTHER_ACTUATORS.split()):
            node.unsupported(AS_IF_ABSENT)
        for node in section.children(*ACTUATORS.split()):
            reader.read(node)
    return tuple(reader.finished()), tuple(reader.others.values())


class _ActuatorReader:
    def __init__(self, root: Node, reading: Reading, bodies: BodyReader, tendons: Tendons) -> None:
        self._reading = reading
        self._tendons = tendons
        self._bodies = bodies
        self._stated = {node.raw("name") for section in root.children("actuator") for node in section.child_nodes}
        self._actuators: dict[str, ActuatorSpec] = {}
        self.others: dict[str, TransmissionActuatorSpec] = {}
        self._transmissions = TransmissionReader(root, reading, bodies, tendons)
        self._damped: dict[str, tuple[Node, float]] = {}  # name -> (node, damping ratio)

    def read(self, node: Node) -> None:
        """Adds the actuator of an element, or reports why it is left out."""
        element = self._reading.defaults.of_actuator(node)
        name = node.attribute("name") or generated_name(
            f"motor{len(self._actuators) + len(self.others)}", self._stated
        )  # as Drake calls it
        law = _Law()
        for stated in (*element.defaults, node):
            law = _law_after(law, stated)
        law = _Law("idle", gain=_NONE) if self._is_idle(element) else law.with_ratio()
        control, force = (self._range(element, kind) for kind in ("ctrl", "force"))
        for known in (self._actuators.get(name), self.others.get(name)):
            if known is not None:
                report_duplicate(node, "actuator", name, known.place)
        driven = self._driven(node, law) if _acts_at_once(law) and law.kind != "idle" else None
        if driven is None:
            self._read_other(node, element, name, law, control, force)
            return
        joint, ratio, offset = driven
        own_gear = element.vector("gear", 6, (1.0,), least=1)[0]
        gear = own_gear * ratio
        if node.attribute("tendon") is None:
            control = _inherited_range(element, node, law, joint) or control
        at_rest = min(max(0.0, control[0]), control[1])
        b0, b1, b2 = law.at(at_rest)
        b0 += b1 * own_gear * offset
        problem = _problem(law, gear, b1, b2)
        if problem:
            self._transmissions.leave_out(node, problem)
            return
        is_servo = bool(b1 or b2)
        if not _holds(law, b1, b2) or is_lopsided(force) or (not is_servo and is_lopsided(control)):
            self._read_other(node, element, name, law, control, force)
            return
        self._warn_of_changes(element, law, push=0.0 if b1 or b2 else b0)
        effort = force[1] if is_servo else min(force[1], abs(law.gain[0]) * control[1])
        joint = self._with_damping(joint, element, gear)
        self._bodies.joints[joint.name] = replace(joint, reflected_inertia=0.0)
        self._actuators[name] = ActuatorSpec(
            name=name,
            joint=joint.name,
            place=node.place,
            effort_limit=min(abs(gear) * effort, joint.axes[0].effort),
            rotor_inertia=joint.reflected_inertia / (gear * gear) + read_unsigned(element, "armature"),
            gear_ratio=gear,
            controller_gains=(-b1 * gear * gear + 0.0, -b2 * gear * gear + 0.0) if is_servo else None,
            rest=_rest(b0, b1, b2, gear, joint.axes[0]) if is_servo else None,
            control=ServoControl(_control_force(law, gear), at_rest, control) if is_servo else None,
        )
        if law.dampratio and is_servo:  # a class of servos may give it to what is none
            self._damped[name] = node, law.dampratio

    def _is_idle(self, element: WithDefaults) -> bool:
        """Whether it is of a group that is switched off: it has a control and no force."""
        return element.number("group", 0.0) in self._reading.options.idle_groups

    def _driven(self, node: Node, law: _Law) -> tuple[JointSpec, float, float] | None:
        """(JointSpec, c, L0) of an actuator on the length c q + L0 of a joint at q; None of another one.

        A damping ratio on a tendon is by the masses that its own force moves, not by that of the joint that leads;
        limits of the forces on a tendon are those of all actuators on it.
        """
        name = node.attribute("tendon")
        if name is not None:
            if law.dampratio or name in self._tendons.forces:
                return None
            leader = _leader_of(self._tendons.fixed.get(name), self._bodies.joints)
            return None if leader is None or self._transmissions.is_lopsided(leader[0]) else leader
        joint = self._bodies.joints.get(node.attribute("joint") or node.attribute("jointinparent") or "")
        if joint is None or len(joint.axes) != 1 or self._transmissions.shares_limit(joint):
            return None
        return joint, 1.0, 0.0

    def _read_other(
        self,
        node: Node,
        element: WithDefaults,
        name: str,
        law: _Law,
        control: tuple[float, float],
        force: tuple[float, float],
    ) -> None:
        """Adds an actuator that acts through a transmission."""
        driven = self._transmissions.read(node, element)
        if driven is None:
            return
        if law.gaintype not in _KINDS or law.biastype not in ("none", *_KINDS) or law.dyntype not in DYNAMICS:
            self._transmissions.leave_out(node, "an actuator of this kind is not supported")
            return
        if driven.transmission.kind == "contact" and _depends_on_motion(law):
            self._transmissions.leave_out(node, "a pull at contacts that depends on the motion is not supported")
            return
        if node.tag == "adhesion" and not _can_only_pull(element, law):
            return
        gear = driven.transmission.gear[0]
        lengths, within = self._lengths(element, driven, gear, "muscle" in (law.gaintype, law.biastype))
        activation, together = self._range(element, "act"), (-inf, inf)
        if law.dyntype == "integrator":
            activation = _inherited_limits(element, law, driven.limits) or activation
        elif node.attribute("ctrlrange") is None or node.tag != "position":
            control = _inherited_limits(element, law, driven.limits) or control
        least, most = driven.forces
        if driven.shared:
            together = driven.forces
        elif gear and not (law.gaintype == "fixed" and driven.transmission.kind in ("site", "site in site")):
            low, high = sorted((least / gear, most / gear))
            force = max(force[0], low), min(force[1], high)
        self._give_drive(element, driven)
        for attribute in ("ki", "slewmax"):
            if element.number(attribute, 0.0):
                self._reading.unused.add(element, attribute, "a controller has no state of its own")
        self.others[name] = TransmissionActuatorSpec(
            name,
            driven.transmission,
            ActuatorLaw(
                gain=(*law.gain, *law.more_gain) if law.gaintype == "muscle" else law.affine_gain(),
                bias=(*law.bias, *law.more_bias) if law.biastype == "muscle" else law.affine_bias(),
                gain_kind="muscle" if law.gaintype == "muscle" else "affine",
                bias_kind=law.biastype,
                dynamics=law.dyntype,
                dynamics_numbers=law.dynamics,
                control=control,
                force=force,
                activation=activation,
                is_early=bool(element.flag("actearly", False)),
                lengths=lengths,
                within=within,
                together=together,
                damping_ratio=law.dampratio,
                bears_weight=driven.bears,
            ),
            node.place,
        )

    def _lengths(
        self, element: WithDefaults, driven: Driven, gear: float, is_muscle: bool
    ) -> tuple[tuple[float, float] | None, tuple[float, float]]:
        """The range of the length that the file states, or None; and limits of one that is found."""
        stated = element.vector("lengthrange", 2, (0.0, 0.0))
        given = stated[0], stated[1]
        settings = self._reading.settings_of(element).length_ranges
        if not is_muscle or settings.mode == "none" or (settings.useexisting and stated[0] < stated[1]):
            return given, _NO_LIMITS
        limits = driven.limits
        if gear:
            lower, upper = sorted((gear * limits[0], gear * limits[1]))
            limits = lower, upper
        if settings.uselimit and -inf < limits[0] < limits[1] < inf:
            return limits, _NO_LIMITS
        return None, limits

    def finished(self) -> Iterable[ActuatorSpec]:
        """The `ActuatorSpec`s, with dampers by damping ratios."""
        self._tendons.springs += self._transmissions.idle_bearers()
        self._transmissions.warn_of_sums([actuator.joint for actuator in self._actuators.values()])
        if any(other.transmission.kind == "contact" for other in self.others.values()):
            for element in self._reading.gaps:
                self._reading.unused.add(element, "gap", "adhesion pulls at what touches, not across a gap")
        if self._damped:
            inertias = joint_inertias(self._bodies, self._actuators.values())
            for name, (node, ratio) in self._damped.items():
                self._actuators[name] = self._with_damper(self._actuators[name], node, ratio, inertias)
        return self._actuators.values()

    def _with_damper(
        self, actuator: ActuatorSpec, node: Node, ratio: float, inertias: Mapping[str, float] | None
    ) -> ActuatorSpec:
        gains: Any = actuator.controller_gains
        p, d = gains
        inertia = inertias.get(actuator.joint) if inertias else None
        if inertia is None:
            problem = "a damping ratio needs the mass that the actuator moves, which is not known: it has no damper"
            self._reading.unused.add_element(node, problem, used=True)
            return actuator
        return replace(actuator, controller_gains=(p, d + 2.0 * ratio * sqrt(p * inertia)))

    def _warn_of_changes(self, element: WithDefaults, law: _Law, push: float) -> None:
        if push:
            problem = (
                "without a control an actuator pushes in MuJoCo, by its bias or the least of its ctrlrange, not here"
            )
            self._reading.unused.add_element(element, problem, used=True)
        for attribute in ("ki", "slewmax"):
            if element.number(attribute, 0.0):
                self._reading.unused.add(element, attribute, "a controller has no state of its own")

    def _range(self, element: WithDefaults, kind: str) -> tuple[float, float]:
        return read_limits(
            element, f"{kind}limited", f"{kind}range", self._reading.settings_of(element).autolimits, 1.0
        )

    def _with_damping(self, joint: JointSpec, element: WithDefaults, gear: float) -> JointSpec:
        """The joint with the damper of the actuator."""
        damping, axis = read_unsigned(element, "damping", least=1), joint.axes[0]
        return replace(joint, axes=(replace(axis, damping=axis.damping + gear * gear * damping),))

    def _give_drive(self, element: WithDefaults, driven: Driven) -> None:
        """Inertia and damper of an actuator that is none of the plant's own are its joint's, if it acts on one."""
        given = driven.transmission
        if given.kind == "sum" and given.coefficients == (1.0,) and element.node.attribute("tendon") is None:
            joint = self._with_damping(self._bodies.joints[given.joints[0]], element, given.gear[0])
            inertia = joint.reflected_inertia + given.gear[0] ** 2 * read_unsigned(element, "armature")
            self._bodies.joints[joint.name] = replace(joint, reflected_inertia=inertia)
            return
        for attribute in ("armature", "damping"):
            if read_unsigned(element, attribute, least=1):
                self._reading.unused.add(element, attribute, "it is that of an actuator on a joint alone")


def joint_inertias(bodies: BodyReader, actuators: Iterable[ActuatorSpec]) -> dict[str, float] | None:
    """{joint: [kg m^2 or kg]} what joints move in the reference configuration, their drives included; or None."""
    armatures = {joint.name: joint.reflected_inertia for joint in bodies.joints.values()}
    for actuator in actuators:
        armatures[actuator.joint] += actuator.rotor_inertia * actuator.gear_ratio**2
    return reflected_inertias(bodies.links, bodies.joints, armatures)


def _control_force(law: _Law, gear: float) -> float | None:
    """Force on the joint of a unit of control; None if it depends on the motion."""
    return None if law.gaintype == "affine" and any(law.gain[1:]) else gear * law.gain[0]


def _rest(b0: float, b1: float, b2: float, gear: float, axis: AxisSpec) -> tuple[float, float] | None:
    """The position and velocity at which a servo is at rest; None for the default position at rest."""
    if b1:
        rest = -b0 / b1 / gear, 0.0
        return None if rest[0] == axis.default_position else rest
    return (axis.default_position, -b0 / b2 / gear) if b0 else None


def _inherited_range(element: WithDefaults, node: Node, law: _Law, joint: JointSpec) -> tuple[float, float] | None:
    """The range of a control that is that of the joint, scaled about its middle; None if it is not asked for.

    As in MuJoCo it is that of servos whose control is a position; a range that a <position> states itself counts more.
    """
    if node.tag == "position" and node.attribute("ctrlrange") is not None:
        return None
    return _inherited_limits(element, law, (joint.axes[0].lower, joint.axes[0].upper))


def _inherited_limits(element: WithDefaults, law: _Law, limits: tuple[float, float]) -> tuple[float, float] | None:
    """Limits, scaled about their middle, as the range of a servo whose control, or its integral, is a position."""
    scale = element.number("inheritrange", 0.0)
    if (law.gaintype, law.biastype) != ("fixed", "affine") or law.gain[0] != -law.bias[1]:
        return None
    lower, upper = limits
    if scale <= 0 or not -inf < lower <= upper < inf:
        return None
    middle, half = (lower + upper) / 2.0, scale * (upper - lower) / 2.0
    return middle - half, middle + half


def _problem(law: _Law, gear: float, b1: float, b2: float) -> str | None:
    """Why an actuator on a joint does nothing, or None."""
    if not 0 < gear * gear < inf:
        return "an actuator without gear is not supported"
    if not (b1 or b2 or any(law.gain)):
        return "an actuator without gain is not supported"
    return None


def _acts_at_once(law: _Law) -> bool:
    """Whether its force is affine in the control."""
    return law.gaintype in ("fixed", "affine") and law.biastype in ("none", "affine") and law.dyntype == "none"


def _depends_on_motion(law: _Law) -> bool:
    """Whether its force is another one at another length or rate."""
    moving = "muscle" in (law.gaintype, law.biastype)
    return moving or any(law.affine_gain()[1:]) or any(law.affine_bias()[1:])


def _can_only_pull(element: WithDefaults, law: _Law) -> bool:
    """Whether an <adhesion> has a range of controls, none negative, and a gain that is not; else after an error."""
    limits, name = element.vector("ctrlrange", 2), "ctrlrange"
    if limits is None or not 0.0 <= limits[0] < limits[1]:
        problem = "adhesion needs a ctrlrange that is not negative, the first number below the second"
    elif law.gain[0] < 0.0:
        problem, name = "the gain of adhesion is negative", "gain"
    else:
        return True
    owner = element.owner(name) or element.node
    element.diagnostics.error("ATTRIBUTE_INVALID", problem, owner, attribute=name if element.owner(name) else None)
    return False


def _holds(law: _Law, b1: float, b2: float) -> bool:
    """Whether an actuator on a joint can hold the law: a force, or a controller that drives to its aim."""
    return b1 <= 0.0 and b2 <= 0.0 and not any(law.affine_gain()[1:])


# --------------------------------------------------------------------------------------------- laws


def _law_after(law: _Law, node: Node) -> _Law:
    """The law of an element, or of one in a default class, from the law of the classes around it."""
    reader = _LAWS.get(node.tag, _servo)
    return reader(law, node)


def _motor(law: _Law, node: Node) -> _Law:
    return _Law("motor")


def _servo(law: _Law, node: Node) -> _Law:
    """Position, velocity, intvelocity and pid: they take what they do not state from a class of the same kind."""
    same = law if law.kind in ("general", node.tag) else _Law()
    held = node.tag in _SERVOS
    kp = node.number("kp", same.gain[0])
    kv = node.number("kv", -same.bias[2] if held else same.gain[0])
    stated_kv = node.attribute("kv") is not None
    ratio = node.number("dampratio", 0.0 if stated_kv else same.dampratio) if held else 0.0
    dyntype = {"intvelocity": "integrator"}.get(node.tag, same.dyntype if same.kind == node.tag else "none")
    time = node.number("timeconst", 0.0)
    if time > 0.0:
        dyntype = "filterexact"
    gain = (kp if held else kv, 0.0, 0.0)
    bias = (0.0, -kp, -kv) if held else (0.0, 0.0, -kv)
    times = (time, 0.0, 0.0) if time > 0.0 else same.dynamics
    return _Law(node.tag, gain, bias, "fixed", "affine", dyntype, ratio, dynamics=times)


def _damper(law: _Law, node: Node) -> _Law:
    kv = node.number("kv", -law.gain[2] if law.kind in ("general", "damper") else 1.0)
    return _Law("damper", (0.0, 0.0, -kv), gaintype="affine")


def _cylinder(law: _Law, node: Node) -> _Law:
    same = law if law.kind in ("general", "cylinder") else _Law()
    diameter = node.number("diameter")
    area = node.number("area", same.gain[0]) if diameter is None else 0.7853981633974483 * diameter**2
    bias = node.vector("bias", 3, same.bias)
    times = (node.number("timeconst", same.dynamics[0]), 0.0, 0.0)
    return _Law("cylinder", (area, 0.0, 0.0), bias, "fixed", "affine", "filter", dynamics=times)


def _muscle(law: _Law, node: Node) -> _Law:
    same = law.gaintype == "muscle"
    numbers = [*law.gain, *law.more_gain] if same else list(_MUSCLE)
    times = list(law.dynamics if same else _MUSCLE_TIMES)
    times[:2] = node.vector("timeconst", 2, tuple(times[:2]))
    times[2] = node.number("tausmooth", times[2])
    numbers[:2] = node.vector("range", 2, tuple(numbers[:2]))
    for k, name in enumerate(("force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"), 2):
        numbers[k] = node.number(name, numbers[k])
    first, more = (numbers[0], numbers[1], numbers[2]), tuple(numbers[3:])
    return _Law("muscle", first, first, "muscle", "muscle", "muscle", 0.0, more, more, tuple(times))


def _adhesion(law: _Law, node: Node) -> _Law:
    return _Law("adhesion", (node.number("gain", law.gain[0]), 0.0, 0.0))


def _general(law: _Law, node: Node) -> _Law:
    kinds: dict[str, Any] = {
        name: node.attribute(name) or getattr(law, name) for name in ("gaintype", "biastype", "dyntype")
    }
    gain = _parameters(node, "gainprm", (*law.gain, *law.more_gain))
    bias = _parameters(node, "biasprm", (*law.bias, *law.more_bias))
    times = _parameters(node, "dynprm", law.dynamics) if node.attribute("dynprm") is not None else law.dynamics
    numbers: Any = {"gain": gain[:3], "bias": bias[:3], "more_gain": gain[3:], "more_bias": bias[3:], "dynamics": times}
    return replace(law, kind="general", **numbers, **kinds)


def _parameters(node: Node, name: str, inherited: tuple[float, ...]) -> tuple[float, ...]:
    """The first of up to ten numbers, as many as are inherited: those that are not stated."""
    stated = WithDefaults(node).vector(name, 10, (), least=1)[: len(inherited)]
    return (*stated, *inherited[len(stated) :])


_LAWS = {
    "motor": _motor,
    "damper": _damper,
    "cylinder": _cylinder,
    "general": _general,
    "muscle": _muscle,
    "adhesion": _adhesion,
}
_KINDS = ("fixed", "affine", "muscle")
DYNAMICS = ("none", "integrator", "filter", "filterexact", "muscle")


# ----------------------------------------------------------------------------------------- transmission


def _leader_of(tendon: FixedTendon | None, joints: Mapping[str, JointSpec]) -> tuple[JointSpec, float, float] | None:
    """(JointSpec, c, L0) of a fixed tendon whose joints all follow one, or are it: its length is c q + L0; else None.

    What such a tendon does to its joints is what a force c times as large does to the one that leads.
    """
    leaders, ratio, offset = set(), 0.0, 0.0
    for name, coefficient in (tendon.terms if tendon is not None else {}).items():
        leader, multiplier, start = _leading(joints[name], joints)
        leaders.add(leader.name)
        ratio += coefficient * multiplier
        offset += coefficient * start
    if len(leaders) != 1 or not ratio:
        return None
    return joints[leaders.pop()], ratio, offset


def _leading(joint: JointSpec, joints: Mapping[str, JointSpec]) -> tuple[JointSpec, float, float]:
    """(leader, multiplier, offset): the position of a joint is multiplier * that of the leader + offset."""
    multiplier, offset = 1.0, 0.0
    while (mimic := joint.axes[0].mimic) is not None:  # there are no circles
        offset += multiplier * mimic.offset
        multiplier *= mimic.multiplier
        joint = joints[mimic.leader]
    return joint, multiplier, offset
