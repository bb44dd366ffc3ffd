"""Rigid transforms, rotations and quaternions, under the names of pydrake.math.

Quaternion and AngleAxis, which pydrake keeps in pydrake.common.eigen_geometry, are here too.
"""

from mbcli.math.cross_product import VectorToSkewSymmetric
from mbcli.math.periodic_interval import wrap_to
from mbcli.math.quaternion import (
    AngleAxis,
    AreQuaternionsEqualForOrientation,
    CalculateAngularVelocityExpressedInBFromQuaternionDt,
    CalculateQuaternionDtConstraintViolation,
    CalculateQuaternionDtFromAngularVelocityExpressedInB,
    ClosestQuaternion,
    IsBothQuaternionAndQuaternionDtOK,
    IsQuaternionValid,
    Quaternion,
    QuaternionToCanonicalForm,
    is_quaternion_in_canonical_form,
)
from mbcli.math.random_rotation import (
    UniformlyRandomAngleAxis,
    UniformlyRandomQuaternion,
    UniformlyRandomRotationMatrix,
    UniformlyRandomRPY,
)
from mbcli.math.rigid_transform import RigidTransform
from mbcli.math.roll_pitch_yaw import RollPitchYaw
from mbcli.math.rotation_matrix import RotationMatrix

__all__ = [
    "AngleAxis",
    "AreQuaternionsEqualForOrientation",
    "CalculateAngularVelocityExpressedInBFromQuaternionDt",
    "CalculateQuaternionDtConstraintViolation",
    "CalculateQuaternionDtFromAngularVelocityExpressedInB",
    "ClosestQuaternion",
    "IsBothQuaternionAndQuaternionDtOK",
    "IsQuaternionValid",
    "Quaternion",
    "QuaternionToCanonicalForm",
    "RigidTransform",
    "RollPitchYaw",
    "RotationMatrix",
    "UniformlyRandomAngleAxis",
    "UniformlyRandomQuaternion",
    "UniformlyRandomRPY",
    "UniformlyRandomRotationMatrix",
    "VectorToSkewSymmetric",
    "is_quaternion_in_canonical_form",
    "wrap_to",
]
