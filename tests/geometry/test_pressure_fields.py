"""Pressure fields of shapes: their forces on planes against closed forms and against pydrake."""

import math

import numpy as np
import pytest
from cut_tetrahedra import force_on_plane

from mbcli.errors import ModelError
from mbcli.geometry.hydroelastic_shapes import needs_hint, rigid_surface_of, soft_solid_of
from mbcli.geometry.shapes import Box, Capsule, ClosedSurface, Cylinder, Ellipsoid, HalfSpace, MeshcatCone, Sphere
from mbcli.meshes.hull_surface import volume_and_centroid
from mbcli.meshes.volume_mesh import checked_mesh

DEPTHS = (0.02, 0.05, 0.1, 0.15, 0.25)  # of shapes whose half height is 0.3 at least
LYING = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def ball_force(radius, depth):
    h = radius - depth
    return 2.0 * math.pi * ((radius**2 - h**2) / 2.0 - (radius**3 - h**3) / (3.0 * radius))


def ellipsoid_force(a, b, c, depth):
    """The affine picture of a ball of radius 1: areas across z grow by a b, extents stay."""
    return a * b * ball_force(1.0, depth / c)


def lying_side_force(radius, depth, length):
    """Of a cylinder's side alone: the integral of 1 - sqrt(h^2 + y^2) / r over a strip."""
    h = radius - depth
    y = math.sqrt(radius**2 - h**2)
    return length * (2.0 * y - (y * radius + h * h * math.asinh(y / h)) / radius)


def lying_cylinder_force(radius, depth, length):
    """Of one longer than wide: its ends take away what a cap is nearer to than the side.

    At height h below the axis and y beside it the depth under the side is s = r - sqrt(h^2 + y^2); within s of each cap
    it is the distance from the cap instead, which lessens the integral along the axis by s^2 / 2 at each end.
    """
    h = radius - depth
    y, weight = np.polynomial.legendre.leggauss(60)
    y, weight = y * math.sqrt(radius**2 - h**2), weight * math.sqrt(radius**2 - h**2)
    s = radius - np.sqrt(h * h + y * y)
    return float(weight @ (s * length - s * s)) / radius


def standing_cylinder_force(radius, depth, length):
    """min(depth, distance from the side) over the disc, over the largest distance."""
    r, d = radius, depth
    return math.pi * (d * (r - d) ** 2 + r * d * d - 2.0 / 3.0 * d**3) / min(r, length / 2.0)


CLOSED_FORMS = {
    "ball": (Sphere(0.5), None, 0.5, lambda d: ball_force(0.5, d)),
    "ellipsoid": (Ellipsoid(0.5, 0.7, 0.4), None, 0.4, lambda d: ellipsoid_force(0.5, 0.7, 0.4, d)),
    "capsule": (Capsule(0.5, 0.8), LYING, 0.5, lambda d: ball_force(0.5, d) + lying_side_force(0.5, d, 0.8)),
    "standing capsule": (Capsule(0.5, 0.8), None, 0.9, lambda d: ball_force(0.5, d)),
    "lying cylinder": (Cylinder(0.5, 1.8), LYING, 0.5, lambda d: lying_cylinder_force(0.5, d, 1.8)),
    "standing cylinder": (Cylinder(0.5, 1.8), None, 0.9, lambda d: standing_cylinder_force(0.5, d, 1.8)),
    "disc": (Cylinder(0.7, 0.6), None, 0.3, lambda d: standing_cylinder_force(0.7, d, 0.6)),
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_forces_on_a_plane_converge_at_second_order(name):
    """At five depths together: the error falls by four where the hint is halved."""
    shape, R, half_height, exact = CLOSED_FORMS[name]
    errors = []
    for hint in (0.1, 0.05, 0.025):
        solid = soft_solid_of(shape, hint)
        forces = [force_on_plane(solid, R, half_height - depth)[0] for depth in DEPTHS]
        errors.append(np.linalg.norm([force - exact(d) for force, d in zip(forces, DEPTHS, strict=True)]))
    assert errors[2] < 0.01 * np.linalg.norm([exact(d) for d in DEPTHS])
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders.mean() > 1.7 and (orders > 1.4).all(), orders


@pytest.mark.parametrize("size", [(0.1, 0.2, 0.06), (1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (3.0, 2.0, 1.0), (1.0, 2.0, 2.0)])
def test_the_extent_of_a_box_is_the_distance_from_its_faces(size):
    """Exactly, at random points of all tetrahedra."""
    solid, rng, half = soft_solid_of(Box(*size)), np.random.default_rng(0), np.array(size) / 2.0
    weights = rng.dirichlet(np.ones(4), (20, len(solid.tetrahedra)))
    points = np.einsum("smk,mkj->smj", weights, solid.vertices[solid.tetrahedra])
    extents = np.einsum("smk,mk->sm", weights, solid.extent[solid.tetrahedra])
    np.testing.assert_allclose(extents, (half - np.abs(points)).min(axis=2) / half.min(), atol=1e-14)


def test_a_box_presses_with_its_flat_part_and_its_bevelled_rim():
    """E x / (H / 2) over a face but for the rim, which is nearer to the sides: check 23."""
    x, a, b, half = 0.001, 0.1, 0.2, 0.03
    force, area, _ = force_on_plane(soft_solid_of(Box(a, b, 0.06)), height=half - x)
    sections = a * b + 4.0 * (a - x) * (b - x) + (a - 2 * x) * (b - 2 * x)  # of a frustum
    assert force == pytest.approx(x / 6.0 * sections / half, rel=1e-12)
    assert force == pytest.approx(656.71111111111e-6, rel=1e-12)  # by pydrake
    assert area == pytest.approx(a * b, rel=1e-12)


SHAPES = {
    "ball": Sphere(0.3),
    "ellipsoid": Ellipsoid(0.1, 0.2, 0.3),
    "box": Box(0.1, 0.2, 0.3),
    "cube": Box(0.2, 0.2, 0.2),
    "long cylinder": Cylinder(0.1, 0.5),
    "middle cylinder": Cylinder(0.1, 0.2),
    "disc": Cylinder(0.3, 0.1),
    "capsule": Capsule(0.1, 0.3),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("hint", [1.0, 0.1, 0.03])
def test_tetrahedra_hold_together_and_end_at_the_rigid_surface(name, hint):
    solid = soft_solid_of(SHAPES[name], hint)
    mesh = checked_mesh(solid.vertices, solid.tetrahedra, name)
    np.testing.assert_array_equal(mesh.tetrahedra, solid.tetrahedra)  # none was inside out
    vertices, triangles = rigid_surface_of(SHAPES[name], hint)
    volume, _ = volume_and_centroid(vertices, triangles)
    assert mesh.volume == pytest.approx(volume, rel=1e-12)
    outside = np.unique(mesh.outer_triangles)
    assert (solid.extent[outside] == 0.0).all() and solid.extent.max() == 1.0
    assert (solid.extent[solid.tetrahedra].max(axis=1) > 0.0).all()  # no tetrahedron without pressure
    edges = np.concatenate([mesh.outer_triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    assert {tuple(edge) for edge in edges} == {tuple(edge[::-1]) for edge in edges}


def test_equal_shapes_share_one_mesh_that_nobody_can_write():
    solid = soft_solid_of(Sphere(0.2), 0.05)
    assert soft_solid_of(Sphere(0.2), 0.05) is solid
    assert soft_solid_of(Sphere(0.2), 0.02) is not solid
    assert soft_solid_of(Box(1.0, 2.0, 3.0), 0.1) is soft_solid_of(Box(1.0, 2.0, 3.0))  # boxes do not need the hint
    for array in (solid.vertices, solid.tetrahedra, solid.extent, *rigid_surface_of(Sphere(0.2), 0.05)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    ("shape", "hint", "message"),
    [
        (Sphere(1.0), 1e-4, "0.0001 m makes 2.147484e\\+09 t"),
        (Cylinder(1.0, 1.0), 1e-7, "the most are 1000000"),
        (Capsule(1.0, 1.0), 1e-3, "the most are 1000000"),
        (Sphere(1.0), None, "needs a resolution hint"),
        (Sphere(1.0), 0.0, "finite and positive"),
        (Capsule(1.0, 1.0), math.nan, "finite and positive"),
        (Sphere(0.0), 0.1, "radius 0"),
        (HalfSpace(), None, "half space"),
        (MeshcatCone(1.0), None, "MeshcatCone"),
    ],
)
@pytest.mark.parametrize("make", [soft_solid_of, rigid_surface_of])
def test_shapes_without_a_mesh_say_why(shape, hint, message, make):
    with pytest.raises(ModelError, match=message):
        make(shape, hint)


def test_hints_are_of_curved_shapes():
    assert [name for name, shape in SHAPES.items() if not needs_hint(shape)] == ["box", "cube"]


def test_a_hull_presses_most_at_its_centroid():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    solid = soft_solid_of(ClosedSurface(corners, triangles, "corner"))
    np.testing.assert_allclose(solid.vertices[solid.extent == 1.0], [[0.25, 0.25, 0.25]], atol=1e-15)
