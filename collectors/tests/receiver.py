"""A small, real remote-write receiver, with a decoder of its own."""

import struct
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import cramjam

STALE_BITS = 0x7FF0000000000002


@dataclass(frozen=True, slots=True)
class Received:
    labels: dict[str, str]
    timestamp_ms: int
    bits: int

    @property
    def name(self) -> str:
        return self.labels["__name__"]

    @property
    def value(self) -> float:
        return struct.unpack("<d", struct.pack("<Q", self.bits))[0]

    @property
    def is_stale(self) -> bool:
        return self.bits == STALE_BITS


def read_fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Field numbers and values of a protobuf message."""
    position = 0

    def varint() -> int:
        nonlocal position
        shift = result = 0
        while True:
            byte = data[position]
            position += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return result

    while position < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, varint()
        elif kind == 1:
            yield tag >> 3, data[position : position + 8]
            position += 8
        elif kind == 2:
            size = varint()
            yield tag >> 3, data[position : position + size]
            position += size
        else:
            raise ValueError(f"wire type {kind}")


def decode_write_request(body: bytes) -> tuple[list[Received], dict[str, str]]:
    """Samples in the order of the wire, and help by metric name, of an uncompressed WriteRequest."""
    samples: list[Received] = []
    helps: dict[str, str] = {}
    for number, message in read_fields(body):
        parts = list(read_fields(message))
        if number == 3:
            found = dict(parts)
            helps[found[2].decode()] = found.get(4, b"").decode()
            continue
        labels = {
            pair[1].decode(): pair[2].decode() for pair in (dict(read_fields(part)) for tag, part in parts if tag == 1)
        }
        for tag, part in parts:
            if tag == 2:
                sample = dict(read_fields(part))
                samples.append(Received(labels, sample[2], int.from_bytes(sample[1], "little")))
    return samples, helps


Reply = tuple[int, dict[str, str], str]
TAKE: Reply = (204, {}, "")


@dataclass
class Receiver:
    """What came in, and what is answered next; `reply` is asked for each request."""

    port: int = 0
    reply: Callable[[int], Reply] = lambda _: TAKE
    samples: list[Received] = field(default_factory=lambda: [])
    helps: dict[str, str] = field(default_factory=lambda: {})
    headers: list[dict[str, str]] = field(default_factory=lambda: [])
    sizes: list[int] = field(default_factory=lambda: [])
    changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/write"

    def wait_for(self, condition: Callable[[], bool], timeout: float = 120.0) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, timeout), "the receiver has waited in vain"

    def named(self, name: str) -> list[Received]:
        with self.changed:
            return [sample for sample in self.samples if sample.name == name]

    def take(self, headers: dict[str, str], body: bytes) -> Reply:
        with self.changed:
            self.headers.append(headers)
            reply = self.reply(len(self.headers))
            if reply[0] < 300:
                samples, helps = decode_write_request(bytes(cast("bytes", cramjam.snappy.decompress_raw(body))))
                self.samples += samples
                self.helps |= helps
                self.sizes.append(len(samples))
            self.changed.notify_all()
        return reply


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A sender that is killed breaks its connection; that is no fault of the receiver."""

    daemon_threads = True
    allow_reuse_address = True
    receiver: Receiver


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, headers, text = cast(_Server, self.server).receiver.take(dict(self.headers), body)
        self.send_response(status)
        payload = text.encode()
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def running(receiver: Receiver) -> Generator[Receiver]:
    """Serve on the receiver's port (a free one at first) until the block ends."""
    server = _Server(("127.0.0.1", receiver.port), _Handler)
    server.receiver = receiver
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
