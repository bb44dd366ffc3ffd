"""Joints of MJCF bodies. Several joints of one body follow one another, with massless links between them.

All joints of a body have their place and axis in the frame of the body, which all its links share where the joints
stand at their `ref`.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import report_duplicate
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.joint_kinds import BALL, FREE, HINGE, SLIDE
from mbcli.parsers.mjcf.mjcf_known import READ
from mbcli.parsers.mjcf.mjcf_softness import DEFAULTS, softness_of, usable_softness
from mbcli.parsers.mjcf.mjcf_values import WithDefaults, read_unsigned, report_negative
from mbcli.parsers.poses import rotation_about
from mbcli.parsers.spec import IDENTITY, AxisSpec, JointSpec, LinkSpec, pose

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any, Protocol, TypeAlias

    from mbcli.parsers.mjcf.mjcf_values import Parts, Reading
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix3, Matrix4, Vector3

    Placed: TypeAlias = tuple[Node, str | None, Matrix4]  # (node, childclass, X_BF of the frame it stands in)

    class Body(Protocol):
        """What is asked of a body, see mjcf_bodies.py."""

        name: str
        node: Node
        joints: list[Placed]
        touches_parent: bool

    class Bodies(Protocol):
        """What is asked of the BodyReader, see mjcf_bodies.py."""

        reading: Reading
        links: dict[str, LinkSpec]
        joints: dict[str, JointSpec]
        coordinates: list[tuple[str, str]]
        joint_elements: dict[str, WithDefaults]
        free_joints: dict[str, str]

        @property
        def all_joints(self) -> Collection[str]: ...

        def unused_name(self, name: str) -> str: ...
        def unused_joint_name(self, name: str) -> str: ...


_TYPES = {HINGE: "revolute", SLIDE: "prismatic", BALL: "ball", FREE: "quaternion_floating"}
_MEANINGLESS = {  # attributes that say nothing of a joint of several coordinates
    "ball": ("axis", "ref", "springref", "actuatorfrcrange", "actuatorfrclimited"),
    "free": ("pos", "axis", "ref", "springref", "limited", "range", "margin", "actuatorfrcrange", "actuatorfrclimited"),
}
_PARTS = {"range": "limit", "stiffness": "spring", "frictionloss": "frictionloss", "damping": "damper"}  # in Options
SLIGHT_FRICTION = 0.01  # [N/kg, N m/kg]: a thousandth of the weight, which a free body does not feel


def read_joints(bodies: Bodies, body: Body, parent: str, X_PB: Matrix4) -> None:
    """Adds the joints of a body to `bodies`, and the links between them after the link of the body.

    bodies: `BodyReader`; parent: name of the parent link; X_PB: pose of the body in it in the reference configuration.
    """
    elements = []
    for node, childclass, X_BF in body.joints:
        if node.tag == "freejoint":
            element = WithDefaults(node)
            if node.attribute("align") == "true":
                bodies.reading.unused.add(element, "align", "the body keeps the frame of the file")
        else:
            element = bodies.reading.defaults.of(node, childclass)
        elements.append((element, X_BF))
    kinds = [_type_of(element) for element, _ in elements]
    if "free" in kinds:
        _read_free(bodies, body, elements, parent)
        return
    _make_links_between(bodies, body, parent, X_PB, elements, kinds)


def _type_of(element: WithDefaults) -> str:
    return "free" if element.tag == "freejoint" else element.keyword("type", tuple(_TYPES), "hinge")


def _read_free(bodies: Bodies, body: Body, elements: Sequence[tuple[WithDefaults, Matrix4]], parent: str) -> None:
    """A free joint makes a JointSpec if it has damping or inertia: a body that nothing holds is free anyway."""
    element = elements[0][0]
    if len(elements) > 1 or parent != WORLD:
        problem = "must be the only joint of its body" if len(elements) > 1 else "is for children of the world"
        element.diagnostics.error("ELEMENT_INVALID", f"a free joint {problem}", element.node)
    name = element.node.attribute("name")
    damping = armature = 0.0
    if element.tag == "joint":
        for attribute in READ["joint"]:  # also those that a free joint does not have
            element.attribute(attribute)
        damping, armature = read_linear(bodies.reading, element, "damping"), read_unsigned(element, "armature")
        _pass_over(element, "free")
        inertial = bodies.links[body.name].inertial
        felt = SLIGHT_FRICTION * (0.0 if inertial is None else inertial.mass)
        slight = element.number("frictionloss", 0.0) <= felt
        for attribute, harmless in (("stiffness", False), ("frictionloss", slight)):
            _warn_unless_zero(bodies, element, attribute, "a free joint has none here", harmless)
    if damping or armature:
        X_WB = bodies.links[body.name].X_ModelL
        numbers: dict[str, Any] = {"damping": (damping, damping), "reflected_inertia": armature, "default_pose": X_WB}
        ends = WORLD, body.name, IDENTITY, IDENTITY, element.place
        joint = JointSpec(name or bodies.unused_joint_name(body.name), _TYPES[FREE], *ends, **numbers)
        bodies.coordinates.append(("floating", joint.name))
        _add(bodies, joint, element)
        return
    bodies.coordinates.append(("free", body.name))
    if name is not None:
        bodies.free_joints[name] = body.name


def _pass_over(element: WithDefaults, kind: str) -> None:
    """Reads what has no meaning for a kind of joint."""
    for name in _MEANINGLESS[kind]:
        element.attribute(name)


def _make_links_between(
    bodies: Bodies,
    body: Body,
    parent: str,
    X_PB: Matrix4,
    elements: Sequence[tuple[WithDefaults, Matrix4]],
    kinds: Sequence[str],
) -> None:
    X_PB = pose(X_PB[:3, :3], X_PB[:3, 3])
    chain = [bodies.unused_name(f"{body.name}{k}") for k in range(len(elements) - 1)]
    for name in chain:
        bodies.links[name] = LinkSpec(name=name, place=body.node.place, X_ModelL=bodies.links[body.name].X_ModelL)
    for (element, X_BF), kind, child in zip(elements, kinds, [*chain, body.name], strict=True):
        joint = _read_joint(bodies, element, kind, X_BF, parent, child)
        X_PF = pose(*_split(X_PB @ joint.X_PF))
        bodies.coordinates.append((kind, joint.name))
        _add(bodies, replace(joint, X_PF=X_PF, collides_with_parent=body.touches_parent), element)
        parent, X_PB = child, np.eye(4)


def _add(bodies: Bodies, joint: JointSpec, element: WithDefaults) -> None:
    if joint.name in bodies.all_joints:
        first = bodies.joints.get(joint.name, joint)
        report_duplicate(element.node, "joint", joint.name, first.place)
    bodies.joints[joint.name] = joint
    bodies.joint_elements[joint.name] = element


def _split(X: Matrix4) -> tuple[Matrix3, Vector3]:
    return X[:3, :3], X[:3, 3]


def _read_joint(bodies: Bodies, element: WithDefaults, kind: str, X_BF: Matrix4, parent: str, child: str) -> JointSpec:
    """A JointSpec whose X_PF is the pose of its frame F in the body that is moved."""
    settings, options = bodies.reading.settings_of(element), bodies.reading.options
    position = X_BF[:3, :3] @ np.array(element.vector("pos", 3, (0.0, 0.0, 0.0))) + X_BF[:3, 3]
    damping = read_linear(bodies.reading, element, "damping")
    common: dict[str, Any] = {
        "name": element.node.attribute("name") or bodies.unused_joint_name(f"{parent}-{child}"),
        "type": _TYPES[kind],
        "parent": parent,
        "child": child,
        "X_PF": pose(None, position),
        "place": element.place,
        "reflected_inertia": read_unsigned(element, "armature"),
    }
    if kind == "ball":
        _pass_over(element, kind)
        _, most = read_stops(element, bodies.reading, settings.angle)  # the larger one, as the other is to be 0
        return JointSpec(
            X_CM=pose(None, position),
            damping=(damping,),
            stiffness=read_linear(bodies.reading, element, "stiffness"),
            friction=read_unsigned(element, "frictionloss") if options.has("frictionloss") else 0.0,
            turn_limit=most,
            **common,
        )
    axis = X_BF[:3, :3] @ _unit_axis(element)
    unit = settings.angle if kind == "hinge" else 1.0
    reference = element.number("ref", 0.0) * unit
    lower, upper = read_stops(element, bodies.reading, unit)
    force = read_force_range(element, bodies.reading)
    element.flag("actuatorgravcomp", False)  # see mjcf_transmissions.py
    spec = AxisSpec(
        xyz=tuple(axis.tolist()),
        place=element.place,
        lower=lower,
        upper=upper,
        effort=max(abs(force[0]), abs(force[1])),
        damping=damping,
        friction=read_unsigned(element, "frictionloss") if options.has("frictionloss") else 0.0,
        spring_reference=element.number("springref", 0.0) * unit,
        spring_stiffness=read_linear(bodies.reading, element, "stiffness"),
        default_position=reference,
        softness=_softness_of_stops(element, options),
    )
    return JointSpec(X_CM=_child_frame(kind, position, axis, reference), axes=(spec,), **common)


def set_springs_by_time(bodies: Bodies, inertias: Callable[[], Mapping[str, float] | None]) -> None:
    """Gives joints the springs and dampers of which <springdamper> states the time constant T [s] and damping ratio z.

    They make a mass-spring-damper of the inertia I of a joint: k = I / (T z)^2, d = 2 I / T. inertias: () -> {joint: I
    [kg m^2 or kg]}, or None if they are not known.
    """
    wanted = {}
    for name, element in bodies.joint_elements.items():
        time, ratio = element.vector("springdamper", 2, (0.0, 0.0)) if element.tag == "joint" else (0.0, 0.0)
        if time > 0 and ratio > 0 and (len(bodies.joints[name].axes) == 1 or bodies.joints[name].kind.is_ball):
            wanted[name] = time, ratio
    found = (inertias() or {}) if wanted else {}
    for name, (time, ratio) in wanted.items():
        if name not in found:
            element = bodies.joint_elements[name]
            bodies.reading.unused.add(element, "springdamper", "the mass that the joint moves is not known")
            continue
        joint, inertia = bodies.joints[name], found[name]
        stiffness, damping = inertia / (time * ratio) ** 2, 2.0 * inertia / time
        if joint.axes:
            axis = replace(joint.axes[0], spring_stiffness=stiffness, damping=damping)
            bodies.joints[name] = replace(joint, axes=(axis,))
        else:
            bodies.joints[name] = replace(joint, stiffness=stiffness, damping=(damping,))


def _softness_of_stops(element: WithDefaults, options: Parts) -> tuple[float, ...] | None:
    """As AxisSpec has it; MuJoCo takes a margin in radians whatever the unit of angles is."""
    softness, margin = softness_of(element, "limit", options), element.number("margin", 0.0)
    if softness is None and margin <= 0.0:
        return None
    return (*(softness or usable_softness(*DEFAULTS)), max(margin, 0.0))


def _child_frame(kind: str, position: Vector3, axis: Vector3, reference: float) -> Matrix4:
    """X_CM such that the body stands where the file puts it while the joint is at its reference."""
    if kind == "slide":
        return pose(None, position + reference * axis)
    return pose(rotation_about(axis, reference) if reference else None, position)


def _unit_axis(element: WithDefaults) -> Vector3:
    axis = np.array(element.vector("axis", 3, (0.0, 0.0, 1.0)))
    length = np.linalg.norm(axis)
    if length > 1e-10:
        return axis / length
    element.diagnostics.error(
        "JOINT_AXIS_INVALID", "the axis of a joint must not be zero", element.owner("axis"), attribute="axis"
    )
    return np.array([0.0, 0.0, 1.0])


def read_linear(reading: Reading, element: WithDefaults, name: str) -> float:
    """The coefficient of a spring or damper whose force may be a polynomial; 0 if the file switches them off."""
    values = element.vector(name, 3, (0.0,), least=1)
    if any(values[1:]):
        reading.unused.add(element, name, "its force is linear, of the first coefficient alone")
    if values[0] < 0:
        report_negative(element, name, values[0])
    return max(values[0], 0.0) if reading.options.has(_PARTS[name]) else 0.0


def read_stops(element: WithDefaults, reading: Reading, unit: float) -> tuple[float, float]:
    """(lower, upper) of the range of a joint or tendon, infinite without limits. Its margin is that of a soft stop."""
    limits = read_limits(element, "limited", "range", reading.settings_of(element).autolimits, unit)
    return limits if reading.options.has("limit") else (-inf, inf)


def read_force_range(element: WithDefaults, reading: Reading) -> tuple[float, float]:
    """(lower, upper) of the forces of all actuators of a joint or tendon together, infinite without limits."""
    autolimits = reading.settings_of(element).autolimits
    return read_limits(element, "actuatorfrclimited", "actuatorfrcrange", autolimits, 1.0)


def read_limits(element: WithDefaults, flag: str, attribute: str, autolimits: bool, unit: float) -> tuple[float, float]:
    """(lower, upper) of a range that is switched by another attribute; infinite if it is off."""
    limited = element.flag(flag, "auto")
    stated = element.vector(attribute, 2, allow_inf=True)
    problem = None
    if limited == "auto" and stated is not None and not autolimits:
        problem = f'{attribute} without {flag}: without autolimits, say {flag}="true" or "false"'
    elif limited is True and (stated is None or stated[0] >= stated[1]):
        problem = f'{flag}="true" needs a {attribute} whose first number is below the second'
    if problem:
        code = "JOINT_LIMIT_INVALID" if element.tag == "joint" else "ATTRIBUTE_INVALID"
        owner = element.owner(attribute) or element.owner(flag)
        element.diagnostics.error(code, problem, owner, attribute=attribute if stated else flag)
        return -inf, inf
    if limited == "auto" and stated is not None and stated[0] > stated[1]:
        element.diagnostics.warning(
            "JOINT_LIMIT_INVALID" if element.tag == "joint" else "ATTRIBUTE_INVALID",
            f"{attribute} is reversed: it sets no limits",
            element.owner(attribute),
            attribute=attribute,
            value=element.attribute(attribute),
        )
    if limited is False or stated is None or stated[0] >= stated[1]:
        return -inf, inf
    return stated[0] * unit, stated[1] * unit


def _warn_unless_zero(
    bodies: Bodies, element: WithDefaults, attribute: str, consequence: str, harmless: bool = False
) -> None:
    value = element.attribute(attribute) if bodies.reading.options.has(_PARTS.get(attribute, "")) else None
    if value is not None and any(token.strip("+-0.") for token in value.split()):
        bodies.reading.unused.add(element, attribute, consequence, harmless=harmless)
