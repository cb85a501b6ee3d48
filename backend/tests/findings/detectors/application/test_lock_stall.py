"""Requests wait for each other where they pile up and leave in a body, and nothing else is short."""

import numpy as np
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.detectors.application import lock_stall as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import START_MS, Values, found, load, rising, window

APP = 'job="app",instance="app-1"'
POOL = f'{{{APP},db_name="hits"}}'
SECONDS = 60


def _saw(low: float, high: float, every: int = 6) -> FloatArray:
    """`high` in two of each `every` seconds."""
    return np.where(np.arange(SECONDS) % every < 2, high, low)


def _series(in_flight: Values | None = None, in_use: Values = 1.0, accepted: Values = 100.0) -> dict[str, Values]:
    return {
        f"http_requests_in_flight{{{APP}}}": _saw(2.0, 180.0) if in_flight is None else in_flight,
        f"go_sql_in_use_connections{POOL}": in_use,
        f"go_sql_max_open_connections{POOL}": 10.0,
        f"go_sql_wait_count_total{POOL}": rising(0.0),
        f"go_sql_wait_duration_seconds_total{POOL}": rising(0.0),
        f"ingest_accepted_total{{{APP}}}": rising(accepted),
        'mysql_global_status_threads_running{job="mysql",instance="db"}': 2.0,
        f"process_cpu_seconds_total{{{APP}}}": rising(0.2),
        'node_cpu_seconds_total{job="host",instance="app-1",cpu="0",mode="user"}': rising(0.3),
        'node_cpu_seconds_total{job="host",instance="app-1",cpu="1",mode="user"}': rising(0.3),
    }


SPREAD = load(100.0, p50=0.004, p95=_saw(0.02, 2.0))


def test_piles_that_come_and_go_while_all_else_is_idle_are_found() -> None:
    finding = found(DETECTOR, window(_series(), load=SPREAD))
    assert finding.id == "app-lock-stall"
    assert finding.certainty is Certainty.LIKELY
    assert finding.labels == {"job": "app", "instance": "app-1"}
    assert START_MS <= finding.from_ms <= START_MS + 2_000
    assert "up to 180 at once, 10 times, while 1 connection was in use" in finding.sentence.en
    assert "slowest took 2.0 s, quick ones 4 ms" in finding.sentence.en
    assert "180件が10回" in finding.sentence.ja


def test_seconds_without_progress_complete_the_chain() -> None:
    finding = found(DETECTOR, window(_series(accepted=_saw(150.0, 0.0)), load=SPREAD))
    assert finding.certainty is Certainty.CERTAIN


def test_a_pool_in_use_is_another_matter() -> None:
    assert not DETECTOR.look(window(_series(in_use=_saw(2.0, 170.0)), load=SPREAD)).findings


def test_requests_that_wait_for_a_full_pool_are_another_matter() -> None:
    series = _series(in_use=10.0) | {f"go_sql_wait_duration_seconds_total{POOL}": rising(40.0)}
    assert not DETECTOR.look(window(series, load=SPREAD)).findings


def test_a_busy_process_or_host_is_another_matter() -> None:
    assert not DETECTOR.look(
        window(_series() | {f"process_cpu_seconds_total{{{APP}}}": rising(1.9)}, load=SPREAD)
    ).findings
    busy = {key: rising(1.0) for key in _series() if key.startswith("node_cpu")}
    assert not DETECTOR.look(window(_series() | busy, load=SPREAD)).findings


def test_slow_answers_that_are_not_inside_the_application_are_another_matter() -> None:
    assert not DETECTOR.look(window(_series(in_flight=4.0), load=SPREAD)).findings


def test_a_pile_that_never_goes_away_is_another_matter() -> None:
    assert not DETECTOR.look(window(_series(in_flight=180.0), load=SPREAD)).findings


def test_one_slow_moment_is_no_finding() -> None:
    once = np.where((np.arange(SECONDS) > 30) & (np.arange(SECONDS) < 33), 180.0, 2.0)
    slow = np.where(once > 2, 2.0, 0.02)
    seen = DETECTOR.look(window(_series(in_flight=once), load=load(100.0, p50=0.004, p95=slow)))
    assert not seen.findings
    assert seen.clear is not None
    assert "180" in seen.clear.en


def test_two_piles_are_too_few_to_clear_it() -> None:
    twice = np.where((np.arange(SECONDS) % 30 > 20) & (np.arange(SECONDS) % 30 < 25), 180.0, 2.0)
    slow = np.where(twice > 2, 2.0, 0.02)
    seen = DETECTOR.look(window(_series(in_flight=twice), load=load(100.0, p50=0.004, p95=slow)))
    assert not seen.findings
    assert seen.unjudged is not None
    assert "piled up inside app 2 times; 3 times" in seen.unjudged.en


def test_a_host_without_cpu_to_spare_is_no_reason_to_clear_it() -> None:
    busy = {key: rising(1.0) for key in _series() if key.startswith("node_cpu")}
    seen = DETECTOR.look(window(_series() | busy, load=SPREAD))
    assert seen.unjudged is not None
    assert "its host had no CPU to spare" in seen.unjudged.en


def test_without_a_load_or_a_pool_nothing_is_said() -> None:
    assert DETECTOR.look(window(_series())).clear is None
    series = {key: value for key, value in _series().items() if not key.startswith("go_sql")}
    assert not DETECTOR.look(window(series, load=SPREAD)).findings
