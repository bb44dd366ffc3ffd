"""How far points are from the surfaces of solids, independently of collision detection."""

import numpy as np
from scipy.optimize import brentq

from mbcli.engine.fields.collision_fields import BALL, BOX, CAPSULE, CONVEX, CYLINDER, HALF_SPACE


def from_surface(c, n, point):
    """Distance [m] of a point in World from the surface of solid n of a Collision, negative inside."""
    X = c.X_WG[n]
    p = X[:9].reshape(3, 3).T @ (np.asarray(point) - X[9:])
    kind, size = c.kind[n], c.size[n]
    if kind in (BALL, CAPSULE):
        return np.linalg.norm(p - [0.0, 0.0, np.clip(p[2], -size[2], size[2])]) - c.rounding[n]
    if kind == BOX:
        return from_corner(np.abs(p) - size)
    if kind == CYLINDER:
        return from_corner(np.array([np.hypot(p[0], p[1]) - size[0], abs(p[2]) - size[2]]))
    if kind == HALF_SPACE:
        return p[2]
    if kind == CONVEX:
        return from_hull(c, n, p)
    return from_ellipsoid(p, size)


def from_corner(beyond):
    """Of what is bounded by perpendicular planes, that far beyond each of them."""
    return np.linalg.norm(np.maximum(beyond, 0.0)) if (beyond > 0.0).any() else beyond.max()


def from_hull(c, n, p):
    """The largest distance from the planes of its faces: exact inside, a lower bound outside."""
    faces = range(c.face_start[n], c.face_start[n + 1])
    return max(c.face_normal[f] @ (p - c.vertices[c.corners[c.corner_start[f]]]) for f in faces)


def from_ellipsoid(p, semi_axes):
    """Of the nearest point of the surface, on whose normal p is: x_i = a_i^2 p_i / (a_i^2 + t) with one unknown t."""
    p, a2 = np.abs(p), np.square(semi_axes)

    def excess(t):
        return np.sum(a2 * (p / (a2 + t)) ** 2) - 1.0

    low, high = -a2.min() * (1.0 - 1e-12), np.linalg.norm(p) * np.sqrt(a2.max()) + a2.max()
    if excess(low) < 0.0:  # near the middle of the shortest axis
        return -np.sqrt(a2.min()) if not p.any() else p[np.argmin(a2)] - np.sqrt(a2.min())
    t = brentq(excess, low, high, xtol=1e-16, rtol=1e-14)
    return np.sign(t) * np.linalg.norm(t * p / (a2 + t))
