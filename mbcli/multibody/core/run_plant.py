"""The plant that a run steps: the elements of another one, with what acts in its steps alone."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, TypeVar

from mbcli.multibody.core.finalize import renew_model_and_geometries
from mbcli.multibody.core.geometry import compiled_geometries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.multibody.compilation.joint_end_laws import PositionStop, VelocityLimit
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.multibody.tree.pd_law import ControllerOfRun

P = TypeVar("P", bound="PlantData")


def plant_of_run(
    plant: P,
    *,
    controllers: Mapping[JointActuator, ControllerOfRun] | None = None,
    stops: Sequence[PositionStop] | None = None,
    speeds: Sequence[VelocityLimit] | None = None,
) -> P:
    """A plant with the elements, parameters and geometries of a finalized one, which stays as it is.

    Elements and contexts of either are known to the other; the steps of a context are those of the plant that made it.

    Args:
        controllers: of actuators, in place of their own.
        stops: at the position limits of a continuous plant.
        speeds: at which velocities end.
        None of them: as in `plant`.
    """
    plant.require_finalized("plant_of_run")
    if plant.scene_graph is not None:
        compiled_geometries(plant)  # here, where both find them
    made = copy.copy(plant)
    made.made_input_ports = made.made_output_ports = None  # which know their plant
    vars(made).pop("output_ports_by_name", None)
    if controllers is not None:
        made.controllers_of_run, made.mixes_controllers = {**plant.controllers_of_run, **controllers}, True
    if stops is not None:
        made.position_stops = tuple(stops)
    if speeds is not None:
        made.velocity_limits = tuple(speeds)
    renew_model_and_geometries(made)
    return made
