"""The figures that stand first in a report, in words."""

from loadwatch_backend.catalogue.signals.model import Orientation
from loadwatch_backend.core.language import Language
from loadwatch_backend.runs.analysis.schemas import OwnFigureOut
from loadwatch_backend.runs.key_figures import key_figures
from loadwatch_backend.runs.report.html import shown_figures
from loadwatch_formats.own_figures import FigureSource

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


def test_a_score_stands_first_to_its_last_digit_or_says_why_there_is_none() -> None:
    score = OwnFigureOut(
        name="score", source=FigureSource.REGEX, value=12_345, orientation=Orientation.NEUTRAL, detail="", detail_ja=""
    )
    none = score.model_copy(update={"name": "lag", "value": None, "detail": "No line.", "detail_ja": "行がない。"})
    figures = key_figures(
        whole=None, steady=None, target_rate=None, thresholds=[], reconciliation=None, own=[score, none]
    )
    run = make_run().model_copy(update={"own_figures": [score, none], "key_figures": figures})
    first, second, *rest = shown_figures(run, Language.JA)
    assert (first.name, first.value, first.window, first.is_own) == ("score", "12,345", "全体", True)
    assert (second.value, list(second.notes)) == ("–", ["行がない。"])
    assert not any(one.is_own for one in rest)
