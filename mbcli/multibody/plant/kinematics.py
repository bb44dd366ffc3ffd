"""Where the bodies and frames of a plant are and how they move."""

from functools import cached_property

import numpy as np
from numpy import empty, ndarray

from mbcli.math.rigid_transform import _transform
from mbcli.math.rotation_matrix import _rotation
from mbcli.multibody.math import SpatialAcceleration, SpatialVelocity
from mbcli.multibody.math.spatial_vector import vectors_of
from mbcli.multibody.tree.frame import Frame

WORLD_FRAME = 0
ORIGIN = np.zeros(3)
ORIGIN.flags.writeable = False


class Kinematics:
    """The part of MultibodyPlant that answers where bodies are and how they move."""

    # what the engine takes: numbers of frames, points in columns. A call from Python is short, so these are too

    @cached_property
    def _number_of_frame(self):
        self._require_finalized("frames")
        return {frame: int(frame.index()) for frame in self._frames}

    def _frame_number(self, frame):
        try:
            return self._number_of_frame[frame]
        except (KeyError, TypeError):
            if not isinstance(frame, Frame):
                raise TypeError(f"expected a Frame, not {frame!r}") from None
            raise RuntimeError(f"frame '{frame.name()}' is not part of this plant") from None

    def _frame_numbers(self, B, A, E):
        numbers = self._number_of_frame
        try:
            return numbers[B], numbers[A], numbers[E]
        except (KeyError, TypeError):
            return self._frame_number(B), self._frame_number(A), self._frame_number(E)  # raises

    def _refuse_body(self, body):
        raise RuntimeError(f"body '{body.name()}' is not part of this plant")

    def _copy_of_points(self, context, points, what):
        """A new array (3, n) of points, from (3,) or (3, n)."""
        if type(points) is ndarray and points.dtype is context._dtype:
            points = points.copy()
        else:
            points = context._scalar.array(points, what)
        if points.ndim == 2 and len(points) == 3:
            return points
        return self._points(context, points, what)

    def _points(self, context, points, what):
        """Points in the columns of an array (3, n), from (3,) or (3, n)."""
        if type(points) is not ndarray or points.dtype is not context._dtype or not points.flags.c_contiguous:
            points = context._scalar.array(points, what)
        if points.ndim == 2 and len(points) == 3:
            return points
        if points.shape == (3,):
            return points.reshape(3, 1)
        raise RuntimeError(f"{what} must have shape (3,) or (3, n), it has {points.shape}")

    def _point(self, context, point, what):
        """One point as an array (3,), from (3,) or (3, 1)."""
        is_array = type(point) is ndarray and point.dtype is context._dtype and point.shape == (3,)
        if is_array and point.flags.c_contiguous:
            return point
        array = context._scalar.array(point, what)
        if array.shape not in ((3,), (3, 1)):
            raise RuntimeError(f"{what} is one point (3,), it has shape {array.shape}")
        return array.reshape(3)

    # motions of one frame f in another frame m, along the axes of a third frame e, by number

    def _pose(self, context, f, m):
        """A new transform."""
        if context._plant is not self:
            self._check_context(context)
        pose = context._of_q.get((f, m))
        if pose is None:
            pose = self._new_pose(context, f, m)
        return _transform(*pose)

    def _new_pose(self, context, f, m):
        """R (3, 3), p (3,), which the context remembers: nobody must change them."""
        X = empty((1, 4, 3), context._dtype)
        context._at_positions().query_pose(f, m, X)
        pose = context._of_q[f, m] = X[0, :3], X[0, 3]
        return pose

    def _rotation_array(self, context, f, m):
        """R (3, 3)"""
        if context._plant is not self:
            self._check_context(context)
        pose = context._of_q.get((f, m))
        return self._new_pose(context, f, m)[0] if pose is None else pose[0]

    def _velocity(self, context, f, m, e, point=ORIGIN, name=""):
        """(6,), of the frame's origin or of another point of it, which has a name then."""
        if context._plant is not self:
            self._check_context(context)
        V = context._of_v.get((f, m, e, name))
        if V is None:
            calls, V = context._at_velocities(), empty(6, context._dtype)
            calls.query_velocity(f, point, m, e, V)
            context._of_v[f, m, e, name] = V
        return V

    def _acceleration(self, context, f, m, e, point=ORIGIN, name=""):
        """(6,), as _velocity, under the forward dynamics of the context."""
        if context._plant is not self:
            self._check_context(context)
        acceleration = context._of_inputs.get((f, m, e, name))
        if acceleration is None:
            acceleration = self._acceleration_from(context, self._accelerations(context), f, m, e, point)
            context._of_inputs[f, m, e, name] = acceleration
        return acceleration

    def _velocity_beside(self, context, f, b, m, e):
        """(6,): what frame f has more than frame b."""
        V = context._of_v.get((f, b, m, e))
        if V is None or context._plant is not self:
            V = self._velocity(context, f, m, e) - self._velocity(context, b, m, e)
            context._of_v[f, b, m, e] = V
        return V

    def _acceleration_beside(self, context, f, b, m, e):
        """(6,): what frame f has more than frame b, under the forward dynamics of the context."""
        A = context._of_inputs.get((f, b, m, e))
        if A is None or context._plant is not self:
            A = self._acceleration(context, f, m, e) - self._acceleration(context, b, m, e)
            context._of_inputs[f, b, m, e] = A
        return A

    def _acceleration_from(self, context, vdot, f, m, e, point=ORIGIN):
        """(6,), for vdot (nv,)."""
        acceleration = empty(6, context._dtype)
        context._at_velocities().query_acceleration(vdot, f, point, m, e, acceleration)
        return acceleration

    # all bodies; rows of arrays are parts of the objects and never change

    @cached_property
    def _body_frames(self):
        return np.array([body._frame._index._value for body in self._bodies])

    def _body_poses(self, context):
        """A list of X_WB by BodyIndex."""
        if context._plant is not self:
            self._check_context(context)
        poses = context._of_q.get("poses")
        if poses is None:
            X = empty((len(self._bodies), 4, 3), context._dtype)
            context._at_positions().query_poses(self._body_frames, WORLD_FRAME, X)
            poses = context._of_q["poses"] = list(zip(X[:, :3], X[:, 3], strict=True))
        return [_transform(R, p) for R, p in poses]

    def _body_velocities(self, context):
        """A list of V_WB_W by BodyIndex."""
        if context._plant is not self:
            self._check_context(context)
        rows = context._of_v.get("velocities")
        if rows is None:
            calls, V = context._at_velocities(), empty((len(self._bodies), 6), context._dtype)
            calls.query_velocities(self._body_frames, WORLD_FRAME, V)
            rows = context._of_v["velocities"] = list(V)
        return vectors_of(SpatialVelocity, rows)

    def _body_accelerations(self, context):
        """A list of A_WB_W by BodyIndex."""
        if context._plant is not self:
            self._check_context(context)
        rows = context._of_inputs.get("accelerations")
        if rows is None:
            rows = self._all_accelerations(context, self._accelerations(context))
            context._of_inputs["accelerations"] = rows
        return vectors_of(SpatialAcceleration, rows)

    def _all_accelerations(self, context, vdot):
        """Rows (6,) by BodyIndex, for vdot (nv,)."""
        result = empty((len(self._bodies), 6), context._dtype)
        context._at_velocities().query_accelerations(vdot, self._body_frames, WORLD_FRAME, result)
        return list(result)

    # bodies

    def EvalBodyPoseInWorld(self, context, body):
        """X_WB. RuntimeError for a body of another plant."""
        if body._plant is not self:
            self._refuse_body(body)
        return self._pose(context, body._frame._index._value, WORLD_FRAME)

    def EvalBodySpatialVelocityInWorld(self, context, body):
        """V_WB_W at Bo. RuntimeError for a body of another plant."""
        if body._plant is not self:
            self._refuse_body(body)
        return SpatialVelocity._of(self._velocity(context, body._frame._index._value, WORLD_FRAME, WORLD_FRAME))

    def EvalBodySpatialAccelerationInWorld(self, context, body):
        """A_WB_W at Bo, from the forward dynamics of the context. RuntimeError for a body of another plant."""
        if body._plant is not self:
            self._refuse_body(body)
        n = body._frame._index._value
        return SpatialAcceleration._of(self._acceleration(context, n, WORLD_FRAME, WORLD_FRAME))

    def CalcSpatialAccelerationsFromVdot(self, context, known_vdot):
        """A_WB_W of every body by BodyIndex, World's is zero, for accelerations (nv,)."""
        if context._plant is not self:
            self._check_context(context)
        vdot = self._numbers(context, known_vdot, context._shape_v, "known_vdot")
        return vectors_of(SpatialAcceleration, self._all_accelerations(context, vdot))

    # frames

    def CalcRelativeTransform(self, context, frame_A, frame_B):
        """X_AB. RuntimeError for a frame of another plant."""
        f, m, _ = self._frame_numbers(frame_B, frame_A, frame_A)
        return self._pose(context, f, m)

    def CalcRelativeRotationMatrix(self, context, frame_A, frame_B):
        """R_AB. RuntimeError for a frame of another plant."""
        f, m, _ = self._frame_numbers(frame_B, frame_A, frame_A)
        return _rotation(self._rotation_array(context, f, m))

    def CalcPointsPositions(self, context, frame_B, p_BQi, frame_A):
        """p_AQi (3, n) of points given in frame B, (3, n) or (3,). RuntimeError for other shapes."""
        if context._plant is not self:
            self._check_context(context)
        f, m, _ = self._frame_numbers(frame_B, frame_A, frame_A)
        points = self._copy_of_points(context, p_BQi, "p_BQi")
        context._at_positions().query_points(f, m, points)
        return points

    def CalcPointsVelocities(self, context, frame_B, p_BQi, frame_A, frame_E):
        """v_AQi_E (3, n) of points given in frame B, (3, n) or (3,). RuntimeError for other shapes."""
        if context._plant is not self:
            self._check_context(context)
        f, m, e = self._frame_numbers(frame_B, frame_A, frame_E)
        points = self._copy_of_points(context, p_BQi, "p_BQi")
        context._at_velocities().query_point_velocities(f, m, e, points)
        return points
