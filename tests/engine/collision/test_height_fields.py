"""Distances of solids from height fields: as from the prisms below its triangles, and on a flat one as from a plane."""

import numpy as np
import pytest
from solid_pairs import AT_ORIGIN, NO_FILTERS, Pair, random_rotation, solids

from mbcli.engine.collision.arrays import Collision, Solid
from mbcli.engine.fields.collision_fields import (
    BALL,
    BOX,
    COLLISION_STATUS,
    COLLISION_TOO_MANY_CANDIDATES,
    CONVEX,
    GRID_FIRST,
    HEIGHT_FIELD,
)
from mbcli.engine.runtime.linking import load_kernels
from mbcli.meshes.hull import hull_of
from mbcli.meshes.triangles import convex_hull

X, Y, BASE = 0.5, 0.4, 0.3  # [m]
KINDS = [name for name in solids() if name != "plane"]


def field(heights, x=X, y=Y, base=BASE):
    return Solid(HEIGHT_FIELD, 0, AT_ORIGIN, (x, y, base), heights=np.asarray(heights, dtype=float))


def rough(seed=1, shape=(5, 6), top=0.15):
    return np.random.default_rng(seed).uniform(0.0, top, shape)


def prisms(heights):
    """A convex solid below each triangle: another source of the same surface."""
    rows, columns = heights.shape
    x, y = np.linspace(-X, X, columns), np.linspace(-Y, Y, rows)
    found = []
    for i in range(rows - 1):
        for j in range(columns - 1):
            for corners in (((i, j), (i, j + 1), (i + 1, j + 1)), ((i + 1, j + 1), (i + 1, j), (i, j))):
                top = np.array([[x[c], y[r], heights[r, c]] for r, c in corners])
                vertices = np.concatenate([top, top * [1.0, 1.0, 0.0] - [0.0, 0.0, BASE]])
                found.append(Solid(CONVEX, 2, AT_ORIGIN, hull=hull_of(vertices, convex_hull(vertices, "prism"))))
    return found


class Placed:
    """A solid, a height field and its prisms."""

    def __init__(self, solid, heights, compiled=False):
        self.c = Collision([solid.with_body(1), field(heights).with_body(2), *prisms(heights)], NO_FILTERS)
        for g in range(1, len(self.c.kind)):
            self.c.X_WG[g], self.c.p_WC[g] = AT_ORIGIN, self.c.center[g]
        self.kernels, self.compiled = load_kernels(compiled), compiled

    def place(self, R, p):
        self.c.X_WG[0], self.c.p_WC[0] = np.concatenate([R.ravel(), p]), R @ self.c.center[0] + p

    def distance(self, g):
        return self.kernels.pair_distance(self.c.handle(self.compiled), 0, g, np.inf)

    def distances(self):
        """From the height field, and from the nearest of its prisms."""
        return self.distance(1), min(self.distance(g) for g in range(2, len(self.c.kind)))


@pytest.mark.parametrize("name", KINDS)
def test_a_solid_is_as_far_from_a_height_field_as_from_the_nearest_of_its_prisms(name, compiled_here):
    rng, placed = np.random.default_rng(7), Placed(solids()[name], rough(), compiled=True)
    apart = 0
    for _ in range(150):
        placed.place(random_rotation(rng), np.append(rng.uniform(-0.9, 0.9, 2), rng.uniform(-0.6, 0.6)))
        ours, nearest = placed.distances()
        if nearest > 0.0:
            apart += 1
            assert ours == pytest.approx(nearest, abs=1e-9)
        else:
            assert ours < 0.0
    assert 75 < apart < 145


@pytest.mark.parametrize("name", KINDS)
def test_a_flat_height_field_is_a_plane(name, ready_kernels):
    """Also deep in it, over sides and corners of triangles: the distance, the normal and both points."""
    rng = np.random.default_rng(3)
    over_field, over_plane = Pair(solids()[name], field(np.zeros((9, 11)))), Pair(solids()[name], solids()["plane"])
    for pair in (over_field, over_plane):
        pair.place(1, np.eye(3), np.zeros(3))
    for k in range(12):
        R = random_rotation(rng) if k % 2 else np.eye(3)
        p = np.append(rng.uniform(-0.2, 0.2, 2) if k % 3 else (0.1, 0.1), rng.uniform(-0.05, 0.3))
        for pair in (over_field, over_plane):
            pair.place(0, R, p)
        assert over_field.distance(limit=1.0) == pytest.approx(over_plane.distance(limit=1.0), abs=1e-14)
        np.testing.assert_allclose(over_field.c.nearest[:3], over_plane.c.nearest[:3], atol=1e-14)
        if k % 2:
            np.testing.assert_allclose(over_field.c.nearest, over_plane.c.nearest, atol=1e-14)


def test_a_ball_in_a_corner_of_the_grid_feels_each_side_of_a_ridge_and_nothing_of_a_valley(ready_kernels):
    roof = np.tile([0.0, 0.0, 0.1, 0.0, 0.0], (5, 1))  # along y at x = 0
    pair = Pair(Solid(BALL, 0, AT_ORIGIN, rounding=0.05), field(roof))
    pair.place(1, np.eye(3), np.zeros(3))
    pair.place(0, np.eye(3), [0.0, 0.03, 0.16])
    assert pair.distance(limit=1.0) == pytest.approx(0.01)
    np.testing.assert_allclose(pair.normal, [0.0, 0.0, 1.0], atol=1e-12)
    pair.place(0, np.eye(3), [0.06, 0.03, 0.16])
    slope = np.array([0.1, 0.0, 0.25]) / np.hypot(0.1, 0.25)
    assert pair.distance(limit=1.0) == pytest.approx(np.array([0.06, 0.0, 0.06]) @ slope - 0.05)
    np.testing.assert_allclose(pair.normal, slope, atol=1e-12)


def test_what_stands_beside_or_below_a_height_field_meets_its_end_and_its_base(ready_kernels):
    pair = Pair(solids()["box"], field(np.zeros((5, 6))))
    pair.place(1, np.eye(3), np.zeros(3))
    for p, normal in (
        ([X + 0.099, 0.05, -0.1], [1.0, 0.0, 0.0]),
        ([-X - 0.099, 0.05, -0.1], [-1.0, 0.0, 0.0]),
        ([0.05, Y + 0.149, -0.1], [0.0, 1.0, 0.0]),
        ([0.05, -Y - 0.149, -0.1], [0.0, -1.0, 0.0]),
        ([0.05, 0.05, -BASE - 0.199], [0.0, 0.0, -1.0]),
        ([0.05, 0.05, 0.199], [0.0, 0.0, 1.0]),
    ):
        pair.place(0, np.eye(3), p)
        assert pair.distance(limit=1.0) == pytest.approx(-0.001, abs=1e-9)
        np.testing.assert_allclose(pair.normal, normal, atol=1e-9)


def test_a_point_in_a_height_field_has_the_distance_of_the_way_out(ready_kernels):
    pair = Pair(Solid(BALL, 0, AT_ORIGIN), field(np.tile([0.0, 0.1, 0.2, 0.3, 0.4], (5, 1))))
    pair.place(1, np.eye(3), np.zeros(3))
    pair.place(0, np.eye(3), [0.02, 0.01, 0.15])
    assert pair.distance(limit=1.0) == pytest.approx((0.15 - 0.2 - 0.4 * 0.02) / np.hypot(1.0, 0.4))


def test_candidates_without_room_are_a_status_and_the_nearest_stays(ready_kernels):
    solid, heights = Solid(BOX, 1, AT_ORIGIN, (0.4, 0.3, 0.05)), rough(shape=(6, 6), top=0.01)
    results = []
    for room in (8, 512):
        c = Collision([solid, field(heights).with_body(2)], NO_FILTERS, candidates=room)
        c.X_WG[:], c.p_WC[0], c.p_WC[1] = AT_ORIGIN, (0.0, 0.0, 0.05), c.center[1]
        c.X_WG[0, 11] = 0.05
        distance = load_kernels(False).pair_distance(c.handle(False), 0, 1, 0.0)
        results.append((int(c.counts[COLLISION_STATUS]), distance))
    assert [status for status, _ in results] == [COLLISION_TOO_MANY_CANDIDATES, 0]
    assert results[0][1] == results[1][1] < 0.0


def test_several_height_fields_have_their_own_heights():
    fields = [field(rough(1)), field(rough(2, (3, 4)))]
    c = Collision(fields, NO_FILTERS)
    assert c.grid[1, GRID_FIRST] == 30
    np.testing.assert_array_equal(c.heights, np.concatenate([rough(1).ravel(), rough(2, (3, 4)).ravel()]))
