"""Refused requests are a finding, which names the process that was gone where one was."""

import numpy as np
from loadwatch_backend.findings.detectors.traffic import refused as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity

from backend.tests.findings.machines import APP
from backend.tests.findings.windows import START_MS, Values, found, load, over, steps, window

REFUSED = load(steps((30, 100.0), (30, 0.0)), refused=steps((30, 0.0), (30, 100.0)))


def test_refused_requests_are_found_and_the_process_that_is_gone_is_named() -> None:
    series: dict[str, Values] = {
        f'up{{{APP},collector="process"}}': over(steps((30, 1.0), (30, 0.0))),
        f"process_start_time_seconds{{{APP}}}": 1_000.0,
        'up{job="app",instance="app-2",collector="process"}': 1.0,
        'process_start_time_seconds{job="app",instance="app-2"}': 1_000.0,
    }
    finding = found(DETECTOR, window(series, load=REFUSED))
    assert finding.labels["instance"] == "app-1"
    assert finding.certainty is Certainty.LIKELY
    assert START_MS + 30_000 <= finding.from_ms <= START_MS + 32_000
    assert "3,000 of 6,000 requests were refused within 30 s" in finding.sentence.en
    assert "3,000件" in finding.sentence.ja


def test_what_a_careful_restart_costs_accuses_nobody() -> None:
    series: dict[str, Values] = {
        f'up{{{APP},collector="process"}}': over(steps((30, 1.0), (4, 0.0), (26, 1.0))),
        f"process_start_time_seconds{{{APP}}}": over(steps((30, 1_000.0), (4, np.nan), (26, 2_000.0))),
    }
    away = load(steps((30, 100.0), (4, 0.0), (26, 100.0)), refused=steps((30, 0.0), (4, 100.0), (26, 0.0)))
    assert found(DETECTOR, window(series, load=away)).weight is Severity.INFO
    torn = load(
        steps((30, 100.0), (4, 0.0), (26, 100.0)),
        refused=steps((30, 0.0), (4, 100.0), (26, 0.0)),
        reset=steps((30, 0.0), (1, 20.0), (29, 0.0)),
    )
    assert found(DETECTOR, window(series, load=torn)).weight is Severity.CRITICAL


def test_without_the_process_nobody_is_named() -> None:
    finding = found(DETECTOR, window({}, load=REFUSED))
    assert finding.labels == {}
    assert finding.certainty is Certainty.POSSIBLE


def test_a_few_of_many_are_none() -> None:
    few = load(1_000.0, refused=steps((30, 0.0), (1, 10.0), (29, 0.0)))
    seen = DETECTOR.look(window({}, load=few))
    assert not seen.findings
    assert seen.clear is not None
    assert "10 of 60,010" in seen.clear.en


def test_without_a_load_nothing_is_said() -> None:
    seen = DETECTOR.look(window({}))
    assert not seen.findings
    assert seen.clear is None
