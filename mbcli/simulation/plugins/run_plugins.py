"""Plugins in a run: at each step their laws give efforts, velocities of joints and forces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.engine.fields.model_fields import SCHEME_MIDDLE
from mbcli.errors import ArgumentError
from mbcli.multibody.core.inputs import steps_with_controllers
from mbcli.multibody.state.context import Context
from mbcli.plugins import PLUGINS, names_of
from mbcli.simulation.control.commands import Commands
from mbcli.simulation.control.run_controller import RunController
from mbcli.simulation.effort_limits import EffortLimits
from mbcli.simulation.held_joint import Held
from mbcli.simulation.plugins.moment import Moment
from mbcli.simulation.servo_ticks import SERVO_PERIOD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.stepping.inputs import LinkForce
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.simulation.plugins.commands import PluginCommands

RIGID = 1e6  # h Kd over the inertia of a driven joint
WHOLE = 1e-6  # of a step: times closer than this to a tick are it


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


class PluginController(RunController):
    """The controller of a run whose model has plugins.

    Args:
        context: of a run, whose plant has the PD controllers of the run; its parameters count.
        plugins: PluginCommands of the plant.
        inner: the controller that the run would have without plugins, or None.
        given: time -> (efforts (nu,), commands (n,)) without one.
        effort_limits: "clamp", "warn" or "ignore".
        drives: whether plugins drive joints, by the controllers of plugin_drives().
    """

    def __init__(
        self,
        context: Context,
        plugins: PluginCommands,
        inner: Any,
        given: Callable[[float], tuple[FloatArray, FloatArray]],
        effort_limits: str,
        drives: bool,
    ) -> None:
        plant: MultibodyPlant = context.state.plant
        h = plant.time_step()
        base = h or SERVO_PERIOD
        calls = 1 if inner is None else math.ceil(inner.period / base - WHOLE)  # of the laws, between two of the inner
        period = base if inner is None else inner.period / max(calls, 1)
        commands = Commands(plant, effort_limits, period) if inner is None else getattr(inner, "commands", None)
        super().__init__("plugins", commands or Commands(plant, effort_limits, period))
        self.period = period
        self._inner, self._given, self._plugins = inner, given, plugins
        self._limits = EffortLimits(plant, effort_limits)
        self._inner_u = np.zeros(plant.num_actuators())
        self._memory = [law.memory.copy() for law in plugins.laws]
        inputs = {a.joint().velocity_start(): a.input_start() for a in plant.elements.actuators}
        rows = {int(k): row for row, k in enumerate(plant.model.pd_actuator)}
        joints = list(dict.fromkeys(joint for law in plugins.laws for joint in law.driven))
        starts = [joint.velocity_start() for joint in joints]
        driven = {d: rows[inputs[d]] for d in starts} if drives else {}
        pushed = list(dict.fromkeys(body for law in plugins.laws for body in law.pushed))
        self._moment = Moment(context, period, time_of_forces(plant, period), inputs, driven, pushed)

    @property
    def forces(self) -> list[LinkForce]:
        """Those that its calls change."""
        return self._moment.forces

    def start(self) -> None:
        """Before the run."""
        if isinstance(self._inner, RunController):
            self._inner.start()

    def stop(self) -> None:
        """After it."""
        if isinstance(self._inner, RunController):
            self._inner.stop()

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """The inner controller, where its call is due, then the laws."""
        values = self._asked(time, q, v, desired)
        now = self._moment
        now.begin(time, q, v)
        first = 0
        for law, memory in zip(self._plugins.laws, self._memory, strict=True):
            last = first + len(law.inputs)
            law.act(now, values[first:last].tolist(), memory)
            first = last
        now.finish()
        u[:] = self._limits.cut(self._inner_u + now.u)
        for row, velocity in now.aims.items():
            desired[row] = 0.0, velocity

    def _asked(self, time: float, q: FloatArray, v: FloatArray, desired: FloatArray) -> FloatArray:
        if self._inner is None:
            self._inner_u[:], values = self._given(time)
            return values
        if abs(time / self._inner.period - round(time / self._inner.period)) * self._inner.period < WHOLE * self.period:
            self._inner.call(time, q, v, self._inner_u, desired)
        return self.commands.asked_of_plugins

    def save(self) -> dict[str, FloatArray]:
        """What laws remember, and the inner controller."""
        inner = {} if self._inner is None else self._inner.save()
        kept = {"plugins": np.concatenate([np.zeros(0), *self._memory]), "plugins_u": self._inner_u.copy()}
        kept["plugins_forces"] = np.array([force.force for force in self.forces]).reshape(-1, 6)
        kept |= self._moment.resistance.save()
        return inner | kept | {"plugins_asked": self.commands.asked_of_plugins.copy()}

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """The contrary of save()."""
        ends = np.cumsum([len(memory) for memory in self._memory])
        for memory, part in zip(self._memory, np.split(saved["plugins"], ends[:-1]), strict=True):
            memory[:] = part
        self._inner_u[:], self.commands.asked_of_plugins[:] = saved["plugins_u"], saved["plugins_asked"]
        for force, values in zip(self.forces, saved["plugins_forces"].reshape(-1, 6), strict=True):
            force.force[:] = values
        self._moment.resistance.load(saved)
        if self._inner is not None:
            self._inner.load({name: value for name, value in saved.items() if not name.startswith("plugins")})


def plugins_in_words(plant: MultibodyPlant, commands: PluginCommands) -> list[str]:
    """Lines on which plugins act, and what may be asked of them."""
    kinds = dict.fromkeys(name for plugin in plant.elements.plugins for name in names_of(PLUGINS[plugin.kind])[:1])
    lines = [f"plugins act: {', '.join(kinds)}"] if kinds else []
    if len(commands):
        units = [f"{name} [{each.unit}]" for name, each in zip(commands.names(), commands.inputs, strict=True)]
        lines.append(f"{argument('inputs')} takes {listed(units)}")
    return lines
