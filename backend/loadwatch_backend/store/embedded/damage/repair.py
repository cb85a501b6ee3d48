"""A new file of samples from a damaged one, whose server is stopped: all that can be read, and nothing else.

The file and its log are copied; what is damaged is contained in the copy, and the copy is looked at as a whole. Until
it is complete the directory stays as it is. `samples.duckdb.repaired` is a complete one: whoever finds it, this command
or the next start of the server, puts it in its place.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from loadwatch_backend.store.embedded.damage import containment
from loadwatch_backend.store.embedded.damage.blocks import BlockFile
from loadwatch_backend.store.errors import DataDirectoryError
from loadwatch_backend.store.losses import CONTENTS, Loss
from loadwatch_backend.store.set_aside import SAMPLES, SAMPLES_LOG, suffix_of

COPY = f"{SAMPLES}.repair"
REPAIRED = f"{SAMPLES}.repaired"
_COPIED_BYTES = 1 << 20
_SECTOR_BYTES = 4096
_VERIFIED = ("series", "metadata", "hot", "segments", "rollups")
_TABLES = "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND NOT temporary"
Config = dict[str, str | bool | int | float | list[str]]
_CONFIG: Config = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "checkpoint_threshold": "1TiB",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a repair did; `mended` blocks had one wrong byte; `kept` are the new names of the old files."""

    losses: list[Loss]
    unnamed_series: int
    mended: int
    kept: list[Path]


def put_in_place(directory: Path) -> list[Path]:
    """Set the damaged file aside and give the repaired one its name, if there is one; the new names of the old ones.

    May be cut off anywhere: it goes on when it is called again.
    """
    repaired = directory / REPAIRED
    kept: list[Path] = []
    if not repaired.exists():
        return kept
    suffix = suffix_of(int(repaired.stat().st_mtime * 1_000))
    for name in (SAMPLES_LOG, SAMPLES):
        path = directory / name
        if path.exists():
            target = path.with_name(f"{name}.{suffix}")
            path.rename(target)
            kept.append(target)
    repaired.rename(directory / SAMPLES)
    _sync(directory)
    return kept


def repair(directory: Path, memory_bytes: int, tell: Callable[[str], None]) -> Repaired | None:
    """Repair the file of samples of a directory whose lock the caller holds; None when nothing of it is damaged.

    Raises:
        DataDirectoryError: it cannot be repaired; the directory is as it was.
    """
    put_in_place(directory)
    path, copy = directory / SAMPLES, directory / COPY
    if not path.exists():
        raise DataDirectoryError(f"{directory} holds no samples ({SAMPLES})")
    _remove(copy)
    config = {**_CONFIG, "memory_limit": f"{memory_bytes >> 20}MiB", "temp_directory": str(directory / "spill")}
    try:
        for name, target in ((SAMPLES, copy), (SAMPLES_LOG, copy.with_name(f"{COPY}.wal"))):
            if (directory / name).exists():
                tell(f"copying {name} ({(directory / name).stat().st_size / 1e6:,.0f} MB)")
                _copy(directory / name, target)
        done = _mend(copy, config, tell)
    except OSError as error:
        _remove(copy)
        raise DataDirectoryError(
            f"cannot write {copy}: {error.strerror}. Nothing was changed; the file is copied once: make room for it"
        ) from error
    except duckdb.Error as error:
        _remove(copy)
        raise DataDirectoryError(
            f"{path} cannot be repaired: {str(error).partition(chr(10))[0]}. Nothing was changed. What is left is a"
            f" backup, or `loadwatch server --set-aside {SAMPLES}`"
        ) from error
    except BaseException:
        _remove(copy)
        raise
    if done is None:
        _remove(copy)
        return None
    os.utime(copy)
    with copy.open("rb+") as file:
        os.fsync(file.fileno())
    copy.rename(directory / REPAIRED)
    _sync(directory)
    kept = put_in_place(directory)
    return replace(done, kept=kept)


def _mend(copy: Path, config: Config, tell: Callable[[str], None]) -> Repaired | None:
    file = BlockFile(copy)
    tell(f"looking at {len(file):,} blocks")
    file.mend_headers()
    wrong = file.damaged(0, len(file))
    damaged = [number for number in wrong if not file.mend(number)]
    try:
        connection = duckdb.connect(str(copy), config=config)
    except BaseException:
        file.close()
        raise
    try:
        connection.execute(containment.SCHEMA)
        containment.finish(connection)
        tables = [table for (table,) in connection.execute(_TABLES).fetchall()]
        before = {table: _count(connection, f"SELECT count(*) FROM {table}") for table in tables}
        done = containment.contain(connection, file, damaged, None, names=True)
        if CONTENTS in done.left.values():
            raise DataDirectoryError(
                f"the contents of {copy.with_name(SAMPLES)} are damaged, which say where its tables are: it cannot be"
                f" repaired, and nothing was changed. What is left is a backup, or `loadwatch server --set-aside"
                f" {SAMPLES}`"
            )
        if len(wrong) == len(damaged) and not any(done.rows.values()) and not done.losses:
            return None
        unnamed = containment.name_the_unnamed(connection)
        connection.execute("DELETE FROM lost")
        # Reads what it joins, so that it proves the file as well.
        connection.execute("CHECKPOINT")
        tell("reading all that is left")
        for table in _VERIFIED:
            rows = _count(connection, f"SELECT count(*) FROM {table} WHERE hash({table}) IS NOT NULL")
            wanted = before[table] - done.rows.get(table, 0) + (unnamed if table == "series" else 0)
            if rows != wanted:
                raise DataDirectoryError(f"{rows} rows of {table} came out and {wanted} should; nothing was changed")
    finally:
        connection.close()
        file.close()
    return Repaired(losses=done.losses, unnamed_series=unnamed, mended=len(wrong) - len(damaged), kept=[])


def _count(connection: duckdb.DuckDBPyConnection, statement: str) -> int:
    row = connection.execute(statement).fetchone()
    return int(row[0]) if row else 0


def _copy(source: Path, target: Path) -> None:
    """Copy a file; zeros stand for what the disk does not give."""
    with source.open("rb") as given, target.open("xb") as made:
        size = os.fstat(given.fileno()).st_size
        shutil.copymode(source, target)
        for place in range(0, size, _COPIED_BYTES):
            made.write(_read(given.fileno(), place, min(_COPIED_BYTES, size - place)))


def _read(file: int, place: int, length: int) -> bytes:
    try:
        return os.pread(file, length, place)
    except OSError:
        if length <= _SECTOR_BYTES:
            return bytes(length)
    return b"".join(
        _read(file, at, min(_SECTOR_BYTES, place + length - at)) for at in range(place, place + length, _SECTOR_BYTES)
    )


def _remove(copy: Path) -> None:
    for path in (copy, copy.with_name(f"{COPY}.wal"), *copy.parent.glob(f"{COPY}.block-*")):
        path.unlink(missing_ok=True)


def _sync(directory: Path) -> None:
    """Have the names in a directory on the disk."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
