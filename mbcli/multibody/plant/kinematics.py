"""Where the bodies and frames of a plant are and how they move."""

from functools import cached_property

import numpy as np
from numpy import empty, ndarray

from mbcli.math.rigid_transform import _transform
from mbcli.math.rotation_matrix import _rotation
from mbcli.multibody.math import SpatialAcceleration, SpatialVelocity
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

    def _frame_number_of(self, body):
        if body._plant is not self:
            raise RuntimeError(f"body '{body.name()}' is not part of this plant")
        return body._frame._index._value

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
        pose = context._of_q.get((f, m))
        if pose is None or context._plant is not self:
            pose = self._pose_arrays(context, f, m)
        return _transform(*pose)

    def _pose_arrays(self, context, f, m):
        """R (3, 3), p (3,)"""
        if context._plant is not self:
            self._check_context(context)
        pose = context._of_q.get((f, m))
        if pose is None:
            calls, dtype = context._at_positions(), context._dtype
            R, p = pose = empty((3, 3), dtype), empty(3, dtype)
            calls.query_pose(f, m, R, p)
            context._of_q[f, m] = pose
        return pose

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
            A = self._forward_accelerations(context)
            acceleration = self._acceleration_from(context, A, f, m, e, point)
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

    def _acceleration_from(self, context, A, f, m, e, point=ORIGIN):
        """(6,), from accelerations of the bodies of the engine, rows A (nbody, 6)."""
        acceleration = empty(6, context._dtype)
        context._at_velocities().query_acceleration(A, f, point, m, e, acceleration)
        return acceleration

    def _accelerations_of_bodies(self, context, vdot):
        """Rows A (nbody, 6) of the engine for vdot (nv,)."""
        calls, A = context._at_velocities(), empty(context._data.A.shape, context._dtype)
        calls.query_body_accelerations(vdot, A)
        return A

    def _forward_accelerations(self, context):
        """Rows A of the engine under the forward dynamics of the context."""
        A = context._of_inputs.get("A")
        if A is None:
            A = self._accelerations_of_bodies(context, self._accelerations(context))
            context._of_inputs["A"] = A
        return A

    # all bodies; rows of arrays are parts of the objects and never change

    @cached_property
    def _body_frames(self):
        return np.array([self._frame_number_of(body) for body in self._bodies])

    def _body_poses(self, context):
        """A list of X_WB by BodyIndex."""
        if context._plant is not self:
            self._check_context(context)
        poses = context._of_q.get("poses")
        if poses is None:
            n = len(self._bodies)
            calls, R, p = context._at_positions(), empty((n, 3, 3), context._dtype), empty((n, 3), context._dtype)
            calls.query_poses(self._body_frames, WORLD_FRAME, R, p)
            poses = context._of_q["poses"] = list(zip(R, p, strict=True))
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
        return list(map(SpatialVelocity._of, rows))

    def _body_accelerations(self, context):
        """A list of A_WB_W by BodyIndex."""
        if context._plant is not self:
            self._check_context(context)
        rows = context._of_inputs.get("accelerations")
        if rows is None:
            rows = self._all_accelerations(context, self._forward_accelerations(context))
            context._of_inputs["accelerations"] = rows
        return list(map(SpatialAcceleration._of, rows))

    def _all_accelerations(self, context, A):
        """Rows (6,) by BodyIndex, from accelerations of the bodies of the engine."""
        result = empty((len(self._bodies), 6), context._dtype)
        context._at_velocities().query_accelerations(A, self._body_frames, WORLD_FRAME, result)
        return list(result)

    # bodies

    def EvalBodyPoseInWorld(self, context, body):
        """X_WB. RuntimeError for a body of another plant."""
        return self._pose(context, self._frame_number_of(body), WORLD_FRAME)

    def EvalBodySpatialVelocityInWorld(self, context, body):
        """V_WB_W at Bo. RuntimeError for a body of another plant."""
        return SpatialVelocity._of(self._velocity(context, self._frame_number_of(body), WORLD_FRAME, WORLD_FRAME))

    def EvalBodySpatialAccelerationInWorld(self, context, body):
        """A_WB_W at Bo, from the forward dynamics of the context. RuntimeError for a body of another plant."""
        n = self._frame_number_of(body)
        return SpatialAcceleration._of(self._acceleration(context, n, WORLD_FRAME, WORLD_FRAME))

    def CalcSpatialAccelerationsFromVdot(self, context, known_vdot):
        """A_WB_W of every body by BodyIndex, World's is zero, for accelerations (nv,)."""
        if context._plant is not self:
            self._check_context(context)
        vdot = self._numbers(context, known_vdot, context._shape_v, "known_vdot")
        rows = self._all_accelerations(context, self._accelerations_of_bodies(context, vdot))
        return list(map(SpatialAcceleration._of, rows))

    # frames

    def CalcRelativeTransform(self, context, frame_A, frame_B):
        """X_AB. RuntimeError for a frame of another plant."""
        f, m, _ = self._frame_numbers(frame_B, frame_A, frame_A)
        return self._pose(context, f, m)

    def CalcRelativeRotationMatrix(self, context, frame_A, frame_B):
        """R_AB. RuntimeError for a frame of another plant."""
        R, _ = self._pose_arrays(context, self._frame_number(frame_B), self._frame_number(frame_A))
        return _rotation(R)

    def CalcPointsPositions(self, context, frame_B, p_BQi, frame_A):
        """p_AQi (3, n) of points given in frame B, (3, n) or (3,). RuntimeError for other shapes."""
        if context._plant is not self:
            self._check_context(context)
        f, m, _ = self._frame_numbers(frame_B, frame_A, frame_A)
        points = self._points(context, p_BQi, "p_BQi")
        result = empty(points.shape, context._dtype)
        context._at_positions().query_points(f, points, m, result)
        return result

    def CalcPointsVelocities(self, context, frame_B, p_BQi, frame_A, frame_E):
        """v_AQi_E (3, n) of points given in frame B, (3, n) or (3,). RuntimeError for other shapes."""
        if context._plant is not self:
            self._check_context(context)
        f, m, e = self._frame_numbers(frame_B, frame_A, frame_E)
        points = self._points(context, p_BQi, "p_BQi")
        result = empty(points.shape, context._dtype)
        context._at_velocities().query_point_velocities(f, points, m, e, result)
        return result
