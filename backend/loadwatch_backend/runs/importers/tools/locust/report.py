"""Locust's HTML report (`--html`, locust/html.py): the only file of Locust's that is written after the test.

Its CSV files are written once a second and not at the end, so what ended in the last interval is in none of them. The
report holds the same totals as one JSON object, `window.templateArgs`; minimum and maximum are rounded to milliseconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any

import orjson
from loadwatch_formats.times import parse_rfc3339

from loadwatch_backend.runs.importers.importer import Part
from loadwatch_backend.runs.importers.reading.documents import count, items, mapping, number, read_text
from loadwatch_backend.runs.importers.sink import Sink
from loadwatch_backend.runs.importers.tools.locust.totals import AGGREGATED, Failures, Totals

REPORT_TITLE = b"<title>Locust</title>"
REPORT_HEAD = b"<!doctype html>"
_ARGUMENTS = b"window.templateArgs = "


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the report holds; `rows` with the whole test among them, times in whole seconds."""

    rows: Sequence[Totals]
    failures: Failures
    start_ms: int | None
    end_ms: int | None

    @property
    def whole(self) -> Totals | None:
        """The row of the whole test."""
        return next((row for row in self.rows if row.name == AGGREGATED and not row.method), None)


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
    if not any(row.name == AGGREGATED and not row.method for row in rows):
        sink.damage(
            "Locust's HTML report has no totals that can be read; it is cut off, or of another version.",
            place=part.name,
        )
        return None
    failures = Failures()
    for item in items(found.get("failures_statistics")):
        endpoint = _text(item, "method"), _text(item, "name")
        failures.counts.setdefault(endpoint, []).append((_text(item, "error"), count(item.get("occurrences"))))
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
