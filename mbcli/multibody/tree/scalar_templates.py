"""X_[T] of the elements of a plant and the classes around them."""

from mbcli.math.scalar_template import ScalarTemplate
from mbcli.math.value_template import ValueTemplate
from mbcli.multibody.fem.force_density import ForceDensityField, GravityForceField
from mbcli.multibody.inertia.rotational_inertia import RotationalInertia
from mbcli.multibody.inertia.spatial_inertia import SpatialInertia
from mbcli.multibody.inertia.unit_inertia import UnitInertia
from mbcli.multibody.math import scalar_templates  # noqa: F401  (results of inertias become of the type too)
from mbcli.multibody.tree.bushing import LinearBushingRollPitchYaw
from mbcli.multibody.tree.door_hinge import DoorHinge
from mbcli.multibody.tree.force_element import ForceElement
from mbcli.multibody.tree.frame import FixedOffsetFrame, Frame, RigidBodyFrame
from mbcli.multibody.tree.joint import Joint
from mbcli.multibody.tree.joint_actuator import JointActuator
from mbcli.multibody.tree.joint_spring import PrismaticSpring, RevoluteSpring
from mbcli.multibody.tree.joints import (
    BallQuaternionJoint,
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
from mbcli.multibody.tree.uniform_gravity import UniformGravityFieldElement

BallQuaternionJoint_ = ScalarTemplate(BallQuaternionJoint)
BallRpyJoint_ = ScalarTemplate(BallRpyJoint)
CurvilinearJoint_ = ScalarTemplate(CurvilinearJoint)
DoorHinge_ = ScalarTemplate(DoorHinge)
FixedOffsetFrame_ = ScalarTemplate(FixedOffsetFrame)
ForceDensityField_ = ScalarTemplate(ForceDensityField)
ForceElement_ = ScalarTemplate(ForceElement)
Frame_ = ScalarTemplate(Frame)
Joint_ = ScalarTemplate(Joint)
GravityForceField_ = ScalarTemplate(GravityForceField)
JointActuator_ = ScalarTemplate(JointActuator)
LinearBushingRollPitchYaw_ = ScalarTemplate(LinearBushingRollPitchYaw)
LinearSpringDamper_ = ScalarTemplate(LinearSpringDamper)
MultibodyForces_ = ScalarTemplate(MultibodyForces)
PlanarJoint_ = ScalarTemplate(PlanarJoint)
PrismaticJoint_ = ScalarTemplate(PrismaticJoint)
PrismaticSpring_ = ScalarTemplate(PrismaticSpring)
QuaternionFloatingJoint_ = ScalarTemplate(QuaternionFloatingJoint)
RevoluteJoint_ = ScalarTemplate(RevoluteJoint)
RevoluteSpring_ = ScalarTemplate(RevoluteSpring)
RigidBody_ = ScalarTemplate(RigidBody)
RigidBodyFrame_ = ScalarTemplate(RigidBodyFrame)
RotationalInertia_ = ValueTemplate(RotationalInertia)
RpyFloatingJoint_ = ScalarTemplate(RpyFloatingJoint)
ScrewJoint_ = ScalarTemplate(ScrewJoint)
SpatialInertia_ = ValueTemplate(SpatialInertia)
UniformGravityFieldElement_ = ScalarTemplate(UniformGravityFieldElement)
UnitInertia_ = ValueTemplate(UnitInertia)
UniversalJoint_ = ScalarTemplate(UniversalJoint)
WeldJoint_ = ScalarTemplate(WeldJoint)

# their former names
Body_ = RigidBody_
BodyFrame_ = RigidBodyFrame_
