"""Where the bodies and frames of a plant are and how they move."""

import numpy as np

from mbcli.math.rigid_transform import _transform
from mbcli.multibody.math import SpatialAcceleration, SpatialVelocity
from mbcli.multibody.tree.frame import Frame

WORLD_FRAME = 0


class Kinematics:
    """The part of MultibodyPlant that answers where bodies are and how they move."""

    # what the engine takes: numbers of frames, points in columns

    def _frame_number(self, frame):
        if not isinstance(frame, Frame):
            raise TypeError(f"expected a Frame, not {frame!r}")
        if frame._plant is not self:
            raise RuntimeError(f"frame '{frame.name()}' is not part of this plant")
        return frame._index._value

    def _frame_number_of(self, body):
        if body._plant is not self:
            raise RuntimeError(f"body '{body.name()}' is not part of this plant")
        return body._frame._index._value

    def _points(self, context, points, what):
        """Points in the columns of a new array (3, n), from (3,) or (3, n)."""
        columns = context._scalar.array(points, what)
        if columns.shape == (3,):
            columns.shape = 3, 1
        elif columns.ndim != 2 or columns.shape[0] != 3:
            raise RuntimeError(f"{what} must have shape (3,) or (3, n), it has {np.shape(points)}")
        return columns

    # motions of one frame f in another frame m, along the axes of a third frame e, by number

    def _pose(self, context, f, m):
        if context._plant is not self:
            self._check_context(context)
        pose = context._poses.get((f, m))
        if pose is None:
            dtype = context._at_positions().q.dtype
            pose = R, p = np.empty((3, 3), dtype), np.empty(3, dtype)
            context._run("query_pose", f, m, R, p)
            context._poses[f, m] = pose
        return _transform(*pose)

    def _velocity(self, context, f, m, e):
        if context._plant is not self:
            self._check_context(context)
        V = context._velocities.get((f, m, e))
        if V is None:
            V = np.empty(6, context._at_velocities().q.dtype)
            context._run("query_velocity", f, m, e, V)
            context._velocities[f, m, e] = V
        return SpatialVelocity._of(V)

    def _acceleration(self, context, f, m, e):
        """Under the forward dynamics of the context."""
        A = self._forward_accelerations(context)
        acceleration = context._accelerations.get((f, m, e))
        if acceleration is None:
            acceleration = context._accelerations[f, m, e] = self._acceleration_from(context, A, f, m, e)
        return SpatialAcceleration._of(acceleration)

    def _acceleration_from(self, context, A, f, m, e):
        """(6,), from accelerations of the bodies of the engine, rows A (nbody, 6)."""
        acceleration = np.empty(6, context._at_velocities().q.dtype)
        context._run("query_acceleration", A, f, m, e, acceleration)
        return acceleration

    def _accelerations_of_bodies(self, context, vdot):
        """Rows A (nbody, 6) of the engine for vdot (nv,)."""
        data = context._at_velocities()
        data.vdot[:] = vdot
        context._run("query_body_accelerations")
        return data.A.copy()

    def _forward_accelerations(self, context):
        """Rows A of the engine under the forward dynamics of the context."""
        vdot = self._accelerations(context)
        if context._A_for is not vdot:  # another array for every new result
            context._A, context._A_for = self._accelerations_of_bodies(context, vdot), vdot
            context._accelerations.clear()
        return context._A

    # bodies

    def EvalBodyPoseInWorld(self, context, body):
        """X_WB. RuntimeError for a body of another plant."""
        return self._pose(context, self._frame_number_of(body), WORLD_FRAME)

    def EvalBodySpatialVelocityInWorld(self, context, body):
        """V_WB_W at Bo. RuntimeError for a body of another plant."""
        return self._velocity(context, self._frame_number_of(body), WORLD_FRAME, WORLD_FRAME)

    def EvalBodySpatialAccelerationInWorld(self, context, body):
        """A_WB_W at Bo, from the forward dynamics of the context. RuntimeError for a body of another plant."""
        return self._acceleration(context, self._frame_number_of(body), WORLD_FRAME, WORLD_FRAME)

    def CalcSpatialAccelerationsFromVdot(self, context, known_vdot):
        """A_WB_W of every body by BodyIndex, World's is zero, for accelerations (nv,)."""
        self._check_context(context)
        vdot = self._vector(known_vdot, self.num_velocities(), "known_vdot", context._scalar)
        data = context._at_velocities()
        data.vdot[:] = vdot
        context._run("calc_link_accelerations")
        return [SpatialAcceleration._of(row) for row in data.A_WL.copy()]

    # frames

    def CalcRelativeTransform(self, context, frame_A, frame_B):
        """X_AB. RuntimeError for a frame of another plant."""
        return self._pose(context, self._frame_number(frame_B), self._frame_number(frame_A))

    def CalcRelativeRotationMatrix(self, context, frame_A, frame_B):
        """R_AB. RuntimeError for a frame of another plant."""
        return self.CalcRelativeTransform(context, frame_A, frame_B).rotation()

    def CalcPointsPositions(self, context, frame_B, p_BQi, frame_A):
        """p_AQi (3, n) of points given in frame B, (3, n) or (3,). RuntimeError for other shapes."""
        if context._plant is not self:
            self._check_context(context)
        f, m = self._frame_number(frame_B), self._frame_number(frame_A)
        points = self._points(context, p_BQi, "p_BQi")
        result = np.empty(points.shape, points.dtype)
        context._at_positions()
        context._kernels.query_points(context._model_handle, context._data_handle, f, points, m, result)
        return result

    def CalcPointsVelocities(self, context, frame_B, p_BQi, frame_A, frame_E):
        """v_AQi_E (3, n) of points given in frame B, (3, n) or (3,). RuntimeError for other shapes."""
        if context._plant is not self:
            self._check_context(context)
        f, m, e = self._frame_numbers(frame_B, frame_A, frame_E)
        points = self._points(context, p_BQi, "p_BQi")
        result = np.empty(points.shape, points.dtype)
        context._at_velocities()
        context._run("query_point_velocities", f, points, m, e, result)
        return result
