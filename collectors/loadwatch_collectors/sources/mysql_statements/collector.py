"""Statements of MySQL and MariaDB: calls, time, rows and locks of each, from performance_schema or the slow log.

A server counts statements by digest, but not prepared ones by their text, so those are read while they live. How much
of all that was executed is told apart is measured at each reading, and said. Sums are the collector's own: they never
fall when a server is restarted or its tables are emptied.
"""

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from loadwatch_formats.metrics.mysql_statements import COVERAGE, EXECUTED, EXPLAINED
from loadwatch_formats.own_traffic import COMMENT
from loadwatch_formats.statements.fingerprint import digest_of, first_word, mask

from loadwatch_collectors.collector import Borrow, CollectFault, MissingPrivilege, Sample, Source
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.mysql.collector import account_of
from loadwatch_collectors.sources.mysql.iam import open_client, open_iam_password
from loadwatch_collectors.sources.mysql_statements.explaining import Explainer
from loadwatch_collectors.sources.mysql_statements.slow_log import RdsLog, SlowLogFollower
from loadwatch_collectors.sources.statements import (
    CALLS,
    NOTHING,
    OTHER_KEY,
    TEXTS,
    UNSEEN_KEY,
    Counts,
    Growth,
    Key,
    NotCountingError,
    Row,
    StatementsCollector,
    Totals,
    add,
    now_ms,
    subtract,
)
from loadwatch_collectors.transport.mysql_session import OWN_DIGESTS, SERVER_KEYS, MySQLLogin, MySQLSession
from loadwatch_collectors.transport.mysql_session import Row as Texts

# Executions of prepared statements, which servers do not count by their text. Pure.
#
# A prepared statement has a row of its own while it lives. What it did after the last reading is lost with it; how much
# that is tells the sum over all executions, which servers keep.

MOST_INSTANCES = 20_000


class Instance(NamedTuple):
    """One prepared statement of one session; `id` is never used again while the server runs."""

    id: tuple[str, ...]
    text: str
    schema: str
    counts: Counts


class Executed(NamedTuple):
    """What prepared statements did since the last reading; `unseen` counts those without known text."""

    grown: Mapping[Key, Counts]
    texts: Mapping[Key, str]
    words: Mapping[Key, str]
    unseen: Counts


class PreparedStatements:
    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Counts] = {}
        self._begun = False
        self._total: Counts | None = None
        self._seen = NOTHING
        self._unseen = NOTHING
        self._all = NOTHING

    def update(self, instances: Sequence[Instance], total: Counts) -> Executed:
        """What was executed since the last reading.

        Args:
            instances: every prepared statement that is there.
            total: of all executions since the server began.
        """
        grown: dict[Key, Counts] = {}
        texts: dict[Key, str] = {}
        words: dict[Key, str] = {}
        seen = NOTHING
        known: dict[tuple[str, ...], Counts] = {}
        for one in instances[:MOST_INSTANCES]:
            before = self._known.get(one.id)
            known[one.id] = one.counts
            if before is None:
                step = one.counts if self._begun else NOTHING
            else:
                step = subtract(one.counts, before) if one.counts[0] >= before[0] else one.counts
            if step == NOTHING:
                continue
            key = Key(one.schema, digest_of(one.text))
            grown[key] = add(grown.get(key, NOTHING), step)
            texts[key], words[key] = mask(one.text), first_word(one.text)
            seen = add(seen, step)
        self._known, self._begun = known, True
        return Executed(grown=grown, texts=texts, words=words, unseen=self._missing(total, seen))

    def _missing(self, total: Counts, seen: Counts) -> Counts:
        """Return what the total has beyond the rows seen; both are read in turn, so a gap may close."""
        before, self._total = self._total, total
        if before is None:
            return NOTHING
        self._all = add(self._all, total if total[0] < before[0] else subtract(total, before))
        self._seen = add(self._seen, seen)
        missing = subtract(self._all, self._seen)
        step = subtract(missing, self._unseen)
        if not step[0]:  # sums of times differ by what was read between the two readings; no call, nothing missing
            return NOTHING
        self._unseen = add(self._unseen, step)
        return step


STATUSES = """
    Com_select Com_insert Com_insert_select Com_update Com_update_multi Com_delete Com_delete_multi Com_replace
    Com_replace_select Qcache_hits
""".split()
"""What is executed. A prepared statement counts here too, when it is executed (in `Com_stmt_execute` once more, which
must therefore not be added), and so does one within a stored procedure, which no table of digests shows."""
WORDS = frozenset(("select", "insert", "update", "delete", "replace", "with", "values", "table"))
"""First words of statements that those statuses count."""


SHOW_STATE = "SHOW GLOBAL VARIABLES LIKE 'performance_schema'"
SELECT_ACCOUNT = "SELECT CURRENT_USER()"
SELECT_NOW = "SELECT NOW()"
SET_ZONE = "SET SESSION time_zone = '+00:00'"
SELECT_CONSUMERS = """
    SELECT name, enabled FROM performance_schema.setup_consumers
     WHERE name IN ('statements_digest', 'events_statements_current')
"""
_SUMS = """
    SUM_LOCK_TIME, SUM_ERRORS, SUM_ROWS_AFFECTED, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_CREATED_TMP_TABLES,
    SUM_CREATED_TMP_DISK_TABLES, SUM_NO_INDEX_USED
"""
SELECT_DIGESTS = f"""
    SELECT SCHEMA_NAME, DIGEST, FIRST_SEEN, LEFT(DIGEST_TEXT, 24), COUNT_STAR, SUM_TIMER_WAIT, {_SUMS}
      FROM performance_schema.events_statements_summary_by_digest
"""
SELECT_RECENT = SELECT_DIGESTS + " WHERE LAST_SEEN >= SUBTIME(NOW(), SEC_TO_TIME({seconds}))"
"""No INTERVAL: MariaDB's digest rewrites its unit, and this statement has to recognise its own."""
SELECT_TEXTS = """
    SELECT SCHEMA_NAME, DIGEST, LEFT(DIGEST_TEXT, 2048)
      FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IN ({digests})
"""
SELECT_INSTANCES = f"""
    SELECT OWNER_THREAD_ID, STATEMENT_ID, SQL_TEXT, COUNT_EXECUTE, SUM_TIMER_EXECUTE, {_SUMS}
      FROM performance_schema.prepared_statements_instances
"""
SELECT_EXECUTIONS = f"""
    SELECT COUNT_STAR, SUM_TIMER_WAIT, {_SUMS}
      FROM performance_schema.events_statements_summary_global_by_event_name
     WHERE EVENT_NAME IN ('statement/com/Execute', 'statement/com/Bulk_execute', 'statement/sql/execute_sql')
"""
SELECT_DATABASES = "SELECT THREAD_ID, PROCESSLIST_DB FROM performance_schema.threads WHERE PROCESSLIST_ID IS NOT NULL"
MOST_TEXTS = 500
_PICOSECONDS = 1e12
_WORD = re.compile(r"[\s(]*([a-zA-Z_]+)")


def counts_of(texts: Sequence[str | None]) -> Counts:
    """Calls, time, and the sums, in the order of `FIELDS`."""
    calls, wait, lock, *others = (float(text or 0) for text in texts)
    return (calls, wait / _PICOSECONDS, lock / _PICOSECONDS, *others)


def digest_rows(rows: Sequence[Texts]) -> list[Row]:
    """Rows of the table of digests; the one without a digest, for which there was no room, is `other`."""
    found: list[Row] = []
    for schema, digest, since, beginning, *counts in rows:
        key = Key(schema or "", digest) if digest else OTHER_KEY
        word = _WORD.match(beginning or "")
        found.append(
            Row(key=key, since=since or "", counts=counts_of(counts), word=word[1].lower() if word and digest else "")
        )
    return found


def total_of(rows: Sequence[Texts]) -> Counts:
    return reduce(add, map(counts_of, rows), NOTHING)


WHOLE_EVERY_SECONDS = 60.0
"""Between two readings of the whole table of digests; between them only the rows that changed are read."""
SELDOM_SECONDS = 5.0
"""Between two looks at what the server executed in all (SHOW STATUS costs it as much as all the rest of a reading), and
at the sum over prepared statements while it stands still."""
FAR_BEHIND = 8 << 20
"""Backlog of a slow log in bytes beyond which it is a fault: the most that one reading takes."""
ACCOUNT_KEYS = ("user", "password_file", "password_env", "iam_auth", "iam_region")
_EXECUTE = "execute"
SHOW_STATUS = f"SHOW GLOBAL STATUS WHERE Variable_name IN ({', '.join(repr(name) for name in STATUSES)})"
IS_OFF = (
    "performance_schema is off, so that the server counts no statements: write performance_schema=ON below [mysqld] in "
    "the server's configuration and restart it, or name its slow log (slow_log: PATH, with long_query_time=0)"
)
NO_DIGESTS = (
    "the consumer statements_digest is off: UPDATE performance_schema.setup_consumers SET ENABLED='YES' "
    "WHERE NAME='statements_digest';"
)
NO_TEXTS = (
    "prepared statements are counted without their text, as MariaDB does by default: write "
    "performance_schema_consumer_events_statements_current=ON below [mysqld] and restart, or at once UPDATE "
    "performance_schema.setup_consumers SET ENABLED='YES' WHERE NAME='events_statements_current';"
)
LOW = (
    "below 95 % of the statements of the last minute are told apart by their text ({why}). What helps: a driver that "
    "sends statements whole (Go: interpolateParams=true in the DSN), or the slow log with long_query_time=0 "
    "(slow_log: PATH)"
)
SKIPPED = (
    "the slow log grows faster than it is read: {bytes} bytes of it were left out since the agent began, with all "
    "statements in them. Write fewer of them: long_query_time above 0, or log_slow_rate_limit"
)
BEHIND = (
    "the slow log is ahead by {bytes} bytes, which are read at the next readings: statements count later than they ran"
)
SAMPLED = "the server writes one of {one_in} statements (log_slow_rate_limit): each counts for all that it stands for"
FULL = (
    "the server's table of digests is full, and new statements go into one row without a text: raise "
    "performance_schema_digests_size, or TRUNCATE performance_schema.events_statements_summary_by_digest"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLStatementsSettings(MySQLLogin):
    """Statements of a MySQL or MariaDB server; server and account are those of the target's `mysql`."""

    every: Seconds = option(help="Time between two readings; longer where the server has many statements.", default=1.0)
    statements: int = option(help="Statements with series of their own, by time; the rest is `other`.", default=200)
    slow_log: str = option(
        help="The server's slow log, read in place of performance_schema: a file, or rds://INSTANCE "
        "(rds://REGION/INSTANCE); the server needs slow_query_log=ON and long_query_time=0.",
        default="",
        metavar="/var/log/mysql/slow.log",
    )
    plans: bool = option(
        help="Ask the server with EXPLAIN how it runs the statements that take most time; needs the right to read "
        "their tables.",
        default=False,
    )

    def __post_init__(self) -> None:
        MySQLLogin.__post_init__(self)
        if self.slow_log.startswith(RDS) and rds_instance(self.slow_log) is None:
            raise ValueError(
                f"slow_log: {self.slow_log!r} names no instance; {RDS}INSTANCE or {RDS}REGION/INSTANCE, as RDS calls it"
            )
        if not 1 <= self.statements <= 2_000:
            raise ValueError("statements must be between 1 and 2000")


RDS = "rds://"
_INSTANCE = re.compile(r"rds://(?:([a-z]{2}(?:-[a-z]+)+-\d+)/)?([A-Za-z][A-Za-z0-9-]{0,62})")


def rds_instance(slow_log: str) -> tuple[str, str] | None:
    """Region, empty where it is not said, and instance of a slow log in RDS; None of any other."""
    found = _INSTANCE.fullmatch(slow_log)
    return None if found is None else (found[1] or "", found[2])


class MySQLStatementsCollector(StatementsCollector):
    def __init__(self, settings: MySQLStatementsSettings) -> None:
        """Read the password; the session is opened by the first `collect`."""
        self._settings = settings
        self._session = MySQLSession(settings, self._on_connect, open_iam_password(settings))
        self._follower = _follow(settings) if settings.slow_log else None
        self._explainer = Explainer(lambda: MySQLSession(settings, password=open_iam_password(settings)))
        explain = self._explainer.explain if settings.plans else None
        super().__init__(self._session, Totals(settings.statements, now_ms()), settings.every, explain)
        self._prepared = PreparedStatements()
        self._databases: dict[str, str] = {}
        self._account = ""
        self._texts_off = False
        self._lost = 0.0
        self._lost_lately = False
        self._seldom = min(SELDOM_SECONDS, settings.every * 5) - 0.05
        self._whole_due = self._status_due = self._executions_due = self._read_at = 0.0
        self._executions: Counts | None = None
        self._explained = 0.0

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        return self._explainer.missing(self._account)

    def fault(self) -> CollectFault | None:
        if self._lost_lately:
            return CollectFault(text=FULL)
        if self._follower is not None and self._follower.is_skipping:
            return CollectFault(text=SKIPPED.format(bytes=f"{self._follower.skipped_bytes:,}"))
        if self._follower is not None and self._follower.behind > FAR_BEHIND:
            return CollectFault(text=BEHIND.format(bytes=f"{self._follower.behind:,}"))
        if self._coverage.is_low:
            return CollectFault(text=LOW.format(why=self._why()))
        return None

    def explain(self) -> Sequence[str]:
        ratio = self._coverage.ratio
        told = "nothing was executed since" if ratio is None else f"{ratio:.1%} of what was executed is told apart"
        sampled = self._follower.sampled if self._follower else 1
        source = f"the slow log {self._settings.slow_log}" if self._follower else "performance_schema"
        return [
            f"reads {source} of MySQL at {self._session.where}; {told}",
            *([NO_TEXTS] if self._texts_off else []),
            *([SAMPLED.format(one_in=sampled)] if sampled > 1 else []),
        ]

    def close(self) -> None:
        super().close()
        if self._follower is not None:
            self._follower.close()

    def _lasting(self, error: CollectorError) -> CollectorError | None:
        if isinstance(error, NotCountingError):
            return error
        told = f"{error}. GRANT SELECT ON performance_schema.* TO {self._account};"
        return PrivilegeError(told) if self._account else None

    def _why(self) -> str:
        if self._follower is not None:
            return (
                "the slow log does not hold them all: long_query_time, log_slow_rate_limit and log_slow_filter say why"
            )
        if self._texts_off:
            return NO_TEXTS
        return "prepared statements that live shorter than a reading, or statements within stored procedures"

    def _on_connect(self, session: MySQLSession) -> None:
        self._account = account_of(session.query(SELECT_ACCOUNT)[0][0] or "")
        session.execute(SET_ZONE)
        self._databases = {}
        if self._follower is not None:
            return
        state = {(name or "").lower(): (value or "").upper() for name, value in session.query(SHOW_STATE)}
        if state.get("performance_schema") != "ON":
            raise NotCountingError(f"MySQL at {session.where}: {IS_OFF}")
        consumers = {name: enabled for name, enabled in session.query(SELECT_CONSUMERS)}
        if consumers.get("statements_digest") == "NO":
            raise NotCountingError(f"MySQL at {session.where}: {NO_DIGESTS}")
        self._texts_off = session.version.is_mariadb and consumers.get("events_statements_current") == "NO"

    def _read(self) -> list[Sample]:
        began = time.monotonic()
        if self._follower is not None:
            self._explained += self._add_slow_log(self._follower)
        else:
            self._explained += self._add_digests(began) + self._add_prepared(began)
        if self._settings.plans:
            self._explainer.look(None if self._follower is not None else self._session, began)
        at_ms = now_ms()
        if began >= self._status_due:
            # Read last: what ended meanwhile is missing in the coverage of this reading and part of the next one's.
            statuses = {name or "": float(value or 0) for name, value in self._ask(SHOW_STATUS)}
            self._coverage.update(began, statuses, self._explained)
            self._explained, self._status_due = 0.0, began + self._seldom
        self._read_at = began
        return [
            *self._totals.samples(at_ms),
            *self._explainer.plans.samples(at_ms),
            *self._health(time.monotonic() - began),
        ]

    def _health(self, took: float) -> list[Sample]:
        samples = [
            Sample(EXECUTED, self._coverage.executed),
            Sample(EXPLAINED, min(self._coverage.explained, self._coverage.executed)),
            Sample("mysql_statements_lost_total", self._lost),
            Sample("mysql_statements_resets_total", self._resets),
            Sample("mysql_statements_reading_seconds", took),
        ]
        ratio = self._coverage.ratio
        if ratio is not None:
            samples.append(Sample(COVERAGE, ratio))
        if self._follower is not None:
            unreadable = self._follower.unreadable
            samples += [
                Sample("mysql_slow_log_lines_total", float(self._follower.read - unreadable), (("result", "read"),)),
                Sample("mysql_slow_log_lines_total", float(unreadable), (("result", "unreadable"),)),
                Sample("mysql_slow_log_lost_total", float(self._follower.lost)),
                Sample("mysql_slow_log_skipped_bytes_total", float(self._follower.skipped_bytes)),
                Sample("mysql_slow_log_behind_bytes", float(self._follower.behind)),
            ]
        return samples

    def _add_slow_log(self, follower: SlowLogFollower) -> float:
        grown = follower.collect()
        self._totals.add(grown, _only(follower.texts, self._totals.wanted(grown)))
        self._explainer.add(grown, follower.examples)
        return sum(counts[CALLS] for key, counts in grown.items() if follower.words[key] in WORDS)

    def _add_digests(self, began: float) -> float:
        growth = self._growth(began)
        self._resets += growth.resets
        lost = growth.grown.get(OTHER_KEY)
        self._lost += lost[CALLS] if lost else 0.0
        self._lost_lately = lost is not None
        # Executions of statements prepared by SQL are counted with all the other prepared ones.
        grown = {key: counts for key, counts in growth.grown.items() if growth.words.get(key) != _EXECUTE}
        wanted = self._totals.wanted({key: counts for key, counts in grown.items() if key not in TEXTS})
        self._totals.add(grown, self._digest_texts(wanted))
        self._explainer.add(grown)
        return sum(counts[CALLS] for key, counts in grown.items() if growth.words.get(key) in WORDS)

    def _ask(self, sql: str) -> Sequence[Texts]:
        return self._pace.ask(self._session.query, sql)

    def _growth(self, began: float) -> Growth:
        if not self._sums.wants_whole and began < self._whole_due:
            seconds = math.ceil(began - self._read_at) + 2
            rows = digest_rows(self._ask(SELECT_RECENT.format(seconds=seconds)))
            growth = self._sums.update(rows, whole=False, now="")
            if growth is not None:
                return growth
        now = self._session.query(SELECT_NOW)[0][0] or ""
        # Seldom, and so not what the pace goes by.
        rows = digest_rows(self._session.query(SELECT_DIGESTS))
        self._whole_due = began + WHOLE_EVERY_SECONDS
        growth = self._sums.update(rows, whole=True, now=now)
        assert growth is not None
        return growth

    def _digest_texts(self, wanted: Sequence[Key]) -> dict[Key, str]:
        if not wanted:
            return {}
        digests = sorted({key.digest for key in wanted})[:MOST_TEXTS]
        quoted = ", ".join(self._session.quote(digest) for digest in digests)
        rows = self._session.query(SELECT_TEXTS.format(digests=quoted))
        texts = {
            Key(schema or "", digest or ""): COMMENT if digest_of(text or "") in OWN_DIGESTS else mask(text or "")
            for schema, digest, text in rows
        }
        return _only(texts, wanted)

    def _add_prepared(self, began: float) -> float:
        # The sum first: what is executed between the two questions is then seen, and not taken for unseen.
        total = self._executions
        if total is None or began >= self._executions_due:
            before, total = total, total_of(self._ask(SELECT_EXECUTIONS))
            self._executions, self._executions_due = total, began + (self._seldom if total == before else 0.0)
        instances = self._ask(SELECT_INSTANCES)
        threads = {row[0] or "" for row in instances}
        if threads - self._databases.keys():
            rows = self._session.query(SELECT_DATABASES)
            self._databases = {thread or "": database or "" for thread, database in rows}
        owned = [
            Instance(
                (thread or "", statement or ""), text or "", self._databases.get(thread or "", ""), counts_of(counts)
            )
            for thread, statement, text, *counts in instances
        ]
        executed = self._prepared.update(owned, total)
        grown: dict[Key, Counts] = dict(executed.grown)
        texts: Mapping[Key, str] = _only(executed.texts, self._totals.wanted(grown))
        if executed.unseen[CALLS]:
            grown[UNSEEN_KEY] = add(grown.get(UNSEEN_KEY, (0.0,) * len(executed.unseen)), executed.unseen)
            texts = {**texts, UNSEEN_KEY: TEXTS[UNSEEN_KEY]}
        self._totals.add(grown, texts)
        self._explainer.add(executed.grown)
        return sum(counts[CALLS] for key, counts in executed.grown.items() if executed.words[key] in WORDS)


def _only(texts: Mapping[Key, str], keys: Sequence[Key]) -> dict[Key, str]:
    return {key: texts[key] for key in keys if key in texts}


def _follow(settings: MySQLStatementsSettings) -> SlowLogFollower:
    named = rds_instance(settings.slow_log)
    if named is None:
        return SlowLogFollower(settings.slow_log)
    region, instance = named
    client = open_client(settings.host, region, f"slow_log: {RDS}REGION/{instance}")
    return SlowLogFollower(settings.slow_log, RdsLog(client, instance))


MYSQL_STATEMENTS = Source(
    name="mysql_statements",
    help="Statements of MySQL and MariaDB: calls, time, rows and locks of each, and how many of all are told apart.",
    settings=MySQLStatementsSettings,
    build=MySQLStatementsCollector,
    packs=("mysql",),
    borrow=Borrow(block="mysql", groups=(*SERVER_KEYS, ACCOUNT_KEYS), unknown_with="discover"),
    privileges=(
        MissingPrivilege(
            permission="SELECT on performance_schema",
            lost="all statements, unless slow_log is given",
            remedy="GRANT SELECT ON performance_schema.* TO 'loadwatch'@'HOST';",
        ),
        MissingPrivilege(
            permission="SELECT on the application's databases, with plans alone",
            lost="plans of statements",
            remedy="GRANT SELECT ON shop.* TO 'loadwatch'@'HOST';",
        ),
    ),
)
