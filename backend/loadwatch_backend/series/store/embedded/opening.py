"""The DuckDB file: made whole or not at all, opened, and brought to the present format."""

import shutil
from pathlib import Path

import duckdb
import structlog

from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.core.database.set_aside import SAMPLES, SAMPLES_LOG, advice, salvage_command
from loadwatch_backend.series.store.embedded import rollups, sealed
from loadwatch_backend.series.store.embedded.damage import is_damage

FILE = SAMPLES
FORMAT = 3
"""2 had no rollups, which are made while the server runs. 1 had a row for each sealed sample, in the table `sorted`;
what is left of it is converted while the server runs."""
Config = dict[str, str | bool | int | float | list[str]]
logger = structlog.get_logger(__name__)

_HEADER_BYTES = 3 * 4096
_MAGIC = b"DUCK"

_TABLES = """
CREATE TABLE IF NOT EXISTS format (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS series (
    id UINTEGER NOT NULL, labels VARCHAR[] NOT NULL, first_ms BIGINT, last_ms BIGINT
);
CREATE TABLE IF NOT EXISTS metadata (metric VARCHAR PRIMARY KEY, type VARCHAR, help VARCHAR, unit VARCHAR);
CREATE TABLE IF NOT EXISTS hot (series_id UINTEGER NOT NULL, ts BIGINT NOT NULL, value DOUBLE NOT NULL);
"""
SCHEMA = _TABLES + sealed.SCHEMA + rollups.SCHEMA
_NO_ROOM = ("No space left", "Permission denied", "Read-only file system", "Could not set lock", "File too large")
"""Parts of error messages that concern the disk: the file itself is whole."""
_HAS_OLD = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'sorted' AND NOT temporary"


def _is_unfinished(path: Path) -> bool:
    """Whether it is what a first start left that an earlier version did not finish: it never had a sample.

    The headers alone are three blocks, the first of them written last. Any other short file is somebody's.
    """
    with path.open("rb") as file:
        content = file.read(_HEADER_BYTES)
    return len(content) < _HEADER_BYTES and (not content.strip(b"\0") or content[8:12] == _MAGIC)


def unreadable(directory: Path, error: duckdb.Error, table: str | None = None) -> DataDirectoryError:
    """What is wrong with which file, what its loss means, and the command that helps.

    `table` is given where the file could be opened and a part of it could not be read.
    """
    text = str(error)
    says = text.split("\n")[0][:300]
    if any(word in text for word in _NO_ROOM):
        return DataDirectoryError(f"cannot open {directory / FILE}: {says}. Make room on the disk and start again")
    if isinstance(error, duckdb.OutOfMemoryException):
        return DataDirectoryError(
            f"cannot read {directory / FILE} within the memory for DuckDB: {says}. Nothing is damaged: raise"
            " LOADWATCH_STORE_MEMORY_BYTES and start again"
        )
    if table is not None and is_damage(error):
        return DataDirectoryError(
            f"{directory / FILE} is damaged: {says}. Its table {table} cannot be read; other tables may be whole."
            f" Restore a backup (`loadwatch restore`), or run\n    {salvage_command(directory)}\nwhich copies what"
            " can be read into a new file and changes nothing of this one"
        )
    name = SAMPLES_LOG if "WAL" in text and (directory / SAMPLES_LOG).exists() else SAMPLES
    return DataDirectoryError(f"cannot read {directory / name}: {says}\n{advice(directory, name)}")


def keep_log(path: Path) -> None:
    """Copy the log of a server that was killed before DuckDB replays it.

    DuckDB takes damage of the log's header or of a length in it for a log that was cut off, and goes on without
    the rest: what is not replayed is in the copy.
    """
    log = path.with_name(SAMPLES_LOG)
    if not log.exists() or not log.stat().st_size:
        return
    copy = log.with_name(f"{SAMPLES_LOG}.last")
    try:
        shutil.copyfile(log, copy)
    except OSError as error:
        copy.unlink(missing_ok=True)
        logger.warning("the log of samples could not be copied before it is replayed", reason=error.strerror)
    else:
        logger.warning(
            "the server was killed; its log of samples is replayed", bytes=log.stat().st_size, copy=str(copy)
        )


def create(path: Path, config: Config) -> None:
    """Make the file under another name and give it its own once it is whole: no start leaves half of one.

    Raises:
        DataDirectoryError: it cannot be written.
    """
    new = path.with_name(f"{FILE}.new")
    log, new_log = (one.with_name(f"{one.name}.wal") for one in (path, new))
    if path.exists() and (log.exists() or not _is_unfinished(path)):
        return
    try:
        for left in (new, new_log):
            left.unlink(missing_ok=True)
        with duckdb.connect(str(new), config=config) as connection:
            connection.execute(SCHEMA + rollups.FIRST)
            connection.execute("INSERT INTO format VALUES (?)", [FORMAT])
            connection.execute("CHECKPOINT")
        new.replace(path)
    except (duckdb.Error, OSError) as error:
        for left in (new, new_log):
            left.unlink(missing_ok=True)
        raise DataDirectoryError(
            f"cannot make {path}: {error}. Nothing was left behind: make room on the disk, or choose another"
            " directory with LOADWATCH_DATA, and start again"
        ) from error


def connect(path: Path, config: Config) -> duckdb.DuckDBPyConnection:
    """Open the file and bring it to the present format.

    Raises:
        DataDirectoryError: it cannot be read, or a later version wrote it.
    """
    try:
        connection = duckdb.connect(str(path), config=config)
    except duckdb.Error as error:
        raise unreadable(path.parent, error) from error
    try:
        connection.begin()
        connection.execute(_TABLES)
        version = connection.execute("SELECT version FROM format").fetchone()
        if version is None:
            connection.execute("INSERT INTO format VALUES (?)", [FORMAT])
        elif version[0] not in range(1, FORMAT + 1):
            raise DataDirectoryError(
                f"{path} has format {version[0]} and this server reads format {FORMAT};"
                " use the version of Loadwatch that wrote it, or another data directory"
            )
        if version is not None and version[0] < FORMAT:
            _keep_copy(path)
        connection.execute(SCHEMA)
        if version is not None and version[0] < FORMAT:
            connection.execute(rollups.UNROLLED)
            connection.execute("UPDATE format SET version = ?", [FORMAT])
        if connection.execute("SELECT 1 FROM whole").fetchone() is None:
            connection.execute(rollups.FIRST)
        if has_old_rows(connection) and connection.execute("SELECT 1 FROM sorted LIMIT 1").fetchone() is None:
            # Never while it is open: who reads might have been told of the table before.
            connection.execute("DROP TABLE sorted")
        connection.commit()
    except duckdb.Error as error:
        connection.close()
        raise unreadable(path.parent, error, "format, whole or sorted") from error
    except BaseException:
        connection.close()
        raise
    return connection


def _keep_copy(path: Path) -> None:
    """Keep the file as it was before its format changes; only where there is room for it. Nothing is written yet."""
    size = sum(one.stat().st_size for one in (path, path.with_name(SAMPLES_LOG)) if one.exists())
    copy = path.with_name(f"{FILE}.before-upgrade")
    if shutil.disk_usage(path.parent).free < 2 * size + (64 << 20):
        logger.warning("no room for a copy of the samples before their format changes", bytes=size, path=str(copy))
        return
    for source, target in ((path.with_name(SAMPLES_LOG), copy.with_name(f"{copy.name}.wal")), (path, copy)):
        target.unlink(missing_ok=True)
        if source.exists():
            partial = target.with_name(f"{target.name}.partial")
            shutil.copyfile(source, partial)
            partial.chmod(0o600)
            partial.replace(target)
    logger.info("the samples before their format changes are kept in a copy", path=str(copy))


def has_old_rows(connection: duckdb.DuckDBPyConnection) -> bool:
    row = connection.execute(_HAS_OLD).fetchone()
    return bool(row and row[0])
