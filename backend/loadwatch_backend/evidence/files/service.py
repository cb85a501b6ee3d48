"""Files of runs: on disk first, whole and durable, then in the table; a row never lacks its file."""

import asyncio
import os
import secrets
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson
import structlog

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.room import DiskFullError
from loadwatch_backend.core.uploads import Upload, UploadLimit, check_size, receive, save
from loadwatch_backend.evidence.files.media import HEAD_BYTES, clean_name, recognise
from loadwatch_backend.evidence.files.repository import (
    add_files,
    count_files,
    delete_file,
    find_file,
    find_files,
    find_keepers,
    find_places,
    find_same,
    find_taken,
)
from loadwatch_backend.evidence.files.schemas import (
    MOST_FILE_BYTES,
    MOST_FILES,
    MOST_RUN_BYTES,
    EvidenceFile,
    EvidenceIn,
    EvidenceKind,
    EvidenceLimitError,
    EvidenceList,
    EvidenceNotFoundError,
    EvidencePatch,
)
from loadwatch_backend.evidence.files.tables import EvidenceFileRow

logger = structlog.get_logger(__name__)

_INCOMING = ".incoming"
_SAME = ("media_type", "bytes", "sha256", "at_ms", "author", "note")
"""Fields that a row and its document have in common."""

RunCheck = Callable[[Session, str], object]
"""Raises where there is no such run; provided by the layer that owns runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvidence:
    """A file and where its content is; never write to it."""

    file: EvidenceFile
    path: Path


class EvidenceFiles:
    """Safe to use from any thread."""

    def __init__(self, relational: Relational, data: Path, check_run: RunCheck, clock: Clock) -> None:
        self._relational = relational
        self._root = data / "evidence"
        self._check_run = check_run
        self._clock = clock
        self._commit = threading.Lock()
        self._told: Callable[[EvidenceFile], None] = lambda _: None

    def tell(self, told: Callable[[EvidenceFile], None]) -> None:
        """Call this for each file that is kept from now on; it raises nothing."""
        self._told = told

    # Put --------------------------------------------------------------------------------------------------------------

    def put(
        self,
        run_id: str,
        kind: EvidenceKind,
        name: str,
        stream: IO[bytes],
        facts: Mapping[str, Any],
        *,
        at_ms: int | None = None,
    ) -> EvidenceFile:
        """Keep a file with a run; `at_ms` is when it was taken, now by default. The same again changes nothing.

        Raises:
            RunNotFoundError: there is no such run.
            EvidenceLimitError: the run has as many files, or bytes of them, as it may.
            UploadTooLargeError, UploadBrokenError, DiskFullError.
        """
        given = EvidenceIn(kind=kind, name=name, facts=dict(facts), at_ms=at_ms)
        limit = self._begin(run_id)
        work = self._incoming()
        try:
            return self._finish(run_id, given, save(stream, work, limit))
        finally:
            work.unlink(missing_ok=True)

    async def receive(
        self, run_id: str, given: EvidenceIn, chunks: AsyncIterator[bytes], announced: int | None
    ) -> EvidenceFile:
        """As `put`, from a request's body; `announced` is its size where the sender says so."""
        limit = await asyncio.to_thread(self._begin, run_id)
        work = await asyncio.to_thread(self._incoming)
        try:
            check_size(announced, limit, work.parent)
            upload = await receive(chunks, work, limit)
            return await asyncio.to_thread(self._finish, run_id, given, upload)
        finally:
            await asyncio.to_thread(work.unlink, missing_ok=True)

    def _begin(self, run_id: str) -> UploadLimit:
        with self._relational.transaction() as session:
            self._check_run(session, run_id)
            room = _room(session, run_id)
        if room >= MOST_FILE_BYTES:
            return UploadLimit(
                most_bytes=MOST_FILE_BYTES, advice="compress it, or cut out the part that the run is about."
            )
        return UploadLimit(
            most_bytes=room,
            advice=f"the files of a run may have {MOST_RUN_BYTES} bytes together. Delete one that is not needed.",
        )

    def _incoming(self) -> Path:
        directory = self._root / _INCOMING
        directory.mkdir(parents=True, exist_ok=True)
        return directory / secrets.token_hex(16)

    def _finish(self, run_id: str, given: EvidenceIn, upload: Upload) -> EvidenceFile:
        file = EvidenceFile(
            **given.model_dump(exclude={"at_ms", "name"}),
            id=secrets.token_hex(16),
            run=run_id,
            name=clean_name(given.name),
            at_ms=self._clock() if given.at_ms is None else given.at_ms,
            media_type=_recognise(upload.path),
            bytes=upload.bytes,
            sha256=upload.sha256,
        )
        row = _row(run_id, file.id, file)
        # One at a time: two that come together may not pass the bounds together.
        with self._commit:
            with self._relational.transaction() as session:
                same = find_same(session, row)
                if same is not None:
                    # Whoever got no answer sends it again.
                    return file_out(same)
            place = self._adopt(upload.path, run_id, row.id)
            try:
                with self._relational.transaction() as session:
                    self._check_run(session, run_id)
                    if _room(session, run_id) < upload.bytes:
                        raise _full()
                    add_files(session, [row])
            except BaseException:
                place.unlink(missing_ok=True)
                raise
        self._told(file)
        return file

    def _adopt(self, path: Path, run_id: str, file_id: str) -> Path:
        """Move a file that is whole to its place; both survive a loss of power."""
        place = self._place(run_id, file_id)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            _flush(path)
            path.rename(place)
            _flush(place.parent)
        except OSError as error:
            place.unlink(missing_ok=True)
            raise DiskFullError(f"The file could not be written: {error.strerror}.") from error
        return place

    # Read -------------------------------------------------------------------------------------------------------------

    def list(self, run_id: str, kind: EvidenceKind | None = None) -> "list[EvidenceFile]":
        """Files of a run, the oldest first; none of a run that is not there."""
        with self._relational.transaction() as session:
            return [file_out(row) for row in find_files(session, run_id, kind)]

    def listing(self, run_id: str, kind: EvidenceKind | None = None) -> EvidenceList:
        """Files of a run, and what there is room for.

        Raises:
            RunNotFoundError: there is no such run.
        """
        with self._relational.transaction() as session:
            self._check_run(session, run_id)
            files = [file_out(row) for row in find_files(session, run_id, kind)]
            _, size = count_files(session, run_id)
        return EvidenceList(
            files=files,
            bytes=size,
            most_file_bytes=MOST_FILE_BYTES,
            most_run_bytes=MOST_RUN_BYTES,
            most_files=MOST_FILES,
        )

    def open(self, file_id: str) -> StoredEvidence:
        """A file and where its content is.

        Raises:
            EvidenceNotFoundError: there is none, or its content is gone.
        """
        with self._relational.transaction() as session:
            file = file_out(_found(find_file(session, file_id), file_id))
        path = self._place(file.run, file.id)
        if not path.is_file():
            raise EvidenceNotFoundError(
                f"The content of {file.name!r} is not in this server's data directory: it was removed by hand, or lies"
                " with another server of this database."
            )
        return StoredEvidence(file=file, path=path)

    def keepers(self, run_ids: Sequence[str], kind: EvidenceKind) -> set[str]:
        with self._relational.transaction() as session:
            return find_keepers(session, run_ids, kind)

    def usage(self, session: Session, run_id: str) -> tuple[int, int]:
        """How many files a run has, and their bytes together."""
        return count_files(session, run_id)

    # Change -----------------------------------------------------------------------------------------------------------

    def update(self, file_id: str, patch: EvidencePatch) -> EvidenceFile:
        """Change what is said of a file.

        Raises:
            EvidenceNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            row = _found(find_file(session, file_id), file_id)
            if patch.note is not None:
                row.note = patch.note
            return file_out(row)

    def delete(self, file_id: str) -> None:
        """Delete a file for good.

        Raises:
            EvidenceNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            row = _found(find_file(session, file_id), file_id)
            place = self._place(row.run_id, row.id)
            delete_file(session, row)
        place.unlink(missing_ok=True)

    def forget_run(self, run_id: str) -> None:
        shutil.rmtree(self._root / run_id, ignore_errors=True)

    # Archives ---------------------------------------------------------------------------------------------------------

    def bring(self, run_id: str, files: Sequence[EvidenceFile], made: Path) -> "list[EvidenceFileRow]":
        """Move an archive's files from `made`, where each has its id for a name, to a run that is not there yet.

        Gives their rows, which the caller inserts together with the run's by `insert_files`, or gives to `take_back`.
        An id that is taken here becomes another.
        """
        with self._relational.transaction() as session:
            taken = find_taken(session, [file.id for file in files])
        rows: list[EvidenceFileRow] = []
        try:
            for file in files:
                row = _row(run_id, secrets.token_hex(16) if file.id in taken else file.id, file)
                place = self._adopt(made / file.id, run_id, row.id)
                rows.append(row)
                row.media_type = _recognise(place)
        except BaseException:
            self.take_back(rows)
            raise
        return rows

    def take_back(self, rows: "Sequence[EvidenceFileRow]") -> None:
        for row in rows:
            self._place(row.run_id, row.id).unlink(missing_ok=True)

    def mend(self) -> None:
        """Remove what a killed server left without a row; before anything else is done with files."""
        shutil.rmtree(self._root / _INCOMING, ignore_errors=True)
        if not self._root.exists():
            return
        with self._relational.transaction() as session:
            known = find_places(session)
        for directory in self._root.iterdir():
            removed = [path for path in _files(directory) if (directory.name, path.name) not in known]
            for path in removed:
                path.unlink(missing_ok=True)
            if removed:
                logger.warning("files of no run were removed", run=directory.name, files=len(removed))
            if directory.is_dir() and not any(directory.iterdir()):
                directory.rmdir()

    def _place(self, run_id: str, file_id: str) -> Path:
        return self._root / run_id / file_id


def insert_files(session: Session, rows: Sequence[EvidenceFileRow]) -> None:
    add_files(session, rows)


def file_out(row: EvidenceFileRow) -> EvidenceFile:
    own = {name: getattr(row, name) for name in ("id", "kind", "name", *_SAME)}
    return EvidenceFile(**own, run=row.run_id, facts=orjson.loads(row.facts))


def _row(run_id: str, file_id: str, file: EvidenceFile) -> EvidenceFileRow:
    return EvidenceFileRow(
        **file.model_dump(include=set(_SAME)),
        id=file_id,
        run_id=run_id,
        kind=file.kind.value,
        name=clean_name(file.name),
        facts=orjson.dumps(file.facts).decode(),
    )


def _recognise(path: Path) -> str:
    with path.open("rb") as content:
        return recognise(content.read(HEAD_BYTES))


def _room(session: Session, run_id: str) -> int:
    """Bytes that a run's files may still take."""
    number, size = count_files(session, run_id)
    if number >= MOST_FILES or size >= MOST_RUN_BYTES:
        raise _full()
    return MOST_RUN_BYTES - size


def _full() -> EvidenceLimitError:
    return EvidenceLimitError(
        f"A run keeps at most {MOST_FILES} files of {MOST_RUN_BYTES >> 20} MiB together. Delete one that is not needed."
    )


def _found(row: EvidenceFileRow | None, file_id: str) -> EvidenceFileRow:
    if row is None:
        raise EvidenceNotFoundError(f"There is no file {file_id[:64]!r}; it may have been deleted.")
    return row


def _files(directory: Path) -> Iterable[Path]:
    return [path for path in directory.iterdir() if path.is_file()] if directory.is_dir() else []


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
