"""What Go's `sql.DBStats` looks like, as JSON and as a line of a log, and the samples that it becomes.

Source: `go doc database/sql.DBStats`. The names of the metrics are those of client_golang's `NewDBStatsCollector`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from loadwatch_formats.durations import parse_go_duration

from loadwatch_collectors.collector import Labels, Sample

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
    """What a further number of the document becomes."""

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
    """Whether `read_path` found nothing."""
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
        """The numbers by pool, from those by pool and worker."""
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
    """Of two workers. Times are the same of all; a limit is none where it is none of one."""
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
    """The samples of one pool."""
    labels = (("db_name", db_name),)
    return [Sample(metric, values[name], labels) for name, metric in {**FIELDS, **SETTINGS}.items() if name in values]


def info_samples(document: Any) -> list[Sample]:
    """What the document says of the program itself; nothing where it says nothing."""
    samples: list[Sample] = []
    for place, (metric, names) in INFOS.items():
        texts = {name: read_path(document, f"{place}.{name}") for name in names}
        labels = tuple((name, text[:_LONGEST_TEXT]) for name, text in texts.items() if isinstance(text, str) and text)
        if labels:
            samples.append(Sample(metric, 1.0, labels))
    return samples
