"""Linearization by exact derivatives: plant.md table (a) 37, (c) 33."""

import numpy as np
import pytest
from command_line import cli
from random_trees import RATES, joints_of, random_context, random_plant
from test_pd_control import controlled_context, controlled_plant

from mbcli.math import RigidTransform
from mbcli.multibody.linearization import motion_derivatives
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
from mbcli.multibody.tree import (
    BodyIndex,
    FixedOffsetFrame,
    ForceElement,
    ModelInstanceIndex,
    RevoluteJoint,
    SpatialInertia,
)
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder
from mbcli.systems.motion_slopes import MotionSlopes
from mbcli.systems.primitives import (
    FirstOrderTaylorApproximation,
    Gain,
    InputPortSelection,
    Linearize,
    OutputPortSelection,
)

DIFFERENCE = 1e-5


def pendulum(h=0.0, damping=0.1, upper_limit=np.inf):
    plant = MultibodyPlant(h)
    body = plant.AddRigidBody("rod", SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.1, 1.0))
    end = plant.AddFrame(FixedOffsetFrame("end", body.body_frame(), RigidTransform([0.0, 0.0, 0.5])))
    joint = plant.AddJoint(RevoluteJoint("pin", plant.world_frame(), end, [0, 1, 0], damping=damping))
    plant.AddJointActuator("motor", joint)
    joint.set_position_limits([-np.inf], [upper_limit])
    plant.set_step_scheme("drake")  # whose closed forms are short
    if h:
        plant.SetUseSampledOutputPorts(False)
    plant.Finalize()
    inertia = 2.0 / 12.0 * (0.1**2 + 1.0) + 2.0 * 0.25
    return plant, inertia


def test_a_pendulum_at_rest_is_its_closed_form():
    plant, inertia = pendulum()
    system = Linearize(plant, plant.CreateDefaultContext())
    stiffness = 2.0 * 9.81 * 0.5
    np.testing.assert_allclose(system.A(), [[0, 1], [-stiffness / inertia, -0.1 / inertia]], atol=1e-14)
    np.testing.assert_allclose(system.B(), [[0], [1.0 / inertia]], atol=1e-14)
    np.testing.assert_array_equal(system.C(), np.eye(2))
    np.testing.assert_array_equal(system.D(), np.zeros((2, 1)))
    assert system.time_period() == 0.0


def test_a_step_of_a_pendulum_is_its_closed_form():
    h = 0.02
    plant, inertia = pendulum(h)
    system = Linearize(plant, plant.CreateDefaultContext())
    denominator = inertia + h * 0.1
    row = np.array([-h * 2.0 * 9.81 * 0.5 / denominator, inertia / denominator])
    np.testing.assert_allclose(system.A(), [[1, 0] + h * row, row], atol=1e-14)
    np.testing.assert_allclose(system.B(), [[h * h / denominator], [h / denominator]], atol=1e-14)
    assert system.time_period() == h


def motion(plant, context, x, u):
    """[qdot; vdot], or the next state, at other x and u."""
    other = context.Clone()
    plant.SetPositionsAndVelocities(other, x)
    plant.get_actuation_input_port().FixValue(other, u)
    if not plant.is_discrete():
        return plant.EvalTimeDerivatives(other).CopyToVector()
    Simulator(plant, other).AdvanceTo(plant.time_step())
    return plant.GetPositionsAndVelocities(other)


def central_differences(function, x):
    columns = []
    for k in range(x.size):
        e = np.zeros(x.size)
        e[k] = DIFFERENCE
        columns.append((function(x + e) - function(x - e)) / (2.0 * DIFFERENCE))
    return np.reshape(columns, (x.size, -1)).T


def assert_derivatives(plant, context, tolerance=1e-6):
    """(c) 33: A and B against central differences; the approximation holds the point itself to rounding."""
    u = plant.get_actuation_input_port().Eval(context)
    x = plant.GetPositionsAndVelocities(context)
    system = FirstOrderTaylorApproximation(plant, context)
    A = central_differences(lambda x: motion(plant, context, x, u), x)
    B = central_differences(lambda u: motion(plant, context, x, u), u)
    np.testing.assert_allclose(system.A(), A, rtol=0.0, atol=tolerance * abs(A).max())
    np.testing.assert_allclose(system.B(), B, rtol=0.0, atol=tolerance * abs(B).max())
    f = motion(plant, context, x, u)
    at_point = system.A() @ x + system.B() @ u + system.f0()
    np.testing.assert_allclose(at_point, f, rtol=0.0, atol=1e-11 * max(abs(f).max(), abs(A).max()))


@pytest.mark.parametrize("time_step", [0.0, 0.01])
@pytest.mark.parametrize("seed", [1, 2])
def test_33_derivatives_are_those_of_differences(seed, time_step):
    """All joint types; springs, dampers, a bushing and a door hinge; both model instances."""
    plant = random_plant(seed, num_bodies=10, time_step=time_step, elements=True)
    rng = np.random.default_rng(seed)
    context = random_context(plant, rng)
    plant.get_actuation_input_port().FixValue(context, rng.normal(size=plant.num_actuators()))
    assert_derivatives(plant, context)


@pytest.mark.parametrize("time_step", [0.0, 0.01])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_closed_forms_are_complex_steps(seed, time_step, monkeypatch):
    """All joint types, some locked, with limits far away and forces at joints; by actuation and generalized forces."""
    plant = random_plant(seed, num_bodies=10, time_step=time_step, reversed_probability=0.5, finalize=False)
    if time_step:
        plant.SetUseSampledOutputPorts(False)
    plant.set_step_scheme("drake")
    plant.Finalize()
    rng = np.random.default_rng(seed)
    context = random_context(plant, rng)
    if time_step:
        next(j for j in joints_of(plant) if j.num_velocities() == 2).Lock(context)
    plant.get_actuation_input_port().FixValue(context, rng.normal(size=plant.num_actuators()))
    plant.get_applied_generalized_force_input_port().FixValue(context, rng.normal(size=plant.num_velocities()))
    assert motion_derivatives.closed_form_motion(
        plant, context, bool(time_step), motion_derivatives.values_at(plant, context)
    )

    def all_of_it():
        return [
            motion_derivatives.plant_derivatives(plant, context, *ports)
            for ports in (
                ("actuation", "state"),
                ("applied_generalized_force", "generalized_acceleration"),
                ("actuation", "net_actuation"),
                (None, None),
            )
        ]

    found = all_of_it()
    monkeypatch.setattr(motion_derivatives, "closed_form_motion", lambda *_: None)
    for values, expected in zip(found, all_of_it(), strict=True):
        for value, by_steps in zip(values, expected, strict=True):
            np.testing.assert_allclose(value, by_steps, rtol=0.0, atol=1e-11 * abs(by_steps).max(initial=1.0))


def test_a_limit_in_reach_has_the_derivatives_of_its_stop():
    plant, _ = pendulum(0.01, upper_limit=0.3)
    context = plant.CreateDefaultContext()
    plant.get_actuation_input_port().FixValue(context, [0.2])
    for angle, smooth in ((0.0, True), (0.29, False)):
        plant.SetPositionsAndVelocities(context, [angle, 1.0])
        values = motion_derivatives.values_at(plant, context)
        assert (motion_derivatives.closed_form_motion(plant, context, True, values) is not None) == smooth
        assert_derivatives(plant, context)


def test_33_derivatives_of_steps_with_controllers_at_and_below_their_limits():
    plant, rng = controlled_plant(3)
    context = controlled_context(plant, rng)
    net = plant.get_net_actuation_output_port().Eval(context)
    limits = plant.GetEffortUpperLimits()
    assert 0 < (abs(net) == limits).sum() < net.size
    assert_derivatives(plant, context)


def test_applied_forces_turn_with_their_body():
    plant = random_plant(4, RATES, num_bodies=5)
    rng = np.random.default_rng(4)
    context = random_context(plant, rng)
    force = ExternallyAppliedSpatialForce()
    force.body_index, force.p_BoBq_B, force.F_Bq_W = BodyIndex(4), rng.normal(size=3), SpatialForce(rng.normal(size=6))
    plant.get_applied_spatial_force_input_port().FixValue(context, [force])
    plant.get_applied_generalized_force_input_port().FixValue(context, rng.normal(size=plant.num_velocities()))
    plant.get_actuation_input_port().FixValue(context, rng.normal(size=plant.num_actuators()))
    assert_derivatives(plant, context)


def test_inputs_and_outputs_are_those_of_the_ports():
    plant, rng = controlled_plant(3)
    context = controlled_context(plant, rng)
    whole = FirstOrderTaylorApproximation(plant, context)
    instance = ModelInstanceIndex(2)
    u = [plant.get_joint_actuator(i).input_start() for i in plant.GetJointActuatorIndices(instance)]
    assert u
    system = FirstOrderTaylorApproximation(
        plant,
        context,
        plant.get_actuation_input_port(instance).get_index(),
        plant.get_generalized_acceleration_output_port(instance).get_index(),
    )
    np.testing.assert_array_equal(system.A(), whole.A())
    np.testing.assert_array_equal(system.B(), whole.B()[:, u])
    nq, h = plant.num_positions(), plant.time_step()
    v = sorted(
        nq + plant.get_joint(i).velocity_start() + k
        for i in plant.GetJointIndices(instance)
        for k in range(plant.get_joint(i).num_velocities())
    )
    np.testing.assert_allclose(system.D() * h, whole.B()[v][:, u], rtol=0.0, atol=1e-12 * abs(whole.B()).max())
    # the desired positions act through the gains alone
    desired = FirstOrderTaylorApproximation(
        plant, context, plant.get_desired_state_input_port(instance).get_index(), OutputPortSelection.kNoOutput
    )
    gains = [plant.get_joint_actuator(i).get_controller_gains() for i in plant.GetJointActuatorIndices(instance)]
    np.testing.assert_allclose(
        desired.B(),
        whole.B()[:, u + u] * [*(g.p for g in gains), *(g.d for g in gains)],
        rtol=1e-10,
        atol=1e-12 * abs(desired.B()).max(),
    )
    assert desired.C().shape == (0, nq + plant.num_velocities())
    none = FirstOrderTaylorApproximation(plant, context, InputPortSelection.kNoInput)
    assert none.B().shape == (whole.A().shape[0], 0)


def test_a_plant_in_a_diagram_is_linearized_through_the_diagrams_ports():
    builder = DiagramBuilder()
    plant = builder.AddSystem(pendulum()[0])
    builder.ExportInput(plant.get_actuation_input_port(), "torque")
    builder.ExportOutput(plant.get_state_output_port(), "state")
    diagram = builder.Build()
    system = Linearize(diagram, diagram.CreateDefaultContext(), 0, 0)
    alone = Linearize(plant, plant.CreateDefaultContext())
    np.testing.assert_array_equal(system.A(), alone.A())
    np.testing.assert_array_equal(system.B(), alone.B())


def test_linearize_needs_an_equilibrium_and_says_what_moves():
    plant, _ = pendulum()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [0.3])
    with pytest.raises(RuntimeError, match="not an equilibrium, state 1 changes by .* per second"):
        Linearize(plant, context)
    Linearize(plant, context, equilibrium_check_tolerance=10.0)


def test_ports_of_objects_and_forces_of_users_cannot_be_linearized():
    plant, _ = pendulum()
    context = plant.CreateDefaultContext()
    with pytest.raises(RuntimeError, match="input 'applied_spatial_force' is not possible"):
        Linearize(plant, context, plant.get_applied_spatial_force_input_port().get_index())
    with pytest.raises(RuntimeError, match="output 'body_poses' is not possible"):
        Linearize(plant, context, output_port_index=plant.get_body_poses_output_port().get_index())

    class Wind(ForceElement):
        def CalcAndAddForceContribution(self, context, forces):
            pass

    plant = MultibodyPlant(0.0)
    plant.AddRigidBody("body", SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.1, 1.0))
    plant.AddForceElement(Wind(ModelInstanceIndex(1)))
    plant.Finalize()
    with pytest.raises(RuntimeError, match="force element of a user, Wind"):
        Linearize(plant, plant.CreateDefaultContext())


# command line

URDF = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="0.2" iyy="0.2" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pin" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="pin"/>
<actuator name="motor"/></transmission></robot>"""


def test_the_command_gives_the_matrices_and_their_names(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    result = cli("linearize", file, "--weld-base", "--json", "--at", "pin=0.3")
    assert result.code == 0, result.err
    values = result.json()
    assert values["schema"] == "mbcli/linearize"
    inertia = 0.2 + 2.0 * 0.25
    expected = [[0.0, 1.0], [-2.0 * 9.81 * 0.5 * np.cos(0.3) / inertia, 0.0]]
    np.testing.assert_allclose(values["A"], expected, atol=1e-13)
    np.testing.assert_allclose(values["B"], [[0.0], [1.0 / inertia]], atol=1e-13)
    assert values["state_names"] == ["arm_pin_q", "arm_pin_w"]
    assert values["input_names"] == ["arm_motor"]
    step = cli("linearize", file, "--weld-base", "--json", "--at", "pin=0.3", "--discrete").json()
    h = step["time_period"]
    assert h == 0.001
    np.testing.assert_allclose(step["B"], [[h * h / (2.0 * inertia)], [h / inertia]], rtol=1e-12)
    text = cli("linearize", file, "--weld-base")
    assert text.code == 0
    assert "arm_motor" in text.out


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("h", [0.0, 0.01])
def test_a_double_pendulum_equals_pydrake(h):
    import pydrake.all as drake

    import mbcli.all as own

    systems = []
    for lib in (drake, own):
        plant = lib.MultibodyPlant(h)
        parent = plant.world_body()
        inertia = lib.SpatialInertia.MakeFromCentralInertia(1.0, [0.3, 0.05, 0], lib.RotationalInertia(0.02, 0.1, 0.1))
        for n in range(2):
            body = plant.AddRigidBody(f"link{n}", inertia)
            joint = lib.RevoluteJoint(f"joint{n}", parent.body_frame(), body.body_frame(), [0, 1, 0.5 * n], 0.1)
            plant.AddJointActuator(f"motor{n}", plant.AddJoint(joint))
            parent = body
        if h:
            plant.SetUseSampledOutputPorts(False)
        if lib is own:
            plant.set_step_scheme("drake")
        plant.Finalize()
        context = plant.CreateDefaultContext()
        plant.SetPositionsAndVelocities(context, [0.3, -0.8, 0.4, 0.9])
        port = plant.get_actuation_input_port()
        port.FixValue(context, [0.3, -0.2])
        if lib is drake:
            primitives = drake
        else:
            from mbcli.systems import primitives
        system = primitives.FirstOrderTaylorApproximation(
            plant, context, port.get_index(), plant.get_state_output_port().get_index()
        )
        systems.append([system.A(), system.B(), system.C(), system.D(), system.f0(), system.y0()])
    for theirs, ours in zip(*systems, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-11)


# a step, from the shell: that of `mbcli simulate`

FOOT = """<mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="5 5 1" friction="0.6 0 0"/>
<body pos="0 0 0.2"><joint name="x" type="slide" axis="1 0 0" damping="0.2"/><joint name="z" type="slide" axis="0 0 1"/>
<joint name="turn" type="hinge" axis="0 1 0"/>
<geom type="sphere" size="0.04" pos="0 0 -0.16" mass="1" friction="0.6 0 0"/>
<body pos="0 0 0.1"><joint name="h" axis="0 1 0" damping="0.05" range="-60 60"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.5" friction="0.6 0 0"/></body></body></worldbody>
<actuator>{}</actuator></mujoco>"""
FORCE = '<motor name="m" joint="h" forcerange="-3 3"/>'
SERVO = '<position name="m" joint="h" kp="40" kv="2" ctrlrange="-0.5 0.5"/>'
PLACES = {
    "in contact": "0 -0.00005 0.05 0.3",
    "in the air": "0 0.3 0.05 0.3",
    "at a limit": "0 0.3 0.05 1.0469",
    "beyond a limit in contact": "0 -0.00005 0.05 1.0477",
}


def step_of_simulate(file, *options):
    end = cli("simulate", file, "-t", "0.001", "--no-log", "--json", *options).json()
    return np.array([*end["q"], *end["v"]])


def assert_same(f0, end):
    """To rounding: the command is interpreted, runs are compiled."""
    np.testing.assert_allclose(f0, end, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("law", ["lagged", "similar", "sap", "tamsi"])
@pytest.mark.parametrize("place", PLACES)
def test_a_step_of_the_command_is_that_of_simulate(place, law, tmp_path):
    file = tmp_path / "foot.xml"
    file.write_text(FOOT.format(FORCE))
    options = ("--q", PLACES[place], "--v", "0.5 -0.01 0.2 1", "--u", "0.2")
    options = (*options, "--set", f"plant_config.discrete_contact_approximation={law}")
    result = cli("linearize", file, "--discrete", "--json", *options)
    assert result.code == 0, result.err
    assert_same(result.json()["f0"], step_of_simulate(file, *options))


@pytest.mark.parametrize("u, moves", [("2.9", True), ("5", False)])
def test_an_input_beyond_its_effort_limit_ends_there_and_changes_nothing(u, moves, tmp_path):
    file = tmp_path / "foot.xml"
    file.write_text(FOOT.format(FORCE))
    result = cli("linearize", file, "--discrete", "--json", "--at", "z=0.3", "--u", u).json()
    assert_same(result["f0"], step_of_simulate(file, "--at", "z=0.3", "--u", u))
    assert np.any(result["B"]) == moves


@pytest.mark.parametrize("u, moves", [("0.2", True), ("0.7", False)])
def test_the_input_of_a_servo_is_its_control(u, moves, tmp_path):
    file = tmp_path / "foot.xml"
    file.write_text(FOOT.format(SERVO))
    options = ("--at", "z=0.3", "--v", "0.5 -0.01 0.2 1")
    result = cli("linearize", file, "--discrete", "--json", *options, "--u", u).json()
    at = [step_of_simulate(file, *options, "--u", str(float(u) + k)) for k in (0.0, -1e-3, 1e-3)]
    assert_same(result["f0"], at[0])
    np.testing.assert_allclose(np.ravel(result["B"]), (at[2] - at[1]) / 2e-3, rtol=1e-6, atol=1e-10)
    assert np.any(result["B"]) == moves


@pytest.mark.peers("mujoco")
def test_the_motion_under_a_servo_is_differentiated_as_mujocos(tmp_path):
    import mujoco

    text = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.5 0 0"/>
    <body pos="1 0 0"><joint name="k" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.5 0 0"/></body></body></worldbody>
    <actuator><position name="p" joint="j" kp="200" kv="20"/><motor name="m" joint="k"/></actuator></mujoco>"""
    (tmp_path / "servo.xml").write_text(text)
    state = ["--at", "j=0.2", "--at", "k=-0.4", "--at", "j_w=0.5"]
    found = cli("linearize", tmp_path / "servo.xml", "--u", "p=0.3 m=1", *state, "--json").json()
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)

    def slope(x, u):
        data.qpos[:], data.qvel[:], data.ctrl[:] = x[:2], x[2:], u
        mujoco.mj_forward(model, data)
        return np.concatenate([data.qvel, data.qacc])

    x, u = np.array([0.2, -0.4, 0.5, 0.0]), np.array([0.3, 1.0])
    np.testing.assert_allclose(found["f0"], slope(x, u), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found["A"], central_differences(lambda at: slope(at, u), x), rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(found["B"], central_differences(lambda at: slope(x, at), u), rtol=1e-6, atol=1e-5)


def test_a_ground_counts_in_a_step_alone(tmp_path):
    file = tmp_path / "ball.urdf"
    file.write_text(
        '<robot name="r"><link name="ball"><inertial><mass value="1"/><inertia ixx="0.004" iyy="0.004" izz="0.004" '
        'ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
        "</robot>"
    )
    options = ("--ground", "0.5", "--at", "z=0.599", "--at", "vx=0.2")
    result = cli("linearize", file, "--discrete", "--json", *options).json()
    assert_same(result["f0"], step_of_simulate(file, *options))
    assert cli("linearize", file, "--discrete", "--json", *options[2:]).json()["f0"] != result["f0"]
    refused = cli("linearize", file, "--ground")
    assert refused.code == 2 and "--ground needs --discrete" in refused.err


def test_a_step_that_switches_is_one_line_with_the_coordinate(tmp_path):
    file = tmp_path / "foot.xml"
    file.write_text(FOOT.format(FORCE))
    result = cli("linearize", file, "--discrete", "--at", "z=0", "--at", "h=1.0471975511965976")
    assert result.code == 5 and result.out == ""
    (line,) = result.err.splitlines()
    assert "so near to the state that the step has no derivative by" in line


def test_what_acts_in_runs_alone_is_named(tmp_path):
    file = tmp_path / "muscle.xml"
    muscle = '<general name="m" joint="h" dyntype="filter" dynprm="0.05" gainprm="20"/>'
    file.write_text(FOOT.format(muscle))
    result = cli("linearize", file, "--discrete", "--at", "z=0.3")
    assert result.code == 0 and "activations stay at their defaults" in result.err
    assert "activations" not in cli("linearize", file, "--at", "z=0.3", "--discrete", "-q").err


@pytest.mark.parametrize("ports", ["effort", "forces", "none"])
def test_a_diagram_of_a_plant_has_its_own_ports(ports):
    plant, inertia = pendulum()
    builder = DiagramBuilder()
    builder.AddSystem(plant)
    if ports == "effort":
        builder.ExportInput(plant.get_actuation_input_port(), "u")
    if ports == "forces":
        builder.ExportInput(plant.get_applied_generalized_force_input_port(), "tau")
    gain = builder.AddSystem(Gain(2.0, 2))
    builder.Connect(plant.get_state_output_port(), gain.get_input_port())
    builder.ExportOutput(gain.get_output_port(), "y")
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    for k in range(diagram.num_input_ports()):
        diagram.get_input_port(k).FixValue(context, [0.0])
    found = Linearize(diagram, context)
    np.testing.assert_allclose(found.C(), 2.0 * np.eye(2), atol=1e-9)
    expected = np.zeros((2, 0)) if ports == "none" else [[0.0], [1.0 / inertia]]
    np.testing.assert_allclose(found.B(), expected, atol=1e-9)
    slopes = MotionSlopes(diagram, context, InputPortSelection.kUseFirstInputIfItExists).slopes(
        np.zeros(2 + found.num_inputs())
    )[1]
    np.testing.assert_allclose(slopes, np.hstack([found.A(), found.B()]), atol=1e-8)
