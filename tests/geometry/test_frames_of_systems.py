"""Frames and geometries that a system other than a plant registers: where they are, what they may be, who owns them."""

import numpy as np
import pytest

from mbcli.geometry import (
    Box,
    FramePoseVector,
    GeometryFrame,
    GeometryInstance,
    IllustrationProperties,
    ProximityProperties,
    Role,
    RoleAssign,
    SceneGraph,
    Sphere,
)
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant
from mbcli.multibody.tree import SpatialInertia
from mbcli.systems.framework import DiagramBuilder, LeafSystem, Value
from mbcli.systems.primitives import ConstantValueSource

X_WA = RigidTransform(RollPitchYaw(0.1, -0.4, 0.7), [1.0, 2.0, 3.0])
X_AB = RigidTransform(RollPitchYaw(0.3, 0.2, -0.5), [-0.2, 0.5, 0.1])
X_BG = RigidTransform(RollPitchYaw(0.0, 0.0, 0.2), [0.0, 0.1, 0.0])


def instance(name="g", role="illustration"):
    made = GeometryInstance(X_BG, Sphere(0.1), name)
    if role == "illustration":
        made.set_illustration_properties(IllustrationProperties())
    elif role == "proximity":
        made.set_proximity_properties(ProximityProperties())
    return made


@pytest.fixture
def graph():
    return SceneGraph()


def test_poses_come_from_the_port_of_the_source_frame_by_frame():
    builder = DiagramBuilder()
    plant, graph = AddMultibodyPlantSceneGraph(builder, 0.0)
    body = plant.AddRigidBody("body", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
    plant.Finalize()
    source, A, B = graph.RegisterSource("mover"), GeometryFrame("A"), GeometryFrame("B", 4)
    graph.RegisterFrame(source, A)
    graph.RegisterFrame(source_id=source, parent_id=A.id(), frame=B)
    g = graph.RegisterGeometry(source, B.id(), instance())
    on_body = graph.RegisterGeometry(plant.get_source_id(), plant.GetBodyFrameIdOrThrow(body.index()), instance("tag"))
    poses = FramePoseVector()
    poses.set_value(A.id(), X_WA)
    poses.set_value(B.id(), X_AB)
    given = builder.AddSystem(ConstantValueSource(Value(poses)))
    builder.Connect(given.get_output_port(), graph.get_source_pose_port(source))
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    plant.SetFreeBodyPose(plant.GetMyContextFromRoot(context), body, X_WA)
    query = graph.get_query_output_port().Eval(graph.GetMyContextFromRoot(context))
    for found, expected in (
        (query.GetPoseInWorld(A.id()), X_WA),
        (query.GetPoseInWorld(B.id()), X_WA @ X_AB),
        (query.GetPoseInParent(B.id()), X_AB),
        (query.GetPoseInWorld(g), X_WA @ X_AB @ X_BG),
        (query.GetPoseInWorld(on_body), X_WA @ X_BG),
    ):
        np.testing.assert_allclose(found.GetAsMatrix4(), expected.GetAsMatrix4(), atol=1e-15)
    inspector = query.inspector()
    assert (inspector.GetName(g), inspector.GetName(B.id()), inspector.GetFrameGroup(B.id())) == ("g", "B", 4)
    assert inspector.FramesForSource(source) == {A.id(), B.id()}
    assert (inspector.NumAnchoredGeometries(), inspector.NumDynamicGeometries()) == (0, 2)
    own = plant.get_geometry_query_input_port().Eval(plant.GetMyContextFromRoot(context))
    with pytest.raises(RuntimeError, match="frame 'A' is known at the scene graph's own query port"):
        own.GetPoseInWorld(B.id())


def test_a_scene_graph_without_a_plant_has_no_contact(graph):
    class Still(LeafSystem):
        pass

    source = graph.RegisterSource("still")
    builder = DiagramBuilder()
    builder.AddSystem(graph)
    builder.AddSystem(Still())
    wall = graph.RegisterAnchoredGeometry(source, GeometryInstance(X_WA, Box(1, 1, 1), "wall"))
    diagram = builder.Build()
    query = graph.get_query_output_port().Eval(graph.GetMyContextFromRoot(diagram.CreateDefaultContext()))
    np.testing.assert_array_equal(query.GetPoseInWorld(wall).GetAsMatrix4(), X_WA.GetAsMatrix4())
    assert not query.HasCollisions() and not query.ComputePointPairPenetration()
    assert not query.ComputeSignedDistancePairwiseClosestPoints() and not query.ComputeSignedDistanceToPoint([0, 0, 0])
    with pytest.raises(RuntimeError, match="not a geometry with the proximity role"):
        query.ComputeSignedDistancePairClosestPoints(wall, wall)


def test_a_frame_whose_pose_nobody_gives_is_named(graph):
    source, A = graph.RegisterSource("lost"), GeometryFrame("A")
    graph.RegisterFrame(source, A)
    builder = DiagramBuilder()
    builder.AddSystem(graph)
    context = graph.GetMyContextFromRoot(builder.Build().CreateDefaultContext())
    query = graph.get_query_output_port().Eval(context)
    with pytest.raises(RuntimeError, match="input 'lost_pose' has no value"):
        query.GetPoseInWorld(A.id())
    graph.get_source_pose_port(source).FixValue(context, FramePoseVector())
    with pytest.raises(RuntimeError, match="there is no pose of frame"):
        query.GetPoseInWorld(A.id())


def test_roles_are_given_once_replaced_and_taken(graph):
    source, A = graph.RegisterSource("a"), GeometryFrame("A")
    graph.RegisterFrame(source, A)
    g = graph.RegisterGeometry(source, A.id(), instance(role=None))
    inspector = graph.model_inspector()
    assert inspector.NumGeometriesWithRole(Role.kIllustration) == 0
    with pytest.raises(RuntimeError, match="'g' has no illustration role"):
        graph.AssignRole(source, g, IllustrationProperties(), RoleAssign.kReplace)
    graph.AssignRole(source, g, IllustrationProperties())
    with pytest.raises(RuntimeError, match="'g' already has the illustration role"):
        graph.AssignRole(source, g, IllustrationProperties())
    graph.AssignRole(source, g, IllustrationProperties(), RoleAssign.kReplace)
    assert graph.RemoveRole(source, A.id(), Role.kIllustration) == 1
    assert graph.RemoveRole(source, g, Role.kIllustration) == 0
    graph.RemoveGeometry(source, g)
    assert inspector.num_geometries() == 0 and not inspector.GetGeometries(A.id())


def test_what_collides_belongs_to_plants(graph):
    source, A = graph.RegisterSource("a"), GeometryFrame("A")
    graph.RegisterFrame(source, A)
    for act in (
        lambda: graph.RegisterGeometry(source, A.id(), instance(role="proximity")),
        lambda: graph.RegisterAnchoredGeometry(source, instance(role="proximity")),
        lambda: graph.AssignRole(source, graph.RegisterGeometry(source, A.id(), instance()), ProximityProperties()),
    ):
        with pytest.raises(RuntimeError, match="geometry 'g' has the proximity role, which geometries of plants alone"):
            act()


def test_owners_and_names_are_checked(graph):
    one, two, A = graph.RegisterSource("one"), graph.RegisterSource("two"), GeometryFrame("A")
    graph.RegisterFrame(one, A)
    g = graph.RegisterGeometry(one, A.id(), instance())
    assert graph.SourceIsRegistered(one)
    assert [port.get_name() for port in graph.input_ports()] == [
        "one_pose",
        "one_configuration",
        "two_pose",
        "two_configuration",
    ]
    for act, cause in (
        (lambda: graph.RegisterFrame(one, A), "'A' is registered already"),
        (lambda: graph.RegisterFrame(one, GeometryFrame("A")), "the source has a frame named 'A' already"),
        (lambda: graph.RegisterFrame(two, A.id(), GeometryFrame("B")), "frame 'A' is of another source"),
        (lambda: graph.RegisterGeometry(two, A.id(), instance()), "frame 'A' is of another source"),
        (lambda: graph.AssignRole(two, g, IllustrationProperties()), "geometry 'g' is of another source"),
        (lambda: graph.RegisterFrame(GeometryFrame("x").id(), GeometryFrame("x")), "not a source of this SceneGraph"),
        (lambda: GeometryFrame("x", -1), "must not be negative"),
    ):
        with pytest.raises(RuntimeError, match=cause):
            act()
    graph.RegisterFrame(two, GeometryFrame("A"))
    with pytest.raises(TypeError, match="a GeometryFrame"):
        graph.RegisterFrame(one, "A")


def test_a_plant_outside_of_the_diagram_is_where_its_port_has_it():
    builder = DiagramBuilder()
    graph = builder.AddSystem(SceneGraph())
    plant = MultibodyPlant(0.0)
    plant.RegisterAsSourceForSceneGraph(graph)
    body = plant.AddRigidBody("body", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
    plant.Finalize()
    poses = FramePoseVector()
    poses.set_value(plant.GetBodyFrameIdOrThrow(body.index()), X_WA)
    given = builder.AddSystem(ConstantValueSource(Value(poses)))
    builder.Connect(given.get_output_port(), graph.get_source_pose_port(plant.get_source_id()))
    on_world = graph.RegisterGeometry(plant.get_source_id(), graph.world_frame_id(), instance("sign"))
    context = graph.GetMyContextFromRoot(builder.Build().CreateDefaultContext())
    query = graph.get_query_output_port().Eval(context)
    found = query.GetPoseInWorld(plant.GetBodyFrameIdOrThrow(body.index()))
    np.testing.assert_array_equal(found.GetAsMatrix4(), X_WA.GetAsMatrix4())
    np.testing.assert_array_equal(query.GetPoseInWorld(on_world).GetAsMatrix4(), X_BG.GetAsMatrix4())
