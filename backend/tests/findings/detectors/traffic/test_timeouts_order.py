"""A wrong order of timeouts is a finding where requests failed as they do for it, else an observation."""

import pytest
from loadwatch_backend.findings.detectors.traffic import timeouts_order as DETECTOR
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.window import Load

from backend.tests.findings.windows import START_MS, Values, found, load, steps, window

NOW_AND_THEN = load(100.0, http_5xx=steps((30, 0.0), (10, 2.0), (20, 0.0)))


def _ladder(app: float, balancer: float = 10.0) -> dict[str, Values]:
    labels = 'job="shop",instance="shop-1",source="configuration"'
    return {
        f'timeout_seconds{{{labels},layer="app",kind="idle"}}': app,
        f'timeout_seconds{{{labels},layer="load_balancer",kind="idle"}}': balancer,
    }


def test_an_application_that_hangs_up_before_the_balancer_is_found() -> None:
    finding = found(DETECTOR, window(_ladder(5.0), load=NOW_AND_THEN))
    assert finding.certainty is Certainty.LIKELY
    assert finding.labels == {"rule": "balancer_idle_before_app", "job": "shop"}
    assert START_MS + 30_000 <= finding.from_ms <= START_MS + 32_000
    assert "20 of 6,020 requests failed" in finding.sentence.en
    assert "502 or 504" in finding.sentence.en
    assert "20件" in finding.sentence.ja
    assert "5 s" in finding.steps[0].text.en


@pytest.mark.parametrize(
    ("app", "impact"),
    [
        (5.0, load(100.0)),
        (5.0, load(40.0, http_5xx=60.0)),
        (5.0, load(100.0, timeout=2.0)),
        (5.0, None),
    ],
    ids=["nothing failed", "far too much failed", "other failures", "no load"],
)
def test_without_failures_of_its_kind_it_is_an_observation(app: float, impact: Load | None) -> None:
    seen = DETECTOR.look(window(_ladder(app), load=impact))
    assert not seen.findings
    assert seen.observations


def test_no_connection_can_have_idled_for_longer_than_the_window() -> None:
    assert not DETECTOR.look(window(_ladder(300.0, balancer=400.0), load=NOW_AND_THEN)).findings


def test_the_right_order_is_clear() -> None:
    seen = DETECTOR.look(window(_ladder(75.0, balancer=60.0), load=NOW_AND_THEN))
    assert not seen.findings
    assert seen.clear is not None
