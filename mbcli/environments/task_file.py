"""Task files: YAML that says what worlds are to do by terms of a registry."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mbcli.config.config_fields import REQUIRED, setting
from mbcli.environments.acting_terms import ACTIONS, COMMANDS, EVENTS
from mbcli.environments.model_of_file import Load, ModelOfFile, read_root
from mbcli.environments.task import TermTask
from mbcli.environments.term_kinds import KINDS
from mbcli.environments.term_modifiers import EXTRA, modified_action, modified_command, modified_observation
from mbcli.environments.term_reading import check_section, read_values, terms_of
from mbcli.environments.terms import ENDS, OBSERVATIONS, REWARDS, STARTS
from mbcli.environments.terrain import Terrain, read_terrain
from mbcli.errors import ArgumentError
from mbcli.models.parameter_assignments import changed_parameters, is_parameter_path
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.yaml_records import read_into
from mbcli.sweeps.variations import parse_variations

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mbcli.environments.task import Task
    from mbcli.environments.task_worlds import TaskWorlds
    from mbcli.environments.term_registry import Term
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.parsers.spec import SourceLocation
    from mbcli.parsers.yaml_source import YamlNode
    from mbcli.sweeps.variations import Variation

SECTIONS = {
    "command": COMMANDS,  # before those that name commands
    "action": ACTIONS,
    "observation": OBSERVATIONS,
    "reward": REWARDS,
    "terminate": ENDS,
    "start": STARTS,
    "event": EVENTS,
}
NEEDED = ("action", "observation", "reward")  # of them
WORLD, EPISODE = "world", "episode"  # when parameters are drawn
TERRAIN = "terrain"
COLUMNS = ("Positions", "Velocities")  # kinds of keys that name the columns of an observation


@dataclass(frozen=True)
class TaskSettings:
    """The keys of a task file that are no terms."""

    period: float = setting(REQUIRED, "Time from one action to the next", unit="s", above=0)
    model: str | None = setting(None, "The model file, seen from the folder of the task file, or its package:// URI")
    time_limit: float | None = setting(None, "Time after which an episode is truncated", unit="s", above=0)
    pose: str | None = setting(None, "Named posture of the model in which worlds start")
    load: Load = field(default_factory=Load)
    parameters: dict[str, str] = setting(dict, "Parameters of elements, and what they are drawn from")
    parameter_sets: int | None = setting(
        None, "How many sets of parameters are drawn; null: one a world, or one an episode", minimum=1
    )
    parameters_drawn: str = setting(WORLD, "When parameters are drawn", choices=(WORLD, EPISODE))


class TaskFile(ModelOfFile):
    """A task file that was read: its settings, and terms that are looked up in a model when worlds are there.

    Args:
        root, settings, folder: as of ModelOfFile.
        terrain: its terrain, None without one; an attribute too.
    """

    settings: TaskSettings

    def __init__(self, root: YamlNode, settings: TaskSettings, folder: Path, terrain: Terrain | None) -> None:
        super().__init__(root, settings, folder)
        self.terrain = terrain

    @property
    def beside_load(self) -> dict[str, Any]:
        """The terrain, as an argument of load_model()."""
        return {} if self.terrain is None else {TERRAIN: self.terrain.height_field}

    def variations(self, loaded: LoadedModel) -> list[Variation]:
        """What parameters are drawn from. DiagnosticError, a ModelError, with the place of each fault."""
        diagnostics, found = Diagnostics(), []
        node = self.root.get("parameters")
        for path, text in self.settings.parameters.items():
            assert node is not None
            try:
                if not is_parameter_path(path):
                    raise ArgumentError(f"{path} is not a parameter of a body, joint, actuator or geometry")
                (variation,) = parse_variations({path: text})
                with changed_parameters(loaded, [f"{path}={variation.draw(0.5)}"]):
                    found.append(variation)
            except ArgumentError as error:
                place = node.key_place(path)
                diagnostics.error("VALUE_INVALID", f"parameters.{path}: {error}", place=place, attribute=path)
        diagnostics.raise_if_errors()
        return found

    def task(self, worlds: TaskWorlds) -> TermTask:
        """The task, whose names are found in the model of worlds. DiagnosticError with every fault and its place."""
        if self.terrain is not None and worlds.loaded.terrain is None:
            raise ArgumentError(f"{self.name}: the model was loaded without the terrain of the task")
        worlds.tiles = None if self.terrain is None else self.terrain.middles
        diagnostics = Diagnostics()
        bound: dict[str, list[_Bound]] = {}
        worlds.commands.clear()
        for section, registry in SECTIONS.items():
            bound[section] = []
            for item in terms_of(section, self.root.get(section)):
                term = _bound(section, item, registry, worlds, diagnostics)
                bound[section].append(term)
                name = item.get("name")
                if section == "command" and name is not None and name.value not in worlds.commands:
                    worlds.commands[name.value] = modified_command(term.call, term.extra)
        diagnostics.raise_if_errors()
        (action,) = bound["action"]
        starts = bound["start"]
        made = None
        try:
            made = modified_action(action.call(worlds), "action", action.extra)
        except ArgumentError as error:
            diagnostics.error("VALUE_INVALID", f"action: {error}", place=action.node.place)
        diagnostics.raise_if_errors()
        assert made is not None
        worlds.set_action_size(made.size)
        names = [name for term in bound["observation"] for name in term.columns(worlds)]
        return TermTask(
            made,
            [
                modified_observation(term.call, f"observation {k}", term.extra)
                for k, term in enumerate(bound["observation"])
            ],
            names,
            [(term.extra["weight"], term.call) for term in bound["reward"]],
            [term.call for term in bound["terminate"]],
            [term.call for term in starts],
            [term.call for term in bound["event"]],
        )


def task_in(worlds: TaskWorlds, given: TaskFile | Task) -> tuple[Task, tuple[float, float]]:
    """A task that is ready for worlds, whose `frames` are set, and the limits of its actions."""
    task = given.task(worlds) if isinstance(given, TaskFile) else given
    task.prepare(worlds)
    worlds.set_action_size(task.action_size(worlds))
    return task, task.action_limits(worlds)


def read_task(source: Any) -> TaskFile:
    """The task of a YAML file (a path), or of a mapping with the keys of one.

    Raises:
        ModelError: one line for each fault, with file, line, key and what there is.
        ResourceError: the file cannot be read.
    """
    diagnostics = Diagnostics()
    root, folder = read_root(source, diagnostics)
    settings = read_into(TaskSettings, root, diagnostics, elsewhere=(*SECTIONS, TERRAIN))
    node = root.get(TERRAIN) if root.kind == "mapping" else None
    terrain = None if node is None else read_terrain(node, diagnostics)
    if node is not None and settings is not None:
        _check_load(settings.load, root.key_place(TERRAIN), diagnostics)
    for section, registry in SECTIONS.items() if root.kind == "mapping" else ():
        node = root.get(section)
        if node is None and section in NEEDED:
            diagnostics.error("KEY_MISSING", f'key "{section}" is missing', place=root.place, attribute=section)
        elif node is not None:
            check_section(section, node, registry, EXTRA.get(section, {}), diagnostics)
    diagnostics.raise_if_errors()
    assert settings is not None
    return TaskFile(root, settings, folder, terrain)


def _check_load(load: Load, place: SourceLocation, diagnostics: Diagnostics) -> None:
    """Reports what `load` says if there is a terrain and it should not."""
    if load.ground is not None:
        message = "terrain stands in the place of a ground, and load has one"
        diagnostics.error("VALUE_INVALID", message, place=place, attribute=TERRAIN)
    if not load.contact:
        message = "terrain touches nothing: load has no contact: true"
        diagnostics.error("VALUE_INVALID", message, place=place, attribute=TERRAIN)


@dataclass(frozen=True)
class _Bound:
    """A term with the values of its keys. extra: those of EXTRA."""

    node: YamlNode
    name: str
    call: Callable[..., Any]
    extra: dict[str, Any]
    columns_of: tuple[str, Any] | None = None  # "Positions" or "Velocities", and their places

    def columns(self, worlds: TaskWorlds) -> list[str]:
        """Names of the columns of an observation."""
        names = self._names(worlds)
        late = [f"{name} {k} before" for k in range(1, self.extra.get("history", 1)) for name in names]
        return names + late

    def _names(self, worlds: TaskWorlds) -> list[str]:
        width = self.call(worlds).shape[1]
        if self.columns_of is not None and width == len(self.columns_of[1]):
            kind, places = self.columns_of
            plant = worlds.plant
            names = plant.GetPositionNames() if kind == "Positions" else plant.GetVelocityNames()
            return [names[k] for k in places]
        body = self.node.get("body")
        prefix = self.name if body is None else f"{self.name}.{body.value}"
        return [prefix] if width == 1 else [f"{prefix}.{k}" for k in range(width)]


def _bound(
    section: str, item: YamlNode, registry: Mapping[str, Term], worlds: TaskWorlds, diagnostics: Diagnostics
) -> _Bound:
    """The term of a node that was checked; values that do not fit the model are reported."""
    name, of_all = item.value["term"].value, EXTRA.get(section, {})
    term = registry[name]
    values = read_values(item, term, of_all, KINDS, worlds, diagnostics)
    extra = {key: values.pop(key) for key in of_all if key in values}
    named = [(kind, values[key]) for key in values if (kind := term.parameters[key].kind) in COLUMNS]
    return _Bound(item, name, functools.partial(term.function, **values), extra, named[-1] if named else None)
