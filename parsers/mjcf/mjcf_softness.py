"""How far the soft constraints of MuJoCo give way: reported, for limits, equalities and contact are stiff here.

A constraint that carries a body against gravity comes to rest at a depth r with d k r = (1 - d) g, for the impedance
d(r) of `solimp` and the stiffness k of `solref`, whatever the mass.
https://mujoco.readthedocs.io/en/stable/modeling.html#solver-parameters
"""

from __future__ import annotations

from dataclasses import dataclass
from math import acos, exp, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Sized

    from mbcli.parsers.mjcf.mjcf_values import Parts, WithDefaults
    from mbcli.parsers.xml_node import Node

GRAVITY = 9.81  # [m/s^2]; for an angle: what hangs 1 m from the axis
LENGTH = 1e-3  # [m] that contact gives way here too: the default penetration_allowance
ANGLE = 1e-2  # [rad]
DAMPED = 0.5  # dampratio below which a sphere leaves the ground with more than 0.3 of its speed, 0.14 by default
DEEPEST = 10.0  # [m or rad] of a search
STIFFNESS, IMPEDANCE = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)  # where a file states none
DEFAULTS = STIFFNESS, IMPEDANCE
LEAST, MOST = 1e-4, 0.9999  # of an impedance


def restitution_of(solref: Sequence[float]) -> float | None:
    """Of contact whose `solref` is a stiffness and a damping, both negative; None of others, and of little bounce.

    A body that meets a spring and a damper which only push leaves them with exp(-2 z acos(z) / (1 - z^2)^(1/2)) of its
    speed, with the ratio z of the damping to the critical one.
    """
    ratio = _damping_ratio(solref)
    if solref[0] > 0.0 or ratio >= DAMPED:
        return None
    return exp(-2.0 * ratio * acos(ratio) / sqrt(1.0 - ratio * ratio))


def softness_of(element: WithDefaults, ending: str, options: Parts) -> tuple[float, ...] | None:
    """solref (2,) and solimp (5,) of an element, as MuJoCo uses them; None where it states none.

    ending: of their names. What <option> overrides counts for contact, which has none.
    """
    if options.softness is not None and not ending:
        return options.softness
    names = f"solref{ending}", f"solimp{ending}"
    if not any(element.attribute(name) for name in names):
        return None
    return usable_softness(*(_all_of(element, name, default) for name, default in zip(names, DEFAULTS, strict=True)))


def usable_softness(solref: Sequence[float], solimp: Sequence[float]) -> tuple[float, ...]:
    """Both, within the bounds that MuJoCo sets."""
    first, last, width, middle, power = solimp
    return (*solref, _between(first), _between(last), max(width, 0.0), _between(middle), max(power, 1.0))


def _all_of(element: WithDefaults, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    stated = element.vector(name, len(default), default[:1], least=1)
    return (*stated, *default[len(stated) :])


def _damping_ratio(solref: Sequence[float]) -> float:
    stiffness, ratio = -solref[0], solref[1]
    if stiffness < 0.0:
        return max(0.0, ratio)
    return -ratio / (2.0 * sqrt(stiffness)) if stiffness > 0.0 and ratio <= 0.0 else 1.0


_REFERENCES = ("solref", "solreflimit", "o_solref")
_OF_FRICTION = ("solreffriction", "solimpfriction")
_OF_CONTACT = ("geom", "pair", "option")
_OF_LAW = {"geom": ("solmix",), "option": ("cone", "impratio")}  # of the law of contact alone
_WITH_LIMITS = ("joint", "fixed", "spatial", "tendon")
_PLACES = 200  # steps of a search for a depth


def report_softness(root: Node) -> None:
    """A note if a file says how soft its constraints are, a warning of those that give way further than LENGTH, ANGLE,
    or let things bounce."""
    found = [soft for node in root.walk() for soft in _softness(node)]
    if root.diagnostics.softness_acts:
        found = [soft for soft in found if not _acts(soft)]
    _report(root, [soft for soft in found if soft.matters])
    _report(root, [soft for soft in found if not soft.matters])


def _acts(soft: _Softness) -> bool:
    """Whether the law of contact "mujoco" follows it."""
    if soft.node.tag in _OF_CONTACT:
        return soft.attribute not in _OF_FRICTION
    of_limit = soft.attribute in ("solreflimit", "solimplimit", "margin")  # not of an equality of joints
    return soft.node.tag == "joint" and of_limit and soft.node.raw("type") != "ball"


@dataclass(frozen=True)
class _Softness:
    """What one element states of one constraint.

    Attributes:
        attribute: its name.
        depth: [m], or [rad] if is_angle, by which the constraint gives way.
        bounces: whether things leave it again.
    """

    node: Node
    attribute: str
    depth: float = 0.0
    is_angle: bool = False
    bounces: bool = False

    @property
    def matters(self) -> bool:
        return self.bounces or self.depth > (ANGLE if self.is_angle else LENGTH)


def _softness(node: Node) -> Iterator[_Softness]:
    """The _Softness of an element: of solref and solimp of every ending, of the margin of a limit."""
    for attribute in _OF_FRICTION:
        if node.attribute(attribute) is not None:
            yield _Softness(node, attribute)
    is_angle = _is_angle(node)
    for reference in _REFERENCES:
        impedance = reference.replace("solref", "solimp")
        if node.raw(reference) is None and node.raw(impedance) is None:
            continue
        solref, solimp = filled(node, reference, STIFFNESS), filled(node, impedance, IMPEDANCE)
        attribute = reference if node.raw(reference) is not None else impedance
        acts = node.tag == "geom" and restitution_of(solref) is not None
        bounces = node.tag in _OF_CONTACT and _damping_ratio(solref) < DAMPED and not acts
        yield _Softness(node, attribute, resting_depth(solref, solimp), is_angle, bounces)
    for attribute in _OF_LAW.get(node.tag, ()):
        if node.raw(attribute) is not None:
            yield _Softness(node, attribute)
    if node.tag in _WITH_LIMITS and node.raw("margin") is not None and node.raw("type") != "free":
        margin = node.vector("margin", 1)
        if margin is not None and margin[0] > 0:
            yield _Softness(node, "margin", margin[0], is_angle)


def _is_angle(node: Node) -> bool:
    return node.tag == "joint" and node.raw("type") in (None, "hinge", "ball")


def filled(node: Node, attribute: str, default: tuple[float, ...]) -> tuple[float, ...]:
    """The numbers of an attribute, the rest from the default."""
    text = node.attribute(attribute)
    if text is None:
        return default
    count = min(max(len(text.split()), 1), len(default))
    values = node.vector(attribute, count, default[:count])
    return (*values, *default[count:])


def resting_depth(solref: Sequence[float], solimp: Sequence[float]) -> float:
    """[m] by which a constraint gives way to a weight: at most DEEPEST."""
    if _balance(DEEPEST, solref, solimp) < 0:
        return DEEPEST
    low, high = 0.0, DEEPEST
    for _ in range(_PLACES):
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        if _balance(middle, solref, solimp) < 0:
            low = middle
        else:
            high = middle
    return high


def _balance(depth: float, solref: Sequence[float], solimp: Sequence[float]) -> float:
    """[m/s^2] of the constraint less that of the weight."""
    d = _impedance(depth, solimp)
    width = _between(solimp[1])
    time_constant, ratio = solref
    if time_constant <= 0:  # the negative stiffness
        stiffness = -time_constant / width**2
    else:
        stiffness = 1.0 / max(width * time_constant * ratio, 1e-12) ** 2
    return d * d * stiffness * depth - (1.0 - d) * GRAVITY


def _impedance(depth: float, solimp: Sequence[float]) -> float:
    first, last, width, middle, power = solimp
    first, last = _between(first), _between(last)
    x = min(depth / width, 1.0) if width > 0 else 1.0
    middle, power = _between(middle), max(power, 1.0)
    if x <= middle:
        y = x**power / middle ** (power - 1.0)
    else:
        y = 1.0 - (1.0 - x) ** power / (1.0 - middle) ** (power - 1.0)
    return first + y * (last - first)


def _between(value: float) -> float:
    return min(max(value, LEAST), MOST)


def _report(root: Node, found: Sequence[_Softness]) -> None:
    """One finding of several _Softness that matter, or that do not."""
    if not found:
        return
    worst = max(found, key=lambda soft: (soft.depth / (ANGLE if soft.is_angle else LENGTH), soft.bounces))
    consequence = "limits and equalities are nearly rigid here, contact is as stiff as the plant's configuration says"
    if any(map(_acts, found)):
        consequence += "; --contact-approximation mujoco follows contact and limits of joints"
    if not worst.matters:
        message = f"how soft constraints are is not followed ({len(found)} statements): {consequence}"
    elif worst.depth > (ANGLE if worst.is_angle else LENGTH):
        unit = "rad" if worst.is_angle else "m"
        more = "more than " if worst.depth >= DEEPEST else ""
        way = "acts" if worst.attribute == "margin" else "gives way to its load"
        message = (
            f'attribute "{worst.attribute}" in <{worst.node.tag}> is not followed: in MuJoCo the constraint {way} by '
            f"{more}{worst.depth:.2g} {unit}{_others(found)}; {consequence}"
        )
    else:
        message = (
            f'attribute "{worst.attribute}" in <{worst.node.tag}> is not followed: in MuJoCo things bounce on it'
            f"{_others(found)}; {consequence}"
        )
    report = root.diagnostics.warning if worst.matters else root.diagnostics.note
    report(
        "ATTRIBUTE_UNSUPPORTED",
        message,
        worst.node,
        attribute=worst.attribute,
        value=worst.node.attribute(worst.attribute),
    )


def _others(found: Sized) -> str:
    return f" ({len(found)} statements that matter)" if len(found) > 1 else ""
