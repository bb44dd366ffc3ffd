"""SensedRows: many states of a plant with what sensors measure in them, computed when a sensor asks for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.math.cross_product import cross
from mbcli.math.rotation_array import quaternions_from_matrices
from mbcli.multibody.sensing.touched import ContactForces, contact_sums, contacts_of_bodies, pressures, volume_of
from mbcli.sensors.axes import components, product, turned
from mbcli.sensors.rays import distance_along

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from mbcli.math.array_types import FloatArray, IntArray
    from mbcli.multibody.core.step_forces import StepForces
    from mbcli.multibody.sensing.plant_sensing import PlantSensing
    from mbcli.multibody.tree.sensor import Sensor

    Lazy: TypeAlias = FloatArray | Callable[[], FloatArray]


class Motion:
    """A frame in World at n states: R (n, 3, 3), p, w, v, alpha, a (n, 3) of its origin, in World's axes.

    Args:
        v, a: arrays, or functions that compute them for a sensor that asks.
    """

    def __init__(self, R: FloatArray, p: FloatArray, w: FloatArray, v: Lazy, alpha: FloatArray, a: Lazy) -> None:
        self.R, self.p, self.w, self.alpha = R, p, w, alpha
        self._v, self._a = v, a

    @cached_property
    def v(self) -> FloatArray:
        """Velocity."""
        return self._v() if callable(self._v) else self._v

    @cached_property
    def a(self) -> FloatArray:
        """Acceleration."""
        return self._a() if callable(self._a) else self._a


class Subtree(NamedTuple):
    """Links outboard of one, itself among them, at n states: centre of mass, its velocity, spin about it (n, 3)."""

    center: FloatArray
    velocity: FloatArray
    angular_momentum: FloatArray


class SensedRows:
    """States of a plant.

    Args:
        sensing: PlantSensing of the plant.
        time: (n,) [s]; q (n, nq), v (n, nv); energy (n, 2) kinetic, potential [J].
        vdot: (n, nv), in a discrete plant the mean accelerations of the step from each state; None: not known, all that
            is computed from it is NaN.
        steps: StepForces of these steps: accelerations and forces are those of where a step takes its forces; None: of
            the states.
        contacts: SampledContacts, None where nothing can touch.
        effort: (n, nu) [N m or N] of actuators, with what controllers add and within limits; None: not known, NaN.
        pushes: (n, nlink, 6) forces applied to links at their origins, in World; None: there are none.
        reactions: (n, joints, 6): as Evaluator.reactions has them; None: they follow from the motion.
    """

    def __init__(
        self,
        sensing: PlantSensing,
        time: FloatArray,
        q: FloatArray,
        v: FloatArray,
        *,
        energy: FloatArray | None = None,
        vdot: FloatArray | None = None,
        steps: StepForces | None = None,
        contacts: Any = None,
        effort: FloatArray | None = None,
        pushes: FloatArray | None = None,
        reactions: FloatArray | None = None,
    ) -> None:
        self._sensing, self.plant, self._model = sensing, sensing.plant, sensing.model
        self.time, self.q, self.v = time, q, v
        self._energy, self._vdot, self._contacts = energy, vdot, contacts
        self._effort, self._pushes, self._reactions = effort, pushes, reactions
        self.gravity = np.array(self._model.gravity)
        self._motions: dict[int, Motion] = {}
        self._steps = steps
        self._wanted: Sequence[int] = ()  # links of compute_motions()

    @cached_property
    def in_steps(self) -> SensedRows:
        """The rows for accelerations and forces: of where the steps take their forces; themselves without steps."""
        if self._steps is None:
            return self
        more = {"contacts": self._contacts, "effort": self._effort, "reactions": self._reactions}
        steps = self._steps
        rows = SensedRows(self._sensing, self.time, steps.q, steps.v, vdot=steps.vdot, pushes=self._pushes, **more)
        if self._wanted:
            rows.compute_motions(self._wanted)
        return rows

    def __len__(self) -> int:
        return len(self.time)

    # -------------------------------------------------------------------------------------------- motion

    def motion(self, sensor: Sensor) -> Motion:
        """Of the frame of a sensor."""
        return self.motion_of(*sensor.mount)

    def reference(self, sensor: Sensor) -> Motion:
        """Of the frame that a sensor measures in."""
        return self.motion_of(*(sensor.reference or (self.plant.world_body(), np.eye(4))))

    def motion_of(self, body: Any, X_BS: FloatArray) -> Motion:
        """Of the frame S that is fixed to a body at a pose (4, 4)."""
        B = self._motions_of([body.index_number])[body.index_number]
        r = turned(B.R, X_BS[:3, 3])
        own = product(B.R, X_BS[:3, :3]), B.p + r
        return Motion(*own, B.w, lambda: B.v + cross(B.w, r), B.alpha, lambda: _acceleration(B, r))

    def quaternions(self, R: FloatArray) -> FloatArray:
        """w, x, y, z (n, 4) of R (n, 3, 3), w not negative."""
        return quaternions_from_matrices(R)

    def compute_motions(self, links: Sequence[int]) -> None:
        """Of links that will be asked for, at once."""
        self._wanted = links
        self._keep(links, self._sensing.link_motions(self.q, self.v, self._vdot, list(links)))

    def _motions_of(self, links: Sequence[int]) -> dict[int, Motion]:
        """Of links, by their numbers; those that are missing are computed at once."""
        missing = [n for n in links if n not in self._motions]
        if missing:
            self._keep(missing, self._sensing.link_motions(self.q, self.v, self._vdot, missing))
        return self._motions

    def _keep(self, links: Sequence[int], found: tuple[Any, ...]) -> None:
        R, p, V, A = found
        for k, n in enumerate(links):
            self._motions[n] = Motion(R[:, k], p[:, k], V[:, k, :3], V[:, k, 3:], A[:, k, :3], A[:, k, 3:])

    def default_axes(self, sensor: Sensor) -> FloatArray:
        """R_WS (3, 3) of a sensor at the default positions of the plant."""
        return self._sensing.default_pose(sensor)[:3, :3]

    def default_place(self, sensor: Sensor) -> FloatArray:
        """p_WS (3,) there."""
        return self._sensing.default_pose(sensor)[:3, 3]

    def coordinate(self, sensor: Sensor) -> FloatArray:
        """(n,): the positions of its joints, each times its coefficient, and its offset."""
        parts = (c * self.q[:, joint.position_start()] for joint, c in sensor.joints)
        return sum(parts, np.full(len(self), sensor.offset))

    def rate(self, sensor: Sensor) -> FloatArray:
        """(n,): the rate of coordinate()."""
        parts = (c * self.v[:, joint.velocity_start()] for joint, c in sensor.joints)
        return sum(parts, np.zeros(len(self)))

    def subtree(self, body: Any) -> Subtree:
        """What a body carries, itself among it."""
        links = self._sensing.outboard(body.index_number)
        motions, inertia = self._motions_of(links), self._model.link_inertia
        mass = inertia[links, 0]
        total = mass.sum()
        centers = [self._center(motions[n], n) for n in links]
        center = sum((m * p for m, (p, _) in zip(mass, centers, strict=True)), np.zeros((len(self), 3)))
        velocity = sum((m * v for m, (_, v) in zip(mass, centers, strict=True)), np.zeros((len(self), 3)))
        if total <= 0.0:
            return Subtree(*[np.zeros((len(self), 3))] * 3)
        center, velocity = center / total, velocity / total
        spin = np.zeros((len(self), 3))
        for n, m, (p, v) in zip(links, mass, centers, strict=True):
            spin = spin + cross(p - center, m * (v - velocity)) + self._turned(n, motions[n], motions[n].w)
        return Subtree(center, velocity, spin)

    def _center(self, B: Motion, n: int) -> tuple[FloatArray, FloatArray]:
        """Place and velocity of the centre of mass of link n."""
        r = turned(B.R, self._model.link_inertia[n, 1:4])
        return B.p + r, B.v + cross(B.w, r)

    def _turned(self, n: int, B: Motion, w: FloatArray) -> FloatArray:
        """I w (n, 3) in World, with the central inertia of link n."""
        xx, yy, zz, xy, xz, yz = self._model.link_inertia[n, 4:10]
        central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return turned(B.R, turned(central[None], components(B.R, w)))

    @property
    def energy(self) -> FloatArray:
        """(n, 2) kinetic and potential [J]; NaN if they are not known."""
        return np.full((len(self), 2), np.nan) if self._energy is None else self._energy

    # -------------------------------------------------------------------------------------------- forces

    def effort(self, actuator: Any) -> FloatArray:
        """(n,) [N m or N] of an actuator on its joint: its input, and its controller's part."""
        if self._effort is None:
            return np.full(len(self), np.nan)
        return self._effort[:, self.plant.elements.actuators.index(actuator)]

    def joint_effort(self, joint: Any) -> FloatArray:
        """(n,) of all actuators of a joint."""
        own = [a for a in self.plant.elements.actuators if a.joint() is joint]
        return sum((self.effort(a) for a in own), np.zeros(len(self)))

    def wrench_on_body(self, body: Any) -> tuple[FloatArray, FloatArray]:
        """Torque about Wo and force (n, 3) on a link from the one that carries it, in World.

        Of World itself, as in MuJoCo: those that it has on all that it carries.
        """
        if body is self.plant.world_body():
            return self._wrench_of_world()
        joint = self._sensing.inboard_joint(body.index_number)
        if self._reactions is not None:
            torque, force = self.wrench_on_child(joint)
            sign = 1.0 if joint.child_body() is body else -1.0
            return sign * torque, sign * force
        return self._wrench(body.index_number)

    def wrench_on_child(self, joint: Any) -> tuple[FloatArray, FloatArray]:
        """Torque about Wo and force (n, 3) on the child of a joint from its parent, in World."""
        if self._reactions is not None:
            F = self._reactions[:, self.plant.elements.joints.index(joint)]
            frame = joint.frame_on_child()
            M = self.motion_of(frame.body(), frame.GetFixedPoseInBodyFrame().GetAsMatrix4())
            torque, force = (turned(M.R, part) for part in (F[:, :3], F[:, 3:]))
            return torque + cross(M.p, force), force
        link, sign = self._sensing.outboard_end(joint)
        torque, force = self._wrench(link)
        return sign * torque, sign * force

    def _wrench_of_world(self) -> tuple[FloatArray, FloatArray]:
        if self._reactions is None:
            return self._wrench(0)
        torque, force = np.zeros((len(self), 3)), np.zeros((len(self), 3))
        for joint in self.plant.elements.joints:
            for end, sign in ((joint.parent_body(), 1.0), (joint.child_body(), -1.0)):
                if end is self.plant.world_body():
                    own = self.wrench_on_child(joint)
                    torque, force = torque + sign * own[0], force + sign * own[1]
        return torque, force

    def _wrench(self, link: int) -> tuple[FloatArray, FloatArray]:
        """What the links outboard of a joint, or of World, need for their motion, less what else acts on them."""
        links = [n for n in self._sensing.outboard(link) if n]
        motions = self._motions_of(links)
        torque, force = np.zeros((len(self), 3)), np.zeros((len(self), 3))
        for n in links:
            B, mass = motions[n], self._model.link_inertia[n, 0]
            if mass or self._model.link_inertia[n, 4:].any():
                r = turned(B.R, self._model.link_inertia[n, 1:4])
                a = _acceleration(B, r)
                needed = mass * a - self._model.link_weight[n] * self.gravity
                force = force + needed
                torque = torque + cross(B.p + r, needed)
                torque = torque + self._turned(n, B, B.alpha) + cross(B.w, self._turned(n, B, B.w))
            if self._pushes is not None:
                push = self._pushes[:, n]
                force -= push[:, 3:]
                torque -= push[:, :3] + cross(B.p, push[:, 3:])
        if self._contacts is None:
            return torque, force
        touched = self.contacts_of([self.plant.elements.bodies[n] for n in links])
        for k in range(3):
            force[:, k] -= self.sums(touched.row, touched.force[:, k])
            torque[:, k] -= self.sums(touched.row, touched.moment_about_world()[:, k])
        return torque, force

    def contacts_of(self, bodies: Sequence[Any]) -> ContactForces:
        """The contacts of some bodies with others."""
        return contacts_of_bodies(self._sensing, self._contacts, bodies)

    def contact_sums(self, body: Any, geometries: Sequence[str] | None) -> FloatArray:
        """(n, 4): how many contacts a body has, or its geometries of these names, and their force on it."""
        return contact_sums(self._sensing, self._contacts, len(self), body, geometries)

    def pressures(self, body: Any, S: Motion, shape: tuple[str, Any]) -> FloatArray:
        """(n, 1) [N]: normal forces of its contacts whose point, or the line from it out of the body, is in a shape."""
        poses = np.hstack([S.R.reshape(-1, 9), S.p])
        return pressures(self._sensing, self._contacts, body, volume_of(shape), poses)

    def sums(self, row: IntArray, values: FloatArray) -> FloatArray:
        """(n,): of values that belong to rows."""
        found: Any = np.bincount(row, values, minlength=len(self))
        return found

    # ---------------------------------------------------------------------------------------------- rays

    def distances(self, body: Any, S: Motion, directions: FloatArray, largest: float) -> FloatArray:
        """(n, rays) [m]: along directions (rays, 3) in S to the geometries of other bodies that collide; inf: none."""
        n, count = len(self), len(directions)
        along = np.einsum("nij,rj->nri", S.R, directions).reshape(-1, 3)
        start = np.repeat(S.p, count, axis=0)
        nearest = np.full(n * count, np.inf)
        for owner, X_BG, shape in self._sensing.solids:
            if owner is not body:
                G = self.motion_of(owner, X_BG)
                R, p = np.repeat(G.R, count, axis=0), np.repeat(G.p, count, axis=0)
                own = components(R, start - p), components(R, along)
                nearest = np.minimum(nearest, distance_along(shape, *own))
        return np.where(nearest <= largest, nearest, np.inf).reshape(n, count)


def _acceleration(B: Motion, r: FloatArray) -> FloatArray:
    """(n, 3) of the point of B that is r from its origin."""
    return B.a + cross(B.alpha, r) + cross(B.w, cross(B.w, r))
