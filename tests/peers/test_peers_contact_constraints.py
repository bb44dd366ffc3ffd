"""Constraints and limits of joints in the contact problem of a step, against pydrake's plants with its SAP solver."""

from importlib import import_module

import numpy as np
import pytest
from contact_scenes import unit_quaternions

pytestmark = pytest.mark.peers("pydrake")

H = 1e-2
TOLERANCE = 1e-8  # of the largest of 1 and the entries of pydrake's state


@pytest.fixture(autouse=True)
def _to_the_last_digits(monkeypatch):
    """Both sides find the minimum of the same function; here it is to more digits than by default."""
    monkeypatch.setattr("mbcli.engine.contact.arrays.DEFAULT_TOLERANCE", 1e-9)


class Scene:
    """The same plant in one of the libraries: two arms of two links on World, a free box, a ball above the ground.

    add(scene) adds constraints and limits before Finalize(), which are taken away again where they are not `active`.
    The ball has its own tree, so that contact is in the problem, but with nothing else.
    """

    def __init__(self, library, add, active=True, approximation="kSap", touching=True):
        self.library = library
        plant_module, tree = self.module("multibody.plant"), self.module("multibody.tree")
        self.geometry, self.math, self.tree = self.module("geometry"), self.module("math"), tree
        builder = self.module("systems.framework").DiagramBuilder()
        plant, scene_graph = plant_module.AddMultibodyPlantSceneGraph(builder, H)
        self.plant, self.plant_module = plant, plant_module
        if library == "mbcli":
            plant.set_step_scheme("drake")
        plant.set_discrete_contact_approximation(getattr(plant_module.DiscreteContactApproximation, approximation))
        plant.set_stiction_tolerance(1e-3)
        self.bodies = []
        for side in (-1.0, 1.0):
            parent, hook = plant.world_body(), [side, 0.0, 1.0]
            for k in range(2):
                body = self.box(f"arm{side}{k}", [0.1, 0.2, 0.3])
                plant.AddJoint(self.revolute(f"turn{side}{k}", parent, hook, body, [0.0, 0.3, 0.0], side, k))
                parent, hook = body, [0.1, -0.3, 0.1 * k]
                self.bodies.append(body)
        self.bodies.append(self.box("free", [0.3, 0.1, 0.2]))
        self.ball = self.box("ball", [0.2, 0.2, 0.2])
        friction = plant_module.CoulombFriction(0.5, 0.5)
        for body, shape, z in (
            (self.ball, self.geometry.Sphere(0.1), 0.0),
            (plant.world_body(), self.geometry.HalfSpace(), 0.0),
        ):
            properties = self.geometry.ProximityProperties()
            self.geometry.AddContactMaterial(0.0, 1e4, friction, properties)
            properties.AddProperty("material", "relaxation_time", 0.01)
            pose = self.math.RigidTransform([0.0, 0.0, z])
            plant.RegisterCollisionGeometry(body, pose, shape, f"{body.name()}_surface", properties)
        add(self)
        if not active:
            self.forget()
        plant.Finalize()
        self.diagram = builder.Build()
        self.simulator = self.module("systems.analysis").Simulator(self.diagram)
        root = self.simulator.get_mutable_context()
        self.context = plant.GetMyMutableContextFromRoot(root)
        pose = self.math.RigidTransform([3.0, 0.0, 0.1 - 1e-3 if touching else 5.0])
        plant.SetFreeBodyPose(self.context, self.ball, pose)

    def forget(self):
        """Takes away the constraints and limits of the plant."""
        for id in self.plant.GetConstraintIds():
            self.plant.RemoveConstraint(id)
        for index in self.plant.GetJointIndices():
            joint = self.plant.get_mutable_joint(index)
            none = np.full(joint.num_positions(), np.inf)
            joint.set_position_limits(-none, none)

    def module(self, name):
        return import_module(f"{self.library}.{name}")

    def box(self, name, size):
        return self.plant.AddRigidBody(name, self.tree.SpatialInertia.SolidBoxWithDensity(300.0, *size))

    def revolute(self, name, parent, p_parent, child, p_child, side, k):
        turn = self.math.RotationMatrix(self.math.RollPitchYaw(0.3 * side, 0.5 * k, 0.2))
        X_P, X_C = self.math.RigidTransform(turn, p_parent), self.math.RigidTransform(p_child)
        frames = [
            self.plant.AddFrame(self.tree.FixedOffsetFrame(f"{name}_{end}", body.body_frame(), X))
            for end, body, X in (("P", parent, X_P), ("C", child, X_C))
        ]
        return self.tree.RevoluteJoint(name, *frames, [0, 0, 1], 0.1)

    def joint(self, side, k):
        return self.plant.GetJointByName(f"turn{side}{k}")

    def start(self, seed):
        """A random state of all but the ball."""
        rng = np.random.default_rng(seed)
        for joint in (self.joint(side, k) for side in (-1.0, 1.0) for k in range(2)):
            joint.set_angle(self.context, rng.uniform(-1.0, 1.0))
            joint.set_angular_rate(self.context, rng.normal())
        R = self.math.RotationMatrix(self.math.RollPitchYaw(rng.uniform(-1.0, 1.0, 3)))
        self.plant.SetFreeBodyPose(self.context, self.bodies[4], self.math.RigidTransform(R, [0.0, 3.0, 2.0]))
        v = self.plant.GetVelocities(self.context)
        v[4:] = rng.normal(size=v.size - 4)
        v[-6:] = 0.0, 0.0, 0.0, 0.1, 0.2, 0.0
        self.plant.SetVelocities(self.context, v)

    def step(self, steps=1):
        self.simulator.AdvanceTo(steps * H)
        q = self.plant.GetPositions(self.context)
        if self.library == "pydrake":
            q = unit_quaternions(self.plant, q)
        return np.concatenate([q, self.plant.GetVelocities(self.context)])


def compare(add, prepare=lambda scene: None, steps=1, seeds=range(3), effect=1e-3, **options):
    """Both libraries have the same state after some steps; without what `add` adds it would be off by `effect`."""
    changes = []
    for seed in seeds:
        states = []
        for library, active in (("mbcli", True), ("pydrake", True), ("mbcli", False)):
            scene = Scene(library, add, active, **options)
            scene.start(seed)
            prepare(scene)
            states.append(scene.step(steps))
        ours, theirs, without = states
        assert np.abs(ours - theirs).max() <= TOLERANCE * max(1.0, np.abs(theirs).max()), (seed, ours - theirs)
        changes.append(np.abs(ours - without).max())
    assert max(changes) >= effect
    return max(changes)


def coupler(scene):
    scene.plant.AddCouplerConstraint(scene.joint(-1.0, 1), scene.joint(1.0, 0), 1.5, 0.2)


def coupler_in_a_tree(scene):
    scene.plant.AddCouplerConstraint(scene.joint(1.0, 0), scene.joint(1.0, 1), -2.0)


@pytest.mark.parametrize("add", [coupler, coupler_in_a_tree])
@pytest.mark.parametrize("touching", [True, False])
def test_couplers(add, touching):
    compare(add, touching=touching)
    compare(add, touching=touching, steps=20)


@pytest.mark.parametrize("law", [(np.inf, 0.0), (200.0, 0.0), (200.0, 3.0), (1e9, 0.0), (1e3, 1e3), (1e6, 2e6)])
def test_distances_rigid_and_by_springs(law):
    """Far from the distance too: springs are stretched or compressed."""

    def add(scene):
        a, _, b, c, free = scene.bodies
        scene.plant.AddDistanceConstraint(a, [0.1, 0.2, 0.0], b, [0.0, 0.0, 0.1], 1.2, *law)
        scene.plant.AddDistanceConstraint(c, [0.0, 0.1, 0.0], free, [0.1, 0.0, 0.1], 1.5, *law)

    compare(add)


P, Q = np.array([0.1, -0.2, 0.05]), np.array([-0.05, 0.1, 0.2])


def hold_free_box_at_its_place(scene):
    """P of the outer body of the second arm and Q of the free box are at one place; their axes too."""
    X_WA = scene.plant.EvalBodyPoseInWorld(scene.context, scene.bodies[3])
    X_AP, X_BQ = frames_to_weld(scene)
    scene.plant.SetFreeBodyPose(scene.context, scene.bodies[4], X_WA.multiply(X_AP).multiply(X_BQ.inverse()))


def frames_to_weld(scene):
    math = scene.math
    return (
        math.RigidTransform(math.RollPitchYaw([0.3, -0.2, 0.5]), P),
        math.RigidTransform(math.RollPitchYaw([-0.4, 0.1, 0.2]), Q),
    )


def ball(scene):
    scene.plant.AddBallConstraint(scene.bodies[3], P, scene.bodies[4], Q)


def weld(scene):
    X_AP, X_BQ = frames_to_weld(scene)
    scene.plant.AddWeldConstraint(scene.bodies[3], X_AP, scene.bodies[4], X_BQ)


@pytest.mark.parametrize("add", [ball, weld])
def test_balls_and_welds_where_their_frames_meet(add):
    """Off the constraint the lines of action differ: pydrake takes P and Q, or the point between them, here it is Q."""
    compare(add, hold_free_box_at_its_place)


LIMITS = {(-1.0, 0): (-0.3, 0.2), (-1.0, 1): (-np.inf, 0.1), (1.0, 1): (-0.05, np.inf)}


def limits(scene):
    for place, (lower, upper) in LIMITS.items():
        scene.joint(*place).set_position_limits([lower], [upper])


def close_to_limits(scene):
    """Positions on either side of the limits, one of them passed, by less than what two steps close at RETURN_SPEED."""
    for k, (place, (lower, upper)) in enumerate(LIMITS.items()):
        joint = scene.joint(*place)
        limit, side = (upper, -1.0) if upper < np.inf else (lower, 1.0)
        joint.set_angle(scene.context, limit + side * (0.02, 0.003, -1e-5)[k])
        joint.set_angular_rate(scene.context, -side * (3.0, 1.0, 0.1)[k])


@pytest.mark.parametrize("touching", [True, False])
def test_limits_of_joints(touching):
    compare(limits, close_to_limits, touching=touching)
    compare(limits, close_to_limits, touching=touching, steps=30)


def controllers_and_limits(scene):
    limits(scene)
    for k, (side, place) in enumerate([(-1.0, 0), (-1.0, 1), (1.0, 0), (1.0, 1)]):
        motor = scene.plant.AddJointActuator(f"motor{k}", scene.joint(side, place), 20.0 + 30.0 * k)
        # they press joints past stops by less than what these close at RETURN_SPEED
        motor.set_controller_gains(scene.tree.PdControllerGains(p=100.0, d=5.0))


@pytest.mark.parametrize("touching", [True, False])
def test_controllers_against_limits(touching):
    def prepare(scene):
        close_to_limits(scene)
        instance = scene.tree.ModelInstanceIndex(1)
        desired = [0.5, 0.5, -0.5, -0.5, 0.1, 0.0, -0.1, 0.0]
        scene.plant.get_desired_state_input_port(instance).FixValue(scene.context, desired)

    compare(controllers_and_limits, prepare, touching=touching)
    compare(controllers_and_limits, prepare, touching=touching, steps=20)


def everything(scene):
    for add in (coupler, ball, limits):
        add(scene)
    scene.plant.AddDistanceConstraint(scene.bodies[0], P, scene.bodies[3], Q, 0.7, 300.0, 2.0)


@pytest.mark.parametrize("approximation", ["kSap", "kLagged", "kSimilar"])
def test_all_of_them_together(approximation):
    def prepare(scene):
        close_to_limits(scene)
        hold_free_box_at_its_place(scene)

    compare(everything, prepare, approximation=approximation)


def test_locked_joints_under_constraints():
    """A coupler of a locked joint holds the other one, a limit of it does nothing."""

    def prepare(scene):
        close_to_limits(scene)
        scene.plant.SetVelocities(scene.context, 0.0 * scene.plant.GetVelocities(scene.context))
        scene.joint(-1.0, 1).Lock(scene.context)
        scene.joint(1.0, 1).Lock(scene.context)

    def add(scene):
        coupler(scene)
        limits(scene)

    compare(add, prepare)


def test_a_constraint_that_is_switched_off_does_nothing():
    def add(scene):
        coupler(scene)
        ball(scene)

    def prepare(scene, on=(False, False)):
        hold_free_box_at_its_place(scene)
        for id, status in zip(scene.plant.GetConstraintIds(), on, strict=False):
            scene.plant.SetConstraintActiveStatus(scene.context, id, status)

    assert compare(add, prepare, effect=0.0) < TOLERANCE
    compare(add, lambda scene: prepare(scene, (False, True)))


TENDON = """<robot name="slides">
<link name="a"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="ja" type="prismatic"><parent link="world"/><child link="a"/><axis xyz="1 0 0"/><limit effort="9"/></joint>
<joint name="jb" type="prismatic"><parent link="world"/><child link="b"/><axis xyz="1 0 0"/><limit effort="9"/></joint>
<drake:tendon_constraint>
<drake:tendon_constraint_joint name="ja" a="1"/><drake:tendon_constraint_joint name="jb" a="-1.5"/>
<drake:tendon_constraint_offset value="0.1"/>
<drake:tendon_constraint_lower_limit value="{lower}"/><drake:tendon_constraint_upper_limit value="{upper}"/>
<drake:tendon_constraint_stiffness value="{stiffness}"/><drake:tendon_constraint_damping value="{damping}"/>
</drake:tendon_constraint></robot>"""


@pytest.mark.parametrize("limits", [(-9.0, 0.2), (0.2, 9.0), (0.2, 0.2), (0.1, 0.3)])
@pytest.mark.parametrize("law", [(1e99, 0.0), (200.0, 0.0), (200.0, 3.0), (1e6, 2e6)])
def test_tendons(limits, law):
    """pydrake 1.51 has no method for them, but reads them from files."""

    def add(scene):
        numbers = dict(zip(("lower", "upper", "stiffness", "damping"), (*limits, *law), strict=True))
        scene.module("multibody.parsing").Parser(scene.plant).AddModelsFromString(TENDON.format(**numbers), "urdf")

    changes = []
    for lengthening in (-1.0, 0.01, 1.0):

        def prepare(scene, lengthening=lengthening):
            for name, q, v in (("ja", 0.4 + 0.3 * lengthening, 0.3 * lengthening), ("jb", 0.2, -0.1)):
                joint = scene.plant.GetJointByName(name)
                joint.set_translation(scene.context, q)
                joint.set_translation_rate(scene.context, v)

        changes.append(compare(add, prepare, seeds=(0,), steps=5, effect=0.0))
    assert sum(change > 1e-4 for change in changes) >= 1
