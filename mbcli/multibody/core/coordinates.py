"""How many coordinates there are, and their values, for the plant and for one model instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mbcli.math.array_arguments import as_numbers
from mbcli.multibody.core.default_velocities import set_default_velocities
from mbcli.multibody.core.lookup import of_instance
from mbcli.multibody.scalars import FLOAT, Scalar
from mbcli.multibody.state.context import Context
from mbcli.multibody.tree.checked_numbers import require_finite
from mbcli.multibody.tree.index import ModelInstanceIndex

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.joint import Joint

ALL = slice(None)


# how many


def num_positions(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> int:
    """The number of positions of the plant or of a model instance.

    Args:
      model_instance: default: the whole plant.

    Returns:
      nq, the size of q; 7 of it for a floating body, a quaternion and a position.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.num_positions(), robot.num_positions()
      (2, 19)
    """
    plant.require_finalized("num_positions")
    if model_instance is None:
        return plant.model.sizes["nq"]
    return len(q_indices(plant, model_instance))


def num_velocities(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> int:
    """The number of velocities of the plant or of a model instance.

    Args:
      model_instance: default: the whole plant.

    Returns:
      nv, the size of v; 6 of it for a floating body.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.num_velocities(), robot.num_velocities()
      (2, 18)
    """
    plant.require_finalized("num_velocities")
    if model_instance is None:
        return plant.model.sizes["nv"]
    return len(v_indices(plant, model_instance))


def num_multibody_states(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> int:
    """The number of positions and velocities of the plant or of a model instance.

    Args:
      model_instance: default: the whole plant.

    Returns:
      nq + nv, the size of [q; v].

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.num_multibody_states(), robot.num_multibody_states()
      (4, 37)
    """
    return num_positions(plant, model_instance) + num_velocities(plant, model_instance)


# names


def moving_joints(plant: PlantData, model_instance: ModelInstanceIndex | int | None = None) -> list[Joint]:
    """The joints with a place in the forest."""
    return [j for j in of_instance(plant, plant.elements.joints, model_instance) if j not in plant.elements.loop_joints]


# values


def q_indices(plant: PlantData, model_instance: ModelInstanceIndex | int) -> list[int]:
    """Places in q of the positions of a model instance, in increasing order."""
    return coordinate_places(plant, "position", model_instance)[0]


def v_indices(plant: PlantData, model_instance: ModelInstanceIndex | int) -> list[int]:
    """Places in v of the velocities of a model instance, in increasing order."""
    return coordinate_places(plant, "velocity", model_instance)[0]


def coordinate_places(plant: PlantData, kind: str, model_instance: Any) -> tuple[list[int], Any]:
    """Places of an instance in q, v or x = [q; v] in increasing order, and what selects them: a slice if it can."""
    is_index = type(model_instance) is ModelInstanceIndex  # whose number is had sooner than by int()
    key = kind, model_instance.number if is_index else int(model_instance)
    found = plant.known_places.get(key)
    if found is None:
        places: list[int] = []
        for joint in moving_joints(plant, model_instance):
            if kind != "velocity":
                first = joint.position_start()
                places.extend(range(first, first + joint.num_positions()))
            if kind != "position":
                first = joint.velocity_start() + (num_positions(plant) if kind == "state" else 0)
                places.extend(range(first, first + joint.num_velocities()))
        places.sort()
        first = places[0] if places else 0
        run = range(first, first + len(places))
        part = slice(run.start, run.stop) if places == list(run) else np.array(places)
        found = plant.known_places[key] = places, part
    return found


def known_places(plant: PlantData) -> dict[tuple[str, int], tuple[list[int], Any]]:
    """Places in q, v and x of model instances, as coordinate_places() finds them."""
    plant.require_finalized("coordinates of a model instance")
    return {}


def vector(value: Any, size: int, what: str, scalar: Scalar | None = None) -> Vector:
    """Numbers (size,), as they are or as an array of the context's scalar type."""
    value = as_numbers(value, what) if scalar is None else scalar.array(value, what)
    if value.shape == (size, 1) and size != 1 or value.shape == (1, 1) and size == 1:
        return value[:, 0]  # a column, as InitializeAutoDiff() gives it
    if value.shape != (size,):
        raise RuntimeError(f"{what} must have {size} elements, it has shape {value.shape}")
    return value


def kernel_numbers(context: Context, value: Any, shape: tuple[int, ...], what: str) -> Vector:
    """A vector of this shape as kernels take it, in the scalar type of the context."""
    state = context.state
    is_array = type(value) is ndarray and value.dtype is state.dtype and value.shape == shape
    if is_array and (value.base is None or value.flags.c_contiguous):
        return value
    return vector(value, shape[0], what, state.scalar)


def GetPositions(plant: PlantData, context: Context, model_instance: ModelInstanceIndex | None = None) -> Vector:
    """The positions of a context, of the plant or of a model instance.

    Args:
      context: state of this plant.
      model_instance: default: the whole plant.

    Returns:
      q (nq,) [rad or m; quaternions 1], a copy.

    Raises:
      RuntimeError: the context is another plant's; there is no such model instance.

    Example:
      >>> plant.GetPositions(context)
      array([ 0.4, -0.9])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if model_instance is None:
        return state.q.copy()
    return state.q[coordinate_places(plant, "position", model_instance)[1]].copy()


def GetVelocities(plant: PlantData, context: Context, model_instance: ModelInstanceIndex | None = None) -> Vector:
    """The velocities of a context, of the plant or of a model instance.

    Args:
      context: state of this plant.
      model_instance: default: the whole plant.

    Returns:
      v (nv,) [rad/s or m/s], a copy.

    Raises:
      RuntimeError: the context is another plant's; there is no such model instance.

    Example:
      >>> plant.GetVelocities(context)
      array([ 1.1, -0.6])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if model_instance is None:
        return state.v.copy()
    return state.v[coordinate_places(plant, "velocity", model_instance)[1]].copy()


def GetPositionsAndVelocities(
    plant: PlantData, context: Context, model_instance: ModelInstanceIndex | None = None
) -> Vector:
    """The state of a context, of the plant or of a model instance.

    Args:
      context: state of this plant.
      model_instance: default: the whole plant.

    Returns:
      [q; v] (nq + nv,) [rad or m; rad/s or m/s], a copy.

    Raises:
      RuntimeError: the context is another plant's; there is no such model instance.

    Example:
      >>> plant.GetPositionsAndVelocities(context)
      array([ 0.4, -0.9,  1.1, -0.6])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    return (
        state.x.copy()
        if model_instance is None
        else state.x[coordinate_places(plant, "state", model_instance)[1]].copy()
    )


def SetPositions(
    plant: PlantData,
    context: Context,
    model_instance: ModelInstanceIndex | ArrayLike | None = None,
    q: ArrayLike | None = None,
) -> None:
    """SetPositions(context, q) or SetPositions(context, model_instance, q).

    Args:
      context: of this plant; changed.
      model_instance: whose positions q are; default: the whole plant's.
      q: (nq,) [rad or m; quaternions 1].

    Raises:
      RuntimeError: the context is another plant's; q has another size or is not finite: nothing is written.

    Example:
      >>> plant.SetPositions(context, [0.1, 0.2])
      >>> plant.GetPositions(context)
      array([0.1, 0.2])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if q is None:
        model_instance, q = None, model_instance
    part = ALL if model_instance is None else coordinate_places(plant, "position", model_instance)[1]
    put_coordinates(context, state.q_memory, state.data.q, part, q, "q")
    state.forget_positions()


def SetVelocities(
    plant: PlantData,
    context: Context,
    model_instance: ModelInstanceIndex | ArrayLike | None = None,
    v: ArrayLike | None = None,
) -> None:
    """SetVelocities(context, v) or SetVelocities(context, model_instance, v).

    Args:
      context: of this plant; changed.
      model_instance: whose velocities v are; default: the whole plant's.
      v: (nv,) [rad/s or m/s].

    Raises:
      RuntimeError: the context is another plant's; v has another size or is not finite: nothing is written.

    Example:
      >>> plant.SetVelocities(context, [1.0, -2.0])
      >>> plant.GetVelocities(context)
      array([ 1., -2.])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if v is None:
        model_instance, v = None, model_instance
    part = ALL if model_instance is None else coordinate_places(plant, "velocity", model_instance)[1]
    put_coordinates(context, state.v_memory, state.data.v, part, v, "v")
    state.forget_velocities()


def SetPositionsAndVelocities(
    plant: PlantData,
    context: Context,
    model_instance: ModelInstanceIndex | ArrayLike | None = None,
    q_v: ArrayLike | None = None,
) -> None:
    """SetPositionsAndVelocities(context, q_v) or SetPositionsAndVelocities(context, model_instance, q_v).

    Args:
      context: of this plant; changed.
      model_instance: whose state q_v is; default: the whole plant's.
      q_v: [q; v] (nq + nv,) [rad or m; rad/s or m/s].

    Raises:
      RuntimeError: the context is another plant's; q_v has another size or is not finite: nothing is written.

    Example:
      >>> plant.SetPositionsAndVelocities(context, [0.1, 0.2, 1.0, -2.0])
      >>> plant.GetVelocities(context)
      array([ 1., -2.])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if q_v is None:
        model_instance, q_v = None, model_instance
    part = ALL if model_instance is None else coordinate_places(plant, "state", model_instance)[1]
    put_coordinates(context, state.x_memory, state.data.x, part, q_v, "[q; v]")
    state.forget_positions()


def put_coordinates(
    context: Context,
    memory: memoryview | None,
    array: Vector,
    part: Any,
    value: Any,
    what: str,
) -> None:
    """Writes numbers to a part of q, v or [q; v]. RuntimeError, and nothing is written, if they are not finite.

    They are looked at by a kernel where they are in the context: numpy takes longer for that.
    """
    state = context.state
    if memory is not None:
        before = memory.tobytes()
        try:
            memory[part] = value
        except (TypeError, ValueError):
            pass
        else:
            fault = state.calls.query_state_fault()
            if fault < 0:
                memory.cast("B")[:] = before
                require_finite(np.asarray(value), what)
            elif fault:
                state.parameters_current = False  # then what needs q asks ready_parameters() first
            return
    value = vector(value, array[part].size, what, state.scalar)
    require_finite(value, what)
    array[part] = value
    state.look_for_zero_quaternions()


def GetPositionsFromArray(plant: PlantData, model_instance: ModelInstanceIndex, q: ArrayLike) -> Vector:
    """The positions of a model instance among all positions q (nq,) [rad or m]."""
    indices = q_indices(plant, model_instance)
    return vector(q, num_positions(plant), "q")[indices]


def GetVelocitiesFromArray(plant: PlantData, model_instance: ModelInstanceIndex, v: ArrayLike) -> Vector:
    """The velocities of a model instance among all velocities v (nv,) [rad/s or m/s]."""
    indices = v_indices(plant, model_instance)
    return vector(v, num_velocities(plant), "v")[indices]


def SetPositionsInArray(plant: PlantData, model_instance: ModelInstanceIndex, q_instance: ArrayLike, q: Vector) -> None:
    """Writes the positions of an instance into q (nq,) [rad or m]."""
    indices = q_indices(plant, model_instance)
    write_part(q, num_positions(plant), "q", indices, q_instance)


def SetVelocitiesInArray(
    plant: PlantData, model_instance: ModelInstanceIndex, v_instance: ArrayLike, v: Vector
) -> None:
    """Writes the velocities of an instance into v (nv,) [rad/s or m/s]."""
    indices = v_indices(plant, model_instance)
    write_part(v, num_velocities(plant), "v", indices, v_instance)


def write_part(array: Vector, size: int, what: str, indices: list[int], values: Any) -> None:
    """Writes the values of an instance to their places in the whole array (size,), if they fit both."""
    vector(array, size, what)
    values = vector(values, len(indices), f"{what}_instance")
    if not np.can_cast(values.dtype, array.dtype, "same_kind"):
        raise TypeError(f"{what}_instance: {values.dtype} does not fit into {what}, an array of {array.dtype}")
    array[indices] = values


# defaults


def GetDefaultPositions(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> Vector:
    """q of a new context, of the plant or of a model instance.

    Args:
      model_instance: default: the whole plant.

    Returns:
      (nq,) [rad or m; quaternions 1].

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.GetDefaultPositions()
      array([0., 0.])
    """
    plant.require_finalized("GetDefaultPositions")
    q = np.zeros(plant.model.sizes["nq"])
    for joint in moving_joints(plant):
        start = joint.position_start()
        q[start : start + joint.num_positions()] = joint.default_positions()
    return q if model_instance is None else q[q_indices(plant, model_instance)]


def SetDefaultPositions(
    plant: PlantData,
    *arguments: Any,
    q: ArrayLike | None = None,
    model_instance: ModelInstanceIndex | None = None,
    q_instance: ArrayLike | None = None,
) -> None:
    """SetDefaultPositions(q) or SetDefaultPositions(model_instance, q): q of contexts made from now on.

    Args:
      q: (nq,) [rad or m; quaternions 1].
      model_instance: whose positions q are; default: the whole plant's.
      q_instance: another name of q.

    Raises:
      RuntimeError: q has another size; before Finalize().

    Example:
      >>> swing = mbcli.load_model("sample_models/double_pendulum.urdf").plant
      >>> swing.SetDefaultPositions([0.3, 0.0])
      >>> swing.GetPositions(swing.CreateDefaultContext())
      array([0.3, 0. ])
    """
    model_instance, q = _instance_and_value(arguments, model_instance, q if q_instance is None else q_instance)
    full = GetDefaultPositions(plant)
    indices = slice(None) if model_instance is None else q_indices(plant, model_instance)
    full[indices] = vector(q, num_positions(plant, model_instance), "q", FLOAT)
    for joint in moving_joints(plant):
        start = joint.position_start()
        joint.set_default_positions(full[start : start + joint.num_positions()])


def CreateDefaultContext(plant: PlantData) -> Context:
    """A context at time 0 with the default positions and zero velocities, but for those of files for free bodies.

    Returns:
      State and inputs of this plant, independent of other contexts.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.GetPositions(plant.CreateDefaultContext())
      array([0., 0.])
    """
    plant.require_finalized("CreateDefaultContext")
    context = Context(plant.whole_plant())
    context.state.set_q(GetDefaultPositions(plant))
    set_default_velocities(plant, context)
    return context


def context_of(state: Any) -> Context:
    """A context of an EvaluatedState, for those who evaluate fields of users; it has no inputs."""
    context = Context.__new__(Context)
    context.join(state)
    return context


def SetDefaultState(plant: PlantData, context: Context, state: Any = None) -> None:
    """Default positions and zero velocities, but for those of files for free bodies."""
    plant.check_context(context)
    context.state.set_q(GetDefaultPositions(plant))
    context.state.set_v(0.0)
    set_default_velocities(plant, context)
    for state, body in zip(context.state.deformables, plant.elements.deformable_bodies, strict=True):
        state.rest(body.default_positions())


def _instance_and_value(arguments: tuple[Any, ...], model_instance: Any, value: Any) -> tuple[Any, Any]:
    """Sorts (value,) and (model_instance, value), given by position or by name."""
    if len(arguments) == 2:
        return arguments
    if len(arguments) == 1:
        if value is not None:
            return arguments[0], value
        return model_instance, arguments[0]
    return model_instance, value
