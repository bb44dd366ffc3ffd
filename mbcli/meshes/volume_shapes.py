"""Balls, ellipsoids, boxes, cylinders and capsules as tetrahedra of even size and good shape, for elastic bodies.

Boxes and cylinders are grids, which keep their edges; round shapes are stuffed lattices (stuffed_lattice.py).
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from mbcli.meshes.round_surfaces import hint_within_reach
from mbcli.meshes.soft_solid import check_count, prisms_cut
from mbcli.meshes.stuffed_lattice import stuffed_lattice
from mbcli.meshes.volume_mesh import VolumeMesh, checked_mesh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import BoolArray, FloatArray, IntArray

NEWTON_STEPS = 30


def box_volume(size: Sequence[float] | FloatArray, hint: float) -> VolumeMesh:
    """Full lengths (3,) [m], cut into bricks whose edges are no longer than a hint [m], each of six tetrahedra.

    Each brick is cut about the diagonal from its corner nearest to the middle of the box, so that the mesh has the
    symmetry of the box and no tetrahedron has all corners on the surface.
    """
    size = np.asarray(size, dtype=float)
    edge = hint_within_reach(hint, float(size.max()))
    count = np.maximum(2, 2 * np.ceil(size / (2.0 * edge) - 1e-9)).astype(np.int64)
    check_count(6.0 * float(np.prod(count.astype(float))), "box", hint)
    shape = tuple(count + 1)
    grid = np.stack(np.meshgrid(*[np.arange(k) for k in shape], indexing="ij"), -1).reshape(-1, 3)
    bricks = grid[(grid < count).all(axis=1)]
    inner = np.where(2 * bricks >= count, bricks, bricks + 1)  # the corner nearest to the middle
    step = np.where(2 * bricks >= count, 1, -1)
    cells = []
    for order in itertools.permutations(range(3)):
        path = [inner]
        for axis in order:
            path.append(path[-1] + step * np.eye(3, dtype=np.int64)[axis])
        cells.append(np.column_stack([np.ravel_multi_index(tuple(p.T), shape) for p in path]))
    return checked_mesh(size * (grid / count - 0.5), np.concatenate(cells), "box")


def cylinder_volume(radius: float, length: float, hint: float) -> VolumeMesh:
    """About z: rings of triangles, ring k of 6 k corners, in layers, with edges about as long as a hint [m]."""
    edge = hint_within_reach(hint, max(radius, length))
    rings = max(2, math.ceil(radius / edge - 1e-9))
    layers = max(2, math.ceil(length / edge - 1e-9))
    check_count(18.0 * rings**2 * layers, "cylinder", hint)
    disc, triangles = _disc(radius, rings)
    n = len(disc)
    heights = np.linspace(-length / 2.0, length / 2.0, layers + 1)
    vertices = np.concatenate([np.column_stack([disc, np.full(n, z)]) for z in heights])
    prisms = np.concatenate([np.column_stack([triangles + k * n, triangles + (k + 1) * n]) for k in range(layers)])
    # Prisms are cut from their corner of the smallest number: with those inside first each tetrahedron has one inside.
    on_surface = np.tile(np.arange(n) >= n - 6 * rings, layers + 1)
    on_surface[:n] = on_surface[-n:] = True
    order = np.argsort(on_surface, kind="stable")
    return checked_mesh(vertices[order], prisms_cut(np.argsort(order)[prisms]), "cylinder")


def _disc(radius: float, rings: int) -> tuple[FloatArray, IntArray]:
    """Points (n, 2) and triangles (6 rings^2, 3) of a disc, from the middle outwards."""
    points, triangles = [np.zeros((1, 2))], []
    for k in range(1, rings + 1):
        angle = 2.0 * math.pi * (np.arange(6 * k) + 0.5 * (k % 2)) / (6 * k)
        points.append(radius * k / rings * np.column_stack([np.cos(angle), np.sin(angle)]))
    first = np.cumsum([0] + [len(p) for p in points])
    for k in range(1, rings + 1):
        triangles.append(_between(points[k - 1], points[k], first[k - 1], first[k]))
    return np.concatenate(points), np.concatenate(triangles)


def _between(inner: FloatArray, outer: FloatArray, first_inner: int, first_outer: int) -> IntArray:
    """The triangles between two rings of points, by walking along both: the shorter next edge is taken."""
    i = j = 0
    n, m = len(inner), len(outer)
    rows = []
    while i < (n if n > 1 else 0) or j < m:
        a, b, b_next = inner[i % n], outer[j % m], outer[(j + 1) % m]
        a_next = inner[(i + 1) % n]
        along_outer = n == 1 or i == n or (j < m and np.sum((a - b_next) ** 2) <= np.sum((a_next - b) ** 2))
        if along_outer:
            rows.append([first_inner + i % n, first_outer + j % m, first_outer + (j + 1) % m])
            j += 1
        else:
            rows.append([first_inner + i % n, first_outer + j % m, first_inner + (i + 1) % n])
            i += 1
    return np.array(rows)


def ellipsoid_volume(semi_axes: Sequence[float] | FloatArray, hint: float) -> VolumeMesh:
    """Semi-axes (3,) [m], equal for a ball; edges about as long as a hint [m]."""
    return _stuffed(_Ellipsoid(np.asarray(semi_axes, dtype=float)), hint, "ellipsoid")


def capsule_volume(radius: float, length: float, hint: float) -> VolumeMesh:
    """About z; edges about as long as a hint [m]."""
    return _stuffed(_Capsule(radius, length), hint, "capsule")


def _stuffed(solid: _Ellipsoid | _Capsule, hint: float, label: str) -> VolumeMesh:
    half = solid.half
    width = min(hint_within_reach(float(hint), float(half.max())), float(half.min()))  # two cubes across at least
    check_count(12.0 * float(np.prod(2.0 * half / width + 2.0)), label, hint)
    return checked_mesh(*stuffed_lattice(solid, -half, half, width), label)


class _Capsule:
    """As stuffed_lattice() asks for it."""

    def __init__(self, radius: float, length: float) -> None:
        self.radius, self.length = radius, length
        self.half = np.array([radius, radius, radius + length / 2.0])

    def _from_axis(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Vectors from the nearest point of the segment between the half balls, and their lengths."""
        away = points.copy()
        away[:, 2] -= np.clip(points[:, 2], -self.length / 2.0, self.length / 2.0)
        return away, np.linalg.norm(away, axis=1)

    def is_inside(self, points: FloatArray) -> BoolArray:
        return self._from_axis(points)[1] < self.radius

    def distance(self, points: FloatArray) -> FloatArray:
        return np.abs(self._from_axis(points)[1] - self.radius)

    def on_surface(self, points: FloatArray) -> FloatArray:
        away, length = self._from_axis(points)
        return points + away * (self.radius / length - 1.0)[:, None]


class _Ellipsoid:
    """As stuffed_lattice() asks for it."""

    def __init__(self, semi_axes: FloatArray) -> None:
        self.half = semi_axes

    def is_inside(self, points: FloatArray) -> BoolArray:
        return np.linalg.norm(points / self.half, axis=1) < 1.0

    def distance(self, points: FloatArray) -> FloatArray:
        return np.linalg.norm(points - self.on_surface(points), axis=1)

    def on_surface(self, points: FloatArray) -> FloatArray:
        """Along the gradient of |x / a|^2, a step of Newton's method at a time: near the nearest points."""
        result = points.copy()
        result[~result.any(axis=1), self.half.argmin()] = 1e-3 * self.half.min()  # the middle has no gradient
        for _ in range(NEWTON_STEPS):
            slope = result / self.half**2
            excess = (result * slope).sum(axis=1) - 1.0
            if np.abs(excess).max(initial=0.0) < 1e-15:
                break
            result -= (excess / (2.0 * (slope**2).sum(axis=1)))[:, None] * slope
        return result / np.linalg.norm(result / self.half, axis=1)[:, None]
