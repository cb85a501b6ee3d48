"""A cold cache is a finding where reads went to disk at first and the run was worse than its baseline."""

from dataclasses import replace

from loadwatch_backend.findings.detectors.baseline import cold_cache as DETECTOR
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.window import Baseline, Window

from backend.tests.findings.detectors.baseline.baselines import MYSQL, baseline
from backend.tests.findings.windows import Values, found, load, rising, steps, window

DB = '{job="mysql",instance="db"}'
KEY = (MYSQL, "buffer_pool_filled")


WARMING = steps((20, 0.5), (40, 0.1))
"""p95 while the cache warms."""


def _seen(against: Baseline | None, reads: Values | None = None, p95: Values = WARMING) -> Window:
    cold = steps((20, 500.0), (40, 10.0)) if reads is None else reads
    series: dict[str, Values] = {
        f"mysql_global_status_innodb_buffer_pool_reads{DB}": rising(cold),
        f"mysql_global_status_innodb_buffer_pool_read_requests{DB}": rising(10_000.0),
    }
    return replace(window(series, load=load(100.0, p95=p95)), baseline=against)


def test_an_emptier_pool_with_misses_that_fall_and_a_slower_run_is_found() -> None:
    finding = found(DETECTOR, _seen(baseline({KEY: 0.9}, {KEY: 0.05})))
    assert finding.id == "cold-cache"
    assert finding.certainty is Certainty.CERTAIN
    assert finding.labels == {"job": "mysql", "instance": "db"}
    assert "cold cache (5 % full, 90 % before the baseline), and 5 % of its reads went to disk" in finding.sentence.en
    assert "p95 was 500 ms, against 100 ms in run 12" in finding.sentence.en


def test_the_same_without_harm_or_misses_is_no_limit_that_was_full() -> None:
    harmless = DETECTOR.look(_seen(baseline({KEY: 0.9}, {KEY: 0.05}, p95=0.1)))
    level = DETECTOR.look(_seen(baseline({KEY: 0.9}, {KEY: 0.05}), reads=500.0))
    for seen in (harmless, level):
        assert not seen.findings
        assert not seen.observations
        assert seen.clear is not None
        assert "5 % full" in seen.clear.en


def test_a_warm_pool_is_clear_and_another_rate_or_no_baseline_is_not_judged() -> None:
    warm = DETECTOR.look(_seen(baseline({KEY: 0.9}, {KEY: 0.85})))
    assert warm.clear is not None
    assert "85 % full" in warm.clear.en
    assert not DETECTOR.look(_seen(baseline({KEY: 0.9}, {KEY: 0.05}, target=200.0))).findings
    assert DETECTOR.look(_seen(None)).clear is None


def test_answers_that_are_as_slow_with_a_warm_cache_have_another_reason() -> None:
    seen = DETECTOR.look(_seen(baseline({KEY: 0.9}, {KEY: 0.05}), p95=0.5))
    assert not seen.findings
    assert seen.clear is not None
