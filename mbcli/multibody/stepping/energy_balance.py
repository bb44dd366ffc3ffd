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
    BALANCE_END_PUSH,
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
    from collections.abc import Sequence

    from mbcli.math.array_types import Vector
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


class EnergyAccount:
    """The energy of a plant at the start of a motion, of which a balance is the account.

    context: at the start.
    """

    def __init__(self, context: Context) -> None:
        self._start, self._start_compliance = _energies(context), _compliance_energy(context)

    def balance(self, context: Context, works: Vector, seen: Sequence[float]) -> EnergyBalance:
        """EnergyBalance from the start to the state of a context.

        works: (WORKS,) [J] of each cause. seen: kinetic energies on the way.
        """
        end, stored = _energies(context), _compliance_energy(context) - self._start_compliance
        work = works.tolist()
        contact, friction = work[WORK_OF_CONTACT], work.pop(WORK_OF_CONTACT_FRICTION)
        change = sum(end) - sum(self._start)
        kinetic = [self._start[0], end[0], *seen]
        flow = max(kinetic) - min(kinetic) + sum(map(abs, work))
        dissipated = contact - friction + stored
        if not _contact_dissipates(context.state.plant):  # then nothing but steps takes energy from what is pressed
            dissipated, work[WORK_OF_CONTACT] = 0.0, friction - stored
        rest = change - sum(work)
        return EnergyBalance(*(*work, change, flow, rest, stored, friction, dissipated))


class KeptBalance:
    """The sums of a run, and its energy at the start.

    Args:
        context: of the run, at its start.
        stepped: the context whose arrays its steps change.
    """

    def __init__(self, context: Context, stepped: Context) -> None:
        self._context, self._stepped = context, stepped
        self.arrays: Any = new_balance(stepped)
        self._account = EnergyAccount(context)

    def attach(self, run: float, pushes: int = 0) -> None:
        """Lets the loops find the balance from the data that they change.

        run: handle of the Integration of a continuous run, of the Actuation of a discrete one, with so many pushes.
        """
        self.arrays.balance_settings[BALANCE_END_PUSH] = pushes
        attach_balance(self._stepped, self.arrays, run)

    def result(self) -> EnergyBalance:
        """EnergyBalance from the start to the state of the context."""
        arrays = self.arrays
        seen = arrays.kinetic_range.tolist() if arrays.balance_settings[BALANCE_BEGUN] else []
        return self._account.balance(self._context, arrays.work, seen)


def new_balance(stepped: Context) -> Any:
    """Balance without any work, for steps that change the arrays of a context."""
    plant = stepped.state.plant
    arrays: Any = Balance({"nq": plant.num_positions(), "nv": plant.num_velocities()})
    arrays.balance_settings[BALANCE_IMPLICIT] = implicit_damping(plant) if plant.is_discrete() else 0.0
    arrays.balance_settings[BALANCE_CONSTRAINED] = 1.0 if plant.elements.constraints else 0.0
    return arrays


def attach_balance(stepped: Context, arrays: Any, run: Any) -> None:
    """Loops find the Balance from the data of a context; run: as of KeptBalance.attach()."""
    state, discrete = stepped.state, stepped.state.plant.is_discrete()
    compiled = state.compiled
    at = [0.0] * 6
    function = getattr(state.kernels, "balance_step" if discrete else "balance_motion")
    at[BALANCE_AT_STEP_FUNCTION if discrete else BALANCE_AT_MOTION_FUNCTION] = (
        address_of_function(function) if compiled else function
    )
    at[BALANCE_AT_MODEL], at[BALANCE_AT_DATA] = state.model_handle, state.data_handle
    at[BALANCE_AT_ARRAYS], at[BALANCE_AT_RUN] = arrays.handle(compiled), run
    if compiled:
        state.data.balance[:] = at
    else:  # any object can be an address
        state.data.balance = at


def _energies(context: Context) -> tuple[float, ...]:
    """Kinetic and potential energy, without bushings, which have none."""
    state = context.state
    state.forget_positions()
    state.ready_parameters()
    calls = state.calls
    calls.motion_stage()
    calls.calc_energy()
    return tuple(map(float, state.data.energy))


def _compliance_energy(context: Context) -> float:
    """The energy that compliant contact stores at the state of a context."""
    plant = context.state.plant
    if not plant.meets_contact():
        return 0.0
    _, record = contacts_of_state(plant, context)
    return float(compliance_energies(record).sum())


def _contact_dissipates(plant: Any) -> bool:
    """Whether the material of some solid does: its dissipation, or its relaxation time, as the law takes it."""
    settings, column = plant.settings, 1
    if plant.is_discrete() and settings.contact_law().RELAXES:
        column = 2
    if plant.elements.deformable_bodies or not plant.meets_contact():
        return True
    return any(solid.material[column] > 0.0 for solid in plant.compiled_geometries().solids)
