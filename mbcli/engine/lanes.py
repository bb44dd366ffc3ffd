"""A scalar of eight doubles in one vector register, so that a kernel works on eight states at once.

To numba it is one more number type: its value is the LLVM vector <8 x double>, its arithmetic is that of every lane by
itself, and a float or an integer that meets it is copied into all lanes. Kernels compile for Data over arrays of lanes
from the same source. Where the machine's registers are narrower, the compiler takes several for one scalar.

What happens in a lane depends on that lane alone and on code that is the same for all, so a state has the same result,
to the last bit, whichever lane and group it falls into. That is why angles too large for the polynomials of sine and
cosine are seen to lane by lane, after the polynomials ran in all.

Memory of lanes is float64 with a last axis of WIDTH. Arrays of lanes are declared unaligned, so no address can fault;
LaneData puts them on whole cache lines, where loads and stores are fastest. Imported only where batches are evaluated.
"""

import functools
import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, lower_builtin, lower_cast, lower_getattr
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic, models, overload, register_jitable, register_model
from numba.np.arrayobj import populate_array

from mbcli.engine import batch, trigonometry
from mbcli.engine.fields import DATA_FIELDS
from mbcli.engine.jit import cached_njit, compile_kernels
from mbcli.engine.joints import curvilinear
from mbcli.engine.joints.curvilinear import SEGMENT_SIZE, START, segment_at
from mbcli.engine.model import Data
from mbcli.engine.structs import DataStruct
from mbcli.engine.trigonometry import LARGEST, by_library, by_polynomials, largest_magnitude

WIDTH = 8
ALIGNMENT = 64  # [bytes]: a cache line, and one register of AVX-512
GAP = 5  # [cache lines] between fields, so that their rows for one body do not compete for a place in the cache
INT32, INTP = ir.IntType(32), ir.IntType(64)
VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
NUMBERS = (types.Float, types.Integer)


class LanesType(types.Type):
    def __init__(self):
        super().__init__(name=f"f64x{WIDTH}")

    def can_convert_from(self, typingctx, other):
        return Conversion.promote if isinstance(other, NUMBERS) else None


f64x8 = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, VECTOR)


@lower_cast(types.Float, LanesType)
@lower_cast(types.Integer, LanesType)
def number_to_lanes(context, builder, fromty, toty, value):
    """The same number in every lane."""
    number = context.cast(builder, value, fromty, types.float64)
    empty = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(empty, number, INT32(0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(INT32, WIDTH), [0] * WIDTH))


# ------------------------------------------------------------------------------------------- arithmetic


def _binary(operation, instruction):
    @infer_global(operation)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if f64x8 in args and all(a == f64x8 or isinstance(a, NUMBERS) for a in args):
                return signature(f64x8, f64x8, f64x8)
            return None

    @lower_builtin(operation, f64x8, f64x8)
    def lower(context, builder, sig, args):
        return getattr(builder, instruction)(*args)


for _operations, _instruction in (
    ((operator.add, operator.iadd), "fadd"),
    ((operator.sub, operator.isub), "fsub"),
    ((operator.mul, operator.imul), "fmul"),
    ((operator.truediv, operator.itruediv), "fdiv"),
):
    for _operation in _operations:
        _binary(_operation, _instruction)


@infer_global(operator.neg)
class _Negative(AbstractTemplate):
    def generic(self, args, kws):
        return signature(f64x8, f64x8) if args == (f64x8,) else None


@lower_builtin(operator.neg, f64x8)
def _negative(context, builder, sig, args):
    return builder.fneg(args[0])


@infer_getattr
class _Attributes(AttributeTemplate):
    key = LanesType

    def resolve_real(self, lanes):
        return f64x8


@lower_getattr(LanesType, "real")
def _real(context, builder, typ, value):
    return value


def _llvm_function(builder, name):
    """LLVM's own function of one vector."""
    return builder.module.declare_intrinsic(f"llvm.{name}.v{WIDTH}f64", (), ir.FunctionType(VECTOR, [VECTOR]))


def _by_instruction(function, name):
    """A function of numpy for which registers have an instruction."""

    @intrinsic
    def call(typingctx, x):
        def codegen(context, builder, sig, args):
            return builder.call(_llvm_function(builder, name), args)

        return f64x8(f64x8), codegen

    @overload(function)
    def of_lanes(x):
        return (lambda x: call(x)) if x == f64x8 else None


for _function, _name in ((np.rint, "rint"), (np.floor, "floor"), (np.sqrt, "sqrt")):
    _by_instruction(_function, _name)


@intrinsic
def any_reaches(typingctx, x, limit):
    """Whether the magnitude in some lane is not below limit; NaN is below."""

    def codegen(context, builder, sig, args):
        magnitude = builder.call(_llvm_function(builder, "fabs"), [args[0]])
        mask = builder.fcmp_ordered(">=", magnitude, args[1])
        bits = builder.bitcast(mask, ir.IntType(WIDTH))
        return builder.icmp_unsigned("!=", bits, ir.IntType(WIDTH)(0))

    return types.boolean(f64x8, f64x8), codegen


@intrinsic
def lane_value(typingctx, x, lane):
    """The number in one lane."""

    def codegen(context, builder, sig, args):
        return builder.extract_element(*args)

    return types.float64(f64x8, types.intp), codegen


@intrinsic
def with_lane(typingctx, x, lane, number):
    """x with another number in one lane."""

    def codegen(context, builder, sig, args):
        return builder.insert_element(args[0], args[2], args[1])

    return f64x8(f64x8, types.intp, types.float64), codegen


def _lane_by_lane(function):
    """A function of numpy that the library computes for one number at a time."""

    def each(x):
        result = x
        for lane in range(WIDTH):
            result = with_lane(result, lane, function(lane_value(x, lane)))
        return result

    @overload(function)
    def of_lanes(x):
        return each if x == f64x8 else None


for _function in (np.sin, np.cos, np.tanh, np.arctan):
    _lane_by_lane(_function)


@overload(np.arctan2)
def _arctan2(y, x):
    def each(y, x):
        result = y
        for lane in range(WIDTH):
            result = with_lane(result, lane, np.arctan2(lane_value(y, lane), lane_value(x, lane)))
        return result

    return each if x == y == f64x8 else None


@overload(np.copysign)
def _copysign(size, x):
    def each(size, x):
        result = x
        for lane in range(WIDTH):
            result = with_lane(result, lane, np.copysign(size, lane_value(x, lane)))
        return result

    return each if isinstance(size, types.Float) and x == f64x8 else None


# ------------------------------------------------------------------------------- views of the same memory


def lanes_array(ndim):
    """The type of arrays of lanes; unaligned as far as the compiler knows."""
    return types.Array(f64x8, ndim, "C", aligned=False)


def _view(context, builder, source, value, target, data, shape, strides, itemsize):
    """An array of the target type over the memory of another."""
    array = context.make_array(source)(context, builder, value)
    result = context.make_array(target)(context, builder)
    pointer = builder.bitcast(data, context.get_data_type(target.dtype).as_pointer())
    populate_array(
        result,
        data=pointer,
        shape=shape,
        strides=strides,
        itemsize=context.get_constant(types.intp, itemsize),
        meminfo=array.meminfo,
        parent=array.parent,
    )
    return result._getvalue()


def _as_lanes(context, builder, source, value):
    array = context.make_array(source)(context, builder, value)
    shape = cgutils.unpack_tuple(builder, array.shape)[:-1]
    strides = cgutils.unpack_tuple(builder, array.strides)[:-1]
    target = lanes_array(source.ndim - 1)
    return _view(context, builder, source, value, target, array.data, shape, strides, 8 * WIDTH)


@intrinsic
def as_lanes(typingctx, arrays):
    """A tuple of C-contiguous float64 arrays (..., WIDTH) as arrays of lanes (...)."""
    targets = types.Tuple([lanes_array(a.ndim - 1) for a in arrays])

    def codegen(context, builder, sig, args):
        values = [
            _as_lanes(context, builder, source, builder.extract_value(args[0], k))
            for k, source in enumerate(sig.args[0])
        ]
        result = context.make_tuple(builder, sig.return_type, values)
        return impl_ret_borrowed(context, builder, sig.return_type, result)

    return targets(arrays), codegen


@intrinsic
def as_doubles(typingctx, x):
    """An array of n lanes, contiguous or with one axis, as float64 (n, WIDTH)."""
    target = types.Array(types.float64, 2, "C")

    def codegen(context, builder, sig, args):
        array = context.make_array(sig.args[0])(context, builder, args[0])
        shape = array.nitems, context.get_constant(types.intp, WIDTH)
        strides = cgutils.unpack_tuple(builder, array.strides)[-1], context.get_constant(types.intp, 8)
        result = _view(context, builder, sig.args[0], args[0], target, array.data, shape, strides, 8)
        return impl_ret_borrowed(context, builder, sig.return_type, result)

    return target(x), codegen


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
        numbers[SEGMENT_SIZE * c + START, lane] += laps * periods[c]


@register_jitable
def whole_squares(rows, k):
    """How many columns, from the first on, go by squares of WIDTH rows from k on."""
    return rows.shape[1] // WIDTH * WIDTH if k + WIDTH <= rows.shape[0] else 0


def put_number(x, rows, k, i):
    """The lanes of one scalar -> element i of rows from k on, as many as there are."""
    for lane in range(min(WIDTH, rows.shape[0] - k)):
        rows[k + lane, i] = lane_value(x, lane)


@functools.cache
def load_lane_kernels():
    """All kernels by name, for Data of lanes."""
    return compile_kernels(
        {
            trigonometry.sine_and_cosine: sine_and_cosine,
            curvilinear.take_segment: take_segment,
            batch.states_at_once: states_at_once,
            batch.take: take,
            batch.put: put,
            batch.put_table: put,
            batch.put_number: put_number,
        }
    )


# ------------------------------------------------------------------------------------------------- Data


def aligned_zeros(count):
    """Zeros (count, WIDTH), each row on one cache line."""
    buffer = np.zeros(WIDTH * count + ALIGNMENT // 8)
    start = -buffer.ctypes.data % ALIGNMENT // 8
    return buffer[start : start + WIDTH * count].reshape(count, WIDTH)


@cached_njit
def make_lane_data(arrays):
    return DataStruct(*as_lanes(arrays))


class LaneData:
    """As Data for WIDTH states at once: each attribute has a last axis of WIDTH. `handle` is what kernels take."""

    def __init__(self, sizes):
        one = Data(sizes)
        memory = aligned_zeros(sum(getattr(one, field.name).size + GAP for field in DATA_FIELDS))
        start = 0
        for field in DATA_FIELDS:
            initial = getattr(one, field.name)
            array = memory[start : start + initial.size].reshape(*initial.shape, WIDTH)
            array[...] = initial[..., np.newaxis]
            setattr(self, field.name, array)
            start += initial.size + GAP
        self.handle = make_lane_data(tuple(getattr(self, field.name) for field in DATA_FIELDS))
