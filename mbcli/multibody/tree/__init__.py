"""Elements of a plant, under the names of pydrake.multibody.tree."""

from mbcli.multibody.fem.force_density import ForceDensityField, GravityForceField
from mbcli.multibody.inertia.rotational_inertia import RotationalInertia
from mbcli.multibody.inertia.spatial_inertia import SpatialInertia
from mbcli.multibody.inertia.unit_inertia import UnitInertia
from mbcli.multibody.tree.bushing import LinearBushingRollPitchYaw
from mbcli.multibody.tree.constraint_id import MultibodyConstraintId
from mbcli.multibody.tree.deformable_body import DeformableBody, DeformableBodyId
from mbcli.multibody.tree.door_hinge import DoorHinge, DoorHingeConfig
from mbcli.multibody.tree.force_element import ForceElement
from mbcli.multibody.tree.frame import FixedOffsetFrame, Frame, RigidBodyFrame
from mbcli.multibody.tree.index import (
    BodyIndex,
    DeformableBodyIndex,
    ForceElementIndex,
    FrameIndex,
    JointActuatorIndex,
    JointIndex,
    ModelInstanceIndex,
    default_model_instance,
    world_frame_index,
    world_index,
    world_model_instance,
)
from mbcli.multibody.tree.jacobian_wrt_variable import JacobianWrtVariable
from mbcli.multibody.tree.joint import Joint
from mbcli.multibody.tree.joint_actuator import JointActuator, PdControllerGains
from mbcli.multibody.tree.joint_spring import PrismaticSpring, RevoluteSpring
from mbcli.multibody.tree.joints import (
    BallRpyJoint,
    CurvilinearJoint,
    PlanarJoint,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RpyFloatingJoint,
    ScrewJoint,
    UniversalJoint,
    WeldJoint,
)
from mbcli.multibody.tree.linear_spring_damper import LinearSpringDamper
from mbcli.multibody.tree.multibody_forces import MultibodyForces
from mbcli.multibody.tree.rigid_body import RigidBody
from mbcli.multibody.tree.scalar_templates import (
    BallRpyJoint_,
    Body_,
    BodyFrame_,
    CurvilinearJoint_,
    DoorHinge_,
    FixedOffsetFrame_,
    ForceElement_,
    Frame_,
    Joint_,
    JointActuator_,
    LinearBushingRollPitchYaw_,
    LinearSpringDamper_,
    MultibodyForces_,
    PlanarJoint_,
    PrismaticJoint_,
    PrismaticSpring_,
    QuaternionFloatingJoint_,
    RevoluteJoint_,
    RevoluteSpring_,
    RigidBody_,
    RigidBodyFrame_,
    RotationalInertia_,
    RpyFloatingJoint_,
    ScrewJoint_,
    SpatialInertia_,
    UniformGravityFieldElement_,
    UnitInertia_,
    UniversalJoint_,
    WeldJoint_,
)
from mbcli.multibody.tree.scoped_name import ScopedName
from mbcli.multibody.tree.shape_inertia import CalcSpatialInertia
from mbcli.multibody.tree.uniform_gravity import UniformGravityFieldElement

# former names
Body = RigidBody
BodyFrame = RigidBodyFrame

__all__ = [
    "BallRpyJoint",
    "BallRpyJoint_",
    "Body",
    "BodyFrame",
    "BodyFrame_",
    "BodyIndex",
    "Body_",
    "CalcSpatialInertia",
    "CurvilinearJoint",
    "CurvilinearJoint_",
    "DoorHinge",
    "DoorHingeConfig",
    "DoorHinge_",
    "FixedOffsetFrame",
    "FixedOffsetFrame_",
    "ForceElement",
    "ForceElementIndex",
    "ForceElement_",
    "Frame",
    "FrameIndex",
    "Frame_",
    "JacobianWrtVariable",
    "Joint",
    "JointActuator",
    "JointActuatorIndex",
    "JointActuator_",
    "JointIndex",
    "Joint_",
    "LinearBushingRollPitchYaw",
    "LinearBushingRollPitchYaw_",
    "LinearSpringDamper",
    "LinearSpringDamper_",
    "ModelInstanceIndex",
    "MultibodyConstraintId",
    "MultibodyForces",
    "MultibodyForces_",
    "PdControllerGains",
    "PlanarJoint",
    "PlanarJoint_",
    "PrismaticJoint",
    "PrismaticJoint_",
    "PrismaticSpring",
    "PrismaticSpring_",
    "QuaternionFloatingJoint",
    "QuaternionFloatingJoint_",
    "RevoluteJoint",
    "RevoluteJoint_",
    "RevoluteSpring",
    "RevoluteSpring_",
    "RigidBody",
    "RigidBodyFrame",
    "RigidBodyFrame_",
    "RigidBody_",
    "RotationalInertia",
    "RotationalInertia_",
    "RpyFloatingJoint",
    "RpyFloatingJoint_",
    "ScopedName",
    "ScrewJoint",
    "ScrewJoint_",
    "SpatialInertia",
    "SpatialInertia_",
    "UniformGravityFieldElement",
    "UniformGravityFieldElement_",
    "UnitInertia",
    "UnitInertia_",
    "UniversalJoint",
    "UniversalJoint_",
    "WeldJoint",
    "WeldJoint_",
    "default_model_instance",
    "world_frame_index",
    "world_index",
    "world_model_instance",
    "DeformableBody",
    "DeformableBodyId",
    "DeformableBodyIndex",
    "ForceDensityField",
    "GravityForceField",
]
