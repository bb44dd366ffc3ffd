"""Pressure fields of boxes, balls, ellipsoids, cylinders and capsules: tetrahedra between surface and medial axis.

The extent of a point is its distance from the surface over the largest such distance. Inner corners of the tetrahedra
lie on the medial axis, the points with more than one nearest point of the surface: the distance is then linear in each
tetrahedron of a box, and of the prism that stands for a cylinder, and the field is exact for these.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from mbcli.meshes.hull_surface import hull_surface, volume_and_centroid
from mbcli.meshes.round_surfaces import (
    capsule_surface,
    circle,
    circle_count,
    cylinder_surface,
    meridian_count,
    sphere_level,
    sphere_surface,
)
from mbcli.meshes.soft_solid import SoftSolid, check_count, prisms_cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray, IntArray

SAME = 1e-8  # of the smallest half length: an edge of the medial axis so short is a point


def soft_ellipsoid(semi_axes: Sequence[float] | FloatArray, hint: float) -> SoftSolid:
    """Semi-axes (3,) [m] along x, y, z, equal ones for a ball. Extent 1 in the middle, linear along each radius."""
    a = np.asarray(semi_axes, dtype=float)
    level = sphere_level(float(a.max()), hint)
    check_count(8.0 * 4.0**level, "ellipsoid" if np.ptp(a) else "sphere", hint)
    vertices, triangles = sphere_surface(level)
    return cone_to_point(vertices * a, triangles, np.zeros(3))


def cone_to_point(vertices: FloatArray, triangles: IntArray, middle: FloatArray) -> SoftSolid:
    """The tetrahedra between each triangle of a surface and a point inside, which all of it is seen from: extent 1."""
    n = len(vertices)
    tetrahedra = np.column_stack([triangles, np.full(len(triangles), n)])[:, [0, 2, 1, 3]]
    return SoftSolid(np.vstack([vertices, middle]), tetrahedra, np.append(np.zeros(n), 1.0))


def soft_hull(points: FloatArray, name: str) -> SoftSolid:
    """Of the convex hull of points (n, 3): extent 1 at its centroid. ModelError, with the name, for a flat one."""
    vertices, triangles = hull_surface(points, name)
    _, centroid = volume_and_centroid(vertices, triangles)
    return cone_to_point(vertices, triangles, centroid)


def soft_box(size: Sequence[float] | FloatArray) -> SoftSolid:
    """Full lengths (3,) [m] along x, y, z.

    The medial axis is a rectangle as far from its nearest faces as half of the shortest length, or the segment or point
    that it is if lengths are equal. Each face is four triangles about its middle, as symmetric as the box.
    """
    half = np.asarray(size, dtype=float) / 2.0
    inner = half - half.min()
    inner[inner <= SAME * half.min()] = 0.0
    corners = np.array(list(itertools.product((1.0, -1.0), (-1.0, 1.0), (-1.0, 1.0))))
    axis_points, axis_of = np.unique(corners * inner + 0.0, axis=0, return_inverse=True)
    middles = np.concatenate([-np.diag(half), np.diag(half)])
    vertices = np.concatenate([corners * half, middles, axis_points])
    axis_of = len(corners) + len(middles) + axis_of.ravel()
    prisms, pyramids = [], []
    for middle, (side, axis) in enumerate(itertools.product((-1.0, 1.0), range(3)), len(corners)):
        ring = _face_corners(corners, axis, side)
        c, behind = np.full(4, middle), axis_of[ring]
        # behind each triangle of the face an edge or a corner of the medial axis, behind these the face's middle
        prisms.append(np.column_stack([c, ring, np.roll(ring, -1), c, behind, np.roll(behind, -1)]))
        m = np.roll(behind, -behind.argmin())  # both faces at the rectangle cut it along the same diagonal
        if len(set(m)) == 4:
            pyramids += [[middle, m[0], m[1], m[2]], [middle, m[0], m[2], m[3]]]
    tetrahedra = np.concatenate([prisms_cut(np.concatenate(prisms)), np.array(pyramids, dtype=np.int64).reshape(-1, 4)])
    extent = np.append(np.zeros(len(corners) + len(middles)), np.ones(len(axis_points)))
    return SoftSolid(vertices, tetrahedra, extent)


def _face_corners(corners: FloatArray, axis: int, side: float) -> IntArray:
    """(4,) of corners (8, 3) those on a face of a box, counterclockwise seen from inside."""
    on = np.flatnonzero(corners[:, axis] == side)
    u, v = (corners[on][:, (axis + k) % 3] for k in (1, 2))
    return on[np.argsort(-side * np.arctan2(v, u))]


def soft_cylinder(radius: float, length: float, hint: float) -> SoftSolid:
    """About z. The medial axis is a segment of it, or a disc across it where the cylinder is shorter than wide."""
    count = circle_count(radius, hint)
    check_count(9.0 * count, "cylinder", hint)
    surface, _ = cylinder_surface(radius, length, count)
    lower, upper = np.arange(count), count + np.arange(count)
    lower_after, upper_after = np.roll(lower, -1), np.roll(upper, -1)
    lower_middle, upper_middle = np.full(count, 2 * count), np.full(count, 2 * count + 1)
    beyond = length / 2.0 - radius
    if beyond < -SAME * length:  # wide: a disc
        inside = np.vstack([circle(-beyond, count, 0.0), [0.0, 0.0, 0.0]])
        rim, middle = 2 * count + 2 + np.arange(count), np.full(count, 3 * count + 2)
        rim_after = np.roll(rim, -1)
        prisms = [
            np.column_stack([lower_middle, lower, lower_after, middle, rim, rim_after]),
            np.column_stack([middle, rim, rim_after, upper_middle, upper, upper_after]),
            np.column_stack([lower, rim, upper, lower_after, rim_after, upper_after]),
        ]
    else:
        ends = [[0.0, 0.0, -beyond], [0.0, 0.0, beyond]] if beyond > SAME * length else [[0.0, 0.0, 0.0]]
        inside = np.array(ends)
        m_lower, m_upper = np.full(count, 2 * count + 2), np.full(count, 2 * count + 1 + len(ends))
        prisms = [
            np.column_stack([lower_middle, lower, lower_after, m_lower, m_lower, m_lower]),
            np.column_stack([m_upper, m_upper, m_upper, upper_middle, upper, upper_after]),
            np.column_stack([lower, m_lower, lower_after, upper, m_upper, upper_after])[:, [0, 2, 1, 3, 5, 4]],
        ]
    extent = np.append(np.zeros(len(surface)), np.ones(len(inside)))
    return SoftSolid(np.concatenate([surface, inside]), prisms_cut(np.concatenate(prisms)), extent)


def soft_capsule(radius: float, length: float, hint: float) -> SoftSolid:
    """About z. The medial axis is the segment between the middles of the half balls."""
    count = meridian_count(radius, hint)
    check_count(2.0 * count * (2 * (count // 2) + 1), "capsule", hint)
    surface, triangles = capsule_surface(radius, length, count)
    rings, n = count // 2, len(surface)
    m_lower, m_upper = np.full(count, n), np.full(count, n + 1)
    lower, upper = (np.arange(k * count, (k + 1) * count) for k in (rings - 1, rings))
    on_barrel = (np.abs(surface[triangles][:, :, 2]) <= length / 2.0 * (1.0 + 1e-12)).all(axis=1)
    caps = triangles[~on_barrel]
    below = surface[caps][:, :, 2].sum(axis=1) < 0.0
    caps = np.column_stack([np.where(below, n, n + 1), caps])
    barrel = np.column_stack([lower, np.roll(lower, -1), m_lower, upper, np.roll(upper, -1), m_upper])
    vertices = np.vstack([surface, [0.0, 0.0, -length / 2.0], [0.0, 0.0, length / 2.0]])
    extent = np.append(np.zeros(n), [1.0, 1.0])
    return SoftSolid(vertices, np.concatenate([caps, prisms_cut(barrel)]), extent)
