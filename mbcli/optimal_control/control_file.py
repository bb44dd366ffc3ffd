"""What is wanted of a model over time: a YAML file with costs by terms, bounds of efforts, horizon and start."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.coordinate_names import NamedCoordinates
from mbcli.config.config_fields import REQUIRED, ValueProblem, accept, setting
from mbcli.environments.model_of_file import Load, ModelOfFile, read_root
from mbcli.environments.term_kinds import KINDS, SAME_TIME, found_under
from mbcli.environments.term_reading import check_section, read_values
from mbcli.errors import ModelError
from mbcli.log import open_log
from mbcli.optimal_control.cost_terms import BY, COSTS, EXTRA, KINDS_OF_COSTS
from mbcli.optimal_control.costs import END, RUN, Costs, CostTerm
from mbcli.optimal_control.dynamic_programming import Search
from mbcli.optimal_control.plant_steps import PlantSteps
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.yaml_records import read_into
from mbcli.simulation.worlds import Worlds

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.parsers.yaml_source import YamlNode

ZEROS, GRAVITY = "zeros", "gravity"
MOST_KNOTS = 100_000
ALL = "all"


@dataclass(frozen=True)
class ControlSettings:
    """The keys of a control file that need no model."""

    period: float = setting(REQUIRED, "Time from one choice of efforts to the next", unit="s", above=0)
    horizon: float = setting(REQUIRED, "Time that is planned", unit="s", above=0)
    model: str | None = setting(None, "The model file, seen from the folder of the file")
    load: Load = field(default_factory=Load)
    pose: str | None = setting(None, "Named posture of the model in which the motion starts")
    guess: str = setting(GRAVITY, "Efforts to begin with: zeros, those against gravity at the start, or those of a log")
    iterations: int = setting(200, "How many at most", minimum=1)
    tolerance: float = setting(1e-7, "Decrease of the cost that ends the search, relative to it", above=0)


@dataclass(frozen=True)
class Problem:
    """A control file in a model: what a Search works with. u: (N, nu), the efforts to begin with."""

    search: Search
    costs: Costs
    steps: PlantSteps
    q: Vector
    v: Vector
    u: FloatArray
    period: float


class ControlFile(ModelOfFile):
    """A control file that was read; names are looked up in a model by problem()."""

    settings: ControlSettings

    def _whole(self, key: str, of: float, what: str, most: int) -> int:
        """How many times `of` [s] the time under a key is. ModelError with its place where they are not whole."""
        time = float(getattr(self.settings, key))
        count = round(time / of)
        if not 1 <= count <= most or abs(count * of - time) > SAME_TIME * of:
            node = self.root.get(key)
            assert node is not None
            place = node.place
            raise ModelError(
                f"{place.file}:{place.line}: error: {key}: {time:g} s is not 1 to {most} {what} of {of:g} s"
            )
        return count

    def start(self, loaded: LoadedModel) -> tuple[dict[str, float], Worlds]:
        """What the file states of the start, {name of a position or velocity: value}, and a world that is there."""
        values = self._start_values(Worlds(loaded, 1, warn=lambda line: None))
        plant = loaded.plant
        names = {"q": plant.GetPositionNames(), "v": plant.GetVelocityNames()}
        stated = {names[quantity][k]: value for (quantity, k), value in values}
        return stated, Worlds(loaded, 1, pose=self.settings.pose, start=stated or None, warn=lambda line: None)

    def _start_values(self, worlds: Worlds) -> list[tuple[tuple[str, int], float]]:
        node = self.root.get("start")
        return [] if node is None else self._read("start", node, KINDS["Numbers"], worlds)

    def _read(self, section: str, node: YamlNode, read: Any, worlds: Worlds) -> Any:
        """The value of a section. ModelError with its place."""
        diagnostics, found = Diagnostics(), None
        try:
            found = read(node, worlds)
        except ValueProblem as problem:
            joint = "" if str(problem).startswith(":") else " "
            diagnostics.error(
                problem.code, f"{section}{joint}{problem}", place=node.place, attribute=section, hint=problem.hint
            )
        diagnostics.raise_if_errors()
        return found

    def problem(self, loaded: LoadedModel, threads: int | None = None) -> Problem:
        """The file in a model. ModelError with the place of each fault."""
        knots = self._whole("horizon", self.settings.period, "periods", MOST_KNOTS)
        frames = self._whole("period", loaded.plant.time_step(), "time steps", MOST_KNOTS)
        _, at_start = self.start(loaded)
        steps = PlantSteps(loaded, frames, threads)
        q, v = at_start.q[0].copy(), at_start.v[0].copy()
        terms = self._terms(at_start)
        costs = Costs(terms, steps, self.settings.period, q, v)
        self._try(costs, q, v)
        node = self.root.get("efforts")
        low, high = effort_limits(loaded.plant)
        if node is not None:
            low, high = self._read("efforts", node, functools.partial(_bounds, low=low, high=high), at_start)
        search = Search(steps, costs, low, high, self.settings.tolerance)
        return Problem(search, costs, steps, q, v, self._guess(loaded, q, knots), self.settings.period)

    def _terms(self, worlds: Worlds) -> list[CostTerm]:
        diagnostics, found, seen = Diagnostics(), [], Counter[str]()
        for item in self.root.get("cost") or ():
            name = item.value["term"].value
            values = read_values(item, COSTS[name], EXTRA, KINDS_OF_COSTS, worlds, diagnostics)
            weight, at = values.pop("weight", 0.0), values.pop("at", RUN)
            if "u" in BY[name] and at != RUN:
                place = item.value["at"].place
                diagnostics.error(
                    "VALUE_CHOICE", f"{name}: at the end there are no efforts", place=place, attribute="at"
                )
            label = f"{name} at the end" if at == END else name
            seen[label] += 1
            label = label if seen[label] == 1 else f"{label} {seen[label]}"
            call = functools.partial(COSTS[name].function, **values)
            found.append(CostTerm(label, call, BY[name], weight, at))
        diagnostics.raise_if_errors()
        return found

    def _try(self, costs: Costs, q: Vector, v: Vector) -> None:
        """Reports terms whose values do not fit each other, with the place of the term."""
        diagnostics = Diagnostics()
        for term, item in zip(costs.terms, self.root.get("cost") or (), strict=True):
            try:
                costs.residual(term, q[np.newaxis], v[np.newaxis])
            except ValueProblem as problem:
                name = item.value["term"].value
                diagnostics.error(problem.code, f"{name}: {problem}", place=item.place, attribute="term")
        diagnostics.raise_if_errors()

    def _guess(self, loaded: LoadedModel, q: Vector, knots: int) -> FloatArray:
        guess, plant = self.settings.guess, loaded.plant
        if guess == ZEROS:
            return np.zeros((knots, plant.num_actuators()))
        if guess == GRAVITY:
            context = plant.CreateDefaultContext()
            plant.SetPositions(context, q)
            B = plant.MakeActuationMatrix()
            needed = -plant.CalcGravityGeneralizedForces(context)
            return np.tile(np.linalg.lstsq(B, needed, rcond=None)[0], (knots, 1))
        path = self._folder / guess
        with open_log(path) as log:
            given, times = log.field("input/u"), np.asarray(log.times)
        if given.shape[1] != plant.num_actuators():
            raise ModelError(f"{path}: error: has {given.shape[1]} actuators, the model {plant.num_actuators()}")
        at = times[0] + np.arange(knots) * self.settings.period
        return given[np.clip(np.searchsorted(times, at + 1e-9, side="right") - 1, 0, len(times) - 1)]


def read_control(source: Any) -> ControlFile:
    """The control file (a path), or a mapping with the keys of one.

    Raises:
        ModelError: one line for each fault, with file, line, key and what there is.
        ResourceError: the file cannot be read.
    """
    diagnostics = Diagnostics()
    root, folder = read_root(source, diagnostics)
    settings = read_into(ControlSettings, root, diagnostics, elsewhere=("cost", "start", "efforts"))
    cost = root.get("cost") if root.kind == "mapping" else None
    if cost is not None:
        check_section("cost", cost, COSTS, EXTRA, diagnostics)
    elif root.kind == "mapping":
        diagnostics.error("KEY_MISSING", 'key "cost" is missing', place=root.place, attribute="cost")
    diagnostics.raise_if_errors()
    assert settings is not None
    return ControlFile(root, settings, folder)


def effort_limits(plant: Any) -> tuple[Vector, Vector]:
    """Of the actuators of a plant, (nu,) each [N m or N]; infinite without one."""
    high = np.full(plant.num_actuators(), np.inf)
    for actuator in plant.elements.actuators:
        high[actuator.input_start()] = actuator.effort_limit()
    return -high, high


def _bounds(node: YamlNode, worlds: Any, low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """{actuator, or all: most, or [least, most]} within the limits of the model."""
    if node.kind != "mapping" or not node.keys():
        raise ValueProblem("VALUE_TYPE", f"is a mapping of actuators and limits; found {node.describe()}")
    names = NamedCoordinates(worlds.plant.GetActuatorNames(), "actuator")
    low, high = low.copy(), high.copy()
    for name, child in node.items():
        which: Any = slice(None) if name == ALL else found_under(names.find, name)
        if child.kind == "sequence":
            least, most = KINDS["Range"](child, worlds)
        else:
            most = accept(float, child.value if child.kind == "scalar" else child.describe(), {"minimum": 0.0})
            least = -most
        low[which], high[which] = np.maximum(low[which], least), np.minimum(high[which], most)
        if (low > high).any():
            raise ValueProblem("VALUE_RANGE", f"of {name} are beyond the limit of the model")
    return low, high


def as_control(source: Any) -> ControlFile:
    """A ControlFile as it is, or read_control()."""
    return source if isinstance(source, ControlFile) else read_control(source)


def loaded_for(file: ControlFile, model: Any) -> LoadedModel:
    """The model of the file, or another one. ArgumentError as of ModelOfFile.loaded(); ModelError: it is continuous."""
    loaded: LoadedModel = file.loaded(model)
    if not loaded.plant.is_discrete():
        raise ModelError(f"{file.name}: error: plans are of discrete plants: load: {{dt: 0.001}}")
    return loaded
