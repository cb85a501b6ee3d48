"""Reads samples of known series from memory and disk, within limits, and refuses what damage has taken.

Reading beside DuckDB finds damage that its cache hides, at the speed of the disk, and without the locks of a query.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import duckdb
import numpy as np
import structlog

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.core.database.set_aside import SAMPLES, salvage_command
from loadwatch_backend.series.store.embedded import rollups, sealed
from loadwatch_backend.series.store.embedded.arrow import Columns
from loadwatch_backend.series.store.embedded.block import (
    F64,
    I64,
    LATEST_MS,
    TIME_BITS,
    U32,
    Cut,
    build_block,
    count_rows,
    cut_block,
    cut_rows,
    join_cuts,
)
from loadwatch_backend.series.store.embedded.damage import (
    BLOCK_BYTES,
    HEADERS,
    SEALED,
    disk_errors,
    is_damage,
    is_whole,
    losses_on,
)
from loadwatch_backend.series.store.embedded.database import Database, id_condition
from loadwatch_backend.series.store.embedded.rollups import Minutes, joined_minutes, roll_up
from loadwatch_backend.series.store.embedded.series_index import Ids
from loadwatch_backend.series.store.embedded.settings import HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.embedded.writer import HeadView
from loadwatch_backend.series.store.errors import QueryLimitError, StoreReadError, StoreWriteError
from loadwatch_backend.series.store.levels import MINUTE_MS, MINUTE_SAMPLES, MinuteColumns, Span, joined_spans
from loadwatch_backend.series.store.losses import Loss, loss_text
from loadwatch_backend.series.store.port import Reading

log = structlog.get_logger(__name__)

STEP_BLOCKS = (64 << 20) // BLOCK_BYTES
"""Read in one step: some 50 ms."""
IDLE_SHARE = 20
"""A step is followed by a pause of so many times its own length: five percent of a core."""
AGAIN_SECONDS = 24 * 3_600.0
_URGENT_SECONDS = 60.0


class Check:
    """One pass after the start, one a day, and one whenever damage was met. One thread at a time.

    While the file is damaged nothing in it is moved or deleted: each of that reads blocks, and a checkpoint that meets
    a damaged one invalidates the database.
    """

    def __init__(self, database: Database, run: Callable[[Callable[[], None]], None], earlier: Sequence[Loss]) -> None:
        """`run` does a job between two commits, so that no checkpoint is under way; `earlier` was lost before."""
        self._database = database
        self._run = run
        self._earlier = earlier
        self._found: dict[int, list[Loss]] = {}
        self._next = -HEADERS
        self._due = 0.0
        self.is_urgent = False
        self._urgent_at = -_URGENT_SECONDS
        self._passed = False
        self.losses: Sequence[Loss] = earlier
        """What damage took, and what it holds; for any thread."""
        self.checked_blocks = 0

    @property
    def allows_changes(self) -> bool:
        """Whether the first pass is over and found nothing."""
        return self._passed and not self._found and not self.is_urgent

    def refuse_changes(self) -> None:
        """Raise StoreWriteError where the file is damaged."""
        if self._found:
            raise StoreWriteError(
                f"{SAMPLES} is damaged ({loss_text(self.losses)}): nothing in it is sealed, moved or deleted"
            )

    def meet(self, error: BaseException) -> None:
        """Compare all blocks at once if an error says that the file is damaged. For any thread."""
        now = time.monotonic()
        if is_damage(error) and now >= self._urgent_at + _URGENT_SECONDS:
            self.is_urgent, self._urgent_at = True, now

    def step(self) -> float | None:
        """Compare some blocks, or all when damage was met; the pause in seconds after it, None when none is due."""
        begin = time.monotonic()
        if not self.is_urgent and begin < self._due:
            return None
        total = self._database.total_blocks()
        first, end = self._next, min(self._next + STEP_BLOCKS, total)
        if self.is_urgent:
            first, end, self.is_urgent = -HEADERS, total, False
        wrong = [one for one in range(first, end) if one not in self._found and not is_whole(self._database.file, one)]
        if wrong:
            self._run(lambda: self._note(wrong))
        self.checked_blocks += end - max(first, 0)
        self._next = end
        if end >= total:
            self._next, self._due, self._passed = -HEADERS, time.monotonic() + AGAIN_SECONDS, True
        return (time.monotonic() - begin) * IDLE_SHARE

    def _note(self, suspects: Sequence[int]) -> None:
        for number in suspects:
            if is_whole(self._database.file, number):
                continue
            # Not in a transaction, which the first block that cannot be read would end.
            with closing(self._database.cursor()) as cursor:
                lost = losses_on(cursor, number)
            if not lost:
                continue
            self._found[number] = lost
            log.error(
                "the file of samples is damaged: restore a backup, or run `loadwatch store salvage` without the server",
                file=SAMPLES,
                block=number,
                damaged=loss_text(lost),
            )
            if any(one.part not in SEALED for one in lost):
                self._database.hold_log()
        found = {(one.part, one.first_ms, one.last_ms): one for lost in self._found.values() for one in lost}
        self.losses = [*self._earlier, *sorted(found.values(), key=lambda one: (one.first_ms or 0, one.part))]


_NEVER = Cancellation()
SAMPLE_TABLES = ("segments", "hot")


@dataclass
class SampleReader:
    """Safe to use from any thread."""

    _settings: EmbeddedSettings
    _database: Database
    _check: Check
    _earlier: Sequence[Loss]
    _oldest_ms: Callable[[], int | None]

    def cuts(self, view: HeadView, ids: Ids, start_ms: int, end_ms: int, reading: Reading | None) -> list[Cut]:
        """All samples of the ids in a span, in order of arrival.

        Raises:
            QueryLimitError: more than one query may load; and what `reading` raises.
            StoreReadError: the disk did not give them, or lost some.
        """
        self.refuse_lost(SAMPLE_TABLES, ids, start_ms, end_ms)
        recent_ms = max(start_ms, view.complete_ms)
        cuts = [
            cut_block(block, ids, recent_ms, end_ms)
            for block in view.blocks
            if block.first_ms <= end_ms and block.last_ms >= recent_ms
        ]
        count = count_rows(cuts)
        if reading is not None:
            reading.reserve(count)
        most = self._settings.query_samples
        if count <= most and start_ms < view.complete_ms and self.may_hold_before(view.complete_ms):
            older = self._read(ids, start_ms, min(end_ms, view.complete_ms - 1), most, count, reading)
            count += count_rows(older)
            cuts = older + cuts
        if count > most:
            raise self._too_many(ids, start_ms, end_ms)
        return cuts

    def _too_many(self, ids: Ids, start_ms: int, end_ms: int) -> QueryLimitError:
        return QueryLimitError(
            f"{len(ids)} series from {start_ms} to {end_ms} ms hold more than {self._settings.query_samples} samples,"
            " which is as many as one query may load; ask for fewer series or a shorter range, or raise"
            " LOADWATCH_QUERY_MEMORY_BYTES"
        )

    def may_hold_before(self, time_ms: int) -> bool:
        oldest_ms = self._oldest_ms()
        return oldest_ms is not None and oldest_ms < time_ms

    def _read(self, ids: Ids, start_ms: int, end_ms: int, most: int, there: int, reading: Reading | None) -> list[Cut]:
        """What the disk has besides the samples that are `there`; how many that is shows once they are read."""
        cancellation = _NEVER
        if reading is not None:
            cancellation = reading.cancellation
            most = min(most, max(reading.most_samples - there, 0))
            reading.reserve(most)
        try:
            with disk_errors():
                sure = there + self._database.run(sealed.count_whole, id_condition(ids), start_ms, end_ms)
                if reading is not None and sure > reading.most_samples:
                    # Raises, as below, before anything is loaded.
                    reading.reserve(sure)
                if sure > self._settings.query_samples:
                    raise self._too_many(ids, start_ms, end_ms)
                columns = self._database.select(ids, start_ms, end_ms, most + 1, cancellation)
        except duckdb.InterruptException:
            cancellation.check()
            raise
        except StoreReadError as error:
            if error.__cause__ is not None:
                self._check.meet(error.__cause__)
            raise
        found = [_cut(one, ids, start_ms, end_ms) for one in columns if len(one.series)]
        count = count_rows(found)
        if reading is not None and there + count > reading.most_samples:
            # Raises, because it is more than may be.
            reading.reserve(there + count)
        return found

    def refuse_lost(self, parts: Sequence[str], ids: Ids, start_ms: int, end_ms: int) -> None:
        """Raise StoreReadError where an earlier version took damaged rows of these series and times out of a table."""
        hit = [
            one
            for one in self._earlier
            if one.part in parts
            and (one.first_ms is None or one.first_ms <= end_ms)
            and (one.last_ms is None or one.last_ms >= start_ms)
            and (one.ids is None or np.isin(np.array(one.ids, np.uint32), ids).any())
        ]
        if hit:
            raise StoreReadError(
                f"A damaged disk took a part of these samples ({loss_text(hit)}). Other hours are whole: ask for those."
                f" `{salvage_command(self._settings.data_directory)}`, while the server is stopped, makes a file that"
                " answers these hours with what is left of them."
            )


def _cut(columns: Columns, ids: Ids, start_ms: int, end_ms: int) -> Cut:
    if columns.ordered:
        return cut_rows(columns.series, columns.timestamps, columns.values, ids, start_ms, end_ms)
    return cut_block(build_block(columns.series, columns.timestamps, columns.values), ids, start_ms, end_ms)


Rows = TypeVar("Rows", Columns, Minutes)
ReadSamples = Callable[[U32, int, int, Reading], list[Cut]]


@dataclass(slots=True)
class Remainder:
    """What is left of a reading whose memory is taken already: `loadwatch_backend.series.store.port.Reading`."""

    whole: Reading
    most_samples: int

    @property
    def cancellation(self) -> Cancellation:
        return self.whole.cancellation

    def reserve(self, samples: int) -> None:
        """See `Reading`. Reserves nothing; raises when it is more than is left."""
        if samples > self.most_samples:
            # Raises, because it is more than may be.
            self.whole.reserve(self.whole.most_samples - self.most_samples + samples)

    def use(self, samples: int) -> None:
        self.reserve(samples)
        self.most_samples -= samples


@dataclass
class RollupReader:
    """Reads both levels as one. `samples` reads all samples of rising ids within a span."""

    _database: Database
    _samples: ReadSamples
    _query_samples: int

    def last(self, ids: U32, start_ms: int, end_ms: int, reading: Reading) -> tuple[I64, I64, F64]:
        """Offsets, times and values of the last samples of minutes, of rising ids; see `Level.LAST`.

        Raises:
            As `Reader.select`.
        """
        share = self._remainder(reading)
        stored, spans = self._stored(rollups.read_last, ids, start_ms, end_ms, share, 1)
        kept = _outside(stored.timestamps, spans)
        cuts: list[Cut] = []
        if kept.any():
            block = build_block(stored.series[kept], stored.timestamps[kept], stored.values[kept])
            cuts.append(cut_block(block, ids, 0, LATEST_MS))
            share.use(len(block))
        for span in spans:
            found = self._samples(ids, *span, share)
            share.use(count_rows(found))
            cuts += found
        return join_cuts(cuts, len(ids))

    def minutes(
        self, ids: U32, start_ms: int, end_ms: int, reading: Reading, *, ends_only: bool
    ) -> tuple[I64, I64, F64, MinuteColumns]:
        """Offsets, ends, last samples and the rest of the minutes of rising ids whose last sample is in the span.

        `ends_only` as in `Level.ENDS`.
        """
        share = self._remainder(reading)
        read = partial(rollups.read, ends_only=ends_only)
        stored, spans = self._stored(read, ids, start_ms, end_ms, share, MINUTE_SAMPLES)
        parts = [stored.keep(_outside(stored.last.timestamps, spans))]
        share.use(len(parts[0].last.series) * MINUTE_SAMPLES)
        for span in spans:
            offsets, times, values = join_cuts(self._samples(ids, *span, share), len(ids))
            ranks = np.repeat(np.arange(len(ids), dtype=np.uint64), np.diff(offsets))
            rolled = roll_up(ids, (ranks << TIME_BITS) | times.astype(np.uint64), values)
            share.use(len(rolled.last.series) * MINUTE_SAMPLES)
            parts.append(rolled)
        whole = joined_minutes(parts)
        real = whole.real
        series, last_ms = whole.last.series[real], whole.last.timestamps[real]
        offsets = np.append(np.searchsorted(series, ids), len(series)).astype(np.int64)
        return offsets, -(-last_ms // MINUTE_MS) * MINUTE_MS, whole.last.values[real], whole.rest

    def _remainder(self, reading: Reading) -> Remainder:
        most = min(reading.most_samples, self._query_samples)
        reading.reserve(most)
        return Remainder(reading, most)

    def _stored(
        self,
        read: Callable[[duckdb.DuckDBPyConnection, str, int, int, Cancellation], Rows],
        ids: U32,
        start_ms: int,
        end_ms: int,
        share: Remainder,
        weight: int,
    ) -> tuple[Rows, list[Span]]:
        """What the table has, and the spans of time for which samples have to be read; of one state of the tables."""
        condition = id_condition(ids)
        try:
            with disk_errors(), self._database.reading() as cursor, share.cancellation.interrupting(cursor.interrupt):
                hours = self._database.unsettled_hours(cursor, start_ms, end_ms)
                # What they have at most is known without a look: of each minute a sample, and a marker after it.
                if len(ids) * 2 * ((end_ms - start_ms) // MINUTE_MS + 2) * weight > share.most_samples:
                    share.reserve(rollups.count_whole(cursor, condition, start_ms, end_ms) * weight)
                spans = joined_spans(
                    (max(hour * HOUR_MS, start_ms), min((hour + 1) * HOUR_MS - 1, end_ms)) for hour in hours
                )
                return read(cursor, condition, start_ms, end_ms, share.cancellation), spans
        except duckdb.InterruptException:
            share.cancellation.check()
            raise


def _outside(times: I64, spans: Sequence[Span]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    kept = np.ones(len(times), np.bool_)
    for first, last in spans:
        kept &= (times < first) | (times > last)
    return kept
