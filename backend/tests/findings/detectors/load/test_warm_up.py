"""Warm-up is a beginning of the steady window that is slower, falls, and settles."""

from dataclasses import replace

import numpy as np
from loadwatch_backend.findings.detectors.load import warm_up_in_window as DETECTOR
from loadwatch_backend.findings.model import Severity
from loadwatch_backend.findings.window import Load, Window

from backend.tests.findings.windows import START_MS, found, load, steps, window

FALLING = steps((10, 0.2), (10, 0.08), (40, 0.03))


def _steady(seen: Load, seconds: int = 60) -> Window:
    return replace(window({}, load=seen, seconds=seconds), steady_ms=(START_MS, START_MS + seconds * 1_000))


def test_a_median_that_falls_and_settles_is_found() -> None:
    finding = found(DETECTOR, _steady(load(100.0, p50=FALLING)))
    assert finding.id == "warm-up-in-window"
    assert finding.weight is Severity.INFO
    assert finding.sentence.en == (
        "The first 20 s of the steady window are warm-up: the median fell from 200 ms to 30 ms and stayed there."
    )
    assert "最初の20秒はウォームアップ" in finding.sentence.ja
    assert finding.from_ms - START_MS <= 1_000


def test_good_answers_that_climb_at_an_even_load_are_found() -> None:
    failing = steps((10, 40.0), (10, 15.0), (40, 0.0))
    seen = load(100.0 - failing, p50=FALLING, timeout=failing)
    assert any("rose from 60/s to 100/s" in one.text.en for one in found(DETECTOR, _steady(seen)).evidence)


def test_a_level_window_is_clear() -> None:
    seen = DETECTOR.look(_steady(load(100.0, p50=0.03)))
    assert not seen.findings
    assert seen.clear is not None


def test_latency_that_goes_on_falling_or_comes_and_goes_is_no_warm_up() -> None:
    assert not DETECTOR.look(_steady(load(100.0, p50=np.linspace(0.3, 0.03, 60)))).findings
    waves = np.where(np.arange(60) % 20 < 10, 0.08, 0.03)
    assert not DETECTOR.look(_steady(load(100.0, p50=waves))).findings


def test_a_load_that_changes_itself_is_no_warm_up() -> None:
    assert not DETECTOR.look(_steady(load(steps((20, 300.0), (40, 100.0)), p50=FALLING))).findings


def test_short_windows_and_runs_without_one_are_not_judged() -> None:
    assert DETECTOR.look(_steady(load(100.0, p50=0.03, seconds=20), seconds=20)).clear is None
    assert DETECTOR.look(window({}, load=load(100.0, p50=FALLING))).clear is None
