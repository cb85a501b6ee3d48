"""Memory that grows until the host has none left is found; a cache that fills is not."""

import numpy as np
import pytest
from loadwatch_backend.findings.detectors.host import host_memory_growing as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.machines import APP, HOST, host, program
from backend.tests.findings.windows import START_MS, Values, found, load, over, steps, window

GIB = 2.0**30
GROWING = np.linspace(0.2 * GIB, 0.8 * GIB, 60)


def _series(taken: Values, available: Values) -> dict[str, Values]:
    return (
        host(1.0)
        | program(0.5)
        | {
            f"process_resident_memory_bytes{{{APP}}}": taken,
            f"node_memory_MemTotal_bytes{{{HOST}}}": GIB,
            f"node_memory_MemAvailable_bytes{{{HOST}}}": available,
        }
    )


def test_memory_that_grows_until_the_host_has_little_is_found() -> None:
    left = over(0.8 * GIB - np.linspace(0.0, 0.76 * GIB, 60))
    slow = load(100.0, p95=steps((50, 0.02), (10, 0.8)), p50=0.01)
    finding = found(DETECTOR, window(_series(GROWING, left), load=slow))
    assert finding.certainty is Certainty.CERTAIN
    assert finding.labels == {"job": "app", "instance": "app-1"}
    assert START_MS + 53_000 <= finding.from_ms <= START_MS + 58_000
    assert "grew from 205 MiB to 819 MiB in 60 s" in finding.sentence.en
    assert "819 MiB" in finding.sentence.ja
    assert finding.steps[1].code == "GOMEMLIMIT=614MiB"


@pytest.mark.parametrize(
    ("taken", "available"),
    [
        (np.minimum(GROWING, 0.4 * GIB), 0.05 * GIB),
        (np.linspace(0.2 * GIB, 0.21 * GIB, 60), 0.05 * GIB),
        (np.where(np.arange(60) < 40, GROWING, GROWING - 0.4 * GIB), 0.05 * GIB),
        (np.full(60, np.nan), 0.05 * GIB),
    ],
    ids=["a cache that fills", "hardly", "started anew", "nobody measured"],
)
def test_memory_that_does_not_grow_all_the_time_is_none(taken: Values, available: Values) -> None:
    seen = DETECTOR.look(window(_series(taken, available)))
    assert not seen.findings
    assert not seen.observations


def test_growth_with_room_left_is_an_observation() -> None:
    seen = DETECTOR.look(window(_series(GROWING, 0.5 * GIB)))
    assert not seen.findings
    assert "819 MiB at the end" in seen.observations[0].en
