"""Seeded random plants with every joint type, built through the public interface, and random states of them.

Nothing is trivial: joint frames are moved and turned on both sides, axes are not unit vectors, centres of mass are off
the origin, inertias are full matrices, joints may run against the tree.
"""

import numpy as np

from mbcli.math import Quaternion, RigidTransform, RotationMatrix
from mbcli.multibody.compilation.joint_end_laws import PositionStop, VelocityLimit
from mbcli.multibody.core.run_plant import plant_of_run
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import (
    BallQuaternionJoint,
    BallRpyJoint,
    BallSpring,
    CurvilinearJoint,
    DoorHinge,
    DoorHingeConfig,
    FixedOffsetFrame,
    LinearBushingRollPitchYaw,
    LinearSpringDamper,
    PdControllerGains,
    PlanarJoint,
    PrismaticJoint,
    PrismaticSpring,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RevoluteSpring,
    RotationalInertia,
    RpyFloatingJoint,
    ScrewJoint,
    SpatialInertia,
    UniversalJoint,
    WeldJoint,
)
from mbcli.trajectories import PiecewiseConstantCurvatureTrajectory

ONE_DOF = ("revolute", "prismatic", "screw")
# types whose velocities are the rates of their positions
RATES = (*ONE_DOF, "universal", "planar", "curvilinear")
MOVING = (*RATES, "ball_rpy", "ball_quaternion", "quaternion_floating", "rpy_floating")
ALL = ("weld", *MOVING)
# pydrake has no curvilinear joint, and no ball joint with a quaternion
IN_PYDRAKE = tuple(kind for kind in ALL if kind not in ("curvilinear", "ball_quaternion"))


def random_plant(
    seed,
    kinds=ALL,
    *,
    num_bodies=11,
    reversed_probability=0.3,
    trees=1,
    floating_bases=0,
    time_step=0.0,
    damped=True,
    sprung=True,
    actuated=True,
    weightless=False,
    base_at=None,
    elements=False,
    controlled=False,
    finalize=True,
    stopped=False,
):
    """A plant of num_bodies bodies whose joints go through `kinds` in random order, so that each kind is there.

    Args:
        seed: everything follows from it.
        kinds: joint types to draw from.
        reversed_probability: that a joint's parent is the outboard body.
        trees: number of bodies that a joint connects to World.
        floating_bases: number of further bodies that nothing connects inboard; Finalize() gives them floating joints.
        damped, sprung, actuated: whether joints get damping, springs, actuators with rotors and gears.
        weightless: whether one of the two model instances, which are mixed at random, is without gravity.
        elements: whether there are spring-dampers, a bushing and, given a revolute joint, a door hinge.
        stopped: whether joints with one velocity have stops and brakes, some of which random states are beyond.
        controlled: whether the actuators have PD controllers and lower limits of effort.
        base_at: (3,) [m] where the joints to World stand; random within a metre where not given.
    """
    rng = np.random.default_rng(seed)
    plant = MultibodyPlant(time_step)
    plant.mutable_gravity_field().set_gravity_vector(rng.normal(size=3) * [1.0, 1.0, 3.0] - [0.0, 0.0, 9.0])
    instances = [plant.AddModelInstance("left"), plant.AddModelInstance("right")]
    if weightless:
        plant.set_gravity_enabled(instances[1], False)
    bodies, joints, queue = [], [], []
    for n in range(num_bodies):
        instance = instances[n % 2 if n < 2 else rng.integers(2)]
        body = plant.AddRigidBody(f"body{n}", instance, random_inertia(rng))
        bodies.append(body)
        if trees <= n < trees + floating_bases:
            continue
        inboard = plant.world_body() if n < trees else bodies[rng.integers(max(0, n - 4), n)]
        if not queue:
            queue = list(rng.permutation(kinds))
        X_inboard, X_outboard = random_pose(rng), random_pose(rng)
        if n < trees and base_at is not None:
            X_inboard = RigidTransform(X_inboard.rotation(), np.asarray(base_at, float) + X_inboard.translation())
        inboard_frame = plant.AddFrame(FixedOffsetFrame(f"inboard{n}", inboard, X_inboard, instance))
        outboard_frame = plant.AddFrame(FixedOffsetFrame(f"outboard{n}", body, X_outboard))
        frames = (inboard_frame, outboard_frame)
        if rng.random() < reversed_probability:
            frames = frames[::-1]
        joint = plant.AddJoint(random_joint(rng, queue.pop(), f"joint{n}", *frames, damped))
        joints.append(joint)
        if joint.type_name() == "curvilinear":  # random states are beyond the ends of its path
            joint.set_position_limits([-np.inf], [np.inf])
        if sprung and joint.type_name() in ("revolute", "prismatic"):
            spring = RevoluteSpring if joint.type_name() == "revolute" else PrismaticSpring
            for _ in range(rng.integers(1, 3)):  # two springs in parallel are two springs
                plant.AddForceElement(spring(joint, rng.normal(), rng.uniform(1.0, 30.0)))
    if actuated:
        for joint in rng.permutation([j for j in joints if j.num_velocities() == 1]):
            actuator = plant.AddJointActuator(f"motor_{joint.name()}", joint, effort_limit=100.0)
            actuator.set_default_rotor_inertia(rng.uniform(0.001, 0.01))
            actuator.set_default_gear_ratio(rng.uniform(5.0, 20.0))
    if elements:
        add_elements(np.random.default_rng(seed), plant, bodies, joints)
    if controlled:
        add_controllers(np.random.default_rng(seed), plant)
    if finalize:
        plant.Finalize()
    return with_stops(np.random.default_rng(seed), plant) if stopped else plant


def with_stops(rng, plant):
    """A finalized continuous plant with soft stops and brakes on both sides of every joint with one velocity."""
    dofs = [joint.velocity_start() for joint in plant.moving_joints() if joint.num_velocities() == 1]
    stops = [
        PositionStop(d, side, rng.normal(), *rng.uniform([5.0, 0.1], [30.0, 1.0])) for d in dofs for side in (1, -1)
    ]
    speeds = [VelocityLimit(d, -rng.uniform(), rng.uniform(), rng.uniform(1.0, 5.0)) for d in dofs]
    return plant_of_run(plant, stops=stops, speeds=speeds)


def add_controllers(rng, plant, decades=0):
    """A PD controller for every actuator; `decades` more of stiffness and of limits than what is soft."""
    for index in plant.GetJointActuatorIndices():
        actuator = plant.get_joint_actuator(index)
        gains = [10.0 ** rng.uniform(-1.0, most + decades) for most in (2.0, 1.0)]
        actuator.set_controller_gains(PdControllerGains(p=gains[0], d=gains[1]))
        actuator.set_effort_limit(10.0 ** rng.uniform(0.0, 2.0 + decades))


def add_elements(rng, plant, bodies, joints):
    """Two spring-dampers, one to World; a hinge with wide curves; a bushing; springs on ball joints."""
    for joint in (j for j in joints if isinstance(j, BallQuaternionJoint)):
        plant.AddForceElement(BallSpring(joint, 3.0))
    for other in (plant.world_body(), bodies[0]):
        points = rng.uniform(-0.5, 0.5, (2, 3))
        constants = rng.uniform([0.5, 5.0, 0.5], [1.5, 20.0, 2.0])
        plant.AddForceElement(LinearSpringDamper(other, points[0], bodies[-1], points[1], *constants))
    for joint in [j for j in joints if j.type_name() == "revolute"][:1]:
        names = [
            "spring_constant",
            "dynamic_friction_torque",
            "static_friction_torque",
            "viscous_friction",
            "catch_torque",
        ]
        widths = {"spring_zero_angle_rad": rng.normal(), "catch_width": 1.5, "motion_threshold": 0.8}
        sizes = dict(zip(names, rng.uniform(0.5, 2.0, len(names)), strict=True))
        plant.AddForceElement(DoorHinge(joint, DoorHingeConfig(**widths, **sizes)))
    A, C = (plant.AddFrame(FixedOffsetFrame(body.body_frame(), random_pose(rng))) for body in (bodies[-2], bodies[1]))
    plant.AddForceElement(LinearBushingRollPitchYaw(A, C, *rng.uniform(0.5, 5.0, (4, 3))))


def random_inertia(rng):
    """M_BBo_B of a body whose principal moments differ and whose centre of mass is off the origin."""
    mass = rng.uniform(0.5, 3.0)
    second_moments = rng.uniform(0.01, 0.1, 3)  # any positive ones belong to a body
    R = random_rotation(rng).matrix()
    S = R @ np.diag(second_moments) @ R.T
    I = mass * (np.trace(S) * np.eye(3) - S)
    central = RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    return SpatialInertia.MakeFromCentralInertia(mass, rng.uniform(-0.3, 0.3, 3), central)


def random_rotation(rng):
    wxyz = rng.normal(size=4)
    return RotationMatrix(Quaternion(wxyz / np.linalg.norm(wxyz)))


def random_pose(rng):
    return RigidTransform(random_rotation(rng), rng.uniform(-0.5, 0.5, 3))


def random_joint(rng, kind, name, F, M, damped=True):
    """A joint of a type from frame F to frame M, not yet part of the plant."""

    def damping(size=None):
        return rng.uniform(0.1, 2.0, size) * (1.0 if damped else 0.0)

    axis = rng.normal(size=3) * 2.0
    if kind == "weld":
        return WeldJoint(name, F, M, random_pose(rng))
    if kind == "revolute":
        return RevoluteJoint(name, F, M, axis, damping=damping())
    if kind == "prismatic":
        return PrismaticJoint(name, F, M, axis, damping=damping())
    if kind == "screw":
        return ScrewJoint(name, F, M, axis, rng.uniform(-1.0, 1.0), damping())
    if kind == "universal":
        return UniversalJoint(name, F, M, damping())
    if kind == "planar":
        return PlanarJoint(name, F, M, damping(3))
    if kind == "ball_rpy":
        return BallRpyJoint(name, F, M, damping())
    if kind == "ball_quaternion":
        return BallQuaternionJoint(name, F, M, damping())
    if kind == "curvilinear":
        return CurvilinearJoint(name, F, M, random_curve(rng), damping())
    if kind == "quaternion_floating":
        return QuaternionFloatingJoint(name, F, M, damping(), damping())
    if kind == "rpy_floating":
        return RpyFloatingJoint(name, F, M, damping(), damping())
    raise ValueError(f"no random joint of type {kind}")


def random_curve(rng, periodic=None):
    """A curve of arcs to both sides and lines, or the closed one of a stadium."""
    x, z = random_rotation(rng).matrix().T[[0, 2]]
    frame = x * rng.uniform(0.5, 2.0), z * rng.uniform(0.5, 2.0), rng.uniform(-0.5, 0.5, 3)
    if periodic is None:
        periodic = rng.random() < 0.5
    if not periodic:
        breaks = np.cumsum([0.0, *rng.uniform(0.3, 0.9, 4)])
        return PiecewiseConstantCurvatureTrajectory(breaks, [*rng.normal(size=2), 0.0, rng.normal()], *frame)
    straight, radius = rng.uniform(0.2, 0.6, 2)
    breaks = np.cumsum([0.0, straight, np.pi * radius, straight, np.pi * radius])
    rate = rng.choice([-1.0, 1.0]) / radius
    return PiecewiseConstantCurvatureTrajectory(breaks, [0.0, rate, 0.0, rate], *frame, is_periodic=True)


def random_state(plant, rng):
    """q (nq,) with unit quaternions and pitch angles away from gimbal lock, and v (nv,)."""
    q = rng.uniform(-np.pi, np.pi, plant.num_positions())
    for joint in joints_of(plant):
        i = joint.position_start()
        if joint.type_name() in ("ball_quaternion", "quaternion_floating"):
            wxyz = rng.normal(size=4)
            q[i : i + 4] = wxyz / np.linalg.norm(wxyz)
        elif joint.type_name() in ("ball_rpy", "rpy_floating"):
            q[i + 1] = rng.uniform(-1.2, 1.2)
    return q, rng.normal(size=plant.num_velocities())


def random_context(plant, rng):
    """A context in a random state."""
    context = plant.CreateDefaultContext()
    q, v = random_state(plant, rng)
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    return context


def joints_of(plant):
    """All joints of a finalized plant, floating joints included."""
    return [plant.get_joint(index) for index in plant.GetJointIndices()]


def bodies_of(plant):
    """All bodies by BodyIndex, World first."""
    return [plant.get_body(index) for index in range(plant.num_bodies())]
