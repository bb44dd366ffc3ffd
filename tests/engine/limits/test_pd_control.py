"""PD control of actuators in the discrete step: plant.md section 9, table (c) 12."""

import numpy as np
import pytest
from random_trees import ONE_DOF, add_controllers, random_context, random_plant

from mbcli.multibody.plant import DiscreteContactApproximation, MultibodyPlant
from mbcli.multibody.tree import ModelInstanceIndex, PdControllerGains, RevoluteJoint, SpatialInertia
from mbcli.systems.analysis import Simulator

DEFAULT = ModelInstanceIndex(1)
KINDS = (*ONE_DOF, "quaternion_floating", "ball_rpy", "ball_quaternion")


def wheel(p, d, *, h=0.01, effort=np.inf, approximation=None, damping=0.0, scheme="midpoint"):
    """One wheel about a vertical axis with a controller; returns the plant, its actuator and the inertia."""
    plant = MultibodyPlant(h)
    plant.set_step_scheme(scheme)
    if h:
        plant.SetUseSampledOutputPorts(False)
    if approximation is not None:
        plant.set_discrete_contact_approximation(approximation)
    body = plant.AddRigidBody("wheel", SpatialInertia.SolidBoxWithMass(2.0, 0.3, 0.4, 0.5))
    joint = plant.AddJoint(RevoluteJoint("axle", plant.world_frame(), body.body_frame(), [0, 0, 1], damping=damping))
    actuator = plant.AddJointActuator("motor", joint, effort)
    if p or d:
        actuator.set_controller_gains(PdControllerGains(p=p, d=d))
    plant.Finalize()
    return plant, actuator, 2.0 / 12.0 * (0.3**2 + 0.4**2)


def started(plant, q=0.2, v=-0.7, desired=(0.5, 0.3), u=0.4):
    context = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(context, [q, v])
    if desired is not None:
        plant.get_desired_state_input_port(DEFAULT).FixValue(context, desired)
    plant.get_actuation_input_port().FixValue(context, [u])
    return context


@pytest.mark.parametrize(("p", "d"), [(50.0, 0.0), (0.0, 7.0), (50.0, 7.0), (1e6, 0.0)])
def test_12_one_step_is_the_closed_form(p, d):
    h = 0.01
    plant, _, inertia = wheel(p, d, h=h, damping=0.2, scheme="drake")
    context = started(plant)
    Simulator(plant, context).AdvanceTo(h)
    numerator = -0.7 + h / inertia * (p * (0.5 - 0.2) + d * 0.3 + 0.4)
    v = numerator / (1.0 + h * (d + 0.2) / inertia + h * h * p / inertia)
    np.testing.assert_allclose(plant.GetPositionsAndVelocities(context), [0.2 + h * v, v], rtol=1e-13)


def shares(h, inertia, p, d):
    """theta, beta, gamma of smooth/middle.py, written anew."""
    z = h * h * p / inertia
    return (1.0 + h * d / inertia) / (2.0 + h * d / inertia), 0.25 - 1.0 / (6.0 + z), 0.5 * z**2 / (z**2 + 64.0)


@pytest.mark.parametrize(("p", "d"), [(50.0, 0.0), (0.0, 7.0), (50.0, 7.0), (1e6, 0.0)])
def test_a_step_of_second_order_takes_the_law_about_its_middle(p, d):
    """I vdot = u - c (v + theta h vdot) - d (v - v_d + theta' h vdot) - p (q - q_d + ahead h v + (b + g) h^2 vdot)."""
    h, q, v, damping = 0.01, 0.2, -0.7, 0.2
    plant, _, inertia = wheel(p, d, h=h, damping=damping)
    context = started(plant)
    of_joint = shares(h, inertia, 0.0, damping)[0]
    theta, beta, gamma = shares(h, inertia, p, d)
    offset = 0.4 - damping * v - d * (v - 0.3) - p * (q - 0.5 + (0.5 + gamma) * h * v)
    slope = h * (of_joint * damping + theta * d) + h * h * (beta + gamma) * p
    vdot = offset / (inertia + slope)
    (net,) = plant.get_net_actuation_output_port().Eval(context)
    Simulator(plant, context).AdvanceTo(h)
    share = theta if p == 0.0 else 0.5  # a controller without a position gain sets the velocity that moves the joint
    expected = [q + h * (v + share * h * vdot), v + h * vdot]
    np.testing.assert_allclose(plant.GetPositionsAndVelocities(context), expected, rtol=1e-12)
    assert net == pytest.approx(inertia * vdot + damping * (v + of_joint * h * vdot), rel=1e-12)


@pytest.mark.parametrize("gains", [(300.0, 4.0), (30.0, 0.0), (0.0, 5.0)])
def test_the_error_of_a_controlled_wheel_falls_with_the_square_of_the_step(gains):
    """Beside the exact motion of I qdd = -p (q - 0.5) - (d + 0.2) qd."""
    from scipy.linalg import expm

    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        plant, _, inertia = wheel(*gains, h=h, damping=0.2)
        context = started(plant, desired=(0.5, 0.0), u=0.0)
        Simulator(plant, context).AdvanceTo(0.4)
        p, d = gains
        motion = expm(0.4 * np.array([[0.0, 1.0], [-p / inertia, -(d + 0.2) / inertia]]))
        exact = motion @ [0.2 - 0.5, -0.7] + [0.5, 0.0]
        errors.append(np.abs(plant.GetPositionsAndVelocities(context) - exact).max())
    assert errors[0] / errors[1] > 3.7 and errors[1] / errors[2] > 3.7
    assert errors[2] < 1e-4


def test_12_stiff_gains_are_stable():
    plant, _, _ = wheel(1e6, 0.0, h=0.01)
    context = started(plant, desired=(0.5, 0.0), u=0.0)
    Simulator(plant, context).AdvanceTo(3.0)
    np.testing.assert_allclose(plant.GetPositionsAndVelocities(context), [0.5, 0.0], atol=1e-6)


@pytest.mark.parametrize(("desired", "effort"), [((9.0, 0.0), 1.5), ((-9.0, 0.0), -1.5)])
def test_12_effort_saturates_exactly_and_net_actuation_is_the_clamped_sum(desired, effort):
    h = 0.01
    plant, _, inertia = wheel(50.0, 1.0, h=h, effort=1.5)
    context = started(plant, desired=desired)
    for port in (plant.get_net_actuation_output_port(), plant.get_net_actuation_output_port(DEFAULT)):
        assert port.Eval(context) == [effort]
    Simulator(plant, context).AdvanceTo(h)
    assert plant.GetVelocities(context)[0] == pytest.approx(-0.7 + h * effort / inertia, rel=1e-14)


def test_12_an_effort_within_its_limit_is_the_law_at_the_end_of_the_step():
    h = 0.01
    plant, _, _ = wheel(5.0, 1.0, h=h, effort=30.0, scheme="drake")
    context = started(plant)
    (net,) = plant.get_net_actuation_output_port().Eval(context)
    Simulator(plant, context).AdvanceTo(h)
    q, v = plant.GetPositionsAndVelocities(context)
    assert net == pytest.approx(-5.0 * (q - 0.5) - 1.0 * (v - 0.3) + 0.4, rel=1e-13)


def test_12_without_a_controller_the_limit_does_not_clamp():
    """As the reference page says; pydrake 1.51 clamps."""
    plant, _, inertia = wheel(0.0, 0.0, effort=0.1)
    context = started(plant, desired=None, u=5.0)
    assert plant.get_net_actuation_output_port().Eval(context) == [5.0]
    Simulator(plant, context).AdvanceTo(0.01)
    assert plant.GetVelocities(context)[0] == pytest.approx(-0.7 + 0.01 * 5.0 / inertia, rel=1e-14)


def test_12_the_controller_of_a_locked_joint_rests():
    plant, actuator, _ = wheel(50.0, 7.0)
    context = started(plant, v=0.0, u=0.0)
    actuator.joint().Lock(context)
    assert plant.get_net_actuation_output_port().Eval(context) == [0.0]
    plant.get_actuation_input_port().FixValue(context, [0.25])
    assert plant.get_net_actuation_output_port().Eval(context) == [0.25]
    Simulator(plant, context).AdvanceTo(0.05)
    np.testing.assert_array_equal(plant.GetPositionsAndVelocities(context), [0.2, 0.0])
    actuator.joint().Unlock(context)
    assert plant.get_net_actuation_output_port().Eval(context)[0] > 5.0


@pytest.mark.parametrize(("h", "approximation"), [(0.0, None), (0.01, DiscreteContactApproximation.kTamsi)])
def test_continuous_plants_and_tamsi_have_no_controllers(h, approximation):
    plant, _, _ = wheel(50.0, 7.0, h=h, approximation=approximation)
    with_p, _, _ = wheel(0.0, 0.0, h=h, approximation=approximation)
    contexts = [started(plant), started(with_p, desired=None)]
    ends = []
    for system, context in zip((plant, with_p), contexts, strict=True):
        assert system.get_net_actuation_output_port().Eval(context) == [0.4]
        Simulator(system, context).AdvanceTo(0.1)
        ends.append(system.GetPositionsAndVelocities(context))
    np.testing.assert_array_equal(*ends)


def two_wheels(gains):
    plant = MultibodyPlant(0.01)
    plant.SetUseSampledOutputPorts(False)
    for n, gain in enumerate(gains):
        body = plant.AddRigidBody(f"wheel{n}", SpatialInertia.SolidBoxWithMass(2.0, 0.3, 0.4, 0.5))
        joint = plant.AddJoint(RevoluteJoint(f"axle{n}", plant.world_frame(), body.body_frame(), [0, 0, 1]))
        plant.AddJointActuator(f"motor{n}", joint).set_controller_gains(PdControllerGains(p=gain, d=0.0))
    plant.Finalize()
    return plant


def test_12_a_controller_for_some_actuators_of_an_instance_is_refused():
    plant = two_wheels([3.0, 0.0])
    context = plant.CreateDefaultContext()
    plant.get_desired_state_input_port(DEFAULT).FixValue(context, np.zeros(4))
    for call in (
        lambda: plant.get_net_actuation_output_port().Eval(context),
        lambda: plant.get_generalized_acceleration_output_port().Eval(context),
        lambda: Simulator(plant, context).AdvanceTo(0.1),
    ):
        with pytest.raises(RuntimeError, match="'DefaultModelInstance': some of its .* 'motor1' has none"):
            call()
    assert context.get_time() == 0.0


def test_a_controller_without_a_desired_state_is_refused():
    plant = two_wheels([3.0, 4.0])
    context = plant.CreateDefaultContext()
    with pytest.raises(RuntimeError, match="'DefaultModelInstance_desired_state' has no value"):
        plant.get_net_actuation_output_port().Eval(context)
    with pytest.raises(RuntimeError, match="has 4 elements, not 2"):
        plant.get_desired_state_input_port(DEFAULT).FixValue(context, [1.0, 2.0])


def test_a_desired_state_holds_the_positions_of_an_instance_before_its_velocities():
    plant = two_wheels([3.0, 4.0])
    context = plant.CreateDefaultContext()
    plant.get_desired_state_input_port(DEFAULT).FixValue(context, [0.5, -0.25, 0.0, 0.0])
    net = plant.get_net_actuation_output_port().Eval(context)
    np.testing.assert_allclose(net, [1.5, -1.0], rtol=0.05)  # soft: nearly the law at the start


# any tree, any gains, any limits


def controlled_plant(seed, scheme="midpoint"):
    """A random plant with controllers from soft to stiff and live outputs, and a generator for its states."""
    plant = random_plant(seed, KINDS, num_bodies=9, time_step=0.01, finalize=False)
    plant.set_step_scheme(scheme)
    add_controllers(np.random.default_rng(seed), plant, decades=3)
    plant.SetUseSampledOutputPorts(False)
    plant.Finalize()
    return plant, np.random.default_rng(seed)


def controlled_context(plant, rng):
    context = random_context(plant, rng)
    for instance in range(plant.num_model_instances()):
        port = plant.get_desired_state_input_port(ModelInstanceIndex(instance))
        port.FixValue(context, rng.normal(size=port.size()))
    plant.get_actuation_input_port().FixValue(context, 20.0 * rng.normal(size=plant.num_actuators()))
    return context


@pytest.mark.parametrize("seed", range(12))
def test_accelerations_solve_the_clamped_law_of_the_dense_equations(seed):
    """M vdot = r + B clamp(a - k vdot), with M and r of the plant without controllers; 16 states of each plant.

    In the scheme `drake`, whose steps take everything at their start.
    """
    plant, rng = controlled_plant(seed, "drake")
    limited, free = 0, 0
    for _ in range(16):
        context = controlled_context(plant, rng)
        h, B = plant.time_step(), plant.MakeActuationMatrix()
        net = plant.get_net_actuation_output_port().Eval(context)
        vdot = plant.get_generalized_acceleration_output_port().Eval(context)
        q, v = plant.GetPositions(context), plant.GetVelocities(context)
        next_v = v + h * vdot
        for index in plant.GetJointActuatorIndices():
            actuator = plant.get_joint_actuator(index)
            joint, gains, limit = actuator.joint(), actuator.get_controller_gains(), actuator.effort_limit()
            instance = joint.model_instance()
            order = [int(i) for i in plant.GetJointActuatorIndices(instance)]
            desired = plant.get_desired_state_input_port(instance).Eval(context)
            k, i = order.index(int(index)), joint.velocity_start()
            end = q[joint.position_start()] + h * next_v[i]
            u = plant.get_actuation_input_port().Eval(context)[actuator.input_start()]
            terms = gains.p * (end - desired[k]), gains.d * (next_v[i] - desired[len(order) + k]), u
            law = -terms[0] - terms[1] + terms[2]
            given = net[actuator.input_start()]
            assert abs(given - np.clip(law, -limit, limit)) <= 1e-9 * max(map(abs, terms))
            limited, free = limited + (abs(law) > limit), free + (abs(law) < limit)
        damping = np.zeros(v.size)
        for index in plant.GetJointIndices():
            joint = plant.get_joint(index)
            n = joint.num_velocities()
            damping[joint.velocity_start() : joint.velocity_start() + n] = joint.GetDampingVector(context)
        without = plant.CalcAccelerations(context, tau=B @ net)  # damping at the old velocity
        M = plant.CalcMassMatrix(context)
        expected = np.linalg.solve(M + np.diag(h * damping), M @ without)
        np.testing.assert_allclose(vdot, expected, rtol=1e-8, atol=1e-8 * abs(expected).max())
    assert limited > 3
    assert free > 3


def test_interpreted_and_compiled_controllers_agree(monkeypatch):
    results = []
    for jit in "01":
        monkeypatch.setenv("MBCLI_JIT", jit)
        plant, rng = controlled_plant(5)
        context = controlled_context(plant, rng)
        Simulator(plant, context).AdvanceTo(0.05)
        results.append(plant.GetPositionsAndVelocities(context))
    np.testing.assert_allclose(*results, rtol=1e-9, atol=1e-9)


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("effort", [2.0, 1e4])
def test_steps_of_a_controlled_arm_equal_those_of_pydrake(effort):
    import pydrake.all as drake

    import mbcli.all as mbcli

    states = []
    for lib in (drake, mbcli):
        plant = lib.MultibodyPlant(0.005)
        if lib is mbcli:
            plant.set_step_scheme("drake")
        parent = plant.world_body()
        inertia = lib.SpatialInertia.MakeFromCentralInertia(1.0, [0.3, 0.05, 0], lib.RotationalInertia(0.02, 0.1, 0.1))
        for n in range(4):
            body = plant.AddRigidBody(f"link{n}", inertia)
            frame = plant.AddFrame(
                lib.FixedOffsetFrame(f"at{n}", parent.body_frame(), lib.RigidTransform([0.6 * (n > 0), 0, 0]))
            )
            axis = [[0, 1, 0], [0, 0, 1]][n % 2]
            joint = plant.AddJoint(lib.RevoluteJoint(f"joint{n}", frame, body.body_frame(), axis, 0.1))
            actuator = plant.AddJointActuator(f"motor{n}", joint, effort)
            actuator.set_controller_gains(lib.PdControllerGains(p=10.0 ** (n + 1), d=5.0))
            parent = body
        plant.Finalize()
        context = plant.CreateDefaultContext()
        instance = lib.ModelInstanceIndex(1)
        plant.get_desired_state_input_port(instance).FixValue(context, [0.5, -0.4, 0.3, 0.2, 0, 0, 0.1, 0])
        plant.get_actuation_input_port(instance).FixValue(context, [0.5, 0.2, -0.1, 0.3])
        plant.SetVelocities(context, [0.1, 0.2, 0.3, -0.4])
        simulator = lib.Simulator(plant, context)
        simulator.Initialize()
        rows = []
        for k in range(1, 41):
            simulator.AdvanceTo(0.005 * k)
            net = plant.get_net_actuation_output_port().Eval(context)
            rows.append([*plant.GetPositionsAndVelocities(context), *net])
        states.append(rows)
    np.testing.assert_allclose(*states, rtol=1e-9, atol=1e-9)
