"""More of a parameter that gave less is a finding where nothing else changed, and where less of it surely gave more."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from loadwatch_backend.findings.detectors.baseline import negative_scaling as DETECTOR
from loadwatch_backend.findings.model import Certainty, Look
from loadwatch_backend.findings.window import Generator, Sweep, Trial

from backend.tests.conftest import NOW_MS, RunningServer
from backend.tests.findings.windows import load, window
from backend.tests.runs.sending import imported, vegeta_csv


def _trial(parameters: Mapping[str, str], good: float | None, target: float | None = None) -> Trial:
    return Trial(name="", parameters=parameters, good=good, target=target)


def _look(own: Trial, *others: Trial, generator: str = "ok") -> Look:
    seen = window({}, load=load(own.good or 0.0))
    return DETECTOR.look(
        replace(seen, sweep=Sweep(own=own, others=others), generator=Generator(state=generator, reasons=[]))
    )


def _swept(name: str, points: Mapping[str, float], generator: str = "ok") -> Look:
    *others, own = [_trial({name: value, "gc": "on"}, good) for value, good in points.items()]
    return _look(own, *others, generator=generator)


def test_throughput_that_rose_and_falls_is_found_with_the_best_value() -> None:
    (finding,) = _swept("pool", {"10": 400.0, "30": 900.0, "60": 700.0}).findings
    assert finding.key == "negative-scaling|parameter=pool"
    assert finding.certainty is Certainty.LIKELY
    assert "pool=60 serves 700 good answers/s, less than the 900 of pool=30" in finding.sentence.en
    assert "10: 400/s, 30: 900/s, 60: 700/s" in finding.evidence[1].text.en
    assert "pool=30" in finding.steps[0].text.ja


def test_what_one_adds_to_get_more_may_only_fall() -> None:
    assert _swept("nodes", {"5": 6_000.0, "10": 5_500.0, "20": 5_000.0}).findings
    assert not _swept("delay_ms", {"5": 6_000.0, "10": 5_500.0, "20": 5_000.0}).findings


@pytest.mark.parametrize(
    "points",
    [
        {"10": 400.0, "30": 900.0},
        {"10": 400.0, "30": 900.0, "60": 880.0},
        {"60": 900.0, "10": 400.0, "30": 850.0},
        {"10": 400.0, "30": 900.0, "45": 950.0, "60": 940.0},
    ],
)
def test_two_values_a_level_curve_and_less_of_it_are_none(points: Mapping[str, float]) -> None:
    assert not _swept("pool", points).findings


def test_what_was_seen_is_said_where_it_rises() -> None:
    seen = _swept("pool", {"10": 400.0, "30": 900.0, "60": 1_200.0})
    assert seen.clear is not None
    assert "10: 400/s, 30: 900/s, 60: 1,200/s" in seen.clear.en


def test_runs_of_other_settings_or_another_rate_do_not_count() -> None:
    own = _trial({"pool": "60", "gc": "on"}, 700.0, 1_000.0)
    same = [_trial({"pool": "10", "gc": "on"}, 400.0, 1_000.0), _trial({"pool": "30", "gc": "on"}, 900.0, 1_000.0)]
    assert _look(own, *same).findings
    assert not _look(own, same[0], replace(same[1], target=2_000.0)).findings
    assert not _look(own, same[0], replace(same[1], target=None)).findings
    assert not _look(own, same[0], replace(same[1], parameters={"pool": "30", "gc": "off"})).findings
    assert not _look(own, same[0], replace(same[1], good=None)).findings


def test_repeats_count_by_their_median() -> None:
    own = _trial({"workers": "8"}, 700.0)
    others = [_trial({"workers": "4"}, good) for good in (710.0, 2_000.0, 690.0)]
    assert not _look(own, *others, _trial({"workers": "2"}, 400.0)).findings


def test_a_generator_that_was_the_limit_accuses_nobody() -> None:
    assert not _swept("pool", {"10": 400.0, "30": 900.0, "60": 700.0}, generator="saturated").findings


def test_a_real_sweep_says_it_of_the_run_that_went_too_far(server: RunningServer) -> None:
    said: list[list[str]] = []
    for number, (nodes, rate) in enumerate([("5", 20), ("10", 40), ("20", 25)]):
        run = imported(
            server,
            vegeta_csv(NOW_MS - (9 - number) * 3_600_000, seconds=20, rate=rate),
            scenario="writes",
            commit="c0ffee1",
            parameter=[f"nodes={nodes}"],
        )
        said.append([one["id"] for one in run["findings"]])
    assert said == [[], [], ["negative-scaling"]]
