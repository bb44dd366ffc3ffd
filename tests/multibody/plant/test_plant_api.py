"""MultibodyPlant as a library: life cycle, errors, what is kept and what is computed anew, instances, free bodies."""

from types import SimpleNamespace

import numpy as np
import pytest

from mbcli.engine.runtime.linking import all_kernels
from mbcli.errors import ModelError
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.math import SpatialForce, SpatialVelocity
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import DiscreteContactApproximation, ExternallyAppliedSpatialForce, MultibodyPlant
from mbcli.multibody.tree import (
    BallRpyJoint,
    BodyIndex,
    FixedOffsetFrame,
    FrameIndex,
    JointActuatorIndex,
    JointIndex,
    ModelInstanceIndex,
    MultibodyForces,
    PrismaticJoint,
    PrismaticSpring,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RevoluteSpring,
    RpyFloatingJoint,
    ScrewJoint,
    SpatialInertia,
    UniformGravityFieldElement,
    UnitInertia,
    UniversalJoint,
    WeldJoint,
)
from mbcli.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig

BOX = SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3)
TIGHT = {"rtol": 0.0, "atol": 1e-13}


def hinge(name, parent, child, **options):
    return RevoluteJoint(name, parent.body_frame(), child.body_frame(), [0.0, 1.0, 0.0], **options)


def arm_plant(time_step=0.0, finalize=True):
    """A chain of two hinges and a slide, all driven, and a free box."""
    plant = MultibodyPlant(time_step)
    bodies = [plant.world_body()]
    for k in range(3):
        bodies.append(plant.AddRigidBody(f"link{k}", BOX))
        X = RigidTransform(RollPitchYaw(0.1, 0.2, 0.3), [0.1, 0.2, 0.5])
        F = plant.AddFrame(FixedOffsetFrame(f"seat{k}", bodies[-2].body_frame(), X))
        kind = PrismaticJoint if k == 2 else RevoluteJoint
        joint = plant.AddJoint(kind(f"joint{k}", F, bodies[-1].body_frame(), [0.0, 0.6, 0.8], damping=0.2))
        plant.AddJointActuator(f"motor{k}", joint, 10.0)
    plant.AddRigidBody("box", BOX)
    if finalize:
        plant.Finalize()
    return plant


@pytest.fixture(scope="module")
def arm():
    return arm_plant()


def refuses(call, text):
    with pytest.raises(RuntimeError, match=text) as caught:
        call()
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------------------- life cycle


AFTER_FINALIZE = {
    "AddRigidBody": lambda plant: plant.AddRigidBody("new", BOX),
    "AddModelInstance": lambda plant: plant.AddModelInstance("new"),
    "RenameModelInstance": lambda plant: plant.RenameModelInstance(ModelInstanceIndex(1), "new"),
    "AddFrame": lambda plant: plant.AddFrame(FixedOffsetFrame("new", plant.world_frame(), RigidTransform())),
    "AddJoint": lambda plant: plant.AddJoint(hinge("new", plant.world_body(), plant.GetBodyByName("box"))),
    "WeldFrames": lambda plant: plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("box")),
    "AddJointActuator": lambda plant: plant.AddJointActuator("new", plant.GetJointByName("joint0")),
    "AddForceElement": lambda plant: plant.AddForceElement(RevoluteSpring(plant.GetJointByName("joint0"), 0.0, 1.0)),
    "Parser": lambda plant: Parser(plant).AddModelsFromString('<robot name="r"><link name="a"/></robot>', "urdf"),
    "set_gravity_enabled": lambda plant: plant.set_gravity_enabled(ModelInstanceIndex(1), False),
    "set_gravity_vector": lambda plant: plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -1.0]),
    "Finalize": lambda plant: plant.Finalize(),
}


@pytest.mark.parametrize("call", AFTER_FINALIZE.values(), ids=AFTER_FINALIZE)
def test_nothing_changes_after_finalize(call):
    plant = arm_plant(time_step=0.1)
    counts = (plant.num_bodies(), plant.num_frames(), plant.num_joints(), plant.num_actuators())
    refuses(lambda: call(plant), "finalize|Finalize")
    assert counts == (plant.num_bodies(), plant.num_frames(), plant.num_joints(), plant.num_actuators())
    assert plant.num_model_instances() == 2
    assert plant.num_force_elements() == 1
    plant.CalcMassMatrix(plant.CreateDefaultContext())


BEFORE_FINALIZE = {
    "CreateDefaultContext": lambda plant: plant.CreateDefaultContext(),
    "num_positions": lambda plant: plant.num_positions(),
    "num_velocities": lambda plant: plant.num_velocities(),
    "num_multibody_states": lambda plant: plant.num_multibody_states(ModelInstanceIndex(1)),
    "GetPositionNames": lambda plant: plant.GetPositionNames(),
    "GetStateNames": lambda plant: plant.GetStateNames(),
    "GetActuatorNames": lambda plant: plant.GetActuatorNames(),
    "num_actuators of an instance": lambda plant: plant.num_actuators(ModelInstanceIndex(1)),
    "num_actuated_dofs of an instance": lambda plant: plant.num_actuated_dofs(ModelInstanceIndex(1)),
    "GetPositionLowerLimits": lambda plant: plant.GetPositionLowerLimits(),
    "GetEffortUpperLimits": lambda plant: plant.GetEffortUpperLimits(),
    "GetDefaultPositions": lambda plant: plant.GetDefaultPositions(),
    "SetDefaultPositions": lambda plant: plant.SetDefaultPositions(np.zeros(10)),
    "MakeActuationMatrix": lambda plant: plant.MakeActuationMatrix(),
    "get_actuation_input_port": lambda plant: plant.get_actuation_input_port(),
    "get_applied_spatial_force_input_port": lambda plant: plant.get_applied_spatial_force_input_port(),
    "get_applied_generalized_force_input_port": lambda plant: plant.get_applied_generalized_force_input_port(),
    "IsAnchored": lambda plant: plant.IsAnchored(plant.GetBodyByName("box")),
    "GetFloatingBaseBodies": lambda plant: plant.GetFloatingBaseBodies(),
    "is_floating_base_body": lambda plant: plant.GetBodyByName("box").is_floating_base_body(),
    "position_start": lambda plant: plant.GetJointByName("joint0").position_start(),
    "velocity_start": lambda plant: plant.GetJointByName("joint0").velocity_start(),
    "MultibodyForces": lambda plant: MultibodyForces(plant),
    "Simulator": lambda plant: Simulator(plant),
}


@pytest.mark.parametrize("call", BEFORE_FINALIZE.values(), ids=BEFORE_FINALIZE)
def test_computing_needs_finalize(call):
    refuses(lambda: call(arm_plant(finalize=False)), "[Ff]inalize")


def test_a_new_plant_has_world_and_two_instances():
    plant = MultibodyPlant(0.25)
    assert (plant.num_bodies(), plant.num_frames(), plant.num_joints()) == (1, 1, 0)
    assert plant.num_model_instances() == 2
    assert plant.num_force_elements() == 1
    assert plant.time_step() == 0.25
    assert plant.is_discrete()
    assert not plant.is_finalized()
    plant.Finalize()
    context = plant.CreateDefaultContext()
    assert plant.num_positions() == plant.num_velocities() == 0
    assert plant.CalcMassMatrix(context).shape == (0, 0)
    assert plant.CalcTotalMass(context) == 0.0
    refuses(lambda: plant.CalcCenterOfMassPositionInWorld(context), "no mass")


@pytest.mark.parametrize("time_step", [-1e-3, float("nan")])
def test_time_step_must_not_be_negative(time_step):
    refuses(lambda: MultibodyPlant(time_step), "time_step")


def test_contact_approximation_is_for_discrete_plants_before_finalize():
    plant = MultibodyPlant(0.1)
    assert plant.get_discrete_contact_approximation() == DiscreteContactApproximation.kLagged
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kTamsi)
    assert plant.get_discrete_contact_approximation() == DiscreteContactApproximation.kTamsi
    with pytest.raises(TypeError):
        plant.set_discrete_contact_approximation("tamsi")
    plant.Finalize()
    refuses(lambda: plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap), "finalized")
    continuous = MultibodyPlant(0.0)
    refuses(lambda: continuous.set_discrete_contact_approximation(DiscreteContactApproximation.kSap), "continuous")


# ------------------------------------------------------------------------------------------- names and indices


def two_instances():
    """Two instances with the same names in them."""
    plant = MultibodyPlant(0.0)
    for name in ("left", "right"):
        instance = plant.AddModelInstance(name)
        body = plant.AddRigidBody("link", instance, BOX)
        plant.AddFrame(FixedOffsetFrame("tip", body.body_frame(), RigidTransform([1.0, 0.0, 0.0])))
        joint = plant.AddJoint(hinge("pin", plant.world_body(), body))
        plant.AddJointActuator("motor", joint)
    plant.Finalize()
    return plant


LOOKUPS = {"Body": "link", "RigidBody": "link", "Frame": "tip", "Joint": "pin", "JointActuator": "motor"}


@pytest.mark.parametrize(("kind", "name"), LOOKUPS.items())
def test_a_name_in_two_instances_needs_its_instance(kind, name):
    """multibody_tree (c) 12, plant (c) 28"""
    plant = two_instances()
    get = getattr(plant, f"Get{kind}ByName")
    refuses(lambda: get(name), "'left', 'right'")
    for instance in (ModelInstanceIndex(2), ModelInstanceIndex(3)):
        assert get(name, instance).model_instance() == instance
    refuses(lambda: get(name, ModelInstanceIndex(1)), f"no .* named '{name}' in 'DefaultModelInstance'")
    refuses(lambda: get(name, ModelInstanceIndex(9)), "no model instance 9")


@pytest.mark.parametrize("kind", ["Body", "Frame", "Joint", "JointActuator"])
def test_whether_a_name_exists(kind):
    plant, name = two_instances(), LOOKUPS[kind]
    has = getattr(plant, f"Has{kind}Named")
    assert has(name, ModelInstanceIndex(2))
    assert not has("nobody")
    assert not has(name, ModelInstanceIndex(1))
    refuses(lambda: has(name), "several")


def test_names_of_coordinates_are_unique_with_their_prefix_and_have_suffixes_by_rule():
    """plant (c) 28: no suffix only where a joint has one position; an instance that is asked for needs no prefix."""
    plant = two_instances()
    ball = plant_with_a_ball()
    assert plant.GetPositionNames() == ["left_pin_q", "right_pin_q"]
    assert plant.GetVelocityNames(always_add_suffix=False) == ["left_pin", "right_pin"]
    assert plant.GetStateNames(add_model_instance_prefix=False) == ["pin_q", "pin_q", "pin_w", "pin_w"]
    assert plant.GetActuatorNames() == ["left_motor", "right_motor"]
    plant.GetPositionNames().clear()  # the list is the caller's
    assert plant.GetPositionNames() == ["left_pin_q", "right_pin_q"]
    right = plant.GetModelInstanceByName("right")
    assert plant.GetPositionNames(right) == ["pin_q"]
    assert plant.GetActuatorNames(right, add_model_instance_prefix=True) == ["right_motor"]
    short = ball.GetPositionNames(add_model_instance_prefix=False, always_add_suffix=False)
    assert short == ["pin", "socket_qx", "socket_qy", "socket_qz"]
    for names in (ball.GetPositionNames(), ball.GetVelocityNames(), ball.GetStateNames(), plant.GetStateNames()):
        assert len(set(names)) == len(names)
    refuses(lambda: MultibodyPlant(0.0).GetPositionNames(), "Finalize")
    refuses(lambda: plant.GetPositionNames(ModelInstanceIndex(9)), "no model instance 9")


def plant_with_a_ball():
    """A hinge, and a ball joint on it."""
    plant = MultibodyPlant(0.0)
    upper, lower = plant.AddRigidBody("upper", BOX), plant.AddRigidBody("lower", BOX)
    plant.AddJoint(hinge("pin", plant.world_body(), upper))
    plant.AddJoint(BallRpyJoint("socket", upper.body_frame(), lower.body_frame()))
    plant.Finalize()
    return plant


def test_a_missing_name_says_the_closest_one(arm):
    refuses(lambda: arm.GetJointByName("jiont1"), "no joint named 'jiont1'; did you mean 'joint1'")
    refuses(lambda: arm.GetModelInstanceByName("arm"), "'DefaultModelInstance'")


@pytest.mark.parametrize(
    ("getter", "index"),
    [
        ("get_body", BodyIndex),
        ("get_frame", FrameIndex),
        ("get_joint", JointIndex),
        ("get_joint_actuator", JointActuatorIndex),
    ],
)
def test_indices_are_checked(arm, getter, index):
    get = getattr(arm, getter)
    assert get(index(1)).index() == index(1)
    refuses(lambda: get(index(99)), "99")
    refuses(lambda: get(-1), "-1")
    other = JointIndex if index is not JointIndex else BodyIndex
    with pytest.raises(TypeError):
        get(other(1))


DUPLICATES = {
    "model instance": lambda plant, left: plant.AddModelInstance("left"),
    "renamed model instance": lambda plant, left: plant.RenameModelInstance(left, "right"),
    "body": lambda plant, left: plant.AddRigidBody("link", left, BOX),
    "frame": lambda plant, left: plant.AddFrame(
        FixedOffsetFrame("tip", plant.GetBodyByName("link", left), RigidTransform())
    ),
    "joint": lambda plant, left: plant.AddJoint(hinge("pin", plant.world_body(), plant.GetBodyByName("other", left))),
    "actuator": lambda plant, left: plant.AddJointActuator("motor", plant.GetJointByName("pin", left)),
    "gravity": lambda plant, left: plant.AddForceElement(UniformGravityFieldElement()),
}


@pytest.mark.parametrize("add", DUPLICATES.values(), ids=DUPLICATES)
def test_names_are_unique_in_an_instance(add):
    plant = MultibodyPlant(0.0)
    left, right = plant.AddModelInstance("left"), plant.AddModelInstance("right")
    for instance in (left, right):
        body = plant.AddRigidBody("link", instance, BOX)
        plant.AddRigidBody("other", instance, BOX)
        plant.AddFrame(FixedOffsetFrame("tip", body.body_frame(), RigidTransform()))
        plant.AddJointActuator("motor", plant.AddJoint(hinge("pin", plant.world_body(), body)))
    refuses(lambda: add(plant, left), "already")


def test_the_default_instance_ends_with_the_first_other_one():
    """multibody_tree (c) 12"""
    plant = MultibodyPlant(0.0)
    assert plant.AddRigidBody("first", BOX).model_instance() == ModelInstanceIndex(1)
    instance = plant.AddModelInstance("robot")
    refuses(lambda: plant.AddRigidBody("second", BOX), "'second'.*instance")
    assert plant.AddRigidBody("second", instance, BOX).model_instance() == instance


# ------------------------------------------------------------------------------------------- elements


def test_an_element_belongs_to_one_plant():
    plant, other = MultibodyPlant(0.0), MultibodyPlant(0.0)
    body, stranger = plant.AddRigidBody("body", BOX), other.AddRigidBody("stranger", BOX)
    joint, foreign_joint = hinge("pin", plant.world_body(), body), hinge("pin", other.world_body(), stranger)
    plant.AddJoint(joint)
    other.AddJoint(foreign_joint)
    refuses(lambda: plant.AddJoint(joint), "already")
    refuses(lambda: plant.AddJoint(hinge("mixed", plant.world_body(), stranger)), "stranger.*not part of this plant")
    refuses(lambda: plant.WeldFrames(body.body_frame(), stranger.body_frame()), "not part of this plant")
    refuses(lambda: plant.AddFrame(FixedOffsetFrame("f", stranger, RigidTransform())), "not part of this plant")
    refuses(lambda: plant.AddJointActuator("motor", foreign_joint), "not part of this plant")
    refuses(lambda: plant.AddForceElement(RevoluteSpring(foreign_joint, 0.0, 1.0)), "not part of this plant")
    assert (plant.num_joints(), plant.num_frames(), plant.num_actuators(), plant.num_force_elements()) == (1, 2, 0, 1)


def test_an_element_without_a_plant_says_so():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", BOX)
    joint = hinge("pin", plant.world_body(), body)
    for ask in (joint.index, joint.model_instance, joint.GetParentPlant):
        refuses(ask, "not been added")


def frames():
    plant = MultibodyPlant(0.0)
    return plant, plant.world_frame(), plant.AddRigidBody("body", BOX).body_frame()


INVALID_ELEMENTS = {
    "axis without direction": (lambda p, F, M: RevoluteJoint("j", F, M, [0.0, 0.0, 0.0]), "axis"),
    "axis of two numbers": (lambda p, F, M: PrismaticJoint("j", F, M, [1.0, 0.0]), "axis"),
    "axis that is not a number": (lambda p, F, M: ScrewJoint("j", F, M, [np.nan, 0.0, 1.0], 0.1, 0.0), "axis"),
    "negative damping": (lambda p, F, M: RevoluteJoint("j", F, M, [0, 0, 1], damping=-0.1), "damping"),
    "damping that is not a number": (lambda p, F, M: UniversalJoint("j", F, M, np.nan), "damping"),
    "limits in the wrong order": (lambda p, F, M: RevoluteJoint("j", F, M, [0, 0, 1], 1.0, -1.0), "limit"),
    "limits of another size": (
        lambda p, F, M: BallRpyJoint("j", F, M).set_position_limits([0.0], [1.0]),
        "3 elements",
    ),
    "default positions of another size": (
        lambda p, F, M: UniversalJoint("j", F, M).set_default_positions([1.0]),
        "'j'.* not 1",
    ),
    "joint of a body with itself": (lambda p, F, M: p.AddJoint(RevoluteJoint("j", M, M, [0, 0, 1])), "itself"),
    "no effort": (lambda p, F, M: p.AddJointActuator("m", p.AddJoint(RevoluteJoint("j", F, M, [0, 0, 1])), 0.0), "eff"),
    "effort that is not a number": (
        lambda p, F, M: p.AddJointActuator("m", p.AddJoint(RevoluteJoint("j", F, M, [0, 0, 1])), np.nan),
        "effort",
    ),
    "actuator of three degrees of freedom": (
        lambda p, F, M: p.AddJointActuator("m", p.AddJoint(BallRpyJoint("j", F, M))),
        "3 degrees of freedom",
    ),
    "negative stiffness": (lambda p, F, M: PrismaticSpring(PrismaticJoint("j", F, M, [1, 0, 0]), 0.0, -1.0), "stiff"),
    "body without a name": (lambda p, F, M: p.AddRigidBody("", BOX), "name"),
    "gravity of two numbers": (lambda p, F, M: p.mutable_gravity_field().set_gravity_vector([0.0, 1.0]), "gravity"),
    "gravity without end": (lambda p, F, M: p.mutable_gravity_field().set_gravity_vector([0, 0, np.inf]), "gravity"),
}


@pytest.mark.parametrize(("make", "text"), INVALID_ELEMENTS.values(), ids=INVALID_ELEMENTS)
def test_invalid_elements_are_refused(make, text):
    """multibody_tree (c) 17"""
    plant, F, M = frames()
    refuses(lambda: make(plant, F, M), text)


def test_forces_along_one_coordinate():
    plant, F, M = frames()
    joint = plant.AddJoint(BallRpyJoint("ball", F, M))
    plant.Finalize()
    context, forces = plant.CreateDefaultContext(), MultibodyForces(plant)
    refuses(lambda: joint.AddInOneForce(context, 0, 1.0, forces), "ball_rpy")
    refuses(lambda: joint.GetOnePosition(context), "3 degrees of freedom")
    arm = arm_plant()
    pin = arm.GetJointByName("joint1")
    refuses(lambda: pin.AddInOneForce(arm.CreateDefaultContext(), 1, 1.0, MultibodyForces(arm)), "no degree of freedom")


def test_a_screw_without_pitch_has_no_translation_to_set():
    plant, F, M = frames()
    joint = plant.AddJoint(ScrewJoint("screw", F, M, [0, 0, 1], 0.0))
    plant.Finalize()
    refuses(lambda: joint.set_translation(plant.CreateDefaultContext(), 0.1), "pitch")


# ------------------------------------------------------------------------------------------- sizes


WRONG_SIZES = {
    "SetPositions": lambda p, c: p.SetPositions(c, np.zeros(9)),
    "SetPositions of an instance": lambda p, c: p.SetPositions(c, ModelInstanceIndex(0), [1.0]),
    "SetPositions with a matrix": lambda p, c: p.SetPositions(c, np.zeros((10, 2))),
    "SetVelocities": lambda p, c: p.SetVelocities(c, np.zeros(10)),
    "SetVelocities with a number": lambda p, c: p.SetVelocities(c, 1.0),
    "SetPositionsAndVelocities": lambda p, c: p.SetPositionsAndVelocities(c, np.zeros(18)),
    "SetContinuousState": lambda p, c: c.SetContinuousState(np.zeros(20)),
    "GetPositionsFromArray": lambda p, c: p.GetPositionsFromArray(ModelInstanceIndex(1), np.zeros(9)),
    "GetVelocitiesFromArray": lambda p, c: p.GetVelocitiesFromArray(ModelInstanceIndex(1), np.zeros(10)),
    "SetPositionsInArray": lambda p, c: p.SetPositionsInArray(ModelInstanceIndex(1), np.zeros(9), np.zeros(10)),
    "SetVelocitiesInArray": lambda p, c: p.SetVelocitiesInArray(ModelInstanceIndex(1), np.zeros(9), np.zeros(10)),
    "SetDefaultPositions": lambda p, c: p.SetDefaultPositions(np.zeros(3)),
    "joint SetPositions": lambda p, c: p.GetJointByName("joint0").SetPositions(c, [1.0, 2.0]),
    "joint SetVelocities": lambda p, c: p.GetJointByName("box").SetVelocities(c, np.zeros(7)),
    "actuation": lambda p, c: p.get_actuation_input_port().FixValue(c, [1.0]),
    "applied_generalized_force": lambda p, c: p.get_applied_generalized_force_input_port().FixValue(c, np.zeros(10)),
    "known_vdot": lambda p, c: p.CalcInverseDynamics(c, np.zeros(10), MultibodyForces(p)),
    "forces": lambda p, c: p.CalcInverseDynamics(c, np.zeros(9), MultibodyForces(nb=3, nv=9)),
    "CalcForceElementsContribution": lambda p, c: p.CalcForceElementsContribution(c, MultibodyForces(5, 8)),
    "CalcSpatialAccelerationsFromVdot": lambda p, c: p.CalcSpatialAccelerationsFromVdot(c, np.zeros(1)),
    "MapVelocityToQDot": lambda p, c: p.MapVelocityToQDot(c, np.zeros(10)),
    "MapQDotToVelocity": lambda p, c: p.MapQDotToVelocity(c, np.zeros(9)),
    "CalcPointsPositions": lambda p, c: p.CalcPointsPositions(c, p.world_frame(), np.zeros((2, 4)), p.world_frame()),
    "AddInForces": lambda p, c: MultibodyForces(p).AddInForces(MultibodyForces(5, 8)),
}


@pytest.mark.parametrize("call", WRONG_SIZES.values(), ids=WRONG_SIZES)
def test_wrong_sizes_are_refused_and_change_nothing(arm, call):
    context = arm.CreateDefaultContext()
    before = arm.GetPositionsAndVelocities(context)
    with pytest.raises(RuntimeError):
        call(arm, context)
    np.testing.assert_array_equal(arm.GetPositionsAndVelocities(context), before)
    assert arm.CreateDefaultContext().inputs.fixed == context.inputs.fixed == {}


# ------------------------------------------------------------------------------------------- foreign contexts


def box_of(plant):
    return plant.GetBodyByName("box")


FOREIGN = {
    "GetPositions": lambda p, c: p.GetPositions(c),
    "GetVelocities": lambda p, c: p.GetVelocities(c),
    "SetPositions": lambda p, c: p.SetPositions(c, np.zeros(10)),
    "SetVelocities": lambda p, c: p.SetVelocities(c, np.zeros(9)),
    "SetPositionsAndVelocities": lambda p, c: p.SetPositionsAndVelocities(c, np.zeros(19)),
    "SetDefaultState": lambda p, c: p.SetDefaultState(c),
    "EvalBodyPoseInWorld": lambda p, c: p.EvalBodyPoseInWorld(c, box_of(p)),
    "EvalBodySpatialVelocityInWorld": lambda p, c: p.EvalBodySpatialVelocityInWorld(c, box_of(p)),
    "EvalBodySpatialAccelerationInWorld": lambda p, c: p.EvalBodySpatialAccelerationInWorld(c, box_of(p)),
    "CalcSpatialAccelerationsFromVdot": lambda p, c: p.CalcSpatialAccelerationsFromVdot(c, np.zeros(9)),
    "CalcRelativeTransform": lambda p, c: p.CalcRelativeTransform(c, p.world_frame(), box_of(p).body_frame()),
    "CalcPointsPositions": lambda p, c: p.CalcPointsPositions(c, p.world_frame(), [0, 0, 0], box_of(p).body_frame()),
    "CalcPoseInWorld": lambda p, c: box_of(p).body_frame().CalcPoseInWorld(c),
    "CalcMassMatrix": lambda p, c: p.CalcMassMatrix(c),
    "CalcMassMatrixViaInverseDynamics": lambda p, c: p.CalcMassMatrixViaInverseDynamics(c),
    "CalcBiasTerm": lambda p, c: p.CalcBiasTerm(c),
    "CalcGravityGeneralizedForces": lambda p, c: p.CalcGravityGeneralizedForces(c),
    "CalcInverseDynamics": lambda p, c: p.CalcInverseDynamics(c, np.zeros(9), MultibodyForces(p)),
    "CalcForceElementsContribution": lambda p, c: p.CalcForceElementsContribution(c, MultibodyForces(p)),
    "CalcGeneralizedForces": lambda p, c: p.CalcGeneralizedForces(c, MultibodyForces(p)),
    "EvalTimeDerivatives": lambda p, c: p.EvalTimeDerivatives(c),
    "CalcKineticEnergy": lambda p, c: p.CalcKineticEnergy(c),
    "CalcPotentialEnergy": lambda p, c: p.CalcPotentialEnergy(c),
    "CalcConservativePower": lambda p, c: p.CalcConservativePower(c),
    "CalcTotalMass": lambda p, c: p.CalcTotalMass(c),
    "CalcCenterOfMassPositionInWorld": lambda p, c: p.CalcCenterOfMassPositionInWorld(c),
    "CalcSpatialMomentumInWorldAboutPoint": lambda p, c: p.CalcSpatialMomentumInWorldAboutPoint(c, [0, 0, 0]),
    "MapVelocityToQDot": lambda p, c: p.MapVelocityToQDot(c, np.zeros(9)),
    "MapQDotToVelocity": lambda p, c: p.MapQDotToVelocity(c, np.zeros(10)),
    "actuation": lambda p, c: p.get_actuation_input_port().FixValue(c, np.zeros(3)),
    "get_angle": lambda p, c: p.GetJointByName("joint0").get_angle(c),
    "set_angle": lambda p, c: p.GetJointByName("joint0").set_angle(c, 1.0),
    "set_angular_rate": lambda p, c: p.GetJointByName("joint0").set_angular_rate(c, 1.0),
    "AddInDamping": lambda p, c: p.GetJointByName("joint0").AddInDamping(c, MultibodyForces(p)),
    "SetFreeBodyPose": lambda p, c: p.SetFreeBodyPose(c, box_of(p), RigidTransform()),
    "GetFreeBodyPose": lambda p, c: p.GetFreeBodyPose(c, box_of(p)),
    "SetFreeBodySpatialVelocity": lambda p, c: p.SetFreeBodySpatialVelocity(
        c, box_of(p), SpatialVelocity([1, 2, 3], [4, 5, 6])
    ),
    "state output": lambda p, c: p.get_state_output_port().Eval(c),
    "Simulator": lambda p, c: Simulator(p, c),
    "get_mass": lambda p, c: box_of(p).get_mass(c),
    "SetMass": lambda p, c: box_of(p).SetMass(c, 1.0),
    "SetSpatialInertiaInBodyFrame": lambda p, c: box_of(p).SetSpatialInertiaInBodyFrame(c, BOX),
    "CalcPoseInBodyFrame": lambda p, c: p.GetFrameByName("seat1").CalcPoseInBodyFrame(c),
    "GetPoseInParentFrame": lambda p, c: p.GetFrameByName("seat1").GetPoseInParentFrame(c),
    "SetPoseInParentFrame": lambda p, c: p.GetFrameByName("seat1").SetPoseInParentFrame(c, RigidTransform()),
    "SetDamping": lambda p, c: p.GetJointByName("joint1").SetDamping(c, 1.0),
    "SetGearRatio": lambda p, c: p.GetJointActuatorByName("motor1").SetGearRatio(c, 1.0),
}


@pytest.mark.parametrize("call", FOREIGN.values(), ids=FOREIGN)
def test_the_context_of_a_twin_is_refused(arm, call):
    twin = arm_plant()
    context = twin.CreateDefaultContext()
    before = twin.GetPositionsAndVelocities(context)
    refuses(lambda: call(arm, context), "another plant")
    np.testing.assert_array_equal(twin.GetPositionsAndVelocities(context), before)


def test_bodies_of_a_twin_are_refused(arm):
    twin, context = arm_plant(), arm.CreateDefaultContext()
    for ask in (
        arm.EvalBodyPoseInWorld,
        arm.EvalBodySpatialVelocityInWorld,
        arm.EvalBodySpatialAccelerationInWorld,
    ):
        with pytest.raises(RuntimeError, match="not part of this plant"):
            ask(context, twin.GetBodyByName("box"))
    box, before = twin.GetBodyByName("box"), twin.GetDefaultPositions()
    for ask in (
        lambda: arm.SetFreeBodyPose(context, box, RigidTransform()),
        lambda: arm.GetFreeBodyPose(context, box),
        lambda: arm.SetFreeBodySpatialVelocity(box, SpatialVelocity.Zero(), context),
        lambda: arm.SetDefaultFreeBodyPose(box, RigidTransform([1.0, 2.0, 3.0])),
        lambda: arm.GetBodiesWeldedTo(box),
        lambda: arm.IsAnchored(box),
    ):
        refuses(ask, "'box' .*not part of this plant")
    np.testing.assert_array_equal(twin.GetDefaultPositions(), before)


# ------------------------------------------------------------------------------------------- what is kept


def quantities(plant, context):
    """All results that depend on q, or on q and v."""
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    nv = plant.num_velocities()
    bodies = [plant.get_body(BodyIndex(n)) for n in range(plant.num_bodies())]
    vdot = np.arange(1.0, nv + 1.0)
    return {
        "poses": np.array([plant.EvalBodyPoseInWorld(context, body).GetAsMatrix34() for body in bodies]),
        "velocities": np.array([plant.EvalBodySpatialVelocityInWorld(context, body).get_coeffs() for body in bodies]),
        "accelerations": np.array(
            [plant.EvalBodySpatialAccelerationInWorld(context, body).get_coeffs() for body in bodies]
        ),
        "accelerations from vdot": np.array(
            [A.get_coeffs() for A in plant.CalcSpatialAccelerationsFromVdot(context, vdot)]
        ),
        "mass matrix": plant.CalcMassMatrix(context),
        "bias": plant.CalcBiasTerm(context),
        "gravity": plant.CalcGravityGeneralizedForces(context),
        "inverse dynamics": plant.CalcInverseDynamics(context, vdot, forces),
        "time derivatives": plant.EvalTimeDerivatives(context).CopyToVector(),
        "kinetic": plant.CalcKineticEnergy(context),
        "potential": plant.CalcPotentialEnergy(context),
        "power": plant.CalcConservativePower(context),
        "momentum": plant.CalcSpatialMomentumInWorldAboutPoint(context, [1.0, 2.0, 3.0]).get_coeffs(),
        "centre of mass": plant.CalcCenterOfMassPositionInWorld(context),
        "velocity of the centre of mass": plant.CalcCenterOfMassTranslationalVelocityInWorld(context),
        "N": plant.MakeVelocityToQDotMap(context).toarray(),
        "state": plant.GetPositionsAndVelocities(context),
    }


# the power of gravity and the inverse dynamics (by damping) depend on v too, N only on the quaternion
OF_POSITIONS = ("poses", "mass matrix", "gravity", "potential", "centre of mass", "N")


def random_state(plant, seed):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=plant.num_positions())
    start = plant.GetBodyByName("box").floating_positions_start()
    q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q, rng.normal(size=plant.num_velocities())


def context_at(plant, q, v):
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    return context


def assert_same(found, expected):
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def counted(context):
    """The number of calls of each kernel that this context makes from now on."""
    counts = {}

    def count(name, function):
        def call(*arguments):
            counts[name] = counts.get(name, 0) + 1
            return function(*arguments)

        return call

    kernels, names = context.state.kernels, [function.__name__ for function in all_kernels()]
    context.state.kernels = SimpleNamespace(**{name: count(name, getattr(kernels, name)) for name in names})
    context.state._bind()
    return counts


def test_setting_positions_changes_every_result(arm):
    """multibody_tree (c) 20"""
    (q1, v), (q2, _) = random_state(arm, 1), random_state(arm, 2)
    context = context_at(arm, q1, v)
    before = quantities(arm, context)
    arm.SetPositions(context, q2)
    after = quantities(arm, context)
    assert_same(after, quantities(arm, context_at(arm, q2, v)))
    for name in before:
        assert not np.array_equal(before[name], after[name]), name


def test_setting_velocities_keeps_what_depends_on_positions(arm):
    """multibody_tree (c) 20"""
    (q, v1), (_, v2) = random_state(arm, 1), random_state(arm, 2)
    context = context_at(arm, q, v1)
    before = quantities(arm, context)
    counts = counted(context)
    arm.SetVelocities(context, v2)
    after = quantities(arm, context)
    assert "position_stage" not in counts
    assert "calc_mass_matrix" not in counts
    assert counts["velocity_stage"] == 1
    assert_same(after, quantities(arm, context_at(arm, q, v2)))
    for name in before:
        assert np.array_equal(before[name], after[name]) == (name in OF_POSITIONS), name


def test_stages_run_once_until_the_state_changes(arm):
    """multibody_tree (c) 20"""
    context = context_at(arm, *random_state(arm, 3))
    counts = counted(context)
    first = quantities(arm, context)
    assert_same(quantities(arm, context), first)
    stages = ("motion_stage", "calc_mass_matrix", "calc_accelerations", "calc_energy")
    assert {name: counts[name] for name in stages} == dict.fromkeys(stages, 1)
    assert "position_stage" not in counts
    assert "velocity_stage" not in counts


def test_positions_alone_need_no_velocities(arm):
    context = context_at(arm, *random_state(arm, 3))
    counts = counted(context)
    arm.CalcMassMatrix(context)
    arm.CalcGravityGeneralizedForces(context)
    arm.MapVelocityToQDot(context, np.ones(9))
    assert counts["full_mass_matrix"] == 1  # positions and M in one call
    assert "position_stage" not in counts
    assert "velocity_stage" not in counts


SETTERS = {
    "joint position": lambda p, c: p.GetJointByName("joint1").set_angle(c, 0.7),
    "joint velocity": lambda p, c: p.GetJointByName("joint2").set_translation_rate(c, 0.7),
    "instance positions": lambda p, c: p.SetPositions(c, ModelInstanceIndex(1), random_state(p, 8)[0]),
    "instance velocities": lambda p, c: p.SetVelocities(c, ModelInstanceIndex(1), random_state(p, 8)[1]),
    "state": lambda p, c: p.SetPositionsAndVelocities(c, np.concatenate(random_state(p, 8))),
    "continuous state": lambda p, c: c.SetContinuousState(np.concatenate(random_state(p, 8))),
    "free body pose": lambda p, c: p.SetFreeBodyPose(c, box_of(p), RigidTransform(RollPitchYaw(1, 2, 3), [4, 5, 6])),
    "free body velocity": lambda p, c: p.SetFreeBodySpatialVelocity(
        c, box_of(p), SpatialVelocity([1, 2, 3], [4, 5, 6])
    ),
    "default state": lambda p, c: p.SetDefaultState(c),
    "simulation": lambda p, c: Simulator(p, c).AdvanceTo(0.01),
}


@pytest.mark.parametrize("change", SETTERS.values(), ids=SETTERS)
def test_every_way_to_set_the_state_counts(arm, change):
    context = context_at(arm, *random_state(arm, 4))
    before = quantities(arm, context)
    change(arm, context)
    after = quantities(arm, context)
    assert not np.array_equal(before["state"], after["state"])
    assert_same(after, quantities(arm, context_at(arm, arm.GetPositions(context), arm.GetVelocities(context))))


def test_inputs_change_accelerations_only(arm):
    context = context_at(arm, *random_state(arm, 5))
    before = quantities(arm, context)
    counts = counted(context)
    arm.get_actuation_input_port().FixValue(context, [1.0, 2.0, 3.0])
    after = quantities(arm, context)
    assert "position_stage" not in counts
    assert "velocity_stage" not in counts
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert changed == {"accelerations", "time derivatives"}
    force = MultibodyForces(arm)
    force.mutable_generalized_forces()[:] = arm.MakeActuationMatrix() @ [1.0, 2.0, 3.0]
    arm.CalcForceElementsContribution(context, more := MultibodyForces(arm))
    force.AddInForces(more)
    vdot = after["time derivatives"][arm.num_positions() :]
    np.testing.assert_allclose(arm.CalcInverseDynamics(context, vdot, force), np.zeros(9), atol=1e-11)


def test_results_are_copies(arm):
    context = context_at(arm, *random_state(arm, 6))
    before = quantities(arm, context)
    for result in (
        arm.GetPositions(context),
        arm.GetVelocities(context),
        arm.CalcMassMatrix(context),
        arm.CalcBiasTerm(context),
        arm.CalcGravityGeneralizedForces(context),
        arm.EvalTimeDerivatives(context).CopyToVector(),
        arm.CalcForwardDynamics(context),
        arm.EvalBodySpatialVelocityInWorld(context, box_of(arm)).get_coeffs(),
        arm.GetDefaultPositions(),
        arm.gravity_field().gravity_vector(),
        arm.GetJointByName("joint0").default_positions(),
        arm.GetJointByName("joint0").position_lower_limits(),
    ):
        result[...] = np.nan
    assert_same(quantities(arm, context), before)
    assert_same(quantities(arm, context_at(arm, *random_state(arm, 6))), before)


def test_setting_takes_a_copy(arm):
    context = arm.CreateDefaultContext()
    q, v = random_state(arm, 7)
    u, kept = np.ones(3), q.copy()
    arm.SetPositions(context, q)
    arm.get_actuation_input_port().FixValue(context, u)
    vdot = arm.CalcForwardDynamics(context)
    q[:], u[:] = np.nan, np.nan
    np.testing.assert_array_equal(arm.GetPositions(context), kept)
    arm.SetVelocities(context, np.zeros(9))
    np.testing.assert_array_equal(arm.CalcForwardDynamics(context), vdot)


def test_contexts_are_independent(arm):
    states = [random_state(arm, seed) for seed in (1, 2)]
    expected = [quantities(arm, context_at(arm, *state)) for state in states]
    a, b = (context_at(arm, *state) for state in states)
    for _ in range(2):
        assert_same(quantities(arm, a), expected[0])
        assert_same(quantities(arm, b), expected[1])


def test_a_clone_is_equal_and_independent(arm):
    context = context_at(arm, *random_state(arm, 1))
    context.SetTime(2.5)
    arm.get_actuation_input_port().FixValue(context, [1.0, 2.0, 3.0])
    clone = context.Clone()
    before = quantities(arm, context)
    assert clone.get_time() == 2.5
    assert_same(quantities(arm, clone), before)
    arm.SetPositions(clone, random_state(arm, 2)[0])
    arm.get_actuation_input_port().FixValue(clone, np.zeros(3))
    clone.SetTime(0.0)
    assert_same(quantities(arm, context), before)
    assert context.get_time() == 2.5


# ------------------------------------------------------------------------------------------- model instances


def interleaved_plant():
    """A chain whose links belong to `even` and `odd` in turns, the types of its joints mixed."""
    plant = MultibodyPlant(0.0)
    instances = [plant.AddModelInstance("even"), plant.AddModelInstance("odd")]
    inboard = plant.world_body()
    kinds = (RevoluteJoint, BallRpyJoint, PrismaticJoint, UniversalJoint, RevoluteJoint, PrismaticJoint)
    driven = []
    for k, kind in enumerate(kinds):
        body = plant.AddRigidBody(f"link{k}", instances[k % 2], BOX)
        axis = ([0.0, 1.0, 0.0],) if kind in (RevoluteJoint, PrismaticJoint) else ()
        frame = plant.AddFrame(FixedOffsetFrame(f"seat{k}", inboard.body_frame(), RigidTransform([0.1, 0.2, 0.3])))
        joint = plant.AddJoint(kind(f"joint{k}", frame, body.body_frame(), *axis))
        if axis:
            driven.append(joint)
        inboard = body
    for joint in reversed(driven):
        plant.AddJointActuator(f"motor_{joint.name()}", joint)
    plant.Finalize()
    return plant, *instances


# joint0 q, joint1 qx qy qz, joint2 x, joint3 qx qy, joint4 q, joint5 x
EVEN, ODD = [0, 4, 7], [1, 2, 3, 5, 6, 8]


def test_slices_of_interleaved_instances():
    """multibody_tree (c) 13"""
    plant, even, odd = interleaved_plant()
    context = plant.CreateDefaultContext()
    q, v = np.arange(9.0), np.arange(10.0, 19.0)
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    for instance, places in ((even, EVEN), (odd, ODD)):
        assert plant.num_positions(instance) == plant.num_velocities(instance) == len(places)
        np.testing.assert_array_equal(plant.GetPositions(context, instance), q[places])
        np.testing.assert_array_equal(plant.GetVelocities(context, instance), v[places])
        np.testing.assert_array_equal(
            plant.GetPositionsAndVelocities(context, instance), np.concatenate([q[places], v[places]])
        )
        np.testing.assert_array_equal(plant.GetPositionsFromArray(instance, q), q[places])
        np.testing.assert_array_equal(plant.GetVelocitiesFromArray(instance, v), v[places])
        assert plant.GetPositionNames(instance) == [
            plant.GetPositionNames(add_model_instance_prefix=False)[i] for i in places
        ]
        assert plant.GetVelocityNames(instance, True) == [plant.GetVelocityNames()[i] for i in places]
        np.testing.assert_array_equal(plant.get_state_output_port(instance).Eval(context)[: len(places)], q[places])
        np.testing.assert_array_equal(
            plant.get_generalized_acceleration_output_port(instance).Eval(context),
            plant.CalcForwardDynamics(context)[places],
        )
    assert plant.num_positions(ModelInstanceIndex(0)) == plant.num_positions(ModelInstanceIndex(1)) == 0


@pytest.mark.parametrize(("which", "places"), [(1, EVEN), (2, ODD)])
def test_setting_an_instance_leaves_the_others(which, places):
    """multibody_tree (c) 13"""
    plant, *_ = built = interleaved_plant()
    instance = built[which]
    context = plant.CreateDefaultContext()
    start_q, start_v = np.arange(9.0), np.arange(10.0, 19.0)
    plant.SetPositionsAndVelocities(context, np.concatenate([start_q, start_v]))
    q, v = -np.arange(1.0, 1.0 + len(places)), -np.arange(20.0, 20.0 + len(places))
    expected_q, expected_v = start_q.copy(), start_v.copy()
    expected_q[places], expected_v[places] = q, v
    plant.SetPositionsInArray(instance, q, start_q)
    plant.SetVelocitiesInArray(instance, v, start_v)
    np.testing.assert_array_equal(start_q, expected_q)
    np.testing.assert_array_equal(start_v, expected_v)
    plant.SetPositions(context, instance, q)
    plant.SetVelocities(context, instance, v)
    np.testing.assert_array_equal(plant.GetPositions(context), expected_q)
    np.testing.assert_array_equal(plant.GetVelocities(context), expected_v)
    other = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(other, model_instance=instance, q_v=np.concatenate([q, v]))
    np.testing.assert_array_equal(plant.GetPositionsAndVelocities(other, instance), np.concatenate([q, v]))
    assert np.count_nonzero(plant.GetPositionsAndVelocities(other)) == 2 * len(places)


def test_actuation_of_instances_adds_to_that_of_the_plant():
    plant, even, odd = interleaved_plant()
    assert plant.GetActuatorNames() == [
        "odd_motor_joint5",
        "even_motor_joint4",
        "even_motor_joint2",
        "even_motor_joint0",
    ]
    assert (plant.num_actuators(even), plant.num_actuators(odd), plant.num_actuated_dofs()) == (3, 1, 4)
    B = plant.MakeActuationMatrix()
    np.testing.assert_array_equal(np.argmax(B, axis=0), [8, 7, 4, 0])
    context = plant.CreateDefaultContext()
    plant.get_actuation_input_port().FixValue(context, [1.0, 2.0, 3.0, 4.0])
    plant.get_actuation_input_port(even).FixValue(context, [10.0, 20.0, 30.0])
    plant.get_actuation_input_port(odd).FixValue(context, 100.0)
    by_inputs = plant.CalcForwardDynamics(context)
    expected = plant.CreateDefaultContext()
    plant.get_applied_generalized_force_input_port().FixValue(expected, B @ [101.0, 12.0, 23.0, 34.0])
    np.testing.assert_allclose(by_inputs, plant.CalcForwardDynamics(expected), rtol=1e-13)


def test_gravity_is_switched_by_instance():
    """plant (c) 26"""
    plant = MultibodyPlant(0.0)
    instances = [plant.AddModelInstance(name) for name in ("heavy", "weightless")]
    for instance in instances:
        plant.AddRigidBody("body", instance, BOX)
    plant.set_gravity_enabled(instances[1], False)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 3.0, -4.0])
    plant.Finalize()
    assert [plant.is_gravity_enabled(instance) for instance in instances] == [True, False]
    context = plant.CreateDefaultContext()
    np.testing.assert_allclose(plant.CalcGravityGeneralizedForces(context), [0, 0, 0, 0, 6, -8, *[0] * 6], **TIGHT)
    np.testing.assert_allclose(plant.CalcForwardDynamics(context), [0, 0, 0, 0, 3, -4, *[0] * 6], **TIGHT)
    refuses(lambda: plant.is_gravity_enabled(ModelInstanceIndex(7)), "no model instance 7")


# ------------------------------------------------------------------------------------------- free bodies


X_PB = RigidTransform(RollPitchYaw(0.4, -0.3, 1.2), [1.0, -2.0, 3.0])
V_PB = SpatialVelocity([0.1, 0.2, 0.3], [-1.0, -2.0, -3.0])


def same_pose(X, Y):
    np.testing.assert_allclose(X.GetAsMatrix4(), Y.GetAsMatrix4(), **TIGHT)


def test_pose_and_velocity_of_a_floating_base(arm):
    box, context = box_of(arm), arm.CreateDefaultContext()
    arm.SetFreeBodyPose(context, box, X_PB)
    same_pose(arm.GetFreeBodyPose(context, box), X_PB)
    same_pose(box.EvalPoseInWorld(context), X_PB)
    arm.SetFreeBodySpatialVelocity(box, V_PB, context)
    np.testing.assert_allclose(box.EvalSpatialVelocityInWorld(context).get_coeffs(), V_PB.get_coeffs(), **TIGHT)
    other = arm.CreateDefaultContext()
    arm.SetFreeBodySpatialVelocity(context=other, body=box, V_PB=V_PB)
    np.testing.assert_array_equal(arm.GetVelocities(other), arm.GetVelocities(context))
    assert arm.GetFloatingBaseBodies() == {box.index()}
    assert box.is_floating_base_body()
    assert box.has_quaternion_dofs()
    assert (box.floating_positions_start(), box.floating_velocities_start_in_v()) == (3, 3)


def test_a_body_that_is_held_is_not_free(arm):
    link, context = arm.GetBodyByName("link1"), arm.CreateDefaultContext()
    assert not link.is_floating()
    for call in (
        lambda: arm.GetFreeBodyPose(context, link),
        lambda: arm.SetFreeBodyPose(context, link, X_PB),
        lambda: arm.SetFreeBodySpatialVelocity(link, V_PB, context),
        link.floating_positions_start,
    ):
        refuses(call, "'link1' is not a free body")


@pytest.mark.parametrize("kind", [QuaternionFloatingJoint, RpyFloatingJoint])
def test_a_free_body_may_have_a_moving_parent(kind):
    """plant (c) 27"""
    plant = MultibodyPlant(0.0)
    turntable, rider = plant.AddRigidBody("turntable", BOX), plant.AddRigidBody("rider", BOX)
    axle = plant.AddJoint(RevoluteJoint("axle", plant.world_frame(), turntable.body_frame(), [0, 0, 1]))
    seat = plant.AddFrame(FixedOffsetFrame("seat", turntable, RigidTransform([0.5, 0.0, 0.0])))
    plant.AddJoint(kind("ride", seat, rider.body_frame()))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    axle.set_angle(context, 0.8)
    plant.SetFreeBodyPose(context, rider, X_PB)
    same_pose(plant.GetFreeBodyPose(context, rider), X_PB)
    same_pose(rider.EvalPoseInWorld(context), seat.CalcPoseInWorld(context) @ X_PB)
    assert rider.is_floating()
    assert not rider.is_floating_base_body()
    assert rider.has_quaternion_dofs() == (kind is QuaternionFloatingJoint)
    assert plant.GetFloatingBaseBodies() == set()


def test_default_poses_are_for_floating_bases_and_new_contexts():
    plant = arm_plant(finalize=False)
    box, link = plant.GetBodyByName("box"), plant.GetBodyByName("link0")
    same_pose(plant.GetDefaultFreeBodyPose(box), RigidTransform())
    plant.SetDefaultFreeBodyPose(box, X_PB)
    plant.SetDefaultFreeBodyPose(link, X_PB)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    same_pose(box.EvalPoseInWorld(context), X_PB)
    np.testing.assert_array_equal(plant.GetPositions(context)[:3], np.zeros(3))
    same_pose(plant.GetDefaultFreeBodyPose(link), X_PB)
    plant.SetDefaultFreeBodyPose(box, RigidTransform([7.0, 8.0, 9.0]))
    same_pose(box.EvalPoseInWorld(context), X_PB)
    same_pose(box.EvalPoseInWorld(plant.CreateDefaultContext()), RigidTransform([7.0, 8.0, 9.0]))


def test_floating_joints_take_names_that_are_free():
    plant = MultibodyPlant(0.0)
    a, b = plant.AddRigidBody("a", BOX), plant.AddRigidBody("b", BOX)
    plant.AddJoint(hinge("a", a, b))
    plant.Finalize()
    assert [plant.get_joint(i).name() for i in plant.GetJointIndices()] == ["a", "_a"]
    assert plant.GetJointByName("_a").is_ephemeral()
    assert not plant.GetJointByName("a").is_ephemeral()


def test_a_quaternion_off_the_unit_sphere_means_its_rotation(arm):
    q, v = random_state(arm, 3)
    scaled = q.copy()
    scaled[3:7] *= 1.5
    a, b = context_at(arm, q, v), context_at(arm, scaled, v)
    same_pose(box_of(arm).EvalPoseInWorld(a), box_of(arm).EvalPoseInWorld(b))
    np.testing.assert_allclose(arm.CalcForwardDynamics(a), arm.CalcForwardDynamics(b), rtol=1e-12)


# ------------------------------------------------------------------------------------------- defaults and parameters


def test_defaults_are_for_new_contexts():
    plant = arm_plant()
    old = plant.CreateDefaultContext()
    plant.GetJointByName("joint0").set_default_angle(0.3)
    plant.GetJointByName("joint2").set_default_translation(-0.2)
    new = plant.CreateDefaultContext()
    np.testing.assert_array_equal(plant.GetPositions(old)[:3], np.zeros(3))
    np.testing.assert_array_equal(plant.GetPositions(new)[:3], [0.3, 0.0, -0.2])
    q = np.arange(10.0)
    plant.SetDefaultPositions(q)
    plant.SetVelocities(old, np.ones(9))
    plant.SetDefaultState(old)
    np.testing.assert_array_equal(plant.GetPositions(old), q)
    np.testing.assert_array_equal(plant.GetVelocities(old), np.zeros(9))
    plant.SetDefaultPositions(ModelInstanceIndex(1), q[::-1])
    np.testing.assert_array_equal(plant.GetDefaultPositions(), q[::-1])


def test_welds_hold_without_coordinates():
    plant = MultibodyPlant(0.0)
    a, b, c = (plant.AddRigidBody(name, BOX) for name in "abc")
    weld = plant.WeldFrames(plant.world_frame(), a.body_frame(), X_PB)
    plant.AddJoint(WeldJoint("second", b.body_frame(), a.body_frame(), X_PB))  # its child is on World's side
    plant.AddJoint(hinge("pin", b, c))
    plant.Finalize()
    assert weld.name() == "world_welds_to_a"
    assert plant.num_positions() == 1
    assert [plant.IsAnchored(body) for body in (plant.world_body(), a, b, c)] == [True, True, True, False]
    context = plant.CreateDefaultContext()
    same_pose(a.EvalPoseInWorld(context), X_PB)
    same_pose(b.EvalPoseInWorld(context), RigidTransform())
    assert plant.CalcTotalMass(context) == 6.0


def test_a_mass_set_in_one_context_is_used_in_simulation_and_nowhere_else():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", BOX)
    slide = plant.AddJoint(PrismaticJoint("slide", plant.world_frame(), body.body_frame(), [1, 0, 0]))
    plant.AddJointActuator("motor", slide)
    plant.Finalize()
    light, heavy = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    body.SetMass(heavy, 20.0)
    for context, mass in ((light, 2.0), (heavy, 20.0)):
        plant.get_actuation_input_port().FixValue(context, [10.0])
        Simulator(plant, context).AdvanceTo(1.0)
        assert slide.get_translation_rate(context) == pytest.approx(10.0 / mass)
        assert plant.CalcMassMatrix(context.Clone())[0, 0] == pytest.approx(mass)
    assert body.default_mass() == 2.0


# ------------------------------------------------------------------------------------------- applied forces


def test_a_force_at_a_point_is_its_moment_about_the_origin(arm):
    q, v = random_state(arm, 9)
    link = arm.GetBodyByName("link2")
    point, F = np.array([0.1, 0.2, 0.3]), SpatialForce([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    context = context_at(arm, q, v)
    push = ExternallyAppliedSpatialForce()
    push.body_index, push.p_BoBq_B, push.F_Bq_W = link.index(), point, F
    arm.get_applied_spatial_force_input_port().FixValue(context, [push, push])
    arm_W = link.EvalPoseInWorld(context).rotation() @ point
    forces = MultibodyForces(arm)
    link.AddInForceInWorld(
        context,
        SpatialForce(2.0 * (F.rotational() + np.cross(arm_W, F.translational())), 2.0 * F.translational()),
        forces,
    )
    other = context_at(arm, q, v)
    arm.get_applied_generalized_force_input_port().FixValue(other, arm.CalcGeneralizedForces(other, forces))
    np.testing.assert_allclose(arm.CalcForwardDynamics(context), arm.CalcForwardDynamics(other), rtol=1e-11)


# ------------------------------------------------------------------------------------------- parser


URDF = '<robot name="{name}"><link name="link"><inertial><mass value="1"/>{inertia}</inertial></link></robot>'
INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


def test_a_file_with_errors_adds_nothing():
    plant = MultibodyPlant(0.0)
    with pytest.raises(ModelError):
        Parser(plant).AddModelsFromString(URDF.format(name="robot", inertia='<inertia ixx="one"/>'), "urdf")
    assert (plant.num_bodies(), plant.num_model_instances()) == (1, 2)


def test_a_model_twice_needs_another_name():
    plant = MultibodyPlant(0.0)
    text = URDF.format(name="robot", inertia=INERTIA)
    parser = Parser(plant)
    parser.AddModelsFromString(text, "urdf")
    refuses(lambda: parser.AddModelsFromString(text, "urdf"), "'robot'")
    assert plant.num_bodies() == 2
    parser.SetAutoRenaming(True)
    assert parser.GetAutoRenaming()
    (second,) = parser.AddModelsFromString(text, "urdf")
    (third,) = Parser(plant, model_name_prefix="third").AddModelsFromString(text, "urdf")
    assert plant.GetModelInstanceName(second) == "robot_1"
    assert plant.GetModelInstanceName(third) == "third::robot"


def test_a_file_with_one_name_taken_adds_none_of_its_models():
    world = '<sdf version="1.9"><world name="w">{}</world></sdf>'
    model = '<model name="{}"><link name="a"/></model>'
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    parser.AddModelsFromString(world.format(model.format("second")), "sdf")
    both = world.format(model.format("first") + model.format("second"))
    with pytest.raises(ModelError, match="'second'"):
        parser.AddModelsFromString(both, "sdf")
    assert (plant.num_bodies(), plant.num_model_instances()) == (2, 3)
    parser.SetAutoRenaming(True)
    names = [plant.GetModelInstanceName(i) for i in parser.AddModelsFromString(both, "sdf")]
    assert names == ["first", "second_1"]


def test_packages_under_the_names_of_pydrake(tmp_path):
    folder = tmp_path / "robots"
    folder.mkdir()
    (folder / "one.urdf").write_text(URDF.format(name="one", inertia=INERTIA))
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    packages = parser.package_map()
    assert not packages.Contains("robots")
    packages.Add("robots", folder)
    assert packages.Contains("robots")
    assert packages.GetPath("robots") == str(folder)
    assert packages.ResolveUrl("package://robots/one.urdf") == str(folder / "one.urdf")
    assert len(parser.AddModelsFromUrl("package://robots/one.urdf")) == 1
    assert len(Parser(plant, "again", packages=packages).AddModels(url="package://robots/one.urdf")) == 1
    packages.Remove("robots")
    assert not packages.Contains("robots")
    (folder / "package.xml").write_text("<package><name>named</name></package>")
    packages.PopulateFromFolder(tmp_path)
    assert packages.GetPath("named") == str(folder)


# ------------------------------------------------------------------------------------------- simulator


def test_a_discrete_plant_takes_whole_steps():
    plant = arm_plant(time_step=0.01)
    simulator = Simulator(plant)
    steps = []
    for time in (0.0, 0.005, 0.01, 0.015, 0.02, 0.1):
        simulator.AdvanceTo(time)
        steps.append(simulator.get_num_steps_taken())
        assert simulator.get_context().get_time() == time
    assert steps == [1, 2, 3, 4, 5, 13]  # advances between updates and ends, as pydrake counts them


def test_the_simulator_goes_forward_only():
    simulator = Simulator(arm_plant(time_step=0.01))
    simulator.AdvanceTo(0.1)
    refuses(lambda: simulator.AdvanceTo(0.05), "before")


def test_what_the_simulator_does_not_have_is_said():
    simulator = Simulator(arm_plant())
    refuses(lambda: simulator.set_target_realtime_rate(-1.0), "realtime rate .* is -1")
    refuses(lambda: ApplySimulatorConfig(SimulatorConfig(integration_scheme="cenic"), simulator), "cenic")


def test_a_prismatic_spring_swings_with_its_period():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", BOX)
    slide = plant.AddJoint(PrismaticJoint("slide", plant.world_frame(), body.body_frame(), [0, 1, 0]))
    plant.AddForceElement(PrismaticSpring(slide, 0.1, 8.0))
    plant.Finalize()
    simulator = Simulator(plant)
    ApplySimulatorConfig(SimulatorConfig(accuracy=1e-8), simulator)
    context = simulator.get_mutable_context()
    slide.set_translation(context, 0.3)
    simulator.AdvanceTo(np.pi)  # sqrt(k / m) = 2 / s: half a turn of the phase twice
    assert slide.get_translation(context) == pytest.approx(0.3, abs=1e-6)
    simulator.AdvanceTo(1.5 * np.pi)
    assert slide.get_translation(context) == pytest.approx(-0.1, abs=1e-6)


@pytest.mark.parametrize("q1", [0.3, -1.2])
def test_two_bars_move_by_lagranges_equations(q1):
    """plant (c) 4: centres of mass away from the joints, inertias about the bodies' origins; angles relative."""
    m1, m2, l1, c1, c2, I1, I2, g = 1.3, 0.7, 0.8, 0.35, 0.45, 0.09, 0.05, 9.81  # I about the centres of mass

    def bar(mass, c, I):
        return SpatialInertia(mass, [0, 0, -c], UnitInertia(I / mass + c * c, I / mass + c * c, I / mass))

    plant = MultibodyPlant(0.0)
    upper, lower = plant.AddRigidBody("upper", bar(m1, c1, I1)), plant.AddRigidBody("lower", bar(m2, c2, I2))
    elbow = plant.AddFrame(FixedOffsetFrame("elbow", upper, RigidTransform([0, 0, -l1])))
    plant.AddJoint(hinge("shoulder", plant.world_body(), upper))
    plant.AddJoint(RevoluteJoint("elbow", elbow, lower.body_frame(), [0.0, 1.0, 0.0]))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    q2, w1, w2 = 0.9, 1.7, -0.6
    plant.SetPositionsAndVelocities(context, [q1, q2, w1, w2])
    cosine, sine = np.cos(q2), np.sin(q2)
    far = m2 * (c2**2 + l1 * c2 * cosine) + I2
    M = np.array([[I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * cosine), far], [far, I2 + m2 * c2**2]])
    Cv = m2 * l1 * c2 * sine * np.array([-2 * w1 * w2 - w2**2, w1**2])
    second = m2 * c2 * np.sin(q1 + q2)
    tau_g = -g * np.array([(m1 * c1 + m2 * l1) * np.sin(q1) + second, second])
    np.testing.assert_allclose(plant.CalcMassMatrix(context), M, **TIGHT)
    np.testing.assert_allclose(plant.CalcBiasTerm(context), Cv, **TIGHT)
    np.testing.assert_allclose(plant.CalcGravityGeneralizedForces(context), tau_g, **TIGHT)
    np.testing.assert_allclose(plant.CalcForwardDynamics(context), np.linalg.solve(M, tau_g - Cv), rtol=1e-12)
