"""Rows that rest on damaged blocks leave their table, so that checkpoints, sealing and retention never read them again.

DuckDB reads a damaged block whenever it joins or rewrites the row group that has it, and a checkpoint that fails for it
invalidates the database. So such rows are deleted, which reads none of their columns, and noted in the table `lost`;
the block itself is kept in a file beside the store. What is lost is what cannot be read, with one exception: of the
columns of numbers DuckDB reads 2,048 rows at once, and what is not whole of them goes as one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import duckdb
import structlog

from loadwatch_backend.store.embedded.damage.blocks import BlockFile, empty_strings
from loadwatch_backend.store.embedded.settings import DAY_MS, HOUR_MS
from loadwatch_backend.store.losses import CONTENTS, Loss, loss_text

log = structlog.get_logger(__name__)

SCHEMA = """
CREATE TABLE IF NOT EXISTS lost (
    part VARCHAR NOT NULL, first_ms BIGINT, last_ms BIGINT, ids UINTEGER[], samples BIGINT
);
"""
NAMES = "series"
"""Without its rows samples have no name: nothing of it is taken away while the server runs."""
UNNAMED = "loadwatch_unnamed_series"
"""Name of series whose own is lost; the label `id` tells them apart."""
_READ = "SELECT part, first_ms, last_ms, ids, samples FROM lost ORDER BY first_ms, part"
_READ_PENDING = "SELECT part, first_ms, last_ms FROM lost WHERE samples = ?"
_NOTE = "INSERT INTO lost VALUES (?, ?, ?, ?, ?)"
_NAME = f"""
INSERT INTO series SELECT id, ['__name__', '{UNNAMED}', 'id', id::VARCHAR], min(first_ms), max(last_ms) FROM (
    SELECT series_id AS id, first_ms, last_ms FROM segments UNION ALL SELECT series_id, first_ms, last_ms FROM rollups
    UNION ALL SELECT series_id, ts, ts FROM hot
) WHERE id NOT IN (SELECT id FROM series) GROUP BY id
"""
_TABLES = "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND NOT temporary"
_RESTING = """
SELECT row_group_id, column_name, count, compression, block_id, block_offset FROM pragma_storage_info('{table}')
WHERE persistent AND (block_id = ? OR list_contains(additional_block_ids, ?))
"""
_BOUNDS = """
SELECT min(stats.min::BIGINT), max(stats.max::BIGINT) FROM pragma_storage_info('{table}')
WHERE column_name IN (?, ?) AND segment_type <> 'VALIDITY' AND row_group_id IN (SELECT unnest(?::BIGINT[]))
"""
_CONTENTS = "SELECT count(*) FROM pragma_metadata_info() WHERE block_id = ?"
_ROWS = "SELECT rowid FROM {table} WHERE rowid >= ? ORDER BY rowid"
_PROBE = "SELECT sum(hash({column})) FROM {table} WHERE rowid BETWEEN ? AND ?{within}"
_GONE = "CREATE OR REPLACE TEMP TABLE gone AS SELECT unnest(?::BIGINT[]) AS place"
_DELETE = "DELETE FROM {table} WHERE rowid IN (SELECT place FROM gone)"
_WHERE_GONE = "rowid IN (SELECT place FROM gone)"
# By its hash, because DuckDB knows from its statistics how long no string of them is.
_EMPTIED = "hash({column}) = hash(''::BLOB)"
_BLOBS = {("segments", "data"), ("rollups", "data"), ("rollups", "rest")}
_UNIT = {"segments": ("hour", HOUR_MS), "rollups": ("day", DAY_MS), "hot": ("ts", 1)}
_ENDS = {"segments": ("first_ms", "last_ms"), "rollups": ("first_ms", "last_ms"), "hot": ("ts", "ts")}
_READ_AT_ONCE = 2_048
_PENDING = -1
"""In the place of a number of samples that is still to be counted."""
_TOLD = {
    "segments": "SELECT min(first_ms), max(last_ms), list(DISTINCT series_id), sum(samples)"
    " FROM segments WHERE {where} GROUP BY hour",
    "rollups": "SELECT min(first_ms), max(last_ms), list(DISTINCT series_id), sum(minutes)"
    " FROM rollups WHERE {where} GROUP BY day",
    "hot": "SELECT min(ts), max(ts), list(DISTINCT series_id), count(*)"
    f" FROM hot WHERE {{where}} GROUP BY ts // {HOUR_MS}",
}
_FORGET_OLD = "DELETE FROM lost WHERE last_ms < CASE part WHEN 'rollups' THEN ? ELSE ? END"
_UNROLLED = """
INSERT INTO unrolled SELECT DISTINCT hour FROM segments
WHERE hour BETWEEN ? AND ? AND hour NOT IN (SELECT hour FROM unrolled)
"""
_OLDEST = "SELECT min(hour) FROM segments"
_FORGET = "DELETE FROM lost WHERE part = 'rollups' AND first_ms >= ?"
_SHORTEN = "UPDATE lost SET last_ms = ?, samples = NULL WHERE part = 'rollups' AND first_ms < ? AND last_ms >= ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contained:
    """What became of damaged blocks.

    Attributes:
        losses: all of the file.
        rows: how many rows went, by table.
        left: blocks that nothing could be done about, with their table.
    """

    losses: list[Loss]
    rows: dict[str, int]
    left: dict[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A column of a table that rests on a block, in some of its row groups."""

    table: str
    column: str
    groups: list[int]
    alone: bool
    """It is one piece of uncompressed strings from the block's beginning on."""
    spilt: bool
    """The block has nothing but parts of long strings."""


def is_damage(error: BaseException) -> bool:
    """Whether it says that the file itself is not as it was written."""
    return isinstance(error, duckdb.Error) and "Corrupt" in str(error)


def losses(cursor: duckdb.DuckDBPyConnection) -> list[Loss]:
    """What was lost until now."""
    return [
        Loss(
            part=part,
            first_ms=first,
            last_ms=last,
            ids=None if ids is None else tuple(ids),
            samples=None if samples == _PENDING else samples,
        )
        for part, first, last, ids, samples in cursor.execute(_READ).fetchall()
    ]


def contain(
    cursor: duckdb.DuckDBPyConnection, file: BlockFile, numbers: Sequence[int], suffix: str | None, *, names: bool
) -> Contained:
    """Take the rows on some damaged blocks out of their tables; each block is on its own.

    `suffix` ends the names of the files that blocks are kept in, None keeps none; `names` says whether names of series
    go, too. The cursor is in no transaction, and nothing is sealed meanwhile.

    Raises:
        OSError: a block could not be kept; nothing was taken out then.
    """
    places: list[tuple[int, _Place]] = []
    left: dict[int, str] = {}
    for number in numbers:
        resting = _resting(cursor, number)
        if not resting:
            if cursor.execute(_CONTENTS, [number]).fetchone() != (0,):
                left[number] = CONTENTS
            # Else it is free: DuckDB writes to it before it reads it.
            continue
        if not names and any(place.table == NAMES for place in resting):
            left[number] = NAMES
            continue
        places += [(number, place) for place in resting]

    def keep(number: int) -> None:
        if suffix is not None:
            file.keep(number, suffix)

    found: list[Loss] = []
    rows: dict[str, int] = {}

    def note(number: int, place: _Place, lost: list[Loss], gone: int) -> None:
        found.extend(lost)
        rows[place.table] = rows.get(place.table, 0) + gone
        if lost:
            log.error("a block of the file is damaged", block=number, lost=loss_text(lost))

    # First what makes rows readable again: each search reads rows that rest on other blocks as well.
    emptied = [(number, place, _empty(cursor, file, number, place, keep)) for number, place in places if place.alone]
    for number, place in places:
        if not place.alone:
            note(number, place, *_take_out(cursor, place, partial(keep, number)))
            if place.spilt:
                # DuckDB reads strings of deleted rows along with those beside them.
                file.put(number, file.blank(number))
    for number, place, rough in emptied:
        note(number, place, *_drop_emptied(cursor, place.table, place.column, rough))
    if any(one.part == "rollups" for one in found):
        _make_again(cursor, found)
    return Contained(losses=losses(cursor), rows=rows, left=left)


def forget_before(cursor: duckdb.DuckDBPyConnection, cutoff_ms: int, rollups_ms: int) -> None:
    """Forget losses of hours that would have been deleted for their age by now."""
    cursor.execute(_FORGET_OLD, [rollups_ms, cutoff_ms])


def finish(cursor: duckdb.DuckDBPyConnection) -> None:
    """Go on with what a kill cut off: rows of a block that was emptied, whose number is not noted yet."""
    for part, first, last in cursor.execute(_READ_PENDING, [_PENDING]).fetchall():
        rough = Loss(part=part, first_ms=first, last_ms=last, samples=_PENDING)
        for table, column in sorted(_BLOBS):
            if table == part:
                _drop_emptied(cursor, table, column, rough)


def name_the_unnamed(cursor: duckdb.DuckDBPyConnection) -> int:
    """Give series that samples speak of and that have no name one of ours; how many."""
    row = cursor.execute(_NAME).fetchone()
    return int(row[0]) if row else 0


def _resting(cursor: duckdb.DuckDBPyConnection, number: int) -> list[_Place]:
    found: list[_Place] = []
    for (table,) in cursor.execute(_TABLES).fetchall():
        rows = cursor.execute(_RESTING.format(table=table), [number, number]).fetchall()
        for column in dict.fromkeys(row[1] for row in rows):
            those = [row for row in rows if row[1] == column]
            alone = [(row[3], row[4], row[5]) for row in those] == [("Uncompressed", number, 0)]
            spilt = all(row[4] != number for row in those)
            is_blob = (table, column) in _BLOBS
            groups = sorted({row[0] for row in those})
            found.append(
                _Place(table=table, column=column, groups=groups, alone=alone and is_blob, spilt=spilt and is_blob)
            )
    return found if len(found) == 1 else [replace(one, alone=False, spilt=False) for one in found]


def _empty(
    cursor: duckdb.DuckDBPyConnection, file: BlockFile, number: int, place: _Place, keep: Callable[[int], None]
) -> Loss:
    """Put empty strings into a block: its rows are known by them, and the rows beside it can be read again."""
    (rough,) = _by_statistics(cursor, place) or [Loss(part=place.table)]
    rough = replace(rough, samples=_PENDING)
    keep(number)
    # Noted first, for `finish`.
    _note(cursor, [rough])
    file.put(number, empty_strings(file.block_bytes))
    return rough


def _drop_emptied(cursor: duckdb.DuckDBPyConnection, table: str, column: str, rough: Loss) -> tuple[list[Loss], int]:
    where = _EMPTIED.format(column=column)
    if column == "rest":
        # Of a row without minutes it is empty by itself.
        where += " AND minutes > 0"
    name, unit = _UNIT[table]
    if rough.first_ms is not None and rough.last_ms is not None:
        where += f" AND {name} BETWEEN {rough.first_ms // unit} AND {rough.last_ms // unit}"
    places = [row for (row,) in cursor.execute(f"SELECT rowid FROM {table} WHERE {where}").fetchall()]
    lost = _told(cursor, table, places)
    _delete(cursor, table, places, lost, instead_of=rough)
    return lost, len(places)


def _take_out(cursor: duckdb.DuckDBPyConnection, place: _Place, keep: Callable[[], None]) -> tuple[list[Loss], int]:
    """Delete the rows of which a column cannot be read."""
    bounds = _by_statistics(cursor, place)
    within = ""
    if place.column in ("data", "rest") and bounds and bounds[0].first_ms is not None:
        name, unit = _UNIT[place.table]
        # By another column, so that the blobs of other row groups are not read.
        within = f" AND {name} BETWEEN {bounds[0].first_ms // unit} AND {(bounds[0].last_ms or 0) // unit}"
    statement = _PROBE.format(table=place.table, column=f'"{place.column}"', within=within)
    rows = [row for (row,) in cursor.execute(_ROWS.format(table=place.table), [0]).fetchall()]
    places = _unreadable(cursor, statement, rows)
    if not places:
        return [], 0
    keep()
    lost = bounds or [Loss(part=place.table, samples=None if place.table in _UNIT else len(places))]
    if place.table in _TOLD:
        try:
            lost = _told(cursor, place.table, places)
        except duckdb.Error as error:
            if not is_damage(error):
                raise
    _delete(cursor, place.table, places, lost)
    return lost, len(places)


def _unreadable(cursor: duckdb.DuckDBPyConnection, statement: str, rows: list[int]) -> list[int]:
    """Those of some rising rows that the statement fails for."""

    def fails(first: int, last: int) -> bool:
        try:
            cursor.execute(statement, [first, last]).fetchall()
        except duckdb.Error as error:
            if not is_damage(error):
                raise
            return True
        return False

    if not rows or not fails(rows[0], rows[-1]):
        return []
    half = len(rows) // 2
    # What rests on a block is one run of rows: a few rows tell of all between them.
    if len(rows) <= _READ_AT_ONCE and all(fails(rows[at], rows[at]) for at in (0, half, -1)):
        return rows
    return _unreadable(cursor, statement, rows[:half]) + _unreadable(cursor, statement, rows[half:])


def _by_statistics(cursor: duckdb.DuckDBPyConnection, place: _Place) -> list[Loss]:
    """The hours of the row groups as the file's contents have them: nothing of their rows has to be read."""
    if place.table not in _UNIT:
        return []
    found = cursor.execute(_BOUNDS.format(table=place.table), [*_ENDS[place.table], place.groups]).fetchone()
    if found is None or None in found:
        return []
    return [Loss(part=place.table, first_ms=found[0], last_ms=found[1])]


def _told(cursor: duckdb.DuckDBPyConnection, table: str, places: list[int]) -> list[Loss]:
    """What rows say of themselves, all columns but their data."""
    cursor.execute(_GONE, [places])
    found = cursor.execute(_TOLD[table].format(where=_WHERE_GONE)).fetchall()
    cursor.execute("DROP TABLE gone")
    return [
        Loss(part=table, first_ms=first, last_ms=last, ids=tuple(sorted(ids)), samples=int(samples))
        for first, last, ids, samples in sorted(found)
    ]


def _make_again(cursor: duckdb.DuckDBPyConnection, lost: Sequence[Loss]) -> None:
    """Have rollups made of the samples that are there; only those of older hours stay lost."""
    row = cursor.execute(_OLDEST).fetchone()
    if row is None or row[0] is None:
        return
    oldest_ms = row[0] * HOUR_MS
    cursor.begin()
    for one in lost:
        if one.part == "rollups" and one.first_ms is not None and one.last_ms is not None:
            cursor.execute(_UNROLLED, [one.first_ms // HOUR_MS, one.last_ms // HOUR_MS])
    cursor.execute(_FORGET, [oldest_ms])
    cursor.execute(_SHORTEN, [oldest_ms - 1, oldest_ms, oldest_ms])
    cursor.commit()


def _delete(
    cursor: duckdb.DuckDBPyConnection, table: str, places: list[int], lost: list[Loss], instead_of: Loss | None = None
) -> None:
    cursor.begin()
    try:
        cursor.execute(_GONE, [places])
        cursor.execute(_DELETE.format(table=table))
        cursor.execute("DROP TABLE gone")
        if instead_of is not None:
            cursor.execute(
                "DELETE FROM lost WHERE part = ? AND samples = ? AND first_ms IS NOT DISTINCT FROM ?",
                [table, _PENDING, instead_of.first_ms],
            )
        _note(cursor, lost)
        cursor.commit()
    except BaseException:
        cursor.rollback()
        raise


def _note(cursor: duckdb.DuckDBPyConnection, lost: Sequence[Loss]) -> None:
    for one in lost:
        cursor.execute(_NOTE, [one.part, one.first_ms, one.last_ms, one.ids and list(one.ids), one.samples])
