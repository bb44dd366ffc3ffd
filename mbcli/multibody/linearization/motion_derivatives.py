"""Derivatives of a plant's motion by its state and inputs, exact: in closed form, or by complex steps through kernels.

For a kernel that is analytic, f(x + i s e) has s df/dx e as its imaginary part, with nothing to subtract: s can be so
small that the result has the precision of f itself.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.constraints.constrained_motion import EVERY_CORRECTION, STEPS, constraint_addresses, expect_rank
from mbcli.engine.fields.model_fields import RANK_REACHED
from mbcli.engine.runtime.model import ConstraintWork, Data
from mbcli.multibody.compilation.compile_constraints import compile_constraints
from mbcli.multibody.core.coordinates import q_indices, v_indices
from mbcli.multibody.core.dynamics import implicit_damping
from mbcli.multibody.core.selectors import u_indices
from mbcli.multibody.linearization.closed_form_motion import STEP, PlantValues, closed_form_motion, motion_in_contact
from mbcli.multibody.linearization.motion_on_constraints import (
    projection_onto_constraints,
    require_motion_on_constraints,
)
from mbcli.multibody.scalars import COMPLEX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


def values_at(plant: MultibodyPlant, context: Context) -> PlantValues:
    """PlantValues of a context. RuntimeError for a plant with force elements of a user."""
    plant.check_context(context)
    if plant.user_force_elements:
        name = type(plant.user_force_elements[0]).__name__
        raise RuntimeError(f"a plant with a force element of a user, {name}, cannot be linearized")
    state = context.state
    state.at_positions()
    plant.check_force_elements(context)
    plant.set_controllers(context)
    u = plant.actuation(context)
    applied = context.inputs.value("applied_generalized_force", context)
    tau = np.zeros(state.v.size) if applied is None else np.array(applied)
    return PlantValues(state.q.copy(), state.v.copy(), u, tau, state.data.pd_desired.copy())


class PlantMotion:
    """[qdot; vdot] of a continuous plant, or [q; v] after a step of a discrete one, as a function of complex numbers.

    Args:
        plant: finalized, without force elements of a user.
        context: its parameters, applied forces and the point of linearization.
        discrete: whether it is that of a step.
        values: those of the context, by values_at().
    """

    def __init__(self, plant: MultibodyPlant, context: Context, discrete: bool, values: PlantValues) -> None:
        state = context.state
        self._plant, self._discrete, self.values = plant, discrete, values
        self._model = state.model.replace(dtype=complex)
        self._constraints = self._constraints_at(context) if plant.elements.constraints else None
        self._kernels = COMPLEX.load_kernels(False, self._model, constrained=bool(plant.elements.constraints))
        self._applied = [
            (int(f.body_index), np.asarray(f.p_BoBq_B, dtype=float), f.F_Bq_W.get_coeffs())
            for f in context.inputs.value("applied_spatial_force", context) or ()
        ]

    def _constraints_at(self, context: Context) -> Any:
        """Those of a context for complex numbers; NumericalError if the motion has no derivatives."""
        state = context.state
        state.ready_constraints()
        require_motion_on_constraints(context, self._discrete)
        if not state.constraints.row_owners:
            return compile_constraints(self._model, [])
        self._regular = state.constraints.rank_at(context)
        return compile_constraints(self._model, state.constraints.rows)

    def projection(self, context: Context) -> Matrix | None:
        """projection_onto_constraints() at the context of the plant; None without constraints."""
        if self._discrete or self._constraints is None or not self._constraints.sizes["nrow"]:
            return None
        rates = []
        for k in range(context.state.q.size):
            data, work = self._data_at(self.values.plus("q", k, STEP))
            self._kernels.calc_constraint_velocities(self._model, data, self._constraints, work)
            rates.append(work.errd[np.argsort(self._constraints.row_number)].imag / STEP)
        return projection_onto_constraints(context, np.stack(rates, axis=1))

    def _data_at(self, values: PlantValues) -> tuple[Any, Any]:
        """Data at a state, and the work of the constraints."""
        d: Any
        work: Any
        d, work = Data(self._model.sizes, complex), None
        d.q[:], d.v[:], d.u[:] = values.q, values.v, values.u
        if self._constraints is not None:
            work = ConstraintWork(self._constraints.sizes, complex)
            if self._constraints.sizes["nrow"]:
                expect_rank(work, *self._regular)
            work.ranks[RANK_REACHED] = EVERY_CORRECTION
            d.constraint_set = constraint_addresses(
                self._kernels, False, STEPS, self._model, d, self._constraints, work
            )
        return d, work

    def evaluate(self, values: PlantValues) -> Any:
        """Data in which qdot, vdot or the next q, v are computed, and vdot of the step."""
        plant, m, kernels = self._plant, self._model, self._kernels
        d, _ = self._data_at(values)
        d.pd_desired[:] = values.desired
        if self._discrete:
            kernels.start_of_step(m, d, plant.time_step())
        kernels.position_stage(m, d)
        kernels.velocity_stage(m, d)
        kernels.links_stage(m, d)
        d.tau[:] = values.tau
        d.u[:] = values.u
        np.add.at(d.tau, m.actuator_dof, d.u[: len(m.actuator_dof)])
        F_link = np.zeros((plant.num_bodies(), 6), complex)
        for n, p_BoBq_B, F in self._applied:
            arm = d.X_WL[n, :9].reshape(3, 3) @ p_BoBq_B
            F_link[n, :3] += F[:3] + np.cross(arm, F[3:])
            F_link[n, 3:] += F[3:]
        if self._discrete:
            kernels.step_under_link_forces(m, d, F_link, plant.time_step(), implicit_damping(plant))
        else:
            kernels.calc_forward_dynamics(m, d, F_link)
            kernels.calc_qdot(m, d)
        return d

    def motion(self, data: Any) -> Vector:
        """[qdot; vdot] or [q; v]"""
        parts = (data.q, data.v) if self._discrete else (data.qdot, data.vdot)
        return np.concatenate(parts)


INPUTS = {"actuation": "u", "applied_generalized_force": "tau", "desired_state": "desired"}


def _input_directions(plant: MultibodyPlant, context: Context, name: str | None) -> list[tuple[str, int]]:
    """The (field, index) of PlantValues that each element of an input port is. RuntimeError for another port."""
    if name is None:
        return []
    if name in ("actuation", "applied_generalized_force"):
        return [(INPUTS[name], k) for k in range(plant.GetInputPort(name).size())]
    for instance, prefix in enumerate(plant.elements.instance_names):
        indices = u_indices(plant, instance)
        if name == f"{prefix}_actuation":
            return [("u", k) for k in indices]
        if name == f"{prefix}_desired_state":
            rows = {k: row for row, k in enumerate(context.state.model.pd_actuator)}
            missing = [k for k in indices if k not in rows]
            if missing:
                raise RuntimeError(f"linearization by '{name}': actuator {missing[0]} has no controller that acts")
            return [("desired", 2 * rows[k] + part) for part in range(2) for k in indices]
    raise RuntimeError(f"linearization by input '{name}' is not possible: it is not a vector")


class PlantOutput:
    """An output port as a function of the results of PlantMotion. RuntimeError for one that is not a vector."""

    def __init__(self, plant: MultibodyPlant, name: str | None) -> None:
        self._indices, self._kind, nq = None, name, plant.num_positions()
        for instance, prefix in enumerate(plant.elements.instance_names):
            for kind, indices in (
                ("state", [*q_indices(plant, instance), *(nq + k for k in v_indices(plant, instance))]),
                ("generalized_acceleration", v_indices(plant, instance)),
                ("net_actuation", u_indices(plant, instance)),
            ):
                if name == f"{prefix}_{kind}":
                    self._kind, self._indices = kind, np.array(indices, dtype=int)
        if self._kind not in (None, "state", "generalized_acceleration", "net_actuation"):
            raise RuntimeError(f"linearization of output '{name}' is not possible: it is not a vector")
        if plant.has_sampled_output_ports() and self._kind not in (None, "state"):
            raise RuntimeError(
                f"linearization of output '{name}': it is sampled; SetUseSampledOutputPorts(False) makes it live"
            )

    def is_state(self) -> bool:
        """Whether it is part of the state, and follows from no motion."""
        return self._kind in (None, "state")

    def is_effort(self) -> bool:
        """Whether it is what actuators give."""
        return self._kind == "net_actuation"

    def of(self, values: PlantValues, data: Any, model: Any) -> Vector:
        """The value of the port, real or complex."""
        if self._kind is None:
            return np.zeros(0)
        if self._kind == "state":
            value = np.concatenate([values.q, values.v])
        elif self._kind == "generalized_acceleration":
            value = data.vdot
        else:
            value = np.array(values.u, dtype=np.result_type(values.u, data.pd_effort))
            value[model.pd_actuator] = data.pd_effort
        return value if self._indices is None else value[self._indices]


def plant_derivatives(
    plant: MultibodyPlant,
    context: Context,
    input_name: str | None,
    output_name: str | None,
    discrete: bool | None = None,
) -> tuple[Matrix, Matrix, Matrix, Matrix, Vector, Vector, Vector]:
    """A, B, C, D of a plant about a context, with its motion and output there and the input u0 itself.

    Under constraints the motion of a continuous plant from a state off them is that from its projection onto them.
    """
    discrete = plant.is_discrete() if discrete is None else discrete
    start, output = values_at(plant, context), PlantOutput(plant, output_name)
    states = [("q", k) for k in range(start.q.size)] + [("v", k) for k in range(start.v.size)]
    inputs = _input_directions(plant, context, input_name)
    nx = len(states)
    f, y, J = derivatives_in_closed_form(plant, context, discrete, start, output, states + inputs) or (
        derivatives_by_complex_steps(plant, context, discrete, start, output, states + inputs)
    )
    u0 = np.array([getattr(start, name).reshape(-1)[k] for name, k in inputs])
    return J[:nx, :nx], J[:nx, nx:], J[nx:, :nx], J[nx:, nx:], f, y, u0


def derivatives_in_closed_form(
    plant: MultibodyPlant,
    context: Context,
    discrete: bool,
    start: PlantValues,
    output: PlantOutput,
    directions: Sequence[tuple[str, int]],
) -> tuple[Vector, Vector, Matrix] | None:
    """Motion, output and the derivatives of both, one column for each direction; None where there is no closed form.

    RuntimeError for the efforts of controllers in contact; NumericalError where a contact begins or ends.
    """
    if plant.elements.constraints and not discrete:
        require_motion_on_constraints(context)
    motion = motion_in_contact(plant, context, start) if discrete else None
    if motion is not None and output.is_effort() and start.desired.size:
        raise RuntimeError("the net actuation of controllers in contact has no derivatives")
    motion = motion or closed_form_motion(plant, context, discrete, start)
    if motion is None:
        return None
    model, effort = context.state.model, np.zeros(start.desired.shape[0])
    columns = []
    for name, k in directions:
        # an output picks elements: their rates come out where rates go in
        rates = PlantValues(**{key: np.zeros_like(value) for key, value in vars(start).items()})
        getattr(rates, name).reshape(-1)[k] = 1.0
        moved = SimpleNamespace(vdot=motion.vdot_by[name][:, k], pd_effort=effort)
        columns.append(np.concatenate([motion.f_by[name][:, k], output.of(rates, moved, model)]))
    y = output.of(start, SimpleNamespace(vdot=motion.vdot, pd_effort=effort), model)
    J = np.reshape(columns, (len(columns), motion.f.size + y.size)).T
    if motion.errd_by_q is not None and len(motion.errd_by_q):
        _from_projected_states(J, motion.f.size, output, projection_onto_constraints(context, motion.errd_by_q))
    return motion.f, y, J


def derivatives_by_complex_steps(
    plant: MultibodyPlant,
    context: Context,
    discrete: bool,
    start: PlantValues,
    output: PlantOutput,
    directions: Sequence[tuple[str, int]],
) -> tuple[Vector, Vector, Matrix]:
    """As derivatives_in_closed_form(), of any motion."""
    motion, state = PlantMotion(plant, context, discrete, start), context.state
    data = motion.evaluate(start)
    columns = []
    for name, k in directions:
        values = start.plus(name, k, STEP)
        moved = motion.evaluate(values)
        columns.append(np.concatenate([motion.motion(moved), output.of(values, moved, state.model)]).imag / STEP)
    nx = state.q.size + state.v.size
    f, y = motion.motion(data).real, np.real(output.of(start, data, state.model))
    J = np.reshape(columns, (len(columns), nx + y.size)).T
    projection = motion.projection(context)
    if projection is not None:
        _from_projected_states(J, nx, output, projection)
    return f, y, J


def _from_projected_states(J: Matrix, nx: int, output: PlantOutput, projection: Matrix) -> None:
    """Derivatives of a motion by nx states, and of an output -> those of it from projections of these states."""
    of_motion = slice(0, nx) if output.is_state() else slice(None)
    J[of_motion, :nx] = J[of_motion, :nx] @ projection
