"""Discrete steps under constraints: order, energy, momentum, errors; limits, controllers and damping among them.

docs/explanation/discrete_constraints.md says which scheme they are of, and what others do.
"""

import math

import numpy as np
import pytest
from command_line import cli
from constraint_scenes import Z, bar, end_of
from repository import SAMPLES
from scipy.integrate import solve_ivp

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.errors import NumericalError
from mbcli.math import RigidTransform, RotationMatrix
from mbcli.multibody.assembly.closed_chains import ClosedChains, assemble_context
from mbcli.multibody.core.dynamics import accelerations
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.inputs import constant_input
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import (
    BallRpyJoint,
    ForceElement,
    LinearSpringDamper,
    ModelInstanceIndex,
    PdControllerGains,
    RevoluteJoint,
    SpatialInertia,
)

CHAINS = SAMPLES / "closed_chains"
G = 9.81
# mechanism: positions from which it is assembled, velocity of its first coordinate at the start
CONSERVATIVE = {"bricard": ({}, 0.0), "four_bar": ({}, 1.0), "slider_crank": ({"pivot": 0.4}, 2.0)}


def load(name, h, change=lambda plant: None):
    plant = MultibodyPlant(h)
    Parser(plant).AddModels(str(CHAINS / f"{name}.urdf"))
    change(plant)
    plant.Finalize()
    return plant, plant.CreateDefaultContext()


def start(plant, context, first=0.0, **positions):
    """Puts the mechanism on its constraints, and gives its first coordinate a velocity."""
    for joint, value in positions.items():
        plant.GetJointByName(joint).set_angle(context, value)
    assemble_context(context, 1e-11)
    context.state.set_q(ClosedChains(context).assemble(context.state.q, tolerance=1e-14).q)
    G_ = ClosedChains(context).velocity_errors(context.state.q, context.state.v)[1]
    free = np.linalg.svd(G_)[2][-1]
    context.state.set_v(free * (first / free[0]))


def run(plant, context, until, **options):
    blocks = list(Run(plant, context, until, **options).blocks())
    rows = {
        name: np.concatenate([getattr(block, name) for block in blocks])
        for name in ("time", "q", "v", "energy", "constraint_error")
    }
    rows["total"] = rows["energy"].sum(axis=1)
    return rows


def drift(rows):
    """The largest change of energy as part of what gravity gave and took."""
    return np.abs(rows["total"] - rows["total"][0]).max() / np.ptp(rows["energy"][:, 1])


# ------------------------------------------------------------------------------------------------ energy


def test_bricards_mechanism_keeps_its_energy_for_100_seconds():
    """It gained 7.7 J of 29.4 J in 10 s, and stopped after 46 s, with steps of first order."""
    plant, context = load("bricard", 1e-3)
    start(plant, context)
    rows = run(plant, context, 100.0, sample_period=0.01)
    assert rows["time"][-1] == pytest.approx(100.0)
    assert np.ptp(rows["energy"][:, 1]) > 29.0
    assert drift(rows) < 1e-4
    assert rows["constraint_error"].max() < 1e-10


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_planar_mechanisms_keep_their_energy(name):
    plant, context = load(name, 1e-3)
    positions, first = CONSERVATIVE[name]
    start(plant, context, first, **positions)
    rows = run(plant, context, 10.0)
    assert drift(rows) < 1e-3
    assert rows["constraint_error"].max() < 1e-10


@pytest.mark.parametrize("name", CONSERVATIVE)
def test_steps_are_of_second_order(name):
    positions, first = CONSERVATIVE[name]
    ends = []
    for h in (0.0, 4e-3, 2e-3):
        plant, context = load(name, h)
        start(plant, context, first, **positions)
        config = SimulatorConfig(integration_scheme="runge_kutta5", accuracy=1e-11)
        run(plant, context, 0.4, config=config)
        ends.append(np.concatenate([context.state.q, context.state.v]))
    coarse, fine = (np.abs(end - ends[0]).max() for end in ends[1:])
    assert fine < 1e-3
    assert 3.4 < coarse / fine < 4.6


def test_andrews_mechanism_comes_to_the_published_solution_to_second_order():
    """Mazzia and Magherini, Test Set for Initial Value Problem Solvers, 2008."""
    places = {  # of its joints, at the start and after 0.03 s
        "beta": (-0.0617138900142764496, 15.81077119629904),
        "theta": (0.0, -15.75637105984298),
        "gamma": (0.455279819163070380, 0.04082224013073101),
        "phi": (0.222668390165885885, -0.5347301163226948),
        "delta": (0.487364979543842550, 0.5244099658805304),
        "omega": (-0.222668390165885885, 0.5347301163226948),
        "epsilon": (1.23054744454982119, 1.048080741042263),
    }
    errors = []
    for h in (4e-5, 2e-5):
        plant, context = load("andrews", h, lambda plant: plant.mutable_gravity_field().set_gravity_vector([0, 0, 0]))
        for joint, (at_start, _) in places.items():
            plant.GetJointByName(joint).set_angle(context, at_start)
        run(plant, context, 0.03, actuation=constant_input([0.033]))
        errors.append(max(abs(plant.GetJointByName(j).get_angle(context) - end) for j, (_, end) in places.items()))
    assert errors[1] < 5e-5
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_a_chain_of_four_bars_passes_its_singular_position_to_second_order():
    n = 4
    inertia, weight = (n + 1) / 3 + n, (n + 1) / 2 + n

    def pendulum(t, y):
        return [y[1], G * weight / inertia * math.sin(y[0])]

    exact = solve_ivp(pendulum, (0, 1.2), [0.0, -1.0], rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
    errors = []
    for h in (4e-3, 2e-3):
        plant, context = load("four_bar_chain", h)
        start(plant, context, -1.0)
        rows = run(plant, context, 1.2)
        foot = plant.GetJointByName("foot_0")
        errors.append(abs(foot.get_angle(context) - exact[0]))
        assert np.ptp(rows["q"]) > 0.6 * math.pi  # beyond the horizontal position
        assert rows["constraint_error"].max() < 1e-10
        assert drift(rows) < 1e-2
    assert errors[1] < 2e-3
    assert 3.0 < errors[0] / errors[1] < 5.0


# ------------------------------------------------------------------------------- forces, limits, controllers


def test_damping_takes_energy_in_every_step():
    def damp(plant):
        for name in ("left", "coupler_rocker", "right"):
            plant.GetJointByName(name).set_default_damping_vector([0.5])

    plant, context = load("four_bar", 2e-3, damp)
    start(plant, context, 3.0)
    rows = run(plant, context, 2.0)
    assert rows["total"][-1] < rows["total"][0] - 1.0
    assert (np.diff(rows["total"]) < 1e-4 * np.ptp(rows["total"])).all()


def loop_in_space(h, limits=None, gains=None, fixed=False):
    """A loop of four rods of unequal length, turning about balls and hinges, on World or in free flight."""
    plant = MultibodyPlant(h)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -G if fixed else 0.0])
    lengths = (1.0, 0.6, 0.8, 0.7)
    rods = [bar(plant, f"rod{k}", length) for k, length in enumerate(lengths)]
    tips = [end_of(plant, rod, length, f"tip{k}") for k, (rod, length) in enumerate(zip(rods, lengths, strict=True))]
    if fixed:
        plant.WeldFrames(plant.world_frame(), rods[0].body_frame())
    hinge = plant.AddJoint(RevoluteJoint("hinge", tips[0], rods[1].body_frame(), Z))
    plant.AddJoint(BallRpyJoint("ball", tips[1], rods[2].body_frame()))
    plant.AddJoint(RevoluteJoint("far", rods[0].body_frame(), rods[3].body_frame(), [0.3, 0.0, 1.0]))
    if limits is not None:
        hinge.set_position_limits(*([x] for x in limits))
    if gains is not None:
        plant.AddJointActuator("motor", hinge).set_controller_gains(PdControllerGains(p=gains[0], d=gains[1]))
    plant.AddBallConstraint(rods[2], [0.8, 0.0, 0.0], rods[3], [0.7, 0.0, 0.0])
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for name, angle in (("hinge", 1.4), ("far", 1.1)):
        plant.GetJointByName(name).set_angle(context, angle)
    plant.GetJointByName("ball").set_angles(context, [0.2, 0.3, 0.5])
    assemble_context(context, 1e-12)
    return plant, context


def keeping_to_constraints(context, v):
    """The velocities nearest to v in kinetic energy that keep to the constraints."""
    return ClosedChains(context).impulses(context.state.q, v)[0]


def test_a_loop_in_free_flight_keeps_energy_and_momentum_to_second_order():
    changes = []
    for h in (4e-3, 2e-3):
        plant, context = loop_in_space(h)
        context.state.set_v(keeping_to_constraints(context, np.random.default_rng(1).normal(size=11)))
        before = plant.CalcSpatialMomentumInWorldAboutPoint(context, np.zeros(3)).get_coeffs()
        energy = plant.CalcKineticEnergy(context)
        rows = run(plant, context, 1.0)
        after = plant.CalcSpatialMomentumInWorldAboutPoint(context, np.zeros(3)).get_coeffs()
        changes.append(np.abs([*(after - before), plant.CalcKineticEnergy(context) - energy]))
        assert rows["constraint_error"].max() < 1e-10
    assert changes[1].max() < 1e-3
    assert 3.0 < changes[0].max() / changes[1].max() < 5.0


def test_a_loop_at_rest_without_forces_stays_where_it_is():
    """Nothing is measured against velocities and forces, which are zero."""
    plant, context = loop_in_space(1e-3)
    q = context.state.q.copy()
    rows = run(plant, context, 0.02)
    np.testing.assert_allclose(context.state.q, q, atol=1e-11)
    np.testing.assert_allclose(rows["v"], 0.0, atol=1e-11)


def test_stops_in_a_loop_are_not_passed_and_give_no_energy():
    plant, context = loop_in_space(1e-3, limits=(1.5, 2.0), fixed=True)
    hinge = plant.GetJointByName("hinge")
    rows = run(plant, context, 1.0)
    angle = rows["q"][:, hinge.position_start()]
    assert angle.max() - angle.min() > 0.15
    assert angle.max() < 2.0 + 1e-3
    assert angle.min() > 1.5 - 1e-3
    assert rows["total"].max() < rows["total"][0] + 1e-4 * np.ptp(rows["energy"][:, 1])
    assert rows["constraint_error"].max() < 1e-10


@pytest.mark.parametrize("gains", [(200.0, 10.0), (1e6, 1e4)])
def test_controllers_in_a_loop_hold_it_however_stiff_they_are(gains):
    plant, context = loop_in_space(1e-3, gains=gains, fixed=True)
    port = plant.get_desired_state_input_port(ModelInstanceIndex(1))
    port.FixValue(context, [1.5, 0.0])
    run(plant, context, 2.0)
    hinge = plant.GetJointByName("hinge")
    torque = plant.get_net_actuation_output_port(ModelInstanceIndex(1)).Eval(context)[0]
    assert abs(hinge.get_angular_rate(context)) < 1e-2
    assert gains[0] * (1.5 - hinge.get_angle(context)) == pytest.approx(torque, abs=0.05 * abs(torque) + 1e-3)


@pytest.mark.parametrize("locked", [["left"], ["left", "right"], ["left", "crank_coupler", "right"]])
def test_locked_joints_stop_a_mechanism_and_are_no_loss_of_rank(locked):
    plant, context = load("four_bar", 1e-3)
    start(plant, context)
    q = context.state.q.copy()
    for name in locked:
        plant.GetJointByName(name).Lock(context)
    run(plant, context, 0.01)
    np.testing.assert_allclose(context.state.q, q, atol=1e-12)
    np.testing.assert_allclose(context.state.v, 0.0, atol=1e-12)


def test_springs_of_elements_keep_the_energy():
    def tie(plant):
        plant.AddForceElement(
            LinearSpringDamper(plant.world_body(), [1, 1, 0], plant.GetBodyByName("coupler"), [0, 0, 1], 0.5, 40.0, 0.0)
        )

    drifts = []
    for h in (2e-3, 1e-3):
        plant, context = load("four_bar", h, tie)
        start(plant, context, 1.0)
        rows = run(plant, context, 1.0)
        drifts.append(drift(rows))
    assert drifts[1] < 2.5e-3
    assert 3.0 < drifts[0] / drifts[1] < 5.0


@pytest.mark.parametrize("at", [1.0, 1.5])
def test_a_joint_that_constraints_hold_at_its_stop_stays_there(at):
    """What a stop adds to inertia does not make its equations depend on others."""
    plant = MultibodyPlant(1e-3)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -G])
    rods = [bar(plant, f"rod{k}", 1.0) for k in range(2)]
    parents = plant.world_frame(), end_of(plant, rods[0], 1.0, "tip")
    joints = [
        plant.AddJoint(RevoluteJoint(f"joint{k}", parent, rod.body_frame(), [0, 1, 0]))
        for k, (parent, rod) in enumerate(zip(parents, rods, strict=True))
    ]
    joints[1].set_position_limits([-2.0], [1.0])
    plant.AddWeldConstraint(
        rods[0], RigidTransform(RotationMatrix.MakeYRotation(at), [1.0, 0, 0]), rods[1], RigidTransform()
    )
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joints[1].set_angle(context, at)
    run(plant, context, 0.02)
    assert joints[1].get_angle(context) == pytest.approx(at, abs=1e-9)
    together = plant.CalcCenterOfMassPositionInWorld(context)[2]
    fallen = plant.CalcPotentialEnergy(context) + plant.CalcKineticEnergy(context)
    context.state.set_q(np.array([0.0, at]))
    assert plant.CalcCenterOfMassPositionInWorld(context)[2] > together
    context.state.set_v(np.zeros(2))
    assert fallen == pytest.approx(plant.CalcPotentialEnergy(context), rel=1e-4)


# --------------------------------------------------------------------------------------- what a step is


def test_accelerations_of_a_step_are_its_change_of_velocity():
    """Wherever the ports are asked for before the step, which they leave as it is."""
    plant, context = load("four_bar", 1e-2)
    start(plant, context, 2.0)
    q, v = context.state.q.copy(), context.state.v.copy()
    vdot = accelerations(plant, context)
    np.testing.assert_array_equal(context.state.q, q)
    np.testing.assert_array_equal(context.state.v, v)
    run(plant, context, 1e-2)
    np.testing.assert_allclose(v + 1e-2 * vdot, context.state.v, atol=1e-12)


def test_a_start_off_the_constraints_is_projected_without_a_jerk():
    plant, context = load("four_bar", 1e-3)
    with pytest.warns(UserWarning, match="do not satisfy the constraints"):
        rows = run(plant, context, 0.01)
    assert rows["constraint_error"][0] > 0.1
    assert rows["constraint_error"][1:].max() < 1e-10
    assert np.abs(rows["v"]).max() < 1.0


def test_constraints_that_contradict_each_other_are_met_as_nearly_as_can_be():
    plant = MultibodyPlant(1e-2)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -G])
    rod = bar(plant, "rod", 1.0)
    plant.AddJoint(RevoluteJoint("joint", plant.world_frame(), rod.body_frame(), [0, 1, 0]))
    far = end_of(plant, plant.world_body(), 2.0, "far")
    other = bar(plant, "other", 1.0)
    plant.AddJoint(RevoluteJoint("other", far, other.body_frame(), [0, 1, 0]))
    plant.AddBallConstraint(rod, [1.0, 0.0, 0.0], other, [-1.0, 1e-4, 0.0])
    plant.Finalize()
    context = plant.CreateDefaultContext()
    rows = run(plant, context, 0.2)
    assert 1e-5 < rows["constraint_error"][-1] < 2e-4
    assert np.isfinite(rows["q"]).all()


def test_a_constraint_that_is_switched_off_leaves_the_step_of_other_plants():
    ends = []
    for with_constraint in (True, False):
        plant = MultibodyPlant(1e-2)
        bodies = [plant.AddRigidBody(f"b{k}", SpatialInertia.SolidBoxWithMass(1.0, 0.3, 0.2, 0.1)) for k in range(2)]
        arm = plant.AddJoint(RevoluteJoint("arm", bodies[0].body_frame(), bodies[1].body_frame(), [0, 1, 0]))
        if with_constraint:
            id = plant.AddBallConstraint(bodies[1], [0.1, 0.2, 0.3], plant.world_body(), [0, 0, 0])
        plant.Finalize()
        context = plant.CreateDefaultContext()
        if with_constraint:
            plant.SetConstraintActiveStatus(context, id, False)
        arm.set_angle(context, 0.4)
        context.state.set_v(np.random.default_rng(2).normal(size=7))
        plant.SetFreeBodyPose(context, bodies[0], RigidTransform([0.1, 0.2, 0.3]))
        run(plant, context, 0.2)
        ends.append(np.concatenate([context.state.q, context.state.v]))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)


def test_constraints_that_are_all_but_singular_do_not_lose_a_rank_in_the_message():
    plant, context = load("four_bar_chain", 1e-3)
    for joint in plant.moving_joints():
        sign = 1.0 if "foot" in joint.name() else -1.0
        joint.set_angle(context, sign * (math.pi / 2 - 3e-6))
    with pytest.raises(NumericalError, match="all but singular: one of their 8 independent equations"):
        plant.CalcForwardDynamics(context)


class UsersSpring(ForceElement):
    """From (1, 1, 0) in World to a point of a body: as a LinearSpringDamper without damping, computed by a user."""

    def __init__(self, body, p_BQ, length, stiffness):
        super().__init__(body.model_instance())
        self.body, self.p_BQ, self.length, self.stiffness = body, np.array(p_BQ), length, stiffness

    def _arm(self, context):
        X_WB = self.body.EvalPoseInWorld(context)
        return X_WB.rotation().matrix() @ self.p_BQ, X_WB.multiply(self.p_BQ) - [1.0, 1.0, 0.0]

    def CalcAndAddForceContribution(self, context, forces):
        lever, r = self._arm(context)
        force = -self.stiffness * (1.0 - self.length / np.linalg.norm(r)) * r
        self.body.AddInForceInWorld(context, SpatialForce(np.cross(lever, force), force), forces)

    def CalcPotentialEnergy(self, context):
        return 0.5 * self.stiffness * (np.linalg.norm(self._arm(context)[1]) - self.length) ** 2


def test_forces_of_users_are_taken_where_those_of_the_engine_are():
    """In Drake's scheme, whose forces of elements are explicit, as those of users are in all."""
    ends = []
    for of_user in (False, True):

        def tie(plant, of_user=of_user):
            body, rest = plant.GetBodyByName("coupler"), ([0, 0, 1], 0.5, 40.0)
            own = LinearSpringDamper(plant.world_body(), [1, 1, 0], body, *rest, 0.0)
            plant.AddForceElement(UsersSpring(body, *rest) if of_user else own)
            plant.set_step_scheme("drake")

        plant, context = load("four_bar", 5e-3, tie)
        start(plant, context, 1.0)
        run(plant, context, 0.2)
        ends.append(np.concatenate([context.state.q, context.state.v]))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)


def test_a_run_reports_the_energy_that_contact_problems_add_to_a_closed_chain(monkeypatch):
    """Constraints of a plant that can touch are held to first order; without it the chain keeps it."""
    monkeypatch.setenv("MBCLI_JIT", "0")
    text = (CHAINS / "bricard.urdf").read_text()
    ball = '<collision><geometry><sphere radius="0.01"/></geometry></collision>'
    model = text.replace('<link name="rod_2">', f'<link name="rod_2">{ball}').replace(
        '<link name="rod_4">', f'<link name="rod_4">{ball}'
    )
    options = ("simulate", "-", "--dt", 0.01, "-t", 1, "--no-log", "--json")
    found = cli(*options, stdin=model)
    assert found.code == 0, found.err
    assert "nothing drives the plant, but its energy rose by up to" in found.err
    assert "steps that meet contact hold constraints to first order" in found.err
    assert found.json()["energy_drift"] > 0.3
    without = cli(*options, "--no-contact", stdin=model)
    assert "nothing drives" not in without.err
    assert abs(without.json()["energy_drift"]) < 0.01
