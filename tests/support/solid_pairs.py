"""Two solids in random places, for tests of collision detection."""

import numpy as np

from mbcli.common.eigen_geometry import Quaternion
from mbcli.engine.collision.arrays import Collision, Solid, filter_words
from mbcli.engine.fields.collision_fields import BALL, BOX, CAPSULE, CONVEX, CYLINDER, ELLIPSOID, HALF_SPACE
from mbcli.engine.runtime.linking import load_kernels
from mbcli.math import RotationMatrix
from mbcli.meshes.hull import hull_of
from mbcli.meshes.triangles import convex_hull

AT_ORIGIN = np.array([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
NO_FILTERS = filter_words([[False]])


def hull_vertices():
    directions = np.random.default_rng(5).normal(size=(40, 3))
    return directions / np.linalg.norm(directions, axis=1)[:, None] * [0.1, 0.15, 0.2]


def solids():
    """{name: Solid} of every kind, some 0.2 m across."""
    vertices = hull_vertices()
    hull = hull_of(vertices, convex_hull(vertices, "test"))
    return {
        "ball": Solid(BALL, 0, AT_ORIGIN, rounding=0.12),
        "capsule": Solid(CAPSULE, 0, AT_ORIGIN, (0.0, 0.0, 0.15), rounding=0.08),
        "box": Solid(BOX, 0, AT_ORIGIN, (0.1, 0.15, 0.2)),
        "cylinder": Solid(CYLINDER, 0, AT_ORIGIN, (0.1, 0.1, 0.2)),
        "ellipsoid": Solid(ELLIPSOID, 0, AT_ORIGIN, (0.1, 0.15, 0.2)),
        "convex": Solid(CONVEX, 0, AT_ORIGIN, hull=hull),
        "plane": Solid(HALF_SPACE, 0, AT_ORIGIN),
    }


class Pair:
    """Two solids, each on a body of its own, whose poses are set by hand."""

    def __init__(self, first, second, compiled=False, **options):
        both = [first.with_body(1), second.with_body(2)]
        self.c = Collision(both, NO_FILTERS, **options)
        self.compiled = compiled
        self.kernels = load_kernels(compiled)

    def place(self, n, R, p):
        """X_WG of one of them."""
        c = self.c
        c.X_WG[n] = np.concatenate([np.ravel(R), p])
        c.p_WC[n] = np.asarray(R) @ c.center[n] + p

    def place_randomly(self, rng, spread=0.25):
        for n in range(2):
            self.place(n, random_rotation(rng), rng.uniform(-1.0, 1.0, 3) * (spread if n else 0.0))

    def distance(self, first=0, second=1, limit=np.inf):
        return float(self.kernels.pair_distance(self.c.handle(self.compiled), first, second, limit))

    @property
    def normal(self):
        return self.c.nearest[:3].copy()

    @property
    def points(self):
        """Nearest points of A and B."""
        return self.c.nearest[3:6].copy(), self.c.nearest[6:9].copy()

    def outermost(self, n, direction):
        """The outermost point of a solid, its rounding included."""
        p = np.array(load_kernels(False).support(self.c, n, tuple(direction)))
        return p + self.c.rounding[n] * np.asarray(direction)

    def gap(self, normal):
        """Room between the planes across the normal that touch A from below and B from above."""
        return normal @ (self.outermost(0, -normal) - self.outermost(1, normal))


def random_rotation(rng):
    q = rng.normal(size=4)
    return RotationMatrix(Quaternion(q / np.linalg.norm(q))).matrix()
