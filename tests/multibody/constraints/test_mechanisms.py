"""Sample mechanisms against answers without constraints: Lagrange's equations in as many coordinates as freedoms.

Thin uniform rods are three point masses (1/6, 2/3, 1/6 of the mass at one end, in the middle, at the other), which have
the same mass, centre and moments of inertia; derivatives of their places are exact, by complex steps.
"""

import math

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.scenes.constraints_file import read_constraints
from repository import SAMPLES
from scipy.integrate import solve_ivp

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.assembly.closed_chains import ClosedChains, assemble_context
from mbcli.multibody.constraints.plant_system import PlantSystem
from mbcli.multibody.parsing import Parser
from mbcli.multibody.parsing.constraints_file import add_constraints_of_file
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.run import Run

CHAINS = SAMPLES / "closed_chains"
G = 9.81
STEP = 1e-20  # imaginary: its square is nothing beside 1


def load(file, constraints=None, time_step=0.0):
    plant = MultibodyPlant(time_step)
    Parser(plant).AddModels(str(CHAINS / file))
    if constraints is not None:
        diagnostics = Diagnostics()
        add_constraints_of_file(plant, read_constraints(CHAINS / constraints, diagnostics), diagnostics)
        diagnostics.raise_if_errors()
    plant.Finalize()
    return plant, plant.CreateDefaultContext()


def set_angles(plant, context, **angles):
    for name, angle in angles.items():
        plant.GetJointByName(name).set_angle(context, angle)


def start_with(plant, context, joint, rate):
    """Velocities of a mechanism of mobility 1 in which a joint has a rate."""
    G_ = ClosedChains(context).velocity_errors(context.state.q, context.state.v)[1]
    free = np.linalg.svd(G_)[2][-1]
    context.state.set_v(free * (rate / free[plant.GetJointByName(joint).velocity_start()]))


def run(plant, context, until, accuracy=1e-10):
    """Rows of time, q, v, energy and constraint_error, the error within its tolerance."""
    config = SimulatorConfig(integration_scheme="runge_kutta5", accuracy=accuracy)
    blocks = list(Run(plant, context, until, config=config, sample_period=0.02).blocks())
    rows = {
        name: np.concatenate([getattr(block, name) for block in blocks])
        for name in ("time", "q", "v", "energy", "constraint_error")
    }
    assert rows["constraint_error"].max() <= 1e-10
    return rows


def position_of(plant, rows, joint):
    return rows["q"][:, plant.GetJointByName(joint).position_start()]


def rod(start, end, mass):
    return [(mass / 6, start), (2 * mass / 3, (start + end) / 2), (mass / 6, end)]


class OneFreedom:
    """The motion of a in M(a) a'' + M'(a) a'^2 / 2 + V'(a) = 0, of point masses that it moves.

    Args:
        masses: a -> list of (mass, place (3,)), for complex a too.
        spins: a -> list of (moment of inertia, angle) beyond those of the points.
        potential: a -> energy beside that of weight.
    """

    def __init__(self, masses, spins=lambda a: [], potential=lambda a: 0.0 * a):
        self._masses, self._spins, self._potential = masses, spins, potential

    def _rates(self, a):
        """Masses (n,), places (n, 3) and their derivatives, angles weighed like places."""
        points = self._masses(a + 1j * STEP)
        turns = self._spins(a + 1j * STEP)
        m = np.array([mass for mass, _ in points] + [J for J, _ in turns])
        x = np.array([place for _, place in points] + [(angle, 0, 0) for _, angle in turns])
        return m, x.real, x.imag / STEP

    def acceleration(self, a, rate):
        m, _, dx = self._rates(a)
        h = 1e-5
        ddx = (self._rates(a + h)[2] - self._rates(a - h)[2]) / (2 * h)
        M, half_M_a = m @ (dx**2).sum(axis=1), m @ (dx * ddx).sum(axis=1)
        V_a = G * (m @ dx[:, 2]) + np.imag(self._potential(a + 1j * STEP)) / STEP
        return -(half_M_a * rate**2 + V_a) / M

    def motion(self, a, rate, times):
        """a at times."""

        def equation(t, y):
            return [y[1], self.acceleration(*y)]

        found = solve_ivp(equation, (0, times[-1]), [a, rate], t_eval=times, rtol=1e-11, atol=1e-12, method="DOP853")
        return found.y[0]


# ------------------------------------------------------------------------------------------------ four-bar


def four_bar_end(a, side):
    """The hinge of coupler and rocker where the crank, 1 m, has turned by a from upright: two circles meet."""
    A, R = np.array([-2 + np.sin(a), 0, np.cos(a)]), np.array([2.0, 0, 0])
    d = R - A
    square = (d**2).sum()
    along = (4.8**2 - 2.0**2 + square) / (2 * square)
    across = np.sqrt(4.8**2 / square - along**2)
    return A, A + along * d + side * across * np.array([-d[2], 0, d[0]])


def test_a_four_bar_moves_as_in_its_one_coordinate():
    plant, context = load("four_bar.urdf")
    assemble_context(context, 1e-10)
    start_with(plant, context, "left", 1.0)
    a = plant.GetJointByName("left").get_angle(context)
    R = np.array([2.0, 0, 0])
    rocker = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName("rocker")).multiply([0, 0, 2.0])
    side = next(s for s in (1, -1) if np.allclose(four_bar_end(a, s)[1], rocker, atol=1e-9))

    def masses(a):
        A, B = four_bar_end(a, side)
        return [*rod(np.array([-2, 0, 0]), A, 1.0), *rod(A, B, 1.0), *rod(R, B, 2.0)]

    rows = run(plant, context, 5.0)
    exact = OneFreedom(masses).motion(a, 1.0, rows["time"])
    assert np.ptp(exact) > 3.0
    np.testing.assert_allclose(position_of(plant, rows, "left"), exact, atol=2e-7)


@pytest.mark.parametrize("yaw", [0.25, 0.75])
def test_a_four_bar_accelerates_the_same_wherever_its_ground_is_turned_to(yaw):
    straight, context = load("four_bar.urdf")
    assemble_context(context, 1e-10)
    ground = (
        '<link name="world"/><link name="ground"/><joint name="turn" type="fixed"><parent link="world"/>'
        f'<child link="ground"/><origin rpy="0 0 {yaw}"/></joint>'
    )
    text = (CHAINS / "four_bar.urdf").read_text().replace('<parent link="world"/>', '<parent link="ground"/>')
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text.replace('<link name="world"/>', ground), "urdf")
    plant.Finalize()
    oblique = plant.CreateDefaultContext()
    plant.SetPositions(oblique, context.state.q)
    expected = straight.CalcForwardDynamics(context)
    np.testing.assert_allclose(plant.CalcForwardDynamics(oblique), expected, atol=1e-9)


# ------------------------------------------------------------------------------------------------ Bricard


X, Y, Z = np.eye(3)


def turned(axis, angle):
    """The rotation about an axis of World."""
    C = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * C + (1 - np.cos(angle)) * C @ C


def bricard_chain(a):
    """Hinges in World and axes of the last rod, at a for the first hinge: (1 + sin a) (1 - sin b) = 1 for the second,
    and then their opposites in turn, since the linkage keeps its threefold symmetry.
    """
    b = np.arcsin(np.sin(a) / (1 + np.sin(a)))
    R, place = np.eye(3), np.zeros(3)
    places = [place]
    for axis, edge, angle in ((Y, X, a), (Z, Y, b), (X, Z, -a), (Y, -X, -b), (Z, -Y, -a)):
        R = R @ turned(axis, angle)
        place = place + R @ edge
        places.append(place)
    return places, R


def test_bricards_mechanism_moves_as_in_its_one_coordinate():
    plant, context = load("bricard.urdf")
    for a in (0.1, 1.0, 2.5):  # the closed form closes the loop: place and axis of the last hinge
        places, R = bricard_chain(a)
        np.testing.assert_allclose(places[-1], Z, atol=1e-15)
        np.testing.assert_allclose(R @ X, X, atol=1e-15)

    def masses(a):
        places = bricard_chain(a)[0]
        return [mass for start, end in zip(places, places[1:], strict=False) for mass in rod(start, end, 1.0)]

    rows = run(plant, context, 3.0)
    exact = OneFreedom(masses).motion(0.0, 0.0, rows["time"])
    assert np.ptp(exact) > 3.0  # through the flat position and back
    np.testing.assert_allclose(position_of(plant, rows, "hinge_0"), exact, atol=2e-7)


# ------------------------------------------------------------------------------------------------ flyball governor

LENGTH, BALL, SLEEVE, ROD, RADIUS = 0.5, 2.0, 3.0, 0.4, 0.05
WEIGHT = 2 * BALL + 2 * SLEEVE + ROD + 3 * ROD  # of the angle of the arms
ABOUT_SPINDLE = 2 * BALL + 2 / 3 * (ROD + ROD)
ROUND = 0.02 + 0.006 + 2 * 0.4 * BALL * RADIUS**2  # what the angle does not change: spindle, sleeve, balls
UPRIGHT = math.acos(0.6)  # the angle at the coordinates zero


def start_governor(rate):
    """The governor with the spindle turning at a rate and the arms at rest."""
    plant, context = load("flyball_governor.sdf")
    v = np.zeros(plant.num_velocities())
    v[plant.GetJointByName("spin").velocity_start()] = rate
    context.state.set_v(v)
    chains = ClosedChains(context)
    assert np.linalg.norm(chains.position_errors(context.state.q)[0]) < 1e-14
    assert np.linalg.norm(chains.velocity_errors(context.state.q, v)[0]) < 1e-14
    return plant, context


def test_a_flyball_governor_stays_at_its_closed_form_angle():
    steady = math.sqrt(WEIGHT * G / (ABOUT_SPINDLE * LENGTH * 0.6))
    assert steady == pytest.approx(9.1473, abs=1e-4)
    plant, context = start_governor(steady)
    np.testing.assert_allclose(plant.CalcForwardDynamics(context), 0.0, atol=1e-11)


def test_a_flyball_governor_runs_at_its_closed_form_angle():
    plant, context = start_governor(math.sqrt(WEIGHT * G / (ABOUT_SPINDLE * LENGTH * 0.6)))
    rows = run(plant, context, 2.0)
    assert np.abs(position_of(plant, rows, "lift")).max() < 1e-9


def test_a_flyball_governor_swings_as_in_its_own_coordinate():
    """The spindle keeps its angular momentum, which leaves one equation for the angle of the arms."""
    rate = 6.0
    plant, context = start_governor(rate)

    def about(a):
        return ROUND + LENGTH**2 * ABOUT_SPINDLE * math.sin(a) ** 2

    momentum = about(UPRIGHT) * rate

    def equation(t, y):
        a, spin = y[0], momentum / about(y[0])
        s, c = math.sin(a), math.cos(a)
        level = 2 * (ROD / 3 + BALL + ROD * (1 / 12 + 1 / 4 + 2 * s**2) + 2 * SLEEVE * s**2) * LENGTH**2
        level += 2 * 0.4 * BALL * RADIUS**2
        level_a = 2 * (4 * ROD + 4 * SLEEVE) * s * c * LENGTH**2
        outward = LENGTH**2 * ABOUT_SPINDLE * s * c * spin**2
        return [y[1], (outward - WEIGHT * G * LENGTH * s - 0.5 * level_a * y[1] ** 2) / level, spin]

    rows = run(plant, context, 3.0)
    start = [UPRIGHT, 0.0, 0.0]
    exact = solve_ivp(equation, (0, 3), start, t_eval=rows["time"], rtol=1e-11, atol=1e-12, method="DOP853").y
    assert np.ptp(exact[0]) > 0.3
    np.testing.assert_allclose(position_of(plant, rows, "lift"), -2 * LENGTH * (np.cos(exact[0]) - 0.6), atol=2e-7)
    np.testing.assert_allclose(position_of(plant, rows, "spin"), exact[2], atol=5e-7)
    for side, sign in (("left", 1), ("right", -1)):
        angle = sign * (exact[0] - UPRIGHT)
        np.testing.assert_allclose(position_of(plant, rows, f"hinge_{side}"), angle, atol=2e-7)


# ------------------------------------------------------------------------------------------------ Stewart platform

LEGS = range(1, 7)
GROUND = np.radians([-10, 10, 110, 130, 230, 250])
CORNERS = np.radians([310, 50, 70, 170, 190, 290])
FEET = np.column_stack([np.cos(GROUND), np.sin(GROUND), np.zeros(6)])
ON_PLATE = 0.6 * np.column_stack([np.cos(CORNERS), np.sin(CORNERS), np.zeros(6)])
PLATE_MASS, PLATE_INERTIA = 10.0, np.diag([0.9, 0.9, 1.8])
CYLINDER, PISTON, REACH = 2.0, 1.0, 0.4  # masses; centres from the foot, and from the corner
SPRING, HOME = (
    3000.0,
    np.linalg.norm(ON_PLATE + 1.2 * Z - FEET, axis=1),
)  # at rest at the length of the coordinates zero
AROUND = 0.8**2 / 12 * (CYLINDER + PISTON) + CYLINDER * REACH**2  # of what does not slide


def stewart_at(position, rpy):
    """The platform with its plate at a pose, the legs assembled to it."""
    plant, context = load("stewart_platform.sdf", "stewart_platform.yaml")
    plate = plant.GetBodyByName("plate")
    plant.SetFreeBodyPose(context, plate, RigidTransform(RollPitchYaw(rpy), position))
    weights = np.zeros(plant.num_velocities())
    weights[plate.floating_velocities_start_in_v() :][:6] = 1.0
    found = ClosedChains(context).assemble(context.state.q, weights)
    assert found.converged
    context.state.set_q(found.q)
    return plant, context, plate


def leg_equation(d, d_rate, force):
    """(A, b): the force on the plate's end of a leg from foot to end, d, is -(A dd + b); force pushes along the leg."""
    length = np.sqrt(d @ d)
    s = d / length

    def mass(d):
        length = np.sqrt((d * d).sum())
        across = np.eye(3) - np.outer(d, d) / length**2
        slide = (length - REACH) / length
        return (AROUND / length**2 + PISTON * slide**2) * across + PISTON * np.outer(d, d) / length**2

    by = np.array([np.imag(mass(d + 1j * STEP * e)) / STEP for e in np.eye(3)])  # derivatives along x, y, z
    bias = np.einsum("kij,k,j->i", by, d_rate, d_rate) - 0.5 * np.einsum("kij,i,j->k", by, d_rate, d_rate)
    # height of the centres of mass: cylinder at REACH along s, piston at length - REACH
    ds = (np.eye(3) - np.outer(s, s)) / length
    weight = G * (CYLINDER * REACH * ds[2] + PISTON * (Z - REACH * ds[2]))
    return mass(d), bias + weight - force * s


def plate_accelerations(position, R, w, v, forces):
    """Angular and translational acceleration of the plate, from its own equations of motion and those of the legs."""
    inertia = R @ PLATE_INERTIA @ R.T
    A = np.zeros((6, 6))
    A[:3, :3], A[3:, 3:] = inertia, PLATE_MASS * np.eye(3)
    b = np.concatenate([np.cross(w, inertia @ w), PLATE_MASS * G * Z])
    for k in range(6):
        r = R @ ON_PLATE[k]
        C = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        J = np.hstack([-C, np.eye(3)])  # of the corner's velocity
        d = position + r - FEET[k]
        force = forces[k] - SPRING * (np.linalg.norm(d) - HOME[k])
        of_leg, bias = leg_equation(d, v + np.cross(w, r), force)
        A += J.T @ of_leg @ J
        b += J.T @ (bias + of_leg @ np.cross(w, np.cross(w, r)))
    return np.linalg.solve(A, -b)


def plate_velocity(plant, context, plate, w, v):
    """Sets the plate's velocity, and those of the legs that go with it."""
    start = plate.floating_velocities_start_in_v()
    G_ = ClosedChains(context).velocity_errors(context.state.q, context.state.v)[1]
    moved = np.zeros(plant.num_velocities())
    moved[start : start + 6] = [*w, *v]
    legs = np.ones(plant.num_velocities(), dtype=bool)
    legs[start : start + 6] = False
    moved[legs] = np.linalg.solve(G_[:, legs], -G_ @ moved)
    context.state.set_v(moved)


POSE = np.array([0.08, -0.05, 1.15]), [0.1, -0.15, 0.2]


def test_legs_of_a_stewart_platform_have_the_lengths_of_inverse_kinematics():
    plant, context, plate = stewart_at(*POSE)
    X_WP = plant.EvalBodyPoseInWorld(context, plate)
    np.testing.assert_allclose(X_WP.translation(), POSE[0], atol=1e-12)
    length = np.linalg.norm([X_WP.multiply(p) for p in ON_PLATE] - FEET, axis=1)
    assert np.ptp(length - HOME) > 0.1
    strokes = [plant.GetJointByName(f"stroke_{k}").get_translation(context) for k in LEGS]
    np.testing.assert_allclose(strokes, length - HOME, atol=1e-11)


def test_a_stewart_platform_accelerates_as_its_plate_with_six_legs():
    plant, context, plate = stewart_at(*POSE)
    w, v = np.array([0.3, -0.5, 0.4]), np.array([0.2, 0.1, -0.3])
    plate_velocity(plant, context, plate, w, v)
    u = np.array([30.0, 45, 20, 60, 35, 50])
    X_WP = plant.EvalBodyPoseInWorld(context, plate)
    expected = plate_accelerations(X_WP.translation(), X_WP.rotation().matrix(), w, v, u)
    start = plate.floating_velocities_start_in_v()
    order = [plant.GetJointActuatorByName(f"stroke_{k}").input_start() for k in LEGS]
    actuation = np.zeros(6)
    actuation[order] = u
    vdot = plant.CalcAccelerations(context, u=actuation)
    np.testing.assert_allclose(vdot[start : start + 6], expected, rtol=0, atol=1e-9)
    # and back: the forces of the legs that hold the plate against weight and velocities
    system = PlantSystem(context)
    actuated = np.zeros(plant.num_velocities(), dtype=bool)
    actuated[plant.model.actuator_dof] = True
    _, tau, _ = system.exact_inverse_dynamics(actuated, vdot)
    np.testing.assert_allclose(tau[plant.model.actuator_dof], actuation, atol=1e-8)


def test_a_stewart_platform_moves_as_its_plate_with_six_legs():
    plant, context, plate = stewart_at(*POSE)
    w, v = np.array([0.3, -0.5, 0.4]), np.array([0.2, 0.1, 0.6])
    plate_velocity(plant, context, plate, w, v)

    def equation(t, y):
        R, w, v = y[:9].reshape(3, 3), y[12:15], y[15:18]
        rates = plate_accelerations(y[9:12], R, w, v, np.zeros(6))
        return np.concatenate([np.cross(w, R, axisb=0, axisc=0).ravel(), v, rates])

    X_WP = plant.EvalBodyPoseInWorld(context, plate)
    start = np.concatenate([X_WP.rotation().matrix().ravel(), X_WP.translation(), w, v])
    rows = run(plant, context, 1.0)
    exact = solve_ivp(equation, (0, 1), start, t_eval=rows["time"], rtol=1e-10, atol=1e-11, method="DOP853").y
    assert np.ptp(exact[11]) > 0.05
    place = plate.floating_positions_start() + 4
    np.testing.assert_allclose(rows["q"][:, place : place + 3], exact[9:12].T, atol=2e-7)
    X_WP = plant.EvalBodyPoseInWorld(context, plate)
    np.testing.assert_allclose(X_WP.rotation().matrix().ravel(), exact[:9, -1], atol=5e-7)


# ------------------------------------------------------------------------------------------------ closed-chain leg

THIGH, SHANK, HIP, STIFFNESS = 0.375, 0.5, 2.0, 60.0
STANDING = math.atan2(0.3, 0.225)  # angle of the thighs from below at the coordinates zero


def leg_points(a):
    """Hip and front knee above the ankle on the ground, both thighs at a from below."""
    depth = THIGH * np.cos(a) + np.sqrt(SHANK**2 - THIGH**2 * np.sin(a) ** 2)
    hip = np.array([0, 0, depth])
    return hip, hip + THIGH * np.array([np.sin(a), 0, -np.cos(a)])


def leg_masses(a):
    hip, knee = leg_points(a)
    halves = [*rod(hip, knee, 2 * 0.4), *rod(knee, 0 * knee, 2 * 0.3)]  # both sides: mirror images
    return [(HIP, hip), *halves]


def leg_spins(a):
    """What cylinders of 1 cm radius have more than thin rods."""
    return [(2 * 0.4 * 0.01**2 / 4, a), (2 * 0.3 * 0.01**2 / 4, np.arcsin(THIGH / SHANK * np.sin(a)))]


def test_a_closed_leg_on_the_ground_springs_as_in_its_one_coordinate():
    plant, context = load("closed_leg.xml", "closed_leg.stance.yaml")
    rows = run(plant, context, 3.0)
    leg = OneFreedom(leg_masses, leg_spins, lambda a: STIFFNESS * (a - STANDING) ** 2)
    exact = leg.motion(STANDING, 0.0, rows["time"])
    assert np.ptp(exact) > 0.2
    np.testing.assert_allclose(position_of(plant, rows, "front_hip"), STANDING - exact, atol=2e-7)
    np.testing.assert_allclose(position_of(plant, rows, "rear_hip"), exact - STANDING, atol=2e-7)
    depth = np.array([leg_points(a)[0][2] for a in exact])
    np.testing.assert_allclose(position_of(plant, rows, "rail"), depth - 0.625, atol=2e-7)


def test_discrete_steps_of_a_closed_leg_come_closer_to_its_motion_the_shorter_they_are():
    leg = OneFreedom(leg_masses, leg_spins, lambda a: STIFFNESS * (a - STANDING) ** 2)
    errors, sinking = [], []
    for h in (2e-3, 1e-3, 5e-4):
        plant, context = load("closed_leg.xml", "closed_leg.stance.yaml", time_step=h)
        blocks = list(Run(plant, context, 1.0, sample_period=0.02).blocks())
        times, q = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("time", "q"))
        exact = leg.motion(STANDING, 0.0, times)
        errors.append(np.abs(STANDING - exact - q[:, plant.GetJointByName("front_hip").position_start()]).max())
        shank = plant.GetBodyByName("front_shank")
        sinking.append(abs(plant.EvalBodyPoseInWorld(context, shank).multiply([-0.3, 0, -0.4])[2]))
    assert errors[2] < 1e-4
    for k in (0, 1):
        assert 3.5 < errors[k] / errors[k + 1] < 4.5
        assert 3.0 < sinking[k] / sinking[k + 1] < 5.0  # a contact holds velocities, not places


def test_motors_of_a_closed_leg_carry_its_weight_by_virtual_work():
    plant, context = load("closed_leg.xml", "closed_leg.stance.yaml")
    actuated = np.zeros(plant.num_velocities(), dtype=bool)
    actuated[plant.model.actuator_dof] = True
    points = leg_masses(STANDING + 1j * STEP)
    raising = G * sum(mass * place[2].imag for mass, place in points) / STEP  # dV/da
    vdot, tau, _ = PlantSystem(context).exact_inverse_dynamics(actuated, np.zeros(5))
    np.testing.assert_allclose(vdot, 0.0, atol=1e-12)
    assert tau[3] - tau[1] == pytest.approx(raising, abs=1e-9)  # positive turns of the front hip make its angle smaller
    np.testing.assert_allclose(tau[[0, 2, 4]], 0.0, atol=1e-12)
    actuated[3] = False  # one motor alone
    _, tau, _ = PlantSystem(context).exact_inverse_dynamics(actuated, np.zeros(5))
    np.testing.assert_allclose(tau, [0, -raising, 0, 0, 0], atol=1e-9)


# ------------------------------------------------------------------------------------------------ all of them


def start_governor_fast():
    return start_governor(6.0)


def start_stewart():
    plant, context, plate = stewart_at(*POSE)
    plate_velocity(plant, context, plate, np.array([0.3, -0.5, 0.4]), np.array([0.2, 0.1, 0.6]))
    return plant, context


def start_leg():
    return load("closed_leg.xml", "closed_leg.stance.yaml")


@pytest.mark.parametrize("start", [start_governor_fast, start_stewart, start_leg])
def test_energy_stays_over_ten_seconds(start):
    plant, context = start()
    rows = run(plant, context, 10.0)
    energy, scale = rows["energy"].sum(axis=1), np.abs(rows["energy"]).max()
    assert np.ptp(rows["energy"][:, 0]) > 0.02 * scale
    assert np.abs(energy - energy[0]).max() < 1e-6 * scale


@pytest.mark.parametrize(
    ("file", "constraints", "rank", "mobility"),
    [
        ("flyball_governor.sdf", None, 4, 2),
        ("stewart_platform.sdf", "stewart_platform.yaml", 18, 6),
        ("closed_leg.xml", None, 2, 3),
        ("closed_leg.xml", "closed_leg.stance.yaml", 4, 1),
    ],
)
def test_mechanisms_have_the_mobility_that_their_files_state(file, constraints, rank, mobility):
    plant, context = load(file, constraints)
    chains = ClosedChains(context)
    found = chains.assemble(context.state.q)
    assert found.converged
    assert chains.rank_nearby(found.q) == rank
    assert plant.num_velocities() - rank == mobility
