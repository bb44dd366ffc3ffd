"""<mesh> assets of MJCF files: their files, or vertices in the file itself, and the mass that they have."""

from __future__ import annotations

import ntpath
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import report_duplicate
from mbcli.parsers.geometry_inertia import MassProperties, matrix_of
from mbcli.parsers.kept_meshes import NOT_KEPT, keep_mesh, obj_of
from mbcli.parsers.mjcf.mjcf_inertia import KINDS, enclosed_volume, mesh_mass_properties, notched
from mbcli.parsers.mjcf.mjcf_surfaces import in_single_precision, read_surface
from mbcli.parsers.spec import Mesh, pose
from mbcli.parsers.xml_document import MAX_RELATED

from mbcli.errors import ModelError, ResourceError
from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.meshes.triangles import convex_hull

if TYPE_CHECKING:
    from collections.abc import Mapping, Sized
    from typing import Any

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.mesh_files import MeshFiles
    from mbcli.parsers.mjcf.mjcf_surfaces import Surface
    from mbcli.parsers.mjcf.mjcf_values import Reading, WithDefaults
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import IntArray, Matrix, Matrix3, Matrix4, Matrix34, Vector3

_ATTRIBUTES = ("class", "name", "file", "scale", "refpos", "refquat", "inertia", "vertex", "face", "builtin")
_SAME_MASS = 1e-6  # relative, of a mesh that weighs what its surface holds


@dataclass(frozen=True)
class MeshAsset:
    """A mesh in the frame G of the geom that has it."""

    name: str
    mesh: Mesh
    X_GM: np.ndarray  # pose of the mesh's frame, after scaling, in the geom's
    T_GF: np.ndarray  # (3, 4) from coordinates of the file to those of the geom: scaled, turned and moved
    inertia: str  # of KINDS
    own: Surface | None = None  # of a mesh whose vertices stand in the MJCF file

    def mass_properties(self, density: float) -> MassProperties:
        """The `MassProperties` in the frame of the geom. Raises ModelError or ResourceError."""
        mass, p_GGcm, inertia = self._of_density_one
        scaled: Any = tuple(density * value for value in inertia)
        return MassProperties(density * mass, p_GGcm, scaled)

    @cached_property
    def _of_density_one(self) -> MassProperties:
        return mesh_mass_properties(*self.surface, self.inertia, 1.0, self._title)

    @cached_property
    def surface(self) -> tuple[Matrix, IntArray, IntArray | None]:
        """Vertices (n, 3) [m] in the frame of the geom, triangles (m, 3) of their indices, and polygons as in
        `read_surface`."""
        vertices, triangles, polygons = self._in_file()
        if triangles is None:
            triangles = convex_hull(vertices, self._title)
        if np.linalg.det(self.T_GF[:, :3]) < 0.0:
            triangles = triangles[:, ::-1]
        return vertices @ self.T_GF[:, :3].T + self.T_GF[:, 3], triangles, polygons

    @property
    def _title(self) -> str:
        return f'mesh "{self.name}"'

    def _in_file(self) -> Surface:
        if self.own is not None:
            vertices, triangles, polygons = self.own
            return in_single_precision(vertices).astype(float), triangles, polygons
        if self.mesh.path is None:
            raise ResourceError(f"{self.mesh.uri}: the mesh file was not found")
        return read_surface(self.mesh.path)

    def principal_axes(self) -> tuple[Vector3, Matrix3, Vector3]:
        """(p_GGcm, R_GP, sizes): the box of the same inertia and volume has these half sizes [m], the shortest first,
        in the directions of P. Raises ModelError or ResourceError."""
        mass, p_GGcm, inertia = self._of_density_one
        moments, axes = np.linalg.eigh(matrix_of(inertia))
        moments, axes = moments[::-1], axes[:, ::-1]
        sizes = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / mass, 0.0)) / 2.0
        return p_GGcm, axes * np.linalg.det(axes), sizes

    @property
    def has_notched_polygons(self) -> bool:
        """Whether polygons of its surface are not convex, which MuJoCo cuts into triangles its own way."""
        vertices, triangles, polygons = self.surface
        return polygons is not None and notched(vertices, triangles, polygons)

    @property
    def surface_excess(self) -> float | None:
        """By which factor the mesh weighs more than its surface holds; None if that is not closed."""
        held = enclosed_volume(*self.surface[:2])
        return None if held is None else self._of_density_one.mass / held


def asset_name(node: Node) -> str:
    """The name of an asset, or else that of its file."""
    return node.attribute("name") or os.path.splitext(ntpath.basename(node.attribute("file", "")))[0]


class MeshReader:
    """The meshes of a file by name; their files are looked for when a geom asks for them."""

    def __init__(self, reading: Reading, mesh_files: MeshFiles, folders: Mapping[str, str]) -> None:
        self._reading = reading
        self._files = mesh_files
        self._folders = folders  # {path of an included document: its directory}
        self.elements: dict[str, WithDefaults] = {}  # name -> its element with defaults
        self._found: dict[str, MeshAsset | None] = {}
        # name -> (MeshAsset, node of the first geom), of meshes that give a body its mass
        self._weighed: dict[str, tuple[MeshAsset, Node]] = {}

    def add(self, node: Node) -> None:
        """Takes a <mesh> up."""
        name = asset_name(node)
        if name in self.elements:
            report_duplicate(node, "mesh", name, self.elements[name].place)
        element = self.elements.setdefault(name, self._reading.defaults.of(node, None))
        for attribute in _ATTRIBUTES:  # also if no geom has it
            element.attribute(attribute)

    def find(self, name: str) -> MeshAsset | None:
        """The `MeshAsset` of a name that is in `elements`; None after a finding."""
        if name not in self._found:
            self._found[name] = self._read(name, self.elements[name])
        return self._found[name]

    def weigh(self, asset: MeshAsset, density: float, node: Node) -> MassProperties:
        """The `MassProperties` of a mesh that a body's mass needs; node: of the geom. Raises as `mass_properties`."""
        properties = asset.mass_properties(density)
        self._weighed.setdefault(asset.name, (asset, node))
        return properties

    def report(self, diagnostics: Diagnostics) -> None:
        """Notes on meshes that do not weigh what their surfaces hold, as MuJoCo has it by default, or that may weigh
        something else in MuJoCo."""
        heavy, loose = [], []
        for asset, node in self._weighed.values():
            if asset.inertia in ("legacy", "shell") and asset.has_notched_polygons:
                problem = f'mesh "{asset.name}" has polygons that are not convex: MuJoCo may lose parts of them'
                diagnostics.note("MESH_INERTIA", problem, node)
            if asset.inertia == "legacy":
                excess = asset.surface_excess
                if excess is None:
                    loose.append((asset, node))
                elif abs(excess - 1.0) > _SAME_MASS:
                    heavy.append((excess, asset, node))
        if heavy:
            excess, asset, node = max(heavy, key=lambda item: item[0])
            diagnostics.note(
                "MESH_INERTIA",
                f'{_meshes(heavy)} more than the surface holds, by MuJoCo\'s "legacy" inertia, the most '
                f'"{asset.name}": {excess:.4g} times as much',
                node,
                related=[other.place for _, _, other in heavy if other is not node][:MAX_RELATED],
                hint='state inertia="exact" in <mesh>',
            )
        if loose:
            asset, node = loose[0]
            diagnostics.note(
                "MESH_INERTIA",
                f'{_meshes(loose)} by MuJoCo\'s "legacy" inertia what no closed surface holds, the first '
                f'"{asset.name}": triangles are missing, too many, or face the wrong side',
                node,
                related=[other.place for _, other in loose[1 : 1 + MAX_RELATED]],
                hint='state inertia="convex" in <mesh>, or mend the mesh',
            )

    def _read(self, name: str, element: WithDefaults) -> MeshAsset | None:
        scale = element.vector("scale", 3, (1.0, 1.0, 1.0))
        if 0.0 in scale:
            problem = "the scale of a <mesh> must not be 0"
            element.diagnostics.error("ATTRIBUTE_INVALID", problem, element.owner("scale"), attribute="scale")
            return None
        inertia = element.keyword("inertia", KINDS, KINDS[0])
        X_GM, T_GF = self._reference_pose(element, np.diag(scale))
        file = element.attribute("file")
        if file is not None:
            mesh = Mesh(uri=self._uri(element, file), scale=scale, path=self.path_of(element, file))
            return MeshAsset(name, mesh, X_GM, T_GF, inertia)
        vertices, triangles = _rows(element, "vertex"), _rows(element, "face")
        if vertices is None:
            builtin = element.attribute("builtin", "none")
            kind = "a mesh without file and vertices" if builtin == "none" else f'the builtin mesh "{builtin}"'
            self._reading.unused.add_element(element, f"{kind} is not supported")
            return None
        if triangles is not None:
            if not np.isin(triangles, np.arange(len(vertices))).all():
                problem = f'a face of mesh "{name}" has a vertex that is not there'
                element.diagnostics.error("ATTRIBUTE_INVALID", problem, element.owner("face"), attribute="face")
                return None
            triangles = triangles.astype(int)
        path = self._keep(element, name, vertices, triangles)
        return MeshAsset(name, Mesh(name, scale, path=path), X_GM, T_GF, inertia, (vertices, triangles, None))

    def _uri(self, element: WithDefaults, file: str) -> str:
        settings = self._reading.settings_of(element)
        return os.path.join(settings.meshdir, ntpath.basename(file) if settings.strippath else file)

    def path_of(self, element: WithDefaults, file: str) -> str | None:
        """Where the file of a <mesh> or <hfield> is, or None, which will be reported."""
        folder = self._folders.get(element.node.document.path)
        elsewhere = () if folder is None else ((file, folder),)
        return self._files.find(self._uri(element, file), element.node, "collision", elsewhere=elsewhere)

    def _keep(self, element: WithDefaults, name: str, vertices: Matrix, triangles: IntArray | None) -> str | None:
        """The path of the OBJ file of vertices that stand in the MJCF file; None after a finding."""
        try:
            faces = convex_hull(vertices, f'mesh "{name}"') if triangles is None else triangles
        except ModelError as error:
            element.diagnostics.error("MESH_INERTIA", str(error), element.owner("vertex"), attribute="vertex")
            return None
        path = keep_mesh(name, obj_of(vertices, np.full(len(faces), 3), faces.ravel()))
        if path is None:
            element.diagnostics.warning("URI_LOOKUP", NOT_KEPT, element.node)
        return path

    def _reference_pose(self, element: WithDefaults, S: Matrix3) -> tuple[Matrix4, Matrix34]:
        """(X_GM, T_GF): vertices r of the file become S R' (r - refpos), with the rotation R of refquat, S diagonal."""
        refpos, refquat = element.vector("refpos", 3, (0.0, 0.0, 0.0)), element.vector("refquat", 4)
        R = np.eye(3)
        if refquat is not None and any(refquat):
            R = matrix_from_quaternion(np.array(refquat) / np.abs(refquat).max())
        T_GF = np.column_stack([S @ R.T, -S @ R.T @ refpos])
        if not np.allclose(S @ R.T, R.T @ S, rtol=0, atol=1e-12 * abs(S).max()):
            self._reading.unused.add(element, "refquat", "scaled unequally and turned, the mesh collides unturned")
            R = np.eye(3)
        return pose(R.T, -S @ R.T @ refpos), T_GF


def _meshes(found: Sized) -> str:
    return "a mesh weighs" if len(found) == 1 else f"{len(found)} meshes weigh"


def _rows(element: WithDefaults, name: str) -> Matrix | None:
    """The numbers of an attribute in rows of three; None if there are none, or after an error."""
    count = len(element.attribute(name, "").split())
    if not count:
        return None
    numbers = element.vector(name, -(-count // 3) * 3)  # an error unless it is a multiple of 3
    return None if numbers is None else np.array(numbers).reshape(-1, 3)
