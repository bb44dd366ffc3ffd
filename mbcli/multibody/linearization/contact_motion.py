"""Derivatives of a step of a discrete plant in contact, by the implicit function theorem at the solver's optimum.

The velocities v' at the end of a step minimize a convex cost. Where its gradient g is zero, dv' = -H^-1 dg for changes
of the state and of inputs, with H the Hessian. One step of Newton's method from v' has the same derivative, for it is
v' - H^-1 g (engine/contact/newton_step.py). That one is taken by central differences of fourth order: each of them
finds contacts and sets the problem up, and none has to be solved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.fields.contact_fields import COUNT_CONSTRAINTS, VECTOR_START
from mbcli.engine.fields.model_fields import CONTACT_AT_SOLVE
from mbcli.engine.runtime.precompiled import precompiled_library
from mbcli.multibody.core.dynamics import implicit_damping, run_forward_dynamics
from mbcli.multibody.linearization.differences import by_differences
from mbcli.multibody.linearization.plant_values import unlocked
from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.state.context import Context

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.linearization.plant_values import PlantValues
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

MOST_STEPS = 10  # of Newton's method to make the solution exact to rounding


class StepInContact:
    """The velocities at the end of a step as a function of state and inputs, at and near a context.

    Args:
        plant: discrete.
        context: its parameters, inputs and the state.
        start: PlantValues of the context.
    """

    def __init__(self, plant: MultibodyPlant, context: Context, start: PlantValues) -> None:
        state = context.state
        self._plant, self._start = plant, start
        self._own = Context(state.plant, state.scalar, state.compiled or precompiled_library() is not None)
        self._own.inputs.take_from(context.inputs)
        self._own.SetTimeStateAndParametersFrom(context)
        self._own.state.at_positions()
        self._own.state.data.pd_carried[:] = state.data.pd_carried

    def solve(self) -> Vector | None:
        """v' of the context, exact to rounding; None if nothing touches."""
        after = self._velocities(self._start)
        contact = self._own.state.contact
        if contact is None or not contact.solver.counts[COUNT_CONSTRAINTS]:
            return None
        self._take_newton_steps()
        for _ in range(MOST_STEPS):
            before, after = after, self.newton_step(self._start, after)
            if np.abs(after - before).max() <= 1e-15 * np.abs(after).max():
                break
        return after

    def newton_step(self, values: PlantValues, after: Vector) -> Vector:
        """One step of Newton's method from v' = after to that of other PlantValues."""
        solver = self._own.state.contact.solver
        solver.vectors[VECTOR_START, solver.dof_slot] = after
        velocities = self._velocities(values)
        if self._own.state.contact.solver is not solver:  # there was no room, and the step was solved
            self._take_newton_steps()
            return self.newton_step(values, after)
        return velocities

    def by(self, name: str, directions: Iterable[Any], after: Vector) -> Matrix:
        """Derivatives of v' along directions (n, size) of one of the PlantValues, as columns (nv, n)."""
        return by_differences(lambda values: self.newton_step(values, after), self._start, name, directions)

    def _velocities(self, values: PlantValues) -> Vector:
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

    def _take_newton_steps(self) -> None:
        state = self._own.state
        state.data.contact[CONTACT_AT_SOLVE] = state.contact.function(state.kernels, "newton_step_called")


def velocities_after_contact(
    plant: MultibodyPlant, context: Context, start: PlantValues, N: Matrix, N_inverse: Matrix
) -> tuple[Vector, dict[str, Matrix]] | None:
    """v' (nv,) of a step in contact and its derivatives by each of the PlantValues; None if it is none, or has none.

    Args:
        N, N_inverse: of the context, (nq, nv), and its left inverse.
    """
    if plant.scalar is not FLOAT or not plant.settings.is_convex():
        return None
    step = StepInContact(plant, context, start)
    after = step.solve()
    if after is None:
        return None
    still = unlocked(context.state)
    return after, {
        "q": step.by("q", N.T, after) @ N_inverse,
        "v": step.by("v", np.diag(still), after) * still,
        **{name: step.by(name, np.eye(getattr(start, name).size), after) for name in ("u", "tau", "desired")},
    }
