"""Gaussian elimination with row exchanges on rows of vector registers.

Element (i, j) of the matrix is number columns[j] of row i, which has `step` vectors; other numbers of a row are zero.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import WIDTH, add_product, element, set_element, subtract_product, sum_of_lanes


@kernel
def eliminate_dense(numbers, lanes, x, columns, n, step):
    """The matrix and the right-hand side x (n,) -> an upper triangle, in place; whether it is regular."""
    width = WIDTH * step
    for k in range(n):
        column = columns[k]
        first = column // WIDTH
        best, most = k, abs(element(numbers, k * width + column))
        for i in range(k + 1, n):
            size = abs(element(numbers, i * width + column))
            if size > most:
                best, most = i, size
        if not most > 0.0:
            return False
        if best != k:
            x[k], x[best] = x[best], x[k]
            for c in range(first, step):
                kept = 1.0 * element(lanes, k * step + c)  # a copy, also if kernels are interpreted
                set_element(lanes, k * step + c, element(lanes, best * step + c))
                set_element(lanes, best * step + c, kept)
        inverse = 1.0 / element(numbers, k * width + column)
        for i in range(k + 1, n):
            factor = inverse * element(numbers, i * width + column)
            if factor != 0.0:
                x[i] -= factor * x[k]
                for c in range(first, step):
                    kept = subtract_product(element(lanes, i * step + c), element(lanes, k * step + c), factor)
                    set_element(lanes, i * step + c, kept)
    return True


@kernel
def solve_upper(numbers, lanes, x, solution, solution8, columns, n, step):
    """After eliminate_dense(), `solution` being zero -> solution: number columns[j] of it is unknown j."""
    for k in range(n - 1, -1, -1):
        column = columns[k]
        total = 0.0 * element(lanes, k * step)
        for c in range(column // WIDTH, step):
            total = add_product(total, element(lanes, k * step + c), element(solution8, c))
        value = (x[k] - sum_of_lanes(total)) / element(numbers, k * step * WIDTH + column)
        set_element(solution, column, value)
