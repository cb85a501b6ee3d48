"""The digest of an access log that is kept with a run, as `loadwatch import --access-log` sends it.

It is what `loadwatch digest access --json` writes, with `run` (from_ms, to_ms, file) where only lines of the run were
counted, and `steady` (from_ms, to_ms, routes) beside it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, cast

import orjson

from loadwatch_backend.evidence.route_names import RouteKey
from loadwatch_backend.evidence.routes.model import SHARES, Counted, Rank, Source, Window

MOST_BYTES = 16 << 20
MOST_ROUTES = 2_000
_LARGEST = 2.0**53
_UNREAD = ("unreadable", "too_long", "undated")


class KeptLogs(Protocol):
    """Where the newest digest of a run is kept."""

    def newest(self, run_id: str) -> Path | None:
        """Its file; None where the run has none."""
        ...


def parse_digest(content: bytes, steady_ms: tuple[int, int] | None) -> Window | None:
    """The routes of a digest: of the steady window if that is asked and in it, else of all; None of anything else."""
    try:
        document: Any = orjson.loads(content)
        lines: Any = document.get("lines") or {}
        run: Any = document.get("run")
        steady: Any = document.get("steady")
        part: Any = run
        if steady is not None and steady_ms == (int(steady["from_ms"]), int(steady["to_ms"])):
            part = steady
        else:
            steady = None
        if part is None:
            window = document["window"]
            span = int(window["first_ms"]), int(window["last_ms"]) + 1
        else:
            span = int(part["from_ms"]), int(part["to_ms"])
        rows: Any = (steady or document)["routes"]
        error = min(_number(lines.get("percentile_error", 0.0)), 1.0)
        return Window(
            source=Source.ACCESS_LOG,
            span=(span[0], max(span[1], span[0] + 1_000)),
            steady=steady is not None,
            routes=[_counted(cast(Mapping[str, Any], row), error) for row in rows[:MOST_ROUTES]],
            counted_by="" if run is None else str(run.get("file", ""))[:200],
            unreadable=int(sum(_number(lines.get(name, 0)) for name in _UNREAD)),
            outside=int(_number(lines.get("outside", 0))),
            whole_file=run is None,
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def _counted(row: Mapping[str, Any], error: float) -> Counted:
    requests, total, mean = _number(row["count"]), row.get("sum"), row.get("mean")
    size: Any = row.get("bytes")
    if isinstance(size, Mapping):  # as agents wrote it before 26 November 2026
        size = cast(Mapping[str, Any], size).get("sum")
    statuses: Mapping[str, Any] = row.get("status") or {}
    known = total is not None
    return Counted(
        key=RouteKey(str(row["method"])[:20], str(row["route"])[:600]),
        requests=requests,
        statuses={str(status)[:3]: _number(count) for status, count in statuses.items()},
        seconds=_number(total) if known else None,
        # Not each request has a duration: their number is what the mean is of.
        timed=_number(total) / _number(mean) if known and mean else requests,
        sent_bytes=None if size is None else _number(size),
        ranks={
            name: _rank(_number(row[name]), 0.0 if name == "max" else error)
            for name in SHARES
            if row.get(name) is not None
        },
    )


def _rank(value: float, error: float) -> Rank:
    return Rank(value=value, low=value * (1 - error), high=value * (1 + error))


def _number(value: Any) -> float:
    number = float(value)
    if not 0 <= number <= _LARGEST:
        raise ValueError(f"{number} is none of its figures")
    return number
