"""Tetrahedra from VTK's legacy files: UNSTRUCTURED_GRID, ASCII or binary, versions 2 to 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mbcli.math.array_types import FloatArray, IntArray

TETRAHEDRON = 10  # of VTK's numbers of cells
MOST_NUMBERS = 20_000_000
_TYPES = {
    "double": "f8", "float": "f4", "int": "i4", "unsigned_int": "u4", "long": "i8", "vtkIdType": "i8",
    "vtktypeint64": "i8", "vtktypeint32": "i4", "unsigned_long": "u8", "short": "i2", "char": "i1",
    "unsigned_char": "u1",
}  # fmt: skip


def read_vtk(content: bytes) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) and tetrahedra (m, 4) in the bytes of a file.

    Raises ModelError for another kind of file, a cell that is no tetrahedron, and numbers that are missing.
    """
    return _Reader(content).grid()


class _Reader:
    """Goes through the sections of a file: lines of words, blocks of numbers."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0
        if not self._line().startswith("# vtk DataFile Version"):
            raise ModelError("its first line is not that of a legacy VTK file ('# vtk DataFile Version')")
        self._line()  # a title
        kind = self._line().upper()
        if kind not in ("ASCII", "BINARY"):
            raise ModelError(f"its third line is ASCII or BINARY, not '{kind[:40]}'")
        self.is_binary = kind == "BINARY"

    def grid(self) -> tuple[FloatArray, IntArray]:
        points = cells = types = None
        while words := self._words():
            section = words[0].upper()
            if section == "DATASET" and words[1:2] != ["UNSTRUCTURED_GRID"]:
                raise ModelError(f"its data set is an UNSTRUCTURED_GRID of tetrahedra, not {' '.join(words[1:2])}")
            if section == "POINTS":
                points = self._numbers(3 * self._count(words, 1), words[2]).reshape(-1, 3).astype(float)
            elif section == "CELLS":
                cells = self._cells(self._count(words, 1), self._count(words, 2))
            elif section == "CELL_TYPES":
                types = self._numbers(self._count(words, 1), "int")
            elif section in ("POINT_DATA", "CELL_DATA"):
                break
            elif section == "METADATA":
                while self._line():
                    pass
        if points is None or cells is None or types is None:
            raise ModelError("it has no POINTS, CELLS and CELL_TYPES")
        if len(types) != len(cells):
            raise ModelError(f"it has {len(cells)} cells, but the types of {len(types)}")
        if not (types == TETRAHEDRON).all():
            row = int(np.flatnonzero(types != TETRAHEDRON)[0])
            raise ModelError(f"cell {row} is of VTK's type {int(types[row])}; all must be linear tetrahedra (10)")
        return points, np.array(cells, dtype=np.int64).reshape(-1, 4)

    def _cells(self, count: int, size: int) -> list[NDArray[np.int64]] | NDArray[np.int64]:
        """The corners of each cell: rows of their number and indices, or from version 5 on their ends, then all."""
        start = self.place
        words = self._words()
        if words and words[0].upper() == "OFFSETS":
            ends = self._numbers(count, words[1]).astype(np.int64)
            words = self._words()
            if not words or words[0].upper() != "CONNECTIVITY":
                raise ModelError("after OFFSETS comes CONNECTIVITY")
            corners = self._numbers(size, words[1]).astype(np.int64)
            if count and (np.diff(ends) != 4).any() or len(corners) != 4 * (count - 1):
                raise ModelError("a cell has not four corners: all must be linear tetrahedra")
            return corners.reshape(-1, 4)
        self.place = start
        rows = self._numbers(size, "int").astype(np.int64)
        if size != 5 * count or (rows[::5] != 4).any():
            raise ModelError("a cell has not four corners: all must be linear tetrahedra")
        return rows.reshape(-1, 5)[:, 1:]

    def _line(self) -> str:
        end = self.content.find(b"\n", self.place)
        end = len(self.content) if end < 0 else end
        line = self.content[self.place : end]
        self.place = end + 1
        return line.decode("ascii", "replace").strip()

    def _words(self) -> list[str]:
        """Of the next line that has any; none at the end."""
        while self.place < len(self.content):
            if words := self._line().split():
                return words
        return []

    def _count(self, words: list[str], k: int) -> int:
        number = int(words[k]) if len(words) > k and words[k].isdigit() else -1
        if not 0 <= number <= MOST_NUMBERS:
            raise ModelError(f"'{' '.join(words)[:60]}' does not say how many, or more than {MOST_NUMBERS}")
        return number

    def _numbers(self, count: int, kind: str) -> NDArray[np.float64] | NDArray[np.int64]:
        code = _TYPES.get(kind)
        if code is None:
            raise ModelError(f"numbers of type '{kind[:40]}' are not read")
        if self.is_binary:
            data_type = np.dtype(">" + code)
            end = self.place + count * data_type.itemsize
            if end > len(self.content):
                raise ModelError("it ends within its numbers")
            numbers = np.frombuffer(self.content, dtype=data_type, count=count, offset=self.place)
            self.place = end
            return numbers.astype(float if code[0] == "f" else np.int64)
        return self._text_numbers(count, code)

    def _text_numbers(self, count: int, code: str) -> NDArray[np.float64] | NDArray[np.int64]:
        words: list[bytes] = []
        while len(words) < count:
            if self.place >= len(self.content):
                raise ModelError("it ends within its numbers")
            # a slice that may end within a number is cut back to its last space
            end = min(len(self.content), self.place + 24 * (count - len(words)) + 64)
            while end < len(self.content) and self.content[end : end + 1] not in (b" ", b"\n", b"\t", b"\r"):
                end += 1
            part = self.content[self.place : end].split()
            if len(words) + len(part) > count:
                end = self._after(count - len(words))
                part = part[: count - len(words)]
            words += part
            self.place = end
        try:
            return np.array(words, dtype=float if code[0] == "f" else np.int64)
        except ValueError:
            raise ModelError("there is a word where a number should be") from None

    def _after(self, count: int) -> int:
        """The place after so many words."""
        import re

        matches = re.compile(rb"\S+").finditer(self.content, self.place)
        for _ in range(count):
            end = next(matches).end()
        return end
