"""Makes backups: tables first, then files of runs, then samples hour by hour.

So what the tables speak of is there: samples and files may be younger than the tables, never older. Nothing waits for
whoever receives it but the disk space of one hour of samples.
"""

import hashlib
import io
import os
import shutil
import sqlite3
import tarfile
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

import structlog
from loadwatch_formats import backups

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.room import check_room
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.series.store.port import SampleCopier, SampleStore

log = structlog.get_logger(__name__)

WORK = "backup"
"""Below the data directory: backups in progress; emptied at the start and after each backup."""
FOLDERS = ("runs", "evidence")
ARRIVING = "evidence/.incoming/"
SETTINGS = "loadwatch.yml"
HOUR_ROOM_BYTES = 64 << 20


class Backups:
    """Safe to use from any thread; each backup has a directory of its own for what is on its way."""

    def __init__(self, *, relational: Relational, store: SampleStore, data: Path, clock: Clock) -> None:
        self._relational = relational
        self._store = store
        self._data = data
        self._clock = clock
        shutil.rmtree(data / WORK, ignore_errors=True)

    def make(self) -> Iterator[bytes]:
        """A tar archive in pieces, made as they are taken. What goes wrong on the way is its last member."""
        begun_ms, rows, files = self._clock(), 0, list[backups.BackupFile]()
        (self._data / WORK).mkdir(exist_ok=True, mode=0o700)
        folder = mkdtemp(dir=self._data / WORK)
        try:
            try:
                for name, path, samples in self._content(Path(folder)):
                    try:
                        content = path.open("rb")
                    except FileNotFoundError:
                        continue  # Its run was deleted a moment ago.
                    with content:
                        # A file that grows meanwhile is sent as long as it was.
                        size = os.fstat(content.fileno()).st_size
                        files.append(backups.BackupFile(name, size, (yield from _member(name, content, size))))
                    rows += samples
                    if path.is_relative_to(folder):
                        path.unlink()
            except (ProblemError, backups.BackupError, OSError) as error:
                name, text = backups.FAILURE, (error.detail if isinstance(error, ProblemError) else str(error)).encode()
                log.error("a backup failed", reason=text.decode())
            else:
                kind = self._relational.engine.dialect.name
                manifest = backups.Manifest(VERSION, begun_ms, self._clock(), kind, rows, files)
                name, text = backups.MANIFEST, backups.manifest_bytes(manifest)
                log.info("a backup was made", files=len(files), samples=rows)
            yield from _member(name, io.BytesIO(text), len(text))
            yield bytes(2 * tarfile.BLOCKSIZE)
        finally:
            # Also of a client that went away, whenever its generator is collected.
            shutil.rmtree(folder, ignore_errors=True)

    def _content(self, work: Path) -> Iterator[tuple[str, Path, int]]:
        """What each file is called in the backup, where it is now, and its samples."""
        engine = self._relational.engine
        if engine.dialect.name == backups.SQLITE:
            check_room(self._data, Path(str(engine.url.database)).stat().st_size)
            try:
                with closing(sqlite3.connect(str(engine.url.database), timeout=30)) as reader:
                    # One moment's state, without the room of deleted rows.
                    reader.execute("VACUUM INTO ?", [str(work / backups.RELATIONS)])
            except sqlite3.Error as error:
                raise backups.BackupError(f"{backups.RELATIONS} cannot be copied: {error}") from error
            yield backups.RELATIONS, work / backups.RELATIONS, 0
        for folder in FOLDERS:
            for parent, _, names in os.walk(self._data / folder):
                for path in sorted(Path(parent, name) for name in names):
                    name = path.relative_to(self._data).as_posix()
                    if not name.startswith(ARRIVING):
                        yield name, path, 0
        yield SETTINGS, self._data / SETTINGS, 0
        if isinstance(self._store, SampleCopier):
            check_room(self._data, HOUR_ROOM_BYTES)
            for name, rows in self._store.copy_samples(work):
                yield name, work / name, rows
                check_room(self._data, HOUR_ROOM_BYTES)


def _member(name: str, content: IO[bytes], size: int) -> Generator[bytes, None, str]:
    """A file of the archive; returns its SHA-256."""
    head = tarfile.TarInfo(name)
    head.size, head.mode = size, 0o600
    yield head.tobuf(tarfile.PAX_FORMAT)
    digest, left = hashlib.sha256(), size
    while left:
        piece = content.read(min(left, backups.PIECE_BYTES))
        if not piece:
            yield bytes(left + -size % tarfile.BLOCKSIZE)
            raise backups.BackupError(f"{name} became shorter while it was read")
        left -= len(piece)
        digest.update(piece)
        yield piece
    yield bytes(-size % tarfile.BLOCKSIZE)
    return digest.hexdigest()
