"""Worlds: many states of one model that step together, on threads and in vector registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.processors import num_processors
from mbcli.common.setting import refuse_unknown, settings_of
from mbcli.common.turns import Turn
from mbcli.engine.fields.model_fields import PD_GAIN_D, PD_GAIN_P
from mbcli.engine.stepping.loop import RUNNING
from mbcli.errors import ArgumentError, ModelError
from mbcli.models.loading import as_loaded
from mbcli.multibody.core.dynamics import implicit_damping
from mbcli.parsers.load_arguments import HoldArguments
from mbcli.simulation.actors import ACTORS
from mbcli.simulation.actors.following import Following
from mbcli.simulation.actors.holding import Holding
from mbcli.simulation.control.in_worlds import world_ticks
from mbcli.simulation.next_steps import NOTHING_KEPT, NextSteps
from mbcli.simulation.recorded_run import RecordedRun
from mbcli.simulation.run_arguments import CONSTRAINT_TOLERANCE, RunArguments
from mbcli.simulation.run_warnings import warn_caller
from mbcli.simulation.servo_ticks import ServoTicks
from mbcli.simulation.world_assembly import assemble_worlds
from mbcli.simulation.world_balances import NO_BALANCE, WorldBalances
from mbcli.simulation.world_failures import FAILURES, refuse_worlds
from mbcli.simulation.world_groups import groups_of_worlds
from mbcli.simulation.world_holding import hold_worlds
from mbcli.simulation.world_pushes import WorldPushes, push_worlds
from mbcli.simulation.world_sensors import WorldSensors
from mbcli.simulation.world_threads import WorldThreads
from mbcli.simulation.world_ticks import OneByOne, WorldTicks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray, IntArray, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.stepping.inputs import Input
    from mbcli.simulation.effort_limits import Exceeded

OTHERWISE = ("inputs", "pushes", "controller", "sensor_noise", "seed", *settings_of(HoldArguments))
OF_WORLDS = {"start", "pose"} | {name for kind in ACTORS if not kind.IN_WORLDS for name in kind.SETTINGS} - {*OTHERWISE}
"""Settings of Worlds; OTHERWISE are those that its attributes and methods, or the model, have."""


class Worlds:
    """Many worlds of one discrete plant that step together, each from its own state under its own actuation.

    A world is a copy of everything in the model: its state, actuation and, if they are given, parameters. What the
    worlds have in common is there once, so that a hundred thousand of them take the memory of their states. A world
    that cannot go on stops at its last good state, with a status, and the others go on.

    `q` (n, nq) [rad or m], `v` (n, nv), `u` (n, nu) [N m or N] and `desired` (n, number of controllers, 2) [rad or m,
    rad/s or m/s] are the arrays that the steps work with: what is written into them holds from the next step on.

    A world takes the steps of a single run from its state, to the last bit, whatever the number of threads. Plants
    without contact, constraints and dry friction take them eight worlds at once in one vector register, whose sine,
    cosine and fused sums differ in the last bits from those of one state; `lanes=False` takes them one by one.

    Args:
        model: LoadedModel or finalized MultibodyPlant, discrete. (load_model(files, contact=True) loads solids too.)
        count: number of worlds, n.
        parameters: {path: values} of elements, by the paths of `--set` (docs/how-to/parameters.md), as
            {"body.trunk.mass": masses, "geometry.foot.friction": 0.6}: an array or list of n values, numbers or what
            `--set` takes after `=`, or one value for all. Worlds with equal parameters share their arrays.
        threads: that step worlds; default: as many as the process has processors.
        lanes: whether worlds may share vector registers.
        warn: is given each warning; default: a SimulationWarning.
        on_compile: called before the compiler runs, once on a machine for each kind of plants.
        settings: those of OF_WORLDS, as of simulate(). `start` and `pose` are where all worlds start; a Context gives
            its parameters and inputs too. There controllers get their gains and aims, in a model that is loaded with
            `hold` or `drive`. `effort_limits` is of what `trajectory` and plugins of the model ask for.

    Attributes:
        loaded, plant: the model, with the controllers that hold and drive joints and the velocity limits that act.
        start_time: [s]
        ticks: WorldTicks of what is called at ticks.

    Raises:
        ArgumentError: a parameter means nothing; the numbers of values and worlds differ.
        ModelError: the plant is continuous, or has what only Python or a single run steps: deformable bodies, force
            elements of a user, applied forces, inputs that follow a source, islands that may sleep.

    Example:
        >>> worlds = mbcli.Worlds(mbcli.load_model("sample_models/double_pendulum.urdf"), 3, start={"elbow": 0.5})
        >>> worlds.q.shape
        (3, 2)
    """

    def __init__(
        self,
        model: Any,
        count: int,
        *,
        parameters: Mapping[str, Any] | None = None,
        threads: int | None = None,
        lanes: bool = True,
        warn: Callable[[str], None] | None = None,
        on_compile: Callable[[], object] = lambda: None,
        **settings: Unpack[RunArguments],
    ) -> None:
        refuse_unknown(OF_WORLDS, settings, "Worlds")
        loaded = as_loaded(model)
        plant: MultibodyPlant = loaded.plant
        settings |= {"fields": (), "duration": plant.time_step()}  # there is no end that a step could miss
        if count < 1:
            raise ArgumentError(f"{argument('count')} is {count}: there is at least one world")
        self._threads = num_processors() if threads is None else int(threads)
        if self._threads < 1:
            raise ArgumentError(f"{argument('threads')} is {threads}: there is at least one thread")
        if not plant.is_discrete():
            raise ModelError("worlds take steps: the plant must be discrete, its time step is 0")
        self._groups = groups_of_worlds(count, parameters or {})
        self._of_run = run = RecordedRun(loaded, warn=warn or warn_caller, **settings)
        try:
            run.prepare()
            context = run.context
            self.loaded, self.plant = run.loaded, run.plant
            if isinstance(run.controller, ServoTicks):
                raise ModelError("worlds hold and drive joints in plants whose steps take controllers")
            self._held, carried = run.held_in_steps, run.actor(Holding).carried_at_start()
            refuse_worlds(self.plant, context)
            self._stepping = WorldThreads(self.loaded, context, self._groups, count, self._threads, lanes, on_compile)
        finally:
            run.release()
        self._turn = Turn("a Worlds")
        state = self._stepping.state
        self.start_time, self._start_q, self._start_v = state.time, state.q.copy(), state.v.copy()
        self._q, self._v = (np.tile(x, (count, 1)) for x in (state.q, state.v))
        self._u = np.tile(self.plant.actuation(context), (count, 1))
        over = any(actor.ticks is not None and actor.OVER_INPUTS for actor in run.actors)
        self.acting = self._u.copy() if over else self._u
        self._desired = np.tile(state.data.pd_desired, (count, 1, 1))
        self._start_carried = np.zeros(len(state.data.pd_carried)) if carried is None else carried["carried"]
        self._carried = np.tile(self._start_carried, (count, 1))
        self._start_activations = state.data.activation.copy()
        self._activations = np.tile(self._start_activations, (count, 1))
        self._status, self._steps = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self._taken, self._until = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self._messages: dict[int, str] = {}
        lasting = [force for actor in run.actors if actor.ticks is None for force in actor.forces()]
        self.pushes = WorldPushes(count, lasting)
        self._pushed: dict[str, Array] = self.pushes.arrays()
        self._first_step = round(self.start_time / self.plant.time_step())
        self._given_by: WorldTicks | None = None  # while under_controller() lasts
        self.ticks = [
            WorldTicks(self, OneByOne(self, actor.ticks, actor.in_world), self.acting if actor.OVER_INPUTS else self._u)
            for actor in run.actors
            if actor.ticks is not None
        ]
        self._arrays_of_steps: dict[str, Array] | None = None  # those of step(), which stay
        self._next_steps: NextSteps | None = None
        self._balances: WorldBalances | None = None

    # what the worlds are

    def __len__(self) -> int:
        """The number of worlds."""
        return len(self._q)

    @property
    def q(self) -> FloatArray:
        """Positions (n, nq) [rad or m]."""
        return self._q

    @q.setter
    def q(self, values: ArrayLike) -> None:
        self._q[:] = values

    @property
    def v(self) -> FloatArray:
        """Velocities (n, nv) [rad/s or m/s]."""
        return self._v

    @v.setter
    def v(self, values: ArrayLike) -> None:
        self._v[:] = values

    @property
    def u(self) -> FloatArray:
        """Actuation (n, nu) [N m or N], of actuators with a controller what is added to its effort."""
        return self._u

    @u.setter
    def u(self, values: ArrayLike) -> None:
        self._u[:] = values

    @property
    def desired(self) -> FloatArray:
        """Position and velocity that controllers aim at, (n, k, 2), in the order of `controlled`."""
        return self._desired

    @desired.setter
    def desired(self, values: ArrayLike) -> None:
        self._desired[:] = values

    @property
    def activations(self) -> FloatArray:
        """Activations of actuators (n, number of them), in their order in u."""
        return self._activations

    @activations.setter
    def activations(self, values: ArrayLike) -> None:
        self._activations[:] = values

    @property
    def carried(self) -> FloatArray:
        """What controllers feed forward of earlier efforts (n, k) [N m or N], in the order of `controlled`."""
        return self._carried

    @property
    def controlled(self) -> list[str]:
        """Names of the k actuators that have a controller."""
        names = self.plant.GetActuatorNames()
        return [names[k] for k in self._stepping.state.model.pd_actuator]

    @property
    def gains(self) -> FloatArray:
        """Gains p and d of these controllers, (k, 2), in the first world."""
        return np.array(self._stepping.state.model.pd_constants[:, [PD_GAIN_P, PD_GAIN_D]])

    @property
    def time(self) -> Vector:
        """Time [s] of each world, (n,)."""
        return self.start_time + self._steps * self.plant.time_step()

    @property
    def steps(self) -> IntArray:
        """Steps that each world has taken since its start, (n,)."""
        return self._steps

    @property
    def status(self) -> IntArray:
        """0 of worlds that run, else why one stopped, (n,); failures() has it in words."""
        return self._status

    def failures(self) -> dict[int, str]:
        """Why worlds stopped.

        Returns:
          {number of a world that stopped: why}.

        Example:
          >>> mbcli.Worlds(mbcli.load_model("sample_models/double_pendulum.urdf"), 3).failures()
          {}
        """
        stopped = np.flatnonzero(self._status)
        return {int(k): self._messages.get(int(k), FAILURES[int(self._status[k])]) for k in stopped}

    def tell_failures(self, messages: Mapping[int, str]) -> None:
        """What failures() say of worlds whose status is set from outside."""
        self._messages |= messages

    def hold_here(self, held: bool = True) -> None:
        """Controllers feed forward what holds and drives the joints where each world is now.

        held: whether those that aim at positions of the start aim at those of each world, within limits, as those do
            that drive joints.
        """
        if not held and not self._held:
            return
        hold_worlds(self, self._stepping.state.model, self._held, held)

    def reset(self, which: Any = slice(None), q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Worlds begin again at the time of the start, also those that stopped.

        Args:
            which: indices or a mask of worlds; default: all.
            q: their positions, (nq,) or one row each [rad or m]; default: those of the start.
            v: their velocities, (nv,) or one row each [rad/s or m/s]; default: those of the start.

        Raises:
            ValueError: q or v have another shape.
            IndexError: there is no such world.

        Example:
          >>> worlds = mbcli.Worlds(mbcli.load_model("sample_models/double_pendulum.urdf"), 3)
          >>> worlds.reset([1], q=[0.1, 0.2])
          >>> worlds.q
          array([[0. , 0. ],
                 [0.1, 0.2],
                 [0. , 0. ]])
        """
        self._q[which] = self._start_q if q is None else q
        self._v[which] = self._start_v if v is None else v
        self._carried[which] = self._start_carried
        self._activations[which] = self._start_activations
        self._status[which] = RUNNING
        self._steps[which] = 0
        again = np.atleast_1d(np.arange(len(self))[which]).tolist()
        for ticks in self.ticks:
            ticks.begin_again(again)
        if self._balances is not None:
            self._balances.begin(again)
        if self._messages:
            self._messages = {k: message for k, message in self._messages.items() if k not in set(again)}

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """The worlds have these parameters from the next step on, all of them, as the argument of the constructor says.

        A set that no world has had lately takes some milliseconds to compile. ArgumentError as of the constructor; the
        parameters are then as they were.
        """
        groups = groups_of_worlds(len(self), parameters)
        if groups != self._groups:
            with self._turn:
                self._stepping.regroup(groups)
                self._groups = groups

    def assemble(self, which: Any = slice(None), tolerance: float = CONSTRAINT_TOLERANCE) -> list[int]:
        """Moves worlds to the nearest states that satisfy the constraints, as single runs move their starts.

        which: indices or a mask of worlds. tolerance: [m or 1] of the norm of position errors that may stay. Returns
        the numbers of those that were moved. NumericalError if there is no such state near one.
        """
        return assemble_worlds(self, np.atleast_1d(np.arange(len(self))[which]).tolist(), tolerance)

    # what acts in them beside u

    def push(self, pushes: Any, which: Any = slice(None), *, seed: int = 0, until: float = np.inf) -> None:
        """More forces act on bodies of worlds, at the times of these worlds.

        Args:
            pushes: each a Push, a text as `--push` takes it, or the name of a table; one need not be in a list.
            which: indices or a mask of worlds; default: all.
            seed: world k has the random pushes of the single run of the seed `seed + k`.
            until: [s] before which random ones end that say nothing of it.

        ArgumentError for what is no push, or of no body of the model.
        """
        push_worlds(self, pushes, np.atleast_1d(np.arange(len(self))[which]).tolist(), seed, until)
        self.took_pushes()

    def end_pushes(self, which: Any = slice(None)) -> None:
        """No forces that push() has given act on worlds of these indices or this mask any more."""
        self.pushes.clear(np.atleast_1d(np.arange(len(self))[which]).tolist())
        self.took_pushes()

    def ask_of_plugins(self, series: Input) -> None:
        """What an input asks of the plugins of the model, in all worlds."""
        self._of_run.actuation = series

    def took_pushes(self) -> None:
        """The steps take the forces that `pushes` has now."""
        self._pushed, self._arrays_of_steps, self._next_steps = self.pushes.arrays(), None, None

    def sensors(self, seed: int | None = None) -> WorldSensors:
        """What measures in the worlds. seed: of noise, of world k that of the single run of `seed + k`; None: none."""
        return WorldSensors(self, seed, self.contexts())

    def keep_balances(self) -> WorldBalances:
        """What does work on the worlds is added up from now on, as long as their parameters stay: they then step one
        by one, not in vector registers."""
        self._balances, self._arrays_of_steps = WorldBalances(self), None
        return self._balances

    def context_of_each(self) -> dict[int, Context]:
        """{number of a world: a context with its parameters}"""
        return {int(k): context for context, numbers, _ in self.contexts() for k in numbers}

    def contexts(self) -> list[tuple[Context, IntArray, tuple[str, ...]]]:
        """A context with the parameters of a group of worlds, their numbers, and these parameters as texts."""
        groups = enumerate(self._groups.items())
        return [(self._stepping.context(k), np.array(own, dtype=np.int64), texts) for k, (texts, own) in groups]

    def next_step(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean accelerations (n, nv) and efforts of actuators (n, nu) of the next step of each world, with what
        controllers give, and where it takes its forces: q and velocities of velocity terms (n, nq + nv). It is not
        taken; NaN where there is none.
        """
        nq, nv = self._q.shape[1], self._v.shape[1]
        kept = self._try_step({"world_effort": self._u.shape, "world_places": (len(self), 2, nq + nv)})
        places = kept["world_places"]
        return (places[:, 1, nq:] - self._v) / self.plant.time_step(), kept["world_effort"], places[:, 0]

    def next_contacts(self, solids: int) -> FloatArray:
        """(n, solids, 6) moments about World's origin and forces [N m, N] of contact on each solid, as next_step()."""
        return self._try_step({"world_wrench": (len(self), solids, 6)})["world_wrench"]

    def _try_step(self, shapes: dict[str, tuple[int, ...]]) -> dict[str, FloatArray]:
        with self._turn:
            for ticks in self.ticks_of_actors:  # the controller asks sensors itself, which ask here
                ticks.call_if_due()
            if self._next_steps is None:
                advance = partial(self._run_kernels, every=2, messages={})
                self._next_steps = NextSteps(self._new_arrays(0, self.acting[:, np.newaxis]), advance)
            np.add(self._steps, self._first_step, out=self._next_steps.began)
            return self._next_steps.kept(shapes)

    @contextmanager
    def under_controller(
        self,
        controller: Any,
        *,
        rate: float | None = None,
        seed: int = 0,
        effort_limits: str = "clamp",
        sensor_noise: bool = True,
        trajectory: Any = None,
    ) -> Iterator[WorldTicks]:
        """A controller gives u and desired of all worlds while this lasts: step() and rollout() call it when it is due.

        It is what simulate() takes, but sees all worlds at once: time (n,), q (n, nq), v (n, nv), each of `sensors`
        and `targets` with a row a world. It returns (n, nu), or (nu,) for all; {name: numbers (n,), or one};
        or a Command of such arrays. A CompiledFunction is called for one world after another.

        Args:
            controller: a ControllerChoice, or what it takes as `given`.
            rate: [Hz] of its calls, in place of the choice's.
            seed: of its random numbers; world k has the sensors of the single run of `seed + k`.
            effort_limits: "clamp", "warn" or "ignore".
            sensor_noise: whether sensors have noise.
            trajectory: a Follow, or the table of a plan: what `targets` are.

        ControlError, ArgumentError, ModelError or ResourceError for what is none. step() and rollout() raise
        ControlError for what the controller does; the worlds are then where they were at this call of it.
        """
        if self._given_by is not None or self._follows():
            raise ArgumentError("a controller gives the actuation of these worlds already")
        with world_ticks(self, controller, rate, seed, effort_limits, sensor_noise, trajectory) as self._given_by:
            self.ticks.insert(0, self._given_by)
            try:
                yield self._given_by
            finally:
                self.ticks.remove(self._given_by)
                self._given_by = None

    @property
    def ticks_of_actors(self) -> list[WorldTicks]:
        """Without the controller that under_controller() has."""
        return [ticks for ticks in self.ticks if ticks is not self._given_by]

    def lent(self) -> dict[str, Any]:
        """What actors lend to fields of a log."""
        return self._of_run.lent()

    @property
    def is_called(self) -> bool:
        """Whether something is called at ticks: a controller, a trajectory, plugins."""
        return bool(self.ticks)

    def _follows(self) -> bool:
        return self._of_run.actor(Following).ticks is not None

    def exceeded(self) -> list[Exceeded]:
        """The actuators of which a trajectory or plugins asked more in some world than their effort limits."""
        return [each for ticks in self.ticks_of_actors for each in ticks.exceeded()]

    # steps

    def step(self, count: int = 1) -> None:
        """All worlds that run take so many steps, with u and desired as they are.

        An exception that a signal raises, as KeyboardInterrupt, ends the call: each world is then where its last step
        has led it, and `time` says when that is.

        Args:
          count: of steps.

        Raises:
          RuntimeError: another thread steps these worlds.

        Example:
          >>> worlds = mbcli.Worlds(mbcli.load_model("sample_models/double_pendulum.urdf"), 3)
          >>> worlds.step(10)
          >>> worlds.time  # [s]
          array([0.01, 0.01, 0.01])
        """
        if not self.ticks:
            self._advance(count, None, count + 1)
        done = count if not self.ticks else 0
        while done < count:
            done += self._take_steps(count - done)

    def call_if_due(self) -> None:
        """What is called at ticks is called, where the worlds are now; steps do so themselves."""
        for ticks in self.ticks:
            ticks.call_if_due()

    def _take_steps(self, most: int) -> int:
        """Takes steps until the next tick, at most so many; returns how many."""
        self.call_if_due()
        part = min(most, *(ticks.left() for ticks in self.ticks))
        self._advance(part, None, part + 1)
        for ticks in self.ticks:
            ticks.go_on(part)
        return part

    def rollout(self, steps: int, u: ArrayLike | None = None, *, every: int = 1) -> FloatArray:
        """All worlds that run take so many steps; returns their states after each `every`-th one.

        Args:
            steps: of each world.
            u: (n, steps, nu) [N m or N], the actuation in each step, or what can be broadcast to that: (steps, nu) for
                all worlds; default: u of the worlds, held.
            every: steps from one sample to the next.

        Returns:
            [q; v] (n, steps // every, nq + nv); NaN from where a world stopped.

        Raises:
            ArgumentError: `every` is below 1; u has another shape, or a controller gives the actuation.

        Example:
            >>> worlds = mbcli.Worlds(mbcli.load_model("sample_models/double_pendulum.urdf"), 3)
            >>> worlds.rollout(20, every=10).shape
            (3, 2, 4)
        """
        if every < 1:
            raise ArgumentError(f"{argument('every')} is {every}: samples are at least one step apart")
        if u is not None and (self._given_by is not None or self._follows()):
            raise ArgumentError(f"a controller gives the actuation: no {argument('u')} beside it")
        values = self._u[:, np.newaxis]
        if u is not None:
            shape = len(self), max(steps, 1), self._u.shape[1]
            try:
                values = np.ascontiguousarray(np.broadcast_to(np.asarray(u, dtype=float), shape))
            except (TypeError, ValueError):
                raise ArgumentError(f"{argument('u')} has shape {np.shape(u)}, expected {shape}") from None
        if self.ticks:
            return self._rollout_by_ticks(steps, None if u is None else values, every)
        samples = self._advance(steps, values, every)
        for k in np.flatnonzero(self._status):
            samples[k, self._taken[k] // every :] = np.nan
        return samples

    def _rollout_by_ticks(self, steps: int, u: FloatArray | None, every: int) -> FloatArray:
        """As rollout(), with what is called at ticks; u: (n, steps, nu), after which u of the worlds is as before."""
        samples = np.full((len(self), steps // every, self._q.shape[1] + self._v.shape[1]), np.nan)
        before, done = self._u.copy(), 0
        while done < steps:
            if u is not None:
                self._u[:] = u[:, done]
            done += self._take_steps(min(steps - done, every - done % every) if u is None else 1)
            if done % every == 0:
                running = self._status == RUNNING
                samples[running, done // every - 1] = np.hstack([self._q, self._v])[running]
        if u is not None:
            self._u[:] = before
        return samples

    def _advance(self, steps: int, u: Array | None, every: int) -> FloatArray:
        """Samples after each `every`-th step; u: of each step, None for u of the worlds and no samples."""
        if steps < 0:
            raise ArgumentError(f"{argument('steps')} is {steps}")
        with self._turn:
            if u is not None:
                arrays = self._new_arrays(steps // every, u)
            elif self._arrays_of_steps is not None:
                arrays = self._arrays_of_steps
            else:
                arrays = self._arrays_of_steps = self._new_arrays(0, self.acting[:, np.newaxis])
            self._taken[:], self._until[:] = 0, steps
            np.add(self._steps, self._first_step, out=arrays["world_began"])
            try:
                self._run_kernels(arrays, every, self._messages)
            finally:
                self._steps += self._taken
            return arrays["world_samples"]

    def _run_kernels(self, arrays: dict[str, Array], every: int, messages: dict[int, str]) -> None:
        """Advances the worlds of these arrays; messages: are given why contact has no solution."""
        arrays["world_counts"][:] = every
        arrays["world_settings"][:] = self.plant.time_step(), float(implicit_damping(self.plant))
        self._stepping.advance(arrays, messages)

    def _new_arrays(self, samples: int, u: Array) -> dict[str, Array]:
        """What kernels see of all worlds, with room for so many samples of each."""
        return {
            "world_q": self._q,
            "world_v": self._v,
            "world_u": np.ascontiguousarray(u),
            "world_desired": self._desired,
            "world_carried": self._carried,
            "world_activation": self._activations,
            "world_began": self._steps + self._first_step,
            **self._pushed,
            **NOTHING_KEPT,
            **(NO_BALANCE if self._balances is None else self._balances.arrays),
            "world_samples": np.empty((len(self), samples, self._q.shape[1] + self._v.shape[1])),
            "world_status": self._status,
            "world_steps": self._taken,
            "world_until": self._until,
            "world_counts": np.zeros(1, dtype=np.int64),
            "world_settings": np.zeros(2),
        }
