"""The prims of a composed stage as plain values: JSON, and one file of arrays for each mesh.

Numbers of single precision become the shortest decimals that mean them: the 0.1 of a text file is 0.1.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.usd.usd_layers import MOST_PRIMS
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade

from mbcli.errors import ModelError

if TYPE_CHECKING:
    from typing import Any

    from mbcli.math.array_types import IntArray, Matrix

MOST_NUMBERS = 4096  # of an attribute; larger ones are data of pictures
MOST_POINTS = 50_000_000  # of all meshes
_SHADERS = ("Shader", "NodeGraph")
_PICTURES = ("primvars:", "inputs:", "outputs:", "xformOp", "ui:", "omni:")
_COLORS = ("inputs:diffuseColor", "inputs:diffuse_color_constant", "inputs:diffuse_tint", "inputs:base_color")
_OPACITIES = ("inputs:opacity", "inputs:opacity_constant")
_AXES = {"X": Gf.Vec3d(1, 0, 0), "Y": Gf.Vec3d(0, 1, 0), "Z": Gf.Vec3d(0, 0, 1)}
_DEPTH = 16  # connections from a material to the value of a colour


def stage_document(stage: Usd.Stage, folder: str) -> dict[str, Any]:
    """What the stage has: see `Prims`."""
    root = stage.GetRootLayer().pseudoRoot
    default = stage.GetDefaultPrim()
    return {
        "default": default.GetName() if default else "",
        "meters": UsdGeom.GetStageMetersPerUnit(stage),
        "kilograms": root.GetInfo("kilogramsPerUnit") if root.HasInfo("kilogramsPerUnit") else 1.0,
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "prims": Prims(folder).all(stage),
    }


class Prims:
    """Reads prims; writes the arrays of meshes into a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._worlds: dict[Sdf.Path, Gf.Matrix4d] = {}  # by the path of a prim
        self._meshes: set[str] = set()
        self._points = 0
        self._materials: dict[str, list[float] | None] = {}

    def all(self, stage: Usd.Stage) -> list[dict[str, Any]]:
        """A list of documents, parents before their children."""
        found: list[dict[str, Any]] = []
        for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)):
            if prim.IsPseudoRoot():
                continue
            if len(found) >= MOST_PRIMS:
                raise ModelError(f"it has more than {MOST_PRIMS} prims")
            found.append(self._document(prim))
        return found

    def _document(self, prim: Usd.Prim) -> dict[str, Any]:
        path = str(prim.GetPath())
        world = self._world_pose(prim)
        document: dict[str, Any] = {
            "path": path,
            "type": str(prim.GetTypeName()),
            "shown": prim.GetDisplayName(),
            "apis": _applied(prim),
            "world": [list(row) for row in world.GetTranspose()],
        }
        if document["type"] in _SHADERS:
            return document
        document["attributes"] = _attributes(prim)
        document["relations"] = {
            relation.GetName(): [str(target) for target in relation.GetForwardedTargets()]
            for relation in prim.GetAuthoredRelationships()
            if not relation.GetName().startswith("material:")
        }
        if prim.IsA(UsdGeom.Imageable):
            imageable = UsdGeom.Imageable(prim)
            document["purpose"] = str(imageable.ComputePurpose())
            document["visible"] = str(imageable.ComputeVisibility()) != "invisible"
            document["physics"] = self._physics_material(prim)
        if prim.IsA(UsdGeom.Gprim):
            document["color"] = self._color(prim)
        if prim.IsA(UsdGeom.Mesh):
            document |= self._mesh(UsdGeom.Mesh(prim))
        return document

    def _world_pose(self, prim: Usd.Prim) -> Gf.Matrix4d:
        parent = self._worlds.get(prim.GetParent().GetPath(), Gf.Matrix4d(1.0))
        local = Gf.Matrix4d(1.0)
        if prim.IsA(UsdGeom.Xformable):
            xformable = UsdGeom.Xformable(prim)
            for op in reversed(xformable.GetOrderedXformOps()):
                local *= _op_matrix(op)
            if xformable.GetResetXformStack():
                parent = Gf.Matrix4d(1.0)
        world = local * parent
        self._worlds[prim.GetPath()] = world
        return world

    # ------------------------------------------------------------------------------------ materials

    def _physics_material(self, prim: Usd.Prim) -> str:
        """The path of the material of contact; "" for none."""
        if not prim.IsA(UsdGeom.Gprim):
            return ""
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
        return str(material.GetPath()) if material else ""

    def _color(self, prim: Usd.Prim) -> list[float] | None:
        """[r, g, b, a] in the space of the file, or None."""
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        found = self._of_material(material) if material else None
        if found is not None:
            return found
        primvars = UsdGeom.PrimvarsAPI(prim)
        color = _first(primvars.FindPrimvarWithInheritance("displayColor"))
        if color is None:
            return None
        opacity = _first(primvars.FindPrimvarWithInheritance("displayOpacity"))
        parts = plain(color)
        return [*(parts if isinstance(parts, (list, tuple)) else [parts]), 1.0 if opacity is None else plain(opacity)]

    def _of_material(self, material: UsdShade.Material) -> list[float] | None:
        path = str(material.GetPath())
        if path not in self._materials:
            self._materials[path] = _surface_color(material)
        return self._materials[path]

    # --------------------------------------------------------------------------------------- meshes

    def _mesh(self, mesh: UsdGeom.Mesh) -> dict[str, Any]:
        points = _value(mesh.GetPointsAttr())
        counts, indices = (_value(a) for a in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()))
        arrays: list[Any] = [
            np.asarray(each if each is not None else (), kind)
            for each, kind in ((points, np.float32), (counts, np.int64), (indices, np.int64))
        ]
        points, counts, indices = arrays[0].reshape(-1, 3), arrays[1], arrays[2]
        self._points += len(points)
        if self._points > MOST_POINTS:
            raise ModelError(f"its meshes have more than {MOST_POINTS:,} points")
        subsets = []
        for subset in UsdGeom.Subset.GetGeomSubsets(mesh, UsdGeom.Tokens.face, "materialBind"):
            material, _ = UsdShade.MaterialBindingAPI(subset.GetPrim()).ComputeBoundMaterial()
            color = self._of_material(material) if material else None
            subsets.append([np.asarray(_value(subset.GetIndicesAttr()) or (), np.int64).tolist(), color])
        return {
            "mesh": self._kept(points, counts, indices),
            "left_handed": str(_value(mesh.GetOrientationAttr()) or "") == "leftHanded",
            "subsets": subsets,
        }

    def _kept(self, points: Matrix, counts: IntArray, indices: IntArray) -> str:
        """The name of a file of the arrays."""
        digest = hashlib.sha256()
        for array in (points, counts, indices):
            digest.update(f"{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
        name = f"{digest.hexdigest()[:40]}.npz"
        if name not in self._meshes:
            self._meshes.add(name)
            np.savez(os.path.join(self._folder, name), points=points, counts=counts, indices=indices)
        return name


# ------------------------------------------------------------------------------------------- values


def _applied(prim: Usd.Prim) -> list[str]:
    """The API schemas of a prim, those whose definition is not installed as well."""
    listed = prim.GetMetadata("apiSchemas")
    return [str(name) for name in (listed.GetAddedOrExplicitItems() if listed else ())]


def _value(attribute: Usd.Attribute) -> Any:
    value = attribute.Get()
    return attribute.Get(Usd.TimeCode.EarliestTime()) if value is None else value


def _first(primvar: UsdGeom.Primvar) -> Any:
    """The first value of a primvar, or None."""
    if not primvar:
        return None
    value = _value(primvar.GetAttr())
    if value is None or isinstance(value, Gf.Vec3f) or not hasattr(value, "__len__"):
        return value
    return value[0] if len(value) else None


def _attributes(prim: Usd.Prim) -> dict[str, Any]:
    found = {}
    for attribute in prim.GetAuthoredAttributes():
        name = attribute.GetName()
        if name.startswith(_PICTURES) or name in ("points", "normals", "faceVertexCounts", "faceVertexIndices"):
            continue
        value = scalar(attribute)
        if value is not None:
            found[name] = value
    return found


def plain(value: Any) -> Any:
    """A value of USD as JSON has it."""
    if value is None or isinstance(value, (bool, int, str, float)):
        return value
    if isinstance(value, (Gf.Quatf, Gf.Quath, Gf.Quatd)):
        single = not isinstance(value, Gf.Quatd)
        parts = [value.GetReal(), *value.GetImaginary()]
        return [shortest(part) for part in parts] if single else parts
    if isinstance(value, (Gf.Matrix4d, Gf.Matrix3d, Gf.Matrix2d)):
        return [list(row) for row in value]
    if isinstance(value, Sdf.AssetPath):
        return value.path
    try:
        count = len(value)
    except TypeError:
        return str(value)
    if count > MOST_NUMBERS:
        return None
    kind = type(value).__name__
    if kind in ("FloatArray", "HalfArray") or (kind.startswith("Vec") and kind[-1] in "fh"):
        return [shortest(part) for part in value]
    return [plain(part) for part in value]


def shortest(value: float) -> float:
    """The shortest decimal that means a number of single precision."""
    return float(str(np.float32(value)))


def scalar(attribute: Usd.Attribute) -> Any:
    """plain(), of an attribute whose type says whether a number is of single precision."""
    value = _value(attribute)
    if isinstance(value, float) and str(attribute.GetTypeName()) in ("float", "half"):
        return shortest(value)
    return plain(value)


def _op_matrix(op: UsdGeom.XformOp) -> Gf.Matrix4d:
    """The matrix of a transform, of which rows are multiplied from the left, as USD has it."""
    value = scalar(op.GetAttr())
    if value is None:
        return Gf.Matrix4d(1.0)
    kind = str(op.GetOpType()).rpartition(".Type")[2]
    matrix = _plain_matrix(kind, value)
    return matrix.GetInverse() if op.IsInverseOp() else matrix


def _plain_matrix(kind: str, value: Any) -> Gf.Matrix4d:
    if kind == "Transform":
        return Gf.Matrix4d(*[number for row in value for number in row])
    if kind == "Orient":
        quaternion = Gf.Quatd(value[0], Gf.Vec3d(*value[1:]))
        return Gf.Matrix4d().SetRotate(quaternion.GetNormalized() if quaternion.GetLength() > 0.0 else Gf.Quatd(1.0))
    base, axes = kind.rstrip("XYZ"), kind[len(kind.rstrip("XYZ")) :]
    if base == "Rotate":
        angles = [value] if len(axes) == 1 else [value["XYZ".index(axis)] for axis in axes]
        matrix = Gf.Matrix4d(1.0)
        for axis, angle in zip(axes, angles, strict=True):
            matrix *= Gf.Matrix4d().SetRotate(Gf.Rotation(_AXES[axis], angle))
        return matrix
    usual = 1.0 if base == "Scale" else 0.0
    vector = Gf.Vec3d(*(value if not axes else [value if axis == axes else usual for axis in "XYZ"]))
    return Gf.Matrix4d().SetScale(vector) if base == "Scale" else Gf.Matrix4d().SetTranslate(vector)


# ------------------------------------------------------------------------------------------- colours


def _surface_color(material: UsdShade.Material) -> list[float] | None:
    """[r, g, b, a] of the surface of a material, or None."""
    for source in (material.ComputeSurfaceSource(), material.ComputeSurfaceSource("mdl")):
        shader = source[0]
        if not shader:
            continue
        for name in _COLORS:
            color = _input(shader, name)
            if color is not None and len(color) == 3:
                opacity = next((a for n in _OPACITIES if (a := _input(shader, n)) is not None), 1.0)
                return [*color, opacity if isinstance(opacity, float) else 1.0]
    return None


def _input(shader: UsdShade.Shader, name: str) -> Any:
    """The value of an input, through the connections that lead to it; None if a texture gives it."""
    attribute = shader.GetPrim().GetAttribute(name)
    for _ in range(_DEPTH):
        if not attribute:
            return None
        sources = attribute.GetConnections()
        if not sources:
            break
        attribute = shader.GetPrim().GetStage().GetAttributeAtPath(sources[0])
    else:
        return None
    return scalar(attribute) if attribute.HasValue() else None
