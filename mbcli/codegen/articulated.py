"""Articulated inertias in the axes of a body: symmetric matrices (6, 6) that joints have freed along some axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mbcli.codegen.point_inertia import PAIRS, ZERO, Inertia, about_z, times, turned, turned_about_z
from mbcli.engine.smooth.spatial import add, cross, dot, scale, subtract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.codegen.point_inertia import Vector3

    Symmetric = tuple[Any, Any, Any, Any, Any, Any]  # xx, yy, zz, xy, xz, yz


class Articulated(NamedTuple):
    """moment = I alpha + H a, force = H^T alpha + M a, about the origin, which accelerates by a. H is three rows."""

    I: Symmetric
    H: Sequence[Vector3]
    M: Symmetric

    @staticmethod
    def of(inertia: Inertia) -> Articulated:
        """Of a body whose joints are held."""
        m, (x, y, z), (xx, yy, zz, xy, xz, yz) = inertia
        H = ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))
        return Articulated((yy + zz, xx + zz, xx + yy, -xy, -xz, -yz), H, (m, m, m, 0.0, 0.0, 0.0))

    def plus(self, other: Articulated) -> Articulated:
        """Of both, held together."""
        H = tuple(add(a, b) for a, b in zip(self.H, other.H, strict=True))
        return Articulated(_sum(self.I, other.I), H, _sum(self.M, other.M))

    def times(self, alpha: Vector3, a: Vector3) -> tuple[Vector3, Vector3]:
        """moment, force"""
        columns = tuple(zip(*self.H, strict=True))
        moment = add(times(_rows(self.I), alpha), times(self.H, a))
        return moment, add(times(columns, alpha), times(_rows(self.M), a))

    def column_of_turn(self) -> tuple[Any, ...]:
        """Moment and force by a unit of alpha along z."""
        _, _, zz, _, xz, yz = self.I
        return xz, yz, zz, *self.H[2]

    def column_of_slide(self) -> tuple[Any, ...]:
        """The same of a along z."""
        _, _, zz, _, xz, yz = self.M
        return *(row[2] for row in self.H), xz, yz, zz

    def without(self, u: Sequence[Any], D: Any, freed: int | None) -> Articulated:
        """Less u u^T / D; freed: the row and column that are zero then, exactly; None: there is none."""
        s = 1.0 / D
        scaled = [0.0 if k == freed else s * x for k, x in enumerate(u)]
        u = [0.0 if k == freed else x for k, x in enumerate(u)]
        zeroed = [0.0 if k == freed else 1.0 for k in range(6)]

        def less(x: Any, i: int, j: int) -> Any:
            return (x - scaled[i] * u[j]) if zeroed[i] and zeroed[j] else 0.0

        I = tuple(less(x, i, j) for x, (i, j) in zip(self.I, PAIRS, strict=True))
        M = tuple(less(x, i + 3, j + 3) for x, (i, j) in zip(self.M, PAIRS, strict=True))
        H = tuple(tuple(less(x, i, j + 3) for j, x in enumerate(row)) for i, row in enumerate(self.H))
        return Articulated(I, H, M)

    def turned(self, R: Sequence[Vector3]) -> Articulated:
        """In axes in which those of before are the columns of R."""
        rows = [times(R, row) for row in self.H]  # H R^T
        H = tuple(_combined(row, rows) for row in R)
        return Articulated(turned(R, _as_moments(self.I)).J, H, turned(R, _as_moments(self.M)).J)

    def turned_about_z(self, c: Any, s: Any) -> Articulated:
        """The same for a turn by the angle of that cosine and sine."""
        x, y, z = (about_z(c, s, row) for row in self.H)
        H = (subtract(scale(c, x), scale(s, y)), add(scale(s, x), scale(c, y)), z)
        I, M = (turned_about_z(c, s, _as_moments(part)).J for part in (self.I, self.M))
        return Articulated(I, H, M)

    def shifted(self, r: Vector3) -> Articulated:
        """About an origin from which the old one is at r: a + alpha x r moves it."""
        columns = tuple(cross(r, column) for column in _rows(self.M))
        H = tuple(add(row, change) for row, change in zip(self.H, zip(*columns, strict=True), strict=True))
        # I - H [r] + [r] H'^T, symmetric
        first = [cross(r, row) for row in self.H]  # rows of -H [r]: r x row
        second = tuple(zip(*(cross(r, row) for row in H), strict=True))  # [r] H'^T, row by row
        I = tuple(x + (first[i][j] + second[i][j]) for x, (i, j) in zip(self.I, PAIRS, strict=True))
        return Articulated(I, H, self.M)

    def solve(self, x: Sequence[Any]) -> list[Any]:
        """alpha and a (6,) of a moment and a force (6,), by L^T D L."""
        I, M = _rows(self.I), _rows(self.M)
        A = [[*I[i], *self.H[i]] for i in range(3)] + [[*(row[i] for row in self.H), *M[i]] for i in range(3)]
        y = list(x)
        for d in range(5, -1, -1):
            for i in range(d - 1, -1, -1):
                factor = A[d][i] / A[d][d]
                for j in range(i + 1):
                    A[i][j] = A[i][j] - factor * A[d][j]
                A[d][i] = factor
                y[i] = y[i] - factor * y[d]
        for d in range(6):
            y[d] = y[d] / A[d][d]
            for i in range(d):
                y[d] = y[d] - A[d][i] * y[i]
        return y


def _sum(a: Symmetric, b: Symmetric) -> Symmetric:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _rows(S: Symmetric) -> Sequence[Vector3]:
    xx, yy, zz, xy, xz, yz = S
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


def _as_moments(S: Symmetric) -> Inertia:
    return Inertia(0.0, ZERO, S)


def _combined(weights: Vector3, rows: Sequence[Vector3]) -> Vector3:
    columns = tuple(zip(*rows, strict=True))
    return tuple(dot(weights, column) for column in columns)
