"""The states of a run's rows with the efforts and forces that acted there, for what depends on accelerations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.multibody.core.finalize import replace_controllers
from mbcli.multibody.core.inputs import controlled_actuators
from mbcli.multibody.tree import PdControllerGains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Vector

APPLIED = "applied_spatial_force"


class LoadedStates:
    """A context of a plant in which the efforts and forces of a run act.

    Args:
        plant: of the run.
        context: of the run, whose parameters and inputs hold.
        forces: LinkForces that its steps take; the attribute may be changed.
        with_controllers: whether PD controllers act in it; if not, their efforts act as they were.
    """

    def __init__(self, plant: Any, context: Any, forces: Sequence[Any], with_controllers: bool = False) -> None:
        self._plant, self.forces = plant, forces
        controlled = () if with_controllers else controlled_actuators(plant)
        gains = {a: a.get_controller_gains() for a in controlled}
        mixes = plant.mixes_controllers
        if gains:
            replace_controllers(plant, dict.fromkeys(gains, PdControllerGains()))
        try:
            self.context = plant.CreateDefaultContext()
        finally:
            if gains:
                replace_controllers(plant, gains)
                plant.mixes_controllers = mixes
        self.context.inputs.take_from(context.inputs)
        state = self.context.state
        if context.state.parameters.values:
            state.parameters, state.parameters_current = context.state.parameters.copy(), False
        inputs = self.context.inputs
        for values in (inputs.fixed, inputs.followed):
            for name in [name for name in values if name.endswith("actuation")]:
                del values[name]
        self._pushed = False  # whether the port has forces of the state before
        self._others = [inputs.fixed.get(APPLIED), inputs.followed.get(APPLIED)]

    def at(self, time: float, q: Vector, v: Vector, effort: Vector) -> Any:
        """The context at a time [s], state and efforts (nu,) [N m or N]."""
        plant, context = self._plant, self.context
        context.SetTime(time)
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        if effort.size:
            plant.get_actuation_input_port().FixValue(context, effort)
        if self.forces or self._pushed:
            fixed, followed = self._others
            others = fixed if fixed is not None else followed(context) if followed is not None else []
            acting = [force.applied() for force in self.forces if force.acts_at(time)]
            plant.get_applied_spatial_force_input_port().FixValue(context, [*others, *acting])
            self._pushed = bool(acting)
        return context
