"""X_[T] of transforms and rotations."""

from mbcli.math.quaternion import AngleAxis, Quaternion
from mbcli.math.rigid_transform import RigidTransform
from mbcli.math.roll_pitch_yaw import RollPitchYaw
from mbcli.math.rotation_matrix import RotationMatrix
from mbcli.math.value_template import ValueTemplate

AngleAxis_ = ValueTemplate(AngleAxis)
Quaternion_ = ValueTemplate(Quaternion)
RigidTransform_ = ValueTemplate(RigidTransform)
RollPitchYaw_ = ValueTemplate(RollPitchYaw)
RotationMatrix_ = ValueTemplate(RotationMatrix)
