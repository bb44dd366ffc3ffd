"""The bias of joints whose columns of V_FM stand still in F, but for Mo, which moves in it."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, row3, scale


@kernel
def bias_of_moving_origin(model, data, b, w, v):
    """As mobilizers.joint_bias()."""
    p_Mo = row3(data.p_RoMo, b, 0)
    sign = -1.0 if model.body_reversed[b] == 1 else 1.0
    v_Mo = add(v, cross(w, p_Mo))
    return scale(0.0, w), scale(sign, cross(v_Mo, w))
