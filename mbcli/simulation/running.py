"""simulate(), simulate_each() and resume(): a model in, a log out."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.output_files import refuse_inputs
from mbcli.common.setting import documented, embedded_files, refuse_unknown, settings_of
from mbcli.errors import ArgumentError, ModelError
from mbcli.log import Log, MemoryLog, open_log
from mbcli.log.embedded_files import same_on_disk
from mbcli.log.fields import names_in_words
from mbcli.log.worlds import WorldsLog, is_worlds_log
from mbcli.models.loaded_model import LoadedModel
from mbcli.models.loading import as_loaded, load_model, set_hold
from mbcli.multibody.plant import MultibodyPlant
from mbcli.parsers.load_arguments import AllLoadArguments, HoldArguments, LoadArguments
from mbcli.simulation.log_target import check_log_target
from mbcli.simulation.progress import Progress
from mbcli.simulation.recorded_run import RecordedRun
from mbcli.simulation.run_arguments import RunArguments, SimulateArguments
from mbcli.simulation.run_warnings import warn_caller
from mbcli.simulation.setting_groups import VIEW

if TYPE_CHECKING:
    from typing import Unpack

CALL = "mbcli.simulation.simulate"  # in place of a command in the log of a run from Python
CALL_EACH = "mbcli.simulation.simulate_each"
LONGEST_CALL = 32_000  # characters of its arguments that a log takes
SETTINGS = settings_of(SimulateArguments)


def simulate(
    model: Any,
    until: float | None = None,
    *,
    log: str | os.PathLike | None = None,
    force: bool = False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    should_stop: Callable[[], int] = lambda: 0,
    warn: Callable[[str], None] | None = None,
    **settings: Unpack[SimulateArguments],
) -> Log | MemoryLog:
    """Runs a model over time; returns its log, open, with the figures of the run in `log.summary`.

    Everything is as in `mbcli simulate`: geometries touch unless `contact=False`, the plant is discrete with a step of
    1 ms unless the file, `dt`, `integrator`, `config` or the plant say otherwise.

    Args:
        model: files, as load_model() takes them; a LoadedModel; or a finalized MultibodyPlant, of which only the
            settings of the run and those of joints that are held or driven can be given.
        until: [s] end of the run; default: the duration in the settings, else 5 s.
        log: the file to write (HDF5, docs/reference/log_format.md); None keeps the rows in memory.
        force: replaces an existing log.
        on_progress: is given the Progress between blocks of steps.
        should_stop: asked between blocks of steps; if it is not 0 the run ends there, "interrupted".
        warn: is given each warning; default: a SimulationWarning.
        {settings}

    Raises:
        ArgumentError: an argument does not fit the model or another one.
        ModelError, ResourceError: of the model's files.
        OutputError: the log exists, or cannot be written.
        NumericalError: the run cannot go on; a log file has the rows before.

    Returns:
        The Log, without a file a MemoryLog, with `summary`.

    Example:
        >>> mbcli.simulate("sample_models/double_pendulum.urdf", until=0.05, start={"elbow": 0.5})
        <MemoryLog <memory>: 6 rows from 0 to 0.05 s, 8 columns>
    """
    given = {name: setting.default for name, setting in settings_of(RunArguments).items()} | settings
    arguments: dict[str, Any] = {"model": model, "until": until, **given}
    return _simulate(arguments, log, None, force, on_progress, should_stop, warn)


documented(simulate, RunArguments, HoldArguments, LoadArguments)
if simulate.__doc__:  # not with -OO
    simulate.__doc__ = simulate.__doc__.replace("of mbcli.log.fields.", f"of mbcli.log.fields: {names_in_words()}")


def simulate_each(
    model: Any,
    starts: Any,
    until: float | None = None,
    *,
    log: str | os.PathLike,
    force: bool = False,
    threads: int | None = None,
    should_stop: Callable[[], int] = lambda: 0,
    warn: Callable[[str], None] | None = None,
    **settings: Unpack[SimulateArguments],
) -> WorldsLog:
    """Runs a model from many starts, all at once; returns the log of all these worlds, open, with `log.summary`.

    Each world is the single run from its start, as in `mbcli simulate --states STARTS --each`: on threads, and where
    the model allows it eight in one vector register.

    Args:
        model: as of simulate(), discrete.
        starts: (q, v) or (q, v, u): arrays with a row a world, (n, nq) [rad or m], (n, nv) [rad/s or m/s] and (n, nu)
            [N m or N], held; an array q alone, to start at rest; or {name: values (n,), or one for all} of positions
            and velocities, where the end of a name will do and others are those of the default state.
        until: as of simulate().
        log: the file to write (docs/reference/log_format.md, "Many worlds").
        force: replaces an existing log.
        threads: that step worlds; default: as many as the process has processors.
        should_stop: as of simulate().
        warn: as of simulate().
        {settings}

    Raises:
        ArgumentError: an argument does not fit the model, another one or worlds.
        ModelError, ResourceError, OutputError: as of simulate().
        NumericalError: no state near a start satisfies the constraints. A world that cannot go on stops, and the others
            go on: `log.messages` has why.

    Returns:
        The WorldsLog.

    Example:
        >>> angles = {"elbow": [0.1, 0.2, 0.3]}
        >>> mbcli.simulate_each("sample_models/double_pendulum.urdf", angles, until=0.05, log="each.h5")
        <WorldsLog each.h5: 3 worlds of 6 rows>
    """
    arguments: dict[str, Any] = {"model": model, "until": until, **settings}
    return _simulate_each(arguments, starts, os.fspath(log), None, force, threads, should_stop, warn)


documented(simulate_each, RunArguments, HoldArguments, LoadArguments)


def resume(
    log: str | os.PathLike | Log | WorldsLog,
    model: Any = None,
    until: float | None = None,
    *,
    to: str | os.PathLike | None = None,
    force: bool = False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    should_stop: Callable[[], int] = lambda: 0,
    warn: Callable[[str], None] | None = None,
    **arguments: Any,
) -> Log | WorldsLog:
    """Goes on where a log ends, to the same rows as a run without a break; returns the log, open.

    Args:
        log: of a run that has ended, was interrupted or killed (its .partial file), or of many worlds.
        model: None if simulate() or simulate_each() wrote the log from files that are where they were, as they were:
            it has recorded its arguments then, of which numbers, choices, names and these files count. Others, as a
            CSV file of `inputs` or `packages`, are to be given again: a log may come from anybody. Else the model,
            with the other arguments of that run.
        until: [s] the new end; default: that of the run.
        to: the file to write; default: the log itself.
        force: as of simulate().
        on_progress: as of simulate().
        should_stop: as of simulate().
        warn: as of simulate().
        arguments: of simulate(), in place of those recorded.

    Raises:
        ModelError: the log is of another model or was run in another way, or has not recorded how; as of simulate().
        ArgumentError, ResourceError, OutputError, NumericalError: as of simulate().

    Returns:
        The Log, or of many worlds the WorldsLog.

    Example:
        >>> mbcli.simulate("sample_models/double_pendulum.urdf", until=0.05, log="swing.h5").close()
        >>> mbcli.resume("swing.h5", until=0.1)
        <Log swing.h5: 11 rows from 0 to 0.1 s, 8 columns>
    """
    path = log.path if isinstance(log, (Log, WorldsLog)) else os.fspath(log)
    if isinstance(log, (Log, WorldsLog)):
        log.close()
    recorded = _recorded_arguments(path, arguments) if model is None else {"model": model}
    arguments = {**recorded, **arguments}
    if until is not None:
        arguments["until"] = until
    for name in {"start", "pose"} & arguments.keys():
        arguments[name] = None  # it comes from the log
    to = path.removesuffix(".old").removesuffix(".partial") if to is None else os.fspath(to)
    if is_worlds_log(path):
        return _simulate_each(arguments, None, to, path, force, arguments.pop("threads", None), should_stop, warn)
    return _simulate(arguments, to, path, force, on_progress, should_stop, warn)


def _simulate(
    arguments: Mapping[str, Any],
    log: str | os.PathLike | None,
    resumed: str | None,
    force: bool,
    on_progress: Callable[[Progress], None],
    should_stop: Callable[[], int],
    warn: Callable[[str], None] | None,
) -> Any:
    """A run by the arguments of simulate() that are of the run."""
    log = None if log is None else os.fspath(log)
    loaded, call = _model_and_settings("simulate", arguments, log, resumed, force)
    run = RecordedRun(loaded, **call, command=_recorded_call(CALL, arguments), warn=warn or warn_caller)
    try:
        run.prepare(resumed=resumed)
        summary = run.run(
            log,
            resumed=resumed,
            force=force,
            in_memory=log is None,
            should_stop=should_stop,
            on_progress=on_progress,
        )
    finally:
        run.release()  # the plant may be the caller's
    result: Any = run.memory if log is None else open_log(log)
    result.summary = summary
    return result


def _simulate_each(
    arguments: Mapping[str, Any],
    starts: Any,
    log: str,
    resumed: str | None,
    force: bool,
    threads: int | None,
    should_stop: Callable[[], int],
    warn: Callable[[str], None] | None,
) -> WorldsLog:
    """Runs from many starts, or those that go on with the log `resumed`, by the arguments of simulate_each()."""
    from mbcli.simulation.earlier_worlds import EarlierWorlds
    from mbcli.simulation.world_starts import given_starts
    from mbcli.simulation.worlds_run import WorldsRun

    loaded, call = _model_and_settings("simulate_each", arguments, log, resumed, force)
    with nullcontext() if resumed is None else EarlierWorlds(resumed) as earlier:
        run = WorldsRun(
            loaded,
            None if earlier is not None else given_starts(loaded.plant, starts),
            earlier=earlier,
            threads=threads,
            command=_recorded_call(CALL_EACH, arguments),
            warn=warn or warn_caller,
            **call,
        )
        summary = run.run(log, should_stop=should_stop)
    result = WorldsLog(log)
    result.summary = summary
    return result


def _model_and_settings(
    function: str, arguments: Mapping[str, Any], log: str | None, resumed: str | None, force: bool
) -> tuple[LoadedModel, dict[str, Any]]:
    """The model of a call of a function, and its other arguments; OutputError if the log cannot be written."""
    refuse_unknown(SETTINGS, arguments.keys() - {"model", "until"}, function)
    if log is not None:
        check_log_target(log, resumed, force)
    call = dict(arguments)
    loading = {name: call.pop(name) for name in settings_of(AllLoadArguments) if name in call}
    loaded = _loaded(call.pop("model"), loading, call)
    if log is not None:
        refuse_inputs(log, [source.path for source in loaded.sources])
    return loaded, call


def _loaded(model: Any, loading: dict[str, Any], call: Mapping[str, Any]) -> LoadedModel:
    """The LoadedModel of a run, with settings of its own."""
    if isinstance(model, (LoadedModel, MultibodyPlant)):
        holding = {name: loading.pop(name) for name in settings_of(HoldArguments) if name in loading}
        if loading:
            raise ArgumentError(f"{', '.join(map(argument, sorted(loading)))}: the plant is finalized already")
        loaded = as_loaded(model)
        config = copy.deepcopy(loaded.config)
        set_hold(config, **holding)
        return dataclasses.replace(loaded, config=config)
    if any(call.get(name) is not None for name in ("integrator", "accuracy", "max_step")):
        if loading.get("dt"):
            raise ArgumentError(
                f"{argument('integrator')}, {argument('accuracy')} and {argument('max_step')} are for continuous "
                f"plants, {argument('dt')} is not 0"
            )
        loading = loading | {"dt": 0.0}
    if call.get("trajectory") is not None:
        loading = {"hold": True} | loading  # joints without an actuator get one
    return load_model(model, **{"contact": True} | loading)


def _recorded_call(function: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """What the log has as command: the arguments as JSON, as far as they are numbers and texts; not who looks on."""
    watching = {name for name, setting in SETTINGS.items() if setting.of == VIEW}
    given = {name: value for name, value in arguments.items() if value is not None and name not in watching}
    try:
        text = json.dumps(given, default=_as_json)
    except (TypeError, ValueError):
        return (function,)
    return (function, text) if len(text) <= LONGEST_CALL else (function,)


def _as_json(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError


def _recorded_arguments(path: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the call that wrote a log. ModelError for those that a log may not ask for, unless given now."""
    with open_log(path) as log:
        argv, sources = log.attrs.get("argv"), log.read_sources()
    arguments = None
    if isinstance(argv, list) and len(argv) == 2 and argv[0] in (CALL, CALL_EACH):
        try:
            arguments = json.loads(argv[1])
        except (TypeError, ValueError, RecursionError):
            arguments = None
    if not isinstance(arguments, dict) or "model" not in arguments:
        raise ModelError(
            f"{path}: error: has no record of a call of simulate(): give the model and the arguments again"
        )
    inside, call = {source.path for source in sources}, {**arguments, **dict.fromkeys(given)}
    foreign = [name for name, value in call.items() if value is not None and not _may_be_asked(name, value, inside)]
    if foreign:
        names = ", ".join(foreign)
        raise ModelError(f"{path}: error: its call has {names}, which a log may not ask for: give it again")
    if not same_on_disk(sources):
        raise ModelError(f"{path}: error: its model files are not where they were, or have changed: give the model")
    return arguments


def _may_be_asked(name: str, value: Any, inside: set[str]) -> bool:
    """Whether a log may ask for a recorded argument."""
    if name == "model":
        return embedded_files(value, inside)
    return name == "until" or (name in SETTINGS and SETTINGS[name].log_may_ask(value, inside))
