"""The kinds of coordinates of rotations, and kernels that call the one of a kind.

A joint type states its own as ROTATION. The number 0 is that of joints without one.
"""

from mbcli.engine.runtime.dispatch import dispatch, require_constants
from mbcli.engine.smooth.rotations import angles, quaternion

NO_ROTATION = 0
ROTATIONS = {1: angles, 2: quaternion}
NUM_VELOCITIES = 3  # of each

require_constants(ROTATIONS.values(), ("NUM_POSITIONS", "ADVANCES_BY_RATES", "LOCKS", "RATES_BY_SINES"))

rotation_rates = dispatch(
    globals(),
    "rotation_rates",
    "rates",
    ROTATIONS,
    "q, sin_q, cos_q, i, v, d, qdot",
    "Positions of qdot from i on by N(q) v[d:d+3].",
)
rotation_velocity = dispatch(
    globals(), "rotation_velocity", "velocity", ROTATIONS, "q, sin_q, cos_q, i, qdot, d, v", "v[d:d+3] by N+(q)."
)
rotation_row = dispatch(
    globals(),
    "rotation_row",
    "row",
    ROTATIONS,
    "q, sin_q, cos_q, i, J_v, d, J_q, row",
    "J_q[row, i:] = J_v[row, d:d+3] N+(q).",
)
rotation_advance = dispatch(
    globals(), "rotation_advance", "advance", ROTATIONS, "q, i, qdot, v, d, h, exact", "q after the time h."
)
rotation_normalize = dispatch(
    globals(), "rotation_normalize", "normalize", ROTATIONS, "q, i", "What has a length in q gets that of 1."
)
rotation_undefined = dispatch(
    globals(), "rotation_undefined", "undefined", ROTATIONS, "q, i", "Whether there is no such rotation."
)
rotation_locked = dispatch(
    globals(), "rotation_locked", "locked", ROTATIONS, "q, i", "Whether rates of positions do not exist at q."
)
rotation_orientation = dispatch(
    globals(), "rotation_orientation", "orientation", ROTATIONS, "q, i", "The unit quaternion of the rotation at q."
)
rotation_turn = dispatch(
    globals(),
    "rotation_turn",
    "turn",
    ROTATIONS,
    "turned, q, i, result",
    "A unit quaternion into result, close to the positions q.",
)


def number_of_rotation(module):
    """The number of a joint's ROTATION, a module or None."""
    return next((number for number, other in ROTATIONS.items() if other is module), NO_ROTATION)


def positions_of_rotations(numbers):
    """How many positions each of them has."""
    return [ROTATIONS[n].NUM_POSITIONS if n != NO_ROTATION else 0 for n in numbers]
