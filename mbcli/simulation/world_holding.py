"""Controllers that hold and drive joints of worlds where each of them is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.simulation.held_joint import held_at
from mbcli.simulation.static_efforts import static_efforts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.simulation.held_joint import Held


def hold_worlds(worlds: Any, model: Any, controllers: Mapping[JointActuator, Held], held: bool) -> None:
    """As Worlds.hold_here(), of these controllers; model: the arrays of the plant."""
    plant = worlds.plant
    low, high = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    places = model.dof_q[model.actuator_dof[model.pd_actuator]]
    driven = {actuator.input_start() for actuator, each in controllers.items() if each.p == 0.0}
    here = [held or int(actuator) in driven for actuator in model.pd_actuator]
    worlds.desired[:, here, 0] = np.clip(worlds.q, low, high)[:, places[here]]
    for k, q in enumerate(worlds.q):
        holding = held_at(controllers, q) if held else controllers
        efforts = {a.input_start(): effort for a, effort in static_efforts(plant, q, holding).items()}
        worlds.carried[k] = [efforts.get(int(actuator), 0.0) for actuator in model.pd_actuator]
