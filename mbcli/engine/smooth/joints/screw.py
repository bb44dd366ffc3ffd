"""Screw: rotation by q [rad] about z of F and translation along it by `travel` [m/rad] per q."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.joints.revolute import place_revolute
from mbcli.engine.smooth.spatial import add, scale

NUM_POSITIONS = 1
NUM_VELOCITIES = 1
POSITION_SUFFIXES = ("q",)
VELOCITY_SUFFIXES = ("w",)
ZERO_POSITIONS = (0.0,)


@kernel
def place_screw(q, s, c, travel, axes, r, X_WB, b, S, d):
    """As place_revolute, with the axis carrying the translation; returns Mo from where r counts."""
    place_revolute(s, c, axes, r, X_WB, b, S, d)
    z = axes[2]
    for k in range(3):
        S[d, 3 + k] += travel * z[k]
    return add(r, scale(travel * q, z))
