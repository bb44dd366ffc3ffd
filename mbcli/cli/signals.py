"""Signals that end a command: SIGTERM, and SIGHUP when its terminal goes away."""

import signal


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


def terminate(signum: int, frame: object) -> None:
    """A handler."""
    raise Terminated(signum)
