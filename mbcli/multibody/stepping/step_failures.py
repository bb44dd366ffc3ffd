"""Why a run cannot take its next step, as the errors that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.engine.stepping.loop import (
    CONSTRAINTS_UNMET,
    ELEMENT_FAULT,
    GIMBAL_LOCK,
    NOT_FINITE,
    ROWS_UNSOLVED,
    SINGULAR_POSITION,
)
from mbcli.errors import ControlError, NumericalError
from mbcli.multibody.core.force_elements import force_element_fault
from mbcli.multibody.core.rates import gimbal_lock
from mbcli.multibody.stepping.not_finite import behind_singular, not_finite

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.core.plant_core import PlantCore

NO_NEXT_STEP = (NOT_FINITE, ELEMENT_FAULT, GIMBAL_LOCK, CONSTRAINTS_UNMET, SINGULAR_POSITION, ROWS_UNSOLVED)


def failure(run: Any, status: int, y: Vector) -> NumericalError:
    """The error for a step of a Run that led to a state y that is not finite, or from which none can be taken."""
    plant, context = run.plant, run.context
    if status in (CONSTRAINTS_UNMET, SINGULAR_POSITION):
        return NumericalError(f"{_constraint_failure(run, status)}, after t = {context.get_time():.9g} s")
    when = f"in step {run.steps + 1} from t = {context.get_time():.9g} s"
    if status == GIMBAL_LOCK:
        return NumericalError(f"{gimbal_lock(plant, context)}, {when}")
    if status == ELEMENT_FAULT:
        return NumericalError(f"{force_element_fault(plant, context).fault()}, {when}")
    if status == ROWS_UNSOLVED:
        residual = float(run.stepped.state.data.row_residual[0])
        return NumericalError(
            "limits, controllers and dry friction of joints found no common solution "
            f"{when}: accelerations still change by {residual:.3g} of the largest; try a smaller step"
        )
    u = run.actuation_at(context.get_time())
    return NumericalError(not_finite(plant, context, y, plant.actuation(context) if u is None else u, when))


def _constraint_failure(run: Any, status: int) -> str:
    """Why a run under constraints cannot go on from the state in the context."""
    active = run.context.state.constraints
    if status == CONSTRAINTS_UNMET or active is None:
        return f"no step leads to positions that satisfy the constraints within {run.constraint_tolerance:g}"
    return behind_singular(run.plant, run.context, active.singularity())


def placed(run: Any, error: NumericalError) -> NumericalError:
    """The error of a step, with its number and time."""
    plant, context = run.plant, run.context
    message = behind_singular(plant, context, f"{error}") if plant.meets_contact() else f"{error}"
    error.args = (f"{message}; step {run.steps + 1} from t = {context.get_time():.9g} s",)
    return error


def fault_of_tick(run: Any) -> Any:
    """The error of a controller, at the state that the context has."""
    error: Any = run.ticks.error
    if error is None:
        controller, state = run.ticks.controller, run.context.state  # a compiled one: others have an error
        what = controller.fault(state.time, state.q, state.v)
        error = ControlError(f"{controller.name}: error: the controller {what}")
    error.args = (f"{error}, at t = {run.context.get_time():.9g} s",)
    return error


def models_of(plant: PlantCore) -> str:
    """The names of the models in a plant, for messages."""
    return ", ".join(plant.elements.instance_names[2:]) or "plant"
