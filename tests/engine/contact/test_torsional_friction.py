"""Torsional and rolling friction of contacts: closed forms, the cone of impulses, the problem that a step solves."""

import numpy as np
import pytest
from command_line import cli, succeed
from test_contact_solver import APPROXIMATIONS, KV, H, Scene
from test_mjcf_contact import contacts_of, plant_of

from mbcli.config.contact_laws import SOFT_LAWS
from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.engine.fields.contact_fields import (
    COUNT_CONSTRAINTS,
    HAS_TORSIONAL,
    PROBLEM_SOLVED,
    TORSIONAL,
    VECTOR_FREE,
    VECTOR_VELOCITY,
)
from mbcli.geometry.properties import ProximityProperties
from mbcli.geometry.shapes import HalfSpace, Sphere
from mbcli.log import Log
from mbcli.math import RigidTransform
from mbcli.multibody.plant import AddMultibodyPlant, CoulombFriction
from mbcli.multibody.tree import SpatialInertia
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder

R, M, G = 0.1, 1.0, 9.81  # of the ball below; g
INERTIA = 0.4 * M * R * R
ALLOWANCE = 1e-3
STIFFNESS = M * G / ALLOWANCE  # it lets the ball sink by the penetration allowance
# the ball stands in equilibrium, 1 mm deep
BALL = (
    '<mujoco><worldbody><geom type="plane" size="9 9 1" friction="0 0 0"/><body name="ball" pos="0 0 .099"><freejoint/>'
    '<geom size=".1" mass="1" {}/></body></worldbody></mujoco>'
)
STEPS = [*APPROXIMATIONS, "continuous"]


def ball(geom, law="lagged", velocities=(0, 0, 0, 0, 0, 0), step=1e-3):
    """A Simulator of the ball, its plant and its context; velocities: angular, then linear."""
    config = {"time_step": 0.0} if law == "continuous" else {"time_step": step, "discrete_contact_approximation": law}
    plant = plant_of(BALL.format(geom), penetration_allowance=ALLOWANCE, **config)
    context = plant.CreateDefaultContext()
    plant.SetVelocities(context, np.array(velocities, float))
    return Simulator(plant, context), plant, context


def velocities_at(simulator, times):
    """Velocities (n, 6) of the ball at times."""
    rows = []
    for time in times:
        simulator.AdvanceTo(time)
        rows.append(simulator.get_system().GetVelocities(simulator.get_mutable_context()).copy())
    return np.array(rows)


# ------------------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("law", STEPS)
def test_a_spinning_ball_slows_down_by_its_torsional_friction_and_stands_still(law):
    """I dw/dt = -mu_t m g, once the ball has come to the height at which `sap` lets sliding bodies hover."""
    torsional, spin = 0.002, 10.0
    rate = torsional * M * G / INERTIA
    simulator, _, _ = ball(f'condim="4" friction="1 {torsional}"', law, (0, 0, spin, 0, 0, 0))
    v = velocities_at(simulator, (0.8, 1.8, 2.3))
    assert v[0, 2] - v[1, 2] == pytest.approx(rate, rel=3e-3)
    assert v[0, 2] == pytest.approx(spin - 0.8 * rate, rel=3e-3)
    assert abs(v[2, 2]) < 1e-3
    np.testing.assert_allclose(v[:, [0, 1, 3, 4]], 0.0, atol=1e-9)


@pytest.mark.parametrize("law", STEPS)
def test_a_rolling_ball_slows_down_by_its_rolling_friction(law):
    """Rolling without slip about the point of contact: (I + m R^2) dw/dt = -mu_r m g."""
    rolling, spin = 0.002, 5.0
    rate = rolling * M * G / (INERTIA + M * R * R)
    simulator, _, _ = ball(f'condim="6" friction="1 0 {rolling}"', law, (0, spin, 0, spin * R, 0, 0))
    v = velocities_at(simulator, (0.1, 0.3))
    assert v[0, 1] - v[1, 1] == pytest.approx(0.2 * rate, rel=0.02)
    assert v[1, 3] == pytest.approx(v[1, 1] * R, rel=0.02)
    simulator.AdvanceTo(0.3 + 1.2 * v[1, 1] / rate if law != "continuous" else 0.3)
    if law != "continuous":
        assert abs(velocities_at(simulator, (simulator.get_context().get_time(),))[0, 1]) < 0.01 * spin


def test_contacts_of_fewer_dimensions_do_not_resist():
    for geom, spin, roll in (('condim="3"', 0.0, 0.0), ('condim="4"', 1.0, 0.0), ('condim="6"', 1.0, 1.0)):
        simulator, plant, context = ball(f'{geom} friction="1 .02 .02"', "lagged", (0, 5.0, 5.0, 5.0 * R, 0, 0))
        before = plant.GetVelocities(context).copy()
        after = velocities_at(simulator, (0.05,))[0]
        assert (before[2] - after[2] > 0.1) == (spin > 0)
        assert (before[1] - after[1] > 0.1) == (roll > 0)


@pytest.mark.parametrize("law", [law for law in STEPS if law not in SOFT_LAWS])  # whose springs hold energy
def test_energy_never_grows(law):
    rng = np.random.default_rng(3)
    for _ in range(3):
        simulator, plant, context = ball(
            'condim="6" friction=".5 .03 .004"', law, rng.normal(size=6) * [1, 1, 1, 1, 1, 0.05]
        )
        last = np.inf
        for time in np.arange(0.0, 0.1, 0.005):
            simulator.AdvanceTo(time)
            height = plant.GetPositions(context)[6]
            elastic = 0.5 * STIFFNESS * max(0.0, R - height) ** 2
            energy = plant.CalcKineticEnergy(context) + M * G * height + elastic
            assert energy <= last + 1e-7
            last = energy


@pytest.mark.parametrize("law", STEPS)
def test_forces_and_moments_of_a_sliding_ball_are_on_the_cone(law):
    """sqrt((f/mu)^2 + (m_1/mu_r)^2 + (m_2/mu_r)^2 + (m_n/mu_t)^2) = f_n, moments and forces against the motion."""
    mu, torsional, rolling = 0.5, 0.03, 0.004
    simulator, plant, context = ball(
        f'condim="6" friction="{mu} {torsional} {rolling}"', law, (3.0, 2.0, 9.0, 0.5, 0.3, 0)
    )
    simulator.AdvanceTo(2e-3)
    (pair,) = [plant.get_contact_results_output_port().Eval(context).point_pair_contact_info(0)]
    sign = 1.0 if int(pair.bodyB_index()) else -1.0  # forces on the ball
    f, m = sign * pair.contact_force(), sign * pair.contact_moment()
    size = np.sqrt((f[0] ** 2 + f[1] ** 2) / mu**2 + (m[0] ** 2 + m[1] ** 2) / rolling**2 + m[2] ** 2 / torsional**2)
    assert size == pytest.approx(f[2], rel=2e-2 if law in ("lagged", "similar") else 1e-3)
    v = plant.GetVelocities(context)
    assert m[2] * v[2] < 0
    assert m[0] * v[0] + m[1] * v[1] < 0


def test_reaction_forces_and_balances_know_the_moment():
    """What stands on the floor by a joint feels the moment of the contact: a top held by a hinge along the normal."""
    text = (
        '<mujoco><worldbody><geom type="plane" size="9 9 1" friction="1 .05" condim="4"/><body pos="0 0 .099">'
        '<joint name="z" type="slide" axis="0 0 1"/><joint name="spin" axis="0 0 1"/><geom size=".1" mass="1"/></body>'
        "</worldbody></mujoco>"
    )
    plant = plant_of(text, time_step=1e-3, penetration_allowance=ALLOWANCE)
    context = plant.CreateDefaultContext()
    simulator = Simulator(plant, context)
    v = plant.GetVelocities(context)
    v[plant.GetJointByName("spin").velocity_start()] = 9.0
    plant.SetVelocities(context, v)
    simulator.AdvanceTo(0.02)
    spin = plant.GetJointByName("spin")
    tau = plant.get_generalized_contact_forces_output_port(spin.model_instance()).Eval(context)
    assert tau[1] == pytest.approx(-0.05 * M * G, rel=0.02)


# -------------------------------------------------------------------------- the problem of one step


class TurningScene(Scene):
    """Random points of random trees, two of three with torsional friction, one of three with rolling friction too."""

    def __init__(self, seed, approximation, **options):
        super().__init__(seed, approximation, **options)
        rng = np.random.default_rng(seed + 100)
        n = self.points.count[0]
        self.points.torsional[:n] = 10 ** rng.uniform(-2, 0, size=(n, 2))
        self.points.torsional[0:n:3] = 0.0
        self.points.torsional[1:n:3, 1] = 0.0

    def rows_of_turning(self, i):
        """Scaled angular velocities of contact i (3, nv), from the plant's own Jacobians."""
        c, world = self.solver.con_source[i], self.plant.world_frame()
        J = np.zeros((3, self.data.v.size))
        for body, sign in zip(self.points.body[c], (1.0, -1.0), strict=True):
            if body:
                link = self.plant.get_body(int(np.flatnonzero(self.model.link_body == body)[0]))
                J += sign * self.plant.CalcJacobianAngularVelocity(self.context, KV, link.body_frame(), world, world)
        normal = self.points.normal[c]
        tangent = np.array(self.kernels_plain().tangent_of(tuple(normal)))
        torsional, rolling = self.points.torsional[c] / self.points.law[c, 3]
        return np.array([rolling * tangent, rolling * np.cross(normal, tangent), torsional * normal]) @ J

    def imbalance(self):
        solver, slot = self.solver, self.solver.dof_slot
        v, v_free = solver.vectors[VECTOR_VELOCITY, slot], solver.vectors[VECTOR_FREE, slot]
        A = self.plant.CalcMassMatrix(self.context) + H * np.diag(self.model.dof_damping)
        inertial = A @ (v - v_free)
        impulse = np.zeros_like(v)
        for i in range(solver.counts[COUNT_CONSTRAINTS]):
            if solver.con_kind[i] == TORSIONAL:
                continue
            J = self.jacobian(i)
            rows = np.zeros(3)
            rows[: len(J)] = J @ v
            if solver.con_patch_size[i] == HAS_TORSIONAL:
                w = self.rows_of_turning(i)
                u = np.concatenate([rows[:2], w @ v])
                friction, _, normal = self.kernels_plain().response_of(solver, i, np.linalg.norm(u), 0.0, rows[2])[:3]
                on_u = friction * u / np.linalg.norm(u)
                impulse += J.T @ [*on_u[:2], normal] + w.T @ on_u[2:]
            else:
                impulse += J.T @ np.array(self.kernels_plain().response_of(solver, i, *rows)[: len(J)])
        return np.abs(inertial - impulse).max(), max(np.abs(inertial).max(), np.abs(A @ v).max())


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("seed", range(4))
def test_momentum_balances_with_the_moments_of_contacts(seed, approximation):
    scene = TurningScene(seed, APPROXIMATIONS[approximation], calm=approximation == "tamsi")
    scene.step()
    assert scene.status() == PROBLEM_SOLVED
    members = scene.solver.con_patch_size[: scene.solver.counts[COUNT_CONSTRAINTS]]
    assert (members == HAS_TORSIONAL).sum() >= 2
    imbalance, size = scene.imbalance()
    assert imbalance <= 1e-8 * size


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_compiled_and_interpreted_steps_agree(approximation):
    calm = approximation == "tamsi"
    steps = [TurningScene(5, APPROXIMATIONS[approximation], calm=calm, compiled=c).step() for c in (False, True)]
    np.testing.assert_allclose(*steps, rtol=1e-8, atol=1e-8)


def test_a_step_minimizes_the_cost_that_is_written_out():
    """One ball, `lagged`: 1/2 (v - v*) A (v - v*) + integral of the normal impulse + mu n_0 (sqrt(u^2 + s^2) - s)."""
    minimize = pytest.importorskip("scipy.optimize").minimize
    mu, torsional, rolling, h = 0.5, 0.03, 0.004, 1e-3
    start = np.array([3.0, 2.0, 9.0, 0.05, 0.03, -0.02])
    geom = f'condim="6" friction="{mu} {torsional} {rolling}"'
    simulator, plant, context = ball(geom, "lagged", start, h)
    simulator.AdvanceTo(h)
    ours = plant.GetVelocities(context)
    solver = context.state.contact.solver
    k, dissipation, depth, s, friction = (solver.con_law[0, c] for c in (1, 2, 3, 4, 6))
    assert friction == pytest.approx(mu * h * k * depth * (1 - dissipation * start[5]), rel=1e-12)
    A = np.diag([INERTIA] * 3 + [M] * 3)
    free = start - h * np.array([0, 0, 0, 0, 0, G])
    arm = R - 0.5 * depth  # both surfaces are as stiff: they touch in the middle of the overlap
    end = min(depth / h, 1 / dissipation)

    def cost(x):
        v = free + x
        u = [
            v[3] - v[1] * arm,
            v[4] + v[0] * arm,
            rolling / mu * v[0],
            rolling / mu * v[1],
            torsional / mu * v[2],
        ]
        z = np.linspace(min(v[5], end), end, 3)
        normal = h * k * (depth - h * z) * (1 - dissipation * z)
        pressed = (normal[0] + 4 * normal[1] + normal[2]) * (z[2] - z[0]) / 6
        return 0.5 * x @ A @ x + pressed + friction * (np.sqrt(np.dot(u, u) + s * s) - s)

    scale = 1.0 / np.sqrt(np.diag(A))
    best = minimize(lambda y: 1e3 * cost(scale * y), np.zeros(6), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(ours, free + scale * best.x, atol=2e-6)
    assert cost(ours - free) <= 1e-3 * best.fun + 1e-12


# ------------------------------------------------------------------------------------ coefficients

FLOOR = '<geom name="floor" type="plane" size="1 1 1" {floor}/>'
BODY = '<body name="b" pos="0 0 .0999"><freejoint/><geom name="ball" size=".1" {ball}/></body>'


@pytest.mark.parametrize(
    "ball, floor, turning",
    [
        ("", "", (0, 0)),
        ('condim="4"', "", (0.005, 0)),
        ('condim="4" friction="1 .002"', "", (0.005, 0)),  # that of the floor is larger
        ('condim="4" friction="1 .02"', 'friction="1 .03 .04"', (0.03, 0)),
        ('condim="6" friction="1 .02 .01"', 'friction="1 .03"', (0.03, 0.01)),
        ('condim="4" friction="1 .02"', 'friction="1 .03" priority="1"', (0, 0)),
        ('condim="6" friction="1 .02 .01" priority="1"', 'friction="1 .03"', (0.02, 0.01)),
    ],
)
def test_coefficients_of_two_geoms_are_combined_as_in_mujoco(ball, floor, turning):
    text = f"<mujoco><worldbody>{FLOOR.format(floor=floor)}{BODY.format(ball=ball)}</worldbody></mujoco>"
    points = contacts_of(plant_of(text))
    assert tuple(points.torsional[0]) == turning


@pytest.mark.parametrize(
    "pair, turning",
    [
        ("", (0, 0)),
        ('condim="4"', (0.005, 0)),
        ('condim="6" friction="1 1 .02 .03 .03"', (0.02, 0.03)),
    ],
)
def test_a_pair_has_its_own_coefficients(pair, turning):
    tail = f'<contact><pair geom1="ball" geom2="floor" {pair}/></contact>'
    floor, geom = FLOOR.format(floor='condim="6"'), BODY.format(ball="")
    points = contacts_of(plant_of(f"<mujoco><worldbody>{floor}{geom}</worldbody>{tail}</mujoco>"))
    assert tuple(points.torsional[0]) == turning


def test_an_override_of_friction_has_all_coefficients():
    option = '<option o_friction=".7 .7 .03 .02"><flag override="enable"/></option>'
    floor, geom = FLOOR.format(floor=""), BODY.format(ball='condim="6"')
    points = contacts_of(plant_of(f"<mujoco>{option}<worldbody>{floor}{geom}</worldbody></mujoco>"))
    assert points.law[0, 3] == 0.7
    assert tuple(points.torsional[0]) == (0.03, 0.02)


def test_no_sliding_friction_counts_as_the_least_of_mujoco():
    floor, geom = FLOOR.format(floor='friction="0"'), BODY.format(ball='condim="4" friction="0 .02"')
    points = contacts_of(plant_of(f"<mujoco><worldbody>{floor}{geom}</worldbody></mujoco>"))
    assert points.law[0, 3] == 1e-5
    assert points.torsional[0, 0] == 0.02


def test_properties_of_a_geometry_give_coefficients_in_python():
    """A ball that spins on a floor of a plant without files: I dw/dt = -mu_t m g."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlant(MultibodyPlantConfig(time_step=1e-3, penetration_allowance=ALLOWANCE), builder)
    body = plant.AddRigidBody("ball", SpatialInertia.SolidSphereWithMass(M, R))
    for link, shape, torsional in ((plant.world_body(), HalfSpace(), None), (body, Sphere(R), 0.02)):
        properties = ProximityProperties()
        properties.AddProperty("material", "coulomb_friction", CoulombFriction(1.0, 1.0))
        if torsional is not None:
            properties.AddProperty("material", "torsional_friction", torsional)
        plant.RegisterCollisionGeometry(link, RigidTransform(), shape, "g", properties)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetFreeBodyPose(context, body, RigidTransform([0, 0, R - 1e-3]))
    plant.SetVelocities(context, np.array([0, 0, 5.0, 0, 0, 0]))
    simulator = Simulator(plant, context)
    simulator.AdvanceTo(0.03)
    before = plant.GetVelocities(context)[2]
    simulator.AdvanceTo(0.08)
    assert before - plant.GetVelocities(context)[2] == pytest.approx(0.05 * 0.02 * M * G / INERTIA, rel=3e-3)


# ---------------------------------------------------------------------------------------- commands

SPINNING = (
    '<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1" friction="0 0 0"/><body name="ball" '
    'pos="0 0 .099"><freejoint/><geom name="ball" size=".1" mass="1" friction="1 .02" {}/></body></worldbody></mujoco>'
)
SPIN = ("--v", "0 0 5 0 0 0", "--set", f"plant_config.penetration_allowance={ALLOWANCE}")


@pytest.fixture
def spinning(tmp_path):
    path = tmp_path / "spinning.xml"
    path.write_text(SPINNING.format('condim="4"'))
    return path


def test_contact_tells_the_moment_if_some_contact_may_have_one(spinning):
    (pair,) = succeed("contact", spinning, *SPIN, "--json").json()["point_pairs"]
    sign = 1 if pair["geometry_b"].endswith("ball") else -1
    assert sign * pair["moment_W"][2] == pytest.approx(-0.02 * M * G, rel=1e-6)
    assert "moment, x [N m]" in succeed("contact", spinning, *SPIN).out
    spinning.write_text(SPINNING.format(""))
    (pair,) = succeed("contact", spinning, *SPIN, "--json").json()["point_pairs"]
    assert "moment_W" not in pair


def test_logs_have_moments_of_points_if_there_may_be_some(spinning, tmp_path):
    log = tmp_path / "run.h5"
    options = ("-t", "0.05", *SPIN, "--fields", "contact", "-o")
    succeed("simulate", spinning, *options, log)
    with Log(log) as run:
        contacts = run.contacts()
        sign = np.where(contacts["contact/body_b"] == 1, 1.0, -1.0)
        along = sign * contacts["contact/moment"][:, 2]
        assert along[1:] == pytest.approx(np.full(len(along) - 1, -0.02 * M * G), rel=1e-3)
        assert not run.contact_names().surfaces
    spinning.write_text(SPINNING.format(""))
    succeed("simulate", spinning, *options, tmp_path / "plain.h5")
    with Log(tmp_path / "plain.h5") as run:
        assert "contact/moment" not in run.contacts()


def test_coefficients_can_be_set_by_name(spinning):
    """Also where the file asks for contacts of three dimensions."""
    spinning.write_text(SPINNING.format(""))
    for change, moment in (("torsional_friction=.03", 0.03), ("torsional_friction=0", 0.0)):
        answer = succeed("contact", spinning, *SPIN, "--json", "--set", f"geometry.ball.{change}").json()
        (pair,) = answer["point_pairs"]
        assert abs(pair.get("moment_W", (0, 0, 0))[2]) == pytest.approx(moment * M * G, rel=1e-6)


def test_other_formats_lose_it(spinning, tmp_path):
    result = cli("convert", spinning, "--to", "urdf", "-o", tmp_path / "a.urdf")
    assert "condim of collision 'ball'" in result.out + result.err
