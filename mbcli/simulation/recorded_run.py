"""One run with its log: from a loaded model, settings and a start to rows, events, checkpoints and a summary.

What acts in it are its actors (mbcli.simulation.actors): they are made from the settings, say what the plant of the run
has of them, start once the start is where the run can begin, and say in the end what has become of it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.setting import complete, documented
from mbcli.errors import ArgumentError, MbcliError, OutputError
from mbcli.models.falling import falling_in_words
from mbcli.models.loaded_model import LoadedModel
from mbcli.models.loading import note_on_self_contact, notes_on_contact
from mbcli.multibody.core.finalize import unused_properties
from mbcli.multibody.stepping.continuous_steps import SCHEMES
from mbcli.simulation.acted_run import ActedRun
from mbcli.simulation.actors import ACTORS
from mbcli.simulation.actors.following import Following
from mbcli.simulation.actors.holding import Holding
from mbcli.simulation.actors.inputs import Inputs
from mbcli.simulation.actors.live_view import LiveView
from mbcli.simulation.actors.plugins import Plugins
from mbcli.simulation.actors.user_controller import UserController
from mbcli.simulation.control.in_a_run import controlling
from mbcli.simulation.holding import renewed_context
from mbcli.simulation.log_target import move_aside, put_back
from mbcli.simulation.observer import Observer
from mbcli.simulation.progress import Progress, Stopwatch
from mbcli.simulation.push_forces import Followers
from mbcli.simulation.run_arguments import RunArguments
from mbcli.simulation.run_start import is_context, move_start, place_start
from mbcli.simulation.run_summary import summary_of, warn_of_energy
from mbcli.simulation.sampling import DEFAULT_DURATION, Sampling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    from mbcli.config.simulator_config import SimulatorConfig
    from mbcli.log.memory import MemoryLog
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.stepping.run import Run
    from mbcli.multibody.stepping.samples import Samples
    from mbcli.simulation.earlier_run import EarlierRun
    from mbcli.simulation.summary import Summary


class RecordedRun(ActedRun):
    """A run from its start to its log.

    Args:
        loaded: LoadedModel.
        until: [s] end of the run; None for `duration`.
        logged_seed: what the log has if `seed` is None; None for that of the settings.
        command: for the log.
        warn: (message) -> None.
        {settings}

    Attributes: those of ActedRun, and
        memory: MemoryLog of a run in memory.

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
        super().__init__()
        self.given = given = complete(RunArguments, settings, "RecordedRun")
        self.loaded, self.plant, self.warn, self.command = loaded, loaded.plant, warn, tuple(command)
        _read_geometries(self.plant)
        self.config = _simulator_config(loaded.config.simulator_config, given)
        self.own = given["start"] if is_context(given["start"]) else None
        self.context = self.plant.CreateDefaultContext() if self.own is None else self.own
        self.memory: MemoryLog | None = None
        for kind in ACTORS:
            self.actors.append(kind(self))
        self.start = self.began = self.config.start_time if self.own is None else self.own.get_time()
        self._ends_as_asked = until is not None or given["duration"] is not None
        self.until = self._end(until, given["duration"])
        self.sampling = Sampling(self.plant, self.start, self.until, given["log_rate"])
        self.fields = self._chosen_fields(given["fields"])
        seeds = (given["seed"], logged_seed, loaded.config.random_seed)
        self.seed = next(seed for seed in seeds if seed is not None)
        self.context.SetTime(self.start)
        if given["seed"] is not None:  # of random poses; what has none stays at its default
            self.plant.SetRandomContext(self.context, np.random.default_rng(given["seed"]))
        self._stated = place_start(self)
        self.actor(Inputs).read()
        self._push_followers = Followers()
        self.stopwatch = Stopwatch()

    def _end(self, until: float | None, duration: float | None) -> float:
        """[s]"""
        if until is not None:
            if not math.isfinite(until) or until < self.start:
                raise ArgumentError(f"{argument('until', until)}: the run starts at {self.start:g} s")
            return float(until)
        if duration is None:
            duration = self.loaded.config.simulation_duration
        return self.start + (duration if np.isfinite(duration) else DEFAULT_DURATION)

    def _chosen_fields(self, wanted: Any) -> list[str]:
        """The fields of the log: what is not asked for by name is left out where it says nothing."""
        from mbcli.simulation.recording import chosen_fields, needs_of_sensors

        fields = chosen_fields(wanted, self.plant)
        for name in list(fields):
            lacking = next((why for actor in self.actors if (why := actor.lacks(name)) is not None), None)
            if lacking is not None and wanted is not None:
                raise ArgumentError(f"{argument('fields', name)}: {lacking}")
            if lacking is not None:
                fields.remove(name)
        aims = self.actor(UserController).choice or self.actor(Following).follow
        acts = bool(aims or self.controlled or self.actor(Holding).acts)
        if wanted is None and "effort" in fields and not (acts or self.plant.elements.transmission_actuators):
            fields.remove("effort")  # it is u
        if wanted is None and "targets" in fields and not aims:
            fields.remove("targets")  # what controllers aim at stays as it is at the start
        self.keeps_accelerations = "reactions" in fields or "acceleration" in needs_of_sensors(self.plant, fields)
        return fields

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
        of_plant: dict[str, Any] = {}
        for actor in self.actors:
            of_plant |= actor.of_plant()
        if of_plant:
            self.change_plant(**of_plant)
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
            move_start(self, self._stated, note)
            falls = falling_in_words(self.plant)
            if falls is not None:
                note(falls)
        for actor in self.actors:
            actor.start(note, resumed)
        forces = [force for actor in self.actors for force in actor.forces()]
        if forces:
            self.forces = self._push_followers.start(self.plant, self.context, forces)
        self._observer = Observer(self.plant, self.warn, self.actor(Following).plan, self.given["velocity_limits"])
        if "targets" in self.fields and not len(self.plant.model.pd_actuator):
            if self.given["fields"] is not None:
                raise ArgumentError(f"{argument('fields', 'targets')}: no PD controllers act in the steps of the run")
            self.fields.remove("targets")

    def release(self) -> None:
        """A context that the run started from has its end then, and its ports what they had; actors end."""
        for actor in self.actors:
            actor.end()
        self._push_followers.end()
        if self.own is not None and self.own is not self.context:
            self.own.SetTime(self.context.get_time())
            self.plant.SetPositionsAndVelocities(self.own, self.plant.GetPositionsAndVelocities(self.context))

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
        self._described, self._keeps_rows = described, in_memory or log is not None
        self.should_stop, self._on_progress, self._on_start = should_stop, on_progress, on_start
        with np.errstate(all="ignore"), controlling(self.actor(UserController).choice and self.controller):
            # errstate: interpreted kernels; a number that is not finite ends the run with its name
            summary = self._run(log, force) if resumed is None else self._resume(log, resumed, force)
        for actor in self.actors:
            actor.finish(summary)
        return summary

    def _resume(self, log: str | None, path: str, force: bool) -> Summary:
        from mbcli.simulation.earlier_run import EarlierRun

        aside = None
        controlled = self.controller is not None and not self.actor(LiveView).is_alone()
        of_run = self.start, self.sampling.is_sample, self.lent(), controlled
        with EarlierRun(path, self.loaded, self.fields, *of_run) as earlier:
            earlier.lock()
            if not controlled:
                earlier.check_input(self.input_at)
            if self._ends_as_asked:
                earlier.refuse_end(max(self.until, self.sampling.end_of_steps))
            replaced = log is not None and os.path.realpath(path) == os.path.realpath(f"{log}.partial")
            if replaced:
                aside = move_aside(path)
            same = log is not None and os.path.realpath(path) == os.path.realpath(log)
            try:
                return self._run(log, force or replaced or same, earlier, aside)
            except OutputError as error:
                if aside is None or not put_back(aside, path):
                    raise
                raise OutputError(f"{error}; {path} is as it was") from None

    def _run(
        self, log: str | None, force: bool, earlier: EarlierRun | None = None, aside: str | None = None
    ) -> Summary:
        going_on: Mapping[str, Any] | None = self.actor(Holding).carried_at_start()
        if earlier is not None:
            earlier.place(self.plant, self.context)
            self.until = max(self.until, earlier.end_time)
            going_on = earlier.checkpoint
        run = self.steps(
            self.until,
            self.actuation,
            config=self.config,
            sample_period=self.sampling.period,
            controller=self.controller,
            forces=self.forces,
            going_on=going_on,
        )
        run.compile()
        self._observer.begin(run)
        energy = self.actor(Plugins).energy
        if energy:
            self._observer.energy_change.stored = energy.stored
        self.began = self.context.get_time()
        self._on_start()
        rows = None
        if not self._keeps_rows:
            for samples in self._blocks(run, lambda: None):
                self._observer.see(samples)
        else:
            from mbcli.simulation.run_log import RunLog

            written = RunLog(self, run, self._observer, log, force, self._described)
            try:
                rows = written.write(lambda keep: self._blocks(run, keep), earlier, aside)
            finally:
                self.memory = written.memory
        summary = summary_of(self, run, self._observer, log, rows)
        warn_of_energy(self, run, self._observer, summary)
        complaint = None if run.contact is None else run.contact.complaint()
        if complaint is not None:
            self.warn(complaint)
        return summary

    def _blocks(self, run: Run, keep: Callable[[], None]) -> Iterator[Samples]:
        """The blocks of samples of a run, with the time that its steps take on the stopwatch."""

        def pause(t: float) -> None:
            self.stopwatch.stop()
            keep()
            self._on_progress(Progress(t, self.start, self.until, self.began, self.stopwatch.seconds))
            self.stopwatch.start()

        blocks = run.blocks(self.is_to_end, pause)
        try:
            while True:
                self.stopwatch.start()
                samples = next(blocks, None)
                self.stopwatch.stop()
                if samples is None:
                    return
                for actor in self.actors:
                    actor.see(samples)
                yield samples
        finally:
            self.stopwatch.stop()


documented(RecordedRun, RunArguments)


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
