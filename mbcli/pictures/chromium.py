"""A headless Chromium that is driven through pipes: pages are opened, asked, and drawn as images.

It speaks the Chrome DevTools Protocol (https://chromedevtools.github.io/devtools-protocol/) over file descriptors 3
and 4 (--remote-debugging-pipe): messages are JSON, each ended by a zero byte. No port is opened.
"""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import tempfile
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mbcli.common import child_processes
from mbcli.common.left_behind import folder_prefix
from mbcli.errors import MbcliError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell")
SWITCHES = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--mute-audio",
    "--force-device-scale-factor=1",
    "--use-angle=swiftshader",  # drawn by the processor, the same on every machine
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)
ANSWER_SECONDS = 60.0
PLACE_PIPES = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for place, pipe in zip((3, 4), pipes):
    os.dup2(pipe, place)
os.execv(sys.argv[3], sys.argv[3:])
"""  # puts the pipes where Chromium looks for them, and becomes it


def find_chromium() -> str | None:
    """The program, None if there is none; the environment variable MBCLI_CHROMIUM names another one.

    None too where no pipes can be put at descriptors 3 and 4 of another process, as on Windows.
    """
    if os.name != "posix":
        return None
    named = os.environ.get("MBCLI_CHROMIUM")
    if named is not None:
        return named or None
    return next((path for path in map(child_processes.find_program, NAMES) if path), None)


class Chromium:
    """One browser with one page; a context manager. switches: more of them for the program.

    Attributes:
        problems: what the console reported as warning or error, and exceptions, as texts.

    ResourceError if there is no Chromium, or it does not answer.
    """

    def __init__(self, width: int = 1280, height: int = 800, switches: Sequence[str] = ()) -> None:
        program = find_chromium()
        if program is None:
            raise ResourceError("there is no Chromium on this machine")
        self._size, self._more = (width, height), switches
        self._folder = tempfile.TemporaryDirectory(prefix=folder_prefix("chromium"), ignore_cleanup_errors=True)
        self.problems: list[str] = []
        self._number, self._rest, self._loaded = 0, b"", False
        self._answers: dict[int, dict] = {}
        self._start(program)
        try:
            self._open_page()
        except BaseException:
            self.close()
            raise

    def _start(self, program: str) -> None:
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        switches = [
            *SWITCHES,
            f"--window-size={self._size[0]},{self._size[1]}",
            f"--user-data-dir={self._folder.name}",
            *self._more,
        ]
        if os.geteuid() == 0:
            switches.append("--no-sandbox")  # it refuses to start for root otherwise; it opens our own pages alone
        pipes = [str(to_read), str(to_write)]
        command = child_processes.python("-I", "-S", "-c", PLACE_PIPES, *pipes, program, *switches, "about:blank")
        try:
            self._process = child_processes.start(
                command,
                folder=self._folder.name,
                pass_fds=(to_read, to_write),
                stdin=child_processes.DEVNULL,
                stdout=child_processes.DEVNULL,
                stderr=child_processes.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise ResourceError(f"{program} cannot be started: {error.strerror}") from None
        finally:
            os.close(to_read)
            os.close(to_write)

    def _open_page(self) -> None:
        target = self._call("Target.createTarget", {"url": "about:blank"}, session=None)["targetId"]
        attached = self._call("Target.attachToTarget", {"targetId": target, "flatten": True}, session=None)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self.resize(*self._size)

    def resize(self, width: int, height: int) -> None:
        """Gives the page another size [pixels]."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", size)

    def open(self, url: str) -> None:
        """Opens a page and waits until it is loaded."""
        self._loaded = False
        answer = self._call("Page.navigate", {"url": url})
        if answer.get("errorText"):
            raise ResourceError(f"{url}: cannot be opened: {answer['errorText']}")
        self._wait(lambda: self._loaded)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise. MbcliError if it throws."""
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self._call("Runtime.evaluate", asked)
        if "exceptionDetails" in answer:
            raise MbcliError(f"the page reports: {_exception(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def point(self, kind: str, x: float, y: float, *, pressed: bool = False) -> None:
        """The mouse at a place [pixels] of the page: kind "mousePressed", "mouseMoved" or "mouseReleased"."""
        button = {"button": "left", "clickCount": 1} if pressed or kind != "mouseMoved" else {}
        self._call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "buttons": int(pressed), **button})

    def screenshot(self) -> bytes:
        """The page as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot", {"format": "png"})["data"])

    def close(self) -> None:
        """Ends the browser."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for descriptor in (self._to, self._from):
            if descriptor >= 0:
                os.close(descriptor)
        self._to = self._from = -1
        self._folder.cleanup()

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # messages

    def _call(
        self, method: str, parameters: Mapping[str, Any] | None = None, session: str | None = "page"
    ) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = self._session
        number, data = self._number, json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._to, data) :]
        except OSError:
            raise ResourceError("Chromium has ended") from None
        self._wait(lambda: number in self._answers)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise ResourceError(f"Chromium: {method}: {answer['error'].get('message')}")
        return answer["result"]

    def _wait(self, is_done: Callable[[], bool]) -> None:
        end = time.monotonic() + ANSWER_SECONDS
        while not is_done():
            ready, _, _ = select.select([self._from], [], [], max(end - time.monotonic(), 0.0))
            data = os.read(self._from, 1 << 20) if ready else b""
            if not ready:
                raise ResourceError(f"Chromium does not answer for {ANSWER_SECONDS:g} s")
            if not data:
                raise ResourceError("Chromium has ended")
            *messages, self._rest = (self._rest + data).split(b"\0")
            for message in messages:
                self._take(json.loads(message))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.problems.append(_exception(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description"))) for a in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(parameters["entry"]["text"])


def _exception(details: Mapping[str, Any]) -> str:
    thrown = details.get("exception", {})
    return thrown.get("description") or thrown.get("value") or details.get("text", "an exception")
