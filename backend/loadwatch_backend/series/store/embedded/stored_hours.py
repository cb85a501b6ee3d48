"""The samples of a data directory whose server is stopped, hour by hour, for what takes them elsewhere."""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.series.store.embedded import opening
from loadwatch_backend.series.store.embedded.block import TIME_BITS, TIME_MASK, build_block
from loadwatch_backend.series.store.embedded.damage import disk_errors
from loadwatch_backend.series.store.embedded.database import Database, id_condition
from loadwatch_backend.series.store.embedded.lock import acquire_lock
from loadwatch_backend.series.store.embedded.series_index import Ids, unflatten
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Labels, MetricMetadata, Selection

_SEARCHED_IDS = 4_096
"""Ids that are named in one statement; more of them are read in several."""


class StoredHours:
    def __init__(self, database: Database) -> None:
        self._database = database
        with disk_errors():
            self._labels = {one.id: one.labels for one in database.series()}

    def hours(self) -> dict[int, int]:
        """How many samples the hours have at most, by their first millisecond, rising; raises StoreReadError."""
        with disk_errors():
            return dict(sorted(self._database.rows_by_hour().items()))

    def counts(self, hour_ms: int) -> tuple[Ids, npt.NDArray[np.int64]]:
        """Rising ids of the series of an hour, and how many samples each has at most; raises StoreReadError.

        "At most", because a sample that was sent twice may be there twice until its hour is sealed.
        """
        with disk_errors(), self._database.reading() as cursor:
            rows = self._database.rows_by_series(cursor, hour_ms)
        # Series that retention forgot: their samples have no name.
        rows = [row for row in rows if row[0] in self._labels]
        found = np.array(rows, np.int64).reshape(-1, 2)
        return found[:, 0].astype(np.uint32), found[:, 1]

    def labels(self, series_id: int) -> Labels:
        return unflatten(self._labels[series_id])

    def metadata(self) -> Mapping[str, MetricMetadata]:
        """All metadata, by metric; raises StoreReadError."""
        with disk_errors():
            return self._database.metadata()

    def read(self, start_ms: int, end_ms: int, ids: Ids) -> Selection:
        """All samples of a span within an hour, of the series with these rising ids; raises StoreReadError.

        The i-th series of the answer is the i-th of those ids that have any.
        """
        firsts = range(0, len(ids), _SEARCHED_IDS)
        parts = [self._read(start_ms, end_ms, ids[first : first + _SEARCHED_IDS]) for first in firsts]
        return parts[0] if len(parts) == 1 else _joined(parts)

    def _read(self, start_ms: int, end_ms: int, ids: Ids) -> Selection:
        with disk_errors(), self._database.reading() as cursor:
            columns = self._database.slice_all(cursor, start_ms, end_ms, id_condition(ids))
        if not len(columns.series):
            return _joined([])
        block = build_block(columns.series, columns.timestamps, columns.values)
        borders = np.arange(len(block.series) + 1, dtype=np.uint64) << TIME_BITS
        return Selection(
            labels=[self.labels(one) for one in block.series.tolist()],
            offsets=np.searchsorted(block.keys, borders).astype(np.int64),
            timestamps=(block.keys & TIME_MASK).astype(np.int64),
            values=block.values,
        )


def _joined(parts: Sequence[Selection]) -> Selection:
    offsets, end = [np.zeros(1, np.int64)], 0
    for part in parts:
        offsets.append(part.offsets[1:] + end)
        end += int(part.offsets[-1])
    return Selection(
        labels=[labels for part in parts for labels in part.labels],
        offsets=np.concatenate(offsets),
        timestamps=np.concatenate([np.empty(0, np.int64), *(part.timestamps for part in parts)]),
        values=np.concatenate([np.empty(0, np.float64), *(part.values for part in parts)]),
    )


@contextmanager
def open_stored_hours(directory: Path, database_bytes: int, database_threads: int) -> Generator[StoredHours]:
    """The store of a data directory, whose lock is held; nothing of it is changed but its log, which is folded in.

    Raises:
        DataDirectoryError: there is none, it cannot be read, or a process uses it.
    """
    if not (directory / opening.FILE).exists():
        raise DataDirectoryError(
            f"{directory} holds no samples ({opening.FILE}): name the server's data directory with --data or"
            " LOADWATCH_DATA"
        )
    settings = EmbeddedSettings(
        data_directory=directory, database_bytes=database_bytes, database_threads=database_threads
    )
    with ExitStack() as stack:
        stack.callback(os.close, acquire_lock(directory))
        database = Database(settings)
        stack.callback(database.close)
        yield StoredHours(database)
