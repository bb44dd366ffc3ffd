"""Surfaces of shapes that files describe by numbers: cones, and prisms of outlines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, IntArray

CONE_SIDES = 64


def cone_surface(radius: float, length: float) -> tuple[FloatArray, IntArray]:
    """Vertices and triangles of a pyramid of CONE_SIDES sides in a cone along z, its tip up, about the middle of its
    length.
    """
    n = CONE_SIDES
    angle = 2.0 * np.pi * np.arange(n) / n
    rim = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(n, -length / 2.0)])
    here, following = np.arange(n), (np.arange(n) + 1) % n
    sides = np.column_stack([here, following, np.full(n, n)])
    base = np.column_stack([np.zeros(n - 2, dtype=np.int64), here[2:], here[1:-1]])
    return np.vstack([rim, [0.0, 0.0, length / 2.0]]), np.concatenate([sides, base])


def prism_surface(outlines: Iterable[ArrayLike], height: float) -> tuple[FloatArray, IntArray]:
    """Vertices and triangles of the prism from z = 0 to a height over outlines, each (n, 2) without its end.

    An outline within another one is the edge of a hole. The ends are fans, which cover a hollow outline more than once,
    in turns: integrals over what the surface holds are right, and its convex hull is that of the prism.
    """
    corners = [np.asarray(outline, dtype=float) for outline in outlines]
    vertices, triangles, first = [], [], 0
    for outline in corners:
        is_hole = sum(_holds(other, outline[0]) for other in corners if other is not outline) % 2 == 1
        points = outline if (_area(outline) > 0.0) != is_hole else outline[::-1]
        n = len(points)
        here, following = np.arange(n), (np.arange(n) + 1) % n
        fan = np.column_stack([np.zeros(n - 2, dtype=np.int64), here[1:-1], here[2:]])
        sides = [np.column_stack([here, following, following + n]), np.column_stack([here, following + n, here + n])]
        triangles += [first + part for part in (fan[:, ::-1], fan + n, *sides)]
        vertices += [np.column_stack([points, np.full(n, z)]) for z in (0.0, height)]
        first += 2 * n
    return np.concatenate(vertices), np.concatenate(triangles)


def _area(outline: FloatArray) -> float:
    """Positive if the outline turns counterclockwise."""
    x, y = outline.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2.0


def _holds(outline: FloatArray, point: Sequence[float] | FloatArray) -> bool:
    """Whether a point is inside: a ray from it crosses the outline an odd number of times."""
    (x0, y0), (x1, y1) = outline.T, np.roll(outline, -1, axis=0).T
    x, y = point
    across = (y0 > y) != (y1 > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = x0 + (y - y0) * (x1 - x0) / (y1 - y0)
    return bool((across & (x < at)).sum() % 2)
