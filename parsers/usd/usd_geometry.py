"""Shapes of USD as they are seen and touched: primitives with their scales, meshes as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.geometry_inertia import mass_properties, mass_properties_of_triangles
from mbcli.parsers.kept_meshes import obj_of
from mbcli.parsers.mjcf.mjcf_inertia import KINDS, mesh_mass_properties
from mbcli.parsers.poses import compose, turn_z_to
from mbcli.parsers.spec import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    GeometrySpec,
    HalfSpace,
    Mesh,
    Sphere,
    pose,
)
from mbcli.parsers.usd.usd_meshes import MeshFolder, bounds, turned_round
from mbcli.parsers.usd.usd_stage import AXES, split_affine

from mbcli.common.colors import srgb_of
from mbcli.errors import ModelError
from mbcli.meshes.surfaces import triangles_of_faces
from mbcli.meshes.triangles import convex_hull

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from mbcli.parsers.geometry_inertia import MassProperties
    from mbcli.parsers.spec import Shape
    from mbcli.parsers.usd.usd_meshes import Arrays
    from mbcli.parsers.usd.usd_stage import Prim, Stage

    from mbcli.math.array_types import BoolArray, Matrix3, Matrix4

    Color: TypeAlias = tuple[float, float, float, float]  # RGBA

SHAPES = ("Cube", "Sphere", "Cylinder", "Capsule", "Cone", "Plane", "Mesh", "Cylinder_1", "Capsule_1")
_APPROXIMATIONS = (
    *("none", "convexHull", "convexDecomposition", "boundingCube", "boundingSphere", "meshSimplification"),
    *("sdf", "sphereFill", "sdfMesh", "convexMeshSimplification"),
)
_UNEQUAL = 1e-5  # relative, of two scales


class GeometryReader:
    """GeometrySpecs of prims; meshes are kept as OBJ files in the user's cache."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.meshes = MeshFolder(stage.folder)
        # path of a mesh that touches: S, from its points to those in its frame on the link
        self._stretches: dict[str, Matrix3] = {}

    def specs(self, prim: Prim, X_WL: Matrix4, name: str, *, touches: bool) -> list[GeometrySpec]:
        """The GeometrySpecs of a prim on a link at X_WL: of a mesh whose parts have colours one each."""
        linear = np.eye(4)
        linear[:3, :3], linear[:3, 3] = X_WL[:3, :3].T, -X_WL[:3, :3].T @ X_WL[:3, 3]
        found = split_affine(linear @ prim.affine)
        if found is None:
            report = self.stage.diagnostics.error if touches else self.stage.diagnostics.warning
            report("USD_SHAPE", "its transform has no volume: it is left out", prim)
            return []
        X_LG, S = found
        if prim.tag == "Mesh":
            return self._meshes(prim, X_LG, S, name, touches)
        shape = self._shape(prim, S)
        axis = self._axis(prim)
        X = (
            X_LG
            if axis == "Z" or isinstance(shape, (Box, Sphere, Ellipsoid))
            else compose(X_LG, pose(turn_z_to(AXES[axis])))
        )
        return [GeometrySpec(name, shape, X, prim.place, None if touches else self.color(prim))]

    def color(self, prim: Prim) -> Color | None:
        color = prim.document.get("color")
        if color is None:
            return None
        if len(color) != 4 or not all(isinstance(part, (int, float)) for part in color):
            self.stage.diagnostics.warning("USD_SHAPE", "its colour is not three numbers: it is left out", prim)
            return None
        return _rgba(color)

    def _axis(self, prim: Prim) -> str:
        return prim.word("axis", tuple(AXES), "Z")

    def _shape(self, prim: Prim, S: Matrix3) -> Shape:
        scale = np.abs(np.diag(S))
        if np.abs(S - np.diag(np.diag(S))).max() > 1e-6 * scale.max():
            self.stage.diagnostics.warning("USD_SHAPE", "it is sheared: its lengths along the axes are kept", prim)
        unit = self.stage.length
        kind = prim.tag.removesuffix("_1")
        if kind == "Plane":
            return HalfSpace()
        if kind == "Cube":
            size = prim.finite("size", 2.0, 0.0) * unit
            return Box(tuple((size * scale).tolist()))
        if kind == "Sphere":
            radius = prim.finite("radius", 1.0, 0.0) * unit
            if np.ptp(scale) <= _UNEQUAL * scale.max():
                return Sphere(float(radius * scale[0]))
            return Ellipsoid(tuple((radius * scale).tolist()))
        along = "XYZ".index(self._axis(prim))
        across = [scale[k] for k in range(3) if k != along]
        defaults = {"Cylinder": (1.0, 2.0), "Capsule": (0.5, 1.0), "Cone": (1.0, 2.0)}[kind]
        wanted = "radiusBottom" if prim.tag.endswith("_1") else "radius"
        radius = prim.finite(wanted, defaults[0], 0.0) * unit * max(across)
        length = prim.finite("height", defaults[1], 0.0) * unit * scale[along]
        uneven = np.ptp(across) > _UNEQUAL * max(across)
        if uneven or (kind == "Capsule" and abs(scale[along] - across[0]) > _UNEQUAL * max(across)):
            message = f"a {kind.lower()} is scaled unequally: it has the larger radius"
            self.stage.diagnostics.warning("USD_SHAPE", message, prim)
        makers: dict[str, Any] = {"Cylinder": Cylinder, "Capsule": Capsule, "Cone": Cone}
        return makers[kind](float(radius), float(length))

    # ------------------------------------------------------------------------------------------ meshes

    def _meshes(self, prim: Prim, X_LG: Matrix4, S: Matrix3, name: str, touches: bool) -> list[GeometrySpec]:
        arrays = self.meshes.arrays(prim)
        if arrays is None:
            message = "a mesh without faces, or with faces of points that are not there: it is left out"
            self.stage.diagnostics.warning("USD_SHAPE", message, prim)
            return []
        if touches:
            approximation = prim.word("physics:approximation", _APPROXIMATIONS, "none")
            if approximation in ("boundingCube", "boundingSphere"):
                return [self._bounding(prim, arrays, X_LG, S, name, approximation)]
            shape = self._mesh(prim, arrays, S, convex=approximation == "convexHull")
            self._stretches[prim.path] = S
            return [GeometrySpec(name, shape, X_LG, prim.place)]
        parts = [part for part in prim.document.get("subsets", []) if part[1] is not None]
        if not parts:
            return [GeometrySpec(name, self._mesh(prim, arrays, S), X_LG, prim.place, self.color(prim))]
        found, left = [], np.ones(len(arrays[1]), bool)
        for number, (faces, color) in enumerate(parts, start=1):
            chosen = np.zeros(len(left), bool)
            chosen[[face for face in faces if 0 <= face < len(left)]] = True
            left &= ~chosen
            if chosen.any():
                shape = self._mesh(prim, arrays, S, chosen)
                found.append(GeometrySpec(f"{name}_{number}", shape, X_LG, prim.place, _rgba(color)))
        if left.any():
            found.append(GeometrySpec(name, self._mesh(prim, arrays, S, left), X_LG, prim.place, self.color(prim)))
        return found

    def _mesh(
        self, prim: Prim, arrays: Arrays, S: Matrix3, chosen: BoolArray | None = None, convex: bool = False
    ) -> Mesh:
        points, counts, indices = arrays
        scale, baked = np.diag(S) * self.stage.length, b""
        if np.abs(S - np.diag(np.diag(S))).max() > 1e-9 * np.abs(S).max():
            points, scale, baked = points @ S.T * self.stage.length, np.ones(3), S.tobytes()
        if np.abs(scale - 1.0).max() < 1e-12:
            scale = np.ones(3)
        key = baked, b"" if chosen is None else chosen.tobytes()
        path = self.meshes.kept(prim, key, lambda: obj_of(points, counts, indices, chosen))
        return Mesh(prim.path, tuple(scale.tolist()), convex, path)

    def _bounding(
        self, prim: Prim, arrays: Arrays, X_LG: Matrix4, S: Matrix3, name: str, approximation: str
    ) -> GeometrySpec:
        low, high = bounds(arrays[0] @ S.T * self.stage.length)
        X = compose(X_LG, pose(None, (low + high) / 2.0))
        size = high - low
        if approximation == "boundingCube":
            return GeometrySpec(name, Box(tuple(size.tolist())), X, prim.place)
        return GeometrySpec(name, Sphere(float(np.linalg.norm(size) / 2.0)), X, prim.place)

    def solid(self, prim: Prim, shape: Shape) -> MassProperties:
        """The MassProperties of density 1 of a shape that touches, in its own frame. ModelError."""
        if not isinstance(shape, Mesh):
            return mass_properties(shape, 1.0)
        arrays, S = self.meshes.arrays(prim), self._stretches[prim.path]
        assert arrays is not None
        points, counts, indices = arrays
        points = points @ S.T * self.stage.length
        kind = prim.word("mjc:inertia", ("", *KINDS), "")
        name = f"mesh {prim.path}"
        if kind or not shape.convex:
            turned = indices if np.linalg.det(S) > 0.0 else turned_round(counts, indices)
            corners, faces = triangles_of_faces(np.append(0, np.cumsum(counts)))
            try:
                if kind:
                    return mesh_mass_properties(points, turned[corners], faces, kind, 1.0, name)
                return mass_properties_of_triangles(points, turned[corners], 1.0)
            except ModelError as error:
                problem = error if kind else "its surface is not closed"
                message = f"{problem}: its mass is that of its convex hull"
                self.stage.diagnostics.note("MESH_INERTIA", message, prim)
        return mass_properties_of_triangles(points, convex_hull(points, name), 1.0)


def _rgba(color: Iterable[float]) -> Color:
    r, g, b, a = color
    return *srgb_of((r, g, b)), min(max(float(a), 0.0), 1.0)
