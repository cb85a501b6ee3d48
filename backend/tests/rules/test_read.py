"""Reading of rule files; verdicts beside promtool's."""

import shutil
import subprocess
from pathlib import Path

import pytest
from loadwatch_backend.alerting.rules.model import NoDataPolicy, RuleKind
from loadwatch_backend.alerting.rules.read import Read, read_rules

from backend.tests.rules.rule_texts import BAD, GOOD


def read(text: str, file: str = "rules.yml") -> Read:
    return read_rules(text.encode(), file, 1_000)


def only(text: str) -> Read:
    found = read(text)
    assert not found.all_faults
    return found


@pytest.mark.parametrize("name", GOOD)
def test_good_files(name: str) -> None:
    only(GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_bad_files_say_where_and_what(name: str) -> None:
    text, expected = BAD[name]
    found = read(text).all_faults
    assert [(one.line, one.column) for one in found] == [(line, column) for line, column, _ in expected]
    for fault, (_, _, words) in zip(found, expected, strict=True):
        assert words in fault.text


LAUGHS = [
    # Ten levels of ten: some hundred bytes are ten thousand million values.
    "\n".join(["a0: &a0 x", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 11))]),
    # The form has three levels, and each may be an alias.
    "x: &r {record: m, expr: up}\ny: &g {name: n, rules: [" + "*r," * 2_000 + "]}\ngroups: [" + "*g," * 2_000 + "]",
    "groups: &all [*all]",
]


@pytest.mark.parametrize("text", LAUGHS)
def test_aliases_that_multiply_are_refused_before_they_are_written_out(text: str) -> None:
    (fault,) = read(text).all_faults
    assert "with its aliases written out the document has more than 1000000 values" in fault.text


def test_aliases_as_people_use_them_are_read() -> None:
    only("groups: [{name: n, rules: [{record: a, expr: up, labels: &l {team: x}}, {record: b, expr: up, labels: *l}]}]")


@pytest.fixture(scope="session")
def promtool() -> str:
    found = shutil.which("promtool")
    assert found, "promtool is missing: apt-get install prometheus"
    return found


@pytest.mark.parametrize("kind", ["good", "bad"])
def test_promtool_agrees(promtool: str, tmp_path: Path, kind: str) -> None:
    texts = GOOD if kind == "good" else {name: text for name, (text, _) in BAD.items()}
    verdicts: dict[str, bool] = {}
    for place, (name, text) in enumerate(texts.items()):
        path = tmp_path / f"{place}.yml"
        path.write_text(text)
        done = subprocess.run([promtool, "check", "rules", "--lint=none", str(path)], capture_output=True, check=False)
        verdicts[name] = done.returncode == 0
    assert verdicts == dict.fromkeys(texts, kind == "good")


def test_what_a_rule_says() -> None:
    group = only(
        """
groups:
- name: pool
  interval: 2s
  limit: 7
  query_offset: 1m
  labels: {team: db, severity: info}
  rules:
  - alert: PoolWaits
    expr: rate(go_sql_wait_count_total[30s]) > 0
    for: 10s
    keep_firing_for: 1m
    labels: {severity: warning}
    annotations:
      summary: "{{ $value }}"
      loadwatch_no_data: alert
      loadwatch_unit: "1/s"
      loadwatch_signal: pool.waits
  - record: pool:waits
    expr: sum(go_sql_wait_count_total)
"""
    ).groups[0]
    alert, record = group.rules
    assert (group.name, group.interval_ms, group.limit, group.query_offset_ms) == ("pool", 2_000, 7, 60_000)
    assert (alert.kind, alert.name, alert.line) == (RuleKind.ALERTING, "PoolWaits", 9)
    assert (alert.for_ms, alert.keep_firing_for_ms, alert.limit, alert.query_offset_ms) == (10_000, 60_000, 7, 60_000)
    assert alert.labels == {"team": "db", "severity": "warning"}
    assert alert.annotations == {"summary": "{{ $value }}"}
    assert (alert.no_data, alert.unit, alert.signal) == (NoDataPolicy.ALERT, "1/s", "pool.waits")
    assert (record.kind, record.name, record.no_data) == (RuleKind.RECORDING, "pool:waits", NoDataPolicy.KEEP)


def test_a_group_without_an_interval_gets_the_default() -> None:
    assert only("groups:\n- {name: a}\n- {name: b, interval: 0s}\n").groups[0].interval_ms == 1_000


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("groups: []\n---\ngroups: []\n", 3, "second document"),
        ("groups:\n- name: a\n  rules:\n  -\n", 4, "expr is missing"),
        (
            "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: up\n    annotations: {loadwatch_no_data: maybe}\n",
            6,
            "keep",
        ),
        ("groups:\n- name: a\n  rules:\n  - alert: A\n    expr: '\"text\"'\n", 5, "gives a string"),
        ("groups:\n- name: a\n  rules:\n  - alert: A\n    expr: up[5m]\n", 5, "gives a matrix"),
        ("groups:\n- name: a\n  rules:\n  - alert: A\n    expr: x </ 5\n", 5, "native histograms"),
        ("groups:\n- name: 300y\n  interval: 300y\n", 3, "out of range"),
        ("groups: " + "[" * 3_000 + "]" * 3_000, 1, ""),
    ],
)
def test_where_loadwatch_is_stricter(text: str, line: int, words: str) -> None:
    fault = read(text).all_faults[0]
    assert fault.line == line
    assert words in fault.text


def test_what_is_not_utf8_is_told_by_place() -> None:
    fault = read_rules(b"groups:\n- name: \xff\n", "a", 1_000).all_faults[0]
    assert (fault.line, fault.column) == (2, 9)
    assert "0xff" in fault.text


RULE = "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: up == 0\n    for: 1m\n    labels: {a: b}\n"


def ids(text: str, file: str = "rules.yml") -> list[str]:
    return [rule.id for group in only_of(text, file).groups for rule in group.rules]


def only_of(text: str, file: str) -> Read:
    found = read(text, file)
    assert not found.all_faults
    return found


def test_ids_are_those_of_file_group_name_expression_and_labels() -> None:
    first = ids(RULE)
    assert ids(RULE, "elsewhere/rules.yml") == first
    # What does not change which alerts there are does not change the id.
    assert ids(RULE.replace("1m", "2m")) == first
    assert ids("# a comment\n" + RULE) == first
    for old, new in [("name: g", "name: h"), ("alert: A", "alert: B"), ("== 0", "== 1"), ("a: b", "a: c")]:
        assert ids(RULE.replace(old, new)) != first
    assert ids(RULE, "other.yml") != first


def test_alike_rules_have_ids_of_their_own() -> None:
    assert len(set(ids(GOOD["same alert twice"]))) == 2
