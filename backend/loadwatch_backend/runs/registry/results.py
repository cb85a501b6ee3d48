"""An imported result becomes a run's own: all of it or nothing, whenever the server is killed."""

import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from loadwatch_formats.times import format_rfc3339

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.uploads import Upload
from loadwatch_backend.evidence.records.files import RunFiles
from loadwatch_backend.evidence.records.model import LoadResult
from loadwatch_backend.evidence.records.result_file import save
from loadwatch_backend.runs.analyses import Analyses
from loadwatch_backend.runs.errors import FutureResultError, RunNotFoundError
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.configuration import Configuration
from loadwatch_backend.runs.registry.documents import read_details
from loadwatch_backend.runs.registry.places import Places
from loadwatch_backend.runs.registry.publish import publish
from loadwatch_backend.runs.registry.repository import add_run, find_run
from loadwatch_backend.runs.registry.rows import apply_fields, new_run_id, result_times, running_row, settle_row
from loadwatch_backend.runs.registry.tables import RunRow
from loadwatch_backend.runs.schemas import CheckedFields, ImportOut, ImportRequest, RunIn
from loadwatch_backend.series.store.port import SampleStore

FUTURE_MS = 24 * 3_600_000
"""How far a clock in another time zone may be ahead."""


class Arrival(NamedTuple):
    """A result that was read: `upload.path.parent` is its work, and `files` in there has what was made of it."""

    asked: ImportRequest
    fields: CheckedFields
    upload: Upload
    result: LoadResult
    seconds: float

    @property
    def work(self) -> Path:
        return self.upload.path.parent


@dataclass(eq=False)
class Results:
    """Safe to use from any thread."""

    _relational: Relational
    _places: Places
    _analyses: Analyses
    _configuration: Configuration
    _store: SampleStore
    _clock: Clock

    def check(self, run_id: str | None, fields: CheckedFields) -> None:
        """Refuse what would fail after the file was read.

        Raises:
            RunNotFoundError: there is no such run.
            ThresholdError: a threshold cannot be read.
        """
        known: list[str] = []
        if run_id is not None:
            with self._relational.transaction() as session:
                known = read_details(find_run(session, run_id)).own_figures
        self._analyses.analyst.check(fields.thresholds, fields.own_figures or known)

    def start_for(self, run_id: str | None, started_ms: int | None) -> int | None:
        """Start of the load by the generator's clock, for files that do not tell."""
        if started_ms is not None or run_id is None:
            return started_ms
        with self._relational.transaction() as session:
            return find_run(session, run_id).sender_started_ms

    def take(self, arrival: Arrival) -> str:
        """Make the result a run's own; returns the run's id.

        Raises:
            RunNotFoundError: the run was deleted meanwhile.
            FutureResultError: its requests have not been sent yet.
        """
        self._refuse_future(arrival)
        made = arrival.work / "files"
        files = RunFiles(made)
        if not files.result.exists():
            save(arrival.result, files)
        token = secrets.token_hex(8)
        new = self._new_row(arrival, token) if arrival.asked.run is None else None
        run_id = arrival.asked.run if new is None else new.id
        assert run_id is not None
        self._places.adopt(arrival.work, made, run_id, token)
        try:
            with self._relational.transaction() as session:
                if new is not None:
                    add_run(session, new)
                else:
                    self._change_row(session, run_id, arrival, token)
        except BaseException as error:
            self._places.restore(arrival.work, run_id)
            if isinstance(error, RunNotFoundError):
                # Deleted while the file was read; the files of the result before go, too.
                self._places.remove(run_id)
            raise
        # From here on the run is whole; what follows can be made up for.
        self._publish(run_id, arrival.result)
        self._configuration.capture_missing(run_id)
        self._analyses.refresh(run_id)
        return run_id

    def _refuse_future(self, arrival: Arrival) -> None:
        assumed_ms, skew_ms = arrival.asked.started_ms, 0
        if arrival.asked.run is not None:
            with self._relational.transaction() as session:
                row = find_run(session, arrival.asked.run)
                assumed_ms = row.sender_started_ms if assumed_ms is None else assumed_ms
                skew_ms = row.skew_ms or 0
        now_ms = self._clock()
        start_ms, _, _ = result_times(arrival.result, assumed_ms, now_ms)
        if start_ms - skew_ms > now_ms + FUTURE_MS:
            raise FutureResultError(
                f"The requests begin at {format_rfc3339(start_ms)}, and this server's clock is at "
                f"{format_rfc3339(now_ms)}. Set the clock that is wrong; a file whose times are wrong can only "
                "be imported with its times put right."
            )

    def _new_row(self, arrival: Arrival, token: str) -> RunRow:
        now_ms = self._clock()
        start_ms, _, _ = result_times(arrival.result, arrival.asked.started_ms, now_ms)
        row = running_row(new_run_id(start_ms), RunIn(**arrival.fields.model_dump(), started_ms=start_ms), now_ms)
        row.state = RunState.IMPORTED
        row.settled_ms = now_ms
        row.result_token = token
        settle_row(row, arrival.result, self._source(arrival), arrival.asked.started_ms, now_ms)
        return row

    def _change_row(self, session: Session, run_id: str, arrival: Arrival, token: str) -> None:
        row = find_run(session, run_id, lock=True)
        apply_fields(session, row, arrival.fields)
        row.result_token = token
        assumed_ms = row.sender_started_ms if arrival.asked.started_ms is None else arrival.asked.started_ms
        settle_row(row, arrival.result, self._source(arrival), assumed_ms, self._clock())

    def _source(self, arrival: Arrival) -> ImportOut:
        return ImportOut(
            format=arrival.result.format,
            filename=arrival.asked.filename or "",
            bytes=arrival.upload.bytes,
            sha256=arrival.upload.sha256,
            has_records=arrival.result.has_records,
            imported_ms=self._clock(),
            seconds=round(arrival.seconds, 3),
        )

    def _publish(self, run_id: str, result: LoadResult) -> None:
        if result.seconds is None:
            return
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
        offset_ms = 0
        if result.start_ms is None:
            # Seconds of a file without a wall clock count from its own zero.
            offset_ms = row.sender_started_ms // 1_000 * 1_000 - result.seconds.start_ms
        seconds = replace(result.seconds, start_ms=result.seconds.start_ms + offset_ms)
        publish(self._store, run_id, seconds, row.target_rate)
