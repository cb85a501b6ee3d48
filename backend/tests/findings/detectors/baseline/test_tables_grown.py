"""Tables that grew are a finding where the run was worse than its baseline."""

from dataclasses import replace

from loadwatch_backend.findings.detectors.baseline import tables_grown as DETECTOR
from loadwatch_backend.findings.model import Certainty, Look
from loadwatch_backend.findings.window import Baseline

from backend.tests.findings.detectors.baseline.baselines import MYSQL, baseline
from backend.tests.findings.windows import load, window

KEY = (MYSQL, "rows shop.hits")


def _look(against: Baseline | None) -> Look:
    return DETECTOR.look(replace(window({}, load=load(100.0)), baseline=against))


def test_a_table_that_grew_and_a_run_that_was_slower_are_found_together() -> None:
    (finding,) = _look(baseline({KEY: 200_000.0}, {KEY: 4_000_000.0})).findings
    assert finding.id == "tables-grown"
    assert finding.certainty is Certainty.LIKELY
    assert "shop.hits had 4,000,000 rows when the run began, 200,000 before run 12" in finding.sentence.en
    assert "4,000,000行" in finding.sentence.ja


def test_growth_without_harm_is_no_limit_that_was_full() -> None:
    seen = _look(baseline({KEY: 200_000.0}, {KEY: 4_000_000.0}, p95=0.11))
    assert not seen.findings
    assert seen.clear is not None
    assert not seen.observations


def test_a_table_that_is_counted_and_estimated_is_named_once() -> None:
    estimate = (MYSQL, "rows hits.hits")
    counted = ("freshness db", "rows hits")
    for before, now in ((38_852.0, 38_852.0), (200_000.0, 4_000_000.0)):
        seen = _look(baseline({estimate: before - 900, counted: before}, {estimate: now - 900, counted: now}))
        texts = [seen.clear.en] if seen.clear is not None else [one.sentence.en for one in seen.findings]
        assert len(texts) == 1
        assert texts[0].startswith(f"hits had {now:,.0f} rows ")
        assert "hits.hits" not in texts[0]


def test_a_little_growth_is_clear() -> None:
    seen = _look(baseline({KEY: 200_000.0}, {KEY: 210_000.0}))
    assert not seen.findings
    assert seen.clear is not None
    assert not _look(baseline({KEY: 100.0}, {KEY: 900.0})).findings


def test_a_table_that_only_one_run_knows_and_no_baseline_say_nothing() -> None:
    assert _look(baseline({}, {KEY: 4_000_000.0})).clear is None
    assert _look(None).clear is None


def test_a_run_that_slowed_by_more_than_the_rows_can_explain_has_another_cause() -> None:
    # 1.6 times the rows do not make answers five times slower.
    seen = _look(baseline({KEY: 200_000.0}, {KEY: 320_000.0}))
    assert not seen.findings
    assert seen.clear is not None
    assert not seen.observations
    assert _look(baseline({KEY: 200_000.0}, {KEY: 320_000.0}, p95=0.2)).findings
