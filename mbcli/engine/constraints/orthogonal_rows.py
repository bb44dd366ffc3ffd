"""The singular value decomposition of small matrices, row by row: A = U S V^T.

Rows are turned in pairs until all are orthogonal (one-sided Jacobi: Hestenes 1958; Golub and Van Loan 2013, section
8.6.3): U^T A = S V^T, to full relative accuracy. Interpreted, LAPACK does it.
"""

from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.trigonometry import sign_of, square_root

MOST_SWEEPS = 40  # six to ten are needed
ORTHOGONAL = 1e-15  # cosine of the angle between rows that need no turn
NEGLIGIBLE = 1e-14  # length of a row, relative to the longest, whose direction is rounding


@slot(python=INJECTED)
def orthogonalize_rows(rows, turned_by, lengths, m, n):
    """Turns the first m rows, of n numbers each, until they are orthogonal.

    -> turned_by U^T (m, m), by which they were turned, and their lengths, not in order.
    """
    for i in range(m):
        for j in range(m):
            turned_by[i, j] = 0.0
        turned_by[i, i] = 1.0
    turns = 1
    for _ in range(MOST_SWEEPS):
        if turns == 0:
            break
        least = least_square(rows, lengths, m, n)
        turns = 0
        for i in range(m - 1):
            for j in range(i + 1, m):
                if turn_rows(rows, turned_by, i, j, m, n, least):
                    turns += 1
    least_square(rows, lengths, m, n)
    for i in range(m):
        lengths[i] = square_root(lengths[i])


@kernel
def least_square(rows, squares, m, n):
    """Squared lengths of rows; returns that below which a row is negligible."""
    largest = 0.0
    for i in range(m):
        squares[i] = 0.0
        for k in range(n):
            squares[i] += rows[i, k] * rows[i, k]
        largest = max(largest, squares[i])
    return NEGLIGIBLE * NEGLIGIBLE * largest


@kernel
def turn_rows(rows, turned_by, i, j, m, n, least):
    """Turns rows i and j until they are orthogonal; returns whether they were not, and are not negligible."""
    a, b, c = 0.0, 0.0, 0.0
    for k in range(n):
        a += rows[i, k] * rows[i, k]
        b += rows[j, k] * rows[j, k]
        c += rows[i, k] * rows[j, k]
    if not (a > least and b > least and abs(c) > ORTHOGONAL * square_root(a * b)):
        return False
    zeta = (b - a) / (2.0 * c)
    t = sign_of(zeta) / (abs(zeta) + square_root(1.0 + zeta * zeta))
    cosine = 1.0 / square_root(1.0 + t * t)
    sine = cosine * t
    for k in range(n):
        x, y = rows[i, k], rows[j, k]
        rows[i, k], rows[j, k] = cosine * x - sine * y, sine * x + cosine * y
    for k in range(m):
        x, y = turned_by[i, k], turned_by[j, k]
        turned_by[i, k], turned_by[j, k] = cosine * x - sine * y, sine * x + cosine * y
    return True


@slot(python=INJECTED)
def complete_rows(basis, rank, n):
    """The first `rank` rows of basis (n, n) are orthonormal -> all are.

    Each further row is what is left of the axis that the rows before come least near to.
    """
    for count in range(rank, n):
        axis, most = 0, -1.0
        for k in range(n):
            rest = 1.0
            for i in range(count):
                rest -= basis[i, k] * basis[i, k]
            if rest > most:
                axis, most = k, rest
        for k in range(n):
            basis[count, k] = 0.0
        basis[count, axis] = 1.0
        for _ in range(2):  # the second time takes rounding away
            remove_components(basis, count, n)


@kernel
def remove_components(basis, count, n):
    """Takes the components along the rows before out of row `count`, and makes its length 1."""
    for i in range(count):
        c = 0.0
        for k in range(n):
            c += basis[i, k] * basis[count, k]
        for k in range(n):
            basis[count, k] -= c * basis[i, k]
    square = 0.0
    for k in range(n):
        square += basis[count, k] * basis[count, k]
    per_length = 1.0 / square_root(square)
    for k in range(n):
        basis[count, k] *= per_length
