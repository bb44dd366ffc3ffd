"""X_[T] of transforms and rotations."""

from mbcli.common.scalar_template import ScalarTemplate
from mbcli.math.quaternion import AngleAxis, Quaternion
from mbcli.math.rigid_transform import RigidTransform
from mbcli.math.roll_pitch_yaw import RollPitchYaw
from mbcli.math.rotation_matrix import RotationMatrix

AngleAxis_ = ScalarTemplate(AngleAxis)
Quaternion_ = ScalarTemplate(Quaternion)
RigidTransform_ = ScalarTemplate(RigidTransform)
RollPitchYaw_ = ScalarTemplate(RollPitchYaw)
RotationMatrix_ = ScalarTemplate(RotationMatrix)
