"""Distances of two solids: closed forms, what holds for all, and the same pairs in coal and pydrake."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from solid_pairs import AT_ORIGIN, NO_FILTERS, Pair, hull_vertices, random_rotation, solids

from mbcli.engine.collision.arrays import Collision, Solid
from mbcli.engine.fields.collision_fields import BALL, BOX, CAPSULE, CYLINDER
from mbcli.meshes.triangles import convex_hull

SOLIDS = solids()
UPRIGHT = np.eye(3)
ROUND = [name for name in SOLIDS if name != "plane"]
PAIRS = [*itertools.combinations_with_replacement(ROUND, 2), *((name, "plane") for name in ROUND)]
IDS = ["-".join(pair) for pair in PAIRS]


def at(pair, p_A, p_B=(0.0, 0.0, 0.0), R_A=UPRIGHT, R_B=UPRIGHT):
    pair.place(0, R_A, np.asarray(p_A, float))
    pair.place(1, R_B, np.asarray(p_B, float))
    return pair.distance()


@pytest.mark.parametrize(
    ("first", "second", "p_A", "distance", "normal"),
    [
        ("ball", "ball", (0.3, 0, 0), 0.06, (1, 0, 0)),
        ("ball", "ball", (0, 0.2, 0), -0.04, (0, 1, 0)),
        ("ball", "box", (0, 0, 0.3), -0.02, (0, 0, 1)),
        ("ball", "box", (0.1 + 0.3, 0.15 + 0.4, 0), 0.5 - 0.12, (0.6, 0.8, 0)),
        ("ball", "box", (0.09, 0, 0), -0.13, (1, 0, 0)),
        ("ball", "cylinder", (0, 0, -0.35), 0.03, (0, 0, -1)),
        ("ball", "cylinder", (0.1 + 0.3, 0, 0.2 + 0.4), 0.38, (0.6, 0, 0.8)),
        ("ball", "cylinder", (0.05, 0, 0), -0.17, (1, 0, 0)),
        ("ball", "plane", (1, 2, 0.1), -0.02, (0, 0, 1)),
        ("capsule", "plane", (0, 0, 0.2), -0.03, (0, 0, 1)),
        ("capsule", "capsule", (0.2, 0, 0.1), 0.04, (1, 0, 0)),
        ("box", "plane", (0, 0, 0.25), 0.05, (0, 0, 1)),
        ("cylinder", "plane", (0, 0, 0.15), -0.05, (0, 0, 1)),
        ("ellipsoid", "plane", (0, 0, 0.15), -0.05, (0, 0, 1)),
        ("box", "box", (0.19, 0, 0), -0.01, (1, 0, 0)),
        ("box", "box", (0.2 + 0.3, 0.3 + 0.4, 0), 0.5, (0.6, 0.8, 0)),
        ("capsule", "box", (0.17, 0, 0), -0.01, (1, 0, 0)),
        ("ellipsoid", "ellipsoid", (0.5, 0, 0), 0.3, (1, 0, 0)),
        ("cylinder", "cylinder", (0.3, 0, 0.05), 0.1, (1, 0, 0)),
        ("box", "cylinder", (0, 0, 0.35), -0.05, (0, 0, 1)),
    ],
)
def test_distance_and_normal_of_simple_places(first, second, p_A, distance, normal):
    pair = Pair(SOLIDS[first], SOLIDS[second])
    assert at(pair, p_A) == pytest.approx(distance, abs=1e-9)
    np.testing.assert_allclose(pair.normal, normal, atol=1e-4)
    a, b = pair.points
    np.testing.assert_allclose(a - b, distance * np.array(normal), atol=1e-5)


def test_edges_of_boxes_that_cross():
    """Two cubes of side 2, one turned by 45 degrees about x, the other about y: edges cross at their middles."""
    cube = Solid(BOX, 0, AT_ORIGIN, (1.0, 1.0, 1.0))
    pair, s = Pair(cube, cube), np.sqrt(0.5)
    about_x = np.array([[1, 0, 0], [0, s, -s], [0, s, s]])
    about_y = np.array([[s, 0, s], [0, 1, 0], [-s, 0, s]])
    assert at(pair, (0.1, 0.2, 2 * np.sqrt(2) - 0.05), R_A=about_x, R_B=about_y) == pytest.approx(-0.05)
    np.testing.assert_allclose(pair.normal, [0, 0, 1], atol=1e-12)
    a, b = pair.points
    np.testing.assert_allclose((a + b) / 2, [0.0, 0.2, np.sqrt(2) - 0.025], atol=1e-12)


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize(("first", "second"), PAIRS, ids=IDS)
def test_nearest_points_prove_the_distance(first, second, compiled):
    """The planes across the normal through the points touch both solids: they are no nearer, and no farther."""
    rng = np.random.default_rng(len(first) + 7 * len(second))
    pair = Pair(SOLIDS[first], SOLIDS[second], compiled)
    curved = {"cylinder", "ellipsoid"} & {first, second}
    for _ in range(200 if compiled else 12):
        pair.place_randomly(rng)
        distance = pair.distance()
        a, b = pair.points
        np.testing.assert_allclose(a - b, distance * pair.normal, atol=1e-6)
        assert np.linalg.norm(pair.normal) == pytest.approx(1.0, abs=1e-12)
        if second != "plane":
            assert pair.gap(pair.normal) == pytest.approx(distance, abs=2e-4 if curved else 1e-9)


@pytest.mark.parametrize(("first", "second"), PAIRS[:21], ids=IDS[:21])
def test_no_direction_separates_better(first, second):
    """The distance is the greatest gap over all directions: local search from many does not find a greater one.

    That it is a gap at all is what the test above proves.
    """
    rng = np.random.default_rng(3)
    pair = Pair(SOLIDS[first], SOLIDS[second])
    pair.place_randomly(rng, spread=0.15)
    distance = pair.distance()

    def negative_gap(x):
        return -pair.gap(x / np.linalg.norm(x))

    starts = rng.normal(size=(12, 3))
    best = max(-minimize(negative_gap, x, method="Nelder-Mead", options={"xatol": 1e-8}).fun for x in starts)
    assert best <= distance + 1e-8


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=IDS)
def test_swapping_and_moving_both_changes_nothing(first, second):
    rng = np.random.default_rng(11)
    pair = Pair(SOLIDS[first], SOLIDS[second])
    for _ in range(4):
        pair.place_randomly(rng)
        distance, normal, (a, b) = pair.distance(), pair.normal, pair.points
        assert pair.distance(1, 0) == pytest.approx(distance, abs=1e-8)
        np.testing.assert_allclose(pair.normal, -normal, atol=1e-3)
        R, p = random_rotation(rng), rng.uniform(-2, 2, 3)
        for n in range(2):
            X = pair.c.X_WG[n].copy()
            pair.place(n, R @ X[:9].reshape(3, 3), R @ X[9:] + p)
        assert pair.distance() == pytest.approx(distance, abs=1e-8)
        np.testing.assert_allclose(pair.normal, R @ normal, atol=1e-3)
        np.testing.assert_allclose(pair.points[0] - pair.points[1], R @ (a - b), atol=1e-3 * abs(distance) + 1e-6)


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=IDS)
def test_degenerate_places_have_finite_answers(first, second):
    """Centres that coincide, axes that are parallel or crossed, surfaces that just touch."""
    pair = Pair(SOLIDS[first], SOLIDS[second])
    turn = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    for R in (np.eye(3), turn):
        for p in ((0, 0, 0), (0, 0, 0.1), (0.1, 0, 0), (0.2, 0, 0), (0, 0, 0.4), (0.1, 0.15, 0.2)):
            distance = at(pair, p, R_A=R)
            assert np.isfinite(distance) and np.isfinite(pair.c.nearest).all()
            assert np.linalg.norm(pair.normal) == pytest.approx(1.0)
            if second != "plane":
                assert pair.gap(pair.normal) == pytest.approx(distance, abs=1e-3)


def test_beyond_the_limit_only_that_is_said():
    rng = np.random.default_rng(2)
    for first, second in PAIRS:
        pair = Pair(SOLIDS[first], SOLIDS[second])
        for _ in range(5):
            pair.place_randomly(rng, spread=0.6)
            distance = pair.distance()
            for limit in (0.0, 0.05):
                found = pair.distance(limit=limit)
                assert found > limit if distance > limit else found == pytest.approx(distance, abs=1e-9)


def test_the_hull_climbs_to_the_outermost_vertex():
    vertices = hull_vertices()
    pair = Pair(SOLIDS["convex"], SOLIDS["ball"])
    pair.place(0, np.eye(3), np.zeros(3))
    for direction in np.random.default_rng(1).normal(size=(200, 3)):
        assert pair.outermost(0, direction) @ direction == pytest.approx((vertices @ direction).max(), abs=1e-15)


def test_solids_fit_their_bounds():
    for name in ROUND:
        c = Collision([SOLIDS[name]], NO_FILTERS)
        pair = Pair(SOLIDS[name], SOLIDS["ball"])
        pair.place(0, np.eye(3), np.zeros(3))
        for axis in np.vstack([np.eye(3), -np.eye(3), np.random.default_rng(0).normal(size=(30, 3))]):
            axis = axis / np.linalg.norm(axis)
            p = pair.outermost(0, axis) - c.center[0]
            assert np.linalg.norm(p) <= c.radius[0] + 1e-12
            assert (abs(p) <= c.extent[0] + 1e-12).all()


# -------------------------------------------------------------------------------------------- peers


def coal_shape(coal, name):
    if name == "convex":
        vertices = hull_vertices()
        points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        for vertex in vertices:
            points.append(vertex)
        for triangle in convex_hull(vertices, "test"):
            triangles.append(coal.Triangle(*map(int, triangle)))
        return coal.Convex(points, triangles)
    return {
        "ball": lambda: coal.Sphere(0.12),
        "capsule": lambda: coal.Capsule(0.08, 0.3),
        "box": lambda: coal.Box(0.2, 0.3, 0.4),
        "cylinder": lambda: coal.Cylinder(0.1, 0.4),
        "ellipsoid": lambda: coal.Ellipsoid(0.1, 0.15, 0.2),
        "plane": lambda: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
    }[name]()


@pytest.mark.peers("coal")
@pytest.mark.parametrize(("first", "second"), PAIRS, ids=IDS)
def test_distances_and_depths_are_those_of_coal(first, second):
    """coal's own tolerance on curved solids is 1e-6. Where it finds another depth, ours separates with less: the
    certificate of the test above says that ours does separate."""
    import coal

    rng = np.random.default_rng(17)
    pair = Pair(SOLIDS[first], SOLIDS[second], compiled=True)
    shapes = [coal_shape(coal, name) for name in (first, second)]
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-6
    request.gjk_max_iterations, request.epa_max_iterations = 1000, 500
    agree = 0
    for _ in range(200):
        pair.place_randomly(rng)
        X = [coal.Transform3s(row[:9].reshape(3, 3), row[9:]) for row in pair.c.X_WG]
        theirs = coal.distance(shapes[0], X[0], shapes[1], X[1], request, coal.DistanceResult())
        ours = pair.distance()
        if abs(ours - theirs) < 3e-6:
            agree += 1
        else:
            assert ours > theirs  # no deeper than theirs
            assert pair.gap(pair.normal) == pytest.approx(ours, abs=1e-6)
    assert agree >= 190


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize(("first", "second"), [p for p in PAIRS if "convex" not in p], ids=lambda name: name)
def test_overlaps_are_those_of_pydrake(first, second):
    """Depth, normal and order of pairs; pydrake finds those of curved solids to 1e-3 m at best."""
    from pydrake import geometry
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
    from pydrake.multibody.tree import SpatialInertia
    from pydrake.systems.framework import DiagramBuilder

    shapes = {
        "ball": geometry.Sphere(0.12),
        "capsule": geometry.Capsule(0.08, 0.3),
        "box": geometry.Box(0.2, 0.3, 0.4),
        "cylinder": geometry.Cylinder(0.1, 0.4),
        "ellipsoid": geometry.Ellipsoid(0.1, 0.15, 0.2),
        "plane": geometry.HalfSpace(),
    }
    builder = DiagramBuilder()
    plant, graph = AddMultibodyPlantSceneGraph(builder, 0.0)
    bodies = []
    for k, name in enumerate((first, second)):
        body = plant.world_body()
        if name != "plane":
            body = plant.AddRigidBody(f"b{k}", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        bodies.append(body)
        plant.RegisterCollisionGeometry(body, RigidTransform(), shapes[name], f"g{k}", CoulombFriction(1.0, 1.0))
    plant.Finalize()
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    context = plant.GetMyContextFromRoot(root)
    closed = not {"cylinder", "ellipsoid", "capsule"} & {first, second} or second == "plane" or first == "ball"
    exact = closed and (first, second) not in (("ball", "ellipsoid"), ("box", "box"))  # it prefers faces of boxes
    rng = np.random.default_rng(23)
    pair = Pair(SOLIDS[first], SOLIDS[second], compiled=True)
    found = 0
    for _ in range(60):
        pair.place_randomly(rng)
        if second == "plane":
            pair.place(1, np.eye(3), np.zeros(3))
            pair.place(0, random_rotation(rng), rng.uniform(-0.2, 0.2, 3))
        for body, row in zip(bodies, pair.c.X_WG, strict=True):
            if int(body.index()) > 0:
                R = RotationMatrix(row[:9].reshape(3, 3))
                plant.SetFreeBodyPose(context, body, RigidTransform(R, row[9:]))
        query = graph.get_query_output_port().Eval(graph.GetMyContextFromRoot(root))
        theirs, ours = query.ComputePointPairPenetration(), pair.distance()
        if abs(ours) < 1e-5:
            continue
        assert (len(theirs) == 1) == (ours < 0.0)
        if theirs:
            found += 1
            assert -ours <= theirs[0].depth + 1e-9
            if exact:
                assert theirs[0].depth == pytest.approx(-ours, abs=1e-9)
            if exact and -ours < 0.03:  # deeper, several directions may separate equally well
                np.testing.assert_allclose(theirs[0].nhat_BA_W, pair.normal, atol=1e-6)
    assert found > 5


def test_parallel_segments_are_nearest_at_the_middle_of_their_overlap():
    pair = Pair(
        Solid(CAPSULE, 0, AT_ORIGIN, (0, 0, 1.0), rounding=0.1), Solid(CAPSULE, 0, AT_ORIGIN, (0, 0, 2.0), rounding=0.1)
    )
    assert at(pair, (0.3, 0, 2.5)) == pytest.approx(0.1)
    assert pair.points[0][2] == pytest.approx(1.75)  # between 1.5 and 2
    assert at(pair, (0, 0.3, 4.0)) == pytest.approx(np.hypot(0.3, 1.0) - 0.2)


def test_a_ball_in_a_thin_disc_leaves_through_the_cap():
    pair = Pair(Solid(BALL, 0, AT_ORIGIN, rounding=0.01), Solid(CYLINDER, 0, AT_ORIGIN, (1.0, 1.0, 0.02)))
    assert at(pair, (0.3, 0.0, -0.005)) == pytest.approx(-0.015 - 0.01)
    np.testing.assert_allclose(pair.normal, [0, 0, -1])
