"""Places where things move elsewhere: the tables to a new version, the samples to another engine."""

import os
import pickle
import resource
import sqlite3
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast
from unittest import mock

import numpy as np
from loadwatch_backend.core.database.migrate import revisions
from loadwatch_backend.core.database.relational import default_url, open_relational
from loadwatch_backend.series.store import transfer as module
from loadwatch_backend.series.store.embedded.settings import HOUR_MS
from loadwatch_backend.series.store.embedded.stored_hours import open_stored_hours
from loadwatch_backend.series.store.port import Selection
from loadwatch_backend.series.store.prometheus.wire import SeriesSamples
from loadwatch_backend.series.store.transfer import Job, Part, StateFile, parts_of, transfer

from backend.tests.store.faults.place import Acknowledge, Place, Step
from backend.tests.store.migration_kills import contents
from backend.tests.store.migration_kills import prepare as prepare_tables
from backend.tests.store.transfer.filling import fill

FIRST_MS = 1_750_000_000_000 // HOUR_MS * HOUR_MS

# Tables ---------------------------------------------------------------------------------------------------------------


def prepare_migration(directory: Path) -> None:
    """The first version's tables with rows, and beside them those of a database that was never disturbed."""
    (directory / "data").mkdir()
    for data in (directory / "data", directory):
        prepare_tables(default_url(data), revisions()[0])
    open_relational(default_url(directory)).close()


@contextmanager
def migrating(directory: Path, _first: int, _acknowledge: Acknowledge) -> Generator[Sequence[Step]]:
    """A start of the server brings the tables up to date."""
    yield [lambda: open_relational(default_url(directory / "data")).close()]


def check_migration(directory: Path, _acknowledged: Sequence[int]) -> None:
    """All tables and rows are those of the other one, and SQLite finds its file whole."""
    assert contents(default_url(directory / "data")) == contents(default_url(directory))
    with closing(sqlite3.connect(directory / "data" / "loadwatch.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


MIGRATION = Place(
    name="migration",
    within=(open_relational,),
    prepare=prepare_migration,
    opened=migrating,
    check=check_migration,
    rooms=(0, 8_000, 100_000),
)

# Samples --------------------------------------------------------------------------------------------------------------


class FileEngine:
    """Another engine as far as a transfer sees it; what it took outlives whoever sent it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def put(self, selection: Selection, *, skip_refused: bool) -> int:
        """A request for each series."""
        for labels, start, end in zip(
            selection.labels, selection.offsets[:-1].tolist(), selection.offsets[1:].tolist(), strict=True
        ):
            took = pickle.dumps((dict(labels), selection.timestamps[start:end], selection.values[start:end]))
            # The disk that is full is not the engine's.
            limit = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit[1], limit[1]))
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(descriptor, took)
            os.close(descriptor)
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        return 0

    def put_metadata(self, message: bytes) -> None:
        """It has no use for it."""

    def read(self, part: Part) -> list[SeriesSamples]:
        """All that it has of the part's time."""
        return [
            SeriesSamples(labels=labels, timestamps=times[inside], values=values[inside])
            for labels, times, values in self.everything()
            for inside in [(times >= part.start_ms) & (times <= part.end_ms)]
        ]

    def everything(self) -> Iterator[tuple[dict[str, str], Any, Any]]:
        """What it took, in order."""
        content = self._path.read_bytes() if self._path.exists() else b""
        stream = memoryview(content)
        while stream:
            took = pickle.loads(stream)
            yield took
            stream = stream[len(pickle.dumps(took)) :]


def nobody(hour_ms: int, done: int, total: int) -> None:
    """Watches."""


def prepare_transfer(directory: Path) -> None:
    """Hours of a stopped server."""
    fill(directory / "data", FIRST_MS, 4, hosts=3, samples=6)


@contextmanager
def transferring(directory: Path, _first: int, _acknowledge: Acknowledge) -> Generator[Sequence[Step]]:
    """As `loadwatch store migrate`, in parts of a few series."""
    engine = FileEngine(directory / "engine")

    def send() -> None:
        with open_stored_hours(directory / "data", 64 << 20, 1) as source:
            transfer(
                Job(
                    source=source,
                    target=cast("Any", engine),
                    file=StateFile(directory / "data"),
                    name="the engine",
                    skip_refused=False,
                    ask_all=False,
                    settle=lambda: None,
                    watch=nobody,
                    now_ms=FIRST_MS,
                )
            )

    with mock.patch.object(module, "parts_of", partial(parts_of, most=30)):
        yield [send]


def check_transfer(directory: Path, _acknowledged: Sequence[int]) -> None:
    """The engine has each sample of the store bit for bit, and has taken none twice."""
    taken: Counter[tuple[frozenset[tuple[str, str]], int, int]] = Counter()
    for labels, times, values in FileEngine(directory / "engine").everything():
        bits = np.asarray(values, np.float64).view(np.uint64)
        taken.update(
            (frozenset(labels.items()), time, bit) for time, bit in zip(times.tolist(), bits.tolist(), strict=True)
        )
    ours: Counter[tuple[frozenset[tuple[str, str]], int, int]] = Counter()
    with open_stored_hours(directory / "data", 64 << 20, 1) as source:
        for hour_ms in source.hours():
            ids, _ = source.counts(hour_ms)
            found = source.read(hour_ms, hour_ms + HOUR_MS - 1, ids)
            for place, labels in enumerate(found.labels):
                part = slice(int(found.offsets[place]), int(found.offsets[place + 1]))
                bits = found.values[part].view(np.uint64).tolist()
                names = frozenset(labels.items())
                ours.update((names, time, bit) for time, bit in zip(found.timestamps[part].tolist(), bits, strict=True))
    assert ours
    assert taken == ours, f"{(ours - taken).total()} are missing, {(taken - ours).total()} are there twice or changed"


TRANSFER = Place(
    name="transfer",
    within=(transfer, open_stored_hours),
    prepare=prepare_transfer,
    opened=transferring,
    check=check_transfer,
    rooms=(0, 50, 100),
    only_files=True,
)
