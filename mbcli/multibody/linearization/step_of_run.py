"""The step that a run takes from a context, as a function of the state and the inputs there."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.contact.arrays import DEFAULT_TOLERANCE
from mbcli.engine.fields.contact_fields import COUNT_CONSTRAINTS, SETTING_TOLERANCE
from mbcli.engine.runtime.precompiled import precompiled_library
from mbcli.errors import ContactUnsolvedError
from mbcli.multibody.contact.meeting_contact import allocate_contact
from mbcli.multibody.core.lookup import of_instance
from mbcli.multibody.state.context import Context
from mbcli.multibody.stepping.inputs import constant_input
from mbcli.multibody.stepping.run import force_update

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.linearization.plant_values import PlantValues
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

EXACT = 1e-14  # tolerance of a contact problem that is solved to rounding, relative, of momenta
LESS = 100.0  # by what it is larger where rounding does not allow it


class StepOfRun:
    """[q; v] (nq + nv,) after the step of `Run` from the time of a context, whose state and inputs may be others.

    Args:
        plant: discrete.
        context: its time, parameters, activations, applied forces and what its controllers carry.
        start: PlantValues of the context.
        exact: whether contact problems are solved to rounding, and not to the tolerance of a run.
    """

    def __init__(self, plant: MultibodyPlant, context: Context, start: PlantValues, exact: bool = False) -> None:
        state = context.state
        self._plant, self._context, self._start = plant, context, start
        self._exact = EXACT if exact else 0.0
        self._own = Context(state.plant, state.scalar, state.compiled or precompiled_library() is not None)

    def __call__(self, values: PlantValues) -> Vector:
        """The state after a step from these values. NumericalError as of a run."""
        own = self._own
        while True:
            self._start_from(values)
            tolerance = self._tolerance()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # it is the run itself that tells what it does
                    force_update(self._plant, own, constant_input(values.u))
            except ContactUnsolvedError:
                if not self._exact or self._exact > DEFAULT_TOLERANCE:
                    raise
                self._exact *= LESS
                continue
            if self._tolerance() == tolerance:  # else there was no room for contacts, and the solver is another
                return np.concatenate([own.state.q, own.state.v])

    def meets_contact(self) -> bool:
        """After a step: whether steps ask for contacts, or solve their problem for other reasons."""
        return self._own.state.contact is not None

    def solved_problem(self) -> bool:
        """After a step: whether something was in its contact problem."""
        contact = self._own.state.contact
        return contact is not None and bool(contact.solver.counts[COUNT_CONSTRAINTS])

    def _tolerance(self) -> float | None:
        """That of the contact problem, None if there is none."""
        contact: Any = self._own.state.contact
        return None if contact is None else float(contact.solver.settings[SETTING_TOLERANCE])

    def _start_from(self, values: PlantValues) -> None:
        plant, own, context = self._plant, self._own, self._context
        own.inputs.take_from(context.inputs)
        own.SetTimeStateAndParametersFrom(context)
        self._set_ports(values)
        allocate_contact(own.state)
        if self._exact and own.state.contact is not None:
            own.state.contact.solver.settings[SETTING_TOLERANCE] = self._exact
        own.state.data.pd_carried[:] = context.state.data.pd_carried
        plant.SetPositions(own, values.q)
        plant.SetVelocities(own, values.v)

    def _set_ports(self, values: PlantValues) -> None:
        """Gives applied forces and desired states that are not those of the context to the ports."""
        plant, own, start = self._plant, self._own, self._start
        if (values.tau != start.tau).any():
            plant.get_applied_generalized_force_input_port().FixValue(own, values.tau)
        if (values.desired == start.desired).all():
            return
        actuators = plant.elements.actuators
        aims = {actuators[k]: aim for k, aim in zip(own.state.model.pd_actuator, values.desired, strict=True)}
        for instance in {int(a.model_instance()): a.model_instance() for a in aims}.values():
            port = plant.get_desired_state_input_port(instance)
            members = of_instance(plant, actuators, instance)
            wanted = np.array(own.inputs.value(port.get_name(), own))
            for k, actuator in enumerate(members):
                if actuator in aims:
                    wanted[k], wanted[len(members) + k] = aims[actuator]
            port.FixValue(own, wanted)
