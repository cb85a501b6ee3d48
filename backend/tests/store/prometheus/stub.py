"""An engine that does as it is told, for what a real one does not do on demand: refusals, pauses, logins."""

import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from loadwatch_backend.series.store.prometheus.wire import SeriesSamples, decode_request

Reply = tuple[int, dict[str, str], bytes]
OK: Reply = (204, {}, b"")
NOTHING: Reply = (200, {}, b'{"status":"success","data":{"resultType":"matrix","result":[]}}')
"""No samples."""


def mutual_tls(certificate: Path, key: Path) -> ssl.SSLContext:
    """For a server that shows this certificate and wants the same of whoever comes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.load_verify_locations(certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def series(self) -> list[SeriesSamples]:
        """What a remote write brought."""
        return decode_request(self.body)


@dataclass
class StubEngine:
    """`reply` answers remote writes; `taken` are those that it answered with 2xx."""

    reply: Callable[[Asked], Reply] = lambda _asked: OK
    read: Callable[[Asked], Reply] = lambda _asked: NOTHING
    tls: ssl.SSLContext | None = None
    asked: list[Asked] = field(default_factory=list[Asked])
    taken: list[Asked] = field(default_factory=list[Asked])

    def __post_init__(self) -> None:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self._answer()

            def do_GET(self) -> None:
                self._answer()

            def _answer(self) -> None:
                content = self.rfile.read(int(self.headers.get("content-length", 0)))
                asked = Asked(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, content)
                writes = self.path.startswith("/write")
                status, headers, body = (stub.reply if writes else stub.read)(asked)
                if writes:
                    stub.asked.append(asked)
                    if status < 300:
                        stub.taken.append(asked)
                self.send_response(status)
                for name, value in {"content-length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if self.tls is not None:
            self._server.socket = self.tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"{'http' if self.tls is None else 'https'}://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def rows(self) -> list[tuple[str, int, float]]:
        """What was taken: label `i`, seconds, value, in the order of arrival."""
        return [
            (one.labels.get("i", ""), int(time_ms) // 1000, float(value))
            for asked in list(self.taken)
            for one in asked.series
            for time_ms, value in zip(one.timestamps, one.values, strict=True)
        ]
