"""Limits of the turns of ball joints as rows of the contact problem: stops about the axis of the turn.

The turn is the angle of R_FM, at most half a turn, about the axis n: its rate is n . w. A stop acts as that of a joint
with one velocity does, see joint_limits.py. This is the range of MuJoCo's ball joints.
"""

from mbcli.engine.contact.problem import add_entry, begin_constraint, end_constraint
from mbcli.engine.fields.contact_fields import (
    BOUNDED,
    BOUNDED_HIGH,
    BOUNDED_LOW,
    BOUNDED_R,
    BOUNDED_V_HAT,
    VECTOR_INVERSE_DIAGONAL,
)
from mbcli.engine.limits.joint_limits import can_meet_limit, law_of_gap
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.rotations.quaternion import SMALLEST, rotation_vector
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.spatial import dot, scale
from mbcli.engine.smooth.trigonometry import square_root

INFINITE = float("inf")
TURN = 1 << 39  # con_source: behind limits of one velocity, before controllers


@kernel
def turn_of_ball(model, q, k):
    """Limit k of a turn: its gap [rad], negative where it is passed, and the axis of the turn in F."""
    r = rotation_vector(q, model.turn_q[k])
    angle = square_root(dot(r, r) + SMALLEST)
    return model.turn_limit[k] - angle, scale(1.0 / angle, r)


@kernel
def rate_of_turn(v, d, axis):
    """[rad/s] about an axis, of the angular velocity v[d:d+3]."""
    return axis[0] * v[d] + axis[1] * v[d + 1] + axis[2] * v[d + 2]


@kernel
def nears_turn_limit(model, data, h):
    """Whether two steps at the velocities of the start come to the limit of a turn, or it is passed."""
    for k in range(model.turn_dof.shape[0]):
        gap, axis = turn_of_ball(model, data.q, k)
        rate = rate_of_turn(data.v, model.turn_dof[k], axis)
        if can_meet_limit(gap, rate, rate, h):
            return True
    return False


@kernel
def add_turn_rows(model, data, solver, h):
    """A row for each such limit that can act; its law comes when the trees are known. vdot is that without rows."""
    for k in range(model.turn_dof.shape[0]):
        d = model.turn_dof[k]
        gap, axis = turn_of_ball(model, data.q, k)
        rate = rate_of_turn(data.v, d, axis)
        acts = can_meet_limit(gap, rate, rate + h * rate_of_turn(data.vdot, d, axis), h)
        if not acts or data.diagonal[d] == INFINITE or is_asleep(data, model.dof_body[d]):
            continue
        i = begin_constraint(solver, BOUNDED, TURN + k)
        if i < 0:
            return
        for n in range(2, -1, -1):
            if axis[n] != 0.0:
                add_entry(solver, i, d + n, -axis[n], 0.0, 0.0)
        end_constraint(solver, i)


@kernel
def set_turn_law(model, data, solver, i, h):
    """Row i pushes a turn back to within its limit."""
    law, k = solver.con_law, solver.con_source[i] - TURN
    gap, axis = turn_of_ball(model, data.q, k)
    compliance = 0.0
    for n in range(3):
        slot = solver.dof_slot[model.turn_dof[k] + n]
        compliance += axis[n] * axis[n] * solver.vectors[VECTOR_INVERSE_DIAGONAL, slot]
    law[i, BOUNDED_V_HAT], law[i, BOUNDED_R] = law_of_gap(gap, h, compliance)
    law[i, BOUNDED_LOW], law[i, BOUNDED_HIGH] = 0.0, INFINITE
