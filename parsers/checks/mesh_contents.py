"""The contents of the mesh files that a model names: whether they can be read, their unit, up-axis and size."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from mbcli.parsers.checks.flat_model import MeshExtent
from mbcli.parsers.spec import Mesh

from mbcli.errors import MbcliError
from mbcli.meshes.hull_surface import volume_and_centroid
from mbcli.meshes.triangles import load_triangles

if TYPE_CHECKING:
    from mbcli.parsers.checks.flat_model import FlatModel
    from mbcli.parsers.checks.report import Report
    from mbcli.parsers.spec import GeometrySpec

    from mbcli.math.array_types import IntArray

LARGEST, SMALLEST = 20.0, 1e-4  # [m] of the largest side, scale included
_HEAD = 65536  # bytes of a COLLADA file in which its <asset> stands
_UNIT = re.compile(rb"<unit\b[^<>]*?\bmeter\s*+=\s*+[\"']([^\"'<>]*+)[\"']")
_UP_AXIS = re.compile(rb"<up_axis>\s*+(\w++)\s*+</up_axis>")


def check_mesh_contents(model: FlatModel, report: Report) -> dict[str, MeshExtent]:
    """MESH_UNREADABLE, MESH_SIZE, MESH_UNIT, MESH_UP_AXIS, HYDROELASTIC_MESH for each file once.

    Returns {path: extent} of the files that could be read.
    """
    uses: dict[Any, Any] = {}
    compliant: dict[str, Any] = {}
    for link in model.links.values():
        for geometry in (*link.visuals, *link.collisions):
            if isinstance(geometry.shape, Mesh) and geometry.shape.path is not None and report.is_sound(geometry):
                uses.setdefault((geometry.shape.path, geometry.shape.scale), geometry)
                if _must_be_closed(geometry):
                    compliant.setdefault(geometry.shape.path, geometry)
    extents: dict[str, MeshExtent | None] = {}
    for (path, scale), geometry in uses.items():
        if path not in extents:
            extents[path] = _read_extent(path, geometry, compliant.get(path), report)
        extent = extents[path]
        if extent is not None:
            _check_size(extent, scale, geometry, report)
    return {path: extent for path, extent in extents.items() if extent is not None}


def _must_be_closed(geometry: GeometrySpec) -> bool:
    """Whether a geometry is a mesh that tetrahedra are to fill."""
    compliant = geometry.properties.get(("hydroelastic", "compliance_type")) == "compliant"
    shape = geometry.shape
    return compliant and isinstance(shape, Mesh) and not shape.convex and shape.submesh is None


def _read_extent(
    path: str, geometry: GeometrySpec, compliant: GeometrySpec | None, report: Report
) -> MeshExtent | None:
    """The MeshExtent, or None with a finding. compliant: a geometry that needs it closed."""
    try:
        vertices, triangles = load_triangles(path)
    except MbcliError as error:
        message = f"the mesh file {path} cannot be read: {str(error).removeprefix(f'{path}: ')}"
        report("MESH_UNREADABLE", message, geometry.place, "geometry")
        return None
    open_edges = _count_open_edges(triangles)
    if compliant is not None and open_edges:
        message = f"the surface of {path} is not closed ({open_edges} open edges): tetrahedra cannot fill it"
        hint = "close it, declare it convex, or make it rigid"
        report("HYDROELASTIC_MESH", message, compliant.place, "geometry", hint=hint)
    if path.lower().endswith(".dae"):
        _check_collada(path, geometry, report)
    volume = None if open_edges else volume_and_centroid(vertices, triangles)[0]
    return MeshExtent(vertices.min(axis=0), vertices.max(axis=0), volume)


def _count_open_edges(triangles: IntArray) -> int:
    """The number of edges that are used more often in one direction; vertices in one place are one."""
    tail, head = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    count = int(triangles.max(initial=0)) + 1
    edges, place = np.unique(np.minimum(tail, head) * count + np.maximum(tail, head), return_inverse=True)
    sums = np.bincount(place.ravel(), weights=np.sign(head - tail), minlength=len(edges))
    return int(np.count_nonzero(sums))


def _check_size(extent: MeshExtent, scale: tuple[float, float, float], geometry: GeometrySpec, report: Report) -> None:
    size = np.abs((extent.upper - extent.lower) * scale)
    text = " x ".join(f"{side:.3g}" for side in size)
    if size.max() > LARGEST:
        message = f"the mesh is {text} m large, scale {' '.join(f'{s:g}' for s in scale)} included"
        report("MESH_SIZE", message, geometry.place, "geometry", hint="is it in millimetres? Then its scale is 0.001")
    elif size.max() < SMALLEST:
        message = f"the mesh is {text} m small, scale {' '.join(f'{s:g}' for s in scale)} included"
        report("MESH_SIZE", message, geometry.place, "geometry", hint="is it scaled twice?")


def _check_collada(path: str, geometry: GeometrySpec, report: Report) -> None:
    """A COLLADA file states its unit and up-axis, and some readers ignore them."""
    with open(path, "rb") as file:
        head = file.read(_HEAD)
    unit, up_axis = _UNIT.search(head), _UP_AXIS.search(head)
    if unit is not None and _number(unit[1]) != 1:
        message = f"the unit of {path} is {unit[1].decode(errors='replace')} m: some readers ignore it"
        report("MESH_UNIT", message, geometry.place, "geometry", hint="export it in metres")
    if up_axis is not None and up_axis[1] != b"Z_UP":
        message = f"{path} is {up_axis[1].decode(errors='replace')}: some readers turn it and some do not"
        report("MESH_UP_AXIS", message, geometry.place, "geometry", hint="export it with z up")


def _number(text: bytes) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
