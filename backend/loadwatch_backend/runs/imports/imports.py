"""Result files into runs: received, read in a worker thread, and only then made a run's own."""

import secrets
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import structlog
from loadwatch_formats.run_facts import OPTIONS
from pydantic import ValidationError

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.uploads import IMPORT_LIMIT, Upload, check_size, receive
from loadwatch_backend.evidence.records.contract import ImportOptions, Progress
from loadwatch_backend.runs.errors import ImportNotFoundError, ImportQueueError, RunBusyError, RunRuleError
from loadwatch_backend.runs.importers.reader import ProcessReader
from loadwatch_backend.runs.imports.places import Places
from loadwatch_backend.runs.imports.results import Arrival, Results
from loadwatch_backend.runs.imports.schemas import ImportJob, ImportRequest, ImportState
from loadwatch_backend.runs.schemas import CheckedFields

logger = structlog.get_logger(__name__)

KEPT_MS = 3_600_000
WORKERS = 1
"""One import uses several cores while it reads; two at once would take turns."""
MOST_WAITING = 16


@dataclass(slots=True)
class _Job:
    id: str
    asked: ImportRequest
    fields: CheckedFields
    state: ImportState = ImportState.READING
    progress: Progress = field(default_factory=lambda: Progress(bytes_read=0, bytes_total=0, records=0))
    upload: Upload | None = None
    run: str | None = None
    error: ProblemError | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    work: Future[None] | None = None
    ended_ms: int | None = None


@dataclass(slots=True)
class ImportCounts:
    """What imports have done since the start; read by /metrics."""

    done: int = 0
    failed: Counter[str] = field(default_factory=Counter[str])
    bytes: int = 0


class Imports:
    """Safe to use from any thread; `close` ends the worker after the import under way."""

    def __init__(self, *, places: Places, results: Results, reader: ProcessReader, clock: Clock) -> None:
        self.counts = ImportCounts()
        self._places = places
        self._results = results
        self._reader = reader
        self._clock = clock
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="import")

    @property
    def waiting(self) -> int:
        """Imports that wait or are under way."""
        with self._lock:
            return sum(job.state is ImportState.READING for job in self._jobs.values())

    async def receive(
        self, asked: ImportRequest, chunks: AsyncIterator[bytes], announced: int | None = None
    ) -> ImportJob:
        """Take a file and queue it.

        Raises:
            RunRuleError: a field of the run is against a rule.
            RunNotFoundError, RunBusyError: of the run named.
            UploadTooLargeError, UploadBrokenError, DiskFullError, ImportQueueError.
        """
        try:
            job = self._begin(asked)
        except ProblemError as error:
            self.counts.failed[error.code] += 1
            raise
        try:
            work = self._places.work(job.id)
            check_size(announced, IMPORT_LIMIT, work)
            job.upload = await receive(chunks, work / "upload", IMPORT_LIMIT)
        except BaseException as error:
            self._drop(job, error)
            raise
        size = job.upload.bytes
        job.progress = Progress(bytes_read=0, bytes_total=size, records=0)
        self.counts.bytes += size
        with self._lock:
            job.work = self._workers.submit(self._run, job)
        return self._out(job)

    def read(self, import_id: str) -> ImportJob:
        """How far an import is.

        Raises:
            ImportNotFoundError: there is none, or it ended more than an hour ago, or the server was restarted.
        """
        with self._lock:
            self._forget_old()
            job = self._jobs.get(import_id)
        if job is None:
            raise ImportNotFoundError(
                f"There is no import {import_id[:64]!r}. Imports are known until an hour after their end, and one that"
                " was under way when the server stopped left nothing: send the file again."
            )
        return self._out(job)

    def cancel(self, import_id: str) -> ImportJob:
        """End an import that waits or is under way; one that is over stays as it is.

        Raises:
            ImportNotFoundError: see `read`.
        """
        with self._lock:
            job = self._jobs.get(import_id)
            if job is not None:
                job.stop.set()
                if job.state is ImportState.READING and job.work is not None and job.work.cancel():
                    self._cancelled(job)
        return self.read(import_id)

    def close(self) -> None:
        """End the worker; what waits is left out, and its files go with the next start."""
        self._workers.shutdown(cancel_futures=True)

    # Receiving --------------------------------------------------------------------------------------------------------

    def _begin(self, asked: ImportRequest) -> _Job:
        fields = run_fields(asked)
        self._results.check(asked.run, fields)
        with self._lock:
            self._forget_old()
            under_way = [job for job in self._jobs.values() if job.state is ImportState.READING]
            if len(under_way) >= MOST_WAITING:
                raise ImportQueueError(f"{len(under_way)} imports wait already; send this one again in a minute.")
            if asked.run is not None and any(job.asked.run == asked.run for job in under_way):
                raise RunBusyError(f"Another import into run {asked.run} is under way; wait for its end.")
            job = _Job(id=secrets.token_hex(8), asked=asked, fields=fields)
            self._jobs[job.id] = job
        return job

    def _drop(self, job: _Job, error: BaseException) -> None:
        """The file did not arrive."""
        with self._lock:
            self._jobs.pop(job.id, None)
        self._places.drop(job.id)
        self.counts.failed[error.code if isinstance(error, ProblemError) else "broken-off"] += 1

    def _forget_old(self) -> None:
        now_ms = self._clock()
        for job in [job for job in self._jobs.values() if job.ended_ms is not None]:
            if job.ended_ms is not None and now_ms - job.ended_ms > KEPT_MS:
                del self._jobs[job.id]

    # Reading ----------------------------------------------------------------------------------------------------------

    def _run(self, job: _Job) -> None:
        try:
            job.run = self._import(job)
            job.state = ImportState.DONE
            self.counts.done += 1
        except ProblemError as error:
            if job.stop.is_set():
                self._cancelled(job)
                return
            self._fail(job, error)
        except Exception as error:
            logger.exception("an import failed", job=job.id, filename=job.asked.filename)
            self._fail(job, _unforeseen(error))
        finally:
            job.ended_ms = self._clock()
            self._places.drop(job.id)

    def _cancelled(self, job: _Job) -> None:
        job.state = ImportState.CANCELLED
        job.ended_ms = self._clock()
        self._places.drop(job.id)
        self.counts.failed["import-cancelled"] += 1

    def _fail(self, job: _Job, error: ProblemError) -> None:
        job.error = error
        job.state = ImportState.FAILED
        self.counts.failed[error.code] += 1

    def _import(self, job: _Job) -> str:
        upload = job.upload
        assert upload is not None
        began = time.monotonic()
        work = upload.path.parent
        made = work / "files"
        made.mkdir()
        options = ImportOptions(
            filename=job.asked.filename,
            started_ms=self._results.start_for(job.asked.run, job.asked.started_ms),
            format=job.asked.format,
        )

        def note(progress: Progress) -> None:
            job.progress = progress

        result = self._reader(upload.path, made, options, note, job.stop)
        upload.path.unlink()
        run_id = self._results.take(
            Arrival(
                work=work,
                made=made,
                result=result,
                fields=job.fields,
                run=job.asked.run,
                started_ms=job.asked.started_ms,
                filename=job.asked.filename or "",
                bytes=upload.bytes,
                sha256=upload.sha256,
                seconds=time.monotonic() - began,
            )
        )
        job.progress = replace(job.progress, bytes_read=upload.bytes)
        return run_id

    def _out(self, job: _Job) -> ImportJob:
        return ImportJob(
            id=job.id,
            state=job.state,
            filename=job.asked.filename or "",
            bytes_read=job.progress.bytes_read,
            bytes_total=job.progress.bytes_total,
            records=job.progress.records,
            run=job.run if job.run is not None else job.asked.run,
            error=None if job.error is None else job.error.problem(f"/api/imports/{job.id}"),
        )


def run_fields(asked: ImportRequest) -> CheckedFields:
    """The fields of the run that a request describes.

    Raises:
        RunRuleError: it names the field.
    """
    given = {fact.name: getattr(asked, fact.query or fact.name) for fact in OPTIONS}
    pairs = [text.partition("=") for text in given["parameters"]]
    for key, sign, value in pairs:
        if not sign or not key.strip():
            raise RunRuleError(f"The parameter {(key + sign + value)[:100]!r} is not key=value.")
    given["parameters"] = {key.strip(): value for key, _, value in pairs}
    try:
        return CheckedFields.model_validate({name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        found = [f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors()]
        raise RunRuleError("; ".join(found)) from error


def _unforeseen(error: Exception) -> ProblemError:
    if isinstance(error, OSError) and error.strerror:
        return ProblemError(f"The file could not be read: {error.strerror}. The server's log has the rest.")
    return ProblemError("The server made a mistake while it read the file; its log has the rest.")
