"""The figures that stand first: what they are, over which window, and what is said where there is none."""

from collections.abc import Sequence

from loadwatch_backend.runs.analysis.schemas import (
    FiguresOut,
    KeyFigure,
    LatencyOut,
    ReconciliationOut,
    ReconciliationStep,
    ThresholdOut,
    ThresholdState,
)
from loadwatch_backend.runs.key_figures import key_figures

LATENCY = LatencyOut(min=0.01, mean=0.2, p50=0.1, p90=0.3, p95=0.4, p99=0.8, max=3.2)
WHOLE = FiguresOut(
    requests=1_000,
    duration_seconds=10,
    rate=100,
    success_ratio=0.75,
    latency_seconds=LATENCY,
    outcomes={"ok": 750, "timeout": 50, "http_5xx": 200, "dns": 0},
    status_codes={},
    bytes_in=None,
    bytes_out=None,
)
STEADY = WHOLE.model_copy(
    update={"duration_seconds": 5.0, "outcomes": {"ok": 400, "timeout": 100}, "success_ratio": 0.8}
)


def threshold(metric: str, state: ThresholdState = ThresholdState.PASSED, **changes: object) -> ThresholdOut:
    one = ThresholdOut(
        expression=f"{metric}<300ms",
        metric=metric,
        operator="<",
        limit=0.3,
        unit="seconds",
        actual=0.25,
        window="steady",
        state=state,
        detail="",
    )
    return one.model_copy(update=changes)


def counted(**counts: float | None) -> ReconciliationOut:
    steps = [ReconciliationStep(id=id, count=count, source="", missing=None) for id, count in counts.items()]
    return ReconciliationOut(steps=steps, place="none", detail="")


def figures(
    whole: FiguresOut | None = WHOLE,
    steady: FiguresOut | None = STEADY,
    target_rate: float | None = None,
    thresholds: Sequence[ThresholdOut] = (),
    reconciliation: ReconciliationOut | None = None,
) -> list[KeyFigure]:
    return key_figures(
        whole=whole, steady=steady, target_rate=target_rate, thresholds=thresholds, reconciliation=reconciliation
    )


def test_the_steady_window_where_there_is_one_else_the_whole_run() -> None:
    good, latency, failing, second = figures()
    assert [one.id for one in (good, latency, failing, second)] == ["ok_rate", "p95", "error_rate", "p99"]
    assert (good.value, good.window, good.base) == (80, "steady", "")
    assert failing.value is not None
    assert abs(failing.value - 0.2) < 1e-9
    assert failing.kinds == ["timeout"]
    whole = figures(steady=None)
    assert {one.window for one in whole} == {"whole"}
    assert whole[0].value == 75
    assert whole[2].kinds == ["http_5xx", "timeout"]


def test_good_answers_stand_against_the_target_also_where_a_threshold_judges_them() -> None:
    asked = threshold("ok_rate", ThresholdState.FAILED, actual=79.0, limit=90.0)
    good = figures(target_rate=100, thresholds=[asked])[0]
    assert (good.value, good.against, good.base) == (79, 100, "target")
    assert (good.state, good.threshold) == (ThresholdState.FAILED, "ok_rate<300ms")


def test_a_latency_is_the_one_that_a_threshold_judges_over_that_thresholds_window() -> None:
    found = figures(thresholds=[threshold("p99", window="whole", actual=0.7), threshold("p70")])
    assert (found[1].id, found[1].value, found[1].window, found[1].against) == ("p99", 0.7, "whole", 0.3)
    # The second is another one.
    assert found[3].id == "p95"
    assert found[3].threshold == ""
    assert figures(thresholds=[threshold("p70")])[1].id == "p70"


def test_of_several_thresholds_the_one_that_failed() -> None:
    both = [threshold("p95"), threshold("p95", ThresholdState.FAILED, window="60s..120s", actual=0.9)]
    found = figures(thresholds=both)[1]
    assert (found.value, found.window, found.state) == (0.9, "60s..120s", ThresholdState.FAILED)


def test_a_threshold_over_a_steady_window_that_is_the_whole_run_covers_the_whole_run() -> None:
    assert figures(steady=None, thresholds=[threshold("p95")])[1].window == "whole"


def test_a_share_of_success_is_read_as_the_share_that_failed() -> None:
    asked = threshold("success_ratio", actual=0.9, limit=0.95, operator=">", window="60s..120s")
    failing = figures(thresholds=[asked])[2]
    assert failing.value is not None
    assert failing.against is not None
    assert abs(failing.value - 0.1) < 1e-9
    assert abs(failing.against - 0.05) < 1e-9
    # What failed in a part of the run is not kept by kind.
    assert failing.kinds == []


def test_rows_stored_of_what_was_accepted_else_of_what_was_answered() -> None:
    stored = figures(reconciliation=counted(sent=1_000, answered_ok=750, accepted=740, stored=700))[3]
    assert (stored.id, stored.value, stored.against, stored.base) == ("stored", 700, 740, "accepted")
    assert stored.window == "whole"
    stored = figures(reconciliation=counted(sent=1_000, answered_ok=750, accepted=None, stored=700))[3]
    assert (stored.against, stored.base) == (750, "answered_ok")


def test_what_cannot_be_told_says_why() -> None:
    assert [one.note for one in figures(whole=None, steady=None)] == ["no-result"] * 4
    assert figures(reconciliation=counted(sent=1, stored=None))[3].note == "not-counted"
    mixed = counted(sent=1, accepted=1, stored=2).model_copy(update={"mixed_with": ["next"]})
    assert figures(reconciliation=mixed)[3].note == "mixed"
    unknown = threshold("p95", ThresholdState.UNKNOWN, actual=None)
    assert (figures(thresholds=[unknown])[1].value, figures(thresholds=[unknown])[1].note) == (None, "not-measured")
    empty = LatencyOut(min=None, mean=None, p50=None, p90=None, p95=None, p99=None, max=None)
    none = WHOLE.model_copy(update={"duration_seconds": 0.0, "latency_seconds": empty, "success_ratio": None})
    assert [one.note for one in figures(whole=none, steady=None)] == ["not-measured"] * 4
