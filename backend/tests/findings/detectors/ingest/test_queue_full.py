"""A queue is full where requests were refused for it, not where it only was long."""

import numpy as np
from loadwatch_backend.findings.detectors.ingest.queue_full import DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import START_MS, Values, found, load, rising, steps, window

APP = '{job="app",instance="app-1"}'


def _series(queue: Values, rejected: Values | None) -> dict[str, Values]:
    series: dict[str, Values] = {
        f"ingest_accepted_total{APP}": rising(100.0),
        f"ingest_stored_total{APP}": rising(100.0),
        f"ingest_queue_length{APP}": queue,
        f"ingest_queue_limit{APP}": 1_000.0,
    }
    return series if rejected is None else series | {f"ingest_rejected_total{APP}": rising(rejected)}


def test_refusals_at_a_full_queue_are_found_with_their_share() -> None:
    refused = steps((20, 0.0), (40, 100.0))
    seen = window(_series(steps((20, 50.0), (40, 1_000.0)), refused), load=load(100.0, http_5xx=refused))
    finding = found(DETECTOR, seen)
    assert finding.id == "queue-full"
    assert finding.certainty is Certainty.CERTAIN
    assert START_MS + 19_000 <= finding.from_ms <= START_MS + 22_000
    assert "4,000 requests were refused (50 %" in finding.sentence.en
    assert "4,000件を拒否" in finding.sentence.ja
    assert "stores 100 rows/s and is asked for 200" in finding.steps[0].text.en


def test_an_application_that_does_not_count_refusals_is_known_by_its_answers() -> None:
    seen = window(_series(1_000.0, None), load=load(100.0, http_5xx=20.0))
    assert found(DETECTOR, seen).certainty is Certainty.LIKELY


def test_a_full_queue_that_refused_nobody_is_an_observation() -> None:
    seen = DETECTOR.look(window(_series(1_000.0, 0.0)))
    assert not seen.findings
    assert "1,000 of 1,000" in seen.observations[0].en


def test_a_few_refusals_are_an_observation() -> None:
    once = np.zeros(60)
    once[30] = 5.0
    seen = DETECTOR.look(window(_series(400.0, once)))
    assert not seen.findings
    assert "5 requests were refused" in seen.observations[0].en


def test_a_short_queue_is_clear() -> None:
    seen = DETECTOR.look(window(_series(40.0, 0.0)))
    assert seen.clear is not None
    assert "40 of 1,000" in seen.clear.en
    assert not seen.observations
