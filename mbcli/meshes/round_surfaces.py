"""Surfaces of triangles: of boxes, and of balls, ellipsoids, cylinders and capsules as fine as a hint asks for.

All are closed, counterclockwise seen from outside, with their vertices on the shape.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray, IntArray

LEAST_HINT = 1e-9  # of a size: one row of elements has more of them than a solid may have
ALMOST = 1.0 - 1e-12  # so that rounding of a hint does not add a row


def box_surface(size: Sequence[float] | FloatArray) -> tuple[FloatArray, IntArray]:
    """Of full lengths (3,): 8 vertices, 12 triangles."""
    half = np.asarray(size, dtype=float) / 2.0
    vertices = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    rings = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    return vertices, rings[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)


def hint_within_reach(hint: float, size: float) -> float:
    """A hint [m] so much shorter than a size [m] that elements cannot be counted is longer: these are too many too."""
    return max(hint, LEAST_HINT * size)


def sphere_level(radius: float, hint: float) -> int:
    """How often the faces of an octahedron are cut into four until its first edges are no longer than a hint [m].

    These edges lie on great circles, of which 2^-level quarters have chords of 2 r sin(pi / 4 / 2^level).
    """
    hint = hint_within_reach(hint, radius)
    if hint >= math.sqrt(2.0) * radius * ALMOST:
        return 0
    return math.ceil(math.log2(math.pi / 4.0 / math.asin(hint / (2.0 * radius))) - 1e-9)


def circle_count(radius: float, hint: float) -> int:
    """How many corners a polygon in a circle has whose arcs are no longer than a hint [m]: three at least."""
    return max(3, math.ceil(2.0 * math.pi * radius / hint_within_reach(hint, radius) * ALMOST))


def meridian_count(radius: float, hint: float) -> int:
    """How many meridians a capsule has: as many as arcs of a hint [m] fit on its circle, three at least."""
    return max(3, math.floor(2.0 * math.pi * radius / hint_within_reach(hint, radius) / ALMOST))


def sphere_surface(level: int) -> tuple[FloatArray, IntArray]:
    """Of radius 1: 2 + 4^(level + 1) vertices, 8 4^level triangles."""
    vertices = np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
    here, following = np.arange(4), (np.arange(4) + 1) % 4
    upper = np.column_stack([here, following, np.full(4, 4)])
    triangles = np.concatenate([upper, np.column_stack([following, here, np.full(4, 5)])])
    for _ in range(level):
        vertices, triangles = _cut_in_four(vertices, triangles)
        vertices /= np.linalg.norm(vertices, axis=1, keepdims=True)
    return vertices, triangles


def _cut_in_four(vertices: FloatArray, triangles: IntArray) -> tuple[FloatArray, IntArray]:
    """Each triangle by the middles of its edges, which come after the vertices."""
    n = len(vertices)
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
    edges, place = np.unique(sides[:, 0] * n + sides[:, 1], return_inverse=True)
    middles = (vertices[edges // n] + vertices[edges % n]) / 2.0
    a, b, c = triangles.T
    ab, bc, ca = (n + place.reshape(-1, 3)).T
    parts = [np.column_stack(part) for part in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
    return np.concatenate([vertices, middles]), np.stack(parts, 1).reshape(-1, 3)


def circle(radius: float, count: int, z: float) -> FloatArray:
    """(count, 3) corners of a polygon in a circle about z, the first one on x."""
    angles = 2.0 * math.pi * np.arange(count) / count
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(count, z)])


def cylinder_surface(radius: float, length: float, count: int) -> tuple[FloatArray, IntArray]:
    """A prism of `count` sides in a cylinder about z: two circles of vertices, then the middles of the caps, the lower
    one first; 4 count triangles.
    """
    half = length / 2.0
    ends = [[0.0, 0.0, -half], [0.0, 0.0, half]]
    vertices = np.concatenate([circle(radius, count, -half), circle(radius, count, half), ends])
    lower, upper = np.arange(count), count + np.arange(count)
    triangles = [cap(lower, 2 * count)[:, ::-1], cap(upper, 2 * count + 1), *band(lower, upper)]
    return vertices, np.concatenate(triangles)


def capsule_surface(radius: float, length: float, count: int) -> tuple[FloatArray, IntArray]:
    """`count` meridians on a capsule about z; count // 2 circles on each of its half balls, no more along the barrel.

    Circles of vertices from below, then the lower pole and the upper one. (4 (count // 2)) count triangles.
    """
    half, rings = length / 2.0, count // 2
    angles = math.pi / 2.0 * (np.arange(rings) + 1) / rings  # of the circles from the pole
    lower = [circle(radius * math.sin(angle), count, -half - radius * math.cos(angle)) for angle in angles]
    upper = [circle(radius * math.sin(angle), count, half + radius * math.cos(angle)) for angle in angles[::-1]]
    poles = [[0.0, 0.0, -half - radius], [0.0, 0.0, half + radius]]
    vertices = np.concatenate([*lower, *upper, poles])
    rows = np.arange(2 * rings * count).reshape(2 * rings, count)
    triangles = [cap(rows[0], 2 * rings * count)[:, ::-1], cap(rows[-1], 2 * rings * count + 1)]
    for k in range(2 * rings - 1):
        triangles += band(rows[k], rows[k + 1], turned=k >= rings)
    return vertices, np.concatenate(triangles)


def cap(row: IntArray, middle: int) -> IntArray:
    """The fan about a vertex over a circle of vertices, seen counterclockwise from above."""
    return np.column_stack([np.full(len(row), middle), row, np.roll(row, -1)])


def band(lower: IntArray, upper: IntArray, turned: bool = False) -> list[IntArray]:
    """The triangles between two circles of vertices, outwards; turned: by the other diagonals."""
    a, b, c, d = lower, np.roll(lower, -1), np.roll(upper, -1), upper
    if turned:
        return [np.column_stack([a, b, d]), np.column_stack([b, c, d])]
    return [np.column_stack([a, b, c]), np.column_stack([a, c, d])]
