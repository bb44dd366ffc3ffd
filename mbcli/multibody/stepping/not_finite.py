"""Why a step led to a state that is not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.multibody.stepping.missing_mass import missing_mass, undetermined_motion
from mbcli.multibody.stepping.stiffness import too_stiff

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.core.plant_core import PlantCore
    from mbcli.multibody.state.context import Context

FAST = 1e3  # [rad or m] in a step: no motion that steps can follow
FOLLOWED = 0.5  # [rad or m] in a step: constraints can still be satisfied after such a motion


def not_finite(plant: PlantCore, context: Context, y: Vector, u: Vector, when: str) -> str:
    """The line on a step from the context's state under the actuation u (nu,) to y = (q, v), which is not finite.

    when: "in step 3 from t = 0.002 s".
    """
    names = [("position", n) for n in plant.GetPositionNames()] + [("velocity", n) for n in plant.GetVelocityNames()]
    bad = np.flatnonzero(~np.isfinite(y))
    kind, name = names[int(bad[0])]
    result = f"{kind} '{name}' is not finite {when}"
    driven = np.flatnonzero(~np.isfinite(u))
    if driven.size:
        return f"{result}: the actuation of '{plant.GetActuatorNames()[int(driven[0])]}' is not"
    cause = missing_mass(plant, context) or undetermined_motion(plant, context)
    if cause is not None:
        return str(cause)
    step = plant.time_step() if plant.is_discrete() else 0.0
    result += growth(plant, context, FAST)
    if step and (cure := _cure_of_stiffness(plant, context)) is not None:
        return f"{result}; {cure}"
    finer = f"{argument('dt', step / 2.0)}, or less" if step else "a higher accuracy"
    springs = len(plant.elements.force_elements) > 1 or np.any(plant.model.dof_stiffness)  # the first is gravity
    what = "springs and dampers" if springs else "the forces of the model"
    return f"{result}; {what} may be too stiff for {f'steps of {step:g} s' if step else 'the accuracy'}: try {finer}"


def growth(plant: PlantCore, context: Context, fast: float) -> str:
    """ ": the velocity ... had grown to ... before" if it is more than so much in a step [rad or m], else ""."""
    v = np.asarray(plant.GetVelocities(context))
    if not v.size:
        return ""
    step, fastest = plant.time_step() if plant.is_discrete() else 0.0, int(np.abs(v).argmax())
    if not abs(v[fastest]) * (step or 1e-3) > fast:
        return ""
    return f": the velocity '{plant.GetVelocityNames()[fastest]}' had grown to {v[fastest]:.3g} before"


def behind_singular(plant: PlantCore, context: Context, message: str) -> str:
    """The line on constraints or contact that are singular at a state: masses or a step that explain it, if any do."""
    cause = missing_mass(plant, context) or undetermined_motion(plant, context)
    if cause is not None:
        return str(cause)
    grown = growth(plant, context, FOLLOWED)
    if grown and plant.is_discrete():
        cure = _cure_of_stiffness(plant, context)
        grown += f"; {cure}" if cure is not None else f"; try {argument('dt', plant.time_step() / 2.0)}, or less"
    return f"{message}{grown}"


def _cure_of_stiffness(plant, context):
    """What springs and dampers that are too stiff for the steps of a discrete plant need; None if none is."""
    found = too_stiff(plant, context)
    if found is None:
        return None
    return (
        f"springs and dampers are too stiff for steps of {plant.time_step():g} s, at the default positions their rate "
        f"is {found.rate:.3g} rad/s: try {argument('dt', found.step)}, or less"
    )
