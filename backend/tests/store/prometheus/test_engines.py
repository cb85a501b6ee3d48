"""The contract of all engines, against a real VictoriaMetrics and a real Prometheus; what those do otherwise is here.

Each runs twice: as it is, and with nothing kept in memory, so that every answer is the engine's own.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Batch, Matcher, MatchOperator, SampleStore
from loadwatch_backend.series.store.prometheus.connection import RemoteSettings
from loadwatch_backend.series.store.prometheus.engine import PrometheusStore, open_prometheus

from backend.tests.store.contract import METRIC, NOW_MS, OpenStore, StoreContract, append, select, series_of
from backend.tests.store.prometheus.engines import RealEngine, prometheus, victoria_metrics, wait_for

FOR_EVER = 86_400.0
ZONE_A = Matcher("zone", MatchOperator.EQUAL, "a")


class Settled:
    """A store that reads once the engine has everything and our memory nothing."""

    def __init__(self, store: PrometheusStore, engine: RealEngine) -> None:
        self._store = store
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        if name in ("select", "series", "label_names", "label_values"):
            wait_for("all samples are with the engine", self._is_settled)
            self._engine.show_all()
        return getattr(self._store, name)

    def _is_settled(self) -> bool:
        statistics = self._store.statistics()
        return statistics.engine_queue_samples == 0 and statistics.head_blocks == 0


@contextmanager
def opened(
    directory: Path, engine: RealEngine, *, settle: float = FOR_EVER, **limits: int
) -> Generator[PrometheusStore]:
    settings = RemoteSettings(
        data_directory=directory,
        url=engine.url,
        write_url=f"{engine.url}/api/v1/write",
        settle_seconds=settle,
        **limits,  # pyright: ignore[reportArgumentType] - whole numbers all of them
    )
    store = open_prometheus(settings, lambda: NOW_MS)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def settled(directory: Path, engine: RealEngine) -> Generator[SampleStore]:
    with opened(directory, engine, settle=0) as store:
        yield cast("SampleStore", Settled(store, engine))


class EngineContract(StoreContract):
    """What both do otherwise than the embedded store."""

    def test_labels_are_listed(self, store: SampleStore) -> None:
        """They list series of whole blocks or days: those of a span, and others."""
        append(store, {"__name__": "m", "i": "0", "old": "yes"}, (-5000, 1.0))
        append(store, {"__name__": "m", "i": "1", "zone": "b"}, (0, 1.0))
        append(store, {"__name__": "n", "i": "2", "zone": "a"}, (0, 1.0))
        everything = (NOW_MS - 10_000_000, NOW_MS)
        assert store.label_names([], *everything) == ["__name__", "i", "old", "zone"]
        assert store.label_values("zone", [], *everything) == ["a", "b"]
        assert store.label_values("zone", [[METRIC]], *everything) == ["b"]
        assert store.label_values("i", [[METRIC], [ZONE_A]], *everything) == ["0", "1", "2"]
        assert store.label_values("nothing", [], *everything) == []
        assert "1" in {labels["i"] for labels in store.series([[METRIC]], NOW_MS - 1000, NOW_MS)}

    def test_a_random_history_reads_like_a_dictionary(self, store: SampleStore) -> None:
        """Late as they like, but none is repeated: which of repeated ones stays is each engine's own."""
        random = np.random.default_rng(20260101)
        ids = store.resolve(series_of(20))
        expected: dict[str, list[tuple[int, float]]] = {}
        for seconds in np.array_split(random.permutation(6000) - 3000, 40):
            which, values = random.integers(0, 20, len(seconds)), random.normal(size=len(seconds))
            times = (NOW_MS + seconds * 1000).astype(np.int64)
            store.append(Batch(series=ids[which], timestamps=times, values=values)).result(timeout=120)
            for number, second, value in zip(which.tolist(), seconds.tolist(), values.tolist(), strict=True):
                expected.setdefault(str(number), []).append((second, value))
        for start, end in ((-3000, 3000), (-100, 100), (0, 0), (2999, 9000)):
            found = select(store, start=start, end=end)
            wanted = {
                name: [row for row in sorted(expected[name]) if start <= row[0] <= end]
                for name in sorted(expected, key=int)
            }
            wanted = {name: rows for name, rows in wanted.items() if rows}
            assert list(found) == list(wanted)
            for name, rows in wanted.items():
                assert [second for second, _ in found[name]] == [second for second, _ in rows]
                assert [value for _, value in found[name]] == pytest.approx([value for _, value in rows], rel=1e-11)


class VictoriaMetricsContract(EngineContract):
    @pytest.mark.parametrize("bits", [STALE_NAN_BITS, 0x7FF0000000000000, 0xFFF0000000000000, 0x3FF8000000000000])
    def test_every_bit_of_a_value_is_kept(self, open_store: OpenStore, bits: int) -> None:
        """Of numbers it keeps 12 to 15 digits: these keep all. NaN it does not keep, but for the stale marker."""
        super().test_every_bit_of_a_value_is_kept(open_store, bits)


class TestVictoriaMetrics(VictoriaMetricsContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Iterator[Callable[[], AbstractContextManager[SampleStore]]]:
        with victoria_metrics(tmp_path / "engine") as engine:
            yield lambda: opened(tmp_path / "data", engine)


class TestPrometheus(EngineContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Iterator[Callable[[], AbstractContextManager[SampleStore]]]:
        with prometheus(tmp_path / "engine") as engine:
            yield lambda: opened(tmp_path / "data", engine)


class TestVictoriaMetricsAlone(VictoriaMetricsContract):
    """With nothing in our memory."""

    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Iterator[Callable[[], AbstractContextManager[SampleStore]]]:
        with victoria_metrics(tmp_path / "engine") as engine:
            yield lambda: settled(tmp_path / "data", engine)


class TestPrometheusAlone(EngineContract):
    """With nothing in our memory."""

    @pytest.mark.parametrize("bits", [0x7FF8000000000001, 0x7FF0000000000000, 0xFFF0000000000000, 1])
    def test_every_bit_of_a_value_is_kept(self, open_store: OpenStore, bits: int) -> None:
        """All but stale markers, which a query leaves out."""
        super().test_every_bit_of_a_value_is_kept(open_store, bits)

    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Iterator[Callable[[], AbstractContextManager[SampleStore]]]:
        with prometheus(tmp_path / "engine") as engine:
            yield lambda: settled(tmp_path / "data", engine)
