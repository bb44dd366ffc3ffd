"""Forces of pressure fields on planes, by cutting each tetrahedron: slow, and independent of the engine."""

import numpy as np


def force_on_plane(solid, R=None, height=0.0):
    """Force [N], area [m^2] and first moment of force (2,) [N m] for modulus 1 where a solid, turned by R and moved up,
    meets the plane z = 0."""
    vertices = solid.vertices @ (np.eye(3) if R is None else np.asarray(R)).T + [0.0, 0.0, height]
    z = vertices[:, 2]
    force, area, moment = 0.0, 0.0, np.zeros(2)
    for cell in solid.tetrahedra[(z[solid.tetrahedra].min(axis=1) < 0.0) & (z[solid.tetrahedra].max(axis=1) > 0.0)]:
        points, pressures = section(vertices[cell], solid.extent[cell])
        for k in range(1, len(points) - 1):
            corners, p = points[[0, k, k + 1], :2], pressures[[0, k, k + 1]]
            u, v = corners[1] - corners[0], corners[2] - corners[0]
            size = abs(u[0] * v[1] - u[1] * v[0]) / 2.0
            area += size
            force += size * p.mean()
            moment += size * (corners.T @ (p + p.sum())) / 12.0  # of linear functions over a triangle, exact
    return force, area, moment


def section(corners, values):
    """Corners in order and their values where the plane z = 0 cuts a tetrahedron (4, 3) with values (4,)."""
    below = np.flatnonzero(corners[:, 2] < 0.0)
    above = np.flatnonzero(corners[:, 2] >= 0.0)
    pairs = [(i, j) for i in below for j in above]
    if len(pairs) == 4:
        pairs = [pairs[0], pairs[1], pairs[3], pairs[2]]
    points, numbers = [], []
    for i, j in pairs:
        t = corners[i, 2] / (corners[i, 2] - corners[j, 2])
        points.append(corners[i] + t * (corners[j] - corners[i]))
        numbers.append(values[i] + t * (values[j] - values[i]))
    return np.array(points), np.array(numbers)
