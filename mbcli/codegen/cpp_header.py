"""A header of C++11 over the C code: functions of a namespace whose arguments and results are std::array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.codegen.code import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.codegen.code import Code, CodeFunction
    from mbcli.tracing.record import Variable


def cpp_header(code: Code) -> str:
    """The header; nothing is allocated and nothing thrown."""
    guard = f"{code.name.upper()}_HPP"
    lines = [f"// {harmless(code.title)} for C++11: see {code.name}.h", f"#ifndef {guard}", f"#define {guard}", ""]
    lines += [
        "#include <array>",
        "#include <cstddef>",
        "",
        f'#include "{code.name}.h"',
        "",
        f"namespace {code.name} {{",
    ]
    lines += ["", f"using real = {code.real};"]
    for word, size, names in (("position", "nq", code.positions), ("velocity", "nv", code.velocities)):
        listed = ", ".join(f'"{_quoted(name)}"' for name in names) or "nullptr"
        lines += [
            f"constexpr std::size_t {size} = {len(names)};",
            f"constexpr const char *{word}_names[] = {{{listed}}};",
        ]
    for function in code.functions:
        lines += ["", *_function(code, function)]
    return "\n".join([*lines, "", f"}}  // namespace {code.name}", "", "#endif", ""])


def _quoted(name: str) -> str:
    return harmless(name).replace('"', "'").replace("??", "?")  # two question marks may start a trigraph


def _function(code: Code, function: CodeFunction) -> list[str]:
    outputs = function.record.outputs
    given = ", ".join(f"const {_array(each)} &{each.name}" for each in function.record.inputs)
    name = f"{function.name}_outputs" if len(outputs) > 1 else _array(outputs[0])
    lines = [f"/// {harmless(function.words)}", *(f"/// {each.name}: {harmless(each.words)}" for each in outputs)]
    if len(outputs) > 1:
        lines = [f"struct {name} {{", *(f"    {_array(each)} {each.name};" for each in outputs), "};", "", *lines]
    places = [f"result.{each.name}" if len(outputs) > 1 else "result" for each in outputs]
    arguments = ", ".join(f"{each}.data()" for each in (*(v.name for v in function.record.inputs), *places))
    lines += [f"inline {name} {function.name}({given}) noexcept", "{", f"    {name} result;"]
    return [*lines, f"    {code.name}_{function.name}({arguments});", "    return result;", "}"]


def _array(variable: Variable) -> str:
    return f"std::array<real, {_product(variable.shape)}>"


def _product(shape: Sequence[int]) -> str:
    return " * ".join(map(str, shape)) or "1"
