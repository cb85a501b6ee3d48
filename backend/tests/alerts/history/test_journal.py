"""Changes on disk: whole or not at all, read back as they were, many at once with few statements."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from loadwatch_backend.alerting.alerts.evaluation.evaluator import states_of
from loadwatch_backend.alerting.alerts.evaluation.explain import NO_RUNS, RuleStates, Runs, Step
from loadwatch_backend.alerting.alerts.evaluation.machine import MachineSettings, resolve_all
from loadwatch_backend.alerting.alerts.history.episodes import RuleFacts, facts_of
from loadwatch_backend.alerting.alerts.history.journal import Entry
from loadwatch_backend.alerting.alerts.history.repository import write_acknowledgement
from loadwatch_backend.alerting.alerts.history.tables import EpisodeRow, TransitionRow
from loadwatch_backend.alerting.alerts.schemas import AlertState, ResolvedReason
from loadwatch_backend.alerting.rules.model import Rule, RuleGroup, RuleResult
from loadwatch_backend.core.database.leadership import LeadershipLostError
from sqlalchemy import func, select, text

from backend.tests.alerts.journal_parts import Books, open_books
from backend.tests.alerts.machine_parts import NOW_MS, Player, after, during, make_rule, read

WINDOW_MS = 600_000


@pytest.fixture
def books(database_url: str) -> Iterator[Books]:
    with open_books(database_url) as opened:
        yield opened
        with opened.relational.engine.begin() as connection:
            for table in ("taken", "alert_transitions", "alert_episodes", "alert_evaluations", "leaderships"):
                connection.execute(text(f"DELETE FROM {table}"))


def facts(rule: Rule) -> RuleFacts:
    return facts_of(RuleGroup(name="g", file="f.yml", interval_ms=1_000, rules=[rule]), rule)


def play(books: Books, player: Player, second: float, result: RuleResult, runs: Runs = NO_RUNS) -> Step:
    """One evaluation, written."""
    step = player.at(second, result, runs)
    books.journal.write([Entry(facts=facts(player.rule), step=step)], NOW_MS + int(second * 1_000))
    return step


def recalled(books: Books, rule: Rule, at_s: float) -> RuleStates:
    """What another server would know."""
    found = books.journal.load(NOW_MS + int(at_s * 1_000), WINDOW_MS)
    return states_of(found).get(rule.id, RuleStates())


def test_states_are_read_back_as_they_were(books: Books) -> None:
    settings = MachineSettings(flap_changes=3, flap_hold_ms=60_000)
    player = Player(make_rule(for_s=2, keep_s=30), settings)
    play(books, player, 0, read(["pending", "vanishes"]))
    play(books, player, 1, read(["pending"]))
    assert recalled(books, player.rule, 1).alerts == player.states.alerts
    play(books, player, 2, read(["holds", "pending"]))
    play(books, player, 4, read(["holds", "pending"]))
    play(books, player, 5, read(["pending"], ["holds"]))
    back = recalled(books, player.rule, 5)
    assert back.alerts == player.states.alerts
    assert {alert.state for alert in back.alerts.values()} == {AlertState.PENDING, AlertState.FIRING}
    assert back.swings == player.states.swings


def test_changes_and_what_is_told_are_one_transaction(books: Books) -> None:
    player = Player(make_rule())
    books.ledger.fails = True
    with pytest.raises(OSError, match="full"):
        play(books, player, 0, read(["a"]))
    assert books.taken() == []
    assert not recalled(books, player.rule, 0).alerts
    assert not books.told
    books.ledger.fails = False
    player = Player(make_rule())
    step = play(books, player, 1, read(["a"]))
    assert books.taken() == [(step.changed[0].id, None)]
    assert books.told == [1]


def test_only_beginnings_and_ends_of_firing_are_told(books: Books) -> None:
    player = Player(make_rule(for_s=1))
    play(books, player, 0, read(["a", "b"]))
    play(books, player, 1, read(["a"], ["b"]))
    play(books, player, 2, read())
    play(books, player, 3, read([], ["a"]))
    fired = next(one for one in player.said if one.alert.source == {"i": "a"}).alert.id
    assert books.taken() == [(fired, None), (fired, NOW_MS + 3_000)]


def test_nobody_writes_who_does_not_lead(books: Books) -> None:
    player = Player(make_rule())
    with books.relational.transaction() as session:
        session.execute(text("UPDATE leaderships SET holder = 'other', epoch = epoch + 1"))
    with pytest.raises(LeadershipLostError):
        play(books, player, 0, read(["a"]))
    assert books.taken() == []
    with pytest.raises(LeadershipLostError):
        books.journal.beat(NOW_MS)


def test_time_in_which_nobody_evaluated_counts_for_nothing(books: Books) -> None:
    player = Player(make_rule(for_s=10))
    play(books, player, 0, read(["a"]))
    books.journal.beat(NOW_MS + 4_000)
    player.states = recalled(books, player.rule, 104)
    (alert,) = player.states.alerts.values()
    assert alert.active_ms == NOW_MS
    player.at(109, read(["a"]))
    assert next(iter(player.states.alerts.values())).state is AlertState.PENDING
    player.at(110, read(["a"]))
    assert next(iter(player.states.alerts.values())).state is AlertState.FIRING
    # The next start does not count it a second time.
    assert next(iter(recalled(books, player.rule, 104).alerts.values())).held_from_ms == NOW_MS + 100_000


def test_a_clock_set_back_meanwhile_moves_all_times(books: Books) -> None:
    player = Player(make_rule(for_s=10))
    play(books, player, 0, read(["a"]))
    books.journal.beat(NOW_MS + 4_000)
    (alert,) = recalled(books, player.rule, 4 - 3_600).alerts.values()
    assert alert.active_ms == NOW_MS - 3_600_000
    assert alert.held_from_ms == NOW_MS - 3_600_000


def test_the_run_under_way_is_kept_with_the_alert(books: Books) -> None:
    player = Player(make_rule())
    play(books, player, 0, read(["a"]), during("r1", "naïve"))
    with books.relational.transaction() as session:
        row = session.scalars(select(EpisodeRow)).one()
        assert (row.run_id, row.run_name) == ("r1", "naïve")


def test_what_outlives_its_run_is_handed_over_without_its_label_and_keeps_its_story(books: Books) -> None:
    player = Player(make_rule())
    play(books, player, 0, read(["a"]), during("r1", "naïve"))
    with books.relational.transaction() as session:
        write_acknowledgement(session, ["e1"], "mika", NOW_MS, "mine")
    play(books, player, 20, read(["a"]), after(4))
    assert [(one.key, dict(one.labels), one.acknowledged) for one in books.ledger.given] == [
        ("e1", {"alertname": "TooMany", "i": "a", "run": "r1"}, False),
        ("e1", {"alertname": "TooMany", "i": "a"}, True),
    ]
    assert books.ledger.given[0].identity == books.ledger.given[1].identity == books.ledger.given[1].labels
    assert recalled(books, player.rule, 20).alerts == player.states.alerts
    with books.relational.transaction() as session:
        row = session.scalars(select(EpisodeRow)).one()
        assert (row.run_id, row.run_name, row.active_ms) == ("r1", "naïve", NOW_MS)
        changes = [(one.to_state, one.reason) for one in session.scalars(select(TransitionRow))]
    assert changes == [("firing", ""), ("firing", "outlived-run")]


def test_texts_name_a_run_and_addresses_have_its_id(books: Books) -> None:
    result = read(["a"])
    texts = {
        "summary": "Load test r1: all fail",
        "summary__ja": "負荷試験 r1 は失敗しました",
        "link": "https://w.example/runs/r1?x=r1",
    }
    one = replace(result.active[0], source={"run": "r1"}, labels={"run": "r1"}, annotations=texts)
    play(books, Player(make_rule()), 0, replace(result, active=[one]), during("r1", "Ten instances"))
    assert books.ledger.given[0].annotations == {
        "summary": "Load test Ten instances: all fail",
        "summary__ja": "負荷試験 Ten instances は失敗しました",
        "link": "https://w.example/runs/r1?x=r1",
        "run_name": "Ten instances",
    }


def test_ten_thousand_alerts_begin_and_end(books: Books) -> None:
    player = Player(make_rule())
    names = [f"i{number}" for number in range(10_000)]
    play(books, player, 0, read(names))
    values = [replace(one, value=float(number)) for number, one in enumerate(read(names).active)]
    player.at(1, replace(read(names), active=values))
    play(books, player, 2, read([], names))
    with books.relational.transaction() as session:
        assert session.scalar(select(func.count()).where(EpisodeRow.state == "resolved")) == 10_000
        assert session.scalar(select(func.sum(EpisodeRow.value))) == sum(range(10_000))
        assert session.scalar(select(func.count()).select_from(TransitionRow)) == 20_000
    assert len(books.taken()) == 20_000


def test_a_rule_that_is_gone(books: Books) -> None:
    player = Player(make_rule())
    play(books, player, 0, read(["a"]))
    step = resolve_all(player.states, NOW_MS + 1_000, ResolvedReason.RULE_GONE)
    books.journal.write([Entry(facts=facts(player.rule), step=step)], NOW_MS + 1_000)
    assert not recalled(books, player.rule, 1).alerts
    assert [ends for _, ends in books.taken()] == [None, NOW_MS + 1_000]


def test_old_alerts_are_deleted_and_open_ones_are_not(books: Books) -> None:
    day_s = 86_400
    player = Player(make_rule(for_s=5))
    play(books, player, 0, read(["fires", "open", "pends"]))
    play(books, player, 4, read(["fires", "open"], ["pends"]))
    play(books, player, 5, read(["fires", "open"]))
    play(books, player, 6, read(["open"], ["fires"]))

    def kept() -> set[str]:
        with books.relational.transaction() as session:
            rows = session.scalars(select(EpisodeRow)).all()
            return {row.words.split()[-2] for row in rows}

    assert kept() == {"fires", "open", "pends"}
    assert books.journal.prune(NOW_MS + (day_s + 5) * 1_000) == 1
    assert kept() == {"fires", "open"}
    assert books.journal.prune(NOW_MS + (400 * day_s + 7) * 1_000) == 1
    assert kept() == {"open"}
    assert books.journal.prune(NOW_MS + (400 * day_s + 7) * 1_000) == 0


def test_a_finding_is_kept_and_told_to_who_is_told_later(books: Books) -> None:
    known: dict[str, str] = {}
    player = Player(make_rule(), explain=lambda _alert: dict(known))
    play(books, player, 0, read(["a"]))
    assert books.ledger.annotated == {}
    known |= {"finding": "The pool ran out.", "loadwatch_finding_ja": "枯渇した。", "finding_id": "pool-exhausted"}
    known["finding_certainty"] = "certain"
    play(books, player, 1, read(["a"]))
    assert books.ledger.annotated == {"e1": {"summary": "x", **known}}
    assert recalled(books, player.rule, 1).alerts == player.states.alerts
    (alert,) = recalled(books, player.rule, 1).alerts.values()
    assert (alert.finding, alert.annotations) == (known, {"summary": "x"})
    # One that has it from the beginning is told with it.
    play(books, player, 2, read(["a", "b"]))
    assert len(books.ledger.annotated) == 1
