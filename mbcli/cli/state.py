"""The state that an analysis or a run starts from: default, lists, names, files, random numbers."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mbcli.cli.options import joined, parse_number, usage_errors
from mbcli.common.coordinate_names import StateNames
from mbcli.common.number_text import parse_angle
from mbcli.errors import ModelError, ResourceError
from mbcli.models.postures import find_postures, set_postures
from mbcli.models.states import check_quaternions, set_random_state, set_state_from_log, state_in_json
from mbcli.models.units import angular_positions, angular_velocities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mbcli.cli.options import Options
    from mbcli.math.array_types import BoolArray, FloatArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
LARGEST_STATE = 1 << 26  # [bytes] of a JSON document


def set_state(loaded: LoadedModel, context: Context, options: Options, of_rows: bool = False) -> BoolArray:
    """Puts the state that the options describe into the context: file, random or posture first, then lists, then names.

    of_rows: whether there are --states beside it. Returns the mask (nq,) of the positions that they state.
    """
    plant = loaded.plant
    stated = np.zeros(plant.num_positions(), dtype=bool)
    if options.pose is not None:
        if options.random_seed is not None or options.state_file is not None:
            raise click.UsageError("--pose excludes --random and --state")
        with usage_errors():
            stated |= set_postures(plant, context, find_postures(plant, loaded.postures, options.pose, "pose"))
    if options.random_seed is not None:
        set_random_state(plant, context, np.random.default_rng(options.random_seed))
        stated[:] = True
    if options.state_file is not None:
        stated |= _from_file(plant, context, options.state_file, options.state_time)
    elif options.state_time is not None:
        raise click.UsageError("--time needs --state LOG")
    if options.degrees and not (of_rows or options.q_list or options.v_list or options.assignments):
        raise click.UsageError("--degrees is for --q, --v, --at and --states")
    coordinates = Coordinates(plant, options.degrees)
    if options.q_list is not None:
        plant.SetPositions(context, coordinates.numbers("q", options.q_list))
        stated[:] = True
    if options.v_list is not None:
        plant.SetVelocities(context, coordinates.numbers("v", options.v_list))
    if options.assignments:
        stated[_assign(plant, context, coordinates.assigned(options.assignments))] = True
    check_quaternions(plant, context)
    return stated


class Coordinates:
    """Positions and velocities of a plant in texts, angles as `30deg` and `pi/2` too; degrees: of plain angles."""

    def __init__(self, plant: MultibodyPlant, degrees: bool) -> None:
        self._names = {"q": plant.GetPositionNames(), "v": plant.GetVelocityNames()}
        self._angular = {"q": angular_positions(plant), "v": angular_velocities(plant)}
        self._degrees = degrees
        floating = sum(body.is_floating_base_body() for body in plant.elements.bodies)
        self._of_bases = {"q": 7 * floating, "v": 6 * floating}

    def numbers(self, field: str, text: str) -> FloatArray:
        """Of all entries of a field."""
        option, words = f"--{field}", _words(text, self._names[field], f"--{field}", of_base=self._of_bases[field])
        return np.array([self._value((field, k), word, option) for k, word in enumerate(words)])

    def assigned(self, assignments: Iterable[str]) -> dict[tuple[str, int], float]:
        """{("q" or "v", index): number} of the texts of --at."""
        find = StateNames(self._names["q"], self._names["v"]).find
        return by_name(assignments, find, "--at", self._value)

    def _value(self, of: tuple[str, int], word: str, option: str) -> float:
        field, k = of
        if not self._angular[field][k]:
            if parse_number(word) is None and parse_angle(word) is not None:
                raise click.UsageError(f"{option}: '{word}' is an angle, {self._names[field][k]} is none")
            return number(word, option)
        value = parse_angle(word.strip(), self._degrees)
        if value is None:
            raise click.UsageError(f"{option}: '{word}' is not a finite number, and no angle as 30deg or pi/2")
        return value


def numbers(text: str, names: Sequence[str], option: str, why_none: str = "") -> FloatArray:
    """A comma or space separated list of finite numbers, one a name; why_none: a sentence if there is no name."""
    return np.array([number(word, option) for word in _words(text, names, option, why_none)])


def _words(text: str, names: Sequence[str], option: str, why_none: str = "", of_base: int = 0) -> list[str]:
    """of_base: how many of the names are of bases that float."""
    words = [word for word in re.split(r"[,\s]+", text.strip()) if word]
    if len(words) != len(names):
        of = f": {joined(*names)}" if names else f": {why_none}" if why_none else ""
        if of_base and len(words) == len(names) - of_base:
            of = f": {of_base} are those of bases that float, which --weld-base holds"
        raise click.UsageError(f"{option} needs {len(names)} numbers, it has {len(words)}{of}")
    return words


def number(word: str, option: str) -> float:
    value = parse_number(word.strip())
    if value is None:
        raise click.UsageError(f"{option}: '{word}' is not a finite number")
    return value


def by_name(
    assignments: Iterable[str],
    find: Callable[[str], Any],
    option: str,
    value_of: Callable[[Any, str, str], float] = lambda target, word, option: number(word, option),
) -> dict[Any, float]:
    """{result of find(name): number} of NAME=VALUE texts. UsageError if two of them mean the same.

    find raises LookupError for a name that means nothing, or several things. value_of: the number of a text for what
    find() gave, with the option for its UsageError.
    """
    values: dict[Any, float]
    stated: dict[Any, str]
    values, stated = {}, {}
    for assignment in assignments:
        name, equals, word = assignment.partition("=")
        if not equals:
            raise click.UsageError(f"{option} takes NAME=VALUE, not '{assignment}'")
        try:
            target = find(name)
        except LookupError as error:
            raise click.UsageError(f"{option}: {error}") from None
        if target in values:
            also = "" if stated[target] == name else f", which '{stated[target]}' means too"
            raise click.UsageError(f"{option}: a second value for '{name}'{also}")
        values[target], stated[target] = value_of(target, word, f"{option} {name}"), name
    return values


def _assign(plant: MultibodyPlant, context: Context, values: dict[tuple[str, int], float]) -> list[int]:
    """Sets coordinates; returns the indices of the positions among them."""
    q, v = plant.GetPositions(context), plant.GetVelocities(context)
    for (field, k), value in values.items():
        (q if field == "q" else v)[k] = value
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    return [k for field, k in values if field == "q"]


def _from_file(plant: MultibodyPlant, context: Context, path: str, time: float | None) -> bool:
    """Sets the state of a file; returns whether it has positions."""
    if path == "-":
        content, is_log = sys.stdin.buffer.read(LARGEST_STATE + 1), False
    elif not os.path.exists(path):
        raise ResourceError(f"{path}: error: no such file")
    else:
        with open(path, "rb") as file:
            content = file.read(len(HDF5_SIGNATURE))
            is_log = content == HDF5_SIGNATURE
            content += b"" if is_log else file.read(LARGEST_STATE)
    if len(content) > LARGEST_STATE:
        raise ModelError(f"{path}: error: not a state: more than {LARGEST_STATE >> 20} MiB")
    if time is not None and not is_log:
        raise click.UsageError(f"--time: {path} is not a log, it holds one state")
    if is_log:
        set_state_from_log(plant, context, path, time)
        return True
    q, v = state_in_json(plant, content, "<stdin>" if path == "-" else path)
    if q is not None:
        plant.SetPositions(context, q)
    if v is not None:
        plant.SetVelocities(context, v)
    return q is not None
