"""Prismatic: translation by q [m] along z of F and M, whose axes coincide."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, scale, set_axes, set_row3

NUM_POSITIONS = 1
NUM_VELOCITIES = 1
POSITION_SUFFIXES = ("x",)
VELOCITY_SUFFIXES = ("v",)
ZERO_POSITIONS = (0.0,)


@kernel
def place_prismatic(q, axes, r, X_WB, b, S, d):
    """As place_revolute; returns Mo from where r counts."""
    x, y, z = axes
    set_axes(X_WB, b, x, y, z)
    set_row3(S, d, 0, (0.0, 0.0, 0.0))
    set_row3(S, d, 3, z)
    return add(r, scale(q, z))
