"""The motion of a system as a function of its state and one input, with exact derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.multibody.core.contact import meets_contact
from mbcli.multibody.core.inputs import may_act_continuously, u_indices
from mbcli.multibody.linearization.motion_derivatives import plant_derivatives
from mbcli.multibody.linearization.plant_values import values_at
from mbcli.multibody.plant.state_functions import StateFunctions
from mbcli.multibody.state.context import Context as PlantContext
from mbcli.systems.linear_systems import ELSEWHERE, StateAndInput, lone_plant, plants_port
from mbcli.systems.port_selection import InputPortSelection

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

    Slopes = tuple[FloatArray, FloatArray]

REMEMBERED = 2000  # states with inputs, of which a program asks again


class MotionSlopes:
    """xdot, or the state after a period, of [x, u]: values (nx,) and slopes (nx, nx + nu), remembered.

    Args:
        system: a plant, a LeafSystem or a Diagram; context: its parameters and its other inputs, which is copied.
        input_port: an index or a selection.

    Attributes:
        num_states, num_inputs
        time_period: [s], 0 for a continuous system.

    RuntimeError for a system with discrete state beside continuous state, unless `others_are_fixed`.
    """

    def __init__(self, system: Any, context: Any, input_port: Any, others_are_fixed: bool = False) -> None:
        motion: Any = None
        plant, own, port = system, context, None
        if isinstance(context, PlantContext):
            port = _name_of_port(system, input_port)
        else:
            plant, own = lone_plant(system, context) or (None, None)
            if plant is not None:
                port = plants_port(plant, input_port, system.input_ports(), InputPortSelection, is_diagram=True)
        if plant is not None and port != ELSEWHERE:
            motion = _FreePlant.of(plant, own.Clone(), port) or _Plant(plant, own.Clone(), port)
        else:
            motion = StateAndInput(system, context, input_port, None, others_are_fixed)
        self._motion = motion
        self.num_states, self.num_inputs, self.time_period = motion.num_states, motion.num_inputs, motion.time_period
        self._values: dict[bytes, FloatArray] = {}
        self._slopes: dict[bytes, Slopes] = {}

    def values(self, z: FloatArray) -> FloatArray:
        """(nx,) at z = [x, u], which nobody may change."""
        key = z.tobytes()
        if key in self._slopes:
            return self._slopes[key][0]
        if key not in self._values:
            if len(self._values) >= REMEMBERED:
                self._values.clear()
            self._values[key] = self._motion.values(z)
        return self._values[key]

    def slopes(self, z: FloatArray) -> Slopes:
        """(values, derivatives by z) at z, which nobody may change."""
        key = z.tobytes()
        if key not in self._slopes:
            if len(self._slopes) >= REMEMBERED:
                self._slopes.clear()
            self._slopes[key] = self._motion.slopes(z)
        return self._slopes[key]


def _name_of_port(plant: Any, port: Any) -> str | None:
    """Of a plant's port by its index; the actuation, where there is some, by a selection."""
    if not isinstance(port, InputPortSelection):
        return str(plant.get_input_port(int(port)).get_name())
    if port is InputPortSelection.kNoInput or not plant.num_actuated_dofs():
        return None
    return "actuation"


class _Plant:
    """A plant by its linearization."""

    def __init__(self, plant: Any, context: Any, port: str | None) -> None:
        self._plant, self._context, self._port = plant, context, port
        self.num_states = plant.num_multibody_states()
        self.num_inputs = 0 if port is None else plant.GetInputPort(port).size()
        self.time_period = plant.time_step()
        if self.num_inputs:
            plant.GetInputPort(port).FixValue(context, np.zeros(self.num_inputs))

    def _go_to(self, z: FloatArray) -> None:
        self._plant.SetPositionsAndVelocities(self._context, z[: self.num_states])
        if self.num_inputs:
            self._plant.GetInputPort(self._port).FixValue(self._context, z[self.num_states :])

    def values(self, z: FloatArray) -> FloatArray:
        if self.time_period:
            return self.slopes(z)[0]
        self._go_to(z)
        return self._plant.EvalTimeDerivatives(self._context).CopyToVector()

    def slopes(self, z: FloatArray) -> Slopes:
        self._go_to(z)
        A, B, _, _, f, _, _ = plant_derivatives(self._plant, self._context, self._port, None)
        return f, np.hstack([A, B])


class _FreePlant:
    """A continuous plant that nothing touches or holds, by closed forms without a context."""

    time_period = 0.0

    def __init__(self, plant: Any, context: Any, functions: StateFunctions, port: str | None) -> None:
        self._functions, start, B = functions, values_at(plant, context), plant.MakeActuationMatrix()
        nq, nv = plant.num_positions(), plant.num_velocities()
        limits = np.full(B.shape[1], np.inf)
        if plant.settings.drakes_actuators:
            limits = np.minimum(plant.GetEffortUpperLimits(), -plant.GetEffortLowerLimits())
        columns = list(range(B.shape[1]))
        if port == "applied_generalized_force":
            self._tau, own, self._limits = B @ np.clip(start.u, -limits, limits), np.eye(nv), np.full(nv, np.inf)
        else:
            for instance, name in enumerate(plant.elements.instance_names):
                columns = u_indices(plant, instance) if port == f"{name}_actuation" else columns
            columns = [] if port is None else columns
            others = np.clip(start.u, -limits, limits)
            others[columns] = 0.0
            self._tau, own, self._limits = start.tau + B @ others, B[:, columns], limits[columns]
        self._B, self._nq, self._one = own, nq, np.eye(nq)
        self._is_limited = bool(np.isfinite(self._limits).any())
        self.num_states, self.num_inputs = nq + nv, own.shape[1]

    @staticmethod
    def of(plant: Any, context: Any, port: str | None) -> _FreePlant | None:
        """None for a plant that is not one, or a port that is no force."""
        is_force = port in (None, "actuation", "applied_generalized_force") or str(port).endswith("_actuation")
        is_free = not (plant.is_discrete() or plant.elements.constraints or meets_contact(plant))
        rates = plant.num_positions() == plant.num_velocities()
        if not (is_force and is_free and rates) or may_act_continuously(plant):
            return None
        if context.inputs.value("applied_spatial_force", context):
            return None
        try:
            functions = StateFunctions(plant, context)
            made = _FreePlant(plant, context, functions, port)
            made.slopes(np.zeros(made.num_states + made.num_inputs))
        except ModelError:
            return None
        return made

    def _force(self, u: FloatArray) -> FloatArray:
        return self._tau + self._B @ (np.clip(u, -self._limits, self._limits) if self._is_limited else u)

    def values(self, z: FloatArray) -> FloatArray:
        q, v = z[: self._nq], z[self._nq : self.num_states]
        return np.concatenate([v, self._functions.forward_dynamics(q, v, self._force(z[self.num_states :]))])

    def slopes(self, z: FloatArray) -> Slopes:
        q, v, u = z[: self._nq], z[self._nq : self.num_states], z[self.num_states :]
        by_q, by_v, by_tau = self._functions.forward_dynamics_derivatives(q, v, self._force(u))
        J = np.zeros((self.num_states, z.size))
        J[: self._nq, self._nq : self.num_states] = self._one
        J[self._nq :, : self._nq], J[self._nq :, self._nq : self.num_states] = by_q, by_v
        J[self._nq :, self.num_states :] = by_tau @ self._B * (np.abs(u) < self._limits)
        return self.values(z), J
