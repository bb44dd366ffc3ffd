"""Functions of q, v and their rates for one plant: one native call each, for control loops and notebooks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.queries.state_batch import covers, has_dynamics_derivatives
from mbcli.engine.runtime.model import Data
from mbcli.errors import ArgumentError, ModelError
from mbcli.multibody.compilation.strict_calls import strict_call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.evaluated_state import EvaluatedState
    from mbcli.multibody.tree.frame import Frame

    Matrices = Sequence[Matrix]  # arrays that results go to


AT_AN_INSTANT = 0.0  # [s] over which joint damping acts


def state_with_parameters(plant: Any, context: Context | None) -> EvaluatedState:
    """The state of a context, default: a new one, whose parameters functions of states take; ModelError as theirs."""
    state: EvaluatedState = (plant.CreateDefaultContext() if context is None else context).state
    if state.plant is not plant:
        plant.check_context(context)
    if state.dtype != np.float64:
        raise ModelError("functions of states are for a plant of floats")
    if not covers(state.model):
        raise ModelError("functions of states are not for spring-dampers and bushings: use the plant's methods")
    if plant.user_force_elements:
        kind = type(plant.user_force_elements[0]).__name__
        raise ModelError(f"functions of states know no force element of a user, {kind}: use the plant's methods")
    if not state.parameters_current:
        state.ready_parameters()
    return state


def require_derivatives(model: Any) -> None:
    """ModelError if the engine has no closed derivatives of some force of a model."""
    if not has_dynamics_derivatives(model):
        raise ModelError("derivatives are not for springs and dampers of joints that close loops")


def number_of_frame(plant: Any, frame: Frame) -> int:
    """The number of a frame in kernels. ArgumentError if it is of another plant."""
    if frame.GetParentPlant() is not plant.origin:
        raise ArgumentError(f"frame '{frame.name()}' is of another plant")
    return int(frame.index())


def writable_outputs(outs: Sequence[Any]) -> list[Any]:
    """Arrays that results go to, as kernels write them. ArgumentError if they cannot be."""
    for out in outs:
        if not isinstance(out, np.ndarray) or out.dtype != np.float64 or not out.flags.c_contiguous:
            raise ArgumentError("out is not an array of doubles in C order")
        if not out.flags.writeable:
            raise ArgumentError("out is read-only")
        if not out.flags.aligned:
            raise ArgumentError("out is not aligned: its address is not a multiple of 8")
    for k, out in enumerate(outs):
        if any(np.may_share_memory(out, other) for other in outs[:k]):
            raise ArgumentError("two arrays of out share memory")
    return [np.asarray(out) for out in outs]  # kernels know no classes but numpy's own


def unshared(array: Any, outs: Sequence[Any]) -> Any:
    """An input, or a copy if it shares memory with a result that would be written over it."""
    return array.copy() if any(np.may_share_memory(array, out) for out in outs) else array


def native_call(name: str, refuse: Callable[[Any], None] = lambda model: None) -> cached_property[Callable[..., int]]:
    """The call of a kernel of queries/state_calls.py or derivative_calls.py, which says itself what it takes.

    It is compiled when it is first wanted. refuse: (Model) -> None, or ModelError for models that it is not for.
    """

    def call(self: StateFunctions) -> Callable[..., int]:
        refuse(self._model)
        found: Callable[..., int] | None = self._calls(name)
        return found or strict_call(self._kernels, name, self._handles)

    return cached_property(call)


class StateFunctions:
    """Dynamics and kinematics of a plant as functions of states that each call brings.

    A plant's own methods keep a state in a context and remember results. These keep nothing: they take q (nq,)
    [rad or m], v, vdot and tau (nv,) as arrays of doubles in C order, in which case a call is one native call; other
    sequences of numbers are converted first. A result goes to `out` if that is given, an array of doubles in C order of
    its shape that can be written, else to a new array; it is returned. `out` may be an input too. Quaternions are taken
    as they are, they have norm 1.

    The parameters, masses for example, are those of the context now. Not for several threads at once: each takes one of
    its own.

    Args:
        plant: finalized, with numbers of floats.
        context: of the plant; default: its default parameters.
        calls: name of a kernel -> what takes its place, as functions of one model do; None for those that stay.

    ModelError for a plant with spring-dampers or bushings, whose forces are not defined in all states, and for one with
    a force element of a user, which only a context can evaluate.
    """

    def __init__(
        self,
        plant: Any,
        context: Context | None = None,
        calls: Callable[[str], Callable[..., int] | None] = lambda name: None,
    ) -> None:
        state = state_with_parameters(plant, context)
        self._calls = calls
        self._plant, self._model = plant, state.model
        self._data = Data(state.model.sizes)
        self._kernels, self._handles = state.kernels, (state.model_handle, self._data.handle(state.compiled))
        self._nq, self._nv = plant.num_positions(), plant.num_velocities()
        self._square = (self._nv, self._nv)
        self._has_constraints = bool(plant.elements.constraints)

    def inverse_dynamics(self, q: Vector, v: Vector, vdot: Vector, out: Vector | None = None) -> Vector:
        """tau that gives vdot against gravity, force elements and joint damping.

        M vdot + C v - tau_g - ..., recursive Newton-Euler, as if the plant had no constraints.

        Args:
          q: (nq,) [rad or m].
          v: (nv,) [rad/s or m/s].
          vdot: (nv,) [rad/s^2 or m/s^2].
          out: (nv,), to write to.

        Returns:
          (nv,) [N m or N].

        Raises:
          ArgumentError: an array has another shape.

        Example:
          >>> StateFunctions(plant).inverse_dynamics([0.4, -0.9], [1.1, -0.6], [0.0, 0.0]).round(4)
          array([ 3.275 , -1.3562])
        """
        if out is None:
            out = np.empty(self._nv)
        try:
            if self._inverse_dynamics(q, v, vdot, out) == 0:
                return out
        except TypeError:
            pass
        return self._converted(self._inverse_dynamics, out, q=q, v=v, vdot=vdot)

    def forward_dynamics(self, q: Vector, v: Vector, tau: Vector, out: Vector | None = None) -> Vector:
        """vdot under tau, gravity, force elements and joint damping, by the articulated-body algorithm.

        Args:
          q: (nq,) [rad or m].
          v: (nv,) [rad/s or m/s].
          tau: (nv,) [N m or N].
          out: (nv,), to write to.

        Returns:
          (nv,) [rad/s^2 or m/s^2].

        Raises:
          ModelError: the plant has constraints.
          ArgumentError: an array has another shape.

        Example:
          >>> StateFunctions(plant).forward_dynamics([0.4, -0.9], [1.1, -0.6], [0.0, 0.0]).round(3)
          array([-7.517, 26.864])
        """
        if self._has_constraints:
            raise ModelError("forward_dynamics() is for plants without constraints: use CalcAccelerations()")
        if out is None:
            out = np.empty(self._nv)
        try:
            if self._forward_dynamics(q, v, tau, out) == 0:
                return out
        except TypeError:
            pass
        return self._converted(self._forward_dynamics, out, q=q, v=v, tau=tau)

    def mass_matrix(self, q: Vector, out: Matrix | None = None) -> Matrix:
        """M(q), by the composite-rigid-body algorithm.

        Args:
          q: (nq,) [rad or m].
          out: (nv, nv), to write to.

        Returns:
          (nv, nv) [kg m^2 between hinges, kg between sliders, kg m between both].

        Raises:
          ArgumentError: an array has another shape.

        Example:
          >>> StateFunctions(plant).mass_matrix([0.4, -0.9]).round(4)
          array([[1.4266, 0.2772],
                 [0.2772, 0.1281]])
        """
        if out is None:
            out = np.empty(self._square)
        try:
            if self._mass_matrix(q, out) == 0:
                return out
        except TypeError:
            pass
        return self._converted(self._mass_matrix, out, q=q)

    def bias_term(self, q: Vector, v: Vector, out: Vector | None = None) -> Vector:
        """C(q, v) v.

        Args:
          q: (nq,) [rad or m].
          v: (nv,) [rad/s or m/s].
          out: (nv,), to write to.

        Returns:
          (nv,) [N m or N].

        Raises:
          ArgumentError: an array has another shape.

        Example:
          >>> StateFunctions(plant).bias_term([0.4, -0.9], [1.1, -0.6]).round(4)
          array([-0.1805, -0.2275])
        """
        if out is None:
            out = np.empty(self._nv)
        try:
            if self._bias_term(q, v, out) == 0:
                return out
        except TypeError:
            pass
        return self._converted(self._bias_term, out, q=q, v=v)

    def gravity_forces(self, q: Vector, out: Vector | None = None) -> Vector:
        """tau_g, the generalized forces of gravity.

        Args:
          q: (nq,) [rad or m].
          out: (nv,), to write to.

        Returns:
          (nv,) [N m or N].

        Raises:
          ArgumentError: an array has another shape.

        Example:
          >>> StateFunctions(plant).gravity_forces([0.4, -0.9]).round(4)
          array([-3.4555,  1.1288])
        """
        if out is None:
            out = np.empty(self._nv)
        try:
            if self._gravity(q, out) == 0:
                return out
        except TypeError:
            pass
        return self._converted(self._gravity, out, q=q)

    def inverse_dynamics_derivatives(
        self, q: Vector, v: Vector, vdot: Vector, out: Matrices | None = None
    ) -> tuple[Matrix, Matrix, Matrix]:
        """dtau_dq, dtau_dv and dtau_dvdot = M (nv, nv), the derivatives of inverse_dynamics().

        Column k of dtau_dq is the derivative along the motion that one unit of velocity k causes, qdot = N(q) e_k,
        as in Pinocchio's computeRNEADerivatives(): where velocities are rates of positions, the derivative by q.
        Otherwise `dtau_dq @ plant.MakeQDotToVelocityMap(context)` has a column for each position.

        By recursive closed forms (Carpentier and Mansard 2018; Singh, Russell and Wensing 2022), exact to rounding.
        `out`: three arrays. ModelError for a plant with springs or dampers on joints that close loops.
        """
        return self._matrices(self._inverse_dynamics_derivatives, out, q=q, v=v, vdot=vdot)

    def forward_dynamics_derivatives(
        self, q: Vector, v: Vector, tau: Vector, out: Matrices | None = None
    ) -> tuple[Matrix, Matrix, Matrix]:
        """dvdot_dq, dvdot_dv and dvdot_dtau (nv, nv), the derivatives of forward_dynamics().

        dvdot_dq is along velocities as in inverse_dynamics_derivatives(); dvdot_dtau is the inverse of M, with zeros
        where joints are locked. Errors as there, and as of forward_dynamics().
        """
        if self._has_constraints:
            raise ModelError("forward_dynamics_derivatives() is for plants without constraints")
        return self._matrices(self._forward_dynamics_derivatives, out, AT_AN_INSTANT, q=q, v=v, tau=tau)

    def pose(self, frame: Frame) -> Callable[..., Matrix]:
        """The pose of a frame in World, as a function of positions.

        Args:
          frame: F, of the plant.

        Returns:
          The function (q, out=None) -> X_WF (4, 4) [m] of q (nq,).

        Raises:
          ArgumentError: the frame is another plant's; of the function, for an array of another shape.

        Example:
          >>> X_WF = StateFunctions(plant).pose(plant.GetFrameByName("lower"))
          >>> X_WF([0.4, -0.9])[:3, 3].round(4)
          array([-0.3894,  0.    ,  1.0789])
        """
        call, convert, number = self._pose, self._converted, number_of_frame(self._plant, frame)

        def X_WF(q: Vector, out: Matrix | None = None) -> Matrix:
            if out is None:
                out = np.empty((4, 4))
            try:
                if call(q, number, out) == 0:
                    return out
            except TypeError:
                pass
            return convert(call, out, number, q=q)

        return X_WF

    def velocity(self, frame: Frame) -> Callable[..., Vector]:
        """The velocity of a frame in World, as a function of positions and velocities.

        Args:
          frame: F, of the plant.

        Returns:
          The function (q, v, out=None) -> V_WF_W (6,), angular first [rad/s, m/s], of q (nq,) and v (nv,).

        Raises:
          ArgumentError: the frame is another plant's; of the function, for an array of another shape.

        Example:
          >>> V_WF = StateFunctions(plant).velocity(plant.GetFrameByName("lower"))
          >>> V_WF([0.4, -0.9], [1.1, -0.6])[:3].round(4)
          array([0. , 0.5, 0. ])
        """
        call, convert, number = self._velocity, self._converted, number_of_frame(self._plant, frame)

        def V_WF(q: Vector, v: Vector, out: Vector | None = None) -> Vector:
            if out is None:
                out = np.empty(6)
            try:
                if call(q, v, number, out) == 0:
                    return out
            except TypeError:
                pass
            return convert(call, out, number, q=q, v=v)

        return V_WF

    def jacobian(self, frame: Frame) -> Callable[..., Matrix]:
        """The Jacobian of a frame in World, as a function of positions.

        Args:
          frame: F, of the plant.

        Returns:
          The function (q, out=None) -> J (6, nv), V_WF_W = J v [1 and m by hinges, 0 and 1 by sliders], of q (nq,).

        Raises:
          ArgumentError: the frame is another plant's; of the function, for an array of another shape.

        Example:
          >>> J_WF = StateFunctions(plant).jacobian(plant.GetFrameByName("lower"))
          >>> J_WF([0.4, -0.9])[[1, 3]].round(4)  # about y, along x
          array([[ 1.    ,  1.    ],
                 [-0.9211,  0.    ]])
        """
        call, convert, number, shape = (
            self._jacobian,
            self._converted,
            number_of_frame(self._plant, frame),
            (6, self._nv),
        )

        def J_WF(q: Vector, out: Matrix | None = None) -> Matrix:
            if out is None:
                out = np.empty(shape)
            try:
                if call(q, number, out) == 0:
                    return out
            except TypeError:
                pass
            return convert(call, out, number, q=q)

        return J_WF

    def velocity_derivatives(self, frame: Frame) -> Callable[..., tuple[Matrix, Matrix]]:
        """The function (q, v, out=None) -> dV_dq, dV_dv (6, nv) of V_WF of a frame of the plant.

        dV_dq is along velocities as in inverse_dynamics_derivatives(); dV_dv is the Jacobian. `out`: two arrays.
        """
        call, matrices, number, shape = (
            self._velocity_derivatives,
            self._matrices,
            number_of_frame(self._plant, frame),
            (6, self._nv),
        )

        def derivatives(q: Vector, v: Vector, out: Matrices | None = None) -> tuple[Matrix, Matrix]:
            return matrices(call, out, number, count=2, shape=shape, q=q, v=v)

        return derivatives

    def acceleration_derivatives(self, frame: Frame) -> Callable[..., tuple[Matrix, Matrix, Matrix, Matrix]]:
        """The function (q, v, vdot, out=None) -> dV_dq, dA_dq, dA_dv, dA_dvdot (6, nv) of a frame of the plant.

        A_WF is the classical acceleration, as of Frame.CalcSpatialAccelerationInWorld(); dA_dvdot is the Jacobian, and
        dV_dv. By q along velocities, as in inverse_dynamics_derivatives(). `out`: four arrays.
        """
        call, matrices, number = self._acceleration_derivatives, self._matrices, number_of_frame(self._plant, frame)
        shape = (6, self._nv)

        def derivatives(
            q: Vector, v: Vector, vdot: Vector, out: Matrices | None = None
        ) -> tuple[Matrix, Matrix, Matrix, Matrix]:
            return matrices(call, out, number, count=4, shape=shape, q=q, v=v, vdot=vdot)

        return derivatives

    _inverse_dynamics = native_call("evaluate_inverse_dynamics")
    _forward_dynamics = native_call("evaluate_forward_dynamics")
    _mass_matrix = native_call("evaluate_mass_matrix")
    _bias_term = native_call("evaluate_bias_term")
    _gravity = native_call("evaluate_gravity")
    _pose = native_call("evaluate_pose")
    _velocity = native_call("evaluate_velocity")
    _jacobian = native_call("evaluate_jacobian")
    _inverse_dynamics_derivatives = native_call("evaluate_inverse_dynamics_derivatives", require_derivatives)
    _forward_dynamics_derivatives = native_call("evaluate_forward_dynamics_derivatives", require_derivatives)
    _velocity_derivatives = native_call("evaluate_velocity_derivatives")
    _acceleration_derivatives = native_call("evaluate_acceleration_derivatives")

    def _matrices(
        self,
        call: Callable[..., int],
        out: Matrices | None,
        *numbers: float,
        count: int = 3,
        shape: tuple[int, int] | None = None,
        **given: Any,
    ) -> Any:
        """Results of a call that writes `count` matrices of a shape, default: (nv, nv)."""
        if out is None:
            shape = self._square if shape is None else shape
            results = tuple([np.empty(shape) for _ in range(count)])
        elif isinstance(out, (tuple, list)) and len(out) == count:
            results = tuple(out)
        else:
            raise ArgumentError(f"out is not {count} arrays, in a tuple or list")
        try:
            if call(*given.values(), *numbers, *results) == 0:
                return results
        except TypeError:
            pass
        return self._converted(call, results, *numbers, **given)

    def _converted(self, call: Callable[..., int], out: Any, *numbers: float, **given: Any) -> Any:
        """The result for sequences that are not arrays of doubles; ArgumentError that names what does not fit."""
        outs = writable_outputs(out if isinstance(out, tuple) else (out,))
        arrays = []
        for key, value in given.items():
            wanted = (self._nq if key == "q" else self._nv,)
            try:
                array = np.require(value, float, ("C", "A"))
            except (TypeError, ValueError) as error:
                raise ArgumentError(f"{key} is not {wanted[0]} numbers: {error}") from None
            if array.shape != wanted:
                raise ArgumentError(f"{key} has shape {array.shape}, expected {wanted}")
            arrays.append(unshared(np.asarray(array), outs))
        if call(*arrays, *numbers, *outs) != 0:
            shapes = ", ".join(str(o.shape) for o in outs)
            raise ArgumentError(f"out has shape {shapes}, which is not that of the result")
        return out
