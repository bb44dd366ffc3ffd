"""Motion that masses do not determine: joints that move nothing with mass, and links without mass between joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.common.number_text import counted
from mbcli.engine.runtime.model import lacks_moment
from mbcli.errors import NumericalError
from mbcli.math.array_arguments import real_part
from mbcli.multibody.core.dynamics import implicit_damping

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.core.plant_core import PlantCore
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree import RigidBody


ROUNDING = 1e-14  # of the mass matrix, scaled to a diagonal of ones: a smaller eigenvalue counts as 0
SHARE = 0.3  # of the largest: components of the motion without inertia that are named


def require_masses(plant: PlantCore, context: Context) -> None:
    """NumericalError, one line, if a joint that can move moves nothing with mass, or masses leave a motion open.

    Damping stands in for mass where steps take it at their end, and constraints that are equations may.
    """
    if context.state.model.bodies_have_inertia:
        return
    problem: OpenMotion | str | None = None
    if not plant.elements.constraints:
        problem = missing_mass(plant, context, but=_is_damped if _damping_time(plant) > 0.0 else _never)
    if problem is None and _lacking(plant, context, lambda mass: True):  # only then M can be singular
        problem = undetermined_motion(plant, context)
    if problem is not None:
        raise NumericalError(str(problem))


def _damping_time(plant):
    """What a damping is multiplied by to stand in for mass: the step, or 0."""
    return plant.time_step() * implicit_damping(plant) if plant.is_discrete() else 0.0


def _never(joint, context):
    return False


def missing_mass(plant: PlantCore, context: Context, but: Any = _never) -> str | None:
    """The line on the first joint that moves nothing with mass, with its place; None without one.

    but(joint, context): whether a joint does without.
    """
    bodies = plant.elements.bodies
    parts = (real_part(body.get_mass(context)) for body in bodies[1:])
    mass = [0.0, *(1.0 if part is None else part for part in parts)]  # a symbol counts as a mass
    if all(mass[1:]):
        return None
    driven = {a.joint() for a in plant.elements.actuators if a.calc_reflected_inertia(context) > 0}
    found = []
    for mobod in reversed(plant.forest()[0]):  # bodies come before those that they carry
        joint = None if mobod.joint is None else plant.elements.joints[mobod.joint]
        if joint is None or joint.num_velocities() < 6:  # a joint of six velocities couples nothing
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
    if joint.made_at_finalize:
        what = f"the floating subtree of '{body.name()}' has no mass"
    else:
        what = f"joint '{joint.name()}' moves '{body.name()}', whose subtree has no mass"
    others = len(found) - 1
    more = f" (and {counted(others, 'more joint')})" if others else ""
    return (
        f"{f'{place}: error: ' if place is not None else ''}{what}{more}: its motion cannot be computed; give it an "
        "inertial, or fix it"
    )


class OpenMotion(NamedTuple):
    """Velocities that nothing determines: the link that lacks something, None if none does, and what is the matter."""

    link: RigidBody | None
    matter: str

    def __str__(self) -> str:
        """The line for a run."""
        place = "" if self.link is None or self.link.place is None else f"{self.link.place}: error: "
        return f"{place}{self.matter}; give it what it lacks, or weld its base to the world"


def undetermined_motion(plant: PlantCore, context: Context) -> OpenMotion | None:
    """Velocities that masses, constraints, and damping at the end of steps leave open; None if none are.

    As those of a free link without mass that moves on a planar joint: M is singular, though all links carry mass.
    None too where constraints that are no equations may hold them.
    """
    inertia = plant.CalcMassMatrix(context) + _damping_time(plant) * np.diag(context.state.model.dof_damping)
    held = _held_by_constraints(plant, context)
    return None if held is None else _open_motion(plant, context, inertia, held)


def _held_by_constraints(plant, context):
    """The equations of constraints (nrow, nv); None if others may act too."""
    active = context.state.current_constraints() if plant.elements.constraints else None
    if active is None:
        return np.zeros((0, plant.num_velocities()))
    if active.fault is not None or not active.are_equations:
        return None
    return active.chains(context).velocity_errors(context.state.q, context.state.v)[1]


def _open_motion(plant, context, inertia, held=None):
    """The same for the mass matrix (nv, nv) and what stands in for mass; held (nrow, nv): equations of velocities."""
    locked = np.zeros(len(inertia), dtype=bool)
    locked[context.state.model.locked_dof] = True
    names = plant.GetVelocityNames()
    inertia = inertia[~locked][:, ~locked]
    if not np.isfinite(inertia).all():
        return None
    sizes = np.sqrt(np.maximum(np.diag(inertia), 0.0))
    sizes[sizes == 0.0] = 1.0
    inertia = inertia / np.outer(sizes, sizes)
    if held is not None and len(held):
        rows = held[:, ~locked] / sizes
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(norms > 0.0, norms, 1.0)
        inertia += rows.T @ rows
    values, vectors = np.linalg.eigh(inertia)
    open_ones = values < ROUNDING * len(values)
    if not open_ones.any():
        return None
    motion = np.abs(vectors[:, 0])
    moving = np.flatnonzero(~locked)[motion > SHARE * motion.max()]
    listed = " against ".join(f"'{names[k]}'" for k in moving[:2])
    points = _lacking(plant, context, lambda mass: mass > 0.0) if moving.size == 1 else []
    lack = "no inertia about some axis" if points else "no mass"
    links = points or _lacking(plant, context, lambda mass: mass == 0.0)
    moved = {j.child_body() for j in plant.elements.joints for d in moving if 0 <= d - _start(j) < j.num_velocities()}
    links = sorted(links, key=lambda link: link not in moved)
    more = f" (and {len(links) - 1} more)" if len(links) > 1 else ""
    cause = f"link '{links[0].name()}' has {lack}{more}, so that" if links else "masses are so unequal that"
    return OpenMotion(
        links[0] if links else None,
        f"{cause} {int(open_ones.sum())} of {len(values)} velocities have no inertia, as that of {listed}: the motion "
        "is not determined",
    )


def _start(joint: Any) -> int:
    return joint.velocity_start() if joint.num_velocities() else 0


def _lacking(plant, context, wanted):
    """The links without mass, or without a moment of inertia about an axis, for which wanted(mass)."""
    inertias = np.asarray(context.state.model.link_inertia)
    lacks = lacks_moment(inertias)
    return [body for body in plant.elements.bodies[1:] if lacks[k := int(body.index())] and wanted(inertias[k, 0])]


def _is_damped(joint: Any, context: Context) -> bool:
    return bool((joint.GetDampingVector(context) > 0).all())


def require_finite(plant: PlantCore, vdot: Vector, mass_matrix: Callable[[], Matrix]) -> None:
    """NumericalError naming what has no mass or no inertia, else the first acceleration that is not finite.

    mass_matrix() gives M at the state, if it is needed.
    """
    bad = np.flatnonzero(~np.isfinite(vdot))
    if not bad.size:
        return
    context = plant.CreateDefaultContext()
    without = missing_mass(plant, context) or _open_motion(plant, context, mass_matrix())
    if without is not None:
        raise NumericalError(str(without))
    inertia = np.diag(mass_matrix())
    names = plant.GetVelocityNames()
    if (inertia <= 0.0).any():
        name = names[int(np.argmin(inertia))]
        raise NumericalError(f"the acceleration along '{name}' is not finite: nothing that it moves has inertia")
    raise NumericalError(f"the acceleration along '{names[int(bad[0])]}' is not finite")
