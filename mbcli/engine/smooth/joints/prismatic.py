"""Prismatic: translation by q [m] along z of F and M, whose axes coincide."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, scale, set_axes, set_row3

NUM_POSITIONS = 1
NUM_VELOCITIES = 1
POSITION_SUFFIXES = ("x",)
VELOCITY_SUFFIXES = ("v",)
IS_ANGULAR = (False,)
ZERO_POSITIONS = (0.0,)
ROTATION = None
HAS_AXIS = True
CARRIED = ()


@kernel
def place_prismatic(model, data, b, axes, r, is_root):
    """As place_revolute()."""
    d = model.body_v[b]
    x, y, z = axes
    set_axes(data.X_WB, b, x, y, z)
    set_row3(data.S, d, 0, (0.0, 0.0, 0.0))
    set_row3(data.S, d, 3, z)
    return add(r, scale(data.q[model.body_q[b]], z))
