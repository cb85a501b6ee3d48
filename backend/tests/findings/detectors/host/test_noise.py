"""Others on the host are named, and accuse nobody."""

import numpy as np
import pytest
from loadwatch_backend.findings.detectors.host import host_noise as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity

from backend.tests.findings.machines import host, program
from backend.tests.findings.windows import START_MS, Values, found, load, over, steps, window


def test_programs_that_are_not_watched_and_fill_the_host_are_noise() -> None:
    busy = over(steps((20, 1.0), (20, 4.0), (20, 1.0)))
    series = host(busy) | program(0.8) | {'node_pressure_cpu_waiting_seconds_total{job="host",instance="vm-1"}': 0.0}
    finding = found(DETECTOR, window(series, load=load(100.0, p95=steps((20, 0.02), (20, 0.5), (20, 0.02)))))
    assert finding.weight is Severity.INFO
    assert finding.labels == {"job": "host", "instance": "vm-1"}
    assert START_MS + 17_000 <= finding.from_ms <= START_MS + 24_000
    assert START_MS + 36_000 <= finding.to_ms <= START_MS + 43_000
    assert "programs that are not watched took 3.2 of the 4 cores of vm-1" in finding.sentence.en
    assert "3.2" in finding.sentence.ja
    assert finding.certainty is Certainty.LIKELY


def test_steal_is_noise_whoever_is_watched() -> None:
    finding = found(DETECTOR, window(host(2.0, stolen=1.0)))
    assert "the hypervisor took 1 of the 4 cores" in finding.sentence.en


@pytest.mark.parametrize(
    "series",
    [
        host(4.0) | program(3.8),
        host(3.0) | program(0.1),
        host(over(steps((30, 1.0), (2, 4.0), (28, 1.0)))) | program(0.1),
    ],
    ids=["a watched program fills the host", "room is left", "for a moment only"],
)
def test_is_no_noise(series: dict[str, Values]) -> None:
    seen = DETECTOR.look(window(series))
    assert not seen.findings
    assert seen.clear is not None


def test_a_full_host_where_nobody_is_watched_cannot_be_judged() -> None:
    own: dict[str, Values] = program(0.05, labels='job="loadwatch-agent",instance="vm-1"')
    seen = DETECTOR.look(window(host(4.0) | own))
    assert not seen.findings
    assert "nothing tells who" in seen.observations[0].en


def test_gaps_are_unknown() -> None:
    busy = over(4.0)
    gone: dict[str, Values] = {name: np.full(len(busy), np.nan) for name in host(busy)}
    seen = DETECTOR.look(window(gone))
    assert not seen.findings
    assert seen.clear is None
