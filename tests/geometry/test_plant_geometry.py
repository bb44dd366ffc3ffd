"""Geometries of plants: registration, properties, filters, queries, and the same in pydrake."""

import re

import numpy as np
import pytest
from repository import MODELS

from mbcli.errors import ModelError
from mbcli.geometry import (
    AddContactMaterial,
    Box,
    CollisionFilterDeclaration,
    Convex,
    GeometryId,
    GeometrySet,
    HalfSpace,
    Mesh,
    ProximityProperties,
    Rgba,
    Role,
    SceneGraph,
    SceneGraphConfig,
    Sphere,
)
from mbcli.math import RigidTransform
from mbcli.multibody.core.point_contacts import point_contacts
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import (
    AddMultibodyPlantSceneGraph,
    CalcContactFrictionFromSurfaceProperties,
    CoulombFriction,
    DiscreteContactApproximation,
    MultibodyPlant,
)
from mbcli.multibody.tree import (
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    SpatialInertia,
)
from mbcli.systems.framework import DiagramBuilder

RUBBER = CoulombFriction(0.9, 0.8)
pytestmark = pytest.mark.usefixtures("interpreted_queries")


@pytest.fixture
def interpreted_queries(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def new_plant(time_step=0.001, config=None):
    plant, graph = MultibodyPlant(time_step), SceneGraph(config)
    plant.RegisterAsSourceForSceneGraph(graph)
    return plant, graph


def add_ball(plant, name, mass=1.0, properties=RUBBER, radius=0.1):
    body = plant.AddRigidBody(name, SpatialInertia.SolidSphereWithMass(mass, radius))
    plant.RegisterCollisionGeometry(body, RigidTransform(), Sphere(radius), f"{name}_ball", properties)
    return body


def add_ground(plant, properties=RUBBER):
    return plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", properties)


# --------------------------------------------------------------------------------------- registration


def test_what_was_registered_is_found_again():
    plant, graph = new_plant()
    body = plant.AddRigidBody("b", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    X_BG = RigidTransform([0.1, 0.2, 0.3])
    collision = plant.RegisterCollisionGeometry(body, X_BG, Sphere(0.1), "c", RUBBER)
    visual = plant.RegisterVisualGeometry(body, X_BG, Box(1, 2, 3), "c", [1.0, 0.0, 0.0, 0.5])
    assert plant.GetCollisionGeometriesForBody(body) == [collision]
    assert plant.GetVisualGeometriesForBody(body) == [visual]
    assert plant.GetCollisionGeometriesForBody(plant.world_body()) == []
    assert plant.num_collision_geometries() == 1
    assert plant.geometry_source_is_registered() and plant.get_source_id().is_valid()
    inspector = graph.model_inspector()
    frame = plant.GetBodyFrameIdOrThrow(body.index())
    assert plant.GetBodyFromFrameId(frame) is body and plant.GetBodyFrameIdIfExists(99) is None
    assert inspector.GetFrameId(collision) == frame and inspector.GetName(frame) == "b"
    assert inspector.GetGeometries(frame, Role.kProximity) == [collision]
    assert inspector.GetName(collision) == "c" and isinstance(inspector.GetShape(visual), Box)
    np.testing.assert_array_equal(inspector.GetPoseInFrame(collision).translation(), [0.1, 0.2, 0.3])
    assert inspector.GetProximityProperties(collision).GetProperty("material", "coulomb_friction") == RUBBER
    assert inspector.GetProximityProperties(visual) is None
    assert inspector.GetIllustrationProperties(visual).GetProperty("phong", "diffuse") == Rgba(1.0, 0.0, 0.0, 0.5)
    assert inspector.GetGeometryIdByName(frame, Role.kProximity, "c") == collision
    assert inspector.NumGeometriesWithRole(Role.kProximity) == 1 and inspector.num_geometries() == 2
    assert inspector.num_frames() == 2 and inspector.NumAnchoredGeometries() == 0
    assert inspector.BelongsToSource(collision, plant.get_source_id())


@pytest.mark.parametrize(
    ("what", "act"),
    [
        ("already", lambda plant, graph, body: plant.RegisterAsSourceForSceneGraph(graph)),
        ("no scene graph", lambda plant, graph, body: MultibodyPlant(0.0).CollectRegisteredGeometries([])),
        ("no scene graph", lambda plant, graph, body: MultibodyPlant(0.0).RegisterAsSourceForSceneGraph(None)),
        ("already", lambda plant, graph, body: register(plant, body, "first")),
        ("name", lambda plant, graph, body: register(plant, body, "")),
        ("coulomb_friction", lambda plant, graph, body: register(plant, body, "x", ProximityProperties())),
        ("not part", lambda plant, graph, body: register(plant, MultibodyPlant(0.0).world_body(), "x")),
        ("no geometry frame", lambda plant, graph, body: plant.GetBodyFrameIdOrThrow(7)),
        ("not a geometry", lambda plant, graph, body: graph.model_inspector().GetShape(GeometryId.get_new_id())),
        ("in \\[0, 1\\]", lambda plant, graph, body: paint(plant, body, [2.0, 0.0, 0.0, 1.0])),
        ("finalized", lambda plant, graph, body: (plant.Finalize(), register(plant, body, "late"))),
    ],
)
def test_registration_refuses(what, act):
    plant, graph = new_plant()
    body = plant.AddRigidBody("b")
    register(plant, body, "first")
    with pytest.raises(RuntimeError, match=what):
        act(plant, graph, body)


def register(plant, body, name, properties=RUBBER):
    return plant.RegisterCollisionGeometry(body, RigidTransform(), Sphere(0.1), name, properties)


def paint(plant, body, color):
    return plant.RegisterVisualGeometry(body, RigidTransform(), Sphere(0.1), "v", color)


def test_without_a_scene_graph_nothing_can_be_registered_and_files_are_read_without_geometry():
    plant = MultibodyPlant(0.0)
    with pytest.raises(RuntimeError, match="no scene graph"):
        register(plant, plant.world_body(), "g")
    Parser(plant).AddModelsFromString(TWO_LINKS, "urdf")
    assert plant.num_collision_geometries() == 0


def test_friction():
    """Check 18: 2 mu1 mu2 / (mu1 + mu2), nothing where one has none."""
    with pytest.raises(RuntimeError, match="negative"):
        CoulombFriction(-0.1, -0.2)
    with pytest.raises(RuntimeError, match="greater"):
        CoulombFriction(0.5, 0.6)
    combine = CalcContactFrictionFromSurfaceProperties
    assert combine(CoulombFriction(), CoulombFriction()) == CoulombFriction(0.0, 0.0)
    assert combine(RUBBER, RUBBER).static_friction() == pytest.approx(0.9)
    mixed = combine(RUBBER, CoulombFriction(0.1, 0.1))
    assert mixed == combine(CoulombFriction(0.1, 0.1), RUBBER)
    assert mixed.static_friction() == pytest.approx(0.18) and mixed.dynamic_friction() == pytest.approx(0.16 / 0.9)


def test_properties():
    properties = ProximityProperties()
    AddContactMaterial(dissipation=1.0, point_stiffness=2.0, friction=RUBBER, properties=properties)
    assert properties.GetProperty("material", "point_contact_stiffness") == 2.0
    assert properties.GetPropertyOrDefault("material", "nothing", 3.0) == 3.0
    assert properties.GetGroupNames() == {"material"} and len(properties.GetPropertiesInGroup("material")) == 3
    for act in (
        lambda: properties.GetProperty("material", "nothing"),
        lambda: properties.GetProperty("nothing", "nothing"),
        lambda: properties.AddProperty("material", "coulomb_friction", RUBBER),
        lambda: AddContactMaterial(properties, dissipation=2.0),
        lambda: AddContactMaterial(ProximityProperties(), dissipation=-1.0),
        lambda: AddContactMaterial(ProximityProperties(), point_stiffness=0.0),
    ):
        with pytest.raises(RuntimeError):
            act()
    properties.UpdateProperty("material", "point_contact_stiffness", 5.0)
    assert properties.GetProperty("material", "point_contact_stiffness") == 5.0
    assert properties.RemoveProperty("material", "point_contact_stiffness")
    assert not properties.HasProperty("material", "point_contact_stiffness")


# ------------------------------------------------------------------------------------- what it is made of


def compiled_materials(plant):
    plant.Finalize()
    return [solid.material for solid in plant.compiled_geometries().solids]


@pytest.mark.parametrize("allowance", [1e-3, 4e-3])
def test_default_stiffness_carries_the_heaviest_body_at_the_allowance(allowance):
    """As pydrake has it: pairs k = m g / allowance, dissipation 1 / (w allowance) with w = sqrt(g / allowance)."""
    plant, _ = new_plant()
    plant.set_penetration_allowance(allowance)
    add_ball(plant, "light")
    add_ball(plant, "heavy", mass=3.0)
    depth = min(allowance, 2e-3)  # a fiftieth of the radius, so that what is small stands too
    for k, d, tau, dynamic, static in compiled_materials(plant):
        assert k / 2 == pytest.approx(3.0 * 9.81 / depth)
        assert d == pytest.approx(1.0 / np.sqrt(9.81 * depth))
        assert tau == pytest.approx(0.1 * np.sqrt(min(1.0, depth / 1e-3))) and (dynamic, static) == (0.8, 0.9)


def test_own_properties_go_before_those_of_the_scene_and_these_before_defaults():
    config = SceneGraphConfig()
    config.default_proximity_properties.point_stiffness = 7e4
    config.default_proximity_properties.hunt_crossley_dissipation = None
    plant, _ = new_plant(config=config)
    own = ProximityProperties()
    AddContactMaterial(own, dissipation=0.0, point_stiffness=123.0, friction=RUBBER)
    own.AddProperty("material", "relaxation_time", 0.25)
    add_ball(plant, "own", properties=own)
    add_ball(plant, "other")
    (k, d, tau, *_), (k_other, d_other, tau_other, *_) = compiled_materials(plant)
    assert (k, d, tau) == (123.0, 0.0, 0.25)
    assert (k_other, tau_other) == (7e4, 0.1) and d_other == pytest.approx(1.0 / np.sqrt(9.81 * 1e-4))


def test_sap_needs_relaxation_times_where_the_scene_has_none():
    config = SceneGraphConfig()
    config.default_proximity_properties.relaxation_time = None
    plant, _ = new_plant(config=config)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    add_ball(plant, "rattle")
    plant.Finalize()
    with pytest.raises(RuntimeError, match="'rattle_ball' of body 'rattle' .*relaxation_time"):
        plant.compiled_geometries()


def cube_file(folder, name="cube.obj"):
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    sides = [(1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a} {b} {c} {d}" for a, b, c, d in sides]
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_meshes_collide_by_their_convex_hull(tmp_path):
    path = cube_file(tmp_path)
    hollow = tmp_path / "hollow.obj"
    text = path.read_text().replace("f 1 3 4 2", "v -0.5 0 0\nf 1 3 9\nf 3 4 9\nf 4 2 9\nf 2 1 9")
    hollow.write_text(text)
    plant, _ = new_plant()
    body = plant.AddRigidBody("b", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    for k, shape in enumerate((Mesh(path, 0.1), Convex(hollow, 0.1), Mesh(hollow, 0.1))):
        plant.RegisterCollisionGeometry(body, RigidTransform(), shape, f"m{k}", RUBBER)
    add_ground(plant)
    plant.Finalize()
    geometries = plant.compiled_geometries()
    (note,) = geometries.notes
    assert note.startswith("meshes that are not convex collide by their convex hulls: hollow.obj; decompose=True")
    context = plant.CreateDefaultContext()
    plant.SetFreeBodyPose(context, body, RigidTransform([0.0, 0.0, 0.09]))
    pairs = plant.get_geometry_query_input_port().Eval(context).ComputePointPairPenetration()
    np.testing.assert_allclose([pair.depth for pair in pairs], [0.01] * 3)


def test_a_mesh_that_cannot_be_read_names_its_geometry(tmp_path):
    path = tmp_path / "bad.obj"
    path.write_text("nothing\n")
    plant, _ = new_plant()
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), Mesh(path), "broken", RUBBER)
    plant.Finalize()
    with pytest.raises(ModelError, match=r"geometry 'broken': .*bad\.obj"):
        plant.compiled_geometries()


# -------------------------------------------------------------------------------------------- filters


def candidates(plant, graph):
    inspector = graph.model_inspector()
    names = {}
    for body in plant.elements.bodies:
        for g in plant.GetCollisionGeometriesForBody(body):
            names[g] = body.name()
    return sorted(tuple(sorted((names[a], names[b]))) for a, b in inspector.GetCollisionCandidates())


def chain(adjacent=True):
    """World -r- b0 -weld- b1 -r- b2 -floating- b3, a ball on each, World included."""
    plant, graph = new_plant()
    plant.set_adjacent_bodies_collision_filters(adjacent)
    b = [add_ball(plant, f"b{k}") for k in range(4)]
    register(plant, plant.world_body(), "fixed")
    plant.WeldFrames(b[0].body_frame(), b[1].body_frame())
    plant.AddJoint(RevoluteJoint("r", b[1].body_frame(), b[2].body_frame(), [0, 0, 1]))
    plant.AddJoint(RevoluteJoint("w", plant.world_frame(), b[0].body_frame(), [0, 0, 1]))
    plant.AddJoint(QuaternionFloatingJoint("q", b[2].body_frame(), b[3].body_frame()))
    plant.Finalize()
    return plant, graph


@pytest.mark.parametrize("adjacent", [True, False])
def test_neighbours_and_welded_bodies_do_not_collide(adjacent):
    """Check 24: what pydrake 1.51 gives for these bodies; joints to World and of six degrees of freedom let collide."""
    expected = [("b0", "b2"), ("b0", "b3"), ("b0", "world"), ("b1", "b3"), ("b1", "world")]
    expected += [("b2", "b3"), ("b2", "world"), ("b3", "world")] + ([] if adjacent else [("b1", "b2")])
    plant, graph = chain(adjacent)
    assert candidates(plant, graph) == sorted(expected)
    query = plant.get_geometry_query_input_port().Eval(plant.CreateDefaultContext())
    assert len(query.ComputePointPairPenetration()) == len(expected)  # all lie at the same place


def test_declarations_leave_out_and_take_in():
    plant, graph = chain()
    manager = graph.collision_filter_manager()
    b0, b3, world = (plant.CollectRegisteredGeometries([plant.GetBodyByName(n)]) for n in ("b0", "b3", "world"))
    query = plant.get_geometry_query_input_port().Eval(plant.CreateDefaultContext())
    manager.Apply(CollisionFilterDeclaration().ExcludeBetween(b0, b3).ExcludeBetween(world, b3))
    assert ("b0", "b3") not in candidates(plant, graph) and ("b3", "world") not in candidates(plant, graph)
    assert len(query.ComputePointPairPenetration()) == 6
    manager.Apply(CollisionFilterDeclaration().AllowBetween(b0, b3))
    assert ("b0", "b3") in candidates(plant, graph) and ("b3", "world") not in candidates(plant, graph)
    everything = plant.CollectRegisteredGeometries(plant.elements.bodies)
    transient = manager.ApplyTransient(CollisionFilterDeclaration().ExcludeWithin(everything))
    assert candidates(plant, graph) == [] and manager.IsActive(transient)
    assert query.ComputePointPairPenetration() == [] and not query.HasCollisions()
    with pytest.raises(RuntimeError, match="transient"):
        manager.Apply(CollisionFilterDeclaration())
    assert manager.RemoveDeclaration(transient) and not manager.RemoveDeclaration(transient)
    assert len(query.ComputePointPairPenetration()) == 7
    with pytest.raises(RuntimeError, match="not a geometry"):
        manager.Apply(CollisionFilterDeclaration().ExcludeWithin(GeometrySet(GeometryId.get_new_id())))


TWO_LINKS = """<robot name="r">
  <link name="a"><collision name="c"><geometry><sphere radius="0.1"/></geometry>
    <drake:proximity_properties xmlns:drake="d"><drake:mu_static value="0.7"/></drake:proximity_properties></collision>
    <visual><geometry><sphere radius="0.1"/></geometry><material name="red"><color rgba="1 0 0 1"/></material></visual>
  </link>
  <link name="b"><collision><geometry><box size="1 1 1"/></geometry></collision>
    <collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <link name="c"><collision><geometry><cylinder radius="1" length="2"/></geometry></collision></link>
  <joint name="j" type="floating"><parent link="a"/><child link="b"/></joint>
  <drake:collision_filter_group xmlns:drake="d" name="g"><drake:member link="a"/><drake:member link="c"/>
    <drake:ignored_collision_filter_group name="g"/></drake:collision_filter_group>
</robot>"""


def test_geometries_and_filter_groups_of_files():
    builder = DiagramBuilder()
    plant, graph = AddMultibodyPlantSceneGraph(builder, 0.001)
    Parser(plant).AddModelsFromString(TWO_LINKS, "urdf")
    plant.Finalize()
    inspector = graph.model_inspector()
    a, b = plant.GetBodyByName("a"), plant.GetBodyByName("b")
    (ball,) = plant.GetCollisionGeometriesForBody(a)
    assert inspector.GetName(ball) == "r::c" and inspector.GetShape(ball).radius() == 0.1
    assert inspector.GetName(inspector.GetFrameId(ball)) == "r::a"
    friction = [
        inspector.GetProximityProperties(g).GetProperty("material", "coulomb_friction")
        for body in (a, b)
        for g in plant.GetCollisionGeometriesForBody(body)
    ]
    assert friction == [CoulombFriction(0.7, 0.7), CoulombFriction(1.0, 1.0), CoulombFriction(1.0, 1.0)]
    names = [inspector.GetName(g) for g in plant.GetCollisionGeometriesForBody(b)]
    assert len(set(names)) == 2
    (visual,) = plant.GetVisualGeometriesForBody(a)
    assert inspector.GetIllustrationProperties(visual).GetProperty("phong", "diffuse") == Rgba(1.0, 0.0, 0.0, 1.0)
    assert candidates(plant, graph) == [("a", "b"), ("a", "b"), ("b", "c"), ("b", "c")]


# ----------------------------------------------------------------------------------------- queries, forces


def test_queries_follow_the_context():
    plant, graph = new_plant()
    ball = add_ball(plant, "ball")
    add_ground(plant)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    query = plant.get_geometry_query_input_port().Eval(context)
    plant.SetFreeBodyPose(context, ball, RigidTransform([1.0, 2.0, 0.09]))
    (pair,) = query.ComputePointPairPenetration()
    assert pair.depth == pytest.approx(0.01) and pair.id_A < pair.id_B
    np.testing.assert_allclose(pair.p_WCa, [1, 2, -0.01])
    np.testing.assert_allclose(pair.p_WCb, [1, 2, 0])
    np.testing.assert_allclose(pair.nhat_BA_W, [0, 0, 1])
    plant.SetFreeBodyPose(context, ball, RigidTransform([1.0, 2.0, 0.5]))
    assert query.ComputePointPairPenetration() == [] and not query.HasCollisions()
    (apart,) = query.ComputeSignedDistancePairwiseClosestPoints()
    assert apart.distance == pytest.approx(0.4)
    np.testing.assert_allclose(apart.p_ACa, [0, 0, -0.1])
    np.testing.assert_allclose(apart.p_BCb, [1, 2, 0])
    assert query.ComputeSignedDistancePairwiseClosestPoints(0.39) == []
    assert query.ComputeSignedDistancePairClosestPoints(apart.id_B, apart.id_A).distance == pytest.approx(0.4)
    np.testing.assert_allclose(query.GetPoseInWorld(apart.id_A).translation(), [1, 2, 0.5])


def test_contacts_of_a_moving_body():
    plant, _ = new_plant()
    plant.set_penetration_allowance(1e-3)
    add_ground(plant)
    ball = add_ball(plant, "ball")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetFreeBodyPose(context, ball, RigidTransform([0.0, 0.0, 0.0995]))
    v = np.zeros(6)
    v[1], v[3], v[5] = 2.0, 0.3, -0.01  # spins about y, moves along x, sinks
    plant.SetVelocities(context, v)
    (contact,) = point_contacts(plant, context)
    assert int(contact.bodyA_index()) == 0 and contact.bodyB_index() == ball.index()
    assert contact.separation_speed() == pytest.approx(-0.01)
    slip = 0.3 + 2.0 * contact.contact_point()[2] - 2.0 * 0.0995
    assert contact.slip_speed() == pytest.approx(abs(slip))
    k, d = 9.81 / 1e-3, 1.0 / np.sqrt(9.81e-3)
    f = k * 0.0005 * (1.0 + 0.01 * d)
    np.testing.assert_allclose(contact.contact_force(), [-0.8 * f * np.sign(slip), 0.0, f], atol=1e-9)
    assert contact.point_pair().depth == pytest.approx(0.0005)


# ---------------------------------------------------------------------------------------------- peers

FILES = {  # file: how many overlaps there are at least; only the feet and hands of Atlas collide
    "atlas/atlas_minimal_contact.urdf": 0,
    "iiwa14/iiwa14_primitive_collision.urdf": 4,
    "iiwa14/iiwa14_spheres_collision.urdf": 4,
    "allegro/allegro_hand_description_right.sdf": 4,
}


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("file", FILES)
def test_collision_candidates_and_overlaps_of_robots_are_those_of_pydrake(file):
    import pydrake.multibody.parsing
    import pydrake.multibody.plant
    import pydrake.systems.framework
    from pydrake import multibody

    path = MODELS / file
    if not path.exists():
        pytest.skip("no model files: set MBCLI_MODELS")
    builder = DiagramBuilder()
    ours, graph = AddMultibodyPlantSceneGraph(builder, 0.001)
    # what is only seen needs mesh files that are not here
    text = re.sub(r"<visual[ >].*?</visual>", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"<collision(?:(?!</collision>).)*<mesh.*?</collision>", "", text, flags=re.DOTALL)
    assert "package://" not in re.sub("<!--.*?-->", "", text, flags=re.DOTALL)
    Parser(ours).AddModelsFromString(text, path.suffix[1:])
    ours.Finalize()
    their_builder = pydrake.systems.framework.DiagramBuilder()
    theirs, their_graph = multibody.plant.AddMultibodyPlantSceneGraph(their_builder, 0.001)
    multibody.parsing.Parser(theirs).AddModelsFromString(text, path.suffix[1:])
    theirs.Finalize()
    root = their_builder.Build().CreateDefaultContext()

    def names(plant, bodies):
        """{geometry: (body, its number on the body)}"""
        return {g: (body.name(), k) for body in bodies for k, g in enumerate(plant.GetCollisionGeometriesForBody(body))}

    our_names = names(ours, ours.elements.bodies)
    bodies = [theirs.get_body(pydrake.multibody.tree.BodyIndex(k)) for k in range(theirs.num_bodies())]
    their_names = names(theirs, bodies)
    assert set(our_names.values()) == set(their_names.values())
    our_pairs = {frozenset((our_names[a], our_names[b])) for a, b in graph.model_inspector().GetCollisionCandidates()}
    inspector = their_graph.model_inspector()
    their_pairs = {frozenset((their_names[a], their_names[b])) for a, b in inspector.GetCollisionCandidates()}
    assert our_pairs == their_pairs
    rng = np.random.default_rng(1)
    context, their_context = ours.CreateDefaultContext(), theirs.GetMyContextFromRoot(root)
    query = ours.get_geometry_query_input_port().Eval(context)
    q0 = ours.GetDefaultPositions()
    overlaps = 0
    for _ in range(8):
        q = q0.copy()
        start = 7 if ours.GetFloatingBaseBodies() else 0
        q[start:] += rng.uniform(-2.5, 2.5, len(q) - start)
        ours.SetPositions(context, q)
        theirs.SetPositions(their_context, q)
        found = {
            frozenset((our_names[p.id_A], our_names[p.id_B])): p.depth for p in query.ComputePointPairPenetration()
        }
        their_query = their_graph.get_query_output_port().Eval(their_graph.GetMyContextFromRoot(root))
        expected = {
            frozenset((their_names[p.id_A], their_names[p.id_B])): p.depth
            for p in their_query.ComputePointPairPenetration()
        }
        both = found.keys() & expected.keys()
        for pair in both:
            assert found[pair] <= expected[pair] + 2e-3
        for pair in found.keys() ^ expected.keys():  # what just touches
            assert (found.get(pair) or expected.get(pair)) < 1e-3
        overlaps += len(both)
    assert overlaps >= FILES[file]


def test_models_that_slide_do_not_collide_with_their_neighbour():
    plant, graph = new_plant()
    a, b = add_ball(plant, "a"), add_ball(plant, "b")
    plant.AddJoint(PrismaticJoint("j", a.body_frame(), b.body_frame(), [1, 0, 0]))
    plant.Finalize()
    assert candidates(plant, graph) == []
