import pytest

from backend.tests.rules.promtool_format.document import read_test_file

WHOLE = """
rule_files: [rules.yml]
evaluation_interval: 10s
group_eval_order: [b, a]
tests:
- name: first
  interval: 5s
  start_timestamp: 2026-01-01T00:00:00Z
  external_labels: {site: eu}
  external_url: https://w.example
  input_series:
  - {series: 'up{x="1"}', values: '1 0x3 _'}
  alert_rule_test:
  - eval_time: 1m
    alertname: Down
    exp_alerts:
    - exp_labels: {x: 1}
      exp_annotations: {summary: s}
  promql_expr_test:
  - {expr: up, eval_time: 5s, exp_samples: [{labels: 'up{x="1"}', value: 0}]}
- start_timestamp: 1700000000.5
"""


def test_all_that_a_file_may_say() -> None:
    file = read_test_file(WHOLE.encode())
    assert not file.faults
    assert (file.rule_files, file.interval_ms, file.group_order) == ([("rules.yml", 2)], 10_000, ["b", "a"])
    first, second = file.tests
    assert (first.name, first.interval_ms, first.start_ms) == ("first", 5_000, 1_767_225_600_000)
    assert (first.external_labels, first.external_url) == ({"site": "eu"}, "https://w.example")
    assert first.series[0].labels == {"__name__": "up", "x": "1"}
    assert first.series[0].values == [1, 0, 0, 0, 0, None]
    (alert,) = first.alerts
    assert (alert.at_ms, alert.name, alert.line) == (60_000, "Down", 14)
    assert alert.expected[0].labels == {"x": "1"}
    assert alert.expected[0].annotations == {"summary": "s"}
    (query,) = first.queries
    assert (query.text, query.at_ms, query.expected[0].value) == ("up", 5_000, 0)
    assert (second.name, second.interval_ms, second.start_ms) == ("test 2", 10_000, 1_700_000_000_500)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("rules: []\n", 1, "unknown key 'rules' in a test file"),
        ("tests:\n- alert_test: []\n", 2, "unknown key 'alert_test' in a test; did you mean 'alert_rule_test'?"),
        ("tests:\n- input_series:\n  - {series: up}\n", 3, "needs `values`"),
        ("tests:\n- input_series:\n  - {series: up, values: 'x'}\n", 3, "is no value"),
        ("tests:\n- input_series:\n  - {series: 'up{', values: '1'}\n", 3, "no series"),
        ("tests:\n- input_series:\n  - {series: up, values: '{{count:1}}'}\n", 3, "native histograms"),
        ("tests:\n- alert_rule_test:\n  - {eval_time: 1m}\n", 3, "needs `alertname`"),
        ("tests:\n- alert_rule_test:\n  - {eval_time: soon, alertname: A}\n", 3, "not a duration"),
        ("tests:\n- promql_expr_test:\n  - {expr: 'sum(', eval_time: 1m}\n", 3, "invalid PromQL"),
        ("tests:\n- promql_expr_test:\n  - {eval_time: 1m}\n", 3, "needs `expr`"),
        ("tests:\n- promql_expr_test:\n  - {expr: up, exp_samples: [{value: x}]}\n", 3, "not a number"),
        ("tests:\n- promql_expr_test:\n  - {expr: up, exp_samples: [{histogram: x}]}\n", 3, "native histograms"),
        ("group_eval_order: [a, a]\n", 1, "stands twice"),
        ("tests:\n- start_timestamp: yesterday\n", 2, "is no time"),
        ("tests:\n- start_timestamp: inf\n", 2, "is no time"),
        ("tests:\n- start_timestamp: 1e300\n", 2, "is no time"),
        ("tests:\n- name: [\n", 3, "not YAML"),
    ],
)
def test_what_is_wrong_is_told_by_place(text: str, line: int, words: str) -> None:
    fault = read_test_file(text.encode()).faults[0]
    assert fault.line == line
    assert words in fault.message
