"""Why worlds stop, and of which plants there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.engine.stepping.loop import (
    ELEMENT_FAULT,
    GIMBAL_LOCK,
    NOT_FINITE,
    ROWS_UNSOLVED,
    SINGULAR_POSITION,
    STEP_FAULT,
)
from mbcli.errors import ModelError
from mbcli.multibody.compilation.cut_joints import require_actions
from mbcli.multibody.contact.python_forces import needs_python

if TYPE_CHECKING:
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

FAILURES = {
    NOT_FINITE: "a number is not finite after the next step",
    ELEMENT_FAULT: "a force element has no force in the next step",
    GIMBAL_LOCK: "a joint with roll, pitch and yaw is at gimbal lock",
    SINGULAR_POSITION: "the constraints lose rank in the next step",
    STEP_FAULT: "the contact problem of the next step has no solution that was found",
    ROWS_UNSOLVED: "limits, controllers and dry friction of joints found no common solution in the next step",
}


def refuse_worlds(plant: MultibodyPlant, start: Context) -> None:
    """ModelError for a plant whose steps only single runs take."""
    require_actions(plant)
    if plant.elements.deformable_bodies:
        raise ModelError("worlds are for rigid bodies: a plant with deformable bodies takes single runs")
    if plant.settings.sleep_tolerance > 0.0:
        raise ModelError("nothing sleeps in worlds: set the plant's sleep tolerance to 0, or take single runs")
    if needs_python(plant, start):
        raise ModelError("worlds do not step force elements of a user, applied forces or inputs that follow a source")
