"""Random numbers of worlds: each world and each of its episodes has a stream of its own, drawn for many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.split_mix import GOLDEN, mixed
from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix

OF_UNIT = 2.0**-53


class WorldRandom:
    """Numbers of some worlds, a row each, that a seed, the number of the world and that of its episode determine.

    They do not depend on the other worlds: a world starts its third episode the same whoever else starts then.
    SplitMix64 gives the bits.

    Args:
        seeds: (m,) whole numbers, 64 bits, or one for all.
        worlds, episodes, more: (m,) whole numbers, or one for all.

    Attributes:
        episodes: as they were given.
    """

    def __init__(self, seeds: ArrayLike, worlds: ArrayLike, episodes: ArrayLike, *more: ArrayLike) -> None:
        state = np.zeros(len(np.atleast_1d(np.asarray(worlds))), dtype=np.uint64)
        for number in (seeds, worlds, episodes, *more):
            state = mixed(state * GOLDEN + np.asarray(number, dtype=np.uint64) + GOLDEN)
        self._state, self._drawn, self.episodes = state, 0, np.array(episodes)

    def __len__(self) -> int:
        """The number m of worlds."""
        return len(self._state)

    def uniform(self, low: ArrayLike, high: ArrayLike, size: int) -> Matrix:
        """(m, size) numbers between low and high, each one number or (size,)."""
        places = np.arange(self._drawn + 1, self._drawn + size + 1, dtype=np.uint64) * GOLDEN
        self._drawn += size
        units = (mixed(self._state[:, np.newaxis] + places) >> np.uint64(11)) * OF_UNIT
        low = np.asarray(low, dtype=float)
        return low + (np.asarray(high, dtype=float) - low) * units

    def normal(self, deviation: ArrayLike, size: int) -> Matrix:
        """(m, size) numbers of a normal distribution of mean 0 and this deviation, one number or (size,)."""
        radius, angle = np.split(self.uniform(0.0, 1.0, 2 * size), 2, axis=1)
        return np.asarray(deviation, dtype=float) * np.sqrt(-2.0 * np.log1p(-radius)) * np.cos(2.0 * np.pi * angle)


def whole_seed(seed: int | None) -> int:
    """64 bits, of a seed or of the system. ArgumentError: it is no whole number."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ArgumentError(f"seed is {seed!r}: it is a whole number, 0 or more")
    return int(np.random.SeedSequence(int(seed)).generate_state(1, np.uint64)[0])
