"""<sensor> of MJCF files: what each measures and where it is mounted. The kinds are files of mbcli/sensors."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mbcli.parsers.duplicate_names import generated_name, report_duplicate
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.gazebo_sensors import LEFT_OUT
from mbcli.parsers.mjcf.mjcf_known import NO_KIND, SENSORS_OF_MJCF
from mbcli.parsers.mjcf.mjcf_values import WithDefaults, find_named, report_negative
from mbcli.parsers.spec import Mesh, SensorSpec, pose

from mbcli.sensors import SENSORS, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from mbcli.parsers.mjcf.mjcf_bodies import BodyReader
    from mbcli.parsers.mjcf.mjcf_tendons import Tendons
    from mbcli.parsers.mjcf.mjcf_values import Reading
    from mbcli.parsers.spec import ActuatorSpec
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix4

GIVES_NOTHING = "it gives nothing"
_OBJECTS = ("body", "xbody", "geom", "site", "camera")
_SITE_SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box")
_MAGNETIC = (0.0, -0.5, 0.0)  # of <option>, without a unit


class _Mounted(NamedTuple):
    """What a sensor is mounted on: the fields of a SensorSpec that say so."""

    name: str  # of the object
    fields: dict[str, Any]


def read_sensors(
    root: Node, reading: Reading, bodies: BodyReader, tendons: Tendons, actuators: Iterable[ActuatorSpec]
) -> tuple[SensorSpec, ...]:
    """The `SensorSpec`s of a file in its order; actuators: the `ActuatorSpec`s, read before."""
    sections = root.children("sensor")
    reader = _SensorReader(root, reading, bodies, tendons, {actuator.name: actuator for actuator in actuators})
    for section in sections:
        for node in section.children(*SENSORS_OF_MJCF):
            with node.diagnostics.leaving_out(node, LEFT_OUT) as faults:  # no motion depends on it
                spec = reader.read(node)
            if faults:
                node.ignore("settled")
            elif spec is not None:
                reader.sensors[spec.name] = spec
    return tuple(reader.sensors.values())


class _SensorReader:
    def __init__(
        self, root: Node, reading: Reading, bodies: BodyReader, tendons: Tendons, actuators: dict[str, ActuatorSpec]
    ) -> None:
        self._reading, self._bodies, self._tendons, self._actuators = reading, bodies, tendons, actuators
        self._stated = {node.raw("name") for section in root.children("sensor") for node in section.child_nodes}
        self.magnetic = _MAGNETIC
        for node in root.children("option"):
            self.magnetic = node.vector("magnetic", 3, self.magnetic)
        self.sensors: dict[str, SensorSpec] = {}

    def read(self, node: Node) -> SensorSpec | None:
        """The `SensorSpec` of an element; None if it gives nothing, which is reported."""
        kind = kind_of("MJCF", node.tag)
        if kind is None:
            self._leave_out(node, f"a <{node.tag}> sensor is {NO_KIND.get(node.tag, 'not supported')}")
            return None
        stated = node.attribute("name") or None
        if stated in self.sensors:
            report_duplicate(node, "sensor", stated, self.sensors[stated].place)
            return None
        mounted = _MOUNTS[SENSORS[kind].MJCF[node.tag]](self, node)
        problem = self._problem(node)
        if mounted is None or problem:
            if problem:
                self._leave_out(node, problem)
            return None
        name = stated or generated_name("_".join(filter(None, (node.tag, mounted.name))), self.sensors, self._stated)
        node.attribute("user")
        if node.number("noise", 0.0):
            self._reading.unused.add(WithDefaults(node), "noise", "as in MuJoCo it is not added", harmless=True)
        rate, delay = self._read_times(node)
        settings: dict[str, Any] = {}
        for surrounding in SENSORS[kind].SURROUNDINGS:
            settings |= SURROUNDINGS[surrounding](self, mounted)
        return SensorSpec(
            name,
            kind,
            node.tag,
            node.place,
            settings=settings,
            rate=rate,
            delay=delay,
            cutoff=self._unsigned(node, "cutoff"),
            **mounted.fields,
        )

    def _leave_out(self, node: Node, problem: str) -> None:
        self._reading.unused.add_element(node, f"{problem}: {GIVES_NOTHING}")

    def _problem(self, node: Node) -> str | None:
        """Why a sensor of a known kind gives something else than is asked for, or None."""
        if node.attribute("camera") is not None:
            return "a sensor on a camera is not supported"
        data = (node.attribute("data") or "dist").split()
        return None if data == ["dist"] else f"a <{node.tag}> that gives {' '.join(data)} is not supported"

    def _unsigned(self, node: Node, name: str) -> float:
        value = node.number(name, 0.0)
        if value < 0.0:
            report_negative(WithDefaults(node), name, value)
            return 0.0
        return value

    def _read_times(self, node: Node) -> tuple[float, float]:
        """(rate [Hz], delay [s])."""
        samples = node.number("nsample", 0.0)
        delay, interval = self._unsigned(node, "delay"), node.vector("interval", 2, None)
        if interval is None and node.attribute("interval") is not None:
            return 0.0, 0.0
        word = node.attribute("interp") or "zoh"
        if word != "zoh" and (delay or samples):
            self._reading.unused.add(WithDefaults(node), "interp", "a value is held until the next one")
        period = interval[0] if interval else 0.0
        if (delay or period) and samples <= 0.0:
            problem = f"<{node.tag}> has a {'delay' if delay else 'interval'}, for which nsample must be positive"
            node.refuse("nsample", problem)
        if interval and (period < 0.0 or not (-period < interval[1] <= 0.0 or interval[1] == 0.0)):
            problem = f"the interval of <{node.tag}> must be a period and a phase between that and 0"
            node.refuse("interval", problem)
        elif interval and interval[1]:
            self._reading.unused.add(WithDefaults(node), "interval", "its phase is 0")
        return (1.0 / period if period > 0.0 else 0.0), delay

    # --------------------------------------------------------------------------------------------- mounts

    def on_site(self, node: Node) -> _Mounted | None:
        """A site, whose frame is that of the sensor."""
        if node.attribute("site") is None and node.attribute("camera") is not None:
            return None  # which is reported
        node.attribute("site", required=True)
        name = find_named(node, "site", "site", self._bodies.sites)
        return None if name is None else _Mounted(name, {"mount": self._bodies.sites[name]})

    def on_joint(self, node: Node) -> _Mounted | None:
        """A joint of one coordinate."""
        node.attribute("joint", required=True)
        name: Any = find_named(node, "joint", "joint", self._bodies.all_joints)
        joint = self._bodies.joints.get(name)
        if name is not None and (joint is None or len(joint.axes) != 1):
            self._leave_out(node, f"a <{node.tag}> of a joint of several coordinates is not supported")
        if joint is None or len(joint.axes) != 1:
            return None
        return _Mounted(name, {"joints": ((name, 1.0),)})

    def on_ball(self, node: Node) -> _Mounted | None:
        """A ball joint."""
        node.attribute("joint", required=True)
        name: Any = find_named(node, "joint", "joint", self._bodies.all_joints)
        joint = self._bodies.joints.get(name)
        if name is not None and (joint is None or not joint.kind.is_ball):
            problem = f'joint "{name}" of <{node.tag}> is not a ball joint'
            node.refuse("joint", problem, value=name)
            return None
        return None if name is None else _Mounted(name, {"joints": ((name, 1.0),)})

    def on_tendon(self, node: Node) -> _Mounted | None:
        """A fixed tendon."""
        node.attribute("tendon", required=True)
        name: Any = find_named(node, "tendon", "tendon", self._tendons.names)
        tendon = self._tendons.fixed.get(name)
        if name is not None and tendon is None:
            self._leave_out(node, f"a <{node.tag}> of a spatial tendon is not supported")
        return None if tendon is None else _Mounted(name, {"joints": tuple(tendon.terms.items())})

    def on_actuator(self, node: Node) -> _Mounted | None:
        """An actuator on a joint."""
        node.attribute("actuator", required=True)
        name = find_named(node, "actuator", "actuator", self._reading.actuator_nodes)
        if name is None:
            return None
        actuator, element = self._actuators.get(name), self._reading.actuator_nodes[name]
        if actuator is None or element.attribute("tendon") is not None:
            what = "an actuator that is not supported" if actuator is None else "an actuator on a tendon"
            self._leave_out(node, f"a <{node.tag}> of {what} is not supported")
            return None
        return _Mounted(name, {"actuator": name, "joints": ((actuator.joint, actuator.gear_ratio),)})

    def on_object(self, node: Node) -> _Mounted | None:
        """A body, geom or site, in World or in another of them."""
        mount = self._frame(node, "obj")
        if mount is None:
            return None
        reference = None
        if node.attribute("reftype") is not None or node.attribute("refname") is not None:
            reference = self._frame(node, "ref")
            if reference is None:
                return None
        name: Any = node.attribute("objname")  # which it has
        return _Mounted(name, {"mount": mount, "reference": reference})

    def on_body(self, node: Node) -> _Mounted | None:
        """A body with all that it carries."""
        node.attribute("body", required=True)
        name = find_named(node, "body", "body", self._bodies.all_links)
        return None if name is None else _Mounted(name, {"mount": (name, np.eye(4))})

    def on_nothing(self, node: Node) -> _Mounted:
        """The whole model."""
        return _Mounted("", {})

    def _frame(self, node: Node, end: str) -> tuple[str, Matrix4] | None:
        """(link, X_LS) of the object that objtype and objname, or reftype and refname, state; None after a finding."""
        node.attribute(f"{end}type", required=True)
        node.attribute(f"{end}name", required=True)
        kind, name = WithDefaults(node).keyword(f"{end}type", _OBJECTS, None), node.attribute(f"{end}name")
        if kind is None or name is None:
            return None
        if kind == "camera":
            self._leave_out(node, f"a <{node.tag}> of a camera is not supported")
            return None
        known: Collection[str] = {"site": self._bodies.sites, "geom": self._bodies.geom_names}.get(
            kind, self._bodies.all_links
        )
        if find_named(node, f"{end}name", kind.removeprefix("x"), known) is None:
            return None
        if kind == "site":
            return self._bodies.sites[name]
        if kind == "xbody":
            return name, np.eye(4)
        found = self._inertial_frame(node, name) if kind == "body" else self._geom_frame(name)
        if found is None:
            self._leave_out(node, f"a <{node.tag}> of such a {kind} is not supported")
        return found

    def _inertial_frame(self, node: Node, name: str) -> tuple[str, Matrix4] | None:
        """At the centre of mass; its axes are known where the file states them."""
        if name == WORLD:
            return WORLD, np.eye(4)
        inertial = self._bodies.links[name].inertial
        if inertial is None:
            return None
        if "lin" in node.tag or node.tag == "framepos":  # of which only the place matters
            return name, pose(None, inertial.X_LI[:3, 3])
        if "ang" in node.tag:
            return name, np.eye(4)
        return None if any(inertial.inertia[3:]) else (name, inertial.X_LI)

    def _geom_frame(self, name: str) -> tuple[str, Matrix4] | None:
        for link in self._bodies.links.values():
            for geometry in (*link.collisions, *link.visuals):
                if geometry.name == name:
                    return None if isinstance(geometry.shape, Mesh) else (link.name, geometry.X_LG)
        return None

    def site_shape(self, name: str) -> tuple[str, tuple[float, ...]]:
        """The volume of a site as rays take it."""
        element = self._bodies.site_elements[name]
        kind = element.keyword("type", _SITE_SHAPES, "sphere")
        size = (*element.vector("size", 3, (0.005,), least=1), 0.005, 0.005)[:3]
        if kind == "sphere":
            return kind, (size[0],)
        return kind, size[:2] if kind in ("capsule", "cylinder") else size

    def limits(self, mounted: _Mounted) -> tuple[float, float]:
        """Of a joint, or of a tendon."""
        joints = mounted.fields["joints"]
        if joints == ((mounted.name, 1.0),) and mounted.name in self._bodies.joints:
            axis = self._bodies.joints[mounted.name].axes[0]
            return axis.lower, axis.upper
        return self._tendons.limits.get(mounted.name, (-inf, inf))


_MOUNTS: dict[str, Callable[[_SensorReader, Node], _Mounted | None]] = {
    "site": _SensorReader.on_site,
    "joint": _SensorReader.on_joint,
    "ball": _SensorReader.on_ball,
    "tendon": _SensorReader.on_tendon,
    "actuator": _SensorReader.on_actuator,
    "object": _SensorReader.on_object,
    "body": _SensorReader.on_body,
    "": _SensorReader.on_nothing,
}
# settings that stand elsewhere than in the element of a sensor
SURROUNDINGS: dict[str, Callable[[_SensorReader, _Mounted], dict[str, Any]]] = {
    "magnetic_field": lambda reader, mounted: {"magnetic_field": tuple(reader.magnetic), "magnetic_unit": "1"},
    "shape": lambda reader, mounted: {"shape": reader.site_shape(mounted.name)},
    "limits": lambda reader, mounted: {"limits": reader.limits(mounted)},
}
