"""Machine code that reads the arguments of a function of Python in place and calls a kernel.

numba's wrapper unpacks a tuple, asks numpy for each array and counts its owners: 0.08 us, and 0.04 us for each array,
more than many kernels take to compute. Functions made here read the arguments in 0.02 us. They refuse arrays of other
numbers, dimensions, order or alignment, and as those that a kernel writes such as are read-only or share memory with
others. Python's lock is kept unless `unlocked`. Kernels raise nothing.
"""

import functools

import numpy as np
from llvmlite import ir
from numba import types

from mbcli.engine.runtime.native_functions import (
    ALIGNED,
    C_CONTIGUOUS,
    DATA,
    DTYPE,
    FLAGS,
    KIND,
    LETTERS,
    NDIM,
    SHAPE,
    STRIDES,
    WRITEABLE,
    letters_of,
)

INT, REAL, BYTES, SMALL = ir.IntType(64), ir.DoubleType(), ir.IntType(8).as_pointer(), ir.IntType(32)
KIND_OF_ARRAY = "mbcli_ndarray"  # a variable of native_functions.py: OBJECTS

REFUSE = "mbcli_refuse"  # a function of native_programs.py: sets a TypeError


def add_reader(context, module, name, signature, result, num_handles, callee, unlocked=False, written=()):
    """Adds a function for Python to a module of LLVM: it calls a compiled function of these types.

    Its `self` is an array: the handles, which are the first arguments.

    callee: name of the compiled function.
    unlocked: whether other threads of Python run meanwhile.
    written: places in the signature of the arrays that it writes.
    """
    function = ir.Function(module, ir.FunctionType(BYTES, [BYTES, BYTES.as_pointer(), INT]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    python = context.get_python_api(builder)
    owner, arguments, count = function.args
    given = len(signature) - num_handles

    def refuse_if(condition, message=None):
        with builder.if_then(condition, likely=False):
            if message:
                builder.call(_refuse(module), [context.insert_const_string(module, message)])
            builder.ret(ir.Constant(BYTES, None))

    refuse_if(builder.icmp_signed("!=", count, INT(given)), f"a kernel takes {given} arguments here")
    known = _field(builder, owner, DATA, INT.as_pointer())
    values, faults = [builder.load(builder.gep(known, [INT(k)])) for k in range(num_handles)], []
    array_kind = builder.load(_variable(module))
    spans = {}
    for k, kind in enumerate(signature[num_handles:]):
        argument = builder.load(builder.gep(arguments, [INT(k)]))
        if isinstance(kind, types.Array):
            flags = C_CONTIGUOUS | ALIGNED | (WRITEABLE if k + num_handles in written else 0)
            other = _is_another_array(builder, argument, kind, array_kind, flags)
            refuse_if(other, f"argument {k} of a kernel is not the array it takes")
            values.append(_array(context, builder, argument, kind))
            if written:
                spans[k + num_handles] = _span(builder, argument, kind)
        elif kind == types.float64:
            values.append(python.float_as_double(argument))
            faults.append(builder.fcmp_ordered("==", values[-1], REAL(-1.0)))
        else:
            values.append(python.long_as_longlong(argument))
            faults.append(builder.icmp_signed("==", values[-1], INT(-1)))
    shared = [_share(builder, spans[k], spans[n]) for k in written for n in spans if n not in written or n < k]
    if shared:
        refuse_if(functools.reduce(builder.or_, shared), "an array that a kernel writes shares memory with another one")
    if faults:
        with builder.if_then(functools.reduce(builder.or_, faults), likely=False):
            refuse_if(builder.icmp_unsigned("!=", python.err_occurred(), ir.Constant(BYTES, None)))
    thread = python.save_thread() if unlocked else None
    _, value = _call(context, builder, module, callee, signature, result, values)
    if unlocked:
        python.restore_thread(thread)
    builder.ret(python.make_none() if result == types.none else python.from_native_value(result, value))


def add_c_function(context, module, name, signature, result, callee, fault=None):
    """Adds a function of C to a module of LLVM: it calls a compiled function of numbers, `fault` where that raises."""
    kind = ir.FunctionType(context.get_value_type(result), [context.get_value_type(t) for t in signature])
    function = ir.Function(module, kind, name)
    builder = ir.IRBuilder(function.append_basic_block())
    status, value = _call(context, builder, module, callee, signature, result, function.args)
    builder.ret(value if fault is None else builder.select(status.is_error, REAL(fault), value))


def _call(context, builder, module, callee, signature, result, values):
    kind = context.call_conv.get_function_type(result, signature)
    function = ir.Function(module, kind, callee) if callee not in module.globals else module.globals[callee]
    return context.call_conv.call_function(builder, function, result, signature, values)


def _refuse(module):
    if REFUSE not in module.globals:
        ir.Function(module, ir.FunctionType(ir.VoidType(), [BYTES]), REFUSE)
    return module.globals[REFUSE]


def _variable(module):
    if KIND_OF_ARRAY not in module.globals:
        ir.GlobalVariable(module, INT, KIND_OF_ARRAY)
    return module.globals[KIND_OF_ARRAY]


def _field(builder, thing, offset, kind):
    return builder.load(builder.bitcast(builder.gep(thing, [INT(offset)]), kind.as_pointer()))


def _is_another_array(builder, argument, kind, array_kind, flags):
    """Whether an argument is not an array, or one of other numbers or dimensions, or without some of these flags."""
    other_kind = builder.icmp_unsigned("!=", _field(builder, argument, KIND, INT), array_kind)
    with builder.if_else(other_kind, likely=False) as (is_other, is_array):
        with is_other:
            block_other = builder.block
        with is_array:
            other_size = builder.icmp_signed("!=", _field(builder, argument, NDIM, SMALL), SMALL(kind.ndim))
            having = builder.and_(_field(builder, argument, FLAGS, SMALL), SMALL(flags))
            letters = _field(builder, _field(builder, argument, DTYPE, BYTES), LETTERS, SMALL)
            letters = builder.and_(letters, SMALL(0xFFFFFF))
            expected = SMALL(letters_of(np.dtype(kind.dtype.name)))
            wrong = builder.or_(other_size, builder.icmp_signed("!=", having, SMALL(flags)))
            wrong = builder.or_(wrong, builder.icmp_unsigned("!=", letters, expected))
            block_array = builder.block
    found = builder.phi(ir.IntType(1))
    found.add_incoming(ir.Constant(ir.IntType(1), 1), block_other)
    found.add_incoming(wrong, block_array)
    return found


def _span(builder, argument, kind):
    """Where the memory of an array in C order begins and ends."""
    start = _field(builder, argument, DATA, INT)
    shape = _field(builder, argument, SHAPE, INT.as_pointer())
    size = INT(kind.dtype.bitwidth // 8)
    for k in range(kind.ndim):
        size = builder.mul(size, builder.load(builder.gep(shape, [INT(k)])))
    return start, builder.add(start, size)


def _share(builder, a, b):
    """Whether two spans have bytes in common."""
    start = builder.select(builder.icmp_unsigned(">", a[0], b[0]), a[0], b[0])
    end = builder.select(builder.icmp_unsigned("<", a[1], b[1]), a[1], b[1])
    return builder.icmp_unsigned("<", start, end)


def _array(context, builder, argument, kind):
    array = context.make_array(kind)(context, builder)
    shape, strides = (_field(builder, argument, offset, INT.as_pointer()) for offset in (SHAPE, STRIDES))
    shape, strides = ([builder.load(builder.gep(a, [INT(k)])) for k in range(kind.ndim)] for a in (shape, strides))
    data = builder.bitcast(_field(builder, argument, DATA, BYTES), array.data.type)
    context.populate_array(
        array, data=data, shape=shape, strides=strides, itemsize=INT(kind.dtype.bitwidth // 8), meminfo=None
    )
    return array._getvalue()
