"""Actuators of an MJCF document that act through transmissions: <general> elements, their tendons, sites and solids."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree
from mbcli.parsers.duplicate_names import generated_name, numbered_name
from mbcli.parsers.spec import FrameSpec
from mbcli.parsers.writing.write_xml import add, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mbcli.parsers.spec import (
        ActuatorLaw,
        ModelSpec,
        PathPoint,
        TendonSpringSpec,
        TransmissionActuatorSpec,
        TransmissionSpec,
    )
    from mbcli.parsers.writing.losses import Losses
    from mbcli.parsers.xml_document import XmlElement

    from mbcli.math.array_types import Matrix

_SOLIDS = ("sphere", "cylinder")  # parts of a path that are geoms
_IDLE_GROUP = "30"
_LARGEST = 1e300  # in place of an infinite end of a range whose other end is finite


def with_transmission_sites(model: ModelSpec, losses: Losses) -> ModelSpec:
    """The flat model with a frame, which is a site there, for each place that a transmission names."""
    frames = list(model.frames)
    taken = {frame.name for frame in frames} | {link.name for link in model.links}
    for actuator in (*model.transmission_actuators, *model.tendon_springs):
        for link, X_LP in _places(actuator.transmission):
            if _site_at(frames, link, X_LP) is not None:
                continue
            name = numbered_name(f"{actuator.name}_site", taken)
            taken.add(name)
            frames.append(FrameSpec(name, link, X_LP, actuator.place))
            losses.add("changed", "FRAME", f"frame '{name}' is added on '{link}'", actuator.place)
    return replace(model, frames=tuple(frames))


def _places(transmission: TransmissionSpec) -> list[tuple[str, Matrix]]:
    """(link, X_LP) of each site; ball joints and free ones name none."""
    if transmission.joints or _is_free(transmission) or transmission.kind == "contact":
        return []
    places = [(part.link, part.X_LP) for part in transmission.path if part.kind == "point"]
    return [*places, *(part.side for part in transmission.path if part.side is not None)]


def _is_free(transmission: TransmissionSpec) -> bool:
    """Whether it is a free joint: it has the axes of force and torque."""
    return transmission.kind == "site" and len(transmission.path) == 3


def _site_at(frames: Sequence[FrameSpec], link: str, X_LP: Matrix) -> str | None:
    return next((frame.name for frame in frames if frame.link == link and np.array_equal(frame.X_LF, X_LP)), None)


def _key(part: PathPoint) -> tuple[Any, ...]:
    """Of a solid: what makes it the same for two paths."""
    return part.kind, part.link, part.size, part.X_LP.tobytes()


class TransmissionWriter:
    """Writes the actuators of a ModelSpec, whose sites are frames of it."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        taken = {geometry.name for link in spec.links for geometry in (*link.visuals, *link.collisions)}
        self._geoms: dict[tuple[Any, ...], str] = {}
        self.solids: dict[str, list[tuple[str, PathPoint]]] = defaultdict(list)  # of links: (name, PathPoint)
        self._tendons: dict[tuple[Any, ...], str] = {}
        for actuator in (*spec.transmission_actuators, *spec.tendon_springs):
            for part in actuator.transmission.path:
                if part.kind in _SOLIDS and _key(part) not in self._geoms:
                    name = numbered_name(f"{actuator.name}_{part.kind}", taken)
                    taken.add(name)
                    self._geoms[_key(part)] = name
                    self.solids[part.link].append((name, part))

    def add_to(self, root: XmlElement) -> None:
        """Adds the actuators, and <tendon> before <equality> if they have some."""
        for spring in self._spec.tendon_springs:
            self._add_spring(root, spring)
        for actuator in (*self._spec.transmission_actuators, *self._spec.tendon_springs):
            given, law = actuator.transmission, actuator.law
            if given.kind == "sum" and law.together != (-inf, inf) and not self._limits_tendon(actuator):
                _limit_joint(root, given.joints[0], law)
        if not self._spec.transmission_actuators:
            return
        section = root.find("actuator")
        section = etree.SubElement(root, "actuator") if section is None else section
        for actuator in self._spec.transmission_actuators:
            node = add(section, "general", name=actuator.name, **self._on(root, actuator))
            if any(actuator.law.gain) or any(actuator.law.bias):
                _set_law(node, actuator.law)
            else:
                _switch_off(root, node)

    def _on(self, root: XmlElement, actuator: TransmissionActuatorSpec) -> dict[str, Any]:
        """The attributes that say what it acts through."""
        given = actuator.transmission
        gear = given.gear[0] if given.gear[0] != 1.0 else None
        if given.kind == "sum" and given.coefficients == (1.0,) and not self._limits_tendon(actuator):
            return {"joint": given.joints[0], "gear": gear}
        if given.kind == "contact":
            return {"body": given.path[0].link}
        if given.kind in ("sum", "path"):
            return {"tendon": self._tendon(root, actuator), "gear": gear}
        if given.kind == "crank":
            crank, slider = given.path
            names = {
                "cranksite": self._site(crank.link, crank.X_LP),
                "slidersite": self._site(slider.link, slider.X_LP),
            }
            return {**names, "cranklength": crank.size, "gear": gear}
        if given.joints:  # a ball joint, see mjcf_transmissions.py of the reader
            joint = next(joint for joint in self._spec.joints if joint.name == given.joints[0])
            in_parent = given.path[1].link == joint.parent
            turning = given.gear[3:] if in_parent else tuple(-number for number in given.gear[3:])
            return {"jointinparent" if in_parent else "joint": joint.name, "gear": turning}
        if _is_free(given):
            body, _, axes = (part.link for part in given.path)
            return {"joint" if axes == body else "jointinparent": _free_joint(root, body), "gear": given.gear}
        sites = [self._site(part.link, part.X_LP) for part in given.path]
        return {"site": sites[0], "refsite": sites[1] if len(sites) > 1 else None, "gear": given.gear}

    def _add_spring(self, root: XmlElement, spring: TendonSpringSpec) -> None:
        """A tendon for it alone."""
        if spring.transmission.kind != "path":
            return  # it bears weights
        stiffness, damping, *rest = spring.law.bias
        section = _tendon_section(root)
        name = numbered_name(spring.name, {node.get("name") for node in section})
        node = add(section, "spatial", name=name, stiffness=stiffness or None, damping=damping or None)
        if spring.law.lengths is not None and stiffness:
            node.set("springlength", numbers(*rest))
        for part in spring.transmission.path:
            self._add_part(node, part)

    def _limits_tendon(self, actuator: TransmissionActuatorSpec) -> bool:
        """Whether its sum with others has a limit that is none of a joint, which has its own."""
        if actuator.law.together == (-inf, inf):
            return False
        given = actuator.transmission
        if given.kind != "sum" or given.coefficients != (1.0,):
            return True
        return all(joint.axes[0].effort == inf for joint in self._spec.joints if joint.name == given.joints[0])

    def _site(self, link: str, X_LP: Matrix) -> str:
        name = _site_at(self._spec.frames, link, X_LP)
        assert name is not None  # with_transmission_sites() makes them
        return name

    def _tendon(self, root: XmlElement, actuator: TransmissionActuatorSpec) -> str:
        """The name of the tendon of an actuator, one for all that act through the same."""
        given = actuator.transmission
        sides = (None if part.side is None else self._site(*part.side) for part in given.path)
        parts = ((*_key(part), side) for part, side in zip(given.path, sides, strict=True))
        limits = actuator.law.together if self._limits_tendon(actuator) else None
        key = limits, given.joints, given.coefficients, *parts
        if key not in self._tendons:
            section = _tendon_section(root)
            name = generated_name(f"{actuator.name}_tendon", {node.get("name") for node in section})
            self._tendons[key] = name
            node = add(section, "fixed" if given.kind == "sum" else "spatial", name=name)
            if limits is not None:
                lower, upper = sorted(bound / given.gear[0] for bound in limits)
                node.set("actuatorfrcrange", numbers(max(lower, -_LARGEST), min(upper, _LARGEST)))
            for joint, coefficient in zip(given.joints, given.coefficients, strict=True):
                add(node, "joint", joint=joint, coef=coefficient)
            for part in given.path:
                self._add_part(node, part)
        return self._tendons[key]

    def _add_part(self, node: XmlElement, part: PathPoint) -> None:
        if part.kind == "pulley":
            add(node, "pulley", divisor=part.size)
        elif part.kind == "point":
            add(node, "site", site=self._site(part.link, part.X_LP))
        else:
            side = None if part.side is None else self._site(*part.side)
            add(node, "geom", geom=self._geoms[_key(part)], sidesite=side)


def _limit_joint(root: XmlElement, joint: str, law: ActuatorLaw) -> None:
    """The limits of the sum of a joint's actuators, which may hold what has no gravity."""
    node = next(node for node in root.iter("joint") if node.get("name") == joint)
    if law.bears_weight:
        node.set("actuatorgravcomp", "true")
    node.set("actuatorfrcrange", numbers(*(min(max(bound, -_LARGEST), _LARGEST) for bound in law.together)))


def _free_joint(root: XmlElement, link: str) -> str:
    """The name that the free joint of a link has."""
    body = next(node for node in root.iter("body") if node.get("name") == link)
    joint = next(node for node in body if node.tag == "freejoint" or node.get("type") == "free")
    name: str = joint.get("name")
    return name


def _tendon_section(root: XmlElement) -> XmlElement:
    """<tendon>, which stands before <equality>."""
    section = root.find("tendon")
    if section is not None:
        return section
    section = etree.Element("tendon")
    follower = next((node for node in root if node.tag in ("equality", "actuator")), None)
    root.insert(len(root) if follower is None else root.index(follower), section)
    return section


def _switch_off(root: XmlElement, node: XmlElement) -> None:
    """An actuator without force is one of a group that is switched off."""
    option = root.find("option")
    if option is None:
        option = etree.Element("option")
        root.insert(list(root).index(root.find("compiler")) + 1, option)
    option.set("actuatorgroupdisable", _IDLE_GROUP)
    node.set("group", _IDLE_GROUP)


def _set_law(node: XmlElement, law: ActuatorLaw) -> None:
    gain, bias = law.gain, law.bias
    kind = "muscle" if law.gain_kind == "muscle" else "affine" if any(gain[1:]) else "fixed"
    if kind != "fixed":
        node.set("gaintype", kind)
    node.set("gainprm", numbers(*(gain[:1] if kind == "fixed" else gain)))
    if law.bias_kind != "none" and any(bias):
        node.set("biastype", law.bias_kind)
        if law.damping_ratio and not bias[2]:
            bias = (*bias[:2], law.damping_ratio)
        node.set("biasprm", numbers(*bias))
    if law.dynamics != "none":
        node.set("dyntype", law.dynamics)
        node.set("dynprm", numbers(*law.dynamics_numbers))
    if law.is_early:
        node.set("actearly", "true")
    for name, (lower, upper) in (("ctrlrange", law.control), ("forcerange", law.force), ("actrange", law.activation)):
        if (lower, upper) != (-inf, inf):
            node.set(name, numbers(max(lower, -_LARGEST), min(upper, _LARGEST)))
    if law.lengths is not None and law.lengths[0] < law.lengths[1]:
        node.set("lengthrange", numbers(*law.lengths))
