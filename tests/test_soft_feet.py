"""A quadruped with compliant feet stands and walks."""

import numpy as np
from command_line import SAMPLES, cli

import mbcli.all as mbcli

ROBOT = SAMPLES / "quadruped.urdf"
SETTINGS = """
scene_graph_config:
  default_proximity_properties:
    {compliance_type: compliant, hydroelastic_modulus: 5.0e+5, resolution_hint: 0.01, hunt_crossley_dissipation: 20.0}
"""


def test_a_quadruped_stands_on_compliant_feet_without_a_warning(tmp_path):
    settings = tmp_path / "soft.yaml"
    settings.write_text(SETTINGS)
    run = cli("simulate", ROBOT, "--ground", "--hold", "--config", settings, "-t", 10, "--no-log", "--json")
    assert run.code == 0 and "warning" not in run.err
    assert 0.2 < run.json()["q"][6] < 0.5 and np.abs(run.json()["v"]).max() < 1e-3
    here = cli("contact", ROBOT, "--ground", "--config", settings, "--at", "trunk_z=0.3", "--json").json()
    assert here["point_pairs"] == []


def walker():
    """(plant, simulator, context) of the robot with PD controllers on rigid ground, and its joints by name."""
    builder = mbcli.DiagramBuilder()
    defaults = mbcli.DefaultProximityProperties(
        compliance_type="compliant", hydroelastic_modulus=5e5, resolution_hint=0.01, hunt_crossley_dissipation=20.0
    )
    plant, graph = mbcli.AddMultibodyPlant(mbcli.MultibodyPlantConfig(time_step=1e-3), builder)
    graph.set_config(mbcli.SceneGraphConfig(default_proximity_properties=defaults))
    (robot,) = mbcli.Parser(plant).AddModels(str(ROBOT))
    ground = mbcli.ProximityProperties()
    mbcli.AddContactMaterial(friction=mbcli.CoulombFriction(0.8, 0.8), properties=ground)
    mbcli.AddRigidHydroelasticProperties(properties=ground)
    plant.RegisterCollisionGeometry(plant.world_body(), mbcli.RigidTransform(), mbcli.HalfSpace(), "ground", ground)
    for index in plant.GetJointActuatorIndices(robot):
        plant.get_joint_actuator(index).set_controller_gains(mbcli.PdControllerGains(p=150.0, d=4.0))
    plant.Finalize()
    simulator = mbcli.Simulator(builder.Build())
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    return plant, robot, simulator, context


def test_a_quadruped_lifts_its_feet_in_turn_for_ten_seconds_and_stays_upright():
    plant, robot, simulator, context = walker()
    names = [plant.get_joint_actuator(k).joint().name() for k in plant.GetJointActuatorIndices(robot)]
    stance = np.array([0.0 if "roll" in name else (-1.2 if "knee" in name else 0.6) for name in names])
    for name, angle in zip(names, stance, strict=True):
        plant.GetJointByName(name).set_angle(context, angle)
    body = plant.GetBodyByName("trunk")
    feet = plant.GetBodyByName("front_left_shank")
    height = -plant.EvalBodyPoseInWorld(context, feet).multiply(np.array([0.0, 0.0, -0.242]))[2]
    plant.SetFreeBodyPose(context, body, mbcli.RigidTransform([0.0, 0.0, height]))
    port = plant.get_desired_state_input_port(robot)
    fewest, most = 9, 0
    for step in range(200):
        aim, t = stance.copy(), 0.05 * step
        if t > 1.0:  # diagonal legs in turn, twice a second
            for k, name in enumerate(names):
                diagonal = name.startswith(("front_left", "rear_right"))
                lift = max(0.0, np.sin(2 * np.pi * 2 * t + (0.0 if diagonal else np.pi)))
                aim[k] += lift * (0.15 if "pitch" in name else (-0.3 if "knee" in name else 0.0))
        port.FixValue(context, np.concatenate([aim, np.zeros(len(aim))]))
        simulator.AdvanceTo(t + 0.05)
        count = plant.get_contact_results_output_port().Eval(context).num_hydroelastic_contacts()
        if t > 1.0:
            fewest, most = min(fewest, count), max(most, count)
    X = plant.EvalBodyPoseInWorld(context, body)
    assert most == 4 and fewest <= 2  # feet leave the ground, and come back
    assert 0.8 * height < X.translation()[2] < 1.1 * height and X.rotation().matrix()[2, 2] > 0.98
    assert abs(X.translation()[1]) < 0.1  # straight on
