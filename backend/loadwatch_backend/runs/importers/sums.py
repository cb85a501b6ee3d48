"""Figures from a tool's own totals, for results without single requests."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from loadwatch_formats.outcomes import Outcome, outcome_of_status

from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.evidence.records.model import Figures, Latency
from loadwatch_backend.runs.importers.outcomes import SORTER, plain_error

UNNAMED = "(all requests)"
"""The endpoint of tools whose file names none."""


def figures(
    *,
    outcomes: Mapping[Outcome, int],
    duration_seconds: float | None,
    latency: Latency,
    status_codes: Mapping[str, int] | None = None,
    rate: float | None = None,
    bytes_in: int | None = None,
    bytes_out: int | None = None,
) -> Figures:
    """Requests are the sum of the outcomes; the rate is the tool's, if it gives one; time ends with the answers."""
    requests = sum(outcomes.values())
    seconds = duration_seconds or 0.0
    if rate is None and seconds > 0:
        rate = requests / seconds
    return Figures(
        requests=requests,
        duration_seconds=seconds,
        rate=rate,
        success_ratio=outcomes.get(Outcome.OK, 0) / requests if requests else None,
        latency=latency,
        outcomes={outcome: n for outcome, n in outcomes.items() if n},
        status_codes=dict(status_codes or {}),
        bytes_in=bytes_in,
        bytes_out=bytes_out,
        throughput=outcomes.get(Outcome.OK, 0) / seconds if seconds > 0 else None,
    )


def outcomes_of_counts(status_codes: Mapping[str, int], errors: Iterable[tuple[str, int]]) -> Counter[Outcome]:
    """Outcomes from counts by status and counts by error text."""
    found: Counter[Outcome] = Counter()
    for code, n in status_codes.items():
        found[outcome_of_status(int(code)) if code.isdecimal() and len(code) < 4 else Outcome.OTHER] += n
    for text, n in errors:
        found[SORTER.of_error(text)] += n
    return found


def ranked_errors(errors: Iterable[tuple[str, int]]) -> Sequence[tuple[str, int]]:
    """Texts that differ only by port or query as one, the most frequent first, at most 50."""
    totals: Counter[str] = Counter()
    for text, n in errors:
        totals[plain_error(text)] += n
    return totals.most_common(50)


def span(options: ImportOptions, total: Figures) -> tuple[int | None, int | None]:
    """Start and end in milliseconds of a result without a date, where the sender told the start."""
    if options.started_ms is None:
        return None, None
    return options.started_ms, options.started_ms + round(total.duration_seconds * 1000)
