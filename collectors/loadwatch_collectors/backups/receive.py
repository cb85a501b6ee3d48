"""Puts the backup that a server sends on the disk: whole, or not at all.

A backup is a directory named by its time. Until it is whole it ends in `.partial`; files that the backup before holds
and that have not changed are links to its own.
"""

import fcntl
import os
import shutil
import tarfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import IO

from loadwatch_formats.backups import (
    FAILURE,
    MANIFEST,
    MANIFEST_BYTES,
    PARTIAL,
    PIECE_BYTES,
    STAMP,
    BackupError,
    BackupFile,
    Manifest,
    damages,
    is_path,
    manifest_bytes,
    parse_manifest,
    read_manifest,
    whole_backups,
)

LOCK = ".loadwatch-backup.lock"
KNOWN_BYTES = 900_000
"""Of the list of what is there already: less than a server takes as a request."""

Ask = Callable[[Sequence[Mapping[str, str]]], IO[bytes]]
"""Asks for a backup, given (path, tag) of what is there; gives the open tar archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A backup that is whole."""

    directory: Path
    manifest: Manifest
    received_bytes: int
    damaged_before: Sequence[str]
    """Files of the backup before that were not as they had been written; they were received again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arrived:
    bytes: int
    sha256: str


def receive_backup(directory: Path, ask: Ask, now_ms: int) -> Received:
    """Make a new backup in a directory of backups.

    Raises:
        BackupError: the server could not make it, or what came is not whole; nothing of it is left.
        OSError: the disk; nothing of it is left.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(directory):
        _remove_partial(directory)
        if (directory / MANIFEST).exists():
            raise BackupError(f"{directory} is one backup; give the directory that it is in, or an empty one")
        before = _before(directory)
        name = datetime.fromtimestamp(now_ms / 1000, UTC).strftime(STAMP)
        target, work = directory / name, directory / f"{name}{PARTIAL}"
        if target.exists():
            raise BackupError(f"{target} exists already; wait a second and try again")
        work.mkdir(mode=0o700)
        try:
            manifest, received = _fill(work, before, ask)
            _write(work / MANIFEST, manifest_bytes(manifest))
            for folder in (path for path in work.rglob("*") if path.is_dir()):
                _sync(folder)
            _sync(work)
            work.rename(target)
            _sync(directory)
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise
    return Received(
        directory=target, manifest=manifest, received_bytes=received, damaged_before=before.damaged if before else ()
    )


def remove_older(directory: Path, keep: int) -> list[Path]:
    """Delete all but the newest backups; those that were deleted."""
    with _alone(directory):
        gone = whole_backups(directory)[:-keep]
        for path in gone:
            # From here on it is no backup, however far the deletion gets.
            work = path.with_name(f"{path.name}{PARTIAL}")
            path.rename(work)
            shutil.rmtree(work)
    return gone


# Of the backup before -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    directory: Path
    files: Mapping[str, BackupFile]
    damaged: Sequence[str]

    def known(self) -> list[dict[str, str]]:
        """What need not be sent, the largest first as far as a request has room for it."""
        room = KNOWN_BYTES
        found: list[dict[str, str]] = []
        for file in sorted(self.files.values(), key=lambda file: -file.bytes):
            room -= len(file.path) + len(file.tag) + 30
            if room < 0:
                break
            found.append({"path": file.path, "tag": file.tag})
        return found


def _before(directory: Path) -> _Before | None:
    """The newest backup, with those of its files that are still what they were and have a tag."""
    for backup in reversed(whole_backups(directory)):
        try:
            manifest = read_manifest(backup)
        except BackupError:
            continue
        tagged = {file.path: file for file in manifest.files if file.tag}
        damaged = [file.path for file, _ in damages(backup, list(tagged.values()))]
        return _Before(
            directory=backup,
            files={path: file for path, file in tagged.items() if path not in damaged},
            damaged=[str(backup / path) for path in damaged],
        )
    return None


# What arrives ---------------------------------------------------------------------------------------------------------


def _fill(work: Path, before: _Before | None, ask: Ask) -> tuple[Manifest, int]:
    arrived: dict[str, _Arrived] = {}
    manifest: Manifest | None = None
    stream = ask(before.known() if before else [])
    try:
        for name, content, size in _members(stream):
            if manifest is not None:
                raise BackupError("the server sent something after the end")
            if name == FAILURE:
                raise BackupError(content.read(10_000).decode(errors="replace"))
            if name == MANIFEST:
                if size > MANIFEST_BYTES:
                    raise BackupError(f"the manifest is larger than {MANIFEST_BYTES} bytes")
                manifest = parse_manifest(content.read())
            elif not is_path(name) or name in arrived:
                raise BackupError(f"the server sent {name[:200]!r}, which is no file of a backup")
            else:
                arrived[name] = _take(work / name, content, size)
    except tarfile.TarError as error:
        raise BackupError(f"the server broke off: {error}") from error
    finally:
        stream.close()
    if manifest is None:
        raise BackupError("the server broke off before the end")
    files = [_settled(work, file, arrived.pop(file.path, None), before) for file in manifest.files]
    if arrived:
        raise BackupError(f"the server sent {min(arrived)}, which its manifest does not name")
    return replace(manifest, files=files), sum(file.bytes for file in files if not _is_linked(file, before))


def _is_linked(file: BackupFile, before: _Before | None) -> bool:
    return before is not None and bool(file.tag) and before.files.get(file.path) == file


def _members(stream: IO[bytes]) -> Iterator[tuple[str, IO[bytes], int]]:
    with tarfile.open(fileobj=stream, mode="r|", bufsize=PIECE_BYTES) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is None:
                raise BackupError(f"the server sent {member.name[:200]!r}, which is no file")
            yield member.name, content, member.size


def _take(path: Path, content: IO[bytes], size: int) -> _Arrived:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest, left = sha256(), size
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        while piece := content.read(PIECE_BYTES):
            digest.update(piece)
            file.write(piece)
            left -= len(piece)
        if left:
            raise BackupError(f"the server broke off within {path.name}")
        file.flush()
        os.fsync(file.fileno())
    return _Arrived(bytes=size, sha256=digest.hexdigest())


def _settled(work: Path, file: BackupFile, arrived: _Arrived | None, before: _Before | None) -> BackupFile:
    """The file as it is on the disk, where it is as the server says."""
    if arrived is not None:
        if (file.bytes, file.sha256) != (arrived.bytes, arrived.sha256):
            raise BackupError(f"{file.path} did not arrive as the server sent it")
        return file
    known = before.files.get(file.path) if before else None
    if before is None or known is None or known.tag != file.tag:
        raise BackupError(f"the server did not send {file.path}")
    target = work / file.path
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        os.link(before.directory / file.path, target)
    except PermissionError:  # A file system without links.
        shutil.copyfile(before.directory / file.path, target)
        _sync(target)
    return known


# The disk -------------------------------------------------------------------------------------------------------------


@contextmanager
def _alone(directory: Path) -> Generator[None]:
    descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BackupError(f"another loadwatch backup writes into {directory}") from error
        yield
    finally:
        os.close(descriptor)


def _remove_partial(directory: Path) -> None:
    """What a backup left that was killed."""
    for path in directory.glob(f"*{PARTIAL}"):
        shutil.rmtree(path, ignore_errors=True)


def _write(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
