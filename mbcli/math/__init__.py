"""Rigid transforms, rotations and quaternions, under the names of pydrake.math.

Quaternion and AngleAxis, which pydrake keeps in pydrake.common.eigen_geometry, are here too.
"""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.math.barycentric_mesh import BarycentricMesh as BarycentricMesh
    from mbcli.math.bspline_basis import BsplineBasis as BsplineBasis, KnotVectorType as KnotVectorType
    from mbcli.math.cross_product import VectorToSkewSymmetric as VectorToSkewSymmetric
    from mbcli.math.elementary import (
        abs as abs,
        acos as acos,
        arccos as arccos,
        arcsin as arcsin,
        arctan as arctan,
        arctan2 as arctan2,
        asin as asin,
        atan as atan,
        atan2 as atan2,
        ceil as ceil,
        cos as cos,
        cosh as cosh,
        exp as exp,
        floor as floor,
        inv as inv,
        isnan as isnan,
        log as log,
        logical_and as logical_and,
        logical_or as logical_or,
        max as max,
        min as min,
        pow as pow,
        sin as sin,
        sinh as sinh,
        sqrt as sqrt,
        tan as tan,
        tanh as tanh,
    )
    from mbcli.math.formulas import eq as eq, ge as ge, gt as gt, le as le, lt as lt, ne as ne
    from mbcli.math.matrices import (
        BalanceQuadraticForms as BalanceQuadraticForms,
        DecomposePositiveQuadraticForm as DecomposePositiveQuadraticForm,
        DecomposePSDmatrixIntoXtransposeTimesX as DecomposePSDmatrixIntoXtransposeTimesX,
        ExtractPrincipalSubmatrix as ExtractPrincipalSubmatrix,
        IsPositiveDefinite as IsPositiveDefinite,
        IsSymmetric as IsSymmetric,
        SoftOverMax as SoftOverMax,
        SoftOverMin as SoftOverMin,
        SoftUnderMax as SoftUnderMax,
        SoftUnderMin as SoftUnderMin,
        ToLowerTriangularColumnsFromMatrix as ToLowerTriangularColumnsFromMatrix,
        ToSymmetricMatrixFromLowerTriangularColumns as ToSymmetricMatrixFromLowerTriangularColumns,
        matmul as matmul,
    )
    from mbcli.math.matrix_equations import (
        ContinuousAlgebraicRiccatiEquation as ContinuousAlgebraicRiccatiEquation,
        DiscreteAlgebraicRiccatiEquation as DiscreteAlgebraicRiccatiEquation,
        RealContinuousLyapunovEquation as RealContinuousLyapunovEquation,
        RealDiscreteLyapunovEquation as RealDiscreteLyapunovEquation,
    )
    from mbcli.math.numerical_gradient import (
        ComputeNumericalGradient as ComputeNumericalGradient,
        NumericalGradientMethod as NumericalGradientMethod,
        NumericalGradientOption as NumericalGradientOption,
    )
    from mbcli.math.periodic_interval import wrap_to as wrap_to
    from mbcli.math.quaternion import (
        AngleAxis as AngleAxis,
        AreQuaternionsEqualForOrientation as AreQuaternionsEqualForOrientation,
        CalculateAngularVelocityExpressedInBFromQuaternionDt as CalculateAngularVelocityExpressedInBFromQuaternionDt,
        CalculateQuaternionDtConstraintViolation as CalculateQuaternionDtConstraintViolation,
        CalculateQuaternionDtFromAngularVelocityExpressedInB as CalculateQuaternionDtFromAngularVelocityExpressedInB,
        ClosestQuaternion as ClosestQuaternion,
        IsBothQuaternionAndQuaternionDtOK as IsBothQuaternionAndQuaternionDtOK,
        IsQuaternionValid as IsQuaternionValid,
        Quaternion as Quaternion,
        QuaternionToCanonicalForm as QuaternionToCanonicalForm,
        is_quaternion_in_canonical_form as is_quaternion_in_canonical_form,
    )
    from mbcli.math.random_rotation import (
        UniformlyRandomAngleAxis as UniformlyRandomAngleAxis,
        UniformlyRandomQuaternion as UniformlyRandomQuaternion,
        UniformlyRandomRotationMatrix as UniformlyRandomRotationMatrix,
        UniformlyRandomRPY as UniformlyRandomRPY,
    )
    from mbcli.math.rigid_transform import RigidTransform as RigidTransform
    from mbcli.math.roll_pitch_yaw import RollPitchYaw as RollPitchYaw
    from mbcli.math.rotation_matrix import RotationMatrix as RotationMatrix
    from mbcli.math.scalar_templates import (
        AngleAxis_ as AngleAxis_,
        Quaternion_ as Quaternion_,
        RigidTransform_ as RigidTransform_,
        RollPitchYaw_ as RollPitchYaw_,
        RotationMatrix_ as RotationMatrix_,
    )
