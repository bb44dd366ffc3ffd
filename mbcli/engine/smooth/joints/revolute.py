"""Revolute: rotation by q [rad] about z of F and M, which coincide in their origins."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, scale, set_axes, set_row3, subtract

NUM_POSITIONS = 1
NUM_VELOCITIES = 1
POSITION_SUFFIXES = ("q",)
VELOCITY_SUFFIXES = ("w",)
ZERO_POSITIONS = (0.0,)


@kernel
def place_revolute(s, c, axes, r, X_WB, b, S, d):
    """Rotation of body b and column d of S from the world axes (x, y, z) of F and its origin r from Ro."""
    x, y, z = axes
    set_axes(X_WB, b, add(scale(c, x), scale(s, y)), subtract(scale(c, y), scale(s, x)), z)
    set_row3(S, d, 0, z)
    set_row3(S, d, 3, cross(r, z))
