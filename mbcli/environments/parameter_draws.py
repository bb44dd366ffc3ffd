"""What parameters of elements worlds have: drawn once for each, or for each of its episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from mbcli.environments.task_file import EPISODE
from mbcli.environments.world_random import WorldRandom

if TYPE_CHECKING:
    from mbcli.environments.task_file import TaskFile
    from mbcli.math.array_types import Array, IntArray, Matrix
    from mbcli.models.loaded_model import LoadedModel

OF_PARAMETERS = 2**63  # stands where random numbers of a start have the number of the episode
LABEL = crc32(b"parameters")


class ParameterDraws:
    """The distributions of a task file and the numbers that are drawn from them.

    What a world has follows from the seed and its number, and from the number of its episode if episodes draw. With
    `parameter_sets` there are so many sets, which follow from the seed of the constructor: a world has the one of its
    part of the worlds, so that neighbours share vector registers, an episode one that it draws.

    Args:
        file: TaskFile. loaded: its model. count: number of worlds. seed: of the sets.

    Attributes:
        of_episodes: whether each episode draws.
    """

    def __init__(self, file: TaskFile, loaded: LoadedModel, count: int, seed: int) -> None:
        settings, self._made_of = file.settings, (file, loaded, count, seed)
        self._variations, self._count = file.variations(loaded), count
        self.of_episodes = settings.parameters_drawn == EPISODE and bool(self._variations)
        sets = settings.parameter_sets
        self._sets = sets if sets is None or self.of_episodes else min(sets, count)
        self._of_sets = self._parts(WorldRandom(seed, np.arange(self._sets or 0), OF_PARAMETERS))

    def __reduce__(self) -> Any:
        """Distributions are functions, which do not pickle: they are read anew."""
        return ParameterDraws, self._made_of

    def of_worlds(self, seeds: Array, worlds: IntArray, episodes: IntArray) -> dict[str, list[str]]:
        """{path: texts} of the parameters of some worlds; episodes: those that they begin."""
        random = WorldRandom(seeds, worlds, OF_PARAMETERS)
        if self.of_episodes:
            random = WorldRandom(seeds, worlds, episodes, LABEL)
        if self._sets is None:
            parts = self._parts(random)
        elif self.of_episodes:
            parts = self._of_sets[(random.uniform(0.0, self._sets, 1)[:, 0]).astype(np.int64)]
        else:
            parts = self._of_sets[worlds * self._sets // self._count]
        return {
            variation.path: [variation.draw(float(part)) for part in parts[:, k]]
            for k, variation in enumerate(self._variations)
        }

    def _parts(self, random: WorldRandom) -> Matrix:
        return random.uniform(0.0, 1.0, len(self._variations))
