"""The states of a run with the efforts and forces that act there, for what depends on accelerations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.multibody.contact.meeting_contact import allocate_contact
from mbcli.multibody.stepping.inputs import applied_forces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Vector

APPLIED = "applied_spatial_force"


class LoadedStates:
    """A context of a plant in which the efforts and forces of a run act, and its PD controllers.

    Its step is that of the run from the same state, with the aims of the run's controllers and what they carry.

    Args:
        plant: of the run.
        context: of the run, whose parameters and inputs hold.
        forces: LinkForces that its steps take; the attribute may be changed.
    """

    def __init__(self, plant: Any, context: Any, forces: Sequence[Any]) -> None:
        self._plant, self.forces = plant, forces
        self.context = plant.CreateDefaultContext()
        self.context.inputs.take_from(context.inputs)
        self.context.state.take_parameters(context.state)
        inputs = self.context.inputs
        for values in (inputs.fixed, inputs.followed):
            for name in [name for name in values if name.endswith("actuation")]:
                del values[name]
        self._pushed = False  # whether the port has forces of the state before
        self._others = [inputs.fixed.get(APPLIED), inputs.followed.get(APPLIED)]

    def keep_arrays(self) -> None:
        """The elements of the plant get other parameters: the states stay of those that it has now."""
        state = self.context.state
        allocate_contact(state)
        if state.contact is not None:
            state.contact.stays = True

    def at(self, time: float, q: Vector, v: Vector, u: Vector) -> Any:
        """The context at a time [s], state and actuation u (nu,) [N m or N]."""
        plant, context = self._plant, self.context
        context.SetTime(time)
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        if u.size:
            plant.get_actuation_input_port().FixValue(context, u)
        if self.forces or self._pushed:
            fixed, followed = self._others
            others = fixed if fixed is not None else followed(context) if followed is not None else []
            acting = applied_forces(self.forces, time, plant.time_step())
            plant.get_applied_spatial_force_input_port().FixValue(context, [*others, *acting])
            self._pushed = bool(acting)
        return context
