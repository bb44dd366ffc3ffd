"""Where the bodies and frames of a plant are and how they move. Accelerations are those of the forward dynamics."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from numpy import empty, ndarray

from mbcli.math.rigid_transform import transform_of, transforms_of
from mbcli.math.rotation_matrix import rotation_of
from mbcli.multibody.core.coordinates import vector
from mbcli.multibody.core.dynamics import known_accelerations
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
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.rigid_body import RigidBody


def rows_of(array: Array) -> list[Array]:
    """A list of the rows of an array. list(array) ends at an IndexError, which takes as long as three rows."""
    return list(islice(array, len(array)))


# what the engine takes: numbers of frames, points in columns. A call from Python is short, so these are too


def number_of_frame(plant: PlantData) -> dict[Frame, int]:
    """The number that each frame has in the engine. RuntimeError before Finalize()."""
    plant.require_finalized("frames")
    return {frame: int(frame.index()) for frame in plant.elements.frames}


def frame_number(plant: PlantData, frame: Frame) -> int:
    """The number of a frame in the engine. RuntimeError for a frame of another plant."""
    try:
        return plant.number_of_frame[frame]
    except (KeyError, TypeError):
        if not isinstance(frame, Frame):
            raise TypeError(f"expected a Frame, not {frame!r}") from None
        raise RuntimeError(f"frame '{frame.name()}' is not part of this plant") from None


def frame_numbers(plant: PlantData, B: Frame, A: Frame, E: Frame) -> tuple[int, int, int]:
    """The numbers of three frames, as frame_number() gives them."""
    numbers = plant.number_of_frame
    try:
        return numbers[B], numbers[A], numbers[E]
    except (KeyError, TypeError):
        return frame_number(plant, B), frame_number(plant, A), frame_number(plant, E)  # raises


def _refuse_body(body: RigidBody) -> NoReturn:
    raise RuntimeError(f"body '{body.name()}' is not part of this plant")


def copy_of_points(context: Context, points: Any, what: str) -> Points:
    """A new array (3, n) of points, from (3,) or (3, n)."""
    state = context.state
    if type(points) is ndarray and points.dtype is state.dtype:
        points = points.copy()
    else:
        points = state.scalar.array(points, what)
    if points.ndim == 2 and len(points) == 3:
        return points
    return point_columns(context, points, what)


def point_columns(context: Context, points: Any, what: str) -> Points:
    """Points in the columns of an array (3, n), from (3,) or (3, n)."""
    state = context.state
    if type(points) is not ndarray or points.dtype is not state.dtype or not points.flags.c_contiguous:
        points = state.scalar.array(points, what)
    if points.ndim == 2 and len(points) == 3:
        return points
    if points.shape == (3,):
        return points.reshape(3, 1)
    raise RuntimeError(f"{what} must have shape (3,) or (3, n), it has {points.shape}")


def one_point(context: Context, point: Any, what: str) -> Vector3:
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


def frame_acceleration(plant: PlantData, context: Context, f: int, m: int, e: int) -> Vector6:
    """(6,), of the origin of frame f in frame m, along the axes of frame e."""
    state = context.state
    A = state.input_cache.get((f, m, e))
    if A is None:
        A = state.input_cache[f, m, e] = state.acceleration(known_accelerations(plant, context), f, m, e)
    return A


def point_acceleration(plant: PlantData, context: Context, f: int, point: Vector3) -> Vector6:
    """(6,), of a point (3,) of frame f, in World; not remembered."""
    return context.state.acceleration(known_accelerations(plant, context), f, WORLD_FRAME, WORLD_FRAME, point)


def frame_acceleration_beside(plant: PlantData, context: Context, f: int, b: int, m: int, e: int) -> Vector6:
    """(6,): what frame f has more than frame b."""
    state = context.state
    A = state.input_cache.get((f, b, m, e))
    if A is None:
        A = state.input_cache[f, b, m, e] = state.acceleration_beside(known_accelerations(plant, context), f, b, m, e)
    return A


# all bodies; rows of arrays are parts of the objects and never change


def body_poses(plant: PlantData, context: Context) -> list[RigidTransform]:
    """A list of X_WB by BodyIndex."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    poses = state.position_cache.get("poses")
    if poses is None:
        n, dtype = len(plant.elements.bodies), state.dtype
        R, p = empty((n, 3, 3), dtype), empty((n, 3), dtype)
        state.at_positions().query_link_poses(R, p)
        poses = state.position_cache["poses"] = list(zip(rows_of(R), rows_of(p), strict=True))
    return transforms_of(poses)


def body_velocities(plant: PlantData, context: Context) -> list[SpatialVelocity]:
    """A list of V_WB_W by BodyIndex."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    rows = state.velocity_cache.get("velocities")
    if rows is None:
        rows = state.velocity_cache["velocities"] = rows_of(state.at_links().V_WL.copy())
    return vectors_of(SpatialVelocity, rows)


def body_accelerations(plant: PlantData, context: Context) -> list[SpatialAcceleration]:
    """A list of A_WB_W by BodyIndex."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    rows = state.input_cache.get("accelerations")
    if rows is None:
        vdot = known_accelerations(plant, context)
        state.at_velocities()
        state.data.vdot[...] = vdot
        rows = state.input_cache["accelerations"] = rows_of(state.link_accelerations())
    return vectors_of(SpatialAcceleration, rows)


# bodies


def EvalBodyPoseInWorld(plant: PlantData, context: Context, body: RigidBody) -> RigidTransform:
    """The pose of a body in World.

    Args:
      context: state of this plant.
      body: B, of this plant.

    Returns:
      X_WB [m].

    Raises:
      RuntimeError: the context or the body is another plant's.

    Example:
      >>> plant.EvalBodyPoseInWorld(context, plant.GetBodyByName("lower")).translation().round(4)
      array([-0.3894,  0.    ,  1.0789])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if body.parent_plant is not plant.origin:
        _refuse_body(body)
    R, p = state.pose(body.frame.index_number, WORLD_FRAME)
    return transform_of(R, p)


def EvalBodySpatialVelocityInWorld(plant: PlantData, context: Context, body: RigidBody) -> SpatialVelocity:
    """The velocity of a body in World, at its origin Bo.

    Args:
      context: state of this plant.
      body: B, of this plant.

    Returns:
      V_WB_W, angular before translational [rad/s, m/s].

    Raises:
      RuntimeError: the context or the body is another plant's.

    Example:
      >>> plant.EvalBodySpatialVelocityInWorld(context, plant.GetBodyByName("lower")).rotational().round(4)
      array([0. , 0.5, 0. ])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if body.parent_plant is not plant.origin:
        _refuse_body(body)
    return vector_of(SpatialVelocity, state.velocity(body.frame.index_number, WORLD_FRAME, WORLD_FRAME))


def EvalBodySpatialAccelerationInWorld(plant: PlantData, context: Context, body: RigidBody) -> SpatialAcceleration:
    """The acceleration of a body in World, at its origin Bo, from the forward dynamics of the context.

    Args:
      context: state and inputs of this plant.
      body: B, of this plant.

    Returns:
      A_WB_W, angular before translational [rad/s^2, m/s^2].

    Raises:
      RuntimeError: the context or the body is another plant's.

    Example:
      >>> lower = plant.GetBodyByName("lower")
      >>> plant.EvalBodySpatialAccelerationInWorld(context, lower).rotational().round(3)
      array([ 0.   , 19.347,  0.   ])
    """
    if context.state.plant is not plant:
        plant.check_context(context)
    if body.parent_plant is not plant.origin:
        _refuse_body(body)
    n = body.frame.index_number
    return vector_of(SpatialAcceleration, frame_acceleration(plant, context, n, WORLD_FRAME, WORLD_FRAME))


def CalcSpatialAccelerationsFromVdot(
    plant: PlantData, context: Context, known_vdot: ArrayLike
) -> list[SpatialAcceleration]:
    """The acceleration of every body in World, at its origin, for given accelerations of the joints.

    Args:
      context: state of this plant.
      known_vdot: (nv,) [rad/s^2 or m/s^2].

    Returns:
      A_WB_W by BodyIndex [rad/s^2, m/s^2]; World's is zero.

    Raises:
      RuntimeError: the context is another plant's; known_vdot has another size.

    Example:
      >>> A_WB_W = plant.CalcSpatialAccelerationsFromVdot(context, [2.0, 0.5])
      >>> A_WB_W[2].rotational()
      array([0. , 2.5, 0. ])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if not state.velocities_current:
        state.at_velocities()
    try:
        state.vdot_memory[:] = known_vdot
    except (TypeError, ValueError):
        state.data.vdot[...] = vector(known_vdot, state.shape_v[0], "known_vdot", state.scalar)
    return vectors_of(SpatialAcceleration, rows_of(state.link_accelerations()))


# frames


def CalcRelativeTransform(plant: PlantData, context: Context, frame_A: Frame, frame_B: Frame) -> RigidTransform:
    """The pose of a frame in another one.

    Args:
      context: state of this plant.
      frame_A: of this plant.
      frame_B: of this plant.

    Returns:
      X_AB [m].

    Raises:
      RuntimeError: the context or a frame is another plant's.

    Example:
      >>> upper, lower = plant.GetFrameByName("upper"), plant.GetFrameByName("lower")
      >>> X = plant.CalcRelativeTransform(context, upper, lower)
      >>> (X.translation().round(6) + 0.0).tolist()
      [0.0, 0.0, -1.0]
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    f, m, _ = frame_numbers(plant, frame_B, frame_A, frame_A)
    R, p = state.pose(f, m)
    return transform_of(R, p)


def CalcRelativeRotationMatrix(plant: PlantData, context: Context, frame_A: Frame, frame_B: Frame) -> RotationMatrix:
    """R_AB. RuntimeError for a frame of another plant."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    f, m, _ = frame_numbers(plant, frame_B, frame_A, frame_A)
    return rotation_of(state.pose(f, m)[0])


def CalcPointsPositions(plant: PlantData, context: Context, frame_B: Frame, p_BQi: ArrayLike, frame_A: Frame) -> Matrix:
    """Positions in a frame A of points that are fixed in a frame B.

    Args:
      context: state of this plant.
      frame_B: of this plant.
      p_BQi: (3, n) or (3,) [m], a point a column.
      frame_A: of this plant.

    Returns:
      p_AQi (3, n) [m].

    Raises:
      RuntimeError: the context or a frame is another plant's; p_BQi has another shape.

    Example:
      >>> tip = plant.CalcPointsPositions(context, plant.GetFrameByName("lower"), [0, 0, -0.8], plant.world_frame())
      >>> tip.ravel().round(4)
      array([-0.0059,  0.    ,  0.3769])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    f, m, _ = frame_numbers(plant, frame_B, frame_A, frame_A)
    points = copy_of_points(context, p_BQi, "p_BQi")
    calls = state.calls if state.positions_current else state.at_positions()
    calls.query_points(f, m, points)
    return points


def CalcPointsVelocities(
    plant: PlantData, context: Context, frame_B: Frame, p_BQi: ArrayLike, frame_A: Frame, frame_E: Frame
) -> Matrix:
    """v_AQi_E (3, n) [m/s] of points given in frame B, (3, n) or (3,) [m]. RuntimeError for other shapes."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    f, m, e = frame_numbers(plant, frame_B, frame_A, frame_E)
    points = copy_of_points(context, p_BQi, "p_BQi")
    calls = state.calls if state.velocities_current else state.at_velocities()
    calls.query_point_velocities(f, m, e, points)
    return points
