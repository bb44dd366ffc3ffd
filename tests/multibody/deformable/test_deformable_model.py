"""DeformableModel: bodies, their meshes, masses and constraints, the state of contexts, and what is refused."""

import numpy as np
import pytest

from mbcli.errors import ModelError
from mbcli.geometry import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    GeometryId,
    GeometryInstance,
    HalfSpace,
    Mesh,
    Role,
    SceneGraph,
    Sphere,
)
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.fem import DeformableBodyConfig, ForceDensityType, MaterialModel
from mbcli.multibody.plant import DiscreteContactApproximation, MultibodyPlant
from mbcli.multibody.tree import (
    DeformableBodyId,
    DeformableBodyIndex,
    ForceDensityField,
    SpatialInertia,
)
from mbcli.systems.analysis import Simulator

CUBE = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
CUBE_TETRAHEDRA = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]


def write_vtk(path, vertices=CUBE, tetrahedra=CUBE_TETRAHEDRA):
    lines = ["# vtk DataFile Version 3.0", "cube", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines += [f"POINTS {len(vertices)} double", *(f"{x} {y} {z}" for x, y, z in vertices)]
    lines += [f"CELLS {len(tetrahedra)} {5 * len(tetrahedra)}", *("4 " + " ".join(map(str, t)) for t in tetrahedra)]
    lines += [f"CELL_TYPES {len(tetrahedra)}", *["10"] * len(tetrahedra)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def plant_with_scene(time_step=0.01):
    plant = MultibodyPlant(time_step)
    plant.RegisterAsSourceForSceneGraph(SceneGraph())
    return plant


def config(density=1000.0):
    result = DeformableBodyConfig()
    result.set_mass_density(density)
    return result


def register(plant, shape, X_WD=None, name="soft", hint=0.1):
    geometry = GeometryInstance(RigidTransform() if X_WD is None else X_WD, shape, name)
    return plant.mutable_deformable_model().RegisterDeformableBody(geometry, config(), hint)


@pytest.fixture
def cube(tmp_path):
    """(plant, model, body) with a unit cube whose reference configuration is turned and moved."""
    plant = plant_with_scene()
    X_WD = RigidTransform(RollPitchYaw(0.1, 0.2, 0.3), [1.0, 2.0, 3.0])
    body_id = register(plant, Mesh(write_vtk(tmp_path / "cube.vtk")), X_WD)
    model = plant.mutable_deformable_model()
    return plant, model, model.GetBody(body_id)


def context_of(plant):
    plant.Finalize()
    return plant.CreateDefaultContext()


# registration


def test_reference_positions_are_those_of_the_file_at_the_pose_of_the_geometry(cube):
    _, model, body = cube
    X_WD = RigidTransform(RollPitchYaw(0.1, 0.2, 0.3), [1.0, 2.0, 3.0])
    expected = np.array(CUBE, float) @ X_WD.rotation().matrix().T + X_WD.translation()
    np.testing.assert_allclose(model.GetReferencePositions(body.body_id()).reshape(-1, 3), expected, atol=1e-15)
    assert body.num_dofs() == 24


@pytest.mark.parametrize(
    "shape, volume, share",
    [
        (Box(0.4, 0.3, 0.2), 0.4 * 0.3 * 0.2, 1.0),
        (Sphere(0.2), 4 / 3 * np.pi * 0.2**3, 0.9),
        (Ellipsoid(0.2, 0.3, 0.25), 4 / 3 * np.pi * 0.2 * 0.3 * 0.25, 0.9),
        (Cylinder(0.2, 0.5), np.pi * 0.2**2 * 0.5, 0.9),
        (Capsule(0.2, 0.5), np.pi * 0.2**2 * (0.5 + 4 / 3 * 0.2), 0.9),
    ],
)
def test_the_mass_of_a_shape_is_density_times_volume(shape, volume, share):
    plant = plant_with_scene()
    body = plant.deformable_model().GetBody(register(plant, shape, hint=0.05))
    assert share * 1000.0 * volume <= body.mass() * (1 + 1e-12) and body.mass() <= 1000.0 * volume * (1 + 1e-12)
    np.testing.assert_allclose(body.vertex_masses().sum(), body.mass(), rtol=1e-13)


def test_bodies_are_found_by_identifier_index_geometry_and_name(cube):
    plant, model, body = cube
    other = model.RegisterDeformableBody(
        GeometryInstance(RigidTransform(), Sphere(0.1), "soft"), plant.AddModelInstance("more"), config(), 0.1
    )
    assert model.num_bodies() == 2 and not model.is_empty()
    for found in (body.body_id(), DeformableBodyIndex(0)):
        assert model.GetBody(found) is body
    assert model.GetBodyId(body.geometry_id()) == model.GetBodyId(DeformableBodyIndex(0)) == body.body_id()
    assert model.GetBodyIndex(other) == 1
    assert model.GetBodyIds(plant.GetModelInstanceByName("more")) == [other]
    assert model.GetBodyByName("soft", plant.GetModelInstanceByName("more")).body_id() == other
    assert model.HasBodyNamed("soft") and not model.HasBodyNamed("hard")
    with pytest.raises(RuntimeError, match="there are 2 deformable bodies named 'soft'"):
        model.GetBodyByName("soft")
    assert str(body.scoped_name()) == "DefaultModelInstance::soft"


def test_the_scene_graph_has_the_mesh_of_a_deformable_geometry(cube):
    plant, model, body = cube
    inspector = plant.scene_graph.model_inspector()
    geometry = body.geometry_id()
    assert inspector.IsDeformableGeometry(geometry) and inspector.GetAllDeformableGeometryIds() == [geometry]
    assert inspector.GetReferenceMesh(geometry).CalcVolume() == pytest.approx(1.0, rel=1e-15)
    assert inspector.NumDynamicGeometries() == 1 and inspector.NumAnchoredGeometries() == 0
    assert inspector.NumDeformableGeometriesWithRole(Role.kProximity) == 0


def test_a_deformable_geometry_may_touch_what_is_fixed_to_the_world():
    from mbcli.geometry import ProximityProperties
    from mbcli.multibody.plant import CoulombFriction

    plant = plant_with_scene()
    ground = plant.RegisterCollisionGeometry(
        plant.world_body(), RigidTransform(), HalfSpace(), "ground", CoulombFriction(1.0, 1.0)
    )
    geometry = GeometryInstance(RigidTransform(), Sphere(0.1), "soft")
    geometry.set_proximity_properties(ProximityProperties())
    plant.mutable_deformable_model().RegisterDeformableBody(geometry, config(), 0.1)
    inspector = plant.scene_graph.model_inspector()
    assert not inspector.CollisionFiltered(ground, geometry.id())
    assert inspector.GetCollisionCandidates() == {(ground, geometry.id())}
    assert plant.num_collision_geometries() == 2


# constraints


def test_a_wall_holds_the_vertices_behind_it(tmp_path):
    plant = plant_with_scene()
    model = plant.mutable_deformable_model()
    body_id = register(plant, Mesh(write_vtk(tmp_path / "cube.vtk")))
    model.SetWallBoundaryCondition(body_id, [0.0, 0.0, 0.5], [0.0, 0.0, 7.0])
    assert np.flatnonzero(model.GetBody(body_id).on_wall).tolist() == [0, 1, 2, 3]
    with pytest.raises(ModelError, match="held by a wall"):
        model.GetBody(body_id).set_default_pose(RigidTransform([1.0, 0.0, 0.0]))


@pytest.mark.parametrize(
    "shape, expected",
    [
        (Box(2.0, 0.1, 0.1), [0, 1]),
        (Sphere(1.0), [0, 1, 2, 4]),
        (Ellipsoid(0.1, 1.5, 1.0), [0, 2, 4]),
        (Cylinder(1.0, 2.0), [0, 1, 2, 4, 5, 6]),
        (Capsule(0.5, 2.0), [0, 4]),
        (HalfSpace(), [0, 1, 2, 3]),
    ],
)
def test_a_fixed_constraint_takes_the_vertices_inside_of_a_shape_or_on_it(cube, shape, expected):
    plant, model, body = cube
    holder = plant.AddRigidBody("holder", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    X_BA, X_BG = RigidTransform([5.0, 0.0, 0.0]), RigidTransform([5.0, 0.0, 0.0])
    constraint_id = model.AddFixedConstraint(body.body_id(), holder, X_BA, shape, X_BG)
    (constraint,) = body.fixed_vertices
    assert constraint.id == constraint_id and constraint.body is holder
    assert constraint.vertices.tolist() == expected
    np.testing.assert_allclose(constraint.p_BQ, np.array(CUBE, float)[expected] + [5.0, 0.0, 0.0])
    assert model.HasConstraint(body.body_id())


# the state of contexts


def test_a_context_starts_at_the_default_pose_and_at_rest(cube):
    plant, model, body = cube
    body.set_default_pose(RigidTransform([0.0, 0.0, 9.0]))
    context = context_of(plant)
    np.testing.assert_allclose(model.GetPositions(context, body.body_id()).T, np.array(CUBE) + [0.0, 0.0, 9.0])
    assert not model.GetVelocities(context, body.body_id()).any()
    assert body.reference_positions()[0] == 1.0


def test_positions_and_velocities_are_groups_of_the_discrete_state(cube):
    plant, model, body = cube
    context = context_of(plant)
    q, v = np.random.default_rng(1).normal(size=(2, 3, 8))
    model.SetPositionsAndVelocities(context, body.body_id(), q, v)
    group = context.get_discrete_state(model.GetDiscreteStateIndex(body.body_id()))
    np.testing.assert_array_equal(group.value(), [*q.T.ravel(), *v.T.ravel(), *np.zeros(24)])
    np.testing.assert_array_equal(model.GetPositionsAndVelocities(context, body.body_id()), np.hstack([q, v]))
    configuration = plant.get_deformable_body_configuration_output_port().Eval(context)
    np.testing.assert_array_equal(configuration.value(body.geometry_id()), q.T.ravel())
    copy = context.Clone()
    np.testing.assert_array_equal(model.GetPositions(copy, body.body_id()), q)
    plant.SetDefaultState(context)
    np.testing.assert_array_equal(model.GetPositions(context, body.body_id()).T.ravel(), body.reference_positions())
    np.testing.assert_array_equal(model.GetPositions(copy, body.body_id()), q)


def test_disabling_stops_a_body_in_one_context(cube):
    plant, model, body = cube
    context = context_of(plant)
    body.SetVelocities(context, np.ones((3, 8)))
    copy = context.Clone()
    model.Disable(body.body_id(), context)
    assert not model.is_enabled(body.body_id(), context) and not body.GetVelocities(context).any()
    assert model.is_enabled(body.body_id(), copy) and body.GetVelocities(copy).all()
    assert not body.is_enabled(context.Clone())
    model.Enable(body.body_id(), context)
    assert body.is_enabled(context)


def test_a_body_that_moves_as_a_rigid_one_has_its_centre_of_mass_and_angular_velocity(cube):
    plant, model, body = cube
    context = context_of(plant)
    w, v = np.array([0.3, -1.0, 2.0]), np.array([0.1, 0.2, 0.3])
    center = body.CalcCenterOfMassPositionInWorld(context)
    X_WD = body.get_default_pose()
    np.testing.assert_allclose(center, X_WD.multiply([0.5, 0.5, 0.5]), atol=1e-15)
    body.SetVelocities(context, (np.cross(w, body.GetPositions(context).T - center) + v).T)
    np.testing.assert_allclose(body.CalcCenterOfMassTranslationalVelocityInWorld(context), v, atol=1e-14)
    np.testing.assert_allclose(body.CalcEffectiveAngularVelocity(context), w, atol=1e-14)


def test_its_weight_and_added_forces_act_on_a_body(cube):
    class Wind(ForceDensityField):
        def EvaluateAt(self, context, p_WQ):
            return np.array([p_WQ[2], 0.0, 0.0])

    plant, model, body = cube
    wind = Wind()
    model.AddExternalForce(wind)
    assert not model.is_empty() and wind.parent_system_or_throw() is plant
    context = context_of(plant)
    weight, added = model.GetExternalForces(body.body_id())
    assert weight.density_type() == ForceDensityType.kPerReferenceVolume
    np.testing.assert_allclose(weight.EvaluateAt(context, [0, 0, 0]), [0.0, 0.0, -9810.0])
    assert added is wind and added.density_type() == ForceDensityType.kPerCurrentVolume
    np.testing.assert_allclose(added.densities_at(context, np.array([[0, 0, 3.0], [0, 0, 4.0]]))[:, 0], [3.0, 4.0])


# refusals


@pytest.mark.parametrize(
    "setter, value",
    [
        ("set_youngs_modulus", 0.0),
        ("set_youngs_modulus", float("nan")),
        ("set_poissons_ratio", 0.5),
        ("set_poissons_ratio", -1.0),
        ("set_mass_density", 0.0),
        ("set_mass_damping_coefficient", -1.0),
        ("set_stiffness_damping_coefficient", -1e-3),
        ("set_stiffness_damping_coefficient", float("inf")),
    ],
)
def test_a_parameter_out_of_its_range_is_refused(setter, value):
    with pytest.raises(ModelError, match=f"it is {value:g}"):
        getattr(DeformableBodyConfig(), setter)(value)


def test_a_material_model_is_a_member_of_its_enumeration():
    with pytest.raises(TypeError, match="takes a MaterialModel"):
        DeformableBodyConfig().set_material_model("linear")
    assert MaterialModel.kLinear == 3


@pytest.mark.parametrize("hint", [0.0, -0.1, float("nan")])
def test_a_hint_that_is_not_positive_is_refused(hint):
    with pytest.raises(ModelError, match="resolution hint"):
        register(plant_with_scene(), Sphere(0.1), hint=hint)


def test_a_continuous_plant_has_no_deformable_bodies():
    with pytest.raises(RuntimeError, match="need a discrete plant"):
        register(plant_with_scene(0.0), Sphere(0.1))
    with pytest.raises(RuntimeError, match="need a discrete plant"):
        MultibodyPlant(0.0).mutable_deformable_model().AddExternalForce(ForceDensityField())


def test_a_plant_without_scene_graph_has_no_deformable_bodies():
    with pytest.raises(RuntimeError, match="no scene graph"):
        register(MultibodyPlant(0.01), Sphere(0.1))


def test_tamsi_does_not_know_deformable_bodies():
    plant = plant_with_scene()
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kTamsi)
    with pytest.raises(RuntimeError, match="tamsi"):
        register(plant, Sphere(0.1))
    plant = plant_with_scene()
    register(plant, Sphere(0.1))
    with pytest.raises(RuntimeError, match="tamsi"):
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kTamsi)


def test_nothing_is_changed_after_finalize(cube):
    plant, model, body = cube
    plant.Finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        plant.mutable_deformable_model()
    geometry = GeometryInstance(RigidTransform(), Sphere(0.1), "late")
    for change in (
        lambda: model.RegisterDeformableBody(geometry, config(), 0.1),
        lambda: model.SetWallBoundaryCondition(body.body_id(), [0, 0, 0], [0, 0, 1]),
        lambda: body.AddFixedConstraint(plant.world_body(), RigidTransform(), Sphere(9.0), RigidTransform()),
        lambda: model.AddExternalForce(ForceDensityField()),
    ):
        with pytest.raises(RuntimeError, match="finalized"):
            change()


def test_a_name_is_given_once_in_an_instance(cube):
    with pytest.raises(RuntimeError, match="'DefaultModelInstance' has a deformable body named 'soft' already"):
        register(cube[0], Sphere(0.1))


def test_unknown_identifiers_are_refused(cube):
    _, model, body = cube
    for ask in (model.GetBody, model.GetGeometryId, model.GetReferencePositions, model.HasConstraint):
        with pytest.raises(RuntimeError, match="no deformable body"):
            ask(DeformableBodyId.get_new_id())
    with pytest.raises(RuntimeError, match="no deformable body has the geometry"):
        model.GetBodyId(GeometryId.get_new_id())
    with pytest.raises(RuntimeError, match="index 1"):
        model.GetBody(DeformableBodyIndex(1))
    with pytest.raises(RuntimeError, match="named 'hard'"):
        model.GetBodyByName("hard")
    for ask in (model.GetDiscreteStateIndex, model.GetExternalForces):
        with pytest.raises(RuntimeError, match="Finalize"):
            ask(body.body_id())


def test_a_fixed_constraint_needs_a_body_of_the_plant_and_a_vertex(cube):
    _, model, body = cube
    other = MultibodyPlant(0.01).AddRigidBody("other", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    X = RigidTransform()
    with pytest.raises(RuntimeError, match="not part of this plant"):
        model.AddFixedConstraint(body.body_id(), other, X, Sphere(1.0), X)
    world = cube[0].world_body()
    with pytest.raises(ModelError, match="no vertex in the Sphere"):
        model.AddFixedConstraint(body.body_id(), world, X, Sphere(1.0), RigidTransform([9.0, 0.0, 0.0]))
    with pytest.raises(ModelError, match="primitive shapes"):
        model.AddFixedConstraint(body.body_id(), world, X, Mesh("cube.obj"), X)
    assert not body.has_fixed_constraint()


def test_a_wall_needs_a_normal_and_a_vertex(cube):
    _, model, body = cube
    for point, normal, message in (
        ([0, 0, 0], [0, 0, 1e-11], "no direction"),
        ([0, 0, -9], [0, 0, 1], "no vertex behind"),
        ([0, 0, np.nan], [0, 0, 1], "three finite numbers"),
    ):
        with pytest.raises(ModelError, match=message):
            model.SetWallBoundaryCondition(body.body_id(), point, normal)
    assert not body.on_wall.any()


@pytest.mark.parametrize(
    "damage, message",
    [
        ({"tetrahedra": [(0, 3, 1, 7), *CUBE_TETRAHEDRA[1:]]}, "1 tetrahedra are inside out, number 0 first"),
        ({"vertices": [*CUBE, (2, 2, 2)]}, "1 vertices belong to no tetrahedron, number 8 first"),
        ({"tetrahedra": [(0, 1, 2, 3), *CUBE_TETRAHEDRA]}, "no volume"),
    ],
)
def test_bad_tetrahedra_of_a_file_are_named(tmp_path, damage, message):
    plant = plant_with_scene()
    with pytest.raises(ModelError, match=message):
        register(plant, Mesh(write_vtk(tmp_path / "bad.vtk", **damage)))
    assert plant.deformable_model().is_empty() and not plant.scene_graph.model_inspector().num_geometries()


def test_states_of_another_size_or_not_finite_are_refused(cube):
    plant, model, body = cube
    with pytest.raises(RuntimeError, match="Finalize"):
        model.SetPositions(None, body.body_id(), np.zeros((3, 8)))
    context = context_of(plant)
    for values, message in (
        (np.zeros((3, 7)), r"has the shape \(3, 7\)"),
        (np.zeros((8, 3)), r"\(3, 8\)"),
        (np.full((3, 8), np.inf), "finite"),
    ):
        for setter in (model.SetPositions, model.SetVelocities):
            with pytest.raises(RuntimeError, match=message):
                setter(context, body.body_id(), values)
    other = plant_with_scene()
    other.Finalize()
    with pytest.raises(RuntimeError, match="another plant"):
        model.GetPositions(other.CreateDefaultContext(), body.body_id())


def test_a_plant_with_deformable_bodies_is_not_converted(cube):
    plant = cube[0]
    plant.Finalize()
    with pytest.raises(RuntimeError, match="has floats only"):
        plant.ToAutoDiffXd()


def test_a_step_moves_the_deformable_bodies(cube):
    plant = cube[0]
    plant.Finalize()
    simulator = Simulator(plant)
    simulator.AdvanceTo(0.1)
    body = plant.deformable_model().bodies[0]
    v = body.GetVelocities(simulator.get_context())
    assert v[2].mean() == pytest.approx(-9.81 * 0.1)


# beside pydrake


@pytest.mark.peers("pydrake")
def test_defaults_and_names_are_those_of_pydrake():
    from pydrake.multibody import fem
    from pydrake.multibody.plant import DeformableModel as TheirModel
    from pydrake.multibody.tree import DeformableBody as TheirBody

    from mbcli.multibody.plant import DeformableModel
    from mbcli.multibody.tree import DeformableBody

    ours, theirs = DeformableBodyConfig(), fem.DeformableBodyConfig()
    getters = [name for name in dir(theirs) if not name.startswith(("_", "set_", "material_model"))]
    assert len(getters) == 5
    assert {name: getattr(ours, name)() for name in getters} == {name: getattr(theirs, name)() for name in getters}
    assert ours.material_model().name == theirs.material_model().name
    for mine, other in (
        (DeformableModel, TheirModel),
        (DeformableBody, TheirBody),
        (DeformableBodyConfig, type(theirs)),
    ):
        public = {name for name in dir(other) if not name.startswith("_")}
        assert public - set(dir(mine)) <= {"is_enabled_parameter_index"}


@pytest.mark.peers("pydrake")
def test_positions_constraints_and_velocities_are_those_of_pydrake(tmp_path):
    path = write_vtk(tmp_path / "cube.vtk")
    q, v = np.random.default_rng(3).normal(size=(2, 3, 8))
    found, names = [], []
    for library in ("mbcli", "pydrake"):
        lib = __import__(f"{library}.all", fromlist=["all"])
        fem = __import__(f"{library}.multibody.fem", fromlist=["fem"])
        builder = lib.DiagramBuilder()
        plant, scene_graph = lib.AddMultibodyPlantSceneGraph(builder, 0.01)
        material = fem.DeformableBodyConfig()
        X_WD = lib.RigidTransform(lib.RollPitchYaw(0.1, 0.2, 0.3), [1.0, 2.0, 3.0])
        model = plant.mutable_deformable_model()
        soft = model.RegisterDeformableBody(lib.GeometryInstance(X_WD, lib.Mesh(path), "soft"), material, 1.0)
        holder = plant.AddRigidBody("holder", lib.SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        X = lib.RigidTransform()
        model.AddFixedConstraint(soft, holder, X, lib.Box(0.5, 0.5, 0.5), X)
        with pytest.raises(RuntimeError):  # the same refusals
            model.AddFixedConstraint(soft, holder, X, lib.Box(0.5, 0.5, 0.5), lib.RigidTransform([9.0, 0.0, 0.0]))
        with pytest.raises(RuntimeError):
            model.RegisterDeformableBody(lib.GeometryInstance(X_WD, lib.Mesh(path), "soft"), material, 1.0)
        with pytest.raises(RuntimeError):
            model.GetBodyByName("hard")
        plant.Finalize()
        diagram = builder.Build()
        context = plant.GetMyMutableContextFromRoot(diagram.CreateDefaultContext())
        reference = np.array(model.GetReferencePositions(soft))
        model.SetPositions(context, soft, np.asfortranarray(q))
        model.SetVelocities(context, soft, np.asfortranarray(v))
        body = model.GetBody(soft)
        group = context.get_discrete_state(model.GetDiscreteStateIndex(soft)).value()
        found.append(
            [
                reference,
                np.array(group),
                body.CalcCenterOfMassPositionInWorld(context),
                body.CalcCenterOfMassTranslationalVelocityInWorld(context),
                body.CalcEffectiveAngularVelocity(context),
                [int(model.GetDiscreteStateIndex(soft)), body.num_dofs(), model.HasConstraint(soft)],
            ]
        )
        names.append(scene_graph.model_inspector().GetName(model.GetGeometryId(soft)))
    assert names == ["DefaultModelInstance::soft"] * 2
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_constants_of_a_material_are_those_of_its_moduli():
    """In simple tension of stress E the strain is 1 along, -nu across."""
    material, other = DeformableBodyConfig(), DeformableBodyConfig()
    assert material == other and material != 3
    for each in (material, other):
        each.set_youngs_modulus(2e5)
        each.set_poissons_ratio(0.3)
    first, shear = material.lame_parameters()
    strain = np.diag([1.0, -0.3, -0.3])
    stress = first * np.trace(strain) * np.eye(3) + 2.0 * shear * strain
    np.testing.assert_allclose(stress, np.diag([2e5, 0.0, 0.0]), atol=1e-9)
    other.set_mass_density(900.0)
    assert material != other
