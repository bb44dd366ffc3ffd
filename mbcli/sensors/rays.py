"""Where rays meet shapes, many rays at once.

A shape is (word, numbers) in its own frame: ("box", half sizes), ("sphere", (r,)), ("ellipsoid", semi-axes),
("cylinder", (r, half length)), ("capsule", (r, half length of the cylinder)), ("half_space", ()), which is below z = 0,
or ("mesh", corners (m, 3, 3)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

PAIRS_AT_ONCE = 1_000_000  # of a ray and a triangle
PARALLEL = 1e-300  # a direction whose part across a plane is smaller never meets it


def distance_along(shape: tuple[str, Any], start: FloatArray, direction: FloatArray) -> FloatArray:
    """(n,): the least t, not negative, at which start + t direction is on the surface of a shape; inf if there is none.

    start, direction: (n, 3) in the frame of the shape. A half space is met from above alone.
    """
    word, numbers = shape
    return _LAWS[word](np.asarray(numbers, dtype=float), start, direction)


def _between(enter: FloatArray, leave: FloatArray) -> FloatArray:
    """The first t not negative of the ends of intervals, which are empty where enter > leave."""
    t = np.where(enter >= 0.0, enter, leave)
    return np.where((enter <= leave) & (t >= 0.0), t, np.inf)


def _slab(half: Any, x: FloatArray, dx: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The interval of t in which |x + t dx| <= half."""
    parallel = np.abs(dx) < PARALLEL
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        a, b = (-half - x) / dx, (half - x) / dx
    inside = np.abs(x) <= half
    enter = np.where(parallel, np.where(inside, -np.inf, np.inf), np.minimum(a, b))
    leave = np.where(parallel, np.where(inside, np.inf, -np.inf), np.maximum(a, b))
    return enter, leave


def _roots(a: FloatArray, b: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The interval of t in which a t^2 + 2 b t + c <= 0, for a >= 0."""
    square = b * b - a * c
    flat = a < PARALLEL
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(square, 0.0))
        enter, leave = (-b - root) / a, (-b + root) / a
    enter = np.where(flat, np.where(c <= 0.0, -np.inf, np.inf), np.where(square < 0.0, np.inf, enter))
    leave = np.where(flat, np.where(c <= 0.0, np.inf, -np.inf), np.where(square < 0.0, -np.inf, leave))
    return enter, leave


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.einsum("ni,ni->n", a, b)


def _box(half: FloatArray, start: FloatArray, direction: FloatArray) -> FloatArray:
    enter, leave = _slab(half, start, direction)
    return _between(enter.max(axis=1), leave.min(axis=1))


def _ellipsoid(radii: FloatArray, start: FloatArray, direction: FloatArray) -> FloatArray:
    p, d = start / radii, direction / radii
    return _between(*_roots(_dot(d, d), _dot(p, d), _dot(p, p) - 1.0))


def _sphere(radius: FloatArray, start: FloatArray, direction: FloatArray) -> FloatArray:
    return _ellipsoid(np.repeat(radius, 3), start, direction)


def _barrel(radius: Any, half: Any, start: FloatArray, direction: FloatArray) -> tuple[FloatArray, FloatArray]:
    p, d = start[:, :2], direction[:, :2]
    around = _roots(_dot(d, d), _dot(p, d), _dot(p, p) - radius * radius)
    along = _slab(half, start[:, 2], direction[:, 2])
    return np.maximum(around[0], along[0]), np.minimum(around[1], along[1])


def _cylinder(numbers: FloatArray, start: FloatArray, direction: FloatArray) -> FloatArray:
    radius, half = numbers
    return _between(*_barrel(radius, half, start, direction))


def _capsule(numbers: FloatArray, start: FloatArray, direction: FloatArray) -> FloatArray:
    radius, half = numbers
    parts = [_barrel(radius, half, start, direction)]
    for end in (half, -half):
        p = start - [0.0, 0.0, end]
        parts.append(_roots(_dot(direction, direction), _dot(p, direction), _dot(p, p) - radius * radius))
    enter = np.minimum.reduce([np.where(a <= b, a, np.inf) for a, b in parts])  # they are one piece
    leave = np.maximum.reduce([np.where(a <= b, b, -np.inf) for a, b in parts])
    return _between(enter, leave)


def _half_space(numbers: FloatArray, start: FloatArray, direction: FloatArray) -> FloatArray:
    z, dz = start[:, 2], direction[:, 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = -z / dz
    return np.where((dz < -PARALLEL) & (t >= 0.0), t, np.inf)


def _mesh(corners: FloatArray, start: FloatArray, direction: FloatArray) -> FloatArray:
    """Moeller and Trumbore 1997."""
    nearest = np.full(len(start), np.inf)
    rays = max(1, PAIRS_AT_ONCE // max(len(corners), 1))
    a = corners[:, 0]
    ab, ac = corners[:, 1] - a, corners[:, 2] - a
    for first in range(0, len(start), rays):
        o, d = start[first : first + rays, None], direction[first : first + rays, None]
        across = np.cross(d, ac)
        det = np.einsum("nmi,mi->nm", across, ab)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.einsum("nmi,nmi->nm", o - a, across) / det
            q = np.cross(o - a, ab)
            v = np.einsum("nmi,nmi->nm", np.broadcast_to(d, q.shape), q) / det
            t = np.einsum("nmi,mi->nm", q, ac) / det
            hit = (np.abs(det) > PARALLEL) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t >= 0.0)
        nearest[first : first + rays] = np.where(hit, t, np.inf).min(axis=1, initial=np.inf)
    return nearest


_LAWS = {
    "box": _box,
    "sphere": _sphere,
    "ellipsoid": _ellipsoid,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "half_space": _half_space,
    "mesh": _mesh,
}
