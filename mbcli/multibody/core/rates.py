"""Rates of positions and velocities: qdot = N(q) v, and back."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import empty

from mbcli.errors import NumericalError
from mbcli.math import RollPitchYaw
from mbcli.multibody.core.coordinates import kernel_numbers, moving_joints, num_positions, num_velocities
from mbcli.multibody.tree.joint_kinds import has_angles

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import BoolArray, IntArray, Matrix, Vector
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint import Joint


def MapVelocityToQDot(plant: PlantData, context: Context, v: ArrayLike) -> Vector:
    """qdot = N(q) v.

    Args:
      context: state of this plant.
      v: (nv,) [rad/s or m/s].

    Returns:
      (nq,) [rad/s or m/s; quaternions 1/s].

    Raises:
      RuntimeError: the context is another plant's; v has another size.
      NumericalError: a joint with roll, pitch and yaw is at gimbal lock.

    Example:
      >>> v = np.zeros(robot.num_velocities())
      >>> v[2] = 1.0  # the trunk turns about z
      >>> robot.MapVelocityToQDot(stance, v)[:4] + 0.0
      array([0. , 0. , 0. , 0.5])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if plant.joints_with_rpy:
        refuse_gimbal_lock(plant, context)
    state.calls.query_qdot(kernel_numbers(context, v, state.shape_v, "v"))
    return state.data.qdot.copy()


def MapQDotToVelocity(plant: PlantData, context: Context, qdot: ArrayLike) -> Vector:
    """v = N+(q) qdot, N+ the left inverse of N.

    Args:
      context: state of this plant.
      qdot: (nq,) [rad/s or m/s; quaternions 1/s].

    Returns:
      (nv,) [rad/s or m/s].

    Raises:
      RuntimeError: the context is another plant's; qdot has another size.

    Example:
      >>> qdot = np.zeros(robot.num_positions())
      >>> qdot[3] = 0.5
      >>> robot.MapQDotToVelocity(stance, qdot)[:3]
      array([0., 0., 1.])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    qdot, v = kernel_numbers(context, qdot, state.shape_q, "qdot"), empty(state.shape_v, state.dtype)
    state.calls.query_velocity_from_qdot(qdot, v)
    return v


def refuse_gimbal_lock(plant: PlantData, context: Context) -> None:
    problem = gimbal_lock(plant, context)
    if problem:
        raise NumericalError(problem)


def gimbal_lock(plant: PlantData, context: Context) -> str | None:
    """Which joint has no rates of roll and yaw in a context, as a message; None if all have."""
    state = context.state
    for joint in plant.joints_with_rpy:
        pitch = state.scalar.real(state.q[joint.position_start() + 1])
        if pitch is not None and RollPitchYaw.DoesCosPitchAngleViolateGimbalLockTolerance(np.cos(pitch)):
            return f"joint '{joint.name()}' is at gimbal lock: its pitch is {pitch:.6g} rad"
    return None


def joints_with_rpy(plant: PlantData) -> list[Joint]:
    """The joints whose coordinates have roll, pitch and yaw, which have singular places."""
    plant.require_finalized("rates of coordinates")
    return [joint for joint in plant.elements.joints if has_angles(joint)]


def MakeVelocityToQDotMap(plant: PlantData, context: Context) -> Any:
    """N(q) with qdot = N v.

    Args:
      context: state of this plant.

    Returns:
      A sparse matrix (nq, nv) [1; quaternions 1/rad]; of dual numbers and expressions an array.

    Raises:
      RuntimeError: the context is another plant's.
      NumericalError: a joint with roll, pitch and yaw is at gimbal lock.

    Example:
      >>> robot.MakeVelocityToQDotMap(stance).shape
      (19, 18)
    """
    plant.check_context(context)
    if plant.joints_with_rpy:
        refuse_gimbal_lock(plant, context)
    state = context.state
    columns = np.zeros((*state.shape_v, *state.shape_q), state.dtype)
    state.calls.query_qdot_map(columns)
    return _sparse_map(plant, columns.T)


def MakeQDotToVelocityMap(plant: PlantData, context: Context) -> Any:
    """N+(q) as a sparse matrix, nv x nq; of dual numbers and expressions an array."""
    plant.check_context(context)
    state = context.state
    columns = np.zeros((*state.shape_q, *state.shape_v), state.dtype)
    state.calls.query_velocity_map(columns)
    return _sparse_map(plant, columns.T)


def _sparse_map(plant: PlantData, dense: Matrix) -> Any:
    """N or N+ from an array, with the places that may not be zero; scipy has no sparse matrices of objects."""
    from scipy.sparse import csc_matrix

    if dense.dtype.kind == "O":
        return dense
    rows, columns, starts, pattern = plant.map_places[dense.shape]
    if pattern is None:
        pattern = csc_matrix((dense[rows, columns], rows, starts), shape=dense.shape)
        plant.map_places[dense.shape] = rows, columns, starts, pattern
    matrix = copy(pattern)  # scipy's way to make one checks the places again, which takes most of the time
    matrix.data, matrix.indices, matrix.indptr = dense[rows, columns], rows.copy(), starts.copy()
    return matrix


def map_places(plant: PlantData) -> dict[tuple[int, ...], tuple[IntArray, IntArray, IntArray, Any]]:
    """Rows and columns of N and N+ that may not be zero, column by column, where each column starts, a matrix."""
    N = np.zeros((num_positions(plant), num_velocities(plant)), bool)
    for joint in moving_joints(plant):
        i, d, n = joint.position_start(), joint.velocity_start(), joint.num_velocities()
        extra = joint.num_positions() - n
        for k in range(n):
            N[i + extra + k, d + k] = True
        if joint.kinematics.ROTATION is not None:
            N[i : i + 3 + extra, d : d + 3] = True
    return {M.shape: _column_places(M) for M in (N, N.T)}


def IsVelocityEqualToQDot(plant: PlantData) -> bool:
    """Whether N(q) is the identity for every joint."""
    return all(j.kinematics.ROTATION is None for j in plant.elements.joints)


def velocities_are_rates(plant: PlantData) -> bool:
    """Whether v is qdot for all joints. RuntimeError before Finalize()."""
    plant.require_finalized("rates of coordinates")
    return IsVelocityEqualToQDot(plant)


def _column_places(pattern: BoolArray) -> tuple[Any, Any, Any, None]:
    columns, rows = np.nonzero(pattern.T)
    starts = np.concatenate([[0], np.cumsum(pattern.sum(axis=0))])
    return rows.astype(np.int32), columns, starts.astype(np.int32), None
