"""A process that ended under load is found; a restart on purpose, or one that nobody felt, accuses nobody."""

from typing import Any

import numpy as np
import pytest
from loadwatch_backend.findings.detectors.process import process_died as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity
from loadwatch_backend.findings.window import Counts

from backend.tests.findings.machines import APP, host
from backend.tests.findings.windows import START_MS, Values, found, load, over, steps, window

TORN = load(
    steps((30, 100.0), (30, 0.0)), refused=steps((30, 0.0), (30, 100.0)), reset=steps((30, 0.0), (1, 20.0), (29, 0.0))
)
RESTARTED = load(steps((30, 100.0), (4, 0.0), (26, 100.0)), refused=steps((30, 0.0), (4, 100.0), (26, 0.0)))


def _app(up: Values, started: Values = 1_000.0) -> dict[str, Values]:
    return {f'up{{{APP},collector="process"}}': up, f"process_start_time_seconds{{{APP}}}": started}


GONE = _app(over(steps((30, 1.0), (30, 0.0))), over(steps((30, 1_000.0), (30, np.nan))))
ANEW = _app(over(steps((30, 1.0), (4, 0.0), (26, 1.0))), over(steps((30, 1_000.0), (4, np.nan), (26, 2_000.0))))


def test_a_process_that_ended_under_load_is_found() -> None:
    finding = found(DETECTOR, window(GONE, load=TORN))
    assert finding.weight is Severity.CRITICAL
    assert finding.certainty is Certainty.CERTAIN
    assert finding.labels == {"job": "app", "instance": "app-1"}
    assert START_MS + 29_000 <= finding.from_ms <= START_MS + 32_000
    assert "did not come back; 3,020 requests failed" in finding.sentence.en
    assert "3,020件" in finding.sentence.ja


def test_a_kill_for_lack_of_memory_is_told() -> None:
    agent: dict[str, Values] = {f'collector_agent_info{{{APP},collector="process",agent_host="box"}}': 1.0}
    kills: dict[str, Values] = {'node_vmstat_oom_kill{job="host",instance="vm-1"}': over(steps((30, 0.0), (30, 1.0)))}
    finding = found(DETECTOR, window(ANEW | host(1.0) | agent | kills, load=RESTARTED))
    assert finding.weight is Severity.CRITICAL
    assert "for lack of memory" in finding.sentence.en


def test_a_restart_that_finished_its_requests_accuses_nobody() -> None:
    finding = found(DETECTOR, window(ANEW, load=RESTARTED))
    assert finding.weight is Severity.INFO
    assert "ran again 4.0 s later" in finding.sentence.en


def test_a_restart_that_took_rows_with_it_was_not_on_purpose() -> None:
    counts = Counts(answered=5_600, rows=5_000)
    assert found(DETECTOR, window(ANEW, load=RESTARTED, counts=counts)).weight is Severity.CRITICAL
    counts = Counts(answered=5_600, rows=5_600)
    assert found(DETECTOR, window(ANEW, load=RESTARTED, counts=counts)).weight is Severity.INFO


@pytest.mark.parametrize("harm", ["timeout", "http_5xx"])
def test_the_next_version_on_the_same_port_is_not_blamed_for_the_failures_of_the_next_load(harm: str) -> None:
    """The load of the version before ended with it; what begins after that fails for reasons of its own."""
    outcomes: dict[str, Any] = {harm: steps((30, 0.0), (4, 0.0), (26, 40.0))}
    next_load = load(steps((30, 0.0), (4, 0.0), (26, 100.0)), **outcomes)
    seen = DETECTOR.look(window(ANEW, load=next_load))
    assert not seen.findings
    assert "was started anew" in seen.observations[0].en


def test_a_crash_behind_a_proxy_is_found_though_the_service_manager_starts_it_again() -> None:
    bad_gateway = load(steps((30, 100.0), (4, 0.0), (26, 100.0)), http_5xx=steps((30, 0.0), (4, 100.0), (26, 0.0)))
    assert "400 requests failed" in found(DETECTOR, window(ANEW, load=bad_gateway)).sentence.en


def test_another_start_between_two_samples_is_an_end_too() -> None:
    series = _app(1.0, over(steps((30, 1_000.0), (30, 2_000.0))))
    quick = load(100.0, reset=steps((30, 0.0), (1, 40.0), (29, 0.0)))
    assert "another one ran in its place" in found(DETECTOR, window(series, load=quick)).sentence.en


@pytest.mark.parametrize("impact", [None, load(100.0)])
def test_an_end_that_nobody_felt_is_an_observation(impact: object) -> None:
    seen = DETECTOR.look(window(ANEW, load=load(100.0) if impact else None))
    assert not seen.findings
    assert "ended" in seen.observations[0].en


def test_a_collector_that_fails_is_no_end_while_the_process_answers() -> None:
    answers: dict[str, Values] = {f'up{{{APP},collector="dbstats"}}': 1.0}
    seen = DETECTOR.look(window(_app(over(steps((30, 1.0), (30, 0.0)))) | answers, load=TORN))
    assert not seen.findings
    assert seen.clear is not None


def test_an_agent_that_ends_is_no_end_of_the_process() -> None:
    silent = over(steps((30, 1.0), (30, np.nan)))
    seen = DETECTOR.look(window(_app(silent, over(steps((30, 1_000.0), (30, np.nan)))), load=TORN))
    assert not seen.findings
