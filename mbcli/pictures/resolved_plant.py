"""A plant for kinematics from the resolved model of a log, so that no file of the model is needed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import MbcliError, ModelError
from mbcli.geometry import Rgba, SceneGraph, shapes
from mbcli.geometry.properties import IllustrationProperties
from mbcli.math import RigidTransform
from mbcli.meshes.height_grids import unpacked_heights
from mbcli.meshes.made_surfaces import cone_surface, prism_surface
from mbcli.models.loading import register_terrain
from mbcli.multibody.inertia.spatial_inertia import spatial_inertia_of
from mbcli.multibody.plant import CoulombFriction, MultibodyPlant
from mbcli.multibody.tree import FixedOffsetFrame
from mbcli.multibody.tree.joint_kinds import joint_class

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from mbcli.geometry.shapes import Shape
    from mbcli.multibody.inertia.spatial_inertia import SpatialInertia
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.index import ModelInstanceIndex
    from mbcli.multibody.tree.rigid_body import RigidBody

PRIMITIVES: dict[str, type[Shape]] = {
    "box": shapes.Box,
    "sphere": shapes.Sphere,
    "cylinder": shapes.Cylinder,
    "capsule": shapes.Capsule,
    "ellipsoid": shapes.Ellipsoid,
}


def plant_of_resolved_model(
    text: str, name: str, may_read: Callable[[str], bool] = lambda path: True
) -> MultibodyPlant:
    """A finalized plant with the bodies, joints and shapes of the document that `mbcli inspect --json` prints.

    It has neither actuators nor constraints. Left out are joints that close loops, and meshes whose files
    may_read(path) refuses.

    ModelError, which begins with a name, if the document does not say where its bodies are.
    """
    try:
        return _plant(json.loads(text), may_read)
    except MbcliError as error:
        raise ModelError(f"{name}: error: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, RuntimeError) as error:
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise ModelError(f"{name}: error: its resolved model cannot be drawn: {reason}") from None


def _plant(document: Mapping[str, Any], may_read: Callable[[str], bool]) -> MultibodyPlant:
    plant = MultibodyPlant(0.0)
    plant.RegisterAsSourceForSceneGraph(SceneGraph())
    instances = {plant.GetModelInstanceName(body_instance): body_instance for body_instance in _first_instances(plant)}
    bodies: dict[tuple[str, str], Any] = {}
    for body in document["bodies"]:
        instance = body["model_instance"]
        if instance not in instances:
            instances[instance] = plant.AddModelInstance(instance)
        bodies[instance, body["name"]] = plant.AddRigidBody(body["name"], instances[instance], _inertia(body))
    for joint in document["joints"]:
        closes_loop = joint["num_positions"] and joint["position_start"] is None
        if not closes_loop:
            _add_joint(plant, bodies, joint)
    for geometry in document["geometries"]:
        if geometry["body"] == "world":
            body = plant.world_body()
        else:
            body = bodies[geometry["model_instance"], geometry["body"]]
        _add_geometry(plant, body, geometry, may_read)
    ground = document.get("contact", {}).get("ground")
    if ground is not None:
        X_WG = RigidTransform([0.0, 0.0, float(ground)])
        plant.RegisterCollisionGeometry(
            plant.world_body(), X_WG, shapes.HalfSpace(), "ground", CoulombFriction(1.0, 1.0)
        )
    terrain = document.get("contact", {}).get("terrain")
    if terrain is not None:
        register_terrain(plant, _height_field(terrain), CoulombFriction(1.0, 1.0))
    plant.Finalize()
    return plant


def _first_instances(plant: MultibodyPlant) -> tuple[ModelInstanceIndex, ModelInstanceIndex]:
    """Those that every plant has, World's and the default one."""
    from mbcli.multibody.tree import default_model_instance, world_model_instance

    return world_model_instance(), default_model_instance()


def _inertia(body: Mapping[str, Any]) -> SpatialInertia:
    """The inertia of a body as it is: a picture does not ask whether it is possible."""
    mass, com = float(body["mass"]), np.array(body["com"], dtype=float)
    if not mass > 0.0:
        return spatial_inertia_of(0.0, np.zeros(3), np.zeros((3, 3)))
    central = np.array(body["inertia_about_com"], dtype=float).reshape(3, 3)
    about_origin = central / mass + (com @ com) * np.eye(3) - np.outer(com, com)
    return spatial_inertia_of(mass, com, about_origin)


def _add_joint(plant: MultibodyPlant, bodies: dict[tuple[str, str], RigidBody], joint: Mapping[str, Any]) -> None:
    instance, kind = joint["model_instance"], joint["type"]
    child, made = bodies[instance, joint["child"]], joint_class(kind)
    F = _offset(plant, _parent(plant, bodies, joint), joint["X_PF"])
    M = _offset(plant, child, joint["X_CM"])
    added = None if made is None else made.from_description(joint["name"], F, M, joint)
    if added is None:
        raise ModelError(f"joint '{joint['name']}' is of the type {kind}: log it with --fields poses to draw it")
    plant.AddJoint(added)


def _parent(plant: MultibodyPlant, bodies: dict[tuple[str, str], RigidBody], joint: Mapping[str, Any]) -> RigidBody:
    name, instance = joint["parent"], joint.get("parent_model_instance")
    if name == "world":
        return plant.world_body()
    if instance is not None:
        return bodies[instance, name]
    found = [body for (_, other), body in bodies.items() if other == name]  # format 1.3 does not tell
    if len(found) != 1:
        raise ModelError(
            f"{len(found)} bodies are named '{name}', the parent of joint '{joint['name']}': log it with --fields poses"
        )
    return found[0]


def _offset(plant: MultibodyPlant, body: RigidBody, X: ArrayLike) -> Frame:
    X_BF = RigidTransform(np.array(X, dtype=float))
    return body.body_frame() if X_BF.IsExactlyIdentity() else plant.AddFrame(FixedOffsetFrame(body.body_frame(), X_BF))


def _add_geometry(
    plant: MultibodyPlant, body: RigidBody, geometry: Mapping[str, Any], may_read: Callable[[str], bool]
) -> None:
    shape = _shape(geometry["shape"], geometry["parameters"], may_read)
    if shape is None:
        return
    X_BG = RigidTransform(np.array(geometry["X_BG"], dtype=float))
    assert plant.scene_graph is not None
    count = plant.scene_graph.model_inspector().num_geometries()
    name = f"{geometry['name'] or geometry['shape']}_{count}"  # names in files may be the same
    if geometry["role"] == "visual":
        properties = IllustrationProperties()
        if geometry.get("color"):
            properties.AddProperty("phong", "diffuse", Rgba(rgba=geometry["color"]))
        plant.RegisterVisualGeometry(body, X_BG, shape, name, properties)
    else:
        plant.RegisterCollisionGeometry(body, X_BG, shape, name, CoulombFriction(1.0, 1.0))


def _shape(kind: str, values: dict[str, Any], may_read: Callable[[str], bool]) -> Shape | None:
    """A shape of a file, or of a plant that a program made; None for a mesh whose file is not known, or not read."""
    if kind in ("mesh", "convex"):
        if not values.get("path") or not may_read(str(values["path"])):
            return None
        mesh, part = shapes.Convex if values.get("convex") else shapes.Mesh, values.get("submesh")
        return mesh(values["path"], scale3=values["scale"], submesh=part, center=bool(values["center"]))
    if kind == "cone":
        return shapes.ClosedSurface(*cone_surface(values["radius"], values["length"]), "cone")
    if kind == "polyline":
        return shapes.ClosedSurface(*prism_surface(values["outlines"], values["height"]), "polyline")
    if kind == "heightfield":
        return _height_field(values)
    if kind == "halfspace":
        return shapes.HalfSpace()
    measures = values.get("size") or values.get("radii")  # boxes and ellipsoids of files
    if kind not in PRIMITIVES:
        return None
    return PRIMITIVES[kind](*(measures or [values[name] for name in PRIMITIVES[kind].MEASURES]))


def _height_field(values: Mapping[str, Any]) -> shapes.HeightField:
    return shapes.HeightField(unpacked_heights(values), values["x"], values["y"], values["base"])
