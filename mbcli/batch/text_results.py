"""Results as text: JSON lines and CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING

import numpy as np
import orjson

from mbcli.batch.result_encoder import Encoder, column_names

if TYPE_CHECKING:
    from mbcli.math.array_types import Array


class JsonLines(Encoder):
    def __init__(self, stream: IO[bytes], output_name: str, warn: Callable[[str], None]) -> None:
        self._stream, self._output_name, self._warn = stream, output_name, warn
        self._warned = False

    def begin(self, arrays: Mapping[str, Array]) -> None:
        cells = []
        for name, array in arrays.items():
            depth = _depth(array)
            cells.append((orjson.dumps(name) + b":" + b"[" * depth, b"]" * depth))
        self._row = b"{" + b",".join([_escaped(start) + b"%b" + end for start, end in cells]) + b"}\n"
        self._around = b"{" + cells[0][0], cells[0][1] + b"}\n"  # of the first cell, if there are no others

    def rows(self, arrays: Mapping[str, Array], first_row: int) -> None:
        if not self._warned:
            for name, array in arrays.items():
                self._warn_of_what_is_not_finite(name, array, first_row)
        self._stream.write(self._text_of(arrays))

    def _text_of(self, arrays: Mapping[str, Array]) -> bytes:
        if len(arrays) == 1:
            (array,) = arrays.values()
            if _has_brackets(array):
                start, end = self._around
                text, ends = _text_of_table(array)
                return start + text.replace(ends, end + start) + end
        texts = [_texts_of_rows(array) for array in arrays.values()]  # what is not finite is null there
        return b"".join([self._row % row for row in zip(*texts, strict=True)])

    def _warn_of_what_is_not_finite(self, name: str, array: Array, first_row: int) -> None:
        finite = np.isfinite(array)
        if not self._warned and not finite.all():
            self._warned = True
            row = first_row + int(np.argwhere(~finite)[0][0])
            text = f"row {row}: {name} is not finite; such values are written as null"
            self._warn(f"{self._output_name}: warning: {text}")


class Csv(Encoder):
    def __init__(self, stream: IO[bytes], component_names: dict[str, Sequence[str]]) -> None:
        self._stream, self._component_names = stream, component_names

    def begin(self, arrays: Mapping[str, Array]) -> None:
        header = [
            cell
            for name, array in arrays.items()
            for cell in column_names(self._component_names, name, array.shape[1:])
        ]
        if len(set(header)) < len(header):
            raise ValueError("two components have the same name in the header")
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(header)
        self._stream.write(text.getvalue().encode())

    def rows(self, arrays: Mapping[str, Array], first_row: int) -> None:
        flat = [array.reshape(len(array), math.prod(array.shape[1:])) for array in arrays.values()]
        table = np.hstack(flat) if all(array.dtype == float for array in flat) else None
        if table is not None and _has_brackets(table) and np.isfinite(table).all():
            text, ends = _text_of_table(table)
            self._stream.write(text.replace(ends, b"\n") + b"\n")
            return
        texts = [_texts_of_rows(array, null=False) for array in flat if array.shape[1]]
        self._stream.write(b"".join([b",".join(row) + b"\n" for row in zip(*texts, strict=True)]))


def _has_brackets(array: Array) -> bool:
    """Whether the text of each row ends with a bracket."""
    return array.size > 0 and array.ndim > 1


def _text_of_table(array: Array) -> tuple[bytes, bytes]:
    """The texts of the rows of an array with brackets, without those around all and around each, and what divides them.

    What is not finite is null.
    """
    if array.dtype.kind == "f":
        array = array.astype(float, copy=False)
    depth = _depth(array)
    text = orjson.dumps(np.ascontiguousarray(array), option=orjson.OPT_SERIALIZE_NUMPY)
    return text[depth + 1 : len(text) - depth - 1], b"]" * depth + b"," + b"[" * depth


def _depth(array: Array) -> int:
    """How many brackets enclose the first number of a row."""
    return 0 if 0 in array.shape[1:] else array.ndim - 1


def _texts_of_rows(array: Array, null: bool = True) -> list[bytes]:
    """The text of each row of an array of numbers or truth values, without the brackets around it (_depth()).

    null: whether a number that is not finite is null, not NaN or Infinity.
    """
    depth = _depth(array)
    if array.size == 0 or not (null or np.isfinite(array).all()):
        rows = (json.dumps(row, separators=(",", ":")) for row in array.astype(float).tolist())
        return [row[depth : len(row) - depth].encode() for row in rows]
    text, ends = _text_of_table(array)
    return text.split(ends)


def _escaped(text: bytes) -> bytes:
    """Text as it stands in a format with %."""
    return text.replace(b"%", b"%%")
