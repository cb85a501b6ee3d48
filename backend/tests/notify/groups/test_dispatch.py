from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from loadwatch_backend.alerting.notify.model import Envelope, Notice, NoticeKind, NoticeText, NotifiedAlert
from loadwatch_backend.core.language import Language
from sqlalchemy import text

from backend.tests.databases import make_database
from backend.tests.notify.desk import Desk, firing, resolved, statuses

HOOK = "webhook_configs: [{url: 'https://hook.example.org/'}]"
TEAM = f"receivers:\n- name: team\n  {HOOK}\n"
ROUTE = "route: {receiver: team, group_by: [alertname], group_wait: 30s, group_interval: 5m, repeat_interval: 4h}\n"
AT_ONCE = ROUTE.replace("30s", "0s")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path, ROUTE + TEAM)
    yield made
    made.close()


def count(desk: Desk, table: str) -> int:
    with desk.relational.transaction() as session:
        return session.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()


# Routes of a run ------------------------------------------------------------------------------------------------------

RUNS = f"""
route:
  receiver: team
  group_by: [run, alertname]
  group_wait: 10s
  group_interval: 1m
  routes:
    - {{matchers: ['run=~".+"', 'severity="critical"'], receiver: load, group_wait: 0s}}
receivers:
- name: load
  {HOOK}
- name: team
  {HOOK}
"""


def of_run(desk: Desk, **labels: str) -> NotifiedAlert:
    return replace(firing(desk, "Down", run="r1", **labels), run_given=True)


def without_run(alert: NotifiedAlert) -> NotifiedAlert:
    return replace(alert, labels=alert.identity)


@pytest.mark.parametrize("killed", [False, True])
def test_what_loses_the_label_of_its_run_goes_to_its_new_route_only(desk: Desk, *, killed: bool) -> None:
    desk.write(RUNS)
    alert = of_run(desk, severity="critical")
    desk.take(alert)
    (before,) = desk.sent()
    assert before.receiver == "load"
    desk.wait(60)
    desk.take(without_run(alert))
    if killed:
        desk.reopen()
    desk.wait(120)
    (after,) = desk.sent()
    assert (after.receiver, after.status) == ("team", "firing")
    one, other = before.document["alerts"][0], after.document["alerts"][0]
    assert "run" not in other["labels"]
    for same in ("fingerprint", "startsAt", "generatorURL"):
        assert other[same] == one[same]
    desk.take(resolved(desk, without_run(alert)))
    desk.wait(120)
    assert [(sent.receiver, sent.status) for sent in desk.sent()] == [("team", "resolved")]
    assert count(desk, "notify_alerts") == count(desk, "notify_groups") == count(desk, "notify_told") == 0


def test_in_the_same_route_it_stays_in_its_group_and_nobody_is_told_twice(desk: Desk) -> None:
    desk.write(RUNS)
    alert = of_run(desk, severity="warning")
    desk.take(alert)
    desk.wait(10)
    (before,) = desk.sent()
    desk.take(without_run(alert))
    desk.wait(300)
    assert desk.sent() == []
    desk.take(resolved(desk, without_run(alert)))
    desk.wait(120)
    (after,) = desk.sent()
    assert (after.status, after.document["groupKey"]) == ("resolved", before.document["groupKey"])


def test_what_nobody_was_told_of_yet_is_told_by_the_new_route_alone(desk: Desk) -> None:
    desk.write(RUNS.replace("group_wait: 0s", "group_wait: 30s"))
    alert = of_run(desk, severity="critical")
    desk.take(alert)
    desk.wait(8)
    desk.take(without_run(alert))
    desk.wait(120)
    assert [(sent.receiver, sent.status) for sent in desk.sent()] == [("team", "firing")]


# Groups in time -------------------------------------------------------------------------------------------------------


def test_a_group_waits_for_others_and_is_sent_once(desk: Desk) -> None:
    desk.take(firing(desk, "Lag", "1", instance="a"))
    desk.wait(20)
    desk.take(firing(desk, "Lag", "2", instance="b"))
    assert desk.sent() == []
    desk.wait(10)
    (sent,) = desk.sent()
    assert sent.alerts == [("firing", "Lag")] * 2
    assert sorted(sent.keys) == ["1", "2"]
    desk.wait(3 * 3_600)
    assert desk.sent() == []


def test_without_a_wait_the_delivery_is_in_the_transaction_of_the_change(desk: Desk) -> None:
    desk.write(AT_ONCE + TEAM)
    with desk.relational.transaction() as session:
        desk.dispatcher.take(session, [firing(desk, "Lag")], desk.now_ms)
        session.rollback()
    assert desk.sent() == []
    assert count(desk, "notify_alerts") == 0
    desk.take(firing(desk, "Lag"))
    assert statuses(desk.sent()) == [[("firing", "Lag")]]


def test_an_alert_that_has_fired_for_long_does_not_wait_again(desk: Desk) -> None:
    desk.take(replace(firing(desk, "Lag"), starts_ms=desk.now_ms - 31_000))
    assert statuses(desk.sent()) == [[("firing", "Lag")]]


def test_what_is_new_in_a_group_waits_for_its_interval(desk: Desk) -> None:
    desk.take(firing(desk, "Lag", "1", instance="a"))
    desk.wait(30)
    desk.sent()
    desk.wait(100)
    desk.take(firing(desk, "Lag", "2", instance="b"))
    desk.wait(199)
    assert desk.sent() == []
    desk.wait(1)
    assert statuses(desk.sent()) == [[("firing", "Lag")] * 2]


def test_the_ticks_of_a_group_that_was_quiet_for_long_are_kept(desk: Desk) -> None:
    desk.take(firing(desk, "Lag", "1", instance="a"))
    desk.wait(30 + 7 * 300 + 10)
    desk.sent()
    desk.take(firing(desk, "Lag", "2", instance="b"))
    desk.wait(289)
    assert desk.sent() == []
    desk.wait(1)
    assert len(desk.sent()) == 1


def test_the_end_is_told_and_the_group_is_gone(desk: Desk) -> None:
    alert = firing(desk, "Lag")
    desk.take(alert)
    desk.wait(40)
    desk.take(resolved(desk, alert))
    desk.wait(300)
    assert statuses(desk.sent()) == [[("firing", "Lag")], [("resolved", "Lag")]]
    for table in ("notify_alerts", "notify_groups", "notify_members", "notify_told"):
        assert count(desk, table) == 0
    desk.take(firing(desk, "Lag", "again"))
    desk.wait(29)
    assert desk.sent() == []
    desk.wait(1)
    assert statuses(desk.sent()) == [[("firing", "Lag")]]


def test_an_end_that_nobody_was_told_the_beginning_of_is_no_message(desk: Desk) -> None:
    alert = firing(desk, "Lag")
    desk.take(alert)
    desk.wait(10)
    desk.take(resolved(desk, alert))
    desk.wait(600)
    assert desk.sent() == []
    assert count(desk, "notify_alerts") == 0


def test_one_that_ends_and_begins_again_between_two_looks_is_not_told_again(desk: Desk) -> None:
    alert = firing(desk, "Lag")
    desk.take(alert)
    desk.wait(30)
    assert len(desk.sent()) == 1
    desk.take(resolved(desk, alert))
    desk.wait(10)
    desk.take(firing(desk, "Lag", "second"))
    desk.wait(600)
    assert desk.sent() == []


def test_two_rules_with_the_same_labels_fire_until_both_have_ended(desk: Desk) -> None:
    one, two = firing(desk, "Lag", "1"), firing(desk, "Lag", "2")
    desk.take(one, two)
    desk.wait(30)
    desk.take(resolved(desk, two))
    desk.wait(600)
    assert statuses(desk.sent()) == [[("firing", "Lag")]]
    desk.take(resolved(desk, one))
    desk.wait(600)
    assert statuses(desk.sent()) == [[("resolved", "Lag")]]


def test_what_fires_on_is_repeated(desk: Desk) -> None:
    desk.take(firing(desk, "Lag"))
    desk.wait(30)
    desk.sent()
    desk.wait(4 * 3_600 - 1)
    assert desk.sent() == []
    desk.wait(1)
    assert statuses(desk.sent()) == [[("firing", "Lag")]]
    desk.wait(4 * 3_600)
    assert len(desk.sent()) == 1


def test_without_send_resolved_the_end_is_no_message_and_a_new_beginning_is_one(desk: Desk) -> None:
    desk.write(ROUTE + TEAM.replace("org/'", "org/', send_resolved: false"))
    one, two = firing(desk, "Lag", "1", instance="a"), firing(desk, "Lag", "2", instance="b")
    desk.take(one, two)
    desk.wait(30)
    assert len(desk.sent()) == 1
    desk.take(resolved(desk, one))
    desk.wait(300)
    assert desk.sent() == []
    desk.take(firing(desk, "Lag", "3", instance="a"))
    desk.wait(300)
    assert statuses(desk.sent()) == [[("firing", "Lag")] * 2]


def test_each_integration_has_its_own_memory(desk: Desk) -> None:
    desk.write(
        ROUTE
        + "receivers:\n- name: team\n  webhook_configs:\n  - {url: 'https://a.example.org/'}\n"
        + "  - {url: 'https://b.example.org/', send_resolved: false, max_alerts: 1}\n"
    )
    one, two = firing(desk, "Lag", "1", instance="a"), firing(desk, "Lag", "2", instance="b")
    desk.take(one, two)
    desk.wait(30)
    first, second = desk.sent()
    assert (first.integration, first.document["truncatedAlerts"], len(first.alerts)) == ("webhook-0", 0, 2)
    assert (second.integration, second.document["truncatedAlerts"], len(second.alerts)) == ("webhook-1", 1, 1)
    assert first.order_key != second.order_key
    desk.take(resolved(desk, one))
    desk.wait(300)
    assert [one.integration for one in desk.sent()] == ["webhook-0"]


def test_the_labels_that_were_told_first_stay(desk: Desk) -> None:
    alert = firing(desk, "Lag", value="1")
    desk.take(alert)
    desk.wait(30)
    desk.take(replace(resolved(desk, alert), labels={"alertname": "Lag", "value": "2"}, annotations={"summary": "new"}))
    desk.wait(300)
    begun, ended = (one.document["alerts"][0] for one in desk.sent())
    assert begun["fingerprint"] == ended["fingerprint"]
    assert ended["labels"]["value"] == "1"
    assert ended["annotations"] == {"summary": "new"}


def test_an_unknown_alert_that_ends_is_no_news(desk: Desk) -> None:
    desk.take(resolved(desk, firing(desk, "Lag")))
    desk.wait(600)
    assert desk.sent() == []
    assert count(desk, "notify_alerts") == 0


# Quiet ----------------------------------------------------------------------------------------------------------------


def test_a_silenced_alert_is_told_when_the_silence_ends(desk: Desk) -> None:
    desk.silence(1_000, alertname="Lag")
    alert = firing(desk, "Lag")
    desk.take(alert)
    desk.wait(999)
    assert desk.sent() == []
    assert desk.dispatcher.quiet([alert], desk.now_ms)["Lag"].silences[0].comment == "maintenance"
    desk.wait(300)
    assert statuses(desk.sent()) == [[("firing", "Lag")]]
    assert not desk.dispatcher.quiet([alert], desk.now_ms)["Lag"].silences


def test_a_silenced_alert_that_ends_unseen_is_no_message(desk: Desk) -> None:
    desk.silence(1_000, alertname="Lag")
    alert = firing(desk, "Lag")
    desk.take(alert)
    desk.wait(500)
    desk.take(resolved(desk, alert))
    desk.wait(2_000)
    assert desk.sent() == []
    assert count(desk, "notify_alerts") == 0


def test_the_end_of_what_was_told_before_a_silence_is_told_after_it(desk: Desk) -> None:
    alert = firing(desk, "Lag")
    desk.take(alert)
    desk.wait(30)
    assert len(desk.sent()) == 1
    desk.silence(1_000, alertname="Lag")
    desk.take(resolved(desk, alert))
    desk.wait(900)
    assert desk.sent() == []
    desk.wait(500)
    assert statuses(desk.sent()) == [[("resolved", "Lag")]]


def test_an_expired_silence_lets_go_at_the_next_tick(desk: Desk) -> None:
    silence = desk.silence(36_000, alertname="Lag")
    desk.take(firing(desk, "Lag"))
    desk.wait(100)
    desk.silences.expire(silence)
    desk.wait(300)
    assert statuses(desk.sent()) == [[("firing", "Lag")]]


INHIBIT = "inhibit_rules:\n- {source_matchers: [severity=page], target_matchers: [severity=warn], equal: [db]}\n"


def test_an_inhibited_alert_is_told_when_its_cause_has_ended(desk: Desk) -> None:
    desk.write(ROUTE + TEAM + INHIBIT)
    cause = firing(desk, "Down", severity="page", db="orders")
    held = firing(desk, "Slow", severity="warn", db="orders")
    other = firing(desk, "SlowToo", severity="warn", db="users")
    desk.take(held, other)
    desk.take(cause)
    desk.wait(30)
    assert sorted(statuses(desk.sent())) == [[("firing", "Down")], [("firing", "SlowToo")]]
    quiet = desk.dispatcher.quiet([held, other], desk.now_ms)
    assert list(quiet["Slow"].inhibited_by) == ["Down"]
    assert not quiet["SlowToo"].inhibited_by
    desk.write(ROUTE + TEAM + INHIBIT.replace("[db]", "[region]"))
    assert list(desk.dispatcher.quiet([other], desk.now_ms)["SlowToo"].inhibited_by) == ["Down"]
    desk.write(ROUTE + TEAM + INHIBIT)
    desk.take(resolved(desk, cause))
    desk.wait(300)
    assert sorted(statuses(desk.sent())) == [[("firing", "Slow")], [("resolved", "Down")]]


def test_another_server_sees_what_fires(desk: Desk, tmp_path: Path) -> None:
    desk.write(ROUTE + TEAM + INHIBIT)
    (tmp_path / "other").mkdir()
    other = Desk(tmp_path / "other", ROUTE + TEAM + INHIBIT, desk.url)
    held = firing(desk, "Slow", severity="warn")
    desk.take(held)
    assert not other.dispatcher.quiet([held], desk.now_ms)["Slow"].inhibited_by
    desk.take(firing(desk, "Down", severity="page"))
    assert other.dispatcher.quiet([held], desk.now_ms)["Slow"].inhibited_by
    desk.silence(60, alertname="Slow")
    assert other.dispatcher.quiet([held], desk.now_ms)["Slow"].silences
    other.close()


NIGHT = """route:
  receiver: team
  group_wait: 30s
  routes:
  - matchers: [severity=warn]
    mute_time_intervals: [now]
time_intervals:
- name: now
  time_intervals: [{times: [{start_time: '08:00', end_time: '09:00'}]}]
"""


def test_a_muted_route_is_told_when_its_interval_is_over(desk: Desk) -> None:
    desk.write(NIGHT + TEAM)  # The clock of tests begins at 08:00.
    alert = firing(desk, "Slow", severity="warn")
    desk.take(alert)
    desk.wait(3_500)
    assert desk.sent() == []
    assert desk.dispatcher.quiet([alert], desk.now_ms)["Slow"].muted
    desk.wait(500)
    assert statuses(desk.sent()) == [[("firing", "Slow")]]


# Acknowledgement ------------------------------------------------------------------------------------------------------

PAGER = "receivers:\n- name: team\n  pagerduty_configs: [{routing_key: k}]\n  " + HOOK + "\n"


def test_an_acknowledged_alert_is_not_repeated(desk: Desk) -> None:
    alert = firing(desk, "Lag")
    desk.take(alert)
    desk.wait(30)
    desk.take(replace(alert, acknowledged=True))
    desk.wait(10 * 3_600)
    assert len(desk.sent()) == 1
    desk.take(alert)
    desk.wait(600)
    assert statuses(desk.sent()) == [[("firing", "Lag")]]
    desk.take(replace(resolved(desk, alert), acknowledged=True))
    desk.wait(600)
    assert statuses(desk.sent()) == [[("resolved", "Lag")]]


def test_who_knows_acknowledgements_is_told_at_once_when_all_are(desk: Desk) -> None:
    desk.write(ROUTE + PAGER)
    one, two = firing(desk, "Lag", "1", instance="a"), firing(desk, "Lag", "2", instance="b")
    desk.take(one, two)
    desk.wait(30)
    begun = desk.sent()
    assert sorted(one.integration for one in begun) == ["pagerduty-0", "webhook-0"]
    assert all("loadwatch" not in one.document for one in begun)
    desk.take(replace(one, acknowledged=True))
    assert desk.sent() == []
    desk.take(replace(two, acknowledged=True))
    (sent,) = desk.sent()
    assert sent.integration == "pagerduty-0"
    assert sent.document["loadwatch"] == {"acknowledged": True}
    assert sent.order_key == begun[[one.integration for one in begun].index("pagerduty-0")].order_key
    desk.take(replace(two, acknowledged=True))
    assert desk.sent() == []
    desk.take(two)
    assert desk.sent() == []
    desk.take(replace(two, acknowledged=True))
    assert [one.integration for one in desk.sent()] == ["pagerduty-0"]


def test_an_acknowledgement_before_anything_was_sent_is_no_message_of_its_own(desk: Desk) -> None:
    desk.write(ROUTE + PAGER)
    alert = firing(desk, "Lag")
    desk.take(alert)
    desk.take(replace(alert, acknowledged=True))
    assert desk.sent() == []
    desk.wait(30)
    hook, pager = desk.sent()
    assert pager.document["loadwatch"] == {"acknowledged": True}
    assert "loadwatch" not in hook.document


# Kill, clock, configuration -------------------------------------------------------------------------------------------


def test_a_kill_loses_no_group_that_waits_and_repeats_nothing(desk: Desk) -> None:
    desk.take(firing(desk, "Lag"))
    desk.wait(10)
    desk.reopen()
    desk.wait(20)
    assert statuses(desk.sent()) == [[("firing", "Lag")]]
    desk.reopen()
    desk.wait(3_600)
    assert desk.sent() == []


@pytest.mark.parametrize("seconds", [3_600, -3_600])
def test_a_clock_that_jumps_an_hour_hangs_nothing(desk: Desk, seconds: int) -> None:
    alert = firing(desk, "Lag")
    desk.take(alert)
    desk.now_ms += seconds * 1_000
    desk.wait(30)
    assert statuses(desk.sent()) == [[("firing", "Lag")]]
    desk.take(resolved(desk, alert))
    desk.now_ms += seconds * 1_000
    desk.wait(300)
    assert statuses(desk.sent()) == [[("resolved", "Lag")]]


def test_a_clock_set_back_does_not_put_off_the_repetition(desk: Desk) -> None:
    desk.take(firing(desk, "Lag"))
    desk.wait(30)
    desk.now_ms -= 24 * 3_600_000
    desk.wait(4 * 3_600 + 400)
    assert len(desk.sent()) == 2


def test_a_new_configuration_takes_all_alerts_over_and_tells_nobody_twice(desk: Desk) -> None:
    lag, slow = firing(desk, "Lag", severity="page"), firing(desk, "Slow", severity="warn")
    desk.take(lag, slow)
    desk.wait(30)
    desk.sent()
    desk.write(
        ROUTE.replace("}\n", ", routes: [{receiver: night, matchers: [severity=page]}]}\n")
        + TEAM
        + f"- name: night\n  {HOOK}\n"
    )
    desk.wait(1)
    (sent,) = desk.sent()
    assert (sent.receiver, sent.alerts) == ("night", [("firing", "Lag")])
    desk.take(resolved(desk, lag), resolved(desk, slow))
    desk.wait(300)
    assert sorted((one.receiver, one.alerts) for one in desk.sent()) == [
        ("night", [("resolved", "Lag")]),
        ("team", [("resolved", "Slow")]),
    ]
    assert count(desk, "notify_groups") == count(desk, "notify_members") == count(desk, "notify_alerts") == 0


def test_a_broken_file_keeps_the_old_routes(desk: Desk) -> None:
    desk.path.write_text("route: [")
    assert desk.file.reload().line == 1
    desk.take(firing(desk, "Lag"))
    desk.wait(30)
    assert statuses(desk.sent()) == [[("firing", "Lag")]]


# At once, many --------------------------------------------------------------------------------------------------------


def test_ten_thousand_alerts_are_one_message_and_end_as_one(tmp_path: Path) -> None:
    desk = Desk(tmp_path, AT_ONCE.replace("[alertname]", "[]") + TEAM)
    alerts = [firing(desk, f"Rule{number % 40}", str(number), instance=str(number)) for number in range(10_000)]
    desk.take(*alerts)
    (sent,) = desk.sent()
    assert len(sent.document["alerts"]) == 10_000
    desk.take(*[resolved(desk, alert) for alert in alerts])
    desk.wait(300)
    (sent,) = desk.sent()
    assert sent.status == "resolved"
    assert len(sent.document["alerts"]) == 10_000
    assert count(desk, "notify_alerts") == 0
    desk.close()


def test_many_groups_due_at_once_are_all_sent(tmp_path: Path) -> None:
    desk = Desk(tmp_path, ROUTE.replace("[alertname]", "['...']") + TEAM)
    alerts = [firing(desk, "Lag", str(number), instance=str(number)) for number in range(1_200)]
    desk.take(*alerts)
    desk.wait(30)
    assert len(desk.sent()) == 1_200
    desk.close()


# Runs -----------------------------------------------------------------------------------------------------------------


def test_run_notices_go_to_those_who_asked(desk: Desk) -> None:
    desk.write(
        ROUTE + TEAM + "loadwatch: {run_notices: [{receiver: team, events: [finished], matchers: [verdict=failed]}]}\n"
    )

    def told(kind: NoticeKind, **labels: str) -> list[Envelope]:
        return desk.dispatcher.notices(
            Notice(
                key=f"run:1:{kind.value}",
                kind=kind,
                at_ms=desk.now_ms,
                texts={
                    Language.EN: NoticeText(title="Run failed", text="p95 4 s", facts=[("p95", "4 s")]),
                    Language.JA: NoticeText(title="不合格", text="p95 4 s", facts=[("p95", "4 s")]),
                },
                url="https://watch.example.org/runs/1",
                labels=labels,
            )
        )

    assert told(NoticeKind.RUN_STARTED, verdict="failed") == []
    assert told(NoticeKind.RUN_FINISHED, verdict="passed") == []
    (envelope,) = told(NoticeKind.RUN_FINISHED, verdict="failed")
    assert (envelope.receiver, envelope.integration) == ("team", "webhook-0")
    assert envelope.document["facts"] == [{"label": "p95", "text": "4 s"}]
    assert envelope.document["at"] == "2027-01-15T08:00:00.000Z"


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_on_a_server(kind: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, ROUTE + TEAM + INHIBIT, make_database(kind, tmp_path))
    held = firing(desk, "Slow", severity="warn")
    cause = firing(desk, "Down", severity="page")
    alerts: list[NotifiedAlert] = [firing(desk, "Lag", str(number), instance=f"ü{number}") for number in range(700)]
    desk.take(held, cause, *alerts)
    desk.wait(30)
    assert sorted(len(one.alerts) for one in desk.sent()) == [1, 700]
    silence = desk.silence(600, alertname="Lag")
    desk.take(resolved(desk, cause), *[resolved(desk, alert) for alert in alerts])
    desk.wait(300)
    assert sorted(statuses(desk.sent())) == [[("firing", "Slow")], [("resolved", "Down")]]
    desk.silences.expire(silence)
    desk.take(resolved(desk, held))
    desk.wait(300)
    assert sorted(len(one.alerts) for one in desk.sent()) == [1, 700]
    assert count(desk, "notify_alerts") == count(desk, "notify_groups") == 0
    desk.close()
