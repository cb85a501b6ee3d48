"""Pages that move while somebody waits for them are found; what lies in swap since yesterday is not."""

from loadwatch_backend.findings.detectors.host import host_swapping as DETECTOR
from loadwatch_backend.findings.model import Certainty
from loadwatch_backend.findings.window import Load, Window

from backend.tests.findings.machines import HOST
from backend.tests.findings.windows import START_MS, Values, found, load, rising, steps, window

SLOW = load(100.0, p95=steps((20, 0.02), (40, 0.8)), p50=0.01)
MOVING = steps((20, 0.0), (40, 500.0))


def _window_of(moved: Values, faults: Values, impact: Load | None = SLOW, interval: int = 1) -> Window:
    series: dict[str, Values] = {
        f"node_vmstat_pswpin{{{HOST}}}": rising(moved),
        f"node_vmstat_pswpout{{{HOST}}}": rising(moved),
        f"node_vmstat_pgmajfault{{{HOST}}}": rising(faults),
    }
    return window(series, load=impact, interval=interval)


def test_swapping_that_is_waited_for_is_found() -> None:
    finding = found(DETECTOR, _window_of(MOVING, MOVING / 5))
    assert finding.certainty is Certainty.CERTAIN
    assert START_MS + 20_000 <= finding.from_ms <= START_MS + 22_000
    assert "40,000 pages (156 MiB), up to 1,000 a second" in finding.sentence.en
    assert "40,000ページ" in finding.sentence.ja


def test_pages_that_nobody_waits_for_or_feels_are_an_observation() -> None:
    for seen in (_window_of(MOVING, 0.0), _window_of(MOVING, MOVING / 5, load(100.0))):
        look = DETECTOR.look(seen)
        assert not look.findings
        assert look.observations


def test_a_few_pages_or_a_moment_are_none() -> None:
    for moved in (5.0, steps((20, 0.0), (1, 5_000.0), (39, 0.0))):
        look = DETECTOR.look(_window_of(moved, 100.0))
        assert not look.findings
        assert look.clear is not None


def test_one_sample_of_ten_seconds_is_too_short() -> None:
    assert not DETECTOR.look(_window_of(steps((20, 0.0), (10, 500.0), (30, 0.0)), 100.0, interval=10)).findings
