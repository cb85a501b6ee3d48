import pytest
from loadwatch_backend.runs.analysis.schemas import ThresholdOut, ThresholdState
from loadwatch_backend.runs.analysis.thresholds import decide_verdict
from loadwatch_backend.runs.fields import RunState, Verdict

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
