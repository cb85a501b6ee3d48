"""Makes backups, one at a time: tables first, then files of runs, then samples hour by hour.

So what the tables speak of is there: samples and files may be younger than the tables, never older. Nothing waits for
whoever receives it but the disk space of one hour of samples.
"""

import hashlib
import os
import shutil
import tarfile
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import structlog
from loadwatch_formats.backups import (
    FAILURE,
    MANIFEST,
    METADATA,
    PIECE_BYTES,
    RELATIONS,
    SERIES,
    WHOLE,
    BackupFile,
    Manifest,
    is_path,
    manifest_bytes,
)

from loadwatch_backend.backups.schemas import BackupIn
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.kit.errors import ProblemError, UnavailableError
from loadwatch_backend.kit.room import check_room
from loadwatch_backend.kit.version import VERSION
from loadwatch_backend.store.port import CopiedHour, HourCopier, SampleStore
from loadwatch_backend.store.relational import Relational
from loadwatch_backend.store.relational_copy import RelationalCopyError, copy_sqlite, sqlite_file

log = structlog.get_logger(__name__)

WORK = "backup"
"""Below the data directory: what is on its way; emptied at the start and after each backup."""
FOLDERS = ("runs", "evidence")
ARRIVING = "evidence/.incoming/"
FILES = ("loadwatch.yml",)
STALLED_SECONDS = 120.0
"""A backup whose receiver has taken nothing for so long gives way to the next one."""
GONE_SECONDS = 20.0
"""Within it a backup ends whose receiver has just gone away: it may be in the middle of an hour of samples."""
HOUR_ROOM_BYTES = 64 << 20


class BackupUnderWayError(UnavailableError):
    """Another backup is being made."""

    code = "backup-under-way"
    title = "A backup is under way"


class BackupFailedError(Exception):
    """There is no backup; the text says why."""


class Backups:
    """Safe to use from any thread."""

    def __init__(
        self, *, relational: Relational, store: SampleStore, data: Path, clock: Clock, monotonic: Callable[[], float]
    ) -> None:
        self._relational = relational
        self._store = store
        self._data = data
        self._clock = clock
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._current: _Backup | None = None
        self._work = data / WORK
        shutil.rmtree(self._work, ignore_errors=True)

    def begin(self, given: BackupIn) -> Iterator[bytes]:
        """The archive in pieces, made as they are taken.

        Raises:
            BackupUnderWayError: another one is being made, and goes on.
        """
        backup = _Backup(
            relational=self._relational,
            store=self._store,
            data=self._data,
            clock=self._clock,
            known={copy.path: copy.tag for copy in given.known},
        )
        with self._lock:
            current = self._current
        if current is not None:
            current.ended.wait(GONE_SECONDS)
        with self._lock:
            current = self._current
            if current is not None and self._monotonic() - current.moved < STALLED_SECONDS:
                raise BackupUnderWayError("Another backup is being made; ask again when it has come to its end.")
            if current is not None:
                current.given_up = True
            backup.moved = self._monotonic()
            self._current = backup
        return self._pieces(backup)

    def _pieces(self, backup: "_Backup") -> Iterator[bytes]:
        work = self._work / f"{id(backup):x}"
        try:
            work.mkdir(parents=True, mode=0o700)
            for piece in backup.pieces(work):
                backup.moved = self._monotonic()
                yield piece
                if backup.given_up:
                    return
        finally:
            shutil.rmtree(work, ignore_errors=True)
            with self._lock:
                if self._current is backup:
                    self._current = None
            backup.ended.set()


class _Backup:
    """One backup on its way."""

    def __init__(
        self, *, relational: Relational, store: SampleStore, data: Path, clock: Clock, known: Mapping[str, str]
    ) -> None:
        self._relational = relational
        self._store = store
        self._data = data
        self._clock = clock
        self._known = known
        self._files: list[BackupFile] = []
        self._rows = 0
        self.moved = 0.0
        self.given_up = False
        self.ended = threading.Event()

    def pieces(self, work: Path) -> Iterator[bytes]:
        """The archive. What goes wrong on the way is its last member."""
        begun_ms = self._clock()
        try:
            yield from self._content(work)
        except (ProblemError, BackupFailedError, RelationalCopyError, OSError) as error:
            text = error.detail if isinstance(error, ProblemError) else str(error)
            log.error("a backup failed", reason=text)
            yield from _member(FAILURE, text.encode())
        else:
            manifest = Manifest(
                loadwatch=VERSION,
                begun_ms=begun_ms,
                ended_ms=self._clock(),
                relational=self._relational.engine.dialect.name,
                rows=self._rows,
                files=self._files,
            )
            yield from _member(MANIFEST, manifest_bytes(manifest))
            log.info("a backup was made", files=len(self._files), samples=self._rows)
        yield bytes(2 * tarfile.BLOCKSIZE)

    def _content(self, work: Path) -> Iterator[bytes]:
        source = sqlite_file(self._relational.engine)
        if source is not None:
            copy = work / "relations"
            check_room(self._data, source.stat().st_size)
            copy_sqlite(source, copy)
            yield from self._send(RELATIONS, copy, "")
            copy.unlink()
        yield from self._kept_files()
        if isinstance(self._store, HourCopier):
            yield from self._samples(self._store, work)

    def _kept_files(self) -> Iterator[bytes]:
        for folder in FOLDERS:
            for path in sorted(_below(self._data / folder)):
                name = path.relative_to(self._data).as_posix()
                if name.startswith(ARRIVING):
                    continue
                if not is_path(name):
                    raise BackupFailedError(f"{path} is none of Loadwatch's files; put it elsewhere")
                yield from self._kept_file(name, path)
        for name in FILES:
            if (self._data / name).is_file():
                yield from self._kept_file(name, self._data / name)

    def _kept_file(self, name: str, path: Path) -> Iterator[bytes]:
        try:
            status = path.stat()
            tag = f"{status.st_size}-{status.st_mtime_ns:x}"
            if self._known.get(name) == tag:
                self._files.append(BackupFile(path=name, bytes=status.st_size, sha256="", tag=tag))
                return
            yield from self._send(name, path, tag)
        except FileNotFoundError:
            return  # Its run was deleted a moment ago.

    def _samples(self, store: HourCopier, work: Path) -> Iterator[bytes]:
        for start_ms in store.hours():
            name = f"samples/{datetime.fromtimestamp(start_ms / 1000, UTC):%Y%m%dT%H}Z.parquet"
            self._rows += yield from self._copied(name, start_ms, store.copy_hour, work / "hour")
        # Of days that have not all samples any more: of others, rollups are made again.
        for start_ms in store.rollup_days():
            name = f"samples/rollups-{datetime.fromtimestamp(start_ms / 1000, UTC):%Y%m%d}.parquet"
            yield from self._copied(name, start_ms, store.copy_rollups, work / "day")
        whole = work / "whole"
        store.copy_whole(whole)
        yield from self._send(WHOLE, whole, "")
        # After the samples: no series of theirs is missing.
        series, metadata = work / "series", work / "metadata"
        store.copy_names(series, metadata)
        yield from self._send(SERIES, series, "")
        yield from self._send(METADATA, metadata, "")

    def _copied(
        self, name: str, start_ms: int, copy: Callable[[int, Path, str], CopiedHour | None], target: Path
    ) -> Generator[bytes, None, int]:
        """A part of the store, unless the receiver has it as it is; returns its rows."""
        check_room(self._data, HOUR_ROOM_BYTES)
        copied = copy(start_ms, target, self._known.get(name, ""))
        if copied is None:
            return 0
        if copied.written:
            yield from self._send(name, target, copied.tag)
            target.unlink()
        else:
            self._files.append(BackupFile(path=name, bytes=0, sha256="", tag=copied.tag))
        return copied.rows

    def _send(self, name: str, path: Path, tag: str) -> Iterator[bytes]:
        with path.open("rb") as file:
            # A file that grows meanwhile is sent as long as it was.
            size = path.stat().st_size
            digest = hashlib.sha256()
            yield _head(name, size)
            left = size
            while left:
                piece = file.read(min(left, PIECE_BYTES))
                if not piece:
                    yield bytes(left + _padding(size))
                    raise BackupFailedError(f"{path} became shorter while it was read")
                left -= len(piece)
                digest.update(piece)
                yield piece
            yield bytes(_padding(size))
        self._files.append(BackupFile(path=name, bytes=size, sha256=digest.hexdigest(), tag=tag))


def _below(directory: Path) -> Iterator[Path]:
    for folder, _, files in os.walk(directory):
        yield from (Path(folder, file) for file in files)


def _member(name: str, content: bytes) -> Iterator[bytes]:
    yield _head(name, len(content)) + content + bytes(_padding(len(content)))


def _head(name: str, size: int) -> bytes:
    head = tarfile.TarInfo(name)
    head.size, head.mode = size, 0o600
    return head.tobuf(tarfile.PAX_FORMAT)


def _padding(size: int) -> int:
    return -size % tarfile.BLOCKSIZE
