"""The timeouts of every layer that a request passes: as given in loadwatch.yml, and as measured from outside.

The server joins them with what other collectors find (a load balancer's idle timeout, a database's wait_timeout) into
one ladder, and says where the order is wrong.

One connection asks once and then keeps quiet: the time until the server ends it is the server's idle timeout. Another
begins a request and never ends its head: the time until the server gives it up is the limit of reading a head. Both
wait for minutes, so they run in a thread of their own, seldom, and one after the other.
"""

import math
import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import NamedTuple
from urllib.parse import urlsplit

from loadwatch_formats.deadline import shut_down
from loadwatch_formats.metrics.timeouts import GIVEN, LONGER, PATH
from loadwatch_formats.own_traffic import AGENT

from loadwatch_collectors.collector import Collector, Labels, Sample, Source, kept
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.transport.http_page import check_url, redact_url, request_target, tls_context

PROBED_LAYERS = ("app", "load_balancer")
_ANSWER_SECONDS = 10.0
_MOST_BODY = 1024 * 1024
_LEAST_EVERY_SECONDS = 60.0
_LONGEST_WAIT_SECONDS = 3600.0
_AGAIN_AFTER_FAILURE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutProbeSettings:
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
        plain = urlsplit(settings.url).scheme == "http"
        self._context = None if plain else tls_context(settings.ca_file, insecure=settings.insecure_tls)
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
            connection.request(
                "GET", request_target(self.settings.url), headers={"User-Agent": AGENT, "Connection": "keep-alive"}
            )
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
        begun = f"GET {request_target(self.settings.url)} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {AGENT}\r\n"
        with self._connected() as (_, connected):
            started = time.monotonic()
            connected.sendall(begun.encode("latin-1"))
            return _wait(connected, "read_header", started, self.settings.header_up_to)

    @contextmanager
    def _connected(self) -> Generator[tuple[HTTPConnection, socket.socket]]:
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


def _describe(error: BaseException) -> str:
    if isinstance(error, CollectorError):
        return str(error)
    if isinstance(error, ConnectionRefusedError):
        return "connection refused; is the server running on this port?"
    if isinstance(error, TimeoutError):
        return f"no answer within {_ANSWER_SECONDS:g} s"
    return f"{type(error).__name__}: {error}"


REPEAT_SECONDS = 60.0
"""How often numbers that do not change are sent: often enough for PromQL's look-back of five minutes."""

_RUNTIMES = ("", "go")
_NO_LIMIT = "0: no limit."


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTimeouts:
    request: Seconds | None = option(help=f"Time that a whole request may take. {_NO_LIMIT}", default=None)
    idle: Seconds | None = option(
        help=f"Idle time after which a kept connection is not used. {_NO_LIMIT}", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancerTimeouts:
    idle: Seconds | None = option(help="Idle timeout; found by itself for an ALB by cloudwatch.", default=None)
    name: str = option(
        help="Which of the load balancers that are found is meant; * stands for any text.", default="", metavar="prod-*"
    )
    none: bool = option(help="There is none: clients reach the application directly.", default=False)

    def __post_init__(self) -> None:
        if self.none and (self.name or self.idle is not None):
            raise ValueError("none says that there is no load balancer; leave name and idle out")


@dataclass(frozen=True, slots=True, kw_only=True)
class AppTimeouts:
    runtime: str = option(
        help="go: a key that is left out is the zero value of http.Server, and ReadTimeout stands in for "
        "ReadHeaderTimeout and IdleTimeout as it does there.",
        default="",
    )
    read_header: Seconds | None = option(help=f"Time to read the head of a request. {_NO_LIMIT}", default=None)
    read: Seconds | None = option(help=f"Time to read a whole request. {_NO_LIMIT}", default=None)
    handler: Seconds | None = option(
        help=f"Time after which the handler itself answers with an error (http.TimeoutHandler). {_NO_LIMIT}",
        default=None,
    )
    write: Seconds | None = option(
        help=f"Time from the end of a request's head to the end of the answer's writing. {_NO_LIMIT}", default=None
    )
    idle: Seconds | None = option(help=f"Time that a kept connection may idle. {_NO_LIMIT}", default=None)

    def __post_init__(self) -> None:
        if self.runtime not in _RUNTIMES:
            raise ValueError(f"runtime must be go or be left out, not {self.runtime!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolTimeouts:
    max_idle_time: Seconds | None = option(help=f"SetConnMaxIdleTime. {_NO_LIMIT}", default=None)
    max_lifetime: Seconds | None = option(help=f"SetConnMaxLifetime. {_NO_LIMIT}", default=None)
    name: str = option(help="Name of the pool, for the page.", default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseTimeouts:
    """The database; the mysql collector finds these by itself."""

    wait: Seconds | None = option(help="wait_timeout: idle time after which it ends a session.", default=None)
    lock_wait: Seconds | None = option(help="innodb_lock_wait_timeout.", default=None)
    statement: Seconds | None = option(help=f"Longest time of a statement. {_NO_LIMIT}", default=None)
    instance: str = option(
        help="Which of the databases that are found is meant, by its instance label; * stands for any text.",
        default="",
        metavar="db-1",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutsSettings:
    client: ClientTimeouts = option(help="The clients, or the load tool.", default_factory=ClientTimeouts)
    load_balancer: BalancerTimeouts = option(help="The load balancer.", default_factory=BalancerTimeouts)
    app: AppTimeouts = option(help="The application's HTTP server.", default_factory=AppTimeouts)
    pool: PoolTimeouts | None = option(help="The pool of database connections.", default=None)
    database: DatabaseTimeouts = option(help="The database.", default_factory=DatabaseTimeouts)
    probes: tuple[TimeoutProbeSettings, ...] = option(help="Servers to measure.", default=())

    def __post_init__(self) -> None:
        if not self.probes and not given_samples(self):
            raise ValueError("nothing is given: name at least one timeout, or a server under probes")
        if len({probe.layer for probe in self.probes}) < len(self.probes):
            raise ValueError("probes names the same layer twice; give each server a target of its own")


def given_samples(settings: TimeoutsSettings) -> list[Sample]:
    """Everything that the configuration says, and what follows from it; a timeout of 0 becomes infinite."""
    pool = settings.pool
    balancer, database = settings.load_balancer, settings.database
    samples = [
        *_layer("client", {"request": settings.client.request, "idle": settings.client.idle}),
        *_layer("load_balancer", {"idle": balancer.idle}),
        *_app_samples(settings.app),
        *_layer("database", {"wait": database.wait, "lock_wait": database.lock_wait, "statement": database.statement}),
    ]
    if pool is not None:
        name: Labels = (("name", pool.name),) if pool.name else ()
        given = {"max_idle_time": pool.max_idle_time, "max_lifetime": pool.max_lifetime}
        samples += _layer("pool", given, name)
        if settings.app.runtime == "go":
            # database/sql: without a limit a connection is kept for ever.
            samples += _layer("pool", {kind: 0.0 for kind, value in given.items() if value is None}, name, "runtime")
    chosen = {"load_balancer": "none" if balancer.none else balancer.name, "database": database.instance}
    if any(chosen.values()):
        samples.append(Sample(PATH, 1.0, tuple((key, text) for key, text in chosen.items() if text)))
    return samples


def _app_samples(app: AppTimeouts) -> Iterator[Sample]:
    given: dict[str, float | None] = {
        kind: getattr(app, kind) for kind in ("read_header", "read", "handler", "write", "idle")
    }
    yield from _layer("app", given)
    if app.runtime != "go":
        return
    # net/http, Server: "If zero, the value of ReadTimeout is used" stands at ReadHeaderTimeout and at IdleTimeout.
    read = app.read or 0.0
    derived: dict[str, float | None] = {}
    for kind in ("read_header", "idle"):
        if not given[kind] and (read or given[kind] is None):
            derived[kind] = read
    for kind in ("read", "write"):
        if given[kind] is None:
            derived[kind] = 0.0
    yield from _layer("app", derived, source="runtime")


def _layer(
    layer: str, values: Mapping[str, float | None], more: Labels = (), source: str = "configuration"
) -> Iterator[Sample]:
    for kind, value in values.items():
        if value is not None:
            labels = (("layer", layer), ("kind", kind), ("source", source), *more)
            yield Sample(GIVEN, value or math.inf, labels)


def measured_samples(layer: str, measurements: Sequence[Measurement]) -> list[Sample]:
    samples: list[Sample] = []
    for found in measurements:
        where: Labels = (("layer", layer), ("kind", found.kind))
        samples.append(Sample("timeout_probe_success", 0.0 if found.error else 1.0, where))
        if found.error:
            samples.append(Sample("timeout_probe_error_info", 1.0, (*where, ("error", found.error[:200]))))
        else:
            name = GIVEN if found.ended else LONGER
            samples.append(Sample(name, found.seconds, (*where, ("source", "probe"))))
    return samples


class TimeoutsCollector(Collector):
    def __init__(self, settings: TimeoutsSettings) -> None:
        self._given = without_repeats(given_samples(settings))
        self._probes = [TimeoutProbe(probe) for probe in settings.probes]
        self._sent: list[Sample] = []
        self._repeat_due = float("-inf")

    def collect(self) -> Sequence[Sample]:
        """All timeouts that are known by now; a measurement that is due begins beside it."""
        now = time.monotonic()
        samples = list(self._given)
        for probe in self._probes:
            probe.begin_if_due(now)
            samples += measured_samples(probe.settings.layer, probe.results())
        if now < self._repeat_due and samples == self._sent:
            return kept(samples)
        self._sent, self._repeat_due = samples, now + REPEAT_SECONDS
        return samples

    def close(self) -> None:
        for probe in self._probes:
            probe.close()


def without_repeats(samples: Sequence[Sample]) -> list[Sample]:
    """One sample for each layer and kind: what follows from the runtime replaces the zero that it overrides."""
    overridden = {sample.labels[:2] for sample in samples if ("source", "runtime") in sample.labels}
    return [
        sample for sample in samples if sample.labels[:2] not in overridden or ("source", "runtime") in sample.labels
    ]


TIMEOUTS = Source(
    name="timeouts",
    help="Timeouts of every layer that a request passes, as configured and as measured.",
    settings=TimeoutsSettings,
    build=TimeoutsCollector,
    packs=("http",),
)
