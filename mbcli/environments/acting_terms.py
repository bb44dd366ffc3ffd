"""The terms of tasks that act in worlds: actions, commands, events. One small function each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.environments.term_registry import ACTIONS, COMMANDS, EVENTS, Action, term_of
from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    from mbcli.environments.task_worlds import TaskWorlds
    from mbcli.environments.term_kinds import (
        Actuators,
        Controlled,
        Every,
        File,
        Link,
        NewName,
        Positive,
        Range,
        Velocities,
        Whole,
    )
    from mbcli.math.array_types import Array, FloatArray, IntArray, Matrix, Vector


# ----------------------------------------------------------------------------------------------- actions


@term_of(ACTIONS)
def efforts(worlds: TaskWorlds, *, of: Actuators, most: Positive | None = None) -> Action:
    """Efforts: 1 is the effort limit of an actuator, or `most` [N m or N] if that is less."""
    limits = worlds.plant.GetEffortUpperLimits()[of]
    largest = limits if most is None else np.minimum(limits, most)
    free = [name for name, limit in zip(_names(worlds, of), largest, strict=True) if not np.isfinite(limit)]
    if free:
        raise ArgumentError(f'actuator "{free[0]}" has no effort limit: "most" states the effort of the action 1')

    def apply(worlds: TaskWorlds, action: FloatArray) -> None:
        worlds.u[:, of] = largest * action

    return Action(len(of), apply)


@term_of(ACTIONS)
def motors(worlds: TaskWorlds, *, of: Actuators, most: Positive, stall: Positive, speed: Positive) -> Action:
    """Efforts of DC motors: 1 is `most`; the largest falls from `stall` [N m or N] at rest to 0 at `speed`."""
    limits, joints = np.minimum(worlds.plant.GetEffortUpperLimits()[of], most), _joints(worlds)[of, 1]
    wanted = np.zeros((len(worlds), len(of)))

    def each_step() -> None:
        part = worlds.v[:, joints] / speed
        least, most = np.maximum(-limits, -stall * (1.0 + part)), np.minimum(limits, stall * (1.0 - part))
        worlds.u[:, of] = np.clip(wanted, least, most)

    def apply(worlds: TaskWorlds, action: FloatArray) -> None:
        wanted[:] = most * action

    worlds.each_step = each_step
    return Action(len(of), apply)


@term_of(ACTIONS)
def network(worlds: TaskWorlds, *, of: Actuators, file: File, scale: Positive, history: Whole) -> Action:
    """Efforts that a network of an ONNX file gives for targets as of `targets` with `scale`, at each time step.

    Its input is a row for each actuator: position less target of this step and of those before, `history` in all, then
    the velocities of these steps; its output is the effort.
    """
    from mbcli.environments.network_file import NetworkFile  # late: few tasks have one

    motor, plant = NetworkFile(file), worlds.plant
    for own, count, what in ((motor.width_in, 2 * history, "takes"), (motor.width_out, 1, "gives")):
        if own not in (None, count):
            raise ArgumentError(f"{motor.path} {what} {own} numbers, not {count} for each actuator")
    places, dofs = np.transpose(_joints(worlds))[:, of]
    limits, (low, high) = plant.GetEffortUpperLimits()[of], _limits_at(worlds, places)
    middle = worlds.start_state[0][places]
    wanted = np.tile(middle, (len(worlds), 1))

    def each_step() -> None:
        errors = worlds.kept("motor errors", worlds.q[:, places] - wanted, history, None)
        speeds = worlds.kept("motor speeds", worlds.v[:, dofs], history, None)
        rows = np.concatenate([errors, speeds], axis=1).transpose(0, 2, 1)
        worlds.u[:, of] = np.clip(motor(rows.reshape(-1, 2 * history)).reshape(wanted.shape), -limits, limits)

    def apply(worlds: TaskWorlds, action: FloatArray) -> None:
        wanted[:] = np.clip(middle + scale * action, low, high)

    worlds.each_step = each_step
    return Action(len(of), apply)


@term_of(ACTIONS)
def targets(worlds: TaskWorlds, *, of: Controlled, scale: Positive) -> Action:
    """Positions that controllers aim at: of the start, plus `scale` [rad or m] times the action, within limits."""
    low, high = (bounds[of] for bounds in _limits_of_controlled(worlds))
    middle = worlds.start_desired[of, 0]

    def apply(worlds: TaskWorlds, action: FloatArray) -> None:
        worlds.desired[:, of, 0] = np.clip(middle + scale * action, low, high)

    return Action(len(of), apply)


@term_of(ACTIONS)
def targets_in_range(worlds: TaskWorlds, *, of: Controlled) -> Action:
    """Positions that controllers aim at: -1 is the lower limit of a joint and 1 the upper one."""
    low, high = (bounds[of] for bounds in _limits_of_controlled(worlds))
    if not np.isfinite(high - low).all():
        name = worlds.controlled[int(of[np.flatnonzero(~np.isfinite(high - low))[0]])]
        raise ArgumentError(f'the joint of actuator "{name}" has no limits: "targets" is for such joints')

    def apply(worlds: TaskWorlds, action: FloatArray) -> None:
        worlds.desired[:, of, 0] = 0.5 * (low + high + (high - low) * action)

    return Action(len(of), apply)


# ----------------------------------------------------------------------------------- commands and events


@term_of(COMMANDS)
def velocity(
    worlds: TaskWorlds, *, name: NewName, x: Range, y: Range, turn: Range, every: Every | None = None
) -> Matrix:
    """Velocities along x and y of a body [m/s] and about its z [rad/s], drawn anew after `every` [s], or once."""
    low, high = np.transpose([x, y, turn])
    part = np.zeros_like(worlds.periods) if every is None else worlds.periods // every
    return worlds.random(f"command {name}", part).uniform(low, high, 3)


@term_of(COMMANDS)
def place(
    worlds: TaskWorlds, *, name: NewName, x: Range, y: Range, heading: Range, every: Every | None = None
) -> Matrix:
    """A place x, y [m] in World and a heading about z [rad], drawn anew after `every` [s], or once."""
    return velocity(worlds, name=name, x=x, y=y, turn=heading, every=every)


@term_of(EVENTS)
def push(worlds: TaskWorlds, *, body: Link, force: Range, lasting: Every, every: Every) -> None:
    """A horizontal force [N] in a range acts at a body's centre of mass for `lasting` [s], after each `every` [s]."""
    part, since = np.divmod(worlds.periods, every)
    label = f"push {body} {force} {lasting} {every}"
    size, angle = worlds.random(label, part).uniform([force[0], 0.0], [force[1], 2.0 * np.pi], 2).T
    size = np.where((part > 0) & (since < lasting), size, 0.0)
    worlds.push_on(label, body, np.stack([size * np.cos(angle), size * np.sin(angle), np.zeros(len(size))], axis=1))


@term_of(EVENTS)
def kick(worlds: TaskWorlds, *, of: Velocities, within: Positive, every: Every) -> None:
    """Adds to velocities a number between -within and within [m/s or rad/s], at each whole multiple of `every` [s]."""
    due = (worlds.periods > 0) & (worlds.periods % every == 0)
    if due.any():
        drawn = worlds.random(f"kick {of.tolist()}", worlds.periods).uniform(-within, within, len(of))
        worlds.v[np.ix_(due, of)] += drawn[due]
        worlds.forget_motions()


def _names(worlds: TaskWorlds, of: Array) -> list[str]:
    names = worlds.plant.GetActuatorNames()
    return [names[k] for k in of]


def _joints(worlds: TaskWorlds) -> IntArray:
    """Places (nu, 2) in q and v of the joints of actuators."""
    found = np.zeros((worlds.plant.num_actuators(), 2), dtype=np.int64)
    for actuator in worlds.plant.elements.actuators:
        found[actuator.input_start()] = actuator.joint().position_start(), actuator.joint().velocity_start()
    return found


def _limits_of_controlled(worlds: TaskWorlds) -> tuple[Vector, Vector]:
    """Lower and upper limits (k,) [rad or m] of the joints that controllers drive."""
    names = worlds.plant.GetActuatorNames()
    return _limits_at(worlds, _joints(worlds)[[names.index(name) for name in worlds.controlled], 0])


def _limits_at(worlds: TaskWorlds, places: IntArray) -> tuple[Vector, Vector]:
    return worlds.plant.GetPositionLowerLimits()[places], worlds.plant.GetPositionUpperLimits()[places]
