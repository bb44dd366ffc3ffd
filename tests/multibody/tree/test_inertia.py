"""Rotational, unit and spatial inertias against quadrature, particles, invariants and pydrake.

Numbers in docstrings are the entries of the list of checks in the specification of multibody.tree, part (c).
"""

import copy
import math
import operator
import pickle

import numpy as np
import pytest

from mbcli.errors import ModelError, NumericalError
from mbcli.math import RotationMatrix, UniformlyRandomRotationMatrix
from mbcli.multibody.inertia import rotational_inertia
from mbcli.multibody.math import SpatialAcceleration, SpatialForce, SpatialMomentum, SpatialVelocity
from mbcli.multibody.tree import RotationalInertia, SpatialInertia, UnitInertia

EPS = np.finfo(float).eps
ROUNDING = 1e-13
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


@pytest.fixture
def rng():
    return np.random.default_rng(99)


def near(a, b, tolerance=ROUNDING):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def matrix(inertia):
    return inertia.CopyToFullMatrix3()


def random_body(rng, n=6):
    """Return masses (n,) and positions (n, 3) of particles."""
    return rng.uniform(0.1, 2.0, n), rng.standard_normal((n, 3))


def inertia_of(mass, p):
    return sum((RotationalInertia(m, r) for m, r in zip(mass, p, strict=True)), RotationalInertia(0.0, 0.0, 0.0))


def spatial_inertia_of(mass, p):
    total = SpatialInertia.Zero()
    for m, r in zip(mass, p, strict=True):
        total += SpatialInertia.PointMass(m, r)
    return total


def interval(a, b):
    """Return nodes and weights of Gauss's quadrature on [a, b]: exact for polynomials up to degree 39."""
    return 0.5 * (a + b) + 0.5 * (b - a) * NODES, 0.5 * (b - a) * WEIGHTS


def by_slices(*pieces):
    """Return volume, com and unit inertia about the origin of a solid with elliptic slices.

    A piece is (z0, z1, a(z), b(z)) with the semi-axes of the slice along x and y.
    """
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for z0, z1, a, b in pieces:
        for z, weight in zip(*interval(z0, z1), strict=True):
            area = weight * math.pi * a(z) * b(z)
            volume += area
            first += area * np.array([0.0, 0.0, z])
            second += area * np.diag([a(z) ** 2 / 4.0, b(z) ** 2 / 4.0, z * z])
    second /= volume
    return volume, first / volume, second.trace() * np.eye(3) - second


def ball_slice(radius, center=0.0):
    return lambda z: math.sqrt(radius**2 - (z - center) ** 2)


def tetrahedron_by_quadrature(vertices):
    """Return volume, com and unit inertia about the origin, by three nested integrals."""
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    p0, edges = vertices[0], vertices[1:] - vertices[0]
    jacobian = abs(np.linalg.det(edges))
    u, w = interval(0.0, 1.0)
    for x, wx in zip(u, w, strict=True):
        for y, wy in zip(u, w, strict=True):
            for z, wz in zip(u[::1], w, strict=True):
                # The cube folded onto the simplex.
                barycentric = np.array([x, (1 - x) * y, (1 - x) * (1 - y) * z])
                weight = wx * wy * wz * (1 - x) ** 2 * (1 - y) * jacobian
                r = p0 + barycentric @ edges
                volume += weight
                first += weight * r
                second += weight * np.outer(r, r)
    second /= volume
    return volume, first / volume, second.trace() * np.eye(3) - second


class TestShapes:
    """17: factories against quadrature; axes in general directions."""

    @pytest.mark.parametrize("axis", [[0.0, 0.0, 1.0], [0.6, 0.0, -0.8], [1.0, 0.0, 0.0]])
    def test_solids_of_revolution(self, axis):
        r, L, rho, m = 0.5, 2.0, 3.0, 7.0
        R = RotationMatrix.MakeFromOneVector(axis, 2).matrix()
        cylinder = (-L / 2, L / 2, lambda z: r, lambda z: r)
        top, bottom = ball_slice(r, L / 2), ball_slice(r, -L / 2)
        capsule = (cylinder, (L / 2, L / 2 + r, top, top), (-L / 2 - r, -L / 2, bottom, bottom))
        from_end = (0.0, L, lambda z: r, lambda z: r)
        for unit, with_mass, with_density, pieces in (
            (
                UnitInertia.SolidCylinder(r, L, axis),
                SpatialInertia.SolidCylinderWithMass(m, r, L, axis),
                SpatialInertia.SolidCylinderWithDensity(rho, r, L, axis),
                (cylinder,),
            ),
            (
                UnitInertia.SolidCylinderAboutEnd(r, L, axis),
                SpatialInertia.SolidCylinderWithMassAboutEnd(m, r, L, axis),
                SpatialInertia.SolidCylinderWithDensityAboutEnd(rho, r, L, axis),
                (from_end,),
            ),
            (
                UnitInertia.SolidCapsule(r, L, axis),
                SpatialInertia.SolidCapsuleWithMass(m, r, L, axis),
                SpatialInertia.SolidCapsuleWithDensity(rho, r, L, axis),
                capsule,
            ),
        ):
            volume, com, G = by_slices(*pieces)
            near(matrix(unit), R @ G @ R.T)
            for M, mass in ((with_mass, m), (with_density, rho * volume)):
                assert M.get_mass() == pytest.approx(mass, rel=1e-13)
                near(M.get_com(), R @ com)
                near(matrix(M.get_unit_inertia()), R @ G @ R.T)
                assert M.IsPhysicallyValid()

    def test_ellipsoid_ball_and_box(self):
        a, b, c = 0.7, 1.1, 0.4
        pieces = (-c, c, lambda z: a * math.sqrt(1 - (z / c) ** 2), lambda z: b * math.sqrt(1 - (z / c) ** 2))
        volume, _, G = by_slices(pieces)
        near(matrix(UnitInertia.SolidEllipsoid(a, b, c)), G)
        near(matrix(UnitInertia.SolidSphere(0.9)), by_slices((-0.9, 0.9, ball_slice(0.9), ball_slice(0.9)))[2])
        M = SpatialInertia.SolidEllipsoidWithDensity(2.0, a, b, c)
        assert M.get_mass() == pytest.approx(2.0 * volume, rel=1e-13)
        near(matrix(M.get_unit_inertia()), G)
        near(SpatialInertia.SolidSphereWithDensity(2.0, 0.9).get_mass(), 2.0 * 4.0 / 3.0 * math.pi * 0.9**3)

        x2, y2, z2 = (sum(w * x * x for x, w in zip(*interval(-h, h), strict=True)) / (2 * h) for h in (0.5, 1.0, 1.5))
        near(matrix(UnitInertia.SolidBox(1.0, 2.0, 3.0)), np.diag([y2 + z2, x2 + z2, x2 + y2]))
        M = SpatialInertia.SolidBoxWithDensity(5.0, 1.0, 2.0, 3.0)
        assert M.get_mass() == 30.0
        near(M.CopyToFullMatrix6(), SpatialInertia.SolidBoxWithMass(30.0, 1.0, 2.0, 3.0).CopyToFullMatrix6())
        near(
            SpatialInertia.SolidCubeWithDensity(5.0, 2.0).CopyToFullMatrix6(),
            SpatialInertia.SolidBoxWithMass(40.0, 2.0, 2.0, 2.0).CopyToFullMatrix6(),
        )

    def test_shell_and_rod(self):
        # On a sphere, slices of equal height have equal area (Archimedes).
        r = 0.8
        z, w = interval(-r, r)
        zz = (w * z * z).sum() / (2 * r)
        xx = (w * (r * r - z * z) / 2).sum() / (2 * r)
        near(matrix(UnitInertia.HollowSphere(r)), np.diag([xx + zz, xx + zz, 2 * xx]))
        M = SpatialInertia.HollowSphereWithDensity(3.0, r)
        assert M.get_mass() == pytest.approx(3.0 * 4.0 * math.pi * r * r)
        near(matrix(M.get_unit_inertia()), matrix(UnitInertia.HollowSphere(r)))

        axis, L = np.array([0.0, 0.6, 0.8]), 1.4
        for M, start in (
            (SpatialInertia.ThinRodWithMass(2.0, L, axis), -L / 2),
            (SpatialInertia.ThinRodWithMassAboutEnd(2.0, L, axis), 0.0),
        ):
            s, w = interval(start, start + L)
            second = (w * s * s).sum() / L * np.outer(axis, axis)
            near(matrix(M.get_unit_inertia()), second.trace() * np.eye(3) - second)
            near(M.get_com(), (start + L / 2) * axis)
            assert M.get_mass() == 2.0 and M.IsPhysicallyValid()
        near(matrix(UnitInertia.ThinRod(L, axis)), matrix(UnitInertia.StraightLine(L * L / 12.0, axis)))

    def test_tetrahedron(self):
        p = np.array([[0.1, 0.2, 0.3], [1.2, 0.1, -0.2], [0.3, 1.4, 0.2], [0.2, -0.1, 0.9]])
        volume, com, G = tetrahedron_by_quadrature(p)
        near(matrix(UnitInertia.SolidTetrahedronAboutPoint(*p)), G)
        M = SpatialInertia.SolidTetrahedronAboutPointWithDensity(3.0, *p)
        assert M.get_mass() == pytest.approx(3.0 * volume, rel=1e-13)
        near(M.get_com(), com)
        near(matrix(M.get_unit_inertia()), G)
        # Printed in the specification.
        near(M.get_unit_inertia().get_moments(), [0.350, 0.362, 0.470], 1e-12)
        near(M.get_unit_inertia().get_products(), [-0.171, -0.1095, -0.1075], 1e-12)
        about_vertex = SpatialInertia.SolidTetrahedronAboutVertexWithDensity(3.0, *(p[1:] - p[0]))
        near(about_vertex.CopyToFullMatrix6(), M.Shift(p[0]).CopyToFullMatrix6())
        near(
            matrix(UnitInertia.SolidTetrahedronAboutVertex(*p[1:])),
            tetrahedron_by_quadrature(p * [[0], [1], [1], [1]])[2],
        )

    def test_limits_of_shapes(self):
        z = [0.0, 0.0, 1.0]
        near(matrix(UnitInertia.SolidCapsule(0.5, 0.0, z)), matrix(UnitInertia.SolidSphere(0.5)))
        near(matrix(UnitInertia.SolidCapsule(0.0, 2.0, z)), matrix(UnitInertia.ThinRod(2.0, z)))
        near(matrix(UnitInertia.SolidBox(0.0, 0.0, 2.0)), matrix(UnitInertia.ThinRod(2.0, z)))
        near(matrix(UnitInertia.SolidCylinder(0.0, 2.0, z)), matrix(UnitInertia.ThinRod(2.0, z)))
        near(matrix(UnitInertia.SolidEllipsoid(0.5, 0.5, 0.5)), matrix(UnitInertia.SolidSphere(0.5)))
        near(matrix(UnitInertia.SolidBox(2.0, 2.0, 2.0)), matrix(UnitInertia.SolidCube(2.0)))
        shells = matrix(UnitInertia.SolidSphere(1.0)) - 0.9**5 * matrix(UnitInertia.SolidSphere(0.9)) / 0.9**2
        near(shells / (1 - 0.9**3), 2 / 5 * (1 - 0.9**5) / (1 - 0.9**3) * np.eye(3), 1e-12)
        near(matrix(UnitInertia.SolidCapsule(0.5, 2.0, z)), np.diag([0.665625, 0.665625, 0.11875]), 1e-12)

    @pytest.mark.parametrize(
        "expression",
        [
            "UnitInertia.SolidBox(1, 2, -3)",
            "UnitInertia.SolidBox(1, 2, math.inf)",
            "UnitInertia.SolidCube(-1)",
            "UnitInertia.SolidSphere(-1)",
            "UnitInertia.HollowSphere(math.nan)",
            "UnitInertia.SolidEllipsoid(1, 2, -1)",
            "UnitInertia.SolidCylinder(-1, 2, z)",
            "UnitInertia.SolidCylinder(1, -2, z)",
            "UnitInertia.SolidCylinder(1, 2, [0, 0, 1 + 2e-14])",
            "UnitInertia.SolidCylinder(1, 2, [0, 0, 0])",
            "UnitInertia.SolidCylinderAboutEnd(1, 2, [0, 0, 2])",
            "UnitInertia.SolidCapsule(0, 0, z)",
            "UnitInertia.SolidCapsule(1, -1, z)",
            "UnitInertia.AxiallySymmetric(-1, 1, z)",
            "UnitInertia.AxiallySymmetric(1, -1, z)",
            "UnitInertia.AxiallySymmetric(2.1, 1, z)",
            "UnitInertia.StraightLine(0, z)",
            "UnitInertia.ThinRod(0, z)",
            "UnitInertia.TriaxiallySymmetric(-1)",
            "UnitInertia().SetFromRotationalInertia(RotationalInertia(1, 1, 1), 0)",
            "SpatialInertia.SolidBoxWithMass(0, 1, 1, 1)",
            "SpatialInertia.SolidBoxWithDensity(1, 1, 1, 0)",
            "SpatialInertia.SolidBoxWithDensity(1, 1, math.inf, 1)",
            "SpatialInertia.SolidCubeWithDensity(1, -1)",
            "SpatialInertia.SolidCubeWithMass(1, 0)",
            "SpatialInertia.SolidCylinderWithDensity(-1, 1, 1, z)",
            "SpatialInertia.SolidCylinderWithMass(1, 1, 1, [0, 0, 2])",
            "SpatialInertia.SolidCylinderWithMassAboutEnd(1, 0, 1, z)",
            "SpatialInertia.SolidCylinderWithDensityAboutEnd(1, 1, 0, z)",
            "SpatialInertia.SolidCapsuleWithMass(1, 0, 1, z)",
            "SpatialInertia.SolidCapsuleWithDensity(math.nan, 1, 1, z)",
            "SpatialInertia.SolidEllipsoidWithMass(1, 1, 0, 1)",
            "SpatialInertia.SolidEllipsoidWithDensity(0, 1, 1, 1)",
            "SpatialInertia.SolidSphereWithMass(1, 0)",
            "SpatialInertia.SolidSphereWithDensity(1, -1)",
            "SpatialInertia.HollowSphereWithMass(0, 1)",
            "SpatialInertia.HollowSphereWithDensity(1, 0)",
            "SpatialInertia.ThinRodWithMass(1, 0, z)",
            "SpatialInertia.ThinRodWithMassAboutEnd(1, 1, [0, 1, 1])",
            "SpatialInertia.SolidTetrahedronAboutVertexWithDensity(0, [1, 0, 0], [0, 1, 0], z)",
            "SpatialInertia.PointMass(0, z)",
            "SpatialInertia.MakeFromCentralInertia(0, z, RotationalInertia(1, 1, 1))",
            "SpatialInertia.MakeFromCentralInertia(1, [0, 0, math.nan], RotationalInertia(1, 1, 1))",
            "SpatialInertia.MakeFromCentralInertia(1, z, RotationalInertia())",
            "SpatialInertia.SolidCubeWithMass(1, 1).CalcPrincipalHalfLengthsAndPoseForEquivalentShape(0)",
            "SpatialInertia.SolidCubeWithMass(1, 1).CalcPrincipalHalfLengthsAndPoseForEquivalentShape(1.1)",
        ],
    )
    def test_impossible_shapes_raise(self, expression):
        with pytest.raises(ModelError):
            eval(expression, {**globals(), "z": [0.0, 0.0, 1.0]})


class TestValidity:
    """18."""

    def test_triangle_inequality(self):
        RotationalInertia(1.0, 1.0, 2.0)
        with pytest.raises(ModelError, match="2.0001 exceeds"):
            RotationalInertia(1.0, 1.0, 2.0001)
        for moment, slack in ((1e-6, 16 * EPS), (1e4, 16 * EPS * 2e4)):
            make = RotationalInertia.MakeFromMomentsAndProductsOfInertia
            inside = make(moment, moment, 2 * moment + 0.9 * slack, 0, 0, 0, skip_validity_check=True)
            outside = make(moment, moment, 2 * moment + 1.2 * slack, 0, 0, 0, skip_validity_check=True)
            assert inside.CouldBePhysicallyValid() and not outside.CouldBePhysicallyValid()

    def test_eigenvalues_are_tested_and_not_the_diagonal(self):
        """The diagonals satisfy the triangle inequality; the principal moments do not."""
        for products in ((1.5, 0.0, 0.0), (0.0, 1.2, 0.0), (0.0, 0.0, -1.1), (0.4, 0.4, 0.4)):
            with pytest.raises(ModelError):
                RotationalInertia(1.0, 1.0, 1.0, *products)
            with pytest.raises(ModelError):
                UnitInertia(1.0, 1.0, 1.0, *products)
        assert RotationalInertia(1.0, 1.0, 1.0, 0.2, 0.1, -0.1).CouldBePhysicallyValid()

    def test_nan_and_infinity(self):
        assert not RotationalInertia().CouldBePhysicallyValid()
        for wrong in (math.nan, math.inf):
            with pytest.raises(ModelError):
                RotationalInertia(wrong, 1.0, 1.0)
            with pytest.raises(ModelError):
                SpatialInertia(wrong, np.zeros(3), UnitInertia.SolidCube(1.0))
            with pytest.raises(ModelError):
                SpatialInertia(1.0, [wrong, 0.0, 0.0], UnitInertia.SolidCube(1.0))
        with pytest.raises(ModelError):
            SpatialInertia(1.0, np.zeros(3), UnitInertia())

    def test_valid_about_a_point_but_not_about_the_center_of_mass(self):
        """Possible as a rotational inertia, refused by the spatial inertia, which knows the center of mass."""
        G = UnitInertia.SolidCube(1.0)
        assert G.CouldBePhysicallyValid()
        with pytest.raises(ModelError, match="about the center of mass"):
            SpatialInertia(1.0, [5.0, 0.0, 0.0], G)
        unchecked = SpatialInertia(1.0, [5.0, 0.0, 0.0], G, skip_validity_check=True)
        assert not unchecked.IsPhysicallyValid()
        with pytest.raises(ModelError):
            RotationalInertia(1.0, 1.0, 1.0).ShiftToCenterOfMass(1.0, [5.0, 0.0, 0.0])
        with pytest.raises(ModelError):
            SpatialInertia(-1.0, np.zeros(3), G)
        with pytest.raises(TypeError):
            SpatialInertia(1.0, np.zeros(3), RotationalInertia(1.0, 1.0, 1.0))

    def test_extreme_but_possible_bodies_are_accepted(self, rng):
        """Rods and sheets are on the edge of the triangle inequality; far centers of mass add rounding."""
        for _ in range(100):
            R, p = UniformlyRandomRotationMatrix(rng), 100.0 * rng.standard_normal(3)
            for I in (RotationalInertia(0.0, 1e-3, 1e-3), RotationalInertia(1.0, 2.0, 3.0), RotationalInertia(0, 0, 0)):
                M = SpatialInertia.MakeFromCentralInertia(rng.uniform(0.01, 50.0), p, I.ReExpress(R))
                assert M.IsPhysicallyValid()
                SpatialInertia(M.get_mass(), M.get_com(), M.get_unit_inertia())
        assert SpatialInertia.Zero().IsPhysicallyValid() and not SpatialInertia.NaN().IsPhysicallyValid()


class TestShiftsAndAxes:
    """19."""

    def test_sum_of_particles_is_the_direct_formula(self, rng):
        mass, p = random_body(rng)
        second = (mass[:, None, None] * p[:, :, None] * p[:, None, :]).sum(axis=0)
        near(matrix(inertia_of(mass, p)), second.trace() * np.eye(3) - second)
        M = spatial_inertia_of(mass, p)
        assert M.get_mass() == pytest.approx(mass.sum())
        near(M.get_com(), mass @ p / mass.sum())
        near(matrix(M.CalcRotationalInertia()), matrix(inertia_of(mass, p)))

    def test_shifts_of_rotational_inertia_are_those_of_particles(self, rng):
        mass, p = random_body(rng)
        total, com = mass.sum(), mass @ p / mass.sum()
        P, Q = rng.standard_normal((2, 3))
        about_P, about_Q, central = (inertia_of(mass, p - x) for x in (P, Q, com))
        near(matrix(about_P.ShiftToCenterOfMass(total, com - P)), matrix(central))
        near(matrix(central.ShiftFromCenterOfMass(total, Q - com)), matrix(about_Q))
        near(matrix(about_P.ShiftToThenAwayFromCenterOfMass(total, com - P, com - Q)), matrix(about_Q))
        near(matrix(about_P.ShiftToCenterOfMass(total, P - com)), matrix(central))
        for name, start, arguments, expected in (
            ("ShiftToCenterOfMassInPlace", about_P, (total, com - P), central),
            ("ShiftFromCenterOfMassInPlace", central, (total, Q - com), about_Q),
            ("ShiftToThenAwayFromCenterOfMassInPlace", about_P, (total, com - P, com - Q), about_Q),
        ):
            moved = copy.copy(start)
            getattr(moved, name)(*arguments)
            near(matrix(moved), matrix(expected))
        for wrong in (-1.0, math.nan):
            with pytest.raises(ModelError):
                central.ShiftFromCenterOfMass(wrong, Q)

    def test_shifts_of_unit_inertia(self, rng):
        mass, p = random_body(rng)
        total, com = mass.sum(), mass @ p / mass.sum()
        G = UnitInertia().SetFromRotationalInertia(inertia_of(mass, p - com), total)
        shifted = G.ShiftFromCenterOfMass(com)
        assert type(shifted) is UnitInertia
        near(total * matrix(shifted), matrix(inertia_of(mass, p)))
        near(matrix(shifted.ShiftToCenterOfMass(com)), matrix(G))
        moved = copy.copy(G)
        moved.ShiftFromCenterOfMassInPlace(com)
        near(matrix(moved), matrix(shifted))
        moved.ShiftToCenterOfMassInPlace(com)
        near(matrix(moved), matrix(G))

    def test_reexpressed_inertia_turns_with_the_body(self, rng):
        mass, p = random_body(rng)
        R = UniformlyRandomRotationMatrix(rng)
        turned = p @ R.matrix().T
        near(matrix(inertia_of(mass, p).ReExpress(R)), matrix(inertia_of(mass, turned)))
        near(
            spatial_inertia_of(mass, p).ReExpress(R).CopyToFullMatrix6(),
            spatial_inertia_of(mass, turned).CopyToFullMatrix6(),
        )
        assert type(UnitInertia.SolidBox(1, 2, 3).ReExpress(R)) is UnitInertia
        for inertia in (inertia_of(mass, p), spatial_inertia_of(mass, p)):
            moved = copy.copy(inertia)
            moved.ReExpressInPlace(R)
            assert repr(moved) == repr(inertia.ReExpress(R))

    def test_spatial_inertia_shift_and_energy(self, rng):
        mass, p = random_body(rng)
        M = spatial_inertia_of(mass, p)
        q = rng.standard_normal(3)
        near(M.Shift(q).Shift(-q).CopyToFullMatrix6(), M.CopyToFullMatrix6())
        near(M.Shift(q).CopyToFullMatrix6(), spatial_inertia_of(mass, p - q).CopyToFullMatrix6())
        moved = copy.copy(M)
        moved.ShiftInPlace(q)
        near(moved.CopyToFullMatrix6(), M.Shift(q).CopyToFullMatrix6())
        V, R = SpatialVelocity(rng.standard_normal(6)), UniformlyRandomRotationMatrix(rng)
        energy = (M * V).dot(V)
        assert (M.Shift(q) * V.Shift(q)).dot(V.Shift(q)) == pytest.approx(energy, rel=1e-12)
        assert (M.ReExpress(R) * V.Rotate(R)).dot(V.Rotate(R)) == pytest.approx(energy, rel=1e-12)
        near((M.Shift(q) * V.Shift(q)).get_coeffs(), (M * V).Shift(q).get_coeffs())
        velocities = np.array([V.Shift(r).translational() for r in p])
        assert energy == pytest.approx((mass * (velocities**2).sum(axis=1)).sum(), rel=1e-12)

    def test_sign_of_the_first_moment(self):
        """M [0; a] is [m p x a; m a]: the upper right block of M is m p x."""
        m, p, a = 2.0, np.array([0.1, 0.2, 0.3]), np.array([1.0, -2.0, 0.5])
        M = SpatialInertia(m, p, UnitInertia.SolidCube(0.4).ShiftFromCenterOfMass(p))
        expected = [*(m * np.cross(p, a)), *(m * a)]
        product = M * SpatialAcceleration(np.zeros(3), a)
        assert type(product) is SpatialForce
        near(product.get_coeffs(), expected)
        near(M.CopyToFullMatrix6() @ [0, 0, 0, *a], expected)
        alpha = np.array([0.3, 0.1, -0.7])
        product = M * SpatialVelocity(alpha, np.zeros(3))
        assert type(product) is SpatialMomentum
        near(product.get_coeffs(), [*(m * matrix(M.get_unit_inertia()) @ alpha), *(m * np.cross(alpha, p))])
        near(M.CalcComMoment(), m * p)
        columns = np.arange(12.0).reshape(6, 2)
        near(M * columns, M.CopyToFullMatrix6() @ columns)
        near(M.CopyToFullMatrix6(), M.CopyToFullMatrix6().T, 0.0)
        assert np.linalg.eigvalsh(M.CopyToFullMatrix6()).min() > 0.0
        for wrong in (SpatialForce.Zero(), SpatialMomentum.Zero(), np.ones((5, 2)), np.ones(6), 2.0, M):
            with pytest.raises(TypeError):
                M * wrong

    def test_complex_step_through_mass_properties(self):
        """Mass, center of mass and inertia may carry a derivative."""

        def momentum(s):
            M = SpatialInertia.MakeFromCentralInertia(
                2.0 + s, [s, 0.1, 0.2 - s], RotationalInertia(1.0 + s, 1.1, 1.2, 0.1 * s, 0.0, 0.05)
            )
            M += SpatialInertia.PointMass(1.0 + s * s, [0.3, s, 0.0])
            return (M.Shift([s, 0.3, 0.0]) * SpatialVelocity([1, 2, 3], [4, 5, s])).get_coeffs()

        h = 1e-5
        near(momentum(0.1 + 1e-30j).imag / 1e-30, (momentum(0.1 + h) - momentum(0.1 - h)) / (2 * h), 1e-8)


class TestSums:
    """20."""

    def test_spatial_inertia_sum(self, rng):
        mass, p = random_body(rng, 9)
        total = spatial_inertia_of(mass[:4], p[:4])
        same, before = total, copy.copy(total)
        total += spatial_inertia_of(mass[4:], p[4:])
        assert total is same
        near(total.CopyToFullMatrix6(), spatial_inertia_of(mass, p).CopyToFullMatrix6())
        near(before.CopyToFullMatrix6(), spatial_inertia_of(mass[:4], p[:4]).CopyToFullMatrix6())
        second = (mass[:, None, None] * p[:, :, None] * p[:, None, :]).sum(axis=0)
        near(total.CopyToFullMatrix6()[:3, :3], second.trace() * np.eye(3) - second)

    def test_bodies_without_mass(self):
        """Two of no mass are averaged; one of no mass leaves the other as it is."""
        a = SpatialInertia(0.0, [1.0, 0.0, 0.0], UnitInertia.SolidCube(1.0))
        b = SpatialInertia(0.0, [0.0, 3.0, 0.0], UnitInertia.SolidCube(2.0))
        both = copy.copy(a)
        both += b
        assert both.get_mass() == 0.0
        near(both.get_com(), [0.5, 1.5, 0.0])
        near(matrix(both.get_unit_inertia()), 0.5 * (matrix(a.get_unit_inertia()) + matrix(b.get_unit_inertia())))
        box = SpatialInertia.SolidBoxWithMass(3.0, 1.0, 2.0, 3.0).Shift([0.1, 0.2, 0.3])
        for empty in (a, SpatialInertia.Zero()):
            left, right = copy.copy(empty), copy.copy(box)
            left += box
            right += empty
            near(left.CopyToFullMatrix6(), box.CopyToFullMatrix6())
            near(right.CopyToFullMatrix6(), box.CopyToFullMatrix6())
        nothing = SpatialInertia.Zero()
        nothing += SpatialInertia.Zero()
        assert nothing.IsZero()

    def test_only_spatial_inertias_are_added(self):
        with pytest.raises(TypeError):
            operator.iadd(SpatialInertia.Zero(), RotationalInertia(1, 1, 1))
        with pytest.raises(TypeError):
            SpatialInertia.Zero() + SpatialInertia.Zero()


class TestRotationalInertiaAlgebra:
    def test_elements_and_angular_momentum(self):
        I = RotationalInertia(1.0, 2.0, 2.5, 0.1, 0.2, 0.3)
        near(matrix(I), [[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 2.5]], 0.0)
        near(I.get_moments(), [1.0, 2.0, 2.5], 0.0)
        near(I.get_products(), [0.1, 0.2, 0.3], 0.0)
        assert I[0, 1] == I[1, 0] == 0.1 and I[2, 2] == 2.5
        assert (I.rows(), I.cols(), I.Trace(), I.CalcMaximumPossibleMomentOfInertia()) == (3, 3, 5.5, 2.75)
        near(I * [1.0, 2.0, 3.0], [1.8, 5.0, 8.3])
        # For one particle, I w is r x m v.
        r, w, m = np.array([0.3, -0.2, 0.7]), np.array([1.0, 2.0, -1.0]), 1.7
        near(RotationalInertia(mass=m, p_PQ_E=r) * w, m * np.cross(r, np.cross(w, r)))
        I.get_moments()[0] = I.CopyToFullMatrix3()[0, 0] = 9.0
        assert I[0, 0] == 1.0

    def test_operators(self):
        I, J = RotationalInertia(1.0, 2.0, 2.5, 0.1, 0.2, 0.3), RotationalInertia(5.0, 5.0, 5.0)
        near(matrix(I + J), matrix(I) + matrix(J), 0.0)
        near(matrix(J - I), matrix(J) - matrix(I), 0.0)
        near(matrix(2 * I), 2.0 * matrix(I), 0.0)
        near(matrix(I * np.float64(2.0)), 2.0 * matrix(I), 0.0)
        near(matrix(I / 4.0), 0.25 * matrix(I), 0.0)
        K = copy.copy(I)
        same = K
        K += J
        K -= I
        K *= 3.0
        K /= 5.0
        assert K is same and K.IsNearlyEqualTo(RotationalInertia(3.0, 3.0, 3.0), 1e-15)
        for call in (lambda: I - J, lambda: -2 * I, lambda: I * -1.0, lambda: I / 0, lambda: I / -1.0):
            with pytest.raises(ModelError):
                call()
        V = SpatialVelocity.Zero()
        for call in (lambda: I * I, lambda: I + 1.0, lambda: I * "a", lambda: V * I, lambda: I * V, lambda: I[0]):
            with pytest.raises(TypeError):
                call()
        for index in ((3, 0), (-1, 0), (0, 0, 0), (0.5, 0)):
            with pytest.raises(IndexError):
                I[index]

    def test_body_with_a_hole(self):
        hole = 2.0 * UnitInertia.SolidSphere(0.2)
        near(matrix(3.0 * UnitInertia.SolidBox(1, 1, 1) - hole), (0.5 - 0.032) * np.eye(3))

    def test_states(self):
        I = RotationalInertia(1.0, 2.0, 2.5)
        assert RotationalInertia().IsNaN() and UnitInertia().IsNaN()
        assert I.IsFinite() and not I.IsNaN() and not I.IsZero()
        J = copy.copy(I)
        I.SetZero()
        assert I.IsZero() and I.CouldBePhysicallyValid()
        I.SetToNaN()
        assert I.IsNaN() and not I.IsFinite() and J.IsFinite()
        M = SpatialInertia.SolidCubeWithMass(1.0, 1.0)
        assert not M.IsNaN() and not M.IsZero() and SpatialInertia.Zero().IsZero()
        M.SetNaN()
        assert M.IsNaN()

    def test_nearly_equal_is_relative_to_the_largest_possible_moment(self):
        I = RotationalInertia(100.0, 100.0, 100.0)
        assert I.IsNearlyEqualTo(RotationalInertia(100.0, 100.0, 100.1), 1e-3)
        assert not I.IsNearlyEqualTo(RotationalInertia(100.0, 100.0, 100.2), 1e-3)

    def test_unit_inertia_is_not_changed_into_another_by_arithmetic(self):
        G = UnitInertia.SolidBox(1, 2, 3)
        assert type(2.0 * G) is type(G + G) is type(G / 2.0) is RotationalInertia
        for change in (operator.iadd, operator.isub):
            with pytest.raises(TypeError):
                change(G, G)
        for change in (operator.imul, operator.itruediv):
            with pytest.raises(TypeError):
                change(G, 2.0)
        assert type(UnitInertia(2.0 * G)) is type(UnitInertia(I=G)) is UnitInertia
        near(matrix(UnitInertia.PointMass([1, 2, 3])), matrix(RotationalInertia(1.0, [1, 2, 3])))
        for wrong in ((1.0, [1, 2, 3]), (1.0,), (1, 2), (1, 2, 3, 4), ("a", 1, 1)):
            with pytest.raises(TypeError):
                UnitInertia(*wrong)
        for wrong in ((1.0,), (1, 2), (1, 2, 3, 4), ("a", 1, 1), (1.0, [1, 2])):
            with pytest.raises(TypeError):
                RotationalInertia(*wrong)
        with pytest.raises(ModelError):
            RotationalInertia(-1.0, [1, 2, 3])

    def test_copies_and_pickles(self):
        M = SpatialInertia.SolidBoxWithMass(2.0, 1, 2, 3).Shift([1, 2, 3])
        for x in (M, M.get_unit_inertia(), M.CalcRotationalInertia()):
            for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
                assert type(y) is type(x) and repr(y) == repr(x)
        assert (
            repr(RotationalInertia(1, 2, 3))
            == "RotationalInertia(Ixx=1.0, Iyy=2.0, Izz=3.0, Ixy=0.0, Ixz=0.0, Iyz=0.0)"
        )
        assert repr(SpatialInertia.Zero()) == "SpatialInertia.Zero()"


class TestPrincipalAxes:
    """21."""

    def check(self, I):
        moments, R = I.CalcPrincipalMomentsAndAxesOfInertia()
        assert (np.diff(moments) >= 0.0).all()
        assert R.IsValid()
        tolerance = 1e-13 * max(1.0, abs(I.Trace()))
        near(R.matrix() @ np.diag(moments) @ R.matrix().T, matrix(I), tolerance)
        near(I.CalcPrincipalMomentsOfInertia(), moments, 0.0)
        return moments, R

    def test_general_and_repeated_moments(self, rng):
        for moments in ([1, 2, 2.5], [1, 1, 1.5], [1, 1.5, 1.5], [0, 1, 1], [1e-9, 1e-9, 1e-9], [1e6, 1.5e6, 2e6]):
            for _ in range(20):
                R = UniformlyRandomRotationMatrix(rng)
                found, _ = self.check(RotationalInertia(*moments).ReExpress(R))
                near(found, moments, 1e-13 * max(moments))

    def test_equal_moments_give_identity(self):
        for moments in ((1, 1, 1), (0, 0, 0), (1 + 4 * EPS, 1, 1 + 2 * EPS)):
            assert self.check(RotationalInertia(*moments))[1].IsExactlyIdentity()
        assert not self.check(RotationalInertia(1 + 20 * EPS, 1, 1))[1].IsExactlyIdentity()

    @pytest.mark.parametrize("moments", [(3, 1, 2), (2, 1, 3), (1, 3, 2), (3, 2, 1), (2, 3, 1), (1, 2, 3)])
    def test_permuted_diagonals(self, moments):
        found, R = self.check(RotationalInertia(*moments))
        near(found, [1.0, 2.0, 3.0], 0.0)
        assert set(np.abs(R.matrix()).ravel()) == {0.0, 1.0}

    def test_not_finite(self):
        with pytest.raises(NumericalError):
            RotationalInertia().CalcPrincipalMomentsAndAxesOfInertia()
        with pytest.raises(NumericalError):
            RotationalInertia().CalcPrincipalMomentsOfInertia()


class TestEquivalentShapes:
    def pose(self, rng):
        return UniformlyRandomRotationMatrix(rng), rng.standard_normal(3)

    def test_shapes_are_recovered_wherever_they_are(self, rng):
        for _ in range(20):
            R, p = self.pose(rng)
            for M, sizes, method in (
                (
                    SpatialInertia.SolidEllipsoidWithMass(2.0, 0.3, 1.1, 0.7),
                    [1.1, 0.7, 0.3],
                    SpatialInertia.CalcPrincipalSemiDiametersAndPoseForSolidEllipsoid,
                ),
                (
                    SpatialInertia.SolidBoxWithMass(2.0, 0.6, 2.2, 1.4),
                    [1.1, 0.7, 0.3],
                    SpatialInertia.CalcPrincipalHalfLengthsAndPoseForSolidBox,
                ),
                (
                    spatial_inertia_of(
                        np.ones(8), np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, 8).T * [0.3, 1.1, 0.7]
                    ),
                    [1.1, 0.7, 0.3],
                    SpatialInertia.CalcPrincipalHalfLengthsAndPoseForMinimumBoundingBox,
                ),
            ):
                lengths, X = method(M.ReExpress(R).Shift(-p))
                near(lengths, sizes, 1e-12)
                near(X.translation(), p, 1e-12)
                # Longest along the body's y, then z, then x; signs are free.
                near(np.abs(R.matrix().T @ X.rotation().matrix()), [[0, 0, 1], [1, 0, 0], [0, 1, 0]], 1e-7)
                assert X.rotation().IsValid()

    def test_degenerate_bodies(self):
        lengths, X = SpatialInertia.PointMass(2.0, [1.0, 2.0, 3.0]).CalcPrincipalSemiDiametersAndPoseForSolidEllipsoid()
        near(lengths, np.zeros(3), 0.0)
        near(X.translation(), [1.0, 2.0, 3.0], 0.0)
        G = rotational_inertia.inertia_of(UnitInertia, np.diag([1.0, 1.0, 3.0]))
        impossible = SpatialInertia(2.0, np.zeros(3), G, True)
        assert impossible.CalcPrincipalSemiDiametersAndPoseForSolidEllipsoid()[0][2] == 0.0

    def test_minimum_length_is_that_of_two_particles(self):
        """No body of this trace can be shorter than two equal particles; they reach the bound."""
        M = spatial_inertia_of(np.array([1.5, 1.5]), np.array([[1.0, 0.0, 0.2], [1.0, 0.8, 0.2]]))
        assert M.CalcMinimumPhysicalLength() == pytest.approx(0.8 * math.sqrt(1.0), rel=1e-12)
        box = SpatialInertia.SolidBoxWithMass(1.0, 1.0, 2.0, 3.0)
        assert box.CalcMinimumPhysicalLength() < math.sqrt(14.0)


@pytest.mark.peers("pydrake")
class TestPydrake:
    """Every method of every class, on random bodies."""

    @pytest.fixture
    def drake(self):
        import pydrake.multibody.tree

        return pydrake.multibody.tree

    @pytest.fixture
    def drake_math(self):
        import pydrake.math

        return pydrake.math

    def test_rotational_and_unit_inertia(self, drake, drake_math, rng):
        for _ in range(50):
            mass, p = random_body(rng)
            I = inertia_of(mass, p)
            values = (*I.get_moments(), *I.get_products())
            dI = drake.RotationalInertia(*values)
            R = UniformlyRandomRotationMatrix(rng)
            dR = drake_math.RotationMatrix(R.matrix())
            a, b = rng.standard_normal((2, 3))
            total, com = mass.sum(), mass @ p / mass.sum()
            for ours, theirs in (
                (I, dI),
                (I.ReExpress(R), dI.ReExpress(dR)),
                (I.ShiftFromCenterOfMass(2.0, a), dI.ShiftFromCenterOfMass(2.0, a)),
                (I.ShiftToCenterOfMass(total, com), dI.ShiftToCenterOfMass(total, com)),
                (
                    I.ShiftToThenAwayFromCenterOfMass(total, com, b),
                    dI.ShiftToThenAwayFromCenterOfMass(total, com, b),
                ),
                (I + 0.5 * I, dI + 0.5 * dI),
                (I - 0.5 * I, dI - 0.5 * dI),
                (I / 3.0, dI / 3.0),
                (RotationalInertia(2.0, a), drake.RotationalInertia(2.0, a)),
                (UnitInertia(I).ReExpress(R), drake.UnitInertia(dI).ReExpress(dR)),
                (UnitInertia(I).ShiftFromCenterOfMass(a), drake.UnitInertia(dI).ShiftFromCenterOfMass(a)),
                (UnitInertia(I).ShiftToCenterOfMass(a), drake.UnitInertia(dI).ShiftToCenterOfMass(a)),
                (UnitInertia.PointMass(a), drake.UnitInertia.PointMass(a)),
            ):
                near(matrix(ours), theirs.CopyToFullMatrix3())
                assert ours.CouldBePhysicallyValid() == theirs.CouldBePhysicallyValid()
            near(I * a, dI * a)
            near(I.CalcPrincipalMomentsOfInertia(), dI.CalcPrincipalMomentsOfInertia(), 1e-12)
            axes = I.CalcPrincipalMomentsAndAxesOfInertia()[1].matrix()
            near(np.abs(axes.T @ dI.CalcPrincipalMomentsAndAxesOfInertia()[1].matrix()), np.eye(3), 1e-9)
            for name in ("Trace", "CalcMaximumPossibleMomentOfInertia", "get_moments", "get_products"):
                near(getattr(I, name)(), getattr(dI, name)())

    def test_validity_at_its_edges(self, drake, rng):
        make = RotationalInertia.MakeFromMomentsAndProductsOfInertia
        agreed = set()
        for _ in range(300):
            moments = rng.uniform(0.0, 2.0, 3)
            products = rng.uniform(-0.6, 0.6, 3) * rng.integers(0, 2)
            ours = make(*moments, *products, skip_validity_check=True).CouldBePhysicallyValid()
            assert ours == drake.RotationalInertia(*moments, *products).CouldBePhysicallyValid()
            agreed.add(ours)
            p = rng.uniform(-0.7, 0.7, 3)
            G = rotational_inertia.inertia_of(UnitInertia, matrix(make(*moments, *products, True)))
            dG = drake.UnitInertia(*moments, *products)
            ours = SpatialInertia(1.3, p, G, True).IsPhysicallyValid()
            assert ours == drake.SpatialInertia(1.3, p, dG, True).IsPhysicallyValid()
        assert agreed == {True, False}
        for moment in (1e-6, 0.3, 10.0, 1e4):
            for slack in (10, 15, 17, 20):
                largest = 2 * moment + slack * EPS * max(1.0, 2 * moment)
                ours = make(moment, moment, largest, 0, 0, 0, True).CouldBePhysicallyValid()
                assert ours == drake.RotationalInertia(moment, moment, largest).CouldBePhysicallyValid()

    def test_permuted_diagonals_have_the_same_axes(self, drake):
        permutations = ((3, 1, 2), (2, 1, 3), (1, 3, 2), (3, 2, 1), (2, 3, 1), (1, 2, 3))
        repeated = ((1, 1, 0.5), (1, 0.6, 1), (1 + 4 * EPS, 1, 1 + 2 * EPS), (1 + 20 * EPS, 1, 1))
        for moments in (*permutations, *repeated):
            ours = RotationalInertia(*moments).CalcPrincipalMomentsAndAxesOfInertia()
            theirs = drake.RotationalInertia(*moments).CalcPrincipalMomentsAndAxesOfInertia()
            near(ours[0], theirs[0], 0.0)
            near(ours[1].matrix(), theirs[1].matrix(), 0.0)

    def test_factories(self, drake, rng):
        for _ in range(10):
            a, b, c, d = rng.uniform(0.1, 2.0, 4)
            u = UniformlyRandomRotationMatrix(rng).col(0)
            u /= np.linalg.norm(u)
            for name, arguments in (
                ("SolidEllipsoid", (a, b, c)),
                ("SolidSphere", (a,)),
                ("HollowSphere", (a,)),
                ("SolidBox", (a, b, c)),
                ("SolidCube", (a,)),
                ("SolidCylinder", (a, b, u)),
                ("SolidCylinderAboutEnd", (a, b, u)),
                ("SolidCapsule", (a, b, u)),
                ("AxiallySymmetric", (a, a + b, u)),
                ("StraightLine", (a, u)),
                ("ThinRod", (a, u)),
                ("TriaxiallySymmetric", (a,)),
            ):
                ours, theirs = (getattr(k, name)(*arguments) for k in (UnitInertia, drake.UnitInertia))
                near(matrix(ours), theirs.CopyToFullMatrix3())
            for name, arguments in (
                ("SolidBoxWithDensity", (a, b, c, d)),
                ("SolidBoxWithMass", (a, b, c, d)),
                ("SolidCubeWithDensity", (a, b)),
                ("SolidCapsuleWithDensity", (a, b, c, u)),
                ("SolidCapsuleWithMass", (a, b, c, u)),
                ("SolidCylinderWithDensity", (a, b, c, u)),
                ("SolidCylinderWithMass", (a, b, c, u)),
                ("SolidCylinderWithDensityAboutEnd", (a, b, c, u)),
                ("SolidCylinderWithMassAboutEnd", (a, b, c, u)),
                ("SolidEllipsoidWithDensity", (a, b, c, d)),
                ("SolidEllipsoidWithMass", (a, b, c, d)),
                ("SolidSphereWithDensity", (a, b)),
                ("SolidSphereWithMass", (a, b)),
                ("HollowSphereWithDensity", (a, b)),
                ("HollowSphereWithMass", (a, b)),
                ("ThinRodWithMass", (a, b, u)),
                ("ThinRodWithMassAboutEnd", (a, b, u)),
            ):
                ours, theirs = (getattr(k, name)(*arguments) for k in (SpatialInertia, drake.SpatialInertia))
                near(ours.CopyToFullMatrix6(), theirs.CopyToFullMatrix6())

    def test_spatial_inertia(self, drake, drake_math, rng):
        from pydrake.multibody import math as spatial

        for _ in range(50):
            mass, p = random_body(rng)
            total, com = mass.sum(), mass @ p / mass.sum()
            central = inertia_of(mass, p - com)
            M = SpatialInertia.MakeFromCentralInertia(total, com, central)
            values = (*central.get_moments(), *central.get_products())
            dM = drake.SpatialInertia.MakeFromCentralInertia(total, com, drake.RotationalInertia(*values))
            R, q, six = UniformlyRandomRotationMatrix(rng), rng.standard_normal(3), rng.standard_normal(6)
            dR = drake_math.RotationMatrix(R.matrix())
            for ours, theirs in ((M, dM), (M.Shift(q), dM.Shift(q)), (M.ReExpress(R), dM.ReExpress(dR))):
                near(ours.CopyToFullMatrix6(), theirs.CopyToFullMatrix6())
                near(ours.get_mass(), theirs.get_mass())
                near(ours.get_com(), theirs.get_com())
                near(matrix(ours.get_unit_inertia()), theirs.get_unit_inertia().CopyToFullMatrix3())
                near(ours.CalcComMoment(), theirs.CalcComMoment())
                near(matrix(ours.CalcRotationalInertia()), theirs.CalcRotationalInertia().CopyToFullMatrix3())
            near((M * SpatialVelocity(six)).get_coeffs(), (dM * spatial.SpatialVelocity(six)).get_coeffs())
            near((M * SpatialAcceleration(six)).get_coeffs(), (dM * spatial.SpatialAcceleration(six)).get_coeffs())
            lengths, X = M.CalcPrincipalSemiDiametersAndPoseForSolidEllipsoid()
            d_lengths, dX = dM.CalcPrincipalSemiDiametersAndPoseForSolidEllipsoid()
            near(lengths, d_lengths, 1e-10)
            near(X.translation(), dX.translation())
            near(np.abs(X.rotation().matrix().T @ dX.rotation().matrix()), np.eye(3), 1e-9)
            other = SpatialInertia.SolidBoxWithMass(1, 1, 2, 3)
            d_other = drake.SpatialInertia.SolidBoxWithMass(1, 1, 2, 3)
            M += other
            dM += d_other
            near(M.CopyToFullMatrix6(), dM.CopyToFullMatrix6())

    def test_wrong_arguments_raise_as_in_pydrake(self, drake, drake_math):
        """RuntimeError and its kin, or TypeError; Drake's failed demands (SystemExit) are RuntimeError here."""
        ours = {"np": np, "RotationalInertia": RotationalInertia, "UnitInertia": UnitInertia, "R": RotationMatrix()}
        theirs = {"np": np, "RotationalInertia": drake.RotationalInertia, "UnitInertia": drake.UnitInertia}
        ours["SpatialInertia"], theirs["SpatialInertia"] = SpatialInertia, drake.SpatialInertia
        theirs["R"] = drake_math.RotationMatrix()
        for expression in (
            "RotationalInertia().CalcPrincipalMomentsOfInertia()",
            "RotationalInertia(1, 1, 1)[0]",
            "RotationalInertia(1, 2)",
            "RotationalInertia(1, 1, 1) @ [1, 2, 3]",
            "UnitInertia(1, [1, 2, 3])",
            "UnitInertia.SolidCylinder(1, 2)",
            "UnitInertia.SolidCylinder(1, 2, [0, 0, 2])",
            "UnitInertia.SolidCylinder(-1, 2, [0, 0, 1])",
            "UnitInertia.SolidBox(1, 2, -3)",
            "UnitInertia.SolidCapsule(0, 0, [0, 0, 1])",
            "UnitInertia.AxiallySymmetric(2.1, 1, [0, 0, 1])",
            "UnitInertia.AxiallySymmetric(2, 1, [0, 0, 0])",
            "UnitInertia.ThinRod(0, [0, 0, 1])",
            "UnitInertia().SetFromRotationalInertia(RotationalInertia(1, 1, 1), 0)",
            "SpatialInertia()",
            "SpatialInertia(-1, [0, 0, 0], UnitInertia.SolidCube(1))",
            "SpatialInertia(1, [5, 0, 0], UnitInertia.SolidCube(1))",
            "SpatialInertia(1, [np.nan, 0, 0], UnitInertia.SolidCube(1))",
            "SpatialInertia(np.inf, [0, 0, 0], UnitInertia.SolidCube(1))",
            "SpatialInertia(1, [0, 0, 0], UnitInertia(1, 1, np.inf))",
            "SpatialInertia.MakeFromCentralInertia(0, [1, 2, 3], RotationalInertia(1, 1, 1))",
            "SpatialInertia.SolidBoxWithMass(0, 1, 1, 1)",
            "SpatialInertia.SolidBoxWithDensity(1, 1, 1, np.inf)",
            "SpatialInertia.SolidCylinderWithDensity(1, 1, 1, [0, 0, 2])",
            "SpatialInertia.Zero() * 2",
            "SpatialInertia.Zero() + SpatialInertia.Zero()",
        ):
            raised = []
            for names in (theirs, ours):
                with pytest.raises((TypeError, RuntimeError, SystemExit)) as info:
                    eval(expression, dict(names))
                raised.append(TypeError if issubclass(info.type, TypeError) else RuntimeError)
            assert raised[0] is raised[1], expression

    def test_every_public_name_is_here(self, drake):
        for kind in (RotationalInertia, UnitInertia, SpatialInertia):
            theirs = getattr(drake, kind.__name__)
            assert {n for n in dir(theirs) if not n.startswith("_")} <= set(dir(kind)), kind
