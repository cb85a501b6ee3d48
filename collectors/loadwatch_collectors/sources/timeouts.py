"""The timeouts of every layer that a request passes: as given in loadwatch.yml, and as measured from outside.

The server joins them with what other collectors find (a load balancer's idle timeout, a database's wait_timeout) into
one ladder, and says where the order is wrong.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadwatch_formats.metrics.timeouts import GIVEN, LONGER, PATH

from loadwatch_collectors.collector import KEPT, Labels, MissingPrivilege, Sample, Source
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.timeouts_probe import Measurement, TimeoutProbe, TimeoutProbeSettings

REPEAT_SECONDS = 60.0
"""How often numbers that do not change are sent: often enough for PromQL's look-back of five minutes."""

_RUNTIMES = ("", "go")
_NO_LIMIT = "0: no limit."


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTimeouts:
    """What the clients, or the load tool, wait for."""

    request: Seconds | None = option(help=f"Time that a whole request may take. {_NO_LIMIT}", default=None)
    idle: Seconds | None = option(
        help=f"Idle time after which a kept connection is not used. {_NO_LIMIT}", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancerTimeouts:
    """The load balancer between clients and application."""

    idle: Seconds | None = option(help="Idle timeout; found by itself for an ALB by cloudwatch.", default=None)
    name: str = option(
        help="Which of the load balancers that are found is meant; * stands for any text.", default="", metavar="prod-*"
    )
    none: bool = option(help="There is none: clients reach the application directly.", default=False)

    def __post_init__(self) -> None:
        """Check what types cannot say."""
        if self.none and (self.name or self.idle is not None):
            raise ValueError("none says that there is no load balancer; leave name and idle out")


@dataclass(frozen=True, slots=True, kw_only=True)
class AppTimeouts:
    """The application's HTTP server."""

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
        """Check what types cannot say."""
        if self.runtime not in _RUNTIMES:
            raise ValueError(f"runtime must be go or be left out, not {self.runtime!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolTimeouts:
    """The application's pool of database connections."""

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
    """The layers that a request passes, from the client to the database."""

    client: ClientTimeouts = option(help="The clients, or the load tool.", default_factory=ClientTimeouts)
    load_balancer: BalancerTimeouts = option(help="The load balancer.", default_factory=BalancerTimeouts)
    app: AppTimeouts = option(help="The application's HTTP server.", default_factory=AppTimeouts)
    pool: PoolTimeouts | None = option(help="The pool of database connections.", default=None)
    database: DatabaseTimeouts = option(help="The database.", default_factory=DatabaseTimeouts)
    probes: tuple[TimeoutProbeSettings, ...] = option(help="Servers to measure.", default=())

    def __post_init__(self) -> None:
        """Check what types cannot say."""
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
    given = {
        "read_header": app.read_header,
        "read": app.read,
        "handler": app.handler,
        "write": app.write,
        "idle": app.idle,
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
    """What a probe found of a layer."""
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


class TimeoutsCollector:
    """Repeats what is configured, and what the probes found last."""

    def __init__(self, settings: TimeoutsSettings) -> None:
        """Prepare the probes; nothing is dialled yet."""
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
            return [sample._replace(timestamp_ms=KEPT) for sample in samples]
        self._sent, self._repeat_due = samples, now + REPEAT_SECONDS
        return samples

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        """None is needed."""
        return ()

    def close(self) -> None:
        """End the probes' connections."""
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
