"""LoggedPlant: the plant of a run, as the columns of its log depend on it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.core.contact import has_torsional_friction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.math.array_types import IntArray


class LoggedPlant:
    """The plant of a run and the units of its actuators, which are those of the log.

    Args:
        plant: finalized.
        actuator_units: one an actuator.
        position_units, velocity_units: one a position, one a velocity.
        lent: {name: what an actor of the run lends to its field}; "plan": what the run follows, None for nothing.
    """

    def __init__(
        self,
        plant: Any,
        actuator_units: tuple[str, ...],
        position_units: tuple[str, ...] = (),
        velocity_units: tuple[str, ...] = (),
        lent: Mapping[str, Any] | None = None,
    ) -> None:
        self.plant, self.actuator_units, self.lent = plant, actuator_units, lent or {}
        self.loads: Any = None  # LoadedStates of a run that is being logged
        self.sensor_rows: Any = None  # SensorRows of a run that is being logged
        self._position_units, self._velocity_units = position_units, velocity_units

    def plan_columns(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Names of the positions of the joints of the plan, their units and those of their velocities."""
        names, units, plan = self.plant.GetPositionNames(), self._position_units, self.lent["plan"]
        rates = tuple(self._velocity_units[k] for k in plan.dofs)
        return tuple(names[k] for k in plan.places), tuple(units[k] for k in plan.places), rates

    def aim_columns(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Names of the actuators with PD controllers, the units of what they aim at: positions, and velocities."""
        names, model = self.plant.GetActuatorNames(), self.plant.model
        dofs = model.actuator_dof[model.pd_actuator]
        positions = tuple(self._position_units[model.dof_q[k]] for k in dofs)
        return tuple(names[k] for k in model.pd_actuator), positions, tuple(self._velocity_units[k] for k in dofs)

    @cached_property
    def context(self) -> Any:
        """A context to evaluate rows in."""
        return self.plant.CreateDefaultContext()

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of all bodies with those of their models; World's, the first, is "world"."""
        return tuple(self.plant.name_in_contact(body) for body in self.plant.elements.bodies)

    @property
    def geometry_names(self) -> tuple[str, ...]:
        """Names of all geometries that can touch."""
        inspector = self.plant.scene_graph.model_inspector()
        return tuple(inspector.GetName(geometry) for geometry in self.plant.compiled_geometries().ids)

    @cached_property
    def body_of_geometry(self) -> IntArray:
        """The number of the body of each of these geometries."""
        bodies = self.plant.geometry_bodies
        return np.array([int(bodies[geometry].index()) for geometry in self.plant.compiled_geometries().ids])

    @cached_property
    def has_surfaces(self) -> bool:
        """Whether contacts may be surfaces."""
        return bool(self.plant.asks_for_surfaces())

    @cached_property
    def has_moments(self) -> bool:
        """Whether contacts are points and may have moments."""
        return not self.has_surfaces and bool(has_torsional_friction(self.plant))
