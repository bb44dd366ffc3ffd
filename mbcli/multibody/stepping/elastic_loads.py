"""Forces of users' fields on elastic bodies."""

import numpy as np


def field_forces(fields, body, q, plant, state):
    """(n, 3) [N]: each field at the middle of each tetrahedron, over its volume, a quarter to each vertex."""
    raise NotImplementedError
