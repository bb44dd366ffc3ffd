"""The multipliers of a group as spatial forces on bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math import RigidTransform
from mbcli.multibody.constraints.entries import ConstraintType
from mbcli.multibody.constraints.groups import Groups

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector, Vector6
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.index import BodyIndex


class Wrenches(Groups):
    """The part of ConstraintSet that keeps multipliers and turns them into forces and impulses on bodies.

    Of a contact the bodies are the body and World (index 0), of a loop constraint predecessor and successor. The forces
    of a group add up to nothing, and are the generalized forces G^T force of its rows.
    """

    force: Any
    impulse: Any
    _force_at: Vector | None  # the positions that they belong to
    _impulse_at: Vector | None

    def forget_multipliers(self) -> None:
        """As before the first dynamics and the first impact."""
        self.force = self.impulse = self._force_at = self._impulse_at = None

    def keep_force(self, force: Vector) -> None:
        """Multipliers (size,) of dynamics at the state of `constrained`."""
        self.force, self._force_at = force, self.constrained.data.q.copy()

    def keep_impulse(self, impulse: Vector) -> None:
        """Multipliers (size,) of an impact at the state of `constrained`."""
        self.impulse, self._impulse_at = impulse, self.constrained.data.q.copy()

    def calcForces(
        self,
        groupIndex: int,
        model: MultibodyPlant,
        Q: ArrayLike,
        QDot: ArrayLike,
        resolveAllInRootFrame: bool = False,
        updateKinematics: bool = False,
    ) -> tuple[list[BodyIndex], list[RigidTransform], list[Vector6]]:
        """(BodyIndex, RigidTransform, (6,)) of all bodies of a group: three lists.

        Each frame is fixed on its body, given in the body's frame; the spatial force on the body is about the frame's
        origin and along its axes, moment first [N m, N]. resolveAllInRootFrame: the bodies are all World, the frames
        have the same origins and World's axes. RuntimeError: no dynamics have been computed, or at another Q.
        """
        return self._wrenches(groupIndex, model, Q, QDot, resolveAllInRootFrame, self.force, self._force_at)

    def calcImpulses(
        self,
        groupIndex: int,
        model: MultibodyPlant,
        Q: ArrayLike,
        QDot: ArrayLike,
        resolveAllInRootFrame: bool = False,
        updateKinematics: bool = False,
    ) -> tuple[list[BodyIndex], list[RigidTransform], list[Vector6]]:
        """The same of the last impact [N m s, N s]."""
        return self._wrenches(groupIndex, model, Q, QDot, resolveAllInRootFrame, self.impulse, self._impulse_at)

    def _wrenches(self, index, model, Q, QDot, in_root, multipliers, computed_at):
        group = self._group(index)
        self.set_state(model, Q, QDot)
        if multipliers is None:
            raise RuntimeError("no multipliers have been computed yet: call a dynamics or impulse function first")
        if not np.array_equal(self.constrained.data.q, computed_at):
            raise RuntimeError(
                "the multipliers were computed at another Q: call the dynamics or impulse function again"
            )
        own = multipliers[group.rows]
        if group.first.kind is ConstraintType.ConstraintTypeCustom:
            bodies, frames, wrenches = group.first.custom.forces(model, 0.0, Q, QDot, own)
            poses = [self._body_pose(body) for body in bodies]
        else:
            bodies, frames = list(group.first.links), list(group.first.frames)
            poses = [self._body_pose(body) for body in bodies]
            wrenches = _pair_of_wrenches(group, poses, frames, own)
            if group.first.kind is ConstraintType.ConstraintTypeContact:
                # the ground's frame is at the point
                frames[0] = np.eye(4)
                frames[0][:3, 3] = (poses[1] @ frames[1])[:3, 3]
                wrenches[0][:3] = 0.0
                bodies, frames, wrenches, poses = (part[::-1] for part in (bodies, frames, wrenches, poses))
            frames = [RigidTransform(pose=X) for X in frames]
        if not in_root:
            return [body.index() for body in bodies], frames, wrenches
        in_world = [X_WB @ X_BF.GetAsMatrix4() for X_WB, X_BF in zip(poses, frames, strict=True)]
        turned = [
            np.concatenate([X[:3, :3] @ F[:3], X[:3, :3] @ F[3:]]) for X, F in zip(in_world, wrenches, strict=True)
        ]
        world = model.world_body().index()
        return [world for _ in bodies], [RigidTransform(p=X[:3, 3]) for X in in_world], turned

    def _body_pose(self, body):
        """X_WB (4, 4) of a link at the positions that were set."""
        constrained = self.constrained
        constrained.run_stage("position_stage")
        m, d, n = constrained.model, constrained.data, int(body.index())
        return _matrix(d.X_WB[m.link_body[n]]) @ _matrix(m.link_X_BL[n])


def _pair_of_wrenches(group, poses, frames, multipliers):
    """Spatial forces on predecessor and successor, each about the origin and along the axes of its frame."""
    X_WP, X_WS = (X_WB @ X_BF for X_WB, X_BF in zip(poses, frames, strict=True))
    vectors = np.array([entry.vector for entry in group.entries])
    if vectors.shape[1] == 3:  # normals of contacts, in World
        vectors = np.column_stack([np.zeros_like(vectors), vectors])
    along_P = multipliers @ vectors
    moment, force = X_WP[:3, :3] @ along_P[:3], X_WP[:3, :3] @ along_P[3:]
    moment_P = moment + np.cross(X_WS[:3, 3] - X_WP[:3, 3], force)
    on_P = np.concatenate([-X_WP[:3, :3].T @ moment_P, -X_WP[:3, :3].T @ force])
    on_S = np.concatenate([X_WS[:3, :3].T @ moment, X_WS[:3, :3].T @ force])
    return [on_P, on_S]


def _matrix(row):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = row[:9].reshape(3, 3), row[9:]
    return X
