"""Whether points are inside of a shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, Matrix

ROUNDING = 1e-13  # of the largest coordinate: points that are nearer to the surface are on it


def inside_shape(shape: Shape, points: Matrix) -> BoolArray:
    """Whether points (n, 3) [m] in the frame of a shape are in it or on its surface, (n,).

    Raises ModelError for a shape other than Box, Capsule, Cylinder, Ellipsoid, HalfSpace and Sphere.
    """
    near = ROUNDING * np.abs(points).max(initial=0.0)
    x, y, z = points.T
    if isinstance(shape, Box):
        return (np.abs(points) <= shape.size() / 2.0 + near).all(axis=1)
    if isinstance(shape, Sphere):
        return np.linalg.norm(points, axis=1) <= shape.radius() + near
    if isinstance(shape, Cylinder):
        return (np.hypot(x, y) <= shape.radius() + near) & (np.abs(z) <= shape.length() / 2.0 + near)
    if isinstance(shape, Capsule):
        beyond = np.maximum(np.abs(z) - shape.length() / 2.0, 0.0)
        return np.sqrt(x * x + y * y + beyond * beyond) <= shape.radius() + near
    if isinstance(shape, Ellipsoid):
        axes = np.array([shape.a(), shape.b(), shape.c()])
        return np.linalg.norm(points / axes, axis=1) <= 1.0 + near / axes.min()
    if isinstance(shape, HalfSpace):
        return z <= near
    raise ModelError(f"{shape!r}: whether a point is inside is known of primitive shapes only")
