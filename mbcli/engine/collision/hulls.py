"""Convex hulls of points as the arrays that the search climbs on: vertices, edges, faces."""

from dataclasses import dataclass

import numpy as np

from mbcli.engine.fields.collision_fields import MOST_CORNERS

COPLANAR = 1e-6  # greatest sine between normals of triangles of one face


@dataclass(frozen=True)
class Hull:
    """Vertices (n, 3) [m]; `edges[i]`: vertices beside vertex i; faces: (outward normal, corners counterclockwise)."""

    vertices: np.ndarray
    edges: list
    faces: list


def hull_of(vertices, triangles):
    """The Hull of a closed convex surface: vertices (n, 3), triangles (m, 3) that face outwards.

    Triangles in one plane become one face. Vertices in the middle of a face or an edge go.
    """
    normals, faces = _merge(vertices, triangles)
    used = np.unique(np.concatenate([triangles.ravel()]))
    place = np.full(len(vertices), -1)
    place[used] = np.arange(len(used))
    edges = [set() for _ in used]
    for i, j, k in place[triangles].tolist():
        edges[i] |= {j, k}
        edges[j] |= {i, k}
        edges[k] |= {i, j}
    faces = [(normal, place[corners]) for normal, corners in zip(normals, faces, strict=True)]
    return Hull(np.array(vertices[used]), [sorted(beside) for beside in edges], faces)


def _merge(vertices, triangles):
    """Normals and corners of the faces that triangles in one plane make."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    area = np.linalg.norm(cross, axis=1)
    normals = cross / np.maximum(area, 1e-300)[:, None]
    order = np.argsort(-area, kind="stable")  # small triangles have the normals of larger ones
    slack = COPLANAR * np.ptp(vertices, axis=0).max()
    left = np.ones(len(triangles), dtype=bool)
    merged, faces = [], []
    for t in order:
        if not left[t]:
            continue
        n = normals[t]
        heights = np.abs((vertices[triangles] - a[t]) @ n).max(axis=1)
        together = left & (heights <= slack) & (normals @ n > 0.0)
        together[t] = True
        left &= ~together
        merged.append(n)
        faces.append(_around(vertices, np.unique(triangles[together]), n))
    return merged, faces


def _around(vertices, corners, normal):
    """Corners of a convex face counterclockwise about its normal; of many, some that are spread evenly."""
    points = vertices[corners] - vertices[corners].mean(axis=0)
    x = points[np.argmax((points**2).sum(axis=1))]
    y = np.cross(normal, x)
    corners = corners[np.argsort(np.arctan2(points @ y, points @ x))]
    most = MOST_CORNERS // 2
    if len(corners) > most:
        corners = corners[np.linspace(0, len(corners), most, endpoint=False).astype(int)]
    return corners
