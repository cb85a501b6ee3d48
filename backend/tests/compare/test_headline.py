"""A comparison in one sentence."""

import numpy as np
from loadwatch_backend.catalogue.signals.model import Orientation, Unit
from loadwatch_backend.core.language import Language
from loadwatch_backend.runs.compare.metrics import METRICS_BY_ID, describe_metric, signal_scale
from loadwatch_backend.runs.compare.rows import Measured, headlines, make_row
from loadwatch_backend.runs.compare.schemas import (
    CompareGroup,
    CompareHeadline,
    CompareRow,
    ComparisonOpinion,
    Grade,
    MetricInfo,
)

SECONDS = 60


def row(metric: str, *groups: tuple[float, ...]) -> CompareRow:
    """Runs of sixty seconds that scatter by a hundredth."""
    scatter = np.random.default_rng(1).normal(1, 0.01, SECONDS)
    measured = [[Measured(figure=figure, seconds=figure * scatter) for figure in group] for group in groups]
    known = METRICS_BY_ID[metric]
    return make_row(describe_metric(known, Language.EN), known.scale, measured)


def signal_row(signal: str, unit: Unit, *figures: float) -> CompareRow:
    seconds = np.random.default_rng(1).normal(1, 0.01, SECONDS)
    measured = [[Measured(figure=figure, seconds=figure * seconds)] for figure in figures]
    metric = MetricInfo(id=f"signal:{signal}", title="", unit=unit, orientation=Orientation.NEUTRAL, help="")
    return make_row(metric, signal_scale(unit), measured)


def said(*rows: CompareRow, runs: tuple[int, int] = (1, 1), language: Language = Language.EN) -> CompareHeadline:
    groups = [
        CompareGroup(id=f"g{place}", label="", runs=[f"{place}-{run}" for run in range(count)], is_base=place == 0)
        for place, count in enumerate(runs)
    ]
    (headline,) = headlines(groups, rows, language)
    return headline


def test_it_leads_with_good_answers_and_names_the_number_of_runs() -> None:
    rows = (row("ok_rate", (43.0,), (168.0,)), row("p95", (0.955,), (0.149,)), row("error_rate", (0.0,), (0.0,)))
    found = said(*rows)
    assert found.text == "good answers 43/s → 168/s, ×3.9; p95 955 ms → 149 ms; in these two runs"
    assert (found.group, found.opinion, found.grade) == ("g1", ComparisonOpinion.BETTER, Grade.CLEAR)
    japanese = said(*rows, language=Language.JA).text
    assert japanese.startswith("成功応答 43/s → 168/s(3.9倍)、p95 955")
    assert japanese.endswith("、この2回の実行")


def test_failures_lag_and_what_is_stored_are_named_where_they_differ() -> None:
    assert "; failed 0.1\u00a0% → 40\u00a0%; " in said(row("error_rate", (0.001,), (0.4,))).text
    lag = signal_row("lag_max", Unit.SECONDS, 0.1, 25.0)
    stored = signal_row("rps_stored", Unit.PER_SECOND, 190.0, 310.0)
    assert "; longest lag 100 ms → 25 s; stored 190/s → 310/s; " in said(lag, stored).text


def test_more_good_answers_are_not_better_while_more_fail_or_all_are_slower() -> None:
    good, failed, slow = (
        row("ok_rate", (43.0,), (168.0,)),
        row("error_rate", (0.001,), (0.32,)),
        row("p95", (0.1,), (10.0,)),
    )
    assert [said(good, other).opinion for other in (failed, slow)] == [ComparisonOpinion.NEUTRAL] * 2
    same, fewer = row("ok_rate", (43.0,), (43.0,)), row("ok_rate", (168.0,), (43.0,))
    assert [said(same, other).opinion for other in (failed, slow)] == [ComparisonOpinion.WORSE] * 2
    assert said(fewer, row("p95", (1.0,), (0.1,))).opinion is ComparisonOpinion.WORSE, "what fails at once is quick"


def test_what_one_run_shows_is_said_and_how_sure_it_is_beside_it() -> None:
    found = said(row("ok_rate", (100.0,), (108.0,)), row("p95", (0.02,), (0.024,)))
    assert found.text == "good answers 100/s → 108/s, +8.0\u00a0%; p95 20 ms → 24 ms; in these two runs"
    assert found.grade is Grade.CANNOT_TELL


def test_sameness_and_repeats() -> None:
    rates = row("ok_rate", (100.0, 100.1, 100.2), (100.1, 100.0, 100.2, 100.1))
    found = said(rates, row("p95", (0.02, 0.0201, 0.02), (0.014, 0.014, 0.0141, 0.014)), runs=(3, 4))
    assert found.text == "good answers the same (100/s); p95 20 ms → 14 ms; 3 against 4 runs"
    assert (found.opinion, found.grade) == (ComparisonOpinion.SAME, Grade.REPEATS)


def test_without_figures_it_says_so() -> None:
    assert said().text == "good answers: no figures; in these two runs"
    assert said().opinion is ComparisonOpinion.UNCLEAR
