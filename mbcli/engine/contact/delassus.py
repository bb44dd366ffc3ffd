"""How a constraint gives way to its own impulse: J A^-1 J^T, with A factorized along the tree, and stiffness limits.

A = L^T L has no fill-in where L is lower triangular and velocities are numbered from the root outwards (Featherstone
2008, section 6.5): what a body's velocities need is on its way to the root.
"""

from mbcli.engine.jit import kernel
from mbcli.engine.lane_memory import WIDTH
from mbcli.engine.trigonometry import square_root


@kernel
def factorize_mass_of_tree(model, solver, t):
    """mass -> mass_factor for tree t: L, with the inverse of its elements on the diagonal."""
    row, parent, L = solver.dof_row, model.dof_parent, solver.mass_factor
    first, end = solver.tree_v[t], solver.tree_v[t + 1]
    for d in range(first, end):
        e = d
        while e >= 0:
            L[row[d] + e] = solver.mass[row[d] + e]
            e = parent[e]
    for d in range(end - 1, first - 1, -1):
        inverse = 1.0 / square_root(L[row[d] + d])
        L[row[d] + d] = inverse
        i = parent[d]
        while i >= 0:
            L[row[d] + i] *= inverse
            i = parent[i]
        i = parent[d]
        while i >= 0:
            factor = L[row[d] + i]
            j = i
            while j >= 0:
                L[row[i] + j] -= factor * L[row[d] + j]
                j = parent[j]
            i = parent[i]


@kernel
def compliance(model, solver, i, W):
    """W (xx, yy, zz, xy, xz, yz): the sum over its trees of J A^-1 J^T of constraint i.

    After factorize_mass_of_tree() of its trees.
    """
    for k in range(6):
        W[k] = 0.0
    first, split, end = solver.con_first[i], solver.con_split[i], solver.con_first[i + 1]
    add_compliance_of_tree(model, solver, solver.con_tree[i, 0], first, split, W)
    if split != end:
        add_compliance_of_tree(model, solver, solver.con_tree[i, 1], split, end, W)


@kernel
def add_compliance_of_tree(model, solver, t, first, end, W):
    """Adds y^T y with y = L^-T J^T to W; the pieces are those of tree t, the outermost first."""
    row, parent, L = solver.dof_row, model.dof_parent, solver.mass_factor
    work = solver.work.reshape(solver.work.size // 3, 3)
    innermost, shift = solver.tree_v[t], solver.tree_v[t] - solver.tree_slot[t]
    top = min(solver.tree_v[t + 1], WIDTH * (solver.piece_vector[first] + 1) + shift)
    for d in range(innermost, top):
        for k in range(3):
            work[d, k] = 0.0
    for p in range(first, end):
        slots = WIDTH * solver.piece_vector[p]
        for j in range(min(WIDTH, top - shift - slots)):
            for k in range(3):
                work[slots + shift + j, k] = solver.jacobian[(3 * p + k) * WIDTH + j]
    for d in range(top - 1, innermost - 1, -1):
        if work[d, 0] != 0.0 or work[d, 1] != 0.0 or work[d, 2] != 0.0:
            add_elimination(row, parent, L, work, d, W)


@kernel
def add_elimination(row, parent, L, work, d, W):
    inverse = L[row[d] + d]
    x, y, z = inverse * work[d, 0], inverse * work[d, 1], inverse * work[d, 2]
    W[0] += x * x
    W[1] += y * y
    W[2] += z * z
    W[3] += x * y
    W[4] += x * z
    W[5] += y * z
    i = parent[d]
    while i >= 0:
        factor = L[row[d] + i]
        work[i, 0] -= factor * x
        work[i, 1] -= factor * y
        work[i, 2] -= factor * z
        i = parent[i]
