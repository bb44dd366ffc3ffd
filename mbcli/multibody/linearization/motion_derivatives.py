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
from mbcli.errors import ModelError
from mbcli.multibody.compilation.compile_constraints import compile_constraints
from mbcli.multibody.core.coordinates import q_indices, v_indices
from mbcli.multibody.core.dynamics import implicit_damping
from mbcli.multibody.core.inputs import may_act_continuously, saturated_actuators
from mbcli.multibody.core.selectors import u_indices
from mbcli.multibody.linearization.closed_form_motion import (
    ClosedFormMotion,
    closed_form_motion,
    may_switch,
    motion_by_differences,
    motion_in_contact,
    qdot_to_velocity_map,
    velocity_to_qdot_map,
)
from mbcli.multibody.linearization.differences import DerivativesOfStep
from mbcli.multibody.linearization.motion_on_constraints import (
    projection_onto_constraints,
    require_motion_on_constraints,
)
from mbcli.multibody.linearization.plant_values import STEP, PlantValues, unlocked, values_at
from mbcli.multibody.linearization.step_of_run import StepOfRun
from mbcli.multibody.scalars import COMPLEX, FLOAT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


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
        constrained = bool(plant.elements.constraints)
        self._kernels = COMPLEX.load_kernels(False, self._model, constrained=constrained)
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


SAME_STEP = 1e-8  # largest difference of two steps that are one, relative to the state

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

    def is_acceleration(self) -> bool:
        """Whether it is that of a step or motion."""
        return self._kind == "generalized_acceleration"

    def chosen(self, value: Any) -> Any:
        """The part of the values of the whole plant that it has."""
        return value if self._indices is None else value[self._indices]

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
        return self.chosen(value)


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
    if may_act_continuously(plant):
        raise RuntimeError("linearization under PD controllers of a continuous plant is not possible")
    start, output = values_at(plant, context), PlantOutput(plant, output_name)
    states = [("q", k) for k in range(start.q.size)] + [("v", k) for k in range(start.v.size)]
    inputs = _input_directions(plant, context, input_name)
    nx = len(states)
    if discrete and plant.scalar is FLOAT:
        f, y, J = derivatives_of_step(plant, context, start, output, states + inputs)
    else:
        f, y, J = derivatives_of_motion(plant, context, discrete, start, output, states + inputs)
    saturated = saturated_actuators(plant, context)
    J[:, [nx + n for n, (name, k) in enumerate(inputs) if name == "u" and k in saturated]] = 0.0
    u0 = np.array([getattr(start, name).reshape(-1)[k] for name, k in inputs])
    return J[:nx, :nx], J[:nx, nx:], J[nx:, :nx], J[nx:, nx:], f, y, u0


def derivatives_of_motion(
    plant: MultibodyPlant,
    context: Context,
    discrete: bool,
    start: PlantValues,
    output: PlantOutput,
    directions: Sequence[tuple[str, int]],
) -> tuple[Vector, Vector, Matrix]:
    """[qdot; vdot], output and the derivatives of both, one column for each direction; discrete: of a step."""
    if plant.elements.constraints and not discrete:
        require_motion_on_constraints(context)
    given = (plant, context, discrete, start)
    motion = closed_form_motion(*given)
    if motion is None:
        return derivatives_by_complex_steps(*given, output, directions)
    return _in_columns(context, motion, start, output, directions)


def derivatives_of_step(
    plant: MultibodyPlant,
    context: Context,
    start: PlantValues,
    output: PlantOutput,
    directions: Sequence[tuple[str, int]],
) -> tuple[Vector, Vector, Matrix]:
    """[q; v] after the step of a run, output and the derivatives of both, one column for each direction.

    The derivatives are those of the minimum of a contact problem, of closed forms or by complex steps, where these are
    of a step that equals the run's, and else differences of the run's.

    ModelError for deformable bodies that can touch, RuntimeError for the efforts of controllers in contact;
    NumericalError where the step has no derivatives, or cannot be taken.
    """
    if plant.elements.deformable_bodies and plant.geometry_bodies:
        raise ModelError("a step in which deformable bodies can touch has no derivatives: vertices are no part of x")
    step = StepOfRun(plant, context, start)
    f = step(start)
    if step.solved_problem() and output.is_effort() and start.desired.size:
        raise RuntimeError("the net actuation of controllers in contact has no derivatives")
    exact, reached = step, f
    if step.solved_problem():
        exact = StepOfRun(plant, context, start, exact=True)
        reached = exact(start)
    given = (plant, context, True, start)
    motion = motion_in_contact(plant, context, start) if step.solved_problem() else closed_form_motion(*given)
    by_complex_steps = motion is None and not step.solved_problem()
    if by_complex_steps:
        found = derivatives_by_complex_steps(*given, output, directions)
    else:
        motion = motion or motion_by_differences(context, exact, start, directions)
        found = _in_columns(context, motion, start, output, directions)
    off = np.abs(found[0] - reached).max(initial=0.0)
    if not off <= SAME_STEP * np.abs(reached).max(initial=1.0):
        motion, off = motion_by_differences(context, exact, start, directions), 0.0
        found = _in_columns(context, motion, start, output, directions)
    _, y, J = found
    if step.solved_problem() or (by_complex_steps and may_switch(plant, context, start, f)):
        _settle_derivatives(context, DerivativesOfStep(exact, start, reached, off), start, J[: f.size], directions)
        if output.is_acceleration():
            v = slice(start.q.size, f.size)
            J[f.size :] = output.chosen((J[v] - _start_by_itself(context, J.shape[1])) / plant.time_step())
    return f, y, J


def _start_by_itself(context: Context, columns: int) -> Matrix:
    """Derivatives of the velocities from which a step starts, without those of locked joints, by [q; v; inputs]."""
    state = context.state
    return np.eye(state.v.size, columns, state.q.size) * unlocked(state)[:, np.newaxis]


def _settle_derivatives(
    context: Context, settled: DerivativesOfStep, start: PlantValues, J: Matrix, directions: Sequence[tuple[str, int]]
) -> None:
    """Columns of J that are not the derivatives of a step become these. NumericalError where there are none."""
    plant, state, nq = context.state.plant, context.state, start.q.size
    of_velocity = plant.GetVelocityNames()
    N, moved = velocity_to_qdot_map(state), []
    for along, name in zip(N.T, of_velocity, strict=True):
        found = J[:, :nq] @ along
        moved.append(settled.along("q", along, found, f"positions along {name}") - found)
    if np.any(moved):
        J[:, :nq] += np.transpose(moved) @ qdot_to_velocity_map(state)
    names = {"v": of_velocity, "u": plant.GetActuatorNames(), "tau": [f"the force on {name}" for name in of_velocity]}
    for column, (kind, k) in zip(J.T[nq:], directions[nq:], strict=True):
        direction = np.zeros(getattr(start, kind).size)
        direction[k] = 1.0
        by = names[kind][k] if kind in names else f"desired state {k}"
        column[:] = settled.along(kind, direction, column, by)


def _in_columns(
    context: Context,
    motion: ClosedFormMotion,
    start: PlantValues,
    output: PlantOutput,
    directions: Sequence[tuple[str, int]],
) -> tuple[Vector, Vector, Matrix]:
    """A motion, its output and the derivatives of both, one column for each direction."""
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
    """As derivatives_of_motion() and derivatives_of_step(), of any motion in which nothing touches."""
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
