"""Python with numpy: a module whose functions take one state, or arrays of states along their first axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.codegen.code import harmless
from mbcli.codegen.proof import Proof
from mbcli.codegen.statements import Spelling, elements, statements
from mbcli.codegen.target import Target
from mbcli.tracing.graph import ARCTAN2, COS, SIGN, SIN, SQRT, TANH

if TYPE_CHECKING:
    from mbcli.codegen.code import Code, CodeFunction
    from mbcli.codegen.proof import States


def write(code: Code) -> dict[str, str]:
    """{name of the file: its text}"""
    return {f"{code.name}.py": module_text(code, "np", "import numpy as np", _body)}


def prove(code: Code, folder: str, states: dict[str, States]) -> list[Proof]:
    """Runs the module of a folder at all states at once; a proof for each function."""
    module = run_module(folder, code)
    proofs = []
    for f in code.functions:
        given = states[f.name]
        found = as_list(f, module[f.name](*given.inputs))
        proofs.append(Proof(f.name, given.count, given.deviation(found)))
    return proofs


def run_module(folder: str, code: Code) -> dict[str, Any]:
    """The names that the module of a folder defines."""
    path = f"{folder}/{code.name}.py"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    names: dict[str, Any] = {"__name__": code.name}
    exec(compile(text, path, "exec"), names)
    return names


def as_list(function: CodeFunction, found: Any) -> list[Any]:
    """The outputs of a call as a list."""
    return [found] if len(function.record.outputs) == 1 else list(found)


def numbers(value: float) -> str:
    """The literal of a float."""
    return f"({value!r})" if value < 0.0 else repr(value)


def spelling(module: str, sign: str) -> Spelling:
    """How Python writes operations with the functions of a module; sign: format of 1 or -1."""
    functions = {SIN: "sin", COS: "cos", SQRT: "sqrt", TANH: "tanh"}
    spelled = {operation: f"{module}.{name}({{0}})" for operation, name in functions.items()}
    spelled |= {ARCTAN2: f"{module}.arctan2({{0}}, {{1}})", SIGN: sign}
    return Spelling(numbers, lambda name, k: f"{name}{k}", spelled, "{name} = {value}")


def unpacked(function: CodeFunction) -> list[str]:
    """Lines that give each element of the inputs that is used its name."""
    record = function.record
    used = sorted(int(a) for operation, a, _ in record.rows if operation == "input")
    found = [record.element(number) for number in used]
    return [f"{variable.name}{k} = {variable.name}[..., {k}]" for variable, k in found]


def module_text(code: Code, module: str, imports: str, body: Any) -> str:
    """A module with one function for each of the code; body: (code function) -> its lines."""
    lines = [
        f'"""{harmless(code.title)}',
        "",
        *(harmless(line) for line in code.introduction()),
        '"""',
        "",
        imports,
        "",
    ]
    lines += [f"POSITIONS = {tuple(map(str, code.positions))!r}", f"VELOCITIES = {tuple(map(str, code.velocities))!r}"]
    for function in code.functions:
        record = function.record
        arguments = ", ".join(each.name for each in record.inputs)
        about = [f"{function.words}", ""]
        about += [f"{each.name} {each.shape}: {each.words}" for each in (*record.inputs, *record.outputs)]
        about += [f"{record.num_operations} operations."]
        lines += ["", "", f"def {function.name}({arguments}):"]
        lines += [f'    """{harmless(about[0])}', *(f"    {harmless(line)}".rstrip() for line in about[1:]), '    """']
        lines += [f"    {line}" for line in body(function)]
    return "\n".join([*lines, ""])


def _body(function: CodeFunction) -> list[str]:
    record = function.record
    assignments, terms = statements(record, spelling("np", "np.where({0} < 0.0, -1.0, 1.0)"))
    lines = [f"{each.name} = np.asarray({each.name}, dtype=float)" for each in record.inputs]
    shapes = ", ".join(f"{each.name}.shape[:-1]" for each in record.inputs)
    lines += [f"many = np.broadcast_shapes({shapes})", *unpacked(function), *assignments]
    for name, shape, values in elements(record, terms):
        lines += [f"{name}_out = np.empty((*many, {len(values)}))"]
        lines += [f"{name}_out[..., {k}] = {value}" for k, value in enumerate(values)]
        if len(shape) > 1:
            lines += [f"{name}_out = {name}_out.reshape((*many, {', '.join(map(str, shape))}))"]
    return [*lines, "return " + ", ".join(f"{each.name}_out" for each in record.outputs)]


TARGET = Target(write, prove)
