"""The services of a run, put together."""

import hashlib
import secrets
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import orjson
import structlog
from loadwatch_formats.run_facts import OPTIONS
from pydantic import ValidationError

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.periodic import Periodic
from loadwatch_backend.core.schemas import LAST_MILLISECOND
from loadwatch_backend.core.texts.words import SILENT, Words, message_of
from loadwatch_backend.core.uploads import IMPORT_LIMIT, Upload, check_size, receive
from loadwatch_backend.evidence.files.repository import find_files
from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.evidence.records.contract import ImportOptions, Progress
from loadwatch_backend.evidence.records.figures import figures_of
from loadwatch_backend.findings.opinions import Opinions
from loadwatch_backend.findings.service import Findings
from loadwatch_backend.runs.analyses import CLOSE_SECONDS, DUE_SECONDS, Analyses, CatchUp
from loadwatch_backend.runs.analysis.analyst import Analyst
from loadwatch_backend.runs.analysis.own_figures import SETTLED_MS
from loadwatch_backend.runs.analysis.schemas import Analysis, ThresholdOut, ThresholdState, WindowSource
from loadwatch_backend.runs.analysis.thresholds import Scope, leans_on_generator
from loadwatch_backend.runs.annotations.service import AnnotationService
from loadwatch_backend.runs.archive.archives import Archives
from loadwatch_backend.runs.errors import (
    ImportNotFoundError,
    ImportQueueError,
    RunBusyError,
    RunNotFoundError,
    RunRuleError,
    ShareNotFoundError,
)
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.importers.reader import ProcessReader
from loadwatch_backend.runs.registry.configuration import Configuration
from loadwatch_backend.runs.registry.places import Places
from loadwatch_backend.runs.registry.registry import PinnedWindows, Registry
from loadwatch_backend.runs.registry.repository import all_tokens, find_analysed_ms, find_run
from loadwatch_backend.runs.registry.results import Arrival, Results
from loadwatch_backend.runs.registry.tables import RunRow, RunShareRow
from loadwatch_backend.runs.reviews.repository import (
    add,
    delete_share,
    find_asked,
    find_share,
    find_shares,
    forget_shares,
    keep_score,
)
from loadwatch_backend.runs.reviews.reviews import Reviews
from loadwatch_backend.runs.reviews.schemas import ArchivedScore, ScoreState, ShareIn, ShareList, ShareOut
from loadwatch_backend.runs.schemas import CheckedFields, ImportJob, ImportRequest, ImportState
from loadwatch_backend.runs.snapshots import Snapshotter
from loadwatch_backend.series.foundation import Foundation
from loadwatch_backend.series.ingest.service import IngestService

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


@dataclass(eq=False)
class Imports:
    """Safe to use from any thread; `close` ends the worker after the import under way."""

    _places: Places
    _results: Results
    _reader: ProcessReader
    _clock: Clock
    counts: ImportCounts = field(default_factory=ImportCounts)
    _jobs: dict[str, _Job] = field(default_factory=dict[str, _Job])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="import")

    @property
    def waiting(self) -> int:
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
            self._fail(job, _unexpected_import_error(error))
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
        made = upload.path.parent / "files"
        made.mkdir()
        options = ImportOptions(
            filename=job.asked.filename,
            started_ms=self._results.start_for(job.asked.run, job.asked.started_ms),
            format=job.asked.format,
        )
        result = self._reader(upload.path, made, options, partial(setattr, job, "progress"), job.stop)
        upload.path.unlink()
        run_id = self._results.take(Arrival(job.asked, job.fields, upload, result, time.monotonic() - began))
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


def _unexpected_import_error(error: Exception) -> ProblemError:
    if isinstance(error, OSError) and error.strerror:
        return ProblemError(f"The file could not be read: {error.strerror}. The server's log has the rest.")
    return ProblemError("The server made a mistake while it read the file; its log has the rest.")


SECRET_BYTES = 32
DAY_MS = 86_400_000


class OpenShare(NamedTuple):
    run: str
    files: tuple[str, ...]


@dataclass(eq=False)
class Shares:
    """Safe to use from any thread."""

    _relational: Relational
    _clock: Clock

    def list(self, run_id: str) -> ShareList:
        """Links of a run that have not expired, the newest first; without their secrets."""
        with self._relational.transaction() as session:
            find_run(session, run_id)
            return ShareList(shares=[_out(row, None) for row in find_shares(session, run_id, self._clock())])

    def create(self, run_id: str, given: ShareIn) -> ShareOut:
        """Make a link; this is the only time that its secret is told.

        Raises:
            RunNotFoundError: there is no such run.
            RunRuleError: a file is not the run's.
        """
        secret = secrets.token_urlsafe(SECRET_BYTES)
        now_ms = self._clock()
        row = RunShareRow(
            id=secrets.token_hex(8),
            run_id=run_id,
            note=given.note,
            created_ms=now_ms,
            expires_ms=min(now_ms + round(given.days * DAY_MS), LAST_MILLISECOND),
            secret_hash=_hash(secret),
            files=orjson.dumps(given.files).decode() if given.files else None,
        )
        with self._relational.transaction() as session:
            find_run(session, run_id)
            foreign = set(given.files) - {file.id for file in find_files(session, run_id, None)}
            if foreign:
                raise RunRuleError(f"files: {min(foreign)} is no file of this run; it may have been deleted.")
            forget_shares(session, now_ms)
            add(session, row)
        return _out(row, secret)

    def delete(self, share_id: str) -> None:
        """The link opens nothing from now on.

        Raises:
            ShareNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            if not delete_share(session, share_id):
                raise ShareNotFoundError(f"There is no link {share_id[:64]!r}; it may have expired or been revoked.")

    def open(self, secret: str) -> OpenShare:
        """What a link shows.

        Raises:
            ShareNotFoundError: wrong, expired and revoked links look alike.
        """
        with self._relational.transaction() as session:
            row = find_share(session, _hash(secret))
            if row is None or row.expires_ms <= self._clock():
                raise ShareNotFoundError("This link shows nothing, or nothing any more. Ask who sent it for a new one.")
            return OpenShare(run=row.run_id, files=_files(row))


def _hash(secret: str) -> str:
    """The secret has 256 random bits: a slow hash would protect nothing more."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _files(row: RunShareRow) -> tuple[str, ...]:
    return tuple(orjson.loads(row.files)) if row.files else ()


def _out(row: RunShareRow, secret: str | None) -> ShareOut:
    return ShareOut(
        id=row.id,
        run=row.run_id,
        note=row.note,
        created_ms=row.created_ms,
        expires_ms=row.expires_ms,
        files=list(_files(row)),
        path=None if secret is None else f"/share/{secret}",
    )


RETRY_MS = 60_000


@dataclass(eq=False)
class ActionScorer:
    """Any number of servers may do it: the table holds one score of an action by a run."""

    _relational: Relational
    _analyses: Analyses
    _clock: Clock
    _failed: dict[str, int] = field(default_factory=dict[str, int])

    def tick(self) -> None:
        """Score what is to be scored; a run that cannot be read is tried again later."""
        now_ms = self._clock()
        with self._relational.transaction() as session:
            asked = find_asked(session, now_ms - SETTLED_MS)
        self._failed = {run: at for run, at in self._failed.items() if now_ms - at < RETRY_MS}
        for run_id, scores in asked.items():
            if run_id in self._failed:
                continue
            try:
                self._score(run_id, scores)
            except (RunNotFoundError, ConstraintError):
                logger.info("a run was deleted, or scored by another server, while it was scored", run=run_id)
            except Exception:
                logger.exception("a run could not score actions", run=run_id)
                self._failed[run_id] = now_ms

    def _score(self, run_id: str, scores: Sequence[ArchivedScore]) -> None:
        with self._relational.transaction() as session:
            row, analysed_ms = find_run(session, run_id), find_analysed_ms(session, run_id)
        if analysed_ms is None or analysed_ms < max(row.updated_ms, (row.ended_ms or 0) + SETTLED_MS):
            # Nobody has read it since it settled.
            self._analyses.refresh(run_id)
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            analysis = self._analyses.read(session, row)
        problems = {one.facts.expected: self._analyses.problem_of(one.facts.expected, row) for one in scores}
        texts = [text for text, problem in problems.items() if not problem]
        measured = dict(zip(texts, self._analyses.measure(row, texts), strict=True))
        scored_ms = self._clock()
        with self._relational.transaction() as session:
            find_run(session, run_id)
            for one in scores:
                figures = measured.get(one.facts.expected)
                why = problems[one.facts.expected] if figures is None else _why_not(row, analysis, figures)
                facts = one.facts.model_copy(update=_figures(figures, why, analysis))
                keep_score(session, run_id, one.model_copy(update={"facts": facts, "scored_ms": scored_ms}))


def _figures(figures: ThresholdOut | None, why: Words, analysis: Analysis | None) -> dict[str, object]:
    """What a run measured, as fields of `ScoreFacts`; with `why`, that reason instead of a figure."""
    found: dict[str, object] = {"state": ScoreState.NOT_MEASURED, "actual": None, "detail": why.en, "detail_ja": why.ja}
    if figures is None:
        return found
    # Where no steady part was found, thresholds cover all of the run.
    steady = None if analysis is None else analysis.steady_window
    is_whole = figures.window == Scope.STEADY and (steady is None or steady.source is WindowSource.WHOLE)
    found |= {"unit": figures.unit, "limit": figures.limit, "window": Scope.WHOLE if is_whole else figures.window}
    if not why:
        found["state"] = ScoreState.MET if figures.state is ThresholdState.PASSED else ScoreState.MISSED
        found |= {"actual": figures.actual, "detail": figures.detail, "detail_ja": figures.detail_ja}
    return found


def _why_not(row: RunRow, analysis: Analysis | None, figures: ThresholdOut) -> Words:
    """Why a run cannot be measured by a threshold; empty where it can."""
    if row.state == RunState.ABORTED:
        return message_of("actions", "aborted")
    if analysis is None:
        return message_of("actions", "not-analysed")
    if figures.state is ThresholdState.UNKNOWN:
        if not figures.detail:
            return message_of("actions", "unknown")
        return Words(figures.detail, figures.detail_ja or figures.detail)
    if analysis.generator.state == "saturated" and leans_on_generator(figures.metric):
        return message_of("actions", "generator-saturated")
    return SILENT


@dataclass(frozen=True, slots=True, kw_only=True)
class RunServices:
    registry: Registry
    imports: Imports
    configuration: Configuration
    reviews: Reviews
    scorer: ActionScorer
    shares: Shares
    archives: Archives
    analyses: Analyses
    catch_up: Periodic
    pins: PinnedWindows

    def close(self) -> None:
        """Wait for the import and the analysis under way."""
        self.catch_up.close(CLOSE_SECONDS)
        self.imports.close()
        self.analyses.close()


def open_runs(
    ground: Foundation,
    library: Library,
    findings: Findings,
    opinions: Opinions,
    evidence_files: EvidenceFiles,
    annotations: AnnotationService,
    ingest: IngestService,
) -> RunServices:
    """Mend what a killed server left, then put the services together."""
    settings, relational, store, clock = ground.settings, ground.relational, ground.store, ground.clock
    places = Places(settings.data)
    places.mend(lambda: all_tokens(relational))
    pins = PinnedWindows(relational, clock)
    analyses = Analyses(relational, places, Analyst(ground.engine, clock, figures_of, findings, library), clock)
    configuration = Configuration(relational, Snapshotter(ground.engine, library), clock)
    registry = Registry(
        relational, places, analyses, configuration, opinions, clock, settings.retention_ms, evidence_files, annotations
    )
    scorer = ActionScorer(relational, analyses, clock)
    reader = ProcessReader()
    services = RunServices(
        analyses=analyses,
        catch_up=Periodic("run-catch-up", CatchUp(relational, analyses, clock, scorer.tick).turn, DUE_SECONDS),
        registry=registry,
        imports=Imports(places, Results(relational, places, analyses, configuration, store, clock), reader, clock),
        configuration=configuration,
        reviews=Reviews(relational, analyses, clock),
        scorer=scorer,
        shares=Shares(relational, clock),
        archives=Archives(
            relational, places, store, registry, analyses, pins, evidence_files, annotations, ingest.admit, clock
        ),
        pins=pins,
    )
    ground.stack.callback(services.close)
    ground.stack.callback(reader.close)
    return services
