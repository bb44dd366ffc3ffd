"""The state of a plant in a context, its parameters, and the results computed from them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.turns import Turn
from mbcli.engine.runtime.bound_kernels import BoundKernels
from mbcli.engine.runtime.kernel import compiled_by_default
from mbcli.engine.runtime.model import Data
from mbcli.multibody.state.cache_entries import CacheEntries
from mbcli.multibody.state.deformable_state import DeformableState
from mbcli.multibody.state.frame_motions import FrameMotions
from mbcli.multibody.state.parameters import Parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, Matrix, Matrix3, Vector
    from mbcli.multibody.scalars import Scalar
    from mbcli.multibody.state.owning_plant import OwningPlant


def read_only(array: FloatArray) -> FloatArray:
    """The same array, through which nobody writes."""
    view = array.view()
    view.flags.writeable = False
    return view


class EvaluatedState(FrameMotions):
    """State, parameters and arrays of one context, as plants, elements, constraints and runs work with them.

    Results are kept until their inputs change: a new q forgets all, a new v those that depend on v.
    Whoever writes to q and v, in the data, or to time calls forget_positions(), forget_velocities() or forget_inputs()
    afterwards.

    Attributes:
        plant, scalar, compiled: those of the context; dtype: of the scalar.
        time [s], q (nq,), v (nv,), x (nq + nv,): q and v are parts of x. shape_q, shape_v: theirs. Read-only: setters
            and steps write to the arrays of the data.
        parameters: Parameters of this context.
        model, data: arrays of the engine under these parameters; model_handle, data_handle: as kernels take them.
        kernels: by name; calls: the same, bound to the handles.
        parameters_current: whether the model is that of the parameters, and q is not known to be off its places.
        positions_current, velocities_current: whether the data have the stages of q, and of v.
        parameter_cache, position_cache, velocity_cache, input_cache: CacheEntries of results that depend on parameters,
            on q, on v, and on time with inputs.
        constraints: ActiveConstraints, made when they are asked for; None in a plant without constraints.
        deformables: DeformableState of each deformable body, by its index.
        turn: of the thread that steps it; no other one may change what the steps work with.
        sleeps: whether the steps of its kernels let islands sleep; sleeper: the context of which runs change that
            state, as multibody/contact/sleep.py says, None before the first one.
        contact: StepContact or PointContact, None before accelerations needed it, or if nothing can touch.
        q_memory, v_memory, x_memory, vdot_memory: the memory of these arrays. It takes vectors of floats sooner than
            they do, and refuses all else. None takes nothing: what is not compiled looks at numbers before it takes
            them.
        copy_of_three, copy_of_six, copy_of_G, copy_of_R, copy_of_p, copy_of_J3, copy_of_J6: functions without
            arguments that copy what the last query answered.
    """

    __slots__ = (
        *("plant", "scalar", "dtype", "compiled", "time", "q", "v", "x", "shape_q", "shape_v", "parameters"),
        *("model", "data", "model_handle", "data_handle", "kernels", "calls"),
        *("parameters_current", "positions_current", "velocities_current"),
        *(
            "parameter_cache",
            "position_cache",
            "velocity_cache",
            "input_cache",
            "_constraints",
            "contact",
            "deformables",
        ),
        *("sleeps", "sleeper"),
        *("q_memory", "v_memory", "x_memory", "vdot_memory"),
        *("copy_of_three", "copy_of_six", "copy_of_G", "copy_of_R", "copy_of_p", "copy_of_J3", "copy_of_J6"),
        *("_addresses", "_no_forces", "turn"),
    )

    plant: Any  # PlantCore, which stands above this room
    scalar: Scalar
    compiled: bool
    time: float
    q: Vector
    v: Vector
    x: Vector
    shape_q: tuple[int]
    shape_v: tuple[int]
    parameters: Parameters
    model: Any  # its arrays, and those of the data, are attributes by the names of fields
    data: Any
    model_handle: Any
    data_handle: Any
    kernels: Any
    calls: Any
    parameters_current: bool
    parameter_cache: CacheEntries
    input_cache: CacheEntries
    _constraints: Any  # ActiveConstraints, or None
    turn: Turn
    contact: Any  # StepContact or PointContact, or None
    deformables: tuple[DeformableState, ...]
    sleeps: bool
    sleeper: Any  # Context, or None
    q_memory: Any  # memoryview, or None: both raise TypeError for what they do not take
    v_memory: Any
    x_memory: Any
    vdot_memory: Any
    copy_of_G: Callable[[], Matrix3]
    copy_of_J3: Callable[[], Matrix]
    copy_of_J6: Callable[[], Matrix]

    def __init__(self, plant: OwningPlant, scalar: Scalar | None = None, compiled: bool | None = None) -> None:
        self.plant = plant
        self.scalar = scalar = scalar or plant.scalar
        self.dtype = scalar.dtype
        self.time = 0.0
        self.model = scalar.convert_model(plant.model) if scalar is not plant.scalar else plant.model
        data: Any = Data(self.model.sizes, scalar.dtype)
        self.data = data
        self._addresses = {"constraint_set": data.constraint_set, "contact": data.contact}
        compiled = scalar.can_compile() and (
            compiled_by_default(not plant.prefers_interpreted) if compiled is None else compiled
        )
        self.compiled = compiled
        self.model_handle, self.data_handle = self.model.handle(compiled), data.handle(compiled)
        self.parameters, self.parameters_current = Parameters(), True
        self.turn = Turn("a context")
        self._constraints = self.contact = self.sleeper = None
        self.sleeps = False
        self.deformables = tuple(DeformableState(body.default_positions()) for body in plant.elements.deformable_bodies)
        self.load_kernels()
        self.q, self.v, self.x = (read_only(array) for array in (data.q, data.v, data.x))
        self.shape_q, self.shape_v = self.q.shape, self.v.shape
        is_float = compiled and scalar.dtype == np.float64
        self.q_memory, self.v_memory, self.x_memory, self.vdot_memory = (
            [a.data for a in (data.q, data.v, data.x, data.vdot)] if is_float else [None] * 4
        )
        self.copy_of_three, self.copy_of_six = data.answer[:3].copy, data.answer[:6].copy
        self.copy_of_G = data.answer[3:].reshape(3, 3).copy
        self.copy_of_R, self.copy_of_p = data.answer_pose[0, :3].copy, data.answer_pose[0, 3].copy
        self.copy_of_J3, self.copy_of_J6 = data.jacobian[:3].copy, data.jacobian.copy
        self._no_forces = np.zeros((self.model.sizes["nlink"], 6), scalar.dtype)
        self.parameter_cache, self.position_cache, self.velocity_cache, self.input_cache = (
            CacheEntries() for _ in range(4)
        )
        self.forget_positions()

    # which results are current

    def forget_positions(self) -> None:
        """After a change of q."""
        self.positions_current = self.velocities_current = False
        if self.position_cache:
            self.position_cache.clear()
        if self.velocity_cache:
            self.velocity_cache.clear()
        if self.input_cache:
            self.input_cache.clear()

    def forget_velocities(self) -> None:
        """After a change of v."""
        self.velocities_current = False
        if self.velocity_cache:
            self.velocity_cache.clear()
        if self.input_cache:
            self.input_cache.clear()

    def forget_inputs(self) -> None:
        """After a change of the time or of an input."""
        self.input_cache.clear()

    def set_q(self, q: ArrayLike) -> None:
        self.data.q[:] = q
        self.forget_positions()

    def set_v(self, v: ArrayLike) -> None:
        self.data.v[:] = v
        self.forget_velocities()

    def go_to(self, time: float, q: ArrayLike, v: ArrayLike) -> None:
        self.time = time
        self.set_q(q)
        self.set_v(v)

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """While this lasts q and v may be others; what follows from the state and its inputs stays known."""
        own, known = (self.q.copy(), self.v.copy()), dict(self.input_cache)
        try:
            yield
        finally:
            self.set_q(own[0])
            self.set_v(own[1])
            self.input_cache.update(known)

    def set_q_slice(self, start: int, values: Vector) -> None:
        self.data.q[start : start + len(values)] = values
        self.forget_positions()
        self.look_for_zero_quaternions()

    def set_v_slice(self, start: int, values: Vector) -> None:
        self.data.v[start : start + len(values)] = values
        self.forget_velocities()

    def look_for_zero_quaternions(self) -> None:
        """After a user has set positions: a quaternion of zeros is refused when it is needed."""
        if self.calls.query_state_fault() > 0:
            self.parameters_current = False  # then every calculation asks ready_parameters() first

    # parameters and the arrays that follow from them

    def set_parameter(self, element: Any, name: str, value: Any) -> None:
        self.parameters.values[element, name] = value
        self.parameters_current = False
        self.forget_positions()

    def take_parameters(self, other: EvaluatedState) -> None:
        """Has the parameters of a state of the same plant, which may change on."""
        if other.parameters.values:
            self.parameters, self.parameters_current = other.parameters.copy(), False

    def ready_parameters(self) -> None:
        """Makes sure that the arrays are those of the parameters, and that q is a place of the plant."""
        if not self.parameters_current:
            body = self.calls.query_state_fault()
            if body > 0:
                start = self.model.body_q[body]
                joint = next(j for j in self.plant.moving_joints() if j.num_positions() and j.position_start() == start)
                raise RuntimeError(f"joint '{joint.name()}': its quaternion is zero, which is not a rotation")
            self.use_model(self.plant.compiled_model(self.parameters, self.scalar))

    def use_model(self, model: Any) -> None:
        """Computes with other arrays of the plant from now on."""
        self.turn.require()
        self.model, self.model_handle = model, model.handle(self.compiled)
        self._bind()
        self.parameters_current = True
        self.parameter_cache.clear()
        self.forget_positions()

    def load_kernels(self, contact: bool = False) -> None:
        """Takes the kernels for its model, with contact those of steps that are contact problems."""
        constrained = bool(self.plant.elements.constraints)
        surfaces = self.plant.asks_for_surfaces()
        tamsi = contact and not self.plant.settings.is_convex()
        sleep = contact and self.sleeps
        self.kernels = self.scalar.load_kernels(
            self.compiled, self.model, constrained, contact, surfaces, tamsi=tamsi, sleep=sleep
        )
        self._bind()

    def _bind(self) -> None:
        self.calls = BoundKernels(self.kernels, self.model_handle, self.data_handle, owners=(self.model, self.data))
        if self.plant.elements.constraints:
            self._constraints = None
            self.forget_addresses("constraint_set")

    def forget_addresses(self, name: str) -> None:
        """Before the arrays go that a field of Data leads kernels to."""
        self.turn.require()
        addresses = self._addresses[name]  # interpreted, Data has functions and objects in its place
        addresses[:] = 0.0
        setattr(self.data, name, addresses)

    def forces_on_links(self, F: Matrix | float) -> Matrix:
        """Spatial forces on links (num_bodies, 6), or 0.0 for none, as kernels take them."""
        if type(F) is float:
            return self._no_forces
        return np.ascontiguousarray(F, self.dtype)

    # constraints

    @property
    def constraints(self) -> Any:
        """ActiveConstraints; None in a plant without constraints."""
        if self._constraints is None and self.plant.elements.constraints:
            self._constraints = self.plant.constraints_of(self)
        return self._constraints

    def current_constraints(self) -> Any:
        """The ActiveConstraints of the parameters as they are now; None in a plant without constraints."""
        self.ready_parameters()
        return self.constraints

    def ready_constraints(self, in_steps: bool = False) -> None:
        """Makes motion under the constraints computable, with in_steps that of discrete steps; ModelError if not."""
        active = self.current_constraints()
        if active is None:
            return
        in_problems = in_steps and self.contact is not None
        if in_problems:
            active.require_rows()
        else:
            active.require_equations()
        active.attach(self, in_problems)

    def constraint_error(self) -> float:
        """The norm of the position errors of constraints."""
        active = None if self.constraints is None else self.current_constraints()
        if active is not None and not active.is_attached():
            self.ready_constraints(in_steps=self.plant.is_discrete())
        return self.calls.calc_constraint_error()

    # stages, each run once until its inputs change; they return the kernels that can be called then

    def at_positions(self) -> Any:
        if not self.positions_current:
            if not self.parameters_current:
                self.ready_parameters()
            self.calls.position_stage()
            self.positions_current = True
        return self.calls

    def at_velocities(self) -> Any:
        if not self.velocities_current:
            if self.positions_current:
                self.calls.velocity_stage()
            else:  # in one call: half of the time of a small robot is the way into compiled code
                if not self.parameters_current:
                    self.ready_parameters()
                self.calls.motion_stage()
                self.positions_current = True
            self.velocities_current = True
        return self.calls

    def at_links(self) -> Any:
        """The data, with X_WL and V_WL."""
        if "links" not in self.velocity_cache:
            self.at_velocities().links_stage()
            self.velocity_cache["links"] = True
        return self.data
