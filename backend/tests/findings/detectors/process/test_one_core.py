"""A program that stands at one core of several is found where the load was held up by it."""

import pytest
from loadwatch_backend.findings.detectors.process import one_core_busy as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.machines import APP, host, program
from backend.tests.findings.windows import START_MS, Values, found, load, over, steps, window

REDIS = 'job="redis",instance="cache-1"'
SLOW = load(steps((20, 100.0), (40, 180.0)), p95=steps((20, 0.02), (40, 0.9)), p50=0.01)
FLAT = over(steps((20, 0.4), (40, 1.0)))


def test_one_full_core_of_four_is_found() -> None:
    finding = found(DETECTOR, window(host(FLAT + 0.4) | program(FLAT, labels=REDIS), load=SLOW))
    assert finding.labels["instance"] == "cache-1"
    assert finding.certainty is Certainty.LIKELY
    assert START_MS + 17_000 <= finding.from_ms <= START_MS + 24_000
    assert "cache-1 used 1 cores, never more" in finding.sentence.en
    assert "4コア" in finding.sentence.ja


@pytest.mark.parametrize(
    "series",
    [
        host(1.0, cores=1) | program(1.0, labels=REDIS),
        host(3.9) | program(1.0, labels=REDIS),
        host(2.5) | program(over(steps((20, 2.0), (40, 1.0))), labels=REDIS),
        host(1.4) | program(0.8, labels=REDIS),
        host(1.4) | program(1.0) | {f"go_sched_gomaxprocs_threads{{{APP}}}": 1.0},
    ],
    ids=["the host has one", "no room on the host", "it can use two", "not full", "held to one by GOMAXPROCS"],
)
def test_is_not_found(series: dict[str, Values]) -> None:
    assert not DETECTOR.look(window(series, load=SLOW)).findings


def test_a_full_core_that_nobody_felt_is_an_observation() -> None:
    seen = DETECTOR.look(window(host(1.4) | program(1.0, labels=REDIS), load=load(100.0)))
    assert not seen.findings
    assert seen.observations
