"""Triangles from mesh files."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common import git_lfs
from mbcli.common.coordinate_names import listed
from mbcli.errors import MbcliError, ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, IntArray
    from mbcli.meshes.surfaces import Color, Surface

    Key: TypeAlias = tuple[str, int, int]  # path, time and size of a file
    ColoredTriangles: TypeAlias = tuple[Color | None, FloatArray, IntArray]

MAX_BYTES = 500_000_000
MAX_TRIANGLES = 5_000_000
MAX_RECENT = 2_000_000  # triangles of files that were read last and are kept, about 150 MB
MAX_COORDINATE = 1e100  # [m], as of numbers in model files: volumes are finite then


def load_tetrahedra(
    path: str | os.PathLike[str], scale: ArrayLike = 1.0, *, center: bool = False
) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) [m] and tetrahedra (m, 4) of a volume mesh in a VTK file, as it has them.

    scale and center as for load_triangles(). ResourceError for no such file, ModelError for one that cannot be read.
    """
    from mbcli.meshes.read_vtk import read_vtk

    path = os.fspath(path)
    factors = _factors(scale, path)
    try:
        vertices, tetrahedra = read_vtk(read_mesh_file(path))
    except ModelError as error:
        raise ModelError(f"{path}: cannot read the mesh: {error}") from None
    vertices = vertices * factors
    _require_moderate(vertices, path)
    if center:
        used = vertices[np.unique(tetrahedra)]
        vertices = vertices - (used.min(axis=0) + used.max(axis=0)) / 2.0
    return vertices, tetrahedra


def load_triangles(
    path: str | os.PathLike[str], scale: ArrayLike = 1.0, *, submesh: str | None = None, center: bool = False
) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) [m] and triangles (m, 3) of their indices of a mesh file: OBJ, STL, DAE, glTF, VTK, MSH.

    All meshes of the file are taken together, in the places that its nodes give them. Axes are those of the file, for
    a DAE file whatever its up_axis; lengths are metres, or a DAE file's own unit. Vertices are sorted, equal ones are
    one, those of no triangle go.

    Args:
        path: of the file; its suffix gives the format.
        scale: a number, or one for each axis. If it mirrors, triangles are turned so that they still face outwards.
        submesh: the name of the part to take: of a node in DAE and glTF files, an object or group in OBJ files.
        center: whether the middle of the box around the part becomes the origin.

    Raises:
        ResourceError: no such file, or one that is too large.
        ModelError: another format, or a file without triangles of finite vertices, or without the part.
    """
    path = os.fspath(path)
    factors = _factors(scale, path)
    surfaces = _surfaces(path) if submesh is None else _named(_surfaces(path), submesh, path)
    vertices, triangles = _joined(surfaces, path)
    if not triangles.size:
        raise ModelError(f"{path}: there are no triangles in it")
    if not 0 <= triangles.min() <= triangles.max() < len(vertices):
        raise ModelError(f"{path}: a triangle has a vertex that is not there")
    _require_moderate(vertices, path)
    scaled = vertices * factors
    _require_moderate(scaled, path)
    vertices, triangles = _merged(scaled, triangles)
    if center:
        vertices = vertices - (vertices.min(axis=0) + vertices.max(axis=0)) / 2.0
    return vertices, triangles[:, ::-1].copy() if np.prod(factors) < 0.0 else triangles


def load_colored_triangles(path: str | os.PathLike[str]) -> list[ColoredTriangles]:
    """(colour, vertices, triangles) of each colour in a mesh file, as load_triangles(); None: an image, or none."""
    path = os.fspath(path)
    of_color: dict[Color | None, list[Surface]] = {}
    for surface in _surfaces(path):
        if len(surface.triangles):
            of_color.setdefault(surface.color, []).append(surface)
    parts = []
    for color, surfaces in of_color.items():
        vertices, triangles = _joined(iter(surfaces), path)
        if not 0 <= triangles.min() <= triangles.max() < len(vertices):
            raise ModelError(f"{path}: a triangle has a vertex that is not there")
        _require_moderate(vertices, path)
        parts.append((color, *_merged(vertices, triangles)))
    return parts


def _require_moderate(vertices: FloatArray, path: str) -> None:
    """ModelError for a vertex that is not finite, or too far away."""
    far = ~(np.abs(vertices) <= MAX_COORDINATE).all(axis=1)
    if far.any():
        row = int(np.flatnonzero(far)[0])
        what = "not finite" if not np.isfinite(vertices[row]).all() else f"beyond {MAX_COORDINATE:g} m"
        raise ModelError(f"{path}: vertex {row} is {what}: {vertices[row].tolist()}")


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


def _surfaces(path: str) -> Iterator[Surface]:
    """The surfaces in a file one by one; errors name the file."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in FORMATS:
        raise ModelError(f"{path}: a mesh file is one of {', '.join(FORMATS)}, not '{suffix}'")
    key = _key(path)
    if key is not None and key in _RECENT:
        yield from _RECENT[key]
        return
    content = read_mesh_file(path)
    found = []
    try:
        for surface in FORMATS[suffix](content, os.path.dirname(os.path.realpath(path))):
            found.append(surface)
            yield surface
        _remember(key, found)
    except MbcliError as error:
        raise type(error)(f"{path}: cannot read the mesh: {error}") from None
    except Exception as error:  # whatever a broken file makes of the reader, whose words may quote the file
        raise ModelError(f"{path}: cannot read the mesh: it is damaged ({type(error).__name__})") from None


def _key(path: str) -> Key | None:
    """What changes with the file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return os.path.abspath(path), status.st_mtime_ns, status.st_size


def _remember(key: Key | None, surfaces: list[Surface]) -> None:
    """Keeps what was read last: several rooms ask for the triangles of one robot."""
    if key is None:
        return
    for surface in surfaces:
        surface.vertices.flags.writeable = surface.triangles.flags.writeable = False
    _RECENT[key] = surfaces
    while sum(len(surface.triangles) for kept in _RECENT.values() for surface in kept) > MAX_RECENT:
        del _RECENT[next(iter(_RECENT))]


def read_mesh_file(path: str) -> bytes:
    """The bytes of a mesh file. ResourceError if there is none, it is too large, or Git LFS has not fetched it."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise ResourceError(f"{path}: cannot read the mesh: not a regular file")
        if status.st_size > MAX_BYTES:
            raise ResourceError(f"{path}: {status.st_size} bytes, the most of a mesh file are {MAX_BYTES}")
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES)
    except OSError as error:
        raise ResourceError(f"{path}: cannot read the mesh: {error.strerror}") from None
    if git_lfs.is_pointer(content):
        raise ResourceError(f"{path}: cannot read the mesh: {git_lfs.ADVICE}")
    return content


def _named(surfaces: Iterator[Surface], name: str, path: str) -> Iterator[Surface]:
    """Those of a name. ModelError if there is none."""
    names = set()
    for surface in surfaces:
        names.add(surface.name)
        if surface.name == name:
            yield surface
    if name not in names:
        raise ModelError(
            f"{path}: there is no part '{name}' in it, but {listed(sorted(names - {''})) or 'none with a name'}"
        )


def _joined(surfaces: Iterator[Surface], path: str) -> tuple[FloatArray, IntArray]:
    """Vertices and triangles of surfaces together."""
    vertices, triangles = [np.zeros((0, 3))], [np.zeros((0, 3), dtype=np.int64)]
    points = count = 0
    for surface in surfaces:
        vertices.append(surface.vertices)
        triangles.append(points + surface.triangles)
        points, count = points + len(surface.vertices), count + len(surface.triangles)
        if count > MAX_TRIANGLES:
            raise ResourceError(f"{path}: {count} triangles, the most are {MAX_TRIANGLES}")
    return np.concatenate(vertices), np.concatenate(triangles)


def _merged(vertices: FloatArray, triangles: IntArray) -> tuple[FloatArray, IntArray]:
    """Each vertex once, sorted by x, y, z, as far as triangles have it; and the triangles."""
    used = np.zeros(len(vertices), dtype=bool)
    used[triangles] = True
    given = np.flatnonzero(used)
    order = given[np.lexsort(vertices[given].T[::-1])]
    differs = (np.diff(vertices[order], axis=0) != 0.0).any(axis=1)
    place = np.zeros(len(vertices), dtype=np.int64)
    place[order] = np.concatenate([[0], np.cumsum(differs)])
    return vertices[order[np.concatenate([[True], differs])]], place[triangles]


# --------------------------------------------------------------------------------- the readers of suffixes


def _read_stl(content: bytes, folder: str) -> Iterator[Surface]:
    from mbcli.meshes.read_stl import read_stl

    return read_stl(content)


def _read_obj(content: bytes, folder: str) -> Iterator[Surface]:
    from mbcli.meshes.read_obj import read_obj

    return read_obj(content, folder)


def _read_dae(content: bytes, folder: str) -> Iterator[Surface]:
    from mbcli.meshes.read_dae import read_dae

    return read_dae(content)


def _read_gltf(content: bytes, folder: str) -> Iterator[Surface]:
    from mbcli.meshes.read_gltf import read_gltf

    return read_gltf(content, folder)


def _read_vtk(content: bytes, folder: str) -> Iterator[Surface]:
    """The surface of the tetrahedra."""
    from mbcli.meshes.read_vtk import read_vtk
    from mbcli.meshes.surfaces import Surface
    from mbcli.meshes.volume_mesh import checked_mesh

    mesh = checked_mesh(*read_vtk(content), "")
    yield Surface("", mesh.vertices, mesh.outer_triangles)


def _read_msh(content: bytes, folder: str) -> Iterator[Surface]:
    from mbcli.meshes.read_msh import read_msh
    from mbcli.meshes.surfaces import Surface

    vertices, triangles = read_msh(content)
    if not np.isfinite(vertices).all():
        raise ModelError("a vertex is not finite")
    positions = vertices.astype(float)
    yield Surface("", positions, convex_hull(positions, "the mesh") if triangles is None else triangles)


_RECENT: dict[Key, list[Surface]] = {}
FORMATS: dict[str, Callable[[bytes, str], Iterator[Surface]]] = {
    ".obj": _read_obj,
    ".stl": _read_stl,
    ".dae": _read_dae,
    ".gltf": _read_gltf,
    ".glb": _read_gltf,
    ".vtk": _read_vtk,
    ".msh": _read_msh,
}
