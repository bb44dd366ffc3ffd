"""Polyhedra by their half-spaces, polytopes by their vertices, and one from the other by Qhull."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.optimization.convex_set import NEGLIGIBLE, ConvexSet, least
from mbcli.geometry.optimization.hyperellipsoid import Hyperellipsoid
from mbcli.solvers.cone_rows import SECOND_ORDER, ConeRows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, IntArray


class HPolyhedron(ConvexSet):
    """A x <= b. A: (m, n), b: (m,); or HPolyhedron(vpoly), the facets of a polytope."""

    def __init__(
        self, A: Any = ((),), b: ArrayLike = (), *, vpoly: VPolytope | None = None, tol: float = NEGLIGIBLE
    ) -> None:
        source = A if isinstance(A, VPolytope) else vpoly
        A, b = (A, b) if source is None else _facets(source.vertices(), tol)
        self._A, self._b = np.atleast_2d(np.array(A, dtype=float)), np.ravel(np.array(b, dtype=float))
        if self._A.size == self._b.size == 0:
            self._A = self._A.reshape(0, self._A.shape[1])
        if len(self._A) != len(self._b):
            raise ValueError(f"HPolyhedron: A of {len(self._A)} rows, b of {len(self._b)} numbers")
        super().__init__(self._A.shape[1])

    @staticmethod
    def MakeBox(lb: ArrayLike, ub: ArrayLike) -> HPolyhedron:
        """Between lower and upper bounds (n,)."""
        lb, ub = np.ravel(np.asarray(lb, dtype=float)), np.ravel(np.asarray(ub, dtype=float))
        return HPolyhedron(np.concatenate([np.eye(len(lb)), -np.eye(len(lb))]), np.concatenate([ub, -lb]))

    @staticmethod
    def MakeUnitBox(dim: int) -> HPolyhedron:
        """Between -1 and 1."""
        return HPolyhedron.MakeBox(np.full(dim, -1.0), np.ones(dim))

    @staticmethod
    def MakeL1Ball(dim: int) -> HPolyhedron:
        """Where the magnitudes of coordinates sum up to at most 1."""
        signs = np.array([s[::-1] for s in product((1.0, -1.0), repeat=dim)])
        return HPolyhedron(signs, np.ones(2**dim))

    def A(self) -> FloatArray:
        """(m, n)"""
        return self._A.copy()

    def b(self) -> FloatArray:
        """(m,)"""
        return self._b.copy()

    def PointInSet(self, x: ArrayLike, tol: float = 1e-8) -> bool:
        """Whether A x <= b + tol."""
        return bool(np.all(self._A @ self._vector(x) <= self._b + tol))

    def inscribed_ball(self) -> tuple[FloatArray, float]:
        """(center, radius) of a largest ball inside, a negative radius if the set is empty; of at most radius 1e6."""
        rows = ConeRows(self._dimension + 1)
        lengths = np.linalg.norm(self._A, axis=1)
        rows.add_between(np.column_stack([self._A, lengths]), np.full(len(self._b), -np.inf), self._b)
        radius = np.eye(self._dimension + 1)[-1:]
        rows.add_between(radius, np.array([-np.inf]), np.array([1e6]))
        y = least(rows, np.zeros((rows.n, rows.n)), -radius[0])
        if y is None:  # a row without direction is not satisfied
            return np.zeros(self._dimension), -np.inf
        return y[:-1], float(y[-1])

    def ChebyshevCenter(self) -> FloatArray:
        """The center of a largest ball inside. RuntimeError if the set is empty."""
        center, radius = self.inscribed_ball()
        if radius < -NEGLIGIBLE:
            raise RuntimeError("ChebyshevCenter: the polyhedron is empty")
        return center

    def MaximumVolumeInscribedEllipsoid(self) -> Hyperellipsoid:
        """{C u + d, |u| <= 1} inside, of the largest det C. RuntimeError if the set is empty, flat or unbounded.

        Of C only C C' matters, so that it is triangular here: the geometric mean of its diagonal is largest where
        |C' a| + a' d <= b for all rows. C is right to 1e-5 or so.
        """
        if not self.IsBounded():
            raise RuntimeError("MaximumVolumeInscribedEllipsoid: the polyhedron is unbounded")
        return self.inscribed_ellipsoid()

    def inscribed_ellipsoid(self) -> Hyperellipsoid:
        """MaximumVolumeInscribedEllipsoid() of a set that is known to be bounded."""
        n = self._dimension
        lower = np.tril_indices(n)
        rows = ConeRows(len(lower[0]) + n)
        for a, b in zip(self._A, self._b, strict=True):
            cone = np.zeros((n + 1, rows.n))
            cone[0, -n:] = -a
            cone[1 + lower[1], np.arange(len(lower[0]))] = a[lower[0]]
            rows.add_cone(SECOND_ORDER, cone, np.concatenate([[b], np.zeros(n)]))
        mean = _geometric_mean(rows, np.flatnonzero(lower[0] == lower[1]))
        y = least(rows, np.zeros((rows.n, rows.n)), -np.eye(rows.n)[mean])
        C = np.zeros((n, n))
        C[lower] = 0.0 if y is None else y[: len(lower[0])]
        U, s, _ = np.linalg.svd(C)
        if y is None or s[-1] < NEGLIGIBLE:
            raise RuntimeError("MaximumVolumeInscribedEllipsoid: the polyhedron is empty or flat")
        return Hyperellipsoid(U / s @ U.T, y[len(lower[0]) : len(lower[0]) + n])

    def Intersection(self, other: HPolyhedron, check_for_redundancy: bool = False, tol: float = 1e-9) -> HPolyhedron:
        """With the rows of another one, if asked without those of its rows that say nothing more, to tol."""
        A, b = self._A, self._b
        for row, bound in zip(other.A(), other.b(), strict=True):
            if not check_for_redundancy or HPolyhedron(A, b).support(row) > bound + tol:
                A, b = np.concatenate([A, row[None]]), np.append(b, bound)
        return HPolyhedron(A, b)

    def FindRedundant(self, tol: float = 1e-9) -> set[int]:
        """The rows that the others imply to tol, from the first on."""
        redundant: set[int] = set()
        for i in range(len(self._b)):
            kept = [k for k in range(len(self._b)) if k not in redundant and k != i]
            bound = np.concatenate([self._b[kept], [self._b[i] + 1.0]])
            if HPolyhedron(self._A[[*kept, i]], bound).support(self._A[i]) <= self._b[i] + tol:
                redundant.add(i)
        return redundant

    def ReduceInequalities(self, tol: float = 1e-9) -> HPolyhedron:
        """Without redundant rows."""
        kept = sorted(set(range(len(self._b))) - self.FindRedundant(tol))
        return HPolyhedron(self._A[kept], self._b[kept])

    def ContainedIn(self, other: HPolyhedron, tol: float = 1e-9) -> bool:
        """Whether all its points satisfy another one's rows to tol."""
        return all(self.support(a) <= b + tol for a, b in zip(other.A(), other.b(), strict=True))

    def Scale(self, scale: float, center: ArrayLike | None = None) -> HPolyhedron:
        """Of scale times the volume, about a center, the Chebyshev center if not given."""
        center = self.ChebyshevCenter() if center is None else self._vector(center)
        at = self._A @ center
        return HPolyhedron(self._A, at + scale ** (1.0 / self._dimension) * (self._b - at))

    def CartesianProduct(self, other: HPolyhedron) -> HPolyhedron:
        """The points (x, y), x of this and y of the other."""
        zero = np.zeros((len(self._b), other.ambient_dimension())), np.zeros((len(other.b()), self._dimension))
        return HPolyhedron(np.block([[self._A, zero[0]], [zero[1], other.A()]]), np.concatenate([self._b, other.b()]))

    def CartesianPower(self, n: int) -> HPolyhedron:
        """The product of it with itself, n times."""
        return HPolyhedron(np.kron(np.eye(n), self._A), np.tile(self._b, n))

    def PontryaginDifference(self, other: HPolyhedron) -> HPolyhedron:
        """The points that stay inside when any point of the other is added."""
        return HPolyhedron(self._A, self._b - np.array([other.support(a) for a in self._A]))

    def IntersectsWith(self, other: ConvexSet) -> bool:
        """Whether a point is in both."""
        if isinstance(other, VPolytope):  # mostly a vertex is inside, or one row keeps all out
            over = self._A @ other.vertices() - self._b[:, None]
            if (over <= 0.0).all(axis=0).any():
                return True
            if (over > NEGLIGIBLE).all(axis=1).any():
                return False
        return super().IntersectsWith(other)

    def add_point(self, rows: ConeRows) -> tuple[FloatArray, FloatArray]:
        """See ConvexSet."""
        G = rows.add_variables(self._dimension)
        rows.add_between(self._A @ G, np.full(len(self._b), -np.inf), self._b)
        return G, np.zeros(self._dimension)


class VPolytope(ConvexSet):
    """The convex hull of vertices (n, k); or VPolytope(H), of the vertices of a bounded HPolyhedron."""

    def __init__(self, vertices: Any = ((),), tol: float = NEGLIGIBLE, *, H: HPolyhedron | None = None) -> None:
        source = vertices if isinstance(vertices, HPolyhedron) else H
        self._vertices = np.atleast_2d(np.array(vertices if source is None else _corners(source, tol), dtype=float))
        super().__init__(len(self._vertices))

    @staticmethod
    def MakeBox(lb: ArrayLike, ub: ArrayLike) -> VPolytope:
        """Between lower and upper bounds (n,)."""
        both = np.array([np.ravel(lb), np.ravel(ub)], dtype=float)
        chosen = np.array([c[::-1] for c in product((0, 1), repeat=both.shape[1])])
        return VPolytope(both[chosen, np.arange(both.shape[1])].T)

    @staticmethod
    def MakeUnitBox(dim: int) -> VPolytope:
        """Between -1 and 1."""
        return VPolytope.MakeBox(np.full(dim, -1.0), np.ones(dim))

    def vertices(self) -> FloatArray:
        """(n, k)"""
        return self._vertices.copy()

    def support(self, direction: ArrayLike) -> float:
        """See ConvexSet: at one of the vertices."""
        return float(np.max(self._vector(direction) @ self._vertices, initial=-np.inf))

    def GetMinimalRepresentation(self, tol: float = 1e-9) -> VPolytope:
        """Without the points that are no vertices, counterclockwise in the plane."""
        from scipy.spatial import ConvexHull

        x0, N = _flat(self._vertices, tol)
        flat = N.T @ (self._vertices - x0)
        kept = (
            ConvexHull(flat.T).vertices if len(flat) > 1 else [np.argmin(flat), np.argmax(flat)] if len(flat) else [0]
        )
        return VPolytope(self._vertices[:, kept])

    def CalcVolume(self) -> float:
        """The volume in R^n, 0 if it is flat."""
        from scipy.spatial import ConvexHull

        _, N = _flat(self._vertices, NEGLIGIBLE)
        if N.shape[1] < self._dimension:
            return 0.0
        return float(ConvexHull(self._vertices.T).volume if self._dimension > 1 else np.ptp(self._vertices))

    def add_point(self, rows: ConeRows) -> tuple[FloatArray, FloatArray]:
        """See ConvexSet."""
        weights = rows.add_variables(self._vertices.shape[1])
        rows.add_between(weights, np.zeros(len(weights)), np.full(len(weights), np.inf))
        rows.add_between(np.atleast_2d(weights.sum(axis=0)), np.ones(1), np.ones(1))
        return self._vertices @ weights, np.zeros(self._dimension)


def _geometric_mean(rows: ConeRows, variables: IntArray) -> int:
    """A new variable, at most the geometric mean of others, by cones over pairs; it stands in for missing ones."""
    mean = rows.n
    rows.add_variables(1)
    level = [*variables, *[mean] * ((1 << (len(variables) - 1).bit_length()) - len(variables))]
    while len(level) > 1:
        pairs = list(zip(level[::2], level[1::2], strict=True))
        level = [mean] if len(pairs) == 1 else list(range(rows.n, rows.n + len(pairs)))
        rows.add_variables(0 if len(pairs) == 1 else len(pairs))
        for (x, y), root in zip(pairs, level, strict=True):  # root^2 <= x y
            cone = np.zeros((3, rows.n))
            cone[[0, 0, 1, 1, 2], [x, y, x, y, root]] += [1.0, 1.0, 1.0, -1.0, 2.0]
            rows.add_cone(SECOND_ORDER, cone, np.zeros(3))
    return mean if len(variables) > 1 else int(variables[0])


def _flat(points: FloatArray, tol: float) -> tuple[FloatArray, FloatArray]:
    """(x0 (n, 1), N (n, k)): orthonormal directions in which points (n, count) spread by more than tol."""
    if not points.size:
        raise RuntimeError("a polytope without vertices has no facets")
    x0 = points.mean(axis=1, keepdims=True)
    U, s, _ = np.linalg.svd(points - x0, full_matrices=False)
    N = U[:, s > tol * max(1.0, s[0])]
    return (x0, N) if N.shape[1] < len(x0) else (np.zeros_like(x0), np.eye(len(x0)))


def _facets(points: FloatArray, tol: float) -> tuple[FloatArray, FloatArray]:
    """(A, b) of the hull of points (n, k): a flat one has two rows for each direction in which it is so."""
    from scipy.spatial import ConvexHull

    x0, N = _flat(points, tol)
    flat = N.T @ (points - x0)
    if len(flat) > 1:
        rows = np.unique(ConvexHull(flat.T).equations.round(13), axis=0)  # several triangles of one facet
    else:
        rows = np.array([[1.0, -flat.max()], [-1.0, flat.min()]]) if len(flat) else np.zeros((0, 1))
    across = np.linalg.svd(N, full_matrices=True)[0][:, N.shape[1] :].T
    A = np.concatenate([rows[:, :-1] @ N.T, across, -across])
    return A, A @ x0[:, 0] + np.concatenate([-rows[:, -1], np.zeros(2 * len(across))])


def _corners(H: HPolyhedron, tol: float) -> FloatArray:
    """The vertices (n, k) of a polyhedron. RuntimeError if it is unbounded."""
    from scipy.spatial import HalfspaceIntersection

    A, b = H.A(), H.b()
    center, radius = H.inscribed_ball()
    if radius < -tol:
        return np.zeros((A.shape[1], 0))
    if not H.IsBounded():
        raise RuntimeError("VPolytope: the polyhedron is unbounded")
    if radius <= tol:  # flat: the rows that hold with equality everywhere leave fewer directions
        tight = np.array([-H.support(-a) >= bound - 10.0 * tol for a, bound in zip(A, b, strict=True)])
        _, s, rows = np.linalg.svd(A[tight])
        N = rows[np.count_nonzero(s > tol) :].T
        if not N.size:
            return center[:, None]
        return center[:, None] + N @ _corners(HPolyhedron(A[~tight] @ N, b[~tight] - A[~tight] @ center), tol)
    if len(center) == 1:
        return np.array([[-H.support([-1.0]), H.support([1.0])]])
    found = HalfspaceIntersection(np.column_stack([A, -b]), center).intersections
    near = np.abs(found[:, None] - found).max(axis=2) <= NEGLIGIBLE * max(1.0, np.abs(found).max())
    once = found[~np.tril(near, -1).any(axis=1)]  # Qhull gives some twice, and points of edges
    slack = NEGLIGIBLE * (np.linalg.norm(A, axis=1) + np.abs(b))
    touching = [A[np.abs(A @ x - b) <= slack] for x in once]
    ranks = [np.linalg.matrix_rank(rows, NEGLIGIBLE * np.linalg.norm(rows)) for rows in touching]
    return once[np.array(ranks) == len(center)].T
