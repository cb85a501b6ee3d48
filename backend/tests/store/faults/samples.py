"""Places in the embedded store: writing, sealing, rolling up, retention; each with samples that come meanwhile."""

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from loadwatch_backend.series.store.embedded import opening, rollups, sealed
from loadwatch_backend.series.store.embedded.block import LATEST_MS
from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.errors import StoreBusyError, StoreClosedError, StoreWriteError
from loadwatch_backend.series.store.port import Batch, Labels, MetricMetadata

from backend.tests.store.faults.place import Acknowledge, Place, Step
from backend.tests.store.test_rollups import (
    assert_same,
    close,
    format_2,
    minutes_of,
    read_minutes,
    rollups_of,
)
from backend.tests.store.test_sealed import LATER_MS, METRIC, START_MS, Samples, everything, old_directory, plain, put

NEW_MS = START_MS + 90 * HOUR_MS
"""From here on are the samples that come meanwhile, told by their odd milliseconds."""
ODD_MS = 500
FIRST_NEW = 1_000
"""Of the series that are new then."""
NOW_MS = START_MS + 100 * HOUR_MS
PIN = (START_MS + 10 * HOUR_MS + 90_000, START_MS + 11 * HOUR_MS + 40_000)
RETENTION_MS, ROLLUP_RETENTION_MS = 36 * HOUR_MS, 60 * HOUR_MS
GONE = 7
"""Of the series that ended long ago."""


def samples_of(number: int) -> Samples:
    """Those that are acknowledged by a number: of a series that there was, and of some that are new."""
    time = NEW_MS + number * 1_000 + ODD_MS
    new = {(FIRST_NEW + number * 4 + place, time): number + place for place in range(4)}
    return {(number % 5, time): number, **new}


def send(store: EmbeddedStore, number: int) -> None:
    """Returns when they are on disk."""
    samples = samples_of(number)
    store.append(
        Batch(
            series=store.resolve([labels_of(series) for series, _ in samples]),
            timestamps=np.array([time for _, time in samples], np.int64),
            values=np.array(list(samples.values()), np.uint64).view(np.float64),
        )
    ).result(120)


def labels_of(series: int) -> Labels:
    """Those of new series are long, so that the log grows."""
    labels = {"__name__": "m", "i": str(series)}
    return labels | {"path": "/a/long/path" * 12} if series >= FIRST_NEW else labels


@contextmanager
def opened(data: Path, clock: Callable[[], int] = lambda: NOW_MS, **given: int) -> Generator[EmbeddedStore]:
    """Hardly any head, so that the disk answers; upkeep is what the steps do."""
    settings = {"maintenance_ms": HOUR_MS, "head_bytes": 1, "seal_delay_ms": 60 * DAY_MS, **given}
    store = open_embedded(EmbeddedSettings(data_directory=data, **settings), clock)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def beside(store: EmbeddedStore, first: int, acknowledge: Acknowledge) -> Generator[None]:
    """A sender that goes on meanwhile; what is refused, it does not send again."""
    stop = threading.Event()

    def run() -> None:
        for number in range(first, first + 40):
            if stop.wait(0.004):
                return
            try:
                send(store, number)
            except (StoreWriteError, StoreBusyError, StoreClosedError):
                continue
            acknowledge(number)

    sender = threading.Thread(target=run)
    sender.start()
    try:
        yield
    finally:
        stop.set()
        sender.join()


def check_samples(data: Path, expected: Samples, acknowledged: Sequence[int]) -> None:
    """All of them are there bit for bit, nothing else but what was not acknowledged, and both levels are the same."""
    with opened(data) as store:
        found = everything(store)
        assert_same(*rollups_of(store))
        check_series(store)
    compare(found, expected, acknowledged)


def check_series(store: EmbeddedStore) -> None:
    """Each is in the table once."""
    with store.database.reading() as cursor:
        rows, ids, names = cursor.execute(
            "SELECT count(*), count(DISTINCT id), count(DISTINCT labels) FROM series"
        ).fetchone() or (0, 0, 0)
    assert rows == ids == names, f"{rows} rows of {ids} series with {names} names"


def compare(found: Samples, expected: Samples, acknowledged: Sequence[int]) -> None:
    """Raises where an acknowledged sample is lost or changed, or one is there that nobody sent."""
    wanted = expected | {key: bits for number in acknowledged for key, bits in samples_of(number).items()}
    lost = [key for key, bits in wanted.items() if found.get(key) != bits]
    more = [key for key in found if key not in wanted and key[1] % 1_000 != ODD_MS]
    assert not lost, f"{len(lost)} of {len(wanted)} samples are lost or changed, the first {lost[0]}"
    assert not more, f"{len(more)} samples are there that nobody sent, the first {more[0]}"


# Writing --------------------------------------------------------------------------------------------------------------


def nothing(_directory: Path) -> None:
    """The first start makes all there is."""


@contextmanager
def writing(directory: Path, first: int, acknowledge: Acknowledge) -> Generator[Sequence[Step]]:
    """New series, metadata, samples, and the log folded in."""
    with opened(directory / "data") as store:

        def step(number: int) -> None:
            if number % 5 == 0:
                store.put_metadata({f"m{number}": MetricMetadata(type="gauge", help=f"the {number}th", unit="")})
            send(store, number)
            acknowledge(number)
            if number % 6 == 5:
                store.writer.queue.run(store.database.checkpoint).result(60)

        yield [lambda number=number: step(number) for number in range(first, first + 24)]


def check_writing(directory: Path, acknowledged: Sequence[int]) -> None:
    """Nothing else was there."""
    check_samples(directory / "data", {}, acknowledged)


WRITE = Place(
    name="write",
    within=(Database.commit, Database.checkpoint, Database.close, opening.create, opening.keep_log, opening.connect),
    prepare=nothing,
    opened=writing,
    check=check_writing,
    rooms=(0, 3_000, 9_000, 40_000),
)

# Sealing --------------------------------------------------------------------------------------------------------------


def old_samples() -> tuple[Samples, Samples]:
    """Sealed ones of the first format, and some in order of arrival."""
    chance = np.random.default_rng(11)
    return plain(chance, 500, 4), plain(chance, 150, 4)


def prepare_sealing(directory: Path) -> None:
    """A directory of format 1."""
    old_directory(directory / "data", *old_samples())


@contextmanager
def sealing(directory: Path, first: int, acknowledge: Acknowledge) -> Generator[Sequence[Step]]:
    """Seal, convert, join days and move all, in small pieces."""
    sealed.PIECE_ROWS = 150
    rollups.PIECE_MINUTES = 100
    sealed.MOVED_BYTES = 4_000
    # What a server does by itself goes on beside the steps.
    with opened(directory / "data", maintenance_ms=5, seal_delay_ms=0) as store, beside(store, first, acknowledge):
        yield [lambda: seal(store), lambda: move(store), lambda: compact(store)]


def seal(store: EmbeddedStore) -> None:
    """A part, then all."""
    store.seal(START_MS + 2 * HOUR_MS)
    store.seal(LATER_MS)


def move(store: EmbeddedStore) -> None:
    """Write everything again, though little is to be gained."""
    with store.keeping_order():
        for one in store.database.run(sealed.moves):
            store.database.run(sealed.move, one)


def compact(store: EmbeddedStore) -> None:
    """What is left to convert or to roll up, and days that are over."""
    store.upkeep.joined_day = None
    store.compact()


def check_sealing(directory: Path, acknowledged: Sequence[int]) -> None:
    """All of it is sealed but what came at the end."""
    sealed_samples, hot = old_samples()
    check_samples(directory / "data", sealed_samples | hot, acknowledged)
    with opened(directory / "data") as store:
        # The table of the first format is gone at the start after its last row went.
        assert store.database.tables() == ("hot", "segments")


SEAL = Place(
    name="seal",
    within=(Database.run, Database.checkpoint, opening.connect),
    prepare=prepare_sealing,
    opened=sealing,
    check=check_sealing,
    rooms=(0, 20_000, 300_000),
)

# Rolling up -----------------------------------------------------------------------------------------------------------


def rolled_samples() -> Samples:
    """Of two days."""
    return plain(np.random.default_rng(12), 700, 40)


def prepare_rolling(directory: Path) -> None:
    """A directory of format 2, whose hours have no rollups."""
    with opened(directory / "data") as store:
        put(store, rolled_samples())
        store.seal(LATER_MS)
    format_2(directory / "data")


@contextmanager
def rolling(directory: Path, first: int, acknowledge: Acknowledge) -> Generator[Sequence[Step]]:
    """Roll up hour by hour, seal what is new with its rollups, join days that are over."""
    sealed.PIECE_ROWS = 150
    rollups.PIECE_MINUTES = 100
    with opened(directory / "data") as store, beside(store, first, acknowledge):
        yield [lambda: store.seal(LATER_MS), lambda: compact(store), lambda: store.seal(LATER_MS)]


def check_rolling(directory: Path, acknowledged: Sequence[int]) -> None:
    """And no hour is left without."""
    check_samples(directory / "data", rolled_samples(), acknowledged)
    with opened(directory / "data") as store:
        assert store.database.run(rollups.unrolled_hours) == []


ROLLUP = Place(
    name="rollup",
    within=(rollups.put, rollups.join, Database.run),
    prepare=prepare_rolling,
    opened=rolling,
    check=check_rolling,
    rooms=(0, 20_000, 300_000),
)

# Retention ------------------------------------------------------------------------------------------------------------


def aged_samples() -> tuple[Samples, Samples]:
    """Sealed ones of four days and of a series that ended at once, and some that came late and are not sealed."""
    chance = np.random.default_rng(13)
    ended = {(GONE, START_MS + second * 1_000): second for second in range(0, 900, 7)}
    return plain(chance, 900, 88) | ended, plain(chance, 150, 80)


def prepare_retention(directory: Path) -> None:
    """Nothing is too old yet."""
    model, late = aged_samples()
    with opened(directory / "data", lambda: START_MS) as store:
        for hour in range(88):
            part = {key: bits for key, bits in model.items() if (key[1] - START_MS) // HOUR_MS == hour}
            if part:
                put(store, part, numbers=8)
        store.seal(LATER_MS)
        put(store, late)


@contextmanager
def retaining(directory: Path, first: int, acknowledge: Acknowledge) -> Generator[Sequence[Step]]:
    """Time goes on: more and more is too old."""
    now = [START_MS + 40 * HOUR_MS]

    def retain(store: EmbeddedStore, now_ms: int) -> None:
        now[0] = now_ms
        store.apply_retention()

    limits = {"retention_ms": RETENTION_MS, "rollup_retention_ms": ROLLUP_RETENTION_MS}
    with opened(directory / "data", lambda: now[0], **limits) as store:
        store.keep_pinned(lambda: [PIN])
        with beside(store, first, acknowledge):
            yield [
                *(lambda hours=hours: retain(store, START_MS + hours * HOUR_MS) for hours in (55, 75, 96)),
                lambda: store.seal(NEW_MS - 1),
                lambda: retain(store, NOW_MS),
            ]


def check_retention(directory: Path, acknowledged: Sequence[int]) -> None:
    """What is too old is gone on both levels, the pinned window is whole, and nothing younger is lost."""
    model, late = aged_samples()
    model |= late
    cutoff = NOW_MS - RETENTION_MS
    with opened(directory / "data") as store:
        found = everything(store)
        spans = store.whole_spans()
        minutes = read_minutes(store)
        has, should = rollups_of(store)
        names = store.series([[METRIC]], 0, LATER_MS)
        check_series(store)
    must = {key: bits for key, bits in model.items() if key[1] >= cutoff or PIN[0] <= key[1] <= PIN[1]}
    compare({key: bits for key, bits in found.items() if key in must or key not in model}, must, acknowledged)
    changed = [key for key, bits in found.items() if model.get(key, bits) != bits]
    assert not changed, f"{len(changed)} samples have another value"
    old = [time for _, time in found if time < cutoff // HOUR_MS * HOUR_MS and not PIN[0] <= time <= PIN[1]]
    assert not old, f"{len(old)} samples are older than the retention, the first {min(old)}"
    assert spans == [PIN, (cutoff, LATEST_MS)]
    after = cutoff + HOUR_MS
    assert_same(*(one.keep(one.last.timestamps > after) for one in (has, should)))
    # Rows of a whole day go at once.
    first = NOW_MS - ROLLUP_RETENTION_MS
    assert min(end for _, end in minutes) > first - DAY_MS
    wanted = {key: one for key, one in minutes_of(model).items() if first + DAY_MS < key[1] < cutoff}
    kept = {key: one for key, one in minutes.items() if first + DAY_MS < key[1] < cutoff}
    assert close(kept, wanted)
    assert str(GONE) not in {labels["i"] for labels in names}


RETENTION = Place(
    name="retention",
    within=(Database.delete_before, Database.forget_series, Database.checkpoint),
    prepare=prepare_retention,
    opened=retaining,
    check=check_retention,
    rooms=(0, 5_000, 60_000),
)
