"""What of a slow log lies within a run, as a document to be kept with it: no value of a statement. No I/O."""

from collections.abc import Mapping
from typing import Any

from loadwatch_formats.run_spans import Span
from loadwatch_formats.statements.slow_log import SlowStatement
from loadwatch_formats.statements.sums import StatementSums


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
        """Count an execution."""
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
                "read": self.read,
                "outside": self.outside,
                "undated": self.undated,
                "unreadable": unreadable,
                "cut": cut,
            },
            "run": {**self._run.document(), **facts},
        }
        if self._steady is not None:
            document["steady"] = {
                **self._steady.document(),
                "statements": self._of_steady.document()["statements"],
            }
        return document
