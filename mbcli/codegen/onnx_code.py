"""ONNX: a graph for each function, of arrays whose first axis is the states."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.codegen.proof import Proof
from mbcli.codegen.target import Target
from mbcli.common.extra_packages import import_extra, require_extra
from mbcli.errors import ModelError
from mbcli.tracing.graph import ADD, CONST, COS, DIV, INPUT, MUL, NEG, SIGN, SIN, SQRT, SUB, TANH

if TYPE_CHECKING:
    from mbcli.codegen.code import Code, CodeFunction
    from mbcli.codegen.proof import States

OPERATIONS = {ADD: "Add", SUB: "Sub", MUL: "Mul", DIV: "Div", NEG: "Neg", SIN: "Sin", COS: "Cos", SQRT: "Sqrt"}
OPERATIONS |= {TANH: "Tanh"}
PAIRS = (ADD, SUB, MUL, DIV)
OPSET, FORMAT = 17, 8  # of operators and of files: those of 2022


def write(code: Code) -> dict[str, bytes]:
    """{name of a file: its content}; ResourceError that names the extra without the package."""
    require_extra("onnx", "onnx", "--to onnx")
    return {_file(code, f): _model(code, f) for f in code.functions}


def prove(code: Code, folder: str, states: dict[str, States]) -> list[Proof]:
    """Runs the graphs of a folder at all states at once."""
    runtime, proofs = import_extra("onnxruntime", "onnx", "--to onnx"), []
    for f in code.functions:
        session = runtime.InferenceSession(os.path.join(folder, _file(code, f)), providers=["CPUExecutionProvider"])
        names, real = [each.name for each in f.record.inputs], np.dtype("f4" if code.real == "float" else "f8")
        given = {name: each.astype(real) for name, each in zip(names, states[f.name].inputs, strict=True)}
        proofs.append(Proof(f.name, states[f.name].count, states[f.name].deviation(session.run(None, given))))
    return proofs


def _file(code: Code, function: CodeFunction) -> str:
    return f"{code.name}_{function.name}.onnx"


def _is_nearly_one(value: float) -> bool:
    """Whether onnxruntime leaves out a product with a number: it looks at the number in single precision."""
    return value != 1.0 and float(np.float32(value)) == 1.0


class _Columns:
    """The nodes of a graph, whose values are columns of states, and its numbers.

    Args:
        helper: onnx.helper; kind: of its numbers.
    """

    def __init__(self, helper: Any, kind: int) -> None:
        self.helper, self.kind = helper, kind
        self.nodes: list[Any] = []
        self.numbers: dict[str, Any] = {}

    def number(self, value: float) -> str:
        """The name of a number."""
        name = f"c{value!r}"
        self.numbers[name] = self.helper.make_tensor(name, self.kind, (), [value])
        return name

    def column(self, operation: str, *inputs: str, **attributes: Any) -> str:
        """The name of the result of a node."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operation, inputs, [name], **attributes))
        return name

    def of_record(self, function: CodeFunction) -> list[str]:
        """The names of the results of a record; its inputs are split into columns of the same name and a number."""
        record, terms = function.record, list[str]()
        for each in record.inputs:
            names = [f"{each.name}{k}" for k in range(each.size)]
            self.nodes.append(self.helper.make_node("Split", [each.name], names, axis=1))
        for operation, a, b in record.rows:
            if operation == CONST:
                terms.append(self.number(a))
                continue
            if operation == INPUT:
                variable, place = record.element(int(a))
                terms.append(f"{variable.name}{place}")
                continue
            x, y, (first, factor, _) = terms[int(a)], terms[b], record.rows[int(a)]
            if operation == SIGN:
                terms.append(
                    self.column("Where", self.column("Less", x, self.number(0.0)), *map(self.number, (-1.0, 1.0)))
                )
            elif operation not in OPERATIONS:
                raise ModelError(f"{function.asked}: ONNX has no {operation}(), which this model needs")
            elif operation == MUL and first == CONST and _is_nearly_one(factor):
                half = self.column("Mul", self.number(0.5 * factor), y)
                terms.append(self.column("Add", half, half))
            else:
                terms.append(self.column(OPERATIONS[operation], *((x, y) if operation in PAIRS else (x,))))
        return [terms[k] for k in record.results]


def _model(code: Code, function: CodeFunction) -> bytes:
    onnx = import_extra("onnx", "onnx", "--to onnx")
    helper, record = onnx.helper, function.record
    kind = onnx.TensorProto.FLOAT if code.real == "float" else onnx.TensorProto.DOUBLE
    made, first = _Columns(helper, kind), 0
    results = made.of_record(function)
    zero = made.column("Mul", f"{record.inputs[0].name}0", made.number(0.0))  # for numbers to be as many as the states
    of_states = dict[str, str]()
    for out in record.outputs:
        columns = results[first : first + out.size]
        first += out.size
        for x in set(columns) & made.numbers.keys() - of_states.keys():
            of_states[x] = made.column("Add", x, zero)
        columns = [of_states.get(x, x) for x in columns]
        whole, shape = made.column("Concat", *columns, axis=1), f"shape_{out.name}"
        sizes = (-1, *out.shape)
        made.numbers[shape] = helper.make_tensor(shape, onnx.TensorProto.INT64, (len(sizes),), sizes)
        made.nodes.append(helper.make_node("Reshape", [whole, shape], [out.name]))
    values = [
        [helper.make_tensor_value_info(v.name, kind, ["states", *v.shape]) for v in some]
        for some in (record.inputs, record.outputs)
    ]
    numbers = list(made.numbers.values())
    graph = helper.make_graph(made.nodes, function.name, *values, numbers, doc_string=function.words)
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=FORMAT, producer_name="mbcli")
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


TARGET = Target(write, prove, has_floats=True)
