"""Contact points of many solids: pairs that are found, points of faces, laws of pairs, room."""

import itertools

import numpy as np
import pytest
from solid_pairs import AT_ORIGIN, NO_FILTERS, hull_vertices, random_rotation, solids

from mbcli.engine.collision.arrays import Collision, Solid, filter_words
from mbcli.engine.contact.arrays import ContactPoints
from mbcli.engine.fields.collision_fields import (
    BALL,
    BOX,
    CAPSULE,
    COLLISION_AT_CONVEX,
    COLLISION_BUILT,
    COLLISION_NEEDED,
    COLLISION_PAIRS,
    COLLISION_STATUS,
    COLLISION_TOO_MANY_PAIRS,
    COLLISION_TOO_MANY_POINTS,
    CONVEX,
    CYLINDER,
    HALF_SPACE,
)
from mbcli.engine.runtime.linking import load_kernels
from mbcli.meshes.hull import hull_of
from mbcli.meshes.triangles import convex_hull

K = 1000.0


class Places:
    """Poses of bodies, as the search reads them."""

    def __init__(self, poses):
        self.X_WB = np.array(poses, dtype=float)


def row(R=None, p=(0.0, 0.0, 0.0)):
    return np.concatenate([np.ravel(np.eye(3) if R is None else R), p])


def contacts(parts, poses, filters=NO_FILTERS, room=500, **options):
    """Search among solids, interpreted: (Collision, ContactPoints)."""
    c, points = Collision(parts, filters, **options), ContactPoints(room)
    load_kernels(False).find_contacts(None, Places(poses), c, points)
    return c, points


def material(stiffness=K, dissipation=0.0, relaxation=0.0, dynamic=0.5, static=0.5):
    return stiffness, dissipation, relaxation, dynamic, static


# ---------------------------------------------------------------------------------------- which pairs


def random_scene(rng, count=60):
    """Solids of all kinds, sizes from 0.02 to 2 m, some planes and some on the same bodies."""
    kinds = [s for name, s in solids().items() if name != "plane"]
    parts, poses = [], [row()]
    for k in range(count):
        part = kinds[k % len(kinds)]
        if part.kind in (BALL, BOX):
            factor = 2.0 ** rng.uniform(-3, 3)
            size = tuple(np.array(part.size) * factor)
            part = Solid(part.kind, 0, part.X_BG, size, part.rounding * factor)
        if k % 5:
            poses.append(row(random_rotation(rng), rng.uniform(-1, 1, 3)))
        parts.append(part.with_body(len(poses) - 1))
    parts.append(Solid(HALF_SPACE, 0, AT_ORIGIN))
    parts.append(Solid(BOX, 0, row(p=(0, 0, -1.0)), (5.0, 5.0, 0.9)))
    return parts, poses


@pytest.mark.parametrize("seed", range(4))
def test_all_pairs_that_overlap_are_found_and_no_other(seed):
    rng = np.random.default_rng(seed)
    parts, poses = random_scene(rng)
    for k, part in enumerate(parts):
        object.__setattr__(part, "filter_row", k % 3)
    forbidden = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=bool)
    c, points = contacts(parts, poses, filter_words(forbidden), single_points=True)
    assert not c.counts[COLLISION_STATUS]
    found = {tuple(pair) for pair in points.geometry[: points.count[0]]}
    nearest = load_kernels(False).solids_nearest
    expected = {
        (a, b)
        for a, b in itertools.combinations(range(len(parts)), 2)
        if parts[a].body != parts[b].body and not forbidden[a % 3, b % 3] and nearest(c, a, b, 0.0) < 0.0
    }
    assert found == expected and len(expected) > 20


def test_pairs_that_were_kept_give_the_same_points_as_pairs_found_anew():
    rng = np.random.default_rng(9)
    count = 40
    parts = [Solid(BALL, b, AT_ORIGIN, rounding=0.1, material=material()) for b in range(1, count + 1)]
    find = load_kernels(False).find_contacts
    kept, points = Collision(parts, NO_FILTERS), ContactPoints(3000)
    p = rng.uniform(-0.5, 0.5, (count + 1, 3))
    rebuilt = 0
    for _ in range(20):
        p += rng.normal(size=p.shape) * 0.002
        poses = [row(p=x) for x in p]
        before = kept.built_at.copy()
        find(None, Places(poses), kept, points)
        rebuilt += not np.array_equal(before, kept.built_at)
        _, fresh = contacts(parts, poses, room=3000)
        n = points.count[0]
        assert n == fresh.count[0] > 5
        for name in ("geometry", "position", "normal", "distance", "law"):
            np.testing.assert_array_equal(getattr(points, name)[:n], getattr(fresh, name)[:n])
    assert 1 <= rebuilt < 20


@pytest.mark.parametrize(("spacing", "pairs"), [(0.25, 0), (0.21, 3 * 9 * 9 * 8)])
def test_kept_pairs_are_those_of_neighbours(spacing, pairs):
    """Balls of 0.2 m on a grid: those 0.05 m apart are farther than the skin of 0.02 m."""
    grid = np.array(list(itertools.product(range(9), repeat=3))) * spacing
    parts = [Solid(BALL, b, AT_ORIGIN, rounding=0.1) for b in range(1, len(grid) + 1)]
    c, _ = contacts(parts, [row(), *(row(p=p) for p in grid)])
    assert c.counts[COLLISION_PAIRS] == pairs


def test_solids_of_one_body_and_of_world_do_not_meet():
    parts = [Solid(BALL, b, AT_ORIGIN, rounding=0.1) for b in (0, 0, 1, 1, 2)]
    _, points = contacts(parts, [row()] * 3)
    bodies = {tuple(pair) for pair in points.body[: points.count[0]]}
    assert bodies == {(0, 1), (0, 2), (1, 2)} and points.count[0] == 4 + 2 + 2


def test_overflow_is_a_status_and_writes_nowhere_else():
    parts = [Solid(BALL, b, AT_ORIGIN, rounding=0.1) for b in range(1, 11)]
    poses = [row()] * 11
    c, points = contacts(parts, poses, room=7)
    assert c.counts[COLLISION_STATUS] == COLLISION_TOO_MANY_POINTS and points.count[0] == 7
    c, points = contacts(parts, poses, pairs=9)
    assert c.counts[COLLISION_STATUS] == COLLISION_TOO_MANY_PAIRS and c.counts[COLLISION_PAIRS] == 9
    c, points = contacts(parts, poses)
    assert c.counts[COLLISION_STATUS] == 0 and points.count[0] == 45 and c.counts[COLLISION_BUILT] == 1


def test_a_margin_reports_what_is_near():
    parts = [Solid(BALL, b, AT_ORIGIN, rounding=0.1) for b in (1, 2)]
    poses = [row(), row(), row(p=(0.21, 0, 0))]
    assert contacts(parts, poses)[1].count[0] == 0
    _, points = contacts(parts, poses, margin=0.02)
    assert points.count[0] == 1 and points.distance[0] == pytest.approx(0.01)


# --------------------------------------------------------------------------------------------- the law


def test_numbers_of_a_pair_are_combined_as_specified():
    """k in series, d weighed by the other's stiffness, relaxation times added, friction by 2 a b / (a + b)."""
    a, b = material(1e5, 5.0, 0.1, 0.4, 0.6), material(3e5, 20.0, 0.3, 0.8, 0.9)
    parts = [Solid(BALL, k, AT_ORIGIN, rounding=0.1, material=m) for k, m in ((1, a), (2, b))]
    _, points = contacts(parts, [row(), row(), row(p=(0, 0, 0.19))])
    assert points.count[0] == 1
    np.testing.assert_allclose(points.law[0, :5], [0.75e5, 0.75 * 5 + 0.25 * 20, 0.4, 2 * 0.32 / 1.2, 2 * 0.54 / 1.5])
    # between 0.1, the top of A, and 0.09, the bottom of B, at the side of the stiffer: as pydrake has it
    np.testing.assert_allclose(points.position[0], [0, 0, 0.25 * 0.1 + 0.75 * 0.09], atol=1e-15)
    np.testing.assert_allclose(points.normal[0], [0, 0, -1])
    assert points.distance[0] == pytest.approx(-0.01)
    assert points.body[0].tolist() == [1, 2] and points.geometry[0].tolist() == [0, 1]


def test_without_friction_there_is_none():
    parts = [Solid(BALL, k, AT_ORIGIN, rounding=0.1, material=material(dynamic=0.0, static=0.0)) for k in (1, 2)]
    _, points = contacts(parts, [row()] * 3)
    assert points.law[0, 3:5].tolist() == [0.0, 0.0]


# ------------------------------------------------------------------------------------------- manifolds


CUBE = np.array(list(itertools.product((-0.1, 0.1), repeat=3)))


def resting(kind):
    """A solid of that kind on body 1, whose underside is 0.1 m below its middle."""
    return {
        "box": lambda: Solid(BOX, 1, AT_ORIGIN, (0.1, 0.1, 0.1), material=material()),
        "cylinder": lambda: Solid(CYLINDER, 1, AT_ORIGIN, (0.1, 0.1, 0.1), material=material()),
        "convex": lambda: Solid(CONVEX, 1, AT_ORIGIN, hull=hull_of(CUBE, convex_hull(CUBE, "c")), material=material()),
        "capsule": lambda: Solid(
            CAPSULE, 1, row([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]), (0, 0, 0.1), rounding=0.1, material=material()
        ),
        "ball": lambda: Solid(BALL, 1, AT_ORIGIN, rounding=0.1, material=material()),
    }[kind]()


def floor(kind):
    """A solid on World whose top is z = 0."""
    if kind == "plane":
        return Solid(HALF_SPACE, 0, AT_ORIGIN, material=material())
    big = Solid(BOX, 0, row(p=(0, 0, -0.5)), (1.0, 1.0, 0.5), material=material())
    if kind == "box":
        return big
    corners = CUBE * [10, 10, 5]
    return Solid(CONVEX, 0, big.X_BG, hull=hull_of(corners, convex_hull(corners, "f")), material=material())


POINTS = {"box": 4, "cylinder": 4, "convex": 4, "capsule": 2, "ball": 1}


@pytest.mark.parametrize("ground", ["plane", "box", "convex"])
@pytest.mark.parametrize("kind", POINTS)
@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_what_lies_flat_touches_at_its_corners_and_is_as_stiff_as_at_one_point(kind, ground, turn):
    s, c = np.sin(turn), np.cos(turn)
    pose = row([[c, -s, 0], [s, c, 0], [0, 0, 1]], (0.2, 0.1, 0.099))
    for order in (1, -1):
        parts = [floor(ground), resting(kind)][::order]
        _, points = contacts(parts, [row(), pose])
        n = points.count[0]
        assert n == POINTS[kind]
        up = -1.0 if order == 1 else 1.0  # out of B into A
        np.testing.assert_allclose(points.normal[:n], np.tile([0, 0, up], (n, 1)), atol=1e-6)
        np.testing.assert_allclose(points.distance[:n], -0.001, atol=1e-7)
        np.testing.assert_allclose(points.position[:n, 2], -0.0005, atol=1e-7)
        assert points.law[:n, 0].sum() == pytest.approx(K / 2)
        np.testing.assert_allclose(points.law[:n, 0], K / 2 / n, rtol=1e-3)
        np.testing.assert_allclose(points.position[:n].mean(axis=0)[:2], [0.2, 0.1], atol=1e-3)
        _, points = contacts(parts, [row(), pose], single_points=True)
        assert points.count[0] == 1 and points.law[0, 0] == pytest.approx(K / 2)
        assert points.distance[0] == pytest.approx(-0.001, abs=1e-7)


def test_boxes_that_overlap_in_part_touch_at_the_corners_of_the_common_area():
    low = Solid(BOX, 1, AT_ORIGIN, (0.1, 0.1, 0.1))
    high = Solid(BOX, 2, AT_ORIGIN, (0.1, 0.1, 0.1))
    _, points = contacts([low, high], [row(), row(), row(p=(0.15, 0.05, 0.199))])
    corners = {tuple(np.round(p[:2], 9)) for p in points.position[: points.count[0]]}
    assert corners == {(0.05, -0.05), (0.1, -0.05), (0.05, 0.1), (0.1, 0.1)}


def tilted_box(angle, height_of_lowest=-1e-3):
    """Contacts of a cube on a plane, tilted about y, its lowest edge at a height."""
    s, c = np.sin(angle), np.cos(angle)
    lowest = -0.1 * (abs(s) + abs(c))
    pose = row([[c, 0, s], [0, 1, 0], [-s, 0, c]], (0, 0, height_of_lowest - lowest))
    _, points = contacts([resting("box"), floor("plane")], [row(), pose])
    n = points.count[0]
    force = points.law[:n, 0] * -points.distance[:n]
    return n, force.sum(), force @ points.position[:n, 0]


def test_force_and_moment_change_continuously_from_a_face_to_an_edge():
    assert tilted_box(0.0)[0] == 4 and tilted_box(0.4)[0] == 2
    angles = np.linspace(-0.3, 0.3, 1201)
    forces, moments = np.array([tilted_box(a)[1:] for a in angles]).T
    assert abs(np.diff(forces)).max() < 0.05 * K / 2 * 1e-3
    assert abs(np.diff(moments)).max() < 0.08 * K / 2 * 1e-3 * 0.1
    assert forces[0] == pytest.approx(K / 2 * 1e-3)  # on its edge it is as stiff as flat
    assert forces[600] == pytest.approx(K / 2 * 1e-3)
    assert (np.sign(moments[:600]) == -np.sign(moments[:600:-1])).all()


def test_edges_that_cross_touch_at_one_point():
    s = np.sqrt(0.5)
    about_x = [[1, 0, 0], [0, s, -s], [0, s, s]]
    about_y = [[s, 0, s], [0, 1, 0], [-s, 0, s]]
    parts = [Solid(BOX, b, AT_ORIGIN, (1.0, 1.0, 1.0)) for b in (1, 2)]
    _, points = contacts(parts, [row(), row(about_x, (0, 0, 2 * np.sqrt(2) - 0.05)), row(about_y)])
    assert points.count[0] == 1 and points.distance[0] == pytest.approx(-0.05)


@pytest.mark.usefixtures("compiled_here")
def test_interpreted_and_compiled_searches_agree():
    """The compiled one fuses products and sums: equal up to rounding."""
    from mbcli.engine.runtime.model import Data
    from mbcli.math import RigidTransform
    from mbcli.multibody.plant import MultibodyPlant
    from mbcli.multibody.tree import SpatialInertia

    rng = np.random.default_rng(4)
    parts, poses = random_scene(rng, 40)
    plant = MultibodyPlant(0.0)
    for b in range(1, len(poses)):
        plant.AddRigidBody(f"b{b}", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for body, pose in zip(plant.elements.bodies[1:], poses[1:], strict=True):
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = pose[:9].reshape(3, 3), pose[9:]
        plant.SetFreeBodyPose(context, body, RigidTransform(X))
    found = []
    for kind in (False, True):
        c, points, data = Collision(parts, NO_FILTERS), ContactPoints(500), Data(plant.model.sizes)
        data.q[:] = plant.GetPositions(context)
        handles = [thing.handle(kind) for thing in (plant.model, data, c, points)]
        load_kernels(kind).place_solids_at(*handles[:3])
        if kind:
            c.ready_compiled_search(load_kernels(True), handles[3])
            c.addresses[COLLISION_AT_CONVEX] = COLLISION_NEEDED
            c.ready_what_is_needed(load_kernels(True))
        load_kernels(kind).find_contacts_called(handles[0], handles[1], handles[3], handles[2], 0.0)
        found.append(points)
    n = found[0].count[0]
    assert n == found[1].count[0] > 30
    np.testing.assert_array_equal(found[0].geometry[:n], found[1].geometry[:n])
    np.testing.assert_allclose(found[0].distance[:n], found[1].distance[:n], atol=1e-7)


def test_hulls_of_random_vertices_touch_planes_at_their_lowest_vertex():
    vertices = hull_vertices()
    part = Solid(CONVEX, 1, AT_ORIGIN, hull=hull_of(vertices, convex_hull(vertices, "v")), material=material())
    rng = np.random.default_rng(6)
    for _ in range(20):
        R = random_rotation(rng)
        lowest = (vertices @ R[2]).min()
        _, points = contacts([part, floor("plane")], [row(), row(R, (0, 0, -lowest - 0.002))])
        n = points.count[0]
        assert points.distance[:n].min() == pytest.approx(-0.002)
        assert points.law[:n, 0].sum() <= K / 2 + 1e-9
