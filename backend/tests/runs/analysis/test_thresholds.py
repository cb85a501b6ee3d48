import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.errors import InvalidError
from loadwatch_backend.runs.analysis.thresholds import (
    FUNCTIONS,
    METRICS,
    OPERATORS,
    LoadMetric,
    Part,
    Scope,
    SeriesMetric,
    Threshold,
    ThresholdError,
    Value,
    check_thresholds,
    metric_unit,
    parse_threshold,
    quantile_of,
)
from loadwatch_formats.numbers import FACTORS, UNITS

SIGNALS = {"pool_wait_mean": Unit.SECONDS, "backlog": Unit.COUNT, "rps_stored": Unit.PER_SECOND}


def parse(text: str) -> Threshold:
    return parse_threshold(text, SIGNALS)


@pytest.mark.parametrize(
    ("text", "limit", "canonical"),
    [
        ("p95<300ms", 0.3, "p95<300ms"),
        (" p95 <= 1.5 s ", 1.5, "p95<=1.5s"),
        ("max<250us", 0.00025, "max<250us"),
        ("p50 < 250μs", 0.00025, "p50<250µs"),
        ("mean<2m", 120, "mean<2m"),
        ("min>0", 0, "min>0"),
        ("error_rate<0.1%", 0.001, "error_rate<0.1%"),
        ("success_ratio>=0.999", 0.999, "success_ratio>=0.999"),
        ("rate>=0.99*target", 594, "rate>=0.99*target"),
        ("ok_rate >= target", 600, "ok_rate>=target"),
        ("throughput>1.2k/s", 1_200, "throughput>1.2k/s"),
        ("rate>100 /s", 100, "rate>100/s"),
        ("requests>=9M", 9_000_000, "requests>=9M"),
        ("http_5xx==0", 0, "http_5xx==0"),
        ("bytes_in<1.5GiB", 1.5 * 2**30, "bytes_in<1.5GiB"),
        ("max(pool_wait_mean)<50ms over whole", 0.05, "max(pool_wait_mean)<50ms over whole"),
        ("last( backlog ) == 0 over steady", 0, "last(backlog)==0"),
        ("avg(rps_stored)>=0.9*target", 540, "avg(rps_stored)>=0.9*target"),
        ("p99<1s over 60s..120s", 1, "p99<1s over 60s..120s"),
        ("p99<1s over 1m .. 0.5h", 1, "p99<1s over 60s..1800s"),
        ("p99<1s over 500ms..2s", 1, "p99<1s over 0.5s..2s"),
        ('max("sum(rate(x[5s]))")<-2e3', -2_000, 'max("sum(rate(x[5s]))")<-2000'),
        ('min("up{job=\\"a\\"}")>=1', 1, 'min("up{job=\\"a\\"}")>=1'),
        ("max(\"x{a=~'b.*'}\")<5ms", 0.005, "max(\"x{a=~'b.*'}\")<5ms"),
        ('max("rate(x[$window])")<5', 5, 'max("rate(x[$window])")<5'),
    ],
)
def test_thresholds_are_read(text: str, limit: float, canonical: str):
    found = parse(text)
    assert found.limit(600.0) == pytest.approx(limit, rel=1e-12)
    assert str(found) == canonical
    assert parse(str(found)) == found


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("p95<300ms over 0s..99999999999h", 20, "292 years"),
        ("p95<300ms over \u0663s..9s", 16, "60s..120s"),
        ("", 1, "the end stands where one of p50, p90"),
        ("p100<3ms", 1, "one of p50, p90, p95, p99, max, min, mean, rate"),
        ("p95", 4, "one of < <= > >= =="),
        ("p95=3ms", 4, "one of < <= > >= =="),
        ("p95!=3ms", 4, "one of < <= > >= =="),
        ("p95<", 5, "a number such as 300ms, or target"),
        ("p95<300", 5, "a time with its unit (us, µs, ms, s, m), as 300ms"),
        ("p95<300 over whole", 5, "a time with its unit"),
        ("p95<3mss", 6, "one of the units us, µs, ms, s, m"),
        ("p95<0.5*target", 5, "fits rates only"),
        ("p95<target", 5, "fits rates only"),
        ("rate>0.5*x", 10, "`target`"),
        ("rate>1e999", 6, "a float can hold"),
        ("error_rate<1ms", 13, "one of the units %"),
        ("requests>5%", 11, "one of the units k, M"),
        ("p95<3ms over", 13, "steady, whole, or seconds"),
        ("p95<3ms over lunch", 14, "steady, whole, or seconds"),
        ("p95<3ms over 60..120s", 14, "steady, whole, or seconds"),
        ("p95<3ms over 60s", 14, "steady, whole, or seconds"),
        ("p95<3ms over 60s..", 19, "a time such as 120s"),
        ("p95<3ms over 120s..60s", 14, "a window that ends after its start"),
        ("p95<3ms and more", 9, "nothing more"),
        ("max(nonsense)<1", 5, "the id of a signal (GET /api/signals lists them)"),
        ("max(backlog<1", 12, "`)`"),
        ("sum(backlog)<1", 1, "avg|max|min|last(signal id or PromQL in quotes)"),
        ('max("sum(")<1', 5, "PromQL that can be evaluated"),
        ('max("x[5m]")<1', 5, "an instant vector or a scalar"),
        ('max("x)<1', 5, "the id of a signal"),
        ("p95<3ms\x00", 8, "nothing more"),
    ],
)
def test_errors_name_the_column_and_what_is_allowed(text: str, column: int, hint: str):
    with pytest.raises(ThresholdError) as error:
        parse(text)
    assert isinstance(error.value, InvalidError)
    assert error.value.extra["column"] == column
    assert hint in error.value.detail
    assert f"column {column}:" in error.value.detail
    problem = error.value.problem("/api/runs")
    assert problem["code"] == "threshold"
    assert f"の{column}文字目" in problem["detail_ja"]


def test_figures_of_ones_own_are_of_the_whole_run():
    for text in ("score >= 1.2k", "score>=1200 over whole"):
        found = parse_threshold(text, SIGNALS, {"score": Unit.COUNT})
        assert (str(found.metric), found.limit(None), found.window) == ("score", 1_200, Scope.WHOLE)
    assert parse_threshold("any<1", SIGNALS, kept=True).metric != parse("max<1s").metric
    assert parse_threshold("lag<300ms", SIGNALS, {"lag": Unit.SECONDS}).limit(None) == 0.3
    # A threshold that was checked once is still read when its figure has another unit, or none, since.
    for now in ({}, {"lag": Unit.COUNT}, {"lag": Unit.BYTES}):
        assert parse_threshold("lag<300ms", SIGNALS, now, kept=True).limit(None) == 0.3
    for text, hint in (("other>1", "--figure"), ("score>1 over 1s..2s", "whole run"), ("score>1ms", "units k, M")):
        with pytest.raises(ThresholdError, match=hint):
            parse_threshold(text, SIGNALS, {"score": Unit.COUNT})


def test_all_of_a_list_are_checked():
    check_thresholds(["p95<300ms", "error_rate<1%"], SIGNALS)
    with pytest.raises(ThresholdError, match="q42"):
        check_thresholds(["p95<300ms", "q42<1%"], SIGNALS)


@pytest.mark.parametrize(
    ("text", "metric", "quantile"), [("p70<1s", "p70", 0.7), ("p99.90<1s", "p99.9", 0.999), ("p05<1s", "p5", 0.05)]
)
def test_any_percentile_may_stand_where_p95_does(text: str, metric: str, quantile: float):
    assert str(parse(text).metric) == metric
    assert quantile_of(metric) == quantile


@pytest.mark.parametrize("text", ["p0<1s", "p100<1s", "p075<1s", "p<1s", "p70x<1s", "p70<300"])
def test_what_is_no_percentile_is_refused(text: str):
    with pytest.raises(ThresholdError):
        parse(text)


def test_a_share_of_a_target_that_nobody_set_has_no_limit():
    assert parse("rate>=0.99*target").limit(None) is None


def _values(unit: Unit | None) -> st.SearchStrategy[Value]:
    numbers = st.floats(-1e12, 1e12, allow_nan=False).map(lambda number: number + 0.0)
    units = sorted(UNITS[unit]) if unit is Unit.SECONDS else ["", *(FACTORS if unit is None else UNITS[unit])]
    plain = st.builds(Value, number=numbers, unit=st.sampled_from(units))
    if unit not in (Unit.PER_SECOND, None):
        return plain
    return plain | st.builds(Value, number=numbers, of_target=st.just(True))


def _thresholds(metric: LoadMetric | SeriesMetric) -> st.SearchStrategy[Threshold]:
    unit = metric_unit(metric.name) if isinstance(metric, LoadMetric) else metric.signal_unit
    edges = st.tuples(st.integers(0, 10**6), st.integers(1, 10**6))
    parts = edges.map(lambda edge: Part(from_seconds=edge[0] / 8, to_seconds=(edge[0] + edge[1]) / 8))
    return st.builds(
        Threshold,
        metric=st.just(metric),
        operator=st.sampled_from(OPERATORS),
        value=_values(unit),
        window=st.sampled_from(Scope) | parts,
    )


_QUERIES = ("up", 'x{a="b\\\\.c"}', "rate(x[$window])", 'label_replace(x, "a", "$1", "b", "(.*)")', "1 + 2")


def _of_signal(function: str, name: str) -> SeriesMetric:
    return SeriesMetric(function=function, text=name, is_signal=True, signal_unit=SIGNALS[name])


def _of_promql(function: str, text: str) -> SeriesMetric:
    return SeriesMetric(function=function, text=text, is_signal=False)


_METRICS = (
    st.sampled_from([*sorted(METRICS), "p1", "p70", "p75", "p99.9", "p99.99"]).map(lambda name: LoadMetric(name=name))
    | st.builds(_of_signal, st.sampled_from(FUNCTIONS), st.sampled_from(sorted(SIGNALS)))
    | st.builds(_of_promql, st.sampled_from(FUNCTIONS), st.sampled_from(_QUERIES))
)


@given(_METRICS.flatmap(_thresholds))
def test_what_is_printed_reads_as_the_same(threshold: Threshold):
    assert parse(str(threshold)) == threshold


@given(st.text(max_size=40) | st.text('p95<=>rate .0123456789ms%over*"()target', max_size=30))
def test_any_text_is_read_or_refused(text: str):
    try:
        found = parse(text)
    except ThresholdError as refused:
        column: int = refused.extra["column"]
    else:
        assert parse(str(found)) == found
        return
    assert 1 <= column <= len(text) + 1
