"""Files and pipes: what has arrived, and their lines in batches."""

from __future__ import annotations

import io
import select
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from typing import TypeAlias

    LineBatch: TypeAlias = tuple[int, bytes]  # the number of the first line, and lines with line feeds between them

READ_SIZE = 1 << 20
LONGEST_LINE = 1 << 26
LINE_FEED = 10
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_arrived(stream: IO[bytes], name: str) -> bytes:
    """The bytes that have arrived on the stream, up to READ_SIZE; waits only if there is nothing; empty at the end."""
    try:
        return getattr(stream, "read1", stream.read)(READ_SIZE)
    except OSError as error:
        raise ResourceError(f"{name}: error: cannot read the states: {error.strerror}") from None


def _more_has_arrived(stream: IO[bytes]) -> bool:
    """Whether a read would return at once (files and other inputs that are not pipes always would)."""
    try:
        return bool(select.select([stream.fileno()], [], [], 0)[0])
    except (AttributeError, OSError, ValueError):
        return True


def line_batches(stream: IO[bytes], name: str, limit: int, head: bytes) -> Iterator[LineBatch]:
    """Yields the number of the first line and at most `limit` complete lines, without the last one's line feed.

    A batch has fewer lines only at the end, or if a pipe has nothing more to read now.
    """
    number, waiting = 1, b""
    data = head or read_arrived(stream, name)
    while data:
        waiting += data
        if number == 1:
            waiting = waiting.removeprefix(BYTE_ORDER_MARK)
        ends = np.flatnonzero(np.frombuffer(waiting, np.uint8) == LINE_FEED)
        if len(waiting) - (ends[-1] if len(ends) else 0) > LONGEST_LINE:
            raise ModelError(f"{name}:{number + len(ends)}: error: longer than {LONGEST_LINE} bytes")
        start = 0
        for last in range(limit - 1, len(ends), limit):
            yield number, waiting[start : ends[last]]
            number, start = number + limit, int(ends[last]) + 1
        more = len(ends) % limit
        if more and not _more_has_arrived(stream):
            yield number, waiting[start : ends[-1]]
            number, start = number + more, int(ends[-1]) + 1
        waiting = waiting[start:]
        data = read_arrived(stream, name)
    if waiting:
        yield number, waiting.removesuffix(b"\n")


class RestoredStream(io.RawIOBase):
    """A stream from its start, of which some bytes have been read."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head, self._stream = head, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or getattr(self._stream, "read1", self._stream.read)(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)


def text_of_line(line: bytes, where: str) -> str:
    try:
        return line.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError as error:
        raise ModelError(f"{where}: error: byte {error.start + 1} of the line is not UTF-8") from None
