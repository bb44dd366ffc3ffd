"""What the inspector of a plant says, against pydrake."""

import importlib

import pytest

pytestmark = pytest.mark.peers("pydrake")


def facts(library):
    """Number of geometries and of pairs that may collide, by EvalSceneGraphInspector, of two balls on a floor."""
    plants, geometry, math, trees, primitives = (
        importlib.import_module(f"{library}.{name}")
        for name in ("multibody.plant", "geometry", "math", "multibody.tree", "systems.framework")
    )
    builder = primitives.DiagramBuilder()
    plant, _ = plants.AddMultibodyPlantSceneGraph(builder, 1e-3)
    friction = plants.CoulombFriction(0.5, 0.4)
    inertia = trees.SpatialInertia(1.0, [0.0, 0.0, 0.0], trees.UnitInertia.SolidSphere(0.1))
    world = plant.world_body()
    plant.RegisterCollisionGeometry(world, math.RigidTransform(), geometry.HalfSpace(), "floor", friction)
    for name in ("one", "two"):
        body = plant.AddRigidBody(name, inertia)
        plant.RegisterCollisionGeometry(body, math.RigidTransform(), geometry.Sphere(0.1), name, friction)
    plant.Finalize()
    diagram = builder.Build()
    context = plant.GetMyContextFromRoot(diagram.CreateDefaultContext())
    inspector = plant.EvalSceneGraphInspector(context)
    return inspector.num_geometries(), len(inspector.GetCollisionCandidates())


def test_the_inspector_counts_what_pydrake_counts():
    assert facts("mbcli") == facts("pydrake") == (3, 3)
