"""Screw: rotation by q [rad] about z of F and translation along it by `screw_lead` [m/rad] per q."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.joints.revolute import turn_about_axis
from mbcli.engine.smooth.spatial import add, scale

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
def place_screw(model, data, b, axes, r, is_root):
    """As place_revolute(), with the axis carrying the translation."""
    travel, d, z = model.screw_lead[b], model.body_v[b], axes[2]
    turn_about_axis(model, data, b, axes, scale(0.0, r) if is_root else r)
    for k in range(3):
        data.S[d, 3 + k] += travel * z[k]
    return add(r, scale(travel * data.q[model.body_q[b]], z))
