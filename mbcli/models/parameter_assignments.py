"""Parameters of elements by name: `joint.elbow.damping=0.3`, `body.gripper.mass=+0.5`, `actuator.*.gear_ratio=*1.1`.

A path is KIND.NAME.PARAMETER, or KIND.NAME.PARAMETER.COMPONENT (`body.hand.com.z`, `joint.base.default_position.2`).
NAME is that of an element, or any unambiguous ending of it, `instance::name` where several models have one of that
name, or a pattern of the shell (`*`, `?`, `[ab]`), which means all elements that match it and have the parameter, but
for joints of six degrees of freedom. For a geometry the name of its body will do: it means all geometries of that body.
VALUE is a number, or as many as the parameter has: `[0, 0, 0.1]`; `+X` adds to the value before, `*X` multiplies it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import AmbiguousNameError, listed, named_by_ending
from mbcli.common.fast_dataclass import dataclass
from mbcli.common.number_text import parse_number
from mbcli.common.suggestions import closest
from mbcli.errors import ArgumentError, MbcliError
from mbcli.models.element_parameters import BOTH_FRICTIONS, KINDS, Parameter
from mbcli.models.parameter_value import ParameterValue
from mbcli.multibody.core.finalize import renew_model
from mbcli.multibody.tree.index import ModelInstanceIndex
from mbcli.multibody.tree.scoped_name import DELIMITER
from mbcli.parsers.scenes.plant_config import RunConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.engine.runtime.model import Model
    from mbcli.math.array_types import Vector
    from mbcli.models.element_parameters import Kind
    from mbcli.models.loaded_model import LoadedModel

SETTINGS = {field.name for field in fields(RunConfig)}
OF_CONTACT = ("geometry", "field")  # kinds that the arrays of contact depend on
WORLD = ModelInstanceIndex(0)
WILDCARDS = re.compile(r"[*?\[]")
INFINITE = {"inf": math.inf, ".inf": math.inf, "-inf": -math.inf, "-.inf": -math.inf}


@dataclass(frozen=True)
class ParameterPath:
    """KIND.NAME.PARAMETER in its parts; component: of the values, as written, or None."""

    text: str
    kind: str
    name: str
    parameter: str
    component: str | None

    @property
    def definition(self) -> Parameter:
        """What the parameter is."""
        return KINDS[self.kind].table[self.parameter]


def split_overrides(overrides: Iterable[str] | Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """PATH=VALUE texts of settings, and those of parameters of elements. ArgumentError for a misspelt kind."""
    texts = override_texts(overrides)
    for text in texts:
        path = text.partition("=")[0].strip()
        head, _, rest = path.partition(".")
        likely = closest(head, list(KINDS)) if "." in rest and head not in SETTINGS | KINDS.keys() else None
        if likely is not None:
            raise _fault(path, f"no such setting or parameter: did you mean {likely}.{rest}?")
    settings = [text for text in texts if not is_parameter_path(text)]
    return settings, [text for text in texts if is_parameter_path(text)]


def is_parameter_path(path: str) -> bool:
    """Whether PATH, or PATH=VALUE, is meant to name a parameter of an element, not a setting."""
    return path.strip().partition(".")[0] in KINDS


def override_texts(overrides: Iterable[str] | Mapping[str, Any]) -> list[str]:
    """PATH=VALUE texts, of a dictionary {path: value} too."""
    if isinstance(overrides, str):
        return [overrides]
    if isinstance(overrides, Mapping):
        return [f"{path}={_as_text(value)}" for path, value in overrides.items()]
    return list(overrides)


def _as_text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_as_text, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def parse_path(text: str) -> ParameterPath:
    """The parts of a path. ArgumentError for one that names no parameter."""
    path = text.strip()
    kind, _, rest = path.partition(".")
    table = KINDS[kind].table
    name, _, parameter = rest.rpartition(".")
    component = None
    if parameter not in table and name.rpartition(".")[2] in table:
        component, (name, _, parameter) = parameter, name.rpartition(".")
    if not name or not parameter:
        raise _fault(path, f"must be {kind}.NAME.PARAMETER; a {kind} has {', '.join(table)}")
    if parameter not in table:
        likely = closest(parameter, list(table))
        hint = f"did you mean {kind}.{name}.{likely}?" if likely else f"a {kind} has {', '.join(table)}"
        raise _fault(path, f"a {kind} has no parameter '{parameter}'; {hint}")
    return ParameterPath(path, kind, name, parameter, component)


def set_parameters(loaded: LoadedModel, overrides: Iterable[str] | Mapping[str, Any]) -> list[ParameterValue]:
    """Gives elements of a loaded model other parameters, in contexts that are made from now on.

    Assignments act in turn: a relative one acts on the result of those before it.

    Args:
        loaded: LoadedModel; its files stay as they are.
        overrides: PATH=VALUE texts, or {path: value}; see above.

    Returns:
        The new values, also those of a model that has no geometries loaded, where frictions have no effect.

    Raises:
        ArgumentError: a path names nothing, or a value cannot be. The model is as it was then.

    Example:
        >>> heavy = mbcli.load_model("sample_models/double_pendulum.urdf")
        >>> mbcli.models.set_parameters(heavy, {"body.lower.mass": "*2"})
        [ParameterValue(kind='body', name='lower', parameter='mass', values=(1.2,))]
    """
    return _apply(loaded, overrides)[0]


@contextmanager
def changed_parameters(
    loaded: LoadedModel, overrides: Iterable[str] | Mapping[str, Any]
) -> Iterator[list[ParameterValue]]:
    """As set_parameters(), until the end of a `with` block.

    Args:
      loaded: LoadedModel; as it was after the block.
      overrides: PATH=VALUE texts, or {path: value}.

    Returns:
      A context manager, of the new values.

    Raises:
      ArgumentError: as of set_parameters().

    Example:
      >>> with mbcli.models.changed_parameters(model, {"body.lower.mass": 2.0}):
      ...     print(plant.GetBodyByName("lower").default_mass())
      2.0
    """
    values, restore = _apply(loaded, overrides)
    try:
        yield values
    finally:
        restore()


def _apply(
    loaded: LoadedModel, overrides: Iterable[str] | Mapping[str, Any]
) -> tuple[list[ParameterValue], Callable[[], None]]:
    changes = _Changes(loaded)
    for text in override_texts(overrides):
        changes.add(text)
    return changes.apply(), changes.restore


def parameters_of(loaded: LoadedModel) -> list[str]:
    """The path of every parameter that set_parameters() can change, for lists and completion.

    Args:
      loaded: LoadedModel.

    Returns:
      Paths, as "body.lower.mass".

    Example:
      >>> mbcli.models.parameters_of(model)[:3]
      ['body.upper.mass', 'body.upper.com', 'body.upper.inertia']
    """
    paths = []
    for kind, of_kind in KINDS.items():
        for element in elements_of(loaded, kind):
            name = element.whole_name if element.is_ambiguous else element.name
            having = (p for p, definition in of_kind.table.items() if element.read(definition) is not None)
            paths += [f"{kind}.{name}.{parameter}" for parameter in having]
    return list(dict.fromkeys(paths))


def matching_parameters(loaded: LoadedModel, text: str) -> list[tuple[str, Parameter, Vector, list[Any]]]:
    """What a path without a value means: (path, what it is, its values (n,), the elements).

    A pattern means one entry for each element; a path without one means one entry, with the values of the
    first element that it names. ArgumentError if it names nothing.
    """
    if not is_parameter_path(text):
        raise _fault(text, f"is not a parameter of an element: {', '.join(KINDS)}")
    path = parse_path(text)
    end = "" if path.component is None else f".{path.component}"
    found = []
    for element in _found(loaded, path):
        values = element.read(path.definition)
        assert values is not None  # _found() leaves out elements that do not have it
        if path.component is not None:
            values = values[_component(path, path.component, element, values)]
        name = element.whole_name if element.is_ambiguous else element.name
        found.append((f"{path.kind}.{name}.{path.parameter}{end}", path.definition, values, [element.element]))
    if WILDCARDS.search(path.name):
        return found
    return [(path.text, *found[0][1:3], [each for entry in found for each in entry[3]])]


# ------------------------------------------------------------------------------------------ elements


class _Element:
    """An element of a plant by its names. of_file: a geometry of a file that was not loaded, without values."""

    def __init__(self, element: Any, name: str, instance: str, body: str = "", *, of_file: bool = False) -> None:
        self.element, self.name, self.instance, self.body = element, name, instance, body
        self.of_file, self.is_ambiguous = of_file, False

    @property
    def whole_name(self) -> str:
        return f"{self.instance}{DELIMITER}{self.name}"

    def read(self, definition: Parameter) -> Vector | None:
        """Values (n,) of a parameter, None if the element has none."""
        if self.of_file:
            return np.array([math.nan])
        values = definition.read(self.element)
        values = None if values is None else np.array(values, dtype=float, ndmin=1)
        return None if values is None or not values.size else values

    def flies(self) -> bool:
        """Whether it is a joint of six degrees of freedom."""
        return not self.of_file and hasattr(self.element, "num_velocities") and self.element.num_velocities() == 6


def elements_of(loaded: LoadedModel, kind: str) -> list[Any]:
    """The elements of a kind: their `name`, `instance` and `body`, and `read(definition)`, which gives the values (n,)
    of a Parameter, None without any."""
    plant = loaded.plant
    if kind == "geometry":
        found = _geometries(loaded)
    else:
        bodies, joints = plant.elements.bodies[1:], plant.moving_joints()
        actuators = [plant.controllers_of_run.get(a, a) for a in plant.elements.actuators]
        kinds: dict[str, Sequence[Any]] = {"body": bodies, "joint": joints, "actuator": actuators}
        found = [_Element(e, e.name(), plant.GetModelInstanceName(e.model_instance())) for e in kinds.get(kind, ())]
        if kind == "field":
            found = [_Element(plant.gravity_field(), "gravity", plant.GetModelInstanceName(WORLD))]
    names = [element.name for element in found]
    for element in found:
        element.is_ambiguous = names.count(element.name) > 1
    return found


def _geometries(loaded: LoadedModel) -> list[_Element]:
    """Those that collide: of the plant, or of the files if the plant was made without contact."""
    plant = loaded.plant
    if plant.scene_graph is None:
        return [
            _Element(geometry, geometry.name, instance, link.name, of_file=True)
            for spec, instance in zip(loaded.specs, loaded.instances, strict=False)
            for link in spec.links
            for geometry in link.collisions
        ]
    registry = plant.scene_graph.registry
    found = []
    for g, body in plant.geometry_bodies.items():
        instance = registry.geometries[g]
        if instance.proximity is not None:
            scope = plant.GetModelInstanceName(body.model_instance())
            found.append(_Element(instance, instance.name().rpartition(DELIMITER)[2], scope, body.name()))
    return found


def _found(loaded: LoadedModel, path: ParameterPath) -> list[_Element]:
    """The _Elements that a path names and that have the parameter. ArgumentError if there is none."""
    every = elements_of(loaded, path.kind)
    scope, _, name = path.name.rpartition(DELIMITER)
    there = [e for e in every if not scope or e.instance == scope or fnmatchcase(e.instance, scope)]
    exact = [e for e in there if e.name == name]
    if not exact and path.kind == "geometry":
        exact = [e for e in there if e.body == name]
        if len({e.instance for e in exact}) < 2:
            return _with_parameter(path, exact) if exact else _matching(path, every, there, name)
    if exact:
        if len(exact) > 1 and not scope and path.kind != "geometry":
            raise _fault(path.text, f"can mean {listed([e.whole_name for e in exact])}; *{DELIMITER}{name} means all")
        return _with_parameter(path, exact)
    return _matching(path, every, there, name)


def _matching(path: ParameterPath, every: Sequence[_Element], there: Sequence[_Element], name: str) -> list[_Element]:
    """Those that a pattern means, or any unambiguous ending of a name, or of that of a geometry's body."""
    if WILDCARDS.search(name):
        by_body = path.kind == "geometry"
        found = [e for e in there if fnmatchcase(e.name, name) or (by_body and fnmatchcase(e.body, name))]
        found = [e for e in found if not e.flies()]
        if found:
            return _with_parameter(path, found)
        raise _fault(path.text, f"no {path.kind} has a name like '{path.name}'; there are {_names(every)}")
    try:
        meant = named_by_ending(name, [e.whole_name for e in there], path.kind)
        body = named_by_ending(name, [e.body for e in there if e.body], "body") if meant is None else None
    except AmbiguousNameError as error:
        raise _fault(path.text, error.args[0]) from None
    if meant or body:
        return _with_parameter(path, [e for e in there if e.whole_name == meant or e.body == body])
    likely = closest(name, list(dict.fromkeys([*(e.name for e in every), *(e.body for e in every if e.body)])))
    hint = f"did you mean {path.kind}.{likely}.{path.parameter}?" if likely else f"there are {_names(every)}"
    raise _fault(path.text, f"there is no {path.kind} named '{path.name}'; {hint}")


def _names(every: Iterable[_Element]) -> str:
    return listed(list(dict.fromkeys(e.whole_name if e.is_ambiguous else e.name for e in every))) or "none"


def _with_parameter(path: ParameterPath, found: Sequence[_Element]) -> list[_Element]:
    having = [e for e in found if e.read(path.definition) is not None]
    if not having:
        raise _fault(path.text, f"{path.kind} {listed([e.name for e in found])} has no {path.parameter}")
    return having


# ------------------------------------------------------------------------------------------- changes


class _Changes:
    """New values that are collected first, so that the order of assignments does not matter to limits and inertias."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        # id of an element -> (_Element, name of its kind, {parameter: values})
        self._new: dict[int, tuple[_Element, str, dict[str, Vector]]] = {}
        self._stated_by: dict[int, str] = {}  # id of an element -> the path that named it last
        self._undo: list[Callable[[], None]] = []
        self._arrays: tuple[Model | None, Model | None] = None, None  # of the plant, before and after the change

    def add(self, text: str) -> None:
        path_text, equals, value = text.partition("=")
        if not equals:
            raise _fault(text, "must be PATH=VALUE, as joint.elbow.damping=0.3")
        if not is_parameter_path(path_text):
            raise _fault(path_text, f"is not a parameter of an element: {', '.join(KINDS)}")
        path = parse_path(path_text)
        both = path.kind == "geometry" and path.parameter == "friction"
        paths = [replace(path, parameter=name) for name in BOTH_FRICTIONS] if both else [path]
        for element in _found(self.loaded, path):
            key = id(element.element)
            known, _, values = self._new.setdefault(key, (element, path.kind, {}))
            self._stated_by[key] = path.text
            for one in paths:
                before = values[one.parameter] if one.parameter in values else known.read(one.definition)
                assert before is not None  # _found() leaves out elements that do not have it
                values[one.parameter] = _changed(one, element, before, value.strip())

    def apply(self) -> list[ParameterValue]:
        """Replaces the defaults, all or none; returns the ParameterValues."""
        try:
            for key, (element, kind, values) in self._new.items():
                self._replace(key, element, KINDS[kind], values)
        except ArgumentError:
            self.restore()
            raise
        self._arrays = self.loaded.plant.model, self._renew()
        return [
            ParameterValue(kind, element.whole_name if element.is_ambiguous else element.name, name, tuple(v.tolist()))
            for element, kind, values in self._new.values()
            for name, v in values.items()
        ]

    def restore(self) -> None:
        """Gives the elements back what they had."""
        for undo in reversed(self._undo):
            undo()
        if self._undo:
            self._undo = []
            self._renew(self._arrays)

    def _renew(self, arrays: tuple[Model | None, Model | None] = (None, None)) -> Model:
        """Makes the plant's arrays anew and returns them; arrays: (before, made), of which `before` is put back if
        nothing else has replaced those that were made."""
        plant = self.loaded.plant
        before, made = arrays
        if made is not None and plant.model is made:
            plant.model = before
        elif self._new:
            renew_model(plant)
        if plant.scene_graph is not None and any(kind in OF_CONTACT for _, kind, _ in self._new.values()):
            plant.scene_graph.registry.revision += 1
        return plant.model

    def _replace(self, key: int, element: _Element, kind: Kind, values: Mapping[str, Vector]) -> None:
        if element.of_file:
            return
        if kind is KINDS["geometry"] and any(element.element.id() in pair for pair in self.loaded.plant.contact_pairs):
            message = (
                f"geometry '{element.name}' is part of a contact pair, which has parameters of its own in the file"
            )
            raise _fault(self._stated_by[key], message)
        self._undo.append(kind.keep(element.element))
        try:
            kind.replace(element.element, values)
        except (MbcliError, RuntimeError) as error:
            raise _fault(self._stated_by[key], f"'{element.name}': {error}") from None


def _changed(path: ParameterPath, element: _Element, before: Vector, text: str) -> Vector:
    """The values after an assignment."""
    operator = text[:1] if text[:1] in ("+", "*") else ""
    given = _numbers(path, text[len(operator) :].strip())
    where = slice(None) if path.component is None else _component(path, path.component, element, before)
    selected = before[where]
    if len(given) not in (1, len(selected)):
        raise _fault(path.text, f"{path.kind} '{element.name}' takes {len(selected)} numbers here, not {len(given)}")
    if len(given) == 1 and len(selected) > 1 and not operator and path.definition.components:
        raise _fault(path.text, f"takes {len(selected)} numbers: [{', '.join(path.definition.components)}]")
    if operator and not np.isfinite(selected).all():
        if WILDCARDS.search(path.name):
            return before  # what has no limit keeps none
        raise _fault(path.text, f"{path.kind} '{element.name}' has no {path.parameter} that {operator} could act on")
    given = np.resize(given, len(selected))
    result = before.copy()
    result[where] = selected + given if operator == "+" else selected * given if operator == "*" else given
    if path.component is not None and np.isnan(result).any():
        raise _fault(path.text, f"{path.kind} '{element.name}' has no value yet: give all of them")
    refusal = path.definition.refusal(result)
    if refusal is not None:
        raise _fault(path.text, f"{path.parameter} of {path.kind} '{element.name}' {refusal}")
    return result


def _numbers(path: ParameterPath, text: str) -> Vector:
    words = text[1:-1].split(",") if text.startswith("[") and text.endswith("]") else [text]
    numbers = [INFINITE.get(word.strip(), parse_number(word.strip())) for word in words]
    if None in numbers:
        raise _fault(
            path.text, f"'{text[:60]}' is not a number, or a list of numbers [x, y, z], after + or * if relative"
        )
    return np.array(numbers)


def _component(path: ParameterPath, component: str, element: _Element, before: Vector) -> slice:
    names = path.definition.components
    if names and component in names:
        k = names.index(component)
    elif not names and component.isdecimal() and len(component) < 4:
        k = int(component)
    else:
        k = len(before)
    if k >= len(before):
        there = ", ".join(names) if names else f"0 to {len(before) - 1}"
        raise _fault(path.text, f"{path.parameter} of '{element.name}' has no component '{component}': {there}")
    return slice(k, k + 1)


def _fault(path: str, message: str) -> ArgumentError:
    return ArgumentError(f"{argument('overrides')} {path}: {message}")
