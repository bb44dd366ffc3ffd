"""Mass matrices of the trees that constraints touch.

Rows are computed eight columns at a time: the force that moves a composite body along one of its velocities, projected
onto all velocities on its path to World.
"""

from mbcli.engine.fields.contact_fields import COUNT_CONSTRAINTS, VECTOR_DIAGONAL, VECTOR_INVERSE_DIAGONAL
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import WIDTH, add_product
from mbcli.engine.smooth.inertia import inertia_times
from mbcli.engine.smooth.mass_matrix import composite_inertias
from mbcli.engine.smooth.spatial import row3

INFINITE = float("inf")


@kernel
def masses_of_trees(model, data, solver):
    """After world_inertias and place_axes -> mass of the trees that constraints touch, tree_island -1 for others."""
    touched = solver.tree_island
    for t in range(touched.shape[0]):
        touched[t] = -1
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        for k in range(2):
            if solver.con_tree[i, k] >= 0:
                touched[solver.con_tree[i, k]] = 0
    composite_inertias(model, data)
    for t in range(touched.shape[0]):
        if touched[t] < 0 or solver.tree_v[t] >= model.dof_parent.shape[0]:  # the masses of elastic bodies are given
            continue
        mass_of_tree(model, data, solver, t)
        for d in range(solver.tree_v[t], solver.tree_v[t + 1]):
            diagonal, slot = solver.mass[solver.dof_row[d] + d], solver.dof_slot[d]
            solver.vectors[VECTOR_DIAGONAL, slot], solver.vectors[VECTOR_INVERSE_DIAGONAL, slot] = (
                diagonal,
                1.0 / diagonal,
            )


@kernel
def mass_of_tree(model, data, solver, t):
    """mass of tree t, with the share of a step in the diagonal. A locked velocity stands alone with 1."""
    S, mass, mass8, row, parent = data.S, solver.mass, solver.mass8, solver.dof_row, model.dof_parent
    axes, mask, path_vector = solver.axes8, solver.path_mask8, solver.path_vector
    first = solver.tree_v[t]
    for d in range(first, solver.tree_v[t + 1]):
        b = model.dof_body[d]
        moves = 0.0 if data.diagonal[d] == INFINITE else 1.0
        n, f = inertia_times(data.composite, b, row3(S, d, 0), row3(S, d, 3))
        start = (row[d] + first) // WIDTH - solver.tree_slot[t] // WIDTH
        for k in range(solver.body_path[b], solver.body_path[b + 1]):
            p = path_vector[k]
            turning = add_product(add_product(axes[0, p] * n[0], axes[1, p], n[1]), axes[2, p], n[2])
            shifting = add_product(add_product(axes[3, p] * f[0], axes[4, p], f[1]), axes[5, p], f[2])
            mass8[start + p] = moves * mask[k] * (turning + shifting)
        e = parent[model.body_v[b]]
        while e >= 0:
            mass[row[e] + d] = mass[row[d] + e]
            e = parent[e]
        mass[row[d] + d] = mass[row[d] + d] + data.diagonal[d] if moves == 1.0 else 1.0
