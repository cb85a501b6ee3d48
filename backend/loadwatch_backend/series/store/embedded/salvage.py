"""Copies what DuckDB can read of a damaged file of samples into a new one, row by row where it has to be."""

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.core.database.set_aside import SAMPLES
from loadwatch_backend.series.store.embedded.damage import bounds, is_damage
from loadwatch_backend.series.store.embedded.opening import SCHEMA, unreadable
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS
from loadwatch_backend.series.store.losses import Loss

_TABLES = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'old' AND table_name <> 'lost'"
_COPY = "INSERT INTO {table} SELECT * FROM old.{table} WHERE rowid BETWEEN ? AND ?"
_PROBE = "SELECT hash(COLUMNS(*)) FROM old.{table} WHERE rowid BETWEEN ? AND ?"
_LOST = "SELECT {columns} FROM old.{table} WHERE rowid BETWEEN ? AND ?"
_COLUMNS = {
    "segments": "min(first_ms), max(last_ms), sum(samples)::BIGINT",
    "rollups": "min(first_ms), max(last_ms), sum(minutes)::BIGINT",
    "hot": "min(ts), max(ts), count(*)",
}
_READ_AT_ONCE = 2_048
_COPIED_ROWS = 122_880
_GROUPS = """
SELECT row_group_id, sum(count)::BIGINT FROM pragma_storage_info('old.{table}')
WHERE column_id = 0 AND segment_type <> 'VALIDITY' GROUP BY row_group_id ORDER BY row_group_id
"""
_NAME = """
INSERT INTO series SELECT id, ['__name__', 'loadwatch_unnamed_series', 'id', id::VARCHAR], min(first_ms), max(last_ms)
FROM (
    SELECT series_id AS id, first_ms, last_ms FROM segments UNION ALL SELECT series_id, first_ms, last_ms FROM rollups
    UNION ALL SELECT series_id, ts, ts FROM hot
) WHERE id NOT IN (SELECT id FROM series) GROUP BY id
"""
_ROLL_UP = f"""
INSERT INTO unrolled SELECT DISTINCT hour FROM segments
WHERE hour // {DAY_MS // HOUR_MS} BETWEEN ? AND ? AND hour NOT IN (SELECT hour FROM unrolled)
"""


def salvage(directory: Path, target: Path) -> tuple[list[Loss], int]:
    """Make a new file of the samples of a directory whose lock the caller holds; what was not read, unnamed series.

    Raises:
        DataDirectoryError: the old file, which stays as it is, cannot be opened, or the new one cannot be written.
    """
    if target.exists() or not (directory / SAMPLES).exists():
        raise DataDirectoryError(f"{target} exists already, or {directory} has no {SAMPLES}; nothing was made")
    losses: list[Loss] = []
    try:
        with (
            TemporaryDirectory(prefix=f"{target.name}.partial-", dir=target.parent) as work,
            duckdb.connect(f"{work}/{SAMPLES}", config={"memory_limit": "512MiB"}) as connection,
        ):
            connection.execute(SCHEMA)
            try:
                path = str(directory / SAMPLES).replace("'", "''")
                connection.execute(f"ATTACH '{path}' AS old (READ_ONLY)")
                tables = [table for (table,) in connection.execute(_TABLES).fetchall()]
            except duckdb.Error as error:
                raise unreadable(directory, error) from error
            for table in tables:
                connection.execute(f"CREATE TABLE IF NOT EXISTS {table} AS FROM old.{table} LIMIT 0")
                losses += _copy(connection, table)
            unnamed = connection.execute(_NAME).fetchone() or (0,)
            for one in losses:
                if one.part == "rollups" and one.first_ms is not None and one.last_ms is not None:
                    connection.execute(_ROLL_UP, [one.first_ms // DAY_MS, one.last_ms // DAY_MS])
            connection.close()
            Path(work, SAMPLES).rename(target)
    except (duckdb.Error, OSError) as error:
        raise DataDirectoryError(f"cannot write {target}: {str(error).partition(chr(10))[0]}") from error
    return losses, unnamed[0]


def _copy(connection: duckdb.DuckDBPyConnection, table: str) -> list[Loss]:
    def works(statement: str, begin: int, end: int) -> bool:
        try:
            connection.execute(statement.format(table=table), [begin, end]).fetchall()
        except duckdb.Error as error:
            if not is_damage(error):
                raise
            return False
        return True

    def take(begin: int, end: int) -> list[Loss]:
        if works(_COPY, begin, end):
            return []
        half = (begin + end) // 2
        # What rests on a block is one run of rows: three of a few tell of all between them.
        few = end - begin < _READ_AT_ONCE
        if begin == end or (few and not any(works(_PROBE, one, one) for one in (begin, half, end))):
            return [_loss(connection, table, begin, end)]
        return take(begin, half) + take(half + 1, end)

    count = (connection.execute(f"SELECT max(rowid) + 1 FROM old.{table}").fetchone() or (0,))[0] or 0
    begins = range(0, count, _COPIED_ROWS)
    return [loss for begin in begins for loss in take(begin, min(begin + _COPIED_ROWS, count) - 1)]


def _loss(connection: duckdb.DuckDBPyConnection, table: str, begin: int, end: int) -> Loss:
    statement = _LOST.format(table=table, columns=_COLUMNS.get(table, "NULL, NULL, count(*)"))
    try:
        first, last, samples = connection.execute(statement, [begin, end]).fetchone() or (None, None, None)
    except duckdb.Error as error:
        if not is_damage(error):
            raise
        groups: list[int] = []
        behind = 0
        for group, count in connection.execute(_GROUPS.format(table=table)).fetchall():
            groups += [group] if begin < behind + count and behind <= end else []
            behind += count
        first, last = bounds(connection, table, groups, "old.") or (None, None)
        counted = connection.execute(_LOST.format(table=table, columns="count(*)"), [begin, end]).fetchone()
        samples = counted[0] if counted and table == "hot" else None
    return Loss(part=table, first_ms=first, last_ms=last, samples=samples)
