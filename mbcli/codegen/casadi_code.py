"""CasADi: a module whose functions make casadi.Function objects, for optimal control."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.codegen.proof import Proof
from mbcli.codegen.python_code import as_list, harmless, numbers, run_module
from mbcli.codegen.statements import Spelling, elements, statements
from mbcli.codegen.target import Target
from mbcli.common.extra_packages import require_extra
from mbcli.tracing.graph import ARCTAN2, COS, SIGN, SIN, SQRT, TANH

if TYPE_CHECKING:
    from mbcli.codegen.code import Code, CodeFunction
    from mbcli.codegen.proof import States

SPELLING = Spelling(
    numbers,
    lambda name, k: f"{name}[{k}]",
    {
        SIN: "ca.sin({0})",
        COS: "ca.cos({0})",
        SQRT: "ca.sqrt({0})",
        TANH: "ca.tanh({0})",
        ARCTAN2: "ca.atan2({0}, {1})",
        SIGN: "ca.if_else({0} < 0.0, -1.0, 1.0)",
    },
    "{name} = {value}",
)


def write(code: Code) -> dict[str, str]:
    """{name of the file: its text}"""
    lines = [f'"""{harmless(code.title)}', "", *(harmless(line) for line in code.introduction())]
    lines += ["", "Each function makes a casadi.Function; arrays of more than two axes are vectors, row by row.", '"""']
    lines += ["", "import casadi as ca", ""]
    lines += [f"POSITIONS = {tuple(map(str, code.positions))!r}", f"VELOCITIES = {tuple(map(str, code.velocities))!r}"]
    for function in code.functions:
        lines += ["", "", f"def {function.name}():", *(f"    {line}" for line in _body(function))]
    return {f"{code.name}.py": "\n".join([*lines, ""])}


def prove(code: Code, folder: str, states: dict[str, States]) -> list[Proof]:
    """Runs the functions of a folder's module at all states; ResourceError that names the extra without CasADi."""
    require_extra("casadi", "casadi", "--to casadi")
    module = run_module(folder, code)
    proofs = []
    for f in code.functions:
        given = states[f.name]
        call = module[f.name]()
        rows = [as_list(f, call(*(each[k] for each in given.inputs))) for k in range(given.count)]
        found = [np.array([_numbers(row[i]) for row in rows]) for i in range(len(f.record.outputs))]
        proofs.append(Proof(f.name, given.count, given.deviation(found)))
    return proofs


def _numbers(matrix: Any) -> Any:
    return np.asarray(matrix.full()).ravel()


def _body(function: CodeFunction) -> list[str]:
    record = function.record
    assignments, terms = statements(record, SPELLING)
    about = [function.words, ""]
    about += [f"{each.name} {each.shape}: {each.words}" for each in (*record.inputs, *record.outputs)]
    about += [f"{record.num_operations} operations."]
    lines = [f'"""{harmless(about[0])}', *(harmless(line) for line in about[1:]), '"""']
    lines += [f'{each.name} = ca.SX.sym("{each.name}", {prod(each.shape)})' for each in record.inputs]
    lines += assignments
    for name, shape, values in elements(record, terms):
        width = shape[1] if len(shape) == 2 else 1
        lines += [f"{name}_out = ca.vertcat("]
        for k in range(0, len(values), width):
            lines += [f"    ca.horzcat({', '.join(values[k : k + width])}),"]
        lines += [")"]
    inputs, outputs = ([each.name for each in some] for some in (record.inputs, record.outputs))
    given, made = ", ".join(inputs), ", ".join(f"{name}_out" for name in outputs)
    return [*lines, f'return ca.Function("{function.name}", [{given}], [{made}], {inputs!r}, {outputs!r})']


TARGET = Target(write, prove)
