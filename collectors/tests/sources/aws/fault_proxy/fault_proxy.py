"""A proxy before moto that fails as AWS does: over real HTTP, request by request, as a test tells it.

    with running_proxy(moto.url) as proxy:
        proxy.before(throttle("rds"))            # an answer, HANG or CLOSE instead of moto's; None goes on
        proxy.after(hold_back)                   # changes what moto answered
        proxy.answers["pi", "GetResourceMetrics"] = lambda request: {...}   # what moto lacks, as AWS documents it

`proxy.requests` has every request that came in. Faults are in `fault_proxy_faults.py`, CloudWatch's data with its
delays and revisions in `fault_proxy_metrics.py`.
"""

import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from collectors.tests.sources.aws.fault_proxy.protocols import Answer, encode_document

_SCOPE = re.compile(r"Credential=([^/]+)/\d{8}/([^/]+)/([^/]+)/aws4_request")
_SIGNED_NAMES = {
    "monitoring": "cloudwatch",
    "elasticloadbalancing": "elbv2",
    "tagging": "resourcegroupstaggingapi",
}
_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"})


class Misbehave(Enum):
    """Instead of an answer."""

    HANG = "take the request and never answer"
    CLOSE = "end the connection without an answer"


HANG = Misbehave.HANG
CLOSE = Misbehave.CLOSE


@dataclass(frozen=True, kw_only=True)
class AwsRequest:
    """One request as the proxy understood it.

    `service` is botocore's name, `operation` AWS's (`DescribeDBInstances`); `parameters` is the JSON body, or the flat
    form (`Filters.Filter.1.Name`) of the query protocols.
    """

    service: str
    operation: str
    region: str
    access_key: str
    token: str
    protocol: str
    parameters: Mapping[str, Any]
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def action(self) -> str:
        """The permission's name in a policy: `rds:DescribeDBInstances`."""
        prefix = {"elbv2": "elasticloadbalancing", "resourcegroupstaggingapi": "tag"}.get(self.service, self.service)
        return f"{prefix}:{self.operation}"


Before = Callable[[AwsRequest], Answer | Misbehave | None]
After = Callable[[AwsRequest, Answer], Answer]
Document = Callable[[AwsRequest], Mapping[str, Any]]


@dataclass
class FaultProxy:
    """What the proxy does and what it has seen."""

    upstream: str
    port: int = 0
    answers: dict[tuple[str, str], Document] = field(default_factory=dict[tuple[str, str], Document])
    date_offset_seconds: float = 0.0
    """Added to the Date of every answer: AWS's clock is ahead by so much."""
    requests: list[AwsRequest] = field(default_factory=list[AwsRequest])
    errors: list[Exception] = field(default_factory=list[Exception])
    """Faults of the proxy's own; the test fails with the first of them."""
    _before: list[Before] = field(default_factory=list[Before])
    _after: list[After] = field(default_factory=list[After])
    _lock: threading.Condition = field(default_factory=threading.Condition)
    _released: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def before(self, fault: Before, *, first: bool = False) -> Before:
        """Ask `fault` about each request; the first that does not say None decides. Returned for `remove`."""
        self._before.insert(0 if first else len(self._before), fault)
        return fault

    def after(self, change: After) -> After:
        """Let `change` see each answer of moto's or of `answers`."""
        self._after.append(change)
        return change

    def remove(self, fault: Before | After) -> None:
        """Take a fault away."""
        for faults in (self._before, self._after):
            if fault in faults:
                faults.remove(cast(Any, fault))

    def clear(self) -> None:
        """Behave well, and forget what was seen."""
        self._before.clear()
        self._after.clear()
        self.answers.clear()
        self.date_offset_seconds = 0.0
        with self._lock:
            self.requests.clear()
        self.release()

    def release(self) -> None:
        """End the connections that hang."""
        self._released.set()
        self._released = threading.Event()

    def seen(self, operation: str = "", region: str = "") -> list[AwsRequest]:
        """The requests so far, of one operation and region."""
        with self._lock:
            return [
                request
                for request in self.requests
                if operation in ("", request.operation) and region in ("", request.region)
            ]

    def wait_for(self, condition: Callable[[], bool], timeout: float = 60.0) -> None:
        """Wait until what came in fulfils a condition."""
        with self._lock:
            assert self._lock.wait_for(condition, timeout), "the proxy has waited in vain"

    def answer(self, request: AwsRequest) -> Answer | Misbehave:
        """What the client gets."""
        with self._lock:
            self.requests.append(request)
            self._lock.notify_all()
        for fault in tuple(self._before):
            found = fault(request)
            if found is not None:
                return found
        document = self.answers.get((request.service, request.operation))
        if document is not None:
            answer = encode_document(request.service, request.operation, request.protocol, document(request))
        else:
            answer = self._ask_upstream(request)
        for change in tuple(self._after):
            answer = change(request, answer)
        return answer

    def hang(self) -> None:
        """Wait until the proxy is told to release."""
        self._released.wait(600)

    def _ask_upstream(self, request: AwsRequest) -> Answer:
        address = urlsplit(self.upstream)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=120)
        try:
            connection.request(request.method, request.path, request.body, dict(request.headers))
            answer = connection.getresponse()
            body = answer.read()
            headers = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP_BY_HOP}
            return Answer(status=answer.status, headers=headers, body=body)
        finally:
            connection.close()


def parse_request(method: str, path: str, headers: Mapping[str, str], body: bytes) -> AwsRequest:
    """Find out what is asked, of which service and region, and by whom."""
    lower = {name.lower(): value for name, value in headers.items()}
    scope = _SCOPE.search(lower.get("authorization", ""))
    access_key, region, signed = scope.groups() if scope else ("", "", "")
    service = _SIGNED_NAMES.get(signed, signed)
    target = lower.get("x-amz-target", "")
    parameters: Mapping[str, Any]
    if target:
        protocol, operation, parameters = "json", target.rpartition(".")[2], _parse_json(body)
    elif lower.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        parameters = dict(parse_qsl(body.decode(), keep_blank_values=True))
        protocol, operation = ("ec2" if service == "ec2" else "query"), str(parameters.get("Action", ""))
    else:
        protocol, operation, parameters = "rest-json", _REST.get((method, path.split("?")[0].rstrip("/")), ""), {}
    return AwsRequest(
        service=service,
        operation=operation,
        region=region,
        access_key=access_key,
        token=lower.get("x-amz-security-token", ""),
        protocol=protocol,
        parameters=parameters,
        method=method,
        path=path,
        headers=headers,
        body=body,
    )


_REST = {("GET", "/2015-03-31/functions"): "ListFunctions"}


def _parse_json(body: bytes) -> Mapping[str, Any]:
    with suppress(ValueError):
        found: Any = json.loads(body)
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
    return {}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128
    proxy: FaultProxy
    connections: set[socket.socket]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up waiting is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        cast(_Server, self.server).connections.add(self.connection)

    def finish(self) -> None:
        cast(_Server, self.server).connections.discard(self.connection)
        super().finish()

    def _serve(self) -> None:
        proxy = cast(_Server, self.server).proxy
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = parse_request(self.command, self.path, dict(self.headers.items()), body)
        try:
            answer = proxy.answer(request)
        except Exception as error:
            proxy.errors.append(error)
            raise
        if isinstance(answer, Misbehave):
            if answer is HANG:
                proxy.hang()
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response_only(answer.status)
        self.send_header("Date", formatdate(time.time() + proxy.date_offset_seconds, usegmt=True))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    do_GET = do_POST = do_PUT = _serve

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def running_proxy(upstream: str) -> Generator[FaultProxy]:
    """Serve on a free port until the block ends."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.proxy = FaultProxy(upstream=upstream, port=server.server_address[1])
    server.connections = set()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.proxy
    finally:
        server.proxy.release()
        server.shutdown()
        thread.join()
        server.server_close()
        for connection in tuple(server.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
    if server.proxy.errors:
        raise server.proxy.errors[0]
