"""One instance is sick where it is far from equals that agree; idle, silent and busier ones are not."""

import numpy as np
from loadwatch_backend.findings.detectors.instances import sick as DETECTOR
from loadwatch_backend.findings.model import Certainty

from backend.tests.findings.windows import START_MS, Values, found, load, over, rising, steps, window


def _app(number: int, *, waiting: Values = 0.1, accepted: float = 100.0, in_flight: Values = 2.0) -> dict[str, Values]:
    labels = f'job="app",instance="app-{number}"'
    return {
        f"go_sql_wait_duration_seconds_total{{{labels}}}": rising(waiting),
        f"ingest_accepted_total{{{labels}}}": rising(accepted),
        f"http_requests_in_flight{{{labels}}}": in_flight,
    }


def _ten(seventh: dict[str, Values]) -> dict[str, Values]:
    series: dict[str, Values] = {}
    for number in range(10):
        series |= _app(number)
    return series | seventh


def test_the_one_that_makes_its_requests_wait_is_named_with_the_others_figure() -> None:
    waiting = steps((20, 0.1), (40, 40.0))
    seen = window(
        _ten(_app(7, waiting=waiting, in_flight=steps((20, 2.0), (40, 55.0)))), load=load(1_000.0, timeout=20.0)
    )
    finding = found(DETECTOR, seen)
    assert finding.id == "sick-instance"
    assert finding.labels == {"job": "app", "instance": "app-7"}
    assert finding.certainty is Certainty.LIKELY
    assert "app-7 does worse than the other 9 of app: " in finding.sentence.en
    assert "40 of its requests wait for a connection (others 0.1)" in finding.sentence.en
    assert "10台のうちapp-7だけが不調" in finding.sentence.ja
    assert START_MS + 19_000 <= finding.from_ms <= START_MS + 23_000


def test_a_job_whose_instances_agree_is_clear() -> None:
    seen = DETECTOR.look(window(_ten({})))
    assert not seen.findings
    assert seen.clear is not None
    assert "None of the 10 instances of app" in seen.clear.en


def test_a_job_that_is_ill_as_a_whole_accuses_no_instance() -> None:
    series: dict[str, Values] = {}
    for number in range(4):
        series |= _app(number, waiting=30.0 + number)
    assert not DETECTOR.look(window(series)).findings


def test_two_instances_cannot_say_which_of_them_is_ill() -> None:
    assert not DETECTOR.look(window(_app(1) | _app(2, waiting=40.0))).findings


def test_idle_instances_are_no_equals() -> None:
    series = _app(1, waiting=5.0) | _app(2, waiting=5.0) | _app(3, accepted=0.0, waiting=0.0)
    series |= _app(4, accepted=0.0, waiting=0.0) | _app(5, accepted=0.0, waiting=0.0)
    assert not DETECTOR.look(window(series)).findings


def test_one_that_gets_more_requests_is_not_ill() -> None:
    assert not DETECTOR.look(window(_ten(_app(7, accepted=400.0, in_flight=40.0)))).findings


def test_a_silent_instance_is_not_ill_and_a_moment_is_no_illness() -> None:
    silent = over(2.0) * np.nan
    assert not DETECTOR.look(window(_ten(_app(7, in_flight=silent)))).findings
    moment = np.full(60, 2.0)
    moment[30:33] = 90.0
    assert not DETECTOR.look(window(_ten(_app(7, in_flight=moment)))).findings


def test_lag_and_failed_writes_are_signs_too() -> None:
    series = _ten({})
    for number in range(10):
        labels = f'job="app",instance="app-{number}"'
        series[f'ingest_lag_seconds{{{labels},stat="max"}}'] = 30.0 if number == 3 else 0.5
        series[f"ingest_failed_total{{{labels}}}"] = rising(20.0 if number == 3 else 0.0)
    finding = found(DETECTOR, window(series))
    assert finding.labels["instance"] == "app-3"
    assert "its rows come 30 s late (others 500 ms) and 20 % of its writes fail (others 0 %)" in finding.sentence.en
