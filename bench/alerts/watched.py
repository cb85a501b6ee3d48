"""What is watched, and who is told: a target with a gauge that flips, and a receiver that notes when it was called."""

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TIMEOUT_SECONDS = 30


class Target:
    """`/metrics` with `bench_value{series="0"}` up to the number of series, all of them at one value."""

    def __init__(self, series: int) -> None:
        self._series = series
        self._page = self._text(0)
        self._server = _serve(self._handler())
        self.port = int(self._server.server_address[1])

    def set(self, value: int) -> None:
        """Give all series a value; the next scrape sees it."""
        self._page = self._text(value)

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()

    def _text(self, value: int) -> bytes:
        lines = (f'bench_value{{series="{number}"}} {value}\n' for number in range(self._series))
        return ("# TYPE bench_value gauge\n" + "".join(lines)).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        target = self

        class Page(_Quiet):
            def do_GET(self) -> None:
                body = target._page
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Page


@dataclass(slots=True)
class Call:
    """One request at the receiver: when (monotonic seconds), from whom, and fingerprints of alerts by state."""

    at: float
    path: str
    alerts: dict[str, set[str]]


@dataclass(slots=True)
class Receiver:
    """Takes webhooks; each sender has a path of its own."""

    calls: list[Call] = field(default_factory=list[Call])
    port: int = 0
    _news: threading.Condition = field(default_factory=threading.Condition)
    _server: ThreadingHTTPServer | None = None

    def open(self) -> None:
        """Begin to listen on a free port."""
        receiver = self

        class Hook(_Quiet):
            def do_POST(self) -> None:
                at = time.monotonic()
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()
                receiver._note(at, self.path, json.loads(body))

        self._server = _serve(Hook)
        self.port = int(self._server.server_address[1])

    def close(self) -> None:
        """Stop listening."""
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def wait(self, path: str, state: str, alerts: int, since: float, seconds: float = TIMEOUT_SECONDS) -> float | None:
        """Seconds from `since` until calls after it have named so many alerts in a state; None when they never do.

        Together: Alertmanager tells of the ends as they reach it, in several calls.
        """
        deadline = time.monotonic() + seconds
        with self._news:
            while True:
                seen: set[str] = set()
                for call in self.calls:
                    if call.path == path and call.at >= since:
                        seen |= call.alerts.get(state, set())
                        if len(seen) >= alerts:
                            return call.at - since
                if not self._news.wait(max(0.0, deadline - time.monotonic())):
                    return None

    def _note(self, at: float, path: str, document: dict[str, Any]) -> None:
        alerts: dict[str, set[str]] = {}
        for alert in document.get("alerts", []):
            alerts.setdefault(alert["status"], set()).add(alert["fingerprint"])
        with self._news:
            self.calls.append(Call(at, path, alerts))
            self._news.notify_all()


class _Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """See the base class."""


def _serve(handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="bench", daemon=True).start()
    return server
