"""A whole run as one file, out of one server and into another."""

import asyncio
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import orjson
from pydantic import ValidationError

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.errors import ForbiddenError, InvalidError, ProblemError
from loadwatch_backend.core.room import check_room
from loadwatch_backend.core.uploads import IMPORT_LIMIT, check_size, receive
from loadwatch_backend.core.version import VERSION as MADE_BY
from loadwatch_backend.evidence.files.schemas import EvidenceFile, EvidenceNotFoundError
from loadwatch_backend.evidence.files.service import EvidenceFiles, StoredEvidence, insert_files
from loadwatch_backend.runs.analyses import Analyses, store_analysis
from loadwatch_backend.runs.analysis.schemas import Analysis
from loadwatch_backend.runs.annotations.schemas import AnnotationIn
from loadwatch_backend.runs.annotations.service import AnnotationService, check_span
from loadwatch_backend.runs.archive.format import (
    ANALYSIS,
    ANNOTATIONS,
    EVIDENCE,
    EVIDENCE_FOLDER,
    FORMAT,
    MANIFEST,
    RESULT_FILES,
    REVIEWS,
    RUN,
    SAMPLES,
    SCORES,
    SNAPSHOTS,
    STORED,
    VERSION,
    ArchivedNote,
    ArchivedRun,
    Manifest,
    dump_list,
    evidence_member,
    has_samples,
    read_document,
    read_samples,
    write_samples,
)
from loadwatch_backend.runs.errors import ArchiveError, RunExistsError, RunRuleError
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.configuration import read_snapshots, snapshot_row
from loadwatch_backend.runs.registry.documents import RunDetails, read_details, read_window, write_details
from loadwatch_backend.runs.registry.places import Places
from loadwatch_backend.runs.registry.registry import PinnedWindows, Registry
from loadwatch_backend.runs.registry.repository import add_run, find_run, has_run, keep
from loadwatch_backend.runs.registry.rows import new_run_id
from loadwatch_backend.runs.registry.tables import COLUMNS, FACT_COLUMNS, RunRow
from loadwatch_backend.runs.registry.windows import window_of
from loadwatch_backend.runs.reviews.repository import keep_actions, keep_score, read_archived_scores
from loadwatch_backend.runs.reviews.reviews import read_versions, review_row
from loadwatch_backend.runs.reviews.schemas import ArchivedScore, ReviewVersion
from loadwatch_backend.runs.schemas import RunOut, RunProgress, SnapshotOut
from loadwatch_backend.series.store.errors import StoreBusyError
from loadwatch_backend.series.store.port import Batch, Labels, SampleStore

PIECE_BYTES = 1 << 20
CHECK_SECONDS = 1_200
APPEND_SECONDS = 60.0
BUSY_PAUSE_SECONDS = 0.2
AHEAD_MS = 10 * 60_000
_COPIED = (ArchivedRun.model_fields.keys() & COLUMNS) - FACT_COLUMNS - {"progress"}
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of all members: two archives of one run are the same bytes."""


class Chosen(NamedTuple):
    files: Collection[str] | None = None
    """Ids of the run's files; None: all of them."""
    annotations: bool = True


EVERYTHING = Chosen()


class _Pipe:
    """What zipfile writes to; the pieces are taken out again as they come."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """There is nothing to flush."""

    def take(self) -> bytes:
        pieces, self._pieces = b"".join(self._pieces), []
        return pieces


@dataclass(slots=True)
class _Export:
    """All that an archive is made of, read before its first byte is sent."""

    documents: dict[str, bytes]
    files: dict[str, IO[bytes]]
    kept: dict[str, Path]
    """Opened one at a time: there may be hundreds. One that is deleted meanwhile breaks the answer off."""

    def chunks(self) -> Iterator[bytes]:
        pipe = _Pipe()
        with zipfile.ZipFile(cast(Any, pipe), "w") as archive:
            for name, text in self.documents.items():
                archive.writestr(_member(name), text)
                yield pipe.take()
            for name, source in self._opened():
                with source, archive.open(_member(name), "w", force_zip64=True) as target:
                    while piece := source.read(PIECE_BYTES):
                        target.write(piece)
                        yield pipe.take()
        yield pipe.take()

    def _opened(self) -> Iterator[tuple[str, IO[bytes]]]:
        yield from self.files.items()
        for name, path in self.kept.items():
            yield name, path.open("rb")


@dataclass(eq=False)
class Archives:
    """Safe to use from any thread."""

    _relational: Relational
    _places: Places
    _store: SampleStore
    _registry: Registry
    _analyses: Analyses
    _pins: PinnedWindows
    _evidence_files: EvidenceFiles
    _annotations: AnnotationService
    _admit: Callable[[Sequence[Labels], str], None]
    """Makes series known for a sender, or raises LimitError."""
    _clock: Clock
    failed: Counter[str] = field(default_factory=Counter[str])

    # Out --------------------------------------------------------------------------------------------------------------

    def write(self, run_id: str, chosen: Chosen = EVERYTHING) -> tuple[str, Iterator[bytes]]:
        """Name and bytes of a run's archive, with those of the run's files and annotations that were chosen.

        Raises:
            RunNotFoundError: there is no such run.
            RunRuleError: it is still running.
        """
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            if row.state == RunState.RUNNING or row.ended_ms is None:
                raise RunRuleError(f"Run {run_id} is still running; export it after its end.")
            documents = self._documents(session, row)
            window = window_of(row.started_ms, row.ended_ms)
            notes = archived_notes(self._annotations, session, *window) if chosen.annotations else []
            if notes:
                documents[ANNOTATIONS] = dump_list(notes)
        files = {name: path.open("rb") for name in RESULT_FILES if (path := self._file(run_id, name)).exists()}
        kept = self._kept_files(run_id, chosen.files)
        if kept:
            documents[EVIDENCE] = dump_list([one.file for one in kept])
        self._places.imports.mkdir(parents=True, exist_ok=True)
        samples = cast(IO[bytes], tempfile.TemporaryFile(dir=self._places.imports))
        write_samples(self._store, window, samples)
        samples.seek(0)
        export = _Export(
            documents=documents,
            files={**files, SAMPLES: samples},
            kept={evidence_member(one.file.id): one.path for one in kept},
        )
        return f"{run_id}.loadwatch.zip", export.chunks()

    def _kept_files(self, run_id: str, chosen: Collection[str] | None) -> list[StoredEvidence]:
        """What is there of the chosen files of a run; one whose content is gone is no part of an archive."""
        kept: list[StoredEvidence] = []
        for file in self._evidence_files.list(run_id):
            if chosen is not None and file.id not in chosen:
                continue
            with suppress(EvidenceNotFoundError):
                kept.append(self._evidence_files.open(file.id))
        return kept

    def _file(self, run_id: str, name: str) -> Path:
        return self._places.files(run_id).directory / name

    def _documents(self, session: Session, row: RunRow) -> dict[str, bytes]:
        manifest = Manifest(format=FORMAT, version=VERSION, made_by=f"loadwatch {MADE_BY}", run=row.id)
        documents = {
            MANIFEST: manifest.model_dump_json().encode(),
            RUN: _archived(row).model_dump_json().encode(),
            SNAPSHOTS: dump_list(read_snapshots(session, row.id)),
            REVIEWS: dump_list(read_versions(session, row.id)),
        }
        analysis = self._analyses.read(session, row)
        if analysis is not None:
            documents[ANALYSIS] = analysis.model_dump_json().encode()
        scores = read_archived_scores(session, row.id)
        if scores:
            documents[SCORES] = dump_list(scores)
        return documents

    # In ---------------------------------------------------------------------------------------------------------------

    async def receive(
        self, chunks: AsyncIterator[bytes], announced: int | None, *, as_new: bool, sender: str | None
    ) -> RunOut:
        """Take in an archive: all of it or nothing. `sender` sends its samples; None may send none.

        Raises:
            ArchiveError: it is not one, is damaged, or claims more than it may.
            ForbiddenError, LimitError: it has samples that the sender may not send.
            RunExistsError: a run of its id is here.
            UploadTooLargeError, UploadBrokenError, DiskFullError.
        """
        job = secrets.token_hex(8)
        work = self._places.work(job)
        try:
            check_size(announced, IMPORT_LIMIT, work)
            upload = await receive(chunks, work / "upload", IMPORT_LIMIT)
            run_id = await asyncio.to_thread(self._take, work, upload.path, as_new=as_new, sender=sender)
        except ProblemError as error:
            self.failed[error.code] += 1
            raise
        finally:
            await asyncio.to_thread(self._places.drop, job)
        return await asyncio.to_thread(self._registry.read, run_id)

    def _take(self, work: Path, archive: Path, *, as_new: bool, sender: str | None) -> str:
        made = work / "files"
        made.mkdir()
        check_room(work, 2 * archive.stat().st_size)
        run_checks(archive, made)
        archive.unlink()
        run = read_document(made, RUN, ArchivedRun)
        if run.ended_ms > self._clock() + AHEAD_MS:
            raise ArchiveError(
                "The run ends in the future by this server's clock. Are the clocks of both servers right?"
            )
        if sender is None and has_samples(made / SAMPLES):
            raise ForbiddenError(
                "The archive holds samples, and taking in samples needs the scope 'samples:write' beside 'runs:write'."
                " Ask an administrator, or use a token with both."
            )
        check_notes(read_document(made, ANNOTATIONS, list[ArchivedNote]))
        run_id = self._free_id(run, as_new=as_new)
        token = secrets.token_hex(8)
        kept = work / "kept"
        kept.mkdir()
        for name in RESULT_FILES:
            if (made / name).exists():
                (made / name).rename(kept / name)
        has_result = any(kept.iterdir())
        with self._pins.hold(window_of(run.started_ms, run.ended_ms)):
            self._append_samples(made / SAMPLES, run.id, run_id, sender or "")
            brought = self._evidence_files.bring(
                run_id, read_document(made, EVIDENCE, list[EvidenceFile]), made / EVIDENCE_FOLDER
            )
            if has_result:
                self._places.adopt(work, kept, run_id, token)
            try:
                with self._relational.transaction() as session:
                    self._insert(session, run, run_id, made, token if has_result else None)
                    insert_files(session, brought)
            except BaseException as error:
                self._evidence_files.take_back(brought)
                if has_result:
                    self._places.restore(work, run_id)
                if isinstance(error, ConstraintError):
                    raise _exists(run_id) from error
                raise
        shutil.rmtree(made, ignore_errors=True)
        return run_id

    def _free_id(self, run: ArchivedRun, *, as_new: bool) -> str:
        with self._relational.transaction() as session:
            if not has_run(session, run.id):
                return run.id
        if not as_new:
            raise _exists(run.id)
        return new_run_id(run.started_ms)

    def _insert(self, session: Session, run: ArchivedRun, run_id: str, made: Path, token: str | None) -> None:
        row = _row(run, run_id, token, self._clock())
        add_run(session, row)
        for snapshot in read_document(made, SNAPSHOTS, list[SnapshotOut]):
            keep(session, snapshot_row(run_id, snapshot))
        versions = read_document(made, REVIEWS, list[ReviewVersion])
        for version in versions:
            keep(session, review_row(run_id, version))
        in_order = sorted(versions, key=lambda version: version.version)
        keep_actions(session, run_id, [(version.updated_ms, version.actions) for version in in_order])
        for score in read_document(made, SCORES, list[ArchivedScore]):
            keep_score(session, run_id, score)
        bring_notes(self._annotations, session, read_document(made, ANNOTATIONS, list[ArchivedNote]))
        if (made / ANALYSIS).exists():
            store_analysis(session, row, read_document(made, ANALYSIS, Analysis))

    def _append_samples(self, path: Path, old_id: str, run_id: str, sender: str) -> None:
        """All series are made known first: a store that is full refuses before it has taken anything."""
        for batch in read_samples(path):
            self._admit([_renamed(labels, old_id, run_id) for labels in batch.labels], sender)
        for batch in read_samples(path):
            ids = self._store.resolve([_renamed(labels, old_id, run_id) for labels in batch.labels])
            self._append(Batch(series=ids[batch.series], timestamps=batch.times, values=batch.values))

    def _append(self, batch: Batch) -> None:
        deadline = time.monotonic() + APPEND_SECONDS
        while True:
            try:
                self._store.append(batch).result(APPEND_SECONDS)
            except StoreBusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(BUSY_PAUSE_SECONDS)
            else:
                return


def run_checks(archive: Path, directory: Path) -> None:
    """Unpack and check an archive in a process of its own.

    Raises:
        ArchiveError: what it found, or that it had to be ended.
    """
    command = [sys.executable, "-m", "loadwatch_backend.runs.archive.check", str(archive), str(directory)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=CHECK_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ArchiveError(f"Checking the archive took longer than {CHECK_SECONDS} s.") from error
    try:
        problem = orjson.loads(done.stdout)
    except orjson.JSONDecodeError as error:
        raise ArchiveError(
            "Checking the archive took more memory or time than it may, or failed: it is damaged, or made to do harm."
        ) from error
    if problem is not None:
        raise ArchiveError(str(problem["detail"]))


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, _EPOCH)
    member.compress_type = zipfile.ZIP_STORED if name in STORED else zipfile.ZIP_DEFLATED
    member.external_attr = 0o100644 << 16
    return member


def _renamed(labels: Labels, old_id: str, run_id: str) -> Labels:
    return {**labels, "run": run_id} if labels.get("run") == old_id != run_id else labels


def _exists(run_id: str) -> RunExistsError:
    return RunExistsError(
        f"Run {run_id} is here already. Delete it first, or take the archive in under a new id with ?as_new=true."
    )


def _archived(row: RunRow) -> ArchivedRun:
    kept = {**dict(read_details(row)), **{name: getattr(row, name) for name in _COPIED}}
    progress = None if row.progress is None else RunProgress.model_validate_json(row.progress)
    return ArchivedRun.model_validate({**kept, "steady": read_window(row), "progress": progress})


def _row(run: ArchivedRun, run_id: str, token: str | None, now_ms: int) -> RunRow:
    row = RunRow(
        **{**{name: getattr(run, name) for name in _COPIED}, "id": run_id},
        seen_ms=run.ended_ms,
        settled_ms=now_ms,
        steady_from=None if run.steady is None else run.steady.from_seconds,
        steady_to=None if run.steady is None else run.steady.to_seconds,
        progress=None if run.progress is None else run.progress.model_dump_json(),
        result_token=token,
        sparkline="[]",
        details="{}",
    )
    write_details(row, {name: getattr(run, name) for name in RunDetails.model_fields})
    return row


def archived_notes(annotations: AnnotationService, session: Session, start_ms: int, end_ms: int) -> list[ArchivedNote]:
    found = annotations.within(session, start_ms, end_ms)
    return [ArchivedNote(**note.model_dump(include=set(ArchivedNote.model_fields))) for note in found]


def check_notes(notes: Sequence[ArchivedNote]) -> None:
    """Look whether all of them may be written.

    Raises:
        ArchiveError: one holds what no annotation may.
    """
    for number, note in enumerate(notes):
        try:
            check_span(note.start_ms, note.end_ms)
            AnnotationIn.model_validate(note.model_dump())
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise ArchiveError(f"annotations.json: {number}.{place}: {first['msg']}.") from error
        except InvalidError as error:
            raise ArchiveError(f"annotations.json: {number}: {error.detail}") from error


def bring_notes(annotations: AnnotationService, session: Session, notes: Sequence[ArchivedNote]) -> None:
    """Write those that are not here yet: an archive may be taken in twice, or where it was made."""
    for note in notes:
        if note not in archived_notes(annotations, session, note.start_ms, note.start_ms):
            annotations.write(session, AnnotationIn.model_validate(note.model_dump()))
