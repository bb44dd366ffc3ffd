"""The terms of tasks that look at worlds: observations, rewards, ends; and starts. One small function each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.environments.term_registry import ENDS, OBSERVATIONS, REWARDS, STARTS, Start, term_of
from mbcli.meshes.height_grids import highest_within

if TYPE_CHECKING:
    from mbcli.environments.task_worlds import TaskWorlds
    from mbcli.environments.term_kinds import (
        Actuators,
        Axis,
        Bodies,
        Body,
        BodyOnTerrain,
        BodyOverGround,
        Commanded,
        Coordinate,
        FloatingBase,
        Lengths,
        Numbers,
        Over,
        Positions,
        Positive,
        Scalars,
        Sensing,
        Velocities,
        Whole,
    )
    from mbcli.math.array_types import BoolArray, Matrix, Vector


# ------------------------------------------------------------------------------------------ observations


@term_of(OBSERVATIONS)
def positions(worlds: TaskWorlds, *, of: Positions) -> Matrix:
    """Positions q [rad or m]."""
    return worlds.q[:, of]


@term_of(OBSERVATIONS)
def velocities(worlds: TaskWorlds, *, of: Velocities) -> Matrix:
    """Velocities v [rad/s or m/s]."""
    return worlds.v[:, of]


@term_of(OBSERVATIONS)
def sine_and_cosine(worlds: TaskWorlds, *, of: Positions) -> Matrix:
    """Sines of positions [rad], then their cosines."""
    angles = worlds.q[:, of]
    return np.hstack([np.sin(angles), np.cos(angles)])


@term_of(OBSERVATIONS)
def body_position(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """x, y, z [m] of the origin of a body in World."""
    return worlds.position(body)


@term_of(OBSERVATIONS)
def body_height(worlds: TaskWorlds, *, body: Body, over: Over = False) -> Matrix:
    """z [m] of the origin of a body in World, or over the ground."""
    return worlds.height(body, over)[:, np.newaxis]


@term_of(OBSERVATIONS)
def heights_around(worlds: TaskWorlds, *, body: BodyOverGround, ahead: Lengths, left: Lengths) -> Matrix:
    """Heights [m] of the origin of a body over the ground at a grid of places ahead of it and to its left."""
    R_WB, p_WB = worlds.rotation(body), worlds.position(body)
    heading = np.arctan2(R_WB[:, 1, 0], R_WB[:, 0, 0])[:, np.newaxis]
    forth, aside = np.repeat(ahead, len(left)), np.tile(left, len(ahead))
    c, s = np.cos(heading), np.sin(heading)
    return p_WB[:, 2:] - worlds.ground_at(p_WB[:, :1] + c * forth - s * aside, p_WB[:, 1:2] + s * forth + c * aside)


@term_of(OBSERVATIONS)
def body_axes(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """Six numbers of a rotation: the x axis of a body in World, then its y axis."""
    R_WB = worlds.rotation(body)
    return np.hstack([R_WB[:, :, 0], R_WB[:, :, 1]])


@term_of(OBSERVATIONS)
def up_in_body(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """The z axis of World in the frame of a body, which says how it is tilted."""
    return worlds.rotation(body)[:, 2, :]


@term_of(OBSERVATIONS)
def linear_velocity(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """Velocity [m/s] of the origin of a body in World."""
    return worlds.velocity(body)[:, 3:]


@term_of(OBSERVATIONS)
def angular_velocity(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """Angular velocity [rad/s] of a body in World."""
    return worlds.velocity(body)[:, :3]


@term_of(OBSERVATIONS)
def linear_velocity_in_body(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """Velocity [m/s] of the origin of a body, along the axes of the body."""
    return _in_body(worlds, body, worlds.velocity(body)[:, 3:])


@term_of(OBSERVATIONS)
def angular_velocity_in_body(worlds: TaskWorlds, *, body: Body) -> Matrix:
    """Angular velocity [rad/s] of a body, along its own axes."""
    return _in_body(worlds, body, worlds.velocity(body)[:, :3])


def _in_body(worlds: TaskWorlds, body: int, vectors: Matrix) -> Matrix:
    return np.einsum("nij,ni->nj", worlds.rotation(body), vectors)


@term_of(OBSERVATIONS)
def sensor(worlds: TaskWorlds, *, of: Sensing) -> Matrix:
    """What a sensor of the model gives, without rate, delay and noise."""
    return worlds.measured(of)


@term_of(OBSERVATIONS)
def last_action(worlds: TaskWorlds) -> Matrix:
    """The action of the last step, zeros at the start of an episode."""
    return worlds.action.copy()


@term_of(OBSERVATIONS)
def time(worlds: TaskWorlds) -> Matrix:
    """Time [s] of each world, which begins anew with an episode."""
    return worlds.time[:, np.newaxis]


@term_of(OBSERVATIONS)
def command(worlds: TaskWorlds, *, of: Commanded) -> Matrix:
    """What a command of the task asks for."""
    return worlds.commands[of](worlds)


@term_of(OBSERVATIONS)
def place_in_body(worlds: TaskWorlds, *, of: Commanded, body: Body) -> Matrix:
    """Where a `place` is [m] ahead of a body and to its left, and the sine and cosine of the turn that is asked for."""
    R_WB, asked = worlds.rotation(body), worlds.commands[of](worlds)
    heading = np.arctan2(R_WB[:, 1, 0], R_WB[:, 0, 0])
    away = asked[:, :2] - worlds.position(body)[:, :2]
    c, s, turn = np.cos(heading), np.sin(heading), asked[:, 2] - heading
    ahead, left = c * away[:, 0] + s * away[:, 1], c * away[:, 1] - s * away[:, 0]
    return np.stack([ahead, left, np.sin(turn), np.cos(turn)], axis=1)


@term_of(OBSERVATIONS)
def contact_forces(worlds: TaskWorlds, *, bodies: Bodies) -> Matrix:
    """The sizes of the contact forces [N] on bodies."""
    return np.linalg.norm(worlds.contact_wrenches()[:, bodies, 3:], axis=2)


# ----------------------------------------------------------------------------------------------- rewards


@term_of(REWARDS)
def alive(worlds: TaskWorlds) -> Vector:
    """1 in each step."""
    return np.ones(len(worlds))


@term_of(REWARDS)
def forward_velocity(worlds: TaskWorlds, *, body: Body, axis: Axis) -> Vector:
    """Velocity [m/s] of the origin of a body along an axis of World."""
    return worlds.velocity(body)[:, 3 + axis]


@term_of(REWARDS)
def velocity_near(worlds: TaskWorlds, *, body: Body, axis: Axis, target: float, width: Positive) -> Vector:
    """As forward_velocity, 1 at the target [m/s] and less away from it: exp(-(difference / width)^2)."""
    return _near(worlds.velocity(body)[:, 3 + axis], target, width)


@term_of(REWARDS)
def upright(worlds: TaskWorlds, *, body: Body) -> Vector:
    """The cosine of the tilt: 1 where the z axis of a body points up, -1 where it points down."""
    return worlds.rotation(body)[:, 2, 2]


@term_of(REWARDS)
def height(worlds: TaskWorlds, *, body: Body, over: Over = False) -> Vector:
    """z [m] of the origin of a body in World, or over the ground."""
    return worlds.height(body, over)


@term_of(REWARDS)
def height_near(worlds: TaskWorlds, *, body: Body, target: float, width: Positive, over: Over = False) -> Vector:
    """1 where a body has the height `target` [m], and less away from it: exp(-(difference / width)^2)."""
    return _near(worlds.height(body, over), target, width)


@term_of(REWARDS)
def coordinate_near(worlds: TaskWorlds, *, of: Coordinate, target: float, width: Positive) -> Vector:
    """1 where a position or velocity is at the target, and less away from it: exp(-(difference / width)^2)."""
    return _near(_coordinate(worlds, of), target, width)


@term_of(REWARDS)
def angle_near(worlds: TaskWorlds, *, of: Coordinate, target: float) -> Vector:
    """The cosine of the angle between a position [rad] and the target: whole turns do not count."""
    return np.cos(_coordinate(worlds, of) - target)


@term_of(REWARDS)
def error_squared(worlds: TaskWorlds, *, of: Coordinate, target: float) -> Vector:
    """The square of the difference of a position or velocity and the target."""
    return np.square(_coordinate(worlds, of) - target)


@term_of(REWARDS)
def velocity_squared(worlds: TaskWorlds, *, of: Velocities) -> Vector:
    """The sum of squares of velocities [rad^2/s^2 or m^2/s^2]."""
    return np.square(worlds.v[:, of]).sum(axis=1)


@term_of(REWARDS)
def effort_squared(worlds: TaskWorlds, *, of: Actuators) -> Vector:
    """The sum of squares of the given efforts u [N^2 m^2 or N^2], without what controllers add."""
    return np.square(worlds.u[:, of]).sum(axis=1)


@term_of(REWARDS)
def action_squared(worlds: TaskWorlds) -> Vector:
    """The sum of squares of the action."""
    return np.square(worlds.action).sum(axis=1)


@term_of(REWARDS)
def action_change_squared(worlds: TaskWorlds) -> Vector:
    """The sum of squares of the difference to the action of the step before."""
    return np.square(worlds.action - worlds.previous_action).sum(axis=1)


@term_of(REWARDS)
def velocity_commanded(worlds: TaskWorlds, *, body: Body, of: Commanded, width: Positive) -> Vector:
    """1 where a body moves along its x and y as a `velocity` asks, and less away: exp(-(difference / width)^2)."""
    away = linear_velocity_in_body(worlds, body=body)[:, :2] - worlds.commands[of](worlds)[:, :2]
    return _near(np.linalg.norm(away, axis=1), 0.0, width)


@term_of(REWARDS)
def turn_commanded(worlds: TaskWorlds, *, body: Body, of: Commanded, width: Positive) -> Vector:
    """1 where a body turns about its z as a `velocity` asks, and less away: exp(-(difference / width)^2)."""
    return _near(angular_velocity_in_body(worlds, body=body)[:, 2] - worlds.commands[of](worlds)[:, 2], 0.0, width)


@term_of(REWARDS)
def place_commanded(worlds: TaskWorlds, *, body: Body, of: Commanded, width: Positive) -> Vector:
    """1 where a body is at a `place`, whatever its height, and less away: exp(-(distance / width)^2)."""
    away = worlds.position(body)[:, :2] - worlds.commands[of](worlds)[:, :2]
    return _near(np.linalg.norm(away, axis=1), 0.0, width)


@term_of(REWARDS)
def air_time(worlds: TaskWorlds, *, bodies: Bodies, target: float) -> Vector:
    """Of bodies that touch again: the sum of the times [s] for which they have not touched, each less `target`."""
    touch = contact_forces(worlds, bodies=bodies) > 0.0
    label, period = f"air time {bodies.tolist()}", worlds.frames * worlds.plant.time_step()
    before = worlds.memory.get(label, np.zeros(touch.shape))
    began = worlds.periods[:, np.newaxis] <= 1  # in the first period of an episode there was none before
    aloft = np.where(began, 0.0, before)
    worlds.memory[label] = np.where(touch, 0.0, aloft + period)
    return np.where(touch & (aloft > 0.0), aloft - target, 0.0).sum(axis=1)


@term_of(REWARDS)
def touching(worlds: TaskWorlds, *, bodies: Bodies) -> Vector:
    """How many of some bodies touch something."""
    return (contact_forces(worlds, bodies=bodies) > 0.0).sum(axis=1)


def _near(values: Vector, target: float, width: float) -> Vector:
    return np.exp(-np.square((values - target) / width))


def _coordinate(worlds: TaskWorlds, of: tuple[str, int]) -> Vector:
    quantity, k = of
    return (worlds.q if quantity == "q" else worlds.v)[:, k]


# -------------------------------------------------------------------------------------------------- ends


@term_of(ENDS)
def height_below(worlds: TaskWorlds, *, body: Body, limit: float, over: Over = False) -> BoolArray:
    """The origin of a body is below a height [m] in World, or over the ground."""
    return worlds.height(body, over) < limit


@term_of(ENDS)
def height_above(worlds: TaskWorlds, *, body: Body, limit: float, over: Over = False) -> BoolArray:
    """The origin of a body is above a height [m] in World, or over the ground."""
    return worlds.height(body, over) > limit


@term_of(ENDS)
def tilt_above(worlds: TaskWorlds, *, body: Body, limit: Positive) -> BoolArray:
    """The angle between the z axes of a body and of World is above a limit [rad]."""
    return np.arccos(np.clip(worlds.rotation(body)[:, 2, 2], -1.0, 1.0)) > limit


@term_of(ENDS)
def coordinate_outside(worlds: TaskWorlds, *, of: Coordinate, low: float, high: float) -> BoolArray:
    """A position or velocity is below `low` or above `high`."""
    values = _coordinate(worlds, of)
    return (values < low) | (values > high)


@term_of(ENDS)
def away_from(worlds: TaskWorlds, *, body: Body, of: Commanded, limit: Positive) -> BoolArray:
    """A body is farther from a `place` than a limit [m], whatever its height."""
    return np.linalg.norm(worlds.position(body)[:, :2] - worlds.commands[of](worlds)[:, :2], axis=1) > limit


@term_of(ENDS)
def off_terrain(worlds: TaskWorlds, *, body: BodyOnTerrain) -> BoolArray:
    """The origin of a body is beyond an end of the terrain, where there is no ground."""
    terrain = worlds.loaded.terrain
    assert terrain is not None
    x, y = np.abs(worlds.position(body)[:, :2]).T
    return (x > terrain.x()) | (y > terrain.y())


@term_of(ENDS)
def touches(worlds: TaskWorlds, *, bodies: Bodies, limit: float) -> BoolArray:
    """The contact force on one of some bodies is above a limit [N]."""
    return (contact_forces(worlds, bodies=bodies) > limit).any(axis=1)


# ------------------------------------------------------------------------------------------------ starts


@term_of(STARTS)
def state(start: Start, *, values: Numbers) -> None:
    """Positions and velocities by name, for all worlds."""
    for (quantity, k), value in values:
        (start.q if quantity == "q" else start.v)[:, k] = value


@term_of(STARTS)
def uniform_positions(start: Start, *, of: Scalars, within: Positive) -> None:
    """Adds to positions a number between -within and within [rad or m]."""
    start.q[:, of] += start.random.uniform(-within, within, len(of))


@term_of(STARTS)
def normal_positions(start: Start, *, of: Scalars, deviation: Positive) -> None:
    """Adds to positions a number of a normal distribution [rad or m]."""
    start.q[:, of] += start.random.normal(deviation, len(of))


@term_of(STARTS)
def uniform_velocities(start: Start, *, of: Velocities, within: Positive) -> None:
    """Adds to velocities a number between -within and within [rad/s or m/s]."""
    start.v[:, of] += start.random.uniform(-within, within, len(of))


@term_of(STARTS)
def normal_velocities(start: Start, *, of: Velocities, deviation: Positive) -> None:
    """Adds to velocities a number of a normal distribution [rad/s or m/s]."""
    start.v[:, of] += start.random.normal(deviation, len(of))


@term_of(STARTS)
def on_terrain(start: Start, *, body: FloatingBase, radius: Positive, grow: Whole | None = None) -> None:
    """Moves a floating body from the origin to a tile, and up by the highest ground within `radius` [m] of it."""
    tiles, field = start.worlds.tiles, start.worlds.loaded.terrain
    assert tiles is not None and field is not None
    grown = 1.0 if grow is None or not start.worlds.learns else np.minimum((start.random.episodes + 1) / grow, 1.0)
    level, column = start.random.uniform(0.0, 1.0, 2).T
    level, column = level * np.ceil(grown * len(tiles)), column * tiles.shape[1]
    R_WF, p_WF = body.X_WF[:3, :3], body.X_WF[:3, 3]
    places = slice(body.start, body.start + 3)
    p_WB = start.q[:, places] @ R_WF.T + p_WF
    p_WB[:, :2] += tiles[level.astype(int), column.astype(int)]
    p_WB[:, 2] += highest_within(field.heights, field.x(), field.y(), p_WB[:, 0], p_WB[:, 1], radius)
    start.q[:, places] = (p_WB - p_WF) @ R_WF
