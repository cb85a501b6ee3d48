"""The embedded engine: series index, head, disk and writer behind the port to samples."""

import math
import os
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import structlog

from loadwatch_backend.core.clock import SteadyClock
from loadwatch_backend.core.periodic import Periodic
from loadwatch_backend.series.store.embedded import copies, rollups
from loadwatch_backend.series.store.embedded.arrow import joined
from loadwatch_backend.series.store.embedded.block import (
    LATEST_MS,
    build_block,
    join_cuts,
    newest_samples,
    series_spans,
)
from loadwatch_backend.series.store.embedded.codec import DamagedSegmentError
from loadwatch_backend.series.store.embedded.damage import disk_errors, earlier_losses, is_damage, reason_of
from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.lock import acquire_lock
from loadwatch_backend.series.store.embedded.opening import unreadable
from loadwatch_backend.series.store.embedded.reading import SAMPLE_TABLES, Check, RollupReader, SampleReader
from loadwatch_backend.series.store.embedded.series_index import Ids, SeriesIndex
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.embedded.upkeep import SealedAhead, Upkeep, survey_store
from loadwatch_backend.series.store.embedded.writer import Head, Writer
from loadwatch_backend.series.store.errors import StoreReadError, StoreWriteError
from loadwatch_backend.series.store.levels import Level, MinuteColumns, Span
from loadwatch_backend.series.store.losses import loss_text, lost_hours
from loadwatch_backend.series.store.port import (
    Labels,
    Matcher,
    MatchOperator,
    MetricMetadata,
    Reading,
    Selection,
    StoreStatistics,
    StoreSurvey,
)

log = structlog.get_logger(__name__)

_LOAD_ROWS = 500_000
"""Rows that one step of loading the head reads; commits wait for the step."""
_RETENTION_PAUSE_MS = 10 * 60_000
_MOST_REMEMBERED = 0.8
"""Share of the series limit above which series that ended long ago go, though they have rollups."""
_BYTES_PER_SAMPLE = 16
_HEARTBEATS = Matcher("__name__", MatchOperator.EQUAL, "up")
"""Each target sends one with its samples, and the server none of its own."""


class EmbeddedStore:
    """`loadwatch_backend.series.store.port.SampleStore` over one DuckDB file; made by `open_embedded`."""

    def __init__(self, settings: EmbeddedSettings, clock: Callable[[], int], lock: int, database: Database) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = lock
        self.database = database
        self._index = SeriesIndex(settings.series_limit, settings.label_bytes)
        self._head = Head(settings.head_bytes, lambda block: self._index.touch(block.series, *series_spans(block)))
        self._metadata = database.metadata()
        self._pinned: Callable[[], Sequence[tuple[int, int]]] | None = None
        self._deleted_rows = 0
        self._maintaining = threading.Lock()
        self._load_index()
        oldest, newest = database.span_ms()
        if newest is not None and isinstance(clock, SteadyClock):
            clock.begin(newest)
        self._ahead = SealedAhead(database)
        self._slice_ms = 60_000
        self._head.start(0 if newest is None else newest + 1)
        wall = clock.wall if isinstance(clock, SteadyClock) else clock
        self.writer = Writer(
            settings, database, self._index, self._head, wall, (oldest, newest), self._index.last_ms([_HEARTBEATS])
        )
        self.resolve, self.find, self.append = self._index.resolve, self._index.find, self.writer.queue.append
        self.on_commit, self.on_touch = self.writer.listeners.on_commit, self.writer.listeners.on_touch
        self._stopping = threading.Event()
        self.upkeep = Upkeep(database, lambda: self.writer.queue.run(database.checkpoint).result(), self._stopping)
        with database.reading() as cursor:
            earlier = earlier_losses(cursor, clock() - max(settings.retention_ms, settings.rollup_retention_ms))
        self._check = Check(database, lambda job: self.writer.queue.run(job).result(), earlier)
        self._samples = SampleReader(settings, database, self._check, earlier, lambda: self.writer.oldest_ms)
        self._rollups = RollupReader(
            database,
            lambda ids, start_ms, end_ms, reading: self._samples.cuts(
                self._head.view(), ids, start_ms, end_ms, reading
            ),
            settings.query_samples,
        )
        self._loading = True
        self._next_retention = clock()
        self._maintenance = Periodic("store-maintenance", self._maintain, settings.maintenance_ms / 1_000)
        if newest is not None:
            self._load_first_slice()
        self.writer.start()
        self._maintenance.start()

    # The port -------------------------------------------------------------------------------------------------

    def generation(self) -> int:
        return self._index.generation

    def select(
        self,
        matchers: Sequence[Matcher],
        start_ms: int,
        end_ms: int,
        reading: Reading | None = None,
        level: Level = Level.RAW,
    ) -> Selection:
        """See `Reader.select`; `reading` is needed for all levels but the first."""
        start_ms, end_ms = max(start_ms, 0), min(end_ms, LATEST_MS)
        view = self._head.view()
        ids = self._index.match(matchers, start_ms, end_ms)
        if not len(ids) or start_ms > end_ms:
            return _EMPTY
        minutes: MinuteColumns | None = None
        if level is not Level.RAW:
            self._samples.refuse_lost(("rollups",), ids, start_ms, end_ms)
        if level is Level.RAW or reading is None:
            offsets, timestamps, values = join_cuts(self._samples.cuts(view, ids, start_ms, end_ms, reading), len(ids))
        elif level is Level.LAST:
            offsets, timestamps, values = self._rollups.last(ids, start_ms, end_ms, reading)
        else:
            offsets, timestamps, values, minutes = self._rollups.minutes(
                ids, start_ms, end_ms, reading, ends_only=level is Level.ENDS
            )
        full = np.flatnonzero(offsets[1:] > offsets[:-1])
        if len(full) < len(ids):
            ids = ids[full]
            offsets = np.append(offsets[full], offsets[-1])
        return Selection(
            labels=self._index.labels(ids.tolist()),
            offsets=offsets,
            timestamps=timestamps,
            values=values,
            minutes=minutes,
        )

    def whole_spans(self) -> Sequence[Span]:
        return self.database.whole_spans

    def select_many(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> list[Selection]:
        start_ms, end_ms = max(start_ms, 0), min(end_ms, LATEST_MS)
        view = self._head.view()
        groups = [self._index.match(matchers, start_ms, end_ms) for matchers in wanted]
        ids = _union(groups)
        if not len(ids) or start_ms > end_ms:
            return [_EMPTY] * len(groups)
        offsets, timestamps, values = join_cuts(self._samples.cuts(view, ids, start_ms, end_ms, reading), len(ids))
        result: list[Selection] = []
        for group in groups:
            places = np.searchsorted(ids, group)
            starts, stops = offsets[places], offsets[places + 1]
            full = stops > starts
            if not full.any():
                result.append(_EMPTY)
                continue
            bounds = list(zip(starts[full].tolist(), stops[full].tolist(), strict=True))
            result.append(
                Selection(
                    labels=self._index.labels(group[full].tolist()),
                    offsets=np.concatenate(([0], np.cumsum(stops[full] - starts[full]))),
                    timestamps=np.concatenate([timestamps[first:end] for first, end in bounds]),
                    values=np.concatenate([values[first:end] for first, end in bounds]),
                )
            )
        return result

    def select_newest(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> list[Selection]:
        start_ms, end_ms = max(start_ms, 0), min(end_ms, LATEST_MS)
        view = self._head.view()
        if start_ms > end_ms or (start_ms < view.complete_ms and self._samples.may_hold_before(view.complete_ms)):
            # A part of it is on the disk only.
            return [self.select(matchers, start_ms, end_ms, reading) for matchers in wanted]
        groups = [self._index.match(matchers, start_ms, end_ms) for matchers in wanted]
        ids = _union(groups)
        if not len(ids):
            return [_EMPTY] * len(groups)
        self._samples.refuse_lost(SAMPLE_TABLES, ids, start_ms, end_ms)
        if reading is not None:
            reading.reserve(len(ids))
        times, values = newest_samples(view.blocks, ids, start_ms, end_ms)
        result: list[Selection] = []
        for group in groups:
            places = np.searchsorted(ids, group)
            there = times[places] >= 0
            if not there.all():
                group, places = group[there], places[there]
            result.append(
                Selection(
                    labels=self._index.labels(group.tolist()),
                    offsets=np.arange(len(group) + 1),
                    timestamps=times[places],
                    values=values[places],
                )
            )
        return result

    def series(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[Labels]:
        return self._index.labels(self._matching(matchers, start_ms, end_ms).tolist())

    def label_names(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        return self._index.label_names(self._matching(matchers, start_ms, end_ms))

    def label_values(self, name: str, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        return self._index.label_values(name, self._matching(matchers, start_ms, end_ms))

    def put_metadata(self, metadata: Mapping[str, MetricMetadata]) -> None:
        news = {metric: entry for metric, entry in metadata.items() if self._metadata.get(metric) != entry}
        if news:
            self._metadata = {**self._metadata, **news}
            self.writer.queue.put_metadata(news)

    def metadata(self) -> Mapping[str, MetricMetadata]:
        return self._metadata

    def newest_ms(self) -> int | None:
        return self.writer.heard_ms

    def keep_pinned(self, windows: Callable[[], Sequence[tuple[int, int]]]) -> None:
        self._pinned = windows

    def statistics(self) -> StoreStatistics:
        counts = self.writer.queue.counts
        return StoreStatistics(
            series=len(self._index),
            samples_appended_total=counts.samples,
            commits_total=counts.commits,
            failed_commits_total=counts.failed_commits,
            commits_fail=counts.is_failing,
            busy_rejections_total=counts.busy,
            queued_samples=self.writer.queue.samples,
            head_bytes=self._head.nbytes,
            head_blocks=self._head.blocks,
            head_complete_ms=self._head.complete_ms,
            sealed_rows_total=self.upkeep.sealed_rows,
            deleted_rows_total=self._deleted_rows,
            database_bytes=self.database.nbytes(),
            checked_blocks_total=self._check.checked_blocks,
            clock_jump_seconds=self._clock.jump_ms / 1_000 if isinstance(self._clock, SteadyClock) else 0.0,
            damaged_hours=max(len(lost_hours(self._check.losses)), min(len(self._check.losses), 1)),
        )

    def survey(self) -> StoreSurvey:
        try:
            with disk_errors():
                span_ms = (self.writer.oldest_ms, self.writer.newest_ms)
                return survey_store(self.database, self._index, span_ms, self._check.losses)
        except StoreReadError as error:
            if not self._check.losses:
                raise
            raise StoreReadError(f"{error.detail} Damaged: {loss_text(self._check.losses)}.") from error

    def compact(self) -> int:
        self._check.refuse_changes()
        newest_ms = self.writer.newest_ms
        if newest_ms is None:
            return 0
        try:
            count = self.seal(newest_ms + 1)
            with self.keeping_order():
                while self.upkeep.convert() is not None or self.upkeep.roll_up() is not None:
                    pass
                self.upkeep.join_days(self._clock())
                self.upkeep.give_back_room(asked=True)
            # The first one frees the blocks of what was moved, the second cuts them off at the file's end.
            for _ in range(2):
                self.writer.queue.run(self.database.checkpoint).result()
        except DamagedSegmentError:
            with disk_errors():
                raise
        except duckdb.Error as error:
            raise StoreWriteError(f"the samples could not be sealed: {reason_of(error)}") from error
        return count

    def copy_samples(self, target: Path) -> Iterator[tuple[str, int]]:
        return copies.copy_samples(self.database, target)

    def close(self) -> None:
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._maintenance.close()
        self.writer.close()
        self.database.close()
        os.close(self._lock)

    # Around the port ------------------------------------------------------------------------------------------

    def seal(self, before_ms: int) -> int:
        """Seal samples before a time and fold the log into the file; returns how many."""
        self._check.refuse_changes()
        with self.keeping_order():
            return self.upkeep.seal(before_ms)

    def apply_retention(self, most_ms: int | None = None) -> int:
        """Delete samples that are too old and not pinned, and series of which none is left; returns how many rows.

        With `most_ms` no more than the oldest ones of so long a time.
        """
        self._check.refuse_changes()
        settings = self._settings
        # A clock that has jumped, ahead or back, makes nothing older than the earlier of both times says.
        now_ms = self._clock.span()[0] if isinstance(self._clock, SteadyClock) else self._clock()
        cutoff = now_ms - settings.retention_ms
        rollups_ms = now_ms - max(settings.retention_ms, settings.rollup_retention_ms)
        if most_ms is not None:
            samples_from, rollups_from = self.database.oldest_kept()
            cutoff = min(cutoff, samples_from + most_ms)
            rollups_ms = min(rollups_ms, rollups_from + most_ms)
        pinned = sorted(self._pinned()) if self._pinned is not None else []
        with self.keeping_order():
            deleted = self.database.delete_before(cutoff, pinned, rollups_ms)
            self._deleted_rows += deleted
            self.writer.queue.run(lambda: self._forget(cutoff, pinned)).result()
        return deleted

    # Start and upkeep -----------------------------------------------------------------------------------------

    def _matching(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> Ids:
        self._head.view()  # So that the index knows of the newest samples.
        return self._index.match_any(matchers, start_ms, end_ms)

    def _load_index(self) -> None:
        spans: list[tuple[int, int, int]] = []

        def rows() -> Generator[tuple[int, tuple[str, ...]]]:
            for entry in self.database.series():
                if entry.first_ms is not None and entry.last_ms is not None:
                    spans.append((entry.id, entry.first_ms, entry.last_ms))
                yield entry.id, entry.labels

        self._index.load(rows())
        if spans:
            known = np.array(spans, np.int64)
            self._index.touch(known[:, 0].astype(np.uint32), known[:, 1], known[:, 2])

    def _load_first_slice(self) -> None:
        try:
            self._ahead.look(self._head.complete_ms - 1, self._slice_ms)
            self._load_slice()
        except (DamagedSegmentError, duckdb.Error) as error:
            if isinstance(error, duckdb.Error) and not is_damage(error):
                raise
            # The newest samples are on the disk alone then, and it says so when it is asked for them.
            log.error("the newest samples on the disk are damaged", error=str(error))

    def _load_next_slice(self) -> bool:
        # Nothing is sealed meanwhile, or it would be neither among what was decoded nor in order of arrival.
        with self.keeping_order():
            self._ahead.look(self._head.complete_ms - 1, self._slice_ms)
            more = bool(self.writer.queue.run(self._load_slice).result())
        if not more:
            self._ahead.forget()
        return more

    def _load_slice(self) -> bool:
        """Take one more span from the disk into the head; False when there is no more, or no more room."""
        complete_ms = self._head.complete_ms
        oldest_ms = self.writer.oldest_ms
        if complete_ms == 0:
            return False
        if oldest_ms is None or complete_ms <= oldest_ms:
            self._head.extend_back(None, 0)
            return False
        end_ms = complete_ms - 1
        if not self._ahead.covers(end_ms):
            return True
        start_ms = max(end_ms - self._slice_ms + 1, self._ahead.first_ms)
        columns = joined(
            [self._ahead.cut(start_ms, end_ms), self.database.run(self.database.slice_hot, start_ms, end_ms)]
        )
        rows = len(columns.series)
        if self._head.nbytes + rows * _BYTES_PER_SAMPLE > self._settings.head_bytes * 0.9:
            return False
        block = build_block(columns.series, columns.timestamps, columns.values) if rows else None
        self._head.extend_back(block, start_ms)
        self._slice_ms = int(self._slice_ms * min(max(_LOAD_ROWS / max(rows, 1), 0.25), 8))
        return True

    @contextmanager
    def keeping_order(self) -> Generator[None]:
        """Run one maintenance job at a time; reopen a database that an error made unusable."""
        with self._maintaining:
            try:
                yield
            except Exception as error:
                self.writer.mend(error)
                raise

    def _maintain(self) -> float:
        """Load some of the head, or else seal, delete, convert and fold in the log; the seconds until the next time."""
        pause_s = self._settings.maintenance_ms / 1000
        try:
            if self._loading and not self._check.is_urgent:
                self._loading = self._load_next_slice()
                return 0.0
            with self.keeping_order():
                checked_s = self._check.step()
            if checked_s is not None:
                pause_s = min(pause_s, checked_s)
            if not self._loading and self._check.allows_changes:
                pause_s = min(pause_s, self._keep_file())
        except Exception as error:
            # A full disk, for example: commits have their own answer to it, and the next look comes soon.
            log.error("maintenance failed", error=str(error))
            self._loading = False
            self._check.meet(error)
        return 0.0 if self._check.is_urgent else pause_s

    def _keep_file(self) -> float:
        """Seal, delete, convert and fold in the log; the longest pause until the next time."""
        self._seal_what_is_due()
        if self._pinned is not None and self._clock() >= self._next_retention:
            self.apply_retention(DAY_MS)
            self._next_retention = self._clock() + _RETENTION_PAUSE_MS
        with self.keeping_order():
            converted_s = self.upkeep.convert()
            if converted_s is None:
                converted_s = self.upkeep.roll_up()
            if converted_s is None:
                self.upkeep.join_days(self._clock() - self._settings.seal_delay_ms - HOUR_MS)
                self.upkeep.give_back_room()
        # As long as it took: half of the time is others'.
        return math.inf if converted_s is None else converted_s

    def _seal_what_is_due(self) -> None:
        rows, oldest_ms = self.database.hot_rows()
        newest_ms = self.writer.newest_ms
        if oldest_ms is None or newest_ms is None:
            return
        hour_start = (self._clock() - self._settings.seal_delay_ms) // HOUR_MS * HOUR_MS
        if rows > self._settings.seal_rows:
            self.seal(newest_ms + 1)
        elif oldest_ms < hour_start:
            self.seal(hour_start)

    def _forget(self, cutoff_ms: int, pinned: Sequence[tuple[int, int]]) -> None:
        """Forget series of which nothing is left; runs between two commits, so none of them gets new samples.

        Rollups keep theirs, unless new series would have no room: what ended first goes first then.
        """
        self._head.view()
        ids = silent = self._index.silent_since(cutoff_ms, pinned)
        if silent:
            rolled = self.database.rolled_series()
            ids = [one for one in silent if one not in rolled]
            too_many = len(self._index) - len(ids) - int(self._settings.series_limit * _MOST_REMEMBERED)
            if too_many > 0 and len(ids) < len(silent) and not self.database.run(rollups.unrolled_hours):
                ended = [one for one in silent if one in rolled][:too_many]
                log.warning("rollups of series that ended are deleted: new series need room", series=len(ended))
                ids += ended
        if ids:
            self.database.forget_series(ids)
            self._index.remove(ids)


_EMPTY = Selection(
    labels=(), offsets=np.zeros(1, np.int64), timestamps=np.empty(0, np.int64), values=np.empty(0, np.float64)
)


def _union(groups: Sequence[Ids]) -> Ids:
    return groups[0] if len(groups) == 1 else np.unique(np.concatenate([np.empty(0, np.uint32), *groups]))


def open_embedded(settings: EmbeddedSettings, clock: Callable[[], int]) -> EmbeddedStore:
    """Open the data directory, made if it does not exist; `clock` tells the time in ms since the epoch.

    Raises:
        DataDirectoryError: it cannot be used, or another process uses it.
    """
    lock = acquire_lock(settings.data_directory)
    try:
        database = Database(settings)
    except BaseException:
        os.close(lock)
        raise
    try:
        return EmbeddedStore(settings, clock, lock, database)
    except BaseException as error:
        if isinstance(error, duckdb.Error):
            table = database.unreadable_table()
            error = unreadable(settings.data_directory, error, table)
        database.close()
        os.close(lock)
        raise error
