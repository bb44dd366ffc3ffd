"""Named postures of a model as states of its plant: keyframes of MJCF, group states of SRDF."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.common.fast_dataclass import dataclass
from mbcli.common.suggestions import closest
from mbcli.errors import ArgumentError
from mbcli.math import RigidTransform
from mbcli.multibody.math import SpatialVelocity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mbcli.math.array_types import Matrix4, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree import ModelInstanceIndex
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.parsers.spec import ModelSpec, PostureSpec


@dataclass(frozen=True)
class Posture:
    """A posture of a file, and the model of a plant that it is of: its instance, and its ModelSpec."""

    spec: PostureSpec
    model: ModelSpec
    instance: ModelInstanceIndex

    def name(self) -> str:
        return self.spec.name


def postures_of(specs: Iterable[ModelSpec], instances: Iterable[ModelInstanceIndex]) -> list[Posture]:
    """Those of models that became instances of a plant, in the order of their files."""
    return [
        Posture(posture, spec, instance)
        for spec, instance in zip(specs, instances, strict=True)
        for posture in spec.postures
    ]


def find_postures(plant: MultibodyPlant, postures: Sequence[Posture], name: str, wanted_by: str) -> list[Posture]:
    """Those of a name, or of `instance::name`; groups of one robot have postures of one name.

    ArgumentError with the names if there is none.
    """
    scoped = [f"{plant.GetModelInstanceName(posture.instance)}::{posture.name()}" for posture in postures]
    found = [p for p, full in zip(postures, scoped, strict=True) if name in (p.name(), full)]
    if not found:
        names = list(dict.fromkeys(posture.name() for posture in postures))
        likely = closest(name, names)
        there = f"did you mean '{likely}'?" if likely else f"there are {listed(names) if names else 'none'}"
        raise ArgumentError(f"{argument(wanted_by)}: there is no posture named '{name}'; {there}")
    return found


def set_postures(plant: MultibodyPlant, context: Context, postures: Iterable[Posture]) -> np.ndarray:
    """Puts postures into a context; returns the mask (nq,) of the positions of joints that they state.

    What they leave out stays as it is, and so does a link that the plant does not let float.
    """
    stated = np.zeros(plant.num_positions(), dtype=bool)
    for posture in postures:
        for name, values in posture.spec.positions:
            joint = plant.GetJointByName(name, posture.instance)
            here = joint.positions_of(values)
            if joint.num_positions() == len(here) and joint not in plant.elements.loop_joints:
                joint.SetPositions(context, here)
                stated[joint.position_start() : joint.position_start() + len(here)] = True
        for name, values in posture.spec.velocities:
            joint = plant.GetJointByName(name, posture.instance)
            if joint.num_velocities() == len(values) and joint not in plant.elements.loop_joints:
                joint.SetVelocities(context, values)
        for link, X_ModelL in posture.spec.poses:
            body = plant.GetBodyByName(link, posture.instance)
            if body.is_floating_base_body():
                plant.SetFreeBodyPose(context, body, _model_in_world(plant, posture, body) @ _transform(X_ModelL))
        for link, velocity in posture.spec.spatial_velocities:
            body = plant.GetBodyByName(link, posture.instance)
            if body.is_floating_base_body():
                R_WModel = _model_in_world(plant, posture, body).rotation().matrix()
                w, v = R_WModel @ velocity[:3], R_WModel @ velocity[3:]
                plant.SetFreeBodySpatialVelocity(context, body, SpatialVelocity(w, v))
    return stated


def posture_positions(plant: MultibodyPlant, postures: Sequence[Posture], q: np.ndarray) -> np.ndarray:
    """q (nq,) with the positions of postures in place of its own."""
    context = _scratch(plant, q)
    set_postures(plant, context, postures)
    return plant.GetPositions(context)


def _scratch(plant: MultibodyPlant, q: Vector) -> Context:
    from mbcli.multibody.state.context import Context

    context = Context(plant, compiled=False)
    plant.SetPositions(context, q)
    return context


def _model_in_world(plant: MultibodyPlant, posture: Posture, body: RigidBody) -> RigidTransform:
    """X_WModel: where the model frame is if the link is at its default pose."""
    link = next(link for link in posture.model.links if link.name == body.name())
    return plant.GetDefaultFreeBodyPose(body) @ _transform(link.X_ModelL).inverse()


def _transform(X: Matrix4) -> RigidTransform:
    return RigidTransform.MakeUnchecked(X[:3])
