"""Which of our samples an engine has, and what is told of those that it lacks."""

from pathlib import Path
from typing import Any, cast

import numpy as np
from loadwatch_backend.series.store.embedded.settings import HOUR_MS
from loadwatch_backend.series.store.embedded.stored_hours import open_stored_hours
from loadwatch_backend.series.store.port import STALE_NAN, Selection
from loadwatch_backend.series.store.prometheus.wire import SeriesSamples
from loadwatch_backend.series.store.transfer import Counts, Part, count_all, there

from backend.tests.store.transfer.filling import add

A, B = {"__name__": "a", "i": "1"}, {"__name__": "b"}
FIRST_MS = 1_750_000_000_000 // HOUR_MS * HOUR_MS


def ours(*series: tuple[dict[str, str], list[tuple[int, float]]]) -> Selection:
    counts = [len(rows) for _, rows in series]
    return Selection(
        labels=[labels for labels, _ in series],
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        timestamps=np.array([at for _, rows in series for at, _ in rows], np.int64),
        values=np.array([value for _, rows in series for _, value in rows], np.float64),
    )


def theirs(labels: dict[str, str], *times: int) -> SeriesSamples:
    return SeriesSamples(labels, np.array(times, np.int64), np.ones(len(times)))


def test_a_series_in_several_parts_is_there() -> None:
    mine = ours((A, [(1, 1.0), (2, STALE_NAN), (3, -0.0)]), (B, [(1, 5.0)]))
    assert there(mine, [theirs(A, 1), theirs(B, 1), theirs(A, 3, 2)]).tolist() == [True] * 4


def test_the_same_time_of_another_series_is_not_there() -> None:
    mine = ours((A, [(1, 1.0), (2, 2.0)]), (B, [(3, 5.0)]))
    found = [theirs(A, 2, 3), theirs({**A, "i": "2"}, 1), theirs({"__name__": "c"}, 3)]
    assert there(mine, found).tolist() == [False, True, False]


def test_what_is_there_twice_hides_nothing_that_is_missing() -> None:
    mine = ours((A, [(1, 1.0), (2, 2.0)]))
    assert there(mine, [theirs(A, 1, 1), theirs(A, 1)]).tolist() == [True, False]


class Shown:
    """An engine that shows so many samples of each series, and one more each time that it is asked."""

    def __init__(self, shown: int) -> None:
        self.shown = shown

    def read(self, part: Part) -> list[SeriesSamples]:
        self.shown += 1
        return [theirs(labels, *range(part.start_ms, part.start_ms + self.shown - 1)) for labels in (A, B)]


def nobody(hour_ms: int, done: int, total: int) -> None:
    """Watches."""


def counted(directory: Path, engine: Shown, asked: int) -> Counts:
    """Of two series of three numbers and one NaN each; counted as settled when it was asked so often."""
    rows = [(labels, FIRST_MS + place, STALE_NAN if place == 3 else 1.0) for labels in (A, B) for place in range(4)]
    add(directory, rows)
    questions = iter([*[False] * (asked - 1), True])
    with open_stored_hours(directory, 64 << 20, 1) as source:
        return count_all(source, cast("Any", engine), nobody, settled=lambda: next(questions))


def test_what_is_missing_is_told_by_hour_and_metric(tmp_path: Path) -> None:
    counts = counted(tmp_path, Shown(1), 1)
    assert (counts.samples, counts.nan, counts.hours) == (6, 2, 1)
    assert counts.missing == {(FIRST_MS, "a"): 2, (FIRST_MS, "b"): 2}


def test_what_the_engine_shows_a_moment_later_is_not_missing(tmp_path: Path) -> None:
    engine = Shown(1)
    assert not counted(tmp_path, engine, 9).missing
    assert engine.shown == 4
