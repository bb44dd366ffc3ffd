"""JAX: pure functions of one state, or of arrays of states along their first axes, for jit, vmap and grad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.codegen.operation_table import operation_table
from mbcli.codegen.proof import Proof
from mbcli.codegen.python_code import as_list, module_text, run_module, spelling, unpacked
from mbcli.codegen.statements import elements, statements
from mbcli.codegen.target import Target
from mbcli.common.extra_packages import import_extra, require_extra

if TYPE_CHECKING:
    from mbcli.codegen.code import Code, CodeFunction
    from mbcli.codegen.proof import States


SPELLING = spelling("jnp", "jnp.where({0} < 0.0, -1.0, 1.0)")
STRAIGHT = 1500  # operations: XLA compiles longer straight code for minutes
LOOP = '''
import jax
import jax.numpy as jnp
import numpy as np


def _rounds(x, first, table):
    """x with the results of rounds from `first` on: a b + s c, a / b, or the root of a."""
    kinds, a, b, c, s = np.moveaxis(np.array(table), 1, 0)
    wide = (slice(None),) + (None,) * (x.ndim - 1)

    def take(carried, row):
        x, place = carried
        kind, a, b, c, s = row
        kind, s, p, q = kind[wide], s[wide], x[a], x[b]
        results = jnp.where(kind == 0, p * q + s * x[c], jnp.sqrt(jnp.where(kind == 2, p, 1.0)))
        results = jnp.where(kind == 1, p / jnp.where(kind == 1, q, 1.0), results)
        return (jax.lax.dynamic_update_slice_in_dim(x, results, place, 0), place + len(a)), None

    return jax.lax.scan(take, (x, first), (kinds, a, b, c, s.astype(x.dtype)))[0][0]'''


def write(code: Code) -> dict[str, str]:
    """{name of the file: its text}"""
    loops = any(f.record.num_operations > STRAIGHT for f in code.functions)
    return {f"{code.name}.py": module_text(code, "jnp", LOOP.strip() if loops else "import jax.numpy as jnp", _body)}


def prove(code: Code, folder: str, states: dict[str, States]) -> list[Proof]:
    """Runs the module of a folder, compiled by jit in double precision, at all states at once.

    ResourceError that names the extra without JAX.
    """
    require_extra("jax", "jax", "--to jax")
    jax = import_extra("jax", "jax", "--to jax")
    with jax.enable_x64(True):
        module = run_module(folder, code)
        proofs = []
        for f in code.functions:
            found = jax.jit(module[f.name])(*states[f.name].inputs)
            arrays = [np.asarray(each) for each in as_list(f, found)]
            proofs.append(Proof(f.name, states[f.name].count, states[f.name].deviation(arrays)))
    return proofs


def _body(function: CodeFunction) -> list[str]:
    record = function.record
    if record.num_operations > STRAIGHT:
        return _loop(function)
    assignments, terms = statements(record, SPELLING)
    lines = [f"{each.name} = jnp.asarray({each.name}, dtype=float)" for each in record.inputs]
    shapes = ", ".join(f"{each.name}.shape[:-1]" for each in record.inputs)
    lines += [f"many = jnp.broadcast_shapes({shapes})", *unpacked(function), *assignments]
    for name, shape, values in elements(record, terms):
        lines += [f"{name}_out = jnp.stack([jnp.broadcast_to(x, many) for x in ("]
        lines += [f"    {value}," for value in values]
        lines += [")], axis=-1)" + (f".reshape((*many, {', '.join(map(str, shape))}))" if len(shape) > 1 else "")]
    return [*lines, "return " + ", ".join(f"{each.name}_out" for each in record.outputs)]


def _loop(function: CodeFunction) -> list[str]:
    record, table = function.record, operation_table(function.record)
    names = [each.name for each in record.inputs]
    lines = [f"{name} = jnp.asarray({name}, dtype=float)" for name in names]
    lines += [f"many = jnp.broadcast_shapes({', '.join(f'{name}.shape[:-1]' for name in names)})"]
    lines += [
        f"{name} = jnp.broadcast_to({name}, (*many, {each.size}))"
        for name, each in zip(names, record.inputs, strict=True)
    ]
    lines += ["constants = np.broadcast_to((", *wrapped(table.constants), f"), (*many, {len(table.constants)}))"]
    empty = table.size - len(table.constants) - sum(each.size for each in record.inputs)
    lines += [f"x = [{', '.join(names)}, constants, jnp.zeros((*many, {empty}))]"]
    lines += ["x = jnp.moveaxis(jnp.concatenate(x, axis=-1), -1, 0)"]
    for part in table.parts:
        if part.operation:
            operands = [f"x[np.array({list(each)})]" for each in (part.a, part.b) if each]
            value = SPELLING.functions[part.operation].format(*operands)
            lines += [f"x = x.at[{part.first} : {part.first + len(part.a)}].set({value})"]
        else:
            lines += [f"x = _rounds(x, {part.first}, ("]
            lines += [f"    {tuple(each)}," for each in part.rows]
            lines += ["))"]
    first = 0
    for out in record.outputs:
        lines += [
            f"{out.name}_out = jnp.moveaxis(x[np.array((",
            *wrapped(table.results[first : first + out.size]),
            "))], 0, -1)",
        ]
        lines[-1] += f".reshape((*many, {', '.join(map(str, out.shape))}))" if len(out.shape) > 1 else ""
        first += out.size
    return [*lines, "return " + ", ".join(f"{each.name}_out" for each in record.outputs)]


def wrapped(values: list[Any]) -> list[str]:
    """Values with commas behind them, some on a line."""
    return ["    " + " ".join(f"{x!r}," for x in values[k : k + 12]) for k in range(0, len(values), 12)]


TARGET = Target(write, prove)
