"""Rates of positions and velocities: qdot = N(q) v, and back."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import empty

from mbcli.errors import NumericalError
from mbcli.math import RollPitchYaw
from mbcli.multibody.core.coordinates import Coordinates
from mbcli.multibody.tree.joint_kinds import has_angles

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import BoolArray, IntArray, Matrix, Vector
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint import Joint


class Rates(Coordinates):
    """The part of MultibodyPlant that maps velocities to rates of positions and back."""

    def MapVelocityToQDot(self, context: Context, v: ArrayLike) -> Vector:
        """qdot = N(q) v, (nq,); NumericalError if a joint with roll, pitch and yaw is at gimbal lock."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if self._joints_with_rpy:
            self._refuse_gimbal_lock(context)
        state.calls.query_qdot(self._numbers(context, v, state.shape_v, "v"))
        return state.data.qdot.copy()

    def MapQDotToVelocity(self, context: Context, qdot: ArrayLike) -> Vector:
        """v = N+(q) qdot, (nv,), N+ the left inverse of N."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        qdot, v = self._numbers(context, qdot, state.shape_q, "qdot"), empty(state.shape_v, state.dtype)
        state.calls.query_velocity_from_qdot(qdot, v)
        return v

    def _refuse_gimbal_lock(self, context: Context) -> None:
        problem = self.gimbal_lock(context)
        if problem:
            raise NumericalError(problem)

    def gimbal_lock(self, context: Context) -> str | None:
        """Which joint has no rates of roll and yaw in a context, as a message; None if all have."""
        state = context.state
        for joint in self._joints_with_rpy:
            pitch = state.scalar.real(state.q[joint.position_start() + 1])
            if pitch is not None and RollPitchYaw.DoesCosPitchAngleViolateGimbalLockTolerance(np.cos(pitch)):
                return f"joint '{joint.name()}' is at gimbal lock: its pitch is {pitch:.6g} rad"
        return None

    @cached_property
    def _joints_with_rpy(self) -> list[Joint]:
        self.require_finalized("rates of coordinates")
        return [joint for joint in self.elements.joints if has_angles(joint)]

    def MakeVelocityToQDotMap(self, context: Context) -> Any:
        """N(q) as a sparse matrix, nq x nv; of dual numbers and expressions an array."""
        self.check_context(context)
        if self._joints_with_rpy:
            self._refuse_gimbal_lock(context)
        state = context.state
        columns = np.zeros((*state.shape_v, *state.shape_q), state.dtype)
        state.calls.query_qdot_map(columns)
        return self._sparse_map(columns.T)

    def MakeQDotToVelocityMap(self, context: Context) -> Any:
        """N+(q) as a sparse matrix, nv x nq; of dual numbers and expressions an array."""
        self.check_context(context)
        state = context.state
        columns = np.zeros((*state.shape_q, *state.shape_v), state.dtype)
        state.calls.query_velocity_map(columns)
        return self._sparse_map(columns.T)

    def _sparse_map(self, dense: Matrix) -> Any:
        """N or N+ from an array, with the places that may not be zero; scipy has no sparse matrices of objects."""
        from scipy.sparse import csc_matrix

        if dense.dtype.kind == "O":
            return dense
        rows, columns, starts, pattern = self._map_places[dense.shape]
        if pattern is None:
            pattern = csc_matrix((dense[rows, columns], rows, starts), shape=dense.shape)
            self._map_places[dense.shape] = rows, columns, starts, pattern
        matrix = copy(pattern)  # scipy's way to make one checks the places again, which takes most of the time
        matrix.data, matrix.indices, matrix.indptr = dense[rows, columns], rows.copy(), starts.copy()
        return matrix

    @cached_property
    def _map_places(self) -> dict[tuple[int, ...], tuple[IntArray, IntArray, IntArray, Any]]:
        """Rows and columns of N and N+ that may not be zero, column by column, where each column starts, a matrix."""
        N = np.zeros((self.num_positions(), self.num_velocities()), bool)
        for joint in self.moving_joints():
            i, d, n = joint.position_start(), joint.velocity_start(), joint.num_velocities()
            extra = joint.num_positions() - n
            for k in range(n):
                N[i + extra + k, d + k] = True
            if joint.kinematics.ROTATION is not None:
                N[i : i + 3 + extra, d : d + 3] = True
        return {M.shape: _column_places(M) for M in (N, N.T)}

    def IsVelocityEqualToQDot(self) -> bool:
        """Whether N(q) is the identity for every joint."""
        return all(j.kinematics.ROTATION is None for j in self.elements.joints)

    @cached_property
    def _velocities_are_rates(self) -> bool:
        self.require_finalized("rates of coordinates")
        return self.IsVelocityEqualToQDot()


def _column_places(pattern: BoolArray) -> tuple[Any, Any, Any, None]:
    columns, rows = np.nonzero(pattern.T)
    starts = np.concatenate([[0], np.cumsum(pattern.sum(axis=0))])
    return rows.astype(np.int32), columns, starts.astype(np.int32), None
