"""Pushes: forces on bodies of a run from one time to another, in place of what a hand or a gust does."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import element_named
from mbcli.common.fast_dataclass import dataclass
from mbcli.common.number_text import parse_number
from mbcli.common.text_tables import read_text_table, shown
from mbcli.errors import ArgumentError, ModelError
from mbcli.multibody.tree.index import BodyIndex

if TYPE_CHECKING:
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.rigid_body import RigidBody

FORM = "BODY=fx,fy,fz[@x,y,z] [from T] [to T] or BODY=SIZE@random for D [from T] [to T]"
_TEXT = re.compile(
    r"(?P<body>[^=]+)=(?P<force>[^@\s]+)(?:@(?P<point>\S+))?"
    r"(?:\s+from\s+(?P<start>\S+))?(?:\s+to\s+(?P<end>\S+))?\s*"
)
_RANDOM = re.compile(
    r"(?P<body>[^=]+)=(?P<size>[^@\s,]+)@random\s+for\s+(?P<duration>\S+)"
    r"(?:\s+from\s+(?P<start>\S+))?(?:\s+to\s+(?P<end>\S+))?\s*"
)
COLUMNS = ("body", "fx", "fy", "fz", "from", "to")
POINT = ("x", "y", "z")


class Push(NamedTuple):
    """A force on a body.

    Attributes:
        body: its name, `instance::body` where several models have one of that name.
        force: (3,) [N] in World.
        start, end: [s] from when to when it acts.
        point: (3,) [m] in the body's frame, where it acts; None: at its centre of mass.
    """

    body: str
    force: tuple[float, ...]
    start: float = 0.0
    end: float = np.inf
    point: tuple[float, ...] | None = None


@dataclass(frozen=True)
class RandomPush:
    """A horizontal push on a body at its centre of mass whose direction and start are drawn.

    Attributes:
        body: its name.
        size: [N].
        duration: [s].
        start, end: [s] between which it acts.
    """

    body: str
    size: float
    duration: float
    start: float
    end: float

    def drawn(self, random: np.random.Generator, until: float) -> Push:
        """The push; until: [s] the end of the run. ArgumentError if there is no time for it."""
        last = min(self.end, until) - self.duration
        if last < self.start:
            message = f"the push of '{self.body}' lasts {self.duration:g} s, there is less time"
            raise ArgumentError(f"{argument('pushes')}: {message}")
        angle, start = random.uniform(0.0, 2.0 * np.pi), float(random.uniform(self.start, last))
        force = self.size * float(np.cos(angle)), self.size * float(np.sin(angle)), 0.0
        return Push(self.body, force, start, start + self.duration)


def ending_pushes(pushes: Any, until: float) -> list[Push | RandomPush]:
    """As read_pushes(); ArgumentError too for random ones without an end, neither their own nor `until` [s]."""
    given = read_pushes(pushes)
    if any(isinstance(push, RandomPush) and not np.isfinite(min(push.end, until)) for push in given):
        raise ArgumentError(f"{argument('pushes')}: a random push needs an end: 'to T', or {argument('until')}")
    return given


def drawn_pushes(pushes: Iterable[Push | RandomPush], seed: int, until: float) -> list[Push]:
    """Pushes, with those drawn that are random, from a seed of the run that ends at a time [s]."""
    random = functools.cache(lambda: np.random.default_rng([seed, *b"push"]))  # which takes as long as ten steps
    return [push.drawn(random(), until) if isinstance(push, RandomPush) else push for push in pushes]


def idle_pushes_in_words(pushes: Iterable[Push | RandomPush], start: float, end: float) -> str:
    """A sentence on those that do not act in a run from `start` to `end` [s]; "" if all do, or if no time passes."""
    given = [push for push in pushes if isinstance(push, Push)]  # random ones are drawn within it
    idle = [push for push in given if push.start >= end or push.end <= start] if end > start else []
    if not idle:
        return ""
    listed = "; ".join(f"{push.body} from {push.start:g} to {push.end:g} s" for push in idle)
    return f"the run is from {start:g} to {end:g} s, pushes do not act in it: {listed}"


def read_pushes(given: str | Push | Iterable[Any]) -> list[Push | RandomPush]:
    """Those that Pushes, texts of FORM and names of tables mean; one alone need not be in a list.

    ArgumentError, or ModelError of a table.
    """
    pushes: list[Push | RandomPush] = []
    several: Iterable[Any] = given
    if isinstance(given, (str, os.PathLike, Push)):
        several = [given]
    for one in several:
        if isinstance(one, (Push, RandomPush)):
            pushes.append(one)
        elif isinstance(one, str) and "=" in one:
            pushes.append(_push_of(one))
        else:
            pushes += _pushes_of_table(os.fspath(one))
    for push in pushes:
        if not push.end > push.start:  # also of a random one
            message = f"the push of '{push.body}' from {push.start:g} s to {push.end:g} s has no duration"
            raise ArgumentError(f"{argument('pushes')}: {message}")
    return pushes


def _push_of(text: str) -> Push | RandomPush:
    random = _RANDOM.fullmatch(text.strip())
    if random is not None:
        return _random_push(text, random)
    found = _TEXT.fullmatch(text.strip())
    if found is None:
        raise ArgumentError(f"{argument('pushes')}: '{text}' is not {FORM}")
    force = _numbers(found["force"], text)
    point = None if found["point"] is None else _numbers(found["point"], text)
    start, end = (None if found[name] is None else parse_number(found[name]) for name in ("start", "end"))
    if (found["start"] and start is None) or (found["end"] and end is None):
        raise ArgumentError(f"{argument('pushes')}: '{text}': a time is a finite number of seconds")
    return Push(found["body"].strip(), force, start or 0.0, np.inf if end is None else end, point)


def _random_push(text: str, found: re.Match[str]) -> RandomPush:
    given: dict[str, Any] = {
        name: parse_number(found[name]) for name in ("size", "duration", "start", "end") if found[name]
    }
    if None in given.values() or not given["size"] > 0.0 or not given["duration"] > 0.0:
        raise ArgumentError(f"{argument('pushes')}: '{text}': size and duration are finite numbers greater than 0")
    end = given.get("end", np.inf)
    return RandomPush(found["body"].strip(), given["size"], given["duration"], given.get("start", 0.0), end)


def _numbers(text: str, whole: str) -> tuple[float, ...]:
    values: list[Any] = [parse_number(part) for part in text.split(",")]
    if len(values) != 3 or None in values:
        raise ArgumentError(f"{argument('pushes')}: '{whole}': '{text}' is not three finite numbers with commas")
    return tuple(values)


def _pushes_of_table(path: str) -> list[Push]:
    """Of a table with the columns COLUMNS, and POINT if a row says where."""
    table = read_text_table(path)
    header, names = table.header, list(table.header.names)
    unknown = [name for name in names if name not in (*COLUMNS, *POINT)]
    missing = [name for name in COLUMNS if name not in names]
    twice = [name for name in names if names.count(name) > 1]
    if unknown or missing or twice:
        wrong = [f"{shown(name)} is none" for name in unknown] + [f"{name} is missing" for name in missing]
        wrong += [f"{name} is there twice" for name in twice]
        columns = f"the columns {', '.join(COLUMNS)}, and x, y, z of the point"
        raise ModelError(f"{header.where}: error: a table of pushes has {columns}: {wrong[0]}")
    found = []
    for place, cells in table.rows:
        row = dict(zip(names, cells, strict=True))
        numbers: dict[str, Any] = {
            name: header.number(row[name]) for name in names if name != "body" and row[name].strip()
        }
        if None in numbers.values() or not set(COLUMNS[1:]) <= set(numbers):
            raise ModelError(f"{place}: error: a push needs finite numbers {', '.join(COLUMNS[1:])}")
        point = tuple(numbers.get(name, 0.0) for name in POINT) if any(name in numbers for name in POINT) else None
        force = tuple(numbers[name] for name in ("fx", "fy", "fz"))
        found.append(Push(row["body"].strip(), force, numbers["from"], numbers["to"], point))
    return found


def pushed_body(plant: MultibodyPlant, name: str) -> RigidBody:
    """The body that a push names by any unambiguous ending. ArgumentError if there is none, or it cannot move."""
    bodies = [plant.get_body(BodyIndex(k)) for k in range(1, plant.num_bodies())]
    try:
        body: RigidBody = element_named(name, bodies, "body")
    except LookupError as error:
        raise ArgumentError(f"{argument('pushes')}: {error.args[0]}") from None
    if plant.IsAnchored(body):
        raise ArgumentError(f"{argument('pushes')}: the body '{name}' is fixed to the world: no force moves it")
    return body
