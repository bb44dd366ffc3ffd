"""A model that is looked at while its files are edited: its scene, poses at positions, and what is new on disk."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import MbcliError
from mbcli.log.fields.body_poses import body_poses
from mbcli.meshes.surfaces import triangles_of_faces
from mbcli.models.contacts import contact_points, contact_surfaces
from mbcli.multibody.assembly.closed_chains import TOLERANCE, assemble_within_limits
from mbcli.multibody.tree.joint_kinds import has_quaternion
from mbcli.pictures.html import scene_of_page, view_page
from mbcli.pictures.model_scene import MeshStore, drawing_context, file_stamp, scene_of
from mbcli.pictures.packing import pack_mesh
from mbcli.pictures.scene import drawn_forces, moving_bodies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mbcli.math.array_types import Vector
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.pictures.cameras import Camera
    from mbcli.pictures.scene import Scene

HELD = 1e4  # weight of the coordinate that a slider moves, beside 1 of the others, where loops are closed


class LiveModel:
    """Answers the requests of the page of `mbcli view`.

    Args:
        load: () -> LoadedModel and the positions q (nq,) to begin with; raises MbcliError.
        paths: files that are watched too, also if they cannot be read.
        camera: from which the model is seen at first.
    """

    def __init__(
        self, load: Callable[[], tuple[LoadedModel, Any]], paths: list[str], camera: Camera | None = None
    ) -> None:
        self._load, self._paths, self._camera = load, paths, camera
        self._lock = threading.Lock()
        self._meshes = MeshStore()
        self._packed: dict[str, bytes] = {}
        self.problem: str | None = None
        self._stamps: dict[str, tuple | None] = {}
        self._watch([])
        self._take(*load())

    def _take(self, loaded: LoadedModel, q: Vector) -> None:
        scene = scene_of(loaded, q, meshes=self._meshes)
        # assembled here, before anybody sees it: a page that fails is worse than a pause
        context = drawing_context(loaded.plant, scene.q)
        with self._lock:
            self.loaded, self.scene, self._context = loaded, scene, context
            self._packed = {key: self._packed[key] for key in scene.meshes if key in self._packed}
        self._watch([source.path for source in loaded.sources] + self._meshes.files())
        self.unread = [note for note in scene.notes if note in self._meshes.notes()]

    def _watch(self, paths: Iterable[str]) -> None:
        self._stamps = {path: file_stamp(path) for path in (*self._paths, *paths)}

    def is_changed(self) -> bool:
        """Whether a file of the model was written since it was read."""
        return any(file_stamp(path) != stamp for path, stamp in self._stamps.items())

    def reload(self) -> bool:
        """Reads the model again; False, with `problem` set and the old model kept, if it is not one now."""
        known = list(self._stamps)
        self._watch(known)  # before reading: what is written meanwhile is new again
        stamps = self._stamps
        try:
            self._take(*self._load())
        except MbcliError as error:
            self.problem, self._stamps = str(error), stamps
            return False
        self._stamps = {path: stamps.get(path, stamp) for path, stamp in self._stamps.items()}
        self.problem = None
        return True

    # answers

    def page(self) -> tuple[str, bytes]:
        """The page with the scene in it."""
        return "text/html; charset=utf-8", view_page(self.scene, self._camera).encode()

    def scene_json(self) -> tuple[str, bytes]:
        """The scene without meshes."""
        return "application/json", json.dumps(scene_of_page(self.scene), allow_nan=False).encode()

    def mesh(self, key: str) -> tuple[str, bytes] | None:
        """A mesh of the scene, packed."""
        with self._lock:
            mesh = self.scene.meshes.get(key)
            if mesh is None:
                return None
            if key not in self._packed:
                self._packed[key] = pack_mesh(mesh, level=1)
            return "application/octet-stream", self._packed[key]

    def poses(self, request: Any) -> dict[str, Any]:
        """Where the bodies are at the positions of a request: {"q": [...], "moved": index or null, "contacts": bool}.

        Loops are closed by the nearest positions that satisfy the constraints; those that changed come back.
        """
        with self._lock:
            try:
                return self._poses(request)
            except MbcliError as error:
                return {"error": str(error)}

    def _poses(self, request: Any) -> dict[str, Any]:
        plant, context = self.loaded.plant, self._context
        asked = request.get("q") if isinstance(request, dict) else None
        try:
            q = np.array(asked, dtype=float)
        except (TypeError, ValueError):
            q = np.full(1, np.nan)
        if q.shape != (plant.num_positions(),) or not np.isfinite(q).all():
            return {"error": f"positions are {plant.num_positions()} finite numbers: the page is of an earlier model"}
        q = _unit_quaternions(plant, q)
        plant.SetPositions(context, q)
        note, adjusted = None, False
        if plant.elements.constraints:
            note, adjusted = self._close_loops(context, request.get("moved"))
        contacts: list[dict[str, Any]] = []
        vertices: list[float] = []
        values: list[float] = []
        if request.get("contacts") and plant.meets_contact():
            surfaces = contact_surfaces(context, faces=True)
            contacts = _contacts(self.scene, [*contact_points(context), *surfaces])
            vertices, values = _triangles(surfaces)
        return {
            "q": plant.GetPositions(context).tolist(),
            "X_WB": np.round(body_poses(plant, context), 9).tolist(),
            "adjusted": adjusted,
            "note": note,
            "contacts": contacts,
            "surfaces": {"vertices": vertices, "values": values},
        }

    def _close_loops(self, context: Context, moved: Any) -> tuple[str | None, bool]:
        """Moves the context to the nearest assembly; a note if there is none, and whether positions changed."""
        state = context.state
        plant = state.plant
        weights = np.ones(plant.num_velocities())
        for joint in plant.moving_joints():
            first = joint.position_start()
            if isinstance(moved, int) and first <= moved < first + joint.num_positions():
                weights[joint.velocity_start() : joint.velocity_start() + joint.num_velocities()] = HELD
        before = state.q.copy()
        found, _ = assemble_within_limits(context, before, weights, TOLERANCE)
        if not found.converged:
            return f"the loops cannot be closed here: they are open by {found.position_error:.2g}", False
        plant.SetPositions(context, found.q)
        return None, not np.allclose(found.q, before, rtol=0.0, atol=1e-9)


def _contacts(scene: Scene, contacts: Any) -> list[dict[str, Any]]:
    """Points and forces of contacts, points and surfaces, as they are drawn."""
    number = {body.name: k for k, body in enumerate(scene.bodies)}
    A, B = (np.array([number[contact[side]] for contact in contacts], dtype=int) for side in ("body_a", "body_b"))
    force_B = np.reshape([contact["force_W"] for contact in contacts], (-1, 3))
    points = [contact["centroid_W" if "centroid_W" in contact else "point_W"] for contact in contacts]
    forces = drawn_forces(moving_bodies(scene), A, B, force_B)
    return [
        {"point": np.asarray(point).tolist(), "force": force.tolist()}
        for point, force in zip(points, forces, strict=True)
    ]


def _triangles(surfaces: Iterable[Any]) -> tuple[list[float], list[float]]:
    """The faces of contact surfaces as triangles: places of their corners (9 n) [m], and the pressures there (3 n)."""
    polygons = [polygon for surface in surfaces for polygon in surface["polygons"]]
    index, _ = triangles_of_faces(np.cumsum([0, *map(len, polygons)]))
    corners = np.concatenate([*polygons, np.empty((0, 4))])[index.reshape(-1)]
    return np.round(corners[:, :3].ravel(), 7).tolist(), corners[:, 3].tolist()


def _unit_quaternions(plant: MultibodyPlant, q: Vector) -> Vector:
    """Positions with quaternions of length 1; one near zero becomes the identity."""
    q = q.copy()
    for joint in plant.moving_joints():
        if has_quaternion(joint):
            i = joint.position_start()
            length = np.linalg.norm(q[i : i + 4])
            q[i : i + 4] = q[i : i + 4] / length if length > 1e-6 else (1.0, 0.0, 0.0, 0.0)
    return q


def watched_paths(models: list[str]) -> list[str]:
    """The model arguments that are files."""
    return [os.fspath(model) for model in models if model != "-" and os.path.isfile(model)]
