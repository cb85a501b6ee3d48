"""What keeps the embedded store in order beside its commits: sealing, converting, giving back room, loading."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import structlog

from loadwatch_backend.series.store.embedded import rollups, sealed
from loadwatch_backend.series.store.embedded.arrow import Columns
from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.series_index import Ids, SeriesIndex
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS
from loadwatch_backend.series.store.losses import Loss
from loadwatch_backend.series.store.port import GroupUse, StoreSurvey, TableUse

log = structlog.get_logger(__name__)

_AHEAD_ROWS = 2_000_000
_DEAD_BYTES = 256 << 20
"""Less is used again soon: a table of samples in order of arrival comes and goes each hour."""
_MOVE_PAUSE_S = 3_600


class SealedAhead:
    """Sealed samples on their way into the head, decoded before the writer waits for them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._columns: Columns | None = None
        self._last_ms = -1
        self.first_ms = 0

    def look(self, end_ms: int, span_ms: int) -> None:
        """Decode what ends at `end_ms`, its hour or `span_ms` if that is longer, unless it is decoded."""
        if self.covers(end_ms):
            return
        self.forget()
        first_ms = max(min(end_ms // HOUR_MS * HOUR_MS, end_ms - span_ms + 1), 0)
        rows = self._database.sealed_rows(first_ms, end_ms)
        if rows > _AHEAD_ROWS:
            first_ms = end_ms - (end_ms - first_ms) * _AHEAD_ROWS // rows
        self._columns = self._database.run(self._database.slice_sealed, first_ms, end_ms)
        self.first_ms, self._last_ms = first_ms, end_ms

    def covers(self, time_ms: int) -> bool:
        return self._columns is not None and self.first_ms <= time_ms <= self._last_ms

    def cut(self, start_ms: int, end_ms: int) -> Columns:
        """Those with start_ms <= time <= end_ms; it must cover both."""
        columns = self._columns
        if columns is None:
            raise ValueError("nothing was looked at")
        return columns.pick(np.flatnonzero((columns.timestamps >= start_ms) & (columns.timestamps <= end_ms)))

    def forget(self) -> None:
        self._columns, self.first_ms, self._last_ms = None, 0, -1


class Upkeep:
    """Moves samples within the file; `checkpoint` folds its log in, between two commits. One thread at a time."""

    def __init__(self, database: Database, checkpoint: Callable[[], Any], stopping: threading.Event) -> None:
        self._database = database
        self._checkpoint = checkpoint
        self._stopping = stopping
        self._left: dict[str, Sequence[Any]] = {}
        self.joined_day: int | None = None
        self._moved_at: float | None = None
        self.sealed_rows = 0

    def seal(self, before_ms: int) -> int:
        count = 0
        for piece in self._database.run(sealed.pieces, "hot", before_ms):
            moved = self._database.run(sealed.seal, "hot", piece, newer=True)
            self.sealed_rows += moved
            if self.joined_day is not None and piece.first_ms // DAY_MS < self.joined_day:
                # Of an import, or of an agent that was away: days that were joined have rows apart again.
                self.joined_day = None
            count += moved
        if count:
            self._checkpoint()
        return count

    def convert(self) -> float | None:
        """Convert one piece of what an earlier version sealed; the seconds it took, or None when there is nothing."""
        return self._next(
            "pieces",
            self._database.pieces_to_convert,
            lambda piece: self._database.run(sealed.seal, "sorted", piece, newer=False),
            "sealed samples of an earlier version are converted",
            "all sealed samples of an earlier version are converted",
        )

    def roll_up(self) -> float | None:
        """Make the rollups of an hour that an earlier version sealed; returns as `convert`."""
        return self._next(
            "hours",
            lambda: self._database.run(rollups.unrolled_hours),
            lambda hour: self._database.run(sealed.roll_up, hour),
            "rollups are made of samples of an earlier version",
            "all samples of an earlier version have rollups",
        )

    def _next(
        self, what: str, find: Callable[[], Sequence[Any]], work: Callable[[Any], object], begun: str, ended: str
    ) -> float | None:
        # Taken out until it is done: after an error it is looked for anew, because it may be done, and its table gone.
        waiting = self._left.pop(what, None)
        if waiting is None and (waiting := find()):
            log.info(begun, **{what: len(waiting)})
        begin = time.monotonic()
        if waiting:
            work(waiting[0])
            self._checkpoint()
        self._left[what] = waiting[1:]
        if len(waiting) == 1:
            log.info(ended)
        return time.monotonic() - begin if waiting else None

    def join_days(self, before_ms: int) -> None:
        day = before_ms // DAY_MS
        if self.joined_day == day:
            return
        for piece in self._database.run(rollups.pieces_to_join, before_ms):
            if self._stopping.is_set():
                return
            self._database.run(rollups.join, piece)
            self._checkpoint()
        # Hours that have no rollups yet are joined when they have.
        if not self._left.get("hours"):
            self.joined_day = day

    def give_back_room(self, *, asked: bool = False) -> None:
        """Make the file shorter when more than half of it holds nothing; by itself only where that is much.

        DuckDB puts what is written into the first free room, and cuts the file off behind the last block in use: all
        segments and rollups are written again, some hours in each transaction.
        """
        if not asked and self._moved_at is not None and time.monotonic() < self._moved_at + _MOVE_PAUSE_S:
            return
        dead, used = self._database.dead_bytes()
        if dead < max(0 if asked else _DEAD_BYTES, used):
            return
        self._moved_at = time.monotonic()
        before = self._database.nbytes()
        for one in self._database.run(sealed.moves):
            if self._stopping.is_set():
                return
            self._database.run(sealed.move, one)
            self._checkpoint()
        log.info("room was given back to the disk", bytes_before=before, bytes_after=self._database.nbytes())


_BLOCKS = "SELECT block_size, free_blocks FROM pragma_database_size()"
_TABLE_BLOCKS = """
SELECT count(DISTINCT block_id) FROM (
    SELECT block_id FROM pragma_storage_info('{table}') WHERE persistent
    UNION ALL SELECT unnest(additional_block_ids) FROM pragma_storage_info('{table}') WHERE persistent
)
"""
_WEIGHT = "octet_length(data) + 50"
_USES = {
    "hot": "SELECT series_id, count(*), count(*) FROM hot GROUP BY series_id",
    "segments": "SELECT series_id, sum(samples)::BIGINT, sum({weight})::BIGINT FROM segments GROUP BY series_id",
    "sorted": "SELECT series_id, count(*), count(*) FROM sorted GROUP BY series_id",
}
"""Of each table: series, samples, and a weight by which it shares the table's bytes."""


def survey_store(
    database: Database, index: SeriesIndex, span_ms: tuple[int | None, int | None], losses: Sequence[Loss]
) -> StoreSurvey:
    """See `Surveyor.survey`; `span_ms` is that of all samples.

    All of one state of the tables; of a damaged file series have bytes by their samples, whose data is not read.
    """
    tables: list[TableUse] = []
    sizes: list[npt.NDArray[np.float64]] = []
    with database.reading() as cursor:
        block_bytes, free_blocks = cursor.execute(_BLOCKS).fetchone() or (0, 0)
        for table in database.tables():
            (blocks,) = cursor.execute(_TABLE_BLOCKS.format(table=table)).fetchone() or (0,)
            rows = cursor.execute(_USES[table].format(weight="samples" if losses else _WEIGHT)).fetchall()
            found = np.array(rows, np.float64).reshape(-1, 3)
            # What came in since the last checkpoint stands in the log alone.
            used = blocks * block_bytes + (database.log_bytes() if table == "hot" else 0)
            found[:, 2] *= used / max(int(found[:, 2].sum()), 1)
            sizes.append(found)
            tables.append(TableUse(samples=int(found[:, 1].sum()), bytes=used))
        minutes, *_ = cursor.execute("SELECT sum(minutes) FROM rollups").fetchone() or (0,)
        (blocks,) = cursor.execute(_TABLE_BLOCKS.format(table="rollups")).fetchone() or (0,)
    by_series = np.concatenate(sizes)
    return StoreSurvey(
        file_bytes=database.nbytes(),
        free_bytes=free_blocks * block_bytes,
        hot=tables[0],
        sealed=TableUse(samples=sum(one.samples for one in tables[1:]), bytes=sum(one.bytes for one in tables[1:])),
        rollups=TableUse(samples=int(minutes or 0), bytes=blocks * block_bytes),
        series=len(index),
        oldest_ms=span_ms[0],
        newest_ms=span_ms[1],
        metrics=group_uses(index.postings("__name__"), by_series),
        jobs=group_uses(index.postings("job"), by_series),
        losses=losses,
        labels=sorted(index.value_counts().items(), key=lambda item: (-item[1], item[0])),
    )


def group_uses(postings: Mapping[str, Ids], by_series: npt.NDArray[np.float64]) -> list[GroupUse]:
    """Series, samples and bytes by the values of one label, the largest first; the empty value is that of none.

    `postings` has the ids of all series with each value, and `by_series` rows of id, samples and bytes.
    """
    room = 1 + max((int(ids.max(initial=0)) for ids in postings.values()), default=0)
    series = by_series[:, 0].astype(np.int64)
    samples, used = (np.bincount(series, by_series[:, column], minlength=room) for column in (1, 2))
    groups = [
        GroupUse(name=value, series=len(ids), samples=int(samples[ids].sum()), bytes=round(float(used[ids].sum())))
        for value, ids in postings.items()
    ]
    return sorted(groups, key=lambda group: (-group.bytes, -group.series, group.name))
