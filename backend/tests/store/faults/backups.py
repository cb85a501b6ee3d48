"""The place where a backup is made: the server that sends it and the command that receives it die together.

Either one alone: tests/test_backup.py, with real processes.
"""

import io
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from unittest import mock

import numpy as np
from loadwatch_backend.app.commands.restore import find_backup, restore_backup
from loadwatch_backend.core.database.relational import default_url, open_relational
from loadwatch_backend.series.backups import service as service_module
from loadwatch_backend.series.backups.service import WORK, Backups
from loadwatch_collectors.commands.backup import receive_backup
from loadwatch_formats.backups import PARTIAL, damages, read_manifest, whole_backups

from backend.tests.store.faults.place import Acknowledge, Place, Step
from backend.tests.store.faults.samples import NOW_MS, check_samples, opened, send
from backend.tests.store.test_sealed import LATER_MS, Samples, plain, put

FILE = Path("runs/1/seconds.parquet")
CONTENT = b"what a run left behind\n" * 3_000


class Stream(io.RawIOBase):
    """The pieces of an answer as they are read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        while not self._left and (piece := next(self._pieces, None)) is not None:
            self._left = piece
        part, self._left = self._left[: len(view)], self._left[len(view) :]
        view[: len(part)] = part
        return len(part)

    def close(self) -> None:
        cast("Generator[bytes]", self._pieces).close()
        super().close()


def stored() -> Samples:
    """Of some hours."""
    return plain(np.random.default_rng(14), 400, 6)


def prepare(directory: Path) -> None:
    """Hours that are sealed, a run's file, tables, and a backup of them."""
    data = directory / "data"
    (data / FILE).parent.mkdir(parents=True)
    (data / FILE).write_bytes(CONTENT)
    with backing_up(directory, 0, lambda _number: None) as steps:
        steps[1]()


@contextmanager
def backing_up(directory: Path, first: int, acknowledge: Acknowledge) -> Generator[Sequence[Step]]:
    """A backup, more samples, another backup; a backup's time tells which numbers were sent before it."""
    data, target = directory / "data", directory / "backups"
    sent, tries = [first], [0]
    relational = open_relational(default_url(data))
    with opened(data) as store:
        if not whole_backups(target):
            put(store, stored())
            store.seal(LATER_MS)
        service = Backups(relational=relational, store=store, data=data, clock=lambda: NOW_MS + sent[0] * 1_000)

        def more() -> None:
            for _ in range(3):
                send(store, sent[0])
                acknowledge(sent[0])
                sent[0] += 1

        def back_up() -> None:
            tries[0] += 1
            target.mkdir(exist_ok=True)
            now = datetime.fromtimestamp(NOW_MS / 1_000 + first + tries[0], UTC)
            receive_backup(target, lambda: cast("Any", Stream(service.make())), now)

        # The guard that keeps the disk from becoming full by a backup is another's matter.
        with mock.patch.object(service_module, "check_room"):
            yield [more, back_up, more, lambda: store.seal(LATER_MS), back_up]
    relational.close()


def check(directory: Path, acknowledged: Sequence[int]) -> None:
    """The store has all; each backup is whole; the newest restores to what was acknowledged before it began."""
    data, target = directory / "data", directory / "backups"
    check_samples(data, stored(), acknowledged)
    assert not (data / WORK).exists() or not list((data / WORK).iterdir()), "a backup left something behind"
    assert not list(target.glob(f"*{PARTIAL}")), "a backup that was killed is still there"
    backups = whole_backups(target)
    assert len(backups) >= 3
    for backup in backups:
        assert not list(damages(backup, read_manifest(backup))), f"{backup} is damaged"
    backup, manifest, _ = find_backup(target, skip_damaged=False)
    new = directory / "restored"
    new.mkdir()
    restore_backup(backup, manifest, (), new)
    before = [number for number in acknowledged if NOW_MS + number * 1_000 < manifest.begun_ms]
    assert before
    check_samples(new, stored(), before)
    assert (new / FILE).read_bytes() == CONTENT
    open_relational(default_url(new)).close()


BACKUP = Place(
    name="backup",
    within=(receive_backup, Backups.make, Stream.readinto),
    prepare=prepare,
    opened=backing_up,
    check=check,
    rooms=(0, 1_000, 20_000),
    only_files=True,
)
