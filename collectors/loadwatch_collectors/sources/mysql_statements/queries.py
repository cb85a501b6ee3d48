"""What is asked of performance_schema, and how its rows become counts. Times there are in picoseconds."""

import re
from collections.abc import Sequence

from loadwatch_collectors.sources.mysql_statements.prepared import Instance
from loadwatch_collectors.sources.statements.counts import NOTHING, Counts, Key, Row, add
from loadwatch_collectors.sources.statements.totals import OTHER_KEY
from loadwatch_collectors.transport.mysql_session import Row as Texts

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
"""Without INTERVAL: in a digest MariaDB writes its unit in other words, and this statement has to know itself."""
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


def instance_rows(rows: Sequence[Texts], databases: dict[str, str]) -> list[Instance]:
    """Prepared statements; `databases`: of the sessions that own them, by thread."""
    return [
        Instance(
            id=(thread or "", statement or ""),
            text=text or "",
            schema=databases.get(thread or "", ""),
            counts=counts_of(counts),
        )
        for thread, statement, text, *counts in rows
    ]


def total_of(rows: Sequence[Texts]) -> Counts:
    """All executions of prepared statements together."""
    total = NOTHING
    for row in rows:
        total = add(total, counts_of(row))
    return total
