"""One run with its log: from a loaded model and a start to rows, events, checkpoints and a summary."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.common.fast_dataclass import dataclass
from mbcli.common.setting import complete, documented
from mbcli.engine.stepping.pushes import SAME_TIME
from mbcli.errors import ArgumentError, ControlError, MbcliError, ModelError, NumericalError, OutputError
from mbcli.models.loaded_model import LoadedModel
from mbcli.models.loading import note_on_self_contact, notes_on_contact
from mbcli.models.placement import put_on_ground
from mbcli.models.postures import find_postures, posture_positions, set_postures
from mbcli.multibody.assembly.closed_chains import assemble_context
from mbcli.multibody.core.finalize import unused_properties
from mbcli.multibody.core.inputs import controlled_actuators, has_controllers, steps_with_controllers
from mbcli.multibody.core.position_stops import replace_stops, start_stops
from mbcli.multibody.core.velocity_limits import replace_velocity_limits, stated_velocity_limits
from mbcli.multibody.stepping.run import SCHEMES, LinkForce, Run, constant_input
from mbcli.multibody.stepping.ticks import Controller
from mbcli.simulation.control.in_a_run import chosen_controller, chosen_plan, controlling, start_on_plan
from mbcli.simulation.controllers import hold_default_positions
from mbcli.simulation.effort_limits import Exceeded, clamped, efforts_in_words, exceeded_efforts
from mbcli.simulation.energy_error import advice, energy_error, error_in_words, has_ideal_constraints, is_driven
from mbcli.simulation.energy_gain import gain_in_words, is_passive
from mbcli.simulation.fallen_bases import fallen_bases, verticals
from mbcli.simulation.held_joint import Held
from mbcli.simulation.holding import (
    choose_holding,
    give_back_controllers,
    held_in_log,
    holding_in_words,
    renewed_context,
    start_holding,
)
from mbcli.simulation.input_series import as_input, cuts_in_words
from mbcli.simulation.log_target import move_aside, put_back
from mbcli.simulation.observer import Observer
from mbcli.simulation.plugins.commands import PluginCommands
from mbcli.simulation.push_forces import Followers, link_force
from mbcli.simulation.pushes import drawn_pushes, pushed_body, read_pushes
from mbcli.simulation.run_arguments import DEFAULT_DURATION, RunArguments
from mbcli.simulation.run_start import is_context, set_start
from mbcli.simulation.sampling import Sampling
from mbcli.simulation.start_limits import clamp_positions, in_words, positions_outside_limits, what_limits_do
from mbcli.simulation.static_efforts import static_efforts
from mbcli.simulation.summary import Summary
from mbcli.simulation.velocity_limits import velocities_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import Unpack

    from mbcli.config.simulator_config import SimulatorConfig
    from mbcli.log.memory import MemoryLog
    from mbcli.log.writer import LogWriter
    from mbcli.math.array_types import BoolArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.stepping.energy_balance import EnergyBalance
    from mbcli.multibody.stepping.run import Input, Samples
    from mbcli.simulation.control.run_controller import RunController
    from mbcli.simulation.control.tick_sensors import TickSensors
    from mbcli.simulation.earlier_run import EarlierRun

CHECKPOINT_SECONDS = 0.5  # of wall-clock time that a killed run may lose


@dataclass(frozen=True)
class Progress:
    """How far a run is: its time [s] between start and end, and the wall-clock time [s] of its steps until now."""

    time: float
    start: float
    end: float
    began: float
    wall_time: float

    @property
    def part(self) -> float:
        """0 at the start of the run, 1 at its end."""
        return (self.time - self.start) / max(self.end - self.start, 1e-300)

    @property
    def realtime_rate(self) -> float:
        """Simulated seconds for each second of wall-clock time."""
        return (self.time - self.began) / max(self.wall_time, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """Of wall-clock time; None as long as it cannot be known."""
        return (self.end - self.time) / self.realtime_rate if self.realtime_rate > 0.0 else None


class Stopwatch:
    """Adds up wall-clock time while it runs."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._since: float | None = None

    def start(self) -> None:
        self._since = time.perf_counter()

    def stop(self) -> None:
        if self._since is not None:
            self.seconds += time.perf_counter() - self._since
            self._since = None


class RecordedRun:
    """A run from its start to its log.

    Args:
        loaded: LoadedModel.
        until: [s] end of the run; None for `duration`.
        logged_seed: what the log has if `seed` is None; None for that of the settings.
        command: for the log.
        warn: (message) -> None.
        {settings}

    Raises:
        ArgumentError: an argument does not fit the model or another one.
        ModelError, ResourceError: of the files that it reads.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        until: float | None = None,
        *,
        logged_seed: int | None = None,
        command: Sequence[str] = (),
        warn: Callable[[str], object] = lambda message: None,
        **settings: Unpack[RunArguments],
    ) -> None:
        from mbcli.simulation.recording import chosen_fields, needs_of_sensors

        given = complete(RunArguments, settings, "RecordedRun")
        pose, start, inputs, trajectory, controller, fields, seed = (
            given[name] for name in ("pose", "start", "inputs", "trajectory", "controller", "fields", "seed")
        )
        self._effort_limits, self._velocity_limits = given["effort_limits"], given["velocity_limits"]
        self._exceeded: list[Exceeded] = []
        self._pushes, self._push_followers = read_pushes(given["pushes"]), Followers()
        self._choice = chosen_controller(controller, inputs)
        self._follow, self._plan = chosen_plan(loaded.plant, trajectory, controller, inputs)
        self.loaded, self.plant, self.warn = loaded, loaded.plant, warn
        _read_geometries(self.plant)
        self.config = _simulator_config(loaded.config.simulator_config, given)
        own = start if is_context(start) else None
        self._hold, self._drive = loaded.config.hold, loaded.config.drive
        self.held: dict[Any, Held] = {}  # what holds and drives joints, after prepare()
        self._carried: dict[Any, float] = {}  # what controllers that hold and drive joints feed forward at the start
        self._controller: Controller | None = None  # called at ticks
        self._forces: list[LinkForce] = []  # on bodies, that steps take without Python
        self._plugins = PluginCommands(loaded.plant if given["plugins"] else None)
        self._released: dict[Any, Any] = {}  # the gains that the plant had before
        self._own = own  # the caller's context, which has the end of the run
        # after prepare(): stops of a continuous plant, and limits of velocities, which act in this run alone
        self._has_stops = self._has_brakes = False
        self.context = self.plant.CreateDefaultContext() if own is None else own
        own_controllers = own is None and not self._controls()
        self.controlled = hold_default_positions(self.plant, self.context) if own_controllers else []
        self.start = self.began = self.config.start_time if own is None else own.get_time()
        self._ends_as_asked = until is not None or given["duration"] is not None
        self.until = self._end(until, given["duration"])
        self.sampling = Sampling(self.plant, self.start, self.until, given["log_rate"])
        self.fields, self._sensor_noise = chosen_fields(fields, self.plant), given["sensor_noise"]
        self._keeps_accelerations = "reactions" in self.fields or "acceleration" in needs_of_sensors(
            self.plant, self.fields
        )
        if (
            fields is None
            and "effort" in self.fields
            and not (self.controlled or self._controls() or self._choice or self._follow)
            and not self.plant.elements.transmission_actuators
        ):
            self.fields.remove("effort")  # it is u
        if "tracking" in self.fields and self._plan is None:
            if fields is not None:
                raise ArgumentError(f"{argument('fields', 'tracking')}: the run has no {argument('trajectory')}")
            self.fields.remove("tracking")
        self._asks_for_targets = fields is not None
        if "targets" in self.fields and fields is None and not (self._choice or self._follow):
            self.fields.remove("targets")  # what they aim at stays as it is at the start
        seeds = (seed, logged_seed, loaded.config.random_seed)
        self.seed = next(seed for seed in seeds if seed is not None)
        self._command, self._keeps_balance = command, given["balance"]
        self._tolerance = given["constraint_tolerance"]
        self._start_limits = given["start_limits"] or ("clamp" if self._hold.is_on else "warn")
        self.context.SetTime(self.start)
        if seed is not None:  # of random poses; what has none stays at its default
            self.plant.SetRandomContext(self.context, np.random.default_rng(seed))
        self._stated = self._set_start(pose, start)
        self.actuation = None if own is not None and inputs is None else as_input(self.plant, inputs, aims=own is None)
        self.stopwatch, self._observer = Stopwatch(), Observer(self.plant, warn, self._plan, self._velocity_limits)
        self._upright: dict[Any, Any] = {}  # verticals of bases that are to stand
        self._last_time = -np.inf
        self._kept_at, self._kept_rows = time.monotonic(), 0

    def _controls(self) -> bool:
        """Whether the settings hold or drive joints; a run that follows a plan does so itself."""
        return self._follow is None and (self._hold.is_on or bool(self._drive))

    def _set_start(self, pose: str | None, start: Any) -> BoolArray:
        """Puts the start into the context; returns the mask (nq,) of the positions that it states."""
        stated = self._set_pose(pose, "pose") | set_start(self.plant, self.context, start)
        if self._hold.is_on and self._hold.posture is not None and not stated.any():
            self._set_pose(self._hold.posture, "hold")
            set_start(self.plant, self.context, start)  # its velocities
        if self._plan is not None:
            start_on_plan(self.plant, self.context, self._plan, stated)
        return stated

    def _set_pose(self, name: str | None, wanted_by: str) -> BoolArray:
        if name is None:
            return np.zeros(self.plant.num_positions(), dtype=bool)
        postures = find_postures(self.plant, self.loaded.postures, name, wanted_by)
        return set_postures(self.plant, self.context, postures)

    def _end(self, until: float | None, duration: float | None) -> float:
        """[s]"""
        if until is not None:
            if not math.isfinite(until) or until < self.start:
                raise ArgumentError(f"{argument('until', until)}: the run starts at {self.start:g} s")
            return float(until)
        if duration is None:
            duration = self.loaded.config.simulation_duration
        return self.start + (duration if np.isfinite(duration) else DEFAULT_DURATION)

    # before the run

    def prepare(self, note: Callable[[str], object] = lambda message: None, *, resumed: str | None = None) -> None:
        """Moves the start to where a run can begin, and warns of what it will not do.

        note: is told which contact was left out, what was moved, onto limits with start_limits "clamp", onto
            constraints and onto the ground, and what is held.
        resumed: the log that the run goes on with, whose state stays as it is.

        Raises:
            ModelError: with start_limits "error" the start is outside of limits.
            NumericalError: no state that satisfies the constraints was found.
            ArgumentError: a joint to be driven is not there.
        """
        self._has_stops = start_stops(self.plant)
        if self._velocity_limits == "clamp" and not self.plant.velocity_limits:
            replace_velocity_limits(self.plant, stated_velocity_limits(self.plant))
            self._has_brakes = bool(self.plant.velocity_limits)
        if self._has_stops or self._has_brakes:
            self.context = renewed_context(self.plant, self.context)
        if self.sampling.ends_between_steps():
            self.warn(
                f"{self.until:g} s is not at the end of a step of {self.plant.time_step():g} s: the run goes on to "
                f"{self.sampling.end_of_steps:g} s"
            )
        for line in left_out(self.loaded):
            self.warn(line)
        on_self_contact = note_on_self_contact(self.loaded)
        if on_self_contact is not None:
            note(on_self_contact)
        if resumed is None:
            self._move_start(note)
            self._check_limits()
        if self._follow is not None and self._choice is None:
            self._start_following()
        elif self._controls():
            if self._hold.is_on and resumed is None:
                self._upright = verticals(self.plant, self.context)
            self._start_controllers(note, resumed)
        elif self.controlled:
            aimed = self.actuation.aimed if self.actuation is not None else frozenset()
            at_default = [name for name in self.controlled if name not in aimed]
            if at_default:
                self.warn(f"controllers of the file aim at the default positions: {listed(at_default)}")
        cuts = None if self.actuation is None else cuts_in_words(self.actuation)
        if cuts is not None:
            self.warn(cuts)
        if (
            self.actuation is not None
            and self.until > self.context.get_time()
            and self.actuation.times[0] >= self.until
        ):
            begin = self.actuation.times[0]
            self.warn(f"the input begins at {begin:g} s, the run ends at {self.until:g} s: it does not act")
        self._limit_efforts()
        made = None if self._choice is None else self._make_controller()
        forces: list[LinkForce] = []
        if self._plugins:
            forces += self._start_plugins(note)
        if self._pushes:
            pushes = drawn_pushes(self._pushes, self.seed, self.until)
            forces += [link_force(push, pushed_body(self.plant, push.body), self.context) for push in pushes]
            for each, push in zip(self._pushes, pushes, strict=True):
                if each is not push:
                    force = ", ".join(f"{part:.6g}" for part in push.force)
                    note(f"pushes {push.body} by {force} N from {push.start:.6g} to {push.end:.6g} s")
        if forces:
            self._forces = self._push_followers.start(self.plant, self.context, forces)
        if made is not None:
            made.sense(self._tick_sensors)
        if "targets" in self.fields and not len(self.plant.model.pd_actuator):
            if self._asks_for_targets:
                raise ArgumentError(f"{argument('fields', 'targets')}: no PD controllers act in the steps of the run")
            self.fields.remove("targets")

    def _start_plugins(self, note: Callable[[str], object]) -> list[LinkForce]:
        """Lets the plugins of the model act; returns the forces that they change."""
        from mbcli.simulation.plugins.run_plugins import PluginController, plugin_drives, plugins_in_words

        plant = self.plant
        held = plugin_drives(plant, self._plugins, plant.GetPositions(self.context), bool(self.controlled))
        if held:
            self._released |= {a: a.get_controller_gains() if a.has_controller() else None for a in held}
            self.context = start_holding(plant, self.context, held)
        elif any(law.driven for law in self._plugins.laws):
            self.warn("controllers hold joints: plugins of the file do not drive them")
        for line in plugins_in_words(plant, self._plugins):
            note(line)
        commands = self._plugins.start()

        def given(time: float) -> tuple[np.ndarray, np.ndarray]:
            u = self.input_at(time)
            return plant.actuation(self.context) if u is None else u, self._asked_at(time, commands)

        wind = np.array(plant.wind)
        made = PluginController(plant, self._plugins, wind, self._controller, given, self._effort_limits, bool(held))
        self._controller = made
        return made.forces

    def _asked_at(self, time: float, start: np.ndarray) -> np.ndarray:
        """(n,) what the input asks of plugins at a time [s]."""
        series = self.actuation
        if series is None or series.asked is None:
            return start
        row = np.searchsorted(series.times, time + SAME_TIME, side="right") - 1
        return series.asked[row] if row >= 0 else start

    def _tick_sensors(self) -> TickSensors:
        from mbcli.simulation.control.tick_sensors import TickSensors

        return TickSensors(self.plant, self.context, self._forces, self.seed if self._sensor_noise else None)

    def _move_start(self, note: Callable[[str], object]) -> None:
        moved = clamp_positions(self.plant, self.context) if self._start_limits == "clamp" else []
        if moved:
            note(f"moved to their limits: {in_words(moved)}")
        if self.plant.elements.constraints:
            for line in assemble_context(self.context, self._tolerance):
                note(line)
        if self.loaded.ground is not None and self.plant.meets_contact():
            for line in put_on_ground(self.plant, self.context, self.loaded.ground, self._stated):
                note(line)

    def holds_at_ticks(self) -> bool:
        """After prepare(): whether joints are held by a controller that the steps do not know."""
        return self._controller is not None

    def _start_controllers(self, note: Callable[[str], object], resumed: str | None) -> None:
        """Lets controllers hold and drive joints, from the start or as they did in the log that is gone on with."""
        plant, q = self.plant, self.plant.GetPositions(self.context)
        if resumed is not None:
            self.held = held_in_log(plant, resumed)
        else:
            postures = []
            if self._hold.posture is not None:
                postures = find_postures(plant, self.loaded.postures, self._hold.posture, "hold")
            target = posture_positions(plant, postures, q) if postures else q
            self.held = choose_holding(plant, q, target, self._hold, self._drive)
        self._carried = static_efforts(plant, q, self.held)
        if steps_with_controllers(plant):
            self._released = {a: a.get_controller_gains() if a.has_controller() else None for a in self.held}
            self.context = start_holding(plant, self.context, self.held)
            self.controlled = [actuator.name() for actuator in controlled_actuators(plant)]
        else:
            from mbcli.simulation.servo_ticks import ServoTicks

            given: Any  # (time [s]) -> u (nu,)
            given = self.input_at if self.actuation is not None else lambda t: plant.actuation(self.context)
            self._controller = ServoTicks(plant, q, self.held, self._carried, given)
            self._carried = {}  # it begins with them itself
            self.controlled = [actuator.name() for actuator in self.held]
        for line in holding_in_words(plant, self._hold, self.held):
            note(line)

    def _make_controller(self) -> RunController:
        from mbcli.simulation.control.make_controller import make_controller

        if self._controller is not None:
            raise ArgumentError(
                f"{argument('controller')}: {argument('hold')} and {argument('drive')} are a controller themselves in "
                f"a plant whose steps have none; give {argument('dt')} a step"
            )
        assert self._choice is not None
        made = self._controller = make_controller(
            self._choice,
            self.plant,
            seed=self.seed,
            effort_limits=self._effort_limits,
            targets=None if self._plan is None else self._plan.at,
        )
        return made

    def _start_following(self) -> None:
        """Lets joints follow the plan."""
        from mbcli.simulation.control.follow import Follower, following_controllers, require_followable

        assert self._follow is not None and self._plan is not None
        plant, way = self.plant, self._follow.way
        require_followable(self._plan, way, plant)
        q = plant.GetPositions(self.context)
        held = following_controllers(self._plan, way, plant, q)
        if held:
            limits = {actuator: actuator.effort_limit() for actuator in held}
            for actuator in held if way == "prescribed" else ():
                actuator.set_effort_limit(np.inf)
            self._released = {a: a.get_controller_gains() if a.has_controller() else None for a in held}
            self.context = start_holding(plant, self.context, held)
            for actuator, limit in limits.items():  # the arrays of the run are without them, the model has them
                actuator.set_effort_limit(limit)
            self.controlled = [actuator.name() for actuator in controlled_actuators(plant)]
        else:
            self.controlled = [actuator.name() for actuator in plant.elements.actuators]
        self._controller = Follower(self._plan, way, plant, q, self._effort_limits)

    def release(self) -> None:
        """Gives the plant the controllers back that it had before prepare(), for contexts that are made from now on.

        A context that the run started from has its end then, and its ports what they had.
        """
        self._push_followers.end()
        if self._own is not None and self._own is not self.context:
            self._own.SetTime(self.context.get_time())
            self.plant.SetPositionsAndVelocities(self._own, self.plant.GetPositionsAndVelocities(self.context))
        if self._has_stops:
            replace_stops(self.plant, ())
        if self._has_brakes:
            replace_velocity_limits(self.plant, ())
        self._has_stops = self._has_brakes = False
        if self._released:
            give_back_controllers(self.plant, self._released)
            self._released = {}

    def _check_limits(self) -> None:
        outside = positions_outside_limits(self.plant, self.context)
        if outside and self._start_limits == "error":
            raise ModelError(f"the start is outside of limits: {in_words(outside)}")
        if outside:
            advice = f"; {argument('start_limits', 'clamp')} starts at the limits"
            advice = "" if self._start_limits == "clamp" else advice
            self.warn(f"the start is outside of limits, {what_limits_do(self.plant)}: {in_words(outside)}{advice}")

    def _limit_efforts(self) -> None:
        if self.actuation is None:
            return
        self._exceeded = exceeded_efforts(self.plant, self.actuation, self.context.get_time(), self.until)
        line = efforts_in_words(self._exceeded, self._effort_limits)
        if line:
            self.warn(line)
        if self._effort_limits == "clamp":
            self.actuation = clamped(self.plant, self.actuation)

    def input_at(self, t: float) -> np.ndarray | None:
        """u (nu,) at time t [s]; None if it is what ports have then."""
        if self.actuation is None:
            return None
        row = np.searchsorted(self.actuation.times, t, side="right") - 1
        return self.actuation.values[row] if row >= 0 else np.zeros(self.actuation.values.shape[1])

    # the run

    def run(
        self,
        log: str | None = None,
        *,
        resumed: str | None = None,
        force: bool = False,
        in_memory: bool = False,
        described: bool = True,
        should_stop: Callable[[], int] = lambda: 0,
        on_progress: Callable[[Progress], object] = lambda progress: None,
        on_start: Callable[[], object] = lambda: None,
    ) -> Summary:
        """Runs to the end, or until should_stop() is not 0; writes the log and returns the Summary.

        Args:
            log: the file; None for none.
            resumed: the log that the run goes on with.
            force: replaces an existing log.
            in_memory: whether rows are kept in `self.memory`, a MemoryLog, if there is no file.
            described: whether a log in memory has the model and the configuration; a file always has.
            should_stop: asked between blocks of steps: 0, or the exit code that the log records.
            on_progress: is given the Progress after each block of steps.
            on_start: called when everything is compiled or loaded and the steps begin.

        Raises:
            NumericalError: the run cannot go on. The rows before are in the log; the context has the last good state.
        """
        self.memory: MemoryLog | None = None
        self._describes = described
        self._watchers: tuple[Callable[[], Any], Callable[[Progress], object], Callable[[], object]]
        self._watchers = should_stop, on_progress, on_start
        with np.errstate(all="ignore"), controlling(self._choice and self._controller):
            # errstate: interpreted kernels; a number that is not finite ends the run with its name
            summary = self._run(log, force, in_memory) if resumed is None else self._resume(log, resumed, force)
        fell = fallen_bases(self.plant, self.context, self._upright)
        if fell is not None:
            self.warn(fell)
        self._tell_of_efforts(summary)
        return summary

    def _tell_of_efforts(self, summary: Summary) -> None:
        """Warns of what a controller asked for beyond effort limits."""
        if self._choice is not None or self._follow is not None:
            line = efforts_in_words(summary.efforts_beyond, self._effort_limits)
            if line:
                self.warn(line)

    def _resume(self, log: str | None, path: str, force: bool) -> Summary:
        from mbcli.simulation.earlier_run import EarlierRun

        aside = None
        of_run = self.start, self.sampling.is_sample, self._plan, self._controller is not None
        with EarlierRun(path, self.loaded, self.fields, *of_run) as earlier:
            earlier.lock()
            if self._controller is None:
                earlier.check_input(self.input_at)
            if self._ends_as_asked:
                earlier.refuse_end(max(self.until, self.sampling.end_of_steps))
            replaced = log is not None and os.path.realpath(path) == os.path.realpath(f"{log}.partial")
            if replaced:
                aside = move_aside(path)
            same = log is not None and os.path.realpath(path) == os.path.realpath(log)
            try:
                return self._run(log, force or replaced or same, False, earlier, aside)
            except OutputError as error:
                if aside is None or not put_back(aside, path):
                    raise
                raise OutputError(f"{error}; {path} is as it was") from None

    def _run(
        self, log: str | None, force: bool, in_memory: bool, earlier: EarlierRun | None = None, aside: str | None = None
    ) -> Summary:
        if earlier is not None:
            self.context.SetTime(earlier.time)
            self.plant.SetPositions(self.context, earlier.q)
            self.plant.SetVelocities(self.context, earlier.v)
            start = 0
            for own in self.context.state.deformables:
                own.set_values(earlier.deformables[start : start + own.values.size])
                start += own.values.size
            self.until = max(self.until, earlier.end_time)
        run = Run(
            self.plant,
            self.context,
            self.until,
            config=self.config,
            actuation=self.actuation,
            sample_period=self.sampling.period,
            next_step=None if earlier is None else earlier.next_step,
            constraint_tolerance=self._tolerance,
            keep_contacts=True,
            keep_accelerations=self._keeps_accelerations,
            keep_balance=self._keeps_balance or None,
            asleep=None if earlier is None else earlier.asleep,
            keep_efforts=self._has_own_efforts(),
            controller=self._controller,
            forces=self._forces,
            going_on=self.carried_at_start() if earlier is None else earlier.checkpoint,
        )
        run.compile()
        self._observer.begin(run)
        self.began = self.context.get_time()
        should_stop, _, on_start = self._watchers
        on_start()
        rows = None
        if log is None and not in_memory:
            for samples in self._blocks(run, None):
                self._observer.see(samples)
        else:
            rows = self._run_with_log(run, log, force, earlier, aside)
        return self._summary(run, should_stop(), log, rows)

    def carried_at_start(self) -> dict[str, np.ndarray] | None:
        """What controllers feed forward when the run begins, as a checkpoint has it."""
        if not self._carried:
            return None
        carried = {a.input_start(): effort for a, effort in self._carried.items()}
        return {"carried": np.array([carried.get(int(k), 0.0) for k in self.context.state.model.pd_actuator])}

    def _run_with_log(
        self, run: Run, path: str | None, force: bool, earlier: EarlierRun | None, aside: str | None
    ) -> int:
        """Returns the number of rows of the log."""
        should_stop = self._watchers[0]
        with self._open_log(run, path, force) as log:

            def event(t: float, *what: Any, at_start: bool = False) -> None:
                discrete = self.plant.is_discrete()
                step = round(t / self.plant.time_step()) if discrete else 0 if at_start else run.steps
                log.event(t, step, *what)

            try:
                self._begin(log, run, earlier)
                if aside is not None:
                    os.unlink(aside)
                for samples in self._blocks(run, log):
                    self._observer.see(samples, event)
                    self._append(log, samples)
                stopped = should_stop()
                if stopped or not self._rows_are_enough(run):
                    log.checkpoint(self._checkpoint(run))
            except (NumericalError, ControlError) as error:
                self._append_last_good_row(log, run)
                log.event(self.context.get_time(), run.steps, "error", error.code, str(error))
                log.finish("failed", error.exit_code, str(error))
                if path is None:
                    raise
                raise type(error)(f"{error}; the rows before it are in {path}") from None
            if stopped:
                log.finish("interrupted", int(stopped), "stopped by a signal")
            else:
                log.finish("complete", 0)
            return log.row_count

    def _append_last_good_row(self, log: MemoryLog | LogWriter, run: Run) -> None:
        """The state before the step that failed, which the context has."""
        actuation = self.actuation if self._controller is None else constant_input(run.actuation_now())
        here = Run(
            self.plant,
            self.context,
            self.context.get_time(),
            actuation=actuation,
            constraint_tolerance=self._tolerance,
            keep_contacts=True,
            keep_accelerations=self._keeps_accelerations,
            keep_efforts=self._has_own_efforts(),
        )
        for samples in here.blocks():
            self._append(log, samples)

    def _begin(self, log: MemoryLog | LogWriter, run: Run, earlier: EarlierRun | None) -> None:
        """The rows of the earlier log, and the needs of a run that goes on from here."""
        from mbcli.simulation.recording import RowMaker, loads_of_rows

        known = [force for force in self._forces if np.isfinite(force.start)]  # those of plugins change in each step
        loads = loads_of_rows(self.plant, self.context, self.fields, known)
        self._rows_of = RowMaker(self.plant, self.fields, self._plan, loads)
        if "sensors" in self.fields:
            self._rows_of.sense(self.seed if self._sensor_noise else None)
        if earlier is not None:
            for rows in earlier.blocks():
                self._observer.see_rows(rows)
                self._rows_of.go_on(rows)
                log.append(**rows)
            for event in earlier.events():
                log.event(**event)
            self._last_time = earlier.last_time
        if not self._rows_are_enough(run) or earlier is not None:
            log.checkpoint(self._checkpoint(run))

    def _blocks(self, run: Run, log: MemoryLog | LogWriter | None) -> Iterator[Samples]:
        """The blocks of samples of a run, with the time that its steps take on the stopwatch."""
        should_stop, on_progress, _ = self._watchers

        def pause(t: float) -> None:
            self.stopwatch.stop()
            if log is not None:
                self._keep(log, run)
            on_progress(Progress(t, self.start, self.until, self.began, self.stopwatch.seconds))
            self.stopwatch.start()

        blocks = run.blocks(should_stop, pause)
        try:
            while True:
                self.stopwatch.start()
                samples = next(blocks, None)
                self.stopwatch.stop()
                if samples is None:
                    return
                yield samples
        finally:
            self.stopwatch.stop()

    def _rows_are_enough(self, run: Run) -> bool:
        """Whether a run can go on from a row: not between integration steps, nor without more than q and v."""
        remembers = run.sleep is not None or run.ticks is not None or self.held
        remembers = remembers or self.plant.model.sizes["nactivation"]
        return self.plant.is_discrete() and not self.context.state.deformables and not remembers

    def _has_own_efforts(self) -> bool:
        """Whether efforts of the step are others than the inputs."""
        return has_controllers(self.plant) or bool(self.plant.elements.transmission_actuators)

    def _checkpoint(self, run: Run) -> dict[str, Any]:
        """What a run needs that goes on from here."""
        deformables = self.context.state.deformables
        kept = {"deformables": np.concatenate([own.values for own in deformables])} if deformables else {}
        return run.checkpoint() | kept

    def _keep(self, log: MemoryLog | LogWriter, run: Run) -> None:
        """What a run needs that goes on, as often as the log reaches the disk, unless rows are enough."""
        log.flush_if_due()
        if time.monotonic() - self._kept_at < CHECKPOINT_SECONDS:
            return
        if not self._rows_are_enough(run) or log.row_count == self._kept_rows:
            log.checkpoint(self._checkpoint(run))
        self._kept_at, self._kept_rows = time.monotonic(), log.row_count

    # the log

    def _open_log(self, run: Run, path: str | None, force: bool) -> AbstractContextManager[MemoryLog | LogWriter]:
        from mbcli.simulation.recording import kernels_in_words, log_header

        header = log_header(
            self.loaded,
            self.fields,
            argv=tuple(self._command),
            seed=self.seed,
            held=self.held,
            plan=self._plan,
            controller=self._controller_in_words(),
            kernels=kernels_in_words(self.context),
            described=self._describes or path is not None,
            checkpoint=self._checkpoint(run),
            expected_rows=self.sampling.expected_rows(self.until),
        )
        if path is None:
            from mbcli.log.memory import MemoryLog

            self.memory = MemoryLog(header)
            return nullcontext(self.memory)
        from mbcli.log.writer import LogWriter

        return LogWriter(path, header, force=force)

    def _controller_in_words(self) -> dict[str, Any] | None:
        if self._choice is None:
            return None
        from mbcli.simulation.control.make_controller import controller_in_words

        return controller_in_words(self._choice.given)

    def _append(self, log: MemoryLog | LogWriter, samples: Samples) -> None:
        """The rows that a run without a break has; one that goes on also samples its beginning."""
        chosen = samples.time > self._last_time
        if samples.time.size and samples.time[0] == self.began and self.began not in (self.start, self.until):
            chosen[0] &= self.sampling.is_sample(self.began)
        if chosen.any():
            rows = self._rows_of.rows(samples, chosen)
            self._last_time = float(rows["time"][-1])
            log.append(**rows)

    # after the run

    def _summary(self, run: Run, stopped: int, log: str | None, rows: int | None) -> Summary:
        simulated = self.context.get_time() - self.began
        wall = self.stopwatch.seconds
        observer = self._observer
        if self._choice is not None or self._follow is not None:
            controller: Any = self._controller  # a RunController
            self._exceeded = controller.commands.exceeded()
        last: Any
        first, last = observer.energies if observer.energies else (None, None)
        summary = Summary(
            status="interrupted" if stopped else "complete",
            steps=run.steps,
            refused_steps=run.refused_steps,
            start_time=self.began,
            end_time=self.context.get_time(),
            simulated_time=simulated,
            wall_time=wall,
            realtime_rate=simulated / wall if simulated and wall else None,
            time_step=self.plant.time_step(),
            integrator=None if self.plant.is_discrete() else run.config.integration_scheme,
            energy_start=first,
            energy_end=last,
            energy_drift=None if first is None else last - first,
            energy_error=energy_error(run, observer.energy_change, self._acting(), self.controlled),
            balance=self._balance_of(run),
            constraint_error=observer.constraint_error,
            contact=observer.contact_summary(),
            efforts=observer.effort_summary(self.controlled),
            tracking=observer.tracking_summary(),
            exceeded_limits=observer.exceeded_limits,
            exceeded_efforts=[exceeded.actuator for exceeded in self._exceeded],
            efforts_beyond=self._exceeded,
            velocities_beyond=observer.fast(),
            log=log,
            rows=rows,
        )
        self._warn_of_result(run, summary)
        complaint = None if run.contact is None else run.contact.complaint()
        if complaint is not None:
            self.warn(complaint)
        return summary

    def _acting(self) -> Input | None:
        """The input of the run; None if it is not known before, as that of a controller."""
        return None if self._controller is not None or self._pushes else self.actuation

    def _balance_of(self, run: Run) -> dict[str, float] | None:
        """The energy balance of a run; an error of the integration that is not small is reported."""
        balance = run.energy_balance() if self._keeps_balance else None
        if balance is None:
            if self._keeps_balance:
                self.warn(f"{argument('balance')}: the work of all causes is not known, {run.why_no_balance()}")
            return None
        ideal = has_ideal_constraints(self.plant, self.context)
        if balance.is_considerable(ideal, self._observer.energy_change.most_kinetic):
            controlled = not self.plant.is_discrete() and run.has_error_control()
            name = "dt" if self.plant.is_discrete() else "accuracy" if controlled else "max_step"
            self.warn(
                f"the error of the integration is {balance.error(ideal):.3g} J of {balance.flow:.3g} J that flowed: "
                f"{self._lessening(argument(name))}{self._keeping(balance)}"
            )
        return balance.as_dict()

    def _lessening(self, option: str) -> str:
        """What a smaller step does to the error of the integration, in words."""
        touched = self.plant.is_discrete() and self._observer.most_contacts > 0
        if touched and any(solid.bounce[0] > 0.0 for solid in self.plant.compiled_geometries().solids):
            return (
                f"what a bounce adds depends on when in a step it falls, so that a {option} of a tenth makes it "
                "smaller, a little smaller one not always"
            )
        return f"a smaller {option} makes it smaller"

    def _keeping(self, balance: EnergyBalance) -> str:
        """What keeps the energy of contact that does not dissipate, in words."""
        touched = self.plant.is_discrete() and self._observer.most_contacts > 0
        lost_in_contact = touched and balance.contact_dissipation == 0.0
        return f", {argument('dt', 0)} keeps the energy of contact without losses" if lost_in_contact else ""

    def _warn_of_result(self, run: Run, summary: Summary) -> None:
        line = velocities_in_words(summary.velocities_beyond, self._velocity_limits)
        if line:
            self.warn(line)
        change = self._observer.energy_change
        complaint, gain = None, change.gain()
        if gain is not None and self._is_passive():
            complaint = gain_in_words(self.plant, self.context, gain, advice(run))
        elif summary.energy_error is not None:
            complaint = error_in_words(run, summary.energy_error, change)
        if complaint is not None:
            self.warn(complaint)

    def _is_passive(self) -> bool:
        """Whether gravity alone can give energy to the plant."""
        driven = bool(self._forces) or is_driven(self._acting(), self.controlled)
        return not driven and is_passive(self.plant, self.context, bool(self._plugins))


def left_out(loaded: LoadedModel) -> list[str]:
    """Sentences on what a model has and the simulation does not do."""
    lines = notes_on_contact(loaded)
    lines += [str(line) for line in [*loaded.plant.dropped_by_loop_cut, *unused_properties(loaded.plant)]]
    return lines


def _read_geometries(plant: MultibodyPlant) -> None:
    """The solids that collide; an error in them names the option to leave them out."""
    try:
        if plant.meets_contact():
            plant.compiled_geometries()
    except MbcliError as error:
        raise type(error)(f"{error}; {argument('contact', False)} leaves out all that collides") from None


def _simulator_config(config: SimulatorConfig, given: Mapping[str, Any]) -> SimulatorConfig:
    """The settings of continuous integration, changed where something is given."""
    integrator = given["integrator"]
    if integrator is not None and integrator not in SCHEMES:
        raise ArgumentError(f"{argument('integrator')}: there is no '{integrator}'; there are {', '.join(SCHEMES)}")
    own = {"integrator": "integration_scheme", "accuracy": "accuracy", "max_step": "max_step_size"}
    for name, attribute in own.items():
        if given[name] is not None:
            setattr(config, attribute, given[name])
    return config


documented(RecordedRun, RunArguments)
