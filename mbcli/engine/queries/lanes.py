"""A scalar of eight doubles in one vector register, so that a kernel works on eight states at once.

To numba it is one more number type (lane_type.py). Kernels compile for Data over arrays of lanes from the same source.

What happens in a lane depends on that lane alone and on code that is the same for all, so a state has the same result,
to the last bit, whichever lane and group it falls into. That is why angles too large for the polynomials of sine and
cosine are seen to lane by lane, after the polynomials ran in all.

Imported only if batches are compiled.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

from mbcli.engine.constraints.constraint_errors import OPPOSITE
from mbcli.engine.fields.model_fields import SEGMENT_SIZE, SEGMENT_START
from mbcli.engine.runtime.lane_memory import WIDTH, where_at_most, where_positive
from mbcli.engine.runtime.lane_type import INT32, INTP, VECTOR, any_reaches, as_doubles, lane_value
from mbcli.engine.runtime.numba_parts import cgutils
from mbcli.engine.smooth.joints.curvilinear import segment_at
from mbcli.engine.smooth.trigonometry import (
    LARGEST,
    by_library,
    by_polynomials,
    largest_magnitude,
    sign_of,
    square_root,
)


@intrinsic
def move_square(typingctx, source, i, j, target, k, l):
    """target[k + b, l + a] = source[i + a, j + b] for a, b below WIDTH, of C-contiguous float64 arrays (m, n)."""

    def address(context, builder, array, row, column, step):
        start = builder.add(
            builder.mul(builder.add(row, INTP(step)), cgutils.unpack_tuple(builder, array.shape)[1]), column
        )
        return builder.bitcast(builder.gep(array.data, [start]), VECTOR.as_pointer())

    def codegen(context, builder, sig, args):
        source, target = (context.make_array(sig.args[n])(context, builder, args[n]) for n in (0, 3))
        rows = [builder.load(address(context, builder, source, args[1], args[2], a), align=8) for a in range(WIDTH)]
        for b, column in enumerate(_transposed(builder, rows)):
            builder.store(column, address(context, builder, target, args[4], args[5], b), align=8)
        return context.get_dummy_value()

    return types.void(source, types.intp, types.intp, target, types.intp, types.intp), codegen


def _transposed(builder, rows):
    """The columns of a square matrix of WIDTH vectors: blocks of 1, 2, 4 change places across the diagonal."""
    for size in (1, 2, 4):
        pick = [[], []]
        for n in range(WIDTH):
            side = n & size
            pick[0].append(n if not side else n - size + WIDTH)
            pick[1].append(n + size if not side else n + WIDTH)
        upper, lower = (ir.Constant(ir.VectorType(INT32, WIDTH), p) for p in pick)
        moved = list(rows)
        for n in range(WIDTH):
            if not n & size:
                moved[n] = builder.shuffle_vector(rows[n], rows[n + size], upper)
                moved[n + size] = builder.shuffle_vector(rows[n], rows[n + size], lower)
        rows = moved
    return rows


# ------------------------------------------------ what lanes do otherwise than scalars of one state


def sine_and_cosine(x, sine, cosine):
    """As trigonometry.sine_and_cosine; a state with a large angle is computed again by the library."""
    by_polynomials(x, sine, cosine)
    large = False
    for i in range(x.shape[0]):
        large |= any_reaches(x[i], LARGEST)
    if large:
        angles, sines, cosines = as_doubles(x), as_doubles(sine), as_doubles(cosine)
        for lane in range(WIDTH):
            if largest_magnitude(angles[:, lane]) >= LARGEST:
                by_library(angles[:, lane], sines[:, lane], cosines[:, lane])


def states_at_once(x):
    return WIDTH


def take(rows, k, x):
    """Rows k to k + WIDTH - 1 -> the lanes of x; past the end, the last row again."""
    X, last = as_doubles(x), rows.shape[0] - 1
    squares = whole_squares(rows, k)
    for i in range(0, squares, WIDTH):
        move_square(rows, k, i, X, i, 0)
    for lane in range(WIDTH):
        row = min(k + lane, last)
        for i in range(squares, rows.shape[1]):
            X[i, lane] = rows[row, i]


def put(x, rows, k):
    """The lanes of x -> rows from k on, as many as there are."""
    X = as_doubles(x)
    squares = whole_squares(rows, k)
    for i in range(0, squares, WIDTH):
        move_square(X, i, 0, rows, k, i)
    for lane in range(min(WIDTH, rows.shape[0] - k)):
        for i in range(squares, rows.shape[1]):
            rows[k + lane, i] = X[i, lane]


def take_segment(segments, curves, periods, c, q, i, chosen):
    """As joints.curvilinear.take_segment: each lane has a segment of its own."""
    distances, numbers = as_doubles(q), as_doubles(chosen)
    for lane in range(WIDTH):
        k, laps = segment_at(segments, curves, c, periods[c], distances[i, lane])
        for j in range(SEGMENT_SIZE):
            numbers[SEGMENT_SIZE * c + j, lane] = segments[k, j]
        numbers[SEGMENT_SIZE * c + SEGMENT_START, lane] += laps * periods[c]


@register_jitable
def whole_squares(rows, k):
    """How many columns, from the first on, go by squares of WIDTH rows from k on."""
    return rows.shape[1] // WIDTH * WIDTH if k + WIDTH <= rows.shape[0] else 0


def number_in(x, i, lane):
    return as_doubles(x)[i, lane]


def set_number_in(x, i, lane, number):
    as_doubles(x)[i, lane] = number


def put_number(x, rows, k, i):
    """The lanes of one scalar -> element i of rows from k on, as many as there are."""
    for lane in range(min(WIDTH, rows.shape[0] - k)):
        rows[k + lane, i] = lane_value(x, lane)


def larger_of(a, b):
    return where_positive(b - a, b, a)


def root_of_pivot(pivot, least, tolerance, inverse_before):
    """As constraint_system.root_of_pivot, with a tolerance that is not negative."""
    root, zero = square_root(pivot), 0.0 * least
    return where_at_most(pivot, least, zero, root), where_at_most(pivot, least, zero, 1.0 / root)


def rotation_quaternion(x, y, z):
    """As constraint_errors.rotation_quaternion, each lane by the largest of its own elements."""
    trace = x[0] + y[1] + z[2]
    p, q, r = y[2] - z[1], z[0] - x[2], x[1] - y[0]
    no = 0.0 * trace
    yes = no + 1.0
    by_x = where_at_most(x[0], trace, no, where_at_most(y[1], x[0], where_at_most(z[2], x[0], yes, no), no))
    by_y = where_at_most(y[1], trace, no, where_at_most(z[2], y[1], yes, no))
    w, u = 1.0 + trace, (p, q, r)
    along = z[0] + x[2], z[1] + y[2], 1.0 + 2.0 * z[2] - trace
    w, u = where_at_most(z[2], trace, w, r), where_vector(yes - where_at_most(z[2], trace, yes, no), along, u)
    along = x[1] + y[0], 1.0 + 2.0 * y[1] - trace, y[2] + z[1]
    w, u = where_positive(by_y, q, w), where_vector(by_y, along, u)
    along = 1.0 + 2.0 * x[0] - trace, x[1] + y[0], x[2] + z[0]
    w, u = where_positive(by_x, p, w), where_vector(by_x, along, u)
    s = sign_of(w) / square_root(w * w + u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    return s * w, (s * u[0], s * u[1], s * u[2])


@register_jitable
def where_vector(x, a, b):
    """where_positive() of vectors."""
    return where_positive(x, a[0], b[0]), where_positive(x, a[1], b[1]), where_positive(x, a[2], b[2])


def half_way(c, d):
    """As constraint_errors.half_way, each lane by itself."""
    total = (c[0] + d[0], c[1] + d[1], c[2] + d[2])
    normal, other = (c[1], -c[0], 0.0 * c[2]), (0.0 * c[0], c[2], -c[1])
    square = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]
    normal = where_vector(0.4 - square, other, normal)
    square = total[0] * total[0] + total[1] * total[1] + total[2] * total[2]
    total = where_vector(OPPOSITE * OPPOSITE - square, normal, total)
    per_length = 1.0 / square_root(total[0] * total[0] + total[1] * total[1] + total[2] * total[2])
    return (per_length * total[0], per_length * total[1], per_length * total[2]), per_length
