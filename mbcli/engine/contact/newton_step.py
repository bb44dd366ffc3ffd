"""One step of Newton's method for the contact problem, from velocities that are given: how its solution changes.

At the solution v the gradient g of the cost is zero, and by the implicit function theorem dv = -H^-1 dg for a change of
the problem's data. v - H^-1 g, of the changed problem, has that same derivative. It needs no search and no decision
when one has converged, so that its differences are smooth until a contact begins or ends, or a limit is reached.
"""

from mbcli.engine.contact.dual_friction import begin_duals
from mbcli.engine.contact.islands import build_islands
from mbcli.engine.contact.newton import (
    fill_gradient,
    free_other_trees,
    newton_direction,
    start_search,
)
from mbcli.engine.fields.contact_fields import (
    COUNT_ISLANDS,
    COUNT_STATUS,
    PROBLEM_SOLVED,
    VECTOR_DIRECTION,
    VECTOR_START,
    VECTOR_VELOCITY,
)
from mbcli.engine.runtime.handles import solver_at
from mbcli.engine.runtime.kernel import called, kernel
from mbcli.engine.runtime.lane_memory import WIDTH


@called
def newton_step_called(model, data, points, solver, number):
    """In place of solve_problem(): vectors[START] -> vectors[VELOCITY], one step further."""
    s = solver_at(solver)
    build_islands(s)
    free_other_trees(s)
    for k in range(s.counts[COUNT_ISLANDS]):
        if s.counts[COUNT_STATUS] == PROBLEM_SOLVED:
            take_newton_step(s, k)
    return 0.0


@kernel
def take_newton_step(solver, k):
    """The step of island k."""
    first, end, vectors = solver.island_tree[k], solver.island_tree[k + 1], solver.vectors8
    for p in range(first, end):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            vectors[VECTOR_VELOCITY, c] = vectors[VECTOR_START, c]
    start_search(solver, k)
    begin_duals(solver, k, True)
    fill_gradient(solver, k)
    newton_direction(solver, k, False)
    for p in range(first, end):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            vectors[VECTOR_VELOCITY, c] = vectors[VECTOR_START, c] + vectors[VECTOR_DIRECTION, c]
