"""What a target writes: recorded functions under names that every language takes, and the model that they are of."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.tracing.model_functions import ModelFunction
    from mbcli.tracing.record import Record

TAKEN = {  # in C or C++; what Python keeps for itself, it tells
    *("alignas", "alignof", "asm", "auto", "bool", "case", "catch", "char", "const", "constexpr", "cos", "default"),
    *("delete", "do", "double", "enum", "explicit", "export", "extern", "float", "friend", "goto", "inline", "int"),
    *("long", "main", "namespace", "new", "operator", "private", "protected", "public", "register", "restrict"),
    *("short", "signed", "sin", "sizeof", "sqrt", "static", "struct", "switch", "template", "this", "throw", "typedef"),
    *("typename", "union", "unsigned", "using", "virtual", "void", "volatile"),
}

WITHIN = ("work", "p", "real", "std")  # what functions of C and C++ have beside t0, t1, ...: of parts, free, types


@dataclass(frozen=True)
class CodeFunction:
    """A function to be written.

    Args:
        name: of the function in the code.
        asked: as it was asked for, `jacobian:tool`.
        words: what it gives, one sentence.
        record: its operations.
        function: what its kernels are; of: as ModelFunction.call takes it.
        free: FreeParameters that are its last input; None: it has none.
        is_derivative: whether it is the derivatives of that function.
    """

    name: str
    asked: str
    words: str
    record: Record
    function: ModelFunction
    of: Any
    free: Any = None
    is_derivative: bool = False


@dataclass(frozen=True)
class Code:
    """All that goes into one folder.

    Args:
        name: of the files and, in C, the start of each function's name.
        title: of the model.
        source: lines that say what it was made of and by.
        positions, velocities: the names of the coordinates.
        functions: what to write.
        real: "double" or "float".
        parameters: name, unit and default of each free parameter.
        context: whose plant and parameters they are of, for targets that write more than functions.
    """

    name: str
    title: str
    source: tuple[str, ...]
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    functions: tuple[CodeFunction, ...]
    real: str = "double"
    parameters: list[dict[str, Any]] = field(default_factory=list)
    context: Any = None

    def introduction(self) -> list[str]:
        """Lines for the head of a file: the model, conventions, and the coordinates with their places."""
        lines = [*self.source, ""]
        lines += [
            "Units are SI; spatial vectors and Jacobians have rotational rows first; matrices are stored row by row;",
            "quaternions are w x y z, of norm 1.",
        ]
        for letter, names in (("q", self.positions), ("v", self.velocities)):
            lines += ["", *(f"{letter}[{k}]  {name}" for k, name in enumerate(names))]
        if self.parameters:
            named = (f"{each['name']} = {each['value']:g} {each['unit']}" for each in self.parameters)
            lines += ["", *(f"p[{k}]  {line}" for k, line in enumerate(named))]
        return [line.rstrip() for line in lines]


def identifier(text: str) -> str:
    """A text as a name that C, C++ and Python take; letters of other alphabets and signs become underscores."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "model"
    if name[0].isdigit() or name in TAKEN or keyword.iskeyword(name):
        name = f"m_{name}"
    return name


def output_identifiers(names: Iterable[str], inputs: Iterable[str]) -> list[str]:
    """identifier() of names of outputs, each another one, that are no inputs and no variables within C functions."""
    found: list[str] = []
    for name in map(identifier, names):
        while name in found or name in WITHIN or name in inputs or re.fullmatch(r"t[0-9]+", name):
            name = f"m_{name}"
        found.append(name)
    return found


def harmless(text: str) -> str:
    """A text from a file that ends no comment and no docstring, whatever it is."""
    return re.sub(r'[^ -~]|\\|\*/|/\*|"""', "?", text)
