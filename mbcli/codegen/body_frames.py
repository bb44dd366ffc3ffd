"""Dynamics of trees in the frames of their bodies, for records: the same results as the kernels in World's axes, from
fewer operations where the arrays of the model are constants.

For joints with one axis, and bodies that are free in World. In its own frame a joint has a constant axis, z, and an
inertia stays as it is. Three things that move no force in a joint make constants vanish before anything is recorded:

- what of a body's mass lies on its axis moves with the inboard body, and counts there (Khalil and Dombre 2002, chapter
  9: base parameters); what would come to World counts nowhere;
- the origin of a body may lie anywhere on its axis: where the common normal to the next axis meets it, distances to
  that have fewest elements (Denavit and Hartenberg 1955);
- an acceleration needs no linear velocity: with U = [alpha] + [w][w], the point r of a body has a + U r (Luh, Walker
  and Paul 1980).

An inertia is (m, h, J): mass, first moment and second moments, the sums of m, m x and m x x^T over its points x.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.engine.fields.joint_names import JOINT_TYPES
from mbcli.engine.runtime.model import Data
from mbcli.engine.smooth.spatial import add, cross, dot, scale, subtract
from mbcli.tracing.recorded import Recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.tracing.recording import Way

    Vector3 = tuple[Any, Any, Any]

TURNS, SLIDES, FLIES = "turns", "slides", "flies"
KINDS = {JOINT_TYPES.index("revolute") + 1: TURNS, JOINT_TYPES.index("prismatic") + 1: SLIDES}
ZERO, UNIT_Z = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
TRACE = 1e-15  # of the largest of some numbers: no more than rounding leaves
PARALLEL = 1e-12  # square of the sine of an angle between axes


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
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    moments = [x + h[i] * r[j] + (r[i] * h[j] + (m * r[i]) * r[j]) for x, (i, j) in zip(J, pairs, strict=True)]
    return Inertia(m, add(h, scale(m, r)), tuple(moments))


def turned(R: Sequence[Vector3], I: Inertia) -> Inertia:
    """In axes in which those of before are the columns of R, which has three rows."""
    xx, yy, zz, xy, xz, yz = I.J
    rows = [(dot(row, (xx, xy, xz)), dot(row, (xy, yy, yz)), dot(row, (xz, yz, zz))) for row in R]
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    return Inertia(I.m, times(R, I.h), tuple(dot(rows[i], R[j]) for i, j in pairs))


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


class Tree:
    """A model as bodies with one axis, or free in World.

    Args:
        model: arrays of any numbers; one for which is_covered() is true.
        kernels: that know these numbers.
        lumped: whether what moves no force in a joint counts with the inboard body.
        slid: whether origins move along their axes to where distances have fewest elements.
    """

    def __init__(self, model: Any, kernels: Any, lumped: bool = True, slid: bool = True) -> None:
        self.model, self.kernels = model, kernels
        n = model.sizes["nbody"]
        self.parent, self.first = model.body_parent.tolist(), model.body_v.tolist()
        X = [row.tolist() for row in model.body_X_PF]
        self.R_PF = [(tuple(x[0:3]), tuple(x[3:6]), tuple(x[6:9])) for x in X]
        self.p_PF: list[Vector3] = [(x[9], x[10], x[11]) for x in X]
        self.kind = [SLIDES] + [self._kind(b) for b in range(1, n)]
        links = [np.flatnonzero(model.link_body == b) for b in range(n)]
        self.inertia = [
            inertia_of_links(model.link_X_BL, model.link_inertia, own if b else own[:0]) for b, own in enumerate(links)
        ]
        self.inertia = [_clean(I, I) for I in self.inertia]
        if slid:
            self._slide()
        if lumped:
            self._lump()

    def _kind(self, b: int) -> str:
        if self.model.body_free[b]:
            return FLIES
        return KINDS[int(self.model.body_joint_type[b])]

    def _slide(self) -> None:
        """Moves the origin of each body that turns along its axis: first to where the way to the next axis is."""
        n = len(self.parent)
        weight = [1] * n
        for b in range(n - 1, 0, -1):
            weight[self.parent[b]] += weight[b]
        along: list[Any] = [0.0] * n
        for b in range(1, n):
            if self.kind[b] != TURNS:
                continue
            outboard = [k for k in range(1, n) if self.parent[k] == b]
            following = max(outboard, key=lambda k: weight[k], default=None)
            if following is not None:
                along[b] = self._nearest(self.p_PF[following], self._axis(following), 0.0)
            elif self.kind[self.parent[b]] == TURNS:
                along[b] = self._nearest_on_own(b, along[self.parent[b]])
        for b in range(1, n):
            at = self.p_PF[b]
            moved = add(subtract(at, (0.0, 0.0, along[self.parent[b]])), scale(along[b], self._axis(b)))
            self.p_PF[b] = without_trace(moved, (*at, along[b], along[self.parent[b]]))
            shift = shifted(self.inertia[b], (0.0, 0.0, -along[b]))
            self.inertia[b] = _clean(shift, self.inertia[b])

    def _axis(self, b: int) -> Vector3:
        return tuple(row[2] for row in self.R_PF[b])

    @staticmethod
    def _nearest(r: Vector3, axis: Vector3, otherwise: Any) -> Any:
        """Where on z the line through r along an axis is nearest."""
        if 1.0 - axis[2] * axis[2] < PARALLEL:
            return r[2]
        return (r[2] - axis[2] * dot(r, axis)) / (1.0 - axis[2] * axis[2])

    def _nearest_on_own(self, b: int, origin: Any) -> Any:
        """Where on its own axis, from its origin, a body is nearest to the axis of its inboard body."""
        axis, r = self._axis(b), self.p_PF[b]
        if 1.0 - axis[2] * axis[2] < PARALLEL:
            return (origin - r[2]) * axis[2]
        return (axis[2] * r[2] - dot(r, axis)) / (1.0 - axis[2] * axis[2])

    def _lump(self) -> None:
        """Counts what lies on the axis of a body that turns, and the second moments of one that slides, inboard."""
        for b in range(len(self.parent) - 1, 0, -1):
            m, h, J = own = self.inertia[b]
            R, p = self.R_PF[b], self.p_PF[b]
            if self.kind[b] == TURNS:
                on_axis = Inertia(m, (0.0, 0.0, h[2]), (0.0, 0.0, J[2], 0.0, 0.0, 0.0))
                self.inertia[b] = Inertia(0.0, (h[0], h[1], 0.0), (J[0], J[1], 0.0, *J[3:]))
            elif self.kind[b] == SLIDES:
                on_axis, p = Inertia(0.0, ZERO, J), ZERO
                self.inertia[b] = Inertia(m, h, (0.0,) * 6)
            else:
                continue
            inboard = self.parent[b]
            if inboard:
                sum_of = together(self.inertia[inboard], shifted(turned(R, on_axis), p))
                self.inertia[inboard] = _clean(sum_of, self.inertia[inboard], own)

    # ---------------------------------------------------------------------------------------------- at positions

    def place(self, q: Any) -> None:
        """The joints at positions q (nq,): cosines and sines, ways along axes, rotations of free bodies."""
        model, n = self.model, len(self.parent)
        self.turn: list[tuple[Any, Any]] = [(1.0, 0.0)] * n
        self.p: list[Vector3] = list(self.p_PF)
        self.R_WB: dict[int, Any] = {}
        for b in range(1, n):
            i = int(model.body_q[b])
            if self.kind[b] == TURNS:
                s, c = self.kernels.sine_cosine(q[i])
                self.turn[b] = c, s
            elif self.kind[b] == SLIDES:
                self.p[b] = add(self.p_PF[b], scale(q[i], self._axis(b)))
            else:
                data: Any = Data(model.sizes, q.dtype)  # its arrays are named by fields
                data.q[:] = q
                self.kernels.sine_and_cosine(data.q, data.sin_q, data.cos_q)
                self.kernels.joint_pose(model.body_joint_type[b], model, data, b)
                x = data.X_FM[b].tolist()
                self.R_WB[b] = tuple(x[0:3]), tuple(x[3:6]), tuple(x[6:9])

    def outward(self, b: int, a: Vector3) -> Vector3:
        """A vector in the inboard axes, in those of body b."""
        c, s = self.turn[b]
        return about_z(c, -s, times(transposed(self.R_PF[b]), a))

    def inward(self, b: int, a: Vector3) -> Vector3:
        """The contrary."""
        c, s = self.turn[b]
        return times(self.R_PF[b], about_z(c, s, a))

    # --------------------------------------------------------------------------------------------- the algorithms

    def inverse_dynamics(self, v: Any, vdot: Any, gravity: Vector3) -> list[Any]:
        """tau (nv,) after place(), without springs, damping and armatures; of free bodies along their own axes."""
        n = len(self.parent)
        w, alpha, a = [ZERO] * n, [ZERO] * n, [ZERO] * n
        force, moment = [ZERO] * n, [ZERO] * n
        a[0] = scale(-1.0, gravity)
        spun: list[Any] = [((0.0,) * 3,) * 3] * n
        for b in range(1, n):
            p, d = self.parent[b], self.first[b]
            if self.kind[b] == FLIES:
                R = transposed(self.R_WB[b])
                w[b], alpha[b] = times(R, tuple(v[d : d + 3])), times(R, tuple(vdot[d : d + 3]))
                a[b] = times(R, add(a[0], tuple(vdot[d + 3 : d + 6])))
            else:
                w[b], alpha[b] = self.outward(b, w[p]), self.outward(b, alpha[p])
                a[b] = self.outward(b, add(a[p], times(spun[p], self.p[b])))
                if self.kind[b] == TURNS:
                    alpha[b] = (alpha[b][0] + w[b][1] * v[d], alpha[b][1] - w[b][0] * v[d], alpha[b][2] + vdot[d])
                    w[b] = (w[b][0], w[b][1], w[b][2] + v[d])
                else:
                    twice = v[d] + v[d]
                    a[b] = (a[b][0] + w[b][1] * twice, a[b][1] - w[b][0] * twice, a[b][2] + vdot[d])
            spun[b] = rate_matrix(w[b], alpha[b])
            force[b], moment[b] = force_on(self.inertia[b], spun[b], a[b])
        tau: list[Any] = [0.0] * len(v)
        for b in range(n - 1, 0, -1):
            d, p = self.first[b], self.parent[b]
            if self.kind[b] == FLIES:
                tau[d : d + 6] = (*moment[b], *force[b])
                continue
            tau[d] = moment[b][2] if self.kind[b] == TURNS else force[b][2]
            if p:
                f = self.inward(b, force[b])
                force[p] = add(force[p], f)
                moment[p] = add(moment[p], add(self.inward(b, moment[b]), cross(self.p[b], f)))
        return tau

    def mass_matrix(self, M: Any) -> None:
        """M (nv, nv), which is zero, after place(); without armatures. Velocities of free bodies along their axes."""
        n = len(self.parent)
        whole = list(self.inertia)
        for b in range(n - 1, 0, -1):
            if self.parent[b]:
                c, s = self.turn[b]
                moved = shifted(turned(self.R_PF[b], turned_about_z(c, s, whole[b])), self.p[b])
                whole[self.parent[b]] = together(whole[self.parent[b]], moved)
        for b in range(1, n):
            for k, (w, a) in enumerate(self._unit_motions(b)):
                force, moment = force_on(whole[b], rate_of(w), a)
                self._project(M, b, self.first[b] + k, force, moment)

    def _unit_motions(self, b: int) -> list[tuple[Vector3, Vector3]]:
        """Angular acceleration, and that of the origin, by each velocity of a body."""
        units = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), UNIT_Z)
        if self.kind[b] == FLIES:
            return [(unit, ZERO) for unit in units] + [(ZERO, unit) for unit in units]
        return [(UNIT_Z, ZERO) if self.kind[b] == TURNS else (ZERO, UNIT_Z)]

    def _project(self, M: Any, b: int, d: int, force: Vector3, moment: Vector3) -> None:
        """Row and column d of M: what a force on body b needs of all velocities between it and World."""
        while b:
            first = self.first[b]
            along = (*moment, *force) if self.kind[b] == FLIES else (moment[2] if self.kind[b] == TURNS else force[2],)
            for k, x in enumerate(along):
                if first + k <= d:
                    M[d, first + k] = M[first + k, d] = x
            if not self.parent[b]:
                return
            force, moment = self.inward(b, force), self.inward(b, moment)
            moment = add(moment, cross(self.p[b], force))
            b = self.parent[b]

    def accelerations(self, tau: Any, diagonal: Any) -> list[Any]:
        """vdot of (M + diagonal) vdot = tau, free bodies along their own axes."""
        nv = len(tau)
        M, D, x = np.zeros((nv, nv), object), np.zeros(nv, object), np.array(tau, dtype=object)[:, None]
        self.mass_matrix(M)
        for d in range(nv):
            M[d, d] += diagonal[d]
        self.kernels.factorize_dense(self.model, M, D)
        self.kernels.solve_dense_rows(self.model, M, D, x, 1.0)
        return list(x[:, 0])

    def in_own_axes(self, x: Any) -> list[Any]:
        """(nv,) of velocities or forces; of free bodies along World's axes before, along theirs then."""
        return self._turn_free(x, transposed)

    def in_world_axes(self, x: Any) -> list[Any]:
        """The contrary."""
        return self._turn_free(x, tuple)

    def _turn_free(self, x: Any, way: Callable[[Any], Any]) -> list[Any]:
        result = list(x)
        for b, R in self.R_WB.items():
            for d in (self.first[b], self.first[b] + 3):
                result[d : d + 3] = times(way(R), tuple(result[d : d + 3]))
        return result


def is_covered(model: Any) -> bool:
    """Whether a Tree can be made of a model: one axis or none for each joint, gravity on all mass, plain elements."""
    of_free = [d for b in np.flatnonzero(model.body_free) for d in range(model.body_v[b], model.body_v[b] + 6)]
    kinds = zip(model.body_free[1:], model.body_joint_type[1:].tolist(), strict=True)
    is_simple = all(free or kind in KINDS for free, kind in kinds)
    is_simple = is_simple and not any(model.dof_armature[of_free]) and not np.isin(of_free, model.locked_dof).any()
    return bool(is_simple and model.is_plain and model.uniform_gravity[0])


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


def _clean(I: Inertia, *made_of: Inertia) -> Inertia:
    all_of = (I, *made_of)
    h = without_trace(I.h, [x for each in all_of for x in each.h])
    return Inertia(I.m, h, without_trace(I.J, [x for each in all_of for x in each.J]))


# ----------------------------------------------------------------------------------------------- functions of models


def _inverse_dynamics(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    q, v, vdot = inputs
    model = tree.model
    tree.place(q)
    tau = tree.in_world_axes(tree.inverse_dynamics(v, vdot, tuple(model.gravity)))
    given = _joint_forces(tree, data, q, v)
    return [x + model.dof_armature[d] * vdot[d] - given[d] for d, x in enumerate(tau)]


def _joint_forces(tree: Tree, data: Any, q: Any, v: Any) -> Any:
    """tau (nv,) of damping, springs and stops."""
    data.q[:], data.v[:], data.tau[:] = q, v, 0.0
    tree.kernels.add_joint_forces(tree.model, data)
    return data.tau


def _forward_dynamics(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    q, v, tau = inputs
    model = tree.model
    tree.place(q)
    bias = tree.inverse_dynamics(v, [0.0] * len(v), tuple(model.gravity))
    total = tree.in_own_axes(tau + _joint_forces(tree, data, q, v))
    data.diagonal[:] = model.dof_armature
    tree.kernels.apply_joint_locks(model, data)
    return tree.in_world_axes(tree.accelerations([x - y for x, y in zip(total, bias, strict=True)], data.diagonal))


def _mass_matrix(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    tree.place(*inputs)
    tree.mass_matrix(data.M)
    if tree.R_WB:
        for axis in (data.M, data.M.T):
            for k in range(len(axis)):
                axis[:, k] = tree.in_world_axes(axis[:, k])
    for d, armature in enumerate(tree.model.dof_armature):
        data.M[d, d] += armature
    return list(data.M.ravel())


def _bias(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    q, v = inputs
    tree.place(q)
    return tree.in_world_axes(tree.inverse_dynamics(v, [0.0] * len(v), ZERO))


def _gravity(tree: Tree, data: Any, inputs: Any) -> list[Any]:
    tree.place(*inputs)
    rest = [0.0] * tree.model.sizes["nv"]
    return [-x for x in tree.in_world_axes(tree.inverse_dynamics(rest, rest, tuple(tree.model.gravity)))]


IN_BODY_FRAMES: dict[str, Callable[[Tree, Any, Any], list[Any]]] = {
    "inverse_dynamics": _inverse_dynamics,
    "forward_dynamics": _forward_dynamics,
    "mass_matrix": _mass_matrix,
    "bias": _bias,
    "gravity": _gravity,
}
WAYS = ((True, True), (True, False), (False, False))  # lumped, slid


def ways_in_body_frames(name: str, model: Any) -> list[Way]:
    """Ways to compute a function of a model in the frames of its bodies, as record_function() takes them."""
    if name not in IN_BODY_FRAMES or not is_covered(model):
        return []

    def way(lumped: bool, slid: bool) -> Way:
        return lambda kernels, model, inputs: IN_BODY_FRAMES[name](
            Tree(model, kernels, lumped, slid), Data(model.sizes, np.dtype(object)), inputs
        )

    return [way(*each) for each in WAYS]


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
