"""The routes of an access log's digest that is kept with a run. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import orjson

from loadwatch_backend.evidence.kept_digests import MALFORMED, Digest, number
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.evidence.route_folding import RouteKey
from loadwatch_backend.evidence.routes.schemas import SHARES, Counted, Rank, RouteSource, Window

MOST_CELLS = 1_000_000
_LARGEST = 2.0**53
_LONGEST_STEP = 86_400


@dataclass(frozen=True, kw_only=True)
class RouteSeconds:
    """Steps of one route that had requests: when each begins (ms), and its sums; None where nobody told."""

    key: RouteKey
    at_ms: FloatArray
    requests: FloatArray
    not_modified: FloatArray
    failed: FloatArray
    seconds: FloatArray | None
    sent_bytes: FloatArray | None


@dataclass(frozen=True, kw_only=True)
class KeptSeconds:
    """All routes of a log, in steps of `step_ms`; `known_ms` is from when to when it says all."""

    file: str
    step_ms: int
    known_ms: tuple[int, int]
    routes: Sequence[RouteSeconds]

    def grown(self, one: RouteSeconds, values: FloatArray, times: FloatArray) -> FloatArray:
        """[interval] of the edges `times`, ms: what was counted in each, evenly spread over a step."""
        ends = np.cumsum(values)
        if not len(ends):
            return np.zeros(max(len(times) - 1, 0))
        at = np.column_stack([one.at_ms, one.at_ms + self.step_ms]).ravel()
        return np.diff(np.interp(times, at, np.column_stack([ends - values, ends]).ravel()))

    def requests(self, from_ms: int, to_ms: int) -> float | None:
        """Requests of a span; None where the log does not say all of it, give or take a step at either end."""
        if from_ms < self.known_ms[0] - self.step_ms or to_ms > self.known_ms[1] + self.step_ms or to_ms <= from_ms:
            return None
        times = np.asarray([from_ms, to_ms], dtype=np.float64)
        return float(sum(self.grown(one, one.requests, times).sum() for one in self.routes))


def parse_seconds(content: bytes) -> KeptSeconds | None:
    """Those of a digest; None where it has none, or is none of its kind."""
    try:
        document: Any = orjson.loads(content)
        told: Any = document.get("seconds")
        if told is None:
            return None
        step, begin = int(told["step"]), int(told["from_ms"])
        known = int(told["known_ms"][0]), int(told["known_ms"][1])
        run: Any = document.get("run") or {}
        rows: Any = told["routes"][:MOST_ROUTES]
        if not 1 <= step <= _LONGEST_STEP or sum(len(row["at"]) for row in rows) > MOST_CELLS:
            return None
        return KeptSeconds(
            file=str(run.get("file", ""))[:200],
            step_ms=step * 1_000,
            known_ms=known,
            routes=[_route(cast(Mapping[str, Any], row), begin, step * 1_000) for row in rows],
        )
    except MALFORMED:
        return None


def _route(row: Mapping[str, Any], begin_ms: int, step_ms: int) -> RouteSeconds:
    steps = _column(row["at"], len(row["at"]))
    if np.any(np.diff(steps) < 1):
        raise ValueError("steps are not in order")
    return RouteSeconds(
        key=RouteKey(str(row["method"])[:20], str(row["route"])[:600]),
        at_ms=begin_ms + step_ms * steps,
        requests=_column(row["count"], len(steps)),
        not_modified=_column(row.get("not_modified"), len(steps)),
        failed=_column(row.get("failed"), len(steps)),
        seconds=_column(row["seconds"], len(steps)) if "seconds" in row else None,
        sent_bytes=_column(row["bytes"], len(steps)) if "bytes" in row else None,
    )


def _column(values: Any, count: int) -> FloatArray:
    if values is None:
        return np.zeros(count)
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (count,) or not np.all((column >= 0) & (column <= _LARGEST)):
        raise ValueError("a column is of another length, or holds no counts")
    return column


MOST_ROUTES = 2_000
_UNREAD = ("unreadable", "too_long", "undated")


def parse_digest(content: bytes, steady_ms: tuple[int, int] | None) -> Window | None:
    """The routes of a digest: of the steady window if that is asked and in it, else of all; None of anything else."""
    try:
        digest = Digest(content, steady_ms)
        span = digest.span()
        if span is None:
            return None
        rows: Any = digest.rows("routes")
        error = min(number(digest.lines.get("percentile_error", 0.0)), 1.0)
        return Window(
            source=RouteSource.ACCESS_LOG,
            # Of a whole file it is the times of its first and last line.
            span=(span[0], max(span[1] + (1 if digest.run is None else 0), span[0] + 1_000)),
            steady=digest.steady is not None,
            routes=[_counted(cast(Mapping[str, Any], row), error) for row in rows[:MOST_ROUTES]],
            counted_by=digest.file,
            unreadable=int(sum(number(digest.lines.get(name, 0)) for name in _UNREAD)),
            outside=digest.outside,
            whole_file=digest.run is None,
        )
    except MALFORMED:
        return None


def _counted(row: Mapping[str, Any], error: float) -> Counted:
    requests, total, mean = number(row["count"]), row.get("sum"), row.get("mean")
    size: Any = row.get("bytes")
    if isinstance(size, Mapping):  # as agents wrote it before 26 November 2026
        size = cast(Mapping[str, Any], size).get("sum")
    statuses: Mapping[str, Any] = row.get("status") or {}
    known = total is not None
    return Counted(
        key=RouteKey(str(row["method"])[:20], str(row["route"])[:600]),
        requests=requests,
        statuses={str(status)[:3]: number(count) for status, count in statuses.items()},
        seconds=number(total) if known else None,
        # Not each request has a duration: their number is what the mean is of.
        timed=number(total) / number(mean) if known and mean else requests,
        sent_bytes=None if size is None else number(size),
        ranks={
            name: _rank(number(row[name]), 0.0 if name == "max" else error)
            for name in SHARES
            if row.get(name) is not None
        },
    )


def _rank(value: float, error: float) -> Rank:
    return Rank(value=value, low=value * (1 - error), high=value * (1 + error))
