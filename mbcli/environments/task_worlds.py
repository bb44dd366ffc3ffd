"""Worlds as tasks see them: with their actions and the motions of bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from mbcli.engine.queries.state_batch import StateBatch
from mbcli.environments.world_random import WorldRandom
from mbcli.errors import ArgumentError
from mbcli.meshes.height_grids import heights_at
from mbcli.models.loading import as_loaded, find_frame
from mbcli.multibody.plant.state_functions import number_of_frame, state_with_parameters
from mbcli.multibody.stepping.inputs import LinkForce
from mbcli.simulation.worlds import Worlds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray, IntArray, Matrix, Vector

PERIOD_ROUNDING = 1e-9  # of a period, as a part of it
NO_GROUND = 'the model has no ground: "ground" of "load", or "terrain"'
COPIED = ("_q", "_v", "_u", "_desired", "_carried", "_activations", "_status", "_steps", "action", "previous_action")


class TaskWorlds(Worlds):
    """Worlds with what a task needs beside q, v, u, desired and time.

    Motions of all tracked bodies are computed together, when the first is asked for after a step. What is written into
    `q` or `v` directly is seen after `forget_motions()`.

    They pickle, and a copy goes on to the same bits: it makes anew what the model determines, and takes the states.

    Attributes:
        action: (n, m) what the policy chose last, from -1 to 1; 0 at the start of an episode.
        previous_action: (n, m) what it chose before that.
        frames: time steps of a period.
        seeds, episodes: (n,) what random numbers of worlds follow from.
        memory: {label: arrays of all worlds} that terms keep from period to period.
        commands: {name: function of these worlds} what tasks ask of policies, (n, k).
        each_step: is called before each time step, None for nothing.
        learns: whether commands and terrains that grow do so; else they are whole.
        tiles: (levels, columns, 2) [m] x and y of the middles of the tiles of a terrain; None without one.
        numbers: (n,) of worlds, what their random numbers follow from beside the seeds.
    """

    def __init__(self, model: Any, count: int, **options: Any) -> None:
        """Args: as of Worlds."""
        self._made = as_loaded(model), count, {key: value for key, value in options.items() if key != "on_compile"}
        super().__init__(self._made[0], count, **options)
        self.action: FloatArray = np.zeros((count, 0))
        self.previous_action: FloatArray = np.zeros((count, 0))
        self.frames = 1
        self.seeds, self.episodes = np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=np.int64)
        self.memory: dict[str, Any] = {}
        self.commands: dict[str, Callable[[TaskWorlds], Matrix]] = {}
        self.each_step: Callable[[], None] | None = None
        self.numbers: IntArray = np.arange(count)
        self.learns = True
        self.tiles: Array | None = None
        self._senses: Callable[[], Any] = self.sensors
        self._start_desired, self._start_u = self.desired[0].copy(), self.u[0].copy()
        self._tracked: dict[str, int] = {}
        self._frames: list[int] = []
        self._batch: Any = None
        self._motions: tuple[Array, Array, Array] | None = None
        self._sensors: Any = None
        self._measured: Mapping[str, FloatArray] | None = None
        self._contacts: Array | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The model, the arguments and the states. ArgumentError: something is called at ticks, as a plugin."""
        if self.ticks:
            raise ArgumentError("worlds in which plugins or controllers are called have no copies")
        arrays = {name: getattr(self, name) for name in COPIED}
        told = dict(self._messages), self.pushes.of_world
        kept = {name: getattr(self, name) for name in ("frames", "seeds", "episodes", "memory", "learns", "numbers")}
        return {"made": self._made, "arrays": arrays, "told": told, "tracked": list(self._tracked), "kept": kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The worlds of these arguments, in these states; warnings were given when the first ones were made."""
        loaded, count, options = state["made"]
        TaskWorlds.__init__(self, loaded, count, **{**options, "warn": lambda message: None})
        self._made = state["made"]
        self.set_action_size(state["arrays"]["action"].shape[1])
        for name, values in state["arrays"].items():
            getattr(self, name)[:] = values
        vars(self).update(state["kept"])
        self._messages, self.pushes.of_world = state["told"]
        self.took_pushes()
        for name in state["tracked"]:
            self.track(name)

    @property
    def start_state(self) -> tuple[Vector, Vector]:
        """Positions (nq,) and velocities (nv,) where a run starts."""
        return self._start_q, self._start_v

    @property
    def start_desired(self) -> Matrix:
        """Position and velocity (k, 2) that controllers aim at in the start [rad or m, rad/s or m/s]."""
        return self._start_desired

    def set_action_size(self, size: int) -> None:
        """Gives `action` and `previous_action` that many columns, of zeros where there were others."""
        if self.action.shape[1] != size:
            self.action, self.previous_action = (np.zeros((len(self), size)) for _ in range(2))

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """As of Worlds."""
        super().set_parameters(parameters)
        self._made[2]["parameters"] = {path: list(values) for path, values in parameters.items()}
        if self._sensors is not None:
            self._sensors.regroup(self.contexts())
        self.forget_motions()

    # what terms remember and draw

    @property
    def periods(self) -> IntArray:
        """Periods (n,) since the start of the episode of each world."""
        return self.steps // self.frames

    def random(self, label: str, *more: ArrayLike) -> WorldRandom:
        """Random numbers of the episode of each world, others for each label; more: further whole numbers, (n,)."""
        return WorldRandom(self.seeds, self.numbers, self.episodes, crc32(label.encode()), *more)

    def kept(self, label: str, values: FloatArray, length: int, before: float | None) -> FloatArray:
        """Values (n, k) of this period and of those before, (n, length, k), the newest first.

        What stands before the first of an episode: a number, or None for the first itself. May be called more than
        once in a period.
        """
        if label not in self.memory:
            self.memory[label] = np.zeros((len(self), length, values.shape[1])), np.full(len(self), -1)
        rows, taken = self.memory[label]
        later, first = self.steps != taken, self.steps == 0
        rows[later, 1:] = rows[later, :-1]
        rows[first] = values[first, np.newaxis] if before is None else before
        rows[later | first, 0] = values[later | first]
        taken[:] = self.steps
        return rows

    # motions of bodies

    def track(self, name: str) -> int:
        """The number of a body or frame for rotation(), position() and velocity(). ArgumentError: it is not there."""
        if name not in self._tracked:
            number = number_of_frame(self.plant, find_frame(self.plant, name, "body"))
            self._tracked[name] = len(self._frames)
            self._frames.append(number)
            self.forget_motions()
        return self._tracked[name]

    def rotation(self, body: int) -> Array:
        """R_WB (n, 3, 3) of a tracked body."""
        return self._seen()[0][:, body]

    def position(self, body: int) -> Matrix:
        """p_WBo (n, 3) [m] of the origin of a tracked body."""
        return self._seen()[1][:, body]

    def velocity(self, body: int) -> Matrix:
        """V_WB (n, 6) of a tracked body in World, rotational first [rad/s, m/s]."""
        return self._seen()[2][:, body]

    def motions(self, bodies: Sequence[int]) -> tuple[Array, Array, Array]:
        """R_WB (n, b, 3, 3), p_WBo (n, b, 3) [m] and V_WB (n, b, 6) of tracked bodies."""
        R_WB, p_WB, V_WB = self._seen()
        return R_WB[:, bodies], p_WB[:, bodies], V_WB[:, bodies]

    def ground_at(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Heights [m] of the ground or terrain at places in World [m]; beyond the ends of a terrain those of the end.

        ArgumentError: there is neither.
        """
        terrain, ground = self.loaded.terrain, self.loaded.ground
        if ground is None:
            raise ArgumentError(NO_GROUND)
        if terrain is None:
            return np.full(np.shape(x), ground)
        return heights_at(terrain.heights, terrain.x(), terrain.y(), x, y)

    def height(self, body: int, over_ground: bool = False) -> Vector:
        """z (n,) [m] of the origin of a tracked body, or its height over the ground below it."""
        x, y, z = self.position(body).T
        return z - self.ground_at(x, y) if over_ground else z

    def inverse_dynamics(self, vdot: Matrix) -> Matrix:
        """Generalized forces (n, nv) that give accelerations vdot (n, nv) here, beside gravity, springs and damping."""
        found: Matrix = self._states().inverse_dynamics(self.q, self.v, vdot)
        return found

    def measured(self, sensor: str) -> Matrix:
        """What a sensor gives (n, columns), without rate, delay and noise; all are evaluated with the first one."""
        if self._measured is None:
            self._sensors = self._sensors or self._senses()
            self._measured = self._sensors.exact()
        return self._measured[sensor]

    def contact_wrenches(self) -> Array:
        """Spatial forces (n, number of bodies, 6) of contact on bodies at their origins, in World, torques first.

        They are those of the next step from here under u as it is [N m, N], which takes as long as that step.
        """
        if self._contacts is None:
            self._sensors = self._sensors or self._senses()
            self._contacts = self._sensors.contact_wrenches()
        return self._contacts

    def sense_by(self, make: Callable[[], Any]) -> None:
        """make: () -> what has exact() and contact_wrenches() as WorldSensors do, in place of these worlds."""
        self._senses, self._sensors = make, None
        self.forget_motions()

    def forget_motions(self) -> None:
        """Motions and what sensors give are computed anew when they are asked for next."""
        self._motions = self._measured = self._contacts = None

    def _seen(self) -> tuple[Array, Array, Array]:
        if self._motions is None:
            self._motions = self._states().frame_motions(self.q, self.v, None, self._frames, 0)[:3]
        assert self._motions is not None
        return self._motions

    def _states(self) -> Any:
        if self._batch is None:
            state = state_with_parameters(self.plant, None)
            self._batch = StateBatch(state.model, compiled=state.compiled, threads=self._threads)
        return self._batch

    # what moves them

    def push_on(self, label: str, body: int, forces: Matrix) -> None:
        """Forces (n, 3) [N] in World act at the centre of mass of a body from now on, in place of those of this label.

        body: its index in the plant.
        """
        if label not in self.memory:
            center = np.array(self.plant.elements.bodies[body].default_com())
            self.memory[label] = [LinkForce(body, center, np.zeros(6), 0.0, np.inf) for _ in range(len(self))]
            for k, force in enumerate(self.memory[label]):
                self.pushes.add(k, [force])
            self.took_pushes()
        for force, values in zip(self.memory[label], forces, strict=True):
            force.force[3:] = values
        self.pushes.refresh()

    def go_to(self, steps: IntArray, q: Matrix, v: Matrix) -> None:
        """The worlds are in these states, so many steps (n,) after their start: another run has taken them."""
        self._steps[:], self.q, self.v = steps, q, v
        self.forget_motions()

    def step(self, count: int = 1) -> None:
        """As of Worlds."""
        self.forget_motions()
        if self.each_step is None:
            super().step(count)
            return
        for _ in range(count):
            self.each_step()
            super().step(1)

    def rollout(self, steps: int, u: ArrayLike | None = None, *, every: int = 1) -> FloatArray:
        """As of Worlds."""
        self.forget_motions()
        return super().rollout(steps, u, every=every)

    def reset(self, which: Any = slice(None), q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """As of Worlds; actions are 0, efforts are those of the start, and controllers aim where they do there."""
        self.forget_motions()
        super().reset(which, q, v)
        self.desired[which], self.u[which] = self._start_desired, self._start_u
        self.action[which] = self.previous_action[which] = 0.0


def steps_of(time_step: float, period: float) -> int:
    """Steps of a plant in a period [s]. ArgumentError: they are not whole."""
    count = round(period / time_step) if np.isfinite(period) else 0
    if count < 1 or abs(count * time_step - period) > PERIOD_ROUNDING * period:
        raise ArgumentError(f"period is {period:g} s: it is a whole number of time steps of {time_step:g} s")
    return count
