"""A line on stderr while collision meshes or images are made, if that takes long."""

from __future__ import annotations

import sys
import threading

PATIENCE = 1.0  # [s] before there is a line


class MeshProgress:
    """Tells a terminal how many meshes are ready, once preparing them has taken a second; a context manager.

    shown: whether the user wants to see it. doing: what is done to what is counted.
    """

    def __init__(self, shown: bool = True, doing: str = "preparing collision meshes, once for each file") -> None:
        self._timer: threading.Timer | None
        self._doing = doing
        self._active, self._drawn, self._text = shown and sys.stderr.isatty(), False, ""
        self._lock, self._timer = threading.Lock(), None

    def __call__(self, done: int, count: int) -> None:
        """Before each mesh, and when all are ready."""
        if self._active and done < count:
            self._show(f"{self._doing}: {done} of {count} ready ")
        elif self._active:
            self._erase()

    def _show(self, text: str) -> None:
        with self._lock:
            self._text = text
            if self._timer is None:  # one mesh alone may take long
                self._timer = threading.Timer(PATIENCE, self._appear)
                self._timer.daemon = True
                self._timer.start()
            elif self._drawn:
                self._draw()

    def _appear(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._drawn = True
                self._draw()

    def _draw(self) -> None:
        sys.stderr.write(f"\r\x1b[K{self._text}")
        sys.stderr.flush()

    def _erase(self) -> None:
        with self._lock:
            timer, self._timer = self._timer, None
            if timer is not None:
                timer.cancel()
            if self._drawn:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
            self._drawn = False

    def __enter__(self) -> MeshProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._active:
            self._erase()
