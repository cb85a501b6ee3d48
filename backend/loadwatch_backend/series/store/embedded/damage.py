"""What of DuckDB's file is not as it was written, and what rests on it.

The layout is that of DuckDB's storage versions since 1: three headers of 4 KiB, then blocks of one size, each of which
begins with the checksum (u8) of the rest.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager

import duckdb
import numpy as np

from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.series.store.embedded.codec import DamagedSegmentError
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS
from loadwatch_backend.series.store.errors import StoreClosedError, StoreReadError
from loadwatch_backend.series.store.losses import CONTENTS, Loss

HEADERS, HEADER_BYTES = 3, 4096
HEADERS_BYTES = HEADERS * HEADER_BYTES
BLOCK_BYTES = 1 << 18
"""DuckDB's default, with which all of our files are made."""
SEALED = ("segments", "rollups")
"""Tables that a commit adds nothing to."""
_SEED = 5381
_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_UNIT = {"segments": ("hour", HOUR_MS), "rollups": ("day", DAY_MS), "hot": (f"ts // {HOUR_MS}", HOUR_MS)}
_ENDS = {"segments": ("first_ms", "last_ms"), "rollups": ("first_ms", "last_ms"), "hot": ("ts", "ts")}
_TABLES = "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND NOT temporary"
_RESTING = """
SELECT DISTINCT row_group_id FROM pragma_storage_info('{table}')
WHERE persistent AND (block_id = ? OR list_contains(additional_block_ids, ?))
"""
_BOUNDS = """
SELECT min(stats.min::BIGINT), max(stats.max::BIGINT) FROM pragma_storage_info('{source}')
WHERE column_name IN (?, ?) AND segment_type <> 'VALIDITY' AND (? IS NULL OR row_group_id IN (SELECT unnest(?)))
"""
_PROBE = "SELECT sum(hash({table})) FROM {table} WHERE {unit} = ? AND {first} <= ? AND {last} >= ?"
_CONTENTS = "SELECT count(*) FROM pragma_metadata_info() WHERE block_id = ?"
_EARLIER = """
SELECT part, first_ms, last_ms, ids, nullif(samples, -1) FROM lost
WHERE last_ms IS NULL OR last_ms >= ? ORDER BY first_ms, part
"""


def is_damage(error: BaseException) -> bool:
    text = str(error)
    return isinstance(error, duckdb.Error) and ("Corrupt" in text or "Could not read enough bytes" in text)


def checksum(block: bytes) -> int:
    """DuckDB's checksum of a block, its first eight bytes left out (`src/common/checksum.cpp`)."""
    words = np.frombuffer(block, np.uint64)[1:]
    # The products wrap around on purpose.
    return int(np.bitwise_xor.reduce(words * _FACTOR)) ^ _SEED


def is_whole(file: int, number: int) -> bool:
    """Whether the checksum of a block is right, or the block was never written; -3 to -1 are the headers."""
    place, size = HEADERS_BYTES + number * BLOCK_BYTES, BLOCK_BYTES
    if number < 0:
        place, size = (HEADERS + number) * HEADER_BYTES, HEADER_BYTES
    try:
        block = os.pread(file, size, place)
    except OSError:
        return False
    return len(block) == size and (checksum(block) == int.from_bytes(block[:8], "little") or not any(block))


def losses_on(cursor: duckdb.DuckDBPyConnection, number: int) -> list[Loss]:
    """What rests on a damaged block, by table and hour; nothing on a free one, which is written before it is read."""
    if number < 0:
        return [Loss(part=CONTENTS)]
    found: list[Loss] = []
    try:
        for (table,) in cursor.execute(_TABLES).fetchall():
            groups = [group for (group,) in cursor.execute(_RESTING.format(table=table), [number, number]).fetchall()]
            if groups:
                found += _unreadable_spans(cursor, table, groups)
        if found or cursor.execute(_CONTENTS, [number]).fetchone() == (0,):
            return found
    except duckdb.Error as error:
        if not is_damage(error):
            raise
    return [Loss(part=CONTENTS)]


def bounds(
    cursor: duckdb.DuckDBPyConnection, table: str, groups: list[int] | None = None, of: str = ""
) -> tuple[int, int] | None:
    """Times of the oldest and the newest row, by statistics: no row is read. `of` is a prefix of the table's name."""
    if table not in _ENDS:
        return None
    statement = _BOUNDS.format(source=of + table)
    first, last = cursor.execute(statement, [*_ENDS[table], groups, groups or []]).fetchone() or (None, None)
    return None if first is None or last is None else (first, last)


def _unreadable_spans(cursor: duckdb.DuckDBPyConnection, table: str, groups: list[int]) -> list[Loss]:
    """The hours (of rollups: days) of some row groups that cannot be read, or all where it is not known which."""
    span = bounds(cursor, table, groups)
    if span is None:
        return [Loss(part=table)]
    (unit, unit_ms), (first, last) = _UNIT[table], _ENDS[table]
    statement = _PROBE.format(table=table, unit=unit, first=first, last=last)
    found: list[Loss] = []
    for one in range(span[0] // unit_ms, span[1] // unit_ms + 1):
        begin_ms, end_ms = one * unit_ms, (one + 1) * unit_ms - 1
        try:
            cursor.execute(statement, [one, end_ms, begin_ms]).fetchall()
        except duckdb.Error as error:
            if not is_damage(error):
                raise
            found.append(Loss(part=table, first_ms=begin_ms, last_ms=end_ms))
    # What DuckDB has in its memory hides the damage.
    return found or [Loss(part=table, first_ms=span[0], last_ms=span[1])]


def earlier_losses(cursor: duckdb.DuckDBPyConnection, oldest_ms: int) -> list[Loss]:
    """Losses that an earlier version noted when it removed damaged rows, of `oldest_ms` or later."""
    if ("lost",) not in cursor.execute(_TABLES).fetchall():
        return []
    return [
        Loss(part=part, first_ms=first, last_ms=last, ids=None if ids is None else tuple(ids), samples=samples)
        for part, first, last, ids, samples in cursor.execute(_EARLIER, [oldest_ms]).fetchall()
    ]


NO_ROOM = ("No space left", "File too large", "Disk quota exceeded")
_NEED_REOPENING = (duckdb.FatalException, duckdb.InternalException, duckdb.ConnectionException, DataDirectoryError)
_DURABLE = "FATAL Error: Transaction COMMIT succeeded and is durable"


def needs_reopening(error: BaseException) -> bool:
    """Whether DuckDB refuses every statement from here on until the file is opened again."""
    return isinstance(error, _NEED_REOPENING) or "invalidated" in str(error)


def is_durable(error: BaseException) -> bool:
    """Whether the commit is on disk all the same: only the log could not be folded into the file after it."""
    # Errors after it, of what was not done, quote it.
    return str(error).startswith(_DURABLE)


def reason_of(error: BaseException) -> str:
    """The last part of the text, which has no paths of this machine, with what to do where there is no room."""
    text = str(error)
    if any(word in text for word in NO_ROOM):
        reason = text.rsplit(": ", 1)[-1].strip('".\n ')
        return f"{reason}; make room on the disk"
    return text.partition("\n")[0].rsplit(": ", 1)[-1]


@contextmanager
def disk_errors() -> Generator[None]:
    """Translate errors of DuckDB into StoreClosedError or StoreReadError."""
    try:
        yield
    except duckdb.ConnectionException as error:
        raise StoreClosedError("the store was closed during the query") from error
    except duckdb.Error as error:
        if any(word in str(error) for word in NO_ROOM):
            raise StoreReadError(f"The disk has no room for what the store writes: {reason_of(error)}.") from error
        if not (is_damage(error) or isinstance(error, (duckdb.IOException, duckdb.FatalException))):
            raise
        raise _unreadable(error) from error
    except DamagedSegmentError as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> StoreReadError:
    says = str(error).partition(chr(10))[0]
    if not is_damage(error):
        return StoreReadError(
            f"The samples cannot be read from the disk: {says}. See the kernel's log, and whether the data directory"
            " can be read."
        )
    return StoreReadError(
        f"The file of samples is damaged: {says}. `loadwatch store` and the page Store name the hours; other hours are"
        " answered. Restore a backup, or stop the server and run `loadwatch store salvage`."
    )
