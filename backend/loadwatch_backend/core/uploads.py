"""A body of any size to disk, bounded by a limit and by what the disk has."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from loadwatch_backend.core.errors import BadRequestError, PayloadTooLargeError
from loadwatch_backend.core.room import CHECK_BYTES, DiskFullError, check_room

WRITE_BYTES = 4 << 20


class UploadTooLargeError(PayloadTooLargeError, code="upload-too-large"):
    """The file is larger than the limit."""


class UploadBrokenError(BadRequestError, code="upload-broken"):
    """The file is empty, or the connection broke before its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadLimit:
    """How large a file may be, and what to do where it is larger (a sentence)."""

    most_bytes: int
    advice: str

    def error(self) -> UploadTooLargeError:
        return UploadTooLargeError(f"The file is larger than {self.most_bytes} bytes; {self.advice}")


IMPORT_LIMIT = UploadLimit(most_bytes=64 << 30, advice="send it in parts, or packed with gzip or zstd.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    path: Path
    bytes: int
    sha256: str


class _Sink:
    """Writes in large pieces; used from one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._hash = hashlib.sha256()
        self._checked = -CHECK_BYTES
        self._file: IO[bytes] = path.open("wb")

    def write(self, piece: bytes) -> None:
        if self.size - self._checked >= CHECK_BYTES:
            check_room(self.path.parent, len(piece))
            self._checked = self.size
        self.size += len(piece)
        self._hash.update(piece)
        try:
            self._file.write(piece)
        except OSError as error:
            raise DiskFullError(f"The file could not be written: {error.strerror}.") from error

    def close(self) -> Upload:
        try:
            self._file.close()
        except OSError as error:
            raise DiskFullError(f"The file could not be written: {error.strerror}.") from error
        return Upload(path=self.path, bytes=self.size, sha256=self._hash.hexdigest())

    def abandon(self) -> None:
        try:
            self._file.close()
        except OSError:
            return


def check_size(announced: int | None, limit: UploadLimit, directory: Path) -> None:
    """Refuse what is announced as too large, before any of it is sent.

    Raises:
        UploadTooLargeError, DiskFullError.
    """
    if announced is not None:
        if announced > limit.most_bytes:
            raise limit.error()
        check_room(directory, announced)


async def receive(chunks: AsyncIterator[bytes], path: Path, limit: UploadLimit) -> Upload:
    """Write a body to `path`.

    Raises:
        UploadTooLargeError: it is larger than the limit.
        DiskFullError: the disk has no room.
        UploadBrokenError: it is empty.
    """
    sink = _Sink(path)
    waiting: list[bytes] = []
    size = pending = 0
    # The next piece is received while this one is hashed and written.
    writing: asyncio.Task[None] | None = None
    try:
        async for chunk in chunks:
            size += len(chunk)
            pending += len(chunk)
            if size > limit.most_bytes:
                raise limit.error()
            waiting.append(chunk)
            if pending >= WRITE_BYTES:
                if writing is not None:
                    await writing
                writing = asyncio.create_task(asyncio.to_thread(sink.write, b"".join(waiting)))
                waiting, pending = [], 0
        if writing is not None:
            await writing
        await asyncio.to_thread(sink.write, b"".join(waiting))
        if not size:
            raise UploadBrokenError("The body is empty; send the file as the body of the request.")
        return await asyncio.to_thread(sink.close)
    except BaseException:
        if writing is not None:
            # Its thread may be writing still: the file must not be closed under it.
            await asyncio.wait([writing])
        sink.abandon()
        raise


def save(source: IO[bytes], path: Path, limit: UploadLimit) -> Upload:
    sink = _Sink(path)
    try:
        while piece := source.read(min(WRITE_BYTES, limit.most_bytes - sink.size + 1)):
            if sink.size + len(piece) > limit.most_bytes:
                raise limit.error()
            sink.write(piece)
        if not sink.size:
            raise UploadBrokenError("The file is empty.")
        return sink.close()
    except BaseException:
        sink.abandon()
        raise
