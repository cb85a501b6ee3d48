"""The default rules over made-up timelines, through states, groups and inhibition: one cause, one message."""

import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest
from loadwatch_backend.alerting.alerts.evaluation.evaluation import KnownRuns
from loadwatch_backend.alerting.alerts.evaluation.explain import RuleStates
from loadwatch_backend.alerting.alerts.evaluation.machine import Machine
from loadwatch_backend.alerting.alerts.history.episodes import notified_alert
from loadwatch_backend.alerting.notify.file.configuration import default_inhibit_rules, parse_configuration
from loadwatch_backend.alerting.notify.file.matchers import all_match
from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.alerting.rules.evaluate import RuleEvaluator
from loadwatch_backend.alerting.rules.files import shipped_rules
from loadwatch_backend.alerting.rules.model import Rule, RuleResult
from loadwatch_backend.alerting.rules.presence import metrics_of
from loadwatch_backend.alerting.rules.read import read_rules
from loadwatch_backend.runs.registry.under_way import RunFacts
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.port import STALE_NAN

from backend.tests.notify.desk import START_MS, Desk, Sent
from backend.tests.rules.promtool_format.store import MemoryStore

FILE = """
route:
  receiver: page-only
  group_by: [run, instance]
  group_wait: 10s
  group_interval: 1m
  routes:
    - {matchers: ['severity=~"warning|critical"'], receiver: team}
receivers:
  - name: page-only
  - {name: team, webhook_configs: [{url: 'http://127.0.0.1:9/'}]}
"""
BEGINS, ENDS, OVER = 60, 180, 500
"""Seconds at which the trouble begins and ends, and at which the timeline is over."""
FULL = 105
"""Second at which nothing is left of the disk: it fills, and does not jump."""
STEP = 2
"""Seconds between two evaluations."""
APP = {"job": "shop", "instance": "app-1"}
DB = {"job": "mysql", "instance": "db-1"}
STALE = STALE_NAN
Value = Callable[[int], float | None]


def count(healthy: float, troubled: float = 0.0) -> Value:
    """A counter that grows by so much a second while all is well, and in trouble."""

    def at(second: int) -> float:
        trouble = min(max(second - BEGINS, 0), ENDS - BEGINS)
        return healthy * (second - trouble) + troubled * trouble

    return at


def level(healthy: float | None, troubled: float | None) -> Value:
    """A gauge; None is no sample."""
    return lambda second: troubled if BEGINS <= second < ENDS else healthy


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """What is sent, whether a registered run is under way, and which alert has to be told."""

    series: Sequence[tuple[str, Mapping[str, str], Value]]
    run: str
    told: str


def load(outcome: str, healthy: float, troubled: float) -> tuple[str, Mapping[str, str], Value]:
    return "loadtest_requests_total", {"run": "r1", "outcome": outcome}, count(healthy, troubled)


POOL = Timeline(
    series=[
        ("go_sql_in_use_connections", APP | {"db_name": "main"}, level(2, 8)),
        ("go_sql_max_open_connections", APP | {"db_name": "main"}, level(8, 8)),
        ("go_sql_open_connections", APP | {"db_name": "main"}, level(8, 8)),
        ("go_sql_wait_count_total", APP | {"db_name": "main"}, count(0, 100)),
        ("go_sql_wait_duration_seconds_total", APP | {"db_name": "main"}, count(0, 300)),
        ("ingest_accepted_total", APP, count(200, 100)),
        ("ingest_stored_total", APP, count(200, 100)),
        load("ok", 200, 100),
        load("timeout", 0, 100),
    ],
    run="r1",
    told="PoolWaitLong",
)
DATABASE = Timeline(
    series=[
        ("up", DB | {"collector": "mysql"}, level(1, 0)),
        (
            "mysql_up",
            DB,
            lambda second: 1 if second < BEGINS or second >= ENDS else STALE if second == BEGINS else None,
        ),
        (
            "collector_error_info",
            DB | {"collector": "mysql", "error": "Can't connect to MySQL server (Connection refused)"},
            lambda second: 1 if BEGINS <= second < ENDS else STALE if second == ENDS else None,
        ),
        ("probe_success", APP, level(1, 0)),
        ("go_sql_in_use_connections", APP | {"db_name": "main"}, level(2, 8)),
        ("go_sql_max_open_connections", APP | {"db_name": "main"}, level(8, 8)),
        ("ingest_accepted_total", APP, count(200, 100)),
        ("ingest_stored_total", APP, count(200, 0)),
        ("ingest_failed_total", APP, count(0, 100)),
        load("ok", 200, 0),
        load("http_5xx", 0, 100),
    ],
    run="r1",
    told="DatabaseDown",
)
NO_RUN = Timeline(series=[one for one in DATABASE.series if "run" not in one[1]], run="", told="DatabaseDown")
DISK = Timeline(
    series=[
        ("node_filesystem_size_bytes", DB | {"mountpoint": "/var", "fstype": "ext4"}, level(100, 100)),
        ("node_filesystem_avail_bytes", DB | {"mountpoint": "/var", "fstype": "ext4"}, level(50, 1)),
        ("ingest_accepted_total", APP, count(200, 200)),
        ("ingest_stored_total", APP, lambda second: float(200 * (second - min(max(second - FULL, 0), ENDS - FULL)))),
        ("ingest_failed_total", APP, lambda second: float(200 * min(max(second - FULL, 0), ENDS - FULL))),
        load("ok", 200, 200),
        (
            "loadtest_requests_total",
            {"run": "r1", "outcome": "http_5xx"},
            lambda second: float(100 * min(max(second - FULL, 0), ENDS - FULL)),
        ),
    ],
    run="r1",
    told="HostDiskFull",
)
AGENT = Timeline(
    series=[
        ("agent_spool_bytes", {"job": "loadwatch-agent", "instance": "vm-1"}, level(0, None)),
        ("up", {"job": "host", "instance": "vm-1", "collector": "host"}, level(1, None)),
        ("node_memory_MemTotal_bytes", {"job": "host", "instance": "vm-1"}, level(100, None)),
        ("node_memory_MemAvailable_bytes", {"job": "host", "instance": "vm-1"}, level(50, None)),
    ],
    run="",
    told="AgentSilent",
)
CAUSES = {
    "the pool runs out": POOL,
    "the database dies": DATABASE,
    "the database dies, no run": NO_RUN,
    "the disk is full": DISK,
    "the agent is killed": AGENT,
}


def default_rules(metrics: frozenset[str]) -> list[Rule]:
    """Those that read one of the metrics: all others have nothing to say."""
    groups = [group for file in shipped_rules().values() for group in read_rules(file.read_bytes(), "", 1).groups]
    return [rule for group in groups for rule in group.rules if metrics & (metrics_of(rule.parsed) or frozenset())]


@functools.cache
def results_of(name: str) -> Sequence[Sequence[tuple[Rule, RuleResult]]]:
    """What each rule finds in each evaluation of a timeline, which is the same whoever is told."""
    store, timeline = MemoryStore(), CAUSES[name]
    for metric, labels, value in timeline.series:
        samples = [(START_MS + second * 1_000, value(second)) for second in range(OVER)]
        store.put({"__name__": metric, **labels}, [(at, one) for at, one in samples if one is not None])
    evaluator = RuleEvaluator(Engine(store))
    rules = default_rules(frozenset(metric for metric, _, _ in timeline.series))

    def evaluate(second: int) -> Sequence[tuple[Rule, RuleResult]]:
        round_ = evaluator.round(START_MS + second * 1_000)
        round_.prepare(rules)
        return [(rule, round_.alerting(rule)) for rule in rules]

    return [evaluate(second) for second in range(STEP, OVER + STEP, STEP)]


def play(desk: Desk, name: str, run_ends: int = OVER) -> list[Sent]:
    """All that is sent during a timeline whose run ends at a second."""
    timeline, machine = CAUSES[name], Machine()
    states: defaultdict[str, RuleStates] = defaultdict(RuleStates)
    ended_ms = START_MS + run_ends * 1_000

    def known(_ids: Collection[str]) -> Mapping[str, RunFacts]:
        ended = desk.now_ms >= ended_ms
        facts = RunFacts(title=timeline.run, started_ms=START_MS, ended_ms=ended_ms if ended else None, finished=ended)
        return {timeline.run: facts} if timeline.run else {}

    runs = KnownRuns(known)
    for results in results_of(name):
        desk.wait(STEP)
        changed: list[NotifiedAlert] = []
        for rule, result in results:
            known_runs = runs.at(rule, states, result, desk.now_ms)
            step = machine.step(rule, states[rule.id], result, desk.now_ms, known_runs)
            states[rule.id] = step.states
            told = [*(one.alert for one in step.transitions if one.notifies), *step.unbound]
            changed += [notified_alert(one, "") for one in told if one.fired_ms is not None]
        desk.take(*changed)
    return desk.sent()


@pytest.mark.parametrize("name", CAUSES)
def test_one_cause_is_one_message_and_its_end(tmp_path: Path, name: str) -> None:
    desk = Desk(tmp_path, FILE)
    try:
        sent = play(desk, name)
    finally:
        desk.close()
    found = [(one.status, one.alerts) for one in sent]
    assert [status for status, _ in found] == ["firing", "resolved"], found
    assert found[0][1] == [("firing", CAUSES[name].told)], found


@pytest.mark.parametrize("name", [name for name, timeline in CAUSES.items() if timeline.run])
def test_a_run_that_ends_lets_nothing_go_and_takes_its_alerts_along(tmp_path: Path, name: str) -> None:
    desk = Desk(tmp_path, FILE)
    try:
        sent = play(desk, name, run_ends=ENDS)
    finally:
        desk.close()
    found = [(one.status, one.alerts) for one in sent]
    told = CAUSES[name].told
    assert found == [("firing", [("firing", told)]), ("resolved", [("resolved", told)])]
    ended_ms = datetime.fromisoformat(sent[-1].document["alerts"][0]["endsAt"]).timestamp() * 1_000
    assert ended_ms <= START_MS + (ENDS + 65) * 1_000, "as soon as rates over the last minute are good"


@pytest.mark.parametrize("name", [name for name, timeline in CAUSES.items() if timeline.run])
def test_the_trouble_of_a_run_that_ends_with_it_wakes_nobody(tmp_path: Path, name: str) -> None:
    """Rates over the last quarter of a minute hold on after the run, and say nothing of what is then."""
    file = FILE.replace("  routes:\n", "  routes:\n    - {matchers: ['run=~\".+\"'], receiver: load-tests}\n")
    desk = Desk(tmp_path, file + "  - {name: load-tests, webhook_configs: [{url: 'http://127.0.0.1:9/'}]}\n")
    try:
        sent = play(desk, name, run_ends=ENDS)
    finally:
        desk.close()
    assert [(one.receiver, one.status) for one in sent] == [("load-tests", "firing"), ("load-tests", "resolved")]


def test_without_them_it_is_many(tmp_path: Path) -> None:
    desk = Desk(tmp_path, FILE + "loadwatch: {default_inhibit_rules: false}\n")
    try:
        sent = play(desk, "the database dies")
    finally:
        desk.close()
    assert sum(one.status == "firing" for one in sent) > 2


def test_a_file_has_the_default_inhibition_unless_it_says_no():
    assert parse_configuration(FILE, "f").inhibit_rules == default_inhibit_rules()
    assert parse_configuration(FILE + "loadwatch: {default_inhibit_rules: false}\n", "f").inhibit_rules == ()


def test_no_two_alerts_of_the_default_rules_hold_each_other():
    """Followed from cause to consequence, no alert comes back to itself: something is always told."""
    groups = [group for file in shipped_rules().values() for group in read_rules(file.read_bytes(), "", 1).groups]
    alerts = [{**rule.labels, "alertname": rule.name, "run": "r1"} for group in groups for rule in group.rules]
    holds = {
        (one["alertname"], one["severity"]): {
            (other["alertname"], other["severity"])
            for rule in default_inhibit_rules()
            if all_match(rule.source, one)
            for other in alerts
            if all_match(rule.target, other)
            and ("alertname" not in rule.equal or one["alertname"] == other["alertname"])
        }
        for one in alerts
    }
    for start in holds:
        seen: set[tuple[str, str]] = set()
        waiting = list(holds[start])
        while waiting:
            one = waiting.pop()
            assert one != start, start
            if one not in seen:
                seen.add(one)
                waiting += holds[one]


def test_a_warning_holds_nothing_critical():
    groups = [group for file in shipped_rules().values() for group in read_rules(file.read_bytes(), "", 1).groups]
    alerts = [{**rule.labels, "alertname": rule.name, "run": "r1"} for group in groups for rule in group.rules]
    for rule in default_inhibit_rules():
        sources = {one["severity"] for one in alerts if all_match(rule.source, one)}
        targets = {one["severity"] for one in alerts if all_match(rule.target, one)}
        assert sources, rule.name
        assert targets, rule.name
        assert sources == {"critical"} or "critical" not in targets, rule.name
