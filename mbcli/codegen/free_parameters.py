"""Parameters that stay symbols: their names and values, and the arrays of a model for other values of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.codegen.point_inertia import central_row, inertia_of_links
from mbcli.common.argument_names import argument
from mbcli.engine.fields.model_fields import PD_GAIN_D, PD_GAIN_P
from mbcli.errors import ArgumentError
from mbcli.models.element_parameters import BODY
from mbcli.models.parameter_assignments import matching_parameters, parse_path
from mbcli.tracing.record import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.math.array_types import Vector
    from mbcli.models.loaded_model import LoadedModel


class FreeParameter(NamedTuple):
    """A number that stays free.

    path: its name, `body.hand.com.z`; unit; value: its default; kind, element, parameter: what it is of; component: its
    place among the values of that.
    """

    path: str
    unit: str
    value: float
    kind: str
    element: Any
    parameter: str
    component: int


class FreeParameters:
    """Parameters of a loaded model that stay free, in the order of the input `p`.

    Args:
        loaded: LoadedModel.
        paths: as `--set` knows them, without values; patterns mean all elements that match.

    ArgumentError for a path that means nothing, one that is given twice, and one of what no function depends on.
    """

    def __init__(self, loaded: LoadedModel, paths: Sequence[str]) -> None:
        self.entries: list[FreeParameter] = []
        for text in paths:
            for path, definition, values, elements in _matching(loaded, text):
                parsed = parse_path(path)
                if parsed.kind != "body" and (parsed.kind, parsed.parameter) not in PLACES:
                    known = ", ".join((*(f"body.{name}" for name in BODY), *map(".".join, PLACES)))
                    raise _fault(f"'{path}' cannot stay free: {known} can")
                whole = np.atleast_1d(definition.read(elements[0]))
                names = definition.components or tuple(map(str, range(len(whole))))
                chosen: Sequence[int] = range(len(whole))
                if parsed.component is not None:
                    chosen = [names.index(parsed.component) if parsed.component in names else int(parsed.component)]
                elif len(whole) > 1:
                    path = f"{path}."
                for k, value in zip(chosen, values.tolist(), strict=True):
                    name = f"{path}{names[k]}" if path.endswith(".") else path
                    for element in elements:
                        kind, parameter = parsed.kind, parsed.parameter
                        self.entries.append(FreeParameter(name, definition.unit, value, kind, element, parameter, k))
        seen: set[tuple[int, str, int]] = set()
        for each in self.entries:
            key = (id(each.element), each.parameter, each.component)
            if key in seen:
                raise _fault(f"'{each.path}' is meant twice")
            seen.add(key)

    @property
    def variable(self) -> Variable:
        """The input."""
        return Variable("p", (len(self.entries),), "free parameters, as the table has them")

    @property
    def values(self) -> Vector:
        """The defaults (np,)."""
        return np.array([each.value for each in self.entries])

    def table(self) -> list[dict[str, Any]]:
        """As data: name, unit and default of each."""
        return [{"name": each.path, "unit": each.unit, "value": each.value} for each in self.entries]

    def model(self, model: Any, p: Any) -> Any:
        """The arrays of a model with other values p (np,), in the numbers that these are."""
        dtype = np.result_type(p, float)
        arrays = {name: getattr(model, name).astype(dtype) for name in ARRAYS}
        bodies: dict[Any, dict[str, dict[int, Any]]] = {}
        for each, value in zip(self.entries, p, strict=True):
            if each.kind == "body":
                bodies.setdefault(each.element, {}).setdefault(each.parameter, {})[each.component] = value
            else:
                PLACES[each.kind, each.parameter](model, arrays, each, value)
        for body, given in bodies.items():
            _set_link(arrays, int(body.index()), given)
        for b in {int(model.link_body[int(body.index())]) for body in bodies}:
            links = np.flatnonzero(model.link_body == b)
            heavy = links[model.link_weight[links] != 0.0]
            if b:
                whole = inertia_of_links(model.link_X_BL, arrays["link_inertia"], links)
                arrays["body_inertia"][b] = central_row(whole)
            under_gravity = inertia_of_links(model.link_X_BL, arrays["link_inertia"], heavy)
            arrays["gravitating_mass"][b] = [under_gravity.m, *under_gravity.h]
        return model.replace(dtype=dtype, **arrays)


ARRAYS = (
    *("link_inertia", "link_weight", "body_inertia", "gravitating_mass", "gravity"),
    *("dof_damping", "dof_armature", "dof_stiffness", "dof_nominal", "pd_constants"),
)


def _set_link(arrays: dict[str, Any], n: int, given: dict[str, dict[int, Any]]) -> None:
    """Mass, centre of mass and central inertia of a link; a mass alone is another density, as `--set` has it."""
    row = arrays["link_inertia"][n]
    if "mass" in given:
        mass, before = given["mass"][0], row[0]
        if "inertia" not in given and before != 0.0:
            row[4:] = [mass * (x / before) for x in row[4:]]
        row[0] = mass
        if arrays["link_weight"][n] != 0.0:
            arrays["link_weight"][n] = mass
    for k, value in given.get("com", {}).items():
        row[1 + k] = value
    for k, value in given.get("inertia", {}).items():
        row[4 + k] = value


def _of_velocity(name: str) -> Callable[..., None]:
    """Sets an element of an array of velocities, of a joint whose own it is alone."""

    def place(model: Any, arrays: dict[str, Any], each: FreeParameter, value: Any) -> None:
        arrays[name][each.element.velocity_start() + each.component] = value

    return place


def _armature(model: Any, arrays: dict[str, Any], each: FreeParameter, value: Any) -> None:
    """Of each velocity of a joint, beside those of its actuators."""
    first = each.element.velocity_start()
    for d in range(first, first + each.element.num_velocities()):
        others = float(model.dof_armature[d]) - each.value
        arrays["dof_armature"][d] = value + (others if abs(others) > ROUNDING * abs(each.value) else 0.0)


def _gravity(model: Any, arrays: dict[str, Any], each: FreeParameter, value: Any) -> None:
    arrays["gravity"][each.component] = value


def _gain(column: int) -> Callable[..., None]:
    def place(model: Any, arrays: dict[str, Any], each: FreeParameter, value: Any) -> None:
        number = each.element.GetParentPlant().elements.actuators.index(each.element)
        arrays["pd_constants"][model.pd_actuator.tolist().index(number), column] = value

    return place


def _matching(loaded: LoadedModel, text: str) -> list[Any]:
    try:
        return matching_parameters(loaded, text)
    except ArgumentError as error:  # it speaks of assignments
        raise ArgumentError(str(error).replace(argument("overrides"), argument("free"), 1)) from None


def _fault(words: str) -> ArgumentError:
    return ArgumentError(f"{argument('free')}: {words}")


ROUNDING = 1e-14
PLACES: dict[tuple[str, str], Callable[..., None]] = {
    ("joint", "damping"): _of_velocity("dof_damping"),
    ("joint", "armature"): _armature,
    ("joint", "stiffness"): _of_velocity("dof_stiffness"),
    ("joint", "rest_position"): _of_velocity("dof_nominal"),
    ("actuator", "kp"): _gain(PD_GAIN_P),
    ("actuator", "kd"): _gain(PD_GAIN_D),
    ("field", "vector"): _gravity,
}
