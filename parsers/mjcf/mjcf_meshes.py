"""<mesh> assets of MJCF files: their files, or vertices in the file itself, and the mass that they enclose."""

import os
from dataclasses import dataclass

import numpy as np
from mbcli.parsers.duplicate_names import report_duplicate
from mbcli.parsers.geometry_inertia import mass_properties_of_triangles
from mbcli.parsers.spec import Mesh, pose

from mbcli.errors import ModelError, ResourceError
from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.meshes.triangles import convex_hull, load_triangles

_ATTRIBUTES = ("class", "name", "file", "scale", "refpos", "refquat", "inertia", "vertex", "face")
_INERTIAS = ("legacy", "exact", "convex", "shell")  # the first two are the same if the surface is closed


@dataclass(frozen=True, slots=True)
class MeshAsset:
    name: str
    mesh: Mesh | None  # None: the vertices stand in the MJCF file
    X_GM: np.ndarray  # pose of the mesh's frame, after scaling, in the geom's
    inertia: str  # of _INERTIAS
    vertices: np.ndarray | None = None  # (n, 3) [m], scaled; of a mesh without file
    triangles: np.ndarray | None = None  # (m, 3); None: the hull of the vertices

    def mass_properties(self, density):
        """The `MassProperties` in the mesh's frame. Raises ModelError or ResourceError."""
        if self.inertia == "shell":
            raise ModelError(f'mesh "{self.name}": the inertia of a shell is not supported')
        vertices, triangles = self._surface()
        if triangles is None or self.inertia == "convex":
            triangles = convex_hull(vertices, f'mesh "{self.name}"')
        return mass_properties_of_triangles(vertices, triangles, density)

    def _surface(self):
        if self.mesh is None:
            return self.vertices, self.triangles
        if self.mesh.path is None:
            raise ResourceError(f"{self.mesh.uri}: the mesh file was not found")
        return load_triangles(self.mesh.path, self.mesh.scale)


class MeshReader:
    """The meshes of a file by name; their files are looked for when a geom asks for them."""

    def __init__(self, reading, mesh_files):
        self._reading = reading
        self._files = mesh_files
        self.elements = {}  # name -> its element with defaults
        self._found = {}  # name -> MeshAsset or None

    def add(self, node):
        """A <mesh>; without a name it has that of its file."""
        name = node.attribute("name") or os.path.splitext(os.path.basename(node.attribute("file", "")))[0]
        if name in self.elements:
            report_duplicate(node, "mesh", name, self.elements[name].place)
        element = self.elements.setdefault(name, self._reading.defaults.of(node, None))
        for attribute in _ATTRIBUTES:  # also if no geom has it
            element.attribute(attribute)

    def find(self, name):
        """The `MeshAsset` of a name that is in `elements`; None after a finding."""
        if name not in self._found:
            self._found[name] = self._read(name, self.elements[name])
        return self._found[name]

    def _read(self, name, element):
        scale = element.vector("scale", 3, (1.0, 1.0, 1.0))
        if 0.0 in scale:
            problem = "the scale of a <mesh> must not be 0"
            element.diagnostics.error("ATTRIBUTE_INVALID", problem, element.owner("scale"), attribute="scale")
            return None
        inertia = element.keyword("inertia", _INERTIAS, _INERTIAS[0])
        X_GM = self._reference_pose(element, scale)
        file = element.attribute("file")
        if file is not None:
            settings = self._reading.settings
            uri = os.path.join(settings.meshdir, os.path.basename(file) if settings.strippath else file)
            path = self._files.find(uri, element.node, "collision")
            return MeshAsset(name, Mesh(uri=uri, scale=scale, path=path), X_GM, inertia)
        vertices, triangles = _rows(element, "vertex"), _rows(element, "face")
        if vertices is None:
            self._reading.unused.add_element(element, "a mesh without file and vertices is not supported")
            return None
        if triangles is not None:
            if not np.isin(triangles, np.arange(len(vertices))).all():
                problem = f'a face of mesh "{name}" has a vertex that is not there'
                element.diagnostics.error("ATTRIBUTE_INVALID", problem, element.owner("face"), attribute="face")
                return None
            triangles = triangles.astype(int)[:, :: -1 if np.prod(scale) < 0 else 1]
        return MeshAsset(name, None, X_GM, inertia, vertices * scale, triangles)

    def _reference_pose(self, element, scale):
        """The vertices r of the file become scale * R' (r - refpos), R being the rotation of refquat."""
        refpos, refquat = element.vector("refpos", 3, (0.0, 0.0, 0.0)), element.vector("refquat", 4)
        R = np.eye(3)
        if refquat is not None and any(refquat):
            R = matrix_from_quaternion(np.array(refquat) / np.abs(refquat).max())
        S = np.diag(scale)
        if not np.allclose(S @ R.T, R.T @ S, rtol=0, atol=1e-12 * abs(S).max()):
            self._reading.unused.add(element, "refquat", "the mesh is scaled unequally and turned")
            R = np.eye(3)
        return pose(R.T, -S @ R.T @ refpos)


def _rows(element, name):
    """The numbers of an attribute in rows of three; None if there are none, or after an error."""
    count = len(element.attribute(name, "").split())
    if not count:
        return None
    numbers = element.vector(name, -(-count // 3) * 3)  # an error unless it is a multiple of 3
    return None if numbers is None else np.array(numbers).reshape(-1, 3)
