"""Rules at one instant."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from loadwatch_backend.alerting.rules.evaluate import RuleEvaluator, RuleLimitError
from loadwatch_backend.alerting.rules.model import Rule, RuleResult
from loadwatch_backend.alerting.rules.read import read_rules
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.errors import QueryExecutionError
from loadwatch_backend.series.promql.labels import label_key
from loadwatch_backend.series.promql.parsing.expression import Expression
from loadwatch_backend.series.promql.parsing.series_notation import parse_labels
from loadwatch_backend.series.store.port import STALE_NAN, Matcher, Selection
from loadwatch_backend.series.store.port import Reading as StoreReading

from backend.tests.rules.promtool_format.store import MemoryStore

NOW = 1_700_000_000_000


class CountingStore(MemoryStore):
    """Counts what is read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    def select_newest(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: StoreReading | None = None
    ) -> list[Selection]:
        self.reads += len(wanted)
        return super().select_newest(wanted, start_ms, end_ms, reading)

    def select_many(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: StoreReading | None = None
    ) -> list[Selection]:
        self.reads += len(wanted)
        return super().select_many(wanted, start_ms, end_ms, reading)


def store_of(data: Mapping[str, float], at_ms: int = NOW) -> CountingStore:
    store = CountingStore()
    for series, value in data.items():
        store.put(parse_labels(series), [(at_ms, value)])
    return store


def rule_of(text: str, group: str = "") -> Rule:
    lines = f"groups:\n- name: g\n{group}  rules:\n  - {text}\n"
    read = read_rules(lines.encode(), "rules.yml", 1_000)
    assert not read.all_faults
    return read.groups[0].rules[0]


def sources(reading: RuleResult) -> set[str]:
    return {one.source["host"] for one in reading.active}


def test_instances_and_those_that_have_data() -> None:
    evaluator = RuleEvaluator(Engine(store_of({'up{host="a"}': 0, 'up{host="b"}': 1})))
    reading = evaluator.alerting(rule_of("{alert: Down, expr: up == 0}"), NOW)
    (only,) = reading.active
    assert (only.source, only.labels, only.value) == ({"host": "a"}, {"host": "a", "alertname": "Down"}, 0)
    assert reading.present == {(("host", "a"),), (("host", "b"),)}
    assert evaluator.alerting(rule_of("{alert: Down, expr: up == 0}"), NOW + 600_000).present == frozenset()


def test_labels_and_annotations_are_expanded() -> None:
    evaluator = RuleEvaluator(
        Engine(store_of({'load{host="a",job="x"}': 1500, "limit": 2000})), "https://w.example", {"site": "eu"}
    )
    (only,) = evaluator.alerting(
        rule_of(
            "{alert: Load, expr: load > 5, labels: {job: own, who: '{{ $labels.job }}', none: '', alertname: other},"
            ' annotations: {summary: \'{{ $value | humanize }} of {{ with query "limit" }}{{ . | first | value }}'
            "{{ end }} on {{ $labels.host }} in {{ $externalLabels.site }}', link: '{{ $externalURL }}/x',"
            " bad: '{{ toUpper $value }}'}}"
        ),
        NOW,
    ).active
    assert only.labels == {"host": "a", "job": "own", "who": "x", "alertname": "Load"}
    assert only.annotations["summary"] == "1.5k of 2000 on a in eu"
    assert only.annotations["link"] == "https://w.example/x"
    assert only.annotations["bad"].startswith("<error expanding template: error calling toUpper: wrong type")
    assert set(only.annotations) == {"summary", "link", "bad"}


def test_a_template_can_ask_for_what_fails() -> None:
    evaluator = RuleEvaluator(Engine(store_of({"up": 1})))
    rule = rule_of("{alert: A, expr: up, annotations: {a: '{{ query \"sum(\" }}'}}")
    assert "invalid PromQL" in evaluator.alerting(rule, NOW).active[0].annotations["a"]


def test_labels_that_hide_what_tells_series_apart_are_an_error() -> None:
    evaluator = RuleEvaluator(Engine(store_of({'up{host="a"}': 0, 'up{host="b"}': 0})))
    with pytest.raises(QueryExecutionError, match="several series"):
        evaluator.alerting(rule_of("{alert: Down, expr: up == 0, labels: {host: all}}"), NOW)
    with pytest.raises(QueryExecutionError, match="several series"):
        evaluator.recording(rule_of("{record: r, expr: up, labels: {host: all}}"), NOW)


def test_recording() -> None:
    evaluator = RuleEvaluator(Engine(store_of({'up{host="a",zone="z"}': 3, 'up{host="b"}': 4})))
    recorded = evaluator.recording(rule_of("{record: 'r:x', expr: up * 2, labels: {zone: '', kind: k}}"), NOW)
    assert [dict(one) for one in recorded.series] == [
        {"host": "a", "__name__": "r:x", "kind": "k"},
        {"host": "b", "__name__": "r:x", "kind": "k"},
    ]
    assert list(recorded.values) == [6, 8]


def test_the_groups_limit() -> None:
    evaluator = RuleEvaluator(Engine(store_of({f'up{{host="{place}"}}': 0 for place in range(4)})))
    assert len(evaluator.alerting(rule_of("{alert: A, expr: up == 0}", "  limit: 4\n"), NOW).active) == 4
    with pytest.raises(RuleLimitError, match="4 alerts, and its group's limit is 3"):
        evaluator.alerting(rule_of("{alert: A, expr: up == 0}", "  limit: 3\n"), NOW)
    with pytest.raises(RuleLimitError, match="4 series"):
        evaluator.recording(rule_of("{record: r, expr: up}", "  limit: 3\n"), NOW)


def test_the_groups_offset() -> None:
    store = store_of({'up{host="a"}': 0}, NOW - 60_000)
    store.put({"__name__": "up", "host": "a"}, [(NOW, 1.0)])
    evaluator = RuleEvaluator(Engine(store))
    assert not evaluator.alerting(rule_of("{alert: A, expr: up == 0}"), NOW).active
    assert evaluator.alerting(rule_of("{alert: A, expr: up == 0}", "  query_offset: 1m\n"), NOW).active


def test_a_stale_series_has_no_data() -> None:
    store = store_of({'up{host="a"}': 0, 'up{host="b"}': 0})
    store.put({"__name__": "up", "host": "a"}, [(NOW + 1_000, STALE_NAN)])
    reading = RuleEvaluator(Engine(store)).alerting(rule_of("{alert: A, expr: up == 0}"), NOW + 1_000)
    assert sources(reading) == {"b"}
    assert reading.present == {(("host", "b"),)}


def test_rules_of_one_round_read_a_selector_once() -> None:
    store = store_of({'up{host="a"}': 0})
    now = RuleEvaluator(Engine(store)).round(NOW)
    first, second = rule_of("{alert: A, expr: up == 0}"), rule_of("{alert: B, expr: up < 1}")
    assert sources(now.alerting(first)) == sources(now.alerting(second)) == {"a"}
    assert now.alerting(first).present == {(("host", "a"),)}
    assert store.reads == 1


def test_rules_are_prepared_together() -> None:
    store = store_of({'up{host="a"}': 0, 'up{host="b"}': 1, 'down{host="c"}': 5})
    now = RuleEvaluator(Engine(store)).round(NOW)
    rules = [rule_of(f"{{alert: A, expr: '{text}'}}") for text in ("up == 0", "down > 3", "rate(up[1m]) > 1", "up < 1")]
    now.prepare(rules)
    assert store.reads == 3
    assert [len(now.alerting(rule).active) for rule in rules] == [1, 1, 0, 1]
    assert store.reads == 3


def test_a_rule_sees_what_the_one_before_it_recorded() -> None:
    store = store_of({'up{host="a"}': 4, 'double{host="a"}': 1})
    now = RuleEvaluator(Engine(store)).round(NOW)
    alert, record = rule_of("{alert: A, expr: double > 5}"), rule_of("{record: double, expr: up * 2}")
    assert not now.alerting(alert).active
    recorded = now.recording(record)
    store.put(recorded.series[0], [(NOW, recorded.values[0])])
    assert now.alerting(alert).active[0].value == 8


def test_as_the_engine_answers_by_text() -> None:
    store = store_of({f'm{{host="{place}",odd="{place % 2}"}}': place for place in range(40)})
    engine = Engine(store)
    for text in ("sum by (odd) (m) > 1", "m > 5 and m < 30", "topk(3, m)", "max_over_time(m[5m]) > 20", "-m", "7"):
        by_rule = RuleEvaluator(engine).alerting(replace(rule_of("{alert: A, expr: m}"), parsed=_parsed(text)), NOW)
        by_text = engine.instant(text, NOW)
        assert {label_key(one.source): one.value for one in by_rule.active} == {
            label_key({name: value for name, value in labels.items() if name != "__name__"}): value
            for labels, value in zip(by_text.labels, by_text.values[:, 0].tolist(), strict=True)
        }


def _parsed(text: str) -> Expression:
    return rule_of(f"{{alert: A, expr: '{text}'}}").parsed
