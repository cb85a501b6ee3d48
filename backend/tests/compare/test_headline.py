"""A comparison in one sentence."""

import numpy as np
from loadwatch_backend.compare.headline import headlines
from loadwatch_backend.compare.metrics import METRICS_BY_ID, describe_metric
from loadwatch_backend.compare.rows import Measured, make_row
from loadwatch_backend.compare.schemas import CompareGroup, CompareHeadline, CompareRow, Grade, Opinion
from loadwatch_backend.kit.language import Language

SECONDS = 60


def row(metric: str, *groups: tuple[float, ...]) -> CompareRow:
    """Runs of sixty seconds that scatter by a hundredth."""
    scatter = np.random.default_rng(1).normal(1, 0.01, SECONDS)
    measured = [[Measured(figure=figure, seconds=figure * scatter) for figure in group] for group in groups]
    known = METRICS_BY_ID[metric]
    return make_row(describe_metric(known, Language.EN), known.scale, measured)


def said(*rows: CompareRow, runs: tuple[int, int] = (1, 1), language: Language = Language.EN) -> CompareHeadline:
    groups = [
        CompareGroup(id=f"g{place}", label="", runs=[f"{place}-{run}" for run in range(count)], is_base=place == 0)
        for place, count in enumerate(runs)
    ]
    (headline,) = headlines(groups, rows, language)
    return headline


def test_it_leads_with_good_answers_and_names_the_number_of_runs() -> None:
    rows = (row("ok_rate", (43.0,), (168.0,)), row("p50", (0.5,), (0.18,)), row("error_rate", (0.0,), (0.0,)))
    found = said(*rows)
    assert found.text == "good answers 43/s → 168/s, ×3.9; p50 −64\u00a0%; one run each"
    assert (found.group, found.opinion, found.grade) == ("g1", Opinion.BETTER, Grade.CLEAR)
    assert said(*rows, language=Language.JA).text == "成功応答 43/s → 168/s(3.9倍)、p50 −64%、各1回"


def test_failures_are_named_where_they_surely_differ() -> None:
    assert "; failed 0.1\u00a0% → 40\u00a0%; " in said(row("error_rate", (0.001,), (0.4,))).text


def test_more_good_answers_are_not_better_while_more_fail_or_all_are_slower() -> None:
    good, failed, slow = (
        row("ok_rate", (43.0,), (168.0,)),
        row("error_rate", (0.001,), (0.32,)),
        row("p50", (0.1,), (1.0,)),
    )
    assert [said(good, other).opinion for other in (failed, slow)] == [Opinion.NEUTRAL] * 2
    same, fewer = row("ok_rate", (43.0,), (43.0,)), row("ok_rate", (168.0,), (43.0,))
    assert [said(same, other).opinion for other in (failed, slow)] == [Opinion.WORSE] * 2
    assert said(fewer, row("p50", (1.0,), (0.1,))).opinion is Opinion.WORSE, "what fails at once is quick"


def test_what_cannot_be_told_is_not_said_as_a_difference() -> None:
    found = said(row("ok_rate", (100.0,), (108.0,)), row("p50", (0.02,), (0.024,)))
    assert found.text == (
        "good answers 100/s → 108/s: cannot tell whether they differ; p50 cannot be told apart; one run each"
    )
    assert found.grade is Grade.CANNOT_TELL


def test_sameness_and_repeats() -> None:
    rates = row("ok_rate", (100.0, 100.1, 100.2), (100.1, 100.0, 100.2, 100.1))
    found = said(rates, row("p50", (0.02, 0.0201, 0.02), (0.014, 0.014, 0.0141, 0.014)), runs=(3, 4))
    assert found.text == "good answers the same (100/s); p50 −30\u00a0%; 3 against 4 runs"
    assert (found.opinion, found.grade) == (Opinion.SAME, Grade.REPEATS)


def test_without_figures_it_says_so() -> None:
    assert said().text == "good answers: no figures; one run each"
    assert said().opinion is Opinion.UNCLEAR
