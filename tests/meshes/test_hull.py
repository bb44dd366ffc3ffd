"""Hulls: faces of many triangles, edges, and the time that this takes."""

import itertools
import time

import numpy as np
import pytest

from mbcli.engine.collision.arrays import Collision, Solid, filter_words
from mbcli.engine.fields.collision_fields import CONVEX, MOST_CORNERS
from mbcli.geometry import Mesh
from mbcli.meshes.hull import COPLANAR, MOST_FACE_CORNERS, hull_of
from mbcli.meshes.triangles import convex_hull

AT_ORIGIN = np.array([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])


def faces_of(hull):
    """(normal, corners) of each face."""
    ends = zip(hull.corner_start[:-1], hull.corner_start[1:], strict=True)
    return [(normal, hull.corners[a:b]) for normal, (a, b) in zip(hull.face_normal, ends, strict=True)]


def naive_faces(vertices, triangles):
    """(normal, corners) of faces, each triangle measured against each face: quadratic, and plain to see."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    area = np.linalg.norm(cross, axis=1)
    normals = cross / np.maximum(area, 1e-300)[:, None]
    slack = COPLANAR * np.ptp(vertices, axis=0).max()
    left = np.ones(len(triangles), dtype=bool)
    faces = []
    for t in np.argsort(-area, kind="stable"):
        if left[t]:
            heights = np.abs((vertices[triangles] - a[t]) @ normals[t]).max(axis=1)
            together = left & (heights <= slack) & (normals @ normals[t] > 0.0)
            together[t] = True
            left &= ~together
            faces.append((normals[t], naive_order(vertices, np.unique(triangles[together]), normals[t])))
    return faces


def naive_order(vertices, corners, normal):
    points = vertices[corners] - vertices[corners].mean(axis=0)
    x = points[np.argmax((points**2).sum(axis=1))]
    corners = corners[np.argsort(np.arctan2(points @ np.cross(normal, x), points @ x))]
    if len(corners) > MOST_FACE_CORNERS:
        corners = corners[np.linspace(0, len(corners), MOST_FACE_CORNERS, endpoint=False).astype(int)]
    return corners


def turned(corners):
    """A polygon from its lowest corner on."""
    k = int(np.argmin(corners))
    return tuple(int(c) for c in [*corners[k:], *corners[:k]])


def random_points(rng, n):
    return rng.normal(size=(n, 3)) * [1.0, 0.6, 0.3]


def prism(rng, n):
    """Two coplanar polygons, and points on their sides' edges."""
    angle = np.sort(rng.uniform(0.0, 2 * np.pi, n))
    x, y = np.cos(angle), 0.7 * np.sin(angle)
    return np.concatenate([np.column_stack([x, y, np.full(n, z)]) for z in (-0.4, 0.4)])


def grid(rng, n):
    """A brick of points in its sides."""
    axis = np.linspace(-1.0, 1.0, max(2, round(n ** (1 / 3))))
    points = np.array(list(itertools.product(axis, repeat=3)))
    return points[(abs(points) == 1.0).any(axis=1)] * [1.0, 0.5, 0.2]


def turned_by(rng, points):
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return points @ Q.T + rng.normal(size=3)


def ball(rng, n):
    points = rng.normal(size=(n, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


SHAPES = {"random": random_points, "prism": prism, "grid": grid, "ball": ball}


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-8, 3e-7, 1e-6, 1e-5, 1e-3])
@pytest.mark.parametrize("name", SHAPES)
def test_faces_are_those_of_measuring_each_triangle_against_each_face(name, noise):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        points = turned_by(rng, SHAPES[name](rng, 20 + 50 * seed))
        points = points + noise * rng.normal(size=points.shape)
        triangles = convex_hull(points, name)
        hull = hull_of(points, triangles)
        place = np.unique(triangles)
        assert np.array_equal(hull.vertices, points[place])
        expected = naive_faces(points, triangles)
        found = faces_of(hull)
        assert len(found) == len(expected)
        for (normal, corners), (same_normal, same_corners) in zip(found, expected, strict=True):
            np.testing.assert_array_equal(normal, same_normal)
            if len(same_corners) < MOST_FACE_CORNERS:
                assert turned(place[corners]) == turned(same_corners)
            else:
                assert len(corners) == MOST_FACE_CORNERS


@pytest.mark.parametrize("name", SHAPES)
def test_edges_are_those_of_the_triangles(name):
    rng = np.random.default_rng(3)
    points = SHAPES[name](rng, 100)
    triangles = convex_hull(points, name)
    hull = hull_of(points, triangles)
    place = np.unique(triangles)
    expected = {i: set() for i in place.tolist()}
    for t in triangles.tolist():
        for i, j in itertools.permutations(t, 2):
            expected[i].add(j)
    for k, i in enumerate(place.tolist()):
        beside = place[hull.edges[hull.edge_start[k] : hull.edge_start[k + 1]]].tolist()
        assert beside == sorted(expected[i])
    assert hull.edge_start[0] == 0 and hull.edge_start[-1] == len(hull.edges)


def test_triangles_in_one_plane_are_one_face():
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    faces = faces_of(hull_of(corners, convex_hull(corners, "cube")))
    assert sorted(len(face) for _, face in faces) == [4] * 6
    for normal, face in faces:
        a, b, c = corners[face[:3]]
        assert np.cross(b - a, c - b) @ normal > 0.0


def test_both_sides_of_a_leaf_thinner_than_the_slack_are_faces():
    corners = np.array(list(itertools.product((-1.0, 1.0), (-1.0, 1.0), (-1e-8, 1e-8))))
    hull = hull_of(corners, convex_hull(corners, "leaf"))
    assert sorted(hull.face_normal[:2, 2]) == [-1.0, 1.0]


def test_a_face_has_no_more_corners_than_the_engine_has_room_for():
    assert 2 * MOST_FACE_CORNERS <= MOST_CORNERS  # two of them are clipped
    hull = hull_of(points := prism(np.random.default_rng(0), 500), convex_hull(points, "disc"))
    assert np.diff(hull.corner_start).max() == MOST_FACE_CORNERS


def test_a_hull_of_thousands_of_vertices_takes_a_fraction_of_a_second():
    """Quadratic merging took 8 s. In the ends of the prism vertices are in thousands of triangles."""
    for name, faces in (("ball", 5900), ("prism", 1000)):
        points = SHAPES[name](np.random.default_rng(1), 3000)
        triangles = convex_hull(points, name)
        start = time.process_time()
        hull = hull_of(points, triangles)
        assert time.process_time() - start < 1.0
        assert len(triangles) == 2 * len(points) - 4 and len(hull.face_normal) > faces


def test_hulls_stand_one_after_another_in_the_arrays_of_a_plant():
    rng = np.random.default_rng(2)
    hulls = [hull_of(p, convex_hull(p, "p")) for p in (prism(rng, 5), random_points(rng, 30), grid(rng, 27))]
    solids = [Solid(CONVEX, 1 + k, AT_ORIGIN, hull=hull) for k, hull in enumerate(hulls)]
    c = Collision([solids[0], Solid(0, 7, AT_ORIGIN, rounding=0.1), *solids[1:]], filter_words([[False]]))
    for k, hull in ((0, hulls[0]), (2, hulls[1]), (3, hulls[2])):
        first = c.vertex_start[k]
        np.testing.assert_array_equal(c.vertices[first : c.vertex_start[k + 1]], hull.vertices)
        for i in range(len(hull.vertices)):
            beside = c.edges[c.edge_start[first + i] : c.edge_start[first + i + 1]]
            np.testing.assert_array_equal(beside - first, hull.edges[hull.edge_start[i] : hull.edge_start[i + 1]])
        for f, (normal, corners) in enumerate(faces_of(hull)):
            g = c.face_start[k] + f
            np.testing.assert_array_equal(c.face_normal[g], normal)
            np.testing.assert_array_equal(c.corners[c.corner_start[g] : c.corner_start[g + 1]] - first, corners)
        for octant in range(8):
            along = [1.0 if octant >> b & 1 else -1.0 for b in range(3)]
            assert c.vertices[c.climb_start[k, octant]] @ along == pytest.approx((hull.vertices @ along).max())
    assert c.vertex_start[1] == c.vertex_start[2] and c.face_start[1] == c.face_start[2]


def test_a_mesh_tells_its_convex_hull(tmp_path):
    corners = list(itertools.product((0.0, 1.0), (0.0, 2.0), (0.0, 3.0)))
    lines = [f"v {x} {y} {z}" for x, y, z in [*corners, (0.5, 0.5, 0.5)]]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in itertools.combinations(range(9), 3)]
    path = tmp_path / "box.obj"
    path.write_text("\n".join(lines))
    hull = Mesh(str(path), scale3=[2.0, 1.0, -1.0]).GetConvexHull()
    assert hull.num_vertices() == 8
    center, half = np.array([1.0, 1.0, -1.5]), np.array([1.0, 1.0, 1.5])
    np.testing.assert_allclose(hull.CalcBoundingBox(), [center, 2.0 * half])
    assert sum(hull.area(f) for f in range(hull.num_faces())) == pytest.approx(2 * (2 * 2 + 2 * 3 + 2 * 3))
