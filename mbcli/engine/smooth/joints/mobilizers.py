"""From a joint's own frames into the world, in either direction of the tree."""

from mbcli.engine.runtime.dispatch import dispatch
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.joints.registry import OTHERS, WITH_AXIS
from mbcli.engine.smooth.spatial import add, cross, rotate, row3, scale, set_row3, set_unit_rows, subtract

joint_place = dispatch(
    globals(), "joint_place", "place", WITH_AXIS, "model, data, b, axes, r, is_root", "As revolute.place_revolute()."
)
joint_pose = dispatch(globals(), "joint_pose", "pose", OTHERS, "model, data, b", "Row b of X_FM.")
joint_subspace = dispatch(
    globals(),
    "joint_subspace",
    "subspace",
    OTHERS,
    "model, data, b",
    "The rows of S of body b, as columns of V_FM at Mo in F.",
)
joint_bias = dispatch(
    globals(),
    "joint_bias",
    "bias",
    OTHERS,
    "model, data, b, w, v",
    """Acceleration across joint b about Ro that comes from its own coordinates moving, which moves at (w, v).

    The part that comes from the inboard body turning is not in it. Nonzero where the columns of S do not stand still
    in F: if Mo moves in F, and for the second axis of the universal joint.
    """,
)


@kernel
def place_general(model, data, b, x, y, z, r, is_root):
    """Rotation of body b and its columns of S, from the world axes x, y, z and origin r of the inboard frame.

    r counts from Ro, or from the world's origin for a root. Returns the origin of body b counted likewise. Body b is
    M of the joint, or F if the joint is reversed.
    """
    joint_pose(model.body_joint_type[b], model, data, b)
    joint_subspace(model.body_joint_type[b], model, data, b)
    X_FM, X_WB, S = data.X_FM, data.X_WB, data.S
    p_FM = row3(X_FM, b, 9)
    reversed_joint = model.body_reversed[b] == 1
    for k in range(3):
        for j in range(3):
            if reversed_joint:  # R_WF = R_WM times the transpose of R_FM
                X_WB[b, 3 * k + j] = x[k] * X_FM[b, 3 * j] + y[k] * X_FM[b, 3 * j + 1] + z[k] * X_FM[b, 3 * j + 2]
            else:
                X_WB[b, 3 * k + j] = x[k] * X_FM[b, j] + y[k] * X_FM[b, 3 + j] + z[k] * X_FM[b, 6 + j]
    if reversed_joint:
        p_BoMo = rotate(X_WB, b, p_FM)
        origin = subtract(r, p_BoMo)
        # at a root, not r - origin: that loses the digits of a base far away
        p_Mo = p_BoMo if is_root else r
    else:
        origin = (
            r[0] + x[0] * p_FM[0] + y[0] * p_FM[1] + z[0] * p_FM[2],
            r[1] + x[1] * p_FM[0] + y[1] * p_FM[1] + z[1] * p_FM[2],
            r[2] + x[2] * p_FM[0] + y[2] * p_FM[1] + z[2] * p_FM[2],
        )
        p_Mo = scale(0.0, origin) if is_root else origin
    set_row3(data.p_RoMo, b, 0, p_Mo)
    sign = -1.0 if reversed_joint else 1.0
    for d in range(model.body_v[b], model.body_v[b] + model.body_nv[b]):
        w, v = row3(S, d, 0), row3(S, d, 3)
        if reversed_joint:
            w_W, v_W = rotate(X_WB, b, w), rotate(X_WB, b, v)
        else:
            w_W = (
                x[0] * w[0] + y[0] * w[1] + z[0] * w[2],
                x[1] * w[0] + y[1] * w[1] + z[1] * w[2],
                x[2] * w[0] + y[2] * w[1] + z[2] * w[2],
            )
            v_W = (
                x[0] * v[0] + y[0] * v[1] + z[0] * v[2],
                x[1] * v[0] + y[1] * v[1] + z[1] * v[2],
                x[2] * v[0] + y[2] * v[1] + z[2] * v[2],
            )
        set_row3(S, d, 0, scale(sign, w_W))
        set_row3(S, d, 3, scale(sign, add(v_W, cross(p_Mo, w_W))))
    return origin


@kernel
def place_free(model, data, b):
    """As place_general() for a body that is free in World, whose velocities are those of its frame in W."""
    joint_pose(model.body_joint_type[b], model, data, b)
    set_unit_rows(data.S, model.body_v[b], 6)
    X_FM, X_WB = data.X_FM, data.X_WB
    for k in range(9):
        X_WB[b, k] = X_FM[b, k]
    origin = row3(X_FM, b, 9)
    set_row3(data.p_RoMo, b, 0, scale(0.0, origin))
    return origin
