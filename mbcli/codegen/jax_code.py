"""JAX: pure functions of one state, or of arrays of states along their first axes, for jit, vmap and grad."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.codegen.proof import Proof
from mbcli.codegen.python_code import as_list, module_text, run_module, spelling, unpacked
from mbcli.codegen.statements import elements, statements
from mbcli.codegen.target import Target
from mbcli.common.extra_packages import import_extra, require_extra

if TYPE_CHECKING:
    from mbcli.codegen.code import Code, CodeFunction
    from mbcli.codegen.proof import States


def write(code: Code) -> dict[str, str]:
    """{name of the file: its text}"""
    return {f"{code.name}.py": module_text(code, "jnp", "import jax.numpy as jnp", _body)}


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
    assignments, terms = statements(record, spelling("jnp", "jnp.where({0} < 0.0, -1.0, 1.0)"))
    lines = [f"{each.name} = jnp.asarray({each.name}, dtype=float)" for each in record.inputs]
    shapes = ", ".join(f"{each.name}.shape[:-1]" for each in record.inputs)
    lines += [f"many = jnp.broadcast_shapes({shapes})", *unpacked(function), *assignments]
    for name, shape, values in elements(record, terms):
        lines += [f"{name}_out = jnp.stack([jnp.broadcast_to(x, many) for x in ("]
        lines += [f"    {value}," for value in values]
        lines += [")], axis=-1)" + (f".reshape((*many, {', '.join(map(str, shape))}))" if len(shape) > 1 else "")]
    return [*lines, "return " + ", ".join(f"{each.name}_out" for each in record.outputs)]


TARGET = Target(write, prove)
