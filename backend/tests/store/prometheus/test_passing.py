"""Ranges are the engine's work as far as it shows their samples, and ours after that."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.errors import EngineAwayError
from loadwatch_backend.series.store.port import Batch, Matcher, MatchOperator, Reading, Selection
from loadwatch_backend.series.store.prometheus.engine import PrometheusStore
from loadwatch_backend.series.store.prometheus.reading import matrix_rows

from backend.tests.store.contract import NOW_MS
from backend.tests.store.prometheus.engines import RealEngine, prometheus, victoria_metrics, wait_for
from backend.tests.store.prometheus.test_engines import opened

START_MS = NOW_MS - 600_000
SHOWN_MS = NOW_MS - 30_000


@pytest.fixture(params=[victoria_metrics, prometheus])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[PrometheusStore, RealEngine]]:
    """Ten minutes of ten counters that rise by their number a second, up to now."""
    make: Callable[[Path], AbstractContextManager[RealEngine]] = request.param
    with make(tmp_path / "engine") as engine, opened(tmp_path / "data", engine) as store:
        ids = store.resolve([{"__name__": "m", "i": str(number)} for number in range(10)])
        seconds = np.tile(np.arange(601), 10)
        numbers = np.repeat(np.arange(10), 601)
        batch = Batch(
            series=ids[numbers], timestamps=START_MS + seconds * 1_000, values=(seconds * numbers).astype(np.float64)
        )
        store.append(batch).result(timeout=60)
        gone = Batch(series=store.resolve([{"__name__": "gone"}]), timestamps=np.array([START_MS]), values=np.ones(1))
        store.append(gone).result(timeout=60)
        wait_for("all is with the engine", lambda: store.statistics().engine_queue_samples == 0)
        engine.show_all()
        yield store, engine


def test_a_range_goes_on_where_the_engine_ends(store: tuple[PrometheusStore, RealEngine]) -> None:
    engine = Engine(store[0])
    matrix = engine.range("sum(m)", START_MS, NOW_MS, 10_000)
    assert matrix.present.all()
    assert matrix.values[0].tolist() == [45.0 * 10 * step for step in range(61)]
    rates = engine.range("rate(m[30s])", START_MS + 60_000, NOW_MS, 10_000)
    assert [labels["i"] for labels in rates.labels] == [str(number) for number in range(10)]
    assert rates.values == pytest.approx(np.arange(10.0)[:, None] + np.zeros(55))


def test_only_the_end_of_a_range_is_read_as_samples(store: tuple[PrometheusStore, RealEngine]) -> None:
    starts: list[int] = []

    def select(matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None = None, /) -> Selection:
        starts.append(start_ms)
        return store[0].select([*matchers, third], start_ms, end_ms, reading)

    third = Matcher("i", MatchOperator.EQUAL, "3")
    engine = Engine(store[0])
    narrowed = engine.bound(engine.memory.ticket(), select, [third])
    found = narrowed.range("sum(m)", START_MS, NOW_MS, 10_000, lookback_ms=5_000)
    assert found.values[0].tolist() == [30.0 * step for step in range(61)]
    assert min(starts) > SHOWN_MS


def test_the_engine_looks_back_as_far_as_it_is_asked_to(store: tuple[PrometheusStore, RealEngine]) -> None:
    # Prometheus 2 has the sample at the beginning of a range too.
    for lookback_ms, steps in ((20_000, (2, 3)), (60_000, (6, 7))):
        matrix = Engine(store[0]).range("gone", START_MS, SHOWN_MS, 10_000, lookback_ms=lookback_ms)
        assert int(matrix.present.sum()) in steps


def test_what_the_engine_does_not_take_is_evaluated_here(store: tuple[PrometheusStore, RealEngine]) -> None:
    text = 'sum(m{i="1"}) + fill (0) sum(m{i="none"})'
    matrix = Engine(store[0]).range(text, START_MS, SHOWN_MS, 10_000)
    assert matrix.values[0].tolist() == [10.0 * step for step in range(58)]


def test_what_another_server_sent_is_the_engines_work_to_the_end(
    store: tuple[PrometheusStore, RealEngine], tmp_path: Path
) -> None:
    def select(*_asked: object) -> Selection:
        raise AssertionError("samples were read")

    with opened(tmp_path / "another", store[1]) as another:
        engine = Engine(another)
        engine.select = select
        found = engine.range("sum(m)", START_MS, NOW_MS, 10_000)
        assert found.values[0].tolist() == [45.0 * 10 * step for step in range(61)]
        own = Batch(series=another.resolve([{"__name__": "m"}]), timestamps=np.array([NOW_MS]), values=np.ones(1))
        another.append(own).result(timeout=60)
        with pytest.raises(AssertionError, match="samples were read"):
            engine.range("sum(m)", START_MS, NOW_MS, 10_000)


@pytest.mark.parametrize("space", [b"", b" "])
def test_rows_of_a_matrix_are_read_however_they_are_written(space: bytes) -> None:
    body = (
        b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"a":"\\"values\\":[1]]"},"values":'
        b'[[1700000000.001,"NaN"],[1700000001,"-Inf"]]},{"metric":{},"values":[[1e9,"2.5e-3"]]}]}}'
    ).replace(b":[[", b":" + space + b"[[")
    (first, times, values), (second, *_, numbers) = matrix_rows(body)
    assert (first, second) == ({"a": '"values":[1]]'}, {})
    assert times.tolist() == [1_700_000_000_001, 1_700_000_001_000]
    assert np.isnan(values[0])
    assert (values[1], numbers.tolist()) == (-np.inf, [2.5e-3])
    for wrong in (body[:-9], body.replace(b"NaN", b"x"), b'{"status":"success"}', b"[]"):
        with pytest.raises(EngineAwayError, match="no matrix"):
            matrix_rows(wrong)
