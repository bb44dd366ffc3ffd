"""Shapes as tetrahedra for elastic bodies: well shaped, of the right volume, with corners inside."""

import math

import numpy as np
import pytest
from made_solids import torus

from mbcli.errors import ModelError
from mbcli.geometry.shapes import Box, Capsule, ClosedSurface, Cylinder, Ellipsoid, HalfSpace, Sphere
from mbcli.geometry.tetrahedral_shapes import volume_mesh_of
from mbcli.meshes.inner_corners import flat_inside
from mbcli.meshes.volume_mesh import checked_mesh

SHAPES = {
    "ball": (Sphere(0.5), math.pi / 6.0),
    "ellipsoid": (Ellipsoid(0.5, 0.8, 0.3), 4.0 / 3.0 * math.pi * 0.12),
    "box": (Box(1.0, 1.5, 0.7), 1.05),
    "cylinder": (Cylinder(0.5, 1.2), 0.3 * math.pi),
    "capsule": (Capsule(0.3, 0.8), math.pi * (0.072 + 0.036)),
}


@pytest.mark.parametrize("hint", [1.0, 0.2, 0.1])
@pytest.mark.parametrize("name", SHAPES)
def test_tetrahedra_are_well_shaped(name, hint):
    mesh = volume_mesh_of(SHAPES[name][0], hint)
    assert (mesh.volumes > 0.0).all()
    assert mesh.quality.smallest_angle > np.radians(18.0) and mesh.quality.largest_angle < np.radians(145.0)
    assert mesh.quality.smallest_ratio > 0.2
    assert not flat_inside(mesh.tetrahedra).any()
    edges = np.concatenate([mesh.tetrahedra[:, [i, j]] for i in range(4) for j in range(i)])
    lengths = np.linalg.norm(mesh.vertices[edges[:, 0]] - mesh.vertices[edges[:, 1]], axis=1)
    assert lengths.max() < 2.0 * hint and (hint > 0.5 or lengths.mean() > 0.6 * hint)
    checked_mesh(mesh.vertices, mesh.tetrahedra, name)


@pytest.mark.parametrize("name", SHAPES)
def test_volumes_converge_at_second_order(name):
    shape, volume = SHAPES[name]
    errors = [abs(volume_mesh_of(shape, hint).volume / volume - 1.0) for hint in (0.2, 0.1, 0.05)]
    assert errors[2] < 0.01
    assert name == "box" or math.log2(errors[0] / errors[2]) / 2.0 > 1.6, errors


def test_vertices_of_the_surface_lie_on_the_shape():
    mesh = volume_mesh_of(Ellipsoid(0.5, 0.8, 0.3), 0.1)
    outside = mesh.vertices[np.unique(mesh.outer_triangles)] / [0.5, 0.8, 0.3]
    np.testing.assert_allclose(np.linalg.norm(outside, axis=1), 1.0, atol=1e-12)
    mesh = volume_mesh_of(Cylinder(0.5, 1.2), 0.1)
    x, y, z = mesh.vertices[np.unique(mesh.outer_triangles)].T
    np.testing.assert_allclose(np.maximum(np.hypot(x, y) / 0.5, np.abs(z) / 0.6), 1.0, atol=1e-12)


def test_surfaces_of_triangles_are_filled_as_they_are_or_by_a_hint():
    vertices, triangles = torus(60, 30)
    ring = ClosedSurface(vertices, triangles, "ring")
    exact, even = volume_mesh_of(ring), volume_mesh_of(ring, 0.1)
    assert even.volume == pytest.approx(exact.volume, rel=0.02)
    assert even.quality.smallest_angle > np.radians(8.0) > exact.quality.smallest_angle


@pytest.mark.parametrize(
    ("shape", "hint", "message"),
    [
        (HalfSpace(), 0.1, "no tetrahedra"),
        (Sphere(0.0), 0.1, "no tetrahedra"),
        (Sphere(1.0), None, "need a resolution hint"),
        (Box(1.0, 1.0, 1.0), -1.0, "finite and positive"),
        (Box(1.0, 1.0, 1.0), 1e-3, "the most are 1000000"),
        (Sphere(1.0), 1e-3, "the most are 1000000"),
        (Cylinder(1.0, 1.0), 1e-3, "the most are 1000000"),
        (ClosedSurface(*torus(), "ring"), 1e-3, "ring.*the most are 1000000"),
    ],
)
def test_what_cannot_be_filled_says_why(shape, hint, message):
    with pytest.raises(ModelError, match=message):
        volume_mesh_of(shape, hint)
