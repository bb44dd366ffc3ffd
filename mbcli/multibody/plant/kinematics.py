"""Where the bodies and frames of a plant are and how they move."""

import numpy as np

from mbcli.math.rigid_transform import _transform
from mbcli.multibody.math import SpatialAcceleration, SpatialVelocity


class Kinematics:
    """The part of MultibodyPlant that answers where bodies are and how they move."""

    def _body_row(self, body):
        if body._plant is not self:
            raise RuntimeError(f"body '{body.name()}' is not part of this plant")
        return int(body.index())

    def EvalBodyPoseInWorld(self, context, body):
        """X_WB"""
        self._check_context(context)
        X = context._at_links().X_WL[self._body_row(body)].copy()
        return _transform(X[:9].reshape(3, 3), X[9:])

    def EvalBodySpatialVelocityInWorld(self, context, body):
        """V_WB_W at Bo"""
        self._check_context(context)
        return SpatialVelocity._of(context._at_links().V_WL[self._body_row(body)].copy())

    def EvalBodySpatialAccelerationInWorld(self, context, body):
        """A_WB_W at Bo, from the forward dynamics of the context."""
        row = self._body_row(body)
        vdot = self._accelerations(context)
        return SpatialAcceleration._of(self._link_accelerations(context, vdot)[row])

    def _link_accelerations(self, context, vdot):
        data = context._at_velocities()
        data.vdot[:] = vdot
        context._run("calc_link_accelerations")
        return data.A_WL.copy()

    def CalcSpatialAccelerationsFromVdot(self, context, known_vdot):
        """A_WB_W of every body by BodyIndex, for accelerations (nv,)."""
        self._check_context(context)
        rows = self._link_accelerations(context, self._vector(known_vdot, self.num_velocities(), "known_vdot"))
        return [SpatialAcceleration._of(row) for row in rows]

    def CalcRelativeTransform(self, context, frame_A, frame_B):
        """X_AB"""
        return frame_B.CalcPose(context, frame_A)

    def CalcRelativeRotationMatrix(self, context, frame_A, frame_B):
        """R_AB"""
        return frame_B.CalcPose(context, frame_A).rotation()

    def CalcPointsPositions(self, context, frame_B, p_BQi, frame_A):
        """p_AQi (3, n) of points given in frame B, (3, n) or (3,)."""
        points = np.asarray(p_BQi, dtype=float)
        points = points.reshape(3, -1) if points.ndim == 1 and points.size == 3 else points
        if points.ndim != 2 or points.shape[0] != 3:
            raise RuntimeError(f"p_BQi must have three rows, its shape is {points.shape}")
        X_AB = frame_B.CalcPose(context, frame_A).GetAsMatrix4()
        return X_AB[:3, :3] @ points + X_AB[:3, 3:]
