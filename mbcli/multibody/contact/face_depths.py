"""How deep faces of contact surfaces are: the pressure over its slope along the normal, where that says anything.

On the rim of a surface the pressure is that of the sides of a solid, which hardly grows along the normal: the quotient
there would be one of rounding errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

LEAST_COSINE = 0.6  # between normal and gradient: what rises less along the normal has come from a side


def slopes_along_normals(normal: FloatArray, field_gradients: FloatArray) -> FloatArray:
    """(n,) [Pa/m] at which the pressure of faces grows as their solids move into each other.

    normal (n, 3): out of B into A; field_gradients (n, 6): of the pressures of A and B, 0 of a rigid one.
    """
    compliance = np.zeros(len(normal))
    if not field_gradients.any():  # points alone
        return compliance
    for gradient, sign in ((field_gradients[:, :3], 1.0), (field_gradients[:, 3:], -1.0)):
        size = np.linalg.norm(gradient, axis=1)
        along = np.maximum(sign * np.einsum("ni,ni->n", normal, gradient), LEAST_COSINE * size)
        compliance += np.divide(1.0, along, out=np.zeros(len(normal)), where=size > 0.0)
    return np.divide(1.0, compliance, out=np.zeros(len(normal)), where=compliance > 0.0)
