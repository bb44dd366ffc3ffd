"""How far the energy of a run leaves that of its start, though nothing drives the plant: the error of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.multibody.stepping.compliance_energy import compliance_energies
from mbcli.simulation.energy_gain import ROUNDING, SEEN, Gain, beyond_limits, largest_turn, smaller_step, step_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.core.plant_core import PlantCore
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.stepping.run import Run
    from mbcli.multibody.stepping.samples import Samples
    from mbcli.simulation.input_series import Input


class EnergyChange:
    """The largest changes of the energy over the samples of a run.

    Attributes:
        rise, fall: [J] how far it was above and below that of the first sample; not negative.
        most_kinetic: [J]
        fastest (nv,): the largest size of each velocity [rad/s or m/s], until the energy was above what steps explain.
        stored: [J] (n,) that plugins store at positions (n, nq); None without.
        may_touch: whether bodies touched in a sample, or a joint could come to a limit before the next one.
    """

    def __init__(self, plant: PlantCore) -> None:
        self._plant = plant
        self._start: float | None = None
        self._last_time = np.inf
        self._last: FloatArray = np.empty((0, 3))  # time, kinetic and potential energy of the last sample
        self._first: FloatArray = np.empty(0)  # its positions
        self._most_power = self._largest = self._stored = 0.0
        self._rise_time = self._since = 0.0
        self._gains = False
        self.rise = self.fall = self.most_kinetic = 0.0
        self.fastest = np.zeros(plant.num_velocities())
        self.may_touch = False
        self.stored: Callable[[Any], FloatArray] | None = None

    def see(self, samples: Samples) -> None:
        """Takes a block of samples; energies that are not known count as no change."""
        known = samples.energy
        if self.stored is not None:
            known = known + np.column_stack([np.zeros(len(known)), self.stored(samples.q)])
        energy = known.sum(axis=1)
        if self._start is None:
            self._start = float(energy[0])
            self._first, self._stored = samples.q[0].copy(), _stored_at_start(self._plant, samples)
        change = energy - self._start
        if float(change.max()) > self.rise:
            self._rise_time = float(samples.time[change.argmax()])
        self._see_gain(samples, known, change)
        self.rise, self.fall = max(self.rise, float(change.max())), max(self.fall, -float(change.min()))
        self.most_kinetic = max(self.most_kinetic, float(samples.energy[:, 0].max()))
        contacts: Any = samples.contacts
        self.may_touch |= contacts is not None and contacts.offset[-1] > contacts.offset[0]
        self.may_touch |= bool(self._plant.velocity_limits)  # which take energy
        dof, side, value = _dissipating_limits(self._plant.model)
        if dof.size and not self.may_touch:
            gap = side * (samples.q[:, self._plant.model.dof_q[dof]] - value)
            times = np.append(self._last_time, samples.time)
            longest = max(float(np.diff(times).max()), self._plant.time_step())
            reach = 2.0 * longest * np.abs(samples.v[:, dof])
            self.may_touch = bool((gap <= reach).any())
        self.may_touch |= _nears_turn_limit(self._plant, samples, self._last_time)
        self._last_time = float(samples.time[-1])

    def _see_gain(self, samples: Samples, energies: FloatArray, change: FloatArray) -> None:
        """Finds the first sample whose energy is above that of the start by more than steps explain."""
        rows = np.vstack([self._last, np.column_stack([samples.time, energies])])
        self._last = rows[-1:]
        since = np.diff(rows[:, 0])
        powers = np.abs(np.diff(rows[:, 2])) / np.where(since > 0.0, since, np.inf)
        self._most_power = max(self._most_power, float(powers.max(initial=0.0)))
        self._largest = max(self._largest, float(np.abs(energies[:, 1]).max()))
        if not self._gains:
            kinetic = np.maximum.accumulate(np.maximum(energies[:, 0], self.most_kinetic))
            above = change > self._explained(kinetic)
            until = len(above)
            if above.any():
                until = int(above.argmax()) + 1
                self._gains, self._since = True, float(samples.time[until - 1])
            self.fastest = np.maximum(self.fastest, np.abs(samples.v[:until]).max(axis=0, initial=0.0))

    def _explained(self, kinetic: Any) -> Any:
        """[J] by which energy may rise in a passive plant whose largest kinetic energy is that."""
        swing = step_error(self._plant, self._most_power)
        return self._stored + swing + SEEN * kinetic + ROUNDING * self._largest

    def gain(self) -> Gain | None:
        """What a passive plant would have gained; None if it did not."""
        if not self._gains or not self.rise > self._explained(self.most_kinetic):
            return None
        turn = largest_turn(self._plant, self.fastest)
        return Gain(self._first, self.rise - self._stored, self._rise_time, self._since, self.most_kinetic, *turn)


def _stored_at_start(plant: PlantCore, samples: Samples) -> float:
    """[J] that compliant contact stores in the first sample; infinite where a limit does, which is not known."""
    if beyond_limits(plant, samples.q[0]):
        return np.inf
    contacts: Any = samples.contacts
    count = 0 if contacts is None else int(contacts.offset[1])
    return float(compliance_energies(contacts.contacts)[:count].sum()) if count else 0.0


def _dissipating_limits(model: Any) -> tuple[Any, Any, Any]:
    """Velocities, sides and values of the limits that take energy: all in steps, stops unless they are elastic."""
    if not model.stop_dof.size:
        return model.limit_dof, model.limit_side, model.limit_value
    takes = model.stop_constants[:, 1] > 0.0
    return model.stop_dof[takes], model.stop_side[takes], model.stop_value[takes]


def _nears_turn_limit(plant: PlantCore, samples: Samples, last_time: float) -> bool:
    """Whether a ball joint may have been at its limit, which takes energy, in or between samples."""
    model: Any = plant.model
    if not len(model.turn_dof):
        return False
    longest = max(float(np.diff(np.append(last_time, samples.time)).max()), plant.time_step())
    for d, i, limit in zip(model.turn_dof, model.turn_q, model.turn_limit, strict=True):
        w, x, y, z = np.abs(samples.q[:, i : i + 4]).T
        turn = 2.0 * np.arctan2(np.sqrt(x * x + y * y + z * z), w)
        reach = 2.0 * longest * np.linalg.norm(samples.v[:, d : d + 3], axis=1)
        if (limit - turn <= reach).any():
            return True
    return False


def energy_error(run: Run, change: EnergyChange, actuation: Input | None, controlled: list[str]) -> float | None:
    """[J] the largest change of the energy, negative if it fell; None where something drives, brakes or touches.

    Args:
        actuation: the input of the run, None if it is not known.
        controlled: names of the actuators with controllers.
    """
    if change.may_touch or is_driven(actuation, controlled) or not keeps_energy(run.plant, run.context):
        return None
    return change.rise if change.rise >= change.fall else -change.fall


def is_driven(actuation: Input | None, controlled: list[str]) -> bool:
    """Whether inputs or controllers may do work on the plant."""
    return actuation is None or bool(controlled) or bool(actuation.values.any())


def has_ideal_constraints(plant: PlantCore, context: Context) -> bool:
    """Whether what a balance books as work of constraints is an error: equations do none, projections are no force."""
    from mbcli.multibody.compilation.constraint_rows import are_equations

    return not plant.is_discrete() or are_equations(plant, context.state.parameters)


def keeps_energy(plant: PlantCore, context: Context) -> bool:
    """Whether all forces but those of contact and of limits only exchange kinetic and potential energy."""
    from mbcli.multibody.compilation.constraint_rows import are_equations

    model = plant.model
    if plant.elements.transmission_actuators or plant.elements.tendon_springs:  # these give forces without an input
        return False
    springs_and_dampers = model.spring_damper_link, model.bushing_link, model.hinge_dof, model.cut_link
    if plant.user_force_elements or plant.elements.deformable_bodies or any(len(ends) for ends in springs_and_dampers):
        return False
    braked = model.dof_damping.any() or model.friction_dof.size or model.pd_actuator.size or model.locked_dof.size
    return not braked and (not plant.elements.constraints or are_equations(plant, context.state.parameters))


def error_in_words(run: Run, error: float, change: EnergyChange) -> str | None:
    """What is wrong and what helps, if an energy error is considerable; else None."""
    if not abs(error) > SEEN * change.most_kinetic:
        return None
    percent = 100.0 * abs(error) / change.most_kinetic if change.most_kinetic else np.inf
    return (
        f"nothing drives or brakes the plant, but its energy {'rose' if error > 0.0 else 'fell'} by up to "
        f"{abs(error):.3g} J, {percent:.3g} % of the largest kinetic energy: {advice(run)}"
    )


def advice(run: Run) -> str:
    """What makes the errors of steps less."""
    if not run.plant.is_discrete():
        return f"a smaller {argument('accuracy' if run.has_error_control() else 'max_step')} makes that less"
    return smaller_step()
