"""A web server for one page on this machine: it listens on 127.0.0.1 and serves what it is given, never files."""

from __future__ import annotations

import json
import queue
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from mbcli.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BODY = 1 << 20  # [bytes] of a request
HEARTBEAT = 5.0  # [s] between signs of life to listening pages
HOSTS = ("127.0.0.1", "localhost")
MOST_CONNECTIONS = 64  # at once: each has a thread
MOST_LISTENERS = 16  # pages that are told of events
MOST_WAITING = 64  # events for a page that does not read them
TOKEN_BYTES = 16  # random ones, in the address


class PageServer:
    """Serves answers by their paths, below a token that only the printed address has.

    So another user of this machine, who may connect to the port, sees nothing. Only requests whose Host is this
    machine's name for itself are answered, so that a page from elsewhere cannot reach the server by a name of its own
    (DNS rebinding); and posted ones only as JSON from the page itself. Connections, pages that listen and events that
    these have not read are bounded: further ones are refused, or the page is given up.

    Attributes:
        url: of the path "/".

    Args:
        get: {path: () -> (content type, bytes)}; a path that ends in "/" is asked with the rest of the path, and may
            answer None.
        post: {path: (document) -> document}, both JSON.
        port: 0 for one that is free.

    ResourceError if the port is taken.
    """

    def __init__(
        self,
        get: dict[str, Callable[..., tuple[str, bytes] | None]],
        post: dict[str, Callable[[Any], Any]] | None = None,
        port: int = 0,
    ) -> None:
        self._get, self._post = get, post or {}
        self._listeners: list[queue.Queue] = []
        self._lock = threading.Lock()
        server = self

        class Handler(_Handler):
            page_server = server

        try:
            self._http = _Server(("127.0.0.1", port), Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ResourceError(f"port {port} of 127.0.0.1 cannot be used: {reason}") from None
        self.port = self._http.server_address[1]
        self._home = f"/{secrets.token_urlsafe(TOKEN_BYTES)}"
        self.url = f"http://127.0.0.1:{self.port}{self._home}/"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> PageServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            for listener in self._listeners:
                give_up(listener)
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def tell(self, event: str, value: Any) -> None:
        """Sends an event to every page that listens at /events."""
        line = f"event: {event}\ndata: {json.dumps(value)}\n\n".encode()
        with self._lock:
            for listener in self._listeners:
                try:
                    listener.put_nowait(line)
                except queue.Full:
                    give_up(listener)

    # for the handler

    def path_of(self, target: str) -> str | None:
        """The path of a request's target below the token; None if it has another one or none."""
        home, path = target[: len(self._home)], target[len(self._home) :].partition("?")[0]
        is_home = secrets.compare_digest(home.encode("utf-8", "replace"), self._home.encode())
        return path if is_home and path.startswith("/") else None

    def answer_get(self, path: str) -> tuple[str, bytes] | None:
        if path == "/" or not path.endswith("/"):
            if path in self._get:
                return self._get[path]()
            folder, _, rest = path.rpartition("/")
            if folder and f"{folder}/" in self._get:
                return self._get[f"{folder}/"](rest)
        return None

    def answer_post(self, path: str, document: Any) -> Any:
        return self._post[path](document)

    def has_post(self, path: str) -> bool:
        return path in self._post

    def listen(self) -> queue.Queue | None:
        """Where events for one more page come; None if there are too many."""
        listener: queue.Queue = queue.Queue(MOST_WAITING)
        with self._lock:
            if len(self._listeners) >= MOST_LISTENERS:
                return None
            self._listeners.append(listener)
        return listener

    def forget(self, listener: queue.Queue) -> None:
        with self._lock:
            self._listeners.remove(listener)


def give_up(listener: queue.Queue) -> None:
    """Ends the connection of a page, whatever waits for it."""
    while True:
        try:
            listener.put_nowait(None)
            return
        except queue.Full:
            try:
                listener.get_nowait()
            except queue.Empty:
                continue


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *arguments: Any) -> None:
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that goes away is no error."""


def _integer(text: str) -> int:
    """An integer that a float can hold."""
    if len(text) > 300:
        raise ValueError("too many digits")
    return int(text)


class _Handler(BaseHTTPRequestHandler):
    page_server: PageServer
    protocol_version = "HTTP/1.1"
    server_version = "mbcli"
    sys_version = ""
    timeout = 60
    disable_nagle_algorithm = True  # answers are small

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not reported."""

    def do_GET(self) -> None:
        path = self._path_from_here()
        if path is None:
            return
        if path == "/events":
            self._send_events()
            return
        answer = self.page_server.answer_get(path)
        if answer is None:
            self._send(404, "text/plain", b"not found")
        else:
            self._send(200, *answer)

    def do_POST(self) -> None:
        path = self._path_from_here()
        if path is None:
            return
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or len(length) > 19 or int(length) > MOST_BODY:
            self.close_connection = True
            self._send(413, "text/plain", b"too large, or without a length")
            return
        body = self.rfile.read(int(length))
        if self.headers.get_content_type() != "application/json" or not self.page_server.has_post(path):
            self._send(404, "text/plain", b"not found")
            return
        try:
            document = json.loads(body, parse_int=_integer)
        except (ValueError, RecursionError):
            self._send(400, "text/plain", b"not JSON")
            return
        answer = self.page_server.answer_post(path, document)
        self._send(200, "application/json", json.dumps(answer, allow_nan=False).encode())

    def _path_from_here(self) -> str | None:
        """The path of a request with the token that names this server as its host and comes from its own page."""
        port = self.page_server.port
        hosts = {f"{name}:{port}" for name in HOSTS} | (set(HOSTS) if port == 80 else set())
        origin = self.headers.get("Origin")
        said = b"only for this machine"
        if self.headers.get("Host") in hosts and (origin is None or origin in {f"http://{host}" for host in hosts}):
            path = self.page_server.path_of(self.path)
            if path is not None:
                return path
            said = b"only at the address that mbcli printed"
        self.close_connection = True
        self._send(403, "text/plain", said)
        return None

    def _send(self, status: int, content_type: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.end_headers()
        self.wfile.write(content)

    def _send_events(self) -> None:
        listener = self.page_server.listen()
        if listener is None:
            self.close_connection = True
            self._send(503, "text/plain", b"too many pages listen")
            return
        try:
            self._write_events(listener)
        finally:
            self.page_server.forget(listener)

    def _write_events(self, listener: queue.Queue) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.close_connection = True
        line: bytes | None = b": here\n\n"
        while line is not None:
            self.wfile.write(line)
            try:
                line = listener.get(timeout=HEARTBEAT)
            except queue.Empty:
                line = b": here\n\n"
