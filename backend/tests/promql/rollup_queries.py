"""Random queries answered from rollups and from all samples: the same, or with an info that says by what they are off.

    python -m backend.tests.promql.rollup_queries 7 10000      # seed and number

The expressions and series are those of `reference`, beside plain ones over whole minutes. Each is asked of a store that
has all samples, which may use rollups where that changes nothing, and of one whose samples were deleted for their age.
"""

import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from unittest import mock

import numpy as np
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.promql import levels
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.promql.notes import Notes
from loadwatch_backend.series.promql.value import Matrix, RawMatrix, Scalar, StringValue
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Batch, Matcher, Reader, Reading, Selection

from backend.tests.promql.reference.cases import BASE_MS, LOOKBACK_MS, series
from backend.tests.promql.reference.random_queries import LABELS, SELECTORS, RandomQueries

MINUTE = 60_000
GRIDS = (
    (5 * MINUTE, 25 * MINUTE, MINUTE),
    (6 * MINUTE, 26 * MINUTE, 2 * MINUTE),
    (20 * MINUTE, 20 * MINUTE, 0),
    (0, 40 * MINUTE, 5 * MINUTE),
    (4 * MINUTE + 7_123, 21 * MINUTE, 97_000),
    (13 * MINUTE - 1, 13 * MINUTE - 1, 0),
    (3 * MINUTE, 9 * MINUTE, 15_000),
)
FUNCTIONS = (
    "rate increase delta min_over_time max_over_time sum_over_time count_over_time avg_over_time first_over_time"
    " last_over_time present_over_time ts_of_first_over_time ts_of_last_over_time"
).split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An expression with first and last time after `BASE_MS`, and a step; 0 for an instant."""

    text: str
    start_ms: int
    end_ms: int
    step_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """Over the same samples: all of them alone, with rollups beside, and rollups alone."""

    raw: Engine
    both: Engine
    old: Engine


def questions(seed: int, count: int) -> Generator[Question]:
    """Half of them plain ones of whole minutes."""
    source, chance = RandomQueries(seed, (BASE_MS + 17 * MINUTE) // 1_000), random.Random(seed)
    for number in range(count):
        text = source.query()
        if number % 2:
            text = chance.choice(SELECTORS) + chance.choice(("", "", " offset 1m", " offset 7m", " offset -2m"))
            if chance.random() < 0.85:
                name, _, offset = text.partition(" offset")
                minutes = chance.choice((1, 2, 3, 5, 10, 17))
                text = f"{chance.choice(FUNCTIONS)}({name}[{minutes}m]{' offset' if offset else ''}{offset})"
            if chance.random() < 0.4:
                text = f"{chance.choice(('sum', 'min', 'max', 'count'))} by ({chance.choice(LABELS)}) ({text})"
        start, end, step = chance.choice(GRIDS)
        yield Question(text=text, start_ms=BASE_MS + start, end_ms=BASE_MS + end, step_ms=step)


class AllSamples:
    """A store that knows of no level but that of all samples."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store

    def select(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading) -> Selection:
        """See `Reader.select`."""
        return self._store.select(matchers, start_ms, end_ms, reading)


def fill(store: EmbeddedStore) -> None:
    """All series, in no order and in seven parts, some of them sealed before the next comes."""
    rows = [(labels, BASE_MS + time, value) for labels, samples in series() for time, value in samples]
    random.Random(1).shuffle(rows)
    for place in range(7):
        part = rows[place::7]
        values = np.array([np.nan if value == "stale" else float(value) for _, _, value in part])
        values.view(np.uint64)[[value == "stale" for _, _, value in part]] = STALE_NAN_BITS
        store.append(
            Batch(
                series=store.resolve([labels for labels, _, _ in part]),
                timestamps=np.array([time for _, time, _ in part], np.int64),
                values=values,
            )
        ).result(120)
        store.seal(BASE_MS + (place % 3) * HOUR_MS)


@contextmanager
def opened_engines(directory: Path) -> Generator[Engines]:
    """Engines over stores below a directory."""
    now = BASE_MS + 20 * DAY_MS
    limits = {"maintenance_ms": HOUR_MS, "seal_delay_ms": 60 * DAY_MS}
    first, second = directory / "all", directory / "old"

    def opened(data: Path, retention_ms: int) -> EmbeddedStore:
        return open_embedded(EmbeddedSettings(data_directory=data, retention_ms=retention_ms, **limits), lambda: now)

    store = opened(first, 60 * DAY_MS)
    fill(store)
    store.seal(now)
    store.close()
    shutil.copytree(first, second)
    old = opened(second, 15 * DAY_MS)
    old.keep_pinned(lambda: [])
    old.apply_retention()
    assert old.survey().sealed.samples == 0
    # Opened again, so that memory has none of them either.
    old.close()
    store, old = opened(first, 60 * DAY_MS), opened(second, 15 * DAY_MS)
    try:
        settings = EngineSettings(lookback_ms=LOOKBACK_MS)
        raw = Engine(cast("Reader", AllSamples(store)), settings)
        with mock.patch.object(levels, "WORTH_MS", 0):
            yield Engines(raw=raw, both=Engine(store, settings), old=Engine(old, settings))
    finally:
        store.close()
        old.close()


Answer = Scalar | StringValue | Matrix | RawMatrix | str


def ask(engine: Engine, question: Question) -> tuple[Answer, list[str]]:
    """The answer, or what is wrong with the question; and the infos that speak of rollups."""
    notes = Notes()
    try:
        if question.step_ms:
            value: Answer = engine.range(
                question.text, question.start_ms, question.end_ms, question.step_ms, notes=notes
            )
        else:
            value = engine.answer(question.text, question.start_ms, notes=notes).value
    except ProblemError as error:
        value = error.detail
    return value, [one for one in notes.infos if "rollups" in one]


def are_same(one: Answer, other: Answer) -> bool:
    """To a billionth of the greatest value of a series."""
    match one, other:
        case Matrix(), Matrix():
            return (
                list(one.labels) == list(other.labels)
                and np.array_equal(one.present, other.present)
                and all(
                    _close(values[there], others[there])
                    for values, others, there in zip(one.values, other.values, one.present, strict=True)
                )
            )
        case Scalar(), Scalar():
            return _close(one.values, other.values)
        case RawMatrix(), RawMatrix():
            return len(one.series) == len(other.series) and all(
                a.labels == b.labels
                and np.array_equal(a.timestamps, b.timestamps)
                and np.array_equal(a.values, b.values, equal_nan=True)
                for a, b in zip(one.series, other.series, strict=True)
            )
        case _:
            return one == other


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True))


def compare(engines: Engines, question: Question, counts: Counter[str]) -> list[str]:
    """What is wrong with the answers from rollups."""
    expected, _ = ask(engines.raw, question)
    found: list[str] = []
    for name, engine in (("both", engines.both), ("old", engines.old)):
        answer, infos = ask(engine, question)
        if infos:
            counts[f"{name}, bounded"] += 1
            if name == "both":
                found.append(f"{name}: {infos}")
        elif are_same(answer, expected):
            counts[f"{name}, exact"] += 1
        else:
            found.append(f"{name}: {answer!r:.500} instead of {expected!r:.500}")
    return found


def main(seed: int, count: int) -> int:
    """How many answers differ."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as directory, opened_engines(Path(directory)) as engines:
        for question in questions(seed, count):
            for wrong in compare(engines, question, counts):
                counts["wrong"] += 1
                sys.stdout.write(f"{question}\n  {wrong}\n")
    sys.stdout.write(f"seed {seed}, {count} questions: {dict(sorted(counts.items()))}\n")
    return counts["wrong"]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])) > 0)
