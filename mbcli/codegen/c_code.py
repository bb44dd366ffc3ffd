"""C99: a header, one of C++ beside it, a source, a CMakeLists.txt, and a test that runs recorded states.

The code allocates nothing, has no static data and no loops, calls sin, cos and sqrt alone, and is compiled by C++ as
well. A selection of limits is a conditional expression. A huge function calls its parts, one after another.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from mbcli.codegen.c_compiler import compile_program
from mbcli.codegen.c_parts import WORK, block, part_name, split, stack_of_function
from mbcli.codegen.c_test import states_text, test_program
from mbcli.codegen.code import harmless
from mbcli.codegen.cpp_header import cpp_header
from mbcli.codegen.proof import Proof
from mbcli.codegen.statements import Spelling, statements
from mbcli.codegen.target import Target
from mbcli.common import child_processes
from mbcli.errors import ModelError, NumericalError
from mbcli.tracing.graph import COS, SIGN, SIN, SQRT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mbcli.codegen.c_parts import Part
    from mbcli.codegen.code import Code, CodeFunction
    from mbcli.codegen.proof import States

PATIENCE = 600.0  # [s] for a test to run


def write(code: Code) -> dict[str, str]:
    """{name of a file: its text}, without the recorded states. ModelError for a function that C has not here."""
    return {
        f"{code.name}.h": _header(code),
        f"{code.name}.c": _source(code),
        f"{code.name}.hpp": cpp_header(code),
        f"test_{code.name}.c": test_program(code, _states_name(code)),
        "CMakeLists.txt": _cmake(code),
    }


def state_files(code: Code, states: dict[str, States]) -> dict[str, str]:
    """{name of a file: its text} of what the test reads."""
    return {_states_name(code): "".join(states_text(states[f.name]) for f in code.functions)}


def prove(code: Code, folder: str, states: dict[str, States], model: str = "") -> list[Proof]:
    """Compiles the files of a folder, runs the test; a proof for each function. No proofs without a compiler.

    model: a compiled object in place of the source of the functions.
    """
    sources = [f"test_{code.name}.c", model or f"{code.name}.c"]
    program = compile_program(folder, sources, "test")
    if program is None:
        return []
    try:
        words = [program.path, os.path.join(folder, _states_name(code))]
        done = child_processes.run(words, capture_output=True, text=True, timeout=PATIENCE)
    except child_processes.TimeoutExpired:
        raise NumericalError(f"the test of the code did not end in {PATIENCE:g} s") from None
    figures = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.strip()}
    proofs = []
    for function in code.functions:
        numbers = figures.get(function.name)
        if numbers is None or len(numbers) != 3:
            raise NumericalError(f"the test of the code ended by {done.returncode} before {function.name}")
        states_run, deviation, nanoseconds = int(numbers[0]), float(numbers[1]), float(numbers[2])
        stack = stack_of_function(program.stack, _full(code, function))
        more = {"by": program.words, "compile_time": program.seconds, "stack": stack}
        proofs.append(Proof(function.name, states_run, deviation, nanoseconds, more))
    return proofs


def _spelling(code: Code) -> Spelling:
    end = "f" if code.real == "float" else ""

    def number(value: float) -> str:
        text = repr(float(np.float32(value))) if end else repr(value)
        text = f"{text}{end}"
        return f"({text})" if value < 0.0 else text

    return Spelling(
        number,
        lambda name, k: f"{name}[{k}]",
        {
            SIN: f"sin{end}({{0}})",
            COS: f"cos{end}({{0}})",
            SQRT: f"sqrt{end}({{0}})",
            SIGN: f"(({{0}} < 0.0{end}) ? -1.0{end} : 1.0{end})",
        },
        f"const {code.real} {{name}} = {{value}};",
    )


def _full(code: Code, function: CodeFunction) -> str:
    return f"{code.name}_{function.name}"


def _comment(lines: Iterable[str]) -> list[str]:
    return ["/*", *(f" * {harmless(line)}".rstrip() for line in lines), " */"]


def _size(shape: Sequence[int]) -> str:
    return " * ".join(map(str, shape)) if shape else "1"


def _signature(code: Code, function: CodeFunction) -> str:
    record = function.record
    arguments = [f"const {code.real} {each.name}[{_size(each.shape)}]" for each in record.inputs]
    arguments += [f"{code.real} {each.name}[{_size(each.shape)}]" for each in record.outputs]
    return f"void {_full(code, function)}({', '.join(arguments)})"


def _header(code: Code) -> str:
    guard = f"{code.name.upper()}_H"
    lines = _comment([code.title, "", *code.introduction()])
    lines += [f"#ifndef {guard}", f"#define {guard}", "", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    sizes = {"NQ": len(code.positions), "NV": len(code.velocities)}
    lines += [f"#define {code.name.upper()}_{size} {count}" for size, count in sizes.items()]
    for function in code.functions:
        record = function.record
        about = [function.words, ""]
        about += [f"{each.name}[{_size(each.shape)}]: {each.words}" for each in (*record.inputs, *record.outputs)]
        about += [f"{record.num_operations} operations. Outputs share no memory with inputs."]
        lines += ["", *_comment(about), f"{_signature(code, function)};"]
    lines += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


def _source(code: Code) -> str:
    lines = [*_comment([f"{code.title}: see {code.name}.h"]), f'#include "{code.name}.h"', "", "#include <math.h>"]
    spelling = _spelling(code)
    for function in code.functions:
        try:
            assignments, terms = statements(function.record, spelling)
        except KeyError as missing:
            raise ModelError(
                f"{function.asked}: C cannot hold this model: its forces need {missing.args[0]}(), and it calls "
                "only sin(), cos() and sqrt(); the targets python, jax and casadi have it"
            ) from None
        parts, size = split(block(function.record, assignments, terms), code.real)
        if len(parts) == 1:
            lines += ["", *_definition(code, function, parts[0].lines)]
        else:
            lines += _in_parts(code, function, parts, size)
    return "\n".join([*lines, ""])


def _definition(code: Code, function: CodeFunction, body: list[str]) -> list[str]:
    """A function with these lines."""
    first, unused = 0, []
    used = {row[1] for row in function.record.rows if row[0] == "input"}
    for each in function.record.inputs:
        if used.isdisjoint(range(first, first + each.size)):
            unused.append(f"    (void){each.name};")
        first += each.size
    return [_signature(code, function), "{", *unused, *(f"    {line}" for line in body), "}"]


def _in_parts(code: Code, function: CodeFunction, parts: list[Part], size: int) -> list[str]:
    """A function that calls its parts, behind them; size: of the array that they share.

    Parts are not static: compilers would put those back into the function.
    """
    given = {each.name: f"const {code.real} {each.name}[{_size(each.shape)}]" for each in function.record.inputs}
    given |= {each.name: f"{code.real} {each.name}[{_size(each.shape)}]" for each in function.record.outputs}
    given[WORK] = f"{code.real} {WORK}[{size}]"
    lines, calls = list[str](), [f"{given[WORK]};"] if size else []
    for k, part in enumerate(parts):
        name, names = part_name(_full(code, function), k + 1), [each for each in given if each in part.arrays]
        signature = f"void {name}({', '.join(given[each] for each in names)})"
        lines += ["", f"{signature};", signature, "{", *(f"    {line}" for line in part.lines), "}"]
        calls.append(f"{name}({', '.join(names)});")
    return [*lines, "", *_definition(code, function, calls)]


def _cmake(code: Code) -> str:
    return f"""cmake_minimum_required(VERSION 3.10)
project({code.name} C)
set(CMAKE_C_STANDARD 99)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_library({code.name} STATIC {code.name}.c)
target_include_directories({code.name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
find_library(MATH_LIBRARY m)
if(MATH_LIBRARY)
  target_link_libraries({code.name} PUBLIC ${{MATH_LIBRARY}})
endif()
enable_testing()
add_executable(test_{code.name} test_{code.name}.c)
target_link_libraries(test_{code.name} {code.name})
add_test(NAME {code.name} COMMAND test_{code.name} ${{CMAKE_CURRENT_SOURCE_DIR}}/{_states_name(code)})
"""


def _states_name(code: Code) -> str:
    return f"{code.name}_states.txt"


TARGET = Target(write, prove, has_floats=True, state_files=state_files)
