"""Resistance: forces of air and water that fall with velocities, in a step which takes much of these away.

A force that holds for a step h takes more than all of a velocity where h D / m is above 2, D its slope and m what it
moves. Over the step it is taken to fall by S h D J vdot instead, vdot the accelerations of the step, with

    (2 + 2 B + B^2) F = (2 + B) F_0 - (1 + B) h D J a,   B = h D J M^-1 J^T,

which is F_0 - S h D J (a + M^-1 J^T F) for S = (1 + B) (2 + B)^-1: of second order for what a step resolves, and all of
it where it does not, as for dampers between links (mbcli/engine/smooth/element_rows.py). a is what all else did to the
velocities in the step before, contact and drives among it; so a body that sinks at its final velocity has F = F_0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.core.jacobians import JacobianWrtVariable

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, Matrix, Vector, Vector3
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

NOTICED = 0.02  # of a velocity that a force takes from a link alone in a step: below it the force holds


class Resistance:
    """The resisting forces on bodies in a step.

    Args:
        plant: finalized.
        period: [s] for which forces hold.
        links: numbers of the bodies that may be resisted.
    """

    def __init__(self, plant: MultibodyPlant, period: float, links: list[int]) -> None:
        self._plant, self._period, self._rows = plant, period, {link: k for k, link in enumerate(links)}
        self._ease: dict[int, Any] = {}  # M^-1 of each link alone, in its own axes
        self._slopes: dict[int, Matrix] = {}
        self._forces = np.zeros((len(links), 6))
        self._last_forces = np.zeros((len(links), 6))  # of the step before
        self._last_v: Vector = np.full(plant.num_velocities(), np.nan)

    def begin(self) -> None:
        """A step with no force yet."""
        self._slopes.clear()
        self._forces[:] = 0.0

    def add(self, link: int, wrench: FloatArray, slope: Matrix) -> None:
        """A wrench (6,) at the origin of a link, and by how much (6, 6) it falls with the velocity there, in World."""
        self._forces[self._rows[link]] += wrench
        self._slopes[link] = self._slopes.get(link, 0.0) + slope

    def changes(self, context: Context, v: Vector) -> list[tuple[int, FloatArray]]:
        """(link, wrench (6,)) that come to the forces of a step which begins with velocities v (nv,)."""
        found: list[tuple[int, FloatArray]] = []
        taken = self._forces.copy()
        if any(self._takes_much(context, *each) for each in self._slopes.items()):
            links = list(self._slopes)
            rows = [self._rows[link] for link in links]
            taken[rows] = self._implicit(context, v, links)
            found = [(link, taken[k] - self._forces[k]) for link, k in zip(links, rows, strict=True)]
        self._last_forces[:], self._last_v[:] = taken, v
        return found

    def _takes_much(self, context: Context, link: int, slope: Matrix) -> bool:
        body = self._plant.elements.bodies[link]
        if link not in self._ease:
            M = body.CalcSpatialInertiaInBodyFrame(context).CopyToFullMatrix6()
            self._ease[link] = np.linalg.inv(M) if body.get_mass(context) > 0.0 else None
        ease = self._ease[link]
        if ease is None or not np.isfinite(ease).all():
            return True
        turn = np.kron(np.eye(2), self._plant.EvalBodyPoseInWorld(context, body).rotation().matrix())
        return bool(self._period * np.trace(ease @ turn.T @ slope @ turn) > NOTICED)

    def _implicit(self, context: Context, v: Vector, links: list[int]) -> Matrix:
        """(n, 6) forces on the links."""
        plant, h = self._plant, self._period
        world, rows = plant.world_frame(), [self._rows[link] for link in links]
        frames = [plant.elements.bodies[link].body_frame() for link in links]
        variable, origin = JacobianWrtVariable.kV, np.zeros(3)
        J = np.vstack(
            [plant.CalcJacobianSpatialVelocity(context, variable, frame, origin, world, world) for frame in frames]
        )
        ease = np.linalg.pinv(plant.CalcMassMatrix(context))
        D = np.zeros((len(J), len(J)))
        for k, link in enumerate(links):
            D[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = h * self._slopes[link]
        if np.isnan(self._last_v).any():  # the first step: gravity alone
            others = ease @ plant.CalcGravityGeneralizedForces(context)
        else:
            others = (v - self._last_v) / h - ease @ (J.T @ self._last_forces[rows].ravel())
        B = D @ J @ ease @ J.T
        one = np.eye(len(B))
        right = (2.0 * one + B) @ self._forces[rows].ravel() - (one + B) @ D @ J @ others
        return np.linalg.solve(2.0 * (one + B) + B @ B, right).reshape(-1, 6)

    @property
    def kept(self) -> dict[str, FloatArray]:
        """What the next step needs of the last one: its own arrays."""
        return {"resistance": self._last_forces, "v": self._last_v}


def about_origin(slope: Matrix, arm: Vector3) -> Matrix:
    """(6, 6) at an origin of the slope (3, 3) of a force on the velocity of its point, which is at `arm` from there."""
    x, y, z = arm
    J = np.hstack([[[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]], np.eye(3)])  # of the point, by w and v of the origin
    return J.T @ slope @ J
