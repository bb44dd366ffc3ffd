"""A model whose links have other frames, fixed to the old ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.poses import compose
from mbcli.parsers.proximity_properties import FRICTION_BODY, FRICTION_DIRECTION
from mbcli.parsers.spec import (
    IDENTITY,
    BushingSpec,
    FrameSpec,
    PathPoint,
    SensorSpec,
    TendonConstraintSpec,
    TransmissionSpec,
    WeldConstraintSpec,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeVar

    from mbcli.parsers.spec import GeometrySpec, LinkSpec, ModelSpec, TransmissionActuatorSpec

    from mbcli.math.array_types import Matrix4

    _Through = TypeVar("_Through", bound=TransmissionActuatorSpec)


def with_moved_links(model: ModelSpec, moves: Mapping[str, Matrix4]) -> ModelSpec:
    """The same flat model, with another frame for some links. moves: {link: X_NL, pose of the old frame in the new}.

    Joints stay in place. The poses of links in the model (X_ModelL) are left to the caller.
    """

    def X(link: str, X_LA: Matrix4) -> Matrix4:
        return compose(moves[link], X_LA) if link in moves else X_LA

    def point(link: str, p: Any) -> Any:
        return tuple((moves[link] @ np.array([*p, 1.0]))[:3].tolist()) if link in moves else p

    def turned(geometry: GeometrySpec) -> GeometrySpec:
        body = geometry.properties.get(FRICTION_BODY)
        if body is None or body not in moves:
            return geometry
        d = moves[body][:3, :3] @ geometry.properties[FRICTION_DIRECTION]
        return replace(geometry, properties={**geometry.properties, FRICTION_DIRECTION: tuple(d.tolist())})

    def moved_link(link: LinkSpec) -> LinkSpec:
        inertial = link.inertial
        return replace(
            link,
            inertial=None if inertial is None else replace(inertial, X_LI=X(link.name, inertial.X_LI)),
            visuals=tuple(replace(g, X_LG=X(link.name, g.X_LG)) for g in link.visuals),
            collisions=tuple(turned(replace(g, X_LG=X(link.name, g.X_LG))) for g in link.collisions),
        )

    def moved_physics(spec: Any) -> Any:
        if isinstance(spec, WeldConstraintSpec):
            return replace(spec, X_AP=X(spec.link_A, spec.X_AP), X_BQ=X(spec.link_B, spec.X_BQ))
        if isinstance(spec, BushingSpec):
            return replace(
                spec, frame_A=kept.get(spec.frame_A, spec.frame_A), frame_C=kept.get(spec.frame_C, spec.frame_C)
            )
        if isinstance(spec, TendonConstraintSpec):
            return spec
        return replace(spec, p_AP=point(spec.link_A, spec.p_AP), p_BQ=point(spec.link_B, spec.p_BQ))

    def moved_sensor(sensor: Any) -> Any:
        if not isinstance(sensor, SensorSpec):
            return sensor  # on a frame
        ends = {end: getattr(sensor, end) for end in ("mount", "reference")}
        moved: dict[str, Any] = {end: (mount[0], X(*mount)) for end, mount in ends.items() if mount is not None}
        return replace(sensor, **moved)

    def moved_actuator(actuator: _Through) -> _Through:
        given = actuator.transmission
        path = tuple(
            PathPoint(p.kind, p.link, X(p.link, p.X_LP), p.size, None if p.side is None else (p.side[0], X(*p.side)))
            for p in given.path
        )
        moved = TransmissionSpec(given.kind, given.gear, given.joints, given.coefficients, path)
        return replace(actuator, transmission=moved)

    if not moves:
        return model
    held = model.X_LinkModel
    between = [name for spec in model.force_elements if isinstance(spec, BushingSpec) for name in _frames(spec)]
    kept = {name: f"{name}_as_read" for name in between if name in moves}  # the frames that bushings are between
    old = tuple(FrameSpec(frame, link, IDENTITY, model.place) for link, frame in kept.items())
    return replace(
        model,
        links=tuple(moved_link(link) if link.name in moves else link for link in model.links),
        joints=tuple(replace(j, X_PF=X(j.parent, j.X_PF), X_CM=X(j.child, j.X_CM)) for j in model.joints),
        frames=tuple(replace(frame, X_LF=X(frame.link, frame.X_LF)) for frame in (*model.frames, *old)),
        force_elements=tuple(map(moved_physics, model.force_elements)),
        constraints=tuple(map(moved_physics, model.constraints)),
        sensors=tuple(map(moved_sensor, model.sensors)),
        transmission_actuators=tuple(map(moved_actuator, model.transmission_actuators)),
        tendon_springs=tuple(map(moved_actuator, model.tendon_springs)),
        X_LinkModel=None if held is None else (held[0], X(*held)),
    )


def _frames(bushing: BushingSpec) -> tuple[str, str]:
    return bushing.frame_A, bushing.frame_C
