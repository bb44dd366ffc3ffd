"""Target: what a language declares, in a file of its own, for generate() to write it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from mbcli.common.argument_names import argument
from mbcli.common.suggestions import name_or_list
from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.codegen.code import Code
    from mbcli.codegen.proof import Proof, States

    class Prove(Protocol):
        def __call__(self, code: Code, folder: str, states: dict[str, States]) -> list[Proof]:
            """Proofs of the functions of a code whose files are in a folder; none where nothing can run them."""


@dataclass(frozen=True)
class Target:
    """A language.

    Args:
        write: {name of a file: its content} of a code. ModelError for what the language does not hold.
        prove: runs these files at states.
        has_floats: whether it has numbers in single precision.
        real: the only numbers that it has, "" if they are chosen.
        state_files: what else lies beside the code, of the states of the proof.
        packed: the files in one, after the proof; suffix: of its name.
        functions: what is written if nothing is asked for.
        needs: functions that it writes whatever is asked for, before the others.
        time_step: [s] of the plants that it is of, None: any; plant_of: such a plant as it has it.
    """

    write: Callable[[Code], dict[str, Any]]
    prove: Prove
    has_floats: bool = False
    real: str = ""
    state_files: Callable[[Code, dict[str, States]], dict[str, str]] = lambda code, states: {}
    packed: Callable[[Code, str, Mapping[str, Any]], dict[str, bytes]] | None = None
    suffix: str = ""
    functions: tuple[str, ...] = ("inverse_dynamics",)
    needs: Callable[[Any], tuple[str, ...]] = lambda context: ()
    time_step: float | None = None
    plant_of: Callable[[Any], Any] = lambda plant: plant


TARGETS = ("c", "python", "jax", "casadi", "fmi", "arduino", "onnx")  # each in NAME_code.py, as TARGET


def find_target(name: str) -> Target:
    """The target of a name; ArgumentError for another."""
    if name not in TARGETS:
        raise ArgumentError(f"{argument('target')}: there is no '{name}'; {name_or_list(name, TARGETS)}")
    found: Target = import_module(f"mbcli.codegen.{name}_code").TARGET
    return found
