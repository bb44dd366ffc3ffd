"""Rays against shapes: by points on the surface, and by meshes of the same shapes."""

import numpy as np
import pytest

from mbcli.sensors.rays import distance_along

SHAPES = {
    "box": (0.3, 0.2, 0.5),
    "sphere": (0.4,),
    "ellipsoid": (0.3, 0.2, 0.5),
    "cylinder": (0.2, 0.5),
    "capsule": (0.2, 0.3),
}


def depth_inside(word, numbers, p):
    """Negative inside of a shape, 0 on its surface."""
    if word == "box":
        return (np.abs(p) - numbers).max(axis=1)
    if word in ("sphere", "ellipsoid"):
        return np.linalg.norm(p / np.resize(numbers, 3), axis=1) - 1.0
    across = np.hypot(p[:, 0], p[:, 1])
    if word == "cylinder":
        return np.maximum(across - numbers[0], np.abs(p[:, 2]) - numbers[1])
    beyond = np.maximum(np.abs(p[:, 2]) - numbers[1], 0.0)
    return np.hypot(across, beyond) - numbers[0]


@pytest.mark.parametrize("word", SHAPES)
def test_a_ray_ends_at_the_first_point_of_the_surface(word):
    rng, numbers = np.random.default_rng(1), np.array(SHAPES[word])
    start, direction = rng.normal(size=(400, 3)), rng.normal(size=(400, 3))
    direction[:200] = -start[:200] + 0.2 * rng.normal(size=(200, 3))
    direction[:20] *= [0.0, 1.0, 1.0]  # along a plane
    direction[20:30] *= [0.0, 0.0, 1.0]
    t = distance_along((word, numbers), start, direction)
    hit = np.isfinite(t)
    assert 100 < hit.sum() < 390
    at_end = start[hit] + t[hit, None] * direction[hit]
    np.testing.assert_allclose(depth_inside(word, numbers, at_end), 0.0, atol=1e-12)
    inside = depth_inside(word, numbers, start) < 0.0
    for part in np.linspace(0.0, 0.999, 50):  # before the end it is on one side all the way
        depth = depth_inside(word, numbers, start[hit] + part * t[hit, None] * direction[hit])
        assert ((depth < 1e-12) == inside[hit])[np.abs(depth) > 1e-9].all()
    for length in np.linspace(0.0, 5.0, 200):
        assert (depth_inside(word, numbers, start[~hit] + length * direction[~hit]) > 0.0).all()


def test_a_mesh_is_met_where_its_box_is():
    rng, half = np.random.default_rng(2), np.array([0.3, 0.2, 0.5])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    faces = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    triangles = [corners[[a, b, c]] for f in faces for a, b, c in ((f[0], f[1], f[2]), (f[0], f[2], f[3]))]
    start = rng.normal(size=(300, 3))
    direction = -start + 0.3 * rng.normal(size=(300, 3))
    by_mesh = distance_along(("mesh", np.array(triangles)), start, direction)
    np.testing.assert_allclose(by_mesh, distance_along(("box", half), start, direction), atol=1e-12)


def test_the_ground_is_met_from_above():
    start, direction = (
        np.array([[0, 0, 2.0], [0, 0, 2.0], [0, 0, -1.0]]),
        np.array([[0, 0, -1.0], [1, 0, 0], [0, 0, 1]]),
    )
    assert distance_along(("half_space", ()), start, direction).tolist() == [2.0, np.inf, np.inf]
