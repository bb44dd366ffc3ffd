"""Meshes of elastic bodies for tests: boxes of cells with six tetrahedra each."""

from itertools import permutations

import numpy as np

from mbcli.engine import load_kernels
from mbcli.multibody.contact.elastic_body import ElasticBody, law_of_material


def box_mesh(cells, size):
    """(points (n, 3), tetrahedra (m, 4)) of a box about the origin (Kuhn's division of each cell)."""
    nx, ny, nz = cells
    axes = [np.linspace(-s / 2, s / 2, k + 1) for s, k in zip(size, cells, strict=True)]
    points = np.array([(x, y, z) for z in axes[2] for y in axes[1] for x in axes[0]])
    tets = []
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                for path in permutations(range(3)):
                    corner = [i, j, k]
                    tet = [corner[0] + (nx + 1) * (corner[1] + (ny + 1) * corner[2])]
                    for axis in path:
                        corner[axis] += 1
                        tet.append(corner[0] + (nx + 1) * (corner[1] + (ny + 1) * corner[2]))
                    tets.append(tet)
    return points, np.array(tets)


def elastic_box(cells, size, material, density=1000.0, held=None, threads=None):
    """ElasticBody of a box; material: arguments of law_of_material(); held: (points) -> which vertices stay."""
    points, tets = box_mesh(cells, size)
    fixed = None if held is None else held(points)
    return ElasticBody(load_kernels(True), points, tets, density, law_of_material(*material), fixed, threads)
