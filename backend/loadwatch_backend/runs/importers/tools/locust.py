"""Locust's statistics, history and report.

`_stats.csv` has the totals, `_stats_history.csv` a row per second, `_failures.csv` the kinds of failures; the HTML
report (`--html`) has the totals of the very end, which none of the CSV files has. Counts are
exact; percentiles come from times that Locust rounded to two significant digits. The history's own Requests/s is a mean
of 10 s, so the requests of a second are taken from the growth of its totals instead.

Its CSV files are written once a second and not at the end, so what ended in the last interval is in none of them. The
report holds the same totals as one JSON object, `window.templateArgs`; minimum and maximum are rounded to milliseconds.

A row tells the totals up to then, so the requests that ended between two rows are exact; Locust does not tell when they
began. Its percentiles are those of the last 10 s with `--csv-full-history`, and of the whole test so far without it:
the latter are no series.

Times are milliseconds.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any, NamedTuple

import numpy as np
import orjson
from loadwatch_formats.outcomes import Outcome
from loadwatch_formats.times import parse_rfc3339

from loadwatch_backend.evidence.records.model import Endpoint, Figures, FloatArray, Latency, Seconds
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.importer import Importer, Part, Sink
from loadwatch_backend.runs.importers.outcomes import (
    SORTER,
    Period,
    figures,
    plain_label,
    ranked_errors,
    seconds_of_periods,
)
from loadwatch_backend.runs.importers.reading.documents import count, items, latency_of, mapping, number, read_text
from loadwatch_backend.runs.importers.tools.hey import Damages, rows_of

STATS_HEADER = b"Type,Name,Request Count,Failure Count,"
FAILURES_HEADER = b"Method,Name,Error,Occurrences"
EXCEPTIONS_HEADER = b"Count,Message,Traceback,Nodes"
AGGREGATED = "Aggregated"
_STATUS = re.compile(r"^HTTPError\(['\"](\d{3}) ")
_PERCENTILE = re.compile(r"(\d+(?:\.\d+)?)%")


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """One row: an endpoint's or the whole test's. `percentiles` by share, such as 95.0, in milliseconds."""

    method: str
    name: str
    requests: int
    failures: int
    rate: float | None
    median: float | None
    mean: float | None
    min: float | None
    max: float | None
    mean_size: float | None
    percentiles: Mapping[float, float | None]

    @property
    def is_whole(self) -> bool:
        return self.name == AGGREGATED and not self.method

    @property
    def size(self) -> int:
        """Bytes of all answers, from their mean; 0 when it is not told or absurd."""
        return count(round((self.mean_size or 0.0) * self.requests, 0))

    @property
    def latency(self) -> Latency:
        """In seconds; nothing of a row without requests, where Locust writes zeros."""
        values = {"min": self.min, "mean": self.mean, "max": self.max, 50.0: self.median, **self.percentiles}
        return latency_of(values, ("min", "mean", 50.0, 90.0, 95.0, 99.0, "max"), 1e-3) if self.requests else Latency()


def whole_of(rows: Sequence[Totals]) -> Totals | None:
    return next((row for row in rows if row.is_whole), None)


class Failures:
    def __init__(self) -> None:
        self.counts: defaultdict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)

    def of(self, endpoint: tuple[str, str] | None) -> Sequence[tuple[str, int]]:
        """Texts and counts of one endpoint, or all for None."""
        if endpoint is not None:
            return self.counts.get(endpoint, ())
        return [one for errors in self.counts.values() for one in errors]

    def kinds(self, failures: int, endpoint: tuple[str, str] | None = None) -> Counter[Outcome]:
        """So many failures by kind, of one endpoint or all; what the file does not explain is `other`."""
        found: Counter[Outcome] = Counter()
        left = failures
        for text, n in self.of(endpoint):
            taken = min(n, left)
            found[SORTER.of_error(text)] += taken
            left -= taken
        found[Outcome.OTHER] += left
        return found

    def only_kind(self, endpoint: tuple[str, str] | None = None) -> Outcome:
        kinds = {SORTER.of_error(text) for text, _ in self.of(endpoint)}
        return kinds.pop() if len(kinds) == 1 else Outcome.OTHER

    def statuses(self, endpoint: tuple[str, str] | None = None) -> dict[str, int]:
        """The status codes among the failures; Locust tells those of no other request."""
        found: Counter[str] = Counter()
        for text, n in self.of(endpoint):
            if match := _STATUS.match(text):
                found[match[1]] += n
        return dict(found)

    def texts(self) -> Sequence[tuple[str, int]]:
        return ranked_errors(
            (f"{' '.join(name)}: {text}", n) for name, errors in self.counts.items() for text, n in errors
        )


def totals_of(row: Mapping[str, str], prefix: str = "", *, rate: str = "Requests/s") -> Totals:
    """A row by its column names; `prefix` is `Total ` in the history."""
    return Totals(
        method=row.get("Type", ""),
        name=row.get("Name", ""),
        requests=count(row.get(f"{prefix}Request Count")),
        failures=min(count(row.get(f"{prefix}Failure Count")), count(row.get(f"{prefix}Request Count"))),
        rate=number(row.get(rate)),
        median=number(row.get(f"{prefix}Median Response Time")),
        mean=number(row.get(f"{prefix}Average Response Time")),
        min=number(row.get(f"{prefix}Min Response Time")),
        max=number(row.get(f"{prefix}Max Response Time")),
        mean_size=number(row.get(f"{prefix}Average Content Size")),
        percentiles=percentiles_of(row),
    )


def percentiles_of(row: Mapping[str, str]) -> dict[float, float | None]:
    """Milliseconds by share; the columns are those of the user's PERCENTILES_TO_REPORT. `N/A` is None."""
    return {float(match[1]): number(value) for name, value in row.items() if (match := _PERCENTILE.fullmatch(name))}


def read_failures(part: Part, sink: Sink) -> Failures:
    failures, damages = Failures(), Damages(sink, part.name)
    for line, row in named_rows(part, damages):
        occurrences = number(row.get("Occurrences"))
        if occurrences is None:
            damages.add(line, "the number of occurrences is no number")
            continue
        name = (row.get("Method", ""), row.get("Name", ""))
        failures.counts[name].append((row.get("Error", ""), count(occurrences)))
    return failures


def named_rows(part: Part, damages: Damages) -> Iterator[tuple[int, dict[str, str]]]:
    header: Sequence[str] = ()
    for line, row in rows_of(part, damages):
        if header:
            yield line, dict(zip(header, row, strict=True))
        else:
            header = row


def figures_of(
    total: Totals, kinds: Mapping[Outcome, int], status_codes: Mapping[str, int], duration: float | None = None
) -> Figures:
    """Figures of one row; the duration follows from Locust's rate, which is over the whole test."""
    seconds = total.requests / total.rate if total.rate else duration
    return figures(
        outcomes={**kinds, Outcome.OK: total.requests - total.failures},
        duration_seconds=seconds,
        latency=total.latency,
        status_codes=status_codes,
        bytes_in=None if total.mean_size is None else total.size,
    )


def endpoints_of(rows: Sequence[Totals], failures: Failures, duration: float | None) -> Sequence[Endpoint]:
    """All rows but the sum, the largest first."""
    found: list[Endpoint] = []
    for row in rows:
        if row.is_whole:
            continue
        name, label = (row.method, row.name), plain_label(f"{row.method} {row.name}".strip())
        kinds = failures.kinds(row.failures, name)
        found.append(Endpoint(name=label, figures=figures_of(row, kinds, failures.statuses(name), duration)))
    return sorted(found, key=lambda endpoint: -endpoint.figures.requests)


HISTORY_HEADER = b"Timestamp,User Count,Type,Name,"
_LATEST = 1e11
_LONGEST_END_MS = 60_000
_SHARES = (50.0, 90.0, 95.0, 99.0, 100.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What the history tells.

    Attributes:
        full: whether the rows of endpoints are in it, so that percentiles are of 10 s.
        last: totals of the last row of the whole test; its percentiles only where they are of the whole test.
        last_rows: the last totals of each endpoint.
        restarts: how often the totals fell, as with `--reset-stats`.
    """

    full: bool
    start_ms: int
    end_ms: int
    seconds: Seconds | None
    last: Totals
    last_rows: Sequence[Totals]
    restarts: int


class _Tick(NamedTuple):
    """The rows of one instant: the whole test's, and those of endpoints before it."""

    at_ms: int
    users: float | None
    whole: Totals
    endpoints: Mapping[tuple[str, str], Totals]


def read_history(
    part: Part, sink: Sink, failures: Failures, at_end: tuple[int, Sequence[Totals]] | None = None
) -> History | None:
    """The whole file, in memory that grows with its seconds only; None when it has no row of the whole test.

    `at_end` are the rows of the end of the test, with its time: what ended after the last row of the history.
    """
    first: _Tick | None = None
    before: _Tick | None = None
    periods: list[Period] = []
    restarts = 0
    full = False
    for tick in _ticks(part, Damages(sink, part.name)):
        full = full or bool(tick.endpoints)
        if before is None:
            first = before = tick
            continue
        fell = tick.whole.requests < before.whole.requests
        restarts += fell
        periods.append(_period(_Tick(before.at_ms, None, _NOTHING, {}) if fell else before, tick, failures))
        before = tick
    if first is None or before is None:
        return None
    ended = None if at_end is None else _tick_at(*at_end, before)
    if ended is not None and ended.whole.requests > before.whole.requests:
        periods.append(replace(_period(before, ended, failures), latency=None))
        before = ended
    if not full:
        periods = [replace(period, latency=None) for period in periods]
    return History(
        full=full,
        start_ms=first.at_ms,
        end_ms=before.at_ms,
        seconds=seconds_of_periods(periods),
        # Requests/s of a row is a mean of 10 s, not the whole test's.
        last=replace(before.whole, rate=None, percentiles={} if full else before.whole.percentiles),
        last_rows=[replace(row, rate=None, percentiles={}) for row in before.endpoints.values()],
        restarts=restarts,
    )


_NOTHING = totals_of({})


def _tick_at(at_ms: int, rows: Sequence[Totals], last: _Tick) -> _Tick | None:
    whole = whole_of(rows)
    if whole is None:
        return None
    endpoints = {(row.method, row.name): row for row in rows if row is not whole}
    # A test that is stopped does not last long after its last row: a clock that was set back or ahead is not followed.
    at_ms = min(max(at_ms, last.at_ms), last.at_ms + _LONGEST_END_MS)
    return _Tick(at_ms, None, whole, endpoints if last.endpoints else {})


def _period(before: _Tick, tick: _Tick, failures: Failures) -> Period:
    requests, failed, size = _growth(before.whole, tick.whole)
    kinds: Counter[Outcome] = Counter()
    for name, totals in tick.endpoints.items():
        kinds[failures.only_kind(name)] += _growth(before.endpoints.get(name, _NOTHING), totals)[1]
    if sum(kinds.values()) > failed:
        kinds.clear()
    kinds[failures.only_kind()] += failed - sum(kinds.values())
    kinds[Outcome.OK] += requests - failed
    return Period(
        start_ms=before.at_ms,
        end_ms=max(tick.at_ms, before.at_ms + 1),
        outcomes=kinds,
        latency=_latency(tick.whole),
        bytes_in=size,
        users=tick.users,
    )


def _ticks(part: Part, damages: Damages) -> Iterator[_Tick]:
    """Yields an instant at its row of the whole test, which Locust writes last."""
    endpoints: dict[tuple[str, str], Totals] = {}
    latest = 0
    for line, row in named_rows(part, damages):
        at = number(row.get("Timestamp"))
        if at is None or not latest <= at < _LATEST:
            damages.add(line, "the time is no number, or lies before the line above")
            continue
        latest = int(at)
        totals = totals_of(row, "Total ")
        if totals.is_whole:
            yield _Tick(latest * 1000, number(row.get("User Count")), totals, endpoints)
            endpoints = {}
        else:
            endpoints[(totals.method, totals.name)] = totals


def _growth(before: Totals, after: Totals) -> tuple[int, int, int]:
    """Requests, failures and bytes between two rows."""
    requests = max(0, after.requests - before.requests)
    failures = min(requests, max(0, after.failures - before.failures))
    return requests, failures, max(0, after.size - before.size)


def _latency(totals: Totals) -> FloatArray | None:
    """Of the last 10 s, seconds. Locust writes 0 for every share when it has none yet."""
    found = [totals.percentiles.get(share) for share in _SHARES]
    if not any(found):
        return None
    return np.array([np.nan if value is None else value / 1000 for value in found])


REPORT_TITLE = b"<title>Locust</title>"
REPORT_HEAD = b"<!doctype html>"
_ARGUMENTS = b"window.templateArgs = "


class Report(NamedTuple):
    """What the report holds; `rows` with the whole test among them, times in whole seconds."""

    rows: Sequence[Totals]
    failures: Failures
    start_ms: int | None
    end_ms: int | None


def is_report(head: bytes) -> bool:
    """By the first bytes of a page: Locust's title is no file format, so the page must be HTML, too."""
    return head[: len(REPORT_HEAD)].lower() == REPORT_HEAD and REPORT_TITLE in head


def read_report(part: Part, sink: Sink) -> Report | None:
    """The totals at the end of the test; None, which is said, where the page holds none that can be read."""
    content = read_text(part, "Locust's HTML report")
    at = content.rfind(_ARGUMENTS)
    line = content[at + len(_ARGUMENTS) :].partition(b"\n")[0].strip().rstrip(b";")
    try:
        found = mapping(orjson.loads(line)) if at >= 0 else {}
    except orjson.JSONDecodeError:
        found = {}
    rows = _rows(found)
    if whole_of(rows) is None:
        sink.remark("damaged/locust-report", place=part.name)
        return None
    failures = Failures()
    for item in items(found.get("failures_statistics")):
        endpoint = _text(item, "method"), _text(item, "name")
        failures.counts[endpoint].append((_text(item, "error"), count(item.get("occurrences"))))
    return Report(
        rows=rows, failures=failures, start_ms=_time(found.get("start_time")), end_ms=_time(found.get("end_time"))
    )


def with_exact(rows: Sequence[Totals], exact: Sequence[Totals]) -> Sequence[Totals]:
    """The rows with minimum and maximum as `_stats.csv` has them, where they did not change after it was written."""
    known = {(row.method, row.name): row for row in exact}

    def refined(row: Totals) -> Totals:
        other = known.get((row.method, row.name))
        if other is None:
            return row
        return replace(row, min=_same(row.min, other.min), max=_same(row.max, other.max))

    return [refined(row) for row in rows]


def _same(rounded: float | None, exact: float | None) -> float | None:
    close = rounded is not None and exact is not None and abs(rounded - exact) <= 0.5
    return exact if close else rounded


def _rows(found: Mapping[str, Any]) -> list[Totals]:
    times = {
        (_text(item, "method"), _text(item, "name")): {
            round(share * 100, 6): number(value) for name, value in item.items() if (share := number(name)) is not None
        }
        for item in items(found.get("response_time_statistics"))
    }
    return [
        Totals(
            method=_text(item, "method"),
            name=_text(item, "name"),
            requests=count(item.get("num_requests")),
            failures=min(count(item.get("num_failures")), count(item.get("num_requests"))),
            rate=number(item.get("total_rps")),
            median=number(item.get("median_response_time")),
            mean=number(item.get("avg_response_time")),
            min=number(item.get("min_response_time")),
            max=number(item.get("max_response_time")),
            mean_size=number(item.get("avg_content_length")),
            percentiles=times.get((_text(item, "method"), _text(item, "name")), {}),
        )
        for item in items(found.get("requests_statistics"))
    ]


def _text(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _time(value: object) -> int | None:
    try:
        return parse_rfc3339(str(value), UTC) // 1_000_000
    except ValueError:
        return None


_HEADERS = (HISTORY_HEADER, STATS_HEADER, FAILURES_HEADER, EXCEPTIONS_HEADER)


def read_locust(parts: Sequence[Part], sink: Sink) -> None:
    """Any of the four files and the HTML report, at least one with totals.

    Raises:
        UnreadableFileError: nothing with totals came.
    """
    files = _by_kind(parts, sink)
    failures = Failures()
    rows: Sequence[Totals] = ()
    history = None
    if part := files.get(FAILURES_HEADER):
        failures = read_failures(part, sink)
    if part := files.get(STATS_HEADER):
        rows = [totals_of(row) for _, row in named_rows(part, Damages(sink, part.name))]
    report = read_report(files[REPORT_TITLE], sink) if REPORT_TITLE in files else None
    if report is not None and _goes_on(report.rows, rows):
        rows, failures = with_exact(report.rows, rows), report.failures
    else:
        report = None
    if part := files.get(HISTORY_HEADER):
        at_end = None if report is None or report.end_ms is None else (report.end_ms, rows)
        history = read_history(part, sink, failures, at_end)
    total = whole_of(rows) or (history.last if history else None)
    if total is None:
        raise UnreadableFileError(
            f"{', '.join(part.name for part in parts)}: no row of the whole test (Aggregated) in it. Send Locust's "
            "_stats.csv or _stats_history.csv, best all files of the test in one ZIP."
        )
    lasted = (history.end_ms - history.start_ms) / 1000 if history else None
    whole = figures_of(total, failures.kinds(total.failures), failures.statuses(), lasted)
    span = (history.start_ms, history.end_ms) if history else None
    if history is None and report is not None and report.start_ms is not None:
        span = report.start_ms, report.end_ms
    endpoints = endpoints_of(rows or (history.last_rows if history else ()), failures, lasted)
    sink.aggregate(whole, endpoints, failures.texts(), history.seconds if history else None, span)
    if part := files.get(EXCEPTIONS_HEADER):
        _remark_exceptions(sink, part)
    _remark_percentiles(sink, total)
    _remark_history(sink, history)
    _remark_files(sink, total, failures, at_end=report is not None)


def _goes_on(reported: Sequence[Totals], rows: Sequence[Totals]) -> bool:
    """Whether the report is of the same test as `_stats.csv`, and no older."""
    whole, before = whole_of(reported), whole_of(rows)
    return whole is not None and (before is None or whole.requests >= before.requests)


def _by_kind(parts: Sequence[Part], sink: Sink) -> dict[bytes, Part]:
    files: dict[bytes, Part] = {}
    twice: list[str] = []
    for part in parts:
        kind = next((header for header in _HEADERS if part.head.startswith(header)), None)
        kind = REPORT_TITLE if kind is None and is_report(part.head) else kind
        if kind is None:
            continue
        if kind in files:
            twice.append(part.name)
        else:
            files[kind] = part
    if twice:
        sink.remark("one-result-only/locust", figures={"files": len(twice)}, names=", ".join(twice[:10]))
    return files


def _remark_exceptions(sink: Sink, part: Part) -> None:
    rows = named_rows(part, Damages(sink, part.name))
    if exceptions := [(row.get("Message", ""), count(row.get("Count"))) for _, row in rows]:
        total = sum(n for _, n in exceptions)
        first = "; ".join(f"{n} x {message}" for message, n in exceptions[:5])
        sink.remark("locust-exceptions", figures={"exceptions": total}, first=first)


def _remark_percentiles(sink: Sink, total: Totals) -> None:
    top = total.percentiles.get(100.0)
    evidence: dict[str, float] = {}
    if top is not None and total.max is not None:
        evidence = {"tool_p100": top / 1000, "ours_max": total.max / 1000}
    if (p95 := total.percentiles.get(95.0)) is not None:
        half = 0.0 if p95 < 100 else 0.5 * 10.0 ** (len(str(int(p95))) - 2)
        evidence |= {"tool_p95": p95 / 1000, "p95_within": max(half, 0.5) / 1000}
    sink.remark("locust-rounded-percentiles", figures=evidence)
    absent = [name for name in ("p50", "p90", "p95", "p99") if getattr(total.latency, name) is None]
    if total.requests and absent:
        sink.remark("locust-percentiles", absent=", ".join(absent))


def _remark_history(sink: Sink, history: History | None) -> None:
    if history is None:
        sink.remark("locust-no-history")
        return
    if history.full:
        sink.remark("locust-ten-second-percentiles")
    else:
        sink.remark("locust-cumulative-percentiles")
    sink.remark("locust-by-end")
    if history.restarts:
        sink.remark("locust-reset-stats", figures={"restarts": history.restarts})


def _remark_files(sink: Sink, total: Totals, failures: Failures, *, at_end: bool) -> None:
    if not at_end:
        sink.remark("locust-last-second")
    if total.failures and not failures.counts:
        sink.remark("locust-failure-kinds", figures={"failures": total.failures})


def _recognise(head: bytes) -> int:
    return 95 if head.startswith(_HEADERS) or is_report(head) else 0


LOCUST = Importer(
    "locust-csv",
    "Locust's CSV files (`--csv`) and HTML report (`--html`), alone or together in an archive",
    _recognise,
    read_locust,
)
