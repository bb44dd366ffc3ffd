"""The dense systems of constrained dynamics, [H G^T; G 0] [x; -y] = [c; gamma], by Householder reflections.

As LAPACK would do it for tens of unknowns, in one call and by registers: a panel has the rows of a matrix, each `step`
registers wide, and behind its columns right-hand sides that are carried along. Four more rows follow: squares of
columns, factors of reflections, which columns are still open, and a solution.

A solution is written only where the answer is 0. UNCLEAR: a pivot is so small that the rank is in doubt, or H is not
positive definite where it has to be; LAPACK's slower decompositions decide.
"""

from mbcli.engine.fields.assembly_fields import SPARE_ROWS
from mbcli.engine.runtime.kernel import Indices, Matrix, Vector, entry, kernel
from mbcli.engine.runtime.lane_memory import (
    WIDTH,
    add_product,
    element,
    lanes_of,
    set_element,
    subtract_product,
    sum_of_lanes,
)
from mbcli.engine.smooth.trigonometry import sign_of, square_root

UNCLEAR = 1  # answer but for 0
CLEAR = 1e-6  # of the diagonal of R, relative to its largest element: a rank that nobody takes for a smaller one
SINGULAR = 1e-13  # the same of a square matrix that counts as singular
INDEFINITE = 1e-13  # of a pivot, relative to its diagonal
SQUARES, FACTORS, OPEN, SOLUTION = range(4)  # the rows behind those of the matrix
CONSISTENT = 1e-9  # relative to the size of its terms: what wanted accelerations may miss gamma by
LEAST, LARGEST = 1e-300, 1e300


@kernel
def registers_of_row(columns):
    return (columns + WIDTH - 1) // WIDTH


@kernel
def clear_panel(panel, rows, step):
    for k in range((rows + SPARE_ROWS) * step * WIDTH):
        panel[k] = 0.0


@kernel
def triangularize(panel, order, rows, columns, step):
    """The first columns of a panel = Q R P^T by column pivoting -> R, below it the reflections of Q; Q^T of the rest.

    order: the place that each column of R had. Golub and Van Loan 2013, algorithm 5.4.1; squares of columns are summed
    anew at each column, so that none is lost to cancellation. Returns the smallest diagonal element of R relative to
    the largest one.
    """
    lanes, width = lanes_of(panel), WIDTH * step
    squares, factors, still_open = (rows + SQUARES) * width, (rows + FACTORS) * width, (rows + OPEN) * step
    for c in range(step):
        total = 0.0 * element(lanes, c)
        for i in range(rows):
            a = element(lanes, i * step + c)
            total = add_product(total, a, a)
        set_element(lanes, (rows + SQUARES) * step + c, total)
    for j in range(width):
        panel[still_open * WIDTH + j] = 1.0
    for j in range(columns):
        order[j] = j
    smallest, largest = 0.0, 0.0
    for k in range(columns):
        best, most = k, panel[squares + k]
        for j in range(k + 1, columns):
            square = element(panel, squares + j)
            if square > most:
                best, most = j, square
        if best != k:
            exchange_columns(panel, order, rows, step, k, best)
        length = reflect_column(panel, rows, step, k)
        if k == 0:
            smallest, largest = length, length
        smallest, largest = min(smallest, length), max(largest, length)
        panel[still_open * WIDTH + k] = 0.0
        factor = panel[factors + k]
        for c in range(k // WIDTH, step):
            reflect_register(panel, lanes, rows, step, k, c, factor)
    return smallest / largest if largest > LEAST else 0.0


@kernel
def exchange_columns(panel, order, rows, step, a, b):
    width = WIDTH * step
    for i in range(rows + 1):  # and their squares
        kept = element(panel, i * width + a)
        set_element(panel, i * width + a, element(panel, i * width + b))
        set_element(panel, i * width + b, kept)
    kept_place = order[a]
    order[a] = order[b]
    order[b] = kept_place


@kernel
def reflect_column(panel, rows, step, k):
    """Column k from row k on becomes the diagonal of R and the reflection, whose first number 1 is left out.

    Returns the size of the diagonal element.
    """
    width = WIDTH * step
    head, square = panel[k * width + k], 0.0
    for i in range(k + 1, rows):
        a = element(panel, i * width + k)
        square += a * a
    length = square_root(head * head + square)
    if not length > LEAST:
        panel[(rows + FACTORS) * width + k] = 0.0
        return 0.0
    diagonal = -sign_of(head) * length
    per_head = 1.0 / (head - diagonal)
    for i in range(k + 1, rows):
        set_element(panel, i * width + k, per_head * element(panel, i * width + k))
    panel[k * width + k] = diagonal
    panel[(rows + FACTORS) * width + k] = (diagonal - head) / diagonal
    return length


@kernel
def reflect_register(panel, lanes, rows, step, k, c, factor):
    """Applies reflection k to the columns of register c that are still open; -> their squares below row k."""
    width = WIDTH * step
    first = element(lanes, k * step + c)
    even, odd = 1.0 * first, 0.0 * first
    i = k + 1
    while i + 1 < rows:
        even = add_product(even, element(lanes, i * step + c), element(panel, i * width + k))
        odd = add_product(odd, element(lanes, (i + 1) * step + c), element(panel, (i + 1) * width + k))
        i += 2
    if i < rows:
        even = add_product(even, element(lanes, i * step + c), element(panel, i * width + k))
    along = factor * ((even + odd) * element(lanes, (rows + OPEN) * step + c))
    set_element(lanes, k * step + c, first - along)
    even, odd = 0.0 * first, 0.0 * first
    i = k + 1
    while i + 1 < rows:
        a = subtract_product(element(lanes, i * step + c), along, element(panel, i * width + k))
        b = subtract_product(element(lanes, (i + 1) * step + c), along, element(panel, (i + 1) * width + k))
        set_element(lanes, i * step + c, a)
        set_element(lanes, (i + 1) * step + c, b)
        even, odd = add_product(even, a, a), add_product(odd, b, b)
        i += 2
    if i < rows:
        a = subtract_product(element(lanes, i * step + c), along, element(panel, i * width + k))
        set_element(lanes, i * step + c, a)
        even = add_product(even, a, a)
    set_element(lanes, (rows + SQUARES) * step + c, even + odd)


@kernel
def solve_upper(panel, rows, columns, step, side):
    """R z = column `side` of the first rows -> row SOLUTION, with zeros behind z."""
    lanes, width, solution = lanes_of(panel), WIDTH * step, rows + SOLUTION
    for j in range(width):
        panel[solution * width + j] = 0.0
    for k in range(columns - 1, -1, -1):
        first = k // WIDTH
        total = element(lanes, k * step + first) * element(lanes, solution * step + first)
        for c in range(first + 1, registers_of_row(columns)):
            total = add_product(total, element(lanes, k * step + c), element(lanes, solution * step + c))
        rest = panel[k * width + side] - sum_of_lanes(total)
        panel[solution * width + k] = rest / panel[k * width + k]


@kernel
def solve_transposed_upper(panel, order, columns, step, b, first, z):
    """R^T z = P^T b, which is in a vector from `first` on -> the first numbers of z."""
    width = WIDTH * step
    for k in range(columns):
        rest = b[first + order[k]]
        for j in range(k):
            rest -= panel[j * width + k] * z[j]
        z[k] = rest / panel[k * width + k]


@kernel
def turn_back(panel, rows, columns, step, x):
    """x (rows,) = Q x."""
    width = WIDTH * step
    for k in range(columns - 1, -1, -1):
        total = x[k]
        for i in range(k + 1, rows):
            total += element(panel, i * width + k) * element(x, i)
        total *= panel[(rows + FACTORS) * width + k]
        x[k] -= total
        for i in range(k + 1, rows):
            set_element(x, i, element(x, i) - total * element(panel, i * width + k))


@entry
def solve_directly(H: Matrix, G: Matrix, c: Vector, gamma: Vector, panel: Vector, order: Indices, x: Vector, y: Vector):
    """All unknowns at once, by column pivoting of the matrix with rows and columns of about one length."""
    n, m = c.shape[0], gamma.shape[0]
    size = n + m
    step = registers_of_row(size + 1)
    width, lanes = WIDTH * step, lanes_of(panel)
    clear_panel(panel, size, step)
    for i in range(n):
        for j in range(n):
            panel[i * width + j] = H[i, j]
        panel[i * width + size] = c[i]
    for i in range(m):
        for j in range(n):
            panel[(n + i) * width + j] = G[i, j]
            panel[j * width + n + i] = G[i, j]
        panel[(n + i) * width + size] = gamma[i]
    scales = size + SOLUTION
    for i in range(size):
        total = 0.0
        for j in range(size):
            total = max(total, abs(element(panel, i * width + j)))
        panel[scales * width + i] = 1.0 / square_root(max(total, LEAST))
    panel[scales * width + size] = 1.0
    for i in range(size):
        scale = panel[scales * width + i]
        for k in range(step):
            place = i * step + k
            set_element(lanes, place, scale * (element(lanes, place) * element(lanes, scales * step + k)))
    for i in range(n):
        x[i] = panel[scales * width + i]
    for i in range(m):
        y[i] = panel[scales * width + n + i]
    if not triangularize(panel, order, size, size, step) > SINGULAR:
        return UNCLEAR
    solve_upper(panel, size, size, step, size)
    for k in range(size):
        z = panel[(size + SOLUTION) * width + k]
        if order[k] < n:
            x[order[k]] *= z
        else:
            y[order[k] - n] *= -z
    return 0


@entry
def solve_in_null_space(
    H: Matrix, G: Matrix, c: Vector, gamma: Vector, panel: Vector, order: Indices, x: Vector, y: Vector
):
    """First x = Q [a; z] with G^T = Q [R; 0] P^T: a from G x = gamma, z from the equations of motion; then y."""
    n, m = c.shape[0], gamma.shape[0]
    base = WIDTH * registers_of_row(m)  # H has registers of its own, so that its elimination spares reflections
    side, step = base + n, registers_of_row(base + n + 1)
    width, lanes = WIDTH * step, lanes_of(panel)
    if m > n:
        return UNCLEAR
    clear_panel(panel, n, step)
    for i in range(n):
        for j in range(m):
            panel[i * width + j] = G[j, i]
        for j in range(n):
            panel[i * width + base + j] = H[i, j]
        panel[i * width + side] = c[i]
    if m > 0 and not triangularize(panel, order, n, m, step) > CLEAR:
        return UNCLEAR
    for k in range(n):
        x[k] = 0.0
    solve_transposed_upper(panel, order, m, step, gamma, 0, x)
    for k in range(m):
        y[k] = x[k]
    turn_back(panel, n, m, step, x)
    set_solution(panel, n, base, step, x)
    for i in range(m, n):
        panel[i * width + side] -= row_times_solution(lanes, n, step, i, 0)
    for k in range(m):
        turn_rows_of_null_space(panel, lanes, n, m, base, step, k)
    if not eliminate_null_space(panel, lanes, n, m, base, step):
        return UNCLEAR
    for k in range(m):
        x[k] = y[k]
    for k in range(m, n):
        x[k] = panel[(n + SOLUTION) * width + base + k]
    turn_back(panel, n, m, step, x)
    set_solution(panel, n, base, step, x)
    for k in range(m):
        panel[k * width + side] = row_times_solution(lanes, n, step, k, 0) - panel[k * width + side]
    solve_upper(panel, n, m, step, side)
    for k in range(m):
        y[order[k]] = panel[(n + SOLUTION) * width + k]
    return 0


@kernel
def set_solution(panel, rows, columns, step, x):
    """Row SOLUTION becomes x behind so many columns of zeros."""
    start = (rows + SOLUTION) * WIDTH * step
    for j in range(WIDTH * step):
        panel[start + j] = 0.0
    for j in range(x.shape[0]):
        panel[start + columns + j] = x[j]


@kernel
def row_times_solution(lanes, rows, step, i, first):
    """Row i times row SOLUTION, from register `first` on."""
    solution = (rows + SOLUTION) * step
    total = element(lanes, i * step + first) * element(lanes, solution + first)
    for k in range(first + 1, step):
        total = add_product(total, element(lanes, i * step + k), element(lanes, solution + k))
    return sum_of_lanes(total)


@kernel
def turn_rows_of_null_space(panel, lanes, n, m, base, step, k):
    """Applies reflection k to the rows of the null space, from the right."""
    width, solution = WIDTH * step, n + SOLUTION
    for j in range(width):
        panel[solution * width + j] = 0.0
    panel[solution * width + base + k] = 1.0
    for j in range(k + 1, n):
        set_element(panel, solution * width + base + j, element(panel, j * width + k))
    factor, first = panel[(n + FACTORS) * width + k], (base + k) // WIDTH
    for i in range(m, n):
        along = factor * row_times_solution(lanes, n, step, i, first)
        for c in range(first, step):
            place = i * step + c
            set_element(
                lanes, place, subtract_product(element(lanes, place), element(lanes, solution * step + c), along)
            )


@kernel
def eliminate_null_space(panel, lanes, n, m, base, step):
    """Z^T H Z z = right-hand side -> row SOLUTION; returns whether the matrix is positive definite."""
    width, side, diagonals = WIDTH * step, base + n, (n + SQUARES) * WIDTH * step
    for p in range(m, n):
        panel[diagonals + p] = panel[p * width + base + p]
    for p in range(m, n):
        pivot = panel[p * width + base + p]
        if not pivot > INDEFINITE * panel[diagonals + p]:
            return False
        inverse = 1.0 / pivot
        for i in range(p + 1, n):
            factor = inverse * panel[i * width + base + p]
            for c in range((base + p) // WIDTH, step):
                place = i * step + c
                set_element(lanes, place, subtract_product(element(lanes, place), element(lanes, p * step + c), factor))
    solution = (n + SOLUTION) * width
    for j in range(width):
        panel[solution + j] = 0.0
    for p in range(n - 1, m - 1, -1):
        rest = panel[p * width + side] - row_times_solution(lanes, n, step, p, (base + p) // WIDTH)
        panel[solution + base + p] = rest / panel[p * width + base + p]
    return True


@entry
def find_shortest_change(G: Matrix, errors: Vector, weights: Vector, panel: Vector, order: Indices, x: Vector):
    """The x with G x = errors and the smallest sum of weights times squares; UNCLEAR if a weight is near zero, too."""
    n, m = x.shape[0], errors.shape[0]
    step = registers_of_row(m)
    width = WIDTH * step
    least, largest = LARGEST, 0.0
    for i in range(n):
        least, largest = min(least, weights[i]), max(largest, weights[i])
    if m > n or not least > CLEAR * largest:
        return UNCLEAR
    clear_panel(panel, n, step)
    for i in range(n):
        per_root = 1.0 / square_root(weights[i])
        for j in range(m):
            panel[i * width + j] = per_root * G[j, i]
        x[i] = 0.0
    if m == 0:
        return 0
    if not triangularize(panel, order, n, m, step) > CLEAR:
        return UNCLEAR
    solve_transposed_upper(panel, order, m, step, errors, 0, x)
    turn_back(panel, n, m, step, x)
    for i in range(n):
        x[i] /= square_root(weights[i])
    return 0


@entry
def find_actuation(
    H: Matrix,
    C: Vector,
    G: Matrix,
    gamma: Vector,
    free: Indices,
    panel: Vector,
    order: Indices,
    vdot: Vector,
    tau: Vector,
    force: Vector,
):
    """vdot with the wanted accelerations -> those of the `free` velocities, and tau which is zero there.

    Where the constraints determine these; UNCLEAR if the wanted accelerations contradict the constraints, too.
    """
    n, m, u = C.shape[0], gamma.shape[0], free.shape[0]
    side, step = u, registers_of_row(u + 1)
    width = WIDTH * step
    if u == 0 or u > m:
        return UNCLEAR
    clear_panel(panel, m, step)
    for k in range(u):
        vdot[free[k]] = 0.0
    square = 0.0
    for i in range(m):
        for k in range(u):
            panel[i * width + k] = G[i, free[k]]
        rest, size = gamma[i], abs(gamma[i])
        for j in range(n):
            along = element(vdot, j) * G[i, j]
            rest -= along
            size += abs(along)
        panel[i * width + side] = rest
        square += size * size
    if not triangularize(panel, order, m, u, step) > CLEAR:
        return UNCLEAR
    residual = 0.0
    for i in range(u, m):
        residual += panel[i * width + side] * panel[i * width + side]
    if not residual <= CONSISTENT * CONSISTENT * max(square, 1.0):
        return UNCLEAR
    solve_upper(panel, m, u, step, side)
    for k in range(u):
        vdot[free[order[k]]] = panel[(m + SOLUTION) * width + k]
    for j in range(n):
        tau[j] = C[j]
    for i in range(n):
        for j in range(n):
            tau[j] += vdot[i] * H[i, j]
    required = (m + SQUARES) * width
    for k in range(u):
        panel[required + k] = tau[free[k]]
    for i in range(m):
        force[i] = 0.0
    solve_transposed_upper(panel, order, u, step, panel, required, force)
    turn_back(panel, m, u, step, force)
    for i in range(m):
        for j in range(n):
            tau[j] -= G[i, j] * force[i]
    for k in range(u):
        tau[free[k]] = 0.0
    return 0
