"""What a controller returns: efforts of actuators, and what the PD controllers of the model aim at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.coordinate_names import NamedCoordinates
from mbcli.common.fast_dataclass import dataclass
from mbcli.errors import ArgumentError, ControlError
from mbcli.simulation.effort_limits import EffortLimits, Exceeded
from mbcli.simulation.plugins.commands import PluginCommands
from mbcli.simulation.servo_controls import ServoControls

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

TARGET, VELOCITY = ".target", ".target_velocity"


@dataclass(frozen=True)
class Command:
    """What a controller asks for. None leaves what was asked for before.

    Args:
        u: (nu,) efforts of the actuators [N m or N], of servos of MJCF their controls.
        positions: (k,) [rad or m] that PD controllers aim at, in the order of their actuators.
        velocities: (k,) [rad/s or m/s].
    """

    u: ArrayLike | None = None
    positions: ArrayLike | None = None
    velocities: ArrayLike | None = None


class Commands:
    """Puts what a controller returns into the arrays of a run.

    Args:
        plant: finalized.
        effort_limits: "clamp", "warn" or "ignore".
        period: [s] between two calls.
        count: number of worlds that are controlled at once, whose arrays have an axis of worlds first; None: one run.

    Attributes:
        asked: (nu,) of which actuators something was asked so far.

    Raises ControlError for what a run cannot take.
    """

    def __init__(self, plant: MultibodyPlant, effort_limits: str, period: float, count: int | None = None) -> None:
        self.actuator_names = plant.GetActuatorNames()
        self.count = count
        self._worlds = () if count is None else (count,)
        self._nu = plant.num_actuators()
        self.asked = np.zeros(self._nu, dtype=bool)
        self._servos = ServoControls(plant)
        self._has_servos = any(a.control is not None for a in plant.elements.actuators)
        self._names = NamedCoordinates(self.actuator_names, "actuator")
        self._rows = {int(k): row for row, k in enumerate(plant.model.pd_actuator)}
        self.controlled = [self.actuator_names[k] for k in self._rows]
        self.limits, self.period = EffortLimits(plant, effort_limits, period), period
        self._plugins = PluginCommands(plant if count is None else None)
        self.asked_of_plugins = self._plugins.start()

    def take(self, answer: Any, u: FloatArray, desired: FloatArray) -> None:
        """An answer -> the actuation u (nu,) and the aims (k, 2) of PD controllers."""
        if isinstance(answer, Command):
            self._take_command(answer, u, desired)
        elif isinstance(answer, Mapping):
            self._take_names(answer, u, desired)
        else:
            self._take_efforts(answer, u)

    def exceeded(self) -> list[Exceeded]:
        """The actuators of which more was asked than their effort limits."""
        return self.limits.exceeded()

    def _take_efforts(self, answer: ArrayLike, u: FloatArray) -> None:
        values = _numbers(answer, self._worlds, self._nu, "efforts")
        self.asked[:] = True
        if self._has_servos:
            values = self._forces(values)
        u[:] = self.limits.take(values)

    def _forces(self, values: FloatArray) -> FloatArray:
        try:
            return self._servos.forces(values)
        except ArgumentError as error:
            raise ControlError(f"returned what has no effect: {error}") from None

    def _take_command(self, command: Command, u: FloatArray, desired: FloatArray) -> None:
        if command.u is not None:
            self._take_efforts(command.u, u)
        for column, values in enumerate((command.positions, command.velocities)):
            if values is not None:
                what = "velocities of targets" if column else "positions of targets"
                self.asked[list(self._rows)] = True
                desired[..., column] = _numbers(values, self._worlds, desired.shape[-2], what)

    def _take_names(self, answer: Mapping[Any, Any], u: FloatArray, desired: FloatArray) -> None:
        given = np.full((*self._worlds, self._nu), np.nan)
        for name, value in answer.items():
            if self._take_plugin(name, value):
                continue
            number = _number(value, name) if not self._worlds else _column(value, self._worlds, name)
            stem, column = _of_target(name)
            try:
                k = self._names.find(stem)
            except LookupError as error:
                raise ControlError(f"returned what the model does not have: {error.args[0]}") from None
            self.asked[k] = True
            if column is None:
                given[..., k] = number
            elif k in self._rows:
                desired[..., self._rows[k], column] = number
            else:
                raise ControlError(f"actuator '{self.actuator_names[k]}' has no PD controller that acts: no target")
        if np.isfinite(given).any():
            values = self._forces(given) if self._has_servos else given
            u[:] = self.limits.take(np.where(np.isfinite(given), values, u))

    def _take_plugin(self, name: Any, value: Any) -> bool:
        """Whether a name is what a plugin takes."""
        try:
            k = self._plugins.find(name)
        except LookupError as error:
            raise ControlError(f"returned what is not clear: {error.args[0]}") from None
        if k is None:
            return False
        self.asked_of_plugins[k] = _number(value, name)
        return True


def _of_target(name: Any) -> tuple[str, int | None]:
    """(actuator, 0 for the position or 1 for the velocity that its controller aims at, None for its effort)."""
    if not isinstance(name, str):
        raise ControlError(f"gave the key {name!r}: keys are names of actuators")
    if name.endswith(VELOCITY):
        return name.removesuffix(VELOCITY), 1
    return (name.removesuffix(TARGET), 0) if name.endswith(TARGET) else (name, None)


def _number(value: Any, name: object) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ControlError(f"gave {value!r} for '{name}': a number is wanted") from None
    if not np.isfinite(number):
        raise ControlError(f"gave {number} for '{name}'")
    return number


def _column(values: Any, worlds: tuple[int, ...], name: object) -> FloatArray:
    """(n,) finite numbers of a name, or one for all worlds."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ControlError(f"gave {_short(values)} for '{name}': numbers of all worlds are wanted") from None
    if array.shape not in ((), worlds):
        raise ControlError(f"gave {array.shape} numbers for '{name}': {worlds[0]}, one a world, are wanted")
    if not np.isfinite(array).all():
        raise ControlError(f"gave {array[~np.isfinite(array)][0]} for '{name}'{_of_world(array)}")
    return array


def _of_world(array: FloatArray) -> str:
    """Which world the first number is of that is not finite, in words; "" of an array for all."""
    return f" of world {int(np.argwhere(~np.isfinite(array))[0][0])}" if array.ndim else ""


def _numbers(values: Any, worlds: tuple[int, ...], size: int, what: str) -> FloatArray:
    """(size,) finite numbers, of worlds (n, size)."""
    if values is None:
        raise ControlError(f"returned None: {size} {what}, {{name: number}} or a Command are wanted")
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ControlError(f"returned {_short(values)}: {size} {what} are wanted") from None
    if size == 1 and array.shape in ((), worlds):
        array = array[..., np.newaxis]
    if array.shape != (size,) and array.shape != (*worlds, size):
        wanted = f"{(*worlds, size)}, a row a world," if worlds else size
        raise ControlError(f"returned {what} of shape {array.shape}: {wanted} are wanted")
    if not np.isfinite(array).all():
        place = tuple(np.argwhere(~np.isfinite(array))[0])
        of_world = _of_world(array) if array.ndim > 1 else ""
        raise ControlError(f"returned {array[place]} as number {place[-1]} of the {what}{of_world}")
    return np.broadcast_to(array, (*worlds, size)) if worlds else array


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
