"""Solids of all sizes and shapes deep in each other: witness points are on surfaces, and prove the depth."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from solid_pairs import AT_ORIGIN, Pair, random_rotation
from solid_surfaces import from_surface

from mbcli.engine.collision.arrays import Solid
from mbcli.engine.fields.collision_fields import BALL, BOX, CAPSULE, CONVEX, CYLINDER, ELLIPSOID, HALF_SPACE
from mbcli.meshes.hull import hull_of
from mbcli.meshes.triangles import convex_hull

# of the sum of the bounding radii: the polytope of epa.py ends at 1e-10 of the smaller solid, a depth is that exact
EXACT = 1e-9
# the same of the places of points across the normal, which are the root of what rounding leaves of a distance
ACROSS = 1e-6
ROUND = ("ball", "capsule", "box", "cylinder", "ellipsoid", "convex")
PAIRS = [*itertools.combinations_with_replacement(ROUND, 2), *((name, "plane") for name in ROUND)]
IDS = ["-".join(pair) for pair in PAIRS]
RIGHT_ANGLES = [
    np.array(axes, float)
    for axes in (
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
        [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
        [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
    )
]


def random_solid(rng, name, size):
    """A solid whose lengths are between half of a size and that."""
    a = size * rng.uniform(0.5, 1.0, 3)
    if name == "convex":
        directions = rng.normal(size=(20, 3))
        vertices = directions / np.linalg.norm(directions, axis=1)[:, None] * a
        return Solid(CONVEX, 0, AT_ORIGIN, hull=hull_of(vertices, convex_hull(vertices, "test")))
    return {
        "ball": Solid(BALL, 0, AT_ORIGIN, rounding=a[0]),
        "capsule": Solid(CAPSULE, 0, AT_ORIGIN, (0.0, 0.0, a[0]), rounding=a[1]),
        "box": Solid(BOX, 0, AT_ORIGIN, tuple(a)),
        "cylinder": Solid(CYLINDER, 0, AT_ORIGIN, (a[0], a[0], a[1])),
        "ellipsoid": Solid(ELLIPSOID, 0, AT_ORIGIN, tuple(a)),
        "plane": Solid(HALF_SPACE, 0, AT_ORIGIN),
    }[name]


def place_deep(pair, rng, aligned):
    """One solid somewhere inside of the other: turned at random, or by right angles with centres in line."""
    rotation = (lambda: RIGHT_ANGLES[rng.integers(4)]) if aligned else (lambda: random_rotation(rng))
    p = rng.normal(size=3) * (rng.integers(0, 2, 3) if aligned else 1.0)
    pair.place(1, rotation(), np.zeros(3))
    pair.place(0, rotation(), rng.uniform(0.0, 0.5) * pair.c.radius.min() * p)


def size_of(pair):
    return pair.c.radius[pair.c.radius < 1e100].sum()


def assert_touching_witnesses(pair, distance):
    """Of the last distance of a pair."""
    size, normal, (a, b) = size_of(pair), pair.normal, pair.points
    assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
    assert abs(from_surface(pair.c, 0, a)) <= EXACT * size
    assert abs(from_surface(pair.c, 1, b)) <= EXACT * size
    assert normal @ (a - b) == pytest.approx(distance, abs=EXACT * size)
    np.testing.assert_allclose(a - b, distance * normal, atol=ACROSS * size)
    if pair.c.kind[1] != HALF_SPACE:
        assert pair.gap(normal) == pytest.approx(distance, abs=EXACT * size)


@pytest.mark.parametrize("aligned", [False, True], ids=["turned", "aligned"])
@pytest.mark.parametrize(("first", "second"), PAIRS, ids=IDS)
def test_witnesses_of_deep_overlaps_are_on_both_surfaces(first, second, aligned):
    """And moved apart by the depth along the normal, the solids just touch."""
    rng = np.random.default_rng(len(first) + 10 * len(second))
    for _ in range(12):
        pair = Pair(random_solid(rng, first, 1.0), random_solid(rng, second, rng.uniform(0.2, 1.0)))
        place_deep(pair, rng, aligned)
        distance = pair.distance()
        if distance >= 0.0:
            continue
        assert_touching_witnesses(pair, distance)
        X = pair.c.X_WG[0].copy()
        pair.place(0, X[:9].reshape(3, 3), X[9:] - distance * pair.normal)
        assert abs(pair.distance()) <= EXACT * size_of(pair)


def test_boxes_deep_in_each_other_touch_at_points_of_both():
    """Random boxes and poses; a face that a vertex passes through, and one whose corner is beside the other box."""
    rng, size = np.random.default_rng(0), 0.3
    for _ in range(400):
        pair = Pair(*(Solid(BOX, 0, AT_ORIGIN, tuple(rng.uniform(0.02, size, 3))) for _ in range(2)))
        pair.place_randomly(rng, spread=0.15)
        distance = pair.distance()
        if distance < 0.0:
            assert_touching_witnesses(pair, distance)


@pytest.mark.parametrize("ratio", [1.0, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(
    ("first", "second"), [("cylinder", "cylinder"), ("box", "cylinder"), ("ellipsoid", "ellipsoid")]
)
def test_no_depth_is_lost_by_the_size_of_the_other_solid(first, second, ratio):
    """Concentric, axes in line: as deep in all directions across them, or along the shortest way out."""
    small, big = np.array([1.0, 1.0, 2.0]) * ratio, np.array([1.0, 1.0, 2.0])
    kinds = {"cylinder": CYLINDER, "box": BOX, "ellipsoid": ELLIPSOID}
    pair = Pair(Solid(kinds[first], 0, AT_ORIGIN, tuple(small)), Solid(kinds[second], 0, AT_ORIGIN, tuple(big)))
    for n in range(2):
        pair.place(n, np.eye(3), np.zeros(3))
    assert pair.distance() == pytest.approx(-(1.0 + ratio), abs=1e-14)
    assert_touching_witnesses(pair, -(1.0 + ratio))


@pytest.mark.parametrize(("first", "second"), PAIRS[:21], ids=IDS[:21])
def test_no_direction_is_a_shorter_way_out(first, second):
    """Of aligned solids, of which many directions are as good; local search over directions from many starts."""
    rng = np.random.default_rng(3)
    for _ in range(2):
        pair = Pair(random_solid(rng, first, 1.0), random_solid(rng, second, 0.6))
        place_deep(pair, rng, True)
        distance = pair.distance()

        def negative_gap(x, pair=pair):
            return -pair.gap(x / np.linalg.norm(x))

        starts = [*rng.normal(size=(4, 3)), *(np.eye(3) + 0.01), *(-np.eye(3) - 0.01)]
        found = (
            minimize(negative_gap, x, method="Nelder-Mead", options={"xatol": 1e-7, "maxiter": 120}) for x in starts
        )
        assert max(-f.fun for f in found) <= distance + EXACT * size_of(pair)
