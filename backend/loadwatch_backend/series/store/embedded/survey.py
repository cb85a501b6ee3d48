"""What the store holds, by metric, job and label.

Bytes are exact for a table (blocks of DuckDB, and its log for what is new). Within it they are shared: by what each
series' segments hold, and in tables with a row for each sample by their number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.series_index import Ids, SeriesIndex
from loadwatch_backend.series.store.losses import Loss
from loadwatch_backend.series.store.port import GroupUse, StoreSurvey, TableUse

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSizes:
    """Samples and bytes by series; all arrays have the same length, a series may be there twice."""

    series: npt.NDArray[np.uint32]
    samples: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.float64]
    hot: TableUse
    sealed: TableUse
    rollups: TableUse
    free_bytes: int
    """Within the file, for rows to come."""


def read_sizes(database: Database, *, damaged: bool) -> SeriesSizes:
    """The sizes of all series, of one state of the tables; of a damaged file by samples, without reading their data."""
    with database.reading() as cursor:
        block_bytes, free_blocks = cursor.execute(_BLOCKS).fetchone() or (0, 0)
        tables: list[TableUse] = []
        series: list[npt.NDArray[np.uint32]] = []
        samples: list[npt.NDArray[np.int64]] = []
        sizes: list[npt.NDArray[np.float64]] = []
        for table in database.tables():
            (blocks,) = cursor.execute(_TABLE_BLOCKS.format(table=table)).fetchone() or (0,)
            rows = cursor.execute(_USES[table].format(weight="samples" if damaged else _WEIGHT)).fetchall()
            found = np.array(rows, np.int64).reshape(-1, 3)
            series.append(found[:, 0].astype(np.uint32))
            samples.append(found[:, 1])
            # What came in since the last checkpoint stands in the log alone.
            used = blocks * block_bytes + (database.log_bytes() if table == "hot" else 0)
            sizes.append((found[:, 2] * (used / max(int(found[:, 2].sum()), 1))).astype(np.float64))
            tables.append(TableUse(samples=int(found[:, 1].sum()), bytes=used))
        minutes, *_ = cursor.execute("SELECT sum(minutes) FROM rollups").fetchone() or (0,)
        (blocks,) = cursor.execute(_TABLE_BLOCKS.format(table="rollups")).fetchone() or (0,)
    return SeriesSizes(
        series=np.concatenate(series),
        samples=np.concatenate(samples),
        bytes=np.concatenate(sizes),
        hot=tables[0],
        sealed=TableUse(samples=sum(one.samples for one in tables[1:]), bytes=sum(one.bytes for one in tables[1:])),
        rollups=TableUse(samples=int(minutes or 0), bytes=blocks * block_bytes),
        free_bytes=free_blocks * block_bytes,
    )


def survey_store(
    database: Database, index: SeriesIndex, span_ms: tuple[int | None, int | None], losses: Sequence[Loss]
) -> StoreSurvey:
    """See `Surveyor.survey`; `span_ms` is that of all samples."""
    sizes = read_sizes(database, damaged=bool(losses))
    return StoreSurvey(
        file_bytes=database.nbytes(),
        free_bytes=sizes.free_bytes,
        hot=sizes.hot,
        sealed=sizes.sealed,
        rollups=sizes.rollups,
        series=len(index),
        oldest_ms=span_ms[0],
        newest_ms=span_ms[1],
        metrics=group_uses(index.postings("__name__"), sizes),
        jobs=group_uses(index.postings("job"), sizes),
        losses=losses,
        labels=sorted(index.value_counts().items(), key=lambda item: (-item[1], item[0])),
    )


def group_uses(postings: Mapping[str, Ids], sizes: SeriesSizes) -> list[GroupUse]:
    """Series, samples and bytes by the values of one label, the largest first; the empty value is that of none.

    `postings` has the ids of all series with each value.
    """
    highest = max((int(ids.max(initial=0)) for ids in postings.values()), default=0)
    highest = max(highest, int(sizes.series.max(initial=0)))
    samples = np.bincount(sizes.series, sizes.samples, minlength=highest + 1)
    used = np.bincount(sizes.series, sizes.bytes, minlength=highest + 1)
    groups = [
        GroupUse(name=value, series=len(ids), samples=int(samples[ids].sum()), bytes=round(float(used[ids].sum())))
        for value, ids in postings.items()
    ]
    return sorted(groups, key=lambda group: (-group.bytes, -group.series, group.name))
