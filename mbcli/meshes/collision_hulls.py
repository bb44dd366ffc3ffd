"""The convex solids that stand for a mesh file in the search for contact, made once and kept for the next run."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import MbcliError, ModelError
from mbcli.meshes.hull import Hull, hull_of, is_sound
from mbcli.meshes.kept_arrays import keep_arrays, key_of, read_arrays
from mbcli.meshes.triangles import convex_hull, load_triangles, read_mesh_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from mbcli.math.array_types import FloatArray, IntArray

VERSION = 1  # of what follows from a file: grows with every change of its hulls
SAME_VOLUME = 1e-6  # share by which a convex surface may hold less than its hull
FLAT = 1e-6  # of the size: vertices so near to a plane lie in it
THICKNESS = 1e-5  # of the size: from a flat mesh to each side of the plate that stands for it


@dataclass(frozen=True)
class CollisionHulls:
    """Hulls that stand for a mesh, and whether its surface is convex."""

    hulls: tuple[Hull, ...]
    is_convex: bool


def hulls_of_file(
    path: str | os.PathLike[str],
    scale: ArrayLike = 1.0,
    decompose: bool = False,
    *,
    submesh: str | None = None,
    center: bool = False,
) -> CollisionHulls:
    """The convex hull of a mesh file, or of a part, as load_triangles() has it. A flat mesh becomes a thin plate.

    decompose: the hulls of convex parts in place of one, if the surface is not convex.

    Raises ResourceError or ModelError as load_triangles() and convex_parts() do, and for vertices on a line.
    """
    path = os.fspath(path)

    def make() -> CollisionHulls:
        return _hulls(*load_triangles(path, scale, submesh=submesh, center=center), path, decompose)

    digests = _digests(path)
    if digests is None:
        return make()
    factors = np.broadcast_to(np.asarray(scale, dtype=float), 3).tolist()
    suffix = os.path.splitext(path)[1].lower()
    return _kept(key_of("file", VERSION, _way(decompose), suffix, factors, submesh, center, digests), make)


def hulls_of_surface(vertices: FloatArray, triangles: IntArray, name: str) -> CollisionHulls:
    """The convex hull of vertices (n, 3), and whether triangles (m, 3) of them enclose all of it.

    Raises ModelError, with the name, for vertices on a line.
    """
    digests = [_digest(np.ascontiguousarray(array).tobytes()) for array in (vertices, triangles)]
    key = key_of("surface", VERSION, vertices.shape, triangles.shape, digests)
    return _kept(key, lambda: _hulls(vertices, triangles, name, False))


def _hulls(vertices: FloatArray, triangles: IntArray, name: str, decompose: bool) -> CollisionHulls:
    plate = _plate(vertices, name)
    if plate is not None:
        return CollisionHulls((hull_of(plate, convex_hull(plate, name)),), True)
    hull = convex_hull(vertices, name)
    inner, outer = (abs(_volume(vertices, faces)) for faces in (triangles, hull))
    is_convex = inner >= (1.0 - SAME_VOLUME) * outer
    if is_convex or not decompose:
        return CollisionHulls((hull_of(vertices, hull),), is_convex)
    from mbcli.meshes.decomposition import convex_parts

    hulls = []
    for points in convex_parts(vertices, triangles, name):
        try:
            hulls.append(hull_of(points, convex_hull(points, name)))
        except ModelError:  # a part in a plane holds nothing
            continue
    return CollisionHulls(tuple(hulls) or (hull_of(vertices, hull),), is_convex)


def _plate(vertices: FloatArray, name: str) -> FloatArray | None:
    """The vertices (2 n, 3) of a plate about flat vertices (n, 3); None if they are not flat."""
    from_middle = vertices - vertices.mean(axis=0)
    size = float(np.ptp(vertices, axis=0).max())
    _, axes = np.linalg.eigh(from_middle.T @ from_middle)  # columns, that of the least extent first
    if np.abs(from_middle @ axes[:, 1]).max() <= FLAT * size:
        raise ModelError(f"{name}: its vertices lie on a line")
    normal = axes[:, 0]
    heights = from_middle @ normal
    if np.abs(heights).max() > FLAT * size:
        return None
    flat = vertices - np.outer(heights, normal)
    return np.concatenate([flat - THICKNESS * size * normal, flat + THICKNESS * size * normal])


def _volume(vertices: FloatArray, triangles: IntArray) -> float:
    a, b, c = (vertices[triangles[:, k]] - vertices.mean(axis=0) for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


# ------------------------------------------------------------------------------------------- kept


def _kept(key: str, make: Callable[[], CollisionHulls]) -> CollisionHulls:
    """What was kept under a key, else what make() gives, which is kept then."""
    result = _from_arrays(read_arrays(key))
    if result is None:
        result = make()
        keep_arrays(key, _as_arrays(result))
    return result


def _way(decompose: bool) -> str:
    if not decompose:
        return "hull"
    from mbcli.meshes.decomposition import decomposition_version

    return decomposition_version()


def _digests(path: str) -> list[str] | None:
    """Of the bytes of a file and of those beside it; None if it cannot be read: then reading it says why."""
    try:
        content = read_mesh_file(path)
        digests = [_digest(content)]
        if path.lower().endswith((".gltf", ".glb")):
            from mbcli.meshes.read_gltf import files_beside, read_beside

            digests += [_digest(read_beside(os.path.dirname(path), name)) for name in files_beside(content)]
    except (MbcliError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return digests


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=20).hexdigest()


def _as_arrays(result: CollisionHulls) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {"is_convex": np.array([int(result.is_convex)])}
    for k, hull in enumerate(result.hulls):
        arrays |= {f"{field.name} {k}": getattr(hull, field.name) for field in fields(Hull)}
    return arrays


def _from_arrays(arrays: dict[str, NDArray[Any]] | None) -> CollisionHulls | None:
    """The CollisionHulls that _as_arrays() made these of; None if something is not as it must be."""
    names = [field.name for field in fields(Hull)]
    hulls: list[Hull] = []
    if arrays is None or "is_convex" not in arrays:
        return None
    while all(f"{name} {len(hulls)}" in arrays for name in names):
        hulls.append(Hull(**{name: arrays[f"{name} {len(hulls)}"] for name in names}))
    whole = len(arrays) == 1 + len(names) * len(hulls) and arrays["is_convex"].shape == (1,)
    if not hulls or not whole or not all(is_sound(hull) for hull in hulls):
        return None
    return CollisionHulls(tuple(hulls), bool(arrays["is_convex"][0]))
