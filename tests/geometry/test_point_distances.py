"""Distances of geometries from points: closed forms, and pydrake's."""

import numpy as np
import pytest

from mbcli.geometry import Box, Ellipsoid, SignedDistanceToPoint, Sphere
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from mbcli.multibody.tree import SpatialInertia
from mbcli.systems.framework import DiagramBuilder

SHAPES = {
    "sphere": lambda g: g.Sphere(0.3),
    "box": lambda g: g.Box(0.4, 0.6, 0.8),
    "capsule": lambda g: g.Capsule(0.2, 0.5),
    "cylinder": lambda g: g.Cylinder(0.3, 0.7),
    "plane": lambda g: g.HalfSpace(),
}
POSE = [0.3, -0.2, 0.5], [0.1, 0.2, 0.3]


def query(shapes):
    builder = DiagramBuilder()
    plant, graph = AddMultibodyPlantSceneGraph(builder, 0.0)
    body = plant.AddRigidBody("body", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    X = RigidTransform(RollPitchYaw(POSE[0]), POSE[1])
    for name, shape in shapes.items():
        plant.RegisterCollisionGeometry(body, X, shape, name, CoulombFriction(0.0, 0.0))
    plant.Finalize()
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    return graph.get_query_output_port().Eval(graph.GetMyContextFromRoot(context)), X


def box_distance(p, half):
    q = np.abs(p) - half
    return np.linalg.norm(np.maximum(q, 0.0)) + min(q.max(), 0.0)


CLOSED = {
    "sphere": lambda p: np.linalg.norm(p) - 0.3,
    "box": lambda p: box_distance(p, [0.2, 0.3, 0.4]),
    "capsule": lambda p: np.linalg.norm(p - [0.0, 0.0, np.clip(p[2], -0.25, 0.25)]) - 0.2,
    "cylinder": lambda p: box_distance(np.array([np.hypot(p[0], p[1]), p[2]]), [0.3, 0.35]),
    "plane": lambda p: p[2],
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_distance_is_that_of_the_closed_form_and_its_gradient_leads_to_the_nearest_point(name):
    import mbcli.geometry as g

    queries, X = query({name: SHAPES[name](g)})
    rng = np.random.default_rng(2)
    for p_GQ in rng.uniform(-0.7, 0.7, size=(40, 3)):
        p_WQ = X @ p_GQ
        (found,) = queries.ComputeSignedDistanceToPoint(p_WQ)
        assert isinstance(found, SignedDistanceToPoint)
        assert found.distance == pytest.approx(CLOSED[name](p_GQ), abs=1e-9)
        np.testing.assert_allclose(X @ found.p_GN + found.distance * found.grad_W, p_WQ, atol=1e-8)
        np.testing.assert_allclose(np.linalg.norm(found.grad_W), 1.0, rtol=1e-12)


def test_what_is_farther_away_than_the_threshold_is_left_out():
    queries, X = query({"near": Sphere(0.1), "ellipsoid": Ellipsoid(0.1, 0.2, 0.3), "box": Box(0.1, 0.1, 0.1)})
    assert len(queries.ComputeSignedDistanceToPoint(X @ [0.0, 0.0, 0.5])) == 3
    (found,) = queries.ComputeSignedDistanceToPoint(X @ [0.0, 0.0, 0.5], threshold=0.3)
    assert found.distance == pytest.approx(0.2, abs=1e-6)  # of the ellipsoid
    assert queries.ComputeSignedDistanceToPoint(X @ [0.0, 0.0, 9.0], 1.0) == []


@pytest.mark.peers("pydrake")
def test_distances_from_points_are_those_of_pydrake():
    from pydrake import geometry as drake
    from pydrake.math import RigidTransform as X_, RollPitchYaw as Rpy
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph as add, CoulombFriction as Friction
    from pydrake.multibody.tree import SpatialInertia as M
    from pydrake.systems.framework import DiagramBuilder as Builder

    import mbcli.geometry as ours

    builder = Builder()
    plant, graph = add(builder, 0.0)
    body = plant.AddRigidBody("body", M.SolidSphereWithMass(1.0, 0.1))
    for name, make in SHAPES.items():
        plant.RegisterCollisionGeometry(body, X_(Rpy(POSE[0]), POSE[1]), make(drake), name, Friction(0.0, 0.0))
    plant.Finalize()
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    theirs = graph.get_query_output_port().Eval(graph.GetMyContextFromRoot(context))
    own, X = query({name: make(ours) for name, make in SHAPES.items()})
    for p_GQ in np.random.default_rng(5).uniform(-0.7, 0.7, size=(30, 3)):
        p_WQ = X @ p_GQ
        a = sorted(found.distance for found in own.ComputeSignedDistanceToPoint(p_WQ))
        b = sorted(found.distance for found in theirs.ComputeSignedDistanceToPoint(p_WQ))
        np.testing.assert_allclose(a, b, atol=1e-9)
