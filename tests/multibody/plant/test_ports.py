"""Ports of a plant: plant.md section 14, table (c) 13, 25 and 31 (sums, samples, applied forces)."""

import numpy as np
import pytest
from random_trees import random_context, random_plant

from mbcli.multibody.math import SpatialForce, SpatialVelocity
from mbcli.multibody.plant import (
    ExternallyAppliedSpatialForce,
    ExternallyAppliedSpatialForceMultiplexer,
    MultibodyPlant,
)
from mbcli.multibody.tree import (
    BodyIndex,
    JacobianWrtVariable,
    ModelInstanceIndex,
    RevoluteJoint,
    SpatialInertia,
    UnitInertia,
)
from mbcli.systems.analysis import Simulator

DYNAMIC = ("generalized_acceleration", "net_actuation", "body_spatial_accelerations", "reaction_forces")


def pendulum(h, *, sampled=None):
    plant = MultibodyPlant(h)
    if sampled is not None:
        plant.SetUseSampledOutputPorts(sampled)
    point = [0.5, 0.0, 0.0]
    body = plant.AddRigidBody(
        "bob", SpatialInertia(2.0, point, UnitInertia.SolidSphere(0.1).ShiftFromCenterOfMass(point))
    )
    joint = plant.AddJoint(RevoluteJoint("pin", plant.world_frame(), body.body_frame(), [0, 1, 0], damping=0.3))
    plant.AddJointActuator("motor", joint)
    plant.Finalize()
    return plant


def numbers(value):
    """A port's value as one array."""
    if isinstance(value, np.ndarray):
        return value
    return np.array([x.get_coeffs() for x in value])


# names and sizes


def test_all_ports_have_the_reference_names_and_sizes():
    plant = random_plant(1)
    names = [plant.GetModelInstanceName(ModelInstanceIndex(i)) for i in range(plant.num_model_instances())]
    nq, nv, nu = plant.num_positions(), plant.num_velocities(), plant.num_actuators()
    inputs = {"actuation": nu, "applied_generalized_force": nv, "applied_spatial_force": 0}
    outputs = {"state": nq + nv, "body_poses": 0, "body_spatial_velocities": 0, "body_spatial_accelerations": 0}
    outputs |= {"generalized_acceleration": nv, "net_actuation": nu, "reaction_forces": 0}
    for i, name in enumerate(names):
        instance = ModelInstanceIndex(i)
        n = plant.num_actuators(instance)
        inputs |= {f"{name}_actuation": n, f"{name}_desired_state": 2 * n}
        outputs |= {
            f"{name}_state": plant.num_multibody_states(instance),
            f"{name}_generalized_acceleration": plant.num_velocities(instance),
            f"{name}_net_actuation": n,
        }
    assert len(names) == 4
    for expected, get, number in (
        (inputs, plant.get_input_port, plant.num_input_ports()),
        (outputs, plant.get_output_port, plant.num_output_ports()),
    ):
        ports = [get(k) for k in range(number)]
        assert expected.items() <= {port.get_name(): port.size() for port in ports}.items()
        assert [port.get_index() for port in ports] == list(range(number))
        assert all(port.get_system() is plant for port in ports)
    for name, size in inputs.items():
        assert plant.GetInputPort(name).size() == size
    for name, size in outputs.items():
        assert plant.GetOutputPort(name).size() == size


def test_ports_of_an_instance_without_joints_are_empty():
    plant = pendulum(0.01, sampled=False)
    context, world = plant.CreateDefaultContext(), ModelInstanceIndex(0)
    plant.get_actuation_input_port(world).FixValue(context, [])
    plant.get_desired_state_input_port(world).FixValue(context, [])
    assert plant.get_actuation_input_port(world).Eval(context).shape == (0,)
    for getter in (
        plant.get_state_output_port,
        plant.get_net_actuation_output_port,
        plant.get_generalized_acceleration_output_port,
    ):
        assert getter(world).Eval(context).shape == (0,)


def test_ports_need_a_finalized_plant():
    plant = MultibodyPlant(0.0)
    one = ModelInstanceIndex(1)
    for call in (
        plant.get_actuation_input_port,
        lambda: plant.get_desired_state_input_port(one),
        plant.get_applied_generalized_force_input_port,
        plant.get_applied_spatial_force_input_port,
        plant.get_state_output_port,
        plant.get_body_poses_output_port,
        plant.get_body_spatial_velocities_output_port,
        plant.get_body_spatial_accelerations_output_port,
        plant.get_generalized_acceleration_output_port,
        plant.get_net_actuation_output_port,
        plant.get_reaction_forces_output_port,
        lambda: plant.GetInputPort("actuation"),
        lambda: plant.GetOutputPort("state"),
    ):
        with pytest.raises(RuntimeError, match=r"Finalize\(\)"):
            call()


def test_wrong_names_values_and_instances_are_refused_and_change_nothing():
    plant = pendulum(0.0)
    context, other = plant.CreateDefaultContext(), pendulum(0.0).CreateDefaultContext()
    port = plant.get_actuation_input_port()
    port.FixValue(context, [1.5])
    with pytest.raises(RuntimeError, match="'actuation' has 1 elements, not 2"):
        port.FixValue(context, [1.0, 2.0])
    with pytest.raises(RuntimeError):
        port.FixValue(other, [1.0])
    assert port.Eval(context) == [1.5]
    assert not port.HasValue(plant.CreateDefaultContext())
    with pytest.raises(RuntimeError, match="'actuation' has no value"):
        port.Eval(plant.CreateDefaultContext())
    with pytest.raises(RuntimeError, match="no input port named 'nope'; there are geometry_query, actuation, "):
        plant.GetInputPort("nope")
    with pytest.raises(RuntimeError, match="no output port named 'nope'; there are .*state"):
        plant.GetOutputPort("nope")
    with pytest.raises(RuntimeError, match="no output port 99"):
        plant.get_output_port(99)
    with pytest.raises(RuntimeError):
        plant.get_actuation_input_port(ModelInstanceIndex(7))
    forces = plant.get_applied_spatial_force_input_port()
    with pytest.raises(TypeError, match="not 3.0"):
        forces.FixValue(context, 3.0)
    with pytest.raises(TypeError, match="not 'push'"):
        forces.FixValue(context, ["push"])
    assert not forces.HasValue(context)


def test_a_value_is_copied_when_it_is_fixed_and_when_it_is_read():
    plant = pendulum(0.0)
    context, u = plant.CreateDefaultContext(), np.array([2.0])
    port = plant.get_actuation_input_port()
    port.FixValue(context, u)
    u[0] = 9.0
    port.Eval(context)[0] = 7.0
    assert port.Eval(context) == [2.0]


# kinematic outputs, sums of inputs


@pytest.mark.parametrize("time_step", [0.0, 0.01])
def test_kinematic_outputs_are_those_of_the_context(time_step):
    plant = random_plant(2, time_step=time_step)
    context = random_context(plant, np.random.default_rng(2))
    poses = plant.get_body_poses_output_port().Eval(context)
    velocities = plant.get_body_spatial_velocities_output_port().Eval(context)
    assert len(poses) == len(velocities) == plant.num_bodies()
    assert poses[0].IsExactlyIdentity()
    for n in range(plant.num_bodies()):
        body = plant.get_body(BodyIndex(n))
        alone = plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4()
        np.testing.assert_allclose(poses[n].GetAsMatrix4(), alone, rtol=0.0, atol=1e-15)
        expected = plant.EvalBodySpatialVelocityInWorld(context, body)
        assert isinstance(velocities[n], SpatialVelocity)
        np.testing.assert_array_equal(velocities[n].get_coeffs(), expected.get_coeffs())
    np.testing.assert_array_equal(plant.get_state_output_port().Eval(context), plant.GetPositionsAndVelocities(context))
    for i in range(plant.num_model_instances()):
        instance = ModelInstanceIndex(i)
        np.testing.assert_array_equal(
            plant.get_state_output_port(instance).Eval(context), plant.GetPositionsAndVelocities(context, instance)
        )


def test_13_actuation_of_the_plant_and_of_interleaved_instances_add_up():
    plant = random_plant(5, num_bodies=12)
    context = random_context(plant, np.random.default_rng(5))
    rng = np.random.default_rng(6)
    u = rng.normal(size=plant.num_actuators())
    plant.get_actuation_input_port().FixValue(context, u)
    expected = u.copy()
    for i in (2, 3):
        instance = ModelInstanceIndex(i)
        part = rng.normal(size=plant.num_actuators(instance))
        assert part.size
        plant.get_actuation_input_port(instance).FixValue(context, part)
        for value, index in zip(part, plant.GetJointActuatorIndices(instance), strict=True):
            expected[plant.get_joint_actuator(index).input_start()] += value
    np.testing.assert_array_equal(plant.get_net_actuation_output_port().Eval(context), expected)
    vdot = plant.get_generalized_acceleration_output_port().Eval(context)
    np.testing.assert_allclose(vdot, plant.CalcAccelerations(context, u=expected), rtol=1e-12)
    for i in (2, 3):
        instance = ModelInstanceIndex(i)
        np.testing.assert_array_equal(
            plant.get_net_actuation_output_port(instance).Eval(context),
            plant.GetActuationFromArray(instance, expected),
        )
        np.testing.assert_array_equal(
            plant.get_generalized_acceleration_output_port(instance).Eval(context),
            plant.GetVelocitiesFromArray(instance, vdot),
        )


def test_13_a_removed_actuator_leaves_the_others_their_places():
    plant = random_plant(5, num_bodies=12, finalize=False)
    indices = plant.GetJointActuatorIndices()
    plant.RemoveJointActuator(plant.get_joint_actuator(indices[1]))
    plant.Finalize()
    kept = plant.GetJointActuatorIndices()
    assert [plant.get_joint_actuator(i).input_start() for i in kept] == list(range(len(indices) - 1))
    context = plant.CreateDefaultContext()
    for i in (2, 3):
        instance = ModelInstanceIndex(i)
        own = [int(k) for k in plant.GetJointActuatorIndices(instance)]
        plant.get_actuation_input_port(instance).FixValue(context, own)  # each has its index as its value
    net = plant.get_net_actuation_output_port().Eval(context)
    np.testing.assert_array_equal(net, [int(k) for k in kept])


# applied forces


def applied(body_index, p, F):
    force = ExternallyAppliedSpatialForce()
    force.body_index, force.p_BoBq_B, force.F_Bq_W = BodyIndex(body_index), np.asarray(p), SpatialForce(F)
    return force


def test_31_applied_forces_are_the_transposed_jacobian_at_their_point_times_the_force():
    plant = random_plant(3)
    rng = np.random.default_rng(3)
    context = random_context(plant, rng)
    forces = [applied(n, rng.normal(size=3), rng.normal(size=6)) for n in (3, 5, 5, 8)]
    forces.append(applied(4, np.zeros(3), [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]))  # a torque alone
    forces.append(applied(0, rng.normal(size=3), rng.normal(size=6)))  # on World: nothing
    tau = rng.normal(size=plant.num_velocities())
    expected = tau.copy()
    for force in forces:
        frame, world = plant.get_body(force.body_index).body_frame(), plant.world_frame()
        J = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, frame, force.p_BoBq_B, world, world)
        expected += J.T @ force.F_Bq_W.get_coeffs()
    plant.get_applied_spatial_force_input_port().FixValue(context, forces)
    plant.get_applied_generalized_force_input_port().FixValue(context, tau)
    vdot = plant.get_generalized_acceleration_output_port().Eval(context)
    np.testing.assert_allclose(vdot, plant.CalcAccelerations(context, tau=expected), rtol=1e-10, atol=1e-10)


def test_a_force_on_a_body_that_is_not_there_is_refused():
    plant = pendulum(0.0)
    context = plant.CreateDefaultContext()
    plant.get_applied_spatial_force_input_port().FixValue(context, [applied(9, np.zeros(3), np.ones(6))])
    with pytest.raises(RuntimeError, match="on body 9, the plant has 2"):
        plant.CalcForwardDynamics(context)


def test_a_multiplexer_makes_one_list_of_several():
    mux = ExternallyAppliedSpatialForceMultiplexer(num_inputs=3)
    context = mux.CreateDefaultContext()
    lists = [[applied(1, np.zeros(3), np.ones(6) * k) for k in range(n)] for n in (2, 0, 1)]
    for k, forces in enumerate(lists):
        mux.get_input_port(k).FixValue(context, forces)
    found = mux.get_output_port().Eval(context)
    expected = [force.F_Bq_W.get_coeffs() for force in lists[0] + lists[2]]
    np.testing.assert_array_equal([force.F_Bq_W.get_coeffs() for force in found], expected)
    with pytest.raises(RuntimeError, match="no input port 3"):
        mux.get_input_port(3)
    with pytest.raises(RuntimeError, match="'u0' has no value"):
        mux.get_output_port().Eval(mux.CreateDefaultContext())
    with pytest.raises(RuntimeError, match="must not be negative, it is -1"):
        ExternallyAppliedSpatialForceMultiplexer(-1)


# samples


def test_which_plants_have_sampled_outputs():
    assert MultibodyPlant(0.01).has_sampled_output_ports()
    assert not MultibodyPlant(0.0).has_sampled_output_ports()
    assert not pendulum(0.01, sampled=False).has_sampled_output_ports()
    continuous = MultibodyPlant(0.0)
    with pytest.raises(RuntimeError, match="the plant is continuous"):
        continuous.SetUseSampledOutputPorts(True)
    continuous.SetUseSampledOutputPorts(False)
    with pytest.raises(RuntimeError, match="finalized"):
        pendulum(0.01).SetUseSampledOutputPorts(False)


def evaluated(plant, context):
    return {name: numbers(plant.GetOutputPort(name).Eval(context)) for name in DYNAMIC}


def test_25_sampled_outputs_are_zero_before_the_first_step_and_then_those_of_the_state_before_it():
    sampled, live = pendulum(0.01), pendulum(0.01, sampled=False)
    contexts = [plant.CreateDefaultContext() for plant in (sampled, live)]
    for plant, context in zip((sampled, live), contexts, strict=True):
        plant.SetPositionsAndVelocities(context, [0.3, -0.8])
        plant.get_actuation_input_port().FixValue(context, [0.7])
    nothing, before = evaluated(sampled, contexts[0]), evaluated(live, contexts[1])
    for name in DYNAMIC:
        assert nothing[name].shape == before[name].shape
        assert (nothing[name] == 0.0).all()
        assert (before[name] != 0.0).any()
    simulators = [Simulator(p, c) for p, c in zip((sampled, live), contexts, strict=True)]
    for simulator in simulators:
        simulator.AdvanceTo(0.01)
    after, next_live = evaluated(sampled, contexts[0]), evaluated(live, contexts[1])
    for name in DYNAMIC:
        np.testing.assert_array_equal(after[name], before[name])
    assert not np.allclose(next_live["generalized_acceleration"], before["generalized_acceleration"], rtol=1e-6)
    step = (sampled.GetVelocities(contexts[0]) + 0.8) / 0.01  # the acceleration over the step
    np.testing.assert_allclose(after["generalized_acceleration"], step, rtol=1e-12)
    # a new state changes the live ports only, and the next step starts from it
    for plant, context in zip((sampled, live), contexts, strict=True):
        plant.SetPositions(context, [1.2])
        plant.get_actuation_input_port().FixValue(context, [-0.4])
    unchanged, changed = evaluated(sampled, contexts[0]), evaluated(live, contexts[1])
    for name in DYNAMIC:
        np.testing.assert_array_equal(unchanged[name], after[name])
        assert (changed[name] != next_live[name]).any()
    assert sampled.get_state_output_port().Eval(contexts[0])[0] == 1.2
    simulators[0].AdvanceTo(0.02)
    for name, value in evaluated(sampled, contexts[0]).items():
        np.testing.assert_array_equal(value, changed[name])


def test_25_what_Eval_and_Calc_say_is_of_this_instant_in_sampled_plants_too():
    plant = pendulum(0.01)
    context = plant.CreateDefaultContext()
    body = plant.GetBodyByName("bob")
    A = plant.EvalBodySpatialAccelerationInWorld(context, body).get_coeffs()
    inertia, damping = 2.0 * 0.25 + 0.4 * 2.0 * 0.01, 0.01 * 0.3
    share = (inertia + damping) / (2.0 * inertia + damping)  # of damping by the acceleration of the step
    assert A[1] == pytest.approx(2.0 * 9.81 * 0.5 / (inertia + share * damping), rel=1e-12)
    assert (plant.get_body_spatial_accelerations_output_port().Eval(context)[1].get_coeffs() == 0.0).all()


def test_forced_events_make_one_step_and_leave_the_time():
    forced, stepped = pendulum(0.01), pendulum(0.01)
    contexts = [plant.CreateDefaultContext() for plant in (forced, stepped)]
    forced.ExecuteForcedEvents(contexts[0])
    Simulator(stepped, contexts[1]).AdvanceTo(0.01)
    assert contexts[0].get_time() == 0.0
    np.testing.assert_array_equal(
        forced.GetPositionsAndVelocities(contexts[0]), stepped.GetPositionsAndVelocities(contexts[1])
    )
    for name, value in evaluated(forced, contexts[0]).items():
        np.testing.assert_array_equal(value, evaluated(stepped, contexts[1])[name])
    continuous = pendulum(0.0)
    context = continuous.CreateDefaultContext()
    continuous.ExecuteForcedEvents(context)
    np.testing.assert_array_equal(continuous.GetPositionsAndVelocities(context), [0.0, 0.0])


def test_a_clone_keeps_the_samples_of_its_own():
    plant = pendulum(0.01)
    context = plant.CreateDefaultContext()
    simulator = Simulator(plant, context)
    simulator.AdvanceTo(0.01)
    clone = context.Clone()
    before = evaluated(plant, clone)
    simulator.AdvanceTo(0.05)
    for name, value in evaluated(plant, clone).items():
        np.testing.assert_array_equal(value, before[name])
    assert (evaluated(plant, context)["reaction_forces"] != before["reaction_forces"]).any()


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("sampled", [True, False])
def test_outputs_of_a_damped_arm_after_steps_equal_those_of_pydrake(sampled):
    import pydrake.all as drake

    import mbcli.all as own

    rows = []
    for lib in (drake, own):
        plant = lib.MultibodyPlant(0.01)
        if lib is own:
            plant.set_step_scheme("drake")
        plant.SetUseSampledOutputPorts(sampled)
        inertia = lib.SpatialInertia.MakeFromCentralInertia(1.5, [0.3, 0.1, 0], lib.RotationalInertia(0.1, 0.2, 0.2))
        parent = plant.world_body()
        for n in range(3):
            body = plant.AddRigidBody(f"link{n}", inertia)
            joint = lib.RevoluteJoint(f"joint{n}", parent.body_frame(), body.body_frame(), [0, 1, n], 0.4)
            plant.AddJointActuator(f"motor{n}", plant.AddJoint(joint))
            parent = body
        plant.Finalize()
        context = plant.CreateDefaultContext()
        plant.SetPositionsAndVelocities(context, [0.2, 0.4, -0.7, 1.0, -2.0, 0.5])
        plant.get_actuation_input_port().FixValue(context, [1.0, -0.5, 0.25])
        push = lib.ExternallyAppliedSpatialForce()
        push.body_index, push.p_BoBq_B = lib.BodyIndex(3), [0.1, 0.2, 0.3]
        push.F_Bq_W = lib.SpatialForce([0.1, 0.2, -0.3], [1.0, 2.0, -1.5])
        plant.get_applied_spatial_force_input_port().FixValue(context, [push])
        simulator = lib.Simulator(plant, context)
        simulator.Initialize()
        for t in (0.0, 0.02, 0.025, 0.11):
            simulator.AdvanceTo(t)
            values = [plant.GetOutputPort(name).Eval(context) for name in DYNAMIC]
            rows.append(np.concatenate([numbers(v).ravel() for v in values]))
            rows.append(plant.GetPositionsAndVelocities(context))
            rows.append([simulator.get_num_steps_taken(), simulator.get_num_unrestricted_updates()])
    half = len(rows) // 2
    for theirs, ours in zip(rows[:half], rows[half:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-10 * max(1.0, np.abs(theirs).max()))
