"""<gazebo> elements of URDF that say more of a link, a joint or the whole robot, as Gazebo takes them.

Of a link: friction, gravity, whether it acts on its neighbours. What else such an element has is reported; sensors and
plugins have readers of their own. A fault is a warning: the robot is one without it, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mbcli.parsers.proximity_properties import EXPRESSED_IN, set_directed_friction, set_friction
from mbcli.parsers.spec import CollisionFilterGroupSpec
from mbcli.parsers.xml_node import quoted

from mbcli.plugins import NO_SLIP

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from mbcli.parsers.proximity_properties import Properties
    from mbcli.parsers.spec import JointSpec, LinkSpec
    from mbcli.parsers.xml_node import Node

SELF_COLLIDE = ("selfCollide", "self_collide")
ACTING = frozenset(("mu1", "mu2", "fdir1", "gravity", "turnGravityOff", *SELF_COLLIDE))
# elements that motion depends on in Gazebo, and what to do here
UNUSED = {
    "dampingFactor": "state the damping of joints",
    "springStiffness": "joints of URDF have no springs",
    "springReference": "joints of URDF have no springs",
    "static": "--weld fixes a link to the world",
    "slip1": NO_SLIP,
    "slip2": NO_SLIP,
    "enable_wind": "wind acts on links of SDFormat",
    "velocity_decay": "state the damping of joints",
    "collision": "<mu1>, <mu2> and <fdir1> beside it state friction",
    "surface": "<mu1>, <mu2> and <fdir1> in its place state friction",
}
_NEUTRAL = ("0", "0.0", "false")  # values of these that move nothing
# of its engines' solvers
OF_SOLVERS = {
    "kp": "stiffness of contact follows from the masses",
    "kd": "dissipation of contact follows from the masses",
    "maxVel": "contact has no such bound",
    "minDepth": "contact begins where solids touch",
    "maxContacts": "all contacts count",
    "implicitSpringDamper": "damping is always implicit in steps",
    "stopCfm": "stops are rigid",
    "stopErp": "stops are rigid",
    "stopKp": "stops are rigid",
    "stopKd": "stops are rigid",
    "fudgeFactor": "drives have no such factor",
}
GROUP = "selfCollide"


def read_gazebo(
    root: Node, links: dict[str, LinkSpec], joints: Mapping[str, JointSpec]
) -> tuple[CollisionFilterGroupSpec, ...]:
    """Changes links by what <gazebo> elements say of them; returns the links that do not act on each other.

    links: {name: LinkSpec}, changed; joints: by name.
    """
    stated: dict[str, bool] = {}
    whole: bool | None = None
    place = root.place
    for node in root.child_nodes:
        if node.tag != "gazebo" or not _says_something(node):
            continue
        node.used = True
        reference = node.attribute("reference")
        with node.diagnostics.leaving_out(None, "it is not used"):
            if reference is not None and reference not in links and reference not in joints:
                message = f"there is no link or joint {quoted(reference)} for <gazebo>"
                node.refuse("reference", message, value=reference)
                node.ignore("settled")
                continue
            collides = _self_collide(node)
            if collides is not None:
                place = node.place
                if reference is None:
                    whole = collides
                elif reference in links:
                    stated[reference] = collides
            if reference in links:
                links[reference] = _changed(node, links[reference], links)
        _report_rest(node, joints)
    if whole is None and not stated:
        return ()
    default = bool(whole)
    members = tuple(name for name in links if not stated.get(name, default))
    return (CollisionFilterGroupSpec(GROUP, members, (GROUP,), place),) if len(members) > 1 else ()


def _says_something(node: Node) -> bool:
    tags = set(node.child_tags)
    return bool(tags & (ACTING | UNUSED.keys() | OF_SOLVERS.keys()))


def _self_collide(node: Node) -> bool | None:
    child = node.child("selfCollide") or node.child("self_collide")
    return None if child is None else _flag(child, False)


def _flag(child: Node, default: bool) -> bool:
    """What an element says: its text or, in older files, its attribute `value`, which Gazebo asks first."""
    if child.raw("value") is None:
        return bool(child.text_boolean(default, required=True))
    child.text()
    return child.boolean("value", default)


def _number(child: Node, default: float) -> float:
    """As _flag()."""
    if child.raw("value") is None:
        return float(child.text_number(default, required=True))
    child.text()
    return child.number("value", default)


def _changed(node: Node, link: LinkSpec, links: Container[str]) -> LinkSpec:
    """A link with the gravity and the friction of a <gazebo> element."""
    gravity, off = node.child("gravity"), node.child("turnGravityOff")
    if gravity is not None:
        link = replace(link, gravity=_flag(gravity, link.gravity))
    if off is not None:
        link = replace(link, gravity=not _flag(off, not link.gravity))
    first, second, fdir1 = node.child("mu1"), node.child("mu2"), node.child("fdir1")
    mu1 = 1.0 if first is None else _number(first, 1.0)
    direction = (0.0, 0.0, 0.0) if fdir1 is None else fdir1.text_vector(3, (0.0, 0.0, 0.0))
    if fdir1 is not None and any(direction):
        across = 1.0 if second is None else _number(second, 1.0)
        if mu1 != across:
            return _directed(node, link, (mu1, across), direction, links)
    if fdir1 is not None:
        fdir1.ignore("meaningless", "friction is the same in all directions")
    if first is None and second is None:
        return link
    mu2 = min(mu1, 1.0) if second is None else _number(second, mu1)
    if 0.0 <= mu1 < mu2:
        message = f"friction is {mu2!r} along the second direction: {mu1!r} of the first is taken for both"
        node.diagnostics.warning("ELEMENT_UNSUPPORTED", message, second)
        mu2 = mu1
    return _with_friction(link, lambda properties: set_friction(properties, (mu1, mu2), (first, second), node))


def _directed(
    node: Node, link: LinkSpec, coefficients: tuple[float, float], direction: Sequence[float], links: Container[str]
) -> LinkSpec:
    """A link with friction along a direction, in the frame of each collision or in a link that is named, and across."""
    elements = node.child("mu1"), node.child("mu2")
    fdir1: Any = node.child("fdir1")
    stated = next((name for name in EXPRESSED_IN if fdir1.attribute(name)), None)
    body = None if stated is None else fdir1.attribute(stated)
    if body is not None and body not in links:
        message = f"<fdir1> is expressed in {quoted(body)}, which is no link: the collision is taken"
        fdir1.diagnostics.warning("ATTRIBUTE_INVALID", message, fdir1, attribute=stated, value=body)
        body = None

    return _with_friction(
        link, lambda properties: set_directed_friction(properties, coefficients, direction, body, elements, node)
    )


def _with_friction(link: LinkSpec, change: Callable[[Properties], None]) -> LinkSpec:
    collisions = []
    for collision in link.collisions:
        properties = dict(collision.properties)
        if ("material", "coulomb_friction") not in properties:  # that of <drake:proximity_properties> counts
            change(properties)
        collisions.append(replace(collision, properties=properties))
    return replace(link, collisions=tuple(collisions))


def _report_rest(node: Node, joints: Container[str]) -> None:
    for child in node.child_nodes:
        if child.tag in UNUSED and _is_neutral(child):
            child.ignore("foreign", UNUSED[child.tag])
        elif child.tag in UNUSED:
            child.unsupported(UNUSED[child.tag])
        elif child.tag in OF_SOLVERS:
            child.ignore("foreign", OF_SOLVERS[child.tag])
        elif child.tag in ACTING:
            child.used = True
            of_joint = node.attribute("reference") in joints
            if not child.is_text_read or (of_joint and child.tag in SELF_COLLIDE):
                child.ignore("meaningless", "it is of a link")


def _is_neutral(child: Node) -> bool:
    return not child.child_nodes and (child.raw("value") or child.raw_text or "").strip() in _NEUTRAL
