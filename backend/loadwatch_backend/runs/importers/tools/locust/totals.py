"""Locust's `_stats.csv`, `_failures.csv` and `_exceptions.csv`: totals at the end of the test.

Times are milliseconds.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import Endpoint, Figures, Latency
from loadwatch_backend.runs.importers.endpoints import plain_label
from loadwatch_backend.runs.importers.importer import Part
from loadwatch_backend.runs.importers.outcomes import SORTER
from loadwatch_backend.runs.importers.reading.documents import count, number, scaled
from loadwatch_backend.runs.importers.sums import figures, ranked_errors
from loadwatch_backend.runs.importers.tools.plain_csv import Damages, rows_of

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
    def endpoint(self) -> str:
        """Method and name, as Locust tells its rows apart."""
        return plain_label(f"{self.method} {self.name}".strip())

    @property
    def size(self) -> int:
        """Bytes of all answers, from their mean; 0 when it is not told or absurd."""
        return count(round((self.mean_size or 0.0) * self.requests, 0))

    @property
    def latency(self) -> Latency:
        """In seconds; nothing of a row without requests, where Locust writes zeros."""
        if not self.requests:
            return Latency()
        return Latency(
            min=scaled(self.min, 1e-3),
            mean=scaled(self.mean, 1e-3),
            p50=scaled(self.percentiles.get(50.0, self.median), 1e-3),
            p90=scaled(self.percentiles.get(90.0), 1e-3),
            p95=scaled(self.percentiles.get(95.0), 1e-3),
            p99=scaled(self.percentiles.get(99.0), 1e-3),
            max=scaled(self.max, 1e-3),
        )


@dataclass(slots=True)
class Failures:
    """Failures by endpoint and error text."""

    counts: dict[tuple[str, str], list[tuple[str, int]]] = field(
        default_factory=dict[tuple[str, str], list[tuple[str, int]]]
    )

    def kinds(self, failures: int, endpoint: tuple[str, str] | None = None) -> Counter[Outcome]:
        """So many failures by kind, of one endpoint or all; what the file does not explain is `other`."""
        found: Counter[Outcome] = Counter()
        left = failures
        listed = (
            self.counts.get(endpoint, []) if endpoint else [item for items in self.counts.values() for item in items]
        )
        for text, n in listed:
            taken = min(n, left)
            found[SORTER.of_error(text)] += taken
            left -= taken
        found[Outcome.OTHER] += left
        return found

    def only_kind(self, endpoint: tuple[str, str] | None = None) -> Outcome:
        """The kind of all failures of an endpoint, or of the test; `other` if there are several."""
        kinds = {
            SORTER.of_error(text)
            for name, errors in self.counts.items()
            for text, _ in (errors if endpoint in (None, name) else ())
        }
        return kinds.pop() if len(kinds) == 1 else Outcome.OTHER

    def statuses(self, endpoint: tuple[str, str] | None = None) -> dict[str, int]:
        """The status codes among the failures; Locust tells those of no other request."""
        found: Counter[str] = Counter()
        for name, errors in self.counts.items():
            for text, n in errors if endpoint in (None, name) else ():
                if match := _STATUS.match(text):
                    found[match[1]] += n
        return dict(found)

    def texts(self) -> Sequence[tuple[str, int]]:
        """Error texts with their endpoint."""
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
    found: dict[float, float | None] = {}
    for name, value in row.items():
        if match := _PERCENTILE.fullmatch(name):
            found[float(match[1])] = number(value)
    return found


def read_stats(part: Part, damages: Damages) -> list[Totals]:
    """All rows; the whole test is the one named `Aggregated` without a type."""
    return [totals_of(row) for _, row in named_rows(part, damages)]


def read_failures(part: Part, damages: Damages) -> Failures:
    """Failures by endpoint."""
    failures = Failures()
    for line, row in named_rows(part, damages):
        occurrences = number(row.get("Occurrences"))
        if occurrences is None:
            damages.add(line, "the number of occurrences is no number")
            continue
        name = (row.get("Method", ""), row.get("Name", ""))
        failures.counts.setdefault(name, []).append((row.get("Error", ""), count(occurrences)))
    return failures


def read_exceptions(part: Part, damages: Damages) -> list[tuple[str, int]]:
    """Faults of the locustfile: message and count."""
    return [(row.get("Message", ""), count(row.get("Count"))) for _, row in named_rows(part, damages)]


def named_rows(part: Part, damages: Damages) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and fields by column name."""
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
        if row.name == AGGREGATED and not row.method:
            continue
        name = (row.method, row.name)
        kinds = failures.kinds(row.failures, name)
        found.append(Endpoint(name=row.endpoint, figures=figures_of(row, kinds, failures.statuses(name), duration)))
    return sorted(found, key=lambda endpoint: -endpoint.figures.requests)
