"""Revolute: rotation by q [rad] about z of F and M, which coincide in their origins."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, scale, set_axes, set_row3, subtract

NUM_POSITIONS = 1
NUM_VELOCITIES = 1
POSITION_SUFFIXES = ("q",)
VELOCITY_SUFFIXES = ("w",)
IS_ANGULAR = (True,)
ZERO_POSITIONS = (0.0,)
ROTATION = None
HAS_AXIS = True
CARRIED = ()


@kernel
def place_revolute(model, data, b, axes, r, is_root):
    """Rotation of body b and its column of S from the world axes (x, y, z) of F and its origin r; returns r of Mo.

    r counts from Ro, or from the world's origin for a root.
    """
    turn_about_axis(model, data, b, axes, scale(0.0, r) if is_root else r)
    return r


@kernel
def turn_about_axis(model, data, b, axes, lever):
    """The same; lever: from Ro to the axis."""
    i, d = model.body_q[b], model.body_v[b]
    s, c = data.sin_q[i], data.cos_q[i]
    x, y, z = axes
    set_axes(data.X_WB, b, add(scale(c, x), scale(s, y)), subtract(scale(c, y), scale(s, x)), z)
    set_row3(data.S, d, 0, z)
    set_row3(data.S, d, 3, cross(lever, z))
