"""A scalar of eight doubles in one vector register, as one more number type of numba.

Its value is the LLVM vector <8 x double>, its arithmetic is that of every lane by itself, and a float or an integer
that meets it is copied into all lanes. If the machine's registers are narrower, the compiler takes several for one
scalar. Memory of lanes is float64 with a last axis of WIDTH. Arrays of lanes are declared unaligned, so no address can
fault; on whole cache lines (aligned_zeros) loads and stores are fastest. Imported only if kernels are compiled.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_cast,
    lower_getattr,
    models,
    overload,
    register_model,
    type_callable,
)

from mbcli.engine.runtime.instructions import instructions_of
from mbcli.engine.runtime.lane_memory import (
    WIDTH,
    add_product,
    any_positive,
    element,
    lanes_of,
    set_element,
    subtract_product,
    sum_of_lanes,
    where_at_most,
    where_positive,
)
from mbcli.engine.runtime.numba_parts import (
    AbstractTemplate,
    AttributeTemplate,
    Conversion,
    arrayobj,
    cgutils,
    impl_ret_borrowed,
    infer_global,
    signature,
)

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


def _positive(builder, x):
    return builder.fcmp_ordered(">", x, ir.Constant(VECTOR, [0.0] * WIDTH))


@intrinsic
def _select_positive(typingctx, x, a, b):
    def codegen(context, builder, sig, args):
        return builder.select(_positive(builder, args[0]), args[1], args[2])

    return f64x8(f64x8, f64x8, f64x8), codegen


@overload(where_positive)
def _where_positive(x, a, b):
    return (lambda x, a, b: _select_positive(x, a, b)) if x == f64x8 else (lambda x, a, b: a if x > 0.0 else b)


@intrinsic
def _select_at_most(typingctx, x, limit, a, b):
    def codegen(context, builder, sig, args):
        return builder.select(builder.fcmp_ordered("<=", args[0], args[1]), args[2], args[3])

    return f64x8(f64x8, f64x8, f64x8, f64x8), codegen


@overload(where_at_most)
def _where_at_most(x, limit, a, b):
    return (lambda x, limit, a, b: _select_at_most(x, limit, a, b)) if x == f64x8 else None


@intrinsic
def _any_positive_lane(typingctx, x):
    def codegen(context, builder, sig, args):
        bits = builder.bitcast(_positive(builder, args[0]), ir.IntType(WIDTH))
        return builder.icmp_unsigned("!=", bits, ir.IntType(WIDTH)(0))

    return types.boolean(f64x8), codegen


@overload(any_positive)
def _any_positive(x):
    return (lambda x: _any_positive_lane(x)) if x == f64x8 else (lambda x: x > 0.0)


@intrinsic
def lane_value(typingctx, x, lane):
    """The number in one lane."""

    def codegen(context, builder, sig, args):
        return builder.extract_element(*args)

    return types.float64(f64x8, types.intp), codegen


@instructions_of(sum_of_lanes)
def _sum(typingctx, x):
    def codegen(context, builder, sig, args):
        vector, size = args[0], WIDTH
        while size > 1:  # halves onto each other
            size //= 2
            moved = [k + size if k < size else k for k in range(WIDTH)]
            shifted = builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(INT32, WIDTH), moved))
            vector = builder.fadd(vector, shifted)
        return builder.extract_element(vector, INT32(0))

    return (types.float64(f64x8), codegen) if x == f64x8 else None


def _fused(builder, a, b, total):
    name, kind = f"llvm.fma.v{WIDTH}f64", ir.FunctionType(VECTOR, [VECTOR] * 3)
    return builder.call(builder.module.declare_intrinsic(name, (), kind), [a, b, total])


@instructions_of(add_product)
def _add_product(typingctx, total, a, b):
    def codegen(context, builder, sig, args):
        return _fused(builder, args[1], args[2], args[0])

    return (f64x8(f64x8, f64x8, f64x8), codegen) if total == f64x8 else None


@instructions_of(subtract_product)
def _subtract_product(typingctx, total, a, b):
    def codegen(context, builder, sig, args):
        return _fused(builder, builder.fneg(args[1]), args[2], args[0])

    return (f64x8(f64x8, f64x8, f64x8), codegen) if total == f64x8 else None


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
    arrayobj.populate_array(
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


@type_callable(lanes_of)
def _type_of_lanes(context):
    return lambda vector: lanes_array(1)


@lower_builtin(lanes_of, types.Array)
def _lanes_of(context, builder, sig, args):
    array = context.make_array(sig.args[0])(context, builder, args[0])
    shape = (builder.sdiv(array.nitems, context.get_constant(types.intp, WIDTH)),)
    strides = (context.get_constant(types.intp, 8 * WIDTH),)
    result = _view(context, builder, sig.args[0], args[0], sig.return_type, array.data, shape, strides, 8 * WIDTH)
    return impl_ret_borrowed(context, builder, sig.return_type, result)


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


# -------------------------------------------------------------------------- elements without wraparound


def _pointer(context, builder, kind, array, k):
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [k])


@instructions_of(element)
def _load(typingctx, array, k):
    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, sig.args[0], *args)
        return builder.load(pointer, align=8)

    return (array.dtype(array, types.intp), codegen) if _is_flat(array) else None


@instructions_of(set_element)
def _store(typingctx, array, k, value):
    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, sig.args[0], *args[:2])
        builder.store(args[2], pointer, align=8)

    return (types.void(array, types.intp, array.dtype), codegen) if _is_flat(array) else None


def _is_flat(array):
    return isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C"
