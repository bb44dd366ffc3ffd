"""Spatial vectors against finite differences, balances of particles and pydrake."""

import copy
import operator
import pickle

import numpy as np
import pytest

from mbcli.math import RigidTransform, RollPitchYaw, RotationMatrix, UniformlyRandomRotationMatrix
from mbcli.multibody.math import (
    ConvertTimeDerivativeToOtherFrame,
    SpatialAcceleration,
    SpatialForce,
    SpatialMomentum,
    SpatialVelocity,
    spatial_arrays,
)
from mbcli.multibody.tree import SpatialInertia, UnitInertia

KINDS = (SpatialVelocity, SpatialAcceleration, SpatialForce, SpatialMomentum)
# Sums of a dozen products of numbers of order one to ten.
ROUNDING = 1e-13
# Fourth-order differences, step 1e-3, of exact velocities.
DIFFERENCES = 1e-8


def pose_of_B_in_M(t):
    rpy = RollPitchYaw(0.3 + np.sin(1.3 * t), 0.4 * np.cos(0.7 * t), 0.9 * t - 0.2 * t**2)
    return RigidTransform(rpy, [np.cos(t), 0.5 * t**2, np.sin(2.0 * t)])


def pose_of_C_in_B(t):
    rpy = RollPitchYaw(-0.6 * t, 0.3 + 0.2 * np.sin(t), np.cos(1.1 * t))
    return RigidTransform(rpy, [0.4 + 0.3 * t, np.sin(0.8 * t), -0.7 * np.cos(t)])


def pose_of_C_in_M(t):
    return pose_of_B_in_M(t) @ pose_of_C_in_B(t)


def velocity(pose, t):
    """Return the exact V (6,), in the frame measured in, by one complex step."""
    step = 1e-30
    ahead = pose(t + step * 1j)
    R, R_dt = ahead.rotation().matrix().real, ahead.rotation().matrix().imag / step
    w_hat = R_dt @ R.T
    return np.array([w_hat[2, 1], w_hat[0, 2], w_hat[1, 0], *(ahead.translation().imag / step)])


def acceleration(pose, t, step=1e-3):
    """Return the derivative of the velocity by differences of fourth order."""
    v = [velocity(pose, t + k * step) for k in (-2, -1, 1, 2)]
    return (v[0] - 8.0 * v[1] + 8.0 * v[2] - v[3]) / (12.0 * step)


def relative_motion(t):
    """Return p_BoCo, V_MB, A_MB, V_BC and A_BC, all expressed in M."""
    R_MB = pose_of_B_in_M(t).rotation()
    in_M = [SpatialVelocity(velocity(pose_of_C_in_B, t)), SpatialAcceleration(acceleration(pose_of_C_in_B, t))]
    return (
        R_MB @ pose_of_C_in_B(t).translation(),
        SpatialVelocity(velocity(pose_of_B_in_M, t)),
        SpatialAcceleration(acceleration(pose_of_B_in_M, t)),
        in_M[0].Rotate(R_MB),
        in_M[1].Rotate(R_MB),
    )


def assert_near(vector, expected, tolerance=ROUNDING):
    coeffs = expected.get_coeffs() if hasattr(expected, "get_coeffs") else np.asarray(expected)
    np.testing.assert_allclose(vector.get_coeffs(), coeffs, rtol=tolerance, atol=tolerance)


@pytest.fixture
def rng():
    return np.random.default_rng(20240611)


def random_vector(kind, rng):
    return kind(rng.uniform(-2.0, 2.0, 6))


@pytest.mark.parametrize("t", [0.0, 0.7, 2.1])
def test_composed_acceleration_is_the_second_derivative_of_nested_poses(t):
    """(c) 1: with a_MBo different from a_BCo; the misprint of the reference is off by their difference."""
    p, V_MB, A_MB, V_BC, A_BC = relative_motion(t)
    A_MC = A_MB.ComposeWithMovingFrameAcceleration(p, V_MB.rotational(), V_BC, A_BC)
    expected = acceleration(pose_of_C_in_M, t)
    assert_near(A_MC, expected, DIFFERENCES)
    misprint = A_MC.translational() - A_MB.translational() + A_BC.translational()
    assert np.abs(misprint - expected[3:]).max() > 0.1


@pytest.mark.parametrize("t", [0.0, 0.7, 2.1])
def test_angular_accelerations_of_nested_frames_need_the_cross_term(t):
    """(c) 2: alpha_MC = alpha_MB + alpha_BC + w_MB x w_BC, by differences of w_MC."""
    p, V_MB, A_MB, V_BC, A_BC = relative_motion(t)
    alpha = A_MB.ComposeWithMovingFrameAcceleration(p, V_MB.rotational(), V_BC, A_BC).rotational()
    expected = acceleration(pose_of_C_in_M, t)[:3]
    np.testing.assert_allclose(alpha, expected, rtol=DIFFERENCES, atol=DIFFERENCES)
    assert np.abs(A_MB.rotational() + A_BC.rotational() - expected).max() > 0.01


@pytest.mark.parametrize("t", [0.0, 0.7, 2.1])
def test_composed_velocity_is_the_derivative_of_nested_poses(t):
    p, V_MB, _, V_BC, _ = relative_motion(t)
    assert_near(V_MB.ComposeWithMovingFrameVelocity(p, V_BC), velocity(pose_of_C_in_M, t))


@pytest.mark.parametrize("t", [0.0, 0.7, 2.1])
def test_shifts_of_motion_are_derivatives_of_a_fixed_offset(t):
    """(c) 4: the shift of an acceleration holds the centripetal term; without rotation it is the same less it."""
    p_B = np.array([0.4, -0.3, 0.8])

    def offset_frame(t):
        return pose_of_B_in_M(t) @ RigidTransform(p_B)

    V, A = SpatialVelocity(velocity(pose_of_B_in_M, t)), SpatialAcceleration(acceleration(pose_of_B_in_M, t))
    p, w = pose_of_B_in_M(t).rotation() @ p_B, V.rotational()
    assert_near(V.Shift(p), velocity(offset_frame, t))
    assert_near(A.Shift(p, w), acceleration(offset_frame, t), DIFFERENCES)
    assert_near(A.Shift(p, np.zeros(3)), A.ShiftWithZeroAngularVelocity(p))
    missing = A.Shift(p, w).translational() - A.ShiftWithZeroAngularVelocity(p).translational()
    np.testing.assert_allclose(missing, np.cross(w, np.cross(w, p)), atol=ROUNDING)
    assert np.abs(missing).max() > 0.01


def test_forces_shift_so_that_moments_of_particles_balance(rng):
    """(c) 3: torque about Q summed over forces at points is the shift of the torque about P; power is unchanged."""
    points, forces = rng.standard_normal((5, 3)), rng.standard_normal((5, 3))
    p_P, p_Q = rng.standard_normal((2, 3))

    def about(point):
        torque = sum(np.cross(p - point, f) for p, f in zip(points, forces, strict=True))
        return SpatialForce(torque, forces.sum(axis=0))

    F, V = about(p_P), random_vector(SpatialVelocity, rng)
    assert_near(F.Shift(p_Q - p_P), about(p_Q))
    assert F.Shift(p_Q - p_P).dot(V.Shift(p_Q - p_P)) == pytest.approx(F.dot(V), rel=1e-12)
    work = sum(f @ V.Shift(p - p_P).translational() for p, f in zip(points, forces, strict=True))
    assert F.dot(V) == pytest.approx(work, rel=1e-12)


def momentum_of_particles(mass, p_PQ, v_MQ):
    """L_MSP (6,) about P of particles: mass (N,), p_PQ and v_MQ (N, 3)."""
    momenta = mass[:, np.newaxis] * v_MQ
    return np.concatenate((np.cross(p_PQ, momenta).sum(axis=0), momenta.sum(axis=0)))


def test_momentum_shifts_as_that_of_particles(rng):
    """(c) 3: about any point Q, h is the sum of p_QQi x m v_MQi."""
    mass, points, velocities = rng.uniform(0.1, 2.0, 6), rng.standard_normal((6, 3)), rng.standard_normal((6, 3))
    p_P, p_Q = rng.standard_normal((2, 3))
    L_P = SpatialMomentum(momentum_of_particles(mass, points - p_P, velocities))
    L_Q = momentum_of_particles(mass, points - p_Q, velocities)
    assert_near(L_P.Shift(p_Q - p_P), L_Q)


def test_dot_gives_power_and_twice_the_kinetic_energy_in_both_orders():
    """(c) 5: a particle of 3 kg at 2 m/s has 6 J, and the dot product says 12."""
    V = SpatialVelocity([0.0, 0.0, 0.0], [2.0, 0.0, 0.0])
    L = SpatialMomentum([0.0, 0.0, 0.0], [6.0, 0.0, 0.0])
    F = SpatialForce([1.0, 2.0, 3.0], [5.0, 0.0, 0.0])
    assert V.dot(L) == L.dot(V) == V @ L == L @ V == V.dot(momentum=L) == 12.0
    assert V.dot(F) == F.dot(V) == V @ F == F @ V == V.dot(force=F) == F.dot(velocity=V) == 10.0
    assert type(V.dot(F)) is float


@pytest.mark.parametrize("a", KINDS)
@pytest.mark.parametrize("b", KINDS)
def test_only_motion_with_force_or_momentum_has_a_dot_product(a, b):
    """(c) 5: all other pairs raise TypeError, by name and by operator."""
    legal = {a, b} in ({SpatialVelocity, SpatialForce}, {SpatialVelocity, SpatialMomentum})
    if legal:
        assert a.Zero().dot(b.Zero()) == 0.0
        return
    with pytest.raises(TypeError):
        a.Zero().dot(b.Zero())
    with pytest.raises(TypeError):
        a.Zero() @ b.Zero()


def test_other_operations_refuse_another_kind():
    V, A, F = SpatialVelocity.Zero(), SpatialAcceleration.Zero(), SpatialForce.Zero()
    p = np.zeros(3)
    for call in (
        lambda: V + F,
        lambda: V - A,
        lambda: V + np.zeros(6),
        lambda: np.zeros(6) + V,
        lambda: np.zeros(6) * V,
        lambda: V * V,
        lambda: V * [1.0],
        lambda: operator.iadd(V, F),
        lambda: operator.imul(V, F),
        lambda: V.dot(np.zeros(6)),
        lambda: V.ComposeWithMovingFrameVelocity(p, A),
        lambda: A.ComposeWithMovingFrameAcceleration(p, p, A, A),
        lambda: A.ComposeWithMovingFrameAcceleration(p, p, V, V),
        lambda: V.IsApprox(F),
        lambda: V.Rotate(V),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_rotational_first_and_sizes_are_checked(kind):
    """(c) 6: six numbers and two times three agree; a column counts as a vector; other shapes raise TypeError."""
    six = np.arange(1.0, 7.0)
    for vector in (kind(six), kind(six[:3], six[3:]), kind(six.reshape(6, 1)), kind(list(range(1, 7)))):
        np.testing.assert_array_equal(vector.get_coeffs(), six)
        np.testing.assert_array_equal(vector.rotational(), six[:3])
        np.testing.assert_array_equal(vector.translational(), six[3:])
    for wrong in (np.zeros(5), np.zeros(7), np.zeros((2, 3)), np.zeros((1, 6)), "abcdef", [None] * 6, 3.0):
        with pytest.raises(TypeError):
            kind(wrong)
    for wrong in ((np.zeros(2), np.zeros(3)), (np.zeros(3), np.zeros(4)), (np.zeros(3), "xyz")):
        with pytest.raises(TypeError):
            kind(*wrong)


def test_keywords_are_those_of_the_reference():
    three, six = np.ones(3), np.ones(6)
    for vector in (
        SpatialVelocity(w=three, v=three),
        SpatialVelocity(V=six),
        SpatialAcceleration(alpha=three, a=three),
        SpatialAcceleration(A=six),
        SpatialForce(tau=three, f=three),
        SpatialForce(F=six),
        SpatialMomentum(h=three, l=three),
        SpatialMomentum(L=six),
    ):
        np.testing.assert_array_equal(vector.get_coeffs(), six)
    with pytest.raises(TypeError):
        SpatialVelocity(w=three, V=six)
    with pytest.raises(TypeError):
        SpatialVelocity(v=three)


@pytest.mark.parametrize("kind", KINDS)
def test_rotations_compose_and_commute_with_shifts(kind, rng):
    """(c) 7: rotating twice is rotating once; dot products do not change; shifted and rotated commute."""
    R1, R2 = UniformlyRandomRotationMatrix(rng), UniformlyRandomRotationMatrix(rng)
    X, p = random_vector(kind, rng), rng.standard_normal(3)
    assert_near(X.Rotate(R1).Rotate(R2), X.Rotate(R2 @ R1))
    assert_near(X.Rotate(R1.matrix()), X.Rotate(R1))
    np.testing.assert_allclose(X.Rotate(R1).rotational(), R1 @ X.rotational(), atol=ROUNDING)
    if kind is SpatialAcceleration:
        w = rng.standard_normal(3)
        assert_near(X.Shift(p, w).Rotate(R1), X.Rotate(R1).Shift(R1 @ p, R1 @ w))
        return
    assert_near(X.Shift(p).Rotate(R1), X.Rotate(R1).Shift(R1 @ p))
    partner = random_vector(SpatialForce if kind is SpatialVelocity else SpatialVelocity, rng)
    assert X.Rotate(R1).dot(partner.Rotate(R1)) == pytest.approx(X.dot(partner), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_new_vectors_are_nan_and_nothing_is_aliased(kind):
    """(c) 8: NaN unless given; SetZero returns the object; arrays that go in or come out are not shared."""
    assert np.isnan(kind().get_coeffs()).all()
    np.testing.assert_array_equal(kind.Zero().get_coeffs(), np.zeros(6))
    source = np.ones(6)
    vector = kind(source)
    source[0] = 7.0
    for array in (vector.get_coeffs(), vector.rotational(), vector.translational()):
        array[:] = 9.0
    np.testing.assert_array_equal(vector.get_coeffs(), np.ones(6))
    copies = (copy.copy(vector), copy.deepcopy(vector), pickle.loads(pickle.dumps(vector)))
    assert vector.SetZero() is vector
    np.testing.assert_array_equal(vector.get_coeffs(), np.zeros(6))
    for other in copies:
        assert type(other) is kind
        np.testing.assert_array_equal(other.get_coeffs(), np.ones(6))


def test_composition_without_relative_motion_is_a_shift_and_is_associative(rng):
    """(c) 9: frames M, B, C, D composed from the left and from the right agree."""
    p, q, w = rng.standard_normal((3, 3))
    V_MB, V_BC, V_CD = (random_vector(SpatialVelocity, rng) for _ in range(3))
    A_MB, A_BC, A_CD = (random_vector(SpatialAcceleration, rng) for _ in range(3))
    still, unaccelerated = SpatialVelocity.Zero(), SpatialAcceleration.Zero()
    assert_near(V_MB.ComposeWithMovingFrameVelocity(p, still), V_MB.Shift(p))
    assert_near(A_MB.ComposeWithMovingFrameAcceleration(p, w, still, unaccelerated), A_MB.Shift(p, w))

    V_MC = V_MB.ComposeWithMovingFrameVelocity(p, V_BC)
    V_BD = V_BC.ComposeWithMovingFrameVelocity(q, V_CD)
    assert_near(V_MC.ComposeWithMovingFrameVelocity(q, V_CD), V_MB.ComposeWithMovingFrameVelocity(p + q, V_BD))
    w_MB, w_BC = V_MB.rotational(), V_BC.rotational()
    A_MC = A_MB.ComposeWithMovingFrameAcceleration(p, w_MB, V_BC, A_BC)
    A_BD = A_BC.ComposeWithMovingFrameAcceleration(q, w_BC, V_CD, A_CD)
    left = A_MC.ComposeWithMovingFrameAcceleration(q, w_MB + w_BC, V_CD, A_CD)
    right = A_MB.ComposeWithMovingFrameAcceleration(p + q, w_MB, V_BD, A_BD)
    assert_near(left, right, 1e-12)


def chain(x):
    """Use every operation once, as a function of one number."""
    V = SpatialVelocity([x, 0.3 * x**2, 1.0], [0.2, x**3, -0.7])
    A = SpatialAcceleration([0.1, x, -0.4], [x * x, 1.3, 0.6 * x])
    p = np.array([x, 1.0 - x, 0.5])
    R = RotationMatrix.MakeZRotation(x) @ RotationMatrix.MakeXRotation(0.3 * x)
    A = A.ComposeWithMovingFrameAcceleration(p, V.rotational(), V, A).Shift(p, V.rotational()).Rotate(R)
    V = V.ComposeWithMovingFrameVelocity(p, V).Shift(p).Rotate(R)
    F, L = SpatialForce(A.get_coeffs()).Shift(p), SpatialMomentum(2.0 * V.get_coeffs()).Shift(-p)
    return F.dot(V) + V.dot(L)


def test_complex_step_derivative_through_every_operation():
    """(c) 10: products do not conjugate, and the type is kept."""
    x, h = 0.7, 1e-4
    exact = chain(x + 1e-30j).imag / 1e-30
    ahead = [chain(x + k * h) for k in (-2, -1, 1, 2)]
    differences = (ahead[0] - 8.0 * ahead[1] + 8.0 * ahead[2] - ahead[3]) / (12.0 * h)
    assert exact == pytest.approx(differences, rel=1e-9)
    assert SpatialVelocity(np.ones(6) * 1j).dot(SpatialForce(np.ones(6) * 1j)) == -6.0


class Polynomial:
    """A polynomial in one unknown: an element that numpy knows nothing about."""

    def __init__(self, *coefficients):
        self.coefficients = np.array(coefficients, dtype=float)

    def _plus(self, other, sign):
        other = other if isinstance(other, Polynomial) else Polynomial(other)
        total = np.zeros(max(len(self.coefficients), len(other.coefficients)))
        total[: len(self.coefficients)] += self.coefficients
        total[: len(other.coefficients)] += sign * other.coefficients
        return Polynomial(*total)

    def __add__(self, other):
        return self._plus(other, 1.0)

    __radd__ = __add__

    def __sub__(self, other):
        return self._plus(other, -1.0)

    def __rsub__(self, other):
        return Polynomial(other) - self

    def __neg__(self):
        return Polynomial(*-self.coefficients)

    def __mul__(self, other):
        other = other if isinstance(other, Polynomial) else Polynomial(other)
        return Polynomial(*np.convolve(self.coefficients, other.coefficients))

    __rmul__ = __mul__

    def __call__(self, x):
        return np.polynomial.polynomial.polyval(x, self.coefficients)


def test_symbolic_elements_pass_through_every_formula():
    """(c) 10: vectors of objects keep their type, and evaluate to what numbers give."""
    t = Polynomial(0.0, 1.0)

    def power(t):
        V = SpatialVelocity([t, 2.0 * t, 1.0 + t], [t * t, 0.5 * t, 2.0 - t])
        A = SpatialAcceleration([t, 1.0, 2.0 * t], [3.0 * t, t * t, t])
        p = [t, 2.0, 1.0 - t]
        A = A.ComposeWithMovingFrameAcceleration(p, V.rotational(), V, A).ShiftWithZeroAngularVelocity(p)
        V = (2.0 * V.ComposeWithMovingFrameVelocity(p, V).Shift(p)).Rotate(RotationMatrix.MakeZRotation(0.3))
        F = SpatialForce(A.get_coeffs()).Shift(p)
        assert V.get_coeffs().dtype == np.array([t]).dtype
        return F.dot(V) + V.dot(SpatialMomentum(F.get_coeffs()))

    result = power(t)
    assert isinstance(result, Polynomial)
    for x in (-1.2, 0.4, 2.0):
        assert result(x) == pytest.approx(power(x), rel=1e-11)


def test_momentum_of_a_body_is_that_of_its_particles(rng):
    """(c) 11: sum over particles equals M V; about the center of mass as well; energy is the same at any point."""
    mass, p = rng.uniform(0.1, 1.0, 40), rng.standard_normal((40, 3))
    total, com = mass.sum(), mass @ p / mass.sum()
    M = SpatialInertia.Zero()
    for m, position in zip(mass, p, strict=True):
        M += SpatialInertia(m, position, UnitInertia.PointMass(position))
    V = random_vector(SpatialVelocity, rng)
    velocities = np.array([V.Shift(position).translational() for position in p])
    L = M * V
    assert_near(L, momentum_of_particles(mass, p, velocities), 1e-12)
    assert_near(L.Shift(com), momentum_of_particles(mass, p - com, velocities), 1e-12)
    np.testing.assert_allclose(L.translational(), total * V.Shift(com).translational(), rtol=1e-12)
    energy = 0.5 * (mass * (velocities**2).sum(axis=1)).sum()
    for offset in (np.zeros(3), com, *rng.standard_normal((5, 3))):
        assert 0.5 * L.Shift(offset).dot(V.Shift(offset)) == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize("t", [0.3, 1.9])
def test_point_acceleration_from_both_kinds_of_spatial_acceleration(t):
    """(c) 12: classical and Featherstone's agree on d2p/dt2 of any point of the body."""
    V, A = velocity(pose_of_B_in_M, t), acceleration(pose_of_B_in_M, t)
    featherstone = np.concatenate((A[:3], A[3:] - np.cross(V[:3], V[3:])))
    assert np.abs(featherstone - A).max() > 0.1
    p_B = np.array([0.2, 0.6, -0.4])
    p_M = pose_of_B_in_M(t).rotation() @ p_B
    step = 1e-3
    track = [pose_of_B_in_M(t + k * step) @ p_B for k in (-2, -1, 0, 1, 2)]
    second = (-track[0] + 16.0 * track[1] - 30.0 * track[2] + 16.0 * track[3] - track[4]) / (12.0 * step**2)
    # Featherstone's shifts as a velocity does, and becomes classical with the velocity of the same point.
    at_point, V_point = spatial_arrays.shift_velocity(featherstone, p_M), spatial_arrays.shift_velocity(V, p_M)
    np.testing.assert_allclose(at_point[3:] + np.cross(V_point[:3], V_point[3:]), second, atol=1e-7)
    np.testing.assert_allclose(SpatialAcceleration(A).Shift(p_M, V[:3]).translational(), second, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_shift_leaves_its_object_alone_and_shift_in_place_does_not(kind, rng):
    """(c) 13."""
    vector = random_vector(kind, rng)
    before = vector.get_coeffs()
    arguments = [rng.standard_normal(3)] * (2 if kind is SpatialAcceleration else 1)
    shifted = vector.Shift(*arguments)
    np.testing.assert_array_equal(vector.get_coeffs(), before)
    assert vector.ShiftInPlace(*arguments) is vector
    np.testing.assert_array_equal(vector.get_coeffs(), shifted.get_coeffs())
    assert not np.array_equal(vector.get_coeffs(), before)


def test_arrays_of_vectors_give_what_the_loop_gives(rng):
    """(c) 14: every formula on (N, 6), with one offset for all and with one for each."""
    n = 25
    V, W, A, B, F = rng.standard_normal((5, n, 6))
    p, w = rng.standard_normal((2, n, 3))
    R = UniformlyRandomRotationMatrix(rng).matrix()
    s = spatial_arrays
    for function, arguments in (
        (s.shift_velocity, (V, p)),
        (s.shift_force, (F, p)),
        (s.shift_acceleration, (A, p, w)),
        (s.shift_acceleration_without_rotation, (A, p)),
        (s.compose_velocity, (V, p, W)),
        (s.compose_acceleration, (A, p, w, W, B)),
        (s.dot, (F, V)),
    ):
        loop = [function(*row) for row in zip(*arguments, strict=True)]
        np.testing.assert_allclose(function(*arguments), loop, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(s.rotate(V, R), [s.rotate(row, R) for row in V], rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(s.shift_velocity(V, p[0]), [s.shift_velocity(row, p[0]) for row in V])
    np.testing.assert_allclose(s.shift_velocity(V[0], p), [s.shift_velocity(V[0], row) for row in p])


def test_shift_operators_of_motion_and_force_are_dual(rng):
    p = rng.standard_normal(3)
    motion = np.array([SpatialVelocity(e).Shift(p).get_coeffs() for e in np.eye(6)]).T
    force = np.array([SpatialForce(e).Shift(p).get_coeffs() for e in np.eye(6)]).T
    np.testing.assert_allclose(motion.T @ force, np.eye(6), atol=ROUNDING)


def test_transport_theorem_by_differences(rng):
    t, step = 0.8, 1e-5
    v_B = np.array([0.3, -0.2, 0.9])  # fixed in B: its derivative there is zero
    rate = [pose_of_B_in_M(t + k * step).rotation() @ v_B for k in (-1, 1)]
    v_M, w_MB = pose_of_B_in_M(t).rotation() @ v_B, velocity(pose_of_B_in_M, t)[:3]
    in_M = ConvertTimeDerivativeToOtherFrame(v_M, np.zeros(3), w_MB)
    np.testing.assert_allclose(in_M, (rate[1] - rate[0]) / (2.0 * step), atol=1e-9)


def test_arithmetic_of_one_kind(rng):
    a, b = random_vector(SpatialForce, rng), random_vector(SpatialForce, rng)
    x, y = a.get_coeffs(), b.get_coeffs()
    for vector, expected in ((a + b, x + y), (a - b, x - y), (-a, -x), (a * 2, 2 * x), (np.float64(3.0) * a, 3 * x)):
        assert type(vector) is SpatialForce
        np.testing.assert_array_equal(vector.get_coeffs(), expected)
    total, same = a + b, a
    a += b
    assert a is same
    np.testing.assert_array_equal(a.get_coeffs(), total.get_coeffs())
    a -= b
    a *= 2.0
    np.testing.assert_allclose(a.get_coeffs(), 2.0 * x, rtol=1e-14)
    assert a.IsApprox(SpatialForce(2.0 * x), 1e-12) and not a.IsApprox(b, 1e-3)


def test_repr_names_the_parts():
    assert repr(SpatialMomentum(np.arange(6.0))) == "SpatialMomentum(\n  h=[0.0, 1.0, 2.0],\n  l=[3.0, 4.0, 5.0],\n)"


@pytest.mark.peers("pydrake")
def test_every_method_gives_what_pydrake_gives(rng):
    from pydrake import math as their_math
    from pydrake.multibody import math as theirs

    for _ in range(50):
        six = rng.uniform(-3.0, 3.0, (5, 6))
        p, w = rng.uniform(-3.0, 3.0, (2, 3))
        R = UniformlyRandomRotationMatrix(rng)
        answers = []
        for m, rotation in (
            (theirs, their_math.RotationMatrix(R.matrix())),
            (None, R),
        ):
            make = [getattr(m, k.__name__) if m else k for k in KINDS]
            V, A, F, L = (kind(x) for kind, x in zip(make, six, strict=False))
            W, B = make[0](six[4]), make[1](six[3])
            vectors = [
                *(x.Rotate(rotation) for x in (V, A, F, L)),
                V.Shift(p),
                A.Shift(p, w),
                A.ShiftWithZeroAngularVelocity(p),
                F.Shift(p),
                L.Shift(p),
                V.ComposeWithMovingFrameVelocity(p, W),
                A.ComposeWithMovingFrameAcceleration(p, w, W, B),
                V + W,
                V - W,
                -A,
                2.5 * F,
                L * 0.5,
                make[0](),
                make[2].Zero(),
            ]
            numbers = [V.dot(F), V.dot(L), F.dot(V), L.dot(V), V @ F, F @ V]
            answers.append((np.array([x.get_coeffs() for x in vectors]), numbers, [repr(x) for x in (V, A, F, L)]))
        np.testing.assert_allclose(answers[1][0], answers[0][0], rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(answers[1][1], answers[0][1], rtol=1e-12, atol=1e-12)
        assert answers[1][2] == answers[0][2]


@pytest.mark.peers("pydrake")
def test_every_public_name_of_pydrake_is_here():
    from pydrake.multibody import math as theirs

    for kind in KINDS:
        names = {n for n in dir(getattr(theirs, kind.__name__)) if not n.startswith("_")}
        assert names <= set(dir(kind)), kind
