"""Samples of surfaces of elastic bodies: distances from solids and triangles, and which of them a surface holds."""

import numpy as np
import pytest

from mbcli.engine.deformable.surface_samples import (
    nearest_on_triangle,
    point_to_box,
    point_to_cylinder,
    point_to_ellipsoid,
    samples_in_surface,
)

H = np.array([0.3, 0.2, 0.5])  # of a box
R, HALF = 0.3, 0.5  # of a cylinder
STEP = 1e-6


def points(seed, count=60):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (count, 3))


def signed(distances):
    """Outside the length of what is beyond the walls, inside the depth below the nearest."""
    beyond = np.maximum(distances, 0.0)
    return np.linalg.norm(beyond) if beyond.any() else distances.max()


SOLIDS = {
    "box": (lambda p: point_to_box(p, H), lambda p: signed(np.abs(p) - H)),
    "cylinder": (
        lambda p: point_to_cylinder(p, R, HALF),
        lambda p: signed(np.array([np.hypot(*p[:2]) - R, abs(p[2]) - HALF])),
    ),
    "ball": (lambda p: point_to_ellipsoid(p, (R, R, R)), lambda p: np.linalg.norm(p) - R),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_distances_are_those_of_the_solid_and_normals_their_slopes(name):
    from_solid, expected = SOLIDS[name]
    inside = 0
    for p in 0.6 * points(1):
        distance, normal = from_solid(p)
        assert distance == pytest.approx(expected(p), abs=1e-14)
        slope = [(from_solid(p + e)[0] - from_solid(p - e)[0]) / (2.0 * STEP) for e in STEP * np.eye(3)]
        np.testing.assert_allclose(normal, slope, atol=1e-5)
        assert np.linalg.norm(normal) == pytest.approx(1.0)
        inside += distance < 0.0
    assert 2 < inside < 58


def test_the_distance_from_an_ellipsoid_is_right_to_first_order():
    size = np.array([0.5, 0.3, 0.2])
    for direction in points(2, 20):
        on_surface = direction / np.linalg.norm(direction / size)
        normal = on_surface / size**2
        normal /= np.linalg.norm(normal)
        for distance in (1e-5, -1e-5):
            found, out = point_to_ellipsoid(on_surface + distance * normal, size)
            assert found == pytest.approx(distance, rel=1e-4)
            np.testing.assert_allclose(out, normal, atol=1e-4)


def test_no_point_of_a_triangle_is_nearer():
    """Points over its face, beside each edge and beyond each corner: all seven regions occur."""
    a, b, c = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.2], [0.3, 0.8, -0.1]])
    u, v = (grid.ravel() for grid in np.meshgrid(np.linspace(0.0, 1.0, 101), np.linspace(0.0, 1.0, 101)))
    u, v = u[u + v <= 1.0], v[u + v <= 1.0]
    face = (1.0 - u - v)[:, None] * a + u[:, None] * b + v[:, None] * c
    regions = set()
    for p in 2.0 * points(3, 150):
        weights = np.array(nearest_on_triangle(p, a, b, c))
        assert weights.sum() == pytest.approx(1.0) and weights.min() >= 0.0
        regions.add(tuple(weights > 0.0))
        least = np.linalg.norm(p - face, axis=1).min()
        assert least - 2e-2 <= np.linalg.norm(p - weights @ [a, b, c]) <= least + 1e-12
    assert len(regions) == 7


def surface():
    """Vertices and triangles of a tetrahedron, counterclockwise seen from outside, and their boxes."""
    y = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    corners = y[triangles]
    return y, triangles, np.hstack([corners.min(axis=1), corners.max(axis=1)])


@pytest.mark.parametrize("reach", [1.0, 0.05])
def test_a_closed_surface_finds_the_samples_in_it_and_near_it(reach):
    y, triangles, boxes = surface()
    corners = np.vstack([points(4, 120) * 0.6 + 0.3, points(5, 3)])
    samples = np.array([[k, k, k] for k in range(120)] + [[120, 121, 122]])
    weights = np.array([[1.0, 0.0, 0.0]] * 120 + [[0.2, 0.3, 0.5]])
    found, places = np.zeros((121, 2), dtype=int), np.zeros((121, 10))
    count = samples_in_surface(corners, samples, weights, y, triangles, boxes, reach, 0.04, found, places)
    seen = {}
    for (s, t), place in zip(found[:count], places[:count], strict=True):
        normal, p, distance, of_vertices = place[:3], place[3:6], place[6], place[7:]
        np.testing.assert_allclose(p, weights[s] @ corners[samples[s]], atol=1e-15)
        np.testing.assert_allclose(p - distance * normal, of_vertices @ y[triangles[t]], atol=1e-12)
        assert np.linalg.norm(normal) == pytest.approx(1.0)
        seen[s] = distance
    kinds = set()
    for s in range(121):
        p = weights[s] @ corners[samples[s]]
        depths = np.array([*p, (1.0 - p.sum()) / np.sqrt(3.0)])  # below each face
        if depths.min() > 0.0:
            near = depths.min() < reach
            assert (s in seen) == near
            assert not near or seen[s] == pytest.approx(-depths.min())
            kinds.add(("inside", near))
        elif s in seen:
            assert 0.0 < seen[s] < 0.04 and seen[s] >= -depths.min() - 1e-12
            kinds.add("near")
        else:
            kinds.add("away")
    assert {"near", "away", ("inside", True)} <= kinds and (reach > 0.5 or ("inside", False) in kinds)
