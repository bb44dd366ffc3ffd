"""Lines on stderr that move: how far a command is, and what it waits for."""

from __future__ import annotations

import sys
import threading
import time
from math import inf
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DRAWN_EVERY = 0.5  # [s] while kernels are compiled
PATIENCE = 1.0  # [s] before meshes have a line


class TerminalLine:
    """One line on stderr that is drawn again and again, if that is a terminal.

    Args:
        shown: whether the user wants to see it.
        every: [s] between two drawings, at least.
    """

    def __init__(self, shown: bool, every: float = 0.0) -> None:
        self.is_active, self._every, self._drawn_at = shown and sys.stderr.isatty(), every, -inf

    def draw(self, text: Callable[[], str]) -> None:
        now = time.monotonic()
        if self.is_active and now - self._drawn_at >= self._every:
            self._drawn_at = now
            self._write(f"{text()} ")

    def close(self) -> None:
        """Erases the line."""
        if self._drawn_at > -inf:
            self._drawn_at = -inf
            self._write("")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


class CompilingLine:
    """Tells that kernels are compiled, from start() to close(), or as a context manager; once on a machine.

    A terminal has one line with the time and, if kernels are given, how many of them are ready. Other streams get one
    line at the start.

    Args:
        what: "the simulation".
        seconds: about how long it takes.
        is_ready: a function for each kernel: whether it is compiled.
        shown: whether the user wants to see it.
    """

    def __init__(
        self, what: str, seconds: int, is_ready: Iterable[Callable[[], bool]] = (), shown: bool = True
    ) -> None:
        self._thread: threading.Thread | None
        self._text, self._seconds = f"compiling {what}, once on this machine", seconds
        self._is_ready, self._shown = list(is_ready), shown
        self._ended, self._thread = threading.Event(), None

    def start(self) -> None:
        self._line, self._began = TerminalLine(self._shown), time.monotonic()
        if self._line.is_active:
            self._thread = threading.Thread(target=self._draw_until_the_end, daemon=True)
            self._thread.start()
        elif self._shown:
            click.echo(f"mbcli: {self._text} (about {self._seconds} s)", err=True)

    def _draw_until_the_end(self) -> None:
        while True:
            self._line.draw(self._progress)
            if self._ended.wait(DRAWN_EVERY):
                return

    def _progress(self) -> str:
        parts = [f"{time.monotonic() - self._began:.0f} s of about {self._seconds}"]
        if self._is_ready:
            parts.insert(0, f"{sum(is_ready() for is_ready in self._is_ready)} of {len(self._is_ready)} kernels")
        return f"{self._text}: {', '.join(parts)}"

    def close(self) -> None:
        """Erases the line; closed already, it stays so."""
        if self._thread is not None:
            self._ended.set()
            self._thread.join()
            self._thread = None
            self._line.close()

    def __enter__(self) -> CompilingLine:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class MeshProgress:
    """Tells a terminal how many meshes are ready, once preparing them has taken a second; a context manager.

    shown: whether the user wants to see it. doing: what is done to what is counted.
    """

    def __init__(self, shown: bool = True, doing: str = "preparing collision meshes, once for each file") -> None:
        self._timer: threading.Timer | None
        self._doing, self._text, self._has_appeared = doing, "", False
        self._line, self._lock, self._timer = TerminalLine(shown), threading.Lock(), None

    def __call__(self, done: int, count: int) -> None:
        """Before each mesh, and when all are ready."""
        if done >= count:
            self.close()
        elif self._line.is_active:
            self._show(f"{self._doing}: {done} of {count} ready")

    def _show(self, text: str) -> None:
        with self._lock:
            self._text = text
            if self._timer is None:  # one mesh alone may take long
                self._timer = threading.Timer(PATIENCE, self._appear)
                self._timer.daemon = True
                self._timer.start()
            elif self._has_appeared:
                self._line.draw(lambda: text)

    def _appear(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._has_appeared = True
                self._line.draw(lambda: self._text)

    def close(self) -> None:
        """Erases the line."""
        with self._lock:
            timer, self._timer, self._has_appeared = self._timer, None, False
            if timer is not None:
                timer.cancel()
            self._line.close()

    def __enter__(self) -> MeshProgress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
