"""Elements of a plant, under the names of pydrake.multibody.tree."""

from mbcli.multibody.tree.force_element import (
    ForceElement,
    PrismaticSpring,
    RevoluteSpring,
    UniformGravityFieldElement,
)
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
from mbcli.multibody.tree.joint import (
    BallRpyJoint,
    Joint,
    PlanarJoint,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RpyFloatingJoint,
    ScrewJoint,
    UniversalJoint,
    WeldJoint,
)
from mbcli.multibody.tree.joint_actuator import JointActuator
from mbcli.multibody.tree.multibody_forces import MultibodyForces
from mbcli.multibody.tree.rigid_body import RigidBody
from mbcli.multibody.tree.rotational_inertia import RotationalInertia
from mbcli.multibody.tree.scoped_name import ScopedName
from mbcli.multibody.tree.spatial_inertia import SpatialInertia
from mbcli.multibody.tree.unit_inertia import UnitInertia

__all__ = [
    "BallRpyJoint",
    "BodyIndex",
    "FixedOffsetFrame",
    "ForceElement",
    "ForceElementIndex",
    "Frame",
    "FrameIndex",
    "Joint",
    "JointActuator",
    "JointActuatorIndex",
    "JointIndex",
    "ModelInstanceIndex",
    "MultibodyForces",
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
