"""Forces of users' fields on elastic bodies."""

import numpy as np

from mbcli.multibody.fem.force_density import ForceDensityType


def field_forces(fields, context, q, tets, volumes):
    """(n, 3) [N] on vertices at q (n, 3) [m]: fields at the middle of each tetrahedron, a quarter to each vertex.

    tets (m, 4); volumes (m,) [m^3] of reference.
    """
    corners = q[tets]
    middles = corners.mean(axis=1)
    current = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6.0
    forces = np.zeros_like(q)
    for field in fields:
        per_reference = field.density_type() == ForceDensityType.kPerReferenceVolume
        each = field.densities_at(context, middles) * (volumes if per_reference else current)[:, None]
        for k in range(4):
            np.add.at(forces, tets[:, k], 0.25 * each)
    return forces
