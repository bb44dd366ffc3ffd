"""Kernels that numba compiled in this process as functions of Python that read their arguments in place.

One reader (native_readers.py) is compiled for all kernels of the same types, in about 10 ms, which a few calls are not
worth: bound_kernels.py decides.
"""

import functools

from mbcli.engine.runtime.kernel import written_arguments
from mbcli.engine.runtime.native_functions import layout_is_known, new_function, new_method
from mbcli.engine.runtime.native_readers import add_reader, can_be_read
from mbcli.engine.runtime.numba_parts import global_compiler_lock

_methods = {}  # by kernel and types


def native_call(kernel, signature, handles, owners=None):
    """The kernel as a function of what comes after the handles; None if it cannot be one.

    Args:
        kernel: compiled for this signature.
        signature: types of all arguments.
        handles: addresses, the first arguments.
        owners: of what is at these addresses.
    """
    if not (layout_is_known() and all(type(handle) is int for handle in handles)):
        return None
    if not all(map(can_be_read, signature)):
        return None
    compiled = kernel.overloads[signature]
    method = _methods.get((kernel, signature))
    if method is None:
        written = written_arguments(kernel.py_func)
        reader = _reader(signature, compiled.fndesc.restype, len(handles), kernel.targetctx, written)
        method = _methods[kernel, signature] = new_method(kernel.__name__, reader)
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return new_function(method, [address, *handles], owners)


@functools.cache
@global_compiler_lock
def _reader(signature, result, num_handles, context, written):
    """Address of a function of Python that calls a compiled function of these types."""
    name = f"call_{_reader.cache_info().misses}"
    library = context.codegen().create_library(name)
    module = library.create_ir_module(name)
    add_reader(context, module, name, signature, result, num_handles, written=written)
    library.add_ir_module(module)
    library.finalize()
    _reader_libraries.append(library)
    return library.get_pointer_to_function(name)


_reader_libraries = []  # own the machine code
