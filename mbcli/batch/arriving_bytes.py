"""Files and pipes: what has arrived, and their lines."""

from __future__ import annotations

import io
import select
from typing import IO, Any

import numpy as np

from mbcli.errors import ModelError, ResourceError

READ_SIZE = 1 << 20
LONGEST_LINE = 1 << 26
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_arrived(stream: IO[bytes], name: str) -> bytes:
    """The bytes that have arrived on the stream, up to READ_SIZE; waits only if there is nothing; empty at the end."""
    try:
        return getattr(stream, "read1", stream.read)(READ_SIZE)
    except OSError as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: OSError) -> ResourceError:
    return ResourceError(f"{name}: error: cannot read the states: {error.strerror}")


def _more_has_arrived(stream: IO[bytes]) -> bool:
    """Whether a read would return at once (files and other inputs that are not pipes always would)."""
    try:
        return bool(select.select([stream.fileno()], [], [], 0)[0])
    except (AttributeError, OSError, ValueError):
        return True


class ArrivingLines:
    """The lines of a stream from a place on that moves on, as they arrive.

    Args:
        stream: of bytes.
        name: of it, in messages.
        head: its first bytes, which have been read.

    Attributes:
        name: of the stream.
        text: characters (int8); whole lines with their line feeds from `start` to the end.
        start: of the next line, if there is one.
        number: of the next line, from 1.
    """

    def __init__(self, stream: IO[bytes], name: str, head: bytes = b"") -> None:
        self._stream, self.name = stream, name
        self._buffer = bytearray(max(2 * len(head), 2 * READ_SIZE))
        self._filled, self._is_at_end, self._has_carriages = 0, False, False
        self.start, self.number = 0, 1
        self.text = self._lines_until(0)
        if head:
            self._buffer[: len(head)] = head
            self._take_in(len(head))

    def wait(self) -> bool:
        """Whether there is another line; waits for it."""
        while self.start == len(self.text):
            if not self._read():
                return False
        return True

    def has_arrived(self) -> bool:
        """Whether there is another line now."""
        while self.start == len(self.text):
            if not _more_has_arrived(self._stream) or not self._read():
                return False
        return True

    def look(self) -> tuple[bytes, str]:
        """The next line without its line feed, and its place in messages."""
        end = self._buffer.index(b"\n", self.start)
        return bytes(memoryview(self._buffer)[self.start : end]), f"{self.name}:{self.number}"

    def take(self) -> tuple[bytes, str]:
        """As look(), and moves on."""
        line, where = self.look()
        self.move_to(self.start + len(line) + 1, 1)
        return line, where

    def move_to(self, start: int, lines: int) -> None:
        """Moves on by so many lines to the start of another one."""
        self.start = start
        self.number += lines

    def _read(self) -> bool:
        """Reads what has arrived after all lines were taken; whether there was more."""
        rest = self._filled - self.start
        if rest > LONGEST_LINE:
            raise ModelError(f"{self.name}:{self.number}: error: longer than {LONGEST_LINE} bytes")
        if self._is_at_end:
            return False
        memory = memoryview(self._buffer)
        unfinished = memory[self.start : self._filled]
        if len(memory) - rest <= READ_SIZE:
            self._buffer = bytearray(2 * len(memory))
            memory = memoryview(self._buffer)
        memory[:rest] = unfinished
        self._filled, self.start = rest, 0
        count = self._read_into(memory[rest : rest + READ_SIZE])
        if count == 0:
            self._is_at_end = True
            self._buffer[rest : rest + (rest > 0)] = b"\n" * (rest > 0)  # the last line may have none
            count = int(rest > 0)
        self._take_in(count)
        return count > 0

    def _read_into(self, memory: memoryview) -> int:
        read_into: Any = getattr(self._stream, "readinto1", None)
        if read_into is None:
            data = read_arrived(self._stream, self.name)
            memory[: len(data)] = data
            return len(data)
        try:
            return read_into(memory)
        except OSError as error:
            raise _unreadable(self.name, error) from None

    def _take_in(self, count: int) -> None:
        """Counts as many bytes more as read."""
        self._end_lines_by_feeds(self._filled, count)
        end = self._buffer.rfind(b"\n", self._filled, self._filled + count) + 1
        self._filled += count
        self.text = self._lines_until(end)
        if end and self.number == 1 and self._buffer.startswith(BYTE_ORDER_MARK):
            self.start = len(BYTE_ORDER_MARK)

    def _end_lines_by_feeds(self, start: int, count: int) -> None:
        """Makes line feeds of carriage returns, if these end the lines of the text, as on old machines."""
        if self._filled == 0 and not self._has_carriages:
            first = self._buffer.find(b"\r", 0, count)
            self._has_carriages = 0 <= first < count - 1 and self._buffer.find(b"\n", 0, count) < 0
        if self._has_carriages:
            self._buffer[start : start + count] = self._buffer[start : start + count].replace(b"\r", b"\n")

    def _lines_until(self, end: int) -> Any:
        return np.frombuffer(self._buffer, np.int8, end)


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
