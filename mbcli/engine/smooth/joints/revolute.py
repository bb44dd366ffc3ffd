"""Revolute: rotation by q [rad] about z of F and M, which coincide in their origins."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import cross, set_row3

NUM_POSITIONS = 1
NUM_VELOCITIES = 1
POSITION_SUFFIXES = ("q",)
VELOCITY_SUFFIXES = ("w",)
ZERO_POSITIONS = (0.0,)


@kernel
def place_revolute(s, c, x, y, z, r, X_WB, b, S, d):
    """Pose of body b and column d of S from the world axes x, y, z of F and its origin r from Ro."""
    for k in range(3):
        X_WB[b, 3 * k] = c * x[k] + s * y[k]
        X_WB[b, 3 * k + 1] = c * y[k] - s * x[k]
        X_WB[b, 3 * k + 2] = z[k]
    set_row3(S, d, 0, z)
    set_row3(S, d, 3, cross(r, z))
