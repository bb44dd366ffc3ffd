"""Terrain of task files: one height field of tiles, a row for each level of difficulty, columns for each kind of tile.

The rows of levels follow each other along x, the columns along y; the middle of all tiles is the origin of World. Tiles
meet in lines of the height 0, the height of the flat border.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.config.config_fields import setting
from mbcli.environments.term_reading import check_section, read_values
from mbcli.environments.terrain_tiles import GRADED, KINDS_OF_TILES, TILES, Tile
from mbcli.environments.world_random import WorldRandom, whole_seed
from mbcli.geometry.shapes import HeightField
from mbcli.meshes.height_grids import MOST_HEIGHTS
from mbcli.parsers.yaml_records import read_into

if TYPE_CHECKING:
    from mbcli.environments.term_registry import Term
    from mbcli.math.array_types import Array, FloatArray, Matrix
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.yaml_source import YamlNode

OF_TILES = "tiles"
EXTRA = {"columns": ("Columns", False)}  # that every tile may have
WHOLE = 1e-6  # of a spacing
DEPTH = 1.0  # [m] of the solid below its lowest point


@dataclass(frozen=True)
class TerrainSettings:
    """The keys of a terrain beside `tiles`. ValueError: lengths do not fit."""

    levels: int = setting(5, "Rows of tiles, from the easiest to the hardest", minimum=1)
    size: float = setting(6.0, "Side of a tile", unit="m", above=0)
    spacing: float = setting(0.05, "Distance of the heights of the grid", unit="m", above=0)
    top: float = setting(1.5, "Side of the flat square in the middle of pyramids", unit="m", minimum=0)
    border: float = setting(3.0, "Width of the flat ground around all tiles", unit="m", minimum=0)
    seed: int = setting(0, "Of heights that are drawn", minimum=0)

    def __post_init__(self) -> None:
        for name in ("size", "border"):
            count = getattr(self, name) / self.spacing
            if not np.isfinite(count) or abs(round(count) - count) > WHOLE:
                raise ValueError(
                    f"{name} is {getattr(self, name):g} m: it is a whole number of spacings of {self.spacing:g} m"
                )
        if self.top >= self.size:
            raise ValueError(f"top is {self.top:g} m: it is less than the size of a tile, {self.size:g} m")


@dataclass(frozen=True)
class _Column:
    """The tiles of one kind that follow each other along x."""

    term: Term
    values: dict[str, Any]

    def heights(self, tile: Tile, part: float) -> Matrix:
        """(n, n) [m] of the tile of a difficulty from 0 to 1."""
        given = {
            key: value[0] + part * (value[1] - value[0]) if self.term.parameters[key].kind in GRADED else value
            for key, value in self.values.items()
        }
        heights: Matrix = self.term.function(tile, **given)
        return heights


class Terrain:
    """The tiles of a task file.

    Attributes:
        levels: how many rows of tiles there are along x.
        middles: (levels, columns, 2) [m] x and y of the middle of each tile in World.
        shape: (rows, columns) of the grid of heights.
    """

    def __init__(self, settings: TerrainSettings, columns: list[_Column]) -> None:
        self._settings, self._columns, self.levels = settings, columns, settings.levels
        self._cells, self._border = (round(length / settings.spacing) for length in (settings.size, settings.border))
        self.shape = tuple(n * self._cells + 2 * self._border + 1 for n in (len(columns), self.levels))

    @property
    def middles(self) -> Array:
        """See above."""
        x, y = (_middles(n) * self._settings.size for n in (self.levels, len(self._columns)))
        return np.stack(np.broadcast_arrays(x[:, np.newaxis], y), axis=-1)

    @functools.cached_property
    def height_field(self) -> HeightField:
        """The heights of all tiles; its frame is that of World."""
        settings, n = self._settings, self._cells
        heights: FloatArray = np.zeros(self.shape)
        seed = whole_seed(settings.seed)
        places = 0.5 * settings.size * np.linspace(-1.0, 1.0, n + 1)
        for j, column in enumerate(self._columns):
            for i in range(self.levels):
                tile = Tile(places, settings.top, WorldRandom(seed, [j], i))
                part = i / (self.levels - 1) if self.levels > 1 else 1.0
                row, first = self._border + j * n, self._border + i * n
                heights[row + 1 : row + n, first + 1 : first + n] = column.heights(tile, part)[1:-1, 1:-1]
        rows, columns = self.shape
        half = 0.5 * settings.spacing
        return HeightField(heights, half * (columns - 1), half * (rows - 1), DEPTH - float(heights.min()))


def _middles(count: int) -> FloatArray:
    """The middles (n,) of intervals of length 1 that stand side by side about 0."""
    return np.arange(float(count)) - 0.5 * (count - 1)


def read_terrain(node: YamlNode, diagnostics: Diagnostics) -> Terrain | None:
    """The terrain of a task file; None, with every fault and its place in `diagnostics`, if it has some."""
    before = len(diagnostics.errors)
    settings = read_into(TerrainSettings, node, diagnostics, elsewhere=(OF_TILES,))
    tiles = node.get(OF_TILES) if node.kind == "mapping" else None
    if tiles is not None:
        check_section(OF_TILES, tiles, TILES, EXTRA, diagnostics)
    elif node.kind == "mapping":
        diagnostics.error("KEY_MISSING", f'key "{OF_TILES}" is missing', place=node.place, attribute=OF_TILES)
    if tiles is None or settings is None or len(diagnostics.errors) > before:
        return None
    columns = []
    for item in tiles:
        term = TILES[item.value["term"].value]
        values = read_values(item, term, EXTRA, KINDS_OF_TILES, None, diagnostics)
        count = values.pop("columns", 1)
        columns += [_Column(term, values)] * count
    if len(diagnostics.errors) > before:
        return None
    terrain = Terrain(settings, columns)
    rows, places = terrain.shape
    if rows * places > MOST_HEIGHTS:
        message = (
            f"terrain: {settings.levels} levels of {len(columns)} columns have {rows * places} heights, at most "
            f"{MOST_HEIGHTS}: a larger spacing than {settings.spacing:g} m or a smaller size than {settings.size:g} m"
        )
        diagnostics.error("VALUE_RANGE", message, place=node.place, attribute="terrain")
        return None
    return terrain
