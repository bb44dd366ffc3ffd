"""Points inside of a closed surface for the corners of tetrahedra: dense near small triangles, sparse far from them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from mbcli.meshes.hull_surface import volume_and_centroid
from mbcli.meshes.surface_distance import nearest_triangles
from mbcli.meshes.winding import winding_numbers

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray

MOST_CELLS = 30_000
SHAKE = 0.15  # of a cell's width
ROOM = 0.6  # of a cell's width: least distance of its middle from the surface


def inner_points(vertices: FloatArray, triangles: IntArray, most: int) -> FloatArray:
    """(n, 3) the middles of cubes that are as wide as the surface is far away, each cut in eight until it is so.

    Cubes near the surface are not cut further than to the length of the edges there, or to twice the
    thickness of the solid where that is less, which for a plate is twice the volume over the area.
    """
    corners = vertices[triangles]
    crosses = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(crosses, axis=1) / 2.0
    volume, _ = volume_and_centroid(vertices, triangles)
    thickness = 4.0 * abs(volume) / float(areas.sum())
    lengths = np.minimum(2.0 * np.sqrt(areas), thickness)  # wanted at each triangle
    low, size = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max())
    middles, width, kept = (low + size / 2.0)[None], size, []
    rng = np.random.default_rng(0)
    children = np.array(list(itertools.product((-0.25, 0.25), repeat=3)))
    while len(middles):
        distance, nearest = nearest_triangles(middles, vertices, triangles)
        reaches = distance < 0.9 * width
        cut = reaches & (width > 1.4 * np.maximum(lengths[nearest], size / 200.0))
        stays = ~cut & (distance >= ROOM * width)
        # points off the grid are on no common sphere, which would make flat tetrahedra
        kept.append(middles[stays] + rng.uniform(-SHAKE, SHAKE, (int(stays.sum()), 3)) * width)
        middles = (middles[cut][:, None] + width * children).reshape(-1, 3)
        if len(middles) > MOST_CELLS:
            break
        width /= 2.0
    points = np.concatenate(kept)
    points = points[winding_numbers(points, vertices, triangles) > 0]
    if len(points) > most:
        points = points[rng.permutation(len(points))[:most]]
    return points
