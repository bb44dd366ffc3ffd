"""What surfaces are made of whose files say nothing: by the penetration allowance, or pydrake's numbers."""

import json

import numpy as np
import pytest
from command_line import succeed
from contact_scenes import FALL, drake_library, own_library

from mbcli.geometry import DefaultProximityProperties
from mbcli.multibody.plant import MultibodyPlantConfig

H, MASS, RADIUS, DEPTH = 1e-3, 2.0, 0.1, 1e-3
BALL = f"""<robot name="ball"><link name="b"><inertial><mass value="{MASS}"/>
<inertia ixx="0.008" iyy="0.008" izz="0.008" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="{RADIUS}"/></geometry></collision></link></robot>"""


def first_force(lib, approximation, **settings):
    """Normal force [N] of the first step of a ball that overlaps a half space; neither says what it is made of."""
    config = lib.MultibodyPlantConfig(time_step=H)
    config.discrete_contact_approximation = approximation
    for name, value in settings.items():
        setattr(config, name, value)
    builder = lib.DiagramBuilder()
    plant, _ = lib.AddMultibodyPlant(config, builder)
    body = plant.AddRigidBody("b", lib.SpatialInertia.SolidSphereWithMass(MASS, RADIUS))
    friction = lib.CoulombFriction(1.0, 1.0)
    plant.RegisterCollisionGeometry(body, lib.RigidTransform(), lib.Sphere(RADIUS), "ball", friction)
    plant.RegisterCollisionGeometry(plant.world_body(), lib.RigidTransform(), lib.HalfSpace(), "ground", friction)
    plant.Finalize()
    simulator = lib.Simulator(builder.Build())
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    plant.SetFreeBodyPose(context, body, lib.RigidTransform([0.0, 0.0, RADIUS - DEPTH]))
    simulator.AdvanceTo(0.5 * H)
    return (plant.GetVelocities(context)[5] / H + FALL) * MASS


def test_by_default_the_penetration_allowance_says_how_stiff_they_are():
    force = first_force(own_library(), "lagged")
    k, d = MASS * FALL / 1e-4, 1.0 / np.sqrt(FALL * 1e-4)
    v = (force / MASS - FALL) * H
    assert force == pytest.approx(k * (DEPTH - H * v) * (1.0 - d * v), rel=1e-6)
    softer = first_force(own_library(), "lagged", penetration_allowance=2e-3)
    assert softer < 0.6 * force


def test_one_setting_gives_those_of_pydrake():
    force = first_force(own_library(), "lagged", contact_defaults="drake")
    v = (force / MASS - FALL) * H
    assert force == pytest.approx(5e5 * (DEPTH - H * v) * (1.0 - 50.0 * v), rel=1e-6)
    assert force == first_force(own_library(), "lagged", contact_defaults="drake", penetration_allowance=2e-3)


def test_only_names_of_defaults_are_accepted():
    with pytest.raises(RuntimeError, match="contact_defaults"):
        MultibodyPlantConfig(contact_defaults="pydrake")


@pytest.mark.parametrize("defaults", ["allowance", "drake"])
def test_sap_runs_without_a_relaxation_time(defaults):
    assert first_force(own_library(), "sap", contact_defaults=defaults) > 0.0
    assert DefaultProximityProperties().relaxation_time == 0.1


def test_the_setting_reaches_simulate(tmp_path):
    """A ball at rest: where it lies says how stiff the contact is."""
    model = tmp_path / "ball.urdf"
    model.write_text(BALL)

    def sinking(*options):
        options = ("--ground", "--at", f"ball_b_z={RADIUS}", "-t", 0.5, "--no-log", "--json", *options)
        return RADIUS - json.loads(succeed("simulate", model, *options).out)["q"][6]

    drake = sinking("--set", "plant_config.contact_defaults=drake")
    assert drake == pytest.approx(MASS * FALL / 5e5, rel=1e-2)
    assert sinking() == pytest.approx(1e-4, rel=1e-2)


@pytest.mark.peers("pydrake")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("approximation", ["lagged", "similar", "sap"])
def test_the_numbers_are_those_of_pydrake(approximation):
    ours = first_force(own_library(), approximation, contact_defaults="drake")
    assert ours == pytest.approx(first_force(drake_library(), approximation), rel=1e-6)


def test_contacts_of_a_state_have_the_stiction_tolerance_of_the_law_in_discrete_plants_too(tmp_path):
    model = tmp_path / "ball.urdf"
    model.write_text(BALL)
    state = ("--ground", "0", "--at", "b_z=0.0995", "--at", "b_vx=2e-6", "--json")

    def force(*settings):
        settings = (*settings, "penetration_allowance=1e-3")  # whose default is that of the kind of plant
        options = [word for setting in settings for word in ("--set", f"plant_config.{setting}")]
        (contact,) = succeed("-q", "contact", model, *state, *options).json()["point_pairs"]
        return contact["force_W"]

    assert force() == force("time_step=0") == force("stiction_tolerance=1e-3")
    assert abs(force("stiction_tolerance=1e-6")[0]) > 0.1 * force()[2] > 1e4 * abs(force()[0]) > 0.0
