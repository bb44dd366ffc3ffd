"""Joints that move nothing with mass: their accelerations are not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import NumericalError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.plant import MultibodyPlant
    from mbcli.multibody.plant.context import Context


def require_masses(plant: MultibodyPlant, context: Context) -> None:
    """NumericalError, one line, if a joint that can move moves nothing with mass.

    Damping stands in for mass in a discrete plant. Constraints may: what they hold is left to the run.
    """
    if plant.elements.constraints:
        return
    problem = missing_mass(plant, context, but=_is_damped if plant.is_discrete() else lambda joint, context: False)
    if problem is not None:
        raise NumericalError(problem)


def missing_mass(plant: MultibodyPlant, context: Context, but: Any = lambda joint, context: False) -> str | None:
    """The line on the first joint that moves nothing with mass, with its place; None without one.

    but(joint, context): whether a joint does without.
    """
    bodies = plant.elements.bodies
    mass = [0.0, *(float(body.get_mass(context)) for body in bodies[1:])]
    if all(mass[1:]):
        return None
    driven = {a.joint() for a in plant.elements.actuators if a.calc_reflected_inertia(context) > 0}
    found = []
    for mobod in reversed(plant.forest()[0]):  # bodies come before those that they carry
        mass[mobod.inboard] += mass[mobod.link]
        if mass[mobod.link] > 0 or mobod.joint is None:
            continue
        joint = plant.elements.joints[mobod.joint]
        if joint.num_velocities() and not (
            joint in driven or joint.reflected_inertia > 0 or joint.is_locked(context) or but(joint, context)
        ):
            found.append((joint, bodies[mobod.link]))
    if not found:
        return None
    joint, body = found[-1]
    place = joint.place or body.place
    what = "nothing holds" if joint.made_at_finalize else f"joint '{joint.name()}' moves"
    others = len(found) - 1
    more = f" (and {others} more joint{'s' if others > 1 else ''})" if others else ""
    return (
        f"{f'{place}: error: ' if place is not None else ''}{what} '{body.name()}', and neither it nor what it carries "
        f"has mass{more}: its motion cannot be computed; give it an inertial, or fix it"
    )


def _is_damped(joint: Any, context: Context) -> bool:
    return bool((joint.GetDampingVector(context) > 0).all())


def require_finite(plant: MultibodyPlant, vdot: Vector, mass_matrix: Callable[[], Matrix]) -> None:
    """NumericalError naming what has no mass or no inertia, else the first acceleration that is not finite.

    mass_matrix() gives M at the state, if it is needed.
    """
    bad = np.flatnonzero(~np.isfinite(vdot))
    if not bad.size:
        return
    without = missing_mass(plant, plant.CreateDefaultContext())
    if without is not None:
        raise NumericalError(without)
    inertia = np.diag(mass_matrix())
    names = plant.GetVelocityNames()
    if (inertia <= 0.0).any():
        name = names[int(np.argmin(inertia))]
        raise NumericalError(f"the acceleration along '{name}' is not finite: nothing that it moves has inertia")
    raise NumericalError(f"the acceleration along '{names[int(bad[0])]}' is not finite")
