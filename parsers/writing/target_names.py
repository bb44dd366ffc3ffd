"""Names that a target format takes: those of a flat model, changed if they cannot stay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.frame_names import MODEL, SEPARATOR, WORLD, is_reserved
from mbcli.parsers.spec import SensorSpec
from mbcli.parsers.writing.flatten import with_names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mbcli.parsers.spec import ActuatorSpec, FrameSpec, JointSpec, LinkSpec, ModelSpec, PostureSpec
    from mbcli.parsers.writing.losses import Losses
    from mbcli.parsers.writing.target import Target

KINDS = {
    "links": "link",
    "deformables": "link",
    "frames": "frame",
    "filter_groups": "group",
    "joints": "joint",
    "actuators": "actuator",
    "transmission_actuators": "actuator",
}
# which kinds a field of a spec refers to, the first that has the name
_REFERRED = {
    "joint": ("joints",),
    "joints": ("joints",),
    "leader": ("joints",),
    "ignores": ("filter_groups",),
    "frame_A": ("frames", "links"),
    "frame_C": ("frames", "links"),
}


def with_target_names(model: ModelSpec, target: Target, losses: Losses) -> ModelSpec:
    """The flat ModelSpec with names that a `Target` takes; those changed go to `losses`."""
    renames: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    for namespace in target.namespaces:
        taken = {WORLD}
        for kind in namespace:
            for item in getattr(model, kind):
                renames[kind][item.name] = _new_name(item, kind, target, taken, losses)
    if not target.actuators_have_names:
        renames["actuators"] = {actuator.name: actuator.name for actuator in model.actuators}
        _tell_actuators(model, losses)

    def renamed(kind: str, item: Any) -> Any:
        own = renames.get(kind, {})
        return with_names(item, lambda name: own.get(name, name), refer)

    def refer(field: str, name: str) -> str:
        return next(
            (renames[kind][name] for kind in _REFERRED.get(field, ("links", "frames")) if name in renames[kind]), name
        )

    held = model.X_LinkModel
    sensors: Any = model.sensors  # forms of the format
    elements: dict[str, Any] = {
        kind: tuple(renamed(kind, item) for item in getattr(model, kind))
        for kind in (*KINDS, "force_elements", "constraints")
    }
    changed = replace(
        model,
        name=_cleaned(model.name, "model", target),
        X_LinkModel=None if held is None else (refer("link", held[0]), held[1]),
        **elements,
        postures=tuple(_with_names(posture, renames) for posture in model.postures),
        sensors=tuple(_with_new_names(sensor, renames) for sensor in sensors),
        contact_pairs=tuple(
            replace(
                pair,
                collision_A=(refer("link", pair.collision_A[0]), pair.collision_A[1]),
                collision_B=(refer("link", pair.collision_B[0]), pair.collision_B[1]),
            )
            for pair in model.contact_pairs
        ),
    )
    if changed.name != model.name:
        losses.add("changed", "NAME", f"model '{model.name}' is called '{changed.name}'", model.place)
    return changed


def _with_new_names(sensor: Any, renames: Mapping[str, Mapping[str, str]]) -> Any:
    if not isinstance(sensor, SensorSpec):
        return sensor.renamed(renames)  # in the form of the format
    links, joints = renames["links"], renames["joints"]
    mount, reference = (None if m is None else (links.get(m[0], m[0]), m[1]) for m in (sensor.mount, sensor.reference))
    named = tuple((joints.get(name, name), weight) for name, weight in sensor.joints)
    return replace(sensor, mount=mount, reference=reference, joints=named)


def _with_names(posture: PostureSpec, renames: Mapping[str, Mapping[str, str]]) -> PostureSpec:
    joints, links = renames["joints"], renames["links"]
    return replace(
        posture,
        positions=tuple((joints.get(name, name), values) for name, values in posture.positions),
        velocities=tuple((joints.get(name, name), values) for name, values in posture.velocities),
        poses=tuple((links.get(name, name), X) for name, X in posture.poses),
        spatial_velocities=tuple((links.get(name, name), V) for name, V in posture.spatial_velocities),
    )


def _new_name(
    item: ActuatorSpec | FrameSpec | JointSpec | LinkSpec, kind: str, target: Target, taken: set[str], losses: Losses
) -> str:
    if item.name == WORLD and kind == "links":
        return item.name
    noun = KINDS[kind]
    name = _cleaned(item.name, noun, target)
    if name in taken:
        name = generated_name(f"{name}_{noun}", taken)
    taken.add(name)
    if name != item.name:
        losses.add("changed", "NAME", f"{noun} '{item.name}' is called '{name}'", item.place)
    return name


def _cleaned(name: str, noun: str, target: Target) -> str:
    """The name without characters that XML, a scope or the format forbids."""
    if name == MODEL and target.model_frame_name is not None:
        return target.model_frame_name
    name = "".join(c if c.isprintable() else "_" for c in name).replace(SEPARATOR, "__").replace("${", "__{")
    if not name.strip():
        return f"unnamed_{noun}"
    return target.spelled(f"{name.strip('_')}_{noun}" if is_reserved(name) else name)


def _tell_actuators(model: ModelSpec, losses: Losses) -> None:
    for actuator in model.actuators:
        if actuator.name != actuator.joint:
            message = f"actuator '{actuator.name}' has the name of its joint, '{actuator.joint}'"
            losses.add("changed", "NAME", message, actuator.place)
