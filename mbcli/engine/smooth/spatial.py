"""Vectors of three numbers as tuples, which the compiler keeps in registers, and rows of arrays as such vectors.

A pose is a row of 12 numbers: the rotation matrix row by row, then the translation.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.trigonometry import square_root


@kernel
def row3(A, i, k):
    """Elements k, k+1, k+2 of row i."""
    return (A[i, k], A[i, k + 1], A[i, k + 2])


@kernel
def set_row3(A, i, k, a):
    A[i, k] = a[0]
    A[i, k + 1] = a[1]
    A[i, k + 2] = a[2]


@kernel
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def subtract(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale(s, a):
    return (s * a[0], s * a[1], s * a[2])


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def rotate(X, i, a):
    """R a, with R the rotation of pose row i."""
    return (
        X[i, 0] * a[0] + X[i, 1] * a[1] + X[i, 2] * a[2],
        X[i, 3] * a[0] + X[i, 4] * a[1] + X[i, 5] * a[2],
        X[i, 6] * a[0] + X[i, 7] * a[1] + X[i, 8] * a[2],
    )


@kernel
def clear_rows(A, first, count):
    """Rows of 6 numbers from the first on become 0."""
    for j in range(count):
        for k in range(6):
            A[first + j, k] = 0.0


@kernel
def set_unit_rows(A, first, count):
    """Rows of 6 numbers from the first on become the unit vectors, in order."""
    clear_rows(A, first, count)
    for j in range(count):
        A[first + j, j] = 1.0


@kernel
def set_axes(X, i, x, y, z):
    """The rotation of pose row i becomes the one with columns x, y, z."""
    for k in range(3):
        X[i, 3 * k] = x[k]
        X[i, 3 * k + 1] = y[k]
        X[i, 3 * k + 2] = z[k]


@kernel
def symmetric_times(A, i, k, a):
    """S a, with S the symmetric matrix stored as xx, yy, zz, xy, xz, yz from column k of row i."""
    return (
        A[i, k] * a[0] + A[i, k + 3] * a[1] + A[i, k + 4] * a[2],
        A[i, k + 3] * a[0] + A[i, k + 1] * a[1] + A[i, k + 5] * a[2],
        A[i, k + 4] * a[0] + A[i, k + 5] * a[1] + A[i, k + 2] * a[2],
    )


@kernel
def add_row6(A, i, j):
    """A[i] += A[j] for rows of 6 numbers."""
    a, b = row3(A, j, 0), row3(A, j, 3)
    set_row3(A, i, 0, add(row3(A, i, 0), a))
    set_row3(A, i, 3, add(row3(A, i, 3), b))


@kernel
def tangent_of(n):
    """A unit vector across the unit vector n: the axis that is most across it, made so."""
    x, y, z = abs(n[0]), abs(n[1]), abs(n[2])
    if x <= y and x <= z:
        t = cross(n, (1.0, 0.0, 0.0))
    elif y <= z:
        t = cross(n, (0.0, 1.0, 0.0))
    else:
        t = cross(n, (0.0, 0.0, 1.0))
    return scale(1.0 / square_root(dot(t, t)), t)
