"""The points of a sweep: a grid, a list, a Latin hypercube or a Monte Carlo sample, each point with a seed of its own.

Seeds are spawned from that of the sweep (numpy.random.SeedSequence), so that a point's seed does not depend on how many
follow: a longer sample begins with the points of a shorter one, but for Latin hypercubes, which fill space as a whole.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.text_tables import read_text_table, shown
from mbcli.errors import ArgumentError, ModelError
from mbcli.sweeps.variations import RANDOM_STATE, Variation, is_path, parse_variations

SAMPLINGS = ("grid", "latin-hypercube", "monte-carlo")
MOST_POINTS = 1_000_000
KEPT_POINTS = 4096


@dataclass(frozen=True)
class Point:
    """One run of a sweep: its number, its seed, and {path: text of the value}."""

    index: int
    seed: int
    values: dict[str, str]


class Points(Sequence[Point]):
    """The points of a sweep, each made when it is asked for, with a seed below 2**53, which programs read as it is.

    values: of the number of a point {path: text of the value}. seed: of the sweep.
    """

    def __init__(self, count: int, values: Callable[[int], dict[str, str]], seed: int) -> None:
        self._count, self._values, self._seed = count, values, seed
        self._point = functools.lru_cache(KEPT_POINTS)(self._made)  # asked for when it goes to a worker and comes back

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[number] for number in range(self._count)[k]]
        return self._point(range(self._count)[k])

    def _made(self, k: int) -> Point:
        child = np.random.SeedSequence(self._seed, spawn_key=(k + 1,))  # as spawn() makes it
        return Point(k, int(child.generate_state(1, np.uint64)[0] >> np.uint64(11)), self._values(k))


def make_points(
    variations: Sequence[Variation], sampling: str | None = None, samples: int | None = None, seed: int = 0
) -> Points:
    """The points of some variations.

    Args:
        sampling: one of SAMPLINGS; None: "monte-carlo" with samples, else "grid".
        samples: how many points are drawn; not of a grid.

    Raises:
        ArgumentError: arguments do not fit, or there would be more than MOST_POINTS.
    """
    sampling = sampling or ("grid" if samples is None else "monte-carlo")
    if sampling not in SAMPLINGS:
        raise ArgumentError(f"{argument('sampling')} is one of {', '.join(SAMPLINGS)}, not {sampling!r}")
    if sampling == "grid":
        if samples is not None:
            raise ArgumentError(f"a grid has as many points as its values: no {argument('samples')}")
        return _grid(variations, seed)
    if samples is None:
        raise ArgumentError(f"{argument('sampling', sampling)} needs {argument('samples')}")
    if not 1 <= samples <= MOST_POINTS:
        raise ArgumentError(f"{argument('samples')} is a number from 1 to {MOST_POINTS}, not {samples}")
    first, *_ = np.random.SeedSequence(seed).spawn(1)
    drawn = [v for v in variations if v.path != RANDOM_STATE]
    if sampling == "latin-hypercube" and drawn:
        from scipy.stats import qmc

        parts = qmc.LatinHypercube(len(drawn), seed=np.random.default_rng(first)).random(samples)
    else:
        parts = np.random.default_rng(first).random((samples, len(drawn)))
    parts = np.clip(parts, 2.0**-54, 1.0 - 2.0**-53)
    fixed = {v.path: v.draw(0.5) for v in variations if v.path == RANDOM_STATE}

    def values(k: int) -> dict[str, str]:
        return {v.path: v.draw(part) for v, part in zip(drawn, parts[k].tolist(), strict=True)} | fixed

    return Points(samples, values, seed)


def _grid(variations: Sequence[Variation], seed: int) -> Points:
    count = 1
    for variation in variations:
        if variation.values is None:
            raise ArgumentError(
                f"{argument('vary')} {variation.path}: {variation.description} is a distribution: "
                f"{argument('samples')} says how many points are drawn"
            )
        count *= len(variation.values)
        if count > MOST_POINTS:
            raise ArgumentError(f"the grid has more than {MOST_POINTS} points")

    def values(k: int) -> dict[str, str]:
        found = {}
        for variation in reversed(variations):  # the last varies fastest
            k, digit = divmod(k, len(variation.values or ()))
            found[variation.path] = (variation.values or ())[digit]
        return {variation.path: found[variation.path] for variation in variations}

    return Points(count, values, seed)


def read_points(path: str | os.PathLike, seed: int = 0) -> tuple[list[Variation], Points]:
    """The variations and points of a table (text_tables.py): a header of paths, one row a point.

    Raises:
        ResourceError: there is no such file. ModelError: it is no table; the message names the line.
    """
    table = read_text_table(path)
    header, rows = table.header, table.rows
    if not rows:
        raise ModelError(f"{os.fspath(path)}: error: needs a header of paths and a row for each point")
    names = header.names
    if not all(names) or len(set(names)) < len(names):
        raise ModelError(f"{header.where}: error: a path is missing or there twice in the header")
    for name in names:
        if not is_path(name):
            kinds = "KIND.NAME.PARAMETER, state.NAME, u.NAME, or a setting"
            raise ModelError(f"{header.where}: error: column {shown(name)} is no path: {kinds}")
    for where, cells in rows:
        if not all(cells):
            raise ModelError(f"{where}: error: needs {len(names)} values, one for each path of the header")
    texts = [dict(zip(names, map(header.plain, cells), strict=True)) for _, cells in rows]
    variations = parse_variations({name: [text[name] for text in texts] for name in names})
    return variations, Points(len(texts), texts.__getitem__, seed)
