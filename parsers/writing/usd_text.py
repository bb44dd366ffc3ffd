"""Prims as the text of USD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mbcli.parsers.writing.write_xml import numbers

from mbcli.math.rotation_array import quaternion_from_matrix

if TYPE_CHECKING:
    from collections.abc import Iterable

INDENT = "    "


class Prim:
    """A prim with its statements, and those in it."""

    def __init__(self, kind: str, name: str, *, word: str = "def", metadata: Iterable[str] = ()) -> None:
        self.kind, self.name, self.word = kind, name, word
        self.apis: list[str] = []
        self.metadata = list(metadata)
        self.lines: list[str] = []
        self.children: list[Prim] = []

    def add(self, kind: str, name: str, **options: Any) -> Prim:
        child = Prim(kind, name, **options)
        self.children.append(child)
        return child

    def say(self, declaration: str, value: str) -> None:
        self.lines.append(f"{declaration} = {value}")

    def apply(self, *apis: str) -> None:
        self.apis += [api for api in apis if api not in self.apis]

    def text_lines(self, indent: str = "") -> Iterable[str]:
        metadata = list(self.metadata)
        if self.apis:
            metadata.insert(0, "prepend apiSchemas = [" + ", ".join(f'"{api}"' for api in self.apis) + "]")
        head = f'{indent}{self.word} {self.kind} "{self.name}"'
        if metadata:
            yield f"{head} ("
            yield from (f"{indent}{INDENT}{line}" for line in metadata)
            yield f"{indent})"
        else:
            yield head
        yield f"{indent}{{"
        yield from (f"{indent}{INDENT}{line}" for line in self.lines)
        for child in self.children:
            yield ""
            yield from child.text_lines(indent + INDENT)
        yield f"{indent}}}"


def double(value: float) -> str:
    """All digits."""
    return numbers(value)


def single(value: float) -> str:
    """The shortest text of a number of single precision."""
    with np.errstate(over="ignore"):
        rounded = np.float32(value) + np.float32(0.0)
    return str(rounded).removesuffix(".0")


def singles(values: Iterable[float]) -> str:
    return "(" + ", ".join(map(single, values)) + ")"


def doubles(values: Iterable[float]) -> str:
    return "(" + ", ".join(map(double, values)) + ")"


def quaternion(R: Any, number: Any = single) -> str:
    """(w, x, y, z) of a rotation matrix, with w not negative."""
    wxyz = np.array(quaternion_from_matrix(np.asarray(R)[:3, :3]))
    wxyz = -wxyz if wxyz[0] < 0.0 else wxyz
    return "(" + ", ".join(map(number, wxyz)) + ")"


def quoted(text: str) -> str:
    """A string."""
    return '"' + "".join(c for c in text if c.isprintable()).replace("\\", "\\\\").replace('"', '\\"') + '"'


def place(prim: Prim, X: Any, scale: Any = None) -> None:
    """The transform of a prim; nothing for the identity."""
    order = []
    if np.asarray(X)[:3, 3].any():
        prim.say("double3 xformOp:translate", doubles(X[:3, 3]))
        order.append("xformOp:translate")
    if not np.array_equal(np.asarray(X)[:3, :3], np.eye(3)):
        prim.say("quatd xformOp:orient", quaternion(X, double))
        order.append("xformOp:orient")
    if scale is not None and tuple(scale) != (1.0, 1.0, 1.0):
        prim.say("double3 xformOp:scale", doubles(scale))
        order.append("xformOp:scale")
    if order:
        prim.say("uniform token[] xformOpOrder", "[" + ", ".join(f'"{name}"' for name in order) + "]")
