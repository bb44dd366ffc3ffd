"""From a plant to its scene: shapes of its scene graph, joints, inertias, poses."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import MbcliError
from mbcli.geometry import shapes
from mbcli.geometry.properties import Role
from mbcli.log.fields.body_poses import body_poses
from mbcli.math.rotation_array import quaternion_from_matrix
from mbcli.meshes.triangles import convex_hull, load_triangles
from mbcli.models.postures import posture_positions
from mbcli.models.units import coordinate_units
from mbcli.multibody.state.context import Context
from mbcli.pictures.scene import (
    IDENTITY,
    MEASURES,
    PictureBody,
    PictureCoordinate,
    PictureFrame,
    PictureJoint,
    PictureMesh,
    PictureShape,
    Scene,
    moving_bodies,
    pose_row,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import BoolArray, FloatArray, IntArray, Matrix
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant import MultibodyPlant
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.rigid_body import RigidBody

SOFT_COLOR = (0.36, 0.66, 0.54, 1.0)  # of deformable bodies whose file gives none
INTERPRETED_ROWS = 1500  # more states than these are sooner evaluated by compiled code, which is loaded first
KINDS = {
    shapes.Box: "box",
    shapes.Sphere: "sphere",
    shapes.Cylinder: "cylinder",
    shapes.Capsule: "capsule",
    shapes.Ellipsoid: "ellipsoid",
    shapes.HalfSpace: "half_space",
}


class MeshStore:
    """Meshes of files, each read once and kept until its file changes; a mesh that cannot be read is a note."""

    def __init__(self) -> None:
        self._read: dict[tuple, tuple[Any, str | None, PictureMesh | None, str]] = {}

    def find(self, shape: shapes.Shape) -> tuple[str | None, PictureMesh | None, str]:
        """Key and triangles of a Mesh, Convex, ClosedSurface or HeightField, or None twice and a note."""
        if isinstance(shape, shapes.HeightField):
            return (*keyed(*shape.surface()), "")
        if isinstance(shape, shapes.ClosedSurface):
            return (*keyed(shape.vertices, shape.triangles), "")
        assert isinstance(shape, shapes.Mesh)
        convex = isinstance(shape, shapes.Convex)
        name = (shape.filename(), tuple(shape.scale3().tolist()), shape.submesh, shape.center, convex)
        stamp = file_stamp(shape.filename())
        if name not in self._read or self._read[name][0] != stamp:
            self._read[name] = (stamp, *self._load(shape, convex))
        _, key, mesh, note = self._read[name]
        return key, mesh, note

    def _load(self, shape: shapes.Mesh, convex: bool) -> tuple[str | None, PictureMesh | None, str]:
        path = shape.filename()
        try:
            vertices, triangles = load_triangles(path, shape.scale3(), submesh=shape.submesh, center=shape.center)
            if convex:
                triangles = convex_hull(vertices, path)
        except MbcliError as error:
            return None, None, str(error)
        return (*keyed(vertices, triangles), "")

    def notes(self) -> list[str]:
        """Sentences on meshes that could not be read."""
        return [note for _, _, _, note in self._read.values() if note]

    def files(self) -> list[str]:
        """The names of the files that were read."""
        return list({name[0]: None for name in self._read})


def file_stamp(path: str) -> tuple | None:
    """A value that changes when a file is written; None if it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def shape_as_drawn(
    shape: shapes.Shape, store: MeshStore
) -> tuple[str | None, tuple[float, ...], str | None, PictureMesh | None, str]:
    """(kind, size, key, triangles, "") of a shape; the kind is None, and a note last, if it cannot be drawn."""
    kind = KINDS.get(type(shape), "mesh")
    if kind != "mesh":
        return kind, tuple(float(getattr(shape, name)()) for name in MEASURES[kind]), None, None, ""
    if not isinstance(shape, (shapes.Mesh, shapes.ClosedSurface, shapes.HeightField)):
        return None, (), None, None, f"a {type(shape).__name__} is not drawn"
    key, mesh, note = store.find(shape)
    return ("mesh" if mesh is not None else None), (), key, mesh, note


def keyed(vertices: Matrix, triangles: IntArray) -> tuple[str, PictureMesh]:
    """A key that follows from triangles, and these as a PictureMesh."""
    digest = hashlib.sha256(np.ascontiguousarray(vertices, dtype="<f8").tobytes())
    digest.update(np.ascontiguousarray(triangles, dtype="<i8").tobytes())
    return digest.hexdigest()[:24], PictureMesh(vertices, triangles)


def scene_of(
    loaded: LoadedModel, q: ArrayLike | None = None, *, meshes: MeshStore | None = None, roles: str = "both"
) -> Scene:
    """The scene of a loaded model at positions q (nq,), by default its default positions.

    Args:
        meshes: where meshes are kept that were read before.
        roles: "visual": without the shapes that collide, unless nothing else is there; "both".
    """
    plant = loaded.plant
    context = drawing_context(plant, q)
    postures: dict[str, FloatArray] = {}
    for posture in loaded.postures:
        postures[posture.name()] = posture_positions(
            plant, [posture], postures.get(posture.name(), plant.GetDefaultPositions())
        )
    drawn, found, notes = _shapes(plant, MeshStore() if meshes is None else meshes, roles)
    gravity = float(np.linalg.norm(plant.gravity_field().gravity_vector()))
    scene = Scene(
        name=", ".join(loaded.instances),
        bodies=[_body(plant, body) for body in plant.elements.bodies],
        X_WB=body_poses(plant, context),
        shapes=drawn,
        frames=_frames(plant),
        joints=[_joint(plant, joint) for joint in plant.elements.joints],
        coordinates=_coordinates(plant),
        q=plant.GetPositions(context).copy(),
        postures=postures,
        meshes=found,
        notes=[*notes, *_missing_meshes(loaded)],
    )
    return dataclasses.replace(scene, weight=gravity * _moving_mass(plant, moving_bodies(scene)))


def _moving_mass(plant: MultibodyPlant, moves: Sequence[bool] | BoolArray) -> float:
    rigid = sum(b.default_spatial_inertia().get_mass() for b in plant.elements.bodies if moves[int(b.index())])
    return rigid + sum(body.mass() for body in plant.elements.deformable_bodies)


def _missing_meshes(loaded: LoadedModel) -> list[str]:
    """Sentences on meshes whose files were not found, as the reader of the model reported them."""
    found = [f for f in loaded.diagnostics.findings if f.code == "URI_LOOKUP" and f.severity == "warning"]
    return [finding.message.partition("; ")[0] for finding in found]


def drawing_context(plant: MultibodyPlant, q: ArrayLike | None = None) -> Context:
    """A context for kinematics alone, which needs no compiled code; at the default positions unless q is given."""
    context = Context(plant, compiled=False)
    plant.SetPositions(context, plant.GetDefaultPositions() if q is None else np.asarray(q, dtype=float))
    return context


def poses_over_time(plant: MultibodyPlant, q: FloatArray) -> FloatArray:
    """X_WB (n, nbody, 7) at positions q (n, nq)."""
    few = len(q) <= INTERPRETED_ROWS
    context = drawing_context(plant) if few else plant.CreateDefaultContext()
    result = np.empty((len(q), plant.num_bodies(), 7))
    for k, row in enumerate(q):
        plant.SetPositions(context, row)
        result[k] = body_poses(plant, context)
    return result


def _body(plant: MultibodyPlant, body: RigidBody) -> PictureBody:
    name = plant.name_in_contact(body)
    M = body.default_spatial_inertia()
    mass, com = M.get_mass(), M.get_com()
    if int(body.index()) == 0 or not (math.isfinite(mass) and mass > 0.0):
        return PictureBody(name)
    I = M.CalcRotationalInertia().CopyToFullMatrix3()
    central = I - mass * ((com @ com) * np.eye(3) - np.outer(com, com))
    moments, axes = np.linalg.eigh(central)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    squares = 2.5 / mass * (moments.sum() - 2.0 * moments)
    semi_axes = np.sqrt(np.maximum(squares, 0.0))
    X_BE = (*quaternion_from_matrix(axes).tolist(), *com.tolist())
    return PictureBody(name, float(mass), tuple(com.tolist()), tuple(semi_axes.tolist()), X_BE)


def _frames(plant: MultibodyPlant) -> list[PictureFrame]:
    return [
        PictureFrame(frame.name(), int(frame.body().index()), pose_row(frame.GetFixedPoseInBodyFrame()))
        for frame in plant.elements.frames
        if not frame.is_body_frame() and frame.place is not None
    ]


def _joint(plant: MultibodyPlant, joint: Joint) -> PictureJoint:
    closes_loop = joint in plant.elements.loop_joints
    axis = tuple(np.asarray(joint.axis(), dtype=float).tolist()) if hasattr(joint, "axis") else None
    count = 0 if closes_loop else joint.num_positions()
    return PictureJoint(
        joint.name(),
        joint.type_name(),
        int(joint.parent_body().index()),
        int(joint.child_body().index()),
        pose_row(joint.frame_on_parent().GetFixedPoseInBodyFrame()),
        axis,
        joint.position_start() if count else 0,
        count,
        closes_loop,
        pose_row(joint.frame_on_child().GetFixedPoseInBodyFrame()),
    )


def _coordinates(plant: MultibodyPlant) -> list[PictureCoordinate]:
    number = {id(joint): k for k, joint in enumerate(plant.elements.joints)}
    owner = {}
    for joint in plant.moving_joints():
        for k in range(joint.num_positions()):
            owner[joint.position_start() + k] = number[id(joint)]
    units, default = coordinate_units(plant)[0], plant.GetDefaultPositions()
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    return [
        PictureCoordinate(name, owner[k], units[k], _limit(lower[k]), _limit(upper[k]), float(default[k]))
        for k, name in enumerate(plant.GetPositionNames())
    ]


def _limit(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _add_deformables(plant: MultibodyPlant, drawn: list[PictureShape], found: dict[str, PictureMesh]) -> None:
    """The surfaces of deformable bodies where they are by default."""
    start = 0
    for body in plant.elements.deformable_bodies:
        key, found_mesh = keyed(body.default_positions(), body.mesh.outer_triangles)
        found[key] = found_mesh
        name = body.full_name()
        drawn.append(PictureShape(name, 0, "visual", "mesh", IDENTITY, (), key, body.color or SOFT_COLOR, start))
        start += len(body.reference)


def _shapes(
    plant: MultibodyPlant, store: MeshStore, roles: str
) -> tuple[list[PictureShape], dict[str, PictureMesh], list[str]]:
    """PictureShapes, their meshes, and notes on those that cannot be drawn."""
    drawn: list[PictureShape] = []
    found: dict[str, PictureMesh] = {}
    notes: list[str] = []
    _add_deformables(plant, drawn, found)
    if plant.scene_graph is None:
        return drawn, found, notes
    inspector = plant.scene_graph.model_inspector()
    for role, word in ((Role.kIllustration, "visual"), (Role.kProximity, "collision")):
        if word == "collision" and roles == "visual" and drawn:
            break
        for g in inspector.GetAllGeometryIds(role):
            if inspector.IsDeformableGeometry(g):
                continue
            shape = inspector.GetShape(g)
            body = int(plant.geometry_bodies[g].index())
            kind, size, key, mesh, note = shape_as_drawn(shape, store)
            if kind is None:
                notes.append(note if isinstance(shape, shapes.Mesh) else f"{inspector.GetName(g)}: {note}")
                continue
            if key is not None and mesh is not None:
                found[key] = mesh
            properties = inspector.GetIllustrationProperties(g)
            color = properties.GetPropertyOrDefault("phong", "diffuse", None) if properties is not None else None
            color = tuple(float(c) for c in color) if color is not None else None
            X_BG = pose_row(inspector.GetPoseInFrame(g))
            drawn.append(PictureShape(inspector.GetName(g), body, word, kind, X_BG, size, key, color))
    return drawn, found, list(dict.fromkeys(notes))
