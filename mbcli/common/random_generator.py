"""RandomGenerator, in the module of pydrake's."""

from typing import Any

import numpy as np


class RandomGenerator(np.random.Generator):
    """A numpy.random.Generator on the Mersenne Twister of a seed, whose words `generator()` are those of pydrake's.

    What is drawn by distributions is numpy's, not pydrake's.
    """

    def __init__(self, seed: int = 5489) -> None:
        twister: Any = np.random.MT19937()
        twister.state = np.random.RandomState(seed).get_state(legacy=False)  # seeded as the C++ standard says
        super().__init__(twister)

    def __call__(self) -> int:
        """The next word of 32 bits."""
        return int(self.bit_generator.random_raw())
