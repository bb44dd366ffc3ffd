"""Task files: YAML that says what worlds are to do by terms of a registry."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbcli.common.suggestions import did_you_mean
from mbcli.config.config_fields import REQUIRED, ValueProblem, setting
from mbcli.environments.acting_terms import ACTIONS, COMMANDS, EVENTS
from mbcli.environments.task import TermTask
from mbcli.environments.term_kinds import KINDS
from mbcli.environments.term_modifiers import EXTRA, modified_action, modified_command, modified_observation
from mbcli.environments.terms import ENDS, OBSERVATIONS, REWARDS, STARTS
from mbcli.errors import ArgumentError
from mbcli.models.loading import load_model
from mbcli.models.parameter_assignments import changed_parameters, is_parameter_path
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load_arguments import ACTUATORS
from mbcli.parsers.yaml_records import read_into
from mbcli.parsers.yaml_source import read_yaml
from mbcli.sweeps.variations import parse_variations

if TYPE_CHECKING:
    from mbcli.environments.task import Task
    from mbcli.environments.task_worlds import TaskWorlds
    from mbcli.environments.term_registry import Term
    from mbcli.models.loaded_model import LoadedModel
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
MAPPING = "<task>"  # in messages
WORLD, EPISODE = "world", "episode"  # when parameters are drawn
COLUMNS = ("Positions", "Velocities")  # kinds of keys that name the columns of an observation


@dataclass(frozen=True)
class Load:
    """How the model is loaded: arguments of load_model(), of the same meaning."""

    contact: bool = setting(False, "Whether solids touch")
    ground: float | None = setting(None, "Height of a ground", unit="m")
    dt: float | None = setting(None, "Time step", unit="s", above=0)
    hold: bool = setting(False, "Whether controllers hold the joints")
    kp: float | None = setting(None, "Stiffness of these controllers", unit="N m/rad or N/m", above=0)
    kd: float | None = setting(None, "Damping of these controllers", unit="N m s/rad or N s/m", minimum=0)
    self_contact: str | None = setting(None, "Contact of one mechanism", choices=("auto", "all", "none"))
    weld: tuple[str, ...] = setting((), "Bodies that are welded to the world")
    weld_base: bool = setting(False, "Whether bases that would float are welded")
    actuators: str | None = setting(None, "What all joints get; null: what files say", choices=ACTUATORS)


@dataclass(frozen=True)
class TaskSettings:
    """The keys of a task file that are no terms."""

    period: float = setting(REQUIRED, "Time from one action to the next", unit="s", above=0)
    model: str | None = setting(None, "The model file, seen from the folder of the task file")
    time_limit: float | None = setting(None, "Time after which an episode is truncated", unit="s", above=0)
    pose: str | None = setting(None, "Named posture of the model in which worlds start")
    load: Load = field(default_factory=Load)
    parameters: dict[str, str] = setting(dict, "Parameters of elements, and what they are drawn from")
    parameter_sets: int | None = setting(
        None, "How many sets of parameters are drawn; null: one a world, or one an episode", minimum=1
    )
    parameters_drawn: str = setting(WORLD, "When parameters are drawn", choices=(WORLD, EPISODE))


class TaskFile:
    """A task file that was read: its settings, and terms that are looked up in a model when worlds are there."""

    def __init__(self, root: YamlNode, settings: TaskSettings, folder: Path) -> None:
        self._root, self.settings, self._folder = root, settings, folder

    @property
    def name(self) -> str:
        """The file in messages."""
        return self._root.place.file

    @property
    def path(self) -> str | None:
        """The file, None for a mapping."""
        return None if self.name == MAPPING else self.name

    @property
    def model(self) -> Path | None:
        """The file of the model, None if the task names none."""
        return None if self.settings.model is None else self._folder / self.settings.model

    @property
    def load(self) -> dict[str, Any]:
        """The arguments of load_model() that the file states."""
        node = self._root.get("load")
        return {key: getattr(self.settings.load, key) for key in (() if node is None else node.keys())}

    def states(self, section: str) -> bool:
        """Whether there is a section of this name."""
        return self._root.get(section) is not None

    def loaded(self, model: Any = None) -> Any:
        """The model of the task, or the files of another one, loaded as the task says; a LoadedModel as it is.

        ArgumentError: no file names a model; settings of `load` are for files.
        """
        options = self.load
        if model is None:
            if self.model is None:
                raise ArgumentError(f'{self.name}: the task names no model: key "model", or the argument `model`')
            return load_model(self.model, **options)
        if isinstance(model, (str, os.PathLike)):
            return load_model(model, **options)
        if options:
            raise ArgumentError(f'{self.name}: "load" is for files of a model, and the model is loaded already')
        return model

    def variations(self, loaded: LoadedModel) -> list[Variation]:
        """What parameters are drawn from. DiagnosticError, a ModelError, with the place of each fault."""
        diagnostics, found = Diagnostics(), []
        node = self._root.get("parameters")
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
        diagnostics = Diagnostics()
        bound: dict[str, list[_Bound]] = {}
        worlds.commands.clear()
        for section, registry in SECTIONS.items():
            bound[section] = []
            for item in _terms(section, self._root.get(section)):
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
    diagnostics, folder = Diagnostics(), Path()
    if isinstance(source, Mapping):
        root = read_yaml(_as_yaml(source), diagnostics, name=MAPPING)
    else:
        root = read_yaml(source, diagnostics)
        folder = Path(source).parent
    diagnostics.raise_if_errors()
    assert root is not None
    settings = read_into(TaskSettings, root, diagnostics, elsewhere=tuple(SECTIONS))
    for section, registry in SECTIONS.items() if root.kind == "mapping" else ():
        node = root.get(section)
        if node is None and section in NEEDED:
            diagnostics.error("KEY_MISSING", f'key "{section}" is missing', place=root.place, attribute=section)
        elif node is not None:
            _check_section(section, node, registry, diagnostics)
    diagnostics.raise_if_errors()
    assert settings is not None
    return TaskFile(root, settings, folder)


def _as_yaml(task: Mapping[str, Any]) -> bytes:
    import yaml  # late, as in read_yaml()

    try:
        return yaml.safe_dump(_plain(task), sort_keys=False, default_flow_style=False).encode()
    except yaml.YAMLError as error:
        raise ArgumentError(f"the task is not what a YAML file can have: {error}") from None


def _plain(value: Any) -> Any:
    """Mappings, tuples and numbers of numpy as YAML writes them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(child) for child in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return str(value) if isinstance(value, os.PathLike) else value


def _terms(section: str, node: YamlNode | None) -> list[YamlNode]:
    """The nodes of the terms of a section: an action is one, the others are lists."""
    if node is None:
        return []
    return [node] if section == "action" else list(node)


def _check_section(section: str, node: YamlNode, registry: Mapping[str, Term], diagnostics: Diagnostics) -> None:
    if section != "action" and (node.kind != "sequence" or not len(node)):
        message = f"{section} is a list of terms; found {node.describe()}"
        diagnostics.error("VALUE_TYPE", message, place=node.place, attribute=section)
        return
    for item in _terms(section, node):
        _check_term(section, item, registry, diagnostics)


def _check_term(section: str, item: YamlNode, registry: Mapping[str, Term], diagnostics: Diagnostics) -> None:
    """Reports a term that there is not, and keys that are unknown or missing."""
    name = item.get("term")
    if item.kind != "mapping" or name is None:
        message = f'{section}: a term is a mapping with the key "term"; found {item.describe()}'
        hint = f"there are {', '.join(registry)}"
        diagnostics.error("KEY_MISSING", message, place=item.place, attribute="term", hint=hint)
        return
    term = registry.get(name.value) if isinstance(name.value, str) else None
    if term is None:
        likely = did_you_mean(name.value, list(registry)) or f"there are {', '.join(registry)}"
        message = f'unknown term "{name.text if name.text is not None else name.describe()}" of {section}'
        diagnostics.error("VALUE_CHOICE", message, place=name.place, attribute="term", hint=likely)
        return
    known = {"term": True, **{key: parameter.is_required for key, parameter in term.parameters.items()}}
    known |= {key: is_required for key, (_, is_required) in EXTRA.get(section, {}).items()}
    for key, _ in item.items():
        if key not in known:
            message = f'unknown key "{key}" of the term {name.value}'
            hint = did_you_mean(key, list(known)) or f"its keys are {', '.join(known)}"
            diagnostics.error("KEY_UNKNOWN", message, place=item.key_place(key), attribute=key, hint=hint)
    for key, is_required in known.items():
        if is_required and item.get(key) is None:
            message = f'key "{key}" of the term {name.value} is missing'
            diagnostics.error("KEY_MISSING", message, place=item.place, attribute=key)


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
    name = item.value["term"].value
    term, values, columns = registry[name], {}, None
    of_all, extra = EXTRA.get(section, {}), {}
    for key, child in item.items():
        if key == "term":
            continue
        kind = of_all[key][0] if key in of_all else term.parameters[key].kind
        try:
            value = KINDS[kind](child, worlds)
        except ValueProblem as problem:
            joint = "" if str(problem).startswith(":") else " "
            message = f"{name}: {key}{joint}{problem}"
            diagnostics.error(problem.code, message, place=child.place, attribute=key, hint=problem.hint)
            continue
        if key in of_all:
            extra[key] = value
        else:
            values[key] = value
            columns = (kind, value) if kind in COLUMNS else columns
    return _Bound(item, name, functools.partial(term.function, **values), extra, columns)
