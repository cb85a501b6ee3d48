"""Figures of the store, read once for all who look within half a minute; and its compaction, one at a time."""

import shutil
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.set_aside import salvage_command
from loadwatch_backend.core.errors import NotFoundError, UnavailableError
from loadwatch_backend.core.room import check_room
from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.series.store.port import SampleStore, StoreSurvey, Surveyor


class StoreTableOut(Schema):
    """Samples of one part of the store."""

    samples: Count
    bytes: Count


class StoreGroupOut(Schema):
    """Series that have one metric's name, or one job."""

    name: str = Field(description="Empty for series without that label.")
    series: Count
    samples: Count
    bytes: Count = Field(description="By estimate: the bytes of each part, shared among its samples.")


class StoreLabelOut(Schema):
    """A label and how many values it has."""

    name: str
    values: Count


class StoreLossOut(Schema):
    """What damage of the disk took of a table of the store."""

    table: str = Field(description="Of the file of samples; `contents` is what says where its tables are.")
    first_ms: Milliseconds | None = Field(description="None where the hours are not known, or there are none.")
    last_ms: Milliseconds | None
    samples: Count | None = Field(description="Minutes in `rollups`; None where it cannot be told.")


class StoreOut(Schema):
    """What the store of samples holds; lists begin with the largest."""

    read_ms: Milliseconds = Field(description="When this was read: within the last half minute.")
    file_bytes: Count = Field(description="The file of samples with its log.")
    free_bytes: Count = Field(description="Of that, dead space, which samples to come take first.")
    disk_free_bytes: Count = Field(description="Free on the disk of the data directory.")
    retention_ms: Count
    rollup_retention_ms: Count
    hot: StoreTableOut = Field(description="Samples in order of arrival, not sealed yet.")
    sealed: StoreTableOut = Field(description="Sorted and compressed samples.")
    rollups: StoreTableOut = Field(description="What each minute of each series was: `samples` are minutes here.")
    series: Count
    series_limit: Count
    oldest_ms: Milliseconds | None
    newest_ms: Milliseconds | None
    clock_jump_ms: int = Field(
        description="By how much this machine's clock has jumped, as long as that is not believed: nothing is deleted "
        "for its age meanwhile. Mostly 0."
    )
    metrics_total: Count
    metrics: list[StoreGroupOut] = Field(description="By bytes.")
    metrics_by_series: list[StoreGroupOut] = Field(description="By number of series.")
    jobs_total: Count
    jobs: list[StoreGroupOut] = Field(description="By bytes.")
    labels_total: Count
    labels: list[StoreLabelOut] = Field(description="By number of values.")
    losses: list[StoreLossOut] = Field(description="What damage of the disk took, by table and time; the oldest first.")
    salvage_command: str | None = Field(description="What copies what can be read, while the server is stopped.")


class StoreCompactedOut(Schema):
    """What compacting did."""

    sealed_samples: Count
    before_bytes: Count
    after_bytes: Count


KEPT_SECONDS = 30.0
"""How long the figures are cached: computing them reads every sample."""


class NoSurveyError(NotFoundError, code="no-store-figures", title="The engine tells no figures"):
    """The samples are in an engine that tells no such figures."""


class CompactionUnderWayError(UnavailableError, code="compaction-under-way", title="The store is being compacted"):
    """Another one is under way."""


@dataclass
class Storage:
    """Safe to use from any thread."""

    store: SampleStore
    data: Path
    retention_ms: int
    rollup_retention_ms: int
    series_limit: int
    clock: Clock
    monotonic: Callable[[], float]

    def __post_init__(self) -> None:
        self._reading = threading.Lock()
        self._compacting = threading.Lock()
        self._read: tuple[float, int, StoreSurvey] | None = None

    def figures(self, limit: int) -> StoreOut:
        """What the store holds, with at most so many entries in each list.

        Raises:
            NoSurveyError, StoreReadError: there are no figures.
        """
        read_ms, survey = self._survey()
        whole = asdict(replace(survey, metrics=survey.metrics[:limit], jobs=survey.jobs[:limit], losses=()))
        by_series = sorted(survey.metrics, key=lambda use: (-use.series, use.name))
        listed: dict[str, Any] = {
            "metrics_by_series": [asdict(use) for use in by_series[:limit]],
            "labels": [StoreLabelOut(name=name, values=values) for name, values in survey.labels[:limit]],
            "losses": [
                StoreLossOut(table=one.part, first_ms=one.first_ms, last_ms=one.last_ms, samples=one.samples)
                for one in survey.losses
            ],
        }
        return StoreOut(
            **(whole | listed),
            read_ms=read_ms,
            disk_free_bytes=shutil.disk_usage(self.data).free,
            retention_ms=self.retention_ms,
            rollup_retention_ms=max(self.retention_ms, self.rollup_retention_ms),
            series_limit=self.series_limit,
            clock_jump_ms=round(self.store.statistics().clock_jump_seconds * 1_000),
            metrics_total=len(survey.metrics),
            jobs_total=len(survey.jobs),
            labels_total=len(survey.labels),
            salvage_command=salvage_command(self.data) if survey.losses else None,
        )

    def compact(self) -> StoreCompactedOut:
        """Seal what is not sealed and give dead space back.

        Raises:
            NoSurveyError, CompactionUnderWayError, DiskFullError, StoreReadError, StoreWriteError: it is not done, and
                nothing is lost.
        """
        surveyor = self._surveyor()
        if not self._compacting.acquire(blocking=False):
            raise CompactionUnderWayError("it is being compacted already: wait for that, and look again")
        try:
            before = self.store.statistics().database_bytes
            # What is sealed is written anew before its old rows go.
            check_room(self.data, surveyor.survey().hot.bytes)
            sealed = surveyor.compact()
            with self._reading:
                self._read = None
            return StoreCompactedOut(
                sealed_samples=sealed, before_bytes=before, after_bytes=self.store.statistics().database_bytes
            )
        finally:
            self._compacting.release()

    def _survey(self) -> tuple[int, StoreSurvey]:
        surveyor = self._surveyor()
        with self._reading:
            now = self.monotonic()
            if self._read is None or now - self._read[0] > KEPT_SECONDS:
                read_ms = self.clock()
                self._read = (now, read_ms, surveyor.survey())
            return self._read[1:]

    def _surveyor(self) -> Surveyor:
        if not isinstance(self.store, Surveyor):
            raise NoSurveyError(
                "the samples are in another engine (LOADWATCH_STORE_URL): ask it for its figures, and set there how"
                " long it keeps them; LOADWATCH_RETENTION_DAYS does nothing"
            )
        return self.store
