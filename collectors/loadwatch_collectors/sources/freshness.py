"""How many rows a table has and how old its newest one is, by the database's own clock.

The age comes from NOW(6) of the server in the same statement, so neither this host's clock nor the network is in it.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_collectors.collector import Borrow, Collector, MissingPrivilege, Periodic, Sample, Source
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.mysql.iam import open_iam_password
from loadwatch_collectors.transport.mysql_session import SERVER_KEYS, MySQLLogin, MySQLSession, Row

_COUNTS = ("exact", "estimate", "none")
_CLOCKS = {
    "timestamp": "TIMESTAMPDIFF(MICROSECOND, {newest}, NOW(6)) / 1000000",
    "utc_datetime": "TIMESTAMPDIFF(MICROSECOND, {newest}, UTC_TIMESTAMP(6)) / 1000000",
    "unix_seconds": "UNIX_TIMESTAMP(NOW(6)) - {newest}",
    "unix_milliseconds": "UNIX_TIMESTAMP(NOW(6)) - {newest} / 1000",
}
_NAME = re.compile(r"[^`\x00.]+")
# With an index on the column this reads one entry; NULL when the table is empty.
NEWEST_BY_TIME = "(SELECT MAX({column}) FROM {table})"
# For tables whose time has no index: the row with the highest key is the newest one.
NEWEST_BY_KEY = "(SELECT {column} FROM {table} ORDER BY {key} DESC LIMIT 1)"
SELECT_AGE = "SELECT {age}"
SELECT_COUNT = "SELECT COUNT(*) FROM {table}"
SELECT_ESTIMATE = """
    SELECT table_rows FROM information_schema.tables
     WHERE table_schema = COALESCE({schema}, DATABASE()) AND table_name = {name}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    name: str = option(help="Table, or database.table; the label `table` of its series.", metavar="shop.hits")
    time_column: str = option(help="Column with the time of a row; without it no age is reported.", default="")
    time_kind: str = option(
        help="What the column holds: timestamp (or a datetime in the server's time zone), utc_datetime, unix_seconds "
        "or unix_milliseconds.",
        default="timestamp",
    )
    key_column: str = option(
        help="Growing key, such as id. The row with the highest one is taken as the newest: for a time column "
        "without an index.",
        default="",
    )
    count: str = option(
        help="exact (COUNT(*), reads a whole index), estimate (the server's statistics), or none.", default="exact"
    )

    def __post_init__(self) -> None:
        parts = self.name.split(".")
        if len(parts) > 2 or not all(_NAME.fullmatch(part) for part in parts):
            raise ValueError(f"{self.name!r} is not a table; write name or database.name")
        if self.time_kind not in _CLOCKS:
            raise ValueError(f"time_kind must be one of {', '.join(_CLOCKS)}, not {self.time_kind!r}")
        if self.count not in _COUNTS:
            raise ValueError(f"count must be one of {', '.join(_COUNTS)}, not {self.count!r}")
        if self.count == "none" and not self.time_column:
            raise ValueError(f"the table {self.name} has neither a count nor a time_column, so nothing is to be read")


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshnessSettings(MySQLLogin):
    """Tables whose growth is watched; without host, port and unix_socket on the server of the target's own `mysql`."""

    tables: tuple[TableSettings, ...] = option(help="The tables to watch.")
    count_every: Seconds = option(help="Time between two counts of the rows.", default=5.0)

    def __post_init__(self) -> None:
        MySQLLogin.__post_init__(self)
        if not self.tables:
            raise ValueError("tables is empty; name at least one table")
        names = [table.name for table in self.tables]
        if len(set(names)) < len(names):
            raise ValueError("a table is there twice")


class FreshnessCollector(Collector):
    """Asks for the newest row at each tick, and counts less often."""

    def __init__(self, settings: FreshnessSettings) -> None:
        """Read the password; the session is opened by the first `collect`."""
        self._settings = settings
        self._session = MySQLSession(settings, password=open_iam_password(settings))
        self._counts = Periodic(self._read_counts, settings.count_every)

    def collect(self) -> Sequence[Sample]:
        return self._session.run(self._read)

    def explain(self) -> list[str]:
        return [f"reads MySQL at {self._session.where}"]

    def close(self) -> None:
        self._session.close()

    def _read(self) -> list[Sample]:
        samples: list[Sample] = []
        for table in self._settings.tables:
            if table.time_column:
                age = _number(self._session.query(age_statement(table)))
                if age is not None:  # an empty table has no newest row
                    samples.append(Sample("table_newest_row_age_seconds", age, (("table", table.name),)))
        return samples + self._counts.read(time.monotonic())

    def _read_counts(self) -> list[Sample]:
        return [self._count(table) for table in self._settings.tables if table.count != "none"]

    def _count(self, table: TableSettings) -> Sample:
        count = _number(self._session.query(self._count_statement(table)))
        if count is None:
            raise CollectorError(
                f"MySQL at {self._session.where}: there is no table {table.name} that {self._settings.user} may see"
            )
        return Sample("table_rows", count, (("table", table.name),))

    def _count_statement(self, table: TableSettings) -> str:
        if table.count == "exact":
            return SELECT_COUNT.format(table=quote_name(table.name))
        schema, _, name = table.name.rpartition(".")
        literal = self._session.quote(schema) if schema else "NULL"
        return SELECT_ESTIMATE.format(schema=literal, name=self._session.quote(name))


def age_statement(table: TableSettings) -> str:
    """The statement that returns the age of the newest row in seconds, or NULL."""
    column, name = quote_name(table.time_column), quote_name(table.name)
    if table.key_column:
        newest = NEWEST_BY_KEY.format(column=column, table=name, key=quote_name(table.key_column))
    else:
        newest = NEWEST_BY_TIME.format(column=column, table=name)
    return SELECT_AGE.format(age=_CLOCKS[table.time_kind].format(newest=newest))


def quote_name(name: str) -> str:
    """A name, or names joined by a dot, as identifiers of SQL."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in name.split("."))


def _number(rows: Sequence[Row]) -> float | None:
    text = rows[0][0] if rows else None
    return None if text is None else float(text)


FRESHNESS = Source(
    name="freshness",
    help="Row count and age of the newest row of tables in MySQL or MariaDB.",
    settings=FreshnessSettings,
    build=FreshnessCollector,
    packs=("ingest",),
    borrow=Borrow(block="mysql", groups=SERVER_KEYS, unknown_with="discover"),
    privileges=(
        MissingPrivilege(
            permission="SELECT",
            lost="the tables named in `tables`",
            remedy="GRANT SELECT ON `DATABASE`.`TABLE` TO 'loadwatch'@'HOST';",
        ),
    ),
)
