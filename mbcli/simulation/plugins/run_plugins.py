"""Plugins in a run: at each step their laws give efforts, velocities of joints and forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.engine.fields.model_fields import SCHEME_MIDDLE
from mbcli.errors import ArgumentError
from mbcli.multibody.core.inputs import steps_with_controllers
from mbcli.multibody.state.context import Context
from mbcli.plugins import PLUGINS, names_of
from mbcli.simulation.control.beside import Beside, period_beside
from mbcli.simulation.effort_limits import EffortLimits
from mbcli.simulation.held_joint import Held
from mbcli.simulation.plugins.moment import Moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.simulation.plugins.commands import PluginCommands

RIGID = 1e6  # h Kd over the inertia of a driven joint


def plugin_drives(plant: MultibodyPlant, commands: PluginCommands, q: Vector, held: bool) -> dict[JointActuator, Held]:
    """The PD controllers by which plugins drive joints at velocities; none where other controllers hold the joints.

    ArgumentError if joints are to be driven and steps take no controllers.
    """
    joints = list(dict.fromkeys(joint for law in commands.laws for joint in law.driven))
    if not joints or held:
        return {}
    if not steps_with_controllers(plant):
        names = listed([joint.name() for joint in joints])
        raise ArgumentError(
            f"plugins of the file drive joints at velocities, which takes discrete steps other than tamsi's: {names}; "
            f"give {argument('dt')} a step"
        )
    context = Context(plant, compiled=False)
    plant.SetPositions(context, q)
    mobility = np.diag(np.linalg.pinv(plant.CalcMassMatrix(context)))
    found = {}
    for actuator in plant.elements.actuators:
        joint = actuator.joint()
        if joint in joints:
            inertia = 1.0 / max(float(mobility[joint.velocity_start()]), 1e-12)
            found[actuator] = Held(float(q[joint.position_start()]), 0.0, 0.0, RIGID * inertia / plant.time_step())
    return found


def time_of_forces(plant: MultibodyPlant, period: float) -> float:
    """[s] after the start of a step: where it takes forces, see docs/explanation/discrete_steps.md.

    Between the calls of a continuous plant it is halfway: forces that hold for a period then do the work of their own.
    """
    if plant.is_discrete():
        in_middle = plant.model.step_scheme[SCHEME_MIDDLE] == 1 or plant.elements.constraints
        return 0.5 * plant.time_step() if in_middle and not plant.meets_contact() else 0.0
    return 0.5 * period


class PluginController(Beside):
    """The controller of a run whose model has plugins.

    Args:
        context: of a run, whose plant has the PD controllers of the run; its parameters count.
        plugins: PluginCommands of the plant.
        inner, given, effort_limits: as of Beside.
        asked_at: time [s] -> (n,) what is asked of plugins where no controller does so.
        drives: whether plugins drive joints, by the controllers of plugin_drives().
    """

    def __init__(
        self,
        context: Context,
        plugins: PluginCommands,
        inner: Any,
        given: Callable[[float], FloatArray],
        effort_limits: str,
        asked_at: Callable[[float], FloatArray],
        drives: bool,
    ) -> None:
        plant: MultibodyPlant = context.state.plant
        self._plugins, self._limits = plugins, EffortLimits(plant, effort_limits)
        self._asked_at = None if inner is not None else asked_at
        inputs = {a.joint().velocity_start(): a.input_start() for a in plant.elements.actuators}
        rows = {int(k): row for row, k in enumerate(plant.model.pd_actuator)}
        joints = list(dict.fromkeys(joint for law in plugins.laws for joint in law.driven))
        starts = [joint.velocity_start() for joint in joints]
        driven = {d: rows[inputs[d]] for d in starts} if drives else {}
        pushed = list(dict.fromkeys(body for law in plugins.laws for body in law.pushed))
        period = period_beside(plant, inner)
        self._moment = now = Moment(context, period, time_of_forces(plant, period), inputs, driven, pushed)
        memory = np.concatenate([np.zeros(0), *(law.memory for law in plugins.laws)])
        self._memory = np.split(memory, np.cumsum([len(law.memory) for law in plugins.laws])[:-1])
        kept = {"": memory, **now.resistance.kept}
        super().__init__("plugins", plant, inner, given, effort_limits, self._follow_laws, now.forces, kept)

    def _follow_laws(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        now, asked = self._moment, self.commands.asked_of_plugins
        if self._asked_at is not None:
            asked = self._asked_at(time)
        now.begin(time, q, v)
        first = 0
        for law, memory in zip(self._plugins.laws, self._memory, strict=True):
            last = first + len(law.inputs)
            law.act(now, asked[first:last].tolist(), memory)
            first = last
        now.finish()
        u[:] = self._limits.cut(u + now.u)
        for row, velocity in now.aims.items():
            desired[row] = 0.0, velocity


def plugins_in_words(plant: MultibodyPlant, commands: PluginCommands) -> list[str]:
    """Lines on which plugins act, and what may be asked of them."""
    kinds = dict.fromkeys(name for plugin in plant.elements.plugins for name in names_of(PLUGINS[plugin.kind])[:1])
    lines = [f"plugins act: {', '.join(kinds)}"] if kinds else []
    if len(commands):
        units = [f"{name} [{each.unit}]" for name, each in zip(commands.names(), commands.inputs, strict=True)]
        lines.append(f"{argument('inputs')} takes {listed(units)}")
    return lines
