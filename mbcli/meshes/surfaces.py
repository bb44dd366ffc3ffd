"""Surfaces of triangles, as the readers of mesh files give them one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray


Color: TypeAlias = tuple[float, float, float, float]  # red, green, blue in sRGB, opacity


class Surface(NamedTuple):
    """A part of a mesh file: its name there, vertices (n, 3) in the frame of the file, triangles (m, 3) of them.

    color: of its material, None where that is an image or there is none.
    """

    name: str
    vertices: FloatArray
    triangles: IntArray
    color: Color | None = None


def placed(X: FloatArray, vertices: FloatArray) -> FloatArray:
    """Vertices (n, 3) moved by a transform (4, 4)."""
    return vertices @ X[:3, :3].T + X[:3, 3]


def triples(rows: list[IntArray]) -> IntArray:
    """Triangles (m, 3) whose corners follow each other; corners that are too few for one more are left out."""
    return _joined([row[: len(row) // 3 * 3].reshape(-1, 3) for row in rows])


def fans(rows: list[IntArray]) -> IntArray:
    """Triangles (m, 3) of polygons or fans, each about its first corner."""
    rows = [row for row in rows if len(row) > 2]
    return _joined([np.column_stack([np.full(len(row) - 2, row[0]), row[1:-1], row[2:]]) for row in rows])


def triangles_of_faces(offset: IntArray) -> tuple[IntArray, IntArray]:
    """Triangles (m, 3) of corners by their number, each face cut from its first corner; the face of each (m,).

    offset: first corner of each face and the end of the last.
    """
    cuts = np.maximum(np.diff(offset) - 2, 0)
    face = np.repeat(np.arange(len(cuts)), cuts)
    corner = offset[face]
    place = np.arange(len(face)) - (np.cumsum(cuts) - cuts)[face]
    return np.column_stack([corner, corner + place + 1, corner + place + 2]), face


def strips(rows: list[IntArray]) -> IntArray:
    """Triangles (m, 3) of strips: of three corners that follow each other, every other one turned round."""
    parts = []
    for row in rows:
        if len(row) > 2:
            triangles = np.column_stack([row[:-2], row[1:-1], row[2:]])
            triangles[1::2] = triangles[1::2][:, [1, 0, 2]]
            parts.append(triangles)
    return _joined(parts)


def _joined(parts: list[IntArray]) -> IntArray:
    return np.concatenate([np.zeros((0, 3), dtype=np.int64), *parts])
