"""Signals that end a command: SIGTERM, and SIGHUP when its terminal goes away."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Terminated(BaseException):
    """A signal has ended the command.

    Attributes:
        exit_code: what a shell reports of it.
    """

    def __init__(self, signum: int = signal.SIGTERM) -> None:
        super().__init__(signum)
        self.exit_code = 128 + signum


def ending_signals() -> list[int]:
    """SIGTERM, and SIGHUP unless whoever started the command ignores it, as nohup does."""
    wanted = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    return [number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def signals_end_commands() -> Iterator[None]:
    """Within it these signals raise Terminated; after it whoever runs commands in its own process has its handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    hook = sys.unraisablehook
    before = {number: signal.signal(number, terminate) for number in ending_signals()}
    sys.unraisablehook = send_again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def send_again(unraisable: Any) -> None:
    """A hook of sys.unraisablehook: Python drops an exception in a destructor or callback, and a signal with it."""
    if isinstance(unraisable.exc_value, Terminated):
        again = threading.Timer(0.01, os.kill, (os.getpid(), unraisable.exc_value.exit_code - 128))
        again.daemon = True  # after this hook, in which an exception would be dropped too
        again.start()
    else:
        sys.__unraisablehook__(unraisable)


def terminate(signum: int, frame: object) -> None:
    """A handler."""
    raise Terminated(signum)
