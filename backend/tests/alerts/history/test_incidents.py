"""Which alerts are one incident: by findings, by run, alone; what was said to it holds for who joins it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from loadwatch_backend.alerting.alerts.evaluation.explain import NO_RUNS, TrackedAlert
from loadwatch_backend.alerting.alerts.history.episodes import RuleFacts, facts_of
from loadwatch_backend.alerting.alerts.history.incidents import (
    Acknowledged,
    Member,
    UnderWay,
    head_of,
    join,
    keys_of,
    new_incident,
)
from loadwatch_backend.alerting.alerts.history.journal import Entry
from loadwatch_backend.alerting.alerts.history.repository import write_acknowledgement
from loadwatch_backend.alerting.alerts.history.tables import EpisodeRow, TransitionRow
from loadwatch_backend.alerting.alerts.schemas import AlertState
from loadwatch_backend.alerting.notify.causes import annotations_of
from loadwatch_backend.alerting.rules.model import Rule, RuleGroup, RuleResult
from sqlalchemy import select, text

from backend.tests.alerts.journal_parts import Books, open_books
from backend.tests.alerts.machine_parts import NOW_MS, Player, during, make_rule, read
from backend.tests.notify.causes.moments import APP, DB, EXPLAINED, OTHER_APP, moment, standing

DATABASE = standing("database-cpu-full", DB)
POOL = standing("pool-exhausted", APP)
POOL_AFTER_DATABASE = standing("pool-exhausted", APP, because_of=[DATABASE])
OTHER_POOL = standing("pool-exhausted", OTHER_APP)
OF_DATABASE = annotations_of(DATABASE, moment(DATABASE, POOL_AFTER_DATABASE))
OF_POOL = annotations_of(POOL, moment(POOL))
OF_OTHER_POOL = annotations_of(OTHER_POOL, moment(OTHER_POOL))
SEEN = Acknowledged(by="mika", at_ms=NOW_MS, comment="mine")


def alert(id: str, finding: Mapping[str, str] | None = None, run: str = "", **labels: str) -> TrackedAlert:
    return TrackedAlert(
        id=id,
        source={"i": id},
        labels={"alertname": "X", **labels, **({"run": run} if run else {})},
        annotations={},
        value=1.0,
        state=AlertState.FIRING,
        active_ms=NOW_MS,
        held_from_ms=NOW_MS,
        finding=finding or {},
    )


def test_one_finding_is_one_incident_and_another_place_is_another():
    joined = join([alert("a", OF_POOL), alert("b", OF_POOL), alert("c", OF_OTHER_POOL)], [], NOW_MS).joined
    assert joined["a"] == joined["b"] != joined["c"]


def test_without_a_finding_it_is_the_run_and_without_a_run_nothing():
    joined = join([alert("a", run="r1"), alert("b", run="r1"), alert("c", run="r2"), alert("d")], [], NOW_MS).joined
    assert joined["a"] == joined["b"] != joined["c"]
    assert "d" not in joined
    assert keys_of(alert("a", OF_POOL, run="r1")) == keys_of(alert("b", OF_POOL))


def test_what_joins_is_with_what_goes_on():
    begun = join([alert("a", OF_POOL)], [], NOW_MS).joined["a"]
    assert join([alert("b", OF_POOL)], [UnderWay(id=begun)], NOW_MS + 9_000).joined == {"b": begun}
    later = join([alert("b", OF_POOL)], [], NOW_MS + 9_000).joined["b"]
    assert later != begun
    assert later[:16] == begun[:16]


def test_a_cause_that_becomes_known_makes_its_consequences_one_incident():
    pool, database = new_incident(keys_of(alert("", OF_POOL))[0], NOW_MS - 2), new_incident("f" * 16, NOW_MS)
    alerts = [alert("a", OF_POOL), alert("b", OF_DATABASE)]
    assert join(alerts[1:], [UnderWay(id=pool)], NOW_MS).joined == {"b": pool}
    database = new_incident(keys_of(alerts[1])[0], NOW_MS - 1)
    found = join(alerts, [UnderWay(id=database), UnderWay(id=pool)], NOW_MS)
    assert found.joined == {"a": pool, "b": pool}
    assert found.merged == {database: pool}


def test_who_joins_what_was_acknowledged_may_be_acknowledged():
    begun = new_incident(keys_of(alert("a", OF_POOL))[0], NOW_MS)
    assert join([alert("b", OF_POOL)], [UnderWay(id=begun, acknowledged=SEEN)], NOW_MS).acknowledged == {"b": SEEN}
    assert not join([alert("b", OF_POOL)], [UnderWay(id=begun)], NOW_MS).acknowledged
    assert not join([alert("c", OF_OTHER_POOL)], [UnderWay(id=begun, acknowledged=SEEN)], NOW_MS).acknowledged


def member(
    id: str, name: str, active_ms: int, finding: Mapping[str, str], severity: str = "warning", *, firing: bool = True
) -> Member:
    known = EXPLAINED({"alertname": name})
    tells = known is not None and finding.get("finding_id") in known.about
    return Member(id=id, firing=firing, reports=tells, active_ms=active_ms, severity=severity)


def test_the_most_severe_alert_that_fires_stands_for_the_incident():
    high = member("h", "DatabaseConnectionsHigh", 1, OF_POOL)
    refused = member("r", "DatabaseConnectionsRefused", 2, OF_POOL, "critical")
    assert head_of([high, refused]) == "r"
    assert head_of([high, replace(refused, firing=False)]) == "h", "what is over does not stand for what fires"
    assert head_of([replace(one, firing=False) for one in (high, refused)]) == "r"
    full = member("f", "DatabaseConnectionsHigh", 1, OF_POOL, "critical")
    assert head_of([full, refused]) == "f"
    assert head_of([replace(full, held=True), refused]) == "r", "the one that is sent"
    assert head_of([high, member("p", "Own", 3, {}, "page")]) == "p", "teams have words of their own"
    assert head_of([high, member("i", "Own", 0, {}, "info")]) == "h"


def test_of_equally_severe_alerts_the_one_that_tells_of_the_finding_stands_else_the_first():
    timeouts = member("t", "LoadTimeouts", 1, OF_POOL)
    waits = member("w", "PoolWaits", 2, OF_POOL)
    saturated = member("s", "PoolSaturated", 3, OF_POOL)
    assert head_of([timeouts, saturated, waits]) == "w"
    assert head_of([timeouts, member("o", "Other", 2, {})]) == "t"


# In the database ------------------------------------------------------------------------------------------------------


@pytest.fixture
def books(database_url: str) -> Iterator[Books]:
    with open_books(database_url) as opened:
        yield opened
        with opened.relational.engine.begin() as connection:
            for table in ("taken", "alert_transitions", "alert_episodes", "alert_evaluations", "leaderships"):
                connection.execute(text(f"DELETE FROM {table}"))


def facts(rule: Rule) -> RuleFacts:
    return facts_of(RuleGroup(name="g", file="f.yml", interval_ms=1_000, rules=[rule]), rule)


def play(books: Books, player: Player, second: float, result: RuleResult, run: str = "") -> None:
    step = player.at(second, result, during(run) if run else NO_RUNS)
    entry = Entry(facts=facts(player.rule), step=step)
    books.journal.write([entry], NOW_MS + int(second * 1_000))


def rows(books: Books) -> dict[str, EpisodeRow]:
    with books.relational.transaction() as session:
        return {row.source: row for row in session.scalars(select(EpisodeRow))}


def rows_by_id(books: Books) -> Sequence[EpisodeRow]:
    with books.relational.transaction() as session:
        return session.scalars(select(EpisodeRow)).all()


def test_an_alert_without_a_finding_is_alone(books: Books) -> None:
    play(books, Player(make_rule()), 0, read(["a", "b"]))
    assert {row.incident for row in rows(books).values()} == {None}


def test_alerts_of_two_rules_are_one_incident_also_after_a_restart(books: Books) -> None:
    for name in ("One", "Two"):
        play(books, Player(make_rule(name=name), explain=lambda _alert: OF_POOL, ids=name), 0, read([name]))
        books.journal.load(NOW_MS, 600_000)
    found = {row.incident for row in rows(books).values()}
    assert len(found) == 1
    assert None not in found


def test_an_alert_moves_when_its_finding_becomes_known(books: Books) -> None:
    known: dict[str, str] = {}
    player = Player(make_rule(), explain=lambda _alert: known)
    play(books, player, 0, read(["a", "b"]), "r1")
    (of_run,) = {row.incident for row in rows(books).values()}
    known.update(OF_POOL)
    play(books, player, 5, read(["a", "b"]), "r1")
    (of_finding,) = {row.incident for row in rows(books).values()}
    assert of_finding not in (of_run, None)
    assert books.ledger.annotated.keys() == {row.id for row in rows(books).values()}


@pytest.mark.parametrize("run", ["", "r1"])
def test_what_comes_back_to_an_acknowledged_incident_is_acknowledged_and_says_so(books: Books, run: str) -> None:
    player = Player(make_rule(name="One"), explain=lambda _alert: OF_POOL)
    play(books, player, 0, read(["a", "b"]), run)
    with books.relational.transaction() as session:
        write_acknowledgement(session, ["e1", "e2"], "mika", NOW_MS, "mine")
    play(books, player, 5, read(["a"], ["b"]), run)
    play(books, player, 9, read(["a", "b"]), run)
    with books.relational.transaction() as session:
        found = session.get_one(EpisodeRow, "e3")
        assert (found.acknowledged_by, found.acknowledged_ms, found.acknowledged_comment) == ("mika", NOW_MS, "mine")
        said = session.scalars(select(TransitionRow).where(TransitionRow.alert_id == "e3")).all()
    assert [(one.to_state, one.reason, one.actor) for one in said] == [
        ("firing", "", ""),
        ("firing", "joined", "mika"),
    ]
    assert books.taken()[-1] == ("e3", None)


@pytest.mark.parametrize(("rule", "series", "run"), [("Two", "b", ""), ("One", "c", ""), ("One", "b", "r1")])
def test_what_is_new_in_an_acknowledged_incident_is_not(books: Books, rule: str, series: str, run: str) -> None:
    """Another rule, another instance, and what was only of a load test when somebody acknowledged it."""
    player = Player(make_rule(name="One"), explain=lambda _alert: OF_POOL)
    play(books, player, 0, read(["b"]), run)
    other = Player(make_rule(name="Three"), explain=lambda _alert: OF_POOL, ids="goes-on")
    play(books, other, 0, read(["b"]))
    with books.relational.transaction() as session:
        write_acknowledgement(session, ["e1", "goes-on1"], "mika", NOW_MS, "mine")
    play(books, player, 5, read([], ["b"]))
    late = Player(make_rule(name=rule), explain=lambda _alert: OF_POOL, ids="new")
    play(books, late, 9, read([series]))
    found = {row.id: row for row in rows_by_id(books)}
    assert found["new1"].incident == found["goes-on1"].incident
    assert found["new1"].acknowledged_by is None


def test_when_all_have_ended_the_next_one_is_another_incident(books: Books) -> None:
    player = Player(make_rule(), explain=lambda _alert: OF_POOL)
    play(books, player, 0, read(["a"]))
    play(books, player, 1, read((), ["a"]))
    play(books, player, 2, read(["a"]))
    with books.relational.transaction() as session:
        assert len(set(session.scalars(select(EpisodeRow.incident)))) == 2
