"""Ladders of timeouts from the samples that agents push."""

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.language import Language
from loadwatch_backend.findings.timeouts.ladder import METRICS, Ladder, Latest, find_ladders
from loadwatch_backend.findings.timeouts.writing import TimeoutsOut, write_ladder
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Matcher, MatchOperator, Reader, Selection

LOOK_BACK_MS = 900_000
"""How old a value may be: three looks of CloudWatch's discovery."""


class TimeoutService:
    """Reads ladders; safe to use from any thread."""

    def __init__(self, store: Reader, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def read(self, at_ms: int | None, language: Language) -> TimeoutsOut:
        at = self._clock() if at_ms is None else at_ms
        return TimeoutsOut(at_ms=at, ladders=[write_ladder(ladder, language) for ladder in self.ladders(at)])

    def ladders(self, at_ms: int) -> list[Ladder]:
        named = Matcher("__name__", MatchOperator.REGEX, "|".join(METRICS))
        selection = self._store.select([named], max(at_ms - LOOK_BACK_MS, 0), at_ms)
        return find_ladders(newest_samples(selection))


def newest_samples(selection: Selection) -> list[Latest]:
    """The newest sample of each series; those whose newest one is a stale marker have ended."""
    found: list[Latest] = []
    for row, labels in enumerate(selection.labels):
        end = int(selection.offsets[row + 1])
        if end > int(selection.offsets[row]) and int(selection.values[end - 1 : end].view("u8")[0]) != STALE_NAN_BITS:
            value, time_ms = float(selection.values[end - 1]), int(selection.timestamps[end - 1])
            found.append(Latest(labels=labels, value=value, time_ms=time_ms))
    return found
