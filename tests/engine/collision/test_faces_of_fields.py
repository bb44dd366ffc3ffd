"""Contact surfaces of pressure fields: closed forms, symmetries, and what stands in for what."""

import itertools

import numpy as np
import pytest
from solid_pairs import random_rotation

from mbcli.engine.collision.arrays import Collision, Solid, filter_words
from mbcli.engine.collision.field_meshes import join_meshes, rigid_mesh, soft_mesh
from mbcli.engine.contact.arrays import ContactPoints
from mbcli.engine.fields import collision_fields as kinds
from mbcli.engine.fields.collision_fields import (
    CONVEX,
    FACES_LOADED,
    FACES_POLYGONS,
    FACES_TRIANGLES,
    HALF_SPACE,
    MESH_NONE,
    RIGID_SURFACE,
    SOFT_FIELD,
)
from mbcli.engine.fields.contact_fields import FACE_AREA, FACE_GRADIENT_A, FACE_GRADIENT_B, FACE_PRESSURE
from mbcli.engine.runtime.linking import load_kernels
from mbcli.geometry.hydroelastic_shapes import rigid_surface_of, soft_solid_of
from mbcli.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere
from mbcli.meshes.hull import hull_of
from mbcli.meshes.triangles import convex_hull

E = 1e6
PLANE = "half space"
LOADED = FACES_POLYGONS | FACES_LOADED


class Places:
    def __init__(self, poses):
        self.X_WB = np.array(poses, dtype=float)


def pose(R=None, p=(0.0, 0.0, 0.0)):
    return np.concatenate([np.ravel(np.eye(3) if R is None else R), p])


class Side:
    """A solid of a test: its mesh, and what the engine has to know."""

    def __init__(self, shape, soft, hint=0.05, modulus=E, slab=0.05):
        self.mesh, self.hull, self.soft = None, None, soft
        self.modulus, self.slope = (modulus if soft else np.inf), (modulus / slab if soft else 0.0)
        if shape != PLANE:
            if soft:
                made = soft_solid_of(shape, hint)
                self.mesh = soft_mesh(made.vertices, made.tetrahedra, made.extent)
                points = made.vertices
            else:
                points, triangles = rigid_surface_of(shape, hint)
                self.mesh = rigid_mesh(points, triangles)
            self.hull = hull_of(points, convex_hull(points, "test"))

    def solid(self, body, number):
        return Solid(
            HALF_SPACE if self.hull is None else CONVEX,
            body,
            pose(),
            hull=self.hull,
            filter_row=0,
            material=(1.0, 0.0, 0.0, 0.5, 0.5),
            field_kind=SOFT_FIELD if self.soft else RIGID_SURFACE,
            mesh_of=MESH_NONE if self.mesh is None else number,
            compliance=(self.modulus, self.slope if self.mesh is None else 0.0),
        )


def surface(a, b, X_a, X_b, faces=FACES_POLYGONS):
    """ContactPoints of the faces between two sides at poses (12,)."""
    meshes = [side.mesh for side in (a, b) if side.mesh is not None]
    solids = [a.solid(0, 0), b.solid(1, len(meshes) - 1)]
    c = Collision(solids, filter_words([[False]]), meshes=join_meshes(meshes), faces=faces)
    points = ContactPoints(20000)
    load_kernels(False, "surfaces").find_contacts(None, Places([X_a, X_b]), c, points)
    assert c.counts[kinds.COLLISION_STATUS] == 0
    return points


def load_of(points):
    """(force on A, its moment about World's origin, area) of the pressures alone, exact for linear pressures."""
    force, moment, area = np.zeros(3), np.zeros(3), 0.0
    for n in range(points.count[0]):
        corners = points.corners[points.corner_start[n] : points.corner_start[n + 1]]
        for k in range(1, len(corners) - 1):
            triangle = corners[[0, k, k + 1]]
            vector = 0.5 * np.cross(triangle[1, :3] - triangle[0, :3], triangle[2, :3] - triangle[0, :3])
            for weights in ((4, 1, 1), (1, 4, 1), (1, 1, 4)):
                q = np.array(weights) @ triangle / 6.0
                force += q[3] * vector / 3.0
                moment += np.cross(q[:3], q[3] * vector / 3.0)
            area += np.linalg.norm(vector)
    return force, moment, area


SHAPES = {
    "sphere": Sphere(0.1),
    "box": Box(0.2, 0.16, 0.12),
    "cylinder": Cylinder(0.08, 0.2),
    "capsule": Capsule(0.06, 0.1),
    "ellipsoid": Ellipsoid(0.1, 0.07, 0.09),
}


@pytest.mark.parametrize("rigid", [True, False], ids=["rigid", "soft"])
@pytest.mark.parametrize("first, second", list(itertools.combinations_with_replacement(SHAPES, 2)))
def test_a_surface_moves_with_its_solids_and_acts_equally_on_both(first, second, rigid):
    rng = np.random.default_rng(len(first) * 17 + len(second))
    a, b = Side(SHAPES[first], True, 0.1), Side(SHAPES[second], not rigid, 0.1, 3e6)
    R_a, R_b = random_rotation(rng), random_rotation(rng)
    p = np.array([0.0, 0.01, 0.09])
    one = surface(a, b, pose(R_a), pose(R_b, p))
    assert one.count[0] > 0
    R, shift = random_rotation(rng), rng.normal(size=3)
    other = surface(a, b, pose(R @ R_a, shift), pose(R @ R_b, R @ p + shift))
    turned = surface(b, a, pose(R_b, p), pose(R_a))
    f, m, area = load_of(one)
    f_moved, m_moved, area_moved = load_of(other)
    size = np.linalg.norm(f)
    assert size > 1.0
    np.testing.assert_allclose(f_moved, R @ f, atol=1e-10 * size)
    np.testing.assert_allclose(m_moved, R @ m + np.cross(shift, R @ f), atol=1e-10 * size)
    assert area_moved == pytest.approx(area, rel=1e-10)
    f_turned, m_turned, _ = load_of(turned)
    np.testing.assert_allclose(f_turned, -f, atol=1e-10 * size)
    np.testing.assert_allclose(m_turned, -m, atol=1e-10 * size)


@pytest.mark.parametrize("name", SHAPES)
def test_a_plane_and_a_large_box_give_the_same_force(name):
    R = random_rotation(np.random.default_rng(3))
    a = Side(SHAPES[name], True, 0.05)
    lowest = (R @ a.hull.vertices.T)[2].min()
    X = pose(R, (0.0, 0.0, -lowest - 0.02))
    on_plane = load_of(surface(a, Side(PLANE, False), X, pose()))
    on_box = load_of(surface(a, Side(Box(3.0, 3.0, 1.0), False), X, pose(p=(0.1, 0.2, -0.5))))
    for got, wanted in zip(on_box, on_plane, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9 * np.linalg.norm(on_plane[0]))


@pytest.mark.parametrize("depth", [0.005, 0.01, 0.02, 0.03, 0.045])
def test_23_force_of_a_sphere_in_a_plane_converges_at_second_order(depth):
    radius, h = 0.1, 0.1 - depth
    exact = 2 * np.pi * E * ((radius**2 - h**2) / 2 - (radius**3 - h**3) / (3 * radius))
    errors = []
    for hint in (0.01, 0.005):
        a = Side(Sphere(radius), True, hint)
        f, _, _ = load_of(surface(a, Side(PLANE, False), pose(p=(0.0, 0.0, h)), pose()))
        errors.append(exact - f[2])
    assert 3.0 < errors[0] / errors[1] < 5.5 and 0.0 < errors[1] < 0.06 * exact


@pytest.mark.parametrize("modulus", [1e6, 1e7])
def test_two_spheres_meet_where_their_pressures_are_equal(modulus):
    """E1 (1 - r1/R) = E2 (1 - r2/R) on a surface of revolution; the force is integrated over it."""
    radius, gap = 0.1, 0.18
    a, b = Side(Sphere(radius), True, 0.01), Side(Sphere(radius), True, 0.01, modulus)
    f, _, _ = load_of(surface(a, b, pose(p=(0.0, 0.0, gap)), pose()))
    # by the angle t from the axis at the centre of b: r2(t), found by bisection; the force along z is the integral of
    # pressure over the projected area
    t = np.linspace(0.0, np.pi / 3, 20001)
    low, high = np.zeros_like(t), np.full_like(t, radius)
    for _ in range(60):
        r2 = (low + high) / 2
        r1 = np.sqrt(r2**2 - 2 * r2 * gap * np.cos(t) + gap**2)
        below = modulus * (1 - r2 / radius) > E * (1 - r1 / radius)
        low, high = np.where(below, r2, low), np.where(below, high, r2)
    across, pressure = r2 * np.sin(t), modulus * (1 - r2 / radius)
    inside = r1 < radius
    exact = np.trapezoid(np.where(inside, pressure, 0.0) * 2 * np.pi * across, across)
    assert f[2] == pytest.approx(exact, rel=0.05)


def test_23_a_box_in_a_plane_presses_by_depth_over_half_its_height():
    a = Side(Box(0.1, 0.2, 0.06), True)
    for depth in (0.0005, 0.002, 0.01):
        points = surface(a, Side(PLANE, False), pose(p=(0.0, 0.0, 0.03 - depth)), pose())
        f, _, area = load_of(points)
        # pressure falls to 0 at the rim within the depth, where the sides are nearer
        inner = (0.1 - 2 * depth) * (0.2 - 2 * depth)
        assert E * depth / 0.03 * inner < f[2] < E * depth / 0.03 * 0.02
        assert area == pytest.approx(0.02, rel=1e-12)
        np.testing.assert_allclose(points.corners[: points.corner_start[points.count[0]], 2], 0.0, atol=1e-15)


def test_23_triangles_and_polygons_have_the_same_area_force_and_moment():
    rng = np.random.default_rng(5)
    for rigid in (True, False):
        a, b = Side(SHAPES["ellipsoid"], True), Side(SHAPES["box"], not rigid)
        X = pose(random_rotation(rng)), pose(random_rotation(rng), (0.02, 0.0, 0.11))
        polygons, triangles = (surface(a, b, *X, faces) for faces in (FACES_POLYGONS, FACES_TRIANGLES))
        for one, other in zip(load_of(polygons), load_of(triangles), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
        n = triangles.count[0]
        assert (np.diff(triangles.corner_start[: n + 1]) == 3).all()
        assert n == np.diff(polygons.corner_start[: polygons.count[0] + 1]).sum()


def test_faces_say_their_area_centroid_pressure_normal_and_gradients():
    rng = np.random.default_rng(6)
    a, b = Side(SHAPES["cylinder"], True), Side(SHAPES["sphere"], True, modulus=4e6)
    points = surface(a, b, pose(random_rotation(rng)), pose(random_rotation(rng), (0.05, 0.02, 0.13)), LOADED)
    assert points.count[0] > 50
    for n in range(points.count[0]):
        corners = points.corners[points.corner_start[n] : points.corner_start[n + 1]]
        normal, face = points.normal[n], points.face[n]
        arms = corners[:, :3] - points.position[n]
        vector = 0.5 * sum(np.cross(x, y) for x, y in zip(arms, np.roll(arms, -1, axis=0), strict=True))
        np.testing.assert_allclose(vector, face[FACE_AREA] * normal, atol=1e-12)
        for gradient in (face[FACE_GRADIENT_A : FACE_GRADIENT_A + 3], face[FACE_GRADIENT_B : FACE_GRADIENT_B + 3]):
            across = gradient - normal * (normal @ gradient)
            # both fields have the pressures of the corners along the face
            np.testing.assert_allclose(face[FACE_PRESSURE] + arms @ across, corners[:, 3], atol=1e-6)
        along_A = normal @ face[FACE_GRADIENT_A : FACE_GRADIENT_A + 3]
        along_B = -normal @ face[FACE_GRADIENT_B : FACE_GRADIENT_B + 3]
        slope = 1.0 / (1.0 / along_A + 1.0 / along_B)
        assert points.law[n, 0] == pytest.approx(face[FACE_AREA] * slope)
        assert points.distance[n] == pytest.approx(-face[FACE_PRESSURE] / slope)


def test_a_soft_half_space_presses_on_a_rigid_solid_and_meets_a_soft_one():
    slab = Side(PLANE, True, modulus=2e6, slab=0.05)
    ball = Side(Sphere(0.1), False, 0.02)
    f, _, _ = load_of(surface(ball, slab, pose(p=(0.0, 0.0, 0.08)), pose()))
    exact = 2e6 / 0.05 * np.pi * 0.02**2 * (0.1 - 0.02 / 3)  # slope times the volume below the surface
    assert 0.9 * exact < f[2] < exact
    # a much stiffer ball is as good as a rigid one
    stiff = Side(Sphere(0.1), True, 0.02, modulus=1e12)
    g, _, _ = load_of(surface(stiff, slab, pose(p=(0.0, 0.0, 0.08)), pose()))
    assert g[2] == pytest.approx(f[2], rel=1e-3)
    # and a much stiffer slab as good as a rigid plane
    soft, floor = Side(Sphere(0.1), True, 0.02), Side(PLANE, True, modulus=1e13, slab=0.05)
    f, _, _ = load_of(surface(soft, floor, pose(p=(0.0, 0.0, 0.08)), pose()))
    g, _, _ = load_of(surface(soft, Side(PLANE, False), pose(p=(0.0, 0.0, 0.08)), pose()))
    assert f[2] == pytest.approx(g[2], rel=1e-3)


def test_compiled_kernels_find_the_same_faces():
    rng = np.random.default_rng(7)
    kernels = load_kernels(True, "surfaces")
    for rigid in (True, False):
        a, b = Side(SHAPES["capsule"], True, 0.03), Side(SHAPES["cylinder"], not rigid, 0.05)
        X = pose(random_rotation(rng)), pose(random_rotation(rng), (0.02, 0.01, 0.12))
        wanted = surface(a, b, *X)
        solids = [a.solid(0, 0), b.solid(1, 1)]
        c = Collision(solids, filter_words([[False]]), meshes=join_meshes([a.mesh, b.mesh]))
        c.X_WG[:], points = X, ContactPoints(20000)
        n = kernels.faces_of_pair_at(c.handle(True), points.handle(True), 0, 1)
        assert n == wanted.count[0] == points.count[0] > 10
        for name in ("position", "normal", "distance", "law", "face"):
            np.testing.assert_allclose(
                getattr(points, name)[:n], getattr(wanted, name)[:n], rtol=1e-9, atol=1e-9, err_msg=name
            )


def test_faces_found_from_kept_elements_are_those_of_a_new_search():
    """Solids slide and turn past each other; a search that remembers agrees to the last bit with one that does not."""
    rng = np.random.default_rng(8)
    a, b = Side(SHAPES["ellipsoid"], True, 0.1), Side(SHAPES["box"], True, 0.1)
    meshes = join_meshes([a.mesh, b.mesh])
    kernels = load_kernels(False, "surfaces")
    c, points = Collision([a.solid(0, 0), b.solid(1, 1)], filter_words([[False]]), meshes=meshes), ContactPoints(5000)
    R, axis, kept = random_rotation(rng), rng.normal(size=3), []
    for k in range(20):
        angle = 2e-3 * k
        K = np.cross(np.eye(3), axis / np.linalg.norm(axis))
        turn = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
        X = pose(), pose(turn @ R, (3e-4 * k, 0.01, 0.12))
        kernels.find_contacts(None, Places(X), c, points)
        new = surface(a, b, *X)
        n = points.count[0]
        assert n == new.count[0] > 0
        np.testing.assert_array_equal(points.face[:n], new.face[:n])
        np.testing.assert_array_equal(points.position[:n], new.position[:n])
        kept.append(c.kept_pose[0].copy())
    assert 2 < len(np.unique(kept, axis=0)) < 15  # some searches were new, others not
    c.kept = np.zeros((1, 2), dtype=np.int64)  # without room all is found too
    c.kept_count[:] = -1
    kernels.find_contacts(None, Places(X), c, points)
    np.testing.assert_array_equal(points.face[:n], new.face[:n])


def test_solids_that_come_near_are_found_though_they_were_apart_when_elements_were_kept():
    """A box comes down on another in steps much smaller than what it may move before elements are looked for again."""
    a, b = Side(Box(0.2, 0.2, 0.1), True), Side(Box(0.1, 0.1, 0.1), False)
    c = Collision([a.solid(0, 0), b.solid(1, 1)], filter_words([[False]]), meshes=join_meshes([a.mesh, b.mesh]))
    points, counts = ContactPoints(500), []
    for k in range(30):
        X = pose(), pose(p=(0.03, 0.02, 0.1005 - 5e-5 * k))
        load_kernels(False, "surfaces").find_contacts(None, Places(X), c, points)
        counts.append(points.count[0])
        assert points.count[0] == surface(a, b, *X).count[0], k
    assert counts[0] == 0 and counts[-1] > 0
