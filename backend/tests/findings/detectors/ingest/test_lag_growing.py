"""What waits grows for as long as the load lasts; a queue that is flushed at intervals does not."""

import numpy as np
from loadwatch_backend.findings.detectors.ingest.lag_growing import DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity

from backend.tests.findings.windows import BEFORE, START_MS, Values, found, over, rising, window

APP = '{job="app",instance="app-1"}'
SECONDS = 60


def _series(accepted: Values = 300.0, stored: Values = 200.0, queue: Values | None = None) -> dict[str, Values]:
    series: dict[str, Values] = {
        f"ingest_accepted_total{APP}": rising(accepted),
        f"ingest_stored_total{APP}": rising(stored),
    }
    return series if queue is None else series | {f"ingest_queue_length{APP}": queue}


def test_a_writer_that_cannot_follow_is_found_with_the_rate_it_needs_and_the_time_that_is_left() -> None:
    grown = np.linspace(1, SECONDS, SECONDS)
    series = _series(queue=grown * 100.0) | {
        f"ingest_queue_limit{APP}": 10_000.0,
        'ingest_lag_seconds{job="app",instance="app-1",stat="max"}': grown / 3.0,
    }
    finding = found(DETECTOR, window(series))
    assert finding.id == "ingest-lag-growing"
    assert finding.certainty is Certainty.CERTAIN
    assert START_MS < finding.from_ms <= START_MS + 5_000
    assert "accepts 300 requests/s and stores 200" in finding.sentence.en
    assert "6,000 wait, 30 s of writing" in finding.sentence.en
    assert "10,000 is full in 40 s" in finding.sentence.en
    assert "10,000件のキューは40秒後" in finding.sentence.ja
    assert "has to reach 300 rows/s (1.5 ×)" in finding.steps[0].text.en


def test_without_a_queue_length_the_counters_tell() -> None:
    finding = found(DETECTOR, window(_series()))
    assert finding.certainty is Certainty.LIKELY
    assert "6,000 wait" in finding.sentence.en


def test_a_probe_that_waits_completes_the_chain_and_long_lag_is_grave() -> None:
    lag = np.linspace(1.5, SECONDS * 1.5, SECONDS)
    series = _series() | {
        'probe_ingest_lag_seconds{job="app",instance="app-1"}': lag,
        f"ingest_oldest_seconds{APP}": lag,
    }
    finding = found(DETECTOR, window(series))
    assert finding.certainty is Certainty.CERTAIN
    assert finding.weight is Severity.CRITICAL


def test_a_queue_that_is_flushed_every_ten_seconds_does_not_grow() -> None:
    flushed = np.where(np.arange(1, SECONDS + 1) % 10 == 0, 3_000.0, 0.0)
    seen = DETECTOR.look(window(_series(stored=flushed)))
    assert not seen.findings
    assert seen.clear is not None
    assert "did not grow" in seen.clear.en


def test_a_flush_that_is_longer_than_half_of_the_window_is_not_judged() -> None:
    flushed = np.where(np.arange(1, SECONDS + 1) == 35, 10_500.0, 0.0)
    assert not DETECTOR.look(window(_series(stored=flushed))).findings


def test_a_pause_that_is_caught_up_with_is_no_finding() -> None:
    stored = np.full(SECONDS, 300.0)
    stored[20:30], stored[30:40] = 0.0, 600.0
    assert not DETECTOR.look(window(_series(stored=stored))).findings


def test_a_queue_that_stands_at_some_length_does_not_grow() -> None:
    stored = np.full(SECONDS, 300.0)
    stored[:5] = 0.0
    assert not DETECTOR.look(window(_series(stored=stored))).findings


def test_a_little_behind_is_no_finding() -> None:
    assert not DETECTOR.look(window(_series(accepted=300.0, stored=293.0))).findings


def test_a_writer_that_hangs_is_found_once_that_is_long() -> None:
    assert "stores 0" in found(DETECTOR, window(_series(stored=0.0))).sentence.en
    assert not DETECTOR.look(window(_series(accepted=np.r_[np.full(30, 300.0), np.zeros(30)], stored=0.0))).findings


def test_five_seconds_and_gaps_are_no_finding() -> None:
    series: dict[str, Values] = {
        f"ingest_accepted_total{APP}": rising(300.0, seconds=5),
        f"ingest_stored_total{APP}": rising(100.0, seconds=5),
    }
    assert not DETECTOR.look(window(series, seconds=5)).findings
    holes = over(np.linspace(0, 5_900, SECONDS))
    holes[BEFORE + 10 :] = np.nan
    unknown: dict[str, Values] = {
        f"ingest_accepted_total{APP}": rising(300.0),
        f"ingest_stored_total{APP}": np.nan * holes,
    }
    assert not DETECTOR.look(window(unknown)).findings


def test_an_idle_application_is_clear_of_it_without_a_word() -> None:
    seen = DETECTOR.look(window(_series(accepted=0.0, stored=0.0)))
    assert not seen.findings
    assert seen.clear is None


def test_of_two_instances_the_one_that_falls_behind_is_named() -> None:
    other = {key.replace("app-1", "app-2"): value for key, value in _series(stored=300.0).items()}
    assert found(DETECTOR, window(_series() | other)).labels["instance"] == "app-1"
