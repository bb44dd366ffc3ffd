"""Closed surfaces that are not convex, for tests: vertices (n, 3) and triangles (m, 3), outwards."""

import numpy as np

from mbcli.meshes.round_surfaces import sphere_surface


def torus(around=40, across=20, radius=1.0, thickness=0.4):
    u, v = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.arange(across) * 2 * np.pi / across, indexing="ij")
    r = radius + thickness * np.cos(v)
    vertices = np.stack([r * np.cos(u), r * np.sin(u), thickness * np.sin(v)], -1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    a, b = i * across + j, (i + 1) % around * across + j
    c, d = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
    triangles = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    return vertices, triangles


def bumpy_ball(level=4, height=0.3, waves=4):
    vertices, triangles = sphere_surface(level)
    x, y, z = vertices.T
    return vertices * (1.0 + height * np.sin(waves * x) * np.sin(waves * y + 1.0) * np.cos(waves * z))[
        :, None
    ], triangles


def prism(outline, height, layers=1):
    """Of a star-shaped outline (n, 2) about the origin, counterclockwise; sides cut in layers."""
    n = len(outline)
    rows = [np.column_stack([outline, np.full(n, z)]) for z in np.linspace(0.0, height, layers + 1)]
    vertices = np.concatenate([*rows, [[0.0, 0.0, 0.0], [0.0, 0.0, height]]])
    here, after = np.arange(n), (np.arange(n) + 1) % n
    triangles = []
    for k in range(layers):
        low, high = k * n, (k + 1) * n
        triangles += [np.column_stack([low + here, low + after, high + after])]
        triangles += [np.column_stack([low + here, high + after, high + here])]
    top, middle = layers * n, (layers + 1) * n
    triangles += [np.column_stack([np.full(n, middle), after, here])]
    triangles += [np.column_stack([np.full(n, middle + 1), top + here, top + after])]
    return vertices, np.concatenate(triangles)


def gear(teeth=12, layers=1, points=8):
    angle = np.arange(teeth * points) * 2.0 * np.pi / (teeth * points)
    radius = np.where(np.arange(teeth * points) % points < points // 2, 1.0, 0.75)
    return prism(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), 0.3, layers)


def grid_box(n=6, size=(1.0, 1.0, 1.0), notch=True):
    """Cubes of a grid, a quarter of them taken away: an L of many points on common spheres."""
    full = np.ones((n, n, n), dtype=bool)
    if notch:
        full[n // 2 :, n // 2 :, :] = False
    padded = np.pad(full, 1)
    index, vertices, triangles = {}, [], []

    def vertex(p):
        if p not in index:
            index[p] = len(vertices)
            vertices.append(p)
        return index[p]

    for cell in np.argwhere(full):
        for axis in range(3):
            u, v = np.eye(3, dtype=int)[(axis + 1) % 3], np.eye(3, dtype=int)[(axis + 2) % 3]
            for side in (0, 1):
                step = np.eye(3, dtype=int)[axis] * (1 if side else -1)
                if padded[tuple(cell + 1 + step)]:
                    continue
                base = cell + (np.eye(3, dtype=int)[axis] if side else 0)
                ring = [vertex(tuple(int(x) for x in base + q)) for q in (0 * u, u, u + v, v)]
                ring = ring if side else ring[::-1]
                triangles += [[ring[0], ring[1], ring[2]], [ring[0], ring[2], ring[3]]]
    return np.array(vertices, dtype=float) / n * size, np.array(triangles)
