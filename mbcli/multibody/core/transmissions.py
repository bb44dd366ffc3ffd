"""Actuators that act through transmissions: their lengths, moments, forces and activations in a context."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.errors import ModelError
from mbcli.multibody.core.coordinate_names import GetActuatorNames
from mbcli.multibody.core.coordinates import vector
from mbcli.multibody.core.inputs import actuation
from mbcli.multibody.tree.checked_numbers import finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.parsers.spec import ActuatorLaw


LEAST = 1e-15  # of what is divided by


class TransmissionStates(NamedTuple):
    """Of n actuators with transmissions, in their order in u."""

    lengths: Vector  # (n,) [m or rad], times the gear
    rates: Vector  # (n,)
    moments: Matrix  # (n, nv), rates per unit of v: the generalized forces are moments^T forces
    forces: Vector  # (n,) [N or N m]


def transmissions_at(plant: PlantData, context: Context, u: ArrayLike | None = None) -> TransmissionStates:
    """TransmissionStates at this instant, under the inputs of the context or under the actuation u (nu,).

    Of an actuator with `is_early` in its law, which is that of the activation after a step, the force of that. What
    pulls at contacts has no moments here: steps find contacts.
    """
    return TransmissionStates(*(rows[: len(plant.elements.transmission_actuators)] for rows in _all(plant, context, u)))


def tendon_spring_moments(plant: PlantData, context: Context) -> Matrix:
    """(n, nv): the rates of the lengths of tendon springs per unit of v."""
    return _of_springs(plant, context)[2]


def _all(plant: PlantData, context: Context, u: ArrayLike | None) -> tuple[Vector, Vector, Matrix, Vector]:
    """As transmissions_at(), with tendon springs behind the actuators."""
    plant.check_context(context)
    state: Any = context.state
    state.at_velocities()
    values = actuation(plant, context) if u is None else vector(u, plant.model.sizes["nu"], "u")
    data = state.data
    data.u[...] = values
    state.calls.calc_transmissions(plant.time_step())
    arrays = (data.transmission_length, data.transmission_rate, data.transmission_moment, data.transmission_force)
    lengths, rates, moments, forces = (array.copy() for array in arrays)
    return lengths, rates, moments, forces


def _of_springs(plant: PlantData, context: Context) -> list[Any]:
    """Lengths, rates, moments of tendon springs."""
    if not plant.elements.tendon_springs:
        return [(), (), ()]
    own, none = len(plant.elements.transmission_actuators), np.zeros(plant.model.sizes["nu"])
    return [rows[own:] for rows in _all(plant, context, none)[:3]]


def transmission_loads(plant: PlantData, context: Context) -> Matrix:
    """(num_bodies, 6) on links at their origins at this instant, by actuators at sites, tendons and slider-cranks."""
    F_link = np.zeros((plant.model.sizes["nlink"], 6), context.state.dtype)
    if plant.model.sizes["npath"]:
        transmissions_at(plant, context)
        context.state.calls.calc_transmission_loads(F_link)
    return F_link


def activations(plant: PlantData, context: Context) -> Vector:
    """(n,) [1] of the actuators that have one, in their order in u."""
    plant.check_context(context)
    values: Vector = context.state.data.activation.copy()
    return values


def set_activations(plant: PlantData, context: Context, values: ArrayLike) -> None:
    """Replaces the activations (n,) [1]. RuntimeError if they are not as many, or not finite."""
    plant.check_context(context)
    data = context.state.data
    data.activation[:] = finite(values, "activations", shape=data.activation.shape)
    context.state.forget_inputs()


def activation_names(plant: PlantData) -> list[str]:
    """`{instance}_{actuator}` for each activation."""
    plant.require_finalized("activation_names")
    names = GetActuatorNames(plant)
    return [names[a.input_start()] for a in plant.elements.transmission_actuators if a.has_activation()]


def require_steps_for_transmissions(plant: PlantData) -> None:
    """ModelError if an actuator of a continuous plant has what only steps advance, or find."""
    if plant.is_discrete():
        return
    for actuator in plant.elements.transmission_actuators:
        if actuator.has_activation():
            problem = "has an activation, which only the steps of a discrete plant advance"
        elif actuator.transmission().kind == "contact":
            problem = "pulls at contacts, which only the steps of a discrete plant find"
        else:
            continue
        place = f"{actuator.place}: error: " if actuator.place else ""
        raise ModelError(f"{place}actuator '{actuator.name()}' {problem}")


def complete_laws(plant: PlantData) -> bool:
    """Gives actuators what follows from the default positions; returns whether there are such.

    A muscle without a peak force has its scale over the norm of the accelerations by a unit force, a servo with a
    damping ratio the damper by the masses that it moves, as MuJoCo has both; a muscle without a range of its length has
    that which limits leave it.
    """
    wanting = [a for a in plant.elements.transmission_actuators if _is_open(a.law())]
    lengths = _rest_lengths(plant)
    if not wanting:
        return lengths
    whole: Any = plant.whole_plant()
    context = whole.CreateDefaultContext()
    none = np.zeros(plant.model.sizes["nu"])

    def derive() -> tuple[Vector, Matrix]:
        at = transmissions_at(plant, context, none)
        return at.lengths, at.moments

    moments = derive()[1]
    M = whole.CalcMassMatrix(context)
    ranges = None
    if any(actuator.law().lengths is None for actuator in wanting):
        from mbcli.multibody.core.length_ranges import LengthRanges  # late: few models need it, and closed chains

        ranges = LengthRanges(plant, context, derive)
    for actuator in wanting:
        row, law = actuator.input_start() - len(plant.elements.actuators), actuator.law()
        moment = moments[row]
        if law.lengths is None and ranges is not None:
            law = replace(law, lengths=ranges.of(actuator, row))
        response = np.linalg.solve(M, moment)
        if _lacks_peak(law):
            size = max(float(np.linalg.norm(response)), LEAST)
            law = replace(law, gain=_with_peak(law.gain_kind, law.gain, size))
            law = replace(law, bias=_with_peak(law.bias_kind, law.bias, size))
        if law.damping_ratio:
            mass = 1.0 / max(float(moment @ response), LEAST)
            damping = 2.0 * law.damping_ratio * float(np.sqrt(law.gain[0] * mass))
            law = replace(law, bias=(*law.bias[:2], law.bias[2] - damping), damping_ratio=0.0)
        actuator.replace_law(law)
    return True


def _rest_lengths(plant: PlantData) -> bool:
    """Gives tendon springs the lengths at which those of joints are at rest, if they have no other."""
    wanting = [spring for spring in plant.elements.tendon_springs if spring.law().lengths is None]
    if not wanting:
        return False
    whole: Any = plant.whole_plant()
    context = whole.CreateDefaultContext()
    for spring in wanting:
        for joint, position in spring.rest_positions:
            whole.SetPositions(context, _with_position(whole.GetPositions(context), joint, position))
        law = spring.law()
        length = float(_of_springs(plant, context)[0][plant.elements.tendon_springs.index(spring)])
        spring.replace_law(replace(law, bias=(*law.bias[:2], length, length), lengths=(0.0, 0.0)))
    return True


def _with_position(q: Vector, joint: Any, position: float) -> Vector:
    q = q.copy()
    q[joint.position_start()] = position
    return q


def _is_open(law: ActuatorLaw) -> bool:
    return law.damping_ratio != 0.0 or law.lengths is None or _lacks_peak(law)


def _lacks_peak(law: ActuatorLaw) -> bool:
    numbers = (n for kind, n in ((law.gain_kind, law.gain), (law.bias_kind, law.bias)) if kind == "muscle")
    return any(own[2] < 0.0 for own in numbers)


def _with_peak(kind: str, numbers: tuple[float, ...], size: float) -> tuple[float, ...]:
    if kind != "muscle" or numbers[2] >= 0.0:
        return numbers
    return (*numbers[:2], numbers[3] / size, *numbers[3:])
