"""Surfaces of triangles that enclose something: what is wrong with others, and small repairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.meshes.hull_surface import volume_and_centroid

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray

SAME_PLACE = 1e-9  # of the size: vertices so near are one
FARTHEST = 1e8  # of the size: so far from the origin places are rounded too much
LEAST_VOLUME = 1e-9  # of the cube of the size


def closed_surface(vertices: FloatArray, triangles: IntArray, name: str) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) and triangles (m, 3), outwards, of a closed surface.

    Vertices at the same place become one; triangles that two of these share twice go, and pairs back to back; a surface
    that is inside out is turned.

    Raises ModelError, with the name, for a surface that is open, whose triangles do not all face the same way, or that
    encloses nothing.
    """
    vertices, triangles = np.asarray(vertices, dtype=float), np.asarray(triangles, dtype=np.int64)
    if not len(triangles) or not np.isfinite(vertices).all():
        raise ModelError(f"{name}: a surface is made of triangles with finite vertices")
    with np.errstate(over="ignore"):
        size = float(np.ptp(vertices[np.unique(triangles)], axis=0).max())
    if not 0.0 < size < 1e100 or size < 1e-100:
        raise ModelError(f"{name}: its size of {size:g} m is out of range")
    if np.abs(vertices).max() > FARTHEST * size:
        raise ModelError(f"{name}: it lies too far from its origin for its size of {size:g} m")
    vertices, triangles = _merged(vertices, triangles, size)
    _check_closed(triangles, name)
    volume, _ = volume_and_centroid(vertices / size, triangles)
    if abs(volume) <= LEAST_VOLUME:
        raise ModelError(f"{name}: its triangles enclose no volume")
    return vertices, triangles if volume > 0.0 else triangles[:, ::-1].copy()


def _merged(vertices: FloatArray, triangles: IntArray, size: float) -> tuple[FloatArray, IntArray]:
    places = np.round((vertices - vertices.mean(axis=0)) / (SAME_PLACE * size))
    _, first, number = np.unique(places, axis=0, return_index=True, return_inverse=True)
    triangles = first[number.ravel()][triangles]
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    if len(triangles):
        # A triangle and the same one turned round cancel; what is left of a set of equal ones is their sum.
        _, first, number = np.unique(np.sort(triangles, axis=1), axis=0, return_index=True, return_inverse=True)
        total = np.bincount(number.ravel(), weights=_turn(triangles)).astype(np.int64)
        kept = triangles[first]
        wrong = _turn(kept) * total < 0
        kept[wrong] = kept[wrong][:, ::-1]
        triangles = np.repeat(kept, np.abs(total), axis=0)
    used, places = np.unique(triangles, return_inverse=True)
    return vertices[used], places.reshape(-1, 3)


def _turn(triangles: IntArray) -> IntArray:
    """1 for triangles whose indices ascend when read in their sense, -1 for others."""
    rows = np.arange(len(triangles))
    low = triangles.argmin(axis=1)
    return np.where(triangles[rows, (low + 1) % 3] < triangles[rows, (low + 2) % 3], 1, -1)


def _check_closed(triangles: IntArray, name: str) -> None:
    if not len(triangles):
        raise ModelError(f"{name}: none of its triangles has an area")
    sides = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    low, high = sides.min(axis=1), sides.max(axis=1)
    _, number, counts = np.unique(low * (int(triangles.max()) + 1) + high, return_inverse=True, return_counts=True)
    balance = np.bincount(number.ravel(), weights=np.where(sides[:, 0] == low, 1.0, -1.0))
    is_open, is_turned = (balance != 0.0) & (counts % 2 == 1), (balance != 0.0) & (counts % 2 == 0)
    if is_open.any():
        raise ModelError(
            f"{name}: its surface is not closed: {int(is_open.sum())} of {len(counts)} edges have a triangle on one "
            "side only"
        )
    if is_turned.any():
        raise ModelError(
            f"{name}: its triangles do not all face the same way: they disagree at {int(is_turned.sum())} of "
            f"{len(counts)} edges"
        )
