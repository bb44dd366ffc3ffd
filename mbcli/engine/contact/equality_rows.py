"""The constraints of a plant as rows of the contact problem: nearly rigid, or springs, at the velocities of its end.

Their Jacobian is that of motion under constraints, called by address. Rows of one constraint go together, up to three
at a time; a row that is bounded on one side, or on either side of a gap, goes alone, and acts in steps that start
beyond a bound. Over a step h the impulse of a row is (v_hat - v) / R with R = 1 / (h k (h + tau)), v_hat = -phi / (h
+ tau), tau = c / k of its stiffness k and damping c. If that is stiffer than a step can resolve, R is that of a
nearly rigid row and tau = h (Castro et al. 2022, section V.B, with the diagonal of the mass matrix), numbers that
pydrake's steps show.
"""

from mbcli.engine.constraints.constraint_errors import position_errors
from mbcli.engine.constraints.constraint_frames import DISTANCE
from mbcli.engine.constraints.constraint_rows import constraint_jacobian, row_axes
from mbcli.engine.contact.joint_rows import EQUATION
from mbcli.engine.contact.problem import add_entry, begin_constraint, end_constraint
from mbcli.engine.fields.contact_fields import (
    BOUNDED,
    BOUNDED_HIGH,
    BOUNDED_LOW,
    BOUNDED_R,
    BOUNDED_SIGN,
    BOUNDED_V_HAT,
    COUNT_CONSTRAINTS,
    EQUALITY,
    VECTOR_INVERSE_DIAGONAL,
)
from mbcli.engine.fields.model_fields import SET_AT_CONSTRAINTS, SET_AT_DATA, SET_AT_MODEL, SET_AT_ROWS, SET_AT_WORK
from mbcli.engine.limits.joint_limits import NEARLY_RIGID
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import constraints_at, data_at, model_at, work_at
from mbcli.engine.runtime.kernel import called, kernel
from mbcli.engine.smooth.trigonometry import square_root

INFINITE = float("inf")


@called
def constraint_equations(model, data, constraints, work, unused):
    """After position_kinematics -> err, G. Called by address, returns 0."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(constraints), work_at(work)
    position_errors(m, d, c, w)
    row_axes(m, d, c, w, 0)
    constraint_jacobian(d, c, w)
    return 0.0


@kernel
def holds_constraints(data):
    """As contact_step.has_constraints()."""
    return True


@kernel
def add_equality_rows(model, data, solver):
    """As contact_step.add_constraint_rows(), without laws: constraints of the problem, behind all others."""
    at = data.constraint_set
    call_by_address(at[SET_AT_ROWS], at[SET_AT_MODEL], at[SET_AT_DATA], at[SET_AT_CONSTRAINTS], at[SET_AT_WORK], 0.0)
    cons, work = constraints_at(at[SET_AT_CONSTRAINTS]), work_at(at[SET_AT_WORK])
    for c in range(cons.constraint_rows.shape[0]):
        row, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        while row < end:
            if cons.row_limits[row, 0] == cons.row_limits[row, 1]:
                count = min(3, end - row)
                add_group(data, solver, cons, work, c, row, count, EQUALITY, 1.0)
            else:
                count = 1
                if not cons.row_limits[row, 0] <= error_of_row(cons, work, row) <= cons.row_limits[row, 1]:
                    if cons.row_limits[row, 0] > -INFINITE:
                        add_group(data, solver, cons, work, c, row, count, BOUNDED, 1.0)
                    if cons.row_limits[row, 1] < INFINITE:
                        add_group(data, solver, cons, work, c, row, count, BOUNDED, -1.0)
            row += count


@kernel
def add_group(data, solver, cons, work, c, row, count, kind, sign):
    """A constraint of the problem from some rows of constraint c, their velocities times a sign."""
    i = begin_constraint(solver, kind, EQUATION + row)
    if i < 0:
        return
    solver.con_law[i, BOUNDED_SIGN] = sign
    first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
    scale = sign * unit_length(cons, work, row)
    for j in range(cons.constraint_support[c, 1] - 1, cons.constraint_support[c, 0] - 1, -1):
        d = cons.support_dof[j]
        k = cons.constraint_entry[c] + (j - cons.constraint_support[c, 0]) * (end - first) + row - first
        x = scale * work.G[k]
        y = scale * work.G[k + 1] if count > 1 else 0.0
        z = scale * work.G[k + 2] if count > 2 else 0.0
        if (x != 0.0 or y != 0.0 or z != 0.0) and data.diagonal[d] < INFINITE:
            add_entry(solver, i, d, x, y, z)
    end_constraint(solver, i)


@kernel
def unit_length(cons, work, row):
    """The factor that makes the axis of a distance row a unit vector: it changes with the distance; 1 otherwise."""
    if cons.row_kind[row] != DISTANCE:
        return 1.0
    return 1.0 / square_root(1.0 + 2.0 * work.err[row] / cons.row_constant[row])


@kernel
def error_of_row(cons, work, row):
    """phi; of a row that keeps a distance, by how much that is longer."""
    if cons.row_kind[row] != DISTANCE:
        return work.err[row]
    return cons.row_constant[row] * (1.0 / unit_length(cons, work, row) - 1.0)


@kernel
def set_equality_laws(model, data, solver, h):
    """As contact_step.set_constraint_laws(); after masses_of_trees()."""
    at = data.constraint_set
    cons, work = constraints_at(at[SET_AT_CONSTRAINTS]), work_at(at[SET_AT_WORK])
    i, n = 0, solver.counts[COUNT_CONSTRAINTS]
    while i < n and solver.con_source[i] < EQUATION:
        i += 1
    for c in range(cons.constraint_rows.shape[0]):
        end = cons.constraint_rows[c, 1]
        if i < n and solver.con_source[i] < EQUATION + end:
            softest = NEARLY_RIGID * compliance_of_rows(data, solver, cons, work, c)
            while i < n and solver.con_source[i] < EQUATION + end:
                row = solver.con_source[i] - EQUATION
                if solver.con_kind[i] == EQUALITY:
                    set_equality_law(solver, cons, work, i, row, end, softest, h)
                else:
                    set_one_sided_law(solver, cons, work, i, row, softest, h)
                i += 1


@kernel
def compliance_of_rows(data, solver, cons, work, c):
    """The norm (Frobenius) of G D^-1 G^T over the number of rows, with D the diagonal of A, for constraint c."""
    first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
    support, entry = cons.constraint_support[c, 0], cons.constraint_entry[c]
    size = 0.0
    for a in range(end - first):
        for b in range(a + 1):
            total = 0.0
            for j in range(support, cons.constraint_support[c, 1]):
                d = cons.support_dof[j]
                if data.diagonal[d] < INFINITE:
                    k = entry + (j - support) * (end - first)
                    total += work.G[k + a] * work.G[k + b] * solver.vectors[VECTOR_INVERSE_DIAGONAL, solver.dof_slot[d]]
            size += (1.0 if a == b else 2.0) * total * total
    scale = unit_length(cons, work, first)
    return square_root(size) * scale * scale / (end - first)


@kernel
def resistance_of_row(cons, row, softest, h):
    """R of a row, and h + tau; R is not below `softest`. Of a damper tau is infinite: it goes back to nowhere."""
    stiffness, damping = cons.row_spring[row, 0], cons.row_spring[row, 1]
    if stiffness == 0.0:  # a damper
        return max(1.0 / (h * damping), softest), INFINITE
    if stiffness < INFINITE:
        time = h + damping / stiffness
        resistance = 1.0 / (h * stiffness * time)
        if resistance >= softest:
            return resistance, time
    return softest, 2.0 * h


@kernel
def set_equality_law(solver, cons, work, i, first, end, softest, h):
    law = solver.con_law
    for k in range(3):
        law[i, 1 + k] = 0.0
    for row in range(first, min(first + 3, end)):
        law[i, BOUNDED_R], time = resistance_of_row(cons, row, softest, h)
        law[i, 1 + row - first] = (cons.row_limits[row, 0] - error_of_row(cons, work, row)) / time


@kernel
def set_one_sided_law(solver, cons, work, i, row, softest, h):
    """Pushes phi back between its limits."""
    law = solver.con_law
    sign = law[i, BOUNDED_SIGN]
    limit = cons.row_limits[row, 0] if sign > 0.0 else cons.row_limits[row, 1]
    law[i, BOUNDED_R], time = resistance_of_row(cons, row, softest, h)
    law[i, BOUNDED_V_HAT] = sign * (limit - error_of_row(cons, work, row)) / time
    law[i, BOUNDED_LOW], law[i, BOUNDED_HIGH] = 0.0, INFINITE


@kernel
def take_equality_forces(data, solver, h):
    """As contact_step.take_constraint_forces(): `force` of the work."""
    at = data.constraint_set
    cons, work = constraints_at(at[SET_AT_CONSTRAINTS]), work_at(at[SET_AT_WORK])
    for row in range(work.force.shape[0]):
        work.force[row] = 0.0
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if solver.con_source[i] >= EQUATION:
            row = solver.con_source[i] - EQUATION
            scale = solver.con_law[i, BOUNDED_SIGN] * unit_length(cons, work, row) / h
            for k in range(min(3, work.force.shape[0] - row)):
                if k == 0 or solver.con_kind[i] == EQUALITY:
                    work.force[row + k] += scale * solver.con_impulse[i, k]
