"""Mass, centre and inertia of shapes against integrals over points and against one another."""

import numpy as np
import pytest
from mbcli.parsers.geometry_inertia import (
    combined,
    mass_properties,
    mass_properties_of_triangles,
    matrix_of,
    scaled_to_mass,
)
from mbcli.parsers.spec import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Sphere, pose

from mbcli.errors import ModelError

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CUBE_TRIANGLES = [
    *[(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)],
    *[(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)],
]


def _inside(shape, p):
    """Whether points p (n, 3) lie in a shape, by its definition."""
    x, y, z = p.T
    if isinstance(shape, Box):
        return (np.abs(p) <= np.array(shape.size) / 2).all(axis=1)
    if isinstance(shape, Ellipsoid):
        return ((p / shape.radii) ** 2).sum(axis=1) <= 1
    if isinstance(shape, Sphere):
        return (p**2).sum(axis=1) <= shape.radius**2
    if isinstance(shape, Cylinder):
        return (x**2 + y**2 <= shape.radius**2) & (np.abs(z) <= shape.length / 2)
    beyond = np.maximum(np.abs(z) - shape.length / 2, 0.0)
    return x**2 + y**2 + beyond**2 <= shape.radius**2


@pytest.mark.parametrize(
    "shape", [Box((0.3, 0.7, 1.1)), Sphere(0.5), Cylinder(0.3, 1.1), Capsule(0.3, 0.6), Ellipsoid((0.2, 0.4, 0.6))]
)
def test_primitives_equal_a_midpoint_sum_over_points_inside(shape):
    steps = 120
    axis = (np.arange(steps) + 0.5) / steps * 1.4 - 0.7
    points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    points = points[_inside(shape, points)]
    cell = (1.4 / steps) ** 3
    second = 900.0 * cell * points.T @ points
    found = mass_properties(shape, 900.0)
    assert found.mass == pytest.approx(900.0 * cell * len(points), rel=1e-2)
    assert np.abs(found.p_SScm).max() == 0.0
    expected = np.trace(second) * np.eye(3) - second
    assert matrix_of(found.inertia) == pytest.approx(expected, rel=2e-2, abs=1e-9 * np.trace(expected))


def test_box_has_exactly_the_figures_of_the_textbook():
    found = mass_properties(Box((1.0, 2.0, 3.0)), 2.0)
    assert found.mass == 12.0
    assert found.inertia == pytest.approx((13.0, 10.0, 5.0, 0.0, 0.0, 0.0), rel=1e-15)


def test_half_space_has_no_mass():
    with pytest.raises(ModelError, match="HalfSpace has no volume"):
        mass_properties(HalfSpace(), 1000.0)


def test_triangles_of_a_scaled_and_shifted_box_give_its_closed_form():
    size, corner = np.array([0.2, 0.5, 0.9]), np.array([3.0, -2.0, 1.0])
    found = mass_properties_of_triangles(CUBE * size + corner, CUBE_TRIANGLES, 800.0)
    closed = mass_properties(Box(tuple(size)), 800.0)
    assert found.mass == pytest.approx(closed.mass, rel=1e-13)
    assert found.p_SScm == pytest.approx(corner + size / 2, rel=1e-13)
    assert matrix_of(found.inertia) == pytest.approx(matrix_of(closed.inertia), rel=1e-12, abs=1e-13)


def test_triangles_inside_out_hold_no_positive_volume():
    with pytest.raises(ModelError, match="not closed, or inside out"):
        mass_properties_of_triangles(CUBE, np.array(CUBE_TRIANGLES)[:, ::-1], 1.0)


def test_two_halves_make_the_whole_in_any_frame():
    whole = mass_properties(Box((0.4, 0.6, 1.0)), 500.0)
    half = mass_properties(Box((0.4, 0.6, 0.5)), 500.0)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    parts = [(pose(turn, turn @ [0.0, 0.0, z] + [1.0, 2.0, 3.0]), half) for z in (-0.25, 0.25)]
    found = combined(parts)
    assert found.mass == pytest.approx(whole.mass, rel=1e-14)
    assert found.p_SScm == pytest.approx([1.0, 2.0, 3.0], rel=1e-13)
    assert matrix_of(found.inertia) == pytest.approx(turn @ matrix_of(whole.inertia) @ turn.T, rel=1e-11, abs=1e-12)


def test_scaling_to_a_mass_scales_the_inertia_with_it():
    sphere = mass_properties(Sphere(0.1), 1000.0)
    found = scaled_to_mass(sphere, 3.0)
    assert found.mass == 3.0
    assert found.inertia[:3] == pytest.approx((0.4 * 3.0 * 0.01,) * 3, rel=1e-14)


def test_nothing_combined_has_no_mass():
    assert combined([]).mass == 0.0
    assert combined([(np.eye(4), mass_properties(Sphere(0.1), 0.0))]).inertia == (0.0,) * 6
