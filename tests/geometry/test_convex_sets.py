"""Convex sets against closed forms, and beside pydrake's."""

from importlib import import_module

import numpy as np
import pytest

pytest.importorskip("clarabel")

from mbcli.geometry.optimization import (
    CartesianProduct,
    HPolyhedron,
    Hyperellipsoid,
    Intersection,
    Iris,
    IrisOptions,
    MinkowskiSum,
    Point,
    VPolytope,
)

DOMAIN = [0.0, 0.0], [30.0, 20.0]
OBSTACLES = [
    [[0, 8], [0, 10], [15, 8], [15, 10]],
    [[18, 8], [18, 10], [30, 8], [30, 10]],
    [[13, 20], [15, 20], [15, 12], [13, 12]],
    [[12, 12], [13, 12], [13, 14], [12, 14]],
    [[18, 12], [18, 14], [21, 14], [21, 12]],
    [[13, 0], [15, 0], [10, 5], [12, 5]],
]


def polytope(dimension, count, seed):
    return VPolytope(np.random.default_rng(seed).normal(size=(dimension, count)))


@pytest.mark.parametrize(("dimension", "count"), [(1, 5), (2, 9), (3, 14), (4, 12)])
def test_facets_and_vertices_of_a_polytope_are_those_of_each_other(dimension, count):
    P = polytope(dimension, count, dimension).GetMinimalRepresentation()
    H = HPolyhedron(P)
    again = VPolytope(H)
    apart = np.linalg.norm(again.vertices()[:, :, None] - P.vertices()[:, None], axis=0)
    assert apart.shape[0] == apart.shape[1] and max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 1e-8
    assert again.CalcVolume() == pytest.approx(P.CalcVolume(), rel=1e-9)
    inside, outside = P.vertices().mean(axis=1), 3.0 * P.vertices()[:, 0] - 2.0 * P.vertices().mean(axis=1)
    for each in (P, H):
        assert each.PointInSet(inside) and not each.PointInSet(outside) and each.PointInSet(P.vertices()[:, 0], 1e-7)


def test_flat_and_empty_polyhedra_have_the_vertices_that_are_left():
    segment = HPolyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, -1, 2, 0])
    assert sorted(VPolytope(segment).vertices()[1].round(9)) == [0.0, 2.0]
    assert VPolytope(HPolyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, -2, 2, 0])).vertices().shape == (2, 0)
    flat = HPolyhedron(VPolytope([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0]]))
    assert flat.PointInSet([1.5, 0.0]) and not flat.PointInSet([1.5, 1e-3]) and not flat.PointInSet([2.1, 0.0])
    with pytest.raises(RuntimeError, match="unbounded"):
        VPolytope(HPolyhedron([[1.0, 0.0]], [1.0]))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_largest_ellipsoid_of_a_stretched_box_is_its_own(n):
    widths = np.arange(1.0, n + 1.0)
    turn = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))[0]
    box = HPolyhedron.MakeBox(-widths, widths)
    E = HPolyhedron(box.A() @ turn.T, box.b() + box.A() @ turn.T @ np.ones(n)).MaximumVolumeInscribedEllipsoid()
    np.testing.assert_allclose(E.center(), np.ones(n), atol=1e-5)
    np.testing.assert_allclose(E.A(), turn / widths @ turn.T, atol=1e-5)
    with pytest.raises(RuntimeError, match="unbounded"):
        HPolyhedron([[1.0, 0.0], [-1.0, 0.0]], [1.0, 0.0]).MaximumVolumeInscribedEllipsoid()


def test_sets_of_sets_contain_what_they_say():
    box, ball = HPolyhedron.MakeUnitBox(2), Hyperellipsoid.MakeUnitBall(2)
    total = MinkowskiSum(box, ball)  # a square with round corners
    corner = 1.0 + np.sqrt(0.5)
    assert total.PointInSet([2.0, 0.5]) and total.PointInSet([corner, corner], 1e-6)
    assert not total.PointInSet([corner + 1e-4, corner + 1e-4])
    assert not Intersection(box, ball).PointInSet([0.9, 0.9]) and Intersection(box, ball).IsBounded()
    assert CartesianProduct([box, Point([3.0])]).PointInSet([0.5, 0.5, 3.0])
    distances, nearest = ball.Projection(np.array([[3.0, 0.1], [4.0, 0.2]]))
    np.testing.assert_allclose(distances, [4.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(nearest[:, 0], [0.6, 0.8], atol=1e-6)
    assert box.PontryaginDifference(HPolyhedron.MakeBox([-0.1, 0.0], [0.2, 0.3])).b() == pytest.approx(
        [0.8, 0.7, 0.9, 1.0]
    )
    assert box.ReduceInequalities().A().shape == (4, 2) and box.Intersection(box).ReduceInequalities().A().shape[0] == 4
    assert box.IntersectsWith(ball) and not box.IntersectsWith(Point([2.0, 0.0]))
    with pytest.raises(ValueError, match="one dimension"):
        Intersection(box, Point([1.0]))


@pytest.mark.parametrize("seed", range(3))
def test_regions_have_no_point_of_an_obstacle_and_hold_their_sample(seed):
    random = np.random.default_rng(seed)
    boxes = [VPolytope.MakeBox(c, c + 0.4) for c in random.uniform(-2.0, 2.0, (12, 3)) if np.abs(c).max() > 0.5]
    options = IrisOptions(require_sample_point_is_contained=True)
    region = Iris(boxes, np.zeros(3), HPolyhedron.MakeBox([-2.0] * 3, [2.0] * 3), options)
    assert region.PointInSet(np.zeros(3)) and VPolytope(region).CalcVolume() > 1.0
    shrunk = HPolyhedron(region.A(), region.b() - 1e-6)
    assert not any(shrunk.IntersectsWith(box) for box in boxes)
    with pytest.raises(ValueError, match="unbounded"):
        Iris(boxes, np.zeros(3), HPolyhedron([[1.0, 0.0, 0.0]], [1.0]))


@pytest.mark.peers("pydrake")
def test_regions_are_pydrakes():
    found = []
    for name in ("mbcli", "pydrake"):
        own = import_module(f"{name}.geometry.optimization")
        obstacles = [own.VPolytope(np.array(points, dtype=float).T) for points in OBSTACLES]
        options = own.IrisOptions()
        options.termination_threshold, options.iteration_limit = 1e-3, 200
        domain = own.HPolyhedron.MakeBox(*DOMAIN)
        random = np.random.default_rng(4)
        regions = []
        for sample in random.uniform(*DOMAIN, (20, 2)):
            if not any(o.PointInSet(sample) for o in obstacles):
                regions.append(own.Iris(obstacles, sample, domain, options))
        found.append(regions)
    mine, theirs = found
    assert len(mine) == len(theirs) >= 10
    for a, b in zip(mine, theirs, strict=True):
        volumes = [VPolytope(HPolyhedron(r.A(), r.b())).CalcVolume() for r in (a, b)]
        assert volumes[0] == pytest.approx(volumes[1], rel=1e-5)
        common = HPolyhedron(a.A(), a.b()).Intersection(HPolyhedron(b.A(), b.b()))
        assert VPolytope(common).CalcVolume() == pytest.approx(volumes[0], rel=1e-3)  # IRIS ends at small changes
