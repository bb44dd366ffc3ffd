"""Machine code as functions of Python, without numba: code that reads its arguments in place (native_readers.py)."""

import ctypes
import functools

import numpy as np

FASTCALL = 0x80  # METH_FASTCALL: f(self, arguments, their number)
# places of the parts of an array of numpy, in bytes, and of the letters of its numbers; checked by layout_is_known()
KIND, DATA, NDIM, SHAPE, STRIDES, DTYPE, FLAGS = 8, 16, 24, 32, 40, 56, 64
LETTERS = 24
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
OBJECTS = {"mbcli_ndarray": np.ndarray, "mbcli_type_error": TypeError}  # variables of machine code: their addresses


class Method(ctypes.Structure):
    """PyMethodDef"""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_new_function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)(
    ("PyCFunction_NewEx", ctypes.pythonapi)
)


def new_method(name, address):
    """What functions of Python share that run the code at an address; it lives as long as the process."""
    method = Method(name.encode(), address, FASTCALL, None)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(method))  # functions need it longer than modules live
    return method


def new_function(method, numbers, owners=None):
    """A function of Python whose code finds some integers in its `self`; owners: live as long as it, as its module."""
    return _new_function(ctypes.addressof(method), np.array(numbers, dtype=np.int64), owners)


@functools.cache
def layout_is_known():
    """Whether an array of this numpy in this Python lies in memory as is assumed here."""
    array, integers, text = np.zeros((2, 3)), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int8)

    def at(offset, kind, thing=array):
        return kind.from_address(id(thing) + offset).value

    if ctypes.sizeof(ctypes.c_void_p) != 8 or at(KIND, ctypes.c_int64) != id(np.ndarray):
        return False
    known = at(DATA, ctypes.c_int64) == array.ctypes.data and at(DTYPE, ctypes.c_int64) == id(array.dtype)
    known = known and at(NDIM, ctypes.c_int32) == 2 and at(FLAGS, ctypes.c_int32) == array.flags.num
    known = known and at(STRIDES, ctypes.c_int64) == at(SHAPE, ctypes.c_int64) + 16
    letters = [at(LETTERS, ctypes.c_int32, a.dtype) & 0xFFFFFF for a in (array, integers, text)]
    return known and letters == [letters_of(a.dtype) for a in (array, integers, text)]


def letters_of(dtype):
    """Kind, type and byte order of the numbers of an array, as its dtype has them in memory."""
    return int.from_bytes(f"{dtype.kind}{dtype.char}{dtype.byteorder}".encode(), "little")
