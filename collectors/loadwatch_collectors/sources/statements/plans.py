"""Which statements are explained next, and what was found, as samples. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from loadwatch_formats.statements.plans import NoPlan

from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.sources.statements.counts import MOST_KNOWN, SECONDS, Counts, Key
from loadwatch_collectors.sources.statements.totals import REPEAT_MS, TEXTS

EVERY_SECONDS = 5.0
"""Between two looks."""
AT_ONCE = 3
"""Statements that a look explains, the dearest first."""
AGAIN_SECONDS = {None: 600.0, NoPlan.NO_EXAMPLE: 10.0}
"""After which a statement that still takes time is looked at again, by why there was no plan."""
AGAIN_REFUSED_SECONDS = 300.0
MOST_PLANS = 200
"""Statements with a plan, or with the reason why there is none."""


class Found(NamedTuple):
    """What a look said of a statement: the steps (`write_plan`) of an execution, which is shown without its values."""

    plan: str = ""
    reason: NoPlan | None = None
    example: str = ""


@dataclass(slots=True)
class _Known:
    found: Found
    again_at: float
    sent_ms: int = 0


class Plans:
    """Remembers the plans of one server."""

    def __init__(self, metric: str, labels: tuple[str, str]) -> None:
        """`labels` are the names of those for database and digest."""
        self._metric, self._labels = metric, labels
        self._seconds: dict[Key, float] = {}
        self._known: dict[Key, _Known] = {}
        self._next = 0.0

    def add(self, grown: Mapping[Key, Counts]) -> None:
        """Note what statements took; those of no database are mostly an agent's own."""
        for key, counts in grown.items():
            if key.schema and key not in TEXTS and (key in self._seconds or len(self._seconds) < MOST_KNOWN):
                self._seconds[key] = self._seconds.get(key, 0.0) + counts[SECONDS]

    def due(self, now: float) -> list[Key]:
        """The statements to explain now, seconds of a clock that never goes back; mostly none."""
        if now < self._next or not self._seconds:
            return []
        self._next = now + EVERY_SECONDS
        asked = [key for key in self._seconds if self._is_due(key, now)]
        asked.sort(key=lambda key: -self._seconds[key])
        self._seconds = {}
        return asked[:AT_ONCE]

    def note(self, key: Key, found: Found, now: float) -> None:
        """Remember what was found; a plan that is the same keeps its example, and none later takes its place."""
        again = now + AGAIN_SECONDS.get(found.reason, AGAIN_REFUSED_SECONDS)
        before = self._known.get(key)
        if before is not None and (
            found.reason is NoPlan.NO_EXAMPLE or (found.reason, found.plan) == (before.found.reason, before.found.plan)
        ):
            before.again_at = again
            return
        self._known[key] = _Known(found, again)

    def refused_schemas(self) -> list[str]:
        """Databases in which nothing may be read."""
        refused = {key.schema for key, known in self._known.items() if known.found.reason is NoPlan.NOT_PERMITTED}
        return sorted(refused)

    def samples(self, now_ms: int) -> Iterable[Sample]:
        """One series for each statement that was looked at."""
        for key, known in self._known.items():
            found = known.found
            labels = (
                *zip(self._labels, key, strict=True),
                ("plan", found.plan),
                ("reason", found.reason or ""),
                ("example", found.example),
            )
            fresh = now_ms - known.sent_ms >= REPEAT_MS
            yield Sample(self._metric, 1.0, labels, None if fresh else KEPT)
            if fresh:
                known.sent_ms = now_ms

    def _is_due(self, key: Key, now: float) -> bool:
        known = self._known.get(key)
        return len(self._known) < MOST_PLANS if known is None else now >= known.again_at
