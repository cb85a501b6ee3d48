"""Go's connection pool: `sql.DBStats` as JSON over HTTP, or from the line that an application logs.

WaitCount moves when a wait begins and WaitDuration when it ends, so for a while both of a window's means mislead; the
two counters are passed on as they are. All zeros under load means that the application opens a pool per request.
"""

import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from loadwatch_formats.durations import parse_go_duration

from loadwatch_collectors.collector import Collector, Labels, Sample, Source, kept
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.log_tail import LogTail, reading_log
from loadwatch_collectors.transport.http_page import HttpPage, HttpSettings, Page, check_url

# What Go's `sql.DBStats` looks like, as JSON and as a line of a log, and the samples that it becomes.
#
# Source: `go doc database/sql.DBStats`. The names of the metrics are those of client_golang's `NewDBStatsCollector`.

_NANOSECONDS = 1e9

FIELDS: Mapping[str, str] = {
    "MaxOpenConnections": "go_sql_max_open_connections",
    "OpenConnections": "go_sql_open_connections",
    "InUse": "go_sql_in_use_connections",
    "Idle": "go_sql_idle_connections",
    "WaitCount": "go_sql_wait_count_total",
    "WaitDuration": "go_sql_wait_duration_seconds_total",
    "MaxIdleClosed": "go_sql_max_idle_closed_total",
    "MaxIdleTimeClosed": "go_sql_max_idle_time_closed_total",
    "MaxLifetimeClosed": "go_sql_max_lifetime_closed_total",
}
"""Go's field → metric."""

SETTINGS: Mapping[str, str] = {
    "MaxIdleConnections": "go_sql_max_idle_connections",
    "ConnMaxLifetime": "go_sql_connection_max_lifetime_seconds",
    "ConnMaxIdleTime": "go_sql_connection_max_idle_time_seconds",
}
"""What an application may say of a pool beside `sql.DBStats`, which lacks it → metric."""

COUNTERS = ("WaitCount", "WaitDuration", "MaxIdleClosed", "MaxIdleTimeClosed", "MaxLifetimeClosed")

INFOS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "build": ("go_build_info", ("path", "version", "revision")),
    "go": ("go_info", ("version",)),
}
"""Place in the document → info metric, and the texts there that become its labels."""

_DURATIONS = frozenset({"WaitDuration", "ConnMaxLifetime", "ConnMaxIdleTime"})
_LONGEST_TEXT = 200
_REQUIRED = ("MaxOpenConnections", "OpenConnections", "InUse", "Idle", "WaitCount", "WaitDuration")
# `%v` without the plus sign has no names; only the lines with names can be read.
_LOG_LINE = re.compile(r"MaxOpenConnections:\S+(?: [A-Za-z]+:[^\s,}]+)+")
_LOG_FIELD = re.compile(r"([A-Za-z]+):([^\s,}]+)")
_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_METRIC = re.compile(rf"({_NAME})(?:\{{([^{{}}]*)\}})?(?:\s*\*\s*(\S+))?")
_METRIC_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"([^"\\]*)"\s*(?:,|$)')
_DEEPEST = 8

_ABSENT: Any = object()


class DocumentError(ValueError):
    """The document or line is not what it should be; the text says in which place."""


class NumberMetric(NamedTuple):
    name: str
    labels: Labels = ()
    factor: float = 1.0


def parse_number_metric(text: str) -> NumberMetric:
    """A metric written as `name`, `name{label="value"}` or `name * 0.001`.

    Raises:
        ValueError: the text has another form.
    """
    match = _METRIC.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'{text!r} is not a metric; write it like name, name{{label="value"}} or name * 0.001')
    labels, rest = list[tuple[str, str]](), match[2] or ""
    while rest.strip():
        label = _METRIC_LABEL.match(rest)
        if label is None:
            raise ValueError(f'{text!r}: the labels must look like {{label="value"}}')
        labels.append((label[1], label[2]))
        rest = rest[label.end() :]
    try:
        factor = float(match[3] or 1)
    except ValueError:
        raise ValueError(f"{text!r}: {match[3]!r} is not a factor") from None
    return NumberMetric(name=match[1], labels=tuple(labels), factor=factor)


def parse_log_line(line: str) -> dict[str, float] | None:
    """The fields of a `%+v` of `db.Stats()` in a log line, WaitDuration in seconds; None when the line has none.

    Both shapes are read: with braces and MaxIdleTimeClosed (Go 1.15 and later), and the older one without.
    """
    match = _LOG_LINE.search(line)
    if match is None:
        return None
    values: dict[str, float] = {}
    for name, text in _LOG_FIELD.findall(match[0]):
        if name in FIELDS:
            try:
                values[name] = parse_go_duration(text) if name == "WaitDuration" else float(int(text))
            except (ValueError, OverflowError):
                return None  # a line cut by the logger, or into another one
    return values if all(name in values for name in _REQUIRED) else None


def read_path(document: Any, path: str) -> Any:
    """The value at `path` (keys joined by dots, list positions as numbers; "" is the document), or `ABSENT`."""
    value = document
    for step in path.split(".") if path else ():
        if isinstance(value, dict):
            value = cast(dict[str, Any], value).get(step, _ABSENT)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(cast(list[Any], value)):
            value = cast(list[Any], value)[int(step)]
        else:
            return _ABSENT
        if value is _ABSENT:
            return _ABSENT
    return value


def is_absent(value: Any) -> bool:
    return value is _ABSENT


def find_pools(document: Any, root_name: str) -> dict[str, Any]:
    """Every object that looks like `sql.DBStats`, by the key under which it stands; of several workers, their list.

    A document that is itself one is called `root_name`. Equal keys in different places are told apart by their path.
    """
    found = list(_walk(document, ()))
    keys = [path[-1] if path else root_name for path, _ in found]
    return {
        key if keys.count(key) == 1 else ".".join(path): pool for key, (path, pool) in zip(keys, found, strict=True)
    }


def split_workers(pools: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Name, worker and object of each pool of `find_pools`; the worker is empty where none is named."""
    for name, found in pools.items():
        for pool in cast("list[Mapping[str, Any]]", found if isinstance(found, list) else [found]):
            yield name, str(pool.get("worker", "")), pool


class WorkerSums:
    """Adds up the workers of a pool, so that counters go on where a worker ends or begins anew."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], Mapping[str, float]] = {}
        self._ended: dict[str, dict[str, float]] = {}

    def add(self, read: Mapping[tuple[str, str], Mapping[str, float]]) -> dict[str, dict[str, float]]:
        for (name, worker), last in self._last.items():
            now = read.get((name, worker))
            if worker and (now is None or now["WaitCount"] < last["WaitCount"]):
                ended = self._ended.setdefault(name, {})
                ended.update({one: ended.get(one, 0.0) + last[one] for one in COUNTERS if one in last})
        self._last = dict(read)
        sums: dict[str, dict[str, float]] = {}
        for (name, _), values in read.items():
            known = sums.get(name)
            sums[name] = dict(values) if known is None else _sum(known, values)
        for name, values in sums.items():
            values.update({one: values[one] + more for one, more in self._ended.get(name, {}).items() if one in values})
        return sums


def _sum(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Add the numbers of two workers; times are shared, and one unlimited worker lifts the limit."""
    both = {name: one[name] + other[name] for name in one.keys() & other.keys()}
    times = {name: one[name] for name in ("ConnMaxLifetime", "ConnMaxIdleTime") if name in both}
    unlimited = 0.0 in (one["MaxOpenConnections"], other["MaxOpenConnections"])
    return {**both, **times, **({"MaxOpenConnections": 0.0} if unlimited else {})}


def _walk(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if len(path) > _DEEPEST:
        return
    if is_pool(value):
        yield path, value
        return
    if isinstance(value, dict):
        children: Sequence[tuple[str, Any]] = list(cast(dict[str, Any], value).items())
    elif isinstance(value, list):
        children = [(str(index), child) for index, child in enumerate(cast(list[Any], value))]
    else:
        return
    for key, child in children:
        yield from _walk(child, (*path, key))


def is_pool(value: Any) -> bool:
    """Whether a JSON value has the fields of `sql.DBStats`, or is a list of such objects with `worker`."""
    if isinstance(value, list):
        parts = cast(list[Any], value)
        return bool(parts) and all(isinstance(one, dict) and is_pool(one) and "worker" in one for one in parts)
    return isinstance(value, dict) and all(name in value for name in _REQUIRED)


def read_pool(pool: Mapping[str, Any], where: str) -> dict[str, float]:
    """The numbers of one `sql.DBStats` object and of the settings beside it, durations in seconds.

    Raises:
        DocumentError: a field is missing or no number.
    """
    values: dict[str, float] = {}
    for name in (*FIELDS, *SETTINGS):
        value = pool.get(name, _ABSENT)
        if value is _ABSENT or (value is None and name in SETTINGS):
            if name in _REQUIRED:
                raise DocumentError(f"{where} has no {name}; is it the JSON of db.Stats()?")
            continue
        if name in _DURATIONS:
            values[name] = _seconds(value, f"{where}.{name}")
        else:
            values[name] = read_number(value, f"{where}.{name}")
        if name in SETTINGS:
            values[name] = max(values[name], 0.0)  # database/sql takes all below 0 for 0
    return values


def _seconds(value: Any, where: str) -> float:
    """Go's time.Duration is an integer of nanoseconds in JSON; some applications write their own text."""
    if isinstance(value, str):
        try:
            return parse_go_duration(value)
        except ValueError as error:
            raise DocumentError(f"{where}: {error}") from None
    return read_number(value, where) / _NANOSECONDS


def read_number(value: Any, where: str) -> float:
    """A JSON number or truth value as a float.

    Raises:
        DocumentError: it is something else.
    """
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            pass
    raise DocumentError(f"{where} is {value!r:.60}, not a number")


def pool_samples(values: Mapping[str, float], db_name: str) -> list[Sample]:
    labels = (("db_name", db_name),)
    return [Sample(metric, values[name], labels) for name, metric in {**FIELDS, **SETTINGS}.items() if name in values]


def info_samples(document: Any) -> list[Sample]:
    samples: list[Sample] = []
    for place, (metric, names) in INFOS.items():
        texts = {name: read_path(document, f"{place}.{name}") for name in names}
        labels = tuple((name, text[:_LONGEST_TEXT]) for name, text in texts.items() if isinstance(text, str) and text)
        if labels:
            samples.append(Sample(metric, 1.0, labels))
    return samples


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
    def __init__(self, settings: DbstatsSettings) -> None:
        self._settings = settings
        self._page = HttpPage(settings)
        self._sums = WorkerSums()
        named = {**DEFAULT_NUMBERS, **settings.numbers}
        self._numbers = {path: parse_number_metric(text) for path, text in named.items()}

    def collect(self) -> Sequence[Sample]:
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
    def __init__(self, settings: DbstatsSettings) -> None:
        self._settings = settings
        self._marks = settings.pools or {settings.db_name: ""}
        self._tail = LogTail(settings.log_file)
        self._newest: dict[str, tuple[float, dict[str, float]]] = {}
        self._first = True

    def collect(self) -> Sequence[Sample]:
        """Read what was logged since the last call; pools without a new line keep their values for `log_max_age`."""
        now = time.monotonic()
        with reading_log(self._settings.log_file):
            # Of lines from before our start, the time since the last one was written is the best that is known.
            age = time.time() - os.stat(self._settings.log_file).st_mtime if self._first else 0.0
            seen_at = now - max(age, 0.0)
            lines = self._tail.read_lines()
        self._first = False
        fresh: set[str] = set()
        for line in lines:
            values = parse_log_line(line)
            if values is not None:
                self._newest.update({name: (seen_at, values) for name, mark in self._marks.items() if mark in line})
                fresh.update(name for name, mark in self._marks.items() if mark in line)
        return self._samples(now, fresh)

    def close(self) -> None:
        self._tail.close()

    def _samples(self, now: float, fresh: set[str]) -> list[Sample]:
        samples: list[Sample] = []
        for name, (seen_at, values) in self._newest.items():
            if now - seen_at > self._settings.log_max_age:
                continue
            found = pool_samples(values, name)
            samples += found if name in fresh else kept(found)
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
    return DbstatsLogCollector(settings) if settings.log_file else DbstatsPageCollector(settings)


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
