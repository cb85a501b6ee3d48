"""A quota that is used up is found where it is in many periods, and felt."""

import numpy as np
from loadwatch_backend.findings.detectors.process import container_throttled as DETECTOR
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.window import Load, Window

from backend.tests.findings.machines import APP, counter
from backend.tests.findings.windows import START_MS, Values, found, load, over, steps, window

GROUP = f'{{{APP},id="/system.slice/app.service"}}'
SLOW = load(100.0, p95=steps((20, 0.02), (40, 0.3)), p50=0.01)


def _throttled(share: Values, impact: Load | None = SLOW, interval: int = 1) -> Window:
    ratio = over(share)
    series: dict[str, Values] = {
        f"container_cpu_cfs_periods_total{GROUP}": counter(10.0),
        f"container_cpu_cfs_throttled_periods_total{GROUP}": counter(10.0 * ratio),
        f"container_cpu_cfs_throttled_seconds_total{GROUP}": counter(0.5 * ratio),
        f"container_spec_cpu_quota{GROUP}": 50_000.0,
        f"container_spec_cpu_period{GROUP}": 100_000.0,
    }
    return window(series, load=impact, interval=interval)


def test_a_quota_that_is_used_up_is_found() -> None:
    finding = found(DETECTOR, _throttled(over(steps((20, 0.0), (40, 0.8)))))
    assert finding.certainty is Certainty.CERTAIN
    assert START_MS + 17_000 <= finding.from_ms <= START_MS + 23_000
    assert "quota of 0.5 cores" in finding.sentence.en
    assert "80 % of the periods" in finding.sentence.en
    assert "80 %" in finding.sentence.ja
    assert "CPUQuota=100%" in finding.steps[0].code


def test_without_a_known_load_the_pauses_are_harm_enough() -> None:
    assert found(DETECTOR, _throttled(0.8, impact=None)).certainty is Certainty.LIKELY


def test_a_few_periods_or_none_are_no_finding() -> None:
    for share in (0.0, 0.1):
        seen = DETECTOR.look(_throttled(share))
        assert not seen.findings
        assert seen.clear is not None


def test_pauses_that_nobody_felt_are_an_observation() -> None:
    seen = DETECTOR.look(_throttled(0.8, impact=load(100.0)))
    assert not seen.findings
    assert seen.observations


def test_nothing_is_said_of_gaps() -> None:
    seen = DETECTOR.look(_throttled(np.full(60, np.nan)))
    assert not seen.findings
    assert seen.clear is None
