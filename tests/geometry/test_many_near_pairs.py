"""Queries about many solids: the pairs of balls by their centres, whatever there is room for."""

import numpy as np
import pytest

from mbcli.geometry import Sphere
from mbcli.geometry.query_object import ROOM, Solids
from mbcli.math import RigidTransform
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from mbcli.multibody.tree import SpatialInertia
from mbcli.systems.framework import DiagramBuilder

COUNT, RADIUS = 60, 0.1


@pytest.fixture(params=[False, True], ids=["interpreted", "compiled"])
def scene(request, monkeypatch):
    """(plant, its context, the query port, centres (COUNT, 3)) of free balls in random places."""
    monkeypatch.setenv("MBCLI_JIT", str(int(request.param)))
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
    for k in range(COUNT):
        body = plant.AddRigidBody(f"ball{k}", SpatialInertia.SolidSphereWithMass(1.0, RADIUS))
        plant.RegisterCollisionGeometry(body, RigidTransform(), Sphere(RADIUS), f"b{k}", CoulombFriction(0.5, 0.5))
    plant.Finalize()
    diagram = builder.Build()
    context = plant.GetMyMutableContextFromRoot(diagram.CreateDefaultContext())
    return plant, context, plant.get_geometry_query_input_port(), np.random.default_rng(3)


def placed(scene, spread):
    """Balls in a box of this size; the query and the distances of all pairs."""
    plant, context, port, rng = scene
    centres = rng.uniform(-spread, spread, (COUNT, 3))
    for k in range(COUNT):
        plant.SetFreeBodyPose(context, plant.GetBodyByName(f"ball{k}"), RigidTransform(centres[k]))
    apart = np.linalg.norm(centres[:, None] - centres[None], axis=2)[np.triu_indices(COUNT, 1)] - 2.0 * RADIUS
    return port.Eval(context), centres, np.sort(apart)


def test_all_pairs_are_found_however_many_there_are(scene):
    for spread in (0.3, 0.6, 5.0):
        query, _, apart = placed(scene, spread)
        for limit in (0.05, 0.3, np.inf):
            found = sorted(pair.distance for pair in query.ComputeSignedDistancePairwiseClosestPoints(limit))
            np.testing.assert_allclose(found, apart[apart <= limit], atol=1e-14)
        depths = sorted(-pair.depth for pair in query.ComputePointPairPenetration())
        np.testing.assert_allclose(depths, apart[apart < 0.0], atol=1e-14)
        assert len(query.FindCollisionCandidates()) >= len(depths)
        assert query.HasCollisions() == bool(depths)
    assert len(apart) > ROOM


def test_a_broad_phase_without_room_for_all_near_pairs_misses_no_overlap(scene, monkeypatch):
    real = Solids.__init__

    def with_room_for_one(solids, geometries, state):
        real(solids, geometries, state)
        solids.collision = geometries.collision(pairs=1)
        solids.calls = solids._calls(solids.collision)

    monkeypatch.setattr(Solids, "__init__", with_room_for_one)
    for spread in (0.3, 5.0):
        query, _, apart = placed(scene, spread)
        assert query.HasCollisions() == bool(apart[0] < 0.0)


def test_a_point_is_measured_at_its_place_of_each_call(scene):
    query, centres, _ = placed(scene, 1.0)
    for p in ([0.0, 0.0, 0.0], [1.0, -2.0, 0.5], centres[3] + [0.0, 0.01, 0.0]):
        found = query.ComputeSignedDistanceToPoint(p)
        apart = np.linalg.norm(centres - p, axis=1) - RADIUS
        np.testing.assert_allclose([one.distance for one in found], apart, atol=1e-14)
        np.testing.assert_allclose([np.linalg.norm(one.p_GN) for one in found], RADIUS, atol=1e-14)
        near = query.ComputeSignedDistanceToPoint(p, 0.5)
        assert len(near) == int((apart <= 0.5).sum())
