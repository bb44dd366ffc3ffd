"""Runs of one model from many starts, all at once, into one log: what simulate_each() and `--each` do."""

from __future__ import annotations

import itertools
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.setting import complete, documented
from mbcli.errors import ArgumentError, ControlError, ModelError
from mbcli.models.falling import falling_in_words
from mbcli.multibody.core.velocity_limits import velocity_bounds
from mbcli.multibody.tree.joint_kinds import has_quaternion
from mbcli.simulation.control.in_a_run import chosen_plan
from mbcli.simulation.effort_limits import clamped, efforts_in_words, exceeded_efforts
from mbcli.simulation.energy_gain import is_passive, smaller_step
from mbcli.simulation.input_series import as_input, cuts_in_words
from mbcli.simulation.plugins.commands import PluginCommands
from mbcli.simulation.plugins.plugin_energy import PluginEnergy
from mbcli.simulation.pushes import idle_pushes_in_words, read_pushes
from mbcli.simulation.recording import chosen_fields, log_header, logged_plant, row_fields
from mbcli.simulation.run_arguments import RunArguments
from mbcli.simulation.sampling import DEFAULT_DURATION, Sampling
from mbcli.simulation.start_limits import clamp_rows, rows_outside_limits
from mbcli.simulation.velocity_limits import VelocityRecord, fastest, velocities_in_words
from mbcli.simulation.world_checkpoint import checkpoint_of
from mbcli.simulation.world_gains import WorldGains
from mbcli.simulation.world_rows import WorldRows
from mbcli.simulation.worlds import OF_WORLDS, Worlds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Unpack

    from mbcli.log.worlds_writer import WorldsWriter
    from mbcli.math.array_types import FloatArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.simulation.earlier_worlds import EarlierWorlds
    from mbcli.simulation.world_starts import Starts
    from mbcli.simulation.world_ticks import WorldTicks

BLOCK_BYTES = 1 << 26  # of samples that are in memory at once


class WorldsSummary(NamedTuple):
    """What runs from many starts came to.

    Attributes:
        status: "complete" or "interrupted".
        worlds: their number.
        failures: {number of a world that stopped: (time [s], why)}
        start_time, end_time: [s] of this part of the runs.
        time_step: [s]
        wall_time: [s] of the steps.
        steps: of all worlds together.
        balance: {entry of EnergyBalance: [J] one number a world}, None unless it is kept.
        log: the file, None without one.
    """

    status: str
    worlds: int
    failures: dict[int, tuple[float, str]]
    start_time: float
    end_time: float
    time_step: float
    wall_time: float
    steps: int
    balance: dict[str, list[float]] | None
    log: str | None

    def as_dict(self) -> dict[str, Any]:
        """As the JSON document of `--each` has it."""
        stopped = [{"world": k, "time": at, "message": text} for k, (at, text) in self.failures.items()]
        return {name: value for name, value in self._asdict().items() if name != "failures"} | {"stopped": stopped}


class WorldsRun:
    """Worlds with their starts, what acts in them, their rows and their log.

    Args:
        loaded: LoadedModel of a discrete plant.
        starts: of all worlds; None with `earlier`.
        until: [s] end of the runs; None for `duration`.
        earlier: the EarlierWorlds that the runs go on with.
        threads: as of Worlds.
        command: for the log.
        warn, note: (message) -> None.
        on_compile: as of Worlds.
        {settings}

    Raises:
        ArgumentError, ModelError: a setting does not fit worlds or the model; a start cannot be one.
        NumericalError: no state near a start satisfies the constraints.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        starts: Starts | None,
        until: float | None = None,
        *,
        earlier: EarlierWorlds | None = None,
        threads: int | None = None,
        command: Sequence[str] = (),
        warn: Callable[[str], None] = lambda message: None,
        note: Callable[[str], object] = lambda message: None,
        on_compile: Callable[[], object] = lambda: None,
        **settings: Unpack[RunArguments],
    ) -> None:
        self.given = given = complete(RunArguments, settings, "WorldsRun")
        self._command, self._warn, self._note, self._earlier = tuple(command), warn, note, earlier
        first = earlier.starts if earlier is not None else starts
        assert first is not None
        of_worlds: Any = {name: value for name, value in given.items() if name in OF_WORLDS}
        if given["controller"] is not None:
            of_worlds["trajectory"] = None  # it is what the controller is given
            if first.u is not None:
                raise ArgumentError(f"the starts have actuation: no {argument('controller')}")
        self.worlds = worlds = Worlds(
            loaded, len(first.q), threads=threads, warn=warn, on_compile=on_compile, **of_worlds
        )
        self.loaded, self.plant = worlds.loaded, worlds.plant
        if earlier is None:
            self._place(first)
        else:
            worlds.q, worlds.v = first.q, first.v
        self.start = self._began = worlds.start_time
        if until is None:
            duration = given["duration"] if given["duration"] is not None else loaded.config.simulation_duration
            until = self.start + (duration if np.isfinite(duration) else DEFAULT_DURATION)
        self._sampling = Sampling(self.plant, self.start, until, given["log_rate"])
        self._seed = loaded.config.random_seed if given["seed"] is None else given["seed"]
        if given["pushes"]:
            worlds.push(given["pushes"], seed=self._seed, until=until)
            idle = idle_pushes_in_words(read_pushes(given["pushes"]), self.start, until)
            if idle and earlier is None:
                warn(idle)
        self._plan = chosen_plan(self.plant, given["trajectory"], given["controller"], None)[1]
        self._lent = worlds.lent() | {"plan": self._plan}  # Worlds have none under a controller
        self.fields = self._chosen_fields(given["fields"])
        noise = self._seed if given["sensor_noise"] else None
        self._sensors = worlds.sensors(noise) if "sensors" in self.fields else None
        h = self.plant.time_step()
        self.steps = round((self._sampling.end_of_steps - self.start) / h)
        width = 1 if self._sampling.period is None else max(1, round(self._sampling.period / h))
        self._rows = [*range(0, self.steps, width), self.steps] if self.steps else [0]
        self._times = self.start + h * np.array(self._rows)
        self._series = self._actuation(given["inputs"])
        if earlier is None and first.u is not None:
            worlds.u = first.u
        own = [name for name in self.fields if name != "sensors"]
        by_rows = given["controller"] is not None or worlds.is_called or self._sensors is not None
        by_rows = by_rows or own not in ([], ["u"])
        self._more = WorldRows(worlds, own, self._lent) if by_rows else None
        self._gains = None if self._is_driven() else _gains(worlds, len(self._rows))
        limited = len(worlds) if velocity_bounds(self.plant) else 0
        self._speeds = [VelocityRecord(self.plant, given["velocity_limits"]) for _ in range(limited)]
        self._todo = self._rows
        if earlier is not None:
            self._go_on(earlier)
        self._balances = worlds.keep_balances() if given["balance"] else None
        self._writer: WorldsWriter | None = None

    def _is_driven(self) -> bool:
        given, series = self.given, self._series
        if self._earlier is not None:
            driven = self._earlier.has_actuation
        else:
            driven = bool(self.worlds.u.any())
        driven = driven or (series is not None and bool(series.any()))
        return driven or any(given[name] for name in ("pushes", "controller", "trajectory"))

    def _go_on(self, earlier: EarlierWorlds) -> None:
        """The worlds, which are at the starts of an earlier log, go to its end."""
        earlier.require_controller(self.given["controller"] is not None)
        paths = [field.path for field in row_fields(self.fields, logged_plant(self.plant, self._lent))]
        series = None if self.worlds.is_called else self._series  # else the log has what acted beside it
        earlier.check(self.loaded, self.fields, paths, self._times, series)
        self._began = earlier.begin(self.worlds)
        done = earlier.steps_done
        self._todo = [done, *(row for row in self._rows if row > done)]

    # before the steps

    def _place(self, starts: Starts) -> None:
        """Puts the starts into the worlds; controllers that hold joints hold them there."""
        worlds, plant, q, given, hold = self.worlds, self.plant, starts.q, self.given, self.loaded.config.hold
        outside = rows_outside_limits(plant, q)
        choice = given["start_limits"] or ("clamp" if hold.is_on else "warn")
        if outside.any():
            count = f"{int(outside.sum())} of {len(q)} starts are outside of limits"
            if choice == "error":
                raise ModelError(f"{count}, first row {outside.argmax()}")
            if choice == "clamp":
                q = clamp_rows(plant, q)
            else:
                self._warn(f"{count}, and the stops bring them back slowly")
        for joint in plant.moving_joints():
            if has_quaternion(joint):
                four = slice(joint.position_start(), joint.position_start() + 4)
                zero = np.flatnonzero(~q[:, four].any(axis=1))
                if len(zero):
                    raise ModelError(f"row {zero[0]}: the quaternion of joint '{joint.name()}' is zero: no rotation")
        worlds.q, worlds.v = q, starts.v
        moved = worlds.assemble(tolerance=given["constraint_tolerance"])
        if moved:
            self._note(f"assembled {len(moved)} of {len(q)} starts, which did not satisfy the constraints")
        worlds.hold_here(hold.is_on and hold.posture is None)
        falls = falling_in_words(plant)
        if falls is not None:
            self._note(falls)

    def _chosen_fields(self, wanted: Any) -> list[str]:
        """The fields of the log, beside q and v. ArgumentError for one that these worlds do not have."""
        words = wanted.replace(",", " ").split() if isinstance(wanted, str) else list(wanted or ())
        plant = self.plant
        fields = chosen_fields([*words, *(["u"] if plant.num_actuators() else [])], plant)
        if "sensors" in words and not plant.elements.sensors:
            raise ArgumentError(f"{argument('fields', 'sensors')}: the model has no sensors")
        if "tracking" in fields and self._plan is None:
            raise ArgumentError(f"{argument('fields', 'tracking')}: the run has no {argument('trajectory')}")
        if "targets" in fields and not self.worlds.controlled:
            raise ArgumentError(f"{argument('fields', 'targets')}: no PD controllers act in the steps of the run")
        return fields

    def _actuation(self, given: Any) -> FloatArray | None:
        """u (steps, nu) of the inputs, from the first step on; None without them."""
        if given is None:
            return None
        times, choice = self.start + self.plant.time_step() * np.arange(self.steps + 1), self.given["effort_limits"]
        series = as_input(self.plant, given)
        self.worlds.ask_of_plugins(series)
        exceeded = exceeded_efforts(self.plant, series, times[0], times[-1])
        for line in (cuts_in_words(series), efforts_in_words(exceeded, choice)):
            if line:
                self._warn(line)
        if choice == "clamp":
            series = clamped(self.plant, series)
        row = np.searchsorted(series.times, times[:-1], side="right") - 1
        return np.where((row >= 0)[:, np.newaxis], series.values[np.maximum(row, 0)], 0.0)

    def _under_controller(self) -> AbstractContextManager[WorldTicks | None]:
        """The controller of the user, for the time of the runs."""
        given = self.given
        if given["controller"] is None:
            return nullcontext()
        return self.worlds.under_controller(
            given["controller"],
            seed=self._seed,
            effort_limits=given["effort_limits"],
            sensor_noise=given["sensor_noise"],
            trajectory=given["trajectory"],
        )

    def _new_writer(self, path: str) -> WorldsWriter:
        from mbcli.log.worlds_writer import WorldsWriter

        header = log_header(self.loaded, self.fields, {}, lent=self._lent, argv=self._command, seed=self._seed)
        return WorldsWriter(path, header, self._times, len(self.worlds))

    # the runs

    def run(
        self,
        log: str | None = None,
        *,
        should_stop: Callable[[], int] = lambda: 0,
        on_start: Callable[[], object] = lambda: None,
    ) -> WorldsSummary:
        """Runs all worlds to the end, or until should_stop() is not 0, writes their log and returns the summary.

        ControlError for what a controller does: the log has the rows before.
        """
        worlds, earlier = self.worlds, self._earlier
        self._writer = writer = None if log is None else self._new_writer(log)
        before = worlds.time
        try:
            for row, block in () if earlier is None else earlier.blocks():
                samples = np.dstack([block["state/q"], block["state/v"]])
                rows = self._rows[row : row + samples.shape[1]]
                self._see(samples, rows)
                if self._sensors is not None:
                    self._sensors.go_on(block | {"time": self._times[row : row + len(rows)]})
                if writer is not None:
                    writer.append(**block)
            on_start()
            began = time.perf_counter()
            with self._under_controller() as ticks:
                if ticks is not None and earlier is not None:
                    earlier.begin_ticks(ticks)
                status = self._advance(should_stop) if self._more is None else self._advance_by_rows(should_stop)
                asked = [*(ticks.exceeded() if ticks is not None else ()), *worlds.exceeded()]
                kept = self._kept(ticks)
            wall = time.perf_counter() - began
            failures = worlds.failures()
            if writer is not None:
                messages = [failures.get(k, "") for k in range(len(worlds))]
                writer.finish(status, worlds.time, messages, *kept)
        except ControlError as error:
            if writer is None:
                raise
            messages = [worlds.failures().get(k, str(error)) for k in range(len(worlds))]
            writer.finish("failed", worlds.time, messages)
            raise ControlError(f"{error}; the rows before it are in {log}") from None
        except BaseException:
            if writer is not None:
                writer.abandon()
            raise
        limits = self.given["effort_limits"], self.given["velocity_limits"]
        gained = None if self._gains is None else self._gains.in_words(smaller_step())
        beyond = efforts_in_words(asked, limits[0]), velocities_in_words(fastest(self._speeds), limits[1])
        lost = None if self._balances is None else self._balances.in_words()
        for line in (*beyond, gained, lost):
            if line:
                self._warn(line)
        balances = None if self._balances is None else [each.as_dict() for each in self._balances.results()]
        h = self.plant.time_step()
        return WorldsSummary(
            status=status,
            worlds=len(worlds),
            failures={k: (float(worlds.time[k]), text) for k, text in failures.items()},
            start_time=self._began,
            end_time=float(worlds.time.max()),
            time_step=h,
            wall_time=wall,
            steps=int(round((worlds.time - before).sum() / h)),
            balance=None if balances is None else {name: [b[name] for b in balances] for name in balances[0]},
            log=log,
        )

    def _kept(self, ticks: WorldTicks | None) -> tuple[dict[str, Any], dict[str, Any]]:
        """What runs need that go on from here, beside q and v: of the worlds, and of the controller of the user."""
        if self._writer is None:
            return {}, {}
        try:
            return checkpoint_of(self.worlds), {} if ticks is None else ticks.save()
        except ControlError as error:
            self._warn(f"{error}; the log has no checkpoint to go on from")
            return {}, {}

    def _see(self, samples: FloatArray, at: Sequence[int]) -> None:
        """What looks at all rows sees some: [q; v] (n, rows, ...) after so many steps."""
        times = np.array(at) * self.plant.time_step() + self.start
        if self._gains is not None:
            self._gains.see(samples, times)
        for speeds, rows in zip(self._speeds, samples, strict=False):  # none without limits
            speeds.see(times, rows[:, self.plant.num_positions() :])

    def _write(self, samples: FloatArray, at: Sequence[int], more: Mapping[str, Any] | None = None) -> None:
        """[q; v] (n, rows, ...) after so many steps; more: {path: values of the same rows}."""
        worlds, nq = self.worlds, self.plant.num_positions()
        self._see(samples, at)
        if self._writer is None:
            return
        u = np.broadcast_to(worlds.u[:, np.newaxis], (len(worlds), len(at), worlds.u.shape[1]))
        if self._series is not None and len(self._series):
            u = np.broadcast_to(self._series[np.minimum(at, len(self._series) - 1)], u.shape)
        extra = {"input/u": u} if worlds.u.shape[1] else {}
        self._writer.append(**{"state/q": samples[:, :, :nq], "state/v": samples[:, :, nq:], **extra, **(more or {})})

    def _advance(self, should_stop: Callable[[], int]) -> str:
        """Takes all steps, block by block; returns how the runs ended."""
        worlds, rows, series = self.worlds, self._todo, self._series
        per_row = 8 * len(worlds) * (worlds.q.shape[1] + worlds.v.shape[1] + worlds.u.shape[1])
        most, k = max(1, BLOCK_BYTES // max(per_row, 1)), 0
        if self._earlier is None:
            self._write(np.hstack([worlds.q, worlds.v])[:, np.newaxis], [0])
        while k < len(rows) - 1:
            if should_stop():
                return "interrupted"
            width = rows[k + 1] - rows[k]
            last = k + 1
            while last < len(rows) - 1 and last - k < most and rows[last + 1] - rows[last] == width:
                last += 1
            u = None if series is None else series[rows[k] : rows[last]]
            self._write(worlds.rollout(rows[last] - rows[k], u, every=width), rows[k + 1 : last + 1])
            k = last
        return "complete"

    def _advance_by_rows(self, should_stop: Callable[[], int]) -> str:
        """As _advance(), row by row: with what is called at ticks there, what follows from rows, what sensors
        measure."""
        worlds, series = self.worlds, self._series
        if self._earlier is None:
            self._write_measured(0)
        for row, after in itertools.pairwise(self._todo):
            if should_stop():
                return "interrupted"
            worlds.rollout(after - row, None if series is None else series[row:after], every=after - row)
            self._write_measured(after)
        return "complete"

    def _write_measured(self, row: int) -> None:
        """The row after so many steps, where the worlds are."""
        worlds, series = self.worlds, self._series
        assert self._more is not None
        if series is not None and len(series):
            worlds.u = series[min(row, len(series) - 1)]
        worlds.call_if_due()
        ended = worlds.status != 0
        measured = self._more.rows()
        for name, values in self._sensors.signals().items() if self._sensors is not None else ():
            measured[f"sensors/{name}"] = np.where(ended[:, np.newaxis], np.nan, values)[:, np.newaxis]
        state = np.hstack([worlds.q, worlds.v])
        state[ended] = np.nan
        self._write(state[:, np.newaxis], [row], measured)


documented(WorldsRun, RunArguments)


def _gains(worlds: Worlds, rows: int) -> WorldGains | None:
    """What looks at the energy of worlds; None where controllers or other forces may drive them."""
    plant: MultibodyPlant = worlds.plant
    context = plant.CreateDefaultContext()
    energy = PluginEnergy(context, PluginCommands(plant).laws)
    passive = not (worlds.controlled or energy.givers or energy) and is_passive(plant, context)
    return WorldGains(worlds, rows) if passive else None
