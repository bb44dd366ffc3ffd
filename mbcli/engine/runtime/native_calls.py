"""Compiled kernels as functions of Python, without the wrapper that numba puts around them.

That wrapper unpacks a tuple, asks numpy for each array and counts its owners: 0.08 us, and 0.04 us for each array, more
than many kernels take to compute. Functions made here read the arguments in place, in 0.02 us. One is compiled once
for all kernels of the same types, in about 10 ms, which a few calls are not worth: bound_kernels.py decides.

Python's lock is kept. Kernels raise nothing.
"""

import ctypes
import functools

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock

INT, REAL, BYTES = ir.IntType(64), ir.DoubleType(), ir.IntType(8).as_pointer()
FASTCALL = 0x80  # METH_FASTCALL: f(self, arguments, their number)
# places of the parts of an array of numpy, in bytes; checked by layout_is_known()
KIND, DATA, NDIM, SHAPE, STRIDES, DTYPE, FLAGS = 8, 16, 24, 32, 40, 56, 64
C_CONTIGUOUS = 1


class Method(ctypes.Structure):
    """PyMethodDef"""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_new_function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
    ("PyCFunction_NewEx", ctypes.pythonapi)
)
_methods = {}  # by kernel and types


def native_call(kernel, signature, handles):
    """The kernel as a function of what comes after the handles; None if it cannot be one.

    Args:
        kernel: compiled for this signature.
        signature: types of all arguments.
        handles: addresses, the first arguments.
    """
    if not (layout_is_known() and all(type(handle) is int for handle in handles)):
        return None
    if not all(map(_can_be_read, signature)):
        return None
    compiled = kernel.overloads[signature]
    method = _methods.get((kernel, signature))
    if method is None:
        function = _reader(signature, compiled.fndesc.restype, len(handles), kernel.targetctx)
        method = _methods[kernel, signature] = Method(kernel.__name__.encode(), function, FASTCALL, None)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(method))  # functions need it longer than modules live
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return _new_function(ctypes.addressof(method), np.array([address, *handles], dtype=np.int64), None)


@functools.cache
def layout_is_known():
    """Whether an array of this numpy in this Python lies in memory as is assumed here."""
    array = np.zeros((2, 3))

    def at(offset, kind):
        return kind.from_address(id(array) + offset).value

    if ctypes.sizeof(ctypes.c_void_p) != 8 or at(KIND, ctypes.c_int64) != id(np.ndarray):
        return False
    known = at(DATA, ctypes.c_int64) == array.ctypes.data and at(DTYPE, ctypes.c_int64) == id(array.dtype)
    known = known and at(NDIM, ctypes.c_int32) == 2 and at(FLAGS, ctypes.c_int32) == array.flags.num
    return known and at(STRIDES, ctypes.c_int64) == at(SHAPE, ctypes.c_int64) + 16


def _can_be_read(kind):
    if isinstance(kind, types.Array):
        return kind.layout == "C" and kind.dtype in (types.float64, types.int64)
    return kind in (types.int64, types.float64)


@functools.cache
@global_compiler_lock
def _reader(signature, result, num_handles, context):
    """Address of a function of Python that calls a compiled function of these types.

    Its `self` is an array: the address of the compiled function, then the handles.
    """
    name = f"call_{_reader.cache_info().misses}"
    library = context.codegen().create_library(name)
    module = library.create_ir_module(name)
    function = ir.Function(module, ir.FunctionType(BYTES, [BYTES, BYTES.as_pointer(), INT]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    python = context.get_python_api(builder)
    owner, arguments, count = function.args
    given = len(signature) - num_handles

    def refuse_if(condition, message=None):
        with builder.if_then(condition, likely=False):
            if message:
                python.err_set_string("PyExc_TypeError", message)
            builder.ret(ir.Constant(BYTES, None))

    refuse_if(builder.icmp_signed("!=", count, INT(given)), f"a kernel takes {given} arguments here")
    known = _field(builder, owner, DATA, INT.as_pointer())
    known = [builder.load(builder.gep(known, [INT(k)])) for k in range(1 + num_handles)]
    values, faults = known[1:], []
    for k, kind in enumerate(signature[num_handles:]):
        argument = builder.load(builder.gep(arguments, [INT(k)]))
        if isinstance(kind, types.Array):
            refuse_if(_is_another_array(builder, argument, kind), f"argument {k} of a kernel is not the array it takes")
            values.append(_array(context, builder, argument, kind))
        elif kind == types.float64:
            values.append(python.float_as_double(argument))
            faults.append(builder.fcmp_ordered("==", values[-1], REAL(-1.0)))
        else:
            values.append(python.long_as_longlong(argument))
            faults.append(builder.icmp_signed("==", values[-1], INT(-1)))
    if faults:
        with builder.if_then(functools.reduce(builder.or_, faults), likely=False):
            refuse_if(builder.icmp_unsigned("!=", python.err_occurred(), ir.Constant(BYTES, None)))
    pointer = builder.inttoptr(known[0], context.call_conv.get_function_type(result, signature).as_pointer())
    _, value = context.call_conv.call_function(builder, pointer, result, signature, values)
    builder.ret(python.make_none() if result == types.none else python.from_native_value(result, value))
    library.add_ir_module(module)
    library.finalize()
    _reader_libraries.append(library)
    return library.get_pointer_to_function(name)


_reader_libraries = []  # own the machine code


def _field(builder, thing, offset, kind):
    return builder.load(builder.bitcast(builder.gep(thing, [INT(offset)]), kind.as_pointer()))


def _is_another_array(builder, argument, kind):
    """Whether an argument is not an array, or one of other dimensions or order; callers must know its numbers."""
    small = ir.IntType(32)
    other_kind = builder.icmp_unsigned("!=", _field(builder, argument, KIND, INT), INT(id(np.ndarray)))
    other_size = builder.icmp_signed("!=", _field(builder, argument, NDIM, small), small(kind.ndim))
    order = builder.and_(_field(builder, argument, FLAGS, small), small(C_CONTIGUOUS))
    return builder.or_(builder.or_(other_kind, other_size), builder.icmp_signed("==", order, small(0)))


def _array(context, builder, argument, kind):
    array = context.make_array(kind)(context, builder)
    shape, strides = (_field(builder, argument, offset, INT.as_pointer()) for offset in (SHAPE, STRIDES))
    shape, strides = ([builder.load(builder.gep(a, [INT(k)])) for k in range(kind.ndim)] for a in (shape, strides))
    data = builder.bitcast(_field(builder, argument, DATA, BYTES), array.data.type)
    context.populate_array(array, data=data, shape=shape, strides=strides, itemsize=INT(8), meminfo=None)
    return array._getvalue()
