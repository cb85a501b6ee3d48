"""Minutes of some series: from the table where it has them, made of samples where those are not sealed yet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import duckdb
import numpy as np

from loadwatch_backend.core.cancellation import Cancellation
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
    join_cuts,
)
from loadwatch_backend.series.store.embedded.database import Database, id_condition
from loadwatch_backend.series.store.embedded.disk_errors import disk_errors
from loadwatch_backend.series.store.embedded.rollups import table
from loadwatch_backend.series.store.embedded.rollups.packing import Minutes, joined_minutes, roll_up
from loadwatch_backend.series.store.embedded.settings import HOUR_MS
from loadwatch_backend.series.store.levels import MINUTE_MS, MINUTE_SAMPLES, MinuteColumns, Span, joined_spans
from loadwatch_backend.series.store.port import Reading

Rows = TypeVar("Rows", Columns, Minutes)
ReadSamples = Callable[[U32, int, int, Reading], list[Cut]]


@dataclass(slots=True)
class Remainder:
    """What is left of a reading whose memory is taken already: `loadwatch_backend.series.store.port.Reading`."""

    whole: Reading
    most_samples: int

    @property
    def cancellation(self) -> Cancellation:
        """See `Reading`."""
        return self.whole.cancellation

    def reserve(self, samples: int) -> None:
        """See `Reading`; takes nothing."""
        if samples > self.most_samples:
            # Raises, because it is more than may be.
            self.whole.reserve(self.whole.most_samples - self.most_samples + samples)

    def use(self, samples: int) -> None:
        """So many are there."""
        self.reserve(samples)
        self.most_samples -= samples


class RollupReader:
    """Reads both levels as one. `samples` reads all samples of rising ids within a span."""

    def __init__(self, database: Database, samples: ReadSamples, query_samples: int) -> None:
        self._database = database
        self._samples = samples
        self._query_samples = query_samples

    def last(self, ids: U32, start_ms: int, end_ms: int, reading: Reading) -> tuple[I64, I64, F64]:
        """Offsets, times and values of the last samples of minutes, of rising ids; see `Level.LAST`.

        Raises:
            As `Reader.select`.
        """
        share = self._remainder(reading)
        stored, spans = self._stored(table.read_last, ids, start_ms, end_ms, share, 1)
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
        read = partial(table.read, ends_only=ends_only)
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
                    share.reserve(table.count_whole(cursor, condition, start_ms, end_ms) * weight)
                return read(cursor, condition, start_ms, end_ms, share.cancellation), _spans(hours, start_ms, end_ms)
        except duckdb.InterruptException:
            share.cancellation.check()
            raise


def _spans(hours: Sequence[int], start_ms: int, end_ms: int) -> list[Span]:
    """Rising hours as spans, within one."""
    return joined_spans((max(hour * HOUR_MS, start_ms), min((hour + 1) * HOUR_MS - 1, end_ms)) for hour in hours)


def _outside(times: I64, spans: Sequence[Span]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    kept = np.ones(len(times), np.bool_)
    for first, last in spans:
        kept &= (times < first) | (times > last)
    return kept
