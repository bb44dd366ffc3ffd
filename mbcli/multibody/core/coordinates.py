"""Names, limits and values of coordinates, for the plant and for one model instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mbcli.math import RigidTransform
from mbcli.math.array_arguments import as_numbers
from mbcli.multibody.core.default_velocities import set_default_velocities
from mbcli.multibody.core.lookup import GetModelInstanceName, all_actuators, free_joint_of, of_instance
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.scalars import FLOAT, Scalar
from mbcli.multibody.state.context import Context
from mbcli.multibody.tree.checked_numbers import require_finite
from mbcli.multibody.tree.index import ModelInstanceIndex

if TYPE_CHECKING:
    from typing import TypeVar

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.element import MultibodyElement
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.rigid_body import RigidBody

    Given = TypeVar("Given")

ALL = slice(None)
EMPTY = np.zeros(0)


# how many


def num_positions(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> int:
    """The number of positions of the plant or of a model instance. After Finalize()."""
    plant.require_finalized("num_positions")
    if model_instance is None:
        return plant.model.sizes["nq"]
    return len(q_indices(plant, model_instance))


def num_velocities(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> int:
    """The number of velocities of the plant or of a model instance. After Finalize()."""
    plant.require_finalized("num_velocities")
    if model_instance is None:
        return plant.model.sizes["nv"]
    return len(v_indices(plant, model_instance))


def num_multibody_states(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> int:
    """The number of positions and velocities of the plant or of a model instance. After Finalize()."""
    return num_positions(plant, model_instance) + num_velocities(plant, model_instance)


# names


def GetPositionNames(
    plant: PlantData,
    model_instance: ModelInstanceIndex | None = None,
    add_model_instance_prefix: bool | None = None,
    always_add_suffix: bool = True,
) -> list[str]:
    """`{instance}_{joint}_{suffix}` for each position, in the order of q."""
    return coordinate_names(plant, "position", model_instance, add_model_instance_prefix, always_add_suffix)


def GetVelocityNames(
    plant: PlantData,
    model_instance: ModelInstanceIndex | None = None,
    add_model_instance_prefix: bool | None = None,
    always_add_suffix: bool = True,
) -> list[str]:
    """`{instance}_{joint}_{suffix}` for each velocity, in the order of v."""
    return coordinate_names(plant, "velocity", model_instance, add_model_instance_prefix, always_add_suffix)


def GetStateNames(
    plant: PlantData, model_instance: ModelInstanceIndex | None = None, add_model_instance_prefix: bool | None = None
) -> list[str]:
    """Names of the positions, then of the velocities, of the plant or of a model instance."""
    return GetPositionNames(plant, model_instance, add_model_instance_prefix) + GetVelocityNames(
        plant, model_instance, add_model_instance_prefix
    )


def GetActuatorNames(
    plant: PlantData, model_instance: ModelInstanceIndex | None = None, add_model_instance_prefix: bool | None = None
) -> list[str]:
    """`{instance}_{actuator}` for each entry of u: actuators on joints, then those that act through transmissions."""
    plant.require_finalized("GetActuatorNames")
    prefix = model_instance is None if add_model_instance_prefix is None else add_model_instance_prefix
    return [instance_prefix(plant, a, prefix) + a.name() for a in all_actuators(plant, model_instance)]


def moving_joints(plant: PlantData, model_instance: ModelInstanceIndex | int | None = None) -> list[Joint]:
    """The joints with a place in the forest."""
    return [j for j in of_instance(plant, plant.elements.joints, model_instance) if j not in plant.elements.loop_joints]


def instance_prefix(plant: PlantData, element: MultibodyElement, wanted: bool) -> str:
    return f"{GetModelInstanceName(plant, element.model_instance())}_" if wanted else ""


def coordinate_names(
    plant: PlantData, kind: str, model_instance: ModelInstanceIndex | None, prefix: bool | None, always_add_suffix: bool
) -> list[str]:
    plant.require_finalized(f"Get{kind.capitalize()}Names")
    prefix = model_instance is None if prefix is None else prefix
    by_start = {}
    for joint in moving_joints(plant, model_instance):
        suffixes = getattr(joint.kinematics, f"{kind.upper()}_SUFFIXES")
        start = joint.position_start() if kind == "position" else joint.velocity_start()
        for k, suffix in enumerate(suffixes):
            name = instance_prefix(plant, joint, prefix) + joint.name()
            if always_add_suffix or len(suffixes) > 1:
                name += f"_{suffix}"
            by_start[start + k] = name
    return [by_start[i] for i in sorted(by_start)]


# limits


def GetPositionLowerLimits(plant: PlantData) -> Vector:
    """(nq,) [rad or m], -inf if there is none. After Finalize()."""
    return _limits_vector(plant, "position", 0)


def GetPositionUpperLimits(plant: PlantData) -> Vector:
    """(nq,) [rad or m], inf if there is none. After Finalize()."""
    return _limits_vector(plant, "position", 1)


def GetVelocityLowerLimits(plant: PlantData) -> Vector:
    """(nv,) [rad/s or m/s], -inf if there is none. After Finalize()."""
    return _limits_vector(plant, "velocity", 0)


def GetVelocityUpperLimits(plant: PlantData) -> Vector:
    """(nv,) [rad/s or m/s], inf if there is none. After Finalize()."""
    return _limits_vector(plant, "velocity", 1)


def GetAccelerationLowerLimits(plant: PlantData) -> Vector:
    """(nv,) [rad/s^2 or m/s^2], -inf if there is none. After Finalize()."""
    return _limits_vector(plant, "acceleration", 0)


def GetAccelerationUpperLimits(plant: PlantData) -> Vector:
    """(nv,) [rad/s^2 or m/s^2], inf if there is none. After Finalize()."""
    return _limits_vector(plant, "acceleration", 1)


def GetEffortLowerLimits(plant: PlantData) -> Vector:
    """(nu,) [N m or N], -inf if there is none. After Finalize()."""
    return -GetEffortUpperLimits(plant)


def GetEffortUpperLimits(plant: PlantData) -> Vector:
    """(nu,) [N m or N], inf if there is none, and for controls of transmissions. After Finalize()."""
    plant.require_finalized("GetEffortUpperLimits")
    limits = [a.effort_limit() for a in plant.elements.actuators]
    return np.array(limits + [np.inf] * len(plant.elements.transmission_actuators))


def _limits_vector(plant: PlantData, kind: str, side: int) -> Vector:
    """Those of one kind of all joints; side: 0 for the lower ones, 1 for the upper ones."""
    plant.require_finalized(f"Get{kind.capitalize()}{('Lower', 'Upper')[side]}Limits")
    return np.concatenate([EMPTY, *(joint.limits[kind][side] for joint in plant.joints_by_place)])


def joints_by_place(plant: PlantData) -> list[Joint]:
    """The joints in the order of their positions, which is that of their velocities."""
    return sorted(moving_joints(plant), key=lambda joint: (joint.position_start(), joint.velocity_start()))


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
    """q, (nq,)"""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if model_instance is None:
        return state.q.copy()
    return state.q[coordinate_places(plant, "position", model_instance)[1]].copy()


def GetVelocities(plant: PlantData, context: Context, model_instance: ModelInstanceIndex | None = None) -> Vector:
    """v, (nv,)"""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if model_instance is None:
        return state.v.copy()
    return state.v[coordinate_places(plant, "velocity", model_instance)[1]].copy()


def GetPositionsAndVelocities(
    plant: PlantData, context: Context, model_instance: ModelInstanceIndex | None = None
) -> Vector:
    """[q; v]"""
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
    """SetPositions(context, q) or SetPositions(context, model_instance, q)."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if q is None:
        model_instance, q = None, model_instance
    if model_instance is None:
        put_coordinates(context, state.q_memory, state.data.q, ALL, q, "q")
    else:
        put_coordinates(
            context, state.q_memory, state.data.q, coordinate_places(plant, "position", model_instance)[1], q, "q"
        )
    state.forget_positions()


def SetVelocities(
    plant: PlantData,
    context: Context,
    model_instance: ModelInstanceIndex | ArrayLike | None = None,
    v: ArrayLike | None = None,
) -> None:
    """SetVelocities(context, v) or SetVelocities(context, model_instance, v)."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if v is None:
        model_instance, v = None, model_instance
    if model_instance is None:
        put_coordinates(context, state.v_memory, state.data.v, ALL, v, "v")
    else:
        put_coordinates(
            context, state.v_memory, state.data.v, coordinate_places(plant, "velocity", model_instance)[1], v, "v"
        )
    state.forget_velocities()


def SetPositionsAndVelocities(
    plant: PlantData,
    context: Context,
    model_instance: ModelInstanceIndex | ArrayLike | None = None,
    q_v: ArrayLike | None = None,
) -> None:
    """[q; v] of the plant or of a model instance."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if q_v is None:
        model_instance, q_v = None, model_instance
    if model_instance is None:
        put_coordinates(context, state.x_memory, state.data.x, ALL, q_v, "[q; v]")
    else:
        put_coordinates(
            context, state.x_memory, state.data.x, coordinate_places(plant, "state", model_instance)[1], q_v, "[q; v]"
        )
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
                state.parameters_current = False  # then what needs q asks _ready_parameters() first
            return
    value = vector(value, array[part].size, what, state.scalar)
    require_finite(value, what)
    array[part] = value
    state.look_for_zero_quaternions()


def GetPositionsFromArray(plant: PlantData, model_instance: ModelInstanceIndex, q: ArrayLike) -> Vector:
    """The positions of a model instance among all positions q (nq,)."""
    indices = q_indices(plant, model_instance)
    return vector(q, num_positions(plant), "q")[indices]


def GetVelocitiesFromArray(plant: PlantData, model_instance: ModelInstanceIndex, v: ArrayLike) -> Vector:
    """The velocities of a model instance among all velocities v (nv,)."""
    indices = v_indices(plant, model_instance)
    return vector(v, num_velocities(plant), "v")[indices]


def SetPositionsInArray(plant: PlantData, model_instance: ModelInstanceIndex, q_instance: ArrayLike, q: Vector) -> None:
    """Writes the positions of an instance into q (nq,)."""
    indices = q_indices(plant, model_instance)
    write_part(q, num_positions(plant), "q", indices, q_instance)


def SetVelocitiesInArray(
    plant: PlantData, model_instance: ModelInstanceIndex, v_instance: ArrayLike, v: Vector
) -> None:
    """Writes the velocities of an instance into v (nv,)."""
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
    """q of a new context."""
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
    """SetDefaultPositions(q) or SetDefaultPositions(model_instance, q): q of contexts made from now on."""
    model_instance, q = _instance_and_value(arguments, model_instance, q if q_instance is None else q_instance)
    full = GetDefaultPositions(plant)
    indices = slice(None) if model_instance is None else q_indices(plant, model_instance)
    full[indices] = vector(q, num_positions(plant, model_instance), "q", FLOAT)
    for joint in moving_joints(plant):
        start = joint.position_start()
        joint.set_default_positions(full[start : start + joint.num_positions()])


def CreateDefaultContext(plant: PlantData) -> Context:
    """A context at time 0 with the default positions and zero velocities, but for those of files for free bodies."""
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


# free bodies


def SetDefaultFreeBodyPose(
    plant: PlantData, body: RigidBody, X_PB: RigidTransform | None = None, *, X_WB: RigidTransform | None = None
) -> None:
    """X_PB of a floating body in contexts made from now on; kept for a body that turns out not to float.

    P is the body's parent, whichever name the pose is given by.
    """
    X_PB = RigidTransform(_one_of(X_PB, X_WB, "SetDefaultFreeBodyPose: X_PB"))
    plant.require_own(body, "SetDefaultFreeBodyPose")
    plant.default_free_poses[int(body.index())] = X_PB
    if plant.is_finalized() and body.is_floating_base_body():
        free_joint_of(plant, body).SetDefaultPose(X_PB)


def GetDefaultFreeBodyPose(plant: PlantData, body: RigidBody) -> RigidTransform:
    """Identity if none was set."""
    return plant.default_free_poses.get(int(body.index()), RigidTransform())


def GetFreeBodyPose(plant: PlantData, context: Context, body: RigidBody) -> RigidTransform:
    """X_PB, P and B the frames that the body's joint of six degrees of freedom connects."""
    if body.parent_plant is not plant.origin:
        plant.require_own(body, "GetFreeBodyPose")
    return body.required_free_joint().GetPose(context)


def SetFreeBodyPose(
    plant: PlantData,
    context: Context,
    body: RigidBody,
    X_JpJc: RigidTransform | None = None,
    *,
    X_PB: RigidTransform | None = None,
    X_WB: RigidTransform | None = None,
) -> None:
    """X_JpJc as in GetFreeBodyPose(), under this name or a former one."""
    if X_JpJc is None or X_PB is not None or X_WB is not None:
        X_JpJc = _one_of(X_JpJc, X_PB if X_PB is not None else X_WB, "SetFreeBodyPose: X_JpJc")
    if not isinstance(X_JpJc, RigidTransform):  # those of other scalars are derived from it
        X_JpJc = RigidTransform(X_JpJc)
    if body.parent_plant is not plant.origin:
        plant.require_own(body, "SetFreeBodyPose")
    body.required_free_joint().SetPose(context, X_JpJc)


def SetFloatingBaseBodyPoseInWorldFrame(
    plant: PlantData, context: Context, body: RigidBody, X_WB: RigidTransform
) -> None:
    """X_WB of a floating base. RuntimeError for another body."""
    _require_floating_base(plant, body, "SetFloatingBaseBodyPoseInWorldFrame")
    SetFreeBodyPose(plant, context, body, X_WB)


def SetFloatingBaseBodyPoseInAnchoredFrame(
    plant: PlantData, context: Context, frame_F: Frame, body: RigidBody, X_FB: RigidTransform
) -> None:
    """X_FB of a floating base in a frame that is fixed in World. RuntimeError for other bodies or frames."""
    _require_floating_base(plant, body, "SetFloatingBaseBodyPoseInAnchoredFrame")
    if not plant.whole_plant().IsAnchored(frame_F.body()):
        raise RuntimeError(f"SetFloatingBaseBodyPoseInAnchoredFrame: frame '{frame_F.name()}' is not anchored")
    SetFreeBodyPose(plant, context, body, frame_F.CalcPoseInWorld(context) @ X_FB)


def SetDefaultFloatingBaseBodyPose(plant: PlantData, body: RigidBody, X_WB: RigidTransform) -> None:
    """X_WB of a floating base in contexts made from now on; kept for a body that turns out not to float."""
    SetDefaultFreeBodyPose(plant, body, X_WB)


def GetDefaultFloatingBaseBodyPose(plant: PlantData, body: RigidBody) -> RigidTransform:
    """X_WB, identity if none was set."""
    return GetDefaultFreeBodyPose(plant, body)


def _require_floating_base(plant: PlantData, body: RigidBody, method: str) -> None:
    plant.require_finalized(method)
    plant.require_own(body, method)
    if not body.is_floating_base_body():
        raise RuntimeError(f"{method}: body '{body.name()}' is not a floating base")


def SetFreeBodySpatialVelocity(
    plant: PlantData,
    *arguments: Any,
    body: RigidBody | None = None,
    V_PB: SpatialVelocity | None = None,
    context: Context | None = None,
    V_WB: SpatialVelocity | None = None,
    V_JpJc: SpatialVelocity | None = None,
) -> None:
    """SetFreeBodySpatialVelocity(context, body, V_JpJc); the former order (body, V_PB, context) too.

    The velocity is that of the frames that the body's joint connects, whichever name it is given by.
    """
    for argument in arguments:
        if isinstance(argument, Context):
            context = argument
        elif isinstance(argument, SpatialVelocity):
            V_PB = argument
        else:
            body = argument
    former = V_WB if V_JpJc is None else V_JpJc
    V_PB = _one_of(V_PB, former, "SetFreeBodySpatialVelocity: V_JpJc")
    if body is None:
        raise TypeError("SetFreeBodySpatialVelocity: body must be given")
    plant.require_own(body, "SetFreeBodySpatialVelocity")
    joint = body.required_free_joint()
    joint.SetVelocities(context, V_PB.get_coeffs())


# velocities and rates


def _one_of(value: Given | None, former: Given | None, name: str) -> Given:
    """An argument that has a former name; TypeError unless it is given by one of the two."""
    given = [each for each in (value, former) if each is not None]
    if len(given) != 1:
        raise TypeError(f"{name} must be given, once")
    return given[0]


def _instance_and_value(arguments: tuple[Any, ...], model_instance: Any, value: Any) -> tuple[Any, Any]:
    """Sorts (value,) and (model_instance, value), given by position or by name."""
    if len(arguments) == 2:
        return arguments
    if len(arguments) == 1:
        if value is not None:
            return arguments[0], value
        return model_instance, arguments[0]
    return model_instance, value
