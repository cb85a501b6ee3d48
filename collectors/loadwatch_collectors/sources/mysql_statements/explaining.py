"""Asks MySQL and MariaDB how they run a statement: EXPLAIN of an execution that was seen, nothing else.

An example has its values, so it stays here: what leaves is its text without them and the plan's steps, which hold none.
"""

from collections.abc import Callable, Mapping, Sequence

from loadwatch_formats.statements.fingerprint import LONGEST_READ, Dialect, digest_of, mask
from loadwatch_formats.statements.plans import MYSQL_PLAN, NoPlan, Step, why_not_explained, write_plan

from loadwatch_collectors.collector import MissingPrivilege
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.sources.statements import MOST_PLANS, Counts, Found, Key, Plans, ask_plan
from loadwatch_collectors.transport.mysql_session import MySQLSession, Row

TABLES = ("events_statements_history", "events_statements_current")
SELECT_EXAMPLES = f"""
    SELECT CURRENT_SCHEMA, DIGEST, LEFT(SQL_TEXT, {LONGEST_READ})
      FROM performance_schema.{{table}}
     WHERE SQL_TEXT IS NOT NULL AND LENGTH(SQL_TEXT) < @@GLOBAL.performance_schema_max_sql_text_length
       AND (DIGEST IS NULL OR DIGEST IN ({{digests}}))
     ORDER BY TIMER_WAIT DESC LIMIT 200
"""
LOCK_SECONDS = 1
GUARD = (
    f"SET SESSION lock_wait_timeout = {LOCK_SECONDS}, innodb_lock_wait_timeout = {LOCK_SECONDS}",
    # What a plan is made from may be evaluated: functions of the application, too. They change nothing then.
    "SET SESSION TRANSACTION READ ONLY",
)


def seen_examples(session: MySQLSession, wanted: Sequence[Key]) -> dict[Key, str]:
    """The slowest of the executions that the server remembers, by statement; only within the session's `run`.

    Those of prepared statements have no digest and go by our own.
    """
    digests = ", ".join(session.quote(key.digest) for key in wanted)
    found: dict[Key, str] = {}
    for table in TABLES:
        for schema, digest, text in session.query(SELECT_EXAMPLES.format(table=table, digests=digests)):
            key = Key(schema or "", digest or digest_of(text or ""))
            if key in wanted and text:
                found.setdefault(key, text)
    return found


class Explainer:
    def __init__(self, open_session: Callable[[], MySQLSession]) -> None:
        """`open_session` makes a session of its own: the statement's database becomes that of the session."""
        self._open = open_session
        self.plans = Plans(MYSQL_PLAN, ("schema", "digest"))
        self._wanted: Sequence[Key] = ()
        self._examples: dict[Key, str] = {}

    def add(self, grown: Mapping[Key, Counts], examples: Mapping[Key, str] | None = None) -> None:
        """Add what statements took, and example executions where another source, the slow log, has them."""
        self.plans.add(grown)
        for key, text in (examples or {}).items():
            if len(self._examples) < MOST_PLANS or key in self._examples:
                self._examples[key] = text

    def look(self, session: MySQLSession | None, now: float) -> None:
        """Choose what is explained next, and find an execution of each; only within the session's `run`."""
        self._wanted = self.plans.due(now)
        if self._wanted and session is not None:
            self._examples = seen_examples(session, self._wanted)

    def explain(self, now: float) -> None:
        """Explain what was chosen; a server that cannot be reached now is asked again later."""
        wanted, self._wanted = self._wanted, ()
        examples, self._examples = (self._examples, {}) if wanted else ({}, self._examples)
        asked: list[Key] = []
        for key in wanted:
            text = examples.get(key, "")
            reason = why_not_explained(text, Dialect.MYSQL, placeholders=False)
            if reason is None:
                asked.append(key)
            else:
                self.plans.note(key, Found(reason=reason, example=mask(text)), now)
        if not asked:
            return
        session = self._open()
        try:
            session.run(lambda: [session.execute(one) for one in GUARD])
            for key in asked:
                self.plans.note(key, _explain(session, key, examples[key]), now)
        except CollectorError:
            return
        finally:
            session.close()

    def missing(self, account: str) -> Sequence[MissingPrivilege]:
        return self.plans.missing("SELECT on", lambda schema: f"GRANT SELECT ON {_name(schema)}.* TO {account};")


def _explain(session: MySQLSession, key: Key, text: str) -> Found:
    def ask() -> Sequence[Row]:
        session.execute(f"USE {_name(key.schema)}")
        return session.query(f"EXPLAIN {text}")

    example = mask(text)
    rows = ask_plan(session, ask)
    if isinstance(rows, NoPlan):
        return Found(reason=rows, example=example)
    steps = steps_of(rows)
    return Found(plan=write_plan(steps), example=example) if steps else Found(reason=NoPlan.REFUSED, example=example)


def steps_of(rows: Sequence[Row]) -> list[Step]:
    """Lines of EXPLAIN: ten columns in MariaDB, and `partitions` and `filtered` more in MySQL."""
    steps: list[Step] = []
    for row in rows:
        if len(row) not in (10, 12):
            return []
        wide = len(row) == 12
        access, key, count = (row[4], row[6], row[9]) if wide else (row[3], row[5], row[8])
        steps.append(
            Step(table=row[2], access=access, key=key, rows=float(count) if count else None, extra=row[-1] or None)
        )
    return steps


def _name(schema: str) -> str:
    return "`" + schema.replace("`", "``") + "`"
