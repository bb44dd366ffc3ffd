"""A passive plant that gains energy: how much, when, the likely cause, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.engine.fields.model_fields import SCHEME_MIDDLE
from mbcli.multibody.contact.python_forces import needs_python
from mbcli.multibody.core.jacobians import JacobianWrtVariable
from mbcli.multibody.core.transmissions import tendon_spring_moments
from mbcli.multibody.stepping.stiffness import ANGLE
from mbcli.multibody.tree.linear_spring_damper import LinearSpringDamper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.math.array_types import Vector
    from mbcli.multibody.core.plant_core import PlantCore
    from mbcli.multibody.state.context import Context

SEEN = 0.01  # of the largest kinetic energy: an error that is reported
ROUNDING = 1e-9  # of the largest potential energy
FOLLOWED = 0.05  # [rad] of a motion in a step, which keeps its energy
UNDAMPED = 0.05  # of critical damping: below it a spring vibrates
GIVE_OF_LIMITS = 1e-3  # [m or rad] beyond a limit, which pushes back
LEAST_PART = 1.0 / 16.0  # of a step: shorter ones are not advised at once


class Gain(NamedTuple):
    """How far the energy of a passive plant was above that of the start, where its positions were start (nq,).

    rise: [J] less what contact stored at the start. time: [s] then. since: [s] when it first was more than steps
    explain. kinetic: [J] the largest. turn, velocity: the most that a velocity in rad/s turned in a step until then
    [rad], and its number, -1 for none.
    """

    start: Vector
    rise: float
    time: float
    since: float
    kinetic: float
    turn: float = 0.0
    velocity: int = -1


def is_passive(plant: PlantCore, context: Context) -> bool:
    """Whether gravity alone can give energy to what the model itself has, and all forces that store energy tell it.

    Controllers and actuators on tendons and sites may drive; bushings and users' elements tell no energy. Of plugins
    mbcli.simulation.plugins.plugin_energy knows.
    """
    elements, model = plant.elements, context.state.model
    drives = elements.transmission_actuators or model.pd_actuator.size
    drives = drives or any(spring.law().bears_weight for spring in elements.tendon_springs)
    return not (drives or needs_python(plant, context) or model.sizes["nbushing"] or elements.deformable_bodies)


def step_error(plant: PlantCore, powers: Any) -> Any:
    """[J] by which the energy of steps of first order swings while energies are exchanged at powers [W]; arrays too."""
    rubs_in_contact = plant.model.friction_dof.size and plant.meets_contact()
    is_first_order = plant.is_discrete() and (plant.model.step_scheme[SCHEME_MIDDLE] == 0 or rubs_in_contact)
    return plant.time_step() * powers * bool(is_first_order)


def smaller_step() -> str:
    """What makes the errors of the steps of a discrete plant less."""
    return f"a smaller {argument('dt')} makes that less; {argument('dt', 0)} integrates with error control"


def beyond_limits(plant: PlantCore, q: Vector) -> bool:
    """Whether a limit stores energy at positions q (nq,), of which nothing tells how much."""
    model: Any = plant.model
    gaps = model.limit_side * (q[model.dof_q[model.limit_dof]] - model.limit_value)
    return bool((gaps < -GIVE_OF_LIMITS).any())


def largest_turn(plant: PlantCore, speeds: Vector) -> tuple[float, int]:
    """[rad] in a step of the fastest velocity in rad/s, and its number, -1 for none; speeds (nv,): their sizes."""
    turns = [
        (float(speeds[d]) * plant.time_step(), d)
        for joint in plant.moving_joints()
        for d in range(joint.velocity_start(), joint.velocity_start() + joint.num_velocities())
        if joint.is_angular(d - joint.velocity_start())
    ]
    return max(turns, default=(0.0, -1))


def gain_in_words(plant: PlantCore, context: Context, gain: Gain, advice: str) -> str:
    """How much, when, why and what to do.

    context: of the run; advice: what makes errors less, where the cause is not known better.
    """
    percent = 100.0 * gain.rise / gain.kinetic if gain.kinetic else np.inf
    when = f"from t = {gain.since:.6g} s on, most at {gain.time:.6g} s"
    return (
        f"nothing drives the plant, but its energy rose by up to {gain.rise:.3g} J, {percent:.3g} % of the largest "
        f"kinetic energy, {when}: {_cause(plant, context, gain) or advice}"
    )


def _cause(plant: PlantCore, context: Context, gain: Gain) -> str | None:
    """What is likely to be wrong, and what helps; None if it is not known."""
    if not plant.is_discrete():
        return None
    step = plant.time_step()
    at_start = context.Clone()
    plant.SetPositions(at_start, gain.start)
    name, angle = _fastest_spring(plant, at_start)
    part = np.sqrt(SEEN * gain.kinetic / gain.rise)  # the errors of steps fall as their squares
    finer = argument("dt", float(f"{step * min(0.5, max(part, LEAST_PART)):.2g}"))
    size = f"in a step of {step:g} s, which does not resolve it: try {finer}, or less"
    if angle > ANGLE or angle > max(FOLLOWED, gain.turn):
        return (
            f"{name} vibrates at {angle / step:.3g} rad/s without damping, {angle:.2g} rad {size}, or give it damping"
        )
    if _holds_to_first_order(plant, context):
        return (
            f"steps that meet contact hold constraints to first order; a smaller {argument('dt')} lowers it, "
            f"{argument('contact', False)} holds them to second order"
        )
    if gain.turn > FOLLOWED:
        what = plant.GetVelocityNames()[gain.velocity]
        return f"the velocity '{what}' reached {gain.turn / step:.3g} rad/s, {gain.turn:.2g} rad {size}"
    return None


def _fastest_spring(plant: PlantCore, context: Context) -> tuple[str, float]:
    """The undamped spring that vibrates by most in a step, and the angle [rad], with the masses that it meets."""
    best, step = ("", 0.0), plant.time_step()
    M = plant.CalcMassMatrix(context)
    for name, stiffness, damping, J in _springs(plant, context):
        try:
            ease = float(J @ np.linalg.solve(M, J))
        except np.linalg.LinAlgError:
            return best
        rate = np.sqrt(max(stiffness * ease, 0.0))
        if damping * ease < 2.0 * UNDAMPED * rate and step * rate > best[1]:
            best = name, float(step * rate)
    return best


def _springs(plant: PlantCore, context: Context) -> Iterator[tuple[str, float, float, Vector]]:
    """Name, stiffness, damping and Jacobian (nv,) of springs in joints and between points."""
    model: Any = context.state.model
    for joint in plant.moving_joints():
        for d in range(joint.velocity_start(), joint.velocity_start() + joint.num_velocities()):
            if model.dof_stiffness[d] > 0.0:
                J = np.zeros(plant.num_velocities())
                J[d] = 1.0
                yield f"the spring of joint '{joint.name()}'", model.dof_stiffness[d], model.dof_damping[d], J
    world = plant.world_frame()
    for element in plant.elements.force_elements:
        if isinstance(element, LinearSpringDamper):
            A, B = element.bodyA(), element.bodyB()
            ends = ((A, element.p_AP()), (B, element.p_BQ()))
            p, q = (body.EvalPoseInWorld(context) @ point for body, point in ends)
            J_p, J_q = (
                plant.CalcJacobianTranslationalVelocity(
                    context, JacobianWrtVariable.kV, body.body_frame(), point, world, world
                )
                for body, point in ends
            )
            J = (q - p) @ (J_q - J_p) / max(np.linalg.norm(q - p), 1e-300)
            name = f"the spring-damper between bodies '{A.name()}' and '{B.name()}'"
            yield name, element.stiffness(), element.damping(), J
    for spring, moment in zip(plant.elements.tendon_springs, tendon_spring_moments(plant, context), strict=True):
        if spring.law().bias_kind == "spring":
            yield f"the spring of tendon '{spring.name()}'", spring.law().bias[0], spring.law().bias[1], moment


def _holds_to_first_order(plant: PlantCore, context: Context) -> bool:
    """Whether constraints of the plant are rows of contact problems."""
    from mbcli.multibody.compilation.compile_constraints import Tie

    state = context.state
    if not plant.elements.constraints or state.contact is None or state.constraints is None:
        return False
    return any(isinstance(rows, Tie) and rows.rows for rows in state.constraints.rows)
