"""What a list says of the first limit of a run, and what an upgrade makes of runs that are there."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import sqlalchemy as sa
from loadwatch_backend.core.database.relational import migrate, open_relational
from loadwatch_backend.findings.model import DiagnosisState, Severity
from loadwatch_backend.findings.schemas import FindingsOut
from loadwatch_backend.runs.registry.documents import first_limit, kept_limits, pack, write_limits
from loadwatch_backend.runs.schemas import FirstLimit, LimitState

from backend.tests.databases import DATABASES, make_database
from backend.tests.findings.said import diagnosis, finding


def nothing_muted(_id: str, _labels: Mapping[str, str]) -> bool:
    return False


def said(findings: FindingsOut | None) -> FirstLimit | None:
    return first_limit(write_limits(kept_limits(findings)), 1_000, nothing_muted)


def test_the_first_finding_that_accuses_leads() -> None:
    noise = finding("host-noise", severity=Severity.INFO)
    pool, database = finding("pool-exhausted", from_ms=4_500), finding("database-full", from_ms=5_000)
    found = said(diagnosis(noise, pool, database))
    assert found is not None
    assert found.title == pool.title
    assert (found.state, found.id, found.after_seconds, found.more) == (LimitState.FOUND, "pool-exhausted", 3.5, 1)


def test_what_is_muted_is_not_said_and_not_taken_for_nothing() -> None:
    kept = write_limits(kept_limits(diagnosis(finding("pool", labels={"job": "app"}), finding("database"))))
    second = first_limit(kept, 0, lambda id, labels: id == "pool" and labels == {"job": "app"})
    assert second is not None
    assert (second.id, second.more) == ("database", 0)
    assert first_limit(kept, 0, lambda _id, _labels: True) == FirstLimit(state=LimitState.MUTED)


def test_that_there_is_none_differs_from_not_knowing() -> None:
    info_only = diagnosis(finding("host-noise", severity=Severity.INFO))
    unknown = diagnosis().model_copy(update={"state": DiagnosisState.CANNOT_TELL})
    states = [found and found.state for found in map(said, (diagnosis(), info_only, unknown, None))]
    assert states == [LimitState.NONE, LimitState.NONE, LimitState.CANNOT_TELL, LimitState.UNKNOWN]
    assert first_limit(None, 0, nothing_muted) is None


@pytest.mark.parametrize("kind", DATABASES)
def test_an_upgrade_fills_in_what_is_known_already(kind: str, tmp_path: Path) -> None:
    url = make_database(kind, tmp_path)
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    migrate(engine, "0013")
    told = diagnosis(finding("pool-exhausted", from_ms=4_500), finding("host-noise", severity=Severity.INFO))
    document = pack(f'{{"findings":{told.model_dump_json()}}}'.encode())
    tables = sa.MetaData()
    tables.reflect(engine)
    runs, parameters, analyses = (tables.tables[name] for name in ("runs", "run_parameters", "run_analyses"))
    with engine.begin() as connection:
        for id, packed in (("a", document), ("b", pack(b'{"findings":null}')), ("c", b"damaged")):
            columns = {c.name: 0 if c.type.python_type in (int, float) else "" for c in runs.c if not c.nullable}
            connection.execute(runs.insert(), {**columns, "id": id})
            connection.execute(analyses.insert(), {"run_id": id, "analysed_ms": 0, "document": packed})
        for name, value in (("pool", "16"), ("wait", "250ms"), ("mode", "fast")):
            connection.execute(parameters.insert(), {"run_id": "a", "name": name, "value": value})
    open_relational(url).close()
    with engine.connect() as connection:
        kept = {row[0]: row[1] for row in connection.execute(sa.text("SELECT id, limits FROM runs"))}
        numbers = {row[0]: row[1] for row in connection.execute(sa.text("SELECT name, number FROM run_parameters"))}
    assert first_limit(kept["a"], 0, nothing_muted) == first_limit(write_limits(kept_limits(told)), 0, nothing_muted)
    unknown = first_limit(kept["b"], 0, nothing_muted)
    assert unknown == FirstLimit(state=LimitState.UNKNOWN)
    assert kept["c"] is None
    assert numbers == {"pool": 16.0, "wait": 0.25, "mode": None}
