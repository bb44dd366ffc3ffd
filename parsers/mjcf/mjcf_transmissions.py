"""What an actuator of an MJCF file acts through, where that is not one joint of one coordinate."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.mjcf.mjcf_joints import read_force_range
from mbcli.parsers.mjcf.mjcf_known import ACTUATORS
from mbcli.parsers.mjcf.mjcf_values import AS_IF_ABSENT, find_named
from mbcli.parsers.spec import ActuatorLaw, PathPoint, TendonSpringSpec, TransmissionSpec

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
_OTHERS = "it limits the actuators of the joint itself, not what tendons and sites do to it"
_EACH = "it limits each actuator of the joint, not their sum"
_GEARS = "it limits each of its actuators, since their gears differ, not their sum"


class Driven(NamedTuple):
    """A transmission, and what its element says of lengths and forces."""

    transmission: TransmissionSpec
    limits: tuple[float, float] = _NO_LIMITS  # of the length without gear
    forces: tuple[float, float] = _NO_LIMITS  # times gears, of all actuators on it together
    shared: bool = False  # whether there are several
    bears: bool = False  # whether they bear weights too


class TransmissionReader:
    """Reads the transmissions of actuators."""

    def __init__(self, root: Node, reading: Reading, bodies: BodyReader, tendons: Tendons) -> None:
        self._reading, self._bodies, self._tendons = reading, bodies, tendons
        self._on_joints: Counter[str] = Counter()  # that name them
        self._count = 0
        self._across: Counter[str] = Counter()  # that move them by tendons and sites
        self._gears: dict[str, list[float]] = {}  # of actuators on tendons
        self._compensated = any(not link.gravity for link in bodies.links.values())
        for section in root.children("actuator"):
            for node in section.children(*ACTUATORS.split()):
                element, name = reading.defaults.of_actuator(node), node.raw("joint") or node.raw("jointinparent") or ""
                self._on_joints[name] += 1
                self._count += 1
                gear = element.vector("gear", 6, (1.0,), least=1)[0]
                self._gears.setdefault(node.raw("tendon") or "", []).append(gear)

    def shares_limit(self, joint: JointSpec) -> bool:
        """Whether several actuators on a joint have a limit of their sum: then none is one of the joint alone.

        One that bears weights, too, shares the limit with them; and one of a joint has the same limit both ways.
        """
        if joint.axes[0].effort == inf:
            return False
        return self._on_joints[joint.name] > 1 or self.is_lopsided(joint) or self.bears_weight(joint)

    def is_lopsided(self, joint: JointSpec) -> bool:
        """Whether the limits of what drives a joint are not the same both ways."""
        return is_lopsided(self._force_range(joint))

    def bears_weight(self, joint: JointSpec) -> bool:
        """Whether its actuators hold the links that gravity spares, within the limit of their force."""
        element = self._bodies.joint_elements[joint.name]
        return self._compensated and joint.axes[0].effort < inf and bool(element.flag("actuatorgravcomp", False))

    def idle_bearers(self) -> list[TendonSpringSpec]:
        """Those of joints that bear weights and have no actuators. Without any in the file nothing bears a weight."""
        found, least = [], 0.0 if self._count == 0 else 1.0
        for name, joint in self._bodies.joints.items():
            if len(joint.axes) != 1 or self._on_joints[name] or not self.bears_weight(joint):
                continue
            lower, upper = self._force_range(joint)
            law = ActuatorLaw(gain=(0.0,), together=(least * lower, least * upper), bears_weight=True)
            spec = TransmissionSpec("sum", (1.0, *(0.0,) * 5), (name,), (1.0,))
            found.append(TendonSpringSpec(f"{name}_bearer", spec, law, joint.place))
        return found

    def _force_range(self, joint: JointSpec) -> tuple[float, float]:
        return read_force_range(self._bodies.joint_elements[joint.name], self._reading)

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
        """Where a limit of a sum is not followed. driven: the joints of the actuators that were not read here."""
        units = Counter(driven)
        for name, joint in self._bodies.joints.items():
            if len(joint.axes) != 1 or joint.axes[0].effort == inf:
                continue
            alone = units[name] + self.shares_limit(joint) + (bool(units[name]) and self.bears_weight(joint))
            if self._across[name] or alone > 1:
                told = _OTHERS if self._across[name] else _EACH
                self._reading.unused.add(self._bodies.joint_elements[name], "actuatorfrcrange", told)
        for name, gears in self._gears.items():
            if len(set(gears)) > 1 and name in self._tendons.forces:
                self._reading.unused.add(self._tendons.elements[name], "actuatorfrcrange", _GEARS)

    def leave_out(self, node: Node, problem: str) -> None:
        """Tells that an actuator is not there."""
        self._reading.unused.add_element(node, f"{problem}: {AS_IF_ABSENT}")

    def _of_tendon(self, node: Node, gear: tuple[float, ...]) -> Driven | None:
        name = find_named(node, "tendon", "tendon", self._tendons.names)
        if name is None:
            return None
        lower, upper = sorted(
            gear[0] * bound if gear[0] else bound for bound in self._tendons.forces.get(name, _NO_LIMITS)
        )
        shared = len(self._gears[name]) > 1 and len(set(self._gears[name])) == 1
        limits = self._tendons.limits.get(name, _NO_LIMITS), (lower, upper), shared
        if name in self._tendons.paths:
            self._across.update(self._moved_by(self._tendons.paths[name]))
            return Driven(TransmissionSpec("path", gear, path=self._tendons.paths[name]), *limits)
        tendon = self._tendons.fixed.get(name)
        if tendon is None:
            self.leave_out(node, "an actuator on a tendon that is not supported")
            return None
        self._across.update(tendon.terms)
        spec = TransmissionSpec("sum", gear, tuple(tendon.terms), tuple(tendon.terms.values()))
        return Driven(spec, *limits)

    def _of_site(self, node: Node, gear: tuple[float, ...]) -> Driven | None:
        site = find_named(node, "site", "site", self._bodies.sites)
        other = find_named(node, "refsite", "site", self._bodies.sites)
        if site is None or (other is None and node.attribute("refsite") is not None):
            return None
        path = tuple(PathPoint("point", *self._bodies.sites[name]) for name in (site, other) if name is not None)
        self._across.update(self._moved_by(path))
        return Driven(TransmissionSpec("site" if other is None else "site in site", gear, path=path))

    def _of_body(self, node: Node, gear: tuple[float, ...]) -> Driven | None:
        """A pull at the contacts of a body, which knows no gear."""
        link = find_named(node, "body", "body", self._bodies.all_links)
        return None if link is None else Driven(TransmissionSpec("contact", gear, path=(PathPoint("point", link),)))

    def _moved_by(self, path: tuple[PathPoint, ...]) -> set[str]:
        """The joints that move some of the points, but not all: those between them."""
        of_child = {joint.child: joint for joint in self._bodies.joints.values()}
        chains: list[set[str]] = []
        for part in path:
            link, chain = part.link, set[str]()
            while link in of_child and part.kind != "pulley":
                chain.add(of_child[link].name)
                link = of_child[link].parent
            chains.append(chain)
        common = chains[0].intersection(*chains[1:]) if len(chains) > 1 else set()
        return chains[0].union(*chains[1:]) - common

    def _of_crank(self, node: Node, element: WithDefaults, gear: tuple[float, ...]) -> Driven | None:
        node.attribute("slidersite", required=True)
        crank = find_named(node, "cranksite", "site", self._bodies.sites)
        slider = find_named(node, "slidersite", "site", self._bodies.sites)
        if crank is None or slider is None:
            return None
        rod = element.number("cranklength", 0.0)
        if rod <= 0.0:
            problem = "a crank needs a cranklength that is positive"
            node.refuse("cranklength", problem)
            return None
        first, second = self._bodies.sites[crank], self._bodies.sites[slider]
        path = PathPoint("point", *first, size=rod), PathPoint("point", *second)
        self._across.update(self._moved_by(path))
        return Driven(TransmissionSpec("crank", gear, path=path))

    def _of_joint(self, node: Node, kind: str, gear: tuple[float, ...]) -> Driven | None:
        name: Any = find_named(node, kind, "joint", self._bodies.all_joints)
        if name is None:
            return None
        joint = self._bodies.joints.get(name)
        if joint is None or joint.kind.is_floating:
            return Driven(_of_free(self._bodies.free_joints[name] if joint is None else joint.child, kind, gear))
        if len(joint.axes) == 1:
            axis = joint.axes[0]
            spec = TransmissionSpec("sum", gear, (joint.name,), (1.0,))
            shares = self.shares_limit(joint)
            bears = shares and self.bears_weight(joint)
            return Driven(spec, (axis.lower, axis.upper), self._force_range(joint), shares, bears)
        if not joint.kind.is_ball:
            self.leave_out(node, "an actuator on a joint of several coordinates is not supported")
            return None
        return Driven(_of_ball(joint, kind, gear))


def is_lopsided(limits: tuple[float, float]) -> bool:
    """Whether limits of a force are not the same both ways."""
    return limits[0] != -limits[1]


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
