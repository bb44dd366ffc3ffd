"""Dry friction of joints in steps: closed forms, the law it follows, its work, and where it does not act."""

from math import pi, sin

import numpy as np
import pytest
from limited_trees import random_limited_urdf, state_at_limits
from test_energy_balance import balance_of

from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.math import RigidTransform
from mbcli.multibody.assembly.closed_chains import assemble_context
from mbcli.multibody.core.finalize import unused_properties
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlant, DiscreteContactApproximation, MultibodyPlant
from mbcli.multibody.tree import (
    FixedOffsetFrame,
    PdControllerGains,
    PrismaticJoint,
    RevoluteJoint,
    SpatialInertia,
    UnitInertia,
)
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder
from mbcli.systems.primitives import FirstOrderTaylorApproximation

H = 1e-3
APPROXIMATIONS = ("kLagged", "kSap", "kSimilar", "kTamsi")
CREEP = 1e-7  # [rad/s or m/s] of a joint that sticks: a millionth of g h, and what its neighbours add


def slider(loss, *, mass=2.0, h=H, approximation="kLagged", gravity=0.0, controller=None, damping=0.0):
    """A mass on a rail along x, in which gravity acts too."""
    plant = MultibodyPlant(h)
    if h:
        plant.SetUseSampledOutputPorts(False)
        plant.set_discrete_contact_approximation(getattr(DiscreteContactApproximation, approximation))
    plant.mutable_gravity_field().set_gravity_vector([gravity, 0.0, 0.0])
    body = plant.AddRigidBody("body", SpatialInertia(mass, np.zeros(3), UnitInertia(1.0, 1.0, 1.0)))
    joint = plant.AddJoint(PrismaticJoint("rail", plant.world_frame(), body.body_frame(), [1, 0, 0], damping=damping))
    joint.dry_friction[:] = loss
    motor = plant.AddJointActuator("motor", joint)
    if controller is not None:
        motor.set_controller_gains(PdControllerGains(p=controller[0], d=controller[1]))
    plant.Finalize()
    return plant


def after(plant, until, q=(0.0,), v=(0.0,), u=None):
    """Positions and velocities after some time."""
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    if plant.num_actuators():
        plant.get_actuation_input_port().FixValue(context, [0.0] if u is None else [u])
    Simulator(plant, context).AdvanceTo(until)
    return plant.GetPositions(context), plant.GetVelocities(context)


# ------------------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_block_on_a_rail_slows_down_evenly_and_stays_where_it_stops(direction, approximation):
    """v loses h f / m in each step until it would change its sign; then it is 0, and stays 0.

    Positions move by the mean of each step: by the parabola, to what the last step cuts.
    """
    loss, mass, start = 3.0, 2.0, 0.2
    plant = slider(loss, mass=mass, approximation=approximation)
    q, v = after(plant, 0.1, v=[direction * start])
    assert v[0] == pytest.approx(direction * (start - 0.1 * loss / mass), rel=1e-12)
    assert q[0] == pytest.approx(direction * (0.1 * start - 0.5 * loss / mass * 0.1**2), rel=1e-12)
    stopped, v = after(plant, 0.14, v=[direction * start])
    assert abs(v[0]) < CREEP
    steps = int(start / (H * loss / mass))
    last = start - steps * H * loss / mass
    travel = sum(H * (start - H * loss / mass * (k + 0.5)) for k in range(steps)) + 0.5 * H * last
    assert stopped[0] == pytest.approx(direction * travel, abs=1e-9)
    later, v = after(plant, 1.0, v=[direction * start])
    assert abs(v[0]) < CREEP and abs(later[0] - stopped[0]) < CREEP


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("push", [2.999, -2.999, 3.001, -5.0])
def test_a_force_below_the_bound_moves_nothing_and_one_above_it_what_is_left(push, approximation):
    plant = slider(3.0, approximation=approximation)
    _, v = after(plant, 0.1, u=push)
    left = np.sign(push) * max(0.0, abs(push) - 3.0)
    assert v[0] == pytest.approx(0.1 * left / 2.0, abs=CREEP)


def pendulum(loss, h=H):
    """A point of 2 kg on a rod of 0.5 m; the angle is that from hanging down."""
    plant = MultibodyPlant(h)
    p = np.array([0.0, 0.0, -0.5])
    body = plant.AddRigidBody("bob", SpatialInertia(2.0, p, UnitInertia(0.26, 0.26, 0.01)))
    joint = plant.AddJoint(RevoluteJoint("pin", plant.world_frame(), body.body_frame(), [0, 1, 0]))
    joint.dry_friction[:] = loss
    plant.Finalize()
    return plant


def test_a_pendulum_sticks_where_friction_holds_its_weight_and_swings_where_it_does_not():
    weight = 2.0 * 9.81 * 0.5  # N m at the side
    plant = pendulum(0.5 * weight)
    for angle in (0.0, 0.2, -0.5, pi / 6 - 1e-3, pi - 0.4):
        q, v = after(plant, 1.0, q=[angle])
        assert abs(q[0] - angle) < CREEP and abs(v[0]) < CREEP
    for angle in (pi / 6 + 1e-3, -1.0, 2.0):
        _, v = after(plant, H, q=[angle])
        moment = weight * sin(angle) - np.sign(angle) * 0.5 * weight
        assert v[0] == pytest.approx(-H * moment / (2.0 * 0.26), rel=1e-9)
    q, v = after(plant, 5.0, q=[1.2])  # it loses loss * travel, and stays at some angle where it can be held
    assert abs(v[0]) < CREEP and abs(sin(q[0])) < 0.5


@pytest.mark.parametrize("damping", [0.0, 4.0])
def test_friction_and_a_controller_with_damping_share_the_joint(damping):
    """m v' = m v + h (clamp(-p (q* - q_d) - d v*) - damping v~ - sign(v') loss), by the shares of smooth/middle.py."""
    mass, p, d, loss = 2.0, 50.0, 3.0, 1.5
    plant = slider(loss, mass=mass, controller=(p, d), damping=damping)
    for target, q, v in ((1.0, 0.0, 0.5), (0.02, 0.0, 0.0), (-0.04, 0.0, 0.0), (0.0, 0.3, 0.001)):
        context = plant.CreateDefaultContext()
        plant.SetPositionsAndVelocities(context, [q, v])
        port = plant.get_desired_state_input_port(plant.GetJointByName("rail").model_instance())
        port.FixValue(context, [target, 0.0])
        Simulator(plant, context).AdvanceTo(H)
        found = plant.GetVelocities(context)[0]
        of_damping, theta = ((mass + H * c) / (2.0 * mass + H * c) for c in (damping, d))
        stiffness = H * H * p / mass
        beta = 0.25 - 1.0 / (6.0 + stiffness)
        gamma = 0.5 * stiffness**2 / (stiffness**2 + 64.0)
        slope = H * (theta * d + of_damping * damping) + H * H * (beta + gamma) * p
        stiff = mass + slope
        free = mass * v - H * p * (q - target + (0.5 + gamma) * H * v) - H * (d + damping) * v + slope * v
        expected = np.sign(free) * max(0.0, abs(free) - H * loss) / stiff
        assert found == pytest.approx(expected, abs=CREEP)


def test_a_locked_joint_has_no_friction_to_give():
    plant = slider(3.0, gravity=9.81)
    context = plant.CreateDefaultContext()
    plant.GetJointByName("rail").Lock(context)
    Simulator(plant, context).AdvanceTo(0.01)
    assert plant.GetPositionsAndVelocities(context).tolist() == [0.0, 0.0]


# ------------------------------------------------------------------------------------------ the law


class Rough:
    """A random robot whose joints have dry friction, in steps with and without a contact problem."""

    def __init__(self, seed, *, limited, contact=False, approximation="lagged", controlled=False, scheme="midpoint"):
        rng = np.random.default_rng(seed)
        text, self.limits = random_limited_urdf(seed, floating=seed % 2 == 1, damped=True)
        builder = DiagramBuilder()
        config = MultibodyPlantConfig(time_step=H, discrete_contact_approximation=approximation, step_scheme=scheme)
        self.plant, _ = AddMultibodyPlant(config, builder)
        (robot,) = Parser(self.plant).AddModelsFromString(text, "urdf")
        self.losses = {}
        for joint in [self.plant.get_joint(index) for index in self.plant.GetJointIndices(robot)]:
            if joint.num_velocities() == 1:
                self.losses[joint.name()] = rng.choice([0.0, 0.3, 3.0, 30.0])
                joint.dry_friction[:] = self.losses[joint.name()]
                if not limited:
                    joint.set_position_limits([-np.inf], [np.inf])
                if controlled and rng.random() < 0.4:
                    motor = self.plant.AddJointActuator(f"motor {joint.name()}", joint, 5.0)
                    motor.set_controller_gains(PdControllerGains(p=100.0, d=3.0))
        if contact:  # a ball that lies on a floor makes every step a contact problem
            Parser(self.plant).AddModelsFromString(
                '<mujoco model="ball"><worldbody><geom type="plane" size="1 1 1"/><body name="ball" pos="40 0 .1">'
                '<freejoint/><geom size=".1"/></body></worldbody></mujoco>',
                "mjcf",
            )
        self.plant.Finalize()
        self.joints = [self.plant.GetJointByName(name) for name in self.losses]

    def step(self, seed):
        """(context, v before, v after) of a step from a random state, some of it at rest."""
        rng = np.random.default_rng(seed)
        context = self.plant.CreateDefaultContext()
        q, v = self.plant.GetPositions(context), np.zeros(self.plant.num_velocities())
        at = state_at_limits(self.limits, rng, inside=0.6)
        for joint in self.joints:
            q[joint.position_start()] = at.get(joint.name(), rng.normal())
            v[joint.velocity_start()] = rng.choice([0.0, 1e-3, 1.0]) * rng.normal()
        self.plant.SetPositions(context, q)
        self.plant.SetVelocities(context, v)
        actuators = self.plant.num_actuators()
        if actuators:
            port = self.plant.get_desired_state_input_port(self.joints[0].model_instance())
            port.FixValue(context, rng.normal(size=2 * actuators))
        Simulator(self.plant, context).AdvanceTo(H)
        start = self.plant.CreateDefaultContext()
        self.plant.SetPositions(start, q)
        self.plant.SetVelocities(start, v)
        return start, v, self.plant.GetVelocities(context)


@pytest.mark.parametrize("seed", range(12))
def test_friction_is_at_its_bound_against_the_motion_or_below_it_at_rest(seed):
    """Friction is what inverse dynamics leaves of the step's accelerations; in the scheme `drake`, at its start."""
    robot = Rough(seed, limited=False, scheme="drake")
    sticking = sliding = 0
    for n in range(5):
        start, v, v_end = robot.step([seed, n])
        plant = robot.plant
        left = plant.CalcMassMatrix(start) @ ((v_end - v) / H) + plant.CalcBiasTerm(start)
        left -= plant.CalcGravityGeneralizedForces(start)
        for joint in robot.joints:
            d, loss = joint.velocity_start(), robot.losses[joint.name()]
            friction = left[d] + joint.default_damping() * v_end[d]
            size = 1e-7 * (abs(left).max() + loss)
            if abs(v_end[d]) > 1e-6:
                assert friction == pytest.approx(-np.sign(v_end[d]) * loss, abs=size)
                sliding += loss > 0.0
            else:
                assert abs(friction) <= loss + size
                sticking += 1
    assert sticking > 1 and sliding > 1


@pytest.mark.parametrize("approximation", ["lagged", "sap", "similar"])
@pytest.mark.parametrize("seed", range(4))
def test_a_contact_problem_has_the_friction_of_a_step_without_contact(seed, approximation):
    """With stops and controllers too; trees that are free in World have steps of second order without contact alone."""
    scheme = "drake" if seed % 2 == 1 else "midpoint"
    options = {"limited": True, "controlled": True, "approximation": approximation, "scheme": scheme}
    free, problem = (Rough(seed, contact=contact, **options) for contact in (False, True))
    for n in range(5):
        _, _, v = free.step([seed, n])
        _, _, in_problem = problem.step([seed, n])
        np.testing.assert_allclose(in_problem[: len(v)], v, atol=2e-6 * max(1.0, abs(v).max()))


def four_bar(losses, h=H):
    """Three links and the ground in a loop, with dry friction in the joints of the tree."""
    plant = MultibodyPlant(h)
    frames, parent = [], plant.world_frame()
    for k, length in enumerate((0.5, 1.1, 0.8)):
        body = plant.AddRigidBody(
            f"bar{k}", SpatialInertia.ThinRodWithMass(1.0 + k, length, [1, 0, 0]).Shift([-length / 2, 0, 0])
        )
        joint = plant.AddJoint(RevoluteJoint(f"j{k}", parent, body.body_frame(), [0, 1, 0]))
        joint.dry_friction[:] = losses[k]
        parent = plant.AddFrame(FixedOffsetFrame(f"end{k}", body.body_frame(), RigidTransform([length, 0, 0])))
        frames.append(parent)
    plant.AddBallConstraint(frames[2].body(), [0.8, 0, 0], plant.world_body(), [1.0, 0, 0])
    plant.Finalize()
    return plant


@pytest.mark.parametrize("losses", [(30.0, 0.0, 0.0), (0.0, 30.0, 0.0), (5.0, 5.0, 5.0), (0.5, 0.0, 0.2)])
def test_a_closed_chain_sticks_or_loses_what_friction_takes(losses):
    plant = four_bar(losses)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [-0.9, 0.4, 0.9])
    assemble_context(context, 1e-10)
    q = plant.GetPositions(context)
    balance, end = balance_of(plant, 0.5, q, np.zeros(3))
    moved = abs(end.state.q - q).max()
    if max(losses) >= 5.0:
        assert moved < 1e-6
    else:
        assert moved > 0.1
        assert balance.joint_friction < -0.1
    assert balance.energy_change == pytest.approx(balance.joint_friction, abs=1e-4 * balance.flow + 1e-9)


# ----------------------------------------------------------------------------------------- its work


def test_its_work_is_the_bound_times_the_travel():
    plant = slider(3.0)
    balance, context = balance_of(plant, 0.1, [0.0], [0.2])
    assert balance.joint_friction == pytest.approx(context.state.v[0] ** 2 - 0.2**2, rel=1e-9)
    mean = sum(0.2 - H * 1.5 * (k + 0.5) for k in range(100)) * H  # friction works at the mean velocity of a step
    assert balance.joint_friction == pytest.approx(-3.0 * mean, rel=1e-9)
    assert abs(balance.unexplained) < 1e-12 and abs(balance.rest) < 1e-12


@pytest.mark.parametrize("contact", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_of_the_work_on_a_rough_robot_is_unexplained(seed, contact):
    robot = Rough(seed, limited=True, contact=contact)
    start, v, _ = robot.step([seed, 0])
    balance, _ = balance_of(robot.plant, 0.05, start.state.q, v)
    assert balance.joint_friction < 0.0
    assert abs(balance.unexplained) < 1e-9 * max(1.0, balance.flow)


# ------------------------------------------------------------------------------------ where it acts

FILES = {
    "urdf": """<robot name="r"><link name="world"/><link name="a"><inertial><mass value="2"/><inertia ixx="1" iyy="1"
      izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="prismatic"><parent link="world"/>
      <child link="a"/><axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/>
      <dynamics friction="30"/></joint></robot>""",
    "sdf": """<sdf version="1.9"><model name="r"><link name="a"><inertial><mass>2</mass></inertial></link>
      <joint name="j" type="prismatic"><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz><dynamics>
      <friction>30</friction></dynamics></axis></joint></model></sdf>""",
    "mjcf": """<mujoco><worldbody><body name="a"><inertial mass="2" pos="0 0 0" diaginertia="1 1 1"/>
      <joint name="j" type="slide" axis="0 0 1" frictionloss="30"/></body></worldbody></mujoco>""",
}


def plant_of(text, kind, **config):
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlant(MultibodyPlantConfig(**config), builder)
    Parser(plant).AddModelsFromString(text, kind)
    plant.Finalize()
    return plant


@pytest.mark.parametrize("kind", FILES)
def test_friction_of_every_format_acts_in_steps_and_can_be_switched_off(kind):
    plant = plant_of(FILES[kind], kind)
    assert plant.GetJointByName("j").dry_friction.tolist() == [30.0]
    assert abs(after(plant, 0.01)[1][0]) < CREEP
    free = plant_of(FILES[kind], kind, joint_dry_friction=False)
    assert after(free, 0.01)[1][0] == pytest.approx(-0.0981, rel=1e-12)


@pytest.mark.parametrize("kind", FILES)
def test_what_pydrake_does_not_do_is_a_note(kind):
    parser = Parser(MultibodyPlant(H))
    parser.AddModelsFromString(FILES[kind], kind)
    notes = [finding for finding in parser.diagnostics.findings if finding.code == "DRY_FRICTION"]
    assert [(note.severity, note.message) for note in notes] == [
        ("note", "the dry friction of 1 joint acts in steps of a discrete plant: j")
    ] * (kind != "mjcf")


def test_both_axes_of_a_universal_joint_have_their_own():
    text = """<sdf version="1.9"><model name="r"><link name="a"><inertial><mass>2</mass></inertial></link>
      <joint name="j" type="universal"><parent>world</parent><child>a</child>
      <axis><xyz>1 0 0</xyz><dynamics><friction>3</friction></dynamics></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
      </model></sdf>"""
    plant = plant_of(text, "sdf")
    assert plant.GetJointByName("j").dry_friction.tolist() == [3.0, 0.0]
    assert plant.model.friction_dof.tolist() == [plant.GetJointByName("j").velocity_start()]


def test_a_continuous_plant_says_that_it_has_none():
    with pytest.warns(UserWarning, match="a continuous plant does not use the dry friction of 1 joint: rail"):
        plant = slider(3.0, h=0.0, gravity=1.0)
    assert unused_properties(plant) == ["a continuous plant does not use the dry friction of 1 joint: rail"]
    assert after(plant, 0.01)[1][0] == pytest.approx(0.01, rel=1e-6)


def test_a_joint_that_closes_a_loop_says_that_its_friction_does_not_act():
    plant = MultibodyPlant(H)
    bodies = [plant.AddRigidBody(name, SpatialInertia.SolidSphereWithMass(1.0, 0.1)) for name in "ab"]
    for name, parent, child in (
        ("j0", plant.world_frame(), bodies[0].body_frame()),
        ("j1", bodies[0].body_frame(), bodies[1].body_frame()),
        ("j2", plant.world_frame(), bodies[1].body_frame()),
    ):
        plant.AddJoint(RevoluteJoint(name, parent, child, [0, 1, 0])).dry_friction[:] = 1.0
    with pytest.warns(UserWarning, match="joint 'j2' closes a loop, what it has does not act: its dry friction"):
        plant.Finalize()
    assert sorted(plant.model.friction_loss) == [1.0, 1.0]


def test_formulas_of_a_plant_leave_it_out_as_they_do_limits():
    pytest.importorskip("sympy")
    plant = slider(3.0, gravity=1.0)
    assert plant.ToSymbolic().model.friction_dof.size == 0


@pytest.mark.parametrize("velocity, response", [(0.0, 0.0), (0.5, 1.0)])
def test_a_joint_that_sticks_does_not_answer_in_the_linearization_of_a_step(velocity, response):
    plant = slider(3.0)
    context = plant.CreateDefaultContext()
    plant.SetVelocities(context, [velocity])
    plant.get_actuation_input_port().FixValue(context, [0.0])
    port = plant.get_actuation_input_port().get_index()
    system = FirstOrderTaylorApproximation(plant, context, port)
    np.testing.assert_allclose(system.A(), [[1.0, H * (1.0 + response) / 2.0], [0.0, response]], atol=2e-6)
    np.testing.assert_allclose(system.B(), [[H * H / 4.0 * response], [H / 2.0 * response]], atol=2e-9)
