"""Inertias as moments of points, and vectors and rotations as tuples, of any numbers.

An inertia is (m, h, J): mass, first moment and second moments, the sums of m, m x and m x x^T over its points x. With
U = [alpha] + [w][w] the point x of a body has the acceleration a + U x (Luh, Walker and Paul 1980): force and moment
follow from moments, without linear velocities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mbcli.engine.smooth.spatial import add, cross, dot, scale
from mbcli.tracing.recorded import Recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    Vector3 = tuple[Any, Any, Any]

PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # of a symmetric matrix: xx, yy, zz, xy, xz, yz
ZERO, UNIT_Z = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
TRACE = 1e-15  # of the largest of some numbers: no more than rounding leaves


class Inertia(NamedTuple):
    """m, h (3,), and J as xx, yy, zz, xy, xz, yz."""

    m: Any
    h: Vector3
    J: tuple[Any, Any, Any, Any, Any, Any]


NOTHING = Inertia(0.0, ZERO, (0.0,) * 6)


def together(a: Inertia, b: Inertia) -> Inertia:
    """Of both."""
    return Inertia(a.m + b.m, add(a.h, b.h), tuple(x + y for x, y in zip(a.J, b.J, strict=True)))


def shifted(I: Inertia, r: Vector3) -> Inertia:
    """The same points about an origin from which the old one is at r."""
    m, h, J = I
    moments = [x + h[i] * r[j] + (r[i] * h[j] + (m * r[i]) * r[j]) for x, (i, j) in zip(J, PAIRS, strict=True)]
    return Inertia(m, add(h, scale(m, r)), tuple(moments))


def turned(R: Sequence[Vector3], I: Inertia) -> Inertia:
    """In axes in which those of before are the columns of R, which has three rows."""
    xx, yy, zz, xy, xz, yz = I.J
    rows = [(dot(row, (xx, xy, xz)), dot(row, (xy, yy, yz)), dot(row, (xz, yz, zz))) for row in R]
    return Inertia(I.m, times(R, I.h), tuple(dot(rows[i], R[j]) for i, j in PAIRS))


def turned_about_z(c: Any, s: Any, I: Inertia) -> Inertia:
    """The same for a turn by the angle of that cosine and sine: J by its half sum and half difference."""
    xx, yy, zz, xy, xz, yz = I.J
    across = s * (c * (xx - yy) - (s * xy + s * xy)) + xy  # c s (xx - yy) + (c^2 - s^2) xy
    less = s * (s * (xx - yy) + (c * xy + c * xy))  # by what xx falls, yy grows
    return Inertia(I.m, about_z(c, s, I.h), (xx - less, yy + less, zz, across, c * xz - s * yz, s * xz + c * yz))


def times(R: Sequence[Vector3], a: Vector3) -> Vector3:
    """R a"""
    return dot(R[0], a), dot(R[1], a), dot(R[2], a)


def transposed(R: Sequence[Vector3]) -> Sequence[Vector3]:
    """R^T"""
    return tuple((R[0][k], R[1][k], R[2][k]) for k in range(3))


def about_z(c: Any, s: Any, a: Vector3) -> Vector3:
    """a, turned by the angle of that cosine and sine."""
    return c * a[0] - s * a[1], s * a[0] + c * a[1], a[2]


def inertia_of_links(link_X_BL: Any, link_inertia: Any, links: Any) -> Inertia:
    """Of some links of one body, in its frame."""
    found = NOTHING
    for X, row in zip(link_X_BL[links].tolist(), link_inertia[links].tolist(), strict=True):
        m, c, (xx, yy, zz, xy, xz, yz) = row[0], tuple(row[1:4]), row[4:]
        half = 0.5 * (xx + yy + zz)
        central = Inertia(m, ZERO, (half - xx, half - yy, half - zz, -xy, -xz, -yz))
        R = tuple(X[0:3]), tuple(X[3:6]), tuple(X[6:9])
        found = together(found, shifted(turned(R, shifted(central, c)), tuple(X[9:12])))
    return found


def central_row(I: Inertia) -> list[Any]:
    """Mass, centre of mass and central inertia, as rows of arrays of models have them; no centre without mass."""
    m, h, _ = I
    if type(m) is not Recorded and m == 0.0:
        return [0.0] * 10
    c = tuple(x / m for x in h)
    xx, yy, zz, xy, xz, yz = shifted(Inertia(m, h, I.J), scale(-1.0, c)).J
    return [m, *c, yy + zz, xx + zz, xx + yy, -xy, -xz, -yz]


def without_trace(numbers: Sequence[Any], beside: Sequence[Any]) -> Any:
    """Numbers with exact zeros where rounding is left, beside others that they were made of."""
    largest = max((abs(x) for x in beside if type(x) is not Recorded), default=0.0)
    return tuple(x if type(x) is Recorded or abs(x) > TRACE * largest else 0.0 for x in numbers)


def clean(I: Inertia, *made_of: Inertia) -> Inertia:
    """An inertia with exact zeros where rounding is left, beside others that it was made of."""
    all_of = (I, *made_of)
    h = without_trace(I.h, [x for each in all_of for x in each.h])
    return Inertia(I.m, h, without_trace(I.J, [x for each in all_of for x in each.J]))


def rate_matrix(w: Vector3, alpha: Vector3) -> Sequence[Vector3]:
    """U = [alpha] + [w][w], row by row: the acceleration of a point r of a body is a + U r."""
    x, y, z = w
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return (
        (-(yy + zz), xy - alpha[2], xz + alpha[1]),
        (xy + alpha[2], -(xx + zz), yz - alpha[0]),
        (xz - alpha[1], yz + alpha[0], -(xx + yy)),
    )


def rate_of(alpha: Vector3) -> Sequence[Vector3]:
    """The same at rest."""
    return rate_matrix(ZERO, alpha)


def force_on(I: Inertia, U: Sequence[Vector3], a: Vector3) -> tuple[Vector3, Vector3]:
    """Force, and moment about the origin, that give a body the accelerations a + U r."""
    m, h, (xx, yy, zz, xy, xz, yz) = I
    force = add(scale(m, a), times(U, h))
    moment = (
        U[2][1] * yy - U[1][2] * zz + (U[2][2] - U[1][1]) * yz + (U[2][0] * xy - U[1][0] * xz),
        U[0][2] * zz - U[2][0] * xx + (U[0][0] - U[2][2]) * xz + (U[0][1] * yz - U[2][1] * xy),
        U[1][0] * xx - U[0][1] * yy + (U[1][1] - U[0][0]) * xy + (U[1][2] * xz - U[0][2] * yz),
    )
    return force, add(moment, cross(h, a))
