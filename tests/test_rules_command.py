"""`loadwatch rules check` as a person runs it, and the guide's examples with promtool."""

import subprocess
from pathlib import Path

from tests.fork_server import run_forked

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


def loadwatch(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run_forked("rules", *arguments)


def test_check(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yml", tmp_path / "bad.yml"
    good.write_text(RULES)
    bad.write_text("groups:\n- name: a\n  rules:\n  - alert: A\n    expr: sum(\n    for: 5\n")
    done = loadwatch("check", good)
    assert (done.returncode, done.stdout) == (0, f"{good}: 5 rules (4 alerting, 1 recording) in 1 group\n")
    done = loadwatch("check", good, bad)
    assert done.returncode == 1
    assert f"{bad}:5:11: invalid PromQL" in done.stderr
    assert f"{bad}:6:10: '5' is not a duration" in done.stderr
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
    done = subprocess.run(["promtool", "test", "rules", tmp_path / "app.test.yml"], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
