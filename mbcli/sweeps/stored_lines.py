"""A file of lines that grows on this machine, and lies in a store as objects of whole lines."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import weakref

from mbcli.common.left_behind import folder_prefix
from mbcli.errors import MbcliError, OutputError
from mbcli.sweeps.stores import fetch, names_in, remove, write_bytes

SENT_EVERY = 1.0  # [s] between two objects
SENT_PART = 0.01  # of the time that has passed, at least: so that objects stay few
LARGEST = 1 << 22  # bytes of an object


class StoredLines:
    """The lines of an address: objects ADDRESS/NUMBER-RANDOM, in the order of their names.

    A thread sends what has come since; what a store does not take is sent with what comes later. Two processes that
    write to one address lose nothing: names are random, and no object is ever replaced.

    Attributes:
        path: the file on this machine, which goes with this object.
        fault: why lines cannot be sent since a while, until somebody has told it; else None.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.fault: Exception | None = None
        folder = tempfile.mkdtemp(prefix=folder_prefix("journal"))
        self.path = os.path.join(folder, "lines")
        self._keeper = weakref.finalize(self, shutil.rmtree, folder, True)
        self._names = [name for name in names_in(address) if name[:6].isdigit()]
        self._sent = 0  # bytes
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def fetch(self) -> None:
        """Has the lines of the store in the file."""
        fetch(self.address, self._names, self.path)
        self._sent = os.path.getsize(self.path)

    def replace(self) -> None:
        """Puts the lines of the file in the place of all that the store has."""
        before, self._sent = list(self._names), 0
        self._send()
        for name in before:  # until they are gone, they are lines that come first
            remove(f"{self.address}/{name}")

    def start(self) -> None:
        """Begins to send."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        began, fails = time.monotonic(), False
        while not self._closing.wait(max(SENT_EVERY, SENT_PART * (time.monotonic() - began))):
            try:
                self._send()
                fails = False
            except (MbcliError, OSError) as error:
                self.fault, fails = (self.fault if fails else error), True

    def _send(self) -> None:
        end = os.path.getsize(self.path)  # what comes meanwhile is for the next time
        with open(self.path, "rb") as file:
            file.seek(self._sent)
            while content := file.read(min(LARGEST, end - self._sent)):
                content = content[: content.rfind(b"\n") + 1]
                if not content:
                    return
                number = int(self._names[-1][:6]) + 1 if self._names else 0
                name = f"{number:06d}-{os.urandom(4).hex()}"
                write_bytes(f"{self.address}/{name}", content)
                self._names.append(name)
                self._sent += len(content)
                file.seek(self._sent)

    def close(self) -> None:
        """Sends the last lines. OutputError if the store does not take them, which says where they are here."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        try:
            self._send()
        except OutputError as error:
            name = f"{os.urandom(4).hex()}-{os.path.basename(self.address)}"
            kept = os.path.join(tempfile.gettempdir(), name)  # no name that later runs would remove
            os.replace(self.path, kept)
            raise OutputError(f"{error}; its lines are in {kept}") from None
