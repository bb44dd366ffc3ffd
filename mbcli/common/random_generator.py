"""RandomGenerator, in the module of pydrake's."""

import numpy as np


class RandomGenerator(np.random.Generator):
    """A numpy.random.Generator made from a seed; its numbers are numpy's, not those of pydrake's generator."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(np.random.PCG64(seed))
