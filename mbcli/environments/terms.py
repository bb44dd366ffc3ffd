"""The terms of tasks: one small function each, of all worlds at once.

A term of a task file is a mapping whose `term` is the name of a function here. Its other keys are the keyword-only
parameters of the function: those without a default must be there. The annotation of a parameter is a kind of
`term_kinds.py`, which says what the file may have there and what the function gets. So a new term is a new function.

    observations  (worlds, ...) -> (n, k)
    rewards       (worlds, ...) -> (n,), which a task multiplies by `weight` and adds
    ends          (worlds, ...) -> (n,), whether an episode has come to its end
    starts        (start, ...), which changes the states of worlds that begin
    actions       (worlds, ...) -> Action
    commands      (worlds, ...) -> (n, k), what the task asks of the policy
    events        (worlds, ...), which happens before a period
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    from mbcli.environments.task_worlds import TaskWorlds
    from mbcli.environments.term_kinds import (
        Actuators,
        Axis,
        Bodies,
        Body,
        Commanded,
        Controlled,
        Coordinate,
        Every,
        NewName,
        Numbers,
        Positions,
        Positive,
        Range,
        Scalars,
        Sensing,
        Velocities,
    )
    from mbcli.environments.world_random import WorldRandom
    from mbcli.math.array_types import Array, BoolArray, FloatArray, Matrix, Vector


@dataclass(frozen=True)
class Action:
    """What a policy chooses: how many numbers from -1 to 1, and what they do to worlds, (worlds, action (n, size))."""

    size: int
    apply: Callable[[TaskWorlds, FloatArray], None]


@dataclass
class Start:
    """The states of m worlds that begin: q (m, nq), v (m, nv), which terms change, and their random numbers."""

    q: Matrix
    v: Matrix
    random: WorldRandom


@dataclass(frozen=True)
class Parameter:
    """A key of a term: its kind by name, and whether it must be there."""

    kind: str
    is_required: bool


@dataclass(frozen=True)
class Term:
    """A function of a registry, with the keys that it takes."""

    function: Callable[..., Any]
    parameters: dict[str, Parameter]

    @property
    def summary(self) -> str:
        """One line that says what it is."""
        return (self.function.__doc__ or "").partition("\n")[0]


OBSERVATIONS: dict[str, Term] = {}
REWARDS: dict[str, Term] = {}
ENDS: dict[str, Term] = {}
STARTS: dict[str, Term] = {}
ACTIONS: dict[str, Term] = {}
COMMANDS: dict[str, Term] = {}
EVENTS: dict[str, Term] = {}


def _of(registry: dict[str, Term]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that puts a function into a registry under its name."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = {
            name: Parameter(str(parameter.annotation), parameter.default is inspect.Parameter.empty)
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        registry[function.__name__] = Term(function, parameters)
        return function

    return add


# ------------------------------------------------------------------------------------------ observations


@_of(OBSERVATIONS)
def positions(worlds: TaskWorlds, *, of: Positions) -> Matrix:
    """Positions q [rad or m]."""
    return worlds.q[:, of]


@_of(OBSERVATIONS)
def velocities(worlds: TaskWorlds, *, of: Velocities) -> Matrix:
    """Velocities v [rad/s or m/s]."""
    return worlds.v[:, of]


@_of(OBSERVATIONS)
def sine_and_cosine(worlds: TaskWorlds, *, of: Positions) -> Matrix:
    """Sines of positions [rad], then their cosines."""
    angles = worlds.q[:, of]
    return np.hstack([np.sin(angles), np.cos(angles)])


@_of(OBSERVATIONS)
def body_position(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """x, y, z [m] of the origin of a body in World."""
    return worlds.position(body)


@_of(OBSERVATIONS)
def body_height(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """z [m] of the origin of a body in World."""
    return worlds.position(body)[:, 2:]


@_of(OBSERVATIONS)
def body_axes(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """Six numbers of a rotation: the x axis of a body in World, then its y axis."""
    R_WB = worlds.rotation(body)
    return np.hstack([R_WB[:, :, 0], R_WB[:, :, 1]])


@_of(OBSERVATIONS)
def up_in_body(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """The z axis of World in the frame of a body, which says how it is tilted."""
    return worlds.rotation(body)[:, 2, :]


@_of(OBSERVATIONS)
def linear_velocity(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """Velocity [m/s] of the origin of a body in World."""
    return worlds.velocity(body)[:, 3:]


@_of(OBSERVATIONS)
def angular_velocity(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """Angular velocity [rad/s] of a body in World."""
    return worlds.velocity(body)[:, :3]


@_of(OBSERVATIONS)
def linear_velocity_in_body(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """Velocity [m/s] of the origin of a body, along the axes of the body."""
    return _in_body(worlds, body, worlds.velocity(body)[:, 3:])


@_of(OBSERVATIONS)
def angular_velocity_in_body(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """Angular velocity [rad/s] of a body, along its own axes."""
    return _in_body(worlds, body, worlds.velocity(body)[:, :3])


def _in_body(worlds: TaskWorlds, body: int, vectors: Matrix) -> Matrix:
    return np.einsum("nij,ni->nj", worlds.rotation(body), vectors)


@_of(OBSERVATIONS)
def sensor(worlds: TaskWorlds, *, of: Sensing) -> Matrix:
    """What a sensor of the model gives, without rate, delay and noise."""
    return worlds.measured(of)


@_of(OBSERVATIONS)
def last_action(worlds: TaskWorlds) -> Matrix:
    """The action of the last step, zeros at the start of an episode."""
    return worlds.action.copy()


@_of(OBSERVATIONS)
def time(worlds: TaskWorlds) -> Matrix:
    """Time [s] of each world, which begins anew with an episode."""
    return worlds.time[:, np.newaxis]


@_of(OBSERVATIONS)
def command(worlds: TaskWorlds, *, of: Commanded) -> Matrix:
    """What a command of the task asks for."""
    return worlds.commands[of](worlds)


@_of(OBSERVATIONS)
def contact_forces(worlds: TaskWorlds, *, bodies: Bodies) -> Matrix:
    """The sizes of the contact forces [N] on bodies."""
    return np.linalg.norm(worlds.contact_wrenches()[:, bodies, 3:], axis=2)


# ----------------------------------------------------------------------------------------------- rewards


@_of(REWARDS)
def alive(worlds: TaskWorlds) -> Vector:
    """1 in each step."""
    return np.ones(len(worlds))


@_of(REWARDS)
def forward_velocity(worlds: TaskWorlds, *, body: Body, axis: Axis) -> Vector:
    """Velocity [m/s] of the origin of a body along an axis of World."""
    return worlds.velocity(body)[:, 3 + axis]


@_of(REWARDS)
def velocity_near(worlds: TaskWorlds, *, body: Body, axis: Axis, target: float, width: Positive) -> Vector:
    """As forward_velocity, 1 at the target [m/s] and less away from it: exp(-(difference / width)^2)."""
    return _near(worlds.velocity(body)[:, 3 + axis], target, width)


@_of(REWARDS)
def upright(worlds: TaskWorlds, *, body: Body) -> Vector:
    """The cosine of the tilt: 1 where the z axis of a body points up, -1 where it points down."""
    return worlds.rotation(body)[:, 2, 2]


@_of(REWARDS)
def height(worlds: TaskWorlds, *, body: Body) -> Vector:
    """z [m] of the origin of a body in World."""
    return worlds.position(body)[:, 2]


@_of(REWARDS)
def height_near(worlds: TaskWorlds, *, body: Body, target: float, width: Positive) -> Vector:
    """1 where a body has the height `target` [m], and less away from it: exp(-(difference / width)^2)."""
    return _near(worlds.position(body)[:, 2], target, width)


@_of(REWARDS)
def coordinate_near(worlds: TaskWorlds, *, of: Coordinate, target: float, width: Positive) -> Vector:
    """1 where a position or velocity is at the target, and less away from it: exp(-(difference / width)^2)."""
    return _near(_coordinate(worlds, of), target, width)


@_of(REWARDS)
def angle_near(worlds: TaskWorlds, *, of: Coordinate, target: float) -> Vector:
    """The cosine of the angle between a position [rad] and the target: whole turns do not count."""
    return np.cos(_coordinate(worlds, of) - target)


@_of(REWARDS)
def error_squared(worlds: TaskWorlds, *, of: Coordinate, target: float) -> Vector:
    """The square of the difference of a position or velocity and the target."""
    return np.square(_coordinate(worlds, of) - target)


@_of(REWARDS)
def velocity_squared(worlds: TaskWorlds, *, of: Velocities) -> Vector:
    """The sum of squares of velocities [rad^2/s^2 or m^2/s^2]."""
    return np.square(worlds.v[:, of]).sum(axis=1)


@_of(REWARDS)
def effort_squared(worlds: TaskWorlds, *, of: Actuators) -> Vector:
    """The sum of squares of the given efforts u [N^2 m^2 or N^2], without what controllers add."""
    return np.square(worlds.u[:, of]).sum(axis=1)


@_of(REWARDS)
def action_squared(worlds: TaskWorlds) -> Vector:
    """The sum of squares of the action."""
    return np.square(worlds.action).sum(axis=1)


@_of(REWARDS)
def action_change_squared(worlds: TaskWorlds) -> Vector:
    """The sum of squares of the difference to the action of the step before."""
    return np.square(worlds.action - worlds.previous_action).sum(axis=1)


@_of(REWARDS)
def velocity_commanded(worlds: TaskWorlds, *, body: Body, of: Commanded, width: Positive) -> Vector:
    """1 where a body moves along its x and y as a `velocity` asks, and less away: exp(-(difference / width)^2)."""
    away = linear_velocity_in_body(worlds, body=body)[:, :2] - worlds.commands[of](worlds)[:, :2]
    return _near(np.linalg.norm(away, axis=1), 0.0, width)


@_of(REWARDS)
def turn_commanded(worlds: TaskWorlds, *, body: Body, of: Commanded, width: Positive) -> Vector:
    """1 where a body turns about its z as a `velocity` asks, and less away: exp(-(difference / width)^2)."""
    return _near(angular_velocity_in_body(worlds, body=body)[:, 2] - worlds.commands[of](worlds)[:, 2], 0.0, width)


@_of(REWARDS)
def air_time(worlds: TaskWorlds, *, bodies: Bodies, target: float) -> Vector:
    """Of bodies that touch again: the sum of the times [s] for which they have not touched, each less `target`."""
    touch = contact_forces(worlds, bodies=bodies) > 0.0
    label, period = f"air time {bodies.tolist()}", worlds.frames * worlds.plant.time_step()
    before = worlds.memory.get(label, np.zeros(touch.shape))
    began = worlds.periods[:, np.newaxis] <= 1  # in the first period of an episode there was none before
    aloft = np.where(began, 0.0, before)
    worlds.memory[label] = np.where(touch, 0.0, aloft + period)
    return np.where(touch & (aloft > 0.0), aloft - target, 0.0).sum(axis=1)


@_of(REWARDS)
def touching(worlds: TaskWorlds, *, bodies: Bodies) -> Vector:
    """How many of some bodies touch something."""
    return (contact_forces(worlds, bodies=bodies) > 0.0).sum(axis=1)


def _near(values: Vector, target: float, width: float) -> Vector:
    return np.exp(-np.square((values - target) / width))


def _coordinate(worlds: TaskWorlds, of: tuple[str, int]) -> Vector:
    quantity, k = of
    return (worlds.q if quantity == "q" else worlds.v)[:, k]


# -------------------------------------------------------------------------------------------------- ends


@_of(ENDS)
def height_below(worlds: TaskWorlds, *, body: Body, limit: float) -> BoolArray:
    """The origin of a body is below a height [m] in World."""
    return worlds.position(body)[:, 2] < limit


@_of(ENDS)
def height_above(worlds: TaskWorlds, *, body: Body, limit: float) -> BoolArray:
    """The origin of a body is above a height [m] in World."""
    return worlds.position(body)[:, 2] > limit


@_of(ENDS)
def tilt_above(worlds: TaskWorlds, *, body: Body, limit: Positive) -> BoolArray:
    """The angle between the z axes of a body and of World is above a limit [rad]."""
    return np.arccos(np.clip(worlds.rotation(body)[:, 2, 2], -1.0, 1.0)) > limit


@_of(ENDS)
def coordinate_outside(worlds: TaskWorlds, *, of: Coordinate, low: float, high: float) -> BoolArray:
    """A position or velocity is below `low` or above `high`."""
    values = _coordinate(worlds, of)
    return (values < low) | (values > high)


@_of(ENDS)
def touches(worlds: TaskWorlds, *, bodies: Bodies, limit: float) -> BoolArray:
    """The contact force on one of some bodies is above a limit [N]."""
    return (contact_forces(worlds, bodies=bodies) > limit).any(axis=1)


# ------------------------------------------------------------------------------------------------ starts


@_of(STARTS)
def state(start: Start, *, values: Numbers) -> None:
    """Positions and velocities by name, for all worlds."""
    for (quantity, k), value in values:
        (start.q if quantity == "q" else start.v)[:, k] = value


@_of(STARTS)
def uniform_positions(start: Start, *, of: Scalars, within: Positive) -> None:
    """Adds to positions a number between -within and within [rad or m]."""
    start.q[:, of] += start.random.uniform(-within, within, len(of))


@_of(STARTS)
def normal_positions(start: Start, *, of: Scalars, deviation: Positive) -> None:
    """Adds to positions a number of a normal distribution [rad or m]."""
    start.q[:, of] += start.random.normal(deviation, len(of))


@_of(STARTS)
def uniform_velocities(start: Start, *, of: Velocities, within: Positive) -> None:
    """Adds to velocities a number between -within and within [rad/s or m/s]."""
    start.v[:, of] += start.random.uniform(-within, within, len(of))


@_of(STARTS)
def normal_velocities(start: Start, *, of: Velocities, deviation: Positive) -> None:
    """Adds to velocities a number of a normal distribution [rad/s or m/s]."""
    start.v[:, of] += start.random.normal(deviation, len(of))


# ----------------------------------------------------------------------------------------------- actions


@_of(ACTIONS)
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


@_of(ACTIONS)
def motors(worlds: TaskWorlds, *, of: Actuators, most: Positive, stall: Positive, speed: Positive) -> Action:
    """Efforts of DC motors: 1 is `most`; the largest falls from `stall` [N m or N] at rest to 0 at `speed`."""
    dofs = np.zeros(worlds.plant.num_actuators(), dtype=np.int64)
    for actuator in worlds.plant.elements.actuators:
        dofs[actuator.input_start()] = actuator.joint().velocity_start()
    limits, joints = np.minimum(worlds.plant.GetEffortUpperLimits()[of], most), dofs[of]
    wanted = np.zeros((len(worlds), len(of)))

    def each_step() -> None:
        part = worlds.v[:, joints] / speed
        least, most = np.maximum(-limits, -stall * (1.0 + part)), np.minimum(limits, stall * (1.0 - part))
        worlds.u[:, of] = np.clip(wanted, least, most)

    def apply(worlds: TaskWorlds, action: FloatArray) -> None:
        wanted[:] = most * action

    worlds.each_step = each_step
    return Action(len(of), apply)


@_of(ACTIONS)
def targets(worlds: TaskWorlds, *, of: Controlled, scale: Positive) -> Action:
    """Positions that controllers aim at: of the start, plus `scale` [rad or m] times the action, within limits."""
    low, high = (bounds[of] for bounds in _limits_of_controlled(worlds))
    middle = worlds.start_desired[of, 0]

    def apply(worlds: TaskWorlds, action: FloatArray) -> None:
        worlds.desired[:, of, 0] = np.clip(middle + scale * action, low, high)

    return Action(len(of), apply)


@_of(ACTIONS)
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


@_of(COMMANDS)
def velocity(
    worlds: TaskWorlds, *, name: NewName, x: Range, y: Range, turn: Range, every: Every | None = None
) -> Matrix:
    """Velocities along x and y of a body [m/s] and about its z [rad/s], drawn anew after `every` [s], or once."""
    low, high = np.transpose([x, y, turn])
    part = np.zeros_like(worlds.periods) if every is None else worlds.periods // every
    return worlds.random(f"command {name}", part).uniform(low, high, 3)


@_of(EVENTS)
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


def _limits_of_controlled(worlds: TaskWorlds) -> tuple[Vector, Vector]:
    """Lower and upper limits (k,) [rad or m] of the joints that controllers drive."""
    names, plant = worlds.plant.GetActuatorNames(), worlds.plant
    by_name = {names[a.input_start()]: a.joint().position_start() for a in plant.elements.actuators}
    places = [by_name[name] for name in worlds.controlled]
    return plant.GetPositionLowerLimits()[places], plant.GetPositionUpperLimits()[places]
