"""Derivatives of a step of a discrete plant in contact, by the implicit function theorem at the solver's optimum.

The velocities v' at the end of a step minimize a convex cost. Where its gradient g is zero, dv' = -H^-1 dg for changes
of the state and of inputs, with H the Hessian. One step of Newton's method from v' has the same derivative, for it is
v' - H^-1 g (engine/contact/newton_step.py). That one is taken by central differences of fourth order: each of them
finds contacts and sets the problem up, and none has to be solved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.fields.contact_fields import BOUNDED, COUNT_CONSTRAINTS, VECTOR_START
from mbcli.engine.fields.model_fields import CONTACT_AT_SOLVE
from mbcli.engine.runtime.precompiled import precompiled_library
from mbcli.errors import NumericalError
from mbcli.multibody.core.dynamics import implicit_damping, run_forward_dynamics
from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.state.context import Context

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

    Values: TypeAlias = Any  # PlantValues of closed_form_motion.py, which imports this file

DIFFERENCE = 1e-6  # [rad, m, rad/s, m/s, N m or N]
WEIGHTS = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))
MOST_STEPS = 10  # of Newton's method to make the solution exact to rounding


class StepInContact:
    """The velocities at the end of a step as a function of state and inputs, at and near a context.

    Args:
        plant: discrete, without constraints.
        context: its parameters, inputs and the state.
        start: PlantValues of the context.
    """

    def __init__(self, plant: MultibodyPlant, context: Context, start: Values) -> None:
        state = context.state
        self._plant, self._start = plant, start
        self._own = Context(plant, state.scalar, state.compiled or precompiled_library() is not None)
        self._own.inputs.take_from(context.inputs)
        self._own.SetTimeStateAndParametersFrom(context)
        self._expected: tuple[list[int], list[int]] | None = None

    def solve(self) -> Vector | None:
        """v' of the context, exact to rounding; None if nothing touches."""
        after = self._velocities(self._start)
        contact = self._own.state.contact
        if contact is None or not contact.solver.counts[COUNT_CONSTRAINTS]:
            return None
        self._take_newton_steps()
        for _ in range(MOST_STEPS):
            before, after = after, self._newton_step(self._start, after)
            if np.abs(after - before).max() <= 1e-15 * np.abs(after).max():
                break
        self._expected = self._acting()
        return after

    def newton_step(self, values: Values, after: Vector) -> Vector:
        """One step of Newton's method from v' = after to that of other PlantValues; NumericalError if others act."""
        velocities = self._newton_step(values, after)
        if self._acting() != self._expected:
            raise NumericalError(
                "a contact begins or ends, or a limit is reached, so near to the state that the step has no derivatives"
            )
        return velocities

    def _newton_step(self, values: Values, after: Vector) -> Vector:
        solver = self._own.state.contact.solver
        solver.vectors[VECTOR_START, solver.dof_slot] = after
        velocities = self._velocities(values)
        if self._own.state.contact.solver is not solver:  # there was no room, and the step was solved
            self._take_newton_steps()
            return self._newton_step(values, after)
        return velocities

    def by(self, name: str, directions: Iterable[Any], after: Vector) -> Matrix:
        """Derivatives of v' along directions (n, size) of one of the PlantValues, as columns (nv, n)."""
        columns = []
        for direction in directions:
            column = np.zeros(after.size)
            for k, weight in WEIGHTS:
                moved = vars(self._start) | {name: getattr(self._start, name) + k * DIFFERENCE * direction}
                column += weight / DIFFERENCE * self.newton_step(type(self._start)(**moved), after)
            columns.append(column)
        return np.reshape(columns, (len(columns), after.size)).T

    def _velocities(self, values: Values) -> Vector:
        plant, own, h = self._plant, self._own, self._plant.time_step()
        v = values.v.copy()
        v[own.state.model.locked_dof] = 0.0
        plant.SetPositions(own, values.q)
        plant.SetVelocities(own, v)
        plant.set_controllers(own)
        own.state.data.pd_desired[...] = values.desired
        F = plant.input_body_forces(own)
        vdot = run_forward_dynamics(
            plant, own, values.u, values.tau, F, "calc_step_dynamics", h, implicit_damping(plant)
        )
        return v + h * vdot

    def _acting(self) -> tuple[list[int], list[int]]:
        """What gives impulses at v', in any order: geometries of contacts, and rows of joints by their numbers."""
        contact = self._own.state.contact
        solver, n = contact.solver, contact.solver.counts[COUNT_CONSTRAINTS]
        kinds, sources = solver.con_kind[:n], solver.con_source[:n]
        acts = np.any(solver.con_impulse[:n] != 0.0, axis=1)
        touching = contact.points.geometry[sources[acts & (kinds < BOUNDED)]]
        return sorted(touching.tolist()), sorted(sources[acts & (kinds == BOUNDED)].tolist())

    def _take_newton_steps(self) -> None:
        state = self._own.state
        state.data.contact[CONTACT_AT_SOLVE] = state.contact.function(state.kernels, "newton_step_called")


def velocities_after_contact(
    plant: MultibodyPlant, context: Context, start: Values, N: Matrix, N_inverse: Matrix
) -> tuple[Vector, dict[str, Matrix]] | None:
    """v' (nv,) of a step in contact and its derivatives by each of the PlantValues; None if it is none, or has none.

    Args:
        N, N_inverse: of the context, (nq, nv), and its left inverse.

    NumericalError where a contact begins or ends; RuntimeError for what has no optimum.
    """
    if plant.scalar is not FLOAT or plant.scene_graph is None or plant.elements.constraints:
        return None
    step = StepInContact(plant, context, start)
    after = step.solve()
    if after is None:
        return None
    if not plant.settings.is_convex():
        law = plant.settings.discrete_contact_approximation
        raise RuntimeError(
            f"a step in contact under {law} has no derivatives; it has some under {plant.settings.convex_laws()}"
        )
    if plant.elements.deformable_bodies:
        raise RuntimeError("a step of deformable bodies in contact has no derivatives")
    still = np.ones(start.v.size)
    still[context.state.model.locked_dof] = 0.0
    size = start.desired.size
    desired = np.eye(size).reshape(size, *start.desired.shape)
    return after, {
        "q": step.by("q", N.T, after) @ N_inverse,
        "v": step.by("v", np.diag(still), after) * still,
        "u": step.by("u", np.eye(start.u.size), after),
        "tau": step.by("tau", np.eye(start.tau.size), after),
        "desired": step.by("desired", desired, after),
    }
