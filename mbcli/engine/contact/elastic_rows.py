"""Constraints between elastic bodies and others in the contact problem of a step.

The vertices of an elastic body that take part are a tree of the problem, behind those of the model: its velocities are
theirs, its mass matrix the Schur complement of the rest of the body. A row of `dofs` is one constraint: the first
velocities of three vertices on side A, then of three on side B, -1 where there is none; `weights` are those of the
vertices; `bodies` is the rigid body of side B, -1 for none. Contacts are the velocity of A relative to B along two
tangents and the normal; vertices that are fixed to a body, along the axes of W.
"""

from mbcli.engine.contact.compliance import compliance
from mbcli.engine.contact.newton import solve_problem
from mbcli.engine.contact.problem import add_entry, begin_constraint, end_constraint, rows_velocity
from mbcli.engine.contact.rows import add_relative_point, set_law_of_contact
from mbcli.engine.contact.tree_masses import masses_of_trees
from mbcli.engine.fields.contact_fields import (
    BOUNDED_R,
    COUNT_CONSTRAINTS,
    COUNT_STATUS,
    COUPLING_DISTANCE,
    COUPLING_ERROR,
    COUPLING_NORMAL,
    COUPLING_POINT,
    COUPLING_STIFFNESS,
    EQUALITY,
    PROBLEM_SOLVED,
    VECTOR_DIAGONAL,
    VECTOR_INVERSE_DIAGONAL,
    VECTOR_VELOCITY,
)
from mbcli.engine.limits.joint_limits import NEARLY_RIGID
from mbcli.engine.runtime.handles import data_at, model_at, solver_at
from mbcli.engine.runtime.kernel import Handle, Indices, Int, Matrix, Real, Table, entry, kernel
from mbcli.engine.smooth.spatial import cross, row3, scale, tangent_of


@entry
def solve_elastic_problem(
    model: Handle,
    data: Handle,
    solver: Handle,
    dofs: Table,
    weights: Matrix,
    bodies: Indices,
    places: Matrix,
    laws: Matrix,
    index: Indices,
    h: Real,
):
    """Adds the constraints of elastic bodies and solves the problem; index: the constraint of each row, -1 for none."""
    m, d, s = model_at(model), data_at(data), solver_at(solver)
    first = s.counts[COUNT_CONSTRAINTS]
    for n in range(dofs.shape[0]):
        index[n] = add_elastic_row(m, d, s, dofs, weights, bodies[n], places, laws, n)
        if s.counts[COUNT_STATUS] != PROBLEM_SOLVED:
            return
    masses_of_trees(m, d, s)
    measure_elastic_trees(m, s)
    for n in range(dofs.shape[0]):
        if index[n] >= first:
            set_elastic_law(s, places, laws, n, index[n], h)
    solve_problem(s, False)


@entry
def solve_problem_again(model: Handle, solver: Handle, same_masses: Int):
    """The same rows and laws with other velocities without contact and, unless same_masses is 1, of elastic trees."""
    s = solver_at(solver)
    measure_elastic_trees(model_at(model), s)
    solve_problem(s, same_masses == 1)


@kernel
def measure_elastic_trees(model, solver):
    """The diagonal of the masses of elastic trees."""
    for t in range(solver.tree_island.shape[0]):
        first = solver.tree_v[t]
        if first >= model.dof_parent.shape[0]:
            for d in range(first, solver.tree_v[t + 1]):
                diagonal, slot = solver.mass[solver.dof_row[d] + d], solver.dof_slot[d]
                solver.vectors[VECTOR_DIAGONAL, slot] = diagonal
                solver.vectors[VECTOR_INVERSE_DIAGONAL, slot] = 1.0 / diagonal


@kernel
def add_elastic_row(model, data, solver, dofs, weights, body, places, laws, n):
    """Index of the constraint of row n, -1 if nothing of it can move."""
    i = begin_constraint(solver, EQUALITY if laws[n, COUPLING_STIFFNESS] == 0.0 else 0, n)
    if i < 0:
        return -1
    if laws[n, COUPLING_STIFFNESS] == 0.0:
        tangent, side, normal = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    else:
        normal = row3(places, n, COUPLING_NORMAL)
        tangent = tangent_of(normal)
        side = cross(normal, tangent)
    axes = (tangent, side, normal)
    add_vertices(solver, dofs, weights, n, 0, 1.0, axes)
    if body >= 0:
        point, here = row3(places, n, COUPLING_POINT), (0.0, 0.0, 0.0)
        add_relative_point(model, data, solver, i, 0, body, point, here, (tangent, side, normal))
    else:
        add_vertices(solver, dofs, weights, n, 3, -1.0, axes)
    end_constraint(solver, i)
    return i if solver.counts[COUNT_CONSTRAINTS] > i else -1


@kernel
def add_vertices(solver, dofs, weights, n, first, sign, axes):
    """Columns of the vertices of one side of row n, the last velocity first."""
    i = solver.counts[COUNT_CONSTRAINTS]
    for k in range(first, first + 3):
        d = dofs[n, k]
        if d >= 0:
            w = sign * weights[n, k]
            for r in range(2, -1, -1):
                add_entry(solver, i, d + r, w * axes[0][r], w * axes[1][r], w * axes[2][r])


@kernel
def set_elastic_law(solver, places, laws, n, i, h):
    """Numbers of the law of constraint i, which is row n."""
    softness = compliance(solver, i)
    if laws[n, COUPLING_STIFFNESS] == 0.0:
        v_hat = scale(-0.5 / h, row3(places, n, COUPLING_ERROR))
        solver.con_law[i, BOUNDED_R] = NEARLY_RIGID * softness / 3.0
        solver.con_law[i, 1], solver.con_law[i, 2], solver.con_law[i, 3] = v_hat
        return
    velocity = rows_velocity(solver, i, VECTOR_VELOCITY)
    set_law_of_contact(solver, laws, n, i, laws[n, COUPLING_DISTANCE], h, softness, velocity)
