"""Sensors of an MJCF document: on sites, which are frames of the model, on joints, actuators and bodies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from lxml import etree
from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.frame_names import SEPARATOR
from mbcli.parsers.spec import FrameSpec
from mbcli.parsers.writing.write_xml import add

from mbcli.sensors import SENSORS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mbcli.parsers.spec import ModelSpec, SensorSpec, SourceLocation
    from mbcli.parsers.writing.losses import Losses
    from mbcli.parsers.writing.simple_joints import Part
    from mbcli.parsers.xml_document import XmlElement

    from mbcli.math.array_types import Matrix


@dataclass(frozen=True)
class SensorForm:
    """A sensor as MJCF has it: an element with the names of what it stands on."""

    name: str
    tag: str
    place: SourceLocation
    frame: str | None = None  # the site; of "object" elements, too
    reference: str | None = None  # the site in which it measures
    link: str | None = None
    joint: str | None = None
    actuator: str | None = None
    cutoff: float = 0.0
    rate: float = 0.0
    delay: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)  # those that stand elsewhere, as they are read

    def renamed(self, renames: Mapping[str, Mapping[str, str]]) -> SensorForm:
        """With new names of its frames, link, joint and actuator: {kind: {old: new}}."""

        def new(kind: str, name: str | None) -> str | None:
            return None if name is None else renames[kind].get(name, name)

        return replace(
            self,
            frame=new("frames", self.frame),
            reference=new("frames", self.reference),
            link=new("links", self.link),
            joint=new("joints", self.joint),
            actuator=new("actuators", self.actuator),
        )


def with_sensor_forms(model: ModelSpec, losses: Losses) -> ModelSpec:
    """The flat model with `SensorForm`s as its sensors, and frames for the sites; what MJCF lacks goes to `losses`."""
    frames, forms = list(model.frames), []
    taken = {frame.name for frame in frames} | {link.name for link in model.links}
    joints = {joint.name: joint for joint in model.joints}
    fields = [
        sensor.settings["magnetic_field"]
        for sensor in model.sensors
        if "magnetic_field" in SENSORS[sensor.kind].SURROUNDINGS
    ]
    shapes: dict[str, Any] = {}  # of sites

    def site(mount: tuple[str, Matrix], wanted: str, place: SourceLocation, shape: Any = None) -> str:
        link, X_LS = mount
        for frame in frames:
            is_free = shape is None or shapes.get(frame.name, shape) == shape
            if frame.link == link and np.array_equal(frame.X_LF, X_LS) and is_free:
                if shape is not None:
                    shapes[frame.name] = shape
                return frame.name
        name = generated_name(wanted, taken)
        taken.add(name)
        if shape is not None:
            shapes[name] = shape
        frames.append(FrameSpec(name, link, X_LS, place))
        losses.add("changed", "FRAME", f"frame '{name}' is added on '{link}'", place)
        return name

    for sensor in model.sensors:
        problem = _missing(sensor, joints, fields)
        if problem is not None:
            losses.add("lost", "SENSOR", f"the sensor '{sensor.name}': {problem}", sensor.place)
            continue
        if sensor.noise:
            losses.add("lost", "SENSOR", f"the noise of sensor '{sensor.name}'", sensor.place)
        forms += [replace(form, **_mounted(sensor, form.tag, site)) for form in _elements(sensor, losses)]
    return replace(model, frames=tuple(frames), sensors=tuple(forms))  # type: ignore[arg-type]


def _elements(sensor: SensorSpec, losses: Losses) -> list[SensorForm]:
    common: dict[str, Any] = {"place": sensor.place, "rate": sensor.rate, "delay": sensor.delay}
    name = sensor.name.replace(SEPARATOR, "__")
    if name != sensor.name:
        losses.add("changed", "NAME", f"sensor '{sensor.name}' is called '{name}'", sensor.place)
    parts = SENSORS[sensor.kind].MJCF_PARTS
    if parts:
        forms = [SensorForm(f"{name}_{ending}", tag, **common) for tag, ending in parts]
        words = " and ".join(f"<{form.tag}> '{form.name}'" for form in forms)
        message = f"{sensor.kind} '{sensor.name}' is {words}; what these do not measure of it is gone"
        losses.add("changed", "SENSOR", message, sensor.place)
        return forms
    settings = {what: sensor.settings[what] for what in SENSORS[sensor.kind].SURROUNDINGS}
    if "magnetic_unit" in sensor.settings:
        settings["magnetic_unit"] = "1"
        if sensor.settings["magnetic_unit"] != "1":
            message = f"the field of sensor '{sensor.name}' in {sensor.settings['magnetic_unit']}, as MJCF has no unit"
            losses.add("changed", "SENSOR", message, sensor.place)
    return [SensorForm(name, _tag(sensor), cutoff=sensor.cutoff, settings=settings, **common)]


def _tag(sensor: SensorSpec) -> str:
    tags = SENSORS[sensor.kind].MJCF
    return sensor.type if sensor.type in tags else next(iter(tags))


def _missing(sensor: SensorSpec, joints: Mapping[str, Any], fields: Sequence[tuple[float, ...]]) -> str | None:
    """What MJCF, or its reader, has not of a sensor; None if it has it. fields: of the magnetometers."""
    kind = SENSORS[sensor.kind]
    if kind.MJCF_PARTS:
        return None if sensor.mount is not None else "it is on no link"
    if not kind.MJCF:
        return f"MJCF has none that measures {kind.TITLE}"
    if "magnetic_field" in kind.SURROUNDINGS and any(tuple(one) != tuple(fields[0]) for one in fields):
        return "there are several magnetic fields"
    mounts = kind.MJCF[_tag(sensor)]
    if mounts == "tendon":
        return "it measures a tendon"
    if mounts in ("joint", "ball"):
        found = [joints.get(name) for name, _ in sensor.joints]
        if len(found) != 1 or found[0] is None:
            return "its joint is not there"
        axis = found[0].axes[0] if found[0].axes else None
        if "limits" in sensor.settings and (axis is None or sensor.settings["limits"] != (axis.lower, axis.upper)):
            return "it measures other limits than those of its joint"
    return None


def _mounted(sensor: SensorSpec, tag: str, site: Callable[..., str]) -> dict[str, Any]:
    mounts = "site" if SENSORS[sensor.kind].MJCF_PARTS else SENSORS[sensor.kind].MJCF[tag]
    if mounts in ("joint", "ball"):
        return {"joint": sensor.joints[0][0]}
    if mounts == "actuator":
        return {"actuator": sensor.actuator}
    if mounts == "":
        return {}
    assert sensor.mount is not None  # all others stand on a link
    if mounts == "body":
        return {"link": sensor.mount[0]}
    reference = None
    if sensor.reference is not None:
        reference = site(sensor.reference, f"{sensor.name}_reference", sensor.place)
    shape = sensor.settings.get("shape")
    return {"frame": site(sensor.mount, f"{sensor.name}_site", sensor.place, shape), "reference": reference}


def magnetic_field(spec: ModelSpec) -> tuple[float, ...] | None:
    """That of the `SensorForm`s of a ModelSpec; None if none measures it."""
    forms: Any = spec.sensors
    return next((form.settings["magnetic_field"] for form in forms if "magnetic_field" in form.settings), None)


def site_shapes(spec: ModelSpec) -> dict[str, dict[str, Any]]:
    """{frame: type and size of its site} of the `SensorForm`s of a ModelSpec that measure in a volume."""
    forms: Any = spec.sensors
    shapes = {form.frame: form.settings["shape"] for form in forms if "shape" in form.settings}
    return {frame: {"type": kind, "size": size} for frame, (kind, size) in shapes.items()}


def add_sensors(root: XmlElement, spec: ModelSpec, parts: Mapping[str, tuple[Part, ...]]) -> None:
    """Adds <sensor> of a ModelSpec with `SensorForm`s."""
    if not spec.sensors:
        return
    section = etree.SubElement(root, "sensor")
    form: Any
    for form in spec.sensors:
        mounts = next((kind.MJCF[form.tag] for kind in SENSORS.values() if form.tag in kind.MJCF), "")
        said: dict[str, Any] = {"cutoff": form.cutoff or None}
        if mounts == "object":
            said |= {"objtype": "site", "objname": form.frame}
            if form.reference is not None:
                said |= {"reftype": "site", "refname": form.reference}
        else:
            joint = None if form.joint is None else parts[form.joint][0].name
            said |= {"site": form.frame, "body": form.link, "joint": joint, "actuator": form.actuator}
        if form.rate or form.delay:
            interval = (1.0 / form.rate, 0.0) if form.rate else None
            said |= {"nsample": 1, "interval": interval, "delay": form.delay or None}
        add(section, form.tag, name=form.name, **said)


def sensors_as_read(spec: ModelSpec, parts: Mapping[str, tuple[Part, ...]]) -> list[tuple[Any, ...]]:
    """(name, element, mount, reference, joint, actuator, cutoff, rate, delay, settings, noise) of each form."""
    frames = {frame.name: (frame.link, frame.X_LF) for frame in spec.frames}
    found: list[tuple[Any, ...]] = []
    form: Any
    for form in spec.sensors:
        mount = (
            frames[form.frame] if form.frame is not None else (None if form.link is None else (form.link, np.eye(4)))
        )
        reference = None if form.reference is None else frames[form.reference]
        joint = None if form.joint is None else parts[form.joint][0].name
        found.append(
            (
                form.name,
                form.tag,
                mount,
                reference,
                joint,
                form.actuator,
                form.cutoff,
                form.rate,
                form.delay,
                form.settings,
                (),
            )
        )
    return found
