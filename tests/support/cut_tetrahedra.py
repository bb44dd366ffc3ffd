"""Forces of pressure fields on planes, by cutting each tetrahedron: independent of the engine."""

import numpy as np


def force_on_plane(solid, R=None, height=0.0):
    """Force [N], area [m^2] and first moment of force (2,) [N m] for modulus 1 where a solid, turned by R and moved up,
    meets the plane z = 0."""
    vertices = solid.vertices @ (np.eye(3) if R is None else np.asarray(R)).T + [0.0, 0.0, height]
    below = vertices[solid.tetrahedra, 2] < 0.0
    force, area, moment = 0.0, 0.0, np.zeros(2)
    for count in (1, 2, 3):
        cells = solid.tetrahedra[below.sum(axis=1) == count]
        points, pressures = sections(vertices[cells], solid.extent[cells], count)
        for k in range(1, points.shape[1] - 1):
            corners, p = points[:, [0, k, k + 1], :2], pressures[:, [0, k, k + 1]]
            u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
            size = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / 2.0
            area += size.sum()
            force += size @ p.mean(axis=1)
            moment += size @ np.einsum("tcx,tc->tx", corners, p + p.sum(axis=1, keepdims=True)) / 12.0
    return force, area, moment


def sections(corners, values, count):
    """Corners (n, 3 or 4, 3), in order, and their values where z = 0 cuts tetrahedra with `count` corners below it."""
    order = np.argsort(corners[:, :, 2] >= 0.0, axis=1, kind="stable")  # those below first
    corners = np.take_along_axis(corners, order[:, :, None], axis=1)
    values = np.take_along_axis(values, order, axis=1)
    pairs = {1: [(0, 1), (0, 2), (0, 3)], 2: [(0, 2), (0, 3), (1, 3), (1, 2)], 3: [(0, 3), (1, 3), (2, 3)]}[count]
    points, numbers = [], []
    for i, j in pairs:
        t = corners[:, i, 2] / (corners[:, i, 2] - corners[:, j, 2])
        points.append(corners[:, i] + t[:, None] * (corners[:, j] - corners[:, i]))
        numbers.append(values[:, i] + t * (values[:, j] - values[:, i]))
    return np.stack(points, 1), np.stack(numbers, 1)
