"""The kinds of tiles of a terrain: one small function each, (tile, ...) -> heights (n, n) [m] over the flat ground.

A tile of a task file is a mapping whose `term` is the name of a function here, its other keys are the parameters of the
function, as of the terms of tasks. A parameter that is a Measure or an Angle may be [easiest, hardest] in the file; the
function gets the number of its tile. What lies on the border of a tile has the height 0, whatever the function says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mbcli.config.config_fields import ValueProblem
from mbcli.environments.term_kinds import KINDS
from mbcli.environments.term_registry import Term, term_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.environments.term_kinds import Positive, Whole
    from mbcli.environments.world_random import WorldRandom
    from mbcli.math.array_types import FloatArray, IntArray, Matrix
    from mbcli.parsers.yaml_source import YamlNode

    Measure: TypeAlias = float
    Angle: TypeAlias = float

HIGHEST = 100.0  # [m]
STEEPEST = 1.4  # [rad]
MOST_COLUMNS = 1000  # of one kind
ROUNDING = 1e-6  # of a step
GRADED = ("Measure", "Angle")  # kinds that follow the level

TILES: dict[str, Term] = {}


@dataclass(frozen=True)
class Tile:
    """A square whose heights are wanted.

    Attributes:
        places: (n,) [m] of its rows and columns, from its middle.
        top: [m] side of the flat square in the middle of pyramids.
        random: WorldRandom of one row.
    """

    places: FloatArray
    top: float
    random: WorldRandom

    @property
    def half(self) -> float:
        """[m] half of its side."""
        return float(self.places[-1])

    @property
    def spacing(self) -> float:
        """[m]"""
        return float(self.places[1] - self.places[0])

    @property
    def slope_length(self) -> float:
        """[m] from the border to the flat square."""
        return self.half - 0.5 * self.top

    @property
    def inwards(self) -> Matrix:
        """(n, n) [m] from the border."""
        away = np.abs(self.places)
        return self.half - np.maximum(away, away[:, np.newaxis])


@term_of(TILES)
def flat(tile: Tile) -> Matrix:
    """Nothing but flat ground."""
    return np.zeros_like(tile.inwards)


@term_of(TILES)
def slope(tile: Tile, *, grade: Angle) -> Matrix:
    """A pyramid whose sides rise at an angle [rad] to a flat square, below 0 fall to it."""
    return np.tan(grade) * np.minimum(tile.inwards, tile.slope_length)


@term_of(TILES)
def steps(tile: Tile, *, rise: Measure, run: Positive) -> Matrix:
    """A pyramid of stairs: each rises [m], below 0 falls, and is so wide [m]; the middle is flat."""
    most = np.floor(tile.slope_length / run + ROUNDING)
    return rise * np.minimum(np.floor(tile.inwards / run + ROUNDING), most)


@term_of(TILES)
def rough(tile: Tile, *, height: Measure, spacing: Positive | None = None) -> Matrix:
    """Heights between -height and height [m] that are drawn at a spacing [m] of their own, and straight between."""
    spacing = max(tile.spacing, spacing or 0.0)
    at = (tile.places + tile.half) / spacing
    count = max(1, int(np.ceil(at[-1] - ROUNDING))) + 1
    drawn = height * tile.random.uniform(-1.0, 1.0, count * count).reshape(count, count)
    near = np.minimum(at.astype(int), count - 2)
    part = at - near
    rows = drawn[near] + part[:, np.newaxis] * (drawn[near + 1] - drawn[near])
    between: Matrix = rows[:, near] + part * (rows[:, near + 1] - rows[:, near])
    return between


@term_of(TILES)
def blocks(tile: Tile, *, height: Measure, side: Positive) -> Matrix:
    """Square blocks of a side [m] whose heights are drawn between -height and height [m]."""
    at: IntArray = ((tile.places + tile.half) / max(tile.spacing, side) + ROUNDING).astype(int)
    count = int(at[-1]) + 1
    drawn = height * tile.random.uniform(-1.0, 1.0, count * count).reshape(count, count)
    return drawn[at[:, np.newaxis], at]


@term_of(TILES)
def waves(tile: Tile, *, height: Measure, count: Whole) -> Matrix:
    """Waves between -height and height [m], so many of them along x and along y."""
    wave = np.sin(np.pi * count * (tile.places / tile.half + 1.0))
    return height * wave * wave[:, np.newaxis]


def _graded(most: float, unit: str) -> Callable[[YamlNode, Any], tuple[float, float]]:
    """The reader of a number, or of [easiest, hardest]."""

    def read(node: YamlNode, _: Any) -> tuple[float, float]:
        items = list(node) if node.kind == "sequence" else [node, node]
        if len(items) != 2:
            raise ValueProblem("VALUE_TYPE", f"is a number or a list [easiest, hardest]; found {node.describe()}")
        easiest, hardest = (KINDS["float"](item, None) for item in items)
        if max(abs(easiest), abs(hardest)) > most:
            raise ValueProblem("VALUE_RANGE", f"is between -{most:g} and {most:g} {unit}")
        return easiest, hardest

    return read


def _columns(node: YamlNode, _: Any) -> int:
    count: int = KINDS["Whole"](node, None)
    if count > MOST_COLUMNS:
        raise ValueProblem("VALUE_RANGE", f"is at most {MOST_COLUMNS}")
    return count


KINDS_OF_TILES: dict[str, Callable[[Any, Any], Any]] = {
    "Measure": _graded(HIGHEST, "m"),
    "Angle": _graded(STEEPEST, "rad"),
    "Columns": _columns,
    **{kind: KINDS[kind] for kind in ("Positive", "Positive | None", "Whole")},
}
