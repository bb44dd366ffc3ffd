"""Rigid transforms, rotations and quaternions, under the names of pydrake.math.

Quaternion and AngleAxis, which pydrake keeps in pydrake.common.eigen_geometry, are here too.
"""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.math.bspline_basis import BsplineBasis, KnotVectorType
    from mbcli.math.cross_product import VectorToSkewSymmetric
    from mbcli.math.formulas import eq, ge, gt, le, lt
    from mbcli.math.matrix_equations import (
        ContinuousAlgebraicRiccatiEquation,
        DiscreteAlgebraicRiccatiEquation,
        RealContinuousLyapunovEquation,
        RealDiscreteLyapunovEquation,
    )
    from mbcli.math.numerical_gradient import (
        ComputeNumericalGradient,
        NumericalGradientMethod,
        NumericalGradientOption,
    )
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
    from mbcli.math.scalar_templates import AngleAxis_, Quaternion_, RigidTransform_, RollPitchYaw_, RotationMatrix_

__all__ = [
    "AngleAxis",
    "AngleAxis_",
    "AreQuaternionsEqualForOrientation",
    "BsplineBasis",
    "CalculateAngularVelocityExpressedInBFromQuaternionDt",
    "CalculateQuaternionDtConstraintViolation",
    "CalculateQuaternionDtFromAngularVelocityExpressedInB",
    "ClosestQuaternion",
    "ComputeNumericalGradient",
    "IsBothQuaternionAndQuaternionDtOK",
    "IsQuaternionValid",
    "KnotVectorType",
    "NumericalGradientMethod",
    "NumericalGradientOption",
    "Quaternion",
    "Quaternion_",
    "QuaternionToCanonicalForm",
    "RigidTransform",
    "RigidTransform_",
    "RollPitchYaw",
    "RollPitchYaw_",
    "RotationMatrix",
    "RotationMatrix_",
    "UniformlyRandomAngleAxis",
    "UniformlyRandomQuaternion",
    "UniformlyRandomRPY",
    "UniformlyRandomRotationMatrix",
    "VectorToSkewSymmetric",
    "is_quaternion_in_canonical_form",
    "wrap_to",
    "eq",
    "ge",
    "gt",
    "le",
    "lt",
    "ContinuousAlgebraicRiccatiEquation",
    "DiscreteAlgebraicRiccatiEquation",
    "RealContinuousLyapunovEquation",
    "RealDiscreteLyapunovEquation",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "bspline_basis": ("BsplineBasis", "KnotVectorType"),
        "matrix_equations": (
            "ContinuousAlgebraicRiccatiEquation",
            "DiscreteAlgebraicRiccatiEquation",
            "RealContinuousLyapunovEquation",
            "RealDiscreteLyapunovEquation",
        ),
        "formulas": ("eq", "ge", "gt", "le", "lt"),
        "numerical_gradient": ("ComputeNumericalGradient", "NumericalGradientMethod", "NumericalGradientOption"),
        "cross_product": ("VectorToSkewSymmetric",),
        "periodic_interval": ("wrap_to",),
        "quaternion": (
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
            "is_quaternion_in_canonical_form",
        ),
        "random_rotation": (
            "UniformlyRandomAngleAxis",
            "UniformlyRandomQuaternion",
            "UniformlyRandomRotationMatrix",
            "UniformlyRandomRPY",
        ),
        "rigid_transform": ("RigidTransform",),
        "roll_pitch_yaw": ("RollPitchYaw",),
        "rotation_matrix": ("RotationMatrix",),
        "scalar_templates": ("AngleAxis_", "Quaternion_", "RigidTransform_", "RollPitchYaw_", "RotationMatrix_"),
    },
)
