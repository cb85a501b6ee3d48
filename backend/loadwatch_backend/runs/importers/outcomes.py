"""Outcomes of requests, texts of their errors, and names of endpoints: the tool's label, or method and URL."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import OUTCOMES, Outcome, Sorter, outcome_of_status
from loadwatch_formats.run_spans import LONGEST_RUN_DAYS

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, Figures, FloatArray, IntArray, Latency, Seconds
from loadwatch_backend.runs.importers.reading.patterns import Linear

SORTER = Sorter(Linear)
_SOURCE_PORT = Linear(r"(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.%\w]*\]):\d+->")
_QUERY = Linear(r"((?:https?://|\bfor url: /)[^\s\"'?#]*)[?#][^\s\"']*")
_OBJECT = re.compile(r"0x[0-9a-fA-F]{6,}")
_LONGEST = 300
_LONGEST_LABEL = 500
_LONGEST_READ = 10_000
"""Characters of an error text that are read; the rest is cut off first."""


def outcomes_of(status: IntArray, error_codes: npt.NDArray[np.int32] | None, texts: list[str]) -> npt.NDArray[np.uint8]:
    """By the status where there is one, else by the text; `error_codes` are indices into `texts`, -1 for none."""
    by_class = np.array([OUTCOME_CODES[outcome_of_status(klass * 100)] for klass in range(7)], dtype=np.uint8)
    by_class[0] = by_class[6] = OUTCOME_CODES[Outcome.OTHER]
    found = by_class[np.clip(status // 100, 0, 6)]
    if error_codes is not None:
        silent = status == 0
        if silent.any():
            by_text = np.array([OUTCOME_CODES[SORTER.of_error(text)] for text in texts] + [0], dtype=np.uint8)
            by_text[-1] = OUTCOME_CODES[Outcome.OTHER]
            found[silent] = by_text[error_codes[silent]]
    return found


def plain_error(text: str) -> str:
    """The text without what differs from request to request: source ports, query strings, addresses of objects.

    A query string leaves `?...` behind, so that nobody takes the address for the one that was asked for.
    """
    text = text[:_LONGEST_READ].strip()
    if "->" in text:
        text = _SOURCE_PORT.sub(r"\1->", text)
    if "?" in text or "#" in text:
        text = _QUERY.sub(r"\1?...", text)
    if "0x" in text:
        text = _OBJECT.sub("0x…", text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def endpoint_of_url(method: str, url: str) -> str:
    """`GET http://host/path`: the query string would make every request an endpoint of its own."""
    bare = url.partition("#")[0].partition("?")[0]
    return plain_label(f"{method} {bare}" if method else bare)


def plain_label(label: str) -> str:
    if "\n" in label or "\r" in label or "\t" in label:
        label = " ".join(label.split())
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"


def looks_like_url(text: str) -> bool:
    """Whether a label is a URL, as Locust and k6 use for requests without a name."""
    return urlsplit(text).scheme in {"http", "https", "ws", "wss"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """What a tool says of the time from `start_ms` up to `end_ms`.

    Attributes:
        latency: p50, p90, p95, p99, max in seconds; None where nothing was answered or it is not told.
        users: active users; None where unknown.
    """

    start_ms: int
    end_ms: int
    outcomes: Mapping[Outcome, int]
    latency: FloatArray | None
    bytes_in: int | None
    users: float | None


def spread(total: int, seconds: int) -> IntArray:
    """`total` over so many seconds as evenly as whole numbers allow; sums to `total`."""
    edges = np.floor(np.arange(seconds + 1, dtype=np.float64) * total / seconds)
    edges[-1] = total
    return np.diff(edges.astype(np.int64))


def seconds_of_periods(periods: Sequence[Period]) -> Seconds | None:
    """Second by second; `exact` is false. None without periods, or when they span more than the longest run."""
    if not periods:
        return None
    first = min(period.start_ms for period in periods) // 1000
    last = max(max(period.start_ms, period.end_ms - 1) for period in periods) // 1000
    length = last - first + 1
    if length > LONGEST_RUN_DAYS * 86_400:
        return None
    outcomes = np.zeros((length, len(OUTCOMES)), dtype=np.int64)
    latency = np.full((length, 5), np.nan)
    bytes_in = np.zeros(length, dtype=np.int64)
    users = np.full(length, np.nan)
    for period in periods:
        begin = period.start_ms // 1000 - first
        end = max(begin, (period.end_ms - 1) // 1000 - first) + 1
        for outcome, n in period.outcomes.items():
            outcomes[begin:end, OUTCOME_CODES[outcome]] += spread(n, end - begin)
        bytes_in[begin:end] += spread(period.bytes_in or 0, end - begin)
        if period.latency is not None:
            latency[begin:end] = period.latency
        if period.users is not None:
            users[begin:end] = period.users
    latency[outcomes.sum(axis=1) == 0] = np.nan
    return Seconds(
        start_ms=first * 1000,
        outcomes=outcomes,
        latency=latency if any(period.latency is not None for period in periods) else None,
        bytes_in=bytes_in if any(period.bytes_in is not None for period in periods) else None,
        bytes_out=None,
        users=users if any(period.users is not None for period in periods) else None,
        exact=False,
    )


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
