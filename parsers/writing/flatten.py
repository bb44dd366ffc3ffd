"""A model and the models nested in it as one `ModelSpec` without nested models, worlds and static models."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from mbcli.parsers.frame_names import MODEL, SEPARATOR, WORLD
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.proximity_properties import FRICTION_BODY
from mbcli.parsers.spec import IDENTITY, FrameSpec, JointSpec, PathPoint, TransmissionSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.parsers.spec import GeometrySpec, ModelSpec, SensorSpec

    from mbcli.math.array_types import Matrix

STATIC_WELD = "sdformat_model_static_world_welds_to_{}"  # name of the joint that holds a link of a static model

_REFERENCES = {"link", "parent", "child", "link_A", "link_B", "frame_A", "frame_C", "joint", "joints", "leader"}
_REFERENCES |= {"members", "ignores"}  # fields of specs that name another element


def flattened(model: ModelSpec) -> ModelSpec:
    """The same model without nesting: elements of a nested model are MODEL::NAME, its frame is the frame MODEL.

    Elements stand in the order in which a plant numbers them. Links of static models are welded to the world. The
    models of a world become parts of one model whose frame is the world's.
    """
    parts: dict[str, list[Any]] = {name: [] for name in (*_PARTS, _SENSORS, _PLUGINS)}
    gravity = _collect(model, "", pose_in_world(model), parts)
    found: dict[str, Any] = {name: tuple(specs) for name, specs in parts.items()}
    return replace(
        model,
        **found,
        models=(),
        is_world=False,
        static=False,
        gravity=gravity,
    )


_SENSORS = "sensors"
_PLUGINS = "plugins"  # as they are: no format gets them
_PARTS = (
    *("links", "deformables", "joints", "frames", "actuators", "transmission_actuators", "tendon_springs"),
    *("force_elements", "constraints", "filter_groups"),
)


def pose_in_world(model: ModelSpec) -> Matrix:
    return IDENTITY if model.is_world else model.X_WModel


def _collect(
    model: ModelSpec, prefix: str, X_WTop: Matrix, parts: dict[str, list[Any]]
) -> tuple[float, float, float] | None:
    """Appends the elements of a model, those of nested models first; returns the gravity that holds in the end."""
    gravity = None
    for inner in model.models:
        stated = _collect(inner, f"{prefix}{inner.name}{SEPARATOR}", X_WTop, parts)
        gravity = gravity if stated is None else stated
        if inner.X_LinkModel is not None:
            link, X_LinkModel = inner.X_LinkModel
            name = prefix + inner.name
            parts["frames"].append(FrameSpec(name, _scoped(f"{name}{SEPARATOR}", link), X_LinkModel, inner.place))
    X_TopModel = IDENTITY if not prefix else compose(inverse(X_WTop), pose_in_world(model))
    for name in _PARTS:
        parts[name] += [with_names(item, lambda name: _scoped(prefix, name)) for item in getattr(model, name)]
    parts[_SENSORS] += [_scoped_sensor(prefix, sensor) for sensor in model.sensors] if prefix else model.sensors
    parts[_PLUGINS] += model.plugins
    if prefix:
        own = len(parts["links"]) - len(model.links)
        parts["links"][own:] = [
            replace(link, X_ModelL=compose(X_TopModel, link.X_ModelL)) for link in parts["links"][own:]
        ]
        own = len(parts["deformables"]) - len(model.deformables)
        parts["deformables"][own:] = [
            replace(body, X_ModelD=compose(X_TopModel, body.X_ModelD)) for body in parts["deformables"][own:]
        ]
    if model.static:
        parts["joints"] += _welds(model, prefix)
    return model.gravity if model.gravity is not None else gravity


def _scoped(prefix: str, name: str) -> str:
    return name if name == WORLD else (prefix + name).removesuffix(SEPARATOR + MODEL)


def _scoped_sensor(prefix: str, sensor: SensorSpec) -> SensorSpec:
    def mounted(mount: tuple[str, Any] | None) -> tuple[str, Any] | None:
        return None if mount is None else (_scoped(prefix, mount[0]), mount[1])

    return replace(
        sensor,
        name=prefix + sensor.name,
        mount=mounted(sensor.mount),
        reference=mounted(sensor.reference),
        joints=tuple((prefix + name, weight) for name, weight in sensor.joints),
        actuator=None if sensor.actuator is None else prefix + sensor.actuator,
    )


def with_names(spec: Any, rename: Callable[[str], str], references: Callable[[str, str], str] | None = None) -> Any:
    """A spec whose own name, and the names of others in it, are passed through functions.

    rename: of its own name; references: of the names of others, called with the field and the name, default: rename.
    """
    refer = references or (lambda field, name: rename(name))
    changes: dict[str, Any] = {}
    for field in fields(spec):
        value = getattr(spec, field.name)
        if field.name == "name" and value is not None:
            changes["name"] = rename(value)
        elif field.name in _REFERENCES:
            changes[field.name] = (
                refer(field.name, value) if isinstance(value, str) else tuple(refer(field.name, each) for each in value)
            )
        elif field.name == "transmission":
            changes["transmission"] = _with_names_in_path(value, refer)
        elif field.name == "collisions":
            changes["collisions"] = tuple(_with_names_in_friction(each, refer) for each in value)
        elif field.name == "axes":
            changes["axes"] = tuple(
                axis if axis.mimic is None else replace(axis, mimic=with_names(axis.mimic, rename, references))
                for axis in value
            )
    return replace(spec, **changes)


def _with_names_in_path(transmission: TransmissionSpec, refer: Callable[[str, str], str]) -> TransmissionSpec:
    def named(part: PathPoint) -> PathPoint:
        side = None if part.side is None else (refer("link", part.side[0]), part.side[1])
        return PathPoint(part.kind, refer("link", part.link), part.X_LP, part.size, side)

    joints, path = (refer("joint", name) for name in transmission.joints), map(named, transmission.path)
    kind, gear, _, coefficients, _ = transmission
    return TransmissionSpec(kind, gear, tuple(joints), coefficients, tuple(path))


def _with_names_in_friction(geometry: GeometrySpec, refer: Callable[[str, str], str]) -> GeometrySpec:
    """A collision whose friction has a direction that may be given in another link."""
    link = geometry.properties.get(FRICTION_BODY)
    if link is None:
        return geometry
    return replace(geometry, properties={**geometry.properties, FRICTION_BODY: refer("link", link)})


def _welds(model: ModelSpec, prefix: str) -> list[JointSpec]:
    """Joints that hold the links of a static model in place, but those that its own joints hold."""
    held = {joint.child for joint in model.joints}
    return [
        JointSpec(
            name=prefix + STATIC_WELD.format(link.name),
            type="fixed",
            parent=WORLD,
            child=prefix + link.name,
            X_PF=compose(model.X_WModel, link.X_ModelL),
            X_CM=IDENTITY,
            place=link.place,
        )
        for link in model.links
        if link.name not in held and link.name != WORLD
    ]
