"""The figures that stand first in a report, in words."""

from loadwatch_backend.kit.language import Language
from loadwatch_backend.report.figures import shown_figures

from backend.tests.report.making import make_run


def test_each_figure_says_what_it_covers_and_what_it_is_held_against() -> None:
    good, latency, failed, stored = shown_figures(make_run(), Language.EN)
    assert (good.name, good.value, good.window) == ("Good answers", "319/s", "steady window")
    assert good.notes == ["of 450/s asked for"]
    assert (latency.name, latency.value, latency.threshold, latency.state) == (
        "Response p95",
        "400 ms",
        "p95<300ms",
        "failed",
    )
    assert (failed.value, failed.notes) == ("29%", ["timeout"])
    assert (stored.value, stored.window) == ("–", "")
    assert stored.notes == ["of 8,990 accepted", "nobody counted the rows"]


def test_rows_that_are_missing_are_counted_to_the_last() -> None:
    run = make_run()
    counted = run.key_figures[3].model_copy(update={"value": 8_973.0, "note": ""})
    run = run.model_copy(update={"key_figures": [counted]})
    (stored,) = shown_figures(run, Language.JA)
    assert (stored.value, stored.notes) == ("8,973", ["受付 8,990 件中, 17 件不足"])
