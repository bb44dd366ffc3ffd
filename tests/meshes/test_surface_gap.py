"""surface_gap(): surfaces are one whatever the order of their vertices and the digits of their numbers."""

import numpy as np
import pytest

from mbcli.meshes.surface_gap import surface_gap

RANDOM = np.random.default_rng(1)
POINTS = RANDOM.uniform(-1.0, 1.0, (200, 3))
TRIANGLES = np.array([RANDOM.choice(200, 3, replace=False) for _ in range(300)])


def shuffled(points, triangles):
    order = RANDOM.permutation(len(points))
    place = np.argsort(order)
    turned = np.roll(place[triangles], 1, axis=1)
    return points[order], turned[RANDOM.permutation(len(turned))]


def test_the_order_of_vertices_corners_and_triangles_does_not_count():
    assert surface_gap((POINTS, TRIANGLES), shuffled(POINTS, TRIANGLES), 1e-9) == 0.0


def test_single_precision_is_a_small_gap():
    single = POINTS.astype(np.float32).astype(float)
    gap = surface_gap((POINTS, TRIANGLES), shuffled(single, TRIANGLES), 1e-5)
    assert 1e-9 < gap < 1e-6


def test_vertices_that_fewer_digits_make_one_are_one():
    twin = len(POINTS)
    split = np.vstack([POINTS, POINTS[TRIANGLES[0, 0]] + 1e-9])
    opened = TRIANGLES.copy()
    opened[0, 0] = twin
    assert surface_gap((split, opened), (POINTS, TRIANGLES), 1e-6) < 1e-8


@pytest.mark.parametrize("way", ["a triangle is gone", "a triangle faces the other way", "an edge is another one"])
def test_other_triangles_of_the_same_vertices_are_another_surface(way):
    other = TRIANGLES.copy()
    if way == "a triangle is gone":
        other = other[1:]
    elif way == "a triangle faces the other way":
        other[0] = other[0, ::-1]
    else:
        other[0, 0] = next(k for k in range(200) if k not in other[0])
    assert surface_gap((POINTS, TRIANGLES), (POINTS, other), 1e-9) == np.inf


def test_a_moved_vertex_is_as_far_away_as_it_was_moved():
    moved = POINTS.copy()
    moved[TRIANGLES[0, 0]] += (0.0, 0.0, 0.02)
    assert surface_gap((POINTS, TRIANGLES), (moved, TRIANGLES), 1e-9) == pytest.approx(0.02, rel=1e-9)
