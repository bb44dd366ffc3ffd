"""Propellers and wings: their forces, and flights with them."""

import numpy as np
import pytest
from force_element_scene import mbcli, pydrake

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.math import RigidTransform, RollPitchYaw, RotationMatrix
from mbcli.multibody.math import SpatialForce, SpatialVelocity
from mbcli.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant, Propeller, PropellerInfo, Wing
from mbcli.multibody.tree import BodyIndex, RotationalInertia, SpatialInertia
from mbcli.systems.framework import DiagramBuilder
from mbcli.systems.simulator import ApplySimulatorConfig, Simulator

G = 9.81
MASS = 0.8


def quadrotor(time_step=0.0):
    """A free body with four rotors in its corners, turning in alternate senses."""
    plant = MultibodyPlant(time_step)
    inertia = SpatialInertia.MakeFromCentralInertia(MASS, np.zeros(3), RotationalInertia(0.01, 0.01, 0.02))
    body = plant.AddRigidBody("quadrotor", inertia)
    plant.Finalize()
    corners = [(0.2, 0.0), (0.0, 0.2), (-0.2, 0.0), (0.0, -0.2)]
    rotors = [
        PropellerInfo(body.index(), RigidTransform([x, y, 0.0]), 2.0, 0.05 * (-1) ** n)
        for n, (x, y) in enumerate(corners)
    ]
    return plant, body, Propeller(rotors)


# propellers


def test_four_rotors_at_a_quarter_of_the_weight_hover():
    """plant.md (c) 31."""
    for time_step in (0.0, 0.01):
        plant, body, rotors = quadrotor(time_step)
        context = plant.CreateDefaultContext()
        source = rotors.MakeSource(plant, np.full(4, MASS * G / 4.0 / 2.0))
        plant.get_applied_spatial_force_input_port().Follow(context, source)
        np.testing.assert_allclose(plant.CalcForwardDynamics(context), np.zeros(6), atol=1e-14)
        Simulator(plant, context).AdvanceTo(1.0)
        np.testing.assert_allclose(plant.EvalBodyPoseInWorld(context, body).translation(), np.zeros(3), atol=1e-13)


def test_thrust_turns_with_the_body_and_differences_of_thrust_turn_the_body():
    plant, body, rotors = quadrotor()
    context = plant.CreateDefaultContext()
    port = plant.get_applied_spatial_force_input_port()
    R_WB = RotationMatrix(RollPitchYaw(0.4, -0.3, 0.2))
    plant.SetFreeBodyPose(context, body, RigidTransform(R_WB, [1.0, 2.0, 3.0]))
    command = np.array([1.0, 2.0, 3.0, 4.0])
    port.Follow(context, rotors.MakeSource(plant, lambda c: command))
    vdot = plant.CalcForwardDynamics(context)
    np.testing.assert_allclose(vdot[3:], R_WB @ [0.0, 0.0, 20.0 / MASS] - [0.0, 0.0, G], atol=1e-13)
    # the lever arms times the thrusts, and the drag torques of alternate signs
    moment = [0.2 * 2.0 * (2.0 - 4.0), -0.2 * 2.0 * (1.0 - 3.0), 0.05 * (1.0 - 2.0 + 3.0 - 4.0)]
    np.testing.assert_allclose(vdot[:3], R_WB @ (np.array(moment) / [0.01, 0.01, 0.02]), atol=1e-12)


def test_commands_of_the_state_and_time_act_in_continuous_and_discrete_runs():
    """A height controller brings the rotors where it wants them; a constant force would not."""
    ends = []
    for time_step in (0.0, 0.001):
        plant, _, rotors = quadrotor(time_step)
        context = plant.CreateDefaultContext()

        def command(c, plant=plant):
            height, rate = plant.GetPositions(c)[6], plant.GetVelocities(c)[5]
            return np.full(4, MASS * (G + 4.0 * (1.0 - height) - 4.0 * rate) / 8.0)

        plant.get_applied_spatial_force_input_port().Follow(context, rotors.MakeSource(plant, command))
        simulator = Simulator(plant, context)
        ApplySimulatorConfig(SimulatorConfig(accuracy=1e-8), simulator)
        simulator.AdvanceTo(1.5)
        ends.append(plant.GetPositions(context)[6])
    expected = 1.0 - np.exp(-2.0 * 1.5) * (1.0 + 2.0 * 1.5)  # critically damped
    assert ends[0] == pytest.approx(expected, abs=1e-7)
    assert ends[1] == pytest.approx(expected, abs=2e-3)


def test_forces_in_steps_of_time_are_those_of_the_time():
    """A force that grows with time: z = t^3/6 for z'' = t, which a scheme of third order gives exactly."""
    plant, body, rotors = quadrotor()
    context = plant.CreateDefaultContext()
    source = rotors.MakeSource(plant, lambda c: np.full(4, MASS * (G + c.get_time()) / 8.0))
    plant.get_applied_spatial_force_input_port().Follow(context, source)
    Simulator(plant, context).AdvanceTo(1.5)
    assert plant.EvalBodyPoseInWorld(context, body).translation()[2] == pytest.approx(1.5**3 / 6.0, rel=1e-12)


def test_propellers_refuse_what_does_not_fit():
    _, _, rotors = quadrotor()
    with pytest.raises(RuntimeError, match="4 propellers have 3 commands"):
        rotors.CalcSpatialForces([1.0, 2.0, 3.0], [RigidTransform()] * 2)
    with pytest.raises(RuntimeError, match="ratios must be finite"):
        Propeller(BodyIndex(1), RigidTransform(), np.nan)
    context = rotors.CreateDefaultContext()
    with pytest.raises(RuntimeError, match="'command' has no value"):
        rotors.get_spatial_forces_output_port().Eval(context)
    with pytest.raises(RuntimeError, match="not made by this Propeller"):
        rotors.get_spatial_forces_output_port().Eval(Propeller(BodyIndex(1)).CreateDefaultContext())
    with pytest.raises(RuntimeError, match="'command' has 4 elements"):
        rotors.get_command_input_port().FixValue(context, [1.0])


# wings


@pytest.mark.parametrize("degrees", [0.0, 15.0, 45.0, 90.0, -30.0])
def test_lift_and_drag_are_those_of_a_flat_plate(degrees):
    """plant.md (c) 31: CL = 2 sin a cos a and CD = 2 sin^2 a, times density v^2 area / 2."""
    angle, speed, area, density = np.deg2rad(degrees), 3.0, 0.5, 1.3
    wing = Wing(BodyIndex(1), area, RigidTransform([0.1, 0.2, 0.3]), density)
    # pitched up by the angle (nose to +z), flying along x
    X_WB = RigidTransform(RollPitchYaw(0.0, -angle, 0.0), [1.0, 2.0, 3.0])
    force = wing.CalcSpatialForce(X_WB, SpatialVelocity([0.0, 0.0, 0.0], [speed, 0.0, 0.0]))
    pressure = 0.5 * density * speed**2 * area
    drag, lift = 2.0 * np.sin(angle) ** 2 * pressure, 2.0 * np.sin(angle) * np.cos(angle) * pressure
    expected = [-drag, 0.0, lift]
    np.testing.assert_allclose(force.F_Bq_W.translational(), expected, atol=1e-13)
    np.testing.assert_array_equal(force.F_Bq_W.rotational(), np.zeros(3))
    np.testing.assert_array_equal(force.p_BoBq_B, [0.1, 0.2, 0.3])


def test_wind_counts_relative_to_the_wing_and_flow_along_the_span_does_not_count():
    wing = Wing(BodyIndex(1), 0.5)
    X_WB = RigidTransform(RollPitchYaw(0.3, -0.2, 0.4), [0.0, 0.0, 0.0])
    y_W = X_WB.rotation().matrix()[:, 1]
    velocity, wind = np.array([3.0, 1.0, -0.5]), np.array([-1.0, 0.5, 0.2])

    def force(v, w):
        return wing.CalcSpatialForce(X_WB, SpatialVelocity([0.0, 0.0, 0.0], v), w).F_Bq_W.translational()

    np.testing.assert_allclose(force(velocity, wind), force(velocity - wind, np.zeros(3)), atol=1e-14)
    np.testing.assert_allclose(force(velocity + 7.0 * y_W, wind), force(velocity, wind), atol=1e-13)
    np.testing.assert_array_equal(force(wind, wind), np.zeros(3))


def test_the_velocity_that_counts_is_that_of_the_aerodynamic_centre():
    """A wing out on a rolling body meets the air from below on the side that goes down."""
    right, left = (Wing(BodyIndex(1), 0.5, RigidTransform([0.0, y, 0.0])) for y in (-2.0, 2.0))
    V_WB = SpatialVelocity([0.3, 0.0, 0.0], [3.0, 0.0, 0.0])
    rise = {y: 0.3 * y for y in (-2.0, 2.0)}
    for wing, y in ((right, -2.0), (left, 2.0)):
        lift = wing.CalcSpatialForce(RigidTransform(), V_WB).F_Bq_W.translational()[2]
        assert lift == pytest.approx(-1.204 * 0.5 * np.hypot(3.0, rise[y]) * rise[y], rel=1e-12)


def test_a_wing_only_takes_energy_from_its_motion_in_air_at_rest():
    rng = np.random.default_rng(2)
    for _ in range(1000):
        wing = Wing(BodyIndex(1), 0.4, RigidTransform(RollPitchYaw(*rng.normal(size=3)), rng.normal(size=3)))
        X_WB = RigidTransform(RollPitchYaw(*rng.normal(size=3)), rng.normal(size=3))
        V_WB = SpatialVelocity(rng.normal(size=3), rng.normal(size=3))
        force = wing.CalcSpatialForce(X_WB, V_WB)
        V_WBq = V_WB.Shift(X_WB.rotation() @ force.p_BoBq_B)
        assert force.F_Bq_W.dot(V_WBq) <= 0.0


def test_a_glider_sinks_at_the_speed_where_the_plate_carries_it():
    """A plate that falls flat: density area v^2 = m g."""
    plant = MultibodyPlant(0.0)
    inertia = SpatialInertia.MakeFromCentralInertia(MASS, np.zeros(3), RotationalInertia(0.01, 0.01, 0.02))
    body = plant.AddRigidBody("plate", inertia)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    wing = Wing(body.index(), 0.5)
    plant.get_applied_spatial_force_input_port().Follow(context, wing.MakeSource(plant))
    Simulator(plant, context).AdvanceTo(8.0)
    speed = np.sqrt(MASS * G / (1.204 * 0.5))
    assert plant.GetVelocities(context)[5] == pytest.approx(-speed, rel=1e-4)
    # in air that rises with that speed, and in one twice as dense
    rising = wing.MakeSource(plant, lambda c, p: [0.0, 0.0, speed])
    plant.get_applied_spatial_force_input_port().Follow(context, rising)
    plant.SetVelocities(context, np.zeros(6))
    np.testing.assert_allclose(plant.CalcForwardDynamics(context), np.zeros(6), atol=1e-12)
    dense = wing.MakeSource(plant, lambda c, p: [0.0, 0.0, speed], lambda c: 2.408)
    plant.get_applied_spatial_force_input_port().Follow(context, dense)
    assert plant.CalcForwardDynamics(context)[5] == pytest.approx(G)


def test_wings_refuse_what_does_not_fit():
    with pytest.raises(RuntimeError, match="surface_area of a wing .* -1"):
        Wing(BodyIndex(1), -1.0)
    with pytest.raises(RuntimeError, match="fluid_density of a wing .* nan"):
        Wing(BodyIndex(1), 1.0, RigidTransform(), np.nan)
    wing = Wing(BodyIndex(1), 1.0)
    context = wing.CreateDefaultContext()
    with pytest.raises(RuntimeError, match="'body_poses' has no value"):
        wing.get_spatial_force_output_port().Eval(context)
    wing.get_body_poses_input_port().FixValue(context, [RigidTransform()] * 2)
    with pytest.raises(RuntimeError, match="'body_spatial_velocities' has no value"):
        wing.get_spatial_force_output_port().Eval(context)
    np.testing.assert_array_equal(wing.get_aerodynamic_center_output_port().Eval(context), np.zeros(3))


def test_a_diagram_of_plant_and_wing_flies_as_the_wing_beside_the_plant():
    plant = MultibodyPlant(0.0)
    inertia = SpatialInertia.MakeFromCentralInertia(MASS, np.zeros(3), RotationalInertia(0.01, 0.01, 0.02))
    body = plant.AddRigidBody("plate", inertia)
    plant.Finalize()
    X_BodyWing = RigidTransform(RollPitchYaw(0.1, 0.2, 0.3), [0.05, 0.02, 0.0])
    alone = plant.CreateDefaultContext()
    wing = Wing(body.index(), 0.5, X_BodyWing, 1.3)
    plant.get_applied_spatial_force_input_port().Follow(alone, wing.MakeSource(plant))
    builder = DiagramBuilder()
    builder.AddSystem(plant)
    in_diagram = Wing.AddToBuilder(builder, plant, body.index(), 0.5, X_BodyWing, 1.3)
    assert isinstance(in_diagram, Wing)
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    together = plant.GetMyContextFromRoot(root)
    for simulator in (Simulator(plant, alone), Simulator(diagram, root)):
        simulator.AdvanceTo(0.5)
    x = [plant.GetPositionsAndVelocities(context) for context in (alone, together)]
    np.testing.assert_array_equal(*x)
    assert abs(x[0][7:]).max() > 0.5


# applied forces


@pytest.mark.parametrize("time_step", [0.0, 0.002])
def test_applied_forces_act_in_simulations(time_step):
    """plant.md (c) 31: a constant force at a point of the body, and a generalized force."""
    plant, body, _ = quadrotor(time_step)
    context = plant.CreateDefaultContext()
    force = ExternallyAppliedSpatialForce()
    force.body_index = body.index()
    force.p_BoBq_B = np.array([0.0, 0.0, 0.0])
    force.F_Bq_W = SpatialForce([0.0, 0.0, 0.002], [0.0, 0.0, MASS * G])
    plant.get_applied_spatial_force_input_port().FixValue(context, [force])
    tau = np.array([0.0, 0.0, 0.0, MASS * 0.5, 0.0, 0.0])
    plant.get_applied_generalized_force_input_port().FixValue(context, tau)
    Simulator(plant, context).AdvanceTo(2.0)
    v = plant.GetVelocities(context)
    np.testing.assert_allclose(v, [0.0, 0.0, 0.1 * 2.0, 0.5 * 2.0, 0.0, 0.0], atol=1e-12)


def test_implicit_schemes_refuse_applied_forces():
    plant, _, rotors = quadrotor()
    context = plant.CreateDefaultContext()
    plant.get_applied_spatial_force_input_port().Follow(context, rotors.MakeSource(plant, np.zeros(4)))
    simulator = Simulator(plant, context)
    ApplySimulatorConfig(SimulatorConfig(integration_scheme="radau3"), simulator)
    with pytest.raises(RuntimeError, match="'radau3' cannot run with .* applied forces"):
        simulator.AdvanceTo(1.0)


# pydrake


def system_outputs(lib, seed):
    """What a propeller and a wing give for random bodies in a library."""
    rng = np.random.default_rng(seed)

    def pose():
        return lib.RigidTransform(lib.RollPitchYaw(*rng.normal(size=3)), rng.normal(size=3))

    poses = [lib.RigidTransform(), pose(), pose()]
    zero = lib.SpatialVelocity(np.zeros(3), np.zeros(3))
    # pydrake 1.51 takes the velocity of the body's origin for that of the aerodynamic centre: no rotation here
    velocities = [zero] + [lib.SpatialVelocity(np.zeros(3), rng.normal(size=3)) for _ in range(2)]
    info = [lib.PropellerInfo(lib.BodyIndex(n), pose(), *rng.normal(size=2)) for n in (1, 2, 2)]
    rotors = lib.Propeller(info)
    context = rotors.CreateDefaultContext()
    rotors.get_command_input_port().FixValue(context, rng.normal(size=3))
    fix(rotors.get_body_poses_input_port(), context, poses)
    forces = list(rotors.get_spatial_forces_output_port().Eval(context))
    wing = lib.Wing(lib.BodyIndex(2), rng.uniform(0.1, 1.0), pose(), 1.1)
    context = wing.CreateDefaultContext()
    fix(wing.get_body_poses_input_port(), context, poses)
    fix(wing.get_body_spatial_velocities_input_port(), context, velocities)
    forces += wing.get_spatial_force_output_port().Eval(context)
    center = wing.get_aerodynamic_center_output_port().Eval(context)
    wing.get_wind_velocity_input_port().FixValue(context, rng.normal(size=3))
    wing.get_fluid_density_input_port().FixValue(context, [0.7])
    forces += wing.get_spatial_force_output_port().Eval(context)
    rows = [[int(f.body_index), *f.p_BoBq_B, *f.F_Bq_W.get_coeffs()] for f in forces]
    return np.array(rows), np.array(center)


def fix(port, context, value):
    if type(port).__module__.startswith("mbcli"):
        port.FixValue(context, value)
    else:
        from pydrake.common.value import Value

        port.FixValue(context, Value(value))


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("seed", range(5))
def test_propellers_and_wings_agree_with_pydrake(seed):
    for ours, theirs in zip(system_outputs(mbcli(), seed), system_outputs(pydrake(), seed), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-13)
