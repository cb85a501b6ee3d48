import math
from typing import Any

import numpy as np
import pytest
from loadwatch_backend.core.texts.words import message_of
from loadwatch_backend.evidence.records.model import Figures, Latency
from loadwatch_backend.runs.analysis.load import Bounds, WindowLoad
from loadwatch_backend.runs.analysis.measure import Measured, aggregate, holds, judge, measure_load, worst
from loadwatch_backend.runs.analysis.schemas import ThresholdState
from loadwatch_backend.runs.analysis.thresholds import LoadMetric
from loadwatch_backend.runs.fields import RunState
from loadwatch_formats.outcomes import Outcome

from backend.tests.runs.analysis.building import Bench, gauge, per_second, result_of, subject

SECONDS = 60


def figures(**fields: Any) -> WindowLoad:
    given: dict[str, Any] = {
        "requests": 1_000,
        "duration_seconds": 10.0,
        "rate": 100.0,
        "success_ratio": 0.999,
        "latency": Latency(p95=0.3, mean=0.1),
        "outcomes": {Outcome.OK: 999, Outcome.TIMEOUT: 1},
        "status_codes": {},
        "bytes_in": 5_000,
        "bytes_out": None,
        "wait_seconds": 1.0,
        "throughput": 999 / 11,
    }
    return WindowLoad(figures=Figures(**(given | fields)), bounds={})


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("p95", 0.3),
        ("mean", 0.1),
        ("p50", None),
        ("rate", 100),
        ("ok_rate", 99.9),
        ("throughput", 999 / 11),
        ("success_ratio", 0.999),
        ("error_rate", 0.001),
        ("requests", 1_000),
        ("failures", 1),
        ("timeouts", 1),
        ("resets", 0),
        ("bytes_in", 5_000),
        ("bytes_out", None),
    ],
)
def test_figures_of_the_load(metric: str, expected: float | None):
    actual = measure_load(LoadMetric(name=metric), figures()).actual
    assert actual == (expected if metric not in ("ok_rate", "throughput") else pytest.approx(expected))


def test_an_error_rate_at_its_limit_is_exact():
    assert judge(measure_load(LoadMetric(name="error_rate"), figures()), "<=", 0.1 / 100)[0] is ThresholdState.PASSED


def test_a_summary_without_outcomes_still_has_its_ratio():
    found = measure_load(LoadMetric(name="error_rate"), figures(outcomes={}, success_ratio=0.75))
    assert found.actual == 0.25


def test_a_window_without_requests():
    empty = figures(requests=0, rate=0.0, success_ratio=None, latency=Latency(), outcomes={})
    found = {
        name: measure_load(LoadMetric(name=name), empty).actual for name in ("rate", "requests", "error_rate", "p95")
    }
    assert found == {"rate": 0, "requests": 0, "error_rate": None, "p95": None}


def test_aggregates_leave_gaps_out():
    values = np.array([[1.0, math.nan, 3.0, math.nan], [math.nan] * 4, [5.0, 5.0, 5.0, 2.0]])
    np.testing.assert_array_equal(aggregate("max", values), [3, math.nan, 5])
    np.testing.assert_array_equal(aggregate("min", values), [1, math.nan, 2])
    np.testing.assert_array_equal(aggregate("avg", values), [2, math.nan, 4.25])
    np.testing.assert_array_equal(aggregate("last", values), [3, math.nan, 2])
    assert aggregate("max", np.empty((0, 5))).shape == (0,)
    np.testing.assert_array_equal(aggregate("max", np.empty((2, 0))), [math.nan] * 2)


def test_the_worst_series_decides():
    values = np.array([3.0, math.nan, 1.0, 9.0])
    assert [worst(values, operator, 4.0) for operator in ("<", "<=", ">", ">=", "==")] == [3, 3, 2, 2, 3]


def test_comparisons():
    assert holds(1, "<", 2)
    assert holds(2, "<=", 2)
    assert not holds(2, ">", 2)
    assert holds(2, ">=", 2)
    assert holds(0.1 + 0.2, "==", 0.3)
    assert not holds(0.31, "==", 0.3)


def test_an_estimate_decides_only_where_its_bounds_agree():
    measured = Measured(actual=0.25, bounds=Bounds(low=0.2, high=0.3))
    states = [judge(measured, "<", limit)[0] for limit in (0.1, 0.25, 0.4)]
    assert states == [ThresholdState.FAILED, ThresholdState.UNKNOWN, ThresholdState.PASSED]
    assert judge(measured, "==", 0.25)[0] is ThresholdState.UNKNOWN
    assert judge(Measured(actual=math.nan), "<", 1)[0] is ThresholdState.UNKNOWN
    assert judge(Measured(actual=1.0), "<", None) == (ThresholdState.UNKNOWN, message_of("measured", "no-target"))


def measured(bench: Bench, *thresholds: str, **fields: Any) -> list[tuple[str, float | None, str]]:
    run = subject(result_of(per_second([100.0] * SECONDS, [0.1] * SECONDS)), **fields)
    return [(one.state.value, one.actual, one.detail) for one in bench.analyst().measure(thresholds, run)]


def test_signals_and_promql_over_windows(bench: Bench):
    rising = np.arange(SECONDS + 1.0)
    bench.write(
        gauge("go_goroutines", rising, job="app", instance="a"),
        gauge("go_goroutines", 2 * rising, job="app", instance="b"),
        gauge("go_sql_wait_count_total", 10 * rising, instance="a", db_name="x"),
        gauge("go_sql_wait_duration_seconds_total", 0.4 * rising, instance="a", db_name="x"),
    )
    found = measured(
        bench,
        "max(goroutines)<=120 over whole",
        "max(goroutines)<70 over 10s..30s",
        "min(goroutines)>=30 over 10s..30s",
        'last("sum(go_goroutines)") == 90 over 10s..30s',
        'avg("sum(go_goroutines)") < 62 over 10s..30s',
        "max(pool_wait_mean)<50ms over 20s..40s",
        'max("absent_metric") < 1',
        'max("go_goroutines / 0 * -1") < 1 over 10s..30s',
        'max("scalar(nothing)") < 1',
    )
    assert [one[0] for one in found] == [
        *["passed", "passed", "failed", "passed", "passed"],
        "passed",
        "unknown",
        "passed",
        "unknown",
    ]
    assert [one[1] for one in found[:5]] == [120, 60, 11, 90, 61.5]
    assert found[0][2] == "The worst of 2 series: instance=b, job=app."
    assert found[2][2].endswith("instance=a, job=app.")
    assert found[5][1] == pytest.approx(0.04)
    assert found[6][2] == "No samples in the window."
    assert found[7][1] is None, "an infinity has no place in a document"


def test_windows_beyond_the_run_are_unknown(bench: Bench):
    found = measured(bench, "p95<1s over 100s..200s", "max(goroutines)<3 over 60s..61s", "rate>=99/s over 50s..500s")
    assert found[0] == ("unknown", None, "The run is 60 s long: the window is after it.")
    assert found[1][0] == "unknown"
    assert found[2] == ("passed", 100, "Up to the end of the run, which is 60 s long.")


def test_what_the_store_refuses_is_told(bench: Bench):
    bench.write(*[gauge("wide", [1.0], n=str(i)) for i in range(3)])
    found = measured(bench, 'max("wide * on() wide") < 3', state=RunState.FINISHED)
    assert found[0][0] == "unknown"
    assert "many" in found[0][2] or "matching" in found[0][2]
