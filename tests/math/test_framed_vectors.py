"""Spatial vectors with the names of their frames: against SpatialVelocity and its relatives, and what is refused."""

import numpy as np
import pytest

from mbcli.errors import ArgumentError
from mbcli.math import RollPitchYaw
from mbcli.multibody.math import SpatialAcceleration, SpatialForce, SpatialMomentum, SpatialVelocity
from mbcli.multibody.math.framed_vectors import Framed, Frames, compose, dot, rotate, shift
from mbcli.multibody.tree import RotationalInertia, SpatialInertia, UnitInertia

RANDOM = np.random.default_rng(5)
V, A, F, L, V_BC, A_BC = RANDOM.normal(size=(6, 4, 6))
P, W = RANDOM.normal(size=(2, 4, 3))
R = RollPitchYaw(0.3, -0.7, 1.1).ToRotationMatrix()
OFFSET = Framed("offset", P, Frames("B", "C", "E"))


def test_many_vectors_are_shifted_as_each():
    w = Framed("angular velocity", W, Frames("M", "B", "E"))
    found = shift(Framed("velocity", V, Frames("M", "B", "E")), OFFSET)
    assert found.frames == ("M", "C", "E")
    np.testing.assert_allclose(
        found.values, [SpatialVelocity(v).Shift(p).get_coeffs() for v, p in zip(V, P, strict=True)]
    )
    np.testing.assert_allclose(
        shift(Framed("acceleration", A), OFFSET, w).values,
        [SpatialAcceleration(a).Shift(p, own).get_coeffs() for a, p, own in zip(A, P, W, strict=True)],
    )
    for kind, own, values in (("force", SpatialForce, F), ("momentum", SpatialMomentum, L)):
        expected = [own(f).Shift(p).get_coeffs() for f, p in zip(values, P, strict=True)]
        np.testing.assert_allclose(shift(Framed(kind, values), OFFSET).values, expected)


def test_vectors_are_composed_and_multiplied_as_each():
    V_MB, other = Framed("velocity", V, Frames("M", "B", "E")), Framed("velocity", V_BC, Frames("B", "C", "E"))
    found = compose(V_MB, OFFSET, other)
    assert found.frames == ("M", "C", "E")
    expected = [
        SpatialVelocity(v).ComposeWithMovingFrameVelocity(p, SpatialVelocity(r)).get_coeffs()
        for v, p, r in zip(V, P, V_BC, strict=True)
    ]
    np.testing.assert_allclose(found.values, expected)
    made = compose(Framed("acceleration", A), OFFSET, Framed("acceleration", A_BC), Framed("w", W), other)
    expected = [
        SpatialAcceleration(a)
        .ComposeWithMovingFrameAcceleration(p, w, SpatialVelocity(v), SpatialAcceleration(r))
        .get_coeffs()
        for a, p, w, v, r in zip(A, P, W, V_BC, A_BC, strict=True)
    ]
    np.testing.assert_allclose(made.values, expected)
    power = dot(V_MB, Framed("force", F, Frames("B", "Bo", "E")))
    np.testing.assert_allclose(power, [SpatialForce(f).dot(SpatialVelocity(v)) for f, v in zip(F, V, strict=True)])


def inertia(p=(0.1, 0.2, -0.3)):
    about_center = UnitInertia.SolidBox(0.3, 0.5, 0.2)
    M = SpatialInertia.MakeFromCentralInertia(2.0, p, RotationalInertia(*(2.0 * about_center.get_moments())))
    I = M.CalcRotationalInertia()
    return M, Framed("inertia", np.r_[2.0, p, I.get_moments(), I.get_products()], Frames("B", "Bo", "E"))


def test_inertias_are_shifted_and_rotated_as_spatial_inertias():
    M, own = inertia()
    offset = Framed("offset", np.array([0.4, -0.1, 0.2]), Frames("B", "Q", "E"))
    turn = Framed("rotation", R.matrix(), Frames("F", "E"))
    for found, expected in (
        (shift(own, offset), M.Shift(offset.values)),
        (rotate(own, turn), M.ReExpress(R)),
    ):
        I = expected.CalcRotationalInertia()
        np.testing.assert_allclose(found.values[1:4], expected.get_com(), atol=1e-14)
        np.testing.assert_allclose(found.values[4:], np.r_[I.get_moments(), I.get_products()], atol=1e-14)
    many = shift(own, Framed("offset", P))
    np.testing.assert_allclose(many.values[2], shift(own, Framed("offset", P[2])).values)


def test_a_rotated_vector_is_expressed_in_the_other_frame():
    found = rotate(Framed("force", F, Frames("B", "Bo", "E")), Framed("rotation", R.matrix(), Frames("F", "E")))
    assert found.frames == ("B", "Bo", "F")
    np.testing.assert_allclose(found.values, [SpatialForce(f).Rotate(R).get_coeffs() for f in F])


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda v: shift(v, Framed("offset", P, Frames("A", "C", "E"))), "begins at A, but the velocity is of B"),
        (lambda v: shift(v, Framed("offset", P, Frames("B", "C", "B"))), "expressed in B, but the velocity in E"),
        (lambda v: rotate(v, Framed("rotation", R.matrix(), Frames("F", "B"))), "in E, but the rotation is from B"),
        (lambda v: compose(v, OFFSET, v), "begins at M, but the velocity before is of B"),
        (
            lambda v: compose(v, OFFSET, Framed("velocity", V, Frames("B", "D", "E"))),
            "is of D, but the offset ends at C",
        ),
        (lambda v: compose(v, OFFSET, Framed("force", F)), "not a velocity and a force"),
        (lambda v: dot(v, Framed("force", F, Frames("C", "Co", "E"))), "is of Co, but the velocity is of B"),
        (lambda v: dot(v, v), "a velocity and a force or momentum"),
        (lambda v: shift(Framed("acceleration", A), OFFSET), "angular velocity of B measured in M is needed"),
    ],
)
def test_frames_are_not_mixed(act, says):
    with pytest.raises(ArgumentError, match=says):
        act(Framed("velocity", V, Frames("M", "B", "E")))
