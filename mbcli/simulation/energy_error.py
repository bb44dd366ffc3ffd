"""How far the energy of a run leaves that of its start, though nothing drives the plant: the error of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument

if TYPE_CHECKING:
    from mbcli.multibody.core.plant_core import PlantCore
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.stepping.run import Run, Samples
    from mbcli.simulation.input_series import Input

SEEN = 0.01  # of the largest kinetic energy: an error that is reported


class EnergyChange:
    """The largest changes of the energy over the samples of a run.

    Attributes:
        rise, fall: [J] how far it was above and below that of the first sample; not negative.
        most_kinetic: [J]
        may_touch: whether bodies touched in a sample, or a joint could come to a limit before the next one.
    """

    def __init__(self, plant: PlantCore) -> None:
        self._plant = plant
        self._start: float | None = None
        self._last_time = np.inf
        self.rise = self.fall = self.most_kinetic = 0.0
        self.may_touch = False

    def see(self, samples: Samples) -> None:
        """Takes a block of samples; energies that are not known count as no change."""
        energy = samples.energy.sum(axis=1)
        if self._start is None:
            self._start = float(energy[0])
        change = energy - self._start
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
        self._last_time = float(samples.time[-1])


def _dissipating_limits(model: Any) -> tuple[Any, Any, Any]:
    """Velocities, sides and values of the limits that take energy: all in steps, stops unless they are elastic."""
    if not model.stop_dof.size:
        return model.limit_dof, model.limit_side, model.limit_value
    takes = model.stop_constants[:, 1] > 0.0
    return model.stop_dof[takes], model.stop_side[takes], model.stop_value[takes]


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
    springs_and_dampers = model.spring_damper_link, model.bushing_link, model.hinge_dof, model.cut_link
    if plant.user_force_elements or plant.elements.deformable_bodies or any(len(ends) for ends in springs_and_dampers):
        return False
    braked = model.dof_damping.any() or model.friction_dof.size or model.pd_actuator.size or model.locked_dof.size
    return not braked and (not plant.elements.constraints or are_equations(plant, context.state.parameters))


def gain_by_constraints(run: Run, drift: float | None, change: EnergyChange) -> str | None:
    """What is wrong and what helps, if contact problems, which are of first order, added energy; else None.

    drift: [J] the change of the energy in a run that nothing drives, None if it is not known.
    """
    from mbcli.multibody.compilation.compile_constraints import Tie

    plant, state = run.plant, run.context.state
    if drift is None or not drift > SEEN * change.most_kinetic:
        return None
    in_problems = plant.is_discrete() and bool(plant.elements.constraints) and state.contact is not None
    if not in_problems or state.constraints is None:
        return None
    if not any(isinstance(rows, Tie) and rows.rows for rows in state.constraints.rows):
        return None
    return (
        f"the energy rose by {drift:.3g} J, though nothing drives the plant: steps that meet contact hold constraints "
        f"to first order; a smaller {argument('dt')} lowers it, {argument('contact', False)} holds them to second order"
    )


def error_in_words(run: Run, error: float, change: EnergyChange) -> str | None:
    """What is wrong and what helps, if an energy error is considerable; else None."""
    if not abs(error) > SEEN * change.most_kinetic:
        return None
    percent = 100.0 * abs(error) / change.most_kinetic if change.most_kinetic else np.inf
    return (
        f"nothing drives or brakes the plant, but its energy {'rose' if error > 0.0 else 'fell'} by up to "
        f"{abs(error):.3g} J, {percent:.3g} % of the largest kinetic energy: {_cure(run)}"
    )


def _cure(run: Run) -> str:
    if not run.plant.is_discrete():
        return f"a smaller {argument('accuracy' if run.has_error_control() else 'max_step')} makes that less"
    return f"a smaller {argument('dt')} makes that less; {argument('dt', 0)} integrates with error control"
