"""Former names, former argument names, and X_[T] (spec/tree.md 0.4, spec/plant.md 8)."""

import numpy as np
import pytest

from mbcli import math as transforms
from mbcli.autodiffutils import AutoDiffXd
from mbcli.math import RigidTransform
from mbcli.math.scalar_template import ScalarTemplate
from mbcli.multibody import math as spatial, plant as plants, tree
from mbcli.multibody.plant import AddMultibodyPlant, MultibodyPlant, MultibodyPlant_, MultibodyPlantConfig
from mbcli.multibody.tree import (
    Body_,
    DoorHinge,
    DoorHingeConfig,
    MultibodyForces,
    MultibodyForces_,
    PlanarJoint,
    RevoluteJoint,
    RevoluteSpring,
    RpyFloatingJoint,
    SpatialInertia,
)
from mbcli.systems.framework import DiagramBuilder

X_PB = RigidTransform([0.1, 0.2, 0.3])
V_PB = spatial.SpatialVelocity([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])


def hinged(plant_class=MultibodyPlant, time_step=0.0):
    """A ball on a hinge with a spring and a door hinge, and a free ball."""
    plant = plant_class(time_step)
    ball = SpatialInertia.SolidSphereWithMass(1.0, 0.1)
    arm, free = plant.AddRigidBody("arm", ball), plant.AddRigidBody("free", ball)
    frames = plant.world_frame(), arm.body_frame()
    joint = plant.AddJoint(RevoluteJoint("hinge", *frames, [0.0, 1.0, 0.0], damping=0.5))
    plant.AddJointActuator("motor", joint)
    spring = plant.AddForceElement(RevoluteSpring(joint, 0.1, 2.0))
    door = plant.AddForceElement(DoorHinge(joint, DoorHingeConfig()))
    plant.Finalize()
    return plant, joint, spring, door, free


def test_bodies_and_their_frames_have_their_former_class_names():
    plant = MultibodyPlant(0.0)
    assert isinstance(plant.world_body(), tree.Body) and tree.Body is tree.RigidBody
    assert isinstance(plant.world_frame(), tree.BodyFrame) and tree.BodyFrame is tree.RigidBodyFrame


def test_poses_and_velocities_of_free_bodies_have_former_argument_names():
    plant, *_, free = hinged()
    context = plant.CreateDefaultContext()
    plant.SetDefaultFreeBodyPose(body=free, X_WB=X_PB)
    assert plant.GetDefaultFreeBodyPose(free).IsExactlyEqualTo(X_PB)
    plant.SetFreeBodyPose(context=context, body=free, X_WB=X_PB)
    assert plant.GetFreeBodyPose(context, free).IsNearlyEqualTo(X_PB, 1e-15)
    plant.SetFreeBodySpatialVelocity(body=free, V_WB=V_PB, context=context)
    assert np.allclose(free.EvalSpatialVelocityInWorld(context).get_coeffs(), V_PB.get_coeffs(), atol=1e-14)


def test_a_pose_or_velocity_of_a_free_body_is_given_once():
    plant, *_, free = hinged()
    context = plant.CreateDefaultContext()
    with pytest.raises(TypeError, match="SetFreeBodyPose: X_JpJc must be given, once"):
        plant.SetFreeBodyPose(context, free)
    with pytest.raises(TypeError, match="SetDefaultFreeBodyPose: X_PB must be given, once"):
        plant.SetDefaultFreeBodyPose(free, X_PB, X_WB=X_PB)
    with pytest.raises(TypeError, match="SetFreeBodySpatialVelocity: V_JpJc must be given, once"):
        plant.SetFreeBodySpatialVelocity(body=free, context=context)


def test_actuators_are_selected_by_joints_by_name():
    plant, joint, *_ = hinged()
    assert plant.MakeActuatorSelectorMatrix(user_to_joint_index_map=[joint.index()]).tolist() == [[1.0]]
    with pytest.raises(TypeError, match="a list of actuators or one of joints"):
        plant.MakeActuatorSelectorMatrix()


def test_default_positions_of_an_instance_have_their_argument_name():
    plant, joint, *_ = hinged()
    q = plant.GetDefaultPositions()
    q[joint.position_start()] = 0.25
    plant.SetDefaultPositions(model_instance=tree.default_model_instance(), q_instance=q)
    assert joint.get_default_angle() == 0.25


@pytest.mark.parametrize(
    "arguments",
    [
        lambda config, builder: ((config, builder), {}),
        lambda config, builder: ((), {"config": config, "builder": builder}),
        lambda config, builder: ((config, None, builder), {}),
        lambda config, builder: ((), {"plant_config": config, "scene_graph_config": None, "builder": builder}),
    ],
)
def test_add_multibody_plant_takes_both_forms(arguments):
    positional, named = arguments(MultibodyPlantConfig(time_step=0.25), DiagramBuilder())
    plant, _ = AddMultibodyPlant(*positional, **named)
    assert plant.time_step() == 0.25


def test_a_free_body_is_locked_and_unlocked_by_itself():
    plant, joint, *_, free = hinged(time_step=0.001)
    context = plant.CreateDefaultContext()
    free.Lock(context)
    assert free.is_locked(context) and not joint.is_locked(context)
    free.Unlock(context)
    assert not free.is_locked(context)
    with pytest.raises(RuntimeError, match="body 'arm' is not a free body"):
        plant.GetBodyByName("arm").Lock(context)


# ------------------------------------------------------------------------------------------------- X_[T]


@pytest.mark.parametrize("module", [transforms, spatial, tree, plants])
def test_every_template_gives_its_class_and_classes_of_other_scalars(module):
    public = {name: getattr(module, name) for name in module.__all__}
    templates = {name: item for name, item in public.items() if isinstance(item, ScalarTemplate)}
    assert templates and set(templates) == {name for name in public if name.endswith("_")}
    for name, template in templates.items():
        assert template[float] is getattr(module, name.removesuffix("_"))
        assert issubclass(template[AutoDiffXd], template[float])
        assert issubclass(template["Expression"], template[float])


def test_scalar_types_go_by_type_and_by_name():
    sympy = pytest.importorskip("sympy")
    assert MultibodyPlant_[sympy.Expr] is MultibodyPlant_["Expression"] is not MultibodyPlant
    assert MultibodyPlant_["AutoDiffXd"] is MultibodyPlant_[AutoDiffXd]
    assert Body_["float"] is tree.RigidBody
    with pytest.raises(TypeError, match="RigidBody_ has float, AutoDiffXd and Expression, not <class 'int'>"):
        Body_[int]


def test_transforms_and_spatial_vectors_carry_gradients():
    x = AutoDiffXd(0.3, 1, 0)
    X = transforms.RigidTransform_[AutoDiffXd](transforms.RollPitchYaw_[AutoDiffXd](x, 0.0, 0.0), [x, 0.0, 0.0])
    p = X.multiply([0.0, 1.0, 0.0])
    assert np.allclose([p[0].value(), p[1].value(), p[2].value()], [0.3, np.cos(0.3), np.sin(0.3)])
    assert np.allclose([number.derivatives()[0] for number in p], [1.0, -np.sin(0.3), np.cos(0.3)])
    velocity = spatial.SpatialVelocity_[AutoDiffXd]([0.0, 0.0, x], np.zeros(3))
    force = spatial.SpatialForce_[AutoDiffXd]([0.0, 0.0, 2.0 * x], np.zeros(3))
    assert velocity.dot(force).derivatives() == pytest.approx([4.0 * 0.3])


def test_joints_forces_and_elements_carry_gradients():
    plant, joint, spring, door, _ = hinged(MultibodyPlant_[AutoDiffXd])
    context = plant.CreateDefaultContext()
    joint.set_angle(context, AutoDiffXd(0.3, 2, 0)).set_angular_rate(context, AutoDiffXd(0.7, 2, 1))
    assert joint.get_angle(context).derivatives().tolist() == [1.0, 0.0]
    assert joint.GetOneVelocity(context).derivatives().tolist() == [0.0, 1.0]
    energy = spring.CalcPotentialEnergy(context)
    assert np.allclose([energy.value(), *energy.derivatives()], [0.04, 0.4, 0.0])

    forces = MultibodyForces_[AutoDiffXd](plant)
    joint.AddInOneForce(context, 0, AutoDiffXd(5.0, 2, 0), forces)
    joint.AddInDamping(context, forces)
    tau = plant.CalcGeneralizedForces(context, forces)[joint.velocity_start()]
    assert np.allclose([tau.value(), *tau.derivatives()], [4.65, 1.0, -0.5])

    step = 1e-6
    torque = door.CalcHingeTorque(joint.get_angle(context), joint.get_angular_rate(context))
    by_angle = (door.CalcHingeTorque(0.3 + step, 0.7) - door.CalcHingeTorque(0.3 - step, 0.7)) / (2 * step)
    assert torque.value() == pytest.approx(door.CalcHingeTorque(0.3, 0.7), rel=1e-14)
    assert torque.derivatives()[0] == pytest.approx(by_angle, rel=1e-7)


def test_planar_and_floating_joints_take_gradients_by_part():
    plant = MultibodyPlant_[AutoDiffXd](0.0)
    bodies = [plant.AddRigidBody(name, SpatialInertia.SolidSphereWithMass(1.0, 0.1)) for name in ("a", "b")]
    planar = plant.AddJoint(PlanarJoint("planar", plant.world_frame(), bodies[0].body_frame()))
    floating = plant.AddJoint(RpyFloatingJoint("floating", plant.world_frame(), bodies[1].body_frame()))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    x = AutoDiffXd(0.5, 1, 0)
    planar.set_pose(context, [x, 2.0 * x], 3.0 * x)
    assert planar.get_rotation(context).derivatives().tolist() == [3.0]
    floating.set_angles(context, [x, x, x])
    floating.SetTranslation(context, [x, 2.0 * x, 3.0 * x])
    gradient = np.array([number.derivatives()[0] for number in floating.GetPositions(context)])
    assert gradient.tolist() == [1.0, 1.0, 1.0, 1.0, 2.0, 3.0]


def test_plants_of_floats_refuse_gradients():
    plant, joint, *_ = hinged()
    context = plant.CreateDefaultContext()
    with pytest.raises(TypeError):
        joint.set_angle(context, AutoDiffXd(0.3, 2, 0))
    with pytest.raises(TypeError):
        MultibodyForces(plant).mutable_generalized_forces()[0] = AutoDiffXd(0.3, 2, 0)
    assert joint.get_angle(context) == 0.0
