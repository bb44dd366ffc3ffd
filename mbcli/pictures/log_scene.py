"""From a log to a scene and its motion."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ModelError, ResourceError
from mbcli.log import Log
from mbcli.log.embedded_files import is_same
from mbcli.log.fields.faces import CORNERS_OFFSET
from mbcli.log.fields.poses import POSES
from mbcli.log.fields.vertices import VERTICES
from mbcli.meshes.surfaces import triangles_of_faces
from mbcli.models.loading import as_loaded
from mbcli.parsers.diagnostics import printable
from mbcli.parsers.kept_meshes import is_kept
from mbcli.parsers.package_map import PackageMap
from mbcli.pictures.model_scene import MeshStore, poses_over_time, scene_of
from mbcli.pictures.packing import scene_from_text
from mbcli.pictures.resolved_plant import plant_of_resolved_model
from mbcli.pictures.scene import ContactPoints, ContactSurfaces, Motion, Scene, drawn_forces, moving_bodies

if TYPE_CHECKING:
    from mbcli.math.array_types import Array, BoolArray, IntArray


def scene_and_motion(
    path: str | os.PathLike[str],
    meshes: MeshStore | None = None,
    *,
    surfaces: bool = True,
    allow_outside: bool = False,
) -> tuple[Scene, Motion]:
    """What a log shows over time.

    Args:
        meshes: that were read before.
        surfaces: whether the contact surfaces of all rows are read, if their faces were logged.
        allow_outside: whether meshes may lie anywhere. Else they are read from the packages or folders of model files
            that are where they were and as they were: a log may name any file.

    A log with poses has all that is needed in it. Of another one the poses are computed from its resolved model and its
    positions, and meshes are read from where the run found them; one that is not there is a note of the scene. A row
    that is not finite, as recover() leaves what it could not read, shows the one before; such contacts are left out.

    Raises:
        ResourceError: the log cannot be read.
        ModelError: it is damaged, has no finite rows, or is of a model whose poses do not follow from what it has.
    """
    with Log(path) as log:
        if not log.row_count:
            raise ModelError(f"{log.path}: error: the log has no rows")
        if POSES in log.fields() and log.scene is not None:
            scene, X_WB = _logged(log)
        else:
            scene, X_WB = _computed(log, MeshStore() if meshes is None else meshes, allow_outside)
        name = printable(os.path.basename(log.path))
        drawn = _surfaces(log, np.arange(log.row_count)) if surfaces and log.has_faces else None
        contacts, vertices = _contacts(log, scene), _vertices(log, scene)
        X_WB = _held(log, X_WB, scene)
        return scene, Motion(name, log.times, X_WB, contacts, drawn, vertices)


def _vertices(log: Log, scene: Scene) -> Array | None:
    """Places of the vertices of deformable bodies in all rows; None without them."""
    ends = [
        shape.vertex_start + len(scene.meshes[shape.mesh].vertices)
        for shape in scene.shapes
        if shape.vertex_start is not None and shape.mesh is not None
    ]
    if not ends or VERTICES not in log.fields():
        return None
    places = log.field(VERTICES)
    places = _held(log, places.reshape(len(places), -1, 3), scene)
    if max(ends) > places.shape[1]:
        raise ModelError(f"{log.path}: error: {VERTICES} has fewer vertices than the deformable bodies of its scene")
    return places


def logged_surfaces(path: str | os.PathLike[str], rows: IntArray) -> ContactSurfaces | None:
    """The contact surfaces of some rows of a log; the others have none. None if their faces were not logged.

    Raises:
        ResourceError, ModelError: the log cannot be read, or is damaged.
    """
    with Log(path) as log:
        return _surfaces(log, rows) if log.has_faces else None


def _surfaces(log: Log, rows: IntArray) -> ContactSurfaces:
    counts = np.zeros(log.row_count, dtype=int)
    vertices, values = [np.empty((0, 3, 3))], [np.empty((0, 3))]
    for row in sorted(set(rows.tolist())):
        faces = log.faces(row, row + 1)
        index, _ = triangles_of_faces(faces[CORNERS_OFFSET])
        index = index[np.isfinite(faces["faces/corner"][index]).all(axis=(1, 2))]
        counts[row] = len(index)
        vertices.append(faces["faces/corner"][index])
        values.append(faces["faces/pressure"][index])
    offset = np.concatenate([[0], np.cumsum(counts)])
    return ContactSurfaces(offset, np.concatenate(vertices), np.concatenate(values))


def _logged(log: Log) -> tuple[Scene, Array]:
    scene = scene_from_text(log.scene or "", log.path)
    poses = log.field(POSES)
    if poses.shape[1] != 7 * len(scene.bodies):
        raise ModelError(f"{log.path}: error: its poses are not those of its {len(scene.bodies)} bodies")
    return scene, poses.reshape(len(poses), -1, 7)


class _MeshFiles:
    """Which mesh files a log may name: those in the package or folder of a model file that is as the log has it,
    and those that mbcli made of vertices in a model file."""

    def __init__(self, log: Log, allow_outside: bool) -> None:
        self._folders = None if allow_outside else [os.path.dirname(s.path) for s in log.read_sources() if is_same(s)]
        self.refused: list[str] = []

    def may_read(self, path: str) -> bool:
        if self._folders is None or is_kept(path) or any(_is_within_rule(path, folder) for folder in self._folders):
            return True
        if path not in self.refused:
            self.refused.append(path)
        return False


def _is_within_rule(path: str, folder: str) -> bool:
    try:
        return bool(PackageMap().resolve(path, folder))
    except (ResourceError, ValueError):
        return False


def _computed(log: Log, meshes: MeshStore, allow_outside: bool) -> tuple[Scene, Array]:
    files = _MeshFiles(log, allow_outside)
    plant = plant_of_resolved_model(log.model, log.path, files.may_read)
    ours, theirs = plant.GetPositionNames(), list(log.position_names)
    if sorted(ours) != sorted(theirs):
        raise ModelError(f"{log.path}: error: its coordinates do not follow from its model: log with --fields poses")
    place = {name: k for k, name in enumerate(theirs)}
    q = log.q[:, [place[name] for name in ours]]
    rows = np.flatnonzero(_are_finite(log, q))
    X_WB = np.full((len(q), plant.num_bodies(), 7), np.nan)
    X_WB[rows] = poses_over_time(plant, q[rows])
    scene = scene_of(as_loaded(plant), q[rows[0]], meshes=meshes)
    if files.refused:
        scene.notes.append(
            f"{log.path}: {len(files.refused)} meshes are not in the folder of a model file that is as it was, the "
            f"first {printable(files.refused[0])}: not drawn; {argument('allow_outside', True)} reads them"
        )
    return scene, X_WB


def _are_finite(log: Log, values: Array) -> BoolArray:
    """Which rows are numbers (n,); ModelError if none is."""
    finite = np.asarray(np.isfinite(values).reshape(len(values), -1).all(axis=1))
    if not finite.any():
        raise ModelError(f"{log.path}: error: no row of it is finite")
    return finite


def _held(log: Log, values: Array, scene: Scene) -> Array:
    """The rows, each that is not finite as the one before, or as the first that is; a note of the scene tells it."""
    finite = _are_finite(log, values)
    if finite.all():
        return values
    note = f"{log.path}: {len(finite) - np.count_nonzero(finite)} rows are not finite: the picture stands still there"
    if note not in scene.notes:
        scene.notes.append(note)
    rows = np.flatnonzero(finite)
    return values[rows[np.maximum(np.searchsorted(rows, np.arange(len(values)), side="right") - 1, 0)]]


def _contacts(log: Log, scene: Scene) -> ContactPoints | None:
    """The contacts of all rows but those that are not finite."""
    if not log.has_contacts:
        return None
    contacts, names = log.contacts(), log.contact_names().body_names
    number = {body.name: k for k, body in enumerate(scene.bodies)}
    unknown = [name for name in names if name not in number]
    if unknown:
        raise ModelError(f"{log.path}: error: contacts name the body {printable(unknown[0])}, which its model has not")
    table = np.array([number[name] for name in names], dtype=int)
    point, force = contacts["contact/point"], contacts["contact/force"]
    sound = np.isfinite(point).all(axis=1) & np.isfinite(force).all(axis=1)
    sides = []
    for side in ("a", "b"):
        index = np.asarray(contacts[f"contact/body_{side}"])[sound]
        if index.size and not 0 <= index.min() <= index.max() < len(names):
            raise ModelError(f"{log.path}: error: contact/body_{side} has a number without a name")
        sides.append(table[index] if index.size else np.zeros(0, dtype=int))
    A, B = sides
    offset = np.concatenate([[0], np.cumsum(sound)])[contacts["offset"]]
    return ContactPoints(offset, point[sound], drawn_forces(moving_bodies(scene), A, B, force[sound]), A, B)
