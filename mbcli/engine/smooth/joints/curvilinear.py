"""Curvilinear: travel by q [m] along a plane curve of arcs and lines in F; v = qdot.

The axes of M are the direction of travel, the normal towards positive turning, and the normal of the plane. With the
turning rate r [1/m] of a segment, M turns by r per metre: V_FM = v (r z, x) in the axes of M. Within one segment that
is a rotation about a fixed centre, or a translation, so the column of S stands still in F as that of a revolute joint.

A segment holds: where it starts [m], turning rate [1/m], radius [m] (signed, 0 if straight), 1 if straight else
0, and M at its start in the plane: cosine and sine of the direction of travel, x and y [m]. The plane is that of M at
distance 0. The first segment goes on backwards, the last one forwards, unless the curve is periodic.
"""

from mbcli.engine.fields.model_fields import (
    CURVE_COUNT,
    CURVE_FIRST,
    CURVE_PERIODIC,
    SEGMENT_COSINE,
    SEGMENT_RADIUS,
    SEGMENT_RATE,
    SEGMENT_SINE,
    SEGMENT_SIZE,
    SEGMENT_START,
    SEGMENT_STRAIGHT,
    SEGMENT_X,
    SEGMENT_Y,
)
from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.joints.moving_origin import bias_of_moving_origin
from mbcli.engine.smooth.trigonometry import sine_and_cosine

NUM_POSITIONS = 1
NUM_VELOCITIES = 1
POSITION_SUFFIXES = ("q",)
VELOCITY_SUFFIXES = ("v",)
IS_ANGULAR = (False,)
ZERO_POSITIONS = (0.0,)
ROTATION = None
HAS_AXIS = False
CARRIED = ()
bias_curvilinear = bias_of_moving_origin


@kernel
def segment_at(segments, curves, c, period, s):
    """The segment of curve c at distance s, and how many whole periods come before; at a break the one that starts."""
    laps = 0.0
    if curves[c, CURVE_PERIODIC] == 1:
        laps = s // period
    distance = s - laps * period
    k = curves[c, CURVE_FIRST]
    last = k + curves[c, CURVE_COUNT] - 1
    while k < last and segments[k + 1, SEGMENT_START].real <= distance:
        k += 1
    return k, laps


@slot(lanes="queries.lanes.take_segment", numbers=INJECTED)
def take_segment(segments, curves, periods, c, q, i, chosen):
    """Row c of `chosen` becomes the segment at distance q[i], with its start in the lap of q[i]."""
    k, laps = segment_at(segments, curves, c, periods[c].real, q[i].real)
    for j in range(SEGMENT_SIZE):
        chosen[c, j] = segments[k, j]
    chosen[c, SEGMENT_START] += laps * periods[c]


@slot(plain="smooth.plain.pose_curvilinear")
def pose_curvilinear(model, data, b):
    """Row b of X_FM, with `curve_segment` and `curve_angle` of its curve."""
    c, q, i, chosen = model.body_curve[b], data.q, model.body_q[b], data.curve_segment
    take_segment(model.curve_segments, model.curves, model.curve_period, c, q, i, chosen)
    pose_on_segment(chosen, c, model.curve_X_FM0, q[i], data.curve_angle, data.X_FM, b)


@kernel
def pose_on_segment(chosen, c, X_FM0, q, angle, X_FM, b):
    """Row b of X_FM at distance q, after take_segment; row c of `angle` is written too. X_FM0 (row c): M at distance 0.

    angle: half the turn since the start of the segment, its sine and cosine.
    """
    d = q - chosen[c, SEGMENT_START]
    angle[c, 0] = 0.5 * chosen[c, SEGMENT_RATE] * d
    sine_and_cosine(angle[c, 0:1], angle[c, 1:2], angle[c, 2:3])
    s, ch, sh = angle[c, 1], chosen[c, SEGMENT_COSINE], chosen[c, SEGMENT_SINE]
    # by half the turn: 1 - cos without cancellation, however long the radius
    sin_turn, one_minus_cos = 2.0 * s * angle[c, 2], 2.0 * s * s
    along = chosen[c, SEGMENT_RADIUS] * sin_turn + chosen[c, SEGMENT_STRAIGHT] * d
    aside = chosen[c, SEGMENT_RADIUS] * one_minus_cos
    x = chosen[c, SEGMENT_X] + ch * along - sh * aside
    y = chosen[c, SEGMENT_Y] + sh * along + ch * aside
    cos_M = ch - ch * one_minus_cos - sh * sin_turn
    sin_M = sh - sh * one_minus_cos + ch * sin_turn
    for k in range(3):
        e, f, g = X_FM0[c, 3 * k], X_FM0[c, 3 * k + 1], X_FM0[c, 3 * k + 2]
        X_FM[b, 3 * k] = cos_M * e + sin_M * f
        X_FM[b, 3 * k + 1] = cos_M * f - sin_M * e
        X_FM[b, 3 * k + 2] = g
        X_FM[b, 9 + k] = X_FM0[c, 9 + k] + x * e + y * f


@slot(plain="smooth.plain.subspace_curvilinear")
def subspace_curvilinear(model, data, b):
    """Its row of S: V_FM at Mo in F, after pose_curvilinear."""
    chosen, c, X_FM, H, d = data.curve_segment, model.body_curve[b], data.X_FM, data.S, model.body_v[b]
    for k in range(3):
        H[d, k] = chosen[c, SEGMENT_RATE] * X_FM[b, 3 * k + 2]
        H[d, 3 + k] = X_FM[b, 3 * k]
