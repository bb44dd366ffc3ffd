"""Dynamics of trees in the frames of their bodies, for records: the same results as the kernels in World's axes, from
fewer operations where the arrays of the model are constants.

For joints with one axis, and bodies that are free in World. In its own frame a joint has a constant axis, z, and an
inertia stays as it is. What moves no force in a joint makes constants vanish before anything is recorded:

- what of a body's mass lies on its axis moves with the inboard body, and counts there (Khalil and Dombre 2002, chapter
  9: base parameters); what would come to World counts nowhere;
- the origin of a body may lie anywhere on its axis: where the common normal to the next axis meets it, distances to
  that have fewest elements (Denavit and Hartenberg 1955).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.codegen.articulated import Articulated
from mbcli.codegen.point_inertia import (
    UNIT_Z,
    ZERO,
    Inertia,
    about_z,
    clean,
    force_on,
    inertia_of_links,
    rate_matrix,
    rate_of,
    shifted,
    times,
    together,
    transposed,
    turned,
    turned_about_z,
    without_trace,
)
from mbcli.engine.fields.joint_names import JOINT_TYPES
from mbcli.engine.runtime.model import Data
from mbcli.engine.smooth.spatial import add, cross, dot, scale, subtract

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.codegen.point_inertia import Vector3

TURNS, SLIDES, FLIES = "turns", "slides", "flies"
KINDS = {JOINT_TYPES.index("revolute") + 1: TURNS, JOINT_TYPES.index("prismatic") + 1: SLIDES}
PARALLEL = 1e-12  # square of the sine of an angle between axes


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
        self.inertia = [clean(I, I) for I in self.inertia]
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
                along[b] = self._nearest(self.p_PF[following], self._axis(following))
            elif self.kind[self.parent[b]] == TURNS:
                along[b] = self._nearest_on_own(b, along[self.parent[b]])
        for b in range(1, n):
            at = self.p_PF[b]
            moved = add(subtract(at, (0.0, 0.0, along[self.parent[b]])), scale(along[b], self._axis(b)))
            self.p_PF[b] = without_trace(moved, (*at, along[b], along[self.parent[b]]))
            shift = shifted(self.inertia[b], (0.0, 0.0, -along[b]))
            self.inertia[b] = clean(shift, self.inertia[b])

    def _axis(self, b: int) -> Vector3:
        return tuple(row[2] for row in self.R_PF[b])

    @staticmethod
    def _nearest(r: Vector3, axis: Vector3) -> Any:
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
            sum_of = together(self.inertia[inboard], shifted(turned(R, on_axis), p))
            self.inertia[inboard] = clean(sum_of, self.inertia[inboard], own)

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
                self.R_WB[b], self.p[b] = (tuple(x[0:3]), tuple(x[3:6]), tuple(x[6:9])), tuple(x[9:12])

    def outward(self, b: int, a: Vector3) -> Vector3:
        """A vector in the inboard axes, in those of body b."""
        if self.kind[b] == FLIES:
            return times(transposed(self.R_WB[b]), a)
        c, s = self.turn[b]
        return about_z(c, -s, times(transposed(self.R_PF[b]), a))

    def inward(self, b: int, a: Vector3) -> Vector3:
        """The contrary."""
        if self.kind[b] == FLIES:
            return times(self.R_WB[b], a)
        c, s = self.turn[b]
        return times(self.R_PF[b], about_z(c, s, a))

    # --------------------------------------------------------------------------------------------- the algorithms

    def motion(self, v: Any, vdot: Any, gravity: Vector3) -> list[tuple[Any, ...]]:
        """After place(), of each body: w, alpha, U of rate_matrix(), and a of its origin less gravity."""
        n = len(self.parent)
        w, alpha, a = [ZERO] * n, [ZERO] * n, [scale(-1.0, gravity)] * n
        spun: list[Any] = [(ZERO,) * 3] * n
        for b in range(1, n):
            p, d = self.parent[b], self.first[b]
            if self.kind[b] == FLIES:
                w[b], alpha[b] = self.outward(b, tuple(v[d : d + 3])), self.outward(b, tuple(vdot[d : d + 3]))
                a[b] = self.outward(b, add(a[0], tuple(vdot[d + 3 : d + 6])))
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
        return list(zip(w, alpha, spun, a, strict=True))

    def inverse_dynamics(self, v: Any, vdot: Any, gravity: Vector3) -> list[Any]:
        """tau (nv,) after place(), without springs, damping and armatures; of free bodies along their own axes."""
        motion = self.motion(v, vdot, gravity)
        loads = [force_on(I, spun, a) for I, (_, _, spun, a) in zip(self.inertia, motion, strict=True)]
        force, moment = ([load[k] for load in loads] for k in range(2))
        tau: list[Any] = [0.0] * len(v)
        for b in range(len(self.parent) - 1, 0, -1):
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

    def velocities_by(self) -> list[dict[int, tuple[Vector3, Vector3]]]:
        """After place(), of each body in its axes: {velocity d: what a unit of it gives, angular and of the origin}."""
        found: list[dict[int, tuple[Vector3, Vector3]]] = [{}]
        for b in range(1, len(self.parent)):
            own = {
                d: (self.outward(b, w), self.outward(b, add(u, cross(w, self.p[b]))))
                for d, (w, u) in found[self.parent[b]].items()
            }
            for k, (w, u) in enumerate(self._unit_motions(b)):
                flies = self.kind[b] == FLIES  # whose velocities are along World's axes
                own[self.first[b] + k] = (self.outward(b, w), self.outward(b, u)) if flies else (w, u)
            found.append(own)
        return found

    def momentum(self, v: Any) -> tuple[Vector3, Vector3, Any]:
        """After place(): angular momentum about World's origin, linear momentum, and twice the kinetic energy."""
        n = len(self.parent)
        w: list[Any] = [ZERO] * n
        u: list[Any] = [ZERO] * n
        spin, linear = [ZERO] * n, [ZERO] * n
        twice: Any = 0.0
        for b in range(1, n):
            p, d = self.parent[b], self.first[b]
            if self.kind[b] == FLIES:
                w[b], u[b] = self.outward(b, tuple(v[d : d + 3])), self.outward(b, tuple(v[d + 3 : d + 6]))
            else:
                w[b], u[b] = self.outward(b, w[p]), self.outward(b, add(u[p], cross(w[p], self.p[b])))
                moved = w if self.kind[b] == TURNS else u
                moved[b] = (moved[b][0], moved[b][1], moved[b][2] + v[d])
            spin[b], linear[b] = Articulated.of(self.inertia[b]).times(w[b], u[b])
            twice = twice + (dot(w[b], spin[b]) + dot(u[b], linear[b]))
        for b in range(n - 1, 0, -1):
            p, of_b = self.parent[b], self.inward(b, linear[b])
            linear[p] = add(linear[p], of_b)
            spin[p] = add(spin[p], add(self.inward(b, spin[b]), cross(self.p[b], of_b)))
        return spin[0], linear[0], twice

    def first_moment(self) -> Vector3:
        """After place(): the sum of mass times place in World of all bodies that move."""
        mass, moment = ([I.m for I in self.inertia], [I.h for I in self.inertia])
        for b in range(len(self.parent) - 1, 0, -1):
            p = self.parent[b]
            moment[p] = add(moment[p], add(self.inward(b, moment[b]), scale(mass[b], self.p[b])))
            mass[p] = mass[p] + mass[b]
        return moment[0]

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

    def articulated_accelerations(self, v: Any, tau: Any, diagonal: Any, gravity: Vector3) -> list[Any]:
        """As accelerations(), of vdot under tau, gravity and velocities, by the articulated-body algorithm."""
        n = len(self.parent)
        w: list[Any] = [ZERO] * n
        spun: list[Any] = [(ZERO,) * 3] * n
        bias: list[tuple[Vector3, Vector3]] = [(ZERO, ZERO)] * n  # of accelerations: angular, of the origin
        P, load = [Articulated.of(I) for I in self.inertia], [(ZERO, ZERO)] * n
        for b in range(1, n):
            p, d = self.parent[b], self.first[b]
            if self.kind[b] == FLIES:
                w[b] = self.outward(b, tuple(v[d : d + 3]))
            else:
                w[b], a = self.outward(b, w[p]), self.outward(b, times(spun[p], self.p[b]))
                across = (w[b][1] * v[d], -(w[b][0] * v[d]), 0.0)
                bias[b] = (across, a) if self.kind[b] == TURNS else (ZERO, add(a, add(across, across)))
                if self.kind[b] == TURNS:
                    w[b] = (w[b][0], w[b][1], w[b][2] + v[d])
            spun[b] = rate_matrix(w[b], ZERO)
            force, moment = force_on(self.inertia[b], spun[b], ZERO)
            load[b] = moment, force
        column: list[Any] = [None] * n
        for b in range(n - 1, 0, -1):
            if self.kind[b] != FLIES:
                column[b] = self._eliminate(b, P, load, bias[b], tau[self.first[b]], diagonal[self.first[b]])
        return self._accelerate(P, load, bias, column, tau, scale(-1.0, gravity))

    def _eliminate(self, b: int, P: Any, load: Any, bias: Any, tau: Any, diagonal: Any) -> Any:
        """Frees body b along its axis, and adds what is felt inboard to its inboard body: (u, D, rest of tau)."""
        own, (moment, force) = P[b], load[b]
        u, k = (own.column_of_turn(), 2) if self.kind[b] == TURNS else (own.column_of_slide(), 5)
        D, rest = u[k] + diagonal, tau - (moment[2] if self.kind[b] == TURNS else force[2])
        if self.parent[b]:
            felt, share = own.without(u, D, k if type(diagonal) is float and diagonal == 0.0 else None), rest / D
            more_moment, more_force = felt.times(*bias)
            moment = add(moment, add(more_moment, scale(share, u[:3])))
            force = add(force, add(more_force, scale(share, u[3:])))
            c, s = self.turn[b]
            P[self.parent[b]] = P[self.parent[b]].plus(
                felt.turned_about_z(c, s).turned(self.R_PF[b]).shifted(self.p[b])
            )
            f = self.inward(b, force)
            before = load[self.parent[b]]
            felt_moment = add(self.inward(b, moment), cross(self.p[b], f))
            load[self.parent[b]] = add(before[0], felt_moment), add(before[1], f)
        return u, D, rest

    def _accelerate(self, P: Any, load: Any, bias: Any, column: Any, tau: Any, world: Vector3) -> list[Any]:
        """vdot from World, which accelerates, outwards."""
        n = len(self.parent)
        alpha, a, vdot = [ZERO] * n, [world] * n, [0.0] * len(tau)
        for b in range(1, n):
            p, d = self.parent[b], self.first[b]
            if self.kind[b] == FLIES:
                x = P[b].solve([y - z for y, z in zip(tau[d : d + 6], (*load[b][0], *load[b][1]), strict=True)])
                alpha[b], a[b] = tuple(x[:3]), tuple(x[3:])
                vdot[d : d + 6] = (*alpha[b], *subtract(a[b], self.outward(b, world)))
                continue
            u, D, rest = column[b]
            alpha[b] = add(self.outward(b, alpha[p]), bias[b][0])
            a[b] = add(self.outward(b, add(a[p], cross(alpha[p], self.p[b]))), bias[b][1])
            vdot[d] = (rest - (dot(u[:3], alpha[b]) + dot(u[3:], a[b]))) / D
            of: list[Any] = alpha if self.kind[b] == TURNS else a
            of[b] = (of[b][0], of[b][1], of[b][2] + vdot[d])
        return vdot
