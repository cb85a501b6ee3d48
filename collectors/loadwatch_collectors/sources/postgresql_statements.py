"""Counts statements of PostgreSQL by their text, and says what may be missing.

Sums are the collector's own: they never fall when a server's counts are reset. PostgreSQL counts prepared statements by
their text, so nothing is missing for that; it counts no statements beside these, only transactions, each of which has
one statement at least. Fewer calls than transactions are therefore a sign that statements are missing, and as many or
more are none.

No value is known here, so none can leave. `EXPLAIN (GENERIC_PLAN)` begins with PostgreSQL 16; a prepared statement
whose generic plan is forced says the same in all of them.
"""

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from loadwatch_formats.metrics.postgresql_statements import COVERAGE, EXECUTED, EXPLAINED, FIELDS, LABELS
from loadwatch_formats.own_traffic import COMMENT
from loadwatch_formats.statements.fingerprint import LONGEST_READ, Dialect, mask
from loadwatch_formats.statements.plans import POSTGRESQL_PLAN, NoPlan, Step, why_not_explained, write_plan

from loadwatch_collectors.collector import Borrow, CollectFault, MissingPrivilege, Sample, Source
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.settings import Seconds, option
from loadwatch_collectors.sources.statements import (
    CALLS,
    MOST_KNOWN,
    OTHER_KEY,
    Counts,
    Found,
    Key,
    NotCountingError,
    Plans,
    Row,
    StatementsCollector,
    Totals,
    ask_plan,
    counted,
    now_ms,
)
from loadwatch_collectors.transport.postgresql_session import BORROWED_KEYS, PostgreSQLLogin, PostgreSQLSession

SELECT_WHOLE = f"""
    SELECT d.datname, s.queryid::text, left(min(s.query), {LONGEST_READ})
      FROM {{schema}}.pg_stat_statements s LEFT JOIN pg_catalog.pg_database d ON d.oid = s.dbid
     WHERE s.queryid = ANY(%s::int8[]) GROUP BY 1, 2
"""
GUARD = ("SET default_transaction_read_only = on", "SET plan_cache_mode = force_generic_plan")
MOST_PARAMETERS = 2_000
MOST_DEPTH = 64
_PARAMETER = re.compile(r"\$(\d{1,5})(?!\d)")


class Explainer:
    def __init__(self, open_session: Callable[[str], PostgreSQLSession]) -> None:
        self._open = open_session
        self.plans = Plans(POSTGRESQL_PLAN, ("datname", "queryid"))
        self._texts: dict[Key, str] = {}

    def look(self, session: PostgreSQLSession, schema: str, grown: Mapping[Key, Counts], now: float) -> None:
        """Choose what is explained next, and read its whole text; only within the session's `run`."""
        self.plans.add(grown)
        wanted = self.plans.due(now)
        rows = session.query(SELECT_WHOLE.format(schema=schema), [[key.digest for key in wanted]]) if wanted else ()
        texts = {Key(database or "", query): text or "" for database, query, text in rows}
        self._texts = {key: texts.get(key, "") for key in wanted}

    def explain(self, now: float) -> None:
        """Explain what was chosen; a database that cannot be reached now is asked again later."""
        chosen, self._texts = self._texts, {}
        asked: defaultdict[str, dict[Key, str]] = defaultdict(dict)
        for key, text in chosen.items():
            reason = why_not_explained(text, Dialect.POSTGRESQL, placeholders=True)
            if reason is None:
                asked[key.schema][key] = text
            else:
                self.plans.note(key, Found(reason=reason), now)
        for database, texts in asked.items():
            self._explain(database, texts, now)

    def missing(self, user: str) -> Sequence[MissingPrivilege]:
        return self.plans.missing("SELECT on the tables of", lambda _: f"GRANT pg_read_all_data TO {user};")

    def _explain(self, database: str, texts: Mapping[Key, str], now: float) -> None:
        session = self._open(database)
        try:
            session.run(lambda: [session.execute(one) for one in GUARD])
            for place, (key, text) in enumerate(texts.items()):
                self.plans.note(key, _found(session, f"loadwatch_{place}", text), now)
        except PrivilegeError:
            for key in texts:
                self.plans.note(key, Found(reason=NoPlan.NOT_PERMITTED), now)
        except CollectorError:
            return
        finally:
            session.close()


def _found(session: PostgreSQLSession, name: str, text: str) -> Found:
    most = max((int(number) for number in _PARAMETER.findall(text)), default=0)
    if most > MOST_PARAMETERS:
        return Found(reason=NoPlan.REFUSED)
    values = f"({', '.join(['NULL'] * most)})" if most else ""

    def ask() -> Sequence[Sequence[Any]]:
        session.execute(f"PREPARE {name} AS {text}")
        return session.query(f"EXPLAIN (FORMAT JSON) EXECUTE {name}{values}")

    rows = ask_plan(session, ask)
    if isinstance(rows, NoPlan):
        return Found(reason=rows)
    return Found(plan=write_plan(list(steps_of(rows[0][0][0]["Plan"]))))


def steps_of(node: Mapping[str, Any], depth: int = 0) -> Iterable[Step]:
    """The nodes of a plan, each before those that it reads from; conditions may hold values and are left out."""
    yield Step(
        table=node.get("Relation Name") or node.get("Function Name") or node.get("CTE Name"),
        access=node.get("Node Type"),
        key=node.get("Index Name"),
        rows=node.get("Plan Rows"),
    )
    if depth < MOST_DEPTH:
        for child in node.get("Plans", ()):
            yield from steps_of(child, depth + 1)


SELECT_STATE = """
    SELECT current_setting('server_version_num')::int, current_setting('pg_stat_statements.max', true),
           current_setting('pg_stat_statements.track', true),
           (SELECT quote_ident(nspname) FROM pg_catalog.pg_extension e
              JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'pg_stat_statements'),
           pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'usage')
"""
SELECT_SUMS = f"""
    SELECT d.datname, s.queryid::text, sum(s.calls)::float8, sum(s.total_exec_time)::float8, sum(s.rows)::float8
      FROM {{schema}}.pg_stat_statements(false) s LEFT JOIN pg_catalog.pg_database d ON d.oid = s.dbid
     WHERE s.toplevel GROUP BY 1, 2 LIMIT {MOST_KNOWN}
"""
SELECT_INFO = "SELECT dealloc::float8, stats_reset::text FROM {schema}.pg_stat_statements_info"
SELECT_TRANSACTIONS = "SELECT sum(xact_commit + xact_rollback)::float8 FROM pg_catalog.pg_stat_database"
SELECT_TEXTS = """
    SELECT d.datname, s.queryid::text, left(min(s.query), 2048)
      FROM {schema}.pg_stat_statements s LEFT JOIN pg_catalog.pg_database d ON d.oid = s.dbid
     WHERE s.queryid = ANY(%s::int8[]) GROUP BY 1, 2
"""


MOST_TEXTS = 500

NOT_LOADED = (
    "the server counts no statements: write shared_preload_libraries = 'pg_stat_statements' in postgresql.conf and "
    "restart it (RDS and Aurora: in the parameter group, where it is the default)"
)
NO_EXTENSION = "the database {database} lacks the view: CREATE EXTENSION pg_stat_statements; as its owner"
TRACKS_NONE = "pg_stat_statements.track is none: ALTER SYSTEM SET pg_stat_statements.track = 'top'; and reload"
TOO_OLD = "PostgreSQL 14 or later is needed for its statements, and this is {version}"
GRANT = "GRANT pg_read_all_stats TO {user};"
EVICTING = (
    "pg_stat_statements forgets statements to have room for new ones, and what they did since the last reading with "
    "them: raise pg_stat_statements.max"
)
LOW = (
    "at most {ratio:.0%} of the statements of the last minute are counted: the server ended {transactions:,.0f} "
    "transactions and pg_stat_statements counted {calls:,.0f} statements. Statements that failed are not counted; "
    "sessions may have pg_stat_statements.track = none"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgreSQLStatementsSettings(PostgreSQLLogin):
    """Statements of a PostgreSQL server, of all its databases; `database` is where the extension is."""

    every: Seconds = option(help="Time between two readings; longer where the server has many statements.", default=1.0)
    statements: int = option(help="Statements with series of their own, by time; the rest is `other`.", default=200)
    plans: bool = option(
        help="Ask the server with EXPLAIN how it runs the statements that take most time; needs the right to read "
        "their tables.",
        default=False,
    )

    def __post_init__(self) -> None:
        PostgreSQLLogin.__post_init__(self)
        if not 1 <= self.statements <= 2_000:
            raise ValueError("statements must be between 1 and 2000")


class PostgreSQLStatementsCollector(StatementsCollector):
    def __init__(self, settings: PostgreSQLStatementsSettings) -> None:
        """Read the password; the session is opened by the first `collect`."""
        self._settings = settings
        self._session = PostgreSQLSession(settings, self._on_connect, shared=True)
        totals = Totals(settings.statements, now_ms(), names=FIELDS, labels=LABELS)
        self._explainer = Explainer(lambda database: PostgreSQLSession(replace(settings, database=database)))
        super().__init__(self._session, totals, settings.every, self._explainer.explain if settings.plans else None)
        self._schema = ""
        self._sees_all = True
        self._evicted = 0.0
        self._known: tuple[float, str] | None = None
        """Evictions and time of the last reset, as they were at the last reading."""
        self._evicted_lately = False

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        unexplained = self._explainer.missing(self._settings.user)
        if self._sees_all:
            return unexplained
        return [
            *unexplained,
            MissingPrivilege(
                permission="pg_read_all_stats",
                lost="texts of the statements of other roles, which all stand together as `other`",
                remedy=GRANT.format(user=self._settings.user),
            ),
        ]

    def fault(self) -> CollectFault | None:
        if self._evicted_lately:
            return CollectFault(text=EVICTING)
        if self._coverage.is_low:
            transactions, calls = self._coverage.lately
            return CollectFault(text=LOW.format(ratio=calls / transactions, transactions=transactions, calls=calls))
        return None

    def explain(self) -> Sequence[str]:
        return [
            f"reads pg_stat_statements of PostgreSQL at {self._session.where}, database {self._settings.database}, of "
            "all databases; PostgreSQL counts transactions and no statements beside it, so what is missing can only be "
            "told where there are more transactions than calls"
        ]

    def _on_connect(self, session: PostgreSQLSession) -> None:
        ((version, most, track, schema, sees_all),) = session.query(SELECT_STATE)
        where = f"PostgreSQL at {session.where}"
        if version < 140_000:
            raise NotCountingError(f"{where}: {TOO_OLD.format(version=version // 10_000)}")
        # The setting is there once the library is loaded, or the view was used; only a superuser may read which are.
        if most is None and schema is None:
            raise NotCountingError(f"{where}: {NOT_LOADED}, then CREATE EXTENSION pg_stat_statements;")
        if most is None:
            raise NotCountingError(f"{where}: {NOT_LOADED}")
        if schema is None:
            raise NotCountingError(f"{where}: {NO_EXTENSION.format(database=self._settings.database)}")
        if track == "none":
            raise NotCountingError(f"{where}: {TRACKS_NONE}")
        self._schema, self._sees_all = schema, sees_all

    def _read(self) -> list[Sample]:
        began = time.monotonic()
        session, schema = self._session, self._schema
        ((evicted, reset),) = self._pace.ask(session.query, SELECT_INFO.format(schema=schema))
        rows = [
            Row(
                key=Key(database or "", query) if query else OTHER_KEY,
                since=reset or "",
                counts=counted(calls=calls, seconds=milliseconds / 1_000, rows_sent=sent),
                word="",
            )
            for database, query, calls, milliseconds, sent in self._pace.ask(
                session.query, SELECT_SUMS.format(schema=schema)
            )
        ]
        # Each reading is of the whole table: what was not there began after the last one, and counts from nothing.
        growth = self._sums.update(rows, whole=True, now="")
        assert growth is not None
        wanted = self._totals.wanted({key: counts for key, counts in growth.grown.items() if key != OTHER_KEY})
        self._totals.add(growth.grown, self._texts(wanted))
        if self._settings.plans:
            self._explainer.look(session, schema, growth.grown, began)
        ((transactions,),) = self._pace.ask(session.query, SELECT_TRANSACTIONS)
        calls = sum(counts[CALLS] for counts in growth.grown.values())
        self._coverage.update(began, {"transactions": transactions or 0.0}, calls)
        if self._known is not None:
            self._resets += reset != self._known[1]
            step = evicted - self._known[0] if evicted >= self._known[0] else evicted
            self._evicted += step
            self._evicted_lately = step > 0
        self._known = evicted, reset
        health = [
            Sample(EXECUTED, self._coverage.executed),
            Sample(EXPLAINED, self._coverage.explained),
            Sample("pg_statements_resets_total", self._resets),
            Sample("pg_statements_evicted_total", self._evicted),
            Sample("pg_statements_reading_seconds", time.monotonic() - began),
        ]
        ratio = self._coverage.ratio
        if ratio is not None:
            health.append(Sample(COVERAGE, ratio))
        at_ms = now_ms()
        return [*self._totals.samples(at_ms), *self._explainer.plans.samples(at_ms), *health]

    def _texts(self, wanted: Sequence[Key]) -> dict[Key, str]:
        if not wanted:
            return {}
        ids = sorted({key.digest for key in wanted})[:MOST_TEXTS]
        rows = self._session.query(SELECT_TEXTS.format(schema=self._schema), [ids])
        texts = {
            Key(database or "", query): COMMENT if COMMENT in (text or "") else mask(text or "", Dialect.POSTGRESQL)
            for database, query, text in rows
            if query
        }
        return {key: texts[key] for key in wanted if key in texts}


POSTGRESQL_STATEMENTS = Source(
    name="postgresql_statements",
    help="Statements of PostgreSQL: calls, time and rows of each, from pg_stat_statements.",
    settings=PostgreSQLStatementsSettings,
    build=PostgreSQLStatementsCollector,
    packs=("postgresql",),
    borrow=Borrow(block="postgresql", groups=BORROWED_KEYS),
    privileges=(
        MissingPrivilege(
            permission="pg_read_all_stats",
            lost="texts of the statements of other roles",
            remedy="GRANT pg_read_all_stats TO loadwatch;",
        ),
        MissingPrivilege(
            permission="SELECT on the application's tables, with plans alone",
            lost="plans of statements",
            remedy="GRANT pg_read_all_data TO loadwatch;",
        ),
    ),
)
