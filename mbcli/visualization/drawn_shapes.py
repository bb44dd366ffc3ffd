"""What pictures know of the shapes, lines and surfaces of a Meshcat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry import shapes
from mbcli.meshes.made_surfaces import cone_surface
from mbcli.pictures.model_scene import MeshStore, keyed, shape_as_drawn
from mbcli.pictures.scene import PictureMesh

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, IntArray

LINE_RADIUS = 1e-3  # [m] of a line of width 1: it is a thin tube

Drawn = tuple[str, tuple[float, ...], str | None, PictureMesh | None]  # kind, size, key and triangles of a mesh


def drawn_shape(shape: Any, store: MeshStore) -> Drawn:
    """A Shape as pictures have it. RuntimeError for a mesh that cannot be read."""
    if isinstance(shape, shapes.MeshcatCone):
        return drawn_mesh(*_cone(shape.height(), shape.a(), shape.b()))
    kind, size, key, mesh, note = shape_as_drawn(shape, store)
    if kind is None:
        raise RuntimeError(note)
    return kind, size, key, mesh


def drawn_mesh(vertices: ArrayLike, triangles: ArrayLike) -> Drawn:
    """Triangles (m, 3) of vertices (n, 3)."""
    return ("mesh", (), *keyed(np.array(vertices, dtype=float), np.array(triangles, dtype=np.int64)))


def drawn_segments(start: FloatArray, end: FloatArray, width: float) -> Drawn:
    """Lines from points (n, 3) to others (n, 3)."""
    keep = np.linalg.norm(end - start, axis=1) > 0.0
    start, end = start[keep], end[keep]
    along = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
    across = np.cross(along, np.eye(3)[np.abs(along).argmin(axis=1)])
    across /= np.linalg.norm(across, axis=1)[:, None]
    other, radius = np.cross(along, across), LINE_RADIUS * width
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    ring = radius * (np.cos(angles)[:, None, None] * across + np.sin(angles)[:, None, None] * other)  # (3, n, 3)
    vertices = np.concatenate([start + ring, end + ring]).transpose(1, 0, 2).reshape(-1, 3)
    sides = [[k, (k + 1) % 3, 3 + k] for k in range(3)] + [[(k + 1) % 3, 3 + (k + 1) % 3, 3 + k] for k in range(3)]
    corners = np.arange(len(start))[:, None, None] * 6 + np.array([*sides, [0, 2, 1], [3, 4, 5]])
    return drawn_mesh(vertices, corners.reshape(-1, 3))


def grid_triangles(rows: int, cols: int) -> IntArray:
    """The triangles of a grid of points, row after row."""
    k = np.arange(rows * cols).reshape(rows, cols)
    a, b, c, d = (part.reshape(-1) for part in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def _cone(height: float, a: float, b: float) -> tuple[FloatArray, IntArray]:
    """With the tip at the origin, and the base at z = height."""
    vertices, triangles = cone_surface(1.0, height)  # with the tip up, about the middle
    return vertices * [a, -b, -1.0] + [0.0, 0.0, 0.5 * height], triangles
