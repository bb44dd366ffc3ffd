"""One point of a sweep: a run of a model that stays loaded, and the row that it gives."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import StateNames
from mbcli.common.number_text import parse_number
from mbcli.errors import (
    ArgumentError,
    ControlError,
    MbcliError,
    ModelError,
    NumericalError,
    OutputError,
    ResourceError,
)
from mbcli.models.actuator_names import ActuatorNames
from mbcli.models.loaded_model import LoadedModel
from mbcli.models.loading import load_model
from mbcli.models.parameter_assignments import changed_parameters, is_parameter_path
from mbcli.models.states import check_quaternions, set_random_state
from mbcli.multibody.stepping.energy_balance import EnergyBalance
from mbcli.parsers.scenes.plant_config import apply_overrides
from mbcli.simulation.recorded_run import RecordedRun
from mbcli.sweeps.measures import Measure
from mbcli.sweeps.points import Point
from mbcli.sweeps.run_files import from_texts
from mbcli.sweeps.run_series import RunSeries, check_names, fields_for
from mbcli.sweeps.variations import OF_INPUT, OF_STATE, RANDOM_STATE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.log.memory import MemoryLog
    from mbcli.math.array_types import BoolArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

OK, DIVERGED, INVALID, TIMEOUT, CRASHED = "ok", "diverged", "invalid_model", "timeout", "crashed"
LOST, OUT_OF_MEMORY, FILE, VERSION = "lost", "out_of_memory", "file", "version"
OF_MACHINES = (LOST, OUT_OF_MEMORY, FILE, VERSION)  # what a machine did: no result, and tried again
CLASSES = (OK, DIVERGED, INVALID, TIMEOUT, CRASHED, *OF_MACHINES)
FINAL = "final "  # with the name of a coordinate: a column
BALANCE = tuple(f"balance_{entry.name}" for entry in dataclasses.fields(EnergyBalance))  # columns of --balance
KEPT_MODELS = 4  # for the last settings, each with its meshes


@dataclasses.dataclass(frozen=True)
class Job:
    """What all points of a sweep share; it is sent to workers.

    models: files or ModelText. loading: arguments of load_model(), `overrides` among them. run: arguments of
    RecordedRun, as run_files.as_texts() has them. start: None, or (q, v, mask of the positions that are stated). u:
    constant actuation (nu,), or None. measures: texts. timeout: [s] of wall-clock time for a run, None for none.
    sources: sha256 of the model's files, which those of a worker must have. files: {file that `run` names: sha256}.
    """

    models: tuple
    loading: Mapping[str, Any]
    run: Mapping[str, Any]
    start: tuple | None = None
    u: Any = None
    measures: tuple[str, ...] = ()
    timeout: float | None = None
    sources: tuple[str, ...] = ()
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)


class PointRunner:
    """Runs points of one job in this process. The model is loaded once for each set of settings."""

    def __init__(self, job: Job, loaded: LoadedModel | None = None) -> None:
        self.job = job
        self.measures = [Measure(text) for text in job.measures]
        self._fields = fields_for([name for measure in self.measures for name in measure.names])
        self._kept: dict[tuple[str, ...], LoadedModel] = {} if loaded is None else {(): loaded}

    def loaded(self, settings: Sequence[str] = ()) -> LoadedModel:
        """The model under more settings, PATH=VALUE texts. Errors as load_model()."""
        key = tuple(settings)
        if key not in self._kept:
            if len(self._kept) >= KEPT_MODELS:
                del self._kept[next(iter(self._kept))]
            arguments = dict(self.job.loading)
            arguments["overrides"] = [*arguments.get("overrides", ()), *key]
            found = load_model(self.job.models, **arguments)
            there = tuple(sorted(source.sha256 for source in found.sources))
            if self.job.sources and there != tuple(self.job.sources):
                raise ResourceError("the files of the model are other ones than those that the sweep began with")
            self._kept[key] = found
        return self._kept[key]

    def check(self, point: Point) -> None:
        """ArgumentError or ModelError for paths, names of measures and arguments of runs that mean nothing."""
        settings, parameters, others = split_paths(point.values)
        loaded = self.loaded()
        apply_overrides(loaded.config, settings)
        with changed_parameters(loaded, parameters):
            check_names(loaded.plant, [name for measure in self.measures for name in measure.names])
            run = self._recorded_run(loaded, point, others)
            if self.job.run.get("controller") is not None:
                with suppress(MbcliError):  # it says so in each row; here it opens what it reads
                    run.prepare()
            run.release()

    def row(self, point: Point, on_begin: Callable[[], None] = lambda: None) -> dict:
        """The row of a point: its class and message, measures, final state, energies, contact maxima; wall time.

        on_begin: called when its model is loaded.
        """
        began = time.perf_counter()
        try:
            row = self._row(point, on_begin)
        except NumericalError as error:
            row = {"status": DIVERGED, "message": str(error)}
        except ControlError as error:
            row = {"status": CRASHED, "message": str(error)}
        except (ArgumentError, ModelError) as error:
            row = {"status": INVALID, "message": str(error)}
        except (ResourceError, OutputError, OSError) as error:
            row = {"status": FILE, "message": str(error)}
        except MemoryError as error:
            row = {"status": OUT_OF_MEMORY, "message": f"no memory is left: {error}".rstrip(": ")}
        except MbcliError as error:
            row = {"status": CRASHED, "message": str(error)}
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
            RuntimeError,
        ) as error:
            row = {"status": CRASHED, "message": f"{type(error).__name__}: {error}"}
        row["message"] = row["message"].replace("\n", "; ")
        return row | {"wall_time": time.perf_counter() - began}

    def _row(self, point: Point, on_begin: Callable[[], None]) -> dict[str, Any]:
        settings, parameters, others = split_paths(point.values)
        loaded = self.loaded(settings)
        on_begin()
        began = time.perf_counter()
        with changed_parameters(loaded, parameters):
            run = self._recorded_run(loaded, point, others)
            limit = math.inf if self.job.timeout is None else self.job.timeout

            def late() -> int:
                return int(time.perf_counter() - began > limit)

            try:
                run.prepare()
                status, message, balance = OK, "", None
                try:
                    summary = run.run(in_memory=True, described=False, should_stop=late)
                    balance = summary.balance
                    if summary.status != "complete":
                        status, message = TIMEOUT, f"stopped after {limit:g} s at t = {summary.end_time:.6g} s"
                except NumericalError as error:
                    if run.memory is None or not run.memory.row_count:
                        raise
                    status, message = DIVERGED, str(error)
                assert run.memory is not None  # run() was asked for it
                found = self._results(run.memory, loaded.plant, status, balance)
                return found | {"status": status, "message": message}
            finally:
                run.release()

    def _recorded_run(self, loaded: LoadedModel, point: Point, others: Mapping[str, str]) -> RecordedRun:
        config = copy.copy(loaded.config)
        config.simulator_config = copy.copy(config.simulator_config)  # which a run changes
        u = self.job.u
        of_input = {path: text for path, text in others.items() if path.startswith(OF_INPUT)}
        if of_input:
            u = varied_input(loaded.plant, u, of_input)
        return RecordedRun(
            dataclasses.replace(loaded, config=config),
            start=lambda plant, context: self._set_start(plant, context, point, others),
            inputs=u,
            logged_seed=point.seed,
            fields=self._fields,
            **from_texts(self.job.run),
        )

    def _set_start(self, plant: MultibodyPlant, context: Context, point: Point, others: Mapping[str, str]) -> BoolArray:
        """Puts the start of a point into a context; returns the mask (nq,) of the positions that are stated."""
        stated = np.zeros(plant.num_positions(), dtype=bool)
        if self.job.start is not None:
            q, v, mask = self.job.start
            stated |= mask
            plant.SetPositions(context, np.where(mask, q, plant.GetPositions(context)))
            plant.SetVelocities(context, v)
        if RANDOM_STATE in others:
            set_random_state(plant, context, np.random.default_rng(point.seed))
            stated[:] = True
        for name, text in others.items():
            if name.startswith(OF_STATE):
                stated |= _set_coordinate(plant, context, name.removeprefix(OF_STATE), text)
        check_quaternions(plant, context)
        return stated

    def _results(
        self, log: MemoryLog, plant: MultibodyPlant, status: str, balance: Mapping[str, float] | None
    ) -> dict[str, Any]:
        q, v = log.q[-1], log.v[-1]
        series = RunSeries(log, plant)
        row = {"end_time": float(log.times[-1])}
        if status == OK:
            row |= {measure.name: measure(series, log.times) for measure in self.measures}
        energy = log.energy
        if energy.size:
            first, last = float(energy[0].sum()), float(energy[-1].sum())
            row |= {"energy_start": first, "energy_end": last, "energy_drift": last - first}
        if log.has_contacts:
            row |= {f"{name}_max": float(series(name).max()) for name in ("contacts", "contact_force", "contact_depth")}
        if balance is not None:
            row |= dict(zip(BALANCE, balance.values(), strict=True))
        names = (*log.position_names, *log.velocity_names)
        return row | {f"{FINAL}{name}": float(x) for name, x in zip(names, (*q, *v), strict=True)}


def split_paths(values: Mapping[str, str]) -> tuple[list[str], list[str], dict[str, str]]:
    """PATH=VALUE texts of settings, those of parameters of elements, and the others by their path."""
    others = {p: t for p, t in values.items() if p == RANDOM_STATE or p.startswith((OF_STATE, OF_INPUT))}
    texts = [(path, f"{path}={text}") for path, text in values.items() if path not in others]
    settings = [text for path, text in texts if not is_parameter_path(path)]
    return settings, [text for path, text in texts if is_parameter_path(path)], others


def varied_input(plant: Any, u: Any, texts: Mapping[str, str]) -> np.ndarray:
    """u (nu,) with the actuators that `u.NAME` paths name changed. ArgumentError for unknown names."""
    names = ActuatorNames(plant)
    u = np.zeros(plant.num_actuators()) if u is None else np.array(u, dtype=float)
    for path, text in texts.items():
        k = _index(names.find, path.removeprefix(OF_INPUT), path)
        u[k] = _number(path, text, u[k])
    return u


_state_names = functools.lru_cache(KEPT_MODELS)(StateNames)


def _set_coordinate(plant: MultibodyPlant, context: Context, name: str, text: str) -> BoolArray:
    path = f"{OF_STATE}{name}"
    names = _state_names(tuple(plant.GetPositionNames()), tuple(plant.GetVelocityNames()))
    field, k = _index(names.find, name, path)
    stated = np.zeros(plant.num_positions(), dtype=bool)
    values = plant.GetPositions(context) if field == "q" else plant.GetVelocities(context)
    values[k] = _number(path, text, values[k])
    if field == "q":
        plant.SetPositions(context, values)
        stated[k] = True
    else:
        plant.SetVelocities(context, values)
    return stated


def _index(find: Callable[[str], Any], name: str, path: str) -> Any:
    try:
        return find(name)
    except LookupError as error:
        raise ArgumentError(f"{argument('vary')} {path}: {error.args[0]}") from None


def _number(path: str, text: str, before: float) -> float:
    operator = text[:1] if text[:1] in ("+", "*") else ""
    value = parse_number(text.removeprefix(operator).strip())
    if value is None:
        raise ArgumentError(f"{argument('vary')} {path}: '{text[:60]}' is not a number")
    return before + value if operator == "+" else before * value if operator == "*" else value
