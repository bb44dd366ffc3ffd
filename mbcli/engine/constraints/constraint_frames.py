"""The kinds of constraint rows, and the frames of a constraint.

Frame P is fixed on the predecessor, frame S on the successor; r goes from Po to So.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.frame_motion import from_reference_of, origin_on_body
from mbcli.engine.smooth.spatial import subtract

# kinds of rows, what row_axis is, and the position error phi
SLIDE = 0  # (0, b) in P: phi = b . r
TWIST = 1  # (a, b) in P: phi = b . r + a . turn of S in P, see constraint_errors.py
ALIGN = 2  # (a, b) in P if turns about row_second, in P, are free: the same, of the turn without these
THREAD = 3  # (-travel c, c) in P with c = row_second: a screw, whose travel per radian is row_constant
PERPENDICULAR = 4  # (a, 0) in P: phi = a . row_second, which is in S
DISTANCE = 5  # phi = (r . r - d^2) / (2 d), where d is row_constant
CONTACT = 6  # (0, n), P is World: phi = 0
COUPLER = 7  # phi = sum of coefficient * q - row_constant
CUSTOM = 8  # all is given by the caller


@kernel
def successor_origin(data, cons, c):
    """So from Ro of the successor's tree."""
    return origin_on_body(data, cons.constraint_body[c, 1], cons.constraint_X_BS, c)


@kernel
def separation(model, data, cons, c):
    """r from Po to So, in world axes."""
    p, s = cons.constraint_body[c, 0], cons.constraint_body[c, 1]
    r_P = from_reference_of(model, data, origin_on_body(data, p, cons.constraint_X_BP, c), p, s)
    return subtract(successor_origin(data, cons, c), r_P)
