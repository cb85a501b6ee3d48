"""Go's connection pool: `sql.DBStats` as JSON over HTTP, or from the line that an application logs.

WaitCount moves when a wait begins and WaitDuration when it ends, so for a while both of a window's means mislead; the
two counters are passed on as they are. All zeros under load means that the application opens a pool per request.
"""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from loadwatch_collectors.collector import KEPT, Collector, Sample, Source
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.dbstats_document import (
    DocumentError,
    NumberMetric,
    WorkerSums,
    find_pools,
    info_samples,
    is_absent,
    is_pool,
    parse_log_line,
    parse_number_metric,
    pool_samples,
    read_number,
    read_path,
    read_pool,
    split_workers,
)
from loadwatch_collectors.sources.log_tail import LogTail
from loadwatch_collectors.transport.http_page import HttpPage, HttpSettings, Page, check_url

DEFAULT_NUMBERS: Mapping[str, str] = {
    "ingest.accepted": "ingest_accepted_total",
    "ingest.stored": "ingest_stored_total",
    "ingest.failed": "ingest_failed_total",
    "ingest.rejected": "ingest_rejected_total",
    "ingest.queue": "ingest_queue_length",
    "ingest.queue_limit": "ingest_queue_limit",
    "ingest.lag_min_seconds": 'ingest_lag_seconds{stat="min"}',
    "ingest.lag_max_seconds": 'ingest_lag_seconds{stat="max"}',
    "ingest.oldest_seconds": "ingest_oldest_seconds",
    "http.in_flight": "http_requests_in_flight",
    "http.invalid": "http_invalid_requests_total",
    "http.accept_errors": "http_accept_errors_total",
    "go.goroutines": "go_goroutines",
    "go.max_procs": "go_sched_gomaxprocs_threads",
    "go.heap_bytes": "go_memstats_heap_alloc_bytes",
}
"""The numbers of the measuring server's document; read where they are, not missed where they are not."""

# Zero says "there is no limit" or "nothing has one", which would read as a limit that is used up.
_ZERO_IS_NONE = frozenset({"ingest_queue_limit"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DbstatsSettings(HttpSettings):
    """Where a Go application shows or logs its `db.Stats()`; give `url` or `log_file`."""

    url: str = option(
        help="Page with the JSON of db.Stats().", default="", metavar="http://127.0.0.1:8080/debug/dbstats"
    )
    log_file: str = option(help="Log with lines made by %+v of db.Stats(), instead of a page.", default="")
    db_name: str = option(help="Name of the pool when the document or log has only one without a name.", default="main")
    pools: dict[str, str] = option(
        help="Pools by name: where each is in the document (keys joined by dots), or the text that marks its log line. "
        "Without it, every sql.DBStats in the document is taken under the key where it stands.",
        default_factory=dict,
    )
    numbers: dict[str, str] = option(
        help="Further numbers: place in the document → metric, such as "
        'lag.max_ms: ingest_lag_seconds{stat="max"} * 0.001. Those of the measuring server need no entry.',
        default_factory=dict,
    )
    log_max_age: Seconds = option(
        help="A log line older than this is no longer reported, and the collector is down.", default=30.0
    )

    def __post_init__(self) -> None:
        """Check what types cannot say."""
        if bool(self.url) == bool(self.log_file):
            raise ValueError("dbstats needs either url or log_file")
        if self.url:
            check_url(self.url)
        elif self.numbers:
            raise ValueError("numbers are read from a document: they need url instead of log_file")
        if self.deadline <= 0 or self.max_body <= 0 or self.log_max_age <= 0:
            raise ValueError("deadline, max_body and log_max_age must be above 0")
        for text in self.numbers.values():
            parse_number_metric(text)


class DbstatsPageCollector(Collector):
    """Reads the pools and numbers of one JSON document."""

    def __init__(self, settings: DbstatsSettings) -> None:
        """Prepare the connection; nothing is dialled yet."""
        self._settings = settings
        self._page = HttpPage(settings)
        self._sums = WorkerSums()
        self._numbers = _number_metrics(settings)

    def collect(self) -> Sequence[Sample]:
        """Read the page once."""
        page = self._page.get(accept="application/json")
        document = _parse_json(page)
        try:
            pools = split_workers(self._pools(document))
            read = {(name, worker): read_pool(pool, name) for name, worker, pool in pools}
            samples = [one for name, values in self._sums.add(read).items() for one in pool_samples(values, name)]
            samples += self._further_numbers(document)
        except DocumentError as error:
            raise CollectorError(f"GET {page.url}: {error}") from None
        if not samples:
            raise CollectorError(
                f"GET {page.url}: no sql.DBStats in the document ({_describe(document)}); "
                "`pools` says where they are, or expose json.Marshal of db.Stats()"
            )
        return [*samples, *info_samples(document)]

    def close(self) -> None:
        """Close the connection."""
        self._page.close()

    def _pools(self, document: Any) -> Mapping[str, Any]:
        if not self._settings.pools:
            return find_pools(document, self._settings.db_name)
        pools: dict[str, Any] = {}
        for name, path in self._settings.pools.items():
            pool = read_path(document, path)
            if not is_pool(pool):
                raise DocumentError(f"there is no sql.DBStats at {path!r} (pool {name}) in {_describe(document)}")
            pools[name] = pool
        return pools

    def _further_numbers(self, document: Any) -> list[Sample]:
        samples: list[Sample] = []
        for path, metric in self._numbers.items():
            value = read_path(document, path)
            if is_absent(value):
                if path in self._settings.numbers:
                    raise DocumentError(f"there is no number at {path!r} in {_describe(document)}")
                continue
            if value is None:  # nothing to say, such as the lag when nothing was stored
                continue
            number = read_number(value, path) * metric.factor
            if number != 0 or metric.name not in _ZERO_IS_NONE:
                samples.append(Sample(metric.name, number, metric.labels))
        return samples


class DbstatsLogCollector(Collector):
    """Reads the pools from the newest lines of a log."""

    def __init__(self, settings: DbstatsSettings) -> None:
        """Prepare; the file is opened by the first `collect`."""
        self._settings = settings
        self._marks = settings.pools or {settings.db_name: ""}
        self._tail = LogTail(settings.log_file)
        self._newest: dict[str, tuple[float, dict[str, float]]] = {}
        self._first = True

    def collect(self) -> Sequence[Sample]:
        """Read what was logged since the last call; pools without a new line keep their values for `log_max_age`."""
        now = time.monotonic()
        try:
            seen_at = now - (self._file_age() if self._first else 0.0)
            lines = self._tail.read_lines()
        except PermissionError as error:
            raise PrivilegeError(
                f"{self._settings.log_file}: {error.strerror}; let the agent's user read it, for example by its group"
            ) from error
        except OSError as error:
            raise CollectorError(f"{self._settings.log_file}: {error.strerror or error}") from error
        self._first = False
        fresh: set[str] = set()
        for line in lines:
            values = parse_log_line(line)
            if values is not None:
                self._newest.update({name: (seen_at, values) for name, mark in self._marks.items() if mark in line})
                fresh.update(name for name, mark in self._marks.items() if mark in line)
        return self._samples(now, fresh)

    def close(self) -> None:
        """Close the file."""
        self._tail.close()

    def _file_age(self) -> float:
        """Seconds since the last line was written, the best that is known of lines from before our start."""
        return max(time.time() - os.stat(self._settings.log_file).st_mtime, 0.0)

    def _samples(self, now: float, fresh: set[str]) -> list[Sample]:
        samples: list[Sample] = []
        for name, (seen_at, values) in self._newest.items():
            if now - seen_at > self._settings.log_max_age:
                continue
            found = pool_samples(values, name)
            samples += found if name in fresh else [sample._replace(timestamp_ms=KEPT) for sample in found]
        if samples:
            return samples
        if self._newest:
            raise CollectorError(
                f"{self._settings.log_file}: the last line with db.Stats() is older than "
                f"{self._settings.log_max_age:g} s; has the application stopped logging it?"
            )
        raise CollectorError(
            f"{self._settings.log_file}: no line with db.Stats() yet; it must be logged with %+v, "
            "as MaxOpenConnections:30 OpenConnections:30 …"
        )


def build_dbstats(settings: DbstatsSettings) -> DbstatsPageCollector | DbstatsLogCollector:
    """The collector that fits the settings."""
    return DbstatsLogCollector(settings) if settings.log_file else DbstatsPageCollector(settings)


def _number_metrics(settings: DbstatsSettings) -> dict[str, NumberMetric]:
    return {path: parse_number_metric(text) for path, text in {**DEFAULT_NUMBERS, **settings.numbers}.items()}


def _parse_json(page: Page) -> Any:
    try:
        return json.loads(page.body)
    except (ValueError, RecursionError):
        kind = page.content_type or "of no stated type"
        raise CollectorError(
            f"GET {page.url}: expected JSON with sql.DBStats, but the page is {kind}: {page.excerpt()}"
        ) from None


def _describe(document: Any) -> str:
    if isinstance(document, dict):
        keys = list(cast(dict[str, Any], document))
        return "a document with the keys " + ", ".join(keys[:10]) + ("…" if len(keys) > 10 else "")
    return f"a document that is a {type(document).__name__}"


DBSTATS = Source(
    name="dbstats",
    help="Go's sql.DBStats: pool limits, waits and churn; and the application's own ingest counters.",
    settings=DbstatsSettings,
    build=build_dbstats,
    packs=("go-sql-pool",),
)
