"""oha (https://github.com/hatoo/oha, checked against 1.16.0): its JSON summary, its CSV and its SQLite database.

CSV and database hold answered requests only (`ResultData::success`); the JSON counts failures by text. Requests that
oha itself cuts off at the end of `-z` ("aborted due to deadline") are no failures: oha's success rate leaves them out
and its requests per second count them.
"""

import sqlite3
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import Endpoint, Latency
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.importer import Importer, Part, Sink, by_header
from loadwatch_backend.runs.importers.outcomes import (
    UNNAMED,
    endpoint_of_url,
    figures,
    outcomes_of_counts,
    ranked_errors,
)
from loadwatch_backend.runs.importers.reading.documents import (
    STATUS_MOST,
    count,
    integer,
    latency_of,
    mapping,
    nanoseconds,
    number,
    only,
    read_document,
)
from loadwatch_backend.runs.importers.tools.hey import read_answers

CSV_HEADER = b"request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status"
CUT_OFF = "aborted due to deadline"
_LATENCIES = ("fastest", "average", "p50", "p90", "p95", "p99", "slowest")
_COLUMNS = ("request-start", "request-duration", "status", "bytes")
_RUNS = "SELECT run, COUNT(*) FROM oha GROUP BY run ORDER BY run"
_REQUESTS = "SELECT start, duration, status, len_bytes, url FROM oha WHERE run = ?"
_IS_TABLE = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'oha' AND type = 'table' AND sql LIKE 'CREATE TABLE%'"


def read_oha_csv(parts: Sequence[Part], sink: Sink) -> None:
    """Answered requests; times are from the start of the test."""
    read_answers(only(parts, sink), sink, "oha's CSV", CSV_HEADER, _COLUMNS)
    _no_failures(sink, "CSV")


def _no_failures(sink: Sink, what: str) -> None:
    sink.remark("oha-no-failures", what=what)


def read_oha_database(parts: Sequence[Part], sink: Sink) -> None:
    """`--db-url`: the newest run of the file, with its date in whole seconds."""
    part = only(parts, sink)
    rows, read = sink.rows(), 0
    try:
        with _database(part) as database:
            run = _newest_run(database, part, sink)
            for start, duration, status, size, url in database.execute(_REQUESTS, (run,)):
                name = endpoint_of_url("", str(url)) or UNNAMED
                rows.append(
                    run * 1_000_000_000 + nanoseconds(start),
                    nanoseconds(duration),
                    integer(status, STATUS_MOST),
                    name,
                    bytes_in=integer(size),
                )
                read += 1
    except (sqlite3.DatabaseError, ValueError, TypeError) as error:
        if not read:
            raise UnreadableFileError(
                f"{part.name}: oha's SQLite database is damaged ({error}), and nothing in it could be read."
            ) from error
        sink.remark("damaged/oha-database", place=f"record {read + 1}", error=error)
    _no_failures(sink, "database")
    sink.remark("oha-whole-seconds")


@contextmanager
def _database(part: Part) -> Generator[sqlite3.Connection]:
    """The database as a file of our own, opened so that nothing in it can run or be written."""
    with tempfile.TemporaryDirectory(prefix="loadwatch-oha-") as folder:
        path = Path(folder) / "oha.sqlite"
        with part.open() as stream:
            part.account.copy(stream, path)
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            yield database


def _newest_run(database: sqlite3.Connection, part: Part, sink: Sink) -> int:
    if not database.execute(_IS_TABLE).fetchone()[0]:
        raise UnreadableFileError(f"{part.name}: the SQLite file has no table `oha`, which `oha --db-url` writes.")
    runs = [(int(run), int(n)) for run, n in database.execute(_RUNS) if isinstance(run, int)]
    if not runs:
        raise UnreadableFileError(f"{part.name}: oha's database has no requests: no answer came in that run.")
    if len(runs) > 1:
        sink.remark("oha-other-runs", figures={"runs": len(runs), "other_requests": sum(n for _, n in runs[:-1])})
    return runs[-1][0]


def read_oha_json(parts: Sequence[Part], sink: Sink) -> None:
    """The summary; all times are seconds (but for `metrics.latency_ms`, which repeats them)."""
    document = read_document(only(parts, sink), "oha's JSON")
    summary = mapping(document.get("summary"))
    statuses = {code: count(n) for code, n in mapping(document.get("statusCodeDistribution")).items()}
    every = {text: count(n) for text, n in mapping(document.get("errorDistribution")).items()}
    cut_off = every.pop(CUT_OFF, 0)
    errors = list(every.items())
    total = figures(
        outcomes=_outcomes(statuses, errors),
        duration_seconds=number(summary.get("total")),
        latency=_latency(document, summary),
        status_codes=statuses,
        bytes_in=count(summary.get("totalData")),
    )
    sink.aggregate(total, (Endpoint(name=UNNAMED, figures=total),), ranked_errors(errors))
    _remarks(sink, summary, cut_off, sum(every.values()), total.rate)


def _outcomes(statuses: Mapping[str, int], errors: Sequence[tuple[str, int]]) -> Mapping[Outcome, int]:
    """Hyper says only "connection error" when an open connection breaks: a reset."""
    broken = sum(n for text, n in errors if text == "connection error")
    found = outcomes_of_counts(statuses, [item for item in errors if item[0] != "connection error"])
    found[Outcome.RESET] += broken
    return found


def _latency(document: Mapping[str, Any], summary: Mapping[str, Any]) -> Latency:
    percentiles = mapping(document.get("latencyPercentiles"))
    if number(percentiles.get("p50")) is None:  # with --stats-success-breakdown
        percentiles = mapping(document.get("latencyPercentilesSuccessful")) or percentiles
    return latency_of({**percentiles, **summary}, _LATENCIES)


def _remarks(sink: Sink, summary: Mapping[str, Any], cut_off: int, failed: int, rate: float | None) -> None:
    theirs = number(summary.get("requestsPerSec"))
    if cut_off:
        sink.remark(
            "oha-deadline",
            figures={"cut_off": cut_off}
            | ({"tool_rate": theirs} if theirs is not None else {})
            | ({"ours_rate": rate} if rate is not None else {}),
        )
    if failed:
        sink.remark(
            "oha-latency-of-answers",
            figures={"failed": failed}
            | ({"tool_success_ratio": ratio} if (ratio := number(summary.get("successRate"))) is not None else {}),
        )
    sink.remark("oha-no-series")


def _recognise_json(head: bytes) -> int:
    words = (b'"summary"', b'"successRate"', b'"requestsPerSec"', b'"slowest"')
    return 95 if head.lstrip()[:1] == b"{" and all(word in head for word in words) else 0


def _recognise_database(head: bytes) -> int:
    return 100 if head.startswith(b"SQLite format 3\0") and b"CREATE TABLE oha" in head else 0


OHA_JSON = Importer("oha-json", "oha JSON (`--output-format json`)", _recognise_json, read_oha_json)
OHA_CSV = Importer("oha-csv", "oha CSV (`--output-format csv`)", by_header(CSV_HEADER), read_oha_csv)
OHA_DATABASE = Importer("oha-sqlite", "oha's SQLite database (`--db-url`)", _recognise_database, read_oha_database)
