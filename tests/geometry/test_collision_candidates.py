"""Pairs that may collide: those that no filter excludes, found statement by statement."""

import time

import numpy as np
import pytest

from mbcli.geometry import CollisionFilterDeclaration, GeometrySet, SceneGraph, Sphere
from mbcli.math import RigidTransform
from mbcli.multibody.plant import CoulombFriction, MultibodyPlant


def balls(bodies, each):
    """(SceneGraph, identifiers) of bodies with so many balls each."""
    plant, graph = MultibodyPlant(0.001), SceneGraph()
    plant.RegisterAsSourceForSceneGraph(graph)
    ids = []
    for b in range(bodies):
        body = plant.AddRigidBody(f"b{b}")
        for k in range(each):
            ids.append(
                plant.RegisterCollisionGeometry(body, RigidTransform(), Sphere(0.1), f"g{k}", CoulombFriction(0.9, 0.8))
            )
    return graph, ids


@pytest.mark.parametrize("seed", range(6))
def test_candidates_are_the_pairs_that_are_not_filtered(seed):
    graph, ids = balls(7, 2)
    rng = np.random.default_rng(seed)
    manager = graph.collision_filter_manager()

    def some():
        return GeometrySet([ids[k] for k in np.flatnonzero(rng.random(len(ids)) < 0.4)])

    for number in range(12):
        statement = CollisionFilterDeclaration()
        if number % 3 == 0:
            statement.ExcludeWithin(some())
        elif number % 3 == 1:
            statement.ExcludeBetween(some(), some())
        if number % 4 == 3:
            statement.AllowBetween(some(), some()).AllowWithin(some())
        (manager.ApplyTransient if number == 11 and number % 4 != 3 else manager.Apply)(statement)
    inspector = graph.model_inspector()
    ids = sorted(ids)
    wanted = {(a, b) for n, a in enumerate(ids) for b in ids[n + 1 :] if not inspector.CollisionFiltered(a, b)}
    assert 0 < len(wanted) < len(ids) * (len(ids) - 1) / 2
    assert inspector.GetCollisionCandidates() == wanted


def test_many_statements_are_not_asked_for_every_pair():
    graph, ids = balls(400, 1)
    manager = graph.collision_filter_manager()
    for a, b in zip(ids, ids[1:], strict=False):
        manager.Apply(CollisionFilterDeclaration().ExcludeBetween(GeometrySet(a), GeometrySet(b)))
    start = time.process_time()
    found = graph.model_inspector().GetCollisionCandidates()
    assert len(found) == 400 * 399 // 2 - 399
    assert time.process_time() - start < 5.0  # 0.2 s; one question a pair took 9.5 s
