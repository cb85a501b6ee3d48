"""Executions summed up by fingerprint: the table of a slow log."""

from collections.abc import Mapping
from typing import Any

from loadwatch_formats.access_logs.sketch import GREATEST, RELATIVE_ERROR, Sketch
from loadwatch_formats.own_traffic import COMMENT, NAME
from loadwatch_formats.run_spans import Span
from loadwatch_formats.statements.fingerprint import OTHER, Dialect, fingerprint
from loadwatch_formats.statements.slow_log import SlowStatement

MOST_FINGERPRINTS = 5_000
"""What comes after so many different ones is `other`."""
COUNTS = ("rows_sent", "rows_examined", "rows_affected", "tmp_tables", "tmp_disk_tables", "no_index", "failed")


class StatementSum:
    """All executions of one fingerprint in one database.

    Attributes:
        times: of the executions, seconds.
        lock_seconds: of all together.
        counts: by `COUNTS`, of all together.
    """

    __slots__ = ("counts", "fingerprint", "lock_seconds", "schema", "times")

    def __init__(self, schema: str, fingerprint: str) -> None:
        self.schema = schema
        self.fingerprint = fingerprint
        self.times = Sketch()
        self.lock_seconds = 0.0
        self.counts: dict[str, int] = dict.fromkeys(COUNTS, 0)

    def add(self, one: SlowStatement) -> None:
        """Count an execution; one of a sample counts for all that it stands for."""
        self.times.add(min(one.seconds, GREATEST), one.one_in)
        self.lock_seconds += one.lock_seconds * one.one_in
        for name in COUNTS:
            self.counts[name] += int(getattr(one, name)) * one.one_in

    def document(self, whole_seconds: float) -> dict[str, Any]:
        p50, p95, p99 = self.times.quantiles((0.5, 0.95, 0.99))
        return {
            "fingerprint": self.fingerprint,
            "schema": self.schema,
            "count": self.times.count,
            "sum": self.times.sum,
            "share": self.times.sum / whole_seconds if whole_seconds else 0.0,
            "min": self.times.least,
            "mean": self.times.mean,
            "p50": p50,
            "p95": p95,
            "p99": p99,
            "max": self.times.greatest,
            "lock": self.lock_seconds,
            **self.counts,
        }


class StatementSums:
    """The table, bounded.

    Attributes:
        first, last: when the earliest and the latest execution ended, seconds since the epoch; None where unknown.
        sampled: executions that stand for more than themselves.
    """

    def __init__(self, most: int = MOST_FINGERPRINTS) -> None:
        self._most = most
        self._sums: dict[tuple[str, str], StatementSum] = {}
        self.first: float | None = None
        self.last: float | None = None
        self.sampled = 0

    def add(self, one: SlowStatement, dialect: Dialect = Dialect.MYSQL) -> None:
        key = ("", NAME) if COMMENT in one.text else (one.schema, fingerprint(one.text, dialect))
        if key not in self._sums and len(self._sums) >= self._most:
            key = ("", OTHER)
        if key not in self._sums:
            self._sums[key] = StatementSum(*key)
        self._sums[key].add(one)
        self.sampled += one.one_in > 1
        if one.at is not None:
            self.first = one.at if self.first is None else min(self.first, one.at)
            self.last = one.at if self.last is None else max(self.last, one.at)

    @property
    def seconds(self) -> float:
        return sum(one.times.sum for one in self._sums.values())

    @property
    def calls(self) -> int:
        return sum(one.times.count for one in self._sums.values())

    def all(self) -> list[StatementSum]:
        """By time, the dearest first."""
        return sorted(self._sums.values(), key=lambda one: (-one.times.sum, one.schema, one.fingerprint))

    def by_key(self) -> Mapping[tuple[str, str], StatementSum]:
        """By database and fingerprint."""
        return self._sums

    def document(self) -> dict[str, Any]:
        seconds = self.seconds
        return {
            "statements": [one.document(seconds) for one in self.all()],
            "window": None
            if self.first is None or self.last is None
            else {"first_ms": round(self.first * 1_000), "last_ms": round(self.last * 1_000)},
            "percentile_error": RELATIVE_ERROR,
            "sampled": self.sampled,
        }


# What of a slow log lies within a run, as a document to be kept with it: no value of a statement. No I/O.


class SlowLogPart:
    """Sums up the executions that ended within a run, those of its steady window once more.

    Attributes:
        read: executions of the run.
        outside: those of another time, and when the first and the last of them were, seconds since the epoch.
        undated: those of a log that does not say when they were.
    """

    def __init__(self, run: Span, steady: Span | None) -> None:
        self._run, self._steady = run, steady
        self._whole, self._of_steady = StatementSums(), StatementSums()
        self.read = self.outside = self.undated = 0
        self.first: float | None = None
        self.last: float | None = None

    def add(self, one: SlowStatement) -> None:
        if one.at is None:
            self.undated += 1
            return
        at_ms = int(one.at * 1_000)
        if not self._run.has(at_ms):
            self.outside += 1
            self.first = one.at if self.first is None else min(self.first, one.at)
            self.last = one.at if self.last is None else max(self.last, one.at)
            return
        self.read += 1
        self._whole.add(one)
        if self._steady is not None and self._steady.has(at_ms):
            self._of_steady.add(one)

    def document(self, facts: Mapping[str, Any], *, unreadable: int, cut: int) -> dict[str, Any]:
        """As `loadwatch digest statements --json` writes it, with `run`, which has `facts` too, and `steady`."""
        document = {
            **self._whole.document(),
            "lines": {
                **{name: getattr(self, name) for name in ("read", "outside", "undated")},
                **{"unreadable": unreadable, "cut": cut},
            },
            "run": {**self._run.document(), **facts},
        }
        if self._steady is not None:
            document["steady"] = {**self._steady.document(), "statements": self._of_steady.document()["statements"]}
        return document
