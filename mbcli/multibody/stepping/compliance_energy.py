"""The elastic energy of compliant contact, which a contact stores while it is pressed and gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.meshes.surfaces import triangles_of_faces

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray


def compliance_energies(record: Any) -> FloatArray:
    """Of each contact of a ContactRecord (n,) [J].

    k x^2 / 2 of a point with the stiffness k that is x deep. Of a face the integral of p^2 / (2 g) over its area, with
    the pressure p and its slope g along the normal: the column under dA is a spring of the stiffness g dA that is p / g
    deep. That is the work of the pressure as far as the slope is even along the columns (docs/reference/hydroelastic.md
    has figures).
    """
    depth = np.maximum(-record.distance, 0.0)
    energy = 0.5 * record.stiffness * depth * depth
    is_face = record.gradient > 0.0
    if is_face.any():
        energy[is_face] = 0.5 * _squares(record)[is_face] / record.gradient[is_face]
    return energy


def _squares(record):
    """The integral of the squared pressure over each face (n,) [Pa^2 m^2]."""
    start = record.corner_start
    index, face = triangles_of_faces(start)
    corners, p = record.corners[index][..., :3], record.corners[index][..., 3]
    twice = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    # of a linear function over a triangle of area A: A / 6 times the products of its values at the corners
    products = (p * p).sum(axis=1) + p[:, 0] * p[:, 1] + p[:, 1] * p[:, 2] + p[:, 2] * p[:, 0]
    return np.bincount(face, twice / 12.0 * products, minlength=len(start) - 1)
