import numpy as np
import pytest
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.promql.errors import QueryParseError, QueryTimeoutError, QueryTooLargeError
from loadwatch_backend.series.promql.fetch import plan_spans
from loadwatch_backend.series.promql.notes import Notes
from loadwatch_backend.series.promql.parsing.expression import ValueType
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.promql.value import Grid
from loadwatch_backend.series.store.port import SampleStore

BASE_MS = 1_700_000_400_000
MINUTE = 60_000
AT = BASE_MS + 20 * MINUTE


def _spans(text: str, grid: Grid, lookback_ms: int = 300_000) -> list[tuple[str, list[tuple[int, int]]]]:
    planned, _ = plan_spans(parse_expression(text), grid, lookback_ms, 60_000)
    return [(matchers[0].value, spans) for (matchers, _), spans in planned.items()]


GRID = Grid(start_ms=1_000_000, step_ms=10_000, count=11)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", [("x", [(700_001, 1_100_000)])]),
        ("rate(x[1m])", [("x", [(940_001, 1_100_000)])]),
        ("x offset 1m", [("x", [(640_001, 1_040_000)])]),
        ("rate(x[1m] offset -1m)", [("x", [(1_000_001, 1_160_000)])]),
        # One selector is read once for all of its uses.
        ("rate(x[1m]) / rate(x[10m])", [("x", [(400_001, 1_100_000)])]),
        ("x + y", [("x", [(700_001, 1_100_000)]), ("y", [(700_001, 1_100_000)])]),
        # What lies a day apart is not read as one span.
        ("x - x offset 1d", [("x", [(-85_699_999, -85_300_000), (700_001, 1_100_000)])]),
        ("vector(1) + time()", []),
        ("x @ 5", [("x", [(-294_999, 5_000)])]),
        ("rate(x[1m] @ 5 offset 1s)", [("x", [(-55_999, 4_000)])]),
        # From the first multiple of the step within the first window, with what that one looks back on.
        ("max_over_time(x[1m:7s])", [("x", [(645_001, 1_099_000)])]),
        ("max_over_time(rate(x[1m])[1m:7s] offset 100s)", [("x", [(787_001, 994_000)])]),
    ],
)
def test_each_selector_is_read_once_and_no_further_than_needed(
    text: str, expected: list[tuple[str, list[tuple[int, int]]]]
) -> None:
    assert _spans(text, GRID) == expected


def test_a_range_has_a_value_at_every_step_and_sorted_series(engine: Engine) -> None:
    matrix = engine.range("temperature", AT, AT + 5 * MINUTE, MINUTE)
    assert [labels["instance"] for labels in matrix.labels] == ["a", "b", "c"]
    assert matrix.values.shape == matrix.present.shape == (3, 6)
    assert matrix.present.all()


def test_a_scalar_is_a_series_without_labels(engine: Engine) -> None:
    for matrix in (engine.range("time()", AT, AT + MINUTE, MINUTE), engine.instant("time()", AT)):
        assert [dict(labels) for labels in matrix.labels] == [{}]
        assert matrix.values[0, 0] == AT / 1000
    assert engine.answer("time()", AT).type is ValueType.SCALAR


def test_an_instant_query_has_no_absent_series(engine: Engine) -> None:
    assert len(engine.instant('gappy{how="ended"}', AT).labels) == 0
    assert len(engine.instant('temperature{instance="a"}', AT).labels) == 1


def test_the_look_back_can_be_set_for_a_query(engine: Engine) -> None:
    late = AT + 14 * MINUTE
    assert len(engine.instant("temperature", late).labels) == 3
    assert len(engine.instant("temperature", late, lookback_ms=4 * MINUTE).labels) == 0


def test_an_instant_value_that_is_no_vector_is_refused(engine: Engine) -> None:
    for text in ('"words"', "temperature[1m]"):
        with pytest.raises(QueryParseError, match="neither a vector nor a scalar"):
            engine.instant(text, AT)


@pytest.mark.parametrize(
    ("start", "end", "step", "message"),
    [
        (0, 11_001_000, 1_000, "11001 steps, more than 11000"),
        (1, 0, 1, "end timestamp must not be before start time"),
        (0, 1, 0, "zero or negative query resolution"),
        (0, 1, -1, "zero or negative query resolution"),
    ],
)
def test_the_grid_is_bounded(engine: Engine, start: int, end: int, step: int, message: str) -> None:
    with pytest.raises((QueryParseError, QueryTooLargeError), match=message):
        engine.range("temperature", start, end, step)


def test_as_many_steps_as_prometheus_are_taken(engine: Engine) -> None:
    assert engine.range("vector(1)", 0, 11_000_000, 1_000).values.shape == (1, 11_001)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (EngineSettings(max_samples=100), "loads more than 100 samples"),
        (EngineSettings(max_series=2), "selects more than 2 series"),
    ],
)
def test_limits_are_named(golden_store: SampleStore, settings: EngineSettings, message: str) -> None:
    with pytest.raises(QueryTooLargeError, match=message):
        Engine(golden_store, settings).range("temperature", AT, AT + 5 * MINUTE, MINUTE)


def test_series_times_points_are_bounded(golden_store: SampleStore) -> None:
    engine = Engine(golden_store, EngineSettings(max_samples=1_000))
    with pytest.raises(QueryTooLargeError, match="500 points of each of 3 series, more than 1000 in all"):
        engine.range("temperature", AT, AT + 499, 1)


@pytest.mark.parametrize(
    "text",
    [
        'count_values("value", temperature)',
        # Each of the three series pairs with eight, none of which is there.
        "temperature + on () group_left () (requests_total > 1e9)",
    ],
)
def test_what_an_operation_makes_is_bounded(golden_store: SampleStore, text: str) -> None:
    engine = Engine(golden_store, EngineSettings(max_samples=1_200))
    with pytest.raises(QueryTooLargeError, match=r"a part of the query makes .* more than 1200 values in all"):
        engine.range(text, AT, AT + 5 * MINUTE, 5_000, lookback_ms=30_000)


def test_a_query_has_a_time_limit(golden_store: SampleStore) -> None:
    with pytest.raises(QueryTimeoutError, match="longer than 0 s"):
        Engine(golden_store, EngineSettings(timeout_seconds=0)).instant("temperature", AT)


def test_a_matrix_of_steps_agrees_with_instants(engine: Engine) -> None:
    text = "topk(2, rate(requests_total[1m])) by (job) or temperature * 2"
    matrix = engine.range(text, AT, AT + 4 * MINUTE, 30_000)
    for step in range(matrix.values.shape[1]):
        instant = engine.instant(text, AT + step * 30_000)
        rows = np.flatnonzero(matrix.present[:, step]).tolist()
        assert [dict(matrix.labels[row]) for row in rows] == [dict(labels) for labels in instant.labels]
        np.testing.assert_array_equal(matrix.values[rows, step], instant.values[:, 0])


@pytest.mark.parametrize(
    "text",
    [
        "count_over_time(vector(1)[290y:1ms])",
        "sum_over_time(time()[1y:1s]) + max_over_time(x[290y:1ms])",
        "max_over_time(requests_total[1y:1s])",
    ],
)
def test_a_subquery_of_too_many_points_is_refused_before_it_is_made(engine: Engine, text: str) -> None:
    with pytest.raises((QueryTooLargeError, QueryParseError)):
        engine.instant(text.replace("time()[", "vector(time())["), AT)


def test_warnings_and_infos_are_prometheus(engine: Engine) -> None:
    notes = Notes()
    engine.range("sum(rate(temperature[1m])) + quantile(2, level)", AT - 10 * MINUTE, AT, MINUTE, notes=notes)
    assert notes.infos == [
        "PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket:"
        ' "temperature" (1:10)'
    ]
    assert notes.warnings == ["PromQL warning: quantile value should be between 0 and 1, got 2 (1:39)"]


def test_of_many_warnings_ten_are_shown() -> None:
    notes = Notes()
    notes.counters([f"m{number:02}" for number in range(15)], "1:1")
    assert len(notes.infos) == 11
    assert notes.infos[-1] == "5 more info annotations omitted"
