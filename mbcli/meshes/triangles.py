"""Triangles from mesh files, by the packages of the extra `mesh`: trimesh, and pycollada for DAE."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, IntArray

FORMATS = (".obj", ".stl", ".dae", ".gltf", ".glb")
MAX_BYTES = 500_000_000
MAX_TRIANGLES = 5_000_000


def load_triangles(path: str | os.PathLike[str], scale: ArrayLike = 1.0) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) [m] and triangles (m, 3) of their indices of a mesh file: OBJ, STL, DAE, glTF.

    All meshes of the file are taken together, in the places that its nodes give them. Axes are those of the file, for
    a DAE file whatever its up_axis; lengths are metres, or a DAE file's own unit. Equal vertices become one.

    Args:
        path: of the file; its suffix gives the format.
        scale: a number, or one for each axis. If it mirrors, triangles are turned so that they still face outwards.

    Raises:
        ResourceError: no such file, a file that is too large, or a package that is not installed.
        ModelError: another format, or a file without triangles of finite vertices.
    """
    path = os.fspath(path)
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in FORMATS:
        raise ModelError(f"{path}: a mesh file is one of {', '.join(FORMATS)}, not '{suffix}'")
    factors = _factors(scale, path)
    _check_size(path)
    vertices, triangles = _read(path, suffix)
    if not triangles.size:
        raise ModelError(f"{path}: there are no triangles in it")
    if len(triangles) > MAX_TRIANGLES:
        raise ResourceError(f"{path}: {len(triangles)} triangles, the most are {MAX_TRIANGLES}")
    if not 0 <= triangles.min() <= triangles.max() < len(vertices):
        raise ModelError(f"{path}: a triangle has a vertex that is not there")
    if not np.isfinite(vertices).all():
        row = int(np.flatnonzero(~np.isfinite(vertices).all(axis=1))[0])
        raise ModelError(f"{path}: vertex {row} is not finite: {vertices[row].tolist()}")
    vertices, places = np.unique(vertices * factors, axis=0, return_inverse=True)
    triangles = places.reshape(-1)[triangles]
    return vertices, triangles[:, ::-1].copy() if np.prod(factors) < 0.0 else triangles


def convex_hull(vertices: FloatArray, name: str) -> IntArray:
    """Triangles (m, 3) of the convex hull of vertices (n, 3), facing outwards.

    Raises ModelError, with the name, if they lie in a plane.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(vertices)
    except QhullError:
        raise ModelError(f"{name}: its vertices lie in one plane, so that their hull holds nothing") from None
    triangles = hull.simplices
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    triangles[inwards] = triangles[inwards][:, ::-1]
    return triangles


def _factors(scale: ArrayLike, path: str) -> FloatArray:
    factors = np.array(scale, dtype=float)
    if factors.shape not in ((), (3,)) or not (np.isfinite(factors) & (factors != 0.0)).all():
        raise ModelError(f"{path}: the scale of a mesh is one finite number or three, none of them 0, not {scale!s}")
    return np.broadcast_to(factors, 3)


def _check_size(path: str) -> None:
    try:
        size = os.path.getsize(path)
    except OSError as error:
        raise ResourceError(f"{path}: cannot read the mesh: {error.strerror}") from None
    if size > MAX_BYTES:
        raise ResourceError(f"{path}: {size} bytes, the most of a mesh file are {MAX_BYTES}")


def _read(path: str, suffix: str) -> tuple[FloatArray, IntArray]:
    """Vertices in metres and triangles, as the file has them."""
    try:
        import trimesh

        if suffix == ".dae":
            import collada  # noqa: F401  # without it trimesh reports that it does not know the format
    except ImportError as error:
        raise ResourceError(
            f"{path}: reading it needs the package {error.name}: install mbcli with its extra 'mesh'"
        ) from None
    options: dict[str, Any] = {"skip_materials": True} if suffix == ".obj" else {}  # an MTL file may be anywhere
    try:
        mesh: Any = trimesh.load(path, force="mesh", process=False, **options)
        vertices, triangles = np.array(mesh.vertices, dtype=float), np.array(mesh.faces, dtype=np.int64)
    except Exception as error:  # whatever a broken file makes of the reader
        raise ModelError(f"{path}: cannot read the mesh: {type(error).__name__}: {error}") from None
    return vertices.reshape(-1, 3) * _metres(mesh), triangles.reshape(-1, 3)


def _metres(mesh: Any) -> float:
    """The length of the file's unit; trimesh gives it as '0.01 * meters'."""
    try:
        unit = float((mesh.units or "1").split("*")[0])
    except ValueError:
        return 1.0
    return unit if math.isfinite(unit) and unit > 0.0 else 1.0
