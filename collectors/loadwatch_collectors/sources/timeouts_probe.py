"""Measures two timeouts of an HTTP server from outside, each by one connection that does nothing.

One connection asks once and then keeps quiet: the time until the server ends it is the server's idle timeout. Another
begins a request and never ends its head: the time until the server gives it up is the limit of reading a head. Both
wait for minutes, so they run in a thread of their own, seldom, and one after the other.
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import NamedTuple
from urllib.parse import urlsplit

from loadwatch_formats.deadline import shut_down
from loadwatch_formats.own_traffic import AGENT

from loadwatch_collectors.errors import CollectorError, ConfigError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.transport.http_page import check_url, redact_url

PROBED_LAYERS = ("app", "load_balancer")
_ANSWER_SECONDS = 10.0
_MOST_BODY = 1024 * 1024
_LEAST_EVERY_SECONDS = 60.0
_LONGEST_WAIT_SECONDS = 3600.0
_AGAIN_AFTER_FAILURE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutProbeSettings:
    """A server whose timeouts are measured, and for how long one connection may wait."""

    url: str = option(
        help="Page of the server; it is asked once for each measurement, so it should be a cheap one.",
        metavar="http://127.0.0.1:8080/healthz",
    )
    layer: str = option(
        help="app, or load_balancer when the address is the balancer's: then its own timeouts are measured.",
        default="app",
    )
    every: Seconds = option(help="Time between two measurements; at least a minute.", default=3600.0)
    idle_up_to: Seconds = option(
        help="How long to wait for the end of an idle connection; beyond it the timeout is only known to be longer. "
        "0: not measured.",
        default=120.0,
    )
    header_up_to: Seconds = option(
        help="How long to wait until an unfinished request head is given up. 0: not measured.", default=60.0
    )
    ca_file: str | None = option(help="PEM file with the certificates to trust instead of the system's.", default=None)
    insecure_tls: bool = option(help="Accept any certificate.", default=False)

    def __post_init__(self) -> None:
        """Check what types cannot say."""
        check_url(self.url)
        if self.layer not in PROBED_LAYERS:
            raise ValueError(f"layer must be one of {', '.join(PROBED_LAYERS)}, not {self.layer!r}")
        if self.every < _LEAST_EVERY_SECONDS:
            raise ValueError("every must be at least 1m; a timeout changes with a deployment, not by the second")
        if max(self.idle_up_to, self.header_up_to) > _LONGEST_WAIT_SECONDS:
            raise ValueError("idle_up_to and header_up_to must be at most 1h")
        if self.idle_up_to + self.header_up_to == 0:
            raise ValueError("idle_up_to and header_up_to are both 0, so nothing is to be measured")


class Measurement(NamedTuple):
    """How long a server waited.

    Attributes:
        kind: `idle` or `read_header`.
        seconds: time until the server ended the connection; where `ended` is False, how long was waited in vain.
        ended: whether the server ended the connection.
        error: why nothing could be measured; the other fields then mean nothing.
    """

    kind: str
    seconds: float = 0.0
    ended: bool = False
    error: str = ""


class TimeoutProbe:
    """Measures one server again and again. `begin_if_due` and `results` never wait."""

    def __init__(self, settings: TimeoutProbeSettings) -> None:
        """Read the certificates; nothing is dialled yet.

        Raises:
            ConfigError: the certificates cannot be read.
        """
        self.settings = settings
        self._context = _tls_context(settings)
        self._lock = threading.Lock()
        self._results: dict[str, Measurement] = {}
        self._thread: threading.Thread | None = None
        self._socket: socket.socket | None = None
        self._due = float("-inf")
        self._closed = False

    def begin_if_due(self, now: float) -> None:
        """Start a measurement in a thread of its own when the last one is long enough ago; `now` is monotonic."""
        if self._closed or now < self._due or (self._thread is not None and self._thread.is_alive()):
            return
        self._due = now + self.settings.every
        self._thread = threading.Thread(target=self._run, name="probe-timeouts", daemon=True)
        self._thread.start()

    def results(self) -> Sequence[Measurement]:
        """The newest measurement of each kind."""
        with self._lock:
            return tuple(self._results.values())

    def close(self) -> None:
        """End a measurement under way, from any thread."""
        with self._lock:
            self._closed = True
            shut_down(self._socket)

    def _run(self) -> None:
        wanted: tuple[tuple[str, float, Callable[[], Measurement]], ...] = (
            ("idle", self.settings.idle_up_to, self._measure_idle),
            ("read_header", self.settings.header_up_to, self._measure_header),
        )
        for kind, longest, measure in wanted:
            if longest == 0 or self._closed:
                continue
            try:
                found = measure()
            except (OSError, HTTPException, CollectorError) as error:
                found = Measurement(kind=kind, error=f"{redact_url(self.settings.url)}: {_describe(error)}")
                self._due = min(self._due, time.monotonic() + _AGAIN_AFTER_FAILURE_SECONDS)
            with self._lock:
                # What ended because we shut the connection says nothing about the server.
                if not self._closed:
                    self._results[kind] = found

    def _measure_idle(self) -> Measurement:
        with self._connected() as (connection, connected):
            connection.request("GET", self._target(), headers={"User-Agent": AGENT, "Connection": "keep-alive"})
            response = connection.getresponse()
            if response.status >= 500:
                raise CollectorError(f"answered {response.status}")
            # Asked before the body is read: afterwards the response no longer knows.
            ends_at_once = response.will_close
            if len(response.read(_MOST_BODY)) == _MOST_BODY:
                raise CollectorError("the page is larger than 1 MiB; name a smaller one")
            if ends_at_once:
                return Measurement(kind="idle", seconds=0.0, ended=True)
            return _wait(connected, "idle", time.monotonic(), self.settings.idle_up_to)

    def _measure_header(self) -> Measurement:
        host = urlsplit(self.settings.url).netloc.rpartition("@")[2]
        begun = f"GET {self._target()} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {AGENT}\r\n"
        with self._connected() as (_, connected):
            started = time.monotonic()
            connected.sendall(begun.encode("latin-1"))
            return _wait(connected, "read_header", started, self.settings.header_up_to)

    @contextmanager
    def _connected(self) -> Generator[tuple[HTTPConnection, socket.socket]]:
        """A fresh connection that `close` can end."""
        parts = urlsplit(self.settings.url)
        host = parts.hostname or ""
        connection = (
            HTTPConnection(host, parts.port, timeout=_ANSWER_SECONDS)
            if self._context is None
            else HTTPSConnection(host, parts.port, timeout=_ANSWER_SECONDS, context=self._context)
        )
        try:
            connection.connect()
            connected: socket.socket = connection.sock
            with self._lock:
                self._socket = connected
                if self._closed:
                    shut_down(connected)
            yield connection, connected
        finally:
            with self._lock:
                self._socket = None
            connection.close()

    def _target(self) -> str:
        parts = urlsplit(self.settings.url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _wait(connected: socket.socket, kind: str, started: float, longest: float) -> Measurement:
    """Wait until the server says or ends anything."""
    connected.settimeout(max(started + longest - time.monotonic(), 0.001))
    try:
        # Some servers say 408 before they end the connection: that is the end too.
        connected.recv(1)
    except TimeoutError:
        return Measurement(kind=kind, seconds=longest, ended=False)
    except (ConnectionError, ssl.SSLError):
        pass  # A connection that is torn down has ended as well.
    return Measurement(kind=kind, seconds=time.monotonic() - started, ended=True)


def _tls_context(settings: TimeoutProbeSettings) -> ssl.SSLContext | None:
    if urlsplit(settings.url).scheme == "http":
        return None
    try:
        context = ssl.create_default_context(cafile=settings.ca_file)
    except OSError as error:
        raise ConfigError(f"ca_file {settings.ca_file} cannot be read: {error}") from error
    if settings.insecure_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _describe(error: BaseException) -> str:
    if isinstance(error, CollectorError):
        return str(error)
    if isinstance(error, ConnectionRefusedError):
        return "connection refused; is the server running on this port?"
    if isinstance(error, TimeoutError):
        return f"no answer within {_ANSWER_SECONDS:g} s"
    return f"{type(error).__name__}: {error}"
