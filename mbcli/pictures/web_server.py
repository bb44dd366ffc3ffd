"""A web server for one page on this machine: it listens on 127.0.0.1 and serves what it is given, never files."""

from __future__ import annotations

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from mbcli.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BODY = 1 << 20  # [bytes] of a request
HEARTBEAT = 5.0  # [s] between signs of life to listening pages
HOSTS = ("127.0.0.1", "localhost")


class PageServer:
    """Serves answers by their paths.

    Only requests whose Host is this machine's name for itself are answered, so that a page from elsewhere cannot reach
    the server by a name of its own (DNS rebinding); and posted ones only as JSON from the page itself.

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
        self.url = f"http://127.0.0.1:{self.port}/"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> PageServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            for listener in self._listeners:
                listener.put(None)
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def tell(self, event: str, value: Any) -> None:
        """Sends an event to every page that listens at /events."""
        line = f"event: {event}\ndata: {json.dumps(value)}\n\n".encode()
        with self._lock:
            for listener in self._listeners:
                listener.put(line)

    # for the handler

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

    def listen(self) -> queue.Queue:
        listener: queue.Queue = queue.Queue()
        with self._lock:
            self._listeners.append(listener)
        return listener

    def forget(self, listener: queue.Queue) -> None:
        with self._lock:
            self._listeners.remove(listener)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that goes away is no error."""


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
        if not self._is_from_here():
            return
        path = self.path.partition("?")[0]
        if path == "/events":
            self._send_events()
            return
        answer = self.page_server.answer_get(path)
        if answer is None:
            self._send(404, "text/plain", b"not found")
        else:
            self._send(200, *answer)

    def do_POST(self) -> None:
        if not self._is_from_here():
            return
        path = self.path.partition("?")[0]
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length) > MOST_BODY:
            self.close_connection = True
            self._send(413, "text/plain", b"too large, or without a length")
            return
        body = self.rfile.read(int(length))
        if self.headers.get_content_type() != "application/json" or not self.page_server.has_post(path):
            self._send(404, "text/plain", b"not found")
            return
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            self._send(400, "text/plain", b"not JSON")
            return
        answer = self.page_server.answer_post(path, document)
        self._send(200, "application/json", json.dumps(answer, allow_nan=False).encode())

    def _is_from_here(self) -> bool:
        """Whether the request names this server as its host, and comes from its own page."""
        port = self.page_server.port
        hosts = {f"{name}:{port}" for name in HOSTS} | (set(HOSTS) if port == 80 else set())
        origin = self.headers.get("Origin")
        if self.headers.get("Host") in hosts and (origin is None or origin in {f"http://{host}" for host in hosts}):
            return True
        self.close_connection = True
        self._send(403, "text/plain", b"only for this machine")
        return False

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
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.close_connection = True
        listener = self.page_server.listen()
        try:
            self.wfile.write(b": here\n\n")
            while True:
                try:
                    line = listener.get(timeout=HEARTBEAT)
                except queue.Empty:
                    line = b": here\n\n"
                if line is None:
                    return
                self.wfile.write(line)
        finally:
            self.page_server.forget(listener)
