"""Settings of a plant and how a configuration gives them: plant.md section 2, [S1], table (a) 36."""

import pytest

from mbcli.geometry import HalfSpace, SceneGraph, Sphere
from mbcli.geometry.contact_representation import HydroelasticContactRepresentation
from mbcli.math import RigidTransform
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.plant import (
    AddMultibodyPlant,
    AddMultibodyPlantSceneGraph,
    ApplyMultibodyPlantConfig,
    BaseBodyJointType,
    ContactModel,
    CoulombFriction,
    DiscreteContactApproximation,
    DiscreteContactSolver,
    MultibodyPlant,
    MultibodyPlantConfig,
)
from mbcli.multibody.tree import ModelInstanceIndex, SpatialInertia
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder


def reported(plant):
    return {
        "contact_model": plant.get_contact_model(),
        "representation": plant.get_contact_surface_representation(),
        "threshold": plant.get_sap_near_rigid_threshold(),
        "filters": plant.get_adjacent_bodies_collision_filters(),
        "approximation": plant.get_discrete_contact_approximation(),
        "solver": plant.get_discrete_contact_solver(),
        "sampled": plant.has_sampled_output_ports(),
        "allowance": plant.get_penetration_allowance(),
        "stiction": plant.get_stiction_tolerance(),
    }


def test_defaults_are_those_of_the_reference():
    assert reported(MultibodyPlant(0.01)) == {
        "contact_model": ContactModel.kHydroelasticWithFallback,
        "representation": HydroelasticContactRepresentation.kPolygon,
        "threshold": 0.03,  # mbcli's own
        "filters": True,
        "approximation": DiscreteContactApproximation.kLagged,
        "solver": DiscreteContactSolver.kSap,
        "sampled": True,
        "allowance": 1e-4,  # mbcli's own
        "stiction": 1e-6,  # mbcli's own
    }
    continuous = MultibodyPlant(0.0)
    assert continuous.get_penetration_allowance() == 1e-3
    assert continuous.get_stiction_tolerance() == 1e-3
    assert continuous.get_contact_surface_representation() == HydroelasticContactRepresentation.kTriangle
    assert not continuous.has_sampled_output_ports()


@pytest.mark.parametrize(("g", "expected"), [(9.81, 0.1), (9.81 / 4.0, 0.2), (0.0, 0.1)])
def test_the_time_scale_of_contact_follows_from_weight_and_allowance(g, expected):
    """Stiffness k = m g / allowance carries the weight at the allowance; k / m = 1 / t^2."""
    plant = MultibodyPlant(0.0)
    plant.set_penetration_allowance(0.0981)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -g])
    with pytest.raises(RuntimeError, match="get_contact_penalty_method_time_scale"):
        plant.get_contact_penalty_method_time_scale()
    plant.Finalize()
    assert plant.get_contact_penalty_method_time_scale() == pytest.approx(expected)


def test_the_default_representation_follows_the_time_step():
    default = MultibodyPlant.GetDefaultContactSurfaceRepresentation
    assert default(0.1) == HydroelasticContactRepresentation.kPolygon
    assert default(time_step=0.0) == HydroelasticContactRepresentation.kTriangle


CONFIG = {
    "time_step": 0.02,
    "use_sampled_output_ports": False,
    "penetration_allowance": 0.005,
    "stiction_tolerance": 0.01,
    "contact_model": "point",
    "discrete_contact_approximation": "tamsi",
    "sap_near_rigid_threshold": 0.25,
    "contact_surface_representation": "triangle",
    "adjacent_bodies_collision_filters": False,
}


def test_a_configuration_gives_every_setting():
    plant = MultibodyPlant(0.02)
    ApplyMultibodyPlantConfig(config=MultibodyPlantConfig(**CONFIG), plant=plant)
    assert reported(plant) == {
        "contact_model": ContactModel.kPoint,
        "representation": HydroelasticContactRepresentation.kTriangle,
        "threshold": 0.25,
        "filters": False,
        "allowance": 0.005,
        "stiction": 0.01,
        "approximation": DiscreteContactApproximation.kTamsi,
        "solver": DiscreteContactSolver.kTamsi,
        "sampled": False,
    }
    assert (plant.settings.penetration_allowance, plant.settings.stiction_tolerance) == (0.005, 0.01)


@pytest.mark.parametrize("name", ["tamsi", "sap", "similar", "lagged"])
def test_every_approximation_has_its_name_and_solver(name):
    plant = MultibodyPlant(0.001)
    ApplyMultibodyPlantConfig(MultibodyPlantConfig(discrete_contact_approximation=name), plant)
    assert plant.get_discrete_contact_approximation().name == f"k{name.capitalize()}"
    solver = DiscreteContactSolver.kTamsi if name == "tamsi" else DiscreteContactSolver.kSap
    assert plant.get_discrete_contact_solver() == solver


def test_a_continuous_plant_takes_what_concerns_it():
    plant = MultibodyPlant(0.0)
    ApplyMultibodyPlantConfig(MultibodyPlantConfig(time_step=0.0, contact_model="hydroelastic"), plant)
    assert plant.get_contact_model() == ContactModel.kHydroelastic
    assert not plant.has_sampled_output_ports()


def test_another_time_step_and_a_finalized_plant_are_refused():
    plant = MultibodyPlant(0.1)
    with pytest.raises(RuntimeError, match="time step is 0.1, time_step of the configuration is 0.02"):
        ApplyMultibodyPlantConfig(MultibodyPlantConfig(**CONFIG), plant)
    assert plant.get_contact_model() == ContactModel.kHydroelasticWithFallback
    plant = MultibodyPlant(0.02)
    plant.Finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        ApplyMultibodyPlantConfig(MultibodyPlantConfig(**CONFIG), plant)


SETTERS = {
    "set_contact_model": ContactModel.kPoint,
    "set_contact_surface_representation": HydroelasticContactRepresentation.kTriangle,
    "set_sap_near_rigid_threshold": 0.5,
    "set_adjacent_bodies_collision_filters": False,
    "set_discrete_contact_approximation": DiscreteContactApproximation.kSap,
    "set_discrete_contact_solver": DiscreteContactSolver.kTamsi,
    "SetUseSampledOutputPorts": False,
}


@pytest.mark.parametrize("settings", [{"penetration_allowance": 4e-3}, {"stiction_tolerance": 0.05}])
def test_contacts_of_contexts_made_later_have_what_is_set_after_finalize(settings):
    def slid(before, after):
        """Where a ball that was thrown along the ground is after a while."""
        plant, _ = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.01)
        body = plant.AddRigidBody("ball", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        friction = CoulombFriction(0.5, 0.5)
        plant.RegisterCollisionGeometry(body, RigidTransform(), Sphere(0.1), "ball", friction)
        plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", friction)
        for name, value in before.items():
            getattr(plant, f"set_{name}")(value)
        plant.Finalize()
        for name, value in after.items():
            getattr(plant, f"set_{name}")(value)
        context = plant.CreateDefaultContext()
        plant.SetFreeBodyPose(context, body, RigidTransform([0.0, 0.0, 0.1]))
        plant.SetFreeBodySpatialVelocity(body, SpatialVelocity([0.0, 0.0, 0.0], [0.01, 0.0, 0.0]), context)
        Simulator(plant, context).AdvanceTo(0.3)
        return plant.GetPositions(context)[4:].tolist()

    assert slid({}, settings) == slid(settings, {}) != slid({}, {})


def test_base_bodies_get_the_joints_that_are_set_for_all_or_for_their_instance():
    plant = MultibodyPlant(0.0)
    instance = plant.AddModelInstance("welded")
    for name, own in (("loose", ModelInstanceIndex(1)), ("fixed", instance)):
        plant.AddRigidBody(name, own, SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    assert plant.GetBaseBodyJointType() == BaseBodyJointType.kQuaternionFloatingJoint
    plant.SetBaseBodyJointType(BaseBodyJointType.kRpyFloatingJoint)
    plant.SetBaseBodyJointType(BaseBodyJointType.kWeldJoint, instance)
    assert plant.GetBaseBodyJointType(ModelInstanceIndex(1)) == BaseBodyJointType.kRpyFloatingJoint
    assert plant.GetBaseBodyJointType(instance) == BaseBodyJointType.kWeldJoint
    with pytest.raises(TypeError, match="not a BaseBodyJointType"):
        plant.SetBaseBodyJointType("weld")
    plant.Finalize()
    joints = {plant.get_joint(j).child_body().name(): plant.get_joint(j).type_name() for j in plant.GetJointIndices()}
    assert joints == {"loose": "rpy_floating", "fixed": "weld"}
    assert (plant.num_positions(), plant.num_velocities()) == (6, 6)
    with pytest.raises(RuntimeError, match="finalized"):
        plant.SetBaseBodyJointType(BaseBodyJointType.kWeldJoint)


@pytest.mark.parametrize(("setter", "value"), SETTERS.items())
def test_nothing_can_be_set_after_finalize(setter, value):
    plant = MultibodyPlant(0.1)
    getattr(plant, setter)(value)
    plant.Finalize()
    before = reported(plant)
    with pytest.raises(RuntimeError, match=f"{setter}: .*finalized"):
        getattr(plant, setter)(value)
    assert reported(plant) == before


@pytest.mark.parametrize(
    ("setter", "value", "error"),
    [
        ("set_penetration_allowance", 0.0, "greater than 0, it is 0.0"),
        ("set_penetration_allowance", float("nan"), "it is nan"),
        ("set_stiction_tolerance", -1e-3, "greater than 0, it is -0.001"),
        ("set_sap_near_rigid_threshold", -0.5, "not negative, it is -0.5"),
    ],
)
def test_values_out_of_range_are_refused(setter, value, error):
    plant = MultibodyPlant(0.1)
    before = reported(plant)
    with pytest.raises(RuntimeError, match=f"{setter}: .*{error}"):
        getattr(plant, setter)(value)
    assert reported(plant) == before


def test_a_setting_of_another_kind_is_refused():
    plant = MultibodyPlant(0.1)
    for setter in ("set_contact_model", "set_discrete_contact_approximation", "set_discrete_contact_solver"):
        with pytest.raises(TypeError, match=f"{setter}: expected a .*, not 'point'"):
            getattr(plant, setter)("point")


def test_solvers_set_their_approximation_and_do_nothing_in_a_continuous_plant():
    plant = MultibodyPlant(0.1)
    plant.set_discrete_contact_solver(DiscreteContactSolver.kTamsi)
    assert plant.get_discrete_contact_approximation() == DiscreteContactApproximation.kTamsi
    plant.set_discrete_contact_solver(DiscreteContactSolver.kSap)
    assert plant.get_discrete_contact_approximation() == DiscreteContactApproximation.kSap
    continuous = MultibodyPlant(0.0)
    continuous.set_discrete_contact_solver(DiscreteContactSolver.kTamsi)
    with pytest.raises(RuntimeError, match="continuous"):
        continuous.set_discrete_contact_approximation(DiscreteContactApproximation.kTamsi)


def test_earlier_names_of_contact_models_are_the_same():
    assert ContactModel.kHydroelasticsOnly is ContactModel.kHydroelastic
    assert ContactModel.kPointContactOnly is ContactModel.kPoint
    assert [model.value for model in ContactModel] == [0, 1, 2]
    assert DiscreteContactApproximation(3).name == "kLagged"


# plants in builders


def test_a_plant_is_added_from_its_configuration():
    builder = DiagramBuilder()
    plant, scene_graph = AddMultibodyPlant(MultibodyPlantConfig(**CONFIG), builder)
    assert (plant.time_step(), plant.get_contact_model()) == (0.02, ContactModel.kPoint)
    assert builder.GetSystems() == [plant, scene_graph]
    assert (plant.get_name(), scene_graph.get_name()) == ("plant", "scene_graph")
    other, _ = AddMultibodyPlant(MultibodyPlantConfig(time_step=0.0), object(), DiagramBuilder())
    assert other.time_step() == 0.0


def test_a_plant_is_added_with_a_time_step_or_as_it_is():
    plant, scene_graph = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.25)
    assert plant.time_step() == 0.25
    graph = SceneGraph()
    own = MultibodyPlant(0.5)
    assert AddMultibodyPlantSceneGraph(DiagramBuilder(), own, graph) == (own, graph)
    assert AddMultibodyPlantSceneGraph(builder=DiagramBuilder(), time_step=0.0)[0].time_step() == 0.0
    assert AddMultibodyPlantSceneGraph(DiagramBuilder(), plant=MultibodyPlant(0.5))[0].time_step() == 0.5
    with pytest.raises(RuntimeError, match="the builder is None"):
        AddMultibodyPlantSceneGraph(None, 0.1)
    with pytest.raises(RuntimeError, match="neither a time step nor a plant"):
        AddMultibodyPlantSceneGraph(DiagramBuilder())
    with pytest.raises(RuntimeError, match="must not be negative"):
        AddMultibodyPlantSceneGraph(DiagramBuilder(), -0.1)
