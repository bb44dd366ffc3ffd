"""Names, limits and values of coordinates, for the plant and for one model instance."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mbcli.math import RigidTransform
from mbcli.math.array_arguments import as_numbers
from mbcli.multibody.core.lookup import Lookup
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.scalars import FLOAT, Scalar
from mbcli.multibody.state.context import Context
from mbcli.multibody.tree.checked_numbers import require_finite
from mbcli.multibody.tree.index import ModelInstanceIndex

if TYPE_CHECKING:
    from typing import TypeVar

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.multibody.tree.element import MultibodyElement
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.rigid_body import RigidBody

    Given = TypeVar("Given")

ALL = slice(None)


class Coordinates(Lookup):
    """The part of MultibodyPlant that deals with q, v and u as vectors."""

    _default_free_poses: dict[int, RigidTransform]  # X_PB by the number of the body

    # how many

    def num_positions(self, model_instance: ModelInstanceIndex | None = None) -> int:
        """The number of positions of the plant or of a model instance. After Finalize()."""
        self.require_finalized("num_positions")
        if model_instance is None:
            return self.model.sizes["nq"]
        return len(self.q_indices(model_instance))

    def num_velocities(self, model_instance: ModelInstanceIndex | None = None) -> int:
        """The number of velocities of the plant or of a model instance. After Finalize()."""
        self.require_finalized("num_velocities")
        if model_instance is None:
            return self.model.sizes["nv"]
        return len(self.v_indices(model_instance))

    def num_multibody_states(self, model_instance: ModelInstanceIndex | None = None) -> int:
        """The number of positions and velocities of the plant or of a model instance. After Finalize()."""
        return self.num_positions(model_instance) + self.num_velocities(model_instance)

    # names

    def GetPositionNames(
        self,
        model_instance: ModelInstanceIndex | None = None,
        add_model_instance_prefix: bool | None = None,
        always_add_suffix: bool = True,
    ) -> list[str]:
        """`{instance}_{joint}_{suffix}` for each position, in the order of q."""
        return self._names("position", model_instance, add_model_instance_prefix, always_add_suffix)

    def GetVelocityNames(
        self,
        model_instance: ModelInstanceIndex | None = None,
        add_model_instance_prefix: bool | None = None,
        always_add_suffix: bool = True,
    ) -> list[str]:
        """`{instance}_{joint}_{suffix}` for each velocity, in the order of v."""
        return self._names("velocity", model_instance, add_model_instance_prefix, always_add_suffix)

    def GetStateNames(
        self, model_instance: ModelInstanceIndex | None = None, add_model_instance_prefix: bool | None = None
    ) -> list[str]:
        """Names of the positions, then of the velocities, of the plant or of a model instance."""
        return self.GetPositionNames(model_instance, add_model_instance_prefix) + self.GetVelocityNames(
            model_instance, add_model_instance_prefix
        )

    def GetActuatorNames(
        self, model_instance: ModelInstanceIndex | None = None, add_model_instance_prefix: bool | None = None
    ) -> list[str]:
        """`{instance}_{actuator}` for each entry of u."""
        self.require_finalized("GetActuatorNames")
        prefix = model_instance is None if add_model_instance_prefix is None else add_model_instance_prefix
        actuators = self._of_instance(self.elements.actuators, model_instance)
        return [self._prefix(a, prefix) + a.name() for a in actuators]

    def moving_joints(self, model_instance: ModelInstanceIndex | int | None = None) -> list[Joint]:
        """The joints with a place in the forest."""
        return [
            j for j in self._of_instance(self.elements.joints, model_instance) if j not in self.elements.loop_joints
        ]

    def _prefix(self, element: MultibodyElement, wanted: bool) -> str:
        return f"{self.GetModelInstanceName(element.model_instance())}_" if wanted else ""

    def _names(
        self, kind: str, model_instance: ModelInstanceIndex | None, prefix: bool | None, always_add_suffix: bool
    ) -> list[str]:
        self.require_finalized(f"Get{kind.capitalize()}Names")
        prefix = model_instance is None if prefix is None else prefix
        by_start = {}
        for joint in self.moving_joints(model_instance):
            suffixes = getattr(joint.kinematics, f"{kind.upper()}_SUFFIXES")
            start = joint.position_start() if kind == "position" else joint.velocity_start()
            for k, suffix in enumerate(suffixes):
                name = self._prefix(joint, prefix) + joint.name()
                if always_add_suffix or len(suffixes) > 1:
                    name += f"_{suffix}"
                by_start[start + k] = name
        return [by_start[i] for i in sorted(by_start)]

    # limits

    def GetPositionLowerLimits(self) -> Vector:
        """(nq,) [rad or m], -inf if there is none. After Finalize()."""
        return self._limits_vector("position_lower_limits")

    def GetPositionUpperLimits(self) -> Vector:
        """(nq,) [rad or m], inf if there is none. After Finalize()."""
        return self._limits_vector("position_upper_limits")

    def GetVelocityLowerLimits(self) -> Vector:
        """(nv,) [rad/s or m/s], -inf if there is none. After Finalize()."""
        return self._limits_vector("velocity_lower_limits")

    def GetVelocityUpperLimits(self) -> Vector:
        """(nv,) [rad/s or m/s], inf if there is none. After Finalize()."""
        return self._limits_vector("velocity_upper_limits")

    def GetAccelerationLowerLimits(self) -> Vector:
        """(nv,) [rad/s^2 or m/s^2], -inf if there is none. After Finalize()."""
        return self._limits_vector("acceleration_lower_limits")

    def GetAccelerationUpperLimits(self) -> Vector:
        """(nv,) [rad/s^2 or m/s^2], inf if there is none. After Finalize()."""
        return self._limits_vector("acceleration_upper_limits")

    def GetEffortLowerLimits(self) -> Vector:
        """(nu,) [N m or N], -inf if there is none. After Finalize()."""
        return -self.GetEffortUpperLimits()

    def GetEffortUpperLimits(self) -> Vector:
        """(nu,) [N m or N], inf if there is none. After Finalize()."""
        self.require_finalized("GetEffortUpperLimits")
        return np.array([a.effort_limit() for a in self.elements.actuators])

    def _limits_vector(self, limits: str) -> Vector:
        self.require_finalized(limits)
        return np.concatenate([np.zeros(0), *(getattr(joint, limits)() for joint in self._joints_by_place)])

    @cached_property
    def _joints_by_place(self) -> list[Joint]:
        """The joints in the order of their positions, which is that of their velocities."""
        return sorted(self.moving_joints(), key=lambda joint: (joint.position_start(), joint.velocity_start()))

    # values

    def q_indices(self, model_instance: ModelInstanceIndex | int) -> list[int]:
        """Places in q of the positions of a model instance, in increasing order."""
        return self._places("position", model_instance)[0]

    def v_indices(self, model_instance: ModelInstanceIndex | int) -> list[int]:
        """Places in v of the velocities of a model instance, in increasing order."""
        return self._places("velocity", model_instance)[0]

    def _places(self, kind: str, model_instance: Any) -> tuple[list[int], Any]:
        """Places of an instance in q, v or x = [q; v] in increasing order, and what selects them: a slice if it can."""
        is_index = type(model_instance) is ModelInstanceIndex  # whose number is had sooner than by int()
        key = kind, model_instance.number if is_index else int(model_instance)
        found = self._known_places.get(key)
        if found is None:
            places: list[int] = []
            for joint in self.moving_joints(model_instance):
                if kind != "velocity":
                    first = joint.position_start()
                    places.extend(range(first, first + joint.num_positions()))
                if kind != "position":
                    first = joint.velocity_start() + (self.num_positions() if kind == "state" else 0)
                    places.extend(range(first, first + joint.num_velocities()))
            places.sort()
            first = places[0] if places else 0
            run = range(first, first + len(places))
            part = slice(run.start, run.stop) if places == list(run) else np.array(places)
            found = self._known_places[key] = places, part
        return found

    @cached_property
    def _known_places(self) -> dict[tuple[str, int], tuple[list[int], Any]]:
        self.require_finalized("coordinates of a model instance")
        return {}

    def vector(self, value: Any, size: int, what: str, scalar: Scalar | None = None) -> Vector:
        """Numbers (size,), as they are or as an array of the context's scalar type."""
        value = as_numbers(value, what) if scalar is None else scalar.array(value, what)
        if value.shape == (size, 1) and size != 1 or value.shape == (1, 1) and size == 1:
            return value[:, 0]  # a column, as InitializeAutoDiff() gives it
        if value.shape != (size,):
            raise RuntimeError(f"{what} must have {size} elements, it has shape {value.shape}")
        return value

    def _numbers(self, context: Context, value: Any, shape: tuple[int, ...], what: str) -> Vector:
        """A vector of this shape as kernels take it, in the scalar type of the context."""
        state = context.state
        is_array = type(value) is ndarray and value.dtype is state.dtype and value.shape == shape
        if is_array and (value.base is None or value.flags.c_contiguous):
            return value
        return self.vector(value, shape[0], what, state.scalar)

    def GetPositions(self, context: Context, model_instance: ModelInstanceIndex | None = None) -> Vector:
        """q, (nq,)"""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if model_instance is None:
            return state.q.copy()
        return state.q[self._places("position", model_instance)[1]].copy()

    def GetVelocities(self, context: Context, model_instance: ModelInstanceIndex | None = None) -> Vector:
        """v, (nv,)"""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if model_instance is None:
            return state.v.copy()
        return state.v[self._places("velocity", model_instance)[1]].copy()

    def GetPositionsAndVelocities(self, context: Context, model_instance: ModelInstanceIndex | None = None) -> Vector:
        """[q; v]"""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        return state.x.copy() if model_instance is None else state.x[self._places("state", model_instance)[1]].copy()

    def SetPositions(
        self, context: Context, model_instance: ModelInstanceIndex | ArrayLike | None = None, q: ArrayLike | None = None
    ) -> None:
        """SetPositions(context, q) or SetPositions(context, model_instance, q)."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if q is None:
            model_instance, q = None, model_instance
        if model_instance is None:
            self._put(context, state.q_memory, state.data.q, ALL, q, "q")
        else:
            self._put(context, state.q_memory, state.data.q, self._places("position", model_instance)[1], q, "q")
        state.forget_positions()

    def SetVelocities(
        self, context: Context, model_instance: ModelInstanceIndex | ArrayLike | None = None, v: ArrayLike | None = None
    ) -> None:
        """SetVelocities(context, v) or SetVelocities(context, model_instance, v)."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if v is None:
            model_instance, v = None, model_instance
        if model_instance is None:
            self._put(context, state.v_memory, state.data.v, ALL, v, "v")
        else:
            self._put(context, state.v_memory, state.data.v, self._places("velocity", model_instance)[1], v, "v")
        state.forget_velocities()

    def SetPositionsAndVelocities(
        self,
        context: Context,
        model_instance: ModelInstanceIndex | ArrayLike | None = None,
        q_v: ArrayLike | None = None,
    ) -> None:
        """[q; v] of the plant or of a model instance."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if q_v is None:
            model_instance, q_v = None, model_instance
        if model_instance is None:
            self._put(context, state.x_memory, state.data.x, ALL, q_v, "[q; v]")
        else:
            self._put(context, state.x_memory, state.data.x, self._places("state", model_instance)[1], q_v, "[q; v]")
        state.forget_positions()

    def _put(
        self,
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
        value = self.vector(value, array[part].size, what, state.scalar)
        require_finite(value, what)
        array[part] = value
        state.look_for_zero_quaternions()

    def GetPositionsFromArray(self, model_instance: ModelInstanceIndex, q: ArrayLike) -> Vector:
        """The positions of a model instance among all positions q (nq,)."""
        indices = self.q_indices(model_instance)
        return self.vector(q, self.num_positions(), "q")[indices]

    def GetVelocitiesFromArray(self, model_instance: ModelInstanceIndex, v: ArrayLike) -> Vector:
        """The velocities of a model instance among all velocities v (nv,)."""
        indices = self.v_indices(model_instance)
        return self.vector(v, self.num_velocities(), "v")[indices]

    def SetPositionsInArray(self, model_instance: ModelInstanceIndex, q_instance: ArrayLike, q: Vector) -> None:
        """Writes the positions of an instance into q (nq,)."""
        indices = self.q_indices(model_instance)
        self._write(q, self.num_positions(), "q", indices, q_instance)

    def SetVelocitiesInArray(self, model_instance: ModelInstanceIndex, v_instance: ArrayLike, v: Vector) -> None:
        """Writes the velocities of an instance into v (nv,)."""
        indices = self.v_indices(model_instance)
        self._write(v, self.num_velocities(), "v", indices, v_instance)

    def _write(self, array: Vector, size: int, what: str, indices: list[int], values: Any) -> None:
        """Writes the values of an instance to their places in the whole array (size,), if they fit both."""
        self.vector(array, size, what)
        values = self.vector(values, len(indices), f"{what}_instance")
        if not np.can_cast(values.dtype, array.dtype, "same_kind"):
            raise TypeError(f"{what}_instance: {values.dtype} does not fit into {what}, an array of {array.dtype}")
        array[indices] = values

    # defaults

    def GetDefaultPositions(self, model_instance: ModelInstanceIndex | None = None) -> Vector:
        """q of a new context."""
        self.require_finalized("GetDefaultPositions")
        q = np.zeros(self.model.sizes["nq"])
        for joint in self.moving_joints():
            start = joint.position_start()
            q[start : start + joint.num_positions()] = joint.default_positions()
        return q if model_instance is None else q[self.q_indices(model_instance)]

    def SetDefaultPositions(
        self,
        *arguments: Any,
        q: ArrayLike | None = None,
        model_instance: ModelInstanceIndex | None = None,
        q_instance: ArrayLike | None = None,
    ) -> None:
        """SetDefaultPositions(q) or SetDefaultPositions(model_instance, q): q of contexts made from now on."""
        model_instance, q = _instance_and_value(arguments, model_instance, q if q_instance is None else q_instance)
        full = self.GetDefaultPositions()
        indices = slice(None) if model_instance is None else self.q_indices(model_instance)
        full[indices] = self.vector(q, self.num_positions(model_instance), "q", FLOAT)
        for joint in self.moving_joints():
            start = joint.position_start()
            joint.set_default_positions(full[start : start + joint.num_positions()])

    def CreateDefaultContext(self) -> Context:
        """A context at time 0 with the default positions and zero velocities."""
        self.require_finalized("CreateDefaultContext")
        context = Context(self.whole_plant())
        context.state.set_q(self.GetDefaultPositions())
        return context

    def context_of(self, state: Any) -> Context:
        """A context of an EvaluatedState, for those who evaluate fields of users; it has no inputs."""
        context = Context.__new__(Context)
        context.join(state)
        return context

    def SetDefaultState(self, context: Context, state: Any = None) -> None:
        """Default positions and zero velocities."""
        self.check_context(context)
        context.state.set_q(self.GetDefaultPositions())
        context.state.set_v(0.0)
        for state, body in zip(context.state.deformables, self.elements.deformable_bodies, strict=True):
            state.rest(body.default_positions())

    # free bodies

    def SetDefaultFreeBodyPose(
        self, body: RigidBody, X_PB: RigidTransform | None = None, *, X_WB: RigidTransform | None = None
    ) -> None:
        """X_PB of a floating body in contexts made from now on; kept for a body that turns out not to float.

        P is the body's parent, whichever name the pose is given by.
        """
        X_PB = RigidTransform(_one_of(X_PB, X_WB, "SetDefaultFreeBodyPose: X_PB"))
        self._require_own(body, "SetDefaultFreeBodyPose")
        self._default_free_poses[int(body.index())] = X_PB
        if self.is_finalized() and body.is_floating_base_body():
            self.free_joint_of(body).SetDefaultPose(X_PB)

    def GetDefaultFreeBodyPose(self, body: RigidBody) -> RigidTransform:
        """Identity if none was set."""
        return self._default_free_poses.get(int(body.index()), RigidTransform())

    def GetFreeBodyPose(self, context: Context, body: RigidBody) -> RigidTransform:
        """X_PB, P and B the frames that the body's joint of six degrees of freedom connects."""
        if body.parent_plant is not self:
            self._require_own(body, "GetFreeBodyPose")
        return body.required_free_joint().GetPose(context)

    def SetFreeBodyPose(
        self,
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
        if body.parent_plant is not self:
            self._require_own(body, "SetFreeBodyPose")
        body.required_free_joint().SetPose(context, X_JpJc)

    def SetFloatingBaseBodyPoseInWorldFrame(self, context: Context, body: RigidBody, X_WB: RigidTransform) -> None:
        """X_WB of a floating base. RuntimeError for another body."""
        self._require_floating_base(body, "SetFloatingBaseBodyPoseInWorldFrame")
        self.SetFreeBodyPose(context, body, X_WB)

    def SetFloatingBaseBodyPoseInAnchoredFrame(
        self, context: Context, frame_F: Frame, body: RigidBody, X_FB: RigidTransform
    ) -> None:
        """X_FB of a floating base in a frame that is fixed in World. RuntimeError for other bodies or frames."""
        self._require_floating_base(body, "SetFloatingBaseBodyPoseInAnchoredFrame")
        if not self.whole_plant().IsAnchored(frame_F.body()):
            raise RuntimeError(f"SetFloatingBaseBodyPoseInAnchoredFrame: frame '{frame_F.name()}' is not anchored")
        self.SetFreeBodyPose(context, body, frame_F.CalcPoseInWorld(context) @ X_FB)

    def SetDefaultFloatingBaseBodyPose(self, body: RigidBody, X_WB: RigidTransform) -> None:
        """X_WB of a floating base in contexts made from now on; kept for a body that turns out not to float."""
        self.SetDefaultFreeBodyPose(body, X_WB)

    def GetDefaultFloatingBaseBodyPose(self, body: RigidBody) -> RigidTransform:
        """X_WB, identity if none was set."""
        return self.GetDefaultFreeBodyPose(body)

    def _require_floating_base(self, body: RigidBody, method: str) -> None:
        self.require_finalized(method)
        self._require_own(body, method)
        if not body.is_floating_base_body():
            raise RuntimeError(f"{method}: body '{body.name()}' is not a floating base")

    def SetFreeBodySpatialVelocity(
        self,
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
        self._require_own(body, "SetFreeBodySpatialVelocity")
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
