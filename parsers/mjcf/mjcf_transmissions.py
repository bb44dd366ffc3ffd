"""What an actuator of an MJCF file acts through, where that is not one joint of one coordinate."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.mjcf.mjcf_values import AS_IF_ABSENT, find_named
from mbcli.parsers.spec import PathPoint, TransmissionSpec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mbcli.parsers.mjcf.mjcf_bodies import BodyReader
    from mbcli.parsers.mjcf.mjcf_tendons import Tendons
    from mbcli.parsers.mjcf.mjcf_values import Reading, WithDefaults
    from mbcli.parsers.spec import JointSpec
    from mbcli.parsers.xml_node import Node

TRANSMISSIONS = ("joint", "jointinparent", "tendon", "site", "cranksite", "body")
_NO_LIMITS = -inf, inf
_EACH = "it limits each actuator on it, not their sum"


class Driven(NamedTuple):
    """A transmission, and what its element says of lengths and forces."""

    transmission: TransmissionSpec
    limits: tuple[float, float] = _NO_LIMITS  # of the length without gear
    forces: tuple[float, float] = _NO_LIMITS  # of all actuators on it together


class TransmissionReader:
    """Reads the transmissions of actuators."""

    def __init__(self, reading: Reading, bodies: BodyReader, tendons: Tendons) -> None:
        self._reading, self._bodies, self._tendons = reading, bodies, tendons
        self._on_tendons: Counter[str] = Counter()
        self._on_joints: Counter[str] = Counter()

    def read(self, node: Node, element: WithDefaults) -> Driven | None:
        """That of an actuator; None after a finding."""
        stated = [name for name in TRANSMISSIONS if node.attribute(name) is not None]
        if not stated:
            node.diagnostics.error("ATTRIBUTE_MISSING", f'<{node.tag}> must have the attribute "joint"', node)
            return None
        given = element.vector("gear", 6, (1.0,), least=1)
        gear = (*given, *(0.0,) * (6 - len(given)))
        kind = stated[0]
        for other in stated[1:]:
            self._reading.unused.add(element, other, f"the actuator acts through its {kind}")
        if kind == "tendon":
            return self._of_tendon(node, gear)
        if kind == "site":
            return self._of_site(node, gear)
        if kind == "cranksite":
            return self._of_crank(node, element, gear)
        if kind == "body":
            return self._of_body(node, gear)
        return self._of_joint(node, kind, gear)

    def warn_of_sums(self, driven: Iterable[str]) -> None:
        """Where several actuators share a limit of their sum. driven: the joints of the actuators that were not read
        here."""
        for name, count in (self._on_joints + Counter(driven)).items():
            axis = self._bodies.joints[name].axes[0]
            if count > 1 and axis.effort < inf:
                self._reading.unused.add(self._bodies.joint_elements[name], "actuatorfrcrange", _EACH)
        for name, count in self._on_tendons.items():
            if count > 1 and name in self._tendons.forces:
                self._reading.unused.add(self._tendons.elements[name], "actuatorfrcrange", _EACH)

    def leave_out(self, node: Node, problem: str) -> None:
        """Tells that an actuator is not there."""
        self._reading.unused.add_element(node, f"{problem}: {AS_IF_ABSENT}")

    def _of_tendon(self, node: Node, gear: tuple[float, ...]) -> Driven | None:
        name = find_named(node, "tendon", "tendon", self._tendons.names)
        if name is None:
            return None
        self._on_tendons[name] += 1
        limits = self._tendons.limits.get(name, _NO_LIMITS), self._tendons.forces.get(name, _NO_LIMITS)
        if name in self._tendons.paths:
            return Driven(TransmissionSpec("path", gear, path=self._tendons.paths[name]), *limits)
        tendon = self._tendons.fixed.get(name)
        if tendon is None:
            self.leave_out(node, "an actuator on a tendon that is not supported")
            return None
        self._on_joints.update(tendon.terms)
        spec = TransmissionSpec("sum", gear, tuple(tendon.terms), tuple(tendon.terms.values()))
        return Driven(spec, *limits)

    def _of_site(self, node: Node, gear: tuple[float, ...]) -> Driven | None:
        site = find_named(node, "site", "site", self._bodies.sites)
        other = find_named(node, "refsite", "site", self._bodies.sites)
        if site is None or (other is None and node.attribute("refsite") is not None):
            return None
        path = tuple(PathPoint("point", *self._bodies.sites[name]) for name in (site, other) if name is not None)
        return Driven(TransmissionSpec("site" if other is None else "site in site", gear, path=path))

    def _of_body(self, node: Node, gear: tuple[float, ...]) -> Driven | None:
        """A pull at the contacts of a body, which knows no gear."""
        link = find_named(node, "body", "body", self._bodies.all_links)
        return None if link is None else Driven(TransmissionSpec("contact", gear, path=(PathPoint("point", link),)))

    def _of_crank(self, node: Node, element: WithDefaults, gear: tuple[float, ...]) -> Driven | None:
        node.attribute("slidersite", required=True)
        crank = find_named(node, "cranksite", "site", self._bodies.sites)
        slider = find_named(node, "slidersite", "site", self._bodies.sites)
        if crank is None or slider is None:
            return None
        rod = element.number("cranklength", 0.0)
        if rod <= 0.0:
            problem = "a crank needs a cranklength that is positive"
            node.diagnostics.error("ATTRIBUTE_INVALID", problem, node, attribute="cranklength")
            return None
        first, second = self._bodies.sites[crank], self._bodies.sites[slider]
        path = PathPoint("point", *first, size=rod), PathPoint("point", *second)
        return Driven(TransmissionSpec("crank", gear, path=path))

    def _of_joint(self, node: Node, kind: str, gear: tuple[float, ...]) -> Driven | None:
        name: Any = find_named(node, kind, "joint", self._bodies.all_joints)
        if name is None:
            return None
        joint = self._bodies.joints.get(name)
        if joint is None or joint.type == "quaternion_floating":
            return Driven(_of_free(self._bodies.free_joints[name] if joint is None else joint.child, kind, gear))
        if len(joint.axes) == 1:
            axis = joint.axes[0]
            self._on_joints[joint.name] += 1
            spec = TransmissionSpec("sum", gear, (joint.name,), (1.0,))
            return Driven(spec, (axis.lower, axis.upper), (-axis.effort, axis.effort))
        if joint.type != "ball":
            self.leave_out(node, "an actuator on a joint of several coordinates is not supported")
            return None
        return Driven(_of_ball(joint, kind, gear))


def _of_free(link: str, kind: str, gear: tuple[float, ...]) -> TransmissionSpec:
    """A force at the origin of a link along the axes of the world, a torque along its own or, in its parent, those."""
    body, world = PathPoint("point", link), PathPoint("point", WORLD)
    return TransmissionSpec("site", gear, path=(body, world, world if kind == "jointinparent" else body))


def _of_ball(joint: JointSpec, kind: str, gear: tuple[float, ...]) -> TransmissionSpec:
    """The rotation vector of a ball joint along three numbers of the gear, in the parent or in the child."""
    parent = PathPoint("point", joint.parent, joint.X_PF)
    child = PathPoint("point", joint.child, joint.X_CM)
    if kind == "jointinparent":
        return TransmissionSpec("site in site", (0.0, 0.0, 0.0, *gear[:3]), (joint.name,), path=(child, parent))
    turning = tuple(-number for number in gear[:3])
    return TransmissionSpec("site in site", (0.0, 0.0, 0.0, *turning), (joint.name,), path=(parent, child))
