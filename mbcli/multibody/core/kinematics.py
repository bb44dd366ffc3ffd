"""Where the bodies and frames of a plant are and how they move."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from numpy import empty, ndarray

from mbcli.math.rigid_transform import transform_of, transforms_of
from mbcli.math.rotation_matrix import rotation_of
from mbcli.multibody.core.dynamics import Dynamics
from mbcli.multibody.math import SpatialAcceleration, SpatialVelocity
from mbcli.multibody.math.spatial_vector import vector_of, vectors_of
from mbcli.multibody.state.frame_motions import WORLD_FRAME
from mbcli.multibody.tree.frame import Frame

if TYPE_CHECKING:
    from typing import NoReturn

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, Matrix, Points, Vector3, Vector6
    from mbcli.math.rigid_transform import RigidTransform
    from mbcli.math.rotation_matrix import RotationMatrix
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.rigid_body import RigidBody


def rows_of(array: Array) -> list[Array]:
    """A list of the rows of an array. list(array) ends at an IndexError, which takes as long as three rows."""
    return list(islice(array, len(array)))


class Kinematics(Dynamics):
    """The part of MultibodyPlant that answers where bodies are and how they move.

    Accelerations are those of the forward dynamics.
    """

    # what the engine takes: numbers of frames, points in columns. A call from Python is short, so these are too

    @cached_property
    def _number_of_frame(self) -> dict[Frame, int]:
        self.require_finalized("frames")
        return {frame: int(frame.index()) for frame in self.elements.frames}

    def frame_number(self, frame: Frame) -> int:
        """The number of a frame in the engine. RuntimeError for a frame of another plant."""
        try:
            return self._number_of_frame[frame]
        except (KeyError, TypeError):
            if not isinstance(frame, Frame):
                raise TypeError(f"expected a Frame, not {frame!r}") from None
            raise RuntimeError(f"frame '{frame.name()}' is not part of this plant") from None

    def frame_numbers(self, B: Frame, A: Frame, E: Frame) -> tuple[int, int, int]:
        """The numbers of three frames, as frame_number() gives them."""
        numbers = self._number_of_frame
        try:
            return numbers[B], numbers[A], numbers[E]
        except (KeyError, TypeError):
            return self.frame_number(B), self.frame_number(A), self.frame_number(E)  # raises

    def _refuse_body(self, body: RigidBody) -> NoReturn:
        raise RuntimeError(f"body '{body.name()}' is not part of this plant")

    def _copy_of_points(self, context: Context, points: Any, what: str) -> Points:
        """A new array (3, n) of points, from (3,) or (3, n)."""
        state = context.state
        if type(points) is ndarray and points.dtype is state.dtype:
            points = points.copy()
        else:
            points = state.scalar.array(points, what)
        if points.ndim == 2 and len(points) == 3:
            return points
        return self._points(context, points, what)

    def _points(self, context: Context, points: Any, what: str) -> Points:
        """Points in the columns of an array (3, n), from (3,) or (3, n)."""
        state = context.state
        if type(points) is not ndarray or points.dtype is not state.dtype or not points.flags.c_contiguous:
            points = state.scalar.array(points, what)
        if points.ndim == 2 and len(points) == 3:
            return points
        if points.shape == (3,):
            return points.reshape(3, 1)
        raise RuntimeError(f"{what} must have shape (3,) or (3, n), it has {points.shape}")

    def one_point(self, context: Context, point: Any, what: str) -> Vector3:
        """One point as an array (3,), from (3,) or (3, 1)."""
        state = context.state
        is_array = type(point) is ndarray and point.dtype is state.dtype and point.shape == (3,)
        if is_array and (point.base is None or point.flags.c_contiguous):
            return point
        array = state.scalar.array(point, what)
        if array.shape not in ((3,), (3, 1)):
            raise RuntimeError(f"{what} is one point (3,), it has shape {array.shape}")
        return array.reshape(3)

    # accelerations of frames, by number, from the forward dynamics of the context; remembered as the other motions

    def frame_acceleration(self, context: Context, f: int, m: int, e: int) -> Vector6:
        """(6,), of the origin of frame f in frame m, along the axes of frame e."""
        state = context.state
        A = state.of_inputs.get((f, m, e))
        if A is None:
            A = state.of_inputs[f, m, e] = state.acceleration(self._accelerations(context), f, m, e)
        return A

    def point_acceleration(self, context: Context, f: int, point: Vector3) -> Vector6:
        """(6,), of a point (3,) of frame f, in World; not remembered."""
        return context.state.acceleration(self._accelerations(context), f, WORLD_FRAME, WORLD_FRAME, point)

    def frame_acceleration_beside(self, context: Context, f: int, b: int, m: int, e: int) -> Vector6:
        """(6,): what frame f has more than frame b."""
        state = context.state
        A = state.of_inputs.get((f, b, m, e))
        if A is None:
            A = state.of_inputs[f, b, m, e] = state.acceleration_beside(self._accelerations(context), f, b, m, e)
        return A

    # all bodies; rows of arrays are parts of the objects and never change

    def _body_poses(self, context: Context) -> list[RigidTransform]:
        """A list of X_WB by BodyIndex."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        poses = state.of_q.get("poses")
        if poses is None:
            n, dtype = len(self.elements.bodies), state.dtype
            R, p = empty((n, 3, 3), dtype), empty((n, 3), dtype)
            state.at_positions().query_link_poses(R, p)
            poses = state.of_q["poses"] = list(zip(rows_of(R), rows_of(p), strict=True))
        return transforms_of(poses)

    def _body_velocities(self, context: Context) -> list[SpatialVelocity]:
        """A list of V_WB_W by BodyIndex."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        rows = state.of_v.get("velocities")
        if rows is None:
            rows = state.of_v["velocities"] = rows_of(state.at_links().V_WL.copy())
        return vectors_of(SpatialVelocity, rows)

    def _body_accelerations(self, context: Context) -> list[SpatialAcceleration]:
        """A list of A_WB_W by BodyIndex."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        rows = state.of_inputs.get("accelerations")
        if rows is None:
            vdot = self._accelerations(context)
            state.at_velocities()
            state.data.vdot[...] = vdot
            rows = state.of_inputs["accelerations"] = rows_of(state.link_accelerations())
        return vectors_of(SpatialAcceleration, rows)

    # bodies

    def EvalBodyPoseInWorld(self, context: Context, body: RigidBody) -> RigidTransform:
        """X_WB. RuntimeError for a body of another plant."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if body.parent_plant is not self:
            self._refuse_body(body)
        R, p = state.pose(body.frame.index_number, WORLD_FRAME)
        return transform_of(R, p)

    def EvalBodySpatialVelocityInWorld(self, context: Context, body: RigidBody) -> SpatialVelocity:
        """V_WB_W at Bo. RuntimeError for a body of another plant."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if body.parent_plant is not self:
            self._refuse_body(body)
        return vector_of(SpatialVelocity, state.velocity(body.frame.index_number, WORLD_FRAME, WORLD_FRAME))

    def EvalBodySpatialAccelerationInWorld(self, context: Context, body: RigidBody) -> SpatialAcceleration:
        """A_WB_W at Bo, from the forward dynamics of the context. RuntimeError for a body of another plant."""
        if context.state.plant is not self:
            self.check_context(context)
        if body.parent_plant is not self:
            self._refuse_body(body)
        n = body.frame.index_number
        return vector_of(SpatialAcceleration, self.frame_acceleration(context, n, WORLD_FRAME, WORLD_FRAME))

    def CalcSpatialAccelerationsFromVdot(self, context: Context, known_vdot: ArrayLike) -> list[SpatialAcceleration]:
        """A_WB_W of every body by BodyIndex, World's is zero, for accelerations (nv,)."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if not state.velocities_current:
            state.at_velocities()
        try:
            state.vdot_memory[:] = known_vdot
        except (TypeError, ValueError):
            state.data.vdot[...] = self.vector(known_vdot, state.shape_v[0], "known_vdot", state.scalar)
        return vectors_of(SpatialAcceleration, rows_of(state.link_accelerations()))

    # frames

    def CalcRelativeTransform(self, context: Context, frame_A: Frame, frame_B: Frame) -> RigidTransform:
        """X_AB. RuntimeError for a frame of another plant."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        f, m, _ = self.frame_numbers(frame_B, frame_A, frame_A)
        R, p = state.pose(f, m)
        return transform_of(R, p)

    def CalcRelativeRotationMatrix(self, context: Context, frame_A: Frame, frame_B: Frame) -> RotationMatrix:
        """R_AB. RuntimeError for a frame of another plant."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        f, m, _ = self.frame_numbers(frame_B, frame_A, frame_A)
        return rotation_of(state.pose(f, m)[0])

    def CalcPointsPositions(self, context: Context, frame_B: Frame, p_BQi: ArrayLike, frame_A: Frame) -> Matrix:
        """p_AQi (3, n) of points given in frame B, (3, n) or (3,). RuntimeError for other shapes."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        f, m, _ = self.frame_numbers(frame_B, frame_A, frame_A)
        points = self._copy_of_points(context, p_BQi, "p_BQi")
        calls = state.calls if state.positions_current else state.at_positions()
        calls.query_points(f, m, points)
        return points

    def CalcPointsVelocities(
        self, context: Context, frame_B: Frame, p_BQi: ArrayLike, frame_A: Frame, frame_E: Frame
    ) -> Matrix:
        """v_AQi_E (3, n) of points given in frame B, (3, n) or (3,). RuntimeError for other shapes."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        f, m, e = self.frame_numbers(frame_B, frame_A, frame_E)
        points = self._copy_of_points(context, p_BQi, "p_BQi")
        calls = state.calls if state.velocities_current else state.at_velocities()
        calls.query_point_velocities(f, m, e, points)
        return points
