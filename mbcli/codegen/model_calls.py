"""StateFunctions of one model: its records as C, compiled once and kept, called as kernels are."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import tempfile
from hashlib import sha256
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.codegen import c_code
from mbcli.codegen.c_compiler import find_compiler
from mbcli.codegen.code import Code, CodeFunction
from mbcli.codegen.generation import refuse_large, refuse_models
from mbcli.codegen.ways import ways_in_body_frames
from mbcli.common import child_processes
from mbcli.common.kept_files import keep, read_kept
from mbcli.common.left_behind import folder_prefix
from mbcli.common.output_files import write_in_place
from mbcli.common.user_cache import user_cache
from mbcli.engine.runtime import native_functions as layout
from mbcli.engine.runtime.native_functions import layout_is_known, letters_of, new_function, new_method
from mbcli.errors import NumericalError, ResourceError
from mbcli.multibody.plant.state_functions import StateFunctions, state_with_parameters
from mbcli.tracing import MODEL_FUNCTIONS, record_function

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.multibody.state.context import Context
    from mbcli.tracing.record import Record

KERNELS = {  # of StateFunctions, and the functions of models that they are
    "evaluate_inverse_dynamics": "inverse_dynamics",
    "evaluate_forward_dynamics": "forward_dynamics",
    "evaluate_mass_matrix": "mass_matrix",
    "evaluate_bias_term": "bias",
    "evaluate_gravity": "gravity",
}
FLAGS = ("-std=c99", "-O2", "-fPIC", "-shared")
LINKED = () if sys.platform == "darwin" else ("-lm",)
PATIENCE = 600.0  # [s] for one compilation
CALL = Template(
    """#include "model.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* the numbers of an array, as native_functions.py of the engine knows arrays; NULL for anything but one of doubles */
static double *numbers_of(char *array, const int64_t *known, int axes, const int64_t *shape, int flags, int *fits)
{
    int k;
    if (*(int64_t *)(array + $KIND) != known[0] || *(int32_t *)(array + $NDIM) != axes ||
        (*(int32_t *)(array + $FLAGS) & flags) != flags ||
        (*(int32_t *)(*(char **)(array + $DTYPE) + $LETTERS) & 0xFFFFFF) != $DOUBLES) {
        return NULL;
    }
    for (k = 0; k < axes; k++) {
        *fits = *fits && (*(int64_t **)(array + $SHAPE))[k] == shape[k];
    }
    return *(double **)(array + $DATA);
}

/* METH_FASTCALL: 0, or 1 for an array of another length; what it needs of Python is in the array that is its self */
void *call(char *self, char **arguments, ptrdiff_t count)
{
    const int64_t *known = *(int64_t **)(self + $DATA);
    double result[$size];
    double *numbers[$count];
    int fits = 1, k;
    static const int64_t shapes[$count][2] = {$shapes};
    static const int axes[$count] = {$axes};
    for (k = 0; k < $count && count == $count; k++) {
        const int flags = (k == $count - 1) ? $READ | $WRITE : $READ;
        numbers[k] = numbers_of(arguments[k], known, axes[k], shapes[k], flags, &fits);
        if (numbers[k] == NULL) {
            break;
        }
    }
    if (k < $count) {
        ((void (*)(void *, const char *))known[2])((void *)known[3], "expected arrays of doubles in C order");
        return NULL;
    }
    if (fits) {
        model_$name($inputs, result);
        memcpy(numbers[$count - 1], result, sizeof(result));
    }
    return ((void *(*)(long))known[1])(fits ? 0 : 1);
}
"""
)


def model_state_functions(plant: Any, context: Context | None = None) -> StateFunctions:
    """StateFunctions whose dynamics are compiled for the model, by a C compiler of this machine.

    inverse_dynamics, forward_dynamics, mass_matrix, bias_term and gravity_forces are recorded when they are first
    called, compiled, and kept in mbcli's cache by a digest of the code; results differ from those of the kernels by
    rounding. The others are those of StateFunctions.

    Args:
      plant: finalized, with numbers of floats.
      context: of the plant, whose parameters count; default: its default parameters.

    Returns:
      StateFunctions.

    Raises:
      ResourceError: there is no compiler, or this Python keeps arrays in another way than is known.
      ModelError: a record cannot hold the model, or it is too large to be compiled.
    """
    if find_compiler() is None:
        raise ResourceError(
            "functions that are compiled for a model need a C compiler: CC, cc, gcc, clang, or pip install ziglang"
        )
    if not layout_is_known():
        raise ResourceError("functions that are compiled for a model need CPython of 64 bits and a numpy that is known")
    refuse_models(plant)
    model = state_with_parameters(plant, context).model
    return StateFunctions(plant, context, lambda kernel: _call(model, KERNELS[kernel]) if kernel in KERNELS else None)


def _call(model: Any, name: str) -> Callable[..., int]:
    """A function of a model as StateFunctions calls it."""
    refuse_large(name, model)
    function = MODEL_FUNCTIONS[name]
    record = record_function(name, model, ways=ways_in_body_frames(name, model))
    code = Code(
        "model", "a model as code", (), (), (), (CodeFunction(name, name, function.words, record, function, None),)
    )
    files = c_code.write(code)
    sources = {each: files[each] for each in ("model.c", "model.h")} | {"call.c": _caller(name, record)}
    library = _library(sources)
    needed = [ctypes.pythonapi.PyLong_FromLong, ctypes.pythonapi.PyErr_SetString]
    addresses = [ctypes.cast(each, ctypes.c_void_p).value for each in needed]
    known = [id(np.ndarray), *addresses, id(TypeError)]
    method = new_method(name, ctypes.cast(library.call, ctypes.c_void_p).value)
    called: Callable[..., int] = new_function(method, known, library)
    return called


def _caller(name: str, record: Record) -> str:
    """The C source of call()."""
    variables = [*record.inputs, *record.outputs]
    return CALL.substitute(
        name=name,
        size=record.outputs[0].size,
        count=len(variables),
        shapes=", ".join(f"{{{', '.join(map(str, each.shape))}}}" for each in variables),
        axes=", ".join(str(len(each.shape)) for each in variables),
        inputs=", ".join(f"numbers[{k}]" for k in range(len(record.inputs))),
        READ=layout.C_CONTIGUOUS | layout.ALIGNED,
        WRITE=layout.WRITEABLE,
        DOUBLES=letters_of(np.dtype(float)),
        **{part: getattr(layout, part) for part in ("KIND", "DATA", "NDIM", "SHAPE", "DTYPE", "FLAGS", "LETTERS")},
    )


def _library(sources: dict[str, str]) -> ctypes.CDLL:
    """The sources as a library of this process, from mbcli's cache or compiled and kept there."""
    digest = sha256(repr((sorted(sources.items()), find_compiler(), FLAGS, platform.machine(), sys.platform)).encode())
    path = user_cache() / "model_functions" / f"{digest.hexdigest()}.so"
    content = read_kept(path)
    with tempfile.TemporaryDirectory(prefix=folder_prefix("functions"), ignore_cleanup_errors=True) as folder:
        made = os.path.join(folder, "functions.so")
        if content is None:
            _compile(sources, folder, made)
            with open(made, "rb") as file:
                keep(path, file.read())
        else:
            write_in_place(made, content)
        return ctypes.CDLL(made)


def _compile(sources: dict[str, str], folder: str, made: str) -> None:
    for name, text in sources.items():
        write_in_place(os.path.join(folder, name), text.encode())
    compiler = find_compiler() or []
    command = [*compiler, *FLAGS, *(name for name in sources if name.endswith(".c")), "-o", made, *LINKED]
    try:
        done = child_processes.run(command, folder=folder, capture_output=True, text=True, timeout=PATIENCE)
    except child_processes.TimeoutExpired:
        raise NumericalError(f"the functions of the model were not compiled in {PATIENCE:g} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise NumericalError(f"the C compiler refuses the code: {lines[0] if lines else done.returncode}")
