"""A run is held against the pinned run of its scenario, else against the one before it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.core.database.relational import Relational, Session, open_relational
from loadwatch_backend.runs.registry.configuration import snapshot_row
from loadwatch_backend.runs.registry.reference import find_reference
from loadwatch_backend.runs.registry.repository import add_run, find_run, pin
from loadwatch_backend.runs.registry.rows import end_row, running_row
from loadwatch_backend.runs.schemas import RunFinish, RunIn, SettingOut, SnapshotOut, SnapshotWhen

from backend.tests.conftest import NOW_MS


@pytest.fixture
def relational(tmp_path: Path) -> Iterator[Relational]:
    relational = open_relational(f"sqlite:///{tmp_path / 'runs.sqlite'}")
    yield relational
    relational.close()


def _setting(key: str, number: float, section: str = "tables") -> SettingOut:
    return SettingOut(
        target="mysql db",
        section=section,
        key=key,
        value=str(number),
        number=number,
        unit="rows",
        deliberate=False,
        important=True,
    )


def _add(session: Session, id: str, minute: int, rows: float, scenario: str = "pool", **given_more: Any) -> None:
    started_ms = NOW_MS + minute * 60_000
    facts: dict[str, Any] = {"target_rate": 100.0} | given_more
    given = RunIn(id=id, name=f"test {id}", scenario=scenario, started_ms=started_ms, clock_ms=NOW_MS, **facts)
    row = running_row(id, given, NOW_MS)
    end_row(row, RunFinish(ended_ms=started_ms + 30_000), NOW_MS)
    row.rate, row.p95_seconds = 99.0, 0.2
    add_run(session, row)
    settings = [_setting("rows hits", rows), _setting("max_connections", 60.0, "database")]
    session.merge(snapshot_row(id, SnapshotOut(when=SnapshotWhen.BEFORE, at_ms=started_ms, settings=settings)))


def test_the_run_before_it_is_what_a_run_is_held_against(relational: Relational) -> None:
    with relational.transaction() as session:
        for id, minute, rows in (("run-a", 0, 100.0), ("run-b", 1, 200.0), ("run-c", 2, 300.0)):
            _add(session, id, minute, rows)
        _add(session, "other", 1, 7.0, "another")
    with relational.transaction() as session:
        before, found = find_reference(session, find_run(session, "run-c"))
        assert found is not None
        assert (found.name, found.rate, found.p95_seconds, found.target_rate) == ("test run-b", 99.0, 0.2, 100.0)
        assert (dict(before), dict(found.before)) == (
            {("mysql db", "rows hits"): 300.0},
            {("mysql db", "rows hits"): 200.0},
        )
        assert find_reference(session, find_run(session, "run-a")) == ({}, None)


def test_the_pinned_run_comes_first_and_is_not_held_against_itself(relational: Relational) -> None:
    with relational.transaction() as session:
        for id, minute in (("run-a", 0), ("run-b", 1), ("run-c", 2)):
            _add(session, id, minute, 1.0)
        pin(session, "pool", "run-a")
    with relational.transaction() as session:
        found = find_reference(session, find_run(session, "run-c"))[1]
        assert found is not None
        assert found.name == "test run-a"
        assert find_reference(session, find_run(session, "run-a"))[1] is None


def test_a_run_without_a_scenario_has_no_reference(relational: Relational) -> None:
    with relational.transaction() as session:
        _add(session, "run-a", 0, 1.0, "")
        _add(session, "run-b", 1, 1.0, "")
    with relational.transaction() as session:
        assert find_reference(session, find_run(session, "run-b")) == ({}, None)


@pytest.mark.parametrize(
    "other",
    [{"parameters": {"pool": "2"}}, {"target_rate": 300.0}, {"tool": "hey"}, {"scenario_version": "2"}],
)
def test_findings_hold_a_run_against_an_equal_one_only(relational: Relational, other: dict[str, Any]) -> None:
    equal: dict[str, Any] = {"parameters": {"pool": "16"}, "tool": "k6"}
    with relational.transaction() as session:
        _add(session, "run-a", 0, 100.0, **equal, commit="1234567890abcdef")
        _add(session, "run-b", 1, 200.0, **equal | other)
        _add(session, "run-c", 2, 300.0, **equal, commit="fedcba0987654321")
        pin(session, "pool", "run-b")
    with relational.transaction() as session:
        found = find_reference(session, find_run(session, "run-c"))[1]
        assert found is not None
        assert (found.id, found.name) == ("run-a", "test run-a (commit 12345678)"), "another commit is said"
        assert find_reference(session, find_run(session, "run-b")) == ({}, None)
