"""Faults: seven that a reader chose, and others that are drawn: a statement, a term, an order of indices, a comparison.

A drawn one stands in the body of a function. A statement that binds a plain name is not deleted: that nobody reads a
name that is not there is no question for tests.
"""

from __future__ import annotations

import ast
import functools
import random
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("mbcli", "parsers")
OPPOSITE = {
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
NAMED = (  # (file, text, what stands there instead)
    (
        "mbcli/multibody/core/dynamics.py",
        "calc_mass_matrix_by_inverse_dynamics()\n    state.velocities_current = False",
        "calc_mass_matrix_by_inverse_dynamics()",
    ),
    ("mbcli/log/writer.py", "self._flush()  # the slot before the number that makes it valid", "pass"),
    ("mbcli/engine/collision/ahead.py", "            put_back(c, points, n, A, B, t)", "            pass"),
    ("mbcli/multibody/core/run_plant.py", "made = copy.copy(plant)", "made = plant"),
    (
        "mbcli/multibody/parsing/add_model.py",
        "joint.reflected_inertia, joint.collides_with_parent = spec.reflected_inertia, spec.collides_with_parent",
        "joint.collides_with_parent = spec.collides_with_parent",
    ),
    ("mbcli/sensors/limit_distance.py", " + np.where(above, upper - q, 0.0)", ""),
    ("mbcli/engine/stepping/worlds.py", "    forget_neighbors(d)", "    pass"),
)


class Fault(NamedTuple):
    """The text from byte `start` to `end` of a file is `new`."""

    file: str
    line: int
    kind: str
    start: int
    end: int
    new: str

    @property
    def room(self) -> str:
        return room(self.file)

    def put_into(self, content: bytes) -> bytes:
        return content[: self.start] + self.new.encode() + content[self.end :]

    def words(self, content: bytes) -> str:
        """What it changes, in one line."""
        old = " ".join(content[self.start : self.end].decode().split())
        return f"{old} -> {' '.join(self.new.split()) or 'nothing'}"


def room(file: str) -> str:
    """The folder of a file: what a row of the table counts."""
    return str(Path(file).parent)


def named_faults() -> list[Fault]:
    """The seven. ValueError where the text of one is gone: it has to be put anew."""
    return [_named(*one) for one in NAMED]


def _named(file: str, old: str, new: str) -> Fault:
    content = (ROOT / file).read_bytes()
    if content.count(old.encode()) != 1:
        raise ValueError(f"{file}: '{old.strip()}' does not stand there once")
    start = content.index(old.encode())
    line = content[:start].count(b"\n") + 1
    return Fault(file, line, "named", start, start + len(old.encode()), new)


def drawn_faults(count: int, seed: int) -> list[Fault]:
    """Half of them in rooms of kernels, the rest in the others, room by room in an order that is drawn."""
    choice, rooms = random.Random(seed), _faults_of_rooms()
    kernels = [name for name in sorted(rooms) if name.startswith("mbcli/engine/") and rooms[name]]
    others = [name for name in sorted(rooms) if not name.startswith("mbcli/engine") and rooms[name]]
    drawn: list[Fault] = []
    for names, wanted in ((kernels, (count + 1) // 2), (others, count // 2)):
        choice.shuffle(names)
        for k in range(wanted):
            fault = choice.choice([fault for fault in rooms[names[k % len(names)]] if fault not in drawn])
            drawn.append(fault)
    return drawn


@functools.cache
def _faults_of_rooms() -> dict[str, list[Fault]]:
    rooms = defaultdict(list)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            file = str(path.relative_to(ROOT))
            rooms[room(file)].extend(faults_of(file, path.read_bytes()))
    return rooms


def faults_of(file: str, content: bytes) -> list[Fault]:
    """All that can be put into the functions of a file."""
    lines = content.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def span(node):
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    found = []

    def visit(node, of_function):
        if isinstance(node, ast.FunctionDef):
            for inner in node.body:
                visit(inner, True)
            return
        if of_function:
            for kind, replaced, new in _changes(node, content, span):
                found.append(Fault(file, node.lineno, kind, *span(replaced), new))
        for inner in ast.iter_child_nodes(node):
            if inner is not getattr(node, "annotation", None):
                visit(inner, of_function)

    visit(ast.parse(content), False)
    return found


def _changes(node, content, span):
    def text(part):
        start, end = span(part)
        return content[start:end].decode()

    if _can_go(node):
        yield "statement", node, "pass"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and not _is_text(node):
        yield "term", node, text(node.left)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        first, second = node.slice.elts
        if not any(isinstance(each, ast.Slice | ast.Constant) for each in (first, second)):
            yield "indices", node, f"{text(node.value)}[{text(second)}, {text(first)}]"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield "comparison", node, f"{text(node.left)} {OPPOSITE[type(node.ops[0])]} {text(node.comparators[0])}"


def _can_go(node):
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    if isinstance(node, ast.AugAssign):
        return True
    return isinstance(node, ast.Assign) and all(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets)


def _is_text(node):
    return any(isinstance(each, ast.JoinedStr) or _constant_text(each) for each in ast.walk(node))


def _constant_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
