"""Rows are lost at a kill where the client was promised more than the table got."""

import numpy as np
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.detectors.ingest import rows_lost_at_kill as DETECTOR
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.window import Counts

from backend.tests.findings.windows import BEFORE, START_MS, Values, found, load, over, rising, steps, window

APP = '{job="app",instance="app-1"}'


def _again(per_second: float) -> FloatArray:
    """A counter that begins again at zero 30 s into the focus."""
    values = rising(per_second)
    values[BEFORE + 31 :] -= values[BEFORE + 31]
    return values


def _series(rows: Values = 60.0, queue: Values = 900.0) -> dict[str, Values]:
    return {
        f"ingest_accepted_total{APP}": _again(100.0),
        f"process_start_time_seconds{APP}": over(steps((30, 1_000.0), (30, 2_000.0))),
        f"ingest_queue_length{APP}": over(steps((30, queue if isinstance(queue, float) else 0.0), (30, 0.0))),
        'table_rows{table="hits"}': rising(rows),
    }


def test_the_clients_count_against_the_table_tells_the_loss() -> None:
    finding = found(DETECTOR, window(_series(), load=load(100.0)))
    assert finding.id == "rows-lost-at-kill"
    assert finding.certainty is Certainty.CERTAIN
    assert "took 2,400 rows with it" in finding.sentence.en
    assert "6,000 requests were answered well, 3,600 rows are in the table" in finding.sentence.en
    assert "2,400行" in finding.sentence.ja
    assert START_MS + 28_000 <= finding.from_ms <= START_MS + 31_000
    assert finding.labels == {"job": "app", "instance": "app-1"}


def test_the_counts_of_the_run_come_before_those_of_the_window() -> None:
    counts = Counts(sent=6_000, answered=5_000, accepted=100, stored=90, rows=4_000)
    assert "took 1,000 rows" in found(DETECTOR, window(_series(), counts=counts)).sentence.en


def test_a_process_that_died_and_did_not_come_back_is_seen_too() -> None:
    gone = over(steps((30, 1_000.0), (30, np.nan)))
    gone[BEFORE + 31 :] = np.nan
    series = _series() | {f"process_start_time_seconds{APP}": gone}
    del series[f"ingest_accepted_total{APP}"]
    seen = window(series, load=load(steps((30, 100.0), (30, 0.0)), refused=steps((30, 0.0), (30, 100.0))))
    assert not DETECTOR.look(seen).findings  # 3,000 answers, 3,600 rows: nothing is missing
    missing = window(
        series | {'table_rows{table="hits"}': rising(20.0)},
        load=load(steps((30, 100.0), (30, 0.0)), refused=steps((30, 0.0), (30, 100.0))),
    )
    assert "took 1,800 rows" in found(DETECTOR, missing).sentence.en


def test_a_restart_that_wrote_its_rest_has_lost_nothing() -> None:
    seen = DETECTOR.look(window(_series(rows=100.0), load=load(100.0)))
    assert not seen.findings
    assert seen.clear is not None
    assert "no row is missing" in seen.clear.en


def test_without_the_tables_rows_nothing_is_claimed() -> None:
    series = _series()
    del series['table_rows{table="hits"}']
    seen = DETECTOR.look(window(series, load=load(100.0)))
    assert not seen.findings
    assert "900 requests waited" in seen.observations[0].en


def test_a_process_that_lives_on_is_clear() -> None:
    seen = DETECTOR.look(window({f"process_start_time_seconds{APP}": 1_000.0}, load=load(100.0)))
    assert not seen.findings
    assert seen.clear is not None


def test_a_collector_that_stops_is_no_death() -> None:
    values = over(1_000.0)
    values[BEFORE + 31 :] = np.nan
    assert not DETECTOR.look(window({f"process_start_time_seconds{APP}": values}, load=load(100.0))).findings
