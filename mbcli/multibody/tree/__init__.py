"""Elements of a plant, under the names of pydrake.multibody.tree."""

from mbcli.multibody.tree.bushing import LinearBushingRollPitchYaw
from mbcli.multibody.tree.door_hinge import DoorHinge, DoorHingeConfig
from mbcli.multibody.tree.force_element import ForceElement
from mbcli.multibody.tree.frame import FixedOffsetFrame, Frame, RigidBodyFrame
from mbcli.multibody.tree.index import (
    BodyIndex,
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
from mbcli.multibody.tree.rotational_inertia import RotationalInertia
from mbcli.multibody.tree.scoped_name import ScopedName
from mbcli.multibody.tree.spatial_inertia import SpatialInertia
from mbcli.multibody.tree.uniform_gravity import UniformGravityFieldElement
from mbcli.multibody.tree.unit_inertia import UnitInertia

__all__ = [
    "BallRpyJoint",
    "BodyIndex",
    "CurvilinearJoint",
    "DoorHinge",
    "DoorHingeConfig",
    "FixedOffsetFrame",
    "ForceElement",
    "ForceElementIndex",
    "Frame",
    "FrameIndex",
    "JacobianWrtVariable",
    "Joint",
    "JointActuator",
    "JointActuatorIndex",
    "JointIndex",
    "LinearBushingRollPitchYaw",
    "LinearSpringDamper",
    "ModelInstanceIndex",
    "MultibodyForces",
    "PdControllerGains",
    "PlanarJoint",
    "PrismaticJoint",
    "PrismaticSpring",
    "QuaternionFloatingJoint",
    "RevoluteJoint",
    "RevoluteSpring",
    "RigidBody",
    "RigidBodyFrame",
    "RotationalInertia",
    "RpyFloatingJoint",
    "ScopedName",
    "ScrewJoint",
    "SpatialInertia",
    "UniformGravityFieldElement",
    "UnitInertia",
    "UniversalJoint",
    "WeldJoint",
    "default_model_instance",
    "world_frame_index",
    "world_index",
    "world_model_instance",
]
