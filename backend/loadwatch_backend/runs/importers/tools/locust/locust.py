"""Locust's CSV files (`--csv PREFIX`, locust/stats.py of 2.47): one importer for those of one test, however many.

`_stats.csv` has the totals, `_stats_history.csv` a row per second, `_failures.csv` the kinds of failures; the HTML
report (`--html`) has the totals of the very end, which none of the CSV files has. Counts are
exact; percentiles come from times that Locust rounded to two significant digits. The history's own Requests/s is a mean
of 10 s, so the requests of a second are taken from the growth of its totals instead.
"""

from collections.abc import Sequence

from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.importer import Importer, Part
from loadwatch_backend.runs.importers.sink import Aggregate, Sink
from loadwatch_backend.runs.importers.sums import span
from loadwatch_backend.runs.importers.tools.locust.history import HISTORY_HEADER, History, read_history
from loadwatch_backend.runs.importers.tools.locust.report import REPORT_TITLE, is_report, read_report, with_exact
from loadwatch_backend.runs.importers.tools.locust.totals import (
    AGGREGATED,
    EXCEPTIONS_HEADER,
    FAILURES_HEADER,
    STATS_HEADER,
    Failures,
    Totals,
    endpoints_of,
    figures_of,
    read_exceptions,
    read_failures,
    read_stats,
)
from loadwatch_backend.runs.importers.tools.plain_csv import Damages

_HEADERS = (HISTORY_HEADER, STATS_HEADER, FAILURES_HEADER, EXCEPTIONS_HEADER)


def read_locust(parts: Sequence[Part], sink: Sink, options: ImportOptions) -> None:
    """Any of the four files and the HTML report, at least one with totals.

    Raises:
        UnreadableFileError: nothing with totals came.
    """
    files = _by_kind(parts, sink)
    failures = Failures()
    rows: Sequence[Totals] = ()
    history = None
    if part := files.get(FAILURES_HEADER):
        damages = Damages(sink, part.name)
        failures = read_failures(part, damages)
        damages.close()
    if part := files.get(STATS_HEADER):
        damages = Damages(sink, part.name)
        rows = read_stats(part, damages)
        damages.close()
    report = read_report(files[REPORT_TITLE], sink) if REPORT_TITLE in files else None
    if report is not None and report.whole is not None and _goes_on(report.whole, rows):
        rows, failures = with_exact(report.rows, rows), report.failures
    else:
        report = None
    if part := files.get(HISTORY_HEADER):
        damages = Damages(sink, part.name)
        at_end = None if report is None or report.end_ms is None else (report.end_ms, rows)
        history = read_history(part, damages, failures, at_end)
        damages.close()
    total = next((row for row in rows if row.name == AGGREGATED and not row.method), history.last if history else None)
    if total is None:
        raise UnreadableFileError(
            f"{', '.join(part.name for part in parts)}: no row of the whole test (Aggregated) in it. Send Locust's "
            "_stats.csv or _stats_history.csv, best all files of the test in one ZIP."
        )
    lasted = (history.end_ms - history.start_ms) / 1000 if history else None
    whole = figures_of(total, failures.kinds(total.failures), failures.statuses(), lasted)
    start, end = (history.start_ms, history.end_ms) if history else span(options, whole)
    if history is None and report is not None and report.start_ms is not None:
        start, end = report.start_ms, report.end_ms
    sink.aggregate(
        Aggregate(
            figures=whole,
            endpoints=endpoints_of(rows or (history.last_rows if history else ()), failures, lasted),
            errors=failures.texts(),
            seconds=history.seconds if history else None,
            start_ms=start,
            end_ms=end,
        )
    )
    if part := files.get(EXCEPTIONS_HEADER):
        damages = Damages(sink, part.name)
        _remark_exceptions(sink, read_exceptions(part, damages))
        damages.close()
    _remark_percentiles(sink, total)
    _remark_history(sink, history)
    _remark_files(sink, total, failures, at_end=report is not None)


def _goes_on(whole: Totals, rows: Sequence[Totals]) -> bool:
    """Whether the report is of the same test as `_stats.csv`, and no older."""
    before = next((row for row in rows if row.name == AGGREGATED and not row.method), None)
    return before is None or whole.requests >= before.requests


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
        sink.remark(
            RemarkKind.MISSING,
            "one-result-only",
            f"Files of several tests: {', '.join(twice[:10])} were left out. Import each test by itself.",
            figures={"files": len(twice)},
        )
    return files


def _remark_exceptions(sink: Sink, exceptions: Sequence[tuple[str, int]]) -> None:
    if exceptions:
        total = sum(n for _, n in exceptions)
        first = "; ".join(f"{n} x {message}" for message, n in exceptions[:5])
        sink.remark(
            RemarkKind.MISSING,
            "locust-exceptions",
            f"The locustfile itself failed {total} times ({first}); these are no requests and not counted.",
            figures={"exceptions": total},
        )


def _remark_percentiles(sink: Sink, total: Totals) -> None:
    top = total.percentiles.get(100.0)
    evidence: dict[str, float] = {}
    if top is not None and total.max is not None:
        evidence = {"tool_p100": top / 1000, "ours_max": total.max / 1000}
    if (p95 := total.percentiles.get(95.0)) is not None:
        half = 0.0 if p95 < 100 else 0.5 * 10.0 ** (len(str(int(p95))) - 2)
        evidence |= {"tool_p95": p95 / 1000, "p95_within": max(half, 0.5) / 1000}
    sink.remark(
        RemarkKind.DISTORTION,
        "locust-rounded-percentiles",
        "Locust rounds response times to two significant digits (147 ms becomes 150 ms, 3,432 ms becomes 3,400 ms) "
        "before it takes percentiles; mean, minimum and maximum are exact.",
        figures=evidence,
    )
    latency = total.latency
    told = {"p50": latency.p50, "p90": latency.p90, "p95": latency.p95, "p99": latency.p99}
    absent = [name for name, value in told.items() if value is None]
    if total.requests and absent:
        sink.remark(
            RemarkKind.MISSING,
            "locust-percentiles",
            f"The files have no {', '.join(absent)} of the whole test"
            " (Locust writes the columns in PERCENTILES_TO_REPORT, and those of the whole test into _stats.csv).",
        )


def _remark_history(sink: Sink, history: History | None) -> None:
    if history is None:
        sink.remark(
            RemarkKind.MISSING,
            "locust-no-history",
            "Without _stats_history.csv nothing per second and no date is known.",
        )
        return
    if history.full:
        sink.remark(
            RemarkKind.DISTORTION,
            "locust-ten-second-percentiles",
            "The percentiles of each second are Locust's of the last 10 s. Requests and failures of each second are "
            "taken from its totals and exact; Locust's own Requests/s is a mean of 10 s that trails.",
        )
    else:
        sink.remark(
            RemarkKind.MISSING,
            "locust-cumulative-percentiles",
            "Without --csv-full-history Locust writes percentiles of the whole test so far, which are not those of a "
            "second; they are not shown per second.",
        )
    sink.remark(
        RemarkKind.MISSING,
        "locust-by-end",
        "Locust counts a request in the second in which it ended. Failures per second are told by kind only for "
        "endpoints that fail in one way, from _failures.csv and --csv-full-history; the others are counted as other.",
    )
    if history.restarts:
        sink.remark(
            RemarkKind.MISSING,
            "locust-reset-stats",
            f"Locust's totals began again {history.restarts} times (--reset-stats); what was counted before is in the "
            "series and not in the totals.",
            figures={"restarts": history.restarts},
        )


def _remark_files(sink: Sink, total: Totals, failures: Failures, *, at_end: bool) -> None:
    if not at_end:
        sink.remark(
            RemarkKind.MISSING,
            "locust-last-second",
            "Locust writes its CSV files once a second and not at the end: what ended after the last time is missing. "
            "Its HTML report (--html) has it; send it along.",
        )
    if total.failures and not failures.counts:
        sink.remark(
            RemarkKind.MISSING,
            "locust-failure-kinds",
            f"Without _failures.csv the kinds of {total.failures} failures are not known; they are counted as other.",
            figures={"failures": total.failures},
        )


def _recognise(head: bytes, name: str) -> int:
    del name
    return 95 if head.startswith(_HEADERS) or is_report(head) else 0


LOCUST = Importer(
    name="locust-csv",
    tool="locust",
    title="Locust's CSV files (`--csv`) and HTML report (`--html`), alone or together in an archive",
    recognise=_recognise,
    read=read_locust,
)
