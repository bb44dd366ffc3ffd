"""Random plants for the state machine, built with mbcli and with pydrake by the same lines.

Everything follows from a Recipe. Arrays and objects given to a plant are kept by its Side, so that they can be changed
afterwards, which must change nothing.
"""

import functools
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace

import numpy as np

REVERSIBLE = ("revolute", "prismatic", "weld")  # pydrake 1.51 refuses other joints whose parent is outboard
ONE_DOF = ("revolute", "prismatic", "screw")
IN_PYDRAKE = (*ONE_DOF, "universal", "planar", "ball_rpy", "quaternion_floating", "rpy_floating", "weld", "free")
APPROXIMATIONS = ("lagged", "similar", "sap", "tamsi")
CONSTRAINTS = ("ball", "weld", "distance", "spring", "coupler", "loop")
OWN_CONSTRAINTS = {"loop"}  # pydrake has no joints that close loops
MATERIAL = {"dissipation": 1.0, "point_stiffness": 1e3}


@functools.cache
def library(name):
    """The classes of mbcli or of pydrake, by their names."""
    parts = (
        "math",
        "multibody.tree",
        "multibody.plant",
        "multibody.math",
        "multibody.parsing",
        "systems.framework",
        "systems.analysis",
    )
    extra = ("mbcli.config.scene_graph_config",) if name == "mbcli" else ()
    classes = {"library": name}
    for module in (*(f"{name}.{part}" for part in (*parts, "geometry")), *extra):
        found = import_module(module)
        classes.update((each, getattr(found, each)) for each in dir(found))
    return SimpleNamespace(**classes)


@dataclass(frozen=True)
class Recipe:
    """A random plant.

    Args:
        seed: all numbers follow from it.
        kinds: types of joints, one body for each; "free": no joint holds the body.
        time_step: [s]
        approximation: one of APPROXIMATIONS; does not count in a continuous plant.
        springs, elements, users: joint springs and a hinge; spring-dampers and a bushing; an element written in Python.
        drive: "none", "plain", or "controlled" by PD controllers.
        limits: whether joints of one degree of freedom have position limits.
        contact: whether balls on bodies meet the ground.
        constraints: out of CONSTRAINTS.
        sampled: whether the output ports show the last step.
        compiled: whether kernels are compiled.
        scheme: of the steps of mbcli; in that of pydrake constraints are rows of contact problems, else equations.
        robot: a model file; the plant is that robot then, and kinds of joints and constraints do not count.
    """

    seed: int = 0
    kinds: tuple = ("revolute", "free")
    time_step: float = 0.0
    approximation: str = "lagged"
    springs: bool = False
    elements: bool = False
    users: bool = False
    drive: str = "none"
    limits: bool = False
    contact: bool = False
    constraints: tuple = ()
    sampled: bool = False
    compiled: bool = False
    scheme: str = "drake"
    robot: str = ""

    def is_in_pydrake(self):
        """Whether pydrake has such a plant."""
        if self.users or self.robot or "curvilinear" in self.kinds or OWN_CONSTRAINTS.intersection(self.constraints):
            return False
        if self.constraints and not self.time_step:
            return False
        return self.drive != "controlled" or bool(self.time_step) and self.approximation != "tamsi"

    def steps_like_pydrake(self):
        """Whether pydrake's steps are those of mbcli, up to what solvers leave.

        Constraints without contact are equations here and nearly rigid there, and tamsi has other limits. Steps in
        contact are compared where bodies touch as they do in a run (test_peers_contact.py), not as deeply as here.
        """
        limited = self.approximation == "tamsi" and self.limits
        return bool(self.time_step) and self.is_in_pydrake() and not (self.constraints or self.contact or limited)

    def solves(self):
        """Whether a step is the solution of an iteration, which stops at a tolerance."""
        return bool(self.time_step) and (self.contact or self.limits or self.drive == "controlled")


class Side:
    """A plant of one library, with what was given to it and what it has returned.

    Args:
        lib: as library() returns it.
        recipe: Recipe.
    """

    def __init__(self, lib, recipe):
        self.lib, self.recipe = lib, recipe
        self.given, self.received = [], []
        self.builder = lib.DiagramBuilder()
        self.plant = build(self, recipe)
        self.diagram = self.builder.Build() if recipe.contact else None
        self.frames = [
            self.plant.world_frame(),
            *(f for f in self.offset_frames),
            *(b.body_frame() for b in self.bodies),
        ]
        self.instances = [lib.ModelInstanceIndex(k) for k in (2, 3)]

    def give(self, value):
        """An array that the caller keeps and may change later."""
        array = np.array(value, dtype=float)
        self.given.append(array)
        return array

    def give_object(self, value, spoil):
        """An object that the caller keeps and may change later, which spoil(value) does."""
        self.given.append(lambda: spoil(value))
        return value

    def spoil(self):
        """Changes everything that was given or received."""
        for thing in self.given:
            if callable(thing):
                thing()
            else:
                thing[...] = 7.7e3
        for array in self.received:
            if array.flags.writeable:
                array[...] = -3.3e3
        self.given.clear()
        self.received.clear()

    def new_state(self):
        """A State with default contexts."""
        root = (self.diagram or self.plant).CreateDefaultContext()
        return State(self, root)

    def joints(self):
        """All but those that close loops, which have no coordinates."""
        joints = [self.plant.get_joint(index) for index in self.plant.GetJointIndices()]
        return [j for j in joints if self.lib.library == "pydrake" or j not in self.plant.elements.loop_joints]

    def moving_joints(self):
        return [joint for joint in self.joints() if joint.num_velocities()]

    def actuators(self):
        return [self.plant.get_joint_actuator(index) for index in self.plant.GetJointActuatorIndices()]


class State:
    """A context of a side; root is that of the diagram, or the plant's own."""

    def __init__(self, side, root):
        self.side, self.lib, self.plant, self.root = side, side.lib, side.plant, root
        if side.diagram is None:
            self.context = root
        else:
            self.context = self.plant.GetMyMutableContextFromRoot(root)

    def clone(self):
        return State(self.side, self.root.Clone())

    def give(self, value):
        return self.side.give(value)

    def give_object(self, value, spoil):
        return self.side.give_object(value, spoil)

    def simulator(self):
        return self.lib.Simulator(self.side.diagram or self.plant, self.root)


# --------------------------------------------------------------------------------------------------- building


def build(side, recipe):
    lib, rng = side.lib, np.random.default_rng(recipe.seed)
    config = lib.MultibodyPlantConfig(time_step=recipe.time_step, contact_model="point")
    config.discrete_contact_approximation = recipe.approximation
    config.use_sampled_output_ports = recipe.sampled
    if recipe.contact:
        plant, _ = lib.AddMultibodyPlant(config, side.builder)
    else:
        plant = lib.MultibodyPlant(recipe.time_step)
        lib.ApplyMultibodyPlantConfig(config, plant)
    if lib.library == "mbcli":
        plant.prefers_interpreted = not recipe.compiled
        plant.settings.single_contact_points = True
        plant.set_step_scheme(recipe.scheme)
    plant.mutable_gravity_field().set_gravity_vector(side.give([0.3, -0.4, -9.0]))
    if recipe.robot:
        return build_robot(side, recipe, rng, plant)
    instances = [plant.AddModelInstance("left"), plant.AddModelInstance("right")]
    bodies, joints, offset_frames = [plant.world_body()], [], []
    for k, kind in enumerate(recipe.kinds):
        body = plant.AddRigidBody(f"body{k}", instances[rng.integers(2)], random_inertia(lib, rng))
        inboard = bodies[rng.integers(len(bodies))]
        bodies.append(body)
        F, M = (
            plant.AddFrame(lib.FixedOffsetFrame(f"{name}{k}", on.body_frame(), given_transform(side, rng)))
            for name, on in (("F", inboard), ("M", body))
        )
        offset_frames += [F, M]
        is_reversed = kind in REVERSIBLE and rng.random() < 0.4
        if kind != "free":
            frames = (M, F) if is_reversed else (F, M)
            joints.append(plant.AddJoint(make_joint(side, rng, kind, f"joint{k}", *frames, recipe.limits)))
    side.bodies, side.offset_frames, side.elements = bodies, offset_frames, []
    driven = [joint for joint in joints if joint.num_velocities() == 1]
    add_force_elements(side, recipe, rng, plant, bodies, driven)
    add_actuators(side, recipe, rng, plant, driven)
    if recipe.contact:
        add_solids(side, plant, bodies)
    side.constraints = add_constraints(side, recipe, rng, plant, bodies, driven)
    plant.Finalize()
    return plant


def build_robot(side, recipe, rng, plant):
    """The robot of a file, as instance 2; instance 3 has a ball on a stick."""
    lib = side.lib
    lib.Parser(plant).AddModels(recipe.robot)
    other = plant.AddModelInstance("other")
    ball = plant.AddRigidBody("ball", other, random_inertia(lib, rng))
    plant.AddJoint(lib.RevoluteJoint("stick", plant.world_frame(), ball.body_frame(), [0.0, 1.0, 0.0]))
    side.offset_frames = [plant.AddFrame(lib.FixedOffsetFrame("offset", ball.body_frame(), random_transform(lib, rng)))]
    side.bodies = [plant.world_body(), *(plant.get_body(index) for index in plant.GetBodyIndices(other))]
    side.bodies += [body for body in plant.elements.bodies if body not in side.bodies]
    side.elements, side.solids = [], []
    joints = [j for j in plant.elements.joints if j.num_velocities() == 1]
    side.constraints = add_constraints(side, recipe, rng, plant, side.bodies, joints)
    plant.Finalize()
    return plant


def random_transform(lib, rng):
    return lib.RigidTransform(lib.RollPitchYaw(rng.uniform(-3.0, 3.0, 3)), rng.uniform(-0.4, 0.4, 3))


def given_transform(side, rng):
    X = random_transform(side.lib, rng)
    return side.give_object(X, lambda X: X.set_translation([5.0, 6.0, 7.0]))


def random_inertia(lib, rng):
    """A box turned and away from the body's origin."""
    box = lib.UnitInertia.SolidBox(*rng.uniform(0.2, 1.0, 3))
    turned = box.ReExpress(lib.RotationMatrix(lib.RollPitchYaw(rng.uniform(-3.0, 3.0, 3))))
    com = rng.uniform(-0.3, 0.3, 3)
    return lib.SpatialInertia(rng.uniform(0.5, 3.0), com, turned.ShiftFromCenterOfMass(com))


def make_joint(side, rng, kind, name, F, M, limited):
    """Its limits hold the default position, 0."""
    lib, low, high = side.lib, -np.inf, np.inf
    if limited:
        low, high = -rng.uniform(0.2, 1.0), rng.uniform(0.2, 1.0)
    damping = rng.uniform(0.05, 0.5)
    if kind == "weld":
        return lib.WeldJoint(name, F, M, given_transform(side, rng))
    if kind in ("revolute", "prismatic"):
        make = lib.RevoluteJoint if kind == "revolute" else lib.PrismaticJoint
        return make(name, F, M, side.give(rng.normal(size=3)), low, high, damping=damping)
    if kind == "screw":
        return lib.ScrewJoint(name, F, M, side.give(rng.normal(size=3)), rng.uniform(0.2, 1.0), damping)
    if kind == "universal":
        return lib.UniversalJoint(name, F, M, damping)
    if kind == "planar":
        return lib.PlanarJoint(name, F, M, side.give(rng.uniform(0.05, 0.5, 3)))
    if kind == "ball_rpy":
        return lib.BallRpyJoint(name, F, M, damping)
    if kind == "curvilinear":
        return lib.CurvilinearJoint(name, F, M, curve(rng), damping)
    make = lib.QuaternionFloatingJoint if kind == "quaternion_floating" else lib.RpyFloatingJoint
    return make(name, F, M, damping, rng.uniform(0.05, 0.5))


def curve(rng):
    """A closed curve of two lines and two arcs."""
    from mbcli.trajectories import PiecewiseConstantCurvatureTrajectory

    straight, radius = rng.uniform(0.2, 0.6, 2)
    breaks = np.cumsum([0.0, straight, np.pi * radius, straight, np.pi * radius])
    frame = [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.1, 0.2, 0.3]
    rates = [0.0, 1.0 / radius, 0.0, 1.0 / radius]
    return PiecewiseConstantCurvatureTrajectory(breaks, rates, *frame, is_periodic=True)


def add_force_elements(side, recipe, rng, plant, bodies, driven):
    lib = side.lib

    def add(element):
        side.elements.append(plant.AddForceElement(element))

    if recipe.springs:
        for joint in driven:
            if isinstance(joint, (lib.RevoluteJoint, lib.PrismaticJoint)):
                kind = lib.RevoluteSpring if isinstance(joint, lib.RevoluteJoint) else lib.PrismaticSpring
                add(kind(joint, rng.normal(), rng.uniform(1.0, 10.0)))
        for joint in [j for j in driven if isinstance(j, lib.RevoluteJoint)][:1]:
            add(lib.DoorHinge(joint, lib.DoorHingeConfig(catch_torque=2.0, motion_threshold=0.5)))
    if recipe.elements:
        A, B = (bodies[k] for k in rng.choice(len(bodies), 2, replace=False))
        points = [side.give(rng.uniform(0.3, 0.6, 3)) for _ in range(2)]
        add(lib.LinearSpringDamper(A, points[0], B, points[1], 0.4, 15.0, 1.0))
        A, C = (
            plant.AddFrame(lib.FixedOffsetFrame(f"bushing{k}", bodies[n].body_frame(), given_transform(side, rng)))
            for k, n in enumerate(rng.choice(len(bodies), 2, replace=False))
        )
        add(lib.LinearBushingRollPitchYaw(A, C, *(side.give(rng.uniform(0.5, 5.0, 3)) for _ in range(4))))
    if recipe.users:
        add(wind(bodies[-1], side.give([0.5, -0.3, 0.2])))


def wind(body, velocity):
    """A force element as a user writes it: it drags a body along, more at later times, and asks the plant a lot."""
    from mbcli.multibody.math import SpatialForce
    from mbcli.multibody.tree import ForceElement

    class Wind(ForceElement):
        def CalcAndAddForceContribution(self, context, forces):
            plant = self.GetParentPlant()
            v = plant.EvalBodySpatialVelocityInWorld(context, body).translational()
            plant.CalcMassMatrix(context)
            plant.CalcBiasTerm(context)
            pull = 2.0 * (1.0 + context.get_time()) * (velocity - v)
            body.AddInForceInWorld(context, SpatialForce(np.zeros(3), pull), forces)

        def CalcPotentialEnergy(self, context):
            return 0.0

        def CalcConservativePower(self, context):
            return 0.0

        def CalcNonConservativePower(self, context):
            v = self.GetParentPlant().EvalBodySpatialVelocityInWorld(context, body).translational()
            return 2.0 * (1.0 + context.get_time()) * float((velocity - v) @ v)

    velocity = velocity.copy()
    return Wind()


def add_actuators(side, recipe, rng, plant, driven):
    if recipe.drive == "none":
        return
    for k, joint in enumerate(rng.permutation(driven) if driven else ()):
        actuator = plant.AddJointActuator(f"motor{k}", joint)
        actuator.set_default_rotor_inertia(rng.uniform(0.001, 0.01))
        actuator.set_default_gear_ratio(rng.uniform(2.0, 10.0))
        if recipe.drive == "controlled":
            actuator.set_controller_gains(side.lib.PdControllerGains(p=rng.uniform(1.0, 50.0), d=rng.uniform(0.1, 5.0)))
            actuator.set_effort_limit(rng.uniform(2.0, 20.0))


def add_solids(side, plant, bodies):
    """A ground, and balls on the first body and the last one."""
    lib = side.lib
    side.solids = []
    for body, shape, z in (
        (bodies[0], lib.HalfSpace(), -0.6),
        (bodies[1], lib.Sphere(0.3), 0.0),
        (bodies[-1], lib.Sphere(0.2), 0.1),
    ):
        properties = lib.ProximityProperties()
        lib.AddContactMaterial(friction=lib.CoulombFriction(0.5, 0.5), properties=properties, **MATERIAL)
        properties.AddProperty("material", "relaxation_time", 0.05)
        X, name = lib.RigidTransform([0.0, 0.0, z]), f"solid{len(side.solids)}"
        side.solids.append(plant.RegisterCollisionGeometry(body, X, shape, name, properties))


def add_constraints(side, recipe, rng, plant, bodies, driven):
    """Their ids. Bodies are such that equations do not depend on each other too often."""
    ids = []
    for kind in recipe.constraints:
        A, B = (bodies[k] for k in rng.choice(len(bodies), 2, replace=False))
        points = [side.give(rng.uniform(-0.5, 0.5, 3)) for _ in range(2)]
        if kind == "ball":
            ids.append(plant.AddBallConstraint(A, points[0], B, points[1]))
        elif kind == "weld":
            ids.append(plant.AddWeldConstraint(A, given_transform(side, rng), B, given_transform(side, rng)))
        elif kind == "distance":
            ids.append(plant.AddDistanceConstraint(A, points[0], B, points[1], 0.7))
        elif kind == "loop":  # as a revolute joint would close it
            X_A, X_B = given_transform(side, rng), given_transform(side, rng)
            ids.append(plant.AddLoopConstraint(A, B, X_A, X_B, np.eye(6)[[0, 1, 3, 4, 5]]))
        elif kind == "spring":
            ids.append(plant.AddDistanceConstraint(A, points[0], B, points[1], 0.7, 50.0, 2.0))
        elif len(driven) >= 2:
            ids.append(plant.AddCouplerConstraint(driven[0], driven[1], 1.5, 0.1))
    return ids
