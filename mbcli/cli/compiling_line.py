"""What stderr says while kernels are compiled, which happens once on a machine."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DRAWN_EVERY = 0.5  # [s]


class CompilingLine:
    """Tells that kernels are compiled, from start() to close(), or as a context manager.

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
        if not self._shown:
            return
        if not sys.stderr.isatty():
            click.echo(f"mbcli: {self._text} (about {self._seconds} s)", err=True)
            return
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._draw_until_the_end, daemon=True)
        self._thread.start()

    def _draw_until_the_end(self) -> None:
        while True:
            parts = [f"{time.monotonic() - self._began:.0f} s of about {self._seconds}"]
            if self._is_ready:
                parts.insert(0, f"{sum(is_ready() for is_ready in self._is_ready)} of {len(self._is_ready)} kernels")
            sys.stderr.write(f"\r\x1b[K{self._text}: {', '.join(parts)} ")
            sys.stderr.flush()
            if self._ended.wait(DRAWN_EVERY):
                return

    def close(self) -> None:
        """Erases the line; closed already, it stays so."""
        if self._thread is not None:
            self._ended.set()
            self._thread.join()
            self._thread = None
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __enter__(self) -> CompilingLine:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
