"""The linear system of the multipliers: K = G H^-1 G^T = Y^T Y with Y = L^-T G^T, in the sparsity of the tree.

Only velocities that carry bodies of a constraint have elements in its columns of Y, and only constraints with common
velocities meet in K, whose rows are kept from their first element to the diagonal: the Cholesky factor fits there.
"""

from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.trigonometry import square_root

LIGHTEST = 1e-6  # square of the length of a row relative to the longest of all, below which it is one of length zero
LEAST_SINE = 1e-24  # square of a sine below which there is nothing but rounding


@kernel
def reduce_jacobian(cons, work):
    """After factorize_tree, G -> Y."""
    G, Y, H = work.G, work.Y, work.packed_H
    for k in range(G.shape[0]):
        Y[k] = G[k]
    for c in range(cons.constraint_rows.shape[0]):
        n = cons.constraint_rows[c, 1] - cons.constraint_rows[c, 0]
        entry, first = cons.constraint_entry[c], cons.constraint_support[c, 0]
        for j in range(cons.constraint_support[c, 1] - first - 1, -1, -1):
            d, at = cons.support_dof[first + j], entry + j * n
            for i in range(n):
                Y[at + i] *= work.L_inverse[d]
            k, parent = cons.dof_packed[d] + cons.dof_level[d], cons.support_parent[first + j]
            while parent >= 0:
                k -= 1
                other, factor = entry + parent * n, H[k]
                for i in range(n):
                    Y[other + i] -= factor * Y[at + i]
                parent = cons.support_parent[first + parent]


@kernel
def multiplier_matrix(cons, work):
    """Y -> K, its lower triangle."""
    Y, K = work.Y, work.K
    for k in range(K.shape[0]):
        K[k] = 0.0
    for pair in range(cons.pair_constraint.shape[0]):
        c, d = cons.pair_constraint[pair, 0], cons.pair_constraint[pair, 1]
        row, column = cons.constraint_rows[c, 0], cons.constraint_rows[d, 0]
        n, m = cons.constraint_rows[c, 1] - row, cons.constraint_rows[d, 1] - column
        for s in range(cons.pair_shared[pair, 0], cons.pair_shared[pair, 1]):
            left = cons.constraint_entry[c] + cons.shared_place[s, 0] * n
            right = cons.constraint_entry[d] + cons.shared_place[s, 1] * m
            for i in range(n):
                at, factor = cons.profile_start[row + i] + column, Y[left + i]
                for j in range(i + 1 if c == d else m):
                    K[at + j] += factor * Y[right + j]


@kernel
def measure_rows(cons, work):
    """After multiplier_matrix -> row_square, and row_longest, by which it is told which rows depend on others.

    That is of the longest row of a constraint, here or where row_scale is from. A row that vanishes, in a singular
    position or but for rounding, is not measured by itself.
    """
    largest = 0.0
    for i in range(cons.profile_start.shape[0]):
        work.row_square[i] = work.K[cons.profile_start[i] + i]
        largest = larger_of(largest, larger_of(work.row_square[i], work.row_scale[i]))
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        longest = LIGHTEST * largest
        for i in range(first, end):
            longest = larger_of(longest, larger_of(work.row_square[i], work.row_scale[i]))
        for i in range(first, end):
            work.row_longest[i] = longest


@slot(lanes="queries.lanes.larger_of", numbers=INJECTED)
def larger_of(a, b):
    """The larger one of the real parts."""
    return max(a.real, b.real)


@slot(lanes="queries.lanes.root_of_pivot", numbers=INJECTED)
def root_of_pivot(pivot, least, tolerance, inverse_before):
    """The root of a pivot, and one over it; both are 0 for a row that is taken out."""
    taken_out = tolerance < 0.0 and inverse_before == 0.0
    if taken_out or pivot.real <= least.real:
        return 0.0 * least, 0.0 * least
    root = square_root(pivot)
    return root, 1.0 / root


@kernel
def damp_multipliers(cons, work, damping):
    """K -> K with its diagonal larger by the part `damping`."""
    for i in range(cons.profile_start.shape[0]):
        work.K[cons.profile_start[i] + i] *= 1.0 + damping


@kernel
def factorize_multipliers(cons, work, tolerance):
    """After measure_rows: K -> its Cholesky factor, pivot_inverse; rows that depend on those before are taken out: 0.

    Such a row has a pivot of at most `tolerance` times row_longest. The pivot is the square of the sine of the angle
    between the row and the others, in the metric of kinetic energy. With a negative tolerance the rows are taken out
    that were before, and no others: off the constraints, rows seem independent that are not.
    """
    K, start = work.K, cons.profile_start
    for i in range(start.shape[0]):
        at, first = start[i], cons.profile_first[i]
        pivot = K[at + i]
        for j in range(first, i):
            other = start[j]
            total = K[at + j]
            for k in range(max(first, cons.profile_first[j]), j):
                total -= K[at + k] * K[other + k]
            K[at + j] = total * work.pivot_inverse[j]
        for k in range(first, i):
            pivot -= K[at + k] * K[at + k]
        least = max(tolerance, LEAST_SINE) * work.row_longest[i]
        K[at + i], work.pivot_inverse[i] = root_of_pivot(pivot, least, tolerance, work.pivot_inverse[i])


@kernel
def solve_multipliers(cons, work, x):
    """x (nrow,) becomes K^-1 x; zero for rows that were taken out."""
    K, start, first = work.K, cons.profile_start, cons.profile_first
    for i in range(x.shape[0]):
        for k in range(first[i], i):
            x[i] -= K[start[i] + k] * x[k]
        x[i] *= work.pivot_inverse[i]
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] *= work.pivot_inverse[i]
        for k in range(first[i], i):
            x[k] -= K[start[i] + k] * x[i]


@kernel
def subtract_reduced(cons, work, x, rows):
    """rows (nrow,) -= Y^T x."""
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        entry = cons.constraint_entry[c]
        for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
            factor = x[cons.support_dof[j]]
            for i in range(first, end):
                rows[i] -= work.Y[entry + i - first] * factor
            entry += end - first


@kernel
def add_reduced(cons, work, rows, x):
    """x (nv,) += Y rows."""
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        entry = cons.constraint_entry[c]
        for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
            d = cons.support_dof[j]
            for i in range(first, end):
                x[d] += work.Y[entry + i - first] * rows[i]
            entry += end - first


@kernel
def subtract_reduced_rows(cons, work, X, rows):
    """rows (nrow, n), in the caller's order, -= Y^T X, X (nv, n)."""
    n = X.shape[1]
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        entry = cons.constraint_entry[c]
        for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
            d = cons.support_dof[j]
            for i in range(first, end):
                row, y = cons.row_number[i], work.Y[entry + i - first]
                for k in range(n):
                    rows[row, k] -= y * X[d, k]
            entry += end - first


@kernel
def add_reduced_rows(cons, work, rows, X):
    """X (nv, n) += Y rows, (nrow, n) in the caller's order."""
    n = X.shape[1]
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        entry = cons.constraint_entry[c]
        for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
            d = cons.support_dof[j]
            for i in range(first, end):
                row, y = cons.row_number[i], work.Y[entry + i - first]
                for k in range(n):
                    X[d, k] += y * rows[row, k]
            entry += end - first


@kernel
def solve_multiplier_rows(cons, work, rows):
    """rows (nrow, n), in the caller's order, become K^-1 rows; zero for those that were taken out."""
    K, start, first, number = work.K, cons.profile_start, cons.profile_first, cons.row_number
    n = rows.shape[1]
    for i in range(start.shape[0]):
        a = number[i]
        for k in range(first[i], i):
            b, factor = number[k], K[start[i] + k]
            for j in range(n):
                rows[a, j] -= factor * rows[b, j]
        factor = work.pivot_inverse[i]
        for j in range(n):
            rows[a, j] *= factor
    for i in range(start.shape[0] - 1, -1, -1):
        a, factor = number[i], work.pivot_inverse[i]
        for j in range(n):
            rows[a, j] *= factor
        for k in range(first[i], i):
            b, factor = number[k], K[start[i] + k]
            for j in range(n):
                rows[b, j] -= factor * rows[a, j]
