"""Instances differ where two builds or settings stand side by side all the time; a deploy is no difference."""

import numpy as np
from loadwatch_backend.findings.detectors.instances import builds as DETECTOR
from loadwatch_backend.findings.model import Severity

from backend.tests.findings.windows import Values, found, over, rising, steps, window


def _build(number: int, revision: str = "abc", values: Values = 1.0) -> dict[str, Values]:
    return {f'go_build_info{{job="app",instance="app-{number}",path="m",version="v1",revision="{revision}"}}': values}


SAME = _build(1) | _build(2) | _build(3)


def test_another_commit_on_one_instance_is_named() -> None:
    finding = found(DETECTOR, window(_build(1) | _build(2) | _build(3, "def")))
    assert finding.id == "different-builds"
    assert finding.weight is Severity.INFO
    assert finding.labels == {"job": "app", "instance": "app-3"}
    assert "build v1 abc on app-1, app-2, v1 def on app-3" in finding.sentence.en
    assert "v1 def(app-3)" in finding.sentence.ja


def test_another_setting_is_named() -> None:
    series = SAME | {
        f'go_sql_max_open_connections{{job="app",instance="app-{number}",db_name="hits"}}': 10.0
        if number == 2
        else 30.0
        for number in (1, 2, 3)
    }
    finding = found(DETECTOR, window(series))
    assert "SetMaxOpenConns hits 30 on app-1, app-3, 10 on app-2" in finding.sentence.en


def test_equal_instances_are_clear() -> None:
    seen = DETECTOR.look(window(SAME))
    assert not seen.findings
    assert seen.clear is not None
    assert "All 3 instances of app run v1 abc" in seen.clear.en


def test_a_deploy_under_way_is_not_judged() -> None:
    half = over(steps((30, 1.0), (30, np.nan)))
    half[-30:] = np.nan
    other = over(steps((30, np.nan), (30, 1.0)))
    other[:30] = np.nan
    series = _build(1) | _build(2) | _build(3, "abc", half) | _build(3, "def", other)
    assert not DETECTOR.look(window(series)).findings


def test_an_instance_that_comes_or_goes_is_no_equal() -> None:
    gone = over(steps((20, 1.0), (40, np.nan)))
    gone[-30:] = np.nan
    assert not DETECTOR.look(window(SAME | _build(4, "def", gone))).findings


def test_other_jobs_may_run_other_builds() -> None:
    other: dict[str, Values] = {'go_build_info{job="worker",instance="w",path="m",version="v9",revision="x"}': 1.0}
    assert not DETECTOR.look(window(SAME | other)).findings


def test_an_ill_instance_with_another_build_is_a_warning() -> None:
    series = _build(1) | _build(2) | _build(3) | _build(4, "def")
    for number in (1, 2, 3, 4):
        labels = f'{{job="app",instance="app-{number}"}}'
        series[f"go_sql_wait_duration_seconds_total{labels}"] = rising(40.0 if number == 4 else 0.1)
        series[f"ingest_accepted_total{labels}"] = rising(100.0)
    assert found(DETECTOR, window(series)).weight is Severity.WARNING
