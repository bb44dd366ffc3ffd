"""The Hessian of the cost of an island, A + J^T G J, by panels: the rows of a tree, up to the last one it meets."""

from mbcli.engine.contact.block_cholesky import add_row
from mbcli.engine.contact.dual_friction import dual_hessian, has_dual
from mbcli.engine.contact.laws.bounded import impulse_of_row
from mbcli.engine.contact.laws.registry import response_of
from mbcli.engine.contact.patches import patch_hessian
from mbcli.engine.contact.torsional import torsional_hessian
from mbcli.engine.fields.contact_fields import HAS_TORSIONAL
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import WIDTH, add_product


@kernel
def fill_hessian(solver, k):
    """values: A + J^T G J of the island's trees by panels; right of the diagonal of a tree's own block: no meaning."""
    fill_masses(solver, solver.island_tree[k], solver.island_tree[k + 1], False)
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_slot[i] >= 0:
            add_to_diagonal(solver, i)
        elif solver.con_patch_size[i] == 0:
            if has_dual(solver, i):
                xx, yy, zz, xy, xz, yz = dual_hessian(solver, i)
            else:
                _, _, _, xx, yy, zz, xy, xz, yz = response_of(
                    solver, i, solver.con_v[i, 0], solver.con_v[i, 1], solver.con_v[i, 2]
                )
            if xx != 0.0 or yy != 0.0 or zz != 0.0:
                add_constraint_hessian(solver, i, (xx, yy, zz, xy, xz, yz))
        elif solver.con_patch_size[i] > HAS_TORSIONAL:
            add_patch_hessian(solver, i, patch_hessian(solver, i))
        elif solver.con_patch_size[i] == HAS_TORSIONAL:
            add_patch_hessian(solver, i, torsional_hessian(solver, i))


@kernel
def fill_masses(solver, first, end, whole):
    """values: A of the trees at these places in their panels, whole or up to the diagonal; zero beside it."""
    values, mass = solver.values8, solver.mass8
    nothing = 0.0 * mass[0]
    for p in range(first, end):
        t = solver.order[p]
        v0, count = solver.tree_v[t], (solver.tree_slot[t + 1] - solver.tree_slot[t]) // WIDTH
        step = solver.panel_width[p] // WIDTH
        for d in range(v0, solver.tree_v[t + 1]):
            row = solver.panel_start[p] // WIDTH + (d - v0) * step
            source = (solver.dof_row[d] + v0) // WIDTH
            for c in range(count if whole else (d - v0) // WIDTH + 1):
                values[row + c] = mass[source + c]
            for c in range(count, step):
                values[row + c] = nothing


@kernel
def add_to_diagonal(solver, i):
    """Adds the second derivative of constraint i, whose row is a velocity."""
    _, stiffness = impulse_of_row(solver.con_law, i, solver.con_v[i, 0])
    t = solver.con_tree[i, 0]
    p, d = solver.tree_position[t], solver.con_slot[i] - solver.tree_slot[t]
    solver.values[solver.panel_start[p] + d * solver.panel_width[p] + d] += stiffness


@kernel
def add_constraint_hessian(solver, i, G):
    """Adds J^T G J of one constraint."""
    first, split, end = solver.con_first[i], solver.con_split[i], solver.con_first[i + 1]
    p = solver.tree_position[solver.con_tree[i, 0]]
    own_block = solver.panel_start[p]
    for a in range(first, split):
        for b in range(first, a + 1):
            add_pieces(solver, G, b, a, p, p, own_block)
    if split == end:
        return
    q = solver.tree_position[solver.con_tree[i, 1]]
    own_block = solver.panel_start[q]
    for a in range(split, end):
        for b in range(split, a + 1):
            add_pieces(solver, G, b, a, q, q, own_block)
    for a in range(first, split):
        for b in range(split, end):
            if p < q:
                add_pieces(solver, G, a, b, p, q, solver.con_block[i])
            else:
                add_pieces(solver, G, b, a, q, p, solver.con_block[i])


@kernel
def add_patch_hessian(solver, i, K):
    """Adds J^T K J of a patch, whose pieces stand in pairs."""
    first, split, end = solver.con_first[i], solver.con_split[i], solver.con_first[i + 1]
    p = solver.tree_position[solver.con_tree[i, 0]]
    own_block = solver.panel_start[p]
    for a in range(first, split, 2):
        for b in range(first, a + 1, 2):
            add_pairs(solver, K, b, a, p, p, own_block)
    if split == end:
        return
    q = solver.tree_position[solver.con_tree[i, 1]]
    own_block = solver.panel_start[q]
    for a in range(split, end, 2):
        for b in range(split, a + 1, 2):
            add_pairs(solver, K, b, a, q, q, own_block)
    for a in range(first, split, 2):
        for b in range(split, end, 2):
            if p < q:
                add_pairs(solver, K, a, b, p, q, solver.con_block[i])
            else:
                add_pairs(solver, K, b, a, q, p, solver.con_block[i])


@kernel
def add_pieces(solver, G, a, b, p, q, block):
    """Adds J_a^T G J_b to the block of places p (rows) and q (columns), which starts at `block` in values."""
    x, y, z = solver.jacobian8[3 * b], solver.jacobian8[3 * b + 1], solver.jacobian8[3 * b + 2]
    add_rows(solver, a, block, p, column_of(solver, b, q), symmetric_rows(G, x, y, z))


@kernel
def add_pairs(solver, K, a, b, p, q, block):
    """The same with K of a patch, for pieces a and a + 1, b and b + 1."""
    J = solver.jacobian8
    vv, first, second, third, ww = K
    x, y, z, d, e, f = J[3 * b], J[3 * b + 1], J[3 * b + 2], J[3 * b + 3], J[3 * b + 4], J[3 * b + 5]
    column = column_of(solver, b, q)
    g, h, k = symmetric_rows(vv, x, y, z)
    g = add_product(add_product(g + first[0] * d, e, first[1]), f, first[2])
    h = add_product(add_product(h + second[0] * d, e, second[1]), f, second[2])
    k = add_product(add_product(k + third[0] * d, e, third[1]), f, third[2])
    add_rows(solver, a, block, p, column, (g, h, k))
    g, h, k = symmetric_rows(ww, d, e, f)
    g = add_product(add_product(g + first[0] * x, y, second[0]), z, third[0])
    h = add_product(add_product(h + first[1] * x, y, second[1]), z, third[1])
    k = add_product(add_product(k + first[2] * x, y, second[2]), z, third[2])
    add_rows(solver, a + 1, block, p, column, (g, h, k))


@kernel
def symmetric_rows(G, x, y, z):
    """G times the rows x, y, z."""
    xx, yy, zz, xy, xz, yz = G
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


@kernel
def column_of(solver, b, q):
    """The vector of piece b among the columns of the tree at place q."""
    return solver.piece_vector[b] - solver.tree_slot[solver.order[q]] // WIDTH


@kernel
def add_rows(solver, a, block, p, column, rows):
    """Adds J_a^T times three rows to a vector of columns of the block of place p that starts at `block` in values."""
    J, values = solver.jacobian, solver.values8
    gx, gy, gz = rows
    t = solver.order[p]
    first_row = WIDTH * solver.piece_vector[a] - solver.tree_slot[t]
    count = min(WIDTH, solver.tree_v[t + 1] - solver.tree_v[t] - first_row)
    step = solver.panel_width[p] // WIDTH
    target = block // WIDTH + first_row * step + column
    numbers = 3 * WIDTH * a
    if count == 6:  # a free body: the compiler writes the loop out
        for r in range(6):
            add_row(J, values, numbers + r, target + r * step, gx, gy, gz)
    else:
        for r in range(count):
            add_row(J, values, numbers + r, target + r * step, gx, gy, gz)
