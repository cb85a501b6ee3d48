"""Asks PostgreSQL how it runs a statement: the plan for any values, of the text that pg_stat_statements keeps.

No value is known here, so none can leave. `EXPLAIN (GENERIC_PLAN)` begins with PostgreSQL 16; a prepared statement
whose generic plan is forced says the same in all of them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from loadwatch_formats.statements.fingerprint import LONGEST_READ
from loadwatch_formats.statements.plans import POSTGRESQL_PLAN, NoPlan, Step, why_not_explained, write_plan
from loadwatch_formats.statements.tokens import Dialect

from loadwatch_collectors.collector import MissingPrivilege, Sample
from loadwatch_collectors.errors import CollectorError, PrivilegeError
from loadwatch_collectors.sources.statements.counts import Counts, Key
from loadwatch_collectors.sources.statements.plans import Found, Plans
from loadwatch_collectors.transport.postgresql_session import PostgreSQLSession

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
    """Explains the dearest statements of one server, a few at a time."""

    def __init__(self, open_session: Callable[[str], PostgreSQLSession]) -> None:
        """`open_session` makes a session with a database by its name."""
        self._open = open_session
        self._plans = Plans(POSTGRESQL_PLAN, ("datname", "queryid"))
        self._texts: dict[Key, str] = {}

    def look(self, session: PostgreSQLSession, schema: str, grown: Mapping[Key, Counts], now: float) -> None:
        """Choose what is explained next, and read its whole text; only within the session's `run`."""
        self._plans.add(grown)
        wanted = self._plans.due(now)
        rows = session.query(SELECT_WHOLE.format(schema=schema), [[key.digest for key in wanted]]) if wanted else ()
        texts = {Key(database or "", query): text or "" for database, query, text in rows}
        self._texts = {key: texts.get(key, "") for key in wanted}

    def explain(self, now: float) -> None:
        """Explain what was chosen; a database that cannot be reached now is asked again later."""
        chosen, self._texts = self._texts, {}
        for key, text in chosen.items():
            reason = why_not_explained(text, Dialect.POSTGRESQL, placeholders=True)
            if reason is not None:
                self._plans.note(key, Found(reason=reason), now)
        for database in {key.schema for key in chosen}:
            self._explain(
                database,
                {
                    key: text
                    for key, text in chosen.items()
                    if key.schema == database and why_not_explained(text, Dialect.POSTGRESQL, placeholders=True) is None
                },
                now,
            )

    def samples(self, now_ms: int) -> Iterable[Sample]:
        """See `Plans.samples`."""
        return self._plans.samples(now_ms)

    def missing(self, user: str) -> Sequence[MissingPrivilege]:
        """The databases whose statements may not be explained."""
        return [
            MissingPrivilege(
                permission=f"SELECT on the tables of {database}",
                lost="plans of its statements",
                remedy=f"GRANT pg_read_all_data TO {user};",
            )
            for database in self._plans.refused_schemas()
        ]

    def _explain(self, database: str, texts: Mapping[Key, str], now: float) -> None:
        if not texts:
            return
        session = self._open(database)
        try:
            session.run(lambda: [session.execute(one) for one in GUARD])
            for place, (key, text) in enumerate(texts.items()):
                self._plans.note(key, _found(session, f"loadwatch_{place}", text), now)
        except PrivilegeError:
            for key in texts:
                self._plans.note(key, Found(reason=NoPlan.NOT_PERMITTED), now)
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

    try:
        rows = session.run(ask)
    except PrivilegeError:
        return Found(reason=NoPlan.NOT_PERMITTED)
    except CollectorError:
        return Found(reason=NoPlan.REFUSED)
    steps = list(steps_of(rows[0][0][0]["Plan"]))
    return Found(plan=write_plan(steps))


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
