"""Where AWS's own machines get credentials from: instance metadata (version 2 only) and the containers' endpoint."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_TOKEN = "a-token-of-imds"


@dataclass
class CredentialServer:
    """Answers on `port`; `key` is the access key that it gives, valid for `valid_seconds`."""

    port: int = 0
    key: str = "ASIAROLE000000000001"
    valid_seconds: float = 3600.0
    given: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])
    """Requests without a token, as version 1 makes them."""
    available: bool = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def document(self) -> bytes:
        self.given.append(self.key)
        until = datetime.now(UTC) + timedelta(seconds=self.valid_seconds)
        return json.dumps(
            {
                "Code": "Success",
                "Type": "AWS-HMAC",
                "AccessKeyId": self.key,
                "SecretAccessKey": "made-up",
                "Token": "made-up-session",
                "LastUpdated": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
                "Expiration": f"{until:%Y-%m-%dT%H:%M:%SZ}",
            }
        ).encode()


@contextmanager
def running_credential_server() -> Generator[CredentialServer]:
    """Run it until the block ends."""
    state = CredentialServer()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self._answer(200 if state.available else 503, _TOKEN.encode() if state.available else b"")

        def do_GET(self) -> None:
            if not state.available:
                return self._answer(503, b"")
            if self.path == "/task":
                return self._answer(200, state.document())
            if self.headers.get("x-aws-ec2-metadata-token") != _TOKEN:
                state.refused.append(self.path)
                return self._answer(401, b"")
            if self.path.endswith("/availability-zone/"):
                return self._answer(200, b"eu-central-1b")
            if self.path.endswith("/security-credentials/"):
                return self._answer(200, b"the-role")
            return self._answer(200, state.document())

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)
