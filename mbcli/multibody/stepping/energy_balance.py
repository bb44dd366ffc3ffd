"""The energy balance of a run: the work of each cause on the plant, and the rest of the change of its energy."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.engine.fields.model_fields import (
    BALANCE_AT_ARRAYS,
    BALANCE_AT_DATA,
    BALANCE_AT_MODEL,
    BALANCE_AT_MOTION_FUNCTION,
    BALANCE_AT_RUN,
    BALANCE_AT_STEP_FUNCTION,
)
from mbcli.engine.fields.run_fields import (
    BALANCE_BEGUN,
    BALANCE_CONSTRAINED,
    BALANCE_IMPLICIT,
    WORK_OF_CONTACT,
    WORK_OF_CONTACT_FRICTION,
)
from mbcli.engine.runtime.addresses import address_of_function
from mbcli.engine.stepping.run_arrays import Balance
from mbcli.multibody.contact.point_contact import contacts_of_state
from mbcli.multibody.core.dynamics import implicit_damping
from mbcli.multibody.stepping.compliance_energy import compliance_energies

if TYPE_CHECKING:
    from mbcli.multibody.core.plant_core import PlantCore
    from mbcli.multibody.state.context import Context

CONSIDERABLE = 0.01  # of the energy that flowed: an error of the integration that is reported
NEGLIGIBLE = 1e-12  # [J] rounding of what moves no energy


@dataclass(frozen=True)
class EnergyBalance:
    """Work of all causes on a plant over a run, positive if it gained energy [J].

    Attributes:
        actuators: of actuation and controllers.
        joint_damping: of viscous damping in joints.
        force_elements: of those that store no energy: dampers, friction, bushings as a whole.
        contact: of normal forces and friction.
        limits: of the stops of joints.
        constraints: of constraints in contact problems, and in a continuous plant of projections onto them; 0 in other
            discrete steps, whose equations do no work.
        joint_friction: of dry friction in joints.
        unexplained: of forces in steps of a discrete plant that belong to no cause: zero but for rounding, and for the
            kinetic energy of what falls asleep.
        pushes, plugins: of the forces on bodies of --push, and of plugins (water, air, thrust); what plugins give as
            efforts of joints is in actuators.
        energy_change: of kinetic and potential energy together; gravity and springs only exchange them.
        flow: what changed its place: all this work, and the largest change of kinetic energy.
        rest: energy_change less all work: the error of the integration.
        compliance_change: of the energy that compliant contact stores.
        contact_friction: the part of contact that is friction's.
        contact_dissipation: what normal forces did beyond that change: the work of their dissipation, and what discrete
            steps lose. Where no material dissipates it is 0, and such losses are in rest.
            contact = contact_friction + contact_dissipation - compliance_change.
    """

    actuators: float
    joint_damping: float
    force_elements: float
    contact: float
    limits: float
    constraints: float
    joint_friction: float
    unexplained: float
    pushes: float
    plugins: float
    energy_change: float
    flow: float
    rest: float
    compliance_change: float = 0.0
    contact_friction: float = 0.0
    contact_dissipation: float = 0.0

    def as_dict(self) -> dict[str, float]:
        return asdict(self)

    def is_considerable(self, ideal: bool, kinetic: float = 0.0) -> bool:
        """Whether the error of the integration is not small against the energy that flowed, or the kinetic one [J]."""
        return not abs(self.error(ideal)) <= max(CONSIDERABLE * max(self.flow, kinetic), NEGLIGIBLE)

    def error(self, ideal: bool) -> float:
        """[J] that no cause explains; together with the work of constraints if these are ideal, which do none."""
        return self.rest + self.constraints if ideal else self.rest


def keep_none(context: Context) -> None:
    """Lets the loops keep no balance."""
    state = context.state
    if state.compiled:
        state.data.balance[:] = 0.0
    else:
        state.data.balance = np.zeros(6)


class KeptBalance:
    """The sums of a run, and its energy at the start.

    Args:
        plant: finalized.
        context: of the run, at its start.
        stepped: the context whose arrays its steps change.
    """

    def __init__(self, plant: PlantCore, context: Context, stepped: Context) -> None:
        self._plant, self._context, self._stepped = plant, context, stepped
        sizes = {"nq": plant.num_positions(), "nv": plant.num_velocities()}
        self.arrays: Any = Balance(sizes)
        self._start, self._start_compliance = self._energies(), self._compliance_energy()

    def attach(self, run: float) -> None:
        """Lets the loops find the balance from the data that they change.

        run: handle of the Integration of a continuous run, of the Actuation of a discrete one.
        """
        state, discrete = self._stepped.state, self._plant.is_discrete()
        compiled = state.compiled
        self.arrays.balance_settings[BALANCE_IMPLICIT] = implicit_damping(self._plant) if discrete else 0.0
        self.arrays.balance_settings[BALANCE_CONSTRAINED] = 1.0 if self._plant.elements.constraints else 0.0
        at = [0.0] * 6
        function = getattr(state.kernels, "balance_step" if discrete else "balance_motion")
        at[BALANCE_AT_STEP_FUNCTION if discrete else BALANCE_AT_MOTION_FUNCTION] = (
            address_of_function(function) if compiled else function
        )
        at[BALANCE_AT_MODEL], at[BALANCE_AT_DATA] = state.model_handle, state.data_handle
        at[BALANCE_AT_ARRAYS], at[BALANCE_AT_RUN] = self.arrays.handle(compiled), run
        if compiled:
            state.data.balance[:] = at
        else:  # any object can be an address
            state.data.balance = at

    def _energies(self):
        """Kinetic and potential energy, without bushings, which have none."""
        context = self._context
        state = context.state
        state.forget_positions()
        state.ready_parameters()
        calls = state.calls
        calls.motion_stage()
        calls.calc_energy()
        return tuple(map(float, state.data.energy))

    def _compliance_energy(self):
        """The energy that compliant contact stores at the state of the context."""
        if not self._plant.meets_contact():
            return 0.0
        _, record = contacts_of_state(self._plant, self._context)
        return float(compliance_energies(record).sum())

    def _contact_dissipates(self) -> bool:
        """Whether the material of some solid does: its dissipation, or its relaxation time, as the law takes it."""
        settings, column = self._plant.settings, 1
        if self._plant.is_discrete() and settings.contact_law().RELAXES:
            column = 2
        if self._plant.elements.deformable_bodies or not self._plant.meets_contact():
            return True
        return any(solid.material[column] > 0.0 for solid in self._plant.compiled_geometries().solids)

    def result(self) -> EnergyBalance:
        """EnergyBalance from the start to the state of the context."""
        end, stored = self._energies(), self._compliance_energy() - self._start_compliance
        work = self.arrays.work.tolist()
        contact, friction = work[WORK_OF_CONTACT], work.pop(WORK_OF_CONTACT_FRICTION)
        change = sum(end) - sum(self._start)
        seen = self.arrays.kinetic_range.tolist() if self.arrays.balance_settings[BALANCE_BEGUN] else []
        kinetic = [self._start[0], end[0], *seen]
        flow = max(kinetic) - min(kinetic) + sum(map(abs, work))
        dissipated = contact - friction + stored
        if not self._contact_dissipates():  # then nothing but steps takes energy from what is pressed
            dissipated, work[WORK_OF_CONTACT] = 0.0, friction - stored
        rest = change - sum(work)
        return EnergyBalance(*(*work, change, flow, rest, stored, friction, dissipated))
