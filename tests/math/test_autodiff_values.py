"""X_[AutoDiffXd] of values: all numbers in and out are AutoDiffXd, with the gradients of finite differences."""

from types import SimpleNamespace

import numpy as np
import pytest

from mbcli import math as transforms
from mbcli.autodiffutils import AutoDiffXd, ExtractGradient, ExtractValue, InitializeAutoDiff
from mbcli.errors import ModelError, NumericalError
from mbcli.math import (
    CalculateAngularVelocityExpressedInBFromQuaternionDt,
    CalculateQuaternionDtConstraintViolation,
    CalculateQuaternionDtFromAngularVelocityExpressedInB,
    ClosestQuaternion,
    QuaternionToCanonicalForm,
)
from mbcli.multibody import math as spatial, tree
from mbcli.multibody.plant import MultibodyPlant

NAMES = {
    transforms: ("AngleAxis", "Quaternion", "RigidTransform", "RollPitchYaw", "RotationMatrix"),
    spatial: ("SpatialAcceleration", "SpatialForce", "SpatialMomentum", "SpatialVelocity"),
    tree: ("RotationalInertia", "SpatialInertia", "UnitInertia"),
}


def classes(scalar, modules=tuple(NAMES)):
    found = {n: getattr(module, f"{n}_")[scalar] for module in modules for n in NAMES[module]}
    return SimpleNamespace(**found)


def operands(K, x):
    """One object of each kind of class as smooth functions of 12 numbers near 1."""
    R = K.RotationMatrix(K.RollPitchYaw(x[0], 0.3 * x[1], -0.4 * x[2]))
    q = K.RollPitchYaw(0.2 * x[3], x[1], 0.7).ToQuaternion()
    a = K.AngleAxis(0.8 * x[4], q.rotation()[:, 1])
    X, Y = K.RigidTransform(R, x[3:6]), K.RigidTransform(a, [x[6], 2.0, x[7] * x[7]])
    V, A = K.SpatialVelocity(x[:3], x[3:6]), K.SpatialAcceleration(x[6:9], x[2:5])
    F, L = K.SpatialForce(x[9:], x[1:4]), K.SpatialMomentum(x[4:7], x[9:])
    G = K.UnitInertia.SolidBox(x[0], x[1], 1.5 * x[2])
    I = K.RotationalInertia(2.0 * x[3], 2.2 * x[4], 2.1 * x[5], 0.1 * x[6], 0.2 * x[7], 0.05)
    M = K.SpatialInertia(x[8], 0.2 * x[:3], G.ShiftFromCenterOfMass(0.2 * x[:3]))
    return SimpleNamespace(
        R=R, q=q, a=a, rpy=K.RollPitchYaw(x[:3]), X=X, Y=Y, V=V, A=A, F=F, L=L, G=G, I=I, M=M, p=x[9:]
    )


def changed(value, name, *arguments):
    """The object after a call that changes it."""
    getattr(value, name)(*arguments)
    return value


AXIS = np.array([0.0, 0.6, 0.8])
CASES = {
    "Quaternion": [
        lambda K, o, x: o.q,
        lambda K, o, x: K.Quaternion(),
        lambda K, o, x: K.Quaternion.Identity(),
        lambda K, o, x: K.Quaternion([1.0, 0.0, 0.0, 0.0]),
        lambda K, o, x: K.Quaternion(1.0, 0.0, 0.0, 0.0),
        lambda K, o, x: K.Quaternion(rotation=o.R.matrix()),
        lambda K, o, x: (o.q.w(), o.q.x(), o.q.y(), o.q.z(), o.q.wxyz(), o.q.xyz()),
        lambda K, o, x: (o.q.rotation(), o.q @ o.q, o.q @ o.p, o.q.conjugate(), o.q.inverse()),
        lambda K, o, x: o.q.slerp(0.3 * x[11], o.R.ToQuaternion()),
        lambda K, o, x: o.q.slerp(0.3, K.Quaternion(-1.0 * o.R.ToQuaternion().wxyz())),
        lambda K, o, x: o.q.slerp(0.3 * x[11], o.q),
        lambda K, o, x: changed(o.q, "set_wxyz", 1.0, 0.0, 0.0, 0.0),
        lambda K, o, x: changed(o.q, "set_rotation", np.eye(3)),
        lambda K, o, x: QuaternionToCanonicalForm(K.Quaternion(-o.q.wxyz())),
        lambda K, o, x: ClosestQuaternion(o.R.ToQuaternion(), o.q),
        lambda K, o, x: CalculateQuaternionDtFromAngularVelocityExpressedInB(o.q, o.p),
        lambda K, o, x: CalculateAngularVelocityExpressedInBFromQuaternionDt(o.q, x[:4]),
        lambda K, o, x: CalculateQuaternionDtConstraintViolation(o.q, x[:4]),
    ],
    "AngleAxis": [
        lambda K, o, x: o.a,
        lambda K, o, x: (K.AngleAxis(), K.AngleAxis.Identity(), K.AngleAxis(0.3, AXIS)),
        lambda K, o, x: (o.a.angle(), o.a.axis(), o.a.rotation(), o.a.quaternion(), o.a.inverse()),
        lambda K, o, x: (o.a @ o.R.ToAngleAxis(), K.AngleAxis(quaternion=o.q), K.AngleAxis(rotation=o.R.matrix())),
        lambda K, o, x: changed(o.a, "set_angle", 0.3),
        lambda K, o, x: changed(o.a, "set_axis", AXIS),
        lambda K, o, x: changed(o.a, "set_quaternion", K.Quaternion(-o.q.wxyz())),
        lambda K, o, x: changed(o.a, "set_rotation", np.eye(3)),
    ],
    "RollPitchYaw": [
        lambda K, o, x: (K.RollPitchYaw([0.1, 0.2, 0.3]), K.RollPitchYaw(o.R), K.RollPitchYaw(quaternion=o.q)),
        lambda K, o, x: K.RollPitchYaw(matrix=o.R.matrix()),
        lambda K, o, x: (o.rpy.vector(), o.rpy.roll_angle(), o.rpy.pitch_angle(), o.rpy.yaw_angle()),
        lambda K, o, x: (o.rpy.ToRotationMatrix(), o.rpy.ToQuaternion()),
        lambda K, o, x: (o.rpy.CalcRotationMatrixDt(o.p), o.rpy.CalcRotationMatrixDt([1.0, 2.0, 3.0])),
        lambda K, o, x: o.rpy.CalcAngularVelocityInParentFromRpyDt([1.0, 2.0, 3.0]),
        lambda K, o, x: o.rpy.CalcAngularVelocityInChildFromRpyDt([1.0, 2.0, 3.0]),
        lambda K, o, x: o.rpy.CalcRpyDtFromAngularVelocityInParent([1.0, 2.0, 3.0]),
        lambda K, o, x: o.rpy.CalcRpyDtFromAngularVelocityInChild(o.p),
        lambda K, o, x: o.rpy.CalcRpyDDtFromRpyDtAndAngularAccelInParent(o.p, x[3:6]),
        lambda K, o, x: o.rpy.CalcRpyDDtFromAngularAccelInChild(o.p, x[3:6]),
        lambda K, o, x: (o.rpy.set([0.1, 0.2, 0.3]), changed(o.rpy, "set_yaw_angle", 1.0)),
        lambda K, o, x: (changed(o.rpy, "set_roll_angle", 1.0), changed(o.rpy, "set_pitch_angle", 1.0)),
        lambda K, o, x: changed(o.rpy, "SetFromQuaternion", o.q),
        lambda K, o, x: changed(o.rpy, "SetFromRotationMatrix", o.R),
    ],
    "RotationMatrix": [
        lambda K, o, x: (o.R, K.RotationMatrix(), K.RotationMatrix(np.eye(3)), K.RotationMatrix.Identity()),
        lambda K, o, x: (K.RotationMatrix(o.q), K.RotationMatrix(o.a), K.RotationMatrix.MakeUnchecked(np.eye(3))),
        lambda K, o, x: (K.RotationMatrix.MakeXRotation(x[0]), K.RotationMatrix.MakeYRotation(x[1])),
        lambda K, o, x: K.RotationMatrix.MakeZRotation(x[2]),
        lambda K, o, x: K.RotationMatrix.MakeXRotation(0.3),
        lambda K, o, x: [K.RotationMatrix.MakeFromOneVector(np.array([1.1, 1.0, 0.8]) * o.p, k) for k in range(3)],
        lambda K, o, x: K.RotationMatrix.MakeFromOrthonormalColumns(*o.R.matrix().T),
        lambda K, o, x: K.RotationMatrix.MakeFromOrthonormalRows(*o.R.matrix()),
        lambda K, o, x: K.RotationMatrix.ProjectToRotationMatrix(o.R.matrix() + 0.2 * np.diag(o.p) + 0.1 * x[0]),
        lambda K, o, x: (o.R.matrix(), o.R.row(1), o.R.col(2), o.R.inverse(), o.R.transpose()),
        lambda K, o, x: (o.R @ o.Y.rotation(), o.R @ o.p, o.R @ np.eye(3), o.R.InvertAndCompose(o.Y.rotation())),
        lambda K, o, x: (o.R.multiply(v_B=o.p), o.R.ToQuaternion(), o.R.ToAngleAxis(), o.R.ToRollPitchYaw()),
        lambda K, o, x: (o.R.GetMaximumAbsoluteDifference(o.Y.rotation()), changed(o.R, "set", np.eye(3))),
    ],
    "RigidTransform": [
        lambda K, o, x: (o.X, o.Y, K.RigidTransform(), K.RigidTransform.Identity(), K.RigidTransform(o.p)),
        lambda K, o, x: (
            K.RigidTransform(np.eye(4)),
            K.RigidTransform(o.R),
            K.RigidTransform(pose=o.X.GetAsMatrix34()),
        ),
        lambda K, o, x: (K.RigidTransform(o.rpy, o.p), K.RigidTransform(o.q, np.zeros(3)), K.RigidTransform(o.X)),
        lambda K, o, x: K.RigidTransform.MakeUnchecked(np.eye(3, 4)),
        lambda K, o, x: (o.X.rotation(), o.X.translation(), o.X.GetAsMatrix4(), o.X.GetAsMatrix34(), o.X.inverse()),
        lambda K, o, x: (o.X @ o.Y, o.X @ o.p, o.X @ [1.0, 2.0, 3.0, 1.0], o.X @ np.eye(3), o.X.InvertAndCompose(o.Y)),
        lambda K, o, x: (o.X @ transforms.RigidTransform([1.0, 2.0, 3.0]), transforms.RigidTransform() @ o.X),
        lambda K, o, x: o.X.GetMaximumAbsoluteDifference(o.Y),
        lambda K, o, x: o.X.GetMaximumAbsoluteTranslationDifference(o.Y),
        lambda K, o, x: (changed(o.X, "set_translation", [1.0, 2.0, 3.0]), changed(o.Y, "set_rotation", o.q)),
        lambda K, o, x: (changed(o.X, "set", transforms.RotationMatrix(), np.ones(3)), o.Y.SetIdentity()),
    ],
    "SpatialVelocity": [
        lambda K, o, x: (o.V, K.SpatialVelocity(V=np.ones(6)), K.SpatialVelocity.Zero(), o.V.get_coeffs()),
        lambda K, o, x: (o.V.rotational(), o.V.translational(), o.V.Rotate(o.R), o.V.Shift(o.p), o.V.Shift(np.ones(3))),
        lambda K, o, x: (o.V + o.V, o.V - 2.0 * o.V, -o.V, o.V * x[0], o.V.dot(o.F), o.V @ o.L),
        lambda K, o, x: (o.V.ShiftInPlace(o.p), o.V.ComposeWithMovingFrameVelocity(o.p, o.V)),
        lambda K, o, x: (o.V + spatial.SpatialVelocity(np.ones(6)), spatial.SpatialVelocity(np.ones(6)) + o.V),
        lambda K, o, x: changed(o.V, "SetZero"),
        lambda K, o, x: o.V.__imul__(x[3]).__iadd__(o.V).__isub__(K.SpatialVelocity(x[:6])),
    ],
    "SpatialAcceleration": [
        lambda K, o, x: (o.A, o.A.Rotate(o.R), o.A + o.A, o.A.Shift(o.p, x[:3]), o.A.ShiftInPlace(o.p, x[:3])),
        lambda K, o, x: o.A.ShiftWithZeroAngularVelocity(o.p),
        lambda K, o, x: o.A.ComposeWithMovingFrameAcceleration(o.p, x[:3], o.V, o.A),
    ],
    "SpatialForce": [lambda K, o, x: (o.F, o.F.Shift(o.p), o.F.ShiftInPlace(o.p), o.F.dot(o.V), o.F @ o.V, -o.F)],
    "SpatialMomentum": [lambda K, o, x: (o.L, o.L.Shift(o.p), o.L.ShiftInPlace(o.p), o.L.dot(o.V), o.L * 2.0)],
    "RotationalInertia": [
        lambda K, o, x: (o.I, K.RotationalInertia(1.0, 1.0, 1.0), K.RotationalInertia(x[0], o.p)),
        lambda K, o, x: (K.RotationalInertia.TriaxiallySymmetric(x[0]), K.RotationalInertia.TriaxiallySymmetric(1.0)),
        lambda K, o, x: K.RotationalInertia.MakeFromMomentsAndProductsOfInertia(x[0], x[1], x[2], 0.0, 0.0, 0.1),
        lambda K, o, x: (o.I.get_moments(), o.I.get_products(), o.I.Trace(), o.I[0, 1], o.I.CopyToFullMatrix3()),
        lambda K, o, x: (
            o.I.CalcMaximumPossibleMomentOfInertia(),
            o.I.ReExpress(o.R),
            o.I * o.p,
            3.0 * o.I,
            o.I / x[0],
        ),
        lambda K, o, x: (o.I.ShiftFromCenterOfMass(x[0], o.p), o.I.ShiftToCenterOfMass(0.1, 0.5 * o.p)),
        lambda K, o, x: o.I.ShiftToThenAwayFromCenterOfMass(0.1 * x[0], 0.3 * o.p, x[:3]),
        lambda K, o, x: (changed(o.I, "ReExpressInPlace", o.R), o.I + o.I, o.I - 0.3 * o.I),
        lambda K, o, x: changed(o.I, "ShiftFromCenterOfMassInPlace", x[0], o.p),
        lambda K, o, x: changed(o.I, "ShiftToCenterOfMassInPlace", 0.1, 0.5 * o.p),
        lambda K, o, x: changed(o.I, "ShiftToThenAwayFromCenterOfMassInPlace", 0.1, 0.3 * o.p, x[:3]),
        lambda K, o, x: o.I.__iadd__(o.I).__imul__(x[0]).__itruediv__(x[1]),
        lambda K, o, x: changed(o.I, "SetZero"),
    ],
    "UnitInertia": [
        lambda K, o, x: (o.G, K.UnitInertia(1.0, 1.0, 1.0), K.UnitInertia(o.I), o.G.ShiftFromCenterOfMass(o.p)),
        lambda K, o, x: (
            o.G.ShiftToCenterOfMass(o.p),
            K.UnitInertia.PointMass(o.p),
            K.UnitInertia.PointMass(np.ones(3)),
        ),
        lambda K, o, x: (
            K.UnitInertia.SolidSphere(x[0]),
            K.UnitInertia.HollowSphere(x[0]),
            K.UnitInertia.SolidCube(x[0]),
        ),
        lambda K, o, x: (K.UnitInertia.SolidEllipsoid(*x[:3]), K.UnitInertia.SolidBox(1.0, 2.0, 3.0)),
        lambda K, o, x: (K.UnitInertia.SolidCylinder(x[0], x[1], AXIS), K.UnitInertia.SolidCapsule(x[0], x[1], AXIS)),
        lambda K, o, x: K.UnitInertia.SolidCylinderAboutEnd(x[0], x[1], o.R.col(0)),
        lambda K, o, x: (K.UnitInertia.ThinRod(x[0], AXIS), K.UnitInertia.StraightLine(x[0], AXIS)),
        lambda K, o, x: K.UnitInertia.AxiallySymmetric(x[0], x[1], AXIS),
        lambda K, o, x: K.UnitInertia.SolidTetrahedronAboutPoint(x[:3], x[3:6], [1.0, 2.0, 0.0], o.p),
        lambda K, o, x: K.UnitInertia.SolidTetrahedronAboutVertex(x[:3], [1.0, 2.0, 0.0], o.p),
        lambda K, o, x: K.UnitInertia().SetFromRotationalInertia(o.I, x[8]),
        lambda K, o, x: changed(o.G, "ShiftFromCenterOfMassInPlace", o.p),
        lambda K, o, x: changed(o.G, "ShiftToCenterOfMassInPlace", o.p),
        lambda K, o, x: (o.G.ReExpress(o.R), 2.0 * o.G, o.G + o.G),
    ],
    "SpatialInertia": [
        lambda K, o, x: (o.M, K.SpatialInertia.Zero(), o.M.get_mass(), o.M.get_com(), o.M.get_unit_inertia()),
        lambda K, o, x: K.SpatialInertia(2.0, np.zeros(3), tree.UnitInertia.SolidCube(1.0)),
        lambda K, o, x: K.SpatialInertia.MakeFromCentralInertia(x[8], o.p, o.I),
        lambda K, o, x: (o.M.CalcComMoment(), o.M.CalcRotationalInertia(), o.M.CopyToFullMatrix6(), o.M.ReExpress(o.R)),
        lambda K, o, x: (o.M.Shift(o.p), o.M * o.V, o.M * o.A, o.M * np.ones((6, 2))),
        lambda K, o, x: o.M.CalcMinimumPhysicalLength(),
        lambda K, o, x: o.M.__iadd__(K.SpatialInertia.PointMass(x[9], x[:3])),
        lambda K, o, x: (changed(o.M, "ShiftInPlace", o.p), changed(o.M, "ReExpressInPlace", o.R)),
        lambda K, o, x: K.SpatialInertia.SolidBoxWithDensity(*x[:4]),
        lambda K, o, x: K.SpatialInertia.SolidCubeWithDensity(*x[:2]),
        lambda K, o, x: K.SpatialInertia.SolidCapsuleWithDensity(*x[:3], AXIS),
        lambda K, o, x: K.SpatialInertia.SolidCylinderWithDensity(*x[:3], AXIS),
        lambda K, o, x: K.SpatialInertia.SolidCylinderWithDensityAboutEnd(*x[:3], AXIS),
        lambda K, o, x: K.SpatialInertia.ThinRodWithMass(*x[:2], AXIS),
        lambda K, o, x: K.SpatialInertia.ThinRodWithMassAboutEnd(*x[:2], AXIS),
        lambda K, o, x: K.SpatialInertia.SolidEllipsoidWithDensity(*x[:4]),
        lambda K, o, x: K.SpatialInertia.SolidSphereWithDensity(*x[:2]),
        lambda K, o, x: K.SpatialInertia.HollowSphereWithDensity(*x[:2]),
        lambda K, o, x: K.SpatialInertia.SolidTetrahedronAboutPointWithDensity(
            x[8], x[:3], x[3:6], [1.0, 2.0, 0.0], o.p
        ),
        lambda K, o, x: K.SpatialInertia.SolidTetrahedronAboutVertexWithDensity(1.0, x[:3], [1.0, 2.0, 0.0], o.p),
    ],
}
ALL = [pytest.param(case, id=f"{name}-{k}") for name, cases in CASES.items() for k, case in enumerate(cases)]


def numbers(value):
    """All numbers that a result gives, in a flat list, asked of it by its public functions."""
    if isinstance(value, (tuple, list)):
        return [x for part in value for x in numbers(part)]
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    for kinds, parts in PARTS.items():
        if isinstance(value, kinds):
            return [x for part in parts for x in numbers(getattr(value, part)())]
    return [value]


PARTS = {
    transforms.Quaternion: ("wxyz",),
    transforms.AngleAxis: ("angle", "axis"),
    transforms.RollPitchYaw: ("vector",),
    transforms.RotationMatrix: ("matrix",),
    transforms.RigidTransform: ("rotation", "translation"),
    spatial.spatial_vector.SpatialVector: ("get_coeffs",),
    tree.RotationalInertia: ("CopyToFullMatrix3",),
    tree.SpatialInertia: ("get_mass", "get_com", "get_unit_inertia"),
}
POINT = 1.0 + 0.2 * np.random.default_rng(7).uniform(-1.0, 1.0, 12)


def evaluate(case, K, x):
    return numbers(case(K, operands(K, x), x))


@pytest.mark.parametrize("case", ALL)
def test_all_numbers_are_dual_and_have_the_gradients_of_finite_differences(case):
    floats, h = classes(float), 1e-6
    result = evaluate(case, classes(AutoDiffXd), InitializeAutoDiff(POINT).ravel())
    assert {type(x) for x in result} == {AutoDiffXd}
    value = np.array(evaluate(case, floats, POINT))
    np.testing.assert_allclose(ExtractValue(result).ravel(), value, rtol=1e-13, atol=1e-14)
    pairs = [[evaluate(case, floats, POINT + s * h * e) for s in (1.0, -1.0)] for e in np.eye(12)]
    expected = np.array([np.subtract(*pair) / (2.0 * h) for pair in pairs]).T
    np.testing.assert_allclose(ExtractGradient(result, 12), expected, rtol=1e-7, atol=2e-8)


def test_every_public_function_is_tried():
    """Those of shapes with a mass are called by those with a density."""
    import pathlib

    text = pathlib.Path(__file__).read_text()
    for name, cases in CASES.items():
        assert cases
        kind = getattr(classes(float), name)
        public = {n for n in dir(kind) if not n.startswith("_") and callable(getattr(kind, n))}  # not the arrays
        public -= {"cast", "GetAsIsometry3", "SetFromIsometry3"}  # tests/math/test_scalar_functions.py
        missing = {n for n in public if n not in text and n.replace("WithMass", "WithDensity") not in text}
        assert not missing, (name, missing)


def test_conditions_are_true_or_false_and_tolerances_are_floats():
    K, x = classes(AutoDiffXd), InitializeAutoDiff(POINT).ravel()
    o = operands(K, x)
    truths = (
        o.R.IsValid(),
        K.RotationMatrix().IsExactlyIdentity(),
        K.RotationMatrix().IsNearlyIdentity(),
        o.R.IsExactlyEqualTo(o.R),
        o.R.IsNearlyEqualTo(o.R, 0.0),
        K.RigidTransform().IsExactlyIdentity(),
        K.RigidTransform().IsNearlyIdentity(0.0),
        o.X.IsExactlyEqualTo(o.X),
        o.X.IsNearlyEqualTo(o.X, 0.0),
        o.rpy.IsNearlyEqualTo(o.rpy, 0.0),
        o.rpy.IsNearlySameOrientation(o.rpy, 0.0),
        o.rpy.IsRollPitchYawInCanonicalRange(),
        not o.rpy.DoesPitchAngleViolateGimbalLockTolerance(),
        not o.rpy.DoesCosPitchAngleViolateGimbalLockTolerance(x[0]),
        o.V.IsApprox(o.V),
        o.V.IsNearlyEqualWithinAbsoluteTolerance(o.V, 0.0, 0.0),
        o.I.IsFinite(),
        not o.I.IsNaN(),
        not o.I.IsZero(),
        o.I.IsNearlyEqualTo(o.I, 0.0),
        o.I.CouldBePhysicallyValid(),
        o.M.IsPhysicallyValid(),
        not o.M.IsNaN(),
        K.SpatialInertia.Zero().IsZero(),
        K.SpatialInertia.NaN().IsNaN(),
        K.RotationalInertia().IsNaN(),
    )
    assert truths == (True,) * len(truths) and {type(t) for t in truths} == {bool}
    for value in (K.RotationMatrix.get_internal_tolerance_for_orthonormality(), o.rpy.GimbalLockPitchAngleTolerance()):
        assert isinstance(value, float)
    assert (o.I.rows(), o.I.cols()) == (3, 3)
    o.I.SetToNaN()
    o.M.SetNaN()
    assert o.I.IsNaN() and o.M.IsNaN() and {type(e) for e in numbers([o.I, o.M, o.V.SetNaN()])} == {AutoDiffXd}


def test_values_that_are_not_valid_are_refused_by_their_real_parts():
    K, x = classes(AutoDiffXd), AutoDiffXd(1.0, 1, 0)
    with pytest.raises(ModelError, match="not normalized"):
        K.Quaternion(x, x, 0.0, 0.0)
    with pytest.raises(ModelError, match="not orthonormal"):
        K.RotationMatrix(x * np.diag([1.0, 2.0, 1.0]))
    with pytest.raises(ModelError, match="exceeds the sum"):
        K.RotationalInertia(x, x, 3.0)
    with pytest.raises(ModelError, match="mass"):
        K.SpatialInertia.SolidBoxWithMass(-x, 1.0, 1.0, 1.0)
    with pytest.raises(ModelError, match="is negative"):
        K.SpatialInertia(-x, np.zeros(3), K.UnitInertia.SolidCube(1.0))
    with pytest.raises(ModelError, match="must be finite"):
        K.RollPitchYaw(AutoDiffXd(np.nan), 0.0, 0.0)
    with pytest.raises(ModelError, match="left-handed"):
        K.RotationMatrix.ProjectToRotationMatrix(x * np.diag([1.0, 1.0, -1.0]))


def test_what_has_no_derivatives_says_so():
    o = operands(classes(AutoDiffXd), InitializeAutoDiff(POINT).ravel())
    calls = [
        o.I.CalcPrincipalMomentsOfInertia,
        o.I.CalcPrincipalMomentsAndAxesOfInertia,
        o.M.CalcPrincipalSemiDiametersAndPoseForSolidEllipsoid,
        o.M.CalcPrincipalHalfLengthsAndPoseForSolidBox,
        o.M.CalcPrincipalHalfLengthsAndPoseForMinimumBoundingBox,
        lambda: o.M.CalcPrincipalHalfLengthsAndPoseForEquivalentShape(0.2),
    ]
    for call in calls:
        with pytest.raises(NumericalError, match="need floats: take the inertia of the values"):
            call()


def test_classes_of_other_scalars_are_classes_of_their_own():
    K, floats = classes(AutoDiffXd), classes(float)
    for name in vars(K):
        assert issubclass(getattr(K, name), getattr(floats, name)) and getattr(K, name) is not getattr(floats, name)
    X = K.RigidTransform(floats.RigidTransform([1.0, 2.0, 3.0]))
    assert type(X) is type(X @ X) is type(X.inverse()) is K.RigidTransform
    assert type(X.rotation()) is K.RotationMatrix and type(floats.RigidTransform()) is transforms.RigidTransform
    assert type(K.SpatialInertia.Zero() * K.SpatialVelocity.Zero()) is K.SpatialMomentum


def test_plants_give_values_of_their_scalar():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", tree.SpatialInertia.SolidBoxWithMass(1.0, 1.0, 1.0, 1.0))
    plant.Finalize()
    dual = plant.ToAutoDiffXd()
    context = dual.CreateDefaultContext()
    K, body = classes(AutoDiffXd), dual.GetBodyByName("body")
    X, V = body.EvalPoseInWorld(context), body.EvalSpatialVelocityInWorld(context)
    assert {type(x) for x in numbers([X, V])} == {AutoDiffXd}
    ones = K.SpatialVelocity(np.ones(6))
    assert {type(x) for x in numbers([X @ K.RigidTransform(), V + ones, ones + V])} == {AutoDiffXd}
    assert type(dual.CalcRelativeTransform(context, dual.world_frame(), body.body_frame())) is K.RigidTransform


def test_values_of_expressions():
    sympy = pytest.importorskip("sympy")
    from mbcli.symbolic import Expression, Variable

    K, a, b = classes(Expression), Variable("a"), Variable("b")
    X = K.RigidTransform(K.RollPitchYaw(0.0, 0.0, a), [b, 0.0, 1.0])
    moved = [sympy.nsimplify(x) for x in X @ [1.0, 0.0, 0.0]]
    assert moved == [b + sympy.cos(a), sympy.sin(a), 1]
    assert all(isinstance(x, sympy.Expr) for x in numbers([X, K.RigidTransform(), K.SpatialInertia.Zero()]))
    assert sympy.nsimplify(K.UnitInertia.SolidSphere(a).Trace(), rational=True) == sympy.Rational(6, 5) * a**2
    axis = K.AngleAxis(quaternion=K.AngleAxis(0.5, [0.0, 0.0, 1.0]).quaternion())
    assert float(axis.angle()) == pytest.approx(0.5)
    with pytest.raises(TypeError, match="a quaternion can be found for a rotation matrix of real numbers only"):
        X.rotation().ToQuaternion()
    with pytest.raises(TypeError, match="for numbers only, not for expressions"):
        X.rotation().IsValid()


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("case", [ALL[k] for k in range(len(ALL)) if ALL[k].id in {
    "Quaternion-0", "Quaternion-9", "RollPitchYaw-2", "RollPitchYaw-3", "RollPitchYaw-10", "RotationMatrix-2",
    "RotationMatrix-8", "RigidTransform-4", "SpatialAcceleration-2", "RotationalInertia-5", "UnitInertia-2",
    "SpatialInertia-3", "SpatialInertia-10", "SpatialVelocity-2"}])  # fmt: skip
def test_gradients_are_those_of_the_reference(case):
    from pydrake import autodiffutils as peer, math as peer_math
    from pydrake.common import eigen_geometry
    from pydrake.multibody import math as peer_spatial, tree as peer_tree

    modules = (peer_math, eigen_geometry, peer_spatial, peer_tree)
    K = SimpleNamespace()
    for name in vars(classes(float)):
        module = next(m for m in modules if hasattr(m, f"{name}_"))
        setattr(K, name, getattr(module, f"{name}_")[peer.AutoDiffXd])
    kinds = {getattr(K, kind.__name__): parts for kind, parts in PARTS.items() if hasattr(K, kind.__name__)}
    kinds |= {getattr(K, f"Spatial{n}"): ("get_coeffs",) for n in ("Velocity", "Acceleration", "Force", "Momentum")}
    kinds[K.UnitInertia] = ("CopyToFullMatrix3",)

    def peer_numbers(value):
        if isinstance(value, (tuple, list)):
            return [x for part in value for x in peer_numbers(part)]
        if isinstance(value, np.ndarray):
            return value.ravel().tolist()
        parts = kinds.get(type(value))
        return [value] if parts is None else [x for part in parts for x in peer_numbers(getattr(value, part)())]

    y = np.array([peer.AutoDiffXd(value, row) for value, row in zip(POINT, np.eye(12), strict=True)])
    theirs = peer_numbers(case(K, operands(K, y), y))
    ours = evaluate(case, classes(AutoDiffXd), InitializeAutoDiff(POINT).ravel())
    np.testing.assert_allclose(ExtractValue(ours).ravel(), [x.value() for x in theirs], rtol=1e-13, atol=1e-14)
    gradients = [x.derivatives() if x.derivatives().size else np.zeros(12) for x in theirs]
    np.testing.assert_allclose(ExtractGradient(ours, 12), gradients, rtol=1e-12, atol=1e-13)
