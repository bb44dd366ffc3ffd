"""Kernels as functions of Python and of C in LLVM's language, and as machine code that runs without numba.

A library of a wheel (engine/precompile.py) has all of them, a file of the cache (kept_kernels.py) one.
"""

import functools
import re

from llvmlite import binding

from mbcli.common.collection_pause import paused_collection
from mbcli.engine.runtime import structs  # (tells numba of them)
from mbcli.engine.runtime.kernel import ALONE, CALLED, ENTRIES, UNLOCKED, argument_types, written_arguments
from mbcli.engine.runtime.native_readers import add_c_function, add_reader
from mbcli.engine.runtime.numba_parts import global_compiler_lock, normalize_signature
from mbcli.engine.runtime.whole_programs import INNER, WHOLE, inner_kernel, refuse_arrays

CALLED_TYPES = ["float64"] * 5
# What numba would give kernels, which own nothing and whose arrays are contiguous; and a TypeError for arguments.
RUNTIME = """
@mbcli_type_error = external global BYTES
declare void @PyErr_SetString(BYTES, BYTES)

define void @mbcli_refuse(BYTES %message) {
  %kind = load BYTES, PLACE @mbcli_type_error
  call void @PyErr_SetString(BYTES %kind, BYTES %message)
  ret void
}

define void @NRT_MemInfo_call_dtor(BYTES %owner) {
  ret void
}

define i32 @numba_attempt_nocopy_reshape(i64 %nd, WORDS %dims, WORDS %strides, i64 %newnd, WORDS %newdims,
                                         WORDS %newstrides, i64 %itemsize, i32 %is_f_order) {
start:
  br label %next
next:
  %left = phi i64 [ %newnd, %start ], [ %k, %axis ]
  %stride = phi i64 [ %itemsize, %start ], [ %larger, %axis ]
  %k = sub i64 %left, 1
  %ends = icmp slt i64 %k, 0
  br i1 %ends, label %end, label %axis
axis:
  %at = getelementptr i64, WORDS %newstrides, i64 %k
  store i64 %stride, WORDS %at
  %from = getelementptr i64, WORDS %newdims, i64 %k
  %count = load i64, WORDS %from
  %larger = mul i64 %stride, %count
  br label %next
end:
  ret i32 1
}
"""


def natives_of(kind):
    """{name: (types of the arguments, how many are handles; None if kernels call it by address)} for a set of kinds."""
    alone, entries = kind in ALONE, ENTRIES
    called = [f for f in CALLED if f.__module__.endswith("_lanes") == alone]
    if alone:
        entries = [f for f in ENTRIES if f.__module__.endswith("batch")]
    elif "sleep" in kind.split("-"):  # of a plant that sleeps, other kernels answer what is asked of a state
        entries = [f for f in ENTRIES if f.__name__ == "run_discrete"]
        called = [f for f in called if not f.__module__.endswith("stepping.worlds")]
    return {f.__name__: argument_types(f) for f in entries} | {f.__name__: (CALLED_TYPES, None) for f in called}


def new_library(name):
    """A program without kernels."""
    library, runtime = (each.target_context.codegen().create_library(name) for each in (WHOLE, INNER))
    runtime.add_llvm_module(binding.parse_assembly(_runtime()))
    runtime.finalize()
    library.add_linking_library(runtime)
    return library


@functools.cache
def _runtime():
    """RUNTIME with pointers as LLVM reads them here: with types before its version 17, without from 15 on."""
    typed, is_typed = {"BYTES": "i8*", "WORDS": "i64*", "PLACE": "i8**"}, binding.llvm_version_info[0] < 17
    return re.sub("BYTES|WORDS|PLACE", lambda found: typed[found[0]] if is_typed else "ptr", RUNTIME)


def add_native(library, symbol, twin, kind, types, handles):
    """Adds a kernel to a program: as SYMBOL_free and SYMBOL_bound for Python, or as SYMBOL for C.

    types, handles: as natives_of() has them.
    """
    dispatcher = inner_kernel(twin)
    arguments, _ = normalize_signature(f"({', '.join(types)},)")
    if kind in ALONE and handles is not None:
        of_lanes = 1, 3  # Data, ConstraintWork
        arguments = tuple(structs.LANE_ADDRESS if k in of_lanes and k < handles else a for k, a in enumerate(arguments))
    dispatcher.compile(arguments)
    compiled = dispatcher.overloads[arguments]
    name, result = compiled.fndesc.llvm_func_name, compiled.fndesc.restype
    refuse_arrays(twin.__name__, result)
    library.add_linking_library(compiled.library)
    context, glue = dispatcher.targetctx, library.create_ir_module(symbol)
    if handles is None:
        add_c_function(context, glue, symbol, arguments, result, name)
    else:
        free = is_unlocked(twin)
        written = written_arguments(twin)
        add_reader(context, glue, f"{symbol}_free", arguments, result, 0, name, free, written)
        add_reader(context, glue, f"{symbol}_bound", arguments, result, handles, name, free, written)
    library.add_ir_module(glue)


def is_unlocked(twin):
    """Whether other threads of Python run during a kernel."""
    return twin.__name__ in {function.__name__ for function in UNLOCKED}


@global_compiler_lock
def machine_code(symbol, twin, kind, types, handles):
    """(an object file for this processor, names that it needs of the process) of one kernel; as add_native()."""
    with paused_collection(collect=False):  # a second for each program
        library = new_library(symbol)
        add_native(library, symbol, twin, kind, types, handles)
        module = library.optimize()
        return library.codegen.object_file(module), _needed(module)


def _needed(module):
    """Names that a module of LLVM needs of the process."""
    named = (*module.functions, *module.global_variables)
    return [each.name for each in named if each.is_declaration and not each.name.startswith("llvm.")]


OF_PYTHON = ("NRT_", "numba_", "Py")  # in names of what a process without numba has not
ENVIRONMENT = "NumbaEnv"  # in names of variables, by which a function finds objects of Python


@global_compiler_lock
def function_of_c(symbol, function, fault):
    """(address, (object file, names that it needs)) of a function of CALLED_TYPES, as numba compiles those of users.

    It gives `fault` where the function raises. None in place of the object file: it needs Python or numba.
    """
    import numba

    arguments, _ = normalize_signature(f"({', '.join(CALLED_TYPES)},)")
    dispatcher = numba.njit(error_model="numpy")(function)
    dispatcher.compile(arguments)
    compiled, codegen = dispatcher.overloads[arguments], WHOLE.target_context.codegen()
    alone, whole = (codegen.create_library(name) for name in (symbol, f"{symbol}-whole"))
    for library in (alone, whole):
        glue = library.create_ir_module(symbol)
        callee = compiled.fndesc.llvm_func_name
        add_c_function(dispatcher.targetctx, glue, symbol, arguments, compiled.fndesc.restype, callee, fault)
        library.add_ir_module(glue)
    alone.finalize()
    whole.add_linking_library(compiled.library)
    module = whole.optimize()
    needed = _needed(module)
    needs_python = ENVIRONMENT in str(module) or any(name in each for each in needed for name in OF_PYTHON)
    return alone.get_pointer_to_function(symbol), None if needs_python else (codegen.object_file(module), needed)
