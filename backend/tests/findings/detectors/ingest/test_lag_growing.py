"""What waits grows for as long as the load lasts; a queue that is flushed at intervals does not."""

from dataclasses import replace

import numpy as np
import pytest
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.detectors.ingest import lag_growing as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity

from backend.tests.findings.detectors.ingest.writers import Writer
from backend.tests.findings.windows import BEFORE, START_MS, Values, found, over, rising, window

APP = '{job="app",instance="app-1"}'
SECONDS = 60


def _series(accepted: Values = 300.0, stored: Values = 200.0, queue: Values | None = None) -> dict[str, Values]:
    """Up to the end of the load, as long as it goes on."""
    series: dict[str, Values] = {
        f"ingest_accepted_total{APP}": _ending(rising(accepted)),
        f"ingest_stored_total{APP}": _ending(rising(stored)),
    }
    return series if queue is None else series | {f"ingest_queue_length{APP}": queue}


def _ending(values: FloatArray) -> FloatArray:
    values[BEFORE + SECONDS + 1 :] = np.nan
    return values


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
    assert "6,000 wait: 30 s of writing" in finding.sentence.en
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
    assert "no clear rise" in seen.clear.en


def test_a_flush_that_is_longer_than_half_of_the_window_cannot_be_judged() -> None:
    flushed = np.where(np.arange(1, SECONDS + 1) == 35, 10_500.0, 0.0)
    seen = DETECTOR.look(window(_series(stored=flushed)))
    assert (seen.findings, seen.clear) == ([], None)
    assert seen.unjudged is not None
    assert "there were 60 s, and 7,500 of 18,000" in seen.unjudged.en


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


@pytest.mark.parametrize("seconds", [5, 15, 60])
@pytest.mark.parametrize("phase", [0.0, 0.5])
@pytest.mark.parametrize("batch", [100, 500, 0])
def test_a_writer_that_takes_the_whole_buffer_and_is_too_slow_is_found_after_any_load(
    batch: int, phase: float, seconds: int
) -> None:
    writer = Writer(rate=1_200, speed=950, batch=batch, phase=phase)
    if seconds == 5 and not batch:
        # Three writes at all: too few to tell.
        seen = DETECTOR.look(writer.seen(seconds))
        assert (seen.findings, seen.clear) == ([], None)
        return
    finding = found(DETECTOR, writer.seen(seconds))
    assert finding.id == "ingest-lag-growing"
    assert START_MS < finding.from_ms <= START_MS + 3_000
    assert f"of {1_200 * seconds:,} are not stored when the load ends" in finding.sentence.en
    # As soon as the load has ended, too, or what was seen is too little.
    seen = DETECTOR.look(writer.seen(seconds, after=1))
    assert seen.findings or (not batch and seen.unjudged)


def test_what_waits_is_what_the_counters_say_and_not_the_queue() -> None:
    """The queue is a saw-tooth that falls to nothing, and the batch that is being written is in none."""
    finding = found(DETECTOR, Writer(rate=1_200, speed=950).seen(15))
    assert "5,024 of 18,000 are not stored when the load ends: 5.5 s of writing" in finding.sentence.en
    assert "負荷終了時に18,000件中5,024件が未保存" in finding.sentence.ja


@pytest.mark.parametrize("seconds", [5, 15, 60])
@pytest.mark.parametrize("lag", [True, False])
@pytest.mark.parametrize("interval", [0.2, 1.0, 2.0, 5.0, 10.0])
def test_a_writer_with_an_interval_that_follows_is_never_accused(interval: float, lag: bool, seconds: int) -> None:
    for speed in (1_300, 1_500, 4_000):
        for batch in (0, 500):
            for phase in (0.0, 0.3, 0.7):
                writer = Writer(speed=speed, batch=batch, interval=interval, phase=phase * interval)
                for after in (1, None):
                    seen = DETECTOR.look(writer.seen(seconds, lag=lag, after=after))
                    assert not seen.findings, (writer, after)
                    if interval <= 1 and (lag or seconds > 5):
                        assert seen.unjudged is None, (writer, after)


def test_rows_that_are_dropped_are_not_late() -> None:
    for lag in (True, False):
        assert not DETECTOR.look(Writer(speed=4_000, batch=100, drops=10).seen(60, lag=lag)).findings


def test_a_load_that_is_too_short_for_the_interval_cannot_be_judged() -> None:
    seen = DETECTOR.look(Writer(speed=4_000, interval=10.0, phase=8.0).seen(15, after=1))
    assert (seen.findings, seen.clear) == ([], None)
    assert seen.unjudged is not None
    assert "there were 15 s" in seen.unjudged.en
    assert "今回は15秒" in seen.unjudged.ja


def test_a_probe_tells_the_lag_where_the_application_does_not() -> None:
    grown = np.linspace(0.2, 3.3, 15)
    series: dict[str, Values] = {
        f"ingest_accepted_total{APP}": rising(1_200.0, seconds=15),
        f"ingest_stored_total{APP}": rising(950.0, seconds=15),
        f"probe_ingest_lag_seconds{APP}": grown,
    }
    assert "3,750 of 18,000" in found(DETECTOR, window(series, seconds=15)).sentence.en
    # The row that the probe waits for was lost: its age says nothing of the others.
    lost = series | {
        f"ingest_stored_total{APP}": rising(1_100.0, seconds=15),
        f"probe_ingest_lag_seconds{APP}": np.arange(15.0) + 1,
    }
    assert not DETECTOR.look(window(lost, seconds=15)).findings


def test_what_clients_wait_for_is_not_behind_its_answer() -> None:
    """A closed loop of 100 clients before a database that becomes slow: all that is missing is in flight."""
    lag = np.linspace(0.05, 0.8, SECONDS)
    series = _series(accepted=125.0, stored=np.r_[np.full(SECONDS - 1, 125.0), 25.0]) | {
        f"http_requests_in_flight{APP}": 100.0,
        'ingest_lag_seconds{job="app",instance="app-1",stat="max"}': lag,
    }
    assert not DETECTOR.look(window(series)).findings


def test_of_a_run_with_a_restart_the_load_before_it_is_told() -> None:
    accepted, stored = rising(300.0), rising(200.0)
    for counter in (accepted, stored):
        counter[BEFORE + 30 :] -= counter[BEFORE + 30]
    lag = np.r_[np.linspace(0.5, 10, 30), np.linspace(0.5, 10, 30)]
    series: dict[str, Values] = {
        f"ingest_accepted_total{APP}": accepted,
        f"ingest_stored_total{APP}": stored,
        'ingest_lag_seconds{job="app",instance="app-1",stat="max"}': lag,
    }
    seen = replace(window(series), of_run=True)
    assert found(DETECTOR, seen).from_ms < START_MS + 5_000
