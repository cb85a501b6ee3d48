"""`loadwatch rules check` and `loadwatch rules test` as a person runs them, beside promtool.

Windows are 90 s and not 1 m: Debian's Prometheus 2 closes them on the left, Prometheus 3 and we do not.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.serving import LOADWATCH

RULES = """
groups:
- name: app
  rules:
  - record: job:errors:rate
    expr: sum by (job) (rate(errors_total[90s]))
  - alert: Errors
    expr: job:errors:rate > 0.5
    for: 2m
    labels: {severity: page}
    annotations:
      summary: '{{ $labels.job }} has {{ $value | printf "%.2f" }} errors a second'
      loadwatch_no_data: ok
  - alert: Down
    expr: up == 0
    keep_firing_for: 3m
    annotations: {loadwatch_no_data: ok, site: '{{ $externalLabels.site }} {{ $externalURL }}'}
  - alert: Gone
    expr: absent(up{job="db"})
    annotations: {loadwatch_no_data: ok}
  - alert: Chain
    expr: count(ALERTS{alertstate="firing", alertname="Down"}) > 0
    annotations: {loadwatch_no_data: ok}
"""

HEAD = "rule_files: [rules.yml]\nevaluation_interval: 1m\n"
SERIES = """
- interval: 1m
  external_labels: {site: eu}
  external_url: https://w.example
  input_series:
  - {series: 'errors_total{job="a",pod="1"}', values: '0+60x10 600x10'}
  - {series: 'errors_total{job="a",pod="2"}', values: '0+30x20'}
  - {series: 'up{job="a"}', values: '1 1 0 0 1 1 1 1 1 1 1 0 1 0 1'}
  - {series: 'up{job="db"}', values: '1 1 1 _x3 1 1 1 stale'}
"""

VERDICTS = {
    "pending is not firing": (True, "  alert_rule_test: [{eval_time: 2m, alertname: Errors, exp_alerts: []}]"),
    "firing after for": (
        True,
        """
  alert_rule_test:
  - eval_time: 5m
    alertname: Errors
    exp_alerts:
    - exp_labels: {severity: page, job: a}
      exp_annotations: {summary: 'a has 1.50 errors a second', loadwatch_no_data: ok}
""",
    ),
    "not firing as expected": (
        False,
        "  alert_rule_test: [{eval_time: 5m, alertname: Errors, exp_alerts: []}]",
    ),
    "wrong label": (
        False,
        """
  alert_rule_test:
  - eval_time: 5m
    alertname: Errors
    exp_alerts:
    - exp_labels: {severity: warning, job: a}
      exp_annotations: {summary: 'a has 1.50 errors a second', loadwatch_no_data: ok}
""",
    ),
    "missing annotation": (
        False,
        "  alert_rule_test: [{eval_time: 5m, alertname: Errors, exp_alerts: [{exp_labels: {severity: page, job: a}}]}]",
    ),
    "fires at once": (
        True,
        """
  alert_rule_test:
  - eval_time: 2m
    alertname: Down
    exp_alerts: [{exp_labels: {job: a}, exp_annotations: {site: 'eu https://w.example', loadwatch_no_data: ok}}]
""",
    ),
    "kept firing": (
        True,
        """
  alert_rule_test:
  - eval_time: 6m
    alertname: Down
    exp_alerts: [{exp_labels: {job: a}, exp_annotations: {site: 'eu https://w.example', loadwatch_no_data: ok}}]
""",
    ),
    "no longer kept": (True, "  alert_rule_test: [{eval_time: 7m, alertname: Down, exp_alerts: []}]"),
    "kept too long": (False, "  alert_rule_test: [{eval_time: 6m, alertname: Down, exp_alerts: []}]"),
    "kept again after a swing": (
        True,
        """
  alert_rule_test:
  - eval_time: 14m30s
    alertname: Down
    exp_alerts: [{exp_labels: {job: a}, exp_annotations: {site: 'eu https://w.example', loadwatch_no_data: ok}}]
""",
    ),
    "not absent while it looks back": (True, "  alert_rule_test: [{eval_time: 5m, alertname: Gone, exp_alerts: []}]"),
    "absent from the stale marker on": (
        True,
        """
  alert_rule_test:
  - {eval_time: 9m, alertname: Gone, exp_alerts: [{exp_labels: {job: db}, exp_annotations: {loadwatch_no_data: ok}}]}
""",
    ),
    "a rule on alerts": (
        True,
        """
  alert_rule_test:
  - {eval_time: 3m, alertname: Chain, exp_alerts: [{exp_annotations: {loadwatch_no_data: ok}}]}
""",
    ),
    "a rule on alerts that ended": (
        True,
        "  alert_rule_test: [{eval_time: 8m, alertname: Chain, exp_alerts: []}]",
    ),
    "an unknown alert": (True, "  alert_rule_test: [{eval_time: 3m, alertname: Nothing, exp_alerts: []}]"),
    "queries": (
        True,
        """
  promql_expr_test:
  - {expr: up, eval_time: 2m, exp_samples: [{labels: 'up{job="db"}', value: 1}, {labels: 'up{job="a"}', value: 0}]}
  - {expr: 'job:errors:rate', eval_time: 5m, exp_samples: [{labels: 'job:errors:rate{job="a"}', value: 1.5}]}
  - {expr: 'sum(up)', eval_time: 2m, exp_samples: [{value: 1}]}
  - {expr: 'up > 5', eval_time: 2m, exp_samples: []}
  - expr: ALERTS
    eval_time: 2m
    exp_samples:
    - {labels: 'ALERTS{alertname="Down",alertstate="firing",job="a"}', value: 1}
    - {labels: 'ALERTS{alertname="Chain",alertstate="firing"}', value: 1}
    - {labels: 'ALERTS{alertname="Errors",alertstate="pending",job="a",severity="page"}', value: 1}
""",
    ),
    "a query with another value": (
        False,
        "  promql_expr_test: [{expr: 'sum(up)', eval_time: 2m, exp_samples: [{value: 2}]}]",
    ),
    "a query with too many samples": (
        False,
        "  promql_expr_test: [{expr: 'sum(up)', eval_time: 2m, exp_samples: []}]",
    ),
    "a query that fails": (
        False,
        "  promql_expr_test: [{expr: 'up / on() errors_total', eval_time: 2m, exp_samples: []}]",
    ),
}


def loadwatch(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LOADWATCH, "rules", *arguments], capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.yml").write_text(RULES)
    for place, (_, text) in enumerate(VERDICTS.values()):
        (tmp_path / f"{place}.test.yml").write_text(f"{HEAD}tests:{SERIES}{text}\n")
    return tmp_path


def test_verdicts_are_those_of_promtool(folder: Path) -> None:
    promtool = shutil.which("promtool")
    assert promtool, "promtool is missing: apt-get install prometheus"
    expected = {name: verdict for name, (verdict, _) in VERDICTS.items()}
    theirs: dict[str, bool] = {}
    for place, name in enumerate(VERDICTS):
        path = folder / f"{place}.test.yml"
        done = subprocess.run([promtool, "test", "rules", str(path)], capture_output=True, check=False, timeout=300)
        theirs[name] = done.returncode == 0
    assert theirs == expected

    done = loadwatch("test", *(folder / f"{place}.test.yml" for place in range(len(VERDICTS))))
    ours = {name: f"{folder / f'{place}.test.yml'}: ok, 1 test " in done.stdout for place, name in enumerate(VERDICTS)}
    assert ours == expected
    assert done.returncode == 1
    failed = list(expected.values()).count(False)
    assert f"{failed} of {len(VERDICTS)} files failed" in done.stderr


def test_a_failure_says_where_and_what(folder: Path) -> None:
    place = list(VERDICTS).index("wrong label")
    done = loadwatch("test", folder / f"{place}.test.yml")
    assert done.returncode == 1
    assert f"{place}.test.yml:14: test 1: at 5m the alert Errors:" in done.stderr
    assert 'expected, and does not fire: {alertname="Errors", job="a", severity="warning"}' in done.stderr
    assert 'fires, and is not expected:  {alertname="Errors", job="a", severity="page"}' in done.stderr


def test_no_data_is_not_recovery(tmp_path: Path) -> None:
    """What we do where Prometheus resolves: the policy of the rule decides."""
    rules = "groups:\n- name: g\n  rules:\n"
    for policy in ("keep", "alert", "ok"):
        rules += f"  - {{alert: {policy}, expr: up == 0, for: 1m, annotations: {{loadwatch_no_data: {policy}}}}}\n"
    (tmp_path / "rules.yml").write_text(rules)
    (tmp_path / "t.yml").write_text(
        HEAD
        + """
tests:
- name: vanishes while it fires
  input_series: [{series: 'up{job="a"}', values: '0 0 0 stale'}]
  alert_rule_test:
  - {eval_time: 2m, alertname: ok, exp_alerts: [{exp_labels: {job: a}}]}
  - {eval_time: 9m, alertname: ok, exp_alerts: []}
  - {eval_time: 9m, alertname: keep, exp_alerts: [{exp_labels: {job: a}}]}
- name: is back and well
  input_series: [{series: 'up{job="a"}', values: '0 0 0 stale _ _ 1'}]
  alert_rule_test: [{eval_time: 6m, alertname: keep, exp_alerts: []}]
"""
    )
    done = loadwatch("test", tmp_path / "t.yml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 't.yml'}: ok, 2 tests with 4 expectations\n"
    done = loadwatch("test", "--run", "back", tmp_path / "t.yml")
    assert done.stdout == f"{tmp_path / 't.yml'}: ok, 1 test with 1 expectation\n"


def test_files_of_rules_are_found_beside_the_test(tmp_path: Path) -> None:
    (tmp_path / "t.yml").write_text("rule_files: [none.yml, 'sub/*.yml']\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "r.yml").write_text("groups:\n- nam: a\n")
    done = loadwatch("test", tmp_path / "t.yml")
    assert done.returncode == 1
    assert f"{tmp_path / 't.yml'}:1: no file matches 'none.yml'" in done.stderr
    assert f"{tmp_path / 'sub' / 'r.yml'}:2:3: unknown key 'nam' in a group; did you mean 'name'?" in done.stderr


def test_a_broken_test_file_says_where(tmp_path: Path) -> None:
    (tmp_path / "t.yml").write_text("tests:\n- alerts: []\n")
    done = loadwatch("test", tmp_path / "t.yml")
    assert done.returncode == 1
    assert f"{tmp_path / 't.yml'}:2:3: unknown key 'alerts' in a test" in done.stderr


def test_check(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yml", tmp_path / "bad.yml"
    good.write_text(RULES)
    bad.write_text("groups:\n- name: a\n  rules:\n  - alert: A\n    expr: sum(\n    for: 5\n")
    done = loadwatch("check", good)
    assert (done.returncode, done.stdout) == (0, f"{good}: 5 rules (4 alerting, 1 recording) in 1 group\n")
    done = loadwatch("check", good, bad)
    assert done.returncode == 1
    assert f"{bad}:5:11: invalid PromQL" in done.stderr
    assert f"{bad}:6:10: `for`: '5' is not a duration" in done.stderr
    assert "1 of 2 files is broken" in done.stderr
    assert loadwatch("check", tmp_path / "none.yml").returncode == 2


def test_the_guides_examples(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[1] / "docs" / "guide" / "rules.md").read_text()
    for name in ("app.yml", "app.test.yml"):
        block = guide.split(f"```yaml\n# {name}\n", 1)[1].split("```", 1)[0]
        (tmp_path / name).write_text(block)
    assert loadwatch("check", tmp_path / "app.yml").stdout.endswith(
        "app.yml: 2 rules (1 alerting, 1 recording) in 1 group\n"
    )
    assert loadwatch("test", tmp_path / "app.test.yml").stdout.endswith(
        "app.test.yml: ok, 1 test with 3 expectations\n"
    )
