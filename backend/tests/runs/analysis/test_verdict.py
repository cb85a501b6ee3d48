import pytest
from loadwatch_backend.catalogue.signals.model import Orientation
from loadwatch_backend.runs.analysis.own_figures import oriented
from loadwatch_backend.runs.analysis.schemas import OwnFigureOut, ThresholdOut, ThresholdState
from loadwatch_backend.runs.analysis.thresholds import decide_verdict
from loadwatch_backend.runs.fields import RunState, Verdict
from loadwatch_formats.own_figures import FigureSource

FAILS, HOLDS, UNKNOWN = ThresholdState.FAILED, ThresholdState.PASSED, ThresholdState.UNKNOWN


def threshold(state: ThresholdState, metric: str = "p95") -> ThresholdOut:
    return ThresholdOut(
        expression=f"{metric}<1s",
        metric=metric,
        operator="<",
        limit=1,
        unit="seconds",
        actual=1,
        window="steady",
        state=state,
        detail="",
    )


@pytest.mark.parametrize(
    ("state", "requests", "states", "metric", "generator", "verdict", "reasons"),
    [
        (RunState.FINISHED, 9, [HOLDS, HOLDS], "p95", "ok", Verdict.PASSED, []),
        (RunState.IMPORTED, 9, [HOLDS], "p95", "unknown", Verdict.PASSED, []),
        (RunState.FINISHED, 9, [HOLDS], "p95", "suspect", Verdict.PASSED, []),
        (RunState.FINISHED, 9, [HOLDS, FAILS], "p95", "ok", Verdict.FAILED, ["p95<1s"]),
        (RunState.FINISHED, 9, [], "p95", "saturated", None, []),
        (RunState.RUNNING, 9, [FAILS], "p95", "ok", None, []),
        (RunState.ABORTED, 9, [HOLDS], "p95", "ok", Verdict.INVALID, ["aborted"]),
        (RunState.ABORTED, 9, [FAILS], "p95", "ok", Verdict.FAILED, ["p95<1s", "aborted"]),
        (RunState.FINISHED, 0, [UNKNOWN], "p95", "ok", Verdict.INVALID, ["no-requests", "not-measured"]),
        (RunState.FINISHED, 9, [HOLDS], "p95", "saturated", Verdict.INVALID, ["generator-saturated"]),
        (RunState.FINISHED, 9, [HOLDS], "error_rate", "saturated", Verdict.PASSED, []),
        (RunState.FINISHED, 9, [FAILS], "rate", "saturated", Verdict.FAILED, ["rate<1s", "generator-saturated"]),
        (RunState.FINISHED, None, [HOLDS, UNKNOWN], "p95", "ok", Verdict.INVALID, ["not-measured"]),
    ],
)
def test_verdicts(
    state: RunState,
    requests: int | None,
    states: list[ThresholdState],
    metric: str,
    generator: str,
    verdict: Verdict | None,
    reasons: list[str],
):
    thresholds = [threshold(one, metric) for one in states]
    assert decide_verdict(state, requests, thresholds, generator) == (verdict, reasons)


@pytest.mark.parametrize(
    ("operators", "orientation"),
    [
        ([], Orientation.NEUTRAL),
        (["=="], Orientation.NEUTRAL),
        (["<", "<="], Orientation.MORE_IS_WORSE),
        ([">="], Orientation.MORE_IS_BETTER),
        ([">", "<"], Orientation.NEUTRAL),
    ],
)
def test_the_side_of_an_own_figure_is_the_one_of_all_its_thresholds(operators: list[str], orientation: Orientation):
    figure = OwnFigureOut(
        name="score",
        source=FigureSource.REGEX,
        value=1,
        orientation=Orientation.NEUTRAL,
        detail="",
        detail_ja="",
    )
    thresholds = [threshold(HOLDS, "score").model_copy(update={"operator": one}) for one in operators]
    assert [one.orientation for one in oriented({"score": figure}, thresholds)] == [orientation]
