"""Rows are lost where nothing can bring them any more; what is late, or was refused aloud, is not lost."""

from dataclasses import replace

import numpy as np
from loadwatch_backend.findings.detectors.ingest import rows_lost as DETECTOR
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.window import Counts

from backend.tests.findings.detectors.ingest.writers import Writer
from backend.tests.findings.windows import BEFORE, START_MS, Values, found, load, over, rising, steps, window

APP = '{job="app",instance="app-1"}'


def _series(stored: Values = 98.0, failed: Values = 0.0, queue: Values | None = 0.0) -> dict[str, Values]:
    series: dict[str, Values] = {
        f"ingest_accepted_total{APP}": rising(100.0),
        f"ingest_stored_total{APP}": rising(stored),
        f"ingest_failed_total{APP}": rising(failed),
    }
    return series if queue is None else series | {f"ingest_queue_length{APP}": queue}


def test_a_silent_loss_is_found_once_nothing_moves() -> None:
    finding = found(DETECTOR, window(_series(), load=load(100.0)))
    assert finding.id == "rows-lost"
    assert finding.certainty is Certainty.CERTAIN
    assert "lost 120 of the 6,000 requests that it accepted (2 %)" in finding.sentence.en
    assert "6,000件のうち120件" in finding.sentence.ja
    assert START_MS <= finding.from_ms <= START_MS + 3_000
    assert any("6,000 times" in one.text.en for one in finding.evidence)


def test_rows_that_still_wait_are_late_and_not_lost() -> None:
    waiting = over(np.linspace(2, 120, 60))
    assert not DETECTOR.look(window(_series(queue=waiting))).findings


def test_rows_that_come_after_the_load_are_not_lost() -> None:
    stored = rising(80.0)
    after = BEFORE + 61
    stored[after:] += np.minimum(np.arange(len(stored) - after) * 100.0, 1_200.0)
    series = _series(queue=None) | {f"ingest_stored_total{APP}": stored}
    assert not DETECTOR.look(window(series)).findings


def test_without_a_queue_length_half_a_minute_of_silence_proves_nothing() -> None:
    assert not DETECTOR.look(window(_series(queue=None))).findings


def test_the_queue_hides_nothing_that_is_lost_while_load_goes_on() -> None:
    series = _series(stored=90.0) | {f"http_requests_in_flight{APP}": 3.0}
    cut = {key: _ending(value) for key, value in series.items()}
    finding = found(DETECTOR, window(cut))
    assert finding.certainty is Certainty.LIKELY


def test_a_batch_that_is_in_no_queue_is_not_lost() -> None:
    """A writer that is always busy: at each instant 500 rows are neither stored nor waiting."""
    for seconds in (15, 60):
        for speed in (950, 1_250):
            busy = Writer(speed=speed, batch=500, interval=0.2)
            for after in (1, None):
                seen = busy.seen(seconds, after=after)
                seen = replace(
                    seen,
                    tables={**seen.tables, **window({f"http_requests_in_flight{APP}": 0.0}, seconds=seconds).tables},
                )
                assert not DETECTOR.look(seen).findings, (seconds, speed, after)


def test_dropped_batches_are_not_cleared_while_it_is_not_known_and_counted_in_full_once_it_is() -> None:
    writer = Writer(rate=1_200, speed=4_000, batch=100, drops=10)
    for seconds in (5, 15, 60):
        open_counts = Counts(accepted=1_200 * seconds, stored=1_080 * seconds, is_open=True)
        early = DETECTOR.look(replace(writer.seen(seconds, after=1), counts=open_counts))
        assert (early.findings, early.clear) == ([], None)
        assert early.unjudged is not None
        assert "neither stored nor known to be lost" in early.unjudged.en
        seen = writer.seen(seconds)
        lost = seen["ingest_accepted_total"].values[0][-1] - seen["ingest_stored_total"].values[0][-1]
        assert f"lost {lost:,.0f} of the {1_200 * seconds:,}" in found(DETECTOR, seen).sentence.en


def test_a_probe_that_goes_on_does_not_hide_a_loss() -> None:
    probe = np.arange(len(rising(0.0)), dtype=np.float64)
    series: dict[str, Values] = {
        f"ingest_accepted_total{APP}": rising(100.0) + probe,
        f"ingest_stored_total{APP}": rising(98.0) + probe - (np.arange(len(probe)) % 2),
        f"ingest_queue_length{APP}": 0.0,
    }
    assert "lost 12" in found(DETECTOR, window(series)).sentence.en


def _ending(value: Values) -> Values:
    values = over(value)
    values[BEFORE + 60 :] = np.nan
    return values


def test_the_runs_own_count_may_say_that_all_came() -> None:
    counts = Counts(sent=6_000, answered=6_000, accepted=6_000, stored=6_000)
    assert not DETECTOR.look(window(_series(), counts=counts)).findings


def test_a_table_that_has_all_rows_refutes_it() -> None:
    assert not DETECTOR.look(window(_series() | {'table_rows{table="hits"}': rising(100.0)})).findings


def test_failed_writes_that_no_client_was_told_of_are_lost() -> None:
    failed = steps((30, 0.0), (30, 20.0))
    finding = found(DETECTOR, window(_series(stored=100.0 - failed, failed=failed), load=load(100.0)))
    assert "lost 600 of the 6,000" in finding.sentence.en
    assert "could not be written" in finding.sentence.en
    assert START_MS + 29_000 <= finding.from_ms <= START_MS + 32_000


def test_failed_writes_that_clients_were_told_of_are_an_observation() -> None:
    seen = DETECTOR.look(window(_series(stored=80.0, failed=20.0), load=load(80.0, http_5xx=20.0)))
    assert not seen.findings
    assert "clients were told" in seen.observations[0].en


def test_equal_counts_are_clear() -> None:
    seen = DETECTOR.look(window(_series(stored=100.0)))
    assert seen.clear is not None
    assert "accepted 6,000 requests, stored 6,000 rows" in seen.clear.en


def test_a_restart_is_left_to_another_detector() -> None:
    accepted = rising(100.0)
    accepted[BEFORE + 30 :] -= accepted[BEFORE + 30]
    seen = DETECTOR.look(window(_series() | {f"ingest_accepted_total{APP}": accepted}))
    assert not seen.findings
    assert seen.clear is None
