"""Solids with a pressure field: tetrahedra with a number at each vertex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray

MOST_TETRAHEDRA = 1_000_000


@dataclass(frozen=True)
class SoftSolid:
    """Tetrahedra of a solid and its extent, linear in each of them; the pressure is the modulus times the extent.

    Attributes:
        vertices: (n, 3) [m]
        tetrahedra: (m, 4) indices of vertices v0, v1, v2, v3 with ((v1 - v0) x (v2 - v0)) . (v3 - v0) > 0.
        extent: (n,) 0 on the surface, 1 where the solid is thickest.
        finding: a sentence on what the tetrahedra do not have of the shape; '' where they are right.
    """

    vertices: FloatArray
    tetrahedra: IntArray
    extent: FloatArray
    finding: str = ""


def check_count(count: float, label: str, hint: float, elements: str = "tetrahedra") -> None:
    """ModelError for more elements than a solid may have."""
    if not count <= MOST_TETRAHEDRA:
        raise ModelError(
            f"{label}: the resolution hint {hint:g} m makes {count:.7g} {elements}, the most are {MOST_TETRAHEDRA}: "
            "use a larger one"
        )


def prisms_cut(prisms: IntArray) -> IntArray:
    """Tetrahedra (k, 4) of prisms (m, 6) between a triangle a, b, c and one above it d, e, f.

    The triangle is counterclockwise seen from the other one. Corners may fall together, as in wedges and pyramids:
    tetrahedra without volume are left out. The diagonal of a side starts at the corner with the smallest index, so that
    prisms side by side have the same one (Dompierre et al. 1999, How to subdivide pyramids, prisms and hexahedra into
    tetrahedra).
    """
    prisms = _smallest_first(prisms)
    a, b, c, d, e, f = prisms.T
    bf = np.minimum(b, f) < np.minimum(c, e)  # the diagonal of the side across from corner a
    first = np.where(bf[:, None], np.column_stack([a, b, c, f]), np.column_stack([a, b, c, e]))
    second = np.where(bf[:, None], np.column_stack([a, b, f, e]), np.column_stack([a, e, c, f]))
    third = np.column_stack([a, e, f, d])
    tetrahedra = np.stack([first, second, third], 1).reshape(-1, 4)
    ordered = np.sort(tetrahedra, axis=1)
    return tetrahedra[(np.diff(ordered, axis=1) != 0).all(axis=1)]


def _smallest_first(prisms: IntArray) -> IntArray:
    """Prisms turned, or stood on their head, so that corner a has the smallest index of all."""
    turns = np.array([[0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3], [2, 0, 1, 5, 3, 4],
                      [3, 5, 4, 0, 2, 1], [4, 3, 5, 1, 0, 2], [5, 4, 3, 2, 1, 0]])  # fmt: skip
    return np.take_along_axis(prisms, turns[prisms.argmin(axis=1)], axis=1)
