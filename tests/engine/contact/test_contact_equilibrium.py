"""Bodies that hold each other at rest are a solution, and a step with TAMSI ends with one."""

import numpy as np
import pytest
from contact_scenes import APPROXIMATIONS, Scene, own_library
from repository import SAMPLES
from test_contact_solver import TAMSI, H, Scene as RandomScene

from mbcli.engine.fields.contact_fields import (
    COUNT_CONSTRAINTS,
    COUNT_ITERATIONS,
    HUNT_CROSSLEY_PENETRATION,
    HUNT_CROSSLEY_STEP,
    PROBLEM_SOLVED,
    SETTING_MOST_ITERATIONS,
    VECTOR_FREE,
    VECTOR_VELOCITY,
)
from mbcli.multibody.parsing import Parser

LIB = own_library()
QUADRUPED = (SAMPLES / "quadruped.urdf").read_text()
CONVEX = [approximation for approximation in APPROXIMATIONS if approximation != "tamsi"]  # which has no controllers
FEW = 5  # iterations of the solver


def slider(s, name, axis, position, mass=0.1, **surface):
    """A ball of 2 cm on a rail through a position of World."""
    frame = s.plant.AddFrame(LIB.FixedOffsetFrame(f"{name}_rail", s.plant.world_frame(), LIB.RigidTransform(position)))
    joint = s.plant.AddJoint(LIB.PrismaticJoint(name, frame, s.ball(name, mass, 0.02, **surface).body_frame(), axis))
    return s.plant.AddJointActuator(name, joint)


def controlled(s, p, d, desired):
    """Starts a scene whose actuators have controllers towards positions."""
    plant = s.plant
    for index in plant.GetJointActuatorIndices():
        plant.get_joint_actuator(index).set_controller_gains(LIB.PdControllerGains(p=p, d=d))
    s.start()
    instance = plant.GetModelInstanceByName("DefaultModelInstance")
    state = np.concatenate([desired, np.zeros(len(desired))])
    plant.get_desired_state_input_port(instance).FixValue(s.context, state)
    return s


def stays(s, steps=20):
    """Steps from rest; nothing moves, and the solver needs few iterations for it."""
    q = s.q
    for _ in range(steps):
        s.steps(1)
        assert s.context.state.contact.solver.counts[COUNT_ITERATIONS] <= FEW
    np.testing.assert_allclose(s.q, q, atol=1e-9)
    np.testing.assert_allclose(s.v, 0.0, atol=1e-9)


@pytest.mark.parametrize("h", [1e-3, 1e-2])
@pytest.mark.parametrize("approximation", ["lagged", "similar"])
@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e9])
def test_a_controlled_slider_presses_against_a_wall(approximation, h, stiffness):
    """Where the forces of the controller and of the wall are equal it rests: no momentum is left to measure by."""
    s = Scene(LIB, h, approximation, stiffness=stiffness)
    s.fixed_box((0.05, 0.05, 0.2), (0.045, 0.0, 0.0))
    slider(s, "finger", [1.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    p, k, goal = 1e3, stiffness / 2, 0.05
    controlled(s, p, 10.0, [goal])
    s.set([p * goal / (p + k)], [0.0])
    stays(s)
    force = s.contacts()[0].contact_force()
    assert np.linalg.norm(force) == pytest.approx(k * p * goal / (p + k), rel=1e-6)


@pytest.mark.parametrize("approximation", CONVEX)
def test_a_slider_comes_to_rest_at_a_wall(approximation):
    s = Scene(LIB, 1e-2, approximation, stiffness=1e5)
    s.fixed_box((0.05, 0.05, 0.2), (0.045, 0.0, 0.0))
    slider(s, "finger", [1.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    controlled(s, 1e3, 10.0, [0.05])
    s.set([0.0], [0.0])
    s.steps(120)
    assert abs(s.v[0]) < 1e-12


@pytest.mark.parametrize("approximation", ["lagged", "similar"])
@pytest.mark.parametrize("seed", range(3))
def test_fingers_squeeze_a_fixed_post(approximation, seed):
    """Fingers of several directions and strengths on one post, each at rest by itself."""
    rng = np.random.default_rng(seed)
    s = Scene(LIB, 1e-3, approximation)
    s.fixed_box((0.05, 0.06, 0.4), (0.0, 0.0, 0.0))
    stiffness, goals, p = [], [], 500.0
    for k in range(4):
        axis = np.eye(3)[k % 2] * (1.0 if k < 2 else -1.0)
        k_finger = 10.0 ** rng.uniform(3, 8)
        position = -(0.02 + (0.025, 0.03)[k % 2]) * axis + [0.0, 0.0, rng.uniform(-0.1, 0.1)]
        slider(s, f"finger_{k}", axis, position, mass=10.0 ** rng.uniform(-3, 1), stiffness=k_finger)
        stiffness.append(1.0 / (1.0 / k_finger + 1.0 / s.material["stiffness"]))
        goals.append(rng.uniform(0.001, 0.02))
    controlled(s, p, 5.0, goals)
    rest = p * np.array(goals) / (p + np.array(stiffness))
    s.set(rest, np.zeros(4))
    stays(s, 5)


@pytest.mark.parametrize("h", [1e-3, 1e-2])
@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_ball_stays_between_two_walls_without_gravity(approximation, h):
    s = Scene(LIB, h, approximation, gravity=False, stiffness=1e5)
    for sign in (1.0, -1.0):
        s.fixed_box((0.05, 0.5, 0.5), (sign * 0.0449, 0.0, 0.0))
    s.ball("ball", 0.1, 0.02)
    s.start()
    s.place("ball", (3e-5, 0.0, 0.0), velocity=(1e-3, 0.0, 0.0), spin=(0.1, 0.2, 0.0))
    s.simulator.Initialize()
    s.steps(300)
    assert abs(s.where("ball")[0]) < 1e-4
    assert abs(s.v).max() < 1.0


def balance(scene):
    """Momentum of a random scene's step against its impulses; the largest momentum; impulses of contacts."""
    solver, slot = scene.solver, scene.solver.dof_slot
    v, v_free = solver.vectors[VECTOR_VELOCITY, slot], scene.free
    A = scene.plant.CalcMassMatrix(scene.context) + H * np.diag(scene.model.dof_damping)
    impulse = np.zeros_like(v)
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        J = scene.jacobian(i)
        impulse += J.T @ solver.con_impulse[i, : len(J)]
    return abs(A @ (v - v_free) - impulse).max(), max(abs(impulse).max(), abs(A @ v).max())


@pytest.mark.parametrize("seed", range(6))
def test_a_step_of_tamsi_in_parts_balances_momentum(seed):
    """With so few iterations the whole step is not solved; impulses of its parts add up, laws are as they were."""
    whole = RandomScene(seed, TAMSI, tolerance=1e-11)
    whole.step()
    scene = RandomScene(seed, TAMSI, tolerance=1e-11)
    scene.solver.settings[SETTING_MOST_ITERATIONS] = 7
    scene.step()
    solver = scene.solver
    assert whole.status() == PROBLEM_SOLVED
    assert scene.status() == PROBLEM_SOLVED
    scene.free = whole.solver.vectors[VECTOR_FREE, solver.dof_slot]
    error, size = balance(scene)
    assert error <= 1e-9 * size
    contacts = [i for i in range(solver.counts[COUNT_CONSTRAINTS]) if solver.con_kind[i] == TAMSI]
    for i in contacts:
        x, y, n = solver.con_impulse[i]
        c = solver.con_source[i]
        assert n >= 0.0
        assert np.hypot(x, y) <= scene.points.law[c, 3] * n * (1.0 + 1e-9)
        assert solver.con_law[i, HUNT_CROSSLEY_STEP] == H
        assert solver.con_law[i, HUNT_CROSSLEY_PENETRATION] == -scene.points.distance[c]
    np.testing.assert_array_equal(solver.con_law[: len(contacts), :4], whole.solver.con_law[: len(contacts), :4])


def quadruped(lib_h):
    config = LIB.MultibodyPlantConfig(time_step=lib_h)
    config.contact_model, config.discrete_contact_approximation = "point", "tamsi"
    builder = LIB.DiagramBuilder()
    plant, _ = LIB.AddMultibodyPlant(config, builder)
    Parser(plant).AddModelsFromString(QUADRUPED, "urdf")
    surface = LIB.ProximityProperties()
    LIB.AddContactMaterial(friction=LIB.CoulombFriction(1.0, 1.0), properties=surface)
    plant.RegisterCollisionGeometry(plant.world_body(), LIB.RigidTransform(), LIB.HalfSpace(), "ground", surface)
    plant.Finalize()
    simulator = LIB.Simulator(builder.Build())
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))
    return plant, simulator, context


def test_tamsi_solves_a_quadruped_that_lands():
    """Random landings at 10 ms; of that of seed 27 the whole step has no solution that is found."""
    h = 1e-2
    plant, simulator, context = quadruped(h)
    nq, nv = plant.num_positions(), plant.num_velocities()
    instance = plant.GetModelInstanceByName("quadruped")
    bodies = [plant.get_body(index) for index in plant.GetBodyIndices(instance)]
    shanks = [body for body in bodies if body.name().endswith("shank")]
    lower, upper = plant.GetPositionLowerLimits()[7:], plant.GetPositionUpperLimits()[7:]
    for seed in (0, 1, 12, 27):
        rng = np.random.default_rng(seed)
        q = np.zeros(nq)
        q[7:] = lower + (upper - lower) * rng.uniform(0.05, 0.95, nq - 7)
        q[:4] = np.r_[1.0, 0.2 * rng.normal(size=3)]
        q[:4] /= np.linalg.norm(q[:4])
        plant.SetPositions(context, q)
        feet = [
            plant.CalcPointsPositions(context, shank.body_frame(), [0.0, 0.0, -0.2], plant.world_frame())[2, 0]
            for shank in shanks
        ]
        q[6] = -min(feet) + 0.02 - rng.uniform(0.0, 0.003)
        v = rng.normal(size=nv) * np.r_[np.ones(6), 5.0 * np.ones(nv - 6)] * rng.uniform(0.0, 2.0)
        v[5] -= rng.uniform(0.0, 2.0)
        simulator.get_mutable_context().SetTime(0.0)
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        simulator.Initialize()
        before = plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context)
        simulator.AdvanceTo(0.5 * h)
        assert context.state.contact.solver.counts[COUNT_CONSTRAINTS] > 0
        after = plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context)
        assert after < before + 0.1, seed  # contact takes energy; little comes from an overlap of 3 mm
