"""Prismatic: translation by q [m] along z of F and M, whose axes coincide."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, scale, set_row3

NUM_POSITIONS = 1
NUM_VELOCITIES = 1
POSITION_SUFFIXES = ("x",)
VELOCITY_SUFFIXES = ("v",)
ZERO_POSITIONS = (0.0,)


@kernel
def place_prismatic(q, x, y, z, r, X_WB, b, S, d):
    """Rotation of body b and column d of S from the world axes x, y, z of F; returns Mo from where r counts."""
    for k in range(3):
        X_WB[b, 3 * k] = x[k]
        X_WB[b, 3 * k + 1] = y[k]
        X_WB[b, 3 * k + 2] = z[k]
        S[d, k] = 0.0
    set_row3(S, d, 3, z)
    return add(r, scale(q, z))
