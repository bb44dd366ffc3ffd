"""Functions of many states of one plant: arrays with a row for each state, in and out."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.queries.state_batch import StateBatch
from mbcli.errors import ArgumentError, ModelError
from mbcli.multibody.core.regressors import MovedBodies, energy_regressor, momentum_regressor
from mbcli.multibody.plant.state_functions import (
    number_of_frame,
    require_derivatives,
    state_with_parameters,
    writable_outputs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame

    Array3 = np.ndarray  # (n, rows, columns)


class BatchFunctions:
    """Dynamics and kinematics of a plant at many states, eight at once in vector registers, on threads if wanted.

    Every argument has a row for each of n states: q (n, nq) [rad or m], v, vdot and tau (n, nv). Quaternions are taken
    as they are, they have norm 1. A row's result depends on that row alone: it is the same to the last bit whatever
    rows there are and on how many threads, and that of StateFunctions to rounding.

    The parameters, masses for example, are those of the context now. Not for several threads of the caller at once.

    Args:
        plant: finalized, with numbers of floats.
        context: of the plant; default: its default parameters.
        threads: that share the states of a call. A few hundred states take one.

    ModelError for plants that StateFunctions refuses; ArgumentError for arrays of other shapes.
    """

    def __init__(self, plant: Any, context: Context | None = None, *, threads: int = 1) -> None:
        if threads < 1:
            raise ArgumentError(f"threads is {threads}: there is at least one thread")
        state = state_with_parameters(plant, context)
        self._plant, self._model = plant, state.model
        self._batch: Any = StateBatch(state.model, compiled=state.compiled, threads=int(threads))
        self._links = np.ones(plant.num_bodies())
        self._mass = float(state.model.link_inertia[:, 0].sum())

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Matrix:
        """tau (n, nv) [N m or N] that gives vdot against gravity, force elements and joint damping."""
        return self._batch.inverse_dynamics(*self._rows(q=q, v=v, vdot=vdot))

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Matrix:
        """vdot (n, nv) under tau, gravity, force elements and joint damping. ModelError if the plant has constraints.

        Under constraints: ForwardDynamicsConstraintsOfStates().
        """
        self._refuse_constraints("forward_dynamics()")
        return self._batch.forward_dynamics(*self._rows(q=q, v=v, tau=tau))

    def mass_matrix(self, q: ArrayLike) -> Array3:
        """M (n, nv, nv)."""
        return self._batch.mass_matrix(*self._rows(q=q))

    def bias_term(self, q: ArrayLike, v: ArrayLike) -> Matrix:
        """C(q, v) v (n, nv)."""
        return self._batch.bias_term(*self._rows(q=q, v=v))

    def gravity_forces(self, q: ArrayLike) -> Matrix:
        """tau_g (n, nv), the generalized forces of gravity."""
        return self._batch.gravity(*self._rows(q=q))

    def energies(self, q: ArrayLike, v: ArrayLike) -> Matrix:
        """Kinetic and potential energy (n, 2) [J]."""
        return self._batch.energy(*self._rows(q=q, v=v))[0]

    def center_of_mass(self, q: ArrayLike, v: ArrayLike) -> tuple[Matrix, Matrix]:
        """p_WCom and v_WCom (n, 3) of all bodies [m, m/s], in World. ModelError if they have no mass."""
        if self._mass <= 0.0:
            raise ModelError("the bodies of the plant have no mass, and so no centre of mass")
        return self._batch.mass_motions(*self._rows(q=q, v=v), self._links, self._mass)

    def momentum(self, q: ArrayLike, v: ArrayLike, p_WP: ArrayLike = (0.0, 0.0, 0.0)) -> Matrix:
        """L_WS_W (n, 6) of all bodies about a point (3,) of World [N m s, N s], rotational first."""
        return self._batch.momenta(*self._rows(q=q, v=v), self._links, 0.0, np.asarray(p_WP, dtype=float))

    def inverse_dynamics_regressor(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Array3:
        """Y (n, nv, 10 m): tau = Y pi + armature * vdot, with pi of inertial_parameters(); Pinocchio's order.

        The columns of a body are m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz about the origin of the
        link that its joint moves, along its axes. Springs, damping and other forces are not in tau.
        """
        moved = self._moved
        return self._batch.inverse_dynamics_regressor(
            *self._rows(q=q, v=v, vdot=vdot), moved.frames, moved.under_gravity
        )

    def energy_regressor(self, q: ArrayLike, v: ArrayLike) -> Array3:
        """Y (n, 2, 10 m): kinetic and potential energy [J] of the bodies but for armatures = Y pi."""
        R, p, V, _ = self._batch.frame_motions(*self._rows(q=q, v=v), None, self._moved.frames, 0)
        return energy_regressor(R, p, V, self._model.gravity, self._moved.under_gravity)

    def momentum_regressor(self, q: ArrayLike, v: ArrayLike, p_WP: ArrayLike = (0.0, 0.0, 0.0)) -> Array3:
        """Y (n, 6, 10 m): L_WS_W [N m s, N s] of all bodies about a point (3,) of World = Y pi, rotational first."""
        R, p, V, _ = self._batch.frame_motions(*self._rows(q=q, v=v), None, self._moved.frames, 0)
        return momentum_regressor(R, p, V, np.asarray(p_WP, dtype=float))

    def inertial_parameters(self) -> Vector:
        """pi (10 m,) of the m bodies that joints move, links that are welded together being one, as regressors take it.

        regressor_bodies() says which these are.
        """
        return self._moved.parameters()

    def regressor_bodies(self) -> list[str]:
        """For each body of a regressor the name of the link in whose frame its parameters are."""
        return [self._plant.elements.bodies[n].name() for n in self._moved.leaders]

    @cached_property
    def _moved(self) -> MovedBodies:
        return MovedBodies(self._plant, self._model)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, out: Sequence[Array3] | None = None
    ) -> list[Array3]:
        """dtau_dq, dtau_dv and dtau_dvdot = M (n, nv, nv), as StateFunctions has them for one state.

        out: three arrays of doubles in C order. ModelError as there.
        """
        require_derivatives(self._model)
        return self._batch.inverse_dynamics_derivatives(*self._rows(q=q, v=v, vdot=vdot), out=self._outputs(out, q))

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, out: Sequence[Array3] | None = None
    ) -> list[Array3]:
        """dvdot_dq, dvdot_dv and dvdot_dtau (n, nv, nv), likewise; not for plants with constraints."""
        self._refuse_constraints("forward_dynamics_derivatives()")
        require_derivatives(self._model)
        return self._batch.forward_dynamics_derivatives(*self._rows(q=q, v=v, tau=tau), out=self._outputs(out, q))

    def pose(self, frame: Frame) -> Callable[[ArrayLike], Array3]:
        """The function q -> X_WF (n, 4, 4) of a frame of the plant."""
        number = number_of_frame(self._plant, frame)

        def X_WF(q: ArrayLike) -> Array3:
            rows = self._rows(q=q)
            R, p, _, _ = self._batch.frame_motions(*rows, self._no_velocities(rows), None, [number], 0)
            X = np.zeros((len(p), 4, 4))
            X[:, :3, :3], X[:, :3, 3], X[:, 3, 3] = R[:, 0], p[:, 0], 1.0
            return X

        return X_WF

    def velocity(self, frame: Frame) -> Callable[[ArrayLike, ArrayLike], Matrix]:
        """The function (q, v) -> V_WF (n, 6) of a frame of the plant, rotational first, in World."""
        number = number_of_frame(self._plant, frame)

        def V_WF(q: ArrayLike, v: ArrayLike) -> Matrix:
            return self._batch.frame_motions(*self._rows(q=q, v=v), None, [number], 0)[2][:, 0]

        return V_WF

    def acceleration(self, frame: Frame) -> Callable[[ArrayLike, ArrayLike, ArrayLike], Matrix]:
        """The function (q, v, vdot) -> A_WF (n, 6) of a frame of the plant, rotational first, in World."""
        number = number_of_frame(self._plant, frame)

        def A_WF(q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Matrix:
            A = self._batch.frame_motions(*self._rows(q=q, v=v, vdot=vdot), [number], 0)[3]
            return A[:, 0]

        return A_WF

    def jacobian(self, frame: Frame) -> Callable[[ArrayLike], Array3]:
        """The function q -> J (n, 6, nv), V_WF = J v, of a frame of the plant."""
        number = number_of_frame(self._plant, frame)

        def J_WF(q: ArrayLike) -> Array3:
            rows = self._rows(q=q)
            return self._batch.point_jacobians(*rows, self._no_velocities(rows), number, np.zeros(3), 0, 0)[0]

        return J_WF

    def _rows(self, **given: ArrayLike) -> Any:
        """The arguments as arrays of doubles in C order; ArgumentError that names what does not fit."""
        rows: list[Any] = []
        for name, value in given.items():
            width = self._plant.num_positions() if name == "q" else self._plant.num_velocities()
            try:
                array = np.asarray(np.require(value, float, ("C", "A")))
            except (TypeError, ValueError) as error:
                raise ArgumentError(f"{name} is not rows of {width} numbers: {error}") from None
            count = len(rows[0]) if rows else len(np.atleast_1d(array))
            if array.shape != (count, width):
                raise ArgumentError(f"{name} has shape {array.shape}, expected {(count, width)}")
            rows.append(array)
        return rows

    def _no_velocities(self, rows: list[Matrix]) -> Matrix:
        return np.zeros((len(rows[0]), self._plant.num_velocities()))

    def _outputs(self, out: Sequence[Array3] | None, q: ArrayLike) -> Sequence[Array3] | None:
        if out is None:
            return None
        shape = (len(q), self._plant.num_velocities(), self._plant.num_velocities())  # type: ignore[arg-type]
        if not isinstance(out, (tuple, list)) or len(out) != 3:
            raise ArgumentError(f"out is not three arrays of doubles in C order of shape {shape}")
        outs = writable_outputs(out)
        if any(array.shape != shape for array in outs):
            raise ArgumentError(f"out is not three arrays of doubles in C order of shape {shape}")
        return outs

    def _refuse_constraints(self, name: str) -> None:
        if self._plant.elements.constraints:
            raise ModelError(f"{name} is for plants without constraints")
